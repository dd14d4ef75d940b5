/* copy_payload.c - the elements of one dataset into another that has none yet. */
/* SPDX-License-Identifier: MIT */
#include "whole/copy_payload.h"

#include "chunk/each.h"

#include <string.h>

static bool same_grid(const struct object_rec *a, const struct object_rec *b)
{
    if (a->layout != b->layout || a->rank != b->rank)
        return false;
    if (a->layout == FMT_CONTIGUOUS)
        return a->slab == b->slab;
    for (int d = 0; a->layout == FMT_CHUNKED && d < a->rank; d++)
        if (a->chunk[d] != b->chunk[d])
            return false;
    return true;
}

static bool same_filters(const struct object_rec *a, const struct object_rec *b)
{
    if (a->nfilters != b->nfilters)
        return false;
    for (int i = 0; i < a->nfilters; i++)
        if (!filter_same(&a->filter[i], &b->filter[i]))
            return false;
    return true;
}

static int add_bytes(const uint64_t *coord, const struct chunk_rec *rec, void *ctx)
{
    uint64_t *bytes = ctx;

    (void)coord;
    *bytes += rec->run * rec->size;
    return 0;
}

/* *line: the source is contiguous and all of it is stored.  Its slabs are many and small, so they
 * go box by box; in the other case the target gets the same holes. */
static int whole_line(const struct payload_copy *c, bool *line)
{
    uint64_t bytes = 0;
    int err = 0;

    *line = false;
    if (c->from->rec.layout == FMT_CONTIGUOUS)
        err = chunk_each(&c->from->chunks, add_bytes, &bytes);
    if (!err && c->from->rec.layout == FMT_CONTIGUOUS)
        *line = bytes >= element_bytes(c->from, (uint64_t)dataset_count(c->from));
    return err;
}

int copy_payload(struct payload_copy *c)
{
    const struct object_rec *a = &c->from->rec, *b = &c->to->rec;
    bool grid = !c->cut && same_grid(a, b), line = false;
    int err = 0;

    if (dataset_count(c->to) == 0 || c->from->esize == 0 || a->layout == FMT_LAYOUT_NULL)
        return 0;
    c->stored = c->same_elements && grid && !c->map && same_filters(a, b);
    if (!c->from->rep->datarep && !c->stored && type_has_codes(c->from->ft->type))
        return fail(DREP_ERR_UNSUPPORTED_DATAREP,
                    "datarep \"%s\": its functions are not here, so elements can only be copied as "
                    "they are stored",
                    c->from->rep->name);
    if (!c->same_elements || c->from->ft->type->variable)
        err = c->stored ? 0
                        : transcode_init(&c->transcoder, c->from->rep, c->from->ft, c->to->rep,
                                         c->to->ft, c->range);
    if (!err && grid && !c->stored)
        err = whole_line(c, &line);
    if (err)
        return err;
    if (grid && a->layout == FMT_COMPACT)
        err = copy_compact(c);
    else if (c->stored)
        err = copy_stored(c);
    else if (grid && !line)
        err = copy_chunks(c);
    else if (c->from->ft->type->variable)
        err = copy_gathered(c);
    else
        err = copy_boxes(c);
    return err ? err : place_settle_all(c->to->file->st);
}

void copy_payload_release(struct payload_copy *c)
{
    for (int i = 0; i < 3; i++)
        buf_release(&c->room[i]);
}
