/* compare.c - says where a file is not as a schema describes it.
 *
 * The schema is made into a file, in memory if it can be, so that the library settles what it
 * leaves open, and the two are compared object by object; the model knows the places.  What a
 * schema does not say about storage (layout, chunks, filters, fill) is free. */
/* SPDX-License-Identifier: MIT */
#include "schema/members.h"
#include "schema/model.h"
#include "schema/paths.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct comparing {
    const struct schema *s;
    const struct schema_compare_options *options;
    struct complaints c;
    drep_file *want, *have;
    int err; /* the first failure to read */
};

static void report_difference(struct comparing *w, const struct doc *at, const char *path,
                              const char *what, const char *have, const char *want)
{
    complain(&w->c, at, "%s: %s is %s, not %s", path, what, have, want);
}

/* Report an object that cannot be read: no difference, but no success either. */
static void report_failure(struct comparing *w, const struct doc *at, const char *path, int err)
{
    if (!w->err)
        w->err = err;
    complain_error(&w->c, at, path);
}

/* ------------------------------------------------------------------- texts */

static char *printed_type(const drep_type *type)
{
    char *text;

    return drep_type_print(type, &text) ? NULL : text;
}

/* Scalars of named formats may carry fields that say nothing. */
static bool types_equal(const drep_type *a, const drep_type *b)
{
    char *x, *y;
    bool equal;

    if (drep_type_equal(a, b))
        return true;
    x = printed_type(a);
    y = printed_type(b);
    equal = x && y && strcmp(x, y) == 0;
    free(x);
    free(y);
    return equal;
}

static void type_differs(struct comparing *w, const struct doc *at, const char *path,
                         const char *what, const drep_type *have, const drep_type *want)
{
    char *a = printed_type(have), *b = printed_type(want);

    report_difference(w, at, path, what, a ? a : "another", b ? b : "this");
    free(a);
    free(b);
}

/* "[3, unlimited]", or "null". */
static const char *lengths_text(char *text, size_t size, int rank, const int64_t *dims)
{
    size_t n = 0;
    int d;

    if (rank == DREP_NULL_SPACE)
        return "null";
    n += (size_t)snprintf(text, size, "[");
    for (d = 0; d < rank && n < size; d++) {
        if (dims[d] == DREP_UNLIMITED)
            n += (size_t)snprintf(text + n, size - n, "%sunlimited", d ? ", " : "");
        else
            n += (size_t)snprintf(text + n, size - n, "%s%lld", d ? ", " : "", (long long)dims[d]);
    }
    if (n < size)
        snprintf(text + n, size - n, "]");
    return text;
}

/* "[1,0,2]": an element's place, as a slice of it is written. */
static const char *index_text(char *text, size_t size, int rank, const int64_t *index)
{
    size_t n = 0;
    int d;

    *text = '\0';
    for (d = 0; d < rank && n < size; d++)
        n += (size_t)snprintf(text + n, size - n, "%c%lld", d ? ',' : '[', (long long)index[d]);
    if (rank > 0 && n < size)
        snprintf(text + n, size - n, "]");
    return text;
}

static void lengths_differ(struct comparing *w, const struct doc *at, const char *path,
                           const char *what, int rank, const int64_t *have, int want_rank,
                           const int64_t *want)
{
    char a[1024], b[1024];

    report_difference(w, at, path, what, lengths_text(a, sizeof a, rank, have),
                      lengths_text(b, sizeof b, want_rank, want));
}

static bool lengths_equal(int rank, const int64_t *a, int other, const int64_t *b)
{
    return rank == other && (rank <= 0 || memcmp(a, b, (size_t)rank * sizeof *a) == 0);
}

/* The value under a key, or the whole entry. */
static const struct doc *place_of_key(const struct object *o, const char *key)
{
    const struct doc *at = doc_get(o->at, key);

    return at ? at : o->at;
}

/* --------------------------------------------------------------- attributes */

static void compare_attr_values(struct comparing *w, const struct object *o, const struct attr *a)
{
    const struct schema_compare_options *p = w->options;
    char *have = NULL, *want = NULL, what[1100];
    int err = p->value(p->ctx, w->have, o->path, a->name, &have);

    if (!err)
        err = p->value(p->ctx, w->want, o->path, a->name, &want);
    snprintf(what, sizeof what, "attribute \"%s\"", a->name);
    if (err)
        report_failure(w, a->at, o->path, err);
    else if (strcmp(have, want) != 0)
        report_difference(w, a->at, o->path, what, have, want);
    free(have);
    free(want);
}

