/* read.c - reading chunks.
 *
 * Whether to cache is decided here.  Chunks that are decoded as a whole: when the caller says so,
 * or at the second read.  Pieces of plain chunks: if the dataset fits into the cache, at the
 * second read of a block, or when a reader goes on where it stopped; reading ahead then at most
 * doubles what is read. */
/* SPDX-License-Identifier: MIT */
#include "chunk/read.h"

#include "base/error.h"
#include "base/mem.h"
#include "chunk/lent.h"
#include "chunk/payload.h"
#include "chunk/shuffle.h"
#include "chunk/work_state.h"
#include "space/fetch.h"

#include <assert.h>
#include <string.h>

static struct cache_key cache_key_of(const struct chunks *cs, const uint64_t *coord, uint64_t cell)
{
    return (struct cache_key){cs->object, cell, cs->rank, coord};
}

/* Find the run of w->coord, in the tree or among the records that another store has lent; w->found
 * may still have it from the chunk before.  The worker gives it back.  DREP_ERR_NOT_FOUND. */
static int work_find_run(struct work *w)
{
    struct chunks *cs = w->cs;

    w->payload_lent = (struct span){NULL, 0};
    if (cs->lent)
        return lent_find(cs, w->coord, &w->found, &w->payload_lent);
    return run_still_covers(cs, w->coord, &w->found) ? 0 : run_find(cs, w->coord, &w->found);
}

int chunk_at(struct work *w, struct chunks *cs, const uint64_t *coord, uint64_t *size, int *whole)
{
    struct cache_key key = cache_key_of(cs, coord, CACHE_WHOLE);
    int err;

    w->cs = cs;
    w->stored = false;
    memcpy(w->coord, coord, (size_t)cs->rank * sizeof(*coord));
    w->entry = chunks_whole(cs) ? cache_find(cs->st->cache, &key) : NULL;
    *whole = w->entry != NULL;
    *size = w->entry ? w->entry->bytes.len : 0;
    if (w->entry)
        return 0;
    err = work_find_run(w);
    if (err) {
        w->found.run = NULL;
        return err == DREP_ERR_NOT_FOUND ? 0 : err;
    }
    w->stored = true;
    *size = w->size = w->found.run->rec.size;
    *whole = w->found.run->rec.filtered || cs->variable || cs->external;
    return 0;
}

/* Sums of neighbours follow each other if each chunk has whole blocks. */
void chunk_stretch(struct work *w, uint64_t most, uint64_t *n, uint64_t *size)
{
    const struct chunk_run *r = w->found.run;
    uint64_t left;

    *n = 1;
    *size = w->stored ? w->size : 0;
    if (!w->stored || w->cs->cell || r->rec.size != w->cs->payload || r->rec.size % FMT_SUM_BLOCK)
        return;
    left = r->rec.run - w->found.index;
    *n = left < most ? left : most;
    *size = w->size = *n * r->rec.size;
}

bool chunk_in_file(const struct work *w)
{
    return !w->entry && w->stored && !w->found.run->rec.filtered;
}

static void put_entry(struct work *w)
{
    if (w->entry)
        cache_put(w->cs->st->cache, w->entry);
    w->entry = NULL;
}

void chunk_leave(struct work *w)
{
    if (w->ahead)
        fetch_end(w->cs->st, w->ahead);
    w->ahead = NULL;
    put_entry(w);
    if (w->stored)
        run_leave(w->cs->st, &w->found);
    w->stored = false;
}

/* ---- whole ---- */

static uint64_t unfiltered_max(const struct chunks *cs)
{
    uint64_t most = cs->st->opts.chunk_limit;

    return cs->variable && most > cs->payload ? most : cs->payload;
}

/* Number of the shuffle that was applied first, before others, and so would be undone last; -1:
 * none that can be left in place. */
