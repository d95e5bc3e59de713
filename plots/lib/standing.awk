# SPDX-License-Identifier: BSD-3-Clause
# One result as its part of the tested matrix, for tested.awk: standing.tsv, a row each of its tables, and
# about.tsv, a line on the result.
#   RESULT_NAME=FOLDER awk -v dir=CHECKED -f common.awk -f result.awk -f parts.awk -f matrix.awk -f standing.awk

BEGIN {
  OFS = "\t"
  result_load(dir)
  matrix_load()
  for (r = 1; r <= rows; r++) if (!((row_variant[r], row_group[r]) in row_at)) row_at[row_variant[r], row_group[r]] = r
  for (v = 1; v <= matrix_variants; v++)
    for (g = 1; g <= groups; g++) if ((v, g) in cell_kind) standing(v, g, row_at[matrix_variant[v], g])
  print ENVIRON["RESULT_NAME"], M["date_utc"], add(add(M["machine.cpu"], M["machine.os"]), hypervisor_words()), \
    or_dash(M["kit.version"]), or_dash(M["kit.commit"]) > (dir "/about.tsv")
}

END { if (exit_status) exit exit_status }


function standing(v, g, r,    b, status, built, proof, forwarded, verdict) {
  b = row_build[r]
  status = b ? BUILD[b, "status"] : "ok"
  built = status ~ /^(source failed|build failed|fails as expected)$/ ? short_status(status) : (status == "link failed" ? "not linked" : "yes")
  proof = "-"
  if (b && known(BUILD[b, "code_model"])) proof = (status == "proof failed" ? "no: " : "") BUILD[b, "code_model"] ", " BUILD[b, "elf_type"]
  forwarded = forwarded_words(matrix_variant[v], g)
  verdict = cell_kind[v, g] == "none" ? "-" : cell_short[v, g]
  if (cell_effect[v, g] != "") verdict = verdict " " cell_effect[v, g] " % (" cell_interval[v, g] " %)" (shuffled ? "" : ", as built")
  print group_dpdk[g], group_cc[g] version_of(b, g), matrix_variant[v], device_short(), M["date_utc"], built, proof, forwarded, verdict, \
    cell_kind[v, g] == "baseline" ? "-" : baseline, or_dash(M["kit.commit"]), (v, g) in cell_note ? without_log(reason[cell_note[v, g]]) : "-" > (dir "/standing.tsv")
}

# version_of(b, g): " 12.2.0" out of "gcc (Debian 12.2.0-14) 12.2.0".
function version_of(b, g,    s, i) {
  s = b ? BUILD[b, "cc_version"] : ""
  for (i = 0; i < M["compilers.n"] + 0 && !known(s); i++) if (M["compilers." i ".name"] == group_cc[g]) s = M["compilers." i ".version"]
  gsub(/\([^)]*\)/, "", s)
  return match(s, /[0-9]+\.[0-9]+(\.[0-9]+)?/) ? " " substr(s, RSTART, RLENGTH) : ""
}

# without_log(s): a log's path means something beside its result only.
function without_log(s) {
  sub(/,? \(?log: .*$/, "", s)
  return s
}

function device_short(    s) {
  if (M["device.kind"] == "ring") return "net_ring"
  if (M["device.kind"] == "null") return "net_null"
  s = M["device.name"]
  sub(/ \(no NIC\).*/, "", s)
  return s
}

# forwarded_words(variant, g): whether packets went through, and how many got lost.
function forwarded_words(variant, g,    i, packets, dropped, seen) {
  for (i = 1; i <= COUNT["rows"]; i++) {
    if (COUNT[i, "variant"] != variant || COUNT[i, "cc"] != group_cc[g] || COUNT[i, "dpdk"] != group_dpdk[g]) continue
    if (COUNT[i, "what"] == "packets") { packets = COUNT[i, "number"]; seen = 1 }
    if (COUNT[i, "what"] == "dropped") dropped = COUNT[i, "number"]
  }
  if (!seen) return "-"
  if (packets + 0 == 0) return "no"
  return "yes" (dropped + 0 ? ", " dropped " of " packets " dropped" : "")
}