/* Compare an attribute: existence, type, shape, and only if all agree the value, by its text. */
static void compare_attr(struct comparing *w, const struct object *o, const struct attr *a)
{
    drep_attrinfo have = DREP_ATTRINFO, want = DREP_ATTRINFO;
    char what[1100];
    int err = drep_attr_info(w->have, o->path, a->name, &have);

    if (err == DREP_ERR_NOT_FOUND)
        complain(&w->c, a->at, "%s: there is no attribute \"%s\"", o->path, a->name);
    else if (err)
        report_failure(w, a->at, o->path, err);
    if (err)
        return;
    err = drep_attr_info(w->want, o->path, a->name, &want);
    if (err) {
        report_failure(w, a->at, o->path, err);
        drep_attrinfo_release(&have);
        return;
    }
    snprintf(what, sizeof what, "the datatype of attribute \"%s\"", a->name);
    if (!types_equal(have.type, want.type))
        type_differs(w, a->at, o->path, what, have.type, want.type);
    snprintf(what, sizeof what, "the shape of attribute \"%s\"", a->name);
    if (!lengths_equal(have.rank, have.dims, want.rank, want.dims))
        lengths_differ(w, a->at, o->path, what, have.rank, have.dims, want.rank, want.dims);
    else if (types_equal(have.type, want.type) && have.rank != DREP_NULL_SPACE)
        compare_attr_values(w, o, a);
    drep_attrinfo_release(&have);
    drep_attrinfo_release(&want);
}

static bool has_attr(const struct object *o, const char *name)
{
    size_t i;

    for (i = 0; i < o->nattrs && strcmp(o->attr[i].name, name) != 0; i++)
        ;
    return i < o->nattrs;
}

static void compare_attrs(struct comparing *w, const struct object *o)
{
    char **names;
    int64_t n, k;
    size_t i;
    int err;

    for (i = 0; i < o->nattrs; i++)
        compare_attr(w, o, &o->attr[i]);
    if (w->options->extra)
        return;
    err = attrs_list(w->have, o->path, false, &names, &n);
    if (err)
        report_failure(w, o->at, o->path, err);
    for (k = 0; k < n; k++)
        if (!has_attr(o, names[k]))
            complain(&w->c, place_of_key(o, "attrs"), "%s: attribute \"%s\" is not in the schema",
                     o->path, names[k]);
    attrs_free(names, n);
}

/* ----------------------------------------------------------------- datasets */

/* A dimension that may grow has any length from the schema's on. */
static bool shape_fits(const drep_dsinfo *have, const drep_dsinfo *want)
{
    int d;

    if (have->rank != want->rank)
        return false;
    for (d = 0; d < want->rank; d++)
        if (have->dims[d] != want->dims[d] &&
            !(want->maxdims[d] == DREP_UNLIMITED && have->dims[d] > want->dims[d]))
            return false;
    return true;
}

static void compare_dims(struct comparing *w, const struct object *o, const drep_dsinfo *have)
{
    drep_objinfo named = DREP_OBJINFO;
    char *path;
    int d;

    for (d = 0; d < o->rank && d < have->rank; d++) {
        const struct doc *at = o->has_dims ? doc_get(o->at, "dims")->item[d] : o->at;

        if (o->dim[d]) {
            /* A dimension that is missing has been said. */
            if (drep_stat(w->have, o->dim[d]->path, &named) == 0 && named.id != have->dim_ids[d])
                complain(&w->c, at, "%s: dimension %d is not \"%s\"", o->path, d, o->dim[d]->path);
        } else if (have->dim_ids[d]) {
            if (drep_object_path(w->have, have->dim_ids[d], &path))
                path = NULL;
            complain(&w->c, at, "%s: dimension %d is \"%s\", which the schema does not say",
                     o->path, d, path ? path : "?");
            free(path);
        }
    }
}

