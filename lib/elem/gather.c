/* gather.c - reading elements that need not be decoded: exactly the blocks they stand in. */
/* SPDX-License-Identifier: MIT */
#include "elem/gather.h"

#include "base/bypass.h"
#include "chunk/read.h"
#include "elem/fill.h"

#include <string.h>

#define FILL_PIECE (64 << 10) /* bytes of fill that are converted at once */

#define BLOCK FMT_SUM_BLOCK
#define WINDOW ((uint64_t)32 * BLOCK)
#define DIRECT ((uint64_t)64 << 10) /* bytes that go where they belong without a window */
#define PIECE ((uint64_t)256 << 10) /* of them, converted there while in the processor's cache */

void gather_init(struct gather *g, struct transfer *t, struct conv *c, struct work *w,
                 uint64_t size)
{
    g->t = t;
    g->c = c;
    g->w = w;
    g->size = size;
    g->n = 0;
}

/* Converts one run, whose elements stand from p on. */
static int gather_one(struct gather *g, const uint8_t *p, int64_t step, int64_t n, int64_t mem)
{
    struct transfer *t = g->t;
    uint64_t size = bytes_of(t->ds, n);

    if (step != 1 || !g->c->copy || g->c->opts.report)
        return conv_read(g->c, t->mem, mem, p, step * t->ds->esize, n);
    if (size >= BYPASS_MIN && bytes_of(t->ds, t->sel->count) >= BYPASS_ALL)
        bypass_copy(plain_memory(t, mem), p, (size_t)size);
    else
        memcpy(plain_memory(t, mem), p, (size_t)size);
    return 0;
}

/* Reads the blocks that the collected runs touch, verifies them, and converts the runs. What the
 * chunk lacks is fill. */
int gather_flush(void *gather)
{
    struct gather *g = gather;
    drep_dataset *ds = g->t->ds;
    uint64_t size = g->high - g->low, have = 0;
    uint8_t *p = NULL;
    int err = 0;

    if (g->n == 0)
        return 0;
    err = chunk_window(g->w, g->low, g->high, g->blocks, g->wanted, &p, &have);
    if (!err && have < size)
        err = fill_bytes(ds, p + have, g->low + have, size - have);
    for (int i = 0; !err && i < g->n; i++)
        err = gather_one(g, p + (bytes_of(ds, g->run[i].at) - g->low), g->run[i].step, g->run[i].n,
                         g->run[i].mem);
    g->n = 0;
    return err;
}

/* Begins a window at the block of this byte. It ends with the cell, which is what the cache keeps,
 * or after a fixed number of blocks. */
static void window_begin(struct gather *g, uint64_t byte)
{
    uint64_t es = (uint64_t)g->t->ds->esize, cell = g->t->ds->chunks.cell;

    g->low = byte / BLOCK * BLOCK;
    g->limit = cell != 0 ? (byte / cell + 1) * cell : g->low + WINDOW;
    if (byte + es > g->limit) /* one element that is larger */
        g->limit = byte + es;
    g->high = byte;
    g->blocks = 0;
    g->wanted = 0;
}

/* Notes the blocks of bytes [from, to) in the window's bit map. */
static void window_touch(struct gather *g, uint64_t from, uint64_t to)
{
    uint64_t first = (from - g->low) / BLOCK, last = (to - 1 - g->low) / BLOCK;

    if (last >= 64)
        g->blocks = ~(uint64_t)0; /* of a large element: all of it is read */
    else
        g->blocks |= (~(uint64_t)0 >> (63 - (last - first))) << first;
}

/* Reads a long run to where it belongs: its bytes are those of memory and would only pass through
 * the window. */
static int gather_direct(struct gather *g, int64_t at, int64_t n, int64_t mem)
{
    drep_dataset *ds = g->t->ds;
    uint8_t *to = (uint8_t *)plain_memory(g->t, mem);
    uint64_t offset = bytes_of(ds, at), size = bytes_of(ds, n), have = 0;
    int err = gather_flush(g);

    if (!err)
        err = chunk_bytes(g->w, offset, size, to, &have);
    if (!err && have < size)
        err = fill_bytes(ds, to + have, offset + have, size - have);
    conv_count(g->c, n);
    return err;
}

/* True if conversion only puts the bytes of each item in another order. */
static bool reorders(const struct conv *c, const drep_dataset *ds)
{
    const struct prog *mem = &c->mem->prog;

    return c->dense && !c->raw && c->kernel.run == run_move && c->stored->dense && mem->dense &&
           mem->extent == ds->esize && mem->items == c->stored->items;
}

