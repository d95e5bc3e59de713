#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# plots/tested: the tested matrix follows from results and from nothing else.
# awk programs in single quotes; bats sets status, output and lines.
# shellcheck disable=SC2016,SC2154

load helpers

setup() {
  require_cmd jq
  tested=$KIT/plots/tested
  one=$BATS_TEST_TMPDIR/20261130T160000Z-vm two=$BATS_TEST_TMPDIR/20261224T090000Z-vm
  cp -r "$BATS_TEST_DIRNAME/fixtures/report" "$one"
  cp -r "$BATS_TEST_DIRNAME/fixtures/report" "$two"
  edit_result_meta "$two" '.date_utc = "2026-12-24T09:00:00Z" | .kit.commit = "fedcba987654"'
}

rows() { # of the table
  grep -E '^\| [0-9]' "$BATS_TEST_TMPDIR/tested.md"
}

@test "--help names every option; bad usage is one line and exit 2" {
  documents_every_option "$tested"
  run "$tested"
  [ "$status" -eq 2 ]
  one_line_error 'name result folders'
  run "$tested" --nonsense "$one"
  [ "$status" -eq 2 ]
  one_line_error "unknown option '--nonsense'"
  run "$tested" "$one" "$BATS_TEST_TMPDIR/none"
  [ "$status" -eq 2 ]
  one_line_error 'there is no folder'
  run "$tested" --out /nonexistent/tested.md "$one"
  [ "$status" -eq 2 ]
  one_line_error 'cannot write /nonexistent/tested.md'
  edit_tsv "$one/effects.tsv" 'NR == 3 { $9 = "fast" } { print }'
  run "$tested" --out "$BATS_TEST_TMPDIR/tested.md" "$one"
  [ "$status" -eq 2 ]
  one_line_error "column ratio: 'fast'"
  [ ! -e "$BATS_TEST_TMPDIR/tested.md" ]
}

@test "a row a release, compiler, variant and device: built, proof, forwarded, verdict, date and commit" {
  "$tested" --out "$BATS_TEST_TMPDIR/tested.md" "$one"
  [ "$(rows | wc -l)" -eq 10 ]
  rows | grep -qxF '| 22.11.11 | gcc 12.2.0 | meson-static | net\_ring | yes | pic, DYN-PIE | yes | baseline | - | 2026-11-30 | 0123456789ab |'
  rows | grep -qxF '| 22.11.11 | gcc 12.2.0 | meson-shared | net\_ring | yes | pic, DYN-PIE | yes | slower +7.4 % (+6.3 to +8.5 %) | meson-static | 2026-11-30 | 0123456789ab |'
  rows | grep -qxF '| 22.11.11 | clang 14.0.6 | meson-static-nopie | net\_ring | yes | absolute, EXEC | yes | faster -5.6 % (-6.4 to -4.8 %) | meson-static | 2026-11-30 | 0123456789ab |'
  rows | grep -qxF '| 22.11.11 | clang 14.0.6 | meson-static-lto | net\_ring | yes | no: pie, DYN-PIE (1) | - | - | meson-static | 2026-11-30 | 0123456789ab |'
  rows | grep -qxF '| 22.11.11 | gcc 12.2.0 | meson-static-lto | net\_ring | not built (2) | - | - | - | meson-static | 2026-11-30 | 0123456789ab |'
  grep -qx '1. proof failed: asked for absolute code, got pie' "$BATS_TEST_TMPDIR/tested.md"
  grep -q '^2. build failed: lto1: fatal error' "$BATS_TEST_TMPDIR/tested.md"
  grep -qxF -- '- `20261130T160000Z-vm`, 2026-11-30: Synthetic(R) CPU @ 2.00GHz, Debian GNU/Linux 12 (bookworm), virtual machine (kvm); mppsdiff 0.1.0, commit 0123456789ab' "$BATS_TEST_TMPDIR/tested.md"
}

@test "the newest result of a row counts, in whatever order they are named; other devices are rows of their own" {
  # the newer one has gcc only, and meson-shared is the same there
  for file in effects units builds; do edit_tsv "$two/$file.tsv" '$2 != "clang"'; done
  edit_tsv "$two/slices.tsv" '$5 != "clang"'
  edit_tsv "$two/effects.tsv" '$1 == "meson-shared" { $9 = "1.001"; $10 = "0.998"; $11 = "1.004"; $16 = "same" } { print }'
  "$tested" "$one" "$two" >"$BATS_TEST_TMPDIR/tested.md"
  "$tested" "$two" "$one" | cmp "$BATS_TEST_TMPDIR/tested.md" -
  [ "$(rows | wc -l)" -eq 10 ]
  rows | grep -q '^| 22.11.11 | gcc 12.2.0 | meson-shared .* same +0.1 % (-0.2 to +0.4 %) .* 2026-12-24 | fedcba987654 |$'
  [ "$(rows | grep -c 'clang.*2026-11-30 | 0123456789ab |$')" -eq 5 ]
  [ "$(grep -c '^- `2026' "$BATS_TEST_TMPDIR/tested.md")" -eq 2 ]
  edit_result_meta "$two" '.device = {kind: "software", name: "software ConnectX-5 (no NIC), 2 port(s)"}'
  "$tested" "$one" "$two" >"$BATS_TEST_TMPDIR/tested.md"
  [ "$(rows | wc -l)" -eq 15 ]
  [ "$(rows | grep -c '| software ConnectX-5 |.*2026-12-24')" -eq 5 ]
}

@test "drops, dead forwarders and figures as built are said so; releases come in their order" {
  edit_tsv "$one/slices.tsv" 'NR == 2 { $12 = 7 } $4 == "meson-shared" && $5 == "gcc" { $9 = $10 = 0; $13 = 0; $14 = "died" } { print }'
  edit_tsv "$one/effects.tsv" '$1 == "meson-shared" && $2 == "gcc" { for (i = 7; i <= 13; i++) $i = "-"; $16 = "invalid"; $17 = "no valid slice" } { print }'
  edit_tsv "$one/units.tsv" 'NR == 1 || $4 == 0'
  for file in effects units slices builds; do
    case $file in effects | units) column=3 ;; slices) column=6 ;; builds) column=4 ;; esac
    edit_tsv "$two/$file.tsv" "NR > 1 { \$$column = \"20.08\" } { print }"
  done
  edit_result_meta "$two" '.dpdk[0].release = "20.08"'
  "$tested" "$one" "$two" >"$BATS_TEST_TMPDIR/tested.md"
  rows | grep -qE '\| meson-static-nopic \|.*\| yes, 7 of [0-9]+ dropped \|'
  rows | grep -qE '^\| 22.11.11 \| gcc 12.2.0 \| meson-shared \| net\\_ring \| yes \| pic, DYN-PIE \| no \([0-9]\) \| - \|'
  rows | grep -qE '^\| 22.11.11 .*faster -5.8 % \(-7.0 to -4.6 %\), as built \|'
  [ "$(rows | cut -d ' ' -f 2 | uniq | paste -sd,)" = 20.08,22.11.11 ]
}

@test "data cannot become markup" {
  edit_tsv "$one/builds.tsv" '$5 == "build failed" { $6 = "<b>|`*x" } { print }'
  "$tested" "$one" >"$BATS_TEST_TMPDIR/tested.md"
  grep -qF 'build failed: &lt;b&gt;&#124;\`\*x' "$BATS_TEST_TMPDIR/tested.md"
}
