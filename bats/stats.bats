#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# stats: known answers from synthetic slices, the intervals' coverage, notes, bad input.
# shellcheck disable=SC2154 # bats sets status, output, lines, stderr

load helpers

setup() {
  cd "$BATS_TEST_TMPDIR" || return
}

# synth OPTION...: slices of known truth into slices.tsv.
synth() {
  "$TOOLS/synth" --out slices.tsv "$@"
}

# stats OPTION...: effects of slices.tsv into effects.tsv and units.tsv, in silence.
stats() {
  run --separate-stderr "$TOOLS/stats" --baseline base --out effects.tsv --units units.tsv "$@" slices.tsv
  [ "$status" -eq 0 ] || { printf 'stats %s: status %s: %s\n' "$*" "$status" "$stderr" >&2; return 1; }
  [ -z "$output$stderr" ] || { printf 'stats %s said: %s%s\n' "$*" "$output" "$stderr" >&2; return 1; }
}

# cell VARIANT COLUMN [CC]: one cell of effects.tsv.
cell() {
  awk -F '\t' -v variant="$1" -v column="$2" -v cc="${3:-gcc}" '
    NR == 1 { for (i = 1; i <= NF; i++) if ($i == column) col = i; if (!col) exit 1; next }
    $1 == variant && $2 == cc { print $col; n++ }
    END { exit n != 1 }' effects.tsv
}

# is VARIANT COLUMN VALUE: the cell is exactly that.
is() {
  local found
  found=$(cell "$1" "$2") || { printf 'no cell %s %s in:\n' "$1" "$2" >&2; cat effects.tsv >&2; return 1; }
  [ "$found" = "$3" ] || { printf '%s of %s: %s, not %s\n' "$2" "$1" "$found" "$3" >&2; cat effects.tsv >&2; return 1; }
}

# notes VARIANT TEXT: the note holds TEXT.
notes() {
  local note
  note=$(cell "$1" note)
  [[ "$note" == *"$2"* ]] || { printf 'expected "%s" in the note of %s: %s\n' "$2" "$1" "$note" >&2; return 1; }
}

# silent VARIANT TEXT: the note does not hold TEXT.
silent() {
  local note
  note=$(cell "$1" note)
  [[ "$note" != *"$2"* ]] || { printf 'unexpected "%s" in the note of %s: %s\n' "$2" "$1" "$note" >&2; return 1; }
}

# true_in VARIANT RATIO: the interval holds the true ratio.
true_in() {
  awk -v low="$(cell "$1" ratio_low)" -v high="$(cell "$1" ratio_high)" -v truth="$2" \
    'BEGIN { exit !(low <= truth && truth <= high) }' ||
    { printf '%s: %s is not in the interval\n' "$1" "$2" >&2; cat effects.tsv >&2; return 1; }
}

# near A B RELATIVE: A and B agree to the relative tolerance.
near() {
  awk -v a="$1" -v b="$2" -v tolerance="$3" \
    'BEGIN { d = a - b; if (d < 0) d = -d; m = b < 0 ? -b : b; exit !(d <= tolerance * m) }' ||
    { printf '%s is not near %s\n' "$1" "$2" >&2; return 1; }
}

# width VARIANT: of the interval.
width() {
  awk -v low="$(cell "$1" ratio_low)" -v high="$(cell "$1" ratio_high)" 'BEGIN { print high - low }'
}

# refused TEXT [OPTION...]: stats exits 2 with one line that holds TEXT, and writes nothing.
refused() {
  local text=$1
  shift
  rm -f effects.tsv
  run --separate-stderr "$TOOLS/stats" --baseline base --out effects.tsv "$@" slices.tsv
  [ "$status" -eq 2 ] || { printf '%s: status %s, not 2: %s\n' "$text" "$status" "$stderr" >&2; return 1; }
  [ -z "$output" ] || { printf 'printed: %s\n' "$output" >&2; return 1; }
  [ "${#stderr_lines[@]}" -eq 1 ] || { printf 'not one line: %s\n' "$stderr" >&2; return 1; }
  [[ "$stderr" == "mppsdiff: "*"$text"* ]] || { printf 'expected "%s" in: %s\n' "$text" "$stderr" >&2; return 1; }
  [ -z "$(find . -name 'effects.tsv*')" ] || { printf 'left behind: %s\n' effects.tsv* >&2; return 1; }
}

# change LINE SED: slices.tsv is good.tsv with that line changed.
change() {
  sed "$1$2" good.tsv >slices.tsv
}

