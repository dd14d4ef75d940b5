/* array.c - the entries of one dataset: its chunks, then .zattrs and .zarray. */
/* SPDX-License-Identifier: MIT */
#include "tools/refs/array.h"
#include "base/vec.h"
#include "tools/host/fail.h"
#include "tools/text/print.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ------------------------------------------------------------- dimensions */

/* The number of a length in the group, new if need be: of its occurrence `nth` in one dataset. */
static int phony_number(struct phony *phony, int64_t len, int nth, size_t *number)
{
    for (size_t i = 0; i < phony->n; i++)
        if (phony->len[i] == len && nth-- == 0) {
            *number = i;
            return 0;
        }
    if (VEC_ROOM(phony->len, phony->n, phony->room, 1))
        return DREP_ERR_NOMEM;
    phony->len[phony->n] = len;
    *number = phony->n++;
    return 0;
}

/* The name of a dataset's dimension, or NULL: it has none, or one of another length. */
static const char *dimension_name(const struct array_writer *a, int d)
{
    uint64_t id = d < a->info->rank ? a->info->dim_ids[d] : 0;
    const char *address = id ? printer_path(&a->w->printer, id) : NULL;
    drep_objinfo info = DREP_OBJINFO;
    const char *last;

    if (!address || drep_stat(a->w->file, address, &info) || info.len != a->dims[d])
        return NULL;
    last = strrchr(address, '/');
    last = last ? strchr(last, '#') : NULL;
    return last ? last + 1 : NULL;
}

static int dimensions_put(const struct array_writer *a, struct phony *phony, struct sink *s)
{
    int err = 0;

    sink_char(s, '[');
    for (int d = 0; d < a->rank && !err; d++) {
        const char *name = dimension_name(a, d);
        size_t number = 0;
        int nth = 0;

        sink_text(s, d ? ", " : "");
        if (name) {
            sink_quoted(s, name, strlen(name));
            continue;
        }
        for (int k = 0; k < d; k++)
            nth += a->dims[k] == a->dims[d] && !dimension_name(a, k);
        err = phony_number(phony, a->dims[d], nth, &number);
        sink_format(s, "\"phony_dim_%zu\"", number);
    }
    sink_char(s, ']');
    sink_put(s, "", 1);
    return err ? err : s->err ? DREP_ERR_NOMEM : 0;
}

/* ------------------------------------------------------------ fill values */

/* Read _FillValue as an element in this machine's order, malloc'ed; NULL: there is none such. */
static void *missing_read(const struct array_writer *a)
{
    drep_attrinfo info = DREP_ATTRINFO;
    void *value = NULL;

    if (a->element.rank || !strchr("iufcb", a->element.kind) ||
        drep_attr_info(a->w->file, a->path, "_FillValue", &info))
        return NULL;
    if (info.count == 1 && info.rank != DREP_NULL_SPACE)
        value = calloc(1, (size_t)a->element.size);
    if (value && drep_attr_read(a->w->file, a->path, "_FillValue", a->element.item, value)) {
        free(value);
        value = NULL;
    }
    drep_attrinfo_release(&info);
    return value;
}

/* Put the fill value.  xarray takes elements equal to it for missing values: it is _FillValue,
 * unless chunks are missing that have others.  Sets *hidden if the attribute says no more. */
static int fill_put(const struct array_writer *a, struct sink *s, const char **hidden)
{
    void *missing = missing_read(a), *fill = calloc(1, (size_t)a->info->element_size + 1);
    bool same;
    int err = fill ? drep_dataset_fill(a->dataset, a->element.memory, fill) : DREP_ERR_NOMEM;

    *hidden = NULL;
    same = !err && missing && memcmp(missing, fill, (size_t)a->element.size) == 0;
    sink_text(s, "\"fill_value\": ");
    if (!err && missing && (a->whole || same)) {
        err = refs_element_put_fill(&a->element, s, missing);
        *hidden = "_FillValue";
    } else if (!err && a->whole) {
        sink_text(s, "null");
    } else if (!err) {
        err = refs_element_put_fill(&a->element, s, fill);
        if (strchr("iufcb", a->element.kind))
            writer_note(a->w, a->path,
                        "not all chunks are stored; xarray takes elements equal to the fill value "
                        "for missing values");
    }
    free(missing);
    free(fill);
    return err;
}

/* --------------------------------------------------------------- metadata */

