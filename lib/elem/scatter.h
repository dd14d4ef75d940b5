/* scatter.h - writing elements of unfiltered chunks.
 *
 * A chunk that is written whole is put together in memory.  Else runs near each other are patched
 * at once: what lies between them is read first. */
/* SPDX-License-Identifier: MIT */
#ifndef ELEM_SCATTER_H
#define ELEM_SCATTER_H

#include "elem/gather.h"
#include "elem/parts.h"

/* Runs of one unfiltered chunk, upwards: those near each other are patched together. */
struct scatter {
    struct part_mover *m;
    const uint64_t *coord;
    struct buf *b;
    uint64_t low, high;
    uint64_t filled; /* bytes of it that are written */
    int n;
    struct {
        int64_t at, step, n, mem;
    } run[GATHER_RUNS];
};
int scatter_run(void *ctx, int64_t at, int64_t step, int64_t n, int64_t mem);
int scatter_flush(void *scatter);
/* Begin such a payload of which n elements are going to be put in place. */
int payload_blank(drep_dataset *ds, int64_t n, uint8_t *b, uint64_t size);
/* All elements that a box or pieces select of one chunk into its payload at b, which has
 * room; elements outside of the dataset are fill. */
int part_payload(struct transfer *t, const struct chunk_part *p, uint8_t *b, uint64_t size);

#endif
