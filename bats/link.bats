# SPDX-License-Identifier: BSD-3-Clause
# reproducers/link: the one link line.

setup() {
  load helpers
}

@test "--help names every option that the script takes" {
  documents_every_option "$KIT/reproducers/link"
}

@test "bad usage is one line and exit 2" {
  local dir
  dir=$(forwarder_build)
  local -a bad
  while IFS='|' read -r text arguments; do
    IFS=' ' read -r -a bad <<<"$arguments"
    run "$KIT/reproducers/link" "${bad[@]}"
    [ "$status" -eq 2 ] || { echo "$arguments: status $status: $output"; return 1; }
    one_line_error "$text"
  done <<CASES
--build is missing|
holds no finished build|--build /nonexistent
unknown argument|--nonsense
--seed takes|--build $dir --seed -1
unknown linker|--build $dir --linker link.exe
--take takes|--build $dir --take rte_net_ring
--extra-burst takes|--build $dir --extra-burst 2001
no library 'rte_nosuch'|--build $dir --take rte_nosuch=$dir
no finished build there|--build $dir --take rte_net_ring=/nonexistent
no object 'rte_net_ring/nosuch.o'|--build $dir --take rte_net_ring/nosuch.o=$dir
unknown link mode|--build $dir --link-as static
CASES
}

@test "the binary's ELF type and code follow the variant" {
  local binary
  binary=$(forwarder_path meson-static gcc)
  readelf -h "$binary" | grep -q 'DYN (Position'
  binary=$(forwarder_path meson-static-nopie gcc)
  readelf -h "$binary" | grep -q 'EXEC'
  binary=$(forwarder_path meson-static-nopie clang)
  readelf -h "$binary" | grep -q 'EXEC'
}

@test "no DPDK library is linked dynamically" {
  local binary
  binary=$(forwarder_path meson-static gcc)
  if readelf -d "$binary" | grep NEEDED | grep -i librte; then return 1; fi
}

@test "the same seed gives the same bytes, another seed another order, seed 0 the build's" {
  local dir a b zero
  dir=$(forwarder_build meson-static-nopie gcc)
  zero=$("$KIT/reproducers/link" --build "$dir")
  a=$("$KIT/reproducers/link" --build "$dir" --seed 1)
  b=$("$KIT/reproducers/link" --build "$dir" --seed 2)
  cp "$a" "$BATS_TEST_TMPDIR/first"
  rm "$a"
  a=$("$KIT/reproducers/link" --build "$dir" --seed 1)
  cmp "$a" "$BATS_TEST_TMPDIR/first"
  order() { nm -n "$1" | awk '$2 ~ /[tT]/ { print $3 }' | grep '^rte_eth'; }
  [ "$(order "$a")" != "$(order "$b")" ]
  [ "$(order "$a" | sort)" = "$(order "$b" | sort)" ]
  grep -q 'order of the build system' "$zero.how"
  grep -q 'shuffled by lld, seed 1' "$a.how"
}

@test "constructors keep their order when text is shuffled" {
  local dir a b
  dir=$(forwarder_build meson-static-nopie gcc)
  a=$("$KIT/reproducers/link" --build "$dir" --seed 1)
  b=$("$KIT/reproducers/link" --build "$dir" --seed 2)
  constructors() { # the functions .init_array points to, in its order
    local binary=$1
    objcopy -O binary --only-section=.init_array "$binary" "$BATS_TEST_TMPDIR/init"
    od -An -v -t x8 -w8 "$BATS_TEST_TMPDIR/init" | tr -d ' ' | while IFS= read -r address; do
      nm "$binary" | awk -v a="$address" '$1 == a && $2 ~ /[tT]/ { print $3; exit }'
    done
  }
  [ "$(constructors "$a" | wc -l)" -gt 20 ]
  [ "$(constructors "$a")" = "$(constructors "$b")" ]
}

@test "linkers that cannot shuffle sections shuffle the objects, and say so" {
  local dir a b
  dir=$(forwarder_build meson-static-nopie gcc)
  a=$("$KIT/reproducers/link" --build "$dir" --seed 1 --linker bfd)
  b=$("$KIT/reproducers/link" --build "$dir" --seed 2 --linker bfd)
  order() { nm -n "$1" | awk '$2 ~ /[tT]/ { print $3 }' | grep '^rte_eth'; }
  [ "$(order "$a")" != "$(order "$b")" ]
  [ "$(order "$a" | sort)" = "$(order "$b" | sort)" ]
  grep -q 'bfd cannot shuffle sections' "$a.how"
}

