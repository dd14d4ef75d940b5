/* owned.c - the chunks that a rank brings together in a collective write. */
/* SPDX-License-Identifier: MIT */
#include "par/owned.h"

#include "base/mem.h"
#include "base/vec.h"
#include "chunk/payload.h"
#include "chunk/work.h"
#include "chunk/write.h"
#include "elem/payload.h"
#include "par/ranks.h"
#include "par/patched.h"
#include "par/placement.h"
#include "format/block.h"

#include <string.h>

#define LARGE ((uint64_t)16 << 20) /* bytes of a chunk whose memory is given back */

/* Chunks that lie one behind the other in the file, as the slabs of contiguous data do, are written
 * together, up to a multiple of PIECE_BYTES: those that stand so in memory, too, where they are,
 * others from a copy. */
struct adjoining {
    struct io *io;
    const uint8_t *bytes; /* copy.p: copied */
    size_t size;
    uint64_t offset;
    struct buf copy;
};

static int adjoining_write(struct adjoining *s)
{
    int err = s->size > 0 ? s->io->ops->write_at(s->io, s->bytes, s->size, s->offset) : 0;

    s->size = s->copy.len = 0;
    return err;
}

/* Adds a chunk.  stays: its bytes are there until it is written. */
static int adjoining_add(struct adjoining *s, const uint8_t *bytes, size_t size, uint64_t offset,
                         bool stays)
{
    bool behind = s->size > 0 && offset == s->offset + s->size;
    bool copied = s->copy.len > 0;
    int err = 0;

    if (!behind || copied == stays || size > PIECE_BYTES - s->size ||
        (stays && bytes != s->bytes + s->size))
        err = adjoining_write(s);
    if (!err && size >= PIECE_BYTES)
        return s->io->ops->write_at(s->io, bytes, size, offset);
    if (!err && !stays)
        err = buf_reserve(&s->copy, PIECE_BYTES);
    if (!err && !stays)
        err = buf_add(&s->copy, bytes, size);
    if (err)
        return err;
    if (s->size == 0) {
        s->bytes = stays ? bytes : s->copy.p;
        s->offset = offset;
    }
    s->size += size;
    return (offset + size) % PIECE_BYTES == 0 ? adjoining_write(s) : 0;
}

static int put_u64(struct buf *b, uint64_t v)
{
    uint8_t bytes[8];

    store_u64(bytes, v);
    return buf_add(b, bytes, 8);
}

/* Report a chunk: number, size, skipped filters, offset, checksums. */
static int report_chunk(struct owning *m, const struct owned *o, uint64_t offset,
                        const uint64_t *sums, uint64_t n)
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

static bool is_foreseen(const struct owning *m, const struct owned *o)
{
    uint64_t slab = (uint64_t)o->chunk;

    return o->whole && slab >= m->foreseen.first && slab < m->foreseen.end;
}

static uint64_t foreseen_place(const struct owning *m, const struct owned *o)
{
    return m->foreseen.offset + ((uint64_t)o->chunk - m->foreseen.first) * m->t->ds->chunks.payload;
}

/* Report the checksums of plain bytes, one for each 4 KiB. */
static int report_sums(struct owning *m, const struct owned *o, const uint8_t *bytes)
{
    uint64_t n = sums_of(o->size), sum;
    int err = buf_reserve(&m->report, m->report.len + n * 8);

    for (uint64_t at = 0; !err && at < o->size; at += FMT_SUM_BLOCK) {
        uint64_t left = o->size - at;

        payload_sums(m->t->ds->file->st, bytes + at,
                     (size_t)(left < FMT_SUM_BLOCK ? left : FMT_SUM_BLOCK), &sum);
        err = put_u64(&m->report, sum);
    }
    return err;
}

static int report_plain(struct owning *m, const struct owned *o, const uint8_t *bytes)
{
    int err = report_chunk(m, o, 0, NULL, 0);

    return err ? err : report_sums(m, o, bytes);
}

/* Report a slab with those before it, if it follows them. */
static int report_slab(struct owning *m, struct owned *o, const uint8_t *bytes)
{
    int err = 0;

    if (!m->slabs || (uint64_t)(o->chunk - m->slabs->chunk) != m->slabs->slabs ||
        o->size != m->slabs->size) {
        o->slabs = 0;
        m->slabs = o;
        m->slabs_at = m->report.len;
        err = report_chunk(m, o, 0, NULL, 0);
        if (!err)
            store_u64(m->report.p + m->slabs_at + 16, REPORT_SLABS);
    }
    if (!err)
        err = report_sums(m, o, bytes);
    if (!err)
        store_u64(m->report.p + m->slabs_at + 24, ++m->slabs->slabs);
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
    return report_chunk(m, o, 0, &o->sum, 1);
}

