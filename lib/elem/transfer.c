/* transfer.c - reading and writing the elements of datasets.
 *
 * A transfer is cut into parts, one a slab or chunk.  Each part is read, verified and
 * converted while it is in the processor's cache; parts run in the worker pool.  A write
 * runs inside one operation of the store: when an element fails, nothing of it stays. */
#include "elem/transfer.h"

#include <stdio.h>
#include <string.h>

/* ---- what the layouts share ---- */

void conv_begin(const struct transfer *t, struct conv *c)
{
    *c = t->conv;
    c->report = (drep_report){.first_overflow = -1, .first_inexact = -1, .first_nan_lost = -1};
    if (c->opts.report != NULL)
        c->opts.report = &c->report;
}

void conv_end(const struct transfer *t, const struct conv *c)
{
    pthread_mutex_t *lock = (pthread_mutex_t *)(uintptr_t)&t->lock;

    if (t->xfer == NULL || t->xfer->report == NULL)
        return;
    pthread_mutex_lock(lock);
    conv_report(c, t->xfer);
    pthread_mutex_unlock(lock);
}

void conv_raw(struct conv *c, const drep_dataset *ds)
{
    *c = (struct conv){.rep = &ds->file->rep,
                       .ft = ds->ft,
                       .mem = ds->ft->type,
                       .stored = &ds->ft->stored,
                       .raw = true,
                       .copy = true};
}

char *plain_memory(const struct transfer *t, int64_t at)
{
    const struct prog *mem = &t->conv.mem->prog;

    if (t->conv.raw)
        return t->mem + at * t->ds->esize;
    return t->mem + mem->origin + at * t->conv.stored->items * mem->root->stride;
}

int memory_run(void *ctx, int64_t at, int64_t step, int64_t n, int64_t mem)
{
    struct in_memory *s = ctx;
    int64_t es = s->t->ds->esize;
    uint8_t *p = s->payload + at * es;

    return s->t->writing ? conv_write(s->c, s->t->mem, mem, p, step * es, n)
                         : conv_read(s->c, s->t->mem, mem, p, step * es, n);
}

int name_chunk(const struct transfer *t, const struct part *p, int err)
{
    char text[DREP_MAX_RANK * 21 + 1];
    size_t at = 0;

    if (err == 0)
        return 0;
    text[0] = '\0';
    for (int d = 0; d < t->ds->chunks.rank; d++)
        at += (size_t)snprintf(text + at, sizeof text - at, "%s%llu", d > 0 ? "," : "",
                               (unsigned long long)p->coord[d]);
    return fail_in(err, "chunk (%s)", text);
}

/* ---- entry ---- */

static int items_check(const drep_dataset *ds, const drep_type *mem, int64_t n)
{
    int64_t items;

    int err;

    if (__builtin_mul_overflow(n, ds->ft->stored.items, &items))
        return fail(DREP_ERR_VALUE_TOO_LARGE, "more than 2^63 data items");
    if (items > 0 && (mem->items == 0 || items % mem->items != 0))
        return fail(DREP_ERR_COUNT,
                    "the selection's %lld data items do not fill whole elements of %lld items",
                    (long long)items, (long long)mem->items);
    err = items > 0 ? type_elements(mem, items / mem->items, &items) : 0;
    return err == 0 ? 0 : fail_in(err, "memory");
}

/* The null dataspace has no elements to select. */
static int null_check(struct transfer *t)
{
    if (t->sel != &t->all && t->sel->count > 0)
        return fail(DREP_ERR_RANGE, "a selection in the null dataspace");
    t->all.count = 0;
    t->sel = &t->all;
    return 0;
}

/* The transfer itself.  A read that fails in the middle keeps nothing of variable
 * length. */
static int run_layout(struct transfer *t)
{
    drep_dataset *ds = t->ds;
    const drep_type *mem = t->conv.mem;
    int64_t tiles = mem->items > 0 ? t->sel->count * ds->ft->stored.items / mem->items : 0;
    int err;

    if (!t->writing && !t->conv.raw)
        memory_clear(mem, tiles, t->mem);
    err = ds->rec.layout == FMT_COMPACT      ? compact_run(t)
          : ds->rec.layout == FMT_CONTIGUOUS ? contiguous_run(t)
          : t->writing                       ? chunked_write(t)
                                             : chunked_read(t);
    if (err != 0 && !t->writing && !t->conv.raw)
        drep_vlen_free(mem, tiles, t->mem);
    return err;
}