static void compare_filters(struct comparing *w, const struct object *o, const drep_dsinfo *have,
                            const drep_dsinfo *want)
{
    bool same = have->nfilters == want->nfilters;
    int i;

    /* The parameters of other filters come from the datatype. */
    for (i = 0; i < want->nfilters && same; i++)
        same = have->filters[i].id == want->filters[i].id &&
               (want->filters[i].id < DREP_FILTER_DEFLATE ||
                (have->filters[i].nparams == want->filters[i].nparams &&
                 memcmp(have->filters[i].params, want->filters[i].params,
                        sizeof *want->filters[i].params * (size_t)want->filters[i].nparams) == 0));
    if (!same)
        complain(&w->c, place_of_key(o, "filters"), "%s: the filters are others", o->path);
}

/* True if this name means another representation than the one that is there. */
static bool rep_differs(const char *have, const char *want)
{
    bool native = strcmp(want, "native") == 0 || strncmp(want, "native:", 7) == 0;

    return strcmp(have, want) != 0 &&
           !(native && (strcmp(have, "native") == 0 || strncmp(have, "native:", 7) == 0));
}

/* True if a representation of the file is a table with other rows than the one of this name. */
static bool rows_differ(drep_file *file, int number, const char *name)
{
    const drep_repinfo *rep;
    drep_repinfo *list;
    const drep_encoding *rows;
    int n, nrows, err = file_datareps(file, &list, &n);
    bool differ;

    rep = err ? NULL : datarep_numbered(list, n, number);
    differ = rep && strcmp(rep->form, "table") == 0 &&
             drep_header_types(file, number, &rows, &nrows) == 0 &&
             !rep_same_rows(name, rows, nrows);
    free(list);
    return differ;
}

static void compare_dataset_rep(struct comparing *w, const struct object *o,
                                const drep_dsinfo *have)
{
    if (!o->datarep)
        return;
    if (rep_differs(have->datarep, o->datarep))
        report_difference(w, place_of_key(o, "datarep"), o->path, "the data representation",
                          have->datarep, o->datarep);
    else if (rows_differ(w->have, have->datarep_number, o->datarep))
        complain(&w->c, place_of_key(o, "datarep"), "%s: %s holds datatypes otherwise here",
                 o->path, o->datarep);
}

static void compare_storage(struct comparing *w, const struct object *o, const drep_dsinfo *have,
                            const drep_dsinfo *want)
{
    static const char *const names[] = {"?", "compact", "contiguous", "chunked"};

    if (want->rank == DREP_NULL_SPACE)
        return;
    if (o->layout != DREP_LAYOUT_AUTO && have->layout != want->layout)
        report_difference(w, place_of_key(o, "layout"), o->path, "the layout",
                          names[have->layout & 3], names[want->layout & 3]);
    else if (o->has_chunk && !lengths_equal(have->rank, have->chunk, want->rank, want->chunk))
        lengths_differ(w, place_of_key(o, "chunk"), o->path, "the chunk", have->rank, have->chunk,
                       want->rank, want->chunk);
    if (doc_get(o->at, "filters"))
        compare_filters(w, o, have, want);
}

static void compare_fill(struct comparing *w, const struct object *o, const drep_dsinfo *have)
{
    static const char *const names[] = {"the default", "a value", "none"};
    const struct schema_compare_options *p = w->options;
    const struct doc *at = place_of_key(o, "fill");
    char *a = NULL, *b = NULL;
    int err;

    if (!doc_get(o->at, "fill"))
        return;
    if (have->fill != o->fill) {
        report_difference(w, at, o->path, "the fill", names[have->fill % 3], names[o->fill % 3]);
        return;
    }
    if (o->fill != DREP_FILL_VALUE)
        return;
    err = p->value(p->ctx, w->have, o->path, NULL, &a);
    if (!err)
        err = p->value(p->ctx, w->want, o->path, NULL, &b);
    if (err)
        report_failure(w, at, o->path, err);
    else if (strcmp(a, b) != 0)
        report_difference(w, at, o->path, "the fill", a, b);
    free(a);
    free(b);
}

