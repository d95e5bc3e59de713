# SPDX-License-Identifier: BSD-3-Clause
# reproducers/build: one variant with one compiler. Uses the default DPDK; made once, then reused.

setup() {
  load helpers
}

@test "--help names every option that the script takes" {
  documents_every_option "$KIT/reproducers/build"
}

@test "bad usage is one line and exit 2" {
  local -a bad
  while IFS='|' read -r text arguments; do
    IFS=' ' read -r -a bad <<<"$arguments"
    run "$KIT/reproducers/build" "${bad[@]}"
    [ "$status" -eq 2 ] || { echo "$arguments: status $status"; return 1; }
    one_line_error "$text"
  done <<'CASES'
unknown argument|--nonsense
needs a value|--cc
--jobs takes|--jobs 0
--drivers takes|--drivers net
no compiler 'gcc-99'|--cc gcc-99
bad compiler name|--cc gcc;ls
nosuch|--variant nosuch
CASES
}

@test "a missing compiler names the package" {
  run "$KIT/reproducers/build" --cc clang-77
  [ "$status" -eq 2 ]
  one_line_error "apt-get install clang-77"
}

@test "a build holds archives, flags and the compile line of every object" {
  local dir
  dir=$(forwarder_build meson-static gcc)
  [ -f "$dir/done" ]
  while IFS= read -r archive; do [ -f "$dir/meson/$archive" ]; done <"$dir/archives"
  grep -q librte_net_ring "$dir/archives"
  grep -q librte_ethdev "$dir/archives"
  [ "$(wc -l <"$dir/objects")" -eq "$(wc -l <"$dir/commands.tsv")" ]
  [ "$(wc -l <"$dir/commands.tsv")" -gt 50 ]
  awk -F '\t' '$3 !~ / -c / { exit 1 }' "$dir/commands.tsv"
}

@test "only the archives that are linked were compiled" {
  local dir
  dir=$(forwarder_build meson-static gcc)
  find "$dir/meson" -name "librte_*.a" | sed "s#^$dir/meson/##" | sort >"$BATS_TEST_TMPDIR/have"
  sort "$dir/archives" | diff - "$BATS_TEST_TMPDIR/have"
}

@test "the asked-for PIC flag is on every compile line, and on none where none is asked" {
  local dir
  dir=$(forwarder_build meson-static gcc)
  awk -F '\t' '$3 !~ / -fPIC / { exit 1 }' "$dir/commands.tsv"
  dir=$(forwarder_build meson-static-nopic gcc)
  awk -F '\t' '$3 ~ / -f(no-)?(pic|PIC|pie|PIE) / { exit 1 }' "$dir/commands.tsv"
  dir=$(forwarder_build meson-static-nopie gcc)
  awk -F '\t' '$3 !~ / -fno-pie / || $3 ~ / -fPIC / { exit 1 }' "$dir/commands.tsv"
  for dir in "$(forwarder_build meson-static gcc)" "$(forwarder_build meson-static-nopic gcc)"; do
    awk -F '\t' 'NR == 2 && ($1 < 50 || $1 != $2) { exit 1 }' "$dir/flags.tsv"
  done
}

@test "a finished build is reused: nothing is compiled again" {
  local dir before
  dir=$(forwarder_build meson-static gcc)
  before=$(find "$dir/meson" -name '*.o' -newer "$dir/done" | wc -l)
  [ "$before" -eq 0 ]
  [ "$(forwarder_build meson-static gcc)" = "$dir" ]
  [ "$(find "$dir/meson" -name '*.o' -newer "$dir/done" | wc -l)" -eq 0 ]
}

@test "release, variant, compiler and every flag are part of the folder's name" {
  local a b c d
  a=$("$KIT/reproducers/build" --path-only --variant meson-static --cc gcc)
  b=$("$KIT/reproducers/build" --path-only --variant meson-static --cc clang)
  c=$("$KIT/reproducers/build" --path-only --variant meson-static-nopic --cc gcc)
  d=$("$KIT/reproducers/build" --path-only --variant meson-static --cc gcc --drivers bus/vdev,bus/pci,mempool/ring,net/ring)
  [ "$(printf '%s\n' "$a" "$b" "$c" "$d" | sort -u | wc -l)" -eq 4 ]
  [[ "${a##*/}" == 22.11*-meson-static-gcc-* ]]
}

