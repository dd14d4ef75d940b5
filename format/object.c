/* object.c - the record that says what an object is: a group, a dataset, a named
 * datatype or a dimension. */
/* SPDX-License-Identifier: MIT */
#include "format/record.h"

#include <string.h>

#define HAS_MAX 1u
#define HAS_DIMS 2u
#define UNLIMITED 1u

/* Known flags of each kind. */
static const uint8_t flags_known[] = {[FMT_GROUP] = 0,
                                      [FMT_DATASET] = HAS_MAX | HAS_DIMS,
                                      [FMT_TYPE] = 0,
                                      [FMT_DIMENSION] = UNLIMITED};

/* No dimensions for the null dataspace, nor for a rank that is about to be refused. */
static int dims_of(const struct object_rec *r)
{
    return r->rank > FMT_RANK_MAX ? 0 : r->rank;
}

static void type_get_number(struct in *in, struct object_rec *t)
{
    t->type = in_var32(in);
    if (!in->err && t->type == 0)
        in_fail(in, FMT_ERR_FORMAT, "no datatype has number 0 (R5.5)");
}

static bool layout_known(const struct object_rec *t)
{
    return t->layout <= FMT_CHUNKED;
}

bool object_known(const struct object_rec *r)
{
    return !r->beyond && (r->kind != FMT_DATASET || (layout_known(r) && r->fill <= FMT_FILL_NONE));
}

/* Layout, rank and the numbers of each dimension, which stand there whatever the layout. */
static void shape_get(struct in *in, struct object_rec *t)
{
    int empty = 0;

    t->layout = in_u8(in);
    t->rank = in_u8(in);
    if (t->rank != FMT_RANK_NULL)
        IN_LIMIT(in, t->rank, FMT_RANK_MAX, "a rank of more than 32", "R8.1");
    for (int i = 0; !in->err && i < dims_of(t); i++) {
        t->len[i] = t->max[i] = in_var(in);
        empty |= t->len[i] == 0;
        IN_LIMIT(in, t->len[i], FMT_SIZE_MAX, "a length of more than 2^62", "R8.1");
    }
    if (!in->err && t->rank == FMT_RANK_NULL && layout_known(t) && t->layout != FMT_LAYOUT_NULL)
        in_fail(in, FMT_ERR_FORMAT, "a null dataspace with a layout (R8.3)");
    if (!in->err && t->layout == FMT_LAYOUT_NULL && t->rank != FMT_RANK_NULL && !empty)
        in_fail(in, FMT_ERR_FORMAT, "elements without a layout (R8.3)");
    for (int i = 0; !in->err && t->has_max && i < dims_of(t); i++) {
        t->max[i] = in_var(in);
        if (t->max[i] != FMT_UNLIMITED)
            IN_LIMIT(in, t->max[i], FMT_SIZE_MAX, "a maximum of more than 2^62", "R8.1");
        if (t->max[i] < t->len[i])
            in_fail(in, FMT_ERR_FORMAT, "a length is beyond its maximum (R8.2)");
        else if (i > 0 && t->layout == FMT_CONTIGUOUS && t->max[i] > t->len[i])
            in_fail(in, FMT_ERR_FORMAT,
                    "only the first dimension of a contiguous dataset grows (R8.11)");
    }
    for (int i = 0; t->has_dims && i < dims_of(t); i++)
        t->dim[i] = in_var(in);
}

/* Last dimensions of the grid, over which rows of a record count: all but the first of them have a
 * length, and their product is one that can be counted. */
static void suffix_get(struct in *in, struct object_rec *t)
{
    int rank = dims_of(t);
    uint64_t all = 1;
    bool many = false, empty = false;

    t->suffix = in_u8(in);
    if (!in->err && (t->suffix > rank || (t->suffix == 0 && rank > 0)))
        in_fail(in, FMT_ERR_FORMAT, "impossible number of dimensions of a suffix (R8.18)");
    for (int i = rank - t->suffix + 1; !in->err && i < rank; i++) {
        uint64_t n = t->max[i] / t->chunk[i] + (t->max[i] % t->chunk[i] != 0);

        if (t->max[i] == FMT_UNLIMITED)
            in_fail(in, FMT_ERR_FORMAT,
                    "a dimension inside a suffix may grow without bound (R8.18)");
        empty |= n == 0;
        many |= n > FMT_SIZE_MAX / all;
        all *= many || n == 0 ? 1 : n;
    }
    in_limit(in, many && !empty,
             FMT_BEYOND("lengths of a suffix that multiply to more than 2^62", "R8.18"));
}

