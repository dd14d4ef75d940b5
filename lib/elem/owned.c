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

/* Report a chunk: number, size, skipped filters, checksums. */
static int report(struct owning *m, const struct owned *o, const uint64_t *sums, uint64_t n)
{
    int err = put_u64(&m->report, (uint64_t)o->chunk);

    if (!err)
        err = put_u64(&m->report, o->size);
    if (!err)
        err = put_u64(&m->report, o->skipped);
    if (!err)
        err = buf_reserve(&m->report, m->report.len + n * 8);
    for (uint64_t i = 0; !err && i < n; i++)
        err = put_u64(&m->report, sums[i]);
    return err;
}

/* Sums a plain chunk, a number for each 4 KiB. */
static int report_plain(struct owning *m, struct owned *o)
{
    uint64_t n = sums_of(o->size);
    uint64_t *sums = mem_array(n + 1, sizeof *sums);
    int err = sums ? 0 : fail_nomem();

    if (!err) {
        payload_sums(m->t->ds->file->st, o->bytes, (size_t)o->size, sums);
        err = report(m, o, sums, n);
    }
    mem_free(sums);
    return err;
}

/* The encoded form takes the place of the payload. */
static int report_encoded(struct owning *m, struct work *w, struct owned *o)
{
    struct span out = {0};
    uint8_t *bytes = NULL;
    int err = chunk_encode(w, &m->t->ds->chunks, o->bytes, o->size, &out, &o->skipped);

    if (!err && !(bytes = mem_alloc(out.len + 1)))
        err = fail_nomem();
    if (err)
        return err;
    memcpy(bytes, out.p, out.len);
    mem_free(o->bytes);
    o->bytes = bytes;
    o->size = out.len;
    o->sum = sum_stored(bytes, out.len);
    return report(m, o, &o->sum, 1);
}

/* Brings one chunk together from what this rank has of it and n pieces. */
static int own_chunk(struct owning *m, struct work *w, int64_t chunk, const struct share *own,
                     const struct piece *piece, size_t n)
{
    drep_dataset *ds = m->t->ds;
    bool filtered = ds->chunks.nfilters > 0;
    int64_t total = own ? own->n : 0;
    uint64_t size;
    bool whole;
    struct owned *o;
    int err;

    for (size_t i = 0; i < n; i++)
        total += (int64_t)piece[i].n;
    whole = own ? own->whole : chunk_is_whole(ds, m->how, chunk, total);
    size = ds->chunks.payload;
    if (ds->rec.layout != FMT_CHUNKED) /* the last slab may be short */
        size = bytes_of(ds, chunk_extent(&ds->rec, chunk));
    if (VEC_ROOM(m->owned, m->n, m->room, 1))
        return fail_nomem();
    o = &m->owned[m->n];
    *o = (struct owned){.chunk = chunk, .whole = whole, .size = size, .bytes = mem_alloc(size + 1)};
    if (!o->bytes)
        return fail_nomem();
    m->n++;
    err = chunk_assemble(m->t, m->shares, own, m->rank, piece, n, whole, o->bytes, size);
    if (err || !whole)
        return err;
    return filtered ? report_encoded(m, w, o) : report_plain(m, o);
}

int own_chunks(struct owning *m, const struct team_inbox *in)
{
    struct store *st = m->t->ds->file->st;
    struct work *w = work_take(st);
    size_t i = 0, k = 0, end;
    int err = w ? pieces_list(m->t->ds, in, &m->piece, &m->npieces) : DREP_ERR_NOMEM;

    while (!err && (i < m->shares->n || k < m->npieces)) {
        const struct share *own = i < m->shares->n ? &m->shares->share[i] : NULL;

        if (own && own->owner != m->rank) {
            i++;
            continue;
        }
        if (own && k < m->npieces && m->piece[k].chunk < own->chunk)
            own = NULL;
        for (end = k;
             end < m->npieces && m->piece[end].chunk == (own ? own->chunk : m->piece[k].chunk);)
            end++;
        err = own_chunk(m, w, own ? own->chunk : m->piece[k].chunk, own, m->piece + k, end - k);
        k = end;
        i += own != NULL;
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
