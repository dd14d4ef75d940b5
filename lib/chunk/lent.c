/* lent.c - records of chunks that another store has, and this one has not. */
/* SPDX-License-Identifier: MIT */
#include "chunk/lent.h"

#include "base/error.h"
#include "base/mem.h"
#include "base/vec.h"
#include "chunk/cache.h"
#include "format/byteorder.h"

#include <string.h>

/* The numbers of a head; coordinates follow. */
enum { CHUNKS, KIND, FILTERED, SKIPPED, FILE_NUMBER, OFFSET, SIZE, BEHIND, HEAD };
enum { KIND_PAYLOAD = 256 }; /* no enum fmt_chunk; BEHIND counts numbers, SIZE bytes */

struct lent {
    const uint64_t **run; /* heads, by coordinates */
    size_t n, room;
};

/* ---- lending ---- */

static int put_numbers(struct buf *b, const uint64_t *v, uint64_t n)
{
    int err = buf_reserve(b, b->len + n * 8);

    for (uint64_t i = 0; !err && i < n; i++, b->len += 8)
        store_u64(b->p + b->len, v[i]);
    return err;
}

static int put_head(struct buf *b, const struct chunks *cs, const uint64_t *coord,
                    const uint64_t *head)
{
    int err = put_numbers(b, head, HEAD);

    return err ? err : put_numbers(b, coord, (uint64_t)cs->rank);
}

/* Lends the payload of a chunk that is in the cache, changed; *done: there was one. */
static int lend_changed(const struct chunks *cs, const uint64_t *coord, struct buf *b, bool *done)
{
    struct cache_key key = {cs->object, CACHE_WHOLE, cs->rank, coord};
    struct cache_entry *d = chunks_whole(cs) ? cache_find(cs->st->cache, &key) : NULL;
    int err = 0;

    *done = d && d->dirty;
    if (*done) {
        uint64_t size = d->bytes.len, behind = (size + 7) / 8;
        const uint64_t head[HEAD] = {
            [CHUNKS] = 1, [KIND] = KIND_PAYLOAD, [FILTERED] = 1, [SIZE] = size, [BEHIND] = behind};

        err = put_head(b, cs, coord, head);
        if (!err)
            err = buf_reserve(b, b->len + behind * 8);
        if (!err && behind > 0) {
            memset(b->p + b->len + (behind - 1) * 8, 0, 8);
            memcpy(b->p + b->len, d->bytes.p, (size_t)size);
            b->len += (size_t)behind * 8;
        }
    }
    if (d)
        cache_put(cs->st->cache, d);
    return err;
}

/* Lends chunk number `index` of a run and those behind it: *n of them, at most. */
static int lend_run(const struct chunks *cs, const uint64_t *coord, const struct run_hit *f,
                    uint64_t *n, struct buf *b)
{
    const struct chunk_rec *rec = &f->run->rec;
    uint64_t left = rec->filtered ? 1 : rec->run - f->index, each = sums_of(rec->size);
    uint64_t head[HEAD] = {[KIND] = rec->kind,
                           [FILTERED] = rec->filtered,
                           [SKIPPED] = rec->skipped,
                           [FILE_NUMBER] = rec->file,
                           [OFFSET] = rec->offset + f->index * rec->size,
                           [SIZE] = rec->size};
    int err;

    *n = left < *n ? left : *n;
    head[CHUNKS] = *n;
    head[BEHIND] = rec->filtered ? 1 : *n * each;
    err = put_head(b, cs, coord, head);
    return err ? err
               : put_numbers(b, rec->filtered ? rec->sum : f->run->sum + f->index * each,
                             head[BEHIND]);
}

