# shellcheck shell=bash
# SPDX-License-Identifier: BSD-3-Clause
# shellcheck disable=SC2154 # options and folders of reproducers/bench, which sources it
#
# What people do today beside what the kit does, on the same build, for the same wall time: testpmd five times
# with A and then five times with B; the same in turns; the kit's interleaved slices. A and B are the same
# binary, so every difference is an error of the method. Needs known.bash.

# --- testpmd ---------------------------------------------------------------------------------

# testpmd_rate BINARY SECONDS: starts it, forwards so long, and prints packets a second (0: it did not run).
testpmd_rate() {
  local start pid packets elapsed
  local -a eal
  mapfile -t eal < <(testpmd_eal_arguments "$release" null yes 1024)
  rm -f "$work/peer.in"
  mkfifo "$work/peer.in"
  "$1" "${eal[@]}" --file-prefix=mppsdiff-bench-peer -- "${peer_options[@]}" --total-num-mbufs=8192 -i \
    <"$work/peer.in" >"$work/peer.out" 2>"$work/testpmd.log" &
  pid=$!
  exec {peer}>"$work/peer.in"
  # Its own words are buffered; what its command line says to nonsense is not, and comes when it has started.
  printf 'start\nshow port 0 no-such-word\n' >&"$peer"
  poll_until 30 grep -q -e 'Bad arguments' -e 'Command not found' "$work/peer.out" || { kill "$pid"; printf '0\n'; return; }
  start=$(now_ms)
  sleep "$2"
  elapsed=$(($(now_ms) - start))
  printf 'stop\nquit\n' >&"$peer"
  wait "$pid" || true
  exec {peer}>&-
  packets=$(awk '/Accumulated/ { found = 1 } found && /RX-packets/ { print $2; exit }' "$work/peer.out")
  awk -v packets="${packets:-0}" -v ms="$elapsed" 'BEGIN { printf "%.1f\n", packets * 1000 / ms }'
}

# peers_testpmd SCHEDULE: one estimate by starts of testpmd in this order, A or B; appends "ratio half-width" to
# the file of the method. In turns the differences of neighbours count, else the two means.
peers_testpmd() {
  local who start
  start=$(now_ms)
  for who in $1; do printf '%s %s\n' "$who" "$(testpmd_rate "$peer_testpmd" "$peer_seconds")"; done >"$work/rates"
  awk -v wall="$(($(now_ms) - start))" -v turns="$([ "${1:0:3}" = 'A B' ] && echo 1 || echo 0)" '
    $2 <= 0 { exit }
    { x = log($2); v[$1, ++n[$1]] = x; sum[$1] += x }
    END {
      if (n["A"] < 2 || n["A"] != n["B"]) exit
      k = n["A"]; a = sum["A"] / k; b = sum["B"] / k
      for (i = 1; i <= k; i++) { s += (v["A", i] - a) ^ 2 + (v["B", i] - b) ^ 2; d += (v["A", i] - v["B", i] - a + b) ^ 2 }
      # Student for 95 %, of five starts a side: 8 degrees of freedom, in turns 4
      half = turns ? 2.776 * sqrt(d / (k - 1) / k) : 2.306 * sqrt(s / (k - 1) / k)
      printf "%.6f %.4f %.1f\n", exp(a - b), 50 * (exp(half) - exp(-half)), wall / 1000
    }' "$work/rates"
}

# --- the kit ---------------------------------------------------------------------------------

