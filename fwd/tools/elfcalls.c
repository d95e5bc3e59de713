/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Direct calls inside one object: which of its own functions its code calls. What a
 * compiler inlined is not called any more. Most calls have a relocation; the assembler
 * resolves those of a local function in the same section itself, so code is searched for
 * calls and jumps that lead exactly to where another function begins.
 */
#include "elfproof.h"

#include "reloc.h"
#include "util.h"

#include <stdlib.h>
#include <string.h>

struct place {
	size_t section;
	uint64_t start, end;
	const char *name; /* belongs to the elffile */
	size_t name_len;  /* without what the compiler appended */
};

struct calls {
	const struct elffile *e;
	struct place *place;
	size_t n;
	void (*found)(void *arg, const char *name);
	void *arg;
};

/* One section of code while it is searched. */
struct code {
	size_t section;
	const unsigned char *bytes;
	size_t size;
	bool *relocated; /* where the operand of a relocation begins */
};

size_t
function_name_length(const char *name)
{
	/* gcc: ipa-split.cc, cgraphclones.cc, final.cc; clang: hot-cold splitting, ThinLTO */
	static const char *const suffix[] = {
		".cold", ".constprop", ".isra", ".llvm", ".lto_priv", ".part"};
	size_t len = strlen(name), end;

	for (;;) {
		end = len;
		while (end > 0 && name[end - 1] >= '0' && name[end - 1] <= '9')
			end--;
		/* the number is optional: ".cold", ".part.0" */
		end = end < len && end > 0 && name[end - 1] == '.' ? end - 1 : len;
		for (size_t i = 0;; i++) {
			if (i == sizeof(suffix) / sizeof(suffix[0]))
				return len;
			if (end > strlen(suffix[i]) && strncmp(name + end - strlen(suffix[i]),
							       suffix[i], strlen(suffix[i])) == 0) {
				len = end - strlen(suffix[i]);
				break;
			}
		}
	}
}

bool
is_function(const struct elffile *e, const GElf_Sym *sym, size_t section)
{
	const unsigned char type = GELF_ST_TYPE(sym->st_info);
	GElf_Shdr shdr;

	/* linkers give their own symbols no size */
	if ((type != STT_FUNC && type != STT_GNU_IFUNC) || section == SHN_UNDEF ||
		sym->st_name == 0 || sym->st_size == 0)
		return false;
	elffile_section(e, section, &shdr);
	return elffile_is_text(&shdr);
}

static int
by_place(const void *a, const void *b)
{
	const struct place *x = a, *y = b;

	if (x->section != y->section)
		return x->section < y->section ? -1 : 1;
	if (x->start != y->start)
		return x->start < y->start ? -1 : 1;
	return strcmp(x->name, y->name);
}

static void
read_places(struct calls *c)
{
	struct symtab symtab;
	GElf_Sym sym;
	size_t section;

	symtab_find(&symtab, c->e, SHT_SYMTAB);
	c->place = xcalloc(symtab.n + 1, sizeof(*c->place));
	for (size_t i = 1; i < symtab.n; i++) {
		struct place *p = &c->place[c->n];

		symtab_get(&symtab, c->e, i, &sym, &section);
		if (!is_function(c->e, &sym, section) || sym.st_value > INT64_MAX ||
			sym.st_size > INT64_MAX)
			continue;
		p->section = section;
		p->start = sym.st_value;
		p->end = sym.st_value + sym.st_size;
		p->name = symtab_name(&symtab, c->e, &sym);
		p->name_len = function_name_length(p->name);
		c->n++;
	}
	qsort(c->place, c->n, sizeof(*c->place), by_place);
}

