/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the files of the slices tool share: the plan of one epoch
 * (slices_plan.c), the seeded order (slices_order.c), the answers and the
 * result files (slices_rows.c). Processes are in proc.h.
 */
#ifndef MPPSDIFF_SLICES_H
#define MPPSDIFF_SLICES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Most iterations one run command can ask for (forwarder protocol). */
#define ITERATIONS_MAX UINT32_MAX

/* One process start: a row of plan.tsv. */
struct plan_row {
	uint64_t process;
	uint64_t layout;
	uint64_t env_bytes;
	char *variant;
	char *cc;
	char *dpdk;
	char **argv;  /* ends with NULL; argv[0] is the forwarder's path */
	char **env;   /* NAME=VALUE, ends with NULL */
	bool testpmd; /* it speaks testpmd's prompt, not the protocol of the kit's forwarder */
};

/* The rows of one epoch. */
struct plan {
	struct plan_row *row;
	size_t n;
};

/* Reads and checks every row of path, keeps those of epoch. Dies with FILE:LINE. */
void plan_read(struct plan *plan, const char *path, uint64_t epoch);
void plan_free(struct plan *plan);

/*
 * Fills order[0..n-1] with a permutation of 0..n-1 that depends on seed,
 * epoch, round and n only, so that a plan gives the same order again whatever
 * happened to its processes. Round 0 is the order of the starts.
 */
void order_shuffle(size_t *order, size_t n, uint64_t seed, uint64_t epoch, uint64_t round);

/* A forwarder's answer to `run`: the timed part, summed over its lcores. */
struct answer {
	uint64_t packets;
	uint64_t cycles;
	uint64_t tsc_hz;
	uint64_t dropped;
};

/* Parses a whole answer line. 0, or -EINVAL if anything in it is not as the protocol says. */
int answer_parse(const char *line, struct answer *a);

/* What testpmd says between `stop` and its next prompt, line by line. */
struct testpmd_stats {
	bool accumulated; /* the totals of all ports have begun */
	bool have_tx, have_cycles, have_clock;
	uint64_t rx_packets;
	uint64_t tx_dropped;
	uint64_t cycles;
	uint64_t packets; /* those the cycles were spent on */
	uint64_t mhz;
};

/* Takes what a line says. 0, or -EINVAL if a line it knows is not as every release prints it. */
int testpmd_stats_line(struct testpmd_stats *s, const char *line);

/*
 * The answer that the lines amount to; tsc_hz is for releases that do not say it. NULL, or what
 * is wrong with them.
 */
const char *testpmd_answer(const struct testpmd_stats *s, uint64_t tsc_hz, struct answer *a);

/* 0 if line is a well-formed `ready key=value ...` with a tsc_hz above 0, else -EINVAL. */
int ready_parse(const char *line);

/* Copies src to dst[size], cut to it; tabs, control and non-ASCII bytes become spaces. */
void clean_text(char *dst, size_t size, const char *src);

/* One line of slices.tsv. */
struct row {
	uint64_t epoch;
	uint64_t round;
	size_t order; /* from 1 */
	const struct plan_row *plan;
	struct answer answer; /* zeros when there was none */
	const char *reason;   /* NULL: the slice is valid */
};

/* slices.tsv while it grows. */
struct rows {
	const char *path;
	int fd;
	int64_t size; /* bytes of whole lines written */
};

/*
 * Creates path with its header, or takes it over if it is empty, and locks it
 * against a second slices. Dies if it holds anything already.
 */
void rows_open(struct rows *rows, const char *path);

/*
 * Appends one line. 0 or -errno; after an error the file has been cut back to
 * whole lines.
 */
int rows_write(struct rows *rows, const struct row *row);

/* 0 or -errno: some file systems tell only now that the disk was full. */
int rows_close(struct rows *rows);

#endif
