/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Engine 5tswap: source and destination change places in Ethernet, IPv4 or IPv6, and UDP or TCP. A
 * layer that is something else is left alone, and so is what follows it. Checksums stay right,
 * because a sum does not mind the order.
 */
#include <netinet/in.h>
#include <string.h>

#include <rte_byteorder.h>

#include "burst.h"

/* IPPROTO_UDP and IPPROTO_TCP begin with the two ports: the headers are swapped alike. */
_Static_assert(offsetof(struct rte_udp_hdr, dst_port) == offsetof(struct rte_tcp_hdr, dst_port),
	"UDP and TCP have their ports at the same place");

static inline void
swap_ether(struct rte_ether_hdr *ether)
{
	struct rte_ether_addr address;

	rte_ether_addr_copy(FWD_ETHER_DST(ether), &address);
	rte_ether_addr_copy(FWD_ETHER_SRC(ether), FWD_ETHER_DST(ether));
	rte_ether_addr_copy(&address, FWD_ETHER_SRC(ether));
}

static inline void
swap_ipv4(struct rte_ipv4_hdr *ip)
{
	const rte_be32_t address = ip->src_addr;

	ip->src_addr = ip->dst_addr;
	ip->dst_addr = address;
}

static inline void
swap_ipv6(struct rte_ipv6_hdr *ip)
{
	uint8_t address[sizeof(ip->src_addr)];

	memcpy(address, &ip->src_addr, sizeof(address));
	memcpy(&ip->src_addr, &ip->dst_addr, sizeof(address));
	memcpy(&ip->dst_addr, address, sizeof(address));
}

static inline void
swap_ports(struct rte_udp_hdr *udp)
{
	const rte_be16_t port = udp->src_port;

	udp->src_port = udp->dst_port;
	udp->dst_port = port;
}

/* The layer above IP: swaps its ports and notes its length. */
static inline void
swap_layer4(struct rte_mbuf *mbuf, void *header, uint8_t protocol)
{
	if (protocol == IPPROTO_UDP) {
		swap_ports(header);
		mbuf->l4_len = sizeof(struct rte_udp_hdr);
	} else if (protocol == IPPROTO_TCP) {
		swap_ports(header);
		mbuf->l4_len = (((struct rte_tcp_hdr *)header)->data_off & 0xf0) >> 2;
	}
}

static inline void
swap_packet(struct rte_mbuf *mbuf)
{
	struct rte_ether_hdr *ether = rte_pktmbuf_mtod(mbuf, struct rte_ether_hdr *);
	rte_be16_t type = ether->ether_type;
	char *header = (char *)(ether + 1);

	swap_ether(ether);
	while (type == RTE_BE16(RTE_ETHER_TYPE_VLAN) || type == RTE_BE16(RTE_ETHER_TYPE_QINQ)) {
		type = ((struct rte_vlan_hdr *)header)->eth_proto;
		header += sizeof(struct rte_vlan_hdr);
	}
	if (type == RTE_BE16(RTE_ETHER_TYPE_IPV4)) {
		struct rte_ipv4_hdr *ip = (struct rte_ipv4_hdr *)header;

		swap_ipv4(ip);
		header += (ip->version_ihl & 0x0f) * 4;
		swap_layer4(mbuf, header, ip->next_proto_id);
	} else if (type == RTE_BE16(RTE_ETHER_TYPE_IPV6)) {
		struct rte_ipv6_hdr *ip = (struct rte_ipv6_hdr *)header;

		swap_ipv6(ip);
		swap_layer4(mbuf, ip + 1, ip->proto);
	}
}

static void
fivetswap_forward(struct fwd_stream *stream)
{
	struct rte_mbuf *packets[FWD_BURST_MAX];
	const uint16_t n = fwd_receive(stream, packets);
	struct rte_mbuf **const end = packets + n;
	const uint64_t ol_flags = stream->ol_flags;

	if (unlikely(n == 0))
		return;
	fwd_set_vlan(stream, packets, n);
	for (struct rte_mbuf **packet = packets; packet < end; packet++) {
		fwd_prefetch_next(packet, end);
		swap_packet(*packet);
		fwd_set_fields(*packet, ol_flags);
	}
	fwd_transmit(stream, packets, n);
}

const struct fwd_engine fwd_5tswap = {
	.name = "5tswap",
	.forward = fivetswap_forward,
};
