# SPDX-License-Identifier: BSD-3-Clause
# reproducers/lib/plan.bash: which process starts in which epoch.

setup() {
  load helpers
  . "$KIT/reproducers/lib/plan.bash"
  binaries=$BATS_TEST_TMPDIR/binaries
  local variant layout
  for variant in base other; do
    for layout in 0 1 2; do
      printf '%s\tgcc\t22.11\t%d\t/b in/%s-%d\n' "$variant" "$layout" "$variant" "$layout"
    done
  done >"$binaries"
}

plan() { # SEED EPOCHS LAYOUTS
  plan_write "$1" "$2" "$3" base '--file-prefix=@PROCESS@ -- --slices' <"$binaries"
}

@test "the same seed gives the same plan, another seed another" {
  [ "$(plan 7 4 2)" = "$(plan 7 4 2)" ]
  [ "$(plan 7 4 2)" != "$(plan 8 4 2)" ]
}

@test "an epoch starts each as-built binary, the baseline's twice, and one layout of each" {
  plan 1 4 2 | awk -F '\t' 'NR > 1 { n[$1 " " $3 " " $6]++; seen[$1] = 1 }
    END { for (e in seen) { turn = (e - 1) % 2 + 1
      if (n[e " base 0"] != 2 || n[e " other 0"] != 1 || n[e " base " turn] != 1 || n[e " other " turn] != 1 || n[e " base " 3 - turn] != 0) { print "epoch " e; exit 1 } k++ }
      exit k != 4 }'
}

@test "without layouts only the binaries as built start" {
  [ "$(plan 1 3 0 | awk -F '\t' 'NR > 1 && $6 != 0' | wc -l)" -eq 0 ]
  [ "$(plan 1 3 0 | tail -n +2 | wc -l)" -eq 9 ]
}

@test "starts are shuffled, numbered from 1 in each epoch, and named apart" {
  local orders
  orders=$(plan 3 6 2 | awk -F '\t' 'NR > 1 { o[$1] = o[$1] $3 $6 } END { for (e in o) print o[e] }' | sort -u | wc -l)
  [ "$orders" -ge 3 ]
  plan 3 6 2 | awk -F '\t' 'NR > 1 { if ($1 != last) { last = $1; n = 0 } if ($2 != ++n) exit 1; if ($9 != "--file-prefix=e" $1 "p" $2 " -- --slices") exit 1 }'
  [ "$(plan 3 6 2 | awk -F '\t' 'NR > 1 { print $9 }' | sort | uniq -d | wc -l)" -eq 0 ]
}

@test "the environment's size varies and keeps the stack's alignment" {
  [ "$(plan 3 6 2 | awk -F '\t' 'NR > 1 { print $8 }' | sort -u | wc -l)" -ge 10 ]
  [ "$(plan 3 6 2 | awk -F '\t' 'NR > 1 && $8 % 16' | wc -l)" -eq 0 ]
}
