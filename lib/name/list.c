/* list.c - the call that lists the members of a group. */
#include "base/error.h"
#include "base/mem.h"
#include "base/rwlock.h"
#include "base/vec.h"
#include "name/external.h"
#include "name/link.h"
#include "name/path.h"
#include "tree/walk.h"

#include <stdlib.h>
#include <string.h>

/* Tells the callback of one link. It may use the file, so the lock is not held while it runs;
 * *theirs is what it gave. */
static int list_one(drep_file *f, const char *name, const struct link_rec *link, drep_list_fn *fn,
                    void *ctx, int *theirs)
{
    drep_linkinfo info = {.name = name, .link = link->kind, .index = link->index};
    char *path = NULL, *file = NULL;
    int err = 0;

    if (link->kind == FMT_HARD) {
        struct object_head head = {0};

        err = head_load(f, link->object, &head);
        /* The link says the kind; only the object's own flags say whether it can be read. */
        info.kind = link->object_kind;
        if (head.kind == FMT_LATER) {
            info.kind = DREP_OBJ_UNKNOWN;
            info.number = head.number;
            info.flags = head.flags;
        }
        info.id = link->object;
        info.links = head.links;
        info.attrs = head.next_attr != 0;
    } else if (link->kind == FMT_LATER) {
        info.link = DREP_LINK_UNKNOWN;
        info.number = link->number;
        info.flags = link->flags;
    } else {
        path = mem_strndup((const char *)link->path.p, link->path.len);
        file = link->kind == FMT_EXTERNAL ? mem_strndup((const char *)link->file.p, link->file.len)
                                          : NULL;
        if (!path || (link->kind == FMT_EXTERNAL && !file))
            err = fail_nomem();
        info.target = path;
        info.target_file = file;
    }
    if (!err) {
        /* The callback may use the file: the lock is not held while it runs. */
        rwlock_read_done(&f->lock);
        walk_begin(f);
        *theirs = fn(&info, ctx);
        walk_end();
        err = read_begin(f);
    }
    mem_free(path);
    mem_free(file);
    return err;
}

/* The links that a listing has yet to give: by name a walk, by creation all names at once, sorted
 * by the indices in their records. Names stand one behind the other in `names`, each ended by a
 * NUL. */
struct listed_link {
    uint64_t index;
    size_t name; /* its place in names */
};
struct listing {
    drep_file *f;
    uint64_t group;
    int order;
    struct link_walk walk; /* its value is what the last link points into, by creation too */
    struct listed_link *p;
    size_t n, room, at;
    struct buf names;
    char name[FMT_NAME_MAX + 1];
};

/* Of a listing that failed half-way too. */
static void listing_release(struct listing *l)
{
    mem_free(l->p);
    buf_release(&l->names);
    buf_release(&l->walk.value);
}

/* The next link of the walk; only valid names are given to callers. */
static int walk_link(struct listing *l, const char **name, size_t *len)
{
    int err = link_walk_next(&l->walk);

    if (err)
        return err;
    *name = (const char *)l->walk.key.p + LINK_NAME_AT;
    *len = l->walk.key.len - LINK_NAME_AT;
    if (name_check((const uint8_t *)*name, *len) != 0)
        return fail(DREP_ERR_FORMAT, "invalid link name of %zu bytes (R7.10)", *len);
    return 0;
}

static int by_index(const void *a, const void *b)
{
    uint64_t x = ((const struct listed_link *)a)->index, y = ((const struct listed_link *)b)->index;

    return (x > y) - (x < y);
}

/* Collect the names of all links in the order of their creation. */
static int names_load(struct listing *l)
{
    const char *name;
    bool sorted = true;
    size_t len;
    int err;

    while (!(err = walk_link(l, &name, &len))) {
        uint64_t index = l->walk.link.index;

        if (VEC_ROOM(l->p, l->n, l->room, 1) != 0 || buf_reserve(&l->names, l->names.len + len + 1))
            return fail_nomem();
        l->p[l->n] = (struct listed_link){index, l->names.len};
        memcpy(l->names.p + l->names.len, name, len);
        l->names.p[l->names.len + len] = '\0';
        l->names.len += len + 1;
        sorted &= l->n == 0 || l->p[l->n - 1].index < index;
        l->n++;
    }
    if (err == DREP_ERR_NOT_FOUND && !sorted)
        qsort(l->p, l->n, sizeof *l->p, by_index);
    return err == DREP_ERR_NOT_FOUND ? 0 : err;
}

static int listing_begin(struct listing *l, drep_file *f, uint64_t group, int order)
{
    l->f = f;
    l->group = group;
    l->order = order;
    link_walk_begin(&l->walk, f, group);
    return order == DREP_BY_NAME ? 0 : names_load(l);
}

/* The next link; DREP_ERR_NOT_FOUND: there is none. The callback may have changed the tree since
 * the last one: by name the walk goes on behind the last key, by creation those that are gone are
 * left out. */
static int listing_next(struct listing *l, struct link_rec *link)
{
    const char *name;
    size_t len;
    int err;

    if (l->walk.walk.st != l->f->st) { /* the callback returned in a child process */
        struct key at = l->walk.walk.at;

        tree_walk(&l->walk.walk, l->f->st, &at, LINK_NAME_AT);
        l->walk.walk.after = 1;
    }
    if (l->order == DREP_BY_NAME) {
        err = walk_link(l, &name, &len);
        if (err)
            return err;
        memcpy(l->name, name, len);
        l->name[len] = '\0';
        *link = l->walk.link;
        return 0;
    }
    while (l->at < l->n) {
        const struct listed_link *next = &l->p[l->at++];

        strcpy(l->name, (const char *)l->names.p + next->name);
        err = link_find(l->f, l->group, l->name, strlen(l->name), link, &l->walk.value);
        if (err != DREP_ERR_NOT_FOUND && (err || link->index == next->index))
            return err;
    }
    return DREP_ERR_NOT_FOUND;
}

int drep_list(drep_file *file, const char *group, int order, drep_list_fn *fn, void *ctx)
{
    struct stored_object o = {0};
    struct listing l = {0};
    struct link_rec link;
    struct external_target to;
    int err = external_target(file, group, &to), theirs = 0;

    if (err)
        return err;
    if (to.file)
        return external_done(&to, drep_list(to.file, to.path, order, fn, ctx));
    if ((err = read_begin(file)))
        return err;
    err = !fn ? fail(DREP_ERR_ARG, "drep_list: no callback") : path_find(file, group, &o);
    if (!err && o.rec.kind != FMT_GROUP)
        err = fail(DREP_ERR_KIND, "%s: not a group", group);
    if (!err)
        err = listing_begin(&l, file, o.id, order);
    while (!err && theirs == 0) {
        err = listing_next(&l, &link);
        if (!err)
            err = list_one(file, l.name, &link, fn, ctx, &theirs);
    }
    if (err == DREP_ERR_NOT_FOUND)
        err = 0;
    object_release(&o);
    listing_release(&l);
    if (theirs != 0 && !err) {
        rwlock_read_done(&file->lock);
        return theirs;
    }
    return read_end(file, err);
}