/* A chunk that this rank has written alone. */
static int report_leased(struct owning *m, const struct leased *l)
{
    const struct owned o = {.chunk = l->chunk, .size = l->size, .skipped = l->skipped};

    return report_chunk(m, &o, l->offset, l->sums,
                        m->t->ds->chunks.nfilters > 0 ? 1 : sums_of(l->size));
}

/* Loads a chunk of which the file has a part, and brings it together. */
static int complete_chunk(const struct owning *m, const struct owned *o, struct buf *room)
{
    const struct piece *piece = m->piece + o->piece;
    bool variable = m->t->ds->ft->type->variable;
    uint64_t coord[DREP_MAX_RANK];
    struct buf stored = {0};
    size_t fixed;
    int err;

    chunk_coord(&m->t->ds->rec, o->chunk, coord);
    err = chunk_load(m->t->ds, coord, variable ? &stored : room, &fixed);
    if (!err && variable)
        err = chunk_join(m->t, piece, o->npieces, GROUND_STORED, &stored, o->fixed, room);
    else if (!err)
        err = chunk_assemble(m->t, m->shares, o->own, m->rank, piece, o->npieces, GROUND_STORED,
                             room->p, o->size);
    buf_release(&stored);
    return err;
}

/* Brings a chunk together in `room`, or says where it is. */
static int bring(const struct owning *m, const struct owned *o, struct buf *room,
                 const uint8_t **bytes)
{
    const struct piece *piece = m->piece + o->piece;
    enum ground ground = o->whole ? GROUND_FILL : GROUND_NONE;
    int err = 0;

    *bytes = o->own && o->npieces == 0 ? share_in_memory(m->t, m->shares, o->own, o->size) : NULL;
    if (*bytes)
        return 0;
    if (o->completed)
        err = complete_chunk(m, o, room);
    else if (m->t->ds->ft->type->variable)
        err = chunk_join(m->t, piece, o->npieces, ground, NULL, o->fixed, room);
    else if (!(err = buf_reserve(room, o->size)))
        err = chunk_assemble(m->t, m->shares, o->own, m->rank, piece, o->npieces, ground, room->p,
                             o->size);
    *bytes = room->p;
    return err;
}

/* Likewise in memory that is kept. */
static int bring_to_memory(const struct owning *m, struct owned *o)
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

/* Report a patched chunk: where it is written, and the checksums there. */
static int report_patched(struct owning *m, const struct owned *o, const struct patched *p,
                          const uint8_t *bytes)
{
    uint64_t *sums = mem_zalloc(p->blocks + 1, sizeof *sums), from, to = 0, stretches = 0;
    const struct store *st = m->t->ds->file->st;
    int err = sums ? put_u64(&m->report, (uint64_t)o->chunk) : fail_nomem();
    int64_t first, end = 0;

    while (!err && patched_next(p, &from, &to))
        payload_sums(st, bytes + from, (size_t)(to - from), sums + from / FMT_SUM_BLOCK);
    while (m->loose && patched_stretch(p, &first, &end))
        stretches++;
    if (!err)
        err = put_u64(&m->report, o->size);
    if (!err)
        err = put_u64(&m->report, REPORT_PATCHED);
    if (!err)
        err = put_u64(&m->report, stretches);
    for (uint64_t i = 0; !err && i < p->blocks; i++)
        err = put_u64(&m->report, sums[i]);
    for (end = 0; !err && stretches > 0 && patched_stretch(p, &first, &end);) {
        err = put_u64(&m->report, (uint64_t)first);
        if (!err)
            err = put_u64(&m->report, (uint64_t)(end - first));
    }
    mem_free(sums);
    return err;
}

/* Bring a patched chunk together.  A user's functions are not called a second time: then it is
 * kept.
 */
static int own_patched(struct owning *m, struct owned *o, struct buf *room)
{
    struct buf large = {0};
    struct patched p;
    int err = patched_begin(&p, m, o);

    room = o->fixed > LARGE ? &large : room;
    if (!err)
        err = patched_bring(&p, 0, room);
    if (!err)
        err = report_patched(m, o, &p, room->p);
    if (!err && conv_calls(&m->t->conv) && !(o->bytes = mem_alloc(o->size + 1)))
        err = fail_nomem();
    if (!err && o->bytes)
        memcpy(o->bytes, room->p, (size_t)o->size);
    patched_release(&p);
    buf_release(&large);
    return err;
}

/* True for a chunk that is not encoded, and must not be brought together a second time: a user's
 * functions would be called again, or the file has changed.  Variable length came converted. */
static bool is_kept(const struct owning *m, const struct owned *o)
{
    const drep_dataset *ds = m->t->ds;

    if (!o->whole)
        return true;
    return ds->chunks.nfilters == 0 &&
           (o->completed || (conv_calls(&m->t->conv) && !ds->ft->type->variable));
}

