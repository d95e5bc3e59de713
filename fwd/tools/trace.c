/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * trace: which instructions a process executes between two functions, counted exactly
 * by single-stepping with ptrace: any instruction set, no performance counters. Says
 * for each library, object and function how many there are.
 */
#include "images.h"
#include "tracee.h"
#include "util.h"
#include "x86.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

static const char usage_text[] =
	"usage: trace [options] [--] COMMAND [ARGUMENT...]\n"
	"       trace --pid=PID --regions=N [options]\n"
	"\n"
	"Count the instructions a program executes in its timed regions, by function.\n"
	"\n"
	"options, before COMMAND\n"
	"  --addresses=FILE   also write TSV: library object function address count first, for\n"
	"                     each instruction, with its address as objdump shows it, and the\n"
	"                     number of the step that met it first\n"
	"  --apart=FILE       shared library (path or base name) whose instructions are\n"
	"                     counted apart: the software NIC\n"
	"  --begin=FUNCTION   of the program itself, where a region begins\n"
	"                     (default fwd_timed_begin)\n"
	"  --cpu=N            step on this CPU: tracer and traced thread on one CPU need not\n"
	"                     wake each other across two (default: the CPU the thread is\n"
	"                     bound to, if it is one)\n"
	"  --end=FUNCTION     where it ends (default fwd_timed_end); 'return' stands for the\n"
	"                     return of the beginning function\n"
	"  --help             this text\n"
	"  --map=FILE         linker's map of the program: tells library and object of what is\n"
	"                     linked in; of a shared library LIBRARY.map beside it does; else\n"
	"                     DWARF tells the source file\n"
	"  --out=FILE         write TSV: library object function count\n"
	"  --packets=N        forwarded in the traced regions; else taken from the program's\n"
	"                     answers 'packets=N' if all regions are traced\n"
	"  --pid=PID          attach to a process; it goes on afterwards\n"
	"  --regions=N        trace so many regions, then let go (default: all); the program's\n"
	"                     stdin stays open so long\n"
	"  --send=LINE        write a line to the program's stdin; may be given repeatedly\n"
	"  --skip=N           do not trace the first N regions (default 0)\n"
	"  --stop-at=N        give up after N instructions (default 50000000)\n"
	"  --timeout=SECONDS  give up after so long (default 300)\n"
	"\n"
	"A region goes from the first instruction of --begin to the one before the first of\n"
	"--end. An iteration of a repeated string instruction is no instruction of its own.\n"
	"The sums are printed to stdout, key=value a line. got_loads are operands in the GOT,\n"
	"of TLS offsets as well; plt_calls are jumps through the PLT.\n"
	"\n"
	"exit status\n"
	"  0 done, 1 a region was not reached or not ended, or the program failed,\n"
	"  2 wrong usage, or a file that cannot be read\n"
	"\n"
	"example\n"
	"  trace --send 'run 100 1000' --out folded.tsv --map forwarder.map \\\n"
	"    forwarder --slices --no-huge -m 256 --vdev net_null0 -- --forward-mode macswap\n";

enum {
	OPT_ADDRESSES,
	OPT_APART,
	OPT_BEGIN,
	OPT_CPU,
	OPT_END_AT,
	OPT_HELP,
	OPT_MAP,
	OPT_OUT,
	OPT_PACKETS,
	OPT_PID,
	OPT_REGIONS,
	OPT_SEND,
	OPT_SKIP,
	OPT_STOP_AT,
	OPT_TIMEOUT,
};

static const struct opt option_table[] = {
	{"addresses", true, OPT_ADDRESSES},
	{"apart", true, OPT_APART},
	{"begin", true, OPT_BEGIN},
	{"cpu", true, OPT_CPU},
	{"end", true, OPT_END_AT},
	{"help", false, OPT_HELP},
	{"map", true, OPT_MAP},
	{"out", true, OPT_OUT},
	{"packets", true, OPT_PACKETS},
	{"pid", true, OPT_PID},
	{"regions", true, OPT_REGIONS},
	{"send", true, OPT_SEND},
	{"skip", true, OPT_SKIP},
	{"stop-at", true, OPT_STOP_AT},
	{"timeout", true, OPT_TIMEOUT},
	{NULL, false, 0},
};

