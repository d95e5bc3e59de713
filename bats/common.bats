# SPDX-License-Identifier: BSD-3-Clause
# reproducers/lib/common.bash: messages, undo, waiting, locks, cache folder, hugepages.

setup() {
  load helpers
  lib=$KIT/reproducers/lib/common.bash
  cd "$BATS_TEST_TMPDIR" || exit 1
}

# script TEXT: writes ./script, a strict bash script that begins with the library.
script() {
  printf '#!/usr/bin/env bash\nset -euo pipefail\n. "%s"\n%s\n' "$lib" "$1" >script
  chmod +x script
}

# start: ./script in the background with its output in ./out; its process id in $pid.
# Bash starts plain background jobs with SIGINT ignored, which a script cannot undo.
start() {
  : >out
  env --default-signal setsid ./script >out 2>&1 3>&- &
  pid=$!
}

# wait_for TEXT: until ./out has it, at most a minute.
wait_for() {
  local tries
  for ((tries = 0; tries < 1200; tries++)); do
    if grep -qF -- "$1" out; then return 0; fi
    sleep 0.05
  done
  printf 'never printed "%s":\n' "$1" >&2
  cat out >&2
  return 1
}

# ended: waits a minute at most for the process of start; its exit status in $status.
ended() {
  gone "$pid"
  status=0
  wait "$pid" || status=$?
}

