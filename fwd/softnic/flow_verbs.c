/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Flow rules as ibv_create_flow() gives them: a list of header specifications, turned into the
 * device's mask and value (PRM, fte_match_set_lyr_2_4). Used with dv_flow_en=0 and by old releases.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "softnic.h"

enum { PROTOCOL_TCP = 6, PROTOCOL_UDP = 17 };

struct verbs_flow {
	struct ibv_flow ib; /* first member */
	struct matcher *matcher;
	struct rule *rule;
};

/* The rule under construction. */
struct match {
	uint8_t mask[PRM_FTE_SET_SIZE], value[PRM_FTE_SET_SIZE];
	bool drop;
	uint32_t tag;
};

static void
set_field(struct match *m, unsigned at, const void *mask, const void *value, size_t len)
{
	memcpy(m->mask + at, mask, len);
	memcpy(m->value + at, value, len);
}

static void
set_ip_version(struct match *m, uint8_t version)
{
	m->mask[PRM_FTE_FLAGS] |= 0xf << PRM_FTE_IP_VERSION_SHIFT;
	m->value[PRM_FTE_FLAGS] |= version << PRM_FTE_IP_VERSION_SHIFT;
}

static void
set_protocol(struct match *m, uint8_t protocol)
{
	m->mask[PRM_FTE_IP_PROTOCOL] = 0xff;
	m->value[PRM_FTE_IP_PROTOCOL] = protocol;
}

static void
add_eth(struct match *m, const struct ibv_flow_spec_eth *spec)
{
	set_field(m, PRM_FTE_DMAC, spec->mask.dst_mac, spec->val.dst_mac, 6);
	set_field(m, PRM_FTE_SMAC, spec->mask.src_mac, spec->val.src_mac, 6);
	set_field(m, PRM_FTE_ETHERTYPE, &spec->mask.ether_type, &spec->val.ether_type, 2);
	if (spec->mask.vlan_tag != 0) {
		set_field(m, PRM_FTE_VLAN, &spec->mask.vlan_tag, &spec->val.vlan_tag, 2);
		m->mask[PRM_FTE_FLAGS] |= PRM_FTE_CVLAN;
		m->value[PRM_FTE_FLAGS] |= PRM_FTE_CVLAN;
	}
}

static void
add_ipv4(struct match *m, const struct ibv_flow_spec_ipv4 *spec)
{
	set_ip_version(m, 4);
	set_field(m, PRM_FTE_SRC_IPV4, &spec->mask.src_ip, &spec->val.src_ip, 4);
	set_field(m, PRM_FTE_DST_IPV4, &spec->mask.dst_ip, &spec->val.dst_ip, 4);
}

static void
add_ipv4_ext(struct match *m, const struct ibv_flow_spec_ipv4_ext *spec)
{
	set_ip_version(m, 4);
	set_field(m, PRM_FTE_SRC_IPV4, &spec->mask.src_ip, &spec->val.src_ip, 4);
	set_field(m, PRM_FTE_DST_IPV4, &spec->mask.dst_ip, &spec->val.dst_ip, 4);
	set_field(m, PRM_FTE_IP_PROTOCOL, &spec->mask.proto, &spec->val.proto, 1);
	set_field(m, PRM_FTE_IP_DSCP_ECN, &spec->mask.tos, &spec->val.tos, 1);
	set_field(m, PRM_FTE_TTL, &spec->mask.ttl, &spec->val.ttl, 1);
}

static void
add_ipv6(struct match *m, const struct ibv_flow_spec_ipv6 *spec)
{
	set_ip_version(m, 6);
	set_field(m, PRM_FTE_SRC_IP, spec->mask.src_ip, spec->val.src_ip, 16);
	set_field(m, PRM_FTE_DST_IP, spec->mask.dst_ip, spec->val.dst_ip, 16);
	set_field(m, PRM_FTE_IP_PROTOCOL, &spec->mask.next_hdr, &spec->val.next_hdr, 1);
}

