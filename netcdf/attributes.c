/* attributes.c - the attributes of groups and variables.
 *
 * Their names, types and lengths are listed at the first question about an object, values are read
 * when they are asked for.  Those of a pending variable are in memory until it is made.  A text of
 * fixed length is netCDF's NC_CHAR, one of variable length NC_STRING.  Notes of converters
 * (`drep.`...) are not attributes. */
/* SPDX-License-Identifier: MIT */
#include "netcdf/door.h"
#include <stdlib.h>
#include <string.h>

static void free_attribute(struct door *door, struct attribute *a)
{
    const drep_type *memory = type_memory(door, a->type);

    if (a->data && memory && drep_type_variable(memory))
        drep_vlen_free(memory, (int64_t)a->len, a->data);
    free(a->data);
    free(a->name);
}

void attributes_free(struct door *door, struct attributes *attributes)
{
    int i;

    for (i = 0; i < attributes->n; i++)
        free_attribute(door, &attributes->list[i]);
    free(attributes->list);
    *attributes = (struct attributes){0};
}

static int find_name(const struct attributes *attributes, const char *name)
{
    int i = 0;

    while (i < attributes->n && strcmp(attributes->list[i].name, name) != 0)
        i++;
    return i < attributes->n ? i : -1;
}

static int add_attribute(struct attributes *attributes, const struct attribute *a)
{
    struct attribute *list = door_grow(attributes->list, attributes->n, sizeof *list);

    if (!list)
        return NC_ENOMEM;
    attributes->list = list;
    list[attributes->n++] = *a;
    return 0;
}

/* --------------------------------------------------------------------- reading */

struct listing {
    struct door *door;
    const char *path;
    struct attributes *attributes;
    int err;
};

/* All bytes of a text of fixed length count, also NULs. */
static void describe(struct door *door, const drep_attrinfo *info, struct attribute *a)
{
    int text = drep_type_kind(info->type) == DREP_KIND_STRING;

    a->len = (size_t)info->count;
    a->type = type_of(door, info->type);
    if (text && info->rank == 0) {
        a->type = NC_CHAR;
        a->len = (size_t)drep_type_size(info->type);
    }
}

static int list_attribute(const char *name, void *ctx)
{
    struct listing *l = ctx;
    drep_attrinfo info = DREP_ATTRINFO;
    struct attribute a = {0};
    int err;

    if (strncmp(name, NOTE_PREFIX, sizeof NOTE_PREFIX - 1) == 0 || strlen(name) > NC_MAX_NAME)
        return 0;
    err = drep_attr_info(l->door->file, l->path, name, &info);
    if (err)
        return l->err = door_error(err);
    describe(l->door, &info, &a);
    drep_attrinfo_release(&info);
    if (a.type == NC_NAT)
        return door_refuse(0, "%s: netCDF has no place for attribute \"%s\"", l->path, name);
    a.name = strdup(name);
    l->err = a.name ? add_attribute(l->attributes, &a) : NC_ENOMEM;
    return l->err;
}

static int list_all(struct door *door, const char *path, struct attributes *attributes)
{
    struct listing l = {door, path, attributes, 0};
    int err;

    if (attributes->listed)
        return 0;
    err = drep_attr_list(door->file, path, DREP_BY_CREATION, list_attribute, &l);
    if (l.err || err) {
        attributes_free(door, attributes);
        return l.err ? l.err : door_error(err);
    }
    attributes->listed = 1;
    return 0;
}

static int read_value(struct door *door, const char *path, struct attribute *a)
{
    drep_attrinfo info = DREP_ATTRINFO;
    const drep_type *memory = type_memory(door, a->type);
    int err;

    if (a->data || a->len == 0)
        return 0;
    a->data = calloc(a->len, type_size(door, a->type));
    if (!a->data)
        return NC_ENOMEM;
    err = a->type == NC_CHAR ? drep_attr_info(door->file, path, a->name, &info) : 0;
    if (!err)
        err = drep_attr_read(door->file, path, a->name, a->type == NC_CHAR ? info.type : memory,
                             a->data);
    drep_attrinfo_release(&info);
    if (err) {
        free(a->data);
        a->data = NULL;
    }
    return door_error(err);
}

