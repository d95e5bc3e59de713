/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * elfproof binary, linked: what the linker made. The ELF type says where the image may be
 * loaded, which is its code model; what is left of the objects' GOT, PLT and
 * __tls_get_addr uses is counted in the code itself, after relaxation.
 */
#include "elfproof.h"

#include "reloc.h"
#include "util.h"

#include <elfutils/libdwelf.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* Newer than elf.h of some distributions: packed relative relocations (gABI, 2023). */
#ifndef SHT_RELR
#define SHT_RELR 19
#endif

#define TLS_GET_ADDR "__tls_get_addr"

/* Address ranges of the sections of one kind; linkers make at most four of a kind. */
struct ranges {
	struct {
		uint64_t low, high; /* high is exclusive */
	} range[8];
	size_t n;
};

/* Addresses a call to __tls_get_addr can name. */
struct targets {
	uint64_t *address;
	size_t n;
};

struct binary {
	struct elffile e;
	struct ranges got, plt;
	/* from the dynamic section */
	bool has_soname, has_pie_flag, has_textrel;
	char *needed; /* comma-separated, "-" if none */
	char *interp; /* "-" if none */
	/* from the sections */
	uint64_t text_bytes, got_bytes, plt_entries;
	uint64_t relative, glob_dat;
	/* from relocations the linker kept, if has_relocs */
	bool has_relocs;
	uint64_t got_left, plt_left;
};

/* --- addresses ------------------------------------------------------------ */

static bool
in_ranges(const struct ranges *r, uint64_t address)
{
	for (size_t i = 0; i < r->n; i++) {
		if (address >= r->range[i].low && address < r->range[i].high)
			return true;
	}
	return false;
}

static void
add_range(const struct elffile *e, struct ranges *r, const GElf_Shdr *shdr)
{
	if (r->n == sizeof(r->range) / sizeof(r->range[0]))
		elffile_corrupt(e, "more GOT or PLT sections than a linker makes");
	if (shdr->sh_addr + shdr->sh_size < shdr->sh_addr)
		elffile_corrupt(e, "a section reaches beyond the address space");
	r->range[r->n].low = shdr->sh_addr;
	r->range[r->n].high = shdr->sh_addr + shdr->sh_size;
	r->n++;
}

/* Bytes [address, address + size) of the image in the file, NULL if they are not there. */
static const unsigned char *
image_bytes(const struct elffile *e, uint64_t address, uint64_t size)
{
	GElf_Phdr phdr;

	for (size_t i = 0; i < e->n_segments; i++) {
		if (gelf_getphdr(e->elf, (int)i, &phdr) == NULL || phdr.p_type != PT_LOAD)
			continue;
		if (address >= phdr.p_vaddr && address - phdr.p_vaddr <= phdr.p_filesz &&
			size <= phdr.p_filesz - (address - phdr.p_vaddr))
			return e->blob->data + phdr.p_offset + (address - phdr.p_vaddr);
	}
	return NULL;
}

static int32_t
get_s32(const unsigned char *p)
{
	int32_t value;

	memcpy(&value, p, sizeof(value));
	return value;
}

/* The displacement at p, which stands at address, as the address it names. */
static uint64_t
relative_target(const unsigned char *p, uint64_t address)
{
	return address + sizeof(int32_t) + (uint64_t)(int64_t)get_s32(p);
}

/* --- segments and the dynamic section ------------------------------------- */

static void
add_needed(struct binary *b, uint64_t strtab, uint64_t strsz, uint64_t offset)
{
	const unsigned char *table = image_bytes(&b->e, strtab, strsz);
	char *name, *list;
	size_t len;

	if (table == NULL || offset >= strsz)
		elffile_corrupt(&b->e, "the name of a needed library is missing");
	len = strnlen((const char *)table + offset, strsz - offset);
	name = printable((const char *)table + offset, len);
	list = b->needed == NULL ? xstrdup(name) : xasprintf("%s,%s", b->needed, name);
	free(name);
	free(b->needed);
	b->needed = list;
}

