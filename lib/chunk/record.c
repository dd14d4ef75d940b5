/* record.c - runs as the tree has them: consecutive chunks that one record describes.
 *
 * A record that comes from the file is checked against the file's end before memory is allocated
 * for it, and the number of its checksums against its chunks. */
/* SPDX-License-Identifier: MIT */
#include "chunk/record.h"

#include "base/error.h"
#include "base/mem.h"
#include "chunk/filter.h"
#include "chunk/run_order.h"
#include "chunk/room.h"
#include "tree/block.h"
#include "tree/edit.h"
#include "tree/walk.h"

#include <stdio.h>

int fail_chunk(int err, int rank, const uint64_t *coord)
{
    char text[FMT_RANK_MAX * 21 + 1] = "";
    size_t at = 0;

    for (int d = 0; err && d < rank; d++)
        at += (size_t)snprintf(text + at, sizeof text - at, "%s%llu", d > 0 ? "," : "",
                               (unsigned long long)coord[d]);
    return fail_in(err, "chunk (%s)", text);
}

void chunk_key(const struct chunks *cs, const uint64_t *coord, struct key *key)
{
    key_make(key, cs->object, FMT_TAG_CHUNK);
    for (int d = 0; d < cs->rank; d++)
        key_add_u64(key, coord[d]);
}

void run_key(const struct chunk_run *r, struct key *key)
{
    key_make(key, r->object, FMT_TAG_CHUNK);
    for (int d = 0; d < r->rank; d++)
        key_add_u64(key, r->coord[d]);
}

/* Check what the rows of a record claim before memory is reserved for any of them: of a row in
 * another file nothing in this one is a bound.  (A plain run is bounded by the file's end, payloads
 * of variable length where they are decoded.) */
static int rows_check(const struct chunks *cs, const struct chunk_rec *rec)
{
    uint64_t most = filters_stored_max(cs->filter, cs->nfilters, rec->skipped, cs->payload), at = 0;

    for (uint32_t i = 0; !cs->variable && i < rec->run; i++) {
        struct chunk_rec row;

        chunk_row(rec, i, &at, &row);
        if (row.size > most)
            return fail(DREP_ERR_FORMAT,
                        "row %u of a chunk record claims %llu bytes, at most %llu are possible "
                        "(R8.36)",
                        i, (unsigned long long)row.size, (unsigned long long)most);
    }
    return 0;
}

int chunk_entry(const struct chunks *cs, const struct key *key, const struct buf *value,
                uint64_t *coord, struct chunk_rec *rec)
{
    struct in in;

    if (key->len != RECORDS_PREFIX + 8 * (size_t)cs->rank)
        return fail(DREP_ERR_FORMAT, "a chunk's key of %zu bytes (R4.19)", key->len);
    in_init(&in, value->p, value->len);
    for (int d = 0; d < cs->rank; d++) {
        coord[d] = key_u64(key->p + RECORDS_PREFIX + 8 * (size_t)d);
        if (coord[d] > FMT_SIZE_MAX)
            return fail(DREP_ERR_UNSUPPORTED,
                        FMT_BEYOND("a chunk's coordinate of more than 2^62", "R8.13"));
    }
    if (chunk_get(&in, rec) == FMT_ERR_UNSUPPORTED && !in.beyond)
        return fail(DREP_ERR_UNSUPPORTED,
                    "chunk record of kind %u with flags %u, written by a newer version (R1.9)",
                    value->p[0], value->len > 1 ? value->p[1] : 0);
    if (in.err)
        return fail(in.err, "chunk record: %s", in.why);
    if (rec->filtered && cs->slabs)
        return fail(DREP_ERR_FORMAT, "filtered chunks of a contiguous dataset (R8.22)");
    if (rec->filtered && !run_order_fits(cs, coord, rec->run))
        return fail(DREP_ERR_FORMAT, "a run of %u chunks that the grid does not have (R8.19)",
                    rec->run);
    return rec->filtered ? rows_check(cs, rec) : 0;
}

int rows_each(const struct chunks *cs, const uint64_t *coord, const struct chunk_rec *rec,
              rows_fn *fn, void *ctx)
{
    uint64_t at[FMT_RANK_MAX], offset = 0;
    int err = 0;

    if (!rec->rows.len)
        return fn(coord, rec, ctx);
    memcpy(at, coord, (size_t)cs->rank * sizeof(*at));
    for (uint32_t i = 0; !err && i < rec->run; i++) {
        struct chunk_rec one;

        chunk_row(rec, i, &offset, &one);
        err = fn(at, &one, ctx);
        run_order_step(cs, at, 1);
    }
    return err;
}

