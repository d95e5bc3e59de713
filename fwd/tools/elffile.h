/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * ELF files and ar archives in memory, checked before libelf sees them.
 * Everything here ends the program with one line naming the file and, in an
 * archive, the member, when the bytes are not what they claim to be.
 */
#ifndef MPPSDIFF_ELFFILE_H
#define MPPSDIFF_ELFFILE_H

#include <gelf.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Bytes of one file or archive member. */
struct blob {
	char *label; /* printable, for messages: PATH or PATH(MEMBER) */
	char *base;  /* printable base name of the file or member */
	unsigned char *data;
	size_t size; /* bytes */
};

/*
 * Name of the library in a path, the same for each form it comes in: librte_ethdev.a,
 * librte_ethdev.so.23.0 and librte_ethdev.a.p (meson's folder of its objects) are
 * rte_ethdev. Printable; caller frees.
 */
char *library_name(const char *path);

/* Reads a whole regular file. Dies if it cannot be read or is no regular file. */
void blob_read(struct blob *b, const char *path);

void blob_free(struct blob *b);

/* True if the bytes are LLVM bitcode: what clang -flto writes instead of ELF. */
bool blob_is_bitcode(const struct blob *b);

/* True if the bytes begin like an archive, plain or thin. */
bool blob_is_archive(const struct blob *b);

/* Walks the members of an archive in their order. */
struct archive {
	struct blob file;  /* the archive itself; thin ones keep members in files of their own */
	const char *dir;   /* folder of the archive, prefix of thin members' names, may be "" */
	char *path;	   /* owns what dir points into */
	const char *names; /* the table of long names, NULL if there is none */
	size_t names_size;
	size_t pos; /* of the next member's header */
	bool thin;
};

/* Takes over *file, which blob_is_archive() said yes to. path is the archive's path. */
void archive_open(struct archive *a, struct blob *file, const char *path);

/* Next member that is no symbol or name table, as a blob of its own; false at the end. */
bool archive_next(struct archive *a, struct blob *member);

void archive_close(struct archive *a);

/*
 * A little-endian 64-bit x86-64 ELF file whose header, section table and
 * program headers lie inside the file.
 */
struct elffile {
	const struct blob *blob; /* must outlive the elffile */
	Elf *elf;
	GElf_Ehdr ehdr;
	size_t n_sections;
	size_t n_segments;
	size_t names; /* index of the section with the sections' names */
};

/* Opens b. Dies if it is no such file. */
void elffile_open(struct elffile *e, const struct blob *b);

void elffile_close(struct elffile *e);

/* Section number index with its header. Dies if there is none. */
Elf_Scn *elffile_section(const struct elffile *e, size_t index, GElf_Shdr *shdr);

/* Name of a section; dies if it lies outside the table. Valid until elffile_close(). */
const char *elffile_section_name(const struct elffile *e, const GElf_Shdr *shdr);

/* Contents of a section, never NULL; d_size is 0 and d_buf NULL if it has none in the file. */
Elf_Data *elffile_data(const struct elffile *e, Elf_Scn *scn);

/* True if the section holds machine code: executable and loaded. */
bool elffile_is_text(const GElf_Shdr *shdr);

/* A symbol table with the extended section numbers that belong to it. */
struct symtab {
	Elf_Data *data; /* NULL: there is no such table */
	Elf_Data *extended;
	size_t n;
	size_t strings; /* index of the section with the names */
};

/* Symbol table in section index; dies if that section is none. */
void symtab_open(struct symtab *t, const struct elffile *e, size_t index);

/* First section of type SHT_SYMTAB or SHT_DYNSYM; t->data is NULL and t->n 0 without one. */
void symtab_find(struct symtab *t, const struct elffile *e, uint32_t type);

/*
 * Symbol i; dies if there is none. *section is its section number, or 0 if the
 * symbol is undefined, absolute or common (sym->st_shndx says which).
 */
void symtab_get(
	const struct symtab *t, const struct elffile *e, size_t i, GElf_Sym *sym, size_t *section);

/* Name of a symbol, never NULL; dies if it lies outside the table of names. */
const char *symtab_name(const struct symtab *t, const struct elffile *e, const GElf_Sym *sym);

/* Ends the program: "LABEL: the file is corrupt: what". */
_Noreturn void elffile_corrupt(const struct elffile *e, const char *what);

/* Copy of s in which tabs, line ends and other control bytes are '?'. Caller frees. */
char *printable(const char *s, size_t len);

#endif
