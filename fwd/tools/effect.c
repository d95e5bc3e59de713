/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The estimator.
 *
 * Model. ln(cycles/packet) of a slice is
 *
 *	variant + layout + process start + what the round does to all + noise
 *
 * A slice is paired with the baseline's slice of the same round, which takes the
 * round out. Within one process start the median over the rounds is taken: it
 * stands any third of bad slices, and none has to be dropped. What is left, the
 * layout and the start, is the same in all rounds, so more rounds do not average
 * it away: the unit of replication is the (layout, epoch), and the effect is
 * the plain mean over the layouts of the mean over their starts.
 *
 * Process starts of one layout, where there are 20 or more, are centred by their 20 %
 * trimmed mean: what disturbs a machine for seconds (a neighbour of a virtual
 * machine) makes a few starts wrong by any amount, and more rounds of them do not
 * help. Layouts are not trimmed: their luck is no disturbance, a build gets it, and the
 * effect is what a link costs on average.
 *
 * Interval. value +- t(df) x se. se comes from resampling (seeded, GSL), of the
 * highest level that has two members: layouts, or else epochs (process starts),
 * or else rounds. A layout takes its epochs with it and an epoch its rounds:
 * the spread between the members of a level already holds everything that
 * happens below it. Trimmed starts have the se of their Winsorised spread, with the
 * degrees of freedom of those that are left (Tukey and McLaughlin, Sankhya A 25, 1963).
 * Otherwise n - 1 of the n members are drawn with replacement, which
 * makes the resampled variance unbiased (Rao and Wu, JASA 83, 1988; the
 * "ultimate cluster" of survey sampling), and df = n - 1. Rounds are drawn in
 * blocks of the square root of their number, since slow states last.
 *
 * The choice was made by simulation. Members of the top level alone, 3000 experiments a
 * line (coverage in percent of nominal 95; mean width in units of the spread of
 * what they are drawn from):
 *
 *	members drawn from, n	this t	    percentile	studentised  Hodges-Lehmann
 *				interval    bootstrap	bootstrap    bootstrap t
 *	normal 4		94.7  2.90  79.6  1.52	94.9  20.3   96.9  3.68
 *	normal 8		95.2  1.63  88.8  1.24	94.9  1.81   96.4  1.84
 *	normal 16		94.4  1.05  91.4  0.92	94.2  1.06   95.0  1.13
 *	t with 3 df, 4		96.3  2.52  79.7  1.31	95.7  17.4   98.2  3.17
 *	t with 3 df, 8		95.5  1.39  87.6  1.05	92.9  1.78   97.3  1.51
 *	10 % at 5 sd, 8		96.7  2.62  88.6  1.97	93.3  3.52   98.0  2.80
 *	two modes, 8		96.8  3.79  85.9  2.89	92.4  4.50   99.1  4.15
 *	uniform 8		94.7  0.48  89.9  0.36	96.8  0.54   95.3  0.57
 *
 * The percentile bootstrap is too narrow by construction with few members, the
 * studentised one is useless at 4 and loses to heavy tails at 8, and a robust
 * centre over the members costs coverage or width. What would break the t
 * interval is skewness (exponential, n = 8: 89 %), but a log ratio of two things
 * that vary alike is symmetric.
 *
 * Resampling the rounds inside the members as well counts their noise twice. Eight
 * starts of 40 rounds, 3 % noise a slice, 600 experiments a line (coverage, mean
 * half-width in percent):
 *
 *	spread of starts	top level	both levels, t	both, percentile
 *	0			95.0  0.67	100.0  1.01	99.5
 *	0.5 %			95.8  0.88	 99.3  1.17	98.0
 *	2 %			95.7  2.43	 97.3  2.54	93.2
 *
 * The whole chain from slices to verdict, by `synth --coverage --trials 1000`: four
 * true effects (0, 1, 3, 9 %), layouts spread by 5 % and starts by 2 %, 40 rounds
 * of 3 % noise; lowest and highest coverage of the four, mean half-width in
 * percent, verdicts slower or faster where nothing differs:
 *
 *	units					coverage	half	false alarms
 *	4 epochs, a layout each			94.2 - 95.9	11.2	0.4 %
 *	8 epochs, a layout each			94.6 - 95.9	 6.2	0.3
 *	8 epochs, two layouts each		93.8 - 94.6	 4.0	0.4
 *	1 epoch of 8 layouts			94.8 - 95.5	 6.2	0.7
 *	4 epochs of the same 8 layouts		95.0 - 95.6	 5.8	0.5
 *	4 epochs as built			95.0 - 96.0	 4.3	0.1
 *	8 epochs as built			94.7 - 96.0	 2.4	0.3
 *	the same, starts 0.2 %, noise 1 %	94.8 - 96.6	 0.32	0.0
 *	the same, noise only			94.9 - 96.1	 0.67	0.1
 *	8 layouts, t with 3 df			95.0 - 96.5	 5.9	0.5
 *	8 layouts, two modes			94.8 - 95.8	 6.2	0.4
 *	8 layouts, drift 50 %, steps 20 %,
 *	  10 % outliers, 10 % missing, a death	95.3 - 95.6	 6.2	0.3
 *	8 layouts, baseline as built only	95.1 - 96.1	13.1	0.3
 *	4 looks at 12 epochs as built, ended by
 *	  a verdict or a half-width of 0.5 %	96.1 - 97.8	 0.68	0.2
 *
 * Where several layouts had to be compared with one layout of the baseline, that
 * layout's own luck is common to them and invisible in their spread. It is added
 * to the variance, taken to be as large as theirs.
 */
