/* join_compare.c - what must be the same in all sources of `datarep join`. */
/* SPDX-License-Identifier: MIT */
#include "tools/cmd/join.h"
#include "tools/host/exit.h"
#include "tools/host/fail.h"
#include "tools/host/message.h"
#include "tools/text/verify.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BLOCK ((int64_t)4 << 20)

/* Attributes without which equal values are not the same. */
static const char *const meaning[] = {"units",      "calendar",     "scale_factor",  "add_offset",
                                      "_FillValue", "_Unsigned",    "missing_value", "positive",
                                      "valid_min",  "valid_max",    "valid_range",   "flag_values",
                                      "flag_masks", "flag_meanings"};

/* ------------------------------------------------------------------ attributes */

struct value {
    drep_attrinfo info;
    void *bytes; /* NULL: there is none */
};

static int value_read(drep_file *file, const char *path, const char *name, struct value *v)
{
    int err = drep_attr_info(file, path, name, &v->info);

    if (err)
        return err == DREP_ERR_NOT_FOUND ? 0 : err;
    v->bytes = calloc((size_t)v->info.count + 1, (size_t)drep_type_extent(v->info.type) + 1);
    return v->bytes ? drep_attr_read(file, path, name, v->info.type, v->bytes) : DREP_ERR_NOMEM;
}

static void value_release(struct value *v)
{
    if (v->bytes && drep_type_variable(v->info.type))
        drep_vlen_free(v->info.type, v->info.count, v->bytes);
    free(v->bytes);
    drep_attrinfo_release(&v->info);
}

/* Texts are the same whatever their type: those of netCDF-4 and of classic files differ in it. */
static bool texts_same(const struct join_job *j, const struct join_source *s, const char *path,
                       const char *name)
{
    char *a = NULL, *b = NULL;
    bool same = drep_attr_read_string(j->file, path, name, &a) == 0 &&
                drep_attr_read_string(s->file, path, name, &b) == 0 && strcmp(a, b) == 0;

    free(a);
    free(b);
    return same;
}

/* netCDF-4 writes one number as a list of one, others as a scalar. */
static bool values_alike(const struct verify *how, const struct value *a, const struct value *b)
{
    char text[400];

    if (!a->bytes || !b->bytes)
        return !a->bytes && !b->bytes;
    return (a->info.rank == b->info.rank || a->info.count == 1) && a->info.count == b->info.count &&
           drep_type_equal(a->info.type, b->info.type) &&
           verify_compare(how, a->info.type, a->info.count, a->bytes, b->bytes, text, sizeof text) <
               0;
}

static int compare_meaning(const struct join_job *j, const struct join_source *s, const char *path,
                           const char *name, const struct verify *how)
{
    struct value a = {.info = DREP_ATTRINFO}, b = {.info = DREP_ATTRINFO};
    int status = 0, err = value_read(j->file, path, name, &a);

    if (!err)
        err = value_read(s->file, path, name, &b);
    if (err) {
        status = tool_fail(s->name, path, err);
    } else if (!values_alike(how, &a, &b) &&
               (!a.bytes || !b.bytes || !texts_same(j, s, path, name))) {
        tool_say(s->name, path, "attribute %s is not that of %s", name, j->source[0]);
        status = TOOL_DIFFERS;
    }
    value_release(&a);
    value_release(&b);
    return status;
}

/* -------------------------------------------------------------------- elements */

static int compare_box(const struct join_job *j, const struct join_source *s,
                       const struct join_variable *v, drep_dataset *ds, const struct verify *how,
                       const struct box *b)
{
    const drep_type *type = v->info.type;
    size_t n = (size_t)box_elements(b), size = (size_t)drep_type_extent(type);
    void *ours = calloc(n + 1, size), *theirs = calloc(n + 1, size);
    char text[400], index[DREP_MAX_RANK * 21 + 3];
    bool read = false;
    int64_t at;
    int status = 0, err = ours && theirs ? 0 : DREP_ERR_NOMEM;

    if (!err)
        err = drep_read_box(v->ds, b->start, b->count, type, ours, NULL);
    if (!err) {
        err = drep_read_box(ds, b->start, b->count, type, theirs, NULL);
        read = !err;
        if (err && drep_type_variable(type))
            drep_vlen_free(type, (int64_t)n, ours);
    }
    if (err) {
        status = tool_fail(s->name, v->path, err);
    } else if ((at = verify_compare(how, type, (int64_t)n, ours, theirs, text, sizeof text)) >= 0) {
        box_index_text(b->rank, b->start, b->count, at, index, sizeof index);
        tool_say(
            s->name, v->path,
            "element %s differs from that of %s; variables without the dimension must be equal "
            "in all files",
            index, j->source[0]);
        status = TOOL_DIFFERS;
    }
    if (read && drep_type_variable(type)) {
        drep_vlen_free(type, (int64_t)n, ours);
        drep_vlen_free(type, (int64_t)n, theirs);
    }
    free(ours);
    free(theirs);
    return status;
}

static int compare_elements(const struct join_job *j, const struct join_source *s,
                            const struct join_variable *v, drep_dataset *ds,
                            const struct verify *how)
{
    int64_t step[DREP_MAX_RANK];
    struct box b;
    int status = 0;

    if (v->info.count == 0)
        return 0;
    for (int d = 0; d < v->info.rank; d++)
        step[d] = 1;
    box_grow(v->info.rank, v->info.dims, BLOCK / (drep_type_extent(v->info.type) + 1) + 1, step);
    box_init(&b, v->info.rank, v->info.dims, step);
    while (!status && box_next(&b))
        status = compare_box(j, s, v, ds, how, &b);
    return status;
}

/* ----------------------------------------------------------------------- shape */

static int compare_shape(const struct join_job *j, const struct join_source *s,
                         const struct join_variable *v, const drep_dsinfo *info, bool joined)
{
    if (!drep_type_equal(v->info.type, info->type)) {
        tool_say(s->name, v->path, "its datatype is not that of %s", j->source[0]);
        return TOOL_DIFFERS;
    }
    if (v->info.rank != info->rank || joined != (v->dim >= 0)) {
        tool_say(s->name, v->path, "its dimensions are not those of %s", j->source[0]);
        return TOOL_DIFFERS;
    }
    for (int d = 0; d < info->rank; d++)
        if (d != v->dim && info->dims[d] != v->info.dims[d]) {
            tool_say(s->name, v->path, "its length in dimension %d is %lld, in %s %lld", d,
                     (long long)info->dims[d], j->source[0], (long long)v->info.dims[d]);
            return TOOL_DIFFERS;
        }
    return 0;
}

static bool has_dimension(const struct join_job *j, const struct join_source *s,
                          const struct join_variable *v, const drep_dsinfo *info)
{
    drep_objinfo dim = DREP_OBJINFO;

    return v->dim >= 0 && v->dim < info->rank && drep_stat(s->file, j->address, &dim) == 0 &&
           info->dim_ids[v->dim] == dim.id;
}

int join_check(const struct join_job *j, const struct join_source *s, const struct join_variable *v,
               drep_dataset *ds, const drep_dsinfo *info)
{
    struct verify how;
    int err, status = compare_shape(j, s, v, info, has_dimension(j, s, v, info));

    if (status)
        return status;
    err = verify_init(&how, j->file);
    if (err)
        return tool_fail(j->target, NULL, err);
    for (size_t i = 0; !status && i < sizeof meaning / sizeof *meaning; i++)
        status = compare_meaning(j, s, v->path, meaning[i], &how);
    if (!status && v->dim < 0)
        status = compare_elements(j, s, v, ds, &how);
    verify_release(&how);
    return status;
}
