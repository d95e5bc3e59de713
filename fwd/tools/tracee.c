/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A process under ptrace: see tracee.h. Everything is as in ptrace(2); threads are
 * seized, so that they can be stopped without a signal (PTRACE_INTERRUPT).
 */
#include "tracee.h"

#include "util.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/personality.h>
#include <sys/ptrace.h>
#include <sys/time.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* int3, and what is left of a word around its byte. */
#define INT3	  UINT64_C(0xcc)
#define INT3_MASK UINT64_C(0xff)

#define NS_PER_S UINT64_C(1000000000)

/* The signal that asks the tracer to end, 0 if none came. */
static volatile sig_atomic_t asked_to_end;

/* Set five times a second, so that the time is not asked for at every step. */
static volatile sig_atomic_t ticked;

static void
on_signal(int signo)
{
	if (signo == SIGALRM)
		ticked = 1;
	else
		asked_to_end = signo;
}

/* SIGALRM ticks, so that a waitpid() that was entered too late for a signal returns. */
static void
catch_signals(void)
{
	static const int signals[] = {SIGINT, SIGTERM, SIGHUP, SIGALRM};
	const struct itimerval tick = {{0, 200000}, {0, 200000}};
	struct sigaction action = {.sa_handler = on_signal};

	for (size_t i = 0; i < sizeof(signals) / sizeof(signals[0]); i++) {
		if (sigaction(signals[i], &action, NULL) != 0)
			die(EXIT_FAIL, "sigaction failed: %s", strerror(errno));
	}
	if (setitimer(ITIMER_REAL, &tick, NULL) != 0)
		die(EXIT_FAIL, "setitimer failed: %s", strerror(errno));
}

static uint64_t
monotonic_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * NS_PER_S + (uint64_t)now.tv_nsec;
}

/* --- threads -------------------------------------------------------------- */

static struct tracee_thread *
find_thread(struct tracee *t, pid_t tid)
{
	for (size_t i = 0; i < t->n; i++) {
		if (t->thread[i].tid == tid)
			return &t->thread[i];
	}
	return NULL;
}

static struct tracee_thread *
add_thread(struct tracee *t, pid_t tid)
{
	struct tracee_thread *thread = find_thread(t, tid);

	if (thread != NULL)
		return thread;
	t->thread = xreallocarray(t->thread, t->n + 1, sizeof(*t->thread));
	thread = &t->thread[t->n++];
	*thread = (struct tracee_thread){.tid = tid};
	return thread;
}

static void
remove_thread(struct tracee *t, pid_t tid)
{
	struct tracee_thread *thread = find_thread(t, tid);

	if (thread != NULL)
		*thread = t->thread[--t->n];
}

/* A thread that is gone has nothing left to be asked. */
static void
note_end(struct tracee *t, pid_t tid, int status)
{
	remove_thread(t, tid);
	if (tid == t->pid) {
		t->alive = false;
		t->status = status;
	}
}

bool
tracee_is_late(const struct tracee *t)
{
	return asked_to_end != 0 || monotonic_ns() >= t->deadline_ns;
}

/* waitpid(2) for tid, or any if -1. Returns the thread, 0 on timeout or signal, -1 if none is left.
 */
static pid_t
wait_for(struct tracee *t, pid_t tid, int *status)
{
	pid_t got;

	for (;;) {
		if (asked_to_end != 0 || (ticked != 0 && tracee_is_late(t)))
			return 0;
		ticked = 0;
		got = waitpid(tid, status, __WALL);
		if (got >= 0)
			return got;
		if (errno != EINTR)
			return -1;
	}
}

static void
resume(struct tracee *t, pid_t tid, enum __ptrace_request how, int signo)
{
	struct tracee_thread *thread = find_thread(t, tid);

	if (thread != NULL)
		thread->stopped = false;
	/* ESRCH: it was killed meanwhile, which waitpid() will say */
	if (ptrace(how, tid, NULL, (void *)(intptr_t)signo) != 0 && errno != ESRCH)
		die(EXIT_FAIL, "cannot resume thread %d: %s", (int)tid, strerror(errno));
}

