/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Ports and their mbuf pools: found, configured as testpmd configures them by default, started,
 * and in the end stopped and closed.
 */
#include <stdlib.h>
#include <string.h>

#include <rte_cycles.h>
#include <rte_eal.h>
#include <rte_errno.h>
#include <rte_mempool.h>

#include "fwd.h"

#define DEFAULT_RING_SIZE 512 /* descriptors, ethdev's fallback when a driver names none */
#define LINK_WAIT_MS	  9000
#define LINK_POLL_MS	  100

static bool
socket_exists(uint32_t socket)
{
	for (unsigned int i = 0; i < rte_socket_count(); i++) {
		if (rte_socket_id_by_idx(i) == (int)socket)
			return true;
	}
	return false;
}

/* The socket that is there when the one asked for is not. */
static uint32_t
first_socket(void)
{
	const int socket = rte_socket_id_by_idx(0);

	return socket < 0 ? 0 : (uint32_t)socket;
}

/*
 * The socket for the memory of the port at INDEX: the port's own option, then the common one, then
 * where the device is (device_socket, negative: nowhere), then the first. A socket that was asked
 * for and does not exist is replaced with a warning, once a port.
 */
uint32_t
fwd_port_socket(const struct fwd_options *opt, unsigned int index, int device_socket)
{
	static bool warned[RTE_MAX_ETHPORTS];
	uint32_t asked = opt->port_socket[index];

	if (asked == FWD_SOCKET_UNSET)
		asked = opt->socket_num;
	if (asked == FWD_SOCKET_UNSET) {
		if (device_socket >= 0 && socket_exists((uint32_t)device_socket))
			return (uint32_t)device_socket;
		return first_socket();
	}
	if (socket_exists(asked))
		return asked;
	if (!warned[index])
		fwd_error("socket %u for port %u does not exist; socket %u is used", asked, index,
			first_socket());
	warned[index] = true;
	return first_socket();
}

/* testpmd's --burst=0: what the first port's driver recommends. */
static int
ask_burst(struct fwd_app *app)
{
	const uint32_t burst = app->ports[0].info.default_rxportconf.burst_size;

	if (app->opt.burst != 0)
		return FWD_OK;
	if (burst == 0 || burst > FWD_BURST_MAX) {
		fwd_error("the driver of port %u recommends no usable burst size; give --burst=N "
			  "from 1 to %d",
			app->ports[0].id, FWD_BURST_MAX);
		return FWD_USAGE;
	}
	app->opt.burst = burst;
	return FWD_OK;
}

/* Descriptor counts are the user's; ethdev changes them only if the device could not do them. */
static int
fit_descriptors(struct fwd_port *port, const struct fwd_options *opt)
{
	uint16_t rxd = (uint16_t)opt->rxd, txd = (uint16_t)opt->txd;
	int ret;

	ret = rte_eth_dev_adjust_nb_rx_tx_desc(port->id, &rxd, &txd);
	if (ret != 0) {
		fwd_error(
			"port %u: descriptor limits are unknown: %s", port->id, rte_strerror(-ret));
		return FWD_FAILED;
	}
	port->rxd = opt->rxd == 0 ? 0 : rxd;
	port->txd = opt->txd == 0 ? 0 : txd;
	if (port->rxd != opt->rxd || port->txd != opt->txd)
		fwd_error("port %u cannot have rxd=%u txd=%u; rxd=%u txd=%u are used", port->id,
			opt->rxd, opt->txd, port->rxd, port->txd);
	return FWD_OK;
}

static uint32_t
descriptors(uint16_t asked, uint16_t driver_default)
{
	if (asked != 0)
		return asked;
	return driver_default != 0 ? driver_default : DEFAULT_RING_SIZE;
}

