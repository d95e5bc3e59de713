/* SPDX-License-Identifier: BSD-3-Clause */
/* One forwarder process: see proc.h. */
#include "proc.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>

#include "slices.h"

/* Leaves the child with one line in its log. */
static _Noreturn void
child_fail(const char *what, const char *path)
{
	dprintf(STDERR_FILENO, "cannot %s %s: %s\n", what, path, strerror(errno));
	_exit(127);
}

static void
child_pad(uint64_t bytes)
{
	char *pad;

	if (bytes == 0) {
		unsetenv("MPPSDIFF_PAD");
		return;
	}
	pad = malloc(bytes + 1);
	if (pad == NULL)
		child_fail("allocate", "MPPSDIFF_PAD");
	memset(pad, 'x', bytes);
	pad[bytes] = '\0';
	if (setenv("MPPSDIFF_PAD", pad, 1) != 0)
		child_fail("set", "MPPSDIFF_PAD");
}

static void
child_env(char *const *env)
{
	for (; env != NULL && *env != NULL; env++) {
		if (putenv(*env) != 0)
			child_fail("set", *env);
	}
}

/*
 * In the child: undoes what the parent did to its signals. A shell without job
 * control ignores SIGINT in background jobs; that shall not go on either.
 */
static void
child_signals(void)
{
	static const int changed[] = {SIGPIPE, SIGXFSZ, SIGINT, SIGTERM};
	sigset_t none;

	for (size_t i = 0; i < sizeof(changed) / sizeof(changed[0]); i++)
		signal(changed[i], SIG_DFL);
	sigemptyset(&none);
	if (sigprocmask(SIG_SETMASK, &none, NULL) != 0)
		child_fail("reset", "signals");
}

/* In the child: everything between fork and exec. in, out and log are its 0, 1 and 2. */
static _Noreturn void
child_run(const struct proc_start *start, pid_t parent, int in, int out, int log)
{
	if (dup2(log, STDERR_FILENO) < 0 || dup2(in, STDIN_FILENO) < 0 ||
		dup2(out, STDOUT_FILENO) < 0)
		_exit(127);
	/*
	 * A group of its own: Ctrl-C in a terminal reaches only slices, which
	 * ends the children in order. If slices is killed, the kernel kills
	 * them; if that was before prctl(), the parent has changed already.
	 */
	if (setpgid(0, 0) != 0 || prctl(PR_SET_PDEATHSIG, SIGKILL) != 0)
		child_fail("set up", "the process");
	if (getppid() != parent)
		_exit(127);
	if (start->cpus != NULL && sched_setaffinity(0, sizeof(*start->cpus), start->cpus) != 0)
		child_fail("pin", start->argv[0]);
	child_pad(start->env_bytes);
	child_env(start->env);
	child_signals();
	execv(start->argv[0], start->argv);
	child_fail("execute", start->argv[0]);
}

static void
close_fd(int *fd)
{
	if (*fd >= 0)
		close(*fd);
	*fd = -1;
}

/* Both ends of a terminal that passes on every byte as it is; out[0] is ours. 0 or -errno. */
static int
open_terminal(int out[2])
{
	struct termios raw;
	char name[64];
	int ret;

	out[0] = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);
	if (out[0] < 0)
		return -errno;
	ret = grantpt(out[0]) != 0 || unlockpt(out[0]) != 0 ? errno
							    : ptsname_r(out[0], name, sizeof(name));
	if (ret != 0)
		goto out_close;
	out[1] = open(name, O_RDWR | O_NOCTTY | O_CLOEXEC);
	if (out[1] < 0) {
		ret = errno;
		goto out_close;
	}
	if (tcgetattr(out[1], &raw) == 0) {
		cfmakeraw(&raw);
		if (tcsetattr(out[1], TCSANOW, &raw) == 0)
			return 0;
	}
	ret = errno;
	close(out[1]);
out_close:
	close(out[0]);
	return -ret;
}

static int
open_output(int out[2], bool terminal)
{
	if (terminal)
		return open_terminal(out);
	return pipe2(out, O_CLOEXEC) == 0 ? 0 : -errno;
}

