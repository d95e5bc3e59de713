/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Instruction classes from the opcode maps of the Intel SDM volume 2, appendix A.
 * Loads and stores are those an instruction names or implies; what the memory
 * system makes of them (prefetches, page walks) is no matter of decoding.
 */
#include "x86.h"

#include <string.h>

/* Opcode maps by the number VEX and EVEX give them; MAP_ONE is the one-byte map. */
enum map {
	MAP_ONE = 0,
	MAP_0F = 1,
	MAP_0F38 = 2,
	MAP_0F3A = 3,
	MAP_5 = 5, /* EVEX only: half precision */
	MAP_6 = 6,
};

/* Legacy prefixes in force, or what VEX and EVEX encode of them ("pp"). */
enum {
	PP_NONE = 0,
	PP_66 = 1,
	PP_F3 = 2,
	PP_F2 = 3,
};

struct decoder {
	const unsigned char *code;
	size_t n, at;
	enum map map;
	unsigned int pp;
	bool vex, evex; /* encoded so; vex is true for both */
	unsigned char opcode;
	unsigned char modrm;
};

/* What an opcode with a memory operand does to it. */
enum access {
	NOTHING = 0,
	LOAD = 1,
	STORE = 2,
	BOTH = LOAD | STORE,
};

static bool
next(struct decoder *d, unsigned char *byte)
{
	if (d->at >= d->n || d->at >= X86_MAX_BYTES)
		return false;
	*byte = d->code[d->at++];
	return true;
}

/* Skips legacy prefixes and REX. The last of 66, F3 and F2 counts, F3 and F2 before 66. */
static bool
read_prefixes(struct decoder *d, unsigned char *byte)
{
	for (;;) {
		if (!next(d, byte))
			return false;
		switch (*byte) {
		case 0x66:
			if (d->pp == PP_NONE)
				d->pp = PP_66;
			break;
		case 0xf3:
			d->pp = PP_F3;
			break;
		case 0xf2:
			d->pp = PP_F2;
			break;
		case 0x26:
		case 0x2e:
		case 0x36:
		case 0x3e:
		case 0x64:
		case 0x65:
		case 0x67:
		case 0xf0:
			break;
		default:
			if ((*byte & 0xf0) == 0x40) /* REX */
				return next(d, byte);
			return true;
		}
	}
}

/* VEX C5 and C4, EVEX 62: SDM volume 2, 2.3.5 and 2.7.1. */
static bool
read_vex(struct decoder *d, unsigned char first)
{
	unsigned char byte[3];
	const size_t n = first == 0xc5 ? 1 : first == 0xc4 ? 2 : 3;

	for (size_t i = 0; i < n; i++) {
		if (!next(d, &byte[i]))
			return false;
	}
	d->vex = true;
	d->evex = first == 0x62;
	d->map = first == 0xc5 ? MAP_0F : (enum map)(byte[0] & (d->evex ? 0x07 : 0x1f));
	d->pp = byte[n == 3 ? 1 : n - 1] & 3;
	return next(d, &d->opcode);
}

static bool
read_opcode(struct decoder *d)
{
	unsigned char byte;

	if (!read_prefixes(d, &byte))
		return false;
	if (byte == 0xc5 || byte == 0xc4 || byte == 0x62)
		return read_vex(d, byte);
	d->opcode = byte;
	if (byte != 0x0f)
		return true;
	d->map = MAP_0F;
	if (!next(d, &d->opcode))
		return false;
	if (d->opcode == 0x38 || d->opcode == 0x3a) {
		d->map = d->opcode == 0x38 ? MAP_0F38 : MAP_0F3A;
		return next(d, &d->opcode);
	}
	return true;
}

static bool
has_modrm_one(unsigned char op)
{
	if (op < 0x40)
		return (op & 4) == 0;
	return op == 0x63 || op == 0x69 || op == 0x6b || (op >= 0x80 && op <= 0x8f) || op == 0xc0 ||
	       op == 0xc1 || op == 0xc6 || op == 0xc7 || (op >= 0xd0 && op <= 0xd3) ||
	       (op >= 0xd8 && op <= 0xdf) || op == 0xf6 || op == 0xf7 || op >= 0xfe;
}

static bool
has_modrm_0f(unsigned char op)
{
	return !(op == 0x05 || op == 0x06 || op == 0x08 || op == 0x09 || op == 0x0b || op == 0x0e ||
		 (op >= 0x30 && op <= 0x37) || op == 0x77 || (op >= 0x80 && op <= 0x8f) ||
		 (op >= 0xa0 && op <= 0xa2) || (op >= 0xa8 && op <= 0xaa) ||
		 (op >= 0xc8 && op <= 0xcf));
}

static bool
has_modrm(const struct decoder *d)
{
	if (d->map == MAP_ONE)
		return has_modrm_one(d->opcode);
	return d->map != MAP_0F || has_modrm_0f(d->opcode);
}