#define TLS_GET_ADDR "__tls_get_addr"

struct options {
	const char *addresses, *apart, *begin, *end, *map, *out;
	char *send; /* lines, each with its newline */
	char **argv;
	uint64_t packets, regions, skip, stop_at;
	unsigned int timeout_s;
	unsigned int cpu;
	pid_t pid;
	bool has_packets, has_cpu;
};

/* One instruction that was executed. */
struct spot {
	uint64_t address; /* in the process; 0: the slot is free */
	uint64_t count;
	uint64_t first;	     /* step that met it first */
	unsigned int length; /* bytes, 0 while unknown */
	bool apart;
	struct x86_insn insn;
	int32_t displacement; /* of a PC-relative operand */
	struct place place;
};

struct trace {
	struct options opt;
	struct tracee tracee;
	struct images *images;
	struct linkmap map;
	uint64_t begin, end; /* addresses in the process; end is 0 for 'return' */
	bool found;	     /* --begin and --end are in the program that runs */
	char *program;	     /* the last one looked at */
	struct spot *spot;   /* open addressing, room is a power of two */
	size_t n, room;
	size_t last;	  /* slot of the instruction before, or room if there is none */
	bool counted;	  /* that one, or it repeated itself */
	uint64_t steps;	  /* single steps */
	uint64_t skipped; /* regions not traced */
	uint64_t regions; /* traced */
	pid_t moved;	  /* thread that steps on another CPU than its own, 0 if none does */
	cpu_set_t home;	  /* where it belongs */
	int input;	  /* end of the pipe to its stdin, 0 if closed */
	int output;	  /* what the program writes to stdout, in memory */
	struct outfile functions, addresses, sums;
};

/* --- instructions --------------------------------------------------------- */

/* Slot of an address, or the free one where it belongs. */
static size_t
slot_of(const struct spot *spot, size_t room, uint64_t address)
{
	/* Fibonacci hashing (Knuth, TAOCP 3, 6.4) */
	size_t i = (size_t)(address * UINT64_C(0x9e3779b97f4a7c15) >> 32) & (room - 1);

	while (spot[i].address != 0 && spot[i].address != address)
		i = (i + 1) & (room - 1);
	return i;
}

static void
grow(struct trace *tr)
{
	const size_t room = tr->room == 0 ? 4096 : tr->room * 2;
	struct spot *spot = xcalloc(room, sizeof(*spot));
	const uint64_t last = tr->last < tr->room ? tr->spot[tr->last].address : 0;

	for (size_t i = 0; i < tr->room; i++) {
		if (tr->spot[i].address != 0)
			spot[slot_of(spot, room, tr->spot[i].address)] = tr->spot[i];
	}
	free(tr->spot);
	tr->spot = spot;
	tr->room = room;
	tr->last = last != 0 ? slot_of(spot, room, last) : room;
}

static void
learn(struct trace *tr, struct spot *s, uint64_t address)
{
	unsigned char code[X86_MAX_BYTES];
	const size_t n = tracee_read(&tr->tracee, address, code, sizeof(code));

	s->address = address;
	x86_decode(&s->insn, code, n);
	if (s->insn.rip_relative && s->insn.disp + sizeof(s->displacement) <= n)
		memcpy(&s->displacement, code + s->insn.disp, sizeof(s->displacement));
	else
		s->insn.rip_relative = false;
	/* a branch through memory has nothing behind its operand; others show their end */
	if (s->insn.indirect && s->insn.rip_relative)
		s->length = s->insn.disp + (unsigned int)sizeof(s->displacement);
	images_find(tr->images, address, &s->place);
	s->apart = tr->opt.apart != NULL && image_is(s->place.image, tr->opt.apart);
}

/* Takes note that the instruction at address is executed next. */
static void
record(struct trace *tr, uint64_t address)
{
	struct spot *before = tr->last < tr->room ? &tr->spot[tr->last] : NULL;
	struct spot *s;
	size_t i;