int
proc_start(struct proc *p, const struct proc_start *start)
{
	int in[2], out[2], log, ret;
	pid_t parent = getpid();

	log = open(p->log_path, O_WRONLY | O_CREAT | O_TRUNC | O_APPEND | O_CLOEXEC, 0666);
	if (log < 0)
		return -errno;
	if (pipe2(in, O_CLOEXEC) != 0) {
		ret = -errno;
		goto out_log;
	}
	ret = open_output(out, start->terminal);
	if (ret != 0)
		goto out_in;
	if (fcntl(out[0], F_SETFL, O_NONBLOCK) != 0) {
		ret = -errno;
		goto out_out;
	}
	p->pid = fork();
	if (p->pid < 0) {
		ret = -errno;
		p->pid = 0;
		goto out_out;
	}
	if (p->pid == 0)
		child_run(start, parent, in[0], out[1], log);
	/* the child does this too; whoever comes first, it is done before anybody kills */
	setpgid(p->pid, p->pid);
	p->to = in[1];
	p->from = out[0];
	close(in[0]);
	close(out[1]);
	close(log);
	return 0;

out_out:
	close(out[0]);
	close(out[1]);
out_in:
	close(in[0]);
	close(in[1]);
out_log:
	close(log);
	return ret;
}

int
proc_send(struct proc *p, const char *text)
{
	size_t len = strlen(text);

	/* far below PIPE_BUF and never a second command before the answer: one write takes all */
	return write(p->to, text, len) == (ssize_t)len ? 0 : -errno;
}

void
proc_hang_up(struct proc *p)
{
	close_fd(&p->to);
}

void
proc_read(struct proc *p)
{
	ssize_t n;

	while (p->from >= 0 && p->len < sizeof(p->buf)) {
		n = read(p->from, p->buf + p->len, sizeof(p->buf) - p->len);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0 && errno == EAGAIN)
			return;
		if (n <= 0)
			close_fd(&p->from);
		else
			p->len += (size_t)n;
	}
}

int
proc_line(struct proc *p, char line[PROC_LINE_MAX])
{
	const char *end = memchr(p->buf, '\n', p->len);
	size_t len;

	if (end == NULL)
		return p->len == sizeof(p->buf) ? -EPROTO : 0;
	len = (size_t)(end - p->buf);
	memcpy(line, p->buf, len);
	line[len] = '\0';
	p->len -= len + 1;
	memmove(p->buf, end + 1, p->len);
	return strlen(line) == len ? 1 : -EPROTO;
}

bool
proc_take(struct proc *p, const char *text)
{
	size_t len = strlen(text);

	if (p->len < len || memcmp(p->buf, text, len) != 0)
		return false;
	p->len -= len;
	memmove(p->buf, p->buf + len, p->len);
	return true;
}

void
proc_signal(const struct proc *p, int signo)
{
	if (p->pid > 0)
		kill(-p->pid, signo);
}

bool
proc_reap(struct proc *p)
{
	siginfo_t info = {0};

	if (p->pid == 0)
		return true;
	/* WNOWAIT: until it is reaped its number names this process group and no other */
	if (waitid(P_PID, (id_t)p->pid, &info, WEXITED | WNOHANG | WNOWAIT) == 0 &&
		info.si_pid == 0)
		return false;
	proc_signal(p, SIGKILL);
	if (waitpid(p->pid, &p->status, 0) < 0)
		p->status = 0;
	proc_read(p); /* what it said last */
	p->pid = 0;
	close_fd(&p->to);
	close_fd(&p->from);
	return true;
}

void
proc_ending(const struct proc *p, char *text, size_t size)
{
	if (WIFSIGNALED(p->status))
		snprintf(text, size, "signal %d", WTERMSIG(p->status));
	else
		snprintf(text, size, "exit %d", WEXITSTATUS(p->status));
}

void
proc_last_log_line(const struct proc *p, char *text, size_t size)
{
	char tail[2048], *line, *save = NULL;
	off_t end;
	ssize_t n = -1;
	int fd;

	text[0] = '\0';
	fd = open(p->log_path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return;
	end = lseek(fd, 0, SEEK_END);
	if (end > 0) {
		off_t from = end > (off_t)sizeof(tail) - 1 ? end - (off_t)sizeof(tail) + 1 : 0;

		n = pread(fd, tail, sizeof(tail) - 1, from);
	}
	close(fd);
	if (n <= 0)
		return;
	for (ssize_t i = 0; i < n; i++) {
		if (tail[i] == '\0')
			tail[i] = ' ';
	}
	tail[n] = '\0';
	for (line = strtok_r(tail, "\n", &save); line; line = strtok_r(NULL, "\n", &save)) {
		if (line[strspn(line, " \t\r")] != '\0')
			clean_text(text, size, line);
	}
}
