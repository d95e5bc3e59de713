/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The traffic of the report: IPv4/UDP, 64 bytes on the wire, many flows. Each port builds its
 * flows once, addressed to its own MAC; whenever rules or queues change, the device's steering
 * and RSS sort them into one bucket a queue, and the data path only walks its bucket.
 */
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "softnic.h"

enum {
	ETH_LEN = 14,
	IP = ETH_LEN,
	IP_LEN = FRAME_LEN - ETH_LEN,
	UDP = IP + 20,
	UDP_LEN = IP_LEN - 20,
	PROTOCOL_UDP = 17,
};

static void
put16(uint8_t *p, unsigned v)
{
	p[0] = v >> 8;
	p[1] = v & 0xff;
}

static void
put32(uint8_t *p, uint32_t v)
{
	put16(p, v >> 16);
	put16(p + 2, v & 0xffff);
}

/* One's complement sum of LEN (even) bytes on top of SUM, not folded. */
static uint32_t
sum16(uint32_t sum, const uint8_t *p, unsigned len)
{
	unsigned i;

	for (i = 0; i < len; i += 2)
		sum += (uint32_t)p[i] << 8 | p[i + 1];
	return sum;
}

static unsigned
fold(uint32_t sum)
{
	while (sum >> 16)
		sum = (sum & 0xffff) + (sum >> 16);
	return ~sum & 0xffff;
}

/* Ethernet's frame check sequence as it goes over the wire, first byte lowest. */
uint32_t
frame_fcs(const uint8_t *frame, size_t len)
{
	uint32_t crc = ~0u;
	size_t i;
	int bit;

	for (i = 0; i < len; i++) {
		crc ^= frame[i];
		for (bit = 0; bit < 8; bit++)
			crc = crc >> 1 ^ (crc & 1 ? 0xedb88320u : 0);
	}
	return ~crc;
}

/* splitmix64 (Steele, Lea, Flood 2014): one value a call, the same for the same seed. */
static uint64_t
next_random(uint64_t *state)
{
	uint64_t z = *state += 0x9e3779b97f4a7c15u;

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
	z = (z ^ z >> 27) * 0x94d049bb133111ebu;
	return z ^ z >> 31;
}

static void
fill_ethernet(const struct device *dev, uint8_t *frame)
{
	static const uint8_t generator[6] = {0x02, 0, 0x5e, 0, 0, 1};

	memcpy(frame, dev->mac, 6);
	memcpy(frame + 6, generator, 6);
	put16(frame + 12, 0x0800);
}

/* Addresses out of 198.18.0.0/15, the benchmarking network of RFC 2544. */
static void
fill_ip(uint8_t *frame, uint64_t random)
{
	uint8_t *ip = frame + IP;

	ip[0] = 0x45;
	put16(ip + 2, IP_LEN);
	ip[8] = 64;
	ip[9] = PROTOCOL_UDP;
	put32(ip + 12, 0xc6120000u | (random & 0xffff));
	put32(ip + 16, 0xc6130000u | (random >> 16 & 0xffff));
	put16(ip + 10, fold(sum16(0, ip, 20)));
}

static void
fill_udp(uint8_t *frame, uint64_t random)
{
	uint8_t *ip = frame + IP, *udp = frame + UDP;
	uint32_t sum = PROTOCOL_UDP + UDP_LEN;

	put16(udp, 1024 + (random >> 32 & 0x7fff));
	put16(udp + 2, 1024 + (random >> 48 & 0x7fff));
	put16(udp + 4, UDP_LEN);
	sum = sum16(sum, ip + 12, 8);
	put16(udp + 6, fold(sum16(sum, udp, UDP_LEN)));
}