#include "effect.h"

#include <gsl/gsl_cdf.h>
#include <gsl/gsl_integration.h>
#include <gsl/gsl_math.h>
#include <gsl/gsl_randist.h>
#include <gsl/gsl_rng.h>
#include <gsl/gsl_sort.h>
#include <gsl/gsl_statistics_double.h>
#include <stdlib.h>
#include <string.h>

#include "pairs.h"
#include "util.h"

/* Draws of the resampling: the se then has an error of 1 percent of itself. */
#define DRAWS	  4000
#define DRAWS_MIN 100
/* Values touched by one resampling at most, whatever the size of the input. */
#define DRAW_WORK 20000000

/* Rounds below which one process start has no interval. */
#define ROUNDS_MIN 4

#define MEMBERS_MAX 1000

/* Points at which a density is known when looks are accounted for. */
#define NODES 96

/* From so many process starts on, this share is left out at each end. */
#define TRIM_FROM 20
#define TRIM	  0.2

/* How often an interval may miss the truth. */
#define INTERVAL_MISS 0.05

/* What the units of one layout come to. */
struct layout_mean {
	uint32_t layout, base_layout;
	bool borrowed; /* base_layout is not layout in any epoch */
	size_t n_epochs, n_units;
	double mean;
};

static size_t
draws_for(size_t n)
{
	size_t draws = DRAW_WORK / n;

	return draws > DRAWS ? DRAWS : draws < DRAWS_MIN ? DRAWS_MIN : draws;
}

/* se of the mean of x[0..n-1] by resampling n - 1 of n. */
static double
resample_mean(const double *x, size_t n, gsl_rng *rng)
{
	size_t draws = draws_for(n), i, j;
	double *mean = xcalloc(draws, sizeof(*mean)), se;

	for (i = 0; i < draws; i++) {
		for (j = 0; j < n - 1; j++)
			mean[i] += x[gsl_rng_uniform_int(rng, n)];
		mean[i] /= (double)(n - 1);
	}
	se = gsl_stats_sd(mean, 1, draws);
	free(mean);
	return se;
}

/* Members left out at each end of n process starts. */
static size_t
trimmed_of(size_t n)
{
	return n < TRIM_FROM ? 0 : (size_t)floor(TRIM * (double)n);
}

/* x[0..n-1] in ascending order; to be freed. */
static double *
sorted_copy(const double *x, size_t n)
{
	double *copy = xcalloc(n, sizeof(*copy));

	memcpy(copy, x, n * sizeof(*copy));
	gsl_sort(copy, 1, n);
	return copy;
}

