#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# elfproof: relocations by class, code models of objects and archives, what is left in binaries.
# shellcheck disable=SC2154,SC2030,SC2031 # bats sets status, output, lines, stderr; model sets word

load helpers

FIXTURES=$KIT/bats/fixtures/elfproof

setup() {
  require_cmd gcc clang ld.lld ar
  elfproof=$TOOLS/elfproof
  cd "$BATS_TEST_TMPDIR" || return
}

# elf ARGUMENT...: runs elfproof; it must succeed in silence.
elf() {
  run --separate-stderr "$elfproof" "$@"
  [ "$status" -eq 0 ] || { printf 'elfproof %s: status %s: %s\n' "$*" "$status" "$stderr" >&2; return 1; }
  [ -z "$stderr" ] || { printf 'elfproof %s said: %s\n' "$*" "$stderr" >&2; return 1; }
}

# refused TEXT ARGUMENT...: elfproof must exit 2 with one line that holds TEXT, and print nothing else.
refused() {
  local text=$1
  shift
  run --separate-stderr "$elfproof" "$@"
  [ "$status" -eq 2 ] || { printf 'elfproof %s: status %s, not 2: %s\n' "$*" "$status" "$stderr" >&2; return 1; }
  [ -z "$output" ] || { printf 'elfproof %s printed: %s\n' "$*" "$output" >&2; return 1; }
  [ "${#stderr_lines[@]}" -eq 1 ] || { printf 'not one line: %s\n' "$stderr" >&2; return 1; }
  [[ "$stderr" == "mppsdiff: "*"$text"* ]] || { printf 'expected "%s" in: %s\n' "$text" "$stderr" >&2; return 1; }
}

