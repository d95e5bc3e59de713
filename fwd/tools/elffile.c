/* SPDX-License-Identifier: BSD-3-Clause */
/* ELF files and ar archives in memory: see elffile.h. */
#include "elffile.h"

#include "util.h"

#include <ar.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* A thin archive begins with this instead of ARMAG: ar(1) of GNU binutils and of LLVM. */
#define THIN_MAGIC "!<thin>\n"

/* First bytes of LLVM bitcode, and of the wrapper some targets put around it (LLVM BitCodeFormat).
 */
static const unsigned char bitcode_magic[] = {'B', 'C', 0xc0, 0xde};
static const unsigned char bitcode_wrapper[] = {0xde, 0xc0, 0x17, 0x0b};

char *
printable(const char *s, size_t len)
{
	char *copy = xmalloc(len + 1);

	for (size_t i = 0; i < len; i++)
		copy[i] = (unsigned char)s[i] < ' ' || s[i] == 0x7f ? '?' : s[i];
	copy[len] = '\0';
	return copy;
}

static const char *
base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash == NULL ? path : slash + 1;
}

/* Length of name without what ends in .a, .a.p or .so and numbers. */
static size_t
without_suffix(const char *name, size_t len)
{
	static const char *const suffix[] = {".a", ".a.p", ".so"};
	const char *so;
	size_t n;

	for (size_t i = 0; i < sizeof(suffix) / sizeof(suffix[0]); i++) {
		n = strlen(suffix[i]);
		if (len > n && strcmp(name + len - n, suffix[i]) == 0)
			return len - n;
	}
	so = strstr(name, ".so.");
	return so != NULL && so != name ? (size_t)(so - name) : len;
}

char *
library_name(const char *path)
{
	const char *name = base_name(path);

	if (strncmp(name, "lib", strlen("lib")) == 0 && strlen(name) > strlen("lib.a"))
		name += strlen("lib");
	return printable(name, without_suffix(name, strlen(name)));
}

/* --- files ---------------------------------------------------------------- */

static void
read_all(int fd, const char *label, unsigned char *data, size_t size)
{
	size_t done = 0;

	while (done < size) {
		ssize_t n = read(fd, data + done, size - done);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			die(EXIT_BAD, "cannot read %s: %s", label, strerror(errno));
		if (n == 0)
			die(EXIT_BAD, "%s became shorter while it was read; wait for its build",
				label);
		done += (size_t)n;
	}
}

void
blob_read(struct blob *b, const char *path)
{
	char *label = printable(path, strlen(path));
	struct stat st;
	int fd;

	fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (fd < 0 || fstat(fd, &st) != 0)
		die(EXIT_BAD, "cannot open %s: %s", label, strerror(errno));
	if (!S_ISREG(st.st_mode))
		die(EXIT_BAD, "%s is no regular file; give an object, archive or binary", label);
	b->label = label;
	b->base = printable(base_name(path), strlen(base_name(path)));
	b->size = (size_t)st.st_size;
	b->data = xmalloc(b->size);
	read_all(fd, label, b->data, b->size);
	close(fd);
}

void
blob_free(struct blob *b)
{
	free(b->label);
	free(b->base);
	free(b->data);
	*b = (struct blob){0};
}

static bool
starts_with(const struct blob *b, const void *magic, size_t len)
{
	return b->size >= len && memcmp(b->data, magic, len) == 0;
}

bool
blob_is_bitcode(const struct blob *b)
{
	return starts_with(b, bitcode_magic, sizeof(bitcode_magic)) ||
	       starts_with(b, bitcode_wrapper, sizeof(bitcode_wrapper));
}

bool
blob_is_archive(const struct blob *b)
{
	return starts_with(b, ARMAG, SARMAG) || starts_with(b, THIN_MAGIC, SARMAG);
}

/* --- archives ------------------------------------------------------------- */

