/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The little that a tracer must know of x86-64 instructions: branches, memory
 * operands, and where a PC-relative operand stands. No disassembler.
 */
#ifndef MPPSDIFF_X86_H
#define MPPSDIFF_X86_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Longest instruction in bytes (Intel SDM volume 2, 2.3.11). */
#define X86_MAX_BYTES 15

struct x86_insn {
	bool branch;	   /* changes the instruction pointer: call, jmp, jcc, ret, loop */
	bool indirect;	   /* call or jmp through a register or memory; ret is not meant */
	bool load, store;  /* reads or writes memory, implied operands (push, movs) as well */
	bool lea;	   /* computes an address only */
	bool rep_string;   /* stops once an iteration when single-stepped */
	bool rip_relative; /* has an operand disp32(%rip) */
	unsigned int disp; /* byte of disp32 in it */
};

/*
 * Decodes the first of n bytes. Unknown and cut-off instructions have all flags
 * false. Sources: Intel SDM volume 2, chapter 2 and appendix A (opcode maps).
 */
void x86_decode(struct x86_insn *insn, const unsigned char *code, size_t n);

#endif
