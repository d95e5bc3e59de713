# SPDX-License-Identifier: BSD-3-Clause
# The parts of report.html, one file each in the folder `parts`; plots/report puts them into
# report.html.in. All data passes through html(), which makes it harmless.
#   awk -v dir=CHECKED -v meta=html.kv -v parts=FOLDER -f common.awk -f result.awk -f html.awk

BEGIN {
  result_load(dir)
  find_warnings()
  find_facts()
  part("TITLE"); write_title()
  part("HEADER"); write_header()
  part("ANSWER"); write_answer()
  part("WARNINGS"); write_warnings()
  part("CHARTS"); write_charts()
  part("RESULT"); write_result()
  part("MATRIX"); write_matrix()
  part("FORWARDERS"); write_forwarders()
  part("AS_BUILT"); write_as_built()
  part("NOISE"); write_noise()
  part("COUNTERS"); write_counters()
  part("PROOF"); write_proof()
  part("PARTS"); write_parts()
  part("SETUP"); write_setup()
  part("REPRODUCE"); write_reproduce()
  part("NOT_MEASURED"); write_not_measured()
  part("MAIL"); write_mail()
}

END { if (exit_status) exit exit_status }

function part(name) {
  if (file) close(file)
  file = parts "/" name
  printf "" > file
}

function put(s) { print s > file }
function paragraph(s) { put("<p>" html(s) "</p>") }
function sentence(s) { return toupper(substr(s, 1, 1)) substr(s, 2) "." }

function write_title() { put("<title>" html("mppsdiff: " M["question"]) "</title>") }

function write_header(    words, line, i) {
  put("<p class=\"quiet\">mppsdiff " html(or_dash(M["kit.version"])) "</p>")
  put("<h1>" html(M["question"]) "</h1>")
  # What every chart carries as a file stands here once.
  words = dir "/plots/drift.words"
  for (i = 1; (getline line < words) > 0; i++) if (i == 2 || i == 3) put("<p class=\"quiet\">" html(line) "</p>")
  close(words)
}

# --- answer and warnings ---------------------------------------------------------------------

function write_answer(    g, n, i, list) {
  put("<section class=\"answer\" aria-label=\"Answer\">")
  put("<p class=\"lead\">" html(sentence(headline(200))) "</p>")
  put("<p><b>Where from:</b> " html(whence(300)) ".</p>")
  for (g = 1; measured && g <= groups; g++) answer_group(g)
  n = where_from(list)
  for (i = 1; i <= n; i++) list[0] = list[0] (i > 1 ? " " : "") list[i]
  if (n) paragraph(list[0])
  n = part_answers(list)
  if (n) put("<ul>")
  for (i = 1; i <= n; i++) put("<li>" html(list[i]) "</li>")
  if (n) put("</ul>")
  put("<p class=\"quiet\">Percent of cycles per packet against " html(baseline) \
    ", with the 95&nbsp;% interval; plus is slower.</p>")
  put("</section>")
}

function answer_group(g,    r, e) {
  put("<h3>" html(group_label[g]) (aa_doubt[g] ? " <span class=\"failed\">(beware, see the warning)</span>" : "") "</h3>")
  if (!has_baseline[g] || !compared[g]) { paragraph(answer(g)); return }
  put("<ul>")
  for (r = 1; r <= rows; r++) {
    if (row_group[r] != g || !is_compared(r)) continue
    e = row_effect[r]
    put("<li>" html(row_variant[r]) ": <span class=\"" EFFECT[e, "verdict"] "\">" html(verdict_words(EFFECT[e, "verdict"])) \
      "</span>, " html(difference_and_interval(e)) "</li>")
  }
  put("</ul>")
}

function write_warnings(    i, pass) {
  for (pass = 1; pass <= 2; pass++)
    for (i = 1; i <= warnings; i++)
      if ((warning_kind[i] == "Warning") == (pass == 1))
        put("<p class=\"" (pass == 1 ? "notice" : "note") "\"><b>" warning_kind[i] ":</b> " html(warning[i]) "</p>")
}

