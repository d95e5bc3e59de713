#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# reproducers/localise: a difference of known size and place is found there, to the instruction.
# shellcheck disable=SC2154 # bats sets status, output and lines

load helpers

ETH_RING=net_ring_rte_eth_ring.c.o

setup_file() {
  hugepages_lend 512
}

teardown_file() {
  hugepages_return
}

setup() {
  localise=$KIT/reproducers/localise
  cd "$BATS_TEST_TMPDIR" || return
}

# twin BUILD DIR: a build whose eth_ring_rx executes four more instructions at its beginning, made from
# BUILD by assembling that one object again. They are 32 bytes, so no alignment behind them changes.
twin() {
  local command object=drivers/libtmp_rte_net_ring.a.p/$ETH_RING
  mkdir -p "$2/meson"
  cp "$1"/{archives,cflags,commands.tsv,config,done,identity,ldlibs,members,objects} "$2/"
  sed -i 's/^variant=.*/variant=twin/' "$2/identity"
  tar -C "$1/meson" -cf - -T <(cat "$1/archives" "$1/objects") | tar -C "$2/meson" -xf -
  command=$(awk -F '\t' -v object="$object" '$1 == object { print $3 }' "$1/commands.tsv")
  # shellcheck disable=SC2086 # the compile line of the build, in words
  (cd "$1/meson" && ${command/ -MD * -c/ -S} -o "$2/ring.s")
  awk '{ print } $0 == "eth_ring_rx:" { for (i = 0; i < 4; i++) print "\tnopl 0x12345678(%rax,%rax,1)" }' "$2/ring.s" >"$2/twin.s"
  [ "$(diff "$2/ring.s" "$2/twin.s" | grep -c '^>')" -eq 4 ]
  gcc -c "$2/twin.s" -o "$2/meson/$object"
  # Some archives are thin and some are not.
  ar r "$2/meson/drivers/librte_net_ring.a" "$2/meson/$object"
}

# forward: the arguments of a forwarder on two rings.
forward() {
  local memory=(--in-memory)
  has_hugepages 256 || memory=(--no-huge -m 400)
  printf '%s\n' -l 0,1 --no-pci --no-telemetry "${memory[@]}" --file-prefix=@PROCESS@ -- --slices --ring-ports=2 --burst=32
}

# ran BASELINE VARIANT OUT OPTION...: localise on two rings.
ran() {
  local -a arguments
  mapfile -t arguments < <(forward)
  run --separate-stderr "$localise" --baseline "$1" --variant "$2" --out "$3" "${@:4}" -- "${arguments[@]}" 3>&-
}

# part LEVEL LIBRARY OBJECT: the instructions in both directions, of OUT/parts.tsv.
part() {
  awk -F '\t' -v level="$2" -v library="$3" -v object="$4" '$1 == level && $2 == library && $3 == object { print $4, $5 }' "$1/parts.tsv"
}

@test "--help names every option that the script takes" {
  documents_every_option "$localise"
}

@test "bad usage is one line and exit 2, and leaves nothing" {
  local build arguments text
  local -a bad
  build=$(forwarder_build)
  while IFS='|' read -r text arguments; do
    IFS=' ' read -r -a bad <<<"$arguments"
    run "$localise" "${bad[@]}"
    [ "$status" -eq 2 ] || { echo "$arguments: status $status: $output"; return 1; }
    one_line_error "$text"
    [ ! -e out ]
  done <<CASES
--baseline '' holds no finished build|
--variant '/nonexistent' holds no finished build|--baseline $build --variant /nonexistent
--out is missing|--baseline $build --variant $build
no arguments for the forwarder|--baseline $build --variant $build --out out
--iterations takes a whole number|--baseline $build --variant $build --out out --iterations x -- -l 0
--nic needs --pci|--baseline $build --variant $build --out out --nic connectx5 -- -l 0
is there already|--baseline $build --variant $build --out $BATS_TEST_TMPDIR -- -l 0
unknown argument|--nonsense
CASES
}

