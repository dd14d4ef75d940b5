/* pieces.c - elements on their way to the owner of their chunk. */
/* SPDX-License-Identifier: MIT */
#include "par/pieces.h"

#include "base/mem.h"
#include "base/vec.h"
#include "elem/mover.h"
#include "elem/scatter.h"
#include "format/byteorder.h"

#include <stdio.h>
#include <string.h>

enum { HEAD = PIECE_HEAD, RUN = PIECE_RUN };

/* ---- this rank's elements ---- */

/* Hand the runs of a share to a mover. */
static int share_runs(struct part_mover *m, const struct shares *s, const struct share *share)
{
    int err = 0;

    for (size_t i = 0; !err && i < share->runs; i++) {
        const struct share_run *r = &s->run[share->first + i];

        err = part_run(m, r->at, r->step, r->n, r->mem);
    }
    return part_flush(m, err);
}

/* Runs become elements back to back. */
struct packing {
    struct part_mover m;
    uint8_t *p;
};

static int pack_run(void *ctx, int64_t at, int64_t step, int64_t n, int64_t mem)
{
    struct packing *k = ctx;
    struct transfer *t = k->m.t;
    int64_t es = t->ds->esize;

    (void)at;
    (void)step;
    k->p += n * es;
    return conv_write(&k->m.c, t->mem, mem, k->p - n * es, es, n);
}

int share_pack(struct transfer *t, const struct shares *s, const struct share *share, uint8_t *p,
               struct buf *heap)
{
    struct packing k = {.p = p};
    int err = part_begin(&k.m, t, share->n);

    if (err)
        return err;
    k.m.c.heap_out = heap;
    if (t->conv.ranges || prog_gaps(&t->ds->ft->stored))
        memset(p, 0, (size_t)bytes_of(t->ds, share->n));
    part_take(&k.m, pack_run, NULL, &k);
    return part_end(&k.m, share_runs(&k.m, s, share));
}

const uint8_t *share_in_memory(const struct transfer *t, const struct shares *s,
                               const struct share *own, uint64_t size)
{
    const struct share_run *r = &s->run[own->first];

    if (own->runs > 1 || r->at > 0 || r->step > 1 || !t->conv.copy || t->conv.ranges ||
        t->conv.opts.report || bytes_of(t->ds, r->n) != size || prog_gaps(&t->ds->ft->stored))
        return NULL;
    return (const uint8_t *)plain_memory(t, r->mem);
}

/* ---- parcels ---- */

/* It ends at a multiple of 8. */
uint64_t piece_bytes(const drep_dataset *ds, const struct share *share,
                     const struct byte_ranges *ranges)
{
    return (HEAD + byte_ranges_size(ranges) + RUN * (uint64_t)share->runs + bytes_of(ds, share->n) +
            7) /
           8 * 8;
}

/* Puts a heap behind a piece, to the next multiple of 8. */
static int append_heap(struct buf *b, const struct buf *heap)
{
    static const uint8_t zeros[8];
    int err = buf_add(b, heap->p, heap->len);

    return err ? err : buf_add(b, zeros, (8 - heap->len % 8) % 8);
}

/* What is written of the elements of a run. */
static const struct byte_ranges *ranges_of_run(const struct transfer *t, const struct shares *s,
                                               const struct share_run *run)
{
    return run->ranges > 0 ? &s->ranges[run->ranges - 1] : t->conv.ranges;
}

/* Appends a piece to a parcel: head, members, runs, elements, heap. */
static int pack_piece(struct transfer *t, const struct shares *s, const struct share *share,
                      struct buf *b)
{
    const struct byte_ranges *ranges = ranges_of_run(t, s, &s->run[share->first]);
    uint64_t size = piece_bytes(t->ds, share, ranges);
    struct buf heap = {0};
    int err = buf_reserve(b, b->len + size);
    uint8_t *head = b->p + b->len, *p = head + HEAD;

    if (err)
        return err;
    memset(head + size - 8, 0, 8);
    store_u64(head, (uint64_t)share->chunk);
    store_u64(head + 8, share->runs);
    store_u64(head + 16, (uint64_t)share->n);
    store_u64(head + 32, byte_ranges_size(ranges) / BYTE_RANGE);
    if (byte_ranges_size(ranges) > 0)
        memcpy(p, ranges->range, byte_ranges_size(ranges));
    p += byte_ranges_size(ranges);
    for (size_t i = 0; i < share->runs; i++, p += RUN) {
        const struct share_run *r = &s->run[share->first + i];

        store_u64(p, (uint64_t)r->at);
        store_u64(p + 8, (uint64_t)r->step);
        store_u64(p + 16, (uint64_t)r->n);
    }
    err = share_pack(t, s, share, p, &heap);
    store_u64(head + 24, heap.len);
    b->len += (size_t)size;
    if (!err && heap.len > 0)
        err = append_heap(b, &heap);
    buf_release(&heap);
    return err;
}