/* The headers in the form in which flow rules match them (PRM, fte_match_set_lyr_2_4). */
static void
fill_fte(struct flow *flow)
{
	const uint8_t *frame = flow->frame;
	uint8_t *fte = flow->fte;

	memcpy(fte + PRM_FTE_SMAC, frame + 6, 6);
	memcpy(fte + PRM_FTE_ETHERTYPE, frame + 12, 2);
	memcpy(fte + PRM_FTE_DMAC, frame, 6);
	fte[PRM_FTE_IP_PROTOCOL] = PROTOCOL_UDP;
	fte[PRM_FTE_FLAGS] = 4 << PRM_FTE_IP_VERSION_SHIFT;
	fte[PRM_FTE_OK] = 5 << 4 | 0xf;
	fte[PRM_FTE_TTL] = frame[IP + 8];
	memcpy(fte + PRM_FTE_UDP_SPORT, frame + UDP, 4);
	memcpy(fte + PRM_FTE_SRC_IPV4, frame + IP + 12, 4);
	memcpy(fte + PRM_FTE_DST_IPV4, frame + IP + 16, 4);
}

/* Build the port's flows; returns 0 or ENOMEM. */
int
traffic_build(struct device *dev)
{
	uint64_t state = config.seed, random;
	uint32_t fcs;
	unsigned i;

	if (dev->flows != NULL)
		return 0;
	if (posix_memalign((void **)&dev->flows, 64, config.flows * sizeof(*dev->flows)) != 0)
		return ENOMEM;
	memset(dev->flows, 0, config.flows * sizeof(*dev->flows));
	for (i = 0; i < config.flows; i++) {
		random = next_random(&state);
		dev->flows[i].index = i;
		fill_ethernet(dev, dev->flows[i].frame);
		fill_ip(dev->flows[i].frame, random);
		fill_udp(dev->flows[i].frame, random);
		fcs = htole32(frame_fcs(dev->flows[i].frame, FRAME_LEN));
		memcpy(dev->flows[i].frame + FRAME_LEN, &fcs, sizeof(fcs));
		fill_fte(&dev->flows[i]);
	}
	return 0;
}

static void
bucket_add(struct rq *rq, const struct flow *flow, uint32_t hash, uint32_t tag)
{
	struct bucket_entry *entry;

	if (rq->bucket == NULL) {
		rq->bucket = calloc(config.flows, sizeof(*rq->bucket));
		if (rq->bucket == NULL)
			fatal("out of memory for the flows of a queue");
	}
	memcpy(rq->common, flow->frame, WIRE_LEN);
	entry = &rq->bucket[rq->bucket_count++];
	memcpy(entry->middle, flow->frame + FRAME_MIDDLE, FRAME_MIDDLE_LEN);
	entry->hash = htobe32(hash);
	entry->tag = htobe32(tag);
	entry->index = flow->index;
}

/* Put FLOW into the bucket of the queue that takes it; a flow that no rule takes is lost. */
static void
steer_flow(struct device *dev, const struct flow *flow)
{
	const struct rule *rule = steering_find(dev, flow->fte);
	const struct rss_table *table;
	struct rq *rq;
	uint32_t hash;

	if (rule == NULL || rule->verdict != VERDICT_QUEUE)
		return;
	table = rule->hash->table;
	hash = rss_of_flow(rule->hash, flow);
	rq = table->rq[hash & (table->size - 1)];
	trace("port %d flow %u: hash %#x queue %u", dev->port, flow->index, hash, rq->number);
	bucket_add(rq, flow, hash, rule->tag);
}

/* Sort the port's flows into its queues' buckets anew. */
void
traffic_steer(struct device *dev)
{
	static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
	unsigned i;

	pthread_mutex_lock(&lock);
	if (!atomic_load(&dev->steering_stale))
		goto out;
	for (i = 0; i < dev->rq_count; i++) {
		if (dev->rq[i] != NULL)
			dev->rq[i]->bucket_count = dev->rq[i]->bucket_pos = 0;
	}
	for (i = 0; i < config.flows; i++) {
		steer_flow(dev, &dev->flows[i]);
	}
	trace("port %d: flows steered to %u queues", dev->port, dev->rq_count);
	atomic_store(&dev->steering_stale, false);
out:
	pthread_mutex_unlock(&lock);
}
