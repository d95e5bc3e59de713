/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A forwarder without packets: speaks the slice protocol with cycles that are
 * known beforehand, and misbehaves on request. For the kit's tests.
 */
#include <errno.h>
#include <inttypes.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "util.h"

static const char USAGE[] =
	"usage: fakefwd [options]\n"
	"\n"
	"Speak the slice protocol of the forwarder with known cycles a packet, without forwarding.\n"
	"\n"
	"  --base=CYCLES         cycles a packet (default 100)\n"
	"  --burst=N             packets an iteration (default 64)\n"
	"  --child               fork a child that sleeps for ever\n"
	"  --drift=SHARE         a packet costs this share of base more each run (default 0)\n"
	"  --fault=KIND[@RUN]    misbehave in this run (default 1); may be given repeatedly:\n"
	"                        dead (SIGSEGV), exit (status 3), hang, garbage, negative, overflow,\n"
	"                        partial (half a line, then hang), missing (a key), twice (two\n"
	"                        lines), long (a line without end), nul, zerohz, error, eof (closes\n"
	"                        stdout, then hangs), empty (no packets), nocycles, drop (2 packets),\n"
	"                        idle (dies 20 ms after the answer)\n"
	"  --help                this text\n"
	"  --idle-touch=PAGES    take so many page faults between the runs, 3 ms after an answer\n"
	"  --ignore-term         ignore SIGTERM\n"
	"  --iteration-ns=N      sleep so long for each iteration, untimed ones too (default 0)\n"
	"  --noise=SHARE         cycles vary by up to this share of base, both ways (default 0)\n"
	"  --quit-exit=STATUS    exit status after quit (default 0)\n"
	"  --seed=S              of the noise (default 1)\n"
	"  --slices              accepted, as by the forwarder\n"
	"  --start=KIND[@MS]     never (not ready), exit (status 1), dead, slow (ready after MS),\n"
	"                        bad (ready line without tsc_hz), chatter (talks before it is ready)\n"
	"  --start-effect=SHARE[@RUN]  the first RUN runs cost this share of base more\n"
	"  --switch=SHARE[@RUN]  every RUN runs, cost toggles between base and this share more\n"
	"  --touch=PAGES         each run takes so many page faults (default 0)\n"
	"  --tsc-hz=HZ           (default 2000000000)\n"
	"  --worker-touch=PAGES  so many more in a second thread, on the last CPU it may use\n"
	"\n"
	"A log line on stderr says pid, length of MPPSDIFF_PAD, CPUs and the child's pid; then comes\n"
	"one with the answer to each run, and one that says what ended it: quit or eof.\n"
	"\n"
	"Exit status: 0 quit or end of input, 2 wrong usage; see also --fault.\n"
	"\n"
	"Example: printf 'run 10\\nquit\\n' | fakefwd --base 120 --noise 0.05\n";

enum {
	OPT_BASE = 1,
	OPT_BURST,
	OPT_CHILD,
	OPT_DRIFT,
	OPT_FAULT,
	OPT_HELP,
	OPT_IDLE_TOUCH,
	OPT_IGNORE_TERM,
	OPT_ITERATION_NS,
	OPT_NOISE,
	OPT_QUIT_EXIT,
	OPT_SEED,
	OPT_SLICES,
	OPT_START,
	OPT_START_EFFECT,
	OPT_SWITCH,
	OPT_TOUCH,
	OPT_TSC_HZ,
	OPT_WORKER_TOUCH,
};

static const struct opt OPTIONS[] = {
	{"base", true, OPT_BASE},
	{"burst", true, OPT_BURST},
	{"child", false, OPT_CHILD},
	{"drift", true, OPT_DRIFT},
	{"fault", true, OPT_FAULT},
	{"help", false, OPT_HELP},
	{"idle-touch", true, OPT_IDLE_TOUCH},
	{"ignore-term", false, OPT_IGNORE_TERM},
	{"iteration-ns", true, OPT_ITERATION_NS},
	{"noise", true, OPT_NOISE},
	{"quit-exit", true, OPT_QUIT_EXIT},
	{"seed", true, OPT_SEED},
	{"slices", false, OPT_SLICES},
	{"start", true, OPT_START},
	{"start-effect", true, OPT_START_EFFECT},
	{"switch", true, OPT_SWITCH},
	{"touch", true, OPT_TOUCH},
	{"tsc-hz", true, OPT_TSC_HZ},
	{"worker-touch", true, OPT_WORKER_TOUCH},
	{NULL, false, 0},
};

