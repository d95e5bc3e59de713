# SPDX-License-Identifier: BSD-3-Clause
# The page of a chart: terminal, size, margins, title, captions. Needs ROWS rows of ROW pixels each;
# LABEL and TEXT, the characters that stand left and right of the plot; XLABEL and XLABEL_SMALL. NO_AXIS,
# where it is set, leaves out the room below for numbers and label of the x axis.
WORDS = KIND eq 'png' || KIND eq 'png8' || KIND eq 'svg'
TOP = WORDS ? 108 : 12
BOTTOM = (WORDS ? (CAPTION2 eq '' ? 96 : 118) : 70) - (exists('NO_AXIS') ? 54 : 0)
HEIGHT = TOP + BOTTOM + ROW * ROWS

if (KIND eq 'svg' || KIND eq 'page' || KIND eq 'phone') {
  set terminal svg size WIDTH, HEIGHT dynamic noenhanced background rgb PAPER font 'DejaVu Sans,' . (SMALL ? 12 : 13) name 'chart'
  BOLD = 'DejaVu Sans Bold,' . (SMALL ? 12 : 15)
  BIG = 'DejaVu Sans Bold,20'
}
if (KIND eq 'png') {
  set terminal pngcairo size WIDTH, HEIGHT noenhanced background rgb PAPER font 'DejaVu Sans,11'
  BOLD = 'DejaVu Sans Bold,12'
  BIG = 'DejaVu Sans Bold,16'
}
# A palette makes a crowded chart three times smaller, at the price of less smooth slants.
if (KIND eq 'png8') {
  set terminal png size WIDTH, HEIGHT noenhanced notruecolor background rgb PAPER font 'DejaVu Sans,11'
  BOLD = 'DejaVu Sans:bold,12'
  BIG = 'DejaVu Sans:bold,16'
}
set output OUTPUT

x(pixels) = pixels * 1.0 / WIDTH
y(pixels) = 1 - pixels * 1.0 / HEIGHT

LEFT = 24 + CHAR * LABEL
RIGHT = SMALL || TEXT == 0 ? 24 : 24 + CHAR * TEXT
set lmargin at screen x(LEFT)
set rmargin at screen x(WIDTH - RIGHT)
set tmargin at screen y(TOP)
set bmargin at screen y(HEIGHT - BOTTOM)

if (WORDS) {
  set label 101 TITLE at screen x(20), y(28) left font BIG textcolor rgb INK
  set label 102 MACHINE at screen x(20), y(56) left textcolor rgb MUTED
  set label 103 DEVICE at screen x(20), y(78) left textcolor rgb MUTED
  set label 104 CAPTION at screen x(20), y(HEIGHT - (CAPTION2 eq '' ? 20 : 42)) left textcolor rgb MUTED
  set label 105 CAPTION2 at screen x(20), y(HEIGHT - 20) left textcolor rgb MUTED
}
set xlabel SMALL ? XLABEL_SMALL : XLABEL textcolor rgb INK

unset key
set border 1 linecolor rgb MUTED
set xtics nomirror out textcolor rgb INK
set ytics scale 0 textcolor rgb INK
if (!SMALL && TEXT) {
  set y2tics scale 0 textcolor rgb INK
}
set grid xtics linetype 1 linecolor rgb RULE linewidth 1
