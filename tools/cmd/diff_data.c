/* diff_data.c - datasets and attributes compared: types, shapes, values.
 *
 * Values are compared in blocks read from both sides.  Chunks that neither side has stored are
 * equal fill values and are skipped, as a sparse dataset may be larger than any memory. */
/* SPDX-License-Identifier: MIT */
#include "tools/cmd/diff_data.h"
#include "schema/members.h"
#include "schema/note.h"
#include "tools/cmd/diff.h"
#include "tools/cmd/diff_meaning.h"
#include "tools/cmd/diff_say.h"
#include "tools/host/exit.h"
#include "tools/host/fail.h"
#include "tools/host/progress.h"
#include "tools/text/array.h"
#include "tools/text/print.h"
#include "tools/text/printer.h"
#include "tools/text/sink.h"
#include "tools/walk/sparse.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ------------------------------------------------------------- descriptions */

static void put_shape(struct sink *s, const int64_t *dims, const int64_t *most, int rank)
{
    int d;

    if (rank == DREP_NULL_SPACE) {
        sink_text(s, "null");
        return;
    }
    sink_char(s, '[');
    for (d = 0; d < rank; d++) {
        sink_text(s, d ? ", " : "");
        if (dims)
            sink_i64(s, dims[d]);
        else if (most[d] == DREP_UNLIMITED)
            sink_text(s, "unlimited");
        else
            sink_i64(s, most[d]);
    }
    sink_char(s, ']');
}

static void put_storage(struct sink *s, const drep_dsinfo *info)
{
    int i;

    if (info->datarep_number != 0) {
        sink_name(s, info->datarep);
        sink_text(s, ", ");
    }
    sink_text(s, print_layout(info));
    if (info->layout == DREP_CHUNKED) {
        sink_char(s, ' ');
        put_shape(s, info->chunk, NULL, info->rank);
    }
    for (i = 0; i < info->nfilters; i++) {
        sink_text(s, ", ");
        print_filter(s, &info->filters[i]);
        print_filter_parameters(s, &info->filters[i]);
    }
}

static void put_dimensions(struct sink *s, const struct printer *p, const drep_dsinfo *info)
{
    const char *path;
    int d;

    sink_char(s, '[');
    for (d = 0; d < info->rank; d++) {
        path = info->dim_ids[d] ? printer_path(p, info->dim_ids[d]) : NULL;
        sink_text(s, d ? ", " : "");
        sink_text(s, path ? path : "null");
    }
    sink_char(s, ']');
}

/* Two texts in memory; the same one is no difference. */
struct diff_texts {
    struct sink a, b;
};

static bool texts_init(struct diff_texts *t)
{
    if (sink_init(&t->a, -1))
        return false;
    if (sink_init(&t->b, -1) == 0)
        return true;
    sink_release(&t->a);
    return false;
}

/* True if they differ, which is said; the texts begin anew. */
static bool texts_compare(struct diff_texts *t, struct diff *d, const char *path, const char *what)
{
    bool differ;

    sink_put(&t->a, "", 1);
    sink_put(&t->b, "", 1);
    differ = !t->a.err && !t->b.err && strcmp(t->a.buf, t->b.buf) != 0;
    if (differ)
        diff_say(d, path, what, t->a.buf, t->b.buf);
    t->a.len = t->b.len = 0;
    return differ;
}

static void texts_release(struct diff_texts *t)
{
    sink_release(&t->a);
    sink_release(&t->b);
}

/* ------------------------------------------------------------------- values */

/* Elements of both sides on their way to be compared. */
struct pairs {
    struct diff *d;
    const char *path;
    const struct slice *slice; /* of A, for indices */
    const drep_type *a_type, *b_type;
    bool plain; /* equal bytes are equal values */
    struct meaning meaning;
    struct diff_values v;
};

