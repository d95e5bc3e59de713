/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * stats: slices.tsv in, effects.tsv out. The only place of the kit that judges
 * speed. Reads strictly, lets compare.c and effect.c do the work, and says in
 * the note of each row what a reader has to know before believing it.
 */
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "compare.h"
#include "effect.h"
#include "pairs.h"
#include "util.h"

/* Different names of one kind in a file; more is a damaged file. */
#define MAX_NAMES 4096

struct options {
	const char *baseline, *out, *units, *input;
	double margin_percent, alpha_percent;
	uint64_t seed;
	unsigned int look, looks;
	bool widest;
};

/* --- input ----------------------------------------------------------------- */

struct columns {
	size_t epoch, round, order, variant, cc, dpdk, layout, process, packets, cycles, tsc_hz,
		dropped, valid, reason;
};

static void
find_columns(const struct tsv *t, struct columns *c)
{
	c->epoch = tsv_col(t, "epoch");
	c->round = tsv_col(t, "round");
	c->order = tsv_col(t, "order");
	c->variant = tsv_col(t, "variant");
	c->cc = tsv_col(t, "cc");
	c->dpdk = tsv_col(t, "dpdk");
	c->layout = tsv_col(t, "layout");
	c->process = tsv_col(t, "process");
	c->packets = tsv_col(t, "packets");
	c->cycles = tsv_col(t, "cycles");
	c->tsc_hz = tsv_col(t, "tsc_hz");
	c->dropped = tsv_col(t, "dropped");
	c->valid = tsv_col(t, "valid");
	c->reason = tsv_col(t, "reason");
}

static uint32_t
read_name(const struct tsv *t, size_t col, struct names *names)
{
	uint32_t i = names_intern(names, tsv_word(t, col));

	if (names->n > MAX_NAMES)
		tsv_die(t, "more than %d different values of %s", MAX_NAMES, t->names[col]);
	return i;
}

/* A phrase: anything but control characters. */
static uint32_t
read_reason(const struct tsv *t, size_t col, struct names *names)
{
	uint32_t i;

	for (const char *s = t->field[col]; *s != '\0'; s++) {
		if ((unsigned char)*s < ' ' || *s == 0x7f)
			tsv_die(t, "reason holds a control character");
	}
	i = names_intern(names, t->field[col]);
	if (names->n > MAX_NAMES)
		tsv_die(t, "more than %d different reasons", MAX_NAMES);
	return i;
}

static uint32_t
read_u32(const struct tsv *t, size_t col, uint32_t min)
{
	return (uint32_t)tsv_u64(t, col, min, UINT32_MAX - 1);
}

/* A valid slice of zero packets or cycles has no speed; whoever wrote it should have said so. */
static void
read_valid(const struct tsv *t, const struct columns *c, struct process *p, uint32_t round)
{
	uint64_t packets = tsv_u64(t, c->packets, 0, UINT64_MAX);
	uint64_t cycles = tsv_u64(t, c->cycles, 0, UINT64_MAX);
	uint64_t tsc_hz = tsv_u64(t, c->tsc_hz, 0, UINT64_MAX);
	uint64_t dropped = tsv_u64(t, c->dropped, 0, UINT64_MAX);

	if (packets == 0 || cycles == 0 || tsc_hz == 0)
		tsv_die(t, "a valid slice with 0 %s; mark it invalid (valid 0 and a reason)",
			packets == 0  ? "packets"
			: cycles == 0 ? "cycles"
				      : "tsc_hz");
	if (p->n_slices == p->n_invalid)
		p->tsc_hz = (double)tsc_hz;
	if (__builtin_add_overflow(p->packets, packets, &p->packets))
		p->packets = UINT64_MAX;
	if (__builtin_add_overflow(p->dropped, dropped, &p->dropped))
		p->dropped = UINT64_MAX;
	process_add(p, round, (uint32_t)t->line_no, log((double)cycles) - log((double)packets));
}