# peers_ours DIR SECONDS BASE OTHER LAYOUTS: starts two binaries (or, over layouts, the epoch's of each) as often as
# the wall time allows, and prints "ratio half-width wall". BASE and OTHER are builds.
peers_ours() {
  local dir=$1 epochs_now=4 start wall spent
  local -A peer_binary=()
  peers_link base "$3" "$5"
  peers_link other "$4" "$5"
  rm -rf "$dir"
  mkdir -p "$dir"
  start=$(now_ms)
  peers_plan "$dir" 4 "$5"
  bench_measure "$dir" base "$rounds" "$slice_ms" || return
  spent=$(($(now_ms) - start))
  # Four epochs show what one takes; the plan only grows, and the epochs there are stay.
  epochs_now=$(($2 * 1000 * 4 / spent))
  if [ "$epochs_now" -gt 4 ]; then
    peers_plan "$dir" "$epochs_now" "$5"
    bench_measure "$dir" base "$rounds" "$slice_ms" || return
  fi
  wall=$(($(now_ms) - start))
  "$tools/stats" --baseline base --seed "$seed" --out "$dir/effects.tsv" "$dir/slices.tsv"
  awk -F '\t' -v wall="$wall" '
    NR == 1 { for (i = 1; i <= NF; i++) col[$i] = i; next }
    $col["variant"] == "other" { printf "%s %.4f %.1f\n", $col["ratio"], 50 * ($col["ratio_high"] - $col["ratio_low"]), wall / 1000 }' "$dir/effects.tsv"
}

peers_link() { # SIDE BUILD LAYOUTS: peer_binary[SIDE/LAYOUT]; linking is no part of the measured time
  local layout
  for ((layout = $3 > 0 ? 1 : 0; layout <= $3; layout++)); do
    peer_binary[$1/$layout]=$("$here/link" --build "$2" --seed "$layout")
  done
}

peers_plan() { # DIR EPOCHS LAYOUTS
  local epoch layout side
  for ((epoch = 1; epoch <= $2; epoch++)); do
    layout=$(($3 > 0 ? (epoch - 1) % $3 + 1 : 0))
    for side in base other; do printf '%d\t%s\t%d\t%s\n' "$epoch" "$side" "$layout" "${peer_binary[$side/$layout]}"; done
  done | plan_rows >"$1/plan.tsv"
}

# --- the table -------------------------------------------------------------------------------

# bench_peers: the spread of the A/A estimates of each method, and the width of its intervals.
bench_peers() {
  local i dir pic line nopic
  device=null
  bench_device
  mapfile -t peer_options < <(testpmd_app_arguments | grep -v -x -e --slices)
  dir=$(build_dir meson-static-nopie gcc --testpmd)
  peer_testpmd=$dir/meson/app/dpdk-testpmd
  bench_hugepages "$("$here/link" --build "$dir")" 3 || return
  for ((i = 1; i <= repeats; i++)); do
    progress 'peers: estimates of each method' $((i - 1)) "$repeats"
    peers_testpmd 'A A A A A B B B B B' >>"$work/peer.a"
    peers_testpmd 'A B A B A B A B A B' >>"$work/peer.b"
    # as long as the other two took
    peers_ours "$work/peer" "$(awk '{ s += $3 } END { printf "%d\n", (NR ? s / NR : 20) + 0.5 }' "$work/peer.a" "$work/peer.b")" "$dir" "$dir" 0 >>"$work/peer.c"
  done
  for line in 'a|testpmd A 5 times, then B 5 times' 'b|testpmd A and B in turns, 5 times' 'c|interleaved slices'; do
    awk -v what="${line#*|}" -v repeats="$repeats" '
      { x = log($1); s += x; q += x * x; h[NR] = $2; w += $3 }
      END {
        if (!NR) { printf "peers: %-36s gave no estimate\n", what; exit }
        for (i = 2; i <= NR; i++) { v = h[i]; for (j = i - 1; j >= 1 && h[j] + 0 > v + 0; j--) h[j + 1] = h[j]; h[j + 1] = v }
        m = NR % 2 ? h[(NR + 1) / 2] : (h[NR / 2] + h[NR / 2 + 1]) / 2
        printf "peers: %-36s A/A estimates spread by %6.2f %% (root mean square error of %d), 95 %% interval +-%.2f %% (median), %.0f s each\n", what, 100 * sqrt(q / NR), NR, m, w / NR
      }' "$work/peer.${line%%|*}"
  done
  paste -d ' ' <(cut -d' ' -f2 "$work/peer.a" | median) <(cut -d' ' -f2 "$work/peer.c" | median) |
    awk '{ printf "peers: intervals of interleaved slices are %.1f times narrower than those of testpmd one after the other (aim: 37)\n", ($2 > 0 ? $1 / $2 : 0) }'
  pic=$(build_dir meson-static gcc)
  nopic=$(build_dir meson-static-nopic gcc)
  for i in 0 "$pair_layouts"; do
    line=$(peers_ours "$work/peer" "$pair_seconds" "$nopic" "$pic" "$i") || return
    read -r _ half wall <<<"$line"
    printf 'peers: meson-static against meson-static-nopic, %s: +-%s %% after %s s of measuring, starts included (aim: 0.5 within 60)\n' \
      "$([ "$i" -eq 0 ] && echo 'as built' || echo "over $i layouts")" "$half" "$wall"
  done
}

