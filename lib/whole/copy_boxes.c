/* copy_boxes.c - a dataset's elements into another: box by box through the usual transfers. */
/* SPDX-License-Identifier: MIT */
#include "base/buf.h"
#include "base/pool.h"
#include "chunk/each.h"
#include "conv/refs.h"
#include "elem/transfer.h"
#include "whole/copy_payload.h"
#include "whole/stored.h"

#include <string.h>

#define BOX_BYTES ((uint64_t)8 << 20)
#define SLABS_BYTES ((uint64_t)1 << 20)
#define SLICES_MAX 64

/* A box of elements of the target. */
struct copied_box {
    uint64_t from[DREP_MAX_RANK], len[DREP_MAX_RANK];
};

static uint64_t box_count(const struct copied_box *b, int rank)
{
    uint64_t n = 1;

    for (int d = 0; d < rank; d++)
        n *= b->len[d];
    return n;
}

struct payload_slice {
    struct payload_copy *c;
    const uint8_t *src;
    uint8_t *dst;
    uint64_t n, each;
    struct losses report[SLICES_MAX];
};

static int work_slice(void *ctx, int64_t i)
{
    struct payload_slice *s = ctx;
    uint64_t at = (uint64_t)i * s->each, n = s->n - at < s->each ? s->n - at : s->each;
    struct transcoder a;
    int err;

    transcode_begin(&a, &s->c->transcoder);
    err = transcode_run(&a, s->dst + at * (uint64_t)s->c->to->esize, s->c->to->esize,
                        s->src + at * (uint64_t)s->c->from->esize, s->c->from->esize, (int64_t)n);
    s->report[i] = a.report;
    return err;
}

/* Converts n elements in memory, in as many slices as there are threads. */
static int convert_box(struct payload_copy *c, const uint8_t *src, uint8_t *dst, uint64_t n)
{
    struct payload_slice s = {.c = c, .src = src, .dst = dst, .n = n};
    int64_t slices = element_bytes(c->from, n) < (1 << 20) ? 1
                     : c->threads < SLICES_MAX             ? c->threads
                                                           : SLICES_MAX;
    int err;

    slices = slices < 1 ? 1 : slices;
    s.each = (n + (uint64_t)slices - 1) / (uint64_t)slices;
    slices = (int64_t)((n + s.each - 1) / s.each);
    memset(dst, 0, (size_t)element_bytes(c->to, n));
    err = pool_run(c->threads, slices, work_slice, &s);
    for (int64_t i = 0; !err && i < slices; i++)
        losses_add(&c->report, &s.report[i]);
    return err;
}

/* Reads the elements of the source. */
static int read_source(struct payload_copy *c, const struct copied_box *box, void *buf)
{
    struct drep_selection sel;

    selection_all(&sel, c->from->rec.rank, box->len);
    for (int d = 0; d < sel.rank; d++) {
        sel.dim[d].start = (int64_t)source_index(c, d, box->from[d]);
        sel.dim[d].stride = c->cut ? c->cut->dim[d].stride : 1;
    }
    return dataset_raw_part(c->from, &sel, buf, c->threads, READING);
}

static int copy_box(struct payload_copy *c, const struct copied_box *box)
{
    uint64_t n = box_count(box, c->from->rec.rank);
    struct buf *in = &c->room[0], *out = &c->room[1];
    int err = buf_reserve(in, element_bytes(c->from, n));

    if (!err)
        err = read_source(c, box, in->p);
    if (!err && !c->same_elements) {
        err = buf_reserve(out, element_bytes(c->to, n));
        if (!err)
            err = convert_box(c, in->p, out->p, n);
    }
    if (c->same_elements)
        out = in;
    if (!err && c->map)
        err = refs_map(&(struct refs){.map = c->map, .ctx = c->map_ctx}, &c->to->ft->stored, out->p,
                       (int64_t)n);
    /* Two threads that write into one file wait for each other; to encode they do not. */
    if (!err)
        err = dataset_raw_box(c->to, box->from, box->len, out->p,
                              c->to->rec.nfilters > 0 ? c->threads : 1, WRITING);
    return !err ? copy_progress(c, element_bytes(c->to, n)) : err;
}