@test "--function-sections is another build: every object has it, and the forwarder is linked with it" {
  local plain dir
  # few drivers: this is built on first use
  local -a small=(--variant meson-static-nopie --drivers bus/pci,bus/vdev,mempool/ring,net/ring)
  plain=$(forwarder_build meson-static-nopie gcc)
  dir=$("$KIT/reproducers/build" "${small[@]}" --function-sections 3>&-)
  [ "$dir" != "$("$KIT/reproducers/build" "${small[@]}" --path-only)" ]
  awk -F '\t' '$3 !~ / -ffunction-sections / { exit 1 }' "$dir/commands.tsv"
  # the variant's own flags stay
  awk -F '\t' '$3 !~ / -fno-pie / { exit 1 }' "$dir/commands.tsv"
  if grep -q -e -ffunction-sections "$plain/commands.tsv"; then return 1; fi
  grep -qx -e -ffunction-sections "$dir/cflags"
  grep -qx function_sections=yes "$dir/identity"
  order() { nm -n "$1" | awk '$2 ~ /[tT]/ && $3 ~ /^rte_kvargs_/ { print $3 }'; }
  # functions of one file change places
  [ "$(order "$("$KIT/reproducers/link" --build "$dir" --seed 1)")" != "$(order "$("$KIT/reproducers/link" --build "$dir" --seed 2)")" ]
  [ "$(order "$("$KIT/reproducers/link" --build "$plain" --seed 1)")" = "$(order "$("$KIT/reproducers/link" --build "$plain" --seed 2)")" ]
}

@test "a library that DPDK looks for and that comes, goes or changes makes another build" {
  local before
  before=$("$KIT/reproducers/build" --variant meson-static --path-only)
  mkdir "$BATS_TEST_TMPDIR/pc"
  printf 'Name: libbpf\nDescription: none\nVersion: 99.9\nLibs:\nCflags:\n' >"$BATS_TEST_TMPDIR/pc/libbpf.pc"
  [ "$(PKG_CONFIG_PATH=$BATS_TEST_TMPDIR/pc "$KIT/reproducers/build" --variant meson-static --path-only)" != "$before" ]
  # One that DPDK does not ask for is none of its business.
  mv "$BATS_TEST_TMPDIR/pc/libbpf.pc" "$BATS_TEST_TMPDIR/pc/nothing-of-dpdk.pc"
  [ "$(PKG_CONFIG_PATH=$BATS_TEST_TMPDIR/pc "$KIT/reproducers/build" --variant meson-static --path-only)" = "$before" ]
}

