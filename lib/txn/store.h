/* store.h - what keeps the bytes of one file: slots, tree, space, payload, commits.
 *
 * A store is one open file.  Readers work on the snapshot they opened; a writer sees
 * its own uncommitted changes.  Calls that read may run in many threads at once as
 * long as none writes; writers are serialised by the caller (data/file.c).  The store
 * knows keys, values and payload, nothing of types or representations. */
#ifndef TXN_STORE_H
#define TXN_STORE_H

#include "format/record.h"
#include "io/io.h"
#include <datarep.h>

struct store;

struct store_opts {
    int lock;             /* take locks (hint drep_lock) */
    int sync;             /* 1: fdatasync in commits (hint drep_sync=commit) */
    int verify;           /* check payload sums when reading (hint drep_verify) */
    int deferred;         /* leave the sums of unfiltered payload out (hint drep_checksum) */
    int keep;             /* commits kept whole (hint drep_keep) */
    uint64_t unit;        /* alignment of runs of 4 KiB or more (hint striping_unit) */
    uint64_t chunk_max;   /* largest unfiltered payload of a filtered chunk */
    uint64_t chunk_limit; /* what a filtered chunk may decode to (hint drep_limit_chunk) */
    uint64_t cache_size;  /* bytes of the chunk cache */
    int threads;          /* that encode what waits in memory (hint drep_threads) */
    uint64_t commit;      /* open: this one, 0: the newest */
    int pack;             /* create: all nodes in one extent (hint drep_pack) */
    const uint8_t *uuid;  /* create: 16 bytes, NULL: random */
    int64_t time;         /* create and commits: fixed time in ns, -1: now */
};

/* The store owns io from here on, also when it fails.  create: an empty file, not
 * visible before the first commit; its tree holds nothing (data/ makes the root). */
int store_create(struct io *io, const struct store_opts *opts, struct store **out);
/* write: take the writer's lock (DREP_ERR_FILE_IN_USE).  A commit that cannot be opened any
 * more: DREP_ERR_NOT_FOUND. */
int store_open(struct io *io, int write, const struct store_opts *opts, struct store **out);
/* The file's own hints are known only when it is open: keep, unit, chunk_max and chunk_limit. */
void store_set_opts(struct store *st, const struct store_opts *opts);
/* Drops uncommitted changes. */
void store_close(struct store *st);
/* In a child process: a store of its own on the commit that `old`, a reader, looks at, in place of
 * that one.  busy: other threads were using it when the process was forked; its memory is left as
 * it is then.  DREP_ERR_STALE: that commit is not kept any more. */
int store_child(struct store *old, int busy, struct store **out);
/* store_close() in a child process, for what was opened before the fork: the file stays as it is,
 * and its locks the parent's. */
void store_leave(struct store *st, int busy);
/* The last commit of a writer, for reading, until its next one. */
int store_last_commit(struct store *st, struct store **out);
/* Everything since the last commit becomes durable, or nothing (after a
 * failed sync every later write call gives DREP_ERR_FAILED); where nothing was changed, no
 * commit is made.  header: the bytes of the
 * header proper; split: those that stand in the slot (header_put). */
int store_commit(struct store *st, const uint8_t *header, size_t size, size_t split);
/* A new file that is checked before anybody sees it: commits leave it without its name, and
 * store_close() removes it, until store_publish() gives it the name.  After an error of that the
 * name has the file that it had before, except where only making the name durable failed. */
void store_hold(struct store *st);
int store_publish(struct store *st);
/* While a commit waits for the disk, calls that read may run: fn(ctx, 1) is called before, and
 * fn(ctx, 0) when the store must be left alone again. */
typedef void store_wait_fn(void *ctx, int waits);
void store_set_wait(struct store *st, store_wait_fn *fn, void *ctx);

/* The slot in force, and the whole header proper (borrowed until the next commit). */
const struct slot *store_slot(const struct store *st);
const uint8_t *store_header(const struct store *st, size_t *size);
int store_damaged_slot(const struct store *st); /* 0, or 1 or 2: that slot is damaged */
int store_writable(const struct store *st);
int store_dirty(const struct store *st);  /* changes since the last commit */
int store_locked(const struct store *st); /* others respect the lock that it holds */
const char *store_path(const struct store *st);
/* For tests: dirty leaves in memory beyond which they are written before the commit, bytes of
 * notes beyond which an operation keeps them in the file, and freed extents beyond which they go
 * into the tree before the commit. */
