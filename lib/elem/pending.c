/* pending.c - what a rank has written alone, until the ranks meet. */
/* SPDX-License-Identifier: MIT */
#include "elem/pending.h"

#include "base/mem.h"
#include "elem/pieces.h"
#include "file/ranks.h"

#include <stdlib.h>
#include <string.h>

static struct pending *find(const drep_dataset *ds)
{
    struct pending *p = ds->file->ranks->pending;

    while (p && p->object != ds->id)
        p = p->next;
    return p;
}

bool pending_has(const drep_dataset *ds)
{
    return find(ds) != NULL;
}

void pending_drop(const drep_dataset *ds)
{
    struct pending **at = &ds->file->ranks->pending, *p;

    while (*at && (*at)->object != ds->id)
        at = &(*at)->next;
    if (!(p = *at))
        return;
    *at = p->next;
    pending_free(p);
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
            err = shares_add(out, &(struct share_run){one.chunk, at, 1, 1, run->mem + i});
    }
    return err;
}

/* Make the runs those of the present shape. */
static int fit(const drep_dataset *ds, struct pending *p)
{
    size_t lengths = ds->rec.rank * sizeof *p->len, n = p->runs.len / sizeof(struct share_run);
    struct share_run *run = (struct share_run *)(void *)p->runs.p;
    struct object_rec was = ds->rec;
    struct shares s = {.n = 0};
    uint64_t coord[DREP_MAX_RANK];
    int err = 0;

    if (memcmp(p->len, ds->rec.len, lengths) == 0)
        return 0;
    memcpy(was.len, p->len, lengths);
    for (size_t i = 0; !err && i < n; i++) {
        chunk_coord(&was, run[i].chunk, coord);
        err = fit_run(ds, coord, &run[i], &s);
    }
    if (!err)
        err = buf_set(&p->runs, s.run, s.nruns * sizeof *s.run);
    if (!err)
        memcpy(p->len, ds->rec.len, lengths);
    shares_release(&s);
    return err;
}

int pending_reshape(const drep_dataset *ds)
{
    struct pending *p = find(ds);

    return p ? fit(ds, p) : 0;
}

/* ---- keeping ---- */

static int find_or_make(const drep_dataset *ds, struct pending **out)
{
    struct pending *p = find(ds);

    if (!p) {
        p = mem_zalloc(1, sizeof *p);
        if (!p)
            return fail_nomem();
        p->object = ds->id;
        memcpy(p->len, ds->rec.len, ds->rec.rank * sizeof *p->len);
        p->next = ds->file->ranks->pending;
        ds->file->ranks->pending = p;
    }
    *out = p;
    return 0;
}

/* Convert the elements of all shares to the end of what is kept, and note where they are. */
static int keep(struct transfer *t, struct shares *s, struct pending *p)
{
    size_t es = (size_t)t->ds->esize, runs = s->nruns * sizeof *s->run;
    int64_t at = p->n;
    int err = buf_reserve(&p->elements, p->elements.len + bytes_of(t->ds, t->sel->count));

    if (!err)
        err = buf_reserve(&p->runs, p->runs.len + runs);
    for (size_t i = 0; !err && i < s->n; i++) {
        struct share *share = &s->share[i];

        err = share_pack(t, s, share, p->elements.p + (size_t)at * es, NULL);
        for (size_t k = 0; k < share->runs; k++) {
            s->run[share->first + k].mem = at;
            at += s->run[share->first + k].n;
        }
    }
    if (err)
        return err;
    memcpy(p->runs.p + p->runs.len, s->run, runs);
    p->runs.len += runs;
    p->elements.len = (size_t)at * es;
    p->n = at;
    return 0;
}

int pending_add(drep_dataset *ds, const drep_selection *sel, const drep_type *type, const void *buf,
                const drep_xfer *xfer)
{
    struct shares s = {.n = 0};
    struct transfer *t = NULL;
    struct pending *p = NULL;
    int err = transfer_begin(ds, sel, type, (char *)(uintptr_t)buf, xfer, WRITING, &t);

    if (!err)
        err = may_be_shared(t);
    if (!err && ds->ft->type->variable)
        err = fail(DREP_ERR_UNSUPPORTED_OPERATION,
                   "elements of variable length cannot be written by one rank alone");
    if (!err)
        err = shares_cut(t, &s);
    if (!err && s.n > 0)
        err = find_or_make(ds, &p);
    if (!err && p)
        err = fit(ds, p);
    if (!err && p)
        err = keep(t, &s, p);
    shares_release(&s);
    transfer_end(t);
    return err;
}

/* ---- each element once ---- */

/* The runs of one chunk, of which the later ones count.  `last` has room for a number of each
 * element of a chunk. */
static int once(const drep_dataset *ds, const struct share_run *run, size_t n, int64_t *last,
                struct shares *out)
{
    int64_t elements = chunk_elements(ds), total = 0, kept = 0;
    int err = 0;

    for (int64_t i = 0; i < elements; i++)
        last[i] = -1;
    for (size_t i = 0; i < n; i++) {
        total += run[i].n;
        for (int64_t k = 0; k < run[i].n; k++) {
            int64_t *at = &last[run[i].at + k * run[i].step];

            kept += *at < 0;
            *at = run[i].mem + k;
        }
    }
    for (size_t i = 0; kept == total && !err && i < n; i++)
        err = shares_add(out, &run[i]);
    for (int64_t i = 0; kept < total && !err && i < elements; i++)
        if (last[i] >= 0)
            err = shares_add(out, &(struct share_run){run->chunk, i, 1, 1, last[i]});
    return err;
}

int pending_shares(const drep_dataset *ds, struct shares *s, char **elements)
{
    struct pending *p = find(ds);
    int unfit = p ? fit(ds, p) : 0;
    size_t n = p ? p->runs.len / sizeof(struct share_run) : 0, end;
    struct share_run *run = mem_array(n + 1, sizeof *run);
    int64_t *last = mem_array((uint64_t)chunk_elements(ds) + 1, sizeof *last);
    int err = unfit ? unfit : run && last ? 0 : fail_nomem();

    *elements = p ? (char *)p->elements.p : NULL;
    if (!err && n > 0) {
        memcpy(run, p->runs.p, n * sizeof *run);
        qsort(run, n, sizeof *run, share_order);
    }
    for (size_t i = 0; !err && i < n; i = end) {
        for (end = i; end < n && run[end].chunk == run[i].chunk;)
            end++;
        err = once(ds, run + i, end - i, last, s);
    }
    mem_free(run);
    mem_free(last);
    return err ? err : shares_group(s);
}
