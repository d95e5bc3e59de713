# SPDX-License-Identifier: BSD-3-Clause
# scenarios/run.bash: the main job from end to end, kept as short as it can be; bad input; interruption.

setup() {
  load helpers
  results=$BATS_TEST_TMPDIR/results
  short=(--results "$results" --cc gcc --variants meson-static,meson-static-nopic --epochs 2 --rounds 4 --layouts 0 --slice-ms 2)
  # A copy of the kit, for tests that add a data file; it shares the tools and every cached build.
  copy=$BATS_TEST_TMPDIR/kit
}

results_seen() { # result folders a user sees
  find "$results" -mindepth 1 -maxdepth 1 -name '[!.]*' 2>/dev/null
}

# ended_with_hint: the interrupted run said how to go on.
ended_with_hint() {
  grep -q 'interrupted with [0-9]* of 40 epochs measured; the same command goes on' "$BATS_TEST_TMPDIR/out"
}

processes_left() { # forwarders and runners of this test's results
  pgrep -f "$results" || pgrep -f "$BATS_TEST_TMPDIR" || true
}

@test "--help names every option that the script takes" {
  documents_every_option "$KIT/scenarios/software/run" "$KIT/scenarios/run.bash"
}

@test "bad usage is one line and exit 2, and nothing is left" {
  refuses_each <<'CASES'
unknown argument|--nonsense
needs a value|--cc
--dpdk takes names separated by one comma|--dpdk 22.11,,20.08
no compiler 'gcc-99'|--cc gcc,gcc-99
unknown device|--device hyperloop
unknown linker|--linker turbo
--linker names 'lld' twice|--linker lld,bfd,lld
name one with --linker|--linker bfd,lld --localise
--epochs takes|--epochs 0
--epochs takes|--epochs 1e3
--rounds takes|--rounds 1
--layouts takes|--layouts -1
--slice-ms takes|--slice-ms 1001
--seed takes|--seed 99999999999999999999
--margin takes percent|--margin fast
--gate takes percent|--gate 3percent
is not among the variants|--variants meson-static
nosuch|--variants nosuch
no variant called|--variants ../../etc/passwd
CASES
}

@test "a result is complete: report, plots, data, proof; figures of the text are those of the TSV" {
  run "$KIT/scenarios/software/run" "${short[@]}"
  [ "$status" -eq 0 ] || { echo "$output"; return 1; }
  [ "$(results_seen | wc -l)" -eq 1 ]
  local result file
  result=$(results_seen)
  for file in meta.json plan.tsv slices.tsv builds.tsv effects.tsv units.tsv report.txt report.html forest.png mpps.svg \
    perf.tsv perf-events.tsv proof/constants.tsv proof/inlining.tsv proof/meson-static-gcc/compare.tsv proof/meson-static-gcc/flags.tsv proof/meson-static-gcc/libraries.tsv \
    proof/meson-static-gcc/objects.tsv proof/meson-static-gcc/binary.txt proof/meson-static-gcc/commands.tsv.gz; do
    [ -s "$result/$file" ] || { echo "missing: $file"; return 1; }
  done
  jq -e '.machine.cpu and .dpdk[0].id and .device.rx_burst and .measure.seed == 1' "$result/meta.json"
  [[ "$output" == *"result: $result"* ]]
  # the same DPDK, and gcc inlines less with -fPIC
  [[ "$output" == *"Preprocessor constants: the same in all builds."* ]]
  awk -F '\t' 'NR == 2 && $1 == "meson-static" && $4 > 100 && $5 > $6 { found = 1 } END { exit !found }' "$result/proof/inlining.tsv"
  # counters are in the report, or the reason why there are none
  [ "$(cut -f 3 "$result/perf-events.tsv" | grep -c counted)" -gt 0 ] || [[ "$(tr -s ' \n' ' ' <"$result/report.txt")" == *"misses per packet: "*"perf_event_open: "* ]]
  # 2 epochs, 3 processes (the baseline twice), 4 rounds
  [ "$(tail -n +2 "$result/slices.tsv" | wc -l)" -eq 24 ]
  [ -z "$(find "$results" -name '.part*')" ]
  [ -z "$(processes_left)" ]
}

