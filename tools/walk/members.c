/* members.c - the members of a group and the attributes of an object, as lists in memory. */
#include "tools/walk/members.h"
#include <stdlib.h>
#include <string.h>

struct member member_of(const drep_linkinfo *link)
{
    return (struct member){.link = link->link,
                           .kind = link->kind,
                           .attrs = link->attrs,
                           .id = link->id,
                           .links = link->links,
                           .target = link->target ? strdup(link->target) : NULL,
                           .target_file = link->target_file ? strdup(link->target_file) : NULL};
}

static int member_add(const drep_linkinfo *link, void *ctx)
{
    struct members *m = ctx;
    struct member one, *list;

    if (m->len == m->cap) {
        m->cap = m->cap ? 2 * m->cap : 16;
        list = realloc(m->list, m->cap * sizeof *list);
        if (!list)
            return DREP_ERR_NOMEM;
        m->list = list;
    }
    one = member_of(link);
    one.name = strdup(link->name);
    m->list[m->len++] = one;
    if (!one.name || (link->target && !one.target) || (link->target_file && !one.target_file))
        return DREP_ERR_NOMEM;
    return 0;
}

int members_list(struct members *out, drep_file *file, const char *path, int order)
{
    return drep_list(file, path, order, member_add, out);
}

void members_release(struct members *m)
{
    size_t i;

    for (i = 0; i < m->len; i++) {
        free(m->list[i].name);
        free(m->list[i].target);
        free(m->list[i].target_file);
    }
    free(m->list);
}

/* -------------------------------------------------------------- attributes */

struct names {
    char **list;
    int64_t len, cap;
};

static int name_add(const char *name, void *ctx)
{
    struct names *n = ctx;
    char **list;

    if (n->len == n->cap) {
        n->cap = n->cap ? 2 * n->cap : 16;
        list = realloc(n->list, (size_t)n->cap * sizeof *list);
        if (!list)
            return DREP_ERR_NOMEM;
        n->list = list;
    }
    n->list[n->len] = strdup(name);
    if (!n->list[n->len])
        return DREP_ERR_NOMEM;
    n->len++;
    return 0;
}

int walk_attrs(drep_file *file, const char *path, char ***names, int64_t *n)
{
    struct names all = {0};
    int err = drep_attr_list(file, path, DREP_BY_CREATION, name_add, &all);

    if (err) {
        walk_attrs_free(all.list, all.len);
        return err;
    }
    *names = all.list;
    *n = all.len;
    return 0;
}

void walk_attrs_free(char **names, int64_t n)
{
    int64_t i;

    for (i = 0; i < n; i++)
        free(names[i]);
    free(names);
}
