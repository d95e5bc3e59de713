# SPDX-License-Identifier: BSD-3-Clause
# The forest for the text report, as characters: intervals of the differences, the A/A interval of each
# compiler, and the margin. Reads mail.tsv and mail_size.tsv.
DATA = ARG1; OUTPUT = ARG2
COLUMNS = 72
set datafile separator "\t"
set decimalsign '.'

size = DATA . '/mail_size.tsv'
array SIZE[6]
do for [i = 1:6] {
  stats size using i every ::1 nooutput
  SIZE[i] = STATS_max
}
ROWS = int(SIZE[1]); LABEL = int(SIZE[2]); LOW = SIZE[3]; HIGH = SIZE[4]; MARGIN = SIZE[5]; STEP = SIZE[6]
# A row of characters is a row of the terminal: one unit of y each, the axis and its numbers below.
set terminal dumb COLUMNS, ROWS + 3 noenhanced
set output OUTPUT
set lmargin LABEL + 2
set rmargin 0
set tmargin 0
set bmargin 2
set xrange [LOW:HIGH]
set yrange [ROWS:-0.5]
unset key
set border 1
unset ytics
set xtics nomirror out STEP
set format x '%+g'
set xtics add ('0' 0)

repeat(c, n) = n < 1 ? '' : c . repeat(c, n - 1)
cells(a, b) = int((b - a) / (HIGH - LOW) * (COLUMNS - LABEL - 4) + 0.5)
# Of an interval narrower than a bar with both ends, the estimate alone is drawn.
bar(a, b, c) = !valid(4) || cells(a, b) < 2 ? '' : '[' . repeat(c, cells(a, b) - 1) . ']'
kind(name) = strcol(6) eq name

rows = DATA . '/mail.tsv'
plot \
  rows using (-MARGIN):1:(kind('words') && strlen(strcol(2)) ? '' : '.') every ::1 with labels, \
  rows using (MARGIN):1:(kind('words') && strlen(strcol(2)) ? '' : '.') every ::1 with labels, \
  rows using (0):1:(kind('words') && strlen(strcol(2)) ? '' : '|') every ::1 with labels, \
  rows using (kind('row') ? column(4) : NaN):1:(bar(column(4), column(5), '-')) every ::1 with labels left, \
  rows using (kind('aa') ? column(4) : NaN):1:(bar(column(4), column(5), '=')) every ::1 with labels left, \
  rows using (kind('row') ? column(3) : NaN):1:('o') every ::1 with labels, \
  rows using (LOW):1:(sprintf(sprintf('%%-%ds', LABEL + 2), strcol(2))) every ::1 with labels right
