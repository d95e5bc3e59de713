/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Verify mode. Every packet the device makes carries a stamp in its UDP payload: port, queue,
 * flow and sequence number, followed by their complements, so that checksums stay right. Every
 * packet it is given to send is compared with what was made: addresses inside their key's region,
 * length, all bytes (as they were, or changed as one of the forwarding modes changes them), order.
 * A missing number is a gap, to be compared with the forwarder's drops; anything else that is
 * wrong ends the process with one line.
 */
#include <string.h>

#include "softnic.h"

enum {
	STAMP = 42, /* offset in the frame */
	STAMP_WORDS = 4,
	GENERATIONS = 16,
	ADDRESS_AND_TYPE = 14,
	IP_SRC = 26,
	IP_DST = 30,
	UDP_SRC = 34,
	UDP_DST = 36,
};

/* How a forwarding mode changes a packet; in the order in which they are tried. */
enum form { FORM_IO, FORM_MACSWAP, FORM_5TSWAP, FORM_MAC, FORMS };
static const char *const form_names[FORMS] = {"io", "macswap", "5tswap", "mac"};

struct stream {
	unsigned generation;
	uint32_t made[GENERATIONS];
	uint32_t next[GENERATIONS]; /* number expected next on the way out */
	uint64_t all_made, forwarded, gaps;
};
static struct stream streams[MAX_PORTS][MAX_QUEUES];

static _Atomic uint64_t forms[FORMS], foreign;

struct stamp {
	unsigned port, queue, generation, flow;
	uint32_t sequence;
};

/* True once, when the packet counted by COUNTER is the one FAULT is to strike. */
static bool
strikes(enum fault_kind fault, uint64_t *counter)
{
	return config.fault == fault && (*counter)++ == config.fault_packet;
}

static void
put_word(uint8_t *frame, unsigned i, uint16_t value)
{
	uint16_t be = htobe16(value), complement = (uint16_t)~be;

	memcpy(frame + STAMP + 2 * i, &be, 2);
	memcpy(frame + STAMP + 2 * (STAMP_WORDS + i), &complement, 2);
}

static void
put_stamp(uint8_t *frame, const struct stamp *stamp)
{
	put_word(frame, 0, stamp->port << 12 | stamp->queue << 4 | stamp->generation);
	put_word(frame, 1, stamp->flow);
	put_word(frame, 2, stamp->sequence >> 16);
	put_word(frame, 3, stamp->sequence & 0xffff);
}

static bool
get_stamp(const uint8_t *frame, struct stamp *stamp)
{
	uint16_t word[STAMP_WORDS], complement;
	unsigned i;

	for (i = 0; i < STAMP_WORDS; i++) {
		memcpy(&word[i], frame + STAMP + 2 * i, 2);
		memcpy(&complement, frame + STAMP + 2 * (STAMP_WORDS + i), 2);
		if ((word[i] ^ complement) != 0xffff)
			return false;
		word[i] = be16toh(word[i]);
	}
	stamp->port = word[0] >> 12;
	stamp->queue = word[0] >> 4 & 0xff;
	stamp->generation = word[0] & 0xf;
	stamp->flow = word[1];
	stamp->sequence = (uint32_t)word[2] << 16 | word[3];
	return device_port(stamp->port) != NULL && stamp->flow < config.flows;
}

/* Write the next packet of RQ, a frame of FLOW with its stamp, to FRAME (WIRE_LEN bytes). */
void
verify_rx_stamp(struct rq *rq, const struct flow *flow, uint8_t *frame)
{
	struct stream *stream = &streams[rq->dev->port][rq->number];
	struct stamp stamp = {
		.port = (unsigned)rq->dev->port,
		.queue = rq->number,
		.generation = rq->generation,
		.flow = flow->index,
		.sequence = rq->sequence,
	};
	uint32_t fcs;

	memcpy(frame, flow->frame, FRAME_LEN);
	put_stamp(frame, &stamp);
	fcs = htole32(frame_fcs(frame, FRAME_LEN));
	memcpy(frame + FRAME_LEN, &fcs, sizeof(fcs));
	stream->made[rq->generation]++;
	stream->all_made++;
}

void
verify_rx_address(struct rq *rq, uint32_t lkey, uint64_t addr, uint32_t len)
{
	static uint64_t keys, addresses;

	if (strikes(FAULT_RX_LKEY, &keys))
		lkey ^= 0x5500;
	if (strikes(FAULT_RX_ADDRESS, &addresses))
		addr = 0xdead000;
	mr_check("rx", (unsigned)rq->dev->port, rq->number, rq->head, lkey, addr, len);
}

/* The queue starts over: packets of before may still come, so the numbers get a new mark. */
void
verify_rx_reset(struct rq *rq)
{
	struct stream *stream = &streams[rq->dev->port][rq->number];

	stream->generation = (stream->generation + 1) % GENERATIONS;
	stream->made[stream->generation] = 0;
	stream->next[stream->generation] = 0;
	rq->generation = stream->generation;
	rq->sequence = 0;
}

void
verify_tx_address(struct sq *sq, uint32_t lkey, uint64_t addr, uint32_t len)
{
	static uint64_t keys, addresses;

	if (strikes(FAULT_TX_LKEY, &keys))
		lkey ^= 0x5500;
	if (strikes(FAULT_TX_ADDRESS, &addresses))
		addr = 0xdead000;
	mr_check("tx", (unsigned)sq->dev->port, sq->number, sq->head, lkey, addr, len);
}

