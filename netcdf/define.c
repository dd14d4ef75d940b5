/* define.c - dimensions, groups and variables defined, renamed and given their storage. */
/* SPDX-License-Identifier: MIT */
#include "netcdf/attributes.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CACHE_HINT "drep_cache_size"
#define BEING_RENAMED "drep.being-renamed"

static int begin_definition(int ncid, struct door **door, struct nc_group **group)
{
    int err = door_find(ncid, door, group);

    if (err)
        return err;
    if (!(*door)->writes)
        return NC_EPERM;
    if ((*door)->defining)
        return 0;
    if ((*door)->classic)
        return NC_ENOTINDEFINE;
    (*door)->defining = 1;
    return 0;
}

int slot_set_fill(int ncid, int mode, int *old)
{
    struct door *door;
    struct nc_group *group;
    int err = door_find(ncid, &door, &group);

    if (err)
        return err;
    if (!door->writes)
        return NC_EPERM;
    if (mode != NC_FILL && mode != NC_NOFILL)
        return NC_EINVAL;
    TELL(old, door->no_fill ? NC_NOFILL : NC_FILL);
    door->no_fill = mode == NC_NOFILL;
    return 0;
}

/* ------------------------------------------------------------------- dimensions */

/* The classic model has one unlimited dimension. */
static int check_unlimited(const struct door *door)
{
    int i;

    for (i = 0; door->classic && i < door->ndimensions; i++)
        if (door->dimensions[i].unlimited)
            return NC_EUNLIMIT;
    return 0;
}

int slot_def_dim(int ncid, const char *name, size_t len, int *id)
{
    struct door *door;
    struct nc_group *group;
    drep_objinfo info = DREP_OBJINFO;
    char *address;
    int unlimited = len == NC_UNLIMITED, made, err = begin_definition(ncid, &door, &group);

    name = door_name(name);
    if (!err)
        err = door_check_name(name);
    if (!err && door_find_dimension(door, ncid & 0xffff, name) >= 0)
        err = NC_ENAMEINUSE;
    if (!err && unlimited)
        err = check_unlimited(door);
    if (!err && len > NC_LENGTH_MAX)
        err = NC_EDIMSIZE;
    if (err)
        return err;
    address = door_address(group->path, name);
    if (!address)
        return NC_ENOMEM;
    err = drep_dimension_create(door->file, address, (int64_t)len, unlimited);
    if (!err)
        err = drep_stat(door->file, address, &info);
    free(address);
    if (err)
        return door_error(err);
    made = door_add_dimension(door, name, info.id, len, unlimited, ncid & 0xffff);
    if (made < 0)
        return NC_ENOMEM;
    TELL(id, made);
    return 0;
}

/* A new name puts a dimension or a dataset behind its neighbours; netCDF keeps its number.  So
 * those behind it follow, by way of another name. */
static int rename_dimension(struct door *door, const struct nc_dimension *of, const char *from,
                            const char *to)
{
    char *address = door_address(door->groups[of->group].path, from);
    int err = address ? drep_dimension_rename(door->file, address, to) : DREP_ERR_NOMEM;

    free(address);
    return err;
}

static int reorder_dimensions(struct door *door, int renamed)
{
    int i, err = 0;

    for (i = renamed + 1; !err && i < door->ndimensions; i++) {
        const struct nc_dimension *of = &door->dimensions[i];

        if (of->group != door->dimensions[renamed].group || !of->id)
            continue;
        err = rename_dimension(door, of, of->name, BEING_RENAMED);
        if (!err)
            err = rename_dimension(door, of, BEING_RENAMED, of->name);
    }
    return door_error(err);
}

/* The classic model renames outside of definitions, too, but not to a longer name. */
static int begin_rename(int ncid, struct door **door, struct nc_group **group, const char *old,
                        const char *name)
{
    int err = door_find(ncid, door, group);

    if (!err && (*door)->classic && !(*door)->defining && (*door)->writes && old && name &&
        strlen(name) <= strlen(old))
        return 0;
    return err ? err : begin_definition(ncid, door, group);
}

