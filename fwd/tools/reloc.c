/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What relocations say about the code model of an object.
 *
 * Flags are not asked: a distribution's compiler changes their meaning (Debian's
 * gcc makes PIE when told nothing). What the compiler wrote is asked. These are
 * the differences between -fno-pie, -fPIE and -fPIC on x86-64, found by compiling
 * the same C with gcc 12 and clang 14 in each of them:
 *
 *                               -fno-pie           -fPIE              -fPIC
 *   address of own global       mov $x             lea x(%rip)        x@GOTPCREL
 *   load of own global          x(%rip)            x(%rip)            x@GOTPCREL
 *   address of a static         mov $x             lea x(%rip)        lea x(%rip)
 *   load of a static            x(%rip)            x(%rip)            x(%rip)
 *   load of an extern, gcc      x(%rip)            x(%rip) (copied)   x@GOTPCREL
 *   load of an extern, clang    x(%rip)            x@GOTPCREL         x@GOTPCREL
 *   address of extern function  mov $x             x@GOTPCREL         x@GOTPCREL
 *   array[i]                    x(,%rdi,4)         lea                GOT or lea
 *   jump table, in .rodata      64-bit addresses   offsets            offsets
 *   constant with pointers      .rodata            .data.rel.ro       .data.rel.ro
 *   own or static __thread      %fs:x@tpoff        %fs:x@tpoff        GD or LD
 *   extern __thread             x@gottpoff         x@gottpoff         GD
 *   call of any function        PLT32              PLT32              PLT32
 *
 * So a PC-relative load alone says nothing, nor does an access to a foreign
 * symbol through the GOT, nor a PLT32: since binutils 2.31 the assembler writes
 * it for every call, and keeps it for own globals in every model. Four kinds of
 * evidence are left:
 *
 *   absolute     R_X86_64_64/32/32S/16/8 in code (-mcmodel=small, kernel, large)
 *                or R_X86_64_64/32/32S in .rodata, against a symbol with an address
 *   interposed   GOT access to a defined global symbol of default visibility;
 *                TLS of the GD, LD or descriptor kind
 *   direct       a PC-relative operand (no branch) that names a global symbol of
 *                default visibility; TLS of the LE kind: nobody may preempt it
 *   independent  lea x(%rip); an operand in the GOT; offsets in .rodata; .data.rel.ro
 *
 * and an object is
 *
 *   absolute  with absolute evidence, whatever else: it needs a fixed address,
 *   pic       else with interposed evidence,
 *   pie       else with independent and direct evidence,
 *   none      else. -fPIC code that uses only its own statics and calls, or hidden
 *             symbols, is the same bytes as -fPIE code and gets no name.
 *
 * Exceptions that keep this true: gcc and clang may use the GOT for weak, common
 * and indirect (ifunc) symbols of their own also in PIE, so those are no interposed
 * evidence. Symbols without a section (SHN_ABS) are numbers, no addresses. clang
 * -fno-semantic-interposition replaces own globals with local labels, so neither
 * side of it names a global symbol.
 */
#include "reloc.h"

#include "util.h"

#include <string.h>

/*
 * Newer than elf.h of the distributions the kit runs on: the APX forms of
 * GOTPCRELX, GOTTPOFF and GOTPC32_TLSDESC, for instructions whose displacement
 * stands 4, 5 or 6 bytes behind their start (x86-64 psABI, "Relocation Types").
 */
#define R_X86_64_CODE_4_GOTPCRELX	43
#define R_X86_64_CODE_4_GOTTPOFF	44
#define R_X86_64_CODE_4_GOTPC32_TLSDESC 45
#define R_X86_64_CODE_5_GOTPCRELX	46
#define R_X86_64_CODE_5_GOTTPOFF	47
#define R_X86_64_CODE_5_GOTPC32_TLSDESC 48
#define R_X86_64_CODE_6_GOTPCRELX	49
#define R_X86_64_CODE_6_GOTTPOFF	50
#define R_X86_64_CODE_6_GOTPC32_TLSDESC 51

