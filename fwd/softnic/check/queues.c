/* SPDX-License-Identifier: BSD-3-Clause */
/* Queues, receive hashes and rules, built and driven as a driver does. */
#include <stdlib.h>
#include <string.h>

#include "check.h"

/* The key of the verification suite in Microsoft, "Verifying the RSS hash calculation". */
const uint8_t rss_key[KEY_LEN] = {0x6d, 0x5a, 0x56, 0xda, 0x25, 0x5b, 0x0e, 0xc2, 0x41, 0x67, 0x25,
	0x3d, 0x43, 0xa3, 0x8f, 0xb0, 0xd0, 0xca, 0x2b, 0xcb, 0xae, 0x7b, 0x30, 0xb4, 0x77, 0xcb,
	0x2d, 0xa3, 0x80, 0x30, 0xf2, 0x0c, 0x6a, 0x42, 0xb7, 0x3b, 0xbe, 0xac, 0x01, 0xfa};

void
rxq_post(struct rxq *q, uint32_t count)
{
	struct mlx5_wqe_data_seg *seg;
	uint32_t i, size = q->striding ? STRIDE << STRIDES_LOG : BUFFER;

	for (i = 0; i < count; i++, q->posted++) {
		uint32_t slot = q->posted % q->wq_dv.wqe_cnt;

		seg = (void *)((uint8_t *)q->wq_dv.buf + slot * q->wq_dv.stride +
			       (q->striding ? 16 : 0));
		seg->byte_count = htobe32(size);
		seg->lkey = htobe32(q->mr->lkey);
		seg->addr = htobe64((uintptr_t)q->buffers + (uint64_t)slot * size);
	}
	q->wq_dv.dbrec[0] = htobe32(q->posted & 0xffff);
}

struct ibv_wq *
make_wq(struct ibv_cq *cq, uint32_t wr, bool striding, uint32_t flags)
{
	struct ibv_wq_init_attr attr = {
		.wq_type = IBV_WQT_RQ,
		.max_wr = wr,
		.max_sge = 1,
		.pd = pd,
		.cq = cq,
		.create_flags = flags,
	};
	struct mlx5dv_wq_init_attr dv = {.comp_mask = 0};

	if (striding) {
		dv.comp_mask = MLX5DV_WQ_INIT_ATTR_MASK_STRIDING_RQ;
		dv.striding_rq_attrs.single_stride_log_num_of_bytes = 6;
		dv.striding_rq_attrs.single_wqe_log_num_of_strides = STRIDES_LOG;
		dv.striding_rq_attrs.two_byte_shift_en = 1;
	}
	return mlx5dv_create_wq(ctx, &attr, &dv);
}

/* A ready queue with COUNT WQEs posted; COMPRESSION: 0 or a result format. */
void
rxq_open(struct rxq *q, uint32_t count, bool striding, unsigned compression, uint32_t flags)
{
	struct ibv_cq_init_attr_ex attr = {.cqe = RING - 1};
	struct mlx5dv_cq_init_attr dv = {.comp_mask = 0};
	struct ibv_wq_attr ready = {.attr_mask = IBV_WQ_ATTR_STATE, .wq_state = IBV_WQS_RDY};
	size_t size = (size_t)count * (striding ? STRIDE << STRIDES_LOG : BUFFER);
	struct mlx5dv_obj obj;

	memset(q, 0, sizeof(*q));
	q->striding = striding;
	if (compression != 0) {
		dv.comp_mask = MLX5DV_CQ_INIT_ATTR_MASK_COMPRESSED_CQE;
		dv.cqe_comp_res_format = compression;
	}
	q->cq = ibv_cq_ex_to_cq(must(mlx5dv_create_cq(ctx, &attr, &dv), "create_cq"));
	q->wq = must(make_wq(q->cq, count, striding, flags), "create_wq");
	if (ibv_modify_wq(q->wq, &ready) != 0)
		must(NULL, "modify_wq");
	obj.cq.in = q->cq;
	obj.cq.out = &q->cq_dv;
	obj.rwq.in = q->wq;
	obj.rwq.out = &q->wq_dv;
	if (mlx5dv_init_obj(&obj, MLX5DV_OBJ_CQ | MLX5DV_OBJ_RWQ) != 0)
		must(NULL, "init_obj");
	q->buffers = must(aligned_alloc(64, size + 64), "buffers");
	q->mr = must(ibv_reg_mr(pd, q->buffers, size, IBV_ACCESS_LOCAL_WRITE), "reg_mr");
	rxq_post(q, count);
}

