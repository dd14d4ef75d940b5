/* seal.c - filling in the checksums that were left out when payload was written.  Payload stays
 * where it is, committed or not; only its record and its checksums are written again. */
/* SPDX-License-Identifier: MIT */
#include "txn/seal.h"

#include "base/mem.h"
#include "chunk/payload.h"
#include "chunk/run.h"
#include "tree/touched.h"
#include "tree/walk.h"
#include "txn/op.h"
#include "txn/writeback.h"

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

static int seal_record(struct chunks *cs, const struct key *key, const struct buf *value,
                       int64_t *blocks)
{
    struct chunk_rec rec;
    struct chunk_run *r = mem_zalloc(1, sizeof(*r));
    int err;

    if (!r)
        return DREP_ERR_NOMEM;
    err = chunk_entry(cs, key, value, r->coord, &rec);
    if (err == DREP_ERR_UNSUPPORTED) {
        err = 0; /* the sums of a newer version's chunks are not ours to make */
    } else if (!err && !rec.filtered) { /* filtered chunks always have theirs */
        err = run_load(cs->st, &rec, r);
        r->object = cs->object;
        r->rank = cs->rank;
        if (!err)
            err = seal_run(cs->st, r, blocks);
    }
    run_unload(r);
    mem_free(r);
    return err;
}

int chunks_seal(struct chunks *cs, int64_t *blocks)
{
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
        err = seal_record(cs, &key, &value, blocks);
        if (err)
            break;
    }
    cs->st->touched->paused = false;
    buf_release(&value);
    return err == DREP_ERR_NOT_FOUND ? 0 : err;
}
