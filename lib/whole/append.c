/* append.c - adding rows to the end of a dataset.
 *
 * A row is what the dataset has for one index of the dimension that grows.  Small appends wait in
 * memory: the call converts them into the dataset's tail and settles everything that may be refused
 * (range, shape, limits), so that only I/O is left.  The rows go into the file together, as one
 * append in an operation of its own, when the tail is full, and before any other call looks at the
 * file (file/call.c).  Until then the record of the handle, like the store, has the shape without
 * them.  Everything else takes the same way without waiting: rows that are many, of variable
 * length, converted by a user's functions, or not back to back with those before; and the first
 * append through a handle, which clears what another writer may have left outside the shape.
 *
 * If there is no space for rows that wait, they go on waiting, and the call that wanted to look at
 * the file fails.  After any other error they are lost, and the handle says so: it refuses to write
 * from then on, since a commit would have a hole where the caller was told of success.
 *
 * An append that fails stops the dataset: it takes no other until the caller has shown to know of
 * it.  A loop that goes on after a failure would else put the next row where the lost one belongs,
 * and shift this dataset against those beside it. */
/* SPDX-License-Identifier: MIT */
#include "base/advance.h"
#include "base/error.h"
#include "base/mem.h"
#include "base/sized.h"
#include "chunk/filter.h"
#include "elem/fill.h"
#include "elem/transfer.h"
#include "file/team.h"
#include "name/object.h"
#include "txn/writeback.h"
#include "whole/append.h"
#include "whole/resize.h"

#include <stdio.h>
#include <string.h>

#define TAIL_FIRST ((int64_t)4 << 10) /* bytes of a tail's buffer at first, */
#define TAIL_MOST ((int64_t)64 << 10) /* and of one that was full */
#define TAIL_APPEND (TAIL_MOST / 8)   /* bytes of an append that may wait */
#define TAILS_MOST ((uint64_t)16 << 20)

struct tail {
    struct tail *next;
    drep_dataset *ds;   /* a reference, so that the tail outlives the caller's handles */
    int64_t row, size;  /* elements of a row, bytes of it */
    int64_t room, most; /* rows: that the buffer holds, that the shape may have more */
    drep_type *type;    /* of the memory that `conv` converts, a reference; NULL: none yet */
    bool whole;         /* its elements are as many as the dataset's */
    bool gaps;          /* elements have bytes that no item fills: zeros */
    int range;
    struct picked_members members; /* what `type` takes of the dataset's members */
    struct conv conv;
    uint8_t *bytes;
};

/* Where the rows of an append come from: memory of a type, or stored elements. */
struct new_rows {
    int dim;
    int64_t n;
    const drep_type *type;
    const void *buf;
    const drep_xfer *xfer;
    bool stored;
};

/* ---- the one way into the file ---- */

/* The shape with n more along one dimension, and the part that is new. */
static int longer(const drep_dataset *ds, int dim, int64_t n, int64_t *dims,
                  struct drep_selection *new)
{
    int rank = ds->rec.rank == FMT_RANK_NULL ? 0 : ds->rec.rank;

    if (dim < 0 || dim >= rank)
        return fail(DREP_ERR_DIMS, "dimension %d of %d", dim, rank);
    if (n < 0)
        return fail(DREP_ERR_COUNT, "drep_append: n is %lld, which is negative", (long long)n);
    selection_all(new, rank, ds->rec.len);
    for (int d = 0; d < rank; d++)
        dims[d] = (int64_t)ds->rec.len[d];
    if (__builtin_add_overflow(dims[dim], n, &dims[dim]))
        return fail(DREP_ERR_LIMIT, "more than 2^62 elements");
    new->dim[dim].start = (int64_t)ds->rec.len[dim];
    new->dim[dim].n = n;
    new->count = 1;
    for (int d = 0; d < rank; d++)
        if (__builtin_mul_overflow(new->count, new->dim[d].n, &new->count))
            return fail(DREP_ERR_LIMIT, "more than 2^62 elements");
    return 0;
}

static int write_new(drep_dataset *ds, const struct new_rows *rows,
                     const struct drep_selection *new)
{
    uint64_t from[DREP_MAX_RANK], len[DREP_MAX_RANK];

    if (!rows->stored)
        return dataset_write(ds, new, rows->type, rows->buf, rows->xfer, ds->chunks.grows);
    for (int d = 0; d < new->rank; d++) {
        from[d] = (uint64_t) new->dim[d].start;
        len[d] = (uint64_t) new->dim[d].n;
    }
    ds->open.verified = false;
    return dataset_raw_box(ds, from, len, (void *)(uintptr_t)rows->buf, threads_of(ds, new, NULL),
                           APPENDING);
}

