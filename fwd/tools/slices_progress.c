/* SPDX-License-Identifier: BSD-3-Clause */
/* The progress line of slices. */
#include "slices_run.h"

#include <stdarg.h>
#include <stdio.h>
#include <unistd.h>

/* Seldom, so that drawing it does not disturb what is measured. */
#define EVERY_NS INT64_C(1000000000)

static const char *label; /* NULL: no progress is shown */
static int64_t shown_ns;  /* 0: nothing is on the screen */

void
progress_init(const char *name)
{
	if (isatty(STDERR_FILENO))
		label = name;
}

void
progress_show(const char *fmt, ...)
{
	int64_t now = now_ns();
	va_list ap;

	if (label == NULL || (shown_ns != 0 && now - shown_ns < EVERY_NS))
		return;
	shown_ns = now;
	fprintf(stderr, "\r%s ", label);
	va_start(ap, fmt);
	vfprintf(stderr, fmt, ap);
	va_end(ap);
	fputs("\033[K", stderr);
	fflush(stderr);
}

void
progress_clear(void)
{
	if (shown_ns != 0)
		fputs("\r\033[K", stderr);
	shown_ns = 0;
}
