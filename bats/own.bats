# SPDX-License-Identifier: BSD-3-Clause
# --a and --b of the scenario runner: two variants given on the command line, checked and built like data files.
# shellcheck disable=SC2154 # bats sets status, output, lines

setup() {
  load helpers
  results=$BATS_TEST_TMPDIR/results
  short=(--results "$results" --cc gcc --epochs 2 --rounds 4 --layouts 0 --slice-ms 2)
}

# own NAME KEY=VALUE...: variant_own alone; prints what it makes of them.
own() {
  bash -c '
    set -euo pipefail
    for library in common keyfile variant; do . "$0/reproducers/lib/$library.bash"; done
    variant_own "$1" "$2" "${@:3}"
    cat "${VARIANT_FILES[$1]}"
    printf "given: %s\n" "${VARIANT_GIVEN[$1]}"' "$KIT" "$1" "$BATS_TEST_TMPDIR" "${@:2}"
}

@test "bad keys and values are one line that names the option, exit 2, and nothing is left" {
  refuses_each '^' <<'CASES'
mppsdiff: --a takes KEY=VALUE, not '-O2'; known keys: title, question, build, |--a^-O2^--b^c_args=-O3
mppsdiff: --a: unknown key "c_arg"; known are: title, question, build, |--a^c_arg=-O2^--b^c_args=-O3
mppsdiff: --b: "c_args" is "O3"; it takes compiler flags|--b^c_args=O3
mppsdiff: --b: "c_args" is "-O2; rm -rf x"; it takes compiler flags|--b^c_args=-O2; rm -rf x
mppsdiff: --b: "c_args" has no value|--b=c_args=
mppsdiff: --b: "link" is "sideways"; it takes one of: |--b^link=sideways
mppsdiff: --b: "title" is in quotes|--b^title="mine"^--b^c_args=-O2
mppsdiff: --b gives c_args twice; each key is given once|--b^c_args=-O2^--b^c_args=-O3
mppsdiff: --a is what --b is compared with; give --b too|--a^c_args=-O2
mppsdiff: --a and --b are the variants, and a is the baseline; leave out |--b^c_args=-O2^--variants^meson-static
mppsdiff: --a and --b are the variants, and a is the baseline; leave out |--b^c_args=-O2^--baseline^meson-static
mppsdiff: --a and --b are the same variant|--a^c_args=-O2^--a^link=default^--b^c_args=-O2
mppsdiff: --a and --b are the same variant|--b^title=nothing else
CASES
}

@test "a line break cannot smuggle in a second key" {
  run "$KIT/scenarios/software/run" --results "$results" --b $'c_args=-O2\nlink=no-pie'
  [ "$status" -eq 2 ]
  one_line_error "--b takes KEY=VALUE, not 'c_args=-O2?link=no-pie'"
}

@test "what is not given is as in meson-static; the file is in the order of the others" {
  run own b c_args=-O3 'link = pie'
  [ "$status" -eq 0 ] || { echo "$output"; return 1; }
  diff - <(echo "$output") <<'EXPECTED'
title = meson-static with c_args=-O3; link=pie
question = What does c_args=-O3; link=pie cost?
build = meson
c_args = -O3
pic_flag = -fPIC
code_model = pic
link = pie
given: c_args=-O3; link=pie
EXPECTED
  run own a
  [[ "$output" == *"given: meson-static" ]]
  diff <(grep -vE '^(#|title|question)' "$KIT/reproducers/variants/meson-static.conf") <(grep -vE '^(given|title|question)' <<<"$output")
}

@test "title and question can be given, and are no part of what is built" {
  run own b c_args=-O3 'title=the fast one' 'question=Is it?'
  [[ "$output" == $'title = the fast one\nquestion = Is it?\n'* ]]
  [[ "$output" == *'given: c_args=-O3' ]]
}

