/* SPDX-License-Identifier: BSD-3-Clause */
/* Variants against the baseline: see compare.h for what, effect.c for how. */
#include "compare.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "util.h"

/* What a seed is mixed with, so that the three estimates of a row draw differently. */
enum role { ROLE_RATIO, ROLE_AS_BUILT, ROLE_AA };

/* FNV-1a of the row's names and the role, so that rows do not depend on each other. */
static uint64_t
row_seed(const struct experiment *e, const struct comparison *c, enum role role, uint64_t seed)
{
	const char *name[] = {
		e->variant.name[c->variant], e->cc.name[c->cc], e->dpdk.name[c->dpdk]};
	uint64_t h = UINT64_C(0xcbf29ce484222325) ^ seed;

	for (size_t i = 0; i < 3; i++) {
		for (const char *s = name[i];; s++) {
			h = (h ^ (unsigned char)*s) * UINT64_C(0x100000001b3);
			if (*s == '\0')
				break;
		}
	}
	return (h ^ (uint64_t)role) * UINT64_C(0x100000001b3);
}

bool
belongs_to(const struct process *p, const struct comparison *c)
{
	return p->variant == c->variant && p->cc == c->cc && p->dpdk == c->dpdk;
}

static struct process_key
key_of(const struct process *p, uint32_t variant, uint32_t layout)
{
	return (struct process_key){
		.epoch = p->epoch,
		.layout = layout,
		.variant = variant,
		.cc = p->cc,
		.dpdk = p->dpdk,
	};
}

/* --- pairing --------------------------------------------------------------- */

/* Pairs p with partner into *u. False, and nothing to free, if they have no round in common. */
static bool
pair(const struct process *p, const struct process *partner, struct unit *u)
{
	double *copy;

	if (partner == NULL)
		return false;
	*u = (struct unit){p->layout, p->epoch, partner->layout, NULL, 0, 0};
	u->n = pair_slices(p, partner, &u->d);
	if (u->n == 0) {
		free(u->d);
		return false;
	}
	copy = xcalloc(u->n, sizeof(*copy));
	memcpy(copy, u->d, u->n * sizeof(*copy));
	u->y = median_of(copy, u->n);
	free(copy);
	return true;
}

/*
 * The partner of a variant's process: the baseline of the same layout in the
 * same epoch, or else the baseline as built.
 */
static bool
pair_with_baseline(
	const struct experiment *e, const struct process *p, uint32_t baseline, struct unit *u)
{
	struct process_key same = key_of(p, baseline, p->layout);
	struct process_key built = key_of(p, baseline, 0);

	return pair(p, experiment_start(e, &same, 0), u) ||
	       (p->layout != 0 && pair(p, experiment_start(e, &built, 0), u));
}

/*
 * The partner of a process of the baseline itself. A second start is compared
 * with the first of the same layout, another layout with the one as built.
 */
static bool
pair_baseline(const struct experiment *e, const struct process *p, struct unit *u)
{
	struct process_key same = key_of(p, p->variant, p->layout);
	struct process_key built = key_of(p, p->variant, 0);
	const struct process *first = experiment_start(e, &same, 0);

	if (first != p)
		return pair(p, first, u);
	return pair(p, experiment_start(e, &built, 0), u);
}

static void
add_unit(struct unit **unit, size_t *n, const struct unit *u)
{
	*unit = xreallocarray(*unit, *n + 1, sizeof(**unit));
	(*unit)[(*n)++] = *u;
}

static void
count_process(struct comparison *c, const struct process *p)
{
	c->n_valid += p->n_slices;
	c->n_invalid += p->n_invalid;
	if (__builtin_add_overflow(c->packets, p->packets, &c->packets))
		c->packets = UINT64_MAX;
	if (__builtin_add_overflow(c->dropped, p->dropped, &c->dropped))
		c->dropped = UINT64_MAX;
	c->n_judged += p->bimodal >= 0;
	c->n_bimodal += p->bimodal == 1;
	c->mode_gap = fmax(c->mode_gap, p->mode_gap);
}

/* Whether p is a second start: some other process stands for its binary in its epoch. */
static bool
is_second_start(const struct experiment *e, const struct process *p)
{
	struct process_key key = key_of(p, p->variant, p->layout);

	return experiment_start(e, &key, 0) != p;
}

static void
add_process(const struct experiment *e, struct comparison *c, const struct process *p,
	uint32_t baseline)
{
	struct unit u = {0};
	bool paired;

	count_process(c, p);
	if (p->n_slices == 0)
		return;
	if (!c->is_baseline)
		paired = pair_with_baseline(e, p, baseline, &u);
	else
		paired = pair_baseline(e, p, &u);
	c->start = xreallocarray(c->start, c->n_starts + 1, sizeof(*c->start));
	c->start[c->n_starts++] =
		paired ? (struct start){p, u.y, u.n} : (struct start){p, NAN, p->n_slices};
	if (!paired)
		return;
	if (c->is_baseline && is_second_start(e, p))
		add_unit(&c->aa_unit, &c->n_aa_units, &u);
	else
		add_unit(&c->unit, &c->n_units, &u);
}

