/* place.c - where chunks go in the file, new ones and those in place of old ones.
 *
 * Unfiltered chunks stand back to back in runs.  Space of the open transaction may be
 * written in place, space of a commit never: then the chunk moves and its run is cut.
 * Places are found in grid order, whatever threads then write to them. */
#include "txn/inner.h"

#include "base/error.h"
#include "base/mem.h"

#include <string.h>

#define RESERVE_MAX ((uint64_t)1 << 30)
#define IMAGE_MAX ((size_t)4 << 20) /* bytes an operation keeps of what it overwrites */
#define LONG_FILE 4                 /* slabs */
#define BATCH_CHUNKS 4096
#define BATCH_BYTES ((uint64_t)64 << 20)

static uint64_t last_of(const struct chunks *cs, const uint64_t *coord)
{
    return cs->rank ? coord[cs->rank - 1] : 0;
}

void chunk_forget(struct chunks *cs, const uint64_t *coord)
{
    struct cache_key key = {cs->object, CACHE_WHOLE, cs->rank, coord};

    if (cs->nfilters || cs->variable)
        cache_drop(cs->st->cache, &key);
    if (cs->cell && cs->payload)
        cache_drop_cells(cs->st->cache, &key, 0, (cs->payload - 1) / cs->cell);
}

/* ---- where new chunks go ---- */

static struct reservation *reservation_of(struct chunks *cs, uint64_t chunk)
{
    struct runs *runs = &cs->st->runs;

    for (int i = 0; i < runs->nreserved; i++) {
        struct reservation *r = &runs->reserved[i];

        if (r->object == cs->object && r->payload == cs->payload && chunk >= r->first &&
            chunk - r->first < r->chunks)
            return r;
    }
    return NULL;
}

/* The reserved place of these chunks, if it is still free: 1, or 0. */
static int take_reserved(struct chunks *cs, uint64_t chunk, uint64_t bytes, uint64_t *offset)
{
    struct reservation *r = reservation_of(cs, chunk);
    uint64_t at;

    if (!r)
        return 0;
    at = r->offset + (chunk - r->first) * r->payload;
    bytes = round_up(bytes, FMT_ALIGN);
    if (!extents_hold(&r->left, at, bytes) || extents_take(&r->left, at, bytes))
        return 0;
    if (cs->st->op.active && extents_add(&cs->st->op.alloc, at, bytes, NULL)) {
        extents_add(&r->left, at, bytes, NULL);
        return 0;
    }
    *offset = at;
    return 1;
}

static int nothing_stored(struct chunks *cs)
{
    struct tree_walk w;
    struct key key;

    for (int i = 0; i < cs->st->runs.n; i++) {
        if (cs->st->runs.open[i]->object == cs->object)
            return 0;
    }
    key_make(&key, cs->object, FMT_TAG_CHUNK);
    tree_walk(&w, cs->st, &key, key.len);
    return tree_next(&w, &key, NULL) == DREP_ERR_NOT_FOUND;
}

/* Where the chunk before this one ends, if that is where a full one would; 0: nowhere, or where
 * what is written anew would lengthen the file: there may be room elsewhere. */
static uint64_t end_before(struct chunks *cs, const uint64_t *coord, uint64_t ahead, uint64_t size)
{
    uint64_t at[FMT_RANK_MAX], end = 0;
    struct found f;

    if (last_of(cs, coord) == 0)
        return 0;
    memcpy(at, coord, (size_t)cs->rank * sizeof(*at));
    at[cs->rank - 1]--;
    if (run_find(cs, at, &f))
        return 0;
    if (!f.run->rec.filtered && f.run->rec.size >= size && f.run->rec.size % FMT_ALIGN == 0 &&
        f.index + 1 == f.run->rec.run && f.run->space == run_bytes(f.run))
        end = f.run->rec.offset + f.run->space;
    run_done(cs->st, &f);
    return end == cs->st->space.end && ahead != AHEAD_ALL ? 0 : end;
}

