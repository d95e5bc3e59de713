/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Performance counters: opened once for the forwarding threads of each process,
 * switched on before a slice is asked for and off after its answer, so nothing
 * of this happens inside the time that the forwarder measures.
 */
#include "slices_perf.h"

#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <linux/perf_event.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "util.h"

#define CACHE_MISSES(cache)                                                                        \
	(PERF_COUNT_HW_CACHE_##cache | PERF_COUNT_HW_CACHE_OP_READ << 8 |                          \
		PERF_COUNT_HW_CACHE_RESULT_MISS << 16)

struct perf_kind {
	const char *name;
	uint32_t type;
	uint64_t config;
	bool with_kernel; /* it happens in the kernel: in user mode alone it would be 0 */
};

/* Names as perf(1) has them, in the order of the alphabet. */
static const struct perf_kind KINDS[] = {
	{"L1-dcache-load-misses", PERF_TYPE_HW_CACHE, CACHE_MISSES(L1D), false},
	{"L1-icache-load-misses", PERF_TYPE_HW_CACHE, CACHE_MISSES(L1I), false},
	{"branch-misses", PERF_TYPE_HARDWARE, PERF_COUNT_HW_BRANCH_MISSES, false},
	{"branches", PERF_TYPE_HARDWARE, PERF_COUNT_HW_BRANCH_INSTRUCTIONS, false},
	{"cache-misses", PERF_TYPE_HARDWARE, PERF_COUNT_HW_CACHE_MISSES, false},
	{"context-switches", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CONTEXT_SWITCHES, true},
	{"cycles", PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES, false},
	{"dTLB-load-misses", PERF_TYPE_HW_CACHE, CACHE_MISSES(DTLB), false},
	{"iTLB-load-misses", PERF_TYPE_HW_CACHE, CACHE_MISSES(ITLB), false},
	{"instructions", PERF_TYPE_HARDWARE, PERF_COUNT_HW_INSTRUCTIONS, false},
	{"page-faults", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS, false},
	{"task-clock", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_TASK_CLOCK, false},
};

#define N_KINDS (sizeof(KINDS) / sizeof(KINDS[0]))

/* What read(2) gives for one counter, see PERF_FORMAT_TOTAL_TIME_ENABLED. */
struct reading {
	uint64_t count;
	uint64_t enabled; /* ns */
	uint64_t running; /* ns the counter really counted */
};

struct perf_fd {
	int fd; /* -1: not open */
	struct reading before;
	struct reading slice; /* what the last slice added */
	bool readable;
};

static const struct perf_kind *
find_kind(const char *name, size_t len)
{
	for (size_t i = 0; i < N_KINDS; i++) {
		if (strncmp(KINDS[i].name, name, len) == 0 && KINDS[i].name[len] == '\0')
			return &KINDS[i];
	}
	return NULL;
}

static _Noreturn void
die_unknown(const char *name, size_t len)
{
	char names[512] = "none";
	size_t used = strlen(names);

	for (size_t i = 0; i < N_KINDS; i++)
		used += (size_t)snprintf(names + used, sizeof(names) - used, " %s", KINDS[i].name);
	die(EXIT_BAD, "--perf-events: unknown event '%.*s'; known: %s", (int)len, name, names);
}

void
perf_select(struct perf *perf, const char *list)
{
	perf->n_events = 0;
	if (strcmp(list, "none") == 0)
		return;
	for (const char *s = list;; s++) {
		size_t len = strcspn(s, ",");
		const struct perf_kind *kind = find_kind(s, len);

		if (kind == NULL)
			die_unknown(s, len);
		for (size_t i = 0; i < perf->n_events; i++) {
			if (perf->event[i].kind == kind)
				die(EXIT_BAD, "--perf-events: %s is there twice", kind->name);
		}
		perf->event[perf->n_events++] = (struct perf_event){.kind = kind};
		s += len;
		if (*s == '\0')
			return;
	}
}

_Static_assert(N_KINDS <= PERF_EVENTS_MAX, "every event can be asked for at once");