int attributes_read(struct door *door, const char *path, struct attributes *attributes)
{
    int i, err = list_all(door, path, attributes);

    for (i = 0; !err && i < attributes->n; i++)
        err = read_value(door, path, &attributes->list[i]);
    return err;
}

int attributes_find(int ncid, int varid, struct holder *out)
{
    struct group *group;
    int err = door_find(ncid, &out->door, &group);

    out->variable = NULL;
    out->path = NULL;
    if (err)
        return err;
    out->attributes = &group->attributes;
    if (varid != NC_GLOBAL) {
        if (varid < 0 || varid >= group->nvariables)
            return NC_ENOTVAR;
        out->variable = &group->variables[varid];
        out->attributes = &out->variable->attributes;
    }
    out->path = out->variable ? door_join(group->path, out->variable->name) : strdup(group->path);
    if (!out->path)
        return NC_ENOMEM;
    if (!out->variable || out->variable->dataset)
        err = list_all(out->door, out->path, out->attributes);
    if (err)
        free(out->path);
    return err;
}

/* --------------------------------------------------------------------- writing */

static int write_text(struct door *door, const char *path, const struct attribute *a)
{
    drep_type *text = NULL;
    int err = drep_type_string(a->len ? (int64_t)a->len : 1, DREP_PAD_NUL, &text);

    if (!err)
        err = drep_attr_write(door->file, path, a->name, text, a->len ? 0 : DREP_NULL_SPACE, NULL,
                              a->data);
    drep_type_free(text);
    return err;
}

static int write_value(struct door *door, const char *path, const struct attribute *a)
{
    int64_t len = (int64_t)a->len;
    int err = a->type == NC_CHAR ? write_text(door, path, a)
                                 : drep_attr_write(door->file, path, a->name,
                                                   type_memory(door, a->type), 1, &len, a->data);

    return door_error(err);
}

int attributes_write(struct door *door, const char *path, struct attributes *attributes)
{
    int i, err = 0;

    for (i = 0; !err && i < attributes->n; i++)
        err = write_value(door, path, &attributes->list[i]);
    if (!err)
        attributes->listed = 1;
    return err;
}

/* The value in memory of a new attribute, converted to its type. */
static int make_value(struct door *door, struct attribute *a, const void *data, nc_type memory)
{
    drep_report report = DREP_REPORT;
    int err;

    if (a->len == 0)
        return 0;
    if (!data)
        return NC_EINVAL;
    if (a->len > (size_t)INT32_MAX || !(a->data = calloc(a->len, type_size(door, a->type))))
        return NC_ENOMEM;
    if (memory == a->type)
        return type_copy(door, a->type, a->len, a->data, data);
    err = drep_convert(type_memory(door, a->type), a->data, type_memory(door, memory), data,
                       (int64_t)a->len, &DREP_XFER(.range = DREP_RANGE_WRAP, .report = &report));
    return err ? door_error(err) : report.overflow ? NC_ERANGE : 0;
}

static int check_types(struct door *door, nc_type type, nc_type memory)
{
    int err = type_seal(door, type);

    if (err)
        return err == NC_EBADTYPE && type_atomic_name(type) == NULL ? NC_EBADTYPE : err;
    if (type == memory)
        return 0;
    if (type_user(door, type) || !type_atomic_name(memory))
        return NC_EBADTYPE;
    return type == NC_CHAR || memory == NC_CHAR || type == NC_STRING || memory == NC_STRING
               ? NC_ECHAR
               : 0;
}

static int check_fill(const struct holder *h, const char *name, nc_type type, size_t len)
{
    if (!h->variable || strcmp(name, FILL_ATTRIBUTE) != 0)
        return 0;
    if (type != h->variable->type)
        return NC_EBADTYPE;
    if (len != 1)
        return NC_EINVAL;
    return h->variable->written ? NC_ELATEFILL : 0;
}

