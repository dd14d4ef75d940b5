/* export.c - a container becomes a classic netCDF file.
 *
 * It has what the root group has: dimensions, datasets and attributes.  All is defined first, then
 * the elements are written, read back and compared. */
/* SPDX-License-Identifier: MIT */
#include "schema/note.h"
#include "tools/nc/nc.h"
#include "tools/walk/unread.h"
#include "tools/walk/box.h"
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Bytes that a file of CDF-1 can place. */
#define CDF1_MAX ((double)INT32_MAX - 65536)

struct dimension {
    uint64_t id; /* 0: one that a dataset has without a name */
    int64_t len;
    int unlimited, number; /* in the netCDF file */
    char name[NC_MAX_NAME + 1];
};

struct variable_out {
    char name[NC_MAX_NAME + 1];
    char *path;
    nc_type type;
    drep_type *memory; /* of an element, as netCDF has it; of text its bytes */
    int64_t text;      /* bytes of a string, which are a dimension of their own; else 0 */
    int number;
    drep_dataset *ds;
    drep_dsinfo info;
    int dim[DREP_MAX_RANK + 1]; /* numbers in writer.dim */
};

struct writer {
    struct nc_job *j;
    struct dimension *dim;
    size_t ndims, dims_room;
    struct variable_out *var;
    size_t nvars, vars_room;
    int record; /* the number of the unlimited dimension; -1 */
    int kind;   /* 1, 2 or 5 */
    int err;
};

static int no_memory(struct nc_job *j)
{
    return nc_fail(j, DREP_ERR_NOMEM, "out of memory");
}

/* ----------------------------------------------------------------- dimensions */

static struct dimension *add_dimension(struct writer *w)
{
    if (w->ndims == w->dims_room) {
        size_t room = w->dims_room ? 2 * w->dims_room : 16;
        struct dimension *more = realloc(w->dim, room * sizeof *more);

        if (!more)
            return NULL;
        w->dim = more;
        w->dims_room = room;
    }
    w->dim[w->ndims] = (struct dimension){.number = -1};
    return &w->dim[w->ndims++];
}

/* netCDF's rule for names ("netCDF File Formats"): a letter, digit, underscore or UTF-8 first, then
 * also what else is printable but '/', and no space at the end. */
static int is_name(const char *name)
{
    size_t i, n = strlen(name);

    if (n == 0 || n > NC_MAX_NAME || name[n - 1] == ' ')
        return 0;
    for (i = 0; i < n; i++) {
        unsigned char c = (unsigned char)name[i];

        if (c >= 0x80 || c == '_' || (c | 32u) - 'a' < 26u || c - (unsigned)'0' < 10u)
            continue;
        if (i == 0 || c < ' ' || c == 0x7f || c == '/')
            return 0;
    }
    return 1;
}

static int note_dimension(const drep_diminfo *info, void *ctx)
{
    struct writer *w = ctx;
    struct dimension *d;

    if (info->kind != DREP_OBJ_DIMENSION || !is_name(info->name)) {
        nc_say(w->j, HDF5_LOST, "dimension", info->path, "left out: netCDF has no such %s",
               info->kind == DREP_OBJ_DIMENSION ? "name" : "dimension");
        return 0;
    }
    d = add_dimension(w);
    if (!d)
        return w->err = no_memory(w->j);
    d->id = info->id;
    d->len = info->len;
    d->unlimited = info->unlimited && w->record < 0;
    if (d->unlimited)
        w->record = (int)w->ndims - 1;
    else if (info->unlimited)
        nc_say(w->j, HDF5_STORED, "dimension", info->path,
               "unlimited: classic netCDF has one such dimension; it has its length now");
    snprintf(d->name, sizeof d->name, "%s", info->name);
    w->j->totals.dimensions++;
    return 0;
}

