/* leased.c - whole chunks that a rank writes alone, at once. */
/* SPDX-License-Identifier: MIT */
#include "par/leased.h"

#include "base/mem.h"
#include "base/vec.h"
#include "chunk/payload.h"
#include "chunk/read.h"
#include "chunk/write.h"
#include "par/pieces.h"
#include "par/leases.h"
#include "format/block.h"

#include <string.h>

/* ---- what is kept ---- */

static uint64_t id_of(int64_t chunk)
{
    return (uint64_t)chunk + 1;
}

struct leased *leased_find(const struct pending *p, int64_t chunk)
{
    const uintptr_t *at = idset_find(&p->leased_at, id_of(chunk));

    return at && *at ? &p->leased[*at - 1] : NULL;
}

int leased_reserve(struct pending *p, const struct leased *l, size_t n)
{
    if (VEC_ROOM(p->leased, p->nleased, p->leased_room, n))
        return fail_nomem();
    for (size_t i = 0; i < n; i++)
        if (!idset_add(&p->leased_at, id_of(l[i].chunk)))
            return fail_nomem();
    return 0;
}

void leased_release(struct ranks *r, struct leased *l)
{
    leases_free(r, l->offset, l->size);
    mem_free(l->sums);
    l->sums = NULL;
}

void leased_drop(struct ranks *r, struct pending *p, int64_t chunk)
{
    struct leased *l = leased_find(p, chunk), *last;

    if (!l)
        return;
    last = &p->leased[p->nleased - 1];
    leased_release(r, l);
    *idset_find(&p->leased_at, id_of(last->chunk)) = (uintptr_t)(l - p->leased) + 1;
    *idset_find(&p->leased_at, id_of(chunk)) = 0;
    *l = *last;
    p->nleased--;
}

void leased_set(struct ranks *r, struct pending *p, const struct leased *l)
{
    uintptr_t *at = idset_find(&p->leased_at, id_of(l->chunk));

    if (*at)
        leased_release(r, &p->leased[*at - 1]);
    else
        *at = ++p->nleased;
    p->leased[*at - 1] = *l;
}

/* ---- writing ---- */

/* True if the runs of a share name no element twice; `seen` has a bit for each of the chunk. */
static bool named_once(const struct shares *s, const struct share *share, uint64_t *seen, int64_t n)
{
    memset(seen, 0, ((size_t)n / 64 + 1) * sizeof *seen);
    for (size_t i = 0; i < share->runs; i++) {
        const struct share_run *r = &s->run[share->first + i];

        for (int64_t k = 0, at = r->at; k < r->n; k++, at += r->step) {
            if (seen[at / 64] >> at % 64 & 1)
                return false;
            seen[at / 64] |= (uint64_t)1 << at % 64;
        }
    }
    return true;
}

bool leased_may(const struct transfer *t, const struct shares *s, const struct share *share,
                uint64_t *seen)
{
    const drep_dataset *ds = t->ds;

    return !ds->ft->type->variable && !writes_members(t) && !chunk_is_short(ds, share->chunk) &&
           share->n == chunk_extent(&ds->rec, share->chunk) &&
           (selection_is_box(t->sel) || named_once(s, share, seen, chunk_elements(ds)));
}

/* Encode and sum what the file will have of a chunk. */
static int encode(drep_dataset *ds, struct work *w, const uint8_t *bytes, struct leased *out,
                  struct span *stored)
{
    bool filtered = ds->chunks.nfilters > 0;
    uint64_t size = ds->chunks.payload;
    int err = 0;

    *stored = (struct span){bytes, (size_t)size};
    if (filtered)
        err = chunk_encode(w, &ds->chunks, bytes, size, stored, &out->skipped);
    if (err)
        return err;
    out->size = stored->len;
    out->sums = mem_array(filtered ? 1 : sums_of(size) + 1, sizeof *out->sums);
    if (!out->sums)
        return fail_nomem();
    if (filtered)
        out->sums[0] = sum_stored(stored->p, stored->len);
    else
        payload_sums(ds->file->st, stored->p, stored->len, out->sums);
    return 0;
}

/* Write it to space of a lease.  What cannot be written there may be written elsewhere later. */
static bool write_stored(drep_dataset *ds, const struct span *stored, struct leased *out)
{
    struct io *io = ranks_io(ds->file);
    struct ranks *r = ranks_of(ds->file);
    uint64_t align = ds->chunks.nfilters ? FMT_ALIGN : chunk_align(ds->file->st, stored->len);

    if (!leases_alloc(ds->file, stored->len, align, &out->offset))
        return false;
    if (io->ops->write_at(io, stored->p, stored->len, out->offset)) {
        leases_free(r, out->offset, stored->len);
        return false;
    }
    r->wrote = true;
    return true;
}

int leased_write(struct transfer *t, struct work *w, const struct shares *s,
                 const struct share *share, struct leased *out, const uint8_t **elements)
{
    drep_dataset *ds = t->ds;
    uint64_t size = ds->chunks.payload;
    struct buf *room = work_buf(w);
    const uint8_t *bytes = share_in_memory(t, s, share, size);
    struct span stored = {0};
    int err = 0;

    *elements = NULL;
    *out = (struct leased){.chunk = share->chunk};
    if (!bytes) {
        err = buf_reserve(room, size);
        if (!err)
            err = chunk_assemble(t, s, share, ranks_of(ds->file)->team.rank, NULL, 0, GROUND_FILL,
                                 room->p, size);
        bytes = room->p;
    }
    if (!err)
        err = encode(ds, w, bytes, out, &stored);
    if (!err && write_stored(ds, &stored, out))
        return 0;
    mem_free(out->sums);
    *elements = bytes;
    return err;
}

/* ---- reading ---- */

int leased_load(const drep_dataset *ds, struct work *w, const struct leased *l, struct buf *b)
{
    struct store *st = ds->file->st;
    int err;

    if (ds->chunks.nfilters > 0) {
        struct chunk_rec rec = {.kind = FMT_CHUNK_PLACED,
                                .filtered = true,
                                .skipped = l->skipped,
                                .run = 1,
                                .offset = l->offset,
                                .size = l->size,
                                .nsums = 1};

        rec.sum[0] = l->sums[0];
        return chunk_decode(w, &ds->chunks, &rec, b);
    }
    err = buf_reserve(b, l->size);
    if (!err) {
        struct chunk_run run = {.rec = {.run = 1, .offset = l->offset, .size = l->size},
                                .sum = l->sums};

        err = payload_read(st, &run, 0, 1, b->p);
        b->len = (size_t)l->size;
    }
    return err;
}
