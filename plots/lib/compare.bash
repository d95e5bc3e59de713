# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=bash
# Several results on one chart. Needs common.bash, draw.bash and $here, the folder plots; functions only.
# Uses ${results[@]} (input), $force, $work (scratch), $out (output) and $stage (output, not yet visible).
# shellcheck disable=SC2034,SC2154

# Letters stand for them.
RESULTS_MOST=26

# compare_results: compare.txt, compare.png and compare.svg in $out, or exit 2 and nothing.
compare_results() {
  local all=$work number=0
  [ "${#results[@]}" -le "$RESULTS_MOST" ] || die "at most $RESULTS_MOST results fit on a chart, not ${#results[@]}"
  for result in "${results[@]}"; do
    number=$((number + 1))
    work=$all/$number
    mkdir "$work"
    check_result "$result" "$work"
    run_awk entry.awk
    basename -- "$result" | tr '\t\n' '  ' >"$work/name"
  done
  work=$all
  mkdir "$work/plots"
  awk -v all="$work" -v results="$number" -v force="$force" -v plots="$work/plots" -f "$here/lib/common.awk" -f "$here/lib/compare.awk" \
    </dev/null >"$work/compare.txt" 2>"$work/complaint" || die "$(head -n 1 "$work/complaint")"
  prepare_out "$out"
  cp "$work/compare.txt" "$stage/"
  if [ -e "$work/plots/forest.words" ]; then
    plot forest png "$stage/compare.png"
    plot forest svg "$work/compare.svg"
    finish_svg "$work/compare.svg" file forest compare >"$stage/compare.svg"
  else
    rm -f -- "$out/compare.png" "$out/compare.svg"
  fi
  chmod 644 "$stage"/*
  mv -f -- "$stage"/* "$out/" || die "cannot write into $out"
  printf 'table: %s\n' "$out/compare.txt"
  [ ! -e "$out/compare.png" ] || printf 'plots: %s %s\n' "$out/compare.png" "$out/compare.svg"
}
