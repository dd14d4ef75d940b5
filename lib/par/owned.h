/* owned.h - the chunks that a rank brings together in a collective write.
 *
 * Whole chunks are encoded and summed here, and wait until rank 0 has given them places.  Plain
 * ones are not kept: they are brought together a second time when they are written, which costs
 * less than memory for all of them; but those are kept of which the file has a part.  Slabs whose
 * place is foreseen are written at once, a piece at a time while it is in the cache; should rank 0
 * give them another place, they are written there, too.  Plain chunks of which all ranks together
 * write only a part are patched (patched.h).  Others are all rank 0's, whose store needs their
 * elements. */
/* SPDX-License-Identifier: MIT */
#ifndef PAR_OWNED_H
#define PAR_OWNED_H

#include "chunk/place.h"
#include "par/join.h"

struct owned {
    int64_t chunk;
    bool whole;
    bool completed; /* whole, but some of it comes from the file */
    bool patched;   /* not whole; measured: */
    bool measured;
    bool written;   /* to its foreseen place */
    uint64_t slabs; /* that are reported as one, if it is the first of them; else 0 */
    uint64_t old;   /* bytes that the file had of it; size: and that it has afterwards */
    uint8_t *bytes; /* what the file will have, or NULL; a part: the elements, where they stand */
    uint64_t size, fixed; /* fixed: of the elements, before their heap */
    uint64_t sum;         /* filtered: of all */
    uint32_t skipped;     /* filters */
    const struct share *own;
    size_t piece, npieces; /* what it is brought together from */
};

#define REPORT_PATCHED UINT64_MAX
#define REPORT_SLABS (UINT64_MAX - 1)

struct owning {
    struct transfer *t;
    const struct shares *shares;
    enum together how;
    bool loose; /* a merge */
    struct foreseen foreseen;
    bool joins; /* the only window: when it is written, all that stands somewhere is recorded */
    int rank;
    struct owned *owned; /* by chunk */
    size_t n, room;
    struct piece *piece;
    size_t npieces;
    /* For each whole chunk, 8 bytes each: number, size, skipped filters, offset, checksums.  The
     * offset is 0, or where this rank has written it alone.  If `joins`, for slabs that follow each
     * other and are written: number of the first, size of each, REPORT_SLABS, how many, checksums
     * of all. For each patched chunk: number, size, REPORT_PATCHED, number of stretches; the
     * checksums of its blocks, 0 of those that stay; a merge: for each stretch its first element
     * and their number. */
    struct buf report;
    struct owned *slabs; /* the first of those that the report ends with, or NULL; */
    size_t slabs_at;     /* and where it is in the report */
};

/* List this rank's own shares and the pieces that others sent, by chunk. */
int own_list(struct owning *m, const struct team_inbox *in);
/* The chunks among them of which the file has or may have a part, for records_lend(). */
int owned_completed(const struct owning *m, struct shares *out);
/* Bring them together. */
int own_chunks(struct owning *m);
/* Write the chunks to their places, in `size` bytes (placement.h). */
int owned_write(struct owning *m, struct io *io, const uint8_t *places, size_t size);
/* Bytes of chunks that wait in memory. */
uint64_t owned_kept(const struct owning *m);
void owning_release(struct owning *m);

#endif
