/* nest.c - many values: lists as deep as their rank, attributes and fill values. */
#include "print.h"
#include <stdlib.h>
#include <string.h>

/* Lists that hold nothing but empty lists are not worth more than this many. */
#define EMPTY_MAX 10000

void nest_init(struct nest *nest, int rank, const int64_t *dims, const char *between)
{
    *nest = (struct nest){.rank = rank, .between = between};
    memcpy(nest->dims, dims, (size_t)rank * sizeof *dims);
}

/* Begins the lists whose first element comes now. */
static void nest_open(struct nest *nest, struct sink *s)
{
    while (nest->open < nest->rank) {
        sink_char(s, '[');
        nest->open++;
    }
}

/* Steps to the next element; ends the lists that are full. */
static void nest_step(struct nest *nest, struct sink *s)
{
    int d;

    for (d = nest->rank - 1; d >= 0; d--) {
        if (++nest->at[d] < nest->dims[d])
            return;
        nest->at[d] = 0;
        sink_char(s, ']');
        nest->open--;
    }
}

void nest_put(struct nest *nest, const struct printer *p, struct sink *s, const drep_type *type,
              const void *elements, int64_t count)
{
    int64_t i, extent = drep_type_extent(type);

    for (i = 0; i < count && !s->err; i++) {
        if (nest->open > 0)
            sink_text(s, nest->open == nest->rank ? ", " : nest->between);
        nest_open(nest, s);
        print_value(p, s, type, (const char *)elements + i * extent);
        nest_step(nest, s);
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

void nest_end(struct nest *nest, struct sink *s)
{
    int64_t lists = 1;
    int d;

    if (nest->open > 0) {
        while (nest->open-- > 0)
            sink_char(s, ']');
        return;
    }
    for (d = 0; d < nest->rank && nest->dims[d] > 0; d++)
        lists = nest->dims[d] > EMPTY_MAX / lists ? EMPTY_MAX + 1 : lists * nest->dims[d];
    if (d == nest->rank)
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
    struct values v = {.count = 1};
    int64_t from = drep_type_extent(info->type), to;
    void *native = calloc(1, (size_t)(from > 0 ? from : 1));
    int err = native ? drep_dataset_fill(dataset, native) : DREP_ERR_NOMEM;

    if (err) {
        free(native);
        return err;
    }
    v.shown = drep_type_ref(info->type);
    err = print_type(p, info->type, false, &v.type);
    if (!err) {
        to = drep_type_extent(v.type);
        v.buf = calloc(1, (size_t)(to > 0 ? to : 1));
        err = v.buf ? drep_convert(v.type, v.buf, info->type, native, 1, NULL) : DREP_ERR_NOMEM;
    }
    drep_vlen_free(info->type, 1, native);
    free(native);
    v.count = err ? 0 : 1;
    if (err)
        values_release(&v);
    else
        *out = v;
    return err;
}

void values_put(const struct values *v, const struct printer *p, struct sink *s)
{
    struct nest nest;

    if (v->rank == DREP_NULL_SPACE) {
        sink_text(s, "null");
        return;
    }
    nest_init(&nest, v->rank, v->dims, ", ");
    nest_put(&nest, p, s, v->type, v->buf, v->count);
    nest_end(&nest, s);
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
