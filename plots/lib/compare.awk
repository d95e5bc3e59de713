# SPDX-License-Identifier: BSD-3-Clause
# Several results side by side: the text on stdout, and in the folder `plots` what forest.gp draws.
#   awk -v all=FOLDER -v results=N -v force=yes|no -v plots=FOLDER -f common.awk -f compare.awk
# FOLDER/1 to FOLDER/N hold what entry.awk wrote, and name, the result's folder. Exit 2 with one line when a
# key differs that no reader would see, unless forced; then text and chart say so.

BEGIN {
  OFS = "\t"
  WIDTH = 72
  # Time stamp counters are calibrated anew in every run.
  FREQUENCY_TOLERANCE = 0.005
  for (r = 1; r <= results; r++) load(r)
  find_differences()
  if (hidden_n && force != "yes") {
    print refusal() > "/dev/stderr"
    exit_status = 2
    exit 2
  }
  baseline = value_of[1, "baseline"]
  margin = value_of[1, "margin"] + 0
  find_labels()
  write_text()
  write_chart()
}

END { if (exit_status) exit exit_status }

function load(r,    i, t, keys, rows, v, c) {
  tsv_load(all "/" r "/keys.tsv", keys)
  for (i = 1; i <= keys["rows"]; i++) {
    if (!(keys[i, "name"] in kind_of)) key_name[++key_n] = keys[i, "name"]
    kind_of[keys[i, "name"]] = keys[i, "kind"]
    value_of[r, keys[i, "name"]] = keys[i, "value"]
  }
  tsv_load(all "/" r "/rows.tsv", rows)
  for (i = 1; i <= rows["rows"]; i++) {
    n++
    row_result[n] = r
    row_variant[n] = rows[i, "variant"]; row_cc[n] = rows[i, "cc"]; row_dpdk[n] = rows[i, "dpdk"]
    row_kind[n] = rows[i, "kind"]; row_short[n] = rows[i, "short"]; row_reason[n] = rows[i, "reason"]
    row_percent[n] = rows[i, "percent"]; row_low[n] = rows[i, "low"]; row_high[n] = rows[i, "high"]
    row_difference[n] = rows[i, "difference"]; row_interval[n] = rows[i, "interval"]
    row_aa_low[n] = rows[i, "aa_low"]; row_aa_high[n] = rows[i, "aa_high"]
    if (!(row_variant[n] in variant_seen)) { variant_seen[row_variant[n]] = 1; variant[++variants] = row_variant[n] }
    if (!(row_cc[n] in cc_seen)) { cc_seen[row_cc[n]] = 1; cc[++ccs] = row_cc[n] }
    release_seen[row_dpdk[n]] = 1
  }
  getline folder[r] < (all "/" r "/name")
  close(all "/" r "/name")
}

function letter(r) { return substr("ABCDEFGHIJKLMNOPQRSTUVWXYZ", r, 1) }

# --- what differs ----------------------------------------------------------------------------

function find_differences(    k, name) {
  for (k = 1; k <= key_n; k++) {
    name = key_name[k]
    if (kind_of[name] == "shown" || !differs(name)) continue
    if (kind_of[name] == "hidden") hidden[++hidden_n] = name
    else noted[++noted_n] = name
  }
}

# differs(name): between two of the results that have it.
function differs(name,    r, first) {
  for (r = 1; r <= results; r++) {
    if (!((r, name) in value_of)) continue
    if (!first) first = r
    else if (name == "frequency" ? far(value_of[first, name], value_of[r, name]) : value_of[first, name] "" != value_of[r, name] "") return r
  }
  return 0
}

function far(a, b) { return a / b > 1 + FREQUENCY_TOLERANCE || b / a > 1 + FREQUENCY_TOLERANCE }

# values(name, most): "A: ring; B: software"; results with the same value together.
function values(name, most,    r, q, s, who, done) {
  for (r = 1; r <= results; r++) {
    if (!((r, name) in value_of) || (r in done)) continue
    who = letter(r)
    for (q = r + 1; q <= results; q++)
      if (((q, name) in value_of) && value_of[q, name] "" == value_of[r, name] "") { done[q] = 1; who = who " " letter(q) }
    s = s (s == "" ? "" : "; ") who ": " shortened(value_of[r, name], most)
  }
  return s
}

function shortened(s, most) { return length(s) > most ? substr(s, 1, most - 2) ".." : s }

function refusal(    i, s) {
  for (i = 1; i <= hidden_n && i <= 3; i++) s = s (i > 1 ? ", " : "") hidden[i] " (" values(hidden[i], 48) ")"
  if (hidden_n > 3) s = s ", and " hidden_n - 3 " more"
  return "these results differ in what the chart does not show: " s "; leave out those that differ, or give --force"
}

function hidden_names(    i, s) {
  for (i = 1; i <= hidden_n; i++) s = s (i == 1 ? "" : (i == hidden_n ? " and " : ", ")) hidden[i]
  return s
}

# --- names of rows ---------------------------------------------------------------------------