void
archive_open(struct archive *a, struct blob *file, const char *path)
{
	char *slash;

	*a = (struct archive){.file = *file, .path = xstrdup(path), .pos = SARMAG};
	*file = (struct blob){0};
	a->thin = starts_with(&a->file, THIN_MAGIC, SARMAG);
	slash = strrchr(a->path, '/');
	if (slash == NULL)
		a->path[0] = '\0';
	else
		slash[1] = '\0';
	a->dir = a->path;
}

void
archive_close(struct archive *a)
{
	blob_free(&a->file);
	free(a->path);
	*a = (struct archive){0};
}

static _Noreturn void
die_archive(const struct archive *a, const char *what)
{
	die(EXIT_BAD, "%s: the archive is corrupt at byte %zu: %s; build it again", a->file.label,
		a->pos, what);
}

/* A decimal number of a header, padded with spaces to len bytes. False if it is none. */
static bool
header_number(const char *field, size_t len, size_t *out)
{
	size_t value = 0, i;

	for (i = 0; i < len && field[i] >= '0' && field[i] <= '9'; i++) {
		if (__builtin_mul_overflow(value, (size_t)10, &value) ||
			__builtin_add_overflow(value, (size_t)(field[i] - '0'), &value))
			return false;
	}
	if (i == 0)
		return false;
	for (; i < len; i++) {
		if (field[i] != ' ')
			return false;
	}
	*out = value;
	return true;
}

/*
 * Name of a member: "name/" in the header itself, or "/N", where N is the place
 * of "name/\n" in the table of long names. Caller frees.
 */
static char *
member_name(const struct archive *a, const struct ar_hdr *hdr)
{
	const char *start = hdr->ar_name, *end;
	size_t offset, room = sizeof(hdr->ar_name);

	if (start[0] == '/') {
		/* binutils leaves the slash behind a base name of 15 bytes in thin archives */
		if (start[room - 1] == '/')
			room--;
		if (!header_number(start + 1, room - 1, &offset))
			die_archive(a, "a member's name is not understood");
		if (a->names == NULL || offset >= a->names_size)
			die_archive(a, "a member's name lies outside the table of names");
		start = a->names + offset;
		room = a->names_size - offset;
		end = memchr(start, '\n', room);
		if (end == NULL || end == start || end[-1] != '/')
			die_archive(a, "a member's name has no end");
		end--;
	} else {
		end = memchr(start, '/', room);
		if (end == NULL)
			end = start + strnlen(start, room);
		while (end > start && end[-1] == ' ')
			end--;
	}
	if (end == start || memchr(start, '\0', (size_t)(end - start)) != NULL)
		die_archive(a, "a member has no name");
	return strndup(start, (size_t)(end - start));
}

/* Reads the header at a->pos and moves a->pos behind it. False at the end. */
static bool
next_header(struct archive *a, struct ar_hdr *hdr, size_t *size)
{
	/* members begin at even places; the byte in between is a newline */
	a->pos += a->pos & 1;
	if (a->pos >= a->file.size)
		return false;
	if (a->file.size - a->pos < sizeof(*hdr))
		die_archive(a, "it ends inside a header");
	memcpy(hdr, a->file.data + a->pos, sizeof(*hdr));
	if (memcmp(hdr->ar_fmag, ARFMAG, sizeof(hdr->ar_fmag)) != 0 ||
		!header_number(hdr->ar_size, sizeof(hdr->ar_size), size))
		die_archive(a, "no member's header there");
	a->pos += sizeof(*hdr);
	return true;
}

static bool
is_special(const struct ar_hdr *hdr, const char *name)
{
	size_t len = strlen(name);

	return memcmp(hdr->ar_name, name, len) == 0 && hdr->ar_name[len] == ' ';
}

/* The member's bytes from the file a thin archive names. */
static void
read_thin(const struct archive *a, const char *name, struct blob *member)
{
	char *path = xasprintf("%s%s", name[0] == '/' ? "" : a->dir, name);

	blob_read(member, path);
	free(path);
}

