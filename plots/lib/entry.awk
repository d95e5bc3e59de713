# SPDX-License-Identifier: BSD-3-Clause
# One result as its part of a comparison of several: rows.tsv, a row each of the tables of results; keys.tsv,
# what a reader of such a row does not see. Both go to the folder of the checked result.
#   awk -v dir=CHECKED -f common.awk -f result.awk -f parts.awk -f matrix.awk -f entry.awk
#
# Kinds of keys: hidden (results in which it differs are not compared), noted (said, no more than that) and
# shown (it stands beside each row, so it may differ).

BEGIN {
  OFS = "\t"
  result_load(dir)
  matrix_load()
  write_rows()
  write_keys()
}

END { if (exit_status) exit exit_status }

function write_rows(    v, g, r, e, at, file, shown) {
  file = dir "/rows.tsv"
  print "variant", "cc", "dpdk", "kind", "short", "percent", "low", "high", "difference", "interval", "cycles", "mpps", "aa_low", "aa_high", "reason" > file
  for (r = 1; r <= rows; r++) if (!((row_variant[r], row_group[r]) in at)) at[row_variant[r], row_group[r]] = r
  for (v = 1; v <= matrix_variants; v++)
    for (g = 1; g <= groups; g++) {
      if (!((v, g) in cell_kind)) continue
      e = row_effect[at[matrix_variant[v], g]]
      shown = cell_effect[v, g] != ""
      print matrix_variant[v], group_cc[g], group_dpdk[g], cell_kind[v, g], cell_short[v, g], \
        shown ? percent_of(EFFECT[e, "ratio"]) : "NaN", shown ? percent_of(EFFECT[e, "ratio_low"]) : "NaN", \
        shown ? percent_of(EFFECT[e, "ratio_high"]) : "NaN", shown ? cell_effect[v, g] : "-", shown ? cell_interval[v, g] : "-", \
        e ? four_digits(EFFECT[e, "cycles_per_packet"]) : "-", e ? four_digits(EFFECT[e, "mpps"]) : "-", \
        (g in aa_low) ? aa_low[g] : "-", (g in aa_low) ? aa_high[g] : "-", (v, g) in cell_note ? reason[cell_note[v, g]] : "-" > file
    }
  close(file)
}

# key(kind, name, value): one that was not recorded is none.
function key(kind, name, value) { if (known(value)) print kind, name, value > (dir "/keys.tsv") }

function write_keys(    i, s, scenario, release) {
  print "kind", "name", "value" > (dir "/keys.tsv")
  scenario = or_dash(M["scenario.name"])
  key("shown", "scenario", scenario)
  key("shown", "date", date_words())
  key("shown", "releases", releases_shown())
  key("shown", "machine", add(M["machine.cpu"], known(M["machine.cores"]) ? plural(M["machine.cores"], "core") : ""))
  key("shown", "device", M["device.name"])
  key("shown", "commit", M["kit.commit"])
  key("hidden", "device kind", M["device.kind"])
  key("hidden", "CPU", M["machine.cpu"])
  key("hidden", "microcode", M["machine.microcode"])
  key("hidden", "frequency", frequency())
  key("hidden", "governor", M["machine.governor"])
  key("hidden", "isolated cores", M["machine.cores_isolated"])
  key("hidden", "hypervisor", M["machine.hypervisor"])
  key("hidden", "hugepages", index(M["machine.hugepages"], "--no-huge") ? "without" : "with")
  key("hidden", "baseline", baseline)
  key("hidden", "margin", trim0(M["measure.margin_percent"]) " %")
  if (measured) key("hidden", "link orders", shuffled ? "shuffled" : "as built only")
  key("hidden", "-ffunction-sections", M["measure.function_sections"] == "true" ? "yes" : "no")
  key("hidden", "forwarder", M["measure.forwarder"] == "testpmd" ? "testpmd" : "kit")
  key("hidden", "linker", M["linker"])
  key("hidden", "mppsdiff version", M["kit.version"])
  for (i = 0; i < M["compilers.n"] + 0; i++) key("hidden", "version of " M["compilers." i ".name"], M["compilers." i ".version"])
  key("hidden", "device of " scenario, M["device.name"])
  key("hidden", "command of " scenario, M["scenario.command"])
  for (i = 0; i < M["dpdk.n"] + 0; i++) {
    release = M["dpdk." i ".release"]
    if (known(M["dpdk." i ".failed"])) continue
    key("hidden", "source of DPDK " release, M["dpdk." i ".id"])
    s = burst_words("dpdk." i)
    key("hidden", "burst functions of " scenario " with DPDK " release, s == "" && M["dpdk.n"] == 1 ? burst_words("device") : s)
    s = M["dpdk." i ".used"]
    key("hidden", "forwarder's options of " scenario " with DPDK " release, !known(s) && M["dpdk.n"] == 1 ? M["scenario.used"] : s)
  }
  key("noted", "kernel", M["machine.kernel"])
  key("noted", "system", M["machine.os"])
  key("noted", "mppsdiff commit", M["kit.commit"])
  key("noted", "cores", M["machine.cores"])
  key("noted", "epochs", M["measure.epochs"])
  key("noted", "rounds", M["measure.rounds"])
  key("noted", "layouts", M["measure.layouts"])
  key("noted", "slices of ms", M["measure.slice_ms"])
  close(dir "/keys.tsv")
}

function releases_shown(    i, s) {
  for (i = 0; i < M["dpdk.n"] + 0; i++) s = add(s, M["dpdk." i ".release"])
  return s
}

# frequency(): of the time stamp counter, by which cycles are counted; from any start's cycles and packets.
function frequency(    u) {
  for (u = 1; u <= UNIT["rows"]; u++)
    if (known(UNIT[u, "mpps"]) && known(UNIT[u, "cycles_per_packet"])) return sprintf("%.0f MHz", UNIT[u, "mpps"] * UNIT[u, "cycles_per_packet"])
  return "-"
}
