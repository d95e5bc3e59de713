/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A process under ptrace with all its threads: one breakpoint, and single-stepping of
 * the thread that hits it while the others run on.
 */
#ifndef MPPSDIFF_TRACEE_H
#define MPPSDIFF_TRACEE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include <sys/user.h>

struct tracee_thread {
	pid_t tid;
	bool stopped;	/* in a ptrace stop that was not answered yet */
	bool has_event; /* event was reported while another thread was waited for */
	int event;	/* as waitpid(2) gave it */
};

struct tracee {
	pid_t pid;
	bool attached; /* to a running process, which is left running at the end */
	bool alive;    /* the process has not ended */
	bool started;  /* it has run a program: exec happened, or it was attached to */
	int status;    /* as waitpid(2) gave it, when it is not alive */
	struct tracee_thread *thread;
	size_t n;
	uint64_t breakpoint; /* address, 0 if there is none */
	bool inserted;	     /* int3 stands there */
	uint64_t saved;	     /* the word that stood there */
	uint64_t deadline_ns;
};

/* What tracee_wait() met. */
enum tracee_event {
	TRACEE_ENDED,	/* the process has ended; status says how */
	TRACEE_PROGRAM, /* it runs a new program; no breakpoint is set there */
	TRACEE_REACHED, /* thread *tid stands at the breakpoint, before its instruction */
	TRACEE_TIMEOUT,
	TRACEE_SIGNAL, /* SIGINT or SIGTERM came for the tracer */
};

/* What one step of a thread met. */
enum tracee_step {
	STEP_DONE,
	STEP_HANDLER, /* none was executed: a signal came, the thread stands in its handler */
	STEP_ENDED,   /* thread or process ended */
	STEP_TIMEOUT,
	STEP_SIGNAL,
};

/*
 * Starts a program without address randomisation, with its stdin from, and its
 * stdout to, these descriptors; or attaches to a process. Dies if it cannot.
 */
void tracee_start(struct tracee *t, char *const *argv, int in, int out, unsigned int timeout_s);
void tracee_attach(struct tracee *t, pid_t pid, unsigned int timeout_s);

/* Lets the threads run until something is met. */
enum tracee_event tracee_wait(struct tracee *t, pid_t *tid);

/* Sets the breakpoint; some thread must be stopped. Dies if it cannot. */
void tracee_break(struct tracee *t, uint64_t address);

/* Registers of a stopped thread; dies if they cannot be read. */
void tracee_regs(const struct tracee *t, pid_t tid, struct user_regs_struct *regs);

/* Executes one instruction of a stopped thread. Signals it gets are delivered. */
enum tracee_step tracee_step(struct tracee *t, pid_t tid, uint64_t address);

/* Lets a stopped thread run on. */
void tracee_continue(struct tracee *t, pid_t tid);

/* Reads memory; returns how many of size bytes there are. The breakpoint is not seen. */
size_t tracee_read(const struct tracee *t, uint64_t address, void *buffer, size_t size);

/* True if the time is up, or a signal asked the tracer to end. */
bool tracee_is_late(const struct tracee *t);

/* Takes the breakpoint out and lets go of all threads. */
void tracee_detach(struct tracee *t);

/* Ends a process that was started; one that was attached to is let go. */
void tracee_stop(struct tracee *t);

void tracee_free(struct tracee *t);

#endif
