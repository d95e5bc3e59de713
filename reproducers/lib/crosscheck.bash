# shellcheck shell=bash
# SPDX-License-Identifier: BSD-3-Clause
# shellcheck disable=SC2034,SC2154 # variables of scenarios/run.bash, which sources it
#
# The same variants through testpmd: what proves its binary, and whether it finds the same effect. Needs common.bash,
# variant.bash and proof.bash.

# proof_testpmd VARIANT CC RELEASE BUILD BINARY FOLDER WORK: what testpmd's binary is, as FOLDER/testpmd.txt and
# FOLDER/testpmd-link.txt, and a row of notes.tsv. Its archives are those that the build's row is about. 1, and
# PROOF_REASON, when it is not what the variant asks for.
proof_testpmd() {
  local asked got folder=$6 model
  variant_load "$1"
  "$tools/elfproof" binary "$5" >"$folder/testpmd.txt"
  cp -f "$5.cmd" "$folder/testpmd-link.txt"
  got=$(sed -n 's/^elf_type=//p' "$folder/testpmd.txt")
  model=$(sed -n 's/^code_model=//p' "$folder/testpmd.txt")
  asked=$(_elf_type_asked "$(identity_value "$4" cc_path)")
  proof_note "$1" "$2" "$3" "$7" "testpmd, linked from meson's objects with meson's arguments: $got, $model code (proof/${folder##*/}/testpmd.txt)"
  PROOF_REASON="asked for an $asked binary, got $got"
  [[ $got == "$asked" ]]
}

# cross_check: PART/forwarders.tsv, a row a variant, compiler and release: the effect by the kit's forwarder and by
# testpmd, and whether they agree: whether the two intervals have a point in common.
cross_check() {
  local file=$part/testpmd
  if ! awk -F '\t' -v baseline="$baseline" '$4 == baseline { found = 1 } END { exit !found }' "$file/slices.tsv" 2>/dev/null; then
    warnings+=("no cross-check with testpmd: its $baseline was not measured")
    return
  fi
  "$tools/stats" --baseline "$baseline" --margin "$margin" --seed "$seed" --looks "$looks" --look "$look" \
    --units "$file/units.tsv" --out "$file/effects.tsv" "$file/slices.tsv"
  awk -F '\t' -v OFS='\t' -v testpmd="$file/effects.tsv" '
    function key() { return $col["variant"] SUBSEP $col["cc"] SUBSEP $col["dpdk"] }
    function known(low, high) { return low != "" && low != "-" && high != "" && high != "-" }
    FNR == 1 { for (i = 1; i <= NF; i++) col[$i] = i }
    FNR == 1 && FILENAME != testpmd { print "variant", "cc", "dpdk", "kit_ratio", "kit_low", "kit_high", "testpmd_ratio", "testpmd_low", "testpmd_high", "agree" }
    FNR == 1 { next }
    FILENAME == testpmd { ratio[key()] = $col["ratio"]; low[key()] = $col["ratio_low"]; high[key()] = $col["ratio_high"]; next }
    $col["verdict"] == "baseline" { next }
    {
      k = key()
      if (!(k in ratio)) { ratio[k] = low[k] = high[k] = "-" }
      agree = "-"
      if (known($col["ratio_low"], $col["ratio_high"]) && known(low[k], high[k]))
        agree = $col["ratio_low"] + 0 <= high[k] + 0 && low[k] + 0 <= $col["ratio_high"] + 0 ? "yes" : "no"
      print $col["variant"], $col["cc"], $col["dpdk"], $col["ratio"], $col["ratio_low"], $col["ratio_high"], ratio[k], low[k], high[k], agree
    }' "$file/effects.tsv" "$part/effects.tsv" >"$part/forwarders.tsv"
}
