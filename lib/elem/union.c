/* union.c - selections that are no box: unions of boxes, and points.
 *
 * A union is kept as its boxes and walked in row-major order: in each dimension the indices
 * fall into ranges over which the same boxes hold, and inside of a range only those are
 * looked at further.  Nothing is expanded, so blocks without number cost no memory. */
/* SPDX-License-Identifier: MIT */
#include "base/error.h"
#include "base/mem.h"
#include "elem/select.h"

#include <datarep.h>
#include <string.h>

#define BOXES_MAX 65536

/* The walk over a union: in each dimension, the boxes that are still in play. */
struct union_walk {
    const struct drep_selection *sel;
    int *active; /* for each dimension, the boxes that hold so far */
    int64_t at[DREP_MAX_RANK];
    stretch_fn *fn; /* NULL: only counted */
    void *ctx;
};

/* Dimension d of a box of the union. */
static const struct span_dim *dim_of(const struct drep_selection *sel, int box, int d)
{
    return &sel->box[(size_t)box * (size_t)sel->rank + (size_t)d];
}

/* Tells whether index i is selected in one dimension, and how far that stays so: *until. */
static bool holds(const struct span_dim *d, int64_t i, int64_t *until)
{
    int64_t k = span_first(d, i), first;

    *until = INT64_MAX;
    if (k >= d->n)
        return false;
    first = span_at(d, k);
    if (first > i) {
        *until = first;
        return false;
    }
    if (d->block == 1 && d->stride == 1)
        *until = d->start + d->n;
    else
        *until = i + (d->block - k % d->block);
    return true;
}

/* Elements of the boxes list[0..n) from dimension d on; with fn they are also shown. */
static int walk_dim(struct union_walk *w, int d, int n, int64_t *count)
{
    const struct drep_selection *sel = w->sel;
    int *list = w->active + (size_t)d * (size_t)sel->nboxes, *next = list + sel->nboxes;
    int64_t i = 0, end, inner;
    int err = 0;

    *count = 0;
    for (; !err && i < INT64_MAX; i = end) {
        int m = 0;

        end = INT64_MAX;
        for (int b = 0; b < n; b++) {
            int64_t until;
            bool in = holds(dim_of(sel, list[b], d), i, &until);

            if (in && d < sel->rank - 1)
                next[m] = list[b];
            m += in;
            end = until < end ? until : end;
        }
        if (m == 0)
            continue;
        inner = 1;
        for (int64_t k = i; !err && d < sel->rank - 1 && k < (w->fn ? end : i + 1); k++) {
            w->at[d] = k;
            err = walk_dim(w, d + 1, m, &inner);
        }
        w->at[d] = i;
        if (!err && d == sel->rank - 1 && w->fn)
            err = w->fn(w->ctx, w->at, end - i);
        if (!err && (__builtin_mul_overflow(end - i, inner, &inner) ||
                     __builtin_add_overflow(*count, inner, count)))
            err = fail(DREP_ERR_RANGE, "selection: more than 2^63 elements");
    }
    return err;
}

static int walk_union(const struct drep_selection *sel, stretch_fn *fn, void *ctx, int64_t *count)
{
    struct union_walk w = {.sel = sel, .fn = fn, .ctx = ctx};
    int err;

    *count = 0;
    w.active = mem_array((uint64_t)sel->nboxes * ((uint64_t)sel->rank + 1) + 1, sizeof *w.active);
    if (!w.active)
        return DREP_ERR_NOMEM;
    for (int b = 0; b < sel->nboxes; b++)
        w.active[b] = b;
    err = walk_dim(&w, 0, sel->nboxes, count);
    mem_free(w.active);
    return err;
}

int selection_stretches(const struct drep_selection *sel, stretch_fn *fn, void *ctx)
{
    int64_t count;
    int err = 0;

    if (!sel->coords)
        return walk_union(sel, fn, ctx, &count);
    for (int64_t i = 0; !err && i < sel->npoints; i++)
        err = fn(ctx, sel->coords + i * sel->rank, 1);
    return err;
}

/* ---- making one ---- */

static int boxes_of(const drep_selection *sel)
{
    return sel->box ? sel->nboxes : sel->count > 0 ? 1 : 0;
}

static void boxes_copy(const drep_selection *sel, struct span_dim *to)
{
    memcpy(to, sel->box ? sel->box : sel->dim,
           (size_t)boxes_of(sel) * (size_t)sel->rank * sizeof *to);
}

int drep_select_union(const drep_selection *a, const drep_selection *b, drep_selection **out)
{
    drep_selection *sel;
    int err;

    if (!out)
        return fail(DREP_ERR_ARG, "drep_select_union: null argument");
    if ((err = selection_alive(a, "drep_select_union")) ||
        (err = selection_alive(b, "drep_select_union")))
        return err;
    if (a->rank != b->rank || a->rank == 0)
        return fail(DREP_ERR_DIMS, "drep_select_union: selections of rank %d and %d", a->rank,
                    b->rank);
    if (a->coords || b->coords)
        return fail(DREP_ERR_UNSUPPORTED_OPERATION, "drep_select_union: points have an order");
    if (boxes_of(a) + boxes_of(b) > BOXES_MAX)
        return fail(DREP_ERR_LIMIT, "drep_select_union: more than %d boxes", BOXES_MAX);
    sel = selection_new();
    if (!sel)
        return fail_nomem();
    sel->rank = a->rank;
    sel->nboxes = boxes_of(a) + boxes_of(b);
    sel->box = mem_array((uint64_t)sel->nboxes * (uint64_t)sel->rank + 1, sizeof *sel->box);
    err = !sel->box ? DREP_ERR_NOMEM : 0;
    if (!err) {
        boxes_copy(a, sel->box);
        boxes_copy(b, sel->box + (size_t)boxes_of(a) * (size_t)sel->rank);
        err = walk_union(sel, NULL, NULL, &sel->count);
    }
    if (err) {
        drep_selection_free(sel);
        return err;
    }
    *out = sel;
    return 0;
}
