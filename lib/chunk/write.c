/* write.c - writing whole chunks: the plan applied.
 *
 * plan_batch() decides; then payload is written by several threads, and at last the runs are
 * recorded by this one.  A chunk overwritten in place gets its new checksums only when its bytes
 * are in the file.  Chunks whose old bytes are noted for undo are overwritten while they are
 * recorded, one by one, because the notes are a stack. */
/* SPDX-License-Identifier: MIT */
#include "chunk/write.h"

#include "base/error.h"
#include "base/mem.h"
#include "base/pool.h"
#include "chunk/edit.h"
#include "chunk/payload.h"
#include "chunk/plan.h"
#include "chunk/work_state.h"

#include <string.h>

#define BATCH_CHUNKS 16384
#define BATCH_BYTES ((uint64_t)64 << 20)
#define JOINED_BYTES ((uint64_t)8 << 20) /* that one thread writes, piece by piece */
#define ROOM_MIN ((uint64_t)1 << 20)     /* a stretch that is worth a call before it is written */
#define SHARES 4                         /* for each thread, so that all end together */
#define STREAM_BYTES ((uint64_t)8 << 20) /* of a stream, which keeps a batch in memory */

/* ---- plain chunks ---- */

/* A write under way: its plan, where payload comes from, and its checksums. */
struct writing {
    struct write_plan plan;
    const struct chunk_source *from;
    uint64_t *sums; /* of the batch, chunk after chunk */
    uint64_t each;  /* chunks that a thread takes at a time */
};

/* Count the steps from number i on, before `end`, whose chunks stand back to back in the file and
 * do not wait for the notes. */
static uint64_t steps_joined(const struct writing *wr, uint64_t i, uint64_t end)
{
    const struct step *s = &wr->plan.step[i];
    uint64_t n = 1;

    while (i + n < end && s[n].kind != STEP_NOTED && s[n].offset == s->offset + n * wr->plan.size)
        n++;
    return n;
}

/* How many bytes to ask for that go to `offset`.  Pieces end where the file has a multiple of
 * their size: so the system keeps them in large folios, which are read faster. */
static uint64_t piece_at(const struct chunk_source *from, uint64_t offset, uint64_t left)
{
    uint64_t n = from->piece;

    if (left <= n)
        return left;
    return from->unit && (n - offset % n) % from->unit == 0 ? n - offset % n : n;
}

/* Write the payload of n steps from number i on, which stand back to back. */
static int write_joined(struct writing *wr, struct work *w, uint64_t i, uint64_t n)
{
    const struct chunk_source *from = wr->from;
    uint64_t *sums = wr->sums + i * sums_of(wr->plan.size), size = n * wr->plan.size, at, now;
    const uint8_t *p;
    int err = 0;

    for (uint64_t k = 0; from->placed && !err && k < n; k++)
        err = from->placed(from->ctx, wr->plan.first + i + k, wr->plan.step[i + k].offset,
                           sums + k * sums_of(wr->plan.size));
    for (at = 0; !from->placed && !err && at < size; at += now) {
        now = piece_at(from, wr->plan.step[i].offset + at, size - at);
        err = from->fn(from->ctx, w, wr->plan.first + i, at, now, &p);
        if (!err)
            err = payload_write(wr->plan.cs->st, p, 1, now, wr->plan.step[i].offset + at,
                                sums + at / FMT_SUM_BLOCK);
    }
    return err;
}

/* Give the place of a chunk that an earlier operation of the transaction wrote, when its bytes are
 * noted for undo: in turn, for somebody else writes as soon as he knows some of the places. */
static int place_noted(struct writing *wr, uint64_t i)
{
    struct store *st = wr->plan.cs->st;
    struct run_hit f;
    int err = run_find(wr->plan.cs, plan_coord(&wr->plan, i), &f);

    if (err)
        return err;
    err = payload_note(st, f.run, f.index); /* runs are opened as they are recorded */
    if (!err)
        err = wr->from->placed(wr->from->ctx, wr->plan.first + i,
                               f.run->rec.offset + f.index * f.run->rec.size,
                               wr->sums + i * sums_of(wr->plan.size));
    run_done(st, &f);
    return err;
}

