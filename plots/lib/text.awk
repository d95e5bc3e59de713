# SPDX-License-Identifier: BSD-3-Clause
# The text report: at most 72 columns of plain ASCII, to paste into a mail.
#   awk -v dir=CHECKED -f common.awk -f result.awk -f text.awk

BEGIN {
  WIDTH = 72
  FUNCTIONS_MOST = 6
  result_load(dir)
  find_warnings()
  find_facts()
  write_head()
  write_answer()
  write_warnings()
  write_facts()
  write_commands()
  write_results()
  write_matrix()
  write_forwarders()
  write_plot()
  write_as_built()
  write_noise()
  write_counters()
  write_proof()
  write_parts()
  write_reproduce()
  write_not_measured()
}

END { if (exit_status) exit exit_status }

function heading(s) {
  out("")
  out(s)
  out(repeat("-", length(s)))
}

# command(s): a shell command; lines end in a backslash, and the result can be pasted. A word
# longer than a line is cut there, and goes on in the first column, as the shell wants it.
function command(s,    n, i, words, line, room) {
  n = split(s, words, " ")
  line = "  "
  for (i = 1; i <= n; i++) {
    if (length(line) > 4 && length(line words[i]) > WIDTH - 2) {
      out(line "\\")
      line = "    "
    }
    while (length(line words[i]) > WIDTH - 2) {
      room = WIDTH - 1 - length(line)
      out_raw(line substr(words[i], 1, room) "\\")
      words[i] = substr(words[i], room + 1)
      line = ""
    }
    line = line words[i] " "
  }
  out(line)
}

function out_raw(s) { print ascii(s) }

# --- tables ----------------------------------------------------------------------------------

# table_begin: forgets the table; then table_column, table_row and table_write.
function table_begin() {
  t_columns = t_rows = 0
  t_release = ""
}

# table_column(head, align, most): most is the widest the column may become; 0: as wide as needed.
function table_column(head, align, most) {
  t_head[++t_columns] = head
  t_align[t_columns] = align
  t_most[t_columns] = most
}

# table_row(cells): cells separated by tabs. A cell beginning with ">" takes all columns from there.
function table_row(cells) { t_row[++t_rows] = cells }

# table_release(r): with several DPDK releases, a line before the first row of each.
function table_release(r,    dpdk) {
  dpdk = group_dpdk[row_group[r]]
  if (releases > 1 && dpdk != t_release) table_row(">DPDK " dpdk ":")
  t_release = dpdk
}

function table_write(    i, j, n, cells, total) {
  for (j = 1; j <= t_columns; j++) t_width[j] = length(t_head[j])
  for (i = 1; i <= t_rows; i++) {
    n = split(t_row[i], cells, "\t")
    for (j = 1; j <= n; j++) {
      if (substr(cells[j], 1, 1) == ">") break
      if (length(cells[j]) > t_width[j]) t_width[j] = length(cells[j])
    }
  }
  total = 0
  for (j = 1; j <= t_columns; j++) {
    if (t_most[j] && t_width[j] > t_most[j]) t_width[j] = t_most[j]
    total += t_width[j] + (j > 1)
  }
  # Too wide all the same: the first column, which holds names, gives way.
  if (total > WIDTH) t_width[1] -= total - WIDTH
  else for (j = 2; j <= t_columns && total < WIDTH - 1; j++) { t_gap[j] = 2; total++ }
  table_head()
  for (i = 1; i <= t_rows; i++) table_line(t_row[i])
  for (j in t_gap) delete t_gap[j]
}

function table_head(    j, s, rule) {
  for (j = 1; j <= t_columns; j++) {
    s = s (j > 1 ? "\t" : "") t_head[j]
    rule = rule (j > 1 ? "\t" : "") repeat("-", t_width[j])
  }
  table_line(s)
  table_line(rule)
}

function table_gap(j) { return j > 1 ? repeat(" ", (j in t_gap) ? t_gap[j] : 1) : "" }

