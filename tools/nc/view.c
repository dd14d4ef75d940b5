/* view.c - an exported netCDF-4 file, as libnetcdf sees it.
 *
 * Everything of the container is looked for in the file: what netCDF does not show is a loss, and
 * numbers and texts that it shows as others are an error. */
/* SPDX-License-Identifier: MIT */
#include "schema/note.h"
#include "tools/h5/interface.h"
#include "tools/nc/nc.h"
#include "tools/walk/box.h"
#include <datarep.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Groups below groups. */
#define DEPTH_MAX 512

struct view {
    struct nc_job *j;
    const char *path; /* of the group or dataset in hand, in the container */
    int group, var;
    int depth;
    int err;
};

/* What netCDF and HDF5 have for themselves. */
static int is_hidden(const char *name)
{
    static const char *const names[] = {"CLASS",          "NAME",          "REFERENCE_LIST",
                                        "DIMENSION_LIST", "_NCProperties", "_Netcdf4Coordinates",
                                        "_Netcdf4Dimid",  "_nc3_strict",   "scale_length"};

    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strcmp(names[i], name) == 0)
            return 1;
    return is_note(name);
}

static int unseen(struct view *v, const char *what, const char *path, const char *why)
{
    nc_say(v->j, HDF5_LOST, what, path, "not seen by netCDF: %s", why);
    return 0;
}

static int differs(struct view *v, const char *path, const char *what)
{
    return nc_fail(v->j, DREP_ERR_CONVERSION, "%s: %s: %s", v->j->o->dst, path, what);
}

/* ------------------------------------------------------------------- elements */

struct view_elements {
    struct view *v;
    drep_dataset *ds;
    const drep_type *memory; /* as netCDF gives numbers, or a vstring */
    nc_type type;
    void *ours, *theirs;
    int beyond; /* numbers that netCDF's type cannot hold */
};

static int compare_box(struct view_elements *e, const struct box *b)
{
    size_t start[DREP_MAX_RANK + 1] = {0}, count[DREP_MAX_RANK + 1] = {0};
    size_t n = (size_t)box_elements(b);
    struct nc_job *j = e->v->j;
    drep_xfer xfer = DREP_XFER(.range = j->o->range);
    drep_selection *sel = NULL;
    int status, err = nc_stopped(j);

    for (int d = 0; d < b->rank; d++) {
        start[d] = (size_t)b->start[d];
        count[d] = (size_t)b->count[d];
    }
    if (!err && b->rank > 0)
        err = drep_select_box(b->rank, b->start, b->count, NULL, NULL, &sel);
    if (!err)
        err = drep_read(e->ds, sel, e->memory, e->ours, &xfer);
    drep_selection_free(sel);
    e->beyond = err == DREP_ERR_CONVERSION;
    if (err)
        return err == DREP_ERR_STOPPED ? err : nc_fail_drep(j, err);
    status = nc_get_vara(e->v->group, e->v->var, start, count, e->theirs);
    if (status != NC_NOERR)
        err = nc_fail_netcdf(j, e->v->path, status);
    if (!err) {
        err = nc_compare(j, e->v->path, b, e->memory, e->ours, e->theirs);
        if (e->type == NC_STRING)
            nc_free_string(n, e->theirs);
    }
    if (e->type == NC_STRING)
        drep_vlen_free(e->memory, (int64_t)n, e->ours);
    return err;
}

