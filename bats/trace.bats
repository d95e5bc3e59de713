#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# trace: exact instruction counts of programs whose counts are known.
# shellcheck disable=SC2154,SC2030,SC2031 # bats sets status, output, lines and stderr

load helpers

FIXTURES=$KIT/bats/fixtures/trace

setup() {
  require_cmd gcc clang ld.lld as
  trace=$TOOLS/trace
  cd "$BATS_TEST_TMPDIR" || return
  as /dev/null -o empty.o && ld empty.o -e 0 -o empty 2>warnings || true
}

teardown() {
  # a program that a test left behind
  [ ! -s pid ] || kill -KILL "$(cat pid)" 2>/dev/null || true
}

# traced ARGUMENT...: runs trace; it must succeed in silence.
traced() {
  run --separate-stderr "$trace" "$@"
  [ "$status" -eq 0 ] || { printf 'trace %s: status %s: %s\n' "$*" "$status" "$stderr" >&2; return 1; }
  [ -z "$stderr" ] || { printf 'trace %s said: %s\n' "$*" "$stderr" >&2; return 1; }
}

# refused STATUS TEXT ARGUMENT...: trace must fail with one line that holds TEXT.
refused() {
  local expected=$1 text=$2
  shift 2
  run --separate-stderr "$trace" "$@"
  [ "$status" -eq "$expected" ] || { printf 'trace %s: status %s, not %s: %s\n' "$*" "$status" "$expected" "$stderr" >&2; return 1; }
  [ -z "$output" ] || { printf 'trace %s printed: %s\n' "$*" "$output" >&2; return 1; }
  [ "${#stderr_lines[@]}" -eq 1 ] || { printf 'not one line: %s\n' "$stderr" >&2; return 1; }
  [[ "$stderr" == "mppsdiff: "*"$text"* ]] || { printf 'expected "%s" in: %s\n' "$text" "$stderr" >&2; return 1; }
}

# expect KEY VALUE: the last output has it.
expect() {
  grep -qx "$1=$2" <<<"$output" || { printf 'expected %s=%s in:\n%s\n' "$1" "$2" "$output" >&2; return 1; }
}

# count FILE FUNCTION: its instructions in a folded table, summed; 0 if it is not there.
count() {
  awk -F '\t' -v name="$2" 'NR > 1 && $3 == name { sum += $4 } END { print sum + 0 }' "$1"
}

# loop NAME ROUNDS REGIONS STATUS LD...: the program of known counts.
loop() {
  as --defsym ROUNDS="$2" --defsym REGIONS="$3" --defsym STATUS="$4" "$FIXTURES/loop.s" -o "$1.o"
  "${@:5}" "$1.o" -o "$1"
}

# speaker EXTRA: ./speaker, whose iteration is 10 instructions and the loop's, 2 more with EXTRA=1.
speaker() {
  as --defsym EXTRA="${1:-0}" "$FIXTURES/work.s" -o work.o
  gcc -O2 -g -pthread "$FIXTURES/speaker.c" "$FIXTURES/marks.c" work.o -o speaker
}

# shared FLAG...: ./paths with libshared.so, linked with the flags, which it calls 20 times.
shared() {
  gcc -shared "$@" "$FIXTURES/shared.s" -o libshared.so
  gcc -O2 "$FIXTURES/paths.c" "$FIXTURES/marks.c" -L. -lshared "-Wl,-rpath,$PWD" -o paths
}

@test "help: names every option, and goes to stdout" {
  traced --help
  for text in --addresses --apart --begin --cpu --end --help --map --out --packets --pid --regions --send \
    --skip --stop-at --timeout "exit status" example; do
    [[ "$output" == *"$text"* ]]
  done
}

@test "usage: wrong options and combinations are one line and exit 2" {
  refused 2 "no command to trace and no --pid"
  refused 2 "unknown option '--frobnicate'; accepted: --addresses" --frobnicate true
  refused 2 "--stop-at 'many': a whole number" --stop-at many true
  refused 2 "--regions '0': a whole number from 1" --regions 0 true
  refused 2 "--pid needs --regions" --pid 1
  refused 2 "both --pid and a command" --pid 1 --regions 1 true
  refused 2 "--send needs a command" --pid 1 --regions 1 --send x
  refused 2 "cannot open nothing.map" --map nothing.map true
  refused 2 "is no linker's map" --map "$FIXTURES/loop.s" true
  refused 2 "cannot run ./nothing: No such file" ./nothing
  refused 2 "cannot run ./empty.o: Permission denied" ./empty.o
  refused 2 "there is no process 999999999" --pid 999999999 --regions 1
}

