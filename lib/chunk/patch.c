/* patch.c - writing parts of chunks, and removing chunks.
 *
 * Three ways, the cheapest first: overwrite in place; lengthen a chunk into space that the run
 * has behind it, or that was kept there for it (chunk/room.h); write the whole chunk anew, by the
 * same plan as any other write (chunk/write.h).  Old bytes that a commit refers to are never
 * touched. */
/* SPDX-License-Identifier: MIT */
#include "chunk/patch.h"

#include "base/error.h"
#include "chunk/cut.h"
#include "chunk/edit.h"
#include "chunk/last_block.h"
#include "chunk/patch_given.h"
#include "chunk/payload.h"
#include "chunk/places.h"
#include "chunk/plan.h"
#include "chunk/read.h"
#include "chunk/work_state.h"
#include "chunk/write.h"

#include <string.h>

#define GROW_MIN ((uint64_t)16 << 10)
#define GROW_FEW 64 /* a new chunk that has less than this part of what it may have */
#define GROW_NEW 8  /* gets so many times as much */

/* Fill bytes [from, to) of a chunk that were never written. */
static void fill_unwritten(uint8_t *p, uint64_t from, uint64_t to, const uint8_t *fill, size_t size)
{
    if (!fill || size == 0) {
        memset(p, 0, (size_t)(to - from));
        return;
    }
    while (from < to) {
        size_t at = (size_t)(from % size);
        size_t n = size - at < to - from ? size - at : (size_t)(to - from);

        memcpy(p, fill + at, n);
        p += n;
        from += n;
    }
}

/* Read the chunk as it is, and apply the patch: the whole new payload in b. */
static int compose(struct chunks *cs, const uint64_t *coord, const struct patch *patch,
                   uint64_t old, struct buf *b)
{
    uint64_t end = patch->offset + patch->size, have = 0;
    int err;

    if (end > SIZE_MAX || old > SIZE_MAX)
        return fail(DREP_ERR_LIMIT, "a chunk of %llu bytes", (unsigned long long)end);
    err = buf_reserve(b, end > old ? end : old);
    if (!err && old && (patch->offset > 0 || end < old)) /* else nothing of it stays */
        err = chunk_read(cs, coord, 0, old, b->p, &have);
    if (err)
        return err;
    b->len = (size_t)(end > old ? end : old);
    if (patch->offset > old)
        fill_unwritten(b->p + old, old, patch->offset, patch->fill, patch->fill_size);
    memcpy(b->p + patch->offset, patch->p, (size_t)patch->size);
    return 0;
}

/* How a chunk that is written anew has grown before. */
struct growth {
    bool longer; /* it becomes longer than it was */
    bool grows;  /* a commit came between appends, and probably more will */
    bool first;  /* the first of these that this handle appends to it */
};

/* Bytes that a chunk of `size` may grow to.  A dataset that grows gets half more, so that few
 * appends copy it and small commits do not take a chunk each; what is not used of it is given back
 * when the run is closed, or kept if commits and appends take turns.  A new chunk
 * that has next to nothing gets little: what it does not use would be a hole in a small file. */
static uint64_t growth_limit(const struct chunks *cs, const uint64_t *coord, uint64_t size,
                             bool is_new)
{
    uint64_t before, last = cs->rank ? coord[cs->rank - 1] : 0;

    if (cs->grows) {
        uint64_t more = size < GROW_MIN / 2 ? GROW_MIN : size + size / 2;

        if (is_new && size < cs->payload / GROW_FEW)
            more = GROW_NEW * size;
        return more < cs->payload ? more : cs->payload;
    }
    if (cs->rank != 1 || !cs->reserve || !cs->payload || last >= cs->reserve / cs->payload + 1)
        return cs->payload;
    before = last * cs->payload;
    return cs->reserve - before < cs->payload ? cs->reserve - before : cs->payload;
}

/* Write the whole chunk anew, in place of what is stored; it may grow later.  A handle that appends
 * once to what another one has left gets no more room than that takes, so that such handles use the
 * same holes in turn. */