	if (before != NULL && before->length == 0 && !before->insn.branch &&
		address > before->address && address - before->address <= X86_MAX_BYTES)
		before->length = (unsigned int)(address - before->address);
	tr->counted = before == NULL || before->address != address || !before->insn.rep_string;
	if (!tr->counted)
		return;
	if (tr->n * 2 >= tr->room)
		grow(tr);
	i = slot_of(tr->spot, tr->room, address);
	s = &tr->spot[i];
	if (s->address == 0) {
		learn(tr, s, address);
		s->first = tr->steps;
		tr->n++;
	}
	s->count++;
	tr->last = i;
}

/* Takes that back: a signal came before the instruction was executed. */
static void
take_back(struct trace *tr)
{
	tr->spot[tr->last].count -= tr->counted;
	tr->last = tr->room;
}

/* --- regions -------------------------------------------------------------- */

/*
 * Brings tracer and thread onto one CPU: a step is two context switches, and waking the other one
 * across CPUs costs several times as much. Where the kernel refuses, it only takes longer.
 */
static void
share_cpu(struct trace *tr, pid_t tid)
{
	cpu_set_t set;

	if (sched_getaffinity(tid, sizeof(set), &set) != 0)
		return;
	if (tr->opt.has_cpu) {
		tr->home = set;
		CPU_ZERO(&set);
		CPU_SET(tr->opt.cpu, &set);
		if (sched_setaffinity(tid, sizeof(set), &set) != 0)
			return;
		tr->moved = tid;
	}
	if (CPU_COUNT(&set) == 1)
		(void)sched_setaffinity(0, sizeof(set), &set);
}

static void
give_back_cpu(struct trace *tr)
{
	/* a thread that has ended by now needs none */
	if (tr->moved != 0)
		(void)sched_setaffinity(tr->moved, sizeof(tr->home), &tr->home);
	tr->moved = 0;
}

static _Noreturn void
give_up(struct trace *tr, const char *what)
{
	give_back_cpu(tr);
	tracee_stop(&tr->tracee);
	die(EXIT_FAIL, "%s", what);
}

static _Noreturn void
give_up_step(struct trace *tr, enum tracee_step step)
{
	if (step == STEP_SIGNAL)
		give_up(tr, "interrupted; nothing is written");
	if (step == STEP_TIMEOUT)
		give_up(tr, xasprintf("%s was not reached within %u seconds after %s; raise "
				      "--timeout or trace fewer packets",
				    tr->opt.end, tr->opt.timeout_s, tr->opt.begin));
	give_up(tr, xasprintf("the program ended inside a region; does %s come after %s?",
			    tr->opt.end, tr->opt.begin));
}

static _Noreturn void
give_up_far(struct trace *tr, uint64_t address)
{
	struct place place;

	images_find(tr->images, address, &place);
	give_up(tr, xasprintf("%s was not reached within %" PRIu64 " instructions after %s (now in "
			      "%s); raise --stop-at or trace fewer packets",
			    tr->opt.end, tr->opt.stop_at, tr->opt.begin, place.function));
}

/* Where the beginning function returns to, and the stack pointer before it does. */
struct frame {
	uint64_t stack, back;
};

static bool
at_end(const struct trace *tr, const struct frame *frame, const struct user_regs_struct *regs)
{
	if (tr->end != 0)
		return regs->rip == tr->end;
	return regs->rip == frame->back && regs->rsp > frame->stack;
}

/* Steps a thread that stands at the breakpoint to the end of its region. */
static void
trace_region(struct trace *tr, pid_t tid)
{
	struct user_regs_struct regs;
	struct frame frame;
	enum tracee_step step;

	tracee_regs(&tr->tracee, tid, &regs);
	frame.stack = regs.rsp;
	if (tracee_read(&tr->tracee, regs.rsp, &frame.back, sizeof(frame.back)) !=
		sizeof(frame.back))
		give_up(tr, "the stack cannot be read");
	tr->last = tr->room;
	share_cpu(tr, tid);
	while (!at_end(tr, &frame, &regs)) {
		if (tr->steps++ >= tr->opt.stop_at)
			give_up_far(tr, regs.rip);
		record(tr, regs.rip);
		step = tracee_step(&tr->tracee, tid, regs.rip);
		if (step == STEP_HANDLER)
			take_back(tr);
		else if (step != STEP_DONE)
			give_up_step(tr, step);
		tracee_regs(&tr->tracee, tid, &regs);
	}
	give_back_cpu(tr);
	tr->regions++;
}

