/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Calls that are known and answered as a device without the feature answers: no DevX, no
 * counters, no meters, no packet pacing, no eswitch. Drivers call them while probing and go on.
 *
 * The public headers are not included on purpose: arguments do not matter here, and on the
 * platform's calling convention a function without parameters ignores what it is given.
 */
#include <errno.h>
#include <stddef.h>

#include "refuse.h"

#define REFUSE_POINTER(name)                                                                       \
	API void *name(void);                                                                      \
	API void *name(void)                                                                       \
	{                                                                                          \
		refuse_trace(#name);                                                               \
		errno = EOPNOTSUPP;                                                                \
		return NULL;                                                                       \
	}

#define REFUSE_STATUS(name)                                                                        \
	API int name(void);                                                                        \
	API int name(void)                                                                         \
	{                                                                                          \
		refuse_trace(#name);                                                               \
		errno = EOPNOTSUPP;                                                                \
		return EOPNOTSUPP;                                                                 \
	}

#define ACCEPT(name)                                                                               \
	API int name(void);                                                                        \
	API int name(void)                                                                         \
	{                                                                                          \
		refuse_trace(#name);                                                               \
		return 0;                                                                          \
	}

/* DevX objects: never created, so the calls that change them fail too. */
REFUSE_POINTER(mlx5dv_devx_obj_create)
REFUSE_STATUS(mlx5dv_devx_obj_query)
REFUSE_STATUS(mlx5dv_devx_obj_modify)
REFUSE_STATUS(mlx5dv_devx_obj_destroy)
REFUSE_STATUS(mlx5dv_devx_obj_query_async)
REFUSE_STATUS(mlx5dv_devx_general_cmd)
REFUSE_STATUS(mlx5dv_devx_qp_query)
REFUSE_STATUS(mlx5dv_devx_wq_query)
REFUSE_STATUS(mlx5dv_devx_query_eqn)
REFUSE_POINTER(mlx5dv_devx_alloc_uar)
ACCEPT(mlx5dv_devx_free_uar)
REFUSE_POINTER(mlx5dv_devx_create_cmd_comp)
ACCEPT(mlx5dv_devx_destroy_cmd_comp)
REFUSE_STATUS(mlx5dv_devx_get_async_cmd_comp)
REFUSE_POINTER(mlx5dv_devx_create_event_channel)
ACCEPT(mlx5dv_devx_destroy_event_channel)
REFUSE_STATUS(mlx5dv_devx_subscribe_devx_event)
REFUSE_STATUS(mlx5dv_devx_subscribe_devx_event_fd)
REFUSE_STATUS(mlx5dv_devx_get_event)

/* Steering beyond queues, tables, tags and drops. */
REFUSE_POINTER(mlx5dv_create_flow_matcher)
REFUSE_STATUS(mlx5dv_destroy_flow_matcher)
REFUSE_POINTER(mlx5dv_create_flow)
REFUSE_POINTER(mlx5dv_create_flow_action_modify_header)
REFUSE_POINTER(mlx5dv_create_flow_action_packet_reformat)
REFUSE_POINTER(mlx5dv_create_steering_anchor)
ACCEPT(mlx5dv_destroy_steering_anchor)
REFUSE_POINTER(mlx5dv_dr_action_create_dest_devx_tir)
REFUSE_POINTER(mlx5dv_dr_action_create_dest_ib_port)
REFUSE_POINTER(mlx5dv_dr_action_create_dest_vport)
REFUSE_POINTER(mlx5dv_dr_action_create_dest_array)
REFUSE_POINTER(mlx5dv_dr_action_create_flow_counter)
REFUSE_POINTER(mlx5dv_dr_action_create_flow_meter)
REFUSE_STATUS(mlx5dv_dr_action_modify_flow_meter)
REFUSE_POINTER(mlx5dv_dr_action_create_flow_sampler)
REFUSE_POINTER(mlx5dv_dr_action_create_aso)
REFUSE_STATUS(mlx5dv_dr_action_modify_aso)
REFUSE_STATUS(mlx5dv_dr_aso_other_domain_link)
REFUSE_STATUS(mlx5dv_dr_aso_other_domain_unlink)
REFUSE_STATUS(mlx5dv_dump_dr_domain)
REFUSE_STATUS(mlx5dv_dump_dr_table)
REFUSE_STATUS(mlx5dv_dump_dr_matcher)
REFUSE_STATUS(mlx5dv_dump_dr_rule)

/* Packet pacing, doorbell pages, device memory, sharing with other processes. */
REFUSE_POINTER(mlx5dv_alloc_var)
ACCEPT(mlx5dv_free_var)
REFUSE_POINTER(mlx5dv_pp_alloc)
ACCEPT(mlx5dv_pp_free)
REFUSE_POINTER(mlx5dv_alloc_dm)
REFUSE_POINTER(mlx5dv_dm_map_op_addr)
REFUSE_STATUS(_mlx5dv_query_port)
REFUSE_STATUS(mlx5dv_get_clock_info)
REFUSE_POINTER(ibv_import_pd)
ACCEPT(ibv_unimport_pd)
