/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Transmit data path of the device: read the posted work queue entries, count (and in verify mode
 * read) their packets, and complete exactly the entries that ask for it.
 *
 * An entry is a control segment, an Ethernet segment and then, by opcode (PRM, "Send WQE"):
 *   SEND                inline headers and data segments of one packet
 *   TSO                 the same; the device cuts the packet at mss bytes
 *   TSO, modifier MPW   one data segment a packet, or one inline segment with all of them; the
 *                       length of each is mss
 *   ENHANCED MPW        one segment a packet, by pointer or inline
 *   NOP                 nothing
 */
#include <string.h>

#include "softnic.h"

enum {
	SEGMENT = 16,
	SEGMENTS_A_BLOCK = MLX5_SEND_WQE_BB / SEGMENT,
	HEADER_SEGMENTS = 2, /* control and Ethernet */
	GATHER_MAX = 2048,   /* bytes verify mode looks at */
	INLINE_LEN_MASK = 0x3ff,
	ETH_INLINE_OFFSET = offsetof(struct mlx5_wqe_eth_seg, inline_hdr_start),
};

/* Position in the send ring, in 16-byte segments; the ring wraps at any of them. */
struct cursor {
	const struct sq *sq;
	uint32_t offset;
	unsigned left; /* segments of the WQE not yet read */
};

/* A packet as verify mode puts it together. */
struct gather {
	uint8_t data[GATHER_MAX];
	uint32_t len;
};

static ALWAYS_INLINE const void *
cursor_at(const struct cursor *c)
{
	return c->sq->wqe + c->offset;
}

static ALWAYS_INLINE void
cursor_advance(struct cursor *c, unsigned segments)
{
	if (unlikely(segments > c->left))
		fatal("port %d tx queue %u WQE %u: a segment ends outside its WQE",
			c->sq->dev->port, c->sq->number, c->sq->head);
	c->offset = (c->offset + segments * SEGMENT) & (c->sq->count * MLX5_SEND_WQE_BB - 1);
	c->left -= segments;
}

/* Append LEN bytes at PART of the packet; bytes beyond the buffer only count. */
static void
gather_add(struct gather *g, const void *part, uint32_t len)
{
	uint32_t fits = g->len < GATHER_MAX ? GATHER_MAX - g->len : 0;

	memcpy(g->data + (g->len < GATHER_MAX ? g->len : 0), part, len < fits ? len : fits);
	g->len += len;
}

/* The same for LEN bytes of the ring, which begin SKIP bytes after the cursor and may wrap. */
static void
gather_ring(struct gather *g, const struct cursor *c, uint32_t skip, uint32_t len)
{
	uint32_t size = c->sq->count * MLX5_SEND_WQE_BB;
	uint32_t at = (c->offset + skip) & (size - 1);
	uint32_t first = len < size - at ? len : size - at;

	gather_add(g, c->sq->wqe + at, first);
	if (first < len)
		gather_add(g, c->sq->wqe, len - first);
}

static void
gather_pointer(struct gather *g, struct sq *sq, const struct mlx5_wqe_data_seg *seg)
{
	uint32_t len = be32toh(seg->byte_count);

	verify_tx_address(sq, be32toh(seg->lkey), be64toh(seg->addr), len);
	gather_add(g, (const void *)(uintptr_t)be64toh(seg->addr), len);
}

/*
 * Read the segment at the cursor, by pointer or inline; returns its length in bytes. G is NULL
 * outside verify mode.
 */
static ALWAYS_INLINE uint32_t
read_segment(struct sq *sq, struct cursor *c, struct gather *g)
{
	const struct mlx5_wqe_data_seg *seg = cursor_at(c);
	uint32_t len = be32toh(seg->byte_count);
	const uint32_t head = sizeof(struct mlx5_wqe_inl_data_seg);

	if (len & MLX5_INLINE_SEG) {
		len &= INLINE_LEN_MASK;
		if (g != NULL)
			gather_ring(g, c, head, len);
		cursor_advance(c, (head + len + SEGMENT - 1) / SEGMENT);
		return len;
	}
	if (g != NULL)
		gather_pointer(g, sq, seg);
	cursor_advance(c, 1);
	return len;
}

/* Enhanced multi-packet WQE: each segment is a packet. */
static ALWAYS_INLINE unsigned
read_enhanced_mpw(struct sq *sq, struct cursor *c, bool verify)
{
	unsigned packets = 0;
	struct gather g;

	while (c->left > 0) {
		g.len = 0;
		sq->bytes += read_segment(sq, c, verify ? &g : NULL);
		if (verify)
			verify_tx_frame(sq, g.data, g.len);
		packets++;
	}
	return packets;
}

/* Cut what a multi-packet WQE of the first kind carries inline into packets of LEN bytes. */
static void
verify_inline_packets(struct sq *sq, struct gather *g, uint32_t len)
{
	uint32_t at;

	for (at = 0; at + len <= g->len; at += len)
		verify_tx_frame(sq, g->data + at, len);
}

static ALWAYS_INLINE unsigned
read_mpw(struct sq *sq, struct cursor *c, const struct mlx5_wqe_eth_seg *eth, bool verify)
{
	uint32_t total = 0, len = be16toh(eth->mss);
	struct gather g = {.len = 0};

	while (c->left > 0)
		total += read_segment(sq, c, verify ? &g : NULL);
	if (unlikely(len == 0 || total % len != 0))
		fatal("port %d tx queue %u WQE %u: %u bytes are no packets of %u bytes",
			sq->dev->port, sq->number, sq->head, total, len);
	if (verify)
		verify_inline_packets(sq, &g, len);
	sq->bytes += total;
	return total / len;
}