/* Write the payload of some steps, in any thread.  Threads share nothing but the plan: each writes
 * its own stretches of the file and of the checksums. */
static int write_steps(void *ctx, int64_t number)
{
    struct writing *wr = ctx;
    struct store *st = wr->plan.cs->st;
    uint64_t i = (uint64_t)number * wr->each, end = i + wr->each, n;
    struct work *w = work_take(st);
    int err = w ? 0 : DREP_ERR_NOMEM;

    end = end < wr->plan.batch ? end : wr->plan.batch;
    for (; !err && i < end; i += n) {
        n = 1;
        if (wr->plan.step[i].kind == STEP_NOTED) {
            err = wr->from->placed ? place_noted(wr, i) : 0;
            continue;
        }
        n = steps_joined(wr, i, end);
        err = write_joined(wr, w, i, n);
    }
    work_give(st, w);
    return err;
}

/* Overwrite a chunk that an earlier operation of the transaction wrote, noting its bytes for
 * undo. */
static int overwrite_noted(struct writing *wr, uint64_t i, struct chunk_run *r, uint32_t index)
{
    struct store *st = wr->plan.cs->st;
    const struct chunk_source *from = wr->from;
    struct work *w = work_take(st);
    uint64_t at, now;
    const uint8_t *p;
    int err = w ? 0 : DREP_ERR_NOMEM;

    for (at = 0; !err && at < wr->plan.size; at += now) {
        now = wr->plan.size - at < from->piece ? wr->plan.size - at : from->piece;
        err = from->fn(from->ctx, w, wr->plan.first + i, at, now, &p);
        if (!err)
            err = payload_patch(st, r, index, at, now, p, 1);
    }
    work_give(st, w);
    return err;
}

/* Record the checksums of a chunk that was written where it stood. */
static int note_overwritten(struct writing *wr, uint64_t i)
{
    struct store *st = wr->plan.cs->st;
    uint64_t each = sums_of(wr->plan.size);
    struct run_hit f;
    int err = run_find(wr->plan.cs, plan_coord(&wr->plan, i), &f);

    if (err)
        return err;
    err = run_open(wr->plan.cs, &f);
    if (!err)
        err = run_capture(st, f.run, 1);
    if (!err) {
        f.run->dirty = true;
        store_changed(st);
        if (wr->plan.step[i].kind == STEP_NOTED && !wr->from->placed)
            err = overwrite_noted(wr, i, f.run, f.index);
        else
            memcpy(f.run->sum + f.index * each, wr->sums + i * each,
                   (size_t)each * sizeof(*wr->sums));
    }
    run_done(st, &f);
    return err;
}

/* Record the steps of a batch when all payload is in the file, in grid order: so neighbours join
 * one run. */
static int record(struct writing *wr)
{
    uint64_t each = sums_of(wr->plan.size);
    int err = 0;

    for (uint64_t i = 0; !err && i < wr->plan.batch; i++) {
        struct step *s = &wr->plan.step[i];

        if (s->kind != STEP_MOVE) {
            err = note_overwritten(wr, i);
        } else if (s->stretch) {
            err = run_add(wr->plan.cs, plan_coord(&wr->plan, i), s->stretch, s->offset,
                          wr->plan.size, s->space, wr->sums + i * each);
            if (!err)
                s->stretch = 0;
        }
    }
    return err;
}

/* Tell the file of new space that this batch fills. */
static void make_room(const struct writing *wr)
{
    const struct write_plan *p = &wr->plan;
    struct io *io = p->cs->st->io;

    for (uint64_t i = 0; io->ops->room && !wr->from->placed && i < p->batch; i++) {
        if (p->step[i].stretch && p->step[i].space >= ROOM_MIN)
            io->ops->room(io, p->step[i].offset, p->step[i].space);
    }
}

/* Plan, write and record one batch; an error frees the space of steps that have no record yet. */
static int write_batch(struct writing *wr)
{
    int err = plan_batch(&wr->plan);

    if (!err) {
        make_room(wr);
        err = pool_run(wr->from->threads, (int64_t)((wr->plan.batch - 1) / wr->each + 1),
                       write_steps, wr);
    }
    if (!err)
        err = record(wr);
    if (err)
        plan_cancel(&wr->plan);
    return err;
}

