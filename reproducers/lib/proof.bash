# shellcheck shell=bash
# SPDX-License-Identifier: BSD-3-Clause
# shellcheck disable=SC2034,SC2154 # variables shared with the scripts that source it
#
# Proof before speed: what a build really is, against what its data file asks for. Each build is a row
# of builds.tsv. Needs common.bash and variant.bash; the facts come from elfproof and the build's own
# compile lines, never from the flags asked for.

proof_header() {
  printf '%s\t' variant cc cc_version dpdk status reason log flag_asked objects objects_with_flag code_model_asked \
    code_model elf_type got plt tls_gd tls_ld tls_ie tls_le absolute text_bytes sha256
  printf 'binary\n'
}

proof_failed() { # VARIANT CC DPDK STATUS REASON LOG: the row of a build that has no binary to measure
  local version=-
  version=$(PATH=$(path_without_ccache) "$2" --version 2>/dev/null | sed -n 1p) || true
  printf '%s\t' "$1" "$2" "${version:--}" "$3" "$4" "$5" "$6" - - - - - - - - - - - - - - -
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
# defined, "(empty)" defined without a value.
proof_constants() {
  awk -v OFS='\t' -v variant="$1" -v cc="$2" -v dpdk="$3" -v from="$4/config" -v from_commands="$4/commands.tsv" -v to="$5/config" -v to_commands="$5/commands.tsv" '
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
    function compare(   i) {
      for (i = 1; i <= names; i++) if (of(1, order[i]) != of(2, order[i])) print variant, cc, dpdk, order[i], of(1, order[i]), of(2, order[i]) | "LC_ALL=C sort"
      close("LC_ALL=C sort")
    }'
}

proof_functions_header() {
  printf 'variant\tcc\tdpdk\tfunctions_differ\tinlined_in_baseline\tinlined_in_variant\tlibraries_not_compared\n'
}

# proof_functions VARIANT CC RELEASE BASELINE_DIR DIR FOLDER: the functions that differ from the baseline's, library by
# library, as FOLDER/compare.tsv (a is the baseline), and the row of inlining.tsv that counts them. A library that
# cannot be compared, like one of bitcode, is a line of FOLDER/not-compared.txt.
proof_functions() {
  local archive name skipped=0 root_a root_b
  root_a=$(objects_root "$4") root_b=$(objects_root "$5")
  : >"$6/not-compared.txt"
  printf 'library\tobject\tfunction\tbytes_a\tbytes_b\tdifference_bytes\tin\tcalls_a\tcalls_b\tinlined_in\n' >"$6/compare.tsv"
  while IFS= read -r archive; do
    name=${archive##*/lib}
    name=${name%.a}
    if "$tools/elfproof" compare "$root_a/$archive" "$root_b/$archive" >"$6/compare.new" 2>>"$6/not-compared.txt"; then
      awk -v OFS='\t' -v library="$name" 'NR > 1 { print library, $0 }' "$6/compare.new" >>"$6/compare.tsv"
    else
      skipped=$((skipped + 1))
    fi
  done <"$5/archives"
  rm -f "$6/compare.new"
  [[ -s $6/not-compared.txt ]] || rm -f "$6/not-compared.txt"
  awk -F '\t' -v OFS='\t' -v variant="$1" -v cc="$2" -v dpdk="$3" -v skipped="$skipped" '
    NR > 1 { n[$10]++ }
    END { print variant, cc, dpdk, NR - 1, n["a"] + 0, n["b"] + 0, skipped }' "$6/compare.tsv"
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

# _contradiction: prints what of the proof contradicts the data file; nothing when all is as asked.
_contradiction() {
  if [[ $objects_with_flag != "$objects" ]]; then
    printf '%s of %s objects were not compiled with %s last (%s)' "$((objects - objects_with_flag))" "$objects" \
      "${variant_of[pic_flag]}" "$first_without"
  elif [[ $model != "$model_asked" ]]; then
    printf 'asked for %s code, got %s' "$model_asked" "$model"
  elif [[ $elf_type != "$elf_asked" ]]; then
    printf 'asked for an %s binary, got %s' "$elf_asked" "$elf_type"
  elif [[ -n $reference ]] && ! cmp -s "$reference/config" "$dir/config" &&
    # Another build system has constants of its own, and they are listed; in the same one they are a mistake.
    [[ $(sed -n 's/^mode=//p' "$reference/identity") == "$(sed -n 's/^mode=//p' "$dir/identity")" ]]; then
    printf 'configured differently from the baseline: %s' "$(diff "$reference/config" "$dir/config" | sed -n 's/^[<>] //p' | sed -n 1,3p | paste -sd ,)"
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
  mapfile -t archives < <(sed "s#^#$(objects_root "$dir")/#" "$dir/archives")
  "$tools/elfproof" objects "${archives[@]}" >"$folder/objects.tsv"
  proof_libraries <"$folder/objects.tsv" >"$folder/libraries.tsv"
  "$tools/elfproof" model "${archives[@]}" >"$folder/model.txt"
  "$tools/elfproof" binary "$binary" >"$folder/binary.txt"
  awk -F '\t' -v OFS='\t' -v want="${variant_of[pic_flag]}" '
    BEGIN { print "object", "pic_flag", "as_asked"; split("-fPIC -fpic -fPIE -fpie -fno-pic -fno-PIC -fno-pie -fno-PIE", known, " "); for (k in known) pic[known[k]] = 1 }
    { n = split($3, word, " "); last = "none"; for (i = 1; i <= n; i++) if (word[i] in pic) last = word[i]; print $1, last, last == want ? "yes" : "no" }' \
    "$dir/commands.tsv" >"$folder/flags.tsv"
  gzip -9 -n -c "$dir/commands.tsv" >"$folder/commands.tsv.gz"
  cp -f "$binary.cmd" "$folder/link.txt"
  if [[ -n $reference && $reference != "$dir" ]]; then
    proof_constants "$variant" "${cc##*/}" "$release" "$reference" "$dir" >>"$work/proof/constants.tsv"
    proof_functions "$variant" "${cc##*/}" "$release" "$reference" "$dir" "$folder" >>"$work/proof/inlining.tsv"
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
  {
    printf '%s\t' "$variant" "${cc##*/}" "$(identity_value "$dir" cc_version)" "$release" \
      "$status" "${reason:--}" - "${variant_of[pic_flag]}" "$objects" "$objects_with_flag" "$model_asked" "$model" "$elf_type" \
      "$counts" "$(sha256sum "$binary" | cut -d' ' -f1)"
    printf '%s\n' "$binary"
  } >>"$work/builds.tsv"
  [[ $status == ok ]]
}