static void
copy_member(struct archive *a, const char *name, size_t size, struct blob *member)
{
	member->base = printable(base_name(name), strlen(base_name(name)));
	member->size = size;
	member->data = xmalloc(size); /* aligned, which the place in the archive need not be */
	memcpy(member->data, a->file.data + a->pos, size);
	a->pos += size;
}

bool
archive_next(struct archive *a, struct blob *member)
{
	struct ar_hdr hdr;
	char *name, *label;
	size_t size;
	bool table;

	*member = (struct blob){0};
	while (next_header(a, &hdr, &size)) {
		table = is_special(&hdr, "//");
		if (table || is_special(&hdr, "/") || is_special(&hdr, "/SYM64/")) {
			if (size > a->file.size - a->pos)
				die_archive(a, "a table reaches beyond the end");
			if (table) {
				a->names = (const char *)a->file.data + a->pos;
				a->names_size = size;
			}
			a->pos += size;
			continue;
		}
		name = member_name(a, &hdr);
		if (name == NULL)
			die(EXIT_FAIL, "out of memory");
		if (a->thin) {
			read_thin(a, name, member);
		} else {
			if (size > a->file.size - a->pos)
				die_archive(a, "a member reaches beyond the end");
			copy_member(a, name, size, member);
		}
		label = xasprintf("%s(%s)", a->file.label, member->base);
		free(member->label);
		member->label = label;
		free(name);
		return true;
	}
	return false;
}

/* --- ELF ------------------------------------------------------------------ */

void
elffile_corrupt(const struct elffile *e, const char *what)
{
	die(EXIT_BAD, "%s: the file is corrupt: %s; build it again", e->blob->label, what);
}

static const char *
machine_name(uint16_t machine)
{
	switch (machine) {
	case EM_386:
		return "i386";
	case EM_ARM:
		return "ARM";
	case EM_AARCH64:
		return "AArch64";
	case EM_PPC64:
		return "PowerPC64";
	case EM_RISCV:
		return "RISC-V";
	case EM_S390:
		return "S/390";
	default:
		return NULL;
	}
}

static void
check_machine(const struct blob *b, uint16_t machine)
{
	const char *name = machine_name(machine);

	if (machine == EM_X86_64)
		return;
	if (name != NULL)
		die(EXIT_BAD,
			"%s: machine %s is unsupported: code models are known for x86-64 only",
			b->label, name);
	die(EXIT_BAD,
		"%s: machine number %" PRIu16
		" is unsupported: code models are known for x86-64 only",
		b->label, machine);
}

/*
 * What can be said from the first bytes (ELF header, gABI chapter 4).
 * libelf would take the other classes and byte orders; the rules here would not.
 */
static void
check_ident(const struct blob *b)
{
	const unsigned char *id = b->data;
	uint16_t machine;

	if (b->size == 0)
		die(EXIT_BAD, "%s is empty; build it again", b->label);
	if (b->size < SELFMAG || memcmp(id, ELFMAG, SELFMAG) != 0)
		die(EXIT_BAD, "%s is no ELF file and no archive; give what the build made",
			b->label);
	if (b->size < sizeof(Elf64_Ehdr))
		die(EXIT_BAD, "%s is truncated inside its ELF header; build it again", b->label);
	if (id[EI_DATA] != ELFDATA2LSB)
		die(EXIT_BAD,
			"%s: big-endian (or no) byte order is unsupported: x86-64 is "
			"little-endian",
			b->label);
	memcpy(&machine, id + offsetof(Elf64_Ehdr, e_machine), sizeof(machine));
	if (id[EI_CLASS] != ELFCLASS64)
		die(EXIT_BAD, "%s: 32-bit ELF (machine %s) is unsupported: build for 64 bits",
			b->label,
			machine == EM_X86_64		? "x32"
			: machine_name(machine) != NULL ? machine_name(machine)
							: "unknown");
	check_machine(b, machine);
}

/* True if [offset, offset + size) lies inside the file. */
static bool
inside(const struct blob *b, uint64_t offset, uint64_t size)
{
	return offset <= b->size && size <= b->size - offset;
}

