/* run_order.c - which chunks of a grid follow each other in a run of filtered ones. */
/* SPDX-License-Identifier: MIT */
#include "chunk/run_order.h"

void run_order_set(struct chunks *cs, const uint64_t *max, const uint32_t *chunk)
{
    uint64_t product = 1;

    cs->wrap = 0;
    for (int d = cs->rank - 1; d > 0 && max[d] != FMT_UNLIMITED; d--) {
        uint64_t n = max[d] ? (max[d] - 1) / chunk[d] + 1 : 1;

        if (n > FMT_NEAR_MAX / product)
            return;
        product *= n;
        cs->grid[d] = n;
        cs->wrap++;
    }
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
    high += (b[first] - a[first]) * all;
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
    if (n == 1)
        return true;
    return cs->rank > 0 && inner(cs, coord, &at, &all) &&
           coord[cs->rank - cs->wrap - 1] + (at + n - 1) / all <= FMT_SIZE_MAX;
}
