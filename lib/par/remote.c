/* remote.c - chunks that come from other ranks, as rank 0's store writes them. */
/* SPDX-License-Identifier: MIT */
#include "par/remote.h"

#include "chunk/edit.h"
#include "chunk/places.h"
#include "chunk/plan.h"

/* The store asks in the order of the grid, mostly. */
static struct remote_chunk *find(struct remote *r, int64_t chunk)
{
    size_t low = 0, high = r->n;

    if (r->next < r->n && r->chunk[r->next].chunk == chunk)
        return &r->chunk[r->next++];
    while (low < high) {
        size_t mid = (low + high) / 2;

        if (r->chunk[mid].chunk < chunk)
            low = mid + 1;
        else
            high = mid;
    }
    if (low == r->n || r->chunk[low].chunk != chunk)
        return NULL;
    r->next = low + 1;
    return &r->chunk[low];
}

bool remote_is_whole(struct remote *r, int64_t chunk)
{
    const struct remote_chunk *c;
    size_t low = 0, high = r->nparts;

    while (r->more && low < high) {
        size_t mid = (low + high) / 2;

        if (r->part[mid] < chunk)
            low = mid + 1;
        else
            high = mid;
    }
    if (r->more)
        return low == r->nparts || r->part[low] != chunk;
    c = find(r, chunk);
    return c && c->whole;
}

bool remote_is_owned(struct remote *r, int64_t chunk)
{
    const struct remote_chunk *c = find(r, chunk);

    return c && (c->whole || c->patched);
}

/* Find a chunk, if it comes. */
static int await(struct remote *r, int64_t chunk, struct remote_chunk **c)
{
    int err = 0;

    while (!(*c = find(r, chunk)) && r->more && !err)
        err = r->more(r->ctx);
    return err;
}

static int not_here(int64_t chunk, const char *what)
{
    return fail(DREP_ERR_FAILED, "no rank has sent %s of chunk number %lld", what,
                (long long)chunk);
}

int remote_record(drep_dataset *ds, const struct remote_chunk *c)
{
    struct encoded_chunk e = c->encoded;
    uint64_t coord[DREP_MAX_RANK];
    struct places p;
    int err;

    chunk_coord(&ds->rec, c->chunk, coord);
    chunk_forget(&ds->chunks, coord);
    if (ds->chunks.nfilters > 0)
        return plan_filtered(&ds->chunks, coord, e.size, e.sums[0], (struct coding){e.skipped, 0},
                             &e.offset);
    err = places_begin(&p, &ds->chunks, coord, 1, e.size);
    p.given = true;
    p.at = e.offset;
    while (!(err = places_next(&p, err)) && p.batch > 0)
        places_given(&p, 0, e.sums);
    return places_end(&p, err);
}

/* Find out where a plain chunk stands. */
static int find_place(drep_dataset *ds, struct remote_chunk *c)
{
    uint64_t coord[DREP_MAX_RANK];
    struct run_hit f;
    int err;

    chunk_coord(&ds->rec, c->chunk, coord);
    err = run_find(&ds->chunks, coord, &f);
    if (err)
        return err == DREP_ERR_NOT_FOUND ? 0 : err;
    c->encoded.placed = f.run->rec.size == c->encoded.size;
    c->encoded.offset = f.run->rec.offset + f.index * f.run->rec.size;
    run_done(ds->file->st, &f);
    return 0;
}

int remote_places(drep_dataset *ds, struct remote *r)
{
    int err = 0;

    for (size_t i = 0; !err && i < r->n; i++) {
        struct remote_chunk *c = &r->chunk[i];

        if (c->patched || (c->whole && !c->leased && ds->rec.layout == FMT_CONTIGUOUS))
            err = find_place(ds, c);
        if (!err && (c->whole || c->patched) && !c->encoded.placed)
            err = fail(DREP_ERR_FAILED, "chunk number %lld got no place", (long long)c->chunk);
    }
    return err;
}

/* ---- as a source of parts ---- */

static bool source_is_whole(struct part_source *s, int64_t chunk)
{
    return remote_is_whole((struct remote *)s, chunk);
}

static int source_encodes(struct part_source *s, int64_t chunk, struct encoded_chunk **out)
{
    struct remote_chunk *c;
    int err = await((struct remote *)s, chunk, &c);

    if (err)
        return err;
    if (!c || !c->whole)
        return not_here(chunk, "all");
    *out = &c->encoded;
    return 0;
}

static int source_gives(struct part_source *s, int64_t chunk, struct source_elements *out)
{
    struct remote_chunk *c;
    int err = await((struct remote *)s, chunk, &c);

    if (err)
        return err;
    if (!c || (!c->elements && !c->given.sums))
        return not_here(chunk, "the elements");
    *out = (struct source_elements){c->elements, c->heap, c->heap_size,
                                    c->given.sums ? &c->given : NULL};
    return 0;
}

void remote_begin(struct remote *r, struct transfer *t)
{
    static const struct part_source_ops ops = {source_is_whole, source_encodes, source_gives};

    r->source.ops = &ops;
    t->from = &r->source;
}