/* Reads a long run to where it belongs and puts its bytes in order there: copied from a window,
 * they would take twice the time.  Pieces end where blocks end, so that no block is read twice. */
static int gather_reordered(struct gather *g, int64_t at, int64_t n, int64_t mem)
{
    int64_t es = g->t->ds->esize, piece = (int64_t)PIECE / es, now;
    int err = gather_flush(g);

    for (; !err && n > 0; n -= now, at += now, mem += now) {
        uint8_t *to = (uint8_t *)plain_memory(g->t, mem);
        uint64_t have = 0, size;

        now = piece - at % piece < n ? piece - at % piece : n;
        size = bytes_of(g->t->ds, now);
        err = chunk_bytes(g->w, bytes_of(g->t->ds, at), size, to, &have);
        if (!err && have < size)
            err = fill_bytes(g->t->ds, to + have, bytes_of(g->t->ds, at) + have, size - have);
        if (!err)
            err = conv_read(g->c, g->t->mem, mem, to, es, now);
    }
    return err;
}

/* Kept in the cache the bytes would be copied twice, into memory that the system has to clear: that
 * takes the time of five reads from a local file.  A distant file is read once, if all of it fits.
 */
bool direct_pays(const drep_dataset *ds, int64_t n)
{
    return bytes_of(ds, n) >= DIRECT && (!ds->chunks.fits || ds->file->st->io->round_trip == 0);
}

/* Collects a run, cut where it leaves the window. Runs come upwards, so what is flushed is never
 * needed again. */
int gather_run(void *ctx, int64_t at, int64_t step, int64_t n, int64_t mem)
{
    struct gather *g = ctx;
    drep_dataset *ds = g->t->ds;
    uint64_t es = (uint64_t)ds->esize;
    int64_t now;
    int err = 0;

    if (step == 1 && g->c->copy && direct_pays(ds, n))
        return gather_direct(g, at, n, mem);
    if (step == 1 && direct_pays(ds, n) && BLOCK % es == 0 && reorders(g->c, ds) &&
        ds->file->st->io->round_trip == 0)
        return gather_reordered(g, at, n, mem);
    for (; !err && n > 0; n -= now, at += now * step, mem += now) {
        uint64_t byte = bytes_of(ds, at), end;

        if (g->n == GATHER_RUNS || (g->n > 0 && (byte < g->low || byte + es > g->limit)))
            err = gather_flush(g);
        if (g->n == 0)
            window_begin(g, byte);
        now = n;
        end = bytes_of(ds, at + (n - 1) * step + 1);
        if (end > g->limit) {
            now = (int64_t)((g->limit - byte) / es - 1) / step + 1;
            end = bytes_of(ds, at + (now - 1) * step + 1);
        }
        if (step == 1 || step * ds->esize <= BLOCK)
            window_touch(g, byte, end);
        for (int64_t i = 0; step > 1 && step * ds->esize > BLOCK && i < now; i++)
            window_touch(g, bytes_of(ds, at + i * step), bytes_of(ds, at + i * step + 1));
        g->high = end > g->high ? end : g->high;
        g->wanted += (uint64_t)now * es;
        g->run[g->n].at = at;
        g->run[g->n].step = step;
        g->run[g->n].n = now;
        g->run[g->n].mem = mem;
        g->n++;
    }
    return err;
}

/* ---- what is not stored ---- */

/* Prepares a piece of fill, which serves all runs of the part. */
static int fill_reader_init(struct fill_reader *f)
{
    drep_dataset *ds = f->t->ds;
    int64_t n = ds->esize < FILL_PIECE ? FILL_PIECE / ds->esize : 1;
    int err = buf_reserve(f->b, bytes_of(ds, n));

    if (!err)
        err = fill_bytes(ds, f->b->p, 0, bytes_of(ds, n));
    f->c->heap = ds->fill_heap.p;
    f->c->heap_size = ds->fill_heap.len;
    f->ready = !err;
    return err;
}

/* Reads a run of a chunk that is not stored: as many elements of fill. */
int fill_run(void *ctx, int64_t at, int64_t step, int64_t n, int64_t mem)
{
    struct fill_reader *f = ctx;
    int64_t es = f->t->ds->esize, room = es < FILL_PIECE ? FILL_PIECE / es : 1;
    int err = f->ready ? 0 : fill_reader_init(f);

    (void)at;
    (void)step;
    for (int64_t now; !err && n > 0; n -= now, mem += now) {
        now = n < room ? n : room;
        err = conv_read(f->c, f->t->mem, mem, f->b->p, es, now);
    }
    return err;
}