@test "known PIC cost without DPDK: one instruction a call, found at its function and address" {
  local mode at
  require_cmd gcc objdump
  printf 'extern int counter;\nint bump(void);\nint bump(void) { return counter += 3; }\n' >bump.c
  printf 'int twice(int);\nint twice(int x) { return x + x; }\n' >twice.c
  cat >main.c <<'C'
int bump(void), twice(int);
int counter;
__attribute__((noinline)) void fwd_timed_begin(void) { __asm__ volatile(""); }
__attribute__((noinline)) void fwd_timed_end(void) { __asm__ volatile(""); }
int main(void) { fwd_timed_begin(); for (int i = 0; i < 100; i++) twice(bump()); fwd_timed_end(); return 0; }
C
  for mode in no-pic PIC; do
    mkdir "$mode"
    for name in bump twice; do
      gcc -O2 "-f$mode" -c "$name.c" -o "$mode/$name.o"
      ar rc "$mode/lib$name.a" "$mode/$name.o"
    done
    gcc -O2 -fno-pic -no-pie main.c -o "$mode/program" "$mode/libbump.a" "$mode/libtwice.a" -Wl,-Map="$mode/map"
    "$TOOLS/trace" --map "$mode/map" --out "$mode/functions" --addresses "$mode/addresses" "$mode/program" >/dev/null
  done
  # Of all functions only bump differs, by 100 instructions in 100 calls.
  join -t $'\t' -j 1 <(awk -F '\t' -v OFS='\t' 'NR > 1 { print $1 "/" $2 "/" $3, $4 }' no-pic/functions | sort) \
    <(awk -F '\t' -v OFS='\t' 'NR > 1 { print $1 "/" $2 "/" $3, $4 }' PIC/functions | sort) |
    awk -F '\t' '$2 != $3 { print $1, $3 - $2 }' >differ
  [ "$(cat differ)" = "bump/bump.o/bump 100" ] || { cat differ; return 1; }
  # What is more is the load of the address, which the linker has made a lea or an immediate mov.
  at=$(awk -F '\t' '$3 == "bump" { print $4 }' PIC/addresses | sort | sed -n 1p)
  objdump -d --no-show-raw-insn --start-address="0x$at" PIC/program | grep -m1 -E "^ *$at:.*(mov|lea).*,%r" >first
  [ "$(awk -F '\t' '$3 == "bump"' PIC/addresses | wc -l)" -eq $(($(awk -F '\t' '$3 == "bump"' no-pic/addresses | wc -l) + 1)) ]
}

@test "known answer in DPDK: four instructions more in one function of one library are found there, twice the same" {
  local build calls
  build=$(forwarder_build meson-static-nopic gcc)
  twin "$build" "$PWD/twin"
  ran "$build" "$PWD/twin" "$PWD/out" --iterations 5
  [ "$status" -eq 0 ] || { printf '%s\n' "$stderr"; return 1; }
  # Five iterations over two ports, one burst each.
  calls=$((5 * 2))
  [ "$(part out whole - -)" = "$((4 * calls)) -" ]
  [ "$(part out libraries - -)" = "$((4 * calls)) -" ]
  [ "$(part out library rte_net_ring -)" = "$((4 * calls)) $((4 * calls))" ]
  [ "$(part out object rte_net_ring "$ETH_RING")" = "$((4 * calls)) -" ]
  [ "$(part out rest - -)" = "0 -" ]
  [ "$(part out interaction - -)" = "0 -" ]
  # No other part has a difference.
  [ "$(awk -F '\t' 'NR > 1 && $4 != 0 { print $1 }' out/parts.tsv | sort | paste -sd,)" = libraries,library,object,whole ]
  [ "$(awk -F '\t' 'NR > 1 && $6 != 0 { print $1, $3, $6 }' out/functions.tsv)" = "rte_net_ring eth_ring_rx $((4 * calls))" ]
  [ "$(awk -F '\t' '$1 == "instructions" { print $3 - $2 }' out/counts.tsv)" -eq $((4 * calls)) ]
  # The four instructions stand on the right side only, each executed once a call.
  [ "$(grep -cE "> *$calls +nopl +0x12345678" out/disassembly.txt)" -eq 4 ]
  ran "$build" "$PWD/twin" "$PWD/again" --iterations 5
  [ "$status" -eq 0 ]
  cmp out/parts.tsv again/parts.tsv
  cmp out/functions.tsv again/functions.tsv
  # what a run joins the tables by
  [ "$(paste -sd, out/variant)" = "twin,gcc,$(sed -n 's/^release=//p' "$build/identity")" ]
  cmp out/disassembly.txt again/disassembly.txt
}

@test "absolute code against PIE: mixtures are linked at a fixed address, and the parts add up" {
  local whole libraries rest
  ran "$(forwarder_build meson-static-nopic gcc)" "$(forwarder_build meson-static-nopie gcc)" "$PWD/out"
  [ "$status" -eq 0 ] || { printf '%s\n' "$stderr"; return 1; }
  whole=$(part out whole - -) libraries=$(part out libraries - -) rest=$(part out rest - -)
  [ "${whole% -}" -eq $((${libraries% -} + ${rest% -})) ]
  # Objects add up to their library, libraries to all of them, exactly.
  awk -F '\t' '
    $1 == "library" { library[$2] = $4; sum += $4 }
    $1 == "object" { objects[$2] += $4; has[$2] = 1 }
    $1 == "libraries" { all = $4 }
    $1 == "interaction" { interaction = $4 }
    END {
      for (l in has) if (objects[l] != library[l]) { print l, objects[l], library[l]; bad = 1 }
      if (sum + interaction != all) { print sum, interaction, all; bad = 1 }
      exit bad
    }' out/parts.tsv
}

