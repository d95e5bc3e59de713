# SPDX-License-Identifier: BSD-3-Clause
# --forwarder testpmd and both: the release's own testpmd, and whether it finds what the kit's forwarder finds.
# shellcheck disable=SC2154 # bats sets status, output, lines

setup() {
  load helpers
  results=$BATS_TEST_TMPDIR/results
  short=(--results "$results" --cc gcc --variants "meson-static,meson-static-nopie" --baseline meson-static-nopie
    --device null --epochs 2 --rounds 4 --slice-ms 2)
}

result_folder() {
  find "$results" -mindepth 1 -maxdepth 1 -name '[!.]*'
}

need_two_cpus() {
  [ "$(nproc)" -gt 1 ] || skip "needs two CPUs: testpmd's prompt and its forwarding take one each"
}

processes_left() {
  pgrep -f "$results" || true
}

# tsv FILE COLUMN...: those columns of every row, tabs as blanks.
tsv() {
  awk -F '\t' -v want="${*:2}" '
    NR == 1 { for (i = 1; i <= NF; i++) col[$i] = i; n = split(want, name, " "); next }
    { for (i = 1; i <= n; i++) printf "%s%s", $col[name[i]], i < n ? " " : "\n" }' "$1"
}

@test "what testpmd cannot do is one line and exit 2, before anything is built" {
  need_two_cpus
  refuses_each <<'CASES'
unknown forwarder 'turbo'; known: kit testpmd both|--forwarder turbo
--device ring with --forwarder testpmd|--forwarder testpmd --device ring
--device ring with --forwarder both|--forwarder both --device ring
meson-shared is shared libraries|--forwarder testpmd --variants meson-shared --baseline meson-shared
make-static is built by make|--forwarder both --variants make-static --baseline make-static
it traces the kit's forwarder|--forwarder testpmd --localise
CASES
}

@test "testpmd alone: its slices, in layouts, with the proof of its binary" {
  local result binary
  need_two_cpus
  run "$KIT/scenarios/software/run" "${short[@]}" --layouts 1 --forwarder testpmd
  [ "$status" -eq 0 ] || { echo "$output"; return 1; }
  result=$(result_folder)
  # 2 epochs, 2 variants, each as built and a layout, the baseline twice as built
  [ "$(tsv "$result/plan.tsv" speaks | sort | uniq -c | awk '{ print $1, $2 }')" = '10 testpmd' ]
  [ "$(tsv "$result/slices.tsv" valid reason | sort | uniq -c | awk '{ print $1, $2, $3 }')" = '40 1 -' ]
  [ ! -e "$result/testpmd" ]
  [ ! -e "$result/forwarders.tsv" ]
  # as built it is the code that meson linked
  binary=$(tsv "$result/builds.tsv" variant binary | sed -n 's/^meson-static //p')
  [[ "$binary" == */testpmd/layout0 ]]
  objcopy -O binary -j .text "$binary" "$BATS_TEST_TMPDIR/ours"
  objcopy -O binary -j .text "${binary%/testpmd/*}/meson/app/dpdk-testpmd" "$BATS_TEST_TMPDIR/theirs"
  cmp "$BATS_TEST_TMPDIR/ours" "$BATS_TEST_TMPDIR/theirs"
  objcopy -O binary -j .text "${binary%0}1-lld" "$BATS_TEST_TMPDIR/shuffled"
  run cmp -s "$BATS_TEST_TMPDIR/shuffled" "$BATS_TEST_TMPDIR/theirs"
  [ "$status" -eq 1 ]
  [ "$(tsv "$result/builds.tsv" variant code_model elf_type status | grep meson-static-nopie)" = 'meson-static-nopie absolute EXEC ok' ]
  jq -e '.measure.forwarder == "testpmd" and (.scenario.used | startswith("testpmd ")) and (.scenario.used | contains("--record-core-cycles"))' "$result/meta.json"
  grep -q "^Forwarder *the release's own testpmd" "$result/report.txt"
  [ -z "$(processes_left)" ]
}

