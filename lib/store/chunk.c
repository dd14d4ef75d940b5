/* chunk.c - reading, writing and removing chunks.
 *
 * Unfiltered chunks stand back to back in runs.  Space of the open transaction may be
 * written in place, space of a commit never: then the chunk moves and its run is cut.
 * Filtered chunks stand alone and are decoded whole, through the cache. */
#include "store/inner.h"

#include "base/error.h"
#include "base/mem.h"

#include <string.h>

#define RESERVE_MAX ((uint64_t)1 << 30)
#define IMAGE_MAX ((size_t)4 << 20) /* bytes an operation keeps of what it overwrites */
#define SUMS_SMALL 512

void chunks_release(struct chunks *cs)
{
    cs->state = NULL; /* runs and decoded chunks belong to the store */
}

static uint64_t last_of(const struct chunks *cs, const uint64_t *coord)
{
    return cs->rank ? coord[cs->rank - 1] : 0;
}

/* ---- filtered chunks ---- */

struct decoding {
    struct chunks *cs;
    const struct chunk_rec *rec;
};

static uint64_t unfiltered_max(const struct chunks *cs)
{
    uint64_t most = cs->st->opts.chunk_max;

    if (cs->variable)
        return most > cs->payload ? most : cs->payload;
    return cs->payload;
}

static int decode(void *ctx, struct buf *out)
{
    const struct decoding *d = ctx;
    const struct chunks *cs = d->cs;
    uint64_t most = unfiltered_max(cs);
    struct codec *k;
    int err;

    if (cs->payload > cs->st->opts.chunk_max)
        return fail(DREP_ERR_LIMIT, "a filtered chunk of %llu bytes; drep_chunk_max is %llu",
                    (unsigned long long)cs->payload, (unsigned long long)cs->st->opts.chunk_max);
    k = codec_take(cs->st);
    if (!k)
        return DREP_ERR_NOMEM;
    err = payload_filtered(cs->st, d->rec, cs->st->opts.verify, &k->stored);
    if (!err)
        err = filters_decode(k, cs->filter, cs->nfilters, d->rec->skipped, k->stored.p,
                             k->stored.len, (size_t)cs->payload, most, out);
    codec_give(cs->st, k);
    if (!err && out->len > most)
        err = fail(DREP_ERR_FORMAT, "%zu bytes of payload where %llu can be", out->len,
                   (unsigned long long)most);
    return err;
}

static int decoded_get(struct chunks *cs, const uint64_t *coord, const struct chunk_rec *rec,
                       int once, struct decoded **out)
{
    struct decoding d = {cs, rec};
    struct key key;

    chunk_key(cs, coord, &key);
    return chunk_cache_get(cs->st->cache, &key, once, decode, &d, out);
}

static int read_filtered(struct chunks *cs, const uint64_t *coord, const struct chunk_rec *rec,
                         uint64_t offset, uint64_t size, void *buf, uint64_t *have)
{
    int once = offset == 0 && size >= cs->payload;
    struct decoded *d;
    int err = decoded_get(cs, coord, rec, once, &d);

    if (err)
        return err;
    *have = offset < d->bytes.len ? d->bytes.len - offset : 0;
    if (*have > size)
        *have = size;
    if (*have)
        memcpy(buf, d->bytes.p + offset, (size_t)*have);
    chunk_cache_put(cs->st->cache, d);
    return 0;
}

/* ---- reading ---- */

int chunk_read(struct chunks *cs, const uint64_t *coord, uint64_t offset, uint64_t size, void *buf,
               uint64_t *have)
{
    struct found f;
    uint64_t there;
    int err = run_find(cs, coord, &f);

    if (err == DREP_ERR_NOT_FOUND)
        *have = 0;
    if (err)
        return err == DREP_ERR_NOT_FOUND ? 0 : err;
    if (f.run->rec.filtered) {
        err = read_filtered(cs, coord, &f.run->rec, offset, size, buf, have);
    } else {
        there = offset < f.run->rec.size ? f.run->rec.size - offset : 0;
        there = there < size ? there : size;
        if (offset == 0 && there == f.run->rec.size)
            err = payload_read(cs->st, f.run, f.index, 1, buf);
        else
            err = payload_read_part(cs->st, f.run, f.index, offset, there, buf);
        if (!err)
            *have = there;
    }
    run_done(cs->st, &f);
    return err;
}

