/* loan.c - the records that a store lends to another. */
/* SPDX-License-Identifier: MIT */
#include "base/error.h"
#include "chunk/cache.h"
#include "chunk/lent.h"
#include "format/byteorder.h"

#include <string.h>

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
    int err = put_numbers(b, head, LENT_HEAD);

    return err ? err : put_numbers(b, coord, (uint64_t)cs->rank);
}

/* Lend the payload of a chunk that is in the cache, changed; *done: there was one. */
static int lend_changed(const struct chunks *cs, const uint64_t *coord, struct buf *b, bool *done)
{
    struct cache_key key = {cs->object, CACHE_WHOLE, cs->rank, coord};
    struct cache_entry *d = chunks_whole(cs) ? cache_find(cs->st->cache, &key) : NULL;
    int err = 0;

    *done = d && d->dirty;
    if (*done) {
        uint64_t size = d->bytes.len, behind = (size + 7) / 8;
        const uint64_t head[LENT_HEAD] = {[LENT_CHUNKS] = 1,
                                          [LENT_KIND] = LENT_PAYLOAD,
                                          [LENT_FILTERED] = 1,
                                          [LENT_SIZE] = size,
                                          [LENT_BEHIND] = behind};

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

/* Lend chunk number f->index of a run and those behind it: *n of them, at most. */
static int lend_run(const struct chunks *cs, const uint64_t *coord, const struct run_hit *f,
                    uint64_t *n, struct buf *b)
{
    const struct chunk_rec *rec = &f->run->rec;
    uint64_t left = rec->filtered ? 1 : rec->run - f->index, each = sums_of(rec->size);
    uint64_t head[LENT_HEAD] = {
        [LENT_KIND] = rec->kind,        [LENT_FILTERED] = rec->filtered,
        [LENT_SKIPPED] = rec->skipped,  [LENT_FLAGS] = rec->kept & FMT_CHUNK_UNDECODED,
        [LENT_FILE_NUMBER] = rec->file, [LENT_OFFSET] = rec->offset + f->index * rec->size,
        [LENT_SIZE] = rec->size};
    int err;

    *n = left < *n ? left : *n;
    head[LENT_CHUNKS] = *n;
    head[LENT_BEHIND] = rec->filtered ? 1 : *n * each;
    err = put_head(b, cs, coord, head);
    return err ? err
               : put_numbers(b, rec->filtered ? rec->sum : f->run->sum + f->index * each,
                             head[LENT_BEHIND]);
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
