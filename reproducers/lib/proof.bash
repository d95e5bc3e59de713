# shellcheck shell=bash
# SPDX-License-Identifier: BSD-3-Clause
# shellcheck disable=SC2034,SC2154 # variables shared with the scripts that source it
#
# Proof before speed: what a build really is, against what its data file asks for. Each build is a row
# of builds.tsv. Needs common.bash and variant.bash; the facts come from elfproof and the build's own
# compile lines, never from the flags asked for.

proof_header() {
  printf '%s\t' variant cc cc_version dpdk status reason log build_system flag_asked objects objects_with_flag code_model_asked \
    code_model elf_type got plt tls_gd tls_ld tls_ie tls_le absolute text_bytes sha256
  printf 'binary\n'
}

proof_failed() { # VARIANT CC DPDK STATUS REASON LOG: the row of a build that has no binary to measure
  local version=- linker cc=$2
  for linker in bfd gold lld mold; do cc=${cc%"+$linker"}; done
  version=$(PATH=$(path_without_ccache) "$cc" --version 2>/dev/null | sed -n 1p) || true
  printf '%s\t' "$1" "$2" "${version:--}" "$3" "$4" "$5" "$6" - - - - - - - - - - - - - - - -
  printf -- '-\n'
}

_model_asked() { # CC_PATH: the code model the loaded variant asks for
  if [[ ${variant_of[code_model]} == default ]]; then compiler_default_model "$1"; else printf '%s\n' "${variant_of[code_model]}"; fi
}

_elf_type_asked() { # CC_PATH: EXEC or DYN-PIE
  case ${variant_of[link]} in
    no-pie) printf 'EXEC\n' ;;
    pie) printf 'DYN-PIE\n' ;;
    *) if [[ $(compiler_default_model "$1") == pie ]]; then printf 'DYN-PIE\n'; else printf 'EXEC\n'; fi ;;
  esac
}

_binary_value() { # KEY: from elfproof's output in $folder/binary.txt
  sed -n "s/^$1=//p" "$folder/binary.txt"
}

proof_constants_header() {
  printf 'variant\tcc\tdpdk\tconstant\tbaseline_value\tvariant_value\n'
}

# proof_constants VARIANT CC RELEASE BASELINE_DIR DIR: the rows of constants.tsv in which two builds differ: #define
# lines of their configuration under the constant's name, options of their compile lines as -DNAME. "-" is not
# defined, "(empty)" defined without a value. Build systems keep their constants in different files, so between
# two of them the compiler is asked; constants with two values come first then, those that only say which
# libraries are built last.
proof_constants() {
  local constants=(cat) from=$4/config to=$5/config across=no
  if ! same_mode "$4" "$5"; then constants=(build_macros) from=$4 to=$5 across=yes; fi
  awk -v OFS='\t' -v variant="$1" -v cc="$2" -v dpdk="$3" -v across="$across" -v from=<("${constants[@]}" "$from") \
    -v from_commands="$4/commands.tsv" -v to=<("${constants[@]}" "$to") -v to_commands="$5/commands.tsv" '
    BEGIN { config(1, from); commands(1, from_commands); config(2, to); commands(2, to_commands); compare() }
    function note(side, name, text) {
      if (!(name in known)) { known[name] = 1; order[++names] = name }
      value[side, name] = text == "" ? "(empty)" : text
    }
    # The rest of the file are objects.
    function config(side, file,   line, split_at, name) {
      while ((getline line < file) > 0) {
        if (line ~ /\.o$/) continue
        split_at = index(line, " ")
        name = split_at ? substr(line, 1, split_at - 1) : line
        note(side, name, split_at ? substr(line, split_at + 1) : "")
      }
      close(file)
    }
    function commands(side, file,   line, f, n, i, words, name, text, objects, key, here, j, count) {
      while ((getline line < file) > 0) {
        objects++
        split(line, f, "\t")
        n = split(f[3], words, " ")
        split("", here)
        for (i = 1; i <= n; i++) {
          if (words[i] ~ /^[\047"].*[\047"]$/) words[i] = substr(words[i], 2, length(words[i]) - 2)
          if (words[i] == "-D" && i < n) words[i + 1] = "-D" words[i + 1]
          if (words[i] !~ /^-D./) continue
          name = words[i]
          text = 1
          if ((j = index(name, "="))) { text = substr(name, j + 1); name = substr(name, 1, j - 1) }
          here[name] = text
        }
        for (name in here) {
          uses[side, name]++
          key = side SUBSEP name SUBSEP here[name]
          if (!(key in seen)) { seen[key] = 1; values[side, name]++; list[side, name, values[side, name]] = here[name] }
          if (!((side, name) in used)) { used[side, name] = 1; flag[side, ++flags[side]] = name }
        }
      }
      close(file)
      for (i = 1; i <= flags[side]; i++) {
        name = flag[side, i]
        note(side, name, joined(side, name) (uses[side, name] < objects ? " (" uses[side, name] " objects)" : ""))
      }
    }
    # The values, sorted, since archives may come in another order.
    function joined(side, name,   n, i, j, t, v, s) {
      n = values[side, name]
      for (i = 1; i <= n; i++) v[i] = list[side, name, i] ""
      for (i = 2; i <= n; i++) for (j = i; j > 1 && v[j] < v[j - 1]; j--) { t = v[j]; v[j] = v[j - 1]; v[j - 1] = t }
      for (i = 1; i <= n; i++) s = s (i > 1 ? "," : "") v[i]
      return s
    }
    function of(side, name) { return (side, name) in value ? value[side, name] : "-" }
    # rank(name): between build systems, how much a difference says.
    function rank(name,   a, b) {
      if (across == "no") return 1
      a = of(1, name); b = of(2, name)
      # A driver is another number of objects in each.
      sub(/ \([0-9]+ objects\)$/, "", a); sub(/ \([0-9]+ objects\)$/, "", b)
      if (a != "-" && b != "-") return a == b ? 2 : 1
      return name ~ /^RTE_LIB(RTE)?_/ && (a == "-" || a ~ /^(1|\(empty\))$/) && (b == "-" || b ~ /^(1|\(empty\))$/) ? 3 : 2
    }
    # given(name): an option for all objects is one of the constants that the compiler was asked for.
    function given(name,   plain) {
      plain = substr(name, 3)
      return across == "yes" && (of(1, plain) != "-" || of(2, plain) != "-") && of(1, name) of(2, name) !~ /objects\)/
    }
    function compare(   i, sort) {
      sort = "LC_ALL=C sort -k 1,1n -k 2 | cut -f 2-"
      for (i = 1; i <= names; i++)
        if (of(1, order[i]) != of(2, order[i]) && !(order[i] ~ /^-D/ && given(order[i])))
          print rank(order[i]), variant, cc, dpdk, order[i], of(1, order[i]), of(2, order[i]) | sort
      close(sort)
    }'
}

