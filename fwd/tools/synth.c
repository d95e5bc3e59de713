/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * synth: slices whose truth is known, for the tests of stats. Writes slices.tsv,
 * or with --coverage runs many experiments in memory through the same pairing,
 * estimator and verdict that stats uses and prints how often they were right.
 */
#include <errno.h>
#include <gsl/gsl_randist.h>
#include <gsl/gsl_rng.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "compare.h"
#include "effect.h"
#include "pairs.h"
#include "util.h"

#define MAX_LIST 32
/* A slice: 10 ms at 2 GHz of a forwarder that takes 100 cycles/packet. */
#define TSC_HZ		  2000000000.0
#define PACKETS		  200000
#define CYCLES_PER_PACKET 100.0
/* How long an outlier takes longer, on average, and how often a bimodal process changes speed. */
#define OUTLIER_MEAN	   0.5
#define SWITCH_PROBABILITY 0.1
/* Half-width in percent at which a run with looks ends, whatever the verdict. */
#define NARROW_ENOUGH 0.5

/* What layout and start lucks are drawn from; all have the standard deviation asked for. */
enum shape { NORMAL, HEAVY, TWO };

/* A machine, the variants on it, and everything that may disturb the measurement. Shares, not %. */
struct world {
	const char *variant[MAX_LIST], *cc[MAX_LIST], *dpdk[MAX_LIST];
	double effect[MAX_LIST]; /* ratio to the baseline, which is variant 0, minus 1 */
	unsigned int n_variants, n_ccs, n_dpdks;
	unsigned int epochs, rounds, layouts, baseline_layouts;
	unsigned int last_epoch; /* epochs after this one are planned but not run */
	double layout_spread, start_spread, noise;
	double as_built, bimodal, drift, missing, outliers, own_step, step;
	bool dead, nested, no_aa, unequal;
	enum shape shape;
	uint64_t seed;
};

/* One process start of the current epoch. */
struct actor {
	unsigned int variant, cc, dpdk, layout;
	double luck; /* of layout and start, natural log */
	double fast, slow;
	bool in_slow_mode, dies;
};

struct row {
	unsigned int epoch, round, order, process;
	const struct actor *actor;
	double x; /* ln(cycles/packet); NAN: invalid */
	const char *reason;
};

/* Takes each slice as it is made. */
typedef void (*sink)(void *to, const struct world *w, const struct row *r);

/* --- the model ------------------------------------------------------------- */

/* A draw of standard deviation sd. */
static double
draw(gsl_rng *rng, enum shape shape, double sd)
{
	switch (shape) {
	case HEAVY:
		return sd * gsl_ran_tdist(rng, 3) / sqrt(3);
	case TWO:
		/* a quarter are slow by four standard deviations of the rest; the sd is 2 */
		return sd / 2 * (gsl_ran_gaussian(rng, 1) + (gsl_rng_uniform(rng) < 0.25 ? 4 : 0));
	case NORMAL:
		break;
	}
	return gsl_ran_gaussian(rng, sd);
}

static unsigned int
total_layouts(const struct world *w)
{
	return 1 + (w->nested ? w->layouts * w->epochs : w->layouts);
}

/* Luck of layout l of every binary, the same in all epochs. */
static double *
draw_layouts(const struct world *w, gsl_rng *rng)
{
	unsigned int layouts = total_layouts(w), n = w->n_variants * w->n_ccs * w->n_dpdks;
	double *luck = xcalloc((size_t)n * layouts, sizeof(*luck));

	for (size_t i = 0; i < (size_t)n * layouts; i++) {
		luck[i] = draw(rng, w->shape, w->layout_spread);
		/* as built nothing is left to luck if the test wants to know it */
		if (i % layouts == 0 && !isnan(w->as_built))
			luck[i] = i / layouts % w->n_variants == 0 ? 0 : log1p(w->as_built);
	}
	return luck;
}

static void
add_actor(const struct world *w, struct actor *a, unsigned int *n, struct actor what,
	const double *layout_luck, gsl_rng *rng)
{
	unsigned int binary = (what.dpdk * w->n_ccs + what.cc) * w->n_variants + what.variant;

	what.luck = log1p(w->effect[what.variant]) +
		    layout_luck[(size_t)binary * total_layouts(w) + what.layout] +
		    draw(rng, w->shape, w->start_spread);
	what.slow = what.variant == 1 ? w->bimodal : 0;
	what.dies = w->dead && what.variant == 1 && what.layout == 0;
	a[(*n)++] = what;
}

