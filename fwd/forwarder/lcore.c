/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Streams, how the lcores share them, and the forwarding loops.
 *
 * A slice is W untimed and then N timed iterations over an lcore's streams. Between slices the
 * forwarding lcores sleep in the EAL's own wait for work, and during a slice the main lcore sleeps
 * as well: it shares its CPU with the control of other processes.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* RTLD_DEFAULT */
#endif
#include <dlfcn.h>
#include <errno.h>
#include <sched.h>
#include <semaphore.h>
#include <stdlib.h>
#include <string.h>

#include <rte_cycles.h>
#include <rte_launch.h>
#include <rte_pause.h>

#include "fwd.h"

#define PEER_FIRST_BYTE	  0x02 /* testpmd's peers are 02:00:00:00:00:PORT */
#define SPINS_BEFORE_WAIT 1000 /* at the barrier, before giving the CPU to whom it waits for */

static sem_t slice_done; /* posted by each forwarding lcore at the end of a slice */

/* The port, as an index, that what is received on port RX is sent to; a permutation. */
unsigned int
fwd_topology_tx(enum fwd_topology topology, unsigned int rx, unsigned int ports)
{
	switch (topology) {
	case FWD_CHAINED:
		return (rx + 1) % ports;
	case FWD_LOOP:
		return rx;
	case FWD_PAIRED:
	default:
		if (rx % 2 == 1)
			return rx - 1;
		return rx + 1 < ports ? rx + 1 : rx;
	}
}

static uint64_t
offload_flags(uint64_t tx_offloads)
{
	uint64_t flags = 0;

	if (tx_offloads & RTE_ETH_TX_OFFLOAD_VLAN_INSERT)
		flags |= RTE_MBUF_F_TX_VLAN;
	if (tx_offloads & RTE_ETH_TX_OFFLOAD_QINQ_INSERT)
		flags |= RTE_MBUF_F_TX_QINQ;
	if (tx_offloads & RTE_ETH_TX_OFFLOAD_MACSEC_INSERT)
		flags |= RTE_MBUF_F_TX_MACSEC;
	return flags;
}

static void
set_stream(struct fwd_app *app, struct fwd_stream *stream, unsigned int rx, uint16_t queue)
{
	const unsigned int tx = fwd_topology_tx(app->opt.topology, rx, app->nb_ports);
	const struct fwd_port *port = &app->ports[tx];

	memset(stream, 0, sizeof(*stream));
	stream->rx_port = app->ports[rx].id;
	stream->rx_queue = queue;
	stream->tx_port = port->id;
	stream->tx_queue = queue;
	stream->burst = (uint16_t)app->opt.burst;
	stream->ol_flags = offload_flags(port->tx_offloads);
	stream->src = port->mac;
	stream->dst.addr_bytes[0] = PEER_FIRST_BYTE;
	stream->dst.addr_bytes[5] = (uint8_t)port->id;
}

/* Queue by queue, and for each queue port by port, as testpmd numbers its streams. */
static int
create_streams(struct fwd_app *app)
{
	const unsigned int queues = RTE_MIN(app->opt.rxq, app->opt.txq);
	struct fwd_stream *stream;

	app->nb_streams = queues * app->nb_ports;
	app->streams = aligned_alloc(RTE_CACHE_LINE_SIZE, app->nb_streams * sizeof(*stream));
	if (app->streams == NULL) {
		fwd_error("no memory for %u streams", app->nb_streams);
		return FWD_FAILED;
	}
	stream = app->streams;
	for (uint16_t queue = 0; queue < queues; queue++) {
		for (unsigned int port = 0; port < app->nb_ports; port++)
			set_stream(app, stream++, port, queue);
	}
	if (app->opt.topology == FWD_PAIRED && app->nb_ports % 2 == 1)
		fwd_error("an odd number of ports is not paired; the last one pairs with itself");
	return FWD_OK;
}

