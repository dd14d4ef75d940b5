/* run.c - which chunks are stored where: records, and the runs that are open.
 *
 * A run that the open transaction writes to stays in memory with its sums, so that many
 * small writes do not each write the sums of all of it; it goes into the tree when a
 * commit comes, when its chunks are cut apart, or when too many are open.  Readers look at
 * the open ones first. */
#include "txn/inner.h"

#include "base/error.h"
#include "base/mem.h"

#include <assert.h>
#include <string.h>

uint64_t chunk_align(const struct store *st, uint64_t bytes)
{
    return bytes >= FMT_SUM_BLOCK ? st->opts.unit : FMT_ALIGN;
}

void chunk_key(const struct chunks *cs, const uint64_t *coord, struct key *key)
{
    key_make(key, cs->object, FMT_TAG_CHUNK);
    for (int d = 0; d < cs->rank; d++)
        key_add_u64(key, coord[d]);
}

static void run_key(const struct run *r, struct key *key)
{
    key_make(key, r->object, FMT_TAG_CHUNK);
    for (int d = 0; d < r->rank; d++)
        key_add_u64(key, r->coord[d]);
}

/* Bytes of a key that all chunks of a row of the grid have in common. */
static size_t row_prefix(int rank)
{
    return 9 + 8 * (size_t)(rank ? rank - 1 : 0);
}

static uint64_t last_of(const uint64_t *coord, int rank)
{
    return rank ? coord[rank - 1] : 0;
}

/* Whether chunk `coord` is in the run, and where. */
static int covers(const struct run *r, uint64_t object, int rank, const uint64_t *coord,
                  uint32_t *index)
{
    uint64_t at;

    if (r->object != object || r->rank != rank)
        return 0;
    if (rank > 1 && memcmp(r->coord, coord, (size_t)(rank - 1) * sizeof(*coord)) != 0)
        return 0;
    at = last_of(coord, rank) - last_of(r->coord, rank); /* huge when before it */
    if (last_of(coord, rank) < last_of(r->coord, rank) || at >= r->rec.run)
        return 0;
    *index = (uint32_t)at;
    return 1;
}

/* ---- runs as they stand in the tree ---- */

void run_unload(struct run *r)
{
    mem_free(r->heap);
    mem_free(r->base_sum);
    buf_release(&r->tail);
    r->heap = NULL;
    r->base_sum = NULL;
}

void run_unref(struct run *r)
{
    if (!r || atomic_fetch_sub(&r->refs, 1) != 1)
        return;
    run_unload(r);
    mem_free(r);
}

static int sums_load(struct store *st, struct run *r)
{
    uint64_t n = chunk_sums(r->rec.run, r->rec.size);
    struct buf block = {0};
    uint32_t count = 0;
    int err = block_load(st, &r->rec.sums, FMT_SUMS, &block, &count);

    if (!err && (count != n || block.len != 8 * n))
        err = fail(DREP_ERR_FORMAT, "block of sums at byte %llu: %u sums, not %llu",
                   (unsigned long long)r->rec.sums.offset, count, (unsigned long long)n);
    if (!err) {
        r->heap = mem_array(n, sizeof(*r->heap));
        if (!r->heap)
            err = DREP_ERR_NOMEM;
    }
    for (size_t i = 0; !err && i < n; i++)
        r->heap[i] = key_u64(block.p + 8 * i);
    r->room = err ? 0 : (size_t)n;
    r->sum = r->heap;
    buf_release(&block);
    return err;
}

int run_load(struct store *st, const struct chunk_rec *rec, struct run *r)
{
    uint64_t end = store_end(st), bytes;

    r->rec = *rec;
    r->rec.tail = (struct span){NULL, 0};
    r->heap = NULL;
    r->base_sum = NULL;
    r->tail = (struct buf){0};
    r->sum = r->rec.sum;
    r->room = FMT_SUMS_INLINE;
    bytes = rec->size * rec->run; /* chunk_get() saw to it that this is possible */
    if (rec->offset > end || bytes > end - rec->offset)
        return fail(DREP_ERR_FORMAT, "chunks at byte %llu lie outside the file",
                    (unsigned long long)rec->offset);
    r->space = round_up(bytes ? bytes : 1, FMT_ALIGN);
    if (rec->tail.len) {
        int err = buf_set(&r->tail, rec->tail.p, rec->tail.len);

        if (err)
            return err;
    }
    if (!rec->far)
        return 0;
    return sums_load(st, r);
}

