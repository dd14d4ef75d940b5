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

#define UNDER_WAY 16                /* fetches of one transfer */
#define AHEAD_CHUNKS ((size_t)4096) /* that are looked up together */

/* A fetch that is being collected. */
struct vector {
    struct chunks *cs;
    chunk_want_fn *want;
    void *ctx;
    struct io_range *range;
    size_t n, room;
    uint64_t size;      /* of payload */
    uint64_t all;       /* bytes, also of blocks of checksums */
    struct buf value;   /* of the record at hand */
    uint64_t last_sums; /* offset of the run whose blocks of checksums were added last */
};

static void vector_key(void *ctx, size_t i, struct key *key)
{
    const struct vector *v = ctx;
    struct chunk_want want;

    v->want(v->ctx, i, &want);
    chunk_key(v->cs, want.coord, key);
}

static void add(struct vector *v, uint64_t offset, uint64_t size, uint8_t *to)
{
    if (size == 0 || size > SIZE_MAX || VEC_ROOM(v->range, v->n, v->room, 1))
        return;
    v->range[v->n++] = (struct io_range){offset, (size_t)size, to};
    v->all += size;
}

/* Bytes of payload that one fetch has at most: the rest is for checksums. */
static uint64_t payload_most(const struct chunks *cs)
{
    return cs->st->fetch->most / 8 * 7;
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
static bool in_memory(const struct chunks *cs, const struct chunk_want *want)
{
    struct cache_key key = {cs->object, CACHE_WHOLE, cs->rank, want->coord};
    struct chunk_cache *c = cs->st->cache;
    struct cache_entry *d;

    if (!chunks_whole(cs) && !cs->cell)
        return false;
    if (!chunks_whole(cs))
        key.cell = want->low / cs->cell;
    do {
        d = cache_find(c, &key);
        if (d)
            cache_put(c, d);
    } while (d && !chunks_whole(cs) && ++key.cell * cs->cell < want->high);
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
            add(v, ref.offset, ref.length, NULL);
    }
}

/* Find what a vector may fetch of chunk number i: bytes of the file; false: nothing. */
static bool chunk_bytes_of(struct vector *v, size_t i, struct chunk_rec *rec, struct io_range *out)
{
    struct chunk_want want;
    uint64_t low = 0, high;
    uint32_t index;

    v->want(v->ctx, i, &want);
    if (want.high == 0 || in_memory(v->cs, &want) || !record_of(v, want.coord, rec, &index) ||
        rec->file)
        return false;
    high = rec->size;
    if (!rec->filtered && !chunks_whole(v->cs)) {
        low = want.low / FMT_SUM_BLOCK * FMT_SUM_BLOCK;
        high = want.high < high ? round_up(want.high, FMT_SUM_BLOCK) : high;
        high = high < rec->size ? high : rec->size;
        if (low != want.low || high > want.high)
            want.to = NULL; /* there is no room for the blocks at the edges */
    } else {
        want.to = NULL;
    }
    /* A chunk larger than a fetch is worth a round trip of its own. */
    if (low >= high || high - low > payload_most(v->cs))
        return false;
    *out = (struct io_range){rec->offset + index * rec->size + low, (size_t)(high - low), want.to};
    return true;
}

/* Add chunk number i; false: it must wait for the next fetch. */
static bool add_chunk(struct vector *v, size_t i, bool sums)
{
    struct chunk_rec rec;
    struct io_range range;

    if (!chunk_bytes_of(v, i, &rec, &range))
        return true;
    if (range.size > payload_most(v->cs) - v->size)
        return false;
    v->size += range.size;
    if (sums && !rec.filtered && v->cs->st->opts.verify)
        add_sums(v, &rec);
    add(v, range.offset, range.size, range.buf);
    return true;
}

static void vector_release(struct vector *v)
{
    mem_free(v->range);
    buf_release(&v->value);
}

/* ---- many fetches under way ---- */

/* The want() of a stream, whose chunks are counted from number `first`. */
struct shifted {
    chunk_want_fn *want;
    void *ctx;
    int64_t first;
};

static void want_shifted(void *ctx, size_t i, struct chunk_want *out)
{
    const struct shifted *s = ctx;

    s->want(s->ctx, (size_t)s->first + i, out);
}

