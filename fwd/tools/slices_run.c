/* SPDX-License-Identifier: BSD-3-Clause */
/* One epoch: starts, calibration, rounds. */
#include "slices_run.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "util.h"

/* A process that closed its stdout without a word gets so long to end. */
#define EOF_GRACE_NS INT64_C(1000000000)
/* The first guess of the calibration, small enough for the slowest forwarder. */
#define FIRST_ITERATIONS 16
/* A guess grows at most so much at a time: the first, cold iterations say little. */
#define GROWTH_MAX 16
/* One untimed iteration for so many timed ones: caches and branch predictors refill. */
#define WARMUP_SHARE 20

void
run_fail(struct run *run, struct proc *p, const char *fmt, ...)
{
	char text[PROC_REASON_MAX];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	clean_text(p->reason, sizeof(p->reason), text);
	p->state = PROC_FAILED;
	p->listening = false;
	fleet_kill(&run->fleet, p);
}

void
run_fail_start(struct run *run, struct proc *p, const char *what)
{
	char last[PROC_REASON_MAX / 2];

	proc_last_log_line(p, last, sizeof(last));
	run_fail(run, p, "start failed: %s%s%s", what, last[0] != '\0' ? ": " : "", last);
}

/* How many forwarders may start at once: they are busy then. */
static size_t
start_jobs(void)
{
	long cpus = sysconf(_SC_NPROCESSORS_ONLN);

	return cpus < 1 ? 1 : cpus > 4 ? 4 : (size_t)cpus;
}

static void
start_one(struct run *run, size_t index)
{
	struct proc *p = &run->fleet.proc[index];
	const struct plan_row *row = &run->plan.row[index];
	const struct proc_start start = {
		.argv = row->argv,
		.env_bytes = row->env_bytes,
		.env = row->env,
		.terminal = row->testpmd,
		.cpus = &run->cpus,
	};
	int ret = proc_start(p, &start);

	if (ret != 0) {
		run_fail(run, p, "start failed: %s", strerror(-ret));
		return;
	}
	p->state = PROC_STARTING;
	p->listening = true;
	p->deadline_ns = now_ns() + run->ready_timeout_ns;
}

/* Looks whether a starting process has become ready or failed. */
static void
check_start(struct run *run, struct proc *p)
{
	char line[PROC_LINE_MAX], what[64];
	int got;

	/* some drivers of some releases print to stdout while they start: skip that */
	while ((got = proc_line(p, line)) == 1 && strncmp(line, "ready", 5) != 0)
		;
	if (got == 1 && ready_parse(line) == 0) {
		p->state = PROC_READY;
		p->listening = false;
		memcpy(p->ready, line, strlen(line) + 1);
	} else if (got != 0) {
		run_fail_start(run, p, got == 1 ? "bad ready line" : "bad output");
	} else if (p->pid == 0) {
		proc_ending(p, what, sizeof(what));
		run_fail_start(run, p, what);
	} else if (now_ns() >= p->deadline_ns) {
		run_fail_start(run, p, "timeout");
	}
}

void
run_start(struct run *run)
{
	size_t next = 0, starting, n = run->plan.n, jobs = start_jobs();

	/* in random order too: late starts get other physical pages than early ones */
	order_shuffle(run->order, n, run->seed, run->epoch, 0);
	do {
		int64_t deadline = INT64_MAX;

		starting = 0;
		for (size_t i = 0; i < n; i++) {
			struct proc *p = &run->fleet.proc[i];

			if (p->state == PROC_STARTING && run->plan.row[i].testpmd)
				testpmd_check_start(run, p);
			else if (p->state == PROC_STARTING)
				check_start(run, p);
			if (p->state != PROC_STARTING)
				continue;
			starting++;
			if (p->deadline_ns < deadline)
				deadline = p->deadline_ns;
		}
		progress_show("starting %zu/%zu", next - starting, n);
		if (next < n && starting < jobs) {
			start_one(run, run->order[next]);
			run->fleet.proc[run->order[next]].start_order = next + 1;
			next++;
			starting++;
		} else if (starting > 0) {
			fleet_wait(&run->fleet, deadline);
		}
	} while (starting > 0);
}

/* What buf begins with: see run_await(). */
static int
take(struct proc *p, char line[PROC_LINE_MAX], const char *prompt)
{
	if (prompt != NULL && proc_take(p, prompt))
		return 2;
	return proc_line(p, line);
}

int
run_await(struct run *run, struct proc *p, char line[PROC_LINE_MAX], const char *prompt,
	int64_t deadline)
{
	bool closed = false;
	int got;

	p->listening = true;
	while ((got = take(p, line, prompt)) == 0 && p->pid != 0 && now_ns() < deadline) {
		if (p->from < 0 && !closed) {
			closed = true;
			if (deadline > now_ns() + EOF_GRACE_NS)
				deadline = now_ns() + EOF_GRACE_NS;
		}
		fleet_wait(&run->fleet, deadline);
	}
	p->listening = false;
	return got;
}

