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
	size_t speaks, env;
	bool has_speaks, has_env; /* plans of before testpmd lack them */
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
	c->has_speaks = tsv_find(t, "speaks", &c->speaks);
	c->has_env = tsv_find(t, "env", &c->env);
}

/*
 * The words of column col behind first, which may be NULL; "-" stands for none. Ends with NULL.
 */
static char **
read_words(const struct tsv *t, size_t col, const char *first)
{
	const char *left = strcmp(t->field[col], "-") == 0 ? NULL : t->field[col];
	char **word;
	size_t n = 0;

	word = xcalloc(ARGS_MAX + 2, sizeof(*word));
	if (first != NULL)
		word[n++] = xstrdup(first);
	while (left != NULL) {
		size_t len = strcspn(left, " ");

		if (len == 0)
			tsv_die(t, "%s: one space between two arguments, none before or after",
				t->names[col]);
		if (n > ARGS_MAX)
			tsv_die(t, "%s: more than %d arguments", t->names[col], ARGS_MAX);
		word[n++] = xasprintf("%.*s", (int)len, left);
		left = left[len] == ' ' ? left + len + 1 : NULL;
	}
	return xreallocarray(word, n + 1, sizeof(*word));
}

static void
words_free(char **words)
{
	for (char **word = words; *word != NULL; word++)
		free(*word);
	free(words);
}

static char **
read_env(const struct tsv *t, const struct columns *c)
{
	char **env = c->has_env ? read_words(t, c->env, NULL) : xcalloc(1, sizeof(*env));

	for (char **word = env; *word != NULL; word++) {
		if ((*word)[0] == '=' || strchr(*word, '=') == NULL)
			tsv_die(t, "env: '%s' is not NAME=VALUE", *word);
	}
	return env;
}

static bool
read_speaks(const struct tsv *t, const struct columns *c)
{
	const char *word = c->has_speaks ? tsv_word(t, c->speaks) : "forwarder";

	if (strcmp(word, "forwarder") != 0 && strcmp(word, "testpmd") != 0)
		tsv_die(t, "speaks: '%s' is neither forwarder nor testpmd", word);
	return strcmp(word, "testpmd") == 0;
}

static void
row_free(struct plan_row *row)
{
	words_free(row->argv);
	words_free(row->env);
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
	row->argv = read_words(t, c->args, t->field[c->binary]);
	row->env = read_env(t, c);
	row->testpmd = read_speaks(t, c);
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