/* Fetches in the order of their chunks, a ring.  Chunks are looked up in windows: one vector brings
 * the leaves that name them, and one the checksums of all, if these chunks take several fetches;
 * else the only fetch has the checksums too. */
struct chunk_stream {
    struct chunks *cs;
    struct shifted next; /* chunks that no fetch was planned for */
    int64_t end;
    int64_t window;       /* the end of the chunks whose leaves were fetched */
    bool sums_apart;      /* checksums of this window have a fetch of their own */
    struct fetched *sums; /* those of the chunks that are read now, lent */
    struct {
        struct fetching payload, sums;
        bool first; /* of a window */
        int64_t n;
    } ring[UNDER_WAY];
    int at, under_way;
};

/* Collect the checksums of at most n chunks, the window, as far as they fit into one fetch; gives
 * how many.  *payload: the bytes of these chunks. */
static size_t window_sums(struct vector *v, size_t n, uint64_t *payload)
{
    struct chunk_rec rec;
    struct io_range range;
    size_t i;

    *payload = 0;
    for (i = 0; i < n && v->all <= payload_most(v->cs); i++) {
        if (!chunk_bytes_of(v, i, &rec, &range))
            continue;
        *payload += range.size;
        if (!rec.filtered && v->cs->st->opts.verify)
            add_sums(v, &rec);
    }
    return i;
}

/* Look up the next chunks; `out` gets the fetch of their checksums, which is begun. */
static void window_begin(struct chunk_stream *s, struct fetching *out)
{
    struct vector v = {.cs = s->cs, .want = want_shifted, .ctx = &s->next};
    int64_t left = s->end - s->next.first;
    size_t n = left < (int64_t)AHEAD_CHUNKS ? (size_t)left : AHEAD_CHUNKS;
    uint64_t payload;

    ahead_keys(s->cs->st, n, vector_key, &v);
    n = window_sums(&v, n, &payload);
    s->window = s->next.first + (int64_t)n;
    s->sums_apart = payload > payload_most(s->cs);
    if (s->sums_apart)
        fetch_plan(out, s->cs->st, v.range, v.n);
    fetch_start(out);
    vector_release(&v);
}

/* Plan the next fetch; gives how many chunks it is for. */
static int64_t plan_payload(struct chunk_stream *s, struct fetching *out)
{
    struct vector v = {.cs = s->cs, .want = want_shifted, .ctx = &s->next};
    int64_t n = s->window - s->next.first, i = 0;

    while (i < n && add_chunk(&v, (size_t)i, !s->sums_apart))
        i++;
    fetch_plan(out, s->cs->st, v.range, v.n);
    vector_release(&v);
    return i;
}

/* Plan fetches until enough are under way.  One that is the whole stream needs no thread. */
static void stream_fill(struct chunk_stream *s)
{
    struct fail_state why;

    fail_save(&why);
    while (s->under_way < UNDER_WAY && s->next.first < s->end) {
        int k = (s->at + s->under_way) % UNDER_WAY;
        bool alone = s->under_way == 0;

        s->ring[k].sums = (struct fetching){0};
        s->ring[k].first = s->next.first == s->window;
        if (s->ring[k].first)
            window_begin(s, &s->ring[k].sums);
        s->ring[k].n = plan_payload(s, &s->ring[k].payload);
        s->next.first += s->ring[k].n;
        s->under_way++;
        if (!alone || s->next.first < s->end)
            fetch_start(&s->ring[k].payload);
    }
    fail_restore(&why);
}

/* Wait for the next fetch, and lend what it brought; the checksums of its window stay lent. */
static struct fetched *stream_take(struct chunk_stream *s, int64_t *n)
{
    struct store *st = s->cs->st;
    struct fetched *m;

    if (s->ring[s->at].first) {
        fetch_end(st, s->sums);
        s->sums = fetch_wait(&s->ring[s->at].sums);
        fetch_lend(st, s->sums);
    }
    m = fetch_wait(&s->ring[s->at].payload);
    fetch_lend(st, m);
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
        err = read(ctx, first, many);
        fetch_end(cs->st, m);
        first += many;
    }
    while (s.under_way > 0)
        fetch_end(cs->st, stream_take(&s, &many));
    fetch_end(cs->st, s.sums);
    return err;
}
