# SPDX-License-Identifier: BSD-3-Clause
# Reads one TSV of a result strictly and writes the columns asked for, in the order asked for.
#   TSV_NAME=FILE awk -v columns='variant:word ratio:positive ...' -f check.awk <FILE
# Columns beyond those are left out. Prints what is wrong, in one line, on stderr and exits 2.
# Kinds: word, text, count, whole, number, positive, flag, and verdict/status/mode/agree/level/eventstatus with their own lists; a
# question mark after the kind allows "-" for a missing value, and two of them a missing column as well: results of
# earlier versions of the kit lack it.
BEGIN {
  FS = OFS = "\t"
  wanted = split(columns, spec, " ")
  for (i = 1; i <= wanted; i++) {
    split(spec[i], part, ":")
    column[i] = part[1]
    kind[i] = part[2]
    absent[i] = sub(/[?][?]$/, "", kind[i])
    optional[i] = sub(/[?]$/, "", kind[i]) || absent[i]
  }
}

function bad(what) {
  # A carriage return or an escape sequence in the data must not reach the terminal.
  gsub(/[^ -~]/, "?", what)
  printf "%s%s\n", ENVIRON["TSV_NAME"], what > "/dev/stderr"
  failed = 1
  exit 2
}

function fits(value, k) {
  if (k == "word") return value ~ /^[^ ]+$/
  if (k == "text") return 1
  if (k == "count") return value ~ /^[0-9]+$/
  if (k == "whole") return value ~ /^-?[0-9]+$/
  if (k == "level") return value ~ /^(whole|libraries|library|object|rest|interaction)$/
  if (k == "flag") return value ~ /^[01]$/
  if (k == "verdict") return value ~ /^(slower|faster|same|undecided|baseline|invalid)$/
  if (k == "eventstatus") return value ~ /^(counted|absent|refused|multiplexed|failed)$/
  if (k == "status") return value ~ /^(ok|source failed|build failed|proof failed|link failed|run failed|fails as expected)$/
  if (k == "agree") return value ~ /^(yes|no)$/
  if (k == "mode") return value ~ /^(meson|make|replayed)$/
  if (value !~ /^[+-]?([0-9]+[.]?[0-9]*|[.][0-9]+)([eE][+-]?[0-9]+)?$/) return 0
  return k == "number" || value + 0 > 0
}

NR == 1 {
  fields = NF
  for (i = 1; i <= NF; i++) {
    if ($i in at) bad(": the header names the column '" $i "' twice")
    at[$i] = i
  }
  line = ""
  for (i = 1; i <= wanted; i++) {
    if (!(column[i] in at) && !absent[i]) bad(": the header lacks the column '" column[i] "'")
    line = line (i > 1 ? OFS : "") column[i]
  }
  print line
  next
}

NF != fields { bad(" line " NR ": " NF " fields, but the header has " fields) }

{
  line = ""
  for (i = 1; i <= wanted; i++) {
    value = (column[i] in at) ? $at[column[i]] : "-"
    if (!(optional[i] && (value == "-" || value == "")) && !fits(value, kind[i]))
      bad(" line " NR ": column " column[i] ": '" value "' is not a " kind[i])
    line = line (i > 1 ? OFS : "") (optional[i] && value == "" ? "-" : value)
  }
  print line
}

END { if (!failed && NR == 0) bad(": the file is empty") }
