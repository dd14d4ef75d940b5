/* transcode.c - stored elements of one file as stored elements of another.
 *
 * Where tables describe both sides the engine goes from one to the other in one pass, so
 * that nothing is lost that both can hold, whatever this machine can; where functions do,
 * through native memory.  Contents of variable length go from heap to heap. */
#include "conv/data.h"

#include <string.h>

#define PIECE (64 << 10) /* bytes that go through memory at once */

static int move_across(void *ctx, const drep_type *dst_leaf, void *dst, const drep_type *src_leaf,
                       const void *src);

int across_init(struct across *a, drep_file *from, struct ftype *source, drep_file *to,
                struct ftype *target, int range)
{
    drep_xfer xfer = {.range = range, .report = &a->report};
    int err;

    memset(a, 0, sizeof *a);
    a->source = &source->stored;
    a->target = &target->stored;
    a->type = source->type;
    a->opts.range = a->opts.value_range = range;
    a->opts.report = &a->report;
    if (from->rep == NULL || to->rep == NULL)
        return fail(DREP_ERR_UNSUPPORTED_DATAREP,
                    "datarep \"%s\": the file was opened for its header only",
                    from->rep == NULL ? from->name : to->name);
    a->from_table = header_table(from, false);
    a->to_table = header_table(to, true);
    if (a->from_table != NULL && a->to_table != NULL)
        return 0;
    a->from_table = a->to_table = NULL;
    err = conv_init(&a->in, from, source, NULL, &xfer, false);
    return err != 0 ? err : conv_init(&a->out, to, target, source->type, &xfer, true);
}

void across_begin(struct across *a, const struct across *plan)
{
    *a = *plan;
    a->report = a->in.report = a->out.report = (drep_report){0};
    a->opts.report = &a->report;
    a->in.opts.report = &a->in.report;
    a->out.opts.report = &a->out.report;
}

/* ---- through memory ---- */

static int by_memory(struct across *a, uint8_t *dst, int64_t dstep, const uint8_t *src,
                     int64_t sstep, int64_t n)
{
    int64_t extent = a->type->prog.extent;
    /* A call of a user's functions costs much: few of them, as large as staging. */
    int64_t piece = conv_calls(&a->in)    ? a->in.staging
                    : conv_calls(&a->out) ? a->out.staging
                                          : PIECE;
    int64_t room = extent > 0 && extent < piece ? piece / extent : 1;
    void *mem = mem_alloc((uint64_t)(room < n ? room : n) * (uint64_t)extent + 1);
    int err = mem == NULL ? fail(DREP_ERR_NOMEM, "out of memory") : 0;

    a->in.heap = a->heap;
    a->in.heap_size = a->heap_size;
    a->out.heap_out = a->heap_out;
    while (err == 0 && n > 0) {
        int64_t now = n < room ? n : room;

        /* What a read function leaves out must not be what the elements before were. */
        memset(mem, 0, (size_t)(now * extent));
        err = conv_read(&a->in, mem, 0, src, sstep, now);
        if (err == 0)
            err = conv_write(&a->out, mem, 0, dst, dstep, now);
        drep_vlen_free(a->type, now, mem);
        src += now * sstep;
        dst += now * dstep;
        n -= now;
    }
    mem_free(mem);
    return err;
}

/* The losses of both steps. */
static void report_memory(struct across *a)
{
    drep_report *r = &a->report;

    if (a->from_table != NULL)
        return;
    r->items += a->out.report.items;
    r->overflow += a->in.report.overflow + a->out.report.overflow;
    r->inexact += a->in.report.inexact + a->out.report.inexact;
    r->nan_lost += a->in.report.nan_lost + a->out.report.nan_lost;
    a->in.report = a->out.report = (drep_report){0};
}

/* ---- from table to table ---- */