static void
add_ports(struct match *m, const struct ibv_flow_spec_tcp_udp *spec, bool udp)
{
	unsigned source = udp ? PRM_FTE_UDP_SPORT : PRM_FTE_TCP_SPORT;

	set_protocol(m, udp ? PROTOCOL_UDP : PROTOCOL_TCP);
	set_field(m, source, &spec->mask.src_port, &spec->val.src_port, 2);
	set_field(m, source + 2, &spec->mask.dst_port, &spec->val.dst_port, 2);
}

/* Returns 0 or EOPNOTSUPP for a header or action this library does not play. */
static int
add_spec(struct match *m, const struct ibv_flow_spec *spec)
{
	switch (spec->hdr.type) {
	case IBV_FLOW_SPEC_ETH:
		add_eth(m, &spec->eth);
		return 0;
	case IBV_FLOW_SPEC_IPV4:
		add_ipv4(m, &spec->ipv4);
		return 0;
	case IBV_FLOW_SPEC_IPV4_EXT:
		add_ipv4_ext(m, &spec->ipv4_ext);
		return 0;
	case IBV_FLOW_SPEC_IPV6:
		add_ipv6(m, &spec->ipv6);
		return 0;
	case IBV_FLOW_SPEC_TCP:
	case IBV_FLOW_SPEC_UDP:
		add_ports(m, &spec->tcp_udp, spec->hdr.type == IBV_FLOW_SPEC_UDP);
		return 0;
	case IBV_FLOW_SPEC_ACTION_TAG:
		m->tag = spec->flow_tag.tag_id;
		return 0;
	case IBV_FLOW_SPEC_ACTION_DROP:
		m->drop = true;
		return 0;
	default:
		return EOPNOTSUPP;
	}
}

static int
parse_specs(struct match *m, const struct ibv_flow_attr *attr)
{
	const char *at = (const char *)(attr + 1);
	struct ibv_flow_spec spec;
	uint16_t size;
	unsigned i;
	int rc;

	if (attr->type != IBV_FLOW_ATTR_NORMAL)
		return EOPNOTSUPP;
	for (i = 0; i < attr->num_of_specs; i++) {
		/* The list is packed: a specification need not be aligned where it stands. */
		memset(&spec, 0, sizeof(spec));
		memcpy(&spec.hdr, at, sizeof(spec.hdr));
		size = spec.hdr.size;
		if (size < sizeof(spec.hdr) || size > sizeof(spec))
			return EINVAL;
		memcpy(&spec, at, size);
		rc = add_spec(m, &spec);
		if (rc != 0)
			return rc;
		at += size;
	}
	return 0;
}

static int
fill_flow(struct verbs_flow *flow, struct sq *qp, const struct match *m, uint16_t priority)
{
	flow->matcher = matcher_new(qp->dev, &qp->dev->root, priority, m->mask, sizeof(m->mask));
	if (flow->matcher == NULL)
		return ENOMEM;
	flow->rule = rule_new(flow->matcher, m->value, sizeof(m->value));
	if (flow->rule == NULL) {
		matcher_free(flow->matcher);
		return ENOMEM;
	}
	flow->rule->verdict = m->drop ? VERDICT_DROP : VERDICT_QUEUE;
	flow->rule->hash = qp->hash;
	flow->rule->tag = m->tag;
	rule_insert(flow->rule);
	return 0;
}

struct ibv_flow *
v_create_flow(struct ibv_qp *ib, struct ibv_flow_attr *attr)
{
	struct match m = {.drop = false};
	struct verbs_flow *flow;
	int rc;

	rc = parse_specs(&m, attr);
	if (rc == 0 && !m.drop && to_sq(ib)->hash == NULL)
		rc = EINVAL;
	if (rc != 0) {
		errno = rc;
		return NULL;
	}
	flow = calloc(1, sizeof(*flow));
	if (flow == NULL)
		return NULL;
	rc = fill_flow(flow, to_sq(ib), &m, attr->priority);
	if (rc != 0) {
		free(flow);
		errno = rc;
		return NULL;
	}
	flow->ib.context = ib->context;
	trace("create_flow priority %u, %u specs", attr->priority, attr->num_of_specs);
	return &flow->ib;
}

int
v_destroy_flow(struct ibv_flow *ib)
{
	struct verbs_flow *flow = (struct verbs_flow *)(void *)ib;

	rule_free(flow->rule);
	matcher_free(flow->matcher);
	free(flow);
	return 0;
}
