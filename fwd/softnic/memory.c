/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Memory of the device's objects, placed as libmlx5 places it: rings page-aligned, from the
 * driver's allocator when it set one (so that they lie in huge pages), doorbell records one cache
 * line each inside shared pages.
 */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/queue.h>

#include "softnic.h"

enum { PAGE = 4096, LINE = 64, RECORDS = PAGE / LINE };

struct record_page {
	LIST_ENTRY(record_page) link;
	struct context *ctx;
	struct ring ring;
	unsigned used;
	bool taken[RECORDS];
};

static LIST_HEAD(, record_page) record_pages = LIST_HEAD_INITIALIZER(record_pages);
static pthread_mutex_t record_lock = PTHREAD_MUTEX_INITIALIZER;

uint32_t
round_up_pow2(uint32_t x)
{
	uint32_t r = 1;

	while (r < x)
		r <<= 1;
	return r;
}

uint32_t
log2_of(uint32_t x)
{
	return 31 - __builtin_clz(x);
}

/* A number for a new queue; queue numbers have 24 bits and none is used twice. */
uint32_t
next_object_number(void)
{
	static atomic_uint next = 0x100;

	return atomic_fetch_add(&next, 1) & 0xffffff;
}

/* Zeroed, page-aligned memory for a ring. Returns 0 or ENOMEM. */
int
ring_alloc(struct context *ctx, struct ring *ring, size_t size)
{
	ring->size = (size + PAGE - 1) & ~(size_t)(PAGE - 1);
	ring->addr = NULL;
	ring->custom = ctx->has_allocators;
	if (ring->custom)
		ring->addr = ctx->allocators.alloc(ring->size, ctx->allocators.data);
	else if (posix_memalign(&ring->addr, PAGE, ring->size) != 0)
		ring->addr = NULL;
	if (ring->addr == NULL)
		return ENOMEM;
	memset(ring->addr, 0, ring->size);
	return 0;
}

void
ring_free(struct context *ctx, struct ring *ring)
{
	if (ring->addr == NULL)
		return;
	if (!ring->custom)
		free(ring->addr);
	else if (ctx->has_allocators)
		ctx->allocators.free(ring->addr, ctx->allocators.data);
	ring->addr = NULL;
}

static struct record_page *
record_page_new(struct context *ctx)
{
	struct record_page *page = calloc(1, sizeof(*page));

	if (page == NULL)
		return NULL;
	if (ring_alloc(ctx, &page->ring, PAGE) != 0) {
		free(page);
		return NULL;
	}
	page->ctx = ctx;
	LIST_INSERT_HEAD(&record_pages, page, link);
	return page;
}

static __be32 *
record_take(struct record_page *page)
{
	unsigned i = 0;
	char *addr;

	while (page->taken[i])
		i++;
	page->taken[i] = true;
	page->used++;
	addr = (char *)page->ring.addr + (size_t)i * LINE;
	memset(addr, 0, LINE);
	return (__be32 *)(void *)addr;
}

/* A zeroed doorbell record alone in its cache line; NULL when memory is short. */
__be32 *
doorbell_alloc(struct context *ctx)
{
	struct record_page *page;
	__be32 *record = NULL;

	pthread_mutex_lock(&record_lock);
	LIST_FOREACH (page, &record_pages, link)
		if (page->ctx == ctx && page->used < RECORDS)
			break;
	if (page == NULL)
		page = record_page_new(ctx);
	if (page != NULL)
		record = record_take(page);
	pthread_mutex_unlock(&record_lock);
	return record;
}

void
doorbell_free(__be32 *record)
{
	struct record_page *page;
	size_t offset;

	if (record == NULL)
		return;
	pthread_mutex_lock(&record_lock);
	LIST_FOREACH (page, &record_pages, link) {
		offset = (size_t)((char *)record - (char *)page->ring.addr);
		if ((char *)record < (char *)page->ring.addr || offset >= PAGE)
			continue;
		page->taken[offset / LINE] = false;
		if (--page->used == 0) {
			LIST_REMOVE(page, link);
			ring_free(page->ctx, &page->ring);
			free(page);
		}
		break;
	}
	pthread_mutex_unlock(&record_lock);
}

/*
 * The page with the completion queues' doorbell register, by which a driver asks for interrupts.
 * Stores to it reach nobody: the device raises no interrupts.
 */
void *
cq_uar_page(void)
{
	static char page[PAGE] __attribute__((aligned(PAGE)));

	return page;
}