static int
find_port(struct fwd_app *app, unsigned int index)
{
	const struct fwd_options *opt = &app->opt;
	struct fwd_port *port = &app->ports[index];
	int ret;

	ret = fwd_dev_info(port->id, &port->info);
	if (ret != 0) {
		fwd_error(
			"port %u: device information is missing: %s", port->id, rte_strerror(-ret));
		return FWD_FAILED;
	}
	if (opt->rxq > port->info.max_rx_queues || opt->txq > port->info.max_tx_queues) {
		fwd_error("port %u has at most %u Rx and %u Tx queues; lower --rxq and --txq",
			port->id, port->info.max_rx_queues, port->info.max_tx_queues);
		return FWD_USAGE;
	}
	ret = fit_descriptors(port, opt);
	if (ret != FWD_OK)
		return ret;
	port->socket = fwd_port_socket(opt, index, rte_eth_dev_socket_id(port->id));
	if (opt->ring_ports != 0) {
		port->rx_mbufs = fwd_ring_frames(opt);
		return FWD_OK;
	}
	port->rx_mbufs = descriptors(port->rxd, port->info.default_rxportconf.ring_size);
	port->tx_mbufs = descriptors(port->txd, port->info.default_txportconf.ring_size);
	return FWD_OK;
}

/* Lists the ports there are and checks the options that depend on them. */
int
fwd_ports_find(struct fwd_app *app)
{
	uint16_t id;
	int ret;

	app->ports = calloc(RTE_MAX_ETHPORTS, sizeof(*app->ports));
	if (app->ports == NULL) {
		fwd_error("no memory for the ports");
		return FWD_FAILED;
	}
	RTE_ETH_FOREACH_DEV (id)
		app->ports[app->nb_ports++].id = id;
	if (app->nb_ports == 0) {
		fwd_error("no port to forward on; give --ring-ports=2 behind `--`, or --vdev or a "
			  "PCI device in front of it");
		return FWD_USAGE;
	}
	for (unsigned int i = app->nb_ports; i < RTE_MAX_ETHPORTS; i++) {
		if (app->opt.port_socket[i] != FWD_SOCKET_UNSET) {
			fwd_error("--port-numa-config names port %u, but there are %u ports", i,
				app->nb_ports);
			return FWD_USAGE;
		}
	}
	for (unsigned int i = 0; i < app->nb_ports; i++) {
		ret = find_port(app, i);
		if (ret != FWD_OK)
			return ret;
	}
	return ask_burst(app);
}

/*
 * Mbufs the pool on SOCKET needs: what its ports' Rx queues hold, what the Tx queues hold that
 * these ports' packets go to, and what the lcores have in their caches (which may overfill by
 * half) and hands.
 */
static uint32_t
pool_mbufs(const struct fwd_app *app, uint32_t socket)
{
	const struct fwd_options *opt = &app->opt;
	const uint32_t queues = RTE_MIN(opt->rxq, opt->txq);
	uint32_t mbufs = 0;

	for (unsigned int i = 0; i < app->nb_ports; i++) {
		const unsigned int tx = fwd_topology_tx(opt->topology, i, app->nb_ports);

		if (app->ports[i].socket == socket)
			mbufs += opt->rxq * app->ports[i].rx_mbufs +
				 queues * app->ports[tx].tx_mbufs;
	}
	return mbufs + (app->opt.nb_cores + 1) * (opt->mbcache + opt->mbcache / 2 + opt->burst);
}

/* An mbuf in memory; without hugepages each has a page of its own. */
static void
no_pool(uint32_t mbufs)
{
	const bool huge = rte_eal_has_hugepages();
	const uint64_t bytes =
		huge ? RTE_MBUF_DEFAULT_BUF_SIZE + sizeof(struct rte_mbuf) + RTE_CACHE_LINE_SIZE
		     : 4096;

	fwd_error("no memory for %u mbufs, about %u MB: %s; %s", mbufs,
		(uint32_t)(mbufs * bytes / 1000000 + 1), rte_strerror(rte_errno),
		huge ? "reserve more hugepages" : "give the EAL more with -m");
}