@test "an interrupted configuration is made again, an interrupted compile goes on" {
  local dir tree
  dir=$(forwarder_build meson-static gcc)
  cp -a "$dir" "$BATS_TEST_TMPDIR/saved"
  rm "$dir/done" "$dir/meson/.configured"
  rm "$dir/meson/build.ninja"
  [ "$(forwarder_build meson-static gcc)" = "$dir" ]
  [ -f "$dir/meson/build.ninja" ]
  rm "$dir/done"
  rm "$dir"/meson/lib/librte_kvargs.a.p/*.o
  [ "$(forwarder_build meson-static gcc)" = "$dir" ]
  ls "$dir"/meson/lib/librte_kvargs.a.p/*.o
}

@test "a variant that does not compile: exit 1, the first error line and the log" {
  local tree=$BATS_TEST_TMPDIR/tree dir
  "$KIT/reproducers/source" >"$BATS_TEST_TMPDIR/id" 3>&-
  cp -a "$(sed -n 's/^tree=//p' "$BATS_TEST_TMPDIR/id")" "$tree"
  chmod -R u+w "$tree"
  echo 'this is no C;' >>"$tree/lib/kvargs/rte_kvargs.c"
  sed "s#^tree=.*#tree=$tree#; s#^id=.*#id=sha256:broken$$#" "$BATS_TEST_TMPDIR/id" >"$BATS_TEST_TMPDIR/id2"
  run "$KIT/reproducers/build" --identity "$BATS_TEST_TMPDIR/id2" --error-file "$BATS_TEST_TMPDIR/why"
  [ "$status" -eq 1 ]
  one_line_error "error: unknown type name 'this'"
  [[ "${lines[0]}" == *"(log: "*"/build.log)" ]]
  grep -q "unknown type name" "$BATS_TEST_TMPDIR/why"
  dir=$(sed -n 's#.*(log: \(.*\)/build.log)$#\1#p' "$BATS_TEST_TMPDIR/why")
  [ ! -e "$dir/done" ]
  rm -rf "$dir"
}

@test "a tree that says pic: true itself: its copy is changed and the change recorded; the tree stays as it is" {
  local tree=$BATS_TEST_TMPDIR/tree dir before
  cd "$BATS_TEST_TMPDIR"
  "$KIT/reproducers/source" >id 3>&-
  cp -a "$(sed -n 's/^tree=//p' id)" "$tree"
  chmod -R u+w "$tree"
  sed -i '/ = static_library(/,/c_args/s/c_args: cflags/pic: true, &/' "$tree/lib/meson.build"
  sed -i '/ = static_library(/,/c_args/s/c_args: cflags/pic : true, &/' "$tree/drivers/meson.build"
  sed "s#^tree=.*#tree=$tree#; s#^id=.*#id=sha256:pictrue$$#" id >id2
  before=$(cd "$tree" && find . -type f -exec sha256sum {} + | sort | sha256sum)
  # Unasked, the tree's word counts.
  dir=$(small_build meson-static gcc --identity id2)
  [ ! -e "$dir/tree.diff" ]
  rm -rf "$dir"
  dir=$(small_build meson-static-nopic gcc --identity id2)
  if grep -q -e ' -fPIC ' "$dir/commands.tsv"; then return 1; fi
  [ "$(grep -c '^-.*pic *: true, ' "$dir/tree.diff")" -eq 3 ]
  [ "$(grep -c '^+.*pic: false, ' "$dir/tree.diff")" -eq 3 ]
  [ "$(cd "$tree" && find . -type f -exec sha256sum {} + | sort | sha256sum)" = "$before" ]
  # An interrupted build goes on with the same copy.
  rm "$dir/done"
  [ "$(small_build meson-static-nopic gcc --identity id2)" = "$dir" ]
  proved meson-static-nopic "$dir" "$("$KIT/reproducers/link" --build "$dir")"
  [ "$proof_status" -eq 0 ]
  cmp "$dir/tree.diff" proof/meson-static-nopic-gcc/tree.diff
  grep -qF 'built from a copy in which they say `pic: false`, 2 files changed (proof/meson-static-nopic-gcc/tree.diff)' proof/notes.tsv
  rm -rf "$dir"
}

@test "an unwritable cache is one clear line" {
  run env XDG_CACHE_HOME=/proc/nonexistent "$KIT/reproducers/build"
  [ "$status" -eq 2 ]
  one_line_error "XDG_CACHE_HOME"
}

@test "a first python3 without pyelftools does not hinder a release that asks for it" {
  local tree=$BATS_TEST_TMPDIR/tree fake=$BATS_TEST_TMPDIR/fake
  mkdir -p "$tree" "$fake"
  printf "project('tree', 'c')\nimport('python').find_installation('python3', modules: ['elftools'])\n" >"$tree/meson.build"
  printf 'release=25.11.0\nkind=directory\nid=sha256:python%s\ntree=%s\n' $$ "$tree" >"$BATS_TEST_TMPDIR/id"
  printf '#!/bin/sh\ncase "$*" in *elftools*) exit 1 ;; esac\nexec meson runpython "$@"\n' >"$fake/python3"
  chmod +x "$fake/python3"
  run env XDG_CACHE_HOME="$BATS_TEST_TMPDIR/cache" PATH="$fake:$PATH" "$KIT/reproducers/build" --identity "$BATS_TEST_TMPDIR/id"
  # It gets past python, and ends where this tree is found to have no drivers.
  [ "$status" -eq 1 ]
  grep -qF 'python3 (elftools) found: YES' "$BATS_TEST_TMPDIR"/cache/mppsdiff/build/*/build.log
}
