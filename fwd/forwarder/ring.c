/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * net_ring ports for forwarding without a device. What is received on a port's queue and sent on
 * the port it is forwarded to comes back to where it was received: each ring is a circle of its
 * own, so every burst is full, however many lcores forward and however unevenly they run. The rings
 * are filled with 64-byte IPv4/UDP frames of many flows, and can be checked in the end.
 *
 * Addresses are those that RFC 2544 sets apart for such tests, 198.18.0.0/15.
 */
#include <stdlib.h>
#include <string.h>

#include <rte_byteorder.h>
#include <rte_errno.h>
#include <rte_eth_ring.h>
#include <rte_malloc.h>
#include <rte_ring.h>

#include "fwd.h"

#define DEFAULT_FRAMES 512 /* a queue, as many as ethdev's default of descriptors */
#define MIN_FRAMES     256 /* a queue, so that even a single one sees many flows */
#define TTL	       64

static const char magic[8] = {'m', 'p', 'p', 's', 'd', 'i', 'f', 'f'};

/* The frame as it is in memory; 60 bytes, and the checksum (FCS) is not stored. */
struct frame {
	struct rte_ether_hdr ether;
	struct rte_ipv4_hdr ip;
	struct rte_udp_hdr udp;
	struct {
		char magic[sizeof(magic)];
		rte_be16_t port; /* the port whose Rx ring it started in */
		rte_be32_t flow;
		uint8_t zero[4];
	} __attribute__((packed)) data;
};

_Static_assert(sizeof(struct frame) == FWD_FRAME_BYTES, "the frame has to be 64 bytes on the wire");

/* What has become of the frames. */
struct tally {
	uint32_t frames;
	uint32_t mac_original, mac_swapped, mac_set;
	uint32_t tuple_original, tuple_swapped;
	uint32_t damaged; /* something else changed, or an address or port is neither */
	uint32_t flags_cleared, l2_l3_set, l4_set;
	uint32_t distinct;
};

static struct rte_ring **rings; /* one per port and Rx queue, the Rx one */
static unsigned int nb_rings;

/* Frames a queue starts with: enough for full bursts, and a footprint like a device's Rx ring. */
uint32_t
fwd_ring_frames(const struct fwd_options *opt)
{
	uint32_t frames = opt->rxd != 0 ? opt->rxd : DEFAULT_FRAMES;

	frames = RTE_MAX(frames, 2 * opt->burst);
	return RTE_MAX(frames, (uint32_t)MIN_FRAMES);
}

static struct rte_ring *
ring_of(const struct fwd_options *opt, unsigned int port, unsigned int queue)
{
	return rings[port * opt->rxq + queue];
}

/* The port that is forwarded to port TX. Every topology is a permutation: there is just one. */
static unsigned int
port_before(const struct fwd_options *opt, unsigned int tx)
{
	unsigned int port = 0;

	while (fwd_topology_tx(opt->topology, port, opt->ring_ports) != tx)
		port++;
	return port;
}

/* The one stream that receives from a ring also fills it: single consumer, single producer. */
static int
create_rings(const struct fwd_options *opt)
{
	const uint32_t frames = fwd_ring_frames(opt);
	char name[RTE_RING_NAMESIZE];

	rings = calloc((size_t)opt->ring_ports * opt->rxq, sizeof(struct rte_ring *));
	if (rings == NULL) {
		fwd_error("no memory for the rings");
		return FWD_FAILED;
	}
	for (unsigned int port = 0; port < opt->ring_ports; port++) {
		const uint32_t socket = fwd_port_socket(opt, port, -1);

		for (unsigned int queue = 0; queue < opt->rxq; queue++) {
			snprintf(name, sizeof(name), "fwd_%u_%u", port, queue);
			rings[nb_rings] = rte_ring_create(name, rte_align32pow2(frames + 1),
				(int)socket, RING_F_SP_ENQ | RING_F_SC_DEQ);
			if (rings[nb_rings] == NULL) {
				fwd_error("no memory for a ring of %u packets: %s", frames,
					rte_strerror(rte_errno));
				return FWD_FAILED;
			}
			nb_rings++;
		}
	}
	return FWD_OK;
}

