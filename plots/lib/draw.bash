# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=bash
# The steps of plots/report. Needs common.bash and $here, the folder plots; functions only.
# They share $result (input), $work (scratch), $out (output) and $stage (output, not yet visible).
# shellcheck disable=SC2154

CHARTS='forest matrix mpps layouts drift waterfall'
# Bytes of a PNG.
PNG_MOST=100000

SLICES_COLUMNS='epoch:count round:count order:count variant:word cc:word dpdk:word layout:count
  packets:count cycles:count dropped:count valid:flag reason:text'
EFFECTS_COLUMNS='variant:word cc:word dpdk:word layouts:count? processes:count? rounds:count?
  cycles_per_packet:positive? mpps:positive? ratio:positive? ratio_low:positive?
  ratio_high:positive? layout_spread_percent:number? as_built_ratio:positive? aa_low:positive?
  aa_high:positive? verdict:verdict note:text?'
UNITS_COLUMNS='variant:word cc:word dpdk:word layout:count epoch:count process:count
  ratio:positive? cycles_per_packet:positive? mpps:positive? bimodal:flag?'
PERF_COLUMNS='epoch:count round:count variant:word cc:word dpdk:word layout:count process:count
  packets:count'
EVENTS_COLUMNS='epoch:count event:word status:eventstatus slices:count reason:text?'
CONSTANTS_COLUMNS='variant:word cc:word dpdk:word?? constant:word baseline_value:text? variant_value:text?'
INLINING_COLUMNS='variant:word cc:word dpdk:word?? functions_differ:count inlined_in_baseline:count inlined_in_variant:count
  libraries_not_compared:count'
NOTES_COLUMNS='variant:word cc:word dpdk:word note:text'
BUILDS_COLUMNS='variant:word cc:word cc_version:text? dpdk:word status:status reason:text?
  log:text? build_system:mode?? flag_asked:text? objects:count? objects_with_flag:count? code_model_asked:text?
  code_model:text? elf_type:text? got:count? plt:count? tls_gd:count? tls_ld:count? tls_ie:count?
  tls_le:count? absolute:count? text_bytes:count? sha256:text?'

FORWARDERS_COLUMNS='variant:word cc:word dpdk:word kit_ratio:positive? kit_low:positive? kit_high:positive?
  testpmd_ratio:positive? testpmd_low:positive? testpmd_high:positive? agree:agree?'
PARTS_COLUMNS='variant:word cc:word dpdk:word level:level library:word object:word instructions:whole?
  instructions_reverse:whole? packets:count note:text?'
FUNCTIONS_COLUMNS='variant:word cc:word dpdk:word library:word object:word function:word baseline:count
  variant_count:count difference:whole bytes_difference:whole inlined_in:word'
COUNTS_COLUMNS='variant:word cc:word dpdk:word what:word baseline:text variant_value:text'
PART_EFFECTS_COLUMNS='variant:word cc:word dpdk:word part:word layouts:count? ratio:positive?
  ratio_low:positive? ratio_high:positive? aa_low:positive? aa_high:positive? verdict:verdict note:text?'

# check_result RESULT WORK: the files of RESULT, strictly read, as WORK/*; exit 2 on the first flaw.
check_result() {
  local from=$1 to=$2
  check_meta "$from/meta.json" "$to" || exit 2
  check_tsv "$from/builds.tsv" "$to" "$BUILDS_COLUMNS"
  if [ ! -e "$from/effects.tsv" ] && ! awk -F '\t' '$5 == "ok" { found = 1 } END { exit !found }' "$to/builds.tsv"; then
    # Nothing could be built, so nothing was measured; the report says that.
    touch "$to/slices.tsv" "$to/effects.tsv" "$to/units.tsv"
  else
    check_tsv "$from/slices.tsv" "$to" "$SLICES_COLUMNS"
    check_tsv "$from/effects.tsv" "$to" "$EFFECTS_COLUMNS"
    check_tsv "$from/units.tsv" "$to" "$UNITS_COLUMNS"
  fi
  check_perf "$from" "$to"
  [ ! -e "$from/proof/inlining.tsv" ] || check_tsv "$from/proof/inlining.tsv" "$to" "$INLINING_COLUMNS"
  [ ! -e "$from/forwarders.tsv" ] || check_tsv "$from/forwarders.tsv" "$to" "$FORWARDERS_COLUMNS"
  [ ! -e "$from/proof/notes.tsv" ] || check_tsv "$from/proof/notes.tsv" "$to" "$NOTES_COLUMNS"
  [ ! -e "$from/proof/constants.tsv" ] || check_tsv "$from/proof/constants.tsv" "$to" "$CONSTANTS_COLUMNS"
  awk -f "$here/lib/counts.awk" "$to/slices.tsv" >"$to/counts.tsv"
  mkdir "$to/localise"
  if [ -e "$from/localise/parts.tsv" ]; then
    check_tsv "$from/localise/parts.tsv" "$to/localise" "$PARTS_COLUMNS"
    check_tsv "$from/localise/functions.tsv" "$to/localise" "$FUNCTIONS_COLUMNS"
    check_tsv "$from/localise/counts.tsv" "$to/localise" "$COUNTS_COLUMNS"
  fi
  if [ -e "$from/localise/effects.tsv" ]; then
    check_tsv "$from/localise/effects.tsv" "$to/localise" "$PART_EFFECTS_COLUMNS"
  fi
}