static void take_gap(struct pairs *p, int64_t at, const struct difference *gap)
{
    struct diff_values *v = &p->v;

    /* Chunks come in the order of their grid, elements of a slice in theirs. */
    if (v->count++ == 0 || at < v->first_at) {
        free(v->a);
        free(v->b);
        v->first = *gap;
        v->first_at = at;
        v->a = diff_text(&p->d->a.printer, gap->a_type, gap->a);
        v->b = diff_text(&p->d->b.printer, gap->b_type, gap->b);
    }
    if (v->count <= p->d->listed && p->path)
        diff_list_value(p->d, p->path, p->slice, at, gap);
    if (v->count == 1 || gap->abs > v->abs || (gap->abs == v->abs && at < v->abs_at)) {
        v->abs = gap->abs;
        v->abs_at = at;
    }
    v->rel = gap->rel > v->rel ? gap->rel : v->rel;
}

static bool differs(struct pairs *p, const void *a, const void *b, struct difference *gap)
{
    return p->meaning.active ? meaning_differs(&p->meaning, &p->d->how, a, b, gap)
                             : compare_element(&p->d->how, p->a_type, a, p->b_type, b, gap);
}

static void compare_many(struct pairs *p, const char *a, const char *b, int64_t first,
                         int64_t count)
{
    int64_t i, a_step = drep_type_extent(p->a_type), b_step = drep_type_extent(p->b_type);
    struct difference gap;

    p->v.of += count;
    if (p->plain && memcmp(a, b, (size_t)(count * a_step)) == 0)
        return;
    for (i = 0; i < count; i++, a += a_step, b += b_step) {
        if (p->plain && memcmp(a, b, (size_t)a_step) == 0)
            continue;
        if (differs(p, a, b, &gap))
            take_gap(p, first + i, &gap);
    }
}

/* True if elements have no parts elsewhere, and NaN may be NaN. */
static bool is_plain(const struct diff *d, const drep_type *a, const drep_type *b)
{
    return drep_type_equal(a, b) && !drep_type_variable(a) && !d->how.nan_differs &&
           drep_type_kind(a) != DREP_KIND_COMPOUND && drep_type_kind(a) != DREP_KIND_STRUCT &&
           drep_type_kind(a) != DREP_KIND_REFERENCE && drep_type_kind(a) != DREP_KIND_ARRAY;
}

/* The types to read both sides as: one, or the two readable ones. */
static int choose_types(const struct diff *d, const drep_dsinfo *a, const drep_dsinfo *b,
                        drep_type **a_out, drep_type **b_out)
{
    drep_type *x = NULL, *y = NULL, *common;
    int err = printer_type(&d->a.printer, a->type, a->datarep_number, &x);

    if (!err)
        err = printer_type(&d->b.printer, b->type, b->datarep_number, &y);
    if (err) {
        drep_type_free(x);
        return err;
    }
    common = d->meant ? NULL : compare_common(&d->how, x, y);
    if (common) {
        drep_type_free(x);
        drep_type_free(y);
        x = common;
        y = drep_type_ref(common);
    }
    *a_out = x;
    *b_out = y;
    return 0;
}

/* The block of B that lies as `block` does in A; what one index selects may be anywhere
 * in either. */
static void turn_block(struct blocks *out, const struct blocks *block, const struct slice *slice)
{
    int d, k = 0;

    *out = *block;
    out->slice = slice;
    for (d = 0; d < slice->rank; d++) {
        out->at[d] = 0;
        out->count[d] = 1;
        if (slice->single[d])
            continue;
        while (block->slice->single[k])
            k++;
        out->at[d] = block->at[k];
        out->count[d] = block->count[k];
        k++;
    }
}

struct operands {
    drep_dataset *a, *b;
    const char *b_path;
    drep_dsinfo a_info, b_info;
    struct slice a_slice, b_slice;
};

/* Reads the block of both sides. */
static int read_block(struct pairs *p, const struct operands *o, void *a, void *b,
                      const struct blocks *block)
{
    struct blocks other;
    int err = blocks_read(block, o->a, p->a_type, a);

    if (err) {
        diff_failed(p->d, &p->d->a, p->path, err);
        return err;
    }
    turn_block(&other, block, &o->b_slice);
    err = blocks_read(&other, o->b, p->b_type, b);
    if (!err)
        return 0;
    diff_failed(p->d, &p->d->b, p->path, err);
    if (drep_type_variable(p->a_type))
        drep_vlen_free(p->a_type, block->len, a);
    return err;
}

