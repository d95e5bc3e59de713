# SPDX-License-Identifier: BSD-3-Clause
# Loads a checked result and puts it into words. Every number comes from the files; what is done
# here is choosing, ordering and formatting. Text, HTML and plots all use this file, so they agree.
#
#   M            meta.json, flat
#   groups       compiler x DPDK release: group_cc[g] group_dpdk[g] group_label[g]
#   rows         what the tables show, in order: row_group[r] row_variant[r], row_effect[r] (row of
#                effects.tsv or 0), row_build[r] (row of builds.tsv or 0), row_failed[r]
#   EFFECT BUILD COUNT UNIT FORWARDERS   the tables

function stop(what) {
  print what > "/dev/stderr"
  exit_status = 2
  exit 2
}

function result_load(dir) {
  kv_load(dir "/" (meta == "" ? "meta.kv" : meta), M)
  tsv_load(dir "/effects.tsv", EFFECT)
  tsv_load(dir "/builds.tsv", BUILD)
  tsv_load(dir "/counts.tsv", COUNT)
  tsv_load(dir "/units.tsv", UNIT)
  constants_recorded = tsv_load(dir "/constants.tsv", CONSTANT)
  tsv_load(dir "/inlining.tsv", INLINING)
  tsv_load(dir "/notes.tsv", NOTE)
  tsv_load(dir "/forwarders.tsv", FORWARDERS)
  tsv_load(dir "/perf-sums.tsv", PERF)
  tsv_load(dir "/perf-events.tsv", EVENT)
  margin = M["measure.margin_percent"] + 0
  margin_text = hard(trim0(M["measure.margin_percent"]) " %")
  baseline = M["measure.baseline"]
  rank_names()
  if (EFFECT["rows"] && !have_baseline())
    stop("effects.tsv: there is no row of the baseline " baseline " of meta.json")
  make_groups()
  make_rows()
  count_slices()
  parts_load()
  count_events()
}

# have_baseline(): it was measured, or it is known why not.
function have_baseline(    i) {
  for (i = 1; i <= EFFECT["rows"]; i++) if (EFFECT[i, "variant"] == baseline) return 1
  for (i = 1; i <= BUILD["rows"]; i++) if (BUILD[i, "variant"] == baseline) return 1
  return 0
}

# given_words(variant): "a (c_args=-O2)" for a variant of --a and --b, else its name.
function given_words(variant,    i) {
  for (i = 0; i < M["variants.n"] + 0; i++)
    if (M["variants." i ".name"] == variant && known(M["variants." i ".given"])) return variant " (" M["variants." i ".given"] ")"
  return variant
}

# rank(list, name): appends the name unless it is there.
function rank(list, name) {
  if (!((list, name) in rank_of)) {
    rank_of[list, name] = ++rank_n[list]
    ranked[list, rank_n[list]] = name
  }
}

# The baseline comes first, then the order of the command line, then what only the files know.
function rank_names(    i) {
  rank("variant", baseline)
  for (i = 0; i < M["measure.variants.n"] + 0; i++) rank("variant", M["measure.variants." i])
  for (i = 0; i < M["measure.cc.n"] + 0; i++) rank("cc", M["measure.cc." i])
  for (i = 0; i < M["dpdk.n"] + 0; i++)
    if (("dpdk." i ".release") in M) rank("dpdk", M["dpdk." i ".release"])
  rank_table(EFFECT, "effects.tsv", effect_at)
  rank_table(BUILD, "builds.tsv", build_at)
}

function rank_table(t, name, at,    i, key) {
  for (i = 1; i <= t["rows"]; i++) {
    rank("variant", t[i, "variant"])
    rank("cc", t[i, "cc"])
    rank("dpdk", t[i, "dpdk"])
    key = t[i, "variant"] SUBSEP t[i, "cc"] SUBSEP t[i, "dpdk"]
    if (key in at)
      stop(name " line " i + 1 ": " t[i, "variant"] ", " t[i, "cc"] ", DPDK " t[i, "dpdk"] " is there twice")
    at[key] = i
  }
}

function make_groups(    d, c, v, key, cc, dpdk) {
  groups = 0
  for (d = 1; d <= rank_n["dpdk"]; d++)
    for (c = 1; c <= rank_n["cc"]; c++) {
      cc = ranked["cc", c]
      dpdk = ranked["dpdk", d]
      for (v = 1; v <= rank_n["variant"]; v++) {
        key = ranked["variant", v] SUBSEP cc SUBSEP dpdk
        if ((key in effect_at) || (key in build_at)) {
          groups++
          group_cc[groups] = cc
          group_dpdk[groups] = dpdk
          if (!(dpdk in dpdk_used)) { dpdk_used[dpdk] = 1; releases++ }
          break
        }
      }
    }
  for (d = 1; d <= groups; d++)
    group_label[d] = group_cc[d] (releases > 1 ? ", DPDK " group_dpdk[d] : "")
}

function make_rows(    g, v, key, e, b) {
  for (g = 1; g <= groups; g++) {
    for (v = 1; v <= rank_n["variant"]; v++) {
      key = ranked["variant", v] SUBSEP group_cc[g] SUBSEP group_dpdk[g]
      e = (key in effect_at) ? effect_at[key] : 0
      b = (key in build_at) ? build_at[key] : 0
      if (!e && !b) continue
      if (b && BUILD[b, "status"] != "ok") {
        if (!as_expected(b)) failures++
        # A variant that failed half way keeps its figures and gets a row for the failure too.
        if (e && EFFECT[e, "verdict"] != "invalid") add_row(g, v, e, b, 0)
        add_row(g, v, 0, b, 1)
      } else {
        add_row(g, v, e, b, 0)
      }
      if (e) note_group(g, e)
    }
  }
}

