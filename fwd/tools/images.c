/* SPDX-License-Identifier: BSD-3-Clause */
/* The ELF files mapped into a process: see images.h. */
#include "images.h"

#include "elffile.h"
#include "util.h"

#include <dwarf.h>
#include <elfutils/libdw.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

#define VDSO "[vdso]"

/* A function, or a compilation unit's part of the code. Strings are owned by the image. */
struct span {
	uint64_t low, high; /* as linked; high is exclusive, equal to low if the size is unknown */
	const char *name;
	const char *file; /* source file of a local symbol, else "-" */
	int rank;	  /* which of several names of one address is taken: the lowest */
};

struct spans {
	struct span *span;
	size_t n, room;
};

struct image {
	struct image *next;
	char *path;    /* as in maps */
	char *library; /* "-" for the main executable */
	struct blob blob;
	struct elffile elf;
	Dwarf *dwarf;	    /* NULL: no debug information */
	struct linkmap map; /* of a shared library, from the file beside it; empty if none */
	struct spans functions;
	struct spans labels; /* symbols without a type, of hand-written code */
	struct spans units;
	struct spans got, plt; /* sections; names unused */
	bool main;
};

/* An executable mapping. */
struct mapping {
	uint64_t low, high, offset;
	struct image *image; /* NULL: no file */
};

struct images {
	pid_t pid;
	const struct linkmap *map;
	struct image *image;
	struct mapping *mapping;
	size_t n;
	char *program; /* path of the main executable as in maps */
};

/* --- spans ---------------------------------------------------------------- */

static void
add_span(struct spans *s, struct span span)
{
	if (s->n == s->room) {
		s->room = s->room * 2 + 16;
		s->span = xreallocarray(s->span, s->room, sizeof(*s->span));
	}
	s->span[s->n++] = span;
}

static int
by_low(const void *a, const void *b)
{
	const struct span *x = a, *y = b;

	if (x->low != y->low)
		return x->low < y->low ? -1 : 1;
	if (x->rank != y->rank)
		return x->rank < y->rank ? -1 : 1;
	return strcmp(x->name, y->name);
}

static void
sort_spans(struct spans *s)
{
	if (s->n > 0)
		qsort(s->span, s->n, sizeof(*s->span), by_low);
}

