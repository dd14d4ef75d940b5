/* copy_stored.c - a dataset's elements into another: stored bytes as they are. */
/* SPDX-License-Identifier: MIT */
#include "base/buf.h"
#include "base/error.h"
#include "base/pool.h"
#include "chunk/each.h"
#include "chunk/edit.h"
#include "chunk/places.h"
#include "chunk/read.h"
#include "chunk/target.h"
#include "chunk/work.h"
#include "chunk/work_state.h"
#include "chunk/write.h"
#include "whole/copy_payload.h"

#include <string.h>

#define ROW_CHUNKS 4096 /* of one record at once */
#define PIECE ((uint64_t)256 << 10)

/* Takes the encoded bytes over: the filters are the same. */
static int copy_filtered(struct payload_copy *c, const uint64_t *coord, const struct chunk_rec *rec)
{
    struct buf *b = &c->room[0];
    int err = chunk_stored(&c->from->chunks, rec, b);

    if (!err)
        err = chunk_write_stored(&c->to->chunks, coord, b, coding_of(rec));
    return !err ? copy_whole_progress(c, b->len) : err;
}

/* Consecutive chunks of one record, copied by several threads. */
struct plain_copy {
    struct payload_copy *c;
    uint64_t coord[DREP_MAX_RANK]; /* of the first */
    struct places places;
};

/* Copies a piece of the chunks. */
static int copy_piece(const struct plain_copy *plain, struct buf *b, const struct places_piece *to)
{
    struct chunks *cs = &plain->c->from->chunks;
    uint64_t at[DREP_MAX_RANK] = {0}, have = 0;
    int err = buf_reserve(b, to->size);

    memcpy(at, plain->coord, (size_t)cs->rank * sizeof *at);
    if (cs->rank > 0)
        at[cs->rank - 1] += plain->places.first + to->i;
    if (!err)
        err = chunk_read_on(cs, at, to->from, to->size, b->p, &have);
    if (!err && have < to->size)
        err = fail(DREP_ERR_FORMAT, "a chunk is shorter than its record says (R2.14)");
    return err ? err : places_put(&plain->places, to, b->p);
}

/* Copies a thread's share. */
static int copy_share(void *ctx, int64_t share)
{
    const struct plain_copy *plain = ctx;
    struct store *st = plain->places.cs->st;
    struct places_piece at = {0};
    struct work *w = work_take(st);
    int err = w ? 0 : DREP_ERR_NOMEM;

    while (!err && places_piece(&plain->places, share, &at))
        err = copy_piece(plain, work_buf(w), &at);
    work_give(st, w);
    return err;
}

/* Copies n chunks of one record, at plain->coord and behind it. */
static int copy_row(struct payload_copy *c, struct plain_copy *plain, uint64_t n, uint64_t size)
{
    uint64_t *coords = (uint64_t *)(void *)c->room[1].p;
    struct places *p = &plain->places;
    int rank = c->from->chunks.rank, err;

    for (uint64_t i = 0; i < n; i++) {
        memcpy(coords + i * (uint64_t)rank, plain->coord, (size_t)rank * sizeof *coords);
        if (rank > 0)
            coords[(i + 1) * (uint64_t)rank - 1] += i;
    }
    chunks_forget(&c->to->chunks, coords, n);
    err = places_begin(p, &c->to->chunks, coords, n, size);
    p->piece = PIECE;
    if (c->from->rec.layout == FMT_CONTIGUOUS)
        p->each = places_share(p, c->threads, 0);
    while (!(err = places_next(p, err)) && p->batch > 0)
        err = pool_run(c->threads, places_shares(p), copy_share, plain);
    return places_end(p, err);
}

/* Copies one chunk that has a heap, or would be filtered now. */
static int copy_one(struct payload_copy *c, const uint64_t *coord)
{
    struct buf *b = &c->room[0];
    int err = chunk_read_all(&c->from->chunks, coord, b);

    return !err ? chunk_write(&c->to->chunks, coord, 1, b->p, b->len) : err;
}

/* Unfiltered chunks of one record, as far as they lie inside the shape. */
static int copy_plain(struct payload_copy *c, const uint64_t *coord, const struct chunk_rec *rec)
{
    bool one = c->to->chunks.nfilters > 0 || c->from->ft->type->variable || rec->size == 0;
    int last = c->from->chunks.rank - 1, err;
    uint64_t left = run_inside(&c->from->rec, coord, rec);
    struct plain_copy plain = {.c = c};

    memcpy(plain.coord, coord, (size_t)(last + 1) * sizeof *coord);
    err = buf_reserve(&c->room[1], ROW_CHUNKS * ((uint64_t)last + 2) * sizeof *coord);
    while (!err && left > 0) {
        uint64_t now = one ? 1 : left < ROW_CHUNKS ? left : ROW_CHUNKS;

        err = one ? copy_one(c, plain.coord) : copy_row(c, &plain, now, rec->size);
        if (!err)
            err = copy_whole_progress(c, now * rec->size);
        if (last >= 0)
            plain.coord[last] += now;
        left -= now;
    }
    return err;
}

/* Lets the copy refer to the same bytes of another file. */
static int copy_reference(struct payload_copy *c, const uint64_t *coord,
                          const struct chunk_rec *rec)
{
    struct chunk_rec to = *rec;
    int err = 0;

    if (c->file != rec->file) {
        err = target_adopt(c->from->file->st, rec->file, c->to->file->st, &c->new_file);
        c->file = err ? 0 : rec->file;
    }
    to.file = c->new_file;
    return err ? err : chunk_point(&c->to->chunks, coord, &to);
}

/* Copies an unfiltered chunk that is in another file. */
static int copy_external(struct payload_copy *c, const uint64_t *coord, const struct chunk_rec *rec)
{
    int err = copy_one(c, coord);

    return err ? err : copy_whole_progress(c, rec->size);
}

static int copy_chunk_record(const uint64_t *coord, const struct chunk_rec *rec, void *ctx)
{
    struct payload_copy *c = ctx;

    if (!chunk_inside(&c->from->rec, coord))
        return 0;
    if (rec->file && c->external)
        return copy_reference(c, coord, rec);
    if (rec->file && c->to->chunks.nfilters == 0)
        return copy_external(c, coord, rec);
    return rec->filtered ? copy_filtered(c, coord, rec) : copy_plain(c, coord, rec);
}

int copy_stored(struct payload_copy *c)
{
    return chunk_each(&c->from->chunks, copy_chunk_record, c);
}
