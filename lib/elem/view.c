/* view.c - MPI's views: of files without a header, and of datasets.
 *
 * A view is a typemap laid out with the sizes of its representation and tiled over the
 * bytes behind a displacement.  A transfer walks its items in order, brings whole items
 * into a staging buffer, and hands them to the representation with a position that
 * counts up, the same user buffer and the same datatype in every call.
 *
 * Items of a file that stand a little apart share a call of the driver (elem/sieve.h).  To write
 * them, the bytes between them are read and written back, while the range is locked: every write
 * through a view of ours locks its range, and so do MPI's libraries where they do the same.  Where
 * there are no locks, nothing but items is written. */
/* SPDX-License-Identifier: MIT */
#include "base/advance.h"
#include "base/error.h"
#include "base/handle.h"
#include "base/info.h"
#include "base/mem.h"
#include "base/sized.h"
#include "elem/sieve.h"
#include "elem/transfer.h"
#include "rep/convert.h"
#include "rep/dispatch.h"
#include "rep/packed.h"

#include <stdatomic.h>
#include <string.h>
#include <unistd.h>

struct drep_view {
    char *path;
    struct io *io; /* raw; NULL: of a dataset */
    drep_dataset *ds;
    bool writable;
    atomic_bool busy; /* a call goes on, which may have called functions of the user's */
    drep_info *info;

    int64_t disp;
    drep_type *etype, *filetype;
    const struct datarep *rep;
    bool sized; /* sizes and prog hold: the extent function was called */
    struct type_sizes sizes;
    struct prog prog; /* the filetype as it lies in the file */
    int64_t etype_extent;
};

/* ---- opening ---- */

static void view_free(drep_view *v)
{
    if (!v)
        return;
    handle_remove(v, HANDLE_VIEW);
    if (v->sized)
        prog_release(&v->prog);
    if (v->io)
        v->io->ops->close(v->io);
    dataset_put(v->ds);
    drep_type_free(v->etype);
    drep_type_free(v->filetype);
    drep_info_free(v->info);
    mem_free(v->path);
    mem_free(v);
}

static int view_new(const char *path, const drep_info *info, drep_view **out)
{
    drep_view *v = mem_zalloc(1, sizeof *v);
    int err;

    if (!v)
        return fail_nomem();
    v->path = mem_strdup(path);
    err = !v->path ? fail_nomem() : info_defaults(&v->info);
    if (!err && info)
        err = info_merge(v->info, info);
    if (!err)
        err = handle_add(v, HANDLE_VIEW);
    if (err) {
        view_free(v);
        return err;
    }
    *out = v;
    return 0;
}

static int view_check(const drep_view *v, const char *call)
{
    if (!v)
        return fail(DREP_ERR_ARG, "%s: no view", call);
    if (!handle_is(v, HANDLE_VIEW))
        return fail(DREP_ERR_ARG, "%s: the view is closed", call);
    if (!v->ds)
        return 0;
    if (!v->ds->file)
        return fail_object(DREP_ERR_ARG, v->path, "%s: dataset \"%s\": its file is closed", call,
                           v->path);
    return file_here(v->ds->file);
}

/* Begins a call that uses more of a view than what never changes; then view_leave().  One that
 * comes while another goes on, from a callback of it or from another thread, is refused: it would
 * see a view half set. */
static int view_enter(drep_view *v, const char *call)
{
    int err = view_check(v, call);

    if (err)
        return err;
    if (atomic_exchange(&v->busy, true))
        return fail(DREP_ERR_ARG,
                    "%s: %s: called inside a call with the same view, or on two threads at once",
                    v->path, call);
    return 0;
}

static int view_leave(drep_view *v, int err)
{
    atomic_store(&v->busy, false);
    return err;
}

/* Ends the making of a view of bytes, which is freed when it fails. */
static int view_made(drep_view *v, int err, drep_view **out)
{
    if (!err)
        err = drep_view_set(v, 0, DREP_BYTE, DREP_BYTE, "native", NULL);
    if (err)
        view_free(v);
    else
        *out = v;
    return err;
}

int drep_view_raw(const char *path, int amode, const drep_info *info, drep_view **out)
{
    drep_view *v;
    int err;

    if (!path || !out)
        return fail(DREP_ERR_ARG, "drep_view_raw: null argument");
    /* Nothing is made for reading, so nothing can be required not to exist. */
    if (amode != DREP_RDONLY && (amode & ~DREP_EXCL) != DREP_RDWR)
        return fail(DREP_ERR_AMODE, "%s: access mode %d", path, amode);
    if ((err = view_new(path, info, &v)))
        return err;
    v->writable = (amode & DREP_RDWR) != 0;
    err = io_posix(path, v->writable ? IO_RAW : IO_READ, amode & DREP_EXCL,
                   hint_permissions(v->info), &v->io);
    return view_made(v, err, out);
}

/* A view over an open io, which is closed when this fails. */
static int view_over(struct io *io, bool writable, const drep_info *info, drep_view **out)
{
    drep_view *v;
    int err = view_new(io->path, info, &v);

    if (err) {
        io->ops->close(io);
        return err;
    }
    v->io = io;
    v->writable = writable;
    return view_made(v, 0, out);
}

int drep_view_driver(const drep_driver *driver, void *state, const char *name, int amode,
                     const drep_info *info, drep_view **out)
{
    drep_driver own;
    struct io *io;
    int err;

    if (!out)
        return fail(DREP_ERR_ARG, "drep_view_driver: null argument");
    if ((err = sized_get(SIZED_drep_driver, driver, &own, "drep_view_driver")))
        return err;
    if (amode != DREP_RDONLY && amode != DREP_RDWR)
        return fail(DREP_ERR_AMODE, "drep_view_driver: access mode %d", amode);
    if (!own.read_many || !own.file_size || (amode == DREP_RDWR && !own.write_at))
        return fail(DREP_ERR_ARG, "drep_view_driver: a driver without read_many, file_size or "
                                  "write_at");
    if ((err = io_driver(&own, state, name, &io)))
        return fail_nomem();
    return view_over(io, amode == DREP_RDWR, info, out);
}

