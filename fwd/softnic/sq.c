/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Raw packet queue pairs. rdma-core knows two uses of them: a send queue, and a receive hash over
 * an indirection table. Send queue sizes follow libmlx5 (mlx5_calc_send_wqe, mlx5_calc_sq_size).
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "softnic.h"

enum {
	BLOCK = MLX5_SEND_WQE_BB,
	MAX_WQE = 1024,		    /* bytes, largest send WQE */
	MAX_BLOCKS = 32768,	    /* of one send queue */
	UAR_COMMAND_NON_CACHED = 3, /* libmlx5: MLX5_MMAP_GET_NC_PAGES_CMD */
	UAR_COMMAND_WRITE_COMBINING = 2,
	UAR_COMMAND_SHIFT = 8,
	PAGE_SHIFT = 12,
};

static uint32_t
align_up(uint32_t x, uint32_t to)
{
	return (x + to - 1) & ~(to - 1);
}

/* Bytes a send WQE may need; 0: more than the device takes. */
static uint32_t
send_wqe_size(const struct ibv_qp_cap *cap, uint32_t tso_header)
{
	uint32_t size = sizeof(struct mlx5_wqe_ctrl_seg) + sizeof(struct mlx5_wqe_eth_seg);
	uint32_t inline_size = 0;

	if (cap->max_inline_data > MAX_WQE || tso_header > MAX_WQE || cap->max_send_sge > MAX_WQE)
		return 0;
	if (cap->max_inline_data > 0)
		inline_size =
			size +
			align_up(sizeof(struct mlx5_wqe_inl_data_seg) + cap->max_inline_data, 16);
	size += align_up(tso_header, 16);
	size += cap->max_send_sge * sizeof(struct mlx5_wqe_data_seg);
	if (size < inline_size)
		size = inline_size;
	return size > MAX_WQE ? 0 : align_up(size, BLOCK);
}

/* Memory of the send side. Returns 0 or an errno. */
static int
send_queue_init(struct sq *sq, struct ibv_context *ctx, struct ibv_qp_cap *cap, uint32_t tso_header)
{
	uint32_t size = send_wqe_size(cap, tso_header);
	uint64_t bytes = (uint64_t)cap->max_send_wr * size;

	if (size == 0)
		return EINVAL;
	if (bytes > (uint64_t)MAX_BLOCKS * BLOCK)
		return ENOMEM;
	sq->count = round_up_pow2((uint32_t)bytes) / BLOCK;
	if (ring_alloc(to_context(ctx), &sq->ring, (size_t)sq->count * BLOCK) != 0)
		return ENOMEM;
	sq->record = doorbell_alloc(to_context(ctx));
	if (sq->record == NULL)
		goto no_record;
	sq->uar = doorbell_alloc(to_context(ctx));
	if (sq->uar == NULL)
		goto no_uar;
	sq->wqe = sq->ring.addr;
	return 0;
no_uar:
	doorbell_free(sq->record);
no_record:
	ring_free(to_context(ctx), &sq->ring);
	return ENOMEM;
}

static int
qp_init(struct sq *sq, struct ibv_context *ctx, struct ibv_qp_init_attr_ex *attr)
{
	uint32_t tso_header = 0;

	if (attr->qp_type != IBV_QPT_RAW_PACKET)
		return EOPNOTSUPP;
	if (attr->comp_mask & IBV_QP_INIT_ATTR_RX_HASH) {
		sq->hash = rss_hash_new(attr);
		return sq->hash == NULL ? errno : 0;
	}
	if (attr->cap.max_send_wr == 0)
		return 0; /* neither: some releases make such a pair to allow loopback */
	if (attr->send_cq == NULL)
		return EINVAL;
	if (attr->comp_mask & IBV_QP_INIT_ATTR_MAX_TSO_HEADER)
		tso_header = attr->max_tso_header;
	sq->cq = to_cq(attr->send_cq);
	return send_queue_init(sq, ctx, &attr->cap, tso_header);
}

