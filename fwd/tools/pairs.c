/* SPDX-License-Identifier: BSD-3-Clause */
/* Slices in memory, rounds as pairs, and bimodality: see pairs.h. */
#include "pairs.h"

#include <math.h>
#include <gsl/gsl_statistics_double.h>
#include <stdlib.h>
#include <string.h>

#include "util.h"

/* Modes closer than this are not worth a flag however many slices prove them: 0.5 percent. */
#define MODE_GAP_MIN 0.005

uint32_t
names_intern(struct names *n, const char *name)
{
	int i = names_find(n, name);

	if (i >= 0)
		return (uint32_t)i;
	n->name = xreallocarray(n->name, n->n + 1, sizeof(*n->name));
	n->name[n->n] = xstrdup(name);
	return n->n++;
}

int
names_find(const struct names *n, const char *name)
{
	for (uint32_t i = 0; i < n->n; i++) {
		if (strcmp(n->name[i], name) == 0)
			return (int)i;
	}
	return -1;
}

static void
names_free(struct names *n)
{
	for (uint32_t i = 0; i < n->n; i++)
		free(n->name[i]);
	free(n->name);
}

void
experiment_init(struct experiment *e)
{
	*e = (struct experiment){.hash_size = 64};
	e->hash = xcalloc(e->hash_size, sizeof(*e->hash));
}

void
experiment_free(struct experiment *e)
{
	for (size_t i = 0; i < e->n_processes; i++)
		free(e->process[i].slice);
	names_free(&e->variant);
	names_free(&e->cc);
	names_free(&e->dpdk);
	names_free(&e->reason);
	free(e->process);
	free(e->hash);
	*e = (struct experiment){0};
}

/* Slot of (epoch, number) in the hash table, or the free one where it belongs. */
static uint32_t *
hash_slot(const struct experiment *e, uint32_t epoch, uint32_t number)
{
	uint64_t h = ((uint64_t)epoch << 32 | number) * UINT64_C(0x9e3779b97f4a7c15);
	size_t i = (size_t)(h >> 32) & (e->hash_size - 1);

	while (e->hash[i] != 0) {
		const struct process *p = &e->process[e->hash[i] - 1];

		if (p->epoch == epoch && p->number == number)
			break;
		i = (i + 1) & (e->hash_size - 1);
	}
	return &e->hash[i];
}

static void
hash_grow(struct experiment *e)
{
	free(e->hash);
	e->hash_size *= 2;
	e->hash = xcalloc(e->hash_size, sizeof(*e->hash));
	for (size_t i = 0; i < e->n_processes; i++)
		*hash_slot(e, e->process[i].epoch, e->process[i].number) = (uint32_t)i + 1;
}

struct process *
experiment_process(struct experiment *e, const struct process_key *key, uint32_t *other)
{
	uint32_t *slot = hash_slot(e, key->epoch, key->number);
	struct process *p;

	if (*slot != 0) {
		p = &e->process[*slot - 1];
		if (p->layout == key->layout && p->variant == key->variant && p->cc == key->cc &&
			p->dpdk == key->dpdk)
			return p;
		*other = p->line;
		return NULL;
	}
	if (e->n_processes == e->max_processes) {
		e->max_processes = e->max_processes != 0 ? e->max_processes * 2 : 32;
		e->process = xreallocarray(e->process, e->max_processes, sizeof(*e->process));
	}
	p = &e->process[e->n_processes++];
	*p = (struct process){
		.epoch = key->epoch,
		.number = key->number,
		.layout = key->layout,
		.variant = key->variant,
		.cc = key->cc,
		.dpdk = key->dpdk,
		.line = key->line,
		.bimodal = -1,
	};
	*slot = (uint32_t)e->n_processes;
	if (e->n_processes * 2 > e->hash_size)
		hash_grow(e);
	return p;
}

