/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What all engines do with a burst before and after touching its packets. This is the measured
 * path: everything here is inline, and nothing is here that testpmd does not do as well.
 */
#ifndef FWD_BURST_H
#define FWD_BURST_H

#include <rte_branch_prediction.h>
#include <rte_prefetch.h>

#include "fwd.h"

/*
 * Deliberate extra work, for tests of the whole chain with a known answer: instructions each of
 * which waits for the one before. A rotation takes one cycle and no processor does it in advance.
 */
#if defined(__x86_64__)
#define FWD_ROTATE "rolq $7, %0"
#define FWD_JUMP   "jmp"
#define FWD_FENCE  "lfence"
#elif defined(__aarch64__)
#define FWD_ROTATE "ror %0, %0, #57"
#define FWD_JUMP   "b"
#define FWD_FENCE  "isb"
#elif defined(FWD_EXTRA_WORK) || defined(FWD_EXTRA_BURST)
#error "extra work needs this architecture's rotation, jump and fence"
#endif
#define FWD_ROTATIONS(n) "\t.rept " n "\n\t" FWD_ROTATE "\n\t.endr\n"

/*
 * -DFWD_EXTRA_WORK=N: N of them a packet; the loop adds two or three instructions of its own.
 * Without N there is no code.
 */
#if defined(FWD_EXTRA_WORK) && FWD_EXTRA_WORK > 0

static inline void
fwd_extra_work(unsigned int packets)
{
	uint64_t x = packets;

	while (packets-- > 0)
		__asm__ volatile(FWD_ROTATIONS(RTE_STR(FWD_EXTRA_WORK)) : "+r"(x));
}

#else
#define fwd_extra_work(packets) ((void)0)
#endif

/*
 * -DFWD_EXTRA_BURST=N: N of them a burst, and nothing else tells two binaries with it apart. The
 * code has the same size whatever N, so that every function lies where it lay, and fences keep the
 * processor from doing the work beside other work, so that each of them costs the same. N may be 0.
 */
#ifdef FWD_EXTRA_BURST

#define FWD_EXTRA_ROOM 2048
#if FWD_EXTRA_BURST > 2000
#error "FWD_EXTRA_BURST goes up to 2000: over fewer than 48 the jump might become a short one"
#endif

static __rte_always_inline void
fwd_extra_burst(void)
{
	uint64_t x = 1;

	__asm__ volatile(
		FWD_FENCE
		"\n" FWD_ROTATIONS(RTE_STR(FWD_EXTRA_BURST)) "\t" FWD_JUMP " 7f\n" FWD_ROTATIONS(
			RTE_STR(FWD_EXTRA_ROOM) " - " RTE_STR(FWD_EXTRA_BURST)) "7:\t" FWD_FENCE
		: "+r"(x));
}

#else
#define fwd_extra_burst() ((void)0)
#endif

/* Receives a burst of the stream into PACKETS (room for FWD_BURST_MAX). Returns how many. */
static inline uint16_t
fwd_receive(struct fwd_stream *stream, struct rte_mbuf **packets)
{
	const uint16_t n =
		rte_eth_rx_burst(stream->rx_port, stream->rx_queue, packets, stream->burst);

	stream->rx_packets += n;
	fwd_extra_work(n);
	fwd_extra_burst();
	return n;
}

/* Sends N packets; frees and counts what the device does not take, as testpmd without retries. */
static inline void
fwd_transmit(struct fwd_stream *stream, struct rte_mbuf **packets, uint16_t n)
{
	uint16_t sent = rte_eth_tx_burst(stream->tx_port, stream->tx_queue, packets, n);

	stream->tx_packets += sent;
	if (unlikely(sent < n)) {
		stream->dropped += (uint64_t)(n - sent);
		do {
			rte_pktmbuf_free(packets[sent]);
		} while (++sent < n);
	}
}

/* Per burst, for the engines that rewrite packets: tags that the Tx port is to insert. */
static inline void
fwd_set_vlan(const struct fwd_stream *stream, struct rte_mbuf **packets, uint16_t n)
{
	if (unlikely(stream->ol_flags & RTE_MBUF_F_TX_VLAN)) {
		for (uint16_t i = 0; i < n; i++)
			packets[i]->vlan_tci = stream->vlan_tci;
	}
	if (unlikely(stream->ol_flags & RTE_MBUF_F_TX_QINQ)) {
		for (uint16_t i = 0; i < n; i++)
			packets[i]->vlan_tci_outer = stream->vlan_tci_outer;
	}
}

/* Per packet, for the engines that rewrite packets: the flags, and where its headers end. */
static inline void
fwd_set_fields(struct rte_mbuf *mbuf, uint64_t ol_flags)
{
	mbuf->ol_flags &= RTE_MBUF_F_INDIRECT | RTE_MBUF_F_EXTERNAL;
	mbuf->ol_flags |= ol_flags;
	mbuf->l2_len = sizeof(struct rte_ether_hdr);
	mbuf->l3_len = sizeof(struct rte_ipv4_hdr);
}

/* Brings the first line of the next packet, if there is one before END, into the cache. */
static inline void
fwd_prefetch_next(struct rte_mbuf **packet, struct rte_mbuf **end)
{
	if (likely(packet + 1 < end))
		rte_prefetch0(rte_pktmbuf_mtod(packet[1], void *));
}

#endif /* FWD_BURST_H */