/*
 * Iterations a step of the software NIC prepares for each stream: as many as half of the smallest
 * ring takes, so that the timed parts are long and no ring runs full or empty.
 */
static uint32_t
step_batch(const struct fwd_app *app)
{
	uint32_t smallest = UINT32_MAX;

	for (unsigned int i = 0; i < app->nb_ports; i++) {
		smallest = RTE_MIN(smallest, app->ports[i].rx_mbufs);
		smallest = RTE_MIN(smallest, app->ports[i].tx_mbufs);
	}
	return RTE_MAX(smallest / 2 / app->opt.burst, 1u);
}

/* The software NIC's step if its library is preloaded and wants to be called, else NULL. */
static fwd_step_fn *
find_step(void)
{
	void *inline_symbol = dlsym(RTLD_DEFAULT, "softnic_inline");
	void *step_symbol = dlsym(RTLD_DEFAULT, "softnic_step");
	int (*is_inline)(void);
	fwd_step_fn *step;

	if (inline_symbol == NULL || step_symbol == NULL)
		return NULL;
	/* POSIX lets an object pointer hold a function's address, C does not say so. */
	memcpy(&is_inline, &inline_symbol, sizeof(is_inline));
	memcpy(&step, &step_symbol, sizeof(step));
	return is_inline() != 0 ? step : NULL;
}

/* Shares the streams evenly; the last lcores take one more if it does not come out even. */
static int
create_lcores(struct fwd_app *app)
{
	const unsigned int wanted = RTE_MIN(app->opt.nb_cores, app->nb_streams);
	const unsigned int share = app->nb_streams / wanted;
	const unsigned int plain = wanted - app->nb_streams % wanted;
	struct fwd_stream *next = app->streams;
	unsigned int id;

	app->lcores = aligned_alloc(RTE_CACHE_LINE_SIZE, wanted * sizeof(*app->lcores));
	if (app->lcores == NULL) {
		fwd_error("no memory for %u lcores", wanted);
		return FWD_FAILED;
	}
	memset(app->lcores, 0, wanted * sizeof(*app->lcores));
	if (app->main_forwards) {
		app->lcores[app->nb_lcores++].id = rte_get_main_lcore();
	} else {
		RTE_LCORE_FOREACH_WORKER (id) {
			if (app->nb_lcores < wanted)
				app->lcores[app->nb_lcores++].id = id;
		}
	}
	for (unsigned int i = 0; i < wanted; i++) {
		struct fwd_lcore *lcore = &app->lcores[i];

		lcore->first = next;
		next += share + (i >= plain);
		lcore->end = next;
		lcore->forward = app->opt.engine->forward;
		lcore->app = app;
		lcore->batch = step_batch(app);
	}
	return FWD_OK;
}

/* Checks the number of lcores and sets up streams and lcores. */
int
fwd_streams_create(struct fwd_app *app)
{
	int ret;

	app->step = find_step();
	if (sem_init(&slice_done, 0, 0) != 0) {
		fwd_error("no semaphore: %s", strerror(errno));
		return FWD_FAILED;
	}
	ret = create_streams(app);
	if (ret != FWD_OK)
		return ret;
	return create_lcores(app);
}

void
fwd_streams_free(struct fwd_app *app)
{
	free(app->lcores);
	free(app->streams);
	app->lcores = NULL;
	app->streams = NULL;
}

static unsigned int
socket_of(const struct fwd_app *app, uint16_t id)
{
	unsigned int i = 0;

	while (app->ports[i].id != id)
		i++;
	return app->ports[i].socket;
}

