/* pending.c - what a rank has written alone, until the ranks meet. */
/* SPDX-License-Identifier: MIT */
#include "par/pending.h"

#include "base/mem.h"
#include "base/vec.h"
#include "par/leased.h"
#include "par/marks.h"
#include "par/pieces.h"
#include "par/leases.h"
#include "tree/find.h"

#include <stdlib.h>
#include <string.h>

static struct pending *pending_find(const drep_dataset *ds)
{
    struct pending *p = ranks_of(ds->file)->pending;

    while (p && p->object != ds->id)
        p = p->next;
    return p;
}

bool pending_has(const drep_dataset *ds)
{
    return pending_find(ds) != NULL;
}

void pending_drop(const drep_dataset *ds)
{
    struct pending **at = &ranks_of(ds->file)->pending, *p;

    marks_drop(ds);
    while (*at && (*at)->object != ds->id)
        at = &(*at)->next;
    if (!(p = *at))
        return;
    *at = p->next;
    pending_free(p);
}

bool pending_has_leased(const drep_dataset *ds)
{
    const struct pending *p = pending_find(ds);

    return p && p->nleased > 0;
}

int pending_removed(drep_file *f)
{
    struct pending **at = &ranks_of(f)->pending, *p;
    int err = 0;

    while (!err && (p = *at)) {
        struct key key;

        key_make(&key, p->object, FMT_TAG_OBJECT);
        err = tree_get(f->st, &key, NULL);
        if (err != DREP_ERR_NOT_FOUND) {
            at = &p->next;
            continue;
        }
        err = 0;
        while (p->nleased > 0)
            leased_drop(ranks_of(f), p, p->leased[p->nleased - 1].chunk);
        *at = p->next;
        pending_free(p);
    }
    return err;
}

/* A chunk whose elements are kept. */
struct keeping {
    struct pending *p;
    size_t size; /* of an element */
    const uint8_t *elements;
};

static int keep_row(void *ctx, int64_t chunk, int64_t at, int64_t n)
{
    const struct keeping *k = ctx;
    const struct share_run run = {chunk, at, 1, n, k->p->n, 0};
    int err = buf_add(&k->p->runs, &run, sizeof run);

    if (!err)
        err = buf_add(&k->p->elements, k->elements + (size_t)at * k->size, (size_t)n * k->size);
    k->p->n += n;
    return err;
}

/* Keep all elements of a chunk. */
static int keep_chunk(struct pending *p, const struct object_rec *rec, size_t size, int64_t chunk,
                      const uint8_t *elements)
{
    struct keeping k = {p, size, elements};

    return chunk_rows(rec, chunk, keep_row, &k);
}

/* ---- shapes ---- */

/* Keep a run, or those of its elements that lie inside, under the number that its chunk has now. */
static int fit_run(const drep_dataset *ds, const uint64_t *coord, const struct share_run *run,
                   struct shares *out)
{
    const struct object_rec *rec = &ds->rec;
    struct share_run one = *run;
    int err = 0;

    if (!chunk_inside(rec, coord))
        return 0;
    one.chunk = chunk_number(rec, coord);
    if (chunk_extent(rec, one.chunk) == chunk_elements(ds))
        return shares_add(out, &one);
    for (int64_t i = 0; !err && i < run->n; i++) {
        int64_t at = run->at + i * run->step, left = at;
        bool inside = true;

        for (int d = rec->rank - 1; rec->layout == FMT_CHUNKED && d >= 0; d--) {
            inside &= coord[d] * rec->chunk[d] + (uint64_t)(left % rec->chunk[d]) < rec->len[d];
            left /= rec->chunk[d];
        }
        if (rec->layout != FMT_CHUNKED)
            inside = at < chunk_extent(rec, one.chunk);
        if (inside)
            err = shares_add(out,
                             &(struct share_run){one.chunk, at, 1, 1, run->mem + i, run->ranges});
    }
    return err;
}

/* Of the chunks that were written whole, bring those back of which the shape has more or less now;
 * what is outside goes. */
