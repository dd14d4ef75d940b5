/* run.h - finding the run of a chunk, and the runs that the open transaction changes.
 *
 * A run in the tree never changes.  One that the transaction writes to is open: it stays in memory
 * with its checksums, so that many small writes do not each write all of them.  It goes into the
 * tree when the commit comes, when its chunks are cut apart, or when too many runs are open.
 * Look-ups find open runs first: they are newer than the tree.
 *
 * An operation that is taken back restores open runs to what they were: run_capture() notes that
 * before the first change. */
/* SPDX-License-Identifier: MIT */
#ifndef CHUNK_RUN_H
#define CHUNK_RUN_H

#include "chunk/last_block.h"
#include "chunk/packed.h"
#include "chunk/record.h"
#include "chunk/room.h"

#include <pthread.h>

#define RUN_BYTES ((uint64_t)16 << 20) /* of one record, so that its checksums stay small */
#define OPEN_RUNS 16
#define RECENT_RUNS 64
#define RESERVATIONS 16

/* A stretch of the file that a contiguous dataset will fill (chunk/place.c). */
struct reservation {
    uint64_t object;
    uint64_t first, chunks; /* the slabs it is for */
    uint64_t payload;       /* bytes of each */
    uint64_t offset;        /* of the first */
    uint64_t needed;        /* bytes that the dataset has for these slabs */
    bool keeps;             /* and the room behind them is kept: they were appended */
    struct extents left;    /* still unused */
};

struct runs {
    struct chunk_run *open[OPEN_RUNS];
    int n;
    uint64_t clock;
    pthread_mutex_t lock; /* of the next two */
    struct recent_run {   /* runs with many checksums, read lately */
        struct chunk_run *run;
        uint64_t object, first; /* of its chunks, last coordinate; and their number: */
        uint32_t n;
    } recent[RECENT_RUNS];
    int next_recent;
    struct reservation reserved[RESERVATIONS];
    int nreserved;
    struct packed_runs packed;
    struct rooms rooms;
    struct last_blocks last;
};
int runs_init(struct runs *runs);
void runs_release(struct runs *runs);

/* ---- finding ---- */

/* The place of a chunk: number `index` of a run.  A filtered chunk is a run of its own here. */
struct run_hit {
    struct chunk_run *run; /* &local, an open one, or one with a reference for us */
    uint32_t index;
    struct chunk_run local;
};
/* DREP_ERR_NOT_FOUND without a message: the chunk is not stored.  run_done() gives it back. */
int run_find(struct chunks *cs, const uint64_t *coord, struct run_hit *f);
void run_done(struct store *st, struct run_hit *f);
/* Like run_done(), but keep a run of many chunks for run_still_covers(): true if it covers this
 * chunk too. */
void run_leave(struct store *st, struct run_hit *f);
bool run_still_covers(struct chunks *cs, const uint64_t *coord, struct run_hit *f);
/* The last coordinate of the first run that begins in [coord, coord + n); UINT64_MAX: none. */
int run_next(struct chunks *cs, const uint64_t *coord, uint64_t n, uint64_t *next);

/* ---- open runs ---- */

/* Add chunks just written, of `size` bytes each, to the open run before them, or begin one; `space`
 * bytes from offset on are theirs. */
int run_add(struct chunks *cs, const uint64_t *coord, uint32_t n, uint64_t offset, uint64_t size,
            uint64_t space, const uint64_t *sums);
/* Open what was found, to change it. */
int run_open(struct chunks *cs, struct run_hit *f);
/* Note how an open run is, before the operation changes it; sums: its checksums too. */
int run_capture(struct store *st, struct chunk_run *r, int sums);
/* Put a run into the tree if it is open; the caller's pointer stays valid until run_unref(). */
int run_close(struct store *st, struct chunk_run *r);
/* True if an open run of the object is not what the tree has. */
bool runs_changed(const struct store *st, uint64_t object);
/* Close all open runs of one object (0: of all). */
int runs_flush(struct store *st, uint64_t object);
/* Give back the room to become longer that a chunk of another object has at the end of the file, if
 * nothing was appended to that one. */
void runs_pull_in(struct store *st, uint64_t object);
/* End the operation, which goes on after an error; or take it back. */
int runs_op_end(struct store *st);
void runs_op_undo(struct store *st);

#endif