@test "both in one run: rows told apart, two effects, and whether they agree; it resumes" {
  local result pid deadline=$((SECONDS + 240))
  need_two_cpus
  short+=(--epochs 10 --rounds 20 --layouts 0 --forwarder both)
  env --default-signal "$KIT/scenarios/software/run" "${short[@]}" >"$BATS_TEST_TMPDIR/out" 2>&1 3>&- &
  pid=$!
  until compgen -G "$results/.part-*/slices/epoch-001.tsv" >/dev/null; do
    kill -0 "$pid" || { cat "$BATS_TEST_TMPDIR/out"; return 1; }
    [ "$SECONDS" -lt "$deadline" ] || { echo "no epoch in time"; return 1; }
    sleep 0.05
  done
  kill -TERM "$pid"
  wait "$pid" || true
  [ -z "$(processes_left)" ]
  cp "$results"/.part-*/slices/epoch-001.tsv "$BATS_TEST_TMPDIR/"
  run "$KIT/scenarios/software/run" "${short[@]}"
  [ "$status" -eq 0 ] || { echo "$output"; return 1; }
  [[ "$output" == *"resuming: "*" of 10 epochs are done"* ]]
  result=$(result_folder)
  cmp "$result/slices/epoch-001.tsv" "$BATS_TEST_TMPDIR/epoch-001.tsv"
  # each has a third of them as A/A, and the kit's are not testpmd's
  [ "$(tail -n +2 "$result/slices.tsv" | wc -l)" -eq 600 ]
  [ "$(tail -n +2 "$result/testpmd/slices.tsv" | wc -l)" -eq 600 ]
  [ -z "$(cut -f1,2,3 "$result/slices.tsv" "$result/testpmd/slices.tsv" | grep -v epoch | sort | uniq -d)" ]
  [ "$(tsv "$result/forwarders.tsv" variant cc | paste -sd,)" = 'meson-static gcc' ]
  [ "$(tsv "$result/forwarders.tsv" kit_ratio kit_low kit_high)" = "$(tsv "$result/effects.tsv" variant ratio ratio_low ratio_high | sed -n 's/^meson-static //p')" ]
  [ "$(tsv "$result/forwarders.tsv" testpmd_ratio testpmd_low testpmd_high)" = "$(tsv "$result/testpmd/effects.tsv" variant ratio ratio_low ratio_high | sed -n 's/^meson-static //p')" ]
  [[ "$(tsv "$result/forwarders.tsv" agree)" =~ ^(yes|no)$ ]]
  grep -q '^Cross-check with testpmd$' "$result/report.txt"
  grep -q '<h2 id="forwarders">' "$result/report.html"
  # testpmd's binary is proven as well
  grep -qx 'elf_type=EXEC' "$result/proof/meson-static-nopie-gcc/testpmd.txt"
  grep -q 'app/dpdk-testpmd.p/test-pmd_macswap.c.o' "$result/proof/meson-static-gcc/testpmd-link.txt"
  grep -q 'testpmd, linked from meson' "$result/report.txt"
}

# cross ROW...: forwarders.tsv of two effects.tsv; a ROW is "variant kit ratio low high" or "variant testpmd ...".
cross() {
  local row
  local -a line
  local head=$'variant\tcc\tdpdk\tratio\tratio_low\tratio_high\tverdict'
  . "$KIT/reproducers/lib/crosscheck.bash"
  part=$BATS_TEST_TMPDIR/part baseline=base margin=1 seed=1 looks=1 look=1 tools=$BATS_TEST_TMPDIR warnings=()
  mkdir -p "$part/testpmd"
  # what stats would write is given
  printf '#!/bin/sh\n' >"$tools/stats"
  chmod +x "$tools/stats"
  printf 'epoch\tround\torder\tvariant\n1\t1\t1\tbase\n' >"$part/testpmd/slices.tsv"
  printf '%s\nbase\tgcc\t22.11\t1\t1\t1\tbaseline\n' "$head" | tee "$part/effects.tsv" >"$part/testpmd/effects.tsv"
  for row; do
    IFS=" " read -r -a line <<<"$row"
    printf '%s\tgcc\t22.11\t%s\t%s\t%s\tsame\n' "${line[0]}" "${line[2]}" "${line[3]}" "${line[4]}" >>"$part/$([ "${line[1]}" = kit ] || printf 'testpmd/')effects.tsv"
  done
  cross_check
  tsv "$part/forwarders.tsv" variant agree
}