/* The dimension of a dataset that has this id, or one made for its length. */
static int find_dimension(struct writer *w, uint64_t id, int64_t len, const char *front)
{
    struct dimension *d;
    size_t i;

    for (i = 0; i < w->ndims; i++)
        if (id ? w->dim[i].id == id
               : !w->dim[i].id && w->dim[i].len == len &&
                     strncmp(w->dim[i].name, front, strlen(front)) == 0)
            return (int)i;
    if (id)
        return find_dimension(w, 0, len, front);
    d = add_dimension(w);
    if (!d)
        return -1;
    d->len = len;
    snprintf(d->name, sizeof d->name, "%s%lld", front, (long long)len);
    return (int)w->ndims - 1;
}

/* ------------------------------------------------------------------ variables */

static struct variable_out *add_variable(struct writer *w)
{
    if (w->nvars == w->vars_room) {
        size_t room = w->vars_room ? 2 * w->vars_room : 16;
        struct variable_out *more = realloc(w->var, room * sizeof *more);

        if (!more)
            return NULL;
        w->var = more;
        w->vars_room = room;
    }
    memset(&w->var[w->nvars], 0, sizeof *w->var);
    w->var[w->nvars].info = (drep_dsinfo)DREP_DSINFO;
    return &w->var[w->nvars++];
}

/* Chooses the type; false if netCDF has none. */
static int choose_type(struct writer *w, struct variable_out *v)
{
    const drep_type *type = v->info.type;
    int exact = 1;

    if (drep_type_kind(type) == DREP_KIND_ENUM || drep_type_kind(type) == DREP_KIND_BOOLEAN) {
        type = drep_type_member(type, 0);
        nc_say(w->j, HDF5_STORED, "datatype", v->path, "the names of its values are left out");
    }
    if (type && drep_type_kind(type) == DREP_KIND_STRING) {
        v->type = NC_CHAR;
        v->text = drep_type_extent(type) > 1 ? drep_type_extent(type) : 0;
        v->memory = drep_type_ref(type);
        return 1;
    }
    v->type = type ? nc_from_drep(type, &exact) : NC_NAT;
    if (v->type == NC_NAT)
        return 0;
    v->memory = drep_type_ref(nc_to_drep(v->type));
    if (drep_type_extent(v->memory) > 4 && v->type >= NC_INT64)
        w->kind = 5;
    if (v->type > NC_DOUBLE)
        w->kind = 5;
    return v->memory != NULL;
}

static void variable_release(struct variable_out *v)
{
    drep_dataset_close(v->ds);
    drep_type_free(v->memory);
    free(v->path);
}

/* Only the first dimension of a variable may be the unlimited one. */
static int choose_dimensions(struct writer *w, struct variable_out *v)
{
    int d, rank = v->info.rank;

    for (d = 0; d < rank; d++) {
        v->dim[d] = find_dimension(w, v->info.dim_ids[d], v->info.dims[d], "dim");
        if (v->dim[d] < 0)
            return no_memory(w->j);
        if (w->dim[v->dim[d]].unlimited && d > 0) {
            w->dim[v->dim[d]].unlimited = 0;
            w->record = -1;
            nc_say(w->j, HDF5_STORED, "dimension", v->path,
                   "%s is unlimited and not the first: it has its length now",
                   w->dim[v->dim[d]].name);
        }
    }
    if (v->text) {
        v->dim[rank] = find_dimension(w, 0, v->text, "string");
        if (v->dim[rank] < 0)
            return no_memory(w->j);
    }
    return 0;
}

/* Elements that import has not read are missing here, too. */
static int say_unread(const char *path, const struct unread_mark *mark, void *ctx)
{
    char text[2000];

    unread_text(mark, text, sizeof text);
    nc_say(ctx, HDF5_LOST, "values", path, "%s", text);
    return 0;
}

