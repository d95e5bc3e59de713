/* SPDX-License-Identifier: BSD-3-Clause */
/* Reading linkers' maps: see linkmap.h. */
#include "linkmap.h"

#include "elffile.h"
#include "util.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Folder in which meson keeps the objects of a library: "librte_eal.a.p". */
#define MESON_FOLDER ".a.p"

/* Takes a number, a hexadecimal one with or without 0x, and the blanks before it off *text. */
static bool
take_number(char **text, int base, uint64_t *value)
{
	char *start = *text + strspn(*text, " \t"), *end;

	if (strspn(start, "0123456789abcdefABCDEFx") == 0)
		return false;
	errno = 0;
	*value = strtoull(start, &end, base);
	if (end == start || errno != 0 || (*end != ' ' && *end != '\t' && *end != '\0'))
		return false;
	*text = end;
	return true;
}

static bool
take_hex(char **text, uint64_t *value)
{
	return take_number(text, 16, value);
}

/* Library of an object that is named by its own path. */
static char *
folder_library(const char *path)
{
	const char *slash = strrchr(path, '/');
	char *folder, *library;
	size_t len;

	if (slash == NULL)
		return xstrdup("-");
	folder = strndup(path, (size_t)(slash - path));
	if (folder == NULL)
		die(EXIT_FAIL, "out of memory");
	len = strlen(folder);
	if (len > strlen(MESON_FOLDER) &&
		strcmp(folder + len - strlen(MESON_FOLDER), MESON_FOLDER) == 0)
		library = library_name(folder);
	else
		library = xstrdup("-");
	free(folder);
	return library;
}

static char *
base_copy(const char *path, size_t len)
{
	while (len > 0 && memchr(path, '/', len) != NULL) {
		const char *slash = memchr(path, '/', len);

		len -= (size_t)(slash + 1 - path);
		path = slash + 1;
	}
	return printable(path, len);
}

/* input is "PATH" or "ARCHIVE(MEMBER)"; linkers keep thin members' folders in MEMBER. */
static void
add_entry(struct linkmap *m, uint64_t low, uint64_t size, const char *input)
{
	const size_t len = strlen(input);
	const char *open = strrchr(input, '(');
	struct linkmap_entry *entry;
	char *archive;

	if ((m->n & (m->n - 1)) == 0)
		m->entry = xreallocarray(m->entry, m->n == 0 ? 1 : m->n * 2, sizeof(*m->entry));
	entry = &m->entry[m->n++];
	*entry = (struct linkmap_entry){.low = low, .high = low + size};
	if (open != NULL && open != input && input[len - 1] == ')') {
		archive = strndup(input, (size_t)(open - input));
		if (archive == NULL)
			die(EXIT_FAIL, "out of memory");
		entry->library = library_name(archive);
		entry->object = base_copy(open + 1, len - (size_t)(open + 1 - input) - 1);
		free(archive);
	} else {
		entry->library = folder_library(input);
		entry->object = base_copy(input, len);
	}
}

static bool
is_text(const char *section)
{
	return strncmp(section, ".text", strlen(".text")) == 0;
}

/*
 * lld: "VMA LMA Size Align FILE:(SECTION)"; mold has no LMA, and sizes in decimal.
 * Lines of output sections and symbols do not end like that.
 */
static void
read_column_line(struct linkmap *m, char *line, bool has_lma)
{
	const size_t len = strlen(line);
	const int base = has_lma ? 16 : 10;
	uint64_t vma, lma, size, align;
	char *section;

	if (len == 0 || line[len - 1] != ')' || !take_hex(&line, &vma) ||
		(has_lma && !take_hex(&line, &lma)) || !take_number(&line, base, &size) ||
		!take_number(&line, base, &align))
		return;
	line += strspn(line, " ");
	section = strstr(line, ":(");
	if (section == NULL || section == line || line[0] == '<' || size == 0)
		return;
	*section = '\0';
	if (is_text(section + strlen(":(")))
		add_entry(m, vma, size, line);
}

/*
 * GNU ld and gold: " .section 0xADDRESS 0xSIZE FILE", where a long section's name has
 * the line before for itself: *text_above then says whether that was code. Without a
 * FILE it is an output section. Discarded sections have no address; debug sections,
 * which have addresses of their own from 0 up, are no code.
 */
static void
read_gnu_line(struct linkmap *m, char *line, bool *text_above)
{
	uint64_t address, size;
	bool text = *text_above;

	*text_above = false;
	if (line[0] != ' ')
		return;
	line += strspn(line, " ");
	if (line[0] == '.') {
		text = is_text(line);
		line += strcspn(line, " ");
		*text_above = text && *line == '\0';
	}
	line += strspn(line, " ");
	if (!text || strncmp(line, "0x", 2) != 0 || !take_hex(&line, &address))
		return;
	line += strspn(line, " ");
	if (strncmp(line, "0x", 2) != 0 || !take_hex(&line, &size))
		return;
	line += strspn(line, " ");
	if (line[0] != '\0' && size > 0 && address > 0)
		add_entry(m, address, size, line);
}

static int
by_address(const void *a, const void *b)
{
	const struct linkmap_entry *x = a, *y = b;

	return (x->low > y->low) - (x->low < y->low);
}

/* Reads all lines and closes the file. */
static void
read_lines(struct linkmap *m, FILE *f, const char *path)
{
	bool first = true, columns = false, has_lma = false, text_above = false;
	char *line = NULL;
	size_t room = 0;
	ssize_t len;

	*m = (struct linkmap){0};
	while ((len = getline(&line, &room, f)) >= 0) {
		if (len > 0 && line[len - 1] == '\n')
			line[len - 1] = '\0';
		if (first) {
			columns = strstr(line, "VMA") != NULL && strstr(line, "Size") != NULL;
			has_lma = strstr(line, "LMA") != NULL;
			first = false;
		}
		if (columns)
			read_column_line(m, line, has_lma);
		else
			read_gnu_line(m, line, &text_above);
	}
	if (ferror(f))
		die(EXIT_BAD, "cannot read %s: %s", path, strerror(errno));
	free(line);
	fclose(f);
	if (m->n > 0)
		qsort(m->entry, m->n, sizeof(*m->entry), by_address);
}

void
linkmap_read(struct linkmap *m, const char *path)
{
	FILE *f = fopen(path, "re");

	if (f == NULL)
		die(EXIT_BAD, "cannot open %s: %s", path, strerror(errno));
	read_lines(m, f, path);
	if (m->n == 0)
		die(EXIT_BAD, "%s is no linker's map; link with -Wl,-Map=FILE", path);
}

bool
linkmap_try(struct linkmap *m, const char *path)
{
	FILE *f = fopen(path, "re");

	*m = (struct linkmap){0};
	if (f == NULL)
		return false;
	read_lines(m, f, path);
	return m->n > 0;
}

const struct linkmap_entry *
linkmap_find(const struct linkmap *m, uint64_t address)
{
	size_t low = 0, high = m->n;

	while (low < high) {
		const size_t middle = low + (high - low) / 2;

		if (m->entry[middle].low <= address)
			low = middle + 1;
		else
			high = middle;
	}
	return low > 0 && address < m->entry[low - 1].high ? &m->entry[low - 1] : NULL;
}

void
linkmap_free(struct linkmap *m)
{
	for (size_t i = 0; i < m->n; i++) {
		free(m->entry[i].library);
		free(m->entry[i].object);
	}
	free(m->entry);
	*m = (struct linkmap){0};
}
