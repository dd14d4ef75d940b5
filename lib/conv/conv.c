/* conv.c - elements between memory and the bytes of a file. */
/* SPDX-License-Identifier: MIT */
#include "conv/conv.h"

#include "base/error.h"
#include "base/mem.h"
#include "conv/functions.h"
#include "conv/heap.h"
#include "conv/memory.h"
#include "conv/text.h"
#include "rep/encodings.h"

#include <datarep.h>
#include <string.h>

static int move_read(void *ctx, const drep_type *dst_leaf, void *dst, const drep_type *src_leaf,
                     const void *src);
static int move_write(void *ctx, const drep_type *dst_leaf, void *dst, const drep_type *src_leaf,
                      const void *src);
static int write_texts(void *ctx, uint8_t *dst, int64_t dst_step, const drep_type *src_leaf,
                       const uint8_t *src, int64_t src_step, int64_t n, int64_t *moved);

#define STAGING_MAX ((int64_t)4 << 20) /* bytes that one call of a function is given */

/* ---- setting up ---- */

/* True for predefined types. */
static bool plain_leaf(const drep_type *leaf)
{
    return leaf->kind == DREP_KIND_PREDEFINED;
}

/* True if items come one after another at one distance: an array of numbers, or one member of each
 * element. */
static bool one_array(const struct prog *p)
{
    return p->dense || (p->root->op == NODE_LEAF && p->items == 1);
}

/* True if items of this type are the same bytes under the table as in memory. */
static bool same_bytes(const struct rep_table *table, const drep_type *leaf)
{
    const drep_encoding *fe, *me;

    if (!plain_leaf(leaf))
        return false;
    fe = &table->row[leaf->code];
    me = &rep_native()->row[leaf->code];
    return fe->format == me->format && fe->size == me->size &&
           (fe->order == me->order || fe->size == 1) && fe->format != DREP_FORMAT_CUSTOM &&
           fe->format != DREP_FORMAT_BOOL && fe->format != DREP_FORMAT_X87;
}

/* Where both sides are one array of one scalar, the kernel is picked once, and conversion is a loop
 * over numbers. */
static int set_kernel(struct conv *c, bool writing)
{
    const struct prog *mem = &c->mem->prog;
    const drep_type *fl, *ml;
    int err;

    if (!c->table || !c->stored->root || !mem->root || !one_array(c->stored) || !one_array(mem))
        return 0;
    fl = c->stored->root->leaf;
    ml = mem->root->leaf;
    if ((!plain_leaf(fl) && fl->kind != DREP_KIND_SCALAR) ||
        (!plain_leaf(ml) && ml->kind != DREP_KIND_SCALAR))
        return 0;
    err = writing ? kernel_pick(&c->kernel, c->table, fl, rep_native(), ml, &c->opts)
                  : kernel_pick(&c->kernel, rep_native(), ml, c->table, fl, &c->opts);
    if (err)
        return err;
    c->dense = true;
    c->copy = fl == ml && c->stored->dense && mem->dense && same_bytes(c->table, fl);
    return 0;
}

/* True if elements of several members are the same bytes on both sides: runs of the same items at
 * the same places, one behind the other, without gaps, which memory keeps to itself. */
static bool same_structs(const struct conv *c)
{
    enum { RUNS = 64 };
    const struct prog *file = c->stored, *mem = &c->mem->prog;
    drep_run a[RUNS], b[RUNS];
    int64_t end = 0;
    int i, n;

    if (!c->table || !file->root || !mem->root || file->items != mem->items ||
        file->extent != mem->extent || prog_gaps(file) || prog_gaps(mem))
        return false;
    n = prog_flat(file, file->items, a, RUNS);
    if (n < 0 || prog_flat(mem, mem->items, b, RUNS) != n)
        return false;
    for (i = 0; i < n && a[i].offset == end && b[i].offset == end && a[i].type == b[i].type &&
                a[i].count == b[i].count && same_bytes(c->table, a[i].type);
         i++) {
        int64_t size = c->table->row[a[i].type->code].size;

        if (a[i].count > 1 && (a[i].stride != size || b[i].stride != size))
            return false;
        end += a[i].count * size;
    }
    return i == n && end == file->extent;
}