static struct ibv_qp *
qp_new(struct ibv_context *ctx, struct ibv_qp_init_attr_ex *attr)
{
	struct sq *sq = calloc(1, sizeof(*sq));
	int rc;

	if (sq == NULL)
		return NULL;
	sq->dev = to_device(ctx);
	rc = qp_init(sq, ctx, attr);
	if (rc != 0) {
		free(sq);
		errno = rc;
		return NULL;
	}
	sq->number = UINT16_MAX;
	sq->ib.context = ctx;
	sq->ib.qp_context = attr->qp_context;
	sq->ib.pd = attr->pd;
	sq->ib.send_cq = attr->send_cq;
	sq->ib.recv_cq = attr->recv_cq;
	sq->ib.qp_num = next_object_number();
	sq->ib.state = IBV_QPS_RESET;
	sq->ib.qp_type = IBV_QPT_RAW_PACKET;
	trace("create_qp %s wr %u inline %u -> %u blocks, number %#x",
		sq->hash != NULL ? "rx hash" : "send", attr->cap.max_send_wr,
		attr->cap.max_inline_data, sq->count, sq->ib.qp_num);
	return &sq->ib;
}

struct ibv_qp *
v_create_qp_ex(struct ibv_context *ctx, struct ibv_qp_init_attr_ex *attr)
{
	return qp_new(ctx, attr);
}

API struct ibv_qp *
mlx5dv_create_qp(
	struct ibv_context *ctx, struct ibv_qp_init_attr_ex *attr, struct mlx5dv_qp_init_attr *dv)
{
	(void)dv; /* tunnel and loopback flags: no packet of ours is either */
	return qp_new(ctx, attr);
}

/* ibv_create_qp_ex() comes here too, when it is asked for nothing but the protection domain. */
API struct ibv_qp *
ibv_create_qp(struct ibv_pd *pd, struct ibv_qp_init_attr *attr)
{
	struct ibv_qp_init_attr_ex ex;

	memset(&ex, 0, sizeof(ex));
	ex.qp_context = attr->qp_context;
	ex.send_cq = attr->send_cq;
	ex.recv_cq = attr->recv_cq;
	ex.cap = attr->cap;
	ex.qp_type = attr->qp_type;
	ex.comp_mask = IBV_QP_INIT_ATTR_PD;
	ex.pd = pd;
	return qp_new(pd->context, &ex);
}

static void
set_ready(struct sq *sq, bool ready)
{
	if (sq->ready == ready)
		return;
	sq->ready = ready;
	control_count_ready(ready);
}

/* What was posted before a queue stops has left a real device long ago: send it now. */
static void
finish(struct sq *sq)
{
	if (sq->ready)
		tx_step(sq);
	set_ready(sq, false);
}

static int
change_state(struct sq *sq, enum ibv_qp_state state)
{
	if (state != IBV_QPS_RTS)
		finish(sq);
	if (state == IBV_QPS_RESET && sq->record != NULL) {
		sq->head = 0;
		sq->record[MLX5_RCV_DBR] = 0;
		sq->record[MLX5_SND_DBR] = 0;
	}
	if (state == IBV_QPS_RTS && sq->record != NULL && sq->number == UINT16_MAX &&
		!device_add_sq(sq->dev, sq))
		return ENOMEM;
	if (state == IBV_QPS_RTS && sq->record != NULL)
		set_ready(sq, true);
	sq->ib.state = state;
	return 0;
}

API int
ibv_modify_qp(struct ibv_qp *ib, struct ibv_qp_attr *attr, int mask)
{
	int rc = 0;

	trace("modify_qp %#x mask %#x state %d", ib->qp_num, mask, attr->qp_state);
	if (mask & IBV_QP_STATE) {
		control_lock();
		rc = change_state(to_sq(ib), attr->qp_state);
		control_unlock();
	}
	if (rc != 0)
		errno = rc;
	return rc;
}

