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

/* Run FUNCTION in a child, its stderr thrown away; true when it was ended by SIGABRT. */
bool
aborts(void (*function)(void))
{
	int status;
	pid_t pid;

	fflush(stdout);
	pid = fork();
	if (pid == 0) {
		if (freopen("/dev/null", "w", stderr) == NULL)
			_exit(1);
		function();
		_exit(0);
	}
	return pid > 0 && waitpid(pid, &status, 0) == pid && WIFSIGNALED(status) &&
	       WTERMSIG(status) == SIGABRT;
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
