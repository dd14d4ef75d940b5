/* calls.c - reads and writes of elements, as programs call them. */
/* SPDX-License-Identifier: MIT */
#include "base/handle.h"
#include "base/sized.h"
#include "elem/collective.h"
#include "elem/marks.h"
#include "elem/overlay.h"
#include "elem/pending.h"
#include "elem/shared.h"
#include "file/ranks.h"

#include <string.h>

/* The box in a dataset of this shape; NULL: from the first, up to the last. */
static int box_of(const drep_dataset *ds, const int64_t *start, const int64_t *count,
                  struct drep_selection *box)
{
    int rank = ds->rec.rank;

    if (rank == FMT_RANK_NULL)
        return fail(DREP_ERR_RANGE, "a box in the null dataspace");
    memset(box, 0, sizeof *box);
    box->rank = rank;
    box->count = 1;
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

/* A call of a program: its elements are those of `sel`, or if `box` those of the box. */
struct wanted {
    const char *call;
    drep_dataset *ds;
    const drep_selection *sel;
    bool box;
    const int64_t *start, *count;
    const drep_type *type;
    void *buf;
};

/* Makes the selection of a box; the lock is held, so that the shape stays. */
static int select_wanted(struct wanted *w, struct drep_selection *room)
{
    int err;

    if (!w->box)
        return w->sel ? selection_alive(w->sel, w->call) : 0;
    if ((err = dataset_alive(w->ds)) || (err = box_of(w->ds, w->start, w->count, room)))
        return fail_dataset(err, w->ds->path);
    w->sel = room;
    return 0;
}

/* True if all ranks make this call. */
static int is_together(const struct wanted *w, const struct xfer *x)
{
    return x->use && x->use->collective && file_shared(w->ds->file);
}

/* A call with no dataset that all ranks make: the others must not wait for this one. */
static int refuse(const struct wanted *w, const drep_xfer *xfer, int err)
{
    struct fail_state why;
    struct xfer x;

    if (w->ds && handle_is(w->ds, HANDLE_DATASET))
        return err;
    fail_save(&why);
    (void)xfer_begin(&x, xfer, w->call);
    fail_restore(&why);
    return x.use && x.use->collective ? ranks_refuse(w->call, COLLECTIVE_ARGS, err) : err;
}

static int read_wanted(struct wanted *w, const drep_xfer *xfer)
{
    struct drep_selection room;
    struct xfer x;
    bool together, alone;
    int err, begun;

    if ((err = dataset_check(w->ds, w->call)))
        return refuse(w, xfer, err);
    err = xfer_begin(&x, xfer, w->call);
    together = is_together(w, &x);
    if (err && !together)
        return err;
    alone = together && store_writable(w->ds->file->st); /* a merge may come first */
    if (!err)
        err = alone ? change_begin(w->ds->file) : read_begin(w->ds->file);
    begun = !err;
    if (!err)
        err = select_wanted(w, &room);
    if (!err && file_shared(w->ds->file) && pending_has(w->ds) && !together)
        err = fail_dataset(pending_read(w->ds, w->sel, w->type, w->buf, x.use), w->ds->path);
    else if (together)
        err = collective_read(w->ds, w->sel, w->type, w->buf, x.use, w->call, alone && begun, err);
    else if (!err)
        err = fail_dataset(dataset_read(w->ds, w->sel, w->type, w->buf, x.use), w->ds->path);
    return xfer_end(&x, begun ? read_end(w->ds->file, err) : err);
}

static int write_wanted(struct wanted *w, const drep_xfer *xfer)
{
    struct drep_selection room;
    struct xfer x;
    bool together;
    int err, begun;

    if ((err = dataset_check(w->ds, w->call)))
        return refuse(w, xfer, err);
    err = xfer_begin(&x, xfer, w->call);
    together = is_together(w, &x);
    if (err && !together)
        return err;
    if (!err)
        err = write_begin(w->ds->file);
    begun = !err;
    if (!err)
        err = select_wanted(w, &room);
    if (!err)
        err = fail_dataset(shared_refs(w->ds, w->sel, w->type, w->buf), w->ds->path);
    if (together)
        err = collective_write(w->ds, w->sel, w->type, w->buf, x.use, w->call, err);
    else if (!err && file_shared(w->ds->file) && w->ds->rec.layout != FMT_COMPACT)
        err = fail_dataset(pending_add(w->ds, w->sel, w->type, w->buf, x.use), w->ds->path);
    else if (!err && file_shared(w->ds->file))
        err = marks_write(w->ds, w->sel, w->type, w->buf, x.use);
    else if (!err)
        err = dataset_write(w->ds, w->sel, w->type, w->buf, x.use, false);
    return xfer_end(&x, begun ? write_end(w->ds->file, err) : err);
}

int drep_read(drep_dataset *dataset, const drep_selection *sel, const drep_type *type, void *buf,
              const drep_xfer *xfer)
{
    struct wanted w = {.call = "drep_read", .ds = dataset, .sel = sel, .type = type, .buf = buf};

    return read_wanted(&w, xfer);
}

int drep_write(drep_dataset *dataset, const drep_selection *sel, const drep_type *type,
               const void *buf, const drep_xfer *xfer)
{
    struct wanted w = {.call = "drep_write",
                       .ds = dataset,
                       .sel = sel,
                       .type = type,
                       .buf = (void *)(uintptr_t)buf};

    return write_wanted(&w, xfer);
}

int drep_read_box(drep_dataset *dataset, const int64_t *start, const int64_t *count,
                  const drep_type *type, void *buf, const drep_xfer *xfer)
{
    struct wanted w = {.call = "drep_read_box",
                       .ds = dataset,
                       .box = true,
                       .start = start,
                       .count = count,
                       .type = type,
                       .buf = buf};

    return read_wanted(&w, xfer);
}

int drep_write_box(drep_dataset *dataset, const int64_t *start, const int64_t *count,
                   const drep_type *type, const void *buf, const drep_xfer *xfer)
{
    struct wanted w = {.call = "drep_write_box",
                       .ds = dataset,
                       .box = true,
                       .start = start,
                       .count = count,
                       .type = type,
                       .buf = (void *)(uintptr_t)buf};

    return write_wanted(&w, xfer);
}