@test "bfd, gold, lld and mold: static and shared, each binary forwards, and the proof says what it knows" {
  local linker variant dir binary
  cd "$BATS_TEST_TMPDIR"
  require_cmd ld.lld ld.mold
  for variant in meson-static-nopie meson-shared; do
    dir=$(small_build "$variant")
    for linker in bfd gold lld mold; do
      command -v "ld.$linker" >/dev/null || continue
      binary=$("$KIT/reproducers/link" --build "$dir" --linker "$linker")
      forward_once "$binary" --ring-ports=2
      [ "$(sed -n 's/^packets=\([0-9]*\) .*/\1/p' answers)" -gt 0 ]
      proved "$variant" "$dir" "$binary"
      [ "$proof_status" -eq 0 ] || { cat builds.tsv; return 1; }
      # mold 1.10 aborts when it is to keep relocations: what relaxation left is then not known, and not 0.
      if [ "$linker" = mold ]; then
        grep -qx 'got_uses_left=-' "proof/$variant-gcc/binary.txt"
        grep -q 'linked without --emit-relocs' proof/notes.tsv
      else
        grep -qE '^got_uses_left=[0-9]+$' "proof/$variant-gcc/binary.txt"
      fi
    done
  done
}

@test "--take brings one library from another build, and only that one" {
  local pic nopie mixed
  pic=$(forwarder_build meson-static gcc)
  nopie=$(forwarder_build meson-static-nopie gcc)
  mixed=$("$KIT/reproducers/link" --build "$nopie" --take "rte_net_ring=$pic")
  grep -q "$pic/meson/drivers/librte_net_ring.a" "$mixed.cmd"
  [ "$(grep -o "$pic/meson/[^ ]*\.a" "$mixed.cmd" | wc -l)" -eq 1 ]
}

@test "the extra-work knob changes the binary; without it there is no trace of it" {
  local dir plain work
  dir=$(forwarder_build meson-static-nopie gcc)
  plain=$("$KIT/reproducers/link" --build "$dir")
  work=$("$KIT/reproducers/link" --build "$dir" --extra-work 8)
  [ "$plain" != "$work" ]
  [ "$(size -A "$work" | awk '$1 == ".text" { print $2 }')" -gt "$(size -A "$plain" | awk '$1 == ".text" { print $2 }')" ]
}

@test "the knob of a burst changes nothing but the work: every function lies where it lay" {
  local dir none some much
  dir=$(forwarder_build meson-static-nopie gcc)
  none=$("$KIT/reproducers/link" --build "$dir" --extra-burst 0 --seed 1)
  some=$("$KIT/reproducers/link" --build "$dir" --extra-burst 1 --seed 1)
  much=$("$KIT/reproducers/link" --build "$dir" --extra-burst 2000 --seed 1)
  nm -n "$none" | cmp - <(nm -n "$some")
  nm -n "$none" | cmp - <(nm -n "$much")
  if cmp -s "$none" "$some"; then return 1; fi
  # in each engine the jump moves on by one rotation of four bytes: 4 * 2048 bytes less 4 * N
  jump() { objdump -d "$1" --disassemble=io_forward --no-show-raw-insn | awk '/lfence/ { n++ } n == 1 && /\tjmp / { sub(/:/, "", $1); print $1, $3; exit }'; }
  [ "$(jump "$none")" != "$(jump "$some")" ]
  [ "$(jump "$none" | cut -d' ' -f2)" = "$(jump "$much" | cut -d' ' -f2)" ]
}

@test "a link that fails: exit 1, the first error line and the log" {
  local dir copy=$BATS_TEST_TMPDIR/build
  dir=$(forwarder_build)
  mkdir "$copy"
  cp -a "$dir/archives" "$dir/cflags" "$dir/identity" "$dir/ldlibs" "$dir/done" "$copy/"
  ln -s "$dir/meson" "$copy/meson"
  printf -- '-lnosuchlibrary\n' >>"$copy/ldlibs"
  run "$KIT/reproducers/link" --build "$copy"
  [ "$status" -eq 1 ]
  one_line_error nosuchlibrary
}

@test "the forwarder compiles without a warning, with gcc and clang" {
  local cc dir
  local -a cflags
  for cc in gcc clang; do
    dir=$(forwarder_build meson-static-nopic "$cc")
    mapfile -t cflags <"$dir/cflags"
    for source in "$KIT"/fwd/forwarder/*.c; do
      "$cc" "${cflags[@]}" -std=gnu11 -Wall -Wextra -Werror -Wshadow -fsyntax-only "$source"
    done
  done
}