/* Faults that are a wrong line instead of an answer. */
static const struct {
	const char *kind;
	const char *line;
} LINES[] = {
	{"error", "error: port 1 has no link"},
	{"garbage", "testpmd> Started forwarding\t\033[1m\xff"},
	{"missing", "packets=64 cycles=6400 tsc_hz=2000000000"},
	{"negative", "packets=64 cycles=-6400 tsc_hz=2000000000 dropped=0"},
	{"overflow", "packets=64 cycles=18446744073709551616 tsc_hz=2000000000 dropped=0"},
	{"zerohz", "packets=64 cycles=6400 tsc_hz=0 dropped=0"},
	{NULL, NULL},
};

/* Faults that take more than that. */
static const char *const FAULTS[] = {"dead", "drop", "empty", "eof", "exit", "hang", "idle", "long",
	"nocycles", "nul", "partial", "twice", NULL};

static const char *const STARTS[] = {"bad", "chatter", "dead", "exit", "never", "slow", NULL};

enum {
	FAULT_SLOTS = 8,
};

static struct {
	double base, drift, noise;
	double start_effect, switch_effect;
	uint64_t start_effect_runs, switch_runs;
	uint64_t burst, iteration_ns, seed, tsc_hz, quit_exit, start_ms;
	uint64_t touch, idle_touch, worker_touch;
	bool child, ignore_term;
	const char *start;
	struct {
		const char *kind;
		uint64_t run;
	} fault[FAULT_SLOTS];
	size_t n_faults;
} cfg = {
	.base = 100,
	.burst = 64,
	.seed = 1,
	.tsc_hz = 2000000000,
	.start = "",
};

/* Sleeps ns nanoseconds. */
static void
sleep_ns(uint64_t ns)
{
	struct timespec ts = {(time_t)(ns / 1000000000), (long)(ns % 1000000000)};

	while (nanosleep(&ts, &ts) != 0 && errno == EINTR)
		;
}

static _Noreturn void
hang(void)
{
	for (;;)
		pause();
}

static _Noreturn void
dead(void)
{
	signal(SIGSEGV, SIG_DFL); /* a sanitizer would catch it */
	raise(SIGSEGV);
	abort();
}

/* Cuts value at its last @ and returns the number behind it, or without one fallback. */
static uint64_t
take_at(const char *option, char *value, uint64_t fallback)
{
	char *at = strrchr(value, '@');

	if (at == NULL)
		return fallback;
	*at = '\0';
	return opt_u64(option, at + 1, 0, UINT64_MAX);
}

/* The string of the list that equals kind, or NULL. */
static const char *
find_kind(const char *const *kinds, const char *kind)
{
	for (; *kinds != NULL; kinds++) {
		if (strcmp(*kinds, kind) == 0)
			return *kinds;
	}
	return NULL;
}

static const char *
find_fault(const char *kind)
{
	for (size_t i = 0; LINES[i].kind != NULL; i++) {
		if (strcmp(LINES[i].kind, kind) == 0)
			return LINES[i].kind;
	}
	return find_kind(FAULTS, kind);
}

