/* convert.c - elements between the file and memory.
 *
 * Where a table of encodings describes the file's side, the engine converts in one
 * pass; where functions do, functions.c calls them.  Contents of variable length live in a heap
 * beside the elements and are transfers of their own. */
#include "conv/data.h"

#include <stdlib.h>
#include <string.h>

static int move_read(void *ctx, const drep_type *dst_leaf, void *dst, const drep_type *src_leaf,
                     const void *src);
static int move_write(void *ctx, const drep_type *dst_leaf, void *dst, const drep_type *src_leaf,
                      const void *src);

#define STAGING_MAX ((int64_t)4 << 20) /* bytes that one call of a function is given */
#define HEAP_MAX ((uint64_t)1 << 40)   /* contents of one payload */

/* ---- setting up ---- */

static bool plain_leaf(const drep_type *leaf)
{
    return leaf->kind == DREP_KIND_PREDEFINED;
}

static void set_ranges(struct conv *c, const drep_xfer *xfer)
{
    int range = xfer == NULL ? DREP_RANGE_DEFAULT : xfer->range;

    c->opts.range = range == DREP_RANGE_DEFAULT ? DREP_RANGE_WRAP : range;
    c->opts.value_range = range == DREP_RANGE_DEFAULT ? DREP_RANGE_STRICT : range;
    c->report = (drep_report){.first_overflow = -1, .first_inexact = -1, .first_nan_lost = -1};
    if (xfer != NULL && xfer->report != NULL)
        c->opts.report = &c->report;
}

/* Both sides one array of one scalar: the kernel is picked once. */
static int set_kernel(struct conv *c, bool writing)
{
    const struct prog *mem = &c->mem->prog;
    const drep_type *fl, *ml;
    const drep_encoding *fe, *me;
    int err;

    if (c->table == NULL || !c->stored->dense || !mem->dense || c->stored->root == NULL)
        return 0;
    fl = c->stored->root->leaf;
    ml = mem->root->leaf;
    if ((!plain_leaf(fl) && fl->kind != DREP_KIND_SCALAR) ||
        (!plain_leaf(ml) && ml->kind != DREP_KIND_SCALAR))
        return 0;
    err = writing ? kernel_pick(&c->kernel, c->table, fl, rep_native(), ml, &c->opts)
                  : kernel_pick(&c->kernel, rep_native(), ml, c->table, fl, &c->opts);
    if (err != 0)
        return err;
    c->dense = true;
    if (plain_leaf(fl) && fl == ml) {
        fe = &c->table->row[fl->code];
        me = &rep_native()->row[fl->code];
        c->copy = fe->format == me->format && fe->size == me->size &&
                  (fe->order == me->order || fe->size == 1) && fe->format != DREP_FORMAT_CUSTOM &&
                  fe->format != DREP_FORMAT_BOOL && fe->format != DREP_FORMAT_X87;
    }
    return 0;
}

static void set_staging(struct conv *c, const drep_file *f)
{
    c->staging = f->hint_staging;
    if (c->staging < 1 || c->staging > STAGING_MAX)
        c->staging = STAGING_MAX;
}

static int conv_common(struct conv *c, drep_file *f, const struct ftype *ft, const drep_type *mem,
                       bool writing)
{
    c->file = f;
    c->ft = ft;
    c->mem = mem == NULL ? ft->type : mem;
    c->var.move = writing ? move_write : move_read;
    set_staging(c, f);
    return 0;
}

static int conv_make(struct conv *c, drep_file *f, const struct ftype *ft, const drep_type *mem,
                     const drep_xfer *xfer, bool writing)
{
    memset(c, 0, sizeof *c);
    if (f->rep == NULL)
        return fail(DREP_ERR_UNSUPPORTED_DATAREP,
                    "datarep \"%s\": the file was opened for its header only", f->name);
    conv_common(c, f, ft, mem, writing);
    set_ranges(c, xfer);
    c->sizes = &f->sizes;
    c->layout = header_layout(f);
    c->stored = &ft->stored;
    c->table = header_table(f, writing);
    return c->table == NULL ? functions_init(c) : set_kernel(c, writing);
}

