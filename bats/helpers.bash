# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=bash
# shellcheck disable=SC2034,SC2154 # variables shared with the scripts that source it
# What every .bats file of the kit starts with: `load helpers`.

bats_require_minimum_version 1.5.0

KIT=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
TOOLS=${MPPSDIFF_TOOLS:-$KIT/build/fwd/tools}
export KIT TOOLS
export LC_ALL=C

# skip_or_fail REASON: REASON says how to enable the test. STRICT=1 turns the skip into a failure.
skip_or_fail() {
  if [ "${STRICT:-0}" = 1 ]; then
    printf 'STRICT=1: would have been skipped: %s\n' "$1" >&2
    return 1
  fi
  skip "$1"
}

# require_cmd NAME...: skip when a command is missing.
require_cmd() {
  local name
  for name in "$@"; do
    command -v "$name" >/dev/null || { skip_or_fail "needs $name: reproducers/setup --for check installs it"; return; }
  done
}

# require_root: skip when not root.
require_root() {
  [ "$(id -u)" -eq 0 ] || skip_or_fail "needs root: run make check as root"
}

# one_line_error TEXT: the last `run` printed exactly one line on its output, with TEXT in it.
one_line_error() {
  [ "${#lines[@]}" -eq 1 ] || { printf 'expected one line, got %d:\n%s\n' "${#lines[@]}" "$output" >&2; return 1; }
  [[ "${lines[0]}" == *"$1"* ]] || { printf 'expected "%s" in: %s\n' "$1" "${lines[0]}" >&2; return 1; }
}

# documents_every_option PROGRAM [SCRIPT]: its --help names every option that its option loop takes; SCRIPT has
# the loop when it is not the program itself.
documents_every_option() {
  local option
  run "$1" --help
  [ "$status" -eq 0 ] || return 1
  while IFS= read -r option; do
    [[ "$output" == *"$option"* ]] || { echo "undocumented: $option"; return 1; }
  done < <(sed -n 's/^ *\(--[a-z-]*\)) .*/\1/p' "${2:-$1}")
}

# forwarder_build [VARIANT] [CC]: the directory of a finished build of the default DPDK, made on first use.
forwarder_build() {
  "$KIT/reproducers/build" --variant "${1:-meson-static-nopic}" --cc "${2:-gcc}" 3>&-
}

# forwarder_path [VARIANT] [CC]: a linked forwarder with ring and null devices.
forwarder_path() {
  local dir
  dir=$(forwarder_build "$@") || return
  "$KIT/reproducers/link" --build "$dir" 3>&-
}

# small_build VARIANT [CC [OPTION...]]: a finished build with ring and null drivers alone, which takes seconds.
small_build() {
  "$KIT/reproducers/build" --variant "$1" --cc "${2:-gcc}" --drivers bus/pci,bus/vdev,mempool/ring,net/null,net/ring "${@:3}" 3>&-
}

# forward_once BINARY [OPTION...]: the forwarder forwards a little, without hugepages; its answers in ./answers.
forward_once() {
  printf 'run 100 100\nquit\n' |
    timeout 120 "$1" -l 0 --no-huge -m 256 --no-pci --no-shconf --no-telemetry -- --slices "${@:2}" >answers 2>forward.log 3>&- ||
    { cat forward.log answers >&2; return 1; }
}

# proved VARIANT BUILD BINARY: the row of the proof in ./builds.tsv, its files below ./proof, proof_status.
proved() {
  local library
  for library in common keyfile variant proof; do
    # shellcheck source=/dev/null
    . "$KIT/reproducers/lib/$library.bash"
  done
  tools=$TOOLS
  rm -rf proof
  mkdir proof
  proof_header >builds.tsv
  proof_notes_header >proof/notes.tsv
  proof_status=0
  proof_row "$1" "$(sed -n 's/^cc=//p' "$2/identity")" "$2" "${4:-}" "$3" . 2>proof/warnings || proof_status=$?
}

# column NAME: of the row that `proved` made.
column() {
  awk -F '\t' -v name="$1" 'NR == 1 { for (i = 1; i <= NF; i++) if ($i == name) c = i; next } { print $c }' builds.tsv
}

# kit_copy: a copy of the kit in $copy, for tests that add a data file; it shares the tools and every cached build.
kit_copy() {
  : "${copy:=$BATS_TEST_TMPDIR/kit}"
  mkdir "$copy"
  cp -a "$KIT"/{fwd,reproducers,scenarios,plots,Makefile,meson.build} "$copy/"
  ln -s "$KIT/build" "$copy/build"
}

# has_hugepages MB: whether that many megabytes of 2 MB hugepages are free.
has_hugepages() {
  local free
  free=$(awk '/^HugePages_Free/ { print $2 }' /proc/meminfo)
  [ "$((free * 2))" -ge "$1" ]
}

# hugepages_lend MB, in setup_file: makes that much free for the tests of the file, if root and possible.
hugepages_lend() {
  local pool=/proc/sys/vm/nr_hugepages
  [ "$(id -u)" -eq 0 ] || return 0
  has_hugepages "$1" && return 0
  cat "$pool" >"$BATS_FILE_TMPDIR/nr_hugepages"
  echo $(($(cat "$pool") + $1 / 2)) >"$pool" || true
}

# hugepages_return, in teardown_file: the pool is as it was.
hugepages_return() {
  [ ! -f "$BATS_FILE_TMPDIR/nr_hugepages" ] || cat "$BATS_FILE_TMPDIR/nr_hugepages" >/proc/sys/vm/nr_hugepages
}

edit_tsv() { # FILE AWK
  awk -F '\t' -v OFS='\t' "$2" "$1" >"$BATS_TEST_TMPDIR/edited"
  mv "$BATS_TEST_TMPDIR/edited" "$1"
}

edit_result_meta() { # RESULT JQ
  jq "$2" "$1/meta.json" >"$BATS_TEST_TMPDIR/edited"
  mv "$BATS_TEST_TMPDIR/edited" "$1/meta.json"
}

# refuses_each [SEPARATOR]: each line of stdin, "text|arguments", is refused by the software scenario's runner in one
# line with that text, with exit status 2, before $results is made.
refuses_each() {
  local text arguments
  local -a bad
  while IFS='|' read -r text arguments; do
    IFS=${1:- } read -r -a bad <<<"$arguments"
    run "$KIT/scenarios/software/run" --results "$results" "${bad[@]}"
    [ "$status" -eq 2 ] || { echo "$arguments: status $status: $output"; return 1; }
    one_line_error "$text"
    [ ! -e "$results" ]
  done
}