/* How many threads: the transfer's wish, the file's, as many as there are processors. */
static int threads_of(const drep_dataset *ds, const drep_xfer *xfer)
{
    int threads = xfer != NULL && xfer->threads > 0 ? xfer->threads : (int)ds->file->hints.threads;

    if (ds->file->rep.datarep != NULL && ds->file->rep.datarep->flags & DREP_REP_SERIAL)
        return 1;
    return threads > 0 ? threads : pool_cpus();
}

/* ---- all of a small dataset: nothing has to be planned ---- */

static int small_write(drep_dataset *ds, struct conv *c, const char *mem, int64_t n)
{
    struct buf *b = &ds->file->op.scratch[1];
    size_t size = (size_t)bytes_of(ds, n); /* compact: small */
    struct key key;
    int err = buf_reserve(b, size);

    if (err != 0)
        return err;
    if (c->layout == PROG_STRUCT)
        memset(b->p, 0, size); /* gaps are zeros */
    if ((err = conv_write(c, mem, 0, b->p, ds->esize, n)) != 0)
        return err;
    key_make(&key, ds->id, FMT_TAG_DATA);
    return tree_put(ds->file->st, &key, b->p, size);
}

/* *whole: it was all there, and is read. */
static int small_read(drep_dataset *ds, struct conv *c, char *mem, int64_t n, bool *whole)
{
    struct peek peek;
    struct key key;
    int err;

    key_make(&key, ds->id, FMT_TAG_DATA);
    *whole = false;
    err = tree_peek(ds->file->st, &key, &peek);
    if (err != 0)
        return err == DREP_ERR_NOT_FOUND ? 0 : err;
    *whole = peek.len == bytes_of(ds, n);
    if (*whole)
        err = conv_read(c, mem, 0, peek.p, ds->esize, n);
    tree_peeked(&peek);
    return err;
}

/* *done: 0 if it is no such transfer. */
static int small_run(drep_dataset *ds, const drep_selection *sel, const drep_type *type, char *mem,
                     const drep_xfer *xfer, bool writing, bool *done)
{
    int64_t n = dataset_count(ds);
    struct conv c;
    int err;

    *done = false;
    if (ds->rec.layout != FMT_COMPACT || sel != NULL || ds->ft->type->variable || n == 0 ||
        ds->esize == 0 || mem == NULL || (type != NULL && type != ds->ft->type) ||
        (xfer != NULL && xfer->report != NULL))
        return 0;
    err = dataset_alive(ds);
    if (err == 0)
        err = conv_init(&c, &ds->file->rep, ds->ft, type, xfer, writing);
    if (err != 0)
        return err;
    *done = true;
    return writing ? small_write(ds, &c, mem, n) : small_read(ds, &c, mem, n, done);
}

static int run_planned(drep_dataset *ds, const drep_selection *sel, const drep_type *type,
                       char *mem, const drep_xfer *xfer, bool writing)
{
    struct transfer *t = mem_zalloc(1, sizeof *t);
    int err = 0;

    if (t == NULL)
        return fail_nomem();
    t->ds = ds;
    t->mem = mem;
    t->writing = writing;
    t->xfer = xfer;
    pthread_mutex_init(&t->lock, NULL);
    t->threads = threads_of(ds, xfer);
    if (sel == NULL)
        selection_all(&t->all, ds->rec.rank == FMT_RANK_NULL ? 0 : ds->rec.rank, ds->rec.len);
    t->sel = sel == NULL ? &t->all : sel;
    err = dataset_alive(ds);
    if (err == 0)
        err = ds->rec.rank == FMT_RANK_NULL ? null_check(t)
                                            : selection_check(t->sel, ds->rec.rank, ds->rec.len);
    if (err == 0)
        err = items_check(ds, type == NULL ? ds->ft->type : type, t->sel->count);
    if (err == 0 && t->sel->count > 0 && mem == NULL)
        err = fail(DREP_ERR_ARG, "no buffer");
    if (err == 0)
        err = conv_init(&t->conv, &ds->file->rep, ds->ft, type, xfer, writing);
    if (err == 0 && writing)
        err = filters_known(ds->chunks.filter, ds->chunks.nfilters, 0);
    if (err == 0 && t->sel->count > 0 && ds->esize > 0)
        err = run_layout(t);
    pthread_mutex_destroy(&t->lock);
    mem_free(t);
    return err;
}

static int run_nameless(drep_dataset *ds, const drep_selection *sel, const drep_type *type,
                        char *mem, const drep_xfer *xfer, bool writing)
{
    bool done;
    int err = small_run(ds, sel, type, mem, xfer, writing, &done);

    return err != 0 || done ? err : run_planned(ds, sel, type, mem, xfer, writing);
}

