/* members.c - the members of a group and the attributes of an object, as lists in memory. */
/* SPDX-License-Identifier: MIT */
#include "schema/members.h"
#include "base/vec.h"
#include "schema/note.h"
#include <stdlib.h>
#include <string.h>

struct member member_of(const drep_linkinfo *link)
{
    return (struct member){.link = link->link,
                           .kind = link->kind,
                           .id = link->id,
                           .number = link->number,
                           .flags = link->flags,
                           .index = link->index,
                           .target = link->target ? strdup(link->target) : NULL,
                           .target_file = link->target_file ? strdup(link->target_file) : NULL};
}

static void member_free(struct member *m)
{
    free(m->name);
    free(m->target);
    free(m->target_file);
}

static int member_add(const drep_linkinfo *link, void *ctx)
{
    struct members *m = ctx;
    struct member one;

    if (VEC_ROOM(m->list, m->len, m->room, 1))
        return DREP_ERR_NOMEM;
    one = member_of(link);
    one.name = strdup(link->name);
    if (!one.name || (link->target && !one.target) || (link->target_file && !one.target_file)) {
        member_free(&one);
        return DREP_ERR_NOMEM;
    }
    m->list[m->len++] = one;
    return 0;
}

int members_list(struct members *out, drep_file *file, const char *path, int order)
{
    return drep_list(file, path, order, member_add, out);
}

static int dimension_add(const drep_diminfo *info, void *ctx)
{
    struct members *m = ctx;
    struct member one = {
        .link = DREP_LINK_HARD, .kind = info->kind, .id = info->id, .index = info->index};

    if (VEC_ROOM(m->list, m->len, m->room, 1))
        return DREP_ERR_NOMEM;
    one.name = strdup(info->name);
    one.target = strdup(info->path);
    if (!one.name || !one.target) {
        member_free(&one);
        return DREP_ERR_NOMEM;
    }
    m->list[m->len++] = one;
    return 0;
}

int dimensions_list(struct members *out, drep_file *file, const char *path, int order)
{
    return drep_dimension_list(file, path, order, dimension_add, out);
}

void members_release(struct members *m)
{
    size_t i;

    for (i = 0; i < m->len; i++)
        member_free(&m->list[i]);
    free(m->list);
}

int member_later(drep_file *file, const char *path, const struct member *m)
{
    drep_objinfo info = DREP_OBJINFO;
    drep_type *type;

    if (m->link == DREP_LINK_UNKNOWN)
        return drep_stat(file, path, &info);
    if (m->link == DREP_LINK_HARD && m->kind == DREP_OBJ_UNKNOWN)
        return drep_type_open(file, path, &type); /* any call that needs its kind */
    return 0;
}

/* -------------------------------------------------------------- attributes */

struct attr_names {
    bool notes;
    char **list;
    int64_t len;
    size_t room;
};

static int name_add(const char *name, void *ctx)
{
    struct attr_names *n = ctx;

    if (!n->notes && is_note(name))
        return 0;
    if (VEC_ROOM(n->list, (size_t)n->len, n->room, 1))
        return DREP_ERR_NOMEM;
    n->list[n->len] = strdup(name);
    if (!n->list[n->len])
        return DREP_ERR_NOMEM;
    n->len++;
    return 0;
}

int attrs_list(drep_file *file, const char *path, bool notes, char ***names, int64_t *n)
{
    struct attr_names all = {.notes = notes};
    int err = drep_attr_list(file, path, DREP_BY_CREATION, name_add, &all);

    *names = all.list;
    *n = all.len;
    return err;
}

void attrs_free(char **names, int64_t n)
{
    int64_t i;

    for (i = 0; i < n; i++)
        free(names[i]);
    free(names);
}