# as_expected(b): the build fails, and its data file says so.
function as_expected(b) { return b && BUILD[b, "status"] == "fails as expected" }

function add_row(g, v, e, b, failed) {
  rows++
  row_group[rows] = g
  row_variant[rows] = ranked["variant", v]
  row_effect[rows] = e
  row_build[rows] = b
  row_failed[rows] = failed
}

# build_name(variant, cc, dpdk): what the files of a build are called in the result, as scenarios/run.bash has it.
function build_name(variant, cc, dpdk) {
  return variant "-" cc (M["dpdk.n"] + 0 > 1 && known(dpdk) ? "-" dpdk : "")
}

# row_name(variant, cc, dpdk): "meson-static (gcc)", and the release where there are several.
function row_name(variant, cc, dpdk) {
  return variant " (" cc (releases > 1 && known(dpdk) ? ", DPDK " dpdk : "") ")"
}

# note_group(g, e): the A/A interval, and what the answer must mention.
function note_group(g, e) {
  if (known(EFFECT[e, "aa_low"]) && known(EFFECT[e, "aa_high"]) && !(g in aa_low)) {
    aa_low[g] = EFFECT[e, "aa_low"]
    aa_high[g] = EFFECT[e, "aa_high"]
  }
  if (EFFECT[e, "verdict"] == "invalid") return
  measured++
  if (EFFECT[e, "variant"] == baseline) has_baseline[g] = 1
  else if (known(EFFECT[e, "ratio"]) && known(EFFECT[e, "ratio_low"]) && known(EFFECT[e, "ratio_high"])) compared[g]++
  if (EFFECT[e, "layouts"] + 0 > most_layouts) most_layouts = EFFECT[e, "layouts"] + 0
  if (fewest_layouts == "" || EFFECT[e, "layouts"] + 0 < fewest_layouts)
    fewest_layouts = EFFECT[e, "layouts"] + 0
  if (known(EFFECT[e, "layout_spread_percent"]) && EFFECT[e, "layout_spread_percent"] + 0 > most_spread)
    most_spread = EFFECT[e, "layout_spread_percent"] + 0
}

function count_slices(    i, key) {
  for (i = 1; i <= COUNT["rows"]; i++) {
    if (COUNT[i, "what"] == "slices") slices = COUNT[i, "number"]
    else if (COUNT[i, "what"] == "invalid") {
      if (!(COUNT[i, "reason"] in invalid_by)) invalid_reason[++invalid_reasons] = COUNT[i, "reason"]
      invalid_by[COUNT[i, "reason"]] += COUNT[i, "number"]
      invalid_slices += COUNT[i, "number"]
    } else if (COUNT[i, "what"] == "dropped" && COUNT[i, "number"] + 0 > 0) {
      drop_row[++drop_rows] = i
    }
  }
  for (i = 1; i <= UNIT["rows"]; i++) {
    if (UNIT[i, "bimodal"] == 1) bimodal++
    if (UNIT[i, "layout"] + 0 > 0) shuffled = 1
  }
}

# count_events(): event_n events in the order of perf.tsv, event_value[variant, cc, dpdk, event]; those
# that could not be counted, by reason.
function count_events(    i, e, key, status) {
  for (i = 1; i <= PERF["rows"]; i++) {
    e = PERF[i, "event"]
    if (!(e in event_known)) { event_known[e] = 1; event_name[++event_n] = e }
    event_value[PERF[i, "variant"], PERF[i, "cc"], PERF[i, "dpdk"], e] = PERF[i, "per_packet"]
  }
  # One line an epoch and event; an event counted in some epochs is not missing.
  for (i = 1; i <= EVENT["rows"]; i++) {
    e = EVENT[i, "event"]
    status = EVENT[i, "status"]
    if (status == "counted" && known(EVENT[i, "reason"])) partly[e] = 1
    if ((e in event_known) || status == "counted") continue
    key = status SUBSEP EVENT[i, "reason"]
    # trace has counted those, and exactly
    if ((e in uncounted) || (localised && e == "instructions")) continue
    uncounted[e] = 1
    if (!(key in uncounted_events)) {
      uncounted_key[++uncounted_n] = key
      uncounted_status[uncounted_n] = status
      uncounted_reason[uncounted_n] = EVENT[i, "reason"]
    }
    uncounted_events[key] = uncounted_events[key] (uncounted_events[key] == "" ? "" : ", ") event_words(e)
  }
}

# event_words(e): shorter than perf(1)'s names where those are long.
function event_words(e) {
  if (e == "L1-icache-load-misses") return "L1i misses"
  if (e == "iTLB-load-misses") return "iTLB misses"
  if (e == "L1-dcache-load-misses") return "L1d misses"
  if (e == "dTLB-load-misses") return "dTLB misses"
  if (e == "branch-misses") return "branch misses"
  if (e == "cache-misses") return "cache misses"
  if (e == "page-faults") return "page faults"
  if (e == "context-switches") return "context switches"
  if (e == "task-clock") return "task clock ns"
  return e
}

# event_text(r, e): the figure of a row, with about four digits; "-" where there is none.
function event_text(r, e,    x) {
  if (!((row_variant[r], group_cc[row_group[r]], group_dpdk[row_group[r]], e) in event_value)) return "-"
  x = event_value[row_variant[r], group_cc[row_group[r]], group_dpdk[row_group[r]], e] + 0
  if (x > 0 && x < 0.0001) return "<0.0001"
  return x >= 1 || x == 0 ? fixed(x, x >= 100 ? 1 : 2) : fixed(x, 4)
}

