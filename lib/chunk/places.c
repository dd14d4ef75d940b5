/* places.c - writing whole plain chunks in three steps: plan, put, record.
 *
 * A chunk overwritten in place gets its new checksums only when its bytes are in the file. */
/* SPDX-License-Identifier: MIT */
#include "chunk/places.h"

#include "base/error.h"
#include "base/mem.h"
#include "chunk/payload.h"
#include "chunk/plan.h"

#include <string.h>

#define BATCH_CHUNKS 16384
#define BATCH_BYTES ((uint64_t)64 << 20)
#define STREAM_BYTES ((uint64_t)8 << 20) /* of a stream, which keeps a batch in memory */
#define ROOM_MIN ((uint64_t)1 << 20)     /* a stretch that is worth a call before it is written */
#define SHARES 4                         /* for each thread, so that all end together */

int places_begin(struct places *p, struct chunks *cs, const uint64_t *coords, uint64_t n,
                 uint64_t size)
{
    uint64_t bytes = cs->st->space->onward ? STREAM_BYTES : BATCH_BYTES;
    uint64_t most = size && bytes / size < BATCH_CHUNKS ? bytes / size : BATCH_CHUNKS;
    int err = store_may_write(cs->st);

    most = most < 1 ? 1 : most < n ? most : n;
    *p = (struct places){.cs = cs, .coords = coords, .n = n, .size = size, .most = most};
    p->each = 1;
    p->piece = UINT64_MAX;
    if (err)
        return err;
    p->step = mem_array(most, sizeof(*p->step));
    p->sums = mem_array(most * (sums_of(size) + 1), sizeof(*p->sums));
    return !p->step || !p->sums ? DREP_ERR_NOMEM : 0;
}

/* ---- record ---- */

/* Record the checksums of a chunk that was overwritten where it stood. */
static int record_overwritten(const struct places *p, uint64_t i)
{
    struct store *st = p->cs->st;
    uint64_t each = sums_of(p->size);
    struct run_hit f;
    int err = run_find(p->cs, places_coord(p, i), &f);

    if (err)
        return err;
    err = run_open(p->cs, &f);
    if (!err)
        err = run_capture(st, f.run, 1);
    if (!err) {
        f.run->dirty = true;
        store_changed(st);
        memcpy(f.run->sum + f.index * each, p->sums + i * each, (size_t)each * sizeof(*p->sums));
    }
    run_done(st, &f);
    return err;
}

/* In grid order, so that neighbours join one run. */
static int record_batch(const struct places *p)
{
    uint64_t each = sums_of(p->size);
    int err = 0;

    for (uint64_t i = 0; !err && i < p->batch; i++) {
        struct step *s = &p->step[i];

        if (s->kind != STEP_MOVE) {
            err = record_overwritten(p, i);
        } else if (s->stretch) {
            err = run_add(p->cs, places_coord(p, i), s->stretch, s->offset, p->size, s->space,
                          p->sums + i * each);
            if (!err)
                s->stretch = 0;
        }
    }
    return err;
}

/* ---- plan ---- */

/* Tell the file of new space that this batch fills. */
static void make_room(const struct places *p)
{
    struct io *io = p->cs->st->io;

    for (uint64_t i = 0; io->ops->room && !p->given && i < p->batch; i++) {
        if (p->step[i].stretch && p->step[i].space >= ROOM_MIN)
            io->ops->room(io, p->step[i].offset, p->step[i].space);
    }
}

/* Note the old bytes of a chunk for undo.  Its run is opened when the chunk is recorded. */
static int note_old(const struct places *p, uint64_t i)
{
    struct store *st = p->cs->st;
    struct run_hit f;
    int err = run_find(p->cs, places_coord(p, i), &f);

    if (err)
        return err;
    err = payload_note(st, f.run, f.index, p->given);
    run_done(st, &f);
    return err;
}

/* All is decided before the first note, because notes change what may be overwritten. */
int places_next(struct places *p, int err)
{
    if (!err && p->batch > 0)
        err = record_batch(p);
    if (err)
        return err;
    p->first += p->batch;
    p->batch = p->n - p->first < p->most ? p->n - p->first : p->most;
    if (p->batch == 0)
        return 0;
    if ((err = plan_batch(p)))
        return err;
    make_room(p);
    for (uint64_t i = 0; !err && i < p->batch; i++) {
        if (p->step[i].kind == STEP_NOTED)
            err = note_old(p, i);
    }
    return err;
}

/* ---- put ---- */

/* Count the chunks from number i on, before `end`, that stand back to back in the file. */
static uint64_t count_joined(const struct places *p, uint64_t i, uint64_t end)
{
    const struct step *s = &p->step[i];
    uint64_t n = 1;

    while (i + n < end && s[n].offset == s->offset + n * p->size)
        n++;
    return n;
}

uint64_t places_share(const struct places *p, int threads, uint64_t most)
{
    uint64_t share = p->n / ((uint64_t)threads * SHARES), n, least;

    if (!p->size || p->size % FMT_SUM_BLOCK != 0)
        return 1;
    least = p->piece / p->size > 1 ? p->piece / p->size : 1;
    n = most / p->size;
    if (threads > 1 && n > share)
        n = share;
    return n > least ? n : least;
}

/* Bytes of the next piece, which goes to `offset`.  Pieces end where the file has a multiple of
 * their size: so the system keeps them in large folios, which are read faster. */
static uint64_t piece_size(const struct places *p, uint64_t offset, uint64_t left)
{
    uint64_t end;

    if (left <= p->piece)
        return left;
    end = p->piece - offset % p->piece;
    return p->unit && end % p->unit == 0 ? end : p->piece;
}

bool places_piece(const struct places *p, int64_t share, struct places_piece *at)
{
    uint64_t first = (uint64_t)share * p->each, end = first + p->each;

    end = end < p->batch ? end : p->batch;
    if (at->n == 0)
        at->i = first;
    at->from += at->size;
    if (at->from == at->n * p->size) { /* the next that stand back to back */
        at->i += at->n;
        at->from = 0;
        if (at->i >= end)
            return false;
        at->n = count_joined(p, at->i, end);
    }
    at->size = piece_size(p, p->step[at->i].offset + at->from, at->n * p->size - at->from);
    return true;
}

int places_put(const struct places *p, const struct places_piece *at, const void *bytes)
{
    uint64_t *sums = p->sums + at->i * sums_of(p->size) + at->from / FMT_SUM_BLOCK;

    return payload_write(p->cs->st, bytes, 1, at->size, p->step[at->i].offset + at->from, sums);
}

uint64_t places_given(const struct places *p, uint64_t i, const uint64_t *sums)
{
    uint64_t each = sums_of(p->size);

    memcpy(p->sums + i * each, sums, (size_t)each * sizeof(*sums));
    return p->step[i].offset;
}

int places_end(struct places *p, int err)
{
    if (err && p->step)
        plan_cancel(p);
    mem_free(p->step);
    mem_free(p->sums);
    return err;
}

int places_write(struct places *p, const void *payload)
{
    const uint8_t *from = payload;
    struct places_piece at;
    int err = 0;

    p->each = p->size % FMT_SUM_BLOCK == 0 ? p->most : 1;
    while (!(err = places_next(p, err)) && p->batch > 0)
        for (int64_t k = 0; !err && k < places_shares(p); k++)
            for (at = (struct places_piece){0}; !err && places_piece(p, k, &at);)
                err = places_put(p, &at, from + (p->first + at.i) * p->size + at.from);
    return err;
}