static int
create_port(const struct fwd_options *opt, unsigned int port)
{
	struct rte_ring *rx[RTE_PMD_RING_MAX_RX_RINGS], *tx[RTE_PMD_RING_MAX_TX_RINGS];
	const unsigned int from = port_before(opt, port);
	char name[16];

	for (unsigned int queue = 0; queue < opt->rxq; queue++)
		rx[queue] = ring_of(opt, port, queue);
	/* A Tx queue without a counterpart never sends; any ring will do. */
	for (unsigned int queue = 0; queue < opt->txq; queue++)
		tx[queue] = ring_of(opt, from, RTE_MIN(queue, opt->rxq - 1));
	snprintf(name, sizeof(name), "fwd%u", port);
	if (rte_eth_from_rings(name, rx, opt->rxq, tx, opt->txq, fwd_port_socket(opt, port, -1)) <
		0) {
		fwd_error("net_ring port %u cannot be made: %s", port, rte_strerror(rte_errno));
		return FWD_FAILED;
	}
	return FWD_OK;
}

/* Makes the ports of --ring-ports, which have to be the only ones. */
int
fwd_rings_create(struct fwd_app *app)
{
	const struct fwd_options *opt = &app->opt;
	int ret;

	if (rte_eth_dev_count_avail() != 0) {
		fwd_error("--ring-ports cannot be combined with other ports; leave out one of "
			  "them");
		return FWD_USAGE;
	}
	if (opt->rxq > RTE_PMD_RING_MAX_RX_RINGS || opt->txq > RTE_PMD_RING_MAX_TX_RINGS) {
		fwd_error("a net_ring port has at most %d Rx and %d Tx queues; lower --rxq and "
			  "--txq",
			RTE_PMD_RING_MAX_RX_RINGS, RTE_PMD_RING_MAX_TX_RINGS);
		return FWD_USAGE;
	}
	ret = create_rings(opt);
	for (unsigned int port = 0; ret == FWD_OK && port < opt->ring_ports; port++)
		ret = create_port(opt, port);
	return ret;
}

/* After the ports are closed: frees the rings. */
void
fwd_rings_free(void)
{
	while (nb_rings > 0)
		rte_ring_free(rings[--nb_rings]);
	free(rings);
	rings = NULL;
}

/* The internet checksum (RFC 1071) of an even number of bytes, added to SUM, not yet folded. */
static uint32_t
checksum_add(uint32_t sum, const void *data, size_t bytes)
{
	const uint8_t *p = data;

	for (size_t i = 0; i < bytes; i += 2)
		sum += (uint32_t)p[i] << 8 | p[i + 1];
	return sum;
}

static rte_be16_t
checksum_end(uint32_t sum)
{
	while (sum >> 16 != 0)
		sum = (sum & 0xffff) + (sum >> 16);
	return rte_cpu_to_be_16((uint16_t)~sum);
}

static void
set_checksums(struct frame *frame)
{
	const size_t udp_bytes = sizeof(frame->udp) + sizeof(frame->data);
	uint32_t sum;

	frame->ip.hdr_checksum = checksum_end(checksum_add(0, &frame->ip, sizeof(frame->ip)));
	/* The pseudo header: both addresses, the protocol and the length. */
	sum = checksum_add(0, &frame->ip.src_addr, 2 * sizeof(frame->ip.src_addr));
	sum += IPPROTO_UDP + (uint32_t)udp_bytes;
	sum = checksum_add(sum, &frame->udp, udp_bytes);
	frame->udp.dgram_cksum = checksum_end(sum);
	if (frame->udp.dgram_cksum == 0) /* 0 would mean "no checksum" */
		frame->udp.dgram_cksum = 0xffff;
}

/*
 * Writes the frame of a flow (any number) that starts at PORT. 65536 flows differ in their
 * addresses; the odd multipliers only stir the bits, for the ports and for RSS.
 */