/* Staging may change while the file is open, also for a converter that was kept. */
static void set_staging(struct conv *c, const struct file_rep *rep)
{
    c->staging = rep->staging;
    if (c->staging < 1 || c->staging > STAGING_MAX)
        c->staging = STAGING_MAX;
}

static int conv_common(struct conv *c, const struct file_rep *rep, const struct ftype *ft,
                       const drep_type *mem, bool writing)
{
    c->rep = rep;
    c->ft = ft;
    c->mem = !mem ? ft->type : mem;
    c->var.move = writing ? move_write : move_read;
    c->var.texts = writing ? write_texts : NULL;
    set_staging(c, rep);
    return 0;
}

static int conv_make(struct conv *c, const struct file_rep *rep, const struct ftype *ft,
                     const drep_type *mem, const drep_xfer *xfer, bool writing)
{
    int err;

    memset(c, 0, sizeof *c);
    if (!rep->datarep && type_has_codes(ft->type))
        return fail(DREP_ERR_UNSUPPORTED_DATAREP,
                    "datarep \"%s\": the file was opened for its header only", rep->name);
    conv_common(c, rep, ft, mem, writing);
    transfer_opts(&c->opts, &c->report, xfer);
    c->sizes = &rep->sizes;
    c->layout = rep->layout;
    c->stored = &ft->stored;
    c->table = file_rep_table(rep, writing);
    if (!c->table)
        return functions_init(c);
    err = set_kernel(c, writing);
    if (!err && !c->dense)
        c->copy = same_structs(c);
    return err;
}

/* Keeps the converter for the next transfer of this type; whoever comes first. */
static void conv_cache_put(struct ftype *ft, const struct conv *c, bool writing)
{
    struct conv *copy = mem_alloc(sizeof *copy), *none = NULL;

    if (!copy)
        return;
    *copy = *c;
    if (!atomic_compare_exchange_strong(&ft->ready[writing], &none, copy))
        mem_free(copy);
}

/* Most transfers are of the dataset's own type with the default policy and no report: their
 * converter is made once and copied. */
int conv_init(struct conv *c, const struct file_rep *rep, struct ftype *ft, const drep_type *mem,
              const drep_xfer *xfer, bool writing)
{
    bool usual = ft->kept && (!mem || mem == ft->type) &&
                 (!xfer || (xfer->range == DREP_RANGE_DEFAULT && !xfer->report));
    const struct conv *ready = usual ? atomic_load(&ft->ready[writing]) : NULL;
    int err;

    if (ready) {
        *c = *ready;
        set_staging(c, rep);
        return 0;
    }
    err = conv_make(c, rep, ft, mem, xfer, writing);
    if (!err && usual)
        conv_cache_put(ft, c, writing);
    return err;
}

int conv_init_table(struct conv *c, const struct file_rep *rep, const struct ftype *ft,
                    const struct rep_table *table, const struct type_sizes *sizes,
                    const struct prog *stored, const drep_type *mem, const drep_xfer *xfer,
                    bool writing)
{
    memset(c, 0, sizeof *c);
    conv_common(c, rep, ft, mem, writing);
    transfer_opts(&c->opts, &c->report, xfer);
    c->table = table;
    c->self = true;
    c->sizes = sizes;
    c->layout = PROG_PACKED;
    c->stored = stored;
    return set_kernel(c, writing);
}

void conv_report(const struct conv *c, const drep_xfer *xfer)
{
    if (xfer && xfer->report)
        losses_report(&c->report, xfer->report);
}

/* ---- tables ---- */

/* Converts n elements by the kernel. Elements of several items that are not back to back go one by
 * one. */