/* testpmd's account of who forwards what. */
void
fwd_streams_show(const struct fwd_app *app, FILE *out)
{
	fprintf(out, "%s packet forwarding - ports=%u - cores=%u - streams=%u\n",
		app->opt.engine->name, app->nb_ports, app->nb_lcores, app->nb_streams);
	for (unsigned int i = 0; i < app->nb_lcores; i++) {
		const struct fwd_lcore *lcore = &app->lcores[i];

		fprintf(out, "Logical Core %u (socket %u) forwards packets on %u streams:\n",
			lcore->id, rte_lcore_to_socket_id(lcore->id),
			(unsigned int)(lcore->end - lcore->first));
		for (const struct fwd_stream *s = lcore->first; s < lcore->end; s++)
			fprintf(out,
				"  RX P=%u/Q=%u (socket %u) -> TX P=%u/Q=%u (socket %u) "
				"peer=%02X:00:00:00:00:%02X\n",
				s->rx_port, s->rx_queue, socket_of(app, s->rx_port), s->tx_port,
				s->tx_queue, socket_of(app, s->tx_port), s->dst.addr_bytes[0],
				s->dst.addr_bytes[5]);
	}
	fprintf(out, "  %s packet forwarding packets/burst=%u, port topology %s\n",
		app->opt.engine->name, app->opt.burst, fwd_topology_name(app->opt.topology));
}

/*
 * The two marks around the timed iterations, for a tracer to put breakpoints on. They are called
 * once per slice; with a software NIC, which works between the timed parts, once per part.
 */
__attribute__((noinline, used)) void
fwd_timed_begin(void)
{
	__asm__ volatile("" ::: "memory");
}

__attribute__((noinline, used)) void
fwd_timed_end(void)
{
	__asm__ volatile("" ::: "memory");
}

/*
 * The measured loop. Not inlined, so that warm-up and timed iterations run the very same code and
 * both see the same branch history.
 */
static __attribute__((noinline)) void
forward(const struct fwd_lcore *lcore, uint64_t iterations)
{
	struct fwd_stream *const first = lcore->first, *const end = lcore->end;
	void (*const forward_burst)(struct fwd_stream *) = lcore->forward;

	for (; iterations > 0; iterations--) {
		for (struct fwd_stream *stream = first; stream < end; stream++)
			forward_burst(stream);
	}
}

static uint64_t
forward_timed(const struct fwd_lcore *lcore, uint64_t iterations)
{
	uint64_t begin, end;

	fwd_timed_begin();
	begin = rte_rdtsc_precise();
	forward(lcore, iterations);
	end = rte_rdtsc_precise();
	fwd_timed_end();
	return end - begin;
}

/* Waits until all forwarding lcores have come here, so that they run their parts side by side. */
static void
barrier(struct fwd_app *app)
{
	const unsigned int all = app->nb_lcores;
	const uint64_t turn = atomic_fetch_add(&app->arrived, 1) / all;

	for (unsigned int spins = 0; atomic_load(&app->arrived) / all == turn; spins++) {
		if (spins < SPINS_BEFORE_WAIT)
			rte_pause();
		else
			sched_yield();
	}
}

/* The software NIC's turn: sends what was given to it and has BATCH bursts ready per stream. */
static void
step_devices(const struct fwd_lcore *lcore, uint64_t batch)
{
	for (const struct fwd_stream *stream = lcore->first; stream < lcore->end; stream++)
		lcore->app->step(
			stream->rx_port, stream->rx_queue, (unsigned int)(batch * stream->burst));
}

/*
 * With a software NIC: its steps and the forwarding by turns; only the forwarding is timed. In a
 * slice the lcores take these turns together, because what one sends is taken off the ring by the
 * lcore that steps that port and queue.
 */
static uint64_t
forward_stepped(const struct fwd_lcore *lcore, uint64_t iterations, bool timed)
{
	uint64_t cycles = 0, batch;

	for (; iterations > 0; iterations -= batch) {
		batch = RTE_MIN(iterations, lcore->batch);
		step_devices(lcore, batch);
		if (!lcore->app->forwarding)
			barrier(lcore->app);
		if (timed)
			cycles += forward_timed(lcore, batch);
		else
			forward(lcore, batch);
		if (!lcore->app->forwarding)
			barrier(lcore->app);
	}
	return cycles;
}