int slot_rename_dim(int ncid, int id, const char *name)
{
    struct door *door;
    struct nc_group *group;
    struct nc_dimension *of;
    char *copy;
    int err = door_find(ncid, &door, &group);

    name = door_name(name);
    if (!err && (id < 0 || id >= door->ndimensions))
        err = NC_EBADDIM;
    if (!err)
        err = begin_rename(ncid, &door, &group, door->dimensions[id].name, name);
    if (!err)
        err = door_check_name(name);
    if (err)
        return err;
    of = &door->dimensions[id];
    if (door_find_dimension(door, of->group, name) >= 0)
        return NC_ENAMEINUSE;
    if (!of->id)
        return door_refuse(NC_EPERM, "%s: a phony dimension is not in the file", of->name);
    copy = strdup(name);
    err = copy ? door_error(rename_dimension(door, of, of->name, name)) : NC_ENOMEM;
    if (err) {
        free(copy);
        return err;
    }
    free(of->name);
    of->name = copy;
    return reorder_dimensions(door, id);
}

/* ----------------------------------------------------------------------- groups */

int slot_def_grp(int ncid, const char *name, int *id)
{
    struct door *door;
    struct nc_group *group;
    char *path;
    int made, err = begin_definition(ncid, &door, &group);

    name = door_name(name);
    if (!err && door->classic)
        err = NC_ESTRICTNC3;
    if (!err)
        err = door_check_name(name);
    if (!err)
        err = door_check_new_name(door, ncid & 0xffff, name);
    if (!err && door->ngroups == 65536)
        err = door_refuse(NC_ENOMEM, "a file of netCDF has at most 65,536 groups");
    if (err)
        return err;
    path = door_join(group->path, name);
    err = path ? door_error(drep_group_create(door->file, path, 0)) : NC_ENOMEM;
    if (err) {
        free(path);
        return err;
    }
    made = door_add_group(door, name, path, ncid & 0xffff);
    if (made < 0)
        return NC_ENOMEM;
    door->groups[made].attributes.listed = 1;
    TELL(id, (ncid & ~0xffff) | made);
    return 0;
}

/* The paths of the groups below a renamed one. */
static int rename_below(struct door *door, int above)
{
    int i, err = 0;

    for (i = above + 1; !err && i < door->ngroups; i++) {
        struct nc_group *g = &door->groups[i];
        char *path;

        if (g->parent != above)
            continue;
        path = door_join(door->groups[above].path, g->name);
        if (!path)
            return NC_ENOMEM;
        free(g->path);
        g->path = path;
        err = rename_below(door, i);
    }
    return err;
}

int slot_rename_grp(int ncid, const char *name)
{
    struct door *door;
    struct nc_group *group;
    char *path, *copy;
    int err = begin_definition(ncid, &door, &group);

    name = door_name(name);
    if (!err && group->parent < 0)
        err = NC_EBADGRPID;
    if (!err)
        err = door_check_name(name);
    if (!err)
        err = door_check_new_name(door, group->parent, name);
    if (err)
        return err;
    path = door_join(door->groups[group->parent].path, name);
    copy = strdup(name);
    err = path && copy ? door_error(drep_link_move(door->file, group->path, path)) : NC_ENOMEM;
    if (err) {
        free(path);
        free(copy);
        return err;
    }
    free(group->path);
    free(group->name);
    group->path = path;
    group->name = copy;
    return rename_below(door, ncid & 0xffff);
}

/* -------------------------------------------------------------------- variables */