/* A counter of one event of one thread, not counting yet. The descriptor or -errno. */
static int
open_counter(const struct perf_kind *kind, pid_t tid)
{
	struct perf_event_attr attr = {
		.type = kind->type,
		.size = sizeof(attr),
		.config = kind->config,
		.read_format = PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING,
		.disabled = 1,
		.exclude_kernel = !kind->with_kernel,
		.exclude_hv = 1,
	};
	long fd = syscall(SYS_perf_event_open, &attr, tid, -1, -1, PERF_FLAG_FD_CLOEXEC);

	return fd < 0 ? -errno : (int)fd;
}

/* True if the thread can run on CPUs of the set only. */
static bool
runs_only_on(pid_t tid, const cpu_set_t *set)
{
	cpu_set_t own, both;

	if (sched_getaffinity(tid, sizeof(own), &own) != 0)
		return false;
	CPU_AND(&both, &own, set);
	return CPU_EQUAL(&both, &own);
}

/* The threads of a process in *tids, which the caller frees; only those of the set, if not NULL. */
static size_t
list_threads(pid_t pid, const cpu_set_t *set, pid_t **tids)
{
	char *path = xasprintf("/proc/%d/task", (int)pid);
	DIR *dir = opendir(path);
	const struct dirent *entry;
	size_t n = 0;

	*tids = NULL;
	while (dir != NULL && (entry = readdir(dir)) != NULL) {
		uint64_t tid;

		if (parse_u64(entry->d_name, &tid) != 0 ||
			(set != NULL && !runs_only_on((pid_t)tid, set)))
			continue;
		*tids = xreallocarray(*tids, n + 1, sizeof(**tids));
		(*tids)[n++] = (pid_t)tid;
	}
	if (dir != NULL)
		closedir(dir);
	free(path);
	return n;
}

static void
open_process(struct perf *perf, struct perf_process *process, pid_t pid, const cpu_set_t *set)
{
	pid_t *tids;
	size_t n = CPU_COUNT(set) > 0 ? list_threads(pid, set, &tids) : 0;

	if (n == 0) {
		if (CPU_COUNT(set) > 0)
			free(tids);
		n = list_threads(pid, NULL, &tids);
	}
	process->n = n * perf->n_events;
	process->fd = xcalloc(process->n, sizeof(*process->fd));
	for (size_t i = 0; i < process->n; i++) {
		struct perf_event *event = &perf->event[i % perf->n_events];
		int fd;

		process->fd[i].fd = -1;
		if (event->err != 0)
			continue;
		fd = open_counter(event->kind, tids[i / perf->n_events]);
		if (fd >= 0)
			process->fd[i].fd = fd;
		else if (fd != -ESRCH) /* a thread that ended in between counts nothing */
			event->err = -fd;
	}
	free(tids);
}

/* Closes what is open of an event: counted for some processes only, it would compare nothing. */
static void
close_event(struct perf *perf, size_t e)
{
	for (size_t p = 0; p < perf->n_processes; p++) {
		for (size_t i = e; i < perf->process[p].n; i += perf->n_events) {
			if (perf->process[p].fd[i].fd >= 0)
				close(perf->process[p].fd[i].fd);
			perf->process[p].fd[i].fd = -1;
		}
	}
}

/* Many processes of many threads take more descriptors than a shell usually allows. */
static void
raise_fd_limit(void)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit) != 0)
		return;
	limit.rlim_cur = limit.rlim_max;
	/* if it is refused, opening tells */
	(void)setrlimit(RLIMIT_NOFILE, &limit);
}

static void
write_header(struct perf *perf)
{
	fputs("epoch\tround\tvariant\tcc\tdpdk\tlayout\tprocess\tpackets", perf->file);
	for (size_t e = 0; e < perf->n_events; e++)
		fprintf(perf->file, "\t%s", perf->event[e].kind->name);
	fputc('\n', perf->file);
}