static int fit_whole(const drep_dataset *ds, struct pending *p, const struct object_rec *was)
{
    struct store *st = ds->file->st;
    struct work *w = p->nleased > 0 ? work_take(st) : NULL;
    uint64_t coord[DREP_MAX_RANK];
    int err = p->nleased > 0 && !w ? fail_nomem() : 0;

    for (size_t i = p->nleased; !err && i-- > 0;) {
        const struct leased *l = &p->leased[i];
        int64_t had = chunk_extent(was, l->chunk);
        bool inside;

        chunk_coord(was, l->chunk, coord);
        inside = chunk_inside(&ds->rec, coord);
        if (inside && chunk_extent(&ds->rec, chunk_number(&ds->rec, coord)) == had)
            continue;
        if (inside)
            err = leased_load(ds, w, l, work_buf(w));
        if (!err && inside)
            err = keep_chunk(p, was, (size_t)ds->esize, l->chunk, work_buf(w)->p);
        if (!err)
            leased_drop(ranks_of(ds->file), p, l->chunk);
    }
    work_give(st, w);
    return err;
}

/* Find the places of the others by the numbers that their chunks have now. */
static int renumber_whole(const drep_dataset *ds, const struct pending *p,
                          const struct object_rec *was, struct idset *at)
{
    uint64_t coord[DREP_MAX_RANK];

    for (size_t i = 0; i < p->nleased; i++) {
        uintptr_t *place;

        chunk_coord(was, p->leased[i].chunk, coord);
        place = idset_add(at, (uint64_t)chunk_number(&ds->rec, coord) + 1);
        if (!place)
            return fail_nomem();
        *place = i + 1;
    }
    return 0;
}

/* Make what is kept that of the present shape. */
static int fit(const drep_dataset *ds, struct pending *p)
{
    size_t lengths = ds->rec.rank * sizeof *p->len;
    struct object_rec was = ds->rec;
    struct shares s = {.n = 0};
    struct idset at = {.n = 0};
    uint64_t coord[DREP_MAX_RANK];
    int err = 0;

    if (memcmp(p->len, ds->rec.len, lengths) == 0)
        return 0;
    memcpy(was.len, p->len, lengths);
    err = fit_whole(ds, p, &was);
    for (size_t i = 0; !err && i < p->runs.len / sizeof(struct share_run); i++) {
        const struct share_run *run = (struct share_run *)(void *)p->runs.p + i;

        chunk_coord(&was, run->chunk, coord);
        err = fit_run(ds, coord, run, &s);
    }
    if (!err)
        err = renumber_whole(ds, p, &was, &at);
    if (!err)
        err = buf_set(&p->runs, s.run, s.nruns * sizeof *s.run);
    for (size_t i = 0; !err && i < at.size; i++)
        if (at.slot[i].id)
            p->leased[at.slot[i].value - 1].chunk = (int64_t)at.slot[i].id - 1;
    if (!err) {
        memcpy(p->len, ds->rec.len, lengths);
        idset_release(&p->leased_at);
        p->leased_at = at;
    } else {
        idset_release(&at);
    }
    shares_release(&s);
    return err;
}

int pending_reshape(const drep_dataset *ds)
{
    struct pending *p = pending_find(ds);

    return p ? fit(ds, p) : 0;
}

/* ---- keeping ---- */

static int pending_find_or_make(const drep_dataset *ds, struct pending **out)
{
    struct pending *p = pending_find(ds);

    if (!p) {
        p = mem_zalloc(1, sizeof *p);
        if (!p)
            return fail_nomem();
        p->object = ds->id;
        memcpy(p->len, ds->rec.len, ds->rec.rank * sizeof *p->len);
        p->next = ranks_of(ds->file)->pending;
        ranks_of(ds->file)->pending = p;
    }
    *out = p;
    return 0;
}

/* A write under way: what it leases, until nothing can fail any more. */
struct adding {
    struct transfer *t;
    struct shares *s;
    struct pending *p;
    struct work *w;
    struct leased *leased;
    size_t n, room;
    uint64_t *seen;
};

