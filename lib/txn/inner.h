/* inner.h - what the files of the store share; nobody else includes it.
 *
 * file.c makes and closes, snapshot.c chooses a commit, space.c hands out bytes, tree.c finds and
 * changes entries, op.c takes one operation back, commit.c makes everything durable, run.c and
 * chunk.c keep payload, check.c looks at all of it. */
#ifndef TXN_INNER_H
#define TXN_INNER_H

#include "base/pool.h"
#include "space/extents.h"
#include "tree/node.h"
#include "txn/store.h"

/* ---- space ---- */

#define FREED_MAX 32768

struct extent_list {
    struct extent *e;
    size_t n, room;
};

/* Extents that commits freed and that somebody may still look at. */
struct later {
    uint64_t offset, length, sequence;
};
struct later_list {
    struct later *e; /* those from head to n */
    size_t head, n, room;
};

struct space {
    int loaded;                /* the FREE entries and the pending list are in memory */
    int ready;                 /* and what the open transaction may use is in avail */
    int committing;            /* the FREE entries are written: avail must not change */
    uint64_t end;              /* of allocated space */
    struct extents avail;      /* what may be used now */
    struct extents fresh;      /* allocated by the open transaction below the committed end */
    uint64_t limit;            /* what commits up to this one freed is in avail */
    struct later_list later;   /* the rest that has a FREE entry, by ascending sequence */
    struct later_list pending; /* and that has none */
    struct extent_list freed;  /* by the open transaction; the last commit refers to it */
    struct extent_list late;   /* likewise, while committing */
    struct extent_list left;   /* freed while committing, but no commit refers to it */
    uint64_t *touched;         /* offsets whose FREE entry may be wrong */
    size_t ntouched, room_touched;
};

/* How an allocation behaves when the operation is taken back. */
enum keep { WITH_OP, ANYWAY };

/* The FREE entries into memory, and what may be used into avail: before a transaction's
 * first allocation. */
int space_begin(struct store *st);
/* Bytes rounded up to 64, at a multiple of `align`. */
int space_alloc(struct store *st, uint64_t size, uint64_t align, enum keep keep, uint64_t *offset);
/* Exactly there, if that is free: 1, or 0. */
int space_alloc_at(struct store *st, uint64_t offset, uint64_t size);
/* Never fails: at worst the bytes become slack. */
void space_free(struct store *st, uint64_t offset, uint64_t size, enum keep keep);
/* First referenced by the open transaction. */
int space_fresh(const struct store *st, uint64_t offset, uint64_t size);
/* Takes an extent of avail away for nodes, `want` bytes or less; length 0: there is none. */
int space_reserve(struct store *st, uint64_t want, struct extent *out);
/* Bytes taken that were not used. */
void space_return(struct store *st, uint64_t offset, uint64_t size);
/* Between operations, when freed_max extents were freed: they go into the tree. */
void space_relieve(struct store *st);
void space_trim(struct store *st); /* free bytes at the end are not allocated */
/* Brings the FREE entries of the tree up to date and stops changes of avail.  What is freed
 * from then on goes to `late` and `left`, which the pending list names. */
int space_publish(struct store *st);
/* The commit succeeded, or did not. */
void space_committed(struct store *st);
void space_failed(struct store *st);
void space_release(struct store *st);
/* Adds an extent; it joins the last one where they meet.  push: it stays by itself. */
int list_add(struct extent_list *l, uint64_t offset, uint64_t length);
int list_push(struct extent_list *l, uint64_t offset, uint64_t length);
uint64_t round_up(uint64_t v, uint64_t align);

/* ---- the tree ---- */

/* What all keys of a subtree lie between: low <= key < high; NULL: no bound.  They stand in
 * the nodes above. */
struct bounds {
    const uint8_t *low, *high;
    size_t low_len, high_len;
};

