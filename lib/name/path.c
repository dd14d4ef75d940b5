/* path.c - paths: the names that lead from the root to an object. */
#include "name/path.h"

#include "base/mem.h"
#include "name/link.h"
#include "tree/find.h"

#include <string.h>

enum { SOFT_MAX = 32 };

/* Skips slashes and gives the length of the next name, 0 at the end of the path. */
static size_t next_name(const char **p)
{
    while (**p == '/')
        ++*p;
    return strcspn(*p, "/");
}

/* Makes the path to go on with behind a soft link: its target, then `rest`. */
static int splice(const struct span *target, const char *rest, char **path)
{
    size_t n = strlen(rest);
    char *s = mem_alloc(target->len + n + 2);

    if (!s)
        return fail_nomem();
    memcpy(s, target->p, target->len);
    s[target->len] = '/';
    memcpy(s + target->len + 1, rest, n + 1);
    mem_free(*path);
    *path = s;
    return 0;
}

/* Says why a name is not found: mostly the object is a group without it. */
static int not_in(drep_file *f, uint64_t id, const char *path, const char *name, size_t len)
{
    struct object_head head;
    int err = head_load(f, id, &head);

    if (err)
        return err;
    if (head.kind != FMT_GROUP)
        return fail(DREP_ERR_NOT_FOUND, "%s: no \"%.*s\": its parent is not a group", path,
                    (int)len, name);
    return fail(DREP_ERR_NOT_FOUND, "%s: no object \"%.*s\"", path, (int)len, name);
}

/* The path leaves the file here; the rest is for the other one. */
static int cross(const struct link_rec *link, const char *rest, struct crossing *x)
{
    char *file = mem_strndup((const char *)link->file.p, link->file.len), *path = NULL;
    int err = !file ? DREP_ERR_NOMEM : splice(&link->path, rest, &path);

    if (!err && strlen(file) != link->file.len)
        err = fail(DREP_ERR_FORMAT, "the file name of an external link contains a NUL");
    if (err) {
        mem_free(file);
        mem_free(path);
        return err;
    }
    x->file = file;
    x->path = path;
    return 0;
}

/* Walks from the object *id. x: takes where the path leaves the file, and then *id means nothing;
 * NULL: it must not leave. Soft links are limited in number, since they may lead in circles. */
static int walk_path(drep_file *f, const char *path, uint64_t *id, struct crossing *x)
{
    const char *p = path;
    uint64_t at = *id;
    char *own = NULL;
    int soft = 0, err = 0;
    size_t n;

    while (!err && (n = next_name(&p)) > 0) {
        struct link_rec link;
        struct peek peek;

        err = link_peek(f, at, p, n, &link, &peek);
        if (err == DREP_ERR_NOT_FOUND)
            err = not_in(f, at, path, p, n);
        if (err)
            break;
        p += n;
        if (link.kind == FMT_LATER) {
            err = link_later(p - n, n, &link);
        } else if (link.kind == FMT_HARD) {
            at = link.object;
        } else if (link.kind == FMT_EXTERNAL && x) {
            err = cross(&link, p, x);
            tree_peeked(&peek);
            break;
        } else if (link.kind == FMT_EXTERNAL) {
            err = fail(DREP_ERR_UNSUPPORTED_OPERATION, "%s: leads to another file, \"%.*s\"%s",
                       path, (int)link.file.len, (const char *)link.file.p,
                       f->linked.follow ? "" : "; the hint drep_external makes reading follow it");
        } else if (++soft > SOFT_MAX) {
            err = fail(DREP_ERR_LIMIT, "%s: more than %d soft links", path, SOFT_MAX);
        } else {
            err = splice(&link.path, p, &own);
            p = own;
            if (!err && *p == '/')
                at = FMT_OBJECT_ROOT;
        }
        tree_peeked(&peek);
    }
    mem_free(own);
    if (!err)
        *id = at;
    return err;
}