static int note_dataset(struct writer *w, const drep_linkinfo *link)
{
    struct variable_out *v = add_variable(w);
    int err;

    if (!v || asprintf(&v->path, "/%s", link->name) < 0)
        return no_memory(w->j);
    snprintf(v->name, sizeof v->name, "%s", link->name);
    err = drep_dataset_open(w->j->d, v->path, &v->ds);
    if (!err)
        err = drep_dataset_info(v->ds, &v->info);
    if (err)
        return nc_fail_drep(w->j, err);
    unread_each(w->j->d, v->path, say_unread, w->j);
    if (v->info.rank == DREP_NULL_SPACE || !choose_type(w, v)) {
        nc_say(w->j, HDF5_LOST, "dataset", v->path, "left out: classic netCDF has no such %s",
               v->info.rank == DREP_NULL_SPACE ? "dataspace" : "datatype");
        variable_release(v);
        w->nvars--;
        return 0;
    }
    return choose_dimensions(w, v);
}

static int note_link(const drep_linkinfo *link, void *ctx)
{
    struct writer *w = ctx;

    int dataset = link->link == DREP_LINK_HARD && link->kind == DREP_OBJ_DATASET;

    if (!dataset || !is_name(link->name)) {
        char path[1100];

        snprintf(path, sizeof path, "/%s", link->name);
        nc_say(w->j, HDF5_LOST, link->link != DREP_LINK_HARD ? "link" : "object", path,
               dataset ? "left out: netCDF has no such name"
                       : "left out: classic netCDF has variables alone");
        return 0;
    }
    return w->err = note_dataset(w, link);
}

/* ----------------------------------------------------------------- attributes */

struct attributes_out {
    struct writer *w;
    const char *path;
    int var;
};

/* The bytes of one text, whatever text type it has; *text malloc'ed; false: it is none. */
static int attribute_text(struct nc_job *j, const char *path, const drep_attrinfo *a, char **text,
                          size_t *n)
{
    int kind = drep_type_kind(a->type);
    char *value = NULL;
    int err;

    if (kind == DREP_KIND_STRING && a->count == 1) {
        *n = (size_t)drep_type_extent(a->type);
        *text = calloc(1, *n + 1);
        err = *text ? drep_attr_read(j->d, path, a->name, a->type, *text) : DREP_ERR_NOMEM;
        return !err;
    }
    if (kind != DREP_KIND_VSTRING || a->count != 1 ||
        drep_attr_read(j->d, path, a->name, a->type, &value) != 0)
        return 0;
    *text = value ? value : calloc(1, 1);
    *n = *text ? strlen(*text) : 0;
    return *text != NULL;
}

static int put_numbers(struct attributes_out *at, const drep_attrinfo *a)
{
    struct nc_job *j = at->w->j;
    int exact, status, err;
    nc_type type = nc_from_drep(a->type, &exact);
    const drep_type *memory = nc_to_drep(type);
    void *value;

    if (!memory)
        return -1;
    if (type > NC_DOUBLE && at->w->kind != 5)
        return -1; /* the file would have to be CDF-5 */
    value = calloc((size_t)a->count + 1, (size_t)drep_type_extent(memory));
    if (!value)
        return no_memory(j);
    err = drep_attr_read(j->d, at->path, a->name, memory, value);
    if (err) {
        nc_fail_drep(j, err);
    } else {
        status = nc_put_att(j->nc, at->var, a->name, type, (size_t)a->count, value);
        err = status == NC_NOERR ? 0 : nc_fail_netcdf(j, at->path, status);
    }
    free(value);
    return err;
}

static int export_attribute(const char *name, void *ctx)
{
    struct attributes_out *at = ctx;
    struct writer *w = at->w;
    drep_attrinfo a = DREP_ATTRINFO;
    char *text = NULL;
    size_t n = 0;
    int err, status;

    if (is_note(name))
        return 0;
    if (!is_name(name)) {
        nc_say(w->j, HDF5_LOST, "attribute", at->path,
               "\"%s\" is left out: netCDF has no such name", name);
        return 0;
    }
    err = drep_attr_info(w->j->d, at->path, name, &a);
    if (err)
        return w->err = nc_fail_drep(w->j, err);
    if (attribute_text(w->j, at->path, &a, &text, &n)) {
        status = nc_put_att_text(w->j->nc, at->var, name, n, text);
        err = status == NC_NOERR ? 0 : nc_fail_netcdf(w->j, at->path, status);
    } else {
        err = put_numbers(at, &a);
    }
    free(text);
    if (err < 0) {
        nc_say(w->j, HDF5_LOST, "attribute", at->path,
               "\"%s\" is left out: this netCDF format has no such attribute", name);
        err = 0;
    } else {
        w->j->totals.attributes += !err;
    }
    drep_attrinfo_release(&a);
    return w->err = err;
}