/* Centre of the process starts x[0..n-1]: their mean, trimmed where there are enough. */
static double
centre_of_starts(const double *x, size_t n)
{
	double *sorted = sorted_copy(x, n), centre;
	size_t cut = trimmed_of(n);

	centre = gsl_stats_mean(sorted + cut, 1, n - 2 * cut);
	free(sorted);
	return centre;
}

/* se of the trimmed mean of x[0..n-1], cut > 0 at each end; df in *df. */
static double
trimmed_se(const double *x, size_t n, size_t cut, double *df)
{
	double *w = sorted_copy(x, n), left = (double)(n - 2 * cut), se;

	for (size_t i = 0; i < cut; i++) {
		w[i] = w[cut];
		w[n - 1 - i] = w[n - 1 - cut];
	}
	se = gsl_stats_sd(w, 1, n) * sqrt((double)n) / left;
	*df = left - 1;
	free(w);
	return se;
}

/* se of the median of d[0..n-1] by resampling blocks of neighbours; df in *df. */
static double
resample_median(const double *d, size_t n, gsl_rng *rng, double *df)
{
	size_t block = (size_t)floor(sqrt((double)n)), blocks = n / block;
	size_t draws = draws_for(n), i, j;
	double *median = xcalloc(draws, sizeof(*median));
	double *x = xcalloc(blocks * block, sizeof(*x)), se;

	for (i = 0; i < draws; i++) {
		for (j = 0; j < blocks; j++)
			memcpy(x + j * block, d + gsl_rng_uniform_int(rng, n - block + 1),
				block * sizeof(*x));
		median[i] = median_of(x, blocks * block);
	}
	*df = (double)blocks - 1;
	se = gsl_stats_sd(median, 1, draws) * sqrt((double)blocks / *df);
	free(x);
	free(median);
	return se;
}

static int
compare_unit(const void *a, const void *b)
{
	const struct unit *p = a, *q = b;

	if (p->layout != q->layout)
		return p->layout < q->layout ? -1 : 1;
	if (p->epoch != q->epoch)
		return p->epoch < q->epoch ? -1 : 1;
	return (p->y > q->y) - (p->y < q->y);
}

static struct unit *
sorted_units(const struct unit *unit, size_t n)
{
	struct unit *u = xcalloc(n, sizeof(*u));

	memcpy(u, unit, n * sizeof(*u));
	qsort(u, n, sizeof(*u), compare_unit);
	return u;
}

/*
 * Means of sorted units: of each (layout, epoch) into cell[], and from those of
 * each layout into layout[]; both have room for n. Numbers of them in
 * *n_cells and the return value.
 */
static size_t
collect_means(
	const struct unit *u, size_t n, double *cell, size_t *n_cells, struct layout_mean *layout)
{
	size_t n_layouts = 0, first = 0, i, j;

	*n_cells = 0;
	for (i = 0; i < n; i = j) {
		struct layout_mean *l;
		double sum = 0;

		if (n_layouts == 0 || layout[n_layouts - 1].layout != u[i].layout) {
			layout[n_layouts++] =
				(struct layout_mean){u[i].layout, u[i].base_layout, true, 0, 0, 0};
			first = *n_cells;
		}
		l = &layout[n_layouts - 1];
		for (j = i; j < n && u[j].layout == u[i].layout && u[j].epoch == u[i].epoch; j++) {
			sum += u[j].y;
			if (u[j].base_layout == u[j].layout)
				l->borrowed = false;
		}
		cell[(*n_cells)++] = sum / (double)(j - i);
		l->n_epochs++;
		l->n_units += j - i;
		/* the last epoch of the layout has the last word */
		if (j == n || u[j].layout != u[i].layout)
			l->mean = centre_of_starts(cell + first, l->n_epochs);
	}
	return n_layouts;
}

/*
 * How much larger the variance of the mean is because layouts share a partner:
 * each partner's luck counts with the square of its share, against 1/n for n
 * independent members.
 */
