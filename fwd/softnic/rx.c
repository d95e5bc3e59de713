/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Receive data path of the device: take posted buffers, write packets into them, complete them.
 * The plain queue gives every packet a WQE of its own; the striding queue (Multi-Packet RQ) cuts a
 * WQE's buffer into strides, one packet a stride.
 *
 * The functions marked ALWAYS_INLINE are compiled once with and once without verify mode, so that
 * measuring pays nothing for it.
 */
#include <string.h>

#include "softnic.h"

enum { PREFETCH_AHEAD = 8 }; /* packets; found by measuring, see docs/softnic.md */

/* Ask for the line at ADDR to be written soon. */
static ALWAYS_INLINE void
prefetch_write(const void *addr)
{
#if defined(__x86_64__)
	__asm__ volatile("prefetchw %0" : : "m"(*(const char *)addr));
#else
	__builtin_prefetch(addr, 1);
#endif
}

static ALWAYS_INLINE const struct bucket_entry *
next_entry(struct rq *rq)
{
	const struct bucket_entry *entry = &rq->bucket[rq->bucket_pos];

	if (++rq->bucket_pos == rq->bucket_count)
		rq->bucket_pos = 0;
	return entry;
}

static ALWAYS_INLINE uint32_t
frame_len(const struct rq *rq)
{
	return rq->keep_fcs ? WIRE_LEN : FRAME_LEN;
}

static ALWAYS_INLINE prm_quarter
first_quarter(uint16_t wqe_id, uint32_t hash)
{
	return (prm_quarter){(uint32_t)htobe16(wqe_id) << 16, 0, 0, hash};
}

/* Hash type, checksum and header types are the same for all our packets. */
static ALWAYS_INLINE prm_quarter
second_quarter(void)
{
	return (prm_quarter){
		PRM_HASH_IPV4 | PRM_HASH_UDP,
		0xffff,
		0,
		PRM_CQE_L2_OK | PRM_CQE_L3_OK | PRM_CQE_L4_OK |
			(PRM_CQE_L3_TYPE_IPV4 | PRM_CQE_L4_TYPE_UDP) << 8,
	};
}

static ALWAYS_INLINE const void *
wqe_at(const struct rq *rq, uint16_t index)
{
	return rq->wqe + (size_t)(index & (rq->count - 1)) * rq->stride;
}

/*
 * Write the next frame of the queue, LEN bytes, to TO. Lengths are constants wherever possible:
 * the compiler turns them into four vector moves.
 */
static ALWAYS_INLINE void
write_frame(struct rq *rq, const struct bucket_entry *entry, uint8_t *to, uint32_t len, bool verify)
{
	uint8_t stamped[WIRE_LEN];

	if (verify) {
		verify_rx_stamp(rq, &rq->dev->flows[entry->index], stamped);
		memcpy(to, stamped, len);
		return;
	}
	memcpy(to, rq->common, FRAME_MIDDLE);
	memcpy(to + FRAME_MIDDLE, entry->middle, FRAME_MIDDLE_LEN);
	memcpy(to + FRAME_TAIL, rq->common + FRAME_TAIL, FRAME_LEN - FRAME_TAIL);
	if (unlikely(len > FRAME_LEN))
		memcpy(to + FRAME_LEN, rq->dev->flows[entry->index].frame + FRAME_LEN,
			WIRE_LEN - FRAME_LEN);
}

/* Spread a frame over the scatter entries of a WQE whose first buffer is too short for it. */
static void
scatter(const struct rq *rq, const struct mlx5_wqe_data_seg *seg, const uint8_t *frame,
	uint32_t len)
{
	uint32_t i, part;

	for (i = 0; i < rq->sges && len > 0; i++, seg++) {
		part = be32toh(seg->byte_count) < len ? be32toh(seg->byte_count) : len;
		memcpy((void *)(uintptr_t)be64toh(seg->addr), frame, part);
		frame += part;
		len -= part;
	}
	if (len > 0)
		fatal("port %d rx queue %u WQE %u: the frame is longer than the posted buffers",
			rq->dev->port, rq->number, rq->head);
}

static void
check_segments(struct rq *rq, const struct mlx5_wqe_data_seg *seg, uint32_t len)
{
	uint32_t i, part;

	for (i = 0; i < rq->sges && len > 0; i++, seg++) {
		part = be32toh(seg->byte_count) < len ? be32toh(seg->byte_count) : len;
		verify_rx_address(rq, be32toh(seg->lkey), be64toh(seg->addr), part);
		len -= part;
	}
}