static int run(drep_dataset *ds, const drep_selection *sel, const drep_type *type, char *mem,
               const drep_xfer *xfer, bool writing)
{
    return fail_in(run_nameless(ds, sel, type, mem, xfer, writing), "dataset \"%s\"", ds->path);
}

int dataset_read(drep_dataset *ds, const drep_selection *sel, const drep_type *type, void *buf,
                 const drep_xfer *xfer)
{
    return run_nameless(ds, sel, type, buf, xfer, false);
}

static void report_clear(const drep_xfer *xfer)
{
    if (xfer != NULL && xfer->report != NULL)
        *xfer->report =
            (drep_report){.first_overflow = -1, .first_inexact = -1, .first_nan_lost = -1};
}

int drep_read(drep_dataset *dataset, const drep_selection *sel, const drep_type *type, void *buf,
              const drep_xfer *xfer)
{
    int err;

    if ((err = dataset_check(dataset, "drep_read")) != 0)
        return err;
    report_clear(xfer);
    if ((err = read_begin(dataset->file)) != 0)
        return err;
    return read_end(dataset->file, run(dataset, sel, type, buf, xfer, false));
}

int dataset_write(drep_dataset *ds, const drep_selection *sel, const drep_type *type,
                  const void *buf, const drep_xfer *xfer)
{
    report_clear(xfer);
    ds->verified = false;
    return run(ds, sel, type, (char *)(uintptr_t)buf, xfer, true);
}

int drep_write(drep_dataset *dataset, const drep_selection *sel, const drep_type *type,
               const void *buf, const drep_xfer *xfer)
{
    int err;

    if ((err = dataset_check(dataset, "drep_write")) != 0 ||
        (err = write_begin(dataset->file)) != 0)
        return err;
    err = dataset_write(dataset, sel, type, buf, xfer);
    return write_end(dataset->file, err);
}

/* ---- stored elements as they are, for views ---- */

/* The box of `n` elements of one row from flat index `at` on. */
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

static int raw_begin(struct transfer *t, drep_dataset *ds, int threads, bool writing)
{
    int err = dataset_alive(ds);

    if (err != 0)
        return fail_in(err, "dataset \"%s\"", ds->path);
    t->ds = ds;
    t->sel = &t->all;
    t->writing = writing;
    t->threads = threads;
    conv_raw(&t->conv, ds);
    pthread_mutex_init(&t->lock, NULL);
    return 0;
}

static int raw_end(struct transfer *t, int err)
{
    pthread_mutex_destroy(&t->lock);
    return fail_in(err, "dataset \"%s\"", t->ds->path);
}

int dataset_raw(drep_dataset *ds, int64_t at, int64_t n, void *buf, bool writing)
{
    int rank = ds->rec.rank, err = 0;
    int64_t row = rank > 0 && rank != FMT_RANK_NULL ? (int64_t)ds->rec.len[rank - 1] : 1;
    struct transfer *t;

    if (at < 0 || at > dataset_count(ds) || n > dataset_count(ds) - at)
        return fail(DREP_ERR_RANGE, "dataset \"%s\": elements from %lld on, it has %lld", ds->path,
                    (long long)at, (long long)dataset_count(ds));
    t = mem_zalloc(1, sizeof *t);
    if (t == NULL)
        return fail_nomem();
    if ((err = raw_begin(t, ds, 1, writing)) != 0) {
        mem_free(t);
        return err;
    }
    for (t->mem = buf; err == 0 && n > 0;) {
        int64_t now = row - at % row < n ? row - at % row : n;

        row_box(ds, at, now, &t->all);
        err = run_layout(t);
        at += now;
        n -= now;
        t->mem += now * ds->esize;
    }
    err = raw_end(t, err);
    mem_free(t);
    return err;
}

int dataset_raw_box(drep_dataset *ds, const uint64_t *from, const uint64_t *len, void *buf,
                    int threads, bool writing)
{
    struct transfer *t = mem_zalloc(1, sizeof *t);
    int err;

    if (t == NULL)
        return fail_nomem();
    if ((err = raw_begin(t, ds, threads, writing)) == 0) {
        selection_all(&t->all, ds->rec.rank, len);
        for (int d = 0; d < ds->rec.rank; d++)
            t->all.dim[d].start = (int64_t)from[d];
        t->mem = buf;
        err = raw_end(t, run_layout(t));
    }
    mem_free(t);
    return err;
}