/* Check that a list has filters of HDF5 alone, or none; those of a later version may be anything.
 */
static void hdf5_check(struct in *in, const struct object_rec *t)
{
    bool any[2] = {false, false};

    for (int i = 0; !in->err && i < t->nfilters; i++)
        any[filter_is_hdf5(&t->filter[i])] |= !filter_flags_later(&t->filter[i]);
    if (!in->err && any[0] && any[1])
        in_fail(in, FMT_ERR_FORMAT, "filters of HDF5 beside others (R8.53)");
}

int filters_misplaced(const struct filter_rec *f, int n)
{
    bool users = false;

    for (int i = 0; i < n; i++) {
        if (users && f[i].id >= FMT_FILTER_SHUFFLE && f[i].id <= FMT_FILTER_DELTA)
            return i;
        users |= filter_is_users(&f[i]);
    }
    return -1;
}

/* Check the parameters of the filters in the table. */
static bool params_fit(const struct filter_rec *f)
{
    switch (f->id) {
    case FMT_FILTER_SHUFFLE:
    case FMT_FILTER_BITSHUFFLE:
        return f->param[0] >= 1;
    case FMT_FILTER_DELTA:
        return (f->param[0] == 1 || f->param[0] == 2 || f->param[0] == 4 || f->param[0] == 8) &&
               f->param[1] <= 1;
    case FMT_FILTER_HDF5_BITSHUFFLE:
        return f->param[0] >= 1 && f->param[1] % 8 == 0 &&
               (f->param[2] == 0 || f->param[2] == 2 || f->param[2] == 3);
    default:
        return true;
    }
}

/* Check a filter as this version knows it. */
static void filter_check(struct in *in, const struct filter_rec *f)
{
    int known = fmt_filter_params(f->id);

    if (filter_is_hdf5(f)) {
        if (text_check(f->name.p, f->name.len))
            in_fail(in, FMT_ERR_FORMAT, "the name of a filter of HDF5 is not text (R1.3)");
        return;
    }
    if (f->id >= FMT_FILTER_USER)
        IN_LIMIT(in, f->name.len, FMT_DATAREP_MAX, "a filter's name of more than 127 bytes",
                 "R8.37");
    if (f->id >= FMT_FILTER_USER ? text_check(f->name.p, f->name.len) || !f->name.len
                                 : f->name.len > 0)
        in_fail(in, FMT_ERR_FORMAT,
                "a user-defined filter must have a name, a built-in filter none (R8.37)");
    if (known >= 0 && f->nparams != known)
        in_fail(in, FMT_ERR_FORMAT, "wrong number of parameters of a filter (R8.31)");
    if (!params_fit(f))
        in_fail(in, FMT_ERR_FORMAT, "a filter has a parameter that it cannot have (R8.32)");
}

uint32_t filter_param(const struct filter_rec *f, int i)
{
    if (f->given)
        return f->given[i];
    return i < FILTER_NEAR ? f->param[i] : load_u32(f->params.p + 4 * (size_t)i);
}

bool filter_same(const struct filter_rec *a, const struct filter_rec *b)
{
    bool same = a->id == b->id && a->flags == b->flags && a->nparams == b->nparams &&
                a->name.len == b->name.len &&
                (a->name.len == 0 || memcmp(a->name.p, b->name.p, a->name.len) == 0);

    for (int i = 0; same && i < a->nparams; i++)
        same = filter_param(a, i) == filter_param(b, i);
    return same;
}

static void filter_get(struct in *in, struct filter_rec *f)
{
    f->id = in_u16(in);
    f->flags = in_u8(in);
    span_get(in, in_u8(in), &f->name);
    f->nparams = in_u8(in);
    span_get(in, 4 * (size_t)f->nparams, &f->params);
    f->given = NULL;
    for (int i = 0; i < FILTER_NEAR; i++)
        f->param[i] = !in->err && i < f->nparams ? load_u32(f->params.p + 4 * i) : 0;
    /* Flags of a later version may give all of it another meaning. */
    if (!in->err && !filter_flags_later(f))
        filter_check(in, f);
}