/* Grows the dataset and writes its new rows, as one operation. *o keeps what the handle must take
 * back if the operation fails. */
static int append_rows(drep_dataset *ds, const struct new_rows *rows)
{
    int64_t dims[DREP_MAX_RANK];
    struct drep_selection new;
    struct stored_object o = {0};
    bool reshaped = false;
    int err = operation_begin(ds->file), ignored;

    if (err)
        return err;
    err = longer(ds, rows->dim, rows->n, dims, &new);
    if (!err) /* while nothing is changed yet */
        err = writeback_room(&ds->chunks, ds->chunks.payload, 1, &ignored);
    if (!err)
        err = shape_change(ds, dims, &o);
    fail_dataset(err, ds->path);
    if (!err) {
        shape_exchange(ds, &o);
        reshaped = true;
        err = write_new(ds, rows, &new);
    }
    err = operation_end(ds->file, err);
    if (!err)
        ds->trimmed = true;
    else if (reshaped)
        shape_exchange(ds, &o); /* as the file is again */
    object_release(&o);
    return err;
}

/* ---- tails ---- */

static void tail_clear_type(struct tail *t)
{
    drep_type_free(t->type);
    t->type = NULL;
    picked_release(&t->members);
}

/* Takes a tail off the list and frees it, with its rows.  The dataset keeps its reference. */
static void tail_free(struct tail *t)
{
    drep_file *f = t->ds->file;
    struct tail **at = &f->tails.first;

    while (*at != t)
        at = &(*at)->next;
    *at = t->next;
    f->tails.bytes -= (uint64_t)(t->room * t->size);
    t->ds->tail = NULL;
    t->ds->waiting = (struct waiting_rows){0};
    tail_clear_type(t);
    mem_free(t->bytes);
    mem_free(t);
}

void tails_drop(drep_file *f)
{
    while (f->tails.first) {
        drep_dataset *ds = f->tails.first->ds;

        tail_free(f->tails.first);
        dataset_put(ds);
    }
}

/* The rows of a tail could not be written.  Without space they wait until there is some; else the
 * handle refuses to write from now on, also the rows of all other tails. */
static void tail_failed(const struct tail *t, int err)
{
    drep_dataset *ds = t->ds;
    drep_file *f = ds->file;
    long long first = (long long)ds->rec.len[ds->waiting.dim], last = first + ds->waiting.n - 1;
    struct fail_state why;

    fail_in(err, "elements %lld to %lld of dimension %d, appended before", first, last,
            ds->waiting.dim);
    if (err == DREP_ERR_NO_SPACE)
        return;
    snprintf(f->tails.why, sizeof f->tails.why,
             "elements %lld to %lld of dimension %d, appended to dataset \"%s\", could not be "
             "written",
             first, last, ds->waiting.dim, ds->path);
    f->st->failed = f->tails.why;
    fail_save(&why);
    tails_drop(f);
    fail_restore(&why);
}

/* Writes the rows of a tail and ends it. */
static int tail_settle(struct tail *t)
{
    drep_dataset *ds = t->ds;
    struct new_rows rows = {
        .dim = ds->waiting.dim, .n = ds->waiting.n, .buf = t->bytes, .stored = true};
    int err = rows.n > 0 ? append_rows(ds, &rows) : 0;

    if (err) {
        tail_failed(t, err);
        return err;
    }
    tail_free(t);
    dataset_put(ds);
    return 0;
}

static int tails_settle(drep_file *f)
{
    int err = 0;

    while (!err && f->tails.first)
        err = tail_settle(f->tails.first);
    return err;
}

/* Number of rows that the dimension takes, if the dataset refers to one that has no more. */
static int dimension_room(const drep_dataset *ds, int dim, uint64_t *max)
{
    struct stored_object o;
    int err;

    if (!ds->rec.has_dims || ds->rec.dim[dim] == 0)
        return 0;
    memset(&o, 0, sizeof o);
    err = object_load(ds->file, ds->rec.dim[dim], &o);
    if (!err && !o.rec.unlimited && o.rec.len[0] < *max)
        *max = o.rec.len[0];
    object_release(&o);
    return err;
}

/* True if rows of this dimension may wait: they follow each other in the sequence of elements, and
 * writing them later cannot fail but for I/O. */
