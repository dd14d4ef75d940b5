/* paths.c - paths of objects. */
/* SPDX-License-Identifier: MIT */
#include "schema/paths.h"
#include "base/err.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

char *path_of_member(const char *group, const char *name)
{
    char *path;

    while (*name == '/')
        name++;
    return asprintf(&path, "%s/%s", strcmp(group, "/") == 0 ? "" : group, name) < 0 ? NULL : path;
}

/* --------------------------------------------------------------------- by id */

char *path_of_dimension(const char *group, const char *name)
{
    const char *slash = strrchr(group, '/'), *last = slash ? slash + 1 : group;
    size_t size = strlen(group) + strlen(name) + 3;
    char *path = malloc(size);

    if (path)
        snprintf(path, size, "%s%s#%s", group, *last && strchr(last, '#') ? "/" : "", name);
    return path;
}

int paths_add(struct paths *p, uint64_t id, const char *path, const char **before)
{
    uintptr_t *value;

    *before = NULL;
    if (!id)
        return 0;
    value = idset_add(&p->ids, id);
    if (!value)
        return DREP_ERR_NOMEM;
    *before = (const char *)*value;
    if (!*value)
        *value = (uintptr_t)strdup(path);
    return *value ? 0 : DREP_ERR_NOMEM;
}

const char *paths_get(const struct paths *paths, uint64_t id)
{
    uintptr_t *value = id ? idset_find(&paths->ids, id) : NULL;

    return value ? (const char *)*value : NULL;
}

void paths_release(struct paths *paths)
{
    size_t i;

    for (i = 0; i < paths->ids.size; i++)
        if (paths->ids.slot[i].id)
            free((char *)paths->ids.slot[i].value);
    idset_release(&paths->ids);
}
