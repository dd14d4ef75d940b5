/* select.h - which elements of a dataset a transfer moves: boxes, points, unions of boxes.
 *
 * A box is one span a dimension.  Whatever the selection, its elements have numbers: their places
 * in memory, in row-major order, or in the order in which points were given. */
/* SPDX-License-Identifier: MIT */
#ifndef ELEM_SELECT_H
#define ELEM_SELECT_H

#include "base/handles.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* One dimension of a box: the k-th selected index is
 * start + k / block * stride + k % block. */
struct span_dim {
    int64_t start, stride, block, n; /* n: selected indices */
};
struct drep_selection {
    int rank;
    int64_t count;
    struct span_dim dim[DREP_MAX_RANK]; /* a box */
    uint32_t single;                    /* bit d: a text gave one index of dimension d */
    int64_t npoints;                    /* points when coords is set */
    int64_t *coords;
    int nboxes; /* a union when box is set: rank dimensions for each */
    struct span_dim *box;
};
static inline bool selection_is_box(const struct drep_selection *sel)
{
    return !sel->coords && !sel->box;
}
/* One for a caller, whose handle it becomes: drep_selection_free() ends it.  NULL: no memory. */
struct drep_selection *selection_new(void);
/* For one that a caller gave, and has perhaps freed before: DREP_ERR_ARG. */
int selection_alive(const struct drep_selection *sel, const char *call);
/* Begins a box; the caller sets its dimensions. */
static inline void selection_begin(struct drep_selection *sel, int rank)
{
    sel->rank = rank;
    sel->count = 1;
    sel->single = 0;
    sel->npoints = 0;
    sel->coords = NULL;
    sel->nboxes = 0;
    sel->box = NULL;
}
/* The box of everything. */
void selection_all(struct drep_selection *sel, int rank, const uint64_t *len);
/* Holds it against the dataset's shape. */
int selection_check(const struct drep_selection *sel, int rank, const uint64_t *len);
static inline int64_t span_at(const struct span_dim *d, int64_t k)
{
    return d->block == 1 ? d->start + k * d->stride
                         : d->start + k / d->block * d->stride + k % d->block;
}
/* The first k whose index is >= i. */
int64_t span_first(const struct span_dim *d, int64_t i);

/* Calls fn for each run of selected elements inside a block of `len` elements a
 * dimension, of which [k0, k1) of each dimension's selected indices fall into it; the
 * block begins at index `from`.  `at`: element in the block, `step`: elements between
 * two of the run, `mem`: number of the first in the transfer. */
typedef int run_fn(void *ctx, int64_t at, int64_t step, int64_t n, int64_t mem);
int selection_runs(const struct drep_selection *sel, const int64_t *k0, const int64_t *k1,
                   const int64_t *from, const int64_t *len, run_fn *fn, void *ctx);

/* Elements of a box that follow each other in a block of so many elements a dimension, at
 * most as many as the block has. */
int64_t selection_run_len(const struct drep_selection *sel, const int64_t *len);
/* Calls fn for each stretch of neighbours in the last dimension, in the order of transfer;
 * for points and unions. */
typedef int stretch_fn(void *ctx, const int64_t *coord, int64_t n);
int selection_stretches(const struct drep_selection *sel, stretch_fn *fn, void *ctx);

#endif