static double
sharing_factor(const struct layout_mean *layout, size_t n)
{
	double sum = 0;

	for (size_t i = 0; i < n; i++) {
		size_t sharers = 0;
		bool first = true;

		if (!layout[i].borrowed)
			continue;
		for (size_t j = 0; j < n; j++) {
			if (!layout[j].borrowed || layout[j].base_layout != layout[i].base_layout)
				continue;
			first = first && (sharers > 0 || j == i);
			sharers++;
		}
		if (first)
			sum += (double)sharers * (double)sharers;
	}
	return 1 + sum / (double)n;
}

/* Interval and p from value, se and df. */
static void
finish(struct estimate *e)
{
	double half = e->se * gsl_cdf_tdist_Qinv(e->miss / 2, e->df), t;

	e->low = e->value - half;
	e->high = e->value + half;
	/* without any spread (constant input) there is nothing to doubt */
	if (e->se > 0) {
		t = fabs(e->value) / e->se;
		e->p = GSL_MIN(1.0, 2 * gsl_cdf_tdist_Q(t, e->df));
	} else {
		e->p = e->value == 0 ? 1 : 0;
	}
}

/* Interval over layouts. */
static void
estimate_layouts(struct estimate *e, const double *member, size_t n, double factor, gsl_rng *rng)
{
	e->level = LEVEL_LAYOUTS;
	e->n_top = n;
	e->se = resample_mean(member, n, rng) * sqrt(factor);
	e->df = (double)n - 1;
	finish(e);
}

/* Interval over process starts. */
static void
estimate_starts(struct estimate *e, const double *start, size_t n, gsl_rng *rng)
{
	size_t cut = trimmed_of(n);

	e->level = LEVEL_EPOCHS;
	e->n_top = n;
	e->df = (double)n - 1;
	e->se = cut > 0 ? trimmed_se(start, n, cut, &e->df) : resample_mean(start, n, rng);
	finish(e);
}

static void
estimate_rounds(struct estimate *e, const struct unit *u, gsl_rng *rng)
{
	e->n_top = u->n;
	if (u->n < ROUNDS_MIN)
		return;
	e->level = LEVEL_ROUNDS;
	e->se = resample_median(u->d, u->n, rng, &e->df);
	finish(e);
}

/* Picks the level and fills in what depends on it. u is sorted. */
static void
estimate_sorted(struct estimate *e, const struct unit *u, enum clusters clusters, gsl_rng *rng)
{
	size_t n = e->n_units, n_cells, i;
	double *member = xcalloc(n, sizeof(*member)), *cell = xcalloc(n, sizeof(*cell));
	struct layout_mean *layout = xcalloc(n, sizeof(*layout));

	e->n_layouts = collect_means(u, n, cell, &n_cells, layout);
	for (i = 0; i < e->n_layouts; i++) {
		member[i] = layout[i].mean;
		e->n_borrowed_layouts += layout[i].borrowed;
	}
	e->value = clusters == BY_UNIT ? centre_of_starts(cell, n_cells)
				       : gsl_stats_mean(member, 1, e->n_layouts);
	if (e->n_layouts >= 2 && clusters == BY_LAYOUT) {
		estimate_layouts(
			e, member, e->n_layouts, sharing_factor(layout, e->n_layouts), rng);
		e->layout_sd = gsl_stats_sd(member, 1, e->n_layouts);
	} else if (n_cells >= 2) {
		estimate_starts(e, cell, n_cells, rng);
	} else if (n >= 2) {
		/* several starts of one layout in one epoch */
		for (i = 0; i < n; i++)
			cell[i] = u[i].y;
		e->value = centre_of_starts(cell, n);
		estimate_starts(e, cell, n, rng);
	} else {
		estimate_rounds(e, u, rng);
	}
	free(layout);
	free(cell);
	free(member);
}

double
mean_over_layouts(const struct unit *unit, size_t n)
{
	struct layout_mean *layout;
	double *cell, mean = 0;
	size_t n_layouts, n_cells;
	struct unit *u;

	if (n == 0)
		return NAN;
	layout = xcalloc(n, sizeof(*layout));
	cell = xcalloc(n, sizeof(*cell));
	u = sorted_units(unit, n);
	n_layouts = collect_means(u, n, cell, &n_cells, layout);
	for (size_t i = 0; i < n_layouts; i++)
		mean += layout[i].mean / (double)n_layouts;
	free(u);
	free(cell);
	free(layout);
	return mean;
}

