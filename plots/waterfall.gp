# SPDX-License-Identifier: BSD-3-Clause
# Which part of DPDK executes the extra instructions? Floating bars from the baseline's instructions
# per packet to the variant's.
HERE = ARG0[1:strstrt(ARG0, 'waterfall.gp') - 1]
DATA = ARG1; OUTPUT = ARG2; KIND = ARG3; TITLE = ARG4; MACHINE = ARG5; DEVICE = ARG6; CAPTION = ARG7; CAPTION2 = ARG8
load HERE . 'style.gp'

NAME = 'waterfall'
ROW = SMALL ? 38 : 28
TEXT = 10
XLABEL = 'instructions per packet more (right of 0) or fewer (left) than the baseline'
XLABEL_SMALL = 'instructions per packet'
load HERE . 'rows.gp'

set format x '%+g'
set xtics add ('0' 0)
set arrow 1 from 0, graph 0 to 0, graph 1 nohead back linecolor rgb INK linewidth 1.5

plot \
  groups using (LOW):1:2 every ::1 with labels left offset screen -SHIFT, 0 textcolor rgb INK font BOLD, \
  for [c = 1:4] rows using (column(6) == c ? (column(4) + column(5)) / 2 : NaN):1:4:5:(column(1) - 0.3):(column(1) + 0.3) every ::1 \
    with boxxyerror fillcolor rgb color(c) fillstyle solid 0.75 border linecolor rgb color(c), \
  rows using (column(6) == 0 ? (column(4) + column(5)) / 2 : NaN):1:4:5:(column(1) - 0.3):(column(1) + 0.3) every ::1 \
    with boxxyerror fillcolor rgb INK fillstyle solid border linecolor rgb INK, \
  rows using (LOW - 1):1:ytic(wrapped(stringcolumn(2))) every ::1 with points, \
  rows using (LOW - 1):1:y2tic(stringcolumn(3)) every ::1 axes x1y2 with points
