/* inquire.c - what an open file has: answers from the model. */
/* SPDX-License-Identifier: MIT */
#include "netcdf/attributes.h"
#include <stdlib.h>
#include <string.h>

int slot_inq_format(int ncid, int *format)
{
    struct door *door;
    struct nc_group *group;
    int err = door_find(ncid, &door, &group);

    if (!err)
        TELL(format, door->classic ? NC_FORMAT_NETCDF4_CLASSIC : NC_FORMAT_NETCDF4);
    return err;
}

int slot_inq_format_extended(int ncid, int *format, int *mode)
{
    struct door *door;
    struct nc_group *group;
    int err = door_find(ncid, &door, &group);

    if (err)
        return err;
    TELL(format, door->table->model);
    TELL(mode, NC_NETCDF4 | (door->classic ? NC_CLASSIC_MODEL : 0) | (door->writes ? NC_WRITE : 0));
    return 0;
}

/* ----------------------------------------------------------------- dimensions */

/* The first of the group or of one above. */
int slot_inq_unlimdim(int ncid, int *id)
{
    struct door *door;
    struct nc_group *group;
    int i, g, err = door_find(ncid, &door, &group);

    if (err)
        return err;
    TELL(id, -1);
    for (g = ncid & 0xffff; g >= 0; g = door->groups[g].parent)
        for (i = 0; i < door->ndimensions; i++)
            if (door->dimensions[i].unlimited && door->dimensions[i].group == g) {
                TELL(id, i);
                return 0;
            }
    return 0;
}

/* True for a dimension of the group, or with `parents` of one above. */
static int is_visible(const struct door *door, int dimension, int g, int parents)
{
    for (; g >= 0; g = parents ? door->groups[g].parent : -1)
        if (door->dimensions[dimension].group == g)
            return 1;
    return 0;
}

static int list_dimensions(int ncid, int *n, int *ids, int parents, int unlimited)
{
    struct door *door;
    struct nc_group *group;
    int i, k = 0, err = door_find(ncid, &door, &group);

    if (err)
        return err;
    for (i = 0; i < door->ndimensions; i++) {
        if (!is_visible(door, i, ncid & 0xffff, parents) ||
            (unlimited && !door->dimensions[i].unlimited))
            continue;
        if (ids)
            ids[k] = i;
        k++;
    }
    TELL(n, k);
    return 0;
}

int slot_inq_dimids(int ncid, int *n, int *ids, int parents)
{
    return list_dimensions(ncid, n, ids, parents, 0);
}

int slot_inq_unlimdims(int ncid, int *n, int *ids)
{
    return list_dimensions(ncid, n, ids, 0, 1);
}

int slot_inq_dimid(int ncid, const char *name, int *id)
{
    struct door *door;
    struct nc_group *group;
    int i = -1, g, err = door_find(ncid, &door, &group);

    name = door_name(name);
    if (err)
        return err;
    if (!name)
        return NC_EINVAL;
    for (g = ncid & 0xffff; i < 0 && g >= 0; g = door->groups[g].parent)
        i = door_find_dimension(door, g, name);
    if (i < 0)
        return NC_EBADDIM;
    TELL(id, i);
    return 0;
}

int slot_inq_dim(int ncid, int id, char *name, size_t *len)
{
    struct door *door;
    struct nc_group *group;
    int err = door_find(ncid, &door, &group);

    if (err)
        return err;
    if (id < 0 || id >= door->ndimensions)
        return NC_EBADDIM;
    if (name)
        strcpy(name, door->dimensions[id].name);
    TELL(len, door->dimensions[id].len);
    return 0;
}

/* --------------------------------------------------------------------- groups */

int slot_inq(int ncid, int *ndims, int *nvars, int *natts, int *unlimdim)
{
    struct holder h;
    int err = attributes_find(ncid, NC_GLOBAL, &h);

    if (err)
        return err;
    free(h.path);
    TELL(natts, h.attributes->n);
    TELL(nvars, h.door->groups[ncid & 0xffff].nvariables);
    if (ndims)
        err = slot_inq_dimids(ncid, ndims, NULL, 0);
    return err || !unlimdim ? err : slot_inq_unlimdim(ncid, unlimdim);
}

/* The group of one step of a path, or -1. */
static int find_child(const struct door *door, int parent, const char *name, size_t len)
{
    int i = door->ngroups - 1;

    while (i >= 0 && (door->groups[i].parent != parent || strlen(door->groups[i].name) != len ||
                      memcmp(door->groups[i].name, name, len) != 0))
        i--;
    return i;
}