/* Brings one chunk together. */
static int own_chunk(struct owning *m, struct work *w, struct owned *o, struct adjoining *joined)
{
    drep_dataset *ds = m->t->ds;
    struct buf *room = work_buf(w);
    bool foreseen = is_foreseen(m, o);
    const uint8_t *bytes;
    int err;

    if (!foreseen)
        m->slabs = NULL;
    if (o->patched)
        return own_patched(m, o, room);
    if (is_kept(m, o)) {
        err = bring_to_memory(m, o);
        bytes = o->bytes;
    } else {
        err = bring(m, o, room, &bytes);
        if (ds->ft->type->variable)
            o->size = room->len;
    }
    if (err || !o->whole)
        return err;
    if (ds->chunks.nfilters > 0)
        return report_encoded(m, w, o, bytes);
    err = m->joins && foreseen ? report_slab(m, o, bytes) : report_plain(m, o, bytes);
    if (err || !foreseen)
        return err;
    o->written = ranks_of(ds->file)->wrote = true;
    return adjoining_add(joined, bytes, (size_t)o->size, foreseen_place(m, o), bytes != room->p);
}

int own_chunks(struct owning *m)
{
    struct store *st = m->t->ds->file->st;
    struct adjoining joined = {.io = ranks_io(m->t->ds->file)};
    struct work *w = work_take(st);
    int err = w ? 0 : fail_nomem();

    for (size_t i = 0; !err && i < m->n; i++)
        err = own_chunk(m, w, &m->owned[i], &joined);
    if (!err)
        err = adjoining_write(&joined);
    buf_release(&joined.copy);
    work_give(st, w);
    return err;
}

/* True if the file may have something of a chunk that this rank writes whole, for elements of
 * several ranks may be the same ones; and of members of elements that single ranks wrote. */
static bool is_completed(const struct owning *m, const struct owned *o, int64_t total)
{
    size_t n = o->npieces + (o->own != NULL);

    if ((!o->whole && total >= 0) || (m->how != TOGETHER_ALONE && m->how != TOGETHER_LAST))
        return false;
    return (m->how == TOGETHER_LAST && n > 1) || total < chunk_extent(&m->t->ds->rec, o->chunk);
}

/* Lists one chunk, of which this rank has `own`, or NULL, and n pieces. */
static int list_chunk(struct owning *m, int64_t chunk, const struct share *own, size_t piece,
                      size_t n)
{
    drep_dataset *ds = m->t->ds;
    int64_t total = own ? own->n : 0;
    bool ranges = own && own->ranges;
    struct owned *o;

    for (size_t i = piece; i < piece + n; i++) {
        total += (int64_t)m->piece[i].n;
        ranges |= m->piece[i].ranges.n > 0;
    }
    if (VEC_ROOM(m->owned, m->n, m->room, 1))
        return fail_nomem();
    o = &m->owned[m->n++];
    *o = (struct owned){.chunk = chunk,
                        .whole = own ? own->whole
                                     : chunk_is_whole(ds, m->how, chunk, ranges ? -1 : total, n),
                        .size = ds->chunks.payload,
                        .own = own,
                        .piece = piece,
                        .npieces = n};
    if (ds->rec.layout != FMT_CHUNKED) /* the last slab may be short */
        o->size = bytes_of(ds, chunk_extent(&ds->rec, chunk));
    o->fixed = o->size;
    o->patched = own ? share_is_patched(own) : !o->whole && chunk_is_patched(ds, m->how, ranges);
    o->completed = is_completed(m, o, ranges ? -1 : total);
    return 0;
}

int own_list(struct owning *m, const struct team_inbox *in)
{
    bool itself = sends_itself(m->t->ds, m->shares);
    size_t i = 0, k = 0, end;
    int err = pieces_list(m->t->ds, in, &m->piece, &m->npieces);

    while (!err && (i < m->shares->n || k < m->npieces)) {
        const struct share *own = i < m->shares->n ? &m->shares->share[i] : NULL;

        if (own && (own->owner != m->rank || own->leased || itself)) {
            err = own->leased ? report_leased(m, own->leased) : 0;
            i++;
            continue;
        }
        if (own && k < m->npieces && m->piece[k].chunk < own->chunk)
            own = NULL;
        for (end = k;
             end < m->npieces && m->piece[end].chunk == (own ? own->chunk : m->piece[k].chunk);)
            end++;
        err = list_chunk(m, own ? own->chunk : m->piece[k].chunk, own, k, end - k);
        k = end;
        i += own != NULL;
    }
    return err;
}

int owned_completed(const struct owning *m, struct shares *out)
{
    for (size_t i = 0; i < m->n; i++) {
        if (!m->owned[i].completed && !m->owned[i].patched)
            continue;
        if (VEC_ROOM(out->share, out->n, out->room, 1))
            return fail_nomem();
        out->share[out->n++] = (struct share){.chunk = m->owned[i].chunk};
    }
    return 0;
}

