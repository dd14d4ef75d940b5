/* sparse.c - the chunks that were ever written, of two datasets side by side.
 *
 * Only a grid that both datasets share can be compared chunk by chunk. */
/* SPDX-License-Identifier: MIT */
#include "tools/walk/sparse.h"
#include <stdlib.h>
#include <string.h>

#define LEAST_SIZE ((int64_t)16 << 20) /* bytes of a dataset that is worth the care */
#define CHUNK_SIZE ((int64_t)64 << 20) /* of a chunk that is compared as a whole */

static int64_t along(const drep_dsinfo *info, int d)
{
    return (info->dims[d] + info->chunk[d] - 1) / info->chunk[d];
}

static bool same_grid(const drep_dsinfo *a, const drep_dsinfo *b)
{
    size_t size = (size_t)(a->rank > 0 ? a->rank : 0) * sizeof *a->dims;

    return a->layout == DREP_CHUNKED && b->layout == DREP_CHUNKED && a->rank == b->rank &&
           memcmp(a->dims, b->dims, size) == 0 && memcmp(a->chunk, b->chunk, size) == 0;
}

bool sparse_pays(drep_dataset *a, const drep_dsinfo *a_info, drep_dataset *b,
                 const drep_dsinfo *b_info)
{
    int64_t size = drep_type_extent(a_info->type), chunks = 1, elements = 1;
    drep_dsusage x = DREP_DSUSAGE, y = DREP_DSUSAGE;
    int d;

    if (!same_grid(a_info, b_info) || size <= 0 || a_info->count < LEAST_SIZE / size)
        return false;
    /* Both products are at most the dataset's elements. */
    for (d = 0; d < a_info->rank; d++) {
        chunks *= along(a_info, d);
        elements *= a_info->chunk[d] < a_info->dims[d] ? a_info->chunk[d] : a_info->dims[d];
    }
    return elements <= CHUNK_SIZE / size && drep_dataset_usage(a, &x) == 0 &&
           drep_dataset_usage(b, &y) == 0 && x.chunks < chunks / 2 - y.chunks;
}

/* -------------------------------------------------------------------- lists */

struct chunk_list {
    int rank;
    size_t n, room;
    int64_t *at;
};

static int list_add(const int64_t *start, void *ctx)
{
    struct chunk_list *l = ctx;
    size_t size = (size_t)l->rank * sizeof *l->at;

    if (l->n == l->room) {
        size_t room = l->room ? 2 * l->room : 64;
        int64_t *at = reallocarray(l->at, room, size);

        if (!at)
            return DREP_ERR_NOMEM;
        l->at = at;
        l->room = room;
    }
    memcpy(l->at + l->n++ * (size_t)l->rank, start, size);
    return 0;
}

static int order_of(const int64_t *a, const int64_t *b, int rank)
{
    int d;

    for (d = 0; d < rank; d++)
        if (a[d] != b[d])
            return a[d] < b[d] ? -1 : 1;
    return 0;
}

/* To the next chunk of the grid. */
static void next_chunk(int64_t *at, const drep_dsinfo *info)
{
    int d;

    for (d = info->rank - 1; d > 0; d--) {
        at[d] += info->chunk[d];
        if (at[d] < info->dims[d])
            return;
        at[d] = 0;
    }
    at[0] += info->chunk[0];
}

/* Both lists as one, and behind it the first chunk that is in neither. */
static int merge(struct sparse *out, const struct chunk_list *a, const struct chunk_list *b,
                 const drep_dsinfo *info)
{
    size_t i = 0, k = 0, rank = (size_t)info->rank;
    struct chunk_list all = {.rank = info->rank};
    int64_t hole[DREP_MAX_RANK] = {0};
    int err = 0, order;

    while (!err && (i < a->n || k < b->n)) {
        const int64_t *x = a->at + i * rank, *y = b->at + k * rank;

        order = i == a->n ? 1 : k == b->n ? -1 : order_of(x, y, info->rank);
        x = order <= 0 ? x : y;
        if (order_of(x, hole, info->rank) == 0)
            next_chunk(hole, info);
        err = list_add(x, &all);
        i += order <= 0;
        k += order >= 0;
    }
    if (!err)
        err = list_add(hole, &all);
    if (err) {
        free(all.at);
        return err;
    }
    *out = (struct sparse){info->rank, all.n - 1, all.at};
    return 0;
}

int sparse_find(struct sparse *out, drep_dataset *a, drep_dataset *b, const drep_dsinfo *info)
{
    struct chunk_list x = {.rank = info->rank}, y = x;
    int err = drep_dataset_chunks(a, list_add, &x);

    if (!err)
        err = drep_dataset_chunks(b, list_add, &y);
    if (!err)
        err = merge(out, &x, &y, info);
    free(x.at);
    free(y.at);
    return err;
}

void sparse_release(struct sparse *s)
{
    free(s->at);
}
