/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the files of the software NIC's test share: TAP output, and the queues as a driver builds
 * and drives them through rdma-core's ABI.
 */
#ifndef SOFTNIC_CHECK_H
#define SOFTNIC_CHECK_H

#include <infiniband/mlx5dv.h>
#include <infiniband/verbs.h>
#include <stdbool.h>
#include <stdint.h>

/* Exported by the library under test. */
extern unsigned softnic_step(unsigned port, unsigned queue, unsigned n);
extern int softnic_inline(void);

enum {
	FRAME = 60,    /* bytes of a packet, without FCS */
	BUFFER = 2048, /* bytes of a posted buffer */
	RING = 256,    /* completion slots of a receive queue */
	STRIDES_LOG = 9,
	STRIDE = 64,
	KEY_LEN = 40,
};

extern const uint8_t rss_key[KEY_LEN];
extern struct ibv_context *ctx;
extern struct ibv_pd *pd;

void ok(bool good, const char *what);
void *must(void *p, const char *what);
bool aborts(void (*function)(void), const char *text);

/* ---- check_queues.c ---- */

struct rxq {
	struct ibv_cq *cq;
	struct ibv_wq *wq;
	struct ibv_mr *mr;
	struct mlx5dv_cq cq_dv;
	struct mlx5dv_rwq wq_dv;
	uint8_t *buffers;
	uint32_t consumer, posted;
	bool striding;
};

struct ibv_wq *make_wq(struct ibv_cq *cq, uint32_t wr, bool striding, uint32_t flags);
void rxq_open(struct rxq *q, uint32_t count, bool striding, unsigned compression, uint32_t flags);
void rxq_close(struct rxq *q);
void rxq_post(struct rxq *q, uint32_t count);
struct mlx5_cqe64 *rxq_poll(struct rxq *q);
void rxq_consume(struct rxq *q, uint32_t slots);
uint8_t *rxq_frame(struct rxq *q, uint32_t wqe);

struct rss {
	struct ibv_rwq_ind_table *table;
	struct ibv_qp *qp;
};

void rss_open(struct rss *rss, struct ibv_wq **wqs, unsigned log_size, uint64_t fields);
void rss_close(struct rss *rss);
struct ibv_flow *add_rule(struct ibv_qp *qp, uint16_t priority, const uint8_t *mac, bool drop);

struct txq {
	struct ibv_cq *cq;
	struct ibv_qp *qp;
	struct mlx5dv_cq cq_dv;
	struct mlx5dv_qp qp_dv;
	struct ibv_mr *mr;
	uint8_t *data;
	uint32_t consumer;
	uint16_t head;
};

void txq_open(struct txq *t);
void txq_close(struct txq *t);
void txq_put(struct txq *t, uint8_t (*segment)[16], unsigned segments);
struct mlx5_cqe64 *txq_poll(struct txq *t);
void make_control(struct txq *t, uint8_t *segment, uint8_t opmod, uint8_t opcode, unsigned segments,
	bool completion);
void make_pointer(struct txq *t, uint8_t *segment, uint32_t len);
void put_be32(uint8_t *to, uint32_t value);

/* ---- the tests ---- */

void check_control(void);
void check_rx(void);
void check_steering(void);
void check_tx(void);

#endif