void store_set_memory(struct store *st, size_t leaves, size_t undo, size_t freed);
/* The ids of the next n objects; DREP_ERR_LIMIT: there are no more. */
int store_new_objects(struct store *st, uint64_t n, uint64_t *first);
uint32_t store_new_type(struct store *st); /* next datatype number */
/* DREP_ERR_FORMAT: an object or a datatype has a number that would be given again. */
int store_numbers(struct store *st);
/* The id that the next object gets; and a later one for it. */
uint64_t store_objects_end(const struct store *st);
void store_objects(struct store *st, uint64_t next);

/* ---- the tree ---- */

/* A value found: copied into the caller's buffer, grown with mem_resize; start with
 * {0}; buf_release() frees it.  One buffer serves many calls. */
struct region;
struct buf {
    uint8_t *p;
    size_t len, size;
    struct region *region; /* whose piece it is; NULL: from mem_alloc() */
};
int buf_grow(struct buf *b, uint64_t size); /* to more than b->size */
static inline int buf_reserve(struct buf *b, uint64_t size)
{
    return size <= b->size ? 0 : buf_grow(b, size);
}
/* Exactly so much room, whatever was in it; len is 0. */
int buf_room(struct buf *b, uint64_t size);
int buf_set(struct buf *b, const void *p, size_t len);
void buf_release(struct buf *b);
/* An `out` that grows this buffer; buf_done() takes its length over. */
void buf_out(struct buf *b, struct out *out);
int buf_done(struct buf *b, const struct out *out);

/* DREP_ERR_NOT_FOUND without a message when absent. */
int tree_get(struct store *st, const struct key *key, struct buf *value);
/* The same without copying: the value as it stands, until tree_peeked(); the tree must not
 * change before. */
struct peek {
    const uint8_t *p;
    size_t len;
    void *held;
    struct buf far;
};
int tree_peek(struct store *st, const struct key *key, struct peek *peek);
void tree_peeked(struct peek *peek);
/* Inserts or replaces. */
int tree_put(struct store *st, const struct key *key, const void *value, size_t len);
/* Inserts; DREP_ERR_EXISTS without a message when present. */
int tree_add(struct store *st, const struct key *key, const void *value, size_t len);
/* A value that stands in its leaf, to be changed in place before the next call; noted as
 * changed already.  DREP_ERR_NOT_FOUND without a message when absent or in a block. */
int tree_edit(struct store *st, const struct key *key, uint8_t **value, size_t *len);
/* DREP_ERR_NOT_FOUND when absent. */
int tree_del(struct store *st, const struct key *key);
/* The entry with the greatest key <= `key` that begins with the first `prefix` bytes
 * of key. */
int tree_floor(struct store *st, const struct key *key, size_t prefix, struct key *found,
               struct buf *value);

/* Walks entries in key order from the first >= from (inclusive; or > with
 * tree_walk_after) while keys begin with the first `prefix` bytes of it.  The tree may
 * be changed between calls of next (it re-seeks by the last key). */
struct tree_walk {
    struct store *st;
    struct key at;
    size_t prefix;
    int after; /* the next key must be > at */
    uint64_t stamp;
    void *leaf; /* hint, checked by stamp */
    int pos;
};
void tree_walk(struct tree_walk *w, struct store *st, const struct key *from, size_t prefix);
/* DREP_ERR_NOT_FOUND without a message at the end.  value may be NULL. */
int tree_next(struct tree_walk *w, struct key *key, struct buf *value);

/* ---- other commits ---- */

/* A reader goes to the newest commit; *moved 0: it was there.  What it looked at before is in
 * *old until store_refresh_end() gives it up (keep) or goes back to it.  The caller sees to it
 * that nobody else uses the store meanwhile. */
struct snapshot {
    struct slot slot;
    struct buf header;
    int damaged, locked;
};
int store_refresh(struct store *st, struct snapshot *old, int *moved);
void store_refresh_end(struct store *st, struct snapshot *old, int keep);
/* A reader without a lock: a failed read of what the writer has overwritten is
 * DREP_ERR_STALE; every other error is given back. */
int store_stale(struct store *st, int err);

/* The commits that can be opened now, the oldest first.  Start with {0}; release it. */
struct log_list {
    drep_commitinfo *commit;
    size_t n, room;
};
int store_log(struct store *st, struct log_list *list);
void log_list_release(struct log_list *list);