/* Write whole chunks.  Shares of those that need no more are marked as whole. */
static int write_whole(struct adding *a)
{
    int err = 0;

    for (size_t i = 0; !err && i < a->s->n; i++) {
        struct share *share = &a->s->share[i];
        const uint8_t *elements;

        if (!leased_may(a->t, a->s, share, a->seen))
            continue;
        if (VEC_ROOM(a->leased, a->n, a->room, 1))
            return fail_nomem();
        err = leased_write(a->t, a->w, a->s, share, &a->leased[a->n], &elements);
        share->whole = !err;
        if (!err && elements)
            err = keep_chunk(a->p, &a->t->ds->rec, (size_t)a->t->ds->esize, share->chunk, elements);
        else if (!err)
            a->n++;
    }
    return err;
}

/* A chunk that was written whole changes in part: bring it back. */
static int bring_back(struct adding *a)
{
    int err = 0;

    for (size_t i = 0; !err && a->p->nleased > 0 && i < a->s->n; i++) {
        const struct leased *l = leased_find(a->p, a->s->share[i].chunk);
        struct buf *b = work_buf(a->w);

        if (!l || a->s->share[i].whole)
            continue;
        err = leased_load(a->t->ds, a->w, l, b);
        if (!err)
            err = keep_chunk(a->p, &a->t->ds->rec, (size_t)a->t->ds->esize, l->chunk, b->p);
    }
    return err;
}

/* The number of a choice of members, from 1 on. */
static int number_of(struct pending *p, const struct byte_ranges *ranges, size_t *number)
{
    struct buf copy = {0};
    int err;

    for (*number = 1; *number <= p->nranges; ++*number)
        if (byte_ranges_same(&p->ranges[*number - 1], ranges))
            return 0;
    if (VEC_ROOM(p->ranges, p->nranges, p->ranges_room, 1))
        return fail_nomem();
    err = buf_set(&copy, ranges->range, byte_ranges_size(ranges));
    if (!err)
        p->ranges[p->nranges++] = (struct byte_ranges){copy.p, ranges->n};
    return err;
}

/* Convert the elements of other shares to the end of what is kept, and note where they are. */
static int keep_elements(struct adding *a)
{
    struct pending *p = a->p;
    struct buf *heap = a->t->ds->ft->type->variable ? &p->heap : NULL;
    size_t es = (size_t)a->t->ds->esize, ranges = 0;
    int err = writes_members(a->t) ? number_of(p, a->t->conv.ranges, &ranges) : 0;

    for (size_t i = 0; !err && i < a->s->n; i++) {
        const struct share *share = &a->s->share[i];

        if (share->whole)
            continue;
        err = buf_reserve(&p->elements, p->elements.len + (uint64_t)share->n * es);
        if (!err)
            err = share_pack(a->t, a->s, share, p->elements.p + p->elements.len, heap);
        for (size_t k = 0; !err && k < share->runs; k++) {
            struct share_run run = a->s->run[share->first + k];

            run.mem = p->n;
            run.ranges = ranges;
            p->n += run.n;
            err = buf_add(&p->runs, &run, sizeof run);
        }
        p->elements.len += (size_t)share->n * es;
    }
    return err;
}

/* The write cannot fail any more: forget what it replaces. */
static void added(struct adding *a)
{
    struct ranks *r = ranks_of(a->t->ds->file);
    size_t k = 0;

    for (size_t i = 0; i < a->s->n; i++) {
        int64_t chunk = a->s->share[i].chunk;

        if (k < a->n && a->leased[k].chunk == chunk)
            leased_set(r, a->p, &a->leased[k++]);
        else
            leased_drop(r, a->p, chunk);
    }
}

/* Forget the runs of a chunk. */
static void drop_runs(struct pending *p, int64_t chunk)
{
    struct share_run *run = (struct share_run *)(void *)p->runs.p;
    size_t n = 0;

    for (size_t i = 0; i < p->runs.len / sizeof *run; i++)
        if (run[i].chunk != chunk)
            run[n++] = run[i];
    p->runs.len = n * sizeof *run;
}