/* Keeps what was made for the next transfer; whoever comes first. */
static void conv_keep(struct ftype *ft, const struct conv *c, bool writing)
{
    struct conv *copy = mem_alloc(sizeof *copy), *none = NULL;

    if (copy == NULL)
        return;
    *copy = *c;
    if (!atomic_compare_exchange_strong(&ft->ready[writing], &none, copy))
        mem_free(copy);
}

int conv_init(struct conv *c, drep_file *f, struct ftype *ft, const drep_type *mem,
              const drep_xfer *xfer, bool writing)
{
    bool usual = ft->kept && (mem == NULL || mem == ft->type) &&
                 (xfer == NULL || (xfer->range == DREP_RANGE_DEFAULT && xfer->report == NULL));
    const struct conv *ready = usual ? atomic_load(&ft->ready[writing]) : NULL;
    int err;

    if (ready != NULL) {
        *c = *ready;
        set_staging(c, f);
        return 0;
    }
    err = conv_make(c, f, ft, mem, xfer, writing);
    if (err == 0 && usual)
        conv_keep(ft, c, writing);
    return err;
}

int conv_init_table(struct conv *c, drep_file *f, const struct ftype *ft,
                    const struct rep_table *table, const struct type_sizes *sizes,
                    const struct prog *stored, const drep_type *mem, bool writing)
{
    memset(c, 0, sizeof *c);
    conv_common(c, f, ft, mem, writing);
    set_ranges(c, NULL);
    c->table = table;
    c->self = true;
    c->sizes = sizes;
    c->layout = PROG_PACKED;
    c->stored = stored;
    return set_kernel(c, writing);
}

void conv_report(const struct conv *c, const drep_xfer *xfer)
{
    drep_report *to;
    const drep_report *r = &c->report;

    if (xfer == NULL || (to = xfer->report) == NULL)
        return;
    to->items += r->items;
    to->overflow += r->overflow;
    to->inexact += r->inexact;
    to->nan_lost += r->nan_lost;
    if (r->first_overflow >= 0 &&
        (to->first_overflow < 0 || r->first_overflow < to->first_overflow))
        to->first_overflow = r->first_overflow;
    if (r->first_inexact >= 0 && (to->first_inexact < 0 || r->first_inexact < to->first_inexact))
        to->first_inexact = r->first_inexact;
    if (r->first_nan_lost >= 0 &&
        (to->first_nan_lost < 0 || r->first_nan_lost < to->first_nan_lost))
        to->first_nan_lost = r->first_nan_lost;
}

/* ---- tables ---- */

