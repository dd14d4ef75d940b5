/* import.c - a classic netCDF file becomes a container. */
/* SPDX-License-Identifier: MIT */
#include "tools/nc/nc.h"
#include "tools/walk/box.h"
#include "tools/walk/stretch.h"
#include <datarep.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct reader {
    struct nc_job *j;
    int ndims, nvars, natts, unlimited;
    char (*name)[NC_MAX_NAME + 1]; /* of each dimension */
    size_t *len;
};

/* "/NAME" or "/#NAME"; malloc'ed. */
static char *path_in_root(const char *mark, const char *name)
{
    char *path;

    return asprintf(&path, "/%s%s", mark, name) < 0 ? NULL : path;
}

/* ----------------------------------------------------------------- attributes */

/* Text becomes one string of its length, so that also NULs at its end stay. */
static int put_text(struct nc_job *j, const char *path, const char *name, const char *p, size_t n)
{
    const int64_t len = (int64_t)n;
    drep_type *type = NULL;
    int err;

    if (n == 0)
        return drep_attr_write(j->d, path, name, DREP_CHAR, 1, &len, p);
    err = drep_type_string(len, DREP_PAD_NUL, &type);
    if (!err)
        err = drep_attr_write(j->d, path, name, type, 0, NULL, p);
    drep_type_free(type);
    return err;
}

static int import_attribute(struct nc_job *j, int var, int number, const char *path)
{
    char name[NC_MAX_NAME + 1] = "";
    nc_type type;
    size_t n = 0, size = 0;
    int64_t len;
    void *value;
    int err = 0, status = nc_inq_attname(j->nc, var, number, name);

    if (status == NC_NOERR)
        status = nc_inq_att(j->nc, var, name, &type, &n);
    if (status == NC_NOERR)
        status = nc_inq_type(j->nc, type, NULL, &size);
    if (status != NC_NOERR || !nc_to_drep(type))
        return nc_fail_netcdf(j, path, status);
    value = calloc(n + 1, size);
    if (!value)
        return nc_fail(j, DREP_ERR_NOMEM, "out of memory");
    status = nc_get_att(j->nc, var, name, value);
    len = (int64_t)n;
    if (status != NC_NOERR)
        err = nc_fail_netcdf(j, path, status);
    else if (type == NC_CHAR)
        err = put_text(j, path, name, value, n);
    else
        err = drep_attr_write(j->d, path, name, nc_to_drep(type), 1, &len, value);
    free(value);
    j->totals.attributes += !err;
    return err && status == NC_NOERR ? nc_fail_drep(j, err) : err;
}

static int import_var_attributes(struct nc_job *j, int var, int n, const char *path)
{
    int err = 0;

    for (int i = 0; !err && i < n; i++)
        err = import_attribute(j, var, i, path);
    return err;
}

/* ----------------------------------------------------------------- dimensions */

static int make_dimensions(struct reader *r)
{
    struct nc_job *j = r->j;
    int err = 0;

    r->name = calloc((size_t)r->ndims + 1, sizeof *r->name);
    r->len = calloc((size_t)r->ndims + 1, sizeof *r->len);
    if (!r->name || !r->len)
        return nc_fail(j, DREP_ERR_NOMEM, "out of memory");
    for (int i = 0; !err && i < r->ndims; i++) {
        int status = nc_inq_dim(j->nc, i, r->name[i], &r->len[i]);
        char *path = path_in_root("#", r->name[i]);

        if (status != NC_NOERR)
            err = nc_fail_netcdf(j, "dimension", status);
        else if (!path)
            err = nc_fail(j, DREP_ERR_NOMEM, "out of memory");
        else if ((err = drep_dimension_create(j->d, path, (int64_t)r->len[i], i == r->unlimited)))
            nc_fail_drep(j, err);
        j->totals.dimensions += !err;
        free(path);
    }
    return err;
}

/* ------------------------------------------------------------------ variables */

struct variable_in {
    char name[NC_MAX_NAME + 1];
    nc_type type;
    int rank, natts;
    int dim[NC_MAX_VAR_DIMS];
    char *path;
};

static int inquire(struct nc_job *j, int number, struct variable_in *v)
{
    int status = nc_inq_varndims(j->nc, number, &v->rank);

    if (status == NC_NOERR && v->rank > NC_MAX_VAR_DIMS)
        return nc_fail(j, DREP_ERR_LIMIT, "a variable of %d dimensions", v->rank);
    if (status == NC_NOERR)
        status = nc_inq_var(j->nc, number, v->name, &v->type, &v->rank, v->dim, &v->natts);
    if (status != NC_NOERR)
        return nc_fail_netcdf(j, "variable", status);
    v->path = path_in_root("", v->name);
    return v->path ? 0 : nc_fail(j, DREP_ERR_NOMEM, "out of memory");
}

