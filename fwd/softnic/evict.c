/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Stand-in for DDIO: a real device's writes land in the last-level cache, while the inline step
 * leaves them in the core's own. The switch EVICT=demote asks the CPU to move the lines outwards
 * (CLDEMOTE), EVICT=flush writes them back to memory, which is further out than DDIO.
 */
#include "softnic.h"

#if defined(__x86_64__)
#include <cpuid.h>
#include <emmintrin.h>

static bool
have_cldemote(void)
{
	unsigned a, b, c = 0, d;

	/* Intel SDM, CPUID leaf 7: ECX bit 25. Without it the instruction does nothing. */
	return __get_cpuid_count(7, 0, &a, &b, &c, &d) && (c & 1u << 25);
}

static ALWAYS_INLINE void
demote(const void *line)
{
	/* cldemote (%rax): spelled in bytes for assemblers that do not know it. */
	__asm__ volatile(".byte 0x0f, 0x1c, 0x00" : : "a"(line) : "memory");
}

static ALWAYS_INLINE void
flush(const void *line)
{
	_mm_clflush(line);
}
#else
static bool
have_cldemote(void)
{
	return false;
}

static void
demote(const void *line)
{
	(void)line;
}

static void
flush(const void *line)
{
	(void)line;
}
#endif

/* Move the cache lines of ADDR..ADDR+LEN-1 away from this core, as config.evict says. */
void
evict_lines(const void *addr, size_t len)
{
	uintptr_t line = (uintptr_t)addr & ~(uintptr_t)63;
	uintptr_t end = (uintptr_t)addr + len;

	for (; line < end; line += 64) {
		if (config.evict == EVICT_DEMOTE)
			demote((const void *)line);
		else
			flush((const void *)line);
	}
}

/* Say so when the chosen way does nothing on this CPU. */
void
evict_check(void)
{
	if (config.evict == EVICT_DEMOTE && !have_cldemote())
		warn("this CPU has no CLDEMOTE: MPPSDIFF_SOFTNIC_EVICT=demote has no effect");
}