/* Walks to the group that the first `len` bytes lead to and notes it; false if they do not lead to
 * one, or are too many to be kept. */
static bool group_learn(drep_file *f, const char *path, size_t len, uint64_t *group)
{
    char parent[sizeof f->paths.group.path];
    uint64_t at = FMT_OBJECT_ROOT;

    if (len == 0 || !paths_fit(len))
        return false;
    memcpy(parent, path, len);
    parent[len] = '\0';
    if (walk_path(f, parent, &at, NULL) != 0)
        return false;
    *group = at;
    paths_note_group(f, path, len, at);
    return true;
}

/* The cache may know the object, or the group of its last name. When a shorter walk fails, the
 * whole path is walked, so that the message is about what the caller gave. */
int path_id(drep_file *f, const char *path, uint64_t *id)
{
    const char *slash = !path ? NULL : strrchr(path, '/');
    size_t parent = !slash ? 0 : (size_t)(slash - path);
    uint64_t at, group;
    int err = -1;

    if (!path)
        return fail(DREP_ERR_ARG, "no path");
    at = paths_find(f, path, parent, &group);
    if (at != 0) {
        *id = at;
        return 0;
    }
    if (group != 0 || group_learn(f, path, parent, &group)) {
        at = group;
        err = walk_path(f, slash, &at, NULL);
    }
    /* What is wrong is said of the whole path. */
    if (err) {
        at = FMT_OBJECT_ROOT;
        err = walk_path(f, path, &at, NULL);
    }
    if (!err) {
        paths_note(f, path, at);
        *id = at;
    }
    return err;
}

/* Other errors of the path are left to the call that goes on. */
int path_cross(drep_file *f, const char *path, struct crossing *x)
{
    uint64_t id = FMT_OBJECT_ROOT;
    int err;

    *x = (struct crossing){NULL, NULL};
    err = walk_path(f, path, &id, x);
    return err == DREP_ERR_NOT_FOUND ? 0 : err;
}

int path_find(drep_file *f, const char *path, struct stored_object *o)
{
    uint64_t id;
    int err = path_id(f, path, &id);

    return err ? err : object_load(f, id, o);
}

static int make_group(drep_file *f, uint64_t parent, const char *name, uint64_t *id)
{
    struct object_rec rec = {.kind = FMT_GROUP};

    return object_link(f, parent, name, &rec, id);
}

/* Follows one name on the way to a parent; makes the group when it may. */
static int step_down(drep_file *f, const char *path, const char *part, int parents, uint64_t *group)
{
    struct object_head head;
    uint64_t at = *group;
    int err = walk_path(f, part, &at, NULL);

    if (err == DREP_ERR_NOT_FOUND && parents)
        err = make_group(f, *group, part, &at);
    if (!err)
        err = head_load(f, at, &head);
    if (!err && head.kind != FMT_GROUP)
        err = fail(DREP_ERR_KIND, "%s: \"%s\" is not a group", path, part);
    if (!err)
        *group = at;
    return err;
}

/* Splits off the last name and walks to the group before it. */
int path_parent(drep_file *f, const char *path, int parents, uint64_t *group, const char **name)
{
    const char *p = path;
    int err = 0;

    if (!path)
        return fail(DREP_ERR_ARG, "no path");
    for (*group = FMT_OBJECT_ROOT; !err;) {
        char part[FMT_NAME_MAX + 1];
        size_t n = next_name(&p);
        const char *rest = p + n;

        if (n == 0)
            return fail(DREP_ERR_NAME, "%s: \"%s\" cannot name a new object", path, path);
        if (*rest == '\0') {
            *name = p;
            return 0;
        }
        next_name(&rest);
        if (n > FMT_NAME_MAX || *rest == '\0')
            return fail(DREP_ERR_NAME, "%s: \"%s\" is not a valid path", path, path);
        memcpy(part, p, n);
        part[n] = '\0';
        err = step_down(f, path, part, parents, group);
        p = rest;
    }
    return fail_in(err, "%s", path);
}
