# SPDX-License-Identifier: BSD-3-Clause
# build/fwd/tools/slices: runs one epoch of a plan, here with forwarders whose cycles are known.

setup() {
  load helpers
  cd "$BATS_TEST_TMPDIR" || exit 1
  printf 'epoch\tprocess\tvariant\tcc\tdpdk\tlayout\tbinary\tenv_bytes\targs\n' >plan.tsv
  FAKE=$TOOLS/fakefwd
}

# What a failed test may have left behind.
teardown() {
  local pid
  for pid in $(pids 2>/dev/null); do kill -KILL "$pid" 2>/dev/null || :; done
}

plan() { # EPOCH PROCESS ARGS [ENV_BYTES] [BINARY]: one more row
  printf '%d\t%d\tmeson-static\tgcc\t22.11\t%d\t%s\t%d\t%s\n' \
    "$1" "$2" "$(($2 - 1))" "${5:-$FAKE}" "${4:-0}" "$3" >>plan.tsv
}

slices() { # [OPTION...]: one epoch of plan.tsv in 3 rounds of 10 iterations, unless told otherwise
  "$TOOLS/slices" --plan plan.tsv --epoch 1 --rounds 3 --seed 1 --out out.tsv --iterations 10 \
    --timeout 20 "$@"
}

background() { # slices without end in the background; $! is slices itself, not a shell around it
  # as a shell without job control does to background jobs
  { trap '' INT; exec "$TOOLS/slices" --plan plan.tsv --epoch 1 --rounds 1000000 --seed 1 --out out.tsv \
      --iterations 10 --timeout 600; } 2>err 3>&- &
}

values() { # NAME [PROCESS] [FILE]: the column, of one process only if told so
  awk -F '\t' -v name="$1" -v process="${2:-}" '
    NR == 1 { for (i = 1; i <= NF; i++) col[$i] = i; next }
    process == "" || $col["process"] == process { print $col[name] }' "${3:-out.tsv}"
}

orders() { # [FILE]: the processes in the order they ran, a line a round
  awk -F '\t' 'NR > 1 { s[$2] = s[$2] " " $8; if ($2 > n) n = $2 }
    END { for (i = 1; i <= n; i++) print s[i] }' "${1:-out.tsv}"
}