int drep_view_descriptor(int fd, const char *name, int amode, const drep_info *info,
                         drep_view **out)
{
    struct io *io;
    int err;

    if (!out)
        return fail(DREP_ERR_ARG, "drep_view_descriptor: null argument");
    if (amode != DREP_RDONLY && amode != DREP_RDWR)
        return fail(DREP_ERR_AMODE, "drep_view_descriptor: access mode %d", amode);
    if ((err = io_descriptor(fd, name, amode == DREP_RDWR, &io)))
        return err;
    return view_over(io, amode == DREP_RDWR, info, out);
}

int drep_view_dataset(drep_dataset *dataset, drep_view **out)
{
    drep_view *v;
    int err;

    if (!out)
        return fail(DREP_ERR_ARG, "drep_view_dataset: null argument");
    if ((err = dataset_check(dataset, "drep_view_dataset")))
        return err;
    if ((err = dataset_usable(dataset)))
        return fail_dataset(err, dataset->path);
    if (!dataset->rep->datarep)
        return fail_object(DREP_ERR_UNSUPPORTED_DATAREP, dataset->path,
                           "dataset \"%s\": a view needs the functions of datarep \"%s\"",
                           dataset->path, dataset->rep->name);
    if (dataset->ft->type->variable)
        return fail_object(DREP_ERR_TYPE, dataset->path,
                           "dataset \"%s\": a view cannot show variable-length types",
                           dataset->path);
    if ((err = view_new(dataset->path, NULL, &v)))
        return err;
    v->ds = dataset_hold(dataset);
    v->writable = store_writable(dataset->file->st);
    v->rep = dataset->rep->datarep;
    err = drep_view_set(v, 0, dataset->ft->type, dataset->ft->type, NULL, NULL);
    if (err) {
        view_free(v);
        return err;
    }
    *out = v;
    return 0;
}

int drep_view_close(drep_view *view)
{
    int err = 0;

    if (view && !handle_is(view, HANDLE_VIEW))
        return fail(DREP_ERR_ARG, "drep_view_close: the view is closed");
    if (view && atomic_load(&view->busy))
        return fail(DREP_ERR_ARG, "%s: drep_view_close: called inside a call with the same view",
                    view->path);
    if (view && view->io && view->writable)
        err = view->io->ops->sync(view->io);
    view_free(view);
    return err;
}

/* ---- is the view legal? (requirement V6) ---- */

/* Displacements must not be negative nor decrease, and may touch but not overlap when
 * the view is written through. */
static int check_order(const struct prog *p, const struct type_sizes *sizes, bool writable,
                       const char *what)
{
    int64_t left = p->items, last = 0, end = 0;
    drep_cursor c;
    drep_run run;
    int err = cursor_init(&c, p, 0);

    while (!err && left > 0) {
        int64_t size;

        drep_cursor_next(&c, left, &run);
        size = sizes->size[run.type->code];
        if (run.offset < 0)
            return fail(DREP_ERR_TYPE, "%s: a negative displacement", what);
        if (run.offset < last || (run.count > 1 && run.stride < 0))
            return fail(DREP_ERR_TYPE, "%s: displacements decrease", what);
        if (writable && (run.offset < end || (run.count > 1 && run.stride < size)))
            return fail(DREP_ERR_TYPE, "%s: overlaps itself, which cannot be written", what);
        last = run.offset + (run.count - 1) * run.stride;
        end = last + size;
        left -= run.count;
    }
    if (!err && writable && p->items > 0 && end > p->extent + p->origin && end - p->extent > 0 &&
        p->extent < end)
        return fail(DREP_ERR_TYPE, "%s: its tiles overlap, which cannot be written", what);
    return err;
}

/* The filetype's items are those of whole etypes, each as the etype lays them out, at
 * multiples of the etype's extent. */
static int check_etypes(const struct prog *file, const struct prog *e)
{
    int64_t left = file->items, at = 0;
    drep_cursor fc, ec;
    drep_run fr = {0}, er;
    int64_t base = 0, fleft = 0;
    int err;

    if (e->items == 0 || file->items % e->items != 0)
        return fail(DREP_ERR_TYPE, "filetype: %lld data items are not whole etypes of %lld",
                    (long long)file->items, (long long)e->items);
    if (e->extent > 0 && file->extent % e->extent != 0)
        return fail(DREP_ERR_TYPE,
                    "filetype: its extent of %lld bytes is no multiple of the "
                    "etype's, %lld",
                    (long long)file->extent, (long long)e->extent);
    if ((err = cursor_init(&fc, file, 0)) || (err = cursor_init(&ec, e, 0)))
        return err;
    for (; left > 0; at++, left--) {
        int64_t offset, own; /* where the item lies in the file, and in its etype */

        if (fleft == 0) {
            drep_cursor_next(&fc, left, &fr);
            fleft = fr.count;
        }
        /* One item at a time within an etype; runs of single-item etypes at once. */
        offset = fr.offset + (fr.count - fleft) * fr.stride;
        if (e->items == 1) {
            drep_cursor_init(&ec, drep_predefined(DREP_CODE_BYTE), 0);
            if (fr.type != e->root->leaf ||
                (e->extent > 0 && ((offset - e->origin) % e->extent != 0 ||
                                   (fleft > 1 && fr.stride % e->extent != 0))))
                return fail(DREP_ERR_TYPE, "filetype: item %lld is not an etype", (long long)at);
            at += fleft - 1;
            left -= fleft - 1;
            fleft = 0;
            continue;
        }
        drep_cursor_next(&ec, 1, &er);
        own = er.offset - at / e->items * e->extent;
        if (at % e->items == 0)
            base = offset - own;
        if (fr.type != er.type || (e->extent > 0 && base % e->extent != 0) || offset - base != own)
            return fail(DREP_ERR_TYPE, "filetype: item %lld has another layout than in the etype",
                        (long long)at);
        fleft--;
    }
    return 0;
}

