# SPDX-License-Identifier: BSD-3-Clause
# build/fwd/tools/slices with testpmd as the forwarder: a fake one, whose statistics are known.
# shellcheck disable=SC2154 # bats sets status, output, lines

setup() {
  load helpers
  cd "$BATS_TEST_TMPDIR" || exit 1
  printf 'epoch\tprocess\tvariant\tcc\tdpdk\tlayout\tbinary\tenv_bytes\targs\tspeaks\tenv\n' >plan.tsv
  FAKE=$BATS_TEST_DIRNAME/fixtures/slices/faketestpmd
}

teardown() {
  local pid
  for pid in $(pids); do kill -KILL "$pid" 2>/dev/null || :; done
}

pids() { # of every fake that started
  sed -n "s/^faketestpmd: pid=\([0-9]*\).*/\1/p" log/*.log 2>/dev/null
}

plan() { # PROCESS ARGS [ENV] [SPEAKS] [BINARY]: one more row
  printf '1\t%d\tmeson-static\tgcc\t22.11\t0\t%s\t32\t%s\t%s\t%s\n' "$1" "${5:-$FAKE}" "$2" "${4:-testpmd}" "${3:--}" >>plan.tsv
}

slices() { # [OPTION...]: one epoch in 3 rounds of short slices
  "$TOOLS/slices" --plan plan.tsv --epoch 1 --rounds 3 --seed 1 --out out.tsv --slice-ms 2 --timeout 20 --perf-events none "$@"
}

values() { # NAME [PROCESS]
  awk -F '\t' -v name="$1" -v process="${2:-}" '
    NR == 1 { for (i = 1; i <= NF; i++) col[$i] = i; next }
    process == "" || $col["process"] == process { print $col[name] }' out.tsv
}

@test "cycles, packets, drops and clock are those of the totals, in the words of every release" {
  local release i=0
  for release in 20.08 22.11 26.07; do plan $((i += 1)) "--base $((100 * i)) --release $release"; done
  slices
  for i in 1 2 3; do
    [ "$(values packets "$i" | paste -sd,)" = 64000,64000,64000 ]
    [ "$(values cycles "$i" | sort -u)" = $((6400000 * i)) ]
    [ "$(values tsc_hz "$i" | sort -u)" = 2000000000 ]
  done
  [ "$(values dropped | sort -u)" = 0 ]
  [ "$(values reason | sort -u)" = - ]
}

@test "a release that does not say its clock: it is measured, and the same for all slices" {
  plan 1 '--release 18.11'
  slices
  [ "$(values cycles | sort -u)" = 6400000 ]
  [ "$(values tsc_hz | sort -u | wc -l)" -eq 1 ]
  [ "$(values tsc_hz 1 | sort -u)" -gt 100000000 ]
}

@test "it has a terminal, the plan's environment, and is asked for its burst functions" {
  plan 1 - 'EXTRA=a=b OTHER=1'
  plan 2 '--release 18.11'
  slices
  grep -q 'terminal=yes extra=a=b pad=32' log/epoch-1-process-1.log
  grep -q 'extra= ' log/epoch-1-process-2.log
  grep -qP '^1\tready forwarder=testpmd rx_burst=Vector_SSE tx_burst=MPW_\+_INLINE\t' out.tsv.ready
  grep -qP '^2\tready forwarder=testpmd rx_burst=- tx_burst=-\t' out.tsv.ready
}

@test "each slice is one start and one stop, after a first that nobody counts; the end is quit" {
  plan 1 -
  slices
  [ "$(grep -c 'faketestpmd: start' log/epoch-1-process-1.log)" -eq 4 ]
  [ "$(grep -c 'faketestpmd: stop' log/epoch-1-process-1.log)" -eq 4 ]
  tail -n 1 log/epoch-1-process-1.log | grep -q end=quit
}

@test "between its slices it is stopped, and while it forwards it is not" {
  local pid i stopped=0
  plan 1 -
  plan 2 -
  { exec "$TOOLS/slices" --plan plan.tsv --epoch 1 --rounds 1000000 --seed 1 --out out.tsv --slice-ms 300 --perf-events none; } 3>&- 2>err &
  pid=$!
  for ((i = 0; i < 200; i++)); do
    [ "$(tail -n +2 out.tsv 2>/dev/null | wc -l)" -lt 2 ] || break
    sleep 0.1
  done
  for ((i = 0; i < 40; i++)); do
    stopped=$(pids | while read -r p; do awk '{ print $3 }' "/proc/$p/stat"; done | grep -c T || true)
    # two at once: between two slices
    [ "$stopped" -ne 1 ] || break
    sleep 0.05
  done
  # a stopped one ends as well
  kill -TERM "$pid"
  wait "$pid" || true
  [ "$stopped" -eq 1 ]
  for i in $(pids); do [ ! -d "/proc/$i" ]; done
}

@test "a testpmd that dies, hangs, never stops talking, or talks nonsense ends alone, with the reason" {
  local fault reason
  while IFS='|' read -r fault reason; do
    rm -rf out.tsv* log
    sed -i 1q plan.tsv
    plan 1 -
    plan 2 "--fault $fault@3"
    run slices --timeout 1
    [ "$status" -eq 0 ] || { echo "$fault: $output"; return 1; }
    [ "$(values reason 1 | sort -u)" = - ]
    [ "$(values reason 2 | head -n 1)" = - ]
    [ "$(values reason 2 | tail -n 1)" = "$reason" ] || { echo "$fault: $(values reason 2)"; return 1; }
    [ "$(values valid 2 | paste -sd,)" = 1,0,0 ]
  done <<'CASES'
dead|died: signal 11
exit|died: exit 3
hang|timeout
chatter|timeout
long|bad answer: too long or binary
silent|bad answer: no forward statistics
nocycles|bad answer: no CPU cycles; --record-core-cycles is not in effect
garbage|bad answer:   RX-packets: -5
contradiction|bad answer: the statistics contradict each other
CASES
}

@test "slices without packets or with drops are invalid, and the next ones count" {
  plan 1 '--fault empty@2'
  plan 2 '--fault drop@3'
  slices
  [ "$(values reason 1 | paste -sd,)" = 'no packets,-,-' ]
  [ "$(values reason 2 | paste -sd,)" = -,dropped,- ]
  [ "$(values dropped 2 | paste -sd,)" = 0,2,0 ]
}

@test "a testpmd that does not start is a reason with its last words; one without a prompt is late" {
  plan 1 -
  plan 2 '--start exit'
  plan 3 '--start never'
  run slices --ready-timeout 2
  [ "$status" -eq 0 ]
  [ "$(values reason 1 | sort -u)" = - ]
  [ "$(values reason 2 | sort -u)" = 'start failed: exit 1:   Cause: Cannot create pool' ]
  [[ "$(values reason 3 | sort -u)" == 'start failed: timeout'* ]]
}

@test "testpmd and the kit's forwarder take turns in one epoch" {
  plan 1 '--base 100'
  plan 2 '--base 300' - forwarder "$TOOLS/fakefwd"
  slices --iterations 10
  [ "$(values cycles 1 | sort -u)" = 6400000 ]
  [ "$(values packets 2 | sort -u)" = 640 ]
  [ "$(values cycles 2 | sort -u)" = 192000 ]
  # a plan of before has the kit's forwarder
  rm out.tsv*
  cut -f1-9 plan.tsv | sed 2d >old.tsv
  "$TOOLS/slices" --plan old.tsv --epoch 1 --rounds 1 --seed 1 --out out.tsv --iterations 10
  [ "$(values packets)" = 640 ]
}

@test "bad columns of a plan are named with file and line" {
  plan 1 - - nobody
  run slices
  [ "$status" -eq 2 ]
  one_line_error "plan.tsv:2: speaks: 'nobody' is neither forwarder nor testpmd"
  sed -i 1q plan.tsv
  plan 1 - 'A=1 B'
  run slices
  [ "$status" -eq 2 ]
  one_line_error "plan.tsv:2: env: 'B' is not NAME=VALUE"
}
