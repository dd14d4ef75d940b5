/* remove.c - removing objects with all that only they hold.
 *
 * An object goes with its last hard link: its attributes, its chunks, its uses of dimensions and of
 * datatypes.  A group takes along the members that nothing else links to. */
/* SPDX-License-Identifier: MIT */
#include "whole/remove.h"

#include "base/error.h"
#include "base/mem.h"
#include "chunk/patch.h"
#include "elem/grid.h"
#include "name/attr.h"
#include "name/dim_entry.h"
#include "name/dimension.h"
#include "name/find.h"
#include "name/link.h"
#include "name/path.h"
#include "tree/edit.h"
#include "tree/walk.h"

#include <datarep.h>
#include <string.h>

/* Takes one hard link from an object, which joins the work when that was its last. */
static int unlink_one(drep_file *f, uint64_t id, struct worklist *w)
{
    struct object_head head;
    struct head_edit e;
    int err = head_load(f, id, &head);

    if (err || head.links <= 1)
        return err ? err : worklist_add(w, id);
    if ((err = head_edit(f, id, &e)))
        return err;
    e.h.links--;
    return head_edited(f, &e);
}

/* Removes every entry whose key begins with the first `prefix` bytes of this one. */
static int drop_entries(drep_file *f, const struct key *first, size_t prefix)
{
    struct tree_walk w;
    struct key key;
    int err;

    tree_walk(&w, f->st, first, prefix);
    while (!(err = tree_next(&w, &key, NULL)))
        if ((err = tree_del(f->st, &key)))
            break;
    return err == DREP_ERR_NOT_FOUND ? 0 : err;
}

static int drop_tag(drep_file *f, uint64_t id, uint8_t tag)
{
    struct key key;

    key_make(&key, id, tag);
    return drop_entries(f, &key, key.len);
}

/* Removes what is left of an object in all spaces of keys, also what only a later version or an
 * application knows. */
static int drop_rest(drep_file *f, uint64_t id)
{
    uint8_t space;
    struct key key;
    int err = 0;

    for (unsigned from = 0; !err && !(err = tree_space(f->st, from, &space)); from = space + 1u) {
        key_make_in(&key, space, id, 0);
        err = drop_entries(f, &key, FMT_KEY_TAG_AT);
    }
    return err == DREP_ERR_NOT_FOUND ? 0 : err;
}

/* The dimensions of a group go with it, also those that datasets elsewhere use. */
static int drop_dimensions(drep_file *f, uint64_t id, struct worklist *work)
{
    struct dim_walk w;
    int err;

    dim_walk_begin(&w, f, id);
    while (!(err = dim_walk_next(&w)))
        if (w.rec.kind != FMT_LATER && (err = worklist_add(work, w.rec.object)))
            break;
    err = dim_walk_end(&w, err);
    return err ? err : drop_tag(f, id, FMT_TAG_DIM);
}

/* The members lose a link each; those without any left are removed later, not here, so that depth
 * does not matter. */
static int drop_members(drep_file *f, uint64_t id, struct worklist *work)
{
    struct link_walk w;
    int err;

    link_walk_begin(&w, f, id);
    while (!(err = link_walk_hard(&w)))
        if ((err = unlink_one(f, w.link.object, work)))
            break;
    err = link_walk_end(&w, err);
    if (!err)
        err = drop_dimensions(f, id, work);
    if (!err)
        err = drop_tag(f, id, FMT_TAG_LINK);
    return err;
}

/* Frees the chunks of a dataset and its entries in dimensions. */
static int drop_dataset(drep_file *f, const struct stored_object *o)
{
    struct chunks cs;
    int err = dimension_uses_remove(f, o->id, &o->rec);

    if (err)
        return err;
    chunks_of(f, o->id, &o->rec, 1, true, "dataset", &cs);
    err = chunk_remove_all(&cs);
    return err ? err : drop_tag(f, o->id, FMT_TAG_DATA);
}

/* Removes one object with all its entries, also those that only a later version knows. */
static int drop_object(drep_file *f, uint64_t id, struct worklist *w)
{
    struct stored_object o = {0};
    int err = object_load(f, id, &o);

    f->op.removals++;
    if (!err && o.rec.kind == FMT_GROUP)
        err = drop_members(f, id, w);
    if (!err && o.rec.kind == FMT_DATASET)
        err = drop_dataset(f, &o);
    if (!err && o.rec.kind == FMT_DIMENSION)
        err = dimension_drop(f, id);
    if (!err && o.rec.kind == FMT_DIMENSION)
        err = drop_tag(f, id, FMT_TAG_USER);
    if (!err && (o.rec.kind == FMT_DATASET || o.rec.kind == FMT_TYPE))
        err = ftype_unuse(f, o.rec.type);
    if (!err)
        err = attrs_remove(f, id);
    if (!err)
        err = drop_rest(f, id);
    object_release(&o);
    return err;
}

static int drop_all(drep_file *f, struct worklist *w, int err)
{
    while (!err && w->n > 0)
        err = drop_object(f, w->id[--w->n], w);
    mem_free(w->id);
    return err;
}

int object_unlink(drep_file *f, uint64_t id)
{
    struct worklist w = {0};

    return drop_all(f, &w, unlink_one(f, id, &w));
}

int object_remove(drep_file *f, uint64_t id)
{
    struct worklist w = {0};

    return drop_all(f, &w, worklist_add(&w, id));
}

int drep_link_remove(drep_file *file, const char *path)
{
    struct buf bytes = {0};
    struct link_rec link = {.kind = FMT_HARD};
    const char *name;
    uint64_t group;
    int err = fail_about(write_begin(file), path);

    if (err)
        return err;
    err = path_parent(file, path, 0, &group, &name);
    if (!err) {
        err = link_find(file, group, name, strlen(name), &link, &bytes);
        if (err == DREP_ERR_NOT_FOUND)
            fail_object(err, path, "%s: no such object", path);
    }
    if (!err)
        err = link_drop(file, group, name);
    if (!err && link.kind == FMT_HARD)
        err = object_unlink(file, link.object);
    buf_release(&bytes);
    return write_end(file, err);
}

/* Refuses to remove a dimension in use; the message names one of its datasets. */
static int dimension_unused(drep_file *f, const char *path, uint64_t id)
{
    char *user = NULL;
    uint64_t dataset;
    int d, err = dimension_used(f, id, &dataset, &d);

    if (err)
        return err == DREP_ERR_NOT_FOUND ? 0 : err;
    err = object_path(f, dataset, &user);
    if (err && err != DREP_ERR_NOT_FOUND)
        return err;
    err = fail_object(DREP_ERR_UNSUPPORTED_OPERATION, path, "%s: in use as dimension %d of \"%s\"",
                      path, d, user ? user : "?");
    mem_free(user);
    return err;
}

int drep_dimension_remove(drep_file *file, const char *path)
{
    struct dim_rec rec = {.object = 0};
    const char *name;
    uint64_t group;
    int err = fail_about(write_begin(file), path);

    if (err)
        return err;
    err = dimension_entry(file, path, &group, &name, &rec);
    if (!err)
        err = dimension_unused(file, path, rec.object);
    if (!err)
        err = dim_entry_drop(file, group, name);
    if (!err)
        err = object_remove(file, rec.object);
    return write_end(file, err);
}
