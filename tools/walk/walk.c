/* walk.c - all objects of a file, depth first. */
/* SPDX-License-Identifier: MIT */
#include "tools/walk/walk.h"
#include "base/vec.h"
#include "schema/members.h"
#include "schema/paths.h"
#include "tools/host/exit.h"
#include "tools/host/fail.h"
#include "tools/host/message.h"
#include <stdlib.h>
#include <string.h>

/* Deeper groups than this are left out: a damaged file may go in circles. */
#define WALK_DEPTH 512

struct tour {
    struct walk *walk;
    struct paths met; /* groups, and what has several links */
    char *path;       /* of the object at hand */
    size_t path_len, path_cap;
};

/* The path where the object was met before, NULL if this is the first time. */
static int meet(struct tour *t, const drep_objinfo *info, const char **before)
{
    *before = NULL;
    /* Only what has several links can be met again; groups are kept in any case, so that
     * wrong link counts cannot lead in circles. */
    if (info->links <= 1 && info->kind != DREP_OBJ_GROUP)
        return 0;
    return paths_add(&t->met, info->id, t->path, before);
}

/* Puts "/name" behind the first `keep` bytes of the path. */
static int path_set(struct tour *t, size_t keep, const char *name)
{
    size_t size = strlen(name);

    if (VEC_ROOM(t->path, keep, t->path_cap, size + 2))
        return DREP_ERR_NOMEM;
    t->path[keep] = '/';
    memcpy(t->path + keep + 1, name, size + 1);
    t->path_len = keep + 1 + size;
    return 0;
}

/* -------------------------------------------------------------------- walk */

static int visit(struct tour *t, int depth, int64_t index, bool *given);

/* A failure of ours or of the library is reported; the walk goes on. */
static int skip(struct tour *t, int err)
{
    int status = tool_exit_code(err);

    if (!t->walk->quiet)
        tool_fail(t->walk->file_name, t->path, err);
    t->walk->status = tool_worse(t->walk->status, status);
    return 0;
}

static int visit_member(struct tour *t, const struct member *m, int depth, int64_t *index)
{
    struct walk_item item = {.name = m->name, .depth = depth, .index = *index, .link = m->link};
    bool given = true;
    int err;

    if (m->link == DREP_LINK_HARD) {
        err = visit(t, depth, *index, &given);
    } else {
        item.path = t->path;
        item.target = m->target;
        item.target_file = m->target_file;
        item.info.number = m->number;
        item.info.flags = m->flags;
        err = t->walk->enter(t->walk, &item);
    }
    *index += given;
    return err;
}

/* Members of a group that were listed and not visited yet: groups are as large as they
 * like, and who is given the first members need not wait for the last. */
struct member_batch {
    struct tour *tour;
    size_t keep; /* of the path, before "/name" */
    int depth, err;
    int64_t index;
    size_t n, used;
    struct member member[128];
    char names[8192];
};

static int batch_visit(struct member_batch *b)
{
    struct tour *t = b->tour;
    size_t i;

    for (i = 0; i < b->n; i++) {
        if (!b->err)
            b->err = path_set(t, b->keep, b->member[i].name);
        if (!b->err)
            b->err = visit_member(t, &b->member[i], b->depth, &b->index);
        free(b->member[i].target);
        free(b->member[i].target_file);
    }
    b->n = b->used = 0;
    return b->err;
}

static int batch_add(const drep_linkinfo *link, void *ctx)
{
    struct member_batch *b = ctx;
    size_t size = strlen(link->name) + 1;
    struct member *m;

    if (b->n == sizeof b->member / sizeof *b->member || size > sizeof b->names - b->used)
        batch_visit(b);
    if (b->err)
        return b->err;
    m = &b->member[b->n++];
    *m = member_of(link);
    m->name = memcpy(b->names + b->used, link->name, size);
    b->used += size;
    if ((link->target && !m->target) || (link->target_file && !m->target_file))
        b->err = DREP_ERR_NOMEM;
    return b->err;
}

static void return_to(struct tour *t, const char *path)
{
    t->path_len = strlen(path);
    memcpy(t->path, path, t->path_len + 1);
}

static int visit_members(struct tour *t, int depth)
{
    struct member_batch *b = malloc(sizeof *b);
    char *path = strdup(t->path);
    int err = DREP_ERR_NOMEM;

    if (b && path) {
        b->tour = t;
        b->keep = strcmp(path, "/") == 0 ? 0 : t->path_len;
        b->depth = depth;
        b->err = 0;
        b->index = 0;
        b->n = b->used = 0;
        err = drep_list(t->walk->file, path, DREP_BY_CREATION, batch_add, b);
        if (!b->err && err) {
            return_to(t, path);
            skip(t, err);
        }
        err = batch_visit(b);
        return_to(t, path);
    }
    free(path);
    free(b);
    return err;
}