/* Forwards without taking the time. */
void
fwd_iterate(struct fwd_lcore *lcore, uint64_t iterations)
{
	if (lcore->app->step != NULL)
		forward_stepped(lcore, iterations, false);
	else
		forward(lcore, iterations);
}

static void
sum_streams(const struct fwd_lcore *lcore, uint64_t *packets, uint64_t *dropped)
{
	*packets = 0;
	*dropped = 0;
	for (const struct fwd_stream *stream = lcore->first; stream < lcore->end; stream++) {
		*packets += stream->rx_packets;
		*dropped += stream->dropped;
	}
}

static void
run_orders(struct fwd_lcore *lcore)
{
	uint64_t packets, dropped;

	barrier(lcore->app);
	fwd_iterate(lcore, lcore->warmup);
	barrier(lcore->app);
	sum_streams(lcore, &packets, &dropped);
	if (lcore->app->step != NULL)
		lcore->cycles = forward_stepped(lcore, lcore->iterations, true);
	else
		lcore->cycles = forward_timed(lcore, lcore->iterations);
	sum_streams(lcore, &lcore->packets, &lcore->dropped);
	lcore->packets -= packets;
	lcore->dropped -= dropped;
}

static int
slice_on_worker(void *argument)
{
	run_orders(argument);
	return sem_post(&slice_done);
}

static int
wait_for_slice(const struct fwd_app *app)
{
	for (unsigned int i = 0; i < app->nb_lcores; i++) {
		while (sem_wait(&slice_done) != 0) {
			if (errno != EINTR) {
				fwd_error("waiting for lcores failed: %s", strerror(errno));
				return FWD_FAILED;
			}
		}
	}
	for (unsigned int i = 0; i < app->nb_lcores; i++)
		rte_eal_wait_lcore(app->lcores[i].id); /* they have all but returned */
	return FWD_OK;
}

/* Runs a slice on all forwarding lcores; their results are in app->lcores. */
int
fwd_run_slice(struct fwd_app *app, uint64_t iterations, uint64_t warmup)
{
	int ret;

	for (unsigned int i = 0; i < app->nb_lcores; i++) {
		app->lcores[i].iterations = iterations;
		app->lcores[i].warmup = warmup;
	}
	if (app->main_forwards) {
		run_orders(&app->lcores[0]);
		return FWD_OK;
	}
	for (unsigned int i = 0; i < app->nb_lcores; i++) {
		ret = rte_eal_remote_launch(slice_on_worker, &app->lcores[i], app->lcores[i].id);
		if (ret != 0) {
			fwd_error("lcore %u cannot be started: %s", app->lcores[i].id,
				strerror(-ret));
			return FWD_FAILED;
		}
	}
	return wait_for_slice(app);
}

static int
forward_on_worker(void *argument)
{
	struct fwd_lcore *lcore = argument;

	while (!atomic_load_explicit(&lcore->app->stop, memory_order_relaxed))
		fwd_iterate(lcore, lcore->batch);
	return 0;
}

/* Starts continuous forwarding. A forwarding main lcore has to call fwd_iterate() itself. */
int
fwd_start(struct fwd_app *app)
{
	int ret;

	atomic_store(&app->stop, false);
	fwd_stats_reset(app);
	app->forwarding = true;
	for (unsigned int i = 0; !app->main_forwards && i < app->nb_lcores; i++) {
		ret = rte_eal_remote_launch(forward_on_worker, &app->lcores[i], app->lcores[i].id);
		if (ret != 0) {
			fwd_error("lcore %u cannot be started: %s", app->lcores[i].id,
				strerror(-ret));
			fwd_stop(app);
			return FWD_FAILED;
		}
	}
	return FWD_OK;
}

void
fwd_stop(struct fwd_app *app)
{
	atomic_store(&app->stop, true);
	for (unsigned int i = 0; !app->main_forwards && i < app->nb_lcores; i++)
		rte_eal_wait_lcore(app->lcores[i].id);
	app->forwarding = false;
}
