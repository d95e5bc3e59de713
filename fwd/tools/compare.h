/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Every variant of an experiment against the baseline: one comparison for each
 * variant, compiler and DPDK release.
 */
#ifndef MPPSDIFF_COMPARE_H
#define MPPSDIFF_COMPARE_H

#include "effect.h"
#include "pairs.h"

/* One process start as units.tsv shows it. */
struct start {
	const struct process *process;
	double y;	 /* ln ratio to its partner; NAN without one */
	size_t n_rounds; /* the two have in common; its own if it has no partner */
};

struct comparison {
	uint32_t variant, cc, dpdk; /* indices into the experiment's names */
	bool is_baseline;
	size_t planned;	   /* index of its first process */
	bool over_layouts; /* the ratio is over shuffled layouts, not the one as built */

	struct start *start; /* every process start with a valid slice */
	size_t n_starts;
	struct unit *unit; /* those with a partner; of the baseline only first starts */
	size_t n_units;
	struct unit *aa_unit; /* second starts of the baseline; only in its own row */
	size_t n_aa_units;

	struct estimate ratio;	  /* over layouts 1 and up, or as built if there are none */
	struct estimate as_built; /* layout 0 */
	struct estimate aa;	  /* second starts of the baseline against the first ones */

	double cycles;				 /* per packet */
	double mpps;				 /* per forwarding core */
	size_t n_layouts, n_processes, n_rounds; /* that the ratio rests on */

	size_t n_valid, n_invalid;  /* slices */
	uint64_t packets, dropped;  /* of the valid slices */
	size_t n_judged, n_bimodal; /* processes */
	double mode_gap;	    /* largest of the bimodal ones */

	double p_corrected;
	enum verdict verdict;
};

struct comparisons {
	struct comparison *row; /* by release, compiler; the baseline first, then as planned */
	size_t n;
	size_t n_tested; /* rows that Holm's correction counts */
};

/*
 * Compares everything in e, which is finished, with the variant of index
 * baseline. The ratios of one row depend on its names and seed only, not on what else
 * is in the file; the corrected p and the verdict do.
 */
void compare_all(const struct experiment *e, uint32_t baseline, const struct rules *rules,
	uint64_t seed, struct comparisons *out);

/* Whether p is a start of the variant, compiler and release of row c. */
bool belongs_to(const struct process *p, const struct comparison *c);

void comparisons_free(struct comparisons *c);

/* Widest half-width of the 95 % intervals in percent of the ratio 1; INFINITY if one has none. */
double widest_half_width(const struct comparisons *c);

#endif
