/* select.c - which elements: boxes and points. */
/* SPDX-License-Identifier: MIT */
#include "elem/select.h"

#include "base/error.h"
#include "base/handle.h"
#include "base/mem.h"

#include <datarep.h>
#include <string.h>

static int box_dim(struct span_dim *d, int64_t start, int64_t count, int64_t stride, int64_t block)
{
    int64_t last, n;

    if (start < 0 || count < 0 || block < 0 || stride < 1 || (count > 1 && block > stride))
        return fail(DREP_ERR_RANGE, "selection: start %lld, count %lld, stride %lld, block %lld",
                    (long long)start, (long long)count, (long long)stride, (long long)block);
    if (__builtin_mul_overflow(count, block, &n) || __builtin_mul_overflow(count, stride, &last) ||
        __builtin_add_overflow(last, start, &last) || __builtin_add_overflow(last, block, &last))
        return fail(DREP_ERR_RANGE, "selection: its end is beyond 2^63");
    /* Blocks that touch are one block: ranges are found at once. */
    if (stride == block && count > 1) {
        block = n;
        count = 1;
    }
    *d = (struct span_dim){start, stride, block == 0 ? 1 : block, n};
    if (count == 1)
        *d = (struct span_dim){start, 1, 1, n};
    return 0;
}

struct drep_selection *selection_new(void)
{
    struct drep_selection *sel = mem_zalloc(1, sizeof *sel);

    if (sel && handle_add(sel, HANDLE_SELECTION)) {
        mem_free(sel);
        return NULL;
    }
    return sel;
}

int selection_alive(const struct drep_selection *sel, const char *call)
{
    if (!sel)
        return fail(DREP_ERR_ARG, "%s: no selection", call);
    return handle_is(sel, HANDLE_SELECTION)
               ? 0
               : fail(DREP_ERR_ARG, "%s: the selection was freed", call);
}

int drep_select_box(int rank, const int64_t *start, const int64_t *count, const int64_t *stride,
                    const int64_t *block, drep_selection **out)
{
    drep_selection *sel;
    int err = 0;

    if (!out || rank < 0 || rank > DREP_MAX_RANK || (rank > 0 && (!start || !count)))
        return fail(DREP_ERR_ARG, "drep_select_box: rank %d or null argument", rank);
    sel = selection_new();
    if (!sel)
        return fail_nomem();
    sel->rank = rank;
    sel->count = 1;
    for (int d = 0; !err && d < rank; d++) {
        err = box_dim(&sel->dim[d], start[d], count[d], !stride ? 1 : stride[d],
                      !block ? 1 : block[d]);
        if (!err && __builtin_mul_overflow(sel->count, sel->dim[d].n, &sel->count))
            err = fail(DREP_ERR_RANGE, "selection: more than 2^63 elements");
    }
    if (err) {
        drep_selection_free(sel);
        return err;
    }
    *out = sel;
    return 0;
}

int drep_select_points(int rank, int64_t n, const int64_t *coords, drep_selection **out)
{
    drep_selection *sel;
    uint64_t words;

    if (!out || rank < 0 || rank > DREP_MAX_RANK || n < 0 || (n > 0 && (!coords || rank == 0)) ||
        __builtin_mul_overflow((uint64_t)n, (uint64_t)rank, &words))
        return fail(DREP_ERR_ARG, "drep_select_points: rank %d, %lld points", rank, (long long)n);
    sel = selection_new();
    if (!sel)
        return fail_nomem();
    sel->rank = rank;
    sel->count = sel->npoints = n;
    sel->coords = mem_array(words + 1, sizeof *sel->coords);
    if (!sel->coords) {
        drep_selection_free(sel);
        return fail_nomem();
    }
    if (n > 0)
        memcpy(sel->coords, coords, (size_t)words * sizeof *coords);
    *out = sel;
    return 0;
}

int drep_selection_box(const drep_selection *sel, int *rank, int64_t *start, int64_t *count,
                       int64_t *stride, int64_t *block, int *single)
{
    int err = selection_alive(sel, "drep_selection_box");

    if (err)
        return err;
    if (!selection_is_box(sel))
        return fail(DREP_ERR_UNSUPPORTED_OPERATION, "the selection is %s, not a box",
                    sel->coords ? "points" : "a union");
    if (rank)
        *rank = sel->rank;
    for (int d = 0; d < sel->rank; d++) {
        const struct span_dim *s = &sel->dim[d];

        if (start)
            start[d] = s->start;
        if (count)
            count[d] = s->n / s->block;
        if (stride)
            stride[d] = s->stride;
        if (block)
            block[d] = s->block;
        if (single)
            single[d] = (int)(sel->single >> d & 1);
    }
    return 0;
}

int64_t drep_selection_count(const drep_selection *sel)
{
    return !sel || !handle_is(sel, HANDLE_SELECTION) ? 0 : sel->count;
}

void drep_selection_free(drep_selection *sel)
{
    if (!sel || !handle_remove(sel, HANDLE_SELECTION))
        return;
    mem_free(sel->coords);
    mem_free(sel->box);
    mem_free(sel);
}

void selection_all(struct drep_selection *sel, int rank, const uint64_t *len)
{
    selection_begin(sel, rank);
    for (int d = 0; d < rank; d++) {
        sel->dim[d] = (struct span_dim){0, 1, 1, (int64_t)len[d]};
        sel->count *= (int64_t)len[d];
    }
}

static int box_check(const struct span_dim *dim, int rank, const uint64_t *len)
{
    for (int d = 0; d < rank; d++) {
        int64_t last = span_at(&dim[d], dim[d].n - 1);

        if ((uint64_t)last >= len[d])
            return fail(DREP_ERR_RANGE,
                        "selection reaches index %lld of dimension %d, whose length is %llu",
                        (long long)last, d, (unsigned long long)len[d]);
    }
    return 0;
}