/* A run that many chunks may be read from is kept. */
static int remember(struct store *st, struct found *f)
{
    struct run *r = mem_alloc(sizeof(*r));
    struct recent_run *place, old;

    if (!r) {
        run_unload(&f->local);
        return DREP_ERR_NOMEM;
    }
    memcpy(r, &f->local, sizeof(*r));
    if (!r->heap)
        r->sum = r->rec.sum;
    atomic_init(&r->refs, 2);
    r->change = st->tree.change;
    pthread_mutex_lock(&st->lock);
    place = &st->runs.recent[st->runs.next_recent];
    old = *place;
    *place = (struct recent_run){r, r->object, last_of(r->coord, r->rank), r->rec.run};
    st->runs.next_recent = (st->runs.next_recent + 1) % RECENT_RUNS;
    pthread_mutex_unlock(&st->lock);
    run_unref(old.run);
    f->run = r;
    return 0;
}

static struct run *recent(struct store *st, const struct chunks *cs, const uint64_t *coord,
                          uint32_t *index)
{
    uint64_t last = last_of(coord, cs->rank);
    struct run *found = NULL;

    pthread_mutex_lock(&st->lock);
    for (int i = 0; i < RECENT_RUNS && !found; i++) {
        const struct recent_run *at = &st->runs.recent[i];

        if (at->object == cs->object && last - at->first < at->n && at->run &&
            at->run->change == st->tree.change &&
            covers(at->run, cs->object, cs->rank, coord, index)) {
            found = at->run;
            atomic_fetch_add(&found->refs, 1);
        }
    }
    pthread_mutex_unlock(&st->lock);
    return found;
}

int chunk_entry(const struct chunks *cs, const struct key *key, const struct buf *value,
                uint64_t *coord, struct chunk_rec *rec)
{
    struct in in;

    if (key->len != 9 + 8 * (size_t)cs->rank)
        return fail(DREP_ERR_FORMAT, "a chunk's key of %zu bytes", key->len);
    in_init(&in, value->p, value->len);
    if (chunk_get(&in, rec))
        return fail(in.err, "chunk record: %s", in.why);
    for (int d = 0; d < cs->rank; d++)
        coord[d] = key_u64(key->p + 9 + 8 * (size_t)d);
    return 0;
}

/* Decodes a record found under this key into f->local, if it covers the chunk. */
static int decode(struct chunks *cs, const uint64_t *coord, const struct key *key,
                  const struct buf *value, struct found *f)
{
    struct chunk_rec rec;
    int err = chunk_entry(cs, key, value, f->local.coord, &rec);

    if (err)
        return err;
    f->local.object = cs->object;
    f->local.rank = cs->rank;
    f->local.rec.run = rec.run;
    if (!covers(&f->local, cs->object, cs->rank, coord, &f->index))
        return DREP_ERR_NOT_FOUND;
    err = run_load(cs->st, &rec, &f->local);
    if (err) {
        run_unload(&f->local);
        return err;
    }
    f->local.in_tree = 1;
    f->run = &f->local;
    return f->local.heap ? remember(cs->st, f) : 0;
}

int run_find(struct chunks *cs, const uint64_t *coord, struct found *f)
{
    struct store *st = cs->st;
    struct buf value = {0};
    struct key key, at;
    int err;

    for (int i = 0; i < st->runs.n; i++) {
        f->run = st->runs.open[i];
        if (covers(f->run, cs->object, cs->rank, coord, &f->index))
            return 0;
    }
    f->run = recent(st, cs, coord, &f->index);
    if (f->run)
        return 0;
    chunk_key(cs, coord, &key);
    err = tree_floor(st, &key, row_prefix(cs->rank), &at, &value);
    if (!err)
        err = decode(cs, coord, &at, &value, f);
    buf_release(&value);
    return err;
}

static int is_open(const struct store *st, const struct run *r)
{
    for (int i = 0; i < st->runs.n; i++) {
        if (st->runs.open[i] == r)
            return 1;
    }
    return 0;
}

void run_done(struct store *st, struct found *f)
{
    if (f->run == &f->local)
        run_unload(&f->local);
    else if (f->run && !is_open(st, f->run))
        run_unref(f->run);
    f->run = NULL;
}

void run_leave(struct store *st, struct found *f)
{
    if (f->run == &f->local || is_open(st, f->run))
        run_done(st, f);
}

