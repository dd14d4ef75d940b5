/* run.c - finding the run of a chunk, and the runs that the open transaction changes.
 *
 * An open run that is put into the tree in the middle of an operation goes there twice: first as
 * it was before the operation, not noted for undo; then as it is.  So taking the operation back
 * needs nothing from the run: the tree's own notes bring its old record back. */
/* SPDX-License-Identifier: MIT */
#include "chunk/run.h"

#include "base/error.h"
#include "base/mem.h"
#include "base/pool.h"
#include "chunk/run_order.h"
#include "tree/edit.h"
#include "tree/find.h"
#include "tree/tree.h"
#include "tree/walk.h"

#include <assert.h>

/* ---- finding ---- */

/* Length of the key prefix that all chunks of a row of the grid share. */
static size_t row_prefix(int rank)
{
    return RECORDS_PREFIX + 8 * (size_t)(rank ? rank - 1 : 0);
}

/* Keep a run that many chunks may be read from. */
static int recent_add(struct store *st, struct run_hit *f)
{
    struct chunk_run *r = mem_alloc(sizeof(*r));
    struct recent_run *place, old;

    if (!r) {
        run_unload(&f->local);
        return DREP_ERR_NOMEM;
    }
    memcpy(r, &f->local, sizeof(*r));
    if (!r->heap)
        r->sum = r->rec.sum;
    atomic_init(&r->uses, 2);
    r->change = st->tree->change;
    pthread_mutex_lock(&st->runs->lock);
    place = &st->runs->recent[st->runs->next_recent];
    old = *place;
    *place = (struct recent_run){r, r->object, chunk_last(r->rank, r->coord), r->rec.run};
    st->runs->next_recent = (st->runs->next_recent + 1) % RECENT_RUNS;
    pthread_mutex_unlock(&st->runs->lock);
    run_unref(old.run);
    f->run = r;
    return 0;
}

static struct chunk_run *recent_find(struct store *st, const struct chunks *cs,
                                     const uint64_t *coord, uint32_t *index)
{
    uint64_t last = chunk_last(cs->rank, coord);
    struct chunk_run *found = NULL;

    pthread_mutex_lock(&st->runs->lock);
    for (int i = 0; i < RECENT_RUNS && !found; i++) {
        const struct recent_run *at = &st->runs->recent[i];

        if (at->object == cs->object && last - at->first < at->n && at->run &&
            at->run->change == st->tree->change &&
            run_covers(at->run, cs->object, cs->rank, coord, index)) {
            found = at->run;
            atomic_fetch_add(&found->uses, 1);
        }
    }
    pthread_mutex_unlock(&st->runs->lock);
    return found;
}

/* Make the row of a filtered chunk a run of its own. */
static void found_row(struct chunks *cs, const uint64_t *coord, const struct chunk_rec *row,
                      struct run_hit *f)
{
    memset(&f->local, 0, offsetof(struct chunk_run, rec));
    f->local.object = cs->object;
    f->local.rank = cs->rank;
    memcpy(f->local.coord, coord, (size_t)cs->rank * sizeof(*coord));
    f->local.rec = *row;
    f->local.sum = f->local.rec.sum;
    f->local.heap = f->local.base_sum = NULL;
    f->local.refs = f->local.tail = (struct buf){0};
    f->local.in_tree = true;
    f->local.grows = false;
    f->run = &f->local;
    f->index = 0;
}

/* Decode the record found under this key into f->local, if it covers the chunk. */
static int decode_run_record(struct chunks *cs, const uint64_t *coord, const struct key *key,
                             const struct buf *value, struct run_hit *f)
{
    struct chunk_rec rec, row;
    uint64_t n, at = 0;
    int err = chunk_entry(cs, key, value, f->local.coord, &rec);

    if (err)
        return err;
    if (rec.filtered) {
        if (!run_order_distance(cs, f->local.coord, coord, &n) || n >= rec.run)
            return DREP_ERR_NOT_FOUND;
        for (uint32_t i = rec.kind == FMT_CHUNK_PACKED ? 0 : (uint32_t)n; i <= n; i++)
            chunk_row(&rec, i, &at, &row);
        found_row(cs, coord, &row, f);
        return 0;
    }
    f->local.object = cs->object;
    f->local.rank = cs->rank;
    f->local.rec.run = rec.run;
    if (!run_covers(&f->local, cs->object, cs->rank, coord, &f->index))
        return DREP_ERR_NOT_FOUND;
    err = run_load(cs->st, &rec, &f->local);
    if (err) {
        run_unload(&f->local);
        return err;
    }
    f->local.in_tree = true;
    f->run = &f->local;
    return f->local.heap ? recent_add(cs->st, f) : 0;
}