void
rxq_close(struct rxq *q)
{
	if (ibv_destroy_wq(q->wq) != 0 || ibv_destroy_cq(q->cq) != 0 || ibv_dereg_mr(q->mr) != 0)
		must(NULL, "close a queue");
	free(q->buffers);
}

/* The next completion the driver owns, NULL when there is none. */
struct mlx5_cqe64 *
rxq_poll(struct rxq *q)
{
	struct mlx5_cqe64 *cqe = (struct mlx5_cqe64 *)q->cq_dv.buf + q->consumer % q->cq_dv.cqe_cnt;
	unsigned owner = q->consumer / q->cq_dv.cqe_cnt & 1;

	if (mlx5dv_get_cqe_opcode(cqe) == MLX5_CQE_INVALID || mlx5dv_get_cqe_owner(cqe) != owner)
		return NULL;
	return cqe;
}

void
rxq_consume(struct rxq *q, uint32_t slots)
{
	q->consumer += slots;
	q->cq_dv.dbrec[0] = htobe32(q->consumer & 0xffff); /* 16 bits, as some drivers */
}

uint8_t *
rxq_frame(struct rxq *q, uint32_t wqe)
{
	return q->buffers + (size_t)(wqe % q->wq_dv.wqe_cnt) * BUFFER;
}

void
rss_open(struct rss *rss, struct ibv_wq **wqs, unsigned log_size, uint64_t fields)
{
	struct ibv_rwq_ind_table_init_attr table = {.log_ind_tbl_size = log_size, .ind_tbl = wqs};
	struct ibv_qp_init_attr_ex qp = {
		.qp_type = IBV_QPT_RAW_PACKET,
		.comp_mask =
			IBV_QP_INIT_ATTR_PD | IBV_QP_INIT_ATTR_IND_TABLE | IBV_QP_INIT_ATTR_RX_HASH,
		.pd = pd,
		.rx_hash_conf =
			{
				.rx_hash_function = IBV_RX_HASH_FUNC_TOEPLITZ,
				.rx_hash_key_len = sizeof(rss_key),
				.rx_hash_key = (uint8_t *)(uintptr_t)rss_key,
				.rx_hash_fields_mask = fields,
			},
	};

	rss->table = must(ibv_create_rwq_ind_table(ctx, &table), "indirection table");
	qp.rwq_ind_tbl = rss->table;
	rss->qp = must(ibv_create_qp_ex(ctx, &qp), "receive hash");
}

void
rss_close(struct rss *rss)
{
	if (ibv_destroy_qp(rss->qp) != 0 || ibv_destroy_rwq_ind_table(rss->table) != 0)
		must(NULL, "close a receive hash");
}

/* A rule for all packets, or for those to MAC. */
struct ibv_flow *
add_rule(struct ibv_qp *qp, uint16_t priority, const uint8_t *mac, bool drop)
{
	struct {
		struct ibv_flow_attr attr;
		struct ibv_flow_spec_eth eth;
		struct ibv_flow_spec_action_drop drop;
	} rule = {
		.attr = {.type = IBV_FLOW_ATTR_NORMAL,
			.size = sizeof(rule),
			.priority = priority,
			.num_of_specs = drop ? 2 : 1,
			.port = 1},
		.eth = {.type = IBV_FLOW_SPEC_ETH, .size = sizeof(rule.eth)},
		.drop = {.type = IBV_FLOW_SPEC_ACTION_DROP, .size = sizeof(rule.drop)},
	};

	if (mac != NULL) {
		memcpy(rule.eth.val.dst_mac, mac, 6);
		memset(rule.eth.mask.dst_mac, 0xff, 6);
	}
	return ibv_create_flow(qp, &rule.attr);
}

