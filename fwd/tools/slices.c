/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Runs one epoch of a plan: starts its forwarders, then lets them forward one
 * short slice at a time in seeded random order, and writes down what each
 * slice says. It never judges speed.
 */
#include "slices.h"

#include <errno.h>
#include <inttypes.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "proc.h"
#include "slices_run.h"
#include "util.h"

static const char USAGE[] =
	"usage: slices --plan FILE --epoch E --rounds R --seed S --out FILE [options]\n"
	"\n"
	"Run one epoch of a plan: rounds of short forwarding slices of all its processes, in seeded\n"
	"random order.\n"
	"\n"
	"  --control-cpu=N         CPU of slices and of the forwarders' main lcores (default: any)\n"
	"  --cpu=LIST              CPUs the forwarders may use beside it, like 2,4-5 (default: any)\n"
	"  --drops-ok              slices with dropped packets are valid\n"
	"  --epoch=E               the epoch of the plan to run\n"
	"  --help                  this text\n"
	"  --iterations=N          loop iterations a slice (default: found out, see --slice-ms)\n"
	"  --max-wait=PERCENT      a slice is invalid if a thread that worked in it waited for a CPU\n"
	"                          for more of its time (default: not looked at)\n"
	"  --out=FILE              where the slices go; a new file, or an empty one\n"
	"  --perf-events=LIST      what the kernel counts in the forwarding threads, or none (default\n"
	"                          " PERF_EVENTS_DEFAULT ");\n"
	"                          also branches, cache-misses, L1-dcache-load-misses,\n"
	"                          dTLB-load-misses, page-faults, context-switches, task-clock (ns)\n"
	"  --plan=FILE             plan.tsv\n"
	"  --progress=LABEL        show progress under this name if stderr is a terminal\n"
	"  --ready-timeout=SECONDS how long a forwarder may take to start (default 60)\n"
	"  --rounds=R              rounds; in each, every process runs one slice\n"
	"  --seed=S                seed of the orders\n"
	"  --slice-ms=MS           wall-clock time of a slice of the median process (default 10)\n"
	"  --timeout=SECONDS       how long a slice may take (default 10)\n"
	"\n"
	"Where the plan has a column speaks with the word testpmd (else forwarder), the process is the\n"
	"release's own testpmd: a slice is start, --slice-ms, stop, with the cycles and packets of the\n"
	"statistics (--record-core-cycles); it is stopped (SIGSTOP) in between, and --iterations is not\n"
	"for it. A column env has more of the environment: NAME=VALUE, separated by one space, or -.\n"
	"\n"
	"Files: FILE gets one line a slice. FILE.ready gets one line a process: what it said when it\n"
	"was ready, its place in the order of starts, iterations and warm-up iterations of a slice.\n"
	"FILE.perf gets one line a valid slice: packets, untimed ones too, and a column an event, -\n"
	"when it was not counted all the time. FILE.events says of each event whether it was counted,\n"
	"absent (no PMU), refused, multiplexed or failed, and why. Counted is user mode (except\n"
	"context-switches), from before a slice is asked for until it is answered, in the threads that\n"
	"run on CPUs of --cpu alone, without --control-cpu; in all threads where there are none such.\n"
	"Each forwarder's stderr goes to log/epoch-E-process-P.log beside FILE. A process that dies,\n"
	"hangs or answers nonsense is killed; its slices from there on are invalid, with the reason.\n"
	"\n"
	"Exit status: 0 at least one process lived to the end, 1 none did, 2 wrong usage, bad plan or\n"
	"FILE not writable (full disk), 130, 143 or 129 ended by SIGINT, SIGTERM or SIGHUP. No\n"
	"forwarder outlives slices.\n"
	"\n"
	"Example: slices --plan plan.tsv --epoch 1 --rounds 40 --seed 1 --out slices.tsv.part \\\n"
	"         --control-cpu 0 --cpu 1\n";

enum {
	OPT_CONTROL_CPU = 1,
	OPT_CPU,
	OPT_DROPS_OK,
	OPT_EPOCH,
	OPT_HELP,
	OPT_ITERATIONS,
	OPT_MAX_WAIT,
	OPT_OUT,
	OPT_PERF_EVENTS,
	OPT_PLAN,
	OPT_PROGRESS,
	OPT_READY_TIMEOUT,
	OPT_ROUNDS,
	OPT_SEED,
	OPT_SLICE_MS,
	OPT_TIMEOUT,
};

static const struct opt OPTIONS[] = {
	{"control-cpu", true, OPT_CONTROL_CPU},
	{"cpu", true, OPT_CPU},
	{"drops-ok", false, OPT_DROPS_OK},
	{"epoch", true, OPT_EPOCH},
	{"help", false, OPT_HELP},
	{"iterations", true, OPT_ITERATIONS},
	{"max-wait", true, OPT_MAX_WAIT},
	{"out", true, OPT_OUT},
	{"perf-events", true, OPT_PERF_EVENTS},
	{"plan", true, OPT_PLAN},
	{"progress", true, OPT_PROGRESS},
	{"ready-timeout", true, OPT_READY_TIMEOUT},
	{"rounds", true, OPT_ROUNDS},
	{"seed", true, OPT_SEED},
	{"slice-ms", true, OPT_SLICE_MS},
	{"timeout", true, OPT_TIMEOUT},
	{NULL, false, 0},
};

