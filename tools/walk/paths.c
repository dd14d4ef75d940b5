/* paths.c - paths of objects. */
#include "tools/walk/paths.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

char *path_of_member(const char *group, const char *name)
{
    size_t size = strlen(group) + strlen(name) + 2;
    char *path = malloc(size);

    if (path)
        snprintf(path, size, "%s/%s", strcmp(group, "/") == 0 ? "" : group, name);
    return path;
}

/* --------------------------------------------------------------------- by id */

struct path_entry {
    uint64_t id; /* 0: free */
    char *path;
};

static struct path_entry *entry_slot(const struct paths *p, uint64_t id)
{
    size_t i = (size_t)(id * 0x9e3779b97f4a7c15u >> 20) & (p->cap - 1);

    while (p->entries[i].id && p->entries[i].id != id)
        i = (i + 1) & (p->cap - 1);
    return &p->entries[i];
}

static int paths_grow(struct paths *p)
{
    struct paths bigger = {.cap = p->cap ? 2 * p->cap : 64, .len = p->len};
    size_t i;

    bigger.entries = calloc(bigger.cap, sizeof *bigger.entries);
    if (!bigger.entries)
        return DREP_ERR_NOMEM;
    for (i = 0; i < p->cap; i++)
        if (p->entries[i].id)
            *entry_slot(&bigger, p->entries[i].id) = p->entries[i];
    free(p->entries);
    *p = bigger;
    return 0;
}

int paths_add(struct paths *p, uint64_t id, const char *path, const char **before)
{
    struct path_entry *slot;

    if (2 * (p->len + 1) > p->cap && paths_grow(p))
        return DREP_ERR_NOMEM;
    slot = entry_slot(p, id);
    *before = slot->path;
    if (slot->id)
        return 0;
    slot->path = strdup(path);
    if (!slot->path)
        return DREP_ERR_NOMEM;
    slot->id = id;
    p->len++;
    return 0;
}

const char *paths_get(const struct paths *paths, uint64_t id)
{
    return paths->cap && id ? entry_slot(paths, id)->path : NULL;
}

void paths_release(struct paths *paths)
{
    size_t i;

    for (i = 0; i < paths->cap; i++)
        free(paths->entries[i].path);
    free(paths->entries);
    *paths = (struct paths){0};
}
