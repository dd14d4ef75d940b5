/* memory.c - elements from memory to memory, with copies of what they point to. */
/* SPDX-License-Identifier: MIT */
#include "conv/memory.h"

#include "base/error.h"
#include "base/mem.h"
#include "base/sized.h"
#include "conv/members.h"
#include "conv/text.h"

#include <string.h>

void transfer_opts(struct rep_opts *opts, struct losses *report, const drep_xfer *xfer)
{
    bool chosen = xfer && xfer->range != DREP_RANGE_DEFAULT;

    /* No number changes unless the caller says so, also where only its size differs. */
    opts->range = opts->value_range = chosen ? xfer->range : DREP_RANGE_STRICT;
    *report = NO_LOSSES;
    if (xfer && xfer->report)
        opts->report = report;
}

struct losses *report_contents(struct losses *contents, const struct losses *whole)
{
    *contents = NO_LOSSES;
    return whole ? contents : NULL;
}

static void add_losses(int64_t *whole, int64_t *first, int64_t contents, int64_t item)
{
    if (contents > 0 && (*first < 0 || item < *first))
        *first = item;
    *whole += contents;
}

void report_add_contents(struct losses *whole, const struct losses *contents, int64_t item)
{
    if (!whole)
        return;
    add_losses(&whole->overflow, &whole->first_overflow, contents->overflow, item);
    add_losses(&whole->inexact, &whole->first_inexact, contents->inexact, item);
    add_losses(&whole->nan_lost, &whole->first_nan_lost, contents->nan_lost, item);
}

int sequence_count(const drep_type *from, int64_t count, const drep_type *to, int64_t *n)
{
    int64_t items;

    if (__builtin_mul_overflow(count, from->items, &items) || to->items == 0 ||
        items % to->items != 0)
        return fail(DREP_ERR_COUNT, "a sequence of %lld elements does not fill its target",
                    (long long)count);
    *n = items / to->items;
    return 0;
}

/* Elements whose true extent leaves their extent would write beyond the memory. */
int sequence_alloc(const drep_type *base, int64_t n, void **data)
{
    int64_t lb = drep_type_true_lb(base), bytes;

    if (lb < 0 || lb + drep_type_true_extent(base) > base->prog.extent)
        return fail(DREP_ERR_TYPE, "the elements of a sequence reach beyond their extent");
    if (__builtin_mul_overflow(n, base->prog.extent, &bytes))
        return fail(DREP_ERR_LIMIT, "a sequence of %lld elements", (long long)n);
    *data = mem_zalloc(1, (uint64_t)bytes);
    return *data ? 0 : fail_nomem();
}

int no_conversion(const drep_type *dst_leaf, const drep_type *src_leaf)
{
    return type_fail_two(DREP_ERR_TYPE, "no conversion from %s to %s", src_leaf, dst_leaf);
}

/* Copies a sequence with all that its elements point to. */
static int copy_sequence(const struct rep_opts *opts, const drep_type *db, drep_vlen *dst,
                         const drep_type *sb, const drep_vlen *src)
{
    struct rep_opts o = *opts;
    struct rep_var move = {.move = move_memory, .ctx = &o};
    drep_vlen to = {0, NULL};
    struct losses contents;
    int64_t items = 0; /* what memory holds */
    int err = src->count > 0 ? type_elements(sb, src->count, &items) : 0;

    if (err)
        return err;
    o.report = report_contents(&contents, opts->report);
    o.var = &move;
    if (items > 0) {
        if ((err = sequence_count(sb, src->count, db, &to.count)))
            return err;
        if ((err = sequence_alloc(db, to.count, &to.data)))
            return err;
        err = rep_convert(to.data, &(struct rep_side){&db->prog, rep_native(), 0}, src->data,
                          &(struct rep_side){&sb->prog, rep_native(), 0}, items, &o, NULL);
        if (err) {
            drep_vlen_free(db, to.count, to.data);
            mem_free(to.data);
            return err;
        }
        report_add_contents(opts->report, &contents, opts->var->item);
    }
    *dst = to;
    return 0;
}

/* Copies a text of fixed or variable length to one of any, or bytes as they are. */
static int copy_text(const struct rep_opts *opts, const drep_type *dst_leaf, void *dst,
                     const drep_type *src_leaf, const void *src)
{
    int64_t item = opts->var->item;
    const void *p = src;
    size_t n = 0;
    int err = 0;

    if (dst_leaf->kind == DREP_KIND_STRING && src_leaf->kind == DREP_KIND_STRING) {
        memcpy(dst, src, (size_t)src_leaf->args[0]);
        return 0;
    }
    if (src_leaf->kind == DREP_KIND_STRING)
        n = text_size((int)src_leaf->args[1], src, (size_t)src_leaf->args[0]);
    else
        err = text_get(src_leaf, src, &p, &n);
    if (err)
        return err;
    return dst_leaf->kind == DREP_KIND_STRING ? text_give(opts, item, p, n, dst_leaf, dst)
                                              : text_put(opts, item, dst_leaf, dst, p, n);
}