# has_events(r): the row has a figure of some event.
function has_events(r,    i) {
  for (i = 1; i <= event_n; i++) if (event_text(r, event_name[i]) != "-") return 1
  return 0
}

# counters_words(): what the figures are, under their table.
function counters_words(    s, i) {
  s = "Sums over all valid slices, link orders and epochs of a build, divided by the packets of those slices; the untimed start of each slice is part of both."
  if (M["device.kind"] == "software") s = s " The software device's own work is in them: the same code for all builds."
  for (i = 1; i <= event_n; i++)
    if (event_name[i] in partly) s = s " " event_words(event_name[i]) ": without the slices in which the PMU had no counter for it all the time."
  return s
}

# uncounted_words(i): why the i-th group of events was not counted.
function uncounted_words(i,    s) {
  s = uncounted_events[uncounted_key[i]] " per packet: "
  if (uncounted_status[i] == "absent")
    return s (("cycles" in uncounted) ? "this machine has no PMU" : "this CPU does not count them") " (" uncounted_reason[i] ")."
  return s uncounted_reason[i] "."
}

# --- one row in words ------------------------------------------------------------------------

function is_compared(r,    e) {
  e = row_effect[r]
  return e && EFFECT[e, "variant"] != baseline && EFFECT[e, "verdict"] != "invalid" &&
    known(EFFECT[e, "ratio"]) && known(EFFECT[e, "ratio_low"]) && known(EFFECT[e, "ratio_high"])
}

function row_decimals(e) {
  return decimals(percent_of(EFFECT[e, "ratio_low"]), percent_of(EFFECT[e, "ratio_high"]))
}

# "-2.1"
function difference(e) { return signed(percent_of(EFFECT[e, "ratio"]), row_decimals(e)) }

# "-2.7 to -1.6"
function interval(e,    d) {
  d = row_decimals(e)
  return signed(percent_of(EFFECT[e, "ratio_low"]), d) " to " signed(percent_of(EFFECT[e, "ratio_high"]), d)
}

# Joined by hard spaces, so that no line breaks inside.
function difference_and_interval(e) { return hard(difference(e) " % (" interval(e) " %)") }

function verdict_words(verdict) {
  if (verdict == "same") return "the same as " baseline " within " margin_text
  if (verdict == "undecided") return "undecided against " baseline
  if (verdict == "invalid") return "no valid slice"
  return verdict " than " baseline
}

function failure_words(b,    s) {
  s = BUILD[b, "status"]
  if (known(BUILD[b, "reason"])) s = s ": " BUILD[b, "reason"]
  if (known(BUILD[b, "log"])) s = s ", log: " BUILD[b, "log"]
  return s
}

# remarks(list): what stats says about rows, and why rows have no figures; rows of which the same is
# said share an entry. Their number. measured_only: only of rows with figures.
function remarks(list, measured_only,    r, e, i, n, said_of, what, who) {
  for (r = 1; r <= rows; r++) {
    e = row_effect[r]
    if (measured_only && (row_failed[r] || (e && EFFECT[e, "verdict"] == "invalid"))) continue
    if (row_failed[r]) what = failure_words(row_build[r])
    else if (e && known(EFFECT[e, "note"])) what = EFFECT[e, "note"]
    else continue
    if (!(what in who)) said_of[++n] = what
    else who[what] = who[what] ", "
    who[what] = who[what] row_variant[r] " (" group_label[row_group[r]] ")"
  }
  for (i = 1; i <= n; i++) list[i] = who[said_of[i]] ": " said_of[i]
  return n + 0
}

# --- the answer ------------------------------------------------------------------------------

# answer(g): one line a compiler, verdict by verdict.
function answer(g,    i, n, order, r, e, part, s) {
  if (!has_baseline[g]) return "nothing to compare with: " baseline " was not measured."
  if (!compared[g]) return "nothing to compare: only " baseline " was measured."
  n = split("slower faster same undecided", order, " ")
  for (i = 1; i <= n; i++) {
    part = ""
    for (r = 1; r <= rows; r++) {
      e = row_effect[r]
      if (row_group[r] != g || !is_compared(r) || EFFECT[e, "verdict"] != order[i]) continue
      part = part (part == "" ? "" : ", ") row_variant[r] " " difference_and_interval(e)
    }
    if (part != "") s = s (s == "" ? "" : "; ") verdict_words(order[i]) ": " part
  }
  return s "." (aa_doubt[g] ? " Beware, see the warning." : "")
}

# row_label(r): "meson-static (gcc)"
function row_label(r) { return row_variant[r] " (" group_label[row_group[r]] ")" }

# headline(room): the answer of all compilers in one line of at most that many characters: the verdict that
# matters most, the row it is most true of, and how many others there are. headline_row is that row, or 0.
function headline(room,    r, v, i, order, count, pick, all, s, name, figures, tail, n, low, high) {
  headline_row = 0
  if (!measured) return "no variant could be built and measured"
  for (r = 1; r <= rows; r++) {
    if (!is_compared(r)) continue
    v = EFFECT[row_effect[r], "verdict"]
    all++
    if (!low || EFFECT[row_effect[r], "ratio_low"] + 0 < low) low = EFFECT[row_effect[r], "ratio_low"] + 0
    if (EFFECT[row_effect[r], "ratio_high"] + 0 > high) high = EFFECT[row_effect[r], "ratio_high"] + 0
    count[v]++
    if (!(v in pick) || weight(r) > weight(pick[v])) pick[v] = r
  }
  if (!all) return "nothing to compare, no compiler has two builds measured"
  n = split("slower undecided faster same", order, " ")
  for (i = 1; !((v = order[i]) in pick); i++) continue
  headline_row = r = pick[v]
  if (v == "same" && all > 1) return "all " all " the same within " margin_text ": every interval in " range_text(low, high)
  s = (v == "same" ? "the same within " margin_text : v) (aa_doubt[row_group[r]] ? ", but see the warning" : "") ": "
  figures = " " difference_and_interval(row_effect[r])
  for (; i <= n; i++) {
    if (!(order[i] in pick) || (order[i] == v && count[v] == 1)) continue
    tail = tail ", " (order[i] == v ? count[v] - 1 " more" : count[order[i]] " " order[i])
  }
  if (length(s row_label(r) figures tail) > room) tail = count[v] > 1 ? ", " count[v] - 1 " more" : ""
  if (length(s row_label(r) figures tail) > room) tail = ""
  name = cut(row_label(r), room - length(s figures tail))
  return s name figures tail
}