void
perf_open(struct perf *perf, const char *out, uint64_t epoch, const struct fleet *fleet,
	const cpu_set_t *forwarding)
{
	bool any = false;

	if (perf->n_events == 0)
		return;
	perf->epoch = epoch;
	perf->path = xasprintf("%s.perf", out);
	perf->events_path = xasprintf("%s.events", out);
	perf->file = fopen(perf->path, "we");
	if (perf->file == NULL)
		die(EXIT_BAD, "cannot write %s: %s", perf->path, strerror(errno));
	write_header(perf);
	perf->n_processes = fleet->n;
	perf->process = xcalloc(fleet->n, sizeof(*perf->process));
	raise_fd_limit();
	for (size_t p = 0; p < fleet->n; p++) {
		if (fleet->proc[p].state != PROC_READY || fleet->proc[p].pid == 0)
			continue;
		open_process(perf, &perf->process[p], fleet->proc[p].pid, forwarding);
		any = true;
	}
	for (size_t e = 0; e < perf->n_events; e++) {
		if (!any)
			perf->event[e].err = ESRCH;
		if (perf->event[e].err != 0)
			close_event(perf, e);
	}
}

static void
control(const struct perf *perf, size_t index, unsigned long request)
{
	const struct perf_process *process;

	if (perf->n_processes == 0)
		return;
	process = &perf->process[index];
	for (size_t i = 0; i < process->n; i++) {
		/* a counter that cannot be switched shows when it is read */
		if (process->fd[i].fd >= 0)
			(void)ioctl(process->fd[i].fd, request, 0);
	}
}

void
perf_begin(struct perf *perf, size_t index)
{
	control(perf, index, PERF_EVENT_IOC_ENABLE);
}

void
perf_end(struct perf *perf, size_t index)
{
	struct perf_process *process;
	struct reading now;

	control(perf, index, PERF_EVENT_IOC_DISABLE);
	if (perf->n_processes == 0)
		return;
	process = &perf->process[index];
	for (size_t i = 0; i < process->n; i++) {
		struct perf_fd *c = &process->fd[i];

		if (c->fd < 0)
			continue;
		c->readable = read(c->fd, &now, sizeof(now)) == (ssize_t)sizeof(now);
		if (!c->readable)
			continue;
		/* resetting a counter leaves its times alone, so all three are differences */
		c->slice.count = now.count - c->before.count;
		c->slice.enabled = now.enabled - c->before.enabled;
		c->slice.running = now.running - c->before.running;
		c->before = now;
	}
}

/*
 * True if a counter counted while it was on. A thousandth is forgiven: the kernel reads its clock
 * twice when it switches a counter on in a thread that runs. Sharing a counter takes whole ticks.
 */
static bool
counted_all_the_time(const struct perf_fd *c)
{
	return c->readable && c->slice.running >= c->slice.enabled - c->slice.enabled / 1000;
}

/*
 * Sums an event over the threads. False if a counter did not count all the time: an extrapolation
 * from a part of 10 ms would look exact and is not.
 */
static bool
sum_event(const struct perf *perf, size_t index, size_t e, uint64_t *sum)
{
	const struct perf_process *process = &perf->process[index];

	*sum = 0;
	for (size_t i = e; i < process->n; i += perf->n_events) {
		const struct perf_fd *c = &process->fd[i];

		if (c->fd < 0)
			continue;
		if (!counted_all_the_time(c))
			return false;
		*sum += c->slice.count;
	}
	return true;
}

static bool
any_open(const struct perf *perf)
{
	for (size_t e = 0; e < perf->n_events; e++) {
		if (perf->event[e].err == 0)
			return true;
	}
	return false;
}

