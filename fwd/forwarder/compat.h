/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * One source for DPDK 18.11 to 26.07: the newest release's names, mapped onto what older releases
 * call the same thing, and small wrappers where a return type changed. Nothing else in the
 * forwarder asks for the release.
 */
#ifndef FWD_COMPAT_H
#define FWD_COMPAT_H

#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <rte_version.h>

#include <rte_ethdev.h>
#include <rte_ether.h>
#include <rte_ip.h>
#include <rte_lcore.h>
#include <rte_mbuf.h>
#include <rte_tcp.h>
#include <rte_udp.h>

#define FWD_DPDK_BEFORE(year, month) (RTE_VERSION < RTE_VERSION_NUM(year, month, 0, 0))

#if FWD_DPDK_BEFORE(19, 8)
#define rte_ether_addr	    ether_addr
#define rte_ether_addr_copy ether_addr_copy
#define rte_ether_hdr	    ether_hdr
#define rte_ipv4_hdr	    ipv4_hdr
#define rte_ipv6_hdr	    ipv6_hdr
#define rte_tcp_hdr	    tcp_hdr
#define rte_udp_hdr	    udp_hdr
#define rte_vlan_hdr	    vlan_hdr
#define RTE_ETHER_ADDR_LEN  ETHER_ADDR_LEN
#define RTE_ETHER_TYPE_IPV4 ETHER_TYPE_IPv4
#define RTE_ETHER_TYPE_IPV6 ETHER_TYPE_IPv6
#define RTE_ETHER_TYPE_QINQ ETHER_TYPE_QINQ
#define RTE_ETHER_TYPE_VLAN ETHER_TYPE_VLAN
#endif

#if FWD_DPDK_BEFORE(20, 11)
#define RTE_LCORE_FOREACH_WORKER RTE_LCORE_FOREACH_SLAVE
#define rte_get_main_lcore	 rte_get_master_lcore
#endif

#if FWD_DPDK_BEFORE(21, 11)
#define RTE_ETH_MQ_RX_NONE		  ETH_MQ_RX_NONE
#define RTE_ETH_MQ_RX_RSS		  ETH_MQ_RX_RSS
#define RTE_ETH_RSS_IP			  ETH_RSS_IP
#define RTE_ETH_RSS_UDP			  ETH_RSS_UDP
#define RTE_ETH_TX_OFFLOAD_MACSEC_INSERT  DEV_TX_OFFLOAD_MACSEC_INSERT
#define RTE_ETH_TX_OFFLOAD_MBUF_FAST_FREE DEV_TX_OFFLOAD_MBUF_FAST_FREE
#define RTE_ETH_TX_OFFLOAD_QINQ_INSERT	  DEV_TX_OFFLOAD_QINQ_INSERT
#define RTE_ETH_TX_OFFLOAD_VLAN_INSERT	  DEV_TX_OFFLOAD_VLAN_INSERT
#define RTE_MBUF_F_EXTERNAL		  EXT_ATTACHED_MBUF
#define RTE_MBUF_F_INDIRECT		  IND_ATTACHED_MBUF
#define RTE_MBUF_F_RX_RSS_HASH		  PKT_RX_RSS_HASH
#define RTE_MBUF_F_TX_MACSEC		  PKT_TX_MACSEC
#define RTE_MBUF_F_TX_QINQ		  PKT_TX_QINQ_PKT
#define RTE_MBUF_F_TX_VLAN		  PKT_TX_VLAN_PKT
#endif

/* The addresses of an Ethernet header; macros, because IP headers always used the new names. */
#if FWD_DPDK_BEFORE(21, 11)
#define FWD_ETHER_SRC(header) (&(header)->s_addr)
#define FWD_ETHER_DST(header) (&(header)->d_addr)
#else
#define FWD_ETHER_SRC(header) (&(header)->src_addr)
#define FWD_ETHER_DST(header) (&(header)->dst_addr)
#endif

/* testpmd's macswap works on four packets at a time with SIMD since 19.02, one by one before. */
#define FWD_MACSWAP_BY_FOUR (!FWD_DPDK_BEFORE(19, 2))

/* testpmd's --rss-udp replaced the default hash fields before 26.07, and adds to them since. */
#if FWD_DPDK_BEFORE(26, 7)
#define FWD_RSS_UDP RTE_ETH_RSS_UDP
#else
#define FWD_RSS_UDP (RTE_ETH_RSS_IP | RTE_ETH_RSS_UDP)
#endif

/*
 * The functions below returned nothing in old releases, where they could not fail. All return 0 or
 * a negative errno value.
 */
static inline int
fwd_dev_info(uint16_t port, struct rte_eth_dev_info *info)
{
#if FWD_DPDK_BEFORE(19, 11)
	rte_eth_dev_info_get(port, info);
	return 0;
#else
	return rte_eth_dev_info_get(port, info);
#endif
}

static inline int
fwd_mac_address(uint16_t port, struct rte_ether_addr *mac)
{
#if FWD_DPDK_BEFORE(19, 11)
	rte_eth_macaddr_get(port, mac);
	return 0;
#else
	return rte_eth_macaddr_get(port, mac);
#endif
}

static inline int
fwd_promiscuous(uint16_t port)
{
#if FWD_DPDK_BEFORE(19, 11)
	rte_eth_promiscuous_enable(port);
	return 0;
#else
	return rte_eth_promiscuous_enable(port);
#endif
}

static inline int
fwd_dev_stop(uint16_t port)
{
#if FWD_DPDK_BEFORE(20, 11)
	rte_eth_dev_stop(port);
	return 0;
#else
	return rte_eth_dev_stop(port);
#endif
}

static inline int
fwd_dev_close(uint16_t port)
{
#if FWD_DPDK_BEFORE(20, 11)
	rte_eth_dev_close(port);
	return 0;
#else
	return rte_eth_dev_close(port);
#endif
}

/* Whether the port's link is up; a port that cannot say counts as up. */
static inline bool
fwd_link_up(uint16_t port)
{
	struct rte_eth_link link;

	memset(&link, 0, sizeof(link));
#if FWD_DPDK_BEFORE(19, 11)
	rte_eth_link_get_nowait(port, &link);
#else
	if (rte_eth_link_get_nowait(port, &link) < 0)
		return true;
#endif
	return link.link_status;
}

/*
 * testpmd asks drivers not to parse packet types, which nothing reads. A driver that cannot do so
 * goes on parsing, and that is no error.
 */
static inline void
fwd_clear_ptypes(uint16_t port)
{
#if FWD_DPDK_BEFORE(19, 11)
	(void)port;
#else
	(void)rte_eth_dev_set_ptypes(port, RTE_PTYPE_UNKNOWN, NULL, 0);
#endif
}

/* The driver's names of the burst functions of queue 0; "-" where driver or release cannot say. */
static inline void
fwd_burst_modes(uint16_t port, char *rx, char *tx, size_t size)
{
	snprintf(rx, size, "-");
	snprintf(tx, size, "-");
#if FWD_DPDK_BEFORE(19, 11)
	(void)port;
#else
	struct rte_eth_burst_mode mode;

	memset(&mode, 0, sizeof(mode));
	if (rte_eth_rx_burst_mode_get(port, 0, &mode) == 0 && mode.info[0] != '\0')
		snprintf(rx, size, "%s", mode.info);
	memset(&mode, 0, sizeof(mode));
	if (rte_eth_tx_burst_mode_get(port, 0, &mode) == 0 && mode.info[0] != '\0')
		snprintf(tx, size, "%s", mode.info);
#endif
}

#endif /* FWD_COMPAT_H */
