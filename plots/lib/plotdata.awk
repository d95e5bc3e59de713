# SPDX-License-Identifier: BSD-3-Clause
# What gnuplot draws, as small TSV files in the folder `plots`; and what stands on the charts as
# NAME.words: title, two subtitles and a caption of two lines.
#   awk -v dir=CHECKED -v plots=FOLDER -f common.awk -f result.awk -f plotdata.awk

BEGIN {
  OFS = "\t"
  DRAWN_SLICES = 5000
  MATRIX_REASONS = 6
  result_load(dir)
  find_warnings()
  if (!measured) exit
  place_rows()
  forest()
  if (matrix_load()) matrix()
  rates()
  if (shuffled) layouts()
  if (localised) waterfall()
  mail()
  drift()
}

END { if (exit_status) exit exit_status }

# label(s): gnuplot takes double quotes and backslashes in its data for its own.
function label(s) {
  gsub(/["]/, "'", s)
  gsub(/\\/, "/", s)
  return ascii(s)
}

function row_key(r) { return row_variant[r] SUBSEP group_cc[row_group[r]] SUBSEP group_dpdk[row_group[r]] }

# cc_index(g): 1.. by compiler; decides colour and marker.
function cc_index(g) { return rank_of["cc", group_cc[g]] }

# words(name, title, caption): the strings go to gnuplot as arguments, one a line here.
function words(name, title, caption, desc,    file, s, n, lines) {
  file = plots "/" name ".desc"
  print soft(desc) > file
  close(file)
  file = plots "/" name ".words"
  print soft(title) > file
  s = short_cpu(or_dash(M["machine.cpu"]))
  s = add(s, known(M["machine.cores"]) ? plural(M["machine.cores"], "core") : "")
  s = add(s, hypervisor_words())
  s = add(s, index(M["machine.hugepages"], "--no-huge") ? "no hugepages" : "")
  print cut(add(s, date_words()), 132) > file
  print cut("DPDK " releases_text() ", " M["device.name"] (known(M["scenario.name"]) ? ", scenario " M["scenario.name"] : ""), 132) > file
  n = wrap(soft(caption), 138, lines)
  print lines[1] > file
  print (n > 1 ? lines[2] : "") > file
  close(file)
}

# shown(r): the row's variant, with what --a or --b gave for it; on a chart nothing else says so.
function shown(r) { return given_words(row_variant[r]) }

function title_baseline() {
  if (length(given_words(baseline)) <= 36) return given_words(baseline)
  return length(baseline) > 36 ? "the baseline" : baseline
}

# short_cpu(s): without what vendors repeat in every model's name.
function short_cpu(s) {
  gsub(/\((R|TM|r|tm)\)/, "", s)
  gsub(/ CPU/, "", s)
  sub(/ [0-9]+-Core Processor/, "", s)
  gsub(/  +/, " ", s)
  return s
}

function releases_text(    d, s) {
  for (d = 1; d <= rank_n["dpdk"]; d++)
    if (!releases || ranked["dpdk", d] in dpdk_used) s = s (s == "" ? "" : ", ") ranked["dpdk", d]
  return s
}

function compiler_text(g,    i) {
  for (i = 0; i < M["compilers.n"] + 0; i++)
    if (M["compilers." i ".name"] == group_cc[g] && known(M["compilers." i ".version"]))
      return M["compilers." i ".version"] (releases > 1 ? ", DPDK " group_dpdk[g] : "")
  return group_label[g]
}

# place_rows(): where every row stands, from the top down; one line of room for a group's heading.
function place_rows(    r, g, y, last) {
  for (r = 1; r <= rows; r++) {
    g = row_group[r]
    if (g != last) {
      y += last ? 1.5 : 1
      head_y[g] = y
      last = g
    }
    row_y[r] = ++y
    bottom_y[g] = y
  }
}

# --- forest ----------------------------------------------------------------------------------

function forest(    r, g, e, y, file, gfile, text, longest, top, head) {
  file = plots "/forest.tsv"
  gfile = plots "/forest_groups.tsv"
  print "y", "label", "text", "percent", "low", "high", "compiler" > file
  print "y", "heading", "top", "bottom", "aa_low", "aa_high" > gfile
  stretch_start()
  stretch(-margin, margin)
  y = 0
  for (g = 1; g <= groups; g++) {
    y += g > 1 ? 1.4 : 1
    if (g in aa_low) stretch(percent_of(aa_low[g]), percent_of(aa_high[g]))
    top = y + 0.5
    head = y
    for (r = 1; r <= rows; r++) {
      if (row_group[r] != g) continue
      e = row_effect[r]
      y++
      text = forest_text(r)
      if (is_compared(r)) {
        stretch(percent_of(EFFECT[e, "ratio_low"]), percent_of(EFFECT[e, "ratio_high"]))
        print y, label(shown(r)), label(text), percent_of(EFFECT[e, "ratio"]), percent_of(EFFECT[e, "ratio_low"]), \
          percent_of(EFFECT[e, "ratio_high"]), cc_index(g) > file
      } else {
        print y, label(shown(r)), label(text), (e && EFFECT[e, "verdict"] == "baseline" ? 0 : "NaN"), "NaN", "NaN", cc_index(g) > file
      }
      if (length(shown(r)) > longest) longest = length(shown(r))
    }
    if (g in aa_low) {
      y++
      print y, "A/A: noise", label(range_text(aa_low[g], aa_high[g])), "NaN", "NaN", "NaN", 0 > file
    }
    print head, label(compiler_text(g)) (aa_doubt[g] ? "   (beware: noisy)" : ""), top, y + 0.5, (g in aa_low) ? percent_of(aa_low[g]) : "NaN", \
      (g in aa_low) ? percent_of(aa_high[g]) : "NaN" > gfile
  }
  close(file)
  close(gfile)
  layout_file("forest", y, longest)
  range_file("forest", s_low, s_high, margin)
  words("forest", "Which builds need more or fewer cycles per packet than " title_baseline() "?", \
    "Estimates and 95 % intervals. Light band: the margin of +-" margin_text ", \"same\". Hatched and dotted: A/A, the same binary started twice: noise.", forest_desc())
}

# forest_desc(): the chart in words, for those who do not see it.
function forest_desc(    g, s) {
  for (g = 1; g <= groups; g++) s = s (s == "" ? "" : " ") group_label[g] ": " answer(g)
  return s
}

# range_file(name, low, high, margin_): the ends of the axis, with some air.
function range_file(name, low, high, margin_,    file, air) {
  file = plots "/" name "_range.tsv"
  air = (high - low) * 0.04
  if (air <= 0) air = high > 0 ? high * 0.01 : 1
  print "low", "high", "margin", "step", "step_small" > file
  print low - air, high + air, margin_, tick_step((high - low) / 9), tick_step((high - low) / 4) > file
  close(file)
}

# stretch(low, high): the axis that is being made has to show these.
function stretch_start() { s_low = s_high = "" }
function stretch(low, high) {
  if (s_low == "" || low + 0 < s_low) s_low = low + 0
  if (s_high == "" || high + 0 > s_high) s_high = high + 0
}

function forest_text(r,    e) {
  e = row_effect[r]
  if (row_failed[r]) return BUILD[row_build[r], "status"]
  if (!e) return "not measured"
  if (is_compared(r)) return difference(e) " % (" interval(e) ")  " EFFECT[e, "verdict"]
  if (EFFECT[e, "verdict"] == "invalid") return "no valid slice"
  return EFFECT[e, "verdict"] == "baseline" ? "baseline" : "no comparison"
}

# layout_file(name, last, longest): rows and the longest label, for the chart's size.
function layout_file(name, last, longest,    file) {
  file = plots "/" name "_size.tsv"
  print "rows", "label" > file
  print last, longest > file
  close(file)
}

# mail(): the forest for a terminal of 72 columns, one line a row; names too long take lines of their own above.
function mail(    g, r, e, y, i, n, lines, file, size, width, low, high, any, last) {
  file = plots "/mail.tsv"
  print "y", "label", "percent", "low", "high", "kind" > file
  low = -margin; high = margin
  for (r = 1; r <= rows; r++) {
    if (!is_compared(r)) continue
    any++
    if (length(mail_name(r)) > width) width = length(mail_name(r))
    if (percent_of(EFFECT[row_effect[r], "ratio_low"]) < low) low = percent_of(EFFECT[row_effect[r], "ratio_low"])
    if (percent_of(EFFECT[row_effect[r], "ratio_high"]) > high) high = percent_of(EFFECT[row_effect[r], "ratio_high"])
  }
  if (!any) { close(file); return }
  if (width > 30) width = 30
  for (g = 1; g <= groups; g++) {
    if (!compared[g]) continue
    if (releases > 1 && group_dpdk[g] != last) print y++, "DPDK " group_dpdk[g] ":", "NaN", "NaN", "NaN", "words" > file
    else if (y) print y++, "", "NaN", "NaN", "NaN", "words" > file
    last = group_dpdk[g]
    for (r = 1; r <= rows; r++) {
      if (row_group[r] != g || !is_compared(r)) continue
      e = row_effect[r]
      n = wrap(mail_name(r), width, lines)
      for (i = 1; i < n; i++) print y++, label(lines[i]), "NaN", "NaN", "NaN", "words" > file
      print y + 0, label(lines[n]), percent_of(EFFECT[e, "ratio"]), percent_of(EFFECT[e, "ratio_low"]), percent_of(EFFECT[e, "ratio_high"]), "row" > file
      y++
    }
    if (!(g in aa_low)) continue
    if (percent_of(aa_low[g]) < low) low = percent_of(aa_low[g])
    if (percent_of(aa_high[g]) > high) high = percent_of(aa_high[g])
    print y + 0, "A/A " group_cc[g], "NaN", percent_of(aa_low[g]), percent_of(aa_high[g]), "aa" > file
    y++
  }
  # gnuplot dies of a terminal of four lines.
  if (y < 2) print y++, "", "NaN", "NaN", "NaN", "words" > file
  close(file)
  size = plots "/mail_size.tsv"
  print "rows", "label", "low", "high", "margin", "step" > size
  print y, width, low - (high - low) * 0.03, high + (high - low) * 0.03, margin, tick_step((high - low) / 5) > size
  close(size)
}

function mail_name(r) { return row_variant[r] " " group_cc[row_group[r]] }

# --- cross-check -----------------------------------------------------------------------------

# A cell's place is its column and row; kinds are numbered as matrix.gp colours them.
function matrix(    v, g, i, n, first, file, hfile, nfile, longest, kinds, kind, mark, shown_releases, crowd) {
  file = plots "/matrix.tsv"
  hfile = plots "/matrix_heads.tsv"
  nfile = plots "/matrix_notes.tsv"
  n = split("slower faster same undecided baseline none", kinds, " ")
  for (i = 1; i <= n; i++) kind[kinds[i]] = i
  print "column", "row", "kind", "letter", "word", "effect", "interval", "instructions" > file
  print "column", "last", "label", "of_release" > hfile
  print "text" > nfile
  for (v = 1; v <= matrix_variants; v++) {
    if (length(matrix_variant[v]) > longest) longest = length(matrix_variant[v])
    print 0, v, 0, "-", label(matrix_variant[v]), "-", "-", "-" > file
    for (g = 1; g <= groups; g++) {
      if (!((v, g) in cell_kind)) continue
      mark = (v, g) in cell_note ? "[" cell_note[v, g] "]" : ""
      print g, v, kind[cell_kind[v, g]], cell_letter(v, g), label(cell_short[v, g] (cell_effect[v, g] != "" && mark != "" ? " " mark : "")), \
        cell_effect[v, g] != "" ? cell_effect[v, g] " %" : (mark != "" ? mark : "-"), \
        cell_interval[v, g] != "" ? cell_interval[v, g] : "-", cell_instructions[v, g] != "" ? cell_instructions[v, g] " instr." : "-" > file
    }
  }
  for (g = 1; g <= groups; g++) {
    print g, g, label(group_cc[g]), 0 > hfile
    if (!first) first = g
    if (!release_ends(g)) continue
    print first, g, label("DPDK " group_dpdk[g]), ++shown_releases > hfile
    if (length(group_dpdk[g]) / (g - first + 1) > crowd) crowd = length(group_dpdk[g]) / (g - first + 1)
    first = 0
  }
  for (i = 1; i <= reasons && i <= MATRIX_REASONS; i++) print label(cut("[" i "] " reason[i], 138)) > nfile
  if (reasons > MATRIX_REASONS) print reasons - MATRIX_REASONS " more reasons stand in report.txt." > nfile
  close(file)
  close(hfile)
  close(nfile)
  file = plots "/matrix_size.tsv"
  print "rows", "columns", "label", "lines", "notes", "crowd" > file
  print matrix_variants, groups, longest, 3 + any_instructions(), (reasons > MATRIX_REASONS ? MATRIX_REASONS + 1 : reasons) + 0, crowd > file
  close(file)
  words("matrix", "With which " (releases > 1 ? "releases and " : "") "compilers is a build slower or faster than " title_baseline() "?", \
    "Percent of cycles per packet against " title_baseline() " of the same column, and the 95 % interval; plus is slower. Same: within +-" margin_text \
    "." (any_instructions() ? " Last line of a cell: " instructions_words() "." : ""), matrix_desc())
}

function matrix_desc(    v, g, s) {
  for (v = 1; v <= matrix_variants; v++)
    for (g = 1; g <= groups; g++)
      if ((v, g) in cell_kind) s = s (s == "" ? "" : "; ") matrix_variant[v] ", " group_label[g] ": " cell_short[v, g] (cell_effect[v, g] != "" ? " " cell_effect[v, g] " %" : "")
  return s "."
}

# --- rates -----------------------------------------------------------------------------------

# The thick bar is the interval of the difference, carried over to the variant's rate; it says
# nothing about the rate's own drift, which the dots (one a process start) show.
function rates(    r, g, e, u, k, file, ufile, hfile, longest, at, low, high) {
  file = plots "/mpps.tsv"
  ufile = plots "/mpps_units.tsv"
  hfile = plots "/mpps_groups.tsv"
  print "y", "label", "text", "mpps", "low", "high", "compiler" > file
  print "y", "mpps", "compiler" > ufile
  stretch_start()
  print "y", "heading" > hfile
  for (r = 1; r <= rows; r++) {
    g = row_group[r]
    e = row_effect[r]
    if (length(shown(r)) > longest) longest = length(shown(r))
    if (!row_failed[r]) at[row_key(r)] = r
    if (row_failed[r] || !e || !known(EFFECT[e, "mpps"]))
      print row_y[r], label(shown(r)), label(forest_text(r)), "NaN", "NaN", "NaN", cc_index(g) > file
    else {
      low = is_compared(r) ? EFFECT[e, "mpps"] * EFFECT[e, "ratio"] / EFFECT[e, "ratio_high"] : "NaN"
      high = is_compared(r) ? EFFECT[e, "mpps"] * EFFECT[e, "ratio"] / EFFECT[e, "ratio_low"] : "NaN"
      stretch(is_compared(r) ? low : EFFECT[e, "mpps"], is_compared(r) ? high : EFFECT[e, "mpps"])
      print row_y[r], label(shown(r)), four_digits(EFFECT[e, "mpps"]) " Mpps, " four_digits(EFFECT[e, "cycles_per_packet"]) " cycles/packet", \
        EFFECT[e, "mpps"], low, high, cc_index(g) > file
    }
  }
  for (u = 1; u <= UNIT["rows"]; u++) {
    k = UNIT[u, "variant"] SUBSEP UNIT[u, "cc"] SUBSEP UNIT[u, "dpdk"]
    if (!(k in at) || !known(UNIT[u, "mpps"])) continue
    stretch(UNIT[u, "mpps"], UNIT[u, "mpps"])
    print row_y[at[k]], UNIT[u, "mpps"], rank_of["cc", UNIT[u, "cc"]] > ufile
  }
  for (g = 1; g <= groups; g++) print head_y[g], label(compiler_text(g)) > hfile
  close(file)
  close(ufile)
  close(hfile)
  layout_file("mpps", bottom_y[groups], longest)
  range_file("mpps", s_low, s_high, 0)
  words("mpps", "How many packets per second does each build forward?", \
    (shuffled ? "Medians over shuffled layouts" : "Medians") ", and the 95 % interval of the difference to " title_baseline() ". Dots: every start, also as built. Rates move with the machine; the difference is taken within rounds, and has its own chart. The axis does not start at 0.", "One row a build; the figures stand in the table of results.")
}

# --- layouts ---------------------------------------------------------------------------------

# Against the baseline of the same rounds, as the verdict is made: what the machine did meanwhile
# cancels out, and what is left is the link order and the process start.
function layouts(    r, g, u, k, file, hfile, lfile, at, e, longest) {
  file = plots "/layouts_units.tsv"
  lfile = plots "/layouts.tsv"
  hfile = plots "/layouts_groups.tsv"
  print "y", "percent", "as_built", "compiler" > file
  stretch_start()
  stretch(-margin, margin)
  print "y", "label", "text", "percent", "compiler" > lfile
  print "y", "heading" > hfile
  for (r = 1; r <= rows; r++) {
    e = row_effect[r]
    if (length(shown(r)) > longest) longest = length(shown(r))
    if (!row_failed[r]) at[row_key(r)] = r
    print row_y[r], label(shown(r)), (row_failed[r] || !e || !known(EFFECT[e, "layout_spread_percent"])) ? forest_text(r) : \
      plural(EFFECT[e, "layouts"], "layout") ", " (EFFECT[e, "layout_spread_percent"] + 0 < 0.005 ? "spread within noise" : "spread " spread_text(EFFECT[e, "layout_spread_percent"]) " %"), (is_compared(r) ? percent_of(EFFECT[e, "ratio"]) : "NaN"), cc_index(row_group[r]) > lfile
  }
  for (u = 1; u <= UNIT["rows"]; u++) {
    k = UNIT[u, "variant"] SUBSEP UNIT[u, "cc"] SUBSEP UNIT[u, "dpdk"]
    if (!(k in at) || !known(UNIT[u, "ratio"])) continue
    stretch(percent_of(UNIT[u, "ratio"]), percent_of(UNIT[u, "ratio"]))
    # Epochs apart by a little, so that starts of one layout do not hide each other.
    print row_y[at[k]] + ((UNIT[u, "epoch"] - 1) % 5 - 2) * 0.09, percent_of(UNIT[u, "ratio"]), UNIT[u, "layout"] == 0, \
      rank_of["cc", UNIT[u, "cc"]] > file
  }
  for (g = 1; g <= groups; g++) print head_y[g], label(compiler_text(g)) > hfile
  close(file)
  close(lfile)
  close(hfile)
  layout_file("layouts", bottom_y[groups], longest)
  range_file("layouts", s_low, s_high, margin)
  words("layouts", "How much does the difference to " title_baseline() " depend on the link order?", \
    "A marker is one start of one link order, against the baseline in the same rounds." \
    " Diamonds: as built, what a single build would have shown. Bar: the estimate of the verdict, both builds over shuffled orders. Spread: standard deviation beyond that of starts of one order.", "One row a build; the spreads stand in the table of layouts.")
}

# --- waterfall -------------------------------------------------------------------------------

# Steps from the baseline's instructions per packet to the variant's: the objects of a library that
# differs, what they make together beyond their sum, the forwarder's own part, and the whole.
function waterfall(    r, i, o, left, y, file, hfile, longest) {
  file = plots "/waterfall.tsv"
  hfile = plots "/waterfall_groups.tsv"
  print "y", "label", "text", "low", "high", "compiler" > file
  print "y", "heading" > hfile
  stretch_start()
  stretch(0, 0)
  for (r = 1; r <= rows; r++) {
    if (!has_parts(r)) continue
    y += y ? 1.5 : 1
    print y, label(shown(r) ", " group_label[row_group[r]] ": " fixed(path_baseline[r, "instructions_per_packet"], 2) " to " \
      fixed(path_variant[r, "instructions_per_packet"], 2)) > hfile
    w_at = 0
    for (i = 1; i <= part_n[r]; i++) {
      if (!known(PART[part_row[r, i], "instructions"])) continue
      left = PART[part_row[r, i], "instructions"]
      if (left == 0) { y = fall(file, y, r, part_label(PART[part_row[r, i], "library"]), 0); continue }
      for (o = 1; o <= object_n[r]; o++) {
        if (PART[object_row[r, o], "library"] != PART[part_row[r, i], "library"] || PART[object_row[r, o], "instructions"] + 0 == 0) continue
        y = fall(file, y, r, library_name(PART[part_row[r, i], "library"]) ": " object_name(PART[part_row[r, i], "library"], PART[object_row[r, o], "object"]), \
          PART[object_row[r, o], "instructions"])
        left -= PART[object_row[r, o], "instructions"]
      }
      if (left) y = fall(file, y, r, library_name(PART[part_row[r, i], "library"]) ", together", left)
    }
    if (PART[part_at[r, "interaction"], "instructions"] + 0 != 0) y = fall(file, y, r, "libraries together", PART[part_at[r, "interaction"], "instructions"])
    if ((r, "rest") in part_at) y = fall(file, y, r, "own code, link", PART[part_at[r, "rest"], "instructions"])
    w_at = 0
    y = fall(file, y, r, "the whole", PART[part_at[r, "whole"], "instructions"], 1)
  }
  longest = w_longest
  close(file)
  close(hfile)
  layout_file("waterfall", y, longest)
  range_file("waterfall", s_low, s_high, 0)
  words("waterfall", "Which part of DPDK executes the extra instructions?", \
    "Exact counts of single-stepped packets. A bar is one part taken from the variant into " title_baseline() ", from where the one above ended; the last: the whole. Headings: the baseline's count to the variant's.", waterfall_desc())
}

# fall(file, y, r, name, count, whole): a row of the waterfall; where it stands.
function fall(file, y, r, name, count, whole,    from) {
  from = w_at
  w_at += count / packets_of[r]
  stretch(from, from)
  stretch(w_at, w_at)
  if (length(name) > w_longest) w_longest = length(name)
  print ++y, label(name), per_packet(count, packets_of[r]), from < w_at ? from : w_at, from < w_at ? w_at : from, whole ? 0 : cc_index(row_group[r]) > file
  return y
}

function waterfall_desc(    r, s) {
  for (r = 1; r <= rows; r++) if (has_parts(r)) s = s (s == "" ? "" : " ") part_sentence(r)
  return s
}

# --- drift -----------------------------------------------------------------------------------

# One panel a row, all on one scale, stacked into one chart: panel n covers y from n - 1 to n, and
# 0.58 of it is the scale. Long runs are thinned to whole rounds, and the caption says so.
function drift(    file, line, f, n, e, epochs, rounds_of, start, x, every, r, k, panel, panels, bad, off, c, y) {
  file = dir "/slices.tsv"
  getline line < file
  while ((getline line < file) > 0) {
    split(line, f, "\t")
    n++
    if (f[1] + 0 > epochs) epochs = f[1] + 0
    if (f[2] + 0 > rounds_of[f[1]]) rounds_of[f[1]] = f[2] + 0
    has_slices[f[4], f[5], f[6]] = 1
  }
  close(file)
  every = int((n + DRAWN_SLICES - 1) / DRAWN_SLICES)
  if (every < 1) every = 1
  print "round" > (plots "/drift_epochs.tsv")
  for (e = 1; e <= epochs; e++) {
    start[e] = x + 0
    if (e > 1) print start[e] + 0.5 > (plots "/drift_epochs.tsv")
    x += rounds_of[e]
  }
  drift_scale()
  print "y", "label" > (plots "/drift_panels.tsv")
  for (r = 1; r <= rows; r++) {
    if (row_failed[r] || !(row_key(r) in has_slices)) continue
    panel[row_key(r)] = ++panels
    print panels - 0.9, label(shown(r) ", " group_label[row_group[r]]) > (plots "/drift_panels.tsv")
  }
  drift_ticks(panels)
  print "round", "y", "compiler", "kind" > (plots "/drift.tsv")
  getline line < file
  while ((getline line < file) > 0) {
    split(line, f, "\t")
    k = f[4] SUBSEP f[5] SUBSEP f[6]
    if (!(k in panel)) continue
    c = rank_of["cc", f[5]]
    # Invalid slices are few and are what one looks for: all of them are drawn.
    if (f[11] == 0 || f[8] == 0) {
      print start[f[1]] + f[2], panel[k] - 0.05, c, "invalid" > (plots "/drift.tsv")
      bad++
      continue
    }
    if ((f[2] - 1) % every) continue
    y = f[9] / f[8]
    if (y > d_high) {
      print start[f[1]] + f[2], panel[k] - 0.735, c, "off" > (plots "/drift.tsv")
      off++
    } else {
      print start[f[1]] + f[2], drift_y(panel[k], y), c, "good" > (plots "/drift.tsv")
    }
  }
  close(file)
  print "panels", "rounds" > (plots "/drift_size.tsv")
  print panels + 0, x + 0 > (plots "/drift_size.tsv")
  words("drift", "Did the machine stay steady during the run, in cycles per packet?", \
    "Cycles per packet; a dot is one slice" (every > 1 ? " of every " ordinal(every) " round" : "") \
    "; a level, one start of one link order. A step in all panels at once is the machine, not a build." \
    (off ? " Triangle: above the scale." : "") (bad ? " Cross: invalid." : ""), "One panel a build: " plural(n, "slice") " over " plural(x, "round") " in " plural(epochs + 0, "epoch") ", " bad + 0 " invalid.")
}

# drift_scale(): from the fastest to the slowest process start, and some air; a few slices that were
# interrupted must not press all others flat.
function drift_scale(    u, c) {
  d_low = d_high = 0
  for (u = 1; u <= UNIT["rows"]; u++) {
    if (!known(UNIT[u, "cycles_per_packet"])) continue
    c = UNIT[u, "cycles_per_packet"] + 0
    if (!d_low || c < d_low) d_low = c
    if (c > d_high) d_high = c
  }
  d_low *= 0.95
  d_high *= 1.12
  if (!d_high) d_high = 1
}

function drift_y(panel, cycles,    part) {
  part = (cycles - d_low) / (d_high - d_low)
  if (part < 0) part = 0
  return panel - 0.14 - 0.58 * part
}

function drift_ticks(panels,    step, i, c) {
  print "y", "label" > (plots "/drift_ticks.tsv")
  step = tick_step((d_high - d_low) / 2.5)
  for (i = 1; i <= panels; i++)
    for (c = int(d_low / step + 1) * step; c <= d_high; c += step)
      print drift_y(i, c), trim0(sprintf("%.3f", c)) > (plots "/drift_ticks.tsv")
}

function ordinal(n,    s) {
  s = n % 10 == 1 && n % 100 != 11 ? "st" : (n % 10 == 2 && n % 100 != 12 ? "nd" : (n % 10 == 3 && n % 100 != 13 ? "rd" : "th"))
  return n s
}