static int front_shuffle(const struct chunks *cs, uint32_t skipped)
{
    uint32_t applied = filters_all(cs->nfilters);
    uint32_t size;
    int i;

    applied &= ~skipped;
    if (cs->variable || (applied & (applied - 1)) == 0)
        return -1;
    i = __builtin_ctz(applied);
    size = filter_shuffles(&cs->filter[i]);
    return size > 1 && cs->payload % size == 0 ? i : -1;
}

/* Slow path: the front shuffle was left in place, but the payload does not have the length for
 * that: decode again. */
static int undo_front(struct codec *k, const struct chunks *cs, const struct chunk_rec *rec,
                      int front, struct buf *out)
{
    struct buf mixed = *out;

    *out = k->stored;
    k->stored = mixed;
    return filters_decode(k, cs->filter, front + 1, rec->skipped, mixed.p, mixed.len,
                          (size_t)cs->payload, unfiltered_max(cs), out);
}

/* True if no filter was applied: the stored bytes are the payload. */
static bool filters_none(const struct chunks *cs, uint32_t skipped)
{
    return (filters_all(cs->nfilters) & ~skipped) == 0;
}

static int payload_fits(const struct chunks *cs, const struct buf *out, uint64_t most)
{
    if (cs->nfilters && filter_is_hdf5(&cs->filter[0]) && out->len != cs->payload)
        return fail(DREP_ERR_FORMAT, "filters of HDF5 give %zu bytes, a chunk has %llu (R8.58)",
                    out->len, (unsigned long long)cs->payload);
    if (out->len <= most)
        return 0;
    return fail(DREP_ERR_FORMAT, "%zu bytes of payload, at most %llu are possible (R8.9)", out->len,
                (unsigned long long)most);
}

/* Decode a filtered chunk; *unit: elements of the shuffle left in place, 0: none; unit NULL:
 * leave none. */
static int decode_filtered(struct work *w, const struct chunks *cs, const struct chunk_rec *rec,
                           struct buf *out, uint64_t *unit)
{
    struct codec *k = &w->codec;
    int front = unit ? front_shuffle(cs, rec->skipped) : -1, err;
    uint32_t skipped = rec->skipped | (front < 0 ? 0 : (uint32_t)1 << front);
    bool strict = k->strict;
    uint64_t most = unfiltered_max(cs);

    k->limit = cs->st->opts.chunk_limit;
    if (cs->payload > k->limit)
        return fail(DREP_ERR_LIMIT, "a filtered chunk of %llu bytes; drep_limit_chunk is %llu",
                    (unsigned long long)cs->payload, (unsigned long long)k->limit);
    if (cs->variable &&
        rec->size > filters_stored_max(cs->filter, cs->nfilters, rec->skipped, most))
        return fail(DREP_ERR_LIMIT, "a chunk stored as %llu bytes; drep_limit_chunk is %llu",
                    (unsigned long long)rec->size, (unsigned long long)k->limit);
    err = filters_known(cs->filter, cs->nfilters, rec->skipped);
    if (!err && filters_none(cs, rec->skipped)) {
        err = payload_filtered(cs->st, rec, cs->st->opts.verify, out);
        return err ? err : payload_fits(cs, out, most);
    }
    if (!err)
        err = payload_filtered(cs->st, rec, cs->st->opts.verify, &k->stored);
    k->strict = strict || !rec->sum[0] || !cs->st->opts.verify;
    if (!err)
        err = filters_decode(k, cs->filter, cs->nfilters, skipped, k->stored.p, k->stored.len,
                             (size_t)cs->payload, most, out);
    k->strict = strict;
    if (!err && front >= 0 && out->len != cs->payload) {
        err = undo_front(k, cs, rec, front, out);
        front = -1;
    }
    if (unit)
        *unit = front < 0 ? 0 : cs->filter[front].param[0];
    return err ? err : payload_fits(cs, out, most);
}

bool chunk_straight(const struct work *w)
{
    const struct chunks *cs = w->cs;
    const struct chunk_rec *rec;

    if (w->entry || !w->stored || cs->variable)
        return false;
    rec = &w->found.run->rec;
    return rec->filtered && rec->size == cs->payload && filters_none(cs, rec->skipped);
}

