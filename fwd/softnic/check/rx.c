/* SPDX-License-Identifier: BSD-3-Clause */
/* What a single receive queue gets: bounds, frames, strides, compressed completions. */
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "expect.h"

/* One queue with a rule for everything. */
struct single {
	struct rxq q;
	struct rss rss;
	struct ibv_flow *flow;
};

static void
single_open(struct single *s, uint32_t wqes, bool striding, unsigned compression, uint32_t flags)
{
	rxq_open(&s->q, wqes, striding, compression, flags);
	rss_open(&s->rss, &s->q.wq, 0,
		IBV_RX_HASH_SRC_IPV4 | IBV_RX_HASH_DST_IPV4 | IBV_RX_HASH_SRC_PORT_UDP |
			IBV_RX_HASH_DST_PORT_UDP);
	s->flow = must(add_rule(s->rss.qp, 1, NULL, false), "create_flow");
}

static void
single_close(struct single *s)
{
	ibv_destroy_flow(s->flow);
	rss_close(&s->rss);
	rxq_close(&s->q);
}

static void
test_bounds(void)
{
	struct single s;

	single_open(&s, 16, false, 0, 0);
	ok(softnic_step(0, 0, 100) == 16 && softnic_step(0, 0, 100) == 0,
		"no more packets than buffers");
	single_close(&s);
	single_open(&s, 512, false, 0, 0);
	ok(softnic_step(0, 0, 1000) == RING && softnic_step(0, 0, 1) == 0,
		"no more packets than completion slots");
	rxq_consume(&s.q, 3);
	ok(softnic_step(0, 0, 1000) == 3, "slots given back are used");
	single_close(&s);
}

static void
test_kept_fcs(void)
{
	uint32_t crc = ~0u, sent;
	struct single s;
	unsigned i, bit;

	single_open(&s, 16, false, 0, IBV_WQ_FLAGS_SCATTER_FCS);
	softnic_step(0, 0, 1);
	for (i = 0; i < FRAME; i++) {
		crc ^= rxq_frame(&s.q, 0)[i];
		for (bit = 0; bit < 8; bit++)
			crc = crc >> 1 ^ (crc & 1 ? 0xedb88320u : 0);
	}
	memcpy(&sent, rxq_frame(&s.q, 0) + FRAME, 4);
	ok(be32toh(rxq_poll(&s.q)->byte_cnt) == FRAME + 4 && le32toh(sent) == ~crc,
		"a kept frame check sequence is right");
	single_close(&s);
}

static bool
stride_is_right(struct rxq *q, uint32_t i)
{
	struct mlx5_cqe64 *cqe = rxq_poll(q);
	uint32_t wqe = i >> STRIDES_LOG, stride = i & ((1 << STRIDES_LOG) - 1);
	const uint8_t *frame = q->buffers +
			       ((size_t)(wqe % q->wq_dv.wqe_cnt) << STRIDES_LOG) * STRIDE +
			       (size_t)stride * STRIDE + 2;

	return cqe != NULL && be32toh(cqe->byte_cnt) == (FRAME | 1 << 16) &&
	       be16toh(cqe->wqe_counter) == stride && be16toh(cqe->wqe_id) == (wqe & 0xffff) &&
	       frame_is_right(frame) && cqe_hash(cqe) == reference_hash(frame + FRAME_IP_SRC, 12);
}

static void
test_striding(void)
{
	struct single s;
	uint32_t i, n, seen = 0;
	bool right = true;

	single_open(&s, 4, true, 0, 0);
	while (seen < 70000 && right) {
		n = softnic_step(0, 0, 32);
		right = n > 0;
		for (i = 0; i < n; i++, seen++) {
			right = right && stride_is_right(&s.q, seen);
			rxq_consume(&s.q, 1);
			if ((seen + 1) % (1 << STRIDES_LOG) == 0)
				rxq_post(&s.q, 1);
		}
	}
	ok(right, "a striding queue fills its strides in order, 70,000 packets");
	single_close(&s);
}

/* Mini completion I of the session whose title is at slot FIRST (PRM, "CQE compression"). */
static const uint32_t *
mini_at(struct rxq *q, uint32_t first, uint32_t i)
{
	uint32_t slot = i < 8 ? first + 1 : first + i / 8 * 8;
	const struct mlx5_cqe64 *cqe =
		(const struct mlx5_cqe64 *)q->cq_dv.buf + slot % q->cq_dv.cqe_cnt;

	return (const uint32_t *)(const void *)cqe + i % 8 * 2;
}

/* What a driver does with slots it has used in a compressed session. */
static void
invalidate(struct rxq *q, uint32_t slots)
{
	uint32_t i;

	for (i = 0; i < slots; i++)
		((struct mlx5_cqe64 *)q->cq_dv.buf)[(q->consumer + i) % q->cq_dv.cqe_cnt].op_own =
			MLX5_CQE_INVALID << 4;
}

/* Check the packets from SEEN on, of the session whose title the driver sees. */
static bool
session_is_right(struct rxq *q, uint32_t seen, uint32_t count)
{
	const uint8_t *frame;
	const uint32_t *mini;
	uint32_t i;

	for (i = 0; i < count; i++) {
		mini = mini_at(q, q->consumer, i);
		frame = rxq_frame(q, seen + i);
		if (be32toh(mini[1]) != FRAME ||
			be32toh(mini[0]) != reference_hash(frame + FRAME_IP_SRC, 12))
			return false;
	}
	return count <= 64 && q->consumer % RING + count <= RING;
}

/* Packed completions appear where the driver asked for them and the switch is on. */
static void
test_compression(void)
{
	const char *env = getenv("MPPSDIFF_SOFTNIC_CQE_COMP");
	bool wanted = env != NULL && strcmp(env, "1") == 0;
	uint32_t seen = 0, packed = 0, count;
	struct mlx5_cqe64 *cqe;
	bool right = true;
	struct single s;

	single_open(&s, RING, false, MLX5DV_CQE_RES_FORMAT_HASH, 0);
	while (seen < 70000 && right) {
		right = softnic_step(0, 0, 21) > 0;
		while (right && (cqe = rxq_poll(&s.q)) != NULL) {
			count = 1;
			if (mlx5dv_get_cqe_format(cqe) == 3) {
				count = be32toh(cqe->byte_cnt);
				right = session_is_right(&s.q, seen, count);
				packed += count;
			}
			invalidate(&s.q, count);
			rxq_consume(&s.q, count);
			rxq_post(&s.q, count);
			seen += count;
		}
	}
	ok(right, "compressed sessions give each packet its length and hash, inside the ring");
	ok(wanted ? packed > seen / 2 : packed == 0, "completions are compressed where asked for");
	single_close(&s);
}

void
check_rx(void)
{
	test_bounds();
	test_kept_fcs();
	test_striding();
	test_compression();
}
