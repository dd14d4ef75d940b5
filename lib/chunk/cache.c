/* cache.c - payload in memory, and changes that are not in the file yet.
 *
 * Entries are in a hash table and, unless they are dirty, in a list by age, whose oldest end is
 * evicted.  A dirty entry is in the list of changes instead: it must not be evicted before it is
 * written back.  An operation that is taken back needs dirty entries as they were when it began:
 * those that were dirty then keep notes of overwritten bytes, or all of their bytes; entries that
 * only became dirty in the operation are simply dropped, because the file has what they were. */
/* SPDX-License-Identifier: MIT */
#include "chunk/cache.h"

#include "base/mem.h"
#include "base/pool.h"
#include "base/regions.h"
#include "tree/touched.h"

#include <pthread.h>
#include <stdatomic.h>
#include <string.h>

#define CHAINS 8192
#define GHOSTS 4096

enum { LOADING, READY, FAILED };

/* Blocks of a piece that were read recently without being cached, by the hash of its key.  A
 * second read shows that caching pays. */
struct ghost {
    uint64_t sum, blocks, clock;
};

struct chunk_cache {
    pthread_mutex_t lock;
    pthread_cond_t loaded;
    /* CHAINS; NULL before the first entry.  Most files that are opened read no chunk, and to
     * clear tables would be half of opening one. */
    struct cache_entry **chain;
    struct cache_entry *newest, *oldest; /* those that may be evicted */
    uint64_t size;                       /* bytes of all */
    struct budget *budget;
    struct regions mem;
    uint64_t dirty;                 /* bytes that are not in the file */
    uint64_t cells;                 /* how many entries are pieces */
    struct cache_entry *changed;    /* the dirty ones, in no order */
    uint64_t op;                    /* number of the operation under way */
    struct cache_entry *op_changed; /* what it changed */
    struct cache_dataset *datasets;
    struct ghost *ghost; /* GHOSTS; NULL before the first one */
    uint64_t clock;      /* bytes read without being kept */
    uint64_t uses;
};

/* Behind the bytes that were overwritten. */
struct cache_note {
    size_t offset, size;
};

int chunk_cache_new(struct budget *budget, struct chunk_cache **out)
{
    struct chunk_cache *c = mem_zalloc(1, sizeof(*c));

    if (!c)
        return DREP_ERR_NOMEM;
    c->budget = budget;
    lock_init(&c->lock);
    regions_init(&c->mem);
    pthread_cond_init(&c->loaded, NULL);
    *out = c;
    return 0;
}

/* The part of the budget that nodes leave to chunks. */
uint64_t cache_most(const struct chunk_cache *c)
{
    uint64_t nodes = atomic_load_explicit(&c->budget->nodes, memory_order_relaxed);

    return nodes < c->budget->most ? c->budget->most - nodes : 0;
}

static void cache_set_size(struct chunk_cache *c, uint64_t size)
{
    c->size = size;
    atomic_store_explicit(&c->budget->chunks, size, memory_order_relaxed);
}

uint64_t cache_dirty(const struct chunk_cache *c)
{
    return c->dirty;
}

static uint64_t sum_of_key(const struct cache_key *k)
{
    uint64_t h = k->object * 0x9e3779b97f4a7c15u ^ k->cell;

    for (int d = 0; d < k->rank; d++)
        h = (h ^ h >> 29) * 0xbf58476d1ce4e5b9u + k->coord[d];
    h = (h ^ h >> 32) * 0x94d049bb133111ebu;
    return h ^ h >> 29;
}

static bool same_key(const struct cache_entry *d, const struct cache_key *k, uint64_t sum)
{
    return d->sum == sum && d->object == k->object && d->cell == k->cell && d->rank == k->rank &&
           memcmp(d->coord, k->coord, (size_t)k->rank * sizeof(*k->coord)) == 0;
}

static struct cache_entry *entry_find(struct chunk_cache *c, const struct cache_key *k,
                                      uint64_t sum)
{
    struct cache_entry *d = c->chain ? c->chain[sum % CHAINS] : NULL;

    while (d && !same_key(d, k, sum))
        d = d->chain;
    return d;
}

static void unlink_age(struct chunk_cache *c, struct cache_entry *d)
{
    if (!d->aged)
        return;
    *(d->newer ? &d->newer->older : &c->newest) = d->older;
    *(d->older ? &d->older->newer : &c->oldest) = d->newer;
    d->newer = NULL;
    d->older = NULL;
    d->aged = false;
}