@test "they agree when the intervals have a point in common, and it is not known without two intervals" {
  [ "$(cross 'a kit 1.01 1.00 1.02' 'a testpmd 1.03 1.02 1.04')" = 'a yes' ]
  [ "$(cross 'a kit 1.05 1.04 1.06' 'a testpmd 1.03 1.02 1.04')" = 'a yes' ]
  [ "$(cross 'a kit 1.01 1.00 1.02' 'a testpmd 1.03 1.021 1.04')" = 'a no' ]
  [ "$(cross 'a kit 1.10 1.09 1.11' 'a testpmd 1.03 1.02 1.04')" = 'a no' ]
  [ "$(cross 'a kit 1.10 0.9 1.2' 'a testpmd 1.03 1.02 1.04')" = 'a yes' ]
  [ "$(cross 'a kit 1.01 1.00 1.02' 'a testpmd 1.03 - -')" = 'a -' ]
  [ "$(cross 'a kit 1.01 1.00 1.02' 'b testpmd 1.03 1.02 1.04')" = 'a -' ]
}

@test "testpmd of the baseline was not measured: no table, and a warning says so" {
  cross 'a kit 1.01 1.00 1.02' >/dev/null
  rm "$part/forwarders.tsv"
  sed -i 1q "$part/testpmd/slices.tsv"
  warnings=()
  cross_check
  [ ! -e "$part/forwarders.tsv" ]
  [ "${warnings[0]}" = "no cross-check with testpmd: its base was not measured" ]
}

@test "a disagreement is a warning at the top; a row without testpmd is a row" {
  local report=$BATS_TEST_TMPDIR/report
  cp -r "$BATS_TEST_DIRNAME/fixtures/report" "$report"
  {
    printf 'variant\tcc\tdpdk\tkit_ratio\tkit_low\tkit_high\ttestpmd_ratio\ttestpmd_low\ttestpmd_high\tagree\n'
    printf 'meson-static-nopic\tclang\t22.11.11\t1.011284\t1.003103\t1.019531\t1.00918\t1.001\t1.0172\tyes\n'
    printf 'meson-static-nopic\tgcc\t22.11.11\t1.011284\t1.003103\t1.019531\t1.05\t1.04\t1.07\tno\n'
    printf 'meson-static-align\tgcc\t22.11.11\t1.01\t1.00\t1.02\t-\t-\t-\t-\n'
  } >"$report/forwarders.tsv"
  "$KIT/plots/report" "$report" >/dev/null
  [[ "$(tr -s ' \n' ' ' <"$report/report.txt")" == *"WARNING: the kit's forwarder and testpmd do not agree on meson-static-nopic with gcc: +1.1 % (+0.3 to +2.0 %) and +5.0 % (+4.0 to +7.0 %)"* ]]
  [ "$(grep -c 'do not agree on' "$report/report.txt")" -eq 1 ]
  sed -n '/^Cross-check with testpmd/,/^Each is/p' "$report/report.txt" | grep -qE '\+0\.9 +\+0\.1 to \+1\.7 agree$'
  sed -n '/^Cross-check with testpmd/,/^Each is/p' "$report/report.txt" | grep -qE '\+5\.0 +\+4\.0 to \+7\.0 disagree$'
  # malformed data is refused
  sed -i 's/yes$/perhaps/' "$report/forwarders.tsv"
  run "$KIT/plots/report" "$report"
  [ "$status" -eq 2 ]
  one_line_error "column agree: 'perhaps' is not a agree"
}
