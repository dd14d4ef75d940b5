/* chunks.c - which parts of a dataset are stored.
 *
 * What no chunk covers is fill, so a tool that copies a sparse dataset need not read it.
 * The coordinates are collected first: the caller's function may use the file. */
/* SPDX-License-Identifier: MIT */
#include "base/error.h"
#include "base/mem.h"
#include "base/vec.h"
#include "chunk/each.h"
#include "elem/dataset.h"

#include <datarep.h>
#include <string.h>

/* The stored chunks: coordinates of the first of each run, and how many follow in the row. */
struct starts {
    const drep_dataset *ds;
    size_t rank;  /* of the grid */
    uint64_t *at; /* rank + 1 numbers for each run */
    size_t n, room;
};

/* Notes the chunks of one record that lie inside the shape. */
static int note_record(const uint64_t *coord, const struct chunk_rec *rec, void *ctx)
{
    struct starts *s = ctx;
    uint64_t run = run_inside(&s->ds->rec, coord, rec), *at;

    if (run == 0)
        return 0;
    if (vec_room(&s->at, s->n, &s->room, 1, (s->rank + 1) * sizeof *s->at) != 0)
        return fail_nomem();
    at = s->at + s->n++ * (s->rank + 1);
    memcpy(at, coord, s->rank * sizeof *at);
    at[s->rank] = run;
    return 0;
}

/* Calls fn for each chunk of a run. */
static int call_run(const struct starts *s, const uint64_t *at, drep_chunk_fn *fn, void *ctx)
{
    const struct object_rec *r = &s->ds->rec;
    int64_t start[DREP_MAX_RANK] = {0};
    int err = 0;

    for (uint64_t i = 0; !err && i < at[s->rank]; i++) {
        for (size_t d = 0; d < s->rank; d++) {
            uint64_t step = r->layout == FMT_CONTIGUOUS ? r->slab : r->chunk[d];

            start[d] = (int64_t)((at[d] + (d + 1 == s->rank ? i : 0)) * step);
        }
        err = fn(start, ctx);
    }
    return err;
}

int drep_dataset_chunks(drep_dataset *dataset, drep_chunk_fn *fn, void *ctx)
{
    struct starts s = {.ds = dataset};
    int err;

    if (!fn)
        return fail(DREP_ERR_ARG, "drep_dataset_chunks: null argument");
    if ((err = dataset_check(dataset, "drep_dataset_chunks")) ||
        (err = read_begin_stored(dataset->file)))
        return err;
    if (dataset->rec.layout != FMT_CONTIGUOUS && dataset->rec.layout != FMT_CHUNKED)
        return read_end(dataset->file,
                        fail_object(DREP_ERR_KIND, dataset->path,
                                    "dataset \"%s\": it has no chunks", dataset->path));
    s.rank = (size_t)dataset->chunks.rank;
    err = chunk_each(&dataset->chunks, note_record, &s);
    if (err)
        err = fail_dataset(err, dataset->path);
    err = read_end(dataset->file, err);
    if (!err) {
        walk_begin(dataset->file);
        for (size_t i = 0; !err && i < s.n; i++)
            err = call_run(&s, s.at + i * (s.rank + 1), fn, ctx);
        walk_end();
    }
    mem_free(s.at);
    return err;
}