/* Leaves are kept smaller than they may be: less is read and copied for one entry. */
#define LEAF_MAX 4096u
#define LEAVES_MAX 1024 /* dirty leaves in memory, about 12 MiB */
#define HINTS 8
#define HINT_KINDS 32
struct hint { /* a dirty leaf changed lately; holds while the shape is the same */
    struct node *leaf;
    uint64_t shape;
    struct words low, high; /* of the bounds */
    struct bounds bounds;
};

#define PINS 16
struct pin { /* a leaf that a walk stands in */
    uint64_t stamp;
    uint64_t change;
    struct node *leaf;
    int has_high; /* keys of the leaf are less than: */
    struct key high;
};

/* Where a look-up ended: the next one of the same thread is often just behind it.  In a leaf
 * that was read, of a tree without changes. */
#define FINGERS 64
#define FINGER_KEY 48 /* longer keys leave none */
struct finger {
    atomic_flag busy; /* some thread looks at it, or changes it */
    uint64_t change;
    struct node *leaf;
    uint32_t at; /* the entry of: */
    uint32_t len;
    uint8_t key[FINGER_KEY];
};

struct tree {
    struct node *node;          /* the root when it is dirty */
    struct ref root;            /* when it is not; length 0: no entries */
    _Atomic(struct node *) top; /* the node there, once it was read */
    uint64_t change;            /* counts changes */
    uint64_t shape;             /* counts splits, merges and what else moves entries */
    size_t leaves;              /* dirty ones */
    size_t leaves_max;          /* beyond which they are written early */
    int spilled;                /* some were, since the last commit */
    struct hint *hint;
    unsigned next_hint;         /* to be replaced */
    uint8_t served[HINT_KINDS]; /* the hint that keys of a kind found their leaf by */
    uint64_t next_stamp;
    struct pin *pin; /* under the store's lock */
    struct finger *finger;
};

/* The bounds of child i of n, within those of n; whether a node keeps to them. */
void bounds_narrow(struct bounds *b, const struct node *n, uint32_t i);
int bounds_check(const struct bounds *b, const struct node *n);

/* The dirty leaf where a key belongs, if it was changed lately; NULL. */
struct node *tree_hinted(const struct store *st, const uint8_t *key, size_t len);
int tree_init(struct store *st);
/* Who holds the store alone has changed where the root stands. */
void tree_new_root(struct store *st);
void tree_release(struct store *st);
/* Leaves that wait outside the file for the commit that puts all nodes in one extent: this
 * bit of a reference's offset. */
#define APART (UINT64_C(1) << 63)
/* Reads a node that stands in the file; one reference for the caller. */
int node_read(struct store *st, const struct ref *ref, int level, struct node **out);
/* Its bytes as they stand there. */
int node_bytes(struct store *st, const struct ref *ref, uint8_t *block);
/* The same through the cache. */
int node_load(struct store *st, const struct ref *ref, int level, struct node **out);
/* Reads a block of any other kind and gives its content (behind the header). */
int block_load(struct store *st, const struct ref *ref, int kind, struct buf *out, uint32_t *count);
/* Writes a block of any other kind than a node at this place. */
int block_write(struct store *st, int kind, uint32_t count, const void *content, size_t size,
                uint64_t offset, struct ref *out);
/* A changed entry as it stands in the leaf: value_len with ITEM_FAR; for undoing. */
int tree_put_raw(struct store *st, const uint8_t *key, size_t len, const void *value,
                 size_t value_len);
int tree_del_raw(struct store *st, const uint8_t *key, size_t len);
/* Puts without noting it for the operation. */
int tree_put_anyway(struct store *st, const struct key *key, const void *value, size_t len);
/* Writes dirty leaves early so that memory stays bounded. */
void tree_spill(struct store *st);
/* After a commit: dirty nodes stand in the file now. */
void tree_clean(struct store *st);
/* Where references may point to. */
uint64_t store_end(const struct store *st);
uint64_t store_next_sequence(const struct store *st);

/* ---- one operation ---- */

#define UNDO_MAX ((size_t)2 << 20)

