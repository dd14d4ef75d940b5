/* lent.h - records of chunks that one store lends another, which has not got them.
 *
 * Of two stores on one file one writes; the other is private (txn/private.h): it does not see
 * these records before the commit, but can read the bytes that they name.  So the writer lends the
 * records of the chunks that the other is going to read, and of a chunk that waits in its cache,
 * changed, the payload.  The message is u64 numbers as the format has them: for each run a head,
 * coordinates and checksums; for a payload a head, coordinates, and the bytes up to a multiple
 * of 8. */
/* SPDX-License-Identifier: MIT */
#ifndef CHUNK_LENT_H
#define CHUNK_LENT_H

#include "chunk/run.h"

/* The numbers of a head; coordinates follow. */
enum {
    LENT_CHUNKS,
    LENT_KIND,
    LENT_FILTERED,
    LENT_SKIPPED,
    LENT_FLAGS,
    LENT_FILE_NUMBER,
    LENT_OFFSET,
    LENT_SIZE,
    LENT_BEHIND, /* numbers behind the coordinates */
    LENT_HEAD
};
enum { LENT_PAYLOAD = 256 }; /* as a kind, beside those of enum fmt_chunk */

/* Append what a reader needs of `n` chunks of a row of the grid to `out`: nothing of those that are
 * not stored. */
int chunks_lend(struct chunks *cs, const uint64_t *coord, uint64_t n, struct buf *out);

struct lent_records;
/* Let reads of these chunks find what was lent, in the order of the grid, and nothing else until
 * chunks_unborrow().  `b` gets host numbers, and must stay as long.  DREP_ERR_IO: it is broken;
 * then, and without memory, nothing is lent. */
int chunks_borrow(struct chunks *cs, struct buf *b);
void chunks_unborrow(struct chunks *cs);
/* Like run_find().  *payload: all bytes of the chunk, where these were lent. */
int lent_find(const struct chunks *cs, const uint64_t *coord, struct run_hit *f,
              struct span *payload);

#endif