void
tracee_continue(struct tracee *t, pid_t tid)
{
	resume(t, tid, PTRACE_CONT, 0);
}

/* --- starting ------------------------------------------------------------- */

static const uintptr_t seize_options = PTRACE_O_TRACECLONE | PTRACE_O_TRACEEXEC;

/* The child of tracee_start(): waits until it is traced, then becomes the program. */
static _Noreturn void
become(char *const *argv, int in, int out, int go, int failed)
{
	char byte;
	int error;

	setpgid(0, 0); /* the terminal's signals are for the tracer, which ends it */
	if (read(go, &byte, 1) == 1 && dup2(in, STDIN_FILENO) >= 0 &&
		dup2(out, STDOUT_FILENO) >= 0) {
		/* the same addresses every time; where that is forbidden it does without */
		personality(ADDR_NO_RANDOMIZE);
		execvp(argv[0], argv);
	}
	error = errno;
	if (write(failed, &error, sizeof(error)) < 0)
		_exit(126);
	_exit(127);
}

static void
seize(struct tracee *t, pid_t tid, uintptr_t options)
{
	if (ptrace(PTRACE_SEIZE, tid, NULL, (void *)options) != 0)
		die(EXIT_FAIL, "cannot trace process %d: %s; ptrace must be allowed", (int)tid,
			strerror(errno));
	add_thread(t, tid);
}

void
tracee_start(struct tracee *t, char *const *argv, int in, int out, unsigned int timeout_s)
{
	int go[2], failed[2], error;
	const char byte = 0;
	ssize_t n;

	*t = (struct tracee){.alive = true};
	t->deadline_ns = monotonic_ns() + timeout_s * NS_PER_S;
	if (pipe2(go, O_CLOEXEC) != 0 || pipe2(failed, O_CLOEXEC) != 0)
		die(EXIT_FAIL, "pipe failed: %s", strerror(errno));
	t->pid = fork();
	if (t->pid < 0)
		die(EXIT_FAIL, "fork failed: %s", strerror(errno));
	if (t->pid == 0)
		become(argv, in, out, go[0], failed[1]);
	close(go[0]);
	close(failed[1]);
	seize(t, t->pid, seize_options | PTRACE_O_EXITKILL);
	catch_signals();
	if (write(go[1], &byte, 1) != 1)
		die(EXIT_FAIL, "cannot start %s: %s", argv[0], strerror(errno));
	close(go[1]);
	/* the pipe closes at exec, where the child stops, or brings the reason */
	do
		n = read(failed[0], &error, sizeof(error));
	while (n < 0 && errno == EINTR);
	close(failed[0]);
	if (n == sizeof(error))
		die(EXIT_BAD, "cannot run %s: %s", argv[0], strerror(error));
}

/* Seizes the threads that are there. True if there was one that was not seized before. */
static bool
seize_threads(struct tracee *t)
{
	char *path = xasprintf("/proc/%d/task", (int)t->pid);
	DIR *dir = opendir(path);
	struct dirent *entry;
	bool found = false;
	uint64_t tid;

	if (dir == NULL)
		die(EXIT_BAD, "there is no process %d", (int)t->pid);
	while ((entry = readdir(dir)) != NULL) {
		if (parse_u64(entry->d_name, &tid) != 0 || find_thread(t, (pid_t)tid) != NULL)
			continue;
		seize(t, (pid_t)tid, seize_options);
		found = true;
	}
	closedir(dir);
	free(path);
	return found;
}

void
tracee_attach(struct tracee *t, pid_t pid, unsigned int timeout_s)
{
	*t = (struct tracee){.pid = pid, .attached = true, .alive = true, .started = true};
	t->deadline_ns = monotonic_ns() + timeout_s * NS_PER_S;
	/* threads may start threads meanwhile: again, until there is none new */
	while (seize_threads(t))
		;
	catch_signals();
	if (ptrace(PTRACE_INTERRUPT, pid, NULL, NULL) != 0)
		die(EXIT_FAIL, "cannot stop process %d: %s", (int)pid, strerror(errno));
}