struct op {
    int active;
    int failed;                /* could not be taken back */
    struct buf undo;           /* changed entries, last first when read from its end */
    size_t undo_max;           /* bytes of it beyond which it goes to the file, */
    struct extent_list away;   /* which has the earlier ones there */
    struct extents alloc;      /* allocated by it */
    struct extent_list freed;  /* freed by it, for good at its end */
    struct extent_list unused; /* free if it is taken back */
    struct buf image;          /* bytes overwritten in place, as undo */
    uint64_t next_object;
    uint32_t next_type;
    int dirty;
};
/* Notes what an entry was: value NULL: it was not there. */
int op_note(struct store *st, const uint8_t *key, size_t len, const uint8_t *value,
            size_t value_len);
/* Notes bytes of the open transaction that are about to be overwritten in place. */
int op_image(struct store *st, uint64_t offset, const void *old, size_t size);
/* Bytes that nobody needs if the operation is taken back. */
void op_unused(struct store *st, uint64_t offset, uint64_t size);
void op_release(struct op *op);

/* ---- payload ---- */

/* A stretch of chunks with one record and their sums: as it stands in the tree (then it
 * never changes), or open: of the open transaction, changed in memory and put into the
 * tree when the commit comes or room is needed. */
struct run {
    atomic_int refs;
    uint64_t object;
    int rank;
    uint64_t coord[FMT_RANK_MAX];
    struct chunk_rec rec;
    uint64_t *sum;   /* of unfiltered chunks, one after the other */
    uint64_t *heap;  /* what they stand in, NULL: in rec */
    size_t room;     /* sums that fit there */
    uint64_t change; /* of the tree when it was read */
    struct buf tail;
    /* Open ones. */
    uint64_t space; /* bytes from rec.offset on that are the run's */
    uint64_t used;  /* when, for choosing which to put into the tree */
    int in_tree;    /* rec.sums and the key stand there, maybe out of date */
    int dirty;      /* they do */
    int opened;     /* by the operation, from the tree */
    int captured;   /* changed by the operation; before that it was: */
    int base_dirty;
    uint32_t base_run; /* 0: not there */
    uint64_t base_size, base_space;
    uint64_t *base_sum; /* NULL: the first ones of sum */
};

/* Where a chunk was found: chunk number `index` of a run. */
struct found {
    struct run *run; /* &local, an open one, or one with a reference for us */
    uint32_t index;
    struct run local;
};

/* A stretch of the file that a contiguous dataset will fill. */
struct reservation {
    uint64_t object;
    uint64_t first, chunks; /* which it is for */
    uint64_t payload;       /* bytes each */
    uint64_t offset;        /* of the first */
    struct extents left;    /* not used yet */
};

#define RUN_BYTES ((uint64_t)16 << 20) /* of one record, so that its sums stay small */
#define OPEN_RUNS 16
#define RECENT_RUNS 64
#define RESERVATIONS 16
struct runs {
    struct run *open[OPEN_RUNS];
    int n;
    uint64_t clock;
    /* Runs with many sums that were read lately; under the store's lock. */
    struct recent_run {
        struct run *run;
        uint64_t object, first; /* of its chunks, last coordinate; and how many: */
        uint32_t n;
    } recent[RECENT_RUNS];
    int next_recent;
    struct reservation reserved[RESERVATIONS];
    int nreserved;
};

/* DREP_ERR_NOT_FOUND without a message: no chunk is stored there. */
int run_find(struct chunks *cs, const uint64_t *coord, struct found *f);
void run_done(struct store *st, struct found *f);
/* Gives one reference up. */
void run_unref(struct run *r);
/* The same, but a run of many chunks is kept for run_again(): 1 if it has this chunk too. */
void run_leave(struct store *st, struct found *f);
int run_again(struct chunks *cs, const uint64_t *coord, struct found *f);
/* The run of a record, sums loaded. */
int run_load(struct store *st, const struct chunk_rec *rec, struct run *r);
void run_unload(struct run *r);
/* Whose last coordinate is the first one stored in [coord, coord + n); UINT64_MAX: none. */
int run_next(struct chunks *cs, const uint64_t *coord, uint64_t n, uint64_t *next);
/* Chunks just written, of `size` bytes each: they join the open run before them, or begin
 * one; `space` bytes from offset on are theirs.  sums: chunk after chunk. */