/* Process starts of epoch into a, which has room for all; returns how many. */
static unsigned int
start_epoch(const struct world *w, unsigned int epoch, struct actor *a, const double *layout_luck,
	gsl_rng *rng)
{
	unsigned int n = 0;
	struct actor what = {0};

	for (what.dpdk = 0; what.dpdk < w->n_dpdks; what.dpdk++)
		for (what.cc = 0; what.cc < w->n_ccs; what.cc++)
			for (what.variant = 0; what.variant < w->n_variants; what.variant++) {
				unsigned int layouts =
					what.variant == 0 ? w->baseline_layouts : w->layouts;

				if (w->unequal && what.variant > 0)
					layouts = (layouts + 1) / 2;
				what.layout = 0;
				add_actor(w, a, &n, what, layout_luck, rng);
				if (what.variant == 0 && !w->no_aa)
					add_actor(w, a, &n, what, layout_luck, rng);
				for (unsigned int l = 1; l <= layouts; l++) {
					what.layout =
						l + (w->nested ? (epoch - 1) * w->layouts : 0);
					add_actor(w, a, &n, what, layout_luck, rng);
				}
			}
	if (epoch > 1)
		for (unsigned int i = 0; i < n; i++)
			a[i].dies = false;
	return n;
}

/* One slice of a in round of epoch; done is the part of the whole run that has passed. */
static void
run_slice(const struct world *w, struct actor *a, struct row *r, double done, gsl_rng *rng)
{
	bool second_half = r->round > w->rounds / 2, last_third = r->round > w->rounds * 2 / 3;

	r->reason = "-";
	r->x = log(CYCLES_PER_PACKET) + a->luck + done * log1p(w->drift) +
	       gsl_ran_gaussian(rng, w->noise);
	if (second_half)
		r->x += log1p(w->step);
	if (last_third && a->variant == 1)
		r->x += log1p(w->own_step);
	if (gsl_rng_uniform(rng) < w->outliers)
		r->x += gsl_ran_exponential(rng, OUTLIER_MEAN);
	if (gsl_rng_uniform(rng) < SWITCH_PROBABILITY)
		a->in_slow_mode = !a->in_slow_mode;
	if (a->in_slow_mode)
		r->x += log1p(a->slow);
	if (gsl_rng_uniform(rng) < w->missing) {
		r->x = NAN;
		r->reason = "timeout";
	}
	if (a->dies && r->round > w->rounds / 3) {
		r->x = NAN;
		r->reason = "died: signal 11";
	}
}

/* Runs the world: every slice goes to put(to, ...). */
static void
run_world(const struct world *w, sink put, void *to)
{
	unsigned int room =
		w->n_variants * w->n_ccs * w->n_dpdks *
		(2 + (w->layouts > w->baseline_layouts ? w->layouts : w->baseline_layouts));
	struct actor *a = xcalloc(room, sizeof(*a));
	unsigned int *order = xcalloc(room, sizeof(*order));
	gsl_rng *rng = gsl_rng_alloc(gsl_rng_mt19937);
	double *layout_luck;

	if (rng == NULL)
		die(EXIT_FAIL, "out of memory");
	gsl_rng_set(rng, (unsigned long)(w->seed & 0xffffffff));
	layout_luck = draw_layouts(w, rng);
	for (unsigned int epoch = 1; epoch <= w->last_epoch; epoch++) {
		unsigned int n = start_epoch(w, epoch, a, layout_luck, rng);

		for (unsigned int i = 0; i < n; i++)
			order[i] = i;
		for (unsigned int round = 1; round <= w->rounds; round++) {
			gsl_ran_shuffle(rng, order, n, sizeof(*order));
			for (unsigned int i = 0; i < n; i++) {
				struct row r = {
					epoch, round, i + 1, order[i] + 1, &a[order[i]], 0, NULL};
				double done = (epoch - 1 + (round - 1.0) / w->rounds) / w->epochs;

				run_slice(w, &a[order[i]], &r, done, rng);
				put(to, w, &r);
			}
		}
	}
	free(layout_luck);
	gsl_rng_free(rng);
	free(order);
	free(a);
}