static void link_newest(struct chunk_cache *c, struct cache_entry *d)
{
    d->older = c->newest;
    *(c->newest ? &c->newest->newer : &c->oldest) = d;
    c->newest = d;
    d->aged = true;
}

static void entry_used(struct chunk_cache *c, struct cache_entry *d)
{
    d->used = ++c->uses;
    if (d->aged && d != c->newest) {
        unlink_age(c, d);
        link_newest(c, d);
    }
}

static void dataset_unref(struct chunk_cache *c, struct cache_dataset *p)
{
    struct cache_dataset **at = &c->datasets;

    if (!p || --p->refs > 0)
        return;
    while (*at != p)
        at = &(*at)->next;
    *at = p->next;
    mem_free(p);
}

static void entry_unref(struct chunk_cache *c, struct cache_entry *d)
{
    if (--d->refs > 0)
        return;
    buf_release(&d->bytes);
    buf_release(&d->undo);
    buf_release(&d->before);
    dataset_unref(c, d->dataset);
    mem_free(d);
}

/* Take an entry out of the table; whoever holds it may go on reading. */
static void take_out(struct chunk_cache *c, struct cache_entry *d)
{
    struct cache_entry **at = &c->chain[d->sum % CHAINS];

    while (*at && *at != d)
        at = &(*at)->chain;
    if (!*at)
        return;
    *at = d->chain;
    d->chain = NULL;
    d->listed = false;
    unlink_age(c, d);
    cache_set_size(c, c->size - d->charged);
    d->charged = 0;
    c->cells -= d->cell != CACHE_WHOLE;
    entry_unref(c, d);
}

static void put_in(struct chunk_cache *c, struct cache_entry *d)
{
    struct cache_entry **chain = &c->chain[d->sum % CHAINS];

    d->refs++;
    d->listed = true;
    d->chain = *chain;
    *chain = d;
    c->cells += d->cell != CACHE_WHOLE;
}

/* Count an entry's bytes against the budget, and what the entry itself takes. */
static void entry_charge(struct chunk_cache *c, struct cache_entry *d, uint64_t size)
{
    size += sizeof(*d) + (size_t)d->rank * sizeof(*d->coord) + 64;
    cache_set_size(c, c->size - d->charged + size);
    d->charged = size;
}

/* Evict the oldest entries until `room` bytes fit; a buffer of this size is kept for the caller
 * instead of being freed. */
static void cache_evict(struct chunk_cache *c, uint64_t room, struct buf *spare)
{
    struct cache_entry *d = c->oldest;

    while (d && c->size + room > cache_most(c)) {
        struct cache_entry *next = d->newer;

        if (d->refs == 1 && d->state == READY) {
            if (spare && !spare->p && d->bytes.size >= room && d->bytes.size / 2 <= room) {
                *spare = d->bytes;
                spare->len = 0;
                d->bytes = (struct buf){0};
            }
            take_out(c, d);
        }
        d = next;
    }
}

void chunk_cache_clear(struct chunk_cache *c)
{
    struct cache_entry *next;

    if (!c)
        return;
    regions_closing(&c->mem, 1);
    pthread_mutex_lock(&c->lock);
    for (struct cache_entry *d = c->oldest; d; d = next) {
        next = d->newer;
        take_out(c, d);
    }
    regions_closing(&c->mem, 0);
    if (c->ghost)
        memset(c->ghost, 0, GHOSTS * sizeof(*c->ghost));
    pthread_mutex_unlock(&c->lock);
}

/* Take an entry off the list of changes. */
static void unlink_changed(struct chunk_cache *c, struct cache_entry *d)
{
    struct cache_entry **at = &c->changed;

    while (*at != d)
        at = &(*at)->next_changed;
    *at = d->next_changed;
    d->dirty = false;
    c->dirty -= d->dirty_charged;
    d->dirty_charged = 0;
}

void chunk_cache_free(struct chunk_cache *c)
{
    if (!c)
        return;
    cache_op_end(c);
    while (c->changed) {
        struct cache_entry *d = c->changed;

        unlink_changed(c, d);
        take_out(c, d);
    }
    chunk_cache_clear(c);
    pthread_cond_destroy(&c->loaded);
    regions_release(&c->mem);
    pthread_mutex_destroy(&c->lock);
    mem_free(c->chain);
    mem_free(c->ghost);
    mem_free(c);
}

