/* seal.c - filling in the checksums that were left out when payload was written.  Payload stays
 * where it is, committed or not; only its record and its checksums are written again. */
/* SPDX-License-Identifier: MIT */
#include "txn/seal.h"

#include "base/advance.h"
#include "base/mem.h"
#include "chunk/payload.h"
#include "chunk/run.h"
#include "chunk/run_order.h"
#include "tree/touched.h"
#include "tree/walk.h"
#include "txn/op.h"
#include "txn/writeback.h"

#include <string.h>

struct sealing {
    struct chunks *cs;
    seal_row_fn *fn; /* for rows in other files */
    void *ctx;
    struct advance *advance;
    int64_t *blocks; /* sums that were filled in */
};

/* Store a record with its new checksums, as an operation of its own. */
static int store_sealed_run(struct store *st, struct chunk_run *r)
{
    struct buf old = r->refs;
    const struct span refs = {old.p, old.len};
    int err = store_op_begin(st), end;

    if (err)
        return err;
    r->refs = (struct buf){0};
    err = run_store(st, r, WITH_OP);
    if (!err)
        sums_free(st, &refs, WITH_OP);
    end = store_op_end(st, !err);
    buf_release(&old);
    return err ? err : end;
}

static int seal_run(struct store *st, struct chunk_run *r, int64_t *blocks)
{
    uint64_t absent = payload_absent(r);
    int err;

    if (absent == 0)
        return 0;
    err = payload_seal(st, r);
    if (!err)
        err = store_sealed_run(st, r);
    if (!err)
        *blocks += (int64_t)absent;
    return err;
}

/* Number of rows whose sum is absent. */
static uint32_t rows_absent(const struct chunk_rec *rec)
{
    uint32_t absent = 0;
    uint64_t at = 0;

    for (uint32_t i = 0; i < rec->run; i++) {
        struct chunk_rec row;

        chunk_row(rec, i, &at, &row);
        absent += row.sum[0] == 0;
    }
    return absent;
}

/* Encode the rows of an external record anew, with all sums. */
static int sealed_rows(const struct sealing *s, const uint64_t *coord, const struct chunk_rec *rec,
                       struct buf *rows)
{
    uint64_t first[FMT_RANK_MAX], at = 0;
    struct out out;
    int err = 0, end;

    memcpy(first, coord, (size_t)s->cs->rank * sizeof(*first));
    buf_out(rows, &out);
    for (uint32_t i = 0; !err && i < rec->run; i++) {
        struct chunk_rec row;

        chunk_row(rec, i, &at, &row);
        if (row.sum[0] == 0)
            err = fail_chunk(s->fn(s->cs, &row, &row.sum[0], s->ctx), s->cs->rank, first);
        chunk_row_put(&out, rec->kind, row.offset, (uint32_t)row.size, row.sum[0]);
        run_order_step(s->cs, first, 1);
    }
    end = buf_done(rows, &out);
    return err ? err : end;
}

/* Store the record with its sums filled in.  Unknown flags and the tail are kept, as the payload is
 * unchanged. */
static int seal_external(const struct sealing *s, const uint64_t *coord,
                         const struct chunk_rec *rec)
{
    struct chunk_rec sealed = *rec;
    uint32_t absent = rows_absent(rec), left;
    struct store *st = s->cs->st;
    struct buf rows = {0};
    int err, end;

    if (absent == 0)
        return 0;
    err = sealed_rows(s, coord, rec, &rows);
    sealed.rows = (struct span){rows.p, rows.len};
    left = err ? absent : rows_absent(&sealed);
    if (left < absent && !(err = store_op_begin(st))) {
        err = record_put(s->cs, coord, &sealed);
        end = store_op_end(st, !err);
        err = err ? err : end;
    }
    buf_release(&rows);
    if (!err)
        *s->blocks += absent - left;
    return err;
}

static int seal_record(const struct sealing *s, const struct key *key, const struct buf *value)
{
    struct chunks *cs = s->cs;
    struct chunk_rec rec = {0};
    struct chunk_run *r = mem_zalloc(1, sizeof(*r));
    int err;

    if (!r)
        return DREP_ERR_NOMEM;
    err = chunk_entry(cs, key, value, r->coord, &rec);
    if (err == DREP_ERR_UNSUPPORTED) {
        err = 0; /* the sums of a newer version's chunks are not ours to make */
    } else if (!err && rec.kind == FMT_CHUNK_EXTERNAL) {
        err = seal_external(s, r->coord, &rec);
    } else if (!err && !rec.filtered) { /* filtered chunks in this file always have theirs */
        err = run_load(cs->st, &rec, r);
        r->object = cs->object;
        r->rank = cs->rank;
        if (!err)
            err = seal_run(cs->st, r, s->blocks);
    }
    run_unload(r);
    mem_free(r);
    return err ? err : advance_add(s->advance, (int64_t)(rec.size * rec.run));
}

int chunks_seal(struct chunks *cs, seal_row_fn *fn, void *ctx, struct advance *advance,
                int64_t *blocks)
{
    const struct sealing s = {cs, fn, ctx, advance, blocks};
    struct buf value = {0};
    struct tree_walk w;
    struct key key;
    int err = store_may_write(cs->st);

    if (!err)
        err = writeback_all(cs->st, cs->object);
    if (!err)
        err = runs_flush(cs->st, cs->object);
    if (err)
        return err;
    cs->st->touched->paused = true; /* the elements stay what they are */
    key_make(&key, cs->object, FMT_TAG_CHUNK);
    tree_walk(&w, cs->st, &key, key.len);
    while (!(err = tree_next(&w, &key, &value))) {
        err = seal_record(&s, &key, &value);
        if (err)
            break;
    }
    cs->st->touched->paused = false;
    buf_release(&value);
    return err == DREP_ERR_NOT_FOUND ? 0 : err;
}
