# SPDX-License-Identifier: BSD-3-Clause
# Did the machine stay steady during the run? Every slice in the order of the rounds, one panel a
# build, all on the same scale and stacked into one plot.
HERE = ARG0[1:strstrt(ARG0, 'drift.gp') - 1]
DATA = ARG1; OUTPUT = ARG2; KIND = ARG3; TITLE = ARG4; MACHINE = ARG5; DEVICE = ARG6; CAPTION = ARG7; CAPTION2 = ARG8
load HERE . 'style.gp'

size = DATA . '/drift_size.tsv'
stats size using 1 every ::1 nooutput
ROWS = STATS_max
stats size using 2 every ::1 nooutput
ROUNDS = STATS_max
ROW = ROWS > 12 ? 66 : (ROWS > 6 ? 84 : (ROWS > 2 ? 112 : 180))
LABEL = 5
TEXT = 0
XLABEL = 'round; a vertical line begins a new epoch, where all processes were started again'
XLABEL_SMALL = 'round'
load HERE . 'page.gp'

set xrange [0.5:ROUNDS + 0.5]
set yrange [ROWS:0]
set grid noxtics ytics linetype 1 linecolor rgb RULE linewidth 1

slices = DATA . '/drift.tsv'
kind(name) = strcol(4) eq name
plot \
  DATA . '/drift_epochs.tsv' using 1:(0):(0):(ROWS) every ::1 with vectors nohead linecolor rgb NOISE linewidth 1.2, \
  for [c = 1:4] slices using (column(3) == c && kind('good') ? column(1) : NaN):2 every ::1 with points \
    pointtype filled(c) pointsize 0.5 * PS linecolor rgb color(c), \
  slices using (kind('off') ? column(1) : NaN):2 every ::1 with points pointtype 8 pointsize 0.9 * PS linecolor rgb INK, \
  slices using (kind('invalid') ? column(1) : NaN):2 every ::1 with points pointtype 2 pointsize PS linewidth 2 linecolor rgb INK, \
  DATA . '/drift_panels.tsv' using (0.5):1:2 every ::1 with labels left offset screen x(6), 0 textcolor rgb INK font BOLD, \
  DATA . '/drift_ticks.tsv' using (0):1:ytic(2) every ::1 with points