void pending_lose(drep_dataset *ds, int64_t chunk)
{
    struct pending *p = pending_find(ds);

    drop_runs(p, chunk);
    leased_drop(ranks_of(ds->file), p, chunk);
}

int pending_bring_back(drep_dataset *ds, int64_t chunk)
{
    struct pending *p = pending_find(ds);
    struct work *w = work_take(ds->file->st);
    int err = w ? leased_load(ds, w, leased_find(p, chunk), work_buf(w)) : DREP_ERR_NOMEM;

    if (!err)
        err = keep_chunk(p, &ds->rec, (size_t)ds->esize, chunk, work_buf(w)->p);
    if (!err)
        leased_drop(ranks_of(ds->file), p, chunk);
    work_give(ds->file->st, w);
    return err;
}

static int add(struct transfer *t, struct shares *s, struct pending *p)
{
    struct adding a = {.t = t, .s = s, .p = p};
    drep_dataset *ds = t->ds;
    size_t runs = p->runs.len, elements = p->elements.len, heap = p->heap.len;
    int64_t n = p->n;
    int err = 0;

    a.w = work_take(ds->file->st);
    a.seen = mem_array((uint64_t)chunk_elements(ds) / 64 + 1, sizeof *a.seen);
    if (!a.w || !a.seen)
        err = fail_nomem();
    if (!err && ds->rec.layout == FMT_CHUNKED && !ds->chunks.external &&
        ranks_of(ds->file)->leases->own.base)
        err = write_whole(&a);
    if (!err)
        err = bring_back(&a);
    if (!err)
        err = keep_elements(&a);
    if (!err)
        err = leased_reserve(p, a.leased, a.n);
    if (!err) {
        added(&a);
    } else {
        for (size_t i = 0; i < a.n; i++)
            leased_release(ranks_of(ds->file), &a.leased[i]);
        p->runs.len = runs;
        p->elements.len = elements;
        p->heap.len = heap;
        p->n = n;
    }
    work_give(ds->file->st, a.w);
    mem_free(a.leased);
    mem_free(a.seen);
    return err;
}

int pending_add(drep_dataset *ds, const drep_selection *sel, const drep_type *type, const void *buf,
                const drep_xfer *xfer)
{
    struct shares s = {.n = 0};
    struct transfer *t = NULL;
    struct pending *p = NULL;
    int err = transfer_begin(ds, sel, type, (char *)(uintptr_t)buf, xfer, WRITING, &t);

    if (!err)
        err = shares_cut(t, &s);
    if (!err && s.n > 0)
        err = pending_find_or_make(ds, &p);
    if (!err && p)
        err = fit(ds, p);
    if (!err && p)
        err = add(t, &s, p);
    shares_release(&s);
    transfer_end(t);
    return err;
}

/* ---- each element once ---- */

/* What counts of an element of a chunk: its number, or -1, and what of it, as in a run. */
struct counting {
    int64_t number;
    size_t ranges;
};

/* Both choices of members together; 0: they are all. */
static int both_of(const drep_dataset *ds, struct pending *p, size_t a, size_t b, size_t *both)
{
    struct byte_ranges all = {.n = 0}, sum = {.n = 0};
    int err = byte_ranges_unite(&p->ranges[a - 1], &p->ranges[b - 1], &sum);

    if (!err)
        err = byte_ranges_of(&ds->ft->stored, &ds->rep->sizes, &all);
    *both = 0;
    if (!err && !byte_ranges_same(&sum, &all))
        err = number_of(p, &sum, both);
    byte_ranges_release(&sum);
    byte_ranges_release(&all);
    return err;
}

/* Other members of an element are written than before: a new element has both. */
static int add_members(const drep_dataset *ds, struct pending *p, struct counting *is,
                       int64_t number, size_t ranges)
{
    size_t es = (size_t)ds->esize;
    uint8_t *to;
    int err = buf_reserve(&p->elements, p->elements.len + es);

    if (err)
        return err;
    to = p->elements.p + p->elements.len;
    memcpy(to, p->elements.p + (size_t)is->number * es, es);
    byte_ranges_copy(&p->ranges[ranges - 1], to, p->elements.p + (size_t)number * es, es);
    if (is->ranges > 0)
        err = both_of(ds, p, is->ranges, ranges, &is->ranges);
    is->number = p->n++;
    p->elements.len += es;
    return err;
}

