/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the forwarder's files share: options, ports, streams, forwarding lcores, engines.
 *
 * The forwarder does what testpmd does for the commands of the report, and speaks the slice
 * protocol, so that one process can be measured against many others in short turns.
 */
#ifndef FWD_H
#define FWD_H

#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "compat.h"

/* Exit statuses, and what the functions below return that can fail. */
enum {
	FWD_OK = 0,
	FWD_FAILED = 1, /* could not run */
	FWD_USAGE = 2,	/* wrong command line, or something it asks for is not there */
};

#define FWD_BURST_MAX	  512 /* packets, as testpmd's MAX_PKT_BURST */
#define FWD_SOCKET_UNSET  UINT32_MAX
#define FWD_FRAME_BYTES	  60   /* 64 on the wire; the checksum (FCS) is the device's business */
#define FWD_MODE_NAME_MAX 1024 /* bytes, as RTE_ETH_BURST_MODE_INFO_SIZE */

enum fwd_topology {
	FWD_PAIRED,
	FWD_CHAINED,
	FWD_LOOP,
};

struct fwd_stream;

/* A way of forwarding: receives one burst of a stream, changes the packets, sends them. */
struct fwd_engine {
	const char *name; /* testpmd's --forward-mode */
	void (*forward)(struct fwd_stream *stream);
};

extern const struct fwd_engine fwd_io;
extern const struct fwd_engine fwd_mac;
extern const struct fwd_engine fwd_macswap;
extern const struct fwd_engine fwd_5tswap;

/* The command line after `--`. Numbers are uint32_t because the option table sets them. */
struct fwd_options {
	uint32_t burst;				/* packets, 0: ask the driver */
	uint32_t mbcache;			/* mbufs a mempool cache holds */
	uint32_t nb_cores;			/* forwarding lcores */
	uint32_t ring_ports;			/* net_ring ports to make */
	uint32_t rxd, txd;			/* descriptors, 0: the driver's default */
	uint32_t rxq, txq;			/* queues a port */
	uint32_t socket_num;			/* FWD_SOCKET_UNSET or a socket id */
	uint32_t stats_period;			/* seconds, 0: never */
	uint32_t port_socket[RTE_MAX_ETHPORTS]; /* FWD_SOCKET_UNSET or a socket id */
	bool auto_start;
	bool help;
	bool interactive;
	bool no_lsc_interrupt;
	bool rss_udp;
	bool slices;
	bool verify;
	bool version;
	enum fwd_topology topology;
	const struct fwd_engine *engine;
};

/* One Ethernet port. */
struct fwd_port {
	uint16_t id;	      /* ethdev's number */
	uint16_t rxd, txd;    /* descriptors asked for, 0: the driver's default */
	uint32_t rx_mbufs;    /* mbufs an Rx queue can hold */
	uint32_t tx_mbufs;    /* mbufs a Tx queue can hold */
	uint32_t socket;      /* socket of its rings and mbufs */
	uint64_t tx_offloads; /* as configured */
	bool configured;      /* has to be closed */
	bool started;	      /* has to be stopped */
	struct rte_ether_addr mac;
	struct rte_eth_dev_info info;
	struct rte_mempool *pool;
	struct rte_eth_stats base;  /* counters when forwarding started */
	struct rte_eth_stats shown; /* counters when last shown */
	uint64_t shown_tsc;	    /* time of that, 0: never */
};

/*
 * A receive queue and the transmit queue its packets go to. What the engines read comes first, what
 * they write last, and streams do not share cache lines: each belongs to one lcore.
 */
struct fwd_stream {
	_Alignas(RTE_CACHE_LINE_SIZE) uint16_t rx_port;
	uint16_t rx_queue;
	uint16_t tx_port;
	uint16_t tx_queue;
	uint16_t burst;
	uint16_t vlan_tci; /* of the Tx port, for its VLAN and QinQ insertion */
	uint16_t vlan_tci_outer;
	struct rte_ether_addr src; /* the Tx port's address */
	struct rte_ether_addr dst; /* the Tx port's peer */
	uint64_t ol_flags;	   /* mbuf flags that the Tx port's offloads ask for */