/* ---- loading ---- */

void run_unload(struct chunk_run *r)
{
    mem_free(r->heap);
    mem_free(r->base_sum);
    buf_release(&r->refs);
    buf_release(&r->tail);
    r->heap = NULL;
    r->base_sum = NULL;
}

void run_unref(struct chunk_run *r)
{
    if (!r || atomic_fetch_sub(&r->uses, 1) != 1)
        return;
    run_unload(r);
    mem_free(r);
}

static int sums_load(struct store *st, struct chunk_run *r)
{
    uint64_t n = chunk_sums(r->rec.run, r->rec.size), at = 0;
    struct buf block = {0};
    int err = 0;

    r->heap = mem_array(n, sizeof(*r->heap));
    if (!r->heap)
        return DREP_ERR_NOMEM;
    for (uint32_t k = 0; !err && k < r->rec.far; k++) {
        uint32_t count = 0, want = chunk_sums_in(n, k);
        struct ref ref;

        chunk_ref(&r->rec, k, &ref);
        err = block_load(st, &ref, FMT_SUMS, &block, &count);
        if (!err && (count != want || block.len != 8 * (size_t)want))
            err = fail_byte(DREP_ERR_FORMAT, ref.offset,
                            "block of sums at byte %llu: %u sums, not %u (R8.26)",
                            (unsigned long long)ref.offset, count, want);
        for (uint32_t i = 0; !err && i < want; i++)
            r->heap[at++] = key_u64(block.p + 8 * (size_t)i);
    }
    r->room = (size_t)n;
    r->sum = r->heap;
    buf_release(&block);
    return err;
}

int run_load(struct store *st, const struct chunk_rec *rec, struct chunk_run *r)
{
    uint64_t end = store_end(st), bytes;

    r->rec = *rec;
    r->rec.tail = (struct span){NULL, 0};
    r->rec.refs = (struct span){NULL, 0};
    r->refs = (struct buf){0};
    r->heap = NULL;
    r->base_sum = NULL;
    r->tail = (struct buf){0};
    r->sum = r->rec.sum;
    r->room = FMT_SUMS_INLINE;
    r->grows = false;
    bytes = rec->size * rec->run; /* chunk_get() saw to it that this is possible */
    if (rec->offset > end || bytes > end - rec->offset)
        return fail_byte(DREP_ERR_FORMAT, rec->offset,
                         "chunks at byte %llu lie outside the file (R2.14)",
                         (unsigned long long)rec->offset);
    r->space = round_up(bytes ? bytes : 1, FMT_ALIGN);
    if (rec->tail.len) {
        int err = buf_set(&r->tail, rec->tail.p, rec->tail.len);

        if (err)
            return err;
    }
    if (!rec->far)
        return 0;
    if (buf_set(&r->refs, rec->refs.p, rec->refs.len))
        return DREP_ERR_NOMEM;
    r->rec.refs = (struct span){r->refs.p, r->refs.len};
    return sums_load(st, r);
}