int chunk_read_straight(struct work *w, uint8_t *to)
{
    struct store *st = w->cs->st;
    struct buf b = {.p = to, .size = (size_t)w->cs->payload};

    return payload_filtered(st, &w->found.run->rec, st->opts.verify, &b);
}

int chunk_decode(struct work *w, const struct chunks *cs, const struct chunk_rec *rec,
                 struct buf *out)
{
    return decode_filtered(w, cs, rec, out, NULL);
}

/* Read the payload of the chunk at hand, and check it against what its elements say of their
 * heap. */
static int load(struct work *w, struct buf *out, uint64_t *unit)
{
    struct chunks *cs = w->cs;
    const struct chunk_run *r = w->found.run;
    int err;

    if (unit)
        *unit = 0;
    if (!w->stored) {
        out->len = 0;
        return 0;
    }
    if (w->payload_lent.p) {
        err = buf_set(out, w->payload_lent.p, w->payload_lent.len);
    } else if (r->rec.filtered) {
        err = decode_filtered(w, cs, &r->rec, out, unit);
    } else {
        err = r->rec.size > SIZE_MAX
                  ? fail(DREP_ERR_LIMIT, "a chunk of %llu bytes", (unsigned long long)r->rec.size)
                  : buf_room(out, r->rec.size);
        if (!err)
            err = payload_read(cs->st, r, w->found.index, 1, out->p);
        out->len = err ? 0 : (size_t)r->rec.size;
    }
    if (!err && cs->check)
        err = cs->check(cs, w->coord, out);
    return err;
}

/* Read into the cache, unless another thread was faster. */
static int load_kept(struct work *w, const struct cache_key *key, int leave)
{
    struct chunk_cache *c = w->cs->st->cache;
    uint64_t room = w->cs->payload;
    int loading, err;

    if (w->stored && !w->found.run->rec.filtered)
        room = w->found.run->rec.size;
    err = cache_get(c, key, room, &w->entry, &loading);
    if (err || !loading)
        return err;
    err = load(w, &w->entry->bytes, leave ? &w->entry->unit : NULL);
    cache_loaded(c, w->entry, 0, err);
    if (err)
        put_entry(w);
    return err;
}

int chunk_load_entry(struct work *w, int empty)
{
    struct cache_key key = cache_key_of(w->cs, w->coord, CACHE_WHOLE);
    int loading, err;

    if (!empty)
        return load_kept(w, &key, 0);
    err = cache_get(w->cs->st->cache, &key, 0, &w->entry, &loading);
    if (!err && loading)
        cache_loaded(w->cs->st->cache, w->entry, 0, 0);
    return err;
}

/* Undo the shuffle that an entry has: in the entry if nobody else reads it there, else in a
 * buffer of our own; always: nobody does. */
static int undo_entry(struct work *w, int always, struct buf **bytes)
{
    struct chunk_cache *c = w->cs->st->cache;
    struct cache_entry *d = w->entry;
    struct buf *room = &w->payload, old = d->bytes;
    int err = buf_room(room, old.len), alone;

    if (err)
        return err;
    unshuffle_bytes(room->p, old.p, old.len / (size_t)d->unit, (size_t)d->unit);
    room->len = old.len;
    *bytes = room;
    alone = cache_claim(c, d);
    assert(alone || !always);
    if (!alone)
        return 0;
    d->bytes = *room;
    d->unit = 0;
    *room = old;
    *bytes = &d->bytes;
    cache_loaded(c, d, 0, 0);
    return 0;
}

int chunk_plain_entry(struct work *w)
{
    struct buf *bytes;

    return w->entry->unit ? undo_entry(w, 1, &bytes) : 0;
}

int chunk_payload(struct work *w, int keep, const uint8_t **p, uint64_t *size)
{
    uint64_t unit;

    return chunk_shuffled(w, keep, 0, p, size, &unit);
}

