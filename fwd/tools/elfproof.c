/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * elfproof: what a build really made. Counts the relocations of objects by class
 * and says which code model each was compiled for, whatever flags were asked; says
 * what the linker left of it in a binary; compares the functions of two builds.
 * Input is what the build made, output is TSV or key=value for the next step.
 */
#include "elfproof.h"

#include "linkmap.h"
#include "reloc.h"
#include "util.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static const char usage_text[] =
	"usage: elfproof objects [--evidence] FILE...\n"
	"       elfproof model FILE...\n"
	"       elfproof binary FILE\n"
	"       elfproof compare FILE FILE\n"
	"       elfproof linked FILE...\n"
	"       elfproof map FILE\n"
	"\n"
	"Prove from the relocations of objects, archives and binaries what was built.\n"
	"\n"
	"commands\n"
	"  binary     one linked file: ELF type, code model, and the GOT, PLT and\n"
	"             __tls_get_addr uses that relaxation left, key=value a line\n"
	"  compare    the functions that differ in size or in calls between two files, as\n"
	"             TSV, largest difference in size first; parts and clones of a function\n"
	"             (.cold .part.0 .isra.0 .constprop.0) are counted with it\n"
	"  linked     the same as binary of several linked files, a row each, as TSV\n"
	"  map        where the code of a binary came from, by its linker's map: bytes by\n"
	"             library and object, as TSV\n"
	"  model      code model of all objects together and sums, key=value on one line\n"
	"  objects    one row an object, as TSV\n"
	"\n"
	"options\n"
	"  --evidence  objects: append the counts the code model follows from\n"
	"  --help      this text\n"
	"\n"
	"files\n"
	"  objects (.o) and archives (.a, also thin) of x86-64; for compare also, for binary\n"
	"  and linked only, executables and shared libraries; for map what -Map=FILE wrote\n"
	"\n"
	"columns\n"
	"  got plt tls_gd tls_ld tls_ie tls_le absolute pc_relative count relocations that\n"
	"  apply to code. plt includes plain calls: assemblers use the same type for them.\n"
	"  code_model is absolute (-fno-pie), pie (-fPIE), pic (-fPIC) or none: nothing in\n"
	"  the object tells. A set of objects can be mixed. objects_independent is how many\n"
	"  of objects_none are position independent for certain. got_uses_left and\n"
	"  plt_uses_left need a binary linked with --emit-relocs and are - otherwise.\n"
	"  calls_a and calls_b (compare) are direct calls from other functions of the same\n"
	"  object, - for linked files; inlined_in is the side, a or b, that has none where\n"
	"  the other has some: it inlined the function, or with its callers.\n"
	"\n"
	"exit status\n"
	"  0 done, 2 wrong usage, or a file that is missing, corrupt or not for x86-64\n"
	"\n"
	"example\n"
	"  elfproof model build/lib/librte_ethdev.a build/drivers/librte_net_null.a\n";

#define COMMANDS "binary compare linked map model objects"

/* One object with where it came from. */
struct row {
	char *library;
	char *object;
	bool bitcode; /* LLVM bitcode: it has no relocations yet */
	struct object o;
};

struct rows {
	struct row *row;
	size_t n;
};

enum {
	OPT_EVIDENCE,
	OPT_HELP,
};

static const struct opt options[] = {
	{"evidence", false, OPT_EVIDENCE},
	{"help", false, OPT_HELP},
	{NULL, false, 0},
};

/* --- reading -------------------------------------------------------------- */

/* Adds one object. Takes over library. */
static void
add_object(struct rows *rows, const struct blob *b, char *library)
{
	struct row *row;
	struct elffile e;

	rows->row = xreallocarray(rows->row, rows->n + 1, sizeof(*rows->row));
	row = &rows->row[rows->n++];
	*row = (struct row){.library = library, .object = xstrdup(b->base)};
	if (blob_is_bitcode(b)) {
		row->bitcode = true;
		row->o.lto = true;
		return;
	}
	elffile_open(&e, b);
	object_read(&row->o, &e);
	elffile_close(&e);
}

static void
add_archive(struct rows *rows, struct blob *file, const char *path)
{
	const size_t before = rows->n;
	struct archive a;
	struct blob member;

	archive_open(&a, file, path);
	while (archive_next(&a, &member)) {
		add_object(rows, &member, library_name(path));
		blob_free(&member);
	}
	if (rows->n == before)
		die(EXIT_BAD, "%s: the archive is empty; build it again", a.file.label);
	archive_close(&a);
}