/* A thread stands at the breakpoint. False if no more regions are wanted. */
static bool
reached(struct trace *tr, pid_t tid)
{
	enum tracee_step step;

	if (tr->skipped < tr->opt.skip) {
		tr->skipped++;
		step = tracee_step(&tr->tracee, tid, tr->begin);
		if (step != STEP_DONE && step != STEP_HANDLER)
			give_up_step(tr, step);
	} else {
		trace_region(tr, tid);
	}
	if (tr->opt.regions != 0 && tr->regions == tr->opt.regions)
		return false;
	tracee_continue(&tr->tracee, tid);
	return true;
}

/* The process runs another program: its files are looked at, the breakpoint is set. */
static void
new_program(struct trace *tr, pid_t tid)
{
	images_close(tr->images);
	tr->images = images_open(tr->tracee.pid, tr->opt.map != NULL ? &tr->map : NULL);
	free(tr->program);
	tr->program = xstrdup(images_program(tr->images));
	tr->end = 0;
	tr->found = images_function(tr->images, tr->opt.begin, &tr->begin) &&
		    (strcmp(tr->opt.end, "return") == 0 ||
			    images_function(tr->images, tr->opt.end, &tr->end));
	if (tr->found)
		tracee_break(&tr->tracee, tr->begin);
	else if (tr->tracee.attached)
		give_up(tr, xasprintf("%s has no function %s, or no %s; is it stripped?",
				    tr->program, tr->opt.begin, tr->opt.end));
	tracee_continue(&tr->tracee, tid);
}

static void
follow(struct trace *tr)
{
	pid_t tid;

	for (;;) {
		switch (tracee_wait(&tr->tracee, &tid)) {
		case TRACEE_ENDED:
			return;
		case TRACEE_PROGRAM:
			new_program(tr, tid);
			break;
		case TRACEE_REACHED:
			if (!reached(tr, tid)) {
				tracee_detach(&tr->tracee);
				return;
			}
			break;
		case TRACEE_TIMEOUT:
			give_up(tr,
				xasprintf("after %u seconds %" PRIu64 " regions were traced and "
					  "the program still runs; raise --timeout, or give "
					  "--regions",
					tr->opt.timeout_s, tr->regions));
		case TRACEE_SIGNAL:
			give_up(tr, "interrupted; nothing is written");
		}
	}
}

/* --- the program ---------------------------------------------------------- */

/* Its stdout: a file in memory never blocks it and is read at the end. */
static int
open_output(void)
{
	const int fd = memfd_create("stdout", MFD_CLOEXEC);

	if (fd < 0)
		die(EXIT_FAIL, "cannot keep the program's output in memory: %s", strerror(errno));
	return fd;
}

/*
 * Its stdin: a pipe that holds all lines. It ends behind them, unless --regions says
 * when the trace ends: then it stays open so long, for programs that take the end of
 * input for an order to stop (testpmd).
 */
static int
open_input(struct trace *tr)
{
	const size_t len = strlen(tr->opt.send);
	int end[2];

	if (pipe2(end, O_CLOEXEC) != 0 || fcntl(end[1], F_SETFL, O_NONBLOCK) != 0)
		die(EXIT_FAIL, "pipe failed: %s", strerror(errno));
	if (write(end[1], tr->opt.send, len) != (ssize_t)len)
		die(EXIT_BAD, "the lines of --send do not fit into a pipe; send fewer");
	tr->input = end[1];
	return end[0];
}

static void
end_input(struct trace *tr)
{
	if (tr->input > 0)
		close(tr->input);
	tr->input = 0;
}