/* The new fill value; a dataset that has another one is made again. */
static int take_fill(struct holder *h, const void *data)
{
    struct variable *v = h->variable;
    void *fill = calloc(1, type_size(h->door, v->type));
    int err = fill ? type_copy(h->door, v->type, 1, fill, data) : NC_ENOMEM, g, i;

    if (err) {
        free(fill);
        return err;
    }
    if (v->fill)
        drep_vlen_free(type_memory(h->door, v->type), 1, v->fill);
    free(v->fill);
    v->fill = fill;
    v->no_fill = 0;
    if (!v->dataset)
        return 0;
    for (g = 0; g < h->door->ngroups; g++)
        for (i = 0; i < h->door->groups[g].nvariables; i++)
            if (&h->door->groups[g].variables[i] == v)
                return variable_unmake(h->door, &h->door->groups[g], v);
    return NC_ENOTVAR;
}

int attribute_put(struct holder *h, const char *name, nc_type type, size_t len, const void *data,
                  nc_type memory)
{
    struct attribute a = {.type = type, .len = len}, *old;
    int range, err = check_types(h->door, type, memory), i = find_name(h->attributes, name);

    if (!err)
        err = check_fill(h, name, type, len);
    if (err)
        return err;
    range = make_value(h->door, &a, data, memory);
    if (!range || range == NC_ERANGE) {
        a.name = strdup(name);
        err = a.name ? 0 : NC_ENOMEM;
    } else {
        err = range;
    }
    if (!err && h->variable && strcmp(name, FILL_ATTRIBUTE) == 0)
        err = take_fill(h, a.data);
    if (!err && (!h->variable || h->variable->dataset))
        err = write_value(h->door, h->path, &a);
    if (!err && i < 0)
        err = add_attribute(h->attributes, &a);
    if (err) {
        free_attribute(h->door, &a);
        return err;
    }
    if (i >= 0) {
        old = &h->attributes->list[i];
        free_attribute(h->door, old);
        *old = a;
    }
    return range;
}

int attribute_delete(struct holder *h, const char *name)
{
    struct attributes *all = h->attributes;
    int err, i = find_name(all, name);

    if (i < 0)
        return NC_ENOTATT;
    if (!h->variable || h->variable->dataset) {
        err = drep_attr_remove(h->door->file, h->path, name);
        if (err)
            return door_error(err);
    }
    free_attribute(h->door, &all->list[i]);
    memmove(&all->list[i], &all->list[i + 1], (size_t)(--all->n - i) * sizeof *all->list);
    return 0;
}

/* ----------------------------------------------------------------------- slots */

int slot_inq_att(int ncid, int varid, const char *name, nc_type *type, size_t *len)
{
    struct holder h;
    int i, err = attributes_find(ncid, varid, &h);

    if (err)
        return err;
    i = name ? find_name(h.attributes, name) : -1;
    free(h.path);
    if (i < 0)
        return name ? NC_ENOTATT : NC_EBADNAME;
    if (type)
        *type = h.attributes->list[i].type;
    if (len)
        *len = h.attributes->list[i].len;
    return 0;
}

int slot_inq_attid(int ncid, int varid, const char *name, int *id)
{
    struct holder h;
    int i, err = attributes_find(ncid, varid, &h);

    if (err)
        return err;
    i = name ? find_name(h.attributes, name) : -1;
    free(h.path);
    if (i < 0)
        return NC_ENOTATT;
    if (id)
        *id = i;
    return 0;
}

int slot_inq_attname(int ncid, int varid, int id, char *name)
{
    struct holder h;
    int err = attributes_find(ncid, varid, &h);

    if (err)
        return err;
    free(h.path);
    if (id < 0 || id >= h.attributes->n)
        return NC_ENOTATT;
    if (name)
        strcpy(name, h.attributes->list[id].name);
    return 0;
}