/* The record with the greatest key not behind the chunk may have it, whatever its kind: one of a
 * kind that is not known may go on in later rows of the grid. */
int run_find(struct chunks *cs, const uint64_t *coord, struct run_hit *f)
{
    struct store *st = cs->st;
    struct buf value = {0};
    struct chunk_rec row;
    struct key key, at;
    int err;

    for (int i = 0; i < st->runs->n; i++) {
        f->run = st->runs->open[i];
        if (run_covers(f->run, cs->object, cs->rank, coord, &f->index))
            return 0;
    }
    f->run = recent_find(st, cs, coord, &f->index);
    if (f->run)
        return 0;
    if (packed_find(cs, coord, &row)) {
        found_row(cs, coord, &row, f);
        return 0;
    }
    chunk_key(cs, coord, &key);
    err = tree_floor(st, &key, RECORDS_PREFIX, &at, &value);
    if (!err)
        err = decode_run_record(cs, coord, &at, &value, f);
    buf_release(&value);
    return err;
}

static bool is_open(const struct store *st, const struct chunk_run *r)
{
    for (int i = 0; i < st->runs->n; i++) {
        if (st->runs->open[i] == r)
            return true;
    }
    return false;
}

void run_done(struct store *st, struct run_hit *f)
{
    if (f->run == &f->local)
        run_unload(&f->local);
    else if (f->run && !is_open(st, f->run))
        run_unref(f->run);
    f->run = NULL;
}

void run_leave(struct store *st, struct run_hit *f)
{
    if (f->run == &f->local || is_open(st, f->run))
        run_done(st, f);
}

bool run_still_covers(struct chunks *cs, const uint64_t *coord, struct run_hit *f)
{
    struct store *st = cs->st;

    if (!f->run)
        return false;
    if (st->runs->n == 0 && f->run->change == st->tree->change &&
        run_covers(f->run, cs->object, cs->rank, coord, &f->index))
        return true;
    run_done(st, f);
    return false;
}

int run_next(struct chunks *cs, const uint64_t *coord, uint64_t n, uint64_t *next)
{
    uint64_t first = chunk_last(cs->rank, coord);
    struct tree_walk w;
    struct key key, at;
    int err;

    *next = UINT64_MAX;
    if (n < 2 || cs->rank == 0)
        return 0;
    err = packed_flush(cs->st, cs->object);
    if (err)
        return err;
    for (int i = 0; i < cs->st->runs->n; i++) {
        const struct chunk_run *r = cs->st->runs->open[i];
        uint64_t c = chunk_last(r->rank, r->coord);

        if (r->object == cs->object && r->rank == cs->rank &&
            memcmp(r->coord, coord, (size_t)(cs->rank - 1) * sizeof(*coord)) == 0 && c >= first &&
            c < *next)
            *next = c;
    }
    chunk_key(cs, coord, &key);
    tree_walk(&w, cs->st, &key, row_prefix(cs->rank));
    err = tree_next(&w, &at, NULL);
    if (err)
        return err == DREP_ERR_NOT_FOUND ? 0 : err;
    if (at.len != key.len)
        return fail(DREP_ERR_FORMAT, "a chunk's key of %zu bytes (R4.19)", at.len);
    if (key_u64(at.p + at.len - 8) < *next)
        *next = key_u64(at.p + at.len - 8);
    return 0;
}

/* ---- closing ---- */