static int patch_anew(struct chunks *cs, const uint64_t *coord, const struct patch *patch,
                      uint64_t old, const struct growth *how)
{
    uint64_t end = patch->offset + patch->size, size = end > old ? end : old;
    struct buf b = {0};
    struct places p;
    struct run_hit f;
    int err = patch->given ? 0 : compose(cs, coord, patch, old, &b);

    if (!err && patch->given) {
        err = given_anew(cs, coord, patch->given, size,
                         how->first ? 0 : growth_limit(cs, coord, size, old == 0));
    } else if (!err) {
        err = places_begin(&p, cs, coord, 1, b.len);
        p.room = how->first ? 0 : growth_limit(cs, coord, b.len, old == 0);
        if (!err)
            err = places_write(&p, b.p);
        err = places_end(&p, err);
    }
    buf_release(&b);
    if (err || !how->longer || run_find(cs, coord, &f))
        return err;
    f.run->keeps = f.run->rec.run == 1;
    f.run->grows = f.run->keeps && how->grows;
    run_done(cs->st, &f);
    return 0;
}

/* True if the only chunk of a run may become `end` bytes long where it stands: *space is what the
 * run has then. */
static bool run_grows_in_place(struct store *st, const struct chunk_run *r, uint64_t end,
                               uint64_t *space)
{
    uint64_t to = round_up(end, FMT_ALIGN), at = r->rec.offset;

    *space = r->space;
    if (end <= r->space && space_fresh(st, at, r->space))
        return true;
    *space = to > r->space ? to : r->space;
    return room_take(st, at, at + r->space, at + *space);
}

/* Read the last block of a run's only chunk, which begins at byte `low` of it. */
static int read_last_block(struct store *st, const struct chunk_run *r, uint64_t low, uint8_t *p)
{
    uint64_t size = r->rec.size - low;

    if (last_block_take(st, r->rec.offset + low, (size_t)size, r->sum[low / FMT_SUM_BLOCK], p))
        return 0;
    return payload_read_part(st, r, 0, low, size, p);
}

/* Keep the last block of that chunk, whose bytes [low, end) are at p. */
static void keep_last_block(struct store *st, const struct chunk_run *r, uint64_t end,
                            const uint8_t *p, uint64_t low)
{
    uint64_t last = end / FMT_SUM_BLOCK * FMT_SUM_BLOCK;

    if (last < end)
        last_block_keep(st, r->rec.offset + last, p + (last - low), (size_t)(end - last),
                        r->sum[last / FMT_SUM_BLOCK]);
}

/* Write what makes the only chunk of a run longer: from its last block on old bytes, fill, new
 * ones.
 */
static int append_bytes(struct store *st, const struct chunk_run *r, const struct patch *patch)
{
    uint64_t old = r->rec.size, end = patch->offset + patch->size;
    uint64_t low = old / FMT_SUM_BLOCK * FMT_SUM_BLOCK;
    struct buf b = {0};
    int err = buf_reserve(&b, end - low);

    if (!err && low < old)
        err = read_last_block(st, r, low, b.p);
    if (!err) {
        if (patch->offset > old)
            fill_unwritten(b.p + (old - low), old, patch->offset, patch->fill, patch->fill_size);
        memcpy(b.p + (patch->offset - low), patch->p, (size_t)patch->size);
        /* The old bytes on disk do not change, so nothing is noted for undo. */
        err = payload_append(st, b.p, old - low, end - low, r->rec.offset + low,
                             r->sum + low / FMT_SUM_BLOCK);
    }
    if (!err)
        keep_last_block(st, r, end, b.p, low);
    buf_release(&b);
    return err;
}

/* Lengthen the only chunk of a run within `space` bytes. */
static int grow(struct chunks *cs, struct run_hit *f, const struct patch *patch, uint64_t space)
{
    struct store *st = cs->st;
    uint64_t end = patch->offset + patch->size;
    struct chunk_run *r;
    int err = run_open(cs, f);

    if (!err)
        err = run_capture(st, f->run, 1);
    if (!err)
        err = run_reserve(f->run, sums_of(end));
    if (err)
        return err;
    r = f->run;
    if (patch->given)
        given_sums(r->sum, patch->given, r->rec.size, end);
    else
        err = append_bytes(st, r, patch);
    if (err)
        return err;
    r->rec.size = end;
    r->space = space;
    r->dirty = true;
    r->keeps = true;
    store_changed(st);
    return 0;
}