void chunk_unshuffle(const uint8_t *p, uint64_t size, uint64_t unit, uint64_t offset, uint64_t n,
                     void *out)
{
    unshuffle_part(out, p + offset / unit, (size_t)(size / unit), (size_t)(n / unit), (size_t)unit);
}

int chunk_shuffled(struct work *w, int keep, uint64_t each, const uint8_t **p, uint64_t *size,
                   uint64_t *unit)
{
    struct cache_key key = cache_key_of(w->cs, w->coord, CACHE_WHOLE);
    struct buf *bytes = &w->payload;
    int front = -1, err = 0;

    *unit = 0;
    if (!w->entry && each && w->stored && w->found.run->rec.filtered)
        front = front_shuffle(w->cs, w->found.run->rec.skipped);
    if (front >= 0 && each % w->cs->filter[front].param[0])
        front = -1;

    /* A chunk that is read a second time will be read again, if nobody says otherwise. */
    if (!w->entry && !keep && w->cs->st->opts.style & STYLE_RANDOM)
        keep = true;
    else if (!w->entry && !keep && !(w->cs->st->opts.style & STYLE_ONCE))
        keep = cache_seen(w->cs->st->cache, &key, 1, w->cs->payload) != 0;
    if (!w->entry)
        err = keep ? load_kept(w, &key, front >= 0) : load(w, bytes, front >= 0 ? unit : NULL);
    if (err)
        return err;
    if (w->entry) {
        bytes = &w->entry->bytes;
        *unit = w->entry->unit;
    }
    if (w->entry && *unit && (!each || each % *unit)) {
        err = undo_entry(w, 0, &bytes);
        *unit = 0;
    }
    *p = bytes->p;
    *size = bytes->len;
    return err;
}

/* ---- in pieces ---- */

static int bits(uint64_t v)
{
    return __builtin_popcountll(v);
}

/* Read blocks of the chunk from byte `low` on to p, each stretch of them at once. */
static int read_chunk_blocks(struct work *w, uint64_t low, uint64_t blocks, uint8_t *p)
{
    const struct chunk_run *r = w->found.run;
    int err = 0;

    while (!err && blocks) {
        int from = __builtin_ctzll(blocks);
        uint64_t rest = ~(blocks >> from); /* 0: all that follow */
        int n = rest ? __builtin_ctzll(rest) : 64 - from;
        uint64_t at = low + (uint64_t)from * FMT_SUM_BLOCK, end = at + (uint64_t)n * FMT_SUM_BLOCK;

        err = payload_blocks(w->cs->st, r, w->found.index, at, end < w->size ? end : w->size,
                             p + (size_t)from * FMT_SUM_BLOCK);
        blocks = n == 64 ? 0 : blocks & ~((((uint64_t)1 << n) - 1) << from);
    }
    return err;
}

/* True if a piece that is not cached yet is worth it.  If all of the dataset fits, always; else
 * when blocks that were read before are asked for again, and not all of each was wanted then; or
 * when reading goes on where it, or the piece before it, was read to. */
static bool worth_keeping(struct work *w, const struct cache_key *key, uint64_t blocks,
                          uint64_t wanted, uint64_t *before)
{
    struct chunks *cs = w->cs;
    struct cache_key last = *key;
    struct cache_entry *d;
    uint64_t end = (uint64_t)1 << (cs->cell / FMT_SUM_BLOCK - 1);
    int follows = 0;

    *before = 0;
    if (cs->fits)
        return true;
    if (blocks & 1 && last.cell > 0) {
        last.cell--;
        d = cache_find(cs->st->cache, &last);
        follows = d && d->valid & end;
        if (d)
            cache_put(cs->st->cache, d);
        *before = follows ? ~(uint64_t)0 : 0;
    }
    if (follows)
        return true;
    *before = cache_seen(cs->st->cache, key, blocks, (uint64_t)bits(blocks) * FMT_SUM_BLOCK);
    if (wanted < (uint64_t)bits(blocks) * FMT_SUM_BLOCK && *before & blocks)
        return true;
    return (blocks & ~*before & *before << 1) != 0;
}