@test "known counts: a loop in assembly, to the instruction, fixed and position independent" {
  local kind
  for kind in "ld" "ld -pie --dynamic-linker /lib64/ld-linux-x86-64.so.2" "ld.lld" "ld.lld -pie --no-dynamic-linker"; do
    # shellcheck disable=SC2086 # the words of a command
    loop program 1000 3 0 $kind
    traced --out folded.tsv ./program
    expect instructions $((3 * (4 * 1000 + 11)))
    expect instructions_apart 0
    expect regions 3
    expect loads $((3 * (1000 + 3)))
    expect stores $((3 * (1000 + 4)))
    expect indirect_branches 0
    expect got_loads 0
    expect plt_calls 0
    expect tls_get_addr_calls 0
    expect packets -
    expect instructions_per_packet -
    [ "$(cat folded.tsv)" = "$(printf 'library\tobject\tfunction\tcount\n-\t-\t_start\t6\n-\t-\tfwd_timed_begin\t3\n-\t-\ttail\t9\n-\t-\twork\t12015\n')" ]
  done
}

@test "known counts: --addresses gives each instruction as objdump shows it" {
  loop program 100 2 0 ld
  traced --addresses addresses.tsv --out folded.tsv ./program
  [ "$(head -n 1 addresses.tsv)" = $'library\tobject\tfunction\taddress\tcount\tfirst' ]
  # the repeated string instruction counts once a region, those of the loop 100 times
  at=$(objdump -d program | sed -n 's/^ *\([0-9a-f]*\):.*rep stos.*/\1/p')
  [ "$(awk -F '\t' -v at="$at" '$4 == at { print $5 }' addresses.tsv)" = 2 ]
  at=$(objdump -d program | sed -n 's/^ *\([0-9a-f]*\):.*dec .*%edx.*/\1/p')
  [ "$(awk -F '\t' -v at="$at" '$4 == at { print $5 }' addresses.tsv)" = 200 ]
  [ "$(awk -F '\t' 'NR > 1 { n += $5 } END { print n }' addresses.tsv)" = \
    "$(awk -F '\t' 'NR > 1 { n += $4 } END { print n }' folded.tsv)" ]
  # every address is the start of an instruction in objdump's eyes
  objdump -d program | sed -n 's/^ *\([0-9a-f]*\):.*/\1/p' | sort -u >starts
  cut -f 4 addresses.tsv | sed 1d | sort -u >executed
  [ -z "$(comm -13 starts executed)" ]
}

@test "known counts: compiled straight-line code, gcc and clang, three code models, as many as objdump lists" {
  cat >straight.c <<'CODE'
extern int ext; extern __thread int tls; static int table[4]; int own;
int straight(int x) { own += ext; table[1] += x; tls += own; return x * own + table[2] - tls; }
CODE
  cat >caller.c <<'CODE'
void fwd_timed_begin(void); void fwd_timed_end(void); int straight(int);
int ext = 1; __thread int tls;
int main(void) { fwd_timed_begin(); for (int i = 0; i < 7; i++) straight(i); fwd_timed_end(); }
CODE
  for cc in gcc clang; do
    for flags in "-fno-pie -no-pie" "-fPIE -pie" "-fPIC -pie" "-fPIC -static"; do
      # shellcheck disable=SC2086 # flags are words
      $cc -O2 -g $flags straight.c caller.c "$FIXTURES/marks.c" -o program
      objdump -d --disassemble=straight --no-show-raw-insn program | grep -cE '^ +[0-9a-f]+:' >listed
      traced --out folded.tsv ./program
      # the padding behind ret is not executed
      padding=$(objdump -d --disassemble=straight --no-show-raw-insn program | sed '1,/ret/d' | grep -cE '^ +[0-9a-f]+:' || true)
      [ "$(count folded.tsv straight)" = $((7 * ($(cat listed) - padding))) ]
    done
  done
}

@test "the same trace twice is the same, to the byte" {
  speaker
  traced --send 'run 50 10' --out one.tsv --addresses one.addresses ./speaker --parts 3
  first=$output
  traced --send 'run 50 10' --out two.tsv --addresses two.addresses ./speaker --parts 3
  [ "$output" = "$first" ]
  cmp one.tsv two.tsv
  cmp one.addresses two.addresses
}

