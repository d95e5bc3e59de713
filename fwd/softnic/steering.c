/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Receive steering: which rule takes a packet. Rules come from three interfaces (flow_verbs.c,
 * flow_dv.c, flow_dr.c) and all have the device's form: a mask, a value and what to do.
 *
 * Within a table the matcher of the lowest priority number wins, at equal priority the older one.
 * A packet that no rule of the root table takes is not for the driver.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "softnic.h"

enum { MAX_JUMPS = 64 }; /* tables form no loop; this ends a malformed one */

/* Rules, tables or queues changed: the next step of the device steers all flows again. */
void
steering_changed(struct device *dev)
{
	atomic_store(&dev->steering_stale, true);
}

static void
copy_padded(uint8_t *to, const void *from, size_t len)
{
	memcpy(to, from, len < PRM_FTE_SIZE ? len : PRM_FTE_SIZE);
}

static void
insert_by_priority(struct matcher *matcher)
{
	struct matcher **at = matcher->list;

	while (*at != NULL && (*at)->priority <= matcher->priority)
		at = &(*at)->next;
	matcher->next = *at;
	*at = matcher;
}

/*
 * A matcher in the table whose list is LIST; NULL: a table whose rules do not matter on receive.
 * Returns NULL when memory is short.
 */
struct matcher *
matcher_new(struct device *dev, struct matcher **list, uint16_t priority, const void *mask,
	size_t mask_len)
{
	struct matcher *matcher = calloc(1, sizeof(*matcher));

	if (matcher == NULL)
		return NULL;
	matcher->dev = dev;
	matcher->list = list;
	matcher->priority = priority;
	copy_padded(matcher->mask, mask, mask_len);
	if (list != NULL) {
		control_lock();
		insert_by_priority(matcher);
		control_unlock();
	}
	return matcher;
}

/* Returns 0, or EBUSY while it has rules. */
int
matcher_free(struct matcher *matcher)
{
	struct matcher **at;

	if (matcher->rules != NULL)
		return EBUSY;
	if (matcher->list != NULL) {
		control_lock();
		for (at = matcher->list; *at != NULL; at = &(*at)->next) {
			if (*at == matcher) {
				*at = matcher->next;
				break;
			}
		}
		steering_changed(matcher->dev);
		control_unlock();
	}
	free(matcher);
	return 0;
}

/* A rule of MATCHER, to be filled by the caller and inserted; NULL when memory is short. */
struct rule *
rule_new(struct matcher *matcher, const void *value, size_t value_len)
{
	struct rule *rule = calloc(1, sizeof(*rule));

	if (rule == NULL)
		return NULL;
	rule->matcher = matcher;
	copy_padded(rule->value, value, value_len);
	return rule;
}

void
rule_insert(struct rule *rule)
{
	struct rule **at;

	control_lock();
	for (at = &rule->matcher->rules; *at != NULL; at = &(*at)->next)
		;
	*at = rule;
	if (rule->hash != NULL)
		rule->hash->users++;
	steering_changed(rule->matcher->dev);
	control_unlock();
}

void
rule_free(struct rule *rule)
{
	struct rule **at;

	control_lock();
	for (at = &rule->matcher->rules; *at != NULL; at = &(*at)->next) {
		if (*at == rule) {
			*at = rule->next;
			if (rule->hash != NULL)
				rule->hash->users--;
			break;
		}
	}
	steering_changed(rule->matcher->dev);
	control_unlock();
	free(rule);
}

/* Only outer headers are set in a packet of ours; every other match set is zero. */
static bool
rule_matches(const struct matcher *matcher, const struct rule *rule, const uint8_t *fte)
{
	unsigned i;
	uint8_t field;

	for (i = 0; i < PRM_FTE_SIZE; i++) {
		field = i < PRM_FTE_SET_SIZE ? fte[i] : 0;
		if ((field ^ rule->value[i]) & matcher->mask[i])
			return false;
	}
	return true;
}

static const struct rule *
find_in_table(struct matcher *list, const uint8_t *fte)
{
	const struct matcher *matcher;
	const struct rule *rule;

	for (matcher = list; matcher != NULL; matcher = matcher->next)
		for (rule = matcher->rules; rule != NULL; rule = rule->next)
			if (rule_matches(matcher, rule, fte))
				return rule;
	return NULL;
}

/* The rule that decides over a packet with headers FTE; NULL: the packet is not for us. */
const struct rule *
steering_find(struct device *dev, const uint8_t fte[PRM_FTE_SET_SIZE])
{
	const struct rule *rule = find_in_table(dev->root, fte);
	int jumps;

	for (jumps = 0; rule != NULL && rule->verdict == VERDICT_TABLE; jumps++) {
		if (jumps == MAX_JUMPS)
			return NULL;
		rule = find_in_table(*rule->table, fte);
	}
	return rule;
}
