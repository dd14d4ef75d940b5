/* transfer.c - reading and writing the elements of datasets. */
/* SPDX-License-Identifier: MIT */
#include "elem/transfer.h"

#include "base/advance.h"
#include "base/mem.h"
#include "base/pool.h"
#include "base/sized.h"
#include "chunk/filter.h"
#include "conv/memory.h"
#include "elem/chunked.h"
#include "elem/compact.h"
#include "elem/contiguous.h"
#include "elem/mover.h"
#include "elem/parts.h"
#include "file/team.h"

#include <pthread.h>
#include <stddef.h>
#include <string.h>

#define ASKED_MIN ((uint64_t)1 << 16) /* bytes of a transfer below which nobody is asked */

int items_check(const drep_type *file, const drep_type *mem, int64_t n, const drep_xfer *xfer)
{
    int64_t items, tiles;
    int err = type_whole(file, mem, xfer ? xfer->buf_size : 0);

    if (err)
        return err;
    if (__builtin_mul_overflow(n, file->items, &items))
        return fail(DREP_ERR_VALUE_TOO_LARGE, "more than 2^63 data items");
    if (items > 0 && (mem->items == 0 || items % mem->items != 0))
        return fail(DREP_ERR_COUNT,
                    "the selection's %lld data items do not fill whole elements of %lld items",
                    (long long)items, (long long)mem->items);
    if (items == 0)
        return 0;
    tiles = items / mem->items;
    err = type_elements(mem, tiles, &items);
    if (!err && xfer)
        err = type_fits(mem, tiles, xfer->buf_size);
    return !err ? 0 : fail_in(err, "memory");
}

/* Checks a transfer of the null dataspace, which has no elements to select. */
static int null_check(struct transfer *t)
{
    if (t->sel != &t->all && t->sel->count > 0)
        return fail(DREP_ERR_RANGE, "a selection in the null dataspace");
    selection_all(&t->all, 0, NULL);
    t->all.count = 0;
    t->sel = &t->all;
    return 0;
}

/* Elements of memory's type. */
static int64_t tiles_of(const struct transfer *t)
{
    const drep_type *mem = t->conv.mem;

    return mem->items > 0 ? t->sel->count * t->conv.stored->items / mem->items : 0;
}

void transfer_free_contents(const struct transfer *t)
{
    drep_vlen_free(t->conv.mem, tiles_of(t), t->mem);
}

/* Moves the elements. A read that fails in the middle frees what it made of variable length, so
 * that the caller's memory holds no pointer that leads nowhere. */
int transfer_layout(struct transfer *t)
{
    drep_dataset *ds = t->ds;
    int err;

    if (!t->writing && !t->conv.raw)
        memory_clear(t->conv.mem, tiles_of(t), t->mem);
    err = ds->rec.layout == FMT_COMPACT      ? compact_run(t)
          : ds->rec.layout == FMT_CONTIGUOUS ? contiguous_run(t)
          : t->writing                       ? chunked_write(t)
                                             : chunked_read(t);
    if (err && !t->writing && !t->conv.raw)
        transfer_free_contents(t);
    return err;
}

/* To ask for the processors costs as much as to read an element, so a few bytes do not. */
int threads_of(const drep_dataset *ds, const drep_selection *sel, const drep_xfer *xfer)
{
    int threads = xfer && xfer->threads > 0 ? xfer->threads : (int)ds->file->hints.threads;
    int64_t most = ds->ft->type->variable ? 2 : (int64_t)(PARALLEL_MIN / ((uint64_t)ds->esize + 1));
    bool few = ds->chunks.nfilters == 0 && sel->count < most;

    if ((ds->rep->datarep && ds->rep->datarep->flags & DREP_REP_SERIAL) || (threads == 0 && few))
        return 1;
    return threads > 0 ? threads : pool_cpus();
}

/* True for a transfer of a whole compact dataset as its own type, which compact_whole() moves:
 * opening a small dataset and reading it is a common call. */
static bool needs_no_plan(const drep_dataset *ds, const drep_type *type, const char *mem,
                          const drep_xfer *xfer)
{
    return !ds->ft->type->variable && dataset_count(ds) > 0 && ds->esize > 0 && mem &&
           (!type || type == ds->ft->type) && (!xfer || (!xfer->report && xfer->buf_size == 0));
}