/* Done with what read_block() has read. */
static int leave_block(struct pairs *p, void *a, void *b, int64_t len)
{
    if (drep_type_variable(p->a_type))
        drep_vlen_free(p->a_type, len, a);
    if (drep_type_variable(p->b_type))
        drep_vlen_free(p->b_type, len, b);
    return p->d->sink.err ? DREP_ERR_STOPPED
                          : progress_add((uint64_t)(len * drep_type_extent(p->a_type)));
}

static int compare_blocks(struct pairs *p, const struct operands *o, void *a, void *b,
                          struct blocks *blocks)
{
    int err = 0;

    while (!err && blocks_next(blocks)) {
        err = read_block(p, o, a, b, blocks);
        if (err)
            break;
        compare_many(p, a, b, blocks->first, blocks->len);
        err = leave_block(p, a, b, blocks->len);
    }
    return err;
}

/* ------------------------------------------- values of which most are not stored */

/* The chunk that begins there, or only its first element, as a block. */
static void chunk_block(struct blocks *out, const struct operands *o, const int64_t *at, bool whole)
{
    int d;

    *out = (struct blocks){.slice = &o->a_slice, .len = 1};
    for (d = 0; d < o->a_info.rank; d++) {
        int64_t left = o->a_info.dims[d] - at[d], most = whole ? o->a_info.chunk[d] : 1;

        out->at[d] = at[d];
        out->count[d] = most < left ? most : left;
        out->len *= out->count[d];
    }
}

static int64_t number_of(const struct operands *o, const int64_t *at)
{
    int64_t n = 0;
    int d;

    for (d = 0; d < o->a_info.rank; d++)
        n = n * o->a_info.dims[d] + at[d];
    return n;
}

/* A chunk's rows lie apart in the dataset. */
static void compare_rows(struct pairs *p, const struct operands *o, const char *a, const char *b,
                         const struct blocks *block)
{
    int d, last = o->a_info.rank - 1;
    int64_t at[DREP_MAX_RANK], done, len = block->count[last];

    memcpy(at, block->at, sizeof at);
    for (done = 0; done < block->len; done += len) {
        compare_many(p, a, b, number_of(o, at), len);
        a += len * drep_type_extent(p->a_type);
        b += len * drep_type_extent(p->b_type);
        for (d = last - 1; d >= 0 && ++at[d] == block->at[d] + block->count[d]; d--)
            at[d] = block->at[d];
    }
}

/* Compares what neither side has stored, by the first element of the first such chunk; all
 * the others are as that one. */
static int compare_hole(struct pairs *p, const struct operands *o, void *a, void *b,
                        const int64_t *at)
{
    struct blocks block;
    struct difference gap;
    int err;

    chunk_block(&block, o, at, false);
    err = read_block(p, o, a, b, &block);
    if (err)
        return err;
    if (differs(p, a, b, &gap))
        take_gap(p, number_of(o, at), &gap);
    return leave_block(p, a, b, 1);
}

static int compare_chunks(struct pairs *p, const struct operands *o, void *a, void *b,
                          const struct sparse *chunks)
{
    struct blocks block;
    size_t i;
    int err = compare_hole(p, o, a, b, chunks->at + chunks->n * (size_t)chunks->rank);
    bool differ = p->v.count > 0;

    for (i = 0; !err && i < chunks->n; i++) {
        chunk_block(&block, o, chunks->at + i * (size_t)chunks->rank, true);
        err = read_block(p, o, a, b, &block);
        if (err)
            break;
        compare_rows(p, o, a, b, &block);
        err = leave_block(p, a, b, block.len);
    }
    if (err)
        return err;
    if (differ)
        p->v.count += o->a_info.count - p->v.of - 1;
    err = progress_add((uint64_t)((o->a_info.count - p->v.of) * drep_type_extent(p->a_type)));
    p->v.of = o->a_info.count;
    return err;
}

static int compare_sparse(struct pairs *p, const struct operands *o, void *a, void *b)
{
    struct sparse chunks;
    int err = sparse_find(&chunks, o->a, o->b, &o->a_info);

    if (err == DREP_ERR_NOMEM)
        p->d->status = tool_worse(p->d->status, tool_no_memory());
    else if (err)
        diff_failed(p->d, &p->d->a, p->path, err);
    if (err)
        return err;
    err = compare_chunks(p, o, a, b, &chunks);
    sparse_release(&chunks);
    return err;
}