/*
 * Numbers of sections and segments: in the ELF header, or where they do not fit
 * there, in the first section header (gABI, e_shnum and e_phnum). libelf takes a
 * section table that is cut off for none, so it is not asked.
 */
static void
count_headers(struct elffile *e)
{
	const struct blob *b = e->blob;
	const Elf64_Ehdr *ehdr = (const Elf64_Ehdr *)b->data;
	Elf64_Shdr first = {0};

	if (ehdr->e_shoff != 0) {
		if (!inside(b, ehdr->e_shoff, sizeof(first)))
			die(EXIT_BAD,
				"%s is truncated: its section table is missing; build it again",
				b->label);
		memcpy(&first, b->data + ehdr->e_shoff, sizeof(first));
		e->n_sections = ehdr->e_shnum != 0 ? ehdr->e_shnum : first.sh_size;
	}
	e->n_segments = ehdr->e_phnum != PN_XNUM ? ehdr->e_phnum : first.sh_info;
}

/* With these checked no later call of libelf reads outside the file. */
static void
check_tables(struct elffile *e)
{
	const struct blob *b = e->blob;
	const Elf64_Ehdr *ehdr = (const Elf64_Ehdr *)b->data;
	size_t n;

	count_headers(e);
	if (e->n_sections > 0 && ehdr->e_shentsize != sizeof(Elf64_Shdr))
		elffile_corrupt(e, "wrong size of section headers");
	if (e->n_segments > 0 && ehdr->e_phentsize != sizeof(Elf64_Phdr))
		elffile_corrupt(e, "wrong size of program headers");
	if (e->n_sections > b->size / sizeof(Elf64_Shdr) ||
		!inside(b, ehdr->e_shoff, e->n_sections * sizeof(Elf64_Shdr)))
		die(EXIT_BAD, "%s is truncated: its section table is cut off; build it again",
			b->label);
	if (e->n_segments > b->size / sizeof(Elf64_Phdr) ||
		!inside(b, ehdr->e_phoff, e->n_segments * sizeof(Elf64_Phdr)))
		die(EXIT_BAD, "%s is truncated: its program headers are cut off; build it again",
			b->label);
	if (elf_getshdrnum(e->elf, &n) != 0 || n != e->n_sections ||
		elf_getphdrnum(e->elf, &n) != 0 || n != e->n_segments)
		elffile_corrupt(e, "its tables are not understood");
}

static void
check_contents(const struct elffile *e)
{
	GElf_Shdr shdr;
	GElf_Phdr phdr;

	for (size_t i = 1; i < e->n_sections; i++) {
		elffile_section(e, i, &shdr);
		if (shdr.sh_type != SHT_NOBITS && shdr.sh_type != SHT_NULL &&
			!inside(e->blob, shdr.sh_offset, shdr.sh_size))
			die(EXIT_BAD,
				"%s is truncated: section %zu reaches beyond its end; "
				"build it again",
				e->blob->label, i);
		if (shdr.sh_link >= e->n_sections)
			elffile_corrupt(e, "a section refers to one that does not exist");
	}
	for (size_t i = 0; i < e->n_segments; i++) {
		if (gelf_getphdr(e->elf, (int)i, &phdr) == NULL)
			elffile_corrupt(e, elf_errmsg(-1));
		if (!inside(e->blob, phdr.p_offset, phdr.p_filesz))
			die(EXIT_BAD,
				"%s is truncated: a segment reaches beyond its end; "
				"build it again",
				e->blob->label);
	}
}

void
elffile_open(struct elffile *e, const struct blob *b)
{
	*e = (struct elffile){.blob = b};
	check_ident(b);
	if (elf_version(EV_CURRENT) == EV_NONE)
		die(EXIT_FAIL, "libelf is too old: %s", elf_errmsg(-1));
	e->elf = elf_memory((char *)b->data, b->size);
	if (e->elf == NULL || elf_kind(e->elf) != ELF_K_ELF ||
		gelf_getehdr(e->elf, &e->ehdr) == NULL)
		elffile_corrupt(e, elf_errmsg(-1));
	check_tables(e);
	if (e->n_sections > 0 && elf_getshdrstrndx(e->elf, &e->names) != 0)
		elffile_corrupt(e, elf_errmsg(-1));
	check_contents(e);
}

