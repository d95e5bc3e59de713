# SPDX-License-Identifier: BSD-3-Clause
# Executed instructions of one function from `objdump -dr --no-show-raw-insn`, with symbols in place of
# addresses. First input: "address<TAB>count" of the executed ones; second: objdump's output, split at tabs.

# The lines are kept until the whole function is known: jump targets are numbered by address.
FNR == NR { executed[$1] = $2; next }

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
  count[lines] = executed[address]
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
    else { target[lines] = to; wanted[to] = 1 }
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

# Addresses of one function have the same length or grow by a digit; compared as numbers of that length.
function below(a, b) { return length(a) != length(b) ? length(a) < length(b) : a < b }

END {
  for (to in wanted) order[++n] = to
  for (i = 2; i <= n; i++)
    for (j = i; j > 1 && below(order[j], order[j - 1]); j--) { swap = order[j]; order[j] = order[j - 1]; order[j - 1] = swap }
  for (i = 1; i <= n; i++) rank[order[i]] = i
  for (i = 1; i <= lines; i++) printf "%7d  %s\n", count[i], target[i] == "" ? line[i] : sprintf("%-6s -> %d", line[i], rank[target[i]])
}
