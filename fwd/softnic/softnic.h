/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The software ConnectX: objects shared by the files of this folder. See docs/softnic.md.
 *
 * A driver is loaded with this library in LD_PRELOAD and finds the symbols of libibverbs and
 * libmlx5 here. Control calls (abi.c, cq.c, rq.c, sq.c, mr.c, flow_*.c) build objects; rx.c and
 * tx.c play the device's data path on them, called from step.c (inline mode) or thread.c.
 */
#ifndef SOFTNIC_H
#define SOFTNIC_H

#include <infiniband/mlx5dv.h>
#include <infiniband/verbs.h>
#include <net/if.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "prm.h"

/* Exported: found by the driver or by the forwarder. Everything else is hidden. */
#define API __attribute__((visibility("default")))

#define ALWAYS_INLINE inline __attribute__((always_inline))
#define likely(x)     __builtin_expect(!!(x), 1)
#define unlikely(x)   __builtin_expect(!!(x), 0)

#define container_of(ptr, type, member) ((type *)(void *)((char *)(ptr)-offsetof(type, member)))

enum {
	MAX_PORTS = 4,
	MAX_QUEUES = 256, /* of each kind, a port */
	FRAME_LEN = 60,	  /* bytes without FCS: 64 on the wire */
	WIRE_LEN = 64,
	FRAME_MIDDLE = 16, /* where the frames of a port differ: IP and UDP headers */
	FRAME_MIDDLE_LEN = 28,
	FRAME_TAIL = FRAME_MIDDLE + FRAME_MIDDLE_LEN,
	RSS_KEY_MAX = 64, /* bytes; the device has 40 */
};

/* ---- config.c: switches from the environment ---- */

enum evict_mode { EVICT_NONE, EVICT_DEMOTE, EVICT_FLUSH };

/* Deliberate damage, to prove that verify mode sees it. */
enum fault_kind {
	FAULT_NONE,
	FAULT_RX_LKEY,
	FAULT_RX_ADDRESS,
	FAULT_TX_LKEY,
	FAULT_TX_ADDRESS,
	FAULT_TX_BYTES,
	FAULT_TX_LENGTH,
	FAULT_TX_ORDER,
};

struct config {
	bool inline_mode; /* no thread: the forwarder calls softnic_step() */
	bool verify;
	bool compress; /* CQE compression where the driver asked for it */
	bool debug;
	bool time;	/* count the cycles of softnic_step() */
	int cpu;	/* of the device thread; -1: last allowed one */
	unsigned batch; /* packets a queue and round, thread mode */
	unsigned flows; /* distinct flows a port */
	uint32_t seed;	/* of the flows' addresses and ports */
	enum evict_mode evict;
	enum fault_kind fault;
	uint64_t fault_packet; /* the damage strikes this packet of its kind, from 0 */
};
extern struct config config;

/* ---- log.c ---- */

void fatal(const char *format, ...) __attribute__((noreturn, format(printf, 1, 2)));
void usage(const char *format, ...) __attribute__((noreturn, format(printf, 1, 2)));
void warn(const char *format, ...) __attribute__((format(printf, 1, 2)));
void trace_call(const char *format, ...) __attribute__((format(printf, 1, 2)));
#define trace(...)                                                                                 \
	do {                                                                                       \
		if (unlikely(config.debug))                                                        \
			trace_call(__VA_ARGS__);                                                   \
	} while (0)

/* ---- device.c: the models and the ports ---- */

struct model {
	uint16_t pci_id; /* PCI device of vendor 15b3 */
	const char *name;
	const char *firmware;
	uint64_t dv_flags;	  /* MLX5DV_CONTEXT_FLAGS_* */
	uint32_t min_log_strides; /* striding RQ: least strides a WQE, log2 */
	uint32_t max_rss_table;	  /* entries of an indirection table */
};

struct flow;
struct rq;
struct sq;
struct matcher;

struct device {
	struct ibv_device ib; /* first member: what the driver holds */
	const struct model *model;
	int port; /* order of the first opening; -1: never opened */
	uint8_t mac[6];
	unsigned contexts;	   /* open ones */
	struct rq *rq[MAX_QUEUES]; /* ready at least once, in order: index is the queue number */
	struct sq *sq[MAX_QUEUES];
	unsigned rq_count, sq_count;
	struct matcher *root;	    /* receive rules of the root table, best first */
	uint32_t rule_serial;	    /* orders rules of equal priority */
	atomic_bool steering_stale; /* rules, tables or queues changed: redo the buckets */
	struct flow *flows;	    /* config.flows of them */
};

unsigned device_scan(void);
struct device *device_at(unsigned index);
struct device *device_port(unsigned port);
int device_assign_port(struct device *dev);
bool device_add_rq(struct device *dev, struct rq *rq);
bool device_add_sq(struct device *dev, struct sq *sq);
void device_remove_rq(struct device *dev, struct rq *rq);
void device_remove_sq(struct device *dev, struct sq *sq);

/* ---- context.c ---- */

struct context {
	struct device *dev;
	struct mlx5dv_ctx_allocators allocators;
	bool has_allocators;
	struct verbs_context verbs; /* ends with the struct ibv_context the driver holds */
};

