# SPDX-License-Identifier: BSD-3-Clause
# Which builds need more or fewer cycles per packet than the baseline? Intervals of the differences,
# the margin within which builds count as the same, and the A/A interval, below which is noise.
HERE = ARG0[1:strstrt(ARG0, 'forest.gp') - 1]
DATA = ARG1; OUTPUT = ARG2; KIND = ARG3; TITLE = ARG4; MACHINE = ARG5; DEVICE = ARG6; CAPTION = ARG7; CAPTION2 = ARG8
load HERE . 'style.gp'

NAME = 'forest'
ROW = 30
TEXT = 39
XLABEL = 'left of 0: fewer cycles per packet, faster; right of 0: more, slower'
XLABEL_SMALL = 'left: faster, right: slower'
load HERE . 'rows.gp'

set format x '%+g %%'
set xtics add ('0' 0)

# Margin, zero and A/A belong to a compiler's rows, and leave its heading free.
plot \
  groups using (0):((column(3) + column(4)) / 2):(-MARGIN):(MARGIN):3:4 every ::1 with boxxyerror fillcolor rgb BAND fillstyle solid noborder, \
  for [edge = 5:6] groups using edge:3:(0):(column(4) - column(3)) every ::1 with vectors nohead dashtype 3 linewidth 1.5 linecolor rgb MUTED, \
  groups using (0):3:(0):(column(4) - column(3)) every ::1 with vectors nohead linecolor rgb INK linewidth 1.5, \
  groups using 5:(column(4) - 0.5):5:6:(column(4) - 0.75):(column(4) - 0.25) every ::1 with boxxyerror fillstyle transparent pattern 4 linecolor rgb MUTED, \
  groups using (LOW):1:2 every ::1 with labels left offset screen -SHIFT, 0 textcolor rgb INK font BOLD, \
  for [c = 1:4] rows using (column(7) == c && valid(5) ? column(4) : NaN):1:5:6 every ::1 with xerrorbars \
    pointtype filled(c) pointsize 1.7 * PS linewidth 2.5 linecolor rgb color(c), \
  for [c = 1:4] rows using (column(7) == c && !valid(5) ? column(4) : NaN):1 every ::1 with points \
    pointtype filled(c) pointsize 1.7 * PS linewidth 2.5 linecolor rgb color(c), \
  rows using (LOW - 1):1:ytic(wrapped(stringcolumn(2))) every ::1 with points, \
  rows using (LOW - 1):1:y2tic(stringcolumn(3)) every ::1 axes x1y2 with points