# weight(r): how much a row makes its verdict true: by the end of its interval that is nearest to no effect for slower and
# faster, by the end that is farthest for the others.
function weight(r,    e, low, high, v) {
  e = row_effect[r]
  v = EFFECT[e, "verdict"]
  low = EFFECT[e, "ratio_low"] - 1
  high = EFFECT[e, "ratio_high"] - 1
  if (v == "slower") return low
  if (v == "faster") return -high
  return v == "undecided" || high > -low ? high : -low
}

# whence(room): where the difference of the headline comes from, in one line. Call headline first.
function whence(room,    r, i, p, s, part, n, parts) {
  r = headline_row
  if (!r) return "nothing was compared"
  if (has_parts(r)) {
    n = packets_of[r]
    if (PART[part_at[r, "whole"], "instructions"] + 0 == 0 && !function_n[r]) return "not from the instructions: not one more or less"
    s = per_packet(PART[part_at[r, "whole"], "instructions"], n) " instructions/packet"
    if (path_baseline[r, "instructions"] + 0 > 0)
      s = s " (" signed(PART[part_at[r, "whole"], "instructions"] / path_baseline[r, "instructions"] * 100, 2) " %)"
    for (i = 1; i <= part_n[r]; i++) {
      p = part_row[r, i]
      if (PART[p, "instructions"] + 0 == 0) continue
      part = (parts++ ? ", " : ": ") library_name(PART[p, "library"]) " " per_packet(PART[p, "instructions"], n)
      if (length(s part) > room) { if (length(s) + 4 <= room) s = s ", .."; break }
      s = s part
    }
    return s
  }
  if (!shuffled) return "not known, only one link order was measured"
  if (EFFECT[row_effect[r], "verdict"] ~ /slower|faster/) return "it holds over " layouts_short() "; --localise tells more"
  if (most_spread > 0) return "no clear difference; link order alone spreads by " spread_text(most_spread) " %"
  return "no clear difference over " layouts_short()
}

function layouts_short() { return (fewest_layouts == most_layouts ? most_layouts : "all") " link order" (most_layouts == 1 ? "" : "s") }

# where_from(list): sentences on what the differences come from and what not; their number.
function where_from(list,    n, r, decided) {
  if (!measured) return 0
  for (r = 1; r <= rows; r++)
    if (is_compared(r) && EFFECT[row_effect[r], "verdict"] ~ /slower|faster/) decided++
  if (!shuffled)
    list[++n] = "Only the link order as built was measured, so a difference may be the luck of one code layout."
  else if (decided)
    list[++n] = (decided == 1 ? "The difference holds" : "The differences called slower or faster hold") \
      " over " layouts_text() ", so not the luck of one link order."
  else
    list[++n] = "No difference over " layouts_text() " is called slower or faster."
  if (shuffled && most_spread > 0)
    list[++n] = "Link order alone spreads a variant by up to " hard(spread_text(most_spread) " %") " (standard deviation)."
  if ((r = as_built_worst())) {
    list[++n] = as_built_sentence(r)
    if (misleading > 1) list[++n] = misleading - 1 " more as-built " (misleading == 2 ? "figure misleads" : "figures mislead") " like this; see below."
  }
  if (!localised)
    list[++n] = "Which library, object file or function carries a difference was not measured (--localise does)."
  return n
}

function layouts_text() {
  if (fewest_layouts == most_layouts) return plural(most_layouts, "shuffled link order")
  return fewest_layouts " to " most_layouts " shuffled link orders"
}

# as_built_differs(r): the link order as built lies outside the interval over layouts.
function as_built_differs(r,    e) {
  e = row_effect[r]
  return is_compared(r) && shuffled && known(EFFECT[e, "as_built_ratio"]) &&
    (EFFECT[e, "as_built_ratio"] + 0 < EFFECT[e, "ratio_low"] + 0 || EFFECT[e, "as_built_ratio"] + 0 > EFFECT[e, "ratio_high"] + 0)
}

# as_built_misleads(r): as built it looks slower or faster beyond the margin, and the verdict over
# layouts is another; or the other way round.
function as_built_misleads(r,    e, look, verdict) {
  if (!as_built_differs(r)) return 0
  e = row_effect[r]
  verdict = EFFECT[e, "verdict"]
  look = percent_of(EFFECT[e, "as_built_ratio"])
  look = look > margin ? "slower" : (look < -margin ? "faster" : "same")
  return look == "same" ? verdict ~ /slower|faster/ : verdict != look
}

# as_built_worst(): the row whose link order as built misleads most, or 0; counts them too.
function as_built_worst(    r, e, gap, most, worst) {
  misleading = 0
  for (r = 1; r <= rows; r++) {
    if (!as_built_misleads(r)) continue
    misleading++
    e = row_effect[r]
    gap = EFFECT[e, "as_built_ratio"] - EFFECT[e, "ratio"]
    if (gap < 0) gap = -gap
    if (gap <= most) continue
    most = gap
    worst = r
  }
  return worst
}