/* Put the record into the tree again after the run changed; the old checksums are freed. */
static int run_store_again(struct store *st, struct chunk_run *r, uint32_t n, uint64_t size,
                           const uint64_t *sums, enum keep keep)
{
    struct buf old = r->refs;
    const struct span refs = {old.p, r->in_tree ? old.len : 0};
    int err;

    r->refs = (struct buf){0};
    err = run_store_as(st, r, n, size, sums, keep);
    if (err) {
        r->refs = old;
        return err;
    }
    sums_free(st, &refs, keep);
    buf_release(&old);
    r->in_tree = true;
    return 0;
}

/* Give back the space that a run had for growing, or keep it until the next commit. */
static void run_trim(struct store *st, struct chunk_run *r)
{
    uint64_t bytes = round_up(run_bytes(r) ? run_bytes(r) : 1, FMT_ALIGN);
    uint64_t base = round_up(r->base_run * r->base_size, FMT_ALIGN);

    /* If the operation is taken back, the growth of before it is not needed either. */
    if (r->captured && r->base_run && base < r->base_space)
        space_unused(st, r->rec.offset + base, r->base_space - base);
    if (r->grows && r->rec.run == 1 && !r->captured)
        room_set(st, r->rec.offset, r->rec.offset + bytes, r->rec.offset + r->space);
    else if (bytes < r->space)
        space_free(st, r->rec.offset + bytes, r->space - bytes, r->captured ? WITH_OP : ANYWAY);
    r->space = bytes;
}

/* Put an open run into the tree: its state before the operation past the notes, and what the
 * operation did after that, noted. */
static int run_flush(struct store *st, struct chunk_run *r)
{
    int err = 0;

    if (r->captured && r->base_run && r->base_dirty) {
        err = run_store_again(st, r, r->base_run, r->base_size, r->base_sum ? r->base_sum : r->sum,
                              ANYWAY);
        if (err)
            return err;
        r->base_dirty = false;
    }
    if (r->dirty)
        err =
            run_store_again(st, r, r->rec.run, r->rec.size, r->sum, r->captured ? WITH_OP : ANYWAY);
    if (err)
        return err;
    r->dirty = false;
    run_trim(st, r);
    return 0;
}

void runs_pull_in(struct store *st, uint64_t object)
{
    for (int i = 0; i < st->runs->n; i++) {
        struct chunk_run *r = st->runs->open[i];

        if (r->object != object && !r->keeps && !r->captured &&
            r->rec.offset + r->space == st->space->end)
            run_trim(st, r);
    }
}

static void close_at(struct runs *runs, int i)
{
    struct chunk_run *r = runs->open[i];

    runs->open[i] = runs->open[--runs->n];
    run_unref(r);
}

static int index_of(const struct store *st, const struct chunk_run *r)
{
    int i = 0;

    while (st->runs->open[i] != r)
        i++;
    return i;
}

int run_close(struct store *st, struct chunk_run *r)
{
    int err;

    if (!is_open(st, r))
        return 0;
    err = run_flush(st, r);
    if (err)
        return err;
    atomic_fetch_add(&r->uses, 1); /* ours, now that it is not open any more */
    close_at(st->runs, index_of(st, r));
    return 0;
}

int runs_flush(struct store *st, uint64_t object)
{
    int failed = packed_flush(st, object);

    if (failed)
        return failed;
    for (int i = st->runs->n - 1; i >= 0; i--) {
        int err;

        if (object && st->runs->open[i]->object != object)
            continue;
        err = run_flush(st, st->runs->open[i]);
        if (err)
            return err;
        close_at(st->runs, i);
    }
    return 0;
}

bool runs_changed(const struct store *st, uint64_t object)
{
    for (int i = 0; i < st->runs->n; i++)
        if (st->runs->open[i]->object == object && st->runs->open[i]->dirty)
            return true;
    return false;
}

int runs_init(struct runs *runs)
{
    return lock_init(&runs->lock) ? fail(DREP_ERR_NOMEM, "out of memory: cannot make a lock") : 0;
}

void runs_release(struct runs *runs)
{
    packed_drop(&runs->packed);
    while (runs->n)
        close_at(runs, runs->n - 1);
    for (int i = 0; i < RECENT_RUNS; i++)
        run_unref(runs->recent[i].run);
    for (int i = 0; i < runs->nreserved; i++)
        extents_release(&runs->reserved[i].left);
    mem_free(runs->rooms.slot);
    mem_free(runs->last.slot);
    pthread_mutex_destroy(&runs->lock);
    memset(runs, 0, sizeof(*runs));
}

