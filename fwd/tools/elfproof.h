/* SPDX-License-Identifier: BSD-3-Clause */
/* What the source files of elfproof share. */
#ifndef MPPSDIFF_ELFPROOF_H
#define MPPSDIFF_ELFPROOF_H

#include "elffile.h"

/* Prints what a linked file is, one key=value a line. Dies if it is none. */
void elfproof_binary(const char *path);

/* Prints the same of several linked files, a row each, as TSV. */
void elfproof_linked(char **path, size_t n);

/* Prints the functions that differ in size or calls between two files, as TSV. */
void elfproof_compare(const char *path_a, const char *path_b);

/* True for a symbol of code with a name and a size, defined in this section. */
bool is_function(const struct elffile *e, const GElf_Sym *sym, size_t section);

/* Length of a function's name without what compilers append to parts and clones (".part.0"). */
size_t function_name_length(const char *name);

/*
 * Calls found once for each direct call in an object, with the name of the called
 * function if that is one of the object's own and another than the caller.
 */
void elf_calls(const struct elffile *e, void (*found)(void *arg, const char *name), void *arg);

#endif
