# SPDX-License-Identifier: BSD-3-Clause
# A chart with one row a build: reads NAME_size.tsv and NAME_range.tsv, makes the page, and the
# parts of the plot command that such charts share.
stats DATA . '/' . NAME . '_size.tsv' using 1 every ::1 nooutput
LAST = STATS_max
stats DATA . '/' . NAME . '_size.tsv' using 2 every ::1 nooutput
LABEL = min(STATS_max, LABEL_MOST)
range = DATA . '/' . NAME . '_range.tsv'
stats range using 1 every ::1 nooutput
LOW = STATS_min
stats range using 2 every ::1 nooutput
HIGH = STATS_max
stats range using 3 every ::1 nooutput
MARGIN = STATS_max
stats range using (column(SMALL ? 5 : 4)) every ::1 nooutput
STEP = STATS_max
ROWS = LAST + 0.3
load HERE . 'page.gp'

set xrange [LOW:HIGH]
set yrange [LAST + 0.7:0.4]
set y2range [LAST + 0.7:0.4]
set xtics STEP

rows = DATA . '/' . NAME . '.tsv'
groups = DATA . '/' . NAME . '_groups.tsv'
# Headings begin above the names where there is no room to their right.
SHIFT = SMALL ? x(LEFT - 8) : -x(6)