/* How many chunks from `chunk` on, of n, neither stand anywhere nor have a place. */
static uint64_t without_place(struct chunks *cs, uint64_t chunk, uint64_t n)
{
    const struct runs *runs = &cs->st->runs;
    uint64_t next;

    if (run_next(cs, &chunk, n, &next))
        return 1;
    if (next != UINT64_MAX && next - chunk < n)
        n = next - chunk;
    for (int i = 0; i < runs->nreserved; i++) {
        const struct reservation *r = &runs->reserved[i];

        if (r->object == cs->object && r->first > chunk && r->first - chunk < n)
            n = r->first - chunk;
    }
    return n;
}

/* A dataset that grows from commit to commit has its last slab moved by each.  In a file that is
 * long anyway slabs of such stand at multiples of their size, so that the places they leave fit
 * again. */
static uint64_t align_of(const struct chunks *cs, uint64_t bytes)
{
    uint64_t align = chunk_align(cs->st, bytes);

    if (!cs->grows || bytes < cs->payload || cs->payload % align || cs->payload < align ||
        cs->st->space.end / LONG_FILE < cs->payload)
        return align;
    return cs->payload;
}

/* A contiguous dataset that is written bit by bit gets its place as a whole, so that its
 * slabs come to stand back to back.  What is written anew has a place for each of its chunks
 * already: then only those get one that are certain to come. */
static void reserve(struct chunks *cs, const uint64_t *coord, uint64_t ahead, uint64_t bytes,
                    uint64_t size)
{
    struct store *st = cs->st;
    struct reservation *r = &st->runs.reserved[st->runs.nreserved];
    uint64_t chunk = last_of(cs, coord), total, room, behind;

    if (cs->rank != 1 || cs->reserve <= cs->payload || cs->payload == 0 ||
        cs->payload % FMT_ALIGN || st->runs.nreserved == RESERVATIONS)
        return;
    total = cs->reserve / cs->payload + (cs->reserve % cs->payload != 0);
    if (chunk >= total || reservation_of(cs, chunk))
        return;
    behind = end_before(cs, coord, ahead, size);
    if (ahead == AHEAD_ALL && !behind && chunk <= RESERVE_MAX / cs->payload / 2 &&
        nothing_stored(cs)) {
        r->first = 0;
        r->chunks = total;
    } else {
        r->first = chunk;
        r->chunks = total - chunk < ahead ? total - chunk : ahead;
        if (ahead == AHEAD_ALL)
            r->chunks = without_place(cs, chunk, r->chunks);
    }
    if (r->chunks > RESERVE_MAX / cs->payload)
        r->chunks = RESERVE_MAX / cs->payload;
    if (r->chunks < 2 || chunk - r->first >= r->chunks ||
        (r->first == chunk && r->chunks * cs->payload <= bytes))
        return; /* this write covers what there is to reserve */
    room = r->chunks * cs->payload;
    if (r->first + r->chunks == total && !cs->grows) /* the last one may be short */
        room = round_up(cs->reserve - r->first * cs->payload, FMT_ALIGN);
    if (behind && space_alloc_at(st, behind, room))
        r->offset = behind;
    else if (space_alloc(st, room, align_of(cs, room), ANYWAY, &r->offset))
        return;
    if (behind && r->offset == behind && st->op.active)
        extents_take(&st->op.alloc, behind, room); /* reservations outlive operations */
    r->object = cs->object;
    r->payload = cs->payload;
    if (extents_add(&r->left, r->offset, room, NULL)) {
        space_free(st, r->offset, room, ANYWAY);
        return;
    }
    st->runs.nreserved++;
}

int find_space(struct chunks *cs, const uint64_t *coord, uint64_t ahead, uint64_t bytes,
               uint64_t size, uint64_t *offset)
{
    struct store *st = cs->st;
    uint64_t behind;

    reserve(cs, coord, ahead, bytes, size);
    if (take_reserved(cs, last_of(cs, coord), bytes, offset))
        return 0;
    behind = cs->payload % FMT_ALIGN ? 0 : end_before(cs, coord, ahead, size);
    if (behind && space_alloc_at(st, behind, bytes)) {
        *offset = behind;
        return 0;
    }
    return space_alloc(st, bytes, align_of(cs, bytes), WITH_OP, offset);
}