const char *const code_model_name[MODELS] = {
	[MODEL_NONE] = "none",
	[MODEL_ABSOLUTE] = "absolute",
	[MODEL_PIE] = "pie",
	[MODEL_PIC] = "pic",
	[MODEL_MIXED] = "mixed",
};

/*
 * Source: x86-64 psABI 1.0, table "Relocation Types" and its text, and U. Drepper,
 * "ELF Handling For Thread-Local Storage", for the TLS models.
 *
 *   GOT          an offset to (or in) the GOT entry of the symbol
 *   PLT          an address that may become the PLT entry of the symbol; also every
 *                plain call since binutils 2.31, and the call to __tls_get_addr
 *   TLS GD       general dynamic, classic (one __tls_get_addr call each) or through a
 *                descriptor. TLSDESC_CALL marks the call of the same access: not counted
 *   TLS LD       local dynamic: one __tls_get_addr call each. The DTPOFF offsets of the
 *                accesses that share its result are not counted
 *   TLS IE       initial exec: offset of the GOT entry that holds the thread offset
 *   TLS LE       local exec: the thread offset itself
 *   absolute     the address itself, at any width
 *   PC relative  the distance to the symbol, or from and to the start of the GOT
 *
 * None of them: sizes, DTPOFF, and the types of dynamic relocations.
 */
enum reloc_class
reloc_class(uint64_t type)
{
	switch (type) {
	case R_X86_64_GOT32:
	case R_X86_64_GOT64:
	case R_X86_64_GOTPCREL:
	case R_X86_64_GOTPCREL64:
	case R_X86_64_GOTPCRELX:
	case R_X86_64_REX_GOTPCRELX:
	case R_X86_64_CODE_4_GOTPCRELX:
	case R_X86_64_CODE_5_GOTPCRELX:
	case R_X86_64_CODE_6_GOTPCRELX:
		return RELOC_GOT;
	case R_X86_64_PLT32:
	case R_X86_64_GOTPLT64:
	case R_X86_64_PLTOFF64:
		return RELOC_PLT;
	case R_X86_64_TLSGD:
	case R_X86_64_GOTPC32_TLSDESC:
	case R_X86_64_CODE_4_GOTPC32_TLSDESC:
	case R_X86_64_CODE_5_GOTPC32_TLSDESC:
	case R_X86_64_CODE_6_GOTPC32_TLSDESC:
		return RELOC_TLS_GD;
	case R_X86_64_TLSLD:
		return RELOC_TLS_LD;
	case R_X86_64_GOTTPOFF:
	case R_X86_64_CODE_4_GOTTPOFF:
	case R_X86_64_CODE_5_GOTTPOFF:
	case R_X86_64_CODE_6_GOTTPOFF:
		return RELOC_TLS_IE;
	case R_X86_64_TPOFF32:
	case R_X86_64_TPOFF64:
		return RELOC_TLS_LE;
	case R_X86_64_64:
	case R_X86_64_32:
	case R_X86_64_32S:
	case R_X86_64_16:
	case R_X86_64_8:
		return RELOC_ABSOLUTE;
	case R_X86_64_PC64:
	case R_X86_64_PC32:
	case R_X86_64_PC16:
	case R_X86_64_PC8:
	case R_X86_64_GOTOFF64:
	case R_X86_64_GOTPC32:
	case R_X86_64_GOTPC64:
		return RELOC_PC_RELATIVE;
	default:
		return RELOC_OTHER;
	}
}

bool
code_is_branch(const unsigned char *p, size_t at)
{
	if (at >= 1 && (p[at - 1] == 0xe8 || p[at - 1] == 0xe9))
		return true;
	if (at < 2)
		return false;
	return (p[at - 2] == 0x0f && (p[at - 1] & 0xf0) == 0x80) ||
	       (p[at - 2] == 0xc7 && p[at - 1] == 0xf8);
}

