/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Layouts of the device's memory structures that rdma-core's public headers do not give, or give
 * only in part. Work queue entries come from <infiniband/mlx5dv.h> (struct mlx5_wqe_ctrl_seg,
 * mlx5_wqe_eth_seg, mlx5_wqe_data_seg, mlx5_mprq_wqe).
 *
 * Sources: "Mellanox Adapters Programmer's Reference Manual" (PRM), chapters "Completion Queue
 * Entries", "CQE compression" and "Flow table entry match parameters"; the kernel's
 * include/linux/mlx5/device.h and mlx5_ifc.h name the same fields.
 */
#ifndef SOFTNIC_PRM_H
#define SOFTNIC_PRM_H

#include <stdint.h>

/*
 * One quarter of a completion entry: what the device stores in a single bus write. Its halves,
 * alone and as a pair; little endian, as the CPUs that the driver has vector code for.
 */
typedef uint32_t prm_quarter __attribute__((vector_size(16), may_alias));
typedef uint64_t prm_halves __attribute__((vector_size(16)));
typedef uint64_t prm_half __attribute__((may_alias));

/* 64-byte completion queue entry. Multi-byte fields are big endian. */
struct prm_cqe {
	uint8_t pkt_info; /* bit 0 tunnelled, bit 1 outer header is IPv6 */
	uint8_t reserved0;
	uint16_t wqe_id; /* striding RQ: index of the WQE */
	uint32_t lro[2];
	uint32_t rx_hash_result;
	uint8_t rx_hash_type; /* PRM_HASH_* */
	uint8_t reserved1[3];
	uint16_t checksum; /* one's complement sum of the packet */
	uint8_t reserved2[6];
	uint8_t header_valid; /* PRM_CQE_*_OK */
	uint8_t header_type;  /* PRM_CQE_*_TYPE */
	uint16_t vlan_info;
	uint32_t user_index;
	uint32_t flow_metadata;
	uint32_t reserved3;
	uint32_t byte_count; /* striding RQ: bits 29:16 strides, 15:0 bytes */
	uint64_t timestamp;
	uint32_t sop_qpn;     /* Rx: flow tag; Tx: opcode and queue number */
	uint16_t wqe_counter; /* striding RQ: index of the first stride */
	uint8_t signature;
	uint8_t op_own; /* bits 7:4 opcode, 3:2 format, 1 solicited, 0 owner */
} __attribute__((aligned(64)));
_Static_assert(sizeof(struct prm_cqe) == 64, "a completion entry is one cache line");

enum {
	PRM_CQE_L2_OK = 1 << 0,
	PRM_CQE_L3_OK = 1 << 1,
	PRM_CQE_L4_OK = 1 << 2,
	PRM_CQE_L3_TYPE_IPV4 = 2 << 2,
	PRM_CQE_L4_TYPE_UDP = 2 << 4,
	PRM_HASH_IPV4 = 1 << 2,
	PRM_HASH_UDP = 2 << 6,
	PRM_CQE_OPCODE_REQUESTER = 0,
	PRM_CQE_OPCODE_RESPONDER_SEND = 2,
	PRM_CQE_OPCODE_INVALID = 15,
	PRM_CQE_FORMAT_PLAIN = 0,
	PRM_CQE_FORMAT_COMPRESSED = 3,
	PRM_MPRQ_STRIDES_SHIFT = 16,
};

/*
 * Mini completion: eight of them fill one slot of the ring. Word 0 is the RSS hash (format HASH)
 * or checksum and stride index (format CSUM_STRIDX).
 */
struct prm_mini_cqe {
	uint32_t word0;
	uint32_t byte_count;
};

enum {
	PRM_MINI_PER_SLOT = 8,
	PRM_MINI_MAX = 64, /* packets of one compressed session */
};

/* Opcodes and modifiers that <infiniband/mlx5dv.h> lacks. */
enum {
	PRM_OPCODE_ENHANCED_MPW = 0x29,
	PRM_OPMOD_MPW = 1, /* with MLX5_OPCODE_TSO: multi-packet WQE */
};

/* inline_hdr_sz of the Ethernet segment: bit 15 asks for a VLAN tag, bits 9:0 are the size. */
enum {
	PRM_ETH_INSERT_VLAN = 1 << 15,
	PRM_ETH_INLINE_MASK = 0x3ff,
};

/*
 * fte_match_set_lyr_2_4, the outer headers of a flow rule: bytes 0..63 of fte_match_param.
 * Each of the following sets (misc, inner headers, misc2, ...) has 64 bytes as well.
 */
enum {
	PRM_FTE_SMAC = 0,
	PRM_FTE_ETHERTYPE = 6,
	PRM_FTE_DMAC = 8,
	PRM_FTE_VLAN = 14,
	PRM_FTE_IP_PROTOCOL = 16,
	PRM_FTE_IP_DSCP_ECN = 17,
	PRM_FTE_FLAGS = 18, /* cvlan, svlan, frag, ip_version (4 bits), tcp_flags */
	PRM_FTE_TCP_SPORT = 20,
	PRM_FTE_TCP_DPORT = 22,
	PRM_FTE_OK = 26, /* ihl (4 bits), l3_ok, l4_ok, ipv4_checksum_ok, l4_checksum_ok */
	PRM_FTE_TTL = 27,
	PRM_FTE_UDP_SPORT = 28,
	PRM_FTE_UDP_DPORT = 30,
	PRM_FTE_SRC_IP = 32,
	PRM_FTE_SRC_IPV4 = 44,
	PRM_FTE_DST_IP = 48,
	PRM_FTE_DST_IPV4 = 60,
	PRM_FTE_SET_SIZE = 64,
	PRM_FTE_SIZE = 512,	      /* room for eight sets: more than any release uses */
	PRM_FTE_IP_VERSION_SHIFT = 1, /* inside byte PRM_FTE_FLAGS */
	PRM_FTE_CVLAN = 1 << 7,
};

#endif
