/* SPDX-License-Identifier: BSD-3-Clause */
/* What refuse.c and unknown.c share; neither includes the public headers. */
#ifndef SOFTNIC_REFUSE_H
#define SOFTNIC_REFUSE_H

#define API __attribute__((visibility("default")))

void refuse_trace(const char *name);
void unknown_call(const char *name) __attribute__((noreturn));

#endif
