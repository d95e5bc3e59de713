/* SPDX-License-Identifier: BSD-3-Clause */
/* Reads plan.tsv: which forwarders an epoch starts. */
#include "slices.h"

#include <stdlib.h>
#include <string.h>

#include "util.h"

/* The kernel takes no environment string above 128 KB; half of that is stack enough to move. */
#define ENV_BYTES_MAX 65536
#define ARGS_MAX      4096

struct columns {
	size_t epoch, process, variant, cc, dpdk, layout, binary, env_bytes, args;
};

static void
find_columns(struct columns *c, const struct tsv *t)
{
	c->epoch = tsv_col(t, "epoch");
	c->process = tsv_col(t, "process");
	c->variant = tsv_col(t, "variant");
	c->cc = tsv_col(t, "cc");
	c->dpdk = tsv_col(t, "dpdk");
	c->layout = tsv_col(t, "layout");
	c->binary = tsv_col(t, "binary");
	c->env_bytes = tsv_col(t, "env_bytes");
	c->args = tsv_col(t, "args");
}

/* Argument vector from the columns binary and args; "-" stands for no arguments. */
static char **
read_argv(const struct tsv *t, const struct columns *c)
{
	const char *args = strcmp(t->field[c->args], "-") == 0 ? NULL : t->field[c->args];
	char **argv;
	size_t n = 0;

	argv = xcalloc(ARGS_MAX + 2, sizeof(*argv));
	argv[n++] = xstrdup(t->field[c->binary]);
	while (args != NULL) {
		size_t len = strcspn(args, " ");

		if (len == 0)
			tsv_die(t, "args: one space between two arguments, none before or after");
		if (n > ARGS_MAX)
			tsv_die(t, "args: more than %d arguments", ARGS_MAX);
		argv[n++] = xasprintf("%.*s", (int)len, args);
		args = args[len] == ' ' ? args + len + 1 : NULL;
	}
	return xreallocarray(argv, n + 1, sizeof(*argv));
}

static void
row_free(struct plan_row *row)
{
	for (char **arg = row->argv; *arg != NULL; arg++)
		free(*arg);
	free(row->argv);
	free(row->variant);
	free(row->cc);
	free(row->dpdk);
}

static void
row_read(struct plan_row *row, const struct tsv *t, const struct columns *c)
{
	row->process = tsv_u64(t, c->process, 1, UINT32_MAX);
	row->layout = tsv_u64(t, c->layout, 0, UINT32_MAX);
	row->env_bytes = tsv_u64(t, c->env_bytes, 0, ENV_BYTES_MAX);
	row->variant = xstrdup(tsv_word(t, c->variant));
	row->cc = xstrdup(tsv_word(t, c->cc));
	row->dpdk = xstrdup(tsv_word(t, c->dpdk));
	row->argv = read_argv(t, c);
}

void
plan_read(struct plan *plan, const char *path, uint64_t epoch)
{
	struct columns c;
	struct tsv t;

	*plan = (struct plan){0};
	tsv_open(&t, path);
	find_columns(&c, &t);
	while (tsv_next(&t)) {
		struct plan_row row;

		row_read(&row, &t, &c);
		if (tsv_u64(&t, c.epoch, 1, UINT32_MAX) != epoch) {
			row_free(&row);
			continue;
		}
		for (size_t i = 0; i < plan->n; i++) {
			if (plan->row[i].process == row.process)
				tsv_die(&t, "process %s appears twice in epoch %s",
					t.field[c.process], t.field[c.epoch]);
		}
		plan->row = xreallocarray(plan->row, plan->n + 1, sizeof(row));
		plan->row[plan->n++] = row;
	}
	tsv_close(&t);
	if (plan->n == 0)
		die(EXIT_BAD, "%s: no process for epoch %llu; give an epoch the plan has", path,
			(unsigned long long)epoch);
}

void
plan_free(struct plan *plan)
{
	for (size_t i = 0; i < plan->n; i++)
		row_free(&plan->row[i]);
	free(plan->row);
}