/* Options of the form WHAT@NUMBER. */
static void
set_at_option(int id, const char *text)
{
	char *value = xstrdup(text);

	switch (id) {
	case OPT_FAULT:
		if (cfg.n_faults == FAULT_SLOTS)
			die(EXIT_BAD, "--fault: at most %d", FAULT_SLOTS);
		cfg.fault[cfg.n_faults].run = take_at("fault", value, 1);
		cfg.fault[cfg.n_faults].kind = find_fault(value);
		if (cfg.fault[cfg.n_faults++].kind == NULL)
			die(EXIT_BAD, "--fault: unknown kind '%s'; see --help", value);
		break;
	case OPT_START:
		cfg.start_ms = take_at("start", value, 0);
		cfg.start = find_kind(STARTS, value);
		if (cfg.start == NULL)
			die(EXIT_BAD, "--start: unknown kind '%s'; see --help", value);
		break;
	case OPT_START_EFFECT:
		cfg.start_effect_runs = take_at("start-effect", value, 1);
		cfg.start_effect = opt_double("start-effect", value, -1, 1000);
		break;
	default: /* OPT_SWITCH */
		cfg.switch_runs = take_at("switch", value, 1);
		cfg.switch_effect = opt_double("switch", value, -1, 1000);
	}
	free(value);
}

static void
set_option(int id, const char *value)
{
	switch (id) {
	case OPT_BASE:
		cfg.base = opt_double("base", value, 0, 1e9);
		break;
	case OPT_BURST:
		cfg.burst = opt_u64("burst", value, 1, 4096);
		break;
	case OPT_CHILD:
		cfg.child = true;
		break;
	case OPT_DRIFT:
		cfg.drift = opt_double("drift", value, -1, 1);
		break;
	case OPT_IDLE_TOUCH:
		cfg.idle_touch = opt_u64("idle-touch", value, 0, 1000000);
		break;
	case OPT_IGNORE_TERM:
		cfg.ignore_term = true;
		break;
	case OPT_ITERATION_NS:
		cfg.iteration_ns = opt_u64("iteration-ns", value, 0, 1000000000);
		break;
	case OPT_NOISE:
		cfg.noise = opt_double("noise", value, 0, 1);
		break;
	case OPT_QUIT_EXIT:
		cfg.quit_exit = opt_u64("quit-exit", value, 0, 255);
		break;
	case OPT_SEED:
		cfg.seed = opt_u64("seed", value, 0, UINT64_MAX);
		break;
	case OPT_SLICES:
		break;
	case OPT_TOUCH:
		cfg.touch = opt_u64("touch", value, 0, 1000000);
		break;
	case OPT_WORKER_TOUCH:
		cfg.worker_touch = opt_u64("worker-touch", value, 0, 1000000);
		break;
	case OPT_TSC_HZ:
		cfg.tsc_hz = opt_u64("tsc-hz", value, 1, UINT64_MAX);
		break;
	case OPT_HELP:
		fputs(USAGE, stdout);
		exit(fflush(stdout) == 0 ? EXIT_DONE : EXIT_FAIL);
	case OPT_POSITIONAL:
		die(EXIT_BAD, "'%s': fakefwd takes options only; see --help", value);
	default:
		set_at_option(id, value);
	}
}

/* Uniform in [-1, 1): SplitMix64, see slices_order.c. */
static double
noise(void)
{
	uint64_t z = (cfg.seed += 0x9e3779b97f4a7c15);

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
	z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
	return (double)((z ^ (z >> 31)) >> 11) * 0x1p-52 - 1;
}

/* Cycles a packet in this run, counted from 1. */
static double
cost(uint64_t run)
{
	double share = 1 + cfg.drift * (double)(run - 1);

	if (run <= cfg.start_effect_runs)
		share += cfg.start_effect;
	if (cfg.switch_runs > 0 && (run - 1) / cfg.switch_runs % 2 == 1)
		share += cfg.switch_effect;
	if (cfg.noise > 0)
		share += cfg.noise * noise();
	return share > 0 ? cfg.base * share : 0;
}

/* The fault of this run, "" for none. */
static const char *
fault_of(uint64_t run)
{
	for (size_t i = 0; i < cfg.n_faults; i++) {
		if (cfg.fault[i].run == run)
			return cfg.fault[i].kind;
	}
	return "";
}

static bool
is(const char *a, const char *b)
{
	return strcmp(a, b) == 0;
}

