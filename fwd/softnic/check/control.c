/* SPDX-License-Identifier: BSD-3-Clause */
/* Control calls: sizes and refusals. */
#include <errno.h>

#include "check.h"

static uint32_t
send_blocks(uint32_t wr, uint32_t inline_len, uint32_t tso)
{
	struct ibv_cq *cq = must(ibv_create_cq(ctx, 31, NULL, NULL, 0), "create_cq");
	struct ibv_qp_init_attr_ex attr = {
		.qp_type = IBV_QPT_RAW_PACKET,
		.send_cq = cq,
		.recv_cq = cq,
		.pd = pd,
		.comp_mask = IBV_QP_INIT_ATTR_PD | (tso ? IBV_QP_INIT_ATTR_MAX_TSO_HEADER : 0),
		.max_tso_header = tso,
		.cap = {.max_send_wr = wr, .max_send_sge = 1, .max_inline_data = inline_len},
	};
	struct ibv_qp *qp = ibv_create_qp_ex(ctx, &attr);
	struct mlx5dv_qp dv = {.comp_mask = MLX5DV_QP_MASK_UAR_MMAP_OFFSET};
	struct mlx5dv_obj obj = {.qp = {.in = qp, .out = &dv}};

	if (qp != NULL) {
		mlx5dv_init_obj(&obj, MLX5DV_OBJ_QP);
		ibv_destroy_qp(qp);
	}
	ibv_destroy_cq(cq);
	return qp == NULL ? 0 : dv.sq.wqe_cnt;
}

static int
cq_entries(int wanted)
{
	struct ibv_cq *cq = ibv_create_cq(ctx, wanted, NULL, NULL, 0);
	int entries;

	if (cq == NULL)
		return -errno;
	entries = cq->cqe;
	ibv_destroy_cq(cq);
	return entries;
}

static void
test_sizes(void)
{
	ok(cq_entries(255) == 255 && cq_entries(256) == 511 && cq_entries(1) == 1,
		"completion queues have the sizes libmlx5 gives");
	/* control 16 + Ethernet 32 + pointer 16 = 64; with 18 inline: 48 + 32 = 80 -> 128 bytes */
	ok(send_blocks(512, 0, 0) == 512 && send_blocks(512, 18, 0) == 1024 &&
			send_blocks(300, 0, 0) == 512 && send_blocks(256, 0, 192) == 1024,
		"send queues have the sizes libmlx5 gives");
}

static void
test_refusals(void)
{
	struct ibv_cq *cq = must(ibv_create_cq(ctx, 31, NULL, NULL, 0), "create_cq");
	struct ibv_port_attr port;

	ok(cq_entries(0) == -EINVAL && cq_entries(1 << 22) == -EINVAL,
		"completion queues of impossible sizes are refused");
	errno = 0;
	ok(send_blocks(1 << 20, 0, 0) == 0 && errno == ENOMEM && send_blocks(64, 4096, 0) == 0 &&
			errno == EINVAL,
		"send queues of impossible sizes are refused");
	ok(make_wq(cq, 0, false, 0) == NULL && errno == EINVAL &&
			make_wq(cq, 1 << 20, false, 0) == NULL && errno == EINVAL,
		"receive queues of impossible sizes are refused");
	ok(ibv_query_port(ctx, 1, &port) == 0 && ibv_query_port(ctx, 2, &port) == EINVAL,
		"a port the device does not have is refused");
	ok(mlx5dv_open_device(ctx->device, NULL) == NULL && errno == EOPNOTSUPP, "DevX is refused");
	ibv_destroy_cq(cq);
}

void
check_control(void)
{
	test_sizes();
	test_refusals();
}
