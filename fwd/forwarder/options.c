/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The command line after `--`: testpmd's options that the report uses, with testpmd's ranges and
 * defaults, and our own. One table says everything about an option: its name, what it takes, where
 * it goes, what it means. getopt_long reads the line as testpmd does (`=` or a space before the
 * value, unique abbreviations), numbers are read strictly.
 */
#include <ctype.h>
#include <errno.h>
#include <getopt.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <rte_common.h>
#include <rte_mempool.h>

#include "fwd.h"

struct option_spec {
	const char *name;
	const char *value; /* what the help calls its value, NULL: a flag */
	char letter;	   /* short form, 0: none */
	size_t member;	   /* where a flag or a number goes in struct fwd_options */
	uint32_t min, max; /* of a number */
	/* Reads a value that is no number: NULL, or what would have been right. */
	const char *(*read)(struct fwd_options *opt, const char *value);
	const char *help;
};

static const struct fwd_engine *const engines[] = {&fwd_io, &fwd_mac, &fwd_macswap, &fwd_5tswap};

static const char *const topologies[] = {
	[FWD_PAIRED] = "paired",
	[FWD_CHAINED] = "chained",
	[FWD_LOOP] = "loop",
};

const char *
fwd_topology_name(enum fwd_topology topology)
{
	return topologies[topology];
}

static const char *
read_engine(struct fwd_options *opt, const char *value)
{
	for (unsigned int i = 0; i < RTE_DIM(engines); i++) {
		if (strcmp(value, engines[i]->name) == 0) {
			opt->engine = engines[i];
			return NULL;
		}
	}
	return "io, mac, macswap or 5tswap";
}

static const char *
read_topology(struct fwd_options *opt, const char *value)
{
	for (unsigned int i = 0; i < RTE_DIM(topologies); i++) {
		if (strcmp(value, topologies[i]) == 0) {
			opt->topology = (enum fwd_topology)i;
			return NULL;
		}
	}
	return "paired, chained or loop";
}

/*
 * Reads a decimal number from min to max at *text and moves *text behind it. Returns whether there
 * was one.
 */
static bool
read_number(const char **text, uint32_t min, uint32_t max, uint32_t *number)
{
	unsigned long long n;
	char *end;

	if (!isdigit((unsigned char)**text))
		return false;
	errno = 0;
	n = strtoull(*text, &end, 10);
	if (errno != 0 || n < min || n > max)
		return false;
	*number = (uint32_t)n;
	*text = end;
	return true;
}

/*
 * testpmd wants (port,socket),(port,socket). The report's commands write port,socket,port,socket,
 * which testpmd reads without complaint as nothing; both forms mean the pairs here.
 */
static const char *
read_port_sockets(struct fwd_options *opt, const char *value)
{
	static const char *const expected = "(port,socket)[,(port,socket)...]";
	const bool brackets = *value == '(';
	uint32_t port, socket;

	for (;;) {
		if (brackets && *value++ != '(')
			return expected;
		if (!read_number(&value, 0, RTE_MAX_ETHPORTS - 1, &port) || *value++ != ',' ||
			!read_number(&value, 0, RTE_MAX_NUMA_NODES - 1, &socket))
			return expected;
		if (brackets && *value++ != ')')
			return expected;
		opt->port_socket[port] = socket;
		if (*value == '\0')
			return NULL;
		if (*value++ != ',')
			return expected;
	}
}

#define FLAG(member_) .member = offsetof(struct fwd_options, member_)
#define NUMBER(member_, min_, max_)                                                                \
	.value = "N", .member = offsetof(struct fwd_options, member_), .min = (min_), .max = (max_)
#define WORD(value_, read_) .value = (value_), .read = (read_)