int run_reserve(struct chunk_run *r, uint64_t sums)
{
    uint64_t *heap;
    size_t room;

    if (sums <= r->room)
        return 0;
    if (sums > SIZE_MAX / 16)
        return fail(DREP_ERR_LIMIT, "%llu sums of one run (R8.26)", (unsigned long long)sums);
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

/* ---- into the tree ---- */

uint64_t sums_bytes(const struct chunk_rec *rec)
{
    uint64_t bytes = 0;

    for (uint32_t i = 0; i < rec->far; i++) {
        struct ref ref;

        chunk_ref(rec, i, &ref);
        bytes += ref.length;
    }
    return bytes;
}

void sums_free(struct store *st, const struct span *refs, enum keep keep)
{
    const struct chunk_rec rec = {.refs = *refs};

    for (uint32_t i = 0; i < refs->len / FMT_REF_SIZE; i++) {
        struct ref ref;

        chunk_ref(&rec, i, &ref);
        if (ref.offset < store_end(st) && ref.length <= store_end(st) - ref.offset)
            space_free(st, ref.offset, ref.length, keep);
    }
}

static int write_block(struct store *st, const uint64_t *sums, uint32_t n, enum keep keep,
                       struct ref *ref)
{
    struct buf b = {0};
    struct out out;
    uint64_t offset;
    int err;

    buf_out(&b, &out);
    for (uint32_t i = 0; i < n; i++)
        out_u64(&out, sums[i]);
    err = buf_done(&b, &out);
    if (!err)
        err = space_alloc(st, FMT_BLOCK_HEAD + 8 * (uint64_t)n, FMT_ALIGN, keep, &offset);
    if (!err) {
        err = block_write(st, FMT_SUMS, n, b.p, b.len, offset, ref);
        if (err)
            space_free(st, offset, FMT_BLOCK_HEAD + 8 * (uint64_t)n, keep);
    }
    buf_release(&b);
    return err;
}

/* Checksums that do not fit into the record go to blocks of their own, which are never changed in
 * place either; refs: references to them. */
static int write_sums(struct store *st, const uint64_t *sums, uint64_t n, enum keep keep,
                      struct buf *refs)
{
    uint64_t blocks = chunk_sum_blocks(n);
    struct out out;
    int err = 0, done;

    buf_out(refs, &out);
    for (uint64_t i = 0; !err && i < blocks; i++) {
        uint32_t now = chunk_sums_in(n, i);
        struct ref ref;

        err = write_block(st, sums, now, keep, &ref);
        if (!err)
            ref_put(&out, &ref);
        sums += now;
    }
    done = buf_done(refs, &out);
    return err ? err : done;
}

static int put_record(struct store *st, const struct key *key, const struct chunk_rec *rec,
                      enum keep keep)
{
    struct buf b = {0};
    struct out out;
    int err;

    buf_out(&b, &out);
    chunk_put(&out, rec);
    err = buf_done(&b, &out);
    if (!err)
        err = keep == ANYWAY ? tree_put_anyway(st, key, b.p, b.len) : tree_put(st, key, b.p, b.len);
    buf_release(&b);
    return err;
}

int record_put(const struct chunks *cs, const uint64_t *coord, const struct chunk_rec *rec)
{
    struct key key;

    chunk_key(cs, coord, &key);
    return put_record(cs->st, &key, rec, WITH_OP);
}

/* `n` chunks of `size` bytes with these sums, as the record of run r. */
int run_store_as(struct store *st, struct chunk_run *r, uint32_t n, uint64_t size,
                 const uint64_t *sums, enum keep keep)
{
    struct chunk_rec rec = r->rec;
    uint64_t count = chunk_sums(n, size);
    struct buf refs = {0};
    struct key key;
    int err = 0;

    rec.kind = FMT_CHUNK_PLAIN;
    rec.run = n;
    rec.size = size;
    rec.far = (uint32_t)chunk_sum_blocks(count);
    rec.tail = (struct span){r->tail.p, r->tail.len};
    rec.nsums = rec.far ? 0 : (uint32_t)count;
    if (rec.far)
        err = write_sums(st, sums, count, keep, &refs);
    else
        memmove(rec.sum, sums, (size_t)count * sizeof(*sums));
    rec.refs = (struct span){refs.p, refs.len};
    run_key(r, &key);
    if (!err)
        err = put_record(st, &key, &rec, keep);
    if (err) {
        sums_free(st, &rec.refs, keep);
        buf_release(&refs);
        return err;
    }
    buf_release(&r->refs);
    r->refs = refs;
    r->rec.refs = rec.refs;
    r->rec.far = rec.far;
    return 0;
}

int run_store(struct store *st, struct chunk_run *r, enum keep keep)
{
    return run_store_as(st, r, r->rec.run, r->rec.size, r->sum, keep);
}

/* Space of a malformed record stays allocated: slack. */
static void free_record(struct store *st, const struct chunk_rec *rec)
{
    struct chunk_lines lines;

    if (chunk_lines(rec, &lines))
        return;
    for (uint32_t i = 0; i < lines.n; i++) {
        if (lines.at[i].offset > store_end(st) ||
            lines.at[i].length > store_end(st) - lines.at[i].offset)
            return;
    }
    for (uint32_t i = 0; i < lines.n; i++)
        space_free(st, lines.at[i].offset, lines.at[i].length, WITH_OP);
    if (!rec->filtered)
        room_drop(st, rec->offset);
    sums_free(st, &rec->refs, WITH_OP);
}

int records_remove_all(struct chunks *cs)
{
    struct buf value = {0};
    struct tree_walk w;
    struct key key;
    int err = 0;

    key_make(&key, cs->object, FMT_TAG_CHUNK);
    tree_walk(&w, cs->st, &key, key.len);
    while (!err && !(err = tree_next(&w, &key, &value))) {
        struct chunk_rec rec;
        struct in in;

        in_init(&in, value.p, value.len);
        if (chunk_get(&in, &rec) == 0)
            free_record(cs->st, &rec);
        err = tree_del(cs->st, &key);
    }
    buf_release(&value);
    return err == DREP_ERR_NOT_FOUND ? 0 : err;
}