/* ---- whole chunks ---- */

enum place may_overwrite(const struct store *st, const struct run *r, uint64_t offset,
                         uint64_t size)
{
    uint64_t low = offset / FMT_ALIGN * FMT_ALIGN;

    if (r->rec.filtered)
        return MOVE;
    if (!space_fresh(st, low, offset + size - low))
        return MOVE;
    if (!st->op.active ||
        extents_hold(&st->op.alloc, low, round_up(offset + size, FMT_ALIGN) - low))
        return IN_PLACE;
    return st->op.image.len + size <= IMAGE_MAX ? IN_PLACE_NOTED : MOVE;
}

/* A chunk that is being written. */
struct slot_of {
    uint64_t offset;
    enum place place; /* MOVE: to a new place */
    int anew;         /* MOVE: it stood elsewhere */
    uint32_t stretch; /* MOVE: the first of a stretch back to back: how many; else 0 */
    uint64_t space;   /* and its bytes */
};

struct writing {
    struct chunks *cs;
    const uint64_t *coords;
    uint64_t n, size;
    const struct chunk_source *from;
    uint64_t first; /* number of the batch's first chunk */
    struct slot_of *slot;
    uint64_t *sums;
};

static const uint64_t *coord_of(const struct writing *wr, uint64_t i)
{
    return wr->coords + (wr->first + i) * (uint64_t)wr->cs->rank;
}

/* Do chunks i and i + 1 follow each other in a row of the grid? */
static int neighbours(const struct writing *wr, uint64_t i)
{
    const uint64_t *a = coord_of(wr, i), *b = coord_of(wr, i + 1);
    int rank = wr->cs->rank;

    return rank > 0 && b[rank - 1] == a[rank - 1] + 1 &&
           memcmp(a, b, (size_t)(rank - 1) * sizeof(*a)) == 0;
}

/* How chunk i, and *n - 1 behind it, will be written; what they replace elsewhere is taken
 * out. */
static int choose(struct writing *wr, uint64_t i, uint64_t batch, uint64_t *n)
{
    struct chunks *cs = wr->cs;
    enum place place = MOVE;
    struct found f;
    uint64_t at;
    int err = run_find(cs, coord_of(wr, i), &f);

    *n = 1;
    if (err)
        return err == DREP_ERR_NOT_FOUND ? 0 : err;
    while (i + *n < batch && f.index + *n < f.run->rec.run && neighbours(wr, i + *n - 1))
        (*n)++;
    at = f.run->rec.offset + f.index * f.run->rec.size;
    if (f.run->rec.size == wr->size && wr->size > 0)
        place = may_overwrite(cs->st, f.run, at, *n * wr->size);
    for (uint64_t k = 0; k < *n; k++)
        wr->slot[i + k] =
            (struct slot_of){.place = place, .offset = at + k * f.run->rec.size, .anew = 1};
    if (place == MOVE)
        err = run_remove(cs, &f, (uint32_t)*n);
    run_done(cs->st, &f);
    return err;
}

/* How many chunks from i on are written by this call, one behind the other. */
static uint64_t written_ahead(const struct writing *wr, uint64_t i)
{
    uint64_t n = 1;

    while (wr->first + i + n < wr->n && neighbours(wr, i + n - 1))
        n++;
    return n;
}