static int run_kernel(struct conv *c, char *mem, int64_t at, uint8_t *file, int64_t step, int64_t n,
                      bool writing)
{
    int64_t per = c->stored->items;
    int64_t msize = c->mem->items == 1 ? c->mem->prog.extent : c->mem->prog.root->stride;
    int64_t fsize = c->stored->root->stride;
    char *m = mem + c->mem->prog.origin + at * per * msize;
    uint8_t *p = file + c->stored->origin;

    if (per > 1 && step != per * fsize) {
        for (int64_t i = 0; i < n; i++) {
            int err = run_kernel(c, mem, at + i, file + i * step, per * fsize, 1, writing);

            if (err)
                return err;
        }
        return 0;
    }
    if (per > 1)
        step = fsize;
    if (c->copy && step == fsize) {
        if (writing)
            memcpy(p, m, (size_t)(n * per * msize));
        else
            memcpy(m, p, (size_t)(n * per * msize));
        if (c->opts.report)
            c->report.items += n * per;
        return 0;
    }
    c->kernel.report = c->opts.report;
    if (c->opts.report)
        c->report.items += n * per;
    int64_t bad = writing ? kernel_run(&c->kernel, p, step, m, msize, n * per, at * per)
                          : kernel_run(&c->kernel, m, msize, p, step, n * per, at * per);
    if (bad != 0)
        return rep_refused(&c->kernel, at * per + bad - 1);
    return 0;
}

/* Converts n elements by their typemaps; contents of variable length come through move_read() and
 * move_write(). */
static int run_engine(struct conv *c, void *mem, int64_t at, uint8_t *file, int64_t step, int64_t n,
                      bool writing)
{
    int64_t per = c->stored->items;
    bool solid = step == c->stored->extent || n == 1;
    int64_t turns = solid ? 1 : n, each = solid ? n * per : per;

    c->var.ctx = c;
    c->opts.var = &c->var;
    for (int64_t i = 0; i < turns; i++) {
        struct rep_side ms = {&c->mem->prog, rep_native(), (at + i) * per};
        struct rep_side fs = {c->stored, !c->table ? rep_native() : c->table, 0};
        uint8_t *p = file + i * step;
        int err;

        c->opts.base = (at + i) * per;
        err = writing ? rep_convert(p, &fs, mem, &ms, each, &c->opts, NULL)
                      : rep_convert(mem, &ms, p, &fs, each, &c->opts, NULL);
        if (err)
            return err;
    }
    return 0;
}

/* n elements of `size` bytes; the compiler makes a loop of moves where that is a constant. */
static inline __attribute__((always_inline)) void copy_each(uint8_t *dst, int64_t dst_step,
                                                            const uint8_t *src, int64_t src_step,
                                                            size_t size, int64_t n)
{
    for (; n > 0; n--, dst += dst_step, src += src_step)
        memcpy(dst, src, size);
}

/* Moves stored elements as they are; memory holds them back to back. */
static void copy_raw(uint8_t *dst, int64_t dst_step, const uint8_t *src, int64_t src_step,
                     size_t size, int64_t n)
{
    if (dst_step == src_step) /* the elements of both sides are back to back */
        memcpy(dst, src, size * (size_t)n);
    else if (size == 8)
        copy_each(dst, dst_step, src, src_step, 8, n);
    else if (size == 4)
        copy_each(dst, dst_step, src, src_step, 4, n);
    else
        copy_each(dst, dst_step, src, src_step, size, n);
}

/* Likewise, elements of a struct in memory. */
static int run_copy(struct conv *c, void *mem, int64_t at, uint8_t *file, int64_t step, int64_t n,
                    bool writing)
{
    int64_t es = c->stored->extent;
    uint8_t *m = (uint8_t *)mem + at * es;

    if (writing)
        copy_raw(file, step, m, es, (size_t)es, n);
    else
        copy_raw(m, es, file, step, (size_t)es, n);
    if (c->opts.report)
        c->report.items += n * c->stored->items;
    return 0;
}

/* Gives elements that were copied as they are contents in the new heap. */
static int move_contents(struct conv *c, uint8_t *file, int64_t step, int64_t n)
{
    int64_t each = step == c->stored->extent ? n : 1;
    int err = 0;

    for (; !err && n > 0; n -= each, file += each * step)
        err = heap_move(c->stored, file, each, c->heap, c->heap_size, c->heap_base, c->heap_out);
    return err;
}

/* Moves the members that a write names; the others stay.  What they refer to moves from a copy in
 * which nothing else refers to anything. */
