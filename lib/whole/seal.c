/* seal.c - checksums for what was written without them. */
/* SPDX-License-Identifier: MIT */
#include "base/advance.h"
#include "base/error.h"
#include "base/mem.h"
#include "chunk/filter.h"
#include "chunk/target.h"
#include "elem/external_sum.h"
#include "elem/grid.h"
#include "file/team.h"
#include "name/find.h"
#include "name/object.h"
#include "txn/seal.h"

#include <datarep.h>

struct row_sealing {
    drep_file *f;
    bool budgeted;
    uint64_t budget; /* bytes of other files that may still be read (R8.48) */
};

static int add_to_budget(uint32_t number, const struct target_rec *rec, void *ctx)
{
    (void)number;
    target_budget(rec, ctx);
    return 0;
}

/* Check the size that a row claims before it is read. */
static int row_claim_check(struct row_sealing *s, const struct chunks *cs,
                           const struct chunk_rec *row)
{
    uint64_t limit = cs->st->opts.chunk_limit;
    int err = s->budgeted ? 0 : targets_each(cs->st, add_to_budget, &s->budget);

    if (err)
        return err;
    s->budgeted = true;
    if (row->size > filters_stored_max(cs->filter, cs->nfilters, row->skipped, limit))
        return fail(DREP_ERR_LIMIT, "a chunk stored as %llu bytes; drep_limit_chunk is %llu",
                    (unsigned long long)row->size, (unsigned long long)limit);
    if (row->size > s->budget)
        return fail(
            DREP_ERR_FORMAT,
            "chunks have more than %d times the bytes of the files that they are in (R8.48)",
            TARGET_TIMES);
    s->budget -= row->size;
    return 0;
}

/* Skip rows in a target of a newer version; other unsupported targets (URIs) are an error. */
static int unsupported_target(struct store *st, uint32_t number)
{
    struct buf value = {0};
    struct target_rec rec;
    struct fail_state why;
    int err;

    fail_save(&why);
    err = target_entry(st, number, &value, &rec);
    fail_restore(&why);
    buf_release(&value);
    return !err && rec.kind == FMT_LATER ? 0 : DREP_ERR_UNSUPPORTED_OPERATION;
}

/* Compute the sum of a row (seal_row_fn).  Its file must be the recorded one, and still be so when
 * the bytes have been read. */
static int seal_row(const struct chunks *cs, const struct chunk_rec *row, uint64_t *sum, void *ctx)
{
    struct row_sealing *s = ctx;
    int err = target_unchanged(cs->st, row->file);

    if (err == DREP_ERR_UNSUPPORTED)
        return unsupported_target(cs->st, row->file);
    if (!err && (err = row_claim_check(s, cs, row)))
        err = target_fail_in(cs->st, row->file, err);
    if (!err)
        err = external_sum(s->f, row, sum);
    if (!err)
        err = target_unchanged(cs->st, row->file);
    return err;
}

/* Name an object in an error by its path, which takes long to find; it may have none. */
static int fail_object_at(drep_file *f, uint64_t id, int err)
{
    struct fail_state why;
    char *path = NULL;
    int found;

    fail_save(&why);
    found = object_path(f, id, &path);
    fail_restore(&why);
    err =
        found == 0 ? fail_dataset(err, path) : fail_in(err, "object %llu", (unsigned long long)id);
    mem_free(path);
    return err;
}

static int seal_object(struct row_sealing *s, uint64_t id, struct advance *advance, int64_t *blocks)
{
    struct stored_object o = {0};
    struct chunks cs;
    int err = object_load(s->f, id, &o);

    if (!err && o.rec.kind == FMT_DATASET) {
        chunks_of(s->f, id, &o.rec, 1, true, "dataset", &cs);
        err = chunks_seal(&cs, seal_row, s, advance, blocks);
    }
    object_release(&o);
    if (err == DREP_ERR_UNSUPPORTED) /* a newer version wrote the object: what it has is its own */
        return 0;
    return err ? fail_object_at(s->f, id, err) : 0;
}

int drep_seal(drep_file *file, int64_t *blocks)
{
    struct row_sealing rows = {.f = file};
    struct advance *advance;
    uint64_t id = 0;
    int64_t n = 0;
    int err = 0;

    if ((err = file_check(file)) || (err = shared_refuses(file, "drep_seal")) ||
        (err = change_begin(file)))
        return err;
    advance = advance_begin(0);
    while (!err && !(err = object_next(file, id, &id)) && id != 0)
        err = seal_object(&rows, id, advance, &n);
    advance_end(advance);
    err = change_end(file, err);
    if (!err && blocks)
        *blocks = n;
    return err;
}
