/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The ELF files mapped into a process: which library, object and function an
 * address belongs to, and where the GOT and the PLT lie.
 */
#ifndef MPPSDIFF_IMAGES_H
#define MPPSDIFF_IMAGES_H

#include "linkmap.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct image;

/* What is known of an address. The strings live until images_close(). */
struct place {
	const struct image *image; /* NULL: in no file */
	const char *library;	   /* of the archive or shared library; "-": the program's own */
	const char *object;	   /* of the linker's map, else the source file, else "-" */
	const char *function;	   /* symbol, "[plt]", or "-" if no symbol is there */
	uint64_t address;	   /* as linked, as objdump shows it */
	uint64_t start;		   /* of the function, as linked */
	bool plt;		   /* in the PLT */
};

struct images;

/* map may be NULL; it describes the main executable and must outlive the images. */
struct images *images_open(pid_t pid, const struct linkmap *map);

void images_close(struct images *images);

/*
 * Place of an address of the process, which must be stopped: files it mapped since
 * are read when an address is met that lies in none of those known.
 */
void images_find(struct images *images, uint64_t address, struct place *place);

/*
 * Address in the process of a function of its main executable. False if that has no
 * such symbol; dies if it has several.
 */
bool images_function(struct images *images, const char *name, uint64_t *address);

/* Printable path of the main executable. */
const char *images_program(const struct images *images);

/* True if an address as linked lies in the image's GOT. */
bool image_in_got(const struct image *image, uint64_t address);

/* True if path is the image's file, or its base name. */
bool image_is(const struct image *image, const char *path);

#endif