/* Does what the fault says instead of answering; false if there is to be an answer. */
static bool
misbehave(const char *fault)
{
	for (size_t i = 0; LINES[i].kind != NULL; i++) {
		if (is(fault, LINES[i].kind)) {
			puts(LINES[i].line);
			return true;
		}
	}
	if (is(fault, "dead"))
		dead();
	if (is(fault, "exit"))
		exit(3);
	if (is(fault, "hang"))
		hang();
	if (is(fault, "eof")) {
		fclose(stdout);
		hang();
	}
	if (is(fault, "partial")) {
		printf("packets=64 cycles=64");
		fflush(stdout);
		hang();
	}
	if (is(fault, "nul"))
		fwrite("packets=64\0\n", 1, 12, stdout);
	for (int i = 0; is(fault, "long") && i < 4096; i++)
		putchar('x');
	return is(fault, "nul") || is(fault, "long");
}

/* Takes a page fault of each of so many fresh pages. */
static void
touch(uint64_t pages)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE), bytes = (size_t)pages * page;
	unsigned char *memory;

	if (pages == 0)
		return;
	memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (memory == MAP_FAILED)
		die(EXIT_FAIL, "cannot map %zu bytes: %s", bytes, strerror(errno));
	/* a huge page would take one fault for many; kernels without them refuse this */
	(void)madvise(memory, bytes, MADV_NOHUGEPAGE);
	for (size_t i = 0; i < bytes; i += page)
		((volatile unsigned char *)memory)[i] = 1;
	if (munmap(memory, bytes) != 0)
		die(EXIT_FAIL, "cannot unmap: %s", strerror(errno));
}

/* The second thread: waits for a run, as a forwarding lcore does. */
static struct {
	sem_t begin, end;
} worker;

static void *
work(void *arg)
{
	cpu_set_t cpus;
	int last = -1;

	(void)arg;
	if (sched_getaffinity(0, sizeof(cpus), &cpus) != 0)
		die(EXIT_FAIL, "cannot read the CPU affinity: %s", strerror(errno));
	for (int i = 0; i < CPU_SETSIZE; i++) {
		if (CPU_ISSET(i, &cpus))
			last = i;
	}
	CPU_ZERO(&cpus);
	CPU_SET(last, &cpus);
	if (sched_setaffinity(0, sizeof(cpus), &cpus) != 0)
		die(EXIT_FAIL, "cannot pin the worker: %s", strerror(errno));
	sem_post(&worker.end);
	for (;;) {
		while (sem_wait(&worker.begin) != 0)
			;
		touch(cfg.worker_touch);
		sem_post(&worker.end);
	}
	return NULL;
}

static void
wait_for_worker(void)
{
	while (sem_wait(&worker.end) != 0)
		;
}

static void
start_worker(void)
{
	pthread_t thread;

	if (sem_init(&worker.begin, 0, 0) != 0 || sem_init(&worker.end, 0, 0) != 0 ||
		pthread_create(&thread, NULL, work, NULL) != 0)
		die(EXIT_FAIL, "cannot start the worker");
	wait_for_worker();
}

/* Answers one run command. */
static void
answer(uint64_t run, uint64_t iterations, uint64_t warmup)
{
	const char *fault = fault_of(run);
	uint64_t packets = iterations * cfg.burst;
	uint64_t cycles = (uint64_t)((double)packets * cost(run) + 0.5);

	sleep_ns((iterations + warmup) * cfg.iteration_ns);
	touch(cfg.touch);
	if (cfg.worker_touch > 0) {
		sem_post(&worker.begin);
		wait_for_worker();
	}
	if (misbehave(fault))
		return;
	if (is(fault, "empty"))
		packets = 0;
	if (is(fault, "nocycles"))
		cycles = 0;
	for (int i = 0; i < (is(fault, "twice") ? 2 : 1); i++)
		printf("packets=%" PRIu64 " cycles=%" PRIu64 " tsc_hz=%" PRIu64 " dropped=%d\n",
			packets, cycles, cfg.tsc_hz, is(fault, "drop") ? 2 : 0);
	fprintf(stderr,
		"fakefwd: run=%" PRIu64 " iterations=%" PRIu64 " warmup=%" PRIu64
		" packets=%" PRIu64 " cycles=%" PRIu64 "\n",
		run, iterations, warmup, packets, cycles);
	fflush(stdout);
	if (cfg.idle_touch > 0) {
		sleep_ns(3 * 1000000);
		touch(cfg.idle_touch);
	}
	if (is(fault, "idle")) {
		sleep_ns(20 * 1000000);
		dead();
	}
}