# as_built_sentence(r): "As built, X (gcc) is 12.3 % slower; over layouts it is undecided: ..."
function as_built_sentence(r,    e, s) {
  e = row_effect[r]
  s = EFFECT[e, "verdict"]
  if (s == "same") s = "the same within " margin_text
  return "As built, " row_variant[r] " (" group_label[row_group[r]] ") is " as_built_words(e) \
    "; over layouts it is " s ": " difference_and_interval(e) "."
}

# "12.3 % slower"
function as_built_words(e,    p) {
  p = percent_of(EFFECT[e, "as_built_ratio"])
  return hard(fixed(p < 0 ? -p : p, row_decimals(e)) " % ") (p < 0 ? "faster" : "slower")
}

# --- warnings --------------------------------------------------------------------------------

function warn(s) { warning[++warnings] = s; warning_kind[warnings] = "Warning" }
function remark(s) { warning[++warnings] = s; warning_kind[warnings] = "Note" }

# said(word): the run itself warned of that already.
function said(word,    i) {
  for (i = 0; i < M["warnings.n"] + 0; i++) if (index(M["warnings." i], word)) return 1
  return 0
}

function find_warnings(    g, i, s) {
  for (g = 1; g <= groups; g++) warn_aa(g)
  for (g = 1; g <= groups; g++) remark_rates(g)
  if (failures)
    warn((failures == 1 ? "One variant was" : failures " " (releases > 1 ? "builds" : "variants") " were") " not measured: " failed_names(0) ". The reasons stand below the table.")
  if (invalid_slices) {
    for (i = 1; i <= invalid_reasons; i++)
      s = s (i > 1 ? ", " : "") invalid_reason[i] " " invalid_by[invalid_reason[i]]
    s = invalid_slices " of " plural(slices, "slice") (invalid_slices == 1 ? " is" : " are") " invalid and not counted (" s ")."
    if (invalid_slices * 100 > slices) warn(s)
    else remark(s)
  }
  for (i = 1; i <= FORWARDERS["rows"]; i++)
    if (FORWARDERS[i, "agree"] == "no")
      warn("the kit\047s forwarder and testpmd do not agree on " FORWARDERS[i, "variant"] " with " FORWARDERS[i, "cc"] (releases > 1 ? " and DPDK " FORWARDERS[i, "dpdk"] : "") ": " hard(forwarder_effect(i, "kit") " % (" forwarder_interval(i, "kit") " %)") " and " hard(forwarder_effect(i, "testpmd") " % (" forwarder_interval(i, "testpmd") " %)") "; see the cross-check with testpmd.")
  for (i = 1; i <= drop_rows; i++) warn_drops(drop_row[i])
  for (i = 0; i < M["warnings.n"] + 0; i++) warn(M["warnings." i] (M["warnings." i] ~ /[.]$/ ? "" : "."))
  if (index(M["machine.hugepages"], "--no-huge") && !said("--no-huge"))
    warn("no hugepages (--no-huge): TLB misses weigh more than in a deployment, and differences may be hidden or caused by them.")
  if (measured && shuffled && fewest_layouts < 8 && !said("layouts"))
    remark("only " plural(fewest_layouts, "shuffled link order") " a variant; eight or more are needed before a small difference can be trusted.")
  if (measured && !shuffled && !said("layouts"))
    warn("one link order only: a difference may be the luck of one code layout (link order alone can move the same objects by many percent).")
  if (measured && M["measure.epochs"] == 1)
    remark("one epoch: every binary was started once. Starts of the same binary differ by some percent.")
  if (bimodal)
    remark(plural(bimodal, "process") (bimodal == 1 ? " start has" : " starts have") " slices in two clusters (bimodal); look at the drift plot.")
  s = device_words()
  if (s != "") remark(s)
}

# failed_names(expected): the rows that failed, or those of which that was known before; a release of which nothing at
# all was had is one name.
function failed_names(expected,    r, s, had, named, dpdk) {
  for (r = 1; r <= rows; r++) if (!row_failed[r] || as_expected(row_build[r])) had[group_dpdk[row_group[r]]] = 1
  for (r = 1; r <= rows; r++) {
    if (!row_failed[r] || as_expected(row_build[r]) != expected) continue
    dpdk = group_dpdk[row_group[r]]
    if (releases > 1 && !(dpdk in had)) {
      if (!(dpdk in named)) s = s (s == "" ? "" : ", ") "all of DPDK " dpdk
      named[dpdk] = 1
    } else s = s (s == "" ? "" : ", ") row_variant[r] " (" group_label[row_group[r]] ")"
  }
  return s
}

