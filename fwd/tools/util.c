/* SPDX-License-Identifier: BSD-3-Clause */
/* Errors, numbers, TSV, options and output files: see util.h. */
#include "util.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct pending {
	struct pending *next;
	char *tmp;
};

/* Temporary names of the files not yet committed, removed at exit. */
static struct pending *pending;

static void vmessage(const char *prefix, const char *fmt, va_list ap)
	__attribute__((format(printf, 2, 0)));

static void
vmessage(const char *prefix, const char *fmt, va_list ap)
{
	fflush(stdout);
	fprintf(stderr, "mppsdiff: %s", prefix);
	vfprintf(stderr, fmt, ap);
	fputc('\n', stderr);
}

void
die(int status, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vmessage("", fmt, ap);
	va_end(ap);
	exit(status);
}

static _Noreturn void vdie_at(const char *file, uint64_t line, const char *fmt, va_list ap)
	__attribute__((format(printf, 3, 0)));

static void
vdie_at(const char *file, uint64_t line, const char *fmt, va_list ap)
{
	fflush(stdout);
	fprintf(stderr, "mppsdiff: %s:%llu: ", file, (unsigned long long)line);
	vfprintf(stderr, fmt, ap);
	fputc('\n', stderr);
	exit(EXIT_BAD);
}

void
die_at(const char *file, uint64_t line, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vdie_at(file, line, fmt, ap);
}

void
warn(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vmessage("warning: ", fmt, ap);
	va_end(ap);
}

void *
xmalloc(size_t size)
{
	void *p = malloc(size ? size : 1);

	if (p == NULL)
		die(EXIT_FAIL, "out of memory: %zu bytes", size);
	return p;
}

void *
xcalloc(size_t n, size_t size)
{
	void *p = calloc(n ? n : 1, size ? size : 1);

	if (p == NULL)
		die(EXIT_FAIL, "out of memory: %zu x %zu bytes", n, size);
	return p;
}

void *
xreallocarray(void *p, size_t n, size_t size)
{
	p = reallocarray(p, n ? n : 1, size ? size : 1);
	if (p == NULL)
		die(EXIT_FAIL, "out of memory: %zu x %zu bytes", n, size);
	return p;
}

char *
xstrdup(const char *s)
{
	char *p = strdup(s);

	if (p == NULL)
		die(EXIT_FAIL, "out of memory");
	return p;
}

char *
xasprintf(const char *fmt, ...)
{
	va_list ap;
	char *s;
	int n;

	va_start(ap, fmt);
	n = vasprintf(&s, fmt, ap);
	va_end(ap);
	if (n < 0)
		die(EXIT_FAIL, "out of memory");
	return s;
}

int
parse_u64(const char *s, uint64_t *out)
{
	uint64_t value = 0;

	if (*s == '\0')
		return -EINVAL;
	for (; *s != '\0'; s++) {
		if (*s < '0' || *s > '9')
			return -EINVAL;
		if (__builtin_mul_overflow(value, (uint64_t)10, &value) ||
			__builtin_add_overflow(value, (uint64_t)(*s - '0'), &value)) {
			/* still -EINVAL if what follows is no digit */
			if (s[1 + strspn(s + 1, "0123456789")] != '\0')
				return -EINVAL;
			return -ERANGE;
		}
	}
	*out = value;
	return 0;
}

int
parse_double(const char *s, double *out)
{
	char *end;
	double value;

	/* strtod() alone would take spaces, hexadecimal, "inf" and "nan" */
	if (*s == '\0' || strspn(s, "0123456789.eE+-") != strlen(s))
		return -EINVAL;
	errno = 0;
	value = strtod(s, &end);
	if (end == s || *end != '\0')
		return -EINVAL;
	if (!isfinite(value) || (errno == ERANGE && value != 0.0))
		return -ERANGE;
	*out = value;
	return 0;
}

bool
is_word(const char *s)
{
	if (*s == '\0')
		return false;
	for (; *s != '\0'; s++) {
		if (*s <= ' ' || *s > '~')
			return false;
	}
	return true;
}

/* --- TSV ------------------------------------------------------------------ */

void
tsv_die(const struct tsv *t, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vdie_at(t->path, t->line_no, fmt, ap);
}