# find_labels(): beside its letter a row carries what tells it apart: scenario, release, date.
function find_labels(    i, r, d, same, seen, key) {
  scenarios_differ = differs("scenario")
  for (d in release_seen) releases++
  for (i = 1; i <= n; i++) {
    key = value_of[row_result[i], "scenario"] SUBSEP row_dpdk[i]
    if ((key in seen) && seen[key] != row_result[i]) dates_matter = 1
    seen[key] = row_result[i]
  }
  for (r = 2; r <= results; r++) if (substr(value_of[r, "date"], 1, 10) == substr(value_of[1, "date"], 1, 10)) same = 1
  for (i = 1; i <= n; i++) {
    r = row_result[i]
    row_label[i] = letter(r) (scenarios_differ ? " " value_of[r, "scenario"] : "") (releases > 1 ? " " row_dpdk[i] : "") \
      (dates_matter ? " " (same ? substr(value_of[r, "date"], 1, 16) : substr(value_of[r, "date"], 1, 10)) : "")
  }
}

function about(r,    s) {
  s = value_of[r, "date"] ", scenario " value_of[r, "scenario"] ", DPDK " value_of[r, "releases"]
  return s ", " value_of[r, "device"]
}

# --- text ------------------------------------------------------------------------------------

function write_text(    r, i, v, c, g) {
  out("Several results: cycles per packet against " baseline)
  out("")
  for (r = 1; r <= results; r++) {
    para(letter(r) "  ", "   ", about(r))
    para("   ", "   ", value_of[r, "machine"] "; mppsdiff " or_dash(value_of[r, "commit"]) "; " folder[r])
  }
  if (hidden_n) {
    out("")
    para("WARNING: ", "  ", "compared by force. These results differ in " hidden_names() ", so a difference between them may come from there:")
    for (i = 1; i <= hidden_n; i++) para("- ", "  ", hidden[i] ": " values(hidden[i], 200) ".")
  }
  if (noted_n) {
    out("")
    for (i = 1; i <= noted_n; i++) para(i == 1 ? "Also differ: " : "- ", "  ", noted[i] " (" values(noted[i], 80) ")")
  }
  out("")
  w_variant = 7; w_cc = 2; w_dpdk = 4; w_interval = 13
  for (i = 1; i <= n; i++) {
    if (length(row_variant[i]) > w_variant) w_variant = length(row_variant[i])
    if (length(row_cc[i]) > w_cc) w_cc = length(row_cc[i])
    if (length(row_dpdk[i]) > w_dpdk) w_dpdk = length(row_dpdk[i])
    if (length(row_interval[i]) > w_interval) w_interval = length(row_interval[i])
  }
  if (w_cc > 8) w_cc = 8
  if (w_dpdk > 9) w_dpdk = 9
  # "R ", "diff. %", "verdict" and the gaps take the rest.
  if (w_variant > WIDTH - w_cc - w_dpdk - w_interval - 25) w_variant = WIDTH - w_cc - w_dpdk - w_interval - 25
  line("variant", "cc", "", "DPDK", "diff. %", "95 % interval", "verdict")
  line(repeat("-", w_variant), repeat("-", w_cc), "-", repeat("-", w_dpdk), "-------", repeat("-", w_interval), "---------")
  for (v = 1; v <= variants; v++)
    for (c = 1; c <= ccs; c++) {
      g = 0
      for (i = 1; i <= n; i++) {
        if (row_variant[i] != variant[v] || row_cc[i] != cc[c]) continue
        line(g ? "" : variant[v], g ? "" : cc[c], letter(row_result[i]), row_dpdk[i], row_difference[i] == "-" ? "" : row_difference[i], \
          row_interval[i] == "-" ? "" : row_interval[i], row_short[i])
        g = 1
      }
    }
  out("")
  para("", "", "diff.: cycles per packet against " baseline " of the same result, compiler and release; plus is slower. Each difference was taken within its result; how far two of them are apart, their intervals tell.")
  write_noise()
  write_reasons()
}

function line(a, b, l, d, x, y, z,    i, m, k, one, two, three, na, nb, nd) {
  na = wrap(a, w_variant, one)
  nb = wrap(b, w_cc, two)
  nd = wrap(d, w_dpdk, three)
  m = na > nb ? na : nb
  if (nd > m) m = nd
  for (k = 1; k <= m; k++)
    out(pad(k <= na ? one[k] : "", w_variant) " " pad(k <= nb ? two[k] : "", w_cc) " " pad(k == 1 ? l : "", 1) " " pad(k <= nd ? three[k] : "", w_dpdk) " " \
      pad_left(k == 1 ? x : "", 7) " " pad_left(k == 1 ? y : "", w_interval) " " (k == 1 ? z : ""))
}

