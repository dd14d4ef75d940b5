/* lent.h - records of chunks that another store has, and this one has not.
 *
 * Of two stores on one file one writes, the other does not see its records before the commit, but
 * can read the bytes.  So the writer lends the records of the chunks that the other is going to
 * read; of a chunk that waits in its cache, changed, it lends the payload.  Numbers are u64 as the
 * format has them: for each run head, coordinates and checksums; for a payload head, coordinates
 * and bytes, up to a multiple of 8. */
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
    LENT_FILE_NUMBER,
    LENT_OFFSET,
    LENT_SIZE,
    LENT_BEHIND, /* numbers behind the coordinates */
    LENT_HEAD
};
enum { LENT_PAYLOAD = 256 }; /* as a kind, beside those of enum fmt_chunk */

/* Appends what a reader needs of `n` chunks of a row of the grid to `out`: nothing of those that
 * are not stored. */
int chunks_lend(struct chunks *cs, const uint64_t *coord, uint64_t n, struct buf *out);

struct lent_records;
/* Reads of these chunks find what was lent and nothing else, until chunks_unborrow().  `b` gets
 * host numbers, and must stay.  DREP_ERR_IO: it is broken. */
int chunks_borrow(struct chunks *cs, struct buf *b);
void chunks_unborrow(struct chunks *cs);
/* Like run_find().  *payload: all bytes of the chunk, where these were lent. */
int lent_find(const struct chunks *cs, const uint64_t *coord, struct run_hit *f,
              struct span *payload);

#endif