/* Change the chunk where it is stored, if that is allowed: *done. */
static int patch_in_place(struct chunks *cs, struct run_hit *f, const struct patch *patch,
                          int *done)
{
    struct store *st = cs->st;
    struct chunk_run *r = f->run;
    uint64_t at = r->rec.offset + f->index * r->rec.size;
    uint64_t end = patch->offset + patch->size, space;
    enum step_kind kind;
    int err;

    *done = 1;
    if (r->rec.filtered) {
        *done = 0;
        return 0;
    }
    if (end <= r->rec.size) {
        kind = plan_overwrite(st, r, at + patch->offset, patch->size);
        *done = kind != STEP_MOVE;
        if (!*done)
            return 0;
        err = run_open(cs, f);
        if (!err)
            err = run_capture(st, f->run, 1);
        if (err)
            return err;
        f->run->dirty = true;
        store_changed(st);
        if (patch->given)
            return given_over(st, f->run, f->index, patch->offset, patch->size, patch->given,
                              kind == STEP_NOTED);
        return payload_patch(st, f->run, f->index, patch->offset, patch->size, patch->p,
                             kind == STEP_NOTED);
    }
    if (r->rec.run == 1 && patch->offset >= r->rec.size && run_grows_in_place(st, r, end, &space))
        return grow(cs, f, patch, space);
    *done = 0;
    return 0;
}

/* Drop the cached pieces that hold these bytes, or the end of the chunk. */
static void drop_cached_range(struct chunks *cs, const uint64_t *coord, uint64_t old,
                              uint64_t offset, uint64_t size)
{
    struct cache_key key = {cs->object, CACHE_WHOLE, cs->rank, coord};

    if (!cs->cell)
        return;
    if (old > 0 && offset + size > old)
        cache_drop_cells(cs->st->cache, &key, (old - 1) / cs->cell, (old - 1) / cs->cell);
    cache_drop_cells(cs->st->cache, &key, offset / cs->cell, (offset + size - 1) / cs->cell);
}

/* Patch a chunk that is decoded as a whole, in the cache. */
static int patch_whole(struct chunks *cs, const uint64_t *coord, const struct patch *patch)
{
    struct work *w = work_take(cs->st);
    uint64_t end = patch->offset + patch->size;
    size_t *waste;
    struct buf *b;
    int err = w ? chunk_edit(w, cs, coord, 0, &b, &waste) : DREP_ERR_NOMEM;

    if (!err)
        err = buf_reserve(b, end);
    if (!err)
        err = chunk_note(w, patch->offset, patch->size);
    if (!err) {
        if (patch->offset > b->len)
            fill_unwritten(b->p + b->len, b->len, patch->offset, patch->fill, patch->fill_size);
        memcpy(b->p + patch->offset, patch->p, (size_t)patch->size);
        b->len = b->len > end ? b->len : (size_t)end;
        chunk_edited(w);
    }
    if (w)
        chunk_leave(w);
    work_give(cs->st, w);
    return err;
}

/* How the chunk of `old` bytes that a run has grows by bytes from `offset` on. */
static struct growth growth_of(const struct store *st, const struct chunk_run *r, uint64_t old,
                               uint64_t offset)
{
    struct growth how = {.longer = old > 0 && offset >= old && r->rec.run == 1};

    how.grows = how.longer && (r->grows || !space_fresh(st, r->rec.offset, old));
    how.first = how.grows && !r->grows && !room_has(st, r->rec.offset);
    return how;
}

/* Patch a plain chunk that was found: where it is, if that is allowed, else anew. */
static int patch_found(struct chunks *cs, const uint64_t *coord, struct run_hit *f,
                       const struct patch *patch)
{
    uint64_t old = f->run->rec.filtered ? 0 : f->run->rec.size;
    struct growth how = growth_of(cs->st, f->run, old, patch->offset);
    int done = 0, err = patch_in_place(cs, f, patch, &done);

    run_done(cs->st, f);
    if (!err && !done)
        err = chunk_size(cs, coord, &old);
    return err || done ? err : patch_anew(cs, coord, patch, old, &how);
}