/* Number of spans that begin at or before address. */
static size_t
spans_before(const struct spans *s, uint64_t address)
{
	size_t low = 0, high = s->n;

	while (low < high) {
		const size_t middle = low + (high - low) / 2;

		if (s->span[middle].low <= address)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* True if address lies in span i; one without a size reaches to the next. */
static bool
span_holds(const struct spans *s, size_t i, uint64_t address)
{
	const struct span *span = &s->span[i];

	return address < span->high || (span->low == span->high && address >= span->low);
}

/*
 * The span an address lies in: the one that begins last, by the best of its names.
 * Functions may lie inside others (hand-written code), so some before are tried, too.
 */
static const struct span *
find_span(const struct spans *s, uint64_t address)
{
	const size_t before = spans_before(s, address);

	for (size_t i = before; i > 0 && before - i < 64; i--) {
		if (!span_holds(s, i - 1, address))
			continue;
		/* the names of one address are sorted by rank: back to the first that fits */
		while (i > 1 && s->span[i - 2].low == s->span[i - 1].low &&
			span_holds(s, i - 2, address))
			i--;
		return &s->span[i - 1];
	}
	return NULL;
}

/* --- reading an image ----------------------------------------------------- */

/*
 * Global names first: the local ones of the same address are aliases that compilers
 * add (".localalias").
 */
static int
symbol_rank(const GElf_Sym *sym)
{
	switch (GELF_ST_BIND(sym->st_info)) {
	case STB_GLOBAL:
		return 0;
	case STB_WEAK:
		return 1;
	default:
		return 2;
	}
}

static bool
is_code_symbol(const struct elffile *e, const GElf_Sym *sym, size_t section)
{
	const unsigned char type = GELF_ST_TYPE(sym->st_info);
	GElf_Shdr shdr;

	if (section == SHN_UNDEF || sym->st_name == 0 ||
		(type != STT_FUNC && type != STT_GNU_IFUNC && type != STT_NOTYPE))
		return false;
	elffile_section(e, section, &shdr);
	return elffile_is_text(&shdr);
}

static void
read_symbols(struct image *image)
{
	const struct elffile *e = &image->elf;
	const char *file = "-", *name;
	struct symtab symtab;
	GElf_Sym sym;
	size_t section;
	bool local;

	symtab_find(&symtab, e, SHT_SYMTAB);
	if (symtab.data == NULL)
		symtab_find(&symtab, e, SHT_DYNSYM);
	for (size_t i = 1; i < symtab.n; i++) {
		symtab_get(&symtab, e, i, &sym, &section);
		name = symtab_name(&symtab, e, &sym);
		if (GELF_ST_TYPE(sym.st_info) == STT_FILE)
			file = name[0] == '\0' ? "-" : name;
		if (!is_code_symbol(e, &sym, section))
			continue;
		local = GELF_ST_BIND(sym.st_info) == STB_LOCAL;
		add_span(GELF_ST_TYPE(sym.st_info) == STT_NOTYPE ? &image->labels
								 : &image->functions,
			(struct span){
				.low = sym.st_value,
				.high = sym.st_value + sym.st_size,
				.name = name,
				.file = local ? file : "-",
				.rank = symbol_rank(&sym),
			});
	}
	sort_spans(&image->functions);
	sort_spans(&image->labels);
}

static void
read_sections(struct image *image)
{
	GElf_Shdr shdr;
	const char *name;
	struct spans *to;

	for (size_t i = 1; i < image->elf.n_sections; i++) {
		elffile_section(&image->elf, i, &shdr);
		if ((shdr.sh_flags & SHF_ALLOC) == 0)
			continue;
		name = elffile_section_name(&image->elf, &shdr);
		if (strcmp(name, ".got") == 0 || strcmp(name, ".got.plt") == 0)
			to = &image->got;
		else if (strncmp(name, ".plt", strlen(".plt")) == 0 || strcmp(name, ".iplt") == 0)
			to = &image->plt;
		else
			continue;
		add_span(to, (struct span){
				     .low = shdr.sh_addr,
				     .high = shdr.sh_addr + shdr.sh_size,
				     .name = name,
			     });
	}
	sort_spans(&image->got);
	sort_spans(&image->plt);
}

static void
read_unit(struct image *image, Dwarf_Die *die)
{
	const char *path = dwarf_diename(die), *slash;
	Dwarf_Addr base, low, high;
	ptrdiff_t offset = 0;

	if (path == NULL)
		return;
	slash = strrchr(path, '/');
	while ((offset = dwarf_ranges(die, offset, &base, &low, &high)) > 0) {
		if (low < high)
			add_span(&image->units, (struct span){
							.low = low,
							.high = high,
							.name = slash == NULL ? path : slash + 1,
						});
	}
}

/* The source files, from DWARF. Compilers need not write .debug_aranges, so units are walked. */
static void
read_units(struct image *image)
{
	Dwarf_CU *cu = NULL;
	Dwarf_Die die;
	uint8_t type;

	image->dwarf = dwarf_begin_elf(image->elf.elf, DWARF_C_READ, NULL);
	if (image->dwarf == NULL)
		return;
	while (dwarf_get_units(image->dwarf, cu, &cu, NULL, &type, &die, NULL) == 0) {
		if (type == DW_UT_compile || type == DW_UT_skeleton || type == DW_UT_partial)
			read_unit(image, &die);
	}
	sort_spans(&image->units);
}

/* The process's own view of a path: it may live in another mount namespace. */
static bool
read_file(const struct images *images, const char *path, struct blob *blob)
{
	char *full = xasprintf("/proc/%d/root%s", (int)images->pid, path);
	const bool readable = access(full, R_OK) == 0;

	if (readable) {
		blob_read(blob, full);
		free(blob->label);
		blob->label = printable(path, strlen(path));
	}
	free(full);
	return readable;
}

/* The kernel's own shared library is in no file; its mapping is its file. */
static bool
read_vdso(const struct images *images, const struct mapping *m, struct blob *blob)
{
	struct iovec here = {.iov_len = m->high - m->low};
	struct iovec there = {.iov_base = (void *)(uintptr_t)m->low, .iov_len = here.iov_len};

	*blob = (struct blob){
		.label = xstrdup(VDSO),
		.base = xstrdup(VDSO),
		.data = xmalloc(here.iov_len),
		.size = here.iov_len,
	};
	here.iov_base = blob->data;
	if (process_vm_readv(images->pid, &here, 1, &there, 1, 0) == (ssize_t)here.iov_len)
		return true;
	blob_free(blob);
	return false;
}

/* reproducers/link leaves the map of each shared library it makes beside it. */
static void
read_map(const struct images *images, struct image *image)
{
	char *path = xasprintf("/proc/%d/root%s.map", (int)images->pid, image->path);

	(void)linkmap_try(&image->map, path);
	free(path);
}

static struct image *
image_open(struct images *images, const char *path, const struct mapping *m)
{
	const bool vdso = strcmp(path, VDSO) == 0;
	struct image *image = xcalloc(1, sizeof(*image));

	if (!(vdso ? read_vdso(images, m, &image->blob) : read_file(images, path, &image->blob))) {
		free(image);
		return NULL;
	}
	image->path = xstrdup(path);
	image->main = images->program != NULL && strcmp(path, images->program) == 0;
	image->library = image->main ? xstrdup("-") : library_name(path);
	elffile_open(&image->elf, &image->blob);
	read_sections(image);
	read_symbols(image);
	if (!vdso)
		read_units(image);
	if (!vdso && !image->main)
		read_map(images, image);
	image->next = images->image;
	images->image = image;
	return image;
}

static void
image_close(struct image *image)
{
	if (image->dwarf != NULL)
		dwarf_end(image->dwarf);
	linkmap_free(&image->map);
	elffile_close(&image->elf);
	blob_free(&image->blob);
	free(image->functions.span);
	free(image->labels.span);
	free(image->units.span);
	free(image->got.span);
	free(image->plt.span);
	free(image->library);
	free(image->path);
	free(image);
}

/* --- mappings ------------------------------------------------------------- */

static struct image *
image_of(struct images *images, const char *path, const struct mapping *m)
{
	for (struct image *image = images->image; image != NULL; image = image->next) {
		if (strcmp(image->path, path) == 0)
			return image;
	}
	return path[0] == '/' || strcmp(path, VDSO) == 0 ? image_open(images, path, m) : NULL;
}

/* One line of maps: "low-high perms offset device inode path" (proc(5)). */
static void
read_mapping(struct images *images, char *line)
{
	struct mapping m = {0};
	char perms[5];
	int path = -1;

	line[strcspn(line, "\n")] = '\0';
	if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %4s %" SCNx64 " %*s %*s %n", &m.low, &m.high,
		    perms, &m.offset, &path) < 4 ||
		path < 0 || perms[2] != 'x')
		return;
	m.image = image_of(images, line + path, &m);
	images->mapping = xreallocarray(images->mapping, images->n + 1, sizeof(*images->mapping));
	images->mapping[images->n++] = m;
}