static int export_var_attributes(struct writer *w, const char *path, int var)
{
    struct attributes_out at = {w, path, var};
    int err = drep_attr_list(w->j->d, path, DREP_BY_CREATION, export_attribute, &at);

    return err && !w->err ? nc_fail_drep(w->j, err) : err;
}

/* ------------------------------------------------------------------- definition */

/* Unsigned and wide attributes need CDF-5, too. */
static int wide_attribute(const char *name, void *ctx)
{
    struct attributes_out *at = ctx;
    drep_attrinfo a = DREP_ATTRINFO;
    int exact;

    if (!is_note(name) && drep_attr_info(at->w->j->d, at->path, name, &a) == 0) {
        nc_type type = nc_from_drep(a.type, &exact);

        if (type > NC_DOUBLE)
            at->w->kind = 5;
        drep_attrinfo_release(&a);
    }
    return 0;
}

/* The oldest format that has all of it, if none is asked for. */
static int choose_kind(struct writer *w)
{
    struct attributes_out at = {w, "/", 0};
    double all = 0;
    size_t i;

    drep_attr_list(w->j->d, "/", DREP_BY_NAME, wide_attribute, &at);
    for (i = 0; i < w->nvars; i++) {
        at.path = w->var[i].path;
        drep_attr_list(w->j->d, at.path, DREP_BY_NAME, wide_attribute, &at);
        all += (double)w->var[i].info.count *
               (double)(w->var[i].text ? w->var[i].text : drep_type_extent(w->var[i].memory));
    }
    if (w->kind < 2 && all > CDF1_MAX)
        w->kind = 2;
    if (w->j->o->kind == 0 || w->j->o->kind == w->kind)
        return 0;
    if (w->j->o->kind < w->kind)
        return nc_fail(w->j, DREP_ERR_UNSUPPORTED, "%s: CDF-%d cannot hold it, CDF-%d can",
                       w->j->o->src, w->j->o->kind, w->kind);
    w->kind = w->j->o->kind;
    return 0;
}

/* Classic netCDF has one dimension without an index at most: the unlimited one. */
static int choose_empty(struct writer *w)
{
    for (size_t i = 0; i < w->ndims; i++) {
        struct dimension *d = &w->dim[i];

        if (d->len > 0 || d->unlimited)
            continue;
        if (w->record >= 0)
            return nc_fail(
                w->j, DREP_ERR_UNSUPPORTED,
                "%s: dimension \"%s\" has length 0, which classic netCDF has only of its "
                "unlimited dimension",
                w->j->o->src, d->name);
        d->unlimited = 1;
        w->record = (int)i;
        nc_say(w->j, HDF5_STORED, "dimension", d->name, "of length 0: it is unlimited now");
    }
    return 0;
}