/* ---- before and after the operation ---- */

/* A run is noted once per operation; its checksums only when they are about to change, because
 * there may be thousands. */
int run_capture(struct store *st, struct chunk_run *r, int sums)
{
    if (!store_op_active(st))
        return 0;
    if (!r->captured) {
        r->captured = true;
        r->base_run = r->rec.run;
        r->base_size = r->rec.size;
        r->base_space = r->space;
        r->base_dirty = r->dirty;
    }
    if (sums && !r->base_sum && r->base_run) {
        size_t n = (size_t)chunk_sums(r->base_run, r->base_size);

        r->base_sum = mem_array(n, sizeof(*r->base_sum));
        if (!r->base_sum)
            return DREP_ERR_NOMEM;
        memcpy(r->base_sum, r->sum, n * sizeof(*r->sum));
    }
    return 0;
}

/* Forget how the run was before the operation. */
static void release_capture(struct chunk_run *r)
{
    r->captured = false;
    r->opened = false;
    mem_free(r->base_sum);
    r->base_sum = NULL;
}

int runs_op_end(struct store *st)
{
    int err = packed_flush(st, 0);

    if (err)
        return err;
    for (int i = 0; i < st->runs->n; i++)
        release_capture(st->runs->open[i]);
    return 0;
}

void runs_op_undo(struct store *st)
{
    packed_drop(&st->runs->packed);
    for (int i = st->runs->n - 1; i >= 0; i--) {
        struct chunk_run *r = st->runs->open[i];

        /* Runs opened or begun by the operation: the tree's undo restores what it had. */
        if (r->opened || (r->captured && !r->base_run)) {
            close_at(st->runs, i);
            continue;
        }
        if (!r->captured)
            continue;
        if (r->base_sum)
            memcpy(r->sum, r->base_sum,
                   (size_t)chunk_sums(r->base_run, r->base_size) * sizeof(*r->sum));
        r->rec.run = r->base_run;
        r->rec.size = r->base_size;
        r->space = r->base_space;
        r->dirty = r->base_dirty;
        release_capture(r);
    }
}

/* ---- opening ---- */

/* Make a place for one more open run: the one used least goes into the tree. */
static int make_place(struct store *st)
{
    int oldest = 0;
    int err;

    if (st->runs->n < OPEN_RUNS)
        return 0;
    for (int i = 1; i < st->runs->n; i++) {
        if (st->runs->open[i]->used < st->runs->open[oldest]->used)
            oldest = i;
    }
    err = run_flush(st, st->runs->open[oldest]);
    if (!err)
        close_at(st->runs, oldest);
    return err;
}

static int chunk_run_new(struct chunks *cs, const uint64_t *coord, struct chunk_run **out)
{
    struct store *st = cs->st;
    struct chunk_run *r;
    int err = make_place(st);

    if (err)
        return err;
    r = mem_zalloc(1, sizeof(*r));
    if (!r)
        return DREP_ERR_NOMEM;
    atomic_init(&r->uses, 1);
    r->object = cs->object;
    r->rank = cs->rank;
    memcpy(r->coord, coord, (size_t)cs->rank * sizeof(*coord));
    r->rec.kind = FMT_CHUNK_PLAIN;
    r->sum = r->rec.sum;
    r->room = FMT_SUMS_INLINE;
    r->used = ++st->runs->clock;
    *out = r;
    return 0;
}

int run_open(struct chunks *cs, struct run_hit *f)
{
    struct store *st = cs->st;
    struct chunk_run *from = f->run, *r;
    size_t n = (size_t)chunk_sums(from->rec.run, from->rec.size);
    int err;

    if (is_open(st, from)) {
        from->used = ++st->runs->clock;
        return 0;
    }
    err = chunk_run_new(cs, from->coord, &r);
    if (err)
        return err;
    r->rec = from->rec;
    r->rec.kept = 0; /* what a later version added may not be true any more, as its tail */
    r->rec.refs = (struct span){NULL, 0};
    r->space = from->space;
    r->in_tree = true;
    r->opened = store_op_active(st);
    err = run_reserve(r, n);
    if (!err && from->refs.len)
        err = buf_set(&r->refs, from->refs.p, from->refs.len);
    if (err) {
        run_unref(r);
        return err;
    }
    memcpy(r->sum, from->sum, n * sizeof(*r->sum));
    st->runs->open[st->runs->n++] = r;
    run_done(st, f);
    f->run = r;
    return 0;
}