static void
read_mappings(struct images *images)
{
	char *path = xasprintf("/proc/%d/maps", (int)images->pid), *line = NULL;
	FILE *f = fopen(path, "re");
	size_t room = 0;

	if (f == NULL)
		die(EXIT_FAIL, "cannot open %s: %s", path, strerror(errno));
	images->n = 0;
	while (getline(&line, &room, f) >= 0)
		read_mapping(images, line);
	fclose(f);
	free(line);
	free(path);
}

static const struct mapping *
mapping_of(const struct images *images, uint64_t address)
{
	for (size_t i = 0; i < images->n; i++) {
		if (address >= images->mapping[i].low && address < images->mapping[i].high)
			return &images->mapping[i];
	}
	return NULL;
}

static char *
read_program(pid_t pid)
{
	char *link = xasprintf("/proc/%d/exe", (int)pid), path[4096];
	const ssize_t len = readlink(link, path, sizeof(path) - 1);

	free(link);
	if (len < 0)
		return NULL;
	path[len] = '\0';
	return xstrdup(path);
}

struct images *
images_open(pid_t pid, const struct linkmap *map)
{
	struct images *images = xcalloc(1, sizeof(*images));

	images->pid = pid;
	images->map = map;
	images->program = read_program(pid);
	if (images->program == NULL)
		die(EXIT_FAIL, "cannot tell what process %d runs: %s", (int)pid, strerror(errno));
	read_mappings(images);
	return images;
}