static int move_members(struct conv *c, uint8_t *file, int64_t step, const uint8_t *mem, int64_t n)
{
    size_t es = (size_t)c->stored->extent;
    uint8_t *copy = c->contents ? mem_alloc(es + 1) : NULL;
    int err = c->contents && !copy ? fail_nomem() : 0;

    for (; !err && n > 0; n--, file += step, mem += es) {
        if (!copy) {
            byte_ranges_copy(c->ranges, file, mem, es);
            continue;
        }
        memset(copy, 0, es);
        byte_ranges_copy(c->ranges, copy, mem, es);
        err = heap_move(c->stored, copy, 1, c->heap, c->heap_size, c->heap_base, c->heap_out);
        byte_ranges_copy(c->ranges, file, copy, es);
    }
    mem_free(copy);
    return err;
}

uint64_t conv_weight(const struct conv *c, const uint8_t *file, int64_t step, int64_t n)
{
    size_t es = (size_t)c->stored->extent;
    uint64_t weight = 0;
    uint8_t *copy;

    if (!c->raw || !c->ranges)
        return heap_weight(c->stored, file, step, n);
    copy = mem_alloc(es + 1);
    for (; copy && n > 0; n--, file += step) {
        memset(copy, 0, es);
        byte_ranges_copy(c->ranges, copy, file, es);
        weight += heap_weight(c->stored, copy, step, 1);
    }
    mem_free(copy);
    return weight;
}

/* Chooses among bytes as they are, the kernel, the engine and a user's functions. */
static int conv_run(struct conv *c, void *mem, int64_t at, uint8_t *file, int64_t step, int64_t n,
                    bool writing)
{
    if (n == 0 || c->stored->items == 0)
        return 0;
    if (c->raw) {
        int64_t es = c->stored->extent;
        uint8_t *m = (uint8_t *)mem + at * es;

        if (writing && c->ranges)
            return move_members(c, file, step, m, n);
        if (writing)
            copy_raw(file, step, m, es, (size_t)es, n);
        else
            copy_raw(m, es, file, step, (size_t)es, n);
        return writing && c->contents ? move_contents(c, file, step, n) : 0;
    }
    if (c->dense)
        return run_kernel(c, mem, at, file, step, n, writing);
    if (c->copy)
        return run_copy(c, mem, at, file, step, n, writing);
    if (c->table || !c->rep->datarep)
        return run_engine(c, mem, at, file, step, n, writing);
    return functions_run(c, mem, at, file, step, n, writing);
}

int conv_read(struct conv *c, void *mem, int64_t at, const uint8_t *file, int64_t step, int64_t n)
{
    return conv_run(c, mem, at, (uint8_t *)(uintptr_t)file, step, n, false);
}

int conv_write(struct conv *c, const void *mem, int64_t at, uint8_t *file, int64_t step, int64_t n)
{
    return conv_run(c, (void *)(uintptr_t)mem, at, file, step, n, true);
}

/* ---- variable length ---- */

/* The converter of a sequence's elements. */
struct inner {
    struct conv conv;
    struct ftype ft;
};

static void inner_release(struct inner *in)
{
    if (in->ft.laid_out)
        prog_release(&in->ft.stored);
}

/* True if the elements of this sequence lie packed in the heap, and not as a record of their type
 * says, or as type_match() found them. */
static bool packed_content(const struct conv *c, const drep_type *leaf)
{
    return c->self && !(c->ft->matched && leaf->content.root);
}

/* Makes the converter of a sequence's elements from that of the whole. Sequences nest only so deep,
 * whatever a file says. */
static int inner_init(struct inner *in, const struct conv *c, const drep_type *file_leaf,
                      const drep_type *mem_base, bool writing)
{
    const drep_type *file_base = drep_type_member(file_leaf, 0);
    int err;

    if (c->depth + 1 > FMT_SEQ_DEPTH_MAX)
        return fail(DREP_ERR_LIMIT, "sequences nested deeper than %d", FMT_SEQ_DEPTH_MAX);
    memset(in, 0, sizeof *in);
    in->ft.type = (drep_type *)(uintptr_t)file_base;
    in->ft.matched = c->ft->matched;
    err = heap_prog(file_leaf, packed_content(c, file_leaf) ? c->sizes : NULL, c->layout,
                    &in->ft.stored, &in->ft.laid_out);
    if (err)
        return err;
    in->conv = *c;
    in->conv.ft = &in->ft;
    in->conv.mem = mem_base;
    in->conv.stored = &in->ft.stored;
    in->conv.depth = c->depth + 1;
    in->conv.opts.report = report_contents(&in->conv.report, c->opts.report);
    in->conv.dense = in->conv.copy = false;
    err = !in->conv.table ? functions_init(&in->conv) : set_kernel(&in->conv, writing);
    if (err)
        inner_release(in);
    return err;
}