static void compare_data(struct comparing *w, const struct object *o, drep_dataset *have,
                         drep_dataset *want)
{
    const struct schema_compare_options *p = w->options;
    struct schema_difference first = {.count = 0};
    char index[1024];
    const struct doc *at = o->data ? o->data : o->from;
    int err = p->data(p->ctx, w->have, have, w->want, want, &first);

    if (err) {
        report_failure(w, at, o->path, err);
        return;
    }
    if (first.count == 0)
        return;
    index_text(index, sizeof index, o->rank, first.index);
    if (first.count == 1)
        complain(&w->c, at, "%s%s: the value is %s, not %s", o->path, index, first.have,
                 first.want);
    else
        complain(&w->c, at, "%s%s: the value is %s, not %s; %lld more differ", o->path, index,
                 first.have, first.want, (long long)first.count - 1);
    free(first.have);
    free(first.want);
}

/* Compare two open datasets, as far as the schema says what it wants. */
static void compare_open(struct comparing *w, const struct object *o, drep_dataset *have,
                         drep_dataset *want)
{
    drep_dsinfo a = DREP_DSINFO, b = DREP_DSINFO;
    bool type, shape;
    int err = drep_dataset_info(have, &a);

    if (!err)
        err = drep_dataset_info(want, &b);
    if (err) {
        report_failure(w, o->at, o->path, err);
        return;
    }
    type = types_equal(a.type, b.type);
    shape = shape_fits(&a, &b);
    if (!type)
        type_differs(w, place_of_key(o, "dataset"), o->path, "the datatype", a.type, b.type);
    if (!shape)
        lengths_differ(w, place_of_key(o, doc_get(o->at, "shape") ? "shape" : "dims"), o->path,
                       "the shape", a.rank, a.dims, b.rank, b.dims);
    else if (!lengths_equal(a.rank, a.maxdims, b.rank, b.maxdims))
        lengths_differ(w, place_of_key(o, "maxshape"), o->path, "the largest shape", a.rank,
                       a.maxdims, b.rank, b.maxdims);
    compare_dims(w, o, &a);
    compare_dataset_rep(w, o, &a);
    compare_storage(w, o, &a, &b);
    if (!type)
        return;
    compare_fill(w, o, &a);
    if (shape && (o->data || o->from) && b.count > 0 && !w->options->header_only)
        compare_data(w, o, have, want);
}

static int placed_text(drep_dataset *ds, char **text)
{
    drep_type *type;
    int err = drep_dataset_placed(ds, &type);

    if (!err && type)
        err = drep_type_print(type, text);
    if (!err)
        drep_type_free(type);
    return err;
}

/* Compare the offsets of members in the file. */
static void compare_placed(struct comparing *w, const struct object *o, drep_dataset *have,
                           drep_dataset *want)
{
    char *a = NULL, *b = NULL;
    int err = placed_text(have, &a);

    if (!err)
        err = placed_text(want, &b);
    if (err)
        report_failure(w, o->at, o->path, err);
    else if ((a || b) && (!a || !b || strcmp(a, b) != 0))
        report_difference(w, place_of_key(o, "placed"), o->path, "members", a ? a : "not placed",
                          b ? b : "not placed");
    free(a);
    free(b);
}

static void compare_dataset(struct comparing *w, const struct object *o)
{
    drep_dataset *have, *want;
    int err = drep_dataset_open(w->have, o->path, &have);

    if (err) {
        report_failure(w, o->at, o->path, err);
        return;
    }
    err = drep_dataset_open(w->want, o->path, &want);
    if (err) {
        report_failure(w, o->at, o->path, err);
    } else {
        compare_open(w, o, have, want);
        if (o->placed)
            compare_placed(w, o, have, want);
        drep_dataset_close(want);
    }
    drep_dataset_close(have);
}

/* ------------------------------------------------------------ other objects */

static void compare_type(struct comparing *w, const struct object *o)
{
    drep_type *have;
    int err = drep_type_open(w->have, o->path, &have);

    if (err) {
        report_failure(w, o->at, o->path, err);
        return;
    }
    if (!types_equal(have, o->type))
        type_differs(w, place_of_key(o, "type"), o->path, "the datatype", have, o->type);
    drep_type_free(have);
}

static void compare_dimension(struct comparing *w, const struct object *o, const drep_objinfo *have)
{
    char a[32], b[32];
    bool longer = o->unlimited && have->unlimited && have->len >= o->len;

    if (have->len != o->len && !longer) {
        snprintf(a, sizeof a, "%lld", (long long)have->len);
        snprintf(b, sizeof b, "%lld", (long long)o->len);
        report_difference(w, place_of_key(o, "dimension"), o->path, "the length", a, b);
    }
    if (!have->unlimited != !o->unlimited)
        complain(&w->c, o->at, "%s: the dimension is %sunlimited", o->path,
                 have->unlimited ? "" : "not ");
}