/* Copies a text to a sequence of its bytes, or the inverse. */
static int copy_text_bytes(const struct rep_opts *opts, const drep_type *dst_leaf, void *dst,
                           const drep_type *src_leaf, const void *src)
{
    drep_vlen v = {0, NULL};
    const void *p = NULL;
    size_t n = 0;
    int err;

    if (dst_leaf->kind == DREP_KIND_VSTRING) {
        memcpy(&v, src, sizeof v);
        err = sequence_check(&v);
        return err ? err : text_put(opts, opts->var->item, dst_leaf, dst, v.data, (size_t)v.count);
    }
    err = text_get(src_leaf, src, &p, &n);
    v.count = (int64_t)n;
    if (!err && n > 0)
        err = sequence_alloc(drep_type_member(dst_leaf, 0), v.count, &v.data);
    if (err)
        return err;
    if (n > 0)
        memcpy(v.data, p, n);
    memcpy(dst, &v, sizeof v);
    return 0;
}

/* Target and source own their contents apart: each can be freed without the other. */
int move_memory(void *ctx, const drep_type *dst_leaf, void *dst, const drep_type *src_leaf,
                const void *src)
{
    drep_ref ref;
    drep_vlen v, to;
    int err;

    if (texts(dst_leaf, src_leaf) ||
        (dst_leaf->kind == DREP_KIND_VSTRING && src_leaf->kind == DREP_KIND_VSTRING))
        return copy_text(ctx, dst_leaf, dst, src_leaf, src);
    if (text_and_bytes(dst_leaf, src_leaf))
        return copy_text_bytes(ctx, dst_leaf, dst, src_leaf, src);
    if (dst_leaf->kind != src_leaf->kind)
        return no_conversion(dst_leaf, src_leaf);
    switch (src_leaf->kind) {
    case DREP_KIND_REFERENCE:
        memcpy(&ref, src, sizeof ref);
        if (ref.region && drep_type_reference_what(src_leaf) == DREP_REF_REGION &&
            !(ref.region = mem_strdup(ref.region)))
            return fail_nomem();
        memcpy(dst, &ref, sizeof ref);
        return 0;
    default:
        break;
    }
    memcpy(&v, src, sizeof v);
    err = copy_sequence(ctx, drep_type_member(dst_leaf, 0), &to, drep_type_member(src_leaf, 0), &v);
    if (!err)
        memcpy(dst, &to, sizeof to);
    return err;
}

/* Zeros are empty contents, so that a read that fails leaves nothing that could be freed twice. */
void memory_clear(const drep_type *type, int64_t count, void *buf)
{
    int64_t left = count * type->items;
    drep_cursor cursor;
    drep_run run;

    if (!type->variable || cursor_init(&cursor, &type->prog, 0) != 0)
        return;
    for (; left > 0 && cursor_next(&cursor, left, &run); left -= run.count)
        for (int64_t i = 0; run.type->variable && i < run.count; i++)
            memset((char *)buf + run.offset + i * run.stride, 0, (size_t)run.type->prog.extent);
}

void memory_zero(const drep_type *type, int64_t count, void *buf)
{
    int64_t left = count * type->items;
    drep_cursor cursor;
    drep_run run;

    if (cursor_init(&cursor, &type->prog, 0) != 0)
        return;
    for (; left > 0 && cursor_next(&cursor, left, &run); left -= run.count)
        for (int64_t i = 0; i < run.count; i++)
            memset((char *)buf + run.offset + i * run.stride, 0, (size_t)run.type->prog.extent);
}

/* The elements of `to` that `count` of `from` fill. */
static int tiles_of(const drep_type *to, const drep_type *from, int64_t count, int64_t *tiles)
{
    int64_t items = 0, same = 0;
    int err = type_elements(from, count, &items);

    if (!err && items > 0 && (to->items == 0 || items % to->items != 0))
        err = fail(DREP_ERR_COUNT, "%lld elements do not fill whole targets", (long long)count);
    if (!err && items > 0)
        err = type_elements(to, items / to->items, &same);
    if (!err)
        *tiles = items > 0 ? items / to->items : 0;
    return err;
}

/* Converts whole elements. */
static int convert_elements(const drep_type *to, void *dst, const drep_type *from, const void *src,
                            int64_t tiles, const struct rep_opts *opts)
{
    struct rep_opts own = *opts;
    struct rep_var move = {.move = move_memory, .ctx = &own};
    int64_t items = tiles * to->items;
    int err;

    own.var = &move;
    memory_clear(to, tiles, dst);
    err = rep_convert(dst, &(struct rep_side){&to->prog, rep_native(), 0}, src,
                      &(struct rep_side){&from->prog, rep_native(), 0}, items, &own, NULL);
    if (err)
        drep_vlen_free(to, tiles, dst);
    return err;
}

int drep_convert(const drep_type *to, void *dst, const drep_type *from, const void *src,
                 int64_t count, const drep_xfer *xfer)
{
    struct rep_opts opts = {0};
    struct type_match both;
    struct losses losses;
    struct xfer x;
    int64_t tiles = 0;
    int err;

    if (!to || !from || (count > 0 && (!dst || !src)))
        return fail(DREP_ERR_ARG, "drep_convert: null argument");
    if ((err = xfer_begin(&x, xfer, "drep_convert")))
        return err;
    if ((err = type_match(from, NULL, to, picked_way(x.use, false), &both)))
        return fail_in(err, "drep_convert");
    transfer_opts(&opts, &losses, x.use);
    err = tiles_of(both.mem, both.file, count, &tiles);
    if (!err && x.use)
        err = type_fits(to, tiles, x.use->buf_size);
    fail_in(err, "drep_convert");
    if (!err && both.lacks)
        memory_zero(to, tiles, dst);
    if (!err)
        err = convert_elements(both.mem, dst, both.file, src, tiles, &opts);
    type_match_release(&both);
    if (opts.report)
        losses_report(&losses, &x.report);
    return xfer_end(&x, err);
}