function write_noise(    i, seen, key) {
  out("Noise, the baseline against itself (A/A):")
  for (i = 1; i <= n; i++) {
    key = row_result[i] SUBSEP row_cc[i] SUBSEP row_dpdk[i]
    if (key in seen) continue
    seen[key] = 1
    if (known(row_aa_low[i]))
      para("- ", "  ", letter(row_result[i]) ", " row_cc[i] ", DPDK " row_dpdk[i] ": " range_text(row_aa_low[i], row_aa_high[i]) \
        (row_aa_low[i] + 0 > 1 || row_aa_high[i] + 0 < 1 ? ", does NOT include 0" : ""))
  }
}

# write_reasons(): why rows have no figures; those of the same reason share an entry.
function write_reasons(    i, m, reason, who) {
  for (i = 1; i <= n; i++) {
    if (row_reason[i] == "-") continue
    if (row_reason[i] in who) who[row_reason[i]] = who[row_reason[i]] ", "
    else reason[++m] = row_reason[i]
    who[row_reason[i]] = who[row_reason[i]] letter(row_result[i]) " " row_variant[i] " (" row_cc[i] ", DPDK " row_dpdk[i] ")"
  }
  for (i = 1; i <= m; i++) para("* ", "  ", who[reason[i]] ": " reason[i])
}

# --- the chart -------------------------------------------------------------------------------

# gnuplot takes double quotes and backslashes in its data for its own.
function label(s) {
  gsub(/["]/, "'", s)
  gsub(/\\/, "/", s)
  return ascii(s)
}

function stretch(low, high) {
  if (low + 0 < s_low) s_low = low + 0
  if (high + 0 > s_high) s_high = high + 0
}

# Every row has its own band of noise, so every row is a group of forest.gp's; headings are groups without one.
function write_chart(    v, c, i, y, any, longest, file, gfile, air) {
  file = plots "/forest.tsv"
  gfile = plots "/forest_groups.tsv"
  print "y", "label", "text", "percent", "low", "high", "compiler" > file
  print "y", "heading", "top", "bottom", "aa_low", "aa_high" > gfile
  s_low = -margin; s_high = margin
  for (v = 1; v <= variants; v++)
    for (c = 1; c <= ccs; c++) {
      any = 0
      for (i = 1; i <= n; i++) {
        if (row_variant[i] != variant[v] || row_cc[i] != cc[c] || row_kind[i] == "baseline") continue
        if (!any++) {
          y += y ? 1.4 : 1
          print y, label(variant[v] ", " cc[c]), "NaN", "NaN", "NaN", "NaN" > gfile
        }
        y++
        if (row_percent[i] != "NaN") stretch(row_low[i], row_high[i])
        if (length(row_label[i]) > longest) longest = length(row_label[i])
        print y, label(row_label[i]), label(row_difference[i] == "-" ? row_short[i] : row_difference[i] " % (" row_interval[i] ")  " row_short[i]), \
          row_percent[i], row_low[i], row_high[i], 1 + (row_result[i] - 1) % 4 > file
        if (known(row_aa_low[i]) && row_percent[i] != "NaN") {
          stretch(percent_of(row_aa_low[i]), percent_of(row_aa_high[i]))
          print y, " ", y - 0.5, y + 0.5, percent_of(row_aa_low[i]), percent_of(row_aa_high[i]) > gfile
        }
      }
    }
  close(file)
  close(gfile)
  file = plots "/forest_size.tsv"
  print "rows", "label" > file
  print y + 0, longest + 0 > file
  close(file)
  file = plots "/forest_range.tsv"
  air = (s_high - s_low) * 0.04
  print "low", "high", "margin", "step", "step_small" > file
  print s_low - air, s_high + air, margin, tick_step((s_high - s_low) / 9), tick_step((s_high - s_low) / 4) > file
  close(file)
  if (y) write_words()
}

function write_words(    r, s, m, lines, file) {
  file = plots "/forest.words"
  print soft("Several results: which builds need more or fewer cycles per packet than " (length(baseline) > 30 ? "the baseline" : baseline) "?") > file
  for (r = 1; r <= results; r++) s = s (r == 1 ? "" : "   ") letter(r) ": " about(r)
  m = wrap(s, 132, lines)
  if (results == 2) for (r = 1; r <= 2; r++) print ascii(shortened(letter(r) ": " about(r), 132)) > file
  else {
    print ascii(lines[1]) > file
    print ascii(m > 1 ? lines[2] (m > 2 ? " .. (all in compare.txt)" : "") : "") > file
  }
  s = hidden_n ? "COMPARED BY FORCE: the results differ in " hidden_names() "." : \
    "Estimates and 95 % intervals, each within its result. Light band: the margin of +-" trim0(margin) " %, \"same\". Hatched: A/A, the noise of that row."
  m = wrap(s, 138, lines)
  print ascii(lines[1]) > file
  print ascii(m > 1 ? lines[2] (m > 2 ? " .." : "") : "") > file
  close(file)
  file = plots "/forest.desc"
  s = ""
  for (r = 1; r <= n; r++) if (row_kind[r] != "baseline") s = s (s == "" ? "" : "; ") row_label[r] " " row_variant[r] " " row_cc[r] ": " row_short[r] (row_difference[r] == "-" ? "" : " " row_difference[r] " %")
  print s "." > file
  close(file)
}
