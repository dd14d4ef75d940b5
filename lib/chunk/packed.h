/* packed.h - runs of filtered chunks that the operation under way changes.
 *
 * A record has a row for each of up to 128 neighbours.  To change rows one by one would write the
 * record as often, so a run that is changed is taken out of the tree, and goes back when the
 * operation ends, when too many are open, or when somebody walks the dataset's records.  Look-ups
 * search open runs first (chunk/run.h).  An operation that is taken back drops them: the notes of
 * the tree bring the old records back.
 *
 * Space.  The payload of a new row begins where the one before it ends, inside a line of 64 bytes,
 * if these bytes were never used since that line was allocated; else at a line of its own.  A
 * packed record promises just that of the bytes behind its last row, so a run that lost a row is
 * stored as a placed one, whatever its rows look like.  Two records share no line. */
/* SPDX-License-Identifier: MIT */
#ifndef CHUNK_PACKED_H
#define CHUNK_PACKED_H

#include "chunk/record.h"

#define PACKED_OPEN 16

struct packed_run;
struct packed_runs {
    struct packed_run *open[PACKED_OPEN];
    int n;
    uint64_t clock;
};

/* Give the record of a chunk that an open run has, `run` 1; false: none has it. */
bool packed_find(const struct chunks *cs, const uint64_t *coord, struct chunk_rec *out);
/* Put the record of a filtered chunk in place of what a filtered run has; the caller writes its
 * `size` bytes to *offset, or has written them there if that is not 0.  *plain: a plain run has the
 * chunk; nothing was done. */
int packed_write(struct chunks *cs, const uint64_t *coord, uint64_t size, uint64_t sum,
                 struct coding coding, uint64_t *offset, bool *plain);
/* Put a row for stored bytes in another file, in place of what a filtered run has: `to` has the
 * file, offset, size, sum and coding.  No plain run has the chunk. */
int packed_point(struct chunks *cs, const uint64_t *coord, const struct chunk_rec *to);
/* Remove a chunk that a filtered run has. */
int packed_remove(struct chunks *cs, const uint64_t *coord);
/* True if runs are open. */
bool packed_waits(const struct store *st);
/* Put the open runs of an object (0: all) into the tree. */
int packed_flush(struct store *st, uint64_t object);
/* Forget all of them. */
void packed_drop(struct packed_runs *runs);

#endif
