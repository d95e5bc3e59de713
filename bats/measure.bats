# SPDX-License-Identifier: BSD-3-Clause
# reproducers/measure: epochs, looks fixed beforehand, early stops, resuming. Nothing is forwarded: fakefwd
# answers with known cycles.
# shellcheck disable=SC2154 # bats sets status, output, lines

setup() {
  load helpers
  dir=$BATS_TEST_TMPDIR/dir
  mkdir "$dir"
  measure=(env "MPPSDIFF_TOOLS=$TOOLS" "$KIT/reproducers/measure" --dir "$dir" --baseline base --rounds 4 --slice-ms 1)
}

# plan EPOCHS EFFECT NOISE: the baseline twice and a variant that costs EFFECT more, as built.
plan() {
  local epoch process
  {
    printf 'epoch\tprocess\tvariant\tcc\tdpdk\tlayout\tbinary\tenv_bytes\targs\n'
    for ((epoch = 1; epoch <= $1; epoch++)); do
      for process in 1 2 3; do
        printf '%d\t%d\t%s\tgcc\t22.11\t0\t%s\t0\t--slices --iteration-ns 20000 --noise %s --base %s --seed %d\n' "$epoch" "$process" \
          "$([ "$process" -eq 3 ] && echo other || echo base)" "$TOOLS/fakefwd" "$3" \
          "$(awk -v e="$2" -v third="$process" 'BEGIN { print third == 3 ? 100 * (1 + e) : 100 }')" "$((epoch * 10 + process))"
      done
    done
  } >"$dir/plan.tsv"
}

looks() { # COLUMN...: looks.tsv without its header
  tail -n +2 "$dir/looks.tsv" | cut -f"$1"
}

@test "--help names every option that the script takes" {
  documents_every_option "$KIT/reproducers/measure"
}

@test "bad usage is one line and exit 2, before anything runs" {
  plan 8 0 0.01
  local -a bad
  while IFS='|' read -r text arguments; do
    IFS=' ' read -r -a bad <<<"$arguments"
    run "${measure[@]}" "${bad[@]}"
    [ "$status" -eq 2 ] || { echo "$arguments: status $status: $output"; return 1; }
    one_line_error "$text"
    [ -z "$(find "$dir" -name '*.tsv' -path '*slices*')" ]
  done <<'CASES'
unknown argument|--nonsense
8 epochs have no so many equal parts of two or more; possible: 1 2 4|--until-decided --looks 3
8 epochs have no so many equal parts of two or more; possible: 1 2 4|--until-decided --looks 8
without a rule for when to stop|--looks 2
no so many equal parts|--half-width 1 --looks 0
CASES
  plan 7 0 0.01
  run "${measure[@]}" --until-decided
  [ "$status" -eq 2 ]
  one_line_error 'a run of 7 epochs cannot end early'
}

@test "without a rule every epoch runs and nothing is looked at" {
  plan 3 0.5 0.001
  run "${measure[@]}"
  [ "$status" -eq 0 ] || { echo "$output"; return 1; }
  [ "$(find "$dir/slices" -name 'epoch-*.tsv' | wc -l)" -eq 3 ]
  [ ! -e "$dir/looks.tsv" ]
}

@test "--until-decided ends at a look, never between two, and says where and why" {
  plan 8 0.5 0.001
  run "${measure[@]}" --until-decided
  [ "$status" -eq 0 ] || { echo "$output"; return 1; }
  # 50 percent against a thousandth of noise: two epochs leave one degree of freedom, four are enough
  [ "$(looks 6 | tail -n 1)" = decided ]
  local epoch
  epoch=$(looks 3 | tail -n 1)
  [ $((epoch % 2)) -eq 0 ] && [ "$epoch" -lt 8 ]
  [ "$(find "$dir/slices" -name 'epoch-*.tsv' | wc -l)" -eq "$epoch" ]
  [ "$(looks 2 | sort -u)" = 4 ]
  [ "$(looks 1)" = "$(seq $((epoch / 2)))" ]
  # the verdict of the report, at the level of that look
  "$TOOLS/stats" --baseline base --looks 4 --look "$(looks 1 | tail -n 1)" "$dir/slices.tsv" | grep -q '^other	.*	slower	'
}

@test "--half-width ends at the first look that is precise enough, whatever the verdict" {
  plan 8 0 0.001
  run "${measure[@]}" --half-width 0.5 --looks 2
  [ "$status" -eq 0 ] || { echo "$output"; return 1; }
  [ "$(looks 1,2,3,6)" = $'1\t2\t4\tnarrow' ]
  [ "$(find "$dir/slices" -name 'epoch-*.tsv' | wc -l)" -eq 4 ]
  awk -v widest="$(looks 4)" 'BEGIN { exit !(widest > 0 && widest <= 0.5) }'
}

@test "nothing decided and nothing precise: it goes to the end, which is a look as well" {
  plan 4 0 0.4
  run "${measure[@]}" --half-width 0.0001 --until-decided
  [ "$status" -eq 0 ] || { echo "$output"; return 1; }
  [ "$(looks 1,3,6)" = $'1\t2\t-\n2\t4\tend' ]
}

@test "run again, it takes up the epochs there are and ends where it ended" {
  plan 8 0.5 0.001
  "${measure[@]}" --until-decided
  cp "$dir/looks.tsv" "$BATS_TEST_TMPDIR/first"
  cp "$dir/slices.tsv" "$BATS_TEST_TMPDIR/slices"
  rm -f "$dir/slices/epoch-001.tsv"
  run "${measure[@]}" --until-decided
  [ "$status" -eq 0 ]
  cut -f1-3,6 "$dir/looks.tsv" | cmp - <(cut -f1-3,6 "$BATS_TEST_TMPDIR/first")
  [ "$(wc -l <"$dir/slices.tsv")" -eq "$(wc -l <"$BATS_TEST_TMPDIR/slices")" ]
}

@test "releases that take turns are looked at together, after equal parts of the epochs of each" {
  plan 8 0.5 0.001
  # odd epochs are one release's, even ones another's: eight of two make four of each
  awk -F '\t' -v OFS='\t' 'NR > 1 { $5 = $1 % 2 ? "20.08" : "26.07" } { print }' "$dir/plan.tsv" >"$dir/plan.new"
  mv "$dir/plan.new" "$dir/plan.tsv"
  run "${measure[@]}" --half-width 0.0001 --looks 4
  [ "$status" -eq 2 ]
  one_line_error '4 epochs have no so many equal parts of two or more; possible: 1 2'
  run "${measure[@]}" --half-width 50
  [ "$status" -eq 0 ] || { echo "$output"; return 1; }
  [ "$(looks 1,2,3,6)" = $'1\t2\t2\tnarrow' ]
  [ "$(find "$dir/slices" -name 'epoch-*.tsv' | wc -l)" -eq 4 ]
  [ "$("$TOOLS/stats" --baseline base "$dir/slices.tsv" | awk -F '\t' '$1 == "other" { print $3 }' | sort | paste -sd,)" = 20.08,26.07 ]
}
