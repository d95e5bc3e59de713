/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Slices in memory: which process ran them, which slices of two processes
 * belong to the same round, and whether a process has two speeds.
 * Everything is kept as x = ln(cycles/packet), so that a ratio is a difference.
 */
#ifndef MPPSDIFF_PAIRS_H
#define MPPSDIFF_PAIRS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A slice; x of an invalid one is NAN until experiment_finish() drops it. */
struct slice {
	uint32_t round;
	uint32_t line; /* of slices.tsv, for messages */
	double x;      /* ln(cycles/packet) */
};

/* One start of one binary. variant, cc and dpdk are indices into the names of the experiment. */
struct process {
	uint32_t epoch, number, layout;
	uint32_t variant, cc, dpdk;
	uint32_t line; /* first line that names it */
	struct slice *slice;
	size_t n_slices, max_slices;
	size_t n_invalid;
	uint32_t reason;	   /* of its first invalid slice; an index into the names */
	uint64_t packets, dropped; /* of the valid slices; saturate */
	double tsc_hz;		   /* of the first valid slice; 0 without any */
	double median;		   /* of x over the valid slices */
	int bimodal;		   /* 1 yes, 0 no, -1 too few slices to say */
	double mode_gap;	   /* distance of the two modes, natural log; 0 unless bimodal */
};

struct names {
	char **name;
	uint32_t n;
};

struct experiment {
	struct names variant, cc, dpdk, reason;
	struct process *process; /* after experiment_finish(): by epoch, then number */
	size_t n_processes, max_processes;
	uint32_t *hash; /* index + 1 into process[], 0 is free; hash_size is a power of two */
	size_t hash_size;
};

/* Slices below which bimodality is not judged. */
#define BIMODAL_MIN_SLICES 20

/* Index of name in n, which is made if it is new. */
uint32_t names_intern(struct names *n, const char *name);

/* Index of name in n, or -1. */
int names_find(const struct names *n, const char *name);

void experiment_init(struct experiment *e);
void experiment_free(struct experiment *e);

/* What identifies a process start, as one row of slices.tsv tells it. */
struct process_key {
	uint32_t epoch, number, layout, variant, cc, dpdk, line;
};

/*
 * The process that key names, made if it is new. NULL if epoch and number are
 * known under another variant, compiler, release or layout; *other is then its
 * first line. The pointer is good until the next call.
 */
struct process *experiment_process(
	struct experiment *e, const struct process_key *key, uint32_t *other);

/* Appends a valid slice of x = ln(cycles/packet) to p. */
void process_add(struct process *p, uint32_t round, uint32_t line, double x);

/* Counts an invalid slice of p. */
void process_add_invalid(struct process *p, uint32_t round, uint32_t line, uint32_t reason);

/*
 * Sorts, finds medians and judges bimodality. If a process has two slices
 * in the same round, valid or not, returns the higher line of the two and the lower
 * in *first; otherwise 0.
 */
uint32_t experiment_finish(struct experiment *e, uint32_t *first);

/*
 * The process that stands for (variant, cc, dpdk, layout) in epoch: the one
 * with the lowest number among those that have at least half as many valid
 * slices as the best of them, so that one that died early does not replace a
 * living second start. start = 0 is that one, 1 the second start (the next
 * number of the others). NULL if there is none.
 */
const struct process *experiment_start(
	const struct experiment *e, const struct process_key *key, unsigned int start);

/*
 * Differences a.x - b.x of the rounds both have, in order of the rounds, into
 * fresh memory at *d. Returns how many.
 */
size_t pair_slices(const struct process *a, const struct process *b, double **d);

/* Median of x[0..n-1], which is reordered; n > 0. */
double median_of(double *x, size_t n);

/*
 * Hartigan and Hartigan's dip in its rank form, times the square root of n, of
 * sorted x[0..n-1]: the largest distance between the empirical distribution
 * and a unimodal one, see pairs.c. Above DIP_BIMODAL the process counts as bimodal.
 */
double dip_of(const double *sorted, size_t n);
#define DIP_BIMODAL 0.9

#endif
