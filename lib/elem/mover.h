/* mover.h - moves the elements of one part between its layout and memory.
 *
 * The layout sees runs of stored elements: those of memory, which its converter converts; where a
 * user's functions convert, those of a stage, which brings the elements of the part together, so
 * that one call converts them.  One part, what a selection takes of one chunk, is then one transfer
 * of the functions, however many runs it has.  Where the stage is full, another transfer begins. */
/* SPDX-License-Identifier: MIT */
#ifndef ELEM_MOVER_H
#define ELEM_MOVER_H

#include "base/advance.h"
#include "elem/transfer.h"

/* Called after the last run of a part; ctx is that of its run_fn. */
typedef int flush_fn(void *ctx);

struct part_stage;
struct given_payload;

struct part_mover {
    struct transfer *t;       /* as the layout sees it */
    struct conv c;            /* of the layout */
    struct part_stage *stage; /* NULL: there is none */
    run_fn *fn;               /* the layout's, for the runs that come */
    flush_fn *flush;          /* may be NULL */
    void *ctx;
    struct given_payload *given; /* of a source: its elements are not here (source.h) */
};

/* Begins a part of about n elements; the mover must stay where it is until part_end(), which gives
 * err back.  DREP_ERR_NOMEM: nothing to end. */
int part_begin(struct part_mover *m, struct transfer *t, int64_t n);
int part_end(struct part_mover *m, int err);
/* Directs runs to fn from here on, until part_flush(). */
void part_take(struct part_mover *m, run_fn *fn, flush_fn *flush, void *ctx);
int part_run(void *mover, int64_t at, int64_t step, int64_t n, int64_t mem);
/* The transfer of the part ends; gives err back if something failed already. */
int part_flush(struct part_mover *m, int err);

/* Counts elements that were moved.  DREP_ERR_STOPPED: the caller wants no more. */
static inline int part_moved(const struct transfer *t, int64_t n)
{
    return t->advance ? advance_add(t->advance, n * t->ds->esize) : 0;
}

/* A part's own converter, and its report given to the transfer. */
void conv_begin(const struct transfer *t, struct conv *c);
void conv_end(const struct transfer *t, const struct conv *c);
/* A converter that moves stored elements as they are, or what a write names of each. */
void conv_raw(struct conv *c, const drep_dataset *ds, const struct byte_ranges *ranges);
/* The address of element number `at` of the transfer, where bytes are the same on both sides. */
char *plain_memory(const struct transfer *t, int64_t at);

/* Converts runs of a payload that lies in memory. */
struct in_memory {
    struct transfer *t;
    struct conv *c;
    uint8_t *payload;
};
int memory_run(void *ctx, int64_t at, int64_t step, int64_t n, int64_t mem);

#endif
