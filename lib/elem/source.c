/* source.c - where the elements of a write come from, if not from the caller's memory. */
/* SPDX-License-Identifier: MIT */
#include "elem/source.h"

#include "chunk/edit.h"
#include "chunk/places.h"
#include "chunk/plan.h"

static int64_t number_of(const struct transfer *t, const uint64_t *coord)
{
    return chunk_number(&t->ds->rec, coord);
}

bool source_whole(const struct transfer *t, const uint64_t *coord)
{
    return t->from->ops->whole(t->from, number_of(t, coord));
}

static int source_encoded(const struct transfer *t, const uint64_t *coord,
                          struct encoded_chunk **out)
{
    return t->from->ops->encoded(t->from, number_of(t, coord), out);
}

int source_place(const struct transfer *t, const uint64_t *coords, uint64_t n, uint64_t size)
{
    struct encoded_chunk *e;
    struct places p;
    int err;

    chunks_forget(&t->ds->chunks, coords, n);
    err = places_begin(&p, &t->ds->chunks, coords, n, size);
    p.given = true;
    while (!(err = places_next(&p, err)) && p.batch > 0)
        for (uint64_t i = 0; !err && i < p.batch; i++) {
            err = source_encoded(t, places_coord(&p, i), &e);
            if (!err) {
                e->offset = places_given(&p, i, e->sums);
                e->placed = true;
            }
        }
    return places_end(&p, err);
}

int source_place_one(const struct transfer *t, const uint64_t *coord)
{
    struct encoded_chunk *e;
    int err = source_encoded(t, coord, &e);

    if (err || t->ds->chunks.nfilters == 0)
        return err ? err : source_place(t, coord, 1, e->size);
    chunk_forget(&t->ds->chunks, coord);
    err = plan_filtered(&t->ds->chunks, coord, e->size, e->sums[0], (struct coding){e->skipped, 0},
                        &e->offset);
    e->placed = !err;
    return err;
}

int source_elements(struct part_mover *m, const uint64_t *coord)
{
    struct part_source *from = m->t->from;
    struct source_elements here;
    int err = from->ops->elements(from, number_of(m->t, coord), &here);

    if (err)
        return err;
    m->given = here.given;
    m->t->mem = here.elements;
    m->c.heap = here.heap;
    m->c.heap_size = here.heap_size;
    return 0;
}
