/* readv.c - many small values in one call: no handles, one lock, one commit. */
/* SPDX-License-Identifier: MIT */
#include "base/sized.h"
#include "elem/transfer.h"
#include "name/attr.h"
#include "name/external.h"
#include "name/path.h"

static int selected_read(drep_dataset *ds, const drep_item *item, const drep_xfer *xfer)
{
    int rank = ds->rec.rank == FMT_RANK_NULL ? 0 : ds->rec.rank;
    int64_t dims[DREP_MAX_RANK];
    drep_selection *sel = NULL;
    int err = 0;

    for (int d = 0; d < rank; d++)
        dims[d] = (int64_t)ds->rec.len[d];
    if (item->select)
        err = drep_select_parse(item->select, rank, dims, &sel);
    if (!err)
        err = dataset_read(ds, sel, item->type, item->buf, xfer);
    drep_selection_free(sel);
    return err;
}

static int data_item_read(drep_file *f, const drep_item *item, const drep_xfer *xfer)
{
    struct object_head head;
    drep_dataset *ds;
    uint64_t id;
    int err = path_id(f, item->path, &id);

    if (!err)
        err = dataset_get(f, id, item->path, &ds);
    if (err == DREP_ERR_KIND && head_load(f, id, &head) == 0)
        err = fail(DREP_ERR_KIND, "%s: not a dataset", item->path);
    if (err)
        return err;
    err = selected_read(ds, item, xfer);
    dataset_put(ds);
    return fail_dataset(err, item->path);
}

static int item_read(drep_file *f, const drep_item *item, const drep_xfer *xfer)
{
    drep_xfer own = !xfer ? DREP_XFER() : *xfer;

    if (!item->path)
        return fail(DREP_ERR_ARG, "an item without a path");
    own.buf_size = item->buf_size;
    if (!item->attr)
        return data_item_read(f, item, &own);
    if (item->select)
        return fail(DREP_ERR_ARG, "%s: attribute \"%s\": no part of an attribute can be selected",
                    item->path, item->attr);
    return attr_load(f, item->path, item->attr, item->type, item->buf, &own);
}

/* Reads items of this file and keeps the first error with its message. */
static int items_read(drep_file *file, drep_item *items, int n, const drep_xfer *xfer)
{
    struct fail_state message;
    int first = 0, err = read_begin(file);

    if (err)
        return err;
    for (int i = 0; i < n; i++) {
        items[i].err = item_read(file, &items[i], xfer);
        if (items[i].err && !first) {
            first = items[i].err;
            fail_save(&message);
        }
    }
    if (first)
        fail_restore(&message);
    return read_end(file, first);
}

/* Reads one item, which may be in another file. */
static int item_follow(drep_file *file, drep_item *item, const drep_xfer *xfer)
{
    struct external_target to;
    drep_item there = *item;
    int err = external_target(file, item->path, &to);

    if (!err && to.file) {
        there.path = to.path;
        err = external_done(&to, items_read(to.file, &there, 1, xfer));
    } else if (!err) {
        err = items_read(file, &there, 1, xfer);
    }
    return item->err = err;
}

/* Where paths may lead to other files each item is a call of its own. */
static int items_follow(drep_file *file, drep_item *items, int n, const drep_xfer *xfer)
{
    struct fail_state message;
    int first = 0;

    for (int i = 0; i < n; i++)
        if (item_follow(file, &items[i], xfer) && !first) {
            first = items[i].err;
            fail_save(&message);
        }
    if (first)
        fail_restore(&message);
    return first;
}

int drep_readv(drep_file *file, drep_item *items, int n, const drep_xfer *xfer)
{
    struct xfer x;
    int err;

    if ((err = file_check(file)) || (err = xfer_begin(&x, xfer, "drep_readv")))
        return err;
    if (n < 0)
        return fail(DREP_ERR_COUNT, "drep_readv: %d items", n);
    if (n > 0 && !items)
        return fail(DREP_ERR_ARG, "drep_readv: null argument");
    err = file->linked.follow ? items_follow(file, items, n, x.use)
                              : items_read(file, items, n, x.use);
    x.report.first_overflow = x.report.first_inexact = x.report.first_nan_lost = -1;
    return xfer_end(&x, err);
}
