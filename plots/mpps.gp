# SPDX-License-Identifier: BSD-3-Clause
# How many packets per second does each build forward? The median of each build with the interval
# of its difference to the baseline, over the rate of every single process start.
HERE = ARG0[1:strstrt(ARG0, 'mpps.gp') - 1]
DATA = ARG1; OUTPUT = ARG2; KIND = ARG3; TITLE = ARG4; MACHINE = ARG5; DEVICE = ARG6; CAPTION = ARG7; CAPTION2 = ARG8
load HERE . 'style.gp'

NAME = 'mpps'
ROW = 30
TEXT = 30
XLABEL = 'million packets per second (Mpps); right is faster'
XLABEL_SMALL = 'Mpps; right is faster'
load HERE . 'rows.gp'

plot \
  groups using (LOW):1:2 every ::1 with labels left offset screen -SHIFT, 0 textcolor rgb INK font BOLD, \
  DATA . '/mpps_units.tsv' using 2:1 every ::1 with points pointtype 6 pointsize 0.9 * PS linecolor rgb NOISE, \
  for [c = 1:4] rows using (column(7) == c && valid(5) ? column(4) : NaN):1:5:6 every ::1 with xerrorbars \
    pointtype filled(c) pointsize 1.7 * PS linewidth 2.5 linecolor rgb color(c), \
  for [c = 1:4] rows using (column(7) == c && !valid(5) ? column(4) : NaN):1 every ::1 with points \
    pointtype filled(c) pointsize 1.7 * PS linewidth 2.5 linecolor rgb color(c), \
  rows using (LOW - 1):1:ytic(wrapped(stringcolumn(2))) every ::1 with points, \
  rows using (LOW - 1):1:y2tic(stringcolumn(3)) every ::1 axes x1y2 with points