int selection_check(const struct drep_selection *sel, int rank, const uint64_t *len)
{
    if (sel->rank != rank)
        return fail(DREP_ERR_DIMS, "selection of rank %d in a dataset of rank %d", sel->rank, rank);
    if (sel->coords) {
        for (int64_t i = 0; i < sel->npoints; i++)
            for (int d = 0; d < rank; d++) {
                int64_t at = sel->coords[i * rank + d];

                if (at < 0 || (uint64_t)at >= len[d])
                    return fail(DREP_ERR_RANGE,
                                "point %lld: index %lld of dimension %d is outside its length "
                                "%llu",
                                (long long)i, (long long)at, d, (unsigned long long)len[d]);
            }
        return 0;
    }
    if (!sel->box)
        return sel->count > 0 ? box_check(sel->dim, rank, len) : 0;
    for (int i = 0; i < sel->nboxes; i++) {
        int err = box_check(sel->box + (size_t)i * (size_t)rank, rank, len);

        if (err)
            return err;
    }
    return 0;
}

int64_t span_first(const struct span_dim *d, int64_t i)
{
    int64_t turn, k;

    if (i <= d->start)
        return 0;
    i -= d->start;
    if (d->block == 1) {
        k = (i + d->stride - 1) / d->stride;
    } else {
        turn = i / d->stride;
        k = turn * d->block + (i % d->stride < d->block ? i % d->stride : d->block);
    }
    return k < d->n ? k : d->n;
}

/* ---- runs ---- */

struct run_walk {
    const struct drep_selection *sel;
    const int64_t *k0, *k1, *from;
    int64_t in_block[DREP_MAX_RANK];  /* elements between neighbours in the block */
    int64_t in_memory[DREP_MAX_RANK]; /* and in the transfer */
    int inner;                        /* dimensions from here on are one run */
    int64_t inner_n;
    run_fn *fn;
    void *ctx;
};

static bool is_range(const struct span_dim *d)
{
    return d->block == 1 && (d->stride == 1 || d->n <= 1);
}

int64_t selection_run_len(const struct drep_selection *sel, const int64_t *len)
{
    int d = sel->rank - 1;
    int64_t n;

    if (sel->rank == 0)
        return 1;
    if (!is_range(&sel->dim[d]))
        return sel->dim[d].block;
    n = sel->dim[d].n < len[d] ? sel->dim[d].n : len[d];
    while (d > 0 && sel->dim[d].n == len[d] && is_range(&sel->dim[d - 1]) &&
           is_range(&sel->dim[d])) {
        d--;
        n *= sel->dim[d].n < len[d] ? sel->dim[d].n : len[d];
    }
    return n > 0 ? n : 1;
}

/* Joins the last dimensions that are whole both in the block and in the transfer. */
static void join_inner(struct run_walk *r, const int64_t *len)
{
    int d = r->sel->rank - 1;

    r->inner_n = r->k1[d] - r->k0[d];
    while (d > 0 && is_range(&r->sel->dim[d]) && r->k1[d] - r->k0[d] == len[d] &&
           r->sel->dim[d].n == len[d] && is_range(&r->sel->dim[d - 1])) {
        d--;
        r->inner_n *= r->k1[d] - r->k0[d];
    }
    r->inner = d;
}

static int emit_inner(struct run_walk *r, int64_t at, int64_t mem)
{
    const struct span_dim *d = &r->sel->dim[r->inner];
    int64_t unit = r->in_block[r->inner], k = r->k0[r->inner], end = r->k1[r->inner];
    int64_t base = at - r->from[r->inner] * unit;

    mem += k * r->in_memory[r->inner];
    if (r->inner < r->sel->rank - 1 || is_range(d))
        return r->fn(r->ctx, base + span_at(d, k) * unit, 1, r->inner_n, mem);
    if (d->block == 1)
        return r->fn(r->ctx, base + span_at(d, k), d->stride, end - k, mem);
    while (k < end) {
        int64_t n = d->block - k % d->block;
        int err;

        if (n > end - k)
            n = end - k;
        err = r->fn(r->ctx, base + span_at(d, k), 1, n, mem);
        if (err)
            return err;
        k += n;
        mem += n;
    }
    return 0;
}

int selection_runs(const struct drep_selection *sel, const int64_t *k0, const int64_t *k1,
                   const int64_t *from, const int64_t *len, run_fn *fn, void *ctx)
{
    struct run_walk r = {.sel = sel, .k0 = k0, .k1 = k1, .from = from, .fn = fn, .ctx = ctx};
    int64_t k[DREP_MAX_RANK];
    int d;

    if (sel->rank == 0)
        return fn(ctx, 0, 1, 1, 0);
    for (d = sel->rank - 1; d >= 0; d--) {
        bool last = d == sel->rank - 1;

        if (k0[d] >= k1[d])
            return 0;
        r.in_block[d] = last ? 1 : r.in_block[d + 1] * len[d + 1];
        r.in_memory[d] = last ? 1 : r.in_memory[d + 1] * sel->dim[d + 1].n;
        k[d] = k0[d];
    }
    join_inner(&r, len);
    for (;;) {
        int64_t at = 0, mem = 0;
        int err;

        for (d = 0; d < r.inner; d++) {
            at += (span_at(&sel->dim[d], k[d]) - from[d]) * r.in_block[d];
            mem += k[d] * r.in_memory[d];
        }
        if ((err = emit_inner(&r, at, mem)))
            return err;
        for (d = r.inner - 1; d >= 0 && ++k[d] == k1[d]; d--)
            k[d] = k0[d];
        if (d < 0)
            return 0;
    }
}