# check_perf RESULT WORK: the counters, if there are any; every column behind the fixed ones is an event.
check_perf() {
  local columns=$PERF_COLUMNS name
  if [ -e "$1/perf-events.tsv" ]; then
    check_tsv "$1/perf-events.tsv" "$2" "$EVENTS_COLUMNS"
  fi
  [ -e "$1/perf.tsv" ] || return 0
  while IFS= read -r name; do
    [[ $name =~ ^[A-Za-z][A-Za-z0-9-]*$ ]] || die "$1/perf.tsv: the header names an event with other characters than A-Z a-z 0-9 -"
    columns+=" $name:count?"
  done < <(sed -n 1p "$1/perf.tsv" | tr '\t' '\n' | tail -n +9)
  check_tsv "$1/perf.tsv" "$2" "$columns"
  awk -f "$here/lib/perf.awk" "$2/perf.tsv" >"$2/perf-sums.tsv"
}

# check_meta FILE WORK
check_meta() {
  local problem
  [ -r "$1" ] || die "there is no $1; is this the folder of a finished run?"
  jq -s 'if length == 1 then .[0] else error("not one JSON value") end' "$1" >"$2/meta.json" 2>/dev/null ||
    die "$1 is not valid JSON; run the measurement again"
  jq -r --arg ascii no -f "$here/lib/meta.jq" "$2/meta.json" >"$2/html.kv"
  problem=$(sed -n 's/^error\t//p' "$2/html.kv")
  [ -z "$problem" ] || die "$1: $problem; it was written by another version of the kit, or edited"
  jq -r --arg ascii yes -f "$here/lib/meta.jq" "$2/meta.json" >"$2/meta.kv"
}

# check_tsv FILE WORK COLUMNS
check_tsv() {
  [ -r "$1" ] || die "there is no $1; run the measurement again, or the step that makes it"
  local problem
  problem=$(TSV_NAME=$1 awk -v columns="$3" -f "$here/lib/check.awk" <"$1" 2>&1 >"$2/${1##*/}") ||
    die "$problem; run the step again that makes this file"
}

# prepare_out OUT: makes it and, inside, the folder $stage that publish empties into it.
prepare_out() {
  mkdir -p -- "$1" 2>/dev/null && [ -w "$1" ] || die "cannot write into $1; give another folder with --out"
  # Two at once must not mix their files; and with the lock held, an old stage is a killed run's.
  exec {lock}<"$1"
  flock -w 60 "$lock" || die "another plots/report is writing into $1; try again when it is done"
  rm -rf -- "$1"/.report.??????
  stage=$(mktemp -d "$1/.report.XXXXXX" 2>/dev/null) || die "cannot write into $1; give another folder with --out"
  defer rm -rf -- "$stage"
}

# run_awk PROGRAM [AWK OPTIONS]: one of lib/*.awk on top of the shared ones; its complaint becomes one line.
run_awk() {
  local program=$1
  shift
  awk -v dir="$work" "$@" -f "$here/lib/common.awk" -f "$here/lib/result.awk" -f "$here/lib/parts.awk" \
    -f "$here/lib/matrix.awk" -f "$here/lib/forwarders.awk" -f "$here/lib/$program" </dev/null 2>"$work/complaint" ||
    die "$result: $(head -n 1 "$work/complaint")"
}

write_text() {
  if [ -e "$work/plots/mail_size.tsv" ]; then
    run_gnuplot mail "$work/plots" "$work/mail"
    # The terminal begins with a form feed.
    tr -d '\f' <"$work/mail" | sed 's/ *$//; /^$/d' >"$work/plots/mail.txt"
  fi
  run_awk text.awk >"$stage/report.txt"
}

