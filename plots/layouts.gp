# SPDX-License-Identifier: BSD-3-Clause
# How much does the difference to the baseline hang on the link order? One marker a process start, the
# link order as built set apart.
HERE = ARG0[1:strstrt(ARG0, 'layouts.gp') - 1]
DATA = ARG1; OUTPUT = ARG2; KIND = ARG3; TITLE = ARG4; MACHINE = ARG5; DEVICE = ARG6; CAPTION = ARG7; CAPTION2 = ARG8
load HERE . 'style.gp'

NAME = 'layouts'
ROW = 36
TEXT = 26
XLABEL = 'left of 0: fewer cycles per packet, faster; right of 0: more, slower'
XLABEL_SMALL = 'left: faster, right: slower'
load HERE . 'rows.gp'

set format x '%+g %%'
set xtics add ('0' 0)
set object 1 rectangle from -MARGIN, graph 0 to MARGIN, graph 1 behind fillcolor rgb BAND fillstyle solid noborder
set arrow 1 from 0, graph 0 to 0, graph 1 nohead back linecolor rgb INK linewidth 1.5

units = DATA . '/layouts_units.tsv'
plot \
  groups using (LOW):1:2 every ::1 with labels left offset screen -SHIFT, 0 textcolor rgb INK font BOLD, \
  for [c = 1:4] units using (column(4) == c && column(3) == 0 ? column(2) : NaN):1 every ::1 with points \
    pointtype hollow(c) pointsize PS linewidth (PS == 1 ? 1.3 : 1.9) linecolor rgb color(c), \
  units using (column(3) == 1 ? column(2) : NaN):1 every ::1 with points pointtype 13 pointsize (PS == 1 ? 1.5 : 0.8) linecolor rgb INK, \
  for [c = 1:4] rows using (column(5) == c ? column(4) : NaN):(column(1) - 0.36):(0):(0.72) every ::1 with vectors nohead linewidth 4 linecolor rgb color(c), \
  rows using (LOW - 1):1:ytic(wrapped(stringcolumn(2))) every ::1 with points, \
  rows using (LOW - 1):1:y2tic(stringcolumn(3)) every ::1 axes x1y2 with points