@test "a data file from anywhere builds under its own name and the key of what it says" {
  local name
  own b c_args=-O3 >/dev/null
  cp "$BATS_TEST_TMPDIR/b.conf" "$BATS_TEST_TMPDIR/mine.conf"
  for name in b mine; do
    run "$KIT/reproducers/build" --path-only --variant-file "$BATS_TEST_TMPDIR/$name.conf"
    [ "$status" -eq 0 ] || { echo "$output"; return 1; }
    [[ "$output" == *"-$name-gcc-"* ]]
    printf '%s\n' "${output##*-}"
  done | uniq >"$BATS_TEST_TMPDIR/keys"
  [ "$(wc -l <"$BATS_TEST_TMPDIR/keys")" -eq 1 ]
  # Another flag is another build under the same name.
  own b c_args=-O2 >/dev/null
  run "$KIT/reproducers/build" --path-only --variant-file "$BATS_TEST_TMPDIR/b.conf"
  [ "${output##*-}" != "$(cat "$BATS_TEST_TMPDIR/keys")" ]
  run "$KIT/reproducers/build" --path-only --variant-file "$BATS_TEST_TMPDIR/b.conf" --variant meson-static
  [ "$status" -eq 2 ]
  one_line_error 'two ways to name one variant'
  run "$KIT/reproducers/build" --path-only --variant-file "$BATS_TEST_TMPDIR/nothing.conf"
  [ "$status" -eq 2 ]
  one_line_error 'nothing.conf: there is no such file'
  run "$KIT/reproducers/build" --path-only --variant-file "/tmp/a name"
  [ "$status" -eq 2 ]
  one_line_error 'is no name'
}

@test "b is measured against a; both stand in result, report and charts; the file to keep is printed" {
  local result
  # An option that changes no object, so that ccache has them all.
  run "$KIT/scenarios/software/run" "${short[@]}" --b meson_options=-Dwerror=false --b 'title=warnings are no errors'
  [ "$status" -eq 0 ] || { echo "$output"; return 1; }
  result=$(find "$results" -mindepth 1 -maxdepth 1 -name '2*')
  [[ "$output" == *"to keep b under a name: cp $result/variants/b.conf reproducers/variants/NAME.conf, which is"* ]]
  [[ "$output" == *$'\n  title = warnings are no errors\n'*$'\n  meson_options = -Dwerror=false\n'* ]]
  # a is meson-static, which has a file already.
  [[ "$output" != *"to keep a"* ]]
  [ "${lines[-1]}" = "result: $result" ]
  jq -e '.measure.baseline == "a" and .measure.variants == ["a", "b"] and .variants[0].given == "meson-static"
    and .variants[1] == {name: "b", title: "warnings are no errors", given: "meson_options=-Dwerror=false"}' "$result/meta.json"
  [ "$(awk -F '\t' 'NR > 1 { print $1, $16 == "baseline" }' "$result/effects.tsv" | sort)" = $'a 1\nb 0' ]
  grep -q '^meson_options = -Dwerror=false$' "$result/variants/b.conf"
  [ "$(sed -n 1p "$result/report.txt")" = 'Question: Does b (meson_options=-Dwerror=false) cost packets against a..' ]
  grep -q '^Variants    a: meson-static$' "$result/report.txt"
  grep -q '^            b: warnings are no errors$' "$result/report.txt"
  # On a chart that leaves the result nothing else says what b is.
  grep -q '>(meson_options=-Dwerror=fals..<' "$result/forest.svg"
  grep -q 'than a (meson-static)?' "$result/forest.svg"
  # The command can be pasted: the shell sees the words that were given.
  [ "$(eval "printf '%s|' $(jq -r .kit.command "$result/meta.json")")" = \
    "$(printf '%s|' scenarios/software/run "${short[@]}" --b meson_options=-Dwerror=false --b 'title=warnings are no errors')" ]
  # And the file that is kept is the same build.
  [ -f "$("$KIT/reproducers/build" --path-only --variant-file "$result/variants/b.conf")/done" ]
}
