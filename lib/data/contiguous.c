/* contiguous.c - elements of datasets whose chunks are slabs of one sequence.
 *
 * A box is runs of the flat sequence.  Long ones are shared between threads slab by slab,
 * many short ones by cutting the box. */
#include "data/transfer.h"

#include <string.h>

#define LONG_RUN ((uint64_t)4 << 20) /* bytes that are shared slab by slab */
#define PIECE ((uint64_t)256 << 10)  /* converted, summed and written while in the cache */
#define SHARES 4                     /* of a box for each thread, so that all end together */

/* ---- reading ---- */

/* Reads flat runs that come upwards. */
struct flat_reader {
    struct transfer *t;
    struct conv c;
    struct work *w;
    struct gather g;
    struct filler f;
    int64_t slab; /* at hand, -1: none */
    uint64_t size;
};

static int reader_begin(struct flat_reader *r, struct transfer *t)
{
    r->t = t;
    r->slab = -1;
    r->w = work_take(t->ds->file->st);
    if (r->w == NULL)
        return DREP_ERR_NOMEM;
    part_begin(t, &r->c);
    r->f = (struct filler){t, &r->c, work_buf(r->w), false};
    return 0;
}

static int leave_slab(struct flat_reader *r, int err)
{
    if (r->slab >= 0 && err == 0)
        err = gather_flush(&r->g);
    if (r->slab >= 0)
        chunk_leave(r->w);
    r->slab = -1;
    return err;
}

static int reader_end(struct flat_reader *r, int err)
{
    err = leave_slab(r, err);
    part_end(r->t, &r->c);
    work_give(r->t->ds->file->st, r->w);
    return err;
}

static int enter_slab(struct flat_reader *r, int64_t slab)
{
    uint64_t coord = (uint64_t)slab;
    int whole, err = leave_slab(r, 0);

    if (err == 0)
        err = chunk_at(r->w, &r->t->ds->chunks, &coord, &r->size, &whole);
    if (err != 0)
        return err;
    r->slab = slab;
    gather_init(&r->g, r->t, &r->c, r->w, r->size);
    return 0;
}

static int read_flat(void *ctx, int64_t at, int64_t step, int64_t n, int64_t mem)
{
    struct flat_reader *r = ctx;
    int64_t slab_n = (int64_t)r->t->ds->rec.slab, now;
    int err = 0;

    for (; err == 0 && n > 0; n -= now, at += now * step, mem += now) {
        int64_t slab = at / slab_n, in = at % slab_n;

        now = (slab_n - in - 1) / step + 1;
        now = now < n ? now : n;
        if (slab != r->slab)
            err = enter_slab(r, slab);
        if (err == 0)
            err = r->size == 0 ? fill_run(&r->f, in, step, now, mem)
                               : gather_run(&r->g, in, step, now, mem);
    }
    return err;
}

/* A long run, or a share of a box. */
struct flat_work {
    struct transfer *t;
    int64_t at, n, mem;
    int dim; /* of the box that is cut */
    int64_t shares;
};

static int read_slab(void *ctx, int64_t i)
{
    const struct flat_work *f = ctx;
    int64_t slab_n = (int64_t)f->t->ds->rec.slab, slab = f->at / slab_n + i;
    int64_t from = slab * slab_n > f->at ? slab * slab_n : f->at;
    int64_t to = (slab + 1) * slab_n < f->at + f->n ? (slab + 1) * slab_n : f->at + f->n;
    struct flat_reader r;
    int err = reader_begin(&r, f->t);

    if (err != 0)
        return err;
    err = read_flat(&r, from, 1, to - from, f->mem + from - f->at);
    return reader_end(&r, err);
}

static int read_long(void *ctx, int64_t at, int64_t step, int64_t n, int64_t mem)
{
    struct flat_work *f = ctx;
    int64_t slab_n = (int64_t)f->t->ds->rec.slab;

    (void)step; /* a long run has none */
    f->at = at;
    f->n = n;
    f->mem = mem;
    return pool_run(f->t->threads, (at + n - 1) / slab_n - at / slab_n + 1, read_slab, f);
}

static void whole_box(const struct transfer *t, int64_t *k0, int64_t *k1, int64_t *from,
                      int64_t *len)
{
    for (int d = 0; d < t->sel->rank; d++) {
        k0[d] = from[d] = 0;
        k1[d] = t->sel->dim[d].n;
        len[d] = (int64_t)t->ds->rec.len[d];
    }
}

static int read_share(void *ctx, int64_t i)
{
    const struct flat_work *f = ctx;
    int64_t k0[DREP_MAX_RANK], k1[DREP_MAX_RANK], from[DREP_MAX_RANK], len[DREP_MAX_RANK];
    int64_t n = f->t->sel->rank > 0 ? f->t->sel->dim[f->dim].n : 1;
    struct flat_reader r;
    int err = reader_begin(&r, f->t);

    if (err != 0)
        return err;
    whole_box(f->t, k0, k1, from, len);
    if (f->t->sel->rank > 0) {
        k0[f->dim] = n / f->shares * i + (i < n % f->shares ? i : n % f->shares);
        k1[f->dim] = k0[f->dim] + n / f->shares + (i < n % f->shares);
    }
    err = selection_runs(f->t->sel, k0, k1, from, len, read_flat, &r);
    return reader_end(&r, err);
}