/* ---------------------------------------------------------------- all values */

static int64_t chunk_elements(const drep_dsinfo *info)
{
    int64_t n = 1;
    int d;

    for (d = 0; d < info->rank; d++)
        n *= info->chunk[d] < info->dims[d] ? info->chunk[d] : info->dims[d];
    return n;
}

/* Both types are alike. */
static void compare_values(struct diff *d, const char *path, const struct operands *o,
                           drep_type *a_type, drep_type *b_type)
{
    struct pairs p = {.d = d,
                      .path = path,
                      .slice = &o->a_slice,
                      .a_type = a_type,
                      .b_type = b_type,
                      .plain = is_plain(d, a_type, b_type)};
    int64_t a_size = drep_type_extent(a_type), b_size = drep_type_extent(b_type), most;
    /* Differing elements are listed in their order, if they are. */
    bool sparse = d->listed == 0 && !d->a.operand.slice && !d->b.operand.slice &&
                  sparse_pays(o->a, &o->a_info, o->b, &o->b_info);
    struct blocks blocks;
    void *a, *b;

    if (d->meant)
        meaning_read(&p.meaning, &d->how, path, a_type, o->b_path, b_type);
    p.plain = p.plain && !p.meaning.active;
    blocks_init(&blocks, &o->a_slice, &o->a_info, a_size > b_size ? a_size : b_size,
                drep_type_variable(a_type) || drep_type_variable(b_type));
    if (blocks.most == 0)
        return;
    most = sparse && chunk_elements(&o->a_info) > blocks.most ? chunk_elements(&o->a_info)
                                                              : blocks.most;
    a = calloc((size_t)most, (size_t)(a_size > 0 ? a_size : 1));
    b = calloc((size_t)most, (size_t)(b_size > 0 ? b_size : 1));
    if (!a || !b)
        d->status = tool_worse(d->status, tool_no_memory());
    else if (sparse)
        compare_sparse(&p, o, a, b);
    else
        compare_blocks(&p, o, a, b, &blocks);
    free(a);
    free(b);
    d->values += p.v.of;
    if (p.v.count > 0)
        diff_say_values(d, path, NULL, &o->a_slice, &p.v);
    free(p.v.a);
    free(p.v.b);
}

/* ----------------------------------------------------------------- datasets */

static bool same_shape(const struct slice *a, const struct slice *b)
{
    int64_t x[DREP_MAX_RANK], y[DREP_MAX_RANK];
    int rank = slice_shape(a, x);

    return slice_shape(b, y) == rank && memcmp(x, y, (size_t)rank * sizeof *x) == 0;
}

static void compare_fill(struct diff *d, const char *path, const struct operands *o)
{
    static const char *const words[] = {"zeros", "a value", "none"};
    struct pairs p = {.d = d};
    struct slice one;
    struct array a, b;
    int err;

    if (o->a_info.fill != o->b_info.fill) {
        diff_say(d, path, "fill", words[o->a_info.fill], words[o->b_info.fill]);
        return;
    }
    if (o->a_info.fill != DREP_FILL_VALUE)
        return;
    err = array_fill(&a, &d->a.printer, o->a, &o->a_info);
    if (err) {
        diff_failed(d, &d->a, path, err);
        return;
    }
    err = array_fill(&b, &d->b.printer, o->b, &o->b_info);
    if (err) {
        diff_failed(d, &d->b, path, err);
        array_release(&a);
        return;
    }
    slice_all(&one, 0, NULL);
    p.slice = &one;
    p.a_type = a.type;
    p.b_type = b.type;
    if (compare_alike(&d->how, a.type, b.type))
        compare_many(&p, a.buf, b.buf, 0, 1);
    if (p.v.count > 0)
        diff_say(d, path, "fill", p.v.a, p.v.b);
    free(p.v.a);
    free(p.v.b);
    array_release(&a);
    array_release(&b);
}

