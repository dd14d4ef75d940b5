/* visit.c - every object below a group, once.
 *
 * The groups between the start and the object at hand are frames on a stack, each with the names
 * of its members, which were copied when it was entered: the function that is called may do
 * everything with the file.  The stack grows with the depth of the file, not with ours. */
/* SPDX-License-Identifier: MIT */
#include "base/buf.h"
#include "base/error.h"
#include "base/idset.h"
#include "base/mem.h"
#include "base/sized.h"
#include "base/vec.h"
#include "file/file.h"

#include <string.h>

/* A member of a group that is still to be shown. */
struct visit_member {
    size_t name; /* its place in the names; of a dimension its address */
    uint64_t id;
    int kind, number;
    bool dimension;
};
/* A group that was entered: members [first, end), of which `next` is the next one. */
struct visit_level {
    size_t first, next, end;
    size_t names, path; /* bytes in use of the two, without this group's members */
};
struct visit {
    drep_file *f;
    int order;
    drep_visit_fn *fn;
    void *ctx;
    int theirs; /* what fn gave */
    struct visit_member *member;
    size_t members, member_room;
    struct visit_level *level;
    size_t levels, level_room;
    struct buf names, path; /* texts, each with its NUL; the path of the group, without one */
    struct idset visited;
};

static int text_add(struct buf *b, const char *text, size_t len)
{
    int err = buf_reserve(b, b->len + len + 1);

    if (err)
        return err;
    memcpy(b->p + b->len, text, len);
    b->p[b->len += len] = '\0';
    return 0;
}

static int member_add(struct visit *v, const struct visit_member *m, const char *name)
{
    int err = VEC_ROOM(v->member, v->members, v->member_room, 1) != 0 ? fail_nomem() : 0;

    if (err)
        return err;
    v->member[v->members] = *m;
    v->member[v->members].name = v->names.len;
    if ((err = text_add(&v->names, name, strlen(name))))
        return err;
    v->names.len++;
    v->members++;
    return 0;
}

static int add_link(const drep_linkinfo *link, void *ctx)
{
    const struct visit_member m = {.id = link->id, .kind = link->kind, .number = link->number};

    return link->link == DREP_LINK_HARD ? member_add(ctx, &m, link->name) : 0;
}

static int add_dimension(const drep_diminfo *dim, void *ctx)
{
    const struct visit_member m = {
        .id = dim->id, .kind = dim->kind, .number = dim->number, .dimension = true};

    return member_add(ctx, &m, dim->path);
}

/* Lists the group at the path.  One that does not exist was removed by fn. */
static int level_enter(struct visit *v, size_t path_before)
{
    const char *group = v->path.len == 0 ? "/" : (const char *)v->path.p;
    struct visit_level *l;
    int err;

    if (VEC_ROOM(v->level, v->levels, v->level_room, 1) != 0)
        return fail_nomem();
    l = &v->level[v->levels++];
    *l = (struct visit_level){.first = v->members, .next = v->members, .names = v->names.len};
    l->path = path_before;
    err = drep_dimension_list(v->f, group, v->order, add_dimension, v);
    if (!err)
        err = drep_list(v->f, group, v->order, add_link, v);
    if (err == DREP_ERR_NOT_FOUND && v->f->amode & DREP_RDWR)
        err = 0;
    l->end = v->members;
    return err;
}

static void level_leave(struct visit *v)
{
    const struct visit_level *l = &v->level[--v->levels];

    v->members = l->first;
    v->names.len = l->names;
    v->path.len = l->path;
}

/* Shows an object; *first: it was not shown before. */
static int show(struct visit *v, const char *path, const struct visit_member *m, bool *first)
{
    drep_visited object = {.path = path, .kind = m->kind, .id = m->id, .number = m->number};
    int err = 0;

    *first = true;
    if (m->id != 0 && idset_mark(&v->visited, m->id, first) != 0)
        err = fail_nomem();
    if (!err && *first)
        err = v->theirs = v->fn(&object, v->ctx);
    return err;
}

/* Was the object removed since its group was listed?  Only a handle that writes can. */
static int member_removed(struct visit *v, const char *path, const struct visit_member *m,
                          bool *removed)
{
    int kind = 0, err = 0;

    *removed = false;
    if (v->f->amode & DREP_RDWR && m->id != 0) {
        err = drep_exists(v->f, path, &kind);
        *removed = kind == 0;
    }
    return err;
}

/* Shows the next member of the innermost group, and enters it if it is one. */
static int member_next(struct visit *v)
{
    struct visit_level *l = &v->level[v->levels - 1];
    const struct visit_member m = v->member[l->next++];
    const char *name = (const char *)v->names.p + m.name, *path = name;
    size_t before = v->path.len;
    bool first = false, removed;
    int err = 0;

    if (!m.dimension) {
        err = text_add(&v->path, "/", 1);
        if (!err)
            err = text_add(&v->path, name, strlen(name));
        path = (const char *)v->path.p;
    }
    if (!err)
        err = member_removed(v, path, &m, &removed);
    if (!err && !removed)
        err = show(v, path, &m, &first);
    if (!err && first && m.kind == DREP_OBJ_GROUP)
        return level_enter(v, before);
    v->path.len = before;
    return err;
}

/* The path of the start as it begins all others: with one slash in front, none at the end. */
static int start_path(struct visit *v, const char *path)
{
    size_t len = strlen(path);
    int err = text_add(&v->path, "", 0);

    while (len > 0 && path[len - 1] == '/')
        len--;
    if (!err && len > 0 && path[0] != '/')
        err = text_add(&v->path, "/", 1);
    return err || len == 0 ? err : text_add(&v->path, path, len);
}

static int visit_all(struct visit *v, const char *path)
{
    drep_objinfo info = DREP_OBJINFO;
    struct visit_member start;
    bool first;
    int err = drep_stat(v->f, path, &info);

    if (!err)
        err = start_path(v, path);
    if (err)
        return err;
    start = (struct visit_member){.id = info.id, .kind = info.kind, .number = info.number};
    err = show(v, v->path.len == 0 ? "/" : (const char *)v->path.p, &start, &first);
    if (!err && info.kind == DREP_OBJ_GROUP)
        err = level_enter(v, v->path.len);
    while (!err && v->levels > 0) {
        if (v->level[v->levels - 1].next == v->level[v->levels - 1].end)
            level_leave(v);
        else
            err = member_next(v);
    }
    return err;
}

int drep_visit(drep_file *file, const char *path, int order, drep_visit_fn *fn, void *ctx)
{
    struct visit v = {.f = file, .order = order, .fn = fn, .ctx = ctx};
    int err = file_check(file);

    if (err)
        return err;
    if (!path || !fn)
        return fail(DREP_ERR_ARG, "drep_visit: null argument");
    if ((err = order_valid("drep_visit", order)))
        return err;
    err = visit_all(&v, path);
    mem_free(v.member);
    mem_free(v.level);
    buf_release(&v.names);
    buf_release(&v.path);
    idset_release(&v.visited);
    return v.theirs != 0 ? v.theirs : err;
}
