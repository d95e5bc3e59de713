# SPDX-License-Identifier: BSD-3-Clause
# The variant meson-static-lto: it must be certain that the link-time optimisation happened. Few drivers, made once.
# shellcheck disable=SC2154 # bats sets status, output, lines

load helpers

setup_file() {
  LTO=$(small_build meson-static-lto)
  BINARY=$("$KIT/reproducers/link" --build "$LTO" 3>&-)
  export LTO BINARY
}

setup() {
  cd "$BATS_TEST_TMPDIR" || return
}

@test "every object is fat, and all of DPDK's code in the binary was generated at the link" {
  awk -F '\t' '$3 !~ / -flto/ || $3 !~ / -ffat-lto-objects/ || $3 !~ / -fPIC/ { exit 1 }' "$LTO/commands.tsv"
  "$TOOLS/elfproof" model $(sed "s#^#$LTO/meson/#" "$LTO/archives") >model
  grep -q " objects_lto=$(wc -l <"$LTO/objects") " model
  "$TOOLS/elfproof" map "$BINARY.map" >map
  [ -z "$(awk -F '\t' '$1 ~ /^rte_/' map)" ]
  [ "$(awk -F '\t' '$2 ~ /ltrans/ { sum += $3 } END { print sum + 0 }' map)" -gt 100000 ]
  # with the flags of the objects
  grep -q ' -O3 -march=native .*-flto=' "$BINARY.cmd"
  forward_once "$BINARY" --ring-ports=2
}

@test "the proof says so, lists no relocations of code that is not in the binary, and compares no functions with it" {
  proved meson-static-lto "$LTO" "$BINARY"
  [ "$proof_status" -eq 0 ] || { cat builds.tsv; return 1; }
  [ "$(column code_model)" = pic ]
  [ "$(column got)$(column plt)$(column text_bytes)" = --- ]
  [ "$(column objects)" = "$(column objects_with_flag)" ]
  grep -qE $'^meson-static-lto\tgcc\t[0-9.]+\tlink-time optimisation: [0-9]+ kB of [0-9]+ kB of code were generated at the link, pie' proof/notes.tsv
}

@test "fat objects that are linked as they were compiled fail the proof" {
  local copy=$PWD/build binary
  cp -a "$LTO" build
  # A build that does not know that it is one; lld, which makes the layouts, takes the native code in silence.
  sed -i 's/^lto=.*/lto=no/' build/identity
  binary=$("$KIT/reproducers/link" --build "$copy" --linker lld)
  proved meson-static-lto "$copy" "$binary"
  [ "$proof_status" -eq 1 ]
  [[ "$(column reason)" == "no link-time optimisation: 0 bytes of code were generated at the link, "*" come from the objects as compiled" ]]
}

@test "lld is refused for gcc's objects; bfd makes the layouts, gold and mold link" {
  local a b linker
  run "$KIT/reproducers/link" --build "$LTO" --linker lld
  [ "$status" -eq 2 ]
  one_line_error "lld knows nothing of gcc's link-time optimisation"
  run "$KIT/scenarios/software/run" --results results --cc gcc --variants meson-static-lto,meson-static --baseline meson-static --linker lld
  [ "$status" -eq 2 ]
  one_line_error "lld knows nothing of gcc's link-time optimisation"
  [ ! -e results ]
  a=$("$KIT/reproducers/link" --build "$LTO" --seed 1)
  b=$("$KIT/reproducers/link" --build "$LTO" --seed 2)
  functions() { nm -n "$1" | awk '$2 ~ /[tT]/ { print $3 }'; }
  [ "$(functions "$a")" != "$(functions "$b")" ]
  grep -q 'object files shuffled, seed 1, before they are optimised together' "$a.how"
  cp "$a" first
  rm "$a"
  cmp first "$("$KIT/reproducers/link" --build "$LTO" --seed 1)"
  for linker in gold mold; do
    command -v "ld.$linker" >/dev/null || continue
    a=$("$KIT/reproducers/link" --build "$LTO" --linker "$linker")
    proved meson-static-lto "$LTO" "$a"
    [ "$proof_status" -eq 0 ] || { cat builds.tsv; return 1; }
  done
}

@test "clang: another linker than lld is refused before anything is built, what DPDK refuses is a row" {
  require_cmd clang ld.lld
  run "$KIT/scenarios/software/run" --results results --cc clang --variants meson-static-lto,meson-static --baseline meson-static --linker bfd
  [ "$status" -eq 2 ]
  one_line_error "clang's link-time optimisation needs lld, not bfd"
  [ ! -e results ]
  # A clang that cannot find lld.
  mkdir fake
  printf '#!/bin/sh\ncase "$1" in -print-prog-name=*) echo "${1#*=}-none" ;; *) exec clang "$@" ;; esac\n' >fake/clang-14
  chmod +x fake/clang-14
  run "$KIT/reproducers/build" --variant meson-static-lto --cc "$PWD/fake/clang-14"
  [ "$status" -eq 2 ]
  one_line_error 'install it: apt-get install lld-14'
  [[ $(clang -dumpversion) =~ ^1[0-6]\. ]] || skip_or_fail "this clang has fat objects; nothing is refused"
  run "$KIT/scenarios/software/run" --results results --cc clang --variants meson-static-lto,meson-static --baseline meson-static \
    --epochs 1 --rounds 2 --layouts 0 --slice-ms 2 --device ring
  [ "$status" -eq 1 ] || { echo "$output"; return 1; }
  grep -q '^meson-static-lto	clang	.*	build failed	.*ERROR: .*compiler does not support fat LTO objects' results/2*/builds.tsv
  grep -q '^meson-static	clang' results/2*/effects.tsv
}

@test "parts cannot be exchanged: link and localise say why; functions keep their library and object" {
  local pic
  pic=$(small_build meson-static)
  run "$KIT/reproducers/link" --build "$pic" --take "rte_net_ring=$LTO"
  [ "$status" -eq 2 ]
  one_line_error 'only one of the two builds has link-time optimisation'
  "$KIT/reproducers/localise" --baseline "$pic" --variant "$LTO" --out parts -- -l 0 --no-huge -m 256 --no-pci --no-telemetry \
    --no-shconf --file-prefix=@PROCESS@ --vdev=net_null0 --vdev=net_null1 -- --slices 2>err 3>&- || { cat err; return 1; }
  awk -F '\t' '$1 == "whole" && $4 ~ /^-?[0-9]+$/ && $7 ~ /^libraries cannot be mixed: meson-static-lto is optimised at the link/ { found = 1 } END { exit !found }' parts/parts.tsv
  awk -F '\t' '$1 == "rte_net_null" && $2 == "net_null_rte_eth_null.c.o" && $3 == "eth_null_rx" && $4 > 0 && $5 > 0 { found = 1 } END { exit !found }' parts/functions.tsv
  if grep -q ltrans parts/functions.tsv; then return 1; fi
}

@test "-flto asked for by hand is refused with file and line: the link and the proof have to know" {
  local line
  kit_copy
  for line in 'c_args = -O2 -flto=auto' 'meson_options = -Db_lto=true'; do
    sed "/^c_args/d; /^lto/d; s/^build = .*/&\n$line/" "$KIT/reproducers/variants/meson-static-lto.conf" >"$copy/reproducers/variants/mine.conf"
    run "$copy/reproducers/build" --variant mine
    [ "$status" -eq 2 ]
    one_line_error "reproducers/variants/mine.conf:6: -"
    one_line_error "is asked for with lto = yes"
  done
}