/* Appends a share: a piece for each choice of members in turn. */
static int pack_share(struct transfer *t, const struct shares *s, const struct share *share,
                      struct buf *b)
{
    size_t end;
    int err = 0;

    for (size_t i = 0; !err && i < share->runs; i = end) {
        const struct share_run *run = &s->run[share->first + i];
        struct share part = *share;

        part.n = 0;
        part.first = share->first + i;
        for (end = i; end < share->runs && s->run[share->first + end].ranges == run->ranges; end++)
            part.n += s->run[share->first + end].n;
        part.runs = end - i;
        err = pack_piece(t, s, &part, b);
    }
    return err;
}

bool sends_itself(const drep_dataset *ds, const struct shares *s)
{
    return ds->ft->type->variable || s->ranges;
}

int pieces_pack(struct transfer *t, const struct team *team, const struct shares *s,
                struct parcels *out)
{
    uint64_t *size = mem_zalloc((uint64_t)team->size, sizeof *size);
    int *number = mem_array((uint64_t)team->size, sizeof *number), err = 0;

    out->parcel = mem_zalloc((uint64_t)team->size, sizeof *out->parcel);
    out->bytes = mem_zalloc((uint64_t)team->size, sizeof *out->bytes);
    if (!size || !number || !out->parcel || !out->bytes)
        err = fail_nomem();
    for (size_t i = 0; !err && i < s->n; i++)
        size[s->share[i].owner] += piece_bytes(t->ds, &s->share[i], t->conv.ranges);
    for (int r = 0; !err && r < team->size; r++) {
        if ((r == team->rank && !sends_itself(t->ds, s)) || size[r] == 0)
            continue;
        err = buf_reserve(&out->bytes[out->n], size[r]);
        out->parcel[out->n].to = r;
        number[r] = (int)out->n++;
    }
    for (size_t i = 0; !err && i < s->n; i++) {
        const struct share *share = &s->share[i];

        if (share->owner != team->rank || sends_itself(t->ds, s))
            err = pack_share(t, s, share, &out->bytes[number[share->owner]]);
    }
    for (size_t i = 0; !err && i < out->n; i++) { /* they may have moved */
        out->parcel[i].p = out->bytes[i].p;
        out->parcel[i].size = out->bytes[i].len;
    }
    mem_free(size);
    mem_free(number);
    return err;
}

void parcels_release(struct parcels *p)
{
    for (size_t i = 0; i < p->n; i++)
        buf_release(&p->bytes[i]);
    mem_free(p->bytes);
    mem_free(p->parcel);
    *p = (struct parcels){.n = 0};
}

int pieces_order(const void *a, const void *b)
{
    const struct piece *x = a, *y = b;

    if (x->chunk != y->chunk)
        return x->chunk < y->chunk ? -1 : 1;
    return x->from - y->from;
}

/* The piece at p; NULL: what comes behind it does not fit in. */
static const uint8_t *piece_get(const drep_dataset *ds, const uint8_t *p, size_t left, int from,
                                struct piece *out)
{
    uint64_t runs, bytes, heap;

    if (left < HEAD)
        return NULL;
    *out = (struct piece){.chunk = (int64_t)load_u64(p),
                          .from = from,
                          .ranges = {(uint8_t *)(uintptr_t)p + HEAD, (size_t)load_u64(p + 32)},
                          .runs = load_u64(p + 8),
                          .n = load_u64(p + 16)};
    runs = out->runs * RUN;
    bytes = bytes_of(ds, (int64_t)out->n);
    heap = load_u64(p + 24);
    if (out->ranges.n > left / BYTE_RANGE || out->runs > left / RUN || out->n > left ||
        heap > left || byte_ranges_size(&out->ranges) + runs + bytes > left - HEAD ||
        !byte_ranges_valid(&out->ranges, (uint64_t)ds->esize))
        return NULL;
    out->run = p + HEAD + byte_ranges_size(&out->ranges);
    out->elements = out->run + runs;
    out->heap = p + (HEAD + byte_ranges_size(&out->ranges) + runs + bytes + 7) / 8 * 8;
    out->heap_size = (size_t)heap;
    return heap <= left - (size_t)(out->heap - p) ? out->heap + (heap + 7) / 8 * 8 : NULL;
}

