/* load.c - the model of a file that is opened: its groups, dimensions, types and variables, in
 * netCDF's order.
 *
 * A dataset without dimensions of its own gets `phony_dim_N`, or a dimension of its group that is
 * as long, as libnetcdf gives them to HDF5 files without scales.  What netCDF has no place for is
 * left out: datasets of references, arrays and wide integers, names of more than 256 bytes. */
/* SPDX-License-Identifier: MIT */
#include "netcdf/attributes.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void door_free_variable(struct door *door, struct nc_variable *v)
{
    if (v->fill)
        drep_vlen_free(type_memory(door, v->type), 1, v->fill);
    free(v->fill);
    attributes_free(door, &v->attributes);
    drep_dataset_close(v->dataset);
    free(v->name);
}

void door_free(struct door *door)
{
    int i, k;

    for (i = 0; i < door->ngroups; i++) {
        struct nc_group *g = &door->groups[i];

        for (k = 0; k < g->nvariables; k++)
            door_free_variable(door, &g->variables[k]);
        attributes_free(door, &g->attributes);
        free(g->variables);
        free(g->name);
        free(g->path);
    }
    for (i = 0; i < door->ndimensions; i++)
        free(door->dimensions[i].name);
    for (i = 0; i < door->ntypes; i++)
        type_release(&door->types[i]);
    free(door->groups);
    free(door->dimensions);
    free(door->types);
    free(door->path);
    free(door);
}

/* ------------------------------------------------------------------- loading */

struct loading {
    struct door *door;
    int group; /* that was visited last */
    int err;   /* a code of netCDF */
};

static int load_dimension(const drep_diminfo *dimension, void *ctx)
{
    struct loading *l = ctx;

    if (dimension->kind != DREP_OBJ_DIMENSION || strlen(dimension->name) > NC_MAX_NAME)
        return 0;
    if (door_add_dimension(l->door, dimension->name, dimension->id, (size_t)dimension->len,
                           dimension->unlimited, l->group) < 0)
        l->err = NC_ENOMEM;
    return !!l->err;
}

static int load_group(struct loading *l, const char *path, const char *name)
{
    int parent = l->door->ngroups ? l->group : -1;
    int group = l->door->ngroups < 65536 ? door_add_group(l->door, name, strdup(path), parent) : -1;
    int err;

    if (group < 0)
        return l->err = NC_ENOMEM;
    l->group = group;
    err = drep_dimension_list(l->door->file, path, DREP_BY_CREATION, load_dimension, l);
    return l->err ? l->err : (l->err = door_error(err));
}

static int load_variable(struct loading *l, const char *path, const char *name)
{
    struct door *door = l->door;
    struct nc_group *g = &door->groups[l->group];
    struct nc_variable *list, v = {.defined = 1, .written = 1};
    int err = drep_dataset_open(door->file, path, &v.dataset);

    /* One that cannot be opened is seen where it is asked for: not at all. */
    if (err)
        return door_error(err), 0;
    if (variable_describe(door, &v) != 0) {
        door_refuse(0, "%s: netCDF has no place for this dataset", path);
        drep_dataset_close(v.dataset);
        return 0;
    }
    v.name = strdup(name);
    list = door_grow(g->variables, g->nvariables, sizeof *list);
    if (list)
        g->variables = list;
    if (!list || !v.name) {
        door_free_variable(door, &v);
        return l->err = NC_ENOMEM;
    }
    g->variables[g->nvariables++] = v;
    return 0;
}

static int load_type(struct loading *l, const char *path, const char *name)
{
    drep_type *type = NULL;
    int err = drep_type_open(l->door->file, path, &type);

    if (err)
        return door_error(err), 0;
    l->err = type_add_named(l->door, l->group, name, type);
    drep_type_free(type);
    return l->err;
}

/* Goes up from the group visited last to the one that has `path`.  0: that is not in the model. */
static int load_enter_parent(struct loading *l, const char *path, size_t len)
{
    const struct nc_group *groups = l->door->groups;
    int i = l->group;

    while (i > 0 && (strlen(groups[i].path) != len || memcmp(groups[i].path, path, len) != 0))
        i = groups[i].parent;
    l->group = i;
    return i > 0 || len == 0;
}