static void
read_dynamic(struct binary *b, const GElf_Phdr *phdr)
{
	const unsigned char *p = b->e.blob->data + phdr->p_offset;
	const size_t n = phdr->p_filesz / sizeof(Elf64_Dyn);
	uint64_t strtab = 0, strsz = 0;
	Elf64_Dyn dyn;

	for (size_t i = 0; i < n; i++) {
		memcpy(&dyn, p + i * sizeof(dyn), sizeof(dyn));
		if (dyn.d_tag == DT_NULL)
			break;
		if (dyn.d_tag == DT_STRTAB)
			strtab = dyn.d_un.d_ptr;
		else if (dyn.d_tag == DT_STRSZ)
			strsz = dyn.d_un.d_val;
		else if (dyn.d_tag == DT_SONAME)
			b->has_soname = true;
		else if (dyn.d_tag == DT_TEXTREL ||
			 (dyn.d_tag == DT_FLAGS && (dyn.d_un.d_val & DF_TEXTREL) != 0))
			b->has_textrel = true;
		else if (dyn.d_tag == DT_FLAGS_1 && (dyn.d_un.d_val & DF_1_PIE) != 0)
			b->has_pie_flag = true;
	}
	for (size_t i = 0; i < n; i++) {
		memcpy(&dyn, p + i * sizeof(dyn), sizeof(dyn));
		if (dyn.d_tag == DT_NULL)
			break;
		if (dyn.d_tag == DT_NEEDED)
			add_needed(b, strtab, strsz, dyn.d_un.d_val);
	}
}

static void
read_segments(struct binary *b)
{
	GElf_Phdr phdr;
	const char *p;

	for (size_t i = 0; i < b->e.n_segments; i++) {
		if (gelf_getphdr(b->e.elf, (int)i, &phdr) == NULL)
			elffile_corrupt(&b->e, elf_errmsg(-1));
		p = (const char *)b->e.blob->data + phdr.p_offset;
		if (phdr.p_type == PT_INTERP && b->interp == NULL)
			b->interp = printable(p, strnlen(p, phdr.p_filesz));
		else if (phdr.p_type == PT_DYNAMIC)
			read_dynamic(b, &phdr);
	}
}

/* --- sections ------------------------------------------------------------- */

static void
count_dynamic_relocs(struct binary *b, size_t index)
{
	GElf_Rela rela;
	Elf_Data *data;
	size_t n;

	data = rela_open(&b->e, index, &n);
	for (size_t i = 0; i < n; i++) {
		rela_get(&b->e, data, i, &rela);
		switch (GELF_R_TYPE(rela.r_info)) {
		case R_X86_64_RELATIVE:
		case R_X86_64_RELATIVE64:
			b->relative++;
			break;
		case R_X86_64_GLOB_DAT:
			b->glob_dat++;
			break;
		case R_X86_64_JUMP_SLOT:
		case R_X86_64_IRELATIVE:
			b->plt_entries++;
			break;
		default:
			break;
		}
	}
}

/*
 * Packed relative relocations (gABI, "Relative Relocation Table"): an even word is
 * one place, an odd word is a bit map of the 63 places that follow.
 */
static void
count_packed_relocs(struct binary *b, Elf_Scn *scn)
{
	Elf_Data *data = elffile_data(&b->e, scn);
	uint64_t word;

	for (size_t i = 0; i + sizeof(word) <= data->d_size; i += sizeof(word)) {
		memcpy(&word, (const char *)data->d_buf + i, sizeof(word));
		b->relative += (word & 1) == 0 ? 1 : (uint64_t)__builtin_popcountll(word >> 1);
	}
}