function table_line(row,    cells, n, j, k, most, lines, piece, cell, count, rest, s, from) {
  n = split(row, cells, "\t")
  most = 1
  for (j = 1; j <= n; j++) {
    if (substr(cells[j], 1, 1) == ">") {
      from = j
      rest = substr(cells[j], 2)
      s = 0
      for (k = 1; k < j; k++) s += t_width[k] + length(table_gap(k + 1))
      cell = WIDTH - s
      count[j] = wrap(rest, cell, lines)
      n = j
    } else {
      count[j] = wrap(cells[j], t_width[j], lines)
    }
    for (k = 1; k <= count[j]; k++) piece[j, k] = lines[k]
    if (count[j] > most) most = count[j]
  }
  for (k = 1; k <= most; k++) {
    s = ""
    for (j = 1; j <= n; j++) {
      cell = k <= count[j] ? piece[j, k] : ""
      s = s table_gap(j)
      if (j == from) s = s cell
      else s = s (t_align[j] == "r" ? pad_left(cell, t_width[j]) : pad(cell, t_width[j]))
    }
    out(s)
  }
}

# --- the parts -------------------------------------------------------------------------------

# write_head: the three lines that answer; whatever is longer stands whole below them.
function write_head(    s) {
  out(cut("Question: " M["question"], WIDTH))
  out(cut("Answer: " headline(WIDTH - 9) ".", WIDTH))
  out(cut("Where from: " whence(WIDTH - 13) ".", WIDTH))
}

function write_answer(    g, n, i, list) {
  out("")
  if (length("Question: " M["question"]) > WIDTH) para("Question: ", "  ", M["question"])
  for (g = 1; g <= groups; g++)
    if (measured) para("With " group_label[g] ": ", "  ", answer(g))
  n = where_from(list)
  for (i = 1; i <= n; i++) list[0] = list[0] (i > 1 ? " " : "") list[i]
  if (n) para("", "  ", list[0])
  n = part_answers(list)
  for (i = 1; i <= n; i++) para("- ", "  ", list[i])
  if (measured) para("", "", "(Percent of cycles per packet, with the 95 % interval; plus is slower.)")
}

function write_warnings(    i, kind) {
  if (!warnings) return
  out("")
  for (kind = 1; kind <= 2; kind++)
    for (i = 1; i <= warnings; i++)
      if (warning_kind[i] == (kind == 1 ? "Warning" : "Note"))
        para((kind == 1 ? "WARNING: " : "Note: "), "  ", warning[i])
}

function write_facts(    i) {
  heading("Setup")
  for (i = 1; i <= facts; i++) para(pad(fact_label[i], 12), repeat(" ", 12), fact_value[i])
}

function write_commands(    i, n, list) {
  if (known(M["scenario.command"])) {
    out("")
    out("The scenario's command, verbatim:")
    command(M["scenario.command"])
  }
  n = used_by(list)
  for (i = 1; i <= n; i++) {
    out(list[i] ":")
    command(list[i, "command"])
  }
  if (M["scenario.notes.n"] + 0) {
    out("What was changed:")
    for (i = 0; i < M["scenario.notes.n"]; i++) para("  - ", "    ", M["scenario.notes." i])
  }
}

function write_results(    g, r, e) {
  heading("Result")
  table_begin()
  table_column("variant", "l", 0)
  table_column("cc", "l", 8)
  table_column("cycles/ packet", "r", 7)
  table_column("Mpps", "r", 0)
  table_column("diff. %", "r", 6)
  table_column("95 % interval", "r", 0)
  table_column("verdict", "l", 0)
  for (r = 1; r <= rows; r++) {
    g = row_group[r]
    table_release(r)
    e = row_effect[r]
    if (row_failed[r]) table_row(row_variant[r] "\t" group_cc[g] "\t>" failure_words(row_build[r]))
    else if (!e) table_row(row_variant[r] "\t" group_cc[g] "\t>built, not measured")
    else if (EFFECT[e, "verdict"] == "invalid")
      table_row(row_variant[r] "\t" group_cc[g] "\t>no valid slice" (known(EFFECT[e, "note"]) ? ": " EFFECT[e, "note"] : ""))
    else table_row(row_variant[r] "\t" group_cc[g] "\t" four_digits(EFFECT[e, "cycles_per_packet"]) "\t" \
      four_digits(EFFECT[e, "mpps"]) "\t" (is_compared(r) ? difference(e) "\t" interval(e) : "\t") "\t" EFFECT[e, "verdict"])
  }
  table_write()
  para("", "", "diff.: cycles per packet against " baseline ", same compiler" (releases > 1 ? " and release" : "") "; plus is slower. slower, faster: beyond chance and beyond +-" margin_text "; same: the interval lies within it. Rates are of the whole run and move with the machine; the difference is taken within rounds.")
  write_notes()
  if (!drop_rows && measured) out("Packets dropped at transmit: none.")
}

