/* source.c - where the elements of a write come from, if not from the caller's memory. */
/* SPDX-License-Identifier: MIT */
#include "elem/source.h"

#include "chunk/payload.h"

#include <string.h>

static int64_t number_of(const struct transfer *t, const uint64_t *coord)
{
    return chunk_number(&t->ds->rec, coord);
}

bool source_whole(const struct transfer *t, const uint64_t *coord)
{
    return t->from->ops->whole(t->from, number_of(t, coord));
}

int source_encoded(const struct transfer *t, const uint64_t *coord, struct encoded_chunk **out)
{
    return t->from->ops->encoded(t->from, number_of(t, coord), out);
}

int source_placed(const struct transfer *t, const uint64_t *coord, uint64_t offset, uint64_t *sums)
{
    struct encoded_chunk *e;
    int err = source_encoded(t, coord, &e);

    if (err)
        return err;
    memcpy(sums, e->sums, (size_t)sums_of(e->size) * sizeof *sums);
    e->offset = offset;
    e->placed = true;
    return 0;
}

int source_elements(struct transfer *t, const uint64_t *coord, struct conv *c)
{
    struct source_elements here;
    int err = t->from->ops->elements(t->from, number_of(t, coord), &here);

    if (err)
        return err;
    t->mem = here.elements;
    c->heap = here.heap;
    c->heap_size = here.heap_size;
    return 0;
}