/* Without a name it is asked whether the id is one. */
int slot_inq_ncid(int ncid, const char *name, int *id)
{
    struct door *door;
    struct nc_group *group;
    int i, err = door_find(ncid, &door, &group);

    name = door_name(name);
    if (err)
        return err;
    if (!name) {
        TELL(id, ncid);
        return 0;
    }
    i = find_child(door, ncid & 0xffff, name, strlen(name));
    if (i < 0)
        return NC_ENOGRP;
    TELL(id, (ncid & ~0xffff) | i);
    return 0;
}

int slot_inq_grps(int ncid, int *n, int *ids)
{
    struct door *door;
    struct nc_group *group;
    int i, k = 0, err = door_find(ncid, &door, &group);

    if (err)
        return err;
    for (i = 0; i < door->ngroups; i++) {
        if (door->groups[i].parent != (ncid & 0xffff))
            continue;
        if (ids)
            ids[k] = (ncid & ~0xffff) | i;
        k++;
    }
    TELL(n, k);
    return 0;
}

int slot_inq_grpname(int ncid, char *name)
{
    struct door *door;
    struct nc_group *group;
    int err = door_find(ncid, &door, &group);

    if (!err && name)
        strcpy(name, group->name);
    return err;
}

int slot_inq_grpname_full(int ncid, size_t *len, char *name)
{
    struct door *door;
    struct nc_group *group;
    int err = door_find(ncid, &door, &group);

    if (err)
        return err;
    TELL(len, strlen(group->path));
    if (name)
        strcpy(name, group->path);
    return 0;
}

int slot_inq_grp_parent(int ncid, int *parent)
{
    struct door *door;
    struct nc_group *group;
    int err = door_find(ncid, &door, &group);

    if (err)
        return err;
    if (group->parent < 0)
        return NC_ENOGRP;
    TELL(parent, (ncid & ~0xffff) | group->parent);
    return 0;
}

/* With a slash in front from the root, else from the group. */
int slot_inq_grp_full_ncid(int ncid, const char *path, int *id)
{
    struct door *door;
    struct nc_group *group;
    int g, err = door_find(ncid, &door, &group);

    if (err)
        return err;
    if (!path)
        return NC_EINVAL;
    for (g = *path == '/' ? 0 : ncid & 0xffff; *path; path += strspn(path, "/")) {
        size_t len = strcspn(path, "/");

        if (len)
            g = find_child(door, g, path, len);
        if (g < 0)
            return NC_ENOGRP;
        path += len;
    }
    TELL(id, (ncid & ~0xffff) | g);
    return 0;
}

int slot_inq_varids(int ncid, int *n, int *ids)
{
    struct door *door;
    struct nc_group *group;
    int i, err = door_find(ncid, &door, &group);

    if (err)
        return err;
    TELL(n, group->nvariables);
    for (i = 0; ids && i < group->nvariables; i++)
        ids[i] = i;
    return 0;
}

int slot_show_metadata(int ncid)
{
    struct door *door;
    struct nc_group *group;

    return door_find(ncid, &door, &group);
}

/* ------------------------------------------------------------------ variables */

int slot_inq_varid(int ncid, const char *name, int *id)
{
    struct door *door;
    struct nc_group *group;
    int i, err = door_find(ncid, &door, &group);

    name = door_name(name);
    if (err)
        return err;
    if (!name)
        return NC_EINVAL;
    for (i = 0; i < group->nvariables; i++)
        if (strcmp(group->variables[i].name, name) == 0) {
            TELL(id, i);
            return 0;
        }
    return NC_ENOTVAR;
}

static int inquire_fill(struct door *door, struct nc_variable *v, void *fill)
{
    const void *value = v->fill ? v->fill : type_default_fill(door, v->type);

    /* Without a fill value netCDF leaves the memory of its caller alone. */
    if (v->no_fill)
        return 0;
    if (v->dataset)
        return variable_read_fill(door, v, v->type, fill);
    if (value)
        return type_copy(door, v->type, 1, fill, value);
    memset(fill, 0, type_bytes(door, v->type));
    return v->type != NC_STRING || (*(char **)fill = strdup("")) ? 0 : NC_ENOMEM;
}

/* The storage of a pending variable is that which it would get. */
static int inquire_storage(struct door *door, struct nc_variable *v, int *storage, size_t *chunk)
{
    drep_dsinfo info = DREP_DSINFO;
    int d, err, kind = v->storage;

    for (d = 0; d < v->rank; d++)
        info.chunk[d] = v->chunk[d];
    if (!v->dataset && v->rank) {
        err = variable_preview(door, v, &info);
        if (err)
            return err;
        if (kind != NC_COMPACT)
            kind = info.layout == DREP_CHUNKED ? NC_CHUNKED : NC_CONTIGUOUS;
    }
    /* Most small datasets are compact; R's ncdf4 refuses files with a variable that says so. */
    if (kind < 0 || (v->dataset && kind == NC_COMPACT))
        kind = NC_CONTIGUOUS;
    TELL(storage, kind);
    for (d = 0; chunk && kind == NC_CHUNKED && d < v->rank; d++)
        chunk[d] = (size_t)info.chunk[d];
    return 0;
}