/* --- slices.tsv ------------------------------------------------------------ */

static void
put_tsv(void *to, const struct world *w, const struct row *r)
{
	const struct actor *a = r->actor;
	bool valid = !isnan(r->x);

	fprintf(to, "%u\t%u\t%u\t%s\t%s\t%s\t%u\t%u\t%u\t%.0f\t%.0f\t0\t%d\t%s\n", r->epoch,
		r->round, r->order, w->variant[a->variant], w->cc[a->cc], w->dpdk[a->dpdk],
		a->layout, r->process, valid ? PACKETS : 0, valid ? PACKETS * exp(r->x) : 0.0,
		TSC_HZ, valid, r->reason);
}

static void
write_slices(const struct world *w, const char *path)
{
	struct outfile out;

	out_open(&out, path);
	fputs("epoch\tround\torder\tvariant\tcc\tdpdk\tlayout\tprocess\tpackets\tcycles\ttsc_hz\t"
	      "dropped\tvalid\treason\n",
		out.file);
	run_world(w, put_tsv, out.file);
	out_commit(&out);
}

/* --- coverage -------------------------------------------------------------- */

static void
put_memory(void *to, const struct world *w, const struct row *r)
{
	const struct actor *a = r->actor;
	struct experiment *e = to;
	struct process_key key = {
		.epoch = r->epoch,
		.number = r->process,
		.layout = a->layout,
		.variant = names_intern(&e->variant, w->variant[a->variant]),
		.cc = names_intern(&e->cc, w->cc[a->cc]),
		.dpdk = names_intern(&e->dpdk, w->dpdk[a->dpdk]),
		.line = 1,
	};
	uint32_t other;
	struct process *p = experiment_process(e, &key, &other);

	if (p == NULL)
		die(EXIT_FAIL, "process %u of epoch %u is two things", r->process, r->epoch);
	p->tsc_hz = TSC_HZ;
	if (isnan(r->x))
		process_add_invalid(p, r->round, 1, names_intern(&e->reason, r->reason));
	else
		process_add(p, r->round, 1, r->x);
}

/* Options that are no part of the world. */
struct options {
	bool coverage;
	const char *design, *out;
	unsigned int trials;
	double margin, alpha; /* shares */
	double truth;	      /* share; NAN: all of them */
};

/* A way to measure, and how the machine behaves meanwhile. */
struct design {
	const char *name;
	unsigned int epochs, layouts;
	double layout_spread, start_spread, noise;
	enum shape shape;
	unsigned int looks; /* 1: no sequential stopping */
	enum { CROSSED, NESTED_LAYOUTS, DIRTY, BASELINE_AS_BUILT, UNSPENT } kind;
};

/* Layouts spread by 5 % and starts by 2 %, as met on real machines, unless the name says more. */
static const struct design designs[] = {
	{"layouts-4", 4, 1, 0.05, 0.02, 0.03, NORMAL, 1, NESTED_LAYOUTS},
	{"layouts-8", 8, 1, 0.05, 0.02, 0.03, NORMAL, 1, NESTED_LAYOUTS},
	{"layouts-16", 8, 2, 0.05, 0.02, 0.03, NORMAL, 1, NESTED_LAYOUTS},
	{"layouts-8-one-epoch", 1, 8, 0.05, 0.02, 0.03, NORMAL, 1, CROSSED},
	{"layouts-8-epochs-4", 4, 8, 0.05, 0.02, 0.03, NORMAL, 1, CROSSED},
	{"as-built-4", 4, 0, 0, 0.02, 0.03, NORMAL, 1, CROSSED},
	{"as-built-8", 8, 0, 0, 0.02, 0.03, NORMAL, 1, CROSSED},
	{"as-built-40", 40, 0, 0, 0.02, 0.03, NORMAL, 1, CROSSED},
	{"as-built-40-heavy", 40, 0, 0, 0.02, 0.03, HEAVY, 1, CROSSED},
	{"quiet-8", 8, 0, 0, 0.002, 0.01, NORMAL, 1, CROSSED},
	{"noise-only-8", 8, 0, 0, 0, 0.03, NORMAL, 1, CROSSED},
	{"heavy-8", 8, 1, 0.05, 0.02, 0.03, HEAVY, 1, NESTED_LAYOUTS},
	{"two-speeds-8", 8, 1, 0.05, 0.02, 0.03, TWO, 1, NESTED_LAYOUTS},
	{"dirty-8", 8, 1, 0.05, 0.02, 0.03, NORMAL, 1, DIRTY},
	{"baseline-as-built", 1, 8, 0.05, 0.02, 0.03, NORMAL, 1, BASELINE_AS_BUILT},
	{"looks-4", 12, 0, 0, 0.005, 0.01, NORMAL, 4, CROSSED},
	{"looks-4-layouts", 8, 1, 0.05, 0.02, 0.03, NORMAL, 4, NESTED_LAYOUTS},
	/* the control of looks-4: what looking costs where the levels do not account for it */
	{"peeking-4", 12, 0, 0, 0.005, 0.01, NORMAL, 4, UNSPENT},
};
#define N_DESIGNS (sizeof(designs) / sizeof(designs[0]))

