/* nesting.c - many values: lists as deep as their rank, attributes and fill values. */
#include "tools/text/print.h"
#include <stdlib.h>
#include <string.h>

/* Lists that hold nothing but empty lists are not worth more than this many. */
#define EMPTY_MAX 10000

/* How many of the lists begin with the element at this place. */
static int lists_begun(const struct nest *nest, const int64_t *at)
{
    int d = nest->rank;

    while (d > 0 && at[d - 1] == 0)
        d--;
    return nest->rank - d;
}

/* What stands between the element before, or the beginning, and the one at this place. */
static void put_gap(const struct nest *nest, struct sink *s, const int64_t *at, bool start)
{
    int begun = lists_begun(nest, at), outer = nest->lines && nest->rank > 0, n;
    int lists = start ? nest->rank - outer : begun;

    /* A list that begins ends the one before it. */
    for (n = start ? lists : 0; n < lists; n++)
        sink_char(s, ']');
    if (!start && outer && begun == nest->rank - 1)
        sink_char(s, '\n');
    else if (!start)
        sink_text(s, begun ? nest->between : ", ");
    for (n = 0; n < lists; n++)
        sink_char(s, '[');
}

void nest_put(const struct nest *nest, const struct printer *p, struct sink *s,
              const drep_type *type, const void *elements, int64_t first, int64_t count)
{
    int64_t i, extent = drep_type_extent(type), at[DREP_MAX_RANK] = {0}, rest = first;
    print_fn *put = print_direct(p, type);
    int d;

    for (d = nest->rank - 1; d >= 0 && count > 0; d--) {
        at[d] = rest % nest->dims[d];
        rest /= nest->dims[d];
    }
    for (i = 0; i < count && !s->err; i++) {
        put_gap(nest, s, at, first + i == 0);
        put(p, s, type, (const char *)elements + i * extent);
        for (d = nest->rank - 1; d >= 0 && ++at[d] == nest->dims[d]; d--)
            at[d] = 0;
    }
}

static void put_empty(const struct nest *nest, struct sink *s, int d)
{
    int64_t i;

    sink_char(s, '[');
    for (i = 0; i < nest->dims[d]; i++) {
        if (i)
            sink_text(s, ", ");
        put_empty(nest, s, d + 1);
    }
    sink_char(s, ']');
}

void nest_end(const struct nest *nest, struct sink *s, bool any)
{
    int64_t lists = 1;
    int d;

    if (any) {
        for (d = nest->lines && nest->rank > 0; d < nest->rank; d++)
            sink_char(s, ']');
        return;
    }
    for (d = 0; d < nest->rank && nest->dims[d] > 0; d++)
        lists = nest->dims[d] > EMPTY_MAX / lists ? EMPTY_MAX + 1 : lists * nest->dims[d];
    if (d == nest->rank || nest->lines)
        return;
    if (lists > EMPTY_MAX)
        sink_text(s, "[]");
    else
        put_empty(nest, s, 0);
}

/* ------------------------------------------------------------------ values */

void values_release(struct values *v)
{
    if (v->buf && v->type)
        drep_vlen_free(v->type, v->count, v->buf);
    free(v->buf);
    drep_type_free(v->type);
    drep_type_free(v->shown);
    *v = (struct values){0};
}

int values_attr(struct values *out, const struct printer *p, const char *path, const char *name)
{
    struct values v = {0};
    drep_attrinfo info;
    int64_t extent;
    int err = drep_attr_info(p->file, path, name, &info);

    if (err)
        return err;
    v.rank = info.rank;
    memcpy(v.dims, info.dims, sizeof v.dims);
    v.shown = drep_type_ref(info.type);
    err = print_type(p, info.type, false, &v.type);
    if (!err && info.rank != DREP_NULL_SPACE) {
        extent = drep_type_extent(v.type);
        v.buf = calloc((size_t)info.count + 1, (size_t)(extent > 0 ? extent : 1));
        err = v.buf ? 0 : DREP_ERR_NOMEM;
        if (!err)
            err = drep_attr_read(p->file, path, name, v.type, v.buf);
        v.count = err ? 0 : info.count;
    }
    drep_attrinfo_release(&info);
    if (err)
        values_release(&v);
    else
        *out = v;
    return err;
}

int values_fill(struct values *out, const struct printer *p, drep_dataset *dataset,
                const drep_dsinfo *info)
{
    struct values v = {.shown = drep_type_ref(info->type)};
    int64_t extent;
    int err = print_type(p, info->type, false, &v.type);

    if (!err) {
        extent = drep_type_extent(v.type);
        v.buf = calloc(1, (size_t)(extent > 0 ? extent : 1));
        err = v.buf ? drep_dataset_fill(dataset, v.type, v.buf) : DREP_ERR_NOMEM;
    }
    v.count = !err;
    if (err)
        values_release(&v);
    else
        *out = v;
    return err;
}

int values_dataset(struct values *out, const struct printer *p, drep_dataset *dataset,
                   const drep_dsinfo *info)
{
    struct values v = {.shown = drep_type_ref(info->type)};
    int64_t extent;
    int err = print_type(p, info->type, true, &v.type);

    if (!err) {
        extent = drep_type_extent(v.type);
        v.buf = calloc(1, (size_t)(extent > 0 ? extent : 1));
        err = v.buf ? drep_read(dataset, NULL, v.type, v.buf, NULL) : DREP_ERR_NOMEM;
    }
    v.count = !err;
    if (err)
        values_release(&v);
    else
        *out = v;
    return err;
}

void values_put(const struct values *v, const struct printer *p, struct sink *s)
{
    struct nest nest = {.rank = v->rank, .between = ", "};

    if (v->rank == DREP_NULL_SPACE) {
        sink_text(s, "null");
        return;
    }
    memcpy(nest.dims, v->dims, sizeof nest.dims);
    nest_put(&nest, p, s, v->type, v->buf, 0, v->count);
    nest_end(&nest, s, v->count > 0);
}

/* What is in the sink, as a string. */
static int sink_string(struct sink *s, char **text)
{
    sink_put(s, "", 1);
    if (s->err) {
        sink_release(s);
        return DREP_ERR_NOMEM;
    }
    *text = s->buf;
    return 0;
}

int values_text(const struct printer *p, const char *path, const char *name, char **text)
{
    drep_dataset *ds = NULL;
    drep_dsinfo info;
    struct values v;
    struct sink s;
    int err;

    if (name) {
        err = values_attr(&v, p, path, name);
    } else {
        err = drep_dataset_open(p->file, path, &ds);
        if (!err)
            err = drep_dataset_info(ds, &info);
        if (!err)
            err = values_fill(&v, p, ds, &info);
        drep_dataset_close(ds);
    }
    if (err)
        return err;
    err = sink_init(&s, -1) ? DREP_ERR_NOMEM : 0;
    if (!err) {
        values_put(&v, p, &s);
        err = sink_string(&s, text);
    }
    values_release(&v);
    return err;
}

int element_text(const struct printer *p, const drep_type *type, const void *element, char **text)
{
    struct sink s;

    if (sink_init(&s, -1))
        return DREP_ERR_NOMEM;
    print_value(p, &s, type, element);
    return sink_string(&s, text);
}
