/* ahead.c - the chunks of one transfer, fetched together where a round trip to the file is dear. */
/* SPDX-License-Identifier: MIT */
#include "chunk/ahead.h"

#include "base/error.h"
#include "base/mem.h"
#include "base/vec.h"
#include "chunk/cache.h"
#include "chunk/run_order.h"
#include "chunk/record.h"
#include "space/fetch.h"
#include "tree/ahead.h"
#include "tree/ahead_keys.h"
#include "tree/find.h"

#define UNDER_WAY 8 /* fetches of one transfer */

/* A fetch that is being collected. */
struct vector {
    struct chunks *cs;
    chunk_want_fn *want;
    void *ctx;
    struct io_range *range;
    size_t n, room;
    uint64_t size;      /* of payload; blocks of checksums are small */
    struct buf value;   /* of the record at hand */
    uint64_t last_sums; /* offset of the run whose blocks of checksums were added last */
};

static void vector_key(void *ctx, size_t i, struct key *key)
{
    const struct vector *v = ctx;
    uint64_t coord[FMT_RANK_MAX], low, high;

    v->want(v->ctx, i, coord, &low, &high);
    chunk_key(v->cs, coord, key);
}

static void add(struct vector *v, uint64_t offset, uint64_t size)
{
    if (size == 0 || size > SIZE_MAX || VEC_ROOM(v->range, v->n, v->room, 1))
        return;
    v->range[v->n++] = (struct io_range){offset, (size_t)size, NULL};
}

/* ---- what is stored ---- */

/* Find the record of a chunk in the tree: number *index of the run, or its row. */
static bool record_of(struct vector *v, const uint64_t *coord, struct chunk_rec *rec,
                      uint32_t *index)
{
    struct chunk_run first = {.object = v->cs->object, .rank = v->cs->rank};
    struct chunk_rec run;
    struct key key, at;
    uint64_t n, place = 0;

    chunk_key(v->cs, coord, &key);
    if (tree_floor(v->cs->st, &key, RECORDS_PREFIX, &at, &v->value) ||
        chunk_entry(v->cs, &at, &v->value, first.coord, &run))
        return false;
    *index = 0;
    if (run.filtered) {
        if (!run_order_distance(v->cs, first.coord, coord, &n) || n >= run.run)
            return false;
        for (uint32_t i = run.kind == FMT_CHUNK_PACKED ? 0 : (uint32_t)n; i <= n; i++)
            chunk_row(&run, i, &place, rec);
        return true;
    }
    *rec = run;
    first.rec.run = run.run;
    return run_covers(&first, v->cs->object, v->cs->rank, coord, index);
}

/* True if the cache has all that is wanted of a chunk. */
static bool in_memory(const struct chunks *cs, const uint64_t *coord, uint64_t low, uint64_t high)
{
    struct cache_key key = {cs->object, CACHE_WHOLE, cs->rank, coord};
    struct chunk_cache *c = cs->st->cache;
    struct cache_entry *d;

    if (!chunks_whole(cs) && !cs->cell)
        return false;
    if (!chunks_whole(cs))
        key.cell = low / cs->cell;
    do {
        d = cache_find(c, &key);
        if (d)
            cache_put(c, d);
    } while (d && !chunks_whole(cs) && ++key.cell * cs->cell < high);
    return d != NULL;
}

/* Add the blocks of checksums of a plain run. */
static void add_sums(struct vector *v, const struct chunk_rec *rec)
{
    if (rec->far && v->last_sums == rec->offset)
        return;
    v->last_sums = rec->offset;
    for (uint32_t k = 0; k < rec->far; k++) {
        struct ref ref;

        chunk_ref(rec, k, &ref);
        if (!ahead_has(v->cs->st, &ref))
            add(v, ref.offset, ref.length);
    }
}