int pieces_list(const struct drep_dataset *ds, const struct team_inbox *in, struct piece **list,
                size_t *n)
{
    struct piece one;
    size_t room = 0;

    *n = 0;
    *list = NULL;
    for (int pass = 0; pass < 2; pass++) {
        for (size_t i = 0; i < in->n; i++) {
            const uint8_t *p = in->in[i].p, *end = p + in->in[i].size;

            while (p && p < end) {
                p = piece_get(ds, p, (size_t)(end - p), in->in[i].from, &one);
                if (pass == 0)
                    room++;
                else if (p)
                    (*list)[(*n)++] = one;
            }
            if (!p)
                return fail(DREP_ERR_IO, "a broken message of rank %d", in->in[i].from);
        }
        if (pass == 0 && !(*list = mem_array(room + 1, sizeof **list)))
            return fail_nomem();
    }
    vec_sort(*list, *n, sizeof **list, pieces_order);
    return 0;
}

/* ---- a chunk ---- */

void elements_mark(uint64_t *bits, int64_t at, int64_t step, int64_t n)
{
    for (int64_t i = 0; i < n; i++, at += step) {
        uint64_t *word = &bits[at / 64];

        if (step == 1 && at % 64 == 0 && n - i >= 64) {
            *word = UINT64_MAX;
            i += 63;
            at += 63;
            continue;
        }
        *word |= (uint64_t)1 << at % 64;
    }
}

static int take_run(void *ctx, int64_t at, int64_t step, int64_t n, const uint8_t *from)
{
    (void)from;
    elements_mark(ctx, at, step, n);
    return 0;
}

/* Looks for elements that other ranks have written. */
struct looking {
    const uint64_t *bits;
    int64_t *clash;
};

static int look_run(void *ctx, int64_t at, int64_t step, int64_t n, const uint8_t *from)
{
    const struct looking *l = ctx;

    (void)from;
    for (int64_t i = 0; *l->clash < 0 && i < n; i++, at += step) {
        if (step == 1 && at % 64 == 0 && n - i >= 64 && !l->bits[at / 64]) {
            i += 63;
            at += 63;
        } else if (l->bits[at / 64] >> at % 64 & 1) {
            *l->clash = at;
        }
    }
    return 0;
}

/* The elements of which just these members were written; NULL: memory is short. */
static uint64_t *taken_bits(struct taken *t, const struct byte_ranges *ranges)
{
    for (size_t i = 0; i < t->n; i++)
        if (byte_ranges_same(&t->of[i].ranges, ranges))
            return t->of[i].bits;
    if (VEC_ROOM(t->of, t->n, t->room, 1))
        return NULL;
    t->of[t->n] =
        (struct taken_members){ranges ? *ranges : (struct byte_ranges){.n = 0},
                               mem_zalloc((uint64_t)t->elements / 64 + 1, sizeof(uint64_t))};
    return t->of[t->n].bits ? t->of[t->n++].bits : NULL;
}

void taken_release(struct taken *t)
{
    for (size_t i = 0; i < t->n; i++)
        mem_free(t->of[i].bits);
    mem_free(t->of);
}

static bool piece_has(const struct piece *p, int64_t at)
{
    for (uint64_t i = 0; i < p->runs; i++) {
        const uint8_t *r = p->run + i * RUN;
        int64_t first = (int64_t)load_u64(r), step = (int64_t)load_u64(r + 8),
                n = (int64_t)load_u64(r + 16);

        if (at >= first && (at - first) % step == 0 && (at - first) / step < n)
            return true;
    }
    return false;
}

int overlap_error(const drep_dataset *ds, int64_t chunk, int64_t at, int a, int b)
{
    char text[DREP_MAX_RANK * 21 + 1] = "0";
    uint64_t coord[DREP_MAX_RANK];
    size_t len = 0;

    chunk_coord(&ds->rec, chunk, coord);
    for (int d = 0; d < ds->chunks.rank; d++)
        len += (size_t)snprintf(text + len, sizeof text - len, "%s%llu", d > 0 ? "," : "",
                                (unsigned long long)coord[d]);
    if (at < 0)
        return fail(DREP_ERR_NOT_SAME, "chunk (%s): ranks %d and %d write the same elements", text,
                    a < b ? a : b, a < b ? b : a);
    return fail(DREP_ERR_NOT_SAME,
                "chunk (%s): ranks %d and %d write the same element, number %lld", text,
                a < b ? a : b, a < b ? b : a, (long long)at);
}

/* Name the ranks that write an element; the second one by piece number i. */
static int clash(const struct taken *t, const drep_dataset *ds, int own, const struct piece *list,
                 size_t i)
{
    int other = own;

    for (size_t k = 0; list[k].from != list[i].from; k++)
        if (piece_has(&list[k], t->clash) &&
            (!t->members || byte_ranges_meet(&list[k].ranges, &list[i].ranges)))
            other = list[k].from;
    return overlap_error(ds, list->chunk, t->clash, other, list[i].from);
}

