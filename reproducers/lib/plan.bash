# shellcheck shell=bash
# SPDX-License-Identifier: BSD-3-Clause
#
# The plan of a run: which process starts in which epoch, in which order. The same seed gives the
# same plan.

# plan_write SEED EPOCHS LAYOUTS BASELINE ARGUMENTS: reads "variant cc dpdk layout binary" rows
# (tab-separated) on stdin and prints plan.tsv. Every epoch starts each as-built binary once and the
# baseline's twice (the A/A pair), and one layout of each variant: epoch e takes layout
# (e - 1) mod LAYOUTS + 1. The order of the starts is shuffled, because the first to start gets the
# best physical pages. ARGUMENTS may hold the word @PROCESS@, replaced by a name for that start.
plan_write() {
  awk -F '\t' -v OFS='\t' -v seed="$1" -v epochs="$2" -v layouts="$3" -v baseline="$4" -v arguments="$5" '
    # Park-Miller: every awk computes it exactly in doubles, unlike its own rand().
    function random(n) { state = (state * 48271) % 2147483647; return state % n }
    { row[++rows] = $0; variant[rows] = $1; layout[rows] = $4 }
    END {
      state = seed % 2147483646 + 1
      for (i = 0; i < 16; i++) random(1)
      print "epoch", "process", "variant", "cc", "dpdk", "layout", "binary", "env_bytes", "args"
      for (epoch = 1; epoch <= epochs; epoch++) {
        n = 0
        turn = layouts > 0 ? (epoch - 1) % layouts + 1 : 0
        for (i = 1; i <= rows; i++) if (layout[i] == 0 || layout[i] == turn) {
          order[++n] = i
          if (layout[i] == 0 && variant[i] == baseline) order[++n] = i
        }
        for (i = n; i > 1; i--) { j = random(i) + 1; t = order[i]; order[i] = order[j]; order[j] = t }
        for (i = 1; i <= n; i++) {
          args = arguments
          gsub(/@PROCESS@/, "e" epoch "p" i, args)
          # A multiple of 16 moves the stack without changing how it is aligned.
          print epoch, i, row[order[i]], random(256) * 16, args
        }
      }
    }'
}
