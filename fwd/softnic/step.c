/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Inline mode: the forwarder plays the device between its bursts. It finds these functions with
 * dlsym(RTLD_DEFAULT, ...) and needs no header of ours.
 */
#include "softnic.h"

API int softnic_inline(void);
API unsigned softnic_step(unsigned port, unsigned queue, unsigned n);

/* 1: this process is to call softnic_step(); 0: a device thread does the work. */
API int
softnic_inline(void)
{
	return config.inline_mode;
}

static void
send_queue(struct device *dev, unsigned queue)
{
	if (queue < dev->sq_count && dev->sq[queue] != NULL)
		tx_step(dev->sq[queue]);
}

/*
 * Send what is posted on send queue QUEUE of PORT, then make up to N packets ready on receive
 * queue QUEUE. PORT counts the opened devices, in the order in which the driver probed them. Send
 * queues beyond the last receive queue go with that one. A queue must be stepped by one thread at
 * a time; different queues may be stepped by different threads.
 *
 * Returns the packets made ready; 0 for a port or queue that is not there.
 */
API unsigned
softnic_step(unsigned port, unsigned queue, unsigned n)
{
	struct device *dev = device_port(port);
	unsigned i;

	if (unlikely(dev == NULL))
		return 0;
	send_queue(dev, queue);
	if (queue + 1 == dev->rq_count)
		for (i = queue + 1; i < dev->sq_count; i++)
			send_queue(dev, i);
	if (unlikely(queue >= dev->rq_count || dev->rq[queue] == NULL))
		return 0;
	return rx_step(dev->rq[queue], n);
}
