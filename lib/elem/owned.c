/* owned.c - the chunks that a rank brings together in a collective write. */
/* SPDX-License-Identifier: MIT */
#include "elem/owned.h"

#include "base/mem.h"
#include "base/vec.h"
#include "chunk/payload.h"
#include "chunk/work.h"
#include "chunk/write.h"
#include "format/block.h"

#include <string.h>

static int put_u64(struct buf *b, uint64_t v)
{
    uint8_t bytes[8];

    store_u64(bytes, v);
    return buf_add(b, bytes, 8);
}

/* Report a chunk: number, size, skipped filters, offset, checksums. */
static int report(struct owning *m, const struct owned *o, uint64_t offset, const uint64_t *sums,
                  uint64_t n)
{
    int err = put_u64(&m->report, (uint64_t)o->chunk);

    if (!err)
        err = put_u64(&m->report, o->size);
    if (!err)
        err = put_u64(&m->report, o->skipped);
    if (!err)
        err = put_u64(&m->report, offset);
    if (!err)
        err = buf_reserve(&m->report, m->report.len + n * 8);
    for (uint64_t i = 0; !err && i < n; i++)
        err = put_u64(&m->report, sums[i]);
    return err;
}

/* Sums a plain chunk, a number for each 4 KiB. */
static int report_plain(struct owning *m, const struct owned *o, const uint8_t *bytes)
{
    uint64_t n = sums_of(o->size);
    uint64_t *sums = mem_array(n + 1, sizeof *sums);
    int err = sums ? 0 : fail_nomem();

    if (!err) {
        payload_sums(m->t->ds->file->st, bytes, (size_t)o->size, sums);
        err = report(m, o, 0, sums, n);
    }
    mem_free(sums);
    return err;
}

/* Encodes a chunk and keeps the encoded form. */
static int report_encoded(struct owning *m, struct work *w, struct owned *o, const uint8_t *bytes)
{
    struct span out = {0};
    int err = chunk_encode(w, &m->t->ds->chunks, bytes, o->size, &out, &o->skipped);

    if (!err && !(o->bytes = mem_alloc(out.len + 1)))
        err = fail_nomem();
    if (err)
        return err;
    memcpy(o->bytes, out.p, out.len);
    o->size = out.len;
    o->sum = sum_stored(o->bytes, out.len);
    return report(m, o, 0, &o->sum, 1);
}

/* A chunk that this rank has written alone. */
static int report_leased(struct owning *m, const struct leased *l)
{
    const struct owned o = {.chunk = l->chunk, .size = l->size, .skipped = l->skipped};

    return report(m, &o, l->offset, l->sums, m->t->ds->chunks.nfilters > 0 ? 1 : sums_of(l->size));
}

/* Brings a chunk together in `room`, or says where it is. */
static int bring(const struct owning *m, const struct owned *o, struct buf *room,
                 const uint8_t **bytes)
{
    const struct piece *piece = m->piece + o->piece;
    int err = 0;

    *bytes = o->own && o->npieces == 0 ? share_in_memory(m->t, m->shares, o->own, o->size) : NULL;
    if (*bytes)
        return 0;
    if (m->t->ds->ft->type->variable)
        err = chunk_join(m->t, piece, o->npieces, o->whole, o->fixed, room);
    else if (!(err = buf_reserve(room, o->size)))
        err = chunk_assemble(m->t, m->shares, o->own, m->rank, piece, o->npieces, o->whole, room->p,
                             o->size);
    *bytes = room->p;
    return err;
}

/* Likewise in memory that is kept. */
static int bring_to_keep(const struct owning *m, struct owned *o)
{
    struct buf own = {0};
    const uint8_t *bytes;
    int err = bring(m, o, &own, &bytes);

    if (!err && bytes != own.p)
        err = buf_set(&own, bytes, (size_t)o->size);
    if (m->t->ds->ft->type->variable)
        o->size = own.len;
    o->bytes = own.p;
    return err;
}

