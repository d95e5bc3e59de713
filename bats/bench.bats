# SPDX-License-Identifier: BSD-3-Clause
# reproducers/bench: that its parts run and count right. Figures are printed by it and asserted nowhere.
# shellcheck disable=SC2034,SC2154 # variables shared with what is sourced; bats sets status, output, lines

setup_file() {
  load helpers
  hugepages_lend 512
}

teardown_file() {
  load helpers
  hugepages_return
}

setup() {
  load helpers
  keep=$BATS_TEST_TMPDIR/keep
}

# library: what bench is made of, with the variables that main would set.
library() {
  here=$KIT/reproducers kit=$KIT tools=$TOOLS work=$BATS_TEST_TMPDIR seed=1
  . "$here/lib/common.bash"
  . "$here/lib/known.bash"
  . "$here/lib/peers.bash"
}

@test "--help names every option that the script takes" {
  documents_every_option "$KIT/reproducers/bench"
}

@test "bad usage is one line and exit 2" {
  local -a bad
  while IFS='|' read -r text arguments; do
    IFS=' ' read -r -a bad <<<"$arguments"
    run "$KIT/reproducers/bench" "${bad[@]}"
    [ "$status" -eq 2 ] || { echo "$arguments: status $status: $output"; return 1; }
    one_line_error "$text"
  done <<'CASES'
unknown argument|everything
needs a value|known --trials
--trials takes|--trials many
--epochs takes|--epochs 1
--aa takes|--aa -1
leave nothing to do|--aa 0 --trials 0
--sizes takes|--sizes 1,two
--slice-ms takes|--slice-ms 0
--layouts takes|--layouts 1e3
--margin takes|--margin 1,5
unknown device|--device hyperloop
CASES
}

@test "known: groups hold every trial and every A/A pair once, and sides draw layouts of their own" {
  library
  mkdir "$keep"
  sizes=(1 3) works=(10 30) trials=3 aa=8 epochs=4 layouts=5 reference_work=99
  known_groups >"$keep/groups"
  [ "$(wc -l <"$keep/groups")" -eq 8 ]
  [ "$(awk '$2 != "-" { print $2, $3 }' "$keep/groups" | sort -u | wc -l)" -eq 6 ]
  [ "$(awk '$4 == "yes"' "$keep/groups" | wc -l)" -eq 8 ]
  local -A binary_of=()
  local work_now layout
  for work_now in 0 10 30 99; do for layout in 1 2 3 4 5; do binary_of[$work_now/$layout]=/w$work_now/l$layout; done; done
  known_rows 1 8 >"$keep/rows"
  # six groups of three processes, two of two and one pair for the truth, in four epochs; each epoch is a layout of its own
  [ "$(wc -l <"$keep/rows")" -eq $(((6 * 3 + 2 * 2 + 2) * 4)) ]
  [ "$(awk -F '\t' '$1 != $3' "$keep/rows" | wc -l)" -eq 0 ]
  [ "$(awk -F '\t' '$2 ~ /slow/ && $4 !~ /^\/w[13]0\// || $2 ~ /much/ && $4 !~ /^\/w99\// || $2 !~ /slow|much/ && $4 !~ /^\/w0\//' "$keep/rows" | wc -l)" -eq 0 ]
  [ "$(cut -f4 "$keep/rows" | sed 's#.*/##' | sort -u | wc -l)" -eq 5 ]
  # base and aa of a group agree by chance only: one time in five
  awk -F '\t' '{ split($2, g, "-"); at[$1, g[1], g[2]] = $4 } END { for (k in at) { split(k, p, SUBSEP); if (p[3] == "aa") { n++; same += at[k] == at[p[1], p[2], "base"] } } exit !(n == 32 && same < 20) }' "$keep/rows"
  # the two sides of the pair for the truth have one layout, which changes from epoch to epoch
  awk -F '\t' '$2 ~ /^r001/ { sub(/.*\//, "", $4); if ($2 ~ /base/) base[$1] = $4; else much[$1] = $4; seen[$4] = 1 } END { for (e in base) if (base[e] != much[e]) exit 1; n = 0; for (l in seen) n++; exit n != 4 }' "$keep/rows"
  [ "$(known_rows 3 4 | cut -f2 | sort -u | cut -d- -f1 | sort -u | paste -sd,)" = g003,g004,r003 ]
}