function warn_aa(g,    r, e, half, size, weak, idle, s) {
  if (!compared[g]) return
  if (!(g in aa_low)) {
    aa_doubt[g] = 1
    warn(group_label[g] ": no A/A pair was measured, so the noise of this machine is not known.")
    return
  }
  if (aa_low[g] + 0 > 1 || aa_high[g] + 0 < 1) {
    aa_doubt[g] = 1
    warn(group_label[g] ": the A/A interval (" range_text(aa_low[g], aa_high[g]) ") excludes 0: two starts of the same binary differ here. Do not believe differences of that size.")
  }
  # As stats has it: half the interval against the effect, on a log scale.
  half = (log(aa_high[g]) - log(aa_low[g])) / 2
  for (r = 1; r <= rows; r++) {
    if (row_group[r] != g || !is_compared(r)) continue
    e = row_effect[r]
    size = log(EFFECT[e, "ratio"])
    if (half <= (size < 0 ? -size : size)) continue
    if (EFFECT[e, "verdict"] == "same" && half * 100 <= margin) continue
    if (EFFECT[e, "verdict"] ~ /slower|faster/)
      weak = weak (weak == "" ? "" : ", ") row_variant[r] " " hard(difference(e) " %")
    else
      idle = idle (idle == "" ? "" : ", ") row_variant[r] " " hard(difference(e) " %")
  }
  s = group_label[g] ": the A/A interval (" range_text(aa_low[g], aa_high[g]) ") is wider than the effect of "
  if (weak != "") {
    aa_doubt[g] = 1
    warn(s weak (index(weak, ",") ? ", so these verdicts are" : ", so this verdict is") " weak; more epochs narrow it.")
  }
  if (idle != "") remark(s idle ": too small to be told from noise here.")
}

# remark_rates(g): cycles per packet of whole runs say something else than the paired difference.
function remark_rates(g,    r, e, base, quotient, s) {
  for (r = 1; r <= rows; r++) {
    e = row_effect[r]
    if (row_group[r] != g || !e || !known(EFFECT[e, "cycles_per_packet"])) continue
    if (row_variant[r] == baseline) base = EFFECT[e, "cycles_per_packet"]
    if (!base || !is_compared(r)) continue
    quotient = EFFECT[e, "cycles_per_packet"] / base
    if (quotient < EFFECT[e, "ratio_low"] - margin / 100 || quotient > EFFECT[e, "ratio_high"] + margin / 100)
      s = s (s == "" ? "" : ", ") row_variant[r] " " hard(signed(percent_of(quotient), 1) " %") " instead of " hard(difference(e) " %")
  }
  if (s != "")
    remark(group_label[g] ": the machine's speed changed during the run. Comparing rates of whole runs would give " s "; the difference is taken within rounds.")
}

function warn_drops(i,    j, packets) {
  for (j = 1; j <= COUNT["rows"]; j++)
    if (COUNT[j, "what"] == "packets" && COUNT[j, "variant"] == COUNT[i, "variant"] &&
        COUNT[j, "cc"] == COUNT[i, "cc"] && COUNT[j, "dpdk"] == COUNT[i, "dpdk"])
      packets = COUNT[j, "number"]
  warn(row_name(COUNT[i, "variant"], COUNT[i, "cc"], COUNT[i, "dpdk"]) " dropped " COUNT[i, "number"] " of " packets " packets at transmit.")
}

# device_words(): what kind of device was behind the figures; empty for a real NIC.
function device_words(    kind) {
  kind = M["device.kind"]
  if (kind == "real") return ""
  if (kind == "software")
    return "no NIC took part. The real mlx5 driver ran on a software device (" M["device.name"] "); PCIe, DMA and the wire cost nothing here."
  return "no NIC and no NIC driver took part: " M["device.name"] ". What is compared is DPDK's core and this driver."
}

# noise_words(g): the A/A interval of a group, judged by whether it holds zero.
function noise_words(g) {
  if (!(g in aa_low)) return "not measured."
  return range_text(aa_low[g], aa_high[g]) (aa_low[g] + 0 > 1 || aa_high[g] + 0 < 1 ? \
    ", does NOT include 0, see the warning." : ", includes 0 as it should.")
}

# --- facts -----------------------------------------------------------------------------------

function fact(label, value) { fact_label[++facts] = label; fact_value[facts] = value }

# add(s, x): x after a comma, when it is known.
function add(s, x) { return known(x) ? s (s == "" ? "" : ", ") x : s }

function find_facts(    i, s) {
  s = or_dash(M["machine.cpu"])
  s = add(s, known(M["machine.cores"]) ? plural(M["machine.cores"], "core") : "")
  s = add(s, known(M["machine.memory_mb"]) ? M["machine.memory_mb"] " MB" : "")
  s = add(s, hypervisor_words())
  fact("Machine", s)
  fact("System", add(or_dash(M["machine.os"]), known(M["machine.kernel"]) ? "kernel " M["machine.kernel"] : ""))
  fact("CPU state", "isolated cores " unknown_word(M["machine.cores_isolated"]) ", governor " \
    unknown_word(M["machine.governor"]) ", microcode " unknown_word(M["machine.microcode"]))
  fact("Hugepages", or_dash(M["machine.hugepages"]))
  for (i = 0; i < M["compilers.n"] + 0; i++)
    fact(i ? "" : "Compilers", M["compilers." i ".name"] ": " or_dash(M["compilers." i ".version"]))
  fact("Linker", or_dash(M["linker"]))
  fact("Assembler", or_dash(M["assembler"]))
  for (i = 0; i < M["dpdk.n"] + 0; i++) {
    fact("DPDK", add(or_dash(M["dpdk." i ".release"]) (known(M["dpdk." i ".kind"]) ? " (" M["dpdk." i ".kind"] ")" : ""), M["dpdk." i ".from"]))
    if (known(M["dpdk." i ".id"])) fact("", M["dpdk." i ".id"])
    if (known(M["dpdk." i ".failed"])) fact("", "not to be had: " M["dpdk." i ".failed"])
  }
  if (bursts_differ()) {
    fact("Device", M["device.name"] (M["device.kind"] == "real" ? ", real" : ""))
    for (i = 0; i < M["dpdk.n"] + 0; i++)
      if ((s = burst_words("dpdk." i)) != "") fact("", "DPDK " M["dpdk." i ".release"] ": " s)
  } else fact("Device", add(M["device.name"], burst_words("device")) (M["device.kind"] == "real" ? ", real" : ""))
  if (forwarder_words() != "") fact("Forwarder", forwarder_words())
  fact("Scenario", add(or_dash(M["scenario.name"]), M["scenario.title"]))
  s = add(add(add("", testbed("nic")), testbed("cpu")), testbed("os"))
  if (s != "") fact("Its testbed", s)
  for (i = 0; i < M["variants.n"] + 0; i++) fact(i ? "" : "Variants", M["variants." i ".name"] ": " or_dash(M["variants." i ".title"]))
  fact("Measured", measured_words())
  if (looks() > 1) fact("Looks", looks_words())
  if (M["measure.function_sections"] == "true")
    fact("Compiled", "every object with -ffunction-sections, which the build system does not do: link orders shuffle functions, not whole files")
  fact("Date", date_words())
}