# --- slice length ----------------------------------------------------------------------------

# bench_slices: spread of A/A pairs of starts for each slice length, the same forwarding time a start, of all
# slices and of those that had their CPU to themselves. The lengths take turns, so that a machine that changes
# does so for all of them.
bench_slices() {
  local binary repeat length dir which
  local -a lengths
  local -i pair
  IFS=, read -r -a lengths <<<"$slice_list"
  : "${max_wait:=5}"
  bench_device
  binary=$("$here/link" --build "$(build_dir meson-static-nopie gcc)")
  bench_hugepages "$binary" $((2 * slice_pairs)) || return
  for ((repeat = 1; repeat <= repeats; repeat++)); do
    progress 'slices: repeats of each length' $((repeat - 1)) "$repeats"
    for length in "${lengths[@]}"; do
      dir=$work/slices-$length-$repeat
      mkdir -p "$dir"
      for ((pair = 1; pair <= slice_pairs; pair++)); do
        printf '1\tp%02d-base\t0\t%s\n1\tp%02d-other\t0\t%s\n' "$pair" "$binary" "$pair" "$binary"
      done | seed=$((seed + repeat)) plan_rows >"$dir/plan.tsv"
      bench_measure "$dir" p01-base $((slice_total_ms / length)) "$length" || return
      for ((pair = 1; pair <= slice_pairs; pair++)); do
        for which in all quiet; do slices_pair "$dir/slices.tsv" "$(printf 'p%02d-' "$pair")" "$which" >>"$work/spread.$length.$which"; done
      done
    done
  done
  for length in "${lengths[@]}"; do
    for which in all quiet; do
      awk -v device="$device" -v length_ms="$length" -v rounds="$((slice_total_ms / length))" -v which="$which" -v limit="$max_wait" \
        -v wall="$(cat "$work/slices-$length"-*/wall_ms | awk '{ s += $1 } END { print s / 1000 }')" \
        -v left="$(cat "$work/slices-$length"-*/slices.tsv | awk -F '\t' '$1 != "epoch" { n++; k += $13 } END { printf "%.0f\n", 100 * k / n }')" '
        $1 != "-" { x = log($1); q += x * x; n++ }
        END {
          if (which == "all") printf "slices: %s device, %d ms, %d a start: A/A pairs of starts spread by %.2f %% (%d pairs, %.0f s)", device, length_ms, rounds, n ? 100 * sqrt(q / n) : 0, n, wall
          else printf "; of the %d %% of slices that waited for a CPU for at most %s %% of their time: %.2f %% (%d pairs)\n", left, limit, n ? 100 * sqrt(q / n) : 0, n
        }' "$work/spread.$length.$which"
    done
  done
}

# slices_pair FILE PREFIX all|quiet: the ratio of a pair of starts, without or with the filter; - if nothing is left.
slices_pair() {
  awk -F '\t' -v OFS='\t' -v p="$2" -v which="$3" '
    NR > 1 && index($4, p) != 1 { next }
    which == "all" && $14 == "waited for a CPU" { $13 = 1; $14 = "-" }
    { print }' "$1" >"$work/pair.tsv"
  "$tools/stats" --baseline "$2base" --seed "$seed" "$work/pair.tsv" |
    awk -F '\t' 'NR == 1 { for (i = 1; i <= NF; i++) col[$i] = i; next } $col["variant"] ~ /other$/ { print $col["ratio"] }'
}