/* A baseline and one variant, gcc, one release. */
static struct world
default_world(void)
{
	return (struct world){
		.variant = {"base", "v0"},
		.cc = {"gcc"},
		.dpdk = {"22.11"},
		.n_variants = 2,
		.n_ccs = 1,
		.n_dpdks = 1,
		.epochs = 8,
		.rounds = 40,
		.noise = 0.03,
		.as_built = NAN,
		.baseline_layouts = UINT32_MAX,
		.seed = 1,
	};
}

static struct world
world_of(const struct design *d)
{
	struct world w = default_world();

	w.epochs = d->epochs;
	w.layouts = d->layouts;
	w.baseline_layouts = d->kind == BASELINE_AS_BUILT ? 0 : d->layouts;
	w.layout_spread = d->layout_spread;
	w.start_spread = d->start_spread;
	w.noise = d->noise;
	w.shape = d->shape;
	w.nested = d->kind == NESTED_LAYOUTS || d->kind == DIRTY;
	if (d->kind == DIRTY) {
		w.drift = 0.5;
		w.step = 0.2;
		w.outliers = 0.1;
		w.missing = 0.1;
		w.dead = true;
	}
	return w;
}

struct tally {
	unsigned int trials, covered, aa_covered, verdict[UNDECIDED + 1];
	double half_width; /* sum, percent */
};

static void
count_trial(struct tally *t, const struct comparison *c, double truth)
{
	double x = log1p(truth);

	t->trials++;
	t->covered += c->ratio.low <= x && x <= c->ratio.high;
	t->aa_covered += c->aa.low <= 0 && 0 <= c->aa.high;
	t->verdict[c->verdict]++;
	t->half_width += 50 * (exp(c->ratio.high) - exp(c->ratio.low));
}

/*
 * Runs w as far as it has come at this look and judges. If that is the last look,
 * or the run may end here because the verdict is clear or the interval narrow
 * enough, counts the trial and returns true.
 */
static bool
run_trial(
	const struct world *w, const struct rules *rules, bool last, double truth, struct tally *t)
{
	struct comparisons c;
	struct experiment e;
	uint32_t first;
	bool ends;

	experiment_init(&e);
	run_world(w, put_memory, &e);
	if (experiment_finish(&e, &first) != 0)
		die(EXIT_FAIL, "a slice was made twice");
	compare_all(&e, (uint32_t)names_find(&e.variant, w->variant[0]), rules, w->seed, &c);
	ends = last || c.row[1].verdict != UNDECIDED || widest_half_width(&c) <= NARROW_ENOUGH;
	if (ends)
		count_trial(t, &c.row[1], truth);
	comparisons_free(&c);
	experiment_free(&e);
	return ends;
}

static void
run_design(const struct design *d, const struct options *o, double truth, uint64_t seed,
	struct tally *t)
{
	struct rules rules = make_rules(o->margin, o->alpha, d->kind == UNSPENT ? 1 : d->looks);
	struct world w = world_of(d);

	w.effect[1] = truth;
	for (unsigned int i = 0; i < o->trials; i++) {
		unsigned int look = 1;

		w.seed = seed * 1000003 + i;
		do {
			w.last_epoch = w.epochs * look / d->looks;
		} while (!run_trial(&w, &rules, look++ == d->looks, truth, t));
	}
}