/* How many steps that follow each other are written as one: few enough that all threads have
 * some. */
static uint64_t joined_steps(const struct writing *wr)
{
    const struct chunk_source *from = wr->from;
    uint64_t size = wr->plan.size, share = wr->plan.n / ((uint64_t)from->threads * SHARES), n,
             least;

    if (!from->joined || !size || size % FMT_SUM_BLOCK != 0)
        return 1;
    least = from->piece / size > 1 ? from->piece / size : 1;
    n = from->unit ? JOINED_BYTES / size : 0;
    if (from->threads > 1 && n > share)
        n = share;
    return n > least ? n : least;
}

static int write_chunks(struct writing *wr)
{
    struct write_plan *p = &wr->plan;
    uint64_t bytes = p->cs->st->space->onward ? STREAM_BYTES : BATCH_BYTES;
    uint64_t most = p->size && bytes / p->size < BATCH_CHUNKS ? bytes / p->size : BATCH_CHUNKS;
    int err = 0;

    most = most < 1 ? 1 : most < p->n ? most : p->n;
    wr->each = joined_steps(wr);
    p->step = mem_array(most, sizeof(*p->step));
    wr->sums = mem_array(most * (sums_of(p->size) + 1), sizeof(*wr->sums));
    if (!p->step || !wr->sums)
        err = DREP_ERR_NOMEM;
    while (!err && p->first < p->n) {
        p->batch = p->n - p->first < most ? p->n - p->first : most;
        err = write_batch(wr);
        p->first += p->batch;
    }
    mem_free(p->step);
    mem_free(wr->sums);
    return err;
}

int chunks_write(struct chunks *cs, const uint64_t *coords, uint64_t n, uint64_t size,
                 const struct chunk_source *from)
{
    struct writing wr = {.plan = {.cs = cs, .coords = coords, .n = n, .size = size}, .from = from};
    int err = store_may_write(cs->st);

    if (err)
        return err;
    for (uint64_t i = 0; i < n; i++)
        chunk_forget(cs, coords + i * (uint64_t)cs->rank);
    return write_chunks(&wr);
}

/* ---- from memory ---- */

struct plain {
    const uint8_t *p;
    uint64_t size; /* of a chunk */
};

static int plain_bytes(void *ctx, struct work *w, uint64_t i, uint64_t from, uint64_t size,
                       const uint8_t **p)
{
    const struct plain *plain = ctx;

    (void)w;
    (void)size;
    *p = plain->p + i * plain->size + from;
    return 0;
}

int chunk_write_plain(struct chunks *cs, const uint64_t *coord, const void *buf, uint64_t size,
                      uint64_t room)
{
    struct plain plain = {buf, size};
    struct chunk_source from = {
        .fn = plain_bytes, .ctx = &plain, .piece = UINT64_MAX, .threads = 1};
    struct writing wr = {.plan = {.cs = cs, .coords = coord, .n = 1, .size = size, .room = room},
                         .from = &from};

    return write_chunks(&wr);
}

int chunk_place_plain(struct chunks *cs, const uint64_t *coord, uint64_t size, uint64_t at,
                      chunk_placed_fn *placed, void *ctx)
{
    struct chunk_source from = {.placed = placed, .ctx = ctx, .piece = UINT64_MAX, .threads = 1};
    struct writing wr = {.plan = {.cs = cs, .coords = coord, .n = 1, .size = size, .at = at},
                         .from = &from};

    return write_chunks(&wr);
}

/* ---- filtered chunks ---- */

/* drep_chunk_max bounds a payload, because readers hold a decoded chunk in memory. */
int chunk_encode(struct work *w, const struct chunks *cs, const void *buf, uint64_t size,
                 struct span *out, uint32_t *skipped)
{
    uint64_t most = cs->st->opts.chunk_max;