/* Space for the stretch of new chunks that begins at i; *n: how many. */
static int give_space(struct writing *wr, uint64_t i, uint64_t batch, uint64_t *n)
{
    uint64_t size = wr->size, most = RUN_BYTES / (size ? size : 1), offset, bytes;
    int err;

    *n = 1;
    /* Chunks stand back to back only where no two share a unit of space. */
    while (size > 0 && size % FMT_ALIGN == 0 && *n < most && i + *n < batch &&
           wr->slot[i + *n].place == MOVE && neighbours(wr, i + *n - 1))
        (*n)++;
    bytes = round_up(size ? *n * size : 1, FMT_ALIGN);
    err = find_space(wr->cs, coord_of(wr, i), wr->slot[i].anew ? written_ahead(wr, i) : AHEAD_ALL,
                     bytes, size, &offset);
    for (uint64_t k = 0; !err && k < *n; k++)
        wr->slot[i + k].offset = offset + k * size;
    wr->slot[i].stretch = err ? 0 : (uint32_t)*n;
    wr->slot[i].space = bytes;
    return err;
}

static int write_one(void *ctx, int64_t number)
{
    struct writing *wr = ctx;
    const struct chunk_source *from = wr->from;
    struct store *st = wr->cs->st;
    uint64_t i = (uint64_t)number, at, now;
    const struct slot_of *s = &wr->slot[i];
    uint64_t *sums = wr->sums + i * sums_of(wr->size);
    struct work *w;
    const uint8_t *p;
    int err = 0;

    if (s->place == IN_PLACE_NOTED)
        return 0;
    w = work_take(st);
    if (!w)
        return DREP_ERR_NOMEM;
    for (at = 0; !err && at < wr->size; at += now) {
        now = wr->size - at < from->piece ? wr->size - at : from->piece;
        err = from->fn(from->ctx, w, wr->first + i, at, now, &p);
        if (!err)
            err = payload_write(st, p, 1, now, s->offset + at, sums + at / FMT_SUM_BLOCK);
    }
    work_give(st, w);
    return err;
}

/* Bytes that an earlier operation of the transaction wrote are kept for taking back. */
static int overwrite_noted(struct writing *wr, uint64_t i, struct run *r, uint32_t index)
{
    struct store *st = wr->cs->st;
    const struct chunk_source *from = wr->from;
    struct work *w = work_take(st);
    uint64_t at, now;
    const uint8_t *p;
    int err = w ? 0 : DREP_ERR_NOMEM;

    for (at = 0; !err && at < wr->size; at += now) {
        now = wr->size - at < from->piece ? wr->size - at : from->piece;
        err = from->fn(from->ctx, w, wr->first + i, at, now, &p);
        if (!err)
            err = payload_patch(st, r, index, at, now, p, 1);
    }
    work_give(st, w);
    return err;
}

/* The sums of a chunk that was written where it stood. */
static int note_overwritten(struct writing *wr, uint64_t i)
{
    struct store *st = wr->cs->st;
    uint64_t each = sums_of(wr->size);
    struct found f;
    int err = run_find(wr->cs, coord_of(wr, i), &f);

    if (err)
        return err;
    err = run_open(wr->cs, &f);
    if (!err)
        err = run_capture(st, f.run, 1);
    if (!err) {
        f.run->dirty = 1;
        st->dirty = 1;
        if (wr->slot[i].place == IN_PLACE_NOTED)
            err = overwrite_noted(wr, i, f.run, f.index);
        else
            memcpy(f.run->sum + f.index * each, wr->sums + i * each,
                   (size_t)each * sizeof(*wr->sums));
    }
    run_done(st, &f);
    return err;
}

static int record(struct writing *wr, uint64_t batch)
{
    uint64_t each = sums_of(wr->size);
    int err = 0;

    for (uint64_t i = 0; !err && i < batch; i++) {
        struct slot_of *s = &wr->slot[i];

        if (s->place != MOVE) {
            err = note_overwritten(wr, i);
        } else if (s->stretch) {
            err = run_add(wr->cs, coord_of(wr, i), s->stretch, s->offset, wr->size, s->space,
                          wr->sums + i * each);
            if (!err)
                s->stretch = 0;
        }
    }
    return err;
}