@test "known: the table counts verdicts, holds and false alarms" {
  library
  mkdir -p "$keep/groups-001"
  epochs=4
  echo 2000 >"$keep/groups-001/wall_ms"
  printf 'epoch\n1\n1\n1\n1\n' >"$keep/groups-001/plan.tsv"
  {
    # size work group ratio low high verdict seconds truth low high; the second trial's instructions cost more
    printf '0\t0\t1\t1.001\t0.999\t1.003\tundecided\t1\t1\t1\t1\n0\t0\t2\t1.004\t1.002\t1.006\tslower\t1\t1\t1\t1\n'
    printf '1\t10\t1\t1.011\t1.006\t1.016\tslower\t2\t1.008\t1.007\t1.009\n1\t10\t2\t1.005\t1.001\t1.009\tundecided\t2\t1.012\t1.011\t1.013\n'
  } >"$keep/groups-001/known.tsv"
  run known_table
  [ "$status" -eq 0 ]
  [[ "${lines[1]}" =~ ^\ +0\ +0,\ A/A\ +2\ +1\ +0\ +1\ =\ +50\ % ]]
  [[ "${lines[2]}" =~ ^\ +1\ +1\.00\ \(0\.90\ to\ 1\.10\),\ 10\ +2\ +1\ +0\ +1\ =\ +50\ %\ +\+0\.80 ]]
  [[ "$output" == *"false alarms: 1 of 2"* ]]
  [[ "$output" == *"95 % intervals: 2 of 4 (50.0 %"* ]]
  [[ "$output" == *"+1 % found in 1 of 2 trials"* ]]
}

@test "known: the real forwarder from end to end, and what was measured is not measured again" {
  local -a small=(known --quick --device null --dpdk 22.11 --aa 2 --trials 1 --sizes 50 --epochs 2 --rounds 4 --keep "$keep")
  run --separate-stderr "$KIT/reproducers/bench" "${small[@]}"
  [ "$status" -eq 0 ] || { echo "$output$stderr"; return 1; }
  [[ "$output" == *"known: null device, as built, 2 starts of 4 slices"* ]]
  [[ "$output" == *"false alarms: "*" of 2 A/A comparisons"* ]]
  [[ "$output" == *"coverage of the 95 % intervals: "*" of 3 "* ]]
  # the calibration found the work to cost something, and the size was made of it
  awk -F '\t' '$1 == 50 && $2 > 1 { n++ } END { exit n != 1 }' "$keep"/groups-*/known.tsv
  cp "$keep"/groups-001/slices.tsv "$BATS_TEST_TMPDIR/before"
  run --separate-stderr "$KIT/reproducers/bench" "${small[@]}"
  [ "$status" -eq 0 ]
  cmp "$keep"/groups-001/slices.tsv "$BATS_TEST_TMPDIR/before"
  [ "$(wc -l <"$keep/groups-001/wall_ms")" -eq 1 ]
}

@test "peers: estimates and intervals of the two orders, worked by hand" {
  library
  peer_testpmd=none peer_seconds=0
  now_ms() { echo 0; }
  # rates of A and B in each order; the machine slows down by a tenth after the fifth start
  testpmd_rate() {
    echo x >>"$BATS_TEST_TMPDIR/starts"
    awk -v n="$(wc -l <"$BATS_TEST_TMPDIR/starts")" 'BEGIN { print (n <= 5 ? 100 : 90) * (1 + n % 2 / 1000) }'
  }
  run peers_testpmd 'A A A A A B B B B B'
  # A is taken for 11 percent faster, with a narrow interval: the error that the kit is about
  awk -v line="$output" 'BEGIN { split(line, x, " "); exit !(x[1] > 1.105 && x[1] < 1.117 && x[2] < 0.1) }'
  rm "$BATS_TEST_TMPDIR/starts"
  run peers_testpmd 'A B A B A B A B A B'
  awk -v line="$output" 'BEGIN { split(line, x, " "); exit !(x[1] > 0.99 && x[1] < 1.03 && x[2] > 1) }'
}