static int by_tables(struct across *a, uint8_t *dst, int64_t dstep, const uint8_t *src,
                     int64_t sstep, int64_t n)
{
    bool solid = n == 1 || (sstep == a->source->extent && dstep == a->target->extent);
    int64_t turns = solid ? 1 : n, each = (solid ? n : 1) * a->source->items;
    const struct rep_var var = {move_across, a};
    int err = 0;

    a->opts.var = &var;
    for (int64_t i = 0; err == 0 && i < turns; i++) {
        const struct rep_side ss = {a->source, a->from_table, 0}, ds = {a->target, a->to_table, 0};

        err = rep_convert(dst + i * dstep, &ds, src + i * sstep, &ss, each, &a->opts, NULL);
    }
    return err;
}

int across_run(struct across *a, uint8_t *dst, int64_t dstep, const uint8_t *src, int64_t sstep,
               int64_t n)
{
    int err;

    if (n == 0 || a->source->items == 0)
        return 0;
    if (a->from_table != NULL)
        return by_tables(a, dst, dstep, src, sstep, n);
    err = by_memory(a, dst, dstep, src, sstep, n);
    report_memory(a);
    return err;
}

/* ---- contents ---- */

/* Where a content stands: {u64 count, u64 offset}. */
static int content_at(const struct across *a, const uint8_t *item, uint64_t size, uint64_t *count,
                      const uint8_t **p)
{
    uint64_t offset = key_u64(item + 8);

    *count = key_u64(item);
    *p = a->heap;
    if (*count == 0)
        return 0;
    if (offset > a->heap_size || size == 0 || *count > (a->heap_size - offset) / size)
        return fail(DREP_ERR_FORMAT,
                    "a sequence of %llu elements at byte %llu exceeds its heap of %zu bytes",
                    (unsigned long long)*count, (unsigned long long)offset, a->heap_size);
    *p = a->heap + offset;
    return 0;
}

/* Zeroed room in the target's heap. */
static int content_room(struct across *a, uint64_t size, uint64_t *offset)
{
    struct buf *h = a->heap_out;
    int err = size > FMT_SIZE_MAX - h->len ? fail(DREP_ERR_LIMIT, "variable-length data")
                                           : buf_reserve(h, h->len + size);

    if (err != 0)
        return err;
    *offset = h->len;
    if (size > 0)
        memset(h->p + h->len, 0, (size_t)size);
    h->len += (size_t)size;
    return 0;
}

static int text_across(struct across *a, uint8_t *dst, const uint8_t *src)
{
    uint64_t count, offset = 0;
    const uint8_t *p;
    int err = content_at(a, src, 1, &count, &p);

    if (err == 0 && count > 0)
        err = content_room(a, count, &offset);
    if (err != 0)
        return err;
    if (count > 0)
        memcpy(a->heap_out->p + offset, p, (size_t)count);
    store_u64(dst, count);
    store_u64(dst + 8, offset);
    return 0;
}

/* The elements of a sequence: converted beside the heap, which may move meanwhile. */
static int sequence_across(struct across *a, const drep_type *dst_leaf, uint8_t *dst,
                           const drep_type *src_leaf, const uint8_t *src)
{
    const struct prog *sp = &src_leaf->content, *tp = &dst_leaf->content;
    uint64_t count, size = 0, offset = 0;
    struct across inner = *a;
    uint8_t *tmp = NULL;
    const uint8_t *p;
    int err = content_at(a, src, (uint64_t)sp->extent, &count, &p);

    if (err == 0 && a->depth >= FMT_SEQ_DEPTH_MAX)
        err = fail(DREP_ERR_LIMIT, "sequences nested deeper than %d", FMT_SEQ_DEPTH_MAX);
    if (err == 0 && __builtin_mul_overflow(count, (uint64_t)tp->extent, &size))
        err = fail(DREP_ERR_LIMIT, "a sequence of %llu elements", (unsigned long long)count);
    if (err == 0)
        err = content_room(a, size, &offset);
    if (err == 0 && (tmp = mem_zalloc(1, size + 1)) == NULL)
        err = fail(DREP_ERR_NOMEM, "out of memory");
    if (err == 0) {
        inner.source = sp;
        inner.target = tp;
        inner.opts.report = &inner.report; /* one sequence is one item */
        inner.depth++;
        err = across_run(&inner, tmp, tp->extent, p, sp->extent, (int64_t)count);
    }
    if (err == 0) {
        a->report.overflow = inner.report.overflow;
        a->report.inexact = inner.report.inexact;
        a->report.nan_lost = inner.report.nan_lost;
        if (size > 0)
            memcpy(a->heap_out->p + offset, tmp, (size_t)size);
        store_u64(dst, count);
        store_u64(dst + 8, count > 0 ? offset : 0);
    }
    mem_free(tmp);
    return err;
}

