/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Counters as testpmd shows them, so that what reads testpmd's output can read this.
 */
#include <inttypes.h>
#include <string.h>

#include <rte_cycles.h>

#include "fwd.h"

#define FORWARD_LINE "----------------------"
#define SUM_LINE     "+++++++++++++++"
#define PORT_LINE    "########################"

/* The port's counters; zeros, and a message, if it has none. */
static void
port_counters(const struct fwd_port *port, struct rte_eth_stats *stats)
{
	const int ret = rte_eth_stats_get(port->id, stats);

	if (ret != 0) {
		fwd_error("port %u: its counters are missing: %s", port->id, strerror(-ret));
		memset(stats, 0, sizeof(*stats));
	}
}

/* Forwarding starts: from here the counters count. */
void
fwd_stats_reset(struct fwd_app *app)
{
	for (unsigned int i = 0; i < app->nb_ports; i++) {
		struct fwd_port *port = &app->ports[i];

		port_counters(port, &port->base);
		port->shown = port->base;
		port->shown_tsc = rte_rdtsc();
	}
	for (unsigned int i = 0; i < app->nb_streams; i++) {
		app->streams[i].rx_packets = 0;
		app->streams[i].tx_packets = 0;
		app->streams[i].dropped = 0;
	}
}

static void
show_stream(const struct fwd_stream *s)
{
	printf("\n  ------- Forward Stats for RX Port=%2u/Queue=%2u -> TX Port=%2u/Queue=%2u "
	       "-------\n",
		s->rx_port, s->rx_queue, s->tx_port, s->tx_queue);
	printf("  RX-packets: %-14" PRIu64 " TX-packets: %-14" PRIu64 " TX-dropped: %-14" PRIu64
	       "\n",
		s->rx_packets, s->tx_packets, s->dropped);
}

/* Packets that were to be sent on the port and were not. */
static uint64_t
dropped_on(const struct fwd_app *app, uint16_t port)
{
	uint64_t dropped = 0;

	for (unsigned int i = 0; i < app->nb_streams; i++) {
		if (app->streams[i].tx_port == port)
			dropped += app->streams[i].dropped;
	}
	return dropped;
}

struct totals {
	uint64_t rx, rx_dropped, tx, tx_dropped, no_mbuf;
};

static void
show_totals(const struct totals *t)
{
	printf("  RX-packets: %-14" PRIu64 " RX-dropped: %-14" PRIu64 "RX-total: %-" PRIu64 "\n",
		t->rx, t->rx_dropped, t->rx + t->rx_dropped);
	if (t->no_mbuf != 0)
		printf("  RX-nombufs: %-14" PRIu64 "\n", t->no_mbuf);
	printf("  TX-packets: %-14" PRIu64 " TX-dropped: %-14" PRIu64 "TX-total: %-" PRIu64 "\n",
		t->tx, t->tx_dropped, t->tx + t->tx_dropped);
}

static void
show_port(const struct fwd_app *app, const struct fwd_port *port, struct totals *sum)
{
	struct rte_eth_stats stats;
	struct totals t;

	port_counters(port, &stats);
	t.rx = stats.ipackets - port->base.ipackets;
	t.rx_dropped = stats.imissed - port->base.imissed;
	t.tx = stats.opackets - port->base.opackets;
	t.tx_dropped = stats.oerrors - port->base.oerrors + dropped_on(app, port->id);
	t.no_mbuf = stats.rx_nombuf - port->base.rx_nombuf;
	printf("\n  " FORWARD_LINE " Forward statistics for port %-2u " FORWARD_LINE "\n",
		port->id);
	show_totals(&t);
	printf("  " FORWARD_LINE "--------------------------------" FORWARD_LINE "\n");
	sum->rx += t.rx;
	sum->rx_dropped += t.rx_dropped;
	sum->tx += t.tx;
	sum->tx_dropped += t.tx_dropped;
	sum->no_mbuf += t.no_mbuf;
}

/* What was forwarded since fwd_stats_reset(), per stream if there are queues, per port, in all. */
void
fwd_stats_forward(struct fwd_app *app)
{
	struct totals sum;

	memset(&sum, 0, sizeof(sum));
	for (unsigned int i = 0; app->nb_streams > app->nb_ports && i < app->nb_streams; i++)
		show_stream(&app->streams[i]);
	for (unsigned int i = 0; i < app->nb_ports; i++)
		show_port(app, &app->ports[i], &sum);
	printf("\n  " SUM_LINE " Accumulated forward statistics for all ports" SUM_LINE "\n");
	show_totals(&sum);
	printf("  " SUM_LINE "++++++++++++++++++++++++++++++++++++++++++++++" SUM_LINE "\n");
}

static uint64_t
per_second(uint64_t count, uint64_t cycles)
{
	return cycles == 0 ? 0
			   : (uint64_t)((double)count * (double)rte_get_tsc_hz() / (double)cycles);
}

/* The ports' own counters, and their rates since they were last shown. */
void
fwd_stats_ports(struct fwd_app *app)
{
	for (unsigned int i = 0; i < app->nb_ports; i++) {
		struct fwd_port *port = &app->ports[i];
		const struct rte_eth_stats last = port->shown;
		const uint64_t now = rte_rdtsc();
		const uint64_t cycles = port->shown_tsc == 0 ? 0 : now - port->shown_tsc;
		struct rte_eth_stats stats;

		port_counters(port, &stats);
		printf("\n  " PORT_LINE " NIC statistics for port %-2u " PORT_LINE "\n", port->id);
		printf("  RX-packets: %-10" PRIu64 " RX-missed: %-10" PRIu64 " RX-bytes:  %-" PRIu64
		       "\n",
			stats.ipackets, stats.imissed, stats.ibytes);
		printf("  RX-errors: %-" PRIu64 "\n", stats.ierrors);
		printf("  RX-nombuf:  %-10" PRIu64 "\n", stats.rx_nombuf);
		printf("  TX-packets: %-10" PRIu64 " TX-errors: %-10" PRIu64 " TX-bytes:  %-" PRIu64
		       "\n",
			stats.opackets, stats.oerrors, stats.obytes);
		printf("\n  Throughput (since last show)\n");
		printf("  Rx-pps: %12" PRIu64 "          Rx-bps: %12" PRIu64 "\n",
			per_second(stats.ipackets - last.ipackets, cycles),
			per_second(8 * (stats.ibytes - last.ibytes), cycles));
		printf("  Tx-pps: %12" PRIu64 "          Tx-bps: %12" PRIu64 "\n",
			per_second(stats.opackets - last.opackets, cycles),
			per_second(8 * (stats.obytes - last.obytes), cycles));
		printf("  " PORT_LINE "############################" PORT_LINE "\n");
		port->shown = stats;
		port->shown_tsc = now;
	}
}