/* Make an entry, and before the first one the table. */
static struct cache_entry *entry_new(struct chunk_cache *c, const struct cache_key *k, uint64_t sum)
{
    struct cache_entry *d;

    if (!c->chain)
        c->chain = mem_zalloc(CHAINS, sizeof(*c->chain));
    if (!c->chain)
        return NULL;
    d = mem_zalloc(1, sizeof(*d) + (size_t)k->rank * sizeof(*k->coord));
    if (!d)
        return NULL;
    d->refs = 1;
    d->state = LOADING;
    d->sum = sum;
    d->object = k->object;
    d->cell = k->cell;
    d->rank = k->rank;
    memcpy(d->coord, k->coord, (size_t)k->rank * sizeof(*k->coord));
    return d;
}

/* Return the entry of a key once it is loaded, or NULL.  The caller holds the lock. */
static struct cache_entry *wait_for(struct chunk_cache *c, const struct cache_key *k, uint64_t sum)
{
    struct cache_entry *d = entry_find(c, k, sum);

    if (!d)
        return NULL;
    d->refs++;
    while (d->state == LOADING)
        pthread_cond_wait(&c->loaded, &c->lock);
    if (d->state == FAILED) {
        entry_unref(c, d);
        return NULL;
    }
    entry_used(c, d);
    return d;
}

struct cache_entry *cache_find(struct chunk_cache *c, const struct cache_key *k)
{
    uint64_t sum = sum_of_key(k);
    struct cache_entry *d;

    pthread_mutex_lock(&c->lock);
    d = wait_for(c, k, sum);
    pthread_mutex_unlock(&c->lock);
    return d;
}

int cache_get(struct chunk_cache *c, const struct cache_key *k, uint64_t room,
              struct cache_entry **out, int *load)
{
    uint64_t sum = sum_of_key(k);
    struct buf spare = {0};
    struct cache_entry *d;

    pthread_mutex_lock(&c->lock);
    d = wait_for(c, k, sum);
    *load = !d;
    if (!d) {
        d = entry_new(c, k, sum);
        if (d && room <= cache_most(c) && !entry_find(c, k, sum)) {
            cache_evict(c, room, &spare);
            if (!spare.p && c->size >= MEM_HUGE) /* a small file takes no more memory than it
                                                  * needs */
                buf_take(&spare, &c->mem, room);
            put_in(c, d);
            link_newest(c, d);
            entry_used(c, d);
            entry_charge(c, d, room);
            d->bytes = spare;
        }
    }
    pthread_mutex_unlock(&c->lock);
    if (!d)
        return DREP_ERR_NOMEM;
    *out = d;
    return 0;
}

int cache_lacks(struct chunk_cache *c, struct cache_entry *d, uint64_t blocks, uint64_t *valid)
{
    int lacks;

    pthread_mutex_lock(&c->lock);
    while (d->state == LOADING)
        pthread_cond_wait(&c->loaded, &c->lock);
    lacks = (blocks & ~d->valid) != 0;
    *valid = d->valid;
    if (lacks)
        d->state = LOADING;
    pthread_mutex_unlock(&c->lock);
    return lacks;
}

int cache_claim(struct chunk_cache *c, struct cache_entry *d)
{
    int alone;

    pthread_mutex_lock(&c->lock);
    alone = d->state == READY && d->refs == (d->listed ? 2 : 1);
    if (alone)
        d->state = LOADING;
    pthread_mutex_unlock(&c->lock);
    return alone;
}

void cache_loaded(struct chunk_cache *c, struct cache_entry *d, uint64_t blocks, int err)
{
    pthread_mutex_lock(&c->lock);
    /* An error leaves the blocks that were there before valid. */
    d->state = err && !d->valid ? FAILED : READY;
    if (!err)
        d->valid |= blocks;
    if (d->listed)
        entry_charge(c, d, d->bytes.size);
    if (d->aged && (d->state == FAILED || d->charged > cache_most(c)))
        take_out(c, d);
    else if (d->aged)
        cache_evict(c, 0, NULL);
    pthread_cond_broadcast(&c->loaded);
    pthread_mutex_unlock(&c->lock);
}

void cache_put(struct chunk_cache *c, struct cache_entry *d)
{
    pthread_mutex_lock(&c->lock);
    entry_unref(c, d);
    pthread_mutex_unlock(&c->lock);
}