/* Reads a sequence into new memory of the caller's. Nothing is left of it after an error. */
static int read_sequence(struct conv *c, const drep_type *dst_leaf, drep_vlen *dst,
                         const drep_type *src_leaf, const uint8_t *src)
{
    const drep_type *mb = drep_type_member(dst_leaf, 0), *fb = drep_type_member(src_leaf, 0);
    struct heap_ref at = heap_ref_get(src);
    struct inner in;
    const uint8_t *p = NULL;
    int64_t n = 0;
    void *data = NULL;
    int err;

    *dst = (drep_vlen){0, NULL};
    if (at.count == 0)
        return 0;
    if ((err = inner_init(&in, c, src_leaf, mb, false)))
        return err;
    err = heap_at(c->heap, c->heap_size, at, (uint64_t)in.ft.stored.extent, &p);
    if (!err)
        err = sequence_count(fb, (int64_t)at.count, mb, &n);
    if (!err)
        err = sequence_alloc(mb, n, &data);
    if (!err)
        err = conv_read(&in.conv, data, 0, p, in.ft.stored.extent, (int64_t)at.count);
    if (!err)
        report_add_contents(c->opts.report, &in.conv.report, c->var.item);
    inner_release(&in);
    if (err) {
        if (data && mb->variable)
            drep_vlen_free(mb, n, data);
        mem_free(data);
        return err;
    }
    *dst = (drep_vlen){n, data};
    return 0;
}

/* Gives the bytes of a text, NULL of one that has none. */
static int text_at(const struct conv *c, struct heap_ref at, const uint8_t **p)
{
    *p = NULL;
    return at.count == 0 ? 0 : heap_at(c->heap, c->heap_size, at, 1, p);
}

/* Reads a text as a vstring. */
static int read_text(struct conv *c, struct heap_ref at, const drep_type *vstring, void *dst)
{
    const uint8_t *p;
    int err = text_at(c, at, &p);

    return err ? err : text_put(&c->opts, c->var.item, vstring, dst, p, (size_t)at.count);
}

/* Reads the text of a region, which has no NUL (R5.35). */
static int read_region(struct conv *c, struct heap_ref at, char **dst)
{
    const uint8_t *p;
    int err = at.count == 0 ? 0 : text_at(c, at, &p);

    if (err || at.count == 0)
        return err;
    *dst = mem_strndup((const char *)p, (size_t)at.count);
    return *dst ? 0 : fail_nomem();
}

/* Reads a string as a vstring, a vstring as a string, or a string's bytes. */
static int read_string(struct conv *c, const drep_type *dst_leaf, void *dst,
                       const drep_type *src_leaf, const void *src)
{
    struct heap_ref at;
    const uint8_t *p;
    int err;

    if (src_leaf->kind == DREP_KIND_VSTRING) {
        at = heap_ref_get(src);
        err = text_at(c, at, &p);
        return err ? err : text_give(&c->opts, c->var.item, p, (size_t)at.count, dst_leaf, dst);
    }
    if (dst_leaf->kind == DREP_KIND_STRING) {
        memcpy(dst, src, (size_t)src_leaf->args[0]);
        return 0;
    }
    return text_put(&c->opts, c->var.item, dst_leaf, dst, src,
                    text_size((int)src_leaf->args[1], src, (size_t)src_leaf->args[0]));
}

