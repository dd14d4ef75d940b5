/* objects.c - the calls that make groups and named datatypes and describe objects. */
/* SPDX-License-Identifier: MIT */
#include "base/error.h"
#include "base/sized.h"
#include "name/attr.h"
#include "name/external.h"
#include "name/link.h"
#include "name/path.h"

#include <string.h>

int drep_stat(drep_file *file, const char *path, drep_objinfo *out)
{
    struct stored_object o; /* long: only what is looked at is set */
    struct object_head head;
    int64_t attrs = 0;
    uint64_t id = 0;
    struct external_target to;
    drep_objinfo is;
    int err = sized_check(SIZED_drep_objinfo, out, "drep_stat");
    bool beyond = false;

    if (err || (err = external_target(file, path, &to)))
        return err;
    if (to.file)
        return external_done(&to, drep_stat(to.file, to.path, out));
    if ((err = read_begin(file)))
        return err;
    o.bytes = (struct buf){0};
    o.rec.kind = 0;
    err = path_id(file, path, &id);
    if (!err)
        err = head_load(file, id, &head);
    if (!err && head.kind != FMT_LATER) {
        err = object_load(file, id, &o);
        beyond = err == DREP_ERR_UNSUPPORTED && head.kind != FMT_DATASET;
        if (err == DREP_ERR_UNSUPPORTED) /* a later layout, or beyond a limit */
            err = 0;
    }
    if (!err)
        err = attrs_count(file, id, &attrs);
    if (!err) {
        is = DREP_OBJINFO;
        is.kind = head.kind == FMT_LATER || beyond ? DREP_OBJ_UNKNOWN : head.kind;
        is.id = id;
        is.links = head.links;
        is.attrs = attrs;
        is.number = head.kind == FMT_LATER ? head.number : beyond ? -1 : 0;
        is.flags = head.kind == FMT_LATER ? head.flags : 0;
        if (o.rec.kind == FMT_GROUP)
            is.members = (int64_t)o.rec.members;
        if (o.rec.kind == FMT_DIMENSION) {
            is.len = (int64_t)o.rec.len[0];
            is.unlimited = o.rec.unlimited;
        }
        sized_put(SIZED_drep_objinfo, &is, out);
    }
    object_release(&o);
    return read_end(file, err);
}

/* What the head of an object says: a newer version may have written the rest. */
static int head_kind(drep_file *file, const char *path, int *kind)
{
    struct object_head head = {.kind = 0};
    uint64_t id = 0;
    int err = path_id(file, path, &id);

    if (!err)
        err = head_load(file, id, &head);
    if (!err)
        *kind = head.kind == FMT_LATER ? DREP_OBJ_UNKNOWN : head.kind;
    return err;
}

/* Runs in the file that the path leads to. */
static int kind_at(drep_file *file, const char *path, int *kind)
{
    int err = read_begin(file);

    return err ? err : read_end(file, head_kind(file, path, kind));
}

int drep_exists(drep_file *file, const char *path, int *kind)
{
    struct fail_state before;
    struct external_target to;
    int found = 0, err;

    fail_save(&before);
    if ((err = external_target(file, path, &to)))
        return err;
    if (!kind)
        err = fail(DREP_ERR_ARG, "drep_exists: null argument");
    else if (to.file)
        err = kind_at(to.file, to.path, &found);
    else
        err = kind_at(file, path, &found);
    if (to.file)
        err = external_done(&to, err);
    if (err == DREP_ERR_NOT_FOUND) /* an answer, no failure */
        err = 0;
    if (err)
        return err;
    fail_restore(&before);
    *kind = found;
    return 0;
}

int drep_group_create(drep_file *file, const char *path, int parents)
{
    struct object_rec rec = {.kind = FMT_GROUP};
    const char *name;
    uint64_t group, id;
    int err = fail_about(write_begin(file), path);

    if (err)
        return err;
    err = path_parent(file, path, parents, &group, &name);
    if (!err)
        err = object_link(file, group, name, &rec, &id);
    return write_end(file, err);
}

int drep_type_commit(drep_file *file, const char *path, const drep_type *type)
{
    struct object_rec rec = {.kind = FMT_TYPE};
    const char *name;
    uint64_t group, id;
    int err = fail_about(write_begin(file), path);

    if (err)
        return err;
    if (!type)
        err = fail(DREP_ERR_ARG, "drep_type_commit: no type");
    if (!err)
        err = path_parent(file, path, 0, &group, &name);
    if (!err)
        err = ftype_use_memory(file, type, &rec.type);
    if (!err)
        err = object_link(file, group, name, &rec, &id);
    return write_end(file, err);
}

int drep_type_open(drep_file *file, const char *path, drep_type **out)
{
    struct stored_object o = {0};
    struct ftype *t;
    struct external_target to;
    int err = external_target(file, path, &to);

    if (err)
        return err;
    if (to.file)
        return external_done(&to, drep_type_open(to.file, to.path, out));
    if ((err = read_begin(file)))
        return err;
    err = !out ? fail(DREP_ERR_ARG, "drep_type_open: null argument") : path_find(file, path, &o);
    if (!err && o.rec.kind != FMT_TYPE)
        err = fail_object(DREP_ERR_KIND, path, "%s: not a named datatype", path);
    if (!err)
        err = ftype_get(file, o.rec.type, NULL, &t);
    if (!err)
        *out = drep_type_ref(t->type);
    object_release(&o);
    return read_end(file, err);
}