	_Alignas(RTE_CACHE_LINE_SIZE) uint64_t rx_packets;
	uint64_t tx_packets;
	uint64_t dropped; /* received, but not accepted by the Tx burst function */
};

struct fwd_app;

/* A forwarding lcore, its share of the streams, its orders and its results. */
struct fwd_lcore {
	_Alignas(RTE_CACHE_LINE_SIZE) struct fwd_stream *first, *end;
	void (*forward)(struct fwd_stream *stream);
	struct fwd_app *app;
	unsigned int id;
	uint32_t batch;	     /* iterations a device step prepares */
	uint64_t warmup;     /* iterations before the timed ones */
	uint64_t iterations; /* timed iterations */
	uint64_t cycles;     /* TSC cycles of the timed iterations */
	uint64_t packets;    /* received in the timed iterations */
	uint64_t dropped;    /* dropped in the timed iterations */
};

/*
 * The software NIC's step, found in a preloaded library: the device sends what was posted on Tx
 * queue QUEUE of PORT and makes up to PACKETS packets ready on that Rx queue.
 */
typedef unsigned int fwd_step_fn(unsigned int port, unsigned int queue, unsigned int packets);

struct fwd_app {
	struct fwd_options opt;
	struct fwd_port *ports; /* in ethdev's order */
	unsigned int nb_ports;
	struct fwd_stream *streams;
	unsigned int nb_streams;
	struct fwd_lcore *lcores;
	unsigned int nb_lcores;
	bool main_forwards;	  /* the only lcore both controls and forwards */
	fwd_step_fn *step;	  /* NULL: the devices run by themselves */
	_Atomic uint64_t arrived; /* forwarding lcores at the barrier, ever */
	atomic_bool stop;	  /* end of continuous forwarding */
	bool forwarding;	  /* continuously, not in slices */
};

/* main.c: messages to stderr, one line each, "mppsdiff: " in front */
void fwd_error(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* options.c */
int fwd_options_parse(struct fwd_options *opt, int argc, char **argv);
void fwd_options_help(FILE *out);
const char *fwd_topology_name(enum fwd_topology topology);

/* port.c */
int fwd_ports_find(struct fwd_app *app);
uint32_t fwd_port_socket(const struct fwd_options *opt, unsigned int index, int device_socket);
int fwd_ports_start(struct fwd_app *app);
void fwd_ports_stop(struct fwd_app *app);

/* ring.c: net_ring ports in a circle, filled with frames */
int fwd_rings_create(struct fwd_app *app);
int fwd_rings_fill(struct fwd_app *app);
int fwd_rings_verify(struct fwd_app *app, FILE *out);
void fwd_rings_free(void);
uint32_t fwd_ring_frames(const struct fwd_options *opt);

/* lcore.c */
unsigned int fwd_topology_tx(enum fwd_topology topology, unsigned int rx, unsigned int ports);
int fwd_streams_create(struct fwd_app *app);
void fwd_streams_free(struct fwd_app *app);
void fwd_streams_show(const struct fwd_app *app, FILE *out);
int fwd_run_slice(struct fwd_app *app, uint64_t iterations, uint64_t warmup);
int fwd_start(struct fwd_app *app);
void fwd_stop(struct fwd_app *app);
void fwd_iterate(struct fwd_lcore *lcore, uint64_t iterations);
void fwd_timed_begin(void);
void fwd_timed_end(void);

/* protocol.c, prompt.c: the ways of being controlled */
int fwd_protocol(struct fwd_app *app, FILE *out);
int fwd_prompt(struct fwd_app *app);
int fwd_batch_mode(struct fwd_app *app);

/* stats.c */
void fwd_stats_reset(struct fwd_app *app);
void fwd_stats_forward(struct fwd_app *app);
void fwd_stats_ports(struct fwd_app *app);

#endif /* FWD_H */