void
run_fail_silent(struct run *run, struct proc *p, int got)
{
	char text[PROC_REASON_MAX / 2];

	if (got < 0) {
		run_fail(run, p, "bad answer: too long or binary");
	} else if (p->pid == 0) {
		proc_ending(p, text, sizeof(text));
		run_fail(run, p, "died: %s", text);
	} else {
		run_fail(run, p, p->from < 0 ? "closed its output" : "timeout");
	}
}

/*
 * Lets p run a slice. True with its answer and the wall-clock time it took,
 * false if p has failed.
 */
static bool
ask(struct run *run, struct proc *p, uint64_t iterations, uint64_t warmup, struct answer *a,
	int64_t *wall_ns)
{
	char line[PROC_LINE_MAX], text[PROC_REASON_MAX / 2];
	int64_t begin = now_ns();
	int got;

	snprintf(line, sizeof(line), "run %" PRIu64 " %" PRIu64 "\n", iterations, warmup);
	/* if this fails, p has ended or closed its stdin: run_await() tells which */
	proc_send(p, line);
	got = run_await(run, p, line, NULL, now_ns() + run->timeout_ns);
	*wall_ns = now_ns() - begin;
	if (got == 1 && answer_parse(line, a) == 0)
		return true;
	if (got == 1) {
		clean_text(text, sizeof(text), line);
		run_fail(run, p, "%s%s",
			strncmp(line, "error: ", 7) == 0 ? "" : "bad answer: ", text);
	} else {
		run_fail_silent(run, p, got);
	}
	return false;
}

/* Notices what happened to process index since its last slice. True if it can run one. */
static bool
still_ready(struct run *run, size_t index)
{
	struct proc *p = &run->fleet.proc[index];
	char text[64];

	if (p->state != PROC_READY)
		return false;
	proc_read(p);
	/* a testpmd reports links and other events when they happen */
	if (run->plan.row[index].testpmd)
		p->len = 0;
	if (p->len > 0) {
		run_fail(run, p, "spoke without being asked");
	} else if (p->pid == 0) {
		proc_ending(p, text, sizeof(text));
		run_fail(run, p, "died: %s", text);
	}
	return p->state == PROC_READY;
}

/*
 * Iterations that take p about slice_ns, found with growing runs that start
 * at *guess; leaves there where the next process may start. False if p failed.
 */
static bool
iterations_of(struct run *run, struct proc *p, double *guess, double *estimate)
{
	double n = *guess, wall, grow;
	struct answer a;
	int64_t ns;

	for (int tries = 1;; tries++) {
		if (!ask(run, p, (uint64_t)n, 0, &a, &ns))
			return false;
		wall = ns > 0 ? (double)ns : 1;
		grow = run->slice_ns / wall;
		/* the first run of a process is cold */
		if (tries > 1 && (grow < 2 || n >= ITERATIONS_MAX))
			break;
		*guess = n;
		n *= grow < GROWTH_MAX ? grow : GROWTH_MAX;
		if (n < 1)
			n = 1;
		if (n > ITERATIONS_MAX)
			n = ITERATIONS_MAX;
	}
	*guess = n;
	*estimate = n * grow;
	return true;
}