/* Brings one chunk together from what this rank has of it and n pieces.  What must not be converted
 * twice, by a user's functions, is kept; but variable length came converted. */
static int own_chunk(struct owning *m, struct work *w, int64_t chunk, const struct share *own,
                     size_t piece, size_t n)
{
    drep_dataset *ds = m->t->ds;
    bool variable = ds->ft->type->variable;
    int64_t total = own ? own->n : 0;
    struct buf *room = work_buf(w);
    const uint8_t *bytes;
    struct owned *o;
    int err;

    for (size_t i = piece; i < piece + n; i++)
        total += (int64_t)m->piece[i].n;
    if (VEC_ROOM(m->owned, m->n, m->room, 1))
        return fail_nomem();
    o = &m->owned[m->n++];
    *o = (struct owned){.chunk = chunk,
                        .whole = own ? own->whole : chunk_is_whole(ds, m->how, chunk, total, n),
                        .size = ds->chunks.payload,
                        .own = own,
                        .piece = piece,
                        .npieces = n};
    if (ds->rec.layout != FMT_CHUNKED) /* the last slab may be short */
        o->size = bytes_of(ds, chunk_extent(&ds->rec, chunk));
    o->fixed = o->size;
    if (!o->whole || (conv_calls(&m->t->conv) && ds->chunks.nfilters == 0 && !variable)) {
        err = bring_to_keep(m, o);
        bytes = o->bytes;
    } else {
        err = bring(m, o, room, &bytes);
        if (variable)
            o->size = room->len;
    }
    if (err || !o->whole)
        return err;
    return ds->chunks.nfilters > 0 ? report_encoded(m, w, o, bytes) : report_plain(m, o, bytes);
}

int own_chunks(struct owning *m, const struct team_inbox *in)
{
    struct store *st = m->t->ds->file->st;
    struct work *w = work_take(st);
    size_t i = 0, k = 0, end;
    int err = w ? pieces_list(m->t->ds, in, &m->piece, &m->npieces) : DREP_ERR_NOMEM;

    if (m->t->ds->ft->type->variable)
        i = m->shares->n;
    while (!err && (i < m->shares->n || k < m->npieces)) {
        const struct share *own = i < m->shares->n ? &m->shares->share[i] : NULL;

        if (own && (own->owner != m->rank || own->leased)) {
            err = own->leased ? report_leased(m, own->leased) : 0;
            i++;
            continue;
        }
        if (own && k < m->npieces && m->piece[k].chunk < own->chunk)
            own = NULL;
        for (end = k;
             end < m->npieces && m->piece[end].chunk == (own ? own->chunk : m->piece[k].chunk);)
            end++;
        err = own_chunk(m, w, own ? own->chunk : m->piece[k].chunk, own, k, end - k);
        k = end;
        i += own != NULL;
    }
    work_give(st, w);
    return err;
}

/* Elements are converted again without a report, which has counted them. */
int owned_write(struct owning *m, struct io *io, const uint8_t *places, size_t size)
{
    struct store *st = m->t->ds->file->st;
    struct work *w = work_take(st);
    struct buf *room = w ? work_buf(w) : NULL;
    int err = w ? 0 : DREP_ERR_NOMEM;

    m->t->xfer = NULL;
    m->t->conv.opts.report = NULL;
    for (size_t i = 0, k = 0; !err && i < m->n && k < size; i++) {
        const struct owned *o = &m->owned[i];
        const uint8_t *bytes = o->bytes;

        if (!o->whole)
            continue;
        if (!bytes)
            err = bring(m, o, room, &bytes);
        if (!err)
            err = io->ops->write_at(io, bytes, (size_t)o->size, load_u64(places + k));
        k += 8;
    }
    work_give(st, w);
    return err;
}

void owning_release(struct owning *m)
{
    for (size_t i = 0; i < m->n; i++)
        mem_free(m->owned[i].bytes);
    mem_free(m->owned);
    mem_free(m->piece);
    buf_release(&m->report);
}