# model FILE...: the word elfproof finds for the files together.
model() {
  elf model "$@" || return
  [ "${#lines[@]}" -eq 1 ]
  word=${output#code_model=}
  word=${word%% *}
}

# value KEY: its value in the last output, from key=value lines or words.
value() {
  tr ' ' '\n' <<<"$output" | sed -n "s/^$1=//p"
}

# expect KEY VALUE: the last output has it.
expect() {
  [ "$(value "$1")" = "$2" ] || { printf 'expected %s=%s in:\n%s\n' "$1" "$2" "$output" >&2; return 1; }
}

# cell OBJECT COLUMN: of the last objects table.
cell() {
  awk -F '\t' -v object="$1" -v column="$2" '
    NR == 1 { for (i = 1; i <= NF; i++) if ($i == column) c = i; next }
    $2 == object { print $c }' <<<"$output"
}

# everything NAME FLAG...: the fixture that holds all differences, compiled.
everything() {
  local name=$1
  shift
  "$@" -c "$FIXTURES/features/everything.c" -o "$name"
}

@test "help: names every command and option, and goes to stdout" {
  elf --help
  for text in objects model binary compare linked map --evidence --help "exit status" "example"; do
    [[ "$output" == *"$text"* ]]
  done
  [[ "${lines[0]}" == "usage: elfproof"* ]]
}

@test "usage: wrong commands, options and numbers of files are one line and exit 2" {
  gcc -c "$FIXTURES/classes.s" -o a.o
  refused "no command; accepted: binary compare linked map model objects"
  refused "unknown command 'object'; accepted: binary compare linked map model objects" object a.o
  refused "unknown option '--verbose'; accepted: --evidence --help" objects --verbose a.o
  refused "needs 1 file" objects
  refused "needs 1 file" model
  refused "needs 1 file" binary
  refused "takes 1 file, not 2" binary a.o a.o
  refused "needs 2 files" compare a.o
  refused "takes 2 files, not 3" compare a.o a.o a.o
  refused "--evidence belongs to elfproof objects" model --evidence a.o
}

@test "objects: counts each class of relocation exactly, in code only" {
  gcc -c "$FIXTURES/classes.s" -o classes.o
  elf objects classes.o
  [ "${#lines[@]}" -eq 2 ]
  [ "${lines[0]}" = $'library\tobject\tmachine\ttext_bytes\tgot\tplt\ttls_gd\ttls_ld\ttls_ie\ttls_le\tabsolute\tpc_relative\tcode_model' ]
  [ "${lines[1]}" = $'-\tclasses.o\tx86-64\t248\t4\t4\t2\t1\t1\t2\t3\t3\tabsolute' ]
}

@test "objects: --evidence appends what the code model follows from" {
  gcc -c "$FIXTURES/classes.s" -o classes.o
  elf objects --evidence classes.o
  [[ "${lines[0]}" == *$'\tcode_model\tevidence_absolute\tevidence_interposed\tevidence_direct\tevidence_independent' ]]
  # absolute: 64 32 32S and the constant; interposed: GD, descriptor, LD; direct: 2 LE, load and lea of ext;
  # independent: the 4 GOT operands, the lea of ext, the GOT's base
  [[ "${lines[1]}" == *$'\tabsolute\t4\t3\t4\t6' ]]
}

@test "objects: text_bytes are those that size counts as code, without constants" {
  everything everything.o gcc -O2 -fPIC
  elf objects everything.o
  local code
  code=$(size -A everything.o | awk '$1 ~ /^\.text/ { sum += $2 } END { print sum }')
  [ "$(cell everything.o text_bytes)" = "$code" ]
}

@test "code model: gcc and clang, three levels of optimisation, each model is named" {
  for cc in gcc clang; do
    for level in -O0 -O2 -Os; do
      for pair in "absolute -fno-pie" "pie -fPIE" "pie -fpie" "pic -fPIC" "pic -fpic" \
        "pic -fPIC -fvisibility=hidden" "pic -fPIC -fno-semantic-interposition" \
        "pic -fPIC -fno-plt" "pie -fPIE -fno-plt" "absolute -fno-pie -fno-plt" \
        "pic -fPIC -ffunction-sections -fdata-sections" "absolute -fno-pie -mcmodel=large" \
        "pie -fPIE -mcmodel=large" "pic -fPIC -mcmodel=large" "absolute -fno-pie -mcmodel=kernel"; do
        read -r expected flags <<<"$pair"
        # shellcheck disable=SC2086 # flags are words
        everything everything.o $cc $level $flags
        model everything.o
        [ "$word" = "$expected" ] || { echo "$cc $level $flags: $word, not $expected" >&2; return 1; }
      done
    done
  done
}

@test "code model: an object that shows one difference is named rightly or not at all" {
  local -A named=()
  local cc level pair expected flags object word
  for cc in gcc clang; do
    for level in -O0 -O2; do
      for pair in "absolute -fno-pie" "pie -fPIE" "pic -fPIC" "pic -fPIC -fvisibility=hidden" \
        "pic -fPIC -fno-semantic-interposition"; do
        read -r expected flags <<<"$pair"
        # shellcheck disable=SC2086 # flags are words
        $cc $level $flags -c "$FIXTURES"/features/*.c
        elf objects ./*.o
        while read -r object word; do
          [ "$word" = "$expected" ] || [ "$word" = none ] ||
            { echo "$object $cc $level $flags: $word" >&2; return 1; }
          [ "$word" = none ] || named[$cc:$flags:${object%.o}.c]=$word
        done < <(sed 1d <<<"$output" | cut -f 2,13)
      done
    done
  done
  [ "${#named[@]}" -gt 50 ]
  # what each difference must be enough for

  for cc in gcc clang; do
    for feature in own_global own_function static_data jump_table constants extern_data extern_weak; do
      [ "${named[$cc:-fno-pie:$feature.c]}" = absolute ]
    done
    for feature in own_global own_function late own_weak own_common; do
      [ "${named[$cc:-fPIE:$feature.c]}" = pie ]
    done
    for feature in own_global own_function own_load tls_own tls_extern late; do
      [ "${named[$cc:-fPIC:$feature.c]}" = pic ]
    done
  done
  # gcc's PIE copies foreign data into the program, clang's asks the GOT as PIC does
  [ "${named[gcc:-fPIE:extern_data.c]}" = pie ]
  [ -z "${named[clang:-fPIE:extern_data.c]:-}" ]
}

@test "code model: hand-written cases, each alone: what is evidence and what is not" {
  local kind=0 expected
  for expected in none none none none none none none pic pic pie pie absolute absolute none absolute none none; do
    kind=$((kind + 1))
    as --defsym KIND=$kind "$FIXTURES/evidence.s" -o kind.o
    model kind.o
    [ "$word" = $expected ] || { echo "case $kind: $word, not $expected" >&2; return 1; }
    case $kind in
    1 | 3 | 4 | 5 | 6 | 14) expect objects_independent 1 ;;
    2 | 7 | 16 | 17) expect objects_independent 0 ;;
    esac
  done
}

@test "code model: nothing to tell is none, and said to be independent where that is certain" {
  gcc -O2 -fPIC -c "$FIXTURES/features/arithmetic.c" -o plain.o
  model plain.o
  [ "$word" = none ]
  expect objects_none 1
  expect objects_independent 0
  gcc -O2 -fPIC -c "$FIXTURES/features/static_data.c" -o static.o
  model static.o
  [ "$word" = none ]
  expect objects_independent 1
}

@test "archives: plain and thin give the same rows, in order, with the library's name" {
  mkdir -p librte_tiny.a.p thin
  # elevenbytes.c.o is 15 bytes long: binutils writes such a name in a way of its own
  for name in zebra ape elevenbytes a_member_with_a_name_longer_than_fifteen_bytes; do
    everything "librte_tiny.a.p/$name.c.o" gcc -O2 -fPIC
  done
  gcc -O2 -fPIC -c "$FIXTURES/features/arithmetic.c" -o librte_tiny.a.p/ape.c.o
  # an odd size: the next member follows a padding byte
  printf x >>librte_tiny.a.p/zebra.c.o
  ar rcs librte_tiny.a librte_tiny.a.p/{zebra,ape,elevenbytes,a_member_with_a_name_longer_than_fifteen_bytes}.c.o
  ar rcsT thin.a librte_tiny.a.p/{zebra,ape,elevenbytes,a_member_with_a_name_longer_than_fifteen_bytes}.c.o
  mv thin.a thin/librte_tiny.a
  mv librte_tiny.a.p thin
  sed -i 's/x/x/' thin/librte_tiny.a
  [ "$(head -c 7 thin/librte_tiny.a)" = '!<thin>' ]
  elf objects librte_tiny.a
  plain=$output
  [ "$(cut -f 1,2 <<<"$plain" | tr '\t\n' ' ,')" = \
    "library object,rte_tiny zebra.c.o,rte_tiny ape.c.o,rte_tiny elevenbytes.c.o,rte_tiny a_member_with_a_name_longer_than_fifteen_bytes.c.o," ]
  [ "$(cell zebra.c.o code_model)" = pic ]
  [ "$(cell ape.c.o code_model)" = none ]
  elf objects thin/librte_tiny.a
  [ "$output" = "$plain" ]
  (cd thin && "$elfproof" objects librte_tiny.a) >from_inside
  [ "$(cat from_inside)" = "$plain" ]
}

@test "archives: the same object alone and in an archive has the same counts" {
  everything one.o clang -O2 -fPIE
  ar rc libone.a one.o
  elf objects one.o libone.a
  [ "$(sed -n 2p <<<"$output" | cut -f 2-)" = "$(sed -n 3p <<<"$output" | cut -f 2-)" ]
  [ "$(cut -f 1 <<<"$output" | tr '\n' ' ')" = "library - one " ]
}

@test "model: sums and words of a set, mixed where objects disagree" {
  everything absolute.o gcc -O2 -fno-pie
  everything pie.o gcc -O2 -fPIE
  everything pic.o clang -O2 -fPIC
  gcc -O2 -c "$FIXTURES/features/arithmetic.c" -o plain.o
  for other in absolute pie pic; do
    ar rc "lib$other.a" "$other.o" plain.o
    model "lib$other.a" plain.o
    [ "$word" = "$other" ]
    expect objects 3
    expect "objects_$other" 1
    expect objects_none 2
    expect objects_independent 0
  done
  for pair in "absolute pie" "absolute pic" "pie pic"; do
    read -r one two <<<"$pair"
    model "lib$one.a" "$two.o"
    [ "$word" = mixed ]
    expect objects 3
  done
  elf objects libpie.a libpic.a
  got=$(awk -F '\t' 'NR > 1 { sum += $5 } END { print sum }' <<<"$output")
  text=$(awk -F '\t' 'NR > 1 { sum += $4 } END { print sum }' <<<"$output")
  elf model libpie.a libpic.a
  expect got "$got"
  expect text_bytes "$text"
}

@test "link-time optimisation: gcc's and clang's objects are counted as such" {
  everything gcc.o gcc -O2 -fPIC -flto
  everything clang.o clang -O2 -fPIC -flto
  elf objects gcc.o clang.o
  [ "$(cell gcc.o machine)" = x86-64 ]
  [ "$(cell gcc.o code_model)" = none ]
  [ "$(cell clang.o machine)" = llvm-bitcode ]
  [ "$(cell clang.o got)" = - ]
  [ "$(cell clang.o code_model)" = none ]
  [ "$(awk -F '\t' '{ print NF }' <<<"$output" | sort -u)" = 13 ]
  model gcc.o clang.o
  [ "$word" = none ]
  expect objects_lto 2
}

@test "binary: what relaxation leaves of the GOT, the PLT and __tls_get_addr, exactly" {
  gcc -c "$FIXTURES/linked.s" -o linked.o
  gcc -c "$FIXTURES/main.s" -o main.o
  for ld in bfd lld; do
    gcc -fuse-ld=$ld -nostdlib -shared -Wl,--emit-relocs linked.o -o lib.so
    elf binary lib.so
    expect elf_type DYN
    expect code_model pic
    expect got_uses_left 5
    expect plt_uses_left 4
    expect tls_get_addr 3
    expect static 0
    for link in "EXEC absolute -no-pie" "DYN-PIE pie -pie" "DYN-PIE pie -static-pie" "EXEC absolute -static"; do
      read -r type expected flags <<<"$link"
      gcc -fuse-ld=$ld -nostdlib "$flags" -Wl,--emit-relocs linked.o main.o -o program
      elf binary program
      expect elf_type "$type"
      expect code_model "$expected"
      expect got_uses_left 1
      expect plt_uses_left 0
      expect tls_get_addr 0
    done
  done
  # without relaxation the three loads stay, too
  ld -static --no-relax --emit-relocs linked.o main.o -o program
  elf binary program
  expect got_uses_left 4
}

@test "binary: without --emit-relocs the calls are still found and the rest is missing" {
  gcc -c "$FIXTURES/linked.s" -o linked.o
  for ld in bfd lld; do
    for flag in "" -Wl,-z,ibtplt -Wl,-z,force-ibt; do
      # shellcheck disable=SC2086 # no word if empty
      gcc -fuse-ld=$ld -nostdlib -shared $flag linked.o -o lib.so 2>warnings
      for strip in true strip; do
        $strip lib.so
        elf binary lib.so
        expect tls_get_addr 3
        expect got_uses_left -
        expect plt_uses_left -
      done
    done
  done
}

@test "binary: programs of gcc and clang, every ELF type, interpreter, libraries, build id" {
  for cc in gcc clang; do
    for link in "EXEC absolute 0 -fno-pie -no-pie" "DYN-PIE pie 0 -fPIE -pie" \
      "EXEC absolute 1 -fno-pie -static -no-pie" "DYN-PIE pie 1 -fPIE -static-pie" \
      "EXEC absolute 0 -fPIC -no-pie" "DYN pic 0 -fPIC -shared"; do
      read -r type expected static flags <<<"$link"
      # shellcheck disable=SC2086 # flags are words
      $cc -O2 $flags -Wl,--build-id=0x0123456789abcdef "$FIXTURES/features/everything.c" "$FIXTURES/main.c" -o program
      elf binary program
      expect elf_type "$type"
      expect code_model "$expected"
      expect static "$static"
      expect build_id 0123456789abcdef
      expect textrel 0
      readelf -dW program 2>stderr | sed -n 's,.*(NEEDED).*\[\(.*\)\],\1,p' | paste -sd, >needed
      expect needed "$(sed 's,^$,-,' needed)"
      [ "$static" = 0 ] || expect interp -
      [ "$type$static" != DYN-PIE0 ] || [[ "$(value interp)" == /*ld-linux* ]]
      [ "$(awk -F = '{ print $1 }' <<<"$output" | tr '\n' ' ')" = "elf_type code_model interp static text_bytes dyn_relative dyn_glob_dat plt_entries got_bytes tls_get_addr got_uses_left plt_uses_left textrel build_id needed " ]
    done
  done
}

@test "binary: counts of dynamic relocations agree with readelf" {
  for cc in gcc clang; do
    for ld in bfd lld; do
      $cc -O2 -fPIC -fuse-ld=$ld -shared "$FIXTURES/features/everything.c" -o lib.so
      readelf -rW lib.so >relocs
      elf binary lib.so
      expect dyn_relative "$(grep -c R_X86_64_RELATIVE relocs)"
      expect dyn_glob_dat "$(grep -c R_X86_64_GLOB_DAT relocs)"
      slots=$(grep -c R_X86_64_JUMP_SLO relocs)
      # entries of 8 bytes for functions whose address is taken, too (bfd)
      plt_got=$(readelf -SW lib.so | sed -n 's,.* \.plt\.got  *PROGBITS  *[0-9a-f]* [0-9a-f]* \([0-9a-f]*\) 08 .*,\1,p')
      [ $ld = lld ] || [ -n "$plt_got" ]
      expect plt_entries $((slots + 0x${plt_got:-0} / 8))
    done
  done
}

@test "binary: packed relative relocations are counted like plain ones" {
  {
    echo '.data'
    echo '.balign 8'
    echo '.globl own'
    echo 'own:'
    for _ in {1..70}; do echo '.quad own_end'; done
    echo 'own_end: .quad 0, own_end'
    echo '.section .note.GNU-stack, "", @progbits'
  } >pointers.s
  gcc -c pointers.s -o pointers.o
  ld.lld -shared pointers.o -o plain.so
  ld.lld -shared --pack-dyn-relocs=relr pointers.o -o packed.so
  readelf -SW packed.so | grep -q RELR
  for file in plain.so packed.so; do
    elf binary $file
    expect dyn_relative 71
  done
}

@test "binary: absolute code in a position independent program is mixed, by its text relocations" {
  everything absolute.o gcc -O2 -fno-pie -mcmodel=large
  gcc -O2 -fno-pie -mcmodel=large -c "$FIXTURES/main.c" -o main.o
  gcc -pie -Wl,-z,notext absolute.o main.o -o program 2>warnings
  elf binary program
  expect elf_type DYN-PIE
  expect code_model mixed
  expect textrel 1
}

@test "binary: a file without a section table still shows its type and its code's size" {
  gcc -O2 -fPIE -pie "$FIXTURES/features/everything.c" "$FIXTURES/main.c" -o program
  # e_shoff, e_shnum and e_shstrndx of the ELF header
  printf '\0\0\0\0\0\0\0\0' | dd of=program bs=1 seek=40 conv=notrunc status=none
  printf '\0\0\0\0' | dd of=program bs=1 seek=60 conv=notrunc status=none
  elf binary program
  expect elf_type DYN-PIE
  expect code_model pie
  expect needed libc.so.6
  [ "$(value text_bytes)" -gt 100 ]
  expect got_bytes -
  expect tls_get_addr -
}

@test "linked: a row a file says what binary says of it, and an error leaves no half table" {
  gcc -O2 -fPIC -shared -Wl,--emit-relocs -Wl,-soname,libone.so.1 "$FIXTURES/features/everything.c" -o libone.so.1
  gcc -O2 -fno-pie -no-pie "$FIXTURES/features/everything.c" "$FIXTURES/main.c" libone.so.1 -o program
  elf linked libone.so.1 program
  table=$output
  [ "$(wc -l <<<"$table")" -eq 3 ]
  row=1
  for file in libone.so.1 program; do
    row=$((row + 1))
    elf binary "$file"
    for key in elf_type code_model text_bytes dyn_relative dyn_glob_dat plt_entries got_bytes tls_get_addr got_uses_left plt_uses_left textrel needed; do
      expect "$key" "$(awk -F '\t' -v row="$row" -v key="$key" 'NR == 1 { for (i = 1; i <= NF; i++) if ($i == key) c = i } NR == row { print $c }' <<<"$table")"
    done
    [ "$(sed -n "${row}p" <<<"$table" | cut -f 1)" = "$file" ]
  done
  [ "$(sed -n 2p <<<"$table" | cut -f 2,3)" = $'DYN\tpic' ]
  [ "$(sed -n 3p <<<"$table" | cut -f 2,3)" = $'EXEC\tabsolute' ]
  gcc -c "$FIXTURES/classes.s" -o a.o
  refused "is not linked" linked libone.so.1 a.o
  refused "needs 1 file" linked
}

@test "map: bytes of code by library and object, of every linker's map" {
  mkdir librte_one.a.p
  gcc -O2 -ffunction-sections -c "$FIXTURES/features/everything.c" -o librte_one.a.p/everything.c.o
  gcc -O2 -c "$FIXTURES/main.c" -o main.o
  ar rcT librte_one.a librte_one.a.p/everything.c.o
  bytes=$(size -A librte_one.a.p/everything.c.o | awk '$1 ~ /^\.text/ { sum += $2 } END { print sum }')
  for ld in bfd lld gold mold; do
    command -v "ld.$ld" >/dev/null || continue
    gcc -fuse-ld=$ld -Wl,-Map=program.map main.o -Wl,--whole-archive librte_one.a -Wl,--no-whole-archive -o program
    elf map program.map
    [ "${lines[0]}" = $'library\tobject\ttext_bytes' ]
    [ "$(awk -F '\t' '$1 == "rte_one" && $2 == "everything.c.o" { print $3 }' <<<"$output")" = "$bytes" ] || { echo "$ld: not $bytes: $output"; return 1; }
    [ "$(awk -F '\t' '$2 == "main.o"' <<<"$output" | wc -l)" -eq 1 ]
  done
  refused "is no linker's map" map "$FIXTURES/main.c"
}

@test "compare: functions that grew, went away and came, and nothing else" {
  as --defsym SIZE=10 "$FIXTURES/compare.s" -o a.o
  as --defsym SIZE=16 "$FIXTURES/compare.s" -o b.o
  elf compare a.o b.o
  [ "${lines[0]}" = $'object\tfunction\tbytes_a\tbytes_b\tdifference_bytes\tin\tcalls_a\tcalls_b\tinlined_in' ]
  [ "${lines[1]}" = $'-\tgrown\t10\t16\t+6\tboth\t0\t0\t-' ]
  [ "${lines[2]}" = $'-\tgone\t5\t-\t-5\ta\t0\t0\t-' ]
  [ "${#lines[@]}" -eq 3 ]
  elf compare b.o a.o
  [ "${lines[1]}" = $'-\tgrown\t16\t10\t-6\tboth\t0\t0\t-' ]
  [ "${lines[2]}" = $'-\tgone\t-\t5\t+5\tb\t0\t0\t-' ]
  elf compare a.o a.o
  [ "${#lines[@]}" -eq 1 ]
  ar rc a.a a.o
  cp b.o copy.o
  mkdir other
  cp b.o other/a.o
  ar rc b.a other/a.o
  elf compare a.a b.a
  [ "${lines[1]}" = $'a.o\tgrown\t10\t16\t+6\tboth\t0\t0\t-' ]
  ld -shared a.o -o a.so
  ld -shared b.o -o b.so
  strip a.so
  elf compare a.so b.so
  # in what is linked, calls are not counted
  [ "${lines[1]}" = $'-\tgrown\t10\t16\t+6\tboth\t-\t-\t-' ]
}

# calls FUNCTION: calls_a calls_b inlined_in of its row in the last comparison; nothing without one.
calls() {
  awk -F '\t' -v name="$1" '$2 == name { print $7, $8, $9 }' <<<"$output"
}

@test "compare: a function that gcc inlines without -fPIC and calls with it is named, with its calls" {
  local level
  for level in -O2 -O3; do
    gcc $level -fno-pie -c "$FIXTURES/inlined.c" -o a.o
    gcc $level -fPIC -c "$FIXTURES/inlined.c" -o b.o
    elf compare a.o b.o
    [ "$(calls exported)" = '0 2 a' ] || { echo "$level: $output"; return 1; }
    [ "$(awk -F '\t' '$9 != "-"' <<<"$output" | wc -l)" -eq 2 ]
    elf compare b.o a.o
    [ "$(calls exported)" = '2 0 b' ]
    # the cure, and the compiler that never had the illness
    gcc $level -fPIC -fno-semantic-interposition -c "$FIXTURES/inlined.c" -o b.o
    elf compare a.o b.o
    [ "$(awk -F '\t' '$9 != "-"' <<<"$output" | wc -l)" -eq 1 ]
    clang $level -fno-pie -c "$FIXTURES/inlined.c" -o a.o
    clang $level -fPIC -c "$FIXTURES/inlined.c" -o b.o
    elf compare a.o b.o
    [ "$(awk -F '\t' '$9 != "-"' <<<"$output" | wc -l)" -eq 1 ]
  done
}

@test "compare: calls with and without a relocation, jumps and calls through the GOT are counted" {
  # nothing calls anything in this one, but all is defined
  gcc -O2 -S -fno-pie "$FIXTURES/inlined.c" -o - | sed -E 's/^(\s)(call|jmp)(\s+)[a-z_]+$/\1nop/' >none.s
  gcc -c none.s -o none.o
  local flags
  for flags in -fno-pie -fPIE -fPIC '-fPIC -fno-plt' '-fPIC -ffunction-sections' '-fPIC -fno-plt -Wa,-mrelax-relocations=no'; do
    # shellcheck disable=SC2086 # flags are words
    gcc -O2 $flags -c "$FIXTURES/inlined.c" -o b.o
    elf compare none.o b.o
    [ "$(calls near_one)" = '0 2 a' ] || { echo "$flags: $output"; return 1; }
    [ "$(calls far_one)" = '0 1 a' ] || { echo "$flags: $output"; return 1; }
    [[ "$(calls recursive)" == '' || "$(calls recursive)" == '0 0 -' ]]
    [[ "$flags" != -fPIC* ]] || [ "$(calls exported)" = '0 2 a' ]
  done
}

@test "compare: parts and clones belong to their function" {
  as --defsym PARTS=0 "$FIXTURES/parts.s" -o a.o
  as --defsym PARTS=1 "$FIXTURES/parts.s" -o b.o
  elf compare a.o b.o
  [ "$(sed 1d <<<"$output" | sort | tr '\t\n' ' ,')" = "- a.parted 4 5 +1 both 0 0 -,- b.12 4 5 +1 both 0 0 -,- caller 10 7 -3 both 0 0 -,- whole 30 35 +5 both 0 2 a," ]
}

@test "compare: the calls are those that a disassembler shows" {
  require_cmd objdump
  local cc flags
  for cc in gcc clang; do
    for flags in -fno-pie -fPIC; do
      $cc -O2 $flags -I"$KIT/fwd/tools" -D_GNU_SOURCE -c "$KIT/fwd/tools/stats.c" -o b.o
      # linked, every call shows its target
      ld -static --unresolved-symbols=ignore-all -e 0 -o linked b.o
      objdump -d --no-show-raw-insn linked | awk '
        function plain(s) { gsub(/\.(cold|part|isra|constprop)(\.[0-9]+)?/, "", s); return s }
        /^[0-9a-f]+ <.*>:$/ { caller = plain(substr($2, 2, length($2) - 3)); next }
        $2 ~ /^(call|j[a-z]+)$/ && $NF ~ /^<[^+-]*>$/ { target = plain(substr($NF, 2, length($NF) - 2)); if (target != caller) n[target]++ }
        END { for (f in n) print f, n[f] }' | sort >expected
      # against an object without any call, every count shows
      printf 'void nothing_of_this(void);void nothing_of_this(void){}' | gcc -x c -c - -o none.o
      elf compare none.o b.o
      awk -F '\t' 'NR > 1 && $8 > 0 { print $2, $8 }' <<<"$output" | sort >found
      [ -s expected ]
      diff expected found
    done
  done
}

@test "bad input: each is one line that says what is wrong, exit 2, nothing on stdout" {
  everything good.o gcc -O2
  gcc -O2 "$FIXTURES/features/everything.c" "$FIXTURES/main.c" -o program
  ar rc libgood.a good.o
  cp good.o 'with	tab.o'
  : >empty.o
  printf '!<arch>\n' >empty.a
  ar rcT thin.a good.o
  mkdir moved
  mv thin.a moved
  printf 'no ELF at all, only words\n' >words.o
  cp /bin/true truncated && truncate -s -100 truncated
  head -c 40 good.o >header.o
  head -c 300 good.o >half.o
  head -c -1000 libgood.a >half.a
  head -c 30 libgood.a >header.a
  everything small.o gcc -m32 -fno-pie
  everything x32.o gcc -mx32 -fno-pie
  cp good.o big.o && printf '\002' | dd of=big.o bs=1 seek=5 conv=notrunc status=none
  cp good.o arm.o && printf '\267\000' | dd of=arm.o bs=1 seek=18 conv=notrunc status=none
  cp good.o odd.o && printf '\333\377' | dd of=odd.o bs=1 seek=18 conv=notrunc status=none
  cp program arm && printf '\267\000' | dd of=arm bs=1 seek=18 conv=notrunc status=none
  printf '!<arch>\n%-16s%-12s%-6s%-6s%-8s%-10s`\nabc\n' words.o/ 0 0 0 644 4 >words.a
  refused "cannot open missing.a: No such file" objects missing.a
  refused "cannot open missing: No such file" binary missing
  refused "is no regular file" objects "$BATS_TEST_TMPDIR"
  refused "is no regular file" model /dev/null
  refused "empty.o is empty" objects empty.o
  refused "empty.a: the archive is empty" objects empty.a
  refused "empty.a: the archive is empty" model good.o empty.a
  refused "cannot open moved/good.o: No such file" objects moved/thin.a
  refused "words.o is no ELF file and no archive" objects words.o
  refused "words.a(words.o) is no ELF file" objects words.a
  refused "header.o is truncated inside its ELF header" objects header.o
  refused "half.o is truncated" objects half.o
  refused "truncated is truncated" binary truncated
  refused "half.a: the archive is corrupt" objects half.a
  refused "header.a: the archive is corrupt at byte 8: it ends inside a header" objects header.a
  refused "small.o: 32-bit ELF (machine i386) is unsupported" objects small.o
  refused "x32.o: 32-bit ELF (machine x32) is unsupported" objects x32.o
  refused "big.o: big-endian" objects big.o
  refused "arm.o: machine AArch64 is unsupported: code models are known for x86-64 only" objects arm.o
  refused "arm: machine AArch64 is unsupported" binary arm
  refused "odd.o: machine number 65499 is unsupported" model odd.o
  refused "program is linked, no object; use 'elfproof binary'" objects program
  refused "good.o is not linked" binary good.o
  refused "libgood.a is an archive; use 'elfproof objects'" binary libgood.a
  strip program
  refused "names no functions" compare libgood.a program
  # a tab in a name must not break the table
  elf objects 'with	tab.o'
  [ "$(cell 'with?tab.o' machine)" = x86-64 ]
}

@test "bad input: a good archive before a bad one leaves no half table" {
  everything good.o gcc -O2
  ar rc libgood.a good.o
  printf '!<arch>\n' >empty.a
  refused "the archive is empty" objects libgood.a empty.a
}

@test "output: a full disk is an error" {
  [ -e /dev/full ] || skip_or_fail "needs /dev/full"
  everything good.o gcc -O2
  run bash -c "'$elfproof' objects good.o >/dev/full"
  [ "$status" -eq 1 ]
  one_line_error "cannot write to stdout"
}

# fuzz SEED FILE COMMAND...: elfproof under sanitizers with 40 damaged copies of FILE.
fuzz() {
  local seed=$1 file=$2
  shift 2
  run ./fuzz "$seed" 40 "$file" "$@"
  [ "$status" -eq 0 ] || { printf 'fuzz %s %s %s: %s\n' "$seed" "$file" "$*" "$output" >&2; return 1; }
}

@test "corrupt files: 280 damaged objects, archives and binaries, under sanitizers" {
  local sanitize=(-std=c11 -D_GNU_SOURCE -O1 -g "-fsanitize=address,undefined" -fno-sanitize-recover=all)
  gcc "${sanitize[@]}" -Dmain=elfproof_main -c "$KIT/fwd/tools/elfproof.c" -o proof.o
  gcc "${sanitize[@]}" "$FIXTURES/fuzz.c" proof.o "$KIT"/fwd/tools/{elfbinary,elfcalls,elfcompare,elffile,linkmap,reloc,util}.c \
    -lelf -ldw -lm -o fuzz
  everything a.o gcc -O2 -fPIC -g
  everything b.o clang -O2 -fno-pie
  ar rcs lib.a a.o b.o
  ar rcsT thin.a a.o b.o
  gcc -shared -Wl,--emit-relocs a.o -o lib.so
  gcc -O2 "$FIXTURES/features/everything.c" "$FIXTURES/main.c" -o program
  fuzz 1 a.o objects
  fuzz 2 b.o model
  fuzz 3 lib.a objects --evidence
  fuzz 4 thin.a objects
  fuzz 5 lib.so binary
  fuzz 6 program binary
  fuzz 7 lib.a compare lib.a
}