static int load_object(const drep_visited *object, void *ctx)
{
    struct loading *l = ctx;
    const char *slash = strrchr(object->path, '/');

    if (object->kind == DREP_OBJ_DIMENSION || object->kind == DREP_OBJ_UNKNOWN || !slash)
        return 0;
    if (l->door->ngroups == 0)
        return load_group(l, "/", "/");
    if (strlen(slash + 1) > NC_MAX_NAME)
        return door_refuse(0, "%.80s...: the name is too long for netCDF", object->path);
    if (!load_enter_parent(l, object->path, (size_t)(slash - object->path)))
        return 0;
    if (object->kind == DREP_OBJ_GROUP)
        return load_group(l, object->path, slash + 1);
    if (object->kind == DREP_OBJ_TYPE)
        return load_type(l, object->path, slash + 1);
    return 0;
}

/* Datasets come after all types, which may be in later groups. */
static int load_dataset(const drep_visited *object, void *ctx)
{
    struct loading *l = ctx;
    const char *slash = strrchr(object->path, '/');
    size_t len = slash ? (size_t)(slash - object->path) : 0;
    int i;

    if (object->kind == DREP_OBJ_GROUP) {
        for (i = l->group + 1; i < l->door->ngroups; i++)
            if (strcmp(l->door->groups[i].path, object->path) == 0)
                l->group = i;
        return 0;
    }
    if (object->kind != DREP_OBJ_DATASET || !slash || strlen(slash + 1) > NC_MAX_NAME)
        return 0;
    if (!load_enter_parent(l, object->path, len))
        return 0;
    return load_variable(l, object->path, slash + 1);
}

/* ------------------------------------------------------------ phony dimensions */

static int has_dimension(const struct nc_variable *v, int rank, int dimension)
{
    int d = 0;

    while (d < rank && v->dim[d] != dimension)
        d++;
    return d < rank;
}

/* A variable has no dimension twice. */
static int find_phony(struct door *door, const struct nc_variable *v, int d, int group)
{
    drep_dsinfo info = DREP_DSINFO;
    char name[32];
    int i, unlimited;

    drep_dataset_info(v->dataset, &info);
    unlimited = info.maxdims[d] == DREP_UNLIMITED;
    for (i = 0; i < door->ndimensions; i++)
        if (door->dimensions[i].group == group && door->dimensions[i].unlimited == unlimited &&
            door->dimensions[i].len == (size_t)v->shape[d] && !has_dimension(v, d, i))
            return i;
    snprintf(name, sizeof name, "phony_dim_%d", door->ndimensions);
    return door_add_dimension(door, name, 0, (size_t)v->shape[d], unlimited, group);
}

/* The groups below go first, as libnetcdf numbers them. */
static int add_phony(struct door *door)
{
    int g, i, d;

    for (g = door->ngroups - 1; g >= 0; g--)
        for (i = 0; i < door->groups[g].nvariables; i++) {
            struct nc_variable *v = &door->groups[g].variables[i];

            for (d = 0; d < v->rank; d++) {
                if (v->dim[d] < 0)
                    v->dim[d] = find_phony(door, v, d, g);
                if (v->dim[d] < 0)
                    return NC_ENOMEM;
            }
        }
    return 0;
}

int door_load(struct door *door)
{
    struct loading l = {.door = door};
    drep_attrinfo info = DREP_ATTRINFO;
    int err = drep_visit(door->file, "/", DREP_BY_CREATION, load_object, &l);

    if (!l.err && !err) {
        l.group = 0;
        err = drep_visit(door->file, "/", DREP_BY_CREATION, load_dataset, &l);
    }
    if (l.err || err)
        return l.err ? l.err : door_error(err);
    if (drep_attr_info(door->file, "/", NOTE_STRICT, &info) == 0) {
        drep_attrinfo_release(&info);
        door->classic = 1;
    }
    return add_phony(door);
}

int door_reload(struct door *door)
{
    int g, i, d;

    for (g = 0; g < door->ngroups; g++)
        for (i = 0; i < door->groups[g].nvariables; i++) {
            struct nc_variable *v = &door->groups[g].variables[i];
            drep_dsinfo info = DREP_DSINFO;
            int err = drep_dataset_info(v->dataset, &info);

            if (err)
                return door_error(err);
            for (d = 0; d < v->rank; d++)
                door_set_length(door, v, d, info.dims[d]);
        }
    return 0;
}