int run_again(struct chunks *cs, const uint64_t *coord, struct found *f)
{
    struct store *st = cs->st;

    if (!f->run)
        return 0;
    if (st->runs.n == 0 && f->run->change == st->tree.change &&
        covers(f->run, cs->object, cs->rank, coord, &f->index))
        return 1;
    run_done(st, f);
    return 0;
}

int run_next(struct chunks *cs, const uint64_t *coord, uint64_t n, uint64_t *next)
{
    uint64_t first = last_of(coord, cs->rank);
    struct tree_walk w;
    struct key key, at;
    int err;

    *next = UINT64_MAX;
    if (n < 2 || cs->rank == 0)
        return 0;
    for (int i = 0; i < cs->st->runs.n; i++) {
        const struct run *r = cs->st->runs.open[i];
        uint64_t c = last_of(r->coord, r->rank);

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
        return fail(DREP_ERR_FORMAT, "a chunk's key of %zu bytes", at.len);
    if (key_u64(at.p + at.len - 8) < *next)
        *next = key_u64(at.p + at.len - 8);
    return 0;
}

/* ---- records into the tree ---- */

static int write_sums(struct store *st, struct chunk_rec *rec, const uint64_t *sums, uint64_t n,
                      enum keep keep)
{
    struct buf b = {0};
    struct out out;
    uint64_t offset;
    int err;

    buf_out(&b, &out);
    for (uint64_t i = 0; i < n; i++)
        out_u64(&out, sums[i]);
    err = buf_done(&b, &out);
    if (!err)
        err = space_alloc(st, FMT_BLOCK_HEAD + 8 * n, FMT_ALIGN, keep, &offset);
    if (!err) {
        err = block_write(st, FMT_SUMS, (uint32_t)n, b.p, b.len, offset, &rec->sums);
        if (err)
            space_free(st, offset, FMT_BLOCK_HEAD + 8 * n, keep);
    }
    buf_release(&b);
    return err;
}

static int put_record(struct store *st, const struct run *r, const struct chunk_rec *rec,
                      enum keep keep)
{
    struct buf b = {0};
    struct key key;
    struct out out;
    int err;

    run_key(r, &key);
    buf_out(&b, &out);
    chunk_put(&out, rec);
    err = buf_done(&b, &out);
    if (!err)
        err =
            keep == ANYWAY ? tree_put_anyway(st, &key, b.p, b.len) : tree_put(st, &key, b.p, b.len);
    buf_release(&b);
    return err;
}

/* `n` chunks of `size` bytes with these sums, as the record of run r. */
static int store_as(struct store *st, const struct run *r, uint32_t n, uint64_t size,
                    const uint64_t *sums, enum keep keep, struct ref *where)
{
    struct chunk_rec rec = r->rec;
    uint64_t count = rec.filtered ? 1 : chunk_sums(n, size);
    int err = 0;

    rec.run = n;
    rec.size = size;
    rec.far = count > FMT_SUMS_INLINE;
    rec.tail = (struct span){r->tail.p, r->tail.len};
    rec.sums = (struct ref){0, 0, 0};
    rec.nsums = rec.far ? 0 : (uint32_t)count;
    if (rec.far)
        err = write_sums(st, &rec, sums, count, keep);
    else
        memmove(rec.sum, sums, (size_t)count * sizeof(*sums));
    if (err)
        return err;
    err = put_record(st, r, &rec, keep);
    if (err && rec.far)
        space_free(st, rec.sums.offset, rec.sums.length, keep);
    if (!err)
        *where = rec.sums;
    return err;
}

int run_store(struct store *st, const struct run *r, enum keep keep)
{
    struct ref where;

    return store_as(st, r, r->rec.run, r->rec.size, r->sum, keep, &where);
}

/* The record again, after the run changed; the old sums are free. */
static int restore(struct store *st, struct run *r, uint32_t n, uint64_t size, const uint64_t *sums,
                   enum keep keep)
{
    struct ref old = r->rec.sums, where;
    int err = store_as(st, r, n, size, sums, keep, &where);

    if (err)
        return err;
    if (r->in_tree && old.length)
        space_free(st, old.offset, old.length, keep);
    r->rec.sums = where;
    r->rec.far = where.length > 0;
    r->in_tree = 1;
    return 0;
}

/* Space kept for growing is free when a run is not open any more. */
static void trim(struct store *st, struct run *r)
{
    uint64_t bytes = round_up(run_bytes(r) ? run_bytes(r) : 1, FMT_ALIGN);
    uint64_t base = round_up(r->base_run * r->base_size, FMT_ALIGN);

    /* If the operation is taken back, what it grew by is not needed either. */
    if (r->captured && r->base_run && base < r->base_space)
        op_unused(st, r->rec.offset + base, r->base_space - base);
    if (bytes < r->space)
        space_free(st, r->rec.offset + bytes, r->space - bytes, r->captured ? WITH_OP : ANYWAY);
    r->space = bytes;
}

/* Into the tree, before it is closed.  What was before the operation goes there so that
 * taking the operation back does not touch it; what the operation did follows. */
static int flush(struct store *st, struct run *r)
{
    int err = 0;

    if (r->captured && r->base_run && r->base_dirty) {
        err = restore(st, r, r->base_run, r->base_size, r->base_sum ? r->base_sum : r->sum, ANYWAY);
        if (err)
            return err;
        r->base_dirty = 0;
    }
    if (r->dirty)
        err = restore(st, r, r->rec.run, r->rec.size, r->sum, r->captured ? WITH_OP : ANYWAY);
    if (err)
        return err;
    r->dirty = 0;
    trim(st, r);
    return 0;
}

static void close_run(struct store *st, int i)
{
    struct run *r = st->runs.open[i];

    st->runs.open[i] = st->runs.open[--st->runs.n];
    run_unref(r);
}

static int index_of(const struct store *st, const struct run *r)
{
    int i = 0;

    while (st->runs.open[i] != r)
        i++;
    return i;
}

int runs_flush(struct store *st, uint64_t object)
{
    for (int i = st->runs.n - 1; i >= 0; i--) {
        int err;

        if (object && st->runs.open[i]->object != object)
            continue;
        err = flush(st, st->runs.open[i]);
        if (err)
            return err;
        close_run(st, i);
    }
    return 0;
}

void runs_release(struct store *st)
{
    while (st->runs.n)
        close_run(st, st->runs.n - 1);
    for (int i = 0; i < RECENT_RUNS; i++)
        run_unref(st->runs.recent[i].run);
    for (int i = 0; i < st->runs.nreserved; i++)
        extents_release(&st->runs.reserved[i].left);
    memset(&st->runs, 0, sizeof(st->runs));
}

/* ---- open runs ---- */

/* A place for one more, the one used least goes into the tree. */
static int make_place(struct store *st)
{
    int oldest = 0;
    int err;

    if (st->runs.n < OPEN_RUNS)
        return 0;
    for (int i = 1; i < st->runs.n; i++) {
        if (st->runs.open[i]->used < st->runs.open[oldest]->used)
            oldest = i;
    }
    err = flush(st, st->runs.open[oldest]);
    if (!err)
        close_run(st, oldest);
    return err;
}

int run_reserve(struct run *r, uint64_t sums)
{
    uint64_t *heap;
    size_t room;

    if (sums <= r->room)
        return 0;
    if (sums > SIZE_MAX / 16)
        return fail(DREP_ERR_LIMIT, "%llu sums of one run", (unsigned long long)sums);
    room = (size_t)sums + (size_t)sums / 2;
    heap = mem_resize(r->heap, room, sizeof(*heap));
    if (!heap)
        return DREP_ERR_NOMEM;
    if (!r->heap)
        memcpy(heap, r->rec.sum, sizeof(r->rec.sum));
    r->heap = heap;
    r->sum = heap;
    r->room = room;
    return 0;
}

int run_capture(struct store *st, struct run *r, int sums)
{
    if (!st->op.active)
        return 0;
    if (!r->captured) {
        r->captured = 1;
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

/* What a run was before the operation holds no longer than the operation. */
static void release_capture(struct run *r)
{
    r->captured = 0;
    r->opened = 0;
    mem_free(r->base_sum);
    r->base_sum = NULL;
}

void runs_op_end(struct store *st)
{
    for (int i = 0; i < st->runs.n; i++)
        release_capture(st->runs.open[i]);
}

void runs_op_undo(struct store *st)
{
    for (int i = st->runs.n - 1; i >= 0; i--) {
        struct run *r = st->runs.open[i];

        /* What the tree will say again holds for those opened since. */
        if (r->opened || (r->captured && !r->base_run)) {
            close_run(st, i);
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

static int new_run(struct chunks *cs, const uint64_t *coord, struct run **out)
{
    struct store *st = cs->st;
    struct run *r;
    int err = make_place(st);

    if (err)
        return err;
    r = mem_zalloc(1, sizeof(*r));
    if (!r)
        return DREP_ERR_NOMEM;
    atomic_init(&r->refs, 1);
    r->object = cs->object;
    r->rank = cs->rank;
    memcpy(r->coord, coord, (size_t)cs->rank * sizeof(*coord));
    r->sum = r->rec.sum;
    r->room = FMT_SUMS_INLINE;
    r->used = ++st->runs.clock;
    *out = r;
    return 0;
}

int run_open(struct chunks *cs, struct found *f)
{
    struct store *st = cs->st;
    struct run *from = f->run, *r;
    size_t n = (size_t)chunk_sums(from->rec.run, from->rec.size);
    int err;

    if (is_open(st, from)) {
        from->used = ++st->runs.clock;
        return 0;
    }
    err = new_run(cs, from->coord, &r);
    if (err)
        return err;
    r->rec = from->rec;
    r->space = from->space;
    r->in_tree = 1;
    r->opened = st->op.active;
    err = run_reserve(r, n);
    if (!err && from->tail.len)
        err = buf_set(&r->tail, from->tail.p, from->tail.len);
    if (err) {
        run_unref(r);
        return err;
    }
    memcpy(r->sum, from->sum, n * sizeof(*r->sum));
    st->runs.open[st->runs.n++] = r;
    run_done(st, f);
    f->run = r;
    return 0;
}

/* The open run that new chunks would continue, in the grid and in the file. */
static struct run *before(struct chunks *cs, const uint64_t *coord, uint64_t offset, uint64_t size)
{
    for (int i = 0; i < cs->st->runs.n; i++) {
        struct run *r = cs->st->runs.open[i];

        if (r->object == cs->object && r->rank == cs->rank && cs->rank > 0 &&
            memcmp(r->coord, coord, (size_t)(cs->rank - 1) * sizeof(*coord)) == 0 &&
            last_of(r->coord, r->rank) + r->rec.run == last_of(coord, cs->rank) &&
            r->rec.size == size && size % FMT_ALIGN == 0 &&
            r->rec.offset + run_bytes(r) == offset && r->space == run_bytes(r))
            return r;
    }
    return NULL;
}

static int append(struct store *st, struct run *r, uint32_t n, const uint64_t *sums)
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
    r->dirty = 1;
    r->used = ++st->runs.clock;
    return 0;
}

static int begin(struct chunks *cs, const uint64_t *coord, uint32_t n, uint64_t offset,
                 uint64_t size, uint64_t space, const uint64_t *sums)
{
    struct store *st = cs->st;
    uint64_t count = chunk_sums(n, size);
    struct run *r;
    int err = new_run(cs, coord, &r);

    if (err)
        return err;
    r->rec.run = n;
    r->rec.size = size;
    r->rec.offset = offset;
    r->space = space;
    r->dirty = 1;
    r->captured = st->op.active; /* with base_run 0: it was not there */
    err = run_reserve(r, count);
    if (err) {
        run_unref(r);
        return err;
    }
    memcpy(r->sum, sums, (size_t)count * sizeof(*sums));
    st->runs.open[st->runs.n++] = r;
    return 0;
}

int run_add(struct chunks *cs, const uint64_t *coord, uint32_t n, uint64_t offset, uint64_t size,
            uint64_t space, const uint64_t *sums)
{
    uint64_t at[FMT_RANK_MAX], each = sums_of(size);
    uint64_t most = size ? RUN_BYTES / size : 1;
    int err = 0;

    cs->st->dirty = 1;
    memcpy(at, coord, (size_t)cs->rank * sizeof(*at));
    while (!err && n > 0) {
        struct run *r = before(cs, at, offset, size);
        uint64_t now = most > 1 ? most : 1;

        if (r && r->rec.run < most && space == n * size) {
            now = most - r->rec.run < n ? most - r->rec.run : n;
            err = append(cs->st, r, (uint32_t)now, sums);
        } else {
            now = now < n ? now : n;
            err = begin(cs, at, (uint32_t)now, offset, size, now == n ? space : now * size, sums);
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

/* ---- taking chunks out ---- */

/* The chunks [from, from + n) of a run as a record of their own. */
static int keep_part(struct store *st, const struct run *r, uint32_t from, uint32_t n)
{
    uint64_t each = sums_of(r->rec.size);
    struct run part = *r;
    struct ref where;

    if (n == 0)
        return 0;
    part.rec.offset += from * r->rec.size;
    if (part.rank)
        part.coord[part.rank - 1] += from;
    return store_as(st, &part, n, r->rec.size, r->sum + from * each, WITH_OP, &where);
}

/* A record's payload begins with a unit of space, and units are nobody's in part.  Chunks of a
 * size that is no multiple of one share units (only other writers put such into one run): then
 * those up to the next one that begins with a unit have to move.  That one, or the run's end. */
static uint32_t next_aligned(const struct run *r, uint32_t index)
{
    uint64_t size = r->rec.size, step = 1;

    while (size && step * size % FMT_ALIGN)
        step *= 2;
    step = round_up(index, step);
    return step < r->rec.run ? (uint32_t)step : r->rec.run;
}

static int copy_payload(struct store *st, uint64_t from, uint64_t size, uint64_t to)
{
    struct buf b = {0};
    int err = buf_room(&b, size < PIECE_BYTES ? size : PIECE_BYTES);

    while (!err && size > 0) {
        size_t now = size < b.size ? (size_t)size : b.size;

        err = st->io->ops->read_at(st->io, b.p, now, from);
        if (!err)
            err = st->io->ops->write_at(st->io, b.p, now, to);
        from += now;
        to += now;
        size -= now;
    }
    buf_release(&b);
    return err;
}

/* The chunks [from, from + n) as a run elsewhere, with the sums that they had. */
static int move_part(struct store *st, const struct run *r, uint32_t from, uint32_t n)
{
    uint64_t each = sums_of(r->rec.size), bytes = n * r->rec.size;
    uint64_t space = round_up(bytes ? bytes : 1, FMT_ALIGN), offset = r->rec.offset;
    struct run part = *r;
    struct ref where;
    int err;

    if (n == 0)
        return 0;
    err = space_alloc(st, space, chunk_align(st, bytes), WITH_OP, &part.rec.offset);
    if (err)
        return err;
    part.coord[part.rank - 1] += from;
    err = copy_payload(st, offset + from * r->rec.size, bytes, part.rec.offset);
    if (!err)
        err = store_as(st, &part, n, r->rec.size, r->sum + from * each, WITH_OP, &where);
    if (err)
        space_free(st, part.rec.offset, space, WITH_OP);
    return err;
}

/* Payload of chunks [from, to), as far as those before them do not need it. */
static void free_payload(struct store *st, const struct run *r, uint32_t from, uint32_t to)
{
    uint64_t kept = from * r->rec.size, low = r->rec.offset, high = low + to * r->rec.size;

    if (from > 0)
        low += round_up(kept ? kept : 1, FMT_ALIGN);
    if (to == r->rec.run)
        high = r->rec.offset + r->space;
    if (low < high)
        space_free(st, low, high - low, WITH_OP);
}

int run_remove(struct chunks *cs, struct found *f, uint32_t n)
{
    struct store *st = cs->st;
    struct run *r = f->run;
    uint32_t index = f->index, behind = r->rank ? index + n : r->rec.run;
    uint32_t stay = next_aligned(r, behind);
    struct key key;
    int err = 0;

    if (is_open(st, r)) {
        int i = index_of(st, r);

        err = flush(st, r);
        if (err)
            return err;
        atomic_fetch_add(&r->refs, 1); /* ours, now that it is not open any more */
        close_run(st, i);
    }
    if (index == 0) {
        run_key(r, &key);
        err = tree_del(st, &key);
    } else {
        err = keep_part(st, r, 0, index);
    }
    if (!err)
        err = move_part(st, r, behind, stay - behind);
    if (!err)
        err = keep_part(st, r, stay, r->rec.run - stay);
    if (err)
        return err;
    if (r->rec.sums.length)
        space_free(st, r->rec.sums.offset, r->rec.sums.length, WITH_OP);
    free_payload(st, r, index, stay);
    return 0;
}

/* ---- reservations ---- */

void chunks_end(struct store *st)
{
    for (int i = 0; i < st->runs.nreserved; i++) {
        struct extents *left = &st->runs.reserved[i].left;
        struct extent e;

        while (extents_last(left, &e)) {
            if (extents_take(left, e.offset, e.length))
                break;
            space_free(st, e.offset, e.length, ANYWAY);
        }
        extents_release(left);
    }
    st->runs.nreserved = 0;
}
