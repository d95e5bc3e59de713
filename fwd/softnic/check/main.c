/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Tests of the software NIC through rdma-core's ABI, the way a driver uses it: create queues, post
 * work, step the device, read completions. Prints TAP. Run it below reproducers/softnic in inline
 * mode; bats/softnic.bats does.
 *
 * Expectations come from the PRM, from libmlx5's sizes and from an own Toeplitz hash, never from
 * the library's code.
 */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "check.h"

struct ibv_context *ctx;
struct ibv_pd *pd;
static int number, failures;

void
ok(bool good, const char *what)
{
	printf("%sok %d - %s\n", good ? "" : "not ", ++number, what);
	fflush(stdout);
	failures += !good;
}

void *
must(void *p, const char *what)
{
	if (p == NULL) {
		printf("Bail out! %s: %s\n", what, strerror(errno));
		exit(1);
	}
	return p;
}

/* Run FUNCTION in a child; true when it was ended by SIGABRT and its last words have TEXT in them.
 */
bool
aborts(void (*function)(void), const char *text)
{
	char words[1024] = "";
	int pipefd[2], status;
	ssize_t n, have = 0;
	pid_t pid;

	fflush(stdout);
	if (pipe(pipefd) != 0)
		return false;
	pid = fork();
	if (pid == 0) {
		dup2(pipefd[1], STDERR_FILENO);
		close(pipefd[0]);
		close(pipefd[1]);
		function();
		_exit(0);
	}
	close(pipefd[1]);
	while ((n = read(pipefd[0], words + have, sizeof(words) - 1 - (size_t)have)) > 0)
		have += n;
	words[have] = '\0';
	close(pipefd[0]);
	return pid > 0 && waitpid(pid, &status, 0) == pid && WIFSIGNALED(status) &&
	       WTERMSIG(status) == SIGABRT && strstr(words, text) != NULL;
}

int
main(void)
{
	struct ibv_device **list;
	int count = 0;

	if (softnic_inline() != 1) {
		printf("Bail out! run this below reproducers/softnic --mode inline\n");
		return 2;
	}
	list = must(ibv_get_device_list(&count), "device list");
	if (count < 1) {
		printf("Bail out! no software NIC\n");
		return 2;
	}
	ctx = must(ibv_open_device(list[0]), "open_device");
	pd = must(ibv_alloc_pd(ctx), "alloc_pd");
	check_control();
	check_rx();
	check_steering();
	check_tx();
	ok(ibv_dealloc_pd(pd) == 0 && ibv_close_device(ctx) == 0, "the device closes");
	ibv_free_device_list(list);
	printf("1..%d\n", number);
	return failures > 0;
}
