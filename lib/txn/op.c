/* op.c - all or nothing for one operation.
 *
 * The order of taking back matters: open runs and cache entries first, because they lie above the
 * tree; then the tree's entries and overwritten payload, from the last note to the first; space
 * at last, when nothing refers to what the operation allocated.  If replaying itself fails
 * (memory, I/O), the handle refuses to write: the last commit is untouched. */
/* SPDX-License-Identifier: MIT */
#include "txn/op.h"

#include "base/error.h"
#include "chunk/cache.h"
#include "chunk/run.h"
#include "tree/edit.h"
#include "tree/touched.h"
#include "tree/undo.h"
#include "tree/walk.h"
#include "txn/free.h"

int store_op_begin(struct store *st)
{
    int err = store_may_write(st);

    if (err)
        return err;
    if (store_op_active(st))
        return fail(DREP_ERR_ARG, "an operation is under way");
    err = free_begin(st);
    if (err)
        return err;
    st->space->op.active = true;
    undo_begin(st);
    cache_op_begin(st->cache);
    return 0;
}

static int undo_entries(struct store *st)
{
    struct undo_entry e;
    int err = 0;

    while (!err && !(err = undo_last(st, &e))) {
        if (e.there)
            err = tree_put_raw(st, e.key, e.key_len, e.value, e.value_len);
        else
            err = tree_del_raw(st, e.key, e.key_len);
        if (err == DREP_ERR_NOT_FOUND)
            err = 0; /* noted, but then the change failed */
    }
    return err == DREP_ERR_NOT_FOUND ? 0 : err;
}

/* Delete the entries of the objects that the operation made, in one space of keys. */
static int undo_objects_in(struct store *st, uint8_t space)
{
    struct tree_walk w;
    struct key key;
    int err = 0;

    key_make_in(&key, space, st->undo->next_object, 0);
    tree_walk(&w, st, &key, 1);
    while (!err && !(err = tree_next(&w, &key, NULL))) {
        if (!undo_is_new(st, key.p))
            break;
        err = tree_del_raw(st, key.p, key.len);
    }
    return err == DREP_ERR_NOT_FOUND ? 0 : err;
}

static int undo_objects(struct store *st)
{
    uint8_t space;
    int err = 0;

    if (st->next_object == st->undo->next_object)
        return 0;
    for (unsigned from = 0; !err && !(err = tree_space(st, from, &space)); from = space + 1u)
        err = undo_objects_in(st, space);
    return err == DREP_ERR_NOT_FOUND ? 0 : err;
}

static int take_back(struct store *st)
{
    int err;

    runs_op_undo(st);
    cache_op_undo(st->cache);
    err = undo_entries(st);
    if (!err)
        err = undo_objects(st);
    if (!err)
        err = undo_images(st);
    touched_op_end(st, false);
    space_op_undo(st);
    chunk_cache_clear(st->cache);
    st->next_object = st->undo->next_object;
    st->next_type = st->undo->next_type;
    st->dirty = st->undo->dirty;
    if (err)
        st->failed = "a failed operation could not be undone";
    return err;
}

int store_op_end(struct store *st, int keep)
{
    int err = 0;

    if (!store_op_active(st))
        return fail(DREP_ERR_ARG, "no operation is under way");
    if (keep)
        err = runs_op_end(st);
    if (keep && !err) {
        cache_op_end(st->cache);
        touched_op_end(st, true);
        space_op_commit(st);
    } else {
        int failed = take_back(st);

        err = err ? err : failed;
    }
    undo_end(st);
    /* Between operations, as the entries of freed space stay when the next one is taken back. */
    if (st->space->freed.n >= st->space->freed_max)
        free_relieve(st);
    return err;
}