/* Everything is read before anything is printed: an error leaves no half table behind. */
static void
read_files(struct rows *rows, char **path, size_t n)
{
	struct blob b;

	*rows = (struct rows){0};
	for (size_t i = 0; i < n; i++) {
		blob_read(&b, path[i]);
		if (blob_is_archive(&b))
			add_archive(rows, &b, path[i]);
		else
			add_object(rows, &b, xstrdup("-"));
		blob_free(&b);
	}
}

static void
free_rows(struct rows *rows)
{
	for (size_t i = 0; i < rows->n; i++) {
		free(rows->row[i].library);
		free(rows->row[i].object);
	}
	free(rows->row);
}

/* --- objects -------------------------------------------------------------- */

static const char *const class_name[RELOC_CLASSES] = {
	[RELOC_GOT] = "got",
	[RELOC_PLT] = "plt",
	[RELOC_TLS_GD] = "tls_gd",
	[RELOC_TLS_LD] = "tls_ld",
	[RELOC_TLS_IE] = "tls_ie",
	[RELOC_TLS_LE] = "tls_le",
	[RELOC_ABSOLUTE] = "absolute",
	[RELOC_PC_RELATIVE] = "pc_relative",
};

/* A row of LLVM bitcode: every count is missing. */
static void
print_bitcode(const struct row *row, bool evidence)
{
	printf("%s\t%s\tllvm-bitcode\t-", row->library, row->object);
	for (size_t c = 0; c < RELOC_CLASSES; c++)
		printf("\t-");
	printf("\tnone%s\n", evidence ? "\t-\t-\t-\t-" : "");
}

static void
print_object(const struct row *row, bool evidence)
{
	const struct evidence *ev = &row->o.evidence;

	if (row->bitcode) {
		print_bitcode(row, evidence);
		return;
	}
	printf("%s\t%s\tx86-64\t%" PRIu64, row->library, row->object, row->o.text_bytes);
	for (size_t c = 0; c < RELOC_CLASSES; c++)
		printf("\t%" PRIu64, row->o.relocs[c]);
	printf("\t%s", code_model_name[object_model(&row->o)]);
	if (evidence)
		printf("\t%" PRIu64 "\t%" PRIu64 "\t%" PRIu64 "\t%" PRIu64, ev->absolute,
			ev->interposed, ev->direct, ev->independent);
	printf("\n");
}

static void
print_objects(const struct rows *rows, bool evidence)
{
	printf("library\tobject\tmachine\ttext_bytes");
	for (size_t c = 0; c < RELOC_CLASSES; c++)
		printf("\t%s", class_name[c]);
	printf("\tcode_model%s\n", evidence ? "\tevidence_absolute\tevidence_interposed"
					      "\tevidence_direct\tevidence_independent"
					    : "");
	for (size_t i = 0; i < rows->n; i++)
		print_object(&rows->row[i], evidence);
}

/* --- model ---------------------------------------------------------------- */

/* The model all objects that have one agree on. */
static enum code_model
common_model(const uint64_t objects[MODELS])
{
	enum code_model common = MODEL_NONE;

	for (enum code_model m = MODEL_ABSOLUTE; m < MODEL_MIXED; m++) {
		if (objects[m] == 0)
			continue;
		if (common != MODEL_NONE)
			return MODEL_MIXED;
		common = m;
	}
	return common;
}

static void
print_model(const struct rows *rows)
{
	uint64_t objects[MODELS] = {0}, relocs[RELOC_CLASSES] = {0};
	uint64_t text_bytes = 0, independent = 0, lto = 0;

	for (size_t i = 0; i < rows->n; i++) {
		const struct object *o = &rows->row[i].o;
		const enum code_model m = object_model(o);

		objects[m]++;
		independent += m == MODEL_NONE && o->evidence.independent > 0;
		lto += o->lto;
		text_bytes += o->text_bytes;
		for (size_t c = 0; c < RELOC_CLASSES; c++)
			relocs[c] += o->relocs[c];
	}
	printf("code_model=%s objects=%zu", code_model_name[common_model(objects)], rows->n);
	for (enum code_model m = MODEL_ABSOLUTE; m < MODEL_MIXED; m++)
		printf(" objects_%s=%" PRIu64, code_model_name[m], objects[m]);
	printf(" objects_none=%" PRIu64 " objects_independent=%" PRIu64 " objects_lto=%" PRIu64
	       " text_bytes=%" PRIu64,
		objects[MODEL_NONE], independent, lto, text_bytes);
	for (size_t c = 0; c < RELOC_CLASSES; c++)
		printf(" %s=%" PRIu64, class_name[c], relocs[c]);
	printf("\n");
}

