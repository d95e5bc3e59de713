/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Exclusion of the control path and the device thread.
 *
 * The data path takes no lock. Who changes objects raises a flag and waits until the device thread
 * has stopped at a safe point (control_park); a spinlock would starve the control path whenever
 * both share a CPU. In inline mode there is no device thread: forwarding threads call
 * softnic_step(), and they never run while their ports are being changed.
 */
#include <pthread.h>

#include "softnic.h"

static pthread_mutex_t control = PTHREAD_MUTEX_INITIALIZER; /* one changer at a time */
static pthread_mutex_t state = PTHREAD_MUTEX_INITIALIZER;   /* guards what follows */
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static bool have_thread;
static bool parked;
static unsigned ready_queues; /* none: the thread has no work */
static atomic_bool want_parked = true;

bool
control_pending(void)
{
	return atomic_load_explicit(&want_parked, memory_order_relaxed);
}

/* Called by the device thread at its safe point, when control_pending(). */
void
control_park(void)
{
	pthread_mutex_lock(&state);
	while (atomic_load(&want_parked)) {
		parked = true;
		pthread_cond_broadcast(&changed);
		pthread_cond_wait(&changed, &state);
	}
	parked = false;
	pthread_mutex_unlock(&state);
}

void
control_thread_started(void)
{
	pthread_mutex_lock(&state);
	have_thread = true;
	pthread_mutex_unlock(&state);
}

void
control_lock(void)
{
	pthread_mutex_lock(&control);
	pthread_mutex_lock(&state);
	atomic_store(&want_parked, true);
	while (have_thread && !parked)
		pthread_cond_wait(&changed, &state);
	pthread_mutex_unlock(&state);
}

/* With nothing to do the thread stays parked and costs nothing. */
void
control_unlock(void)
{
	pthread_mutex_lock(&state);
	atomic_store(&want_parked, ready_queues == 0);
	pthread_cond_broadcast(&changed);
	pthread_mutex_unlock(&state);
	pthread_mutex_unlock(&control);
}

/* A queue became ready or stopped; to be called between control_lock() and control_unlock(). */
void
control_count_ready(bool ready)
{
	pthread_mutex_lock(&state);
	ready_queues += ready ? 1 : -1;
	pthread_mutex_unlock(&state);
}