int chunk_read_run(struct chunks *cs, const uint64_t *coord, uint64_t n, void *buf, uint64_t *got)
{
    struct found f;
    uint64_t now = 0;
    int err = run_find(cs, coord, &f);

    if (err == DREP_ERR_NOT_FOUND)
        *got = 0;
    if (err)
        return err == DREP_ERR_NOT_FOUND ? 0 : err;
    if (!f.run->rec.filtered && f.run->rec.size == cs->payload) {
        now = f.run->rec.run - f.index;
        now = now < n ? now : n;
        err = payload_read(cs->st, f.run, f.index, (uint32_t)now, buf);
    }
    run_done(cs->st, &f);
    if (!err)
        *got = now;
    return err;
}

int chunk_size(struct chunks *cs, const uint64_t *coord, uint64_t *size)
{
    struct decoded *d;
    struct found f;
    int err = run_find(cs, coord, &f);

    if (err == DREP_ERR_NOT_FOUND)
        *size = 0;
    if (err)
        return err == DREP_ERR_NOT_FOUND ? 0 : err;
    if (f.run->rec.filtered) {
        err = decoded_get(cs, coord, &f.run->rec, 0, &d);
        if (!err) {
            *size = d->bytes.len;
            chunk_cache_put(cs->st->cache, d);
        }
    } else {
        *size = f.run->rec.size;
    }
    run_done(cs->st, &f);
    return err;
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

/* Where the chunk before this one ends, if that is where a full one would; 0: nowhere. */
static uint64_t end_before(struct chunks *cs, const uint64_t *coord, uint64_t size)
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
        f.index + 1 == f.run->rec.run && f.run->space == chunk_bytes(f.run))
        end = f.run->rec.offset + f.run->space;
    run_done(cs->st, &f);
    return end;
}

/* A contiguous dataset that is written bit by bit gets its place as a whole, so that its
 * slabs come to stand back to back. */
static void reserve(struct chunks *cs, const uint64_t *coord, uint64_t bytes, uint64_t size)
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
    behind = end_before(cs, coord, size);
    r->first = !behind && chunk <= RESERVE_MAX / cs->payload / 2 && nothing_stored(cs) ? 0 : chunk;
    r->chunks = total - r->first;
    if (r->chunks > RESERVE_MAX / cs->payload)
        r->chunks = RESERVE_MAX / cs->payload;
    if (r->chunks < 2 || chunk - r->first >= r->chunks ||
        (r->first == chunk && r->chunks * cs->payload <= bytes))
        return; /* this write covers what there is to reserve */
    room = r->chunks * cs->payload;
    if (r->first + r->chunks == total) /* the last one may be short */
        room = round_up(cs->reserve - r->first * cs->payload, FMT_ALIGN);
    if (behind && space_alloc_at(st, behind, room))
        r->offset = behind;
    else if (space_alloc(st, room, chunk_align(st, room), ANYWAY, &r->offset))
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

/* Space for `bytes` bytes of new chunks, of `size` bytes each. */
static int find_space(struct chunks *cs, const uint64_t *coord, uint64_t bytes, uint64_t size,
                      uint64_t *offset)
{
    struct store *st = cs->st;
    uint64_t behind;

    reserve(cs, coord, bytes, size);
    if (take_reserved(cs, last_of(cs, coord), bytes, offset))
        return 0;
    behind = cs->payload % FMT_ALIGN ? 0 : end_before(cs, coord, size);
    if (behind && space_alloc_at(st, behind, bytes)) {
        *offset = behind;
        return 0;
    }
    return space_alloc(st, bytes, chunk_align(st, bytes), WITH_OP, offset);
}

/* ---- writing ---- */

static uint64_t blocks_of(uint64_t size)
{
    return size / FMT_SUM_BLOCK + (size % FMT_SUM_BLOCK != 0);
}

/* n chunks that are not stored, at one place; room: bytes the last may grow to.  They go in
 * steps of one record each, so that their sums take little memory. */