pids() { # every process the forwarders said they are or have started
  cat log/*.log | grep -o '\(pid\|child\)=[1-9][0-9]*' | cut -d = -f 2
}

running() { # PID: whether it runs; a zombie nobody reaps does not
  [ -r "/proc/$1/stat" ] && [ "$(awk '{ print $3 }' "/proc/$1/stat" 2>/dev/null || echo Z)" != Z ]
}

none_running() { # no recorded process is left, nor within a few seconds will be
  local pid try
  for pid in $(pids); do
    for try in $(seq 100); do
      running "$pid" || continue 2
      sleep 0.1
    done
    echo "process $pid is still there after $try tries"
    return 1
  done
}

wait_for() { # COMMAND...: until it succeeds
  local try
  for try in $(seq 300); do
    if "$@"; then return 0; fi
    sleep 0.1
  done
  echo "never came true after $try tries: $*"
  return 1
}

whole_lines() { # FILE: every line has all 14 fields and its end
  [ -z "$(tail -c 1 "$1")" ]
  awk -F '\t' 'NF != 14 { exit 1 }' "$1"
}

# --- options ---------------------------------------------------------------

@test "help says usage, files, exit status and an example" {
  run "$TOOLS/slices" --help
  [ "$status" -eq 0 ]
  [[ "${lines[0]}" == "usage: slices --plan FILE"* ]]
  [[ "$output" == *"Files:"*"Exit status:"*"Example:"* ]]
  # the options in the order of the alphabet
  [ "$(grep -o '^  --[a-z-]*' <<<"$output")" = "$(grep -o '^  --[a-z-]*' <<<"$output" | sort)" ]
}

@test "wrong usage is one line and exit status 2" {
  local options
  plan 1 1 -
  for options in --unknown --rounds=0 --rounds=x --rounds=-1 --epoch=0 --seed=1.5 --seed= --slice-ms=0 \
    --slice-ms=nan --timeout=0 --iterations=0 --iterations=4294967296 --cpu=x --cpu=1- --cpu=3-1 '--cpu=1,' \
    --cpu=99999 --control-cpu=0,1 --drops-ok=1 --max-wait=101 --max-wait=-1 stray; do
    run slices "$options"
    [ "$status" -eq 2 ] || { echo "$options: $status"; return 1; }
    one_line_error mppsdiff: || { echo "$options"; return 1; }
    [ ! -e out.tsv ]
  done
}

@test "an option that must be there is named" {
  local name
  for name in plan epoch rounds seed out; do
    local all=(--plan=plan.tsv --epoch=1 --rounds=1 --seed=1 --out=out.tsv) some=() option
    for option in "${all[@]}"; do [[ $option == "--$name="* ]] || some+=("$option"); done
    run "$TOOLS/slices" "${some[@]}"
    [ "$status" -eq 2 ]
    one_line_error "--$name is missing"
  done
}

# --- rows ------------------------------------------------------------------

@test "the header is the one stats reads" {
  plan 1 1 -
  slices
  [ "$(head -n 1 out.tsv | tr '\t' ' ')" = "epoch round order variant cc dpdk layout process packets cycles tsc_hz dropped valid reason" ]
}

@test "--max-wait leaves out slices that waited for a CPU, and says so; their figures stay in the rows" {
  local hog
  plan 1 1 '--iteration-ns 20000'
  plan 1 2 '--iteration-ns 20000'
  # Whatever they wait is within all of their time.
  slices --rounds 20 --max-wait 100
  [ "$(values reason | sort -u)" = - ]
  # Not to wait at all is hard beside somebody who wants the same CPU.
  taskset -c 0 sh -c 'while :; do :; done' 3>&- &
  hog=$!
  rm -f out.tsv
  slices --rounds 20 --max-wait 0 --cpu 0 --control-cpu 0
  kill "$hog"
  wait "$hog" || true
  [ "$(values reason | grep -c 'waited for a CPU')" -gt 0 ]
  awk -F '\t' 'NR > 1 && ($13 == 1) != ($14 == "-") { exit 1 }' out.tsv
  awk -F '\t' 'NR > 1 && $9 == 0 { exit 1 }' out.tsv
  # without the option nobody looks
  rm -f out.tsv
  slices --rounds 5
  [ "$(values reason | sort -u)" = - ]
}

@test "what the forwarders answer arrives exactly in the rows" {
  local p
  plan 1 1 '--base 100'
  plan 1 2 '--slices --base 123.4 --noise 0.2 --seed 5 --drift 0.01'
  plan 1 3 '--base 90 --burst 32 --tsc-hz 3600000000 --start-effect 0.5@2'
  slices --rounds 8
  [ "$(wc -l <out.tsv)" -eq 25 ]
  [ "$(values valid | sort -u)" = 1 ]
  [ "$(values reason | sort -u)" = - ]
  for p in 1 2 3; do
    [ "$(paste -d ' ' <(values packets $p) <(values cycles $p))" = \
      "$(sed -n 's/.*run=.* packets=\([0-9]*\) cycles=\([0-9]*\)/\1 \2/p' log/epoch-1-process-$p.log)" ]
    [ "$(values layout $p | sort -u)" = $((p - 1)) ]
  done
  # known beforehand: 10 iterations of 64 packets at 100 cycles; 32 packets at 135, later at 90
  [ "$(values cycles 1 | sort -u)" = 64000 ]
  [ "$(values cycles 2 | sort -u | wc -l)" -eq 8 ]
  [ "$(values cycles 3 | tr '\n' ' ')" = "43200 43200 28800 28800 28800 28800 28800 28800 " ]
  [ "$(values tsc_hz 3 | sort -u)" = 3600000000 ]
  [ "$(values round 1 | tr '\n' ' ')" = "1 2 3 4 5 6 7 8 " ]
}

@test "only the processes of the epoch run, under the epoch's number" {
  plan 1 1 '--base 100'
  plan 2 1 '--base 50'
  plan 2 2 '--base 60'
  slices --epoch 2 --rounds 1
  [ "$(values epoch | tr '\n' ' ')" = "2 2 " ]
  [ "$(values cycles | sort -n | tr '\n' ' ')" = "32000 38400 " ]
  [ -e log/epoch-2-process-2.log ]
  [ ! -e log/epoch-1-process-1.log ]
}

@test "FILE.ready holds ready lines, the order of starts and the iterations" {
  plan 1 1 -
  plan 1 2 '--start exit'
  slices --iterations 30
  [ "$(head -n 1 out.tsv.ready | tr '\t' ' ')" = "process ready start_order iterations warmup" ]
  [ "$(values ready 1 out.tsv.ready)" = "ready ports=2 queues=2 lcores=1 rx_burst=fake_rx tx_burst=fake_tx fwd=macswap tsc_hz=2000000000" ]
  [ "$(values ready 2 out.tsv.ready)" = - ]
  [ "$(values start_order '' out.tsv.ready | sort | tr '\n' ' ')" = "1 2 " ]
  [ "$(values iterations '' out.tsv.ready | sort -u)" = 30 ]
  # the untimed share is what the forwarder was asked for
  [ "$(values warmup 1 out.tsv.ready)" = 2 ]
  grep -q 'run=1 iterations=30 warmup=2 ' log/epoch-1-process-1.log
}

@test "drops and empty slices are invalid with a reason but keep their numbers" {
  plan 1 1 '--fault empty@1 --fault drop@2 --fault nocycles@3'
  slices --rounds 4
  [ "$(values valid | tr '\n' ' ')" = "0 0 0 1 " ]
  [ "$(values reason | tr '\n' ,)" = "no packets,dropped,no cycles,-," ]
  [ "$(values dropped | tr '\n' ' ')" = "0 2 0 0 " ]
  [ "$(values cycles | tr '\n' ' ')" = "64000 64000 0 64000 " ]
}

@test "--drops-ok accepts drops, but not slices without packets" {
  plan 1 1 '--fault empty@1 --fault drop@2'
  slices --drops-ok
  [ "$(values valid | tr '\n' ' ')" = "0 1 1 " ]
  [ "$(values dropped | tr '\n' ' ')" = "0 2 0 " ]
}

# --- counters --------------------------------------------------------------

# software_counters: skip where not even the kernel's own events can be counted.
software_counters() {
  slices --perf-events page-faults,context-switches --out probe
  [ "$(values status '' probe.events | sort -u)" = counted ] ||
    skip_or_fail "needs perf_event_open for software events: $(values reason '' probe.events | sort -u | tr '\n' ' ')"
}

# usual NAME PROCESS [FILE]: the value most slices have; the first ones fault in code and stack.
usual() {
  values "$1" "$2" "${3:-out.tsv.perf}" | sort -n | uniq -c | sort -n | awk '{ value = $2 } END { print value }'
}

# with_pmu ARGUMENT...: slices on a machine with a PMU of its own, see the fixture.
with_pmu() {
  require_cmd gcc
  [ -e "$BATS_FILE_TMPDIR/pmu.so" ] ||
    gcc -Wall -Wextra -Werror -shared -fPIC -o "$BATS_FILE_TMPDIR/pmu.so" "$KIT/bats/fixtures/slices/pmu.c" -ldl
  # the sanitizers' own library wants to be the first one, and need not be
  env LD_PRELOAD="$BATS_FILE_TMPDIR/pmu.so" ASAN_OPTIONS=verify_asan_link_order=0 "$TOOLS/slices" --plan plan.tsv \
    --epoch 1 --rounds 6 --seed 1 --out out.tsv --iterations 10 --timeout 20 "$@"
}

@test "counters: page faults arrive exactly, of all threads, with the packets they belong to" {
  plan 1 1 '--touch 100'
  plan 1 2 '--touch 250 --worker-touch 400'
  software_counters
  slices --rounds 9 --perf-events context-switches,page-faults
  [ "$(head -n 1 out.tsv.perf | tr '\t' ' ')" = "epoch round variant cc dpdk layout process packets context-switches page-faults" ]
  [ "$(usual page-faults 1)" = 100 ]
  [ "$(usual page-faults 2)" = 650 ]
  # each slice waits for its command, and the one with a worker for that as well
  values context-switches '' out.tsv.perf | awk '$1 < 1 { exit 1 }'
  # 10 timed iterations of 64 packets and one that is not
  [ "$(values packets '' out.tsv.perf | sort -u)" = 704 ]
  [ "$(values round 1 out.tsv.perf | paste -sd ' ')" = "1 2 3 4 5 6 7 8 9" ]
  [ "$(cut -f 3-6 out.tsv.perf | sed 1d | sort -u | tr '\t\n' ' ,')" = "meson-static gcc 22.11 0,meson-static gcc 22.11 1," ]
  [ "$(tr '\t\n' ' ,' <out.tsv.events)" = "epoch event status slices reason,1 context-switches counted 18 -,1 page-faults counted 18 -," ]
}

@test "counters: nothing between the slices is counted" {
  plan 1 1 '--touch 100 --idle-touch 700'
  # they fault while process 1 waits, and give it the time to do its own before it is asked again
  plan 1 2 '--touch 5000 --iteration-ns 1000000'
  plan 1 3 '--iteration-ns 1000000'
  plan 1 4 '--iteration-ns 1000000'
  software_counters
  slices --rounds 9 --perf-events task-clock,page-faults
  [ "$(usual page-faults 1)" = 100 ]
  [ "$(usual page-faults 2)" = 5000 ]
  values task-clock '' out.tsv.perf | awk '$1 < 1 { exit 1 }'
}

@test "counters: with --cpu only threads on the forwarding CPUs count" {
  local cpus first last
  cpus=$(awk '/^Cpus_allowed_list/ { print $2 }' /proc/self/status)
  first=${cpus%%[-,]*} last=${cpus##*[-,]}
  [ "$first" != "$last" ] || skip_or_fail "needs two CPUs"
  plan 1 1 '--touch 1000 --worker-touch 300'
  # no thread of this one is bound to the forwarding CPU: all count
  plan 1 2 '--touch 70'
  software_counters
  slices --rounds 9 --perf-events page-faults --cpu "$last" --control-cpu "$first"
  [ "$(usual page-faults 1)" = 300 ]
  [ "$(usual page-faults 2)" = 70 ]
}

@test "counters: invalid slices have no row, slices.tsv is as without counters" {
  plan 1 1 '--touch 10 --fault drop@2'
  plan 1 2 '--fault exit@3'
  software_counters
  slices --rounds 4 --perf-events page-faults 2>err
  [ "$(values round 1 out.tsv.perf | paste -sd ' ')" = "1 3 4" ]
  [ "$(values round 2 out.tsv.perf | paste -sd ' ')" = "1 2" ]
  slices --rounds 4 --perf-events none --out none.tsv 2>err
  diff out.tsv none.tsv
  [ ! -e none.tsv.perf ]
  [ ! -e none.tsv.events ]
}

@test "counters: without a PMU the errno is the reason, with one there are figures; both are files" {
  plan 1 1 -
  slices
  [ "$(head -n 1 out.tsv.perf | tr '\t' ' ')" = "epoch round variant cc dpdk layout process packets cycles instructions branch-misses L1-icache-load-misses iTLB-load-misses" ]
  [ "$(values event '' out.tsv.events | paste -sd ' ')" = "cycles instructions branch-misses L1-icache-load-misses iTLB-load-misses" ]
  awk -F '\t' '
    NF != 5 { exit 1 }
    NR > 1 && $3 == "counted" && $4 == 0 { exit 1 }
    NR > 1 && $3 ~ /absent|refused/ && $5 !~ /^perf_event_open: [A-Z]/ { exit 1 }' out.tsv.events
  [[ $(values status '' out.tsv.events | head -n 1) != counted ]] || [ "$(values instructions 1 out.tsv.perf | head -n 1)" -gt 100 ]
}

@test "counters: a PMU that counts fills all five columns" {
  plan 1 1 '--touch 120'
  software_counters
  PMU=pages with_pmu
  [ "$(values status '' out.tsv.events | sort -u)" = counted ]
  [ "$(usual instructions 1)" = 120 ]
  [ "$(usual iTLB-load-misses 1)" = 120 ]
  values cycles 1 out.tsv.perf | awk '$1 < 100 { exit 1 }'
}

@test "counters: a figure of a part of the time is left out, and that is said" {
  plan 1 1 '--touch 120'
  software_counters
  # PERF_COUNT_HW_BRANCH_MISSES
  PMU=pages PMU_STEAL=5 with_pmu
  [ "$(values branch-misses 1 out.tsv.perf | sort -u)" = - ]
  [ "$(usual instructions 1)" = 120 ]
  [ "$(grep branch-misses out.tsv.events | tr '\t' ' ')" = "1 branch-misses multiplexed 0 6 slices left out: the PMU has not enough counters for all events; ask for fewer" ]
  [ "$(grep -c counted out.tsv.events)" -eq 4 ]
}

@test "counters: each way to be refused has its own words, and the slices go on" {
  plan 1 1 -
  # EACCES, ENOENT, ENOMEM
  PMU_ERRNO=13 PMU_PARANOID=3 with_pmu --perf-events cycles,context-switches
  [ "$(sed 1d out.tsv.events | tr '\t\n' ' |')" = "1 cycles refused 0 perf_event_open: Permission denied; kernel.perf_event_paranoid is 3: allow it with sysctl -w kernel.perf_event_paranoid=2|1 context-switches refused 0 perf_event_open: Permission denied; kernel.perf_event_paranoid is 3: allow it with sysctl -w kernel.perf_event_paranoid=1|" ]
  [ "$(values valid | sort -u)" = 1 ]
  [ "$(wc -l <out.tsv.perf)" -eq 1 ]
  rm out.tsv
  PMU_ERRNO=1 PMU_PARANOID=1 with_pmu --perf-events cycles
  grep -q 'perf_event_open: Operation not permitted; kernel.perf_event_paranoid is 1 and would allow it, so a container' out.tsv.events
  rm out.tsv
  PMU_ERRNO=2 with_pmu --perf-events cycles
  grep -q 'absent	0	perf_event_open: No such file or directory$' out.tsv.events
  rm out.tsv
  PMU_ERRNO=12 with_pmu --perf-events cycles
  grep -q 'failed	0	perf_event_open: Cannot allocate memory$' out.tsv.events
}

@test "counters: unknown and repeated events are one line and exit status 2" {
  local list
  plan 1 1 -
  for list in cycle cycles,,instructions cycles, none,cycles CYCLES; do
    run slices --perf-events="$list"
    [ "$status" -eq 2 ] || { echo "$list"; return 1; }
    one_line_error "--perf-events: unknown event '"
    [[ "$output" == *"known: none L1-dcache-load-misses "*" task-clock" ]]
  done
  run slices --perf-events cycles,task-clock,cycles
  [ "$status" -eq 2 ]
  one_line_error "--perf-events: cycles is there twice"
  # every event that is known stands in --help
  run slices --perf-events=x
  for list in ${output#*known: }; do "$TOOLS/slices" --help | grep -c -e "[ ,]$list\\b" >/dev/null || { echo "$list"; return 1; }; done
}

@test "counters: a full disk is one line and exit status 2" {
  plan 1 1 -
  ln -s /dev/full out.tsv.events
  run slices
  [ "$status" -eq 2 ]
  one_line_error "cannot write out.tsv.perf or out.tsv.events: "
}

# --- order -----------------------------------------------------------------

@test "every round is a permutation, and rounds differ" {
  local i round
  for i in 1 2 3 4 5 6; do plan 1 "$i" -; done
  slices --rounds 20
  while read -r round; do
    [ "$(tr ' ' '\n' <<<"$round" | sort | tr '\n' ' ')" = "1 2 3 4 5 6 " ]
  done < <(orders)
  [ "$(orders | sort -u | wc -l)" -gt 15 ]
  # the column order counts from 1 in each round
  [ "$(values order | paste -sd ' ' | sed 's/ 1 /\n1 /g' | sort -u)" = "1 2 3 4 5 6" ]
  # nobody has a place of its own: each of six runs first sometimes
  [ "$(orders | awk '{ print $1 }' | sort -u | wc -l)" -ge 5 ]
}

@test "the order depends on seed and epoch, and on nothing else" {
  local i e
  for e in 1 2; do
    for i in 1 2 3 4 5; do plan "$e" "$i" '--noise 0.5'; done
  done
  slices --rounds 10
  slices --rounds 10 --out again.tsv
  slices --rounds 10 --seed 2 --out seed.tsv
  slices --rounds 10 --epoch 2 --out epoch.tsv
  [ "$(orders)" = "$(orders again.tsv)" ]
  [ "$(orders)" != "$(orders seed.tsv)" ]
  [ "$(orders)" != "$(orders epoch.tsv)" ]
  [ "$(orders seed.tsv)" != "$(orders epoch.tsv)" ]
  # so do the starts
  [ "$(values start_order '' out.tsv.ready)" = "$(values start_order '' again.tsv.ready)" ]
  [ "$(values start_order '' out.tsv.ready)" != "$(values start_order '' epoch.tsv.ready)" ]
  [ "$(values start_order '' out.tsv.ready | tr '\n' ' ')" != "1 2 3 4 5 " ]
  # a process that fails does not change the others' turns
  sed -i '4s/--noise 0.5/--fault exit@3/' plan.tsv
  slices --rounds 10 --out fault.tsv 2>/dev/null
  [ "$(values valid 3 fault.tsv | sort -u | wc -l)" -eq 2 ]
  [ "$(orders)" = "$(orders fault.tsv)" ]
}

@test "only a few forwarders start at once" {
  local i max
  max=$(nproc --all)
  [ "$max" -le 4 ] || max=4
  for i in $(seq 12); do plan 1 "$i" '--start never'; done
  background
  local pid=$!
  wait_for test -d log
  sleep 1
  local started
  started=$(find log -name '*.log' | wc -l)
  kill -TERM "$pid"
  wait "$pid" || :
  [ "$started" -ge 1 ]
  [ "$started" -le "$max" ]
}

# --- calibration -----------------------------------------------------------

@test "calibration finds the iterations that take about slice-ms in the median process" {
  local n
  # iterations of 10, 20 and 80 us: the median process needs 1000 for 20 ms
  plan 1 1 '--iteration-ns 10000'
  plan 1 2 '--iteration-ns 20000'
  plan 1 3 '--iteration-ns 80000'
  "$TOOLS/slices" --plan plan.tsv --epoch 1 --rounds 1 --seed 1 --out out.tsv --slice-ms 20
  n=$(values iterations '' out.tsv.ready | sort -u)
  echo "iterations: $n"
  [ "$n" -gt 400 ]
  [ "$n" -lt 1100 ]
  # the same for every process, in the row as in the command
  [ "$(values packets | sort -u)" = $((n * 64)) ]
  [ "$(values warmup 1 out.tsv.ready)" -eq $(((n + 19) / 20)) ]
}

@test "calibration survives a forwarder that answers at once and one that dies in it" {
  plan 1 1 -
  plan 1 2 '--fault dead@2'
  "$TOOLS/slices" --plan plan.tsv --epoch 1 --rounds 2 --seed 1 --out out.tsv 2>err
  [ "$(values iterations 1 out.tsv.ready)" -le 4294967295 ]
  [ "$(values valid 1 | tr '\n' ' ')" = "1 1 " ]
  [ "$(values reason 2 | sort -u)" = "died: signal 11" ]
}

# --- failures --------------------------------------------------------------

@test "every way to fail in a round ends one process with its reason, and the rest goes on" {
  local kind p=1 reason
  local -A expected=(
    [dead]='died: signal 11'
    [exit]='died: exit 3'
    [hang]='timeout'
    [partial]='timeout'
    [eof]='closed its output'
    [garbage]='bad answer: testpmd> Started forwarding  [1m'
    [negative]='bad answer: packets=64 cycles=-6400 tsc_hz=2000000000 dropped=0'
    [overflow]='bad answer: packets=64 cycles=18446744073709551616 tsc_hz=2000000000 dropped=0'
    [missing]='bad answer: packets=64 cycles=6400 tsc_hz=2000000000'
    [zerohz]='bad answer: packets=64 cycles=6400 tsc_hz=0 dropped=0'
    [error]='error: port 1 has no link'
    [long]='bad answer: too long or binary'
    [nul]='bad answer: too long or binary'
  )
  plan 1 1 '--base 77'
  for kind in "${!expected[@]}"; do
    p=$((p + 1))
    plan 1 "$p" "--fault $kind@2"
  done
  # a process that failed costs its timeout once, not in every round
  run timeout 60 "$TOOLS/slices" --plan plan.tsv --epoch 1 --rounds 50 --seed 1 --out out.tsv --iterations 10 \
    --timeout 2
  [ "$status" -eq 0 ]
  [ "${#lines[@]}" -eq "${#expected[@]}" ]
  p=1
  for kind in "${!expected[@]}"; do
    p=$((p + 1))
    reason=${expected[$kind]}
    [ "$(values reason "$p" | uniq | tr '\n' ,)" = "-,$reason," ] || { echo "$kind:"; values reason "$p"; return 1; }
    [ "$(values valid "$p" | head -n 3 | tr '\n' ' ')" = "1 0 0 " ]
    [ "$(values valid "$p" | wc -l)" -eq 50 ]
    [ "$(values packets "$p" | sed 1d | sort -u)" = 0 ]
    [[ "$output" == *"process $p (meson-static gcc 22.11 layout $((p - 1))): $reason; see log/epoch-1-process-$p.log"* ]]
  done
  [ "$(values valid 1 | sort -u)" = 1 ]
  [ "$(values cycles 1 | sort -u)" = 49280 ]
  [ "$(values cycles 1 | wc -l)" -eq 50 ]
  whole_lines out.tsv
  none_running
}

@test "a process that dies or talks between its slices is found out at its next one" {
  local i
  plan 1 1 '--fault idle@2'
  plan 1 2 '--fault twice@2'
  # time for the first one to die in
  plan 1 3 '--iteration-ns 10000000'
  slices --rounds 5 2>err
  [ "$(values reason 1 | tr '\n' ,)" = "-,-,died: signal 11,died: signal 11,died: signal 11," ]
  [ "$(values reason 2 | tr '\n' ,)" = "-,-,spoke without being asked,spoke without being asked,spoke without being asked," ]
  [ "$(values valid 3 | sort -u)" = 1 ]
  none_running
}

@test "a start that fails says how, with the last line of its log" {
  plan 1 1 '--start slow@300'
  plan 1 2 '--start exit'
  plan 1 3 '--start dead'
  plan 1 4 '--start never'
  plan 1 5 '--start bad'
  plan 1 6 - 0 "$BATS_TEST_TMPDIR/no such forwarder"
  plan 1 7 '--start chatter'
  plan 1 8 '--no-such-option'
  run slices --ready-timeout 2
  [ "$status" -eq 0 ]
  [ "${#lines[@]}" -eq 6 ]
  [ "$(values valid 1 | sort -u)" = 1 ]
  [ "$(values valid 7 | sort -u)" = 1 ]
  [ "$(values reason 2 | sort -u)" = "start failed: exit 1: EAL: Cannot get hugepage information." ]
  [[ "$(values reason 3 | sort -u)" == "start failed: signal 11: fakefwd: pid="* ]]
  [[ "$(values reason 4 | sort -u)" == "start failed: timeout: fakefwd: pid="* ]]
  [[ "$(values reason 5 | sort -u)" == "start failed: bad ready line: fakefwd: pid="* ]]
  [ "$(values reason 6 | sort -u)" = "start failed: exit 127: cannot execute $BATS_TEST_TMPDIR/no such forwarder: No such file or directory" ]
  [[ "$(values reason 8 | sort -u)" == "start failed: exit 2: mppsdiff: unknown option"* ]]
  [ "$(values round | sort | uniq -c | awk '{ print $1 }' | sort -u)" = 8 ]
  none_running
}

@test "when no process is left it is one line and exit status 1, with all rows there" {
  plan 1 1 '--start exit'
  plan 1 2 '--fault garbage@2'
  run slices
  [ "$status" -eq 1 ]
  one_line_error "none of 2 processes ran to the end; the first: start failed: exit 1: EAL: Cannot get hugepage information.; see log/epoch-1-process-1.log"
  [ "$(values valid | tr -d '\n' | tr -d 0)" = 1 ]
  [ "$(wc -l <out.tsv)" -eq 7 ]
}

@test "a forwarder that ignores SIGTERM is killed, with the children it has" {
  plan 1 1 -
  plan 1 2 '--ignore-term --child --fault hang@2'
  run slices --timeout 1
  [ "$status" -eq 0 ]
  [ "$(pids | wc -l)" -eq 3 ]
  [ "$(values reason 2 | tail -n 1)" = timeout ]
  none_running
}

@test "the end is quit: a forwarder that then fails or leaves a child is told or ended" {
  plan 1 1 '--quit-exit 9'
  plan 1 2 --child
  run slices
  [ "$status" -eq 0 ]
  one_line_error "process 1 (meson-static gcc 22.11 layout 0): did not quit cleanly"
  [ "$(grep -c end=quit log/*.log | tr '\n' ' ')" = "log/epoch-1-process-1.log:1 log/epoch-1-process-2.log:1 " ]
  [ "$(values valid | sort -u)" = 1 ]
  none_running
}

# --- signals ---------------------------------------------------------------

# Ends slices with SIGNAL in the middle of a run and expects STATUS and no process left.
stop_with() { # SIGNAL STATUS
  plan 1 1 --child
  plan 1 2 --ignore-term
  plan 1 3 '--fault hang@9'
  background
  local pid=$! got=0
  # process 3 hangs: slices waits for it
  wait_for grep -qs run=8 log/epoch-1-process-3.log
  sleep 0.2
  kill "-$1" "$pid"
  wait "$pid" || got=$?
  [ "$got" -eq "$2" ]
  [ "$(pids | wc -l)" -eq 4 ]
  none_running
  whole_lines out.tsv
  [ "$(values valid | sort -u)" = 1 ]
  [ "$(wc -l <err)" -eq 1 ]
  # whoever can is given the time to end in order
  grep -q end=eof log/epoch-1-process-2.log
  grep -q "^mppsdiff: ended by SIG$1; out.tsv holds the slices of 8 whole rounds" err
}

@test "SIGINT ends slices and every forwarder with status 130" { stop_with INT 130; }
@test "SIGTERM ends slices and every forwarder with status 143" { stop_with TERM 143; }
@test "SIGHUP ends slices and every forwarder with status 129" { stop_with HUP 129; }

@test "SIGTERM ends forwarders that are not ready yet" {
  plan 1 1 '--start never --ignore-term'
  background
  local pid=$! got=0
  wait_for grep -qs pid= log/epoch-1-process-1.log
  kill -TERM "$pid"
  wait "$pid" || got=$?
  [ "$got" -eq 143 ]
  none_running
}

@test "slices sees its children end even if it was started with SIGCHLD ignored" {
  env --ignore-signal=CHLD true || skip_or_fail "needs env --ignore-signal: coreutils 8.31 or newer"
  plan 1 1 '--fault exit@2'
  plan 1 2 -
  run env --ignore-signal=CHLD "$TOOLS/slices" --plan plan.tsv --epoch 1 --rounds 3 --seed 1 --out out.tsv \
    --iterations 10
  [ "$status" -eq 0 ]
  [ "$(values reason 1 | tail -n 1)" = "died: exit 3" ]
}

@test "forwarders hold no pipe of one another" {
  local a b pid
  plan 1 1 -
  plan 1 2 -
  plan 1 3 '--fault hang@1'
  background
  pid=$!
  wait_for grep -qs 'pid=' log/epoch-1-process-3.log
  wait_for test -s out.tsv.ready
  for a in $(pids); do
    for b in $(pids); do
      [ "$a" != "$b" ] || continue
      if find "/proc/$a/fd" -type l -printf '%l\n' |
        grep -F -e "$(readlink "/proc/$b/fd/0")" -e "$(readlink "/proc/$b/fd/1")"; then return 1; fi
    done
  done
  kill -TERM "$pid"
  wait "$pid" || :
}

@test "after SIGKILL of slices no forwarder stays and the rows are whole" {
  plan 1 1 '--ignore-term'
  plan 1 2 '--fault hang@9'
  background
  local pid=$! got=0
  wait_for grep -qs run=8 log/epoch-1-process-2.log
  kill -KILL "$pid"
  wait "$pid" || got=$?
  [ "$got" -eq 137 ]
  [ "$(pids | wc -l)" -eq 2 ]
  none_running
  whole_lines out.tsv
}

# --- processes -------------------------------------------------------------

@test "a binary and an output with spaces in their paths work" {
  mkdir "a b"
  cp "$FAKE" "a b/fake fwd"
  plan 1 1 '--slices --base 70' 0 "$BATS_TEST_TMPDIR/a b/fake fwd"
  slices --out "a b/out.tsv.part"
  [ "$(values cycles 1 "a b/out.tsv.part" | sort -u)" = 44800 ]
  [ -s "a b/log/epoch-1-process-1.log" ]
  [ -s "a b/out.tsv.part.ready" ]
}

@test "the environment is padded as planned" {
  plan 1 1 - 0
  plan 1 2 - 1
  plan 1 3 - 4097
  MPPSDIFF_PAD=inherited slices
  grep -q ' pad= ' log/epoch-1-process-1.log
  grep -q ' pad=1 ' log/epoch-1-process-2.log
  grep -q ' pad=4097 ' log/epoch-1-process-3.log
}

@test "forwarders get the forwarding and the control CPUs" {
  local cpus first last
  cpus=$(awk '/^Cpus_allowed_list/ { print $2 }' /proc/self/status)
  first=${cpus%%[-,]*} last=${cpus##*[-,]}
  plan 1 1 -
  slices --cpu "$last" --control-cpu "$first"
  if [ "$first" = "$last" ]; then
    grep -q " cpus=$first\$" log/epoch-1-process-1.log
  else
    grep -q " cpus=$first,$last\$" log/epoch-1-process-1.log
  fi
  slices --cpu "$first" --out one.tsv
  grep -q " cpus=$first\$" log/epoch-1-process-1.log
  # slices goes to the control CPU, the forwarders stay free without --cpu
  slices --control-cpu "$first" --out free.tsv
  if [ "$first" != "$last" ]; then
    grep -q " cpus=$first,.*$last\$" log/epoch-1-process-1.log
  fi
}

@test "a CPU the machine does not have is one line and exit status 2" {
  plan 1 1 -
  run slices --cpu 1023
  [ "$status" -eq 2 ]
  one_line_error "a CPU of --cpu or --control-cpu is not there"
  run slices --control-cpu 1023
  [ "$status" -eq 2 ]
  one_line_error "a CPU of --cpu or --control-cpu is not there"
}

@test "slices works with stdin, stdout and stderr closed" {
  plan 1 1 -
  slices <&- >&- 2>&-
  [ "$(values valid | tr '\n' ' ')" = "1 1 1 " ]
  [ "$(wc -l <out.tsv)" -eq 4 ]
  grep -q pid= log/epoch-1-process-1.log
}

# --- plan ------------------------------------------------------------------

@test "a mistake in the plan is one line with file and line, and nothing starts" {
  local mistake
  plan 1 1 -
  plan 1 2 '--base 90'
  cp plan.tsv good.tsv
  while IFS='|' read -r mistake expected; do
    sed "$mistake" good.tsv >plan.tsv
    run slices
    [ "$status" -eq 2 ] || { echo "$mistake: $status $output"; return 1; }
    one_line_error "$expected" || { echo "$mistake"; return 1; }
    [ ! -e out.tsv ]
    [ ! -e log ]
  done <<'MISTAKES'
3s/	2	meson/	1	meson/|plan.tsv:3: process 1 appears twice in epoch 1
3s/	2	meson/	x	meson/|plan.tsv:3: process 'x' is not an unsigned number
3s/	2	meson/	0	meson/|plan.tsv:3: process 0 is out of range
2s/^1/-1/|plan.tsv:2: epoch '-1' is not an unsigned number
2s/meson-static/meson static/|plan.tsv:2: variant 'meson static' is not a word
3s/--base 90/--base  90/|plan.tsv:3: args: one space between two arguments
3s/--base 90/--base 90 /|plan.tsv:3: args: one space between two arguments
3s/	0	--base/	65537	--base/|plan.tsv:3: env_bytes 65537 is out of range
3s/	--base 90//|plan.tsv:3: 8 fields; the header has 9
3s/--base 90//|plan.tsv:3: column 'args' is empty
1s/binary/program/|plan.tsv:1: column 'binary' is missing
2,3s/^1/2/|plan.tsv: no process for epoch 1
1,$d|plan.tsv:1: the file is empty
MISTAKES
}

@test "a plan that is not there is one line and exit status 2" {
  run slices --plan none.tsv
  [ "$status" -eq 2 ]
  one_line_error "cannot open none.tsv: No such file or directory"
}

# --- output ----------------------------------------------------------------

@test "an output that holds something already is left as it is" {
  plan 1 1 -
  echo precious >out.tsv
  run slices
  [ "$status" -eq 2 ]
  one_line_error "out.tsv exists and is not empty; give the name of a new file"
  [ "$(cat out.tsv)" = precious ]
  # an empty one, as mktemp makes it, is taken
  : >out.tsv
  slices
  [ "$(wc -l <out.tsv)" -eq 4 ]
}

@test "an output that another slices writes is refused" {
  require_cmd flock
  plan 1 1 -
  : >out.tsv
  run flock out.tsv "$TOOLS/slices" --plan plan.tsv --epoch 1 --rounds 1 --seed 1 --out out.tsv
  [ "$status" -eq 2 ]
  one_line_error "is another slices writing it?"
  [ ! -s out.tsv ]
}

@test "an output that cannot be made is one line and exit status 2" {
  plan 1 1 -
  run slices --out none/out.tsv
  [ "$status" -eq 2 ]
  one_line_error "cannot make the folder none/log: No such file or directory"
  mkdir dir
  run slices --out dir
  [ "$status" -eq 2 ]
  one_line_error "cannot write dir: Is a directory"
  rm -rf log
  echo >log
  run slices
  [ "$status" -eq 2 ]
  one_line_error "cannot make the folder log: File exists"
  [ ! -e out.tsv ]
}

@test "a full disk is one line and exit status 2, whole rows stay, no forwarder does" {
  plan 1 1 -
  plan 1 2 '--ignore-term --child'
  ln -s /dev/full full.tsv
  run slices --out full.tsv
  [ "$status" -eq 2 ]
  one_line_error "cannot write full.tsv: No space left on device"
  # a limit that ends in the middle of a row
  run bash -c 'ulimit -f 1; shift; exec "$@"' bash x "$TOOLS/slices" --plan plan.tsv --epoch 1 --rounds 100 \
    --seed 1 --out out.tsv --iterations 10
  [ "$status" -eq 2 ]
  one_line_error "cannot write out.tsv: File too large"
  [ "$(wc -l <out.tsv)" -gt 5 ]
  [ "$(wc -c <out.tsv)" -lt 1024 ]
  whole_lines out.tsv
  none_running
}

# --- progress --------------------------------------------------------------

@test "progress shows on a terminal, at most once a second" {
  require_cmd script
  plan 1 1 '--iteration-ns 2000000'
  local command
  printf -v command '%q ' "$TOOLS/slices" --plan plan.tsv --epoch 1 --rounds 120 --seed 1 --out out.tsv \
    --iterations 10 --progress 'epoch 1/3'
  script -qec "$command" typescript </dev/null >/dev/null 3>&-
  tr '\r' '\n' <typescript >shown
  grep -Eq '^epoch 1/3 round [0-9]+/120, [0-9]+ s left' shown
  # 120 rounds of 20 ms and more: far fewer lines than rounds
  [ "$(grep -c '^epoch 1/3 ' shown)" -ge 2 ]
  [ "$(grep -c '^epoch 1/3 ' shown)" -le 30 ]
}

@test "without a terminal nothing is shown, with or without --progress" {
  plan 1 1 -
  run slices --progress label
  [ "$status" -eq 0 ]
  [ -z "$output" ]
}

# --- the fake forwarder ----------------------------------------------------

@test "fakefwd rejects what it does not know" {
  local option
  for option in --unknown --fault=none --fault=dead@x --start=soon --base=-1 --noise=2 stray; do
    run "$FAKE" "$option" </dev/null
    [ "$status" -eq 2 ] || { echo "$option: $status"; return 1; }
    one_line_error mppsdiff:
  done
  run "$FAKE" <<<'walk 10'
  [ "$status" -eq 0 ]
  [[ "$output" == *"error: unknown command"* ]]
}
