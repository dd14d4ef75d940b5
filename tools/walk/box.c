/* box.c - an array walked in boxes.
 *
 * The last box of a dimension is cut at its edge; a box is never empty, and an array with a
 * dimension of length 0 has no boxes. */
/* SPDX-License-Identifier: MIT */
#include "tools/walk/box.h"
#include <stdint.h>
#include <stdio.h>
#include <string.h>

void box_init(struct box *b, int rank, const int64_t *dims, const int64_t *step)
{
    int d;

    memset(b, 0, sizeof *b);
    b->rank = rank;
    for (d = 0; d < rank; d++) {
        b->dims[d] = dims[d];
        b->step[d] = step[d];
    }
}

/* The first box, or the next: the last dimension runs fastest. */
int box_next(struct box *b)
{
    int d, e;

    if (!b->started) {
        b->started = 1;
        for (d = 0; d < b->rank; d++) {
            if (b->dims[d] == 0)
                return 0;
            b->start[d] = b->base[d];
        }
    } else {
        for (d = b->rank - 1; d >= 0; d--) {
            if (b->base[d] + b->dims[d] - b->start[d] > b->step[d])
                break;
            b->start[d] = b->base[d];
        }
        if (d < 0)
            return 0;
        b->start[d] += b->step[d];
    }
    for (e = 0; e < b->rank; e++) {
        int64_t left = b->base[e] + b->dims[e] - b->start[e];

        b->count[e] = left < b->step[e] ? left : b->step[e];
    }
    return 1;
}

void box_halves(struct box *b, const struct box *whole)
{
    int64_t step[DREP_MAX_RANK];
    int d, longest = 0;

    for (d = 0; d < whole->rank; d++) {
        step[d] = whole->count[d];
        longest = whole->count[d] > whole->count[longest] ? d : longest;
    }
    step[longest] = (step[longest] + 1) / 2;
    box_init(b, whole->rank, whole->count, step);
    memcpy(b->base, whole->start, sizeof b->base);
}

int64_t box_elements(const struct box *b)
{
    int64_t n = 1;
    int d;

    for (d = 0; d < b->rank; d++)
        n *= b->count[d];
    return n;
}

void box_grow(int rank, const int64_t *dims, int64_t most, int64_t *step)
{
    int64_t n = 1;
    int d;

    for (d = 0; d < rank; d++)
        n *= step[d] < dims[d] ? step[d] : (dims[d] ? dims[d] : 1);
    for (d = rank - 1; d >= 0 && n < most; d--) {
        int64_t times = most / n;
        int64_t need = step[d] < dims[d] ? (dims[d] - 1) / step[d] + 1 : 1;

        if (times > need)
            times = need;
        if (times > 1) {
            step[d] *= times;
            n *= times;
        }
        /* A box that is cut in this dimension stays thin in the slower ones. */
        if (step[d] < dims[d])
            break;
    }
}

void box_index_text(int rank, const int64_t *start, const int64_t *count, int64_t n, char *text,
                    size_t size)
{
    int64_t index[DREP_MAX_RANK];
    size_t len = 0;
    int d;

    *text = 0;
    for (d = rank - 1; d >= 0; d--) {
        index[d] = n % count[d] + (start ? start[d] : 0);
        n /= count[d];
    }
    for (d = 0; d < rank && len < size; d++)
        len += (size_t)snprintf(text + len, size - len, "%s%lld%s", d ? "," : "[",
                                (long long)index[d], d == rank - 1 ? "]" : "");
}