static int place_run(struct chunks *cs, const uint64_t *coord, uint32_t n, const uint8_t *p,
                     uint64_t size, uint64_t room)
{
    struct store *st = cs->st;
    uint64_t small[SUMS_SMALL], at[FMT_RANK_MAX];
    uint64_t step = size && RUN_BYTES / size ? RUN_BYTES / size : 1;
    uint64_t count = (n < step ? n : step) * blocks_of(size);
    uint64_t bytes = round_up((n - 1) * size + (room > size ? room : size), FMT_ALIGN);
    uint64_t *sums = count <= SUMS_SMALL ? small : mem_array(count, sizeof(*sums));
    uint64_t offset;
    int err;

    if (!sums)
        return DREP_ERR_NOMEM;
    bytes = bytes ? bytes : FMT_ALIGN;
    memcpy(at, coord, (size_t)cs->rank * sizeof(*at));
    err = find_space(cs, coord, bytes, size, &offset);
    while (!err && n > 0) {
        uint32_t now = n < step ? n : (uint32_t)step;
        uint64_t space = now == n ? bytes : now * size;

        err = payload_write(st, p, now, size, offset, sums);
        if (err) {
            space_free(st, offset, bytes, WITH_OP);
            break;
        }
        err = run_add(cs, at, now, offset, size, space, sums);
        n -= now;
        p += now * size;
        offset += space;
        bytes -= space;
        if (cs->rank)
            at[cs->rank - 1] += now;
    }
    if (sums != small)
        mem_free(sums);
    return err;
}

static int place_new(struct chunks *cs, const uint64_t *coord, uint64_t n, const uint8_t *p,
                     uint64_t size)
{
    /* Chunks stand back to back only where no two share a unit of space. */
    uint64_t most = size % FMT_ALIGN || cs->rank == 0 ? 1 : UINT32_MAX;
    uint64_t at[FMT_RANK_MAX];
    int err = 0;

    memcpy(at, coord, (size_t)cs->rank * sizeof(*at));
    while (!err && n > 0) {
        uint32_t now = (uint32_t)(n < most ? n : most);

        err = place_run(cs, at, now, p, size, 0);
        n -= now;
        p += now * size;
        if (cs->rank)
            at[cs->rank - 1] += now;
    }
    return err;
}

enum place { MOVE, IN_PLACE, IN_PLACE_NOTED };