/* n elements through the kernel. */
static int run_kernel(struct conv *c, char *mem, int64_t at, uint8_t *file, int64_t step, int64_t n,
                      bool writing)
{
    int64_t per = c->stored->items, msize = c->mem->prog.root->stride;
    int64_t fsize = c->stored->root->stride;
    char *m = mem + c->mem->prog.origin + at * per * msize;
    uint8_t *p = file + c->stored->origin;

    if (per > 1 && step != per * fsize) {
        for (int64_t i = 0; i < n; i++) {
            int err = run_kernel(c, mem, at + i, file + i * step, per * fsize, 1, writing);

            if (err != 0)
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
        if (c->opts.report != NULL)
            c->report.items += n * per;
        return 0;
    }
    c->kernel.report = c->opts.report;
    if (c->opts.report != NULL)
        c->report.items += n * per;
    int64_t bad = writing ? kernel_run(&c->kernel, p, step, m, msize, n * per, at * per)
                          : kernel_run(&c->kernel, m, msize, p, step, n * per, at * per);
    if (bad != 0)
        return fail(DREP_ERR_CONVERSION, "item %lld does not fit its target",
                    (long long)(at * per + bad - 1));
    return 0;
}

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
        struct rep_side fs = {c->stored, c->table == NULL ? rep_native() : c->table, 0};
        uint8_t *p = file + i * step;
        int err;

        c->opts.base = (at + i) * per;
        err = writing ? rep_convert(p, &fs, mem, &ms, each, &c->opts, NULL)
                      : rep_convert(mem, &ms, p, &fs, each, &c->opts, NULL);
        if (err != 0)
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

/* Stored elements, back to back in memory. */
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

static int conv_run(struct conv *c, void *mem, int64_t at, uint8_t *file, int64_t step, int64_t n,
                    bool writing)
{
    if (n == 0 || c->stored->items == 0)
        return 0;
    if (c->raw) {
        int64_t es = c->stored->extent;
        uint8_t *m = (uint8_t *)mem + at * es;

        if (writing)
            copy_raw(file, step, m, es, (size_t)es, n);
        else
            copy_raw(m, es, file, step, (size_t)es, n);
        return 0;
    }
    if (c->dense)
        return run_kernel(c, mem, at, file, step, n, writing);
    if (c->table != NULL || c->file->rep == NULL)
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

struct place {
    uint64_t count, offset;
};

static struct place place_get(const uint8_t *p)
{
    return (struct place){key_u64(p), key_u64(p + 8)};
}

static void place_put(uint8_t *p, uint64_t count, uint64_t offset)
{
    struct out out;

    out_init(&out, p, 16);
    out_u64(&out, count);
    out_u64(&out, offset);
}

/* Bytes [offset, offset + count * size) of the heap. */
static int heap_at(const struct conv *c, struct place at, uint64_t size, const uint8_t **p)
{
    if (at.offset > c->heap_size || size == 0 || at.count > (c->heap_size - at.offset) / size)
        return fail(DREP_ERR_FORMAT,
                    "a sequence of %llu elements at byte %llu exceeds its heap of %zu bytes",
                    (unsigned long long)at.count, (unsigned long long)at.offset, c->heap_size);
    *p = c->heap + at.offset;
    return 0;
}

static int heap_add(struct conv *c, const void *p, uint64_t size, uint64_t *offset)
{
    struct buf *h = c->heap_out;
    int err;

    if (size > HEAP_MAX || h->len > HEAP_MAX - size)
        return fail(DREP_ERR_LIMIT, "variable-length data of %llu bytes", (unsigned long long)size);
    if ((err = buf_reserve(h, h->len + size)) != 0)
        return err;
    *offset = c->heap_base + h->len;
    if (p != NULL)
        memcpy(h->p + h->len, p, (size_t)size);
    else
        memset(h->p + h->len, 0, (size_t)size);
    h->len += (size_t)size;
    return 0;
}

/* How a sequence's elements lie in the heap: as the record of a dataset's type says, or
 * packed by the sizes of a self-described value.  *ours: the caller releases it. */
static int base_prog(const drep_type *leaf, const struct type_sizes *sizes, enum prog_layout layout,
                     struct prog *out, bool *ours)
{
    *ours = sizes != NULL;
    if (*ours)
        return prog_build(out, drep_type_member(leaf, 0), sizes, layout);
    *out = leaf->content;
    return 0;
}

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

static int inner_init(struct inner *in, const struct conv *c, const drep_type *file_leaf,
                      const drep_type *mem_base, bool writing)
{
    const drep_type *file_base = drep_type_member(file_leaf, 0);
    int err;

    if (c->depth + 1 > FMT_SEQ_DEPTH_MAX)
        return fail(DREP_ERR_LIMIT, "sequences nested deeper than %d", FMT_SEQ_DEPTH_MAX);
    memset(in, 0, sizeof *in);
    in->ft.type = (drep_type *)(uintptr_t)file_base;
    err = base_prog(file_leaf, c->self ? c->sizes : NULL, c->layout, &in->ft.stored,
                    &in->ft.laid_out);
    if (err != 0)
        return err;
    in->conv = *c;
    in->conv.ft = &in->ft;
    in->conv.mem = mem_base;
    in->conv.stored = &in->ft.stored;
    in->conv.depth = c->depth + 1;
    in->conv.opts.report = NULL;
    in->conv.dense = in->conv.copy = false;
    err = in->conv.table == NULL ? functions_init(&in->conv) : set_kernel(&in->conv, writing);
    if (err != 0)
        inner_release(in);
    return err;
}

/* `count` elements of the file's base must fill whole elements of memory's. */
static int inner_count(const drep_type *from, int64_t count, const drep_type *to, int64_t *n)
{
    int64_t items;

    if (__builtin_mul_overflow(count, from->items, &items) || to->items == 0 ||
        items % to->items != 0)
        return fail(DREP_ERR_COUNT, "a sequence of %lld elements does not fill its target",
                    (long long)count);
    *n = items / to->items;
    return 0;
}

/* New zeroed memory for n elements of a sequence. */
static int inner_alloc(const drep_type *base, int64_t n, void **data)
{
    int64_t lb = drep_type_true_lb(base), bytes;

    if (lb < 0 || lb + drep_type_true_extent(base) > base->prog.extent)
        return fail(DREP_ERR_TYPE, "the elements of a sequence reach beyond their extent");
    if (__builtin_mul_overflow(n, base->prog.extent, &bytes))
        return fail(DREP_ERR_LIMIT, "a sequence of %lld elements", (long long)n);
    *data = mem_zalloc(1, (uint64_t)bytes);
    return *data != NULL ? 0 : fail(DREP_ERR_NOMEM, "out of memory");
}

static int read_sequence(struct conv *c, const drep_type *dst_leaf, drep_vlen *dst,
                         const drep_type *src_leaf, const uint8_t *src)
{
    const drep_type *mb = drep_type_member(dst_leaf, 0), *fb = drep_type_member(src_leaf, 0);
    struct place at = place_get(src);
    struct inner in;
    const uint8_t *p = NULL;
    int64_t n = 0;
    void *data = NULL;
    int err;

    *dst = (drep_vlen){0, NULL};
    if (at.count == 0)
        return 0;
    if ((err = inner_init(&in, c, src_leaf, mb, false)) != 0)
        return err;
    err = heap_at(c, at, (uint64_t)in.ft.stored.extent, &p);
    if (err == 0)
        err = inner_count(fb, (int64_t)at.count, mb, &n);
    if (err == 0)
        err = inner_alloc(mb, n, &data);
    if (err == 0)
        err = conv_read(&in.conv, data, 0, p, in.ft.stored.extent, (int64_t)at.count);
    inner_release(&in);
    if (err != 0) {
        if (data != NULL && mb->variable)
            drep_vlen_free(mb, n, data);
        mem_free(data);
        return err;
    }
    *dst = (drep_vlen){n, data};
    return 0;
}

static int read_text(struct conv *c, struct place at, char **dst)
{
    const uint8_t *p = NULL;
    char *s;
    int err = at.count == 0 ? 0 : heap_at(c, at, 1, &p);

    *dst = NULL;
    if (err != 0)
        return err;
    s = mem_strndup(p == NULL ? "" : (const char *)p, (size_t)at.count);
    if (s == NULL)
        return fail(DREP_ERR_NOMEM, "out of memory");
    *dst = s;
    return 0;
}

static int no_move(const drep_type *dst_leaf, const drep_type *src_leaf)
{
    char *a = NULL, *b = NULL;
    int err;

    drep_type_print(src_leaf, &a);
    drep_type_print(dst_leaf, &b);
    err = fail(DREP_ERR_TYPE, "no conversion from %s to %s", a == NULL ? "?" : a,
               b == NULL ? "?" : b);
    mem_free(a);
    mem_free(b);
    return err;
}

static int move_read(void *ctx, const drep_type *dst_leaf, void *dst, const drep_type *src_leaf,
                     const void *src)
{
    struct conv *c = ctx;

    if (dst_leaf->kind != src_leaf->kind)
        return no_move(dst_leaf, src_leaf);
    if (src_leaf->kind == DREP_KIND_SEQUENCE) {
        drep_vlen v;
        int err = read_sequence(c, dst_leaf, &v, src_leaf, src);

        if (err == 0)
            memcpy(dst, &v, sizeof v);
        return err;
    }
    if (src_leaf->kind == DREP_KIND_VSTRING) {
        char *s;
        int err = read_text(c, place_get(src), &s);

        if (err == 0)
            memcpy(dst, &s, sizeof s);
        return err;
    }
    if (src_leaf->kind == DREP_KIND_REFERENCE &&
        drep_type_reference_what(dst_leaf) == drep_type_reference_what(src_leaf)) {
        drep_ref ref = {key_u64(src), NULL};
        int err = 0;

        if (drep_type_reference_what(src_leaf) == DREP_REF_REGION &&
            place_get((const uint8_t *)src + 8).count != 0)
            err = read_text(c, place_get((const uint8_t *)src + 8), &ref.region);
        if (err == 0)
            memcpy(dst, &ref, sizeof ref);
        return err;
    }
    return no_move(dst_leaf, src_leaf);
}

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
    if (src->count < 0 || src->data == NULL)
        return fail(DREP_ERR_COUNT, "a sequence of %lld elements without data",
                    (long long)src->count);
    if ((err = type_elements(mb, src->count, &n)) != 0)
        return err;
    if ((err = inner_init(&in, c, dst_leaf, mb, true)) != 0)
        return err;
    err = inner_count(mb, src->count, fb, &n);
    if (err == 0 && __builtin_mul_overflow((uint64_t)n, (uint64_t)in.ft.stored.extent, &size))
        err = fail(DREP_ERR_LIMIT, "a sequence of %lld elements", (long long)n);
    /* The place first, so that inner contents come behind it; its bytes last, since the
     * heap may move meanwhile. */
    if (err == 0)
        err = heap_add(c, NULL, size, &offset);
    if (err == 0 && (tmp = mem_zalloc(1, size + 1)) == NULL)
        err = fail(DREP_ERR_NOMEM, "out of memory");
    if (err == 0)
        err = conv_write(&in.conv, src->data, 0, tmp, in.ft.stored.extent, n);
    if (err == 0) {
        memcpy(c->heap_out->p + (offset - c->heap_base), tmp, (size_t)size);
        place_put(dst, (uint64_t)n, offset);
    }
    mem_free(tmp);
    inner_release(&in);
    return err;
}

static int write_text(struct conv *c, const char *s, uint8_t *dst)
{
    uint64_t len = s == NULL ? 0 : strlen(s), offset = 0;
    int err = len == 0 ? 0 : heap_add(c, s, len, &offset);

    if (err == 0)
        place_put(dst, len, offset);
    return err;
}

static int move_write(void *ctx, const drep_type *dst_leaf, void *dst, const drep_type *src_leaf,
                      const void *src)
{
    struct conv *c = ctx;
    struct out out;
    drep_vlen v;
    drep_ref ref;
    char *s;

    if (dst_leaf->kind != src_leaf->kind)
        return no_move(dst_leaf, src_leaf);
    switch (src_leaf->kind) {
    case DREP_KIND_SEQUENCE:
        memcpy(&v, src, sizeof v);
        return write_sequence(c, dst_leaf, dst, src_leaf, &v);
    case DREP_KIND_VSTRING:
        memcpy(&s, src, sizeof s);
        return write_text(c, s, dst);
    case DREP_KIND_REFERENCE:
        if (drep_type_reference_what(dst_leaf) != drep_type_reference_what(src_leaf))
            return no_move(dst_leaf, src_leaf);
        memcpy(&ref, src, sizeof ref);
        out_init(&out, dst, 8);
        out_u64(&out, ref.object);
        if (drep_type_reference_what(src_leaf) == DREP_REF_REGION)
            return write_text(c, ref.region, (uint8_t *)dst + 8);
        return 0;
    default:
        return no_move(dst_leaf, src_leaf);
    }
}

static int copy_sequence(const struct rep_opts *opts, const drep_type *db, drep_vlen *dst,
                         const drep_type *sb, const drep_vlen *src)
{
    struct rep_opts o = *opts;
    drep_vlen to = {0, NULL};
    int64_t items = 0; /* what memory holds */
    int err = src->count > 0 ? type_elements(sb, src->count, &items) : 0;

    if (err != 0)
        return err;
    o.report = NULL;
    if (items > 0) {
        if ((err = inner_count(sb, src->count, db, &to.count)) != 0)
            return err;
        if ((err = inner_alloc(db, to.count, &to.data)) != 0)
            return err;
        err = rep_convert(to.data, &(struct rep_side){&db->prog, rep_native(), 0}, src->data,
                          &(struct rep_side){&sb->prog, rep_native(), 0}, items, &o, NULL);
        if (err != 0) {
            drep_vlen_free(db, to.count, to.data);
            mem_free(to.data);
            return err;
        }
    }
    *dst = to;
    return 0;
}

int move_memory(void *ctx, const drep_type *dst_leaf, void *dst, const drep_type *src_leaf,
                const void *src)
{
    drep_ref ref;
    drep_vlen v, to;
    char *s;
    int err;

    if (dst_leaf->kind != src_leaf->kind)
        return no_move(dst_leaf, src_leaf);
    switch (src_leaf->kind) {
    case DREP_KIND_VSTRING:
        memcpy(&s, src, sizeof s);
        if (s != NULL && (s = mem_strdup(s)) == NULL)
            return fail(DREP_ERR_NOMEM, "out of memory");
        memcpy(dst, &s, sizeof s);
        return 0;
    case DREP_KIND_REFERENCE:
        memcpy(&ref, src, sizeof ref);
        if (ref.region != NULL && drep_type_reference_what(src_leaf) == DREP_REF_REGION &&
            (ref.region = mem_strdup(ref.region)) == NULL)
            return fail(DREP_ERR_NOMEM, "out of memory");
        memcpy(dst, &ref, sizeof ref);
        return 0;
    default:
        break;
    }
    memcpy(&v, src, sizeof v);
    err = copy_sequence(ctx, drep_type_member(dst_leaf, 0), &to, drep_type_member(src_leaf, 0), &v);
    if (err == 0)
        memcpy(dst, &to, sizeof to);
    return err;
}

void conv_clear(const drep_type *type, int64_t count, void *buf)
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

int drep_convert(const drep_type *to, void *dst, const drep_type *from, const void *src,
                 int64_t count, const drep_xfer *xfer)
{
    struct conv c = {0};
    struct rep_var move = {move_memory, &c.opts};
    int64_t items = 0, same = 0;
    int err;

    if (to == NULL || from == NULL || (count > 0 && (dst == NULL || src == NULL)))
        return fail(DREP_ERR_ARG, "drep_convert: null argument");
    if ((err = type_elements(from, count, &items)) != 0)
        return fail_in(err, "drep_convert");
    if (items > 0 && (to->items == 0 || items % to->items != 0))
        return fail(DREP_ERR_COUNT, "drep_convert: %lld elements do not fill whole targets",
                    (long long)count);
    if (items > 0 && (err = type_elements(to, items / to->items, &same)) != 0)
        return fail_in(err, "drep_convert");
    set_ranges(&c, xfer);
    c.opts.var = &move;
    if (items > 0)
        conv_clear(to, items / to->items, dst);
    err = rep_convert(dst, &(struct rep_side){&to->prog, rep_native(), 0}, src,
                      &(struct rep_side){&from->prog, rep_native(), 0}, items, &c.opts, NULL);
    if (err != 0 && items > 0)
        drep_vlen_free(to, items / to->items, dst);
    if (xfer != NULL && xfer->report != NULL)
        *xfer->report = c.report;
    return err;
}

/* ---- moving heaps ---- */

static bool has_heap(const drep_type *leaf)
{
    return leaf->kind == DREP_KIND_SEQUENCE || leaf->kind == DREP_KIND_VSTRING ||
           (leaf->kind == DREP_KIND_REFERENCE && drep_type_reference_what(leaf) == DREP_REF_REGION);
}

static int heap_move_item(drep_file *f, const drep_type *leaf, uint8_t *item, struct conv *c);

static int heap_move_elems(drep_file *f, const struct prog *stored, uint8_t *elems, int64_t n,
                           struct conv *c)
{
    int64_t left = n * stored->items;
    drep_cursor cur;
    drep_run run;
    int err = cursor_init(&cur, stored, 0);

    while (err == 0 && left > 0) {
        drep_cursor_next(&cur, left, &run);
        left -= run.count;
        if (!has_heap(run.type))
            continue;
        for (int64_t i = 0; err == 0 && i < run.count; i++)
            err = heap_move_item(f, run.type, elems + run.offset + i * run.stride, c);
    }
    return err;
}

static int heap_move_item(drep_file *f, const drep_type *leaf, uint8_t *item, struct conv *c)
{
    uint8_t *at_bytes = item + (leaf->kind == DREP_KIND_REFERENCE ? 8 : 0);
    struct place at = place_get(at_bytes);
    struct prog base = {.extent = 1};
    bool ours = false;
    const drep_type *bt = NULL;
    const uint8_t *p = NULL;
    uint8_t *tmp = NULL;
    uint64_t offset = 0, size;
    int err = 0;

    if (at.count == 0) {
        memset(at_bytes, 0, 16);
        return 0;
    }
    if (c->depth >= FMT_SEQ_DEPTH_MAX)
        return fail(DREP_ERR_LIMIT, "sequences nested deeper than %d", FMT_SEQ_DEPTH_MAX);
    if (leaf->kind == DREP_KIND_SEQUENCE) {
        bt = drep_type_member(leaf, 0);
        if ((err = base_prog(leaf, NULL, PROG_PACKED, &base, &ours)) != 0)
            return err;
    }
    size = at.count * (uint64_t)base.extent;
    err = heap_at(c, at, (uint64_t)base.extent, &p);
    if (err == 0)
        err = heap_add(c, p, size, &offset);
    if (err == 0 && bt != NULL && bt->variable) {
        tmp = mem_alloc(size);
        if (tmp == NULL)
            err = fail(DREP_ERR_NOMEM, "out of memory");
        if (err == 0) {
            memcpy(tmp, p, (size_t)size);
            c->depth++;
            err = heap_move_elems(f, &base, tmp, (int64_t)at.count, c);
            c->depth--;
        }
        if (err == 0)
            memcpy(c->heap_out->p + (offset - c->heap_base), tmp, (size_t)size);
        mem_free(tmp);
    }
    if (ours)
        prog_release(&base);
    if (err == 0)
        place_put(at_bytes, at.count, offset);
    return err;
}

uint64_t conv_heap_weight(const struct conv *c, const uint8_t *elems, int64_t step, int64_t n)
{
    uint64_t weight = 0;

    for (int64_t k = 0; k < n; k++, elems += step) {
        int64_t left = c->stored->items;
        drep_cursor cur;
        drep_run run;

        if (cursor_init(&cur, c->stored, 0) != 0)
            return weight;
        for (; left > 0 && cursor_next(&cur, left, &run); left -= run.count) {
            for (int64_t i = 0; has_heap(run.type) && i < run.count; i++) {
                const uint8_t *item = elems + run.offset + i * run.stride;
                struct place at = place_get(item + (run.type->kind == DREP_KIND_REFERENCE ? 8 : 0));
                struct prog base = {.extent = 1};
                bool ours = false;

                if (run.type->kind == DREP_KIND_SEQUENCE &&
                    base_prog(run.type, NULL, PROG_PACKED, &base, &ours) != 0)
                    continue;
                weight += at.count * (uint64_t)base.extent;
                if (ours)
                    prog_release(&base);
            }
        }
    }
    return weight;
}

int conv_heap_move(drep_file *f, const struct prog *stored, uint8_t *elems, int64_t n,
                   const uint8_t *heap, size_t heap_size, struct buf *heap_out, int depth)
{
    struct conv c = {.heap = heap, .heap_size = heap_size, .heap_out = heap_out, .depth = depth};

    return heap_move_elems(f, stored, elems, n, &c);
}

/* ---- checking heaps ---- */

struct contents {
    const struct type_sizes *sizes;
    enum prog_layout layout;
    const uint8_t *heap;
    size_t heap_size;
    struct place *at; /* offset and bytes (in count) of each content */
    size_t n, room, max;
    int64_t element; /* the one that is looked at, among those that are checked */
    bool disorder;
};

static int contents_add(struct contents *c, uint64_t offset, uint64_t bytes)
{
    if (c->n == c->room) {
        size_t room = c->room == 0 ? 256 : 2 * c->room;
        struct place *more = mem_resize(c->at, room, sizeof *more);

        if (more == NULL)
            return fail(DREP_ERR_NOMEM, "out of memory");
        c->at = more;
        c->room = room;
    }
    if (c->n > 0 && offset < c->at[c->n - 1].offset + c->at[c->n - 1].count)
        c->disorder = true;
    c->at[c->n++] = (struct place){bytes, offset};
    if (c->n > c->max)
        return fail(DREP_ERR_FORMAT, "variable-length contents overlap");
    return 0;
}

static int contents_of(struct contents *c, const struct prog *stored, const uint8_t *elems,
                       int64_t n, int depth);

/* A text ends in memory where its first NUL stands: one inside would cut it there. */
static int text_whole(const uint8_t *p, uint64_t size)
{
    const uint8_t *nul = memchr(p, 0, (size_t)size);

    return nul == NULL ? 0
                       : fail(DREP_ERR_FORMAT, "a text of %llu bytes has a NUL at its byte %llu",
                              (unsigned long long)size, (unsigned long long)(nul - p));
}

static int content_of(struct contents *c, const drep_type *leaf, const uint8_t *item, int depth)
{
    struct place at = place_get(item + (leaf->kind == DREP_KIND_REFERENCE ? 8 : 0));
    struct conv heap = {.heap = c->heap, .heap_size = c->heap_size};
    struct prog base = {.extent = 1};
    bool ours = false;
    const drep_type *bt = NULL;
    const uint8_t *p = NULL;
    int err = 0;

    if (at.count == 0)
        return 0;
    if (depth > FMT_SEQ_DEPTH_MAX)
        return fail(DREP_ERR_LIMIT, "sequences nested deeper than %d", FMT_SEQ_DEPTH_MAX);
    if (leaf->kind == DREP_KIND_SEQUENCE) {
        bt = drep_type_member(leaf, 0);
        if ((err = base_prog(leaf, c->sizes, c->layout, &base, &ours)) != 0)
            return err;
    }
    err = heap_at(&heap, at, (uint64_t)base.extent, &p);
    if (err == 0)
        err = contents_add(c, at.offset, at.count * (uint64_t)base.extent);
    if (err == 0 && bt == NULL)
        err = text_whole(p, at.count);
    if (err == 0 && bt != NULL && bt->variable)
        err = contents_of(c, &base, p, (int64_t)at.count, depth + 1);
    if (ours)
        prog_release(&base);
    return err;
}

static int contents_of(struct contents *c, const struct prog *stored, const uint8_t *elems,
                       int64_t n, int depth)
{
    int64_t left = n * stored->items;
    drep_cursor cur;
    drep_run run;
    int err = cursor_init(&cur, stored, 0);

    while (err == 0 && left > 0) {
        drep_cursor_next(&cur, left, &run);
        for (int64_t i = 0; has_heap(run.type) && err == 0 && i < run.count; i++) {
            if (depth == 1)
                c->element = n - (left - i + stored->items - 1) / stored->items;
            err = content_of(c, run.type, elems + run.offset + i * run.stride, depth);
        }
        left -= run.count;
    }
    return err;
}

static int by_offset(const void *a, const void *b)
{
    uint64_t x = ((const struct place *)a)->offset, y = ((const struct place *)b)->offset;

    return (x > y) - (x < y);
}

int conv_heap_check(const struct type_sizes *sizes, enum prog_layout layout,
                    const struct prog *stored, const uint8_t *elems, int64_t n, const uint8_t *heap,
                    size_t heap_size)
{
    /* What names a content takes 16 bytes itself, among the elements or in the heap. */
    struct contents c = {.sizes = sizes,
                         .layout = layout,
                         .heap = heap,
                         .heap_size = heap_size,
                         .max = ((size_t)(n * stored->extent) + heap_size) / 16};
    int err = contents_of(&c, stored, elems, n, 1);

    if (err != 0 && n > 1)
        err = fail_in(err, "element %lld", (long long)c.element);
    if (err == 0 && c.disorder) {
        qsort(c.at, c.n, sizeof *c.at, by_offset);
        for (size_t i = 1; err == 0 && i < c.n; i++)
            if (c.at[i].offset < c.at[i - 1].offset + c.at[i - 1].count)
                err = fail(DREP_ERR_FORMAT,
                           "variable-length contents overlap at byte %llu of their heap",
                           (unsigned long long)c.at[i].offset);
    }
    mem_free(c.at);
    return err;
}