static int only_plain(int64_t items, const struct prog *p)
{
    drep_cursor c;
    drep_run run;
    int err = cursor_init(&c, p, 0);

    while (!err && items > 0) {
        drep_cursor_next(&c, items, &run);
        if (run.type->kind != DREP_KIND_PREDEFINED)
            return fail(DREP_ERR_TYPE, "a view shows predefined datatypes and what is built of "
                                       "them");
        items -= run.count;
    }
    return err;
}

/* Bytes that the predefined types of `type` take here.  A function is asked for those
 * alone, and what it does not hold is an error (requirement U4). */
static int sizes_for(const drep_view *v, const drep_type *type, struct type_sizes *sizes)
{
    if (!v->ds)
        return rep_sizes_of(v->rep, type, sizes);
    *sizes = v->ds->rep->sizes;
    return 0;
}

/* Asks the extent function and lays both types out: the first read, write or query of a
 * view does this, not setting it (requirement U11). */
static int size_up(drep_view *v)
{
    struct type_sizes sizes, own;
    struct prog file, e;
    int err;

    if (v->sized)
        return 0;
    if ((err = only_plain(v->filetype->items, &v->filetype->prog)))
        return err;
    if ((err = sizes_for(v, v->filetype, &sizes)) || (err = sizes_for(v, v->etype, &own)))
        return err;
    for (int c = 1; c <= DREP_CODE_MAX; c++)
        if (own.size[c] != 0)
            sizes.size[c] = own.size[c];
    if ((err = prog_build(&e, v->etype, &sizes, PROG_VIEW)))
        return err;
    if (!(err = prog_build(&file, v->filetype, &sizes, PROG_VIEW))) {
        err = check_order(&e, &sizes, false, "etype");
        if (!err)
            err = check_order(&file, &sizes, v->writable, "filetype");
        if (!err)
            err = check_etypes(&file, &e);
        if (err)
            prog_release(&file);
    }
    if (!err) {
        v->sizes = sizes;
        v->prog = file;
        v->etype_extent = e.extent;
        v->sized = true;
    }
    prog_release(&e);
    return err;
}

/* ---- setting and asking ---- */

static int dataset_rules(const drep_view *v, int64_t disp, const drep_type *etype,
                         const char *datarep)
{
    const drep_type *et = v->ds->ft->type;
    const struct type_sizes *sizes = &v->ds->rep->sizes;
    int64_t packed = 0;
    int err;

    if (datarep && strcmp(datarep, v->ds->rep->name) != 0)
        return fail(DREP_ERR_UNSUPPORTED_DATAREP,
                    "a view has the datarep of its dataset, "
                    "\"%s\", not \"%s\"",
                    v->ds->rep->name, datarep);
    if ((err = packed_size(sizes, et, 0, et->items, &packed)))
        return err;
    if (packed > 0 && disp % packed != 0)
        return fail(DREP_ERR_ARG, "displacement %lld is no multiple of the packed element, %lld",
                    (long long)disp, (long long)packed);
    if (drep_type_equivalent(etype, et) || drep_type_equal(etype, et))
        return 0;
    if (et->prog.root && et->prog.root->op == NODE_LEAF && et->prog.root->leaf == etype)
        return 0;
    return fail(DREP_ERR_TYPE, "the etype must be the element type or its one repeated item");
}

/* Where the plugins of a representation may lie: hints of this call count already. */
static const char *plugin_dirs(const drep_view *v, const drep_info *info)
{
    static const char key[] = "drep_plugin_path";

    return drep_info_get(info, key) ? drep_info_get(info, key) : info_str(v->info, key);
}

/* Take what drep_view_set() has made; all else of a view stays as it is. */
static void view_become(drep_view *view, const drep_view *next)
{
    drep_type *etype = drep_type_ref(next->etype), *filetype = drep_type_ref(next->filetype);

    if (view->sized)
        prog_release(&view->prog);
    drep_type_free(view->etype);
    drep_type_free(view->filetype);
    view->disp = next->disp;
    view->etype = etype;
    view->filetype = filetype;
    view->rep = next->rep;
    view->sized = next->sized;
    view->sizes = next->sizes;
    view->prog = next->prog;
    view->etype_extent = next->etype_extent;
}

static int view_set(drep_view *view, int64_t disp, const drep_type *etype,
                    const drep_type *filetype, const char *datarep, const drep_info *info)
{
    const struct datarep *rep = view->rep;
    drep_info *hints = NULL;
    drep_view next = {
        .path = view->path, .io = view->io, .ds = view->ds, .writable = view->writable};
    int err = 0;

    if (disp < 0)
        return fail(DREP_ERR_ARG, "%s: displacement %lld", view->path, (long long)disp);
    if (!view->ds && datarep && (err = rep_resolve(datarep, plugin_dirs(view, info), &rep)))
        return fail_in(err, "%s", view->path);
    if (!view->ds && !rep)
        return fail(DREP_ERR_UNSUPPORTED_DATAREP,
                    "%s: datarep \"%s\" is neither built in nor "
                    "registered",
                    view->path, datarep);
    if (view->ds && (err = dataset_rules(view, disp, etype, datarep)))
        return fail_dataset(err, view->path);
    next.rep = rep;
    next.disp = disp;
    next.etype = (drep_type *)(uintptr_t)etype;
    next.filetype = (drep_type *)(uintptr_t)filetype;
    /* With a table the sizes are known without asking anybody: illegal types are refused
     * here; else at first use. */
    if (rep && rep->table && (err = size_up(&next)))
        return fail_in(err, "%s", view->path);
    if (info && !(err = info_copy(view->info, &hints)))
        err = info_merge(hints, info);
    if (err) {
        drep_info_free(hints);
        if (next.sized)
            prog_release(&next.prog);
        return err;
    }
    if (hints) {
        drep_info_free(view->info);
        view->info = hints;
    }
    view_become(view, &next);
    return 0;
}