@test "a counter nobody knows is one line and exit 2, before anything is built or measured" {
  run "$KIT/scenarios/software/run" "${short[@]}" --perf-events cycles,luck
  [ "$status" -eq 2 ]
  one_line_error "--perf-events: unknown event 'luck'"
  [ -z "$(results_seen)" ]
}

@test "the same seed plans the same run" {
  local a b
  "$KIT/scenarios/software/run" "${short[@]}" --epochs 1 --rounds 2 --seed 5
  a=$(results_seen)
  "$KIT/scenarios/software/run" "${short[@]}" --epochs 1 --rounds 2 --seed 5
  b=$(results_seen | grep -vFx "$a")
  cmp "$a/plan.tsv" "$b/plan.tsv"
  cut -f1-8 "$a/slices.tsv" | cmp - <(cut -f1-8 "$b/slices.tsv")
}

# other_release: the default release's tree under another release's name; ccache knows every object of it.
other_release() {
  local tree=$BATS_FILE_TMPDIR/dpdk-22.07
  if [ ! -d "$tree" ]; then
    cp -a "$("$KIT/reproducers/source" --print tree 3>&-)" "$tree"
    echo 22.07.0 >"$tree/VERSION"
  fi
  printf '%s\n' "$tree"
}

# tsv FILE COLUMN...: those columns of every row, tabs as blanks.
tsv() {
  awk -F '\t' -v want="${*:2}" '
    NR == 1 { for (i = 1; i <= NF; i++) col[$i] = i; n = split(want, name, " "); next }
    { for (i = 1; i <= n; i++) printf "%s%s", $col[name[i]], i < n ? " " : "\n" }' "$1"
}

@test "several releases take turns, each against its own baseline; what cannot be had of a release is rows with the reason" {
  local result release file default
  mkdir "$BATS_TEST_TMPDIR/ancient"
  echo 17.11.0 >"$BATS_TEST_TMPDIR/ancient/VERSION"
  run "$KIT/scenarios/software/run" "${short[@]}" --layouts 1 \
    --dpdk "22.11,$(other_release),git:$BATS_TEST_TMPDIR/none@v20.11,$BATS_TEST_TMPDIR/ancient"
  [ "$status" -eq 1 ] || { echo "$output"; return 1; }
  [[ "$output" == *"4 of 8 builds could not be measured"* ]]
  result=$(results_seen)
  default=$("$KIT/reproducers/source" 3>&- | sed -n 's/^release=//p')
  [ "$(tsv "$result/plan.tsv" epoch dpdk | uniq | paste -sd,)" = "1 $default,2 22.07,3 $default,4 22.07" ]
  # each row's binary is of its release, and of none other
  tsv "$result/plan.tsv" dpdk binary | awk '{ if (!index($2, "/" $1 "-meson")) { print; exit 1 } }'
  diff <(tsv "$result/builds.tsv" variant dpdk status) - <<EXPECTED
meson-static v20.11 source failed
meson-static-nopic v20.11 source failed
meson-static 17.11 build failed
meson-static-nopic 17.11 build failed
meson-static $default ok
meson-static-nopic $default ok
meson-static 22.07 ok
meson-static-nopic 22.07 ok
EXPECTED
  tsv "$result/builds.tsv" dpdk reason | grep -q "^v20.11 git cannot read"
  tsv "$result/builds.tsv" dpdk reason | grep -qx "17.11 variant needs meson, and DPDK 17.11 has no meson.build"
  [ "$(tsv "$result/effects.tsv" variant dpdk | sort | paste -sd,)" = \
    "$(printf 'meson-static %s\nmeson-static-nopic %s\n' 22.07 22.07 "$default" "$default" | sort | paste -sd,)" ]
  for release in 22.07 "$default"; do
    [ "$(tsv "$result/effects.tsv" variant dpdk verdict | grep -c "^meson-static-nopic $release baseline$")" -eq 1 ]
    # proof and inlining of each release stand apart
    [ -s "$result/proof/meson-static-gcc-$release/binary.txt" ]
    [ -s "$result/proof/meson-static-gcc-$release/compare.tsv" ]
    tsv "$result/proof/inlining.tsv" variant dpdk | grep -qx "meson-static $release"
    jq -e --arg release "$release" '.dpdk[] | select(.release == $release) | .id and .used and .rx_burst and (.failed | not)' "$result/meta.json"
  done
  [ "$(jq -r '.dpdk[].release' "$result/meta.json" | paste -sd,)" = "$default,22.07,v20.11,17.11" ]
  jq -e '.dpdk[2].failed and (.measure.epochs == 2)' "$result/meta.json"
  # the seed of each release's traffic, order and slices: two epochs, 5 processes (baseline twice, a layout each), 4 rounds
  [ "$(tsv "$result/slices.tsv" dpdk valid | sort | uniq -c | awk '{ print $1, $2, $3 }' | paste -sd,)" = "40 22.07 1,40 $default 1" ]
  for file in report.txt report.html; do grep -q 'source failed' "$result/$file"; done
  # hugepages for the forwarders of one release, not for all of them
  [[ "$output" == *"no hugepages ("* && "$output" != *"a forwarder does not start with them"* ]] ||
    jq -e '.machine.hugepages | test("reserved for 5 forwarders")' "$result/meta.json"
}

