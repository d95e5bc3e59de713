/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Engine mac: the source address becomes the Tx port's, the destination that of the port's peer.
 */
#include "burst.h"

static void
mac_forward(struct fwd_stream *stream)
{
	struct rte_mbuf *packets[FWD_BURST_MAX];
	const uint16_t n = fwd_receive(stream, packets);
	struct rte_mbuf **const end = packets + n;
	/* Copies, because what is written to packets might change the stream, for all that the
	 * compiler knows. */
	const struct rte_ether_addr src = stream->src, dst = stream->dst;
	const uint16_t vlan_tci = stream->vlan_tci, vlan_tci_outer = stream->vlan_tci_outer;
	const uint64_t ol_flags = stream->ol_flags;

	if (unlikely(n == 0))
		return;
	for (struct rte_mbuf **packet = packets; packet < end; packet++) {
		struct rte_mbuf *mbuf = *packet;
		struct rte_ether_hdr *ether = rte_pktmbuf_mtod(mbuf, struct rte_ether_hdr *);

		fwd_prefetch_next(packet, end);
		rte_ether_addr_copy(&dst, FWD_ETHER_DST(ether));
		rte_ether_addr_copy(&src, FWD_ETHER_SRC(ether));
		fwd_set_fields(mbuf, ol_flags);
		mbuf->vlan_tci = vlan_tci;
		mbuf->vlan_tci_outer = vlan_tci_outer;
	}
	fwd_transmit(stream, packets, n);
}

const struct fwd_engine fwd_mac = {
	.name = "mac",
	.forward = mac_forward,
};