static void
txq_state(struct txq *t, enum ibv_qp_state state)
{
	struct ibv_qp_attr attr = {.qp_state = state, .port_num = 1};

	if (ibv_modify_qp(t->qp, &attr, IBV_QP_STATE) != 0)
		must(NULL, "modify_qp");
}

void
txq_open(struct txq *t)
{
	struct ibv_qp_init_attr attr = {
		.qp_type = IBV_QPT_RAW_PACKET, .cap = {.max_send_wr = 64, .max_send_sge = 1}};
	struct mlx5dv_obj obj;

	memset(t, 0, sizeof(*t));
	t->cq = must(ibv_create_cq(ctx, 31, NULL, NULL, 0), "create_cq");
	attr.send_cq = attr.recv_cq = t->cq;
	t->qp = must(ibv_create_qp(pd, &attr), "create_qp");
	t->qp_dv.comp_mask = MLX5DV_QP_MASK_UAR_MMAP_OFFSET;
	obj.cq.in = t->cq;
	obj.cq.out = &t->cq_dv;
	obj.qp.in = t->qp;
	obj.qp.out = &t->qp_dv;
	mlx5dv_init_obj(&obj, MLX5DV_OBJ_CQ | MLX5DV_OBJ_QP);
	txq_state(t, IBV_QPS_RESET);
	txq_state(t, IBV_QPS_INIT);
	txq_state(t, IBV_QPS_RTR);
	txq_state(t, IBV_QPS_RTS);
	t->data = must(calloc(1, 4096), "data");
	t->mr = must(ibv_reg_mr(pd, t->data, 4096, 0), "reg_mr");
}

void
txq_close(struct txq *t)
{
	ibv_destroy_qp(t->qp);
	ibv_destroy_cq(t->cq);
	ibv_dereg_mr(t->mr);
	free(t->data);
}

/* Write a WQE of SEGMENTS 16-byte segments; SEGMENT 0 is the control segment. */
void
txq_put(struct txq *t, uint8_t (*segment)[16], unsigned segments)
{
	uint32_t size = t->qp_dv.sq.wqe_cnt * 64, at = (uint32_t)t->head * 64;
	unsigned i;

	for (i = 0; i < segments; i++)
		memcpy((uint8_t *)t->qp_dv.sq.buf + (at + i * 16) % size, segment[i], 16);
	t->head += (segments + 3) / 4;
	t->qp_dv.dbrec[MLX5_SND_DBR] = htobe32(t->head);
}

void
put_be32(uint8_t *to, uint32_t value)
{
	value = htobe32(value);
	memcpy(to, &value, 4);
}

void
make_control(struct txq *t, uint8_t *segment, uint8_t opmod, uint8_t opcode, unsigned segments,
	bool completion)
{
	put_be32(segment, (uint32_t)opmod << 24 | (uint32_t)t->head << 8 | opcode);
	put_be32(segment + 4, t->qp->qp_num << 8 | segments);
	/* ce 2: a completion; ce 1: one on error only (PRM, control segment) */
	segment[11] = completion ? MLX5_WQE_CTRL_CQ_UPDATE : 1 << 2;
}

void
make_pointer(struct txq *t, uint8_t *segment, uint32_t len)
{
	uint64_t addr = htobe64((uintptr_t)t->data);

	put_be32(segment, len);
	put_be32(segment + 4, t->mr->lkey);
	memcpy(segment + 8, &addr, 8);
}

struct mlx5_cqe64 *
txq_poll(struct txq *t)
{
	struct mlx5_cqe64 *cqe = (struct mlx5_cqe64 *)t->cq_dv.buf + t->consumer % t->cq_dv.cqe_cnt;

	if (mlx5dv_get_cqe_opcode(cqe) == MLX5_CQE_INVALID ||
		mlx5dv_get_cqe_owner(cqe) != (t->consumer / t->cq_dv.cqe_cnt & 1))
		return NULL;
	t->consumer++;
	t->cq_dv.dbrec[0] = htobe32(t->consumer & 0xffff);
	return cqe;
}