int run_add(struct chunks *cs, const uint64_t *coord, uint32_t n, uint64_t offset, uint64_t size,
            uint64_t space, const uint64_t *sums);
/* Opens what was found, so that it can be changed (and notes how it was, sums too if they
 * are to be changed). */
int run_open(struct chunks *cs, struct found *f);
int run_capture(struct store *st, struct run *r, int sums);
/* Makes room for sums of an open run. */
int run_reserve(struct run *r, uint64_t sums);
/* Takes n chunks from index on out of the run; their space is free. */
int run_remove(struct chunks *cs, struct found *f, uint32_t n);
/* Puts a record into the tree in place of whatever stands there. */
int run_store(struct store *st, const struct run *r, enum keep keep);
/* All open runs into the tree, of one object (0: all of them); then they are not open. */
int runs_flush(struct store *st, uint64_t object);
/* The operation stands; or all is as it was before. */
void runs_op_end(struct store *st);
void runs_op_undo(struct store *st);
void runs_release(struct store *st);
/* The transaction is over: reservations are given back. */
void chunks_end(struct store *st);
uint64_t run_bytes(const struct run *r); /* of all chunks of the run */
uint64_t chunk_align(const struct store *st, uint64_t bytes);
void chunk_key(const struct chunks *cs, const uint64_t *coord, struct key *key);
/* The same back, with the record that stands under the key. */
int chunk_entry(const struct chunks *cs, const struct key *key, const struct buf *value,
                uint64_t *coord, struct chunk_rec *rec);

/* ---- payload and its sums: payload.c ---- */

#define PIECE_BYTES ((size_t)256 << 10) /* summed and moved while in the cache */

/* How many blocks have sums. */
static inline uint64_t sums_of(uint64_t size)
{
    return size / FMT_SUM_BLOCK + (size % FMT_SUM_BLOCK != 0);
}
/* n chunks of `size` bytes at p, to `offset`; their sums to sums. */
int payload_write(struct store *st, const uint8_t *p, uint64_t n, uint64_t size, uint64_t offset,
                  uint64_t *sums);
/* Whole chunks from index on into p (NULL: only verified). */
int payload_read(struct store *st, const struct run *r, uint32_t index, uint32_t n, uint8_t *p);
/* Part of one chunk, which must lie inside. */
int payload_read_part(struct store *st, const struct run *r, uint32_t index, uint64_t offset,
                      uint64_t size, uint8_t *p);
/* Bytes [from, to) of one chunk, from a multiple of 4096; to likewise, or the chunk's end. */
int payload_blocks(struct store *st, const struct run *r, uint32_t index, uint64_t from,
                   uint64_t to, uint8_t *p);
/* Overwrites part of a chunk of an open run in place, whose sums it changes; noted: so that
 * the operation can be taken back. */
int payload_patch(struct store *st, struct run *r, uint32_t index, uint64_t offset, uint64_t size,
                  const uint8_t *p, int noted);
/* How many sums of the run are absent; and makes them from what stands in the file. */
uint64_t payload_absent(const struct run *r);
int payload_seal(struct store *st, struct run *r);
/* The stored bytes of a filtered chunk, verified; read by at most so many threads. */
int payload_filtered(struct store *st, const struct chunk_rec *rec, int verify, int threads,
                     struct buf *out);

/* ---- payload in memory: cached.c ---- */

/* A piece of so many bytes for an empty buffer, which stays empty if they are too few for one
 * or there is no memory. */
void buf_take(struct buf *b, struct regions *m, uint64_t size);

#define CACHE_WHOLE UINT64_MAX

/* Names an entry: a whole chunk, or piece number `cell` of an unfiltered one. */
struct cache_key {
    uint64_t object, cell;
    int rank;
    const uint64_t *coord;
};

/* A dataset as entries need it when they are written, whatever became of its handle. */
struct pipe {
    struct pipe *next;
    int refs;
    struct chunks cs;
    uint8_t names[]; /* of users' filters */
};