static void
swap_fields(uint8_t *a, uint8_t *b, unsigned len)
{
	uint8_t t[8];

	memcpy(t, a, len);
	memcpy(a, b, len);
	memcpy(b, t, len);
}

static void
apply_form(uint8_t *frame, enum form form, const uint8_t *sent)
{
	if (form == FORM_MACSWAP || form == FORM_5TSWAP)
		swap_fields(frame, frame + 6, 6);
	if (form == FORM_5TSWAP) {
		swap_fields(frame + IP_SRC, frame + IP_DST, 4);
		swap_fields(frame + UDP_SRC, frame + UDP_DST, 2);
	}
	if (form == FORM_MAC)
		memcpy(frame, sent, 12);
}

static void
check_bytes(const struct sq *sq, const struct stamp *stamp, const uint8_t *sent)
{
	uint8_t expected[FRAME_LEN];
	unsigned at = 0;
	int form;

	for (form = 0; form < FORMS; form++) {
		memcpy(expected, device_port(stamp->port)->flows[stamp->flow].frame, FRAME_LEN);
		put_stamp(expected, stamp);
		apply_form(expected, form, sent);
		if (memcmp(expected, sent, FRAME_LEN) == 0) {
			forms[form]++;
			return;
		}
	}
	while (expected[at] == sent[at])
		at++;
	fatal("verify: port %d tx queue %u WQE %u: packet %u of port %u queue %u differs at byte %u",
		sq->dev->port, sq->number, sq->head, stamp->sequence, stamp->port, stamp->queue,
		at);
}

static void
check_order(const struct sq *sq, const struct stamp *stamp)
{
	static uint64_t orders;
	struct stream *stream = &streams[stamp->port][stamp->queue];
	uint32_t *next = &stream->next[stamp->generation];

	if (strikes(FAULT_TX_ORDER, &orders))
		*next += 2;
	if ((int32_t)(stamp->sequence - *next) < 0)
		fatal("verify: port %d tx queue %u WQE %u: packet %u of port %u queue %u comes after "
		      "%u: sent twice or out of order",
			sq->dev->port, sq->number, sq->head, stamp->sequence, stamp->port,
			stamp->queue, *next - 1);
	if ((int32_t)(stream->made[stamp->generation] - stamp->sequence) <= 0)
		fatal("verify: port %d tx queue %u WQE %u: packet %u of port %u queue %u was not made",
			sq->dev->port, sq->number, sq->head, stamp->sequence, stamp->port,
			stamp->queue);
	stream->gaps += stamp->sequence - *next;
	stream->forwarded++;
	*next = stamp->sequence + 1;
}

/* Check one packet to be sent. FRAME is a copy and may be damaged on purpose. */
void
verify_tx_frame(struct sq *sq, uint8_t *frame, uint32_t len)
{
	static uint64_t bytes, lengths;
	struct stamp stamp;

	if (strikes(FAULT_TX_BYTES, &bytes))
		frame[ADDRESS_AND_TYPE + 8] ^= 1;
	if (strikes(FAULT_TX_LENGTH, &lengths))
		len--;
	/* Not of our making: the application's own packet. */
	if (len < STAMP + 2 * 2 * STAMP_WORDS || !get_stamp(frame, &stamp)) {
		foreign++;
		return;
	}
	if (len != FRAME_LEN)
		fatal("verify: port %d tx queue %u WQE %u: packet %u of port %u queue %u has %u "
		      "bytes, not %u",
			sq->dev->port, sq->number, sq->head, stamp.sequence, stamp.port,
			stamp.queue, len, FRAME_LEN);
	check_bytes(sq, &stamp, frame);
	check_order(sq, &stamp);
}

static void
report_stream(unsigned port, unsigned queue, uint64_t total[4])
{
	const struct stream *stream = &streams[port][queue];
	uint64_t pending = stream->all_made - stream->forwarded - stream->gaps;

	if (stream->all_made == 0)
		return;
	warn("verify: port %u queue %u: made %llu forwarded %llu gaps %llu pending %llu", port,
		queue, (unsigned long long)stream->all_made, (unsigned long long)stream->forwarded,
		(unsigned long long)stream->gaps, (unsigned long long)pending);
	total[0] += stream->all_made;
	total[1] += stream->forwarded;
	total[2] += stream->gaps;
	total[3] += pending;
}

/* What verify mode saw, when the process ends; "pending" were in flight or dropped at the end. */
void
verify_report(void)
{
	uint64_t total[4] = {0, 0, 0, 0};
	unsigned port, queue;
	int form;

	for (port = 0; port < MAX_PORTS; port++)
		for (queue = 0; queue < MAX_QUEUES; queue++)
			report_stream(port, queue, total);
	if (total[0] == 0 && foreign == 0)
		return;
	for (form = 0; form < FORMS; form++)
		if (forms[form] > 0)
			warn("verify: as %s: %llu", form_names[form],
				(unsigned long long)forms[form]);
	warn("verify: all: made %llu forwarded %llu gaps %llu pending %llu foreign %llu",
		(unsigned long long)total[0], (unsigned long long)total[1],
		(unsigned long long)total[2], (unsigned long long)total[3],
		(unsigned long long)foreign);
}

__attribute__((destructor)) static void
report_at_exit(void)
{
	if (config.verify)
		verify_report();
}