static void
read_row(const struct tsv *t, const struct columns *c, struct experiment *e)
{
	uint32_t round = read_u32(t, c->round, 1), other = 0;
	struct process_key key = {
		.epoch = read_u32(t, c->epoch, 1),
		.number = read_u32(t, c->process, 1),
		.layout = read_u32(t, c->layout, 0),
		.variant = read_name(t, c->variant, &e->variant),
		.cc = read_name(t, c->cc, &e->cc),
		.dpdk = read_name(t, c->dpdk, &e->dpdk),
		.line = (uint32_t)t->line_no,
	};
	struct process *p = experiment_process(e, &key, &other);

	if (p == NULL)
		tsv_die(t,
			"process %" PRIu32 " of epoch %" PRIu32 " was another one on line %" PRIu32,
			key.number, key.epoch, other);
	read_u32(t, c->order, 1);
	if (tsv_u64(t, c->valid, 0, 1) == 1) {
		read_valid(t, c, p, round);
		return;
	}
	for (const size_t *col =
			(const size_t[]){c->packets, c->cycles, c->tsc_hz, c->dropped, SIZE_MAX};
		*col != SIZE_MAX; col++)
		tsv_u64(t, *col, 0, UINT64_MAX);
	process_add_invalid(p, round, (uint32_t)t->line_no, read_reason(t, c->reason, &e->reason));
}

static void
read_slices(const char *path, struct experiment *e)
{
	struct columns c;
	struct tsv t;
	uint32_t twice, first;

	experiment_init(e);
	tsv_open(&t, path);
	find_columns(&t, &c);
	while (tsv_next(&t))
		read_row(&t, &c, e);
	if (t.line_no == 1)
		die_at(t.path, 1, "no slices follow the header");
	twice = experiment_finish(e, &first);
	if (twice != 0)
		die_at(t.path, twice,
			"the same slice (epoch, round and process) as on line %" PRIu32, first);
	tsv_close(&t);
}

static uint32_t
find_baseline(const struct experiment *e, const struct options *o)
{
	int i = names_find(&e->variant, o->baseline);
	char *list = xstrdup("");

	if (i >= 0) {
		free(list);
		return (uint32_t)i;
	}
	for (uint32_t j = 0; j < e->variant.n; j++) {
		char *longer = xasprintf("%s %s", list, e->variant.name[j]);

		free(list);
		list = longer;
	}
	die(EXIT_BAD, "%s has no variant '%s' for the baseline; present:%s", o->input, o->baseline,
		list);
}

/* --- notes ----------------------------------------------------------------- */

/* What notes are made from beside the row itself. */
struct context {
	const struct experiment *e;
	const struct options *o;
	struct rules rules;
	size_t n_tested;
};

struct text {
	char *s;
};

