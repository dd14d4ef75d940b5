/* writeback.c - writing changes in the cache to the file.
 *
 * Write-back is an operation: all or nothing.  If the caller's operation has changed nothing yet,
 * it is ended, write-back runs as an operation of its own, and the caller's begins again: so
 * taking the caller's back later does not take the write-back back.  In the middle of an
 * operation only entries that were clean when it began are written; taking it back then drops
 * them. */
/* SPDX-License-Identifier: MIT */
#include "txn/writeback.h"

#include "base/mem.h"
#include "base/pool.h"
#include "chunk/cache.h"
#include "chunk/run.h"
#include "chunk/write.h"
#include "tree/tree.h"
#include "tree/undo.h"
#include "txn/op.h"

#include <stdlib.h>

struct writeback {
    struct store *st;
    struct cache_entry **list;
    struct pool_turns turns;
};

static int by_place(const void *a, const void *b)
{
    const struct cache_entry *x = *(struct cache_entry *const *)a,
                             *y = *(struct cache_entry *const *)b;

    if (x->object != y->object)
        return x->object < y->object ? -1 : 1;
    for (int d = 0; d < x->rank; d++) {
        if (x->coord[d] != y->coord[d])
            return x->coord[d] < y->coord[d] ? -1 : 1;
    }
    return 0;
}

/* Write one entry.  Threads encode in any order, but take space in that of the list (pool_turns),
 * so that the bytes of the file do not depend on the number of threads. */
static int write_entry(void *ctx, int64_t i)
{
    struct writeback *s = ctx;
    struct cache_entry *d = s->list[i];
    struct chunks *cs = &d->dataset->cs;
    struct work *w;
    int err;

    w = work_take(s->st);
    if (!w) {
        pool_turn_end(&s->turns, i, DREP_ERR_NOMEM);
        return DREP_ERR_NOMEM;
    }
    err = chunk_write_turn(w, cs, d->coord, d->bytes.p, d->bytes.len, &s->turns, i);
    work_give(s->st, w);
    return err;
}

static int write_list(struct writeback *s, size_t n)
{
    struct store *st = s->st;
    int err;

    qsort(s->list, n, sizeof(struct cache_entry *), by_place);
    pool_turns_init(&s->turns);
    err =
        pool_run(st->opts.threads > 0 ? st->opts.threads : pool_cpus(), (int64_t)n, write_entry, s);
    pool_turns_release(&s->turns);
    return err;
}

static int by_use(const void *a, const void *b)
{
    const struct cache_entry *x = *(struct cache_entry *const *)a,
                             *y = *(struct cache_entry *const *)b;

    return (x->used > y->used) - (x->used < y->used);
}

/* Move the entries used longest ago to the front of the list; gives how many have so many bytes. */
static size_t oldest(struct cache_entry **list, size_t n, uint64_t bytes)
{
    size_t i = 0;

    qsort(list, n, sizeof(*list), by_use);
    for (uint64_t sum = 0; i < n && sum < bytes; i++)
        sum += list[i]->dirty_charged;
    return i;
}

/* Write back dirty entries, in the operation under way.  own: only those that it changed first;
 * else all.  Of these, so many bytes. */
static int write_back(struct store *st, uint64_t object, int own, uint64_t bytes)
{
    struct writeback s = {.st = st};
    size_t n;
    int err = store_may_write(st);

    if (!err)
        err = cache_list(st->cache, object, own, &s.list, &n);
    if (err)
        return err;
    if (bytes < UINT64_MAX)
        n = oldest(s.list, n, bytes);
    if (n > 0)
        err = write_list(&s, n);
    if (!err)
        err = packed_flush(st, 0);
    /* After an error they stay dirty, and what was written of them is taken back. */
    for (size_t i = 0; !err && i < n; i++)
        cache_written(st->cache, s.list[i]);
    mem_free(s.list);
    return err;
}

/* True if no operation is under way, or one that has changed no entry. */
static bool untouched(const struct store *st)
{
    return !store_op_active(st) || (undo_untouched(st) && !packed_waits(st));
}

/* Write back as an operation of its own: one under way has changed nothing yet, and begins again.
 */
static int write_apart(struct store *st, uint64_t object, uint64_t bytes)
{
    int active = store_op_active(st), err = 0, end;

    if (active)
        err = store_op_end(st, 1);
    if (!err)
        err = store_op_begin(st);
    if (err)
        return err;
    err = write_back(st, object, 0, bytes);
    end = store_op_end(st, !err);
    if (active && store_op_begin(st) && !end)
        end = DREP_ERR_FAILED;
    return err ? err : end;
}

int writeback_all(struct store *st, uint64_t object)
{
    if (!cache_dirty(st->cache))
        return 0;
    return write_apart(st, object, UINT64_MAX);
}

bool writeback_waits(const struct store *st)
{
    return cache_dirty(st->cache) > 0;
}

/* Bytes that may wait: what nodes leave of the budget, at least half of it, less an eighth for
 * what is read meanwhile. */
static uint64_t most_waiting(const struct store *st)
{
    uint64_t most = st->tree->budget.most, left = cache_most(st->cache);

    left = left < most - most / 8 ? left : most - most / 8;
    return left > most / 2 ? left : most / 2;
}

/* Bytes to write back if `over` are too many: enough to keep all threads busy. */
static uint64_t batch_bytes(const struct chunks *cs, uint64_t most, uint64_t over)
{
    const struct store *st = cs->st;
    uint64_t threads = (uint64_t)(st->opts.threads > 0 ? st->opts.threads : pool_cpus());
    uint64_t batch = 2 * threads * cs->payload;

    batch = batch > most / 8 ? batch : most / 8;
    batch = batch < most / 2 ? batch : most / 2;
    return batch > over ? batch : over;
}

int writeback_room(struct chunks *cs, uint64_t bytes, int first, int *can)
{
    struct store *st = cs->st;
    uint64_t most = most_waiting(st), dirty = cache_dirty(st->cache);

    *can = cs->payload <= st->tree->budget.most / 4;
    if (dirty == 0 || (*can && bytes <= most && dirty <= most - bytes))
        return 0;
    if (!first || !untouched(st))
        return write_back(st, 0, 1, UINT64_MAX);
    if (!*can || bytes == UINT64_MAX)
        return write_apart(st, 0, UINT64_MAX);
    /* What still does not fit, the operation writes itself. */
    bytes = bytes < most / 2 ? bytes : most / 2;
    return write_apart(st, 0,
                       batch_bytes(cs, most, dirty > most - bytes ? dirty - (most - bytes) : 0));
}
