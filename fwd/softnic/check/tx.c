/* SPDX-License-Identifier: BSD-3-Clause */
/* What the device does with posted sends. */
#include <string.h>

#include "check.h"

static void
txq_send(struct txq *t, bool completion)
{
	uint8_t segment[3][16] = {{0}};

	make_control(t, segment[0], 0, MLX5_OPCODE_SEND, 3, completion);
	make_pointer(t, segment[2], FRAME);
	txq_put(t, segment, 3);
}

/* 300,000 packets, every third with a completion: past 65,536 completions. */
static void
test_send(void)
{
	struct mlx5_cqe64 *cqe;
	bool right = true;
	struct txq t;
	uint32_t i;
	uint16_t at;

	txq_open(&t);
	for (i = 0; i < 300000 && right; i++) {
		at = t.head;
		txq_send(&t, i % 3 == 2);
		softnic_step(0, 0, 0);
		cqe = txq_poll(&t);
		right = (cqe != NULL) == (i % 3 == 2);
		if (cqe != NULL)
			right = right && be16toh(cqe->wqe_counter) == at &&
				mlx5dv_get_cqe_opcode(cqe) == MLX5_CQE_REQ;
	}
	ok(right, "sends complete exactly where asked, past 65,536 completions");
	txq_close(&t);
}

/* Two packets by pointer and one inline, with the segments across the ring's end. */
static void
test_multi_packet(void)
{
	bool right = true;
	struct txq t;
	unsigned i;

	txq_open(&t);
	for (i = 0; i < 1000 && right; i++) {
		uint8_t segment[9][16] = {{0}};

		make_control(&t, segment[0], 0, 0x29, 8, true);
		make_pointer(&t, segment[2], FRAME);
		put_be32(segment[3], MLX5_INLINE_SEG | FRAME);
		make_pointer(&t, segment[7], FRAME);
		txq_put(&t, segment, 8);
		txq_send(&t, false); /* makes the next one begin elsewhere */
		softnic_step(0, 0, 0);
		right = txq_poll(&t) != NULL && txq_poll(&t) == NULL;
	}
	ok(right, "enhanced multi-packet WQEs are read wherever the ring wraps");
	txq_close(&t);
}

static void
test_first_kind(void)
{
	uint8_t segment[7][16] = {{0}};
	struct txq t;

	txq_open(&t);
	make_control(&t, segment[0], 1, MLX5_OPCODE_TSO, 4, true);
	segment[1][7] = FRAME; /* mss */
	make_pointer(&t, segment[2], FRAME);
	make_pointer(&t, segment[3], FRAME);
	txq_put(&t, segment, 4);
	memset(segment, 0, sizeof(segment));
	make_control(&t, segment[0], 0, MLX5_OPCODE_NOP, 1, true);
	txq_put(&t, segment, 1);
	softnic_step(0, 0, 0);
	ok(txq_poll(&t) != NULL && txq_poll(&t) != NULL && txq_poll(&t) == NULL,
		"multi-packet WQEs of the first kind and NOPs are read");
	txq_close(&t);
}

static void
test_segmentation(void)
{
	uint8_t segment[7][16] = {{0}};
	struct txq t;

	txq_open(&t);
	make_control(&t, segment[0], 0, MLX5_OPCODE_TSO, 7, true);
	segment[1][6] = 1000 >> 8;
	segment[1][7] = 1000 & 0xff;
	segment[1][13] = 54;
	make_pointer(&t, segment[6], 2500);
	txq_put(&t, segment, 7);
	softnic_step(0, 0, 0);
	ok(txq_poll(&t) != NULL, "segmentation WQEs are read");
	txq_close(&t);
}

static void
send_unknown_opcode(void)
{
	uint8_t segment[3][16] = {{0}};
	struct txq t;

	txq_open(&t);
	make_control(&t, segment[0], 0, MLX5_OPCODE_RDMA_WRITE, 3, false);
	txq_put(&t, segment, 3);
	softnic_step(0, 0, 0);
}

static void
overrun_completions(void)
{
	struct txq t;
	int i;

	txq_open(&t);
	for (i = 0; i < 33; i++) {
		txq_send(&t, true);
		softnic_step(0, 0, 0);
	}
}

static void
send_too_long_segment(void)
{
	uint8_t segment[3][16] = {{0}};
	struct txq t;

	txq_open(&t);
	make_control(&t, segment[0], 0, 0x29, 3, false);
	put_be32(segment[2], MLX5_INLINE_SEG | 500);
	txq_put(&t, segment, 3);
	softnic_step(0, 0, 0);
}

static void
call_unknown(void)
{
	struct ibv_wc wc;
	struct txq t;

	txq_open(&t);
	ibv_poll_cq(t.cq, 1, &wc);
}

static void
call_unknown_symbol(void)
{
	struct txq t;

	txq_open(&t);
	ibv_resize_cq(t.cq, 100);
}

static void
test_aborts(void)
{
	ok(aborts(send_unknown_opcode, "opcode 0x8 is not played"),
		"an opcode that is not played ends the process");
	ok(aborts(overrun_completions, "completion queue overrun"),
		"an overrun completion queue ends the process");
	ok(aborts(send_too_long_segment, "ends outside its WQE"),
		"a segment beyond its WQE ends the process");
	ok(aborts(call_unknown, "ibv_poll_cq") && aborts(call_unknown_symbol, "ibv_resize_cq"),
		"a call that is not known ends the process by its name");
}

void
check_tx(void)
{
	test_send();
	test_multi_packet();
	test_first_kind();
	test_segmentation();
	test_aborts();
}