/* --- linker's maps -------------------------------------------------------- */

static int
by_origin(const void *a, const void *b)
{
	const struct linkmap_entry *x = a, *y = b;
	const int library = strcmp(x->library, y->library);

	return library != 0 ? library : strcmp(x->object, y->object);
}

/* Sorts the entries: linkmap_find() knows them no longer. */
static void
print_map(struct linkmap *m)
{
	uint64_t bytes = 0;

	printf("library\tobject\ttext_bytes\n");
	qsort(m->entry, m->n, sizeof(*m->entry), by_origin);
	for (size_t i = 0; i < m->n; i++) {
		bytes += m->entry[i].high - m->entry[i].low;
		if (i + 1 < m->n && by_origin(&m->entry[i], &m->entry[i + 1]) == 0)
			continue;
		printf("%s\t%s\t%" PRIu64 "\n", m->entry[i].library, m->entry[i].object, bytes);
		bytes = 0;
	}
}

/* --- commands ------------------------------------------------------------- */

static void
cmd_objects(char **path, size_t n, bool evidence)
{
	struct rows rows;

	read_files(&rows, path, n);
	print_objects(&rows, evidence);
	free_rows(&rows);
}

static void
cmd_model(char **path, size_t n)
{
	struct rows rows;

	read_files(&rows, path, n);
	print_model(&rows);
	free_rows(&rows);
}

static void
cmd_map(const char *path)
{
	struct linkmap map;

	linkmap_read(&map, path);
	print_map(&map);
	linkmap_free(&map);
}

static void
need_files(const char *command, size_t n, size_t min, size_t max)
{
	if (n < min)
		die(EXIT_BAD, "elfproof %s needs %zu file%s; see elfproof --help", command, min,
			min == 1 ? "" : "s");
	if (n > max)
		die(EXIT_BAD, "elfproof %s takes %zu file%s, not %zu; see elfproof --help", command,
			max, max == 1 ? "" : "s", n);
}

static void
run(const char *command, char **path, size_t n, bool evidence)
{
	if (evidence && strcmp(command, "objects") != 0)
		die(EXIT_BAD, "--evidence belongs to elfproof objects, not to '%s'", command);
	if (strcmp(command, "objects") == 0) {
		need_files(command, n, 1, SIZE_MAX);
		cmd_objects(path, n, evidence);
	} else if (strcmp(command, "model") == 0) {
		need_files(command, n, 1, SIZE_MAX);
		cmd_model(path, n);
	} else if (strcmp(command, "binary") == 0) {
		need_files(command, n, 1, 1);
		elfproof_binary(path[0]);
	} else if (strcmp(command, "compare") == 0) {
		need_files(command, n, 2, 2);
		elfproof_compare(path[0], path[1]);
	} else if (strcmp(command, "linked") == 0) {
		need_files(command, n, 1, SIZE_MAX);
		elfproof_linked(path, n);
	} else if (strcmp(command, "map") == 0) {
		need_files(command, n, 1, 1);
		cmd_map(path[0]);
	} else {
		die(EXIT_BAD, "unknown command '%s'; accepted: " COMMANDS, command);
	}
}

int
main(int argc, char **argv)
{
	struct outfile out;
	const char *command = NULL, *value;
	char **path;
	size_t n = 0;
	int id, pos = 1;
	bool evidence = false;

	path = xcalloc((size_t)argc + 1, sizeof(*path));
	while ((id = opt_next(options, argc, argv, &pos, &value)) != OPT_END) {
		if (id == OPT_HELP) {
			fputs(usage_text, stdout);
			free(path);
			return EXIT_DONE;
		}
		if (id == OPT_EVIDENCE)
			evidence = true;
		else if (command == NULL)
			command = value;
		else
			path[n++] = argv[pos - 1];
	}
	if (command == NULL)
		die(EXIT_BAD, "no command; accepted: " COMMANDS);
	out_open(&out, NULL);
	run(command, path, n, evidence);
	out_commit(&out);
	free(path);
	return EXIT_DONE;
}
