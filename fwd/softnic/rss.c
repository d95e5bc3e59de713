/* SPDX-License-Identifier: BSD-3-Clause */
/* Receive-side scaling: Toeplitz hash, indirection tables, receive hashes. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "softnic.h"

enum { IP_SRC = 26, IP_DST = 30, UDP_SRC = 34, UDP_DST = 36 }; /* offsets in the frame */

/*
 * Toeplitz hash (Microsoft, "RSS hashing functions"): for every set bit of the input, most
 * significant first, exclusive-or the 32 bits of the key that begin at that bit.
 */
uint32_t
rss_toeplitz(const uint8_t *key, unsigned key_len, const uint8_t *data, unsigned len)
{
	uint32_t hash = 0, window;
	unsigned bit, next;

	window = (uint32_t)key[0] << 24 | key[1] << 16 | key[2] << 8 | key[3];
	for (bit = 0; bit < len * 8; bit++) {
		if (data[bit / 8] & (0x80 >> bit % 8))
			hash ^= window;
		next = bit + 32;
		window <<= 1;
		if (next / 8 < key_len && (key[next / 8] & (0x80 >> next % 8)))
			window |= 1;
	}
	return hash;
}

static unsigned
append(uint8_t *input, unsigned len, const uint8_t *field, unsigned size)
{
	memcpy(input + len, field, size);
	return len + size;
}

/*
 * Hash of an IPv4/UDP flow: the chosen fields in the order source address, destination address,
 * source port, destination port (PRM, "RX hash field select"). No field chosen: 0.
 */
uint32_t
rss_of_flow(const struct rss_hash *hash, const struct flow *flow)
{
	uint8_t input[12];
	unsigned len = 0;

	if (hash->fields & IBV_RX_HASH_SRC_IPV4)
		len = append(input, len, flow->frame + IP_SRC, 4);
	if (hash->fields & IBV_RX_HASH_DST_IPV4)
		len = append(input, len, flow->frame + IP_DST, 4);
	if (hash->fields & IBV_RX_HASH_SRC_PORT_UDP)
		len = append(input, len, flow->frame + UDP_SRC, 2);
	if (hash->fields & IBV_RX_HASH_DST_PORT_UDP)
		len = append(input, len, flow->frame + UDP_DST, 2);
	return len == 0 ? 0 : rss_toeplitz(hash->key, hash->key_len, input, len);
}

/* The receive side of a QP with IBV_QP_INIT_ATTR_RX_HASH; NULL and errno when it is malformed. */
struct rss_hash *
rss_hash_new(const struct ibv_qp_init_attr_ex *attr)
{
	const struct ibv_rx_hash_conf *conf = &attr->rx_hash_conf;
	struct rss_hash *hash;

	if (attr->rwq_ind_tbl == NULL || conf->rx_hash_function != IBV_RX_HASH_FUNC_TOEPLITZ ||
		conf->rx_hash_key_len < 4 || conf->rx_hash_key_len > RSS_KEY_MAX) {
		errno = EINVAL;
		return NULL;
	}
	hash = calloc(1, sizeof(*hash));
	if (hash == NULL)
		return NULL;
	hash->table = (struct rss_table *)(void *)attr->rwq_ind_tbl;
	hash->fields = conf->rx_hash_fields_mask;
	hash->key_len = conf->rx_hash_key_len;
	memcpy(hash->key, conf->rx_hash_key, hash->key_len);
	control_lock();
	hash->table->users++;
	control_unlock();
	return hash;
}

/* Returns 0, or EBUSY while rules lead to the hash. */
int
rss_hash_free(struct rss_hash *hash)
{
	control_lock();
	if (hash->users > 0) {
		control_unlock();
		return EBUSY;
	}
	hash->table->users--;
	control_unlock();
	free(hash);
	return 0;
}

struct ibv_rwq_ind_table *
v_create_rwq_ind_table(struct ibv_context *ctx, struct ibv_rwq_ind_table_init_attr *attr)
{
	uint32_t i, size = attr->log_ind_tbl_size < 32 ? 1u << attr->log_ind_tbl_size : 0;
	struct rss_table *table;

	if (size == 0 || size > to_device(ctx)->model->max_rss_table) {
		errno = EINVAL;
		return NULL;
	}
	table = calloc(1, sizeof(*table) + size * sizeof(table->rq[0]));
	if (table == NULL)
		return NULL;
	table->ib.context = ctx;
	table->ib.ind_tbl_num = (int)next_object_number();
	table->dev = to_device(ctx);
	table->size = size;
	control_lock();
	for (i = 0; i < size; i++) {
		table->rq[i] = (struct rq *)(void *)attr->ind_tbl[i];
		table->rq[i]->users++;
	}
	control_unlock();
	trace("create_rwq_ind_table %u entries -> %#x", size, table->ib.ind_tbl_num);
	return &table->ib;
}

/* Returns 0, or EBUSY while receive hashes use the table. */
int
v_destroy_rwq_ind_table(struct ibv_rwq_ind_table *ib)
{
	struct rss_table *table = (struct rss_table *)(void *)ib;
	uint32_t i;

	control_lock();
	if (table->users > 0) {
		control_unlock();
		return EBUSY;
	}
	for (i = 0; i < table->size; i++)
		table->rq[i]->users--;
	control_unlock();

	trace("destroy_rwq_ind_table %#x", ib->ind_tbl_num);
	free(table);
	return 0;
}