/* Whether bytes of the run may be overwritten where they stand. */
static enum place may_overwrite(const struct store *st, const struct run *r, uint64_t offset,
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

/* Overwrites n whole chunks from f on. */
static int overwrite(struct chunks *cs, struct found *f, uint32_t n, const uint8_t *p,
                     enum place place)
{
    struct store *st = cs->st;
    uint64_t size;
    struct run *r;
    int err = run_open(cs, f);

    if (!err)
        err = run_capture(st, f->run, 1);
    if (err)
        return err;
    r = f->run;
    r->dirty = 1;
    st->dirty = 1;
    size = r->rec.size;
    if (place == IN_PLACE)
        return payload_write(st, p, n, size, r->rec.offset + f->index * size,
                             r->sum + f->index * blocks_of(size));
    for (uint32_t i = 0; !err && i < n; i++)
        err = payload_patch(st, r, f->index + i, 0, size, p + i * size, 1);
    return err;
}

/* Writes as many chunks as one step can; *done says how many. */
static int write_step(struct chunks *cs, const uint64_t *coord, uint64_t n, const uint8_t *p,
                      uint64_t size, uint64_t *done)
{
    struct found f;
    uint64_t next, now;
    int err = run_find(cs, coord, &f);

    if (err == DREP_ERR_NOT_FOUND) {
        err = run_next(cs, coord, n, &next);
        now = next == UINT64_MAX ? n : next - last_of(cs, coord);
        *done = now < n ? now : n;
        return err ? err : place_new(cs, coord, *done, p, size);
    }
    if (err)
        return err;
    now = f.run->rec.run - f.index;
    *done = now < n ? now : n;
    if (f.run->rec.size == size && size > 0) {
        enum place place =
            may_overwrite(cs->st, f.run, f.run->rec.offset + f.index * size, *done * size);

        if (place != MOVE) {
            err = overwrite(cs, &f, (uint32_t)*done, p, place);
            run_done(cs->st, &f);
            return err;
        }
    }
    err = run_remove(cs, &f, (uint32_t)*done);
    run_done(cs->st, &f);
    return err ? err : place_new(cs, coord, *done, p, size);
}

static void forget(struct chunks *cs, const uint64_t *coord)
{
    struct key key;

    chunk_key(cs, coord, &key);
    chunk_cache_drop(cs->st->cache, &key);
}

int chunk_encode(const struct chunks *cs, struct codec *k, const void *buf, uint64_t size,
                 struct span *out, uint32_t *skipped)
{
    uint64_t most = cs->st->opts.chunk_max;

    if (size > (cs->payload > most ? cs->payload : most))
        return fail(DREP_ERR_LIMIT, "a filtered chunk of %llu bytes; drep_chunk_max is %llu",
                    (unsigned long long)size, (unsigned long long)most);
    return filters_encode(k, cs->filter, cs->nfilters, buf, (size_t)size, (size_t)cs->payload, out,
                          skipped);
}

int chunk_write_encoded(struct chunks *cs, const uint64_t *coord, const struct span *encoded,
                        uint32_t skipped)
{
    struct store *st = cs->st;
    struct run r = {.object = cs->object, .rank = cs->rank};
    struct found f;
    int err = store_may_write(st);

    if (err)
        return err;
    forget(cs, coord);
    err = run_find(cs, coord, &f);
    if (!err) {
        err = run_remove(cs, &f, 1);
        run_done(st, &f);
    }
    if (err && err != DREP_ERR_NOT_FOUND)
        return err;
    r.rec.filtered = 1;
    r.rec.skipped = skipped;
    r.rec.run = 1;
    r.rec.size = encoded->len;
    r.rec.sum[0] = sum_stored(encoded->p, encoded->len);
    r.sum = r.rec.sum;
    memcpy(r.coord, coord, (size_t)cs->rank * sizeof(*coord));
    err = space_alloc(st, r.rec.size, chunk_align(st, r.rec.size), WITH_OP, &r.rec.offset);
    if (err)
        return err;
    err = st->io->ops->write_at(st->io, encoded->p, encoded->len, r.rec.offset);
    if (!err)
        err = run_store(st, &r, WITH_OP);
    if (err)
        space_free(st, r.rec.offset, r.rec.size, WITH_OP);
    return err;
}

static int write_filtered(struct chunks *cs, const uint64_t *coord, const void *buf, uint64_t size)
{
    struct codec *k = codec_take(cs->st);
    uint32_t skipped = 0;
    struct span out;
    int err = k ? chunk_encode(cs, k, buf, size, &out, &skipped) : DREP_ERR_NOMEM;

    if (!err)
        err = chunk_write_encoded(cs, coord, &out, skipped);
    codec_give(cs->st, k);
    return err;
}

int chunk_write(struct chunks *cs, const uint64_t *coord, uint64_t n, const void *buf,
                uint64_t size)
{
    uint64_t at[FMT_RANK_MAX];
    const uint8_t *p = buf;
    int err = store_may_write(cs->st);

    if (err)
        return err;
    if (cs->nfilters && n == 1)
        return write_filtered(cs, coord, buf, size);
    if (cs->nfilters || (cs->rank == 0 && n > 1))
        return fail(DREP_ERR_ARG, "%llu chunks in one write", (unsigned long long)n);
    memcpy(at, coord, (size_t)cs->rank * sizeof(*at));
    while (!err && n > 0) {
        uint64_t done = 0;

        err = write_step(cs, at, n, p, size, &done);
        n -= done;
        p += done * size;
        if (cs->rank)
            at[cs->rank - 1] += done;
    }
    return err;
}

/* ---- writing a part ---- */

/* Bytes [from, to) of a chunk that was never written. */
static void fill_bytes(uint8_t *p, uint64_t from, uint64_t to, const uint8_t *fill, size_t size)
{
    if (!fill || size == 0) {
        memset(p, 0, (size_t)(to - from));
        return;
    }
    while (from < to) {
        size_t at = (size_t)(from % size);
        size_t n = size - at < to - from ? size - at : (size_t)(to - from);

        memcpy(p, fill + at, n);
        p += n;
        from += n;
    }
}

struct patch {
    uint64_t offset, size;
    const uint8_t *p;
    const uint8_t *fill;
    size_t fill_size;
};

/* The chunk as it is, then as it shall be, in b. */
static int compose(struct chunks *cs, const uint64_t *coord, const struct patch *patch,
                   uint64_t old, struct buf *b)
{
    uint64_t end = patch->offset + patch->size, have = 0;
    int err;

    if (end > SIZE_MAX || old > SIZE_MAX)
        return fail(DREP_ERR_LIMIT, "a chunk of %llu bytes", (unsigned long long)end);
    err = buf_reserve(b, end > old ? end : old);
    if (!err && old)
        err = chunk_read(cs, coord, 0, old, b->p, &have);
    if (err)
        return err;
    b->len = (size_t)(end > old ? end : old);
    if (patch->offset > old)
        fill_bytes(b->p + old, old, patch->offset, patch->fill, patch->fill_size);
    memcpy(b->p + patch->offset, patch->p, (size_t)patch->size);
    return 0;
}

/* Bytes that the chunk may grow to. */
static uint64_t room_of(const struct chunks *cs, const uint64_t *coord)
{
    uint64_t before;

    if (cs->variable || cs->rank != 1 || !cs->reserve || !cs->payload ||
        last_of(cs, coord) >= cs->reserve / cs->payload + 1)
        return cs->variable ? 0 : cs->payload;
    before = last_of(cs, coord) * cs->payload;
    return cs->reserve - before < cs->payload ? cs->reserve - before : cs->payload;
}

/* A whole new chunk in place of what is stored; it may grow later. */
static int patch_anew(struct chunks *cs, const uint64_t *coord, const struct patch *patch,
                      uint64_t old)
{
    struct buf b = {0};
    struct found f;
    int err = compose(cs, coord, patch, old, &b);

    if (!err && cs->nfilters) {
        err = write_filtered(cs, coord, b.p, b.len);
    } else if (!err) {
        err = run_find(cs, coord, &f);
        if (!err) {
            err = run_remove(cs, &f, 1);
            run_done(cs->st, &f);
        }
        if (!err || err == DREP_ERR_NOT_FOUND)
            err = place_run(cs, coord, 1, b.p, b.len, room_of(cs, coord));
    }
    buf_release(&b);
    return err;
}

/* Lengthens the only chunk of a run within its space. */
static int grow(struct chunks *cs, struct found *f, const struct patch *patch)
{
    struct store *st = cs->st;
    uint64_t old = f->run->rec.size, end = patch->offset + patch->size;
    uint64_t low = old / FMT_SUM_BLOCK * FMT_SUM_BLOCK;
    struct buf b = {0};
    struct run *r;
    int err = run_open(cs, f);

    if (!err)
        err = run_capture(st, f->run, 1);
    if (!err)
        err = run_reserve(f->run, blocks_of(end));
    if (!err)
        err = buf_reserve(&b, end - low);
    if (err) {
        buf_release(&b);
        return err;
    }
    r = f->run;
    /* The bytes from the last block on: old ones, fill, new ones. */
    if (low < old)
        err = payload_read_part(st, r, 0, low, old - low, b.p);
    if (!err) {
        if (patch->offset > old)
            fill_bytes(b.p + (old - low), old, patch->offset, patch->fill, patch->fill_size);
        memcpy(b.p + (patch->offset - low), patch->p, (size_t)patch->size);
        /* Nothing of the old bytes changes on disk, so nothing has to be noted. */
        err =
            payload_write(st, b.p, 1, end - low, r->rec.offset + low, r->sum + low / FMT_SUM_BLOCK);
    }
    buf_release(&b);
    if (err)
        return err;
    r->rec.size = end;
    r->dirty = 1;
    st->dirty = 1;
    return 0;
}

/* 1 in *done if the chunk could be changed where it stands. */
static int patch_in_place(struct chunks *cs, struct found *f, const struct patch *patch, int *done)
{
    struct store *st = cs->st;
    struct run *r = f->run;
    uint64_t at = r->rec.offset + f->index * r->rec.size;
    uint64_t end = patch->offset + patch->size;
    enum place place;
    int err;

    *done = 1;
    if (r->rec.filtered) {
        *done = 0;
        return 0;
    }
    if (end <= r->rec.size) {
        place = may_overwrite(st, r, at + patch->offset, patch->size);
        *done = place != MOVE;
        if (!*done)
            return 0;
        err = run_open(cs, f);
        if (!err)
            err = run_capture(st, f->run, 1);
        if (err)
            return err;
        f->run->dirty = 1;
        st->dirty = 1;
        return payload_patch(st, f->run, f->index, patch->offset, patch->size, patch->p,
                             place == IN_PLACE_NOTED);
    }
    if (r->rec.run == 1 && end <= r->space && patch->offset >= r->rec.size &&
        space_fresh(st, at, r->space))
        return grow(cs, f, patch);
    *done = 0;
    return 0;
}

int chunk_patch(struct chunks *cs, const uint64_t *coord, uint64_t offset, uint64_t size,
                const void *buf, const void *fill, size_t fill_size)
{
    struct patch patch = {offset, size, buf, fill, fill_size};
    uint64_t old = 0;
    struct found f;
    int done = 0;
    int err = store_may_write(cs->st);

    if (err || size == 0)
        return err;
    if (size > FMT_SIZE_MAX || offset > FMT_SIZE_MAX)
        return fail(DREP_ERR_LIMIT, "a chunk of more than 2^62 bytes");
    err = run_find(cs, coord, &f);
    if (!err) {
        old = f.run->rec.filtered ? 0 : f.run->rec.size;
        if (offset < old && old - offset < size && f.run->rec.run == 1 &&
            offset + size <= f.run->space) {
            /* What is there and what is new, one after the other. */
            run_done(cs->st, &f);
            err = chunk_patch(cs, coord, offset, old - offset, buf, fill, fill_size);
            return err ? err
                       : chunk_patch(cs, coord, old, size - (old - offset),
                                     patch.p + (old - offset), fill, fill_size);
        }
        err = patch_in_place(cs, &f, &patch, &done);
        run_done(cs->st, &f);
        if (!err && !done)
            err = chunk_size(cs, coord, &old);
    } else if (err == DREP_ERR_NOT_FOUND) {
        err = 0;
    }
    if (err || done)
        return err;
    return patch_anew(cs, coord, &patch, old);
}

/* ---- removing ---- */

int chunk_remove(struct chunks *cs, const uint64_t *coord)
{
    struct found f;
    int err = store_may_write(cs->st);

    if (err)
        return err;
    forget(cs, coord);
    err = run_find(cs, coord, &f);
    if (err)
        return err == DREP_ERR_NOT_FOUND ? 0 : err;
    err = run_remove(cs, &f, 1);
    run_done(cs->st, &f);
    return err;
}

int chunk_remove_all(struct chunks *cs)
{
    struct buf value = {0};
    struct tree_walk w;
    struct key key;
    int err = store_may_write(cs->st);

    if (!err)
        err = runs_flush(cs->st, cs->object);
    if (err)
        return err;
    chunk_cache_clear(cs->st->cache);
    key_make(&key, cs->object, FMT_TAG_CHUNK);
    tree_walk(&w, cs->st, &key, key.len);
    while (!err && (err = tree_next(&w, &key, &value)) == 0) {
        struct chunk_rec rec;
        struct run r;
        struct in in;

        in_init(&in, value.p, value.len);
        /* What a malformed record held stays behind as slack. */
        if (chunk_get(&in, &rec) == 0) {
            struct ref sums = rec.sums;

            rec.far = 0;
            if (run_load(cs->st, &rec, &r) == 0) {
                space_free(cs->st, rec.offset, r.space, WITH_OP);
                if (sums.length && sums.offset < store_end(cs->st) &&
                    sums.length <= store_end(cs->st) - sums.offset)
                    space_free(cs->st, sums.offset, sums.length, WITH_OP);
            }
            run_unload(&r);
        }
        err = tree_del(cs->st, &key);
    }
    buf_release(&value);
    return err == DREP_ERR_NOT_FOUND ? 0 : err;
}

/* ---- looking at all ---- */

static int by_coord(const struct run *a, const struct run *b)
{
    for (int d = 0; d < a->rank; d++) {
        if (a->coord[d] != b->coord[d])
            return a->coord[d] < b->coord[d] ? -1 : 1;
    }
    return 0;
}

/* The open runs of the dataset, in order. */
static int open_runs(const struct chunks *cs, const struct run **list)
{
    int n = 0;

    for (int i = 0; i < cs->st->runs.n; i++) {
        const struct run *r = cs->st->runs.open[i];
        int at = n;

        if (r->object != cs->object)
            continue;
        while (at > 0 && by_coord(r, list[at - 1]) < 0) {
            list[at] = list[at - 1];
            at--;
        }
        list[at] = r;
        n++;
    }
    return n;
}

int chunk_each(struct chunks *cs, chunk_each_fn *fn, void *ctx)
{
    const struct run *open[OPEN_RUNS];
    int n = open_runs(cs, open), i = 0, err = 0;
    struct buf value = {0};
    struct tree_walk w;
    struct key key;

    key_make(&key, cs->object, FMT_TAG_CHUNK);
    tree_walk(&w, cs->st, &key, key.len);
    while (!err && (err = tree_next(&w, &key, &value)) == 0) {
        struct run at = {.rank = cs->rank};
        struct in in;
        int same = 0;

        if (key.len != 9 + 8 * (size_t)cs->rank) {
            err = fail(DREP_ERR_FORMAT, "a chunk's key of %zu bytes", key.len);
            break;
        }
        for (int d = 0; d < cs->rank; d++)
            at.coord[d] = key_u64(key.p + 9 + 8 * (size_t)d);
        while (!err && !same && i < n && by_coord(open[i], &at) <= 0) {
            same = by_coord(open[i], &at) == 0; /* newer than the tree */
            err = fn(open[i]->coord, &open[i]->rec, ctx);
            i++;
        }
        in_init(&in, value.p, value.len);
        if (!err && !same && chunk_get(&in, &at.rec))
            err = fail(in.err, "chunk record: %s", in.why);
        else if (!err && !same)
            err = fn(at.coord, &at.rec, ctx);
    }
    if (err == DREP_ERR_NOT_FOUND)
        err = 0;
    for (; !err && i < n; i++)
        err = fn(open[i]->coord, &open[i]->rec, ctx);
    buf_release(&value);
    return err;
}

int chunk_run_offset(struct chunks *cs, uint64_t n, uint64_t *offset)
{
    uint64_t c = 0, first = 0;

    if (cs->rank != 1 || n == 0)
        return fail(DREP_ERR_UNSUPPORTED_OPERATION, "the elements do not stand in one run");
    while (c < n) {
        struct found f;
        uint64_t at, size, run;
        int filtered;
        int err = run_find(cs, &c, &f);

        if (err == DREP_ERR_NOT_FOUND)
            return fail(DREP_ERR_UNSUPPORTED_OPERATION, "chunk %llu is not stored",
                        (unsigned long long)c);
        if (err)
            return err;
        filtered = f.run->rec.filtered;
        size = f.run->rec.size;
        run = f.run->rec.run - f.index;
        at = f.run->rec.offset + f.index * size;
        run_done(cs->st, &f);
        if (c == 0)
            first = at;
        if (filtered || at != first + c * cs->payload || (size != cs->payload && c + 1 < n))
            return fail(DREP_ERR_UNSUPPORTED_OPERATION, "chunk %llu stands apart from those before",
                        (unsigned long long)c);
        c += run;
    }
    *offset = first;
    return 0;
}

int chunk_verify(struct chunks *cs, const uint64_t *coord, const struct chunk_rec *rec, int deep)
{
    struct store *st = cs->st;
    struct decoding d = {cs, rec};
    struct buf bytes = {0};
    struct run *r;
    int err;

    (void)coord;
    if (rec->filtered) {
        if (rec->offset > store_end(st) || rec->size > store_end(st) - rec->offset)
            return fail(DREP_ERR_FORMAT, "a chunk at byte %llu lies outside the file",
                        (unsigned long long)rec->offset);
        store_check_absent(st, rec->sum[0] == 0);
        err = payload_filtered(st, rec, 1, &bytes);
        buf_release(&bytes);
        if (!err && deep)
            err = decode(&d, &bytes);
        buf_release(&bytes);
        return err;
    }
    r = mem_zalloc(1, sizeof(*r));
    if (!r)
        return DREP_ERR_NOMEM;
    err = run_load(st, rec, r);
    if (!err)
        store_check_absent(st, payload_absent(r));
    if (!err)
        err = payload_read(st, r, 0, r->rec.run, NULL);
    run_unload(r);
    mem_free(r);
    return err;
}
