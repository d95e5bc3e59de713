/* SPDX-License-Identifier: BSD-3-Clause */
/* The seeded order of the slices in a round. */
#include "slices.h"

/*
 * SplitMix64: G. L. Steele, D. Lea, C. H. Flood, "Fast splittable pseudorandom
 * number generators", OOPSLA 2014; constants as in S. Vigna's public domain
 * https://prng.di.unimi.it/splitmix64.c
 */
static uint64_t
splitmix64(uint64_t *state)
{
	uint64_t z = (*state += 0x9e3779b97f4a7c15);

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
	z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
	return z ^ (z >> 31);
}

/* Uniform in 0..n-1, n > 0: values of the incomplete last stretch are drawn again. */
static uint64_t
below(uint64_t *state, uint64_t n)
{
	uint64_t x, skip = -n % n;

	do {
		x = splitmix64(state);
	} while (x < skip);
	return x % n;
}

void
order_shuffle(size_t *order, size_t n, uint64_t seed, uint64_t epoch, uint64_t round)
{
	uint64_t state = seed;
	size_t i, j, swap;

	/* hash one after the other: neighbouring seeds, epochs and rounds share nothing */
	state = splitmix64(&state) ^ epoch;
	state = splitmix64(&state) ^ round;
	state = splitmix64(&state);
	for (i = 0; i < n; i++)
		order[i] = i;
	for (i = n; i > 1; i--) { /* Fisher and Yates */
		j = below(&state, i);
		swap = order[i - 1];
		order[i - 1] = order[j];
		order[j] = swap;
	}
}
