/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Engine macswap: source and destination address change places. Like testpmd's, it does so with one
 * shuffle of the frame's first 16 bytes, for four packets at a time, so that their loads overlap.
 */
#if defined(__x86_64__) || defined(__i386__)
#include <tmmintrin.h>
#elif defined(__ARM_NEON) && defined(__aarch64__)
#include <arm_neon.h>
#endif

#include "burst.h"

#define GROUP 4 /* packets at a time */

#if FWD_MACSWAP_BY_FOUR && (defined(__x86_64__) || defined(__i386__))

typedef __m128i head_t; /* the first 16 bytes of a frame: both addresses, the type, two more */

static inline head_t
load_head(const void *frame)
{
	return _mm_loadu_si128(frame);
}

static inline head_t
swap_head(head_t head)
{
	return _mm_shuffle_epi8(
		head, _mm_setr_epi8(6, 7, 8, 9, 10, 11, 0, 1, 2, 3, 4, 5, 12, 13, 14, 15));
}

static inline void
store_head(void *frame, head_t head)
{
	_mm_storeu_si128(frame, head);
}

#elif FWD_MACSWAP_BY_FOUR && defined(__ARM_NEON) && defined(__aarch64__)

typedef uint8x16_t head_t;

static inline head_t
load_head(const void *frame)
{
	return vld1q_u8(frame);
}

static inline head_t
swap_head(head_t head)
{
	static const uint8_t places[] = {6, 7, 8, 9, 10, 11, 0, 1, 2, 3, 4, 5, 12, 13, 14, 15};

	return vqtbl1q_u8(head, vld1q_u8(places));
}

static inline void
store_head(void *frame, head_t head)
{
	vst1q_u8(frame, head);
}

#else

#undef GROUP
#define GROUP 1

typedef struct rte_ether_hdr head_t;

static inline head_t
load_head(const void *frame)
{
	return *(const struct rte_ether_hdr *)frame;
}

static inline head_t
swap_head(head_t head)
{
	head_t swapped = head;

	rte_ether_addr_copy(FWD_ETHER_SRC(&head), FWD_ETHER_DST(&swapped));
	rte_ether_addr_copy(FWD_ETHER_DST(&head), FWD_ETHER_SRC(&swapped));
	return swapped;
}

static inline void
store_head(void *frame, head_t head)
{
	*(struct rte_ether_hdr *)frame = head;
}

#endif

static inline void
swap_one(struct rte_mbuf *mbuf, uint64_t ol_flags)
{
	void *frame = rte_pktmbuf_mtod(mbuf, void *);

	store_head(frame, swap_head(load_head(frame)));
	fwd_set_fields(mbuf, ol_flags);
}

#if GROUP > 1

static inline void
swap_four(struct rte_mbuf **packets, uint64_t ol_flags)
{
	struct rte_mbuf *const mbuf0 = packets[0], *const mbuf1 = packets[1];
	struct rte_mbuf *const mbuf2 = packets[2], *const mbuf3 = packets[3];
	void *const frame0 = rte_pktmbuf_mtod(mbuf0, void *);
	void *const frame1 = rte_pktmbuf_mtod(mbuf1, void *);
	void *const frame2 = rte_pktmbuf_mtod(mbuf2, void *);
	void *const frame3 = rte_pktmbuf_mtod(mbuf3, void *);
	const head_t head0 = load_head(frame0);
	const head_t head1 = load_head(frame1);
	const head_t head2 = load_head(frame2);
	const head_t head3 = load_head(frame3);

	store_head(frame0, swap_head(head0));
	store_head(frame1, swap_head(head1));
	store_head(frame2, swap_head(head2));
	store_head(frame3, swap_head(head3));
	fwd_set_fields(mbuf0, ol_flags);
	fwd_set_fields(mbuf1, ol_flags);
	fwd_set_fields(mbuf2, ol_flags);
	fwd_set_fields(mbuf3, ol_flags);
}

static inline void
prefetch_four(struct rte_mbuf **packets)
{
	rte_prefetch0(rte_pktmbuf_mtod(packets[0], void *));
	rte_prefetch0(rte_pktmbuf_mtod(packets[1], void *));
	rte_prefetch0(rte_pktmbuf_mtod(packets[2], void *));
	rte_prefetch0(rte_pktmbuf_mtod(packets[3], void *));
}

#endif

static void
macswap_forward(struct fwd_stream *stream)
{
	struct rte_mbuf *packets[FWD_BURST_MAX];
	const uint16_t n = fwd_receive(stream, packets);
	struct rte_mbuf **packet = packets, **const end = packets + n;
	const uint64_t ol_flags = stream->ol_flags;

	if (unlikely(n == 0))
		return;
	fwd_set_vlan(stream, packets, n);
#if GROUP > 1
	for (; end - packet >= 2 * GROUP; packet += GROUP) {
		prefetch_four(packet + GROUP);
		swap_four(packet, ol_flags);
	}
	if (end - packet >= GROUP) {
		swap_four(packet, ol_flags);
		packet += GROUP;
	}
#endif
	for (; packet < end; packet++) {
		fwd_prefetch_next(packet, end);
		swap_one(*packet, ol_flags);
	}
	fwd_transmit(stream, packets, n);
}

const struct fwd_engine fwd_macswap = {
	.name = "macswap",
	.forward = macswap_forward,
};
