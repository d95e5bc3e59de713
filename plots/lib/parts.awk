# SPDX-License-Identifier: BSD-3-Clause
# Where a difference lies, in words: from the tables that localise leaves behind. Used by text, page
# and plots, so they agree. All counts are of instructions in the traced packets.
#
#   PART FUNC PATH PARTC   parts.tsv functions.tsv counts.tsv effects.tsv
#   part_at[r, level]      row of PART of a result's row: whole, libraries, rest, interaction
#   part_n[r] part_row[r, i]   its libraries, the largest difference first

function parts_load(    i, r, key, at) {
  tsv_load(dir "/localise/parts.tsv", PART)
  tsv_load(dir "/localise/functions.tsv", FUNC)
  tsv_load(dir "/localise/counts.tsv", PATH)
  tsv_load(dir "/localise/effects.tsv", PARTC)
  for (r = 1; r <= rows; r++)
    if (!row_failed[r]) at[row_variant[r], group_cc[row_group[r]], group_dpdk[row_group[r]]] = r
  for (i = 1; i <= PART["rows"]; i++) {
    key = PART[i, "variant"] SUBSEP PART[i, "cc"] SUBSEP PART[i, "dpdk"]
    if (!(key in at)) continue
    r = at[key]
    if (PART[i, "level"] == "library") add_part(r, i)
    else if (PART[i, "level"] == "object") { object_n[r]++; object_row[r, object_n[r]] = i }
    else part_at[r, PART[i, "level"]] = i
    if (PART[i, "level"] == "whole") localised++
    packets_of[r] = PART[i, "packets"]
  }
  for (i = 1; i <= FUNC["rows"]; i++) {
    key = FUNC[i, "variant"] SUBSEP FUNC[i, "cc"] SUBSEP FUNC[i, "dpdk"]
    if ((key in at) && FUNC[i, "difference"] + 0 != 0) add_function(at[key], i)
  }
  for (i = 1; i <= PATH["rows"]; i++) {
    key = PATH[i, "variant"] SUBSEP PATH[i, "cc"] SUBSEP PATH[i, "dpdk"]
    if (!(key in at)) continue
    path_baseline[at[key], PATH[i, "what"]] = PATH[i, "baseline"]
    path_variant[at[key], PATH[i, "what"]] = PATH[i, "variant_value"]
  }
  for (i = 1; i <= PARTC["rows"]; i++) {
    key = PARTC[i, "variant"] SUBSEP PARTC[i, "cc"] SUBSEP PARTC[i, "dpdk"]
    if (key in at) cycles_at[at[key], PARTC[i, "part"]] = i
  }
}

function magnitude(x) { return x < 0 ? -x : x + 0 }

# add_part(r, i), add_function(r, i): sorted by size, largest first.
function add_part(r, i,    j) {
  for (j = ++part_n[r]; j > 1 && magnitude(PART[part_row[r, j - 1], "instructions"]) < magnitude(PART[i, "instructions"]); j--)
    part_row[r, j] = part_row[r, j - 1]
  part_row[r, j] = i
}

function add_function(r, i,    j) {
  for (j = ++function_n[r]; j > 1 && magnitude(FUNC[function_row[r, j - 1], "difference"]) < magnitude(FUNC[i, "difference"]); j--)
    function_row[r, j] = function_row[r, j - 1]
  function_row[r, j] = i
}

function has_parts(r) { return (r, "whole") in part_at }

# per_packet(count, packets): "+2.17", "0"; exact counts, so a zero is a zero.
function per_packet(count, packets,    x) {
  if (!known(count) || packets + 0 == 0) return "-"
  if (count + 0 == 0) return "0"
  x = count / packets
  return signed(x, magnitude(x) < 0.1 ? (magnitude(x) < 0.01 ? 4 : 3) : 2)
}

# library_name(s): as DPDK's people say it.
function library_name(s) { sub(/^rte_(pmd_)?/, "", s); return s == "-" ? "forwarder" : s }

# object_name(library, s): without what the build system puts before and behind it.
function object_name(library, s) {
  sub(/\.o$/, "", s)
  if (index(s, library_name(library) "_") == 1) s = substr(s, length(library_name(library)) + 2)
  return s
}

# functions_of(r, library, most): "(mlx5_tx_burst_i +2.03, mlx5_rx_burst_vec +0.08)", or empty.
function functions_of(r, library, most,    i, n, f, s) {
  for (i = 1; i <= function_n[r]; i++) {
    f = function_row[r, i]
    if (FUNC[f, "library"] != library) continue
    if (++n > most) { s = s ", ..."; break }
    s = s (n > 1 ? ", " : "") hard(FUNC[f, "function"] " " per_packet(FUNC[f, "difference"], packets_of[r]))
  }
  return s == "" ? "" : " (" s ")"
}

