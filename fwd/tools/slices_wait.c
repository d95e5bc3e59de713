/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Whether a slice had its CPU to itself: the kernel counts for each thread how long it ran and how
 * long it waited to run (/proc/PID/task/TID/schedstat). This is asked of the scheduler, never of
 * the cycles that were measured, so leaving out slices by it cannot favour a variant.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "slices_run.h"
#include "util.h"

/* A thread worked in a slice if it ran at least this share of what the busiest ran. */
#define WORKED 0.5

struct thread_times {
	int fd;
	uint64_t ran, waited; /* ns, when marked */
};

static bool
times_read(const struct thread_times *t, uint64_t *ran, uint64_t *waited)
{
	char text[128];
	ssize_t n = pread(t->fd, text, sizeof(text) - 1, 0);

	if (n <= 0)
		return false;
	text[n] = '\0';
	return sscanf(text, "%" SCNu64 " %" SCNu64, ran, waited) == 2;
}

int
waits_open(struct waits *w, pid_t pid)
{
	char *path = xasprintf("/proc/%d/task", (int)pid);
	DIR *dir = opendir(path);
	const struct dirent *entry;
	int ret = 0;

	*w = (struct waits){0};
	if (dir == NULL) {
		ret = -errno;
		free(path);
		return ret;
	}
	while ((entry = readdir(dir)) != NULL) {
		char *file;
		int fd;

		if (entry->d_name[0] == '.')
			continue;
		file = xasprintf("%s/%s/schedstat", path, entry->d_name);
		fd = open(file, O_RDONLY | O_CLOEXEC);
		free(file);
		if (fd < 0)
			continue; /* it has ended since */
		w->thread = xreallocarray(w->thread, w->n + 1, sizeof(*w->thread));
		w->thread[w->n++] = (struct thread_times){.fd = fd};
	}
	closedir(dir);
	free(path);
	return ret;
}

void
waits_close(struct waits *w)
{
	for (size_t i = 0; i < w->n; i++)
		close(w->thread[i].fd);
	free(w->thread);
	*w = (struct waits){0};
}

void
waits_mark(struct waits *w)
{
	for (size_t i = 0; i < w->n; i++) {
		struct thread_times *t = &w->thread[i];

		if (!times_read(t, &t->ran, &t->waited))
			t->ran = t->waited = UINT64_MAX;
	}
}

double
waits_share(const struct waits *w)
{
	double share = 0, most = 0;

	/* first the busiest, then the worst of those that worked like it */
	for (int pass = 0; pass < 2; pass++) {
		for (size_t i = 0; i < w->n; i++) {
			const struct thread_times *t = &w->thread[i];
			uint64_t ran, waited;
			double r, d;

			if (!times_read(t, &ran, &waited) || ran < t->ran || waited < t->waited)
				continue;
			r = (double)(ran - t->ran);
			d = (double)(waited - t->waited);
			if (pass == 0)
				most = r > most ? r : most;
			else if (r > 0 && r >= WORKED * most && d / (r + d) > share)
				share = d / (r + d);
		}
	}
	return share;
}