static ALWAYS_INLINE void
deliver_plain(struct rq *rq, const struct bucket_entry *entry, uint32_t len, bool verify)
{
	const struct mlx5_wqe_data_seg *seg = wqe_at(rq, rq->head);
	const struct mlx5_wqe_data_seg *later = wqe_at(rq, rq->head + PREFETCH_AHEAD);
	uint8_t *to = (void *)(uintptr_t)be64toh(seg->addr);
	uint8_t whole[WIRE_LEN];

	prefetch_write((void *)(uintptr_t)be64toh(later->addr));
	if (verify)
		check_segments(rq, seg, len);
	if (likely(be32toh(seg->byte_count) >= len)) {
		write_frame(rq, entry, to, len, verify);
	} else {
		write_frame(rq, entry, whole, len, verify);
		scatter(rq, seg, whole, len);
	}
	if (unlikely(config.evict != EVICT_NONE))
		evict_lines(to, len);
	rq->head++;
	rq->sequence++;
}

static ALWAYS_INLINE void
deliver_stride(struct rq *rq, const struct bucket_entry *entry, uint32_t len, bool verify)
{
	const struct mlx5_mprq_wqe *wqe = wqe_at(rq, rq->head);
	uint64_t addr = be64toh(wqe->dseg.addr) + ((uint64_t)rq->stride_index << rq->stride_log) +
			rq->stride_offset;

	prefetch_write((void *)(uintptr_t)(addr + ((uint64_t)PREFETCH_AHEAD << rq->stride_log)));
	if (verify)
		verify_rx_address(rq, be32toh(wqe->dseg.lkey), addr, len);
	write_frame(rq, entry, (void *)(uintptr_t)addr, len, verify);
	if (unlikely(config.evict != EVICT_NONE))
		evict_lines((void *)(uintptr_t)addr, len);
	rq->sequence++;
}

/* Strides a packet takes: one, or two when FCS and two-byte shift make it longer than a stride. */
static ALWAYS_INLINE uint32_t
strides_a_packet(const struct rq *rq, uint32_t len)
{
	return (len + rq->stride_offset + (1u << rq->stride_log) - 1) >> rq->stride_log;
}

static ALWAYS_INLINE void
complete(struct cq *cq, const struct bucket_entry *entry, uint16_t wqe_id, uint32_t byte_count,
	uint16_t counter)
{
	struct prm_cqe *slot = &cq->entry[cq->producer & (cq->count - 1)];

	prefetch_write(&cq->entry[(cq->producer + PREFETCH_AHEAD) & (cq->count - 1)]);
	cqe_store(slot, first_quarter(wqe_id, entry->hash), second_quarter(), htobe32(byte_count),
		entry->tag, counter,
		cq_own(cq, PRM_CQE_OPCODE_RESPONDER_SEND, PRM_CQE_FORMAT_PLAIN));
	if (unlikely(config.evict != EVICT_NONE))
		evict_lines(slot, sizeof(*slot));
	cq->producer++;
}

/*
 * Close a compressed session of N packets: the mini completions fill slots 1, 8, 16, ... after the
 * title's, which comes last and is what the driver sees. The session takes N slots of the ring.
 */
static void
complete_session(struct cq *cq, const struct prm_mini_cqe *mini, unsigned n,
	const struct bucket_entry *title, uint16_t wqe_id, uint16_t counter)
{
	struct prm_cqe *slot = &cq->entry[cq->producer & (cq->count - 1)];
	unsigned done, part;

	for (done = 0; done < n; done += PRM_MINI_PER_SLOT) {
		part = n - done < PRM_MINI_PER_SLOT ? n - done : PRM_MINI_PER_SLOT;
		memcpy(done == 0 ? &slot[1] : &slot[done], mini + done, part * sizeof(*mini));
	}
	cqe_store(slot, first_quarter(wqe_id, title->hash), second_quarter(), htobe32(n),
		title->tag, counter,
		cq_own(cq, PRM_CQE_OPCODE_RESPONDER_SEND, PRM_CQE_FORMAT_COMPRESSED));
	if (unlikely(config.evict != EVICT_NONE))
		evict_lines(slot, n * sizeof(*slot));
	cq->producer += n;
}

/* Packets the next session may hold: it must not cross the ring's end. Less than 2: none. */
static unsigned
session_limit(const struct cq *cq, unsigned max)
{
	unsigned to_end = cq->count - (cq->producer & (cq->count - 1));

	if (max > to_end)
		max = to_end;
	return max > PRM_MINI_MAX ? PRM_MINI_MAX : max;
}

