/* run_order.c - which chunks of a grid follow each other in a run of filtered ones. */
/* SPDX-License-Identifier: MIT */
#include "chunk/run_order.h"

/* Chunks along a dimension of so many elements. */
static uint64_t grid_length(uint64_t elements, uint32_t chunk)
{
    return elements / chunk + (elements % chunk != 0);
}

void run_order_set(struct chunks *cs, const struct object_rec *rec)
{
    cs->wrap = rec->suffix > 0 ? rec->suffix - 1 : 0;
    for (int d = cs->rank - cs->wrap; d < cs->rank; d++)
        cs->grid[d] = grid_length(rec->max[d], rec->chunk[d]);
}

uint8_t run_order_suffix(int rank, const uint64_t *max, const uint32_t *chunk)
{
    uint64_t product = 1;
    int d = rank - 1;

    for (; d > 0 && max[d] != FMT_UNLIMITED; d--) {
        uint64_t n = grid_length(max[d], chunk[d]);

        n += n == 0;
        if (n > FMT_NEAR_MAX / product)
            break;
        product *= n;
    }
    return (uint8_t)(rank > 0 ? rank - d : 0);
}

bool run_order_kept(const struct object_rec *rec, const uint64_t *max)
{
    for (int d = rec->rank - rec->suffix + 1; d < rec->rank; d++)
        if (max[d] == FMT_UNLIMITED ||
            grid_length(max[d], rec->chunk[d]) != grid_length(rec->max[d], rec->chunk[d]))
            return false;
    return true;
}

/* Number a chunk among those with the same leading coordinates; *all counts these.  False: it lies
 * outside the grid. */
static bool inner(const struct chunks *cs, const uint64_t *coord, uint64_t *at, uint64_t *all)
{
    *at = 0;
    *all = 1;
    for (int d = cs->rank - cs->wrap; d < cs->rank; d++) {
        if (coord[d] >= cs->grid[d])
            return false;
        *at = *at * cs->grid[d] + coord[d];
        *all *= cs->grid[d];
    }
    return true;
}

bool run_order_distance(const struct chunks *cs, const uint64_t *a, const uint64_t *b, uint64_t *n)
{
    int first = cs->rank - cs->wrap - 1;
    uint64_t low, high, all;

    if (memcmp(a, b, (size_t)cs->rank * sizeof(*a)) == 0) {
        *n = 0;
        return true;
    }
    if (cs->rank == 0 || memcmp(a, b, (size_t)first * sizeof(*a)) != 0 || b[first] < a[first] ||
        b[first] - a[first] > FMT_PACKED_MAX || !inner(cs, a, &low, &all) ||
        !inner(cs, b, &high, &all))
        return false;
    if (__builtin_mul_overflow(b[first] - a[first], all, &all) ||
        __builtin_add_overflow(high, all, &high))
        return false; /* more chunks than a run has */
    *n = high - low;
    return high >= low;
}

void run_order_step(const struct chunks *cs, uint64_t *coord, uint64_t n)
{
    int d = cs->rank - 1;

    for (; n > 0 && d >= cs->rank - cs->wrap; d--) {
        uint64_t at = coord[d] + n;

        coord[d] = at % cs->grid[d];
        n = at / cs->grid[d];
    }
    if (d >= 0)
        coord[d] += n;
}

bool run_order_fits(const struct chunks *cs, const uint64_t *coord, uint32_t n)
{
    uint64_t at, all;

    for (int d = 0; d < cs->rank; d++) {
        if (coord[d] > FMT_SIZE_MAX)
            return false;
    }
    if (cs->rank == 0)
        return n == 1;
    return inner(cs, coord, &at, &all) &&
           coord[cs->rank - cs->wrap - 1] + (at + n - 1) / all <= FMT_SIZE_MAX;
}