/* The dimensions of the group at t->path, which is theirs while they are given. */
struct dimension_tour {
    struct tour *tour;
    int depth, err;
    int64_t index;
};

static int visit_dimension(const drep_diminfo *info, void *ctx)
{
    struct dimension_tour *d = ctx;
    struct walk *walk = d->tour->walk;
    struct walk_item item = {
        .path = info->path, .name = info->name, .depth = d->depth, .index = d->index++};

    item.info = (drep_objinfo){.size = sizeof(drep_objinfo),
                               .kind = info->kind,
                               .number = info->number,
                               .flags = info->flags,
                               .id = info->id,
                               .links = 1,
                               .attrs = info->attrs ? -1 : 0,
                               .len = info->len,
                               .unlimited = info->unlimited};
    d->err = walk->enter(walk, &item);
    return d->err;
}

static int visit_dimensions(struct tour *t, int depth)
{
    struct dimension_tour d = {.tour = t, .depth = depth};
    int err = drep_dimension_list(t->walk->file, t->path, DREP_BY_CREATION, visit_dimension, &d);

    return d.err ? d.err : err ? skip(t, err) : 0;
}

/* The object at t->path.  It is asked for its counts: those of links tell whether the walk can meet
 * it again, those of attributes whether there are any to list.  *given: whether enter() saw it. */
static int visit(struct tour *t, int depth, int64_t index, bool *given)
{
    struct walk_item item = {.path = t->path, .depth = depth, .index = index, .info = DREP_OBJINFO};
    struct walk *walk = t->walk;
    bool deeper;
    int err = drep_stat(walk->file, t->path, &item.info);

    *given = false;
    if (!err)
        err = meet(t, &item.info, &item.target);
    if (err)
        return skip(t, err);
    *given = true;
    item.name = strrchr(t->path, '/') + 1;
    item.link = item.target ? DREP_LINK_HARD : 0;
    err = walk->enter(walk, &item);
    if (err || item.link || item.info.kind != DREP_OBJ_GROUP)
        return err;
    deeper = walk->depth < 0 || depth < walk->depth;
    if (depth >= WALK_DEPTH) {
        if (!walk->quiet)
            tool_say(walk->file_name, t->path, "groups are nested deeper than %d", WALK_DEPTH);
        walk->status = tool_worse(walk->status, TOOL_CORRUPT);
        deeper = false;
    }
    if (deeper)
        err = visit_dimensions(t, depth + 1);
    if (!err && walk->members)
        err = walk->members(walk, &item);
    if (!err && deeper)
        err = visit_members(t, depth + 1);
    /* The path may have moved in memory. */
    item.path = t->path;
    item.name = strrchr(t->path, '/') + 1;
    if (!err && walk->leave)
        err = walk->leave(walk, &item);
    return err;
}

int walk_run(struct walk *walk, const char *path)
{
    struct tour t = {.walk = walk};
    bool given;
    int err;

    while (*path == '/')
        path++;
    err = path_set(&t, 0, path);
    while (!err && t.path_len > 1 && t.path[t.path_len - 1] == '/')
        t.path[--t.path_len] = '\0';
    if (err)
        skip(&t, err);
    else
        err = visit(&t, 0, 0, &given);
    paths_release(&t.met);
    free(t.path);
    return err;
}

/* Adds the bytes of a dataset's elements to the sum at walk->ctx. */
static int add_size(struct walk *walk, const struct walk_item *item)
{
    uint64_t *sum = walk->ctx;
    drep_dsinfo info = DREP_DSINFO;
    drep_dataset *ds;

    if (item->link || item->info.kind != DREP_OBJ_DATASET ||
        drep_dataset_open(walk->file, item->path, &ds))
        return 0;
    if (drep_dataset_info(ds, &info) == 0)
        *sum += (uint64_t)info.count * (uint64_t)drep_type_extent(info.type);
    drep_dataset_close(ds);
    return 0;
}

uint64_t walk_bytes(drep_file *file, const char *path)
{
    uint64_t sum = 0;
    struct walk walk = {.file = file, .depth = -1, .enter = add_size, .ctx = &sum, .quiet = true};

    walk_run(&walk, path);
    return sum;
}

static int add_path(struct walk *walk, const struct walk_item *item)
{
    const char *before;

    return item->link ? 0 : paths_add(walk->ctx, item->info.id, item->path, &before);
}

int walk_paths(struct paths *paths, drep_file *file)
{
    struct paths all = {0};
    struct walk walk = {.file = file, .depth = -1, .enter = add_path, .ctx = &all, .quiet = true};
    int err = walk_run(&walk, "/");

    if (err) {
        paths_release(&all);
        return err;
    }
    *paths = all;
    return 0;
}