static int run_whole(drep_dataset *ds, const drep_type *type, char *mem, const drep_xfer *xfer,
                     bool writing, bool *done)
{
    struct conv c;
    int err = dataset_alive(ds);

    if (!err)
        err = dataset_usable(ds);
    if (!err)
        err = conv_init(&c, ds->rep, ds->ft, type, xfer, writing);
    return err ? err : compact_whole(ds, &c, mem, writing, done);
}

/* Checks that whole elements of memory are inside its buffer. */
static int memory_holds(const struct transfer *t, const drep_type *whole)
{
    int64_t items = 0, tiles = t->sel->count * t->members.ft.stored.items / t->members.mem->items;
    int err = type_elements(whole, tiles, &items);

    if (!err && t->xfer)
        err = type_fits(whole, tiles, t->xfer->buf_size);
    return !err ? 0 : fail_in(err, "memory");
}

/* Settles what is moved between which types, and makes the converter. */
static int transfer_types(struct transfer *t, const drep_type *whole)
{
    const drep_type *type = whole;
    drep_dataset *ds = t->ds;
    struct ftype *ft = ds->ft;
    int err = dataset_usable(ds);

    if (!err)
        err = picked_init(&t->members, ft, &ds->rep->sizes, whole, picked_way(t->xfer, t->writing));
    if (!err && t->members.used) {
        ft = &t->members.ft;
        type = t->members.mem;
    }
    if (!err)
        err = items_check(ft->type, type, t->sel->count, t->xfer);
    if (!err && t->members.lacks) /* zeros go to members of `whole` that are not in `type` */
        err = memory_holds(t, whole);
    if (!err && t->sel->count > 0 && !t->mem)
        err = fail(DREP_ERR_ARG, "no buffer");
    if (!err)
        err = conv_init(&t->conv, ds->rep, ft, type, t->xfer, t->writing);
    if (!err && t->writing && ft->part)
        t->conv.ranges = &t->members.bytes;
    return err;
}

/* One allocation of transfer_begin(): the transfer and the lock of its report. */
struct started {
    struct transfer t; /* first */
    pthread_mutex_t lock;
};

int transfer_begin(drep_dataset *ds, const drep_selection *sel, const drep_type *type, char *mem,
                   const drep_xfer *xfer, enum transfer_way way, struct transfer **out)
{
    bool writing = way != READING;
    struct started *s = mem_alloc(sizeof *s);
    struct transfer *t;
    int err = 0;

    if (!s)
        return fail_nomem();
    t = &s->t;
    memset(t, 0, offsetof(struct transfer, all));
    t->lock = &s->lock;
    t->ds = ds;
    t->mem = mem;
    t->writing = writing;
    t->appending = way == APPENDING;
    if (writing)
        ds->chunks.appended = t->appending;
    t->xfer = xfer;
    pthread_mutex_init(t->lock, NULL);
    if (!sel)
        selection_all(&t->all, ds->rec.rank == FMT_RANK_NULL ? 0 : ds->rec.rank, ds->rec.len);
    t->sel = !sel ? &t->all : sel;
    t->threads = threads_of(ds, t->sel, xfer);
    err = dataset_alive(ds);
    if (!err)
        err = ds->rec.rank == FMT_RANK_NULL ? null_check(t)
                                            : selection_check(t->sel, ds->rec.rank, ds->rec.len);
    if (!err)
        err = transfer_types(t, !type ? ds->ft->type : type);
    if (!err && writing)
        err = filters_known(ds->chunks.filter, ds->chunks.nfilters, 0);
    if (err) {
        transfer_end(t);
        return err;
    }
    *out = t;
    return 0;
}

void transfer_end(struct transfer *t)
{
    if (!t)
        return;
    picked_release(&t->members);
    pthread_mutex_destroy(t->lock);
    mem_free(t);
}

bool transfer_moves(struct transfer *t, const drep_type *type)
{
    drep_dataset *ds = t->ds;

    if (t->sel->count == 0 || ds->esize == 0)
        return false;
    if (t->members.lacks)
        memory_zero(!type ? ds->ft->type : type,
                    t->sel->count * t->conv.stored->items / t->conv.mem->items, t->mem);
    return true;
}

int transfer_run(drep_dataset *ds, const drep_selection *sel, const drep_type *type, char *mem,
                 const drep_xfer *xfer, enum transfer_way way)
{
    struct transfer *t;
    bool done = false;
    int err = 0;

    if (ds->rec.layout == FMT_COMPACT && !sel && needs_no_plan(ds, type, mem, xfer))
        err = run_whole(ds, type, mem, xfer, way != READING, &done);
    if (err || done || (err = transfer_begin(ds, sel, type, mem, xfer, way, &t)))
        return err;
    if (transfer_moves(t, type)) {
        uint64_t bytes = bytes_of(ds, t->sel->count);

        if (bytes >= ASKED_MIN && !file_shared(ds->file))
            t->advance = advance_begin((int64_t)bytes);
        err = transfer_layout(t);
        advance_end(t->advance);
    }
    transfer_end(t);
    return err;
}

