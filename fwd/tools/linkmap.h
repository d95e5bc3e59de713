/* SPDX-License-Identifier: BSD-3-Clause */
/* A linker's map (-Map=FILE): which object of which library an address came from. */
#ifndef MPPSDIFF_LINKMAP_H
#define MPPSDIFF_LINKMAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct linkmap_entry {
	uint64_t low, high; /* addresses as linked, high exclusive */
	char *library;	    /* "-" for an object that is in no archive */
	char *object;
};

struct linkmap {
	struct linkmap_entry *entry; /* by address */
	size_t n;
};

/* Reads a map of GNU ld, gold, lld or mold. Dies if the file is none of them. */
void linkmap_read(struct linkmap *m, const char *path);

/* The same where there need not be one: false if there is no such file, or it is no map. */
bool linkmap_try(struct linkmap *m, const char *path);

/* What lies at an address, NULL if the map does not say. */
const struct linkmap_entry *linkmap_find(const struct linkmap *m, uint64_t address);

void linkmap_free(struct linkmap *m);

#endif