static struct rte_mempool *
pool_create(const struct fwd_app *app, uint32_t socket)
{
	const uint32_t mbufs = pool_mbufs(app, socket);
	struct rte_mempool *pool;
	char name[RTE_MEMPOOL_NAMESIZE];

	snprintf(name, sizeof(name), "mb_pool_%u", socket);
	pool = rte_pktmbuf_pool_create(
		name, mbufs, app->opt.mbcache, 0, RTE_MBUF_DEFAULT_BUF_SIZE, (int)socket);
	for (unsigned int i = 0; pool == NULL && i < rte_socket_count(); i++) {
		const int other = rte_socket_id_by_idx(i);

		if (other < 0 || (uint32_t)other == socket)
			continue;
		pool = rte_pktmbuf_pool_create(
			name, mbufs, app->opt.mbcache, 0, RTE_MBUF_DEFAULT_BUF_SIZE, other);
		if (pool != NULL)
			fwd_error("socket %u has no memory for the mbuf pool; socket %d is used",
				socket, other);
	}
	if (pool == NULL)
		no_pool(mbufs);
	return pool;
}

/* One pool a socket, shared by the ports on it. */
static int
pools_create(struct fwd_app *app)
{
	for (unsigned int i = 0; i < app->nb_ports; i++) {
		struct fwd_port *port = &app->ports[i];

		for (unsigned int j = 0; j < i && port->pool == NULL; j++) {
			if (app->ports[j].socket == port->socket)
				port->pool = app->ports[j].pool;
		}
		if (port->pool == NULL)
			port->pool = pool_create(app, port->socket);
		if (port->pool == NULL)
			return FWD_FAILED;
	}
	return FWD_OK;
}

static int
configure_port(struct fwd_port *port, const struct fwd_options *opt)
{
	struct rte_eth_conf conf;
	int ret;

	memset(&conf, 0, sizeof(conf));
	conf.rxmode.mq_mode = RTE_ETH_MQ_RX_NONE;
	if (opt->rxq > 1) {
		const uint64_t fields = opt->rss_udp ? FWD_RSS_UDP : RTE_ETH_RSS_IP;

		conf.rx_adv_conf.rss_conf.rss_hf = fields & port->info.flow_type_rss_offloads;
		if (conf.rx_adv_conf.rss_conf.rss_hf != 0)
			conf.rxmode.mq_mode = RTE_ETH_MQ_RX_RSS;
	}
	conf.txmode.offloads = port->info.tx_offload_capa & RTE_ETH_TX_OFFLOAD_MBUF_FAST_FREE;
	if (!opt->no_lsc_interrupt && (*port->info.dev_flags & RTE_ETH_DEV_INTR_LSC))
		conf.intr_conf.lsc = 1;
	ret = rte_eth_dev_configure(port->id, (uint16_t)opt->rxq, (uint16_t)opt->txq, &conf);
	if (ret != 0) {
		fwd_error("port %u cannot be configured with %u Rx and %u Tx queues: %s", port->id,
			opt->rxq, opt->txq, rte_strerror(-ret));
		return FWD_FAILED;
	}
	port->configured = true;
	port->tx_offloads = conf.txmode.offloads;
	return FWD_OK;
}