static void
write_coverage(const struct options *o, uint64_t seed)
{
	static const double truths[] = {0, 0.01, 0.03, 0.09};
	struct outfile out;
	bool found = false;

	out_open(&out, o->out);
	fputs("design\ttrue_percent\ttrials\tcoverage_percent\taa_coverage_percent\t"
	      "half_width_percent\tslower_percent\tfaster_percent\tsame_percent\t"
	      "undecided_percent\n",
		out.file);
	for (size_t i = 0; i < N_DESIGNS; i++) {
		if (o->design != NULL && strcmp(o->design, designs[i].name) != 0)
			continue;
		found = true;
		for (size_t j = 0; j < sizeof(truths) / sizeof(truths[0]); j++) {
			struct tally t = {0};

			if (!isnan(o->truth) && truths[j] != o->truth)
				continue;
			run_design(&designs[i], o, truths[j], seed * 10 + j, &t);
			fprintf(out.file, "%s\t%g\t%u", designs[i].name, 100 * truths[j],
				o->trials);
			fprintf(out.file, "\t%.2f\t%.2f\t%.3f", 100.0 * t.covered / o->trials,
				100.0 * t.aa_covered / o->trials, t.half_width / o->trials);
			for (int v = SLOWER; v <= UNDECIDED; v++)
				fprintf(out.file, "\t%.2f", 100.0 * t.verdict[v] / o->trials);
			fputc('\n', out.file);
		}
	}
	if (!found) {
		char *list = xstrdup("");

		for (size_t i = 0; i < N_DESIGNS; i++) {
			char *longer = xasprintf("%s %s", list, designs[i].name);

			free(list);
			list = longer;
		}
		die(EXIT_BAD, "no design '%s'; there are:%s", o->design, list);
	}
	out_commit(&out);
}

/* --- command line ---------------------------------------------------------- */

static const char help[] =
	"usage: synth [OPTION]... > slices.tsv\n"
	"       synth --coverage [--design NAME] [--trials N] [--margin PERCENT]\n"
	"Makes slices of a measurement whose true answer is known, to test stats.\n"
	"\n"
	"  --alpha PERCENT          of --coverage (0.5)\n"
	"  --as-built PERCENT       how much slower the layout as built of every variant is\n"
	"                           than that of the baseline, on top of its effect (luck)\n"
	"  --baseline-layouts N     shuffled layouts of the baseline (as --layouts)\n"
	"  --bimodal PERCENT        the first variant's processes jump between two speeds\n"
	"  --cc LIST                compilers (gcc)\n"
	"  --coverage               prints how often interval and verdict are right\n"
	"  --dead                   the first variant as built dies in the first epoch\n"
	"  --design NAME            of --coverage, one only (all)\n"
	"  --dpdk LIST              releases (22.11)\n"
	"  --drift PERCENT          everything gets slower during the whole run\n"
	"  --effects LIST           percent by which each variant is slower than the baseline;\n"
	"                           variant X is called vX (0)\n"
	"  --epochs N               (8)\n"
	"  --help                   this text\n"
	"  --layout-spread PERCENT  standard deviation of the layouts (0)\n"
	"  --layouts N              shuffled layouts, an epoch if --nested (0)\n"
	"  --margin PERCENT         of --coverage (1)\n"
	"  --missing PERCENT        of the slices are invalid\n"
	"  --nested                 each epoch has layouts of its own\n"
	"  --no-aa                  no second start of the baseline\n"
	"  --noise PERCENT          standard deviation of a slice (3)\n"
	"  --out FILE               (stdout)\n"
	"  --outliers PERCENT       of the slices take half as long again, on average\n"
	"  --own-step PERCENT       the first variant slows down after two thirds of the rounds\n"
	"  --rounds N               an epoch (40)\n"
	"  --seed N                 (1)\n"
	"  --shape SHAPE            of layouts and starts: normal, heavy or two (normal)\n"
	"  --start-spread PERCENT   standard deviation of process starts (0)\n"
	"  --step PERCENT           everything gets slower in the second half of each epoch\n"
	"  --trials N               experiments a line of --coverage (400)\n"
	"  --truth PERCENT          of --coverage, one only of 0, 1, 3 and 9 (all)\n"
	"  --unequal                variants have half as many layouts as the baseline\n"
	"\n"
	"Coverage: design true_percent trials coverage_percent aa_coverage_percent\n"
	"          half_width_percent slower_percent faster_percent same_percent\n"
	"          undecided_percent. Where the truth is 0, slower and faster are false alarms.\n"
	"Exit status: 0 done, 1 cannot write, 2 wrong usage.\n"
	"Example: synth --effects 0,1,9 --layouts 8 --layout-spread 5 --out slices.tsv\n";

