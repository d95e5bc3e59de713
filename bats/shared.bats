# SPDX-License-Identifier: BSD-3-Clause
# The variant meson-shared: DPDK's shared libraries, linked, proved, shuffled, traced; and pic: false, which breaks
# them. Few drivers, made once.
# shellcheck disable=SC2154 # bats sets status, output, lines

load helpers

setup_file() {
  SHARED=$(small_build meson-shared)
  BINARY=$("$KIT/reproducers/link" --build "$SHARED" 3>&-)
  export SHARED BINARY
}

setup() {
  cd "$BATS_TEST_TMPDIR" || return
}

needed() { # FILE: the DPDK libraries it needs
  readelf -dW "$1" | sed -n 's/.*(NEEDED).*\[\(librte_.*\)\]$/\1/p'
}

libraries_of() { # BINARY: of DPDK, by file, as the loader finds them
  LD_TRACE_LOADED_OBJECTS=1 "$1" | sed -n 's/^\tlibrte_[^ ]* => \([^ ]*\) .*/\1/p'
}

@test "the libraries are meson's own, byte for byte, and the binary needs each of them" {
  local so name
  [ "$(wc -l <"$SHARED/shared-libraries")" -ge 10 ]
  while IFS=$'\t' read -r so name _; do
    cmp "$SHARED/meson/$so" "$BINARY.libs/$name"
    [ -s "$BINARY.libs/$name.map" ] || { echo "no map: $name"; return 1; }
  done <"$SHARED/shared-libraries"
  diff <(cut -f2 "$SHARED/shared-libraries") <(needed "$BINARY")
  # nothing of DPDK is in the binary itself
  [ -z "$(nm "$BINARY" | awk '$2 == "T" && $3 ~ /^rte_eal_init$/')" ]
  readelf -h "$BINARY" | grep -q 'DYN (Position'
}

@test "bus, mempool and net drivers are loaded, and packets are forwarded" {
  forward_once "$BINARY" --ring-ports=2
  [ "$(sed -n 's/^packets=\([0-9]*\) .*/\1/p' answers)" -gt 0 ]
  grep -q 'ports=2' answers
}

@test "another DPDK on the machine is not picked up, whatever LD_LIBRARY_PATH says" {
  local name
  mkdir other
  # Libraries of the same names that end whoever loads them.
  printf '#include <unistd.h>\n__attribute__((constructor)) static void stop(void) { _exit(77); }\n' >other.c
  while IFS= read -r name; do
    gcc -shared -fPIC other.c -Wl,-soname,"$name" -o "other/$name"
  done < <(needed "$BINARY")
  export LD_LIBRARY_PATH=$PWD/other
  [ "$(libraries_of "$BINARY" | wc -l)" -eq "$(needed "$BINARY" | wc -l)" ]
  [ "$(libraries_of "$BINARY" | sed 's#/[^/]*$##' | sort -u)" = "$BINARY.libs" ]
  forward_once "$BINARY" --ring-ports=2
  # The trap works: a binary that has left its libraries behind falls into it.
  cp "$BINARY" moved
  [ "$(libraries_of ./moved 2>/dev/null | sed 's#/[^/]*$##' | sort -u)" = "$PWD/other" ]
  # and the folder in which EAL looks for more drivers does not exist
  strings "$BINARY.libs"/librte_eal.so.* | grep -qx 'DPDK_PLUGIN_PATH=/nonexistent/.*'
}