# built_by(b): the build system of a row of builds.tsv; empty in results that do not say.
function built_by(b) {
  if (!known(BUILD[b, "build_system"])) return ""
  return BUILD[b, "build_system"] == "replayed" ? "make, replayed" : BUILD[b, "build_system"]
}

# other_builds(): whether anything was built by another build system than meson.
function other_builds(    i) {
  for (i = 1; i <= BUILD["rows"]; i++) if (built_by(i) ~ /make/) return 1
  return 0
}

# build_system_words(): a sentence of which variants were built by which build system; empty when all were by meson.
function build_system_words(    i, n, s, mode, name, done, list, modes, order) {
  if (!other_builds()) return ""
  for (i = 1; i <= BUILD["rows"]; i++) {
    mode = built_by(i)
    name = BUILD[i, "variant"] (releases > 1 ? " (" BUILD[i, "dpdk"] ")" : "")
    if (mode == "" || ((mode, name) in done)) continue
    done[mode, name] = 1
    if (!(mode in list)) order[++modes] = mode
    list[mode] = list[mode] (list[mode] == "" ? "" : ", ") name
  }
  for (n = 1; n <= modes; n++) {
    mode = order[n]
    s = s (n > 1 ? "; " : "") mode
    if (mode == "make") s = s ", the release\047s own makefiles"
    else if (mode == "make, replayed") s = s " (GNU make compiles meson\047s list of objects with the flags and constants of 20.08\047s makefiles)"
    s = s ": " list[mode]
  }
  return "Built by " s "."
}

# burst_words(key): the burst functions that meta.json has under key, or empty.
function burst_words(key,    s) {
  s = known(M[key ".rx_burst"]) ? "rx burst " M[key ".rx_burst"] : ""
  return add(s, known(M[key ".tx_burst"]) ? "tx burst " M[key ".tx_burst"] : "")
}

# bursts_differ(): the releases of this result do not all forward with the same burst functions.
function bursts_differ(    i, s) {
  for (i = 0; i < M["dpdk.n"] + 0; i++)
    if ((s = burst_words("dpdk." i)) != "" && s != burst_words("device")) return 1
  return 0
}

# used_by(list): what was run, a command a release where they differ; list[i] its heading, list[i, "command"]. Their number.
function used_by(list,    n) {
  n = used_by_releases(list)
  if (M["measure.forwarder"] != "both" || !known(M["measure.testpmd"])) return n
  list[++n] = "And for the cross-check" (releases > 1 ? ", with the first release" : "")
  list[n, "command"] = M["measure.testpmd"]
  return n
}

function used_by_releases(list,    n, i) {
  for (i = 0; i < M["dpdk.n"] + 0; i++) {
    if (releases < 2 || !known(M["dpdk." i ".used"])) continue
    list[++n] = "What was run with DPDK " M["dpdk." i ".release"]
    list[n, "command"] = M["dpdk." i ".used"]
  }
  if (n || !known(M["scenario.used"])) return n + 0
  list[1] = "What was run"
  list[1, "command"] = M["scenario.used"]
  return 1
}

# testbed(key): empty for a scenario that stands for no testbed in particular.
function testbed(key,    s) {
  s = M["scenario.testbed." key]
  return known(s) && s != "any" && s != "none" ? s : ""
}

function hypervisor_words() {
  if (!known(M["machine.hypervisor"])) return ""
  if (M["machine.hypervisor"] == "none") return "bare metal"
  if (M["machine.hypervisor"] ~ /^(docker|podman|lxc|lxc-libvirt|systemd-nspawn|openvz|rkt|container-other)$/)
    return "container (" M["machine.hypervisor"] ")"
  return "virtual machine (" M["machine.hypervisor"] ")"
}

function unknown_word(x) { return known(x) ? x : "unknown" }

function measured_words(    s) {
  s = "baseline " baseline ", margin " margin_text
  s = add(s, known(M["measure.epochs"]) ? plural(M["measure.epochs"], "epoch") " of " plural(M["measure.rounds"], "round") (releases > 1 ? " for each release, which take turns" : "") : "")
  s = add(s, known(M["measure.layouts"]) ? plural(M["measure.layouts"], "layout") : "")
  s = add(s, known(M["measure.slice_ms"]) ? "slices of " trim0(M["measure.slice_ms"]) " ms" : "")
  s = add(s, known(M["measure.seed"]) ? "seed " M["measure.seed"] : "")
  return add(s, plural(slices + 0, "slice"))
}

# looks(): how often the run was looked at, at most; 1 in results that know of no looks.
function looks() { return known(M["measure.looks"]) && M["measure.looks"] + 0 > 1 ? M["measure.looks"] + 0 : 1 }

