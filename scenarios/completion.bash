# shellcheck shell=bash
# SPDX-License-Identifier: BSD-3-Clause
# Completion of the scenario runner for bash, `scenarios/NAME/run`:
#
#   source scenarios/completion.bash
#
# Options come from the usage in run.bash and names from the data files, both read as text when the key is
# pressed, so there is no list here that could age; nothing is run. Commands called `run` that belong to something else
# get what bash does without it.

_mppsdiff_kit=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)

# _mppsdiff_options: every option, those that take a value with "=".
_mppsdiff_options() {
  sed -n 's/^  \(--[a-z-]*\)\(=\{0,1\}\).*/\1\2/p' "$_mppsdiff_kit/scenarios/run.bash"
}

# _mppsdiff_known OPTION: the names that run.bash's own complaint about OPTION lists.
_mppsdiff_known() {
  sed -n "s/.*die \"unknown ${1#--} '[^']*'; known: \([a-z ]*\)\".*/\1/p" "$_mppsdiff_kit/scenarios/run.bash"
}

# _mppsdiff_names FOLDER: the data files of a folder.
_mppsdiff_names() {
  local file
  for file in "$_mppsdiff_kit/reproducers/$1"/*.conf; do
    file=${file##*/}
    printf '%s\n' "${file%.conf}"
  done
}

# _mppsdiff_compilers: what is installed here.
_mppsdiff_compilers() {
  compgen -c | grep -xE '(gcc|clang)(-[0-9]+)?' | sort -u
}

# _mppsdiff_keys: keys of a variant's data file.
_mppsdiff_keys() {
  sed -n "/^VARIANT_KEYS=(/,/^)/s/^ *'\([a-z_]*\):.*/\1=/p" "$_mppsdiff_kit/reproducers/lib/variant.bash"
}

# _mppsdiff_events: the counters of --perf-events.
_mppsdiff_events() {
  printf '%s\n' none cycles instructions branches branch-misses cache-misses L1-icache-load-misses L1-dcache-load-misses \
    iTLB-load-misses dTLB-load-misses page-faults context-switches task-clock
}

# _mppsdiff_list WORD CANDIDATE...: completes the last name of a comma-separated list.
_mppsdiff_list() {
  local word=$1 before='' candidate
  shift
  case $word in *,*) before=${word%,*}, ;; esac
  for candidate; do
    case ,$before in *",$candidate,"*) continue ;; esac
    [[ $before$candidate != "$word"* ]] || COMPREPLY+=("$before$candidate")
  done
}

# _mppsdiff_value OPTION WORD: candidates for the value of an option.
_mppsdiff_value() {
  local -a names=()
  case $1 in
    --a | --b)
      mapfile -t names < <(_mppsdiff_keys)
      mapfile -t COMPREPLY < <(compgen -W "${names[*]}" -- "$2")
      compopt -o nospace 2>/dev/null
      ;;
    --baseline)
      mapfile -t names < <(_mppsdiff_names variants)
      mapfile -t COMPREPLY < <(compgen -W "${names[*]}" -- "$2")
      ;;
    --variants)
      mapfile -t names < <(_mppsdiff_names variants)
      _mppsdiff_list "$2" all "${names[@]}"
      ;;
    --cc)
      mapfile -t names < <(_mppsdiff_compilers)
      _mppsdiff_list "$2" "${names[@]}"
      ;;
    --device | --forwarder) mapfile -t COMPREPLY < <(compgen -W "$(_mppsdiff_known "$1")" -- "$2") ;;
    --linker)
      IFS=' ' read -r -a names <<<"$(_mppsdiff_known "$1")"
      _mppsdiff_list "$2" "${names[@]}"
      ;;
    --dpdk)
      mapfile -t names < <(_mppsdiff_names sources)
      mapfile -t COMPREPLY < <(compgen -W "distro ${names[*]}" -- "$2"; compgen -f -- "$2")
      ;;
    --perf-events)
      mapfile -t names < <(_mppsdiff_events)
      _mppsdiff_list "$2" "${names[@]}"
      ;;
    --results) mapfile -t COMPREPLY < <(compgen -d -- "$2") ;;
    --junit | --summary) mapfile -t COMPREPLY < <(compgen -f -- "$2") ;;
  esac
}

_mppsdiff_run() { # COMMAND WORD PREVIOUS, as bash gives them
  local command=$1 word=$2 previous=$3 option
  local -a options
  COMPREPLY=()
  [ -f "${command%/*}/scenario.conf" ] && [ -f "${command%/*}/../run.bash" ] || return 0
  # Numbers are not completed with file names.
  compopt +o default +o bashdefault 2>/dev/null
  # bash gives "--cc=gc" as three words, "--cc", "=" and "gc".
  if [ "$word" = = ]; then
    word=''
  elif [ "$previous" = = ]; then
    previous=${COMP_WORDS[COMP_CWORD - 2]:-}
  fi
  mapfile -t options < <(_mppsdiff_options)
  for option in "${options[@]}"; do
    [ "$option" != "$previous=" ] || { _mppsdiff_value "$previous" "$word"; return 0; }
  done
  for option in "${options[@]}"; do
    [[ $option != "$word"* ]] || COMPREPLY+=("${option%=}")
  done
}

complete -o bashdefault -o default -F _mppsdiff_run run