/* Compare a dataset's metadata; false if its values cannot be compared. */
static bool compare_headers(struct diff *d, const char *path, struct operands *o)
{
    const drep_dsinfo *a = &o->a_info, *b = &o->b_info;
    struct diff_texts t;
    bool null = a->rank == DREP_NULL_SPACE || b->rank == DREP_NULL_SPACE, differ;

    if (!texts_init(&t)) {
        d->status = tool_worse(d->status, tool_no_memory());
        return false;
    }
    print_type_text(&t.a, a->type, false);
    print_type_text(&t.b, b->type, false);
    if (d->parts & DIFF_TYPES)
        texts_compare(&t, d, path, "type");
    t.a.len = t.b.len = 0;
    put_shape(&t.a, a->dims, NULL, a->rank);
    put_shape(&t.b, b->dims, NULL, b->rank);
    differ = !d->a.operand.slice && !d->b.operand.slice && texts_compare(&t, d, path, "shape");
    t.a.len = t.b.len = 0;
    if ((d->parts & DIFF_MAXSHAPE) && !differ && !null) {
        put_shape(&t.a, NULL, a->maxdims, a->rank);
        put_shape(&t.b, NULL, b->maxdims, b->rank);
        texts_compare(&t, d, path, "maxshape");
    }
    if ((d->parts & DIFF_DIMENSIONS) && a->rank == b->rank && !null) {
        put_dimensions(&t.a, &d->a.printer, a);
        put_dimensions(&t.b, &d->b.printer, b);
        texts_compare(&t, d, path, "dimensions");
    }
    if ((d->parts & DIFF_STORAGE) && !null) {
        put_storage(&t.a, a);
        put_storage(&t.b, b);
        texts_compare(&t, d, path, "storage");
    }
    texts_release(&t);
    return !differ && !null;
}

static void compare_open(struct diff *d, const char *path, struct operands *o)
{
    drep_type *a_type = NULL, *b_type = NULL;
    int err;

    if (!compare_headers(d, path, o))
        return;
    if (!same_shape(&o->a_slice, &o->b_slice)) {
        diff_say(d, path, "shape of", d->a.operand.slice ? d->a.operand.slice : "[]",
                 d->b.operand.slice ? d->b.operand.slice : "[]");
        return;
    }
    if (d->parts & DIFF_FILL)
        compare_fill(d, path, o);
    if (!(d->parts & DIFF_VALUES))
        return;
    err = choose_types(d, &o->a_info, &o->b_info, &a_type, &b_type);
    if (err) {
        diff_failed(d, &d->a, path, err);
        return;
    }
    if (compare_alike(&d->how, a_type, b_type))
        compare_values(d, path, o, a_type, b_type);
    else if (!(d->parts & DIFF_TYPES))
        diff_say(d, path, "type", "values of one kind", "values of another");
    drep_type_free(a_type);
    drep_type_free(b_type);
}

/* Opens the dataset and finds its slice: that of the operand where this is it. */
static int open_side(struct diff *d, struct diff_side *side, const char *path, drep_dataset **ds,
                     drep_dsinfo *info, struct slice *slice)
{
    struct operand whole = {.path = (char *)path};
    bool is = strcmp(path, side->operand.path) == 0;
    int status =
        operand_open(is ? &side->operand : &whole, side->name, side->file, ds, info, slice);

    d->status = tool_worse(d->status, status);
    return status;
}

void diff_datasets(struct diff *d, const char *a_path, const char *b_path)
{
    struct operands o = {.b_path = b_path};

    if (open_side(d, &d->a, a_path, &o.a, &o.a_info, &o.a_slice))
        return;
    if (open_side(d, &d->b, b_path, &o.b, &o.b_info, &o.b_slice) == 0) {
        compare_open(d, a_path, &o);
        drep_dataset_close(o.b);
    }
    drep_dataset_close(o.a);
}

/* --------------------------------------------------------------- attributes */