# write_charts: a figure each. The words stand as text, so that they wrap; on a phone the narrow
# drawing takes over.
function write_charts(    n, i, name, words, w) {
  if (!measured) { paragraph("Nothing was measured, so there is nothing to draw."); return }
  n = split("forest matrix mpps layouts waterfall drift", name, " ")
  for (i = 1; i <= n; i++) {
    words = dir "/plots/" name[i] ".words"
    for (w = 1; w <= 5; w++) line_of[w] = ""
    for (w = 1; (getline line_of[w] < words) > 0; w++) continue
    close(words)
    if (w == 1) continue
    put("<figure id=\"" name[i] "\">\n<h3>" html(line_of[1]) "</h3>")
    put("<figcaption>" html(line_of[4] (line_of[5] == "" ? "" : " " line_of[5])) "</figcaption>")
    put("<div class=\"big-screen\">")
    copy(dir "/svg/" name[i] "-page")
    put("</div>\n<div class=\"small-screen\">")
    copy(dir "/svg/" name[i] "-phone")
    put("</div>\n</figure>")
  }
}

function copy(from,    line) {
  while ((getline line < from) > 0) put(line)
  close(from)
}

function write_mail(    line) {
  put("<details><summary>report.txt, 72 columns</summary>\n<pre>")
  while ((getline line < (dir "/report.txt")) > 0) put(html(line))
  close(dir "/report.txt")
  put("</pre></details>")
}

# --- tables ----------------------------------------------------------------------------------

# table_open(label, heads, caption): heads separated by "|"; one beginning with "#" is of numbers.
function table_open(label, heads, caption,    n, i, h) {
  if (caption != "") put("<p class=\"quiet\">" html(caption) "</p>")
  put("<div class=\"scroll\" role=\"region\" tabindex=\"0\" aria-label=\"" html(label) "\">")
  put("<table class=\"sortable\">")
  n = split(heads, h, "|")
  put("<thead><tr>")
  for (i = 1; i <= n; i++)
    put(substr(h[i], 1, 1) == "#" ? "<th scope=\"col\" class=\"n\">" html(substr(h[i], 2)) "</th>" : "<th scope=\"col\">" html(h[i]) "</th>")
  put("</tr></thead>\n<tbody>")
}

function table_close() { put("</tbody></table></div>") }

function row_begin(r) {
  put("<tr><th scope=\"row\">" html(row_variant[r]) "</th><td>" html(group_cc[row_group[r]]) "</td>" \
    (releases > 1 ? "<td>" html(group_dpdk[row_group[r]]) "</td>" : ""))
}

function key_heads() { return "variant|cc" (releases > 1 ? "|DPDK" : "") }

# number(shown, value): a cell that sorts by value.
function number(shown, value) {
  put("<td class=\"n\"" (value == "" ? " data-value=\"\"" : " data-value=\"" html(value) "\"") ">" html(shown) "</td>")
}

function cell(s) { put("<td>" html(s) "</td>") }

