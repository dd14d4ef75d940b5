/* shares.h - which elements of which chunks one rank moves, and which rank owns each chunk.
 *
 * A share is what a rank's selection has of one chunk: runs of elements, as in parts.h.  Chunks
 * have numbers, row-major in the grid; a compact dataset is one chunk, number 0.  The owner of a
 * chunk that is written whole is the rank that writes most of it, or another that the hints say
 * (dealing.h).  Of a chunk that ranks have written alone, in part, the owner loads the rest, and it
 * is written whole, too.  A plain chunk that is written in part is patched by such an owner, 4 KiB
 * block by block.  Every other chunk is rank 0's, whose store reads and changes it.  The
 * owner of a chunk that is read is the rank that reads most of it, of equal ones each in turn.  To
 * find that out, each chunk has a home, a rank that all shares of it are reported to: no rank looks
 * at all of them. */
/* SPDX-License-Identifier: MIT */
#ifndef PAR_SHARES_H
#define PAR_SHARES_H

#include "elem/transfer.h"
#include "par/ranks.h"
#include "team/team.h"

struct share_run {
    int64_t chunk;
    int64_t at, step, n; /* elements of the chunk */
    int64_t mem;         /* number of the first in the transfer */
    size_t ranges;       /* members: 0: as the transfer says, else 1 + number in shares.ranges */
};

struct share {
    int64_t chunk;
    int64_t n; /* elements */
    size_t first, runs;
    int owner;
    int ranks;   /* a read: how many get it from the owner, who is one of them; else 0, or
                    SHARE_... */
    bool whole;  /* a write: the owner has all of the chunk, by all shares, or loads the rest */
    bool ranges; /* members of elements */
    const struct leased *leased; /* written already, alone: it has no runs; or NULL */
};

/* Hint drep_overlap=last: of a chunk that somebody has written all of, alone, and others, too. */
enum {
    SHARE_PATCHED = INT32_MAX - 3, /* no such chunk, but one that its owner patches */
    SHARE_LOST = INT32_MAX - 2,    /* a higher rank has written all of it */
    SHARE_BACK = INT32_MAX - 1,    /* this rank has, and higher ones have written elements */
    SHARE_CLASH = INT32_MAX        /* without the hint */
};

/* True if the owner patches the chunk; it is not whole then. */
static inline bool share_is_patched(const struct share *s)
{
    return s->ranks == SHARE_PATCHED;
}

struct shares {
    struct share_run *run;
    size_t nruns, run_room;
    const struct byte_ranges *ranges; /* what a rank has written of elements alone; borrowed */
    struct share *share;              /* by chunk */
    size_t n, room;
    int64_t clash; /* a chunk that this rank or another one, `with`, has written all of; or -1 */
    int with;
};

/* What a write of all ranks' selections together looks like, for the ranks agree on how chunks are
 * written: what together_of() gives on rank 0. */
enum together {
    TOGETHER_NOTHING,
    TOGETHER_BOX,   /* one box */
    TOGETHER_UNION, /* several, taken at once */
    TOGETHER_ORDER, /* no chunk counts as whole, but they come one after the other */
    TOGETHER_PARTS, /* something else: likewise, but a chunk may come more than once */
    TOGETHER_ALONE, /* what single ranks wrote: owners complete chunks */
    TOGETHER_LAST,  /* likewise, but elements may be several ranks': the highest one's count */
    TOGETHER_READ   /* no write at all */
};

/* By hand: add a run, or lengthen the last one; then group all by chunk, with leased ones added
 * after that.  The order is that of chunks, and of numbers in the transfer. */
int shares_add(struct shares *s, const struct share_run *run);
int shares_group(struct shares *s);
int shares_lease(struct shares *s, const struct leased *leased, size_t n);
int share_order(const void *a, const void *b);

/* Cut this rank's selection. */
int shares_cut(struct transfer *t, struct shares *s);
/* The same without runs: of a chunked dataset which chunks, and for the owner of each, elements: of
 * plain chunks all in the blocks that must be read. */
int shares_count(struct transfer *t, struct shares *s);
/* Cut what shares_meet() gave an owner that others read from, too. */
int shares_cut_met(struct transfer *t, const struct shares *met, struct shares *s);
/* The share of a chunk, or NULL. */
const struct share *shares_find(const struct shares *s, int64_t chunk);
/* Find the owners: collective.  Also finds a clash; nobody has an owner then. */
int shares_meet(struct team *team, const drep_dataset *ds, enum together how, struct shares *s);
/* True if a read of all ranks is to find owners with TOGETHER_READ; else each rank reads all that
 * it wants. */
bool reads_meet(const drep_dataset *ds, const struct team *team);
/* True if the store writes all that there is of a chunk like a part, to store it short. */
bool chunk_is_short(const drep_dataset *ds, int64_t chunk);
/* True if n shares of `total` elements, -1 if some members are written, make the chunk one that the
 * store writes whole; of what single ranks wrote also if its owner completes it. */
bool chunk_is_whole(const drep_dataset *ds, enum together how, int64_t chunk, int64_t total,
                    size_t n);
/* True if a chunk that is not written whole, but maybe some members, is patched by its owner. */
bool chunk_is_patched(const drep_dataset *ds, enum together how, bool members);
void shares_release(struct shares *s);
/* Call fn for each row of a chunk inside the shape, from the first on: at, n as in a run. */
typedef int chunk_row_fn(void *ctx, int64_t chunk, int64_t at, int64_t n);
int chunk_rows(const struct object_rec *rec, int64_t chunk, chunk_row_fn *fn, void *ctx);

#endif
