# shellcheck shell=bash
# SPDX-License-Identifier: BSD-3-Clause
# shellcheck disable=SC2154 # options and folders of reproducers/bench, which sources it
#
# Known answers: variants of the real forwarder whose true slowdown is known, through the whole chain of
# link, plan, measure and stats. Needs common.bash and testpmd.bash. Nothing is judged here: stats gives the
# verdicts, and they are counted.
#
# A group is a trial and an A/A pair that share a baseline: base, aa (the same work) and slow (a known bit
# more). Groups are measured some at a time, all their processes taking turns in one run of measure. Among them is
# a pair of their own for the truth: the same number of instructions is another share of a packet's cycles whenever
# a neighbour takes the cache, so what one of them costs is measured in the same minutes.

# Instructions a burst that both sides of each pair have. Behind the first ones the processor still waits for
# something else, so they cost less than those after them, and a few would cost less than their share of many.
KNOWN_FLOOR=256

# --- the device ------------------------------------------------------------------------------

# bench_device: settles device, launcher (array) and plan_arguments from the software scenario's command.
bench_device() {
  local -a words
  testpmd_parse "$(sed -n 's/^command = //p' "$kit/scenarios/software/scenario.conf")" || fail "scenarios/software: $TESTPMD_REASON"
  testpmd_scale
  if [ -z "$device" ]; then
    device=ring
    if "$here/softnic" --check >/dev/null 2>&1; then device=software; fi
  fi
  launcher=()
  [ "$device" != software ] || launcher=("$here/softnic" --device "$(sed -n 's/^nic = //p' "$kit/scenarios/software/scenario.conf")" \
    --pci "$(printf '%s\n' "${tp_devices[@]%%,*}" | paste -sd,)" --mode inline --seed 1 --)
  mapfile -t words < <(
    testpmd_eal_arguments "$release" "$device" yes 1024
    printf '%s\n' --file-prefix=mppsdiff-bench-@PROCESS@ --
    testpmd_app_arguments
    [ "$device" != ring ] || printf -- '--ring-ports=%d\n' "$(scenario_ports)"
  )
  plan_arguments=${words[*]}
}

# bench_hugepages BINARY PROCESSES: reserves what so many forwarders need, as the first one shows.
bench_hugepages() {
  local line='' megabytes pid
  local -a arguments
  hugepages_reserve 512 || { printf 'not measured: %s\n' "$HUGEPAGES_REASON"; return 1; }
  IFS=' ' read -r -a arguments <<<"${plan_arguments//@PROCESS@/probe}"
  coproc PROBE { exec "${launcher[@]}" "$1" "${arguments[@]}" 2>"$work/probe.log"; }
  pid=$PROBE_PID
  read -r -t 60 line <&"${PROBE[0]}" || true
  megabytes=$(awk '/_Hugetlb:/ { kb += $2 } END { printf "%d\n", kb / 1024 * 1.1 + 4 }' "/proc/$pid/smaps_rollup" 2>/dev/null) || megabytes=0
  kill "$pid" 2>/dev/null || true
  wait "$pid" 2>/dev/null || true
  [[ $line == ready* ]] || { printf 'not measured: a forwarder does not start: %s\n' "$(sed -n '$p' "$work/probe.log")"; return 1; }
  [ $(($2 * megabytes)) -le 512 ] || hugepages_reserve $(($2 * megabytes - 512)) || { printf 'not measured: %s\n' "$HUGEPAGES_REASON"; return 1; }
}

# bench_measure DIR BASELINE ROUNDS SLICE_MS: runs the plan in DIR; its wall time is added to DIR/wall_ms.
bench_measure() {
  local start
  start=$(now_ms)
  supervise "${launcher[@]}" "$here/measure" --dir "$1" --baseline "$2" --control-cpu "$scaled_control" \
    --cpus "$(IFS=,; printf '%s' "${scaled_cpus[*]}")" --rounds "$3" --seed "$seed" --slice-ms "$4" ${max_wait:+--max-wait "$max_wait"} || return
  printf '%d\n' $(($(now_ms) - start)) >>"$1/wall_ms"
}

# plan_rows: the rows "epoch variant layout binary" of stdin as a plan, the starts of an epoch in seeded order.
plan_rows() {
  awk -F '\t' -v OFS='\t' -v seed="$seed" -v arguments="$plan_arguments" -v release="$release" '
    function random(n) { state = (state * 48271) % 2147483647; return state % n }
    function flush(   i, j, t, args) {
      for (i = n; i > 1; i--) { j = random(i) + 1; t = row[i]; row[i] = row[j]; row[j] = t }
      for (i = 1; i <= n; i++) {
        split(row[i], f, "\t")
        args = arguments
        gsub(/@PROCESS@/, "e" f[1] "p" i, args)
        print f[1], i, f[2], "gcc", release, f[3], f[4], random(256) * 16, args
      }
      n = 0
    }
    BEGIN {
      state = seed % 2147483646 + 1
      for (i = 0; i < 16; i++) random(1)
      print "epoch", "process", "variant", "cc", "dpdk", "layout", "binary", "env_bytes", "args"
    }
    $1 != epoch { flush(); epoch = $1 }
    { row[++n] = $0 }
    END { flush() }'
}