/* --- the breakpoint ------------------------------------------------------- */

static uint64_t
peek(pid_t tid, uint64_t address)
{
	long word;

	errno = 0;
	word = ptrace(PTRACE_PEEKTEXT, tid, (void *)(uintptr_t)address, NULL);
	if (word == -1 && errno != 0)
		die(EXIT_FAIL, "cannot read the code at 0x%" PRIx64 ": %s", address,
			strerror(errno));
	return (uint64_t)word;
}

static void
poke(pid_t tid, uint64_t address, uint64_t word)
{
	if (ptrace(PTRACE_POKETEXT, tid, (void *)(uintptr_t)address, (void *)(uintptr_t)word) != 0)
		die(EXIT_FAIL, "cannot write the code at 0x%" PRIx64 ": %s", address,
			strerror(errno));
}

static pid_t
stopped_thread(const struct tracee *t)
{
	for (size_t i = 0; i < t->n; i++) {
		if (t->thread[i].stopped)
			return t->thread[i].tid;
	}
	die(EXIT_FAIL, "no thread of process %d is stopped", (int)t->pid);
}

static void
insert(struct tracee *t, pid_t tid)
{
	poke(tid, t->breakpoint, (t->saved & ~INT3_MASK) | INT3);
	t->inserted = true;
}

static void
take_out(struct tracee *t, pid_t tid)
{
	poke(tid, t->breakpoint, t->saved);
	t->inserted = false;
}

void
tracee_break(struct tracee *t, uint64_t address)
{
	const pid_t tid = stopped_thread(t);

	t->breakpoint = address;
	t->saved = peek(tid, address);
	insert(t, tid);
}

size_t
tracee_read(const struct tracee *t, uint64_t address, void *buffer, size_t size)
{
	struct iovec here = {.iov_base = buffer, .iov_len = size};
	struct iovec there = {.iov_base = (void *)(uintptr_t)address, .iov_len = size};
	const ssize_t n = process_vm_readv(t->pid, &here, 1, &there, 1, 0);

	if (n <= 0)
		return 0;
	if (t->inserted && t->breakpoint >= address && t->breakpoint - address < (uint64_t)n)
		((unsigned char *)buffer)[t->breakpoint - address] = (unsigned char)t->saved;
	return (size_t)n;
}

/* --- registers ------------------------------------------------------------ */

void
tracee_regs(const struct tracee *t, pid_t tid, struct user_regs_struct *regs)
{
	if (ptrace(PTRACE_GETREGS, tid, NULL, regs) != 0)
		die(EXIT_FAIL, "cannot read the registers of thread %d of process %d: %s", (int)tid,
			(int)t->pid, strerror(errno));
}

/* After int3 the instruction pointer stands behind it. True if it was ours; moves it back. */
static bool
back_to_breakpoint(const struct tracee *t, pid_t tid)
{
	struct user_regs_struct regs;

	if (!t->inserted)
		return false;
	tracee_regs(t, tid, &regs);
	if (regs.rip != t->breakpoint + 1)
		return false;
	regs.rip = t->breakpoint;
	if (ptrace(PTRACE_SETREGS, tid, NULL, &regs) != 0)
		die(EXIT_FAIL, "cannot write the registers of thread %d: %s", (int)tid,
			strerror(errno));
	return true;
}

/* --- events --------------------------------------------------------------- */

static bool
is_group_stop(int status)
{
	const int signo = WSTOPSIG(status);

	return status >> 16 == PTRACE_EVENT_STOP &&
	       (signo == SIGSTOP || signo == SIGTSTP || signo == SIGTTIN || signo == SIGTTOU);
}

/*
 * Answers what needs no decision: threads that come and go, group stops, signals of
 * its own. True if the event is one for the caller, left unanswered.
 */