# write_notes: what stats says about rows that have figures; the others say it in the table.
function write_notes(    n, i, list) {
  n = remarks(list, 1)
  for (i = 1; i <= n; i++) para("* ", "  ", list[i])
}

# --- the cross-check -------------------------------------------------------------------------

# write_matrix(): as many columns as fit side by side; a release's compilers stay together where they can.
function write_matrix(    v, g, first, per, i) {
  if (!matrix_load()) return
  heading("Cross-check: each variant with each release and compiler")
  x_name = 7
  x_width = 0
  for (v = 1; v <= matrix_variants; v++) {
    if (length(matrix_variant[v]) > x_name) x_name = length(matrix_variant[v])
    for (g = 1; g <= groups; g++)
      for (i = 1; i <= 3; i++) if (length(matrix_line(v, g, i)) > x_width) x_width = length(matrix_line(v, g, i))
  }
  for (g = 1; g <= groups; g++) {
    if (length(group_dpdk[g]) > x_width) x_width = length(group_dpdk[g])
    if (length(group_cc[g]) > x_width) x_width = length(group_cc[g])
  }
  if (x_name > 24) x_name = 24
  if (x_width > WIDTH - x_name - 2) x_width = WIDTH - x_name - 2
  per = int((WIDTH - x_name) / (x_width + 2))
  for (first = 1; first <= groups; first = g + 1) {
    g = matrix_last(first, per)
    if (first > 1) out("")
    write_matrix_part(first, g)
  }
  para("", "", "S slower, F faster, = the same within " margin_text ", ? undecided: cycles per packet against " baseline \
    " of the same column, %, and the 95 % interval." (any_instructions() ? " i: " instructions_words() "." : ""))
  for (i = 1; i <= reasons; i++) para("[" i "] ", "    ", reason[i])
}

# matrix_last(first, per): the last column that stands beside the first one.
function matrix_last(first, per,    g, last) {
  for (g = first; g <= groups && g < first + per; g++) if (release_ends(g)) last = g
  return last ? last : first + per - 1
}

function write_matrix_part(first, last,    v, g, i, n, s, lines, name) {
  for (i = 1; i <= 2; i++) {
    n = pad(i == 1 ? "DPDK" : "variant", x_name)
    for (g = first; g <= last; g++) n = n "  " pad(i == 1 ? group_dpdk[g] : group_cc[g], x_width)
    out(n)
  }
  s = repeat("-", x_name)
  for (g = first; g <= last; g++) s = s "  " repeat("-", x_width)
  out(s)
  for (v = 1; v <= matrix_variants; v++) {
    n = wrap(matrix_variant[v], x_name, lines)
    for (i = 1; i <= 3 || i <= n; i++) {
      s = ""
      for (g = first; g <= last; g++) s = s "  " pad(matrix_line(v, g, i), x_width)
      name = i <= n ? lines[i] : ""
      if (name != "" || s !~ /^ *$/) out(pad(name, x_name) s)
    }
  }
}

# matrix_line(v, g, i): line 1 to 3 of a cell.
function matrix_line(v, g, i) {
  if (i > 3 || !((v, g) in cell_kind)) return i == 1 ? "-" : ""
  if (cell_kind[v, g] == "none") return i == 1 ? cell_short[v, g] : (i == 2 ? "[" cell_note[v, g] "]" : "")
  if (i == 1) return (cell_kind[v, g] == "baseline" ? "baseline" : cell_letter(v, g) " " cell_effect[v, g]) ((v, g) in cell_note ? " [" cell_note[v, g] "]" : "")
  if (i == 2 && cell_kind[v, g] != "baseline") { i = cell_interval[v, g]; sub(/ to /, "..", i); return i }
  if (i == 2 + (cell_kind[v, g] != "baseline") && cell_instructions[v, g] != "") return cell_instructions[v, g] " i"
  return ""
}