    if (size > (cs->payload > most ? cs->payload : most))
        return fail(DREP_ERR_LIMIT, "a filtered chunk of %llu bytes; drep_chunk_max is %llu",
                    (unsigned long long)size, (unsigned long long)most);
    return filters_encode(&w->codec, cs->filter, cs->nfilters, buf, (size_t)size,
                          (size_t)cs->payload, out, skipped);
}

int chunk_write_stored(struct chunks *cs, const uint64_t *coord, const struct buf *stored,
                       uint32_t skipped)
{
    struct store *st = cs->st;
    uint64_t offset = 0;
    int err = store_may_write(st);

    if (err)
        return err;
    chunk_forget(cs, coord);
    err =
        plan_filtered(cs, coord, stored->len, sum_stored(stored->p, stored->len), skipped, &offset);
    return err ? err : st->io->ops->write_at(st->io, stored->p, stored->len, offset);
}

int chunk_point(struct chunks *cs, const uint64_t *coord, const struct chunk_rec *to)
{
    int err = store_may_write(cs->st);

    if (err)
        return err;
    chunk_forget(cs, coord);
    cs->external = cs->nfilters == 0;
    return plan_point(cs, coord, to);
}

/* Write one plain chunk in turn. */
static int write_turn_plain(struct chunks *cs, const uint64_t *coord, const void *buf,
                            uint64_t size, struct pool_turns *turns, int64_t i)
{
    int err;

    if (turns && pool_turn_wait(turns, i))
        return fail(DREP_ERR_STOPPED, "an earlier chunk failed");
    err = chunk_write_plain(cs, coord, buf, size, 0);
    if (turns)
        pool_turn_end(turns, i, err);
    return err;
}

int chunk_write_turn(struct work *w, struct chunks *cs, const uint64_t *coord, const void *buf,
                     uint64_t size, struct pool_turns *turns, int64_t i)
{
    struct store *st = cs->st;
    uint64_t sum = 0, offset = 0;
    uint32_t skipped = 0;
    struct span out = {0};
    int err;

    if (cs->nfilters == 0)
        return write_turn_plain(cs, coord, buf, size, turns, i);
    err = chunk_encode(w, cs, buf, size, &out, &skipped);
    if (!err)
        sum = sum_stored(out.p, out.len);
    if (!err && turns && pool_turn_wait(turns, i))
        return fail(DREP_ERR_STOPPED, "an earlier chunk failed");
    if (!err)
        err = plan_filtered(cs, coord, out.len, sum, skipped, &offset);
    if (turns)
        pool_turn_end(turns, i, err);
    return err ? err : st->io->ops->write_at(st->io, out.p, out.len, offset);
}

static int write_filtered(struct chunks *cs, const uint64_t *coord, const void *buf, uint64_t size)
{
    struct work *w = work_take(cs->st);
    int err;

    if (!w)
        return DREP_ERR_NOMEM;
    chunk_forget(cs, coord);
    err = chunk_write_turn(w, cs, coord, buf, size, NULL, 0);
    work_give(cs->st, w);
    return err;
}

int chunk_write(struct chunks *cs, const uint64_t *coord, uint64_t n, const void *buf,
                uint64_t size)
{
    struct plain plain = {buf, size};
    struct chunk_source from = {
        .fn = plain_bytes, .ctx = &plain, .piece = UINT64_MAX, .threads = 1};
    uint64_t rank = (uint64_t)cs->rank, *coords;
    int err = store_may_write(cs->st);

    if (err)
        return err;
    if (cs->nfilters && n == 1)
        return write_filtered(cs, coord, buf, size);
    if (cs->nfilters || (cs->rank == 0 && n > 1))
        return fail(DREP_ERR_ARG, "%llu chunks in one write", (unsigned long long)n);
    if (n == 1)
        return chunks_write(cs, coord, n, size, &from);
    coords = mem_array(n, rank * sizeof(*coords));
    if (!coords)
        return DREP_ERR_NOMEM;
    for (uint64_t i = 0; i < n; i++) {
        memcpy(coords + i * rank, coord, (size_t)rank * sizeof(*coord));
        coords[i * rank + rank - 1] += i;
    }
    err = chunks_write(cs, coords, n, size, &from);
    mem_free(coords);
    return err;
}