static int write_batch(struct writing *wr, uint64_t batch)
{
    uint64_t n;
    int err = 0;

    for (uint64_t i = 0; !err && i < batch; i += n)
        err = choose(wr, i, batch, &n);
    for (uint64_t i = 0; !err && i < batch; i += n) {
        n = 1;
        if (wr->slot[i].place == MOVE)
            err = give_space(wr, i, batch, &n);
    }
    if (!err)
        err = pool_run(wr->from->threads, (int64_t)batch, write_one, wr);
    if (!err)
        err = record(wr, batch);
    for (uint64_t i = 0; err && i < batch; i++) {
        if (wr->slot[i].stretch)
            space_free(wr->cs->st, wr->slot[i].offset, wr->slot[i].space, WITH_OP);
    }
    return err;
}

static int write_chunks(struct writing *wr)
{
    uint64_t size = wr->size;
    uint64_t most = size && BATCH_BYTES / size < BATCH_CHUNKS ? BATCH_BYTES / size : BATCH_CHUNKS;
    int err = 0;

    most = most < 1 ? 1 : most < wr->n ? most : wr->n;
    wr->slot = mem_zalloc(most, sizeof(*wr->slot));
    wr->sums = mem_array(most * (sums_of(size) + 1), sizeof(*wr->sums));
    if (!wr->slot || !wr->sums)
        err = DREP_ERR_NOMEM;
    while (!err && wr->first < wr->n) {
        uint64_t batch = wr->n - wr->first < most ? wr->n - wr->first : most;

        memset(wr->slot, 0, (size_t)batch * sizeof(*wr->slot));
        err = write_batch(wr, batch);
        wr->first += batch;
    }
    mem_free(wr->slot);
    mem_free(wr->sums);
    return err;
}

int chunks_write(struct chunks *cs, const uint64_t *coords, uint64_t n, uint64_t size,
                 const struct chunk_source *from)
{
    struct writing wr = {.cs = cs, .coords = coords, .n = n, .size = size, .from = from};
    int err = store_may_write(cs->st);

    if (err)
        return err;
    for (uint64_t i = 0; i < n; i++)
        chunk_forget(cs, coords + i * (uint64_t)cs->rank);
    return write_chunks(&wr);
}

/* ---- filtered chunks ---- */

int place_filtered(struct chunks *cs, const uint64_t *coord, uint64_t size, uint64_t sum,
                   uint32_t skipped, uint64_t *offset)
{
    struct store *st = cs->st;
    struct run r = {.object = cs->object, .rank = cs->rank};
    struct found f;
    int err = run_find(cs, coord, &f);

    if (!err) {
        err = run_remove(cs, &f, 1);
        run_done(st, &f);
    }
    if (err && err != DREP_ERR_NOT_FOUND)
        return err;
    r.rec.filtered = 1;
    r.rec.skipped = skipped;
    r.rec.run = 1;
    r.rec.size = size;
    r.rec.sum[0] = sum;
    r.sum = r.rec.sum;
    memcpy(r.coord, coord, (size_t)cs->rank * sizeof(*coord));
    err = space_alloc(st, size, chunk_align(st, size), WITH_OP, &r.rec.offset);
    if (err)
        return err;
    err = run_store(st, &r, WITH_OP);
    if (err) {
        space_free(st, r.rec.offset, size, WITH_OP);
        return err;
    }
    *offset = r.rec.offset;
    return 0;
}

int chunk_write_stored(struct chunks *cs, const uint64_t *coord, const struct buf *stored,
                       uint32_t skipped)
{
    struct store *st = cs->st;
    uint64_t offset;
    int err = store_may_write(st);

    if (err)
        return err;
    chunk_forget(cs, coord);
    err = place_filtered(cs, coord, stored->len, sum_stored(stored->p, stored->len), skipped,
                         &offset);
    return err ? err : st->io->ops->write_at(st->io, stored->p, stored->len, offset);
}

static int encode(struct work *w, const struct chunks *cs, const void *buf, uint64_t size,
                  struct span *out, uint32_t *skipped)
{
    uint64_t most = cs->st->opts.chunk_max;

    if (size > (cs->payload > most ? cs->payload : most))
        return fail(DREP_ERR_LIMIT, "a filtered chunk of %llu bytes; drep_chunk_max is %llu",
                    (unsigned long long)size, (unsigned long long)most);
    return filters_encode(&w->codec, cs->filter, cs->nfilters, buf, (size_t)size,
                          (size_t)cs->payload, out, skipped);
}

