#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# plots/report: the text, the page and the charts of a result. The fixture is synthetic.

# awk programs in single quotes; status and output are set by bats.
# shellcheck disable=SC2016,SC2030,SC2031

load helpers

setup() {
  require_cmd gnuplot jq
  report=$KIT/plots/report
  result="$BATS_TEST_TMPDIR/a \\n result"
  cp -r "$BATS_TEST_DIRNAME/fixtures/report" "$result"
  rm "$result/generate" "$result/look.js"
}

# The fixture's report, drawn once for the tests that only look at it.
drawn() {
  local dir=$BATS_FILE_TMPDIR/drawn
  if [ ! -e "$dir/report.txt" ]; then
    "$report" --out "$dir" "$result" >/dev/null
  fi
  printf '%s\n' "$dir"
}

# edit FILE AWK: changes a TSV of the result; fields are tab-separated.
edit() {
  awk -F '\t' -v OFS='\t' "$2" "$result/$1" >"$BATS_TEST_TMPDIR/edited"
  mv "$BATS_TEST_TMPDIR/edited" "$result/$1"
}

edit_meta() {
  jq "$1" "$result/meta.json" >"$BATS_TEST_TMPDIR/edited"
  mv "$BATS_TEST_TMPDIR/edited" "$result/meta.json"
}

# text FILE: report.txt with its line breaks undone, for looking up sentences.
text() {
  tr -s ' \n' ' ' <"$1"
}

has() {
  case $(text "$1") in
    *"$2"*) ;;
    *) printf 'not in %s: %s\n' "$1" "$2" >&2; return 1 ;;
  esac
}

lacks() {
  if has "$1" "$2" 2>/dev/null; then
    printf 'should not be in %s: %s\n' "$1" "$2" >&2
    return 1
  fi
}

# mail_width FILE: no line over 72 columns, nothing but printable ASCII.
mail_width() {
  run awk 'length($0) > 72 { print FILENAME ":" FNR ": " length($0) }' "$1"
  [ "$output" = '' ]
  run grep -nP '[^\x20-\x7e]' "$1"
  [ "$output" = '' ]
}

png_width() {
  od -An -tu1 -j16 -N4 "$1" | awk '{ print (($1 * 256 + $2) * 256 + $3) * 256 + $4 }'
}

# An awk program with an END block reads its standard input, were that a terminal or a pipe that stays open.
@test "standard input is left alone" {
  local hold
  mkfifo "$BATS_TEST_TMPDIR/fifo"
  exec {hold}<>"$BATS_TEST_TMPDIR/fifo"
  timeout 60 "$report" --out "$BATS_TEST_TMPDIR/out" "$result" <"$BATS_TEST_TMPDIR/fifo" >/dev/null
  exec {hold}>&-
}

# --- usage -----------------------------------------------------------------------------------

@test "--help says what is read, what is written, and the exit status" {
  run "$report" --help
  [ "$status" -eq 0 ]
  [ "${lines[0]}" = 'usage: plots/report [options] RESULT' ]
  documents_every_option "$report"
  [[ $output == *'--out=DIR'* ]]
  [[ $output == *'Exit status'* ]]
  [[ $output == *'Example: '* ]]
}

@test "wrong usage is one line and exit 2" {
  run "$report" --pretty "$result"
  [ "$status" -eq 2 ]
  one_line_error "unknown option '--pretty'"
  run "$report"
  [ "$status" -eq 2 ]
  one_line_error 'name a result folder'
  run "$report" "$BATS_TEST_TMPDIR/nowhere"
  [ "$status" -eq 2 ]
  one_line_error 'there is no folder'
  run "$report" --out "$result"
  [ "$status" -eq 2 ]
  one_line_error 'name a result folder'
}

@test "writes into the result and names what it wrote" {
  run "$report" "$result"
  [ "$status" -eq 0 ]
  [ "${lines[0]}" = "report: $result/report.txt" ]
  [[ ${lines[2]} == "plots: "*forest.png*matrix.png*mpps.png*layouts.png*drift.png ]]
  for file in report.txt report.html {forest,matrix,mpps,layouts,drift}.{png,svg}; do
    [ -s "$result/$file" ]
  done
  run find "$result" -name '.report*'
  [ "$output" = '' ]
}

@test "the same input gives the same bytes, whatever the locale and time zone" {
  "$report" --out "$BATS_TEST_TMPDIR/one" "$result" >/dev/null
  LC_ALL=$(locale -a | grep -im1 'utf-\?8' || echo C) TZ=Pacific/Auckland "$report" --out="$BATS_TEST_TMPDIR/two" "$result/" >/dev/null
  run diff -r "$BATS_TEST_TMPDIR/one" "$BATS_TEST_TMPDIR/two"
  [ "$output" = '' ]
  [ "$status" -eq 0 ]
}

@test "reads nothing but the result: it can lie anywhere, read-only" {
  chmod -R a-w "$result"
  "$report" --out "$BATS_TEST_TMPDIR/out" "$result" >/dev/null
  chmod -R u+w "$result"
  run diff -r "$BATS_TEST_TMPDIR/out" "$(drawn)"
  [ "$status" -eq 0 ]
}

# --- the text --------------------------------------------------------------------------------

@test "the text is plain ASCII of at most 72 columns" {
  mail_width "$(drawn)/report.txt"
}

# The head: question, answer and where it comes from, a line each.
head_is() { # FILE LINE TEXT
  run sed -n "$2p" "$1"
  [ "$output" = "$3" ] || { printf 'line %s is: %s\n' "$2" "$output" >&2; return 1; }
}

@test "the text begins with three lines: question, answer with its interval, where it comes from" {
  head_is "$(drawn)/report.txt" 1 'Question: Synthetic fixture, nothing was measured: does this way of bu..'
  head_is "$(drawn)/report.txt" 2 'Answer: slower: meson-shared (clang) +8.1 % (+7.2 to +9.0 %), 1 more.'
  head_is "$(drawn)/report.txt" 3 'Where from: it holds over 8 link orders; --localise tells more.'
  # The whole question stands below, and the page has the same answer.
  has "$(drawn)/report.txt" 'does this way of building DPDK cost packets per second? With gcc: slower'
  grep -q '<p class="lead">Slower: meson-shared (clang) +8.1&nbsp;%&nbsp;(+7.2&nbsp;to&nbsp;+9.0&nbsp;%), 1 more, 1 undecided, 2 faster, 1 same.</p>' "$(drawn)/report.html"
  edit_meta '.question = "Short?"'
  edit effects.tsv 'NR == 1 || $16 == "baseline" { print; next } { $16 = "same"; $9 = 1.001; $10 = 0.999; $11 = 1.003; print }'
  "$report" "$result" >/dev/null
  head_is "$result/report.txt" 1 'Question: Short?'
  head_is "$result/report.txt" 2 'Answer: all 6 the same within 1 %: every interval in -0.10 to +0.30 %.'
  head_is "$result/report.txt" 3 'Where from: no clear difference; link order alone spreads by 1.4 %.'
  edit effects.tsv '$1 == "meson-shared" && $2 == "gcc" { $16 = "undecided" } { print }'
  "$report" "$result" >/dev/null
  head_is "$result/report.txt" 2 'Answer: undecided: meson-shared (gcc) +0.10 % (-0.10 to +0.30 %).'
}

# The order a reader of a mail expects: what, on what, how it came out, is it true, where, how again, what not.
@test "the text has its parts in order, and the plot of gnuplot among them" {
  localised 1200 1200 0 0
  "$report" "$result" >/dev/null
  run grep -nE '^(Machine|System|Compilers|DPDK .*distribution|Device|Scenario|The scenario.s command|Result$|Cross-check|A/A gcc|Proof|Where it lies|How to reproduce|What was not measured)' "$result/report.txt"
  [ "$(sed 's/^[0-9]*://; s/[ :,].*//' <<<"$output" | paste -sd ' ')" = 'Machine System Compilers DPDK Device Scenario The Result Cross-check A/A Proof Where How What' ]
  mail_width "$result/report.txt"
}

@test "where it comes from: the libraries of the row that the answer names" {
  localised 1700 1200 500 0
  edit effects.tsv '$1 == "meson-static-nopic" && $2 == "clang" { $9 = 1.11; $10 = 1.10; $11 = 1.12; $16 = "slower" } { print }'
  "$report" "$result" >/dev/null
  head_is "$result/report.txt" 2 'Answer: slower: meson-static-nopic (clang) +11.0 % (+10.0 to +12.0 %).'
  head_is "$result/report.txt" 3 'Where from: +1.70 instructions/packet (+0.85 %): net_mlx5 +1.20, ...'
  grep -q 'Where from:</b> +1.70 instructions/packet (+0.85 %): net_mlx5 +1.20, mempool_ring +0.50.' "$result/report.html"
  edit localise/parts.tsv 'NR > 1 { $7 = 0; $8 = "-" } { print }'
  edit localise/functions.tsv 'NR == 1'
  "$report" "$result" >/dev/null
  head_is "$result/report.txt" 3 'Where from: not from the instructions: not one more or less.'
}