/* Patch a chunk that is stored, from byte `from` of the patch on and before `to`. */
static int patch_stretch(struct chunks *cs, const uint64_t *coord, const struct patch *patch,
                         uint64_t from, uint64_t to)
{
    struct patch part = *patch;
    struct run_hit f;
    int err = run_find(cs, coord, &f);

    part.offset += from;
    part.p = patch->given ? NULL : patch->p + from;
    part.size = to - from;
    return err ? err : patch_found(cs, coord, &f, &part);
}

int chunk_patch(struct chunks *cs, const uint64_t *coord, const struct patch *patch)
{
    uint64_t offset = patch->offset, end = offset + patch->size, old;
    struct run_hit f;
    int err = store_may_write(cs->st);

    if (err || patch->size == 0)
        return err;
    if (patch->size > FMT_SIZE_MAX || offset > FMT_SIZE_MAX)
        return fail(DREP_ERR_LIMIT, "a chunk of more than 2^62 bytes");
    if (chunks_whole(cs))
        return patch_whole(cs, coord, patch);
    if ((err = run_find(cs, coord, &f)))
        return err == DREP_ERR_NOT_FOUND
                   ? patch_anew(cs, coord, patch, 0, &(struct growth){.longer = false})
                   : err;
    old = f.run->rec.filtered ? 0 : f.run->rec.size;
    drop_cached_range(cs, coord, old, offset, patch->size);
    if (offset >= old || end <= old || f.run->rec.run > 1 || end > f.run->space)
        return patch_found(cs, coord, &f, patch);
    run_done(cs->st, &f);
    err = patch_stretch(cs, coord, patch, 0, old - offset); /* what is there, then behind it */
    return err ? err : patch_stretch(cs, coord, patch, old - offset, patch->size);
}

/* ---- slabs ---- */

/* True if a write to this slab would give it a new place. */
static bool slab_moves(struct chunks *cs, uint64_t slab)
{
    struct run_hit f;
    uint64_t at;
    bool moves;

    if (run_find(cs, &slab, &f))
        return false;
    at = f.run->rec.offset + f.index * f.run->rec.size;
    moves = plan_overwrite(cs->st, f.run, at, f.run->rec.size) == STEP_MOVE;
    run_done(cs->st, &f);
    return moves;
}

/* Bytes that were not verified would get checksums that agree with them, so then nothing is done.
 */
int slabs_move(struct chunks *cs, uint64_t slab, uint64_t first, uint64_t n, bool given)
{
    uint64_t done = 0, have = cs->payload;
    struct buf b = {0};
    int err;

    if (!cs->st->opts.verify || !slab_moves(cs, slab))
        return 0;
    if (given)
        return given_slabs(cs, first, n);
    if ((err = buf_reserve(&b, n * cs->payload)))
        return err;
    while (!err && done < n && have >= cs->payload) {
        uint64_t at = first + done;

        err = chunk_read_on(cs, &at, 0, (n - done) * cs->payload, b.p + done * cs->payload, &have);
        done += err ? 0 : have / cs->payload;
    }
    if (err == DREP_ERR_NOMEM || (!err && done == n))
        err = err ? err : chunk_write(cs, &first, n, b.p, cs->payload);
    else
        err = 0; /* a slab is missing, short or damaged: it is nobody's concern until it is read */
    buf_release(&b);
    return err;
}

/* ---- removing ---- */

int chunk_remove(struct chunks *cs, const uint64_t *coord)
{
    struct run_hit f;
    int err = store_may_write(cs->st);

    if (err)
        return err;
    chunk_forget(cs, coord);
    err = run_find(cs, coord, &f);
    if (err)
        return err == DREP_ERR_NOT_FOUND ? 0 : err;
    err = run_remove(cs, &f, 1);
    run_done(cs->st, &f);
    return err;
}

int chunk_remove_all(struct chunks *cs)
{
    int err = store_may_write(cs->st);

    if (!err)
        err = runs_flush(cs->st, cs->object);
    if (err)
        return err;
    cache_drop_object(cs->st->cache, cs->object);
    return records_remove_all(cs);
}