void
process_add(struct process *p, uint32_t round, uint32_t line, double x)
{
	if (p->n_slices == p->max_slices) {
		p->max_slices = p->max_slices != 0 ? p->max_slices * 2 : 32;
		p->slice = xreallocarray(p->slice, p->max_slices, sizeof(*p->slice));
	}
	p->slice[p->n_slices++] = (struct slice){.round = round, .line = line, .x = x};
}

void
process_add_invalid(struct process *p, uint32_t round, uint32_t line, uint32_t reason)
{
	process_add(p, round, line, NAN);
	if (p->n_invalid++ == 0)
		p->reason = reason;
}

double
median_of(double *x, size_t n)
{
	return gsl_stats_median(x, 1, n);
}

/* --- bimodality ------------------------------------------------------------ */

static int
compare_double(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

/*
 * The largest distance, in ranks, between the points (x[i], i) and their
 * greatest convex minorant. sign = 1 walks sorted x upwards; sign = -1 walks it
 * from the end downwards with the axis turned round, which gives the least
 * concave majorant of the same points. hull has room for n indices.
 */
static double
convex_distance(const double *x, size_t n, int sign, size_t *hull)
{
	size_t k = 0;
	double worst = 0;

#define AT(i) (sign > 0 ? x[i] : -x[n - 1 - (i)])
	for (size_t i = 0; i < n; i++) {
		/* the last corner goes while it lies on or above the line that skips it */
		while (k >= 2) {
			size_t a = hull[k - 2], b = hull[k - 1];

			if ((double)(b - a) * (AT(i) - AT(a)) < (double)(i - a) * (AT(b) - AT(a)))
				break;
			k--;
		}
		hull[k++] = i;
	}
	for (size_t j = 0; j + 1 < k; j++) {
		size_t a = hull[j], b = hull[j + 1];
		double width = AT(b) - AT(a), slope;

		/* equal values, a jump: its points lie on the hull */
		if (width <= 0)
			continue;
		slope = (double)(b - a) / width;
		for (size_t i = a + 1; i < b; i++) {
			double d = (double)(i - a) - slope * (AT(i) - AT(a));

			if (d > worst)
				worst = d;
		}
	}
#undef AT
	return worst;
}

/*
 * J. A. Hartigan and P. M. Hartigan, The dip test of unimodality, Annals of
 * Statistics 13 (1985): a unimodal distribution function is convex up to its
 * mode and concave after it. For a mode at x[m] the misfit is the larger of
 * the distance to the convex minorant below m and to the concave majorant above
 * it; the dip is the misfit at the best m. The first grows with m and the
 * second shrinks, so the best m is found by bisection: O(n log n).
 *
 * Quantiles of sqrt(n) times the dip in this form, 40 000 draws a size:
 *	n		20	40	80	200	1000
 *	uniform 99 %	0.82	0.88	0.92	0.94	0.97
 *	normal 99.9 %	0.79	0.82	0.80	0.74	0.71
 *	exponential	0.81	0.90	0.84	0.82	0.71	(99.9 %)
 * A uniform distribution is the hardest unimodal one; slices are nearer to a
 * normal with a tail. DIP_BIMODAL 0.9 therefore raises a false flag about once
 * in a thousand processes. It finds two equal modes 5 standard deviations apart
 * in 60 % of processes of 40 slices and in all of 200. It ranks, so no
 * outlier can raise it: 5 % of slices thirty deviations off change nothing.
 */
double
dip_of(const double *sorted, size_t n)
{
	size_t *hull = xcalloc(n, sizeof(*hull));
	size_t lo = 0, hi = n; /* the best mode is in lo..hi-1 */
	double best = (double)n;

	while (lo < hi) {
		size_t m = lo + (hi - lo) / 2;
		double below = convex_distance(sorted, m + 1, 1, hull);
		double above = convex_distance(sorted + m, n - m, -1, hull);

		if (fmax(below, above) < best)
			best = fmax(below, above);
		if (below < above)
			lo = m + 1;
		else
			hi = m;
	}
	free(hull);
	return best / sqrt((double)n);
}

/*
 * Distance of the medians of the two groups into which Otsu's criterion (the
 * largest variance between groups, IEEE Trans. SMC 9, 1979) cuts sorted x. The
 * outer tenths are pulled in first, so that outliers do not become a mode, and
 * each group holds at least a tenth.
 */
static double
mode_gap(double *x, size_t n)
{
	size_t tenth = (n + 9) / 10, cut = n / 2;
	double total = 0, below = 0, best = -1;

	for (size_t i = 0; i < tenth; i++) {
		x[i] = x[tenth];
		x[n - 1 - i] = x[n - 1 - tenth];
	}
	for (size_t i = 0; i < n; i++)
		total += x[i];
	for (size_t i = 1; i <= n - tenth; i++) {
		double a = (double)i, b = (double)(n - i), d;

		below += x[i - 1];
		d = (total - below) / b - below / a;
		if (i >= tenth && a * b * d * d > best) {
			best = a * b * d * d;
			cut = i;
		}
	}
	return gsl_stats_median_from_sorted_data(x + cut, 1, n - cut) -
	       gsl_stats_median_from_sorted_data(x, 1, cut);
}

/* A slice of one epoch with its process's own median taken out. */
struct residual {
	uint32_t round, owner; /* owner: index into process[] */
	double x;
};

static int
compare_residual(const void *a, const void *b)
{
	const struct residual *p = a, *q = b;

	if (p->round != q->round)
		return p->round < q->round ? -1 : 1;
	return (p->owner > q->owner) - (p->owner < q->owner);
}

/*
 * Takes out of r[0..n-1], sorted by round, what all processes of the round have
 * in common (drift, a step of the whole machine): the median over the processes.
 */
static void
remove_round_effect(struct residual *r, size_t n)
{
	double *x = xcalloc(n, sizeof(*x)), common;
	size_t i, j, k;

	for (i = 0; i < n; i = j) {
		for (j = i; j < n && r[j].round == r[i].round; j++)
			x[j - i] = r[j].x;
		common = median_of(x, j - i);
		for (k = i; k < j; k++)
			r[k].x -= common;
	}
	free(x);
}

static void
judge_process(struct process *p, double *x, size_t n)
{
	if (n < BIMODAL_MIN_SLICES)
		return;
	qsort(x, n, sizeof(*x), compare_double);
	p->bimodal = dip_of(x, n) > DIP_BIMODAL;
	if (!p->bimodal)
		return;
	p->mode_gap = mode_gap(x, n);
	if (p->mode_gap < MODE_GAP_MIN) {
		p->bimodal = 0;
		p->mode_gap = 0;
	}
}

/* Judges the processes first..end-1, which are those of one epoch. */
static void
judge_epoch(struct experiment *e, size_t first, size_t end)
{
	struct residual *r;
	size_t n = 0, with_slices = 0, i, j, k = 0;
	double *x;

	for (i = first; i < end; i++) {
		n += e->process[i].n_slices;
		with_slices += e->process[i].n_slices > 0;
	}
	if (n == 0)
		return;
	r = xcalloc(n, sizeof(*r));
	x = xcalloc(n, sizeof(*x));
	for (i = first; i < end; i++) {
		const struct process *p = &e->process[i];

		for (j = 0; j < p->n_slices; j++)
			r[k++] = (struct residual){
				p->slice[j].round, (uint32_t)i, p->slice[j].x - p->median};
	}
	qsort(r, n, sizeof(*r), compare_residual);
	if (with_slices > 1)
		remove_round_effect(r, n);
	/* back into the order of the processes: each one's slices keep their order */
	for (i = 0; i < n; i++)
		r[i].round = 0;
	qsort(r, n, sizeof(*r), compare_residual);
	for (i = 0; i < n; i = j) {
		for (j = i; j < n && r[j].owner == r[i].owner; j++)
			x[j - i] = r[j].x;
		judge_process(&e->process[r[i].owner], x, j - i);
	}
	free(x);
	free(r);
}

/* --- order ----------------------------------------------------------------- */

static int
compare_slice(const void *a, const void *b)
{
	const struct slice *p = a, *q = b;

	if (p->round != q->round)
		return p->round < q->round ? -1 : 1;
	return (p->line > q->line) - (p->line < q->line);
}

static int
compare_process(const void *a, const void *b)
{
	const struct process *p = a, *q = b;

	if (p->epoch != q->epoch)
		return p->epoch < q->epoch ? -1 : 1;
	return (p->number > q->number) - (p->number < q->number);
}

/* Sorts p's slices by round and drops the invalid ones; line of the second slice of a round, or 0.
 */
static uint32_t
sort_slices(struct process *p, uint32_t *first)
{
	size_t kept = 0;

	if (p->n_slices == 0)
		return 0;
	qsort(p->slice, p->n_slices, sizeof(*p->slice), compare_slice);
	for (size_t i = 1; i < p->n_slices; i++) {
		if (p->slice[i].round == p->slice[i - 1].round) {
			*first = p->slice[i - 1].line;
			return p->slice[i].line;
		}
	}
	for (size_t i = 0; i < p->n_slices; i++) {
		if (!isnan(p->slice[i].x))
			p->slice[kept++] = p->slice[i];
	}
	p->n_slices = kept;
	return 0;
}

static void
find_median(struct process *p)
{
	double *x;

	if (p->n_slices == 0)
		return;
	x = xcalloc(p->n_slices, sizeof(*x));
	for (size_t i = 0; i < p->n_slices; i++)
		x[i] = p->slice[i].x;
	p->median = median_of(x, p->n_slices);
	free(x);
}

uint32_t
experiment_finish(struct experiment *e, uint32_t *first)
{
	uint32_t twice;
	size_t i, j;

	if (e->n_processes == 0)
		return 0;
	qsort(e->process, e->n_processes, sizeof(*e->process), compare_process);
	for (i = 0; i < e->n_processes; i++) {
		twice = sort_slices(&e->process[i], first);
		if (twice != 0)
			return twice;
		find_median(&e->process[i]);
	}
	for (i = 0; i < e->n_processes; i = j) {
		for (j = i; j < e->n_processes && e->process[j].epoch == e->process[i].epoch; j++)
			;
		judge_epoch(e, i, j);
	}
	return 0;
}

/* --- pairs ----------------------------------------------------------------- */

/* Index of the first process of epoch, which may be n_processes. */
static size_t
epoch_start(const struct experiment *e, uint32_t epoch)
{
	size_t lo = 0, hi = e->n_processes;

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;

		if (e->process[mid].epoch < epoch)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

static bool
is_start(const struct process *p, const struct process_key *key)
{
	return p->variant == key->variant && p->cc == key->cc && p->dpdk == key->dpdk &&
	       p->layout == key->layout && p->n_slices > 0;
}

const struct process *
experiment_start(const struct experiment *e, const struct process_key *key, unsigned int start)
{
	size_t first = epoch_start(e, key->epoch), end, best = 0, i, primary;

	for (end = first; end < e->n_processes && e->process[end].epoch == key->epoch; end++) {
		if (is_start(&e->process[end], key) && e->process[end].n_slices > best)
			best = e->process[end].n_slices;
	}
	if (best == 0)
		return NULL;
	for (primary = first; primary < end; primary++) {
		if (is_start(&e->process[primary], key) && e->process[primary].n_slices * 2 >= best)
			break;
	}
	if (start == 0)
		return &e->process[primary];
	for (i = first; i < end; i++) {
		if (i != primary && is_start(&e->process[i], key))
			return &e->process[i];
	}
	return NULL;
}

size_t
pair_slices(const struct process *a, const struct process *b, double **d)
{
	size_t i = 0, j = 0, n = 0;

	*d = xcalloc(a->n_slices < b->n_slices ? a->n_slices : b->n_slices, sizeof(**d));
	while (i < a->n_slices && j < b->n_slices) {
		if (a->slice[i].round < b->slice[j].round) {
			i++;
		} else if (a->slice[i].round > b->slice[j].round) {
			j++;
		} else {
			(*d)[n++] = a->slice[i++].x - b->slice[j++].x;
		}
	}
	return n;
}