static bool may_wait(const drep_dataset *ds, int dim, int64_t *row)
{
    const struct object_rec *r = &ds->rec;
    int64_t n = 1;

    if (r->rank == FMT_RANK_NULL || dim < 0 || dim >= r->rank || !ds->trimmed || ds->esize < 1 ||
        ds->fill_err != 0 || ds->ft->type->variable ||
        (r->layout != FMT_CONTIGUOUS && (r->layout != FMT_CHUNKED)) ||
        (r->layout == FMT_CONTIGUOUS && dim > 0))
        return false;
    for (int d = 0; d < r->rank; d++) {
        if (d < dim && r->len[d] != 1)
            return false;
        if (d > dim && (r->len[d] == 0 || __builtin_mul_overflow(n, (int64_t)r->len[d], &n)))
            return false;
    }
    *row = n;
    return n <= TAIL_APPEND / ds->esize;
}

/* Begins the tail of a dataset; *out stays NULL where rows cannot wait. */
static int tail_new(drep_dataset *ds, int dim, struct tail **out)
{
    drep_file *f = ds->file;
    int64_t row;
    uint64_t max;
    struct tail *t;
    int err;

    if (!may_wait(ds, dim, &row))
        return 0;
    max = ds->rec.max[dim]; /* may_wait() has checked dim */
    err = dataset_alive(ds);
    if (!err)
        err = filters_known(ds->chunks.filter, ds->chunks.nfilters, 0);
    if (!err)
        err = dimension_room(ds, dim, &max);
    if (err)
        return fail_dataset(err, ds->path);
    if (max > (uint64_t)(TYPE_SIZE_MAX / (row * ds->esize)))
        max = (uint64_t)(TYPE_SIZE_MAX / (row * ds->esize));
    if (max <= ds->rec.len[dim])
        return 0;
    t = mem_zalloc(1, sizeof *t);
    if (!t)
        return fail_nomem();
    t->ds = dataset_hold(ds);
    ds->waiting.dim = dim;
    t->row = row;
    t->size = row * ds->esize;
    t->most = (int64_t)(max - ds->rec.len[dim]);
    t->gaps = prog_gaps(&ds->ft->stored);
    t->next = f->tails.first;
    f->tails.first = ds->tail = t;
    f->tails.settle = tails_settle;
    *out = t;
    return 0;
}

/* Makes the converter from memory of this type, and keeps it: the next append probably needs it. */
static int tail_convert(struct tail *t, const drep_type *type, const drep_xfer *xfer)
{
    drep_dataset *ds = t->ds;
    struct picked_members members;
    struct conv c;
    int err = dataset_usable(ds);

    if (!err)
        err = picked_init(&members, ds->ft, &ds->rep->sizes, type, picked_way(xfer, true));
    if (err)
        return err;
    tail_clear_type(t);
    t->members = members;
    err = conv_init(&c, ds->rep, members.used ? &t->members.ft : ds->ft,
                    members.used ? members.mem : type, xfer, true);
    if (err)
        return err;
    t->type = drep_type_ref(type);
    t->whole = type->items == c.stored->items && type->items > 0;
    t->range = xfer ? xfer->range : DREP_RANGE_DEFAULT;
    t->conv = c;
    return 0;
}

/* Makes room for n rows more: a larger buffer, if there may be one.  False: the tail is full. */
static bool tail_room(struct tail *t, int64_t n)
{
    struct open_tails *all = &t->ds->file->tails;
    int64_t have = t->room * t->size, want = (n + t->ds->waiting.n) * t->size, size;
    uint8_t *p;

    size = want <= TAIL_FIRST && have == 0 ? TAIL_FIRST : TAIL_MOST;
    if (want > size || all->bytes + (uint64_t)(size - have) > TAILS_MOST)
        return false;
    size -= size % t->size;
    p = mem_alloc((size_t)size);
    if (!p)
        return false;
    if (t->ds->waiting.n > 0)
        memcpy(p, t->bytes, (size_t)(t->ds->waiting.n * t->size));
    mem_free(t->bytes);
    t->bytes = p;
    t->room = size / t->size;
    all->bytes += (uint64_t)(size - have);
    return true;
}