@test "an interrupted run of several releases resumes, and has each as often as the others" {
  local result
  short+=(--dpdk "22.11,$(other_release)" --epochs 10 --rounds 40)
  env --default-signal "$KIT/scenarios/software/run" "${short[@]}" >"$BATS_TEST_TMPDIR/out" 2>&1 3>&- &
  local pid=$! deadline=$((SECONDS + 240))
  until compgen -G "$results/.part-*/slices/epoch-002.tsv" >/dev/null; do
    kill -0 "$pid" || { cat "$BATS_TEST_TMPDIR/out"; return 1; }
    [ "$SECONDS" -lt "$deadline" ] || { echo "no epoch in time"; return 1; }
    sleep 0.05
  done
  kill -TERM "$pid"
  wait "$pid" || true
  grep -q 'interrupted with [0-9]* of 20 epochs measured' "$BATS_TEST_TMPDIR/out"
  cp "$results"/.part-*/slices/epoch-00[12].tsv "$BATS_TEST_TMPDIR/"
  run "$KIT/scenarios/software/run" "${short[@]}"
  [ "$status" -eq 0 ] || { echo "$output"; return 1; }
  [[ "$output" == *"resuming: "*" of 20 epochs are done"* ]]
  result=$(results_seen)
  cmp "$result/slices/epoch-001.tsv" "$BATS_TEST_TMPDIR/epoch-001.tsv"
  cmp "$result/slices/epoch-002.tsv" "$BATS_TEST_TMPDIR/epoch-002.tsv"
  [ "$(tsv "$result/slices.tsv" dpdk epoch | sort -u | cut -d' ' -f1 | uniq -c | awk '{ print $1 }' | paste -sd,)" = 10,10 ]
}

@test "localise's tables of several releases become one, each row with its release" {
  local release
  part=$BATS_TEST_TMPDIR/part
  for release in 20.08 26.07; do
    mkdir -p "$part/localise/meson-static-gcc-$release"
    printf '%s\n' meson-static gcc "$release" >"$part/localise/meson-static-gcc-$release/variant"
    printf 'level\tlibrary\nwhole\t%s\n' "$release" >"$part/localise/meson-static-gcc-$release/parts.tsv"
    printf 'variant\tcc\tdpdk\tlayouts\nrte_net_mlx5\tgcc\t%s\t8\n' "$release" >"$part/localise/meson-static-gcc-$release/effects.tsv"
  done
  eval "$(sed -n '/^join_localised() {/,/^}/p' "$KIT/scenarios/run.bash")"
  join_localised
  [ "$(cat "$part/localise/parts.tsv")" = $'variant\tcc\tdpdk\tlevel\tlibrary\nmeson-static\tgcc\t20.08\twhole\t20.08\nmeson-static\tgcc\t26.07\twhole\t26.07' ]
  [ "$(tail -n +2 "$part/localise/effects.tsv")" = $'meson-static\tgcc\t20.08\trte_net_mlx5\t8\nmeson-static\tgcc\t26.07\trte_net_mlx5\t8' ]
  [ ! -e "$part/localise/functions.tsv" ]
}