int drep_view_set(drep_view *view, int64_t disp, const drep_type *etype, const drep_type *filetype,
                  const char *datarep, const drep_info *info)
{
    int err = !etype || !filetype ? fail(DREP_ERR_ARG, "drep_view_set: null argument")
                                  : view_enter(view, "drep_view_set");

    return err ? err : view_leave(view, view_set(view, disp, etype, filetype, datarep, info));
}

int drep_view_get_amode(const drep_view *view, int *amode)
{
    int err = view_check(view, "drep_view_get_amode");

    if (!err && !amode)
        err = fail(DREP_ERR_ARG, "drep_view_get_amode: null argument");
    if (!err)
        *amode = view->writable ? DREP_RDWR : DREP_RDONLY;
    return err;
}

int drep_view_get(const drep_view *view, int64_t *disp, drep_type **etype, drep_type **filetype,
                  char *datarep)
{
    drep_view *v = (drep_view *)(uintptr_t)view;
    int err = view_enter(v, "drep_view_get");

    if (err)
        return err;
    if (disp)
        *disp = view->disp;
    if (etype)
        *etype = drep_type_ref(view->etype);
    if (filetype)
        *filetype = drep_type_ref(view->filetype);
    if (datarep)
        strcpy(datarep, view->ds ? view->ds->rep->name : view->rep->name);
    return view_leave(v, 0);
}

int drep_view_type_extent(const drep_view *view, const drep_type *type, int64_t *extent)
{
    drep_view *v = (drep_view *)(uintptr_t)view;
    struct type_sizes sizes;
    struct prog p;
    int err;

    if (!type || !extent)
        return fail(DREP_ERR_ARG, "drep_view_type_extent: null argument");
    if ((err = view_enter(v, "drep_view_type_extent")))
        return err;
    if (!(err = sizes_for(view, type, &sizes)))
        err = prog_build(&p, type, &sizes, PROG_VIEW);
    if (view_leave(v, err) != 0)
        return fail_in(err, "%s", view->path);
    *extent = p.extent;
    prog_release(&p);
    return 0;
}

/* The last byte of an item of the view, counted from the file's start. */
static int file_byte(const drep_view *v, int64_t position, int64_t *last)
{
    /* A tile's items lie at most 2^62 bytes from where it begins. */
    int64_t tile = v->prog.items > 0 ? position / v->prog.items : 0, begin, end, in;
    drep_cursor c;
    drep_run run;

    if (__builtin_mul_overflow(tile, v->prog.extent, &begin) ||
        __builtin_add_overflow(begin, v->disp, &end) || cursor_init(&c, &v->prog, position) != 0 ||
        cursor_next(&c, 1, &run) == 0 || __builtin_sub_overflow(run.offset, begin, &in) ||
        in < -TYPE_SIZE_MAX || in > TYPE_SIZE_MAX || /* it wrapped */
        __builtin_add_overflow(run.offset, v->disp, &end) ||
        __builtin_add_overflow(end, v->sizes.size[run.type->code] - 1, &end))
        return DREP_ERR_VALUE_TOO_LARGE;
    *last = end;
    return 0;
}

static int byte_offset(drep_view *view, int64_t offset, int64_t *bytes)
{
    int64_t position, last;
    drep_cursor c;
    drep_run run;
    int err = size_up(view);

    if (err)
        return fail_in(err, "%s", view->path);
    if (__builtin_mul_overflow(offset, view->etype->items, &position) ||
        (view->prog.items > 0 && file_byte(view, position, &last) != 0))
        return fail(DREP_ERR_VALUE_TOO_LARGE, "%s: etype %lld", view->path, (long long)offset);
    if ((err = cursor_init(&c, &view->prog, position)))
        return err;
    if (drep_cursor_next(&c, 1, &run) == 0)
        run.offset = 0;
    *bytes = view->disp + run.offset;
    return 0;
}

int drep_view_byte_offset(const drep_view *view, int64_t offset, int64_t *bytes)
{
    drep_view *v = (drep_view *)(uintptr_t)view;
    int err;

    if (!bytes || offset < 0)
        return fail(DREP_ERR_ARG, "drep_view_byte_offset: offset %lld", (long long)offset);
    err = view_enter(v, "drep_view_byte_offset");
    return err ? err : view_leave(v, byte_offset(v, offset, bytes));
}

/* ---- the typemap in the file ---- */

/* Runs of bytes that are collected: those given out, and blocks that may join the last one. */
struct view_runs {
    drep_file_run *out;
    int64_t max, n;
    drep_file_run last, block; /* size 0: none yet */
};

static void run_give(struct view_runs *r)
{
    if (r->last.size == 0)
        return;
    if (r->n < r->max)
        r->out[r->n] = r->last;
    r->n++;
}

/* The block is whole: it repeats the run before it, or begins one. */
static void block_end(struct view_runs *r)
{
    drep_file_run *last = &r->last;
    const drep_file_run *b = &r->block;
    int64_t step = b->offset - last->offset;

    if (b->size == 0)
        return;
    if (b->count == 1 && last->size == b->size && last->count == 1 && step > 0) {
        last->stride = step;
        last->count = 2;
    } else if (last->size == b->size && (b->count == 1 || b->stride == last->stride) &&
               step == last->count * last->stride) {
        last->count += b->count;
    } else {
        run_give(r);
        *last = *b;
    }
    r->block.size = 0;
}