/* Reads too long ago do not count: the bytes would have been evicted by now. */
uint64_t cache_seen(struct chunk_cache *c, const struct cache_key *k, uint64_t blocks,
                    uint64_t size)
{
    uint64_t sum = sum_of_key(k), before;
    struct ghost *g;

    pthread_mutex_lock(&c->lock);
    if (!c->ghost)
        c->ghost = mem_zalloc(GHOSTS, sizeof(*c->ghost));
    if (!c->ghost) { /* nothing is noted then */
        pthread_mutex_unlock(&c->lock);
        return 0;
    }
    g = &c->ghost[sum % GHOSTS];
    before = g->sum == sum && c->clock - g->clock < cache_most(c) / 4 ? g->blocks : 0;
    c->clock += size;
    *g = (struct ghost){sum, before | blocks, c->clock};
    pthread_mutex_unlock(&c->lock);
    return before;
}

void cache_op_begin(struct chunk_cache *c)
{
    cache_op_end(c);
    c->op++;
}

/* Forget how entries were before the operation. */
void cache_op_end(struct chunk_cache *c)
{
    while (c->op_changed) {
        struct cache_entry *d = c->op_changed;

        c->op_changed = d->next_op;
        d->op = 0;
        d->gone = false;
        buf_release(&d->undo);
        buf_release(&d->before);
        pthread_mutex_lock(&c->lock);
        entry_unref(c, d);
        pthread_mutex_unlock(&c->lock);
    }
}

/* Note how an entry is before the first change by the operation. */
static void enter_op(struct chunk_cache *c, struct cache_entry *d)
{
    if (d->op == c->op)
        return;
    d->op = c->op;
    d->was_dirty = d->dirty;
    d->len_before = d->bytes.len;
    d->waste_before = d->waste;
    d->next_op = c->op_changed;
    d->refs++;
    c->op_changed = d;
}

static int cache_dataset_get(struct chunk_cache *c, const struct chunks *cs,
                             struct cache_dataset **out)
{
    struct cache_dataset *p = c->datasets;
    size_t names = 0;
    uint8_t *at;

    while (p && p->cs.object != cs->object)
        p = p->next;
    if (!p) {
        for (int i = 0; i < cs->nfilters; i++)
            names += cs->filter[i].name.len;
        p = mem_zalloc(1, sizeof(*p) + names);
        if (!p)
            return DREP_ERR_NOMEM;
        p->cs = *cs;
        p->cs.check = NULL;
        p->cs.name = "";
        at = p->names;
        for (int i = 0; i < cs->nfilters; i++) {
            struct span *name = &p->cs.filter[i].name;

            if (name->len)
                memcpy(at, name->p, name->len);
            name->p = at;
            at += name->len;
        }
        p->next = c->datasets;
        c->datasets = p;
    }
    p->refs++;
    *out = p;
    return 0;
}

int cache_change(struct chunk_cache *c, struct cache_entry *d, const struct chunks *cs)
{
    int err = 0;

    pthread_mutex_lock(&c->lock);
    err = touched_mark(cs->st, cs->object, false);
    if (!err && !d->dataset)
        err = cache_dataset_get(c, cs, &d->dataset);
    if (!err)
        enter_op(c, d);
    if (!err && !d->listed) { /* it was too large to be cached; a dirty entry must be */
        put_in(c, d);
        entry_charge(c, d, d->bytes.size);
    }
    if (!err && !d->dirty) {
        unlink_age(c, d);
        d->dirty = true;
        d->next_changed = c->changed;
        c->changed = d;
    }
    pthread_mutex_unlock(&c->lock);
    return err;
}

int cache_note(struct chunk_cache *c, struct cache_entry *d, size_t offset, size_t size)
{
    struct cache_note note = {offset, size};
    size_t known = d->len_before > offset ? d->len_before - offset : 0;
    int err;

    (void)c;
    note.size = size < known ? size : known;
    if (!d->was_dirty || d->before.p || note.size == 0)
        return 0;
    err = buf_reserve(&d->undo, d->undo.len + note.size + sizeof(note));
    if (err)
        return err;
    memcpy(d->undo.p + d->undo.len, d->bytes.p + offset, note.size);
    memcpy(d->undo.p + d->undo.len + note.size, &note, sizeof(note));
    d->undo.len += note.size + sizeof(note);
    return 0;
}

int cache_replace(struct chunk_cache *c, struct cache_entry *d)
{
    (void)c;
    if (!d->was_dirty || d->before.p) {
        d->bytes.len = 0;
        return 0;
    }
    d->before = d->bytes;
    d->bytes = (struct buf){0};
    return 0;
}

