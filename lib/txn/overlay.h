/* overlay.h - a file that cannot be written, with room for more bytes behind its end.
 *
 * Reads below `end` go to the file, everything above goes to another one that has no name, or to
 * memory. So a damaged file can be repaired by the same code that writes any file, and is never
 * changed. */
/* SPDX-License-Identifier: MIT */
#ifndef TXN_OVERLAY_H
#define TXN_OVERLAY_H

#include "io/io.h"

struct overlay {
    struct io io;
    struct io *base, *upper;
    uint64_t end; /* of the damaged file, rounded up */
    uint64_t size;
};

/* Owns base from here on. */
int overlay_new(struct io *base, struct io **out);

#endif
