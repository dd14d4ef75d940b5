/* transcode.c - stored elements of one file as stored elements of another. */
/* SPDX-License-Identifier: MIT */
#include "conv/transcode.h"

#include "base/error.h"
#include "base/mem.h"
#include "conv/heap.h"

#include <datarep.h>
#include <string.h>

#define PIECE (64 << 10) /* bytes that go through memory at once */

static int transcode_content(void *ctx, const drep_type *dst_leaf, void *dst,
                             const drep_type *src_leaf, const void *src);

/* Two tables go in one pass; else both sides go through native memory, by the converters that
 * reading and writing use. */
int transcode_init(struct transcoder *a, const struct file_rep *from, struct ftype *source,
                   const struct file_rep *to, struct ftype *target, int range)
{
    drep_report wanted = DREP_REPORT; /* that the converters count */
    drep_xfer xfer = {.range = range, .report = &wanted};
    int err;

    memset(a, 0, sizeof *a);
    a->source = &source->stored;
    a->target = &target->stored;
    a->type = source->type;
    a->opts.range = a->opts.value_range = range;
    a->opts.report = &a->report;
    if ((!from->datarep || !to->datarep) && type_has_codes(source->type))
        return fail(DREP_ERR_UNSUPPORTED_DATAREP,
                    "datarep \"%s\": the file was opened for its header only",
                    !from->datarep ? from->name : to->name);
    a->from_table = file_rep_table(from, false);
    a->to_table = file_rep_table(to, true);
    if (a->from_table && a->to_table)
        return 0;
    a->from_table = a->to_table = NULL;
    err = conv_init(&a->in, from, source, NULL, &xfer, false);
    return err ? err : conv_init(&a->out, to, target, source->type, &xfer, true);
}

void transcode_begin(struct transcoder *a, const struct transcoder *plan)
{
    *a = *plan;
    a->report = a->in.report = a->out.report = (struct losses){0};
    a->opts.report = &a->report;
    a->in.opts.report = &a->in.report;
    a->out.opts.report = &a->out.report;
}

/* ---- through memory ---- */

/* Converts through native memory, a piece at a time. */
static int by_memory(struct transcoder *a, uint8_t *dst, int64_t dstep, const uint8_t *src,
                     int64_t sstep, int64_t n)
{
    int64_t extent = a->type->prog.extent;
    /* A call of a user's functions costs much: few of them, as large as staging. */
    int64_t piece = conv_calls(&a->in)    ? a->in.staging
                    : conv_calls(&a->out) ? a->out.staging
                                          : PIECE;
    int64_t room = extent > 0 && extent < piece ? piece / extent : 1;
    void *mem = mem_alloc((uint64_t)(room < n ? room : n) * (uint64_t)extent + 1);
    int err = !mem ? fail_nomem() : 0;

    a->in.heap = a->heap;
    a->in.heap_size = a->heap_size;
    a->out.heap_out = a->heap_out;
    while (!err && n > 0) {
        int64_t now = n < room ? n : room;

        /* What a read function leaves out must not be what the elements before were. */
        memset(mem, 0, (size_t)(now * extent));
        err = conv_read(&a->in, mem, 0, src, sstep, now);
        if (!err)
            err = conv_write(&a->out, mem, 0, dst, dstep, now);
        drep_vlen_free(a->type, now, mem);
        src += now * sstep;
        dst += now * dstep;
        n -= now;
    }
    mem_free(mem);
    return err;
}

/* Adds the losses of both steps. */
static void report_memory(struct transcoder *a)
{
    struct losses *r = &a->report;

    if (a->from_table)
        return;
    r->items += a->out.report.items;
    r->overflow += a->in.report.overflow + a->out.report.overflow;
    r->inexact += a->in.report.inexact + a->out.report.inexact;
    r->nan_lost += a->in.report.nan_lost + a->out.report.nan_lost;
    a->in.report = a->out.report = (struct losses){0};
}

/* ---- from table to table ---- */

/* Converts from table to table. */
static int by_tables(struct transcoder *a, uint8_t *dst, int64_t dstep, const uint8_t *src,
                     int64_t sstep, int64_t n)
{
    bool solid = n == 1 || (sstep == a->source->extent && dstep == a->target->extent);
    int64_t turns = solid ? 1 : n, each = (solid ? n : 1) * a->source->items;
    struct rep_var var = {.move = transcode_content, .ctx = a};
    int err = 0;

    a->opts.var = &var;
    for (int64_t i = 0; !err && i < turns; i++) {
        const struct rep_side ss = {a->source, a->from_table, 0}, ds = {a->target, a->to_table, 0};

        err = rep_convert(dst + i * dstep, &ds, src + i * sstep, &ss, each, &a->opts, NULL);
    }
    return err;
}