void
estimate_effect(const struct unit *unit, size_t n, enum clusters clusters, double miss,
	uint64_t seed, struct estimate *out)
{
	unsigned long folded;
	struct unit *u;
	gsl_rng *rng;

	*out = (struct estimate){
		.level = LEVEL_NONE,
		.miss = miss,
		.n_units = n,
		.value = NAN,
		.se = NAN,
		.df = NAN,
		.low = NAN,
		.high = NAN,
		.p = NAN,
		.layout_sd = NAN,
	};
	if (n == 0)
		return;
	rng = gsl_rng_alloc(gsl_rng_mt19937);
	if (rng == NULL)
		die(EXIT_FAIL, "out of memory");
	/* the generator takes 32 bits: fold the upper ones in; 0 would mean its own default seed */
	folded = (unsigned long)((seed ^ seed >> 32) & 0xffffffff);
	gsl_rng_set(rng, folded != 0 ? folded : 0x9e3779b9UL);
	for (size_t i = 0; i < n; i++)
		out->n_rounds += unit[i].n;
	u = sorted_units(unit, n);
	estimate_sorted(out, u, clusters, rng);
	free(u);
	gsl_rng_free(rng);
}

/* --- spread of starts and of layouts ----------------------------------------- */

/* Replaces y by its distance from the mean of its layout; u is sorted. Returns the layouts. */
static size_t
centre_layouts(struct unit *u, size_t n)
{
	size_t layouts = 0, i, j, k;

	for (i = 0; i < n; i = j) {
		double mean = 0;

		for (j = i; j < n && u[j].layout == u[i].layout; j++)
			mean += (u[j].y - mean) / (double)(j - i + 1);
		for (k = i; k < j; k++)
			u[k].y -= mean;
		layouts++;
	}
	return layouts;
}

static int
compare_epoch(const void *a, const void *b)
{
	const struct unit *p = a, *q = b;

	return (p->epoch > q->epoch) - (p->epoch < q->epoch);
}

/* The same for epochs; sorts u by them. */
static size_t
centre_epochs(struct unit *u, size_t n)
{
	size_t epochs = 0, i, j, k;

	qsort(u, n, sizeof(*u), compare_epoch);
	for (i = 0; i < n; i = j) {
		double mean = 0;

		for (j = i; j < n && u[j].epoch == u[i].epoch; j++)
			mean += (u[j].y - mean) / (double)(j - i + 1);
		for (k = i; k < j; k++)
			u[k].y -= mean;
		epochs++;
	}
	return epochs;
}

double
start_variance(const struct unit *unit, size_t n, bool shared)
{
	struct unit *u;
	double sum = 0;
	size_t lost, i;

	if (n == 0)
		return NAN;
	u = sorted_units(unit, n);
	lost = centre_layouts(u, n);
	if (shared)
		lost += centre_epochs(u, n) - 1;
	for (i = 0; i < n; i++)
		sum += u[i].y * u[i].y;
	free(u);
	return n > lost ? sum / (double)(n - lost) : NAN;
}

void
separate_layout_spread(struct estimate *e, const struct unit *unit, size_t n, double var)
{
	struct unit *u;
	double inverse = 0; /* mean over the layouts of 1 / units of the layout */
	size_t i, j;

	if (!isfinite(e->layout_sd) || !isfinite(var))
		return;
	u = sorted_units(unit, n);
	for (i = 0; i < n; i = j) {
		for (j = i; j < n && u[j].layout == u[i].layout; j++)
			;
		inverse += 1 / (double)(j - i) / (double)e->n_layouts;
	}
	free(u);
	e->layout_sd = sqrt(fmax(0, e->layout_sd * e->layout_sd - var * inverse));
	e->layout_sd_pure = true;
}

/* --- verdicts --------------------------------------------------------------- */

/*
 * Chance that a standard Brownian motion seen at 1, 2, ... looks leaves
 * +-c sqrt(k) at one of them: the recursion of Armitage, McPherson and Rowe (JRSS A
 * 132, 1969), integrated by Gauss and Legendre's rule.
 */