@test "the same release twice is one line and exit 2, by its name before and by its tree after fetching" {
  run "$KIT/scenarios/software/run" "${short[@]}" --dpdk 22.11,20.08,22.11
  [ "$status" -eq 2 ]
  one_line_error "--dpdk names '22.11' twice"
  mkdir "$BATS_TEST_TMPDIR/one" "$BATS_TEST_TMPDIR/two"
  echo 17.11.0 | tee "$BATS_TEST_TMPDIR/one/VERSION" >"$BATS_TEST_TMPDIR/two/VERSION"
  run "$KIT/scenarios/software/run" "${short[@]}" --dpdk "$BATS_TEST_TMPDIR/one,$BATS_TEST_TMPDIR/two"
  [ "$status" -eq 2 ]
  [[ "${lines[-1]}" == *"/one and "*"/two are both DPDK 17.11, and their rows could not be told apart"* ]]
  [ -z "$(results_seen)" ]
}

@test "looks are fixed beforehand, stand in meta.json, and every interval is of their level" {
  run "$KIT/scenarios/software/run" "${short[@]}" --device null --epochs 4 --half-width 999 --looks 2
  [ "$status" -eq 0 ] || { echo "$output"; return 1; }
  local result look
  result=$(results_seen)
  look=$(jq -r '.measure.look' "$result/meta.json")
  jq -e '.measure.looks == 2 and .measure.epochs_planned == 4 and .measure.half_width_percent == 999 and .measure.function_sections == false' "$result/meta.json"
  [ "$(jq -r '.measure.epochs' "$result/meta.json")" -eq $((look * 2)) ]
  [ "$(awk -F '\t' 'END { print $1 }' "$result/looks.tsv")" = "$look" ]
  grep -q "look $look of 2 at Pocock's level" "$result/effects.tsv"
  [[ "$(tr -s ' \n' ' ' <"$result/report.txt")" == *"ended at look $look of 2"* ]]
  # parts of one epoch could not be judged
  run "$KIT/scenarios/software/run" "${short[@]}" --epochs 6 --half-width 1 --looks 4
  [ "$status" -eq 2 ]
  one_line_error 'possible: 1 2 3'
}

@test "a new variant is one file, and it runs" {
  kit_copy
  # An option that changes no object, so that ccache has them all.
  sed 's/^title = .*/title = mine/; s/^meson_options.*/& -Dwerror=false/' "$KIT/reproducers/variants/meson-static-nopic.conf" \
    >"$copy/reproducers/variants/mine.conf"
  run "$copy/scenarios/software/run" "${short[@]}" --variants mine,meson-static-nopic
  [ "$status" -eq 0 ] || { echo "$output"; return 1; }
  grep -q '^mine	gcc' "$(results_seen)/effects.tsv"
}

@test "a bad data file is one line with file and line, exit 2, nothing run" {
  kit_copy
  printf 'title = x\nbuild = cmake\n' >"$copy/reproducers/variants/mine.conf"
  run "$copy/scenarios/software/run" "${short[@]}" --variants mine,meson-static-nopic
  [ "$status" -eq 2 ]
  one_line_error "mine.conf:2: "
  sed -i 's/^command = .*/command = rm -rf --no-preserve-root/' "$copy/scenarios/software/scenario.conf"
  run "$copy/scenarios/software/run" "${short[@]}"
  [ "$status" -eq 2 ]
  one_line_error "scenario.conf:"
  [ ! -e "$results" ]
}

@test "a variant that does not build is a row of the report, the rest goes on, exit 1" {
  kit_copy
  sed 's/^meson_options.*/&\nc_args = -Drte_kvargs_free=1/' "$KIT/reproducers/variants/meson-static-nopic.conf" \
    >"$copy/reproducers/variants/broken.conf"
  run "$copy/scenarios/software/run" "${short[@]}" --variants broken,meson-static,meson-static-nopic
  [ "$status" -eq 1 ] || { echo "$output"; return 1; }
  local result
  result=$(results_seen)
  grep -q '^broken	gcc	.*	build failed	.*error: .*	logs/broken-gcc.log	' "$result/builds.tsv"
  [ -s "$result/logs/broken-gcc.log" ]
  grep -q 'broken' "$result/report.txt"
  grep -q 'build failed' "$result/report.txt"
  grep -q '^meson-static	gcc' "$result/effects.tsv"
}

