/* path.c - paths: the names that lead from the root to an object. */
/* SPDX-License-Identifier: MIT */
#include "name/path.h"

#include "base/mem.h"
#include "name/dim_entry.h"
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
        return fail_object(DREP_ERR_NOT_FOUND, path, "%s: no \"%.*s\": its parent is not a group",
                           path, (int)len, name);
    return fail_object(DREP_ERR_NOT_FOUND, path, "%s: no object \"%.*s\"", path, (int)len, name);
}

/* The path leaves the file here; the rest is for the other one. */
static int cross(const struct link_rec *link, const char *rest, struct crossing *x)
{
    char *file = mem_strndup((const char *)link->file.p, link->file.len), *path = NULL;
    int err = !file ? DREP_ERR_NOMEM : splice(&link->path, rest, &path);

    if (!err && strlen(file) != link->file.len)
        err = fail(DREP_ERR_FORMAT, "the file name of an external link contains a NUL (R1.3)");
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
 * NULL: it must not leave. trail: takes the objects that hard links lead to, from the root on; may
 * be NULL. Soft links are limited in number, since they may lead in circles. */
static int walk_trail(drep_file *f, const char *path, uint64_t *id, struct crossing *x,
                      struct worklist *trail)
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
            err = trail ? worklist_add(trail, at) : 0;
        } else if (link.kind == FMT_EXTERNAL && x) {
            err = cross(&link, p, x);
            tree_peeked(&peek);
            break;
        } else if (link.kind == FMT_EXTERNAL) {
            err = fail_object(
                DREP_ERR_UNSUPPORTED_OPERATION, path, "%s: leads to another file, \"%.*s\"%s", path,
                (int)link.file.len, (const char *)link.file.p,
                f->linked.follow ? "" : "; the hint drep_external makes reading follow it");
        } else if (++soft > SOFT_MAX) {
            err = fail_object(DREP_ERR_LIMIT, path, "%s: more than %d soft links", path, SOFT_MAX);
        } else {
            err = splice(&link.path, p, &own);
            p = own;
            if (!err && *p == '/') {
                at = FMT_OBJECT_ROOT;
                if (trail)
                    trail->n = 0;
            }
        }
        tree_peeked(&peek);
    }
    mem_free(own);
    if (!err)
        *id = at;
    return err;
}

static int walk_path(drep_file *f, const char *path, uint64_t *id, struct crossing *x)
{
    return walk_trail(f, path, id, x, NULL);
}