static double
crossing_chance(double c, unsigned int looks, const gsl_integration_glfixed_table *table)
{
	double at[2][NODES], density[2][NODES], weight, stays = 0;
	unsigned int k;
	size_t i, j;

	for (k = 1; k < looks; k++) {
		double *x = at[k % 2], *f = density[k % 2];
		const double *x0 = at[(k + 1) % 2], *f0 = density[(k + 1) % 2];

		for (i = 0; i < NODES; i++) {
			gsl_integration_glfixed_point(
				-c * sqrt(k), c * sqrt(k), i, &x[i], &weight, table);
			f[i] = k == 1 ? gsl_ran_ugaussian_pdf(x[i]) : 0;
			for (j = 0; k > 1 && j < NODES; j++)
				f[i] += f0[j] * gsl_ran_ugaussian_pdf(x[i] - x0[j]);
			/* the weight of the next integral is kept with the density */
			f[i] *= weight;
		}
	}
	if (looks == 1)
		return 2 * gsl_cdf_ugaussian_Q(c);
	for (i = 0; i < NODES; i++) {
		double x = at[(looks - 1) % 2][i], end = c * sqrt(looks);

		stays += density[(looks - 1) % 2][i] *
			 (gsl_cdf_ugaussian_P(end - x) - gsl_cdf_ugaussian_P(-end - x));
	}
	return 1 - stays;
}

double
pocock_level(double alpha, unsigned int looks)
{
	gsl_integration_glfixed_table *table;
	double low = alpha / looks, high = alpha; /* union bound, and a single look */

	if (looks == 1)
		return alpha;
	table = gsl_integration_glfixed_table_alloc(NODES);
	if (table == NULL)
		die(EXIT_FAIL, "out of memory");
	while (high - low > 1e-4 * alpha) {
		double level = (low + high) / 2;

		if (crossing_chance(gsl_cdf_ugaussian_Qinv(level / 2), looks, table) > alpha)
			high = level;
		else
			low = level;
	}
	gsl_integration_glfixed_table_free(table);
	return low;
}

struct rules
make_rules(double margin, double alpha, unsigned int looks)
{
	return (struct rules){
		.margin = log1p(margin),
		.alpha = pocock_level(alpha, looks),
		.miss = pocock_level(INTERVAL_MISS, looks),
	};
}

void
holm(double *p, size_t n)
{
	bool *done = xcalloc(n, sizeof(*done));
	double previous = 0;

	for (size_t step = 0; step < n; step++) {
		size_t least = n;

		for (size_t i = 0; i < n; i++) {
			if (!done[i] && (least == n || p[i] < p[least]))
				least = i;
		}
		previous = fmax(previous, fmin(1, p[least] * (double)(n - step)));
		p[least] = previous;
		done[least] = true;
	}
	free(done);
}

enum verdict
judge(const struct estimate *e, double p_corrected, const struct rules *r)
{
	/* the spread of process starts is unknown, and it is what decides */
	if (e->level < LEVEL_EPOCHS)
		return UNDECIDED;
	if (p_corrected <= r->alpha && fabs(e->value) > r->margin)
		return e->value > 0 ? SLOWER : FASTER;
	if (e->low >= -r->margin && e->high <= r->margin)
		return SAME;
	return UNDECIDED;
}

size_t
members_needed(const struct estimate *e, const struct rules *r, size_t n_comparisons)
{
	double sd, alpha, distance;

	if (e->level < LEVEL_EPOCHS)
		return 0;
	sd = e->se * sqrt((double)e->n_top);
	if (fabs(e->value) > r->margin) {
		alpha = r->alpha / (double)n_comparisons;
		distance = fabs(e->value);
	} else {
		alpha = e->miss;
		distance = r->margin - fabs(e->value);
	}
	for (size_t n = e->n_top + 1; n <= MEMBERS_MAX; n++) {
		if (gsl_cdf_tdist_Qinv(alpha / 2, (double)n - 1) * sd / sqrt((double)n) <= distance)
			return n;
	}
	return 0;
}