enum {
	ALPHA,
	AS_BUILT,
	BASELINE_LAYOUTS,
	BIMODAL,
	CC,
	COVERAGE,
	DEAD,
	DESIGN,
	DPDK,
	DRIFT,
	EFFECTS,
	EPOCHS,
	HELP,
	LAYOUT_SPREAD,
	LAYOUTS,
	MARGIN,
	MISSING,
	NESTED,
	NO_AA,
	NOISE,
	OUT,
	OUTLIERS,
	OWN_STEP,
	ROUNDS,
	SEED,
	SHAPE,
	START_SPREAD,
	STEP,
	TRIALS,
	TRUTH,
	UNEQUAL,
};

static const struct opt option_table[] = {
	{"alpha", true, ALPHA},
	{"as-built", true, AS_BUILT},
	{"baseline-layouts", true, BASELINE_LAYOUTS},
	{"bimodal", true, BIMODAL},
	{"cc", true, CC},
	{"coverage", false, COVERAGE},
	{"dead", false, DEAD},
	{"design", true, DESIGN},
	{"dpdk", true, DPDK},
	{"drift", true, DRIFT},
	{"effects", true, EFFECTS},
	{"epochs", true, EPOCHS},
	{"help", false, HELP},
	{"layout-spread", true, LAYOUT_SPREAD},
	{"layouts", true, LAYOUTS},
	{"margin", true, MARGIN},
	{"missing", true, MISSING},
	{"nested", false, NESTED},
	{"no-aa", false, NO_AA},
	{"noise", true, NOISE},
	{"out", true, OUT},
	{"outliers", true, OUTLIERS},
	{"own-step", true, OWN_STEP},
	{"rounds", true, ROUNDS},
	{"seed", true, SEED},
	{"shape", true, SHAPE},
	{"start-spread", true, START_SPREAD},
	{"step", true, STEP},
	{"trials", true, TRIALS},
	{"truth", true, TRUTH},
	{"unequal", false, UNEQUAL},
	{NULL, false, 0},
};

/* Text that lists point into, freed at the end. */
static char *kept[4 * MAX_LIST];
static unsigned int n_kept;

static char *
keep(char *text)
{
	if (n_kept == sizeof(kept) / sizeof(kept[0]))
		die(EXIT_BAD, "too many lists");
	kept[n_kept++] = text;
	return text;
}

/* Cuts a comma list into item[from..]; returns the end. */
static unsigned int
split_list(const char *name, const char *value, const char **item, unsigned int from)
{
	char *copy = keep(xstrdup(value)), *comma;

	for (;;) {
		comma = strchr(copy, ',');
		if (comma != NULL)
			*comma = '\0';
		if (!is_word(copy) || from == MAX_LIST)
			die(EXIT_BAD, "--%s '%s': a list of at most %d words is expected", name,
				value, MAX_LIST - 1);
		item[from++] = copy;
		if (comma == NULL)
			return from;
		copy = comma + 1;
	}
}

static double
share(const char *name, const char *value, double min)
{
	return opt_double(name, value, min, 1000) / 100;
}

static unsigned int
count(const char *name, const char *value, unsigned int min, unsigned int max)
{
	return (unsigned int)opt_u64(name, value, min, max);
}

static void
set_effects(struct world *w, const char *value)
{
	w->n_variants = split_list("effects", value, w->variant, 1);
	for (unsigned int i = 1; i < w->n_variants; i++) {
		w->effect[i] = share("effects", w->variant[i], -90);
		w->variant[i] = keep(xasprintf("v%s", w->variant[i]));
	}
}