static inline struct context *
to_context(struct ibv_context *ctx)
{
	return container_of(ctx, struct context, verbs.context);
}

static inline struct device *
to_device(struct ibv_context *ctx)
{
	return to_context(ctx)->dev;
}

/* ---- control.c: excludes the device while objects change ---- */

void control_lock(void);
void control_unlock(void);
void control_thread_started(void);
void control_count_ready(bool ready);
void control_park(void);
bool control_pending(void);

/* ---- thread.c ---- */

void thread_start(void);

/* ---- memory.c ---- */

struct ring {
	void *addr;
	size_t size;
	bool custom; /* from the driver's allocator */
};

int ring_alloc(struct context *ctx, struct ring *ring, size_t size);
void ring_free(struct context *ctx, struct ring *ring);
__be32 *doorbell_alloc(struct context *ctx);
void doorbell_free(__be32 *record);
void *cq_uar_page(void);
uint32_t next_object_number(void);
uint32_t round_up_pow2(uint32_t x);
uint32_t log2_of(uint32_t x);

/* ---- mr.c ---- */

void mr_check(const char *queue, unsigned port, unsigned number, unsigned wqe, uint32_t lkey,
	uint64_t addr, uint32_t len);

/* ---- cq.c ---- */

struct cq {
	struct ibv_cq_ex ex; /* first member; ibv_cq_ex_to_cq() is a cast */
	struct prm_cqe *entry;
	uint32_t count, log_count;
	uint32_t producer;
	uint32_t consumer_mask; /* width of the consumer index the driver keeps */
	__be32 *record;
	uint32_t number;
	enum mlx5dv_cqe_comp_res_format compression; /* 0: none asked for */
	struct ring ring;
};

static inline struct cq *
to_cq(struct ibv_cq *cq)
{
	return (struct cq *)(void *)cq;
}

/* Free slots. The driver publishes its consumer index in the first word of the record. */
static ALWAYS_INLINE unsigned
cq_room(const struct cq *cq)
{
	uint32_t consumer = be32toh(*(volatile __be32 *)&cq->record[0]);
	uint32_t used = (cq->producer - consumer) & cq->consumer_mask;

	return used >= cq->count ? 0 : cq->count - used;
}

static ALWAYS_INLINE uint32_t
cq_own(uint32_t log_count, uint32_t producer, unsigned opcode, unsigned format)
{
	return opcode << 4 | format << 2 | ((producer >> log_count) & 1);
}

/*
 * Store a completion; what is not named is zero. The last quarter, which carries the owner bit, is
 * written last and in one piece: the driver may read that quarter at any time. HASH, BYTE_COUNT and
 * SOP_QPN are big endian.
 */
static ALWAYS_INLINE void
cqe_store(struct prm_cqe *cqe, uint16_t wqe_id, uint32_t hash, prm_quarter second,
	uint32_t byte_count, uint32_t sop_qpn, uint16_t counter, uint32_t own)
{
	prm_half *half = (prm_half *)(void *)cqe;
	prm_quarter *quarter = (prm_quarter *)(void *)cqe;
	uint64_t last = sop_qpn | (uint64_t)(htobe16(counter) | own << 24) << 32;

	half[0] = (uint64_t)htobe16(wqe_id) << 16;
	half[1] = (uint64_t)hash << 32;
	quarter[1] = second;
	half[4] = 0;
	half[5] = (uint64_t)byte_count << 32;
	atomic_thread_fence(memory_order_release);
	*(volatile prm_quarter *)&quarter[3] = (prm_quarter)(prm_halves){0, last};
}

/* ---- rss.c ---- */

struct rss_table {
	struct ibv_rwq_ind_table ib; /* first member */
	struct device *dev;
	unsigned users; /* receive hashes over it */
	uint32_t size;	/* power of two */
	struct rq *rq[];
};

/* A receive hash: what rdma-core calls a QP with an indirection table (the device: a TIR). */
struct rss_hash {
	struct rss_table *table;
	uint64_t fields; /* IBV_RX_HASH_* */
	uint8_t key[RSS_KEY_MAX];
	unsigned key_len;
	unsigned users; /* rules that lead here */
};

uint32_t rss_toeplitz(const uint8_t *key, unsigned key_len, const uint8_t *data, unsigned len);
uint32_t rss_of_flow(const struct rss_hash *hash, const struct flow *flow);
struct rss_hash *rss_hash_new(const struct ibv_qp_init_attr_ex *attr);
int rss_hash_free(struct rss_hash *hash);
struct ibv_rwq_ind_table *v_create_rwq_ind_table(
	struct ibv_context *ctx, struct ibv_rwq_ind_table_init_attr *attr);
int v_destroy_rwq_ind_table(struct ibv_rwq_ind_table *table);

/* ---- traffic.c ---- */

struct flow {
	uint8_t frame[WIRE_LEN];       /* FRAME_LEN bytes and the FCS */
	uint8_t fte[PRM_FTE_SET_SIZE]; /* the headers as a flow rule sees them */
	uint32_t index;
};

