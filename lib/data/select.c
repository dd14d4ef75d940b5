/* select.c - which elements: boxes and points. */
#include "data/data.h"

#include <string.h>

static int box_dim(struct span_dim *d, int64_t start, int64_t count, int64_t stride, int64_t block)
{
    int64_t last, n;

    if (start < 0 || count < 0 || block < 0 || stride < 1 || (count > 1 && block > stride))
        return fail(DREP_ERR_RANGE,
                    "selection: start %lld, count %lld, stride %lld, block %lld",
                    (long long)start, (long long)count, (long long)stride, (long long)block);
    if (__builtin_mul_overflow(count, block, &n) ||
        __builtin_mul_overflow(count, stride, &last) ||
        __builtin_add_overflow(last, start, &last) || __builtin_add_overflow(last, block, &last))
        return fail(DREP_ERR_RANGE, "selection: its end is beyond 2^63");
    /* Blocks that touch are one block: ranges are found at once. */
    if (stride == block && count > 1) {
        block = n;
        count = 1;
    }
    *d = (struct span_dim){start, stride, block == 0 ? 1 : block, n};
    if (count == 1 && block > 1)
        *d = (struct span_dim){start, 1, 1, n};
    return 0;
}

int drep_select_box(int rank, const int64_t *start, const int64_t *count, const int64_t *stride,
                    const int64_t *block, drep_selection **out)
{
    drep_selection *sel;
    int err = 0;

    if (out == NULL || rank < 0 || rank > DREP_MAX_RANK ||
        (rank > 0 && (start == NULL || count == NULL)))
        return fail(DREP_ERR_ARG, "drep_select_box: rank %d or null argument", rank);
    sel = mem_zalloc(1, sizeof *sel);
    if (sel == NULL)
        return fail(DREP_ERR_NOMEM, "out of memory");
    sel->rank = rank;
    sel->count = 1;
    for (int d = 0; err == 0 && d < rank; d++) {
        err = box_dim(&sel->dim[d], start[d], count[d], stride == NULL ? 1 : stride[d],
                      block == NULL ? 1 : block[d]);
        if (err == 0 && __builtin_mul_overflow(sel->count, sel->dim[d].n, &sel->count))
            err = fail(DREP_ERR_RANGE, "selection: more than 2^63 elements");
    }
    if (err != 0) {
        mem_free(sel);
        return err;
    }
    *out = sel;
    return 0;
}

int drep_select_points(int rank, int64_t n, const int64_t *coords, drep_selection **out)
{
    drep_selection *sel;
    size_t words;

    if (out == NULL || rank < 1 || rank > DREP_MAX_RANK || n < 0 || (n > 0 && coords == NULL) ||
        __builtin_mul_overflow((size_t)n, (size_t)rank, &words))
        return fail(DREP_ERR_ARG, "drep_select_points: rank %d, %lld points", rank, (long long)n);
    sel = mem_zalloc(1, sizeof *sel);
    if (sel == NULL)
        return fail(DREP_ERR_NOMEM, "out of memory");
    sel->rank = rank;
    sel->count = sel->npoints = n;
    sel->coords = mem_array(words + 1, sizeof *sel->coords);
    if (sel->coords == NULL) {
        mem_free(sel);
        return fail(DREP_ERR_NOMEM, "out of memory");
    }
    if (n > 0)
        memcpy(sel->coords, coords, words * sizeof *coords);
    *out = sel;
    return 0;
}

int64_t drep_selection_count(const drep_selection *sel)
{
    return sel == NULL ? 0 : sel->count;
}

void drep_selection_free(drep_selection *sel)
{
    if (sel == NULL)
        return;
    mem_free(sel->coords);
    mem_free(sel);
}

void selection_all(struct drep_selection *sel, int rank, const uint64_t *len)
{
    memset(sel, 0, sizeof *sel);
    sel->rank = rank;
    sel->count = 1;
    for (int d = 0; d < rank; d++) {
        sel->dim[d] = (struct span_dim){0, 1, 1, (int64_t)len[d]};
        sel->count *= (int64_t)len[d];
    }
}

int selection_check(const struct drep_selection *sel, int rank, const uint64_t *len)
{
    if (sel->rank != rank)
        return fail(DREP_ERR_DIMS, "selection of rank %d in a dataset of rank %d", sel->rank,
                    rank);
    if (sel->coords != NULL) {
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
    for (int d = 0; sel->count > 0 && d < rank; d++) {
        int64_t last = span_at(&sel->dim[d], sel->dim[d].n - 1);

        if ((uint64_t)last >= len[d])
            return fail(DREP_ERR_RANGE,
                        "selection reaches index %lld of dimension %d, whose length is %llu",
                        (long long)last, d, (unsigned long long)len[d]);
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