/* Reads a vstring as a sequence of bytes, or such a sequence as a vstring. */
static int read_text_bytes(struct conv *c, const drep_type *dst_leaf, void *dst,
                           const drep_type *src_leaf, const void *src)
{
    drep_vlen v = {0, NULL};
    const uint8_t *p;
    int err;

    if (src_leaf->kind == DREP_KIND_VSTRING) {
        struct heap_ref at = heap_ref_get(src);

        err = text_at(c, at, &p);
        if (!err && p)
            err = sequence_alloc(drep_type_member(dst_leaf, 0), (int64_t)at.count, &v.data);
        if (err)
            return err;
        if (p)
            memcpy(v.data, p, (size_t)(v.count = (int64_t)at.count));
        memcpy(dst, &v, sizeof v);
        return 0;
    }
    err = read_sequence(c, src_leaf, &v, src_leaf, src);
    if (!err)
        err = text_put(&c->opts, c->var.item, dst_leaf, dst, v.data, (size_t)v.count);
    mem_free(v.data);
    return err;
}

/* Reads an item that the engine cannot: sequences, texts and references. */
static int move_read(void *ctx, const drep_type *dst_leaf, void *dst, const drep_type *src_leaf,
                     const void *src)
{
    struct conv *c = ctx;

    if (src_leaf->kind == DREP_KIND_VSTRING && dst_leaf->kind == DREP_KIND_VSTRING)
        return read_text(c, heap_ref_get(src), dst_leaf, dst);
    if (texts(dst_leaf, src_leaf))
        return read_string(c, dst_leaf, dst, src_leaf, src);
    if (text_and_bytes(dst_leaf, src_leaf))
        return read_text_bytes(c, dst_leaf, dst, src_leaf, src);
    if (dst_leaf->kind != src_leaf->kind)
        return no_conversion(dst_leaf, src_leaf);
    if (src_leaf->kind == DREP_KIND_SEQUENCE) {
        drep_vlen v;
        int err = read_sequence(c, dst_leaf, &v, src_leaf, src);

        if (!err)
            memcpy(dst, &v, sizeof v);
        return err;
    }
    if (src_leaf->kind == DREP_KIND_REFERENCE &&
        drep_type_reference_what(dst_leaf) == drep_type_reference_what(src_leaf)) {
        drep_ref ref = {key_u64(src), NULL};
        int err = 0;

        if (drep_type_reference_what(src_leaf) == DREP_REF_REGION)
            err = read_region(c, heap_ref_get((const uint8_t *)src + 8), &ref.region);
        if (!err)
            memcpy(dst, &ref, sizeof ref);
        return err;
    }
    return no_conversion(dst_leaf, src_leaf);
}

/* Writes a sequence. Its place in the heap comes first, so that inner contents come behind it; its
 * bytes come last, since the heap may move meanwhile. */
static int write_sequence(struct conv *c, const drep_type *dst_leaf, uint8_t *dst,
                          const drep_type *src_leaf, const drep_vlen *src)
{
    const drep_type *mb = drep_type_member(src_leaf, 0), *fb = drep_type_member(dst_leaf, 0);
    struct inner in;
    uint64_t offset = 0, size = 0;
    uint8_t *tmp = NULL;
    int64_t n = 0;
    int err;

    memset(dst, 0, 16);
    if (src->count == 0)
        return 0;
    if ((err = sequence_check(src)))
        return err;
    if ((err = type_elements(mb, src->count, &n)))
        return err;
    if ((err = inner_init(&in, c, dst_leaf, mb, true)))
        return err;
    err = sequence_count(mb, src->count, fb, &n);
    if (!err && __builtin_mul_overflow((uint64_t)n, (uint64_t)in.ft.stored.extent, &size))
        err = fail(DREP_ERR_LIMIT, "a sequence of %lld elements", (long long)n);
    /* The place first, so that inner contents come behind it; its bytes last, since the
     * heap may move meanwhile. */
    if (!err)
        err = heap_add(c->heap_out, c->heap_base, NULL, size, &offset);
    if (!err && !(tmp = mem_zalloc(1, size + 1)))
        err = fail_nomem();
    if (!err)
        err = conv_write(&in.conv, src->data, 0, tmp, in.ft.stored.extent, n);
    if (!err) {
        report_add_contents(c->opts.report, &in.conv.report, c->var.item);
        memcpy(c->heap_out->p + (offset - c->heap_base), tmp, (size_t)size);
        heap_ref_put(dst, (uint64_t)n, offset);
    }
    mem_free(tmp);
    inner_release(&in);
    return err;
}