static int move_across(void *ctx, const drep_type *dst_leaf, void *dst, const drep_type *src_leaf,
                       const void *src)
{
    struct across *a = ctx;

    if (dst_leaf->kind != src_leaf->kind)
        return fail(DREP_ERR_TYPE, "different types in two files");
    switch (src_leaf->kind) {
    case DREP_KIND_VSTRING:
        return text_across(a, dst, src);
    case DREP_KIND_SEQUENCE:
        return sequence_across(a, dst_leaf, dst, src_leaf, src);
    case DREP_KIND_REFERENCE:
        memcpy(dst, src, 8);
        if (drep_type_reference_what(src_leaf) != DREP_REF_REGION)
            return 0;
        return text_across(a, (uint8_t *)dst + 8, (const uint8_t *)src + 8);
    default:
        return fail(DREP_ERR_TYPE, "elements of this type cannot be converted from file to file");
    }
}

/* ---- references ---- */

bool type_refers(const drep_type *type)
{
    if (type->kind == DREP_KIND_REFERENCE)
        return true;
    for (int64_t i = 0; i < drep_type_members(type); i++)
        if (type_refers(drep_type_member(type, i)))
            return true;
    return false;
}

static int refs_inner(const drep_type *leaf, struct prog *out, const struct refs *r, bool *ours)
{
    *ours = r->sizes != NULL;
    if (*ours)
        return prog_build(out, drep_type_member(leaf, 0), r->sizes, PROG_PACKED);
    *out = leaf->content;
    return 0;
}

static int refs_item(const struct refs *r, const drep_type *leaf, uint8_t *item, int depth)
{
    uint64_t count = key_u64(item), offset = key_u64(item + 8);
    struct prog base = {.extent = 0};
    bool ours;
    int err;

    if (count == 0 || !type_refers(leaf))
        return 0;
    if (depth >= FMT_SEQ_DEPTH_MAX)
        return fail(DREP_ERR_LIMIT, "sequences nested deeper than %d", FMT_SEQ_DEPTH_MAX);
    if ((err = refs_inner(leaf, &base, r, &ours)) != 0)
        return err;
    if (offset > r->heap_size || base.extent <= 0 ||
        count > (r->heap_size - offset) / (uint64_t)base.extent)
        err = fail(DREP_ERR_FORMAT, "a sequence exceeds its heap");
    else
        err = refs_map(r, &base, r->heap + offset, (int64_t)count, depth + 1);
    if (ours)
        prog_release(&base);
    return err;
}

int refs_map(const struct refs *r, const struct prog *stored, uint8_t *elems, int64_t n, int depth)
{
    int64_t left = n * stored->items;
    drep_cursor cursor;
    drep_run run;
    int err = cursor_init(&cursor, stored, 0);

    while (err == 0 && left > 0) {
        drep_cursor_next(&cursor, left, &run);
        left -= run.count;
        for (int64_t i = 0; err == 0 && i < run.count; i++) {
            uint8_t *item = elems + run.offset + i * run.stride;

            if (run.type->kind == DREP_KIND_REFERENCE)
                store_u64(item, r->map(r->ctx, key_u64(item)));
            else if (run.type->kind == DREP_KIND_SEQUENCE)
                err = refs_item(r, run.type, item, depth);
            else
                break;
        }
    }
    return err;
}
