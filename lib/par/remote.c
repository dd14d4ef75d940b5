/* remote.c - chunks that come from other ranks, as rank 0's store writes them. */
/* SPDX-License-Identifier: MIT */
#include "par/remote.h"

#include "base/mem.h"
#include "chunk/edit.h"
#include "chunk/places.h"
#include "chunk/plan.h"

static bool chunk_covers(const struct remote_chunk *c, int64_t chunk)
{
    return chunk >= c->chunk && chunk - c->chunk < c->slabs;
}

/* The store asks in the order of the grid, mostly. */
static struct remote_chunk *find(struct remote *r, int64_t chunk)
{
    size_t low = 0, high = r->n;
    struct remote_chunk *c;

    if (r->next < r->n && chunk_covers(&r->chunk[r->next], chunk)) {
        low = r->next;
    } else {
        while (low < high) {
            size_t mid = (low + high) / 2;

            if (r->chunk[mid].chunk + r->chunk[mid].slabs <= chunk)
                low = mid + 1;
            else
                high = mid;
        }
        if (low == r->n || !chunk_covers(&r->chunk[low], chunk))
            return NULL;
    }
    c = &r->chunk[low];
    r->next = low + (chunk + 1 == c->chunk + c->slabs);
    return c;
}

/* Make one of several slabs the one that is asked for. */
static struct remote_slab *slab_of(struct remote *r, const struct remote_chunk *c, int64_t slab)
{
    uint64_t *sums = c->encoded.sums + (uint64_t)(slab - c->chunk) * sums_of(c->encoded.size);

    if (r->one.number != slab + 1)
        r->one = (struct remote_slab){.number = slab + 1,
                                      .encoded = {.size = c->encoded.size, .sums = sums},
                                      .given = {.size = c->encoded.size, .sums = sums}};
    return &r->one;
}

void remote_drop(struct remote *r)
{
    for (size_t i = 0; i < r->n; i++)
        mem_free(r->chunk[i].scattered);
    r->n = r->next = 0;
    r->one.number = 0;
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

/* Find out where a plain chunk stands, if it is recorded; f has the run of the one before, or NULL.
 */
static int find_place(drep_dataset *ds, int64_t chunk, struct run_hit *f, struct encoded_chunk *e)
{
    struct chunks *cs = &ds->chunks;
    uint64_t coord[DREP_MAX_RANK];
    int err = 0;

    chunk_coord(&ds->rec, chunk, coord);
    if (f->run && !run_covers(f->run, cs->object, cs->rank, coord, &f->index))
        run_done(ds->file->st, f);
    if (!f->run && (err = run_find(cs, coord, f))) {
        f->run = NULL;
        return err == DREP_ERR_NOT_FOUND ? 0 : err;
    }
    e->placed = f->run->rec.size == e->size;
    e->offset = f->run->rec.offset + f->index * f->run->rec.size;
    return 0;
}

/* Likewise slabs that were reported as one. */
static int find_places(drep_dataset *ds, struct remote_chunk *c, struct run_hit *f)
{
    int err = find_place(ds, c->chunk, f, &c->encoded);

    for (int64_t i = 1; !err && c->encoded.placed && i < c->slabs; i++) {
        struct encoded_chunk e = {.size = c->encoded.size};
        uint64_t behind = c->encoded.offset + (uint64_t)i * e.size;

        err = find_place(ds, c->chunk + i, f, &e);
        c->encoded.placed = e.placed;
        if (!err && !c->scattered && e.offset != behind) {
            c->scattered = mem_array((uint64_t)c->slabs, sizeof *c->scattered);
            err = c->scattered ? 0 : fail_nomem();
            for (int64_t k = 0; !err && k < i; k++)
                c->scattered[k] = c->encoded.offset + (uint64_t)k * e.size;
        }
        if (!err && c->scattered)
            c->scattered[i] = e.offset;
    }
    return err;
}

int remote_places(drep_dataset *ds, struct remote *r)
{
    struct run_hit f = {.run = NULL};
    int err = 0;

    for (size_t i = 0; !err && i < r->n; i++) {
        struct remote_chunk *c = &r->chunk[i];

        if (c->patched || (c->whole && !c->leased && ds->rec.layout == FMT_CONTIGUOUS))
            err = find_places(ds, c, &f);
        if (!err && (c->whole || c->patched) && !c->encoded.placed)
            err = fail(DREP_ERR_FAILED, "chunk number %lld got no place", (long long)c->chunk);
    }
    run_done(ds->file->st, &f);
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
    *out = c->slabs > 1 ? &slab_of((struct remote *)s, c, chunk)->encoded : &c->encoded;
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
    if (c->slabs > 1)
        out->given = &slab_of((struct remote *)s, c, chunk)->given;
    return 0;
}

void remote_begin(struct remote *r, struct transfer *t)
{
    static const struct part_source_ops ops = {source_is_whole, source_encodes, source_gives};

    r->source.ops = &ops;
    t->from = &r->source;
}