@test "each compiler has its whole answer below the head" {
  has "$(drawn)/report.txt" 'With gcc: slower than meson-static: meson-shared +7.4 %'
  has "$(drawn)/report.txt" 'With clang: slower than meson-static: meson-shared +8.1 % (+7.2 to +9.0 %); faster than'
  has "$(drawn)/report.txt" 'the same as meson-static within 1 %: meson-static-nopic +0.2 % (-0.5 to +0.9 %).'
  has "$(drawn)/report.txt" 'undecided against meson-static: meson-static-nopic +1.1 % (+0.3 to +2.0 %).'
  has "$(drawn)/report.txt" 'The differences called slower or faster hold over 8 shuffled link orders'
}

# Every row of effects.tsv, recomputed here from its columns.
@test "the figures of the table are those of effects.tsv" {
  awk -F '\t' '
    function s(x, d,    t) { t = sprintf("%.1f", x); sub(/^-0\.0$/, "0.0", t); return (t + 0 > 0 ? "+" : "") t }
    FNR == 1 { next }
    $1 != "meson-static" { printf "%s %s %s %s to %s %s\n", $1, $2, s(($9 - 1) * 100), s(($10 - 1) * 100), s(($11 - 1) * 100), $16 }
    $1 == "meson-static" { printf "%s %s baseline\n", $1, $2 }' "$result/effects.tsv" | sort >"$BATS_TEST_TMPDIR/expected"
  sed -n '/^Result$/,/^diff\./p' "$(drawn)/report.txt" | tr -s ' ' |
    awk '$2 ~ /^(gcc|clang)$/ && $NF ~ /^(slower|faster|same|undecided)$/ { print $1, $2, $5, $6, $7, $8, $9 }
         $NF == "baseline" { print $1, $2, $NF }' | sort >"$BATS_TEST_TMPDIR/found"
  run diff "$BATS_TEST_TMPDIR/expected" "$BATS_TEST_TMPDIR/found"
  [ "$output" = '' ]
  [ "$(wc -l <"$BATS_TEST_TMPDIR/found")" -eq 8 ]
}

@test "cycles per packet, Mpps, as built and A/A stand in the text as measured" {
  has "$(drawn)/report.txt" 'meson-static-nopic gcc 100.0 20.00 +0.2 -0.5 to +0.9 same'
  has "$(drawn)/report.txt" 'meson-static-nopic gcc * +4.1 +0.2 8 0.4'
  has "$(drawn)/report.txt" 'As built, meson-static-nopic (gcc) is 4.1 % slower; over layouts it is the same within 1 %: +0.2 %'
  has "$(drawn)/report.txt" 'gcc: -0.6 to +1.0 %, includes 0 as it should.'
  has "$(drawn)/report.txt" '1 of 576 slices is invalid and not counted (timeout 1)'
}

@test "every failed build is a row with its reason and log" {
  has "$(drawn)/report.txt" "meson-static-lto gcc build failed: lto1: fatal error: bytecode stream in file 'lib/librte_eal.a' generated with LTO version 11.3 instead of the expected 12.0, log: logs/build-meson-static-lto-gcc.log"
  has "$(drawn)/report.txt" 'meson-static-lto clang proof failed: asked for absolute code, got pie, log: proof/meson-static-lto-clang'
  has "$(drawn)/report.txt" 'WARNING: 2 variants were not measured: meson-static-lto (gcc), meson-static-lto (clang).'
}

@test "the proof shows flag, objects, code model asked and found, and ELF type" {
  has "$(drawn)/report.txt" 'meson-static-nopie gcc -fno-pie 118/118 absolute absolute EXEC'
  has "$(drawn)/report.txt" 'meson-static-lto clang -fno-pie 118/118 absolute pie DYN-PIE'
  has "$(drawn)/report.txt" 'meson-static gcc 2807 5413 1332/0/12/40 412 2311'
}

@test "the commands can be pasted: they read as they stand in meta.json" {
  # The shell itself joins the lines; printf shows the words it sees.
  command_after() {
    awk -v head="$1" 'found && !/^ |^,/ { exit } found { print } index($0, head) == 1 { found = 1 }' "$(drawn)/report.txt"
  }
  [ "$(bash -c "printf '%s ' $(command_after "The scenario's command")")" = "$(jq -r .scenario.command "$result/meta.json") " ]
  [ "$(bash -c "printf '%s ' $(command_after 'What was run')")" = "$(jq -r .scenario.used "$result/meta.json") " ]
  [ "$(bash -c "printf '%s ' $(command_after 'mppsdiff 0.1.0, commit')")" = "$(jq -r .kit.command "$result/meta.json") " ]
  has "$(drawn)/report.txt" 'stats --baseline meson-static --margin 1 --seed \ 20261130 slices.tsv'
}

@test "a seed that the command does not name is added to it" {
  edit_meta '.kit.command = "scenarios/software/run --quick" | .measure.seed = 4711'
  "$report" "$result" >/dev/null
  has "$result/report.txt" 'scenarios/software/run --quick --seed 4711'
  has "$result/report.html" 'scenarios/software/run --quick --seed 4711'
  [ "$(grep -o -- '--seed' "$(drawn)/report.txt" | wc -l)" -eq 2 ]
}

@test "looks and a build of its own kind are one sentence each, and stats is asked again with them" {
  lacks "$(drawn)/report.txt" 'Pocock'
  edit_meta '.measure += {looks: 4, look: 3, epochs_planned: 8, epochs: 6, stopped: "narrow", half_width_percent: 0.5, function_sections: true}'
  "$report" "$result" >/dev/null
  has "$result/report.txt" 'the run could end after every 2 epochs of 8 (fixed before it), and ended at look 3 of 4, every interval being within +-0.5 %; intervals and verdicts are held to Pocock'"'"'s levels'
  has "$result/report.txt" 'every object with -ffunction-sections'
  has "$result/report.txt" '--looks 4 --look 3'
  has "$result/report.html" 'ended at look 3 of 4'
  edit_meta '.measure += {look: 4, epochs: 8, stopped: "end", function_sections: false}'
  "$report" "$result" >/dev/null
  has "$result/report.txt" 'ended at look 4 of 4; intervals'
  lacks "$result/report.txt" '-ffunction-sections'
}

@test "stats makes the report's figures again from the slices, as the text says" {
  [ -x "$TOOLS/stats" ] || skip_or_fail 'needs the kit built: ninja -C build'
  (cd "$result" && "$TOOLS/stats" --baseline meson-static --margin 1 --seed 20261130 slices.tsv) | cut -f 1-9 >"$BATS_TEST_TMPDIR/again"
  run diff <(cut -f 1-9 "$result/effects.tsv") "$BATS_TEST_TMPDIR/again"
  [ "$output" = '' ]
}

@test "the ASCII forest plot puts estimate and interval where the numbers say" {
  local line
  line=$(grep -m 1 '^meson-static-nopie gcc  .*o' "$(drawn)/report.txt")
  [[ $line == *'[--o--]'*.*'|'*.* ]]
  line=$(grep -m 1 '^meson-shared gcc  .*o' "$(drawn)/report.txt")
  [[ $line == *.*'|'*.*'[--o--]'* ]]
}

# --- what must be said loudly ----------------------------------------------------------------

@test "A/A that excludes 1 stands at the top, and the answer refers to it" {
  edit effects.tsv '$2 == "gcc" && NR > 1 { $14 = "1.002000"; $15 = "1.009000" } { print }'
  "$report" "$result" >/dev/null
  has "$result/report.txt" 'Beware, see the warning. With clang:'
  has "$result/report.txt" 'WARNING: gcc: the A/A interval (+0.2 to +0.9 %) excludes 0'
  has "$result/report.txt" 'gcc: +0.2 to +0.9 %, does NOT include 0'
  has "$result/report.html" 'the A/A interval (+0.2&nbsp;to&nbsp;+0.9&nbsp;%) excludes 0' || has "$result/report.html" 'excludes 0'
  lacks "$result/report.txt" 'WARNING: clang: the A/A'
  [ "$(grep -n 'excludes 0' "$result/report.txt" | head -n 1 | cut -d : -f 1)" -lt 25 ]
}

@test "A/A wider than an effect weakens the verdict, at the top" {
  edit effects.tsv '$2 == "gcc" && NR > 1 { $14 = "0.920000"; $15 = "1.080000" } { print }'
  "$report" "$result" >/dev/null
  has "$result/report.txt" 'WARNING: gcc: the A/A interval (-8.0 to +8.0 %) is wider than the effect of meson-static-nopie -5.8 %, meson-shared +7.4 %, so these verdicts are weak'
  has "$result/report.txt" 'Note: gcc: the A/A interval (-8.0 to +8.0 %) is wider than the effect of meson-static-nopic +0.2 %'
}

@test "a machine that changed its speed: rates that contradict the paired difference are pointed out" {
  lacks "$(drawn)/report.txt" "speed changed during the run"
  edit effects.tsv '$1 == "meson-static-nopic" && $2 == "gcc" { $7 = "130.000" } { print }'
  "$report" "$result" >/dev/null
  has "$result/report.txt" "Note: gcc: the machine's speed changed during the run. Comparing rates of whole runs would give meson-static-nopic +30.2 % instead of +0.2 %"
}

@test "no A/A pair, no hugepages, drops and warnings of the run are warned of" {
  edit effects.tsv 'NR > 1 { $14 = $15 = "-" } { print }'
  edit slices.tsv 'NR == 2 { $12 = 7 } { print }'
  edit_meta '.machine.hugepages = "--no-huge" | .warnings = ["one CPU only"]'
  "$report" "$result" >/dev/null
  has "$result/report.txt" 'WARNING: gcc: no A/A pair was measured'
  has "$result/report.txt" 'WARNING: no hugepages (--no-huge)'
  has "$result/report.txt" 'WARNING: one CPU only'
  has "$result/report.txt" 'dropped 7 of'
  lacks "$result/report.txt" 'Packets dropped at transmit: none'
  has "$(drawn)/report.txt" 'Packets dropped at transmit: none'
}