int chunks_lend(struct chunks *cs, const uint64_t *coord, uint64_t n, struct buf *out)
{
    uint64_t at[FMT_RANK_MAX], now;
    int err = 0;

    memcpy(at, coord, (size_t)cs->rank * sizeof *at);
    for (; !err && n > 0; n -= now) {
        struct run_hit f = {.run = NULL};
        bool done;

        now = 1;
        err = lend_changed(cs, at, out, &done);
        if (!err && !done) {
            err = run_find(cs, at, &f);
            if (!err) {
                now = chunks_whole(cs) ? 1 : n; /* those behind it may have changed */
                err = lend_run(cs, at, &f, &now, out);
                run_done(cs->st, &f);
            } else if (err == DREP_ERR_NOT_FOUND) {
                err = 0;
            }
        }
        if (cs->rank > 0)
            at[cs->rank - 1] += now;
    }
    return err;
}

/* ---- borrowing ---- */

int chunks_borrow(struct chunks *cs, struct buf *b)
{
    struct lent *l = mem_zalloc(1, sizeof *l);
    uint64_t *v = (uint64_t *)(void *)b->p, left = b->len / 8, rank = (uint64_t)cs->rank;

    if (!l)
        return fail_nomem();
    cs->lent = l;
    cache_drop_object(cs->st->cache, cs->object);
    while (left > 0) {
        uint64_t numbers = HEAD + rank, all;

        for (uint64_t i = 0; i < numbers && i < left; i++)
            v[i] = load_u64((const uint8_t *)(v + i));
        if (left < numbers || v[BEHIND] > left - numbers || v[CHUNKS] == 0 ||
            v[CHUNKS] > UINT32_MAX)
            return fail(DREP_ERR_IO, "a broken message of rank 0");
        all = numbers + v[BEHIND];
        for (uint64_t i = numbers; v[KIND] != KIND_PAYLOAD && i < all; i++)
            v[i] = load_u64((const uint8_t *)(v + i));
        if (VEC_ROOM(l->run, l->n, l->room, 1))
            return fail_nomem();
        l->run[l->n++] = v;
        v += all;
        left -= all;
    }
    return 0;
}

void chunks_unborrow(struct chunks *cs)
{
    if (!cs->lent)
        return;
    mem_free(cs->lent->run);
    mem_free(cs->lent);
    cs->lent = NULL;
}

/* True if the run begins at the chunk, or before it in the order of the grid. */
static bool begins_before(const uint64_t *run, const uint64_t *coord, int rank)
{
    const uint64_t *at = run + HEAD;

    for (int d = 0; d < rank; d++)
        if (at[d] != coord[d])
            return at[d] < coord[d];
    return true;
}

int lent_find(const struct chunks *cs, const uint64_t *coord, struct run_hit *f,
              struct span *payload)
{
    size_t low = 0, high = cs->lent->n;
    struct chunk_run *r = &f->local;
    const uint64_t *v;

    if (f->run)
        run_done(cs->st, f);
    while (low < high) {
        size_t mid = (low + high) / 2;

        if (begins_before(cs->lent->run[mid], coord, cs->rank))
            low = mid + 1;
        else
            high = mid;
    }
    if (low == 0)
        return DREP_ERR_NOT_FOUND;
    v = cs->lent->run[low - 1];
    memset(r, 0, sizeof *r);
    r->object = cs->object;
    r->rank = cs->rank;
    memcpy(r->coord, v + HEAD, (size_t)cs->rank * sizeof *v);
    r->rec = (struct chunk_rec){.kind = (uint8_t)v[KIND],
                                .filtered = v[FILTERED],
                                .skipped = (uint32_t)v[SKIPPED],
                                .run = (uint32_t)v[CHUNKS],
                                .file = (uint32_t)v[FILE_NUMBER],
                                .offset = v[OFFSET],
                                .size = v[SIZE]};
    if (!run_covers(r, cs->object, cs->rank, coord, &f->index))
        return DREP_ERR_NOT_FOUND;
    v += HEAD + cs->rank;
    if (v[-cs->rank - HEAD + KIND] == KIND_PAYLOAD) {
        *payload = (struct span){(const uint8_t *)v, (size_t)r->rec.size};
        r->rec.size = 0; /* nothing of it is in the file */
    } else if (r->rec.filtered) {
        r->rec.sum[0] = v[0];
        r->sum = r->rec.sum;
    } else {
        r->sum = (uint64_t *)(uintptr_t)v; /* nobody changes it */
    }
    f->run = r;
    return 0;
}