# The estimator once more, in awk: pairs by round with the baseline of the same layout, or else with
# layout 0; median over rounds; mean over epochs, then over layouts above 0; t interval over those, or over
# epochs if there is layout 0 only. Prints ratio low high. T is the quantile.
reference() { # VARIANT T
  awk -F '\t' -v variant="$1" -v t="$2" '
    function median(x, n,    i, j, v) {
      for (i = 2; i <= n; i++) {
        v = x[i]
        for (j = i - 1; j >= 1 && x[j] > v; j--) x[j + 1] = x[j]
        x[j + 1] = v
      }
      return n % 2 ? x[(n + 1) / 2] : (x[n / 2] + x[n / 2 + 1]) / 2
    }
    NR == 1 || $13 == 0 { next }
    { if ($1 > epochs) epochs = $1; if ($2 > rounds) rounds = $2; if ($7 > layouts) layouts = $7 }
    $4 == "base" && (!(($1, $7) in first) || $8 < first[$1, $7]) { first[$1, $7] = $8 }
    $4 == "base" { b[$1, $7, $8, $2] = log($10 / $9) }
    $4 == variant { v[$1, $7, $2] = log($10 / $9); if ($7 > 0) shuffled = 1 }
    END {
      for (l = shuffled ? 1 : 0; l <= (shuffled ? layouts : 0); l++) {
        sum = n_epochs = 0
        for (e = 1; e <= epochs; e++) {
          n = 0
          bl = (e, l) in first ? l : 0
          for (r = 1; r <= rounds; r++)
            if ((e, l, r) in v && (e, bl, first[e, bl], r) in b)
              x[++n] = v[e, l, r] - b[e, bl, first[e, bl], r]
          if (!n) continue
          y = median(x, n)
          sum += y; n_epochs++
          if (!shuffled) member[++members] = y
        }
        if (shuffled && n_epochs) member[++members] = sum / n_epochs
      }
      for (i = 1; i <= members; i++) mean += member[i] / members
      for (i = 1; i <= members; i++) s += (member[i] - mean) ^ 2
      half = t * sqrt(s / (members - 1) / members)
      printf "%.6f %.6f %.6f\n", exp(mean), exp(mean - half), exp(mean + half)
    }' slices.tsv
}

# --- known answers ---

@test "stats: a fixture worked by hand gives ratio, cycles, Mpps and as-built exactly" {
  # three epochs of three rounds; cycles of 1000 packets, so cycles/packet are these / 1000
  {
    printf 'epoch\tround\torder\tvariant\tcc\tdpdk\tlayout\tprocess\tpackets\tcycles\ttsc_hz\tdropped\tvalid\treason\n'
    awk -v OFS='\t' 'BEGIN {
      split("100000 200000 400000 100000 100000 100000 50000 50000 50000", base)
      split("110000 220000 880000 121000 121000 900000 66550 50000 90000", v)
      for (i = 1; i <= 9; i++) {
        e = int((i - 1) / 3) + 1; r = (i - 1) % 3 + 1
        print e, r, 1, "base", "gcc", "22.11", 0, 1, 1000, base[i], 2000000000, 0, 1, "-"
        print e, r, 2, "v", "gcc", "22.11", 0, 2, 1000, v[i], 2000000000, 0, 1, "-"
      }
    }'
  } >slices.tsv
  stats
  # ratios by round: 1.1 1.1 2.2; 1.21 1.21 9; 1.331 1 1.8. Medians 1.1 1.21 1.331, whose geometric mean is 1.21
  is v ratio 1.210000
  is v as_built_ratio 1.210000
  # log ratios ln 1.1 times 1, 2, 3: se = ln 1.1 / sqrt 3, t with 2 degrees of freedom 4.302653
  near "$(width v)" "$(awk 'BEGIN { h = 4.302653 * log(1.1) / sqrt(3); print 1.21 * (exp(h) - exp(-h)) }')" 0.03
  # medians 200, 100, 50 of the baseline and 220, 121, 66.55 of v
  is base cycles_per_packet 100.000
  is base mpps 20.0000
  is v cycles_per_packet "$(awk 'BEGIN { printf "%.3f", (220 * 121 * 66.55) ^ (1 / 3) }')"
  is v layouts 1
  is v processes 3
  is v rounds 9
  is base ratio 1.000000
  is base verdict baseline
  is v aa_low -
  notes v "no A/A pair"
}

@test "stats: agrees with the same estimator written in awk, over epochs and over layouts" {
  local low high ratio
  synth --effects 3 --epochs 6 --start-spread 2 --outliers 5 --missing 5 --seed 5
  stats
  read -r ratio low high <<<"$(reference v3 2.570582)"
  near "$(cell v3 ratio)" "$ratio" 0.000002
  near "$(width v3)" "$(awk -v a="$low" -v b="$high" 'BEGIN { print b - a }')" 0.04
  synth --effects 3 --epochs 3 --layouts 5 --layout-spread 4 --start-spread 2 --missing 5 --seed 6
  stats
  read -r ratio low high <<<"$(reference v3 2.776445)"
  near "$(cell v3 ratio)" "$ratio" 0.000002
  near "$(width v3)" "$(awk -v a="$low" -v b="$high" 'BEGIN { print b - a }')" 0.04
  is v3 layouts 5
  is v3 processes 15
}