/* The value of elements that nobody wrote, as ncdump shows them too. */
static int fill_of(struct nc_job *j, int number, void *fill, int *none)
{
    int status = nc_inq_var_fill(j->nc, number, none, fill);

    return status == NC_NOERR ? 0 : nc_fail_netcdf(j, "fill value", status);
}

/* True if the variable is a dataset whose chunks name its bytes. */
static int is_pinned(const struct reader *r, int number, const struct variable_in *v)
{
    return r->j->o->pinned && v->rank > 0 && (size_t)number < r->j->nplaces;
}

static int make_variable(struct reader *r, int number, const struct variable_in *v,
                         drep_dataset **out)
{
    struct nc_job *j = r->j;
    int64_t dims[DREP_MAX_RANK], most[DREP_MAX_RANK], chunk[DREP_MAX_RANK];
    const char *names[DREP_MAX_RANK];
    _Alignas(8) char fill[8];
    int none = 0, err;
    drep_spec spec =
        DREP_SPEC(.type = nc_to_drep(v->type), .rank = v->rank, .dims = dims, .maxdims = most,
                  .dim_names = names, .fill = DREP_FILL_VALUE, .fill_value = fill);

    if (v->rank > DREP_MAX_RANK || !spec.type) {
        nc_say(j, HDF5_LOST, "variable", v->path, "%d dimensions: left out", v->rank);
        return 0;
    }
    for (int d = 0; d < v->rank; d++) {
        dims[d] = (int64_t)r->len[v->dim[d]];
        most[d] = v->dim[d] == r->unlimited ? DREP_UNLIMITED : dims[d];
        names[d] = r->name[v->dim[d]];
        if (most[d] == DREP_UNLIMITED && d == 0)
            spec.layout = DREP_CONTIGUOUS; /* as it grows record by record */
    }
    if (is_pinned(r, number, v)) {
        size_t size = 1;

        nc_inq_type(j->nc, v->type, NULL, &size);
        stretch_chunk(v->rank, dims, (int64_t)size, chunk);
        if (j->places[number].record)
            chunk[0] = 1; /* other variables may lie between */
        spec.layout = DREP_CHUNKED;
        spec.chunk = chunk;
    }
    if (v->rank == 0)
        spec.dims = spec.maxdims = NULL, spec.dim_names = NULL;
    err = fill_of(j, number, fill, &none);
    if (err)
        return err;
    if (none) {
        spec.fill = DREP_FILL_DEFAULT;
        spec.fill_value = NULL;
    }
    err = drep_dataset_create(j->d, v->path, &spec, out);
    j->totals.datasets += !err;
    return err ? nc_fail_drep(j, err) : import_var_attributes(j, number, v->natts, v->path);
}

/* Moves one box of elements. */
static int import_box(struct nc_job *j, int number, const struct variable_in *v, drep_dataset *ds,
                      const struct box *b, void *room)
{
    size_t start[DREP_MAX_RANK] = {0}, count[DREP_MAX_RANK] = {0}, size = 1;
    drep_report report = DREP_REPORT;
    drep_xfer xfer = DREP_XFER(.range = j->o->range, .report = &report);
    drep_selection *sel = NULL;
    int err = nc_stopped(j), status;

    if (err)
        return err;
    for (int d = 0; d < b->rank; d++) {
        start[d] = (size_t)b->start[d];
        count[d] = (size_t)b->count[d];
    }
    status = nc_get_vara(j->nc, number, start, count, room);
    if (status != NC_NOERR)
        return nc_fail_netcdf(j, v->path, status);
    if (b->rank > 0)
        err = drep_select_box(b->rank, b->start, b->count, NULL, NULL, &sel);
    if (!err)
        err = drep_write(ds, sel, nc_to_drep(v->type), room, &xfer);
    drep_selection_free(sel);
    if (!err && (report.overflow || report.inexact || report.nan_lost))
        nc_say(j, HDF5_LOST, "values", v->path,
               "%lld values overflowed, %lld were rounded, %lld NaNs lost their payload",
               (long long)report.overflow, (long long)report.inexact, (long long)report.nan_lost);
    nc_inq_type(j->nc, v->type, NULL, &size);
    nc_progress(j, (uint64_t)box_elements(b) * size);
    return err ? nc_fail_drep(j, err) : 0;
}

