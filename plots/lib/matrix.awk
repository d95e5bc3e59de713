# SPDX-License-Identifier: BSD-3-Clause
# The cross-check: each variant with each DPDK release and compiler, a cell a row of the result. Used by text,
# page and chart, so they agree.
#
#   matrix_variants matrix_variant[v]   the rows; the columns are the groups of result.awk
#   cell_kind[v, g]   slower faster same undecided baseline none, or empty when nothing was asked for
#   cell_effect[v, g] cell_interval[v, g] cell_instructions[v, g] cell_short[v, g]   as they are shown, or empty
#   cell_note[v, g]   number of its reason; reasons reason[n]

# matrix_load(): 0 when a cross-check would say no more than the table of results.
function matrix_load(    r, v, g, others, at) {
  matrix_variants = reasons = 0
  matrix_columns = groups
  for (r = 1; r <= rows; r++) {
    if (!(row_variant[r] in at)) {
      at[row_variant[r]] = ++matrix_variants
      matrix_variant[matrix_variants] = row_variant[r]
      others += row_variant[r] != baseline
    }
    v = at[row_variant[r]]
    g = row_group[r]
    # A variant that failed half way has a second row, which is its reason.
    if ((v, g) in cell_kind) note_reason(v, g, failure_words(row_build[r]))
    else cell_load(v, g, r)
  }
  return measured && others && (releases > 1 || (groups > 1 && others > 1))
}

function cell_load(v, g, r,    e) {
  e = row_effect[r]
  cell_kind[v, g] = "none"
  if (row_failed[r]) {
    cell_short[v, g] = short_status(BUILD[row_build[r], "status"])
    note_reason(v, g, failure_words(row_build[r]))
  } else if (!e) {
    cell_short[v, g] = "not run"
    note_reason(v, g, "built, not measured")
  } else if (EFFECT[e, "verdict"] == "invalid") {
    cell_short[v, g] = "no slice"
    note_reason(v, g, "no valid slice" (known(EFFECT[e, "note"]) ? ": " EFFECT[e, "note"] : ""))
  } else if (row_variant[r] == baseline) {
    cell_kind[v, g] = "baseline"
    cell_short[v, g] = "baseline"
  } else if (!is_compared(r)) {
    cell_short[v, g] = "alone"
    note_reason(v, g, "nothing to compare with: " (known(EFFECT[e, "note"]) ? EFFECT[e, "note"] : baseline " was not measured"))
  } else {
    cell_kind[v, g] = cell_short[v, g] = EFFECT[e, "verdict"]
    cell_effect[v, g] = difference(e)
    cell_interval[v, g] = interval(e)
  }
  if (e && !row_failed[r]) cell_instructions[v, g] = instructions_of(r, g)
}

function short_status(status) {
  if (status == "source failed") return "no source"
  if (status == "build failed") return "not built"
  if (status == "link failed") return "not linked"
  if (status == "fails as expected") return "as expected"
  return status == "proof failed" ? "no proof" : "not run"
}

function note_reason(v, g, what) {
  if (!(what in reason_of)) {
    reason[++reasons] = what
    reason_of[what] = reasons
  }
  cell_note[v, g] = reason_of[what]
}

# instructions_of(r, g): a packet's, exactly where they were traced, else counted by the PMU; empty when neither.
function instructions_of(r, g,    i) {
  if (!localised) return ("instructions" in event_known) && event_text(r, "instructions") != "-" ? event_text(r, "instructions") : ""
  if ((r, "instructions_per_packet") in path_variant) return fixed(path_variant[r, "instructions_per_packet"], 1)
  if (row_variant[r] != baseline) return ""
  for (i = 1; i <= rows; i++)
    if (row_group[i] == g && ((i, "instructions_per_packet") in path_baseline)) return fixed(path_baseline[i, "instructions_per_packet"], 1)
  return ""
}

function any_instructions(    k) {
  for (k in cell_instructions) if (cell_instructions[k] != "") return 1
  return 0
}

# instructions_words(): what the figure is; empty when no cell has one.
function instructions_words() {
  if (!any_instructions()) return ""
  return "instructions per packet, " (localised ? "single-stepped as built" : "counted in user mode")
}

# cell_letter(v, g): what tells the kinds apart without colour.
function cell_letter(v, g,    k) {
  k = cell_kind[v, g]
  if (k == "slower") return "S"
  if (k == "faster") return "F"
  if (k == "same") return "="
  if (k == "undecided") return "?"
  return k == "baseline" ? "B" : (k == "none" ? "x" : "")
}

# release_ends(g): g is the last column of its release.
function release_ends(g) { return g == groups || group_dpdk[g + 1] != group_dpdk[g] }
