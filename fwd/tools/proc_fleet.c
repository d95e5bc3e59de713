/* SPDX-License-Identifier: BSD-3-Clause */
/* Waits for many processes and for signals at once, and ends them: see proc.h. */
#include "proc.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <time.h>
#include <unistd.h>

#include "util.h"

#define NS_PER_S 1000000000

/* A process gets so long after SIGTERM, and to let go of memory after SIGKILL. */
static const int64_t GRACE_NS = 2 * (int64_t)NS_PER_S;
/* A forwarder gets so long after quit: it stops its ports and unmaps its memory. */
static const int64_t QUIT_NS = 10 * (int64_t)NS_PER_S;

static struct fleet *the_fleet;

int64_t
now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * (int64_t)NS_PER_S + ts.tv_nsec;
}

/* At exit, whatever led there: nothing survives. */
static void
kill_all(void)
{
	for (size_t i = 0; the_fleet != NULL && i < the_fleet->n; i++)
		proc_signal(&the_fleet->proc[i], SIGKILL);
}

/* If started with 0, 1 or 2 closed, a pipe would get that number and be lost in the child. */
static void
fill_standard_fds(void)
{
	int fd;

	do {
		fd = open("/dev/null", O_RDWR);
		if (fd < 0)
			die(EXIT_BAD, "cannot open /dev/null: %s", strerror(errno));
	} while (fd <= STDERR_FILENO);
	close(fd);
}

static int
take_signals(void)
{
	struct sigaction hup;
	sigset_t set;
	int fd;

	sigemptyset(&set);
	sigaddset(&set, SIGCHLD);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGTERM);
	/* nohup asks for SIGHUP to be ignored */
	if (sigaction(SIGHUP, NULL, &hup) == 0 && hup.sa_handler != SIG_IGN)
		sigaddset(&set, SIGHUP);
	/* inherited as ignored it would reap the children behind our back */
	signal(SIGCHLD, SIG_DFL);
	/* these two come back as errors of write(2) instead */
	signal(SIGPIPE, SIG_IGN);
	signal(SIGXFSZ, SIG_IGN);
	if (sigprocmask(SIG_BLOCK, &set, NULL) != 0)
		die(EXIT_FAIL, "cannot block signals: %s", strerror(errno));
	fd = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	if (fd < 0)
		die(EXIT_FAIL, "cannot receive signals: %s", strerror(errno));
	return fd;
}

void
fleet_init(struct fleet *fleet, size_t n)
{
	fill_standard_fds();
	fleet->proc = xcalloc(n, sizeof(*fleet->proc));
	fleet->n = n;
	for (size_t i = 0; i < n; i++)
		fleet->proc[i].to = fleet->proc[i].from = -1;
	fleet->signals = take_signals();
	the_fleet = fleet;
	if (atexit(kill_all) != 0)
		die(EXIT_FAIL, "atexit failed");
}

void
fleet_free(struct fleet *fleet)
{
	the_fleet = NULL;
	for (size_t i = 0; i < fleet->n; i++)
		free(fleet->proc[i].log_path);
	free(fleet->proc);
	close(fleet->signals);
}

/* Reaps what ended; a signal that asks to stop ends up in on_stop. */
static void
handle_signals(struct fleet *fleet)
{
	struct signalfd_siginfo info;
	bool ended = false;
	int stop = 0;

	while (read(fleet->signals, &info, sizeof(info)) == (ssize_t)sizeof(info)) {
		if (info.ssi_signo == SIGCHLD)
			ended = true;
		else
			stop = (int)info.ssi_signo;
	}
	for (size_t i = 0; ended && i < fleet->n; i++)
		proc_reap(&fleet->proc[i]);
	if (stop == 0)
		return;
	if (fleet->stopping) { /* asked twice: at once */
		kill_all();
		return;
	}
	fleet->stopping = true;
	fleet->on_stop(fleet, stop);
}

void
fleet_wait(struct fleet *fleet, int64_t deadline_ns)
{
	struct pollfd *fds = xcalloc(fleet->n + 1, sizeof(*fds));
	struct timespec ts;
	int64_t left;
	nfds_t n = 0;

	fds[n++] = (struct pollfd){.fd = fleet->signals, .events = POLLIN};
	for (size_t i = 0; i < fleet->n; i++) {
		const struct proc *p = &fleet->proc[i];

		if (p->listening && p->from >= 0)
			fds[n++] = (struct pollfd){.fd = p->from, .events = POLLIN};
	}
	left = deadline_ns - now_ns();
	if (left < 0)
		left = 0;
	ts.tv_sec = left / NS_PER_S;
	ts.tv_nsec = left % NS_PER_S;
	if (ppoll(fds, n, &ts, NULL) < 0 && errno != EINTR)
		die(EXIT_FAIL, "cannot wait for the forwarders: %s", strerror(errno));
	free(fds);
	/* nothing blocks: read from all who may speak, whoever woke us */
	for (size_t i = 0; i < fleet->n; i++) {
		if (fleet->proc[i].listening)
			proc_read(&fleet->proc[i]);
	}
	handle_signals(fleet);
}

static bool
any_running(const struct fleet *fleet, const struct proc *only)
{
	if (only != NULL)
		return only->pid != 0;
	for (size_t i = 0; i < fleet->n; i++) {
		if (fleet->proc[i].pid != 0)
			return true;
	}
	return false;
}

static void
signal_running(struct fleet *fleet, struct proc *only, int signo)
{
	for (size_t i = 0; i < fleet->n; i++) {
		if (only == NULL || only == &fleet->proc[i])
			proc_signal(&fleet->proc[i], signo);
	}
}

static void
wait_until_ended(struct fleet *fleet, const struct proc *only, int64_t ns)
{
	int64_t deadline = now_ns() + ns;

	while (any_running(fleet, only) && now_ns() < deadline)
		fleet_wait(fleet, deadline);
}

/* Ends their input; they are not listened to any more, so that no chatter wakes us. */
static void
hang_up(struct fleet *fleet, struct proc *only)
{
	for (size_t i = 0; i < fleet->n; i++) {
		if (only == NULL || only == &fleet->proc[i]) {
			fleet->proc[i].listening = false;
			proc_hang_up(&fleet->proc[i]);
		}
	}
}

void
fleet_kill(struct fleet *fleet, struct proc *p)
{
	hang_up(fleet, p);
	signal_running(fleet, p, SIGTERM);
	/* one that is stopped between its slices hears nothing before */
	signal_running(fleet, p, SIGCONT);
	wait_until_ended(fleet, p, GRACE_NS);
	signal_running(fleet, p, SIGKILL);
	wait_until_ended(fleet, p, GRACE_NS);
}

void
fleet_quit(struct fleet *fleet)
{
	signal_running(fleet, NULL, SIGCONT);
	for (size_t i = 0; i < fleet->n; i++) {
		if (fleet->proc[i].state == PROC_READY && fleet->proc[i].pid != 0)
			proc_send(&fleet->proc[i], "quit\n");
	}
	hang_up(fleet, NULL);
	wait_until_ended(fleet, NULL, QUIT_NS);
	fleet_kill(fleet, NULL);
}
