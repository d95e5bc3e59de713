/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Receive data path of the device: take posted buffers, write packets into them, complete them.
 * The plain queue gives every packet a WQE of its own; the striding queue (Multi-Packet RQ) cuts a
 * WQE's buffer into strides, one packet a stride.
 *
 * Packets are made in runs, in which nothing wraps: within a run all but the packet itself is
 * constant or grows by a constant. The functions marked ALWAYS_INLINE are compiled once with and
 * once without verify mode, so that measuring pays nothing for it.
 */
#include <string.h>

#include "softnic.h"

enum { PREFETCH_AHEAD = 8 }; /* packets; found by measuring, see docs/softnic.md */

/*
 * What changes with every packet, and what is needed for each, in local variables: the bytes of a
 * frame may alias anything, so the compiler would load and store the queues' members every time.
 */
struct fill {
	struct rq *rq;
	struct cq *cq;
	const struct bucket_entry *bucket;
	unsigned bucket_count, bucket_pos;
	const uint8_t *wqe;
	size_t wqe_mask, wqe_stride; /* bytes */
	uint32_t cq_mask, producer;
	uint32_t stride_index, len;
	uint16_t head;
	prm_quarter front, back; /* what the frames have in common */
	bool evict, compress;
};

static ALWAYS_INLINE struct fill
fill_begin(struct rq *rq)
{
	struct fill f = {
		.rq = rq,
		.cq = rq->cq,
		.bucket = rq->bucket,
		.bucket_count = rq->bucket_count,
		.bucket_pos = rq->bucket_pos,
		.wqe = rq->wqe,
		.wqe_mask = (size_t)rq->count * rq->stride - 1,
		.wqe_stride = rq->stride,
		.cq_mask = rq->cq->count - 1,
		.producer = rq->cq->producer,
		.stride_index = rq->stride_index,
		.len = rq->keep_fcs ? WIRE_LEN : FRAME_LEN,
		.head = rq->head,
		.evict = config.evict != EVICT_NONE,
		.compress = config.compress && rq->cq->compression != 0,
	};

	memcpy(&f.front, rq->common, sizeof(f.front));
	memcpy(&f.back, rq->common + FRAME_TAIL, sizeof(f.back));
	return f;
}

/* Put it back; also before anything that looks at the queue itself: verify mode, messages. */
static ALWAYS_INLINE void
fill_store(const struct fill *f)
{
	f->rq->bucket_pos = f->bucket_pos;
	f->rq->head = f->head;
	f->rq->stride_index = f->stride_index;
	f->cq->producer = f->producer;
}

/* Packets until the completion ring wraps, MAX at most. */
static ALWAYS_INLINE unsigned
ring_limit(const struct fill *f, unsigned max)
{
	unsigned to_end = f->cq_mask + 1 - (f->producer & f->cq_mask);

	return max > to_end ? to_end : max;
}

/* The same, and until the bucket wraps. */
static ALWAYS_INLINE unsigned
run_limit(const struct fill *f, unsigned max)
{
	unsigned to_end = f->bucket_count - f->bucket_pos;

	max = ring_limit(f, max);
	return max > to_end ? to_end : max;
}

static ALWAYS_INLINE const struct bucket_entry *
next_entry(struct fill *f)
{
	const struct bucket_entry *entry = &f->bucket[f->bucket_pos];

	if (++f->bucket_pos == f->bucket_count)
		f->bucket_pos = 0;
	return entry;
}

/* A run of N packets was taken from the bucket and completed. */
static ALWAYS_INLINE void
run_done(struct fill *f, unsigned n)
{
	f->bucket_pos += n;
	if (f->bucket_pos == f->bucket_count)
		f->bucket_pos = 0;
	f->producer += n;
}

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