static void
build_frame(struct frame *frame, uint16_t port, uint32_t flow)
{
	const uint8_t src_mac[RTE_ETHER_ADDR_LEN] = {0x02, 0xf0, 0, 0, port >> 8, port & 0xff};
	const uint8_t dst_mac[RTE_ETHER_ADDR_LEN] = {0x02, 0xf1, 0, 0, port >> 8, port & 0xff};
	const uint32_t stirred = flow * 2654435761u;

	memset(frame, 0, sizeof(*frame));
	memcpy(FWD_ETHER_SRC(&frame->ether), src_mac, sizeof(src_mac));
	memcpy(FWD_ETHER_DST(&frame->ether), dst_mac, sizeof(dst_mac));
	frame->ether.ether_type = rte_cpu_to_be_16(RTE_ETHER_TYPE_IPV4);
	frame->ip.version_ihl = 0x45;
	frame->ip.total_length = rte_cpu_to_be_16(sizeof(*frame) - sizeof(frame->ether));
	frame->ip.packet_id = rte_cpu_to_be_16(flow & 0xffff);
	frame->ip.time_to_live = TTL;
	frame->ip.next_proto_id = IPPROTO_UDP;
	frame->ip.src_addr = rte_cpu_to_be_32(198u << 24 | 18u << 16 | (flow & 0xffff));
	frame->ip.dst_addr = rte_cpu_to_be_32(198u << 24 | 19u << 16 | (flow * 40503u & 0xffff));
	frame->udp.src_port = rte_cpu_to_be_16((uint16_t)(1024 + (stirred >> 16) % 64000));
	frame->udp.dst_port = rte_cpu_to_be_16((uint16_t)(1024 + (stirred & 0xffff) % 64000));
	frame->udp.dgram_len = rte_cpu_to_be_16(sizeof(frame->udp) + sizeof(frame->data));
	memcpy(frame->data.magic, magic, sizeof(magic));
	frame->data.port = rte_cpu_to_be_16(port);
	frame->data.flow = rte_cpu_to_be_32(flow);
	set_checksums(frame);
}

static int
fill_ring(struct rte_ring *ring, struct rte_mempool *pool, uint16_t port, uint32_t flow,
	uint32_t frames)
{
	for (uint32_t i = 0; i < frames; i++, flow++) {
		struct rte_mbuf *mbuf = rte_pktmbuf_alloc(pool);
		char *data = mbuf != NULL ? rte_pktmbuf_append(mbuf, FWD_FRAME_BYTES) : NULL;
		struct frame frame;

		if (data == NULL || rte_ring_enqueue(ring, mbuf) != 0) {
			fwd_error("ring %s cannot be filled with %u frames", ring->name, frames);
			rte_pktmbuf_free(mbuf); /* NULL is fine */
			return FWD_FAILED;
		}
		build_frame(&frame, port, flow);
		memcpy(data, &frame, sizeof(frame));
		/* As a device would leave it; engines that rewrite packets clear this. */
		mbuf->port = port;
		mbuf->hash.rss = flow;
		mbuf->ol_flags = RTE_MBUF_F_RX_RSS_HASH;
	}
	return FWD_OK;
}

/* Fills the rings; each frame is a flow of its own. */
int
fwd_rings_fill(struct fwd_app *app)
{
	const struct fwd_options *opt = &app->opt;
	const uint32_t frames = fwd_ring_frames(opt);
	uint32_t flow = 0;
	int ret = FWD_OK;

	for (unsigned int port = 0; port < opt->ring_ports; port++) {
		for (unsigned int queue = 0; ret == FWD_OK && queue < opt->rxq; queue++) {
			ret = fill_ring(ring_of(opt, port, queue), app->ports[port].pool,
				(uint16_t)port, flow, frames);
			flow += frames;
		}
	}
	return ret;
}

/* Whether some port's Tx with its peer could have put these addresses there (engine mac). */
static bool
addresses_of_port(const struct fwd_app *app, const struct frame *frame)
{
	for (unsigned int i = 0; i < app->nb_streams; i++) {
		const struct fwd_stream *stream = &app->streams[i];

		if (memcmp(FWD_ETHER_SRC(&frame->ether), &stream->src, RTE_ETHER_ADDR_LEN) == 0 &&
			memcmp(FWD_ETHER_DST(&frame->ether), &stream->dst, RTE_ETHER_ADDR_LEN) == 0)
			return true;
	}
	return false;
}

static void
tally_mac(const struct fwd_app *app, struct tally *tally, const struct frame *frame,
	const struct frame *original)
{
	if (memcmp(&frame->ether, &original->ether, 2 * RTE_ETHER_ADDR_LEN) == 0)
		tally->mac_original++;
	else if (memcmp(FWD_ETHER_SRC(&frame->ether), FWD_ETHER_DST(&original->ether),
			 RTE_ETHER_ADDR_LEN) == 0 &&
		 memcmp(FWD_ETHER_DST(&frame->ether), FWD_ETHER_SRC(&original->ether),
			 RTE_ETHER_ADDR_LEN) == 0)
		tally->mac_swapped++;
	else if (addresses_of_port(app, frame))
		tally->mac_set++;
	else
		tally->damaged++;
}