proof_functions_header() {
  printf 'variant\tcc\tdpdk\tfunctions_differ\tinlined_in_baseline\tinlined_in_variant\tlibraries_not_compared\n'
}

# proof_functions VARIANT CC RELEASE BASELINE_DIR DIR FOLDER: the functions that differ from the baseline's, library by
# library, as FOLDER/compare.tsv (a is the baseline), and the row of inlining.tsv that counts them. A library that
# cannot be compared, like one of bitcode, is a line of FOLDER/not-compared.txt.
proof_functions() {
  local archive name skipped=0 a b
  : >"$6/not-compared.txt"
  printf 'library\tobject\tfunction\tbytes_a\tbytes_b\tdifference_bytes\tin\tcalls_a\tcalls_b\tinlined_in\n' >"$6/compare.tsv"
  while IFS= read -r archive; do
    name=${archive##*/lib}
    name=${name%.a}
    a=$(library_archive "$4" "$name") b=$(library_archive "$5" "$name")
    if ! same_mode "$4" "$5"; then
      mkdir -p "$6/by-source"
      a=$(archive_by_source "$4" "$name" "$6/by-source/a") b=$(archive_by_source "$5" "$name" "$6/by-source/b")
    fi
    if [[ ! -f $a ]]; then
      printf 'no library %s in the baseline\n' "$name" >>"$6/not-compared.txt"
      skipped=$((skipped + 1))
    elif "$tools/elfproof" compare "$a" "$b" >"$6/compare.new" 2>>"$6/not-compared.txt"; then
      awk -v OFS='\t' -v library="$name" 'NR > 1 { print library, $0 }' "$6/compare.new" >>"$6/compare.tsv"
    else
      skipped=$((skipped + 1))
    fi
  done <"$5/archives"
  rm -rf "$6/compare.new" "$6/by-source"
  [[ -s $6/not-compared.txt ]] || rm -f "$6/not-compared.txt"
  awk -F '\t' -v OFS='\t' -v variant="$1" -v cc="$2" -v dpdk="$3" -v skipped="$skipped" '
    NR > 1 { n[$10]++ }
    END { print variant, cc, dpdk, NR - 1, n["a"] + 0, n["b"] + 0, skipped }' "$6/compare.tsv"
}

proof_notes_header() {
  printf 'variant\tcc\tdpdk\tnote\n'
}

# proof_note VARIANT CC RELEASE WORK TEXT: what the proof found beside the table's columns, as a row of notes.tsv.
proof_note() {
  printf '%s\t%s\t%s\t%s\n' "$1" "${2##*/}" "$3" "$5" >>"$4/proof/notes.tsv"
}

# _proof_shared BINARY FOLDER: FOLDER/shared.tsv, what each shared library is, and FOLDER/loaded.tsv, where the
# loader finds what the binary needs (it is asked, the binary does not run).
_proof_shared() {
  local -a files
  mapfile -t files < <(binary_libraries "$1")
  LD_TRACE_LOADED_OBJECTS=1 "$1" </dev/null 2>&1 | sed -n 's/^\t\([^ ]*\) => \([^(]*[^( ]\).*/\1\t\2/p' >"$2/loaded.tsv"
  [[ ${#files[@]} -eq 0 ]] || "$tools/elfproof" linked "${files[@]}" >"$2/shared.tsv"
}

# _shared_contradiction BINARY FOLDER: prints what is wrong with the libraries of DPDK that the binary loads: one of
# a static build's, one from elsewhere, one that is missing, one that is not position independent.
_shared_contradiction() {
  local name path
  local -i own=0
  [[ -f $2/loaded.tsv ]] || return 0
  while IFS=$'\t' read -r name path; do
    [[ $name == librte_* ]] || continue
    if ! [[ $path -ef $1.libs/$name ]]; then
      printf '%s is taken from %s, not from this build' "$name" "$path"
      return
    fi
    own+=1
  done <"$2/loaded.tsv"
  [[ -f $2/shared.tsv ]] || return 0
  if ((own != $(wc -l <"$1.libs/order"))); then
    printf '%d of %d shared libraries are loaded' "$own" "$(wc -l <"$1.libs/order")"
    return
  fi
  awk -F '\t' 'NR > 1 && ($2 != "DYN" || $3 != "pic") { printf "%s is %s, %s code, and no position-independent library", $1, $2, $3; exit }' "$2/shared.tsv"
}

# _shared_words FOLDER: what shared.tsv says, for notes.tsv.
_shared_words() {
  awk -F '\t' -v name="${1##*/}" '
    NR == 1 { for (i = 1; i <= NF; i++) col[$i] = i; next }
    { n++; plt += $col["plt_entries"]; got += $col["got_bytes"]; tls += $col["tls_get_addr"]; text += $col["text_bytes"] }
    END {
      printf "%d shared libraries, each DYN and position independent, loaded from beside the binary and nowhere else: ", n
      printf "%.0f kB of code, %d PLT entries, %d GOT slots, %d calls of __tls_get_addr (proof/%s/shared.tsv)\n", text / 1000, plt, got / 8, tls, name
    }' "$1/shared.tsv"
}

# _lto_bytes BINARY BUILD: by the linker's map, the bytes of code that the link-time optimiser made, and those that
# came from the objects of DPDK's archives as they were compiled: gcc's are in .ltrans.o, clang's in lto.tmp.
_lto_bytes() {
  "$tools/elfproof" map "$1.map" | awk -F '\t' '
    FILENAME != "-" { name = $0; sub(/.*\/lib/, "", name); sub(/\.a$/, "", name); dpdk[name] = 1; next }
    $2 ~ /(\.ltrans[0-9]*(\.ltrans)?|\.lto)\.o$|^lto\.tmp/ { made += $3 }
    $1 in dpdk { native += $3 }
    END { printf "%d %d\n", made, native }' "$2/archives" -
}

# _lto_contradiction BINARY BUILD: prints that link-time optimisation was asked for and did not happen to all of DPDK.
_lto_contradiction() {
  local made native
  [[ ${variant_of[lto]} == yes && ${variant_of[library]} == static ]] || return 0
  read -r made native < <(_lto_bytes "$1" "$2")
  ((made > 0 && native == 0)) || printf 'no link-time optimisation: %d bytes of code were generated at the link, %d come from the objects as compiled' "$made" "$native"
}

# _lto_words BINARY BUILD FOLDER: for notes.tsv.
_lto_words() {
  local made native
  read -r made native < <(_lto_bytes "$1" "$2")
  printf 'link-time optimisation: %d kB of %d kB of code were generated at the link, %s; nothing of the code in the objects is in the binary, so their relocations and functions are not listed\n' \
    $((made / 1000)) $(($(sed -n 's/^text_bytes=//p' "$3/binary.txt") / 1000)) "$(sed -n 's/^code_model=//p' "$3/binary.txt")"
}

# _binary_sha256 BINARY: of the binary; with shared libraries of all the files, in the form sha256sum prints them.
_binary_sha256() {
  local -a files
  mapfile -t files < <(binary_libraries "$1")
  if [[ ${#files[@]} -eq 0 ]]; then
    sha256sum "$1" | cut -d' ' -f1
  else
    (cd "$1.libs" && sha256sum "../${1##*/}" "${files[@]##*/}") | sha256sum | cut -d' ' -f1
  fi
}

# proof_libraries: elfproof's table of objects on stdin, summed for each library, in the order of the archives.
proof_libraries() {
  awk -F '\t' -v OFS='\t' '
    NR == 1 {
      for (i = 4; $i != "code_model"; i++) { name[i] = $i; last = i }
      model = last + 1
      printf "library\tobjects"
      for (i = 4; i <= last; i++) printf "\t%s", name[i]
      print "\tcode_model"
      next
    }
    {
      if (!($1 in objects)) order[++n] = $1
      objects[$1]++
      # bitcode has "-" for every count
      for (i = 4; i <= last; i++) sum[$1, i] += $i
      if ($model == "none") next
      if (!($1 in code)) code[$1] = $model
      else if (code[$1] != $model) code[$1] = "mixed"
    }
    END {
      for (k = 1; k <= n; k++) {
        printf "%s\t%d", order[k], objects[order[k]]
        for (i = 4; i <= last; i++) printf "\t%d", sum[order[k], i]
        print "\t" ((order[k] in code) ? code[order[k]] : "none")
      }
    }'
}

# _config BUILD: its constants and objects. What is compiled again for a shared library lies in another folder there.
_config() {
  sed 's#\.so[.0-9]*\.p/#.a.p/#; s#/libtmp_rte_#/librte_#' "$1/config" | sort
}

# _without_c_args: how many objects' compile lines lack a word of c_args, and the first of them; nothing when none does.
_without_c_args() {
  [[ -n ${variant_of[c_args]:-} ]] || return 0
  awk -F '\t' -v want="${variant_of[c_args]}" '
    BEGIN { n = split(want, flag, " ") }
    {
      for (i = 1; i <= n; i++) if (!index(" " $3 " ", " " flag[i] " ")) { bad++; if (first == "") first = $1 ": no " flag[i]; break }
    }
    END { if (bad) print bad " of " NR " objects were not compiled with all of c_args (" first ")" }' "$dir/commands.tsv"
}

# _contradiction: prints what of the proof contradicts the data file; nothing when all is as asked.
_contradiction() {
  local c_args_missing
  c_args_missing=$(_without_c_args)
  if [[ $objects_with_flag != "$objects" ]]; then
    printf '%s of %s objects were not compiled with %s last (%s)' "$((objects - objects_with_flag))" "$objects" \
      "${variant_of[pic_flag]}" "$first_without"
  elif [[ -n $c_args_missing ]]; then
    printf '%s' "$c_args_missing"
  elif [[ $model != "$model_asked" ]]; then
    printf 'asked for %s code, got %s' "$model_asked" "$model"
  elif [[ $elf_type != "$elf_asked" ]]; then
    printf 'asked for an %s binary, got %s' "$elf_asked" "$elf_type"
  elif [[ -n $(_shared_contradiction "$binary" "$folder") ]]; then
    _shared_contradiction "$binary" "$folder"
  elif [[ -n $(_lto_contradiction "$binary" "$dir") ]]; then
    _lto_contradiction "$binary" "$dir"
  elif [[ -n $reference ]] && ! cmp -s <(_config "$reference") <(_config "$dir") &&
    # Another build system has constants of its own, and they are listed; in the same one they are a mistake.
    same_mode "$reference" "$dir"; then
    printf 'configured differently from the baseline: %s' "$(diff <(_config "$reference") <(_config "$dir") | sed -n 's/^[<>] //p' | sed -n 1,3p | paste -sd ,)"
  fi
}

# proof_row VARIANT CC DIR BASELINE_DIR BINARY WORK [NAME]: appends the build's row to WORK/builds.tsv and its
# files to WORK/proof/NAME, by default VARIANT-CC. Returns 1, the row saying why, when the proof contradicts the data file.
proof_row() {
  local variant=$1 cc=$2 dir=$3 reference=$4 binary=$5 work=$6 folder=$6/proof/${7:-$1-${2##*/}} release
  local objects objects_with_flag first_without model model_asked elf_type elf_asked reason status=ok cc_path counts
  local -a archives
  variant_load "$variant"
  cc_path=$(identity_value "$dir" cc_path)
  release=$(identity_value "$dir" release)
  mkdir -p "$folder"
  mapfile -t archives < <(sed "s#^#$(archives_root "$dir")/#" "$dir/archives")
  "$tools/elfproof" objects "${archives[@]}" >"$folder/objects.tsv"
  proof_libraries <"$folder/objects.tsv" >"$folder/libraries.tsv"
  "$tools/elfproof" model "${archives[@]}" >"$folder/model.txt"
  "$tools/elfproof" binary "$binary" >"$folder/binary.txt"
  _proof_shared "$binary" "$folder"
  if [[ -f $dir/tree.diff ]]; then
    cp -f "$dir/tree.diff" "$folder/tree.diff"
    proof_note "$variant" "$cc" "$release" "$work" "the tree's own meson files say \`pic: true\`; built from a copy in which they say \`pic: false\`, $(grep -c '^+++ ' "$dir/tree.diff") files changed (proof/${folder##*/}/tree.diff)"
  fi
  [[ $(_binary_value got_uses_left) != - ]] ||
    proof_note "$variant" "$cc" "$release" "$work" 'linked without --emit-relocs, so how many uses of GOT and PLT the linker left is not known'
  [[ ! -f $folder/shared.tsv ]] || proof_note "$variant" "$cc" "$release" "$work" "$(_shared_words "$folder")"
  awk -F '\t' -v OFS='\t' -v want="${variant_of[pic_flag]}" '
    BEGIN { print "object", "pic_flag", "as_asked"; split("-fPIC -fpic -fPIE -fpie -fno-pic -fno-PIC -fno-pie -fno-PIE", known, " "); for (k in known) pic[known[k]] = 1 }
    { n = split($3, word, " "); last = "none"; for (i = 1; i <= n; i++) if (word[i] in pic) last = word[i]; print $1, last, last == want ? "yes" : "no" }' \
    "$dir/commands.tsv" >"$folder/flags.tsv"
  gzip -9 -n -c "$dir/commands.tsv" >"$folder/commands.tsv.gz"
  cp -f "$binary.cmd" "$folder/link.txt"
  [[ ${variant_of[lto]} == no ]] || proof_note "$variant" "$cc" "$release" "$work" "$(_lto_words "$binary" "$dir" "$folder")"
  if [[ -n $reference && $reference != "$dir" ]]; then
    proof_constants "$variant" "${cc##*/}" "$release" "$reference" "$dir" >>"$work/proof/constants.tsv"
    [[ ${variant_of[lto]} == yes ]] || proof_functions "$variant" "${cc##*/}" "$release" "$reference" "$dir" "$folder" >>"$work/proof/inlining.tsv"
  fi
  IFS=$'\t' read -r objects objects_with_flag first_without < <(tail -n 1 "$dir/flags.tsv")
  model=$(sed -n 's/^code_model=\([^ ]*\).*/\1/p' "$folder/model.txt")
  model_asked=$(_model_asked "$cc_path")
  elf_type=$(_binary_value elf_type)
  elf_asked=$(_elf_type_asked "$cc_path")
  reason=$(_contradiction)
  if [[ -n $reason ]]; then
    status='proof failed'
    warn "$variant with ${cc##*/}: $reason; it is shown and not measured"
  fi
  counts=$(awk -F '\t' -v OFS='\t' '
    NR == 1 { for (i = 1; i <= NF; i++) col[$i] = i; next }
    { got += $col["got"]; plt += $col["plt"]; gd += $col["tls_gd"]; ld += $col["tls_ld"]; ie += $col["tls_ie"]; le += $col["tls_le"]; abs += $col["absolute"]; text += $col["text_bytes"] }
    END { print got + 0, plt + 0, gd + 0, ld + 0, ie + 0, le + 0, abs + 0, text + 0 }' "$folder/objects.tsv")
  # What these relocations are of is not in the binary.
  [[ ${variant_of[lto]} == no ]] || counts=$(printf -- '-\t-\t-\t-\t-\t-\t-\t-')
  {
    printf '%s\t' "$variant" "${cc##*/}" "$(identity_value "$dir" cc_version)" "$release" \
      "$status" "${reason:--}" - "$(identity_value "$dir" mode)" "${variant_of[pic_flag]}" "$objects" "$objects_with_flag" "$model_asked" "$model" "$elf_type" \
      "$counts" "$(_binary_sha256 "$binary")"
    printf '%s\n' "$binary"
  } >>"$work/builds.tsv"
  [[ $status == ok ]]
}
