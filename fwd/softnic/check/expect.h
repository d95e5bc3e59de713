/* SPDX-License-Identifier: BSD-3-Clause */
/* Expectations of the receive tests. */
#ifndef SOFTNIC_CHECK_EXPECT_H
#define SOFTNIC_CHECK_EXPECT_H

#include <infiniband/mlx5dv.h>
#include <stdbool.h>
#include <stdint.h>

enum { FRAME_IP_SRC = 26 };

uint32_t reference_hash(const uint8_t *input, unsigned len);
bool frame_is_right(const uint8_t *frame);
uint32_t cqe_hash(const struct mlx5_cqe64 *cqe);

#endif