static int check_variable(struct door *door, int ncid, const char *name, nc_type type, int rank,
                          const int *dims)
{
    int d, err = door_check_name(name);

    if (!err)
        err = door_check_new_name(door, ncid & 0xffff, name);
    if (!err && door->classic && type > NC_DOUBLE)
        err = NC_ESTRICTNC3;
    if (!err && !type_bytes(door, type))
        err = NC_EBADTYPE;
    if (!err)
        err = type_seal(door, type);
    if (err)
        return err;
    if (rank < 0 || (rank && !dims))
        return NC_EINVAL;
    if (rank > DREP_MAX_RANK)
        return door_refuse(NC_EMAXDIMS, "%s: a dataset has at most %d dimensions", name,
                           DREP_MAX_RANK);
    for (d = 0; d < rank; d++)
        if (dims[d] < 0 || dims[d] >= door->ndimensions)
            return NC_EBADDIM;
    return 0;
}

int slot_def_var(int ncid, const char *name, nc_type type, int rank, const int *dims, int *id)
{
    struct door *door;
    struct nc_group *group;
    struct nc_variable *list;
    struct nc_variable v = {.type = type, .rank = rank, .storage = -1};
    int d, err = begin_definition(ncid, &door, &group);

    name = door_name(name);
    if (!err)
        err = check_variable(door, ncid, name, type, rank, dims);
    if (err)
        return err;
    list = door_grow(group->variables, group->nvariables, sizeof *list);
    if (!list)
        return NC_ENOMEM;
    group->variables = list;
    v.name = strdup(name);
    if (!v.name)
        return NC_ENOMEM;
    v.no_fill = door->no_fill;
    for (d = 0; d < rank; d++) {
        v.dim[d] = dims[d];
        if (door->dimensions[dims[d]].unlimited)
            v.storage = NC_CHUNKED;
    }
    list[group->nvariables] = v;
    TELL(id, group->nvariables);
    group->nvariables++;
    return 0;
}

static int move_variable(struct door *door, const struct nc_group *group, const char *from,
                         const char *to)
{
    char *path = door_join(group->path, from), *new_path = door_join(group->path, to);
    int err = path && new_path ? drep_link_move(door->file, path, new_path) : DREP_ERR_NOMEM;

    free(path);
    free(new_path);
    return err;
}

static int reorder_variables(struct door *door, const struct nc_group *group, int renamed)
{
    int i, err = 0;

    for (i = renamed + 1; !err && i < group->nvariables; i++) {
        const struct nc_variable *v = &group->variables[i];

        if (!v->dataset)
            continue;
        err = move_variable(door, group, v->name, BEING_RENAMED);
        if (!err)
            err = move_variable(door, group, BEING_RENAMED, v->name);
    }
    return door_error(err);
}

int slot_rename_var(int ncid, int varid, const char *name)
{
    struct door *door;
    struct nc_group *group;
    struct nc_variable *v;
    char *copy;
    int err = door_find_variable(ncid, varid, &door, &v);

    name = door_name(name);
    if (!err)
        err = begin_rename(ncid, &door, &group, v->name, name);
    if (!err)
        err = door_check_name(name);
    if (!err)
        err = door_check_new_name(door, ncid & 0xffff, name);
    if (err)
        return err;
    copy = strdup(name);
    err = copy ? 0 : NC_ENOMEM;
    if (!err && v->dataset)
        err = door_error(move_variable(door, group, v->name, name));
    if (err) {
        free(copy);
        return err;
    }
    free(v->name);
    v->name = copy;
    return v->dataset ? reorder_variables(door, group, varid) : 0;
}

/* ---------------------------------------------------------------------- storage */

/* Properties are settled when the definition is complete. */
static int begin_property(int ncid, int varid, struct door **door, struct nc_variable **v)
{
    struct nc_group *group;
    int err = door_find(ncid, door, &group);

    if (err)
        return err;
    if (!(*door)->writes)
        return NC_EPERM;
    err = door_find_variable(ncid, varid, door, v);
    return err ? err : (*v)->defined ? NC_ELATEDEF : 0;
}