/* --- one row --------------------------------------------------------------- */

/* The units over which the ratio goes: layouts 1 and up, or layout 0. Copies; *n of them. */
static struct unit *
units_of(const struct comparison *c, bool over_layouts, size_t *n)
{
	struct unit *u = xcalloc(c->n_units, sizeof(*u));

	*n = 0;
	for (size_t i = 0; i < c->n_units; i++) {
		if ((c->unit[i].layout > 0) == over_layouts)
			u[(*n)++] = c->unit[i];
	}
	return u;
}

static bool
has_layouts(const struct comparison *c)
{
	for (size_t i = 0; i < c->n_starts; i++) {
		if (c->start[i].process->layout > 0 && (c->is_baseline || !isnan(c->start[i].y)))
			return true;
	}
	return false;
}

/*
 * Whether cycles/packet and Mpps are taken from start i: those the ratio rests
 * on, or all of them if no start has a partner; of the baseline the first starts.
 */
static bool
counts(const struct experiment *e, const struct comparison *c, const struct start *s)
{
	bool in = (s->process->layout > 0) == c->over_layouts;

	if (c->is_baseline)
		return in && !is_second_start(e, s->process);
	return c->n_units == 0 || (in && !isnan(s->y));
}

/* Medians of the starts that count, averaged like the ratio. */
static void
fill_rates(const struct experiment *e, struct comparison *c)
{
	struct unit *cycles = xcalloc(c->n_starts, sizeof(*cycles));
	struct unit *rate = xcalloc(c->n_starts, sizeof(*rate));
	size_t n = 0, i, j;

	for (i = 0; i < c->n_starts; i++) {
		const struct process *p = c->start[i].process;

		if (!counts(e, c, &c->start[i]))
			continue;
		cycles[n] = (struct unit){.layout = p->layout, .epoch = p->epoch, .y = p->median};
		rate[n] = cycles[n];
		rate[n].y = log(p->tsc_hz) - p->median;
		for (j = 0; cycles[j].layout != p->layout; j++)
			;
		c->n_layouts += j == n;
		c->n_rounds += c->start[i].n_rounds;
		n++;
	}
	c->n_processes = n;
	c->cycles = exp(mean_over_layouts(cycles, n));
	c->mpps = exp(mean_over_layouts(rate, n)) / 1e6;
	free(cycles);
	free(rate);
}

/*
 * Two starts of the same bytes differ as the starts of a pair of variants do.
 * Their true ratio is known to be 1, so one pair is enough for a variance; NAN
 * without any.
 */
static double
aa_variance(const struct comparison *base)
{
	double sum = 0;

	if (base == NULL)
		return NAN;
	for (size_t i = 0; i < base->n_aa_units; i++)
		sum += base->aa_unit[i].y * base->aa_unit[i].y;
	return base->n_aa_units > 0 ? sum / (double)base->n_aa_units : NAN;
}

/* Takes the spread of process starts out of the layout spread, from where it can be known. */
static void
separate_starts(struct comparison *c, const struct comparison *base, const struct unit *u, size_t n)
{
	/* the partner of all layouts is one start an epoch: the baseline as built */
	bool shared = c->is_baseline || c->ratio.n_borrowed_layouts > 0;
	double var;

	if (!c->over_layouts)
		return;
	var = shared ? start_variance(u, n, true) : start_variance(c->unit, c->n_units, false);
	if (isnan(var))
		var = aa_variance(base) / (shared ? 2 : 1);
	separate_layout_spread(&c->ratio, u, n, var);
}

static void
fill_estimates(const struct experiment *e, struct comparison *c, const struct comparison *base,
	double miss, uint64_t seed)
{
	struct unit *u;
	size_t n;

	u = units_of(c, c->over_layouts, &n);
	estimate_effect(u, n, BY_LAYOUT, miss, row_seed(e, c, ROLE_RATIO, seed), &c->ratio);
	separate_starts(c, base, u, n);
	free(u);
	if (c->over_layouts && !c->is_baseline) {
		u = units_of(c, false, &n);
		estimate_effect(
			u, n, BY_LAYOUT, miss, row_seed(e, c, ROLE_AS_BUILT, seed), &c->as_built);
		free(u);
	} else {
		c->as_built = c->ratio;
	}
	if (base != NULL && base != c)
		c->aa = base->aa;
	else if (base != NULL)
		estimate_effect(base->aa_unit, base->n_aa_units, BY_UNIT, miss,
			row_seed(e, base, ROLE_AA, seed), &c->aa);
	else
		estimate_effect(NULL, 0, BY_UNIT, miss, seed, &c->aa);
}