/* ---- payload of chunks ---- */

/* One dataset's chunks.  Filled in by data/, released by chunks_release. */
struct chunks {
    struct store *st;
    uint64_t object;
    int rank;         /* of the grid: contiguous 1, chunked the dataset's */
    uint64_t payload; /* bytes of the fixed part of a full chunk */
    uint64_t reserve; /* contiguous: bytes of the whole dataset, to reserve one run */
    uint64_t cell;    /* bytes of the pieces in which unfiltered chunks are kept in memory: whole
                         elements, whole 4 KiB blocks, at most 64; 0: they are not */
    int fits;         /* all of it fits into the chunk cache */
    int grows;        /* contiguous: the dataset may become longer */
    int variable;     /* payload may be followed by a heap */
    int nfilters;
    struct filter_rec filter[FMT_FILTERS_MAX];
    const char *name; /* for messages; borrowed */
    /* Holds a whole payload against its type when it comes from the file; may be NULL. */
    int (*check)(const struct chunks *cs, const struct buf *payload);
};
void chunks_release(struct chunks *cs);

/* What one thread needs while it moves chunks: buffers, compressors, the chunk at hand.
 * NULL if there is no memory for it. */
struct work;
struct work *work_take(struct store *st);
void work_give(struct store *st, struct work *w);
/* So many threads may read stored bytes for it; else this one alone does. */
void work_threads(struct work *w, int threads);
/* A buffer of the caller's own, which stays from call to call. */
struct buf *work_buf(struct work *w);

/* Begins to read one chunk.  *size: bytes of its payload, 0: nothing is stored; *whole: it is
 * decoded as a whole, chunk_payload(), and *size not known before; else chunk_window(). */
int chunk_at(struct work *w, struct chunks *cs, const uint64_t *coord, uint64_t *size, int *whole);
/* All of it, verified; keep: it will be asked for again.  Valid until chunk_leave(). */
int chunk_payload(struct work *w, int keep, const uint8_t **p, uint64_t *size);
/* The same where a shuffle may be left, if the elements of `each` bytes that are wanted then
 * are whole ones of its: *unit is their size, chunk_unshuffle() gives bytes [offset, offset + n),
 * multiples of it.  0: there is none. */
int chunk_shuffled(struct work *w, int keep, uint64_t each, const uint8_t **p, uint64_t *size,
                   uint64_t *unit);
void chunk_unshuffle(const uint8_t *p, uint64_t size, uint64_t unit, uint64_t offset, uint64_t n,
                     void *out);
/* Bytes [low, high) of an unfiltered payload at *p, of which those 4 KiB blocks hold what was
 * stored that `blocks` names, from the one at low on; verified.  low: a multiple of 4096; if
 * cs->cell is set, all inside one piece.  wanted: how many bytes of it are.  *have: bytes
 * that are stored; where they are fewer than asked for, *p may be written to. */
int chunk_window(struct work *w, uint64_t low, uint64_t high, uint64_t blocks, uint64_t wanted,
                 uint8_t **p, uint64_t *have);
/* Bytes of an unfiltered payload straight to where they belong. */
int chunk_bytes(struct work *w, uint64_t offset, uint64_t size, void *buf, uint64_t *have);
void chunk_leave(struct work *w);

/* Reads bytes [offset, offset + size) of the unfiltered payload of the chunk at coord[rank];
 * verified (exactly the blocks it touches; what is decoded as a whole, through the cache).
 * *have: bytes from the start of the range that exist, the rest of buf is untouched (fill).
 * A chunk that is not stored: *have = 0. */
int chunk_read(struct chunks *cs, const uint64_t *coord, uint64_t offset, uint64_t size, void *buf,
               uint64_t *have);
/* Length of the whole unfiltered payload, 0 if absent. */
int chunk_size(struct chunks *cs, const uint64_t *coord, uint64_t *size);

/* Replaces the whole payload of n consecutive chunks (n > 1 only unfiltered, `size`
 * bytes each, back to back in buf).  Filters, sums, space and records are the store's
 * business.  The old payload is freed at commit. */
int chunk_write(struct chunks *cs, const uint64_t *coord, uint64_t n, const void *buf,
                uint64_t size);