@test "asked for absolute code, got PIE: an error, shown and never measured" {
  kit_copy
  sed 's/^code_model.*/code_model = absolute/' "$KIT/reproducers/variants/meson-static-nopic.conf" \
    >"$copy/reproducers/variants/liar.conf"
  run "$copy/scenarios/software/run" "${short[@]}" --variants liar,meson-static-nopic
  [ "$status" -eq 1 ] || { echo "$output"; return 1; }
  grep -q '^liar	gcc	.*	proof failed	asked for absolute code, got pie' "$(results_seen)/builds.tsv"
  if grep -q '^liar' "$(results_seen)/effects.tsv"; then return 1; fi
  grep -q 'asked for absolute code' "$(results_seen)/report.txt"
}

@test "a flag that not every object got is an error as well" {
  kit_copy
  sed 's/^pic_flag.*/pic_flag = -fPIE/' "$KIT/reproducers/variants/meson-static-nopic.conf" \
    >"$copy/reproducers/variants/liar.conf"
  run "$copy/scenarios/software/run" "${short[@]}" --variants liar,meson-static-nopic
  [ "$status" -eq 1 ] || { echo "$output"; return 1; }
  grep -q 'objects were not compiled with -fPIE' "$(results_seen)/builds.tsv"
}

@test "a gate that fails is exit 1, one that passes exit 0" {
  "$KIT/scenarios/software/run" "${short[@]}" --gate 900
  # A result with a known slowdown is judged by the same lines.
  local judge
  judge=$(sed -n '/^judge() {/,/^}/p' "$KIT/scenarios/run.bash")
  part=$BATS_TEST_TMPDIR gate=3
  printf 'variant\tcc\tverdict\tratio_low\tratio_high\nx\tgcc\tslower\t1.04\t1.06\n' >"$part/effects.tsv"
  eval "$judge"
  run judge
  [ "$status" -eq 1 ]
  one_line_error "x with gcc is slower than the baseline by more than 3 %"
  # Of several releases the line says which.
  releases=(20.08 26.07)
  printf 'variant\tcc\tdpdk\tverdict\tratio_low\tratio_high\nx\tgcc\t20.08\tslower\t1.04\t1.06\n' >"$part/effects.tsv"
  run judge
  one_line_error "x with gcc and DPDK 20.08 is slower"
  releases=(20.08)
  # The interval does not tell: 3, which only --strict passes on.
  printf 'variant\tcc\tverdict\tratio_low\tratio_high\nx\tgcc\tslower\t1.02\t1.06\ny\tgcc\tundecided\t0.99\t1.02\n' >"$part/effects.tsv"
  run judge
  [ "$status" -eq 3 ]
  one_line_error "whether x with gcc is slower by more than 3 % is not clear"
  printf 'variant\tcc\tverdict\tratio_low\tratio_high\nx\tgcc\tundecided\t0.97\t1.02\n' >"$part/effects.tsv"
  run judge
  [ "$status" -eq 0 ]
  [ -z "$output" ]
}

# interrupt SIGNAL: starts a run, waits for its first complete epoch, sends the signal to the run alone.
interrupt() {
  # Bash starts background jobs with SIGINT ignored, which a script cannot undo.
  env --default-signal "$KIT/scenarios/software/run" "${short[@]}" --epochs 40 --rounds 40 >"$BATS_TEST_TMPDIR/out" 2>&1 3>&- &
  local pid=$! deadline=$((SECONDS + 240))
  until compgen -G "$results/.part-*/slices/epoch-001.tsv" >/dev/null; do
    kill -0 "$pid" || { cat "$BATS_TEST_TMPDIR/out"; return 1; }
    [ "$SECONDS" -lt "$deadline" ] || { echo "no epoch in time"; return 1; }
    sleep 0.05
  done
  kill "-$1" "$pid"
  killed_status=0
  wait "$pid" || killed_status=$?
}