void cache_changed(struct chunk_cache *c, struct cache_entry *d)
{
    pthread_mutex_lock(&c->lock);
    entry_charge(c, d, d->bytes.size);
    c->dirty += d->bytes.size - d->dirty_charged;
    d->dirty_charged = d->bytes.size;
    if (c->size > cache_most(c))
        cache_evict(c, 0, NULL);
    pthread_mutex_unlock(&c->lock);
}

void cache_written(struct chunk_cache *c, struct cache_entry *d)
{
    pthread_mutex_lock(&c->lock);
    unlink_changed(c, d);
    if (d->listed && !d->aged)
        link_newest(c, d);
    cache_evict(c, 0, NULL);
    pthread_mutex_unlock(&c->lock);
}

/* Restore an entry's bytes, from the last note to the first. */
static void undo_notes(struct cache_entry *d)
{
    if (d->before.p) {
        buf_release(&d->bytes);
        d->bytes = d->before;
        d->before = (struct buf){0};
    }
    while (d->undo.len) {
        struct cache_note note;

        memcpy(&note, d->undo.p + d->undo.len - sizeof(note), sizeof(note));
        d->undo.len -= sizeof(note) + note.size;
        memcpy(d->bytes.p + note.offset, d->undo.p + d->undo.len, note.size);
    }
    d->bytes.len = d->len_before;
    d->waste = d->waste_before;
}

void cache_op_undo(struct chunk_cache *c)
{
    pthread_mutex_lock(&c->lock);
    for (struct cache_entry *d = c->op_changed; d; d = d->next_op) {
        if (d->gone && d->was_dirty) {
            put_in(c, d);
            d->dirty = true;
            d->next_changed = c->changed;
            c->changed = d;
        } else if (!d->was_dirty) { /* even if it was written back meanwhile */
            if (d->dirty)
                unlink_changed(c, d);
            take_out(c, d);
        }
        if (d->was_dirty) {
            undo_notes(d);
            entry_charge(c, d, d->bytes.size);
            c->dirty += d->bytes.size - d->dirty_charged;
            d->dirty_charged = d->bytes.size;
        }
    }
    pthread_mutex_unlock(&c->lock);
    cache_op_end(c);
}

static void entry_drop(struct chunk_cache *c, struct cache_entry *d)
{
    if (d->dirty) {
        enter_op(c, d);
        d->gone = true;
        unlink_changed(c, d);
    }
    take_out(c, d);
}

void cache_drop(struct chunk_cache *c, const struct cache_key *k)
{
    struct cache_entry *d;

    pthread_mutex_lock(&c->lock);
    d = entry_find(c, k, sum_of_key(k));
    if (d)
        entry_drop(c, d);
    pthread_mutex_unlock(&c->lock);
}

void cache_drop_cells(struct chunk_cache *c, const struct cache_key *key, uint64_t first,
                      uint64_t last)
{
    struct cache_key k = *key;

    pthread_mutex_lock(&c->lock);
    for (k.cell = first; c->cells > 0 && k.cell <= last; k.cell++) {
        struct cache_entry *d = entry_find(c, &k, sum_of_key(&k));

        if (d)
            entry_drop(c, d);
    }
    pthread_mutex_unlock(&c->lock);
}

void cache_drop_object(struct chunk_cache *c, uint64_t object)
{
    pthread_mutex_lock(&c->lock);
    for (size_t i = 0; c->chain && i < CHAINS; i++) {
        struct cache_entry *d = c->chain[i], *next;

        for (; d; d = next) {
            next = d->chain;
            if (d->object == object)
                entry_drop(c, d);
        }
    }
    pthread_mutex_unlock(&c->lock);
}

int cache_list(struct chunk_cache *c, uint64_t object, int own, struct cache_entry ***out,
               size_t *n)
{
    struct cache_entry **list;
    size_t count = 0;

    for (struct cache_entry *d = c->changed; d; d = d->next_changed)
        count++;
    list = mem_array(count + 1, sizeof(struct cache_entry *));
    if (!list)
        return DREP_ERR_NOMEM;
    *n = 0;
    for (struct cache_entry *d = c->changed; d; d = d->next_changed) {
        if ((!object || d->object == object) && (!own || (d->op == c->op && !d->was_dirty)))
            list[(*n)++] = d;
    }
    *out = list;
    return 0;
}