struct cached {
    struct cached *newer, *older, *chain;
    uint64_t sum, object, cell;
    int rank, refs, state;
    int listed, aged; /* in the table; in the order of use */
    struct buf bytes;
    uint64_t unit;    /* the shuffle is left: of elements of so many bytes; 0: it is undone */
    uint64_t valid;   /* of a piece: its 4 KiB blocks that are there */
    uint64_t charged; /* bytes that count for the budget */
    uint64_t used;    /* when, by a count of uses */
    /* Changes that are not in the file. */
    int dirty;
    struct cached *next_changed;
    struct pipe *pipe;
    uint64_t dirty_charged;
    size_t waste; /* bytes of its heap that nothing refers to */
    /* By the operation under way, and how it was before that. */
    uint64_t op;
    struct cached *next_op;
    int was_dirty, gone;
    size_t len_before, waste_before;
    struct buf undo;   /* bytes that were overwritten, each with a note behind it */
    struct buf before; /* all of them, where all were */
    uint64_t coord[];
};
struct cached_note {
    size_t offset, size;
};

struct chunk_cache;
int chunk_cache_new(struct budget *budget, struct chunk_cache **out);
void chunk_cache_free(struct chunk_cache *c);
void chunk_cache_clear(struct chunk_cache *c); /* but not of changes */
uint64_t cache_most(const struct chunk_cache *c);
uint64_t cache_dirty(const struct chunk_cache *c);

/* An entry that is ready, with a reference for us, or NULL. */
struct cached *cache_find(struct chunk_cache *c, const struct cache_key *k);
/* The same; what is not there is made, for the caller to load `room` bytes or so and say
 * cache_loaded(): *load.  Others wait for that. */
int cache_get(struct chunk_cache *c, const struct cache_key *k, uint64_t room, struct cached **out,
              int *load);
/* Whether a piece lacks some of these blocks, which are then the caller's to load. */
int cache_lacks(struct chunk_cache *c, struct cached *d, uint64_t blocks, uint64_t *valid);
void cache_loaded(struct chunk_cache *c, struct cached *d, uint64_t blocks, int err);
/* Whether nobody else holds the entry, which is then the caller's to load anew. */
int cache_claim(struct chunk_cache *c, struct cached *d);
void cache_put(struct chunk_cache *c, struct cached *d);
/* Notes that blocks, or a chunk of `size` bytes, are read without being kept; gives those
 * noted not long before. */
uint64_t cache_seen(struct chunk_cache *c, const struct cache_key *k, uint64_t blocks,
                    uint64_t size);

/* Around an operation.  undo: entries are as they were when it began. */
void cache_op_begin(struct chunk_cache *c);
void cache_op_end(struct chunk_cache *c);
void cache_op_undo(struct chunk_cache *c);
/* The entry, which we hold, is about to change; before bytes [offset, offset + size) do;
 * before all of them do (it is empty then); and its length may have changed. */
int cache_change(struct chunk_cache *c, struct cached *d, const struct chunks *cs);
int cache_note(struct chunk_cache *c, struct cached *d, size_t offset, size_t size);
int cache_replace(struct chunk_cache *c, struct cached *d);
void cache_changed(struct chunk_cache *c, struct cached *d);
/* It stands in the file now. */
void cache_written(struct chunk_cache *c, struct cached *d);
/* Out of the cache, changes too (until the operation is taken back). */
void cache_drop(struct chunk_cache *c, const struct cache_key *k);
void cache_drop_cells(struct chunk_cache *c, const struct cache_key *k, uint64_t first,
                      uint64_t last);
void cache_drop_object(struct chunk_cache *c, uint64_t object);
/* The changed entries of an object (0: of all); own: only those that were not changed before
 * the operation began.  The caller frees the list. */
int cache_list(struct chunk_cache *c, uint64_t object, int own, struct cached ***out, size_t *n);

/* ---- what one thread works with ---- */