all_gone() { # waits for every process of the test to end
  local deadline=$((SECONDS + 20))
  while [ -n "$(processes_left)" ]; do
    [ "$SECONDS" -lt "$deadline" ] || { pgrep -af "$results"; return 1; }
    sleep 0.1
  done
}

pages() {
  cat /proc/sys/vm/nr_hugepages
}

@test "SIGTERM ends the run at once: no process, no result, hugepages as before; the next run resumes" {
  local before
  before=$(pages)
  interrupt TERM
  [ "$killed_status" -eq 143 ]
  ended_with_hint
  all_gone
  [ -z "$(results_seen)" ]
  [ "$(pages)" -eq "$before" ]
  # The epochs done are not measured again.
  local first
  first=$(sha256sum "$results"/.part-*/slices/epoch-001.tsv | cut -d' ' -f1)
  timeout -s TERM 20 "$KIT/scenarios/software/run" "${short[@]}" --epochs 40 --rounds 40 >"$BATS_TEST_TMPDIR/out" 2>&1 3>&- || true
  grep -q 'resuming: [1-9][0-9]* of 40 epochs are done' "$BATS_TEST_TMPDIR/out"
  [ "$(cat "$results"/.part-*/slices/epoch-001.tsv "$results"/2*/slices/epoch-001.tsv 2>/dev/null | sha256sum | cut -d' ' -f1)" = "$first" ]
  all_gone
}

@test "SIGINT does the same" {
  local before
  before=$(pages)
  interrupt INT
  [ "$killed_status" -eq 130 ]
  ended_with_hint
  all_gone
  [ -z "$(results_seen)" ]
  [ "$(pages)" -eq "$before" ]
}

@test "SIGKILL: no forwarder survives, nothing half-written is visible, the next run repairs the hugepages" {
  require_root
  local before
  before=$(pages)
  interrupt KILL
  all_gone
  [ -z "$(results_seen)" ]
  "$KIT/scenarios/software/run" "${short[@]}" --epochs 1 --rounds 2
  [ "$(results_seen | wc -l)" -eq 1 ]
  [ "$(pages)" -eq "$before" ]
}

@test "the same run twice at once: the second says so" {
  "$KIT/scenarios/software/run" "${short[@]}" --epochs 40 --rounds 40 >"$BATS_TEST_TMPDIR/out" 2>&1 3>&- &
  local pid=$! deadline=$((SECONDS + 240))
  until compgen -G "$results/.part-*/slices/log" >/dev/null; do
    [ "$SECONDS" -lt "$deadline" ]
    sleep 0.05
  done
  run "$KIT/scenarios/software/run" "${short[@]}" --epochs 40 --rounds 40
  kill -TERM "$pid"
  wait "$pid" || true
  [ "$status" -eq 2 ]
  [[ "$output" == *"the same run is going on"* ]]
  all_gone
}

@test "no hugepages: it forwards without them and the report says so" {
  run "$KIT/scenarios/software/run" "${short[@]}" --epochs 1 --no-huge
  [ "$status" -eq 0 ] || { echo "$output"; return 1; }
  [[ "$output" == *"--no-huge"* ]]
}

@test "folders with spaces work" {
  results="$BATS_TEST_TMPDIR/my results"
  run "$KIT/scenarios/software/run" "${short[@]}" --epochs 1 --results "$results"
  [ "$status" -eq 0 ] || { echo "$output"; return 1; }
  [ -s "$(results_seen)/report.txt" ]
}

@test "a kit in a folder with a space forwards on the software NIC all the same" {
  copy="$BATS_TEST_TMPDIR/my kit"
  kit_copy
  rm "$copy/build"
  cp -a "$KIT/build" "$copy/build"
  "$KIT/reproducers/softnic" --check || skip_or_fail "the software NIC cannot run here; see the line above"
  run env MPPSDIFF_TOOLS="$copy/build/fwd/tools" "$copy/scenarios/software/run" "${short[@]}" --epochs 1 --rounds 2
  [ "$status" -eq 0 ] || { echo "$output"; return 1; }
  [ "$(jq -r .device.kind "$(results_seen)/meta.json")" = software ]
}

