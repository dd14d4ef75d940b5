/* list.c - growing arrays of extents, in the order in which they were added.
 *
 * Adding may fail for lack of memory.  Callers that free space ignore that: the bytes become
 * slack, which wastes space and breaks nothing. */
/* SPDX-License-Identifier: MIT */
#include "space/list.h"

#include "base/err.h"
#include "base/mem.h"
#include "base/vec.h"

#include <stdlib.h>
#include <string.h>

int extent_list_push(struct extent_list *l, uint64_t offset, uint64_t length)
{
    if (VEC_ROOM(l->e, l->n, l->room, 1))
        return DREP_ERR_NOMEM;
    l->e[l->n++] = (struct extent){offset, length};
    return 0;
}

int extent_list_add(struct extent_list *l, uint64_t offset, uint64_t length)
{
    struct extent *last = l->n ? &l->e[l->n - 1] : NULL;

    if (last && last->offset + last->length == offset) {
        last->length += length;
        return 0;
    }
    if (last && offset + length == last->offset) {
        last->offset = offset;
        last->length += length;
        return 0;
    }
    return extent_list_push(l, offset, length);
}

static int extents_by_offset(const void *a, const void *b)
{
    uint64_t x = ((const struct extent *)a)->offset, y = ((const struct extent *)b)->offset;

    return (x > y) - (x < y);
}

void extent_list_sort(struct extent_list *l)
{
    size_t n = 0;

    if (l->n < 2)
        return;
    qsort(l->e, l->n, sizeof(*l->e), extents_by_offset);
    for (size_t i = 1; i < l->n; i++) {
        if (l->e[n].offset + l->e[n].length == l->e[i].offset)
            l->e[n].length += l->e[i].length;
        else
            l->e[++n] = l->e[i];
    }
    l->n = n + 1;
}

void extent_list_release(struct extent_list *l)
{
    mem_free(l->e);
    *l = (struct extent_list){0};
}

int later_add(struct later_list *l, uint64_t offset, uint64_t length, uint64_t sequence)
{
    if (l->head > l->n / 2) { /* drop the used part of the array */
        memmove(l->e, l->e + l->head, (l->n - l->head) * sizeof(*l->e));
        l->n -= l->head;
        l->head = 0;
    }
    if (VEC_ROOM(l->e, l->n, l->room, 1))
        return DREP_ERR_NOMEM;
    l->e[l->n++] = (struct later){offset, length, sequence};
    return 0;
}

static int by_sequence(const void *a, const void *b)
{
    uint64_t x = ((const struct later *)a)->sequence, y = ((const struct later *)b)->sequence;

    return (x > y) - (x < y);
}

void later_sort(struct later_list *l)
{
    if (l->n > 1)
        qsort(l->e, l->n, sizeof(*l->e), by_sequence);
}

void later_release(struct later_list *l)
{
    mem_free(l->e);
    *l = (struct later_list){0};
}