static ALWAYS_INLINE unsigned
plain_session(struct rq *rq, unsigned n, uint32_t len, bool verify)
{
	struct prm_mini_cqe mini[PRM_MINI_MAX];
	const struct bucket_entry *title = &rq->bucket[rq->bucket_pos], *entry;
	uint16_t head = rq->head;
	unsigned i;

	for (i = 0; i < n; i++) {
		entry = next_entry(rq);
		deliver_plain(rq, entry, len, verify);
		mini[i].word0 = entry->hash;
		mini[i].byte_count = htobe32(len);
	}
	complete_session(rq->cq, mini, n, title, 0, head);
	return n;
}

static ALWAYS_INLINE unsigned
fill_plain(struct rq *rq, unsigned max, bool verify)
{
	const uint32_t len = frame_len(rq);
	const bool compress = config.compress && rq->cq->compression != 0;
	unsigned n = 0, session;
	const struct bucket_entry *entry;
	uint16_t head;

	while (n < max) {
		session = compress ? session_limit(rq->cq, max - n) : 0;
		if (session >= 2) {
			n += plain_session(rq, session, len, verify);
			continue;
		}
		entry = next_entry(rq);
		head = rq->head;
		deliver_plain(rq, entry, len, verify);
		complete(rq->cq, entry, 0, len, head);
		n++;
	}
	return n;
}

/* The same for a striding queue: nor may it cross the end of the WQE the queue is working on. */
static unsigned
striding_limit(const struct rq *rq, unsigned max, uint32_t strides)
{
	unsigned fitting = (rq->strides - rq->stride_index) / strides;

	return session_limit(rq->cq, max < fitting ? max : fitting);
}

/* A WQE that is used up is left; strides are powers of two, so none is ever left over. */
static ALWAYS_INLINE void
leave_used_wqe(struct rq *rq)
{
	if (rq->stride_index == rq->strides) {
		rq->stride_index = 0;
		rq->head++;
	}
}

static ALWAYS_INLINE unsigned
striding_session(struct rq *rq, unsigned n, uint32_t len, uint32_t strides, bool verify)
{
	struct prm_mini_cqe mini[PRM_MINI_MAX];
	const struct bucket_entry *title = &rq->bucket[rq->bucket_pos];
	uint16_t first = rq->stride_index;
	unsigned i;

	for (i = 0; i < n; i++) {
		deliver_stride(rq, next_entry(rq), len, verify);
		mini[i].word0 = 0xffff | (uint32_t)htobe16(rq->stride_index) << 16;
		mini[i].byte_count = htobe32(len | strides << PRM_MPRQ_STRIDES_SHIFT);
		rq->stride_index += strides;
	}
	complete_session(rq->cq, mini, n, title, rq->head, first);
	return n;
}

/* WQES: how many are posted. */
static ALWAYS_INLINE unsigned
fill_striding(struct rq *rq, unsigned max, uint16_t wqes, bool verify)
{
	const uint32_t len = frame_len(rq), strides = strides_a_packet(rq, len);
	const bool compress = config.compress && rq->cq->compression != 0;
	const uint16_t end = rq->head + wqes;
	unsigned n = 0, session;
	const struct bucket_entry *entry;

	while (n < max && rq->head != end) {
		session = compress ? striding_limit(rq, max - n, strides) : 0;
		if (session >= 2) {
			striding_session(rq, session, len, strides, verify);
		} else {
			session = 1;
			entry = next_entry(rq);
			deliver_stride(rq, entry, len, verify);
			complete(rq->cq, entry, rq->head, len | strides << PRM_MPRQ_STRIDES_SHIFT,
				rq->stride_index);
			rq->stride_index += strides;
		}
		n += session;
		leave_used_wqe(rq);
	}
	return n;
}

/*
 * Make up to MAX packets ready on RQ: as many as buffers, completion slots and steering allow.
 * Returns how many.
 */
unsigned
rx_step(struct rq *rq, unsigned max)
{
	uint16_t posted;
	unsigned room, n;

	if (unlikely(atomic_load_explicit(&rq->dev->steering_stale, memory_order_relaxed)))
		traffic_steer(rq->dev);
	if (unlikely(!rq->ready || rq->bucket_count == 0))
		return 0;
	posted = (uint16_t)be32toh(*(volatile __be32 *)&rq->record[0]) - rq->head;
	room = cq_room(rq->cq);
	if (unlikely(posted == 0 || room == 0)) {
		if (posted == 0)
			rq->no_wqe++;
		else
			rq->no_cqe++;
		return 0;
	}
	atomic_thread_fence(memory_order_acquire);
	if (max > room)
		max = room;
	if (!rq->striding && max > posted)
		max = posted;
	if (!rq->striding)
		n = config.verify ? fill_plain(rq, max, true) : fill_plain(rq, max, false);
	else
		n = config.verify ? fill_striding(rq, max, posted, true)
				  : fill_striding(rq, max, posted, false);
	rq->packets += n;
	return n;
}
