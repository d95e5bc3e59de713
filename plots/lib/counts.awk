# SPDX-License-Identifier: BSD-3-Clause
# Counts over the checked slices.tsv: what TAB variant TAB cc TAB dpdk TAB reason TAB number.
# No speed is computed here; that is stats' job.
BEGIN {
  FS = OFS = "\t"
  print "what", "variant", "cc", "dpdk", "reason", "number"
}

# The columns as plots/report asks check.awk for them.
NR > 1 {
  key = $4 OFS $5 OFS $6
  slices++
  if (!(key in dropped)) order[++keys] = key
  dropped[key] += $10
  packets[key] += $8
  if ($11 == 0) {
    why = key OFS $12
    if (!(why in invalid)) reason[++reasons] = why
    invalid[why]++
  }
}

END {
  print "slices", "-", "-", "-", "-", slices + 0
  for (i = 1; i <= reasons; i++) print "invalid", reason[i], invalid[reason[i]]
  for (i = 1; i <= keys; i++) {
    printf "packets%s%s%s-%s%.0f\n", OFS, order[i], OFS, OFS, packets[order[i]]
    printf "dropped%s%s%s-%s%.0f\n", OFS, order[i], OFS, OFS, dropped[order[i]]
  }
}