static void
trace_opcodes(const struct sq *sq)
{
	unsigned i;

	for (i = 0; i < 256; i++)
		if (sq->opcode[i] > 0)
			trace("  opcode %#04x: %llu WQEs", i, (unsigned long long)sq->opcode[i]);
}

API int
ibv_destroy_qp(struct ibv_qp *ib)
{
	struct sq *sq = to_sq(ib);
	int rc = sq->hash != NULL ? rss_hash_free(sq->hash) : 0;

	if (rc != 0)
		return rc;
	control_lock();
	finish(sq);
	device_remove_sq(sq->dev, sq);
	control_unlock();
	trace("destroy_qp %#x: %llu packets, %llu bytes, %llu WQEs, %llu completions", ib->qp_num,
		(unsigned long long)sq->packets, (unsigned long long)sq->bytes,
		(unsigned long long)sq->wqes, (unsigned long long)sq->completions);
	if (config.debug)
		trace_opcodes(sq);
	doorbell_free(sq->record);
	doorbell_free(sq->uar);
	ring_free(to_context(ib->context), &sq->ring);
	free(sq);
	return 0;
}

/*
 * The offset by which another process would map the doorbell register names its kind of mapping.
 * Drivers choose the kind with MLX5_SHUT_UP_BF (libmlx5) and read it back here.
 */
static uint64_t
uar_offset(void)
{
	const char *text = getenv("MLX5_SHUT_UP_BF");
	uint64_t command = UAR_COMMAND_NON_CACHED;

	if (text != NULL && strcmp(text, "0") == 0)
		command = UAR_COMMAND_WRITE_COMBINING;
	return command << UAR_COMMAND_SHIFT << PAGE_SHIFT;
}

static void
describe_qp(struct sq *sq, struct mlx5dv_qp *out)
{
	out->dbrec = sq->record;
	out->sq.buf = sq->wqe;
	out->sq.wqe_cnt = sq->count;
	out->sq.stride = BLOCK;
	out->rq.buf = NULL;
	out->rq.wqe_cnt = 0;
	out->rq.stride = 0;
	out->bf.reg = sq->uar;
	out->bf.size = 0; /* no BlueField writes: doorbells only */
	if (out->comp_mask & MLX5DV_QP_MASK_UAR_MMAP_OFFSET)
		out->uar_mmap_offset = uar_offset();
	out->comp_mask &= MLX5DV_QP_MASK_UAR_MMAP_OFFSET;
}

static void
describe_cq(struct cq *cq, struct mlx5dv_cq *out)
{
	out->buf = cq->entry;
	out->dbrec = cq->record;
	out->cqe_cnt = cq->count;
	out->cqe_size = sizeof(*cq->entry);
	out->cq_uar = cq_uar_page();
	out->cqn = cq->number;
	out->comp_mask = 0;
}

static void
describe_rq(struct rq *rq, struct mlx5dv_rwq *out)
{
	out->buf = rq->wqe;
	out->dbrec = rq->record;
	out->wqe_cnt = rq->count;
	out->stride = rq->stride;
	out->comp_mask = 0;
}

API int
mlx5dv_init_obj(struct mlx5dv_obj *obj, uint64_t types)
{
	trace("init_obj %#llx", (unsigned long long)types);
	if (types & ~(uint64_t)(MLX5DV_OBJ_QP | MLX5DV_OBJ_CQ | MLX5DV_OBJ_RWQ | MLX5DV_OBJ_PD))
		return EOPNOTSUPP;
	if (types & MLX5DV_OBJ_QP)
		describe_qp(to_sq(obj->qp.in), obj->qp.out);
	if (types & MLX5DV_OBJ_CQ)
		describe_cq(to_cq(obj->cq.in), obj->cq.out);
	if (types & MLX5DV_OBJ_RWQ)
		describe_rq((struct rq *)(void *)obj->rwq.in, obj->rwq.out);
	if (types & MLX5DV_OBJ_PD) {
		obj->pd.out->pdn = obj->pd.in->handle;
		obj->pd.out->comp_mask = 0;
	}
	return 0;
}
