# SPDX-License-Identifier: BSD-3-Clause
# Finishes one SVG of gnuplot: says what it shows, falls back to other fonts, packs dots.
#   awk -v mode=file|inline -v id=WORD -v title=TEXT -v desc=TEXT -f common.awk -f svg.awk
# inline: to stand in an HTML page, without a background, its colours taken from the page's CSS.
# TEXT comes from the environment (SVG_TITLE, SVG_DESC), where awk leaves backslashes alone.

BEGIN {
  title = html(ENVIRON["SVG_TITLE"])
  desc = html(ENVIRON["SVG_DESC"])
  split("26,26,26 90,90,90 217,217,217 223,230,239 133,133,133 8,81,156 217,95,2 17,119,51 136,34,85", rgb, " ")
  split("#1a1a1a #5a5a5a #d9d9d9 #dfe6ef #858585 #08519c #d95f02 #117733 #882255", hex, " ")
  split("ink muted rule band noise c1 c2 c3 c4", css, " ")
  for (i = 1; i in rgb; i++) color[rgb[i]] = "var(--" css[i] ")"
}

/^<\?xml/ { if (mode == "file") print; next }
/^<svg/ { head = 1; next }
head && /viewBox=/ { match($0, /"[^"]*"/); box = substr($0, RSTART + 1, RLENGTH - 2) }
head && />/ { head = 0; start(); next }
head { next }
/^<title>/ || /^<desc>/ { next }
/<filter /, /<\/filter>/ { next }
/^[ \t]*$/ { next }
# The background of the whole picture.
mode == "inline" && /^<rect x="0" y="0"/ { next }

{
  gsub(/\]\]>/, "]]\\&gt;")
  # gnuplot names each curve by its plot command, which browsers would show as a tip.
  sub(/<title>[^<]*<\/title>/, "")
  gsub(/font-family="DejaVu Sans Bold"/, "font-weight=\"bold\"")
  gsub(/ font-family="DejaVu Sans"/, "")
  gsub(/gpDot|gpPt|gnuplot_canvas|gpPat/, id "-&")
  sub(/id="chart_plot_/, "id=\"" id "-plot-")
  if (mode == "inline") {
    gsub(/xlink:href/, "href")
    $0 = from_page($0)
  }
}

# Thousands of dots, each its own element, make a page slow: one path with round ends draws them all.
match($0, /^[ \t]*<use [^>]*gpPt(6|8|4|12). transform=.translate\([-0-9.]+,[-0-9.]+\) scale\([0-9.]+\). color=.[^>]*.\/>$/) && dot($0) { next }

{ flush(); print }
END { flush() }

function start() {
  print "<svg" (mode == "file" ? " xmlns=\"http://www.w3.org/2000/svg\" xmlns:xlink=\"http://www.w3.org/1999/xlink\"" : "") \
    " viewBox=\"" box "\" role=\"img\" aria-labelledby=\"" id "-title " id "-desc\" font-family=\"DejaVu Sans, Verdana, Arial, sans-serif\">"
  print "<title id=\"" id "-title\">" title "</title>"
  print "<desc id=\"" id "-desc\">" desc "</desc>"
}

# from_page(s): rgb(26, 26, 26) becomes var(--ink), and so on.
function from_page(s,    done, part, key) {
  while (match(s, /rgb\([ 0-9,]+\)/)) {
    part = substr(s, RSTART, RLENGTH)
    key = substr(part, 5, RLENGTH - 5)
    gsub(/ /, "", key)
    done = done substr(s, 1, RSTART - 1) ((key in color) ? color[key] : part)
    s = substr(s, RSTART + RLENGTH)
  }
  return done s
}

# dot(s): keeps a small marker for flush; 0 when it is not small.
function dot(s,    scale, at, look) {
  match(s, /scale\([0-9.]+/)
  scale = substr(s, RSTART + 6, RLENGTH - 6) + 0
  if (scale > 3) return 0
  match(s, /translate\([-0-9.]+,[-0-9.]+/)
  at = substr(s, RSTART + 10, RLENGTH - 10)
  sub(/,/, " ", at)
  match(s, /color=.*\/>$/)
  look = substr(s, RSTART + 7, RLENGTH - 10)
  if (look != dot_color || scale != dot_scale || (s ~ /gpPt6/) != dot_round) flush()
  dot_color = look
  dot_scale = scale
  dot_round = (s ~ /gpPt6/)
  dots = dots "M" at "h0"
  return 1
}

function flush() {
  if (dots == "") return
  print "<path fill=\"none\" stroke=\"" dot_color "\" stroke-width=\"" 2 * dot_scale "\" stroke-linecap=\"" \
    (dot_round ? "round" : "square") "\" d=\"" dots "\"/>"
  dots = ""
}
