/* SPDX-License-Identifier: BSD-3-Clause */
/* The switches of the software NIC, read once from MPPSDIFF_SOFTNIC_* when the library loads. */
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "softnic.h"

struct config config = {
	.cpu = -1,
	.batch = 32,
	.flows = 256,
	.seed = 1,
};

struct choice {
	const char *word;
	int value;
};

static const struct choice modes[] = {{"thread", 0}, {"inline", 1}, {NULL, 0}};
static const struct choice evict_modes[] = {
	{"none", EVICT_NONE}, {"demote", EVICT_DEMOTE}, {"flush", EVICT_FLUSH}, {NULL, 0}};
static const struct choice fault_kinds[] = {{"rx-lkey", FAULT_RX_LKEY},
	{"rx-address", FAULT_RX_ADDRESS}, {"tx-lkey", FAULT_TX_LKEY},
	{"tx-address", FAULT_TX_ADDRESS}, {"tx-bytes", FAULT_TX_BYTES},
	{"tx-length", FAULT_TX_LENGTH}, {"tx-order", FAULT_TX_ORDER}, {NULL, 0}};

static const char *
switch_value(const char *name)
{
	char variable[64] = "MPPSDIFF_SOFTNIC_";
	const char *value;

	strncat(variable, name, sizeof(variable) - strlen(variable) - 1);
	value = getenv(variable);
	return value != NULL && *value != '\0' ? value : NULL;
}

/* Strict decimal number in low..high; ends the process otherwise. */
static unsigned long
parse_number(const char *name, const char *text, unsigned long low, unsigned long high)
{
	char *end;
	unsigned long n;

	errno = 0;
	n = strtoul(text, &end, 10);
	if (errno != 0 || end == text || *end != '\0' || *text == '-' || n < low || n > high)
		usage("MPPSDIFF_SOFTNIC_%s=%s: expected a number from %lu to %lu", name, text, low,
			high);
	return n;
}

static unsigned long
number_switch(const char *name, unsigned long low, unsigned long high, unsigned long fallback)
{
	const char *text = switch_value(name);

	return text == NULL ? fallback : parse_number(name, text, low, high);
}

static int
word_switch(const char *name, const struct choice *choice, size_t len, int fallback)
{
	const char *text = switch_value(name);

	if (text == NULL)
		return fallback;
	for (; choice->word != NULL; choice++)
		if (strlen(choice->word) == len && strncmp(choice->word, text, len) == 0)
			return choice->value;
	usage("MPPSDIFF_SOFTNIC_%s=%s: unknown word; docs/softnic.md lists them", name, text);
}

/* FAULT=KIND or FAULT=KIND:PACKET. */
static void
read_fault(void)
{
	const char *text = switch_value("FAULT");
	const char *colon;

	if (text == NULL)
		return;
	colon = strchr(text, ':');
	config.fault = word_switch("FAULT", fault_kinds,
		colon != NULL ? (size_t)(colon - text) : strlen(text), FAULT_NONE);
	if (colon != NULL)
		config.fault_packet = parse_number("FAULT", colon + 1, 0, LONG_MAX);
	if (!config.verify)
		usage("MPPSDIFF_SOFTNIC_FAULT needs MPPSDIFF_SOFTNIC_VERIFY=1");
}

static int
plain_word(const char *name, const struct choice *choice, int fallback)
{
	const char *text = switch_value(name);

	return word_switch(name, choice, text == NULL ? 0 : strlen(text), fallback);
}

__attribute__((constructor)) static void
read_config(void)
{
	config.debug = number_switch("DEBUG", 0, 1, 0);
	config.verify = number_switch("VERIFY", 0, 1, 0);
	config.time = number_switch("TIME", 0, 1, 0);
	config.compress = number_switch("CQE_COMP", 0, 1, 0);
	config.inline_mode = plain_word("MODE", modes, 0);
	config.evict = plain_word("EVICT", evict_modes, EVICT_NONE);
	config.cpu = (int)number_switch("CPU", 0, 4095, ULONG_MAX);
	config.batch = number_switch("BATCH", 1, 4096, config.batch);
	config.flows = number_switch("FLOWS", 1, 65536, config.flows);
	config.seed = number_switch("SEED", 0, UINT32_MAX, config.seed);
	read_fault();
	evict_check();
}
