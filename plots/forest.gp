# SPDX-License-Identifier: BSD-3-Clause
# Which builds need more or fewer cycles per packet than the baseline? Intervals of the differences,
# the margin within which builds count as the same, and the A/A band, below which is noise.
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
set object 1 rectangle from -MARGIN, graph 0 to MARGIN, graph 1 behind fillcolor rgb BAND fillstyle solid noborder
set arrow 1 from 0, graph 0 to 0, graph 1 nohead back linecolor rgb INK linewidth 1.5

plot \
  groups using 5:((column(3) + column(4)) / 2):5:6:3:4 every ::1 with boxxyerror fillstyle transparent pattern 4 linecolor rgb NOISE, \
  groups using (LOW):1:2 every ::1 with labels left offset screen -SHIFT, 0 textcolor rgb INK font BOLD, \
  for [c = 1:4] rows using (column(7) == c && valid(5) ? column(4) : NaN):1:5:6 every ::1 with xerrorbars \
    pointtype filled(c) pointsize 1.7 * PS linewidth 2.5 linecolor rgb color(c), \
  for [c = 1:4] rows using (column(7) == c && !valid(5) ? column(4) : NaN):1 every ::1 with points \
    pointtype filled(c) pointsize 1.7 * PS linewidth 2.5 linecolor rgb color(c), \
  rows using (LOW - 1):1:ytic(wrapped(stringcolumn(2))) every ::1 with points, \
  rows using (LOW - 1):1:y2tic(stringcolumn(3)) every ::1 axes x1y2 with points