static void
start(struct trace *tr)
{
	int input;

	if (tr->opt.pid != 0) {
		tracee_attach(&tr->tracee, tr->opt.pid, tr->opt.timeout_s);
		return;
	}
	input = open_input(tr);
	tr->output = open_output();
	tracee_start(&tr->tracee, tr->opt.argv, input, tr->output, tr->opt.timeout_s);
	close(input);
	if (tr->opt.regions == 0)
		end_input(tr);
}

/* Adds up "packets=N" of the answers; dies if there is an error line. */
static void
read_answers(struct trace *tr)
{
	FILE *f = fdopen(tr->output, "r");
	char *line = NULL, *rest;
	uint64_t packets;
	size_t room = 0;

	if (f == NULL || fseek(f, 0, SEEK_SET) != 0)
		die(EXIT_FAIL, "cannot read what the program said: %s", strerror(errno));
	while (getline(&line, &room, f) >= 0) {
		line[strcspn(line, "\n")] = '\0';
		if (strncmp(line, "error", strlen("error")) == 0)
			die(EXIT_FAIL, "the program answered: %s", line);
		if (strncmp(line, "packets=", strlen("packets=")) != 0)
			continue;
		rest = line + strlen("packets=");
		rest[strcspn(rest, " ")] = '\0';
		if (parse_u64(rest, &packets) == 0 && !tr->opt.has_packets && tr->opt.skip == 0 &&
			tr->opt.regions == 0)
			tr->opt.packets += packets;
	}
	free(line);
	fclose(f);
}

/* Waits for a program that was let go. */
static void
wait_for_end(struct trace *tr)
{
	struct tracee *t = &tr->tracee;

	while (t->alive) {
		if (waitpid(t->pid, &t->status, 0) == t->pid)
			t->alive = false;
		else if (errno != EINTR)
			die(EXIT_FAIL, "cannot wait for the program: %s", strerror(errno));
		else if (tracee_is_late(t))
			give_up(tr, "the program did not end after its regions; raise --timeout");
	}
}

static void
check_status(const struct trace *tr)
{
	const int status = tr->tracee.status;

	if (WIFSIGNALED(status))
		die(EXIT_FAIL, "%s died of signal %d; see what it said above", tr->program,
			WTERMSIG(status));
	if (WEXITSTATUS(status) != 0)
		die(EXIT_FAIL, "%s ended with status %d; see what it said above", tr->program,
			WEXITSTATUS(status));
}

static void
finish(struct trace *tr)
{
	if (!tr->tracee.attached) {
		end_input(tr);
		wait_for_end(tr);
		read_answers(tr);
		check_status(tr);
	}
	if (!tr->found)
		die(EXIT_FAIL, "%s has no function %s, or no %s; is it stripped?", tr->program,
			tr->opt.begin, tr->opt.end);
	if (tr->regions == 0)
		die(EXIT_FAIL, "%s never came to %s%s; does --send make it forward?", tr->program,
			tr->opt.begin, tr->skipped > 0 ? " after the skipped ones" : "");
}

/* --- output --------------------------------------------------------------- */

struct sums {
	uint64_t all, apart;
	uint64_t plt, got, tls, indirect, loads, stores;
};

static bool
loads_from_got(const struct spot *s)
{
	const uint64_t target = s->place.address + s->length + (uint64_t)(int64_t)s->displacement;

	return s->insn.rip_relative && s->length != 0 && s->insn.load && !s->place.plt &&
	       image_in_got(s->place.image, target);
}

static void
add_up(const struct trace *tr, struct sums *sums)
{
	*sums = (struct sums){0};
	for (size_t i = 0; i < tr->room; i++) {
		const struct spot *s = &tr->spot[i];

		if (s->apart)
			sums->apart += s->count;
		if (s->address == 0 || s->apart)
			continue;
		sums->all += s->count;
		sums->plt += s->place.plt && s->insn.indirect ? s->count : 0;
		sums->got += loads_from_got(s) ? s->count : 0;
		sums->tls += s->place.address == s->place.start &&
					     strcmp(s->place.function, TLS_GET_ADDR) == 0
				     ? s->count
				     : 0;
		sums->indirect += s->insn.indirect ? s->count : 0;
		sums->loads += s->insn.load ? s->count : 0;
		sums->stores += s->insn.store ? s->count : 0;
	}
}