/* The baseline is its own measure: 1, without doubt. Its A/A stands beside it. */
static void
fill_baseline(struct comparison *c)
{
	c->ratio.value = c->ratio.low = c->ratio.high = 0;
	c->as_built.value = c->as_built.low = c->as_built.high = 0;
}

static void
fill_row(const struct experiment *e, struct comparison *c, const struct comparison *base,
	uint32_t baseline, double miss, uint64_t seed)
{
	for (size_t i = 0; i < e->n_processes; i++) {
		if (belongs_to(&e->process[i], c))
			add_process(e, c, &e->process[i], baseline);
	}
	c->over_layouts = has_layouts(c);
	fill_rates(e, c);
	fill_estimates(e, c, base, miss, seed);
	if (c->is_baseline && c->n_valid > 0)
		fill_baseline(c);
}

/* --- all rows -------------------------------------------------------------- */

/* Release by version, then compiler, then the baseline, then the order of the plan. */
static int
compare_rows(const void *a, const void *b, void *arg)
{
	const struct comparison *p = a, *q = b;
	const struct experiment *e = arg;
	int order = strverscmp(e->dpdk.name[p->dpdk], e->dpdk.name[q->dpdk]);

	if (order != 0)
		return order;
	order = strcmp(e->cc.name[p->cc], e->cc.name[q->cc]);
	if (order != 0)
		return order;
	if (p->is_baseline != q->is_baseline)
		return p->is_baseline ? -1 : 1;
	return (p->planned > q->planned) - (p->planned < q->planned);
}

static void
collect_rows(const struct experiment *e, uint32_t baseline, struct comparisons *out)
{
	for (size_t i = 0; i < e->n_processes; i++) {
		const struct process *p = &e->process[i];
		size_t j = 0;

		while (j < out->n && !belongs_to(p, &out->row[j]))
			j++;
		if (j < out->n)
			continue;
		out->row = xreallocarray(out->row, out->n + 1, sizeof(*out->row));
		out->row[out->n++] = (struct comparison){
			.variant = p->variant,
			.cc = p->cc,
			.dpdk = p->dpdk,
			.is_baseline = p->variant == baseline,
			.planned = i,
		};
	}
	qsort_r(out->row, out->n, sizeof(*out->row), compare_rows, (void *)(uintptr_t)e);
}

static bool
is_tested(const struct comparison *c)
{
	return !c->is_baseline && c->ratio.level >= LEVEL_EPOCHS;
}

static void
judge_rows(struct comparisons *out, const struct rules *rules)
{
	double *p = xcalloc(out->n, sizeof(*p));
	size_t i, n = 0;

	for (i = 0; i < out->n; i++) {
		if (is_tested(&out->row[i]))
			p[n++] = out->row[i].ratio.p;
	}
	out->n_tested = n;
	holm(p, n);
	for (i = 0, n = 0; i < out->n; i++) {
		struct comparison *c = &out->row[i];

		c->p_corrected = is_tested(c) ? p[n++] : NAN;
		c->verdict = judge(&c->ratio, c->p_corrected, rules);
	}
	free(p);
}

void
compare_all(const struct experiment *e, uint32_t baseline, const struct rules *rules, uint64_t seed,
	struct comparisons *out)
{
	const struct comparison *base = NULL;

	*out = (struct comparisons){0};
	collect_rows(e, baseline, out);
	for (size_t i = 0; i < out->n; i++) {
		struct comparison *c = &out->row[i];

		/* the baseline's row comes before the rows it is the measure of */
		if (base == NULL || base->cc != c->cc || base->dpdk != c->dpdk)
			base = c->is_baseline ? c : NULL;
		fill_row(e, c, base, baseline, rules->miss, seed);
	}
	judge_rows(out, rules);
}

void
comparisons_free(struct comparisons *out)
{
	for (size_t i = 0; i < out->n; i++) {
		struct comparison *c = &out->row[i];

		for (size_t j = 0; j < c->n_units; j++)
			free(c->unit[j].d);
		for (size_t j = 0; j < c->n_aa_units; j++)
			free(c->aa_unit[j].d);
		free(c->unit);
		free(c->aa_unit);
		free(c->start);
	}
	free(out->row);
	*out = (struct comparisons){0};
}

double
widest_half_width(const struct comparisons *out)
{
	double widest = 0;

	for (size_t i = 0; i < out->n; i++) {
		const struct comparison *c = &out->row[i];

		if (c->is_baseline || c->n_valid == 0)
			continue;
		if (c->ratio.level < LEVEL_EPOCHS)
			return INFINITY;
		widest = fmax(widest, 50 * (exp(c->ratio.high) - exp(c->ratio.low)));
	}
	return widest;
}