static int read_box(struct transfer *t)
{
    int64_t k0[DREP_MAX_RANK], k1[DREP_MAX_RANK], from[DREP_MAX_RANK], len[DREP_MAX_RANK];
    struct flat_work f = {.t = t, .shares = 1};
    uint64_t run, bytes;
    int threads;

    whole_box(t, k0, k1, from, len);
    run = bytes_of(t->ds, selection_run_len(t->sel, len));
    bytes = bytes_of(t->ds, t->sel->count);
    if (t->threads > 1 && run >= LONG_RUN)
        return selection_runs(t->sel, k0, k1, from, len, read_long, &f);
    if (run < FMT_SUM_BLOCK) /* what must be read */
        bytes = bytes / run * FMT_SUM_BLOCK;
    threads = threads_for(t, bytes);
    while (f.dim < t->sel->rank - 1 && t->sel->dim[f.dim].n == 1)
        f.dim++;
    if (threads > 1 && t->sel->rank > 0)
        f.shares =
            t->sel->dim[f.dim].n < SHARES * threads ? t->sel->dim[f.dim].n : SHARES * threads;
    return pool_run(threads, f.shares, read_share, &f);
}

/* ---- writing ---- */

struct flat_writer {
    struct transfer *t;
    struct conv c;
    struct scatter s;
    struct buf b;
    uint64_t coord; /* of the slab that s is in */
    int64_t mem;    /* whole slabs: number of the first element */
};

/* Bytes of slab i of those that are written whole. */
static int slab_bytes(void *ctx, struct work *w, uint64_t i, uint64_t from, uint64_t size,
                      const uint8_t **p)
{
    const struct flat_writer *f = ctx;
    drep_dataset *ds = f->t->ds;
    int64_t es = ds->esize, n = (int64_t)size / es;
    int64_t mem = f->mem + (int64_t)i * (int64_t)ds->rec.slab + (int64_t)from / es;
    struct buf *b = work_buf(w);
    struct conv c;
    int err;

    if (f->t->conv.copy && f->t->conv.opts.report == NULL) {
        *p = (const uint8_t *)plain_memory(f->t, mem);
        return 0;
    }
    if ((err = buf_reserve(b, size)) != 0)
        return err;
    part_begin(f->t, &c);
    if (header_layout(ds->file) == PROG_STRUCT)
        memset(b->p, 0, (size_t)size); /* gaps are zeros */
    err = conv_write(&c, f->t->mem, mem, b->p, es, n);
    part_end(f->t, &c);
    *p = b->p;
    return err;
}

/* n whole slabs, all of `len` elements. */
static int write_slabs(struct flat_writer *f, int64_t slab, int64_t n, int64_t len, int64_t mem)
{
    drep_dataset *ds = f->t->ds;
    struct chunk_source from = {slab_bytes, f, PIECE, 1};
    uint64_t *coords = mem_array((uint64_t)n, sizeof *coords);
    int err;

    if (coords == NULL)
        return DREP_ERR_NOMEM;
    for (int64_t i = 0; i < n; i++)
        coords[i] = (uint64_t)(slab + i);
    if (PIECE % (uint64_t)ds->esize != 0) /* pieces are whole elements */
        from.piece = UINT64_MAX;
    from.threads = threads_for(f->t, bytes_of(ds, n * len));
    f->mem = mem;
    err = chunks_write(&ds->chunks, coords, (uint64_t)n, bytes_of(ds, len), &from);
    mem_free(coords);
    return err;
}

/* Elements that a slab has in the dataset as it is now. */
static int64_t slab_len(const drep_dataset *ds, int64_t slab)
{
    int64_t left = dataset_count(ds) - slab * (int64_t)ds->rec.slab;

    return left < (int64_t)ds->rec.slab ? left : (int64_t)ds->rec.slab;
}

static int write_part(struct flat_writer *f, int64_t slab, int64_t in, int64_t step, int64_t n,
                      int64_t mem)
{
    int err = 0;

    if (f->coord != (uint64_t)slab)
        err = scatter_flush(&f->s);
    f->coord = (uint64_t)slab;
    return err != 0 ? err : scatter_run(&f->s, in, step, n, mem);
}

static int write_flat(void *ctx, int64_t at, int64_t step, int64_t n, int64_t mem)
{
    struct flat_writer *f = ctx;
    drep_dataset *ds = f->t->ds;
    int64_t slab_n = (int64_t)ds->rec.slab, now;
    int err = 0;

    for (; err == 0 && n > 0; n -= now, at += now * step, mem += now) {
        int64_t slab = at / slab_n, in = at % slab_n, len = slab_len(ds, slab);

        now = (slab_n - in - 1) / step + 1;
        now = now < n ? now : n;
        if (step > 1 || in > 0 || now < len) {
            err = write_part(f, slab, in, step, now, mem);
            continue;
        }
        err = scatter_flush(&f->s);
        if (len == slab_n)
            now = n / slab_n * slab_n;
        if (err == 0)
            err = write_slabs(f, slab, len == slab_n ? now / slab_n : 1, len, mem);
    }
    return err;
}

static int write_box(struct transfer *t)
{
    int64_t k0[DREP_MAX_RANK], k1[DREP_MAX_RANK], from[DREP_MAX_RANK], len[DREP_MAX_RANK];
    struct flat_writer *f = mem_zalloc(1, sizeof *f);
    int err;

    if (f == NULL)
        return DREP_ERR_NOMEM;
    f->t = t;
    part_begin(t, &f->c);
    f->s = (struct scatter){.t = t, .c = &f->c, .coord = &f->coord, .b = &f->b};
    whole_box(t, k0, k1, from, len);
    err = selection_runs(t->sel, k0, k1, from, len, write_flat, f);
    if (err == 0)
        err = scatter_flush(&f->s);
    part_end(t, &f->c);
    buf_release(&f->b);
    mem_free(f);
    return err;
}

int contiguous_run(struct transfer *t)
{
    if (!selection_is_box(t->sel))
        return t->writing ? chunked_write(t) : chunked_read(t);
    return t->writing ? write_box(t) : read_box(t);
}