@test "a software device is named; a real one is not" {
  has "$(drawn)/report.txt" 'Note: no NIC and no NIC driver took part'
  edit_meta '.device.kind = "software" | .device.name = "software ConnectX-5"'
  "$report" "$result" >/dev/null
  has "$result/report.txt" 'The real mlx5 driver ran on a software device (software ConnectX-5)'
  edit_meta '.device.kind = "real" | .device.name = "ConnectX-5 15b3:1017"'
  "$report" "$result" >/dev/null
  lacks "$result/report.txt" 'no NIC'
  lacks "$result/report.txt" 'software device'
}

@test "one link order only: a warning, no layouts chart, and an old one goes away" {
  "$report" "$result" >/dev/null
  [ -e "$result/layouts.png" ]
  edit units.tsv 'NR == 1 || $4 == 0 { print }'
  edit slices.tsv 'NR == 1 || $7 == 0 { print }'
  edit effects.tsv 'NR > 1 { $4 = 1; $12 = "-" } { print }'
  "$report" "$result" >/dev/null
  [ ! -e "$result/layouts.png" ]
  [ ! -e "$result/layouts.svg" ]
  has "$result/report.txt" 'WARNING: one link order only'
  has "$result/report.txt" 'Where from: not known, only one link order was measured.'
  lacks "$result/report.txt" 'As built against over layouts'
}

@test "a variant without a valid slice, and one that was built and not measured, keep their rows" {
  edit effects.tsv '$1 == "meson-shared" && $2 == "gcc" { for (i = 7; i <= 13; i++) $i = "-"; $16 = "invalid"; $17 = "every slice timed out" } { print }'
  edit effects.tsv '!($1 == "meson-static-nopic" && $2 == "clang") { print }'
  "$report" "$result" >/dev/null
  has "$result/report.txt" 'meson-shared gcc no valid slice: every slice timed out'
  has "$result/report.txt" 'meson-static-nopic clang built, not measured'
  mail_width "$result/report.txt"
}

@test "nothing could be built: there is a report that says so" {
  rm "$result"/{slices,effects,units}.tsv
  edit builds.tsv 'NR > 1 { $5 = "build failed"; $6 = "cc: no such file"; for (i = 8; i <= 23; i++) $i = "-" } { print }'
  run "$report" "$result"
  [ "$status" -eq 0 ]
  [[ ${lines[2]} == *"none, nothing was measured" ]]
  has "$result/report.txt" 'Answer: no variant could be built and measured.'
  has "$result/report.txt" 'meson-static gcc build failed: cc: no such file'
  mail_width "$result/report.txt"
  has "$result/report.html" "Nothing was measured, so there is nothing to draw."
  run find "$result" -name "*.png" -o -name "*.svg"
  [ "$output" = "" ]
  [ -s "$result/report.html" ]
}

# more_releases: the fixture's rows again for 20.08, where meson-shared does not build, and for 18.11, which
# cannot be fetched.
more_releases() {
  local file column variant cc
  for file in effects units slices builds; do
    case $file in effects | units) column=3 ;; slices) column=6 ;; builds) column=4 ;; esac
    edit "$file.tsv" "{ print } NR > 1 { \$$column = \"20.08\"; if (\"$file\" == \"slices\") \$1 += 8; print }"
  done
  edit builds.tsv '$4 == "20.08" && $1 == "meson-shared" { $5 = "build failed"; $6 = "no such option"; for (i = 8; i <= 23; i++) $i = "-" } { print }'
  edit effects.tsv '!($3 == "20.08" && $1 == "meson-shared")'
  # A figure of its own, so that a row in the wrong place shows.
  edit effects.tsv '$3 == "20.08" && $1 == "meson-static-nopie" { $9 = "1.034000"; $10 = "1.022000"; $11 = "1.046000"; $16 = "slower" } { print }'
  for variant in meson-static meson-static-nopic meson-static-nopie meson-static-lto meson-shared; do
    for cc in gcc clang; do
      printf '%s\t%s\t-\t18.11\tsource failed\tgit cannot fetch git:mirror@v18.11%s\n' "$variant" "$cc" "$(printf '\t-%.0s' {1..17})"
    done
  done >>"$result/builds.tsv"
  edit_meta '.dpdk = [.dpdk[0] + {used: "forwarder -a 1", rx_burst: "MPRQ", tx_burst: "eMPW"},
    .dpdk[0] + {release: "20.08", used: "forwarder -w 1", rx_burst: "MPRQ_Vector", tx_burst: "eMPW"},
    {release: "18.11", kind: null, id: null, from: "git:mirror@v18.11", failed: "git cannot fetch git:mirror@v18.11"}]
    | .device += {rx_burst: "MPRQ", tx_burst: "eMPW"}'
}

@test "several DPDK releases are kept apart in answer, facts, commands and table of results" {
  more_releases
  "$report" "$result" >/dev/null
  mail_width "$result/report.txt"
  has "$result/report.txt" 'With clang, DPDK 20.08: slower than meson-static: meson-static-nopie +3.4 %'
  has "$result/report.txt" 'With gcc, DPDK 18.11: nothing to compare with'
  has "$result/report.txt" 'WARNING: 16 builds were not measured: meson-static-lto (gcc, DPDK 22.11.11),'
  has "$result/report.txt" 'meson-shared (clang, DPDK 20.08), all of DPDK 18.11.'
  has "$result/report.txt" 'DPDK 18.11, git:mirror@v18.11 not to be had: git cannot fetch git:mirror@v18.11'
  has "$result/report.txt" 'DPDK 22.11.11: rx burst MPRQ, tx burst eMPW DPDK 20.08: rx burst MPRQ_Vector, tx burst eMPW'
  has "$result/report.txt" '8 epochs of 4 rounds for each release, which take turns'
  has "$result/report.txt" 'What was run with DPDK 22.11.11: forwarder -a 1 What was run with DPDK 20.08: forwarder -w 1'
  has "$result/report.txt" 'DPDK 22.11.11: meson-static gcc'
  has "$result/report.txt" 'DPDK 20.08: meson-static gcc'
  has "$result/report.txt" 'meson-static gcc source failed: git cannot fetch git:mirror@v18.11'
  has "$result/report.html" '<th scope="row">meson-static-nopie</th><td>gcc</td><td>20.08</td> <td><span class="slower">slower</span></td>'
}

@test "several DPDK releases: every table of text and page says of which release a row is" {
  local text page heading n
  more_releases
  counters
  localised 1200 1200 0 0
  for n in parts functions counts; do
    awk -F '\t' -v OFS='\t' '{ print } NR > 1 { $3 = "20.08"; print }' "$result/localise/$n.tsv" >"$BATS_TEST_TMPDIR/edited"
    mv "$BATS_TEST_TMPDIR/edited" "$result/localise/$n.tsv"
  done
  # two numbers apart, 20.08's being three times the other's
  sed -i '/\t20.08\t/s/\t1200\t/\t3600\t/g' "$result/localise/parts.tsv"
  mkdir "$result/proof"
  printf 'variant\tcc\tdpdk\tconstant\tbaseline_value\tvariant_value\nmeson-shared\tgcc\t20.08\tRTE_MAX_LCORE\t128\t64\n' >"$result/proof/constants.tsv"
  printf 'variant\tcc\tdpdk\tfunctions_differ\tinlined_in_baseline\tinlined_in_variant\tlibraries_not_compared\nmeson-shared\tgcc\t20.08\t7\t1\t1\t0\n' >"$result/proof/inlining.tsv"
  "$report" "$result" >/dev/null
  mail_width "$result/report.txt"
  text=$result/report.txt page=$result/report.html
  # tables of the text: a line before the first row of each release
  while IFS='|' read -r heading n; do
    [ "$(awk -v heading="$heading" 'index($0, heading) == 1 { on = 1; next } on && /^DPDK [0-9.]+:/ { n++ } on && (/^$/ || /^diff\./) && n { exit } END { print n + 0 }' "$text")" -eq "$n" ] ||
      { echo "$heading"; return 1; }
  done <<'TABLES'
Result|3
Cycles per packet against|2
As built against|2
Where it lies|2
Counters|2
Proof|3
Relocations|2
TABLES
  has "$text" 'clang, DPDK 20.08: -0.4 to +0.5 %, includes 0'
  has "$text" 'meson-static-nopic, clang, DPDK 20.08: mlx5_rx_burst'
  has "$text" 'meson-static-nopic (clang, DPDK 20.08): +3.60 instructions/packet'
  has "$text" 'meson-static-nopic (clang, DPDK 22.11.11): +1.20 instructions/packet'
  has "$text" 'meson-shared gcc 20.08 RTE_MAX_LCORE 128 64'
  has "$text" 'meson-shared (gcc, DPDK 20.08): 7 functions differ in size or calls from meson-static; 1 called here is inlined there, 1 the other way round (proof/meson-shared-gcc-20.08/compare.tsv).'
  has "$text" 'localise/VARIANT-CC-RELEASE/disassembly.txt'
  # of the page: a column of releases
  while IFS= read -r heading; do
    awk -v heading="aria-label=\"$heading\"" 'index($0, heading) { on = 1 } on && /<th scope="col">DPDK<\/th>/ { head = 1 } on && /<tr><th scope="row">/ { rows++; if (/<td>20\.08<\/td>/) here++ } on && /<\/table>/ { exit }
      END { exit !(head && rows && here) }' "$page" || { echo "$heading"; return 1; }
  done <<'TABLES'
Results
As built against over layouts
Instructions per packet by library
Functions that differ
Counters
Proof
Relocations
TABLES
  has "$page" '<td>20.08</td> <td><code>RTE_MAX_LCORE</code></td>'
  grep -q 'href="localise/meson-static-nopic-clang-20.08/disassembly.txt"' "$page"
  # charts: a heading or panel each
  for n in forest mpps layouts drift; do
    grep -q 'DPDK 20.08<' "$result/$n.svg" || { echo "$n"; return 1; }
    grep -q 'DPDK 22.11.11<' "$result/$n.svg" || { echo "$n"; return 1; }
  done
  grep -q 'meson-static-nopic, clang, DPDK 20.08: ' "$result/waterfall.svg"
}