static enum shape
parse_shape(const char *value)
{
	if (strcmp(value, "normal") == 0)
		return NORMAL;
	if (strcmp(value, "heavy") == 0)
		return HEAVY;
	if (strcmp(value, "two") == 0)
		return TWO;
	die(EXIT_BAD, "--shape '%s': normal, heavy or two is expected", value);
}

static void
set_flag(struct world *w, struct options *o, int id)
{
	w->dead = w->dead || id == DEAD;
	w->nested = w->nested || id == NESTED;
	w->no_aa = w->no_aa || id == NO_AA;
	w->unequal = w->unequal || id == UNEQUAL;
	o->coverage = o->coverage || id == COVERAGE;
}

static void
set_number(struct world *w, struct options *o, int id, const char *value)
{
	switch (id) {
	case ALPHA:
		o->alpha = share("alpha", value, 1e-6);
		break;
	case AS_BUILT:
		w->as_built = share("as-built", value, -90);
		break;
	case BASELINE_LAYOUTS:
		w->baseline_layouts = count("baseline-layouts", value, 0, 10000);
		break;
	case BIMODAL:
		w->bimodal = share("bimodal", value, 0);
		break;
	case DRIFT:
		w->drift = share("drift", value, -90);
		break;
	case EPOCHS:
		w->epochs = count("epochs", value, 1, 10000);
		break;
	case LAYOUT_SPREAD:
		w->layout_spread = share("layout-spread", value, 0);
		break;
	case LAYOUTS:
		w->layouts = count("layouts", value, 0, 10000);
		break;
	case MARGIN:
		o->margin = share("margin", value, 0);
		break;
	case MISSING:
		w->missing = share("missing", value, 0);
		break;
	case NOISE:
		w->noise = share("noise", value, 0);
		break;
	case OUTLIERS:
		w->outliers = share("outliers", value, 0);
		break;
	case OWN_STEP:
		w->own_step = share("own-step", value, -90);
		break;
	case ROUNDS:
		w->rounds = count("rounds", value, 1, 10000000);
		break;
	case SEED:
		w->seed = opt_u64("seed", value, 0, UINT32_MAX);
		break;
	case START_SPREAD:
		w->start_spread = share("start-spread", value, 0);
		break;
	case STEP:
		w->step = share("step", value, -90);
		break;
	case TRIALS:
		o->trials = count("trials", value, 1, 1000000);
		break;
	case TRUTH:
		o->truth = share("truth", value, 0);
		if (o->truth != 0 && o->truth != 0.01 && o->truth != 0.03 && o->truth != 0.09)
			die(EXIT_BAD, "--truth '%s': 0, 1, 3 or 9 is expected", value);
		break;
	}
}

static void
set_option(struct world *w, struct options *o, int id, const char *value)
{
	switch (id) {
	case CC:
		w->n_ccs = split_list("cc", value, w->cc, 0);
		break;
	case DESIGN:
		o->design = value;
		break;
	case DPDK:
		w->n_dpdks = split_list("dpdk", value, w->dpdk, 0);
		break;
	case EFFECTS:
		set_effects(w, value);
		break;
	case HELP:
		fputs(help, stdout);
		exit(EXIT_DONE);
	case OUT:
		o->out = value;
		break;
	case SHAPE:
		w->shape = parse_shape(value);
		break;
	default:
		if (value == NULL)
			set_flag(w, o, id);
		else
			set_number(w, o, id, value);
	}
}

int
main(int argc, char **argv)
{
	struct world w = default_world();
	struct options o = {.trials = 400, .margin = 0.01, .alpha = DEFAULT_ALPHA, .truth = NAN};
	const char *value;
	int pos = 1, id;

	while ((id = opt_next(option_table, argc, argv, &pos, &value)) != OPT_END) {
		if (id == OPT_POSITIONAL)
			die(EXIT_BAD, "'%s' is no option; see --help", value);
		set_option(&w, &o, id, value);
	}
	if (w.baseline_layouts == UINT32_MAX)
		w.baseline_layouts = w.layouts;
	w.last_epoch = w.epochs;
	if (o.coverage)
		write_coverage(&o, w.seed);
	else
		write_slices(&w, o.out);
	while (n_kept > 0)
		free(kept[--n_kept]);
	return EXIT_DONE;
}
