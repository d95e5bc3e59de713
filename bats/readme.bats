# SPDX-License-Identifier: BSD-3-Clause
# README.md and docs/packager.md: their examples run, what they name exists, their claims about options hold.
# shellcheck disable=SC2154 # bats sets status, output, lines

setup() {
  load helpers
  cd "$KIT" || exit 1
}

examples() { # FILE: every command line of its ```sh blocks, comments removed
  awk '/^```sh$/ { on = 1; next } /^```$/ { on = 0 } on' "$1" | sed 's/[[:space:]]\{1,\}#.*//' | grep -v '^$'
}

job() { # every command of the continuous integration job in docs/packager.md
  awk '/^```yaml$/ { on = 1; next } /^```$/ { on = 0 } on' docs/packager.md | sed -n 's/^ *-\{0,1\} *run: //p'
}

# example_copy: the folder for the examples: a copy of the kit in which they may add files and leave results.
example_copy() {
  kit_copy
  cp -a "$KIT"/{bats,docs,README.md} "$copy/"
  cd "$copy" || exit 1
}

# example LINE: runs it; 1 when it fails. With a gate, what it finds is no failure of the example, but it must have judged.
example() {
  local status=0
  echo "running: $1"
  bash -c "$1" </dev/null >"$BATS_TEST_TMPDIR/out" 2>&1 3>&- || status=$?
  case $1 in
    *--gate*) [[ $status =~ ^[013]$ ]] && grep -q '^result: ' "$BATS_TEST_TMPDIR/out" && { [ "$status" -eq 0 ] || grep -q '^mppsdiff: gate: ' "$BATS_TEST_TMPDIR/out"; } ;;
    *) [ "$status" -eq 0 ] ;;
  esac || { echo "exit status $status"; cat "$BATS_TEST_TMPDIR/out"; return 1; }
}

@test "there are examples, and the first three are of make" {
  [ "$(examples README.md | sed -n 1,3p | paste -sd ,)" = "make run,make check,make run QUICK=1" ]
  [ "$(examples README.md | wc -l)" -ge 12 ]
  [ "$(examples docs/packager.md | wc -l)" -ge 2 ]
  [ "$(job | wc -l)" -ge 3 ]
}

@test "make run is make run QUICK=1 without --quick" {
  [ "$(make -n run | tr -s ' ')" = "$(make -n run QUICK=1 | sed 's/ --quick//' | tr -s ' ')" ]
  [ "$(make -n run QUICK=1 | grep -c -- --quick)" -eq 1 ]
  make -n check >/dev/null
}

# What is left out: make check is what runs this test, and bats scenarios/... is a part of it; make run is the line above.
@test "every example of the README runs as it stands" {
  local line
  example_copy
  while IFS= read -r line; do
    case $line in 'make run' | 'make check' | 'bats scenarios/'*) continue ;; esac
    example "$line"
  done < <(examples README.md)
}

@test "every example of the packager's page runs as it stands" {
  local line
  example_copy
  while IFS= read -r line; do example "$line"; done < <(examples docs/packager.md)
  grep -q '<testsuite ' gate.xml
  grep -q '^| b | gcc | ' gate.md
}

@test "every command of the packager's continuous integration job runs, in its order" {
  local line
  example_copy
  FLAGS=$(sed -n 's/^  FLAGS: //p' docs/packager.md)
  [[ $(examples docs/packager.md) == *"c_args=$FLAGS'"* ]]
  GITHUB_STEP_SUMMARY=$BATS_TEST_TMPDIR/summary.md
  export FLAGS GITHUB_STEP_SUMMARY
  while IFS= read -r line; do example "$line"; done < <(job)
  [ -s gate.xml ] && [ -s gate.tar.zst ] && [ -s "$GITHUB_STEP_SUMMARY" ]
}

@test "a command in running text is an example as well, or asks for help" {
  local file command
  for file in README.md docs/packager.md; do
    while IFS= read -r command; do
      case $command in
        *' --help') bash -c "$command" >/dev/null ;;
        'make clean' | 'reproducers/setup --check') bash -c "${command/make/make -n}" >/dev/null ;;
        *) grep -qxF -- "$command" <(examples "$file") || { echo "$file: $command is run by no test"; return 1; } ;;
      esac
    done < <(awk '/^```/ { on = !on; next } !on' "$file" | grep -oE '`(make|bats|(scenarios|reproducers|plots)/[a-z0-9/-]+) [^`]*`' | tr -d '`')
  done
}

@test "the picture in the README is there, small, of the command beside it, and has words for those who do not see it" {
  local picture command
  picture=$(sed -n 's/^!\[.*\](\([^)]*\))$/\1/p' README.md)
  [ -s "$picture" ]
  [ "$(stat -c %s "$picture")" -le 100000 ]
  [ "$(od -An -tx1 -N8 "$picture" | tr -d ' ')" = 89504e470d0a1a0a ]
  [ "$(sed -n 's/^!\[\(.*\)\](.*/\1/p' README.md | wc -w)" -ge 20 ]
  command=$(awk '/^!\[/ { found = 1; next } found && /`scenarios/ { print; exit }' README.md | sed 's/[^`]*`\([^`]*\)`.*/\1/')
  [ -x "$command" ]
}

@test "every file and folder that the pages name exists" {
  local file path
  for file in README.md docs/packager.md; do
    while IFS= read -r path; do
      case $path in results/ | build/) continue ;; esac
      [ -e "$path" ] || { echo "$file names $path"; return 1; }
    done < <(grep -oE '`(reproducers|scenarios|plots|docs|bats|fwd)/[A-Za-z0-9_./-]*`|\]\([A-Za-z0-9_./-]+\.(md|png|svg)\)' "$file" | tr -d '`()]')
  done
}

@test "every option that the pages name is one of the scenario runner's or the step's" {
  local option
  while IFS= read -r option; do
    case $option in --get) continue ;; esac
    grep -rqE -- "(^| )$option( |=|\))" scenarios/run.bash reproducers/build reproducers/link reproducers/source reproducers/setup plots/bundle plots/report ||
      { echo "a page names $option"; return 1; }
  done < <(grep -ohE -- '(^|[` ])--[a-z-]+' README.md docs/packager.md | tr -d '` ' | sort -u)
}

@test "the variant printed in the README is the file" {
  awk '/^```/ { on = !on; plain = ($0 == "```"); next } on && plain' README.md | grep -E '^[a-z_]+ = ' >"$BATS_TEST_TMPDIR/printed"
  grep -E '^[a-z_]+ = ' reproducers/variants/meson-static-nopie.conf | diff - "$BATS_TEST_TMPDIR/printed"
}