static void
read_section(struct binary *b, size_t index)
{
	static const char *const got_names[] = {".got", ".got.plt", ".igot", ".igot.plt"};
	static const char *const plt_names[] = {".plt", ".plt.sec", ".plt.got", ".iplt"};
	GElf_Shdr shdr;
	Elf_Scn *scn = elffile_section(&b->e, index, &shdr);
	const char *name = elffile_section_name(&b->e, &shdr);

	if ((shdr.sh_flags & SHF_ALLOC) == 0)
		return;
	if (elffile_is_text(&shdr))
		b->text_bytes += shdr.sh_size;
	if (shdr.sh_type == SHT_RELA)
		count_dynamic_relocs(b, index);
	if (shdr.sh_type == SHT_RELR)
		count_packed_relocs(b, scn);
	for (size_t i = 0; i < sizeof(got_names) / sizeof(got_names[0]); i++) {
		if (strcmp(name, got_names[i]) == 0) {
			add_range(&b->e, &b->got, &shdr);
			b->got_bytes += shdr.sh_size;
		}
	}
	for (size_t i = 0; i < sizeof(plt_names) / sizeof(plt_names[0]); i++) {
		if (strcmp(name, plt_names[i]) == 0)
			add_range(&b->e, &b->plt, &shdr);
	}
	/* entries of functions whose GOT slot serves their address too: no JUMP_SLOT */
	if (strcmp(name, ".plt.got") == 0 && shdr.sh_entsize > 0)
		b->plt_entries += shdr.sh_size / shdr.sh_entsize;
}

/* Without a section table the executable segments are the code. */
static void
read_text_segments(struct binary *b)
{
	GElf_Phdr phdr;

	for (size_t i = 0; i < b->e.n_segments; i++) {
		if (gelf_getphdr(b->e.elf, (int)i, &phdr) != NULL && phdr.p_type == PT_LOAD &&
			(phdr.p_flags & PF_X) != 0)
			b->text_bytes += phdr.p_filesz;
	}
}

/* --- relocations the linker kept (--emit-relocs) -------------------------- */

/* An operand "(%rip)" in front of the bytes at p[at]. */
static bool
is_rip_operand(const unsigned char *p, size_t at)
{
	return at >= 1 && (p[at - 1] & 0xc7) == 0x05;
}

/*
 * True if the code at p[at] still reads the GOT. Linkers keep the type of a GOT
 * access they relaxed (lld) or change it (bfd), so the instruction is asked. The
 * entry's address follows from G + GOT + A - P of the psABI.
 */
static bool
uses_got(const struct binary *b, const unsigned char *p, size_t at, const GElf_Rela *rela)
{
	const uint64_t entry =
		rela->r_offset + (uint64_t)(int64_t)get_s32(p + at) - (uint64_t)rela->r_addend;

	return is_rip_operand(p, at) && in_ranges(&b->got, entry);
}

static bool
uses_plt(const struct binary *b, const unsigned char *p, size_t at, uint64_t place)
{
	return code_is_branch(p, at) && in_ranges(&b->plt, relative_target(p + at, place));
}

static void
read_kept_relocs(struct binary *b, size_t index)
{
	GElf_Shdr rela_shdr, shdr;
	Elf_Data *rela_data, *data;
	enum reloc_class class;
	const unsigned char *p;
	uint64_t type;
	GElf_Rela rela;
	Elf_Scn *scn;
	size_t n, at;

	elffile_section(&b->e, index, &rela_shdr);
	/* loaded ones are the dynamic linker's; older linkers name the PLT as what they apply to */
	if (rela_shdr.sh_type != SHT_RELA || (rela_shdr.sh_flags & SHF_ALLOC) != 0)
		return;
	scn = elffile_section(&b->e, rela_shdr.sh_info, &shdr);
	if (!elffile_is_text(&shdr))
		return;
	b->has_relocs = true;
	rela_data = rela_open(&b->e, index, &n);
	data = elffile_data(&b->e, scn);
	p = data->d_buf;
	for (size_t i = 0; i < n; i++) {
		rela_get(&b->e, rela_data, i, &rela);
		type = GELF_R_TYPE(rela.r_info);
		class = reloc_class(type);
		if (class != RELOC_GOT && class != RELOC_PLT && type != R_X86_64_PC32)
			continue;
		if (rela.r_offset < shdr.sh_addr || data->d_size < sizeof(int32_t) ||
			rela.r_offset - shdr.sh_addr > data->d_size - sizeof(int32_t))
			elffile_corrupt(&b->e, "a relocation lies outside its section");
		at = rela.r_offset - shdr.sh_addr;
		if (class == RELOC_GOT)
			b->got_left += uses_got(b, p, at, &rela);
		b->plt_left += uses_plt(b, p, at, rela.r_offset);
	}
}