/* The runs of one chunk, of which the later ones count.  `is` has room for each element of a
 * chunk.  *changed: elements were added. */
static int keep_latest_runs(const drep_dataset *ds, struct pending *p, const struct share_run *run,
                            size_t n, struct counting *is, struct shares *out, bool *changed)
{
    int64_t elements = chunk_elements(ds), total = 0, kept = 0;
    int err = 0;

    for (int64_t i = 0; i < elements; i++)
        is[i].number = -1;
    for (size_t i = 0; i < n; i++) {
        total += run[i].n;
        for (int64_t k = 0; !err && k < run[i].n; k++) {
            struct counting *at = &is[run[i].at + k * run[i].step];

            kept += at->number < 0;
            if (at->number < 0 || run[i].ranges == 0 || run[i].ranges == at->ranges) {
                *at = (struct counting){run[i].mem + k, run[i].ranges};
                continue;
            }
            err = add_members(ds, p, at, run[i].mem + k, run[i].ranges);
            *changed = true;
        }
    }
    for (size_t i = 0; kept == total && !err && i < n; i++)
        err = shares_add(out, &run[i]);
    for (int64_t i = 0; kept < total && !err && i < elements; i++)
        if (is[i].number >= 0)
            err = shares_add(out,
                             &(struct share_run){run->chunk, i, 1, 1, is[i].number, is[i].ranges});
    return err;
}

/* The runs that count: not those of chunks that were written whole since. */
static size_t runs_that_count(const struct pending *p, struct share_run *run)
{
    size_t all = p->runs.len / sizeof *run, n = 0;

    memcpy(run, p->runs.p, p->runs.len);
    for (size_t i = 0; i < all; i++)
        if (!leased_find(p, run[i].chunk))
            run[n++] = run[i];
    return n;
}

void pending_contents(const drep_dataset *ds, struct conv *c)
{
    const struct pending *p = pending_find(ds);

    if (!p || !ds->ft->type->variable)
        return;
    c->heap = p->heap.p;
    c->heap_size = p->heap.len;
}

/* Each element once, of all chunks. */
static int all_once(const drep_dataset *ds, struct pending *p, struct share_run *run, size_t n,
                    struct shares *s)
{
    struct counting *is = mem_array((uint64_t)chunk_elements(ds) + 1, sizeof *is);
    bool changed = false;
    size_t end;
    int err = is ? 0 : fail_nomem();

    n = runs_that_count(p, run);
    if (n > 1)
        qsort(run, n, sizeof *run, share_order);
    for (size_t i = 0; !err && i < n; i = end) {
        for (end = i; end < n && run[end].chunk == run[i].chunk;)
            end++;
        err = keep_latest_runs(ds, p, run + i, end - i, is, s, &changed);
    }
    if (!err && changed) /* so that nothing is added the next time */
        err = buf_set(&p->runs, s->run, s->nruns * sizeof *s->run);
    mem_free(is);
    return err;
}

int pending_shares(const drep_dataset *ds, struct shares *s, char **elements)
{
    struct pending *p = pending_find(ds);
    int err = p ? fit(ds, p) : 0;
    size_t n = p ? p->runs.len / sizeof(struct share_run) : 0;
    struct share_run *run = mem_array(n + 1, sizeof *run);

    if (!err && !run)
        err = fail_nomem();
    if (!err && n > 0)
        err = all_once(ds, p, run, n, s);
    mem_free(run);
    *elements = p ? (char *)p->elements.p : NULL;
    if (p && p->nranges > 0)
        s->ranges = p->ranges;
    if (!err)
        err = shares_group(s);
    return err || !p ? err : shares_lease(s, p->leased, p->nleased);
}
