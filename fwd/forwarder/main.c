/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The forwarder: forwards packets between DPDK ports like testpmd, linked once per variant against
 * that variant's DPDK. `forwarder --help` tells how to use it.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* on_exit */
#endif
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <rte_eal.h>
#include <rte_errno.h>
#include <rte_log.h>

#include "fwd.h"

void
fwd_error(const char *format, ...)
{
	va_list arguments;

	flockfile(stderr);
	fputs("mppsdiff: ", stderr);
	va_start(arguments, format);
	vfprintf(stderr, format, arguments);
	va_end(arguments);
	fputc('\n', stderr);
	funlockfile(stderr);
}

/* Whether an argument is NAME: --help and --version work without `--` in front as well. */
static bool
has_argument(int argc, char **argv, const char *name)
{
	for (int i = 1; i < argc; i++) {
		if (strcmp(argv[i], name) == 0)
			return true;
	}
	return false;
}

/* Where `--` is in the command line, or its end. */
static int
find_separator(int argc, char **argv)
{
	int i = 1;

	while (i < argc && strcmp(argv[i], "--") != 0)
		i++;
	return i;
}

/*
 * The protocol keeps standard output to itself: whatever else writes there, logs of old EALs or a
 * driver's printf, goes to standard error. Returns the stream to answer on, or NULL.
 */
static FILE *
take_stdout(void)
{
	const int fd = dup(STDOUT_FILENO);
	FILE *out;

	if (fd < 0)
		return NULL;
	out = fdopen(fd, "w");
	if (out == NULL) {
		close(fd);
		return NULL;
	}
	setvbuf(out, NULL, _IOLBF, BUFSIZ);
	if (dup2(STDERR_FILENO, STDOUT_FILENO) < 0) {
		fclose(out);
		return NULL;
	}
	return out;
}

/* An EAL since 25.11 ends the process itself when it dislikes its command line, with any status. */
static void
on_eal_exit(int status, void *starting)
{
	if (status == 0 || !*(const bool *)starting)
		return;
	fwd_error("the EAL does not start; see the lines above");
	_exit(FWD_FAILED);
}

static int
start_eal(int argc, char **argv)
{
	static bool starting = true;

	if (on_exit(on_eal_exit, &starting) != 0) {
		fwd_error("no memory for an exit function");
		return FWD_FAILED;
	}
	if (rte_eal_init(argc, argv) < 0) {
		starting = false;
		fwd_error(
			"the EAL does not start: %s; see the lines above", rte_strerror(rte_errno));
		return FWD_FAILED;
	}
	starting = false;
	return FWD_OK;
}

/* How many lcores can forward, and whether --nb-cores fits. */
static int
check_lcores(struct fwd_app *app)
{
	const struct fwd_options *opt = &app->opt;
	const unsigned int workers = rte_lcore_count() - 1;

	app->main_forwards = workers == 0;
	if (workers == 0 && opt->interactive && !opt->slices) {
		fwd_error("-i needs a second lcore, the first one is busy with the prompt; give "
			  "the EAL two lcores");
		return FWD_USAGE;
	}
	if (opt->nb_cores > RTE_MAX(workers, 1u)) {
		fwd_error("--nb-cores=%u, but %u lcores can forward; lower it or give the EAL "
			  "more lcores",
			opt->nb_cores, RTE_MAX(workers, 1u));
		return FWD_USAGE;
	}
	return FWD_OK;
}

static int
control(struct fwd_app *app, FILE *out)
{
	if (app->opt.slices) {
		fwd_streams_show(app, stderr);
		return fwd_protocol(app, out);
	}
	fwd_streams_show(app, stdout);
	return app->opt.interactive ? fwd_prompt(app) : fwd_batch_mode(app);
}

/* From an initialised EAL to the end of forwarding; the caller cleans up. */
static int
run(struct fwd_app *app, FILE *out)
{
	const bool on_rings = app->opt.ring_ports != 0;
	int ret;

	ret = check_lcores(app);
	if (ret == FWD_OK && on_rings)
		ret = fwd_rings_create(app);
	if (ret == FWD_OK)
		ret = fwd_ports_find(app);
	if (ret == FWD_OK)
		ret = fwd_ports_start(app);
	if (ret == FWD_OK && on_rings)
		ret = fwd_rings_fill(app);
	if (ret == FWD_OK)
		ret = fwd_streams_create(app);
	if (ret == FWD_OK)
		ret = control(app, out);
	if (ret == FWD_OK && on_rings && app->opt.verify)
		ret = fwd_rings_verify(app, out);
	return ret;
}

int
main(int argc, char **argv)
{
	const int separator = find_separator(argc, argv);
	static struct fwd_app app;
	FILE *out = stdout;
	int ret;

	/* `--` stands where the name of the program would: in front of the options. */
	ret = fwd_options_parse(&app.opt, RTE_MAX(argc - separator, 1), argv + separator);
	if (ret != FWD_OK)
		return ret;
	if (app.opt.help || has_argument(separator, argv, "--help")) {
		fwd_options_help(stdout);
		return FWD_OK;
	}
	if (app.opt.version || has_argument(separator, argv, "--version")) {
		printf("forwarder of mppsdiff, %s, compiler %s\n", rte_version(), __VERSION__);
		return FWD_OK;
	}
	if (app.opt.slices)
		out = take_stdout();
	if (out == NULL || rte_openlog_stream(stderr) != 0) {
		fwd_error("output cannot be set up: %s", strerror(errno));
		return FWD_FAILED;
	}
	ret = start_eal(separator, argv);
	if (ret != FWD_OK)
		return ret;
	ret = run(&app, out);
	fwd_streams_free(&app);
	fwd_ports_stop(&app);
	fwd_rings_free();
	if (rte_eal_cleanup() != 0) {
		fwd_error("the EAL does not clean up");
		ret = ret == FWD_OK ? FWD_FAILED : ret;
	}
	if (fclose(out) != 0 && ret == FWD_OK) {
		fwd_error("standard output: %s", strerror(errno));
		ret = FWD_FAILED;
	}
	return ret;
}