/* Reads one line without its newline into t->line. False at the end of the file. */
static bool
read_line(struct tsv *t)
{
	ssize_t n;

	errno = 0;
	n = getline(&t->line, &t->line_size, t->file);
	if (n < 0) {
		if (ferror(t->file))
			die(EXIT_BAD, "cannot read %s: %s", t->path, strerror(errno));
		return false;
	}
	t->line_no++;
	if (strlen(t->line) != (size_t)n)
		tsv_die(t, "holds a NUL byte; it is no text file");
	if (t->line[n - 1] != '\n')
		tsv_die(t, "the line is cut off (no newline at its end); remove it");
	t->line[--n] = '\0';
	if (n > 0 && t->line[n - 1] == '\r')
		tsv_die(t, "the line ends in CR LF; convert the file to LF");
	if (n == 0)
		tsv_die(t, "empty line");
	return true;
}

/* Cuts line at its tabs into at most max fields. Returns how many there are, even beyond max. */
static size_t
split(char *line, char **field, size_t max)
{
	size_t n = 0;

	for (;;) {
		char *tab = strchr(line, '\t');

		if (n < max)
			field[n] = line;
		n++;
		if (tab == NULL)
			return n;
		*tab = '\0';
		line = tab + 1;
	}
}

static void
read_header(struct tsv *t)
{
	size_t i, j;

	if (!read_line(t))
		die(EXIT_BAD, "%s:1: the file is empty; a header line is expected", t->path);
	t->header = xstrdup(t->line);
	t->n_cols = 1;
	for (const char *c = t->header; *c != '\0'; c++)
		t->n_cols += *c == '\t';
	t->names = xcalloc(t->n_cols, sizeof(*t->names));
	t->field = xcalloc(t->n_cols, sizeof(*t->field));
	split(t->header, t->names, t->n_cols);
	for (i = 0; i < t->n_cols; i++) {
		if (!is_word(t->names[i]))
			tsv_die(t, "column %zu of the header has no name", i + 1);
		for (j = 0; j < i; j++) {
			if (strcmp(t->names[i], t->names[j]) == 0)
				tsv_die(t, "column '%s' appears twice", t->names[i]);
		}
	}
}

void
tsv_open(struct tsv *t, const char *path)
{
	struct stat st;

	*t = (struct tsv){.path = path};
	if (strcmp(path, "-") == 0) {
		t->path = "stdin";
		t->file = stdin;
	} else {
		t->file = fopen(path, "re");
		if (t->file == NULL)
			die(EXIT_BAD, "cannot open %s: %s", path, strerror(errno));
		if (fstat(fileno(t->file), &st) == 0 && S_ISDIR(st.st_mode))
			die(EXIT_BAD, "%s is a directory; a TSV file is expected", path);
	}
	read_header(t);
}

bool
tsv_find(const struct tsv *t, const char *name, size_t *col)
{
	for (*col = 0; *col < t->n_cols; ++*col) {
		if (strcmp(t->names[*col], name) == 0)
			return true;
	}
	return false;
}

size_t
tsv_col(const struct tsv *t, const char *name)
{
	size_t col;

	if (tsv_find(t, name, &col))
		return col;
	die(EXIT_BAD, "%s:1: column '%s' is missing", t->path, name);
}

bool
tsv_next(struct tsv *t)
{
	size_t n;

	if (!read_line(t))
		return false;
	n = split(t->line, t->field, t->n_cols);
	if (n != t->n_cols)
		tsv_die(t, "%zu fields; the header has %zu", n, t->n_cols);
	for (size_t i = 0; i < n; i++) {
		if (t->field[i][0] == '\0')
			tsv_die(t, "column '%s' is empty; write - for a missing value",
				t->names[i]);
	}
	return true;
}

uint64_t
tsv_u64(const struct tsv *t, size_t col, uint64_t min, uint64_t max)
{
	uint64_t value;
	int ret = parse_u64(t->field[col], &value);

	if (ret == -EINVAL)
		tsv_die(t, "%s '%s' is not an unsigned number", t->names[col], t->field[col]);
	if (ret != 0 || value < min || value > max)
		tsv_die(t, "%s %s is out of range (%llu to %llu)", t->names[col], t->field[col],
			(unsigned long long)min, (unsigned long long)max);
	return value;
}

const char *
tsv_word(const struct tsv *t, size_t col)
{
	if (!is_word(t->field[col]))
		tsv_die(t, "%s '%s' is not a word", t->names[col], t->field[col]);
	return t->field[col];
}

void
tsv_close(struct tsv *t)
{
	if (t->file != NULL && t->file != stdin)
		fclose(t->file);
	free(t->header);
	free(t->names);
	free(t->line);
	free(t->field);
	*t = (struct tsv){0};
}

/* --- options -------------------------------------------------------------- */

static _Noreturn void
die_unknown_option(const struct opt *table, const char *arg)
{
	char *list = xstrdup("");

	for (; table->name != NULL; table++) {
		char *longer = xasprintf("%s --%s", list, table->name);

		free(list);
		list = longer;
	}
	die(EXIT_BAD, "unknown option '%s'; accepted:%s", arg, list);
}