static int write_bytes(struct conv *c, const void *s, uint64_t len, uint8_t *dst)
{
    uint64_t offset = 0;
    int err = len == 0 ? 0 : heap_add(c->heap_out, c->heap_base, s, len, &offset);

    if (!err)
        heap_ref_put(dst, len, offset);
    return err;
}

/* Writes a vstring of memory. */
static int write_text(struct conv *c, const drep_type *vstring, const void *src, uint8_t *dst)
{
    const void *p = NULL;
    size_t n = 0;
    int err = text_get(vstring, src, &p, &n);

    return err ? err : write_bytes(c, p, n, dst);
}

/* Writes a row of vstrings. */
static int write_texts(void *ctx, uint8_t *dst, int64_t dst_step, const drep_type *src_leaf,
                       const uint8_t *src, int64_t src_step, int64_t n, int64_t *moved)
{
    struct conv *c = ctx;
    int err = 0;

    for (int64_t i = 0; !err && i < n; i++, dst += dst_step, src += src_step) {
        err = write_text(c, src_leaf, src, dst);
        *moved += !err;
    }
    return err;
}

/* Writes a string as a vstring, a vstring as a string, or a string's bytes. */
static int write_string(struct conv *c, const drep_type *dst_leaf, void *dst,
                        const drep_type *src_leaf, const void *src)
{
    const void *p = NULL;
    size_t n = 0;
    int err;

    if (src_leaf->kind == DREP_KIND_VSTRING) {
        err = text_get(src_leaf, src, &p, &n);
        return err ? err : text_give(&c->opts, c->var.item, p, n, dst_leaf, dst);
    }
    if (dst_leaf->kind == DREP_KIND_STRING) {
        memcpy(dst, src, (size_t)src_leaf->args[0]);
        return 0;
    }
    n = text_size((int)src_leaf->args[1], src, (size_t)src_leaf->args[0]);
    return write_bytes(c, src, n, dst);
}

/* Writes a vstring as a sequence of bytes, or such a sequence as a vstring. */
static int write_text_bytes(struct conv *c, const drep_type *dst_leaf, void *dst,
                            const drep_type *src_leaf, const void *src)
{
    const void *p = NULL;
    size_t n = 0;
    drep_vlen v;
    int err;

    if (src_leaf->kind == DREP_KIND_VSTRING) {
        err = text_get(src_leaf, src, &p, &n);
        v = (drep_vlen){(int64_t)n, (void *)(uintptr_t)p};
        return err ? err : write_sequence(c, dst_leaf, dst, dst_leaf, &v);
    }
    memcpy(&v, src, sizeof v);
    err = sequence_check(&v);
    return err ? err : write_bytes(c, v.data, (uint64_t)v.count, dst);
}

/* Writes an item that the engine cannot: sequences, texts and references. */
static int move_write(void *ctx, const drep_type *dst_leaf, void *dst, const drep_type *src_leaf,
                      const void *src)
{
    struct conv *c = ctx;
    struct out out;
    drep_vlen v;
    drep_ref ref;

    if (texts(dst_leaf, src_leaf))
        return write_string(c, dst_leaf, dst, src_leaf, src);
    if (dst_leaf->kind != src_leaf->kind)
        return text_and_bytes(dst_leaf, src_leaf)
                   ? write_text_bytes(c, dst_leaf, dst, src_leaf, src)
                   : no_conversion(dst_leaf, src_leaf);
    switch (src_leaf->kind) {
    case DREP_KIND_SEQUENCE:
        memcpy(&v, src, sizeof v);
        return write_sequence(c, dst_leaf, dst, src_leaf, &v);
    case DREP_KIND_VSTRING:
        return write_text(c, src_leaf, src, dst);
    case DREP_KIND_REFERENCE:
        if (drep_type_reference_what(dst_leaf) != drep_type_reference_what(src_leaf))
            return no_conversion(dst_leaf, src_leaf);
        memcpy(&ref, src, sizeof ref);
        out_init(&out, dst, 8);
        out_u64(&out, ref.object);
        if (drep_type_reference_what(src_leaf) == DREP_REF_REGION)
            return heap_add_text(c->heap_out, c->heap_base, ref.region, (uint8_t *)dst + 8);
        return 0;
    default:
        return no_conversion(dst_leaf, src_leaf);
    }
}
