/* sieve.h - many small items of a file in one call of its driver.
 *
 * Items that stand a little apart are read with what lies between them, and written into a copy of
 * the bytes they stand among: data sieving, as MPI's libraries do.  A plan says which of the next
 * items go together.  Pure integers and copies: nothing here reads or writes a file. */
/* SPDX-License-Identifier: MIT */
#ifndef ELEM_SIEVE_H
#define ELEM_SIEVE_H

#include "rep/rep.h"

#include <datarep.h>

/* Where the next item of a typemap that is tiled over a file is. */
struct sieve_at {
    drep_cursor cursor; /* behind the run */
    drep_run run;       /* what is left of it; count 0: nothing */
};

struct sieve_limits {
    int64_t items, bytes; /* at most so many whole items, and bytes of them */
    int64_t window;       /* bytes from the first to the last one; an item must fit */
    int64_t gap;          /* between neighbours, at most; 0: only items back to back */
    int64_t end;          /* no item ends behind this byte, counted as offsets are */
};

/* Items that go together: those from byte `low` to `high`; items 0: the next one ends behind the
 * end, or none is left. */
struct sieve_plan {
    int64_t low, high, items, bytes;
    bool dense; /* they are all bytes between these, in order */
};
void sieve_plan(const struct sieve_at *at, const struct type_sizes *sizes,
                const struct sieve_limits *most, struct sieve_plan *out);
/* Copy the items of a plan, which are the next ones, from the bytes at its `low` to packed ones, or
 * back. */
void sieve_gather(struct sieve_at *at, const struct type_sizes *sizes,
                  const struct sieve_plan *plan, const uint8_t *window, uint8_t *packed);
void sieve_scatter(struct sieve_at *at, const struct type_sizes *sizes,
                   const struct sieve_plan *plan, uint8_t *window, const uint8_t *packed);
/* Go on behind the items of a plan. */
void sieve_skip(struct sieve_at *at, int64_t items);

#endif