void
elffile_close(struct elffile *e)
{
	elf_end(e->elf);
	*e = (struct elffile){0};
}

Elf_Scn *
elffile_section(const struct elffile *e, size_t index, GElf_Shdr *shdr)
{
	Elf_Scn *scn = index < e->n_sections ? elf_getscn(e->elf, index) : NULL;

	if (scn == NULL || gelf_getshdr(scn, shdr) == NULL)
		elffile_corrupt(e, "a section is missing");
	return scn;
}

const char *
elffile_section_name(const struct elffile *e, const GElf_Shdr *shdr)
{
	const char *name = elf_strptr(e->elf, e->names, shdr->sh_name);

	if (name == NULL)
		elffile_corrupt(e, "a section has no name");
	return name;
}

Elf_Data *
elffile_data(const struct elffile *e, Elf_Scn *scn)
{
	Elf_Data *data = elf_getdata(scn, NULL);

	if (data == NULL)
		elffile_corrupt(e, "a section cannot be read");
	if (data->d_buf == NULL)
		data->d_size = 0;
	return data;
}

bool
elffile_is_text(const GElf_Shdr *shdr)
{
	const uint64_t want = SHF_ALLOC | SHF_EXECINSTR;

	return (shdr->sh_flags & want) == want;
}

/* --- symbols -------------------------------------------------------------- */

void
symtab_open(struct symtab *t, const struct elffile *e, size_t index)
{
	GElf_Shdr shdr;
	Elf_Scn *scn;
	int extended;

	*t = (struct symtab){0};
	scn = elffile_section(e, index, &shdr);
	if (shdr.sh_type != SHT_SYMTAB && shdr.sh_type != SHT_DYNSYM)
		elffile_corrupt(e, "relocations without a symbol table");
	if (shdr.sh_entsize != sizeof(Elf64_Sym))
		elffile_corrupt(e, "wrong size of symbols");
	t->data = elffile_data(e, scn);
	t->n = t->data->d_size / sizeof(Elf64_Sym);
	t->strings = shdr.sh_link;
	extended = elf_scnshndx(scn);
	if (extended > 0) {
		scn = elffile_section(e, (size_t)extended, &shdr);
		t->extended = elffile_data(e, scn);
	}
}

void
symtab_find(struct symtab *t, const struct elffile *e, uint32_t type)
{
	GElf_Shdr shdr;

	*t = (struct symtab){0};
	for (size_t i = 1; i < e->n_sections; i++) {
		elffile_section(e, i, &shdr);
		if (shdr.sh_type == type) {
			symtab_open(t, e, i);
			return;
		}
	}
}

void
symtab_get(
	const struct symtab *t, const struct elffile *e, size_t i, GElf_Sym *sym, size_t *section)
{
	Elf32_Word extended = 0;

	if (i >= t->n || gelf_getsymshndx(t->data, t->extended, (int)i, sym, &extended) == NULL)
		elffile_corrupt(e, "a relocation refers to a symbol that does not exist");
	*section = sym->st_shndx == SHN_XINDEX ? extended : sym->st_shndx;
	if (sym->st_shndx >= SHN_LORESERVE && sym->st_shndx != SHN_XINDEX)
		*section = SHN_UNDEF;
	if (*section >= e->n_sections)
		elffile_corrupt(e, "a symbol lies in a section that does not exist");
}

const char *
symtab_name(const struct symtab *t, const struct elffile *e, const GElf_Sym *sym)
{
	const char *name = elf_strptr(e->elf, t->strings, sym->st_name);

	if (name == NULL)
		elffile_corrupt(e, "a symbol's name lies outside the table of names");
	return name;
}
