# SPDX-License-Identifier: BSD-3-Clause
# Style and warnings: what a reviewer should never have to say.

setup() {
  load helpers
  cd "$KIT" || exit 1
}

tracked() { # PATTERN...: files of the project that match, whether or not git knows them yet
  find . -path ./build -prune -o -path './build-*' -prune -o -path ./results -prune -o -path ./.git -prune -o -type f \( "$@" \) -print
}

scripts() { # every bash script, by name or by its first line
  { tracked -name '*.bash'; tracked -type f | while IFS= read -r file; do
      case $file in *.bats) continue ;; esac
      head -n 1 "$file" | grep -q '^#!/usr/bin/env bash' && printf '%s\n' "$file"
    done; } | sort -u
}

@test "shellcheck is silent on every script" {
  require_cmd shellcheck
  [ "$(scripts | wc -l)" -gt 10 ]
  scripts | xargs shellcheck -x
}

@test "entry scripts are strict, libraries only define functions" {
  local file
  while IFS= read -r file; do
    case $file in
      *.bash) [ "$file" = ./scenarios/run.bash ] || continue ;;
    esac
    grep -q '^set -euo pipefail$' "$file" || { echo "not strict: $file"; return 1; }
    [ -x "$file" ] || { echo "not executable: $file"; return 1; }
  done < <(scripts)
}

@test "clang-format finds nothing to change" {
  require_cmd clang-format
  tracked -name '*.c' -o -name '*.h' | xargs clang-format --dry-run --Werror
}

@test "the kit's own C builds without a warning with gcc and with clang" {
  local cc
  for cc in gcc clang; do
    require_cmd "$cc"
    "$KIT/reproducers/tools" --cc "$cc" --build "$BATS_TEST_TMPDIR/$cc" 3>&-
    if grep -n 'warning:' "$BATS_TEST_TMPDIR/$cc/tools.log"; then return 1; fi
  done
}

@test "every file has its licence line" {
  local file missing=0
  while IFS= read -r file; do
    head -n 5 "$file" | grep -q 'SPDX-License-Identifier: BSD-3-Clause' || { echo "no SPDX line: $file"; missing=1; }
  done < <(scripts; tracked -name '*.c' -o -name '*.h' -o -name '*.bats' -o -name '*.gp' -o -name meson.build -o -name Makefile)
  [ "$missing" -eq 0 ]
}

@test "the top level holds only what the product has" {
  local name
  for name in *; do
    case $name in
      fwd | reproducers | scenarios | bats | plots | docs | Makefile | meson.build | README.md | LICENSE | CONTRIBUTING.md | CHANGELOG.md) ;;
      build | build-* | results) ;;
      *) echo "unexpected at the top level: $name"; return 1 ;;
    esac
  done
}

@test "nothing unfinished and no python of ours" {
  if grep -rnE '(TODO|FIXME|XXX)([^A-Za-z_.]|$)' fwd reproducers scenarios plots Makefile meson.build README.md docs --include='*' -I | grep -v 'mktemp\|XXXXXX'; then return 1; fi
  [ -z "$(tracked -name '*.py')" ]
}