static void
print_sums(const struct trace *tr)
{
	const uint64_t packets = tr->opt.packets;
	struct sums s;

	add_up(tr, &s);
	printf("instructions=%" PRIu64 "\n", s.all);
	printf("instructions_apart=%" PRIu64 "\n", s.apart);
	printf("regions=%" PRIu64 "\n", tr->regions);
	if (packets == 0)
		printf("packets=-\ninstructions_per_packet=-\n");
	else
		printf("packets=%" PRIu64 "\ninstructions_per_packet=%.4f\n", packets,
			(double)s.all / (double)packets);
	printf("plt_calls=%" PRIu64 "\n", s.plt);
	printf("got_loads=%" PRIu64 "\n", s.got);
	printf("tls_get_addr_calls=%" PRIu64 "\n", s.tls);
	printf("indirect_branches=%" PRIu64 "\n", s.indirect);
	printf("loads=%" PRIu64 "\n", s.loads);
	printf("stores=%" PRIu64 "\n", s.stores);
}

static int
by_place(const void *a, const void *b)
{
	const struct spot *x = a, *y = b;
	int order = strcmp(x->place.library, y->place.library);

	if (order == 0)
		order = strcmp(x->place.object, y->place.object);
	if (order == 0)
		order = strcmp(x->place.function, y->place.function);
	if (order == 0)
		order = (x->place.address > y->place.address) -
			(x->place.address < y->place.address);
	return order;
}

/* Moves the spots that count to the front, by place. Ends the use of the table by address. */
static void
sort_spots(struct trace *tr)
{
	size_t n = 0;

	for (size_t i = 0; i < tr->room; i++) {
		if (tr->spot[i].address != 0 && !tr->spot[i].apart)
			tr->spot[n++] = tr->spot[i];
	}
	tr->n = n;
	if (n > 0)
		qsort(tr->spot, n, sizeof(*tr->spot), by_place);
}

static bool
same_function(const struct place *a, const struct place *b)
{
	return strcmp(a->library, b->library) == 0 && strcmp(a->object, b->object) == 0 &&
	       strcmp(a->function, b->function) == 0;
}

static void
write_functions(const struct trace *tr)
{
	FILE *f = tr->functions.file;
	uint64_t count = 0;

	fprintf(f, "library\tobject\tfunction\tcount\n");
	for (size_t i = 0; i < tr->n; i++) {
		const struct place *place = &tr->spot[i].place;

		count += tr->spot[i].count;
		if (i + 1 < tr->n && same_function(place, &tr->spot[i + 1].place))
			continue;
		fprintf(f, "%s\t%s\t%s\t%" PRIu64 "\n", place->library, place->object,
			place->function, count);
		count = 0;
	}
}

static void
write_addresses(const struct trace *tr)
{
	FILE *f = tr->addresses.file;

	fprintf(f, "library\tobject\tfunction\taddress\tcount\tfirst\n");
	for (size_t i = 0; i < tr->n; i++) {
		const struct spot *s = &tr->spot[i];

		fprintf(f, "%s\t%s\t%s\t%" PRIx64 "\t%" PRIu64 "\t%" PRIu64 "\n", s->place.library,
			s->place.object, s->place.function, s->place.address, s->count, s->first);
	}
}

/* Before the trace, so that a name that cannot be written costs no time. */
static void
open_outputs(struct trace *tr)
{
	if (tr->opt.out != NULL)
		out_open(&tr->functions, tr->opt.out);
	if (tr->opt.addresses != NULL)
		out_open(&tr->addresses, tr->opt.addresses);
	out_open(&tr->sums, NULL);
}

static void
write_outputs(struct trace *tr)
{
	print_sums(tr);
	sort_spots(tr);
	if (tr->opt.out != NULL) {
		write_functions(tr);
		out_commit(&tr->functions);
	}
	if (tr->opt.addresses != NULL) {
		write_addresses(tr);
		out_commit(&tr->addresses);
	}
	out_commit(&tr->sums);
}

