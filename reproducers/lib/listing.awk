# SPDX-License-Identifier: BSD-3-Clause
# Executed instructions of one function from `objdump -dr --no-show-raw-insn`, in the order in which they
# were executed first, with symbols in place of addresses: so two builds can be compared line by line
# although the compiler laid them out differently. First input: address, count and first step of each;
# second: objdump's output. Both are split at tabs.

# The lines are kept until the whole function is known: jump targets are numbered in that order.
FNR == NR { executed[$1] = $2; first[$1] = $3; next }

# "  401234:<TAB>mov    %rax,%rbx"
/^ *[0-9a-f]+:\t/ {
  address = $1
  gsub(/[ :]/, "", address)
  current = 0
  if (!(address in executed)) next
  text = $2
  sub(/ +$/, "", text)
  sub(/ +#.*$/, "", text)
  current = ++lines
  place[lines] = address
  # A jump or call: "jne    401250 <name+0x20>"; within the function only the number stays.
  if (match(text, /^(j[a-z]+|call|jmp)[a-z]* +[0-9a-f]+ </)) {
    word = text
    sub(/^[a-z]+ +/, "", word)
    to = word
    sub(/ .*/, "", to)
    name = word
    sub(/^[^<]*</, "", name)
    sub(/>$/, "", name)
    sub(/ .*/, "", text)
    if (text ~ /^call/) { sub(/\+0x[0-9a-f]+$/, "", name); text = sprintf("%-6s %s", text, name) }
    else target[lines] = to
  }
  line[lines] = text
  next
}

# "\t\t\t401237: R_X86_64_PC32\tname-0x4"
/R_X86_64_/ && current {
  kind = $0
  sub(/.*R_X86_64_/, "", kind)
  symbol = kind
  sub(/[ \t].*/, "", kind)
  sub(/^[^ \t]*[ \t]+/, "", symbol)
  sub(/[+-]0x[0-9a-f]+$/, "", symbol)
  # The longest number of the instruction is what the relocation put there.
  rest = line[current]
  best = ""
  while (match(rest, /-?0x[0-9a-f]+/)) {
    if (RLENGTH > length(best)) best = substr(rest, RSTART, RLENGTH)
    rest = substr(rest, RSTART + RLENGTH)
  }
  if (best != "" && line[current] !~ /^(call|j)/) {
    at = index(line[current], best)
    line[current] = substr(line[current], 1, at - 1) "&" substr(line[current], at + length(best))
  }
  if (line[current] !~ /^j/) line[current] = line[current] " ; " kind (line[current] ~ /^call/ ? "" : " " symbol)
}

END {
  for (i = 1; i <= lines; i++) {
    for (j = i; j > 1 && first[place[order[j - 1]]] + 0 > first[place[i]] + 0; j--) order[j] = order[j - 1]
    order[j] = i
  }
  for (i = 1; i <= lines; i++) if (target[i] != "") wanted[target[i]] = 1
  for (i = 1; i <= lines; i++) if (place[order[i]] in wanted) number[place[order[i]]] = ++n
  for (i = 1; i <= lines; i++) {
    j = order[i]
    text = line[j]
    if (target[j] != "") text = sprintf("%-6s -> %s", text, (target[j] in number) ? number[target[j]] : "off the path")
    printf "%7d %4s %s\n", executed[place[j]], (place[j] in number) ? number[place[j]] ":" : "", text
  }
}