/* Converts rows into the room behind those that wait.  Nothing of them stays after an error. */
static int tail_add(struct tail *t, int64_t n, const drep_type *type, const void *buf,
                    const drep_xfer *xfer)
{
    drep_dataset *ds = t->ds;
    uint8_t *to = t->bytes + ds->waiting.n * t->size;
    bool report = xfer && xfer->report;
    int range = xfer ? xfer->range : DREP_RANGE_DEFAULT, err = 0;

    if (t->type != type || t->range != range || report || t->conv.opts.report)
        err = tail_convert(t, type, xfer);
    if (!err && !t->whole)
        err = items_check(t->conv.ft->type, type, n * t->row, xfer);
    if (!err && !buf)
        err = fail(DREP_ERR_ARG, "no buffer");
    if (err)
        return err;
    if (t->conv.ft->part)
        err = fill_bytes(ds, to, 0, (uint64_t)(n * t->size));
    else if (t->gaps)
        memset(to, 0, (size_t)(n * t->size));
    if (err)
        return err;
    t->conv.opts.report = report ? &t->conv.report : NULL;
    err = conv_write(&t->conv, buf, 0, to, ds->esize, n * t->row);
    if (report) {
        *xfer->report =
            (drep_report){.first_overflow = -1, .first_inexact = -1, .first_nan_lost = -1};
        conv_report(&t->conv, xfer);
    }
    if (!err)
        ds->waiting.n += n;
    return err;
}

/* Lets rows wait, if they may: *done. */
static int append_later(drep_dataset *ds, const struct new_rows *rows, bool *done)
{
    const drep_type *type = rows->type ? rows->type : ds->ft->type;
    struct tail *t = ds->tail;
    int err = 0;

    if (rows->n <= 0 || (t && ds->waiting.dim != rows->dim))
        return 0;
    if (!t && ((err = tail_new(ds, rows->dim, &t)) || !t))
        return err;
    if (rows->n > t->most - ds->waiting.n || rows->n > TAIL_APPEND / t->size)
        return 0;
    if (rows->n > t->room - ds->waiting.n && !tail_room(t, rows->n))
        return 0;
    *done = true;
    return fail_dataset(tail_add(t, rows->n, type, rows->buf, rows->xfer), ds->path);
}

/* Rows of the dataset that wait go first; if they filled their tail, the next one begins. */
static int append(drep_dataset *ds, const struct new_rows *rows)
{
    drep_file *f = ds->file;
    bool done = false;
    int err = append_later(ds, rows, &done);

    if (err || done)
        return err;
    if (f->tails.bytes > TAILS_MOST - (uint64_t)TAIL_MOST)
        err = tails_settle(f);
    else if (ds->tail)
        err = tail_settle(ds->tail);
    if (!err)
        err = append_later(ds, rows, &done);
    return err || done ? err : append_rows(ds, rows);
}

/* ---- datasets that an append has failed for ---- */

static int append_stopped(const drep_dataset *ds)
{
    if (!ds->stopped)
        return 0;
    return fail_dataset(fail(DREP_ERR_FAILED,
                             "an append has failed: no other is taken before drep_commit(), or "
                             "drep_dataset_resize() to the shape where appending goes on"),
                        ds->path);
}

void appends_go_on(drep_file *f)
{
    while (f->tails.stopped)
        append_goes_on(f->tails.stopped);
}

/* Needs no memory: the list consists of datasets, each with a reference of its own. */
static void append_stop(drep_dataset *ds)
{
    drep_file *f = ds->file;

    ds->stopped = true;
    ds->next_stopped = f->tails.stopped;
    f->tails.stopped = dataset_hold(ds);
}

/* Nothing that may fail comes before it but what refuses the handle. */
static int append_or_stop(drep_dataset *ds, struct new_rows *rows, const drep_xfer *xfer)
{
    struct xfer x;
    int err = append_stopped(ds);

    if (err)
        return err;
    err = xfer_begin(&x, xfer, "drep_append");
    if (!err) {
        rows->xfer = x.use;
        err = xfer_end(&x, append(ds, rows));
    }
    if (err)
        append_stop(ds);
    return err;
}

/* Two ranks that append would write the same rows. */
static int append_shared(const drep_dataset *ds)
{
    const drep_file *f = ds->file;
    int err;

    if (!file_shared(f))
        return 0;
    err = fail(DREP_ERR_UNSUPPORTED_OPERATION,
               "drep_append: not on a file that %d ranks share; all ranks resize it, then write",
               f->team->size);
    fail_dataset(err, ds->path);
    return fail_in(err, "%s", f->path);
}

int drep_append(drep_dataset *dataset, int dim, int64_t n, const drep_type *type, const void *buf,
                const drep_xfer *xfer)
{
    struct new_rows rows = {dim, n, type, buf, NULL, false};
    int err;

    if ((err = dataset_check(dataset, "drep_append")) || (err = append_shared(dataset)))
        return err;
    if ((err = append_begin(dataset->file)))
        return fail_about(err, dataset->path);
    advance_pause(); /* a row that is left out cannot be appended later */
    err = append_or_stop(dataset, &rows, xfer);
    advance_resume();
    return operation_done(dataset->file, err);
}
