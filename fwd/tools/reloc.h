/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * x86-64 relocations: which class a type belongs to, and what the relocations
 * of one object say about the code model it was compiled for.
 */
#ifndef MPPSDIFF_RELOC_H
#define MPPSDIFF_RELOC_H

#include "elffile.h"

/* Classes of relocations, see reloc_class(). */
enum reloc_class {
	RELOC_GOT,
	RELOC_PLT,
	RELOC_TLS_GD,
	RELOC_TLS_LD,
	RELOC_TLS_IE,
	RELOC_TLS_LE,
	RELOC_ABSOLUTE,
	RELOC_PC_RELATIVE,
	RELOC_CLASSES, /* how many are counted */
	RELOC_OTHER = RELOC_CLASSES,
};

/* Class of a type of x86-64 relocation (R_X86_64_*); RELOC_OTHER if it is in none. */
enum reloc_class reloc_class(uint64_t type);

enum code_model {
	MODEL_NONE,	/* nothing in the object tells */
	MODEL_ABSOLUTE, /* -fno-pie: addresses are numbers in the code */
	MODEL_PIE,	/* -fPIE: relative, and own symbols cannot be preempted */
	MODEL_PIC,	/* -fPIC: relative, and own symbols can be preempted */
	MODEL_MIXED,	/* only of a set of objects */
	MODELS,
};

extern const char *const code_model_name[MODELS];

/* How many places of an object speak for what; see reloc.c. */
struct evidence {
	uint64_t absolute;
	uint64_t interposed;
	uint64_t direct;
	uint64_t independent;
};

/* What is said of one object. */
struct object {
	uint64_t text_bytes;
	uint64_t relocs[RELOC_CLASSES]; /* those that apply to code */
	struct evidence evidence;
	bool lto; /* holds an intermediate language to be compiled at link time */
};

/* Reads a relocatable object (ET_REL); dies if it is none or is corrupt. */
void object_read(struct object *o, const struct elffile *e);

/* The code model that follows from the evidence: never MODEL_MIXED. */
enum code_model object_model(const struct object *o);

/*
 * Relocations of section index (SHT_RELA); dies if the section is malformed.
 * *n is how many there are.
 */
Elf_Data *rela_open(const struct elffile *e, size_t index, size_t *n);
void rela_get(const struct elffile *e, Elf_Data *data, size_t i, GElf_Rela *rela);

/*
 * True if the four bytes at p[at] are the target of call, jmp, jcc or xbegin
 * with a relative address (Intel SDM volume 2: E8, E9, 0F 80..8F, C7 F8).
 */
bool code_is_branch(const unsigned char *p, size_t at);

/* True if they are the address in "lea address(%rip), register" (8D /r, mod 0, r/m 5). */
bool code_is_lea(const unsigned char *p, size_t at);

#endif