@test "the proof: each library by itself, where each is loaded from, and a sum over all files" {
  proved meson-shared "$SHARED" "$BINARY"
  [ "$proof_status" -eq 0 ]
  [ "$(column code_model)" = pic ]
  [ "$(column elf_type)" = DYN-PIE ]
  [ "$(column objects)" = "$(column objects_with_flag)" ]
  [ "$(column objects)" -eq "$(wc -l <"$SHARED/objects")" ]
  [ "$(awk -F '\t' 'NR > 1 && $2 == "DYN" && $3 == "pic"' proof/meson-shared-gcc/shared.tsv | wc -l)" -eq "$(needed "$BINARY" | wc -l)" ]
  [ "$(grep -c '^librte_' proof/meson-shared-gcc/loaded.tsv)" -eq "$(needed "$BINARY" | wc -l)" ]
  # what is read is what the library has: relocations of its own file
  [ "$(awk -F '\t' 'NR == 1 { for (i = 1; i <= NF; i++) if ($i == "dyn_relative") c = i } $1 ~ /^librte_net_ring/ { print $c }' proof/meson-shared-gcc/shared.tsv)" -eq \
    "$(readelf -rW "$BINARY.libs"/librte_net_ring.so.?? | grep -c R_X86_64_RELATIVE)" ]
  grep -q "shared libraries, each DYN and position independent, loaded from beside the binary and nowhere else" proof/notes.tsv
  # Another library is another sum.
  local before
  before=$(column sha256)
  cp -a "${BINARY%/*}" copy
  binary=$PWD/copy/${BINARY##*/}
  printf 'x' >>"$binary.libs/$(sed -n 1p "$binary.libs/order")"
  proved meson-shared "$SHARED" "$binary"
  [ "$(column sha256)" != "$before" ]
}

@test "the proof fails for a library from elsewhere, one that is missing, one with absolute code" {
  local name libs
  cp -a "${BINARY%/*}" copy
  binary=$PWD/copy/${BINARY##*/} libs=$PWD/copy/${BINARY##*/}.libs
  name=$(grep librte_net_ring "$libs/order")
  mkdir elsewhere
  mv "$libs/$name" elsewhere/
  proved meson-shared "$SHARED" "$binary" || true
  [ "$proof_status" -eq 1 ]
  LD_LIBRARY_PATH=$PWD/elsewhere proved meson-shared "$SHARED" "$binary"
  [ "$proof_status" -eq 1 ]
  [[ "$(column reason)" == "$name is taken from $PWD/elsewhere/$name, not from this build" ]]
  # absolute code in it: text relocations
  printf 'int x; int *f(void); int *f(void) { return &x; }\n' >text.c
  gcc -shared -fno-pic -mcmodel=large -Wl,-z,notext -Wl,-soname,"$name" text.c -o "$libs/$name" 2>/dev/null
  proved meson-shared "$SHARED" "$binary"
  [ "$proof_status" -eq 1 ]
  [[ "$(column reason)" == "$name is DYN, mixed code, and no position-independent library" ]]
}

@test "a static binary that loads a DPDK of the machine is refused by the proof" {
  local name
  mkdir proof
  cp "$BINARY" fake
  printf 'librte_eal.so.23\t/usr/lib/librte_eal.so.23\n' >proof/loaded.tsv
  . "$KIT/reproducers/lib/proof.bash"
  [ "$(_shared_contradiction "$PWD/fake" proof)" = 'librte_eal.so.23 is taken from /usr/lib/librte_eal.so.23, not from this build' ]
}

@test "layouts: a seed orders the code of every library and the binary, the same seed the same bytes" {
  local a b name moved=0
  a=$("$KIT/reproducers/link" --build "$SHARED" --seed 1)
  cp -a "$a.libs" first
  cp "$a" first/binary
  rm -r "$a" "$a.libs"
  a=$("$KIT/reproducers/link" --build "$SHARED" --seed 1)
  b=$("$KIT/reproducers/link" --build "$SHARED" --seed 2)
  cmp "$a" first/binary
  functions() { nm -n "$1" | awk '$2 ~ /[tT]/ { print $3 }'; }
  while IFS= read -r name; do
    cmp "$a.libs/$name" "first/$name"
    [ "$(functions "$a.libs/$name" | sort)" = "$(functions "$b.libs/$name" | sort)" ]
    if [ "$(functions "$a.libs/$name")" != "$(functions "$b.libs/$name")" ]; then moved=$((moved + 1)); fi
  done <"$a.libs/order"
  # those of one file and those of one function stay
  [ "$moved" -ge 5 ]
  [ "$(libraries_of "$a" | sed 's#/[^/]*$##' | sort -u)" = "$a.libs" ]
  grep -q 'text sections shuffled by lld, seed 1, in each shared library' "$a.how"
  [ "$(grep -c -- '--shuffle-sections' "$a.cmd")" -eq "$(($(wc -l <"$a.libs/order") + 1))" ]
  forward_once "$b" --ring-ports=2
}

@test "layouts by bfd shuffle the objects of every library" {
  local a b
  a=$("$KIT/reproducers/link" --build "$SHARED" --seed 1 --linker bfd)
  b=$("$KIT/reproducers/link" --build "$SHARED" --seed 2 --linker bfd)
  order() { nm -n "$1.libs"/librte_ethdev.so.?? | awk '$2 == "T" { print $3 }'; }
  [ "$(order "$a")" != "$(order "$b")" ]
  [ "$(order "$a" | sort)" = "$(order "$b" | sort)" ]
  grep -q 'bfd cannot shuffle sections' "$a.how"
}

@test "trace counts the instructions in the libraries, by library, object and function" {
  local -a arguments=(--no-huge -m 256 --no-pci --no-telemetry -l 0 --no-shconf -- --slices --ring-ports=2)
  "$TOOLS/trace" --map "$BINARY.map" --out folded.tsv --send 'run 10 10' "$BINARY" "${arguments[@]}" >sums 2>err || { cat err; return 1; }
  awk -F '\t' '$1 == "rte_net_ring" && $2 == "net_ring_rte_eth_ring.c.o" && $3 == "eth_ring_rx" && $4 > 0 { found = 1 } END { exit !found }' folded.tsv
  [ "$(awk -F '\t' 'NR > 1 { n += $4 } END { print n }' folded.tsv)" -eq "$(sed -n 's/^instructions=//p' sums)" ]
  [ "$(sed -n 's/^packets=//p' sums)" -gt 0 ]
  "$TOOLS/trace" --map "$BINARY.map" --out again.tsv --send 'run 10 10' "$BINARY" "${arguments[@]}" >/dev/null 2>err
  cmp folded.tsv again.tsv
}

@test "parts of a shared build cannot be exchanged: link and localise say why, the whole is counted" {
  local nopic
  run "$KIT/reproducers/link" --build "$SHARED" --take "rte_net_ring=$SHARED"
  [ "$status" -eq 2 ]
  one_line_error '--take needs a static build'
  nopic=$(small_build meson-static-nopic)
  "$KIT/reproducers/localise" --baseline "$nopic" --variant "$SHARED" --out parts -- -l 0 --no-huge -m 256 --no-pci --no-telemetry \
    --no-shconf --file-prefix=@PROCESS@ --vdev=net_null0 --vdev=net_null1 -- --slices 2>err 3>&- || { cat err; return 1; }
  awk -F '\t' '$1 == "whole" && $4 > 0 && $7 ~ /^libraries cannot be mixed: meson-shared has shared libraries/ { found = 1 } END { exit !found }' parts/parts.tsv
  # the same function of both is one row, with its object, and both are disassembled
  awk -F '\t' '$1 == "rte_net_null" && $2 == "net_null_rte_eth_null.c.o" && $3 == "eth_null_rx" && $4 > 0 && $5 > $4 { found = 1 } END { exit !found }' parts/functions.tsv
  awk '/^eth_null_rx, / { on = 1; next } on && /mov.*[|<>] .*mov|mov.*  .*mov/ { n++ } END { exit n < 5 }' parts/disassembly.txt
}

@test "meson-shared runs like any other variant, on the software ConnectX, and pic: false fails as expected" {
  "$KIT/reproducers/softnic" --check || skip_or_fail "the software NIC cannot run here; see the line above"
  run "$KIT/scenarios/software/run" --results results --cc gcc --variants meson-shared,meson-shared-nopic,meson-static --baseline meson-static \
    --epochs 2 --rounds 4 --layouts 1 --slice-ms 2 --device software
  # The expected failure is none of the run.
  [ "$status" -eq 0 ] || { echo "$output"; return 1; }
  cd results/2*
  [ "$(awk -F '\t' '$1 == "meson-shared" { print $5 }' builds.tsv)" = ok ]
  awk -F '\t' 'NR > 1 && $4 == "meson-shared" && ($13 != 1 || $9 == 0 || $12 != 0) { bad = 1 } $4 == "meson-shared" { n++; layout[$7] = 1 } END { exit bad || n != 16 || !layout[1] }' slices.tsv
  grep -q '^meson-shared	gcc' effects.tsv
  awk -F '\t' '$1 == "meson-shared-nopic" && $5 == "fails as expected" && $6 ~ /relocation .*recompile with -fPIC/ { found = 1 } END { exit !found }' builds.tsv
  [ -s logs/meson-shared-nopic-gcc.log ]
  [[ "$(tr -s ' \n' ' ' <report.txt)" == *"fails as expected: "*"recompile with -fPIC"*"What cannot be built, as expected: meson-shared-nopic (gcc)."* ]]
  if grep -q 'WARNING: .* not measured' report.txt; then return 1; fi
  [[ "$(tr -s ' \n' ' ' <report.txt)" == *"meson-shared (gcc): "*" shared libraries, each DYN"* ]]
}

@test "a build that is expected to fail and does not: built, measured, and said" {
  kit_copy
  sed 's/^title = .*/title = mine/; s/^meson_options = .*/meson_options = -Dwerror=false/; s/^pic_flag.*/pic_flag = -fPIC/; s/^code_model.*/code_model = pic/' \
    "$KIT/reproducers/variants/meson-shared-nopic.conf" >"$copy/reproducers/variants/mine.conf"
  run "$copy/scenarios/software/run" --results results --cc gcc --variants mine,meson-static --baseline meson-static \
    --epochs 1 --rounds 2 --layouts 0 --slice-ms 2 --device ring
  [ "$status" -eq 0 ] || { echo "$output"; return 1; }
  grep -q '^mine	gcc	.*	ok	' results/2*/builds.tsv
  grep -q '^mine	gcc' results/2*/effects.tsv
  [[ "$(tr -s ' \n' ' ' <<<"$output")" == *"mine with gcc was expected to fail (recompile with -fPIC) and did not"* ]]
}

@test "a build that fails with other words than expected is a failure like any other" {
  kit_copy
  sed 's/^title = .*/title = mine/; s/^expected_error = .*/expected_error = the moon is full/' \
    "$KIT/reproducers/variants/meson-shared-nopic.conf" >"$copy/reproducers/variants/mine.conf"
  run "$copy/scenarios/software/run" --results results --cc gcc --variants mine,meson-static --baseline meson-static \
    --epochs 1 --rounds 2 --layouts 0 --slice-ms 2 --device ring
  [ "$status" -eq 1 ] || { echo "$output"; return 1; }
  grep -q '^mine	gcc	.*	build failed	.*recompile with -fPIC' results/2*/builds.tsv
}
