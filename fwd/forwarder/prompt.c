/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Control by a human, as in testpmd: a small prompt with -i, and without it forwarding until Enter
 * or a signal. A signal arrives as a byte in a pipe, so that none can slip in between looking for
 * it and waiting.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "fwd.h"

#define COMMAND_MAX	 128  /* bytes of a command line */
#define CHUNK_ITERATIONS 4096 /* of a forwarding main lcore between looks at the input */

enum event {
	EVENT_INPUT, /* something to read, or the end of it */
	EVENT_SIGNAL,
	EVENT_TIMEOUT,
	EVENT_ERROR,
};

static int signal_pipe[2];

static void
on_signal(int number)
{
	const int saved = errno;
	const char byte = (char)number;

	if (write(signal_pipe[1], &byte, 1) < 0) {
		/* The pipe is full: there is a signal in it already. */
	}
	errno = saved;
}

static int
catch_signals(void)
{
	struct sigaction action;

	memset(&action, 0, sizeof(action));
	action.sa_handler = on_signal;
	sigemptyset(&action.sa_mask);
	if (pipe(signal_pipe) != 0 || fcntl(signal_pipe[1], F_SETFL, O_NONBLOCK) != 0 ||
		sigaction(SIGINT, &action, NULL) != 0 || sigaction(SIGTERM, &action, NULL) != 0) {
		fwd_error("signals cannot be caught: %s", strerror(errno));
		return FWD_FAILED;
	}
	return FWD_OK;
}

/* Waits for an event up to TIMEOUT milliseconds, negative: for ever. Input only if WATCHED. */
static enum event
wait_event(bool watched, int timeout)
{
	struct pollfd fds[] = {
		{.fd = signal_pipe[0], .events = POLLIN},
		{.fd = STDIN_FILENO, .events = POLLIN},
	};
	int n;

	do {
		n = poll(fds, watched ? 2 : 1, timeout);
	} while (n < 0 && errno == EINTR && timeout < 0);
	if (n < 0 && errno != EINTR) {
		fwd_error("poll: %s", strerror(errno));
		return EVENT_ERROR;
	}
	if (n <= 0)
		return EVENT_TIMEOUT;
	return fds[0].revents != 0 ? EVENT_SIGNAL : EVENT_INPUT;
}

static int64_t
now_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now); /* cannot fail with this clock */
	return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

static void
stop_and_show(struct fwd_app *app)
{
	printf("Telling cores to stop...\nWaiting for lcores to finish...\n");
	fwd_stop(app);
	fwd_stats_forward(app);
	printf("\nDone.\n");
}

/* A character ends forwarding, as in testpmd; with statistics the end of input does not. */
static bool
input_ends(bool *watched, bool ends_at_eof)
{
	char c;
	const ssize_t n = read(STDIN_FILENO, &c, 1);

	if (n > 0)
		return true;
	*watched = false;
	return ends_at_eof;
}

/* Forwards until Enter, the end of input or a signal, with statistics each period. */
int
fwd_batch_mode(struct fwd_app *app)
{
	const int64_t period = (int64_t)app->opt.stats_period * 1000;
	int64_t due = now_ms() + period;
	bool watched = true, done = false;
	int ret;

	ret = catch_signals();
	if (ret == FWD_OK)
		ret = fwd_start(app);
	if (ret != FWD_OK)
		return ret;
	if (period == 0)
		printf("Press enter to exit\n");
	fflush(stdout);
	while (!done) {
		int timeout = -1;

		if (app->main_forwards) {
			fwd_iterate(&app->lcores[0], CHUNK_ITERATIONS);
			timeout = 0;
		} else if (period != 0) {
			timeout = (int)RTE_MAX(due - now_ms(), (int64_t)0);
		}
		switch (wait_event(watched, timeout)) {
		case EVENT_INPUT:
			done = input_ends(&watched, period == 0);
			break;
		case EVENT_TIMEOUT:
			break;
		case EVENT_SIGNAL:
			done = true;
			break;
		case EVENT_ERROR:
			done = true;
			ret = FWD_FAILED;
			break;
		}
		if (period != 0 && now_ms() >= due) {
			fwd_stats_ports(app);
			fflush(stdout);
			due += period;
		}
	}
	stop_and_show(app);
	return ret;
}

/* One command; returns whether it was the last. */
static bool
obey(struct fwd_app *app, const char *command, int *ret)
{
	if (strcmp(command, "start") == 0) {
		if (app->forwarding)
			printf("Packet forwarding already started\n");
		else
			*ret = fwd_start(app);
	} else if (strcmp(command, "stop") == 0) {
		if (app->forwarding)
			stop_and_show(app);
		else
			printf("Packet forwarding not started\n");
	} else if (strcmp(command, "show port stats all") == 0) {
		fwd_stats_ports(app);
	} else if (strcmp(command, "help") == 0) {
		printf("Commands: start, stop, show port stats all, help, quit\n");
	} else if (strcmp(command, "quit") == 0) {
		return true;
	} else if (command[0] != '\0') {
		printf("Command not found\n");
	}
	return *ret != FWD_OK;
}

/*
 * Waits for a line and reads it, without blanks at either end. Returns whether there was one; not
 * so after the end of input and after a signal.
 */
static bool
read_command(char command[COMMAND_MAX])
{
	size_t length = 0, blanks;
	char c = '\0';

	while (c != '\n') {
		if (wait_event(true, -1) != EVENT_INPUT || read(STDIN_FILENO, &c, 1) <= 0)
			return false;
		if (c != '\n' && length < COMMAND_MAX - 1)
			command[length++] = c;
	}
	while (length > 0 && (command[length - 1] == ' ' || command[length - 1] == '\r'))
		length--;
	command[length] = '\0';
	blanks = strspn(command, " ");
	memmove(command, command + blanks, length - blanks + 1);
	return true;
}

/* The prompt of -i: until quit, the end of input or a signal. */
int
fwd_prompt(struct fwd_app *app)
{
	char command[COMMAND_MAX];
	bool done = false;
	int ret;

	ret = catch_signals();
	if (ret == FWD_OK && app->opt.auto_start)
		ret = fwd_start(app);
	if (ret != FWD_OK)
		return ret;
	while (!done) {
		printf("testpmd> ");
		fflush(stdout);
		if (!read_command(command))
			break;
		done = obey(app, command, &ret);
	}
	if (app->forwarding)
		stop_and_show(app);
	return ret;
}
