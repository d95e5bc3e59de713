/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The operations of a context that no driver of ours may use: the data path calls of plain verbs.
 * The device's queues are driven through memory; who calls these gets told, by name.
 */
#include "refuse.h"
#undef API
#include "softnic.h"

void
refuse_trace(const char *name)
{
	trace("%s -> not supported", name);
}

void
unknown_call(const char *name)
{
	fatal("%s: the driver made a call the software NIC does not know", name);
}

#define UNUSED __attribute__((unused))

#define UNKNOWN_OPERATION(result, name, ...)                                                       \
	static result unknown_##name(__VA_ARGS__)                                                  \
	{                                                                                          \
		unknown_call("ibv_" #name);                                                        \
	}

UNKNOWN_OPERATION(struct ibv_mw *, alloc_mw, struct ibv_pd *pd UNUSED, enum ibv_mw_type type UNUSED)
UNKNOWN_OPERATION(int, bind_mw, struct ibv_qp *qp UNUSED, struct ibv_mw *mw UNUSED,
	struct ibv_mw_bind *b UNUSED)
UNKNOWN_OPERATION(int, dealloc_mw, struct ibv_mw *mw UNUSED)
UNKNOWN_OPERATION(int, poll_cq, struct ibv_cq *cq UNUSED, int n UNUSED, struct ibv_wc *wc UNUSED)
UNKNOWN_OPERATION(int, req_notify_cq, struct ibv_cq *cq UNUSED, int solicited UNUSED)
UNKNOWN_OPERATION(int, post_srq_recv, struct ibv_srq *srq UNUSED, struct ibv_recv_wr *wr UNUSED,
	struct ibv_recv_wr **bad UNUSED)
UNKNOWN_OPERATION(int, post_send, struct ibv_qp *qp UNUSED, struct ibv_send_wr *wr UNUSED,
	struct ibv_send_wr **bad UNUSED)
UNKNOWN_OPERATION(int, post_recv, struct ibv_qp *qp UNUSED, struct ibv_recv_wr *wr UNUSED,
	struct ibv_recv_wr **bad UNUSED)

const struct ibv_context_ops unknown_context_ops = {
	.alloc_mw = unknown_alloc_mw,
	.bind_mw = unknown_bind_mw,
	.dealloc_mw = unknown_dealloc_mw,
	.poll_cq = unknown_poll_cq,
	.req_notify_cq = unknown_req_notify_cq,
	.post_srq_recv = unknown_post_srq_recv,
	.post_send = unknown_post_send,
	.post_recv = unknown_post_recv,
};
