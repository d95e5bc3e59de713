/* SPDX-License-Identifier: BSD-3-Clause */
/* What the source files of elfproof share. */
#ifndef MPPSDIFF_ELFPROOF_H
#define MPPSDIFF_ELFPROOF_H

/* Prints what a linked file is, one key=value a line. Dies if it is none. */
void elfproof_binary(const char *path);

/* Prints the functions that differ in size between two files, as TSV. */
void elfproof_compare(const char *path_a, const char *path_b);

#endif