/* Decode a dataset. Counts are checked before the lists that they size are read. */
static void dataset_rec_get(struct in *in, struct object_rec *t)
{
    type_get_number(in, t);
    t->datarep = in_var32(in);
    IN_LIMIT(in, t->datarep, FMT_REPS_MAX - 1, "more than 65,536 representations", "R3.4");
    shape_get(in, t);
    if (!layout_known(t))
        return;
    if (t->layout == FMT_CONTIGUOUS) {
        t->slab = in_var(in);
        if (!in->err && t->slab == 0)
            in_fail(in, FMT_ERR_FORMAT, "a slab has no length (R8.5)");
        IN_LIMIT(in, t->slab, FMT_SIZE_MAX, "a slab of more than 2^62 elements", "R8.5");
    }
    for (int i = 0; !in->err && t->layout == FMT_CHUNKED && i < dims_of(t); i++) {
        t->chunk[i] = in_var32(in);
        if (t->chunk[i] == 0)
            in_fail(in, FMT_ERR_FORMAT, "a chunk has no length (R8.5)");
    }
    if (!in->err && t->layout == FMT_CHUNKED)
        suffix_get(in, t);
    t->nfilters = in_u8(in);
    IN_LIMIT(in, t->nfilters, FMT_FILTERS_MAX, "more than 32 filters", "R8.31");
    t->nfilters = in->err ? 0 : t->nfilters; /* there is room for no more than the limit */
    if (!in->err && t->nfilters > 0 && (t->layout == FMT_COMPACT || t->layout == FMT_CONTIGUOUS))
        in_fail(in, FMT_ERR_FORMAT, "a compact or contiguous dataset has filters (R8.10)");
    for (int i = 0; !in->err && i < t->nfilters; i++)
        filter_get(in, &t->filter[i]);
    hdf5_check(in, t);
    if (!in->err && filters_misplaced(t->filter, t->nfilters) >= 0)
        in_fail(in, FMT_ERR_FORMAT, "a byte filter behind a user-defined one (R8.50)");
    t->fill = in_u8(in);
    if (t->fill == FMT_FILL_VALUE)
        span_get(in, in_var32(in), &t->fill_value);
}

/* Decode the front that all records share. The numbers of hard links and attributes stand there
 * whatever a later version adds. */
static void head_get(struct in *in, struct object_head *t)
{
    t->number = in_u8(in);
    t->flags = in_u8(in);
    t->kind = t->number;
    if (t->number < FMT_GROUP || t->number > FMT_DIMENSION ||
        (t->flags & FMT_FLAGS_MEAN & (unsigned)~flags_known[t->number]))
        t->kind = FMT_LATER;
    t->links = in_var32(in);
    t->next_attr = in_var32(in);
    t->next_link = t->kind == FMT_GROUP ? in_var(in) : 0;
    t->members = t->kind == FMT_GROUP ? in_var(in) : 0;
    t->changed = t->kind == FMT_DATASET ? in_var(in) : 0;
}

int object_head_get(struct in *in, struct object_head *out)
{
    struct object_head t;

    head_get(in, &t);
    if (in->err)
        return in->err;
    *out = t;
    return FMT_OK;
}

/* Copy a record with only the used parts of its lists, which are long. */
static void object_assign(struct object_rec *out, const struct object_rec *t)
{
    size_t rank = (size_t)dims_of(t);

    memcpy(out, t, offsetof(struct object_rec, len));
    out->len[0] = t->len[0];
    if (rank > 0) {
        memcpy(out->len, t->len, rank * sizeof(*t->len));
        memcpy(out->max, t->max, rank * sizeof(*t->max));
    }
    if (t->has_dims)
        memcpy(out->dim, t->dim, rank * sizeof(*t->dim));
    if (t->layout == FMT_CHUNKED)
        memcpy(out->chunk, t->chunk, rank * sizeof(*t->chunk));
    if (t->nfilters > 0)
        memcpy(out->filter, t->filter, t->nfilters * sizeof(*t->filter));
}

/* A record that has its head alone. */
static void object_begin(struct object_rec *t, const struct object_head *h)
{
    memset(t, 0, offsetof(struct object_rec, len));
    t->len[0] = 0;
    t->kind = h->kind;
    t->number = h->number;
    t->flags = h->flags;
    t->links = h->links;
    t->next_attr = h->next_attr;
    t->next_link = h->next_link;
    t->members = h->members;
    t->changed = h->changed;
}

/* Decode into a local record and assign at the end, so that a malformed record leaves the
 * caller's untouched. */