/* Splits "run N [W]". 0, or -EINVAL. */
static int
parse_run(char *line, uint64_t *iterations, uint64_t *warmup)
{
	char *save = NULL, *n, *w;

	if (strncmp(line, "run ", 4) != 0)
		return -EINVAL;
	n = strtok_r(line + 4, " ", &save);
	w = strtok_r(NULL, " ", &save);
	*warmup = 0;
	if (n == NULL || parse_u64(n, iterations) != 0 || *iterations == 0 ||
		*iterations > UINT32_MAX)
		return -EINVAL;
	if (w != NULL && (parse_u64(w, warmup) != 0 || strtok_r(NULL, " ", &save) != NULL))
		return -EINVAL;
	return 0;
}

static void
serve(void)
{
	uint64_t run = 0, iterations, warmup;
	char *line = NULL;
	size_t size = 0;
	ssize_t n;

	while ((n = getline(&line, &size, stdin)) > 0) {
		if (line[n - 1] == '\n')
			line[n - 1] = '\0';
		if (is(line, "quit"))
			break;
		if (parse_run(line, &iterations, &warmup) == 0)
			answer(++run, iterations, warmup);
		else
			printf("error: unknown command\n");
		fflush(stdout);
	}
	fprintf(stderr, "fakefwd: end=%s\n", n > 0 ? "quit" : "eof");
	free(line);
}

/* Forks a child that never ends by itself. Returns its pid. */
static pid_t
start_child(void)
{
	pid_t pid = fork();

	if (pid < 0)
		die(EXIT_FAIL, "cannot fork: %s", strerror(errno));
	if (pid == 0)
		hang();
	return pid;
}

static void
log_start(void)
{
	const char *pad = getenv("MPPSDIFF_PAD");
	pid_t child = cfg.child ? start_child() : 0;
	cpu_set_t cpus;

	fprintf(stderr, "fakefwd: pid=%d child=%d pad=", (int)getpid(), (int)child);
	if (pad != NULL)
		fprintf(stderr, "%zu", strlen(pad));
	fputs(" cpus=", stderr);
	if (sched_getaffinity(0, sizeof(cpus), &cpus) == 0) {
		for (int i = 0, n = 0; i < CPU_SETSIZE; i++) {
			if (CPU_ISSET(i, &cpus))
				fprintf(stderr, "%s%d", n++ > 0 ? "," : "", i);
		}
	}
	fputc('\n', stderr);
}

static void
start(void)
{
	if (is(cfg.start, "never"))
		hang();
	if (is(cfg.start, "dead"))
		dead();
	if (is(cfg.start, "exit")) {
		fputs("EAL: Cannot get hugepage information.\n\n", stderr);
		exit(1);
	}
	if (is(cfg.start, "bad"))
		puts("ready ports=2 queues=1 lcores=1");
	if (is(cfg.start, "chatter"))
		puts("EAL: Detected 2 lcore(s)\nEAL: Detected 1 NUMA nodes");
	sleep_ns(cfg.start_ms * 1000000);
	printf("ready ports=2 queues=2 lcores=1 rx_burst=fake_rx tx_burst=fake_tx fwd=macswap "
	       "tsc_hz=%" PRIu64 "\n",
		cfg.tsc_hz);
	fflush(stdout);
}

int
main(int argc, char **argv)
{
	const char *value;
	int pos = 1, id;

	while ((id = opt_next(OPTIONS, argc, argv, &pos, &value)) != OPT_END)
		set_option(id, value);
	if (cfg.ignore_term)
		signal(SIGTERM, SIG_IGN);
	log_start();
	if (cfg.worker_touch > 0)
		start_worker();
	start();
	serve();
	return (int)cfg.quit_exit;
}