bool
code_is_lea(const unsigned char *p, size_t at)
{
	return at >= 2 && p[at - 2] == 0x8d && (p[at - 1] & 0xc7) == 0x05;
}

Elf_Data *
rela_open(const struct elffile *e, size_t index, size_t *n)
{
	GElf_Shdr shdr;
	Elf_Scn *scn = elffile_section(e, index, &shdr);
	Elf_Data *data;

	if (shdr.sh_entsize != sizeof(Elf64_Rela) || shdr.sh_size % sizeof(Elf64_Rela) != 0)
		elffile_corrupt(e, "wrong size of relocations");
	data = elffile_data(e, scn);
	*n = data->d_size / sizeof(Elf64_Rela);
	return data;
}

void
rela_get(const struct elffile *e, Elf_Data *data, size_t i, GElf_Rela *rela)
{
	if (gelf_getrela(data, (int)i, rela) == NULL)
		elffile_corrupt(e, "a relocation is missing");
}

/* --- evidence ------------------------------------------------------------- */

/* One relocation with what is around it. */
struct site {
	uint64_t type;
	enum reloc_class class;
	GElf_Sym sym;
	size_t section; /* of the symbol, 0 if it has none */
	const unsigned char *code;
	size_t at; /* of the relocated bytes in code */
};

/* A symbol another module could preempt if this were part of a shared library. */
static bool
is_preemptible(const GElf_Sym *sym)
{
	const unsigned char bind = GELF_ST_BIND(sym->st_info);

	return (bind == STB_GLOBAL || bind == STB_WEAK) &&
	       GELF_ST_VISIBILITY(sym->st_other) == STV_DEFAULT;
}

/* A strong definition in this object that PIE would never look up in the GOT. */
static bool
is_own_global(const struct site *s)
{
	return s->section != SHN_UNDEF && is_preemptible(&s->sym) &&
	       GELF_ST_BIND(s->sym.st_info) == STB_GLOBAL &&
	       GELF_ST_TYPE(s->sym.st_info) != STT_GNU_IFUNC;
}

/* "call *x@GOTPCREL(%rip)" and jmp: -fno-plt has them in every model. */
static bool
is_indirect_branch(const struct site *s)
{
	const unsigned char *p = s->code + s->at;

	return s->at >= 2 && p[-2] == 0xff && (p[-1] == 0x15 || p[-1] == 0x25);
}

static void
weigh_code(struct evidence *ev, const struct site *s)
{
	switch (s->class) {
	case RELOC_GOT:
		ev->interposed += is_own_global(s);
		ev->independent += !is_indirect_branch(s);
		break;
	case RELOC_TLS_GD:
	case RELOC_TLS_LD:
		ev->interposed++;
		break;
	case RELOC_TLS_LE:
		ev->direct++;
		break;
	case RELOC_ABSOLUTE:
		ev->absolute += s->sym.st_shndx != SHN_ABS;
		break;
	case RELOC_PC_RELATIVE:
		if (s->type != R_X86_64_PC32) {
			/* the GOT's base: the medium and large models, position independent */
			ev->independent += s->type == R_X86_64_GOTPC32 ||
					   s->type == R_X86_64_GOTPC64 ||
					   s->type == R_X86_64_GOTOFF64;
			ev->direct += s->type == R_X86_64_GOTOFF64 && is_own_global(s);
		} else if (!code_is_branch(s->code, s->at)) {
			ev->direct += is_preemptible(&s->sym);
			ev->independent += code_is_lea(s->code, s->at);
		}
		break;
	default:
		break;
	}
}

/* Jump tables and constants: addresses in absolute code, offsets in the other. */
static void
weigh_rodata(struct evidence *ev, const struct site *s)
{
	if (s->type == R_X86_64_64 || s->type == R_X86_64_32 || s->type == R_X86_64_32S)
		ev->absolute += s->sym.st_shndx != SHN_ABS;
	else if (s->type == R_X86_64_PC32)
		ev->independent++;
}

