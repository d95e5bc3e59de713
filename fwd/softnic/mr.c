/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Memory regions. The data path of the device uses addresses as they are (the driver and the
 * device share the address space); verify mode looks every one of them up here.
 *
 * A key is an index into the table (upper 24 bits) and a variant (lower 8 bits) that changes when
 * the index is used again, so that a stale key is noticed. The table never moves: keys are looked
 * up while another thread registers memory.
 */
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>

#include "softnic.h"

/* The headers wrap these calls; here the plain symbols are defined. */
#undef ibv_reg_mr
#undef ibv_reg_mr_iova

enum { CHUNK = 256, CHUNKS = 1024 };

struct region {
	struct ibv_mr ib; /* first member */
	bool all;	  /* the null region: accepts every address */
};

static _Atomic(struct region *) *chunks[CHUNKS];
static uint8_t variant[CHUNKS * CHUNK];
static uint32_t used = 1; /* index 0 is never given */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static _Atomic(struct region *) *
slot_of(uint32_t index)
{
	if (index >= CHUNKS * CHUNK || chunks[index / CHUNK] == NULL)
		return NULL;
	return &chunks[index / CHUNK][index % CHUNK];
}

/* First free index, lowest first; 0 when the table is full or memory is short. */
static uint32_t
take_index(void)
{
	uint32_t i;

	for (i = 1; i < used; i++)
		if (atomic_load(slot_of(i)) == NULL)
			return i;
	if (used == CHUNKS * CHUNK)
		return 0;
	if (chunks[used / CHUNK] == NULL) {
		chunks[used / CHUNK] = calloc(CHUNK, sizeof(*chunks[0]));
		if (chunks[used / CHUNK] == NULL)
			return 0;
	}
	return used++;
}

static struct ibv_mr *
region_add(struct ibv_pd *pd, void *addr, size_t len, bool all)
{
	struct region *region = calloc(1, sizeof(*region));
	uint32_t index = 0;

	if (region == NULL)
		goto no_memory;
	region->all = all;
	region->ib.context = pd->context;
	region->ib.pd = pd;
	region->ib.addr = addr;
	region->ib.length = len;
	pthread_mutex_lock(&lock);
	index = take_index();
	if (index != 0) {
		region->ib.handle = index;
		region->ib.lkey = region->ib.rkey = index << 8 | ++variant[index];
		atomic_store(slot_of(index), region);
	}
	pthread_mutex_unlock(&lock);
	if (index == 0)
		goto no_memory;
	trace("reg_mr %p+%zx -> key %#x", addr, len, region->ib.lkey);
	return &region->ib;
no_memory:
	free(region);
	errno = ENOMEM;
	return NULL;
}

API struct ibv_mr *
ibv_reg_mr_iova2(struct ibv_pd *pd, void *addr, size_t len, uint64_t iova, unsigned int access)
{
	(void)access;
	if (iova != (uintptr_t)addr) {
		errno = EOPNOTSUPP;
		return NULL;
	}
	return region_add(pd, addr, len, false);
}

API struct ibv_mr *
ibv_reg_mr(struct ibv_pd *pd, void *addr, size_t len, int access)
{
	return ibv_reg_mr_iova2(pd, addr, len, (uintptr_t)addr, (unsigned)access);
}

API struct ibv_mr *
ibv_reg_mr_iova(struct ibv_pd *pd, void *addr, size_t len, uint64_t iova, int access)
{
	return ibv_reg_mr_iova2(pd, addr, len, iova, (unsigned)access);
}

/*
 * Memory registered for DevX objects. There are none, but newer releases register the send rings
 * even when verbs makes the queues.
 */
API struct mlx5dv_devx_umem *
mlx5dv_devx_umem_reg(struct ibv_context *ctx, void *addr, size_t size, uint32_t access)
{
	struct mlx5dv_devx_umem *umem = calloc(1, sizeof(*umem));

	(void)ctx;
	(void)access;
	if (umem == NULL)
		return NULL;
	umem->umem_id = next_object_number();
	trace("devx_umem_reg %p+%zx -> %#x", addr, size, umem->umem_id);
	return umem;
}

API int
mlx5dv_devx_umem_dereg(struct mlx5dv_devx_umem *umem)
{
	free(umem);
	return 0;
}

struct ibv_mr *
v_alloc_null_mr(struct ibv_pd *pd)
{
	return region_add(pd, NULL, SIZE_MAX, true);
}

API int
ibv_dereg_mr(struct ibv_mr *mr)
{
	trace("dereg_mr key %#x", mr->lkey);
	pthread_mutex_lock(&lock);
	atomic_store(slot_of(mr->handle), NULL);
	pthread_mutex_unlock(&lock);
	free(container_of(mr, struct region, ib));
	return 0;
}

static bool
region_holds(const struct region *region, uint64_t addr, uint32_t len)
{
	uint64_t start = (uintptr_t)region->ib.addr;

	return region->all || (addr >= start && len <= region->ib.length &&
				      addr - start <= region->ib.length - len);
}

/* End the process unless LKEY is registered and its region holds LEN bytes at ADDR. */
void
mr_check(const char *queue, unsigned port, unsigned number, unsigned wqe, uint32_t lkey,
	uint64_t addr, uint32_t len)
{
	_Atomic(struct region *) *slot = slot_of(lkey >> 8);
	const struct region *region = slot == NULL ? NULL : atomic_load(slot);
	const char *why;

	if (region == NULL || region->ib.lkey != lkey)
		why = "unknown key";
	else if (!region_holds(region, addr, len))
		why = "address outside the key's region";
	else
		return;
	fatal("protection fault: %s: port %u %s queue %u WQE %u: key %#x address %#llx length %u",
		why, port, queue, number, wqe, lkey, (unsigned long long)addr, len);
}
