/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Thread mode: the device runs beside the application, on its own CPU, as a real one does. For
 * programs that know nothing of softnic_step(), like testpmd.
 */
#include <pthread.h>
#include <sched.h>
#include <string.h>

#include "softnic.h"

enum { IDLE_ROUNDS = 64 }; /* rounds without work before the CPU is offered to others */

static cpu_set_t cpus;

/* EAL pins threads later, so the CPUs the process may use are read when the library loads. */
__attribute__((constructor)) static void
remember_cpus(void)
{
	if (sched_getaffinity(0, sizeof(cpus), &cpus) != 0)
		CPU_ZERO(&cpus);
}

static int
choose_cpu(void)
{
	int cpu;

	if (config.cpu >= 0)
		return config.cpu;
	for (cpu = CPU_SETSIZE - 1; cpu >= 0; cpu--)
		if (CPU_ISSET(cpu, &cpus))
			return cpu;
	return -1;
}

static void
pin(void)
{
	cpu_set_t set;
	int cpu = choose_cpu();

	CPU_ZERO(&set);
	if (cpu < 0)
		return;
	CPU_SET(cpu, &set);
	if (pthread_setaffinity_np(pthread_self(), sizeof(set), &set) != 0)
		warn("cannot run on CPU %d; MPPSDIFF_SOFTNIC_CPU chooses another", cpu);
}

static unsigned
run_port(struct device *dev)
{
	unsigned i, done = 0;

	for (i = 0; i < dev->sq_count; i++)
		if (dev->sq[i] != NULL)
			done += tx_step(dev->sq[i]);
	for (i = 0; i < dev->rq_count; i++)
		if (dev->rq[i] != NULL)
			done += rx_step(dev->rq[i], config.batch);
	return done;
}

static void *
run(void *arg)
{
	unsigned port, done, idle = 0;
	struct device *dev;

	pin();
	control_thread_started();
	for (;;) {
		if (unlikely(control_pending()))
			control_park();
		done = 0;
		for (port = 0; (dev = device_port(port)) != NULL; port++)
			done += run_port(dev);
		idle = done > 0 ? 0 : idle + 1;
		if (idle >= IDLE_ROUNDS) {
			idle = 0;
			sched_yield();
		}
	}
	return arg;
}

/* Start the device once; called under no lock when a port is opened. */
void
thread_start(void)
{
	static pthread_mutex_t once = PTHREAD_MUTEX_INITIALIZER;
	static bool started;
	pthread_t thread;

	pthread_mutex_lock(&once);
	if (!started && !config.inline_mode) {
		if (pthread_create(&thread, NULL, run, NULL) != 0)
			fatal("cannot start the device thread");
		pthread_setname_np(thread, "softnic");
		pthread_detach(thread);
		started = true;
	}
	pthread_mutex_unlock(&once);
}
