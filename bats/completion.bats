# SPDX-License-Identifier: BSD-3-Clause
# scenarios/completion.bash against the runner's --help and what its options take.
# shellcheck disable=SC2154 # bats sets status, output, lines

setup() {
  load helpers
  cd "$KIT" || exit 1
  runner=scenarios/software/run
}

# completed WORD...: what bash offers for the last word of a command line, one a line. Words as bash splits them.
completed() {
  bash --norc -c '
    source scenarios/completion.bash
    COMP_WORDS=("$@") COMP_CWORD=$(($# - 1))
    # The function that bash would call for this command.
    function=$(complete -p "${1##*/}" | sed "s/.*-F \([^ ]*\) .*/\1/")
    previous=${COMP_WORDS[COMP_CWORD - 1]}
    "$function" "$1" "${COMP_WORDS[COMP_CWORD]}" "$previous"
    printf "%s\n" "${COMPREPLY[@]}"' _ "$@"
}


@test "every option of --help completes, from the dashes and from its first letters" {
  local option
  diff <("$runner" --help | grep -oE '^  --[a-z-]+' | tr -d ' ' | sort) <(completed "$runner" -- | sort)
  while IFS= read -r option; do
    completed "$runner" --cc gcc "${option%?}" | grep -qxF -- "$option" || { echo "no $option"; return 1; }
  done < <("$runner" --help | grep -oE '^  --[a-z-]+' | tr -d ' ')
  [ "$(completed "$runner" --localis)" = --localise ]
}

@test "variants and baseline: the data files, several with commas, none twice" {
  local names
  names=$(find reproducers/variants -name '*.conf' -printf '%f\n' | sed 's/\.conf$//' | sort)
  diff <(echo "$names") <(completed "$runner" --baseline '' | sort)
  diff <(printf '%s\nall\n' "$names" | sort) <(completed "$runner" --variants '' | sort)
  diff <(echo "$names" | grep -vx meson-static | sed 's/^/meson-static,/' | grep meson-static,meson-static-n) \
    <(completed "$runner" --variants meson-static,meson-static-n | sort)
}

@test "devices and linkers: what the runner itself says is known, and each is accepted" {
  local option name
  for option in device linker; do
    run "$runner" --"$option" nonsense
    diff <(sed 's/.*known: //' <<<"$output" | tr ' ' '\n' | sort) <(completed "$runner" --"$option" '' | sort)
    [ "$(completed "$runner" --"$option" '' | wc -l)" -ge 3 ]
    while IFS= read -r name; do
      # A bad option behind it is what is complained about.
      run "$runner" --"$option" "$name" --cc gcc-99
      one_line_error "no compiler 'gcc-99'"
    done < <(completed "$runner" --"$option" '')
  done
}

@test "compilers: those on this machine, several with commas" {
  completed "$runner" --cc gc | grep -qx gcc
  ! command -v clang >/dev/null || completed "$runner" --cc gcc,c | grep -qx gcc,clang
  run ! grep -qx gcc,gcc <(completed "$runner" --cc gcc,)
}

@test "releases are the data files, counters are what slices knows, --a and --b take a variant's keys" {
  local name
  diff <(find reproducers/sources -name '22*.conf' -printf '%f\n' | sed 's/\.conf$//') <(completed "$runner" --dpdk 22)
  completed "$runner" --dpdk dis | grep -qx distro
  while IFS= read -r name; do
    "$TOOLS/slices" --perf-events "$name" --help >/dev/null || { echo "$name"; return 1; }
  done < <(completed "$runner" --perf-events '')
  run "$runner" --b nonsense
  diff <(sed 's/.*known keys: //' <<<"$output" | sed 's/, /\n/g' | sed 's/$/=/') <(completed "$runner" --b '')
}

@test "--option=VALUE completes like --option VALUE" {
  diff <(completed "$runner" --device '') <(completed "$runner" --device =)
  [ "$(completed "$runner" --device = ri)" = ring ]
}

@test "every option that takes a value offers one, a file, or nothing; none offers options" {
  local option
  while IFS= read -r option; do
    run completed "$runner" "$option" ''
    [ "$status" -eq 0 ]
    [[ "$output" != *--* ]] || { echo "$option: $output"; return 1; }
  done < <("$runner" --help | grep -oE '^  --[a-z-]+=' | tr -d ' =')
}

@test "another program called run is left to bash" {
  mkdir "$BATS_TEST_TMPDIR/other"
  touch "$BATS_TEST_TMPDIR/other/run"
  [ -z "$(completed "$BATS_TEST_TMPDIR/other/run" --)" ]
  [ -z "$(completed run --)" ]
}

@test "sourcing it prints nothing, changes no option of the shell and adds one completion" {
  run bash --norc -c 'before=$(set +o; shopt); source scenarios/completion.bash; [ "$before" = "$(set +o; shopt)" ] && complete -p | wc -l'
  [ "$status" -eq 0 ]
  [ "$output" = 1 ]
}
