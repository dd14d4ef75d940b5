/* store.h - one open container: the state that all rooms share.
 *
 * A store is one open file.  A reader sees the commit it opened, and no other; a writer sees its
 * own uncommitted changes.  Calls that read may run in many threads at once as long as none writes;
 * the caller serialises writers.  The store knows keys, values and payload, nothing of types or
 * representations.
 *
 * What only some files need is a structure of its own, behind a pointer here.  Its header says
 * which file owns it and which lock protects it; a room uses its own part and those of the rooms
 * below. */
/* SPDX-License-Identifier: MIT */
#ifndef SPACE_STORE_H
#define SPACE_STORE_H

#include "base/rwlock.h"
#include "format/record.h"
#include "io/io.h"

#include <assert.h>
#include <stdatomic.h>
#include <stdbool.h>

/* How payload will be read (hint access_style). */
enum store_style {
    STYLE_ONCE = 1,   /* never again: chunks are not cached */
    STYLE_RANDOM = 2, /* here and there: decoded chunks are cached at once */
};

struct store_opts {
    int lock;             /* take locks (hint drep_lock) */
    int64_t lock_wait;    /* nanoseconds to wait for another writer (hint drep_lock_wait) */
    int sync;             /* 1: fdatasync in commits (hint drep_sync=commit) */
    int verify;           /* check payload sums when reading (hint drep_verify) */
    int deferred;         /* leave the sums of unfiltered payload out (hint drep_checksum) */
    int keep;             /* commits kept whole (hint drep_keep) */
    uint64_t unit;        /* alignment of plain runs (hint striping_unit; chunk/record.h) */
    uint64_t chunk_max;   /* largest unfiltered payload of a filtered chunk */
    uint64_t chunk_limit; /* what a filtered chunk may decode to (hint drep_limit_chunk) */
    uint64_t cache_size;  /* bytes of both caches, of nodes and of chunks */
    uint64_t fetch_size;  /* bytes fetched at once (hint drep_fetch_size) */
    int style;            /* enum store_style */
    int threads;          /* that encode changed chunks (hint drep_threads) */
    uint64_t commit;      /* open: this one, 0: the newest */
    int pack;             /* create: all nodes in one extent (hint drep_pack) */
    const uint8_t *uuid;  /* create: 16 bytes, NULL: random */
    int64_t time;         /* create and commits: fixed time in ns, -1: now */
    /* open, for reading: the commit of this slot, which another process has read; or NULL */
    const struct slot *slot;
};

struct store {
    struct io *io;
    struct io *payload; /* reads the file's payload in place of io; borrowed; NULL: io does */
    struct store_opts opts;
    struct slot slot;   /* of the commit in force; sequence 0: no commit yet */
    bool writable;      /* we hold the writer's role */
    bool private;       /* or work like a writer whose changes nobody commits (txn/private.h) */
    int locked;         /* reader: we lock its commit; writer: we lock the file */
    const char *failed; /* why the handle refuses writes; NULL: it does not */
    atomic_int dirty;   /* something changed since the last commit; set by any thread */
    uint64_t next_object;
    uint32_t next_type;
    struct space *space;       /* space/space.h: free and allocated bytes */
    struct fetch *fetch;       /* space/fetch.h: bytes read before they are asked for */
    struct tree *tree;         /* tree/tree.h: nodes in memory */
    struct undo *undo;         /* tree/undo.h: how to take the operation under way back */
    struct touched *touched;   /* tree/touched.h: datasets with changed elements */
    struct journal *journal;   /* tree/journal.h: changed keys; NULL: nobody asks for them */
    struct runs *runs;         /* chunk/run.h: records of the open transaction */
    struct targets *targets;   /* chunk/target.h: other files with payload */
    struct chunk_cache *cache; /* chunk/cache.h: payload in memory */
    struct works *works;       /* chunk/work.h: what threads move chunks with */
    struct txn *txn;           /* txn/txn.h: how commits begin and end */
    /* The lock that whoever changes the store holds to write; NULL: nobody but its caller has it.
     * Builds with CHECK_LOCKS assert that.  A commit shares it while it waits for the disk. */
    struct rwlock *guard;
};

const struct slot *store_slot(const struct store *st); /* the slot in force */
int store_writable(const struct store *st);
int store_dirty(const struct store *st); /* changes since the last commit */
int store_locked(const struct store *st);
/* Note a change since the last commit.  Any thread. */
static inline void store_changed(struct store *st)
{
    atomic_store_explicit(&st->dirty, 1, memory_order_relaxed);
}

/* Check that writing is allowed, and say why it is not.  The caller holds the lock of the store. */
int store_must_not_write(const struct store *st);
static inline int store_may_write(const struct store *st)
{
#ifdef CHECK_LOCKS
    assert(!st->guard || rwlock_writes(st->guard));
#endif
    return st->writable && !st->failed ? 0 : store_must_not_write(st);
}

/* The number of the next commit: blocks written by the open transaction carry it. */
static inline uint64_t store_next_sequence(const struct store *st)
{
    return st->slot.sequence + 1;
}

/* Reserve the ids of the next n objects; DREP_ERR_LIMIT: there are no more. */
int store_new_objects(struct store *st, uint64_t n, uint64_t *first);
uint32_t store_new_type(struct store *st);          /* the next datatype number */
uint64_t store_objects_end(const struct store *st); /* the id that the next object gets */
/* Raise the id that the next object gets. */
void store_objects(struct store *st, uint64_t next);

/* A read-only range of the file in memory; it may outlive the store. */
struct mapped {
    const void *data;
    size_t size;
    void *handle;
    void (*unmap)(void *handle, size_t size);
};
int store_map(struct store *st, uint64_t offset, size_t size, struct mapped *out);
void store_unmap(const struct mapped *m);

#endif