function write_result(    r, e, n, list) {
  table_open("Results", key_heads() "|verdict|#difference %|#95 % interval|#cycles/packet|#Mpps", \
    "Cycles per packet against " baseline " of the same compiler" (releases > 1 ? " and release" : "") "; plus is slower. Slower, faster: beyond chance and beyond +-" margin_text "; same: the interval lies within it. Rates are of the whole run and move with the machine; the difference is taken within rounds.")
  for (r = 1; r <= rows; r++) {
    e = row_effect[r]
    row_begin(r)
    if (row_failed[r] || !e || EFFECT[e, "verdict"] == "invalid") {
      put("<td" (as_expected(row_failed[r] ? row_build[r] : 0) ? "" : " class=\"failed\"") ">" html(row_failed[r] ? BUILD[row_build[r], "status"] : (e ? "no valid slice" : "built, not measured")) "</td>")
      number("", ""); number("", ""); number("", ""); number("", "")
      put("</tr>")
      continue
    }
    put("<td><span class=\"" EFFECT[e, "verdict"] "\">" html(EFFECT[e, "verdict"]) "</span></td>")
    if (is_compared(r)) {
      number(difference(e), EFFECT[e, "ratio"])
      number(interval(e), EFFECT[e, "ratio_low"])
    } else { number("", ""); number("", "") }
    number(four_digits(EFFECT[e, "cycles_per_packet"]), EFFECT[e, "cycles_per_packet"])
    number(four_digits(EFFECT[e, "mpps"]), EFFECT[e, "mpps"])
    put("</tr>")
  }
  table_close()
  n = remarks(list)
  if (n) put("<ul class=\"remarks\">")
  for (r = 1; r <= n; r++) put("<li>" html(list[r]) "</li>")
  if (n) put("</ul>")
  if (!drop_rows && measured) put("<p class=\"quiet\">Packets dropped at transmit: none.</p>")
}

# write_matrix(): the cross-check; letter and word say what the colour says.
function write_matrix(    v, g, i, span, line) {
  if (!matrix_load()) return
  put("<h2 id=\"cross-check\">Cross-check: each variant with each release and compiler</h2>")
  put("<p class=\"quiet\">" html("Cycles per packet against " baseline " of the same column, with the 95 % interval; plus is slower. Same: the interval lies within " margin_text "." \
    (any_instructions() ? " The last line of a cell: " instructions_words() "." : "")) "</p>")
  put("<div class=\"scroll\" role=\"region\" tabindex=\"0\" aria-label=\"Cross-check\">\n<table class=\"matrix\">\n<thead><tr><th rowspan=\"2\" scope=\"col\">variant</th>")
  for (g = 1; g <= groups; g++) {
    span++
    if (!release_ends(g)) continue
    put("<th scope=\"colgroup\" colspan=\"" span "\">" html(group_dpdk[g]) "</th>")
    span = 0
  }
  put("</tr><tr>")
  for (g = 1; g <= groups; g++) put("<th scope=\"col\">" html(group_cc[g]) "</th>")
  put("</tr></thead>\n<tbody>")
  for (v = 1; v <= matrix_variants; v++) {
    put("<tr><th scope=\"row\">" html(matrix_variant[v]) "</th>")
    for (g = 1; g <= groups; g++) {
      if (!((v, g) in cell_kind)) { put("<td></td>"); continue }
      line = "<b>" html(cell_kind[v, g] == "baseline" ? "" : cell_letter(v, g) " ") html(cell_short[v, g]) "</b>"
      if ((v, g) in cell_note) line = line "<br><a href=\"#reason-" cell_note[v, g] "\">[" cell_note[v, g] "]</a>"
      if (cell_effect[v, g] != "") line = line "<br>" html(cell_effect[v, g] " %") "<br><small>" html(cell_interval[v, g] " %") "</small>"
      if (cell_instructions[v, g] != "") line = line "<br><small>" html(cell_instructions[v, g] " instr.") "</small>"
      put("<td class=\"is-" cell_kind[v, g] "\">" line "</td>")
    }
    put("</tr>")
  }
  put("</tbody></table></div>")
  if (!reasons) return
  put("<ol class=\"remarks\">")
  for (i = 1; i <= reasons; i++) put("<li id=\"reason-" i "\">" html(reason[i]) "</li>")
  put("</ol>")
}

