/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the device says of itself. The numbers are those of the real devices' firmware as far as
 * the driver looks at them; capabilities this library does not play are not offered.
 */
#include <errno.h>
#include <string.h>

#include "caps.h"
#include "softnic.h"

/* The headers wrap it; here the plain symbol is defined. */
#undef ibv_query_port

enum {
	VENDOR_MELLANOX = 0x02c9,
	RAW_PACKET = 1 << IBV_QPT_RAW_PACKET,
	COMPAT_PORT_ATTR_SIZE = 48, /* rdma-core: size before link_layer was followed by flags */
	WIDTH_4X = 2,
	SPEED_EDR = 32,
	PHYS_LINK_UP = 5,
};

static void
fill_attr(const struct model *model, struct ibv_device_attr *attr)
{
	memset(attr, 0, sizeof(*attr));
	strncpy(attr->fw_ver, model->firmware, sizeof(attr->fw_ver) - 1);
	attr->vendor_id = VENDOR_MELLANOX;
	attr->vendor_part_id = model->pci_id;
	attr->max_mr_size = UINT64_MAX;
	attr->page_size_cap = 0xfffff000;
	attr->max_qp = 1 << 17;
	attr->max_qp_wr = 32768;
	attr->max_sge = 30;
	attr->max_cq = 1 << 24;
	attr->max_cqe = (1 << 22) - 1;
	attr->max_mr = 1 << 24;
	attr->max_pd = 1 << 24;
	attr->phys_port_cnt = 1;
}

API int
ibv_query_device(struct ibv_context *ctx, struct ibv_device_attr *attr)
{
	fill_attr(to_device(ctx)->model, attr);
	return 0;
}

static void
fill_attr_ex(const struct model *model, struct ibv_device_attr_ex *attr)
{
	memset(attr, 0, sizeof(*attr));
	fill_attr(model, &attr->orig_attr);
	attr->device_cap_flags_ex = IBV_DEVICE_RAW_IP_CSUM | IBV_DEVICE_RAW_SCATTER_FCS;
	attr->tso_caps.max_tso = 1 << 18;
	attr->tso_caps.supported_qpts = RAW_PACKET;
	attr->rss_caps.supported_qpts = RAW_PACKET;
	attr->rss_caps.max_rwq_indirection_tables = 1 << 20;
	attr->rss_caps.max_rwq_indirection_table_size = model->max_rss_table;
	attr->rss_caps.rx_hash_function = IBV_RX_HASH_FUNC_TOEPLITZ;
	attr->rss_caps.rx_hash_fields_mask =
		IBV_RX_HASH_SRC_IPV4 | IBV_RX_HASH_DST_IPV4 | IBV_RX_HASH_SRC_IPV6 |
		IBV_RX_HASH_DST_IPV6 | IBV_RX_HASH_SRC_PORT_TCP | IBV_RX_HASH_DST_PORT_TCP |
		IBV_RX_HASH_SRC_PORT_UDP | IBV_RX_HASH_DST_PORT_UDP | IBV_RX_HASH_INNER;
	attr->max_wq_type_rq = 1 << 23;
	attr->raw_packet_caps = IBV_RAW_PACKET_CAP_CVLAN_STRIPPING |
				IBV_RAW_PACKET_CAP_SCATTER_FCS | IBV_RAW_PACKET_CAP_IP_CSUM;
	attr->completion_timestamp_mask = UINT64_MAX;
	attr->hca_core_clock = 1000000; /* kHz */
	attr->phys_port_cnt_ex = 1;
}

int
v_query_device_ex(struct ibv_context *ctx, const struct ibv_query_device_ex_input *input,
	struct ibv_device_attr_ex *attr, size_t size)
{
	struct ibv_device_attr_ex full;

	(void)input;
	fill_attr_ex(to_device(ctx)->model, &full);
	memset(attr, 0, size);
	memcpy(attr, &full, size < sizeof(full) ? size : sizeof(full));
	return 0;
}