static int define(struct writer *w)
{
    static const int modes[] = {0, 0, NC_64BIT_OFFSET, 0, 0, NC_64BIT_DATA};
    int number[DREP_MAX_RANK + 1], status, old, err;
    size_t i;

    status = nc_create(w->j->o->place, NC_CLOBBER | modes[w->kind], &w->j->nc);
    if (status != NC_NOERR) {
        w->j->nc = -1;
        return nc_fail_netcdf(w->j, w->j->o->dst, status);
    }
    nc_set_fill(w->j->nc, NC_NOFILL, &old);
    for (i = 0; status == NC_NOERR && i < w->ndims; i++) {
        struct dimension *d = &w->dim[i];

        status =
            nc_def_dim(w->j->nc, d->name, d->unlimited ? NC_UNLIMITED : (size_t)d->len, &d->number);
        if (status != NC_NOERR)
            return nc_fail_netcdf(w->j, d->name, status);
    }
    err = export_var_attributes(w, "/", NC_GLOBAL);
    for (i = 0; !err && i < w->nvars; i++) {
        struct variable_out *v = &w->var[i];
        int rank = v->info.rank + (v->text > 0);

        for (int d = 0; d < rank; d++)
            number[d] = w->dim[v->dim[d]].number;
        status = nc_def_var(w->j->nc, v->name, v->type, rank, number, &v->number);
        if (status != NC_NOERR)
            return nc_fail_netcdf(w->j, v->path, status);
        nc_say(w->j, HDF5_MADE, "dataset", v->path, "dataset");
        w->j->totals.datasets++;
        err = export_var_attributes(w, v->path, v->number);
    }
    if (err)
        return err;
    status = nc_enddef(w->j->nc);
    return status == NC_NOERR ? 0 : nc_fail_netcdf(w->j, w->j->o->dst, status);
}

/* --------------------------------------------------------------------- elements */

struct moving {
    struct writer *w;
    struct variable_out *v;
    void *ours, *theirs; /* theirs: what was read back; NULL while it is written */
};

static int export_box(const struct moving *m, const struct box *b)
{
    struct nc_job *j = m->w->j;
    struct variable_out *v = m->v;
    size_t start[DREP_MAX_RANK + 1] = {0}, count[DREP_MAX_RANK + 1] = {0};
    drep_xfer xfer = DREP_XFER(.range = j->o->range);
    drep_selection *sel = NULL;
    int status, err = nc_stopped(j);

    if (err)
        return err;
    for (int d = 0; d < b->rank; d++) {
        start[d] = (size_t)b->start[d];
        count[d] = (size_t)b->count[d];
    }
    count[b->rank] = (size_t)v->text;
    if (b->rank > 0)
        err = drep_select_box(b->rank, b->start, b->count, NULL, NULL, &sel);
    if (!err)
        err = drep_read(v->ds, sel, v->memory, m->ours, &xfer);
    drep_selection_free(sel);
    if (err)
        return nc_fail_drep(j, err);
    status = m->theirs ? nc_get_vara(j->nc, v->number, start, count, m->theirs)
                       : nc_put_vara(j->nc, v->number, start, count, m->ours);
    if (status != NC_NOERR)
        return nc_fail_netcdf(j, v->path, status);
    if (m->theirs)
        return nc_compare(j, v->path, b, v->memory, m->ours, m->theirs);
    nc_progress(j, (uint64_t)box_elements(b) * (uint64_t)drep_type_extent(v->memory));
    return 0;
}

static int export_variable(struct writer *w, struct variable_out *v, int back)
{
    int64_t step[DREP_MAX_RANK], n = 1, size = drep_type_extent(v->memory);
    struct moving m = {.w = w, .v = v};
    struct box b;
    int d, err = 0;

    if (v->info.count == 0)
        return 0;
    if (w->j->o->at)
        w->j->o->at(w->j->o->ctx, v->path);
    for (d = 0; d < v->info.rank; d++)
        step[d] = v->info.layout == DREP_CHUNKED ? v->info.chunk[d] : 1;
    box_grow(v->info.rank, v->info.dims, (int64_t)NC_BLOCK / size, step);
    for (d = 0; d < v->info.rank; d++)
        n *= step[d];
    m.ours = calloc((size_t)n + 1, (size_t)size);
    m.theirs = back ? calloc((size_t)n + 1, (size_t)size) : NULL;
    if (!m.ours || (back && !m.theirs))
        err = no_memory(w->j);
    box_init(&b, v->info.rank, v->info.dims, step);
    while (!err && box_next(&b))
        err = export_box(&m, &b);
    free(m.ours);
    free(m.theirs);
    return err;
}

