/* losses.h - what a conversion lost: the engine's own form of drep_report.
 *
 * Kernels and converters count into this; who got a report from a caller adds it to that at the
 * end (losses_report() in rep/convert.h). */
/* SPDX-License-Identifier: MIT */
#ifndef KERN_LOSSES_H
#define KERN_LOSSES_H

#include <stdint.h>

struct losses {
    int64_t items; /* converted */
    int64_t overflow, inexact, nan_lost;
    int64_t first_overflow, first_inexact, first_nan_lost; /* numbers of items; -1: none */
};
#define NO_LOSSES ((struct losses){.first_overflow = -1, .first_inexact = -1, .first_nan_lost = -1})

/* Take the number of an item that lost something, if it comes before; -1: none. */
static inline void losses_first(int64_t *first, int64_t item)
{
    if (item >= 0 && (*first < 0 || item < *first))
        *first = item;
}
/* Add the losses of a part of the same transfer. */
void losses_add(struct losses *to, const struct losses *part);

#endif