int dataset_read(drep_dataset *ds, const drep_selection *sel, const drep_type *type, void *buf,
                 const drep_xfer *xfer)
{
    int err = file_may(ds->file, ds, TEAM_READ);

    return err ? err : transfer_run(ds, sel, type, buf, xfer, READING);
}

int dataset_write(drep_dataset *ds, const drep_selection *sel, const drep_type *type,
                  const void *buf, const drep_xfer *xfer, bool appending)
{
    enum transfer_way way = appending ? APPENDING : WRITING;
    int err = file_may(ds->file, ds, TEAM_WRITE);

    ds->open.verified = false;
    if (err)
        return fail_dataset(err, ds->path);
    return fail_dataset(transfer_run(ds, sel, type, (char *)(uintptr_t)buf, xfer, way), ds->path);
}

/* ---- stored elements as they are, for views ---- */

/* The box of n elements of one row from flat index `at` on. */
static void row_box(const drep_dataset *ds, int64_t at, int64_t n, struct drep_selection *box)
{
    int rank = ds->rec.rank;

    box->rank = rank;
    box->count = n;
    for (int d = rank - 1; d >= 0; d--) {
        int64_t len = (int64_t)ds->rec.len[d];

        box->dim[d] = (struct span_dim){at % len, 1, 1, d == rank - 1 ? n : 1};
        at /= len;
    }
}

/* Begins a transfer of stored elements as they are, which has no report. */
static int raw_begin(struct transfer *t, drep_dataset *ds, int threads, bool writing)
{
    int err = dataset_alive(ds);

    if (err)
        return fail_dataset(err, ds->path);
    t->ds = ds;
    t->sel = &t->all;
    t->writing = writing;
    t->threads = threads;
    conv_raw(&t->conv, ds, NULL);
    return 0;
}

int dataset_raw(drep_dataset *ds, int64_t at, int64_t n, void *buf, bool writing)
{
    int rank = ds->rec.rank, err = 0;
    int64_t row = rank > 0 && rank != FMT_RANK_NULL ? (int64_t)ds->rec.len[rank - 1] : 1;
    struct transfer *t;

    if (at < 0 || at > dataset_count(ds) || n > dataset_count(ds) - at)
        return fail_object(DREP_ERR_RANGE, ds->path,
                           "dataset \"%s\": elements from %lld on, it has %lld", ds->path,
                           (long long)at, (long long)dataset_count(ds));
    err = file_may(ds->file, ds, writing ? TEAM_WRITE : TEAM_READ);
    if (err)
        return fail_dataset(err, ds->path);
    t = mem_zalloc(1, sizeof *t);
    if (!t)
        return fail_nomem();
    if ((err = raw_begin(t, ds, 1, writing))) {
        mem_free(t);
        return err;
    }
    for (t->mem = buf; !err && n > 0;) {
        int64_t now = row - at % row < n ? row - at % row : n;

        row_box(ds, at, now, &t->all);
        err = transfer_layout(t);
        at += now;
        n -= now;
        t->mem += now * ds->esize;
    }
    mem_free(t);
    return fail_dataset(err, ds->path);
}

int dataset_raw_part(drep_dataset *ds, const struct drep_selection *sel, void *buf, int threads,
                     enum transfer_way way)
{
    struct transfer *t = mem_zalloc(1, sizeof *t);
    int err;

    if (!t)
        return fail_nomem();
    if (!(err = raw_begin(t, ds, threads, way != READING))) {
        t->sel = sel;
        t->mem = buf;
        t->appending = way == APPENDING;
        if (way != READING)
            ds->chunks.appended = t->appending;
        err = fail_dataset(transfer_layout(t), ds->path);
    }
    mem_free(t);
    return err;
}

int dataset_raw_box(drep_dataset *ds, const uint64_t *from, const uint64_t *len, void *buf,
                    int threads, enum transfer_way way)
{
    struct drep_selection box;

    selection_all(&box, ds->rec.rank, len);
    for (int d = 0; d < ds->rec.rank; d++)
        box.dim[d].start = (int64_t)from[d];
    return dataset_raw_part(ds, &box, buf, threads, way);
}