static int zarray_put(const struct array_writer *a, const char **hidden)
{
    struct sink text;
    int err;

    if (sink_init(&text, -1))
        return DREP_ERR_NOMEM;
    sink_text(&text, "{\"chunks\": ");
    print_lengths(&text, a->chunk, a->rank);
    sink_text(&text, ", ");
    codecs_put(&a->codecs, &text);
    sink_text(&text, ", \"dtype\": ");
    sink_text(&text, a->element.dtype);
    sink_text(&text, ", ");
    err = fill_put(a, &text, hidden);
    sink_text(&text, ", \"order\": \"C\", \"shape\": ");
    print_lengths(&text, a->dims, a->rank);
    sink_text(&text, ", \"zarr_format\": 2}");
    if (!err)
        writer_document(a->w, a->path, ".zarray", &text);
    if (!err && text.err)
        err = DREP_ERR_NOMEM;
    sink_release(&text);
    return err;
}

static int metadata_put(const struct array_writer *a, struct phony *phony)
{
    const char *hidden = NULL;
    struct sink text;
    int err;

    if (sink_init(&text, -1))
        return DREP_ERR_NOMEM;
    err = dimensions_put(a, phony, &text);
    if (!err)
        err = zarray_put(a, &hidden);
    if (!err)
        err = attributes_put(a->w, a->path, text.buf, hidden);
    sink_release(&text);
    return err;
}

/* ------------------------------------------------------------------ array */

static int array_shape(struct array_writer *a)
{
    const drep_dsinfo *info = a->info;
    int err;

    a->rank = info->rank + a->element.rank;
    a->items = 1;
    a->payload = info->element_size;
    for (int d = 0; d < info->rank; d++) {
        a->dims[d] = info->dims[d];
        a->chunk[d] = info->chunk[d];
        a->payload *= info->layout == DREP_CHUNKED ? info->chunk[d] : 1;
    }
    for (int d = 0; d < a->element.rank; d++) {
        a->dims[info->rank + d] = a->chunk[info->rank + d] = a->element.dims[d];
        a->items *= a->element.dims[d];
    }
    a->fill = calloc(1, (size_t)info->element_size + 1);
    if (!a->fill)
        return DREP_ERR_NOMEM;
    err = drep_dataset_fill(a->dataset, a->element.memory, a->fill);
    if (!err)
        refs_element_store(&a->element, a->fill, a->items);
    return err;
}

static bool is_unsupported(int err)
{
    return err == DREP_ERR_UNSUPPORTED || err == DREP_ERR_UNSUPPORTED_OPERATION ||
           err == DREP_ERR_UNSUPPORTED_DATAREP;
}

/* Small datasets need no request of their own, and no codecs. */
static int payload_put(struct array_writer *a)
{
    const drep_dsinfo *info = a->info;
    int err;

    if (info->count == 0 || info->layout == DREP_COMPACT ||
        info->count <= a->w->refs->small / info->element_size) {
        err = inline_put(a);
        if (!is_unsupported(err) || info->layout == DREP_COMPACT)
            return err;
        memcpy(a->chunk, info->chunk, (size_t)info->rank * sizeof *a->chunk);
    }
    if (a->element.padded) {
        snprintf(a->why, REFS_WHY, "NumPy has no text that is padded with spaces");
        return 0;
    }
    return info->layout == DREP_CHUNKED ? chunked_put(a) : contiguous_put(a);
}

static int array_entries(struct array_writer *a, struct phony *phony)
{
    int err = array_shape(a);

    if (!err)
        err = payload_put(a);
    if (is_unsupported(err)) { /* chunks without .zarray are no array */
        snprintf(a->why, REFS_WHY, "%s", tool_unnamed(a->w->refs->file_name, drep_error()));
        err = 0;
    }
    if (err)
        return err;
    if (a->why[0]) {
        writer_left_out(a->w, a->path, a->why);
        return 0;
    }
    return metadata_put(a, phony);
}

int array_write(struct refs_writer *w, const char *path, struct phony *phony)
{
    struct array_writer a = {.w = w, .path = path};
    drep_dsinfo info = DREP_DSINFO;
    int err = drep_dataset_open(w->file, path, &a.dataset);

    if (err == DREP_ERR_UNSUPPORTED_DATAREP) {
        writer_left_out(w, path, tool_unnamed(w->refs->file_name, drep_error()));
        return 0;
    }
    if (err)
        return err;
    a.info = &info;
    err = drep_dataset_info(a.dataset, &info);
    if (!err && info.rank == DREP_NULL_SPACE)
        snprintf(a.why, REFS_WHY, "it has no elements, not even of a shape");
    else if (!err)
        err = refs_element_init(&a.element, &w->printer, a.dataset, &info, a.why);
    if (!err && a.why[0])
        writer_left_out(w, path, a.why);
    else if (!err)
        err = array_entries(&a, phony);
    refs_element_release(&a.element);
    free(a.fill);
    drep_dataset_close(a.dataset);
    return err;
}