/* ------------------------------------------------------------------- groups */

static int members_by_name(const void *a, const void *b)
{
    const struct member *x = a, *y = b;

    return strcmp(x->name, y->name);
}

static const struct member *find_member(const struct members *m, const char *name)
{
    struct member key = {.name = (char *)name};

    return m->len ? bsearch(&key, m->list, m->len, sizeof key, members_by_name) : NULL;
}

static const char *const kinds[] = {"a link", "a group", "a dataset", "a datatype", "a dimension"};
static const char *const link_kinds[] = {"an object", "an object", "a soft link",
                                         "an external link"};

static void compare_link(struct comparing *w, const struct object *o, const struct member *have)
{
    drep_objinfo target = DREP_OBJINFO;

    if (have->link == DREP_LINK_UNKNOWN) {
        report_failure(w, o->at, o->path, member_later(w->have, o->path, have));
        return;
    }
    if (have->link != o->link) {
        report_difference(w, o->at, o->path, "this", link_kinds[have->link & 3],
                          o->link == DREP_LINK_HARD ? "a hard link" : link_kinds[o->link & 3]);
        return;
    }
    if (o->link == DREP_LINK_HARD) {
        if (drep_stat(w->have, o->target, &target) == 0 && target.id != have->id)
            complain(&w->c, place_of_key(o, "target"), "%s: this is not the object \"%s\"", o->path,
                     o->target);
        return;
    }
    if (strcmp(have->target, o->target) != 0)
        report_difference(w, place_of_key(o, "target"), o->path, "the target", have->target,
                          o->target);
    if (o->link == DREP_LINK_EXTERNAL && strcmp(have->target_file, o->target_file) != 0)
        report_difference(w, place_of_key(o, "file"), o->path, "the file", have->target_file,
                          o->target_file);
}

static void compare_group(struct comparing *w, const struct object *group);

static void compare_object(struct comparing *w, const struct object *o)
{
    drep_objinfo have = DREP_OBJINFO;
    int err = drep_stat(w->have, o->path, &have);

    if (err) {
        report_failure(w, o->at, o->path, err);
        return;
    }
    if (have.kind != o->kind) {
        report_difference(w, o->at, o->path, "this", kinds[have.kind % 5], kinds[o->kind % 5]);
        return;
    }
    compare_attrs(w, o);
    if (o->kind == DREP_OBJ_GROUP)
        compare_group(w, o);
    else if (o->kind == DREP_OBJ_DATASET)
        compare_dataset(w, o);
    else if (o->kind == DREP_OBJ_TYPE)
        compare_type(w, o);
    else
        compare_dimension(w, o, &have);
}

static void compare_member(struct comparing *w, const struct object *o, const struct member *have)
{
    if (!have)
        complain(&w->c, o->at, "%s: there is no such object", o->path);
    else if (o->link)
        compare_link(w, o, have);
    else if (have->link == DREP_LINK_UNKNOWN || have->kind == DREP_OBJ_UNKNOWN)
        report_failure(w, o->at, o->path, member_later(w->have, o->path, have));
    else if (have->link != DREP_LINK_HARD)
        report_difference(w, o->at, o->path, "this", link_kinds[have->link & 3],
                          kinds[o->kind % 5]);
    else
        compare_object(w, o);
}

static bool is_declared(const struct comparing *w, const struct object *group, const char *name)
{
    char *path = path_of_member(group->path, name);
    bool found = !path || model_find(w->s, path);

    free(path);
    return found;
}

/* Dimensions that the schema does not say. */
static void compare_dimensions(struct comparing *w, const struct object *group)
{
    struct members dims = {0};
    int err = dimensions_list(&dims, w->have, group->path, DREP_BY_CREATION);

    if (err)
        report_failure(w, group->at, group->path, err);
    for (size_t i = 0; i < dims.len && !w->options->extra && !err; i++)
        if (!model_find(w->s, dims.list[i].target))
            complain(&w->c, group->at, "%s: dimension \"%s\" is not in the schema", group->path,
                     dims.list[i].name);
    members_release(&dims);
}

