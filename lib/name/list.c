/* list.c - the call that lists the members of a group. */
#include "base/error.h"
#include "base/mem.h"
#include "base/rwlock.h"
#include "name/external.h"
#include "name/link.h"
#include "name/path.h"
#include "tree/walk.h"

#include <string.h>

/* Tells the callback of one link. It may use the file, so the lock is not held while it runs;
 * *theirs is what it gave. */
static int list_one(drep_file *f, const char *name, const struct link_rec *link, drep_list_fn *fn,
                    void *ctx, int *theirs)
{
    drep_linkinfo info = {.name = name, .link = link->kind};
    char *path = NULL, *file = NULL;
    int err = 0;

    if (link->kind == FMT_HARD) {
        struct object_head head = {0};

        err = head_load(f, link->object, &head);
        info.kind = head.kind;
        info.id = link->object;
        info.links = head.links;
        info.attrs = head.next_attr != 0;
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

/* The next link by name or by creation. Between two of them the tree may have changed; the walk
 * goes on behind the last key. */
static int list_next(drep_file *f, struct tree_walk *w, int order, uint64_t group,
                     char name[FMT_NAME_MAX + 1], struct link_rec *link, struct buf *bytes)
{
    struct key key;
    struct in in;
    size_t len;
    int err = tree_next(w, &key, bytes);

    if (err)
        return err;
    if (order == DREP_BY_NAME) {
        len = key.len - 9;
        if (name_check(key.p + 9, len) != 0)
            return fail(DREP_ERR_FORMAT, "invalid link name of %zu bytes", len);
        memcpy(name, key.p + 9, len);
        in_init(&in, bytes->p, bytes->len);
        err = link_get(&in, link);
        if (err)
            return fail(err, "link \"%.*s\": %s", (int)len, name, in.why);
    } else {
        len = bytes->len;
        if (name_check(bytes->p, len) != 0)
            return fail(DREP_ERR_FORMAT, "invalid link name of %zu bytes", len);
        memcpy(name, bytes->p, len);
        err = link_find(f, group, name, len, link, bytes);
        if (err == DREP_ERR_NOT_FOUND)
            return fail(DREP_ERR_FORMAT, "\"%.*s\" is listed but not in its group", (int)len, name);
        if (err)
            return err;
    }
    name[len] = '\0';
    return 0;
}

int drep_list(drep_file *file, const char *group, int order, drep_list_fn *fn, void *ctx)
{
    char name[FMT_NAME_MAX + 1];
    struct stored_object o = {0};
    struct buf bytes = {0};
    struct link_rec link;
    struct tree_walk w;
    struct key key;
    struct external_target to;
    bool end = false;
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
    if (!err) {
        key_make(&key, o.id, order == DREP_BY_NAME ? FMT_TAG_LINK : FMT_TAG_LINK_ORDER);
        tree_walk(&w, file->st, &key, 9);
        while (!err && theirs == 0 && !end) {
            err = list_next(file, &w, order, o.id, name, &link, &bytes);
            end = err == DREP_ERR_NOT_FOUND;
            if (end)
                err = 0;
            else if (!err)
                err = list_one(file, name, &link, fn, ctx, &theirs);
            if (!err && w.st != file->st) { /* the callback returned in a child process */
                key = w.at;
                tree_walk(&w, file->st, &key, 9);
                w.after = 1;
            }
        }
    }
    object_release(&o);
    buf_release(&bytes);
    if (theirs != 0 && !err) {
        rwlock_read_done(&file->lock);
        return theirs;
    }
    return read_end(file, err);
}
