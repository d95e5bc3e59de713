# SPDX-License-Identifier: BSD-3-Clause
# What the awk programs of plots/report share: reading TSV, numbers, wrapping, escaping.
# Functions only. Runs under mawk; the caller sets LC_ALL=C, so a character is a byte.

# tsv_load(file, t): t[row, column name] and t["rows"]; a missing file has no rows, and 0 is returned for it.
# The files come from check.awk, so every row has every column.
function tsv_load(file, t,    found, line, n, i, names, f) {
  t["rows"] = 0
  found = 0
  if ((getline line < file) > 0) {
    found = 1
    n = split(line, names, "\t")
    while ((getline line < file) > 0) {
      t["rows"]++
      split(line, f, "\t")
      for (i = 1; i <= n; i++) t[t["rows"], names[i]] = f[i]
    }
  }
  close(file)
  return found
}

# kv_load(file, m): m[key] from lines "key TAB value".
function kv_load(file, m,    line, i) {
  while ((getline line < file) > 0) {
    i = index(line, "\t")
    m[substr(line, 1, i - 1)] = substr(line, i + 1)
  }
  close(file)
}

function known(x) { return x != "" && x != "-" }

# or_dash(x): for what was not recorded.
function or_dash(x) { return known(x) ? x : "-" }

# fixed(x, decimals): never "-0.0".
function fixed(x, decimals,    s) {
  s = sprintf("%." decimals "f", x)
  if (s ~ /^-[0.]+$/) s = substr(s, 2)
  return s
}

# signed(x, decimals): with + or -, but a plain zero.
function signed(x, decimals,    s) {
  s = fixed(x, decimals)
  return (s + 0 > 0) ? "+" s : s
}

# decimals(low, high): how many decimals a percentage deserves, given its interval in percent; more
# when an end would look like zero although it is not.
function decimals(low, high,    d) {
  d = 1
  if (high - low < 0.5) d = 2
  if (high - low < 0.05) d = 3
  while (d < 3 && ((low && fixed(low, d) + 0 == 0) || (high && fixed(high, d) + 0 == 0))) d++
  return d
}

function percent_of(ratio) { return (ratio - 1) * 100 }

# range_text(low, high): "-0.3 to +0.4 %" for two ratios.
function range_text(low, high,    l, h, d) {
  l = percent_of(low); h = percent_of(high); d = decimals(l, h)
  return hard(signed(l, d) " to " signed(h, d) " %")
}

# four_digits(x): a rate or cycle count with about four digits.
function four_digits(x) {
  if (!known(x)) return "-"
  x += 0
  if (x >= 1000) return fixed(x, 0)
  if (x >= 100) return fixed(x, 1)
  return x >= 1 ? fixed(x, 2) : fixed(x, 3)
}

# trim0(x): 1.50 -> 1.5, 1.0 -> 1
function trim0(x) {
  x = x ""
  if (x ~ /\./) { sub(/0+$/, "", x); sub(/\.$/, "", x) }
  return x
}

# hard(s): its spaces keep a line together; soft(s) makes them plain again.
function hard(s) { gsub(/ /, "\001", s); return s }
function soft(s) { gsub(/\001/, " ", s); return s }

# ascii(s): compilers print quotes and dashes in UTF-8; all else that is not ASCII becomes "?".
function ascii(s) {
  s = soft(s)
  gsub(/\342\200[\230\231]/, "'", s)
  gsub(/\342\200[\234\235]/, "\"", s)
  gsub(/\342\200[\223\224]/, "-", s)
  gsub(/\303\227/, "x", s)
  gsub(/[\300-\377][\200-\277]*/, "?", s)
  gsub(/[^ -~]/, "?", s)
  return s
}

# plural(n, word)
function plural(n, word) { return n " " word (n == 1 ? "" : "s") }

# html(s): safe as text and inside a quoted attribute; without control characters and those that turn
# the direction of text around.
function html(s) {
  gsub(/[\002-\037\177]|\342\200[\252-\256]|\342\201[\246-\251]/, " ", s)
  gsub(/&/, "\\&amp;", s)
  gsub(/</, "\\&lt;", s)
  gsub(/>/, "\\&gt;", s)
  gsub(/"/, "\\&quot;", s)
  gsub(/'/, "\\&#39;", s)
  gsub(/\001/, "\\&nbsp;", s)
  return s
}

function repeat(c, n,    s) {
  while (n-- > 0) s = s c
  return s
}

function pad(s, width) { return s repeat(" ", width - length(s)) }
function pad_left(s, width) { return repeat(" ", width - length(s)) s }

# cut(s, most): s, or its beginning and two dots.
function cut(s, most) { return length(s) > most ? substr(s, 1, most > 2 ? most - 2 : 0) ".." : s }

# break_at(s, width): length of the first piece of s when it has to fit into width: at the last
# space, else after the last of - / _ , = . that leaves no stub, else anywhere.
function break_at(s, width,    i) {
  if (width < 1) width = 1
  if (length(s) <= width) return length(s)
  for (i = width + 1; i > 1; i--) if (substr(s, i, 1) == " ") return i - 1
  for (i = width; i > width / 3; i--)
    if (index("-/_,=.", substr(s, i, 1)) && substr(s, i - 1, 1) !~ /[ (]/) return i
  return width
}

# wrap(s, width, lines): pieces of at most width characters into lines[1..n]; n
function wrap(s, width, lines,    n, i) {
  n = 0
  do {
    i = break_at(s, width)
    lines[++n] = substr(s, 1, i)
    sub(/ +$/, "", lines[n])
    s = substr(s, i + 1)
    sub(/^ +/, "", s)
  } while (s != "")
  return n
}

# tick_step(least): 1, 2 or 5 times a power of ten, at least `least`.
function tick_step(least,    power) {
  if (least <= 0) return 1
  power = 1
  while (power > least) power /= 10
  while (power * 10 <= least) power *= 10
  if (least > 5 * power) return 10 * power
  if (least > 2 * power) return 5 * power
  return least > power ? 2 * power : power
}

# out(s): the one place where a line leaves; the data is ASCII here except for bytes of the TSVs.
function out(s) {
  s = ascii(s)
  sub(/ +$/, "", s)
  print s
}

# para(first, next_, s): s wrapped to WIDTH, with a prefix for the first and one for the other lines.
function para(first, next_, s,    n, i, lines) {
  i = break_at(s, WIDTH - length(first))
  out(first substr(s, 1, i))
  s = substr(s, i + 1)
  sub(/^ +/, "", s)
  if (s == "") return
  n = wrap(s, WIDTH - length(next_), lines)
  for (i = 1; i <= n; i++) out(next_ lines[i])
}