# --- the cross-check with testpmd ------------------------------------------------------------

function write_forwarders(    i, last) {
  if (!FORWARDERS["rows"]) return
  heading("Cross-check with testpmd")
  table_begin()
  table_column("variant", "l", 0)
  table_column("cc", "l", 8)
  table_column("kit %", "r", 0)
  table_column("95 % interval", "r", 0)
  table_column("testpmd %", "r", 7)
  table_column("95 % interval", "r", 0)
  table_column("", "l", 0)
  for (i = 1; i <= FORWARDERS["rows"]; i++) {
    if (releases > 1 && FORWARDERS[i, "dpdk"] != last) table_row(">DPDK " FORWARDERS[i, "dpdk"] ":")
    last = FORWARDERS[i, "dpdk"]
    table_row(FORWARDERS[i, "variant"] "\t" FORWARDERS[i, "cc"] "\t" forwarder_effect(i, "kit") "\t" forwarder_interval(i, "kit") "\t" \
      forwarder_effect(i, "testpmd") "\t" forwarder_interval(i, "testpmd") "\t" agree_word(i))
  }
  table_write()
  para("", "", forwarders_explained())
}

# --- the plot --------------------------------------------------------------------------------

# write_plot: what gnuplot drew for a terminal, see ../mail.gp.
function write_plot(    line, any) {
  while ((getline line < (dir "/plots/mail.txt")) > 0) {
    if (!any++) {
      out("")
      para("", "", "Cycles per packet against " baseline ", %. Right of 0 is slower.")
    }
    out(line)
  }
  close(dir "/plots/mail.txt")
  if (any) para("", "", "[--o--] estimate and 95 % interval; [=====] A/A: the same binary started twice, the noise; dots: the margin of +-" margin_text ".")
}

# --- layouts, noise, proof -------------------------------------------------------------------

function write_as_built(    r, e, any, marked) {
  if (!shuffled) return
  for (r = 1; r <= rows; r++)
    if (is_compared(r) && known(EFFECT[row_effect[r], "as_built_ratio"])) any++
  if (!any) return
  heading("As built against over layouts")
  table_begin()
  table_column("variant", "l", 0)
  table_column("cc", "l", 8)
  table_column("as built %", "r", 0)
  table_column("over layouts %", "r", 0)
  table_column("orders", "r", 0)
  table_column("spread %", "r", 0)
  for (r = 1; r <= rows; r++) {
    e = row_effect[r]
    if (!e || row_failed[r] || EFFECT[e, "verdict"] == "invalid") continue
    table_release(r)
    marked += as_built_differs(r)
    table_row(row_variant[r] "\t" group_cc[row_group[r]] "\t" \
      (is_compared(r) && known(EFFECT[e, "as_built_ratio"]) ? (as_built_differs(r) ? "* " : "") signed(percent_of(EFFECT[e, "as_built_ratio"]), row_decimals(e)) : "") "\t" \
      (is_compared(r) ? difference(e) : "") "\t" EFFECT[e, "layouts"] "\t" \
      (known(EFFECT[e, "layout_spread_percent"]) ? spread_text(EFFECT[e, "layout_spread_percent"]) : "-"))
  }
  table_write()
  para("", "", "spread: standard deviation between the link orders of the same objects, beyond that between starts of one order; 0: no more than those differ.")
  if (marked) para("* ", "  ", "as built it lies outside the interval over layouts: the luck of one link order.")
  else para("", "", "As built, every variant lies within its interval over layouts.")
  for (r = 1; r <= rows; r++) if (as_built_misleads(r)) para("- ", "  ", as_built_sentence(r))
}

