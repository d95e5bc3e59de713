/* SPDX-License-Identifier: BSD-3-Clause */
/* Messages of the software NIC: one line each on stderr, beginning with "softnic: ". */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "softnic.h"

__attribute__((format(printf, 1, 0))) static void
print_line(const char *format, va_list ap)
{
	char line[512];

	vsnprintf(line, sizeof(line), format, ap);
	/* One call, so that lines of several processes do not mix. */
	fprintf(stderr, "softnic: %s\n", line);
}

void
fatal(const char *format, ...)
{
	va_list ap;

	va_start(ap, format);
	print_line(format, ap);
	va_end(ap);
	abort();
}

/* A switch has a wrong value: the process does not start (exit status 2). */
void
usage(const char *format, ...)
{
	va_list ap;

	va_start(ap, format);
	print_line(format, ap);
	va_end(ap);
	_exit(2);
}

void
warn(const char *format, ...)
{
	va_list ap;

	va_start(ap, format);
	print_line(format, ap);
	va_end(ap);
}

void
trace_call(const char *format, ...)
{
	va_list ap;

	va_start(ap, format);
	print_line(format, ap);
	va_end(ap);
}
