/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What every tool of the kit needs: one-line errors, strict numbers, strict
 * TSV files, options that look like testpmd's, and output files that become
 * visible only when they are complete.
 */
#ifndef MPPSDIFF_UTIL_H
#define MPPSDIFF_UTIL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* Exit status, the same for every executable of the kit. */
enum {
	EXIT_DONE = 0,
	EXIT_FAIL = 1, /* a gate failed, something could not be built or run */
	EXIT_BAD = 2,  /* wrong usage, bad data file, missing requirement */
};

/* One line "mppsdiff: ..." on stderr, then exit(status). No newline in fmt. */
_Noreturn void die(int status, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* One line "mppsdiff: FILE:LINE: ..." on stderr, then exit(EXIT_BAD). Lines count from 1. */
_Noreturn void die_at(const char *file, uint64_t line, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

/* One line "mppsdiff: warning: ..." on stderr. */
void warn(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/* Like malloc, calloc, realloc and strdup, but die instead of returning NULL. */
void *xmalloc(size_t size);
void *xcalloc(size_t n, size_t size);
void *xreallocarray(void *p, size_t n, size_t size);
char *xstrdup(const char *s);

/* printf into fresh memory; dies when memory ends. */
char *xasprintf(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/*
 * Strict numbers: the whole string must be the number, without sign for
 * unsigned ones, without spaces, hexadecimal, "inf" or "nan".
 * Return 0, -EINVAL (not a number) or -ERANGE (does not fit); *out is
 * written only on 0.
 */
int parse_u64(const char *s, uint64_t *out);
int parse_double(const char *s, double *out);

/* True if s is a word: not empty, printable ASCII, no space. */
bool is_word(const char *s);

/*
 * A TSV file with a header line. Strict: every row has as many fields as the
 * header, no empty line or field, no CRLF, no NUL byte, no cut-off last line,
 * no repeated column. Every breach ends the program with FILE:LINE.
 */
struct tsv {
	const char *path;
	FILE *file;
	char *header;	  /* owns what names[] points into */
	char **names;	  /* column names, n_cols of them */
	char *line;	  /* owns what field[] points into */
	size_t line_size; /* allocated bytes of line */
	char **field;	  /* fields of the current row, n_cols of them */
	size_t n_cols;
	uint64_t line_no; /* of the current row; the header is line 1 */
};

/* Opens path and reads the header. Dies if that fails or the file is empty. "-" is stdin. */
void tsv_open(struct tsv *t, const char *path);

/* Index of the column called name; dies, naming the column, if there is none. */
size_t tsv_col(const struct tsv *t, const char *name);

/* The same, but false if there is none: columns that came later. */
bool tsv_find(const struct tsv *t, const char *name, size_t *col);

/* Reads the next row into t->field. False at the end of the file. */
bool tsv_next(struct tsv *t);

/* Field of the current row as a number or a word; dies with FILE:LINE and the column's name. */
uint64_t tsv_u64(const struct tsv *t, size_t col, uint64_t min, uint64_t max);
const char *tsv_word(const struct tsv *t, size_t col);

/* Ends the program with "FILE:LINE: what" for the current row. */
_Noreturn void tsv_die(const struct tsv *t, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

void tsv_close(struct tsv *t);

/*
 * Options: --name VALUE and --name=VALUE. Tables end with a NULL name.
 * An unknown option dies and lists the accepted ones.
 */
struct opt {
	const char *name; /* without the dashes */
	bool has_value;
	int id; /* what opt_next() returns */
};

enum {
	OPT_END = -1,	     /* no more arguments */
	OPT_POSITIONAL = -2, /* *value is an argument that is no option */
};

/* Walks argv; *pos starts at 1. Returns the option's id, OPT_POSITIONAL or OPT_END. */
int opt_next(const struct opt *table, int argc, char **argv, int *pos, const char **value);

/* Value of option name as a number within [min, max]; dies naming option and range. */
uint64_t opt_u64(const char *name, const char *value, uint64_t min, uint64_t max);
double opt_double(const char *name, const char *value, double min, double max);

/*
 * An output file that appears under its name only when it is complete:
 * written beside it under a temporary name, then renamed. A file that was not
 * committed is removed at exit. path NULL or "-" is stdout.
 */
struct outfile {
	FILE *file;
	char *path; /* NULL: stdout */
	char *tmp;  /* owned by util.c, which removes it at exit unless committed */
};

void out_open(struct outfile *o, const char *path);

/* Flushes, syncs, closes and renames. Dies if any of it fails (disk full). */
void out_commit(struct outfile *o);

#endif
