/* plan.c - what a write of chunks will do to the file, decided before any payload is written.
 *
 * First all chunks that move are cut out of their runs, then all new space is found: so a
 * rewritten row of chunks gets one stretch, not the holes between its neighbours. */
/* SPDX-License-Identifier: MIT */
#include "chunk/plan.h"

#include "chunk/cut.h"
#include "chunk/place.h"
#include "tree/undo.h"

#include <string.h>

#define IMAGE_MAX ((size_t)4 << 20) /* bytes an operation keeps of what it overwrites */

/* The order of the questions is that of the rule in plan.h: bytes of a commit move; bytes of
 * this operation may be overwritten; bytes of an earlier operation only with a note, and only
 * while notes are few. */
enum step_kind plan_overwrite(const struct store *st, const struct chunk_run *r, uint64_t offset,
                              uint64_t size)
{
    uint64_t low = offset / FMT_ALIGN * FMT_ALIGN;

    if (r->rec.filtered)
        return STEP_MOVE;
    if (!space_fresh(st, low, offset + size - low))
        return STEP_MOVE;
    if (!store_op_active(st) || space_of_op(st, offset, size))
        return STEP_IN_PLACE;
    return st->undo->image.len + size <= IMAGE_MAX ? STEP_NOTED : STEP_MOVE;
}

/* ---- plain chunks ---- */

/* True if chunks i and i + 1 follow each other in a row of the grid. */
static bool neighbours(const struct places *p, uint64_t i)
{
    const uint64_t *a = places_coord(p, i), *b = places_coord(p, i + 1);
    int rank = p->cs->rank;

    return rank > 0 && b[rank - 1] == a[rank - 1] + 1 &&
           memcmp(a, b, (size_t)(rank - 1) * sizeof(*a)) == 0;
}

/* Chunk i is not stored: count those from it on, in its row of the grid, that are not either. */
static int count_absent(const struct places *p, uint64_t i, uint64_t *n)
{
    uint64_t first = chunk_last(p->cs->rank, places_coord(p, i)), next;
    int err;

    *n = 1;
    while (i + *n < p->batch && neighbours(p, i + *n - 1))
        (*n)++;
    if (*n == 1)
        return 0;
    err = run_next(p->cs, places_coord(p, i), *n, &next);
    if (!err && next - first < *n)
        *n = next > first ? next - first : 1;
    return err;
}

/* Choose how chunk i, and *n - 1 behind it in its run or as absent as it is, will be written.  What
 * moves is cut out of its run. */
static int choose(struct places *p, uint64_t i, uint64_t *n)
{
    struct chunks *cs = p->cs;
    enum step_kind kind = STEP_MOVE;
    struct run_hit f;
    uint64_t at;
    int err = run_find(cs, places_coord(p, i), &f);

    *n = 1;
    if (err)
        return err == DREP_ERR_NOT_FOUND ? count_absent(p, i, n) : err;
    while (i + *n < p->batch && f.index + *n < f.run->rec.run && neighbours(p, i + *n - 1))
        (*n)++;
    at = f.run->rec.offset + f.index * f.run->rec.size;
    if (f.run->rec.size == p->size && p->size > 0 && !p->at)
        kind = plan_overwrite(cs->st, f.run, at, *n * p->size);
    for (uint64_t k = 0; k < *n; k++)
        p->step[i + k] =
            (struct step){.kind = kind, .offset = at + k * f.run->rec.size, .moved = 1};
    if (kind == STEP_MOVE)
        err = run_remove(cs, &f, (uint32_t)*n);
    run_done(cs->st, &f);
    return err;
}

/* Number of chunks from i on that this write has in a row. */
static uint64_t written_ahead(const struct places *p, uint64_t i)
{
    uint64_t n = 1;

    while (p->first + i + n < p->n && neighbours(p, i + n - 1))
        n++;
    return n;
}

/* Find space for the stretch of new chunks that begins at i; *n: their number. */
static int give_space(struct places *p, uint64_t i, uint64_t *n)
{
    uint64_t size = p->size, most = RUN_BYTES / (size ? size : 1), offset, bytes;
    int err = 0;

    *n = 1;
    /* Only chunks that share no unit of space can stand back to back. */
    while (size > 0 && size % FMT_ALIGN == 0 && *n < most && i + *n < p->batch &&
           p->step[i + *n].kind == STEP_MOVE && neighbours(p, i + *n - 1))
        (*n)++;
    bytes = round_up(size ? *n * size : 1, FMT_ALIGN);
    if (p->room > bytes)
        bytes = round_up(p->room, FMT_ALIGN);
    if (p->at)
        offset = p->at;
    else
        err = place_find(p->cs, places_coord(p, i),
                         p->step[i].moved ? written_ahead(p, i) : AHEAD_ALL, bytes, size, &offset);
    for (uint64_t k = 0; !err && k < *n; k++)
        p->step[i + k].offset = offset + k * size;
    p->step[i].stretch = err ? 0 : (uint32_t)*n;
    p->step[i].space = bytes;
    return err;
}

int plan_batch(struct places *p)
{
    uint64_t n;
    int err = 0;

    memset(p->step, 0, (size_t)p->batch * sizeof(*p->step));
    for (uint64_t i = 0; !err && i < p->batch; i += n)
        err = choose(p, i, &n);
    for (uint64_t i = 0; !err && i < p->batch; i += n) {
        n = 1;
        if (p->step[i].kind == STEP_MOVE)
            err = give_space(p, i, &n);
    }
    return err;
}

void plan_cancel(struct places *p)
{
    for (uint64_t i = 0; i < p->batch; i++) {
        if (p->step[i].stretch && !p->at)
            space_free(p->cs->st, p->step[i].offset, p->step[i].space, WITH_OP);
    }
}

/* ---- filtered chunks ---- */

/* Take a chunk out of its plain run, before a filtered chunk or one in another file, whose rows are
 * in runs of their own, takes its place.  The change is part of the operation; the bytes become
 * free with it.  Does nothing in a run of rows.  DREP_ERR_NOT_FOUND: the tree has no run. */
static int leave_plain(struct chunks *cs, const uint64_t *coord)
{
    struct run_hit f;
    int err = run_find(cs, coord, &f);

    if (!err) {
        if (!f.run->rec.filtered)
            err = run_remove(cs, &f, 1);
        run_done(cs->st, &f);
    }
    return err;
}

int plan_filtered(struct chunks *cs, const uint64_t *coord, uint64_t size, uint64_t sum,
                  struct coding coding, uint64_t *offset)
{
    bool plain;
    int err = packed_write(cs, coord, size, sum, coding, offset, &plain);

    if (!err && plain)
        err = leave_plain(cs, coord);
    return err || !plain ? err : packed_write(cs, coord, size, sum, coding, offset, &plain);
}

int plan_point(struct chunks *cs, const uint64_t *coord, const struct chunk_rec *to)
{
    int err = leave_plain(cs, coord);

    /* The run may be open, so that the tree does not know of it. */
    return err && err != DREP_ERR_NOT_FOUND ? err : packed_point(cs, coord, to);
}