struct work {
    struct work *next;
    struct codec codec;
    struct buf own;     /* the caller's */
    struct buf payload; /* a chunk that is decoded but not kept */
    uint8_t *window;    /* WINDOW_BYTES, at a multiple of a page */
    int threads;        /* that may read stored bytes; 0: this one alone */
    /* The chunk at hand. */
    struct chunks *cs;
    uint64_t coord[FMT_RANK_MAX];
    struct found found;   /* its run stays from chunk to chunk */
    struct cached *entry; /* held */
    int stored;
};
#define WINDOW_BYTES ((size_t)128 << 10)
void works_free(struct store *st);

/* chunk.c: makes the entry of the chunk at hand, loaded or (empty) without bytes. */
int chunk_load_entry(struct work *w, int empty);
/* Its payload as it is, for an operation that changes it. */
int chunk_plain_entry(struct work *w);

/* ---- where chunks go: place.c ---- */

/* One whole unfiltered payload, whatever is in memory. */
int chunk_write_bytes(struct chunks *cs, const uint64_t *coord, const void *buf, uint64_t size);

/* The record of a filtered chunk in place of what is stored; its `size` bytes are the
 * caller's to write to *offset. */
int place_filtered(struct chunks *cs, const uint64_t *coord, uint64_t size, uint64_t sum,
                   uint32_t skipped, uint64_t *offset);
/* Whether bytes of a run may be overwritten where they stand. */
enum place { MOVE, IN_PLACE, IN_PLACE_NOTED };
enum place may_overwrite(const struct store *st, const struct run *r, uint64_t offset,
                         uint64_t size);
/* Space for `bytes` bytes of chunks, of `size` bytes each; ahead: so many chunks, with these,
 * are to come to stand back to back. */
#define AHEAD_ALL UINT64_MAX /* all that the dataset has */
int find_space(struct chunks *cs, const uint64_t *coord, uint64_t ahead, uint64_t bytes,
               uint64_t size, uint64_t *offset);

struct check;

/* ---- opening: file.c, snapshot.c ---- */

/* Owns io only when it succeeds. */
int store_new(struct io *io, const struct store_opts *opts, struct store **out);
/* Chooses the commit to look at and loads its header; write: takes the writer's lock. */
int snapshot_open(struct store *st, int write, uint64_t sequence);
/* The greatest object id in the tree, and the number behind the greatest of a datatype. */
int numbers_in_use(struct store *st, uint64_t *object, uint64_t *type);
int snapshot_lock_writer(struct store *st);

struct store {
    struct io *io;
    struct store_opts opts;
    int writable;
    int created;        /* not published yet */
    int held;           /* nor by a commit: store_publish() does it */
    int locked;         /* a reader: that of its commit; a writer: that of the file */
    int borrowed;       /* io belongs to another store */
    int damaged;        /* 1 or 2: that slot is */
    const char *failed; /* why it refuses writes; NULL: it does not */
    int dirty;
    int old_freed;      /* the lists of the last commit are freed already */
    uint64_t older_end; /* of the commit in the other slot */
    struct io *apart;   /* where leaves wait, and the bytes there */
    uint64_t apart_end;
    store_wait_fn *wait; /* called around the syncs of a commit; NULL: nobody is */
    void *wait_ctx;
    struct slot slot; /* in force; sequence 0: no commit yet */
    struct buf header;
    uint64_t next_object;
    uint32_t next_type;
    size_t undo_max;  /* bytes of notes that an operation keeps in memory */
    size_t freed_max; /* extents freed, beyond which they go into the tree early */
    struct tree tree;
    struct budget budget; /* of both caches */
    struct node_cache nodes;
    struct space space;
    struct op op;
    struct runs runs;
    struct chunk_cache *cache;
    struct work *works; /* that nobody uses; under lock */
    pthread_mutex_t lock;
};

/* Makes sure that writing is allowed; why it is not. */
int store_must_not_write(const struct store *st);
static inline int store_may_write(const struct store *st)
{
    return st->writable && !st->failed ? 0 : store_must_not_write(st);
}

#endif
