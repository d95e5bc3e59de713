# SPDX-License-Identifier: BSD-3-Clause
# reproducers/lib/proof.bash: what two builds differ in, here with builds that are made by hand.
# shellcheck disable=SC2154 # variables of the libraries

setup() {
  load helpers
  # shellcheck source=../reproducers/lib/common.bash
  . "$KIT/reproducers/lib/common.bash"
  # shellcheck source=../reproducers/lib/keyfile.bash
  . "$KIT/reproducers/lib/keyfile.bash"
  # shellcheck source=../reproducers/lib/variant.bash
  . "$KIT/reproducers/lib/variant.bash"
  # shellcheck source=../reproducers/lib/proof.bash
  . "$KIT/reproducers/lib/proof.bash"
  tools=$TOOLS
  base=$BATS_TEST_TMPDIR/base
  other=$BATS_TEST_TMPDIR/other
  mkdir -p "$base/meson/lib" "$other/meson/lib"
  printf 'RTE_ARCH_64\nRTE_MAX_LCORE 128\nRTE_NAME "a b"\nRTE_OLD 1\nlib/a.c.o\nlib/b.c.o\n' >"$base/config"
  printf 'lib/a.c.o\ta.c\tgcc -O3 -DONE -D_FILE_OFFSET_BITS=64 -DPER=1 %s -c a.c\nlib/b.c.o\tb.c\tgcc -O3 -D_FILE_OFFSET_BITS=64 -DPER=2 -c b.c\n' \
    "'-DTEXT=\"x\"'" >"$base/commands.tsv"
}

differ() { # the constants that differ, a line each, tabs as |
  proof_constants other gcc 22.11 "$base" "$other" | tr '\t' '|'
}

@test "constants: two builds of the same configuration have none, in whatever order" {
  tac "$base/config" >"$other/config"
  tac "$base/commands.tsv" >"$other/commands.tsv"
  [ -z "$(differ)" ]
}

@test "constants: changed, new, gone and empty ones are listed with both values" {
  printf 'RTE_ARCH_64 1\nRTE_MAX_LCORE 64\nRTE_NAME "a b"\nRTE_NEW\nlib/a.c.o\nlib/c.c.o\n' >"$other/config"
  cp "$base/commands.tsv" "$other/commands.tsv"
  diff <(differ) - <<'EXPECTED'
other|gcc|22.11|RTE_ARCH_64|(empty)|1
other|gcc|22.11|RTE_MAX_LCORE|128|64
other|gcc|22.11|RTE_NEW|-|(empty)
other|gcc|22.11|RTE_OLD|1|-
EXPECTED
}

@test "constants: those of the compile lines are compared too, with how many objects have them" {
  cp "$base/config" "$other/config"
  printf 'lib/a.c.o\ta.c\tgcc -DONE -DONLY_HERE=3 -DPER=2 %s -c a.c\nlib/b.c.o\tb.c\tgcc -D ONE -DPER=1 -c b.c\n' "'-DTEXT=\"y\"'" >"$other/commands.tsv"
  diff <(differ) - <<'EXPECTED'
other|gcc|22.11|-DONE|1 (1 objects)|1
other|gcc|22.11|-DONLY_HERE|-|3 (1 objects)
other|gcc|22.11|-DTEXT|"x" (1 objects)|"y" (1 objects)
other|gcc|22.11|-D_FILE_OFFSET_BITS|64|-
EXPECTED
}

@test "constants: in the same build system a difference contradicts the proof, between two it is listed" {
  dir=$other reference=$base objects=1 objects_with_flag=1 model=pie model_asked=pie elf_type=EXEC elf_asked=EXEC
  cp "$base/config" "$other/config"
  echo 'mode=meson' | tee "$base/identity" >"$other/identity"
  [ -z "$(_contradiction)" ]
  sed -i 's/128/64/' "$other/config"
  [[ "$(_contradiction)" == "configured differently from the baseline: RTE_MAX_LCORE 128,RTE_MAX_LCORE 64" ]]
  echo 'mode=make' >"$other/identity"
  [ -z "$(_contradiction)" ]
}