/*
 * What the data path needs of one flow, in the order in which it needs it. Frames of a port differ
 * only in the middle; the rest is common to all (rq->common). That keeps what the device reads
 * small, and the forwarder's caches are disturbed less.
 */
struct bucket_entry {
	uint8_t middle[FRAME_MIDDLE_LEN];
	uint32_t hash;	/* big endian */
	uint32_t tag;	/* big endian */
	uint32_t index; /* of the flow */
};

int traffic_build(struct device *dev);
void traffic_steer(struct device *dev);
uint32_t frame_fcs(const uint8_t *frame, size_t len);

/* ---- rq.c, rx.c ---- */

struct rq {
	struct ibv_wq ib; /* first member */
	struct device *dev;
	struct cq *cq;
	uint8_t *wqe;
	uint32_t count, stride; /* WQEs, bytes a WQE */
	uint32_t sges;		/* scatter entries a WQE */
	__be32 *record;
	bool ready, striding, keep_fcs;
	uint32_t stride_log, strides, stride_offset; /* striding RQ */
	uint32_t stride_index;
	uint16_t head;		     /* next WQE */
	uint16_t number;	     /* queue number of the port */
	uint8_t generation;	     /* counts resets, verify mode */
	unsigned users;		     /* entries of indirection tables */
	uint32_t sequence;	     /* packets since the last reset */
	uint8_t common[WIRE_LEN];    /* what the frames have in common */
	struct bucket_entry *bucket; /* flows steered here */
	unsigned bucket_count, bucket_pos;
	uint64_t packets, no_wqe, no_cqe;
	struct ring ring;
};

unsigned rx_step(struct rq *rq, unsigned max);
struct ibv_wq *v_create_wq(struct ibv_context *ctx, struct ibv_wq_init_attr *attr);
int v_modify_wq(struct ibv_wq *wq, struct ibv_wq_attr *attr);
int v_destroy_wq(struct ibv_wq *wq);

/* ---- sq.c, tx.c ---- */

struct sq {
	struct ibv_qp ib; /* first member */
	struct device *dev;
	struct cq *cq;
	struct rss_hash *hash; /* set: this QP receives, and has no send queue */
	uint8_t *wqe;
	uint32_t count; /* building blocks of 64 bytes */
	__be32 *record;
	__be32 *uar; /* doorbell register */
	bool ready;
	uint16_t head; /* next building block */
	uint16_t number;
	uint64_t packets, bytes, wqes, completions;
	uint64_t opcode[256];
	struct ring ring;
};

static inline struct sq *
to_sq(struct ibv_qp *qp)
{
	return (struct sq *)(void *)qp;
}

unsigned tx_step(struct sq *sq);
struct ibv_qp *v_create_qp_ex(struct ibv_context *ctx, struct ibv_qp_init_attr_ex *attr);

/* ---- steering.c: receive rules ---- */

enum verdict { VERDICT_PASS, VERDICT_DROP, VERDICT_QUEUE, VERDICT_TABLE };

struct matcher_list;

struct rule {
	struct matcher *matcher;
	uint8_t value[PRM_FTE_SIZE];
	enum verdict verdict;
	struct rss_hash *hash;	/* VERDICT_QUEUE */
	struct matcher **table; /* VERDICT_TABLE: head of that table's matchers */
	uint32_t tag;		/* flow tag, 0: none */
	struct rule *next;
};

struct matcher {
	struct device *dev;
	struct matcher **list; /* the table it stands in; NULL: not a receive table */
	uint16_t priority;
	uint32_t serial;
	uint8_t mask[PRM_FTE_SIZE];
	struct rule *rules;
	struct matcher *next;
};

struct matcher *matcher_new(struct device *dev, struct matcher **list, uint16_t priority,
	const void *mask, size_t mask_len);
int matcher_free(struct matcher *matcher);
struct rule *rule_new(struct matcher *matcher, const void *value, size_t value_len);
void rule_insert(struct rule *rule);
void rule_free(struct rule *rule);
const struct rule *steering_find(struct device *dev, const uint8_t fte[PRM_FTE_SET_SIZE]);
void steering_changed(struct device *dev);

struct ibv_flow *v_create_flow(struct ibv_qp *qp, struct ibv_flow_attr *attr);
int v_destroy_flow(struct ibv_flow *flow);

/* ---- evict.c ---- */

void evict_lines(const void *addr, size_t len);
void evict_check(void);

/* ---- verify.c ---- */

void verify_rx_stamp(struct rq *rq, const struct flow *flow, uint8_t *frame);
void verify_rx_address(struct rq *rq, uint32_t lkey, uint64_t addr, uint32_t len);
void verify_rx_reset(struct rq *rq);
void verify_tx_address(struct sq *sq, uint32_t lkey, uint64_t addr, uint32_t len);
void verify_tx_frame(struct sq *sq, uint8_t *frame, uint32_t len);
void verify_report(void);

/* ---- unknown.c ---- */

extern const struct ibv_context_ops unknown_context_ops;

/* ---- mr.c ---- */

struct ibv_mr *v_alloc_null_mr(struct ibv_pd *pd);

#endif
