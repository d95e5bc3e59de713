# SPDX-License-Identifier: BSD-3-Clause
# What cannot be built or run: refused before anything is built where that is certain, else a row with the reason,
# and the rest goes on.
# shellcheck disable=SC2154 # bats sets status, output, lines

load helpers

setup() {
  cd "$BATS_TEST_TMPDIR" || return
  short=(--results results --cc gcc --device ring --epochs 1 --rounds 2 --layouts 0 --slice-ms 2 --baseline meson-static-nopic)
}

# mine SED-COMMAND [VARIANT]: the variant mine of a copy of the kit, made from another by sed.
mine() {
  [ -d "${copy:-}" ] || kit_copy
  sed -e 's/^title = .*/title = mine/' -e "$1" "$KIT/reproducers/variants/${2:-meson-shared}.conf" >"$copy/reproducers/variants/mine.conf"
}

line_of() { # TEXT: its line in the variant mine
  grep -nF -- "$1" "$copy/reproducers/variants/mine.conf" | cut -d: -f1
}

@test "absolute code in shared libraries is refused with file and line, exit 2, nothing built" {
  local change
  for change in 'c_args = -O2 -fno-pie' 'c_args = -fno-pic' 'pic_flag = -fno-pie' 'code_model = absolute' 'link = no-pie'; do
    mine "/^${change%% =*} = /d; s/^build = .*/&\n$change/"
    run "$copy/scenarios/software/run" "${short[@]}" --variants mine,meson-static-nopic
    [ "$status" -eq 2 ] || { echo "$change: $output"; return 1; }
    one_line_error "reproducers/variants/mine.conf:$(line_of "$change"): "
    one_line_error "set library = static"
    [ ! -e results ]
  done
}

@test "a variant that is known to fail cannot be the baseline" {
  run "$KIT/scenarios/software/run" "${short[@]}" --variants meson-shared-nopic,meson-static --baseline meson-shared-nopic
  [ "$status" -eq 2 ]
  one_line_error "the baseline 'meson-shared-nopic' is expected to fail"
}

@test "--cc all: every gcc and clang of the PATH by its shortest name, one binary once, ccache's names aside" {
  local name
  mkdir -p fake lib/ccache
  for name in fake/gcc-12 fake/gcc-11 fake/clang-16 fake/gcc-11-wrapper fake/gcc-ar-12 fake/clang-format-14 fake/g++-12 lib/ccache/gcc-9; do
    printf '#!/bin/sh\nexec %s "$@"\n' "$(command -v gcc)" >"$name"
    chmod +x "$name"
  done
  ln -s gcc-12 fake/gcc
  ln -s ../fake/clang-16 fake/clang-3
  (
    . "$KIT/reproducers/lib/variant.bash"
    PATH=$PWD/lib/ccache:$PWD/fake
    PATH=$PATH:/nonexistent
    hash -r
    # What the function itself calls.
    for name in tr grep paste readlink sort; do eval "$name() { /usr/bin/$name \"\$@\"; }"; done
    [ "$(compilers_installed | /usr/bin/tr '\n' ' ')" = 'gcc clang-3 gcc-11 ' ]
  )
  # The run takes them: what one of them cannot do is refused.
  require_cmd clang
  run "$KIT/scenarios/software/run" "${short[@]}" --cc all --variants meson-static-lto,meson-static-nopic --linker bfd
  [ "$status" -eq 2 ]
  one_line_error "clang's link-time optimisation needs lld, not bfd"
  # Without any there is nothing to say.
  run bash -c ". '$KIT/reproducers/lib/variant.bash'; path_without_ccache() { echo /nonexistent; }; compilers_installed"
  [ "$status" -eq 0 ]
  [ -z "$output" ]
}

@test "a compiler that fails is a row with its word, the other compilers go on" {
  mkdir fake
  cat >fake/gcc-77 <<'C'
#!/bin/sh
case "$*" in
  *--version*) echo "gcc-77 (Fake) 77.0.0"; echo "Copyright (C) Free Software Foundation"; exit 0 ;;
esac
echo "gcc-77: internal compiler error: it is tired" >&2
exit 4
C
  chmod +x fake/gcc-77
  run env PATH="$PWD/fake:$PATH" "$KIT/scenarios/software/run" "${short[@]}" --cc gcc,gcc-77 --variants meson-static-nopic
  [ "$status" -eq 1 ] || { echo "$output"; return 1; }
  grep -q '^meson-static-nopic	gcc-77	gcc-77 (Fake) 77.0.0	.*	build failed	.*ERROR: .*logs/meson-static-nopic-gcc-77.log' results/2*/builds.tsv
  grep -q 'internal compiler error: it is tired' results/2*/logs/meson-static-nopic-gcc-77.log
  [ "$(awk -F '\t' '$2 == "gcc" { print $5 }' results/2*/builds.tsv)" = ok ]
  [[ "$output" == *"1 of 2 builds could not be measured"* ]]
}