@test "constants: objects of a shared build lie in other folders and are the same; one more is not" {
  dir=$other reference=$base objects=1 objects_with_flag=1 model=pie model_asked=pie elf_type=EXEC elf_asked=EXEC
  echo 'mode=meson' | tee "$base/identity" >"$other/identity"
  printf 'RTE_ONE 1\nlib/librte_a.a.p/a.c.o\ndrivers/libtmp_rte_b.a.p/b.c.o\n' >"$base/config"
  printf 'RTE_ONE 1\nlib/librte_a.so.26.2.p/a.c.o\ndrivers/librte_b.so.26.2.p/b.c.o\n' >"$other/config"
  [ -z "$(_contradiction)" ]
  echo drivers/librte_b.so.26.2.p/c.c.o >>"$other/config"
  [[ "$(_contradiction)" == "configured differently from the baseline: drivers/librte_b.a.p/c.c.o" ]]
}

# archives FLAG... : both builds get an archive of the fixture, the other one compiled with FLAG.
archives() {
  require_cmd gcc ar
  gcc -O2 -fno-pie -c "$KIT/bats/fixtures/elfproof/inlined.c" -o "$BATS_TEST_TMPDIR/inlined.o"
  ar rc "$base/meson/lib/librte_one.a" "$BATS_TEST_TMPDIR/inlined.o"
  gcc -O2 "$@" -c "$KIT/bats/fixtures/elfproof/inlined.c" -o "$BATS_TEST_TMPDIR/inlined.o"
  ar rc "$other/meson/lib/librte_one.a" "$BATS_TEST_TMPDIR/inlined.o"
  printf 'lib/librte_one.a\n' | tee "$base/archives" >"$other/archives"
}

@test "functions: inlining that -fPIC took away is in compare.tsv with its library, and counted" {
  archives -fPIC
  run proof_functions other gcc 22.11 "$base" "$other" "$BATS_TEST_TMPDIR"
  [ "$status" -eq 0 ]
  [[ "$output" =~ ^other$'\t'gcc$'\t'22\.11$'\t'[1-9][0-9]*$'\t'1$'\t'0$'\t'0$ ]]
  [ "$(awk -F '\t' '$10 != "-"' "$BATS_TEST_TMPDIR/compare.tsv" | cut -f 1-3,8-10 | tr '\t\n' ' ,')" = \
    "library object function calls_a calls_b inlined_in,rte_one inlined.o exported 0 2 a," ]
  [ ! -e "$BATS_TEST_TMPDIR/not-compared.txt" ]
}

@test "functions: the same code has no row, a library that cannot be compared is said so" {
  archives -fno-pie
  run proof_functions other gcc 22.11 "$base" "$other" "$BATS_TEST_TMPDIR"
  [ "$output" = $'other\tgcc\t22.11\t0\t0\t0\t0' ]
  printf 'int number = 1;' | gcc -x c -c - -o "$BATS_TEST_TMPDIR/data.o"
  for build in "$base" "$other"; do ar rc "$build/meson/lib/librte_data.a" "$BATS_TEST_TMPDIR/data.o"; done
  for build in "$base" "$other"; do echo lib/librte_data.a >>"$build/archives"; done
  run proof_functions other gcc 22.11 "$base" "$other" "$BATS_TEST_TMPDIR"
  [ "$status" -eq 0 ]
  [ "$output" = $'other\tgcc\t22.11\t0\t0\t0\t1' ]
  grep -q 'librte_data.a names no functions' "$BATS_TEST_TMPDIR/not-compared.txt"
}

@test "libraries: the sums of their objects, and one code model or mixed" {
  local objects=$BATS_TEST_TMPDIR/objects.tsv
  {
    printf 'library\tobject\tmachine\ttext_bytes\tgot\tplt\tcode_model\n'
    printf 'rte_b\tx.o\tx86-64\t100\t1\t2\tpic\nrte_b\ty.o\tx86-64\t50\t10\t20\tnone\nrte_a\tx.o\tx86-64\t7\t0\t0\tpie\n'
    printf 'rte_a\tz.o\tx86-64\t7\t0\t1\tpic\nrte_c\tl.o\tllvm-bitcode\t-\t-\t-\tnone\n'
  } >"$objects"
  diff <(proof_libraries <"$objects") - <<'EXPECTED'
library	objects	text_bytes	got	plt	code_model
rte_b	2	150	11	22	pic
rte_a	2	14	0	1	mixed
rte_c	1	0	0	0	none
EXPECTED
}

# across: the two builds come from two build systems, with the constants where the compiler finds them.
across() {
  require_cmd gcc
  printf 'mode=meson\ncc_path=%s\n' "$(command -v gcc)" >"$base/identity"
  printf 'mode=%s\ncc_path=%s\n' "${1:-make}" "$(command -v gcc)" >"$other/identity"
  sed '/\.o$/d; s/^/#define /' "$base/config" >"$base/rte_config.h"
  printf -- '-I%s\n-include\nrte_config.h\n' "$base" >"$base/cflags"
  printf -- '-I%s\n-include\nrte_config.h\n' "$other" >"$other/cflags"
}