/* Index of the first function that begins at offset or behind it. */
static size_t
lower_bound(const struct calls *c, size_t section, uint64_t offset)
{
	size_t low = 0, high = c->n;

	while (low < high) {
		size_t middle = low + (high - low) / 2;
		const struct place *p = &c->place[middle];

		if (p->section < section || (p->section == section && p->start < offset))
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* The function that begins exactly there, of several names the first; NULL if none does. */
static const struct place *
function_at(const struct calls *c, size_t section, uint64_t offset)
{
	size_t i = lower_bound(c, section, offset);

	if (i == c->n || c->place[i].section != section || c->place[i].start != offset)
		return NULL;
	return &c->place[i];
}

/* The function with the byte at offset in it, or NULL. */
static const struct place *
function_around(const struct calls *c, size_t section, uint64_t offset)
{
	size_t i = lower_bound(c, section, offset + 1);

	if (i == 0 || c->place[i - 1].section != section || c->place[i - 1].end <= offset)
		return NULL;
	/* of several names the first, as in function_at() */
	return function_at(c, section, c->place[i - 1].start);
}

/* Counts a call from offset in a section to what begins at target in another or the same. */
static void
note_call(struct calls *c, size_t from_section, uint64_t from, size_t to_section, uint64_t target)
{
	const struct place *callee = function_at(c, to_section, target);
	const struct place *caller;

	if (callee == NULL)
		return;
	caller = function_around(c, from_section, from);
	/* recursion, and jumps between a function and what was split off it */
	if (caller != NULL && caller->name_len == callee->name_len &&
		strncmp(caller->name, callee->name, caller->name_len) == 0)
		return;
	c->found(c->arg, callee->name);
}

static bool
is_got_call(const struct code *code, size_t at)
{
	return at >= 2 && code->bytes[at - 2] == 0xff &&
	       (code->bytes[at - 1] == 0x15 || code->bytes[at - 1] == 0x25);
}

static void
read_relocated(struct calls *c, const struct code *code, size_t index, const GElf_Shdr *rela_shdr)
{
	struct symtab symtab;
	Elf_Data *data;
	GElf_Rela rela;
	size_t n;

	symtab_open(&symtab, c->e, rela_shdr->sh_link);
	data = rela_open(c->e, index, &n);
	for (size_t i = 0; i < n; i++) {
		enum reloc_class class;
		uint64_t target;
		size_t section;
		GElf_Sym sym;

		rela_get(c->e, data, i, &rela);
		if (rela.r_offset >= code->size)
			elffile_corrupt(c->e, "a relocation lies outside its section");
		code->relocated[rela.r_offset] = true;
		symtab_get(&symtab, c->e, GELF_R_SYM(rela.r_info), &sym, &section);
		if (section == SHN_UNDEF)
			continue;
		class = reloc_class(GELF_R_TYPE(rela.r_info));
		target = sym.st_value;
		if (class == RELOC_GOT) {
			if (!is_got_call(code, rela.r_offset))
				continue;
		} else if (class == RELOC_PLT || class == RELOC_PC_RELATIVE) {
			if (!code_is_branch(code->bytes, rela.r_offset))
				continue;
			/* the processor adds to the end of the operand */
			target += (uint64_t)rela.r_addend + 4;
		} else {
			continue;
		}
		note_call(c, code->section, rela.r_offset, section, target);
	}
}

static int32_t
read_i32(const unsigned char *p)
{
	uint32_t x = p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;
	int32_t value;

	memcpy(&value, &x, sizeof(value));
	return value;
}

/* Calls without a relocation. Displacements of 8 bits only where a function ends with one. */
static void
search(struct calls *c, const struct code *code)
{
	for (size_t i = 0; i < c->n; i++) {
		const struct place *p = &c->place[i];

		if (p->section != code->section || p->end > code->size)
			continue;
		if (i > 0 && c->place[i - 1].section == p->section &&
			c->place[i - 1].start == p->start)
			continue; /* another name of it */
		for (uint64_t at = p->start + 1; at + 4 <= p->end; at++) {
			if (!code->relocated[at] &&
				code_is_branch(code->bytes + p->start, (size_t)(at - p->start)))
				note_call(c, p->section, at, p->section,
					at + 4 + (uint64_t)(int64_t)read_i32(code->bytes + at));
		}
		if (p->end - p->start >= 2 && code->bytes[p->end - 2] == 0xeb &&
			!code->relocated[p->end - 1]) {
			uint64_t byte = code->bytes[p->end - 1];

			note_call(c, p->section, p->end - 1, p->section,
				p->end + byte - (byte >= 0x80 ? 0x100 : 0));
		}
	}
}

static void
read_section(struct calls *c, size_t section)
{
	struct code code = {.section = section};
	GElf_Shdr shdr;
	Elf_Data *data = elffile_data(c->e, elffile_section(c->e, section, &shdr));

	code.bytes = data->d_buf;
	code.size = data->d_size;
	if (code.bytes == NULL)
		return;
	code.relocated = xcalloc(code.size + 1, sizeof(*code.relocated));
	for (size_t i = 1; i < c->e->n_sections; i++) {
		elffile_section(c->e, i, &shdr);
		if (shdr.sh_type == SHT_RELA && shdr.sh_info == section)
			read_relocated(c, &code, i, &shdr);
	}
	search(c, &code);
	free(code.relocated);
}

void
elf_calls(const struct elffile *e, void (*found)(void *arg, const char *name), void *arg)
{
	struct calls c = {.e = e, .found = found, .arg = arg};
	GElf_Shdr shdr;

	read_places(&c);
	for (size_t i = 1; i < e->n_sections; i++) {
		elffile_section(e, i, &shdr);
		if (elffile_is_text(&shdr))
			read_section(&c, i);
	}
	free(c.place);
}