function write_forwarders(    i, w, which) {
  if (!FORWARDERS["rows"]) return
  put("<h2 id=\"forwarders\">Cross-check with testpmd</h2>")
  table_open("Cross-check with testpmd", key_heads() "|#kit %|#95 % interval|#testpmd %|#95 % interval|the two", forwarders_explained())
  for (i = 1; i <= FORWARDERS["rows"]; i++) {
    put("<tr><th scope=\"row\">" html(FORWARDERS[i, "variant"]) "</th>")
    cell(FORWARDERS[i, "cc"])
    if (releases > 1) cell(FORWARDERS[i, "dpdk"])
    for (w = 1; w <= 2; w++) {
      which = w == 1 ? "kit" : "testpmd"
      number(forwarder_effect(i, which), forwarder_known(i, which) ? FORWARDERS[i, which "_ratio"] : "")
      number(forwarder_interval(i, which), forwarder_known(i, which) ? FORWARDERS[i, which "_low"] : "")
    }
    put("<td" (FORWARDERS[i, "agree"] == "no" ? " class=\"failed\"" : "") ">" html(agree_word(i)) "</td></tr>")
  }
  table_close()
}

function write_as_built(    r, e, any) {
  if (!shuffled) return
  for (r = 1; r <= rows; r++) if (is_compared(r) && known(EFFECT[row_effect[r], "as_built_ratio"])) any++
  if (!any) return
  put("<h2 id=\"as-built\">As built against over layouts</h2>")
  table_open("As built against over layouts", key_heads() "|#as built %|#over layouts %|#95 % interval|#link orders|#spread %", \
    "Spread: standard deviation between the link orders of the same objects, beyond that between starts of one order; 0: no more than those differ. A star: as built lies outside the interval over layouts, the luck of one link order.")
  for (r = 1; r <= rows; r++) {
    e = row_effect[r]
    if (!e || row_failed[r] || EFFECT[e, "verdict"] == "invalid") continue
    row_begin(r)
    if (is_compared(r)) {
      if (known(EFFECT[e, "as_built_ratio"]))
        number((as_built_differs(r) ? "* " : "") signed(percent_of(EFFECT[e, "as_built_ratio"]), row_decimals(e)), EFFECT[e, "as_built_ratio"])
      else number("-", "")
      number(difference(e), EFFECT[e, "ratio"])
      number(interval(e), EFFECT[e, "ratio_low"])
    } else { number("", ""); number("", ""); number("", "") }
    number(EFFECT[e, "layouts"], EFFECT[e, "layouts"])
    if (known(EFFECT[e, "layout_spread_percent"])) number(spread_text(EFFECT[e, "layout_spread_percent"]), EFFECT[e, "layout_spread_percent"])
    else number("-", "")
    put("</tr>")
  }
  table_close()
  for (r = 1; r <= rows; r++) if (as_built_misleads(r)) paragraph(as_built_sentence(r))
}

function write_parts(    r, i, f, folder) {
  if (!localised) return
  put("<h2 id=\"parts\">Where it lies: instructions per packet, exact</h2>")
  table_open("Instructions per packet by library", key_heads() "|part|#in the baseline|#out of the variant", \
    "In the baseline: what taking this library alone from the variant adds; out of the variant: what it adds when all others are the variant's already. Own code, link: the forwarder itself and how the binary is linked. Interaction: all libraries at once, less the sum of one at a time.")
  for (r = 1; r <= rows; r++) {
    if (!has_parts(r)) continue
    for (i = 1; i <= part_n[r]; i++) part_line(r, part_row[r, i], part_label(PART[part_row[r, i], "library"]))
    if ((r, "rest") in part_at) part_line(r, part_at[r, "rest"], "own code, link")
    if ((r, "interaction") in part_at) part_line(r, part_at[r, "interaction"], "interaction")
    part_line(r, part_at[r, "whole"], "the whole")
  }
  table_close()
  put("<ul class=\"remarks\">")
  for (r = 1; r <= rows; r++) {
    if (!has_parts(r)) continue
    if (known(PART[part_at[r, "whole"], "note"])) put("<li>" html(row_variant[r] " (" group_label[row_group[r]] "): " PART[part_at[r, "whole"], "note"]) "</li>")
    put("<li>" html("On the path, " packets_of[r] " packets, " row_variant[r] " (" group_label[row_group[r]] "): " path_words(r) ".") "</li>")
  }
  put("</ul>\n<h3>Functions that differ</h3>")
  table_open("Functions that differ", key_heads() "|function|library|object|#before|#difference|#bytes more|inlined in", "Instructions per packet of the builds as built. The link leads to both builds' executed instructions side by side, a file beside this page.")
  for (r = 1; r <= rows; r++) {
    folder = "localise/" build_name(row_variant[r], group_cc[row_group[r]], group_dpdk[row_group[r]]) "/disassembly.txt"
    for (i = 1; has_parts(r) && i <= function_n[r]; i++) {
      f = function_row[r, i]
      row_begin(r)
      put("<td><a href=\"" html(folder) "\">" html(FUNC[f, "function"]) "</a></td>")
      cell(library_name(FUNC[f, "library"]))
      cell(object_name(FUNC[f, "library"], FUNC[f, "object"]))
      number(fixed(FUNC[f, "baseline"] / packets_of[r], 2), FUNC[f, "baseline"] / packets_of[r])
      number(per_packet(FUNC[f, "difference"], packets_of[r]), FUNC[f, "difference"] / packets_of[r])
      number(signed(FUNC[f, "bytes_difference"], 0), FUNC[f, "bytes_difference"])
      cell(inlined_words(r, f))
      put("</tr>")
    }
  }
  table_close()
}

