/* calls.c - reads and writes of elements, as programs call them. */
/* SPDX-License-Identifier: MIT */
#include "base/handle.h"
#include "base/sized.h"
#include "elem/access.h"
#include "elem/transfer.h"
#include "file/team.h"

/* The box in a dataset of this shape; NULL: from the first, up to the last. */
static int box_of(const drep_dataset *ds, const int64_t *start, const int64_t *count,
                  struct drep_selection *box)
{
    int rank = ds->rec.rank;

    if (rank == FMT_RANK_NULL)
        return fail(DREP_ERR_RANGE, "a box in the null dataspace");
    selection_begin(box, rank);
    for (int d = 0; d < rank; d++) {
        int64_t from = !start ? 0 : start[d], len = (int64_t)ds->rec.len[d];
        int64_t n = count ? count[d] : from < len ? len - from : 0;

        if (from < 0 || n < 0 || from > len || n > len - from)
            return fail(DREP_ERR_RANGE,
                        "box: %lld elements from index %lld on in dimension %d, whose length is "
                        "%lld",
                        (long long)n, (long long)from, d, (long long)len);
        box->dim[d] = (struct span_dim){from, 1, 1, n};
        box->count *= n;
    }
    return 0;
}

int access_select(struct access *a)
{
    int err;

    if (!a->box)
        return a->sel ? selection_alive(a->sel, a->call) : 0;
    if ((err = dataset_alive(a->ds)) || (err = box_of(a->ds, a->start, a->count, a->room)))
        return fail_dataset(err, a->ds->path);
    a->sel = a->room;
    return 0;
}

/* End a call that failed before it had a valid dataset, and so no file and no lock.  If all ranks
 * make it, the others are told, as they would wait for this one.  Returns err, with its message. */
static int refuse(const struct access *a, const drep_xfer *xfer, int err)
{
    struct fail_state why;
    struct xfer x;

    if (a->ds && handle_is(a->ds, HANDLE_DATASET))
        return err;
    fail_save(&why);
    (void)xfer_begin(&x, xfer, a->call);
    fail_restore(&why);
    return x.use && x.use->collective ? team_refuse(a->call, true, err) : err;
}

/* One way for reads and writes.  Ranks that share the file make the whole call another way. */
static int access_run(const struct access *call, const drep_xfer *xfer, bool writes)
{
    struct drep_selection room;
    struct access a = *call;
    struct xfer x;
    drep_file *f;
    int err = dataset_check(a.ds, a.call);

    if (err)
        return refuse(&a, xfer, err);
    f = a.ds->file;
    a.room = &room;
    err = xfer_begin(&x, xfer, a.call);
    if (file_shared(f))
        return xfer_end(&x, (writes ? f->team->ops->write : f->team->ops->read)(&a, x.use, err));
    if (err || (err = writes ? write_begin(f) : read_begin(f)))
        return xfer_end(&x, fail_about(err, a.ds->path));
    err = access_select(&a);
    if (!err && writes)
        err = dataset_write(a.ds, a.sel, a.type, a.buf, x.use, false);
    else if (!err)
        err = fail_dataset(dataset_read(a.ds, a.sel, a.type, a.buf, x.use), a.ds->path);
    return xfer_end(&x, writes ? write_end(f, err) : read_end(f, err));
}

int drep_read(drep_dataset *dataset, const drep_selection *sel, const drep_type *type, void *buf,
              const drep_xfer *xfer)
{
    struct access a = {.call = "drep_read", .ds = dataset, .sel = sel, .type = type, .buf = buf};

    return access_run(&a, xfer, false);
}

int drep_write(drep_dataset *dataset, const drep_selection *sel, const drep_type *type,
               const void *buf, const drep_xfer *xfer)
{
    struct access a = {.call = "drep_write",
                       .ds = dataset,
                       .sel = sel,
                       .type = type,
                       .buf = (void *)(uintptr_t)buf};

    return access_run(&a, xfer, true);
}

int drep_read_box(drep_dataset *dataset, const int64_t *start, const int64_t *count,
                  const drep_type *type, void *buf, const drep_xfer *xfer)
{
    struct access a = {.call = "drep_read_box",
                       .ds = dataset,
                       .box = true,
                       .start = start,
                       .count = count,
                       .type = type,
                       .buf = buf};

    return access_run(&a, xfer, false);
}

int drep_write_box(drep_dataset *dataset, const int64_t *start, const int64_t *count,
                   const drep_type *type, const void *buf, const drep_xfer *xfer)
{
    struct access a = {.call = "drep_write_box",
                       .ds = dataset,
                       .box = true,
                       .start = start,
                       .count = count,
                       .type = type,
                       .buf = (void *)(uintptr_t)buf};

    return access_run(&a, xfer, true);
}