int object_get(struct in *in, struct object_rec *out)
{
    struct object_rec t;
    struct object_head h;
    const char *beyond;
    size_t rest;

    head_get(in, &h);
    object_begin(&t, &h);
    rest = in->at;
    if (t.kind == FMT_DATASET) {
        t.has_max = (h.flags & HAS_MAX) != 0;
        t.has_dims = (h.flags & HAS_DIMS) != 0;
        dataset_rec_get(in, &t);
    }
    if (t.kind == FMT_TYPE)
        type_get_number(in, &t);
    if (t.kind == FMT_DIMENSION) {
        t.len[0] = in_var(in);
        t.unlimited = (h.flags & UNLIMITED) != 0;
        IN_LIMIT(in, t.len[0], FMT_SIZE_MAX, "a length of more than 2^62", "R8.1");
        span_get(in, 8 * (size_t)in_u16(in), &t.scales);
    }
    if ((beyond = in_pass_over(in, rest))) {
        object_begin(&t, &h);
        t.beyond = beyond;
    }
    span_rest(in, &t.tail);
    if (in->err)
        return in->err;
    object_assign(out, &t);
    return FMT_OK;
}

static void dataset_rec_put(struct out *out, const struct object_rec *r)
{
    out_var(out, r->type);
    out_var(out, r->datarep);
    out_u8(out, r->layout);
    out_u8(out, r->rank);
    for (int i = 0; i < dims_of(r); i++)
        out_var(out, r->len[i]);
    for (int i = 0; r->has_max && i < dims_of(r); i++)
        out_var(out, r->max[i]);
    for (int i = 0; r->has_dims && i < dims_of(r); i++)
        out_var(out, r->dim[i]);
    if (!layout_known(r))
        return;
    if (r->layout == FMT_CONTIGUOUS)
        out_var(out, r->slab);
    for (int i = 0; r->layout == FMT_CHUNKED && i < dims_of(r); i++)
        out_var(out, r->chunk[i]);
    if (r->layout == FMT_CHUNKED)
        out_u8(out, r->suffix);
    out_u8(out, r->nfilters);
    for (int i = 0; i < r->nfilters; i++) {
        const struct filter_rec *f = &r->filter[i];

        out_u16(out, f->id);
        out_u8(out, f->flags);
        out_u8(out, (uint8_t)f->name.len);
        span_put(out, &f->name);
        out_u8(out, f->nparams);
        for (int k = 0; k < f->nparams; k++)
            out_u32(out, filter_param(f, k));
    }
    out_u8(out, r->fill);
    if (r->fill == FMT_FILL_VALUE) {
        out_var(out, r->fill_value.len);
        span_put(out, &r->fill_value);
    }
}

size_t object_head_put(uint8_t bytes[FMT_HEAD_MAX], const struct object_head *h)
{
    size_t n = store_var(bytes, h->links);

    n += store_var(bytes + n, h->next_attr);
    if (h->kind == FMT_DATASET)
        n += store_var(bytes + n, h->changed);
    if (h->kind != FMT_GROUP)
        return n;
    n += store_var(bytes + n, h->next_link);
    return n + store_var(bytes + n, h->members);
}

/* Flags that are known say what the fields say; the others stay. */
static uint8_t flags_of(const struct object_rec *r)
{
    unsigned flags = 0;

    if (r->kind == FMT_LATER || r->beyond)
        return r->flags;
    if (r->kind == FMT_DATASET)
        flags = (r->has_max ? HAS_MAX : 0) | (r->has_dims ? HAS_DIMS : 0);
    if (r->kind == FMT_DIMENSION)
        flags = r->unlimited ? UNLIMITED : 0;
    return (uint8_t)(flags | (r->flags & (unsigned)~FMT_FLAGS_MEAN));
}

void object_put(struct out *out, const struct object_rec *r)
{
    out_u8(out, r->kind == FMT_LATER ? r->number : r->kind);
    out_u8(out, flags_of(r));
    out_var(out, r->links);
    out_var(out, r->next_attr);
    if (r->kind == FMT_GROUP) {
        out_var(out, r->next_link);
        out_var(out, r->members);
    }
    if (r->kind == FMT_DATASET) {
        out_var(out, r->changed);
        if (!r->beyond)
            dataset_rec_put(out, r);
    }
    if (r->kind == FMT_TYPE)
        out_var(out, r->type);
    if (r->kind == FMT_DIMENSION && !r->beyond) {
        out_var(out, r->len[0]);
        out_u16(out, (uint16_t)(r->scales.len / 8));
        span_put(out, &r->scales);
    }
    span_put(out, &r->tail);
}
