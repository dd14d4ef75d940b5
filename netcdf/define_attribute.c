/* define_attribute.c - attributes written, removed and renamed.
 *
 * An attribute of an object that is in the file is written at once.  `_FillValue` is also the fill
 * value of the dataset, which is made again if it has none of its elements yet. */
/* SPDX-License-Identifier: MIT */
#include "netcdf/attributes.h"
#include <stdlib.h>
#include <string.h>

/* The value in memory of a new attribute, converted to its type. */
static int make_value(struct door *door, struct nc_attribute *a, const void *data, nc_type memory)
{
    drep_report report = DREP_REPORT;
    int err;

    if (a->len == 0)
        return 0;
    if (!data)
        return NC_EINVAL;
    if (a->len > (size_t)INT32_MAX || !(a->data = calloc(a->len, type_bytes(door, a->type))))
        return NC_ENOMEM;
    if (memory == a->type)
        return type_copy(door, a->type, a->len, a->data, data);
    err = drep_convert(type_memory(door, a->type), a->data, type_memory(door, memory), data,
                       (int64_t)a->len, &DREP_XFER(.range = DREP_RANGE_WRAP, .report = &report));
    return err ? door_error(err) : report.overflow ? NC_ERANGE : 0;
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
    struct nc_variable *v = h->variable;
    void *fill = calloc(1, type_bytes(h->door, v->type));
    int err = fill ? type_copy(h->door, v->type, 1, fill, data) : NC_ENOMEM;

    if (err) {
        free(fill);
        return err;
    }
    if (v->fill)
        drep_vlen_free(type_memory(h->door, v->type), 1, v->fill);
    free(v->fill);
    v->fill = fill;
    v->no_fill = 0;
    return v->dataset ? variable_unmake(h->door, h->group, v) : 0;
}

int attribute_put(struct holder *h, const char *name, nc_type type, size_t len, const void *data,
                  nc_type memory)
{
    struct nc_attribute a = {.type = type, .len = len}, *old;
    int range, err = type_check_pair(h->door, type, memory),
               i = attributes_find_name(h->attributes, name);

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
        err = attributes_write_one(h->door, h->path, &a);
    if (!err && i < 0)
        err = attributes_add(h->attributes, &a);
    if (err) {
        attributes_free_one(h->door, &a);
        return err;
    }
    if (i >= 0) {
        old = &h->attributes->list[i];
        attributes_free_one(h->door, old);
        *old = a;
    }
    return range;
}

int attribute_delete(struct holder *h, const char *name)
{
    struct nc_attributes *all = h->attributes;
    int err, i = attributes_find_name(all, name);

    if (i < 0)
        return NC_ENOTATT;
    if (!h->variable || h->variable->dataset) {
        err = drep_attr_remove(h->door->file, h->path, name);
        if (err)
            return door_error(err);
    }
    attributes_free_one(h->door, &all->list[i]);
    memmove(&all->list[i], &all->list[i + 1], (size_t)(--all->n - i) * sizeof *all->list);
    return 0;
}

/* Attributes change at any time, but in the classic model only between redef and enddef. */
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

    name = door_name(name);
    if (err)
        return err;
    err = h.door->writes ? door_check_name(name) : NC_EPERM;
    /* The classic model lets attributes change in data mode if they do not grow. */
    if (!err && h.door->classic && !h.door->defining) {
        int i = attributes_find_name(h.attributes, name);

        if (i < 0 || len * type_bytes(h.door, type) >
                         h.attributes->list[i].len * type_bytes(h.door, h.attributes->list[i].type))
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

    name = door_name(name);
    if (err)
        return err;
    err = name ? begin_define(h.door) : NC_EINVAL;
    if (!err)
        err = attribute_delete(&h, name);
    free(h.path);
    return err;
}

int slot_rename_att(int ncid, int varid, const char *name, const char *new_name)
{
    struct holder h;
    char *copy = NULL;
    int i = -1, err = attributes_find(ncid, varid, &h);

    name = door_name(name);
    new_name = door_name(new_name);
    if (err)
        return err;
    err = begin_define(h.door);
    if (err == NC_ENOTINDEFINE && name && new_name && strlen(new_name) <= strlen(name))
        err = 0;
    if (!err)
        err = door_check_name(new_name);
    if (!err && (i = name ? attributes_find_name(h.attributes, name) : -1) < 0)
        err = NC_ENOTATT;
    if (!err && strcmp(name, new_name) != 0 && attributes_find_name(h.attributes, new_name) >= 0)
        err = NC_ENAMEINUSE;
    if (!err && !(copy = strdup(new_name)))
        err = NC_ENOMEM;
    if (!err && (!h.variable || h.variable->dataset))
        err = door_error(drep_attr_rename(h.door->file, h.path, name, new_name));
    free(h.path);
    if (err) {
        free(copy);
        return err;
    }
    free(h.attributes->list[i].name);
    h.attributes->list[i].name = copy;
    return 0;
}