/* --- options -------------------------------------------------------------- */

static void
add_line(struct options *opt, const char *line)
{
	char *longer = xasprintf("%s%s\n", opt->send, line);

	free(opt->send);
	opt->send = longer;
}

static void
set_option(struct options *opt, int id, const char *value)
{
	switch (id) {
	case OPT_ADDRESSES:
		opt->addresses = value;
		break;
	case OPT_APART:
		opt->apart = value;
		break;
	case OPT_BEGIN:
		opt->begin = value;
		break;
	case OPT_END_AT:
		opt->end = value;
		break;
	case OPT_MAP:
		opt->map = value;
		break;
	case OPT_OUT:
		opt->out = value;
		break;
	case OPT_PACKETS:
		opt->packets = opt_u64("packets", value, 1, UINT64_MAX);
		opt->has_packets = true;
		break;
	case OPT_PID:
		opt->pid = (pid_t)opt_u64("pid", value, 1, INT32_MAX);
		break;
	case OPT_REGIONS:
		opt->regions = opt_u64("regions", value, 1, UINT64_MAX);
		break;
	case OPT_SEND:
		add_line(opt, value);
		break;
	case OPT_SKIP:
		opt->skip = opt_u64("skip", value, 0, UINT64_MAX);
		break;
	case OPT_CPU:
		opt->cpu = (unsigned int)opt_u64("cpu", value, 0, CPU_SETSIZE - 1);
		opt->has_cpu = true;
		break;
	case OPT_STOP_AT:
		opt->stop_at = opt_u64("stop-at", value, 1, UINT64_MAX);
		break;
	case OPT_TIMEOUT:
		opt->timeout_s = (unsigned int)opt_u64("timeout", value, 1, 86400);
		break;
	default:
		break;
	}
}

static void
check_options(const struct options *opt)
{
	if (opt->pid == 0 && opt->argv[0] == NULL)
		die(EXIT_BAD, "no command to trace and no --pid; see trace --help");
	if (opt->pid != 0 && opt->argv[0] != NULL)
		die(EXIT_BAD, "both --pid and a command; give one");
	if (opt->pid != 0 && opt->regions == 0)
		die(EXIT_BAD, "--pid needs --regions: a running process has no last one");
	if (opt->pid != 0 && opt->send[0] != '\0')
		die(EXIT_BAD, "--send needs a command: the stdin of --pid is not ours");
}

/* Options end at the first argument that is none, or behind "--": what follows belongs to the
 * command. */
static void
parse_options(struct options *opt, int argc, char **argv)
{
	const char *value;
	int id, pos = 1;

	*opt = (struct options){
		.begin = "fwd_timed_begin",
		.end = "fwd_timed_end",
		.send = xstrdup(""),
		.stop_at = 50000000,
		.timeout_s = 300,
	};
	while (true) {
		if (pos < argc && strcmp(argv[pos], "--") == 0) {
			pos++;
			break;
		}
		id = opt_next(option_table, argc, argv, &pos, &value);
		if (id == OPT_END)
			break;
		if (id == OPT_HELP) {
			fputs(usage_text, stdout);
			exit(EXIT_DONE);
		}
		if (id == OPT_POSITIONAL) {
			pos--;
			break;
		}
		set_option(opt, id, value);
	}
	opt->argv = argv + pos;
	check_options(opt);
}

int
main(int argc, char **argv)
{
	static struct trace tr; /* static: what an early exit leaves is still referred to */

	parse_options(&tr.opt, argc, argv);
	if (tr.opt.map != NULL)
		linkmap_read(&tr.map, tr.opt.map);
	open_outputs(&tr);
	start(&tr);
	follow(&tr);
	finish(&tr);
	write_outputs(&tr);
	images_close(tr.images);
	linkmap_free(&tr.map);
	tracee_free(&tr.tracee);
	free(tr.spot);
	free(tr.program);
	free(tr.opt.send);
	return EXIT_DONE;
}
