/* attributes.h - attributes of groups and variables, read and written. */
/* SPDX-License-Identifier: MIT */
#ifndef NETCDF_ATTRIBUTES_H
#define NETCDF_ATTRIBUTES_H

#include "netcdf/door.h"

/* Attributes of a group or a variable, and the path of that object (malloc'ed). */
struct holder {
    struct door *door;
    struct nc_group *group;
    struct nc_variable *variable; /* NULL: they are the group's */
    struct nc_attributes *attributes;
    char *path;
};
int attributes_find(int ncid, int varid, struct holder *out);
int attributes_find_name(const struct nc_attributes *attributes, const char *name); /* or -1 */
int attributes_add(struct nc_attributes *attributes, const struct nc_attribute *a);
void attributes_free(struct door *door, struct nc_attributes *attributes);
void attributes_free_one(struct door *door, struct nc_attribute *a);
/* Values into memory, or from there into the file. */
int attributes_read(struct door *door, const char *path, struct nc_attributes *attributes);
int attributes_read_one(struct door *door, const char *path, struct nc_attribute *a);
int attributes_write(struct door *door, const char *path, struct nc_attributes *attributes);
int attributes_write_one(struct door *door, const char *path, const struct nc_attribute *a);
int attribute_put(struct holder *h, const char *name, nc_type type, size_t len, const void *data,
                  nc_type memory);

#endif
