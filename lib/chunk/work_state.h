/* work_state.h - the parts of struct work, for the files of this room. */
/* SPDX-License-Identifier: MIT */
#ifndef CHUNK_WORK_STATE_H
#define CHUNK_WORK_STATE_H

#include "chunk/cache.h"
#include "chunk/filter.h"
#include "chunk/run.h"
#include "chunk/work.h"

#define WINDOW_BYTES ((size_t)128 << 10)

struct work {
    struct work *next;
    struct codec codec;
    struct buf own;     /* the caller's */
    struct buf payload; /* a chunk that is decoded but not cached */
    uint8_t *window;    /* WINDOW_BYTES, at a multiple of a page */
    /* The chunk at hand. */
    struct chunks *cs;
    uint64_t coord[FMT_RANK_MAX];
    struct run_hit found;      /* its run is kept from chunk to chunk */
    struct cache_entry *entry; /* held */
    struct span payload_lent;  /* its payload, if another store lent it (chunk/lent.h) */
    bool stored;
    uint64_t size; /* bytes of it that are stored; plain: with those that chunk_stretch() added */
    bool fetched;  /* work_fetched() */
    struct fetched
        *ahead; /* what comes behind a window of it, where a round trip is dear; or NULL */
};

struct works {
    pthread_mutex_t lock;
    struct work *free; /* nobody uses these */
};
int works_init(struct works *works);
void works_release(struct works *works);

#endif