function part_line(r, p, name) {
  row_begin(r)
  cell(name)
  part_cell(PART[p, "instructions"], packets_of[r])
  part_cell(PART[p, "instructions_reverse"], packets_of[r])
  put("</tr>")
}

function part_cell(count, packets) { number(per_packet(count, packets), known(count) && packets + 0 > 0 ? count / packets : "") }

function write_noise(    g, any) {
  for (g = 1; g <= groups; g++) if (compared[g]) any++
  if (!any) return
  put("<h2 id=\"noise\">Noise: A/A, the baseline against itself</h2>\n<ul>")
  for (g = 1; g <= groups; g++) {
    if (!compared[g]) continue
    put("<li>" html(group_label[g] ": " noise_words(g)) "</li>")
  }
  put("</ul>")
}

function write_counters(    r, i, heads) {
  if (!event_n) return
  put("<h2 id=\"counters\">Counters, user mode, per packet</h2>")
  for (i = 1; i <= event_n; i++) heads = heads "|#" event_words(event_name[i])
  table_open("Counters", key_heads() heads, counters_words())
  for (r = 1; r <= rows; r++) {
    if (row_failed[r] || !has_events(r)) continue
    row_begin(r)
    for (i = 1; i <= event_n; i++)
      number(event_text(r, event_name[i]), event_text(r, event_name[i]) == "-" ? "" : event_value[row_variant[r], group_cc[row_group[r]], group_dpdk[row_group[r]], event_name[i]])
    put("</tr>")
  }
  table_close()
}