@test "stats: true effects of 0, 0.5, 1, 2, 3, 9 and -3 % lie in their intervals and are told apart" {
  local effect
  synth --effects 0,0.5,1,2,3,9,-3 --start-spread 0.2 --noise 1 --epochs 12
  stats --margin 0.6
  for effect in 0 0.5 1 2 3 9 -3; do
    true_in "v$effect" "$(awk -v e="$effect" 'BEGIN { print 1 + e / 100 }')"
  done
  is v0 verdict same
  for effect in 1 2 3 9; do
    is "v$effect" verdict slower
  done
  is v-3 verdict faster
  # half a percent within 0.6 %: never called slower
  case $(cell v0.5 verdict) in same | undecided) ;; *) cat effects.tsv >&2; false ;; esac
}

@test "stats: a few starts that the machine disturbed beyond measure move neither estimate nor interval much" {
  synth --effects 1 --start-spread 0.5 --noise 2 --epochs 40 --rounds 10
  # one start in ten of each side, not the same ones
  awk -F '\t' -v OFS='\t' 'NR > 1 && ($4 == "v1" && $1 % 10 == 3 || $4 == "base" && $1 % 10 == 7) { $10 = int($10 * ($4 == "v1" ? 1.8 : 1.3)) } { print }' slices.tsv >disturbed.tsv
  mv disturbed.tsv slices.tsv
  stats --margin 0.3
  true_in v1 1.01
  # a plain mean is 3 % off, and its interval 14 % wide
  awk -v low="$(cell v1 ratio_low)" -v high="$(cell v1 ratio_high)" 'BEGIN { exit !(high - low < 0.02) }'
  near "$(cell v1 ratio)" 1.01 0.003
}

@test "stats: a true +1 % is found with a margin of half a percent, and is undecided where the interval straddles the margin" {
  synth --effects 1 --start-spread 0.2 --noise 1
  stats --margin 0.5
  is v1 verdict slower
  stats --margin 1.3
  is v1 verdict undecided
  notes v1 "slower, but perhaps within the margin"
  stats --margin 3
  is v1 verdict same
  notes v1 "a difference within the margin is certain"
}

@test "stats: drift, steps of the machine, outliers and missing rounds do not move the answer" {
  local disturbance clean
  synth --effects 3 --start-spread 0.3 --noise 1 --seed 3
  stats
  clean=$(width v3)
  for disturbance in '--drift 100' '--step 60' '--outliers 15' '--missing 30' \
    '--drift 100 --step 60 --outliers 15 --missing 30'; do
    # shellcheck disable=SC2086 # several options
    synth --effects 3 --start-spread 0.3 --noise 1 --seed 3 $disturbance
    stats
    true_in v3 1.03 || { echo "with $disturbance" >&2; false; }
    is v3 verdict slower
    awk -v a="$(width v3)" -v b="$clean" 'BEGIN { exit !(a < 3 * b) }' ||
      { printf '%s: the interval grew from %s to %s\n' "$disturbance" "$clean" "$(width v3)" >&2; false; }
  done
}

@test "stats: one process that dies is counted with its reason, and the rest stands" {
  synth --effects 3,0 --start-spread 0.3 --noise 1 --dead --seed 2
  stats
  true_in v3 1.03
  is v3 verdict slower
  is v3 processes 8
  # a third of 40 rounds of the first epoch are left
  is v3 rounds $((7 * 40 + 13))
  notes v3 "27 of 320 slices invalid, left out (died: signal 11)"
  silent v0 invalid
}

@test "stats: a variant without any valid slice is a row of its own, the others go on" {
  synth --effects 3,2 --start-spread 0.3 --noise 1
  awk -F '\t' -v OFS='\t' '$4 == "v3" { $9 = $10 = 0; $13 = 0; $14 = "timeout" } { print }' slices.tsv >s && mv s slices.tsv
  stats
  is v3 verdict invalid
  is v3 ratio -
  is v3 cycles_per_packet -
  notes v3 "no valid slice; 320 of 320 slices invalid, left out (timeout)"
  is v2 verdict slower
}

@test "stats: a baseline that died leaves its variants undecided, with the reason" {
  synth --effects 3 --cc gcc,clang --start-spread 0.3 --noise 1
  awk -F '\t' -v OFS='\t' '$4 == "base" && $5 == "gcc" { $9 = 0; $13 = 0; $14 = "no packets" } { print }' slices.tsv >s && mv s slices.tsv
  stats
  is base verdict invalid
  is v3 verdict undecided
  is v3 ratio -
  notes v3 "no round in common with a valid slice of the baseline"
  [ "$(cell v3 verdict clang)" = slower ]
}

@test "stats: if the first start of the baseline dies early its second start stands in" {
  synth --effects 3 --start-spread 0.3 --noise 1
  awk -F '\t' -v OFS='\t' '$8 == 1 && $2 > 5 { $9 = 0; $13 = 0; $14 = "died" } { print }' slices.tsv >s && mv s slices.tsv
  stats
  is v3 rounds 320
  true_in v3 1.03
}

@test "stats: unequal layouts are compared each with its own partner" {
  synth --effects 9 --layouts 8 --layout-spread 1 --start-spread 0.3 --noise 1 --unequal
  stats
  is v9 layouts 4
  is base layouts 8
  is v9 processes 32
  true_in v9 1.09
  is v9 verdict slower
  silent v9 "no baseline of the same layout"
}

