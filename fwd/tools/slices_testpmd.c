/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Speaks testpmd's prompt: `start`, a slice's time, `stop`, and the forward
 * statistics that follow. Its stdout has to be a terminal, because what it
 * prints would stay in its buffer otherwise.
 */
#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#if defined(__x86_64__) || defined(__i386__)
#include <x86intrin.h>
#endif

#include "slices_run.h"
#include "util.h"

static const char PROMPT[] = "testpmd> ";

/* What a testpmd is asked while it starts, a question a prompt, and what its answer is called. */
static const struct {
	const char *command;
	const char *key;
} QUESTIONS[] = {
	{"show rxq info 0 0\n", "rx_burst"},
	{"show txq info 0 0\n", "tx_burst"},
};

enum {
	N_QUESTIONS = sizeof(QUESTIONS) / sizeof(QUESTIONS[0]),
	TSC_MEASURED_MS = 20,
};

/* The number behind key in line. 0, or -EINVAL if there is none that fits 64 bits. */
static int
number_behind(const char *line, const char *key, uint64_t *out)
{
	const char *s = strstr(line, key);
	char digits[24];
	size_t len;

	if (s == NULL)
		return -EINVAL;
	s += strlen(key);
	len = strspn(s, "0123456789");
	if (len == 0 || len >= sizeof(digits))
		return -EINVAL;
	memcpy(digits, s, len);
	digits[len] = '\0';
	return parse_u64(digits, out) == 0 ? 0 : -EINVAL;
}

/*
 * "CPU cycles/packet=55.32 (total cycles=8439956 / total io packets=152576) at 2450 MHz Clock".
 * 18.11 says "total RX packets" and no clock; 24.11 and later say "busy cycles", which are what
 * "total cycles" always were: polls without packets are in neither.
 */
static int
cycles_line(struct testpmd_stats *s, const char *line)
{
	const char *behind = strstr(line, " cycles=");

	if (behind == NULL || number_behind(behind, " cycles=", &s->cycles) != 0)
		return -EINVAL;
	if (number_behind(behind, " packets=", &s->packets) != 0)
		return -EINVAL;
	s->have_clock = strstr(behind, " at ") != NULL;
	if (s->have_clock && (number_behind(behind, " at ", &s->mhz) != 0 || s->mhz == 0))
		return -EINVAL;
	s->have_cycles = true;
	return 0;
}

int
testpmd_stats_line(struct testpmd_stats *s, const char *line)
{
	if (strstr(line, "Accumulated forward statistics") != NULL) {
		*s = (struct testpmd_stats){.accumulated = true};
		return 0;
	}
	/* before the totals come those of each stream and port, in the same words */
	if (!s->accumulated)
		return 0;
	if (strstr(line, "RX-packets:") != NULL)
		return number_behind(line, "RX-packets: ", &s->rx_packets);
	if (strstr(line, "TX-packets:") != NULL) {
		s->have_tx = true;
		return number_behind(line, "TX-dropped: ", &s->tx_dropped);
	}
	if (strstr(line, "CPU cycles/packet=") != NULL)
		return cycles_line(s, line);
	return 0;
}

const char *
testpmd_answer(const struct testpmd_stats *s, uint64_t tsc_hz, struct answer *a)
{
	if (!s->accumulated || !s->have_tx)
		return "bad answer: no forward statistics";
	/* without a packet no release says anything about cycles */
	if (!s->have_cycles && s->rx_packets > 0)
		return "bad answer: no CPU cycles; --record-core-cycles is not in effect";
	if (s->packets != s->rx_packets)
		return "bad answer: the statistics contradict each other";
	*a = (struct answer){
		.packets = s->packets,
		.cycles = s->cycles,
		.tsc_hz = s->have_clock ? s->mhz * 1000000 : tsc_hz,
		.dropped = s->tx_dropped,
	};
	return NULL;
}

/* The frequency of the time stamp counter; 0 on machines where testpmd has to say it. */
static uint64_t
measured_tsc_hz(void)
{
#if defined(__x86_64__) || defined(__i386__)
	const struct timespec wait = {0, TSC_MEASURED_MS * 1000000};
	static uint64_t hz;
	uint64_t tsc;
	int64_t ns;

	if (hz != 0)
		return hz;
	ns = now_ns();
	tsc = __rdtsc();
	nanosleep(&wait, NULL);
	tsc = __rdtsc() - tsc;
	ns = now_ns() - ns;
	hz = (uint64_t)((double)tsc * 1e9 / (double)ns);
	return hz;
#else
	return 0;
#endif
}