static void block_add(struct view_runs *r, int64_t offset, int64_t size, int64_t count,
                      int64_t stride)
{
    if (count == 1 || stride == size) {
        size *= count;
        count = 1;
        if (r->block.size > 0 && r->block.count == 1 && r->block.offset + r->block.size == offset) {
            r->block.size += size;
            r->block.stride = r->block.size;
            return;
        }
        stride = size;
    }
    block_end(r);
    r->block = (drep_file_run){offset, size, count, stride};
}

static int collect_runs(drep_view *view, drep_file_run *runs, int64_t max, int64_t *n,
                        int64_t *extent)
{
    struct view_runs r = {.out = runs, .max = max};
    drep_cursor c;
    drep_run run;
    int err = size_up(view);

    if (err || (err = cursor_init(&c, &view->prog, 0)))
        return fail_in(err, "%s", view->path);
    for (int64_t left = view->prog.items; left > 0; left -= run.count) {
        drep_cursor_next(&c, left, &run);
        block_add(&r, run.offset, view->sizes.size[run.type->code], run.count, run.stride);
    }
    block_end(&r);
    run_give(&r);
    *n = r.n;
    *extent = view->prog.extent;
    return 0;
}

int drep_view_runs(drep_view *view, drep_file_run *runs, int64_t max, int64_t *n, int64_t *extent)
{
    int err;

    if (!n || !extent || max < 0 || (max > 0 && !runs))
        return fail(DREP_ERR_ARG, "drep_view_runs: null argument");
    err = view_enter(view, "drep_view_runs");
    return err ? err : view_leave(view, collect_runs(view, runs, max, n, extent));
}

/* ---- bytes ---- */

static int bytes_end(drep_view *v, uint64_t *end)
{
    if (v->ds) {
        int64_t packed = 0;
        int err = packed_size(&v->sizes, v->ds->ft->type, 0, v->ds->ft->type->items, &packed);

        *end = (uint64_t)(dataset_count(v->ds) * packed);
        return err;
    }
    return v->io->ops->size(v->io, end);
}

static int count_etypes(drep_view *view, int64_t *etypes)
{
    int64_t low = 0, high, at;
    uint64_t end;
    int err = size_up(view);

    if (err || (err = bytes_end(view, &end)))
        return fail_in(err, "%s", view->path);
    high = (int64_t)end + 1;
    /* The first etype that does not end inside the file. */
    while (low < high) {
        int64_t mid = low + (high - low) / 2;
        /* What lies beyond all numbers lies beyond the end. */
        bool beyond = __builtin_mul_overflow(mid + 1, view->etype->items, &at) ||
                      file_byte(view, at - 1, &at) != 0 || (uint64_t)at >= end;

        low = beyond ? low : mid + 1;
        high = beyond ? mid : high;
    }
    *etypes = low;
    return 0;
}

int drep_view_size(drep_view *view, int64_t *etypes)
{
    int err;

    if (!etypes)
        return fail(DREP_ERR_ARG, "drep_view_size: null argument");
    err = view_enter(view, "drep_view_size");
    return err ? err : view_leave(view, count_etypes(view, etypes));
}

#define ROOM_MAX ((int64_t)64 << 20)   /* bytes of staging, whatever the hint */
#define ASKED_ITEMS ((int64_t)1 << 13) /* of a transfer, below which nobody is asked */
/* Bytes between items that cost less than a call of the system for each. */
#define READ_GAP ((int64_t)16 << 10)
#define WRITE_GAP ((int64_t)4 << 10)

/* One transfer. */
struct view_transfer {
    drep_view *v;
    const drep_type *type;
    char *user;
    const drep_xfer *xfer;
    int64_t position; /* of the next item in the user's typemap */
    int64_t left;     /* items still to move */
    struct sieve_at at;
    uint8_t *staging, *window;
    int64_t room; /* bytes of staging */
    int64_t window_size;
    int64_t gap;          /* between items that share a call */
    bool locks;           /* ranges that are written are locked */
    uint64_t end;         /* bytes of the file */
    struct losses report; /* what goes to xfer->report */
};

/* One element of a dataset, stored and packed. */
struct view_element {
    int64_t number;
    uint8_t *stored, *packed;
    int64_t stored_size, packed_size;
};

/* Copies the items of one element between its stored layout and packed bytes. */
static int repack(const drep_view *v, struct view_element *e, bool to_packed)
{
    const struct prog *p = &v->ds->ft->stored;
    int64_t left = p->items, at = 0;
    drep_cursor c;
    drep_run run;
    int err = cursor_init(&c, p, 0);

    while (!err && left > 0) {
        int64_t size;

        drep_cursor_next(&c, left, &run);
        size = v->sizes.size[run.type->code];
        for (int64_t i = 0; i < run.count; i++, at += size) {
            uint8_t *s = e->stored + run.offset + i * run.stride;

            to_packed ? memcpy(e->packed + at, s, (size_t)size)
                      : memcpy(s, e->packed + at, (size_t)size);
        }
        left -= run.count;
    }
    return err;
}

/* True if the items of a stored element lie back to back, in the order of the typemap. */
static bool stored_packed(const drep_view *v)
{
    const struct prog *p = &v->ds->ft->stored;
    int64_t left = p->items, at = 0;
    drep_cursor c;
    drep_run run;

    if (p->dense)
        return true;
    if (prog_gaps(p) || cursor_init(&c, p, 0) != 0)
        return false;
    for (; left > 0; left -= run.count) {
        int64_t size;

        drep_cursor_next(&c, left, &run);
        size = v->sizes.size[run.type->code];
        if (run.offset != at || (run.count > 1 && run.stride != size))
            return false;
        at += run.count * size;
    }
    return true;
}