@test "a release that needs a newer meson is a row with meson's reason, the rest goes on" {
  mine 's/^meson_options.*/& -Dwerror=false/' meson-static-nopic
  mkdir fake
  cat >fake/meson <<M
#!/bin/sh
case "\$*" in
  *werror=false*) echo "meson.build:4:0: ERROR: Meson version is 1.0.1 but project requires >= 99.9"; exit 1 ;;
esac
exec $(command -v meson) "\$@"
M
  chmod +x fake/meson
  # A folder of its own, so that no earlier configuration is there.
  sed -i 's/-Dwerror=false/-Dwerror=false -Dcheck_includes=false/' "$copy/reproducers/variants/mine.conf"
  run env PATH="$PWD/fake:$PATH" "$copy/scenarios/software/run" "${short[@]}" --variants mine,meson-static-nopic
  [ "$status" -eq 1 ] || { echo "$output"; return 1; }
  grep -q '^mine	gcc	.*	build failed	.*ERROR: Meson version is 1.0.1 but project requires >= 99.9' results/2*/builds.tsv
  [ "$(awk -F '\t' '$1 == "meson-static-nopic" { print $5 }' results/2*/builds.tsv)" = ok ]
  [[ "$(tr -s ' \n' ' ' <results/2*/report.txt)" == *"Meson version is 1.0.1 but project requires"* ]]
}

@test "a forwarder that dies at once is a row with the signal or its last word, the rest goes on" {
  local how dir
  mine 's/^meson_options.*/& -Dwerror=false/' meson-static-nopic
  dir=$("$copy/reproducers/build" --variant mine 3>&-)
  # without what an interrupted test left
  grep -v 'start\.o$' "$dir/ldlibs" >ldlibs
  # What an instruction that this CPU does not have does, or EAL's own check of the CPU.
  for how in 'illegal instruction: code for another CPU|__builtin_trap();' \
    'This system does not support "AVX9000"|fputs("ERROR: This system does not support \"AVX9000\".\\nPlease check that RTE_MACHINE is set correctly.\\n", stderr); exit(1);'; do
    printf '#include <stdio.h>\n#include <stdlib.h>\n__attribute__((constructor)) static void start(void) { %b }\n' "${how#*|}" >start.c
    gcc -c start.c -o start.o
    { cat ldlibs; printf '%s\n' "$PWD/start.o"; } >"$dir/ldlibs"
    rm -rf "$dir"/forwarder-*
    run "$copy/scenarios/software/run" "${short[@]}" --variants mine,meson-static-nopic
    rm -rf "$dir"/forwarder-*
    cp ldlibs "$dir/ldlibs"
    [ "$status" -eq 1 ] || { echo "$output"; return 1; }
    grep -qF "	run failed	" results/2*/builds.tsv
    grep -q "^mine.*${how%%|*}" results/2*/builds.tsv || { cat results/2*/builds.tsv; return 1; }
    grep -q '^meson-static-nopic	gcc' results/2*/effects.tsv
    if grep -q '^mine' results/2*/effects.tsv; then return 1; fi
    [[ "$(tr -s ' \n' ' ' <results/2*/report.txt)" == *"mine gcc run failed: "* ]]
    rm -rf results
  done
}

@test "several linkers: each links every variant and its layouts, beside its own baseline" {
  local dir variant
  require_cmd ld.bfd ld.lld
  run "$KIT/scenarios/software/run" "${short[@]}" --layouts 1 --variants meson-static-nopic,meson-static-nopie --linker bfd,lld
  [ "$status" -eq 0 ] || { echo "$output"; return 1; }
  dir=$(echo results/*)
  [ "$(awk -F '\t' 'NR > 1 { print $1, $2, $5 }' "$dir/builds.tsv" | paste -sd,)" = \
    'meson-static-nopic gcc+bfd ok,meson-static-nopie gcc+bfd ok,meson-static-nopic gcc+lld ok,meson-static-nopie gcc+lld ok' ]
  for variant in meson-static-nopic meson-static-nopie; do
    grep -qF -- -fuse-ld=bfd "$dir/proof/$variant-gcc+bfd/link.txt"
    grep -qF -- -fuse-ld=lld "$dir/proof/$variant-gcc+lld/link.txt"
  done
  # four binaries as built and four layouts, all different
  [ "$(awk -F '\t' 'NR > 1 { print $7 }' "$dir/plan.tsv" | sort -u | wc -l)" -eq 8 ]
  # a comparison within each linker, and headings that tell them apart
  [ "$(awk -F '\t' 'NR > 1 && $1 == "meson-static-nopie" { print $2 }' "$dir/effects.tsv" | paste -sd,)" = gcc+bfd,gcc+lld ]
  grep -q '^With gcc+lld: ' "$dir/report.txt"
  grep -qE '12\.[0-9.]+, lld<|, lld<' "$dir/forest.svg"
  grep -q 'bfd: GNU ld' "$dir/meta.json"
}