# part_kind(library): the maintainer's words.
function part_kind(library) {
  if (library ~ /^rte_(pmd_|net_|common_|bus_)/) return library ~ /^rte_(pmd_)?net$/ ? "library" : "driver"
  if (library ~ /^rte_mempool_/) return "mempool driver"
  return library == "rte_mempool" ? "mempool" : "library"
}

# guilty_kinds(r): "driver", "driver and library", or empty.
function guilty_kinds(r,    i, k, s, seen) {
  for (i = 1; i <= part_n[r]; i++) {
    if (PART[part_row[r, i], "instructions"] + 0 == 0) continue
    k = part_kind(PART[part_row[r, i], "library"])
    if (k in seen) continue
    seen[k] = 1
    s = s (s == "" ? "" : " and ") k
  }
  return s
}

# part_sentence(r): where the difference of one row lies, in instructions, exactly.
function part_sentence(r,    w, n, i, p, s, parts, zero, base) {
  w = part_at[r, "whole"]
  n = packets_of[r]
  s = row_variant[r] " (" group_label[row_group[r]] "): "
  base = path_baseline[r, "instructions"]
  if (PART[w, "instructions"] == 0 && !function_n[r])
    return s "not one instruction more or less in " n " packets; driver, mempool and every other library: 0."
  s = s hard(per_packet(PART[w, "instructions"], n) " instructions/packet") \
    (base + 0 > 0 ? " (" hard(signed(PART[w, "instructions"] / base * 100, 2) " %") ")" : "")
  if (!part_n[r]) return s "; " PART[w, "note"] "."
  for (i = 1; i <= part_n[r]; i++) {
    p = part_row[r, i]
    if (PART[p, "instructions"] + 0 == 0) { zero++; continue }
    parts++
    s = s (parts == 1 ? ": " : ", ") library_name(PART[p, "library"]) " " per_packet(PART[p, "instructions"], n) \
      functions_of(r, PART[p, "library"], 4)
  }
  if (!parts) s = s ": no library's"
  if (zero) s = s "; every other library: 0"
  if (PART[part_at[r, "rest"], "instructions"] != 0)
    s = s "; the forwarder's own code and the way of linking: " per_packet(PART[part_at[r, "rest"], "instructions"], n)
  if (PART[part_at[r, "interaction"], "instructions"] != 0)
    s = s "; all libraries together differ from the sum of them by " per_packet(PART[part_at[r, "interaction"], "instructions"], n)
  if (parts && guilty_kinds(r) !~ / and /) s = s ". Of DPDK's libraries only the " guilty_kinds(r) " differs"
  return s "."
}

# part_answers(list): a paragraph for each row that was localised; their number.
function part_answers(list,    r, n, cycles) {
  for (r = 1; r <= rows; r++) {
    if (!has_parts(r)) continue
    cycles = part_cycles(r)
    list[++n] = part_sentence(r) (cycles == "" ? "" : " " cycles)
  }
  return n + 0
}

# part_cycles(r): what the cycles say about the libraries that differ; empty when they were not measured.
function part_cycles(r,    i, p, e, s) {
  for (i = 1; i <= part_n[r]; i++) {
    p = part_row[r, i]
    if (!((r, PART[p, "library"]) in cycles_at)) continue
    e = cycles_at[r, PART[p, "library"]]
    s = s (s == "" ? "" : "; ") library_name(PART[p, "library"]) " alone " cycles_words(e)
  }
  return s == "" ? "" : "In cycles, over " plural(PARTC[e, "layouts"], "layout") ": " s "."
}

function cycles_words(e,    d) {
  if (!known(PARTC[e, "ratio"])) return PARTC[e, "verdict"]
  d = decimals(percent_of(PARTC[e, "ratio_low"]), percent_of(PARTC[e, "ratio_high"]))
  return hard(signed(percent_of(PARTC[e, "ratio"]), d) " % (" signed(percent_of(PARTC[e, "ratio_low"]), d) " to " \
    signed(percent_of(PARTC[e, "ratio_high"]), d) " %)") ", " PARTC[e, "verdict"]
}

# path_words(r): what else is counted on the path, the variant against the baseline.
function path_words(r,    i, n, name, s, what) {
  n = split("plt_calls got_loads tls_get_addr_calls indirect_branches loads stores", name, " ")
  for (i = 1; i <= n; i++) {
    if (!((r, name[i]) in path_variant)) continue
    what = name[i]
    gsub(/_/, " ", what)
    sub(/^plt/, "PLT", what)
    sub(/^got/, "GOT", what)
    sub(/^tls get addr/, "__tls_get_addr", what)
    s = s (s == "" ? "" : ", ") what " " path_variant[r, name[i]] " against " path_baseline[r, name[i]]
  }
  return s
}

# inlined_words(r, f): the build that inlined a function which the other calls, or "-".
function inlined_words(r, f) {
  if (FUNC[f, "inlined_in"] == "-") return "-"
  return FUNC[f, "inlined_in"] == "baseline" ? baseline : row_variant[r]
}

# part_label(library): as the tables and the chart name it.
function part_label(library) { return library == "others" ? "all others" : library_name(library) }