/* Between its slices it is stopped: drivers and software NICs may have threads that never sleep. */
static void
rest(const struct proc *p)
{
	proc_signal(p, SIGSTOP);
}

/* Adds " key=value" to what p said when it was ready, the value one word. */
static void
note(struct proc *p, const char *key, const char *value)
{
	size_t len = strlen(p->ready);
	char word[64];

	clean_text(word, sizeof(word), value);
	for (char *c = word; *c != '\0'; c++) {
		if (*c == ' ')
			*c = '_';
	}
	snprintf(p->ready + len, sizeof(p->ready) - len, " %s=%s", key,
		word[0] != '\0' ? word : "-");
}

/* A prompt came: the next question, or after the last it is ready. */
static void
next_step(struct proc *p)
{
	const char *key;

	if (p->step == 0)
		snprintf(p->ready, sizeof(p->ready), "ready forwarder=testpmd");
	if (p->step > 0) {
		key = QUESTIONS[p->step - 1].key;
		if (strstr(p->ready, key) == NULL)
			note(p, key, "-"); /* releases before 19.11 do not say it */
	}
	if (p->step == N_QUESTIONS) {
		p->state = PROC_READY;
		p->listening = false;
		rest(p);
		return;
	}
	/* if this fails, p has ended, and the next look tells how */
	proc_send(p, QUESTIONS[p->step++].command);
}

void
testpmd_check_start(struct run *run, struct proc *p)
{
	char line[PROC_LINE_MAX], what[64];
	const char *burst;
	int got = 0;

	while (p->state == PROC_STARTING) {
		if (proc_take(p, PROMPT)) {
			next_step(p);
			continue;
		}
		got = proc_line(p, line);
		if (got != 1)
			break;
		burst = strstr(line, "Burst mode: ");
		if (burst != NULL && p->step > 0)
			note(p, QUESTIONS[p->step - 1].key, burst + strlen("Burst mode: "));
	}
	if (p->state != PROC_STARTING)
		return;
	if (got != 0) {
		run_fail_start(run, p, "bad output");
	} else if (p->pid == 0) {
		proc_ending(p, what, sizeof(what));
		run_fail_start(run, p, what);
	} else if (now_ns() >= p->deadline_ns) {
		run_fail_start(run, p, "timeout");
	}
}

/* Gives a command and reads to the next prompt. False if p has failed. */
static bool
command(struct run *run, struct proc *p, const char *words, struct testpmd_stats *s)
{
	const int64_t deadline = now_ns() + run->timeout_ns;
	char line[PROC_LINE_MAX], text[PROC_REASON_MAX / 2];
	int got;

	/* if this fails, p has ended or closed its stdin: run_await() tells which */
	proc_send(p, words);
	while ((got = run_await(run, p, line, PROMPT, deadline)) == 1) {
		if (testpmd_stats_line(s, line) != 0) {
			clean_text(text, sizeof(text), line);
			run_fail(run, p, "bad answer: %s", text);
			return false;
		}
	}
	if (got == 2)
		return true;
	run_fail_silent(run, p, got);
	return false;
}

bool
testpmd_slice(struct run *run, struct proc *p, struct answer *a)
{
	struct testpmd_stats s = {0};
	const char *wrong;
	int64_t end;

	proc_signal(p, SIGCONT);
	if (!command(run, p, "start\n", &s))
		return false;
	end = now_ns() + (int64_t)run->slice_ns;
	while (p->pid != 0 && now_ns() < end)
		fleet_wait(&run->fleet, end);
	s = (struct testpmd_stats){0};
	if (!command(run, p, "stop\n", &s))
		return false;
	rest(p);
	wrong = testpmd_answer(&s, s.have_cycles && !s.have_clock ? measured_tsc_hz() : 1, a);
	if (wrong == NULL && a->tsc_hz > 0)
		return true;
	run_fail(run, p, "%s", wrong != NULL ? wrong : "bad answer: it does not say its clock");
	return false;
}