int
opt_next(const struct opt *table, int argc, char **argv, int *pos, const char **value)
{
	const struct opt *o;
	const char *arg, *name, *equals;
	size_t len;

	*value = NULL;
	if (*pos >= argc)
		return OPT_END;
	arg = argv[(*pos)++];
	if (arg[0] != '-' || arg[1] == '\0') {
		*value = arg;
		return OPT_POSITIONAL;
	}
	if (strcmp(arg, "-h") == 0)
		arg = "--help";
	if (arg[1] != '-' || arg[2] == '\0')
		die_unknown_option(table, arg);
	name = arg + 2;
	equals = strchr(name, '=');
	len = equals != NULL ? (size_t)(equals - name) : strlen(name);
	for (o = table; o->name != NULL; o++) {
		if (strlen(o->name) == len && strncmp(o->name, name, len) == 0)
			break;
	}
	if (o->name == NULL)
		die_unknown_option(table, arg);
	if (!o->has_value && equals != NULL)
		die(EXIT_BAD, "option --%s takes no value", o->name);
	if (!o->has_value)
		return o->id;
	if (equals != NULL)
		*value = equals + 1;
	else if (*pos < argc)
		*value = argv[(*pos)++];
	if (*value == NULL || **value == '\0')
		die(EXIT_BAD, "option --%s needs a value", o->name);
	return o->id;
}

uint64_t
opt_u64(const char *name, const char *value, uint64_t min, uint64_t max)
{
	uint64_t v;

	if (parse_u64(value, &v) != 0 || v < min || v > max)
		die(EXIT_BAD, "--%s '%s': a whole number from %llu to %llu is expected", name,
			value, (unsigned long long)min, (unsigned long long)max);
	return v;
}

double
opt_double(const char *name, const char *value, double min, double max)
{
	double v;

	if (parse_double(value, &v) != 0 || v < min || v > max)
		die(EXIT_BAD, "--%s '%s': a number from %g to %g is expected", name, value, min,
			max);
	return v;
}

/* --- output files --------------------------------------------------------- */

static void
remove_uncommitted(void)
{
	for (struct pending *p = pending; p != NULL; p = p->next)
		unlink(p->tmp);
}

void
out_open(struct outfile *o, const char *path)
{
	static bool registered;
	struct pending *p;
	struct stat st;
	mode_t mask;
	int fd;

	*o = (struct outfile){0};
	if (path == NULL || strcmp(path, "-") == 0) {
		o->file = stdout;
		return;
	}
	o->path = xstrdup(path);
	if (stat(path, &st) == 0 && !S_ISREG(st.st_mode)) {
		/* a device or a pipe is written in place: a rename would replace it */
		o->file = fopen(path, "we");
		if (o->file == NULL)
			die(EXIT_BAD, "cannot write %s: %s", path, strerror(errno));
		return;
	}
	if (!registered && atexit(remove_uncommitted) != 0)
		die(EXIT_FAIL, "atexit failed");
	registered = true;
	o->tmp = xasprintf("%s.XXXXXX", path);
	fd = mkostemp(o->tmp, O_CLOEXEC);
	if (fd < 0)
		die(EXIT_BAD, "cannot write %s: %s", path, strerror(errno));
	p = xmalloc(sizeof(*p));
	*p = (struct pending){.next = pending, .tmp = o->tmp};
	pending = p;
	/* mkostemp() makes 0600; give what open(2) would have given */
	mask = umask(0);
	umask(mask);
	o->file = fdopen(fd, "w");
	if (o->file == NULL || fchmod(fd, 0666 & ~mask) != 0)
		die(EXIT_FAIL, "cannot write %s: %s", path, strerror(errno));
}

void
out_commit(struct outfile *o)
{
	struct pending **p, *done;

	if (o->path == NULL) {
		if (fflush(stdout) != 0 || ferror(stdout))
			die(EXIT_FAIL, "cannot write to stdout: %s", strerror(errno));
		return;
	}
	if (fflush(o->file) != 0 || ferror(o->file) ||
		(o->tmp != NULL && fsync(fileno(o->file)) != 0) || fclose(o->file) != 0 ||
		(o->tmp != NULL && rename(o->tmp, o->path) != 0))
		die(EXIT_FAIL, "cannot write %s: %s", o->path, strerror(errno));
	free(o->path);
	if (o->tmp == NULL)
		return;
	for (p = &pending; (*p)->tmp != o->tmp; p = &(*p)->next)
		;
	done = *p;
	*p = done->next;
	free(done);
	free(o->tmp);
	*o = (struct outfile){0};
}