static void compare_group(struct comparing *w, const struct object *group)
{
    struct members members = {0};
    drep_objinfo have = DREP_OBJINFO;
    size_t i;
    int err;

    compare_dimensions(w, group);
    err = members_list(&members, w->have, group->path, DREP_BY_CREATION);

    if (err)
        report_failure(w, group->at, group->path, err);
    for (i = 0; i < members.len && !w->options->extra && !err; i++)
        if (!is_declared(w, group, members.list[i].name))
            complain(&w->c, group->at, "%s: member \"%s\" is not in the schema", group->path,
                     members.list[i].name);
    if (members.len > 1)
        qsort(members.list, members.len, sizeof *members.list, members_by_name);
    for (i = 0; i < group->nmembers && !err; i++) {
        const struct object *o = group->member[i];

        if (o->kind != DREP_OBJ_DIMENSION)
            compare_member(w, o, find_member(&members, o->name));
        else if (drep_stat(w->have, o->path, &have) == 0)
            compare_object(w, o);
        else
            complain(&w->c, o->at, "%s: there is no such dimension", o->path);
    }
    members_release(&members);
}

/* --------------------------------------------------------------------- head */

static void compare_datarep(struct comparing *w)
{
    const char *want = w->s->datarep;
    drep_header header = DREP_HEADER;
    int err = drep_header_get(w->have, &header);

    if (err) {
        report_failure(w, w->s->datarep_at, "datarep", err);
        return;
    }
    if (!want)
        return;
    if (rep_differs(header.datarep, want))
        complain(&w->c, w->s->datarep_at, "the data representation is %s, not %s", header.datarep,
                 want);
    else if (rows_differ(w->have, 0, want))
        complain(&w->c, w->s->datarep_at, "%s holds datatypes otherwise here", want);
}

static void compare_hints(struct comparing *w)
{
    const struct doc *at = doc_get(w->s->tree, "hints");
    drep_info *have;
    int i, err = drep_header_hints(w->have, &have);

    if (err) {
        report_failure(w, at, "hints", err);
        return;
    }
    for (i = 0; i < drep_info_count(w->s->hints); i++) {
        const char *key = drep_info_key(w->s->hints, i), *value = drep_info_get(have, key);

        if (!value)
            complain(&w->c, doc_get(at, key), "there is no hint \"%s\"", key);
        else if (strcmp(value, drep_info_get(w->s->hints, key)) != 0)
            complain(&w->c, doc_get(at, key), "hint \"%s\" is %s, not %s", key, value,
                     drep_info_get(w->s->hints, key));
    }
    drep_info_free(have);
}

/* The representation to make the schema's file in: values are then rounded as they were. */
static const char *usable_datarep(const struct schema *s, drep_file *file)
{
    drep_encoding rows[DREP_CODE_MAX];
    const char *name = s->datarep;
    drep_header header = DREP_HEADER;
    size_t i;
    int n;

    if (!name && drep_header_get(file, &header) == 0)
        name = header.datarep;
    for (i = 0; name && i < s->reps.len; i++)
        if (strcmp(s->reps.list[i].name, name) == 0)
            return name;
    return name && drep_datarep_table(name, rows, DREP_CODE_MAX, &n) == 0 ? name : "internal";
}

int schema_compare(const struct schema *s, drep_file *file,
                   const struct schema_compare_options *options, schema_say_fn *say, void *ctx,
                   int *differences)
{
    struct comparing w = {
        .s = s, .options = options, .have = file, .c = {.say = say, .ctx = ctx, .all = true}};
    bool large = s->elsewhere && options->scratch && !options->header_only;
    int amode = DREP_RDWR | (options->header_only ? DREP_HEADER_ONLY : 0);
    struct model_target target = {.path = large ? options->scratch : ":memory:",
                                  .amode = amode,
                                  .datarep = usable_datarep(s, file)};
    int err = model_make(s, &target, &w.c, &w.want);

    if (!err) {
        compare_datarep(&w);
        compare_hints(&w);
        compare_object(&w, s->root);
        drep_abandon(w.want);
        err = w.err;
        *differences = w.c.said;
    }
    complaints_tell(&w.c);
    return err;
}