/* Chooses the lengths of boxes: whole chunks of the target, as many as fit, from the last dimension
 * on; of a chunk that is too large, and not filtered, a part. */
static void box_shape(const struct payload_copy *c, uint64_t *len)
{
    const struct object_rec *r = &c->to->rec;
    int64_t es = c->from->esize > c->to->esize ? c->from->esize : c->to->esize;
    uint64_t room = BOX_BYTES / (uint64_t)es, n = 1;

    for (int d = 0; d < r->rank; d++) {
        len[d] = r->layout == FMT_CHUNKED ? r->chunk[d] : 1;
        len[d] = len[d] < r->len[d] ? len[d] : r->len[d];
        n = len[d] > 0 && n > UINT64_MAX / len[d] ? UINT64_MAX : n * len[d];
    }
    for (int d = 0; d < r->rank && n > room && r->nfilters == 0; d++) {
        uint64_t others = n / len[d];

        if (n == UINT64_MAX) /* too many to count: down to one row at a time */
            others = room;
        len[d] = others >= room ? 1 : room / others;
        n = 1;
        for (int k = 0; k < r->rank; k++)
            n = n > UINT64_MAX / len[k] ? UINT64_MAX : n * len[k];
    }
    for (int d = r->rank; d-- > 0 && n <= room;) {
        uint64_t step = len[d], more = room / n;

        more = more < (r->len[d] + step - 1) / step ? more : (r->len[d] + step - 1) / step;
        if (more < 1)
            break;
        n = n / len[d] * (len[d] * more);
        len[d] = len[d] * more < r->len[d] ? len[d] * more : r->len[d];
        if (len[d] < r->len[d])
            break;
    }
}

/* *stored: something of this box is stored in the source. */
static int box_stored(struct payload_copy *c, const struct copied_box *box, bool *stored)
{
    const struct object_rec *r = &c->from->rec;
    uint64_t first[DREP_MAX_RANK], end[DREP_MAX_RANK], at[DREP_MAX_RANK], next;
    int last = r->rank - 1, err;

    *stored = true;
    if (r->layout != FMT_CHUNKED || r->rank == 0)
        return 0;
    for (int d = 0; d < r->rank; d++) {
        first[d] = at[d] = source_index(c, d, box->from[d]) / r->chunk[d];
        end[d] = source_index(c, d, box->from[d] + box->len[d] - 1) / r->chunk[d] + 1;
    }
    for (;;) {
        int d = last;

        at[last] = first[last];
        err = chunk_next(&c->from->chunks, at, end[last] - first[last], &next);
        if (err || next != UINT64_MAX)
            return err;
        while (--d >= 0 && ++at[d] == end[d])
            at[d] = first[d];
        if (d < 0)
            break;
    }
    *stored = false;
    return 0;
}

/* Find where the bytes that are still to be written begin when a contiguous target is complete up
 * to the end of a box: at the slab in which that end lies. */
static int contiguous_end(struct payload_copy *c, const struct copied_box *box, uint64_t *upto)
{
    const struct object_rec *r = &c->to->rec;
    struct chunks *cs = &c->to->chunks;
    uint64_t at = 0, slab;
    struct run_hit f;
    int err;

    for (int d = 0; d < r->rank; d++)
        at = at * r->len[d] + box->from[d] + box->len[d] - 1;
    slab = (at + 1) / r->slab;
    *upto = UINT64_MAX;
    if ((at + 1) % r->slab == 0 || (err = run_find(cs, &slab, &f)) == DREP_ERR_NOT_FOUND)
        return 0;
    if (!err) {
        *upto = f.run->rec.offset + f.index * f.run->rec.size;
        run_done(cs->st, &f);
    }
    return err;
}

