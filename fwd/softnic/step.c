/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Inline mode: the forwarder plays the device between its bursts. It finds these functions with
 * dlsym(RTLD_DEFAULT, ...) and needs no header of ours.
 */
#if defined(__x86_64__)
#include <x86intrin.h>
#endif

#include "softnic.h"

/* The switch TIME counts steps by their cost in quarters of a cycle a packet; dearer ones share the
 * last. */
enum { COST_QUARTERS = 4, COSTS = 256 * COST_QUARTERS };
static _Atomic uint64_t steps_of_cost[COSTS];

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

static unsigned
step(unsigned port, unsigned queue, unsigned n)
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

/* The counter that DPDK calls TSC; the fences keep the step between its two readings. */
static uint64_t
read_cycles(void)
{
#if defined(__x86_64__)
	uint64_t cycles;

	_mm_mfence();
	cycles = __rdtsc();
	_mm_lfence();
	return cycles;
#elif defined(__aarch64__)
	uint64_t cycles;

	__asm__ volatile("isb; mrs %0, cntvct_el0" : "=r"(cycles));
	return cycles;
#else
	return 0;
#endif
}

static unsigned
timed_step(unsigned port, unsigned queue, unsigned n)
{
	uint64_t begin = read_cycles(), cost;
	unsigned packets = step(port, queue, n);

	if (packets == 0)
		return 0;
	cost = (read_cycles() - begin) * COST_QUARTERS / packets;
	steps_of_cost[cost < COSTS ? cost : COSTS - 1]++;
	return packets;
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
	return unlikely(config.time) ? timed_step(port, queue, n) : step(port, queue, n);
}

/* The median: a step in which the CPU did something else is no measure of any. */
__attribute__((destructor)) static void
report_time(void)
{
	uint64_t steps = 0, below = 0;
	unsigned cost;

	for (cost = 0; cost < COSTS; cost++)
		steps += steps_of_cost[cost];
	if (steps == 0)
		return;
	for (cost = 0; below + steps_of_cost[cost] <= steps / 2; cost++)
		below += steps_of_cost[cost];
	warn("step: median of %llu: %.2f cycles/packet", (unsigned long long)steps,
		(cost + 0.5) / COST_QUARTERS);
}