struct settings {
	const char *plan;
	const char *out;
	const char *cpu;
	const char *control_cpu;
	bool have_seed;
};

/* Adds the CPUs of a list like 0,2-4 to set. */
static void
cpus_parse(cpu_set_t *set, const char *option, const char *list)
{
	const char *s = list;

	for (;;) {
		char *end;
		unsigned long first, last;

		if (*s < '0' || *s > '9')
			break;
		first = last = strtoul(s, &end, 10);
		if (*end == '-') {
			s = end + 1;
			if (*s < '0' || *s > '9')
				break;
			last = strtoul(s, &end, 10);
		}
		if (last < first || last >= CPU_SETSIZE)
			break;
		for (; first <= last; first++)
			CPU_SET(first, set);
		if (*end == '\0')
			return;
		if (*end != ',')
			break;
		s = end + 1;
	}
	die(EXIT_BAD, "--%s '%s': CPU numbers below %d like 0 or 2,4-5 are expected", option, list,
		CPU_SETSIZE);
}

/* Tries set on this process: the kernel would quietly drop CPUs it does not have. */
static void
cpus_check(const cpu_set_t *set)
{
	cpu_set_t got;

	if (sched_setaffinity(0, sizeof(*set), set) == 0 &&
		sched_getaffinity(0, sizeof(got), &got) == 0 && CPU_EQUAL(set, &got))
		return;
	die(EXIT_BAD, "a CPU of --cpu or --control-cpu is not there or not allowed; "
		      "'taskset -pc $$' lists those that are");
}

/* Pins this process to the control CPU and fills run->cpus for the children. */
static void
pin(struct run *run, const struct settings *set)
{
	cpu_set_t own, before;

	CPU_ZERO(&own);
	CPU_ZERO(&run->cpus);
	CPU_ZERO(&run->forwarding);
	if (sched_getaffinity(0, sizeof(before), &before) != 0)
		die(EXIT_FAIL, "cannot read the CPU affinity: %s", strerror(errno));
	if (set->control_cpu != NULL) {
		uint64_t cpu = opt_u64("control-cpu", set->control_cpu, 0, CPU_SETSIZE - 1);

		CPU_SET(cpu, &own);
	}
	if (set->cpu != NULL) {
		cpu_set_t control;

		cpus_parse(&run->cpus, "cpu", set->cpu);
		/* what is in the list and not the control CPU */
		CPU_AND(&control, &run->cpus, &own);
		CPU_XOR(&run->forwarding, &run->cpus, &control);
		CPU_OR(&run->cpus, &run->cpus, &own);
		cpus_check(&run->cpus);
	} else {
		run->cpus = before;
	}
	if (set->control_cpu != NULL)
		cpus_check(&own);
	else if (sched_setaffinity(0, sizeof(before), &before) != 0)
		die(EXIT_FAIL, "cannot restore the CPU affinity: %s", strerror(errno));
}

static int64_t
seconds(const char *name, const char *value)
{
	return (int64_t)(opt_double(name, value, 0.001, 86400) * 1e9);
}

static void
set_option(struct run *run, struct settings *set, int id, const char *value)
{
	switch (id) {
	case OPT_CONTROL_CPU:
		set->control_cpu = value;
		break;
	case OPT_CPU:
		set->cpu = value;
		break;
	case OPT_DROPS_OK:
		run->drops_ok = true;
		break;
	case OPT_EPOCH:
		run->epoch = opt_u64("epoch", value, 1, UINT32_MAX);
		break;
	case OPT_ITERATIONS:
		run->iterations = opt_u64("iterations", value, 1, ITERATIONS_MAX);
		break;
	case OPT_MAX_WAIT:
		run->max_wait = opt_double("max-wait", value, 0, 100) / 100;
		break;
	case OPT_OUT:
		set->out = value;
		break;
	case OPT_PERF_EVENTS:
		perf_select(&run->perf, value);
		break;
	case OPT_PLAN:
		set->plan = value;
		break;
	case OPT_PROGRESS:
		progress_init(value);
		break;
	case OPT_READY_TIMEOUT:
		run->ready_timeout_ns = seconds("ready-timeout", value);
		break;
	case OPT_ROUNDS:
		run->rounds = opt_u64("rounds", value, 1, 1000000);
		break;
	case OPT_SEED:
		run->seed = opt_u64("seed", value, 0, UINT64_MAX);
		set->have_seed = true;
		break;
	case OPT_SLICE_MS:
		run->slice_ns = opt_double("slice-ms", value, 0.01, 60000) * 1e6;
		break;
	case OPT_TIMEOUT:
		run->timeout_ns = seconds("timeout", value);
		break;
	case OPT_HELP:
		fputs(USAGE, stdout);
		exit(fflush(stdout) == 0 ? EXIT_DONE : EXIT_FAIL);
	default:
		die(EXIT_BAD, "'%s': slices takes options only; see --help", value);
	}
}

