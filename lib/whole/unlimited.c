/* unlimited.c - dimensions that become unlimited, or fixed, with the datasets along them.
 *
 * A dataset grows up to its maxima, so those along the dimension change with it.  Chunks stay where
 * they are in the file: if their records count over the dimension (SPEC.md, R8.18), its maximum
 * cannot change.  Compact elements are metadata, and are moved into one chunk. */
/* SPDX-License-Identifier: MIT */
#include "whole/unlimited.h"

#include "base/error.h"
#include "base/mem.h"
#include "base/vec.h"
#include "chunk/each.h"
#include "chunk/run_order.h"
#include "chunk/write.h"
#include "elem/create.h"
#include "elem/payload.h"
#include "file/team.h"
#include "name/dimension.h"
#include "name/find.h"
#include "tree/edit.h"
#include "tree/find.h"
#include "tree/journal.h"
#include "txn/writeback.h"
#include "whole/resize.h"

#include <datarep.h>
#include <stdio.h>
#include <string.h>

/* ---- what the record becomes ---- */

/* Set the maxima along the dimension; true if one of them changes. */
static bool set_maxima(struct object_rec *rec, uint64_t dim, bool unlimited)
{
    bool changed = false;

    if (!rec->has_dims || rec->rank == FMT_RANK_NULL)
        return false;
    rec->has_max = 0;
    for (int d = 0; d < rec->rank; d++) {
        uint64_t max = unlimited ? FMT_UNLIMITED : rec->len[d];

        if (rec->dim[d] == dim) {
            changed |= rec->max[d] != max;
            rec->max[d] = max;
        }
        rec->has_max |= rec->max[d] != rec->len[d];
    }
    return changed;
}

/* The last dimension that may grow; -1: none. */
static int last_growing(const struct object_rec *rec)
{
    int d = rec->rank - 1;

    while (d >= 0 && rec->max[d] == rec->len[d])
        d--;
    return d;
}

static int refuse_row(const uint64_t *coord, const struct chunk_rec *rec, void *ctx)
{
    (void)coord;
    (void)ctx;
    return rec->kind == FMT_CHUNK_PLAIN
               ? 0
               : fail(DREP_ERR_UNSUPPORTED_OPERATION,
                      "its chunks, filtered or in other files, are counted over this dimension; "
                      "`datarep convert --filters=none` makes a copy that can change");
}

/* Plain chunks alone do not mind another order of rows. */
static int plan_chunked(drep_dataset *ds, struct object_rec *rec)
{
    int err;

    if (run_order_kept(&ds->rec, rec->max))
        return 0;
    rec->suffix = run_order_suffix(rec->rank, rec->max, rec->chunk);
    err = writeback_all(ds->file->st, ds->id);
    return err ? err : chunk_each(&ds->chunks, refuse_row, NULL);
}

/* The one chunk has the elements as they stand in the tree.  Where only the first dimension grows
 * it may be longer than they are, unless there are variable parts (R8.9). */
static int plan_compact(const drep_dataset *ds, struct object_rec *rec)
{
    int growing = last_growing(rec);

    if (growing < 0)
        return 0;
    if (file_shared(ds->file))
        return fail(DREP_ERR_UNSUPPORTED_OPERATION,
                    "compact datasets cannot grow, and %d ranks share the file",
                    ds->file->team->size);
    rec->layout = FMT_CHUNKED;
    if (bytes_of(ds, dataset_count(ds)) == 0 || (growing == 0 && !ds->ft->type->variable))
        chunk_choose(rec, ds->esize, FMT_COMPACT_MAX);
    else
        for (int d = 0; d < rec->rank; d++)
            rec->chunk[d] = (uint32_t)rec->len[d];
    rec->suffix = run_order_suffix(rec->rank, rec->max, rec->chunk);
    return 0;
}

static int plan_contiguous(const struct object_rec *rec)
{
    return last_growing(rec) <= 0
               ? 0
               : fail(DREP_ERR_UNSUPPORTED_OPERATION,
                      "contiguous datasets grow along their first dimension only; `datarep convert "
                      "--chunk=...` makes a copy in chunks");
}

static int plan_record(drep_dataset *ds, struct object_rec *rec)
{
    int err;

    switch (rec->layout) {
    case FMT_CHUNKED:
        err = plan_chunked(ds, rec);
        break;
    case FMT_CONTIGUOUS:
        err = plan_contiguous(rec);
        break;
    default:
        err = plan_compact(ds, rec);
    }
    rec->changed = store_next_sequence(ds->file->st);
    return err ? err : shape_wanted(rec, ds->ft);
}

/* ---- the datasets ---- */