@test "constants: between build systems the compiler is asked, not the file where one of them keeps some" {
  across
  cp "$base/commands.tsv" "$other/commands.tsv"
  # The same constants, in other places: a header of the tree, an option.
  printf 'RTE_NOT_ALL_OF_THEM 1\nbuild/lib/a.o\n' >"$other/config"
  sed '/RTE_OLD/d' "$base/rte_config.h" >"$other/rte_config.h"
  echo '-DRTE_OLD=1' >>"$other/cflags"
  sed -i 's/ -c / -DRTE_OLD=1 -c /' "$other/commands.tsv"
  [ -z "$(differ)" ]
}

@test "constants: between build systems those with two values come first, which libraries are built last" {
  across
  cp "$base/commands.tsv" "$other/commands.tsv"
  printf '#define RTE_ARCH_64\n#define RTE_MAX_LCORE 64\n#define RTE_NAME "a b"\n#define RTE_ALONE 3\n#define RTE_LIBRTE_ACL 1\n' >"$other/rte_config.h"
  diff <(differ) - <<'EXPECTED'
other|gcc|22.11|RTE_MAX_LCORE|128|64
other|gcc|22.11|RTE_ALONE|-|3
other|gcc|22.11|RTE_OLD|1|-
other|gcc|22.11|RTE_LIBRTE_ACL|-|1
EXPECTED
}

@test "functions: between build systems objects are matched by their sources" {
  across
  require_cmd ar
  mkdir -p "$other/make/lib" "$other/make/build" "$base/meson/lib/rte_one.p"
  gcc -O2 -fno-pie -c "$KIT/bats/fixtures/elfproof/inlined.c" -o "$base/meson/lib/rte_one.p/one_inlined.c.o"
  gcc -O2 -fPIC -c "$KIT/bats/fixtures/elfproof/inlined.c" -o "$other/make/build/inlined.o"
  ar rc "$base/meson/lib/librte_one.a" "$base/meson/lib/rte_one.p/one_inlined.c.o"
  ar rc "$other/make/lib/librte_one.a" "$other/make/build/inlined.o"
  printf 'drivers/librte_one.a\n' >"$base/archives"
  mkdir -p "$base/meson/drivers" && mv "$base/meson/lib/librte_one.a" "$base/meson/drivers/"
  printf 'drivers/librte_one.a\tlib/rte_one.p/one_inlined.c.o\n' >"$base/members"
  printf 'lib/rte_one.p/one_inlined.c.o\t../tree/one/inlined.c\tgcc\n' >"$base/commands.tsv"
  printf 'lib/librte_one.a\nlib/librte_two.a\n' >"$other/archives"
  printf 'lib/librte_one.a\tbuild/inlined.o\n' >"$other/members"
  printf 'build/inlined.o\t/tree/one/inlined.c\tgcc\n' >"$other/commands.tsv"
  run proof_functions other gcc 22.11 "$base" "$other" "$BATS_TEST_TMPDIR"
  [ "$status" -eq 0 ]
  [[ "$output" =~ ^other$'\t'gcc$'\t'22.11$'\t'[1-9][0-9]*$'\t'1$'\t'0$'\t'1$ ]]
  grep -q $'^rte_one\tinlined.c.o\texported\t.*\tboth\t0\t2\ta$' "$BATS_TEST_TMPDIR/compare.tsv"
  grep -q 'no library rte_two in the baseline' "$BATS_TEST_TMPDIR/not-compared.txt"
  [ ! -e "$BATS_TEST_TMPDIR/by-source" ]
}

@test "c_args: every word must stand on every compile line, whole" {
  dir=$base
  declare -gA variant_of=([c_args]='-O3')
  [ -z "$(_without_c_args)" ]
  variant_of[c_args]='-O3 -D_FILE_OFFSET_BITS=64'
  [ -z "$(_without_c_args)" ]
  variant_of[c_args]='-O3 -DON'
  [ "$(_without_c_args)" = '2 of 2 objects were not compiled with all of c_args (lib/a.c.o: no -DON)' ]
  variant_of[c_args]='-DPER=2'
  objects=2 objects_with_flag=2
  [ "$(_contradiction)" = '1 of 2 objects were not compiled with all of c_args (lib/a.c.o: no -DPER=2)' ]
}