int
v_query_port(struct ibv_context *ctx, uint8_t number, struct ibv_port_attr *attr, size_t size)
{
	struct ibv_port_attr full;

	(void)ctx;
	if (number != 1)
		return EINVAL;
	memset(&full, 0, sizeof(full));
	full.state = IBV_PORT_ACTIVE;
	full.max_mtu = IBV_MTU_4096;
	full.active_mtu = IBV_MTU_1024;
	full.gid_tbl_len = 256;
	full.pkey_tbl_len = 1;
	full.max_msg_sz = 1 << 30;
	full.link_layer = IBV_LINK_LAYER_ETHERNET;
	full.active_width = WIDTH_4X;
	full.active_speed = SPEED_EDR;
	full.phys_state = PHYS_LINK_UP;
	memset(attr, 0, size);
	memcpy(attr, &full, size < sizeof(full) ? size : sizeof(full));
	return 0;
}

API int
ibv_query_port(struct ibv_context *ctx, uint8_t number, struct _compat_ibv_port_attr *attr)
{
	return v_query_port(
		ctx, number, (struct ibv_port_attr *)(void *)attr, COMPAT_PORT_ATTR_SIZE);
}

API const char *
ibv_port_state_str(enum ibv_port_state state)
{
	static const char *const names[] = {
		"no state change (NOP)", "down", "init", "armed", "active", "active defer"};

	return (unsigned)state < sizeof(names) / sizeof(names[0]) ? names[state] : "unknown";
}

/* Each part is filled when asked for, as rdma-core does, and the mask says what was filled. */
API int
mlx5dv_query_device(struct ibv_context *ctx, struct mlx5dv_context *attr)
{
	const struct model *model = to_device(ctx)->model;
	uint64_t asked = attr->comp_mask, given = 0;

	attr->version = 0;
	attr->flags = model->dv_flags;
	if (asked & MLX5DV_CONTEXT_MASK_CQE_COMPRESION) {
		attr->cqe_comp_caps.max_num = PRM_MINI_MAX;
		attr->cqe_comp_caps.supported_format =
			MLX5DV_CQE_RES_FORMAT_HASH | MLX5DV_CQE_RES_FORMAT_CSUM_STRIDX;
		given |= MLX5DV_CONTEXT_MASK_CQE_COMPRESION;
	}
	if (asked & MLX5DV_CONTEXT_MASK_SWP) {
		attr->sw_parsing_caps.sw_parsing_offloads =
			MLX5DV_SW_PARSING | MLX5DV_SW_PARSING_CSUM | MLX5DV_SW_PARSING_LSO;
		attr->sw_parsing_caps.supported_qpts = RAW_PACKET;
		given |= MLX5DV_CONTEXT_MASK_SWP;
	}
	if (asked & MLX5DV_CONTEXT_MASK_STRIDING_RQ) {
		attr->striding_rq_caps = (struct mlx5dv_striding_rq_caps){
			.min_single_stride_log_num_of_bytes = 6,
			.max_single_stride_log_num_of_bytes = 13,
			.min_single_wqe_log_num_of_strides = model->min_log_strides,
			.max_single_wqe_log_num_of_strides = 16,
			.supported_qpts = RAW_PACKET,
		};
		given |= MLX5DV_CONTEXT_MASK_STRIDING_RQ;
	}
	if (asked & MLX5DV_CONTEXT_MASK_TUNNEL_OFFLOADS) {
		attr->tunnel_offloads_caps = MLX5DV_RAW_PACKET_CAP_TUNNELED_OFFLOAD_VXLAN |
					     MLX5DV_RAW_PACKET_CAP_TUNNELED_OFFLOAD_GRE |
					     MLX5DV_RAW_PACKET_CAP_TUNNELED_OFFLOAD_GENEVE;
		given |= MLX5DV_CONTEXT_MASK_TUNNEL_OFFLOADS;
	}
	attr->comp_mask = given;
	return 0;
}

struct ibv_cq_ex *
v_create_cq_ex(struct ibv_context *ctx, struct ibv_cq_init_attr_ex *attr)
{
	return mlx5dv_create_cq(ctx, attr, NULL);
}

/* Interrupt moderation: there are no interrupts to moderate. */
int
v_modify_cq(struct ibv_cq *cq, struct ibv_modify_cq_attr *attr)
{
	(void)cq;
	(void)attr;
	return 0;
}
