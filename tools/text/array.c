/* array.c - small arrays in memory. */
/* SPDX-License-Identifier: MIT */
#include "tools/text/array.h"
#include "tools/text/nesting.h"
#include "tools/text/print.h"
#include "tools/text/printer.h"
#include "tools/text/sink.h"
#include "tools/walk/blocks.h"
#include <datarep.h>
#include <stdlib.h>
#include <string.h>

void array_release(struct array *v)
{
    if (v->buf && v->type)
        drep_vlen_free(v->type, v->count, v->buf);
    free(v->buf);
    drep_type_free(v->type);
    drep_type_free(v->shown);
    *v = (struct array){0};
}

/* The type that an attribute is read as.  A text, as most are, says how it is stored itself. */
static int readable(const struct printer *p, const char *path, const char *name,
                    const drep_type *type, drep_type **out)
{
    drep_encoding rows[DREP_CODE_MAX];
    int kind = drep_type_kind(type), n = 0, err = 0;

    if (kind == DREP_KIND_VSTRING)
        return drep_type_text(out);
    if (kind == DREP_KIND_STRING) {
        *out = drep_type_ref(type);
        return 0;
    }
    err = drep_attr_encodings(p->file, path, name, rows, DREP_CODE_MAX, &n);
    return err ? err : printer_value_type(p, type, rows, n, out);
}

int array_attr(struct array *out, const struct printer *p, const char *path, const char *name)
{
    struct array v = {0};
    drep_attrinfo info = DREP_ATTRINFO;
    int64_t extent;
    int err = drep_attr_info(p->file, path, name, &info);

    if (err == DREP_ERR_UNSUPPORTED) {
        out->number = info.number;
        out->flags = info.flags;
    }
    if (err)
        return err;
    v.rank = info.rank;
    memcpy(v.dims, info.dims, sizeof v.dims);
    v.shown = drep_type_ref(info.type);
    err = readable(p, path, name, info.type, &v.type);
    if (!err && info.rank != DREP_NULL_SPACE) {
        extent = drep_type_extent(v.type);
        v.buf = calloc((size_t)info.count + 1, (size_t)(extent > 0 ? extent : 1));
        err = v.buf ? 0 : DREP_ERR_NOMEM;
        if (!err)
            err = attribute_read(p->file, path, name, v.type, v.buf);
        v.count = err ? 0 : info.count;
    }
    drep_attrinfo_release(&info);
    if (err)
        array_release(&v);
    else
        *out = v;
    return err;
}

/* One element, read by whoever knows where it is. */
typedef int read_one_fn(drep_dataset *dataset, const drep_type *type, void *element);

static int read_fill(drep_dataset *dataset, const drep_type *type, void *element)
{
    return drep_dataset_fill(dataset, type, element);
}

static int read_scalar(drep_dataset *dataset, const drep_type *type, void *element)
{
    return elements_read(dataset, NULL, type, element);
}

/* Takes `type` over: the one that the element is read as. */
static int read_one(struct array *out, drep_dataset *dataset, const drep_dsinfo *info,
                    drep_type *type, read_one_fn *read)
{
    struct array v = {.shown = drep_type_ref(info->type), .type = type};
    int64_t extent = drep_type_extent(type);
    int err;

    v.buf = calloc(1, (size_t)(extent > 0 ? extent : 1));
    err = v.buf ? read(dataset, v.type, v.buf) : DREP_ERR_NOMEM;
    v.count = !err;
    if (err)
        array_release(&v);
    else
        *out = v;
    return err;
}

int array_fill(struct array *out, const struct printer *p, drep_dataset *dataset,
               const drep_dsinfo *info)
{
    drep_encoding rows[DREP_CODE_MAX];
    drep_type *type;
    int n, err = drep_dataset_fill_encodings(dataset, rows, DREP_CODE_MAX, &n);

    if (!err)
        err = printer_value_type(p, info->type, rows, n, &type);
    return err ? err : read_one(out, dataset, info, type, read_fill);
}

int array_dataset(struct array *out, const struct printer *p, drep_dataset *dataset,
                  const drep_dsinfo *info)
{
    drep_type *type;
    int err = printer_type(p, info->type, info->datarep_number, &type);

    return err ? err : read_one(out, dataset, info, type, read_scalar);
}

void array_put(const struct array *v, const struct printer *p, struct sink *s)
{
    struct nesting nest = {.rank = v->rank, .between = ", "};

    if (v->rank == DREP_NULL_SPACE) {
        sink_text(s, "null");
        return;
    }
    memcpy(nest.dims, v->dims, sizeof nest.dims);
    nesting_put(&nest, p, s, v->type, v->buf, 0, v->count);
    nesting_end(&nest, s, v->count > 0);
}

/* The contents of the sink as a string. */
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

int array_text(const struct printer *p, const char *path, const char *name, char **text)
{
    drep_dataset *ds = NULL;
    drep_dsinfo info = DREP_DSINFO;
    struct array v;
    struct sink s;
    int err;

    if (name) {
        err = array_attr(&v, p, path, name);
    } else {
        err = drep_dataset_open(p->file, path, &ds);
        if (!err)
            err = drep_dataset_info(ds, &info);
        if (!err)
            err = array_fill(&v, p, ds, &info);
        drep_dataset_close(ds);
    }
    if (err)
        return err;
    err = sink_init(&s, -1) ? DREP_ERR_NOMEM : 0;
    if (!err) {
        array_put(&v, p, &s);
        err = sink_string(&s, text);
    }
    array_release(&v);
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