/* Headers in the Ethernet segment: two bytes inside it, the rest in the segments that follow. */
static ALWAYS_INLINE uint32_t
read_inline_header(struct cursor *c, const struct mlx5_wqe_eth_seg *eth, struct gather *g)
{
	uint32_t len = be16toh(eth->inline_hdr_sz);

	if (unlikely(len & PRM_ETH_INSERT_VLAN))
		return 0; /* the field holds a tag, and no header is inline */
	len &= PRM_ETH_INLINE_MASK;
	if (g != NULL && len > 0)
		gather_ring(g, c, (uint32_t)(ETH_INLINE_OFFSET - SEGMENT), len);
	if (len > 2)
		cursor_advance(c, (len - 2 + SEGMENT - 1) / SEGMENT);
	return len;
}

/* One packet; with mss the device cuts its payload. Returns the packets on the wire. */
static ALWAYS_INLINE unsigned
read_send(
	struct sq *sq, struct cursor *c, const struct mlx5_wqe_eth_seg *eth, bool tso, bool verify)
{
	uint32_t header, payload = 0, mss = be16toh(eth->mss);
	unsigned packets = 1;
	struct gather g;

	g.len = 0;
	header = read_inline_header(c, eth, verify ? &g : NULL);
	while (c->left > 0)
		payload += read_segment(sq, c, verify ? &g : NULL);
	if (tso) {
		if (unlikely(mss == 0 || header == 0))
			fatal("port %d tx queue %u WQE %u: segmentation without mss or header",
				sq->dev->port, sq->number, sq->head);
		packets = payload <= mss ? 1 : (payload + mss - 1) / mss;
	}
	if (verify)
		verify_tx_frame(sq, g.data, g.len);
	sq->bytes += payload + (uint64_t)packets * header;
	return packets;
}

static ALWAYS_INLINE unsigned
read_wqe(struct sq *sq, const struct mlx5_wqe_ctrl_seg *ctrl, unsigned segments, bool verify)
{
	const struct mlx5_wqe_eth_seg *eth = (const void *)(ctrl + 1);
	uint32_t word = be32toh(ctrl->opmod_idx_opcode);
	uint8_t opcode = word & 0xff;
	struct cursor c = {
		.sq = sq,
		.offset = (uint32_t)((const uint8_t *)ctrl - sq->wqe),
		.left = segments,
	};

	sq->opcode[opcode]++;
	if (unlikely(opcode == MLX5_OPCODE_NOP))
		return 0;
	cursor_advance(&c, HEADER_SEGMENTS);
	if (likely(opcode == PRM_OPCODE_ENHANCED_MPW))
		return read_enhanced_mpw(sq, &c, verify);
	if (likely(opcode == MLX5_OPCODE_SEND))
		return read_send(sq, &c, eth, false, verify);
	if (opcode == MLX5_OPCODE_TSO && word >> 24 == PRM_OPMOD_MPW)
		return read_mpw(sq, &c, eth, verify);
	if (opcode == MLX5_OPCODE_TSO)
		return read_send(sq, &c, eth, true, verify);
	fatal("port %d tx queue %u WQE %u: opcode %#x is not played", sq->dev->port, sq->number,
		sq->head, opcode);
}

/* PRM, control segment: ce 2 asks for a completion, 3 for one and an event. */
static ALWAYS_INLINE bool
wants_completion(const struct mlx5_wqe_ctrl_seg *ctrl)
{
	return ctrl->fm_ce_se & MLX5_WQE_CTRL_CQ_UPDATE;
}

static ALWAYS_INLINE void
complete(struct sq *sq, uint8_t opcode)
{
	const prm_quarter zero = {0, 0, 0, 0};
	struct cq *cq = sq->cq;

	if (unlikely(cq_room(cq) == 0))
		fatal("port %d tx queue %u: completion queue overrun", sq->dev->port, sq->number);
	cqe_store(&cq->entry[cq->producer & (cq->count - 1)], 0, 0, zero, 0,
		htobe32((uint32_t)opcode << 24 | sq->ib.qp_num), sq->head,
		cq_own(cq->log_count, cq->producer, PRM_CQE_OPCODE_REQUESTER,
			PRM_CQE_FORMAT_PLAIN));
	cq->producer++;
	sq->completions++;
}

static ALWAYS_INLINE unsigned
drain(struct sq *sq, uint16_t end, bool verify)
{
	const struct mlx5_wqe_ctrl_seg *ctrl;
	unsigned segments, packets = 0;

	while (sq->head != end) {
		ctrl = (const void *)(sq->wqe +
				      (size_t)(sq->head & (sq->count - 1)) * MLX5_SEND_WQE_BB);
		segments = be32toh(ctrl->qpn_ds) & 0x3f;
		if (unlikely(segments == 0))
			fatal("port %d tx queue %u WQE %u: empty", sq->dev->port, sq->number,
				sq->head);
		packets += read_wqe(sq, ctrl, segments, verify);
		if (wants_completion(ctrl))
			complete(sq, be32toh(ctrl->opmod_idx_opcode) & 0xff);
		sq->wqes++;
		sq->head += (segments + SEGMENTS_A_BLOCK - 1) / SEGMENTS_A_BLOCK;
	}
	return packets;
}

/* Send all that is posted on SQ; returns the packets sent. */
unsigned
tx_step(struct sq *sq)
{
	unsigned packets;
	uint16_t end;

	if (unlikely(!sq->ready))
		return 0;
	end = be32toh(*(volatile __be32 *)&sq->record[MLX5_SND_DBR]);
	if (sq->head == end)
		return 0;
	atomic_thread_fence(memory_order_acquire);
	packets = config.verify ? drain(sq, end, true) : drain(sq, end, false);
	sq->packets += packets;
	return packets;
}