# --- binaries --------------------------------------------------------------------------------

# known_link WORK: links the pool of layouts (or the one as built) with so much work above the floor;
# binary_of[WORK/SEED].
known_link() {
  local layout
  for ((layout = layouts > 0 ? 1 : 0; layout <= layouts; layout++)); do
    [ -z "${binary_of[$1/$layout]:-}" ] || continue
    progress "known: link" "${#binary_of[@]}" $(((layouts > 0 ? layouts : 1) * (${#sizes[@]} + 3)))
    binary_of[$1/$layout]=$("$here/link" --build "$known_build" --extra-burst $((KNOWN_FLOOR + $1)) --seed "$layout")
  done
}

# --- calibration -----------------------------------------------------------------------------

# known_calibrate: roughly what an instruction a burst costs, as a share: step; by it the work of each size is chosen,
# and that of the pairs for the truth, about a quarter: far above the noise, and not so far that the slices'
# length tells.
known_calibrate() {
  # Layouts replicate as starts do.
  local dir=$keep/calibration layout epoch most=$((2000 - KNOWN_FLOOR)) starts=$((layouts > 0 ? (calibration_epochs + 3) / 4 : calibration_epochs))
  known_link 0
  known_link "$most"
  mkdir -p "$dir"
  for ((epoch = 1; epoch <= starts; epoch++)); do
    for ((layout = layouts > 0 ? 1 : 0; layout <= layouts; layout++)); do
      printf '%d\tr000-base\t%d\t%s\n' "$epoch" "$layout" "${binary_of[0/$layout]}"
      printf '%d\tr000-much\t%d\t%s\n' "$epoch" "$layout" "${binary_of[$most/$layout]}"
    done
  done | plan_rows >"$dir/plan.tsv"
  bench_measure "$dir" r000-base "$rounds" "$slice_ms" || return
  known_reference "$dir" 0 "$most"
  awk -v step="$step" 'BEGIN { exit !(step > 0.00001) }' ||
    { printf 'known: not measured: %d instructions a burst cost %s of the baseline; the machine is too noisy to calibrate\n' "$most" "$step"; return 1; }
  reference_work=$(awk -v step="$step" -v most="$most" 'BEGIN { n = int(0.25 / step + 0.5); print (n < 1 ? 1 : (n > most ? most : n)) }')
  known_link "$reference_work"
}

# known_reference DIR GROUP WORK: what an instruction a burst costs by the pair in DIR, as a share: step, step_low,
# step_high; base_cycles.
known_reference() {
  local base
  base=$(printf 'r%03d-base' "$2")
  awk -F '\t' -v base="$base" -v much="${base%base}much" 'NR == 1 || $4 == base || $4 == much' "$1/slices.tsv" >"$work/reference.tsv"
  "$tools/stats" --baseline "$base" --seed "$seed" --out "$work/reference-effects.tsv" "$work/reference.tsv"
  IFS=$'\t' read -r step step_low step_high base_cycles < <(awk -F '\t' -v base="$base" -v much="$3" '
    NR == 1 { for (i = 1; i <= NF; i++) col[$i] = i; next }
    $col["variant"] == base { cycles = $col["cycles_per_packet"]; next }
    { printf "%.9f\t%.9f\t%.9f\t%s\n", ($col["ratio"] - 1) / much, ($col["ratio_low"] - 1) / much, ($col["ratio_high"] - 1) / much, cycles }
  ' "$work/reference-effects.tsv")
}

# known_works: the work of each size, whole instructions; at least one.
known_works() {
  local size
  works=()
  for size in "${sizes[@]}"; do
    works+=("$(awk -v size="$size" -v step="$step" -v most=$((2000 - KNOWN_FLOOR)) 'BEGIN { n = int(size / 100 / step + 0.5); print (n < 1 ? 1 : (n > most ? most : n)) }')")
  done
}

# --- the trials ------------------------------------------------------------------------------

# known_groups: "group size-index trial has-aa" lines: every trial of every size, and A/A pairs beside the
# first ones; further A/A pairs have no trial (size index -).
known_groups() {
  awk -v sizes="${#sizes[@]}" -v trials="$trials" -v pairs="$aa" 'BEGIN {
    n = sizes * trials
    for (i = 0; i < n || i < pairs; i++)
      printf "%d %s %s %s\n", i + 1, i < n ? i % sizes : "-", i < n ? int(i / sizes) + 1 : "-", i < pairs ? "yes" : "no"
  }'
}

# known_rows FIRST LAST: the plan rows of these groups and of their pair for the truth. Over layouts each side of a
# group draws its own from the pool, as variants of really different code would; what it is called (the epoch) only
# pairs the two sides.
known_rows() {
  local epoch group index has_aa label layout
  local -a draw
  for ((epoch = 1; epoch <= epochs; epoch++)); do
    label=$((layouts > 0 ? epoch : 0))
    # Of one layout, byte by byte but for the work, so that luck cancels.
    layout=$((layouts > 0 ? (epoch - 1) % layouts + 1 : 0))
    printf '%d\tr%03d-base\t%d\t%s\n' "$epoch" "$1" "$label" "${binary_of[0/$layout]}"
    printf '%d\tr%03d-much\t%d\t%s\n' "$epoch" "$1" "$label" "${binary_of[$reference_work/$layout]}"
    while read -r group index _ has_aa; do
      [ "$group" -ge "$1" ] && [ "$group" -le "$2" ] || continue
      draw=(0 0 0)
      [ "$layouts" -eq 0 ] || read -r -a draw < <(awk -v seed="$seed" -v group="$group" -v epoch="$epoch" -v n="$layouts" 'BEGIN {
        x = (seed * 7919 + group * 104729 + epoch * 1299709) % 2147483646 + 1
        for (i = 0; i < 8; i++) x = (x * 48271) % 2147483647
        for (i = 0; i < 3; i++) { x = (x * 48271) % 2147483647; printf "%d ", x % n + 1 }
        print ""
      }')
      printf '%d\tg%03d-base\t%d\t%s\n' "$epoch" "$group" "$label" "${binary_of[0/${draw[0]}]}"
      [ "$has_aa" = no ] || printf '%d\tg%03d-aa\t%d\t%s\n' "$epoch" "$group" "$label" "${binary_of[0/${draw[1]}]}"
      [ "$index" = - ] || printf '%d\tg%03d-slow\t%d\t%s\n' "$epoch" "$group" "$label" "${binary_of[${works[index]}/${draw[2]}]}"
    done <"$keep/groups"
  done
}

# known_batch FIRST LAST: measures these groups and appends a row a comparison to known.tsv.
known_batch() {
  local dir group index has_aa
  dir=$keep/groups-$(printf '%03d' "$1")
  [ ! -f "$dir/done" ] || return 0
  mkdir -p "$dir"
  known_rows "$1" "$2" | plan_rows >"$dir/plan.tsv"
  bench_measure "$dir" "$(printf 'g%03d-base' "$1")" "$rounds" "$slice_ms" || return
  known_reference "$dir" "$1" "$reference_work"
  while read -r group index _ has_aa; do
    [ "$group" -ge "$1" ] && [ "$group" -le "$2" ] || continue
    [ "$has_aa" = no ] || known_compare "$dir" "$group" aa 0 0
    [ "$index" = - ] || known_compare "$dir" "$group" slow "${sizes[index]}" "${works[index]}"
  done <"$keep/groups" >"$dir/known.tsv"
  : >"$dir/done"
}

# known_compare DIR GROUP OTHER SIZE WORK: one comparison as a row: size work group ratio low high verdict seconds
# truth truth_low truth_high.
known_compare() {
  local base
  base=$(printf 'g%03d-base' "$2")
  # Rows keep their places: stats pairs by round and process.
  awk -F '\t' -v base="$base" -v other="$(printf 'g%03d-%s' "$2" "$3")" 'NR == 1 || $4 == base || $4 == other' "$1/slices.tsv" >"$work/pair.tsv"
  "$tools/stats" --baseline "$base" --margin "$margin" --seed "$seed" --out "$work/pair-effects.tsv" "$work/pair.tsv"
  awk -F '\t' -v size="$4" -v work="$5" -v group="$2" -v step="$step" -v low="$step_low" -v high="$step_high" -v OFS='\t' -v timed="$(awk -F '\t' 'NR > 1 && $11 > 0 { s += $10 / $11 } END { print s + 0 }' "$work/pair.tsv")" '
    NR == 1 { for (i = 1; i <= NF; i++) col[$i] = i; next }
    $col["verdict"] != "baseline" { print size, work, group, $col["ratio"], $col["ratio_low"], $col["ratio_high"], $col["verdict"], timed, 1 + work * step, 1 + work * low, 1 + work * high }' "$work/pair-effects.tsv"
}

# --- the table -------------------------------------------------------------------------------

# known_table: a line a size. The truth of a trial is its number of instructions times the cost of one in its minutes.
known_table() {
  local processes wall
  wall=$(cat "$keep"/groups-*/wall_ms | awk '{ s += $1 } END { printf "%.3f\n", s / 1000 }')
  processes=$(cat "$keep"/groups-*/plan.tsv | awk -F '\t' '$1 != "epoch"' | wc -l)
  cat "$keep"/groups-*/known.tsv | awk -F '\t' -v wall="$wall" -v processes="$processes" -v epochs="$epochs" '
    function median(list,    n, i, j, v, x) {
      n = split(list, x, " ")
      for (i = 2; i <= n; i++) { v = x[i] + 0; for (j = i - 1; j >= 1 && x[j] + 0 > v; j--) x[j + 1] = x[j]; x[j + 1] = v }
      return n % 2 ? x[(n + 1) / 2] : (x[n / 2] + x[n / 2 + 1]) / 2
    }
    {
      if (!($1 in n)) order[++k] = $1
      truth = $9
      true_share[$1] += $9 - 1; true_low[$1] += $10 - 1; true_high[$1] += $11 - 1
      n[$1]++
      work[$1] = $2
      mean[$1] += ($4 - 1) * 100
      squares[$1] += (($4 - 1) * 100) ^ 2
      slower[$1] += $7 == "slower"
      faster[$1] += $7 == "faster"
      holds[$1] += $5 != "-" && $5 <= truth && truth <= $6
      half[$1] = half[$1] " " ($5 == "-" ? 1000 : 50 * ($6 - $5))
      timed[$1] += $8
    }
    END {
      print "  size %    true % (95 %)            trials  slower  faster  covered     mean %  spread %  half-width %  measuring s  wall s"
      for (i = 1; i <= k; i++) for (j = i + 1; j <= k; j++) if (order[j] + 0 < order[i] + 0) { t = order[i]; order[i] = order[j]; order[j] = t }
      for (i = 1; i <= k; i++) {
        s = order[i]
        sd = n[s] > 1 ? sqrt((squares[s] - mean[s] ^ 2 / n[s]) / (n[s] - 1)) : 0
        if (sd != sd) sd = 0
        text = work[s] ? sprintf("%.2f (%.2f to %.2f), %d", 100 * true_share[s] / n[s], 100 * true_low[s] / n[s], 100 * true_high[s] / n[s], work[s]) : "0, A/A"
        printf "  %-8s  %-24s %6d  %6d  %6d  %3d = %3.0f %%  %+7.2f  %8.2f  %12.2f  %11.1f  %6.1f\n", s, text, n[s], slower[s], faster[s], holds[s], 100 * holds[s] / n[s], mean[s] / n[s], sd, median(half[s]), timed[s] / n[s], 2 * epochs * wall / processes
        all += n[s]; held += holds[s]
      }
      if (n["0"]) printf "  false alarms: %d of %d A/A comparisons (%.1f %%; promise: at most 1 %%)\n", slower["0"] + faster["0"], n["0"], 100 * (slower["0"] + faster["0"]) / n["0"]
      printf "  coverage of the 95 %% intervals: %d of %d (%.1f %%; promise: 92 to 98 %%)\n", held, all, 100 * held / all
      if (n["1"]) printf "  +1 %% found in %d of %d trials (%.0f %%; promise: at least 95 %% within 120 s each)\n", slower["1"], n["1"], 100 * slower["1"] / n["1"]
    }'
}

# bench_known: verdicts on slowdowns that are known.
bench_known() {
  local first last groups reference_work
  local -a works sizes
  local -A binary_of=()
  IFS=, read -r -a sizes <<<"$size_list"
  bench_device
  known_build=$(build_dir meson-static-nopie gcc)
  bench_keep known "$known_build" "$aa" "$trials" "$epochs" "$rounds" "$slice_ms" "$layouts" "$size_list" "$seed" "$KNOWN_FLOOR"
  known_link 0
  bench_hugepages "${binary_of[0/$((layouts > 0))]}" $((together * 3 + 2 > 2 * layouts ? together * 3 + 2 : 2 * layouts)) || return
  known_calibrate || return
  known_works
  for first in "${works[@]}"; do known_link "$first"; done
  printf '%s\n' "known: $device device, $( ((layouts > 0)) && echo "each side of a pair over $epochs layouts drawn from $layouts" || echo "as built"), $epochs starts of $rounds slices of $slice_ms ms, margin $margin %; baseline $base_cycles cycles/packet"
  known_groups >"$keep/groups"
  groups=$(wc -l <"$keep/groups")
  for ((first = 1; first <= groups; first += together)); do
    last=$((first + together - 1 < groups ? first + together - 1 : groups))
    progress "known: groups" $((first - 1)) "$groups"
    known_batch "$first" "$last" || return
  done
  known_table
  printf '  true: instructions a burst (the number behind the interval) times the cost of one, as a pair measured beside the trials tells: %s of them, above %s that all have\n' \
    "$reference_work" "$KNOWN_FLOOR"
  [ "$keep_remove" = no ] || rm -rf "$keep"
}
