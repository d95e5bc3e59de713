/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * elfproof compare: which functions differ in size between two builds of the same
 * source, and which exist in one only: a function that the other inlined, or split
 * or cloned under a name of its own (".part.0", ".isra.0", ".cold").
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
};

struct functions {
	struct function *f;
	size_t n, room;
};

static void
add_function(struct functions *fs, const char *object, const char *name, uint64_t bytes, int side)
{
	struct function *f;

	if (fs->n == fs->room) {
		fs->room = fs->room * 2 + 64;
		fs->f = xreallocarray(fs->f, fs->room, sizeof(*fs->f));
	}
	f = &fs->f[fs->n++];
	*f = (struct function){
		.object = printable(object, strlen(object)),
		.name = printable(name, strlen(name)),
	};
	f->bytes[side] = bytes;
	f->count[side] = 1;
}

/* A symbol of code with a name and a size: linkers give their own none. */
static bool
is_function(const struct elffile *e, const GElf_Sym *sym, size_t section)
{
	const unsigned char type = GELF_ST_TYPE(sym->st_info);
	GElf_Shdr shdr;

	if ((type != STT_FUNC && type != STT_GNU_IFUNC) || section == SHN_UNDEF ||
		sym->st_name == 0 || sym->st_size == 0)
		return false;
	elffile_section(e, section, &shdr);
	return elffile_is_text(&shdr);
}

/*
 * Adds the functions of one ELF file. In a linked one, functions of the same name are one:
 * linkers differ in which source file they leave a local symbol with.
 */
static void
add_elf(struct functions *fs, const struct blob *b, const char *object, int side)
{
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
		if (is_function(&e, &sym, section))
			add_function(fs, object, symtab_name(&symtab, &e, &sym), sym.st_size, side);
	}
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

static void
print_differences(const struct functions *fs)
{
	const struct function *f;

	printf("object\tfunction\tbytes_a\tbytes_b\tdifference_bytes\tin\n");
	for (size_t i = 0; i < fs->n; i++) {
		f = &fs->f[i];
		if (difference(f) == 0 && f->count[0] == f->count[1])
			continue;
		printf("%s\t%s", f->object, f->name);
		print_side(f, 0);
		print_side(f, 1);
		printf("\t%+" PRId64 "\t%s\n", difference(f),
			f->count[0] == 0   ? "b"
			: f->count[1] == 0 ? "a"
					   : "both");
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
