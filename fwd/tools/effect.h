/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * From log ratios to an effect with its interval, and from that to a verdict.
 * Every number here is a natural logarithm of a ratio unless it says otherwise.
 * The model and the choice of the interval are described in effect.c.
 */
#ifndef MPPSDIFF_EFFECT_H
#define MPPSDIFF_EFFECT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * The unit of replication: one process start of one layout, paired round by
 * round with its partner of the baseline.
 */
struct unit {
	uint32_t layout, epoch;
	uint32_t base_layout; /* layout of the partner */
	double *d;	      /* log ratio of each round both have, in order */
	size_t n;	      /* rounds; at least 1 */
	double y;	      /* their median */
};

/* What an interval is made of: the highest level that has two members. */
enum level {
	LEVEL_NONE,   /* too little for an interval */
	LEVEL_ROUNDS, /* one process start: nothing but its own rounds */
	LEVEL_EPOCHS, /* process starts of one layout */
	LEVEL_LAYOUTS,
};

struct estimate {
	enum level level;
	size_t n_units, n_layouts, n_rounds;
	size_t n_top; /* members of the level */
	double value; /* mean over layouts of the centre of their starts; NAN without units */
	double se, df;
	double miss;	     /* share of runs in which the interval may miss the truth: 0.05 */
	double low, high;    /* the interval; NAN at LEVEL_NONE */
	double p;	     /* two-sided, of value == 0; NAN at LEVEL_NONE */
	double layout_sd;    /* spread that layout alone makes; NAN if it cannot be known */
	bool layout_sd_pure; /* the spread of process starts has been taken out of it */
	size_t n_borrowed_layouts; /* layouts compared with another layout of the baseline */
};

/* Mean over the layouts of the centre over their epochs of y; NAN without units. */
double mean_over_layouts(const struct unit *unit, size_t n);

/* Units as clusters of layouts, or every unit for itself (A/A: same bytes on both sides). */
enum clusters { BY_LAYOUT, BY_UNIT };

/* Fills *out from unit[0..n-1]; n may be 0. The same seed gives the same bits. */
void estimate_effect(const struct unit *unit, size_t n, enum clusters clusters, double miss,
	uint64_t seed, struct estimate *out);

/*
 * Variance that process starts make in y, within layouts, pooled over them; NAN if
 * no layout has several units. shared: all units of an epoch have the same partner,
 * whose start is common to them and does not make layouts differ: it is taken out.
 */
double start_variance(const struct unit *unit, size_t n, bool shared);

/*
 * Takes the variance that process starts make (see start_variance) out of e's
 * layout spread. var NAN: it is not known, the spread stays as it is.
 */
void separate_layout_spread(struct estimate *e, const struct unit *unit, size_t n, double var);

enum verdict { SLOWER, FASTER, SAME, UNDECIDED };

/* How intervals are made and verdicts given. */
struct rules {
	double margin; /* ln(1 + margin) */
	double alpha;  /* false slower or faster among all comparisons of a file, at one look */
	double miss;   /* share of intervals that may miss the truth, at one look */
};

/*
 * Share of files without any difference in which some verdict is slower or faster.
 * The kit promises 1 percent; half of it is kept for data that is not as the model says.
 */
#define DEFAULT_ALPHA 0.005

/* Looks at a run while it goes on; the recursion is exact enough up to this many. */
#define MAX_LOOKS 20

/*
 * The level at which each of looks equally spaced looks may test so that together
 * they are wrong in alpha of cases: Pocock, Biometrika 64 (1977). For 0.05 and 2 to
 * 5 looks it is 0.0294, 0.0221, 0.0182, 0.0158.
 */
double pocock_level(double alpha, unsigned int looks);

/* Rules for a margin and an alpha given as shares, and a run looked at looks times at most. */
struct rules make_rules(double margin, double alpha, unsigned int looks);

/* Holm's step-down correction of p[0..n-1] in place (Scand. J. Statistics 6, 1979). */
void holm(double *p, size_t n);

/*
 * slower, faster: the Holm-corrected p is at most the alpha of this look, and
 *     the estimate lies beyond the margin;
 * same: the interval lies within the margin, whether or not it holds 1;
 * undecided: everything else, and everything that rests on one process start.
 */
enum verdict judge(const struct estimate *e, double p_corrected, const struct rules *r);

/*
 * How many members of e's level there would have to be, if they spread as they
 * do now and the estimate stayed, for a verdict among n_comparisons; 0 if more
 * than 1000 (the effect lies at the margin) or not known.
 */
size_t members_needed(const struct estimate *e, const struct rules *r, size_t n_comparisons);

#endif
