/* plan.h - what a write of chunks will do to the file, decided before any payload is written.
 *
 * The rule: bytes that a commit refers to are never overwritten.  A chunk that the open transaction
 * wrote before may be overwritten where it stands; if an earlier operation of the transaction wrote
 * it, its old bytes are noted for undo first.  Every other chunk moves: its record is cut out of
 * its run, and it gets new space.
 *
 * Steps are planned one after the other, in grid order, so that neighbours come to stand back to
 * back; chunk/places.c applies them. */
/* SPDX-License-Identifier: MIT */
#ifndef CHUNK_PLAN_H
#define CHUNK_PLAN_H

#include "chunk/places.h"
#include "chunk/run.h"

/* The action planned for a chunk. */
enum step_kind {
    STEP_MOVE, /* written to new space */
    STEP_IN_PLACE /* overwritten where it stands */,
    STEP_NOTED /* likewise, with its old bytes noted for undo */
};

struct step {
    uint64_t offset;
    enum step_kind kind;
    bool moved; /* STEP_MOVE: it was stored elsewhere */
    uint32_t
        stretch;    /* STEP_MOVE: chunks back to back from this one on; 0: not the first of them */
    uint64_t space; /* and their bytes in the file */
};

/* Say how bytes [offset, offset + size) of the file, of a run, may be changed. */
enum step_kind plan_overwrite(const struct store *st, const struct chunk_run *r, uint64_t offset,
                              uint64_t size);
/* Plan the steps of a batch: cut out what moves, and allocate. */
int plan_batch(struct places *p);
/* Free the space of steps that were not recorded. */
void plan_cancel(struct places *p);

/* Put the record of a filtered chunk in place of what is stored; the caller writes its `size` bytes
 * to *offset, or has written them there if that is not 0. */
int plan_filtered(struct chunks *cs, const uint64_t *coord, uint64_t size, uint64_t sum,
                  struct coding coding, uint64_t *offset);
/* Record that another file has the bytes of a chunk. */
int plan_point(struct chunks *cs, const uint64_t *coord, const struct chunk_rec *to);

#endif