static int compare_elements(struct view_elements *e, const drep_dsinfo *info)
{
    int64_t step[DREP_MAX_RANK], n = 1, size = drep_type_extent(e->memory);
    struct box b;
    int d, err = 0;

    for (d = 0; d < info->rank; d++)
        step[d] = info->layout == DREP_CHUNKED ? info->chunk[d] : 1;
    box_grow(info->rank, info->dims, (int64_t)(NC_BLOCK / (e->type == NC_STRING ? 16 : 1)) / size,
             step);
    for (d = 0; d < info->rank; d++)
        n *= step[d];
    e->ours = calloc((size_t)n + 1, (size_t)size);
    e->theirs = calloc((size_t)n + 1, (size_t)size);
    if (!e->ours || !e->theirs)
        err = nc_fail(e->v->j, DREP_ERR_NOMEM, "out of memory");
    box_init(&b, info->rank, info->dims, step);
    while (!err && box_next(&b))
        err = compare_box(e, &b);
    free(e->ours);
    free(e->theirs);
    return err;
}

/* Numbers and texts; elements of user-defined types are read back by libhdf5 alone. */
static int view_elements(struct view *v, drep_dataset *ds, const drep_dsinfo *info, nc_type type)
{
    struct view_elements e = {.v = v, .ds = ds, .type = type};
    drep_type *text = NULL;
    int err = 0;

    if (info->count <= 0 || type > NC_STRING)
        return 0;
    if (type == NC_STRING && drep_type_vstring(&text) != 0)
        return nc_fail(v->j, DREP_ERR_NOMEM, "out of memory");
    e.memory = type == NC_STRING ? text : type == NC_CHAR ? info->type : nc_to_drep(type);
    if (type == NC_CHAR && drep_type_extent(info->type) != 1)
        unseen(v, "values", v->path, "texts are longer than its NC_CHAR");
    else
        err = compare_elements(&e, info);
    drep_type_free(text);
    if (e.beyond)
        err = unseen(v, "values", v->path, "its type has no such numbers");
    if (e.beyond)
        *v->j->why = 0;
    return err;
}

/* 1 if the variable has the shape of the dataset, or is longer along dimensions. */
static int has_shape(const struct view *v, const drep_dsinfo *info)
{
    int dims[NC_MAX_VAR_DIMS], n = 0;
    size_t len;

    if (nc_inq_varndims(v->group, v->var, &n) != NC_NOERR || n != info->rank ||
        nc_inq_vardimid(v->group, v->var, dims) != NC_NOERR)
        return 0;
    for (int d = 0; d < n; d++)
        if (nc_inq_dimlen(v->group, dims[d], &len) != NC_NOERR || len < (size_t)info->dims[d])
            return 0;
    return 1;
}

/* ----------------------------------------------------------------- attributes */

/* One text of NC_CHAR, or the texts of NC_STRING. */
static int same_text(struct view *v, const drep_attrinfo *a, nc_type type, size_t len)
{
    struct nc_job *j = v->j;
    size_t n = type == NC_STRING ? len : 1;
    char **ours = calloc(n + 1, sizeof *ours), **theirs = calloc(n + 1, sizeof *theirs);
    drep_type *text = NULL;
    int same = 0;

    if (ours && theirs && (size_t)a->count == n && drep_type_vstring(&text) == 0 &&
        drep_attr_read(j->d, v->path, a->name, text, ours) == 0) {
        if (type == NC_CHAR)
            theirs[0] = calloc(len + 1, 1);
        if (type == NC_STRING)
            same = nc_get_att_string(v->group, v->var, a->name, theirs) == NC_NOERR &&
                   nc_compare_texts(ours, theirs, (int64_t)n) < 0;
        else if (theirs[0])
            same = nc_get_att_text(v->group, v->var, a->name, theirs[0]) == NC_NOERR &&
                   nc_compare_texts(ours, theirs, 1) < 0;
        drep_vlen_free(text, (int64_t)n, ours);
        for (size_t i = 0; i < n; i++)
            free(theirs[i]);
    }
    drep_type_free(text);
    free(ours);
    free(theirs);
    return same;
}