/* A checksum that netCDF once had, and its export is to have again, is a note. */
static int has_fletcher32(const struct holder *h)
{
    drep_attrinfo info = DREP_ATTRINFO;
    char **lines;
    int64_t i;
    int has = 0;

    if (h->variable->fletcher32 || !h->variable->dataset)
        return h->variable->fletcher32;
    if (drep_attr_info(h->door->file, h->path, NOTE_REMARKS, &info) != 0)
        return 0;
    lines = calloc((size_t)info.count + 1, sizeof *lines);
    if (lines && drep_type_kind(info.type) == DREP_KIND_VSTRING &&
        drep_attr_read(h->door->file, h->path, NOTE_REMARKS, type_memory(h->door, NC_STRING),
                       lines) == 0)
        for (i = 0; i < info.count; i++)
            has |= strncmp(lines[i], "filter 3 ", 9) == 0;
    if (lines)
        drep_vlen_free(info.type, info.count, lines);
    free(lines);
    drep_attrinfo_release(&info);
    return has;
}

static int inquire_deflate(struct nc_variable *v, int *deflate, int *level)
{
    const struct nc_filter *f = variable_filter(v, 1);

    TELL(deflate, f != NULL);
    if (f)
        TELL(level, f->nparams ? (int)f->param[0] : 0);
    return 0;
}

int slot_inq_var_all(int ncid, int varid, char *name, nc_type *type, int *ndims, int *dimids,
                     int *natts, int *shuffle, int *deflate, int *level, int *fletcher32,
                     int *storage, size_t *chunk, int *no_fill, void *fill, int *endian,
                     unsigned *id, size_t *nparams, unsigned *params)
{
    struct holder h;
    struct nc_variable *v;
    int d, err = attributes_find(ncid, varid, &h);

    if (err)
        return err;
    v = h.variable;
    TELL(natts, h.attributes->n);
    if (!v) {
        free(h.path);
        return 0;
    }
    if (name)
        strcpy(name, v->name);
    TELL(type, v->type);
    TELL(ndims, v->rank);
    for (d = 0; dimids && d < v->rank; d++)
        dimids[d] = v->dim[d];
    TELL(shuffle, v->shuffle);
    inquire_deflate(v, deflate, level);
    if (fletcher32)
        *fletcher32 = has_fletcher32(&h);
    free(h.path);
    TELL(no_fill, v->no_fill);
    TELL(endian, v->endian);
    TELL(id, v->nfilters ? v->filter[0].id : 0);
    TELL(nparams, v->nfilters ? v->filter[0].nparams : 0);
    if (params && v->nfilters)
        memcpy(params, v->filter[0].param, v->filter[0].nparams * sizeof *params);
    if (fill)
        err = inquire_fill(h.door, v, fill);
    return err || !(storage || chunk) ? err : inquire_storage(h.door, v, storage, chunk);
}

/* Shuffle and fletcher32 are told by inq_var_all. */
int slot_inq_var_filter_ids(int ncid, int varid, size_t *n, unsigned *ids)
{
    struct door *door;
    struct nc_variable *v;
    int i, err = door_find_variable(ncid, varid, &door, &v);

    if (err)
        return err;
    TELL(n, (size_t)v->nfilters);
    for (i = 0; ids && i < v->nfilters; i++)
        ids[i] = v->filter[i].id;
    return 0;
}

int slot_inq_var_filter_info(int ncid, int varid, unsigned id, size_t *n, unsigned *params)
{
    struct door *door;
    struct nc_variable *v;
    const struct nc_filter *f;
    int err = door_find_variable(ncid, varid, &door, &v);

    if (err)
        return err;
    f = variable_filter(v, id);
    if (!f)
        return NC_ENOFILTER;
    TELL(n, f->nparams);
    if (params)
        memcpy(params, f->param, f->nparams * sizeof *params);
    return 0;
}

int slot_inq_filter_avail(int ncid, unsigned id)
{
    struct door *door;
    struct nc_group *group;
    int err = door_find(ncid, &door, &group);

    return err ? err : variable_filter_known(id) ? 0 : NC_ENOFILTER;
}

int slot_get_var_chunk_cache(int ncid, int varid, size_t *size, size_t *slots, float *preemption)
{
    struct door *door;
    struct nc_variable *v;
    int err = door_find_variable(ncid, varid, &door, &v);

    if (err)
        return err;
    TELL(size, v->cache_size);
    TELL(slots, v->cache_slots);
    TELL(preemption, v->cache_preemption);
    return 0;
}