@test "stats: layouts without a partner fall back to the baseline as built and pay for its luck" {
  local paired
  synth --effects 9 --layouts 8 --layout-spread 5 --epochs 2 --noise 1
  stats
  paired=$(width v9)
  synth --effects 9 --layouts 8 --layout-spread 5 --epochs 2 --noise 1 --baseline-layouts 0
  stats
  notes v9 "8 of 8 layouts had no baseline of the same layout"
  notes v9 "the same layouts of the baseline would decide"
  awk -v a="$(width v9)" -v b="$paired" 'BEGIN { exit !(a > 1.5 * b) }'
  true_in v9 1.09
}

@test "stats: layout spread is found and the spread of process starts taken out of it" {
  synth --effects 0 --layouts 200 --layout-spread 3 --start-spread 4 --epochs 2 --rounds 9 --noise 1 --seed 6
  stats
  # two binaries a pair: 3 % times sqrt 2
  near "$(cell v0 layout_spread_percent)" 4.243 0.15
  # the baseline's layouts against the one as built: 3 %
  near "$(cell base layout_spread_percent)" 3 0.15
  # layouts that have one start only: the A/A pairs tell the spread of starts
  synth --effects 0 --layouts 1 --nested --layout-spread 3 --start-spread 4 --epochs 1000 --rounds 9 --noise 1
  stats
  near "$(cell v0 layout_spread_percent)" 4.243 0.15
  silent v0 "holds that of process starts"
  # nothing tells it
  synth --effects 0 --layouts 200 --no-aa --layout-spread 3 --start-spread 4 --epochs 1 --rounds 9 --noise 1
  stats
  near "$(cell v0 layout_spread_percent)" 7.07 0.15
  notes v0 "the layout spread holds that of process starts"
  synth --effects 0
  stats
  is v0 layout_spread_percent -
}

@test "stats: bimodal processes are flagged in the note and in units.tsv, others are not" {
  synth --effects 2,0 --rounds 80 --noise 1 --bimodal 12
  stats
  # a process that hardly ever changed its speed has one
  cell v2 note | grep -q "[678] of 8 process starts bimodal (two speeds up to 1[12]\."
  silent v0 bimodal
  silent base bimodal
  [ "$(awk -F '\t' '$1 == "v2" && $11 == 1' units.tsv | wc -l)" -ge 6 ]
  [ "$(awk -F '\t' '$1 != "v2" && $11 == 1' units.tsv | wc -l)" -eq 0 ]
  # a drifting machine with outliers has no bimodal process
  synth --effects 0 --rounds 80 --noise 1 --drift 100 --step 50 --outliers 15
  stats
  silent v0 bimodal
  # too few slices to say
  synth --effects 0 --rounds 19
  stats
  [ "$(awk -F '\t' 'NR > 1 && $11 != "-"' units.tsv | wc -l)" -eq 0 ]
}

# --- notes ---

@test "stats: says in words when as built and over layouts disagree" {
  synth --effects 0 --layouts 8 --layout-spread 0.2 --start-spread 0.2 --noise 1 --as-built 12
  stats
  is v0 verdict same
  notes v0 "as built it is 12."
  notes v0 "% slower, over layouts it is not"
  near "$(cell v0 as_built_ratio)" 1.12 0.01
  near "$(cell v0 ratio)" 1 0.01
  synth --effects 9 --layouts 8 --layout-spread 0.2 --start-spread 0.2 --noise 1 --as-built -8.2569
  stats
  is v9 verdict slower
  notes v9 "slower, as built that does not show"
  synth --effects 9 --layouts 8 --layout-spread 0.2 --start-spread 0.2 --noise 1 --as-built -20
  stats
  notes v9 "as built it is 12."
  notes v9 "% faster, over layouts"
  # where they agree nothing is said
  synth --effects 9 --layouts 8 --layout-spread 0.2 --start-spread 0.2 --noise 1 --as-built 0
  stats
  silent v9 "as built"
}

@test "stats: one process start gives an interval from rounds, no verdict, and says so" {
  synth --effects 9 --epochs 1 --start-spread 0.2
  stats
  is v9 verdict undecided
  notes v9 "one process start only"
  notes v9 "at least 3 more epochs"
  true_in v9 1.09
  # not even "same": the next start may be two percent off
  synth --effects 0 --epochs 1 --noise 0.5 --rounds 200
  stats
  is v0 verdict undecided
  # too few rounds for even that
  synth --effects 9 --epochs 1 --rounds 3
  stats
  is v9 ratio_low -
  notes v9 "too few rounds for an interval"
}

@test "stats: as built only and one layout only are named" {
  synth --effects 0 --start-spread 1
  stats
  notes v0 "as built only"
  synth --effects 0 --layouts 1 --start-spread 1
  stats
  notes v0 "one layout only"
  synth --effects 0 --layouts 2 --start-spread 1
  stats
  silent v0 "only"
}

