# SPDX-License-Identifier: BSD-3-Clause
# What all charts share. A chart sets HERE, calls for its arguments and loads this:
#   DATA folder with the TSV files   OUTPUT the file to write   TITLE   MACHINE and DEVICE, the
#   subtitles   CAPTION and CAPTION2 below the chart   KIND, one of
#     png    PNG of 1200 pixels          png8   the same with a palette, for crowded charts
#     svg    the same as SVG             page   SVG for report.html, which has the words as text
#     phone  narrow SVG for report.html
# Names and titles come from data, so nothing is drawn in enhanced mode.

set datafile separator "\t"
set decimalsign '.'

# In grey print the compilers differ in depth, and their markers differ in shape.
array COLOR[4] = ['#08519c', '#d95f02', '#117733', '#882255']
array FILLED[4] = [7, 9, 5, 13]
array HOLLOW[4] = [6, 8, 4, 12]
INK = '#1a1a1a'
MUTED = '#5a5a5a'
RULE = '#d9d9d9'
BAND = '#dfe6ef'
NOISE = '#858585'
PAPER = '#ffffff'

color(c) = COLOR[1 + (int(c) - 1) % 4]
filled(c) = FILLED[1 + (int(c) - 1) % 4]
hollow(c) = HOLLOW[1 + (int(c) - 1) % 4]
min(a, b) = a < b ? a : b
max(a, b) = a > b ? a : b


SMALL = KIND eq 'phone'
WIDTH = SMALL ? 430 : (KIND eq 'page' ? 1080 : 1200)
# Pixels of an average character.
CHAR = SMALL ? 7.6 : 8.6

# wrapped(s): long names on two lines, cut before what was given for --a and --b or behind a library.
LABEL_MOST = SMALL ? 21 : 30
cut(s) = strlen(s) <= LABEL_MOST ? s : s[1:LABEL_MOST - 2] . '..'
cleft(s) = strstrt(s, ' (') > 1 ? strstrt(s, ' (') : (strstrt(s, ': ') > 1 ? strstrt(s, ': ') + 1 : 0)
at(s) = cleft(s) && cleft(s) <= LABEL_MOST + 1 ? cleft(s) : LABEL_MOST + 1
wrapped(s) = strlen(s) <= LABEL_MOST ? s : s[1:at(s) - 1] . "\n" . cut(s[at(s) + (s[at(s):at(s)] eq ' '):*])

# The same point size comes out larger as SVG.
PS = KIND eq 'png' || KIND eq 'png8' ? 1.0 : 0.72
