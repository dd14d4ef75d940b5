/* usage.c - what one object takes of the file. */
/* SPDX-License-Identifier: MIT */
#include "base/error.h"
#include "base/sized.h"
#include "chunk/each.h"
#include "chunk/record.h"
#include "elem/dataset.h"
#include "name/path.h"
#include "tree/walk.h"

/* Bytes of one full chunk before filters. */
static int64_t payload_of(const drep_dataset *ds)
{
    const struct object_rec *r = &ds->rec;
    int64_t n = ds->esize;

    if (r->layout == FMT_CONTIGUOUS)
        return (int64_t)r->slab * n;
    for (int d = 0; r->layout == FMT_CHUNKED && d < r->rank; d++)
        n *= r->chunk[d];
    return n;
}

struct usage_count {
    drep_objusage u;
    int64_t payload;
};

static int add_record(const uint64_t *coord, const struct chunk_rec *rec, void *ctx)
{
    struct usage_count *c = ctx;
    int64_t stored = (int64_t)(rec->size * rec->run);

    (void)coord;
    c->u.chunks += rec->run;
    if (rec->file)
        c->u.external += stored;
    else
        c->u.data += stored;
    c->u.sums += (int64_t)sums_bytes(rec);
    /* An unfiltered one may be shorter than the grid's, or longer by its heap. */
    c->u.payload += rec->filtered ? c->payload : stored;
    return 0;
}

static int add_entries_in(drep_file *f, uint8_t space, uint64_t id, drep_objusage *u)
{
    struct buf value = {0};
    struct tree_walk w;
    struct key key;
    int err;

    key_make_in(&key, space, id, 0);
    tree_walk(&w, f->st, &key, FMT_KEY_TAG_AT);
    while (!(err = tree_next(&w, &key, &value)))
        u->metadata += (int64_t)(key.len + value.len);
    buf_release(&value);
    return err == DREP_ERR_NOT_FOUND ? 0 : err;
}

/* Adds keys and values of the object in the tree. */
static int add_entries(drep_file *f, uint64_t id, drep_objusage *u)
{
    uint8_t space;
    int err = 0;

    for (unsigned from = 0; !err && !(err = tree_space(f->st, from, &space)); from = space + 1u)
        err = add_entries_in(f, space, id, u);
    return err == DREP_ERR_NOT_FOUND ? 0 : err;
}

static int add_chunks(drep_file *f, uint64_t id, const char *path, struct usage_count *c)
{
    drep_dataset *ds;
    int err = dataset_get(f, id, path, &ds);

    if (err)
        return err;
    c->payload = payload_of(ds);
    if (ds->rec.layout == FMT_CONTIGUOUS || ds->rec.layout == FMT_CHUNKED)
        err = chunk_each_known(&ds->chunks, add_record, c);
    dataset_put(ds);
    return err;
}

int drep_object_usage(drep_file *file, const char *path, drep_objusage *out)
{
    struct usage_count c = {.payload = 0};
    struct stored_object o = {0};
    int err;

    if (!path)
        return fail(DREP_ERR_ARG, "drep_object_usage: null argument");
    if ((err = sized_check(SIZED_drep_objusage, out, "drep_object_usage")) ||
        (err = read_begin(file)))
        return err;
    err = path_find(file, path, &o);
    if (!err)
        err = add_entries(file, o.id, &c.u);
    if (!err && o.rec.kind == FMT_DATASET)
        err = add_chunks(file, o.id, path, &c);
    object_release(&o);
    err = read_end(file, err);
    if (!err)
        sized_put(SIZED_drep_objusage, &c.u, out);
    return err;
}
