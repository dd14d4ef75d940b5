/* attributes.c - the attributes of groups and variables.
 *
 * Their names, types and lengths are listed at the first question about an object, values are read
 * when they are asked for.  Those of a pending variable are in memory until it is made.  A text of
 * fixed length is netCDF's NC_CHAR, one of variable length NC_STRING.  Notes of converters
 * (`drep.`...) are not attributes. */
/* SPDX-License-Identifier: MIT */
#include "netcdf/attributes.h"
#include <stdlib.h>
#include <string.h>

void attributes_free_one(struct door *door, struct nc_attribute *a)
{
    const drep_type *memory = type_memory(door, a->type);

    if (a->data && memory && drep_type_variable(memory))
        drep_vlen_free(memory, (int64_t)a->len, a->data);
    free(a->data);
    free(a->name);
}

void attributes_free(struct door *door, struct nc_attributes *attributes)
{
    int i;

    for (i = 0; i < attributes->n; i++)
        attributes_free_one(door, &attributes->list[i]);
    free(attributes->list);
    *attributes = (struct nc_attributes){0};
}

int attributes_find_name(const struct nc_attributes *attributes, const char *name)
{
    int i = 0;

    while (i < attributes->n && strcmp(attributes->list[i].name, name) != 0)
        i++;
    return i < attributes->n ? i : -1;
}

int attributes_add(struct nc_attributes *attributes, const struct nc_attribute *a)
{
    struct nc_attribute *list = door_grow(attributes->list, attributes->n, sizeof *list);

    if (!list)
        return NC_ENOMEM;
    attributes->list = list;
    list[attributes->n++] = *a;
    return 0;
}

/* --------------------------------------------------------------------- reading */

struct nc_listing {
    struct door *door;
    const char *path;
    struct nc_attributes *attributes;
    int err;
};

/* All bytes of a text of fixed length count, also NULs. */
static void describe_attribute(struct door *door, const drep_attrinfo *info, struct nc_attribute *a)
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
    struct nc_listing *l = ctx;
    drep_attrinfo info = DREP_ATTRINFO;
    struct nc_attribute a = {0};
    int err;

    if (strncmp(name, NOTE_PREFIX, sizeof NOTE_PREFIX - 1) == 0 || strlen(name) > NC_MAX_NAME)
        return 0;
    err = drep_attr_info(l->door->file, l->path, name, &info);
    if (err)
        return l->err = door_error(err);
    describe_attribute(l->door, &info, &a);
    drep_attrinfo_release(&info);
    if (a.type == NC_NAT)
        return door_refuse(0, "%s: netCDF has no place for attribute \"%s\"", l->path, name);
    a.name = strdup(name);
    l->err = a.name ? attributes_add(l->attributes, &a) : NC_ENOMEM;
    return l->err;
}