static int get_value(struct door *door, const struct attribute *a, void *out, nc_type memory)
{
    drep_report report = DREP_REPORT;
    int err;

    if (memory == NC_NAT || memory == a->type)
        return type_copy(door, a->type, a->len, out, a->data);
    err = check_types(door, a->type, memory);
    if (err || a->len == 0)
        return err;
    err = drep_convert(type_memory(door, memory), out, type_memory(door, a->type), a->data,
                       (int64_t)a->len, &DREP_XFER(.range = DREP_RANGE_WRAP, .report = &report));
    return err ? door_error(err) : report.overflow ? NC_ERANGE : 0;
}

int slot_get_att(int ncid, int varid, const char *name, void *out, nc_type memory)
{
    struct holder h;
    int i, err = attributes_find(ncid, varid, &h);

    if (err)
        return err;
    i = name ? find_name(h.attributes, name) : -1;
    err = i < 0 ? NC_ENOTATT : read_value(h.door, h.path, &h.attributes->list[i]);
    free(h.path);
    if (err)
        return err;
    return out ? get_value(h.door, &h.attributes->list[i], out, memory) : NC_EINVAL;
}

/* What the classic model allows only between redef and enddef; otherwise that is entered at once.
 */
static int begin_define(struct door *door)
{
    if (!door->writes)
        return NC_EPERM;
    if (door->classic && !door->defining)
        return NC_ENOTINDEFINE;
    return 0;
}

int slot_put_att(int ncid, int varid, const char *name, nc_type type, size_t len, const void *data,
                 nc_type memory)
{
    struct holder h;
    int err = attributes_find(ncid, varid, &h);

    if (err)
        return err;
    err = h.door->writes ? door_check_name(name) : NC_EPERM;
    /* The classic model lets attributes change in data mode if they do not grow. */
    if (!err && h.door->classic && !h.door->defining) {
        int i = find_name(h.attributes, name);

        if (i < 0 || len * type_size(h.door, type) >
                         h.attributes->list[i].len * type_size(h.door, h.attributes->list[i].type))
            err = NC_ENOTINDEFINE;
    }
    if (!err && h.door->classic && type > NC_DOUBLE)
        err = NC_ESTRICTNC3;
    if (!err)
        err = attribute_put(&h, name, type, len, data, memory == NC_NAT ? type : memory);
    free(h.path);
    return err;
}

int slot_del_att(int ncid, int varid, const char *name)
{
    struct holder h;
    int err = attributes_find(ncid, varid, &h);

    if (err)
        return err;
    err = name ? begin_define(h.door) : NC_EBADNAME;
    if (!err)
        err = attribute_delete(&h, name);
    free(h.path);
    return err;
}

/* Its place among the attributes is kept in memory, and given up in the file. */
int slot_rename_att(int ncid, int varid, const char *name, const char *new_name)
{
    struct holder h;
    char *copy = NULL;
    int i = -1, err = attributes_find(ncid, varid, &h);

    if (err)
        return err;
    err = begin_define(h.door);
    if (!err)
        err = door_check_name(new_name);
    if (!err && (i = name ? find_name(h.attributes, name) : -1) < 0)
        err = NC_ENOTATT;
    if (!err && strcmp(name, new_name) != 0 && find_name(h.attributes, new_name) >= 0)
        err = NC_ENAMEINUSE;
    if (!err)
        err = read_value(h.door, h.path, &h.attributes->list[i]);
    if (!err && !(copy = strdup(new_name)))
        err = NC_ENOMEM;
    if (!err && (!h.variable || h.variable->dataset) && strcmp(name, new_name) != 0) {
        struct attribute renamed = h.attributes->list[i];

        renamed.name = copy;
        err = write_value(h.door, h.path, &renamed);
        if (!err)
            err = door_error(drep_attr_remove(h.door->file, h.path, name));
    }
    free(h.path);
    if (err) {
        free(copy);
        return err;
    }
    free(h.attributes->list[i].name);
    h.attributes->list[i].name = copy;
    return 0;
}