static ALWAYS_INLINE struct prm_cqe *
slot_at(const struct fill *f, uint32_t index)
{
	return &f->cq->entry[index & f->cq_mask];
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

static ALWAYS_INLINE uint32_t
own(const struct fill *f, unsigned format)
{
	return cq_own(f->cq->log_count, f->producer, PRM_CQE_OPCODE_RESPONDER_SEND, format);
}

static ALWAYS_INLINE const void *
wqe_at(const struct fill *f, uint16_t index)
{
	return f->wqe + (index * f->wqe_stride & f->wqe_mask);
}

/*
 * Write the frame of ENTRY to TO. Lengths are constants wherever possible: the compiler turns them
 * into four vector moves.
 */
static ALWAYS_INLINE void
write_frame(const struct fill *f, const struct bucket_entry *entry, uint8_t *to, bool verify)
{
	uint8_t stamped[WIRE_LEN];

	if (verify) {
		verify_rx_stamp(f->rq, &f->rq->dev->flows[entry->index], stamped);
		memcpy(to, stamped, f->len);
		return;
	}
	memcpy(to, &f->front, FRAME_MIDDLE);
	memcpy(to + FRAME_MIDDLE, entry->middle, FRAME_MIDDLE_LEN);
	memcpy(to + FRAME_TAIL, &f->back, FRAME_LEN - FRAME_TAIL);
	if (unlikely(f->len > FRAME_LEN))
		memcpy(to + FRAME_LEN, f->rq->dev->flows[entry->index].frame + FRAME_LEN,
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

/* The same, rare, for the frame of ENTRY. */
static __attribute__((noinline)) void
scatter_frame(const struct fill *f, const struct bucket_entry *entry,
	const struct mlx5_wqe_data_seg *seg, bool verify)
{
	uint8_t frame[WIRE_LEN];

	fill_store(f);
	write_frame(f, entry, frame, verify);
	scatter(f->rq, seg, frame, f->len);
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

/* Write the packet of ENTRY into the next WQE of a plain queue; returns its (first) buffer. */
static ALWAYS_INLINE uint8_t *
deliver_plain(struct fill *f, const struct bucket_entry *entry, bool verify)
{
	const struct mlx5_wqe_data_seg *seg = wqe_at(f, f->head);
	const struct mlx5_wqe_data_seg *later = wqe_at(f, f->head + PREFETCH_AHEAD);
	uint8_t *to = (void *)(uintptr_t)be64toh(seg->addr);

	prefetch_write((void *)(uintptr_t)be64toh(later->addr));
	if (verify) {
		fill_store(f);
		check_segments(f->rq, seg, f->len);
	}
	if (likely(be32toh(seg->byte_count) >= f->len)) {
		write_frame(f, entry, to, verify);
	} else {
		const struct fill now = *f; /* a copy, so that F itself stays in registers */

		scatter_frame(&now, entry, seg, verify);
	}
	f->head++;
	if (verify)
		f->rq->sequence++;
	return to;
}

/* Write the packet of ENTRY into stride INDEX of the WQE a striding queue is working on. */
static ALWAYS_INLINE uint8_t *
deliver_stride(const struct fill *f, const struct bucket_entry *entry, uint32_t index, bool verify)
{
	const struct mlx5_mprq_wqe *wqe = wqe_at(f, f->head);
	const struct rq *rq = f->rq;
	uint64_t addr =
		be64toh(wqe->dseg.addr) + ((uint64_t)index << rq->stride_log) + rq->stride_offset;

	prefetch_write((void *)(uintptr_t)(addr + ((uint64_t)PREFETCH_AHEAD << rq->stride_log)));
	if (verify) {
		fill_store(f);
		verify_rx_address(f->rq, be32toh(wqe->dseg.lkey), addr, f->len);
	}
	write_frame(f, entry, (void *)(uintptr_t)addr, verify);
	if (verify)
		f->rq->sequence++;
	return (void *)(uintptr_t)addr;
}

/* Strides a packet takes: one, or two when FCS and two-byte shift make it longer than a stride. */
static ALWAYS_INLINE uint32_t
strides_a_packet(const struct rq *rq, uint32_t len)
{
	return (len + rq->stride_offset + (1u << rq->stride_log) - 1) >> rq->stride_log;
}

static ALWAYS_INLINE void
evict_packet(const struct fill *f, const uint8_t *frame, const struct prm_cqe *slot)
{
	evict_lines(frame, f->len);
	evict_lines(slot, sizeof(*slot));
}

/* A run of N packets of a plain queue. */
static ALWAYS_INLINE void
plain_run(struct fill *f, unsigned n, bool verify)
{
	const struct bucket_entry *entry = &f->bucket[f->bucket_pos];
	struct prm_cqe *slot = slot_at(f, f->producer);
	const uint32_t own_bits = own(f, PRM_CQE_FORMAT_PLAIN);
	const uint32_t byte_count = htobe32(f->len);
	const uint8_t *frame;
	unsigned i;

	for (i = 0; i < n; i++, entry++, slot++) {
		prefetch_write(slot_at(f, f->producer + i + PREFETCH_AHEAD));
		frame = deliver_plain(f, entry, verify);
		cqe_store(slot, 0, entry->hash, second_quarter(), byte_count, entry->tag,
			(uint16_t)(f->head - 1), own_bits);
		if (unlikely(f->evict))
			evict_packet(f, frame, slot);
	}
	run_done(f, n);
}

/* The same of a striding queue, each STRIDES strides long; the run fits into the WQE. */
static ALWAYS_INLINE void
striding_run(struct fill *f, unsigned n, uint32_t strides, bool verify)
{
	const struct bucket_entry *entry = &f->bucket[f->bucket_pos];
	struct prm_cqe *slot = slot_at(f, f->producer);
	const uint32_t own_bits = own(f, PRM_CQE_FORMAT_PLAIN);
	const uint32_t byte_count = htobe32(f->len | strides << PRM_MPRQ_STRIDES_SHIFT);
	const uint8_t *frame;
	unsigned i;

	for (i = 0; i < n; i++, entry++, slot++) {
		prefetch_write(slot_at(f, f->producer + i + PREFETCH_AHEAD));
		frame = deliver_stride(f, entry, f->stride_index, verify);
		cqe_store(slot, f->head, entry->hash, second_quarter(), byte_count, entry->tag,
			f->stride_index, own_bits);
		if (unlikely(f->evict))
			evict_packet(f, frame, slot);
		f->stride_index += strides;
	}
	run_done(f, n);
}

/*
 * Close a compressed session of N packets: the mini completions fill slots 1, 8, 16, ... after the
 * TITLE's, which comes last and is what the driver sees. It takes N slots, before the ring's end.
 * ring.
 */
static ALWAYS_INLINE void
complete_session(struct fill *f, const struct prm_mini_cqe *mini, unsigned n,
	const struct bucket_entry *title, uint16_t wqe_id, uint16_t counter)
{
	struct prm_cqe *slot = slot_at(f, f->producer);
	unsigned done, part;

	for (done = 0; done < n; done += PRM_MINI_PER_SLOT) {
		part = n - done < PRM_MINI_PER_SLOT ? n - done : PRM_MINI_PER_SLOT;
		memcpy(done == 0 ? &slot[1] : &slot[done], mini + done, part * sizeof(*mini));
	}
	cqe_store(slot, wqe_id, title->hash, second_quarter(), htobe32(n), title->tag, counter,
		own(f, PRM_CQE_FORMAT_COMPRESSED));
	if (unlikely(f->evict))
		evict_lines(slot, n * sizeof(*slot));
	f->producer += n;
}

static ALWAYS_INLINE void
plain_session(struct fill *f, unsigned n, bool verify)
{
	struct prm_mini_cqe mini[PRM_MINI_MAX];
	const struct bucket_entry *title = &f->bucket[f->bucket_pos], *entry;
	const uint16_t first = f->head;
	const uint8_t *frame;
	unsigned i;

	for (i = 0; i < n; i++) {
		entry = next_entry(f);
		frame = deliver_plain(f, entry, verify);
		if (unlikely(f->evict))
			evict_lines(frame, f->len);
		mini[i].word0 = entry->hash;
		mini[i].byte_count = htobe32(f->len);
	}
	complete_session(f, mini, n, title, 0, first);
}

static ALWAYS_INLINE void
striding_session(struct fill *f, unsigned n, uint32_t strides, bool verify)
{
	struct prm_mini_cqe mini[PRM_MINI_MAX];
	const struct bucket_entry *title = &f->bucket[f->bucket_pos], *entry;
	const uint16_t first = f->stride_index;
	const uint8_t *frame;
	unsigned i;

	for (i = 0; i < n; i++) {
		entry = next_entry(f);
		frame = deliver_stride(f, entry, f->stride_index, verify);
		if (unlikely(f->evict))
			evict_lines(frame, f->len);
		mini[i].word0 = 0xffff | (uint32_t)htobe16(f->stride_index) << 16;
		mini[i].byte_count = htobe32(f->len | strides << PRM_MPRQ_STRIDES_SHIFT);
		f->stride_index += strides;
	}
	complete_session(f, mini, n, title, f->head, first);
}

static ALWAYS_INLINE unsigned
session_limit(const struct fill *f, unsigned max)
{
	max = ring_limit(f, max);
	return max > PRM_MINI_MAX ? PRM_MINI_MAX : max;
}

static ALWAYS_INLINE unsigned
fill_plain(struct rq *rq, unsigned max, bool verify)
{
	struct fill f = fill_begin(rq);
	unsigned n, run;

	for (n = 0; n < max; n += run) {
		run = f.compress ? session_limit(&f, max - n) : 0;
		if (run >= 2) {
			plain_session(&f, run, verify);
		} else {
			run = run_limit(&f, max - n);
			plain_run(&f, run, verify);
		}
	}
	fill_store(&f);
	return n;
}

/* A WQE that is used up is left; strides are powers of two, so none is ever left over. */
static ALWAYS_INLINE void
leave_used_wqe(struct fill *f)
{
	if (f->stride_index == f->rq->strides) {
		f->stride_index = 0;
		f->head++;
	}
}

/* WQES: how many are posted. */
static ALWAYS_INLINE unsigned
fill_striding(struct rq *rq, unsigned max, uint16_t wqes, bool verify)
{
	struct fill f = fill_begin(rq);
	const uint32_t strides = strides_a_packet(rq, f.len);
	const uint16_t end = f.head + wqes;
	unsigned n, run, fitting;

	for (n = 0; n < max && f.head != end; n += run) {
		fitting = (rq->strides - f.stride_index) / strides;
		fitting = max - n < fitting ? max - n : fitting;
		run = f.compress ? session_limit(&f, fitting) : 0;
		if (run >= 2) {
			striding_session(&f, run, strides, verify);
		} else {
			run = run_limit(&f, fitting);
			striding_run(&f, run, strides, verify);
		}
		leave_used_wqe(&f);
	}
	fill_store(&f);
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