static int same_numbers(struct view *v, const drep_attrinfo *a, nc_type type)
{
    const drep_type *memory = nc_to_drep(type);
    size_t size = (size_t)a->count * (size_t)drep_type_extent(memory);
    void *ours = calloc(1, size + 1), *theirs = calloc(1, size + 1);
    int same = ours && theirs && drep_attr_read(v->j->d, v->path, a->name, memory, ours) == 0 &&
               nc_get_att(v->group, v->var, a->name, theirs) == NC_NOERR &&
               memcmp(ours, theirs, size) == 0;

    free(ours);
    free(theirs);
    return same;
}

/* CHARs are NC_CHAR, one text. */
static int same_chars(struct view *v, const drep_attrinfo *a, nc_type type, size_t len)
{
    char *ours = calloc(1, len + 1), *theirs = calloc(1, len + 1);
    int same = ours && theirs && type == NC_CHAR && len == (size_t)a->count &&
               drep_attr_read(v->j->d, v->path, a->name, DREP_CHAR, ours) == 0 &&
               nc_get_att_text(v->group, v->var, a->name, theirs) == NC_NOERR &&
               memcmp(ours, theirs, len) == 0;

    free(ours);
    free(theirs);
    return same;
}

static int view_attribute(const char *name, void *ctx)
{
    struct view *v = ctx;
    drep_attrinfo a = DREP_ATTRINFO;
    char what[1200];
    nc_type type = NC_NAT;
    size_t len = 0;
    int same = 1;

    if (is_hidden(name))
        return 0;
    if (drep_attr_info(v->j->d, v->path, name, &a) != 0)
        return v->err = nc_fail_drep(v->j, DREP_ERR_NOT_FOUND);
    if (nc_inq_att(v->group, v->var, name, &type, &len) != NC_NOERR) {
        snprintf(what, sizeof what, "its attribute \"%.1000s\"", name);
        unseen(v, "attribute", v->path, what);
    } else if (drep_type_code(a.type) == DREP_CODE_CHAR) {
        same = a.count <= 0 || same_chars(v, &a, type, len);
    } else if (type == NC_CHAR || type == NC_STRING) {
        same = a.count <= 0 || same_text(v, &a, type, len);
    } else if (type < NC_STRING) {
        same = a.count <= 0 || ((size_t)a.count == len && same_numbers(v, &a, type));
    }
    drep_attrinfo_release(&a);
    if (same)
        return 0;
    snprintf(what, sizeof what, "netCDF reads its attribute \"%.1000s\" as another", name);
    return v->err = differs(v, v->path, what);
}

static int view_attributes(struct view *v)
{
    int err = drep_attr_list(v->j->d, v->path, DREP_BY_CREATION, view_attribute, v);

    return err && !v->err ? nc_fail_drep(v->j, err) : err;
}

/* -------------------------------------------------------------------- objects */

/* True if the dataset is a scale that stands for the length of a dimension, which netCDF shows. */
static int is_length(struct view *v, const char *name)
{
    drep_type *type = NULL;
    char *text = NULL;
    int id, is = 0;

    if (nc_inq_dimid(v->group, name, &id) == NC_NOERR && drep_type_vstring(&type) == 0 &&
        drep_attr_read(v->j->d, v->path, SCALE_NAME, type, &text) == 0) {
        is = text && strncmp(text, SCALE_NO_VARIABLE, strlen(SCALE_NO_VARIABLE)) == 0;
        drep_vlen_free(type, 1, &text);
    }
    drep_type_free(type);
    return is;
}

/* netCDF-4's prefix for a variable beside a dimension of the same name that has no coordinates. */
#define NON_COORD "_nc4_non_coord_"

static int find_variable(struct view *v, const char *name)
{
    size_t n = strlen(NON_COORD);

    return nc_inq_varid(v->group, name, &v->var) == NC_NOERR ||
           (strncmp(name, NON_COORD, n) == 0 &&
            nc_inq_varid(v->group, name + n, &v->var) == NC_NOERR);
}