# write_parts(): where the instructions go, by library, object and function.
function write_parts(    r, i, p, any) {
  if (!localised) return
  heading("Where it lies: instructions per packet, exact")
  table_begin()
  table_column("variant", "l", 0)
  table_column("cc", "l", 8)
  table_column("part", "l", 0)
  table_column("in the baseline", "r", 9)
  table_column("out of the variant", "r", 11)
  for (r = 1; r <= rows; r++) {
    if (!has_parts(r)) continue
    table_release(r)
    for (i = 1; i <= part_n[r]; i++) part_line(r, part_row[r, i], part_label(PART[part_row[r, i], "library"]), i == 1)
    if ((r, "rest") in part_at) part_line(r, part_at[r, "rest"], "own code, link", !part_n[r])
    if ((r, "interaction") in part_at) part_line(r, part_at[r, "interaction"], "interaction", 0)
    part_line(r, part_at[r, "whole"], "the whole", !part_n[r])
  }
  table_write()
  para("", "", "in the baseline: what taking this library alone from the variant adds; out of the variant: what it adds when all others are the variant's already. own code, link: the forwarder itself and how the binary is linked. interaction: all libraries at once, less the sum of one at a time.")
  for (r = 1; r <= rows; r++) {
    if (!has_parts(r)) continue
    p = part_at[r, "whole"]
    if (known(PART[p, "note"])) para("* ", "  ", row_variant[r] " (" group_label[row_group[r]] "): " PART[p, "note"])
  }
  write_functions()
  for (r = 1; r <= rows; r++) {
    if (!has_parts(r)) continue
    if (!any++) out("")
    para("On the path, " packets_of[r] " packets, ", "  ", row_variant[r] " (" group_label[row_group[r]] "): " path_words(r) ".")
  }
}

function part_line(r, p, name, first) {
  table_row((first ? row_variant[r] "\t" group_cc[row_group[r]] : "\t") "\t" name "\t" \
    per_packet(PART[p, "instructions"], packets_of[r]) "\t" per_packet(PART[p, "instructions_reverse"], packets_of[r]))
}

function write_functions(    r, i, f, any) {
  for (r = 1; r <= rows; r++) any += has_parts(r) && function_n[r]
  if (!any) return
  out("")
  out("Functions that differ, instructions per packet, as built:")
  table_begin()
  table_column("function", "l", 0)
  table_column("object", "l", 20)
  table_column("before", "r", 0)
  table_column("diff.", "r", 0)
  table_column("bytes", "r", 0)
  for (r = 1; r <= rows; r++) {
    if (!has_parts(r)) continue
    if (function_n[r]) table_row(">" row_variant[r] ", " group_label[row_group[r]] ":")
    for (i = 1; i <= function_n[r] && i <= FUNCTIONS_MOST; i++) {
      f = function_row[r, i]
      table_row("  " FUNC[f, "function"] "\t" \
        object_name(FUNC[f, "library"], FUNC[f, "object"]) "\t" fixed(FUNC[f, "baseline"] / packets_of[r], 2) "\t" \
        per_packet(FUNC[f, "difference"], packets_of[r]) "\t" signed(FUNC[f, "bytes_difference"], 0))
      if (FUNC[f, "inlined_in"] != "-") table_row(">    inlined in " inlined_words(r, f))
    }
    if (function_n[r] > FUNCTIONS_MOST) table_row(">  and " function_n[r] - FUNCTIONS_MOST " more, see localise/functions.tsv")
  }
  table_write()
  para("", "", "bytes: how much larger the function's code is. Both builds' executed instructions side by side: localise/" build_name("VARIANT", "CC", "RELEASE") "/disassembly.txt.")
}

function write_noise(    g, any) {
  for (g = 1; g <= groups; g++) if (compared[g]) any++
  if (!any) return
  heading("Noise: A/A, the baseline against itself")
  for (g = 1; g <= groups; g++) {
    if (!compared[g]) continue
    para(group_label[g] ": ", "  ", noise_words(g))
  }
}

function write_counters(    r, i, s) {
  if (!event_n) return
  heading("Counters, user mode, per packet")
  table_begin()
  table_column("variant", "l", 0)
  table_column("cc", "l", 8)
  for (i = 1; i <= event_n; i++) table_column(event_words(event_name[i]), "r", i > 2 ? 8 : 0)
  for (r = 1; r <= rows; r++) {
    if (row_failed[r] || !has_events(r)) continue
    table_release(r)
    s = row_variant[r] "\t" group_cc[row_group[r]]
    for (i = 1; i <= event_n; i++) s = s "\t" event_text(r, event_name[i])
    table_row(s)
  }
  table_write()
  para("", "", counters_words())
}

