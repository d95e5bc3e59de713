# SPDX-License-Identifier: BSD-3-Clause
# With which releases and compilers is a build slower or faster? A cell each, coloured by verdict; letter,
# word and hatching say the same without colour.
HERE = ARG0[1:strstrt(ARG0, 'matrix.gp') - 1]
DATA = ARG1; OUTPUT = ARG2; KIND = ARG3; TITLE = ARG4; MACHINE = ARG5; DEVICE = ARG6; CAPTION = ARG7; CAPTION2 = ARG8
load HERE . 'style.gp'

size = DATA . '/matrix_size.tsv'
stats size using 1 every ::1 nooutput
LAST = STATS_max
stats size using 2 every ::1 nooutput
COLUMNS = STATS_max
stats size using 3 every ::1 nooutput
LABEL_MOST = SMALL ? 12 : LABEL_MOST
LABEL = min(STATS_max, LABEL_MOST)
stats size using 4 every ::1 nooutput
LINES = STATS_max
stats size using 5 every ::1 nooutput
NOTES = STATS_max
stats size using 6 every ::1 nooutput
CROWD = STATS_max

# What a cell has room for: everything, a letter and short lines, or a letter and the effect.
CELL = min((WIDTH - 48 - CHAR * LABEL) / COLUMNS, 190)
WIDE = CELL >= 124
NARROW = CELL < 92
TINY = CELL < 30
# Names of releases that would run into each other are shortened, and then stand on two levels.
HEADCHAR = SMALL ? 8.5 : 11
PLAIN = CELL < HEADCHAR * (CROWD + 5)
TIGHT = CELL < HEADCHAR * CROWD
LINES = TINY ? 1 : (NARROW ? 2 : LINES)
STEP = SMALL ? 15 : 19
ROW = STEP * LINES + 16
# In rows: the two lines of heads above, the legend and the reasons below.
HEAD = (TIGHT ? 3.6 : 2.6) * STEP / ROW
NOTES = KIND eq 'page' || SMALL ? 0 : NOTES
TAIL = (26 + 20 * NOTES) * 1.0 / ROW
ROWS = LAST + HEAD + TAIL
TEXT = 0
XLABEL = ''
XLABEL_SMALL = ''
NO_AXIS = 1
load HERE . 'page.gp'

# The fills are the same on dark paper, and so the words on them.
array FILL[6] = ['#a63603', '#74b3dd', '#e3ebdf', '#fff2b8', '#ffffff', '#f1f1f1']
DARK = '#1b1b1b'
set rmargin at screen x(LEFT + CELL * COLUMNS)
set xrange [0.5:COLUMNS + 0.5]
set yrange [LAST + 0.5 + TAIL:0.5 - HEAD]
unset border
unset xtics
unset ytics
unset grid
set label 110 'S slower, F faster, = same, ? undecided, B baseline, x no figure' . (NOTES > 0 ? ', and why:' : '') \
  at first 0.5, LAST + 0.5 + 16.0 / ROW left offset screen (SMALL ? -x(LEFT - 12) : -x(LEFT - 20)), 0 textcolor rgb MUTED

cells = DATA . '/matrix.tsv'
heads = DATA . '/matrix_heads.tsv'
PAD = 3.0 / CELL
PADY = 3.0 / ROW
# line(n, of): where line n of a cell stands, from its middle, in rows.
line(n, of) = (n - (of + 1) / 2.0) * STEP / ROW
head(c) = WIDE ? strcol(4) . ' ' . strcol(5) : strcol(4)
dense(s) = WIDE ? s : (strstrt(s, ' to ') ? s[1:strstrt(s, ' to ') - 1] . '..' . s[strstrt(s, ' to ') + 4:*] : s)
short(s) = strlen(s) > 2 && s[strlen(s) - 1:*] eq ' %' ? s[1:strlen(s) - 2] : s
lines(c) = TINY ? 1 : NARROW ? 2 : (2 + (strcol(7) ne '-') + (strcol(8) ne '-')) - (strcol(6) eq '-')
here(k) = column(3) == k
plot \
  for [k = 1:6] cells using (here(k) ? column(1) : NaN):2:(column(1) - 0.5 + PAD):(column(1) + 0.5 - PAD):(column(2) - 0.5 + PADY):(column(2) + 0.5 - PADY) every ::1 \
    with boxxyerror fillcolor rgb FILL[k] fillstyle solid border linecolor rgb (k == 5 ? MUTED : FILL[k]), \
  cells using (here(4) ? column(1) : NaN):2:(column(1) - 0.5 + PAD):(column(1) + 0.5 - PAD):(column(2) - 0.5 + PADY):(column(2) + 0.5 - PADY) every ::1 \
    with boxxyerror fillstyle transparent pattern 4 noborder linecolor rgb '#e0cb80', \
  cells using (here(6) ? column(1) : NaN):2:(column(1) - 0.5 + PAD):(column(1) + 0.5 - PAD):(column(2) - 0.5 + PADY):(column(2) + 0.5 - PADY) every ::1 \
    with boxxyerror fillstyle transparent pattern 5 noborder linecolor rgb '#c9c9c9', \
  cells using (here(0) ? 0.5 : NaN):2:(wrapped(strcol(5))) every ::1 with labels right offset screen x(-10), 0 textcolor rgb INK, \
  heads using (column(4) == 0 ? column(1) : NaN):(0.5 - 0.55 * STEP / ROW):(TINY ? strcol(3)[1:1] : strcol(3)) every ::1 with labels center textcolor rgb INK, \
  heads using (column(4) > 0 ? (column(1) + column(2)) / 2.0 : NaN):(0.5 - (TIGHT && int(column(4)) % 2 ? 2.75 : 1.75) * STEP / ROW):(PLAIN ? strcol(3)[6:*] : strcol(3)) every ::1 with labels center textcolor rgb INK font BOLD, \
  heads using (column(4) > 0 ? column(1) - 0.5 + PAD : NaN):(0.5 - 1.12 * STEP / ROW):(column(2) - column(1) + 1 - 2 * PAD):(0) every ::1 with vectors nohead linecolor rgb MUTED linewidth 1.2, \
  DATA . '/matrix_notes.tsv' using (0.5):(LAST + 0.5 + (16.0 + 20 * (column(0) + 1)) / ROW):(NOTES > 0 ? strcol(1) : '') every ::1 with labels left offset screen -x(LEFT - 20), 0 textcolor rgb INK, \
  for [k = 1:6] cells using (here(k) ? column(1) : NaN):(column(2) + line(1, lines(0))):(head(0)) every ::1 \
    with labels center textcolor rgb (k == 1 ? PAPER : DARK) font BOLD, \
  for [k = 1:6] cells using (here(k) && !TINY && strcol(6) ne '-' ? column(1) : NaN):(column(2) + line(2, lines(0))):(NARROW ? short(strcol(6)) : strcol(6)) every ::1 \
    with labels center textcolor rgb (k == 1 ? PAPER : DARK), \
  for [k = 1:6] cells using (here(k) && !NARROW && strcol(7) ne '-' ? column(1) : NaN):(column(2) + line(3, lines(0))):(dense(strcol(7))) every ::1 \
    with labels center textcolor rgb (k == 1 ? PAPER : DARK), \
  for [k = 1:6] cells using (here(k) && !NARROW && strcol(8) ne '-' ? column(1) : NaN):(column(2) + line(lines(0), lines(0))):8 every ::1 \
    with labels center textcolor rgb (k == 1 ? PAPER : DARK)