@test "attribution: a deliberate extra sequence is found in its function, to the instruction" {
  speaker 0
  traced --send 'run 100 7' --out fast.tsv ./speaker
  fast=$(sed -n 's/^instructions=//p' <<<"$output")
  speaker 1
  traced --send 'run 100 7' --out slow.tsv ./speaker
  slow=$(sed -n 's/^instructions=//p' <<<"$output")
  [ $((slow - fast)) -eq 200 ]
  expect packets 200
  expect instructions_per_packet "$(awk -v n="$slow" 'BEGIN { printf "%.4f", n / 200 }')"
  diff <(grep -v work fast.tsv) <(grep -v work slow.tsv)
  [ "$(count fast.tsv work)" = 1000 ]
  [ "$(count slow.tsv work)" = 1200 ]
}

@test "protocol: packets are those of the answers, over several runs and parts" {
  speaker
  traced --send 'run 10' --send 'run 5 3' --send quit --out folded.tsv ./speaker --parts 2
  expect regions 4
  expect packets $(((10 + 5) * 2 * 2))
  [ "$(count folded.tsv work)" = $(((10 + 5) * 2 * 10)) ]
  traced --send 'run 10' --packets 5 ./speaker
  expect packets 5
  refused 1 "the program answered: error: say run N" --send 'walk 10' ./speaker
}

@test "protocol: --skip and --regions pick regions, the program ends well and packets are unknown" {
  speaker
  traced --send 'run 10' --send 'run 20' --send 'run 30' --skip 1 --regions 1 --out folded.tsv ./speaker
  expect regions 1
  expect packets -
  [ "$(count folded.tsv work)" = 200 ]
  traced --send 'run 10' --send 'run 20' --send 'run 30' --skip 2 --out folded.tsv ./speaker
  [ "$(count folded.tsv work)" = 300 ]
  refused 1 "never came to fwd_timed_begin after the skipped ones" --send 'run 10' --skip 1 ./speaker
}

@test "protocol: with --regions the program's stdin stays open until they are traced" {
  speaker
  refused 1 "ended with status 9" --send 'run 10' ./speaker --need-input
  traced --send 'run 10' --regions 1 --out folded.tsv ./speaker --need-input
  [ "$(count folded.tsv work)" = 100 ]
}

@test "regions: any function can begin one, and its return can end it" {
  speaker
  traced --send 'run 10' --begin work --end return --out folded.tsv ./speaker
  expect regions 10
  expect instructions 100
  [ "$(count folded.tsv work)" = 100 ]
  as "$FIXTURES/recursive.s" -o recursive.o && ld recursive.o -o recursive
  traced --begin again --end return --out folded.tsv ./recursive
  expect regions 1
  [ "$(count folded.tsv again)" = 13 ]
  [ "$(count folded.tsv through)" = 4 ]
}

@test "threads: each one's region is counted, whole, while others run" {
  speaker
  for round in 1 2 3; do
    traced --send 'run 50' --out folded.tsv ./speaker --threads 4
    expect regions 4
    [ "$(count folded.tsv work)" = 2000 ]
    expect packets 400
    [ "$round" = 1 ] || [ "$output" = "$first" ]
    first=$output
  done
}

@test "signals: a program that gets them often is stepped through and its own code counted exactly" {
  speaker
  traced --send 'run 1000' --out folded.tsv ./speaker --timer
  [ "$(count folded.tsv work)" = 10000 ]
  [ "$(count folded.tsv on_alarm)" -gt 0 ]
  # a signal it ignores interrupts nothing, and no instruction is missed
  traced --send 'run 1000' --out folded.tsv ./speaker --ignored-timer
  expect instructions "$(awk -F '\t' 'NR > 1 { sum += $4 } END { print sum }' folded.tsv)"
  [ "$(count folded.tsv work)" = 10000 ]
  again=$output
  traced --send 'run 1000' ./speaker
  [ "$output" = "$again" ]
}