/* Filters need chunks, and make them of contiguous storage that was asked for before, as nccopy
 * does.  A variable without dimensions does not have any: it gets no filter. */
static int set_filter(struct nc_variable *v, unsigned id, size_t nparams, const unsigned *params)
{
    struct nc_filter *f = variable_filter(v, id);
    size_t i;

    if (v->rank == 0)
        return 0;
    if (nparams > 8 || (!f && v->nfilters == FILTERS_MAX))
        return NC_EFILTER;
    if (!f)
        f = &v->filter[v->nfilters++];
    *f = (struct nc_filter){.id = id, .nparams = nparams};
    for (i = 0; i < nparams; i++)
        f->param[i] = params[i];
    v->storage = NC_CHUNKED;
    return 0;
}

static int set_bytewise(struct nc_variable *v, int *property, int on)
{
    if (v->rank == 0)
        return 0;
    *property = on != 0;
    if (on)
        v->storage = NC_CHUNKED;
    return 0;
}

int slot_def_var_deflate(int ncid, int varid, int shuffle, int deflate, int level)
{
    struct door *door;
    struct nc_variable *v;
    const unsigned param = (unsigned)level;
    int err = begin_property(ncid, varid, &door, &v);

    if (err)
        return err;
    if (deflate && (level < 0 || level > 9))
        return NC_EINVAL;
    err = set_bytewise(v, &v->shuffle, shuffle);
    return err || !deflate ? err : set_filter(v, 1, 1, &param);
}

int slot_def_var_fletcher32(int ncid, int varid, int fletcher32)
{
    struct door *door;
    struct nc_variable *v;
    int err = begin_property(ncid, varid, &door, &v);

    return err ? err : set_bytewise(v, &v->fletcher32, fletcher32);
}

int slot_def_var_filter(int ncid, int varid, unsigned id, size_t nparams, const unsigned *params)
{
    struct door *door;
    struct nc_variable *v;
    int err = begin_property(ncid, varid, &door, &v);

    if (err)
        return err;
    if (!variable_filter_known(id))
        return door_refuse(NC_ENOFILTER, "%s: filter %u of HDF5 is not here", v->name, id);
    if (id == 2)
        return set_bytewise(v, &v->shuffle, 1);
    if (id == 3)
        return set_bytewise(v, &v->fletcher32, 1);
    if (nparams && !params)
        return NC_EINVAL;
    if (id == 1 && (nparams != 1 || params[0] > 9))
        return NC_EFILTER;
    return set_filter(v, id, nparams, params);
}

static int check_chunk(const struct door *door, const struct nc_variable *v, const size_t *chunk)
{
    int d;

    for (d = 0; d < v->rank; d++) {
        const struct nc_dimension *of = &door->dimensions[v->dim[d]];

        if (chunk[d] > (size_t)INT64_MAX || (!of->unlimited && of->len && chunk[d] > of->len))
            return NC_EBADCHUNK;
    }
    return 0;
}

static int check_flat(const struct door *door, const struct nc_variable *v)
{
    int d;

    for (d = 0; d < v->rank; d++)
        if (door->dimensions[v->dim[d]].unlimited)
            return NC_EINVAL;
    return v->shuffle || v->fletcher32 || v->nfilters ? NC_EINVAL : 0;
}

/* As much as HDF5 has in the head of a dataset. */
static int check_compact(struct door *door, const struct nc_variable *v)
{
    size_t left = 65536 / type_bytes(door, v->type);
    int d;

    for (d = 0; d < v->rank; d++) {
        size_t len = door->dimensions[v->dim[d]].len;

        if (len > left)
            return NC_EVARSIZE;
        left /= len ? len : 1;
    }
    return 0;
}