static void
tally_tuple(struct tally *tally, const struct frame *frame, const struct frame *original)
{
	const size_t skip = 2 * RTE_ETHER_ADDR_LEN;
	struct frame swapped = *original;

	swapped.ip.src_addr = original->ip.dst_addr;
	swapped.ip.dst_addr = original->ip.src_addr;
	swapped.udp.src_port = original->udp.dst_port;
	swapped.udp.dst_port = original->udp.src_port;
	if (memcmp((const char *)frame + skip, (const char *)original + skip,
		    sizeof(*frame) - skip) == 0)
		tally->tuple_original++;
	else if (memcmp((const char *)frame + skip, (const char *)&swapped + skip,
			 sizeof(*frame) - skip) == 0)
		tally->tuple_swapped++;
	else
		tally->damaged++;
}

/* Counts one packet; SEEN has a byte for each of the FLOWS flows. */
static void
tally_packet(const struct fwd_app *app, struct tally *tally, const struct rte_mbuf *mbuf,
	uint8_t *seen, uint32_t flows)
{
	struct frame frame, original;
	uint32_t flow;

	tally->frames++;
	tally->flags_cleared += mbuf->ol_flags == 0;
	tally->l2_l3_set += mbuf->l2_len == sizeof(struct rte_ether_hdr) &&
			    mbuf->l3_len == sizeof(struct rte_ipv4_hdr);
	tally->l4_set += mbuf->l4_len == sizeof(struct rte_udp_hdr);
	memcpy(&frame, rte_pktmbuf_mtod(mbuf, const void *), sizeof(frame));
	flow = rte_be_to_cpu_32(frame.data.flow);
	if (rte_pktmbuf_data_len(mbuf) != FWD_FRAME_BYTES || flow >= flows) {
		tally->damaged++;
		return;
	}
	tally->distinct += seen[flow] == 0;
	seen[flow] = 1;
	build_frame(&original, rte_be_to_cpu_16(frame.data.port), flow);
	tally_mac(app, tally, &frame, &original);
	tally_tuple(tally, &frame, &original);
}

static void
show_frame(FILE *out, unsigned int port, unsigned int queue, const struct rte_mbuf *mbuf)
{
	const uint8_t *data = rte_pktmbuf_mtod(mbuf, const uint8_t *);

	fprintf(out, "frame port=%u queue=%u hex=", port, queue);
	for (unsigned int i = 0; i < FWD_FRAME_BYTES; i++)
		fprintf(out, "%02x", data[i]);
	fputc('\n', out);
}

/*
 * --verify, when nothing forwards any more: empties the rings, writes each ring's first frame in
 * hex and one line that says how many frames are there, and what was done to them.
 */
int
fwd_rings_verify(struct fwd_app *app, FILE *out)
{
	const struct fwd_options *opt = &app->opt;
	const uint32_t flows = nb_rings * fwd_ring_frames(opt);
	struct tally t;
	uint8_t *seen;
	void *mbuf;

	memset(&t, 0, sizeof(t));
	seen = calloc(flows, sizeof(*seen));
	if (seen == NULL) {
		fwd_error("no memory to verify %u frames", flows);
		return FWD_FAILED;
	}
	for (unsigned int i = 0; i < nb_rings; i++) {
		for (bool first = true; rte_ring_dequeue(rings[i], &mbuf) == 0; first = false) {
			if (first)
				show_frame(out, i / opt->rxq, i % opt->rxq, mbuf);
			tally_packet(app, &t, mbuf, seen, flows);
			rte_pktmbuf_free(mbuf);
		}
	}
	free(seen);
	fprintf(out,
		"verify frames=%u lost=%u mac_original=%u mac_swapped=%u mac_set=%u "
		"tuple_original=%u tuple_swapped=%u damaged=%u flags_cleared=%u l2_l3_set=%u "
		"l4_set=%u\n",
		t.frames, flows - t.distinct, t.mac_original, t.mac_swapped, t.mac_set,
		t.tuple_original, t.tuple_swapped, t.damaged, t.flags_cleared, t.l2_l3_set,
		t.l4_set);
	return FWD_OK;
}