@test "paths: GOT loads, PLT calls, __tls_get_addr calls and indirect branches, exactly" {
  local flags
  # the GOT's first entry is another in each; PLT entries of IBT are two instructions, not one
  for flags in "-z relro" "-nostdlib" "-nostdlib -fuse-ld=lld" "-nostdlib -Wl,-z,ibtplt"; do
    # shellcheck disable=SC2086 # flags are words
    shared $flags
    traced --out folded.tsv ./paths
    expect got_loads 20
    # shared_call and __tls_get_addr
    expect plt_calls 40
    expect tls_get_addr_calls 20
    # one each in the two PLTs, and the call and the jump
    expect indirect_branches 80
    [ "$(count folded.tsv shared_call)" = $((20 * 11)) ]
    [ "$(count folded.tsv local)" = 20 ]
    [ "$(awk -F '\t' '$3 == "shared_call" { print $1 }' folded.tsv)" = shared ]
    [ "$(awk -F '\t' '$3 == "__tls_get_addr" { print $1 }' folded.tsv)" = ld-linux-x86-64 ]
  done
  [ "$(count folded.tsv '[plt]')" = 60 ]
}

@test "--apart: a shared library is counted apart and stands in no table" {
  shared
  traced --out folded.tsv ./paths
  all=$(sed -n 's/^instructions=//p' <<<"$output")
  inside=$(awk -F '\t' '$1 == "shared" { sum += $4 } END { print sum }' folded.tsv)
  for name in libshared.so "$PWD/libshared.so"; do
    traced --apart "$name" --out apart.tsv ./paths
    expect instructions_apart "$inside"
    expect instructions $((all - inside))
    expect got_loads 0
    [ -z "$(awk -F '\t' '$1 == "shared"' apart.tsv)" ]
  done
}

