/* external_sum.c - the sums of rows whose bytes are in other files. */
/* SPDX-License-Identifier: MIT */
#include "elem/external_sum.h"

#include "base/mem.h"
#include "base/vec.h"
#include "chunk/each.h"
#include "chunk/record.h"
#include "chunk/target.h"
#include "elem/grid.h"
#include "format/block.h"
#include "name/object.h"

#include <datarep.h>

static int add_sum(struct target_sums *out, uint64_t offset, uint64_t size, uint64_t sum)
{
    if (sum == 0 || size == 0 || out->n >= TARGET_SUMS_MAX)
        return 0;
    if (VEC_ROOM(out->p, out->n, out->room, 1) != 0)
        return fail_nomem();
    out->p[out->n++] = (struct target_sum){offset, size, sum};
    return 0;
}

/* A plain chunk of one block has one sum for all its bytes; longer ones have none. */
static int add_plain(struct store *st, const struct chunk_rec *rec, struct target_sums *out)
{
    struct chunk_run *r;
    int err;

    if (rec->size > FMT_SUM_BLOCK)
        return 0;
    r = mem_zalloc(1, sizeof(*r));
    if (!r)
        return fail_nomem();
    err = run_load(st, rec, r);
    for (uint32_t i = 0; !err && rec->size > 0 && i < rec->run; i++)
        err = add_sum(out, rec->offset + i * rec->size, rec->size, r->sum[i]);
    run_unload(r);
    mem_free(r);
    return err;
}

struct sum_walk {
    struct store *st;
    struct target_sums *out;
};

/* Rows in a third file are skipped: their bytes are not in the container. */
static int add_record_sums(const uint64_t *coord, const struct chunk_rec *rec, void *ctx)
{
    const struct sum_walk *w = ctx;

    (void)coord;
    if (rec->file)
        return 0;
    return rec->filtered ? add_sum(w->out, rec->offset, rec->size, rec->sum[0])
                         : add_plain(w->st, rec, w->out);
}

static int add_object_sums(drep_file *g, uint64_t id, struct target_sums *out)
{
    struct sum_walk walk = {g->st, out};
    struct stored_object o = {0};
    struct chunks cs;
    int err = object_load(g, id, &o);

    if (!err && o.rec.kind == FMT_DATASET) {
        chunks_of(g, id, &o.rec, 1, true, "dataset", &cs);
        err = chunk_each_known(&cs, add_record_sums, &walk);
    }
    object_release(&o);
    return err == DREP_ERR_UNSUPPORTED ? 0 : err;
}

/* Collect the sums of a container (target_sums_fn); `ctx` is the file that names it. */
static int container_sums(struct io *io, struct target_sums *out, void *ctx)
{
    const drep_file *f = ctx;
    drep_file *g;
    uint64_t id = 0;
    int err = file_open_on(io, DREP_RDONLY | DREP_HEADER_ONLY, f->hints.all, 0, &g);

    if (err)
        return err;
    while (!(err = object_next(g, id, &id)) && id != 0)
        if ((err = add_object_sums(g, id, out)))
            break;
    file_free(g);
    return err;
}

int external_known_sum(drep_file *f, const struct chunk_rec *row, uint64_t *sum)
{
    return target_known_sum(f->st, row, container_sums, f, sum);
}

int external_sum(drep_file *f, const struct chunk_rec *row, uint64_t *sum)
{
    struct buf bytes = {0};
    int err = external_known_sum(f, row, sum);

    if (!err && *sum == 0) {
        err = target_read(f->st, row->file, row->offset, row->size, &bytes);
        if (!err)
            *sum = sum_stored(bytes.p, bytes.len);
    }
    buf_release(&bytes);
    return err;
}