/* --- calls of __tls_get_addr ----------------------------------------------- */

static void
add_target(struct targets *t, uint64_t address)
{
	t->address = xreallocarray(t->address, t->n + 1, sizeof(*t->address));
	t->address[t->n++] = address;
}

static bool
is_target(const struct targets *t, uint64_t address)
{
	for (size_t i = 0; i < t->n; i++) {
		if (t->address[i] == address)
			return true;
	}
	return false;
}

/* Where symbol tables define it: static binaries and the dynamic linker itself. */
static void
find_definitions(const struct binary *b, struct targets *t)
{
	static const uint32_t type[] = {SHT_SYMTAB, SHT_DYNSYM};
	struct symtab symtab;
	GElf_Sym sym;
	size_t section;

	for (size_t k = 0; k < sizeof(type) / sizeof(type[0]); k++) {
		symtab_find(&symtab, &b->e, type[k]);
		for (size_t i = 1; i < symtab.n; i++) {
			symtab_get(&symtab, &b->e, i, &sym, &section);
			if (section != SHN_UNDEF &&
				strcmp(symtab_name(&symtab, &b->e, &sym), TLS_GET_ADDR) == 0)
				add_target(t, sym.st_value);
		}
	}
}

/* The GOT slots the dynamic linker fills with its address. */
static void
find_slots(const struct binary *b, struct targets *slots)
{
	struct symtab symtab;
	GElf_Shdr shdr;
	GElf_Rela rela;
	GElf_Sym sym;
	Elf_Data *data;
	size_t n, section;

	for (size_t i = 1; i < b->e.n_sections; i++) {
		elffile_section(&b->e, i, &shdr);
		if (shdr.sh_type != SHT_RELA || (shdr.sh_flags & SHF_ALLOC) == 0 ||
			shdr.sh_link == SHN_UNDEF)
			continue;
		symtab_open(&symtab, &b->e, shdr.sh_link);
		data = rela_open(&b->e, i, &n);
		for (size_t k = 0; k < n; k++) {
			rela_get(&b->e, data, k, &rela);
			if (GELF_R_SYM(rela.r_info) == 0)
				continue;
			symtab_get(&symtab, &b->e, GELF_R_SYM(rela.r_info), &sym, &section);
			if (strcmp(symtab_name(&symtab, &b->e, &sym), TLS_GET_ADDR) == 0)
				add_target(slots, rela.r_offset);
		}
	}
}

/*
 * The PLT entries that jump through one of the slots: "jmp *slot(%rip)" is FF 25 in
 * an entry of 16 bytes, or of 8 in .plt.got; in entries with endbr64 (or bnd) in
 * front it stands 4 or 5 bytes behind the start.
 */
static void
find_stubs(const struct binary *b, const struct targets *slots, struct targets *t)
{
	const unsigned char *p;
	uint64_t low, high;

	for (size_t i = 0; i < b->plt.n; i++) {
		low = b->plt.range[i].low;
		high = b->plt.range[i].high;
		p = image_bytes(&b->e, low, high - low);
		if (p == NULL)
			continue;
		for (uint64_t at = 2; at + sizeof(int32_t) <= high - low; at++) {
			if (p[at - 2] != 0xff || p[at - 1] != 0x25 ||
				!is_target(slots, relative_target(p + at, low + at)))
				continue;
			add_target(t, (low + at - 2) & ~UINT64_C(7));
		}
	}
}