int transcode_run(struct transcoder *a, uint8_t *dst, int64_t dstep, const uint8_t *src,
                  int64_t sstep, int64_t n)
{
    int err;

    if (n == 0 || a->source->items == 0)
        return 0;
    if (a->from_table)
        return by_tables(a, dst, dstep, src, sstep, n);
    err = by_memory(a, dst, dstep, src, sstep, n);
    report_memory(a);
    return err;
}

/* ---- contents ---- */

/* Finds a content in the source's heap. */
static int content_at(const struct transcoder *a, const uint8_t *item, uint64_t size,
                      struct heap_ref *ref, const uint8_t **p)
{
    *ref = heap_ref_get(item);
    *p = a->heap;
    return ref->count == 0 ? 0 : heap_at(a->heap, a->heap_size, *ref, size, p);
}

static int transcode_text(struct transcoder *a, uint8_t *dst, const uint8_t *src)
{
    struct heap_ref ref;
    uint64_t offset = 0;
    const uint8_t *p;
    int err = content_at(a, src, 1, &ref, &p);

    if (!err && ref.count > 0)
        err = heap_add(a->heap_out, 0, p, ref.count, &offset);
    if (!err)
        heap_ref_put(dst, ref.count, offset);
    return err;
}

/* Converts the elements of a sequence beside the heap, which may move meanwhile. */
static int transcode_sequence(struct transcoder *a, const drep_type *dst_leaf, uint8_t *dst,
                              const drep_type *src_leaf, const uint8_t *src)
{
    const struct prog *sp = &src_leaf->content, *tp = &dst_leaf->content;
    uint64_t size = 0, offset = 0;
    struct heap_ref ref;
    struct transcoder inner = *a;
    uint8_t *tmp = NULL;
    const uint8_t *p;
    int err = content_at(a, src, (uint64_t)sp->extent, &ref, &p);

    if (!err && a->depth >= FMT_SEQ_DEPTH_MAX)
        err = fail(DREP_ERR_LIMIT, "sequences nested deeper than %d", FMT_SEQ_DEPTH_MAX);
    if (!err && __builtin_mul_overflow(ref.count, (uint64_t)tp->extent, &size))
        err = fail(DREP_ERR_LIMIT, "a sequence of %llu elements", (unsigned long long)ref.count);
    if (!err)
        err = heap_add(a->heap_out, 0, NULL, size, &offset);
    if (!err && !(tmp = mem_zalloc(1, size + 1)))
        err = fail_nomem();
    if (!err) {
        inner.source = sp;
        inner.target = tp;
        inner.opts.report = &inner.report; /* one sequence is one item */
        inner.depth++;
        err = transcode_run(&inner, tmp, tp->extent, p, sp->extent, (int64_t)ref.count);
    }
    if (!err) {
        a->report.overflow = inner.report.overflow;
        a->report.inexact = inner.report.inexact;
        a->report.nan_lost = inner.report.nan_lost;
        if (size > 0)
            memcpy(a->heap_out->p + offset, tmp, (size_t)size);
        heap_ref_put(dst, ref.count, ref.count > 0 ? offset : 0);
    }
    mem_free(tmp);
    return err;
}

static int transcode_content(void *ctx, const drep_type *dst_leaf, void *dst,
                             const drep_type *src_leaf, const void *src)
{
    struct transcoder *a = ctx;

    if (dst_leaf->kind != src_leaf->kind)
        return fail(DREP_ERR_TYPE, "different types in two files");
    switch (src_leaf->kind) {
    case DREP_KIND_VSTRING:
        return transcode_text(a, dst, src);
    case DREP_KIND_SEQUENCE:
        return transcode_sequence(a, dst_leaf, dst, src_leaf, src);
    case DREP_KIND_REFERENCE:
        memcpy(dst, src, 8);
        if (drep_type_reference_what(src_leaf) != DREP_REF_REGION)
            return 0;
        return transcode_text(a, (uint8_t *)dst + 8, (const uint8_t *)src + 8);
    default:
        return fail(DREP_ERR_TYPE, "elements of this type cannot be converted from file to file");
    }
}
