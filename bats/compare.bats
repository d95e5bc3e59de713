#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# plots/report with several results: one table, one chart, and what it refuses to mix.
# awk programs in single quotes; bats sets status, output and lines.
# shellcheck disable=SC2016,SC2154

load helpers

setup() {
  require_cmd gnuplot jq
  report=$KIT/plots/report
  one="$BATS_TEST_TMPDIR/first result" two=$BATS_TEST_TMPDIR/second out=$BATS_TEST_TMPDIR/out
  cp -r "$BATS_TEST_DIRNAME/fixtures/report" "$one"
  cp -r "$BATS_TEST_DIRNAME/fixtures/report" "$two"
  # the second is of another day, and meson-shared costs twice as much there
  edit_result_meta "$two" '.date_utc = "2026-12-24T09:00:00Z"'
  edit_tsv "$two/effects.tsv" '$1 == "meson-shared" { $9 = "1.140000"; $10 = "1.131000"; $11 = "1.149000" } { print }'
}

# another_release RESULT RELEASE: the same result, of that release alone.
another_release() {
  local file column
  for file in effects units slices builds; do
    case $file in effects | units) column=3 ;; slices) column=6 ;; builds) column=4 ;; esac
    edit_tsv "$1/$file.tsv" "NR > 1 { \$$column = \"$2\" } { print }"
  done
  edit_result_meta "$1" ".dpdk[0].release = \"$2\" | .dpdk[0].id = \"sha256:ff\""
}

has() { # FILE TEXT, line breaks undone
  case $(tr -s ' \n' ' ' <"$1") in
    *"$2"*) ;;
    *) printf 'not in %s: %s\n' "$1" "$2" >&2; return 1 ;;
  esac
}

