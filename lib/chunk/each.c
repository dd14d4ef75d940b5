/* each.c - looking at all stored chunks of a dataset, and at one record. */
/* SPDX-License-Identifier: MIT */
#include "chunk/each.h"

#include "base/error.h"
#include "base/mem.h"
#include "chunk/payload.h"
#include "chunk/read.h"
#include "chunk/work_state.h"
#include "tree/walk.h"

static int by_coord(const struct chunk_run *a, const struct chunk_run *b)
{
    for (int d = 0; d < a->rank; d++) {
        if (a->coord[d] != b->coord[d])
            return a->coord[d] < b->coord[d] ? -1 : 1;
    }
    return 0;
}

/* Collect the open runs of the dataset in order, with a reference each: a caller's function may
 * write, which closes runs. */
static int open_runs(const struct chunks *cs, struct chunk_run **list)
{
    int n = 0;

    for (int i = 0; i < cs->st->runs->n; i++) {
        struct chunk_run *r = cs->st->runs->open[i];
        int at = n;

        if (r->object != cs->object)
            continue;
        while (at > 0 && by_coord(r, list[at - 1]) < 0) {
            list[at] = list[at - 1];
            at--;
        }
        atomic_fetch_add(&r->uses, 1);
        list[at] = r;
        n++;
    }
    return n;
}

static int each(struct chunks *cs, bool known, chunk_each_fn *fn, void *ctx)
{
    struct chunk_run *open[OPEN_RUNS];
    int n = open_runs(cs, open), i = 0, err = packed_flush(cs->st, cs->object);
    struct buf value = {0};
    struct tree_walk w;
    struct key key;

    key_make(&key, cs->object, FMT_TAG_CHUNK);
    tree_walk(&w, cs->st, &key, key.len);
    while (!err && !(err = tree_next(&w, &key, &value))) {
        struct chunk_run at = {.rank = cs->rank};
        struct chunk_rec rec;
        bool same = false;

        err = chunk_entry(cs, &key, &value, at.coord, &rec);
        if (known && err == DREP_ERR_UNSUPPORTED) {
            err = 0;
            continue;
        }
        while (!err && !same && i < n && by_coord(open[i], &at) <= 0) {
            same = by_coord(open[i], &at) == 0; /* the open run is newer than the tree */
            err = fn(open[i]->coord, &open[i]->rec, ctx);
            i++;
        }
        if (!err && !same)
            err = rows_each(cs, at.coord, &rec, fn, ctx);
    }
    if (err == DREP_ERR_NOT_FOUND)
        err = 0;
    for (; !err && i < n; i++)
        err = fn(open[i]->coord, &open[i]->rec, ctx);
    while (n > 0)
        run_unref(open[--n]);
    buf_release(&value);
    return err;
}

int chunk_each(struct chunks *cs, chunk_each_fn *fn, void *ctx)
{
    return each(cs, false, fn, ctx);
}

int chunk_each_known(struct chunks *cs, chunk_each_fn *fn, void *ctx)
{
    return each(cs, true, fn, ctx);
}

int chunk_next(struct chunks *cs, const uint64_t *coord, uint64_t n, uint64_t *next)
{
    uint64_t last = cs->rank > 0 ? coord[cs->rank - 1] : 0;
    struct run_hit f;
    int err = run_find(cs, coord, &f);

    if (!err) {
        run_done(cs->st, &f);
        *next = last;
        return 0;
    }
    if (err != DREP_ERR_NOT_FOUND)
        return err;
    err = run_next(cs, coord, n, next);
    if (!err && *next != UINT64_MAX && *next - last >= n)
        *next = UINT64_MAX;
    return err;
}

int chunk_run_offset(struct chunks *cs, uint64_t n, uint64_t bytes, uint64_t *offset)
{
    uint64_t c = 0, first = 0;

    if (cs->rank != 1 || n == 0)
        return fail(DREP_ERR_UNSUPPORTED_OPERATION, "the elements are not contiguous in the file");
    while (c < n) {
        struct run_hit f;
        uint64_t at, end, run;
        int whole;
        int err = run_find(cs, &c, &f);

        if (err == DREP_ERR_NOT_FOUND)
            return fail(DREP_ERR_UNSUPPORTED_OPERATION, "slab %llu is not stored",
                        (unsigned long long)c);
        if (err)
            return err;
        run = f.run->rec.run - f.index;
        run = run < n - c ? run : n - c;
        at = f.run->rec.offset + f.index * f.run->rec.size;
        end = (c + run - 1) * cs->payload + f.run->rec.size;
        whole = !f.run->rec.filtered && (run == 1 || f.run->rec.size == cs->payload) &&
                (end >= (c + run) * cs->payload || end >= bytes);
        run_done(cs->st, &f);
        if (c == 0)
            first = at;
        if (!whole || at != first + c * cs->payload)
            return fail(DREP_ERR_UNSUPPORTED_OPERATION,
                        "slab %llu is not adjacent to those before it, or is partly unwritten",
                        (unsigned long long)c);
        c += run;
    }
    *offset = first;
    return 0;
}

int chunk_stored(struct chunks *cs, const struct chunk_rec *rec, struct buf *out)
{
    return payload_filtered(cs->st, rec, cs->st->opts.verify, out);
}

int chunk_sums_check(struct chunks *cs, const uint64_t *coord)
{
    struct run_hit f;
    int err = run_find(cs, coord, &f);

    if (err)
        return err;
    err = payload_read(cs->st, f.run, f.index, 1, NULL);
    run_done(cs->st, &f);
    return err;
}

int chunk_verify(struct chunks *cs, const uint64_t *coord, const struct chunk_rec *rec,
                 enum chunk_depth depth, uint64_t *absent)
{
    struct store *st = cs->st;
    struct buf bytes = {0};
    struct work *w;
    struct chunk_run *r;
    int err;

    (void)coord;
    *absent = 0;
    if (rec->filtered) {
        if (depth == CHUNK_COUNT)
            return 0;
        w = work_take(st);
        if (!w)
            return DREP_ERR_NOMEM;
        err = payload_filtered(st, rec, 1, &w->codec.stored);
        w->codec.strict = true;
        if (!err && depth == CHUNK_DECODE)
            err = chunk_decode(w, cs, rec, &bytes);
        w->codec.strict = false;
        buf_release(&bytes);
        work_give(st, w);
        return err;
    }
    r = mem_zalloc(1, sizeof(*r));
    if (!r)
        return DREP_ERR_NOMEM;
    err = run_load(st, rec, r);
    if (!err)
        *absent = payload_absent(r);
    if (!err && depth != CHUNK_COUNT)
        err = payload_read(st, r, 0, r->rec.run, NULL);
    run_unload(r);
    mem_free(r);
    return err;
}
