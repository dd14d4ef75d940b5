/* gather.h - reading elements that need not be decoded: exactly the blocks they stand in.
 *
 * Runs of a chunk come upwards.  They are collected while one window of the chunk holds them; then
 * the blocks that they touch are read, verified and converted from, while they are in the
 * processor's cache. */
/* SPDX-License-Identifier: MIT */
#ifndef ELEM_GATHER_H
#define ELEM_GATHER_H

#include "elem/mover.h"

#define GATHER_RUNS 256
struct gather {
    struct transfer *t;
    struct conv *c;
    struct work *w; /* with the chunk at hand */
    uint64_t size;  /* bytes of it that are stored */
    uint64_t low, high, limit;
    uint64_t blocks, wanted;
    int n;
    struct {
        int64_t at, step, n, mem;
    } run[GATHER_RUNS];
};
/* Takes runs of the chunk at hand, upwards; gather_flush() ends them. */
void gather_init(struct gather *g, struct transfer *t, struct conv *c, struct work *w,
                 uint64_t size);
int gather_run(void *ctx, int64_t at, int64_t step, int64_t n, int64_t mem);
int gather_flush(void *gather);
/* True if a run of n elements, of which only the bytes are copied, is so long that they go where
 * they belong without a window. */
bool direct_pays(const drep_dataset *ds, int64_t n);
/* A chunk that is not stored: as many elements of fill as are selected. */
struct fill_reader {
    struct transfer *t;
    struct conv *c;
    struct buf *b;
    bool ready;
};
int fill_run(void *ctx, int64_t at, int64_t step, int64_t n, int64_t mem);

#endif