static uint64_t
scan_section(
	const struct elffile *e, const struct targets *t, const struct targets *slots, size_t index)
{
	GElf_Shdr shdr;
	Elf_Scn *scn = elffile_section(e, index, &shdr);
	const unsigned char *p;
	uint64_t calls = 0, target;
	Elf_Data *data;

	if (!elffile_is_text(&shdr))
		return 0;
	data = elffile_data(e, scn);
	p = data->d_buf;
	for (size_t at = 2; at + sizeof(int32_t) <= data->d_size; at++) {
		target = relative_target(p + at, shdr.sh_addr + at);
		if (p[at - 1] == 0xe8 || p[at - 1] == 0xe9)
			calls += is_target(t, target);
		else if (p[at - 2] == 0xff && p[at - 1] == 0x15)
			calls += is_target(slots, target);
	}
	return calls;
}

/*
 * Calls of __tls_get_addr found in the code, with or without kept relocations, for linkers
 * write over the sequences they relax: E8 with one of its addresses as target,
 * or FF 15 through one of its slots. Four bytes of other code equal an address with
 * a chance of 2^-32 a byte, so the count is right in practice.
 * Returns -1 if the file has no symbols that could tell.
 */
static int64_t
scan_tls_calls(const struct binary *b)
{
	struct targets slots = {0}, t = {0};
	struct symtab symtab;
	uint64_t calls = 0;

	symtab_find(&symtab, &b->e, SHT_SYMTAB);
	if (symtab.data == NULL)
		symtab_find(&symtab, &b->e, SHT_DYNSYM);
	if (symtab.data == NULL)
		return -1;
	find_definitions(b, &t);
	find_slots(b, &slots);
	find_stubs(b, &slots, &t);
	if (t.n > 0 || slots.n > 0) {
		for (size_t i = 1; i < b->e.n_sections; i++)
			calls += scan_section(&b->e, &t, &slots, i);
	}
	free(slots.address);
	free(t.address);
	return (int64_t)calls;
}

/* --- output --------------------------------------------------------------- */

/*
 * DF_1_PIE marks a PIE since binutils 2.26 and lld; before that, one is known by an
 * interpreter without a name for others to need it by.
 */
static bool
is_pie(const struct binary *b)
{
	return b->has_pie_flag || (b->interp != NULL && !b->has_soname);
}

static const char *
elf_type_name(const struct binary *b)
{
	if (b->e.ehdr.e_type == ET_EXEC)
		return "EXEC";
	return is_pie(b) ? "DYN-PIE" : "DYN";
}

/*
 * EXEC is linked for one address. A DYN may be loaded anywhere, unless absolute code
 * is in it, which the dynamic linker has to patch (text relocations).
 */
static enum code_model
binary_model(const struct binary *b)
{
	if (b->e.ehdr.e_type == ET_EXEC)
		return MODEL_ABSOLUTE;
	if (b->has_textrel)
		return MODEL_MIXED;
	return is_pie(b) ? MODEL_PIE : MODEL_PIC;
}

static void
print_build_id(const struct binary *b)
{
	const void *id = NULL;
	const ssize_t len = dwelf_elf_gnu_build_id(b->e.elf, &id);

	printf("build_id=%s", len <= 0 ? "-" : "");
	for (ssize_t i = 0; i < len; i++)
		printf("%02x", ((const unsigned char *)id)[i]);
	printf("\n");
}

/* A count that may be unknown. */
static void
print_count(const char *key, bool known, uint64_t count)
{
	if (known)
		printf("%s=%" PRIu64 "\n", key, count);
	else
		printf("%s=-\n", key);
}

