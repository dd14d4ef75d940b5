/* guarded.c - memory between two pages that may not be touched.
 *
 * A function that reads or writes outside its buffer hits a protected page and is reported by the
 * name of the buffer. */
/* SPDX-License-Identifier: MIT */
#include "tools/reps/guarded.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* The list of those in use, for the crash handler. */
static struct guarded *guards[8];

static size_t page(void)
{
    return (size_t)sysconf(_SC_PAGESIZE);
}

bool guarded_new(struct guarded *g, const char *name, size_t size, size_t align, bool at_end,
                 bool reading)
{
    size_t inside = (size + page() - 1) / page() * page() + (size == 0 ? page() : 0), i;
    uint8_t *map = mmap(NULL, inside + 2 * page(), reading ? PROT_READ : PROT_NONE,
                        MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    if (map == MAP_FAILED)
        return false;
    if (mprotect(map + page(), inside, PROT_READ | PROT_WRITE) != 0)
        return false;
    memset(map + page(), GUARD_FILL, inside);
    *g = (struct guarded){name, map, map + page(), inside, size, reading};
    if (at_end)
        g->p += (inside - size) / align * align;
    for (i = 0; i < sizeof guards / sizeof *guards; i++)
        if (!guards[i]) {
            guards[i] = g;
            break;
        }
    return true;
}

void guarded_free(struct guarded *g)
{
    size_t i;

    for (i = 0; i < sizeof guards / sizeof *guards; i++)
        if (guards[i] == g)
            guards[i] = NULL;
    if (g->map)
        munmap(g->map, g->inside + 2 * page());
    g->map = NULL;
}

void guarded_protect(struct guarded *g)
{
    mprotect(g->map + page(), g->inside, PROT_READ);
}

bool guarded_intact(const struct guarded *g)
{
    const uint8_t *begin = g->map + page(), *p;

    for (p = begin; p < begin + g->inside; p++)
        if ((p < g->p || p >= g->p + g->size) && *p != GUARD_FILL)
            return false;
    return true;
}

const char *guarded_fault(const void *address, char text[120])
{
    const uint8_t *at = address;
    size_t i;

    for (i = 0; i < sizeof guards / sizeof *guards; i++) {
        const struct guarded *g = guards[i];

        if (!g || at < g->map || at >= g->map + g->inside + 2 * page())
            continue;
        if (at >= g->p && at < g->p + g->size)
            snprintf(text, 120, "wrote to %s, which it may only read", g->name);
        else if (at < g->p)
            snprintf(text, 120, "%s %zu bytes before %s", g->reading ? "wrote" : "read",
                     (size_t)(g->p - at), g->name);
        else
            snprintf(text, 120, "%s outside %s, %zu bytes behind its end",
                     g->reading ? "wrote" : "read", g->name, (size_t)(at - g->p) - g->size + 1);
        return text;
    }
    return NULL;
}
