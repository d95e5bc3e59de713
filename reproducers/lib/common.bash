# shellcheck shell=bash
# SPDX-License-Identifier: BSD-3-Clause
#
# What every script of the kit shares: messages, undo, waiting, locks, the cache
# folder and hugepages. Functions only; sourcing it changes nothing.
#
# Exit status of the kit: 0 done, 1 a gate failed or something could not be built
# or run, 2 wrong usage, a bad data file or a missing requirement.
# Needs bash 4.4 or newer.

# --- messages -----------------------------------------------------------------

_say() { # TEXT: one line on stderr; an open progress line is wiped first
  if [[ -n ${_progress_open-} ]]; then
    printf '\r\033[K' >&2
    _progress_open=
  fi
  printf 'mppsdiff: %s\n' "$1" >&2
}

die() { # MESSAGE: wrong usage, bad data or a missing requirement; exit 2
  _say "$*"
  exit 2
}

fail() { # MESSAGE: something could not be built or run; exit 1
  _say "$*"
  exit 1
}

warn() { # MESSAGE
  _say "warning: $*"
}

note() { # MESSAGE
  _say "$*"
}

need_cmd() { # NAME PACKAGE: exit 2 unless the command NAME is there
  command -v -- "$1" >/dev/null 2>&1 ||
    die "the command $1 is missing; run reproducers/setup or install the package $2"
}

