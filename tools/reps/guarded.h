/* guarded.h - memory between two pages that may not be touched. */
/* SPDX-License-Identifier: MIT */
#ifndef TOOLS_REPS_GUARDED_H
#define TOOLS_REPS_GUARDED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Memory between two pages that may not be touched.  Of `size` bytes the last ones lie
 * before the second page (at_end), or the first ones behind the first; all others up to
 * a page's end are filled with GUARD_FILL. */
enum { GUARD_FILL = 0xa7 };
struct guarded {
    const char *name;
    uint8_t *map, *p;
    size_t inside, size;
    bool reading; /* the pages around may be read: what fails was a write */
};
/* align: of p, a power of two. */
bool guarded_new(struct guarded *g, const char *name, size_t size, size_t align, bool at_end,
                 bool reading);
void guarded_free(struct guarded *g);
/* From here on its bytes may not be written. */
void guarded_protect(struct guarded *g);
/* True if nothing around the size bytes was changed. */
bool guarded_intact(const struct guarded *g);
/* Which guarded memory an address belongs to, and what was done to it. */
const char *guarded_fault(const void *address, char text[120]);

#endif