@test "one comparison and no A/A interval: the plot of the text is of one line" {
  for file in effects units builds; do edit "$file.tsv" 'NR == 1 || $2 == "gcc" && $1 ~ /^meson-static(-nopie)?$/'; done
  edit slices.tsv 'NR == 1 || $5 == "gcc" && $4 ~ /^meson-static(-nopie)?$/'
  awk -F '\t' -v OFS='\t' 'NR == 1 { for (i = 1; i <= NF; i++) c[$i] = i } NR > 1 { $c["aa_low"] = $c["aa_high"] = "-" } { print }' "$result/effects.tsv" >"$BATS_TEST_TMPDIR/e"
  mv "$BATS_TEST_TMPDIR/e" "$result/effects.tsv"
  "$report" "$result" >/dev/null
  grep -qE '^meson-static-nopie gcc .*\[-*o-*\]' "$result/report.txt"
}

# --- the cross-check -------------------------------------------------------------------------

@test "cross-check: each variant with each release and compiler, and why there is no figure" {
  more_releases
  "$report" "$result" >/dev/null
  sed -n '/^Cross-check/,/^Cycles per packet against/p' "$result/report.txt" >"$BATS_TEST_TMPDIR/matrix"
  has "$BATS_TEST_TMPDIR/matrix" 'DPDK 22.11.11 22.11.11 20.08 20.08 variant gcc clang gcc clang'
  has "$BATS_TEST_TMPDIR/matrix" 'meson-static-nopic = +0.2 ? +1.1 = +0.2 ? +1.1 -0.5..+0.9 +0.3..+2.0 -0.5..+0.9 +0.3..+2.0'
  has "$BATS_TEST_TMPDIR/matrix" 'meson-static-nopie F -5.8 F -5.6 S +3.4 S +3.4 -7.0..-4.6 -6.4..-4.8 +2.2..+4.6 +2.2..+4.6'
  has "$BATS_TEST_TMPDIR/matrix" 'meson-static-lto not built no proof not built no proof [1] [2] [1] [2]'
  has "$BATS_TEST_TMPDIR/matrix" 'meson-shared S +7.4 S +8.1 not built not built +6.3..+8.5 +7.2..+9.0 [3] [3]'
  has "$BATS_TEST_TMPDIR/matrix" 'meson-static no source no source [4] [4]'
  has "$BATS_TEST_TMPDIR/matrix" '[3] build failed: no such option [4] source failed: git cannot fetch git:mirror@v18.11'
  # the page has the same, with a word, a letter and a class
  grep -q '<td class="is-slower"><b>S slower</b><br>+3.4 %<br><small>+2.2 to +4.6 %</small></td>' "$result/report.html"
  [ "$(grep -c '<td class="is-none">' "$result/report.html")" -eq 16 ]
  grep -q '<li id="reason-4">source failed: git cannot fetch' "$result/report.html"
  # and the chart: words in its cells, the reasons below
  [ "$(png_width "$result/matrix.png")" -eq 1200 ]
  [ "$(grep -c '>S slower<' "$result/matrix.svg")" -eq 4 ]
  [ "$(grep -c '>F faster<' "$result/matrix.svg")" -eq 2 ]
  [ "$(grep -c '>x no source<' "$result/matrix.svg")" -eq 10 ]
  grep -q '>+2.2 to +4.6<' "$result/matrix.svg"
  grep -q '>\[3\] build failed: no such option<' "$result/matrix.svg"
  grep -q '<desc.*meson-static-nopie, gcc, DPDK 20.08: slower +3.4 %' "$result/matrix.svg"
}

@test "cross-check: instructions per packet where they were traced, else where they were counted" {
  counters
  "$report" "$result" >/dev/null
  has "$result/report.txt" 'i: instructions per packet, counted in user mode.'
  grep -q '>321.5 instr.<' "$result/matrix.svg"
  localised 1200 1200 0 0
  sed -i 's/instructions_per_packet\t200.0000\t200.0000/instructions_per_packet\t200.0000\t201.2000/' "$result/localise/counts.tsv"
  "$report" "$result" >/dev/null
  has "$result/report.txt" 'i: instructions per packet, single-stepped as built.'
  # clang's two: traced there, and nothing of gcc
  [ "$(grep -c '[0-9] instr.<' "$result/matrix.svg")" -eq 2 ]
  grep -q '>201.2 instr.<' "$result/matrix.svg"
  grep -q '>200.0 instr.<' "$result/matrix.svg"
  has "$result/report.html" '<small>201.2 instr.</small>'
}

@test "cross-check: none where the table of results says as much, and an old chart goes away" {
  has "$(drawn)/report.txt" 'Cross-check'
  "$report" "$result" >/dev/null
  for file in effects units builds; do edit "$file.tsv" '$2 != "clang"'; done
  edit slices.tsv '$5 != "clang"'
  edit_meta '.measure.cc = ["gcc"]'
  "$report" "$result" >/dev/null
  lacks "$result/report.txt" 'Cross-check'
  lacks "$result/report.html" 'Cross-check'
  [ ! -e "$result/matrix.png" ]
  [ ! -e "$result/matrix.svg" ]
  # one variant is enough with several releases
  for file in effects units builds; do edit "$file.tsv" 'NR == 1 || $1 ~ /^meson-static(-nopie)?$/'; done
  edit slices.tsv 'NR == 1 || $4 ~ /^meson-static(-nopie)?$/'
  more_releases
  "$report" "$result" >/dev/null
  has "$result/report.txt" 'Cross-check'
  [ -s "$result/matrix.png" ]
}

@test "cross-check: many releases, on paper and on a phone, stay within their picture" {
  local n
  for n in 16 17 18 19 20 21 23 24; do
    awk -F '\t' -v OFS='\t' -v dpdk="$n.11.1" 'NR > 1 && $3 == "22.11.11" { $3 = dpdk; print }' "$result/effects.tsv" >>"$result/effects.tsv.new"
  done
  cat "$result/effects.tsv.new" >>"$result/effects.tsv"
  rm "$result/effects.tsv.new"
  "$report" "$result" >/dev/null
  mail_width "$result/report.txt"
  [ "$(grep -c '^meson-static-nopie.*F -5.8' "$result/report.txt")" -ge 3 ]
  [ "$(stat -c %s "$result/matrix.png")" -le 100000 ]
  # eighteen columns have no room for words: letters, and no interval
  [ "$(grep -c '>F<' "$result/matrix.svg")" -eq 18 ]
  run grep -c '>+6.3..+8.5<' "$result/matrix.svg"
  [ "$output" -eq 0 ]
}

@test "long names, tiny and huge effects: the text keeps its width and its digits" {
  for file in effects units slices builds; do
    edit "$file.tsv" '{ sub(/meson-shared/, "meson-static-with-a-name-that-nobody-should-give-a-variant-but-somebody-will") ; print }'
  done
  edit effects.tsv '
    $1 == "meson-static-nopic" { $9 = "1.000132"; $10 = "0.999871"; $11 = "1.000391"; $16 = "same" }
    $1 == "meson-static-nopie" { $9 = "1.412345"; $10 = "1.401234"; $11 = "1.423456"; $16 = "slower" }
    { print }'
  "$report" "$result" >/dev/null
  mail_width "$result/report.txt"
  has "$result/report.txt" 'meson-static-nopic +0.01 % (-0.01 to +0.04 %)' || has "$result/report.txt" 'meson-static-nopic +0.013 % (-0.013 to +0.039 %)'
  has "$result/report.txt" 'meson-static-nopie +41.2 % (+40.1 to +42.3 %)'
}

# --- counters --------------------------------------------------------------------------------

