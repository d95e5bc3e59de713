/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Forwarder processes: started with pipes on stdin and stdout (or a terminal
 * there) and a log on stderr, each leading a process group of its own, spoken to line by line.
 * A fleet waits for all of them and for signals at once (proc_fleet.c).
 */
#ifndef MPPSDIFF_PROC_H
#define MPPSDIFF_PROC_H

#include <sched.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

enum {
	PROC_LINE_MAX = 2048,  /* longest line a process may say, newline included */
	PROC_REASON_MAX = 256, /* longest reason for a failure */
};

enum proc_state {
	PROC_NEW,
	PROC_STARTING,
	PROC_READY,
	PROC_FAILED, /* reason says why */
};

struct proc {
	enum proc_state state;
	char reason[PROC_REASON_MAX];
	char ready[PROC_LINE_MAX]; /* its ready line */
	char *log_path;
	unsigned int step;   /* of its start: how many questions it has answered */
	size_t start_order;  /* its place in the order of starts, from 1 */
	int64_t deadline_ns; /* of its start */
	pid_t pid;	     /* 0: not running */
	int status;	     /* as waitpid(2) gave it, once pid is 0 again */
	int to;		     /* its stdin, -1 when closed */
	int from;	     /* its stdout, -1 when closed */
	bool listening;	     /* whether fleet_wait() reads from it */
	size_t len;	     /* bytes in buf */
	char buf[PROC_LINE_MAX];
};

/* What a process is started with. */
struct proc_start {
	char *const *argv;
	uint64_t env_bytes;    /* length of MPPSDIFF_PAD; 0: not set */
	char *const *env;      /* more of its environment: NAME=VALUE, ends with NULL; or NULL */
	bool terminal;	       /* its stdout is a terminal: it writes line by line */
	const cpu_set_t *cpus; /* NULL: as the caller */
};

/* Starts p, which has its log_path. 0 or -errno. A failing exec shows as exit status 127. */
int proc_start(struct proc *p, const struct proc_start *start);

/* Sends text (whole lines). 0 or -errno; -EPIPE when nobody reads. */
int proc_send(struct proc *p, const char *text);

/* Ends its stdin, which ends a forwarder that waits for a command. */
void proc_hang_up(struct proc *p);

/* Reads what is there into buf. Closes from at the end of the stream. */
void proc_read(struct proc *p);

/*
 * Takes one line without its newline out of buf. 1 if there was one, 0 if not
 * yet, -EPROTO if it is too long or holds a NUL byte.
 */
int proc_line(struct proc *p, char line[PROC_LINE_MAX]);

/* Takes text out of buf if buf begins with it. True if it did. */
bool proc_take(struct proc *p, const char *text);

/* Reaps p if it has ended, with everything left in its process group. True if it ended. */
bool proc_reap(struct proc *p);

/* Sends a signal to its process group. */
void proc_signal(const struct proc *p, int signo);

/* "signal 11" or "exit 3": how p ended. */
void proc_ending(const struct proc *p, char *text, size_t size);

/* The last line of its log that is not empty, cleaned; "" if there is none. */
void proc_last_log_line(const struct proc *p, char *text, size_t size);

/* All processes of an epoch. */
struct fleet {
	struct proc *proc;
	size_t n;
	int signals; /* signalfd */
	/* Called when SIGINT, SIGTERM or SIGHUP arrives; must not return. */
	void (*on_stop)(struct fleet *fleet, int signo);
	void *arg;     /* for on_stop */
	bool stopping; /* on_stop has been called */
};

/*
 * Takes over the signals of this process and, at exit, kills what is left of
 * the fleet. Once a process; fleet must stay valid until the program ends.
 */
void fleet_init(struct fleet *fleet, size_t n);
void fleet_free(struct fleet *fleet);

/*
 * Waits until a listening process said or closed something, any process ended,
 * or now_ns() reaches deadline_ns, whichever comes first.
 */
void fleet_wait(struct fleet *fleet, int64_t deadline_ns);

/*
 * Ends one process, or all if p is NULL: end of its input and SIGTERM, after a
 * grace period SIGKILL.
 */
void fleet_kill(struct fleet *fleet, struct proc *p);

/* Sends `quit` to all that are ready, waits until they end, kills those that do not. */
void fleet_quit(struct fleet *fleet);

/* Monotonic time in nanoseconds. */
int64_t now_ns(void);

#endif