static void
parse_options(struct run *run, struct settings *set, int argc, char **argv)
{
	const char *value, *missing;
	int pos = 1, id;

	*run = (struct run){
		.slice_ns = 10e6,
		.max_wait = -1,
		.timeout_ns = 10 * INT64_C(1000000000),
		.ready_timeout_ns = 60 * INT64_C(1000000000),
	};
	perf_select(&run->perf, PERF_EVENTS_DEFAULT);
	while ((id = opt_next(OPTIONS, argc, argv, &pos, &value)) != OPT_END)
		set_option(run, set, id, value);
	missing = set->plan == NULL  ? "plan"
		  : run->epoch == 0  ? "epoch"
		  : run->rounds == 0 ? "rounds"
		  : !set->have_seed  ? "seed"
		  : set->out == NULL ? "out"
				     : NULL;
	if (missing != NULL)
		die(EXIT_BAD, "option --%s is missing; see --help", missing);
}

/* Makes the folder log beside path and names each process's log in it. */
static void
name_logs(struct run *run, const char *path)
{
	const char *slash = strrchr(path, '/');
	int len = slash != NULL ? (int)(slash - path) + 1 : 0;
	char *dir = xasprintf("%.*slog", len, path);
	struct stat st;

	if (mkdir(dir, 0777) != 0 &&
		(errno != EEXIST || stat(dir, &st) != 0 || !S_ISDIR(st.st_mode)))
		die(EXIT_BAD, "cannot make the folder %s: %s", dir, strerror(errno));
	for (size_t i = 0; i < run->plan.n; i++)
		run->fleet.proc[i].log_path =
			xasprintf("%s/epoch-%" PRIu64 "-process-%" PRIu64 ".log", dir, run->epoch,
				run->plan.row[i].process);
	free(dir);
}

/* SIGINT, SIGTERM, SIGHUP: ends the forwarders, then this process. */
static _Noreturn void
stop(struct fleet *fleet, int signo)
{
	const struct run *run = fleet->arg;
	const char *name = signo == SIGINT ? "SIGINT" : signo == SIGTERM ? "SIGTERM" : "SIGHUP";

	fleet_kill(fleet, NULL);
	progress_clear();
	die(128 + signo, "ended by %s; %s holds the slices of %" PRIu64 " whole rounds", name,
		run->rows.path, run->round > 0 ? run->round - 1 : 0);
}

/* What went wrong, a line a process, or one line for all if none is left. */
static int
conclude(const struct run *run)
{
	const struct proc *first = NULL;
	size_t failed = 0;

	for (size_t i = 0; i < run->plan.n; i++) {
		if (run->fleet.proc[i].state != PROC_FAILED)
			continue;
		if (failed++ == 0)
			first = &run->fleet.proc[i];
	}
	if (failed == run->plan.n)
		die(EXIT_FAIL, "none of %zu processes ran to the end; the first: %s; see %s",
			failed, first->reason, first->log_path);
	for (size_t i = 0; i < run->plan.n; i++) {
		const struct proc *p = &run->fleet.proc[i];
		const struct plan_row *row = &run->plan.row[i];

		if (p->state == PROC_FAILED)
			warn("process %" PRIu64 " (%s %s %s layout %" PRIu64 "): %s; see %s",
				row->process, row->variant, row->cc, row->dpdk, row->layout,
				p->reason, p->log_path);
		else if (p->pid != 0 || p->status != 0)
			warn("process %" PRIu64 " (%s %s %s layout %" PRIu64
			     "): did not quit cleanly; see %s",
				row->process, row->variant, row->cc, row->dpdk, row->layout,
				p->log_path);
	}
	return EXIT_DONE;
}

int
main(int argc, char **argv)
{
	struct settings set = {0};
	static struct run run; /* outlives main() for what runs at exit */
	int ret;

	parse_options(&run, &set, argc, argv);
	plan_read(&run.plan, set.plan, run.epoch);
	pin(&run, &set);
	fleet_init(&run.fleet, run.plan.n);
	run.fleet.on_stop = stop;
	run.fleet.arg = &run;
	name_logs(&run, set.out);
	rows_open(&run.rows, set.out);
	run.order = xcalloc(run.plan.n, sizeof(*run.order));

	run_start(&run);
	perf_open(&run.perf, set.out, run.epoch, &run.fleet, &run.forwarding);
	run_calibrate(&run);
	run_watch(&run);
	run_write_ready(&run);
	run_rounds(&run);
	run_unwatch(&run);
	progress_show("ending");
	fleet_quit(&run.fleet);
	progress_clear();
	ret = rows_close(&run.rows);
	if (ret != 0)
		die(EXIT_BAD, "cannot write %s: %s", set.out, strerror(-ret));
	ret = perf_close(&run.perf);
	if (ret != 0)
		die(EXIT_BAD, "cannot write %s.perf or %s.events: %s", set.out, set.out,
			strerror(-ret));
	ret = conclude(&run);
	free(run.order);
	fleet_free(&run.fleet);
	plan_free(&run.plan);
	return ret;
}