# counters: perf.tsv and perf-events.tsv of the fixture. A packet costs 100 cycles here, 250 of gcc's
# meson-static; layout 0 misses the L1i twice in a thousand packets, all others four times.
counters() {
  awk -F '\t' -v OFS='\t' '
    NR == 1 { print "epoch", "round", "variant", "cc", "dpdk", "layout", "process", "packets", "cycles", "instructions", "L1-icache-load-misses"; next }
    $13 == 1 {
      cycles = ($4 == "meson-static" && $5 == "gcc") ? 250 : 100
      print $1, $2, $4, $5, $6, $7, $8, $9, cycles * $9, $2 == 1 ? "-" : 321.5 * $9, ($7 == 0 ? 0.002 : 0.004) * $9
    }' "$result/slices.tsv" >"$result/perf.tsv"
  {
    printf 'epoch\tevent\tstatus\tslices\treason\n'
    for epoch in 1 2; do
      printf '%s\tcycles\tcounted\t9\t-\n' $epoch
      printf '%s\tinstructions\tcounted\t9\t3 slices left out: the PMU has not enough counters\n' $epoch
      printf '%s\tL1-icache-load-misses\tcounted\t9\t-\n' $epoch
      printf '%s\tiTLB-load-misses\tabsent\t0\tperf_event_open: No such file or directory\n' $epoch
    done
  } >"$result/perf-events.tsv"
}

@test "counters: figures per packet of each variant and compiler, in text and page" {
  counters
  "$report" "$result" >/dev/null
  mail_width "$result/report.txt"
  has "$result/report.txt" 'Counters, user mode, per packet'
  has "$result/report.txt" 'meson-static gcc 250.0 321.5 0.0027'
  has "$result/report.txt" 'meson-shared clang 100.0 321.5 0.0030'
  has "$result/report.txt" 'instructions: without the slices in which the PMU had no counter'
  has "$result/report.html" '<h2 id="counters">Counters, user mode, per packet</h2>'
  [ "$(grep -c 'data-value="250">250.0</td>' "$result/report.html")" -eq 1 ]
  has "$result/report.txt" '- iTLB misses per packet: this CPU does not count them (perf_event_open: No such file or directory).'
  # failed builds have no row
  run sed -n '/^Counters, user mode/,/^Sums over/p' "$result/report.txt"
  [ "$(grep -c ' \(gcc\|clang\) ' <<<"$output")" -eq 8 ]
}

@test "counters: none here is one line with the reason of that run, and no table" {
  printf 'epoch\tevent\tstatus\tslices\treason\n' >"$result/perf-events.tsv"
  for epoch in 1 2; do
    for event in cycles branch-misses L1-icache-load-misses iTLB-load-misses; do
      printf '%s\t%s\tabsent\t0\tperf_event_open: No such file or directory\n' $epoch $event
    done
  done >>"$result/perf-events.tsv"
  printf 'epoch\tround\tvariant\tcc\tdpdk\tlayout\tprocess\tpackets\tcycles\tbranch-misses\tL1-icache-load-misses\tiTLB-load-misses\n' >"$result/perf.tsv"
  "$report" "$result" >/dev/null
  mail_width "$result/report.txt"
  has "$result/report.txt" '- cycles, branch misses, L1i misses, iTLB misses per packet: this machine has no PMU (perf_event_open: No such file or directory).'
  has "$result/report.html" 'this machine has no PMU (perf_event_open: No such file or directory).'
  lacks "$result/report.txt" 'Counters, user mode'
  lacks "$result/report.html" 'Counters, user mode'
}

@test "counters: a kernel that refuses them is said so, with the sysctl to set" {
  has "$(drawn)/report.txt" 'misses per packet: no counters were asked for.'
  printf 'epoch\tevent\tstatus\tslices\treason\n1\tcycles\trefused\t0\tperf_event_open: Permission denied; kernel.perf_event_paranoid is 3: allow it with sysctl -w kernel.perf_event_paranoid=2\n' >"$result/perf-events.tsv"
  "$report" "$result" >/dev/null
  has "$result/report.txt" '- cycles per packet: perf_event_open: Permission denied; kernel.perf_event_paranoid is 3: allow it with sysctl -w kernel.perf_event_paranoid=2.'
  lacks "$result/report.txt" 'no PMU'
}

@test "counters: a malformed perf.tsv is one line and exit 2" {
  counters
  cp "$result/perf.tsv" "$BATS_TEST_TMPDIR/good"
  while IFS='|' read -r change expected; do
    sed "$change" "$BATS_TEST_TMPDIR/good" >"$result/perf.tsv"
    run "$report" "$result"
    [ "$status" -eq 2 ] || { echo "$change"; return 1; }
    one_line_error "$expected" || { echo "$change"; return 1; }
    [ ! -e "$result/report.txt" ]
  done <<'CASES'
2s/	[0-9]*$/	many/|line 2: column L1-icache-load-misses: 'many' is not a count
1s/cycles/cy cles/|the header names an event with other characters
1s/packets/bytes/|the header lacks the column 'packets'
3s/$/	1/|line 3: 12 fields
CASES
  cp "$BATS_TEST_TMPDIR/good" "$result/perf.tsv"
  sed -i '2s/counted/guessed/' "$result/perf-events.tsv"
  run "$report" "$result"
  [ "$status" -eq 2 ]
  one_line_error "column status: 'guessed' is not a eventstatus"
}

# --- what differs in the builds --------------------------------------------------------------

@test "constants: a table of what differs, or one line" {
  mkdir "$result/proof"
  lacks "$(drawn)/report.txt" 'the same in all builds'
  has "$(drawn)/report.txt" 'Preprocessor constants: not recorded.'
  printf 'variant\tcc\tconstant\tbaseline_value\tvariant_value\n' >"$result/proof/constants.tsv"
  "$report" "$result" >/dev/null
  has "$result/report.txt" 'Preprocessor constants: the same in all builds.'
  has "$result/report.html" 'Preprocessor constants: the same in all builds.'
  printf 'meson-shared\tgcc\tRTE_MAX_LCORE\t128\t64\nmeson-shared\tgcc\t-D_FILE_OFFSET_BITS\t-\t64\nmeson-shared\tclang\tRTE_EVIL\t"<b>"\t(empty)\n' >>"$result/proof/constants.tsv"
  "$report" "$result" >/dev/null
  mail_width "$result/report.txt"
  has "$result/report.txt" 'Preprocessor constants that differ from meson-static:'
  has "$result/report.txt" 'meson-shared gcc RTE_MAX_LCORE 128 64'
  has "$result/report.txt" 'meson-shared gcc -D_FILE_OFFSET_BITS - 64'
  lacks "$result/report.txt" 'the same in all builds'
  has "$result/report.html" '<td><code>RTE_MAX_LCORE</code></td> <td>128</td> <td>64</td>'
  has "$result/report.html" '&quot;&lt;b&gt;&quot;'
}

@test "constants: a mail takes the first twenty and says where the rest is" {
  mkdir "$result/proof"
  {
    printf 'variant\tcc\tconstant\tbaseline_value\tvariant_value\n'
    for n in $(seq 25); do printf 'meson-shared\tgcc\tRTE_A_CONSTANT_WITH_A_RATHER_LONG_NAME_%02d\t"a value that is longer than its column"\t%d\n' "$n" "$n"; done
  } >"$result/proof/constants.tsv"
  "$report" "$result" >/dev/null
  mail_width "$result/report.txt"
  has "$result/report.txt" '5 more stand in proof/constants.tsv.'
  [ "$(grep -c '<td><code>RTE_A_CONSTANT' "$result/report.html")" -eq 25 ]
}

@test "constants: without the baseline's build nothing is called the same" {
  mkdir "$result/proof"
  printf 'variant\tcc\tconstant\tbaseline_value\tvariant_value\n' >"$result/proof/constants.tsv"
  edit builds.tsv '$1 == "meson-static" && $2 == "clang" { $5 = "build failed"; for (i = 8; i <= 23; i++) $i = "-" } { print }'
  "$report" "$result" >/dev/null
  has "$result/report.txt" 'the same in all builds of compilers whose baseline was built.'
}

# built_by AWK: gives builds.tsv the column of the build system; AWK sets s for each row.
built_by() {
  edit builds.tsv 'NR == 1 { $7 = $7 OFS "build_system"; print; next } { s = "meson"; '"$1"'; $7 = $7 OFS s; print }'
}

@test "build systems: which variant was built by meson, by makefiles, by makefiles replayed" {
  built_by 'if ($1 == "meson-static-nopic") s = "replayed"; if ($1 == "meson-shared") s = "make"; if ($5 == "build failed") s = "-"'
  "$report" "$result" >/dev/null
  mail_width "$result/report.txt"
    has "$result/report.txt" "make, the release's own makefiles: meson-shared"
  has "$result/report.txt" "make, replayed (GNU make compiles meson's list of objects with the flags and constants of 20.08's makefiles): meson-static-nopic;"
  # one line for both compilers
  has "$result/report.txt" 'Built by meson: meson-static, meson-static-nopie'
  has "$result/report.html" "make, the release&#39;s own makefiles: meson-shared"
  [ "$(grep -c '<td>make, replayed</td>' "$result/report.html")" -eq 2 ]
}

@test "build systems: all by meson, or not recorded, is nothing to mention" {
  "$report" "$result" >/dev/null
    lacks "$result/report.txt" 'Built by'
  cp "$result/report.txt" "$BATS_TEST_TMPDIR/before"
  built_by ''
  "$report" "$result" >/dev/null
  diff "$BATS_TEST_TMPDIR/before" "$result/report.txt"
}