/* x87: the opcodes D8 to DF that store, by the reg field; all others load. */
static enum access
x87_access(unsigned char op, unsigned int reg)
{
	static const unsigned char stores[8] = {
		[1] = 0xcc, /* D9: fst fstp fnstenv fnstcw */
		[3] = 0x8e, /* DB: fisttp fist fistp fstp80 */
		[5] = 0xce, /* DD: fisttp fst fstp fnsave fnstsw */
		[7] = 0xce, /* DF: fisttp fist fistp fbstp fistp64 */
	};

	return (stores[op & 7] >> reg & 1) != 0 ? STORE : LOAD;
}

/* Memory operand of the one-byte map. */
static enum access
access_one(unsigned char op, unsigned int reg)
{
	if (op < 0x40) /* add or adc sbb and sub xor: to r/m in forms 0 and 1; cmp only compares */
		return (op & 2) == 0 && op < 0x38 ? BOTH : LOAD;
	switch (op) {
	case 0x80:
	case 0x81:
	case 0x83:
		return reg == 7 ? LOAD : BOTH;
	case 0x86:
	case 0x87:
	case 0x8f: /* pop: from the stack */
	case 0xc0:
	case 0xc1:
	case 0xd0:
	case 0xd1:
	case 0xd2:
	case 0xd3:
	case 0xfe:
		return BOTH;
	case 0x88:
	case 0x89:
	case 0x8c:
	case 0xc6:
	case 0xc7:
		return STORE;
	case 0x8d: /* lea */
		return NOTHING;
	case 0xf6:
	case 0xf7:
		return reg == 2 || reg == 3 ? BOTH : LOAD;
	case 0xff: /* inc dec call callf jmp jmpf push */
		return reg == 4 || reg == 5 ? LOAD : BOTH;
	default:
		return op >= 0xd8 && op <= 0xdf ? x87_access(op, reg) : LOAD;
	}
}

/* 0F AE (fxsave and others) and 0F C7 by the reg field. */
static enum access
access_group(unsigned char op, unsigned int reg)
{
	static const enum access ae[8] = {STORE, LOAD, LOAD, STORE, STORE, LOAD, STORE, NOTHING};
	static const enum access c7[8] = {NOTHING, BOTH, NOTHING, LOAD, STORE, STORE, LOAD, STORE};

	return op == 0xae ? ae[reg] : c7[reg];
}

/* Memory operand of the map 0F, legacy or VEX or EVEX. */
static enum access
access_0f(const struct decoder *d, unsigned int reg)
{
	const unsigned char op = d->opcode;

	switch (op) {
	case 0x00:
	case 0x01:
	case 0x0d: /* prefetchw */
	case 0x18: /* prefetch, and hints up to 1F */
	case 0x19:
	case 0x1a:
	case 0x1b:
	case 0x1c:
	case 0x1d:
	case 0x1e:
	case 0x1f:
		return NOTHING;
	case 0x11:
	case 0x13:
	case 0x17:
	case 0x29:
	case 0x2b:
	case 0x7f:
	case 0xc3:
	case 0xd6:
	case 0xe7:
		return STORE;
	case 0x7e: /* movq loads, movd stores */
		return d->pp == PP_F3 ? LOAD : STORE;
	case 0xa4:
	case 0xa5:
	case 0xab:
	case 0xac:
	case 0xad:
	case 0xb0:
	case 0xb1:
	case 0xb3:
	case 0xbb:
	case 0xc0:
	case 0xc1:
		return BOTH;
	case 0xae:
	case 0xc7:
		return access_group(op, reg);
	case 0xba:
		return reg == 4 ? LOAD : BOTH;
	default:
		if (op >= 0x90 && op <= 0x9f) /* setcc; with VEX 90 is kmov from memory */
			return d->vex && op == 0x90 ? LOAD : STORE;
		return LOAD;
	}
}

static enum access
access_0f38(const struct decoder *d)
{
	const unsigned char op = d->opcode;

	if (d->evex) {
		/* vpmov* to a narrower type, vpcompress*, vcompress*, scatters */
		if (d->pp == PP_F3 && op >= 0x10 && op <= 0x35 && (op & 0x0f) <= 5)
			return STORE;
		return op == 0x63 || op == 0x8a || op == 0x8b || (op >= 0xa0 && op <= 0xa3) ? STORE
											    : LOAD;
	}
	if (d->vex) /* vmaskmov, vpmaskmov to memory */
		return op == 0x2e || op == 0x2f || op == 0x8e ? STORE : LOAD;
	switch (op) {
	case 0xf1: /* movbe to memory, crc32 from it */
		return d->pp == PP_F2 ? LOAD : STORE;
	case 0xf5: /* wruss */
	case 0xf9: /* movdiri */
		return STORE;
	case 0xf6: /* wrss, adcx, adox */
		return d->pp == PP_NONE ? STORE : LOAD;
	case 0xf8: /* movdir64b */
		return BOTH;
	default:
		return LOAD;
	}
}

