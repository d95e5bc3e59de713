# SPDX-License-Identifier: BSD-3-Clause
# That a failing test fails the suite, and that the helpers fail when they should.

setup() {
  load helpers
}

suite() { # BODY: runs a suite with one test
  printf 'load %s/bats/helpers\n@test "inner" {\n%s\n}\n' "$KIT" "$1" >"$BATS_TEST_TMPDIR/inner.bats"
  run env "${@:2}" bats --tap "$BATS_TEST_TMPDIR/inner.bats"
}

@test "a failing test fails the suite" {
  suite '[ 1 -eq 2 ]'
  [ "$status" -ne 0 ]
  [[ "$output" == *"not ok 1 inner"* ]]
  suite 'true'
  [ "$status" -eq 0 ]
}

@test "a failing command before the last fails the test" {
  suite $'false\ntrue'
  [ "$status" -ne 0 ]
}

@test "STRICT=1 turns a skip into a failure" {
  suite 'require_cmd no-such-command' STRICT=0
  [ "$status" -eq 0 ]
  [[ "$output" == *"# skip needs no-such-command: reproducers/setup"* ]]
  suite 'require_cmd no-such-command' STRICT=1
  [ "$status" -ne 0 ]
}

@test "one_line_error fails on two lines and on other words" {
  suite $'run printf "mppsdiff: a\\nb\\n"\none_line_error a'
  [ "$status" -ne 0 ]
  suite $'run printf "mppsdiff: a\\n"\none_line_error b'
  [ "$status" -ne 0 ]
  suite $'run printf "mppsdiff: a\\n"\none_line_error a'
  [ "$status" -eq 0 ]
}
