# SPDX-License-Identifier: BSD-3-Clause
# JUnit XML of a result for continuous integration: a test case a row that is compared. It fails when
# the row is slower beyond the gate; without a gate, when its verdict is slower. A build that failed is an
# error unless it was expected to; where the interval does not tell, the case is skipped and says what would decide it.
#   awk -v dir=CHECKED -v gate=PERCENT -f common.awk -f result.awk -f parts.awk -f junit.awk

BEGIN {
  result_load(dir)
  for (r = 1; r <= rows; r++) count_case(r)
  name = html(ascii("mppsdiff " M["scenario.name"]))
  print "<?xml version=\"1.0\" encoding=\"UTF-8\"?>"
  print "<testsuites>"
  print "<testsuite name=\"" name "\" tests=\"" cases + 0 "\" failures=\"" failed + 0 "\" errors=\"" errors + 0 "\" skipped=\"" \
    skipped + 0 "\" timestamp=\"" html(ascii(M["date_utc"])) "\">"
  for (r = 1; r <= rows; r++) write_case(r)
  print "</testsuite>"
  print "</testsuites>"
}

END { if (exit_status) exit exit_status }

# kind_of(r): failure, error, skipped, passed, or empty for a row that is no case.
function kind_of(r,    e) {
  e = row_effect[r]
  if (row_failed[r]) return as_expected(row_build[r]) ? "passed" : "error"
  if (!is_compared(r)) return e && EFFECT[e, "verdict"] == "invalid" ? "error" : ""
  if (EFFECT[e, "verdict"] == "slower" && (gate == "" || EFFECT[e, "ratio_low"] > 1 + gate / 100)) return "failure"
  if (gate == "") return EFFECT[e, "verdict"] == "undecided" ? "skipped" : "passed"
  return EFFECT[e, "verdict"] ~ /slower|undecided/ && EFFECT[e, "ratio_high"] > 1 + gate / 100 ? "skipped" : "passed"
}

function count_case(r,    k) {
  k = kind_of(r)
  if (k == "") return
  cases++
  if (k == "failure") failed++
  if (k == "error") errors++
  if (k == "skipped") skipped++
}

function plain(s) { return html(ascii(s)) }

function write_case(r,    k, e, words) {
  k = kind_of(r)
  if (k == "") return
  e = row_effect[r]
  if (row_failed[r]) words = failure_words(row_build[r])
  else if (k == "error") words = "no valid slice"
  else words = verdict_words(EFFECT[e, "verdict"]) ": " difference_and_interval(e) (known(EFFECT[e, "note"]) ? "; " EFFECT[e, "note"] : "")
  print "<testcase classname=\"" name "\" name=\"" plain(given_words(row_variant[r]) " " group_cc[row_group[r]] " DPDK " group_dpdk[row_group[r]]) "\">"
  if (k == "passed") print "<system-out>" plain(words) "</system-out>"
  else print "<" k " message=\"" plain(words) "\"/>"
  print "</testcase>"
}
