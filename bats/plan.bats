# SPDX-License-Identifier: BSD-3-Clause
# reproducers/lib/plan.bash: which process starts in which epoch.

setup() {
  load helpers
  . "$KIT/reproducers/lib/plan.bash"
  binaries=$BATS_TEST_TMPDIR/binaries
  local variant layout
  for variant in base other; do
    for layout in 0 1 2; do
      printf '%s\tgcc\t22.11\t%d\t/b in/%s-%d\n' "$variant" "$layout" "$variant" "$layout"
    done
  done >"$binaries"
}

plan() { # SEED EPOCHS LAYOUTS
  plan_write "$1" "$2" "$3" base '--file-prefix=@PROCESS@ -- --slices' <"$binaries"
}

@test "the same seed gives the same plan, another seed another" {
  [ "$(plan 7 4 2)" = "$(plan 7 4 2)" ]
  [ "$(plan 7 4 2)" != "$(plan 8 4 2)" ]
}

@test "an epoch starts each as-built binary, the baseline's twice, and one layout of each" {
  plan 1 4 2 | awk -F '\t' 'NR > 1 { n[$1 " " $3 " " $6]++; seen[$1] = 1 }
    END { for (e in seen) { turn = (e - 1) % 2 + 1
      if (n[e " base 0"] != 2 || n[e " other 0"] != 1 || n[e " base " turn] != 1 || n[e " other " turn] != 1 || n[e " base " 3 - turn] != 0) { print "epoch " e; exit 1 } k++ }
      exit k != 4 }'
}

@test "without layouts only the binaries as built start" {
  [ "$(plan 1 3 0 | awk -F '\t' 'NR > 1 && $6 != 0' | wc -l)" -eq 0 ]
  [ "$(plan 1 3 0 | tail -n +2 | wc -l)" -eq 9 ]
}

@test "starts are shuffled, numbered from 1 in each epoch, and named apart" {
  local orders
  orders=$(plan 3 6 2 | awk -F '\t' 'NR > 1 { o[$1] = o[$1] $3 $6 } END { for (e in o) print o[e] }' | sort -u | wc -l)
  [ "$orders" -ge 3 ]
  plan 3 6 2 | awk -F '\t' 'NR > 1 { if ($1 != last) { last = $1; n = 0 } if ($2 != ++n) exit 1; if ($9 != "--file-prefix=e" $1 "p" $2 " -- --slices") exit 1 }'
  [ "$(plan 3 6 2 | awk -F '\t' 'NR > 1 { print $9 }' | sort | uniq -d | wc -l)" -eq 0 ]
}

@test "the environment's size varies and keeps the stack's alignment" {
  [ "$(plan 3 6 2 | awk -F '\t' 'NR > 1 { print $8 }' | sort -u | wc -l)" -ge 10 ]
  [ "$(plan 3 6 2 | awk -F '\t' 'NR > 1 && $8 % 16' | wc -l)" -eq 0 ]
}

# turns RELEASE TURN TURNS: one release's plan of three epochs.
turns() {
  sed "s/22.11/$1/" "$binaries" | plan_write 1 3 2 base '--file-prefix=@PROCESS@' "$2" "$3"
}

@test "releases take turns: an epoch holds one of them, and each plan is what it would be alone" {
  { turns 20.08 1 2; turns 26.07 2 2; } | plan_join >"$BATS_TEST_TMPDIR/plan.tsv"
  [ "$(grep -c '^epoch' "$BATS_TEST_TMPDIR/plan.tsv")" -eq 1 ]
  [ "$(awk -F '\t' 'NR > 1 && !seen[$1 " " $5]++ { print $1, $5 }' "$BATS_TEST_TMPDIR/plan.tsv" | paste -sd,)" = \
    '1 20.08,2 26.07,3 20.08,4 26.07,5 20.08,6 26.07' ]
  [ "$(plan_turns "$BATS_TEST_TMPDIR/plan.tsv")" -eq 2 ]
  # order, layouts and environments of the second release as in a plan of its own
  diff <(awk -F '\t' '$5 == "26.07" { print $2, $3, $6, $8 }' "$BATS_TEST_TMPDIR/plan.tsv") \
    <(turns 26.07 1 1 | awk -F '\t' 'NR > 1 { print $2, $3, $6, $8 }')
  # the name of a start carries the epoch's number, as its log does
  awk -F '\t' 'NR > 1 && $9 != "--file-prefix=e" $1 "p" $2 { exit 1 }' "$BATS_TEST_TMPDIR/plan.tsv"
}