static int
setup_queues(struct fwd_port *port, const struct fwd_options *opt)
{
	struct rte_eth_rxconf rx = port->info.default_rxconf;
	struct rte_eth_txconf tx = port->info.default_txconf;
	int ret;

	if (port->tx_offloads != 0)
		tx.offloads = port->tx_offloads;
	for (uint16_t queue = 0; queue < opt->txq; queue++) {
		ret = rte_eth_tx_queue_setup(port->id, queue, port->txd, port->socket, &tx);
		if (ret != 0) {
			fwd_error("port %u: Tx queue %u with %u descriptors cannot be set up: %s",
				port->id, queue, port->txd, rte_strerror(-ret));
			return FWD_FAILED;
		}
	}
	for (uint16_t queue = 0; queue < opt->rxq; queue++) {
		ret = rte_eth_rx_queue_setup(
			port->id, queue, port->rxd, port->socket, &rx, port->pool);
		if (ret != 0) {
			fwd_error("port %u: Rx queue %u with %u descriptors cannot be set up: %s",
				port->id, queue, port->rxd, rte_strerror(-ret));
			return FWD_FAILED;
		}
	}
	return FWD_OK;
}

static int
start_port(struct fwd_port *port, const struct fwd_options *opt)
{
	int ret;

	ret = configure_port(port, opt);
	if (ret != FWD_OK)
		return ret;
	ret = setup_queues(port, opt);
	if (ret != FWD_OK)
		return ret;
	fwd_clear_ptypes(port->id);
	ret = rte_eth_dev_start(port->id);
	if (ret != 0) {
		fwd_error("port %u cannot be started: %s", port->id, rte_strerror(-ret));
		return FWD_FAILED;
	}
	port->started = true;
	ret = fwd_mac_address(port->id, &port->mac);
	if (ret != 0) {
		fwd_error("port %u: its address is unknown: %s", port->id, rte_strerror(-ret));
		return FWD_FAILED;
	}
	ret = fwd_promiscuous(port->id);
	if (ret != 0) /* as in testpmd, no reason to give up */
		fwd_error("port %u is not in promiscuous mode: %s", port->id, rte_strerror(-ret));
	return FWD_OK;
}

/* Waits, as long as testpmd does, until all links are up. */
static void
wait_for_links(const struct fwd_app *app)
{
	unsigned int up = 0;

	for (unsigned int ms = 0; ms <= LINK_WAIT_MS; ms += LINK_POLL_MS) {
		while (up < app->nb_ports && fwd_link_up(app->ports[up].id))
			up++;
		if (up == app->nb_ports)
			return;
		rte_delay_us_sleep(LINK_POLL_MS * 1000);
	}
	fwd_error("port %u: its link is down; going on without", app->ports[up].id);
}

/* Makes the pools, configures and starts the ports. fwd_ports_stop() cleans up after a failure. */
int
fwd_ports_start(struct fwd_app *app)
{
	int ret;

	ret = pools_create(app);
	if (ret != FWD_OK)
		return ret;
	for (unsigned int i = 0; i < app->nb_ports; i++) {
		ret = start_port(&app->ports[i], &app->opt);
		if (ret != FWD_OK)
			return ret;
	}
	wait_for_links(app);
	return FWD_OK;
}

static void
free_pools(struct fwd_app *app)
{
	for (unsigned int i = 0; i < app->nb_ports; i++) {
		struct rte_mempool *pool = app->ports[i].pool;

		for (unsigned int j = i; j < app->nb_ports; j++) {
			if (app->ports[j].pool == pool)
				app->ports[j].pool = NULL;
		}
		rte_mempool_free(pool); /* NULL is fine */
	}
}

/* Stops and closes what was started, as far as it got. */
void
fwd_ports_stop(struct fwd_app *app)
{
	int ret;

	if (app->ports == NULL)
		return;
	for (unsigned int i = 0; i < app->nb_ports; i++) {
		struct fwd_port *port = &app->ports[i];

		ret = port->started ? fwd_dev_stop(port->id) : 0;
		if (ret != 0)
			fwd_error("port %u cannot be stopped: %s", port->id, rte_strerror(-ret));
		ret = port->configured ? fwd_dev_close(port->id) : 0;
		if (ret != 0)
			fwd_error("port %u cannot be closed: %s", port->id, rte_strerror(-ret));
	}
	free_pools(app);
	free(app->ports);
	app->ports = NULL;
	app->nb_ports = 0;
}
