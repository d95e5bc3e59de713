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

# _contradiction: prints what of the proof contradicts the data file; nothing when all is as asked.
_contradiction() {
  if [[ $objects_with_flag != "$objects" ]]; then
    printf '%s of %s objects were not compiled with %s last (%s)' "$((objects - objects_with_flag))" "$objects" \
      "${variant_of[pic_flag]}" "$first_without"
  elif [[ $model != "$model_asked" ]]; then
    printf 'asked for %s code, got %s' "$model_asked" "$model"
  elif [[ $elf_type != "$elf_asked" ]]; then
    printf 'asked for an %s binary, got %s' "$elf_asked" "$elf_type"
  elif [[ -n $reference ]] && ! cmp -s "$reference/config" "$dir/config"; then
    printf 'configured differently from the baseline: %s' "$(diff "$reference/config" "$dir/config" | sed -n 's/^[<>] //p' | sed -n 1,3p | paste -sd ,)"
  fi
}

# proof_row VARIANT CC DIR BASELINE_DIR BINARY WORK: appends the build's row to WORK/builds.tsv and its files to
# WORK/proof/VARIANT-CC. Returns 1, the row saying why, when the proof contradicts the data file.
proof_row() {
  local variant=$1 cc=$2 dir=$3 reference=$4 binary=$5 work=$6 folder=$6/proof/$1-${2##*/}
  local objects objects_with_flag first_without model model_asked elf_type elf_asked reason status=ok cc_path counts
  local -a archives
  variant_load "$variant"
  cc_path=$(sed -n 's/^cc_path=//p' "$dir/identity")
  mkdir -p "$folder"
  mapfile -t archives < <(sed "s#^#$dir/meson/#" "$dir/archives")
  "$tools/elfproof" objects "${archives[@]}" >"$folder/objects.tsv"
  "$tools/elfproof" model "${archives[@]}" >"$folder/model.txt"
  "$tools/elfproof" binary "$binary" >"$folder/binary.txt"
  gzip -9 -n -c "$dir/commands.tsv" >"$folder/commands.tsv.gz"
  cp -f "$binary.cmd" "$folder/link.txt"
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
    printf '%s\t' "$variant" "${cc##*/}" "$(sed -n 's/^cc_version=//p' "$dir/identity")" "$(sed -n 's/^release=//p' "$dir/identity")" \
      "$status" "${reason:--}" - "${variant_of[pic_flag]}" "$objects" "$objects_with_flag" "$model_asked" "$model" "$elf_type" \
      "$counts" "$(sha256sum "$binary" | cut -d' ' -f1)"
    printf '%s\n' "$binary"
  } >>"$work/builds.tsv"
  [[ $status == ok ]]
}
