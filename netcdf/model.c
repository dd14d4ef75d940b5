/* model.c - the groups, dimensions, variables and types of an open file, in netCDF's order.
 *
 * A dataset without dimensions of its own gets `phony_dim_N`, or a dimension of its group that is
 * as long, as libnetcdf gives them to HDF5 files without scales.  What netCDF has no place for is
 * left out: datasets of references, arrays and wide integers, names of more than 256 bytes. */
/* SPDX-License-Identifier: MIT */
#include "netcdf/door.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct door *door_open_files[65536];

int door_find(int ncid, struct door **door, struct group **group)
{
    struct door *found = door_open_files[(unsigned)ncid >> 16];

    if (!found)
        return NC_EBADID;
    if ((ncid & 0xffff) >= found->ngroups)
        return NC_EBADGRPID;
    *door = found;
    *group = &found->groups[ncid & 0xffff];
    return 0;
}

int door_find_variable(int ncid, int varid, struct door **door, struct variable **v)
{
    struct group *group;
    int err = door_find(ncid, door, &group);

    if (err)
        return err;
    if (varid < 0 || varid >= group->nvariables)
        return NC_ENOTVAR;
    *v = &group->variables[varid];
    return 0;
}

/* ----------------------------------------------------------------------- names */

void *door_grow(void *list, int n, size_t size)
{
    /* Room for powers of two. */
    if (n & (n - 1))
        return list;
    return realloc(list, (n ? 2 * (size_t)n : 1) * size);
}

static char *path_join(const char *group, const char *separator, const char *name)
{
    size_t size = strlen(group) + strlen(separator) + strlen(name) + 1;
    char *path = malloc(size);

    if (path)
        snprintf(path, size, "%s%s%s", group, separator, name);
    return path;
}

char *door_join(const char *group, const char *name)
{
    return path_join(strcmp(group, "/") == 0 ? "" : group, "/", name);
}

/* With two slashes no link can have the path (drep_stat). */
char *door_address(const char *group, const char *dimension)
{
    return path_join(strcmp(group, "/") == 0 ? "" : group, "//#", dimension);
}

/* netCDF's rules: UTF-8 that begins with a letter, a digit or an underscore, holds no slash and no
 * control character and does not end in a space. */
int door_check_name(const char *name)
{
    size_t i, len = name ? strlen(name) : 0;
    unsigned char first = len ? (unsigned char)name[0] : 0;

    if (!len)
        return NC_EBADNAME;
    if (len > NC_MAX_NAME)
        return NC_EMAXNAME;
    if (!(first >= 0x80 || first == '_' || (first >= '0' && first <= '9') ||
          (first >= 'A' && first <= 'Z') || (first >= 'a' && first <= 'z')))
        return NC_EBADNAME;
    for (i = 0; i < len; i++)
        if ((unsigned char)name[i] < 0x20 || name[i] == 0x7f || name[i] == '/')
            return NC_EBADNAME;
    return name[len - 1] == ' ' ? NC_EBADNAME : 0;
}

int door_check_new_name(struct door *door, int group, const char *name)
{
    const struct group *g = &door->groups[group];
    int i;

    for (i = 0; i < g->nvariables; i++)
        if (strcmp(g->variables[i].name, name) == 0)
            return NC_ENAMEINUSE;
    for (i = 0; i < door->ngroups; i++)
        if (door->groups[i].parent == group && strcmp(door->groups[i].name, name) == 0)
            return NC_ENAMEINUSE;
    for (i = 0; i < door->ntypes; i++)
        if (door->types[i].group == group && strcmp(door->types[i].name, name) == 0)
            return NC_ENAMEINUSE;
    return 0;
}

/* --------------------------------------------------------------------- parts */

int door_add_dimension(struct door *door, const char *name, uint64_t id, size_t len, int unlimited,
                       int group)
{
    struct dimension *list = door_grow(door->dimensions, door->ndimensions, sizeof *list);

    if (!list)
        return -1;
    door->dimensions = list;
    list += door->ndimensions;
    *list = (struct dimension){strdup(name), id, len, unlimited, group};
    return list->name ? door->ndimensions++ : -1;
}

int door_add_group(struct door *door, const char *name, char *path, int parent)
{
    struct group *list = path ? door_grow(door->groups, door->ngroups, sizeof *list) : NULL;

    if (list) {
        door->groups = list;
        list += door->ngroups;
        *list = (struct group){.name = strdup(name), .path = path, .parent = parent};
        if (list->name)
            return door->ngroups++;
    }
    free(path);
    return -1;
}

void door_free_variable(struct door *door, struct variable *v)
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
        struct group *g = &door->groups[i];

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
    return l->err != 0;
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

int door_dimension_of(const struct door *door, uint64_t id)
{
    int i = id ? door->ndimensions - 1 : -1;

    while (i >= 0 && door->dimensions[i].id != id)
        i--;
    return i;
}

static int load_variable(struct loading *l, const char *path, const char *name)
{
    struct door *door = l->door;
    struct group *g = &door->groups[l->group];
    struct variable *list, v = {.defined = 1, .written = 1};
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

/* Goes up from the group visited last to the one that has `path`. */
static void load_enter_parent(struct loading *l, const char *path, size_t len)
{
    const struct group *groups = l->door->groups;
    int i = l->group;

    while (i > 0 && (strlen(groups[i].path) != len || memcmp(groups[i].path, path, len) != 0))
        i = groups[i].parent;
    l->group = i;
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
    load_enter_parent(l, object->path, (size_t)(slash - object->path));
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
    load_enter_parent(l, object->path, len);
    return load_variable(l, object->path, slash + 1);
}

/* ------------------------------------------------------------ phony dimensions */

static int find_phony(struct door *door, const struct variable *v, int d, int group)
{
    drep_dsinfo info = DREP_DSINFO;
    char name[32];
    int i, unlimited;

    drep_dataset_info(v->dataset, &info);
    unlimited = info.maxdims[d] == DREP_UNLIMITED;
    for (i = 0; i < door->ndimensions; i++)
        if (door->dimensions[i].group == group && door->dimensions[i].unlimited == unlimited &&
            door->dimensions[i].len == (size_t)v->shape[d])
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
            struct variable *v = &door->groups[g].variables[i];

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
            struct variable *v = &door->groups[g].variables[i];
            drep_dsinfo info = DREP_DSINFO;
            int err = drep_dataset_info(v->dataset, &info);

            if (err)
                return door_error(err);
            for (d = 0; d < v->rank; d++) {
                struct dimension *of = &door->dimensions[v->dim[d]];

                v->shape[d] = info.dims[d];
                if (of->unlimited && of->len < (size_t)v->shape[d])
                    of->len = (size_t)v->shape[d];
            }
        }
    return 0;
}