/* The same for n unfiltered chunks anywhere, in grid order, coords: rank numbers each.  fn
 * gives bytes [from, from + size) of number i, valid until it is called again with the same
 * work; it is asked for `piece` bytes at a time (a multiple of 4096; or all of them), by as
 * many threads at once. */
typedef int chunk_bytes_fn(void *ctx, struct work *w, uint64_t i, uint64_t from, uint64_t size,
                           const uint8_t **p);
struct chunk_source {
    chunk_bytes_fn *fn;
    void *ctx;
    uint64_t piece;
    int threads;
};
int chunks_write(struct chunks *cs, const uint64_t *coords, uint64_t n, uint64_t size,
                 const struct chunk_source *from);
/* One chunk that is filtered or has a heap, as number i of those that many threads encode:
 * only its place is found in turn.  What waits in memory for it is not looked at. */
struct pool_turns;
int chunk_write_turn(struct work *w, struct chunks *cs, const uint64_t *coord, const void *buf,
                     uint64_t size, struct pool_turns *turns, int64_t i);

/* Replaces one filtered chunk by what chunk_stored() gave of another one with the same filters. */
int chunk_write_stored(struct chunks *cs, const uint64_t *coord, const struct buf *stored,
                       uint32_t skipped);

/* Changes that wait in memory, for chunks that are decoded as a whole: they are written when a
 * commit comes or room is needed.  Room for `bytes` more of them (UINT64_MAX: none waits any
 * more), before an operation changes anything (first), or later in it.  0 in *can: this
 * dataset's chunks are too large for that. */
int chunks_room(struct chunks *cs, uint64_t bytes, int first, int *can);
/* Is the chunk among the changed ones already? */
int chunk_is_changed(struct chunks *cs, const uint64_t *coord);
/* Takes one chunk to be changed, until chunk_leave(): its payload, empty if it is not stored;
 * or (fresh) to be replaced, empty.  chunk_note() before bytes of it are overwritten,
 * chunk_edited() after all; *waste: bytes of its heap that nothing refers to. */
int chunk_edit(struct work *w, struct chunks *cs, const uint64_t *coord, int fresh,
               struct buf **payload, size_t **waste);
/* Nothing in memory speaks for this chunk any more (until the operation is taken back). */
void chunk_forget(struct chunks *cs, const uint64_t *coord);
int chunk_note(struct work *w, uint64_t offset, uint64_t size);
void chunk_edited(struct work *w);
/* Writes all changes of one object that wait (0: of all), before an operation changes
 * anything or outside of one. */
int chunks_settle(struct store *st, uint64_t object);
int chunks_waiting(const struct store *st);

/* Replaces bytes of one existing or absent chunk: read, modify, write; `fill` (one
 * stored element, NULL: zeros) stands for what did not exist. */
int chunk_patch(struct chunks *cs, const uint64_t *coord, uint64_t offset, uint64_t size,
                const void *buf, const void *fill, size_t fill_size);
int chunk_remove(struct chunks *cs, const uint64_t *coord);
/* Calls fn for each stored record of the dataset in key order; what waits in memory is not
 * among them. */
typedef int chunk_each_fn(const uint64_t *coord, const struct chunk_rec *rec, void *ctx);
int chunk_each(struct chunks *cs, chunk_each_fn *fn, void *ctx);
/* The stored bytes of a filtered chunk, verified. */
int chunk_stored(struct chunks *cs, const struct chunk_rec *rec, struct buf *out);
/* The last coordinate of the first chunk stored in [coord, coord + n); UINT64_MAX: none. */
int chunk_next(struct chunks *cs, const uint64_t *coord, uint64_t n, uint64_t *next);
/* Frees all chunks of a removed dataset. */
int chunk_remove_all(struct chunks *cs);
/* Where the payload lies in the file if chunks [0, n) are one unfiltered run of at least so
 * many bytes; else DREP_ERR_UNSUPPORTED_OPERATION with the reason. */
int chunk_run_offset(struct chunks *cs, uint64_t n, uint64_t bytes, uint64_t *offset);
/* Holds a stored unfiltered chunk against its sums. */
int chunk_sums_check(struct chunks *cs, const uint64_t *coord);
/* Fills in the sums of the dataset's payload that are absent; *blocks counts them up.  Makes
 * operations of its own, of one record each. */