void
images_close(struct images *images)
{
	struct image *next;

	if (images == NULL)
		return;
	for (struct image *image = images->image; image != NULL; image = next) {
		next = image->next;
		image_close(image);
	}
	free(images->mapping);
	free(images->program);
	free(images);
}

/* --- looking up ----------------------------------------------------------- */

/*
 * Address as linked of a place in the file; segments say where the file's parts are
 * mapped. The vdso is mapped as one piece and linked to 0.
 */
static bool
to_linked(const struct image *image, uint64_t offset, uint64_t *address)
{
	GElf_Phdr phdr;

	for (size_t i = 0; i < image->elf.n_segments; i++) {
		if (gelf_getphdr(image->elf.elf, (int)i, &phdr) == NULL || phdr.p_type != PT_LOAD ||
			(phdr.p_flags & PF_X) == 0)
			continue;
		if (offset >= phdr.p_offset && offset - phdr.p_offset < phdr.p_filesz) {
			*address = phdr.p_vaddr + (offset - phdr.p_offset);
			return true;
		}
	}
	return false;
}

static void
name_object(const struct images *images, struct place *place, const struct span *function)
{
	const struct linkmap_entry *entry = NULL;
	const struct span *unit;

	if (place->image->main && images->map != NULL)
		entry = linkmap_find(images->map, place->address);
	if (entry != NULL)
		place->library = entry->library;
	else if (!place->image->main)
		entry = linkmap_find(&place->image->map, place->address);
	if (entry != NULL) {
		place->object = entry->object;
		return;
	}
	unit = find_span(&place->image->units, place->address);
	if (unit != NULL)
		place->object = unit->name;
	else if (function != NULL)
		place->object = function->file;
}

void
images_find(struct images *images, uint64_t address, struct place *place)
{
	const struct mapping *m = mapping_of(images, address);
	const struct span *function;

	*place = (struct place){
		.library = "-",
		.object = "-",
		.function = "-",
		.address = address,
		.start = address,
	};
	if (m == NULL) {
		read_mappings(images);
		m = mapping_of(images, address);
	}
	if (m == NULL || m->image == NULL ||
		!to_linked(m->image, address - m->low + m->offset, &place->address))
		return;
	place->image = m->image;
	place->library = m->image->library;
	if (find_span(&m->image->plt, place->address) != NULL) {
		place->plt = true;
		place->function = "[plt]";
		place->start = place->address;
		return;
	}
	function = find_span(&m->image->functions, place->address);
	if (function == NULL)
		function = find_span(&m->image->labels, place->address);
	if (function != NULL) {
		place->function = function->name;
		place->start = function->low;
	} else {
		place->start = place->address;
	}
	name_object(images, place, function);
}

/* Address in the process of an address as linked of the main executable. */
static bool
to_process(const struct images *images, uint64_t linked, uint64_t *address)
{
	uint64_t low;

	for (size_t i = 0; i < images->n; i++) {
		const struct mapping *m = &images->mapping[i];

		/* the first byte of a mapping may lie before its segment, on the same page */
		for (uint64_t skip = 0; m->image != NULL && m->image->main && skip < 4096; skip++) {
			if (!to_linked(m->image, m->offset + skip, &low))
				continue;
			if (linked >= low && linked - low < m->high - m->low - skip) {
				*address = m->low + skip + (linked - low);
				return true;
			}
			break;
		}
	}
	return false;
}

bool
images_function(struct images *images, const char *name, uint64_t *address)
{
	const struct span *found = NULL;

	for (struct image *image = images->image; image != NULL; image = image->next) {
		for (size_t i = 0; image->main && i < image->functions.n; i++) {
			const struct span *span = &image->functions.span[i];

			if (strcmp(span->name, name) != 0)
				continue;
			if (found != NULL && found->low != span->low)
				die(EXIT_BAD, "%s has several functions named %s; name another",
					images->program, name);
			found = span;
		}
	}
	return found != NULL && to_process(images, found->low, address);
}

const char *
images_program(const struct images *images)
{
	return images->program;
}

bool
image_in_got(const struct image *image, uint64_t address)
{
	return image != NULL && find_span(&image->got, address) != NULL;
}

bool
image_is(const struct image *image, const char *path)
{
	return image != NULL &&
	       (strcmp(image->path, path) == 0 || strcmp(image->blob.base, path) == 0);
}
