# SPDX-License-Identifier: BSD-3-Clause
# Sums over perf.tsv: variant TAB cc TAB dpdk TAB event TAB slices TAB packets TAB count TAB per_packet.
# Plain quotients to look at; whether a difference is real is stats' to say, from the cycles of slices.tsv.
BEGIN {
  FS = OFS = "\t"
  print "variant", "cc", "dpdk", "event", "slices", "packets", "count", "per_packet"
}

# The columns as plots/report asks check.awk for them: eight fixed ones, then one an event.
NR == 1 {
  for (i = 9; i <= NF; i++) event[i] = $i
  events = NF
  next
}

{
  key = $3 OFS $4 OFS $5
  if (!(key in seen)) { seen[key] = 1; order[++keys] = key }
  for (i = 9; i <= NF; i++) {
    if ($i == "-") continue
    slices[key, i]++
    # Only the packets of slices in which this event was counted all the time.
    packets[key, i] += $8
    count[key, i] += $i
  }
}

END {
  for (k = 1; k <= keys; k++)
    for (i = 9; i <= events; i++)
      if (packets[order[k], i] > 0)
        printf "%s\t%s\t%d\t%.0f\t%.0f\t%.9g\n", order[k], event[i], slices[order[k], i], packets[order[k], i], \
          count[order[k], i], count[order[k], i] / packets[order[k], i]
}
