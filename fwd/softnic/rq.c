/* SPDX-License-Identifier: BSD-3-Clause */
/* Receive work queues: sizes and states as libmlx5 and the device give them. */
#include <errno.h>
#include <stdlib.h>

#include "softnic.h"

enum {
	MAX_WR = 32768,
	MAX_SGE = 32,
	MIN_LOG_STRIDE = 6,
	MAX_LOG_STRIDE = 13,
	MAX_LOG_STRIDES = 16,
	MIN_RING = 64, /* bytes, libmlx5 */
};

/* libmlx5: a WQE is its scatter entries, with a next segment before them in a striding RQ. */
static uint32_t
wqe_size(uint32_t sges, bool striding)
{
	uint32_t size = sges * sizeof(struct mlx5_wqe_data_seg);

	if (striding)
		size += sizeof(struct mlx5_wqe_srq_next_seg);
	return round_up_pow2(size);
}

static int
set_striding(struct rq *rq, const struct mlx5dv_striding_rq_init_attr *attr, uint32_t sges)
{
	uint32_t log_strides = attr->single_wqe_log_num_of_strides;

	rq->striding = true;
	rq->stride_log = attr->single_stride_log_num_of_bytes;
	rq->stride_offset = attr->two_byte_shift_en ? 2 : 0;
	if (rq->stride_log < MIN_LOG_STRIDE || rq->stride_log > MAX_LOG_STRIDE ||
		log_strides < rq->dev->model->min_log_strides || log_strides > MAX_LOG_STRIDES ||
		sges != 1)
		return EINVAL;
	rq->strides = 1u << log_strides;
	return 0;
}

/* Fill RQ from the attributes; returns 0 or an errno. */
static int
rq_init(struct rq *rq, struct ibv_context *ctx, const struct ibv_wq_init_attr *attr,
	const struct mlx5dv_wq_init_attr *dv)
{
	size_t size;
	int rc;

	if (attr->wq_type != IBV_WQT_RQ || attr->max_wr < 1 || attr->max_wr > MAX_WR ||
		attr->max_sge > MAX_SGE)
		return EINVAL;
	rq->dev = to_device(ctx);
	rq->cq = to_cq(attr->cq);
	rq->sges = attr->max_sge < 1 ? 1 : attr->max_sge;
	rq->keep_fcs = attr->create_flags & IBV_WQ_FLAGS_SCATTER_FCS;
	if (dv != NULL && (dv->comp_mask & MLX5DV_WQ_INIT_ATTR_MASK_STRIDING_RQ)) {
		rc = set_striding(rq, &dv->striding_rq_attrs, rq->sges);
		if (rc != 0)
			return rc;
	}
	rq->stride = wqe_size(rq->sges, rq->striding);
	size = (size_t)round_up_pow2(attr->max_wr) * rq->stride;
	if (size < MIN_RING)
		size = MIN_RING;
	rq->count = size / rq->stride;
	rc = ring_alloc(to_context(ctx), &rq->ring, size);
	if (rc != 0)
		return rc;
	rq->wqe = rq->ring.addr;
	rq->record = doorbell_alloc(to_context(ctx));
	if (rq->record == NULL) {
		ring_free(to_context(ctx), &rq->ring);
		return ENOMEM;
	}
	return 0;
}

static struct ibv_wq *
rq_new(struct ibv_context *ctx, struct ibv_wq_init_attr *attr, struct mlx5dv_wq_init_attr *dv)
{
	struct rq *rq = calloc(1, sizeof(*rq));
	int rc;

	if (rq == NULL)
		return NULL;
	rc = rq_init(rq, ctx, attr, dv);
	if (rc != 0) {
		free(rq);
		errno = rc;
		return NULL;
	}
	rq->ib.context = ctx;
	rq->ib.wq_context = attr->wq_context;
	rq->ib.pd = attr->pd;
	rq->ib.cq = attr->cq;
	rq->ib.wq_type = attr->wq_type;
	rq->ib.wq_num = next_object_number();
	rq->ib.state = IBV_WQS_RESET;
	rq->number = UINT16_MAX;
	trace("create_wq %u x %u, %s %u strides of %u -> %#x", attr->max_wr, attr->max_sge,
		rq->striding ? "striding" : "plain", rq->strides, 1u << rq->stride_log,
		rq->ib.wq_num);
	return &rq->ib;
}

struct ibv_wq *
v_create_wq(struct ibv_context *ctx, struct ibv_wq_init_attr *attr)
{
	return rq_new(ctx, attr, NULL);
}

API struct ibv_wq *
mlx5dv_create_wq(
	struct ibv_context *ctx, struct ibv_wq_init_attr *attr, struct mlx5dv_wq_init_attr *dv)
{
	return rq_new(ctx, attr, dv);
}

static void
set_ready(struct rq *rq, bool ready)
{
	if (rq->ready == ready)
		return;
	rq->ready = ready;
	control_count_ready(ready);
}

/* From reset to ready the queue starts over with index 0 (libmlx5 clears the record). */
static int
change_state(struct rq *rq, enum ibv_wq_state state)
{
	if (state == IBV_WQS_RDY && rq->number == UINT16_MAX && !device_add_rq(rq->dev, rq))
		return ENOMEM;
	if (state == IBV_WQS_RDY && rq->ib.state == IBV_WQS_RESET) {
		rq->head = 0;
		rq->stride_index = 0;
		rq->record[0] = 0;
		verify_rx_reset(rq);
	}
	set_ready(rq, state == IBV_WQS_RDY);
	rq->ib.state = state;
	steering_changed(rq->dev);
	return 0;
}

int
v_modify_wq(struct ibv_wq *ib, struct ibv_wq_attr *attr)
{
	struct rq *rq = (struct rq *)(void *)ib;
	int rc = 0;

	trace("modify_wq %#x mask %#x state %d", ib->wq_num, attr->attr_mask, attr->wq_state);
	if ((attr->attr_mask & IBV_WQ_ATTR_FLAGS) &&
		(attr->flags_mask & ~IBV_WQ_FLAGS_CVLAN_STRIPPING))
		return EINVAL;
	/* VLAN stripping may be switched: no packet of ours carries a tag. */
	if (attr->attr_mask & IBV_WQ_ATTR_STATE) {
		control_lock();
		rc = change_state(rq, attr->wq_state);
		control_unlock();
	}
	return rc;
}

/* Returns 0, or EBUSY while an indirection table holds the queue. */
int
v_destroy_wq(struct ibv_wq *ib)
{
	struct rq *rq = (struct rq *)(void *)ib;

	control_lock();
	if (rq->users > 0) {
		control_unlock();
		return EBUSY;
	}
	set_ready(rq, false);
	device_remove_rq(rq->dev, rq);
	steering_changed(rq->dev);
	control_unlock();
	trace("destroy_wq %#x: %llu packets; steps without WQE %llu, without CQE %llu", ib->wq_num,
		(unsigned long long)rq->packets, (unsigned long long)rq->no_wqe,
		(unsigned long long)rq->no_cqe);
	doorbell_free(rq->record);
	ring_free(to_context(ib->context), &rq->ring);
	free(rq->bucket);
	free(rq);
	return 0;
}
