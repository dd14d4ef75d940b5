/* stretch.c - elements that lie one behind the other, cut into chunks. */
/* SPDX-License-Identifier: MIT */
#include "tools/walk/stretch.h"

int64_t stretch_divisor(int64_t n, int64_t most)
{
    int64_t d = most < n ? most : n;

    while (d > 1 && n % d != 0)
        d--;
    return d > 1 ? d : 1;
}

void stretch_chunk(int rank, const int64_t *dims, int64_t size, int64_t *chunk)
{
    int64_t most = STRETCH_MOST / (size > 0 ? size : 1), step = size > 0 ? size : 1;
    int d;

    most = most > 0 ? most : 1;
    for (d = rank - 1; d > 0; d--) {
        chunk[d] = dims[d] < most ? dims[d] : most;
        chunk[d] = chunk[d] > 0 ? chunk[d] : 1;
        step *= chunk[d];
        /* Once a dimension is cut, the chunks before it are single rows. */
        most = chunk[d] < dims[d] ? 1 : most / chunk[d];
        most = most > 0 ? most : 1;
    }
    if (rank > 0)
        chunk[0] = step >= STRETCH_LEAST || most == 1 ? 1 : stretch_divisor(dims[0], most);
}