static void compare_attribute_values(struct diff *d, const char *path, const char *name,
                                     const struct array *a, const struct array *b)
{
    struct pairs p = {.d = d, .a_type = a->type, .b_type = b->type};
    struct slice slice;

    if (a->count == 0 || !compare_alike(&d->how, a->type, b->type)) {
        if (a->count > 0 && !(d->parts & DIFF_TYPES))
            diff_say(d, path, name, "values of one kind", "values of another");
        return;
    }
    slice_all(&slice, a->rank, a->dims);
    p.slice = &slice;
    compare_many(&p, a->buf, b->buf, 0, a->count);
    d->values += p.v.of;
    if (p.v.count > 0)
        diff_say_values(d, path, name, &slice, &p.v);
    free(p.v.a);
    free(p.v.b);
}

/* "attribute NAME type" and the like, as the words in front of a difference. */
static void words_for(char *words, size_t size, const char *name, const char *what)
{
    snprintf(words, size, "attribute %s%s%s", name, *what ? " " : "", what);
}

static void compare_attribute(struct diff *d, const char *path, const char *name,
                              const struct array *a, const struct array *b)
{
    char words[1100];
    struct diff_texts t;
    bool differ;

    if (!texts_init(&t)) {
        d->status = tool_worse(d->status, tool_no_memory());
        return;
    }
    print_type_text(&t.a, a->shown, false);
    print_type_text(&t.b, b->shown, false);
    words_for(words, sizeof words, name, "type");
    if (d->parts & DIFF_TYPES)
        texts_compare(&t, d, path, words);
    t.a.len = t.b.len = 0;
    put_shape(&t.a, a->dims, NULL, a->rank);
    put_shape(&t.b, b->dims, NULL, b->rank);
    words_for(words, sizeof words, name, "shape");
    differ = texts_compare(&t, d, path, words);
    texts_release(&t);
    if (!differ && a->rank != DREP_NULL_SPACE)
        compare_attribute_values(d, path, name, a, b);
}

static void compare_both(struct diff *d, const char *a_path, const char *b_path, const char *name)
{
    struct array a, b;
    int err = array_attr(&a, &d->a.printer, a_path, name);

    if (err) {
        diff_failed(d, &d->a, a_path, err);
        return;
    }
    err = array_attr(&b, &d->b.printer, b_path, name);
    if (err) {
        diff_failed(d, &d->b, b_path, err);
    } else {
        compare_attribute(d, a_path, name, &a, &b);
        array_release(&b);
    }
    array_release(&a);
}

/* Notes of converters are no attributes: they say how a file held what is compared anyway. */
static bool is_kept(const struct diff *d, const char *name)
{
    return is_note(name) && (!(d->parts & DIFF_STORAGE) || d->a.foreign || d->b.foreign);
}

static int by_name(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

static int sorted_attrs(struct diff *d, const struct diff_side *side, const char *path,
                        char ***names, int64_t *n)
{
    int err = attrs_list(side->file, path, true, names, n);

    if (err)
        diff_failed(d, side, path, err);
    else if (*n > 0)
        qsort(*names, (size_t)*n, sizeof **names, by_name);
    return err;
}

static void one_side(struct diff *d, const char *path, const char *name, bool in_a)
{
    char words[1100];

    words_for(words, sizeof words, name, "");
    if (!is_kept(d, name))
        diff_say(d, path, words, in_a ? name : NULL, in_a ? NULL : name);
}

void diff_attributes(struct diff *d, const char *a_path, const char *b_path)
{
    char **a = NULL, **b = NULL;
    int64_t i = 0, k = 0, na = 0, nb = 0;
    int order;
    bool times = d->meant && meaning_is_time(&d->a.printer, a_path) &&
                 meaning_is_time(&d->b.printer, b_path);

    if (sorted_attrs(d, &d->a, a_path, &a, &na))
        return;
    if (sorted_attrs(d, &d->b, b_path, &b, &nb) == 0) {
        while (i < na || k < nb) {
            order = i == na ? 1 : k == nb ? -1 : strcmp(a[i], b[k]);
            if (d->meant && meaning_has(order > 0 ? b[k] : a[i], times))
                ; /* the values say it */
            else if (order < 0)
                one_side(d, a_path, a[i], true);
            else if (order > 0)
                one_side(d, a_path, b[k], false);
            else if (!is_kept(d, a[i]))
                compare_both(d, a_path, b_path, a[i]);
            i += order <= 0;
            k += order >= 0;
        }
    }
    attrs_free(a, na);
    attrs_free(b, nb);
}
