/* SPDX-License-Identifier: BSD-3-Clause */
/* Receive hashes, indirection tables and rules: which queue gets what. */
#include <errno.h>

#include "check.h"
#include "expect.h"

enum { QUEUES = 4 };

static void
test_hash_vector(void)
{
	/* Microsoft, "Verifying the RSS hash calculation": 66.9.149.187:2794 to 161.142.100.80:1766
	 */
	static const uint8_t input[12] = {
		66, 9, 149, 187, 161, 142, 100, 80, 0x0a, 0xea, 0x06, 0xe6};

	ok(reference_hash(input, 12) == 0x51ccc178 && reference_hash(input, 8) == 0x323e8fc2,
		"the reference hash agrees with Microsoft's vector");
}

static bool
plain_completion_is_right(struct rxq *q, uint32_t i)
{
	struct mlx5_cqe64 *cqe = rxq_poll(q);
	const uint8_t *frame = rxq_frame(q, i);

	return cqe != NULL && mlx5dv_get_cqe_opcode(cqe) == MLX5_CQE_RESP_SEND &&
	       mlx5dv_get_cqe_format(cqe) == 0 && be32toh(cqe->byte_cnt) == FRAME &&
	       be16toh(cqe->wqe_counter) == (i & 0xffff) && cqe->l4_hdr_type_etc == 0x28 &&
	       frame_is_right(frame) && cqe_hash(cqe) == reference_hash(frame + FRAME_IP_SRC, 12);
}

/* Four queues: every packet in the queue its hash says, for more packets than 16 bits count. */
static void
test_plain(void)
{
	const uint64_t four = IBV_RX_HASH_SRC_IPV4 | IBV_RX_HASH_DST_IPV4 |
			      IBV_RX_HASH_SRC_PORT_UDP | IBV_RX_HASH_DST_PORT_UDP;
	struct rxq q[QUEUES];
	struct ibv_wq *wqs[QUEUES];
	struct ibv_flow *flow;
	struct rss rss;
	uint32_t i, n, seen[QUEUES] = {0};
	bool right = true, place = true;
	unsigned k;

	for (k = 0; k < QUEUES; k++) {
		rxq_open(&q[k], RING, false, 0, 0);
		wqs[k] = q[k].wq;
	}
	rss_open(&rss, wqs, 2, four);
	flow = must(add_rule(rss.qp, 1, NULL, false), "create_flow");
	ok(ibv_destroy_wq(q[0].wq) == EBUSY && ibv_destroy_rwq_ind_table(rss.table) == EBUSY &&
			ibv_destroy_qp(rss.qp) == EBUSY,
		"objects in use cannot be destroyed");
	for (k = 0; k < QUEUES; k++) {
		while (seen[k] < 70000 && right) {
			n = softnic_step(0, k, 32);
			for (i = 0; i < n; i++) {
				right = right && plain_completion_is_right(&q[k], seen[k]);
				place = place && (cqe_hash(rxq_poll(&q[k])) & 3) == k;
				rxq_consume(&q[k], 1);
				seen[k]++;
			}
			rxq_post(&q[k], n);
			right = right && n > 0;
		}
	}
	ok(right, "70,000 packets a queue arrive complete and with the true hash");
	ok(place, "each in the queue that the indirection table gives its hash");
	ok(rxq_poll(&q[0]) == NULL && softnic_step(0, QUEUES, 1) == 0 && softnic_step(9, 0, 1) == 0,
		"nothing comes for queues and ports that are not there");
	ibv_destroy_flow(flow);
	rss_close(&rss);
	for (k = 0; k < QUEUES; k++)
		rxq_close(&q[k]);
}

/* Rules change while the queues stay. */
static void
test_rules(void)
{
	static const uint8_t other[6] = {2, 9, 9, 9, 9, 9}, port[6] = {2, 0, 0, 0, 1, 0};
	struct rxq q[2];
	struct ibv_flow *low, *high, *drop;
	struct rss first, second;

	rxq_open(&q[0], RING, false, 0, 0);
	rxq_open(&q[1], RING, false, 0, 0);
	rss_open(&first, &q[0].wq, 0, 0);
	rss_open(&second, &q[1].wq, 0, 0);
	ok(softnic_step(0, 0, 8) == 0, "no rule, no packet");
	low = must(add_rule(first.qp, 5, other, false), "create_flow");
	ok(softnic_step(0, 0, 8) == 0, "a rule for another address takes nothing");
	ibv_destroy_flow(low);
	low = must(add_rule(first.qp, 5, port, false), "create_flow");
	ok(softnic_step(0, 0, 8) == 8 && softnic_step(0, 1, 8) == 0 &&
			cqe_hash(rxq_poll(&q[0])) == 0,
		"a rule for the port's address takes all; without fields the hash is 0");
	high = must(add_rule(second.qp, 1, NULL, false), "create_flow");
	ok(softnic_step(0, 0, 8) == 0 && softnic_step(0, 1, 8) == 8,
		"a rule of better priority takes over");
	drop = must(add_rule(second.qp, 0, NULL, true), "create_flow");
	ok(softnic_step(0, 0, 8) == 0 && softnic_step(0, 1, 8) == 0, "a drop rule takes all");
	ibv_destroy_flow(drop);
	ibv_destroy_flow(high);
	ok(softnic_step(0, 0, 8) == 8, "and the first takes them again");
	ibv_destroy_flow(low);
	rss_close(&first);
	rss_close(&second);
	rxq_close(&q[0]);
	rxq_close(&q[1]);
}

void
check_steering(void)
{
	test_hash_vector();
	test_plain();
	test_rules();
}