static void
print_binary(const struct binary *b)
{
	const bool sections = b->e.n_sections > 0;
	const bool dynamic = b->interp != NULL || b->needed != NULL ||
			     (b->e.ehdr.e_type == ET_DYN && !is_pie(b));
	const int64_t tls_calls = scan_tls_calls(b);

	printf("elf_type=%s\n", elf_type_name(b));
	printf("code_model=%s\n", code_model_name[binary_model(b)]);
	printf("interp=%s\n", b->interp == NULL ? "-" : b->interp);
	printf("static=%d\n", !dynamic);
	printf("text_bytes=%" PRIu64 "\n", b->text_bytes);
	print_count("dyn_relative", sections, b->relative);
	print_count("dyn_glob_dat", sections, b->glob_dat);
	print_count("plt_entries", sections, b->plt_entries);
	print_count("got_bytes", sections, b->got_bytes);
	print_count("tls_get_addr", tls_calls >= 0, (uint64_t)tls_calls);
	print_count("got_uses_left", b->has_relocs, b->got_left);
	print_count("plt_uses_left", b->has_relocs, b->plt_left);
	printf("textrel=%d\n", b->has_textrel);
	print_build_id(b);
	printf("needed=%s\n", b->needed == NULL ? "-" : b->needed);
}

/* Reads one linked file. *blob must outlive *b. */
static void
open_binary(struct binary *b, struct blob *blob, const char *path)
{
	*b = (struct binary){0};
	blob_read(blob, path);
	if (blob_is_archive(blob))
		die(EXIT_BAD, "%s is an archive; use 'elfproof objects'", blob->label);
	elffile_open(&b->e, blob);
	if (b->e.ehdr.e_type != ET_EXEC && b->e.ehdr.e_type != ET_DYN)
		die(EXIT_BAD, "%s is not linked (ELF type %u); use 'elfproof objects'", blob->label,
			(unsigned int)b->e.ehdr.e_type);
	read_segments(b);
	for (size_t i = 1; i < b->e.n_sections; i++)
		read_section(b, i);
	if (b->e.n_sections == 0)
		read_text_segments(b);
	for (size_t i = 1; i < b->e.n_sections; i++)
		read_kept_relocs(b, i);
}

static void
close_binary(struct binary *b, struct blob *blob)
{
	elffile_close(&b->e);
	free(b->interp);
	free(b->needed);
	blob_free(blob);
}

void
elfproof_binary(const char *path)
{
	struct binary b;
	struct blob blob;

	open_binary(&b, &blob, path);
	print_binary(&b);
	close_binary(&b, &blob);
}

/* A count that may be unknown, as a cell. */
static void
print_cell(bool known, uint64_t count)
{
	if (known)
		printf("\t%" PRIu64, count);
	else
		printf("\t-");
}

static void
print_row(const struct binary *b, const struct blob *blob)
{
	const bool sections = b->e.n_sections > 0;
	const int64_t tls_calls = scan_tls_calls(b);

	printf("%s\t%s\t%s\t%" PRIu64, blob->base, elf_type_name(b),
		code_model_name[binary_model(b)], b->text_bytes);
	print_cell(sections, b->relative);
	print_cell(sections, b->glob_dat);
	print_cell(sections, b->plt_entries);
	print_cell(sections, b->got_bytes);
	print_cell(tls_calls >= 0, (uint64_t)tls_calls);
	print_cell(b->has_relocs, b->got_left);
	print_cell(b->has_relocs, b->plt_left);
	printf("\t%d\t%s\n", b->has_textrel, b->needed == NULL ? "-" : b->needed);
}

/* Everything is read before anything is printed: an error leaves no half table behind. */
void
elfproof_linked(char **path, size_t n)
{
	struct binary *b = xcalloc(n, sizeof(*b));
	struct blob *blob = xcalloc(n, sizeof(*blob));

	for (size_t i = 0; i < n; i++)
		open_binary(&b[i], &blob[i], path[i]);
	printf("file\telf_type\tcode_model\ttext_bytes\tdyn_relative\tdyn_glob_dat\tplt_entries\t"
	       "got_bytes\ttls_get_addr\tgot_uses_left\tplt_uses_left\ttextrel\tneeded\n");
	for (size_t i = 0; i < n; i++) {
		print_row(&b[i], &blob[i]);
		close_binary(&b[i], &blob[i]);
	}
	free(blob);
	free(b);
}