/* Appends a remark to the note; remarks are parted by "; ". */
static void remark(struct text *t, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

static void
remark(struct text *t, const char *fmt, ...)
{
	char *more, *longer;
	va_list ap;
	int n;

	va_start(ap, fmt);
	n = vasprintf(&more, fmt, ap);
	va_end(ap);
	if (n < 0)
		die(EXIT_FAIL, "out of memory");
	if (t->s == NULL) {
		t->s = more;
		return;
	}
	longer = xasprintf("%s; %s", t->s, more);
	free(t->s);
	free(more);
	t->s = longer;
}

/* A log ratio in percent. */
static double
percent(double log_ratio)
{
	return 100 * expm1(log_ratio);
}

static const char *
direction(double log_ratio)
{
	return log_ratio > 0 ? "slower" : "faster";
}

static bool
excludes_one(const struct estimate *e)
{
	return e->level != LEVEL_NONE && (e->low > 0 || e->high < 0);
}

/* What the interval does not hold. */
static void
note_level(struct text *t, const struct comparison *c)
{
	switch (c->ratio.level) {
	case LEVEL_NONE:
		remark(t, "too few rounds for an interval");
		break;
	case LEVEL_ROUNDS:
		remark(t, "one process start only: the interval comes from its rounds and does not "
			  "hold the spread of process starts, so there is no verdict");
		break;
	case LEVEL_EPOCHS:
		remark(t, c->over_layouts ? "one layout only: the interval holds process starts "
					    "but not the spread of layouts"
					  : "as built only: the interval holds process starts but "
					    "not the spread of layouts");
		break;
	case LEVEL_LAYOUTS:
		break;
	}
	if (c->ratio.n_borrowed_layouts > 0)
		remark(t,
			"%zu of %zu layouts had no baseline of the same layout and were compared "
			"with the baseline as built, whose own layout is one draw: that is added "
			"to the interval",
			c->ratio.n_borrowed_layouts, c->ratio.n_layouts);
}

/* The A/A floor. One pair of starts tells their difference, not how starts spread. */
static void
note_aa(struct text *t, const struct comparison *c)
{
	const struct estimate *aa = &c->aa;
	double floor;

	if (aa->n_units == 0) {
		remark(t, "no A/A pair: the noise floor is not known");
		return;
	}
	if (aa->level < LEVEL_EPOCHS)
		remark(t, "A/A %+.2f %% from one pair of starts: its interval holds rounds only",
			percent(aa->value));
	else if (excludes_one(aa))
		remark(t,
			"A/A excludes 1: two starts of the baseline itself differ by %+.2f %% "
			"(%+.2f to %+.2f %%)",
			percent(aa->value), percent(aa->low), percent(aa->high));
	else if (c->is_baseline)
		remark(t, "A/A %+.2f %% (%+.2f to %+.2f %%) from %zu pairs of starts",
			percent(aa->value), percent(aa->low), percent(aa->high), aa->n_units);
	if (c->is_baseline || c->ratio.n_units == 0 || c->verdict == SAME)
		return;
	floor = aa->level < LEVEL_EPOCHS ? fabs(aa->value) : (aa->high - aa->low) / 2;
	if (fabs(c->ratio.value) < floor)
		remark(t, "the A/A floor of %.2f %% is wider than the effect", percent(floor));
}

/* Says in words where the binary as built and the layouts disagree. */
static void
note_as_built(struct text *t, const struct comparison *c, const struct context *x)
{
	const struct estimate *built = &c->as_built, *over = &c->ratio;
	bool outside = built->value < over->low || built->value > over->high;
	bool shows, decided = c->verdict == SLOWER || c->verdict == FASTER;
	double size = fabs(percent(built->value));

	if (!c->over_layouts || built->n_units == 0 || over->level < LEVEL_EPOCHS)
		return;
	shows = fabs(built->value) > x->rules.margin &&
		(built->level < LEVEL_EPOCHS || excludes_one(built));
	if (decided && !shows)
		remark(t, "over layouts it is %.2f %% %s, as built that does not show (%+.2f %%)",
			fabs(percent(over->value)), direction(over->value), percent(built->value));
	else if (decided && (built->value > 0) != (over->value > 0))
		remark(t, "as built it is %.2f %% %s, over layouts %.2f %% %s", size,
			direction(built->value), fabs(percent(over->value)),
			direction(over->value));
	else if (shows && c->verdict == SAME)
		remark(t, "as built it is %.2f %% %s, over layouts it is not", size,
			direction(built->value));
	else if (shows && outside)
		remark(t, "as built it is %.2f %% %s, which lies outside the interval over layouts",
			size, direction(built->value));
}

/* What an undecided row is known to be, and what would decide it. */
static void
note_undecided(struct text *t, const struct comparison *c, const struct context *x)
{
	const struct estimate *e = &c->ratio;
	const char *what = e->level == LEVEL_LAYOUTS ? "layout" : "epoch";
	size_t needed, more;

	if (e->level < LEVEL_EPOCHS) {
		remark(t, "at least 3 more epochs would allow a verdict");
		return;
	}
	if (excludes_one(e) && fabs(e->value) <= x->rules.margin)
		remark(t, "%s, but perhaps within the margin", direction(e->value));
	else if (excludes_one(e))
		remark(t, "probably %s, but not beyond doubt", direction(e->value));
	if (e->n_borrowed_layouts > 0) {
		remark(t, "the same layouts of the baseline would decide more than anything else");
		return;
	}
	needed = members_needed(e, &x->rules, x->n_tested);
	more = needed - e->n_top;
	if (needed > 0)
		remark(t, "about %zu more %s%s (%zu in all) would decide", more, what,
			more > 1 ? "s" : "", needed);
	else
		remark(t,
			"even 1000 %ss would hardly decide: the estimate lies near the margin, or the spread is too large",
			what);
}

static void
note_tests(struct text *t, const struct comparison *c, const struct context *x)
{
	if (c->ratio.level < LEVEL_EPOCHS)
		return;
	if (c->verdict == SAME && excludes_one(&c->ratio))
		remark(t, "a difference within the margin is certain");
	if (x->n_tested > 1)
		remark(t, "p %.2g (Holm, %zu comparisons)", c->p_corrected, x->n_tested);
	else
		remark(t, "p %.2g", c->p_corrected);
	if (x->o->looks > 1)
		remark(t,
			"look %u of %u at Pocock's level: %.2g for a verdict, %.3g for the interval",
			x->o->look, x->o->looks, x->rules.alpha, x->rules.miss);
}

/* The different reasons for which processes of c had a first invalid slice, at most three. */
static char *
reasons(const struct experiment *e, const struct comparison *c)
{
	uint32_t seen[3], n = 0, j;
	char *list = xstrdup("");

	for (size_t i = 0; i < e->n_processes && n < 3; i++) {
		const struct process *p = &e->process[i];
		char *longer;

		if (!belongs_to(p, c) || p->n_invalid == 0)
			continue;
		for (j = 0; j < n && seen[j] != p->reason; j++)
			;
		if (j < n)
			continue;
		seen[n++] = p->reason;
		longer = xasprintf("%s%s%s", list, n > 1 ? ", " : "", e->reason.name[p->reason]);
		free(list);
		list = longer;
	}
	return list;
}

static void
note_slices(struct text *t, const struct comparison *c, const struct context *x)
{
	size_t all = c->n_valid + c->n_invalid;

	if (c->n_invalid > 0) {
		char *why = reasons(x->e, c);

		remark(t, "%zu of %zu slices invalid, left out (%s)", c->n_invalid, all, why);
		free(why);
	}
	if (c->dropped > 0)
		remark(t, "%" PRIu64 " packets dropped (%.3g %%)", c->dropped,
			100 * (double)c->dropped / ((double)c->packets + (double)c->dropped));
	if (c->n_bimodal > 0)
		remark(t, "%zu of %zu process starts bimodal (two speeds up to %.1f %% apart)",
			c->n_bimodal, c->n_judged, percent(c->mode_gap));
	if (!isnan(c->ratio.layout_sd) && !c->ratio.layout_sd_pure)
		remark(t, "the layout spread holds that of process starts");
}

static char *
make_note(const struct comparison *c, const struct context *x)
{
	struct text t = {NULL};

	if (c->n_valid == 0) {
		remark(&t, "no valid slice");
	} else if (!c->is_baseline && c->n_units == 0) {
		remark(&t, "no round in common with a valid slice of the baseline");
	} else if (!c->is_baseline) {
		note_level(&t, c);
		note_aa(&t, c);
		note_as_built(&t, c, x);
		if (c->verdict == UNDECIDED)
			note_undecided(&t, c, x);
		note_tests(&t, c, x);
	} else {
		note_aa(&t, c);
	}
	note_slices(&t, c, x);
	return t.s != NULL ? t.s : xstrdup("-");
}

/* --- output ---------------------------------------------------------------- */

/* A column with x in it, or - if there is none. */
static void
put(FILE *f, int decimals, double x)
{
	if (isfinite(x))
		fprintf(f, "\t%.*f", decimals, x);
	else
		fputs("\t-", f);
}

static const char *
verdict_name(const struct comparison *c)
{
	static const char *const name[] = {
		[SLOWER] = "slower",
		[FASTER] = "faster",
		[SAME] = "same",
		[UNDECIDED] = "undecided",
	};

	if (c->n_valid == 0)
		return "invalid";
	return c->is_baseline ? "baseline" : name[c->verdict];
}

static void
write_row(FILE *f, const struct context *x, const struct comparison *c)
{
	const struct experiment *e = x->e;
	char *note = make_note(c, x);

	fprintf(f, "%s\t%s\t%s\t%zu\t%zu\t%zu", e->variant.name[c->variant], e->cc.name[c->cc],
		e->dpdk.name[c->dpdk], c->n_layouts, c->n_processes, c->n_rounds);
	put(f, 3, c->cycles);
	put(f, 4, c->mpps);
	put(f, 6, exp(c->ratio.value));
	put(f, 6, exp(c->ratio.low));
	put(f, 6, exp(c->ratio.high));
	put(f, 3, 100 * c->ratio.layout_sd);
	put(f, 6, exp(c->as_built.value));
	put(f, 6, exp(c->aa.low));
	put(f, 6, exp(c->aa.high));
	fprintf(f, "\t%s\t%s\n", verdict_name(c), note);
	free(note);
}

static void
write_effects(const struct context *x, const struct comparisons *c)
{
	struct outfile out;

	out_open(&out, x->o->out);
	fputs("variant\tcc\tdpdk\tlayouts\tprocesses\trounds\tcycles_per_packet\tmpps\tratio\t"
	      "ratio_low\tratio_high\tlayout_spread_percent\tas_built_ratio\taa_low\taa_high\t"
	      "verdict\tnote\n",
		out.file);
	for (size_t i = 0; i < c->n; i++)
		write_row(out.file, x, &c->row[i]);
	out_commit(&out);
}

static void
write_units(const struct context *x, const struct comparisons *c)
{
	const struct experiment *e = x->e;
	struct outfile out;

	out_open(&out, x->o->units);
	fputs("variant\tcc\tdpdk\tlayout\tepoch\tprocess\tratio\tcycles_per_packet\tmpps\trounds\t"
	      "bimodal\n",
		out.file);
	for (size_t i = 0; i < c->n; i++) {
		const struct comparison *row = &c->row[i];

		for (size_t j = 0; j < row->n_starts; j++) {
			const struct start *s = &row->start[j];
			const struct process *p = s->process;

			fprintf(out.file, "%s\t%s\t%s\t%" PRIu32 "\t%" PRIu32 "\t%" PRIu32,
				e->variant.name[row->variant], e->cc.name[row->cc],
				e->dpdk.name[row->dpdk], p->layout, p->epoch, p->number);
			put(out.file, 6, exp(s->y));
			put(out.file, 3, exp(p->median));
			put(out.file, 4, p->tsc_hz / exp(p->median) / 1e6);
			fprintf(out.file, "\t%zu\t%s\n", s->n_rounds,
				p->bimodal < 0 ? "-"
				: p->bimodal   ? "1"
					       : "0");
		}
	}
	out_commit(&out);
}

static void
write_widest(const struct context *x, const struct comparisons *c)
{
	struct outfile out;
	double widest = widest_half_width(c);

	out_open(&out, x->o->out);
	/* with its sign every awk and strtod() takes it for infinity */
	if (isinf(widest))
		fputs("+inf\n", out.file);
	else
		fprintf(out.file, "%.4f\n", widest);
	out_commit(&out);
}

/* --- command line ---------------------------------------------------------- */

static const char help[] =
	"usage: stats --baseline VARIANT [OPTION]... slices.tsv\n"
	"Compares every variant of a run with the baseline and gives a verdict for each.\n"
	"\n"
	"  --alpha PERCENT     false slower or faster verdicts in a file without any\n"
	"                      difference, whatever the number of comparisons (0.5)\n"
	"  --baseline VARIANT  what the others are compared with, for each compiler and release\n"
	"  --help              this text\n"
	"  --look K            this is look K of those planned with --looks (1)\n"
	"  --looks N           how often at most this run is looked at before it ends (1):\n"
	"                      with more than one, interval and verdict are held to Pocock's\n"
	"                      levels, so that all looks together err as rarely as one\n"
	"  --margin PERCENT    differences up to this one count as the same (1)\n"
	"  --out FILE          where to write, complete or not at all (stdout)\n"
	"  --seed N            of the resampling; the same seed gives the same bytes (1)\n"
	"  --units FILE        writes one row a process start too\n"
	"  --widest            writes one number instead: the widest half-width of the 95 %\n"
	"                      intervals in percent, +inf while a variant has but one start\n"
	"\n"
	"slices.tsv  epoch round order variant cc dpdk layout process packets cycles tsc_hz\n"
	"            dropped valid reason; - reads stdin\n"
	"effects     variant cc dpdk layouts processes rounds cycles_per_packet mpps ratio\n"
	"            ratio_low ratio_high layout_spread_percent as_built_ratio aa_low aa_high\n"
	"            verdict note. ratio: cycles/packet against the baseline, above 1 is\n"
	"            slower, with its 95 % interval; over the shuffled layouts if there are\n"
	"            any, otherwise as built. mpps is per forwarding core.\n"
	"units       variant cc dpdk layout epoch process ratio cycles_per_packet mpps rounds\n"
	"            bimodal. A second start of the baseline is compared with the first, its\n"
	"            shuffled layouts with the one as built.\n"
	"verdict     slower, faster: beyond chance (Holm-corrected, see --alpha) and the\n"
	"            estimate beyond the margin; same: interval within the margin;\n"
	"            undecided: neither, the note says what would decide it\n"
	"\n"
	"Exit status: 0 done, 1 cannot write, 2 wrong usage or bad data.\n"
	"Example: stats --baseline meson-static --out effects.tsv slices.tsv\n";

enum { ALPHA, BASELINE, HELP, LOOK, LOOKS, MARGIN, OUT, SEED, UNITS, WIDEST };

static const struct opt option_table[] = {
	{"alpha", true, ALPHA},
	{"baseline", true, BASELINE},
	{"help", false, HELP},
	{"look", true, LOOK},
	{"looks", true, LOOKS},
	{"margin", true, MARGIN},
	{"out", true, OUT},
	{"seed", true, SEED},
	{"units", true, UNITS},
	{"widest", false, WIDEST},
	{NULL, false, 0},
};

static void
set_option(struct options *o, int id, const char *value)
{
	switch (id) {
	case ALPHA:
		o->alpha_percent = opt_double("alpha", value, 1e-6, 50);
		break;
	case BASELINE:
		o->baseline = value;
		break;
	case LOOK:
		o->look = (unsigned int)opt_u64("look", value, 1, MAX_LOOKS);
		break;
	case LOOKS:
		o->looks = (unsigned int)opt_u64("looks", value, 1, MAX_LOOKS);
		break;
	case MARGIN:
		o->margin_percent = opt_double("margin", value, 0, 100);
		break;
	case OUT:
		o->out = value;
		break;
	case SEED:
		o->seed = opt_u64("seed", value, 0, UINT64_MAX);
		break;
	case UNITS:
		o->units = value;
		break;
	case WIDEST:
		o->widest = true;
		break;
	}
}

static void
parse_options(struct options *o, int argc, char **argv)
{
	const char *value;
	int pos = 1, id;

	*o = (struct options){.margin_percent = 1,
		.alpha_percent = 100 * DEFAULT_ALPHA,
		.seed = 1,
		.look = 1,
		.looks = 1};
	while ((id = opt_next(option_table, argc, argv, &pos, &value)) != OPT_END) {
		if (id == HELP) {
			fputs(help, stdout);
			exit(EXIT_DONE);
		}
		if (id != OPT_POSITIONAL) {
			set_option(o, id, value);
			continue;
		}
		if (o->input != NULL)
			die(EXIT_BAD, "one slices.tsv is expected, not also '%s'", value);
		o->input = value;
	}
	if (o->input == NULL)
		die(EXIT_BAD, "no slices.tsv named; see --help");
	if (o->baseline == NULL)
		die(EXIT_BAD, "--baseline VARIANT is missing; see --help");
	if (o->look > o->looks)
		die(EXIT_BAD, "--look %u of --looks %u: there are not that many", o->look,
			o->looks);
}

int
main(int argc, char **argv)
{
	struct comparisons c;
	struct experiment e;
	struct options o;
	struct context x;

	parse_options(&o, argc, argv);
	read_slices(o.input, &e);
	x.e = &e;
	x.o = &o;
	x.rules = make_rules(o.margin_percent / 100, o.alpha_percent / 100, o.looks);
	compare_all(&e, find_baseline(&e, &o), &x.rules, o.seed, &c);
	x.n_tested = c.n_tested;
	if (o.widest)
		write_widest(&x, &c);
	else
		write_effects(&x, &c);
	if (o.units != NULL)
		write_units(&x, &c);
	comparisons_free(&c);
	experiment_free(&e);
	return EXIT_DONE;
}
