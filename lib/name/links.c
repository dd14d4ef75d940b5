/* links.c - the calls that make and move links. */
/* SPDX-License-Identifier: MIT */
#include "base/error.h"
#include "base/idset.h"
#include "base/mem.h"
#include "name/link.h"
#include "name/path.h"

#include <datarep.h>
#include <string.h>

int group_reaches(drep_file *f, uint64_t top, uint64_t object, bool *found)
{
    struct worklist work = {0};
    struct idset visited = {0};
    bool first;
    int err = worklist_add(&work, top);

    *found = false;
    while (!err && work.n > 0 && !*found) {
        uint64_t id = work.id[--work.n];
        struct link_walk w;

        *found = id == object;
        if (*found)
            break;
        link_walk_begin(&w, f, id);
        while (!(err = link_walk_hard(&w))) {
            err = idset_mark(&visited, w.link.object, &first);
            if (!err && first)
                err = worklist_add(&work, w.link.object);
            if (err)
                break;
        }
        err = link_walk_end(&w, err);
    }
    idset_release(&visited);
    mem_free(work.id);
    return err;
}

/* True if a link to `top` in the group that is to hold the last name of `path` would close a
 * circle: that group is `top` or below it.  If the groups on the way there have one link each,
 * there is no other way, and what is below `top`, which may be much, is not looked at. */
static int closes_circle(drep_file *f, uint64_t top, const char *path, uint64_t group, bool *circle)
{
    struct worklist trail = {0};
    struct object_head head;
    bool one_way = true;
    int err = path_trail(f, path, &trail);

    *circle = top == group || top == FMT_OBJECT_ROOT;
    for (size_t i = 0; !err && !*circle && one_way && i < trail.n; i++) {
        *circle = trail.id[i] == top;
        err = head_load(f, trail.id[i], &head);
        one_way = err || head.links == 1;
    }
    mem_free(trail.id);
    return err || *circle || one_way ? err : group_reaches(f, top, group, circle);
}

/* Adds a hard link and counts it in the object. */
static int link_hard(drep_file *f, const char *path, uint64_t group, const char *name,
                     uint64_t target)
{
    struct link_rec link = {.kind = FMT_HARD, .object = target};
    struct object_head head;
    struct head_edit e;
    bool circle = false;
    int err = head_load(f, target, &head);

    if (!err && head.kind == FMT_DIMENSION)
        err = fail(DREP_ERR_KIND, "\"%s\": no link leads to a dimension", name);
    if (!err && head.kind == FMT_GROUP)
        err = closes_circle(f, target, path, group, &circle);
    if (!err && circle)
        err = fail(DREP_ERR_ARG, "\"%s\": a group would be its own ancestor", name);
    link.object_kind = err ? 0 : head.number;
    if (!err)
        err = link_add(f, group, name, &link);
    if (!err)
        err = head_edit(f, target, &e);
    if (err)
        return err;
    if (e.h.links == UINT32_MAX)
        return fail(DREP_ERR_LIMIT, "\"%s\": no object has more hard links than 2^32 - 1", name);
    e.h.links++;
    return head_edited(f, &e);
}

int drep_link_hard(drep_file *file, const char *target, const char *path)
{
    uint64_t id, group;
    const char *name;
    int err = fail_about(write_begin(file), path);

    if (err)
        return err;
    err = path_id(file, target, &id);
    if (!err)
        err = path_parent(file, path, 0, &group, &name);
    if (!err)
        err = link_hard(file, path, group, name, id);
    return write_end(file, err);
}

/* Adds a soft or external link; its target need not exist. */
static int link_text(drep_file *file, const char *path, struct link_rec *link)
{
    uint64_t group;
    const char *name;
    int err = fail_about(write_begin(file), path);

    if (err)
        return err;
    if (!link->path.p || (link->kind == FMT_EXTERNAL && !link->file.p))
        err = fail(DREP_ERR_ARG, "a link without a target");
    else if (link->path.len == 0 || link->path.len > UINT16_MAX || link->file.len > UINT16_MAX)
        err = fail(DREP_ERR_NAME, "a link's target of %zu bytes", link->path.len);
    else if (text_check(link->path.p, link->path.len) != 0 ||
             (link->kind == FMT_EXTERNAL &&
              (link->file.len == 0 || text_check(link->file.p, link->file.len) != 0)))
        err = fail(DREP_ERR_NAME, "a link's target is not UTF-8");
    if (!err)
        err = path_parent(file, path, 0, &group, &name);
    if (!err)
        err = link_add(file, group, name, link);
    return write_end(file, err);
}

static struct span span_of(const char *s)
{
    return (struct span){(const uint8_t *)s, !s ? 0 : strlen(s)};
}

int drep_link_soft(drep_file *file, const char *target, const char *path)
{
    struct link_rec link = {.kind = FMT_SOFT, .path = span_of(target)};

    return link_text(file, path, &link);
}

int drep_link_external(drep_file *file, const char *other_file, const char *target,
                       const char *path)
{
    struct link_rec link = {
        .kind = FMT_EXTERNAL, .path = span_of(target), .file = span_of(other_file)};

    return link_text(file, path, &link);
}

/* The object keeps its count of links: one goes and one comes in the same operation. */
static int link_move(drep_file *f, const char *from, const char *to)
{
    const char *old_name, *new_name;
    struct buf bytes = {0};
    struct link_rec link = {.kind = FMT_HARD};
    uint64_t a, b;
    bool circle = false;
    int err = path_parent(f, from, 0, &a, &old_name);

    if (!err) {
        err = link_find(f, a, old_name, strlen(old_name), &link, &bytes);
        if (err == DREP_ERR_NOT_FOUND)
            fail_object(err, from, "%s: no such object", from);
    }
    if (!err)
        err = path_parent(f, to, 0, &b, &new_name);
    if (!err && link.kind == FMT_HARD)
        err = closes_circle(f, link.object, to, b, &circle);
    if (!err && circle)
        err = fail_object(DREP_ERR_ARG, from, "%s: a group cannot move below itself", from);
    if (!err)
        err = link_drop(f, a, old_name);
    if (!err)
        err = link_add(f, b, new_name, &link);
    buf_release(&bytes);
    return err;
}

int drep_link_move(drep_file *file, const char *from, const char *to)
{
    int err = fail_about(write_begin(file), from);

    return err ? err : write_end(file, link_move(file, from, to));
}
