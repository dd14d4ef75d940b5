/* overlay.c - reading what a rank has written alone, over what the last commit has. */
/* SPDX-License-Identifier: MIT */
#include "par/overlay.h"

#include "base/mem.h"
#include "conv/memory.h"
#include "par/leased.h"
#include "elem/mover.h"
#include "elem/payload.h"
#include "par/pending.h"
#include "par/alone.h"

#include <datarep.h>

/* Elements of the chunk at hand: which of those that are kept, or -1. */
struct kept_chunk {
    struct part_mover m;
    struct in_memory from;
    const struct transfer *to; /* the reader's memory; m.t may have a stage */
    const struct shares *kept;
    uint8_t *elements;
    struct work *w;
    struct buf whole; /* elements that were completed, with their contents */
    int64_t *number;
    int64_t n; /* elements of a chunk */
};

/* Free what the commit's elements refer to in memory, where others will be. */
static void make_way(const struct transfer *t, int64_t mem, int64_t n)
{
    char *p = t->mem + mem * drep_type_extent(t->conv.mem);

    drep_vlen_free(t->conv.mem, n, p);
    memory_clear(t->conv.mem, n, p);
}

/* Move what a run wants of those that are kept, neighbours at once. */
static int read_run(struct kept_chunk *k, const struct share_run *run)
{
    int err = 0;

    for (int64_t i = 0, n; !err && i < run->n; i += n) {
        int64_t first = k->number[run->at + i * run->step];

        for (n = 1;
             first >= 0 && i + n < run->n && k->number[run->at + (i + n) * run->step] == first + n;)
            n++;
        if (first >= 0 && k->m.t->ds->ft->type->variable)
            make_way(k->to, run->mem + i, n);
        if (first >= 0)
            err = part_run(&k->m, first, 1, n, run->mem + i);
    }
    return err;
}

/* Put what is kept of a chunk over what the commit has of it, members by members. */
static int complete_members(struct kept_chunk *k, const struct share *kept, uint64_t *fixed)
{
    drep_dataset *ds = k->m.t->ds;
    uint64_t coord[DREP_MAX_RANK];
    struct buf heap = {0};
    struct conv c;
    size_t end;
    int err;

    chunk_coord(&ds->rec, kept->chunk, coord);
    err = chunk_load(ds, coord, &k->whole, &end);
    *fixed = end;
    for (size_t i = 0; !err && i < kept->runs; i++) {
        const struct share_run *run = &k->kept->run[kept->first + i];

        conv_raw(&c, ds, run->ranges > 0 ? &k->kept->ranges[run->ranges - 1] : NULL);
        c.contents = ds->ft->type->variable;
        pending_contents(ds, &c);
        c.heap_out = &heap;
        c.heap_base = k->whole.len - end;
        err = conv_write(&c, k->elements, run->mem, k->whole.p + bytes_of(ds, run->at),
                         run->step * ds->esize, run->n);
    }
    if (!err)
        err = buf_add(&k->whole, heap.p, heap.len);
    buf_release(&heap);
    return err;
}

/* Say which elements of a chunk are kept, and where. */
static void number_kept(struct kept_chunk *k, const struct share *kept)
{
    for (int64_t i = 0; i < k->n; i++)
        k->number[i] = kept->leased ? i : -1;
    for (size_t i = 0; i < kept->runs; i++) {
        const struct share_run *run = &k->kept->run[kept->first + i];

        for (int64_t n = 0; n < run->n; n++) {
            int64_t at = run->at + n * run->step;

            k->number[at] = kept->ranges ? at : run->mem + n;
        }
    }
}

static int read_share(struct kept_chunk *k, const struct shares *want, const struct share *share,
                      const struct share *kept)
{
    int err = 0;

    k->from.payload = k->elements;
    if (kept->leased) { /* all of it stands in the file */
        struct buf *b = work_buf(k->w);

        err = leased_load(k->m.t->ds, k->w, kept->leased, b);
        k->from.payload = b->p;
    } else if (kept->ranges) { /* a user's functions may still have to convert what came before */
        uint64_t fixed = 0;

        err = part_flush(&k->m, 0);
        if (!err)
            err = complete_members(k, kept, &fixed);
        k->from.payload = k->whole.p;
        k->m.c.heap = k->whole.p + fixed;
        k->m.c.heap_size = k->whole.len - (size_t)fixed;
    }
    number_kept(k, kept);
    for (size_t i = 0; !err && i < share->runs; i++)
        err = read_run(k, &want->run[share->first + i]);
    if (kept->ranges) {
        err = part_flush(&k->m, err);
        pending_contents(k->m.t->ds, &k->m.c);
    }
    return err;
}

/* Put what is kept over what the commit has. */
static int read_kept(struct transfer *t, const struct shares *want, const struct shares *kept,
                     char *elements)
{
    struct kept_chunk k = {
        .kept = kept, .elements = (uint8_t *)elements, .to = t, .n = chunk_elements(t->ds)};
    size_t i = 0;
    int err = part_begin(&k.m, t, t->sel->count);

    if (err)
        return err;
    k.from = (struct in_memory){k.m.t, &k.m.c, NULL};
    pending_contents(t->ds, &k.m.c);
    k.number = mem_array((uint64_t)k.n + 1, sizeof *k.number);
    k.w = work_take(t->ds->file->st);
    err = k.number && k.w ? 0 : fail_nomem();
    part_take(&k.m, memory_run, NULL, &k.from);
    for (size_t w = 0; !err && w < want->n; w++) {
        while (i < kept->n && kept->share[i].chunk < want->share[w].chunk)
            i++;
        if (i < kept->n && kept->share[i].chunk == want->share[w].chunk)
            err = read_share(&k, want, &want->share[w], &kept->share[i]);
    }
    err = part_end(&k.m, part_flush(&k.m, err));
    work_give(t->ds->file->st, k.w);
    mem_free(k.number);
    buf_release(&k.whole);
    return err;
}

int pending_read(drep_dataset *ds, const drep_selection *sel, const drep_type *type, void *buf,
                 const drep_xfer *xfer)
{
    struct shares want = {.n = 0}, kept = {.n = 0};
    drep_xfer own = !xfer ? DREP_XFER() : *xfer;
    struct transfer *t = NULL;
    char *elements;
    int err = alone_known(ds);

    own.report = NULL; /* what is read twice counts once */
    if (!err)
        err = transfer_run(ds, sel, type, buf, xfer, READING);
    if (!err)
        err = transfer_begin(ds, sel, type, buf, &own, READING, &t);
    if (!err)
        err = shares_cut(t, &want);
    if (!err)
        err = pending_shares(ds, &kept, &elements);
    if (!err && ds->ft->type->variable && t->conv.mem->items != t->conv.stored->items)
        err = fail(DREP_ERR_NOT_COMMITTED,
                   "rank %d has written to it alone; until the next commit "
                   "an element in memory is one of the dataset",
                   ranks_of(ds->file)->team.rank);
    if (!err && want.n > 0)
        err = read_kept(t, &want, &kept, elements);
    if (err && t)
        transfer_free_contents(t);
    shares_release(&want);
    shares_release(&kept);
    transfer_end(t);
    return err;
}