function write_proof(    r, b, any, i) {
  if (!BUILD["rows"]) { paragraph("Not recorded."); return }
  table_open("Proof", key_heads() "|built by|flag asked|#objects with it|code asked|code found|ELF", "")
  for (r = 1; r <= rows; r++) {
    b = row_build[r]
    if (!b) continue
    row_begin(r)
    if (row_failed[r] && !known(BUILD[b, "objects"])) {
      cell(or_dash(built_by(b))); cell("-"); number("-", ""); cell("-")
      put("<td" (as_expected(b) ? "" : " class=\"failed\"") ">" html(BUILD[b, "status"]) "</td><td>-</td></tr>")
      continue
    }
    cell(or_dash(built_by(b)))
    cell(BUILD[b, "flag_asked"])
    number(objects_text(b), BUILD[b, "objects_with_flag"])
    cell(BUILD[b, "code_model_asked"])
    cell(BUILD[b, "code_model"])
    cell(BUILD[b, "elf_type"])
    put("</tr>")
    if (known(BUILD[b, "sha256"])) any++
  }
  table_close()
  if (NOTE["rows"]) put("<ul>")
  for (i = 1; i <= NOTE["rows"]; i++) put("<li>" html(note_words(i)) "</li>")
  if (NOTE["rows"]) put("</ul>")
  if (build_system_words() != "") paragraph(build_system_words())
  if (!any) return
  put("<h3>Relocations in the objects, and the binary</h3>")
  table_open("Relocations", key_heads() "|#GOT|#PLT|#TLS gd|#TLS ld|#TLS ie|#TLS le|#absolute|#text bytes|sha256", "")
  for (r = 1; r <= rows; r++) {
    b = row_build[r]
    if (!b || !known(BUILD[b, "sha256"])) continue
    row_begin(r)
    count_cell(b, "got"); count_cell(b, "plt"); count_cell(b, "tls_gd"); count_cell(b, "tls_ld")
    count_cell(b, "tls_ie"); count_cell(b, "tls_le"); count_cell(b, "absolute"); count_cell(b, "text_bytes")
    put("<td><code>" html(substr(BUILD[b, "sha256"], 1, 12)) "</code></td></tr>")
  }
  table_close()
  write_constants()
}

function write_constants(    i, s) {
  s = constants_words()
  if (INLINING["rows"]) put("<ul>")
  for (i = 1; i <= INLINING["rows"]; i++) put("<li>" html(functions_words(i)) "</li>")
  if (INLINING["rows"]) put("</ul>")
  if (s != "") { paragraph(s); return }
  put("<h3>Preprocessor constants that differ from " html(baseline) "</h3>")
  table_open("Constants", key_heads() "|constant|" baseline "|this build", "-DNAME: given on compile lines; -: not defined.")
  for (i = 1; i <= CONSTANT["rows"]; i++) {
    put("<tr><th scope=\"row\">" html(CONSTANT[i, "variant"]) "</th>")
    cell(CONSTANT[i, "cc"])
    if (releases > 1) cell(CONSTANT[i, "dpdk"])
    put("<td><code>" html(CONSTANT[i, "constant"]) "</code></td>")
    cell(CONSTANT[i, "baseline_value"])
    cell(CONSTANT[i, "variant_value"])
    put("</tr>")
  }
  table_close()
}

function count_cell(b, column) { number(BUILD[b, column], known(BUILD[b, column]) ? BUILD[b, column] : "") }

# --- the rest --------------------------------------------------------------------------------

function write_setup(    i, n, list) {
  put("<dl class=\"facts\">")
  for (i = 1; i <= facts; i++) {
    if (fact_label[i] != "") put("<dt>" html(fact_label[i]) "</dt>")
    put("<dd>" html(fact_value[i]) "</dd>")
  }
  put("</dl>")
  if (known(M["scenario.command"])) put("<h3>The scenario's command, verbatim</h3>\n<pre class=\"command\">" html(M["scenario.command"]) "</pre>")
  n = used_by(list)
  for (i = 1; i <= n; i++) put("<h3>" html(list[i]) "</h3>\n<pre class=\"command\">" html(list[i, "command"]) "</pre>")
  if (M["scenario.notes.n"] + 0) {
    put("<h3>What was changed</h3>\n<ul>")
    for (i = 0; i < M["scenario.notes.n"] + 0; i++) put("<li>" html(M["scenario.notes." i]) "</li>")
    put("</ul>")
  }
}

function write_reproduce() {
  paragraph("mppsdiff " or_dash(M["kit.version"]) ", commit " or_dash(M["kit.commit"]) ":")
  if (known(M["kit.command"])) put("<pre class=\"command\">" html(reproduce_command()) "</pre>")
  paragraph("The same figures from the raw slices of this result:")
  put("<pre class=\"command\">" html(stats_command()) "</pre>")
}

function write_not_measured(    n, i, list) {
  n = not_measured(list)
  put("<ul>")
  for (i = 1; i <= n; i++) put("<li>" html(list[i]) "</li>")
  put("</ul>")
}