int path_trail(drep_file *f, const char *path, struct worklist *trail)
{
    const char *slash = strrchr(path, '/');
    char *parent = mem_strndup(path, slash ? (size_t)(slash - path) : 0);
    uint64_t at = FMT_OBJECT_ROOT;
    int err = parent ? walk_trail(f, parent, &at, NULL, trail) : fail_nomem();

    mem_free(parent);
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

bool path_dimension(const char *path, size_t *group, const char **name, bool *only)
{
    const char *slash = strrchr(path, '/'), *last = !slash ? path : slash + 1;
    const char *mark = strchr(last, '#');

    if (!mark || mark[1] == '\0')
        return false;
    *group = (size_t)(mark - path);
    *name = mark + 1;
    *only = mark == last && last - path >= 2 && last[-2] == '/';
    return true;
}

/* Walk to the group of an address. */
static int dimension_group(drep_file *f, const char *path, size_t len, uint64_t *id)
{
    char *group = mem_strndup(path, len);
    int err = !group ? fail_nomem() : 0;

    *id = FMT_OBJECT_ROOT;
    if (!err)
        err = walk_path(f, group, id, NULL);
    mem_free(group);
    return err;
}

int path_dimension_parent(drep_file *f, const char *path, uint64_t *group, const char **name)
{
    struct object_head head;
    size_t len;
    bool only;
    int err;

    if (!path)
        return fail(DREP_ERR_ARG, "no path");
    if (!path_dimension(path, &len, name, &only))
        return fail_object(DREP_ERR_NAME, path, "%s: not the address of a dimension, GROUP#NAME",
                           path);
    if ((err = dimension_group(f, path, len, group)))
        return err;
    err = head_load(f, *group, &head);
    if (!err && head.kind != FMT_GROUP)
        err = fail_object(DREP_ERR_KIND, path, "%s: only groups have dimensions", path);
    return err;
}

/* The dimension at an address; DREP_ERR_NOT_FOUND also if the path is none. */
static int dimension_at(drep_file *f, const char *path, uint64_t *id)
{
    struct dim_rec rec;
    const char *name;
    uint64_t group;
    size_t len;
    bool only;
    int err;

    if (!path_dimension(path, &len, &name, &only))
        return DREP_ERR_NOT_FOUND;
    err = dimension_group(f, path, len, &group);
    if (!err)
        err = dim_entry_find(f, group, name, strlen(name), &rec);
    if (err == DREP_ERR_NOT_FOUND || err == DREP_ERR_NAME)
        return fail_object(DREP_ERR_NOT_FOUND, path, "%s: no dimension \"%s\"", path, name);
    if (!err)
        *id = rec.object;
    return err;
}

int path_dimension_address(drep_file *f, const char *group, const char *name, uint64_t id,
                           char **path)
{
    static const char *const marks[] = {"#", "/#", "//#"};
    size_t len = strlen(group), n = strlen(name);
    char *s = mem_alloc(len + n + 5);
    int err = DREP_ERR_NOT_FOUND;

    if (!s)
        return fail_nomem();
    while (len > 0 && group[len - 1] == '/')
        len--;
    for (size_t i = len == 0 ? 1 : 0; err && i < sizeof marks / sizeof *marks; i++) {
        size_t mark = strlen(marks[i]);
        uint64_t there = 0;

        memcpy(s, group, len);
        memcpy(s + len, marks[i], mark);
        memcpy(s + len + mark, name, n + 1);
        err = path_id(f, s, &there);
        if (!err && there != id)
            err = DREP_ERR_NOT_FOUND;
        if (err == DREP_ERR_UNSUPPORTED && id == 0)
            err = 0;
        if (err && err != DREP_ERR_NOT_FOUND)
            break;
    }
    if (err) {
        mem_free(s);
        return err;
    }
    *path = s;
    return 0;
}

/* The cache may know the object, or the group of its last name. When a shorter walk fails, the
 * whole path is walked, so that the message is about what the caller gave. */
int path_id(drep_file *f, const char *path, uint64_t *id)
{
    const char *slash = !path ? NULL : strrchr(path, '/');
    size_t parent = !slash ? 0 : (size_t)(slash - path);
    const char *name;
    uint64_t at, group;
    size_t len;
    bool address, only = false;
    int err = -1;

    if (!path)
        return fail(DREP_ERR_ARG, "no path");
    at = paths_find(f, path, parent, &group);
    if (at != 0) {
        *id = at;
        return 0;
    }
    address = path_dimension(path, &len, &name, &only);
    if (only) {
        err = DREP_ERR_NOT_FOUND;
    } else if (group != 0 || group_learn(f, path, parent, &group)) {
        at = group;
        err = walk_path(f, slash, &at, NULL);
    }
    /* What is wrong is said of the whole path. */
    if (err && !only) {
        at = FMT_OBJECT_ROOT;
        err = walk_path(f, path, &at, NULL);
    }
    if (address && (only || err == DREP_ERR_NOT_FOUND))
        err = dimension_at(f, path, &at);
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
    const char *name;
    size_t len;
    bool only;
    int err;

    *x = (struct crossing){NULL, NULL};
    err = walk_path(f, path, &id, x);
    if (err == DREP_ERR_NOT_FOUND && path_dimension(path, &len, &name, &only)) {
        /* "a#b" in the file that a leads to is "a", then "/#b". */
        char *parted = mem_alloc(strlen(path) + 2);

        if (!parted)
            return fail_nomem();
        memcpy(parted, path, len);
        parted[len] = '/';
        strcpy(parted + len + 1, path + len);
        id = FMT_OBJECT_ROOT;
        err = walk_path(f, parted, &id, x);
        mem_free(parted);
    }
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

    if (err == DREP_ERR_NOT_FOUND)
        fail_unname(part);
    if (err == DREP_ERR_NOT_FOUND && parents)
        err = make_group(f, *group, part, &at);
    if (!err)
        err = head_load(f, at, &head);
    if (!err && head.kind != FMT_GROUP)
        err = fail_object(DREP_ERR_KIND, path, "%s: \"%s\" is not a group", path, part);
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
            return fail_object(DREP_ERR_NAME, path, "%s: \"%s\" cannot name a new object", path,
                               path);
        if (*rest == '\0') {
            *name = p;
            return 0;
        }
        next_name(&rest);
        if (n > FMT_NAME_MAX || *rest == '\0')
            return fail_object(DREP_ERR_NAME, path, "%s: \"%s\" is not a valid path", path, path);
        memcpy(part, p, n);
        part[n] = '\0';
        err = step_down(f, path, part, parents, group);
        p = rest;
    }
    return fail_about(fail_in(err, "%s", path), path);
}