static bool
handle(struct tracee *t, pid_t tid, int status, enum tracee_event *event)
{
	if (WIFEXITED(status) || WIFSIGNALED(status)) {
		note_end(t, tid, status);
		*event = TRACEE_ENDED;
		return !t->alive;
	}
	add_thread(t, tid)->stopped = true;
	if (status >> 16 == PTRACE_EVENT_EXEC) {
		/* the other threads are gone, and so is the code the breakpoint stood in */
		t->thread[0] = *find_thread(t, tid);
		t->n = 1;
		t->inserted = false;
		t->breakpoint = 0;
		t->started = true;
		*event = TRACEE_PROGRAM;
		return true;
	}
	if (is_group_stop(status)) {
		resume(t, tid, PTRACE_LISTEN, 0);
		return false;
	}
	if (status >> 16 != 0) {
		/* a new thread, or the stop that attaching asked for: the caller may want it */
		*event = TRACEE_PROGRAM;
		if (t->attached && t->breakpoint == 0 && tid == t->pid)
			return true;
		tracee_continue(t, tid);
		return false;
	}
	if (WSTOPSIG(status) == SIGTRAP && back_to_breakpoint(t, tid)) {
		*event = TRACEE_REACHED;
		return true;
	}
	resume(t, tid, PTRACE_CONT, WSTOPSIG(status));
	return false;
}

/* An event met while another thread was waited for. */
static bool
take_event(struct tracee *t, pid_t *tid, int *status)
{
	for (size_t i = 0; i < t->n; i++) {
		if (!t->thread[i].has_event)
			continue;
		t->thread[i].has_event = false;
		*tid = t->thread[i].tid;
		*status = t->thread[i].event;
		return true;
	}
	return false;
}

enum tracee_event
tracee_wait(struct tracee *t, pid_t *tid)
{
	enum tracee_event event;
	int status;

	for (;;) {
		if (!take_event(t, tid, &status)) {
			*tid = wait_for(t, -1, &status);
			if (*tid == 0)
				return asked_to_end != 0 ? TRACEE_SIGNAL : TRACEE_TIMEOUT;
			if (*tid < 0)
				return TRACEE_ENDED;
		}
		if (handle(t, *tid, status, &event))
			return event;
	}
}

/* --- stepping ------------------------------------------------------------- */

/*
 * Stops every other running thread. Those that meet something else meanwhile keep it
 * as their event. Threads that end are forgotten.
 */
static void
freeze_others(struct tracee *t, pid_t tid)
{
	struct tracee_thread *other;
	int status = 0;
	pid_t got;

	for (size_t i = 0; i < t->n;) {
		other = &t->thread[i];
		if (other->tid == tid || other->stopped) {
			i++;
			continue;
		}
		ptrace(PTRACE_INTERRUPT, other->tid, NULL, NULL);
		got = waitpid(other->tid, &status, __WALL);
		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0 || WIFEXITED(status) || WIFSIGNALED(status)) {
			note_end(t, other->tid, status);
			continue;
		}
		other->stopped = true;
		other->has_event = true;
		other->event = status;
		i++;
	}
}

/* Lets run those that were stopped for no reason of their own. */
static void
thaw_others(struct tracee *t, pid_t tid)
{
	struct tracee_thread *other;

	for (size_t i = 0; i < t->n; i++) {
		other = &t->thread[i];
		if (other->tid == tid || !other->has_event ||
			other->event >> 16 != PTRACE_EVENT_STOP ||
			WSTOPSIG(other->event) != SIGTRAP)
			continue;
		other->has_event = false;
		tracee_continue(t, other->tid);
	}
}

/* True if the process has a handler for a signal ("SigCgt" of proc(5), bit 0 is signal 1). */
static bool
is_caught(const struct tracee *t, int signo)
{
	char *path = xasprintf("/proc/%d/status", (int)t->pid), *line = NULL;
	FILE *f = fopen(path, "re");
	uint64_t mask = 0;
	size_t room = 0;

	while (f != NULL && getline(&line, &room, f) >= 0) {
		if (sscanf(line, "SigCgt: %" SCNx64, &mask) == 1)
			break;
	}
	if (f != NULL)
		fclose(f);
	free(line);
	free(path);
	return (mask >> (signo - 1) & 1) != 0;
}