/* Put the path of a dataset in front of a message. */
static int fail_along(drep_file *f, uint64_t id, int err)
{
    struct fail_state why;
    char *path = NULL;

    if (!err)
        return 0;
    fail_save(&why);
    if (object_path(f, id, &path))
        path = NULL;
    fail_restore(&why);
    if (path)
        err = fail_dataset(err, path);
    mem_free(path);
    return err;
}

/* Add a dataset to the list, if it changes. */
static int plan_along(drep_file *f, uint64_t id, uint64_t dim, bool unlimited, struct limited *l)
{
    struct limited_dataset at = {.ds = NULL};
    char name[40];
    int err;

    snprintf(name, sizeof name, "object %llu", (unsigned long long)id);
    if ((err = dataset_get(f, id, name, &at.ds)))
        return err;
    err = object_load(f, id, &at.o);
    if (!err && set_maxima(&at.o.rec, dim, unlimited)) {
        err = plan_record(at.ds, &at.o.rec);
        if (!err && VEC_ROOM(l->p, l->n, l->room, 1) != 0)
            err = fail_nomem();
        if (!err) {
            l->p[l->n++] = at;
            return 0;
        }
    }
    object_release(&at.o);
    dataset_put(at.ds);
    return fail_along(f, id, err);
}

/* Move the elements of a compact dataset into the chunk that its record will have. */
static int move_compact(drep_dataset *ds, const struct object_rec *rec)
{
    const uint64_t first[DREP_MAX_RANK] = {0};
    struct buf b = {0};
    struct chunks cs;
    struct key key;
    size_t fixed;
    int err;

    key_make(&key, ds->id, FMT_TAG_DATA);
    err = tree_get(ds->file->st, &key, NULL);
    if (err)
        return err == DREP_ERR_NOT_FOUND ? 0 : err;
    err = compact_load(ds, &b, &fixed);
    if (!err)
        err = tree_del(ds->file->st, &key);
    memset(&cs, 0, sizeof cs);
    chunks_of(ds->file, ds->id, rec, ds->esize, ds->ft->type->variable, ds->path, &cs);
    if (!err && b.len > 0)
        err = chunk_write(&cs, first, 1, b.p, b.len);
    buf_release(&b);
    return err;
}

static int store_along(drep_file *f, const struct limited_dataset *at)
{
    int err = 0;

    if (at->ds->rec.layout != at->o.rec.layout)
        err = move_compact(at->ds, &at->o.rec);
    if (!err)
        err = object_store(f, at->ds->id, &at->o.rec);
    return fail_along(f, at->ds->id, err);
}

/* Nothing is stored before every dataset is known to agree. */
static int limit_datasets(drep_file *f, uint64_t dim, bool unlimited, const struct idset *except,
                          struct limited *l)
{
    struct worklist users = {0};
    int err = dimension_users(f, dim, &users);

    for (size_t i = 0; !err && i < users.n; i++)
        if (!except || !idset_find(except, users.id[i]))
            err = plan_along(f, users.id[i], dim, unlimited, l);
    for (size_t i = 0; !err && i < l->n; i++)
        err = store_along(f, &l->p[i]);
    mem_free(users.id);
    return err;
}

int dimension_limit(drep_file *f, uint64_t id, bool unlimited, const struct idset *except,
                    struct limited *l)
{
    struct stored_object dim = {0};
    int err = object_load(f, id, &dim);

    if (!err && dim.rec.kind != FMT_DIMENSION)
        err = fail(DREP_ERR_KIND, "object %llu is not a dimension", (unsigned long long)id);
    if (!err)
        err = limit_datasets(f, id, unlimited, except, l);
    if (!err && dim.rec.unlimited != unlimited) {
        dim.rec.unlimited = unlimited;
        err = object_store(f, id, &dim.rec);
    }
    object_release(&dim);
    return err;
}

void limited_exchange(struct limited *l)
{
    for (size_t i = 0; i < l->n; i++) {
        shape_exchange(l->p[i].ds, &l->p[i].o);
        dataset_chunks(l->p[i].ds);
    }
}

void limited_release(struct limited *l)
{
    for (size_t i = 0; i < l->n; i++) {
        object_release(&l->p[i].o);
        dataset_put(l->p[i].ds);
    }
    mem_free(l->p);
}

/* ---- the call ---- */

int drep_dimension_set_unlimited(drep_file *file, const char *path, int unlimited)
{
    struct limited l = {0};
    struct dim_rec rec;
    const char *name;
    uint64_t group;
    int err = fail_about(write_begin(file), path);

    if (err)
        return err;
    err = dimension_entry(file, path, &group, &name, &rec);
    if (!err)
        err = fail_in(dimension_limit(file, rec.object, unlimited != 0, NULL, &l), "%s", path);
    err = operation_end(file, err);
    if (!err)
        limited_exchange(&l);
    limited_release(&l);
    return operation_done(file, err);
}