/* Let the chunks that boxes have completed leave with a stream.  A box that is a part of chunks
 * completes none: those wait until the dataset is written. */
static int settle_boxes(struct payload_copy *c, const struct copied_box *box)
{
    const struct object_rec *r = &c->to->rec;
    struct store *st = c->to->file->st;
    uint64_t upto = UINT64_MAX;
    int err = 0;

    if (!st->space->onward)
        return 0;
    if (r->layout == FMT_CONTIGUOUS)
        err = contiguous_end(c, box, &upto);
    for (int d = 0; r->layout == FMT_CHUNKED && d < r->rank; d++)
        if (box->from[d] % r->chunk[d] ||
            (box->len[d] % r->chunk[d] && box->from[d] + box->len[d] < r->len[d]))
            return 0;
    return err ? err : place_settle(st, upto);
}

static int copy_boxes_of(struct payload_copy *c, const uint64_t *shape)
{
    const struct object_rec *r = &c->to->rec;
    struct copied_box box = {{0}, {0}};
    int err = 0;

    for (;;) {
        bool stored;
        int d;

        for (d = 0; d < r->rank; d++)
            box.len[d] = r->len[d] - box.from[d] < shape[d] ? r->len[d] - box.from[d] : shape[d];
        err = box_stored(c, &box, &stored);
        if (!err && stored)
            err = copy_box(c, &box);
        if (!err)
            err = settle_boxes(c, &box);
        for (d = r->rank; !err && d-- > 0;) {
            box.from[d] += shape[d];
            if (box.from[d] < r->len[d])
                break;
            box.from[d] = 0;
        }
        if (err || d < 0)
            return err;
    }
}

/* One box of what is stored: of a sparse dataset. */
static int copy_stored_box(const uint64_t *start, const uint64_t *count, void *ctx)
{
    struct copied_box box = {{0}, {0}};
    struct payload_copy *c = ctx;
    int rank = c->from->rec.rank;

    memcpy(box.from, start, (size_t)rank * sizeof *start);
    memcpy(box.len, count, (size_t)rank * sizeof *count);
    return copy_box(c, &box);
}

/* Slabs are read together: so many count as one. */
struct chunk_count {
    uint64_t n, together;
};

static int count_record(const uint64_t *coord, const struct chunk_rec *rec, void *ctx)
{
    struct chunk_count *count = ctx;

    (void)coord;
    count->n += (rec->run - 1) / count->together + 1;
    return 0;
}

/* Goes through boxes of the target's chunks, unless almost all of them would be empty. */
int copy_boxes(struct payload_copy *c)
{
    const struct object_rec *r = &c->to->rec;
    uint64_t shape[DREP_MAX_RANK] = {0}, boxes = 1, payload = c->from->chunks.payload;
    struct chunk_count chunks = {0, 1};
    int err = 0;

    if (c->from->rec.layout == FMT_CONTIGUOUS && payload > 0 && payload < SLABS_BYTES)
        chunks.together = SLABS_BYTES / payload;
    if (c->from->rec.layout == FMT_CONTIGUOUS || c->from->rec.layout == FMT_CHUNKED)
        err = chunk_each(&c->from->chunks, count_record, &chunks);
    if (err || (chunks.n == 0 && c->from->rec.layout != FMT_COMPACT))
        return err;
    box_shape(c, shape);
    for (int d = 0; d < r->rank; d++) {
        uint64_t n = (r->len[d] + shape[d] - 1) / shape[d];

        boxes = boxes > UINT64_MAX / n ? UINT64_MAX : boxes * n;
    }
    if (c->cut || boxes / 16 <= chunks.n + 64)
        return copy_boxes_of(c, shape);
    return stored_boxes(c->from, copy_stored_box, c);
}