@test "functions: how many differ and how many are called that the baseline inlines" {
  mkdir "$result/proof"
  printf 'variant\tcc\tfunctions_differ\tinlined_in_baseline\tinlined_in_variant\tlibraries_not_compared\nmeson-shared\tgcc\t1705\t193\t10\t0\nmeson-shared\tclang\t0\t0\t0\t0\nmeson-static-nopic\tgcc\t1\t1\t0\t2\n' >"$result/proof/inlining.tsv"
  "$report" "$result" >/dev/null
  mail_width "$result/report.txt"
  for file in report.txt report.html; do
    has "$result/$file" 'meson-shared (gcc): 1705 functions differ in size or calls from meson-static; 193 called here are inlined there, 10 the other way round (proof/meson-shared-gcc/compare.tsv).'
    has "$result/$file" 'meson-shared (clang): no function differs in size or calls from meson-static.'
    has "$result/$file" 'meson-static-nopic (gcc): 1 function differs in size or calls from meson-static; 1 called here is inlined there, 0 the other way round; 2 libraries cannot be compared (proof/meson-static-nopic-gcc/compare.tsv).'
  done
}

@test "a build that fails as expected is no failure, in text, page, JUnit and summary; notes of the proof are shown" {
  local junit=$BATS_TEST_TMPDIR/junit.xml summary=$BATS_TEST_TMPDIR/summary.md
  edit builds.tsv '$1 == "meson-static-lto" { $5 = "fails as expected"; $6 = "ld: recompile with -fPIC"; for (i = 8; i <= 23; i++) $i = "-" } { print }'
  mkdir "$result/proof"
  printf 'variant\tcc\tdpdk\tnote\nmeson-shared\tgcc\t22.11.11\t20 <b>libraries</b>\n' >"$result/proof/notes.tsv"
  "$report" --junit "$junit" --summary "$summary" --gate 900 "$result" >/dev/null
  has "$result/report.txt" 'meson-static-lto gcc fails as expected: ld: recompile with -fPIC'
  has "$result/report.txt" 'What cannot be built, as expected: meson-static-lto (gcc), meson-static-lto (clang).'
  has "$result/report.txt" '- meson-shared (gcc): 20 <b>libraries</b>.'
  has "$result/report.html" 'meson-shared (gcc): 20 &lt;b&gt;libraries&lt;/b&gt;.'
  has "$result/report.html" '<td>fails as expected</td>'
  lacks "$result/report.html" '<td class="failed">fails as expected</td>'
  for file in report.txt report.html; do
    lacks "$result/$file" 'What failed'
    lacks "$result/$file" 'variants were not measured'
  done
  mail_width "$result/report.txt"
  grep -q ' errors="0" ' "$junit"
  [ "$(grep -c '<system-out>fails as expected: ld: recompile with -fPIC' "$junit")" -eq 2 ]
  has "$summary" 'fails as expected: ld: recompile with -fPIC'
  lacks "$summary" 'not measured'
}

# --- hostile and broken data -----------------------------------------------------------------

@test "markup and control characters in the data are harmless, in text, page and SVG" {
  local evil='<script>alert(1)</script>&"'\''`id`$(id)%s]]>'
  edit effects.tsv "NR > 1 { \$17 = \"<img src=x onerror=alert(2)>\" } { print }"
  edit builds.tsv 'NR == 5 { $6 = "\033[31m\302\253 <b>bold</b> \342\200\230quoted\342\200\231" } { print }'
  for file in effects units slices builds; do
    EVIL=$evil awk '{ while ((i = index($0, "meson-static-nopic"))) $0 = substr($0, 1, i - 1) ENVIRON["EVIL"] substr($0, i + 18); print }' \
      "$result/$file.tsv" >"$BATS_TEST_TMPDIR/edited"
    mv "$BATS_TEST_TMPDIR/edited" "$result/$file.tsv"
  done
  EVIL=$evil jq '.machine.cpu = env.EVIL | .device.name = env.EVIL | .question = env.EVIL + "\u202e\u001b[31m\u00e4"
    | .scenario.notes = [env.EVIL] | .kit.command = env.EVIL | .compilers[0].version = env.EVIL | .warnings = [env.EVIL]
    | .measure.variants[1] = env.EVIL' "$result/meta.json" >"$BATS_TEST_TMPDIR/edited"
  mv "$BATS_TEST_TMPDIR/edited" "$result/meta.json"
  run "$report" "$result"
  [ "$status" -eq 0 ]
  mail_width "$result/report.txt"
  has "$result/report.txt" "<b>bold</b> 'quoted'"
  # The page's own script is the only one, and no data opens an element.
  [ "$(grep -o '<script' "$result/report.html" | wc -l)" -eq 1 ]
  [ "$(grep -o '<img\|<b>bold' "$result/report.html" | wc -l)" -eq 0 ]
  [ "$(grep -o '&lt;script&gt;alert(1)' "$result/report.html" | wc -l)" -gt 10 ]
  run grep -P '[\x00-\x08\x0b-\x1f\x7f]|\xe2\x80\xae' "$result/report.html"
  [ "$output" = '' ]
  run grep -l '<script' "$result"/*.svg
  [ "$output" = '' ]
  if command -v xmllint >/dev/null; then
    xmllint --noout "$result"/*.svg
  fi
}

@test "a missing file is one line, exit 2, and nothing is written" {
  local file
  for file in meta.json effects.tsv units.tsv slices.tsv builds.tsv; do
    mv "$result/$file" "$BATS_TEST_TMPDIR/kept"
    ls -A "$result" >"$BATS_TEST_TMPDIR/before"
    run "$report" "$result"
    [ "$status" -eq 2 ]
    one_line_error "there is no $result/$file"
    run diff "$BATS_TEST_TMPDIR/before" <(ls -A "$result")
    [ "$output" = '' ]
    mv "$BATS_TEST_TMPDIR/kept" "$result/$file"
  done
}

# refused FILE WHAT: the report must refuse, name the file and what is wrong, and write nothing.
refused() {
  run "$report" "$result"
  [ "$status" -eq 2 ]
  one_line_error "$2"
  [[ $output == *"$1"* ]]
  [ ! -e "$result/report.txt" ]
  [ ! -e "$result/report.html" ]
  cp "$BATS_TEST_DIRNAME/fixtures/report"/*.{tsv,json} "$result"
}

@test "malformed files are refused with line and column" {
  edit effects.tsv 'NR == 3 { $9 = "fast" } { print }'
  refused effects.tsv "line 3: column ratio: 'fast' is not a positive"
  edit effects.tsv 'NR == 3 { $9 = "nan" } { print }'
  refused effects.tsv "line 3: column ratio: 'nan'"
  edit effects.tsv 'NR == 3 { $12 = "wide" } { print }'
  refused effects.tsv "column layout_spread_percent: 'wide' is not a number"
  edit effects.tsv 'NR == 4 { $16 = "great" } { print }'
  refused effects.tsv "column verdict: 'great' is not a verdict"
  edit effects.tsv 'NR == 2 { print $1, $2; next } { print }'
  refused effects.tsv 'line 2: 2 fields, but the header has 17'
  edit effects.tsv '{ print } NR == 2 { print }'
  refused effects.tsv 'is there twice'
  edit slices.tsv 'NR == 1 { $10 = "ticks" } { print }'
  refused slices.tsv "the header lacks the column 'cycles'"
  edit slices.tsv 'NR == 9 { $13 = "maybe" } { print }'
  refused slices.tsv 'line 9: column valid'
  edit units.tsv 'NR == 1 { $2 = "variant" } { print }'
  refused units.tsv "the header names the column 'variant' twice"
  edit builds.tsv 'NR == 2 { $5 = "fine" } { print }'
  refused builds.tsv "column status: 'fine'"
  built_by 's = "ninja"'
  refused builds.tsv "column build_system: 'ninja' is not a mode"
  : >"$result/units.tsv"
  refused units.tsv 'the file is empty'
  printf '{ "kit": 1' >"$result/meta.json"
  refused meta.json 'not valid JSON'
  edit_meta 'del(.measure.baseline)'
  refused meta.json 'measure.baseline is missing'
  edit_meta '.measure.margin_percent = "1"'
  refused meta.json 'measure.margin_percent is a string, not a number'
  edit_meta '.measure.baseline = "make-static"'
  refused effects.tsv "the baseline make-static"
}

@test "an earlier report stays whole when the next one fails" {
  "$report" "$result" >/dev/null
  edit_meta ".question = \"Another question\""
  cp -r "$result" "$BATS_TEST_TMPDIR/before"
  # A gnuplot that fails at the fourth drawing.
  mkdir "$BATS_TEST_TMPDIR/bin"
  printf '#!/bin/sh\necho x >>"%s/calls"\n[ "$(wc -l <"%s/calls")" -lt 4 ] || { echo "no terminal" >&2; exit 1; }\nexec %s "$@"\n' \
    "$BATS_TEST_TMPDIR" "$BATS_TEST_TMPDIR" "$(command -v gnuplot)" >"$BATS_TEST_TMPDIR/bin/gnuplot"
  chmod +x "$BATS_TEST_TMPDIR/bin/gnuplot"
  PATH=$BATS_TEST_TMPDIR/bin:$PATH run "$report" "$result"
  [ "$status" -eq 2 ]
  one_line_error 'gnuplot failed'
  run diff -r "$BATS_TEST_TMPDIR/before" "$result"
  [ "$output" = '' ]
}

@test "SIGTERM in the middle leaves nothing behind; a killed run's rest goes with the next one" {
  mkdir "$BATS_TEST_TMPDIR/bin"
  printf '#!/bin/sh\ntouch "%s/started"\nsleep 0.5\nexec %s "$@"\n' "$BATS_TEST_TMPDIR" "$(command -v gnuplot)" >"$BATS_TEST_TMPDIR/bin/gnuplot"
  chmod +x "$BATS_TEST_TMPDIR/bin/gnuplot"
  ls -A "$result" >"$BATS_TEST_TMPDIR/before"
  for signal in TERM KILL; do
    rm -f "$BATS_TEST_TMPDIR/started"
    PATH=$BATS_TEST_TMPDIR/bin:$PATH "$report" "$result" >/dev/null 2>&1 3>&- &
    pid=$!
    for _ in $(seq 200); do [ ! -e "$BATS_TEST_TMPDIR/started" ] || break; sleep 0.05; done
    [ -e "$BATS_TEST_TMPDIR/started" ]
    kill -s "$signal" "$pid"
    status=0
    wait "$pid" || status=$?
    [ "$status" -gt 128 ]
    if [ "$signal" = TERM ]; then
      run diff "$BATS_TEST_TMPDIR/before" <(ls -A "$result")
      [ "$output" = '' ]
    fi
  done
  [ ! -e "$result/report.txt" ]
  # The killed run's gnuplot still holds the lock for a moment.
  "$report" "$result" >/dev/null
  run find "$result" -name '.report*'
  [ "$output" = '' ]
}

@test "an unwritable target is one line and exit 2" {
  [ "$(id -u)" -ne 0 ] || target=/proc/mppsdiff
  mkdir -p "$BATS_TEST_TMPDIR/closed"
  chmod a-w "$BATS_TEST_TMPDIR/closed"
  run "$report" --out "${target:-$BATS_TEST_TMPDIR/closed}" "$result"
  [ "$status" -eq 2 ]
  one_line_error 'cannot write into'
}

# --- the charts ------------------------------------------------------------------------------

@test "the PNGs are 1200 pixels wide and small" {
  for name in forest matrix mpps layouts drift; do
    [ "$(png_width "$(drawn)/$name.png")" -eq 1200 ]
    [ "$(stat -c %s "$(drawn)/$name.png")" -le 100000 ]
  done
}

@test "a crowded chart is small too" {
  for file in effects units slices builds; do
    edit "$file.tsv" '{ print } NR > 1 { name = $1; column = FILENAME ~ /slices/ ? 4 : 1
      name = $column; for (i = 1; i <= 3; i++) { $column = name "-more-" i; print } }'
  done
  "$report" "$result" >/dev/null
  for name in forest matrix mpps layouts drift; do
    [ "$(png_width "$result/$name.png")" -eq 1200 ]
    [ "$(stat -c %s "$result/$name.png")" -le 100000 ]
  done
}

@test "every SVG is well-formed, says what it shows, and carries machine, DPDK, device and date" {
  for name in forest matrix mpps layouts drift; do
    svg=$(drawn)/$name.svg
    grep -q 'role="img"' "$svg"
    grep -q "<title id=\"$name-title\">.*?</title>" "$svg"
    [ "$(grep -o "<title" "$svg" | wc -l)" -eq 1 ]
    grep -q "<desc id=\"$name-desc\">..*</desc>" "$svg"
    grep -q 'Synthetic @ 2.00GHz, 2 cores, virtual machine (kvm), 2026-11-30 16:00 UTC' "$svg"
    grep -q 'DPDK 22.11.11, synthetic data (no device, no NIC), scenario connectx5-vm' "$svg"
  done
  if command -v xmllint >/dev/null; then
    xmllint --noout "$(drawn)"/*.svg
  fi
}

@test "the forest chart names every row, its figures, and the A/A of each compiler" {
  svg=$(drawn)/forest.svg
  grep -q 'Which builds need more or fewer cycles per packet than meson-static?' "$svg"
  grep -q '+7.4 % (+6.3 to +8.5)  slower' "$svg"
  grep -q '>-0.6 to +1.0 %<' "$svg"
  grep -q '>build failed<' "$svg"
  [ "$(grep -c '>meson-static-nopie<' "$svg")" -eq 2 ]
}

# --- the page --------------------------------------------------------------------------------

@test "the page is one file: nothing outside is referred to, and a policy forbids it" {
  page=$(drawn)/report.html
  run grep -oE '(src|href|action|poster|srcset)="[^"]*"|url\([^)]*\)|@import' "$page"
  for found in "${lines[@]}"; do
    [[ $found == 'href="#'* || $found == 'href="data:,"' || $found == 'url(#'* ]]
  done
  run grep -oE "https?://[^\"'<> ]*" "$page"
  [ "$output" = '' ]
  grep -q "Content-Security-Policy\" content=\"default-src 'none'" "$page"
  hash=$(sed -n '/<script>/,/<\/script>/p' "$page" | sed '1s/.*<script>//; s/<\/script>.*//' | head -c -1 | sha256sum | cut -c 1-64 |
    tr a-f A-F | basenc --base16 -d | base64)
  grep -qF "script-src 'sha256-$hash'" "$page"
}