# looks_words(): when the run could end, when it did and why, and what that means for the intervals.
function looks_words(    s, part) {
  part = M["measure.epochs_planned"] / looks()
  s = "the run could end after every " plural(part, "epoch") " of " M["measure.epochs_planned"] " (fixed before it), and ended at look " M["measure.look"] " of " looks()
  if (M["measure.stopped"] == "narrow") s = s ", every interval being within +-" trim0(M["measure.half_width_percent"]) " %"
  else if (M["measure.stopped"] == "decided") s = s ", every variant having a verdict"
  return s "; intervals and verdicts are held to Pocock's levels, so that all looks together err as rarely as one"
}

function date_words(    s) {
  s = M["date_utc"]
  if (s ~ /^[0-9][0-9][0-9][0-9]-[0-9][0-9]-[0-9][0-9]T[0-9][0-9]:[0-9][0-9].*Z$/)
    return substr(s, 1, 10) " " substr(s, 12, 5) " UTC"
  return s
}

# not_measured(list): their number.
function not_measured(list,    n, s, i) {
  if (M["device.kind"] == "real")
    list[++n] = "Loss-bounded rate and latency: rates are maximum rates, drops are counted."
  else {
    list[++n] = "A NIC, PCIe and the wire" (M["device.kind"] == "software" ? "" : ", and any NIC's driver") "."
    list[++n] = "Loss-bounded rate and latency."
  }
  if (testbed("cpu") != "" && M["device.kind"] != "real")
    list[++n] = "The testbed of the original report (" testbed("cpu") "): absolute rates here do not compare with its rates, only differences might."
  for (i = 1; i <= uncounted_n; i++) list[++n] = uncounted_words(i)
  if (!EVENT["rows"])
    list[++n] = "Cycles in user mode, " (localised ? "" : "instructions, ") "branch, L1i and iTLB misses per packet: no counters were asked for."
  if (!localised) list[++n] = "Which library, object file or function carries a difference (--localise does)."
  if (measured && !shuffled) list[++n] = "Other link orders than the one as built."
  s = failed_names(0)
  if (s != "") list[++n] = "What failed: " s "."
  s = failed_names(1)
  if (s != "") list[++n] = "What cannot be built, as expected: " s "."
  return n
}

# stats_command(): how the figures follow from the raw slices.
function stats_command() {
  return "build/fwd/tools/stats --baseline " baseline " --margin " trim0(M["measure.margin_percent"]) \
    (known(M["measure.seed"]) ? " --seed " M["measure.seed"] : "") \
    (looks() > 1 ? " --looks " looks() " --look " M["measure.look"] : "") " slices.tsv"
}

# reproduce_command(): the run's command, with the seed where it took the default.
function reproduce_command() {
  return M["kit.command"] (known(M["measure.seed"]) && M["kit.command"] !~ /(^| )--seed[ =]/ ? " --seed " M["measure.seed"] : "")
}

# --- proof -----------------------------------------------------------------------------------

# "812/812"
function objects_text(b) {
  if (!known(BUILD[b, "objects"])) return "-"
  return (known(BUILD[b, "objects_with_flag"]) ? BUILD[b, "objects_with_flag"] : "?") "/" BUILD[b, "objects"]
}

# functions_words(i): what row i of inlining.tsv counts, and where the list is.
function functions_words(i,    s, n) {
  n = INLINING[i, "functions_differ"] + 0
  s = row_name(INLINING[i, "variant"], INLINING[i, "cc"], INLINING[i, "dpdk"]) ": "
  if (!n) s = s "no function differs in size or calls from " baseline
  else s = s plural(n, "function") (n == 1 ? " differs" : " differ") " in size or calls from " baseline "; " \
    INLINING[i, "inlined_in_baseline"] " called here " (INLINING[i, "inlined_in_baseline"] == 1 ? "is" : "are") " inlined there, " \
    INLINING[i, "inlined_in_variant"] " the other way round"
  if (INLINING[i, "libraries_not_compared"] + 0) s = s "; " INLINING[i, "libraries_not_compared"] " libraries cannot be compared"
  return s (n ? " (proof/" build_name(INLINING[i, "variant"], INLINING[i, "cc"], INLINING[i, "dpdk"]) "/compare.tsv)." : ".")
}

# note_words(i): row i of notes.tsv.
function note_words(i) { return row_name(NOTE[i, "variant"], NOTE[i, "cc"], NOTE[i, "dpdk"]) ": " NOTE[i, "note"] "." }

# constants_words(): one line when there is no table of preprocessor constants to show, else empty.
function constants_words(    r, b, base, could, could_not) {
  if (CONSTANT["rows"]) return ""
  if (!constants_recorded) return "Preprocessor constants: not recorded."
  for (r = 1; r <= rows; r++) {
    b = row_build[r]
    if (b && row_variant[r] == baseline && known(BUILD[b, "sha256"])) base[row_group[r]] = 1
  }
  for (r = 1; r <= rows; r++) {
    b = row_build[r]
    if (!b || row_variant[r] == baseline || !known(BUILD[b, "sha256"])) continue
    if (row_group[r] in base) could++
    else could_not++
  }
  if (!could) return "Preprocessor constants: nothing to compare."
  return "Preprocessor constants: the same in all builds" (could_not ? " of compilers whose baseline was built" : "") "."
}

function tls_text(b) {
  return or_dash(BUILD[b, "tls_gd"]) "/" or_dash(BUILD[b, "tls_ld"]) "/" or_dash(BUILD[b, "tls_ie"]) "/" or_dash(BUILD[b, "tls_le"])
}

function kilobytes(x) { return known(x) ? fixed(x / 1000, 0) : "-" }

function spread_text(x) { return fixed(x, x + 0 > 0 && x + 0 < 0.2 ? 2 : 1) }