@test "a command that the forwarder refuses is one line with file and line, exit 2, nothing measured" {
  local word
  kit_copy
  for word in --hairpinq=1 --burst=9999; do
    sed -i "s/^command = \\(.*\\) -- .*/command = \\1 -- $word/" "$copy/scenarios/software/scenario.conf"
    run "$copy/scenarios/software/run" "${short[@]}"
    [ "$status" -eq 2 ] || { echo "$word: status $status: $output"; return 1; }
    [[ "$output" == *"scenarios/software/scenario.conf:$(grep -n '^command' "$copy/scenarios/software/scenario.conf" | cut -d: -f1): bad command: "*"${word%%=*}"* ]] ||
      { echo "$output"; return 1; }
    [ -z "$(results_seen)" ]
  done
}

@test "make run with an unknown scenario names the known ones before anything is installed or built" {
  run make --no-print-directory -C "$KIT" run SCENARIO=nope
  [ "$status" -eq 2 ]
  [[ "${lines[0]}" == "mppsdiff: unknown scenario 'nope'; known: connectx4lx-baremetal connectx5-e5-2697a connectx5-vm software" ]]
  [[ "$output" != *setup* ]]
}

@test "no space for the results is one line that says so, exit 2" {
  require_root
  mkdir "$results"
  unshare --mount --propagation private true || skip_or_fail "mount namespaces are refused here; run in a machine or container that allows them"
  run unshare --mount --propagation private -- bash -c 'mount -t tmpfs -o size=200k none "$1" && shift && "$@"' _ "$results" \
    "$KIT/scenarios/software/run" "${short[@]}" 3>&-
  [ "$status" -eq 2 ]
  one_line_error "no space left in"
}

@test "an unwritable results folder is one line and exit 2" {
  run "$KIT/scenarios/software/run" "${short[@]}" --results /proc/nonexistent
  [ "$status" -eq 2 ]
  one_line_error "--results"
}

@test "every device forwards, and the report says which it was" {
  local device
  for device in ring null software; do
    [ "$device" != software ] || "$KIT/reproducers/softnic" --check || skip_or_fail "the software NIC cannot run here; see the line above"
    run "$KIT/scenarios/software/run" "${short[@]}" --epochs 1 --rounds 2 --device "$device" --results "$results/$device"
    [ "$status" -eq 0 ] || { echo "$device: $output"; return 1; }
    [ "$(jq -r .device.kind "$results/$device"/2*/meta.json)" = "$device" ]
    awk -F '\t' 'NR > 1 && ($13 != 1 || $9 == 0 || $12 != 0) { print; bad = 1 } END { exit bad }' "$results/$device"/2*/slices.tsv
  done
  [[ "$output" == *"software ConnectX-5 (no NIC)"* ]]
}

@test "a driver that falls back to other burst functions fails the run" {
  "$KIT/reproducers/softnic" --check || skip_or_fail "the software NIC cannot run here; see the line above"
  kit_copy
  sed -i 's/^rx_burst.*/rx_burst = Vector_of_nobody/' "$copy/scenarios/software/scenario.conf"
  run "$copy/scenarios/software/run" "${short[@]}" --epochs 1 --rounds 2 --device software
  [ "$status" -eq 1 ]
  [[ "$output" == *"the driver chose the rx burst function "*"Vector_of_nobody"* ]]
  [ -z "$(results_seen)" ]
}

@test "where namespaces are refused, ring ports take the software NIC's place, and the report says so" {
  local fake=$BATS_TEST_TMPDIR/fake
  require_root
  mkdir "$fake"
  printf '#!/bin/sh\necho "unshare: Operation not permitted" >&2\nexit 1\n' >"$fake/unshare"
  chmod +x "$fake/unshare"
  run env PATH="$fake:$PATH" "$KIT/scenarios/software/run" "${short[@]}" --epochs 1 --rounds 2
  [ "$status" -eq 0 ] || { echo "$output"; return 1; }
  [ "$(jq -r .device.kind "$(results_seen)/meta.json")" = ring ]
  grep -q 'software ConnectX cannot run here' "$(results_seen)/report.txt"
  # Asked for by name it is an error.
  run env PATH="$fake:$PATH" "$KIT/scenarios/software/run" "${short[@]}" --device software
  [ "$status" -eq 2 ]
  one_line_error "needs namespaces, tmpfs and veth"
}