/* Write fill where a variable has elements that its dataset, which is shorter than a dimension that
 * has grown, has not.  All of it is written, since what the dataset has is written over it. */
static int pad_variable(struct writer *w, const struct variable_out *v)
{
    size_t start[DREP_MAX_RANK + 1] = {0}, count[DREP_MAX_RANK + 1] = {0};
    int64_t full[DREP_MAX_RANK], step[DREP_MAX_RANK], n = 1, size = drep_type_extent(v->memory);
    bool shorter = false;
    struct box b;
    char *fill;
    int err, status = NC_NOERR;

    for (int d = 0; d < v->info.rank; d++) {
        full[d] = w->dim[v->dim[d]].len;
        shorter |= full[d] > v->info.dims[d];
        step[d] = 1;
    }
    if (!shorter)
        return 0;
    box_grow(v->info.rank, full, (int64_t)NC_BLOCK / size, step);
    for (int d = 0; d < v->info.rank; d++)
        n *= step[d];
    fill = calloc((size_t)n + 1, (size_t)size);
    if (!fill)
        return no_memory(w->j);
    err = drep_dataset_fill(v->ds, v->memory, fill);
    for (int64_t i = 1; i < n; i++)
        memcpy(fill + i * size, fill, (size_t)size);
    box_init(&b, v->info.rank, full, step);
    while (!err && status == NC_NOERR && box_next(&b)) {
        for (int d = 0; d < b.rank; d++) {
            start[d] = (size_t)b.start[d];
            count[d] = (size_t)b.count[d];
        }
        count[b.rank] = (size_t)v->text;
        status = nc_put_vara(w->j->nc, v->number, start, count, fill);
    }
    free(fill);
    if (err)
        return nc_fail_drep(w->j, err);
    return status == NC_NOERR ? 0 : nc_fail_netcdf(w->j, v->path, status);
}

/* Closes the file and compares what the next reader will get. */
static int read_back(struct writer *w)
{
    struct nc_job *j = w->j;
    int status = nc_open(j->o->place, NC_NOWRITE, &j->nc), err = 0;
    size_t i;

    if (status != NC_NOERR) {
        j->nc = -1;
        return nc_fail_netcdf(j, j->o->dst, status);
    }
    for (i = 0; !err && i < w->nvars; i++)
        err = export_variable(w, &w->var[i], 1);
    nc_close(j->nc);
    j->nc = -1;
    return err;
}

static int write_all(struct writer *w)
{
    struct nc_job *j = w->j;
    int status, err = drep_dimension_list(j->d, "/", DREP_BY_CREATION, note_dimension, w);
    size_t i;

    if (!err)
        err = drep_list(j->d, "/", DREP_BY_CREATION, note_link, w);
    if (err)
        return w->err ? err : nc_fail_drep(j, err);
    nc_say(j, HDF5_MADE, "group", "/", "group");
    j->totals.groups = 1;
    for (i = 0; i < w->nvars; i++)
        j->total += (uint64_t)w->var[i].info.count * (uint64_t)drep_type_extent(w->var[i].memory);
    err = choose_empty(w);
    if (!err)
        err = choose_kind(w);
    if (!err)
        err = define(w);
    for (i = 0; !err && i < w->nvars; i++) {
        err = pad_variable(w, &w->var[i]);
        if (!err)
            err = export_variable(w, &w->var[i], 0);
    }
    j->totals.copied = !err ? (int64_t)w->nvars : 0;
    if (err)
        return err;
    status = nc_close(j->nc);
    j->nc = -1;
    if (status != NC_NOERR)
        return nc_fail_netcdf(j, j->o->dst, status);
    return j->o->compare ? read_back(w) : 0;
}

int nc_export_all(struct nc_job *j)
{
    struct writer w = {.j = j, .record = -1, .kind = 1};
    int err = write_all(&w);
    size_t i;

    for (i = 0; i < w.nvars; i++)
        variable_release(&w.var[i]);
    free(w.var);
    free(w.dim);
    return err;
}