/* One step; what the thread meets besides is answered, its signals are delivered. */
static enum tracee_step
step_once(struct tracee *t, pid_t tid)
{
	enum tracee_step done = STEP_DONE;
	int status, signo = 0;
	pid_t got;

	for (;;) {
		resume(t, tid, PTRACE_SINGLESTEP, signo);
		got = wait_for(t, tid, &status);
		if (got == 0)
			return asked_to_end != 0 ? STEP_SIGNAL : STEP_TIMEOUT;
		if (got < 0 || WIFEXITED(status) || WIFSIGNALED(status)) {
			note_end(t, tid, status);
			return STEP_ENDED;
		}
		add_thread(t, tid)->stopped = true;
		if (status >> 16 == 0 && WSTOPSIG(status) == SIGTRAP)
			return done;
		/* delivering a signal to a handler stops before the handler's first instruction */
		signo = status >> 16 == 0 ? WSTOPSIG(status) : 0;
		if (signo != 0 && is_caught(t, signo))
			done = STEP_HANDLER;
	}
}

enum tracee_step
tracee_step(struct tracee *t, pid_t tid, uint64_t address)
{
	enum tracee_step done;

	if (!t->inserted || address != t->breakpoint)
		return step_once(t, tid);
	/* no other thread may pass while the breakpoint is out */
	freeze_others(t, tid);
	take_out(t, tid);
	done = step_once(t, tid);
	if (done == STEP_DONE || done == STEP_HANDLER)
		insert(t, tid);
	thaw_others(t, tid);
	return done;
}

/* --- ending --------------------------------------------------------------- */

/* True if a thread has executed int3 but was stopped before it could say so. */
static bool
has_pending_trap(pid_t tid)
{
	struct __ptrace_peeksiginfo_args args = {.nr = 32};
	siginfo_t pending[32];
	const long n = ptrace(PTRACE_PEEKSIGINFO, tid, &args, pending);

	for (long i = 0; i < n; i++) {
		if (pending[i].si_signo == SIGTRAP)
			return true;
	}
	return false;
}

/*
 * Puts a stopped thread that is at the breakpoint's trap, or has met it unseen, back
 * before the breakpoint, with nothing left to be delivered.
 */
static void
settle(struct tracee *t, struct tracee_thread *thread)
{
	int status;

	while (thread->has_event && thread->event >> 16 != 0 && has_pending_trap(thread->tid)) {
		if (ptrace(PTRACE_CONT, thread->tid, NULL, NULL) != 0 ||
			waitpid(thread->tid, &status, __WALL) != thread->tid)
			return;
		thread->event = status;
		if (WIFEXITED(status) || WIFSIGNALED(status))
			return;
	}
	if (thread->has_event && thread->event >> 16 == 0 && WSTOPSIG(thread->event) == SIGTRAP)
		back_to_breakpoint(t, thread->tid);
}

void
tracee_detach(struct tracee *t)
{
	int signo;

	if (!t->alive)
		return;
	freeze_others(t, 0);
	for (size_t i = 0; i < t->n; i++)
		settle(t, &t->thread[i]);
	if (t->inserted && t->n > 0)
		take_out(t, t->thread[0].tid);
	for (size_t i = 0; i < t->n; i++) {
		const int event = t->thread[i].event;

		/* a signal that was on its way still gets there */
		signo = t->thread[i].has_event && event >> 16 == 0 && WSTOPSIG(event) != SIGTRAP
				? WSTOPSIG(event)
				: 0;
		ptrace(PTRACE_DETACH, t->thread[i].tid, NULL, (void *)(intptr_t)signo);
	}
	t->n = 0;
}

void
tracee_stop(struct tracee *t)
{
	int status;

	if (!t->alive)
		return;
	if (t->attached) {
		tracee_detach(t);
		return;
	}
	kill(t->pid, SIGKILL);
	while (waitpid(t->pid, &status, __WALL) < 0 && errno == EINTR)
		;
	t->alive = false;
	t->status = status;
}

void
tracee_free(struct tracee *t)
{
	free(t->thread);
	*t = (struct tracee){0};
}
