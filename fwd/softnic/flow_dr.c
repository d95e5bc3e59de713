/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Flow rules as rdma-core's direct rules (mlx5dv_dr_*) give them: domains, tables, matchers,
 * rules and actions, all in the device's own form. Receive rules are played; rules of the transmit
 * domain are kept but change nothing. An action that would change packets can be created (drivers
 * do so while probing) but not used in a receive rule.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "softnic.h"

struct mlx5dv_dr_domain {
	struct device *dev;
	enum mlx5dv_dr_domain_type type;
};

struct mlx5dv_dr_table {
	struct mlx5dv_dr_domain *domain;
	struct matcher **list; /* NULL: not a receive table */
	struct matcher *own;   /* what LIST points to, unless this is the root table */
};

struct mlx5dv_dr_matcher {
	struct mlx5dv_dr_table *table;
	struct matcher *matcher;
};

enum action_kind {
	ACTION_QUEUE,
	ACTION_TABLE,
	ACTION_DROP,
	ACTION_MISS,
	ACTION_TAG,
	ACTION_NOT_PLAYED,
};

struct mlx5dv_dr_action {
	enum action_kind kind;
	struct rss_hash *hash;
	struct mlx5dv_dr_table *table;
	uint32_t tag;
};

struct mlx5dv_dr_rule {
	struct rule *rule;
};

API struct mlx5dv_dr_domain *
mlx5dv_dr_domain_create(struct ibv_context *ctx, enum mlx5dv_dr_domain_type type)
{
	struct mlx5dv_dr_domain *domain;

	/* No eswitch: this is a plain port. */
	if (type == MLX5DV_DR_DOMAIN_TYPE_FDB) {
		errno = EOPNOTSUPP;
		return NULL;
	}
	domain = calloc(1, sizeof(*domain));
	if (domain == NULL)
		return NULL;
	domain->dev = to_device(ctx);
	domain->type = type;
	trace("dr_domain_create %d", type);
	return domain;
}

API int
mlx5dv_dr_domain_destroy(struct mlx5dv_dr_domain *domain)
{
	free(domain);
	return 0;
}

API int
mlx5dv_dr_domain_sync(struct mlx5dv_dr_domain *domain, uint32_t flags)
{
	(void)domain;
	(void)flags;
	return 0;
}

API void
mlx5dv_dr_domain_set_reclaim_device_memory(struct mlx5dv_dr_domain *domain, bool enable)
{
	(void)domain;
	(void)enable;
}

API void
mlx5dv_dr_domain_allow_duplicate_rules(struct mlx5dv_dr_domain *domain, bool allow)
{
	(void)domain;
	(void)allow;
}

/* Level 0 is the root table, one a domain however often it is created. */
API struct mlx5dv_dr_table *
mlx5dv_dr_table_create(struct mlx5dv_dr_domain *domain, uint32_t level)
{
	struct mlx5dv_dr_table *table = calloc(1, sizeof(*table));

	if (table == NULL)
		return NULL;
	table->domain = domain;
	if (domain->type == MLX5DV_DR_DOMAIN_TYPE_NIC_RX)
		table->list = level == 0 ? &domain->dev->root : &table->own;
	trace("dr_table_create domain %d level %u", domain->type, level);
	return table;
}

API int
mlx5dv_dr_table_destroy(struct mlx5dv_dr_table *table)
{
	if (table->own != NULL)
		return EBUSY;
	free(table);
	return 0;
}

API struct mlx5dv_dr_matcher *
mlx5dv_dr_matcher_create(struct mlx5dv_dr_table *table, uint16_t priority, uint8_t criteria,
	struct mlx5dv_flow_match_parameters *mask)
{
	struct mlx5dv_dr_matcher *matcher = calloc(1, sizeof(*matcher));

	(void)criteria; /* sets that are not enabled have an empty mask */
	if (matcher == NULL)
		return NULL;
	matcher->table = table;
	matcher->matcher = matcher_new(
		table->domain->dev, table->list, priority, mask->match_buf, mask->match_sz);
	if (matcher->matcher == NULL) {
		free(matcher);
		errno = ENOMEM;
		return NULL;
	}
	trace("dr_matcher_create priority %u", priority);
	return matcher;
}

API int
mlx5dv_dr_matcher_destroy(struct mlx5dv_dr_matcher *matcher)
{
	int rc = matcher_free(matcher->matcher);

	if (rc == 0)
		free(matcher);
	return rc;
}

API int
mlx5dv_dr_matcher_set_layout(
	struct mlx5dv_dr_matcher *matcher, struct mlx5dv_dr_matcher_layout *layout)
{
	(void)matcher;
	(void)layout; /* a hint about size */
	return 0;
}

