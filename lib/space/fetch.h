/* fetch.h - bytes of the file that were read before they were asked for.
 *
 * Where a round trip to the file is dear (io/io.h), many small reads become few large ones: the
 * metadata of a packed file, nodes beside each other, the chunks of one transfer.  What was fetched
 * is advice: it may have been read before the lock was taken, or before its space was reused.  So a
 * caller uses it only if the checksum that it has agrees, else reads again.  A fetch that fails is
 * not reported either: the read that needs the bytes will say what is wrong.
 *
 * Metadata is kept, the oldest is dropped first; payload is lent to one transfer, which gives it
 * back before its call ends.  Any thread; `lock` protects the lists. */
/* SPDX-License-Identifier: MIT */
#ifndef SPACE_FETCH_H
#define SPACE_FETCH_H

#include "space/store.h"

#include <pthread.h>

struct fetched; /* what one fetch has read */
struct fetch {
    uint64_t most; /* bytes of one fetch (hint drep_fetch_size); 0: nothing is fetched */
    pthread_rwlock_t lock;
    struct fetched *kept;          /* metadata, the newest first */
    struct fetched *lent;          /* payload */
    atomic_int lent_n;             /* how many of those: 0 costs no lock */
    pthread_mutex_t extent;        /* held while the metadata extent is fetched */
    _Atomic uint64_t extent_tried; /* the offset of the one that was, 0: none */
    bool ready;                    /* both locks are there */
};
enum fetch_kind { FETCH_META, FETCH_PAYLOAD };

/* most: bytes of one fetch, if a round trip to st->io is dear. */
int fetch_init(struct store *st, uint64_t most);
void fetch_release(struct fetch *f);
static inline bool fetch_on(const struct store *st)
{
    return st->fetch->most != 0;
}

/* Read ranges in one round trip: to their buffers, which the caller keeps until they are given
 * back, or where these are NULL to memory of their own.  They are sorted and joined in place; what
 * exceeds `most` is left out.  NULL: nothing was read. */
struct fetched *fetch_ranges(struct store *st, struct io_range *range, size_t n);

/* A fetch that its caller need not wait for yet. */
struct fetching {
    struct io *io;
    struct fetched *m;
    pthread_t thread;
    bool started; /* in a thread of its own */
};
/* Like fetch_ranges(), but nothing is read yet. */
void fetch_plan(struct fetching *g, struct store *st, struct io_range *range, size_t n);
/* Begin to read in the background; fetch_wait() must follow before the caller's call ends. */
void fetch_start(struct fetching *g);
/* Wait for what was read; or read it now, if that was not started.  NULL: nothing was read. */
struct fetched *fetch_wait(struct fetching *g);
/* Like fetch_ranges() for the first bytes of a file of which nothing is known yet. */
struct fetched *fetch_front(struct store *st, size_t size);
/* Copy the first bytes of its first range.  False: there are fewer; m may be NULL. */
bool fetch_copy(const struct fetched *m, void *buf, size_t size);
/* Keep metadata; m may be NULL. */
void fetch_insert(struct store *st, struct fetched *m);
/* Lend payload to the calls that read, until fetch_end() frees it; m may be NULL. */
void fetch_lend(struct store *st, struct fetched *m);
void fetch_end(struct store *st, struct fetched *m);
/* Free what was neither kept nor lent; m may be NULL. */
void fetch_discard(struct fetched *m);
/* Fetch the metadata extent of the commit, if byte `offset` lies in it, it is small enough, and
 * that was not tried yet: true. */
bool fetch_extent(struct store *st, uint64_t offset);
/* True if fetch_extent() is still to come for this byte. */
bool fetch_extent_waits(const struct store *st, uint64_t offset);

/* Copy fetched bytes, unless they are in buf already; buf NULL: only look.  False: not all of them
 * are there, and buf may have some. */
bool fetch_take(struct store *st, enum fetch_kind kind, void *buf, size_t size, uint64_t offset);
/* True if payload is lent: fetch_take() may have some. */
static inline bool fetch_lends(const struct store *st)
{
    return atomic_load_explicit(&st->fetch->lent_n, memory_order_relaxed) > 0;
}

#endif
