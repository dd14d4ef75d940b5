/* edit.c - changing a chunk in the cache.
 *
 * An entry that has a shuffle left in place is made plain first: changes are to elements as the
 * dataset has them. */
/* SPDX-License-Identifier: MIT */
#include "chunk/edit.h"

#include "chunk/read.h"
#include "chunk/work_state.h"

bool chunk_is_changed(struct chunks *cs, const uint64_t *coord)
{
    struct cache_key key = {cs->object, CACHE_WHOLE, cs->rank, coord};
    struct cache_entry *d = cache_find(cs->st->cache, &key);
    bool changed = d && d->dirty;

    if (d)
        cache_put(cs->st->cache, d);
    return changed;
}

/* The entry is held from here to chunk_leave(), so it cannot be evicted; the operation notes how
 * it is before the first change. */
int chunk_edit(struct work *w, struct chunks *cs, const uint64_t *coord, int fresh,
               struct buf **payload, size_t **waste)
{
    struct chunk_cache *c = cs->st->cache;
    struct cache_entry *d;
    uint64_t size;
    int whole;
    int err = store_may_write(cs->st);

    if (!err)
        err = chunk_at(w, cs, coord, &size, &whole);
    if (err)
        return err;
    if (!w->entry)
        err = chunk_load_entry(w, fresh);
    if (!err)
        err = chunk_plain_entry(w);
    d = w->entry;
    if (!err)
        err = cache_change(c, d, cs);
    if (!err && fresh)
        err = cache_replace(c, d);
    if (err) {
        chunk_leave(w);
        return err;
    }
    store_changed(cs->st);
    if (fresh)
        d->waste = 0;
    *payload = &d->bytes;
    *waste = &d->waste;
    return 0;
}

int chunk_note(struct work *w, uint64_t offset, uint64_t size)
{
    return cache_note(w->cs->st->cache, w->entry, (size_t)offset, (size_t)size);
}

void chunk_edited(struct work *w)
{
    cache_changed(w->cs->st->cache, w->entry);
}

void chunk_forget(struct chunks *cs, const uint64_t *coord)
{
    struct cache_key key = {cs->object, CACHE_WHOLE, cs->rank, coord};

    if (chunks_whole(cs))
        cache_drop(cs->st->cache, &key);
    if (cs->cell && cs->payload)
        cache_drop_cells(cs->st->cache, &key, 0, (cs->payload - 1) / cs->cell);
}

void chunks_forget(struct chunks *cs, const uint64_t *coords, uint64_t n)
{
    for (uint64_t i = 0; i < n; i++)
        chunk_forget(cs, coords + i * (uint64_t)cs->rank);
}