@test "--map: every linker's tells the library and the object, of archives thin and plain" {
  as --defsym EXTRA=0 "$FIXTURES/work.s" -o a_work.c.o
  mkdir librte_thin.a.p
  gcc -O2 -g -ffunction-sections -c "$FIXTURES/marks.c" -o librte_thin.a.p/a_rather_long_name_for_a_member.c.o
  gcc -O2 -g -c "$FIXTURES/speaker.c" -o main.o
  ar rc librte_work.a a_work.c.o
  ar rcT librte_thin.a librte_thin.a.p/*.o
  local linkers="bfd lld" ld
  for ld in gold mold; do ! command -v "ld.$ld" >/dev/null || linkers+=" $ld"; done
  for ld in $linkers; do
    for inputs in "librte_work.a librte_thin.a" "librte_work.a librte_thin.a.p/a_rather_long_name_for_a_member.c.o"; do
      # shellcheck disable=SC2086 # inputs are words
      gcc -pthread -fuse-ld=$ld -Wl,-Map=program.map main.o -Wl,--whole-archive $inputs -Wl,--no-whole-archive -o program
      traced --send 'run 10' --map program.map --out folded.tsv ./program
      [ "$(grep -P '\twork\t' folded.tsv)" = $'rte_work\ta_work.c.o\twork\t100' ]
      [ "$(grep -P '\tfwd_timed_begin\t' folded.tsv)" = $'rte_thin\ta_rather_long_name_for_a_member.c.o\tfwd_timed_begin\t1' ]
      [ "$(grep -P '\trun\t' folded.tsv | cut -f 1,2)" = $'-\tmain.o' ]
    done
  done
}

@test "--map: a shared library's map is beside it; what is no map is let be" {
  gcc -shared "$FIXTURES/shared.s" -c -o librte_one.c.o
  gcc -shared librte_one.c.o -Wl,-Map=libshared.so.map -o libshared.so
  gcc -O2 "$FIXTURES/paths.c" "$FIXTURES/marks.c" -L. -lshared "-Wl,-rpath,$PWD" -o paths
  traced --out with.tsv ./paths
  [ "$(grep -P '^shared\t(?!-\t\[plt\])' with.tsv | cut -f 2,3 | sort -u)" = $'librte_one.c.o\tlocal\nlibrte_one.c.o\tshared_call' ]
  echo "no map" >libshared.so.map
  traced --out without.tsv ./paths
  [ "$(grep -P '\tshared_call\t' without.tsv | cut -f 2)" = - ]
  diff <(cut -f 1,3,4 with.tsv | sort) <(cut -f 1,3,4 without.tsv | sort)
}

@test "objects: without a map DWARF names the source, of gcc's and clang's code" {
  as --defsym EXTRA=0 "$FIXTURES/work.s" -o work.o
  for cc in gcc clang; do
    for flags in "-g" "-gdwarf-4 -ffunction-sections" "-gdwarf-5 -static"; do
      # shellcheck disable=SC2086 # flags are words
      $cc -O2 $flags -pthread "$FIXTURES/speaker.c" "$FIXTURES/marks.c" work.o -o program
      traced --send 'run 10' --out folded.tsv ./program
      [ "$(grep -P '\tfwd_timed_begin\t' folded.tsv)" = $'-\tmarks.c\tfwd_timed_begin\t1' ]
      [ "$(grep -P '\trun\t' folded.tsv | cut -f 1,2)" = $'-\tspeaker.c' ]
    done
  done
}

@test "commands: a wrapper that becomes the program is followed, -- ends the options" {
  loop program 10 1 0 ld
  traced -- env FOO=bar nice sh -c 'exec ./program'
  expect instructions 51
  PATH=$PWD:$PATH traced program
  expect instructions 51
}

@test "limits: --stop-at and --timeout end a trace that would not, and the program with it" {
  speaker
  traced --send 'run 10' ./speaker
  length=$(sed -n 's,^instructions=,,p' <<<"$output")
  traced --send 'run 10' --stop-at "$length" ./speaker
  refused 1 "was not reached within $((length - 1)) instructions" --send 'run 10' --stop-at $((length - 1)) ./speaker
  refused 1 "fwd_timed_end was not reached within 1000 instructions after fwd_timed_begin (now in " \
    --stop-at 1000 --send 'run 1000000' ./speaker
  refused 1 "main was not reached within 1 seconds after fwd_timed_begin" \
    --timeout 1 --end main --stop-at 1000000000 --send 'run 4000000000' ./speaker
  refused 1 "after 1 seconds 0 regions were traced and the program still runs" --timeout 1 sh -c 'echo $$ >child; exec sleep 100'
  run ! grep -q '^State:.[^ZX]' "/proc/$(cat child)/status"
}

@test "failures: what the program is or does wrong is one line and exit 1" {
  speaker
  refused 1 "speaker has no function fwd_timed_start, or no fwd_timed_end; is it stripped?" \
    --begin fwd_timed_start --send 'run 1' ./speaker
  refused 1 "has no function fwd_timed_begin, or no fwd_timed_stop" --end fwd_timed_stop --send 'run 1' ./speaker
  refused 1 "never came to fwd_timed_begin; does --send make it forward?" ./speaker
  refused 1 "the program ended inside a region; does main come after fwd_timed_begin?" --end main --send 'run 1' ./speaker
  refused 1 "speaker ended with status 3; see what it said above" --send 'run 1' ./speaker --status 3
  refused 1 "speaker died of signal 11; see what it said above" --send 'run 1' ./speaker --crash
  strip speaker
  refused 1 "has no function fwd_timed_begin" --send 'run 1' ./speaker
  cat >twins.c <<'CODE'
static __attribute__((noinline, used)) void fwd_timed_begin(void) { __asm__ volatile(""); }
void other(void) { fwd_timed_begin(); }
CODE
  speaker
  gcc -c twins.c -o twins.o
  gcc -O2 -pthread "$FIXTURES/speaker.c" "$FIXTURES/marks.c" work.o twins.o -o twins
  refused 2 "twins has several functions named fwd_timed_begin; name another" --send 'run 1' ./twins
}

@test "output: a file that cannot be written is an error, and no half file appears" {
  loop program 10 1 0 ld
  refused 2 "cannot write nowhere/folded.tsv" --out nowhere/folded.tsv ./program
  [ -c /dev/full ] || skip_or_fail "needs /dev/full"
  run bash -c "'$trace' ./program >/dev/full"
  [ "$status" -eq 1 ]
  one_line_error "cannot write"
  refused 1 "has no function nothing" --begin nothing --out folded.tsv ./program
  [ ! -e folded.tsv ]
}

# forever ARGUMENT...: starts ./speaker that runs until SIGTERM; its pid is in $pid.
forever() {
  ./speaker "$@" --forever 3>&- &
  pid=$!
  echo $pid >pid
  until grep -q usleep <(cat "/proc/$pid/syscall" 2>/dev/null; echo usleep); do sleep 0.1; done
}

# ends_well: the program is still there, obeys SIGTERM, and ends with its own status.
ends_well() {
  kill -0 "$pid"
  kill -TERM "$pid"
  local status=0
  wait "$pid" || status=$?
  : >pid
  [ "$status" -eq 7 ]
}

@test "--pid: regions of a running program are traced, and it goes on unharmed" {
  speaker
  for threads in 0 3; do
    forever --threads $threads
    traced --pid $pid --regions 6 --skip 2 --out folded.tsv
    expect regions 6
    [ "$(count folded.tsv work)" = 600 ]
    traced --pid $pid --regions 5 --begin work --end return
    expect instructions 50
    sleep 0.2
    grep -q '^TracerPid:	0$' "/proc/$pid/status"
    ends_well
  done
  refused 2 "there is no process" --pid "$pid" --regions 1
}

@test "--pid: a missing function, a limit, a timeout or SIGTERM lets the program go on" {
  speaker
  forever --threads 2
  refused 1 "has no function nothing" --pid $pid --regions 1 --begin nothing
  # threads that stand at the breakpoint while it is taken out go on before it
  for _ in {1..10}; do
    refused 1 "was not reached within 5 instructions" --pid $pid --regions 1 --stop-at 5 --begin work --end return
  done
  refused 1 "after 1 seconds 0 regions were traced" --pid $pid --regions 1 --timeout 1 --begin main --end return
  "$trace" --pid $pid --regions 1000000 --out folded.tsv 2>said 3>&- &
  tracer=$!
  sleep 1
  kill -TERM $tracer
  wait $tracer || true
  [ "$(cat said)" = "mppsdiff: interrupted; nothing is written" ]
  [ ! -e folded.tsv ]
  sleep 0.2
  ends_well
}

@test "interruption: SIGINT, SIGTERM and SIGKILL of trace leave no program behind" {
  speaker
  for signal in INT TERM KILL; do
    # a shell that is not interactive has its background jobs ignore SIGINT: env gives it back
    env --default-signal "$trace" --timeout 60 --out folded.tsv sh -c 'echo $$ >child; exec ./speaker --forever' 2>said 3>&- &
    tracer=$!
    until [ -s child ]; do sleep 0.1; done
    sleep 0.5
    kill -$signal $tracer
    status=0
    wait $tracer || status=$?
    [ "$status" -ne 0 ]
    sleep 0.3
    # a zombie has ended, whoever has to reap it
    if grep -q "^State:.[^ZX]" "/proc/$(cat child)/status" 2>/dev/null; then
      echo "SIG$signal left process $(cat child)" >&2
      kill -KILL "$(cat child)"
      false
    fi
    rm child
    [ ! -e folded.tsv ]
  done
  # one without a breakpoint would live on
  "$trace" sh -c 'echo $$ >child; exec sleep 100' 2>said 3>&- &
  tracer=$!
  until [ -s child ]; do sleep 0.1; done
  sleep 0.5
  kill -KILL $tracer
  wait $tracer || true
  sleep 0.3
  if grep -q "^State:.[^ZX]" "/proc/$(cat child)/status" 2>/dev/null; then
    kill -KILL "$(cat child)"
    false
  fi
}

@test "an unmodified testpmd: attached to, some bursts of its engine are counted, and it goes on" {
  local testpmd=${MPPSDIFF_TESTPMD:-} burst=64 regions=20 tries memory=(--in-memory)
  [ -n "$testpmd" ] && [ -n "$(nm "$testpmd" 2>/dev/null | awk '$3 == "pkt_burst_mac_swap"')" ] ||
    skip_or_fail "needs a testpmd that is not stripped: MPPSDIFF_TESTPMD=\$(reproducers/build --testpmd)/meson/app/dpdk-testpmd"
  has_hugepages 512 || memory=(--no-huge -m 512)
  mkfifo in
  "$testpmd" -l 0,1 --no-pci --no-telemetry "${memory[@]}" --file-prefix=trace --vdev=net_null0,size=60 --vdev=net_null1,size=60 -- \
    --burst=$burst --forward-mode=macswap --total-num-mbufs=8192 --auto-start -i <in >out 2>&1 3>&- &
  echo $! >pid
  exec {commands}>in
  for ((tries = 0; tries < 600; tries++)); do
    if grep -q 'packets/burst' out; then break; fi
    sleep 0.05
  done
  traced --pid "$(cat pid)" --regions $regions --skip 10 --begin pkt_burst_mac_swap --end return --packets $((regions * burst)) --out folded.tsv
  expect regions $regions
  # net_null always fills the burst: every burst executes the same instructions.
  [ $(($(count folded.tsv pkt_burst_mac_swap) % regions)) -eq 0 ]
  [ "$(count folded.tsv eth_null_rx)" -gt 0 ]
  printf 'stop\nquit\n' >&"$commands"
  exec {commands}>&-
  wait "$(cat pid)"
  rm pid
  grep -q 'Bye' out
}