void
perf_write(struct perf *perf, size_t index, const struct row *row, uint64_t packets)
{
	const struct plan_row *p = row->plan;
	uint64_t sum;

	if (perf->n_processes == 0 || !any_open(perf))
		return;
	fprintf(perf->file,
		"%" PRIu64 "\t%" PRIu64 "\t%s\t%s\t%s\t%" PRIu64 "\t%" PRIu64 "\t%" PRIu64,
		row->epoch, row->round, p->variant, p->cc, p->dpdk, p->layout, p->process, packets);
	for (size_t e = 0; e < perf->n_events; e++) {
		struct perf_event *event = &perf->event[e];

		if (event->err != 0) {
			fputs("\t-", perf->file);
		} else if (sum_event(perf, index, e, &sum)) {
			event->slices++;
			fprintf(perf->file, "\t%" PRIu64, sum);
		} else {
			event->multiplexed++;
			fputs("\t-", perf->file);
		}
	}
	fputc('\n', perf->file);
}

/* kernel.perf_event_paranoid, or -1 if it cannot be read. */
static int
paranoid(void)
{
	FILE *file = fopen("/proc/sys/kernel/perf_event_paranoid", "re");
	int level = -1;

	if (file == NULL)
		return -1;
	if (fscanf(file, "%d", &level) != 1)
		level = -1;
	fclose(file);
	return level;
}

static void
write_refused(const struct perf_event *event, FILE *file)
{
	/* what perf_event_open(2) allows without privileges */
	const int allowed = event->kind->with_kernel ? 1 : 2;
	const int level = paranoid();

	fprintf(file, "refused\t0\tperf_event_open: %s; ", strerror(event->err));
	if (level > allowed)
		fprintf(file,
			"kernel.perf_event_paranoid is %d: allow it with sysctl -w "
			"kernel.perf_event_paranoid=%d\n",
			level, allowed);
	else
		fprintf(file,
			"kernel.perf_event_paranoid is %d and would allow it, so a container or a "
			"security module forbids it\n",
			level);
}

static void
write_event(const struct perf *perf, const struct perf_event *event, FILE *file)
{
	fprintf(file, "%" PRIu64 "\t%s\t", perf->epoch, event->kind->name);
	switch (event->err) {
	case 0:
		if (event->slices == 0 && event->multiplexed == 0)
			fputs("failed\t0\tno valid slice\n", file);
		else if (event->multiplexed == 0)
			fprintf(file, "counted\t%" PRIu64 "\t-\n", event->slices);
		else
			fprintf(file,
				"%s\t%" PRIu64 "\t%" PRIu64 " slices left out: the PMU has not "
				"enough counters for all events; ask for fewer\n",
				event->slices > 0 ? "counted" : "multiplexed", event->slices,
				event->multiplexed);
		break;
	case ENOENT:
	case ENODEV:
	case ENOSYS:
	case EOPNOTSUPP:
		fprintf(file, "absent\t0\tperf_event_open: %s\n", strerror(event->err));
		break;
	case EACCES:
	case EPERM:
		write_refused(event, file);
		break;
	default:
		fprintf(file, "failed\t0\tperf_event_open: %s\n", strerror(event->err));
	}
}

/* Closes a file that was written. 0 or -errno. */
static int
finish(FILE *file)
{
	bool bad = ferror(file) != 0;

	if (fclose(file) != 0)
		return errno != 0 ? -errno : -EIO;
	return bad ? -EIO : 0;
}

int
perf_close(struct perf *perf)
{
	FILE *file;
	int ret, ret_events;

	if (perf->path == NULL)
		return 0;
	for (size_t e = 0; e < perf->n_events; e++)
		close_event(perf, e);
	for (size_t p = 0; p < perf->n_processes; p++)
		free(perf->process[p].fd);
	free(perf->process);
	ret = finish(perf->file);
	file = fopen(perf->events_path, "we");
	if (file == NULL) {
		ret_events = -errno;
	} else {
		fputs("epoch\tevent\tstatus\tslices\treason\n", file);
		for (size_t e = 0; e < perf->n_events; e++)
			write_event(perf, &perf->event[e], file);
		ret_events = finish(file);
	}
	free(perf->path);
	free(perf->events_path);
	perf->path = perf->events_path = NULL;
	return ret != 0 ? ret : ret_events;
}