@test "stats: undecided names how many layouts or epochs would decide, and they do" {
  local more
  synth --effects 2 --start-spread 1.5 --noise 1 --epochs 6 --seed 3
  stats
  is v2 verdict undecided
  more=$(cell v2 note | sed -n 's/.*about \([0-9]*\) more epochs (\([0-9]*\) in all) would decide.*/\1 \2/p')
  [ -n "$more" ]
  [ $((${more#* } - ${more% *})) -eq 6 ]
  # n = (2.807 sd / effect)^2 for 0.5 % if the quantile were normal; Student's adds a few. 2.570582: t with 5 df
  awk -v low="$(cell v2 ratio_low)" -v high="$(cell v2 ratio_high)" -v needed="${more#* }" 'BEGIN {
    sd = (log(high) - log(low)) / 2 / 2.570582 * sqrt(6); n = (2.807 * sd * 2 / (log(high) + log(low))) ^ 2
    exit !(n <= needed && needed <= n + 7) }' || { echo "$more" >&2; cat effects.tsv >&2; false; }
  synth --effects 2 --start-spread 1.5 --noise 1 --epochs $((${more#* } * 2)) --seed 3
  stats
  is v2 verdict slower
  synth --effects 9 --layouts 4 --layout-spread 5
  stats
  notes v9 "more layouts ("
}

@test "stats: an A/A interval that excludes 1 or is wider than the effect is said in every row" {
  synth --effects 2 --start-spread 0.2 --noise 1
  # the second start of the baseline is 5 % slower, as on a machine that cannot be trusted
  awk -F '\t' -v OFS='\t' '$8 == 2 { $10 = int($10 * 1.05) } { print }' slices.tsv >s
  cp s slices.tsv
  stats
  notes base "A/A excludes 1: two starts of the baseline itself differ by +4.9"
  notes v2 "A/A excludes 1"
  awk -v low="$(cell v2 aa_low)" 'BEGIN { exit !(low > 1.03) }'
  synth --effects 0.3 --start-spread 3 --noise 1
  stats
  notes v0.3 "is wider than the effect"
  synth --effects 9 --start-spread 0.2 --noise 1
  stats
  silent v9 "A/A"
  notes base "A/A "
}

@test "stats: an A/A pair in a shuffled layout is paired within that layout" {
  synth --effects 2 --layouts 1 --noise 0 --layout-spread 5 --start-spread 2 --epochs 3
  # process 2, the second start as built, becomes the first one of layout 1; process 3 is its second start
  awk -F '\t' -v OFS='\t' '$8 == 2 { $7 = 1 } { print }' slices.tsv >s && mv s slices.tsv
  stats
  awk -F '\t' '
    NR == FNR { if ($2 == 1 && $8 < 4) c[$1, $8] = $10; next }
    $1 == "base" && $6 == 3 { d = $7 - c[$5, 3] / c[$5, 2]; n++; if (d > 0.00001 || d < -0.00001) bad = 1 }
    $1 == "base" && $6 == 2 { d = $7 - c[$5, 2] / c[$5, 1]; n++; if (d > 0.00001 || d < -0.00001) bad = 1 }
    END { exit bad || n != 6 }' slices.tsv units.tsv || { cat units.tsv >&2; false; }
}

@test "stats: one A/A pair is named as such and not taken for a verdict on the machine" {
  synth --effects 9 --layouts 8 --layout-spread 0.2 --start-spread 2 --noise 0.5 --epochs 1
  stats
  notes base "from one pair of starts: its interval holds rounds only"
  silent v9 "A/A excludes 1"
  is v9 verdict slower
}

@test "stats: drops stand beside the rate" {
  synth --effects 0 --start-spread 0.2
  awk -F '\t' -v OFS='\t' '$4 == "v0" { $12 = 2000 } { print }' slices.tsv >s && mv s slices.tsv
  stats
  notes v0 "640000 packets dropped (0.99 %)"
  silent base dropped
}

# --- rules ---

@test "stats: p values are corrected by Holm's method over all variants and compilers" {
  local v cc
  synth --effects 0.6,1,1.2 --cc gcc,clang --start-spread 1 --noise 1 --seed 2
  cp slices.tsv all.tsv
  stats
  cp effects.tsv all-effects.tsv
  # a row's own p does not depend on the other rows: take it from a file that holds it alone
  for cc in gcc clang; do
    for v in v0.6 v1 v1.2; do
      awk -F '\t' -v v="$v" -v cc="$cc" 'NR == 1 || ($5 == cc && ($4 == "base" || $4 == v))' all.tsv >slices.tsv
      stats
      printf '%s %s %s\n' "$v" "$cc" "$(awk -F '\t' -v v="$v" '$1 == v' effects.tsv | sed 's/.*p \([0-9.e-]*\).*/\1/')"
    done
  done >raw
  sort -g -k 3 raw | awk '{ p = $3 * (7 - NR); if (p > 1) p = 1; if (p < last) p = last; last = p; print $1, $2, p }' >expected
  [ "$(wc -l <expected)" -eq 6 ]
  cp all-effects.tsv effects.tsv
  while read -r v cc p; do
    near "$(cell "$v" note "$cc" | sed 's/.*p \([0-9.e-]*\) (Holm, 6 comparisons).*/\1/')" "$p" 0.06
  done <expected
}

@test "stats: several looks are held to Pocock's published levels" {
  local looks level
  synth --effects 3 --start-spread 1 --noise 1
  while read -r looks level; do
    stats --looks "$looks" --look 2
    notes v3 "look 2 of $looks at Pocock's level"
    notes v3 "$level for the interval"
  done <<<$'2 0.0294\n3 0.022\n4 0.0182\n5 0.0158'
  stats --looks 4 --look 1
  local wide
  wide=$(width v3)
  stats
  awk -v a="$wide" -v b="$(width v3)" 'BEGIN { exit !(a > 1.2 * b) }'
}

@test "stats: --widest prints the widest half-width in percent, or +inf while starts are too few" {
  synth --effects 0,3 --cc gcc,clang --start-spread 2
  stats
  run -0 "$TOOLS/stats" --baseline base --widest slices.tsv
  near "$output" "$(awk -F '\t' 'NR > 1 && $1 != "base" { h = 50 * ($11 - $10); if (h > w) w = h } END { print w }' effects.tsv)" 0.001
  synth --effects 0,3 --epochs 1
  run -0 "$TOOLS/stats" --baseline base --widest slices.tsv
  [ "$output" = +inf ]
  # awk must not take it for zero
  awk -v w="$output" 'BEGIN { exit !(w + 0 > 1000) }'
}

@test "stats: intervals hold the truth in 92 to 98 % of simulations, false alarms are rare" {
  "$TOOLS/synth" --coverage --trials 150 --margin 0.5 --seed 1 --design layouts-4 --out four.tsv
  "$TOOLS/synth" --coverage --trials 150 --margin 0.5 --seed 1 --design layouts-8 --out eight.tsv
  "$TOOLS/synth" --coverage --trials 150 --margin 0.5 --seed 1 --design as-built-4 --out built.tsv
  # over the four truths of a design: 600 simulations, a standard deviation of 0.9 %
  for file in four.tsv eight.tsv built.tsv; do
    awk -F '\t' 'NR > 1 { c += $4; n++ } $2 == 0 { alarms = $7 + $8 }
      END { printf "coverage %.2f false alarms %.2f\n", c / n, alarms; exit !(n == 4 && c / n > 92 && c / n < 98 && alarms <= 2) }' "$file" ||
      { cat "$file" >&2; false; }
  done
}

@test "stats: looks do not raise the rate of false alarms, as they would if the levels did not account for them" {
  local design rate
  for design in looks-4 looks-4-layouts peeking-4; do
    "$TOOLS/synth" --coverage --trials 250 --truth 0 --margin 0 --alpha 5 --design "$design" --out "$design.tsv"
  done
  alarms() { awk -F '\t' '$2 == 0 { print $7 + $8 }' "$1.tsv"; }
  # 5 percent of 250 simulations, with a standard deviation of 1.4
  for design in looks-4 looks-4-layouts; do
    rate=$(alarms "$design")
    awk -v rate="$rate" 'BEGIN { exit !(rate <= 9) }' || { printf '%s: %s %% false alarms\n' "$design" "$rate" >&2; false; }
  done
  awk -v spent="$(alarms looks-4)" -v peeking="$(alarms peeking-4)" 'BEGIN { exit !(peeking > 1.5 * spent) }'
}

# --- input and output ---

@test "stats: the same seed gives the same bytes, another seed another interval, the order of rows none" {
  synth --effects 1,9 --layouts 3 --layout-spread 3 --start-spread 1 --seed 4
  "$TOOLS/synth" --effects 1,9 --layouts 3 --layout-spread 3 --start-spread 1 --seed 4 | cmp - slices.tsv
  stats --seed 7
  cp effects.tsv first.tsv
  cp units.tsv first-units.tsv
  stats --seed 7
  cmp effects.tsv first.tsv
  { head -n 1 slices.tsv; tail -n +2 slices.tsv | tac; } >s && mv s slices.tsv
  stats --seed 7
  cmp effects.tsv first.tsv
  cmp units.tsv first-units.tsv
  stats --seed 8
  run ! cmp -s effects.tsv first.tsv
}

@test "stats: columns in another order and further ones are read by their names" {
  synth --effects 2
  stats
  cp effects.tsv first.tsv
  awk -F '\t' -v OFS='\t' '{ for (i = NF; i > 0; i--) printf "%s\t", $i; print "more" }' slices.tsv >s && mv s slices.tsv
  stats
  cmp effects.tsv first.tsv
}

@test "stats: releases and compilers are compared each with its own baseline, rows are sorted" {
  synth --effects 9,3 --cc gcc,clang --dpdk 24.11,22.11,9.1 --start-spread 0.3 --noise 1
  stats
  [ "$(awk -F '\t' 'NR > 1 { print $3, $2, $1 }' effects.tsv | head -n 7 | tr '\n' ,)" = \
    "9.1 clang base,9.1 clang v9,9.1 clang v3,9.1 gcc base,9.1 gcc v9,9.1 gcc v3,22.11 clang base," ]
  [ "$(awk -F '\t' '$1 == "v9" && $16 == "slower"' effects.tsv | wc -l)" -eq 6 ]
  head -n 1 effects.tsv | grep -qx $'variant\tcc\tdpdk\tlayouts\tprocesses\trounds\tcycles_per_packet\tmpps\tratio\tratio_low\tratio_high\tlayout_spread_percent\tas_built_ratio\taa_low\taa_high\tverdict\tnote'
  head -n 1 units.tsv | grep -qx $'variant\tcc\tdpdk\tlayout\tepoch\tprocess\tratio\tcycles_per_packet\tmpps\trounds\tbimodal'
  [ "$(awk -F '\t' 'NF != 17' effects.tsv | wc -l)" -eq 0 ]
  [ "$(awk -F '\t' 'NF != 11' units.tsv | wc -l)" -eq 0 ]
}

@test "stats: units.tsv has every start, the baseline's own layouts against the one as built" {
  synth --effects 5 --layouts 2 --epochs 3 --noise 0 --layout-spread 2
  stats
  [ "$(awk -F '\t' '$1 == "base"' units.tsv | wc -l)" -eq 12 ]
  [ "$(awk -F '\t' '$1 == "v5"' units.tsv | wc -l)" -eq 9 ]
  # without noise a layout is the same in all epochs, and a second start equals the first
  [ "$(awk -F '\t' '$1 == "base" && $4 == 0 { print $7 }' units.tsv | sort -u)" = 1.000000 ]
  [ "$(awk -F '\t' '$1 == "base" && $4 == 2 { print $7 }' units.tsv | sort -u | wc -l)" -eq 1 ]
  [ "$(awk -F '\t' '$1 == "base" && $4 == 2 { print $7 }' units.tsv | sort -u)" != 1.000000 ]
}

@test "stats: every kind of malformed file is one line with file and line, status 2" {
  "$TOOLS/synth" --effects 3 --epochs 2 --rounds 4 --out good.tsv
  : >slices.tsv
  refused "slices.tsv:1: the file is empty"
  head -n 1 good.tsv >slices.tsv
  refused "slices.tsv:1: no slices follow the header"
  change 1 's/cycles/cycle/'
  refused "slices.tsv:1: column 'cycles' is missing"
  change 1 's/order/round/'
  refused "slices.tsv:1: column 'round' appears twice"
  change 3 's/\t[^\t]*$//'
  refused "slices.tsv:3: 13 fields; the header has 14"
  change 3 's/$/\tmore/'
  refused "slices.tsv:3: 15 fields; the header has 14"
  change 4 's/\tgcc\t/\t\t/'
  refused "slices.tsv:4: column 'cc' is empty"
  change 4 's/\tgcc\t/\tg cc\t/'
  refused "slices.tsv:4: cc 'g cc' is not a word"
  change 5 's/.*//'
  refused "slices.tsv:5: empty line"
  change 5 's/$/\r/'
  refused "slices.tsv:5: the line ends in CR LF"
  head -c -3 good.tsv >slices.tsv
  refused "slices.tsv:25: the line is cut off"
  change 6 's/200000/-200000/'
  refused "slices.tsv:6: packets '-200000' is not an unsigned number"
  change 6 's/200000/2e5/'
  refused "slices.tsv:6: packets '2e5' is not an unsigned number"
  change 6 's/200000/18446744073709551616/'
  refused "slices.tsv:6: packets 18446744073709551616 is out of range"
  change 6 's/^1/4294967296/'
  refused "slices.tsv:6: epoch 4294967296 is out of range"
  change 6 's/^1/0/'
  refused "slices.tsv:6: epoch 0 is out of range"
  change 6 's/200000/0/'
  refused "slices.tsv:6: a valid slice with 0 packets"
  change 6 's/2000000000/0/'
  refused "slices.tsv:6: a valid slice with 0 tsc_hz"
  change 6 's/\t1\t-$/\t2\t-/'
  refused "slices.tsv:6: valid 2 is out of range"
  sed -n '1,9p;9p' good.tsv >slices.tsv
  refused "slices.tsv:10: the same slice (epoch, round and process) as on line 9"
  awk -F '\t' -v OFS='\t' 'NR > 1 && $1 == 2 && $8 == 3 && $2 == 2 { $7 = 5 } { print }' good.tsv >slices.tsv
  refused "process 3 of epoch 2 was another one on line"
  { head -n 1 good.tsv; printf '1\t1\t1\tbase\tgcc\t22.11\t0\t1\t5\t\0005\t1\t0\t1\t-\n'; } >slices.tsv
  refused "slices.tsv:2: holds a NUL byte"
  { head -n 1 good.tsv; printf '1\t1\t1\tbase\tgcc\t22.11\t0\t1\t0\t0\t0\t0\t0\t\033[31m\n'; } >slices.tsv
  refused "slices.tsv:2: reason holds a control character"
  head -c 2000 /dev/urandom >slices.tsv
  run -2 "$TOOLS/stats" --baseline base slices.tsv
  rm slices.tsv
  refused "cannot open slices.tsv"
  mkdir slices.tsv
  refused "slices.tsv is a directory"
}

@test "stats: the largest numbers are taken" {
  "$TOOLS/synth" --effects 3 --epochs 3 --rounds 6 |
    sed '6s/\t200000\t[0-9]*\t/\t18446744073709551615\t1\t/; 7s/\t200000\t[0-9]*\t/\t1\t18446744073709551615\t/' >slices.tsv
  stats
  near "$(cell v3 ratio)" 1.03 0.05
}

@test "stats: an unknown baseline names the variants that are there" {
  synth --effects 3,9
  run -2 --separate-stderr "$TOOLS/stats" --baseline meson slices.tsv
  [[ "$stderr" == "mppsdiff: slices.tsv has no variant 'meson' for the baseline; present:"* ]]
  # in the order of the file, which is that of the rounds
  [ "$(tr ' ' '\n' <<<"${stderr#*present: }" | sort | tr '\n' ' ')" = "base v3 v9 " ]
}

@test "stats: wrong usage is one line and status 2, --help is status 0" {
  synth
  local -a bad
  while read -r -a bad; do
    run --separate-stderr "$TOOLS/stats" "${bad[@]}"
    [ "$status" -eq 2 ] || { printf '%s: status %s\n' "${bad[*]}" "$status" >&2; false; }
    [ "${#stderr_lines[@]}" -eq 1 ]
    [[ "$stderr" == "mppsdiff: "* ]]
  done <<'BAD'
slices.tsv
--baseline base
--baseline base slices.tsv slices.tsv
--baseline base --frobnicate slices.tsv
--baseline base --margin -1 slices.tsv
--baseline base --margin 1% slices.tsv
--baseline base --margin nan slices.tsv
--baseline base --seed x slices.tsv
--baseline base --seed 18446744073709551616 slices.tsv
--baseline base --look 2 slices.tsv
--baseline base --looks 0 slices.tsv
--baseline base --widest=1 slices.tsv
--baseline
--baseline= slices.tsv
-x slices.tsv
BAD
  run -2 --separate-stderr "$TOOLS/stats" --frobnicate
  [[ "$stderr" == *"accepted: --alpha --baseline"* ]]
  run -0 "$TOOLS/stats" --help
  [[ "${lines[0]}" == "usage: stats --baseline VARIANT"* ]]
  run -0 "$TOOLS/stats" --baseline=base --margin=2 slices.tsv
  run -0 "$TOOLS/stats" --baseline base - <slices.tsv
}

@test "stats: output appears whole or not at all" {
  synth
  echo old >effects.tsv
  stats
  [ "$(head -c 7 effects.tsv)" = variant ]
  [ "$(find . -name '*.tsv.*' | wc -l)" -eq 0 ]
  cp effects.tsv before.tsv
  echo garbage >>slices.tsv
  run -2 "$TOOLS/stats" --baseline base --out effects.tsv slices.tsv
  cmp effects.tsv before.tsv
  synth
  # no room for the file: the old one stays, nothing is left beside it
  synth --effects 1,2,3,4,5,6,7,8,9 --epochs 20 --rounds 2
  echo old >units.tsv
  run -1 --separate-stderr bash -c "trap '' XFSZ; ulimit -f 4; exec \"$TOOLS/stats\" --baseline base --out effects.tsv --units units.tsv slices.tsv"
  [[ "$stderr" == "mppsdiff: cannot write units.tsv: File too large" ]]
  [ "$(cat units.tsv)" = old ]
  [ "$(find . -name '*.tsv.*' | wc -l)" -eq 0 ]
  run -2 --separate-stderr "$TOOLS/stats" --baseline base --out missing/effects.tsv slices.tsv
  [[ "$stderr" == "mppsdiff: cannot write missing/effects.tsv"* ]]
  run -1 --separate-stderr "$TOOLS/stats" --baseline base --out /dev/full slices.tsv
  [[ "$stderr" == *"cannot write /dev/full"* ]]
  [ -c /dev/full ]
  run -0 "$TOOLS/stats" --baseline base --out "with space.tsv" slices.tsv
  [ -s "with space.tsv" ]
}

@test "synth: wrong usage is one line and status 2" {
  local -a bad
  while read -r -a bad; do
    run --separate-stderr "$TOOLS/synth" "${bad[@]}"
    [ "$status" -eq 2 ] || { printf '%s: status %s\n' "${bad[*]}" "$status" >&2; false; }
    [ "${#stderr_lines[@]}" -eq 1 ]
  done <<'BAD'
--effects 1,,2
--effects x
--epochs 0
--shape round
--coverage --design nothing
--coverage --truth 2
more
BAD
  run -0 "$TOOLS/synth" --help
  [[ "${lines[0]}" == "usage: synth"* ]]
}
