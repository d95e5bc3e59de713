/* SPDX-License-Identifier: BSD-3-Clause */
/* Operations that context.c puts into a context's table and no other file needs. */
#ifndef SOFTNIC_CAPS_H
#define SOFTNIC_CAPS_H

#include <infiniband/verbs.h>

int v_query_device_ex(struct ibv_context *ctx, const struct ibv_query_device_ex_input *input,
	struct ibv_device_attr_ex *attr, size_t size);
int v_query_port(struct ibv_context *ctx, uint8_t number, struct ibv_port_attr *attr, size_t size);
struct ibv_cq_ex *v_create_cq_ex(struct ibv_context *ctx, struct ibv_cq_init_attr_ex *attr);
int v_modify_cq(struct ibv_cq *cq, struct ibv_modify_cq_attr *attr);

#endif