@test "a plan of one release has no turns, nor has one that starts several in an epoch" {
  plan 1 4 2 >"$BATS_TEST_TMPDIR/plan.tsv"
  [ "$(plan_turns "$BATS_TEST_TMPDIR/plan.tsv")" -eq 1 ]
  { plan 1 4 2; plan 1 4 2 | tail -n +2 | sed 's/22.11/20.08/'; } >"$BATS_TEST_TMPDIR/plan.tsv"
  [ "$(plan_turns "$BATS_TEST_TMPDIR/plan.tsv")" -eq 1 ]
}

@test "testpmd's processes are planned beside the kit's, with an A/A pair, arguments and environment of their own" {
  { awk -F '\t' -v OFS='\t' '{ print $0, "kit" }' "$binaries"; awk -F '\t' -v OFS='\t' '{ $5 = "/testpmd"; print $0, "testpmd" }' "$binaries"; } |
    plan_write 1 2 2 base '--file-prefix=@PROCESS@ -- --slices' 1 1 '--file-prefix=@PROCESS@ -- -i' 'A=1 B=2' >"$BATS_TEST_TMPDIR/plan.tsv"
  [ "$(awk -F '\t' 'NR > 1 && $1 == 1 { print $10, $3, $6 }' "$BATS_TEST_TMPDIR/plan.tsv" | sort | uniq -c | awk '{ print $1, $2, $3, $4 }' | paste -sd,)" = \
    '2 forwarder base 0,1 forwarder base 1,1 forwarder other 0,1 forwarder other 1,2 testpmd base 0,1 testpmd base 1,1 testpmd other 0,1 testpmd other 1' ]
  awk -F '\t' 'NR > 1 && ($10 == "testpmd") != ($7 == "/testpmd" && $9 == "--file-prefix=e" $1 "p" $2 " -- -i" && $11 == "A=1 B=2") { exit 1 }' "$BATS_TEST_TMPDIR/plan.tsv"
  awk -F '\t' 'NR > 1 && $10 == "forwarder" && ($9 !~ /--slices$/ || $11 != "-") { exit 1 }' "$BATS_TEST_TMPDIR/plan.tsv"
  [ "$(plan_forwarders "$BATS_TEST_TMPDIR/plan.tsv" | paste -sd,)" = kit,testpmd ]
  [ "$(plan 1 1 1 | plan_forwarders /dev/stdin)" = kit ]
}

@test "slices are told apart by the plan, also of a plan that knows one forwarder only" {
  printf 'epoch\tprocess\tspeaks\n1\t1\tforwarder\n1\t2\ttestpmd\n2\t1\ttestpmd\n2\t2\tforwarder\n' >"$BATS_TEST_TMPDIR/plan.tsv"
  printf 'epoch\tround\tprocess\n1\t1\t1\n1\t1\t2\n2\t1\t1\n2\t1\t2\n' >"$BATS_TEST_TMPDIR/slices.tsv"
  [ "$(plan_only "$BATS_TEST_TMPDIR/plan.tsv" testpmd <"$BATS_TEST_TMPDIR/slices.tsv" | tr '\t' ' ' | paste -sd,)" = 'epoch round process,1 1 2,2 1 1' ]
  [ "$(plan_only "$BATS_TEST_TMPDIR/plan.tsv" kit <"$BATS_TEST_TMPDIR/slices.tsv" | tr '\t' ' ' | paste -sd,)" = 'epoch round process,1 1 1,2 1 2' ]
  cut -f1,2 "$BATS_TEST_TMPDIR/plan.tsv" >"$BATS_TEST_TMPDIR/old.tsv"
  [ "$(plan_only "$BATS_TEST_TMPDIR/old.tsv" kit <"$BATS_TEST_TMPDIR/slices.tsv")" = "$(cat "$BATS_TEST_TMPDIR/slices.tsv")" ]
}
