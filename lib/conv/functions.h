/* functions.h - elements between memory and the bytes of a file, through a user's functions.
 *
 * A call costs far more than an item, so the items of a transfer are brought together first; one
 * call converts them, more only where staging is full. */
/* SPDX-License-Identifier: MIT */
#ifndef CONV_FUNCTIONS_H
#define CONV_FUNCTIONS_H

#include "conv/conv.h"

/* n elements of memory, from number `at` of the transfer on. */
struct mem_run {
    int64_t at, n;
};
/* The part of conv_init() for a conversion by functions, without a table. */
int functions_init(struct conv *c);
/* One transfer of n stored elements, back to back at `file`, that are those of the runs in
 * order.  *next (may be NULL): the transfer may go on with memory's element `at` as its item
 * number `n`, and is told where it ends. */
int functions_move(struct conv *c, void *mem, const struct mem_run *run, int64_t nruns, int64_t n,
                   uint8_t *file, bool writing, struct mem_run *next);
/* The same with elements `step` bytes apart, as conv_read() and conv_write() have them. */
int functions_run(struct conv *c, void *mem, int64_t at, uint8_t *file, int64_t step, int64_t n,
                  bool writing);

#endif