# gone PID: the process ends within a minute (a zombie counts).
gone() {
  local tries stat
  for ((tries = 0; tries < 1200; tries++)); do
    stat=$(cat "/proc/$1/stat" 2>/dev/null) || return 0
    [[ ${stat##*) } != Z* ]] || return 0
    sleep 0.05
  done
  printf 'process %s is still there\n' "$1" >&2
  return 1
}

# fake_pool TOTAL FREE: a hugepage pool of 2 MB pages made of plain files.
fake_pool() {
  export MPPSDIFF_HUGEPAGES_DIR=$BATS_TEST_TMPDIR/pool MPPSDIFF_RUN_DIR=$BATS_TEST_TMPDIR/run
  pool=$MPPSDIFF_HUGEPAGES_DIR/hugepages-2048kB
  mkdir -p "$pool"
  echo "$1" >"$pool/nr_hugepages"
  echo "$2" >"$pool/free_hugepages"
  echo 0 >"$pool/resv_hugepages"
}

@test "sourcing the library prints nothing and only defines functions" {
  run bash -c 'a=$(set -o; shopt; trap); . "$1"; b=$(set -o; shopt; trap); [ "$a" = "$b" ]' _ "$lib"
  [ "$status" -eq 0 ]
  [ -z "$output" ]
}

@test "die is one line and exit 2, fail is exit 1, warn and note go on" {
  script 'die "bad value; give another"'
  run ./script
  [ "$status" -eq 2 ]
  [ "$output" = 'mppsdiff: bad value; give another' ]
  script 'fail "cannot link"'
  run ./script
  [ "$status" -eq 1 ]
  [ "$output" = 'mppsdiff: cannot link' ]
  script 'warn "slow"; note "done"; echo on'
  run --separate-stderr ./script
  [ "$status" -eq 0 ]
  [ "$output" = on ]
  [ "$stderr" = $'mppsdiff: warning: slow\nmppsdiff: done' ]
}

@test "need_cmd names the command and the package" {
  script 'need_cmd bash bash; need_cmd no-such-tool some-package'
  run ./script
  [ "$status" -eq 2 ]
  one_line_error no-such-tool
  one_line_error some-package
}

@test "need_value wants a value that is not an option" {
  script 'need_value --dpdk 22.11; need_value --seed -1; echo fine; need_value "$@"'
  run ./script --dpdk
  [ "$status" -eq 2 ]
  [[ $output == *fine*'--dpdk needs a value'* ]]
  run ./script --dpdk --offline
  [ "$status" -eq 2 ]
  run ./script --dpdk ''
  [ "$status" -eq 2 ]
}

@test "defer runs in reverse, keeps arguments whole, evaluates nothing" {
  script 'defer printf "<%s>\n" first "a  b" "" "\$(touch evil)" "*"
defer printf "<%s>\n" second
echo body'
  run ./script
  [ "$status" -eq 0 ]
  [ "$output" = $'body\n<second>\n<first>\n<a  b>\n<>\n<$(touch evil)>\n<*>' ]
  [ ! -e evil ]
}

@test "an undo that fails or exits stops neither the others nor the exit status" {
  script 'defer echo last; defer false; defer eval "exit 9"; exit 7'
  run ./script
  [ "$status" -eq 7 ]
  [ "$output" = last ]
}

@test "a subshell has an undo stack of its own" {
  script 'defer echo outer; (defer echo inner; echo in); echo out'
  run ./script
  [ "$output" = $'in\ninner\nout\nouter' ]
}

@test "errexit still undoes and keeps the status" {
  script 'defer echo undone; (exit 5)'
  run ./script
  [ "$status" -eq 5 ]
  [ "$output" = undone ]
}

@test "INT, TERM and HUP undo and exit 130, 143, 129" {
  local pair
  script 'defer echo undone; echo ready; for ((;;)); do sleep 0.1; done'
  for pair in INT:130 TERM:143 HUP:129; do
    start
    wait_for ready
    kill -s "${pair%:*}" "$pid"
    ended
    [ "$status" -eq "${pair#*:}" ]
    [ "$(tail -n 1 out)" = undone ]
  done
}

@test "supervise passes the status and output through" {
  script 'supervise sh -c "echo hello; exit 3" || echo "status $?"'
  run ./script
  [ "$status" -eq 0 ]
  [ "$output" = $'hello\nstatus 3' ]
}

@test "a signal ends a supervised command with its children at once, then undoes" {
  script 'defer echo undone
supervise sh -c "sleep 60 & echo \$! >child; echo ready; sleep 60"'
  start
  wait_for ready
  SECONDS=0
  kill -TERM "$pid"
  ended
  [ "$status" -eq 143 ]
  [ "$SECONDS" -lt 50 ]
  [ "$(tail -n 1 out)" = undone ]
  gone "$(cat child)"
}

@test "a supervised command that ignores TERM is killed" {
  script 'supervise sh -c "trap : TERM; echo \$\$ >child; echo ready; while :; do sleep 0.1; done"'
  start
  wait_for ready
  kill -TERM "$pid"
  gone "$pid" || { kill -KILL "$(cat child)" "$pid"; return 1; }
  ended
  [ "$status" -eq 143 ]
  gone "$(cat child)"
}

@test "after SIGKILL of the script its supervised command is ended" {
  setpriv --pdeathsig TERM -- true 2>/dev/null || skip_or_fail "setpriv has no --pdeathsig: util-linux 2.33 or newer"
  script 'supervise sh -c "echo \$\$ >child; echo ready; exec sleep 60"'
  start
  wait_for ready
  kill -KILL "$pid"
  gone "$(cat child)"
}

@test "temp_dir makes a folder that goes at the end, also with spaces in the path" {
  mkdir 'with space'
  script 'temp_dir where "$PWD/with space"; [ -d "$where" ]; touch "$where/file"; echo "$where"'
  run ./script
  [ "$status" -eq 0 ]
  [[ $output == *'/with space/mppsdiff.'* ]]
  [ ! -e "$output" ]
}

@test "poll_until waits for success and gives up after its time" {
  script '(sleep 0.3; touch there) & poll_until 10 test -e there && echo found
poll_until 0 false || echo gave up'
  run ./script
  [ "$status" -eq 0 ]
  [ "$output" = $'found\ngave up' ]
}

@test "human_time" {
  script 'human_time 59; echo; human_time 200; echo; human_time 7500'
  run ./script
  [ "$output" = $'59 s\n3 min 20 s\n2 h 5 min' ]
}

@test "progress is silent without a terminal" {
  script 'progress build 1 3; progress build 3 3'
  run ./script
  [ "$status" -eq 0 ]
  [ -z "$output" ]
}

@test "progress on a terminal shows what is done and ends its line; messages wipe it" {
  require_cmd script
  script 'progress build 0 4; sleep 1.1; progress build 1 4; note hello; progress build 4 4'
  run command script -qec ./script /dev/null </dev/null
  [ "$status" -eq 0 ]
  [[ $output == *'build: 1 of 4 (25 %), about '*' left'* ]]
  [[ $output == *$'\r\033[Kmppsdiff: hello'* ]]
  [[ $output == *'build: 4 of 4 (100 %), took '* ]]
}

@test "cache_dir follows XDG_CACHE_HOME, else HOME, and is private" {
  script 'umask 022; cache_dir'
  XDG_CACHE_HOME="$PWD/a b" run ./script
  [ "$status" -eq 0 ]
  [ "$output" = "$PWD/a b/mppsdiff" ]
  [ "$(stat -c %a "$output")" = 700 ]
  XDG_CACHE_HOME=relative HOME=$PWD/home run ./script
  [ "$status" -eq 0 ]
  [ "$output" = "$PWD/home/.cache/mppsdiff" ]
}

@test "an unusable cache folder is one line and exit 2" {
  script 'cache_dir'
  touch file
  XDG_CACHE_HOME=$PWD/file run ./script
  [ "$status" -eq 2 ]
  one_line_error 'cannot create the cache folder'
  one_line_error XDG_CACHE_HOME
}

@test "an unwritable cache folder is one line and exit 2" {
  require_root
  require_cmd setpriv
  mkdir -p cache/mppsdiff
  chmod 755 . cache cache/mppsdiff "$BATS_RUN_TMPDIR" "${BATS_TEST_TMPDIR%/*}"
  # As nobody, who must be able to read the library.
  cp "$lib" library.bash
  run setpriv --reuid 65534 --regid 65534 --clear-groups env XDG_CACHE_HOME="$PWD/cache" \
    bash -c '. ./library.bash; cache_dir'
  [ "$status" -eq 2 ]
  one_line_error 'is not writable'
}

@test "with_lock: the second waits for the first, the status comes back" {
  script 'with_lock lock sh -c "echo \"$1 in\" >>order; sleep 0.5; echo \"$1 out\" >>order; exit 4"'
  ./script a 3>&- &
  sleep 0.2
  run ./script b
  [ "$status" -eq 4 ]
  wait || true
  [ "$(cat order)" = $'a in\na out\nb in\nb out' ] || [ "$(cat order)" = $'b in\nb out\na in\na out' ]
}

@test "with_lock says on a terminal whom it waits for" {
  require_cmd script
  script 'with_lock lock sleep 2'
  start
  sleep 0.5
  script 'with_lock lock true'
  run command script -qec ./script /dev/null </dev/null
  [ "$status" -eq 0 ]
  [[ $output == *"waiting for process $pid (script)"* ]]
  wait "$pid"
}

@test "with_lock: a lock that cannot be written is one line and exit 2" {
  script 'with_lock no/such/lock true'
  run ./script
  [ "$status" -eq 2 ]
  one_line_error no/such/lock
}

@test "a lock is free again after SIGKILL" {
  script 'with_lock lock sh -c "echo ready; read -r x <fifo"'
  mkfifo fifo
  start
  wait_for ready
  kill -KILL "$pid"
  # The command held it too; with it goes the lock.
  echo >fifo
  script 'with_lock lock echo mine'
  run timeout 60 ./script
  [ "$status" -eq 0 ]
  [ "$output" = mine ]
}

@test "kit_root and json_string" {
  require_cmd jq
  script 'kit_root; json_string "a \"b\" \\ c"; json_string ""'
  run ./script
  [ "$status" -eq 0 ]
  [ "$output" = "$(cd -P "$KIT" && pwd -P)"$'\n"a \\"b\\" \\\\ c"\n""' ]
}

@test "hugepages: enough free ones are claimed without touching the pool" {
  require_root
  fake_pool 100 100
  script 'hugepages_reserve 100; echo "$HUGEPAGES_RESULT"; cat "$MPPSDIFF_HUGEPAGES_DIR"/*/nr_hugepages'
  run ./script
  [ "$status" -eq 0 ]
  [[ $output == *$'reserved 50 x 2 MB\n100' ]]
  [ "$(cat "$pool/nr_hugepages")" = 100 ]
}

@test "hugepages: the missing ones are added and given back" {
  require_root
  fake_pool 100 30
  script 'hugepages_reserve 201; cat "$MPPSDIFF_HUGEPAGES_DIR"/*/nr_hugepages; exit 3'
  run ./script
  [ "$status" -eq 3 ]
  # 70 in use by others and 101 for this run.
  [ "${lines[-1]}" = 171 ]
  [ "$(cat "$pool/nr_hugepages")" = 100 ]
  [ -z "$(ls "$MPPSDIFF_RUN_DIR/hugepages" | grep -v '^lock$')" ]
}

@test "hugepages: two runs at once add up, the last one out restores" {
  require_root
  fake_pool 10 10
  script 'hugepages_reserve 100; echo ready; read -r x <fifo; echo left'
  mkfifo fifo
  start
  wait_for ready
  [ "$(cat "$pool/nr_hugepages")" = 50 ]
  run bash -c 'set -e; . "$1"; hugepages_reserve 40; cat "$2"' _ "$lib" "$pool/nr_hugepages"
  [ "$status" -eq 0 ]
  [ "${lines[-1]}" = 70 ]
  # The first still runs: nothing is taken from it.
  [ "$(cat "$pool/nr_hugepages")" = 70 ]
  echo >fifo
  wait "$pid"
  [ "$(cat "$pool/nr_hugepages")" = 10 ]
}

@test "hugepages: two claims of one run add up" {
  require_root
  fake_pool 0 0
  script 'hugepages_reserve 20; hugepages_reserve 10; cat "$MPPSDIFF_HUGEPAGES_DIR"/*/nr_hugepages'
  run ./script
  [ "${lines[-1]}" = 15 ]
  [ "$(cat "$pool/nr_hugepages")" = 0 ]
}

@test "hugepages: what a killed run left is given back by the next" {
  require_root
  fake_pool 10 10
  mkfifo fifo
  script 'hugepages_reserve 100; echo ready; read -r x <fifo'
  start
  wait_for ready
  kill -KILL "$pid"
  gone "$pid"
  [ "$(cat "$pool/nr_hugepages")" = 50 ]
  run bash -c '. "$1"; hugepages_repair' _ "$lib"
  [ "$status" -eq 0 ]
  [ "$(cat "$pool/nr_hugepages")" = 10 ]
}

@test "hugepages: a pool that somebody has resized meanwhile stays as it is" {
  require_root
  fake_pool 10 10
  script 'hugepages_reserve 100; echo 33 >"$MPPSDIFF_HUGEPAGES_DIR/hugepages-2048kB/nr_hugepages"'
  run ./script
  [ "$status" -eq 0 ]
  [ "$(cat "$pool/nr_hugepages")" = 33 ]
}

@test "hugepages: a pool that does not grow is a reason, not an error" {
  require_root
  # A file of the kernel that refuses what is written to it: this one stops at 1000.
  fake_pool 0 0
  ln -sf /proc/self/oom_score_adj "$pool/nr_hugepages"
  script 'hugepages_reserve 4000 || echo "reason: $HUGEPAGES_REASON"'
  run ./script
  [ "$status" -eq 0 ]
  [ "$output" = 'reason: the kernel gave 0 of 2000 more hugepages' ]
}

@test "hugepages: without root there is a reason" {
  require_root
  require_cmd setpriv
  fake_pool 10 10
  chmod -R a+rX . "$BATS_RUN_TMPDIR" "${BATS_TEST_TMPDIR%/*}"
  cp "$lib" library.bash
  run setpriv --reuid 65534 --regid 65534 --clear-groups \
    bash -c '. ./library.bash; hugepages_reserve 2 || echo "$? $HUGEPAGES_REASON"'
  [ "$status" -eq 0 ]
  [[ $output == '1 '*root* ]]
}

@test "hugepages: the kernel's own pool grows and shrinks again" {
  require_root
  local before free
  pool=/sys/kernel/mm/hugepages/hugepages-2048kB
  [ -w "$pool/nr_hugepages" ] || skip_or_fail "the kernel's hugepage pool is read-only here: run on the host"
  # A state folder of its own: runs that are under way keep theirs.
  export MPPSDIFF_RUN_DIR=$PWD/run
  before=$(cat "$pool/nr_hugepages")
  free=$(cat "$pool/free_hugepages")
  script "hugepages_reserve $(((free + 4) * 2)) && cat $pool/nr_hugepages"
  run ./script
  [ "$status" -eq 0 ] || skip_or_fail "the kernel has no memory for four more hugepages"
  [ "${lines[-1]}" -gt "$before" ]
  [ "$(cat "$pool/nr_hugepages")" -eq "$before" ]
}
