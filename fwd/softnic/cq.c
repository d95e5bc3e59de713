/* SPDX-License-Identifier: BSD-3-Clause */
/* Completion queues and completion channels: sizes as libmlx5 gives them. */
#include <errno.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "softnic.h"

enum { MAX_CQE = (1 << 22) - 1 };

static int
entries_alloc(struct context *ctx, struct cq *cq)
{
	uint32_t i;

	if (ring_alloc(ctx, &cq->ring, (size_t)cq->count * sizeof(*cq->entry)) != 0)
		return ENOMEM;
	cq->record = doorbell_alloc(ctx);
	if (cq->record == NULL) {
		ring_free(ctx, &cq->ring);
		return ENOMEM;
	}
	cq->entry = cq->ring.addr;
	for (i = 0; i < cq->count; i++)
		cq->entry[i].op_own = PRM_CQE_OPCODE_INVALID << 4;
	return 0;
}

static void
fill_ib(struct cq *cq, struct ibv_context *ctx, struct ibv_comp_channel *channel, void *user)
{
	struct ibv_cq *ib = ibv_cq_ex_to_cq(&cq->ex);

	ib->context = ctx;
	ib->channel = channel;
	ib->cq_context = user;
	ib->cqe = (int)cq->count - 1;
	pthread_mutex_init(&ib->mutex, NULL);
	pthread_cond_init(&ib->cond, NULL);
}

/* A ring for at least WANTED entries; NULL and errno otherwise. */
static struct cq *
cq_new(struct ibv_context *ctx, int wanted, struct ibv_comp_channel *channel, void *user,
	enum mlx5dv_cqe_comp_res_format compression)
{
	struct cq *cq;
	int rc = EINVAL;

	if (wanted < 1 || wanted > MAX_CQE)
		goto fail;
	if (compression != 0 && compression != MLX5DV_CQE_RES_FORMAT_HASH &&
		compression != MLX5DV_CQE_RES_FORMAT_CSUM_STRIDX)
		goto fail;
	rc = ENOMEM;
	cq = calloc(1, sizeof(*cq));
	if (cq == NULL)
		goto fail;
	/* libmlx5: the next power of two above the number asked for. */
	cq->count = round_up_pow2((uint32_t)wanted + 1);
	cq->log_count = log2_of(cq->count);
	/*
	 * PRM: 24 bits. Drivers keep 16 of them in some places (sends, compressed completions),
	 * which tells as much as long as the ring is shorter.
	 */
	cq->consumer_mask = cq->count <= 1u << 15 ? 0xffff : 0xffffff;
	cq->compression = compression;
	cq->number = next_object_number();
	rc = entries_alloc(to_context(ctx), cq);
	if (rc != 0)
		goto fail_entries;
	fill_ib(cq, ctx, channel, user);
	trace("create_cq %d entries, compression %d -> %u, number %#x", wanted, compression,
		cq->count, cq->number);
	return cq;
fail_entries:
	free(cq);
fail:
	errno = rc;
	return NULL;
}

API struct ibv_cq *
ibv_create_cq(struct ibv_context *ctx, int cqe, void *user, struct ibv_comp_channel *channel,
	int comp_vector)
{
	struct cq *cq = cq_new(ctx, cqe, channel, user, 0);

	(void)comp_vector;
	return cq == NULL ? NULL : ibv_cq_ex_to_cq(&cq->ex);
}

API struct ibv_cq_ex *
mlx5dv_create_cq(
	struct ibv_context *ctx, struct ibv_cq_init_attr_ex *attr, struct mlx5dv_cq_init_attr *dv)
{
	enum mlx5dv_cqe_comp_res_format compression = 0;
	struct cq *cq;

	if (dv != NULL && (dv->comp_mask & MLX5DV_CQ_INIT_ATTR_MASK_COMPRESSED_CQE))
		compression = dv->cqe_comp_res_format;
	cq = cq_new(ctx, (int)attr->cqe, attr->channel, attr->cq_context, compression);
	return cq == NULL ? NULL : &cq->ex;
}

API int
ibv_destroy_cq(struct ibv_cq *ib)
{
	struct cq *cq = to_cq(ib);

	trace("destroy_cq number %#x", cq->number);
	pthread_cond_destroy(&ib->cond);
	pthread_mutex_destroy(&ib->mutex);
	doorbell_free(cq->record);
	ring_free(to_context(ib->context), &cq->ring);
	free(cq);
	return 0;
}

/* The channel exists so that drivers may poll its descriptor; the device raises no interrupts. */
API struct ibv_comp_channel *
ibv_create_comp_channel(struct ibv_context *ctx)
{
	struct ibv_comp_channel *channel = calloc(1, sizeof(*channel));

	if (channel == NULL)
		return NULL;
	channel->context = ctx;
	channel->fd = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
	if (channel->fd < 0) {
		free(channel);
		return NULL;
	}
	return channel;
}

API int
ibv_destroy_comp_channel(struct ibv_comp_channel *channel)
{
	close(channel->fd);
	free(channel);
	return 0;
}

API int
ibv_get_cq_event(struct ibv_comp_channel *channel, struct ibv_cq **cq, void **user)
{
	(void)channel;
	(void)cq;
	(void)user;
	errno = EAGAIN;
	return -1;
}

API void
ibv_ack_cq_events(struct ibv_cq *cq, unsigned int count)
{
	(void)cq;
	(void)count;
}
