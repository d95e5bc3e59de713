/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Engine io: forwards packets as they are, without touching them.
 */
#include "burst.h"

static void
io_forward(struct fwd_stream *stream)
{
	struct rte_mbuf *packets[FWD_BURST_MAX];
	const uint16_t n = fwd_receive(stream, packets);

	if (unlikely(n == 0))
		return;
	fwd_transmit(stream, packets, n);
}

const struct fwd_engine fwd_io = {
	.name = "io",
	.forward = io_forward,
};
