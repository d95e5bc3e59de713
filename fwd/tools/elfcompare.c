/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * elfproof compare: which functions differ in size between two builds of the same
 * source, and which are called in one and not in the other, which inlined them. What
 * compilers split off or clone (".part.0", ".isra.0", ".cold") belongs to its function.
 */
#include "elfproof.h"

#include "reloc.h"
#include "util.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* A function, summed over what has the same name in the same object. */
struct function {
	char *object; /* member of the archive, "-" elsewhere */
	char *name;
	uint64_t bytes[2];
	uint64_t count[2];
	uint64_t calls[2]; /* from other functions of the same object */
};

struct functions {
	struct function *f;
	size_t n, room;
	bool linked; /* a file is: calls are not counted */
};

static struct function *
add_function(struct functions *fs, const char *object, const char *name)
{
	struct function *f;

	if (fs->n == fs->room) {
		fs->room = fs->room * 2 + 64;
		fs->f = xreallocarray(fs->f, fs->room, sizeof(*fs->f));
	}
	f = &fs->f[fs->n++];
	*f = (struct function){
		.object = printable(object, strlen(object)),
		.name = printable(name, function_name_length(name)),
	};
	return f;
}

/* Where a call that was found belongs. */
struct caller {
	struct functions *fs;
	const char *object;
	int side;
};

static void
add_call(void *arg, const char *name)
{
	const struct caller *c = arg;

	add_function(c->fs, c->object, name)->calls[c->side] = 1;
}

/*
 * Adds the functions of one ELF file. In a linked one, functions of the same name are one:
 * linkers differ in which source file they leave a local symbol with.
 */
static void
add_elf(struct functions *fs, const struct blob *b, const char *object, int side)
{
	struct caller caller = {fs, object, side};
	struct function *f;
	struct symtab symtab;
	struct elffile e;
	GElf_Sym sym;
	size_t section;

	elffile_open(&e, b);
	symtab_find(&symtab, &e, SHT_SYMTAB);
	if (symtab.data == NULL)
		symtab_find(&symtab, &e, SHT_DYNSYM);
	for (size_t i = 1; i < symtab.n; i++) {
		symtab_get(&symtab, &e, i, &sym, &section);
		if (!is_function(&e, &sym, section))
			continue;
		f = add_function(fs, object, symtab_name(&symtab, &e, &sym));
		f->bytes[side] = sym.st_size;
		f->count[side] = 1;
	}
	if (e.ehdr.e_type == ET_REL)
		elf_calls(&e, add_call, &caller);
	else
		fs->linked = true;
	elffile_close(&e);
}

static void
add_file(struct functions *fs, const char *path, int side)
{
	const size_t before = fs->n;
	struct archive a;
	struct blob b, member;
	char *label;

	blob_read(&b, path);
	label = xstrdup(b.label);
	if (blob_is_archive(&b)) {
		archive_open(&a, &b, path);
		while (archive_next(&a, &member)) {
			if (!blob_is_bitcode(&member))
				add_elf(fs, &member, member.base, side);
			blob_free(&member);
		}
		archive_close(&a);
	} else {
		add_elf(fs, &b, "-", side);
	}
	blob_free(&b);
	if (fs->n == before)
		die(EXIT_BAD, "%s names no functions; compare files that are not stripped", label);
	free(label);
}

static int
by_name(const void *a, const void *b)
{
	const struct function *x = a, *y = b;
	const int object = strcmp(x->object, y->object);

	return object != 0 ? object : strcmp(x->name, y->name);
}

/* Bytes in B minus bytes in A; sizes in files are far below 2^63. */
static int64_t
difference(const struct function *f)
{
	return (int64_t)(f->bytes[1] - f->bytes[0]);
}

static uint64_t
magnitude(const struct function *f)
{
	return f->bytes[1] > f->bytes[0] ? f->bytes[1] - f->bytes[0] : f->bytes[0] - f->bytes[1];
}

static int
by_difference(const void *a, const void *b)
{
	const uint64_t x = magnitude(a), y = magnitude(b);

	if (x != y)
		return x > y ? -1 : 1;
	return by_name(a, b);
}

static void
free_function(struct function *f)
{
	free(f->object);
	free(f->name);
}

/* Adds up what has the same object and name. */
static void
merge(struct functions *fs)
{
	size_t n = 0;

	qsort(fs->f, fs->n, sizeof(*fs->f), by_name);
	for (size_t i = 0; i < fs->n; i++) {
		if (n == 0 || by_name(&fs->f[n - 1], &fs->f[i]) != 0) {
			fs->f[n++] = fs->f[i];
			continue;
		}
		for (int side = 0; side < 2; side++) {
			fs->f[n - 1].bytes[side] += fs->f[i].bytes[side];
			fs->f[n - 1].count[side] += fs->f[i].count[side];
			fs->f[n - 1].calls[side] += fs->f[i].calls[side];
		}
		free_function(&fs->f[i]);
	}
	fs->n = n;
}

static void
print_side(const struct function *f, int side)
{
	if (f->count[side] == 0)
		printf("\t-");
	else
		printf("\t%" PRIu64, f->bytes[side]);
}

/*
 * The side that inlined what the other calls. Both sides have the same source, so a function
 * nobody calls any more in its object was inlined there, or its callers with it.
 */
static const char *
inlined_in(const struct functions *fs, const struct function *f)
{
	if (fs->linked || (f->calls[0] == 0) == (f->calls[1] == 0))
		return "-";
	return f->calls[0] == 0 ? "a" : "b";
}

static void
print_differences(const struct functions *fs)
{
	const struct function *f;

	printf("object\tfunction\tbytes_a\tbytes_b\tdifference_bytes\tin\tcalls_a\tcalls_b\t"
	       "inlined_in\n");
	for (size_t i = 0; i < fs->n; i++) {
		f = &fs->f[i];
		if (difference(f) == 0 && f->count[0] == f->count[1] &&
			(fs->linked || f->calls[0] == f->calls[1]))
			continue;
		printf("%s\t%s", f->object, f->name);
		print_side(f, 0);
		print_side(f, 1);
		printf("\t%+" PRId64 "\t%s", difference(f),
			f->count[0] == 0   ? "b"
			: f->count[1] == 0 ? "a"
					   : "both");
		if (fs->linked)
			printf("\t-\t-\t-\n");
		else
			printf("\t%" PRIu64 "\t%" PRIu64 "\t%s\n", f->calls[0], f->calls[1],
				inlined_in(fs, f));
	}
}

void
elfproof_compare(const char *path_a, const char *path_b)
{
	struct functions fs = {0};

	add_file(&fs, path_a, 0);
	add_file(&fs, path_b, 1);
	merge(&fs);
	qsort(fs.f, fs.n, sizeof(*fs.f), by_difference);
	print_differences(&fs);
	for (size_t i = 0; i < fs.n; i++)
		free_function(&fs.f[i]);
	free(fs.f);
}