/* Bytes of the packed row-major sequence of a dataset. */
static int dataset_bytes(drep_view *v, int64_t offset, int64_t bytes, uint8_t *buf, bool writing)
{
    drep_dataset *ds = v->ds;
    struct view_element e = {.stored_size = ds->esize};
    int err = packed_size(&v->sizes, ds->ft->type, 0, ds->ft->type->items, &e.packed_size);

    if (err)
        return err;
    if (offset % e.packed_size == 0 && bytes % e.packed_size == 0 && stored_packed(v))
        return dataset_raw(ds, offset / e.packed_size, bytes / e.packed_size, buf, writing);
    e.stored = mem_zalloc(2, (uint64_t)(e.stored_size + e.packed_size));
    if (!e.stored)
        return fail_nomem();
    e.packed = e.stored + e.stored_size;
    while (!err && bytes > 0) {
        int64_t in = offset % e.packed_size, n = e.packed_size - in;

        n = n < bytes ? n : bytes;
        e.number = offset / e.packed_size;
        err = dataset_raw(ds, e.number, 1, e.stored, false);
        if (!err)
            err = repack(v, &e, true);
        if (!err && writing) {
            memcpy(e.packed + in, buf, (size_t)n);
            err = repack(v, &e, false);
            if (!err)
                err = dataset_raw(ds, e.number, 1, e.stored, true);
        } else if (!err) {
            memcpy(buf, e.packed + in, (size_t)n);
        }
        offset += n;
        bytes -= n;
        buf += n;
    }
    mem_free(e.stored);
    return err;
}

/* ---- items that share a call ---- */

/* Bytes from `low` on, an offset in the view, that are read or written at once. */
static int view_bytes(struct view_transfer *a, int64_t low, int64_t size, uint8_t *p, bool writing)
{
    const struct io_ops *ops = a->v->io ? a->v->io->ops : NULL;
    int64_t at = a->v->disp + low;

    if (!ops)
        return dataset_bytes(a->v, at, size, p, writing);
    return writing ? ops->write_at(a->v->io, p, (size_t)size, (uint64_t)at)
                   : ops->read_at(a->v->io, p, (size_t)size, (uint64_t)at);
}

static int window_reserve(struct view_transfer *a, int64_t size)
{
    if (size <= a->window_size)
        return 0;
    mem_free(a->window);
    a->window = mem_alloc((uint64_t)size);
    a->window_size = a->window ? size : 0;
    return a->window ? 0 : fail_nomem();
}

/* Bring the items of a plan to `to`, packed. */
static int view_load(struct view_transfer *a, const struct sieve_plan *p, uint8_t *to)
{
    int err;

    if (p->dense) {
        sieve_skip(&a->at, p->items);
        return view_bytes(a, p->low, p->bytes, to, false);
    }
    err = window_reserve(a, p->high - p->low);
    if (!err)
        err = view_bytes(a, p->low, p->high - p->low, a->window, false);
    if (!err)
        sieve_gather(&a->at, &a->v->sizes, p, a->window, to);
    return err;
}

/* Put packed items into what the file has around them, zeros behind its end, and write all of it.
 */
static int save_among(struct view_transfer *a, const struct sieve_plan *p, const uint8_t *from)
{
    int64_t size = p->high - p->low, begin = a->v->disp + p->low, have = 0;
    uint64_t end;
    int err = window_reserve(a, size);

    if (!err)
        err = bytes_end(a->v, &end);
    if (!err && end > (uint64_t)begin)
        have = end - (uint64_t)begin < (uint64_t)size ? (int64_t)(end - (uint64_t)begin) : size;
    if (!err && have > 0)
        err = view_bytes(a, p->low, have, a->window, false);
    if (err)
        return err;
    memset(a->window + have, 0, (size_t)(size - have));
    sieve_scatter(&a->at, &a->v->sizes, p, a->window, from);
    return view_bytes(a, p->low, size, a->window, true);
}

/* Lock the bytes of a plan; *locked: they are.  Without locks only items may be written: *plan is
 * those that stand back to back then. */
static void lock_plan(struct view_transfer *a, struct sieve_limits *most, struct sieve_plan *p,
                      bool *locked)
{
    struct io *io = a->v->io;

    *locked = a->locks && io->ops->lock_bytes(io, (uint64_t)(a->v->disp + p->low),
                                              (uint64_t)(p->high - p->low), 2) == 0;
    if (*locked)
        return;
    a->locks = false;
    a->gap = most->gap = 0;
    if (!p->dense)
        sieve_plan(&a->at, &a->v->sizes, most, p);
}

/* Write the next packed items, `most` of them, as far as one call does it; *p: which. */
static int view_save(struct view_transfer *a, struct sieve_limits *most, const uint8_t *from,
                     struct sieve_plan *p)
{
    struct io *io = a->v->io;
    bool locked;
    int err;

    sieve_plan(&a->at, &a->v->sizes, most, p);
    lock_plan(a, most, p, &locked);
    if (p->dense) {
        sieve_skip(&a->at, p->items);
        err = view_bytes(a, p->low, p->bytes, (uint8_t *)(uintptr_t)from, true);
    } else {
        err = save_among(a, p, from);
    }
    if (locked)
        io->ops->lock_bytes(io, (uint64_t)(a->v->disp + p->low), (uint64_t)(p->high - p->low), 0);
    return err;
}

/* The items of the memory type must be those of the view. */
static int same_items(struct view_transfer *a, int64_t items)
{
    drep_cursor vc, mc;
    drep_run v = {0}, m = {0};
    int64_t cycle = a->v->filetype->items > a->type->items ? a->v->filetype->items : a->type->items;
    int64_t left = items < 2 * cycle ? items : 2 * cycle;
    int err = cursor_init(&mc, &a->type->prog, 0);

    vc = a->at.cursor;
    while (!err && left > 0) {
        int64_t n;

        if (v.count == 0)
            drep_cursor_next(&vc, left, &v);
        if (m.count == 0)
            drep_cursor_next(&mc, left, &m);
        if (v.type != m.type)
            return fail(DREP_ERR_TYPE, "the memory type has %s where the view has %s",
                        m.type->code != 0 ? drep_code_name(m.type->code) : "another type",
                        drep_code_name(v.type->code));
        n = v.count < m.count ? v.count : m.count;
        v.count -= n;
        m.count -= n;
        left -= n;
    }
    return err;
}