static int view_dataset(struct view *v, const char *name)
{
    drep_dsinfo info = DREP_DSINFO;
    drep_dataset *ds = NULL;
    char *type_text = NULL;
    nc_type type = NC_NAT;
    int err = drep_dataset_open(v->j->d, v->path, &ds);

    if (!err)
        err = drep_dataset_info(ds, &info);
    if (err) {
        nc_fail_drep(v->j, err);
    } else if (is_length(v, name)) {
        err = 0; /* a variable of its name is that of another dataset */
    } else if (!find_variable(v, name)) {
        drep_type_print(info.type, &type_text);
        unseen(v, "dataset", v->path, type_text ? type_text : "its datatype");
        free(type_text);
    } else if (info.rank != DREP_NULL_SPACE && !has_shape(v, &info)) {
        unseen(v, "dataset", v->path, "its shape");
    } else {
        if (v->j->o->at)
            v->j->o->at(v->j->o->ctx, v->path);
        err = view_attributes(v);
        if (!err && nc_inq_vartype(v->group, v->var, &type) == NC_NOERR)
            err = view_elements(v, ds, &info, type);
    }
    drep_dataset_close(ds);
    return err;
}

static int view_dimension(const drep_diminfo *info, void *ctx)
{
    struct view *v = ctx;
    char what[100];
    size_t len = 0;
    int id;

    if (info->kind != DREP_OBJ_DIMENSION)
        return 0;
    if (nc_inq_dimid(v->group, info->name, &id) != NC_NOERR ||
        nc_inq_dimlen(v->group, id, &len) != NC_NOERR)
        return unseen(v, "dimension", info->path, "it is absent");
    snprintf(what, sizeof what, "its length %lld; netCDF shows %zu%s", (long long)info->len, len,
             (int64_t)len < info->len ? ", where its longest variable ends" : "");
    return (int64_t)len == info->len ? 0 : unseen(v, "dimension", info->path, what);
}

static int view_group(struct view *v);

static int view_link(const drep_linkinfo *link, void *ctx)
{
    const struct view *g = ctx;
    struct view v = *g;
    char *path;
    int err = 0;

    if (link->link != DREP_LINK_HARD ||
        (link->kind != DREP_OBJ_GROUP && link->kind != DREP_OBJ_DATASET))
        return 0;
    if (asprintf(&path, "%s/%s", strcmp(g->path, "/") == 0 ? "" : g->path, link->name) < 0)
        return nc_fail(v.j, DREP_ERR_NOMEM, "out of memory");
    v.path = path;
    v.depth++;
    if (link->kind == DREP_OBJ_DATASET)
        err = view_dataset(&v, link->name);
    else if (v.depth > DEPTH_MAX || nc_inq_grp_ncid(g->group, link->name, &v.group) != NC_NOERR)
        unseen(&v, "group", path, "its group");
    else
        err = view_group(&v);
    free(path);
    ((struct view *)ctx)->err = err;
    return err;
}

static int view_group(struct view *v)
{
    int err;

    v->var = NC_GLOBAL;
    err = view_attributes(v);
    if (!err)
        err = drep_dimension_list(v->j->d, v->path, DREP_BY_CREATION, view_dimension, v);
    if (!err)
        err = drep_list(v->j->d, v->path, DREP_BY_CREATION, view_link, v);
    return err && !*v->j->why ? nc_fail_drep(v->j, err) : err;
}

int nc_view_all(struct nc_job *j)
{
    struct view v = {.j = j, .path = j->o->root ? j->o->root : "/"};
    int err, status = nc_open(j->o->place, NC_NOWRITE, &j->nc);

    if (status != NC_NOERR) {
        j->nc = -1;
        return nc_fail(j, nc_fail_netcdf(j, "", status),
                       "%s: libnetcdf does not open the HDF5 file that was made: %s; "
                       "--format=hdf5 keeps that file",
                       j->o->dst, nc_strerror(status));
    }
    v.group = j->nc;
    err = view_group(&v);
    nc_close(j->nc);
    j->nc = -1;
    return err;
}