@test "the page holds every chart with a text alternative, and no identifier twice" {
  page=$(drawn)/report.html
  [ "$(grep -c '<svg ' "$page")" -eq 10 ]
  [ "$(grep '<svg ' "$page" | grep -c 'role="img" aria-labelledby=')" -eq 10 ]
  run sh -c "grep -oE ' id=[\"'\\''][^\"'\\'']*' '$page' | tr -d \"\\\"'\" | sort | uniq -d"
  [ "$output" = '' ]
  run sh -c "grep -o 'rgb([^)]*)' '$page' | sort -u"
  # What gnuplot paints on its own for empty things; every visible colour is the page's.
  [[ $output != *'26,26,26'* ]]
  [[ $output != *'8,  81, 156'* ]]
}

@test "the page says what the text says" {
  page=$(drawn)/report.html
  grep -q '<h1>Synthetic fixture, nothing was measured' "$page"
  [ "$(grep -c 'class="n" data-value="1.074336">+7.4<' "$page")" -eq 2 ]
  grep -q '<span class="undecided">undecided against meson-static</span>' "$page"
  grep -q 'class="failed">build failed<' "$page"
  grep -q '<li>meson-static-lto (gcc): build failed: lto1: fatal error' "$page"
  grep -q '<details><summary>report.txt' "$page"
}

# chromium_on PAGE OPTION...: the page in a headless browser that reaches nothing. 126: it is not there (the test is skipped).
chromium_on() {
  command -v chromium >/dev/null || skip_or_fail 'needs chromium: apt-get install chromium'
  timeout 90 chromium --headless --no-sandbox --disable-gpu --disable-quic --no-first-run --disable-background-networking \
    --disable-component-update --disable-sync --hide-scrollbars --host-resolver-rules='MAP * ~NOTFOUND' \
    --user-data-dir="$BATS_TEST_TMPDIR/chromium" --enable-logging=stderr --virtual-time-budget=2000 "${@:2}" "file://$1" 3>&-
}

# requests NETLOG: what the page asked for; what Chromium asks for on its own account has no origin.
requests() {
  jq -r '.events[]? | select(.params.url? and .params.initiator? and .params.initiator != "not an origin") | .params.url' "$1" | sort -u
}

@test "Chromium shows the page without a complaint and lets its script run" {
  run chromium_on "$(drawn)/report.html" --dump-dom
  [ "$status" -eq 0 ]
  [[ $output != *CONSOLE* ]]
  [[ $output == *'<th scope="col"><button type="button">variant</button></th>'* ]]
}

@test "Chromium asks for nothing when it shows the page, and would be seen asking" {
  chromium_on "$(drawn)/report.html" --dump-dom --log-net-log="$BATS_TEST_TMPDIR/net.json" >/dev/null 2>&1
  [ -s "$BATS_TEST_TMPDIR/net.json" ]
  [ "$(requests "$BATS_TEST_TMPDIR/net.json")" = '' ]
  # The same page without its policy and with a picture from elsewhere.
  sed '/Content-Security-Policy/d; s|</main>|<img src="http://elsewhere.invalid/x.png"></main>|' "$(drawn)/report.html" >"$BATS_TEST_TMPDIR/page.html"
  chromium_on "$BATS_TEST_TMPDIR/page.html" --dump-dom --log-net-log="$BATS_TEST_TMPDIR/net.json" >/dev/null 2>&1
  [ "$(requests "$BATS_TEST_TMPDIR/net.json")" = 'http://elsewhere.invalid/x.png' ]
}

# looked_at WIDTH SCHEME: what a script finds out about the page, key=value words; SCHEME 0 is dark, 1 light. In a frame,
# because a window is never narrower than 500 pixels.
looked_at() {
  local page=$BATS_TEST_TMPDIR/page.html
  # The page's policy lets no other script run.
  sed '/Content-Security-Policy/d; /<\/body>/d; /<\/html>/d' "$(drawn)/report.html" >"$page"
  printf '<script>' >>"$page"
  cat "$BATS_TEST_DIRNAME/fixtures/report/look.js" >>"$page"
  printf '</script>\n</body>\n</html>\n' >>"$page"
  printf '<!DOCTYPE html><iframe src="page.html" style="width:%spx;height:900px;border:0" onload="%s"></iframe>\n' "$1" \
    'document.documentElement.dataset.found = this.contentDocument.documentElement.dataset.found' >"$BATS_TEST_TMPDIR/frame.html"
  chromium_on "$BATS_TEST_TMPDIR/frame.html" --window-size=1300,1000 --blink-settings="preferredColorScheme=$2" --allow-file-access-from-files --dump-dom 2>/dev/null |
    sed -n 's/.*<html[^>]* data-found="\([^"]*\)".*/\1/p'
}

