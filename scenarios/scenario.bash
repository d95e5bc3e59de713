# shellcheck shell=bash
# SPDX-License-Identifier: BSD-3-Clause
# shellcheck disable=SC2034,SC2154 # variables shared with bats
#
# What every scenario.bats shares. The scenario is run once, quickly, and the tests look at its result.
# No test compares two speeds: that is the verdict's job, and a verdict is not a test.

# scenario_run OPTION...: runs the scenario beside the calling .bats file and notes its result.
scenario_run() {
  local results=$BATS_FILE_TMPDIR/results
  "$BATS_TEST_DIRNAME/run" --quick --results "$results" "$@" >"$BATS_FILE_TMPDIR/out" 2>"$BATS_FILE_TMPDIR/err" 3>&- || {
    cat "$BATS_FILE_TMPDIR/out" "$BATS_FILE_TMPDIR/err" >&2
    return 1
  }
  find "$results" -mindepth 1 -maxdepth 1 -type d -name '2*' >"$BATS_FILE_TMPDIR/result"
}

# result_folder: the one result the scenario left.
result_folder() {
  [ "$(wc -l <"$BATS_FILE_TMPDIR/result")" -eq 1 ] || { printf 'expected one result, got: %s\n' "$(cat "$BATS_FILE_TMPDIR/result")" >&2; return 1; }
  cat "$BATS_FILE_TMPDIR/result"
}

# tsv_columns FILE COLUMN...: the named columns of every row.
tsv_columns() {
  local file=$1
  shift
  awk -F '\t' -v want="$*" '
    NR == 1 { for (i = 1; i <= NF; i++) col[$i] = i; n = split(want, name, " "); next }
    { for (i = 1; i <= n; i++) printf "%s%s", $col[name[i]], i < n ? "\t" : "\n" }' "$file"
}

# every_pair: "variant cc" of the scenario, one pair a line.
every_pair() {
  local result
  result=$(result_folder)
  jq -r '.measure.variants[] as $v | .measure.cc[] as $c | "\($v)\t\($c)"' "$result/meta.json" | sort
}

check_builds() {
  local result
  result=$(result_folder)
  diff <(every_pair | sed 's/$/\tok/') <(tsv_columns "$result/builds.tsv" variant cc status | sort)
}

check_proof() {
  local result
  result=$(result_folder)
  tsv_columns "$result/builds.tsv" objects objects_with_flag code_model_asked code_model elf_type sha256 |
    awk -F '\t' '$1 < 50 || $1 != $2 || $3 != $4 || $5 !~ /^(EXEC|DYN-PIE)$/ || length($6) != 64 { print "bad proof: " $0; bad = 1 } END { exit bad || NR == 0 }'
}

check_forwarding() {
  local result
  result=$(result_folder)
  tsv_columns "$result/slices.tsv" variant cc packets dropped valid |
    awk -F '\t' '{ n++; if ($3 == 0 || $4 != 0 || $5 != 1) { print "bad slice: " $0; bad++ } pairs[$1 "\t" $2] = 1 }
      END { for (p in pairs) k++; print k " pairs, " n " slices" > "/dev/stderr"; exit bad > 0 || n == 0 }'
  diff <(every_pair) <(tsv_columns "$result/slices.tsv" variant cc | sort -u)
}

check_comparison() {
  local result
  result=$(result_folder)
  diff <(every_pair) <(tsv_columns "$result/effects.tsv" variant cc | sort)
  tsv_columns "$result/effects.tsv" verdict ratio ratio_low ratio_high aa_low aa_high |
    awk -F '\t' '
      $1 == "baseline" { next }
      $1 !~ /^(slower|faster|same|undecided)$/ || !($3 <= $2 && $2 <= $4) || !($5 < $6) { print "bad effect: " $0; bad = 1 }
      { n++ } END { exit bad || n == 0 }'
}

check_report() {
  local result file
  result=$(result_folder)
  for file in report.txt report.html forest.png forest.svg mpps.png mpps.svg drift.png drift.svg layouts.png layouts.svg; do
    [ -s "$result/$file" ] || { printf 'missing %s\n' "$file" >&2; return 1; }
  done
  grep -q "$(jq -r .dpdk[0].release "$result/meta.json")" "$result/report.txt"
}