/* --- objects -------------------------------------------------------------- */

/* .rodata, .rodata.str1.1, .rodata.name: constants, but not tables other tools read. */
static bool
is_rodata(const GElf_Shdr *shdr, const char *name)
{
	return (shdr->sh_flags & SHF_ALLOC) != 0 && (shdr->sh_flags & SHF_WRITE) == 0 &&
	       strncmp(name, ".rodata", strlen(".rodata")) == 0;
}

static void
read_relocs(struct object *o, const struct elffile *e, size_t index, const GElf_Shdr *rela_shdr)
{
	GElf_Shdr shdr;
	Elf_Scn *scn = elffile_section(e, rela_shdr->sh_info, &shdr);
	const bool text = elffile_is_text(&shdr);
	struct symtab symtab;
	Elf_Data *rela_data, *data;
	GElf_Rela rela;
	struct site s;
	size_t n;

	if (!text && !is_rodata(&shdr, elffile_section_name(e, &shdr)))
		return;
	symtab_open(&symtab, e, rela_shdr->sh_link);
	rela_data = rela_open(e, index, &n);
	data = elffile_data(e, scn);
	for (size_t i = 0; i < n; i++) {
		rela_get(e, rela_data, i, &rela);
		if (rela.r_offset >= data->d_size)
			elffile_corrupt(e, "a relocation lies outside its section");
		s.type = GELF_R_TYPE(rela.r_info);
		s.class = reloc_class(s.type);
		s.code = data->d_buf;
		s.at = rela.r_offset;
		symtab_get(&symtab, e, GELF_R_SYM(rela.r_info), &s.sym, &s.section);
		if (text && s.class != RELOC_OTHER)
			o->relocs[s.class]++;
		if (text)
			weigh_code(&o->evidence, &s);
		else
			weigh_rodata(&o->evidence, &s);
	}
}

/* .data.rel.ro exists where constants need relocations but the code is position independent. */
static bool
is_relro_data(const GElf_Shdr *shdr, const char *name)
{
	return shdr->sh_type == SHT_PROGBITS && shdr->sh_size > 0 &&
	       strncmp(name, ".data.rel.ro", strlen(".data.rel.ro")) == 0;
}

void
object_read(struct object *o, const struct elffile *e)
{
	GElf_Shdr shdr;
	const char *name;

	*o = (struct object){0};
	if (e->ehdr.e_type == ET_EXEC || e->ehdr.e_type == ET_DYN)
		die(EXIT_BAD, "%s is linked, no object; use 'elfproof binary'", e->blob->label);
	if (e->ehdr.e_type != ET_REL)
		die(EXIT_BAD, "%s is no object (ELF type %u)", e->blob->label,
			(unsigned int)e->ehdr.e_type);
	for (size_t i = 1; i < e->n_sections; i++) {
		elffile_section(e, i, &shdr);
		name = elffile_section_name(e, &shdr);
		if (elffile_is_text(&shdr))
			o->text_bytes += shdr.sh_size;
		if (shdr.sh_type == SHT_RELA)
			read_relocs(o, e, i, &shdr);
		o->evidence.independent += is_relro_data(&shdr, name);
		/* gcc's sections of GIMPLE; clang writes bitcode instead of ELF */
		o->lto |= strncmp(name, ".gnu.lto_", strlen(".gnu.lto_")) == 0;
	}
}

enum code_model
object_model(const struct object *o)
{
	const struct evidence *ev = &o->evidence;

	if (ev->absolute > 0)
		return MODEL_ABSOLUTE;
	if (ev->interposed > 0)
		return MODEL_PIC;
	if (ev->independent > 0 && ev->direct > 0)
		return MODEL_PIE;
	return MODEL_NONE;
}