static int list_all(struct door *door, const char *path, struct nc_attributes *attributes)
{
    struct nc_listing l = {door, path, attributes, 0};
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

int attributes_read_one(struct door *door, const char *path, struct nc_attribute *a)
{
    drep_attrinfo info = DREP_ATTRINFO;
    const drep_type *memory = type_memory(door, a->type);
    int err;

    if (a->data || a->len == 0)
        return 0;
    a->data = calloc(a->len, type_bytes(door, a->type));
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

int attributes_read(struct door *door, const char *path, struct nc_attributes *attributes)
{
    int i, err = list_all(door, path, attributes);

    for (i = 0; !err && i < attributes->n; i++)
        err = attributes_read_one(door, path, &attributes->list[i]);
    return err;
}

int attributes_find(int ncid, int varid, struct holder *out)
{
    int err = door_find(ncid, &out->door, &out->group);

    out->variable = NULL;
    out->path = NULL;
    if (err)
        return err;
    out->attributes = &out->group->attributes;
    if (varid != NC_GLOBAL) {
        if (varid < 0 || varid >= out->group->nvariables)
            return NC_ENOTVAR;
        out->variable = &out->group->variables[varid];
        out->attributes = &out->variable->attributes;
    }
    out->path =
        out->variable ? door_join(out->group->path, out->variable->name) : strdup(out->group->path);
    if (!out->path)
        return NC_ENOMEM;
    if (!out->variable || out->variable->dataset)
        err = list_all(out->door, out->path, out->attributes);
    if (err)
        free(out->path);
    return err;
}

/* --------------------------------------------------------------------- writing */

static int write_text(struct door *door, const char *path, const struct nc_attribute *a)
{
    drep_type *text = NULL;
    int err = drep_type_string(a->len ? (int64_t)a->len : 1, DREP_PAD_NUL, &text);

    if (!err)
        err = drep_attr_write(door->file, path, a->name, text, a->len ? 0 : DREP_NULL_SPACE, NULL,
                              a->data);
    drep_type_free(text);
    return err;
}

int attributes_write_one(struct door *door, const char *path, const struct nc_attribute *a)
{
    int64_t len = (int64_t)a->len;
    int err = a->type == NC_CHAR ? write_text(door, path, a)
                                 : drep_attr_write(door->file, path, a->name,
                                                   type_memory(door, a->type), 1, &len, a->data);

    return door_error(err);
}

int attributes_write(struct door *door, const char *path, struct nc_attributes *attributes)
{
    int i, err = 0;

    for (i = 0; !err && i < attributes->n; i++)
        err = attributes_write_one(door, path, &attributes->list[i]);
    if (!err)
        attributes->listed = 1;
    return err;
}

/* ----------------------------------------------------------------------- slots */

/* An attribute by its name, and its number.  After an error there is no path to free. */
static int find_named(int ncid, int varid, const char *name, struct holder *h, int *i)
{
    int err = attributes_find(ncid, varid, h);

    name = door_name(name);
    if (err)
        return err;
    *i = name ? attributes_find_name(h->attributes, name) : -1;
    if (*i >= 0)
        return 0;
    free(h->path);
    return NC_ENOTATT;
}

int slot_inq_att(int ncid, int varid, const char *name, nc_type *type, size_t *len)
{
    struct holder h;
    int i, err = find_named(ncid, varid, name, &h, &i);

    if (err)
        return err == NC_ENOTATT && !name ? NC_EBADNAME : err;
    free(h.path);
    TELL(type, h.attributes->list[i].type);
    TELL(len, h.attributes->list[i].len);
    return 0;
}

int slot_inq_attid(int ncid, int varid, const char *name, int *id)
{
    struct holder h;
    int i, err = find_named(ncid, varid, name, &h, &i);

    if (err)
        return err;
    free(h.path);
    TELL(id, i);
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

static int get_value(struct door *door, const struct nc_attribute *a, void *out, nc_type memory)
{
    drep_report report = DREP_REPORT;
    int err;

    if (memory == NC_NAT || memory == a->type)
        return type_copy(door, a->type, a->len, out, a->data);
    err = type_check_pair(door, a->type, memory);
    if (err || a->len == 0)
        return err;
    err = drep_convert(type_memory(door, memory), out, type_memory(door, a->type), a->data,
                       (int64_t)a->len, &DREP_XFER(.range = DREP_RANGE_WRAP, .report = &report));
    return err ? door_error(err) : report.overflow ? NC_ERANGE : 0;
}

int slot_get_att(int ncid, int varid, const char *name, void *out, nc_type memory)
{
    struct holder h;
    int i, err = find_named(ncid, varid, name, &h, &i);

    if (err)
        return err;
    err = attributes_read_one(h.door, h.path, &h.attributes->list[i]);
    free(h.path);
    if (err)
        return err;
    if (!out)
        return h.attributes->list[i].len ? NC_EINVAL : 0;
    return get_value(h.door, &h.attributes->list[i], out, memory);
}