@test "at 360 and 1200 pixels, light and dark: nothing sticks out, all text has contrast, every table sorts by keyboard" {
  local width scheme found paper
  command -v chromium >/dev/null || skip_or_fail 'needs chromium: apt-get install chromium'
  for width in 360 1200; do
    for scheme in 0 1; do
      found=" $(looked_at $width $scheme) "
      echo "$width $scheme:$found"
      if [ $scheme = 0 ]; then paper='rgb(21,24,28)'; else paper='rgb(255,255,255)'; fi
      [[ $found == *" width=$width scroll=$width paper=$paper "* ]]
      # WCAG 2, AA: 4.5.
      [[ $found == *' faint=none narrow=0 '* ]]
      # Heads of tables that sort, and of those the ones a Tab reaches and Enter presses.
      [[ $found =~ ' heads='([0-9]+)' reached='([0-9]+)' sorted='([0-9]+)' ' ]]
      [ "${BASH_REMATCH[1]}" -gt 20 ]
      [ "${BASH_REMATCH[2]}" -eq "${BASH_REMATCH[1]}" ]
      [ "${BASH_REMATCH[3]}" -eq "${BASH_REMATCH[1]}" ]
      [[ $found == *' regions=all '* ]]
    done
  done
}

@test "photographed in both colour schemes and both widths, the corner has the scheme's paper" {
  local width scheme want
  command -v chromium >/dev/null || skip_or_fail 'needs chromium: apt-get install chromium'
  for width in 360 1200; do
    for scheme in '0 21 24 28' '1 255 255 255'; do
      chromium_on "$(drawn)/report.html" --window-size="$width,900" --blink-settings="preferredColorScheme=${scheme%% *}" \
        --screenshot="$BATS_TEST_TMPDIR/photo.png" >/dev/null 2>&1
      [ "$(png_width "$BATS_TEST_TMPDIR/photo.png")" -eq "$width" ]
      want=${scheme#* }
      [ "$(gnuplot -e "set table; plot '$BATS_TEST_TMPDIR/photo.png' binary filetype=png every 1:1:0:0:0:0 with rgbimage" |
        awk '!/^#/ && NF > 5 { print $3, $4, $5 }')" = "$want" ]
    done
  done
}

# --- for continuous integration ----------------------------------------------------------------

@test "JUnit: a case a compared row, judged by the gate" {
  local junit=$BATS_TEST_TMPDIR/junit.xml cases
  cases=$(awk -F '\t' 'NR > 1 && $16 != "baseline" { n++ } END { print n }' "$result/effects.tsv")
  "$report" --junit "$junit" "$result" >/dev/null
  [ "$(grep -c '<testcase ' "$junit")" -ge "$cases" ]
  [ "$(grep -c '<failure ' "$junit")" -eq "$(awk -F '\t' '$16 == "slower"' "$result/effects.tsv" | wc -l)" ]
  # Beyond any slowdown of the result nothing fails and nothing is unclear.
  "$report" --junit "$junit" --gate 900 "$result" >/dev/null
  [ "$(grep -cE '<(failure|skipped) ' "$junit")" -eq 0 ]
  grep -q "tests=\"$(grep -c '<testcase ' "$junit")\" failures=\"0\"" "$junit"
  # An interval around the gate does not tell.
  edit effects.tsv 'NR == 1 || $16 == "baseline" { print; next } { $16 = "undecided"; $10 = 0.99; $11 = 1.05; print }'
  "$report" --junit "$junit" --gate 3 "$result" >/dev/null
  [ "$(grep -c '<skipped ' "$junit")" -eq "$cases" ]
  "$report" --junit "$junit" --gate 6 "$result" >/dev/null
  [ "$(grep -c '<skipped ' "$junit")" -eq 0 ]
}

@test "JUnit and summary: hostile names cannot become markup" {
  edit_meta '.scenario.name = "x\"><failure/>|*_`"'
  "$report" --junit "$BATS_TEST_TMPDIR/j.xml" --summary "$BATS_TEST_TMPDIR/s.md" "$result" >/dev/null
  grep -qF 'mppsdiff x&quot;&gt;&lt;failure/&gt;' "$BATS_TEST_TMPDIR/j.xml"
  run ! grep -qF '><failure/>|' "$BATS_TEST_TMPDIR/s.md"
}

@test "summary: Markdown with the table's rows, appended to what is there" {
  echo before >"$BATS_TEST_TMPDIR/s.md"
  "$report" --summary "$BATS_TEST_TMPDIR/s.md" "$result" >/dev/null
  [ "$(sed -n 1p "$BATS_TEST_TMPDIR/s.md")" = before ]
  [ "$(grep -c '^| [a-z]' "$BATS_TEST_TMPDIR/s.md")" -ge "$(($(wc -l <"$result/effects.tsv") - 1))" ]
}

@test "JUnit, summary and gate: bad usage is one line and exit 2" {
  run "$report" --gate 3x "$result"
  [ "$status" -eq 2 ]
  one_line_error "--gate takes percent"
  run "$report" --junit /nonexistent/j.xml "$result"
  [ "$status" -eq 2 ]
  one_line_error "cannot write /nonexistent/j.xml"
}

# --- where it lies -------------------------------------------------------------------------------

# localised WHOLE DRIVER MEMPOOL REST: tables as localise makes them for one row of the fixture, 1000 packets.
localised() {
  local key
  key=$(awk -F '\t' -v OFS='\t' 'NR > 1 && $16 != "baseline" { print $1, $2, $3; exit }' "$result/effects.tsv")
  mkdir "$result/localise"
  {
    printf 'variant\tcc\tdpdk\tlevel\tlibrary\tobject\tinstructions\tinstructions_reverse\tpackets\tnote\n'
    printf '%s\tlibrary\trte_net_mlx5\t-\t%d\t%d\t1000\t-\n' "$key" "$2" "$2"
    printf '%s\tlibrary\trte_mempool_ring\t-\t%d\t%d\t1000\t-\n' "$key" "$3" "$3"
    printf '%s\twhole\t-\t-\t%d\t-\t1000\t-\n' "$key" "$1"
    printf '%s\tlibraries\t-\t-\t%d\t-\t1000\t-\n' "$key" "$(($2 + $3))"
    printf '%s\trest\t-\t-\t%d\t-\t1000\t-\n' "$key" "$4"
    printf '%s\tinteraction\t-\t-\t0\t-\t1000\t-\n' "$key"
  } >"$result/localise/parts.tsv"
  {
    printf 'variant\tcc\tdpdk\tlibrary\tobject\tfunction\tbaseline\tvariant_count\tdifference\tbytes_difference\tinlined_in\n'
    printf '%s\trte_net_mlx5\tnet_mlx5_mlx5_rx.c.o\tmlx5_rx_burst\t5000\t%d\t%d\t8\t-\n' "$key" "$((5000 + $2))" "$2"
    printf '%s\trte_mempool_ring\tmempool_ring_rte_mempool_ring.c.o\tcommon_ring_mc_dequeue\t700\t%d\t%d\t0\tbaseline\n' "$key" "$((700 + $3))" "$3"
  } >"$result/localise/functions.tsv"
  {
    printf 'variant\tcc\tdpdk\twhat\tbaseline\tvariant_value\n'
    printf '%s\tinstructions\t200000\t%d\n' "$key" "$((200000 + $1))"
    printf '%s\tinstructions_per_packet\t200.0000\t200.0000\n%s\tgot_loads\t0\t7\n' "$key" "$key"
  } >"$result/localise/counts.tsv"
}

@test "where it lies: only the driver, in words, per packet and percent" {
  localised 1200 1200 0 0
  "$report" "$result" >/dev/null
  has "$result/report.txt" "+1.20 instructions/packet (+0.60 %): net_mlx5 +1.20 (mlx5_rx_burst +1.20); every other library: 0. Of DPDK's libraries only the driver differs."
  has "$result/report.txt" "GOT loads 7 against 0"
  mail_width "$result/report.txt"
  [ -s "$result/waterfall.png" ]
  [ "$(png_width "$result/waterfall.png")" -eq 1200 ]
}

@test "where it lies: driver and mempool, and what is the forwarder's own" {
  localised -460 -1000 500 40
  "$report" "$result" >/dev/null
  has "$result/report.txt" "-0.46 instructions/packet (-0.23 %): net_mlx5 -1.00 (mlx5_rx_burst -1.00), mempool_ring +0.50 (common_ring_mc_dequeue +0.50)"
  has "$result/report.txt" "the forwarder's own code and the way of linking: +0.040"
  has "$result/report.txt" "inlined in $(jq -r .measure.baseline "$result/meta.json")"
  lacks "$result/report.txt" "only the driver"
}

@test "where it lies: nothing differs, and that is said" {
  localised 0 0 0 0
  "$report" "$result" >/dev/null
  has "$result/report.txt" "not one instruction more or less in 1000 packets; driver, mempool and every other library: 0."
}

@test "where it lies: a table that is malformed is one line and exit 2" {
  localised 1 1 0 0
  sed -i 's/\trest\t/\trset\t/' "$result/localise/parts.tsv"
  run "$report" "$result"
  [ "$status" -eq 2 ]
  one_line_error "is not a level"
}