function write_proof(    r, b, any, i) {
  for (r = 1; r <= rows; r++) if (row_build[r] && known(BUILD[row_build[r], "sha256"])) any++
  heading("Proof: what was asked for and what was built")
  if (!BUILD["rows"]) { out("Not recorded."); return }
  table_begin()
  table_column("variant", "l", 0)
  table_column("cc", "l", 8)
  table_column("flag asked", "l", 12)
  table_column("objects with it", "r", 8)
  table_column("code asked", "l", 8)
  table_column("code found", "l", 8)
  table_column("ELF", "l", 7)
  for (r = 1; r <= rows; r++) {
    b = row_build[r]
    if (!b) continue
    table_release(r)
    if (row_failed[r] && !known(BUILD[b, "objects"])) {
      table_row(row_variant[r] "\t" group_cc[row_group[r]] "\t>" BUILD[b, "status"] ", see the result")
      continue
    }
    table_row(row_variant[r] "\t" group_cc[row_group[r]] "\t" BUILD[b, "flag_asked"] "\t" objects_text(b) "\t" \
      BUILD[b, "code_model_asked"] "\t" BUILD[b, "code_model"] "\t" BUILD[b, "elf_type"])
  }
  table_write()
  if (NOTE["rows"]) out("")
  for (i = 1; i <= NOTE["rows"]; i++) para("- ", "  ", note_words(i))
  if (build_system_words() != "") { out(""); para("", "", build_system_words()) }
  if (!any) return
  out("")
  out("Relocations in the objects, and the binary:")
  table_begin()
  table_column("variant", "l", 0)
  table_column("cc", "l", 8)
  table_column("GOT", "r", 0)
  table_column("PLT", "r", 0)
  table_column("TLS gd/ld/ ie/le", "r", 12)
  table_column("absolute", "r", 0)
  table_column("text kB", "r", 5)
  table_column("sha256", "l", 0)
  for (r = 1; r <= rows; r++) {
    b = row_build[r]
    if (!b || !known(BUILD[b, "sha256"])) continue
    table_release(r)
    table_row(row_variant[r] "\t" group_cc[row_group[r]] "\t" BUILD[b, "got"] "\t" BUILD[b, "plt"] "\t" tls_text(b) "\t" \
      BUILD[b, "absolute"] "\t" kilobytes(BUILD[b, "text_bytes"]) "\t" substr(BUILD[b, "sha256"], 1, 8))
  }
  table_write()
  write_constants()
}

function shortened(x) { return length(x) > 48 ? substr(x, 1, 45) "..." : x }

# The text takes the first of them: a mail is no place for hundreds.
function write_constants(    i, most, s) {
  s = constants_words()
  if (INLINING["rows"]) out("")
  for (i = 1; i <= INLINING["rows"]; i++) para("- ", "  ", functions_words(i))
  out("")
  if (s != "") { para("", "", s); return }
  most = CONSTANT["rows"] > 20 ? 20 : CONSTANT["rows"]
  out("Preprocessor constants that differ from " baseline ":")
  table_begin()
  table_column("variant", "l", 18)
  table_column("cc", "l", 8)
  if (releases > 1) table_column("DPDK", "l", 8)
  table_column("constant", "l", releases > 1 ? 18 : 24)
  table_column(baseline, "l", 9)
  table_column("this build", "l", 9)
  for (i = 1; i <= most; i++)
    table_row(CONSTANT[i, "variant"] "\t" CONSTANT[i, "cc"] "\t" (releases > 1 ? CONSTANT[i, "dpdk"] "\t" : "") CONSTANT[i, "constant"] "\t" shortened(CONSTANT[i, "baseline_value"]) "\t" shortened(CONSTANT[i, "variant_value"]))
  table_write()
  s = "-DNAME: given on compile lines; -: not defined."
  if (CONSTANT["rows"] > most) s = s " " CONSTANT["rows"] - most " more stand in proof/constants.tsv."
  para("", "", s)
}

function write_reproduce() {
  heading("How to reproduce")
  para("", "", "mppsdiff " or_dash(M["kit.version"]) ", commit " or_dash(M["kit.commit"]) ":")
  if (known(M["kit.command"])) command(reproduce_command())
  para("", "", "The same figures from the raw slices of this result:")
  command(stats_command())
}

function write_not_measured(    n, i, list) {
  heading("What was not measured")
  n = not_measured(list)
  for (i = 1; i <= n; i++) para("- ", "  ", list[i])
}