static enum access
access_0f3a(const struct decoder *d)
{
	switch (d->opcode) {
	case 0x14: /* pextr*, extractps */
	case 0x15:
	case 0x16:
	case 0x17:
	case 0x19: /* vextract* */
	case 0x1b:
	case 0x1d: /* vcvtps2ph */
	case 0x39:
	case 0x3b:
		return STORE;
	default:
		return LOAD;
	}
}

static enum access
access_of(const struct decoder *d)
{
	const unsigned int reg = d->modrm >> 3 & 7;

	switch (d->map) {
	case MAP_ONE:
		return access_one(d->opcode, reg);
	case MAP_0F:
		return access_0f(d, reg);
	case MAP_0F38:
		return access_0f38(d);
	case MAP_0F3A:
		return access_0f3a(d);
	case MAP_5: /* vmovsh, vmovw to memory */
		return d->opcode == 0x11 || d->opcode == 0x7e ? STORE : LOAD;
	case MAP_6:
	default:
		return LOAD;
	}
}

/* Memory that opcodes without ModRM imply: the stack, strings, absolute addresses. */
static enum access
implied_access(const struct decoder *d)
{
	const unsigned char op = d->opcode;

	if (d->vex)
		return NOTHING;
	if (d->map == MAP_0F)
		return op == 0xa0 || op == 0xa8 ? STORE : op == 0xa1 || op == 0xa9 ? LOAD : NOTHING;
	if (d->map != MAP_ONE)
		return NOTHING;
	if (op >= 0x50 && op <= 0x5f)
		return op < 0x58 ? STORE : LOAD;
	switch (op) {
	case 0x68: /* push */
	case 0x6a:
	case 0x9c: /* pushf */
	case 0xa2: /* mov to an absolute address */
	case 0xa3:
	case 0xaa: /* stos */
	case 0xab:
	case 0xc8: /* enter */
	case 0xe8: /* call */
		return STORE;
	case 0x9d: /* popf */
	case 0xa0:
	case 0xa1:
	case 0xa6: /* cmps, lods, scas */
	case 0xa7:
	case 0xac:
	case 0xad:
	case 0xae:
	case 0xaf:
	case 0xc2: /* ret */
	case 0xc3:
	case 0xc9: /* leave */
	case 0xcf: /* iret */
	case 0xd7: /* xlat */
		return LOAD;
	case 0xa4: /* movs */
	case 0xa5:
		return BOTH;
	default:
		return NOTHING;
	}
}

static bool
is_branch(const struct decoder *d)
{
	const unsigned char op = d->opcode;

	if (d->vex)
		return false;
	if (d->map == MAP_0F)
		return op >= 0x80 && op <= 0x8f;
	if (d->map != MAP_ONE)
		return false;
	return (op >= 0x70 && op <= 0x7f) || op == 0xc2 || op == 0xc3 || op == 0xca || op == 0xcb ||
	       (op >= 0xe0 && op <= 0xe3) || op == 0xe8 || op == 0xe9 || op == 0xeb || op == 0xcc ||
	       op == 0xcd || op == 0xcf;
}

static bool
is_string(const struct decoder *d)
{
	const unsigned char op = d->opcode;

	return !d->vex && d->map == MAP_ONE &&
	       ((op >= 0xa4 && op <= 0xa7) || (op >= 0xaa && op <= 0xaf) ||
		       (op >= 0x6c && op <= 0x6f));
}

static void
use_modrm(struct decoder *d, struct x86_insn *insn)
{
	const unsigned int mod = d->modrm >> 6, reg = d->modrm >> 3 & 7, rm = d->modrm & 7;
	enum access access;

	if (!d->vex && d->map == MAP_ONE && d->opcode == 0xff && reg >= 2 && reg <= 5) {
		insn->branch = true;
		insn->indirect = true;
		insn->store = reg == 2 || reg == 3;
	}
	if (mod == 3) {
		/* push of a register in the long form, pop likewise */
		insn->store |= !d->vex && d->map == MAP_ONE && d->opcode == 0xff && reg == 6;
		insn->load |= !d->vex && d->map == MAP_ONE && d->opcode == 0x8f;
		return;
	}
	access = access_of(d);
	insn->load |= (access & LOAD) != 0;
	insn->store |= (access & STORE) != 0;
	insn->lea = !d->vex && d->map == MAP_ONE && d->opcode == 0x8d;
	if (mod == 0 && rm == 5) {
		insn->rip_relative = true;
		insn->disp = (unsigned int)d->at;
	}
}

void
x86_decode(struct x86_insn *insn, const unsigned char *code, size_t n)
{
	struct decoder d = {.code = code, .n = n};
	enum access access;

	memset(insn, 0, sizeof(*insn));
	if (!read_opcode(&d))
		return;
	if (has_modrm(&d)) {
		if (next(&d, &d.modrm))
			use_modrm(&d, insn);
		return;
	}
	insn->branch = is_branch(&d);
	insn->rep_string = is_string(&d) && (d.pp == PP_F3 || d.pp == PP_F2);
	access = implied_access(&d);
	insn->load = (access & LOAD) != 0;
	insn->store = (access & STORE) != 0;
}
