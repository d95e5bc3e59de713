/* SPDX-License-Identifier: BSD-3-Clause */
/* What forwarders say, and slices.tsv, where it is kept. */
#include "slices.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "util.h"

static const char HEADER[] = "epoch\tround\torder\tvariant\tcc\tdpdk\tlayout\tprocess\tpackets\t"
			     "cycles\ttsc_hz\tdropped\tvalid\treason\n";

/*
 * Takes "key=NUMBER" from the start of *s, NUMBER being digits only that fit
 * 64 bits and end at the character end. Moves *s behind that character.
 */
static int
take_number(const char **s, const char *key, char end, uint64_t *out)
{
	size_t len = strlen(key), digits;
	char number[24];

	if (strncmp(*s, key, len) != 0 || (*s)[len] != '=')
		return -EINVAL;
	*s += len + 1;
	digits = strspn(*s, "0123456789");
	if (digits == 0 || digits >= sizeof(number) || (*s)[digits] != end)
		return -EINVAL;
	memcpy(number, *s, digits);
	number[digits] = '\0';
	*s += digits + 1;
	return parse_u64(number, out) == 0 ? 0 : -EINVAL;
}

int
answer_parse(const char *line, struct answer *a)
{
	if (take_number(&line, "packets", ' ', &a->packets) != 0 ||
		take_number(&line, "cycles", ' ', &a->cycles) != 0 ||
		take_number(&line, "tsc_hz", ' ', &a->tsc_hz) != 0 ||
		take_number(&line, "dropped", '\0', &a->dropped) != 0)
		return -EINVAL;
	return a->tsc_hz > 0 ? 0 : -EINVAL;
}

int
ready_parse(const char *line)
{
	bool tsc = false;

	if (strncmp(line, "ready ", 6) != 0)
		return -EINVAL;
	line += 5;
	while (*line != '\0') {
		char word[128];
		size_t len;

		if (*line++ != ' ')
			return -EINVAL;
		len = strcspn(line, " ");
		if (len == 0 || len >= sizeof(word))
			return -EINVAL;
		memcpy(word, line, len);
		word[len] = '\0';
		line += len;
		if (!is_word(word) || strchr(word, '=') == NULL || word[0] == '=')
			return -EINVAL;
		if (strncmp(word, "tsc_hz=", 7) == 0) {
			uint64_t hz;

			if (tsc || parse_u64(word + 7, &hz) != 0 || hz == 0)
				return -EINVAL;
			tsc = true;
		}
	}
	return tsc ? 0 : -EINVAL;
}

void
clean_text(char *dst, size_t size, const char *src)
{
	size_t i;

	for (i = 0; i + 1 < size && src[i] != '\0'; i++)
		dst[i] = src[i] < ' ' || src[i] > '~' ? ' ' : src[i];
	while (i > 0 && dst[i - 1] == ' ')
		i--;
	dst[i] = '\0';
}

/*
 * Appends len bytes, with one write(2) unless the file takes only a part. After
 * an error the file is cut back to what it was.
 */
static int
append(struct rows *rows, const char *line, size_t len)
{
	size_t done = 0;
	ssize_t n;
	int err;

	while (done < len) {
		n = write(rows->fd, line + done, len - done);
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			goto fail;
		done += (size_t)n;
	}
	rows->size += (int64_t)len;
	return 0;
fail:
	err = n < 0 ? errno : ENOSPC;
	/* EINVAL: not a file that could be cut */
	if (ftruncate(rows->fd, rows->size) != 0 && errno != EINVAL)
		warn("%s may end in a cut-off line: %s", rows->path, strerror(errno));
	return -err;
}

void
rows_open(struct rows *rows, const char *path)
{
	struct stat st;
	int ret;

	*rows = (struct rows){.path = path};
	rows->fd = open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0666);
	if (rows->fd < 0)
		die(EXIT_BAD, "cannot write %s: %s", path, strerror(errno));
	if (flock(rows->fd, LOCK_EX | LOCK_NB) != 0)
		die(EXIT_BAD, "cannot lock %s: %s; is another slices writing it?", path,
			strerror(errno));
	if (fstat(rows->fd, &st) != 0)
		die(EXIT_BAD, "cannot read %s: %s", path, strerror(errno));
	if (st.st_size != 0)
		die(EXIT_BAD, "%s exists and is not empty; give the name of a new file", path);
	ret = append(rows, HEADER, sizeof(HEADER) - 1);
	if (ret != 0)
		die(EXIT_BAD, "cannot write %s: %s", path, strerror(-ret));
}

int
rows_write(struct rows *rows, const struct row *row)
{
	const struct plan_row *p = row->plan;
	const struct answer *a = &row->answer;
	char *line;
	int ret;

	line = xasprintf("%" PRIu64 "\t%" PRIu64 "\t%zu\t%s\t%s\t%s\t%" PRIu64 "\t%" PRIu64
			 "\t%" PRIu64 "\t%" PRIu64 "\t%" PRIu64 "\t%" PRIu64 "\t%d\t%s\n",
		row->epoch, row->round, row->order, p->variant, p->cc, p->dpdk, p->layout,
		p->process, a->packets, a->cycles, a->tsc_hz, a->dropped, row->reason == NULL,
		row->reason != NULL ? row->reason : "-");
	ret = append(rows, line, strlen(line));
	free(line);
	return ret;
}

int
rows_close(struct rows *rows)
{
	return close(rows->fd) == 0 ? 0 : -errno;
}