static int
compare_doubles(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

void
run_calibrate(struct run *run)
{
	double *estimate = xcalloc(run->plan.n, sizeof(*estimate));
	double guess = FIRST_ITERATIONS, median;
	struct answer cold;
	size_t n = 0;

	for (size_t i = 0; i < run->plan.n; i++) {
		struct proc *p = &run->fleet.proc[i];

		/* testpmd forwards for a time and not a number of iterations */
		if (run->iterations != 0 && !run->plan.row[i].testpmd)
			continue;
		progress_show("calibrating %zu/%zu", i, run->plan.n);
		fleet_wait(&run->fleet, 0);
		if (!still_ready(run, i))
			continue;
		if (run->plan.row[i].testpmd)
			testpmd_slice(run, p, &cold);
		else if (iterations_of(run, p, &guess, &estimate[n]))
			n++;
	}
	if (n > 0) {
		qsort(estimate, n, sizeof(*estimate), compare_doubles);
		median = (estimate[(n - 1) / 2] + estimate[n / 2]) / 2;
		if (median < 1)
			median = 1;
		if (median > ITERATIONS_MAX)
			median = ITERATIONS_MAX;
		run->iterations = (uint64_t)median;
	}
	free(estimate);
	run->warmup = (run->iterations + WARMUP_SHARE - 1) / WARMUP_SHARE;
}

void
run_watch(struct run *run)
{
	if (run->max_wait < 0)
		return;
	run->waits = xcalloc(run->plan.n, sizeof(*run->waits));
	for (size_t i = 0; i < run->plan.n; i++) {
		const struct proc *p = &run->fleet.proc[i];
		int ret = p->state == PROC_READY ? waits_open(&run->waits[i], p->pid) : 0;

		if (ret != 0)
			warn("cannot see how long process %" PRIu64 " waits for a CPU: %s",
				run->plan.row[i].process, strerror(-ret));
	}
}

void
run_unwatch(struct run *run)
{
	for (size_t i = 0; run->waits != NULL && i < run->plan.n; i++)
		waits_close(&run->waits[i]);
	free(run->waits);
	run->waits = NULL;
}

void
run_write_ready(const struct run *run)
{
	char *path = xasprintf("%s.ready", run->rows.path);
	FILE *file = fopen(path, "we");
	bool ok = file != NULL;

	ok = ok && fputs("process\tready\tstart_order\titerations\twarmup\n", file) >= 0;
	for (size_t i = 0; ok && i < run->plan.n; i++) {
		const struct proc *p = &run->fleet.proc[i];

		ok = fprintf(file, "%" PRIu64 "\t%s\t%zu\t%" PRIu64 "\t%" PRIu64 "\n",
			     run->plan.row[i].process, p->ready[0] != '\0' ? p->ready : "-",
			     p->start_order, run->iterations, run->warmup) > 0;
	}
	if (file != NULL && (fclose(file) != 0 || !ok))
		ok = false;
	if (!ok) {
		progress_clear();
		die(EXIT_BAD, "cannot write %s: %s", path, strerror(errno));
	}
	free(path);
}

/* Why a slice that was answered does not count; NULL if it does. */
static const char *
objection(const struct run *run, const struct answer *a, const struct waits *w)
{
	if (a->packets == 0)
		return "no packets";
	if (a->cycles == 0)
		return "no cycles";
	if (a->dropped > 0 && !run->drops_ok)
		return "dropped";
	if (w != NULL && waits_share(w) > run->max_wait)
		return "waited for a CPU";
	return NULL;
}

/* Lets process index run a slice with its counters on. True with its answer, false if it failed. */
static bool
ask_counted(struct run *run, size_t index, struct answer *a)
{
	struct proc *p = &run->fleet.proc[index];
	int64_t wall_ns;
	bool answered;

	perf_begin(&run->perf, index);
	if (run->plan.row[index].testpmd)
		answered = testpmd_slice(run, p, a);
	else
		answered = ask(run, p, run->iterations, run->warmup, a, &wall_ns);
	perf_end(&run->perf, index);
	return answered;
}

/* Packets while the counters were on: the untimed iterations forward as many each. */
static uint64_t
packets_counted(const struct run *run, const struct row *row)
{
	const struct answer *a = &row->answer;
	double share = (double)run->warmup / (double)run->iterations;

	/* a testpmd has none of them */
	if (row->plan->testpmd)
		return a->packets;
	return a->packets + (uint64_t)((double)a->packets * share + 0.5);
}

/* One slice of process index, and its row. */
static void
slice(struct run *run, size_t index, size_t place)
{
	struct proc *p = &run->fleet.proc[index];
	struct waits *w = run->waits != NULL ? &run->waits[index] : NULL;
	struct row row = {
		.epoch = run->epoch,
		.round = run->round,
		.order = place,
		.plan = &run->plan.row[index],
	};
	int ret;

	fleet_wait(&run->fleet, 0);
	if (w != NULL)
		waits_mark(w);
	if (still_ready(run, index) && ask_counted(run, index, &row.answer)) {
		row.reason = objection(run, &row.answer, w);
	} else {
		row.answer = (struct answer){0};
		row.reason = p->reason;
	}
	if (row.reason == NULL)
		perf_write(&run->perf, index, &row, packets_counted(run, &row));
	ret = rows_write(&run->rows, &row);
	if (ret != 0) {
		progress_clear();
		die(EXIT_BAD, "cannot write %s: %s; free space and run it again", run->rows.path,
			strerror(-ret));
	}
}

void
run_rounds(struct run *run)
{
	int64_t begin = now_ns();

	for (run->round = 1; run->round <= run->rounds; run->round++) {
		double left = (double)(now_ns() - begin) / 1e9;

		if (run->round > 1) {
			left *= (double)(run->rounds - run->round + 1) / (double)(run->round - 1);
			progress_show("round %" PRIu64 "/%" PRIu64 ", %.0f s left", run->round,
				run->rounds, left);
		}
		order_shuffle(run->order, run->plan.n, run->seed, run->epoch, run->round);
		for (size_t i = 0; i < run->plan.n; i++)
			slice(run, run->order[i], i + 1);
	}
}