/* Blocks to read when a reader goes on where it stopped: as much again as it has read. */
static uint64_t read_ahead(uint64_t blocks, uint64_t had, uint64_t all)
{
    int n = bits(had), top = 63 - __builtin_clzll(blocks);
    uint64_t more;

    if (!(had & (blocks | blocks >> 1)) || top == 63)
        return blocks;
    more = n >= 63 ? ~(uint64_t)0 : ((uint64_t)1 << n) - 1;
    return (blocks | more << (top + 1)) & all;
}

/* Where a round trip is dear, a few blocks more cost less than reads of their own: take all from
 * the first one to the last. */
static uint64_t between(const struct work *w, uint64_t blocks)
{
    if (!fetch_on(w->cs->st) || w->fetched || !blocks)
        return blocks;
    return ~(uint64_t)0 >> __builtin_clzll(blocks) & ~(uint64_t)0 << __builtin_ctzll(blocks);
}

/* Serve a window from the cache: 1 in *done, unless it is not worth it. */
static int from_cell(struct work *w, uint64_t low, uint64_t blocks, uint64_t wanted, uint8_t **p,
                     int *done)
{
    struct chunks *cs = w->cs;
    struct chunk_cache *c = cs->st->cache;
    struct cache_key key = cache_key_of(cs, w->coord, low / cs->cell);
    uint64_t start = key.cell * cs->cell, size = w->size - start;
    uint64_t before = 0, valid, all;
    int shift = (int)((low - start) / FMT_SUM_BLOCK), loading = 0, err = 0;

    size = size < cs->cell ? size : cs->cell;
    blocks <<= shift;
    *done = 1;
    w->entry = cache_find(c, &key);
    if (!w->entry) {
        *done = worth_keeping(w, &key, blocks, wanted, &before);
        if (!*done)
            return 0;
        err = cache_get(c, &key, size, &w->entry, &loading);
        if (!err && loading) {
            err = buf_room(&w->entry->bytes, size);
            cache_loaded(c, w->entry, 0, err);
        }
        if (err) {
            put_entry(w);
            return err;
        }
    }
    if (cache_lacks(c, w->entry, blocks, &valid)) {
        all = sums_of(size) >= 64 ? ~(uint64_t)0 : ((uint64_t)1 << sums_of(size)) - 1;
        blocks = w->fetched ? blocks & ~valid
                            : read_ahead(blocks & ~valid, valid | before, all) & ~valid;
        blocks = between(w, blocks) & ~valid;
        err = read_chunk_blocks(w, start, blocks, w->entry->bytes.p);
        cache_loaded(c, w->entry, blocks, err);
    }
    *p = w->entry->bytes.p + (low - start);
    return err;
}

/* Where a round trip is dear, a whole window is followed by others: fetch the chunk from byte `low`
 * on, as far as one fetch goes. */
static void window_ahead(struct work *w, uint64_t low)
{
    const struct chunk_run *r = w->found.run;
    struct store *st = w->cs->st;
    uint64_t size = w->size - low, at = r->rec.offset + w->found.index * r->rec.size + low;
    struct io_range range = {at, 0, NULL};

    if (fetch_lends(st) && fetch_take(st, FETCH_PAYLOAD, NULL, WINDOW_BYTES, at))
        return;
    fetch_end(st, w->ahead);
    range.size = (size_t)(size < st->fetch->most ? size : st->fetch->most);
    w->ahead = fetch_ranges(st, &range, 1);
    fetch_lend(st, w->ahead);
}

