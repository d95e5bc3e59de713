/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The slice protocol: one line in, one line out. `run N [W]` forwards W untimed and N timed
 * iterations, `quit` or the end of input ends, anything else is answered with an error line.
 */
#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include <rte_cycles.h>

#include "fwd.h"

#define LINE_MAX_BYTES 128 /* more than the longest sensible command */

/*
 * Reads a line without its end into LINE. Of an overlong one it keeps the beginning, which is no
 * command; neither is one with a NUL in it. Returns whether there was a line.
 */
static bool
read_line(char line[LINE_MAX_BYTES])
{
	size_t length = 0;
	int c;

	while ((c = getchar()) != EOF && c != '\n') {
		if (length < LINE_MAX_BYTES - 1)
			line[length++] = c != '\0' ? (char)c : '?';
	}
	line[length] = '\0';
	return c != EOF || length > 0;
}

/* Reads a blank and a number from MIN to 2^32-1 at *text and moves *text behind them. */
static bool
read_count(const char **text, uint64_t min, uint64_t *count)
{
	unsigned long long n;
	char *end;

	if ((*text)[0] != ' ' || !isdigit((unsigned char)(*text)[1]))
		return false;
	errno = 0;
	n = strtoull(*text + 1, &end, 10);
	if (errno != 0 || n < min || n > UINT32_MAX)
		return false;
	*count = n;
	*text = end;
	return true;
}

static bool
read_run(const char *line, uint64_t *iterations, uint64_t *warmup)
{
	*warmup = 0;
	if (strncmp(line, "run", 3) != 0)
		return false;
	line += 3;
	if (!read_count(&line, 1, iterations))
		return false;
	return *line == '\0' || (read_count(&line, 0, warmup) && *line == '\0');
}

static void
no_spaces(char *text)
{
	for (; *text != '\0'; text++) {
		if (isspace((unsigned char)*text))
			*text = '_';
	}
}

static void
say_ready(const struct fwd_app *app, FILE *out)
{
	char rx[FWD_MODE_NAME_MAX], tx[FWD_MODE_NAME_MAX];

	fwd_burst_modes(app->ports[0].id, rx, tx, sizeof(rx));
	no_spaces(rx);
	no_spaces(tx);
	fprintf(out,
		"ready ports=%u queues=%u lcores=%u rx_burst=%s tx_burst=%s fwd=%s "
		"tsc_hz=%" PRIu64 "\n",
		app->nb_ports, RTE_MIN(app->opt.rxq, app->opt.txq), app->nb_lcores, rx, tx,
		app->opt.engine->name, rte_get_tsc_hz());
}

static int
run(struct fwd_app *app, FILE *out, uint64_t iterations, uint64_t warmup)
{
	uint64_t packets = 0, cycles = 0, dropped = 0;
	int ret;

	ret = fwd_run_slice(app, iterations, warmup);
	if (ret != FWD_OK)
		return ret;
	for (unsigned int i = 0; i < app->nb_lcores; i++) {
		packets += app->lcores[i].packets;
		cycles += app->lcores[i].cycles;
		dropped += app->lcores[i].dropped;
	}
	fprintf(out,
		"packets=%" PRIu64 " cycles=%" PRIu64 " tsc_hz=%" PRIu64 " dropped=%" PRIu64 "\n",
		packets, cycles, rte_get_tsc_hz(), dropped);
	return FWD_OK;
}

/* Talks on standard input and OUT until `quit` or the end of input. */
int
fwd_protocol(struct fwd_app *app, FILE *out)
{
	char line[LINE_MAX_BYTES];
	uint64_t iterations, warmup;
	int ret = FWD_OK;

	say_ready(app, out);
	while (ret == FWD_OK && fflush(out) == 0 && read_line(line)) {
		if (strcmp(line, "quit") == 0)
			break;
		if (read_run(line, &iterations, &warmup))
			ret = run(app, out, iterations, warmup);
		else
			fprintf(out,
				"error: say `run N [WARMUP]`, N from 1 to %" PRIu32 ", or `quit`\n",
				UINT32_MAX);
	}
	if (fflush(out) != 0 || ferror(out)) {
		fwd_error("standard output: %s", strerror(errno));
		return FWD_FAILED;
	}
	return ret;
}