/* A transfer that asks for a range policy or a report needs a table to convert by; the
 * functions of a representation know neither. */
static bool by_table(const struct view_transfer *a)
{
    return a->v->rep->table && a->xfer && (a->xfer->range != DREP_RANGE_DEFAULT || a->xfer->report);
}

static int convert_by_table(struct view_transfer *a, int64_t items, bool writing, int64_t *done)
{
    int range = a->xfer->range == DREP_RANGE_DEFAULT ? DREP_RANGE_WRAP : a->xfer->range;
    struct rep_opts opts = {.range = range,
                            .value_range = range,
                            .report = !a->xfer->report ? NULL : &a->report,
                            .base = a->position};
    struct rep_side user = {&a->type->prog, rep_native(), a->position}, file;
    struct prog packed;
    drep_cursor c;
    drep_run run;
    uint8_t *bytes;
    int err = prog_build(&packed, a->type, &a->v->sizes, PROG_PACKED);

    if (err)
        return err;
    /* Where element 0 of the packed tiling would begin, were it all in the buffer. */
    file = (struct rep_side){&packed, a->v->rep->table, a->position};
    err = cursor_init(&c, &packed, a->position);
    if (!err) {
        drep_cursor_next(&c, 1, &run);
        bytes = (uint8_t *)((uintptr_t)a->staging - (uintptr_t)run.offset);
        err = writing ? rep_convert(bytes, &file, a->user, &user, items, &opts, done)
                      : rep_convert(a->user, &user, bytes, &file, items, &opts, done);
    }
    prog_release(&packed);
    return err;
}

/* Items of the user's type from item `at` on that functions convert, or that they do not:
 * how many, at most `most`.  *first: the first run of them. */
static int64_t alike_items(const struct view_transfer *a, int64_t at, int64_t most, bool *bytes,
                           drep_run *first)
{
    drep_cursor c;
    drep_run run;
    int64_t n;

    if (cursor_init(&c, &a->type->prog, at) != 0 || drep_cursor_next(&c, most, first) == 0)
        return 0;
    *bytes = first->type->code == DREP_CODE_BYTE || first->type->code == DREP_CODE_PACKED;
    for (n = first->count; !*bytes && n < most; n += run.count) {
        drep_cursor_next(&c, most - n, &run);
        if (run.type->code == DREP_CODE_BYTE || run.type->code == DREP_CODE_PACKED)
            break;
    }
    return n;
}

/* Through the functions.  In a container bytes are never converted (requirement E13), so
 * there each stretch of other items is a transfer of its own. */
static int convert_by_functions(struct view_transfer *a, int64_t items, bool writing, int64_t *done)
{
    const struct datarep *rep = a->v->rep;
    uint8_t *p = a->staging;
    int err = 0;

    for (int64_t n, moved, used; !err && *done < items; *done += moved, p += used) {
        int64_t at = a->position + *done;
        bool bytes = false;
        drep_run run;

        n = !a->v->ds || rep->table ? items : alike_items(a, at, items - *done, &bytes, &run);
        moved = used = n;
        for (int64_t i = 0; bytes && i < n; i++)
            writing ? memcpy(p + i, a->user + run.offset + i * run.stride, 1)
                    : memcpy(a->user + run.offset + i * run.stride, p + i, 1);
        if (!bytes)
            err = writing ? rep_write_items(rep, &a->v->sizes, a->user, a->type, at, n, p, a->room,
                                            &moved, &used)
                          : rep_read_items(rep, &a->v->sizes, a->user, a->type, at, n, p, a->room,
                                           &moved, &used);
        if (!err && moved == 0)
            err = fail(DREP_ERR_COUNT, "invalid item %lld", (long long)at);
    }
    return err;
}

static int convert_in(struct view_transfer *a, int64_t items)
{
    int64_t done = 0;
    int err = by_table(a) ? convert_by_table(a, items, false, &done)
                          : convert_by_functions(a, items, false, &done);

    a->position += done;
    a->left -= done;
    return err;
}

/* Fills the staging buffer with as many items as fit, then converts. */
static int read_items(struct view_transfer *a, bool *end)
{
    int64_t filled = 0, items = 0;
    int err = 0;

    while (!err && items < a->left) {
        const struct sieve_limits most = {.items = a->left - items,
                                          .bytes = a->room - filled,
                                          .window = a->room,
                                          .gap = a->gap,
                                          .end = (int64_t)a->end - a->v->disp};
        struct sieve_plan p;

        sieve_plan(&a->at, &a->v->sizes, &most, &p);
        if (p.items == 0)
            break;
        err = view_load(a, &p, a->staging + filled);
        filled += p.bytes;
        items += p.items;
    }
    *end = items == 0;
    return err || items == 0 ? err : convert_in(a, items);
}

/* How many whole items fit into the staging buffer. */
static int64_t items_for_staging(const struct view_transfer *a)
{
    struct sieve_at at = a->at;
    int64_t items = 0, bytes = 0;

    while (items < a->left &&
           (at.run.count > 0 || drep_cursor_next(&at.cursor, a->left - items, &at.run) != 0)) {
        int64_t size = a->v->sizes.size[at.run.type->code];
        int64_t n =
            (a->room - bytes) / size < at.run.count ? (a->room - bytes) / size : at.run.count;

        n = n < a->left - items ? n : a->left - items;
        items += n;
        bytes += n * size;
        if (n < at.run.count)
            break;
        at.run.count = 0;
    }
    return items;
}