int piece_runs(const drep_dataset *ds, const struct piece *p, int64_t room, piece_run_fn *fn,
               void *ctx)
{
    const uint8_t *from = p->elements;
    uint64_t left = p->n;
    int err = 0;

    for (uint64_t i = 0; !err && i < p->runs; i++) {
        const uint8_t *r = p->run + i * RUN;
        uint64_t at = load_u64(r), step = load_u64(r + 8), n = load_u64(r + 16);

        if (n > left || n == 0 || at >= (uint64_t)room || step == 0 ||
            (n - 1) > ((uint64_t)room - 1 - at) / step)
            return fail(DREP_ERR_IO, "a broken message of rank %d", p->from);
        err = fn(ctx, (int64_t)at, (int64_t)step, (int64_t)n, from);
        from += bytes_of(ds, (int64_t)n);
        left -= n;
    }
    return err;
}

/* A rank may name an element twice, so all of a piece is looked at before it is taken; and what it
 * writes of elements comes in pieces that have no elements in common. */
int taken_piece(struct taken *t, const drep_dataset *ds, const struct piece *list, size_t i,
                int own)
{
    const struct piece *p = &list[i];
    uint64_t *bits;
    int err = 0;

    for (size_t k = 0; !err && k < t->n; k++)
        if (!t->members || byte_ranges_meet(&t->of[k].ranges, &p->ranges))
            err = piece_runs(ds, p, t->elements, look_run,
                             &(struct looking){t->of[k].bits, &t->clash});
    if (!err && t->clash >= 0)
        err = clash(t, ds, own, list, i);
    if (err)
        return err;
    bits = taken_bits(t, &p->ranges);
    return bits ? piece_runs(ds, p, t->elements, take_run, bits) : fail_nomem();
}

/* A piece that is copied to where its elements belong. */
struct placing {
    size_t size; /* of an element */
    const struct byte_ranges *ranges;
    uint8_t *b;
};

static int place_elements(void *ctx, int64_t at, int64_t step, int64_t n, const uint8_t *from)
{
    const struct placing *p = ctx;
    uint8_t *to = p->b + (size_t)at * p->size;

    if (step == 1 && byte_ranges_size(p->ranges) == 0)
        memcpy(to, from, (size_t)n * p->size);
    else
        for (; n > 0; n--, to += (size_t)step * p->size, from += p->size)
            byte_ranges_copy(p->ranges, to, from, p->size);
    return 0;
}

/* Pieces of lower ranks: what comes later replaces them. */
static size_t pieces_before(const struct piece *piece, size_t n, int rank)
{
    size_t i = 0;

    while (i < n && piece[i].from < rank)
        i++;
    return i;
}

/* Puts this rank's own elements into a chunk, by way of its converter. */
static int place_own(struct transfer *t, const struct shares *s, const struct share *own,
                     struct taken *taken, uint8_t *b)
{
    struct part_mover m;
    struct in_memory where = {NULL, &m.c, b};
    uint64_t *bits = NULL;
    int err = part_begin(&m, t, own->n);

    if (err)
        return err;
    where.t = m.t;
    part_take(&m, memory_run, NULL, &where);
    err = part_end(&m, share_runs(&m, s, own));
    if (!err && taken && !(bits = taken_bits(taken, t->conv.ranges)))
        err = fail_nomem();
    for (size_t i = 0; !err && bits && i < own->runs; i++) {
        const struct share_run *r = &s->run[own->first + i];

        elements_mark(bits, r->at, r->step, r->n);
    }
    return err;
}

int chunk_assemble(struct transfer *t, const struct shares *s, const struct share *own, int rank,
                   const struct piece *piece, size_t n, enum ground ground, uint8_t *b,
                   uint64_t size)
{
    drep_dataset *ds = t->ds;
    int64_t room = (int64_t)(size / (uint64_t)ds->esize), sum = 0;
    struct taken taken = {.clash = -1, .elements = room, .members = !t->conv.raw};
    bool last = ranks_of(ds->file)->last, once = n + (own != NULL) > 1 && !last;
    size_t before = last ? pieces_before(piece, n, rank) : 0;
    int err = 0;

    for (size_t i = 0; i < n; i++)
        sum += (int64_t)piece[i].n;
    sum += own ? own->n : 0;
    if (ground == GROUND_FILL)
        err = payload_blank(ds, sum, b, size);
    else if (ground == GROUND_NONE && prog_gaps(&ds->ft->stored))
        memset(b, 0, (size_t)size);
    for (size_t i = 0; !err && i <= n; i++) {
        if (own && i == before)
            err = place_own(t, s, own, once ? &taken : NULL, b);
        if (err || i == n)
            break;
        if (once)
            err = taken_piece(&taken, ds, piece, i, rank);
        if (!err)
            err = piece_runs(ds, &piece[i], room, place_elements,
                             &(struct placing){(size_t)ds->esize, &piece[i].ranges, b});
    }
    taken_release(&taken);
    return err;
}
