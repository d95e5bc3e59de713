# SPDX-License-Identifier: BSD-3-Clause
# reproducers/measure: the counters of the epochs, joined like their slices; here of forwarders whose cycles and
# page faults are known.

setup() {
  load helpers
  dir=$BATS_TEST_TMPDIR/result
  mkdir "$dir"
  printf 'epoch\tprocess\tvariant\tcc\tdpdk\tlayout\tbinary\tenv_bytes\targs\n' >"$dir/plan.tsv"
  local epoch
  for epoch in 1 2 3; do
    printf '%d\t1\tbase\tgcc\t22.11\t0\t%s\t0\t--touch 100 --iteration-ns 100000\n' "$epoch" "$TOOLS/fakefwd" >>"$dir/plan.tsv"
    printf '%d\t2\tother\tgcc\t22.11\t0\t%s\t0\t--touch 300 --iteration-ns 100000\n' "$epoch" "$TOOLS/fakefwd" >>"$dir/plan.tsv"
  done
}

measure() { # [OPTION...]
  "$KIT/reproducers/measure" --dir "$dir" --baseline base --rounds 4 --slice-ms 5 "$@"
}

@test "the epochs are joined in their order under one header, the counters like the slices" {
  measure --perf-events page-faults,task-clock
  [ "$(cut -f 1 "$dir/slices.tsv" | uniq | paste -sd ' ')" = "epoch 1 2 3" ]
  [ "$(wc -l <"$dir/slices.tsv")" -eq 25 ]
  [ "$(cut -f 1 "$dir/perf.tsv" | uniq | paste -sd ' ')" = "epoch 1 2 3" ]
  [ "$(cut -f 1,2 "$dir/perf-events.tsv" | tr '\t\n' ' ,')" = "epoch event,1 page-faults,1 task-clock,2 page-faults,2 task-clock,3 page-faults,3 task-clock," ]
  # a row for every valid slice, of the same process in the same round
  if cut -f 3 "$dir/perf-events.tsv" | grep -c counted; then
    diff <(awk -F '\t' -v OFS='\t' 'NR > 1 { print $1, $2, $4, $5, $6, $7, $8 }' "$dir/slices.tsv") <(sed 1d "$dir/perf.tsv" | cut -f 1-7)
  fi
}

@test "an epoch that is there is kept with its counters, one that was interrupted is measured again" {
  measure --perf-events page-faults
  local before
  before=$(sha256sum "$dir"/slices/epoch-00[13].*)
  rm "$dir/slices/epoch-002.tsv"
  echo rubbish >"$dir/slices/epoch-002.perf"
  measure --perf-events page-faults
  [ "$(sha256sum "$dir"/slices/epoch-00[13].*)" = "$before" ]
  [ "$(cut -f 1 "$dir/perf.tsv" | uniq | paste -sd ' ')" = "epoch 1 2 3" ] || [ "$(wc -l <"$dir/perf.tsv")" -eq 1 ]
  if grep -c rubbish "$dir/perf.tsv"; then return 1; fi
  # other columns cannot be joined
  rm "$dir/slices/epoch-002.tsv"
  run measure --perf-events task-clock
  [ "$status" -eq 2 ]
  one_line_error "epoch-002.perf counts other events than"
}

@test "--perf-events none leaves no file behind" {
  measure --perf-events none
  [ -s "$dir/slices.tsv" ]
  [ ! -e "$dir/perf.tsv" ]
  [ ! -e "$dir/perf-events.tsv" ]
  [ -z "$(find "$dir/slices" -name '*.perf' -o -name '*.events' -o -name '*.part*')" ]
}

@test "an unknown event is one line and exit 2" {
  run measure --perf-events cycle
  [ "$status" -eq 2 ]
  one_line_error "--perf-events: unknown event 'cycle'"
}
