# SPDX-License-Identifier: BSD-3-Clause
# README.md: its examples run, what it names exists, its claims about options hold.

setup() {
  load helpers
  cd "$KIT" || exit 1
}

examples() { # every command line of the README's ```sh blocks, comments removed
  awk '/^```sh$/ { on = 1; next } /^```$/ { on = 0 } on' README.md | sed 's/[[:space:]]*#.*//' | grep -v '^$'
}

@test "there are examples, and the first two are make run and make check" {
  [ "$(examples | sed -n 1p)" = "make run" ]
  [ "$(examples | sed -n 2p)" = "make check" ]
  [ "$(examples | wc -l)" -ge 6 ]
}

@test "the make targets of the examples exist" {
  make -n run >/dev/null
  make -n check >/dev/null
  make -n run QUICK=1 | grep -q -- --quick
}

# The two make targets are what continuous integration itself calls; everything else runs here.
@test "every other example runs as it stands" {
  local line
  while IFS= read -r line; do
    case $line in 'make run' | 'make check') continue ;; esac
    # Results of the examples stay out of the user's folder.
    case $line in scenarios/*) line+=" --results '$BATS_TEST_TMPDIR/results'" ;; esac
    echo "running: $line"
    bash -c "$line" </dev/null 3>&-
  done < <(examples)
}

@test "every file and folder the README names exists" {
  local path
  while IFS= read -r path; do
    case $path in results/ | build/) continue ;; esac
    [ -e "$path" ] || { echo "README names $path"; return 1; }
  done < <(grep -oE '`(reproducers|scenarios|plots|docs|bats|fwd)/[A-Za-z0-9_./-]*`|\]\([A-Za-z0-9_./-]+\.md\)' README.md | tr -d '`()]')
}

@test "every option the README names is one of the scenario runner's or the step's" {
  local option
  while IFS= read -r option; do
    grep -rqE -- "(^| )$option( |=|\))" scenarios/run.bash reproducers/build reproducers/link reproducers/source reproducers/setup plots/bundle plots/report ||
      { echo "README names $option"; return 1; }
  done < <(grep -oE -- '(^|[` ])--[a-z-]+' README.md | tr -d '` ' | sort -u)
}

@test "the variant printed in the README is the file" {
  awk '/^```/ { on = !on; plain = ($0 == "```"); next } on && plain' README.md | grep -E '^[a-z_]+ = ' >"$BATS_TEST_TMPDIR/printed"
  grep -E '^[a-z_]+ = ' reproducers/variants/meson-static-nopie.conf | diff - "$BATS_TEST_TMPDIR/printed"
}
