/* cache.h - payload in memory, and changes that are not in the file yet.
 *
 * An entry is a whole chunk that was decoded, or a piece of a plain one.  Two threads that want the
 * same bytes load them once: the second waits for the first.  A dirty entry, one with changes,
 * stays until it is written back (txn/writeback.c), and remembers how it was before the operation
 * under way.  `lock` in the cache protects everything but the bytes of an entry that is held. */
/* SPDX-License-Identifier: MIT */
#ifndef CHUNK_CACHE_H
#define CHUNK_CACHE_H

#include "base/budget.h"
#include "chunk/chunks.h"

#define CACHE_WHOLE UINT64_MAX

/* The name of an entry: a whole chunk, or piece number `cell` of a plain one. */
struct cache_key {
    uint64_t object, cell;
    int rank;
    const uint64_t *coord;
};

/* A dataset as write-back needs it, whatever became of its handle: many entries share one. */
struct cache_dataset {
    struct cache_dataset *next;
    int refs;
    struct chunks cs;
    uint8_t names[]; /* of users' filters */
};

struct cache_entry {
    struct cache_entry *newer, *older, *chain;
    uint64_t sum, object, cell;
    int rank, refs, state;
    bool listed, aged; /* in the table; in the order of use */
    struct buf bytes;
    uint64_t unit;    /* a shuffle is left in place, of elements of so many bytes; 0: none */
    uint64_t valid;   /* of a piece: the 4 KiB blocks that are loaded */
    uint64_t charged; /* bytes that count for the budget */
    uint64_t used;    /* when, by a count of uses */
    /* Dirty: changes that are not in the file. */
    bool dirty;
    struct cache_entry *next_changed;
    struct cache_dataset *dataset;
    uint64_t dirty_charged;
    size_t waste; /* bytes of its heap that nothing refers to */
    /* Changed by the operation under way: how it was before that. */
    uint64_t op;
    struct cache_entry *next_op;
    bool was_dirty, gone;
    size_t len_before, waste_before;
    struct buf undo;   /* bytes that were overwritten, each with a note behind it */
    struct buf before; /* all of them, where all were */
    uint64_t coord[];
};

struct chunk_cache;
int chunk_cache_new(struct budget *budget, struct chunk_cache **out);
void chunk_cache_free(struct chunk_cache *c);
void chunk_cache_clear(struct chunk_cache *c); /* dirty entries stay */
uint64_t cache_most(const struct chunk_cache *c);
uint64_t cache_dirty(const struct chunk_cache *c);

/* Return the loaded entry of a key with a reference for the caller, or NULL. */
struct cache_entry *cache_find(struct chunk_cache *c, const struct cache_key *k);
/* Like cache_find(), but make a missing entry.  If *load is set, the caller reads about `room`
 * bytes into it and calls cache_loaded(); other threads wait for that. */
int cache_get(struct chunk_cache *c, const struct cache_key *k, uint64_t room,
              struct cache_entry **out, int *load);
/* True if a piece lacks some of these blocks: then they are the caller's to load. */
int cache_lacks(struct chunk_cache *c, struct cache_entry *d, uint64_t blocks, uint64_t *valid);
void cache_loaded(struct chunk_cache *c, struct cache_entry *d, uint64_t blocks, int err);
/* True if nobody else holds the entry: then it is the caller's to load anew. */
int cache_claim(struct chunk_cache *c, struct cache_entry *d);
void cache_put(struct chunk_cache *c, struct cache_entry *d);
/* Note that blocks, or a chunk of `size` bytes, are read without being cached; gives those noted
 * not long before. */
uint64_t cache_seen(struct chunk_cache *c, const struct cache_key *k, uint64_t blocks,
                    uint64_t size);

/* Begin and end an operation; undo: restore entries to what they were when it began. */
void cache_op_begin(struct chunk_cache *c);
void cache_op_end(struct chunk_cache *c);
void cache_op_undo(struct chunk_cache *c);
/* In this order: cache_change() before an entry that the caller holds changes; cache_note()
 * before bytes [offset, offset + size) do, or cache_replace() before all do (it is empty then);
 * cache_changed() when its length may be new. */
int cache_change(struct chunk_cache *c, struct cache_entry *d, const struct chunks *cs);
int cache_note(struct chunk_cache *c, struct cache_entry *d, size_t offset, size_t size);
int cache_replace(struct chunk_cache *c, struct cache_entry *d);
void cache_changed(struct chunk_cache *c, struct cache_entry *d);
/* The changes are in the file: the entry is not dirty any more. */
void cache_written(struct chunk_cache *c, struct cache_entry *d);
/* Drop entries, changes too (until the operation is taken back). */
void cache_drop(struct chunk_cache *c, const struct cache_key *k);
void cache_drop_cells(struct chunk_cache *c, const struct cache_key *k, uint64_t first,
                      uint64_t last);
void cache_drop_object(struct chunk_cache *c, uint64_t object);
/* List the dirty entries of an object (0: of all); own: only those that were clean when the
 * operation began.  The caller frees the list. */
int cache_list(struct chunk_cache *c, uint64_t object, int own, struct cache_entry ***out,
               size_t *n);

#endif