int slot_def_var_chunking(int ncid, int varid, int storage, const size_t *chunk)
{
    struct door *door;
    struct nc_variable *v;
    int d, err = begin_property(ncid, varid, &door, &v);

    if (err)
        return err;
    if (storage != NC_CHUNKED && storage != NC_CONTIGUOUS && storage != NC_COMPACT)
        return NC_EINVAL;
    if (v->rank == 0)
        return storage == NC_CHUNKED ? NC_EINVAL : (v->storage = storage, 0);
    if (storage != NC_CHUNKED) {
        err = check_flat(door, v);
        if (!err && storage == NC_COMPACT)
            err = check_compact(door, v);
        if (!err)
            v->storage = storage;
        return err;
    }
    v->has_chunk = chunk != NULL;
    err = chunk ? check_chunk(door, v, chunk) : 0;
    if (err)
        return err;
    v->storage = NC_CHUNKED;
    for (d = 0; chunk && d < v->rank; d++) {
        v->chunk[d] = (int64_t)chunk[d];
        /* nccopy passes zeros for lengths that it leaves to the library. */
        v->has_chunk &= chunk[d] > 0;
    }
    return 0;
}

int slot_def_var_fill(int ncid, int varid, int no_fill, const void *fill)
{
    struct holder h;
    int err = attributes_find(ncid, varid, &h);

    if (err)
        return err;
    if (!h.variable)
        err = NC_EGLOBAL;
    else if (!h.door->writes)
        err = NC_EPERM;
    else if (h.variable->defined)
        err = NC_ELATEDEF;
    else if (no_fill && h.variable->type == NC_STRING)
        err = NC_EINVAL;
    if (!err)
        h.variable->no_fill = no_fill != 0;
    if (!err && !no_fill && fill)
        err = attribute_put(&h, FILL_ATTRIBUTE, h.variable->type, 1, fill, h.variable->type);
    free(h.path);
    return err;
}

int slot_def_var_endian(int ncid, int varid, int endian)
{
    struct door *door;
    struct nc_variable *v;
    int err = begin_property(ncid, varid, &door, &v);

    if (err)
        return err;
    if (endian != NC_ENDIAN_NATIVE && endian != NC_ENDIAN_LITTLE && endian != NC_ENDIAN_BIG)
        return NC_EINVAL;
    if (endian != NC_ENDIAN_NATIVE && (!type_atomic_name(v->type) || v->type == NC_STRING))
        return NC_EINVAL;
    v->endian = endian;
    return 0;
}

int slot_def_var_quantize(int ncid, int varid, int mode, int digits)
{
    struct door *door;
    struct nc_variable *v;
    int err = begin_property(ncid, varid, &door, &v);

    return err ? err : quantize_set(v, mode, digits);
}

/* The cache of chunks is one for all variables of a file: it is made as large as the largest that
 * is asked for, never smaller. */
static int widen_cache(struct door *door, size_t size)
{
    drep_info *info = NULL;
    const char *now;
    char text[32];
    int err = drep_get_info(door->file, &info);

    if (err)
        return door_error(err);
    now = drep_info_get(info, CACHE_HINT);
    if (now && size > strtoull(now, NULL, 10)) {
        snprintf(text, sizeof text, "%zu", size);
        err = drep_info_set(info, CACHE_HINT, text);
        if (!err)
            err = drep_set_info(door->file, info);
    }
    drep_info_free(info);
    return door_error(err);
}

int slot_set_var_chunk_cache(int ncid, int varid, size_t size, size_t slots, float preemption)
{
    struct door *door;
    struct nc_variable *v;
    int err = door_find_variable(ncid, varid, &door, &v);

    if (err)
        return err;
    if (!(preemption >= 0 && preemption <= 1))
        return NC_EINVAL;
    v->cache_size = size;
    v->cache_slots = slots;
    v->cache_preemption = preemption;
    return widen_cache(door, size);
}

/* Ranks have files of their own here. */
int slot_var_par_access(int ncid, int varid, int access)
{
    struct door *door;
    struct nc_variable *v;
    int err = door_find_variable(ncid, varid, &door, &v);

    (void)access;
    return err ? err : NC_ENOPAR;
}
