/* SPDX-License-Identifier: BSD-3-Clause */
/* Kernel performance counters around the slices (slices_perf.c). */
#ifndef MPPSDIFF_SLICES_PERF_H
#define MPPSDIFF_SLICES_PERF_H

#include <sched.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "proc.h"
#include "slices.h"

/* Most events one run can ask for. */
#define PERF_EVENTS_MAX 16

/* The events without --perf-events: what explains a difference in cycles. */
#define PERF_EVENTS_DEFAULT                                                                        \
	"cycles,instructions,branch-misses,L1-icache-load-misses,iTLB-load-misses"

struct perf_kind;

/* One event asked for. */
struct perf_event {
	const struct perf_kind *kind;
	int err;	      /* why it cannot be counted; 0: it can */
	uint64_t slices;      /* that were counted */
	uint64_t multiplexed; /* that were not, because the PMU had no counter all the time */
};

struct perf_fd;

/* The counters of one process. */
struct perf_process {
	struct perf_fd *fd; /* thread by thread, each with all events */
	size_t n;
};

struct perf {
	struct perf_event event[PERF_EVENTS_MAX];
	size_t n_events;
	struct perf_process *process; /* as in the plan */
	size_t n_processes;
	uint64_t epoch;
	char *path; /* of the counts, NULL before perf_open() */
	FILE *file;
	char *events_path; /* of what became of the events */
};

/* Sets the events from a list like "cycles,page-faults", or none. Dies on what is not known. */
void perf_select(struct perf *perf, const char *list);

/*
 * Opens the counters of every process that is ready, and OUT.perf. Counts the
 * threads that may run on CPUs of `forwarding` only; where a process has none
 * such, or the set is empty, all its threads. Never dies for want of a counter:
 * the event's err says why.
 */
void perf_open(struct perf *perf, const char *out, uint64_t epoch, const struct fleet *fleet,
	const cpu_set_t *forwarding);

/* Around a slice of process index. Without counters they do nothing. */
void perf_begin(struct perf *perf, size_t index);
void perf_end(struct perf *perf, size_t index);

/*
 * Writes what was counted between them, for a valid slice that forwarded so many
 * packets, the untimed ones as well.
 */
void perf_write(struct perf *perf, size_t index, const struct row *row, uint64_t packets);

/* Closes everything and writes OUT.events. 0 or -errno. */
int perf_close(struct perf *perf);

#endif