int chunk_window(struct work *w, uint64_t low, uint64_t high, uint64_t blocks, uint64_t wanted,
                 uint8_t **p, uint64_t *have)
{
    uint64_t size = w->stored ? w->size : 0, there;
    int done = 0, err = 0;

    put_entry(w);
    *have = size <= low ? 0 : size < high ? size - low : high - low;
    if (w->cs->cell && *have == high - low)
        err = from_cell(w, low, blocks, wanted, p, &done);
    if (err || done)
        return err;
    *p = w->window;
    if (high - low > WINDOW_BYTES) { /* one large element */
        err = buf_room(&w->payload, round_up(high - low, FMT_SUM_BLOCK));
        *p = w->payload.p;
    }
    there = sums_of(*have);
    if (there < 64)
        blocks &= ((uint64_t)1 << there) - 1;
    if (!err && fetch_on(w->cs->st) && !w->fetched && *have == WINDOW_BYTES)
        window_ahead(w, low);
    if (!err && high - low > 64 * FMT_SUM_BLOCK)
        return *have ? payload_blocks(w->cs->st, w->found.run, w->found.index, low, low + *have, *p)
                     : 0;
    return err ? err : read_chunk_blocks(w, low, between(w, blocks), *p);
}

/* ---- a part into the caller's memory ---- */

int chunk_bytes(struct work *w, uint64_t offset, uint64_t size, void *buf, uint64_t *have)
{
    uint64_t there = w->stored ? w->size : 0;

    there = offset < there ? there - offset : 0;
    *have = there < size ? there : size;
    if (*have == 0)
        return 0;
    return payload_read_part(w->cs->st, w->found.run, w->found.index, offset, *have, buf);
}

/* on: go on in the chunks behind. */
static int read_part(struct chunks *cs, const uint64_t *coord, bool on, uint64_t offset,
                     uint64_t size, void *buf, uint64_t *have)
{
    struct work *w = work_take(cs->st);
    const uint8_t *p;
    uint64_t there, n;
    int whole, err;

    if (!w)
        return DREP_ERR_NOMEM;
    err = chunk_at(w, cs, coord, &there, &whole);
    if (!err && whole)
        err = chunk_payload(w, !(offset == 0 && size >= cs->payload) || cs->fits, &p, &there);
    if (!err && whole) {
        there = offset < there ? there - offset : 0;
        *have = there < size ? there : size;
        if (*have)
            memcpy(buf, p + offset, (size_t)*have);
    } else if (!err) {
        if (on)
            chunk_stretch(w, UINT64_MAX, &n, &there);
        err = chunk_bytes(w, offset, size, buf, have);
    }
    chunk_leave(w);
    work_give(cs->st, w);
    return err;
}

int chunk_read(struct chunks *cs, const uint64_t *coord, uint64_t offset, uint64_t size, void *buf,
               uint64_t *have)
{
    return read_part(cs, coord, false, offset, size, buf, have);
}

int chunk_read_on(struct chunks *cs, const uint64_t *coord, uint64_t offset, uint64_t size,
                  void *buf, uint64_t *have)
{
    return read_part(cs, coord, true, offset, size, buf, have);
}

int chunk_read_all(struct chunks *cs, const uint64_t *coord, struct buf *b)
{
    struct work *w = work_take(cs->st);
    uint64_t size = 0, have = 0;
    const uint8_t *p = NULL;
    int whole = 0, err;

    if (!w)
        return DREP_ERR_NOMEM;
    b->len = 0;
    err = chunk_at(w, cs, coord, &size, &whole);
    if (!err && whole)
        err = chunk_payload(w, 0, &p, &size);
    if (!err && whole)
        err = buf_set(b, p, (size_t)size);
    if (!err && !whole && size > 0) {
        err = buf_reserve(b, size);
        if (!err)
            err = chunk_bytes(w, 0, size, b->p, &have);
        b->len = (size_t)have;
    }
    chunk_leave(w);
    work_give(cs->st, w);
    return err;
}

int chunk_size(struct chunks *cs, const uint64_t *coord, uint64_t *size)
{
    struct work *w = work_take(cs->st);
    const uint8_t *p;
    uint64_t there;
    int whole, err;

    if (!w)
        return DREP_ERR_NOMEM;
    err = chunk_at(w, cs, coord, &there, &whole);
    if (!err && whole)
        err = chunk_payload(w, 1, &p, &there);
    if (!err)
        *size = there;
    chunk_leave(w);
    work_give(cs->st, w);
    return err;
}