/* Returns 0, or EOPNOTSUPP for an action that is not played. */
static int
apply_action(struct rule *rule, const struct mlx5dv_dr_action *action)
{
	switch (action->kind) {
	case ACTION_QUEUE:
		rule->verdict = VERDICT_QUEUE;
		rule->hash = action->hash;
		return 0;
	case ACTION_TABLE:
		if (action->table->list == NULL)
			return EINVAL;
		rule->verdict = VERDICT_TABLE;
		rule->table = action->table->list;
		return 0;
	case ACTION_DROP:
		rule->verdict = VERDICT_DROP;
		return 0;
	case ACTION_MISS:
		rule->verdict = VERDICT_PASS;
		return 0;
	case ACTION_TAG:
		rule->tag = action->tag;
		return 0;
	default:
		return EOPNOTSUPP;
	}
}

static int
apply_actions(struct rule *rule, size_t count, struct mlx5dv_dr_action *actions[])
{
	size_t i;
	int rc;

	for (i = 0; i < count; i++) {
		rc = apply_action(rule, actions[i]);
		if (rc != 0)
			return rc;
	}
	return 0;
}

API struct mlx5dv_dr_rule *
mlx5dv_dr_rule_create(struct mlx5dv_dr_matcher *matcher, struct mlx5dv_flow_match_parameters *value,
	size_t count, struct mlx5dv_dr_action *actions[])
{
	struct mlx5dv_dr_rule *rule = calloc(1, sizeof(*rule));
	int rc = ENOMEM;

	if (rule == NULL)
		return NULL;
	rule->rule = rule_new(matcher->matcher, value->match_buf, value->match_sz);
	if (rule->rule == NULL)
		goto fail;
	if (matcher->table->list != NULL)
		rc = apply_actions(rule->rule, count, actions);
	else
		rc = 0;
	if (rc != 0)
		goto fail_actions;
	rule_insert(rule->rule);
	trace("dr_rule_create priority %u, %zu actions, verdict %d", matcher->matcher->priority,
		count, rule->rule->verdict);
	return rule;
fail_actions:
	free(rule->rule);
fail:
	free(rule);
	errno = rc;
	return NULL;
}

API int
mlx5dv_dr_rule_destroy(struct mlx5dv_dr_rule *rule)
{
	rule_free(rule->rule);
	free(rule);
	return 0;
}

static struct mlx5dv_dr_action *
action_new(enum action_kind kind)
{
	struct mlx5dv_dr_action *action = calloc(1, sizeof(*action));

	if (action != NULL)
		action->kind = kind;
	return action;
}

API struct mlx5dv_dr_action *
mlx5dv_dr_action_create_dest_ibv_qp(struct ibv_qp *qp)
{
	struct mlx5dv_dr_action *action;

	if (to_sq(qp)->hash == NULL) {
		errno = EINVAL;
		return NULL;
	}
	action = action_new(ACTION_QUEUE);
	if (action != NULL)
		action->hash = to_sq(qp)->hash;
	return action;
}

API struct mlx5dv_dr_action *
mlx5dv_dr_action_create_dest_table(struct mlx5dv_dr_table *table)
{
	struct mlx5dv_dr_action *action = action_new(ACTION_TABLE);

	if (action != NULL)
		action->table = table;
	return action;
}

API struct mlx5dv_dr_action *
mlx5dv_dr_action_create_dest_root_table(struct mlx5dv_dr_table *table, uint16_t priority)
{
	(void)priority;
	return mlx5dv_dr_action_create_dest_table(table);
}

API struct mlx5dv_dr_action *
mlx5dv_dr_action_create_drop(void)
{
	return action_new(ACTION_DROP);
}

API struct mlx5dv_dr_action *
mlx5dv_dr_action_create_default_miss(void)
{
	return action_new(ACTION_MISS);
}

API struct mlx5dv_dr_action *
mlx5dv_dr_action_create_tag(uint32_t tag)
{
	struct mlx5dv_dr_action *action = action_new(ACTION_TAG);

	if (action != NULL)
		action->tag = tag;
	return action;
}

API struct mlx5dv_dr_action *
mlx5dv_dr_action_create_modify_header(
	struct mlx5dv_dr_domain *domain, uint32_t flags, size_t size, __be64 actions[])
{
	(void)domain;
	(void)flags;
	(void)size;
	(void)actions;
	return action_new(ACTION_NOT_PLAYED);
}

API struct mlx5dv_dr_action *
mlx5dv_dr_action_create_packet_reformat(struct mlx5dv_dr_domain *domain, uint32_t flags,
	enum mlx5dv_flow_action_packet_reformat_type type, size_t size, void *data)
{
	(void)domain;
	(void)flags;
	(void)type;
	(void)size;
	(void)data;
	return action_new(ACTION_NOT_PLAYED);
}

API struct mlx5dv_dr_action *
mlx5dv_dr_action_create_pop_vlan(void)
{
	return action_new(ACTION_NOT_PLAYED);
}

API struct mlx5dv_dr_action *
mlx5dv_dr_action_create_push_vlan(struct mlx5dv_dr_domain *domain, __be32 header)
{
	(void)domain;
	(void)header;
	return action_new(ACTION_NOT_PLAYED);
}

API int
mlx5dv_dr_action_destroy(struct mlx5dv_dr_action *action)
{
	free(action);
	return 0;
}
