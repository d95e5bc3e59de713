/* SPDX-License-Identifier: BSD-3-Clause */
/* One epoch, step by step (slices_run.c), and its progress line (slices_progress.c). */
#ifndef MPPSDIFF_SLICES_RUN_H
#define MPPSDIFF_SLICES_RUN_H

#include <sched.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "proc.h"
#include "slices.h"
#include "slices_perf.h"

/* What the threads of a process have run and waited for a CPU (slices_wait.c). */
struct waits {
	struct thread_times *thread;
	size_t n;
};

/* The threads pid has now; close it when they have ended. 0 or -errno. */
int waits_open(struct waits *w, pid_t pid);
void waits_close(struct waits *w);

/* From now on. */
void waits_mark(struct waits *w);

/* Share of the time since the mark that a working thread waited for a CPU; the worst of them. */
double waits_share(const struct waits *w);

struct run {
	uint64_t epoch;
	uint64_t rounds;
	uint64_t seed;
	uint64_t iterations; /* a slice; 0: to be found out */
	uint64_t warmup;     /* untimed iterations before them */
	double slice_ns;     /* what a slice should take */
	int64_t timeout_ns;
	int64_t ready_timeout_ns;
	bool drops_ok;
	double max_wait; /* share of a slice that may be spent waiting for a CPU; below 0: any */
	struct waits *waits;  /* of each process; NULL: not looked at */
	cpu_set_t cpus;	      /* the forwarders' */
	cpu_set_t forwarding; /* those without the control CPU; none: not known */
	struct plan plan;
	struct fleet fleet; /* proc[i] runs plan.row[i] */
	size_t *order;	    /* of the current round */
	uint64_t round;	    /* 0 before the first */
	struct rows rows;
	struct perf perf;
};

/* Marks p as failed for good and ends it. */
void run_fail(struct run *run, struct proc *p, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

/* A start that failed: what happened, and what the forwarder's log says about it. */
void run_fail_start(struct run *run, struct proc *p, const char *what);

/*
 * Waits for p's next line or, if prompt is not NULL, for that text at the start of a line. 1 with
 * line filled, 2 for the prompt, 0 if there will be none in time, -EPROTO.
 */
int run_await(struct run *run, struct proc *p, char line[PROC_LINE_MAX], const char *prompt,
	int64_t deadline);

/* Marks p as failed because run_await() gave got: too much, nothing any more, or too late. */
void run_fail_silent(struct run *run, struct proc *p, int got);

/* Looks whether a starting testpmd has become ready or failed (slices_testpmd.c). */
void testpmd_check_start(struct run *run, struct proc *p);

/* Lets a testpmd forward for a slice. True with its answer, false if it has failed. */
bool testpmd_slice(struct run *run, struct proc *p, struct answer *a);

/* Starts all processes, a few at a time, and waits until each is ready or has failed. */
void run_start(struct run *run);

/* Sets iterations and warmup, the same for all processes. */
void run_calibrate(struct run *run);

/* If max_wait asks for it, opens what tells how long the processes wait; and closes it. */
void run_watch(struct run *run);
void run_unwatch(struct run *run);

/* Writes FILE.ready. Dies if it cannot. */
void run_write_ready(const struct run *run);

/* All rounds, one row a slice. Dies when a row cannot be written. */
void run_rounds(struct run *run);

/* Progress under this label from now on, if stderr is a terminal. */
void progress_init(const char *label);

/* Replaces the progress line, at most once a second. */
void progress_show(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/* Takes the progress line away before something else is written to the terminal. */
void progress_clear(void);

#endif