/* ---- consecutive chunks from memory ---- */

struct plain {
    const uint8_t *p;
    uint64_t size; /* of a chunk */
};

static int plain_bytes(void *ctx, struct work *w, uint64_t i, uint64_t from, uint64_t size,
                       const uint8_t **p)
{
    const struct plain *plain = ctx;

    (void)w;
    (void)size;
    *p = plain->p + i * plain->size + from;
    return 0;
}

int chunk_write_bytes(struct chunks *cs, const uint64_t *coord, const void *buf, uint64_t size)
{
    struct plain plain = {buf, size};
    struct chunk_source from = {plain_bytes, &plain, UINT64_MAX, 1};
    struct writing wr = {.cs = cs, .coords = coord, .n = 1, .size = size, .from = &from};

    return write_chunks(&wr);
}

/* Payload that is not filtered finds its place and is written in turn. */
static int write_turn_plain(struct chunks *cs, const uint64_t *coord, const void *buf,
                            uint64_t size, struct pool_turns *turns, int64_t i)
{
    int err;

    if (turns && pool_turn_wait(turns, i))
        return fail(DREP_ERR_STOPPED, "an earlier chunk failed");
    err = chunk_write_bytes(cs, coord, buf, size);
    if (turns)
        pool_turn_end(turns, i, err);
    return err;
}

int chunk_write_turn(struct work *w, struct chunks *cs, const uint64_t *coord, const void *buf,
                     uint64_t size, struct pool_turns *turns, int64_t i)
{
    struct store *st = cs->st;
    uint64_t sum = 0, offset = 0;
    uint32_t skipped = 0;
    struct span out = {0};
    int err;

    if (cs->nfilters == 0)
        return write_turn_plain(cs, coord, buf, size, turns, i);
    err = encode(w, cs, buf, size, &out, &skipped);
    if (!err)
        sum = sum_stored(out.p, out.len);
    if (!err && turns && pool_turn_wait(turns, i))
        return fail(DREP_ERR_STOPPED, "an earlier chunk failed");
    if (!err)
        err = place_filtered(cs, coord, out.len, sum, skipped, &offset);
    if (turns)
        pool_turn_end(turns, i, err);
    return err ? err : st->io->ops->write_at(st->io, out.p, out.len, offset);
}

static int write_filtered(struct chunks *cs, const uint64_t *coord, const void *buf, uint64_t size)
{
    struct work *w = work_take(cs->st);
    int err;

    if (!w)
        return DREP_ERR_NOMEM;
    chunk_forget(cs, coord);
    err = chunk_write_turn(w, cs, coord, buf, size, NULL, 0);
    work_give(cs->st, w);
    return err;
}

int chunk_write(struct chunks *cs, const uint64_t *coord, uint64_t n, const void *buf,
                uint64_t size)
{
    struct plain plain = {buf, size};
    struct chunk_source from = {plain_bytes, &plain, UINT64_MAX, 1};
    uint64_t rank = (uint64_t)cs->rank, *coords;
    int err = store_may_write(cs->st);

    if (err)
        return err;
    if (cs->nfilters && n == 1)
        return write_filtered(cs, coord, buf, size);
    if (cs->nfilters || (cs->rank == 0 && n > 1))
        return fail(DREP_ERR_ARG, "%llu chunks in one write", (unsigned long long)n);
    if (n == 1)
        return chunks_write(cs, coord, n, size, &from);
    coords = mem_array(n, rank * sizeof(*coords));
    if (!coords)
        return DREP_ERR_NOMEM;
    for (uint64_t i = 0; i < n; i++) {
        memcpy(coords + i * rank, coord, (size_t)rank * sizeof(*coord));
        coords[i * rank + rank - 1] += i;
    }
    err = chunks_write(cs, coords, n, size, &from);
    mem_free(coords);
    return err;
}