# For option loops: `--dpdk) need_value "$@"; dpdk=$2; shift 2 ;;`
# To accept --name=VALUE as well, begin the loop's body with
# `[[ $1 == --*=* ]] && set -- "${1%%=*}" "${1#*=}" "${@:2}"`.
need_value() { # OPTION [VALUE...]: exit 2 unless a value follows the option
  if (($# < 2)) || [[ -z $2 || $2 == --* ]]; then
    die "$1 needs a value; see --help"
  fi
}

in_range() { # OPTION VALUE MIN MAX: exit 2 unless VALUE is a whole number within
  [[ $2 =~ ^(0|[1-9][0-9]{0,8})$ ]] && (($2 >= $3 && $2 <= $4)) ||
    die "--$1 takes a whole number from $3 to $4, not '$2'"
}

# --- undo ---------------------------------------------------------------------

# The undo stack is one flat array: the words of a command, then their count, so
# that nothing has to be quoted or evaluated. A subshell has a stack of its own.
defer() { # COMMAND...: run it when this shell ends, last registered first
  _undo_arm
  _undo_stack+=("$@" "$#")
}

_undo_arm() { # installs the traps once a shell
  [[ ${_undo_owner-} == "$BASHPID" ]] && return 0
  _undo_owner=$BASHPID
  _undo_stack=()
  _undo_children=()
  trap _undo_run EXIT
  trap 'exit 129' HUP
  trap 'exit 130' INT
  trap 'exit 143' TERM
}

_undo_run() { # the EXIT trap: ends supervised commands, then undoes, keeps the status
  local status=$? count
  local -a command
  # A second Ctrl-C must not leave the machine half restored.
  trap '' HUP INT TERM
  trap - EXIT
  set +e
  if [[ -n ${_progress_open-} ]]; then
    printf '\n' >&2
  fi
  _end_groups "${_undo_children[@]}"
  while ((${#_undo_stack[@]})); do
    count=${_undo_stack[-1]}
    unset '_undo_stack[-1]'
    command=("${_undo_stack[@]: -count}")
    _undo_stack=("${_undo_stack[@]:0:${#_undo_stack[@]}-count}")
    # A subshell, so that an undo that exits does not stop the ones below it.
    ("${command[@]}")
  done
  exit "$status"
}

_end_groups() { # PGID...: TERM, up to five seconds of grace, KILL
  local pgid
  for pgid; do
    kill -TERM -- "-$pgid" 2>/dev/null
  done
  for pgid; do
    poll_until 5 _group_gone "$pgid" || kill -KILL -- "-$pgid" 2>/dev/null
    wait "$pgid" 2>/dev/null
  done
  return 0
}

_group_gone() { # PGID: no process of the group is left (a zombie counts as gone)
  local stat
  kill -0 -- "-$1" 2>/dev/null || return 0
  { read -r stat <"/proc/$1/stat"; } 2>/dev/null || return 1
  [[ ${stat##*) } == Z* ]]
}

# Bash handles a signal only after the foreground command has ended, so anything
# that takes long (a compile, a download, another step) goes through here: the
# command runs in a process group of its own, a signal ends that whole group at
# once, and if this shell is killed outright the kernel sends the command TERM.
# Keep it out of $(...), where the parent is the substitution's shell.
supervise() { # COMMAND...: an external command; its exit status; stdin is /dev/null
  local pid status=0 monitor=
  local -a child=("$@")
  _undo_arm
  if _has_pdeathsig; then
    child=(setpriv --pdeathsig TERM -- "$@")
  fi
  [[ $- == *m* ]] && monitor=yes
  set -m
  "${child[@]}" </dev/null &
  pid=$!
  [[ -n $monitor ]] || set +m
  _undo_children+=("$pid")
  wait "$pid" || status=$?
  unset '_undo_children[-1]'
  return "$status"
}

_has_pdeathsig() { # setpriv of util-linux before 2.33 lacks the option
  if [[ -z ${_pdeathsig-} ]]; then
    if setpriv --pdeathsig TERM -- true 2>/dev/null; then
      _pdeathsig=yes
    else
      _pdeathsig=no
    fi
  fi
  [[ $_pdeathsig == yes ]]
}

# The name comes back in a variable: in $(...) the folder would be undone at once.
temp_dir() { # VARIABLE [PARENT]: a fresh folder, removed when this shell ends
  local _temp_dir_path
  _temp_dir_path=$(mktemp -d "${2:-${TMPDIR:-/tmp}}/mppsdiff.XXXXXX") ||
    die "cannot create a temporary folder in ${2:-${TMPDIR:-/tmp}}; set TMPDIR to a writable one"
  defer rm -rf -- "$_temp_dir_path"
  printf -v "$1" '%s' "$_temp_dir_path"
}

kill_quietly() { # PID: of a child of this shell; it has ended on return
  kill "$1" 2>/dev/null || true
  wait "$1" 2>/dev/null || true
}

# --- waiting and progress -----------------------------------------------------

poll_until() { # SECONDS COMMAND...: until it succeeds; 1 when the time is over
  local deadline=$((SECONDS + $1))
  shift
  until "$@"; do
    ((SECONDS <= deadline)) || return 1
    sleep 0.05
  done
}

human_time() { # SECONDS: e.g. "40 s", "3 min 20 s", "2 h 5 min"
  local s=$1
  if ((s < 60)); then
    printf '%d s' "$s"
  elif ((s < 3600)); then
    printf '%d min %d s' $((s / 60)) $((s % 60))
  else
    printf '%d h %d min' $((s / 3600)) $((s % 3600 / 60))
  fi
}

progress() { # LABEL DONE TOTAL: one line that redraws itself; silent without a terminal
  local label=$1 total=$3 elapsed line left
  local -i done_now=$2
  [[ -t 2 ]] || return 0
  ((total > 0)) || return 0
  declare -gA _progress_from
  if [[ -z ${_progress_from[$label]-} ]]; then
    _progress_from[$label]="$SECONDS $done_now"
  fi
  elapsed=$((SECONDS - ${_progress_from[$label]% *}))
  # The pace counts only what was done since the first call: resumed work is free.
  left=$((done_now - ${_progress_from[$label]#* }))
  printf -v line '%s: %d of %d (%d %%)' "$label" "$done_now" "$total" \
    $((100 * done_now / total))
  if ((done_now >= total)); then
    line+=", took $(human_time "$elapsed")"
  elif ((left > 0 && elapsed > 0)); then
    line+=", about $(human_time $((elapsed * (total - done_now) / left))) left"
  fi
  printf '\r\033[K%.79s' "$line" >&2
  _progress_open=yes
  if ((done_now >= total)); then
    printf '\n' >&2
    _progress_open=
    _progress_from[$label]=
  fi
  return 0
}

# --- files --------------------------------------------------------------------

kit_root() { # prints the absolute path of the project's folder
  (CDPATH='' cd -P -- "${BASH_SOURCE[0]%/*}/../.." && pwd -P)
}

# objects_root BUILD: the folder to which a build's archives, members and objects are relative.
objects_root() {
  if [ -d "$1/make" ]; then printf '%s/make\n' "$1"; else printf '%s/meson\n' "$1"; fi
}

archives_root() { # BUILD: the folder to which its archives are relative; those of a shared build serve the proof alone
  if [ -d "$1/shared" ]; then printf '%s/shared\n' "$1"; else objects_root "$1"; fi
}

binary_libraries() { # BINARY: the shared libraries reproducers/link put beside it, in link order; none of a static one
  [ ! -f "$1.libs/order" ] || sed "s#^#$1.libs/#" "$1.libs/order"
}

identity_value() { # BUILD KEY: what the folder that reproducers/build printed says of itself
  sed -n "s/^$2=//p" "$1/identity"
}

# same_mode BUILD BUILD: whether the same build system made both: meson, make, or make replayed.
same_mode() {
  [[ $(identity_value "$1" mode 2>/dev/null) == "$(identity_value "$2" mode 2>/dev/null)" ]]
}

# library_archive BUILD LIBRARY: its archive's path; empty when the build has none.
library_archive() {
  sed -n "s#^\(.*/lib$2\.a\)\$#$(archives_root "$1")/\1#p" "$1/archives"
}

# source_names BUILD: what every object is called after its source, which build systems agree on: library, object,
# name; the objects without their folders.
source_names() {
  awk -F '\t' -v OFS='\t' '
    function last(path) { sub(/.*\//, "", path); return path }
    FILENAME == ARGV[1] { source[$1] = last($2) ".o"; next }
    { library = last($1); sub(/^lib/, "", library); sub(/\.a$/, "", library); print library, last($2), ($2 in source) ? source[$2] : last($2) }
  ' "$1/commands.tsv" "$1/members"
}

# archive_by_source BUILD LIBRARY FOLDER: a copy of the library's archive in which objects have those names; prints
# its path, nothing when the build has no such library.
archive_by_source() {
  local object name root archive
  archive=$(library_archive "$1" "$2")
  [[ -f $archive ]] || return 0
  root=$(objects_root "$1")
  rm -rf "${3:?}" && mkdir "$3"
  while IFS=$'\t' read -r object name; do
    cp -f "$object" "$3/$name"
  done < <(paste <(cut -f2 "$1/members" | sed "s#^#$root/#") <(source_names "$1") | awk -F '\t' -v OFS='\t' -v library="$2" '$2 == library { print $1, $4 }')
  (cd "$3" && ar cr "lib$2.a" ./*.o) && printf '%s/lib%s.a\n' "$3" "$2"
}

# build_macros BUILD: its RTE_ constants as the compiler sees them, whatever file or option they come from: name
# and value, sorted.
build_macros() {
  local -a flags
  mapfile -t flags <"$1/cflags"
  "$(identity_value "$1" cc_path)" "${flags[@]}" -dM -E -x c /dev/null |
    sed -n -e '/ RTE_EAL_PMD_PATH /d' -e 's/ *$//' -e 's/^#define \(RTE_[^ ]*\)$/\1 (empty)/p' -e 's/^#define \(RTE_\)/\1/p' | LC_ALL=C sort
}

# As the XDG base directory specification has it: a relative XDG_CACHE_HOME does
# not count; private, because archives and binaries made from it are executed.
cache_dir() { # prints the kit's cache folder, created when missing
  local base=${XDG_CACHE_HOME-} dir reason
  if [[ $base != /* ]]; then
    # An unset HOME (services, cron) leaves ~ to the passwd entry.
    [[ -n ${HOME-} ]] || unset HOME
    base=~/.cache
  fi
  dir=$base/mppsdiff
  if [[ ! -d $dir ]]; then
    reason=$(umask 077 && LC_ALL=C mkdir -p -- "$dir" 2>&1) ||
      die "cannot create the cache folder $dir (${reason##*: }); set XDG_CACHE_HOME to a writable one"
  fi
  [[ -w $dir && -x $dir ]] ||
    die "the cache folder $dir is not writable; give it back to $(id -un) or set XDG_CACHE_HOME to another one"
  printf '%s\n' "$dir"
}

# The command inherits the lock: a build that outlives its killed script still
# keeps others out of its folder until it ends. Errexit stays in force inside.
with_lock() { # FILE COMMAND...: runs it here while holding FILE's lock; its status
  local _lock_file=$1 _lock_fd _lock_status=0 _lock_holder=
  shift
  need_cmd flock util-linux
  { exec {_lock_fd}>>"$_lock_file"; } 2>/dev/null ||
    die "cannot write the lock file $_lock_file; check the folder's owner and free space"
  if ! flock -n "$_lock_fd"; then
    if [[ -t 2 ]]; then
      read -r _lock_holder <"$_lock_file" || true
      note "waiting for ${_lock_holder:-another run} to release $_lock_file"
    fi
    # A second at a time, so that a signal to this shell is seen.
    until flock -w 1 "$_lock_fd"; do :; done
  fi
  printf 'process %d (%s)\n' "$$" "${0##*/}" >"$_lock_file"
  "$@"
  _lock_status=$?
  exec {_lock_fd}>&-
  return "$_lock_status"
}

json_string() { # TEXT: prints it as a JSON string
  jq -cn --arg text "$1" '$text'
}

# --- hugepages ----------------------------------------------------------------

# State shared by runs on one machine, guarded by a lock:
#   claim.PID.START.N   a live shell's pages; START tells a reused PID from the old one
#   base                "ORIGINAL USED SET STATE": the pool before the first claim,
#                       what others used of it then, the size that was set last, and
#                       whether that was reached ("set") or was on its way ("growing")
# The last one out restores ORIGINAL. A run that was killed leaves a stale claim,
# which the next one removes first. A pool that somebody else has resized since
# (it is no longer SET) is left as they want it.
_hugepages_paths() {
  local kb=2048 pools=${MPPSDIFF_HUGEPAGES_DIR:-/sys/kernel/mm/hugepages}
  if [[ ! -d $pools/hugepages-${kb}kB ]]; then
    kb=$(awk '$1 == "Hugepagesize:" { print $2 }' /proc/meminfo)
  fi
  _hp_kb=${kb:-2048}
  _hp_pool=$pools/hugepages-${_hp_kb}kB
  _hp_state=${MPPSDIFF_RUN_DIR:-/run/mppsdiff}/hugepages
}

_hugepages_size_name() { # "2 MB", "64 kB", "1 GB"
  if ((_hp_kb >= 1048576)); then
    printf '%d GB' $((_hp_kb / 1048576))
  elif ((_hp_kb >= 1024)); then
    printf '%d MB' $((_hp_kb / 1024))
  else
    printf '%d kB' "$_hp_kb"
  fi
}

_process_start() { # PID: prints its start time in clock ticks since boot
  local stat fields
  { read -r stat <"/proc/$1/stat"; } 2>/dev/null || return 1
  # The command's name, in brackets, may hold anything: count from its end.
  read -ra fields <<<"${stat##*) }"
  printf '%s\n' "${fields[19]}"
}

_hugepages_sum_claims() { # drops stale claims; sets _hp_claimed and _hp_claims
  local file pid start pages
  _hp_claimed=0
  _hp_claims=0
  for file in "$_hp_state"/claim.*; do
    [[ -e $file ]] || continue
    IFS=. read -r pid start _ <<<"${file##*/claim.}"
    if [[ $(_process_start "$pid") != "$start" ]]; then
      rm -f -- "$file"
      continue
    fi
    read -r pages <"$file" || pages=0
    _hp_claimed=$((_hp_claimed + pages))
    _hp_claims=$((_hp_claims + 1))
  done
}

_hugepages_set() { # PAGES: 1 when the kernel did not give them all
  local now tries
  for tries in 1 2 3; do
    { printf '%d\n' "$1" >"$_hp_pool/nr_hugepages"; } 2>/dev/null || return 1
    read -r now <"$_hp_pool/nr_hugepages"
    ((now >= $1)) && return 0
    # Fragmented memory: ask for compaction, then once more.
    if ((tries < 3)); then
      { printf '1\n' >/proc/sys/vm/compact_memory; } 2>/dev/null || true
      sleep 0.2
    fi
  done
  return 1
}

_hugepages_settle() { # after claims went: restores the pool when nobody is left
  local original used set_to state now
  _hugepages_sum_claims
  ((_hp_claims == 0)) || return 0
  [[ -s $_hp_state/base ]] || return 0
  read -r original used set_to state <"$_hp_state/base"
  read -r now <"$_hp_pool/nr_hugepages"
  if ((now > original)) &&
    { ((now == set_to)) || [[ $state == growing && now -lt set_to ]]; }; then
    _hugepages_set "$original" || true
  fi
  rm -f -- "$_hp_state/base"
}

_hugepages_note_base() { # ORIGINAL USED SET STATE: by rename, never half written
  { printf '%s\n' "$*" >"$_hp_state/base.new"; } 2>/dev/null &&
    mv -f -- "$_hp_state/base.new" "$_hp_state/base"
}

_hugepages_claim() { # PAGES FILE, under the lock: sets HUGEPAGES_REASON on failure
  local need=$1 total free reserved original used set_to target others
  _hugepages_settle
  read -r total <"$_hp_pool/nr_hugepages"
  read -r free <"$_hp_pool/free_hugepages"
  read -r reserved <"$_hp_pool/resv_hugepages"
  used=$((total - free + reserved))
  original=$total
  set_to=$total
  _hp_before=$total
  _hp_now=$total
  if [[ -s $_hp_state/base ]]; then
    read -r original others set_to _ <"$_hp_state/base"
    # What other programs hold now is at least what our claims cannot explain.
    ((used - _hp_claimed > others)) && others=$((used - _hp_claimed))
    used=$others
  fi
  target=$((used + _hp_claimed + need))
  if ((target > total)); then
    # Recorded before the change: a run killed in between is repaired as well.
    if ! _hugepages_note_base "$original" "$used" "$target" growing; then
      HUGEPAGES_REASON="cannot write $_hp_state"
      return 1
    fi
    if ! _hugepages_set "$target"; then
      read -r free <"$_hp_pool/nr_hugepages"
      _hugepages_set "$total" || true
      _hugepages_note_base "$original" "$used" "$total" set || true
      _hugepages_settle
      HUGEPAGES_REASON="the kernel gave $((free - total)) of $((target - total)) more hugepages"
      return 1
    fi
    set_to=$target
    _hp_now=$target
  fi
  _hugepages_note_base "$original" "$used" "$set_to" set || true
  if ! { printf '%d\n' "$need" >"$2"; } 2>/dev/null; then
    HUGEPAGES_REASON="cannot write $_hp_state"
    return 1
  fi
}

_hugepages_release() { # FILE, under the lock
  rm -f -- "$1"
  _hugepages_settle
}

# Claims add up, within a run and with those of other runs; this one is given back
# when the calling shell ends, so do not call it in $(...).
# MPPSDIFF_HUGEPAGES_DIR and MPPSDIFF_RUN_DIR are for the tests.
hugepages_reserve() { # MEGABYTES: 0 and HUGEPAGES_RESULT, or 1 and HUGEPAGES_REASON
  local need name claim shell=$BASHPID
  HUGEPAGES_REASON=
  HUGEPAGES_RESULT=
  _hugepages_paths
  need=$((($1 * 1024 + _hp_kb - 1) / _hp_kb))
  name=$(_hugepages_size_name)
  if [[ ! -r $_hp_pool/nr_hugepages ]]; then
    HUGEPAGES_REASON="this kernel has no hugepages of $name"
  elif ((EUID != 0)); then
    HUGEPAGES_REASON="reserving hugepages takes root"
  elif [[ ! -w $_hp_pool/nr_hugepages ]]; then
    HUGEPAGES_REASON="$_hp_pool/nr_hugepages is read-only here"
  elif ! (umask 022 && mkdir -p -- "$_hp_state") 2>/dev/null; then
    HUGEPAGES_REASON="cannot create $_hp_state"
  fi
  [[ -z $HUGEPAGES_REASON ]] || return 1
  _hp_calls=$((${_hp_calls:-0} + 1))
  claim=$_hp_state/claim.$shell.$(_process_start "$shell").$_hp_calls
  defer with_lock "$_hp_state/lock" _hugepages_release "$claim"
  with_lock "$_hp_state/lock" _hugepages_claim "$need" "$claim" || return 1
  # shellcheck disable=SC2034 # for the caller
  HUGEPAGES_RESULT="reserved $need x $name"
  if ((_hp_now > _hp_before)); then
    note "hugepages: $need x $name reserved (the pool had $_hp_before, has $_hp_now); given back at the end"
  else
    note "hugepages: $need x $name reserved from the $_hp_now there are"
  fi
}

# What a killed run left reserved goes back even if this run needs none.
hugepages_repair() { # restores the pool after a run that was killed; never fails
  _hugepages_paths
  if ((EUID == 0)) && [[ -s $_hp_state/base ]]; then
    with_lock "$_hp_state/lock" _hugepages_settle || true
  fi
}