@test "builds that cannot be mixed: the reason, the whole, and the functions" {
  local build
  build=$(forwarder_build meson-static-nopic gcc)
  twin "$build" "$PWD/twin"
  echo 'RTE_MAX_ETHPORTS 7' >>twin/config
  ran "$build" "$PWD/twin" "$PWD/out" --iterations 5
  [ "$status" -eq 0 ] || { printf "%s\n" "$stderr"; return 1; }
  [ "$(wc -l <out/parts.tsv)" -eq 2 ]
  grep -q 'cannot be mixed: the builds have different constants or objects: RTE_MAX_ETHPORTS 7' out/parts.tsv
  [ "$(awk -F '\t' 'NR > 1 && $6 != 0 { print $3, $6 }' out/functions.tsv)" = "eth_ring_rx 40" ]
}

@test "builds of two build systems: mixed when their constants are the same, else the reason names them" {
  local build
  build=$(forwarder_build meson-static-nopic gcc)
  twin "$build" "$PWD/twin"
  sed -i 's/^mode=.*/mode=replayed/' twin/identity
  # What the files say of constants does not count, each build system keeps its own.
  echo 'RTE_MAX_ETHPORTS 7' >>twin/config
  ran "$build" "$PWD/twin" "$PWD/out" --iterations 5
  [ "$status" -eq 0 ] || { printf '%s\n' "$stderr"; return 1; }
  [ "$(part out library rte_net_ring -)" = "40 40" ]
  printf -- '-D%s\n' RTE_A_FLAG= RTE_ZOO=7 >>twin/cflags
  ran "$build" "$PWD/twin" "$PWD/apart" --iterations 5
  [ "$status" -eq 0 ]
  grep -qF $'\tlibraries cannot be mixed: meson and make, replayed, give DPDK different constants: RTE_A_FLAG - against 1, RTE_ZOO - against 7' apart/parts.tsv
  # Objects have the names of their sources, for build systems name them differently.
  [ "$(awk -F '\t' 'NR > 1 && $6 != 0 { print $2, $3, $6 }' apart/functions.tsv)" = "rte_eth_ring.c.o eth_ring_rx 40" ]
  grep -q 'eth_ring_rx, rte_eth_ring.c.o: ' apart/disassembly.txt
}

@test "a mixture that cannot be linked is a row with the reason, the others have their figures" {
  local build
  build=$(forwarder_build meson-static-nopic gcc)
  twin "$build" "$PWD/twin"
  # The variant itself is linked already; a mixture then lacks its archive.
  "$KIT/reproducers/link" --build "$PWD/twin" >/dev/null
  rm twin/meson/drivers/librte_net_ring.a
  sed -i '/librte_net_ring/d' twin/archives
  ran "$build" "$PWD/twin" "$PWD/out" --iterations 5
  [ "$status" -eq 1 ]
  [[ "$stderr" == *"could not be linked or traced"* ]]
  [ "$(part out library rte_net_ring -)" = "- -" ]
  grep -q $'^library\trte_net_ring\t-\t-\t-\t[0-9]*\t.*no drivers/librte_net_ring.a' out/parts.tsv
}

@test "a forwarder that does not start: one line, exit 1, nothing left" {
  local build
  build=$(forwarder_build meson-static-nopic gcc)
  run --separate-stderr "$localise" --baseline "$build" --variant "$build" --out "$PWD/out" -- -l 0,1 --no-pci --no-huge -m 400 -- --slices --nonsense 3>&-
  [ "$status" -eq 1 ]
  [[ "$stderr" == *"cannot be traced"* ]]
  [ ! -e out ]
  [ -z "$(find . -name 'tmp.*')" ]
}

@test "run --localise: words, tables, chart and page say what the tables hold" {
  local whole packets text
  run --separate-stderr "$KIT/scenarios/software/run" --device null --cc gcc --variants meson-static-nopic,meson-static-nopie \
    --epochs 1 --rounds 2 --layouts 1 --slice-ms 2 --localise --results results --offline 3>&-
  [ "$status" -eq 0 ] || { printf '%s\n' "$stderr"; return 1; }
  cd results/*/ || return
  whole=$(awk -F '\t' '$4 == "whole" { print $7 }' localise/parts.tsv)
  packets=$(awk -F '\t' '$4 == "whole" { print $9 }' localise/parts.tsv)
  text=$(awk -v w="$whole" -v p="$packets" 'BEGIN { x = w / p; m = x < 0 ? -x : x; printf "%+." (m < 0.1 ? (m < 0.01 ? 4 : 3) : 2) "f", x }')
  [ "$whole" != 0 ]
  tr '\n' ' ' <report.txt | tr -s ' ' | grep -qF -- "meson-static-nopie (gcc): $text instructions/packet"
  grep -q 'the whole .*'"${text/+/[+]}" report.txt
  [ -s waterfall.png ] && [ -s waterfall.svg ]
  grep -q 'href="localise/meson-static-nopie-gcc/disassembly.txt"' report.html
  [ -s localise/meson-static-nopie-gcc/disassembly.txt ]
  [ "$(awk 'length($0) > 72' report.txt | wc -l)" -eq 0 ]
  # Cycles over layouts came from the verdict's machinery.
  [ -s localise/effects.tsv ]
  run ! grep -q 'was not measured (--localise' report.txt
}
