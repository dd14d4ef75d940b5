/* model.c - the model of an open file: how its parts are found, named and added. */
/* SPDX-License-Identifier: MIT */
#include "netcdf/door.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct door *door_open_files[65536];

int door_find(int ncid, struct door **door, struct nc_group **group)
{
    struct door *found = door_open_files[(unsigned)ncid >> 16];

    if (!found)
        return NC_EBADID;
    if ((ncid & 0xffff) >= found->ngroups)
        return NC_EBADID;
    *door = found;
    *group = &found->groups[ncid & 0xffff];
    return 0;
}

int door_find_variable(int ncid, int varid, struct door **door, struct nc_variable **v)
{
    struct nc_group *group;
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

/* NFC, by libnetcdf itself; NULL: it has no such function. */
int (*door_normalize)(const unsigned char *name, unsigned char **normal);

const char *door_name(const char *name)
{
    static char names[4][NC_MAX_NAME + 1];
    static unsigned next;
    unsigned char *normal = NULL;
    const char *p = name;

    while (p && *p && (signed char)*p > 0)
        p++;
    if (!p || !*p || !door_normalize || strlen(name) > NC_MAX_NAME ||
        door_normalize((const unsigned char *)name, &normal) != 0 || !normal)
        return name;
    if (strlen((char *)normal) <= NC_MAX_NAME)
        name = strcpy(names[next++ % 4], (char *)normal);
    free(normal);
    return name;
}

/* netCDF's rules: UTF-8 that begins with a letter, a digit or an underscore, holds no slash and no
 * control character and does not end in a space. */
int door_check_name(const char *name)
{
    size_t i, len = name ? strlen(name) : 0;
    unsigned char first = len ? (unsigned char)name[0] : 0;

    if (!name)
        return NC_EINVAL;
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
    const struct nc_group *g = &door->groups[group];
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
    struct nc_dimension *list = door_grow(door->dimensions, door->ndimensions, sizeof *list);

    if (!list)
        return -1;
    door->dimensions = list;
    list += door->ndimensions;
    *list = (struct nc_dimension){strdup(name), id, len, unlimited, group};
    return list->name ? door->ndimensions++ : -1;
}

int door_add_group(struct door *door, const char *name, char *path, int parent)
{
    struct nc_group *list = path ? door_grow(door->groups, door->ngroups, sizeof *list) : NULL;

    if (list) {
        door->groups = list;
        list += door->ngroups;
        *list = (struct nc_group){.name = strdup(name), .path = path, .parent = parent};
        if (list->name)
            return door->ngroups++;
    }
    free(path);
    return -1;
}

int door_find_dimension(const struct door *door, int group, const char *name)
{
    int i = door->ndimensions - 1;

    while (i >= 0 &&
           (door->dimensions[i].group != group || strcmp(door->dimensions[i].name, name) != 0))
        i--;
    return i;
}

void door_set_length(struct door *door, struct nc_variable *v, int d, int64_t len)
{
    struct nc_dimension *of = &door->dimensions[v->dim[d]];

    v->shape[d] = len;
    if (of->unlimited && of->len < (size_t)len)
        of->len = (size_t)len;
}

int door_dimension_of(const struct door *door, uint64_t id)
{
    int i = id ? door->ndimensions - 1 : -1;

    while (i >= 0 && door->dimensions[i].id != id)
        i--;
    return i;
}
