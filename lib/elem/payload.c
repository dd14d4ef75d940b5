/* payload.c - whole payloads: the elements of a chunk or of a compact dataset, fill included. */
/* SPDX-License-Identifier: MIT */
#include "elem/payload.h"

#include "base/mem.h"
#include "chunk/read.h"
#include "chunk/work.h"
#include "conv/heap.h"
#include "elem/fill.h"
#include "tree/find.h"

#include <string.h>

/* ---- elements outside the shape ---- */

/* Elements of a chunk inside the shape, by dimension. False: all of them are. */
static bool chunk_cut(const struct object_rec *r, const uint64_t *coord, uint64_t *inside)
{
    bool cut = false;

    for (int d = 0; r->layout == FMT_CHUNKED && d < r->rank; d++) {
        inside[d] = chunk_len(r, coord, d);
        cut |= inside[d] < r->chunk[d];
    }
    return cut;
}

/* Copies the elements inside to a row of them alone, or back. Returns their number. */
static int64_t inside_copy(const drep_dataset *ds, const uint64_t *inside, uint8_t *chunk,
                           uint8_t *alone, bool back)
{
    const struct object_rec *r = &ds->rec;
    int last = r->rank - 1;
    size_t row = r->chunk[last] * (size_t)ds->esize,
           size = (size_t)inside[last] * (size_t)ds->esize;
    const uint8_t *begin = alone;

    for (uint64_t at = 0; at * row < ds->chunks.payload; at++, chunk += row) {
        uint64_t left = at;
        bool in = true;

        for (int d = last - 1; d >= 0; left /= r->chunk[d--])
            in &= left % r->chunk[d] < inside[d];
        if (!in)
            continue;
        memcpy(back ? chunk : alone, back ? alone : chunk, size);
        alone += size;
    }
    return (alone - begin) / ds->esize;
}

static int contents_check(const drep_dataset *ds, const uint8_t *elems, int64_t n,
                          const struct buf *payload)
{
    size_t fixed = (size_t)ds->chunks.payload;

    return heap_check(NULL, PROG_PACKED, &ds->ft->stored, elems, n, payload->p + fixed,
                      payload->len - fixed);
}

/* What elements outside the shape say of the heap means nothing (R5.32): those inside are looked at
 * alone. */
static int inside_check(const drep_dataset *ds, const uint64_t *inside, const struct buf *payload)
{
    uint8_t *alone = mem_alloc(ds->chunks.payload);
    int err = alone ? 0 : fail_nomem();

    if (!err)
        err = contents_check(ds, alone, inside_copy(ds, inside, payload->p, alone, false), payload);
    mem_free(alone);
    return err;
}

int payload_sweep(const drep_dataset *ds, const uint64_t *coord, struct buf *payload)
{
    uint64_t inside[DREP_MAX_RANK], full = ds->chunks.payload;
    struct fail_state said;
    uint8_t *alone;

    if (!ds->ft->type->variable || ds->esize == 0 || payload->len < full ||
        !chunk_cut(&ds->rec, coord, inside))
        return 0;
    fail_save(&said);
    if (contents_check(ds, payload->p, chunk_elements(ds), payload) == 0)
        return 0;
    fail_restore(&said);
    alone = mem_alloc(full);
    if (!alone)
        return fail_nomem();
    inside_copy(ds, inside, payload->p, alone, false);
    memset(payload->p, 0, (size_t)full);
    inside_copy(ds, inside, payload->p, alone, true);
    mem_free(alone);
    return 0;
}

/* ---- checking ---- */

/* The chunk room calls this for every payload that it decodes or reads: what fails here never
 * reaches a converter. */
int payload_check(const struct chunks *cs, const uint64_t *coord, const struct buf *payload)
{
    uint64_t inside[DREP_MAX_RANK];
    const drep_dataset *ds =
        (const drep_dataset *)(const void *)((const char *)cs - offsetof(drep_dataset, chunks));
    uint64_t full = ds->chunks.payload;

    if (ds->esize == 0)
        return 0;
    if (!ds->ft->type->variable)
        return payload->len % (size_t)ds->esize == 0
                   ? 0
                   : fail(DREP_ERR_FORMAT, "%zu bytes of payload are no whole elements (R8.9)",
                          payload->len);
    if (payload->len == 0)
        return 0;
    if (payload->len < full)
        return fail(DREP_ERR_FORMAT, "a payload of %zu bytes, at least %llu expected (R8.9)",
                    payload->len, (unsigned long long)full);
    return chunk_cut(&ds->rec, coord, inside)
               ? inside_check(ds, inside, payload)
               : contents_check(ds, payload->p, chunk_elements(ds), payload);
}

