# SPDX-License-Identifier: BSD-3-Clause
# A result as GitHub-flavoured Markdown, for the step summary of a continuous integration.
#   awk -v dir=CHECKED -f common.awk -f result.awk -f parts.awk -f summary.awk

BEGIN {
  result_load(dir)
  find_warnings()
  print "### mppsdiff: " plain(M["question"])
  print ""
  for (g = 1; g <= groups && measured; g++) print "- **" plain(group_label[g]) "**: " plain(answer(g))
  if (!measured) print "No variant could be built and measured."
  for (i = 0; i < M["variants.n"] + 0; i++) if (known(M["variants." i ".given"])) print "- " plain(M["variants." i ".name"] ": " M["variants." i ".title"])
  n = part_answers(list)
  for (i = 1; i <= n; i++) print "- " plain(list[i])
  print ""
  print "| variant | cc | DPDK | difference | 95 % interval | verdict |"
  print "| --- | --- | --- | ---: | ---: | --- |"
  for (r = 1; r <= rows; r++) line(r)
  print ""
  for (i = 1; i <= warnings; i++) if (warning_kind[i] == "Warning") print "> **Warning:** " plain(warning[i]) "\n"
  print plain(add(or_dash(M["machine.cpu"]), M["device.name"]) ", " date_words()) "."
}

END { if (exit_status) exit exit_status }

# plain(s): data cannot become markup.
function plain(s) {
  s = html(ascii(s))
  gsub(/\|/, "\\&#124;", s)
  gsub(/[`*_[]/, "\\\\&", s)
  return s
}

function line(r,    e) {
  e = row_effect[r]
  print "| " plain(row_variant[r]) " | " plain(group_cc[row_group[r]]) " | " plain(group_dpdk[row_group[r]]) " | " \
    (is_compared(r) ? difference(e) " %" : "") " | " (is_compared(r) ? interval(e) " %" : "") " | " \
    plain(row_failed[r] ? failure_words(row_build[r]) : (e ? EFFECT[e, "verdict"] : "not measured")) " |"
}