/* Find the open run that new chunks would continue, in the grid and in the file. */
static struct chunk_run *run_to_continue(struct chunks *cs, const uint64_t *coord, uint64_t offset,
                                         uint64_t size)
{
    for (int i = 0; i < cs->st->runs->n; i++) {
        struct chunk_run *r = cs->st->runs->open[i];

        if (r->object == cs->object && r->rank == cs->rank && cs->rank > 0 &&
            memcmp(r->coord, coord, (size_t)(cs->rank - 1) * sizeof(*coord)) == 0 &&
            chunk_last(r->rank, r->coord) + r->rec.run == chunk_last(cs->rank, coord) &&
            r->rec.size == size && size % FMT_ALIGN == 0 &&
            r->rec.offset + run_bytes(r) == offset && r->space == run_bytes(r))
            return r;
    }
    return NULL;
}

/* Appended checksums leave the first ones as they were, so capturing the run without them is
 * enough. */
static int run_append(struct store *st, struct chunk_run *r, uint32_t n, const uint64_t *sums)
{
    uint64_t each = sums_of(r->rec.size), had = r->rec.run * each;
    int err = run_capture(st, r, 0);

    if (!err)
        err = run_reserve(r, had + n * each);
    if (err)
        return err;
    memcpy(r->sum + had, sums, (size_t)(n * each) * sizeof(*sums));
    r->rec.run += n;
    r->space += n * r->rec.size;
    r->dirty = true;
    r->used = ++st->runs->clock;
    return 0;
}

static int run_begin(struct chunks *cs, const uint64_t *coord, uint32_t n, uint64_t offset,
                     uint64_t size, uint64_t space, const uint64_t *sums)
{
    struct store *st = cs->st;
    uint64_t count = chunk_sums(n, size);
    struct chunk_run *r;
    int err = chunk_run_new(cs, coord, &r);

    if (err)
        return err;
    r->rec.run = n;
    r->rec.size = size;
    r->rec.offset = offset;
    r->space = space;
    r->dirty = true;
    r->keeps = cs->appended;
    r->captured = store_op_active(st); /* with base_run 0: it was not there */
    err = run_reserve(r, count);
    if (err) {
        run_unref(r);
        return err;
    }
    memcpy(r->sum, sums, (size_t)count * sizeof(*sums));
    st->runs->open[st->runs->n++] = r;
    return 0;
}

/* Runs are limited to RUN_BYTES: whoever changes one chunk of a run writes the checksums of all
 * of it. */
int run_add(struct chunks *cs, const uint64_t *coord, uint32_t n, uint64_t offset, uint64_t size,
            uint64_t space, const uint64_t *sums)
{
    uint64_t at[FMT_RANK_MAX], each = sums_of(size);
    uint64_t most = size ? RUN_BYTES / size : 1;
    int err = 0;

    store_changed(cs->st);
    memcpy(at, coord, (size_t)cs->rank * sizeof(*at));
    while (!err && n > 0) {
        struct chunk_run *r = run_to_continue(cs, at, offset, size);
        uint64_t now = most > 1 ? most : 1;

        if (r && r->rec.run < most && space == n * size) {
            now = most - r->rec.run < n ? most - r->rec.run : n;
            err = run_append(cs->st, r, (uint32_t)now, sums);
        } else {
            now = now < n ? now : n;
            err =
                run_begin(cs, at, (uint32_t)now, offset, size, now == n ? space : now * size, sums);
        }
        sums += now * each;
        offset += now * size;
        space -= now < n ? now * size : 0;
        n -= (uint32_t)now;
        if (cs->rank)
            at[cs->rank - 1] += now;
    }
    return err;
}