/* Alphabetical, as the help shows them. */
static const struct option_spec specs[] = {
	{"auto-start", .letter = 'a', FLAG(auto_start),
		.help = "with -i: start forwarding at once"},
	{"burst", NUMBER(burst, 0, FWD_BURST_MAX),
		.help = "packets a burst; 0: what the driver recommends; default 32"},
	{"forward-mode", WORD("MODE", read_engine),
		.help = "io, mac, macswap or 5tswap; default io"},
	{"help", .letter = 'h', FLAG(help), .help = "show this and exit"},
	{"interactive", .letter = 'i', FLAG(interactive), .help = "prompt for commands"},
	{"mbcache", NUMBER(mbcache, 0, RTE_MEMPOOL_CACHE_MAX_SIZE),
		.help = "mbufs cached per lcore; default 250"},
	{"nb-cores", NUMBER(nb_cores, 1, RTE_MAX_LCORE), .help = "forwarding lcores; default 1"},
	{"no-lsc-interrupt", FLAG(no_lsc_interrupt), .help = "no link status change interrupt"},
	{"port-numa-config", WORD("(P,S)[,...]", read_port_sockets),
		.help = "port P's memory is on socket S"},
	{"port-topology", WORD("NAME", read_topology),
		.help = "paired, chained or loop; default paired"},
	{"ring-ports", NUMBER(ring_ports, 1, RTE_MAX_ETHPORTS),
		.help = "make net_ring ports, filled with IPv4/UDP frames that circulate"},
	{"rss-udp", FLAG(rss_udp), .help = "spread UDP flows over the Rx queues"},
	{"rxd", NUMBER(rxd, 1, UINT16_MAX),
		.help = "descriptors an Rx queue; default: the driver's"},
	{"rxq", NUMBER(rxq, 1, RTE_MAX_QUEUES_PER_PORT), .help = "Rx queues a port; default 1"},
	{"slices", FLAG(slices),
		.help = "obey `run N [WARMUP]` and `quit` on standard input; no prompt"},
	{"socket-num", NUMBER(socket_num, 0, RTE_MAX_NUMA_NODES - 1),
		.help = "all memory is on socket N"},
	{"stats-period", NUMBER(stats_period, 0, UINT16_MAX - 1),
		.help = "show the ports' counters every N seconds; 0: never; default 0"},
	{"txd", NUMBER(txd, 1, UINT16_MAX),
		.help = "descriptors a Tx queue; default: the driver's"},
	{"txq", NUMBER(txq, 1, RTE_MAX_QUEUES_PER_PORT), .help = "Tx queues a port; default 1"},
	{"verify", FLAG(verify),
		.help = "with --ring-ports: at the end, say what became of the frames"},
	{"version", FLAG(version), .help = "show the DPDK release and exit"},
};

#undef FLAG
#undef NUMBER
#undef WORD

static void
show_accepted(char *text, size_t size)
{
	size_t used = 0;

	for (unsigned int i = 0; i < RTE_DIM(specs) && used < size; i++) {
		const int n = snprintf(text + used, size - used, " --%s", specs[i].name);

		if (n > 0)
			used += (size_t)n;
	}
}

void
fwd_options_help(FILE *out)
{
	fprintf(out, "usage: forwarder [EAL option...] -- [option...]\n"
		     "Forwards packets between DPDK ports as testpmd does.\n\n");
	for (unsigned int i = 0; i < RTE_DIM(specs); i++) {
		const struct option_spec *spec = &specs[i];
		char name[48];

		if (spec->letter != 0)
			snprintf(name, sizeof(name), "-%c, --%s", spec->letter, spec->name);
		else
			snprintf(name, sizeof(name), "    --%s%s%s", spec->name,
				spec->value ? "=" : "", spec->value ? spec->value : "");
		fprintf(out, "  %-36s %s", name, spec->help);
		if (spec->value != NULL && spec->read == NULL)
			fprintf(out, " (%u to %u)", spec->min, spec->max);
		fputc('\n', out);
	}
	fprintf(out, "\n"
		     "With more than one lcore the main one controls and the others forward; a "
		     "single one does both.\n"
		     "Files: none.\n"
		     "Exit status: 0 done, 1 could not run, 2 wrong usage.\n"
		     "Example: forwarder -l 1 --in-memory -- --slices --ring-ports=2 "
		     "--forward-mode=macswap --burst=64\n");
}

