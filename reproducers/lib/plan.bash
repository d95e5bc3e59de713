# shellcheck shell=bash
# SPDX-License-Identifier: BSD-3-Clause
#
# The plan of a run: which process starts in which epoch, in which order. The same seed gives the
# same plan.

# plan_write SEED EPOCHS LAYOUTS BASELINE ARGUMENTS [TURN TURNS [TESTPMD_ARGUMENTS TESTPMD_ENV]]: reads "variant cc
# dpdk layout binary [forwarder]" rows (tab-separated) on stdin and prints plan.tsv. The forwarder is kit or testpmd;
# of both each has its A/A pair. Every epoch starts each as-built binary once and the
# baseline's twice (the A/A pair), and one layout of each variant: epoch e takes layout
# (e - 1) mod LAYOUTS + 1. The order of the starts is shuffled, because the first to start gets the
# best physical pages. ARGUMENTS may hold the word @PROCESS@, replaced by a name for that start.
# With TURNS this is one of so many plans that take turns, an epoch each: its epoch e is numbered
# (e - 1) * TURNS + TURN, and plan_join makes one of them.
plan_write() {
  awk -F '\t' -v OFS='\t' -v seed="$1" -v epochs="$2" -v layouts="$3" -v baseline="$4" -v arguments="$5" -v place="${6:-1}" -v places="${7:-1}" \
    -v testpmd_arguments="${8:-}" -v testpmd_env="${9:--}" '
    # Park-Miller: every awk computes it exactly in doubles, unlike its own rand().
    function random(n) { state = (state * 48271) % 2147483647; return state % n }
    { row[++rows] = $1 OFS $2 OFS $3 OFS $4 OFS $5; variant[rows] = $1; layout[rows] = $4; testpmd[rows] = $6 == "testpmd" }
    END {
      state = seed % 2147483646 + 1
      for (i = 0; i < 16; i++) random(1)
      print "epoch", "process", "variant", "cc", "dpdk", "layout", "binary", "env_bytes", "args", "speaks", "env"
      for (epoch = 1; epoch <= epochs; epoch++) {
        n = 0
        number = (epoch - 1) * places + place
        turn = layouts > 0 ? (epoch - 1) % layouts + 1 : 0
        for (i = 1; i <= rows; i++) if (layout[i] == 0 || layout[i] == turn) {
          order[++n] = i
          if (layout[i] == 0 && variant[i] == baseline) order[++n] = i
        }
        for (i = n; i > 1; i--) { j = random(i) + 1; t = order[i]; order[i] = order[j]; order[j] = t }
        for (i = 1; i <= n; i++) {
          args = testpmd[order[i]] ? testpmd_arguments : arguments
          gsub(/@PROCESS@/, "e" number "p" i, args)
          # A multiple of 16 moves the stack without changing how it is aligned.
          print number, i, row[order[i]], random(256) * 16, args, testpmd[order[i]] ? "testpmd" : "forwarder", testpmd[order[i]] ? testpmd_env : "-"
        }
      }
    }'
}

# plan_forwarders PLAN: the forwarders in it, kit before testpmd, one a line.
plan_forwarders() {
  awk -F '\t' '
    NR == 1 { for (i = 1; i <= NF; i++) if ($i == "speaks") col = i; next }
    { seen[col && $col == "testpmd" ? "testpmd" : "kit"] = 1 }
    END { if ("kit" in seen) print "kit"; if ("testpmd" in seen) print "testpmd" }' "$1"
}

# plan_only PLAN FORWARDER: reads slices.tsv or perf.tsv on stdin and prints the rows of that forwarder's processes.
plan_only() {
  awk -F '\t' -v want="$2" -v plan="$1" '
    BEGIN {
      while ((getline line < plan) > 0) {
        n = split(line, f, "\t")
        if (!rows++) { for (i = 1; i <= n; i++) col[f[i]] = i; continue }
        forwarder[f[col["epoch"]], f[col["process"]]] = ("speaks" in col) && f[col["speaks"]] == "testpmd" ? "testpmd" : "kit"
      }
      close(plan)
    }
    NR == 1 { for (i = 1; i <= NF; i++) if ($i == "epoch") e = i; else if ($i == "process") p = i; print; next }
    forwarder[$e, $p] == want'
}

# plan_join: reads plans that take turns, one behind the other, on stdin, and prints them as one.
plan_join() {
  local head
  IFS= read -r head
  printf '%s\n' "$head"
  awk -v head="$head" '$0 != head' | sort -s -t $'\t' -k1,1n
}

# plan_turns PLAN: how many releases take turns in it, an epoch each; 1 when an epoch starts all there are.
plan_turns() {
  awk -F '\t' '
    NR == 1 { next }
    !($5 in seen) { seen[$5] = 1; turns++ }
    ($1 in of) && of[$1] != $5 { together = 1 }
    { of[$1] = $5 }
    END { print together || !turns ? 1 : turns }' "$1"
}

# stats knows the levels of so many looks.
readonly PLAN_LOOKS_MOST=20

# plan_looks EPOCHS LOOKS HALF_WIDTH UNTIL_DECIDED: settles in PLAN_LOOKS how often a run is looked at, its
# end included. The levels that account for the looks ask for equal parts, and a part of one epoch could
# not be judged. LOOKS empty: as many as can be up to 4 if a rule (HALF_WIDTH above 0, UNTIL_DECIDED yes)
# may end the run early, else 1. Exit 2 when the epochs cannot be parted so.
plan_looks() {
  local possible=' 1 ' n rule=no
  for ((n = 2; n <= PLAN_LOOKS_MOST && 2 * n <= $1; n++)); do
    if [ $(($1 % n)) -eq 0 ]; then possible+="$n "; fi
  done
  if [ "$3" != 0 ] || [ "$4" = yes ]; then rule=yes; fi
  PLAN_LOOKS=${2:-1}
  if [ -z "$2" ] && [ "$rule" = yes ]; then
    for n in $possible; do if [ "$n" -le 4 ]; then PLAN_LOOKS=$n; fi; done
    [ "$PLAN_LOOKS" -gt 1 ] ||
      die "a run of $1 epochs cannot end early: they are looked at in equal parts of two or more; plan 4, 6 or 8, say"
  fi
  [[ $possible == *" $PLAN_LOOKS "* ]] ||
    die "--looks $PLAN_LOOKS: $1 epochs have no so many equal parts of two or more; possible:${possible% }"
  [ "$PLAN_LOOKS" -eq 1 ] || [ "$rule" = yes ] ||
    die "--looks $PLAN_LOOKS without a rule for when to stop; add --half-width or --until-decided"
}