static int import_elements(struct reader *r, int number, const struct variable_in *v,
                           drep_dataset *ds)
{
    struct nc_job *j = r->j;
    int64_t dims[DREP_MAX_RANK] = {0}, step[DREP_MAX_RANK], n = 1;
    size_t size = 1;
    struct box b;
    void *room;
    int err = 0;

    nc_inq_type(j->nc, v->type, NULL, &size);
    for (int d = 0; d < v->rank; d++) {
        dims[d] = (int64_t)r->len[v->dim[d]];
        step[d] = 1;
    }
    box_grow(v->rank, dims, (int64_t)(NC_BLOCK / size), step);
    for (int d = 0; d < v->rank; d++)
        n *= step[d];
    room = malloc((size_t)n * size + 1);
    if (!room)
        return nc_fail(j, DREP_ERR_NOMEM, "out of memory");
    box_init(&b, v->rank, dims, step);
    while (!err && box_next(&b))
        err = import_box(j, number, v, ds, &b, room);
    free(room);
    return err;
}

/* Names the bytes of a variable, chunk by chunk, without reading them. */
static int pin_variable(struct reader *r, int number, const struct variable_in *v, drep_dataset *ds,
                        const drep_dsinfo *info)
{
    const struct nc_place *place = &r->j->places[number];
    int64_t stride[DREP_MAX_RANK];
    struct box b;
    int err = 0;

    for (int d = v->rank - 1, n = 1; d >= 0; d--, n = 0)
        stride[d] = n ? info->element_size : stride[d + 1] * info->dims[d + 1];
    if (place->record)
        stride[0] = (int64_t)r->j->record;
    box_init(&b, v->rank, info->dims, info->chunk);
    while (!err && box_next(&b)) {
        int64_t at = (int64_t)place->begin;

        for (int d = 0; d < v->rank; d++)
            at += b.start[d] * stride[d];
        err = nc_stopped(r->j);
        if (!err && (err = drep_write_external(ds, b.start, r->j->number, at,
                                               box_elements(&b) * info->element_size, 0, 0)))
            nc_fail_drep(r->j, err);
    }
    return err;
}

static int move_variable(struct reader *r, int number, const struct variable_in *v,
                         drep_dataset *ds)
{
    drep_dsinfo info = DREP_DSINFO;
    int err;

    if (!is_pinned(r, number, v))
        return import_elements(r, number, v, ds);
    err = drep_dataset_info(ds, &info);
    return err ? nc_fail_drep(r->j, err) : pin_variable(r, number, v, ds, &info);
}

static int import_variable(struct reader *r, int number, struct variable_in *v)
{
    drep_dataset *ds = NULL;
    int empty = 0, err = inquire(r->j, number, v);

    if (err)
        return err;
    if (r->j->o->at)
        r->j->o->at(r->j->o->ctx, v->path);
    nc_say(r->j, HDF5_MADE, "dataset", v->path, "dataset");
    err = make_variable(r, number, v, &ds);
    for (int d = 0; d < v->rank; d++)
        empty |= r->len[v->dim[d]] == 0;
    if (!err && ds && !empty)
        err = move_variable(r, number, v, ds);
    r->j->totals.copied += !err && ds;
    drep_dataset_close(ds);
    free(v->path);
    return err;
}

/* ------------------------------------------------------------------- the file */

/* Bytes of all variables, for the progress bar. */
static void add_up(struct reader *r)
{
    for (int i = 0; i < r->nvars; i++) {
        int dims[NC_MAX_VAR_DIMS], rank = 0;
        nc_type type = NC_NAT;
        size_t size = 0;
        double n;

        if (nc_inq_varndims(r->j->nc, i, &rank) != NC_NOERR || rank > NC_MAX_VAR_DIMS ||
            nc_inq_var(r->j->nc, i, NULL, &type, NULL, dims, NULL) != NC_NOERR ||
            nc_inq_type(r->j->nc, type, NULL, &size) != NC_NOERR)
            continue;
        n = (double)size;
        for (int d = 0; d < rank; d++)
            n *= (double)r->len[dims[d]];
        r->j->total += n < 9e18 ? (uint64_t)n : 0;
    }
}

int nc_import_all(struct nc_job *j)
{
    struct variable_in *v = malloc(sizeof *v);
    struct reader r = {.j = j};
    int kind = 0, err = 0, status = nc_inq_format(j->nc, &kind);

    if (!v)
        err = nc_fail(j, DREP_ERR_NOMEM, "out of memory");
    else if (status != NC_NOERR ||
             (status = nc_inq(j->nc, &r.ndims, &r.nvars, &r.natts, &r.unlimited)) != NC_NOERR)
        err = nc_fail_netcdf(j, j->o->src, status);
    nc_say(j, HDF5_MADE, "group", "/", "group");
    j->totals.groups = 1;
    if (!err)
        err = make_dimensions(&r);
    if (!err)
        add_up(&r);
    if (!err)
        err = import_var_attributes(j, NC_GLOBAL, r.natts, "/");
    for (int i = 0; !err && i < r.nvars; i++)
        err = import_variable(&r, i, v);
    free(v);
    free(r.name);
    free(r.len);
    return err;
}