@test "two dates: a row each of result, variant, compiler and release, with the figures of effects.tsv" {
  run "$report" --out "$out" "$one" "$two/"
  [ "$status" -eq 0 ] || { echo "$output"; return 1; }
  [ "${lines[0]}" = "table: $out/compare.txt" ]
  [ "${lines[1]}" = "plots: $out/compare.png $out/compare.svg" ]
  [ "$(find "$out" -type f | wc -l)" -eq 3 ]
  has "$out/compare.txt" 'A 2026-11-30 16:00 UTC, scenario connectx5-vm, DPDK 22.11.11'
  has "$out/compare.txt" 'mppsdiff 0123456789ab; first result'
  has "$out/compare.txt" 'meson-shared gcc A 22.11.11 +7.4 +6.3 to +8.5 slower B 22.11.11 +14.0 +13.1 to +14.9 slower'
  has "$out/compare.txt" 'meson-static gcc A 22.11.11 baseline B 22.11.11 baseline'
  has "$out/compare.txt" '- B, clang, DPDK 22.11.11: -0.4 to +0.5 %'
  has "$out/compare.txt" '* A meson-static-lto (clang, DPDK 22.11.11), B meson-static-lto (clang, DPDK 22.11.11): proof failed: asked for absolute code, got pie'
  # 4 variants and the one that failed, with 2 compilers, of 2 results
  [ "$(awk '/^variant /, /^diff\./' "$out/compare.txt" | grep -cE '(^| )[AB] 22\.11\.11')" -eq 20 ]
  run awk 'length($0) > 72' "$out/compare.txt"
  [ "$output" = '' ]
  [ "$(od -An -tu1 -j16 -N4 "$out/compare.png" | awk '{ print (($1 * 256 + $2) * 256 + $3) * 256 + $4 }')" -eq 1200 ]
  # the chart: rows by date, headings by variant and compiler, both results' figures
  grep -q '>A 2026-11-30<' "$out/compare.svg"
  grep -q '>B 2026-12-24<' "$out/compare.svg"
  grep -q '>meson-shared, clang<' "$out/compare.svg"
  grep -q '>+14.0 % (+13.1 to +14.9)  slower<' "$out/compare.svg"
  [ "$(grep -c '>not built<' "$out/compare.svg")" -eq 2 ]
  # each row with a figure has its own noise: three variants, two compilers, two results
  [ "$(grep -c "url(#compare-gpPat" "$out/compare.svg")" -eq 12 ]
  grep -q '>A: 2026-11-30 16:00 UTC, scenario connectx5-vm' "$out/compare.svg"
  grep -q '<title id="compare-title">Several results' "$out/compare.svg"
  # neither result was written to
  [ ! -e "$one/report.txt" ]
  diff -r "$BATS_TEST_DIRNAME/fixtures/report" "$one"
}

@test "the same results give the same bytes" {
  "$report" --out "$out" "$one" "$two" >/dev/null
  LC_ALL=C TZ=Pacific/Auckland "$report" --out "$out-2" "$one" "$two" >/dev/null
  diff -r "$out" "$out-2"
}

@test "two releases and two testbeds: they stand beside each row and are no obstacle" {
  another_release "$two" 20.08
  "$report" --out "$out" "$one" "$two" >/dev/null
  has "$out/compare.txt" 'meson-static-nopie gcc A 22.11.11 -5.8 -7.0 to -4.6 faster B 20.08 -5.8 -7.0 to -4.6 faster'
  grep -q '>B 20.08<' "$out/compare.svg"
  edit_result_meta "$two" '.scenario.name = "connectx4lx-baremetal" | .scenario.command = "testpmd -l 0" | .device.name = "another"'
  "$report" --out "$out" "$one" "$two" >/dev/null
  grep -q '>B connectx4lx-baremetal 20.08<' "$out/compare.svg"
  grep -q '>A connectx5-vm 22.11.11<' "$out/compare.svg"
}

# The keys that no row shows: each of them alone is refused, named with both values, and nothing is written.
@test "what differs out of sight is refused by name, with one line, exit 2, and nothing is written" {
  local key change
  for result in "$one" "$two"; do edit_result_meta "$result" '.dpdk[0] += {rx_burst: "Vector", tx_burst: "eMPW"}'; done
  cp -r "$two" "$two-kept"
  while IFS='|' read -r key change; do
    rm -rf "$two"
    cp -r "$two-kept" "$two"
    edit_result_meta "$two" "$change"
    run "$report" --out "$out" "$one" "$two"
    [ "$status" -eq 2 ] || { echo "$key: status $status"; return 1; }
    one_line_error 'these results differ in what the chart does not show: '"$key (A: " || { echo "$key"; return 1; }
    one_line_error '; B: '
    [ ! -e "$out" ]
  done <<'KEYS'
device kind|.device.kind = "software"
CPU|.machine.cpu = "Other"
microcode|.machine.microcode = "0x2"
governor|.machine.governor = "performance"
isolated cores|.machine.cores_isolated = "1"
hypervisor|.machine.hypervisor = "none"
hugepages|.machine.hugepages = "--no-huge"
margin|.measure.margin_percent = 3
-ffunction-sections|.measure.function_sections = true
linker|.linker = "mold"
mppsdiff version|.kit.version = "0.2.0"
version of gcc|.compilers[0].version = "gcc 13"
device of connectx5-vm|.device.name = "other"
command of connectx5-vm|.scenario.command = "testpmd -l 9"
source of DPDK 22.11.11|.dpdk[0].id = "sha256:ff"
burst functions of connectx5-vm with DPDK 22.11.11|.dpdk[0].rx_burst = "MPRQ"
forwarder's options of connectx5-vm with DPDK 22.11.11|.scenario.used = "forwarder -l 5"
KEYS
}

@test "another baseline, another clock and another kind of link order are refused as well" {
  edit_tsv "$two/units.tsv" 'NR > 1 && $9 != "-" { $9 *= 1.01 } { print }'
  run "$report" --out "$out" "$one" "$two"
  [ "$status" -eq 2 ]
  one_line_error 'frequency (A: 2000 MHz; B: 2020 MHz)'
  cp "$one/units.tsv" "$two/"
  # what calibration makes of the same clock is no difference
  edit_tsv "$two/units.tsv" 'NR > 1 && $9 != "-" { $9 *= 1.001 } { print }'
  "$report" --out "$out" "$one" "$two" >/dev/null
  rm -r "$out"
  edit_tsv "$two/units.tsv" 'NR == 1 || $4 == 0'
  run "$report" --out "$out" "$one" "$two"
  [ "$status" -eq 2 ]
  one_line_error 'link orders (A: shuffled; B: as built only)'
  cp "$one/units.tsv" "$two/"
  edit_result_meta "$two" '.measure.baseline = "meson-static-nopic"'
  run "$report" --out "$out" "$one" "$two"
  [ "$status" -eq 2 ]
  one_line_error 'baseline (A: meson-static; B: meson-static-nopic)'
  [ ! -e "$out" ]
}

@test "--force compares all the same, and text and chart say what differs" {
  edit_result_meta "$two" '.machine.cpu = "Other" | .device.kind = "software" | .machine.microcode = "0x2" | .linker = "mold"'
  run "$report" --out "$out" "$one" "$two"
  [ "$status" -eq 2 ]
  one_line_error ', and 1 more; leave out'
  "$report" --force --out "$out" "$one" "$two" >/dev/null
  has "$out/compare.txt" 'WARNING: compared by force. These results differ in device kind, CPU, microcode and linker,'
  has "$out/compare.txt" '- CPU: A: Synthetic(R) CPU @ 2.00GHz; B: Other.'
  grep -q 'COMPARED BY FORCE: the results differ in device kind, CPU, microcode and linker.' "$out/compare.svg"
  rm -r "$out"
  # nothing forced, nothing said
  jq '.date_utc = "2026-12-24T09:00:00Z"' "$one/meta.json" >"$two/meta.json"
  "$report" --force --out "$out" "$one" "$two" >/dev/null
  run grep -c 'force\|FORCE' "$out/compare.txt" "$out/compare.svg"
  [ "$output" = "$out/compare.txt:0
$out/compare.svg:0" ]
}

@test "kernel, commit and size of the run are noted" {
  edit_result_meta "$two" '.machine.kernel = "6.99" | .kit.commit = "fedcba" | .measure.epochs = 4'
  "$report" --out "$out" "$one" "$two" >/dev/null
  has "$out/compare.txt" 'Also differ: kernel (A: 6.1.0-synthetic; B: 6.99) - mppsdiff commit (A: 0123456789ab; B: fedcba) - epochs (A: 8; B: 4)'
}

@test "three results, one of them with nothing built" {
  cp -r "$one" "$BATS_TEST_TMPDIR/third"
  rm "$BATS_TEST_TMPDIR"/third/{slices,effects,units}.tsv
  edit_tsv "$BATS_TEST_TMPDIR/third/builds.tsv" 'NR > 1 { $5 = "build failed"; $6 = "no compiler"; for (i = 8; i <= 23; i++) $i = "-" } { print }'
  "$report" --out "$out" "$one" "$two" "$BATS_TEST_TMPDIR/third" >/dev/null
  has "$out/compare.txt" 'meson-shared gcc A 22.11.11 +7.4 +6.3 to +8.5 slower B 22.11.11 +14.0 +13.1 to +14.9 slower C 22.11.11 not built'
  has "$out/compare.txt" 'build failed: no compiler'
  # two of them are of one day, so the hour tells them apart
  grep -q '>C 2026-11-30 16:00<' "$out/compare.svg"
}

@test "wrong usage of several results is one line and exit 2" {
  local text arguments
  local -a bad
  while IFS='|' read -r text arguments; do
    IFS=' ' read -r -a bad <<<"$arguments"
    run "$report" "${bad[@]}" "$one" "$two"
    [ "$status" -eq 2 ] || { echo "$arguments: $output"; return 1; }
    one_line_error "$text"
  done <<CASES
name a folder for their comparison with --out|
--gate, --junit and --summary are of one result|--out $out --junit $out
there is no folder|--out $out $BATS_TEST_TMPDIR/none
CASES
  run "$report" --out "$out" "$one" "$two" "$BATS_TEST_TMPDIR/../$(basename "$BATS_TEST_TMPDIR")/second"
  [ "$status" -eq 2 ]
  one_line_error "named twice"
  run "$report" --force "$one"
  [ "$status" -eq 2 ]
  one_line_error "--force is for several results"
  edit_tsv "$two/effects.tsv" 'NR == 3 { $9 = "fast" } { print }'
  run "$report" --out "$out" "$one" "$two"
  [ "$status" -eq 2 ]
  one_line_error "$two/effects.tsv line 3: column ratio: 'fast'"
  [ ! -e "$out" ]
}

@test "markup and quotes in the data are harmless in text and chart" {
  local evil='<script>alert(1)</script>&"'\''\'
  for result in "$one" "$two"; do
    EVIL=$evil jq '.device.name = env.EVIL | .scenario.name = env.EVIL' "$result/meta.json" >"$result/new" && mv "$result/new" "$result/meta.json"
  done
  "$report" --out "$out" "$one" "$two" >/dev/null
  run grep -c '<script' "$out/compare.svg"
  [ "$output" = 0 ]
  has "$out/compare.txt" '<script>alert(1)</script>'
  if command -v xmllint >/dev/null; then xmllint --noout "$out/compare.svg"; fi
}
