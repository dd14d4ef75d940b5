/* remote.c - chunks that come from other ranks, as rank 0's store writes them. */
/* SPDX-License-Identifier: MIT */
#include "elem/remote.h"

#include "chunk/edit.h"
#include "chunk/payload.h"
#include "chunk/plan.h"
#include "chunk/write.h"

#include <string.h>

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

int remote_whole(struct transfer *t, const uint64_t *coord, struct remote_chunk **out)
{
    int64_t chunk = chunk_number(&t->ds->rec, coord);

    int err = await(t->remote, chunk, out);

    return err ? err : *out && (*out)->whole ? 0 : not_here(chunk, "all");
}

int remote_place(struct transfer *t, const uint64_t *coord, uint64_t offset, uint64_t *sums)
{
    struct remote_chunk *c;
    int err = remote_whole(t, coord, &c);

    if (err)
        return err;
    memcpy(sums, c->sums, (size_t)sums_of(c->size) * sizeof *sums);
    c->offset = offset;
    c->placed = true;
    return 0;
}

static int leased_sums(void *ctx, uint64_t i, uint64_t offset, uint64_t *sums)
{
    const struct remote_chunk *c = ctx;

    (void)i;
    (void)offset;
    memcpy(sums, c->sums, (size_t)sums_of(c->size) * sizeof *sums);
    return 0;
}

int remote_record(drep_dataset *ds, const struct remote_chunk *c)
{
    struct remote_chunk copy = *c;
    uint64_t coord[DREP_MAX_RANK];

    chunk_coord(&ds->rec, c->chunk, coord);
    chunk_forget(&ds->chunks, coord);
    if (ds->chunks.nfilters > 0)
        return plan_filtered(&ds->chunks, coord, c->size, c->sums[0], c->skipped, &copy.offset);
    return chunk_place_plain(&ds->chunks, coord, c->size, c->offset, leased_sums, &copy);
}

int remote_part(struct transfer *t, const uint64_t *coord, struct conv *c)
{
    int64_t chunk = chunk_number(&t->ds->rec, coord);
    struct remote_chunk *from;
    int err = await(t->remote, chunk, &from);

    if (err)
        return err;
    if (!from || !from->elements)
        return not_here(chunk, "the elements");
    t->mem = from->elements;
    c->heap = from->heap;
    c->heap_size = from->heap_size;
    return 0;
}