/* ---- heaps ---- */

/* Moves the contents that the elements refer to into `heap` and makes the elements refer to it. */
int heap_renew(drep_dataset *ds, struct buf *b, size_t fixed, struct buf *heap)
{
    heap->len = 0;
    return heap_move(&ds->ft->stored, b->p,
                     ds->esize > 0 ? (int64_t)(fixed / (size_t)ds->esize) : 0, b->p + fixed,
                     b->len - fixed, 0, heap);
}

int heap_append(struct buf *b, size_t fixed, const struct buf *heap)
{
    int err = buf_reserve(b, fixed + heap->len);

    if (!err && heap->len > 0)
        memcpy(b->p + fixed, heap->p, heap->len);
    b->len = fixed + heap->len;
    return err;
}

/* ---- loading ---- */

/* Completes a payload with fill. The contents of the fill value stand in the heap once, however
 * many elements refer to them. */
int payload_complete(drep_dataset *ds, struct buf *b, bool *shared)
{
    uint64_t full = ds->chunks.payload, have = b->len;
    int err = 0;

    *shared = false;
    if (have >= full)
        return 0;
    err = buf_reserve(b, full + ds->fill_heap.len);
    if (!err)
        err = fill_bytes(ds, b->p + have, have, full - have);
    if (err)
        return err;
    if (ds->fill_heap.len > 0)
        memcpy(b->p + full, ds->fill_heap.p, ds->fill_heap.len);
    b->len = (size_t)full + ds->fill_heap.len;
    *shared = ds->fill_heap.len > 0;
    return 0;
}

/* Loads a chunk: decoded, or the stored bytes of an unfiltered one; then completes it. */
int chunk_load(drep_dataset *ds, const uint64_t *coord, struct buf *b, size_t *fixed)
{
    bool shared;
    int err = chunk_read_all(&ds->chunks, coord, b);

    if (!err)
        err = payload_sweep(ds, coord, b);
    if (!err)
        err = payload_complete(ds, b, &shared);
    *fixed = (size_t)ds->chunks.payload;
    return err;
}

/* Holds the references of a compact dataset against its heap. */
static int compact_check(const drep_dataset *ds, const struct buf *b, size_t fixed)
{
    if (!ds->ft->type->variable || ds->esize == 0)
        return 0;
    return heap_check(NULL, PROG_PACKED, &ds->ft->stored, b->p,
                      (int64_t)(fixed / (size_t)ds->esize), b->p + fixed, b->len - fixed);
}

/* Loads the value of the tree that holds a compact dataset. Only payloads of fixed length may be
 * shorter than the shape asks for. */
int compact_load(drep_dataset *ds, struct buf *b, size_t *fixed)
{
    uint64_t full = bytes_of(ds, dataset_count(ds));
    struct key key;
    size_t have;
    int err;

    key_make(&key, ds->id, FMT_TAG_DATA);
    b->len = 0;
    err = tree_get(ds->file->st, &key, b);
    if (err && err != DREP_ERR_NOT_FOUND)
        return err;
    have = !err ? b->len : 0;
    *fixed = (size_t)full; /* if memory can hold it */
    if (have > full && !ds->ft->type->variable)
        return fail(DREP_ERR_FORMAT, "%zu bytes of payload for %llu (R8.9)", have,
                    (unsigned long long)full);
    if (have >= full)
        return compact_check(ds, b, *fixed);
    if (ds->ft->type->variable && have > 0)
        return fail(DREP_ERR_FORMAT, "%zu bytes of payload, %llu expected (R8.9)", have,
                    (unsigned long long)full);
    if (have % (size_t)ds->esize != 0)
        return fail(DREP_ERR_FORMAT, "%zu bytes of payload are no whole elements (R8.9)", have);
    if ((err = buf_reserve(b, full + ds->fill_heap.len)))
        return err;
    if ((err = fill_bytes(ds, b->p + have, have, full - have)))
        return err;
    if (ds->fill_heap.len > 0)
        memcpy(b->p + *fixed, ds->fill_heap.p, ds->fill_heap.len);
    b->len = *fixed + ds->fill_heap.len;
    return 0;
}
