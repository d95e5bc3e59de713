# SPDX-License-Identifier: BSD-3-Clause
# The tested matrix as Markdown, from the sorted rows of standing.awk.
#   awk -v rows=FILE -v named=FILE -f common.awk -f tested.awk

BEGIN {
  FS = "\t"
  print "# Tested matrix"
  print ""
  print "Made by `plots/tested` from the results named below; change it by measuring again, never by hand. One row is one"
  print "DPDK release, compiler, variant and device, by the newest result that has it."
  print ""
  print "| DPDK | compiler | variant | device | built | proof | forwarded | verdict | against | measured | mppsdiff |"
  print "| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |"
  while ((getline line < rows) > 0) {
    split(line, f, "\t")
    key = f[1] SUBSEP f[2] SUBSEP f[3] SUBSEP f[4]
    # Of one key the rows come by date.
    if (last_key != "" && key != last_key) row(last)
    last_key = key
    last = line
  }
  if (last_key != "") row(last)
  print ""
  print "Built: compiled and linked. Proof: the code model of the objects and the type of the binary, as found in them and as"
  print "the variant asks for; a build that contradicts its variant is not forwarded with. Forwarded: packets went through the"
  print "device, none was dropped unless it says so. Verdict: cycles per packet against the variant beside it, with the 95 %"
  print "interval; plus is slower."
  if (reasons) print ""
  for (i = 1; i <= reasons; i++) print i ". " md(reason[i])
  print ""
  print "## Results"
  print ""
  while ((getline line < named) > 0) {
    split(line, f, "\t")
    print "- `" code(f[1]) "`, " md(substr(f[2], 1, 10)) ": " md(f[3]) "; mppsdiff " md(f[4]) ", commit " md(f[5])
  }
}

# md(s): data cannot become markup.
function md(s) {
  s = html(ascii(s))
  gsub(/\|/, "\\&#124;", s)
  gsub(/[`*_[]/, "\\\\&", s)
  return s
}

function code(s) {
  s = ascii(s)
  gsub(/`/, "'", s)
  return s
}

function row(line,    f, note) {
  split(line, f, "\t")
  if (f[12] != "-") {
    if (!(f[12] in reason_of)) { reason[++reasons] = f[12]; reason_of[f[12]] = reasons }
    note = " (" reason_of[f[12]] ")"
  }
  # The reason stands beside the first thing that did not go as asked.
  if (note != "" && f[6] != "yes") { f[6] = f[6] note; note = "" }
  if (note != "" && f[7] ~ /^no/) { f[7] = f[7] note; note = "" }
  if (note != "" && f[8] == "no") { f[8] = f[8] note; note = "" }
  f[9] = f[9] note
  print "| " md(f[1]) " | " md(f[2]) " | " md(f[3]) " | " md(f[4]) " | " md(f[6]) " | " md(f[7]) " | " md(f[8]) " | " md(f[9]) " | " md(f[10]) " | " \
    md(substr(f[5], 1, 10)) " | " md(f[11]) " |"
}