# write_plots: every chart as PNG and SVG in $stage, and as SVG for the page in $work/svg.
write_plots() {
  local name kind
  mkdir "$work/plots" "$work/svg"
  run_awk plotdata.awk -v plots="$work/plots"
  for name in $CHARTS; do
    [ -e "$work/plots/$name.words" ] || continue
    plot "$name" png "$stage/$name.png"
    # Crowded charts would pass what mailing lists and trackers take without asking.
    if [ "$(stat -c %s "$stage/$name.png")" -gt "$PNG_MOST" ]; then
      plot "$name" png8 "$stage/$name.png"
    fi
    plot "$name" svg "$work/$name.svg"
    finish_svg "$work/$name.svg" file "$name" "$name" >"$stage/$name.svg"
    for kind in page phone; do
      plot "$name" "$kind" "$work/$name.$kind"
      finish_svg "$work/$name.$kind" inline "$name" "$name-$kind" >"$work/svg/$name-$kind"
    done
  done
}

# run_gnuplot NAME ARGUMENT...: runs NAME.gp.
run_gnuplot() {
  # gnuplot's own start file and its user's have no say in a result.
  GNUTERM=dumb gnuplot --default-settings -c "$here/$1.gp" "${@:2}" 2>"$work/complaint" ||
    die "gnuplot failed on $1: $(grep -m 1 . "$work/complaint"); is it gnuplot 5.4 with cairo (gnuplot-nox)?"
}

# plot NAME KIND OUTPUT: draws a chart.
plot() {
  local -a words
  mapfile -t words <"$work/plots/$1.words"
  run_gnuplot "$1" "$work/plots" "$3" "$2" "${words[@]}"
  [ -s "$3" ] || die "gnuplot drew no $1 ($2): $(grep -m 1 . "$work/complaint")"
}

# finish_svg FILE MODE NAME ID: on stdout.
finish_svg() {
  local -a words
  mapfile -t words <"$work/plots/$3.words"
  SVG_TITLE=${words[0]} SVG_DESC=$(cat "$work/plots/$3.desc") \
    awk -v mode="$2" -v id="$4" -f "$here/lib/common.awk" -f "$here/lib/svg.awk" "$1"
}

# write_html: the parts, put into report.html.in where a line names them.
write_html() {
  local parts=$work/parts
  mkdir "$parts"
  cp "$stage/report.txt" "$work/"
  run_awk html.awk -v meta=html.kv -v parts="$parts"
  html_script >"$parts/SCRIPT"
  html_policy >"$parts/POLICY"
  awk -v parts="$parts" '
    /^@[A-Z_]+@$/ {
      file = parts "/" substr($0, 2, length($0) - 2)
      while ((getline line < file) > 0) print line
      close(file)
      next
    }
    { print }' "$here/report.html.in" >"$stage/report.html"
}

# write_junit, write_summary: for continuous integration, where asked.
write_junit() {
  [ -n "$junit" ] || return 0
  run_awk junit.awk -v gate="$gate" >"$work/junit"
  { cp "$work/junit" "$junit.new" && mv -f "$junit.new" "$junit"; } 2>/dev/null || die "cannot write $junit; name another file with --junit"
}

# GitHub gives one file to all steps, so it is appended to.
write_summary() {
  [ -n "$summary" ] || return 0
  run_awk summary.awk >"$work/summary"
  cat "$work/summary" 2>/dev/null >>"$summary" || die "cannot write $summary; name another file with --summary"
}

html_script() {
  printf '<script>'
  cat "$here/lib/sort.js"
  printf '</script>\n'
}

# html_policy: nothing may be loaded, and only this one script runs, whatever the data says.
html_policy() {
  local hash
  hash=$(sha256sum "$here/lib/sort.js" | cut -c 1-64 | sed 's/../\\x&/g')
  hash=$(printf '%b' "$hash" | base64)
  printf '<meta http-equiv="Content-Security-Policy" content="%s">\n' \
    "default-src 'none'; img-src data:; style-src 'unsafe-inline'; script-src 'sha256-$hash'; base-uri 'none'; form-action 'none'"
}

# publish: sets $plots. Everything is complete now; the text comes last, so whoever sees it sees
# the rest.
publish() {
  local name
  plots=
  chmod 644 "$stage"/*
  for name in $CHARTS; do
    if [ -e "$stage/$name.png" ]; then
      plots+=" $out/$name.png"
      mv -f -- "$stage/$name.png" "$stage/$name.svg" "$out/" || die "cannot write into $out"
    else
      # Of an earlier report, on another result.
      rm -f -- "$out/$name.png" "$out/$name.svg"
    fi
  done
  mv -f -- "$stage/report.html" "$out/" || die "cannot write into $out"
  mv -f -- "$stage/report.txt" "$out/" || die "cannot write into $out"
}
