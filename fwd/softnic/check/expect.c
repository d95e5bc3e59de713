/* SPDX-License-Identifier: BSD-3-Clause */
/* What should arrive: checksums, Toeplitz hash. */
#include <string.h>

#include "check.h"
#include "expect.h"

/* Toeplitz by its definition, over an array of bits: slow, and not the library's way. */
uint32_t
reference_hash(const uint8_t *input, unsigned len)
{
	uint32_t hash = 0;
	unsigned i, k;

	for (i = 0; i < len * 8; i++) {
		if (!(input[i / 8] >> (7 - i % 8) & 1))
			continue;
		for (k = 0; k < 32; k++)
			hash ^= (uint32_t)(rss_key[(i + k) / 8] >> (7 - (i + k) % 8) & 1)
				<< (31 - k);
	}
	return hash;
}

static unsigned
checksum(const uint8_t *p, unsigned len, uint32_t sum)
{
	unsigned i;

	for (i = 0; i < len; i += 2)
		sum += (uint32_t)p[i] << 8 | p[i + 1];
	while (sum >> 16)
		sum = (sum & 0xffff) + (sum >> 16);
	return sum;
}

/* An IPv4/UDP frame with right lengths and checksums. */
bool
frame_is_right(const uint8_t *f)
{
	const uint8_t *ip = f + 14, *udp = f + 34;

	return f[12] == 8 && f[13] == 0 && ip[0] == 0x45 && ip[9] == 17 && ip[2] == 0 &&
	       ip[3] == FRAME - 14 && checksum(ip, 20, 0) == 0xffff && udp[5] == FRAME - 34 &&
	       checksum(udp, FRAME - 34, checksum(ip + 12, 8, 17 + FRAME - 34)) == 0xffff;
}

uint32_t
cqe_hash(const struct mlx5_cqe64 *cqe)
{
	uint32_t be;

	memcpy(&be, (const uint8_t *)cqe + 12, sizeof(be));
	return be32toh(be);
}