int chunks_seal(struct chunks *cs, int64_t *blocks);
/* A range of the file in memory, read-only; it may outlive the store. */
struct mapped {
    const void *data;
    size_t size;
    void *handle;
    void (*unmap)(void *handle, size_t size);
};
int store_map(struct store *st, uint64_t offset, size_t size, struct mapped *out);
void store_unmap(const struct mapped *m);
/* Counts the absent sums of one record's payload in *absent; verifies the others; decodes
 * filters. */
enum chunk_depth { CHUNK_COUNT, CHUNK_SUMS, CHUNK_DECODE };
int chunk_verify(struct chunks *cs, const uint64_t *coord, const struct chunk_rec *rec,
                 enum chunk_depth depth, uint64_t *absent);

/* ---- damaged files: salvage.c ---- */

/* All entries of a damaged file that can be read, in a store of their own, which may be changed
 * and is gone when it is closed; the file is not touched.  fn is told what cannot be read; non-zero
 * ends it.  Owns io from here on. */
int store_salvage(struct io *io, const struct store_opts *opts, drep_finding_fn *fn, void *ctx,
                  struct store **out);
/* Writes the unfiltered chunks of one record anew, in such a store.  fn puts something in place
 * of the bytes [from, to) of the payload at p that are damaged or not there; `offset` is where
 * they stand in the file. */
typedef void chunk_damage_fn(uint8_t *p, uint64_t from, uint64_t to, uint64_t offset, void *ctx);
int chunk_salvage(struct chunks *cs, const uint64_t *coord, const struct chunk_rec *rec,
                  chunk_damage_fn *fn, void *ctx);

/* ---- all or nothing for one operation ---- */

/* Between begin and end, tree changes and allocations can be undone as one; nesting is
 * not allowed.  keep 0: everything since begin is taken back (its space is free at
 * once). */
int store_op_begin(struct store *st);
int store_op_end(struct store *st, int keep);

/* ---- filters ---- */

/* What filters need besides their input: buffers, and the compressors' own memory.  Kept
 * from chunk to chunk; one thread at a time uses it.  {0} is empty. */
struct codec {
    struct buf room[2];
    struct buf stored;     /* for the caller */
    void *compressor[2];   /* deflate's, and for which level; zstd's */
    void *decompressor[2]; /* likewise */
    int level;
    uint64_t limit; /* decoding: bytes that no stage may exceed twice over; 0: none */
};
void codec_release(struct codec *k);

int filter_available(int id);
/* The registered filter of this name, or a plugin's (base/plugin.h); *out NULL: none. */
struct user_filter;
int filter_resolve(const char *name, const char *dirs, const struct user_filter **out);
/* DREP_ERR_UNSUPPORTED naming the first filter of the list, of those not skipped, that is not
 * there. */
int filters_known(const struct filter_rec *f, int n, uint32_t skipped);
/* Encodes `size` bytes at buf through the list; `fixed` bytes at its start are the fixed
 * part.  *skipped: filters not applied (did not shrink).  The result stands at buf or in the
 * codec, until that is used again. */
int filters_encode(struct codec *k, const struct filter_rec *f, int n, const void *buf, size_t size,
                   size_t fixed, struct span *out, uint32_t *skipped);
/* Decodes; the result is at most `max` bytes.  out is not one of the codec's buffers. */
int filters_decode(struct codec *k, const struct filter_rec *f, int n, uint32_t skipped,
                   const void *buf, size_t size, size_t fixed, uint64_t max, struct buf *out);

/* ---- checks ---- */

/* Walks everything reachable: nodes (kinds, order, separators, sums), lists, space
 * (overlaps, leaks).  each_leaf is called for every entry so that data/ can check
 * records.  Findings go to fn; stops only when fn gives non-zero. */
typedef int store_entry_fn(const struct key *key, const uint8_t *value, size_t len, uint64_t where,
                           void *ctx);
/* Told of allocated bytes that nothing refers to, where nothing is damaged. */
typedef int store_gap_fn(uint64_t offset, uint64_t length, void *ctx);
int store_check(struct store *st, drep_finding_fn *fn, void *fn_ctx, store_entry_fn *each_leaf,
                store_gap_fn *gap, void *leaf_ctx, int64_t *findings, drep_usage *usage);
/* data/ tells the check which payload and sums a chunk record uses. */
int store_check_claim(struct store *st, uint64_t offset, uint64_t length, const char *what);
/* ... and the store how many sums of it are absent. */
void store_check_absent(struct store *st, uint64_t n);

#endif