static void
set_defaults(struct fwd_options *opt)
{
	memset(opt, 0, sizeof(*opt));
	opt->burst = 32;
	opt->mbcache = 250;
	opt->nb_cores = 1;
	opt->rxq = 1;
	opt->txq = 1;
	opt->socket_num = FWD_SOCKET_UNSET;
	for (unsigned int i = 0; i < RTE_MAX_ETHPORTS; i++)
		opt->port_socket[i] = FWD_SOCKET_UNSET;
	opt->topology = FWD_PAIRED;
	opt->engine = &fwd_io;
}

/* Puts one option where it belongs. */
static int
set_option(struct fwd_options *opt, const struct option_spec *spec, const char *value)
{
	char *member = (char *)opt + spec->member;
	const char *expected, *rest = value;
	uint32_t number;

	if (spec->value == NULL) {
		*(bool *)member = true;
		return FWD_OK;
	}
	if (spec->read != NULL) {
		expected = spec->read(opt, value);
		if (expected == NULL)
			return FWD_OK;
		fwd_error("--%s '%s' is not valid; give %s", spec->name, value, expected);
		return FWD_USAGE;
	}
	if (!read_number(&rest, spec->min, spec->max, &number) || *rest != '\0') {
		fwd_error("--%s '%s' is not valid; give a number from %u to %u", spec->name, value,
			spec->min, spec->max);
		return FWD_USAGE;
	}
	memcpy(member, &number, sizeof(number));
	return FWD_OK;
}

/* What getopt_long did not like: tells an unknown option from an ambiguous and a misused one. */
static int
refuse(const char *argument, int value)
{
	const char *name = argument[0] == '-' && argument[1] == '-' ? argument + 2 : argument;
	const size_t length = strcspn(name, "=");
	unsigned int matches = 0;
	char accepted[1024];

	if (value >= UINT8_MAX) {
		fwd_error("--%s takes no value; leave it out", specs[value - UINT8_MAX].name);
		return FWD_USAGE;
	}
	for (unsigned int i = 0; i < RTE_DIM(specs); i++)
		matches += name != argument && strncmp(name, specs[i].name, length) == 0;
	show_accepted(accepted, sizeof(accepted));
	fwd_error("option '%s' is %s; accepted:%s", argument,
		matches > 1 ? "ambiguous" : "not accepted", accepted);
	return FWD_USAGE;
}

/*
 * Reads the options argv[1] to argv[argc - 1]. Returns FWD_OK or, after one line on stderr,
 * FWD_USAGE.
 */
int
fwd_options_parse(struct fwd_options *opt, int argc, char **argv)
{
	struct option table[RTE_DIM(specs) + 1];
	char letters[2 * RTE_DIM(specs) + 2] = ":";
	size_t nb_letters = 1;
	int c;

	set_defaults(opt);
	memset(table, 0, sizeof(table));
	for (unsigned int i = 0; i < RTE_DIM(specs); i++) {
		table[i].name = specs[i].name;
		table[i].has_arg = specs[i].value ? required_argument : no_argument;
		table[i].val = UINT8_MAX + (int)i; /* no letter's code */
		if (specs[i].letter != 0)
			letters[nb_letters++] = specs[i].letter;
	}
	opterr = 0;
	optind = 0; /* start afresh */
	for (;;) {
		unsigned int i = 0;

		c = getopt_long(argc, argv, letters, table, NULL);
		if (c == -1)
			break;
		if (c == '?')
			return refuse(argv[optind - 1], optopt);
		if (c == ':') {
			fwd_error("%s needs a value; see --help", argv[optind - 1]);
			return FWD_USAGE;
		}
		if (c >= UINT8_MAX)
			i = (unsigned int)c - UINT8_MAX;
		else
			while (specs[i].letter != c)
				i++;
		if (set_option(opt, &specs[i], optarg) != FWD_OK)
			return FWD_USAGE;
	}
	if (optind < argc) {
		fwd_error("'%s' is no option; see --help", argv[optind]);
		return FWD_USAGE;
	}
	return FWD_OK;
}