/* Add chunk number i; false: it must wait for the next fetch. */
static bool add_chunk(struct vector *v, size_t i)
{
    uint64_t coord[FMT_RANK_MAX], low, high, at, size;
    uint64_t most = v->cs->st->fetch->most / 8 * 7; /* the rest is for checksums */
    struct chunk_rec rec;
    uint32_t index;

    v->want(v->ctx, i, coord, &low, &high);
    if (high == 0 || in_memory(v->cs, coord, low, high) || !record_of(v, coord, &rec, &index) ||
        rec.file)
        return true;
    at = rec.offset + index * rec.size;
    size = rec.size;
    if (!rec.filtered && !chunks_whole(v->cs)) {
        low = low / FMT_SUM_BLOCK * FMT_SUM_BLOCK;
        high = high < size ? round_up(high, FMT_SUM_BLOCK) : size;
        high = high < size ? high : size;
        at += low;
        size = low < high ? high - low : 0;
    }
    if (size > most) /* large enough by itself */
        return true;
    if (size > most - v->size)
        return false;
    v->size += size;
    if (!rec.filtered && v->cs->st->opts.verify)
        add_sums(v, &rec);
    add(v, at, size);
    return true;
}

size_t chunks_ahead(struct chunks *cs, size_t n, chunk_want_fn *want, void *ctx,
                    struct fetching *out)
{
    struct vector v = {.cs = cs, .want = want, .ctx = ctx};
    struct fail_state why;
    size_t i = 0;

    n = n < AHEAD_CHUNKS ? n : AHEAD_CHUNKS;
    fail_save(&why);
    ahead_keys(cs->st, n, vector_key, &v);
    while (i < n && add_chunk(&v, i))
        i++;
    fetch_plan(out, cs->st, v.range, v.n);
    fail_restore(&why);
    mem_free(v.range);
    buf_release(&v.value);
    return i;
}

/* ---- many fetches under way ---- */

/* The want() of a stream, whose chunks are counted from number `first`. */
struct shifted {
    chunk_want_fn *want;
    void *ctx;
    int64_t first;
};

static void want_shifted(void *ctx, size_t i, uint64_t *coord, uint64_t *low, uint64_t *high)
{
    const struct shifted *s = ctx;

    s->want(s->ctx, (size_t)s->first + i, coord, low, high);
}

/* Fetches in the order of their chunks, a ring. */
struct chunk_stream {
    struct chunks *cs;
    struct shifted next; /* chunks that no fetch was planned for */
    int64_t end;
    struct {
        struct fetching fetching;
        int64_t n;
    } ring[UNDER_WAY];
    int at, under_way;
};

/* Plan fetches until enough are under way.  One that is the whole stream needs no thread. */
static void stream_fill(struct chunk_stream *s)
{
    while (s->under_way < UNDER_WAY && s->next.first < s->end) {
        int k = (s->at + s->under_way) % UNDER_WAY;
        bool alone = s->under_way == 0;

        s->ring[k].n = (int64_t)chunks_ahead(s->cs, (size_t)(s->end - s->next.first), want_shifted,
                                             &s->next, &s->ring[k].fetching);
        s->next.first += s->ring[k].n;
        s->under_way++;
        if (!alone || s->next.first < s->end)
            fetch_start(&s->ring[k].fetching);
    }
}

static struct fetched *stream_take(struct chunk_stream *s, int64_t *n)
{
    struct fetched *m = fetch_wait(&s->ring[s->at].fetching);

    *n = s->ring[s->at].n;
    s->at = (s->at + 1) % UNDER_WAY;
    s->under_way--;
    return m;
}

int chunks_stream(struct chunks *cs, int64_t n, chunk_want_fn *want, chunk_batch_fn *read,
                  void *ctx)
{
    struct chunk_stream s = {.cs = cs, .next = {want, ctx, 0}, .end = n};
    int64_t first = 0, many;
    int err = 0;

    while (!err && first < n) {
        struct fetched *m;

        stream_fill(&s);
        m = stream_take(&s, &many);
        fetch_lend(cs->st, m);
        err = read(ctx, first, many);
        fetch_end(cs->st, m);
        first += many;
    }
    while (s.under_way > 0)
        fetch_discard(stream_take(&s, &many));
    return err;
}