/* Write the blocks of a patched chunk, from its first `end` bytes, to where it is at `place`. */
static int write_blocks(struct owning *m, const struct patched *p, const uint8_t *bytes,
                        uint64_t place, uint64_t end, struct adjoining *joined)
{
    uint64_t from, to = 0;
    int err = 0;

    while (!err && patched_next(p, &from, &to) && from < end) {
        uint64_t size = (to < end ? to : end) - from;

        err = adjoining_add(joined, bytes + from, (size_t)size, place + from, false);
        ranks_of(m->t->ds->file)->counted.written += size;
    }
    return err;
}

/* Write a patched chunk to where it is, and where it would have left bytes. */
static int write_patched(struct owning *m, struct owned *o, const uint8_t *told, struct buf *room,
                         struct adjoining *joined)
{
    uint64_t place = load_u64(told), left = load_u64(told + 16);
    const uint8_t *bytes = o->bytes;
    struct buf large = {0};
    struct patched p;
    int err = patched_begin(&p, m, o);

    room = o->fixed > LARGE ? &large : room;
    if (!err && !bytes)
        err = patched_bring(&p, place, room);
    bytes = bytes ? bytes : room->p;
    if (!err && left > 0)
        err = write_blocks(m, &p, bytes, load_u64(told + 8), left, joined);
    if (!err)
        err = write_blocks(m, &p, bytes, place, UINT64_MAX, joined);
    patched_release(&p);
    buf_release(&large);
    return err;
}

/* Write a whole chunk to where it is. */
static int write_chunk(struct owning *m, const struct owned *o, uint64_t place, struct buf *room,
                       struct adjoining *joined)
{
    struct ranks *r = ranks_of(m->t->ds->file);
    const uint8_t *bytes = o->bytes;
    int err = 0;

    r->counted.written += o->size;
    if (o->written && place == foreseen_place(m, o)) {
        r->counted.foreseen += o->size;
        return 0;
    }
    if (!bytes)
        err = bring(m, o, room, &bytes);
    return err ? err : adjoining_add(joined, bytes, (size_t)o->size, place, bytes != room->p);
}

/* Likewise slabs that were reported as one; *k is behind what was told of them then. */
static int write_slab_group(struct owning *m, const struct owned *o, const uint8_t *told, size_t *k,
                            struct buf *room, struct adjoining *joined)
{
    uint64_t first = load_u64(told + *k), payload = m->t->ds->chunks.payload;
    int err = 0;

    *k += PLACE_WHOLE;
    for (uint64_t i = 0; !err && i < o->slabs; i++) {
        err =
            write_chunk(m, &o[i], first ? first + i * payload : load_u64(told + *k), room, joined);
        *k += first ? 0 : PLACE_WHOLE;
    }
    return err;
}

/* Elements are converted again without a report, which has counted them. */
int owned_write(struct owning *m, struct io *io, const uint8_t *places, size_t size)
{
    struct store *st = m->t->ds->file->st;
    struct work *w = work_take(st);
    struct buf *room = w ? work_buf(w) : NULL;
    const drep_xfer *xfer = m->t->xfer;
    struct losses *report = m->t->conv.opts.report;
    struct adjoining joined = {.io = io};
    int err = w ? 0 : DREP_ERR_NOMEM;

    m->t->xfer = NULL;
    m->t->conv.opts.report = NULL; /* for now */
    for (size_t i = 0, k = 0; !err && i < m->n && k < size; i++) {
        struct owned *o = &m->owned[i];

        if (o->patched) {
            err = write_patched(m, o, places + k, room, &joined);
            k += PLACE_PATCHED;
        } else if (o->slabs > 0) {
            err = write_slab_group(m, o, places, &k, room, &joined);
        } else if (o->whole && !(m->joins && o->written)) {
            err = write_chunk(m, o, load_u64(places + k), room, &joined);
            k += PLACE_WHOLE;
        }
    }
    if (!err)
        err = adjoining_write(&joined);
    buf_release(&joined.copy);
    m->t->xfer = xfer;
    m->t->conv.opts.report = report;
    work_give(st, w);
    return err;
}

uint64_t owned_kept(const struct owning *m)
{
    uint64_t n = 0;

    for (size_t i = 0; i < m->n; i++)
        n += m->owned[i].bytes ? m->owned[i].size : 0;
    return n;
}

void owning_release(struct owning *m)
{
    for (size_t i = 0; i < m->n; i++)
        mem_free(m->owned[i].bytes);
    mem_free(m->owned);
    mem_free(m->piece);
    buf_release(&m->report);
    *m = (struct owning){.t = NULL};
}