/* Converts as many items as fit, then writes them out. */
static int write_items(struct view_transfer *a)
{
    int64_t items = items_for_staging(a), at = 0, done = 0;
    int err = by_table(a) ? convert_by_table(a, items, true, &done)
                          : convert_by_functions(a, items, true, &done);

    for (items = done; items > 0;) {
        struct sieve_limits most = {.items = items,
                                    .bytes = a->room - at,
                                    .window = a->room,
                                    .gap = a->gap,
                                    .end = INT64_MAX};
        struct sieve_plan p;
        int bad = view_save(a, &most, a->staging + at, &p);

        if (bad)
            return bad;
        at += p.bytes;
        items -= p.items;
        a->position += p.items;
        a->left -= p.items;
    }
    return err;
}

/* Which item etype number `offset` begins with; those of the transfer end within 2^63 bytes. */
static int position_of(const drep_view *v, int64_t offset, int64_t items, int64_t *position)
{
    int64_t last, at;

    if (!__builtin_mul_overflow(offset, v->etype->items, position) &&
        (items == 0 ||
         (!__builtin_add_overflow(*position, items - 1, &last) && file_byte(v, last, &at) == 0)))
        return 0;
    return fail(DREP_ERR_VALUE_TOO_LARGE, "%lld items from etype %lld on end beyond 2^63 bytes",
                (long long)items, (long long)offset);
}

/* About how many bytes of the file so many items are: an element's may differ. */
static int64_t items_bytes(const drep_view *v, int64_t items)
{
    return (int64_t)((double)items * (double)v->prog.size / (double)v->prog.items);
}

static int view_move(struct view_transfer *a, int64_t offset, int64_t count, bool writing)
{
    drep_view *v = a->v;
    int64_t position, items, largest = 0;
    struct advance *advance;
    bool end = false;
    int err = size_up(v);

    if (err)
        return err;
    if (count < 0 || offset < 0)
        return fail(DREP_ERR_COUNT, "offset %lld, count %lld", (long long)offset, (long long)count);
    if ((err = type_elements(a->type, count, &items)) ||
        (a->xfer && (err = type_fits(a->type, count, a->xfer->buf_size))))
        return err;
    if (writing && !v->writable)
        return fail(DREP_ERR_READ_ONLY, "opened read-only");
    if (items > 0 && !a->user)
        return fail(DREP_ERR_ARG, "no buffer");
    if (items > 0 && v->prog.items == 0)
        return fail(DREP_ERR_TYPE, "the view has no data items");
    if ((err = position_of(v, offset, items, &position)) ||
        (err = cursor_init(&a->at.cursor, &v->prog, position)) || items == 0 ||
        (err = same_items(a, items)) || (err = bytes_end(v, &a->end)))
        return err;
    for (int c = 1; c <= DREP_CODE_MAX; c++)
        largest = v->sizes.size[c] > largest ? v->sizes.size[c] : largest;
    a->left = items;
    a->room = hint_size(v->info, "cb_buffer_size");
    a->room = a->room < largest ? largest : a->room > ROOM_MAX ? ROOM_MAX : a->room;
    if (!(a->staging = mem_alloc((uint64_t)a->room)))
        return fail_nomem();
    a->locks = v->io && v->io->ops->lock_bytes && info_bool(v->info, "drep_lock");
    a->gap = !v->io ? 0 : !writing ? READ_GAP : a->locks ? WRITE_GAP : 0;
    advance = items >= ASKED_ITEMS ? advance_begin(items_bytes(v, items)) : NULL;
    while (!err && a->left > 0 && !end) {
        int64_t before = a->left;

        err = writing ? write_items(a) : read_items(a, &end);
        if (!err && a->left > 0)
            err = advance_add(advance, items_bytes(v, before - a->left));
    }
    advance_end(advance);
    mem_free(a->staging);
    mem_free(a->window);
    if (err == DREP_ERR_CONVERSION && writing)
        fail_in(err, "after %lld items", (long long)a->position);
    return err;
}

/* End a call that moved items: give their number and the report. */
static int view_moved(const struct view_transfer *a, int err, int64_t *items)
{
    view_leave(a->v, err);
    if (items)
        *items = a->position;
    if (a->xfer && a->xfer->report)
        losses_report(&a->report, a->xfer->report);
    return fail_in(err, "%s", a->v->path);
}

int drep_read_at(drep_view *view, int64_t offset, void *buf, int64_t count, const drep_type *type,
                 const drep_xfer *xfer, int64_t *items)
{
    struct view_transfer a = {.v = view, .type = type, .user = buf, .report = NO_LOSSES};
    struct xfer x;
    int err;

    if (!type)
        return fail(DREP_ERR_ARG, "drep_read_at: null argument");
    if ((err = xfer_begin(&x, xfer, "drep_read_at")) || (err = view_enter(view, "drep_read_at")))
        return err;
    a.xfer = x.use;
    if (view->ds && (err = read_begin(view->ds->file)))
        return view_leave(view, err);
    err = view_move(&a, offset, count, false);
    if (view->ds)
        read_end(view->ds->file, err);
    return xfer_end(&x, view_moved(&a, err, items));
}

int drep_write_at(drep_view *view, int64_t offset, const void *buf, int64_t count,
                  const drep_type *type, const drep_xfer *xfer, int64_t *items)
{
    struct view_transfer a = {
        .v = view, .type = type, .user = (char *)(uintptr_t)buf, .report = NO_LOSSES};
    struct xfer x;
    int err;

    if (!type)
        return fail(DREP_ERR_ARG, "drep_write_at: null argument");
    if ((err = xfer_begin(&x, xfer, "drep_write_at")) || (err = view_enter(view, "drep_write_at")))
        return err;
    a.xfer = x.use;
    if (view->ds && (err = write_begin(view->ds->file)))
        return view_leave(view, err);
    err = view_move(&a, offset, count, true);
    if (view->ds && (err = write_end(view->ds->file, err)))
        a.position = 0; /* all of it was taken back */
    return xfer_end(&x, view_moved(&a, err, items));
}
