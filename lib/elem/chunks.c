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

/* First elements of the stored chunks. */
struct starts {
    const drep_dataset *ds;
    int rank;    /* of the grid */
    int64_t *at; /* rank coordinates of elements for each chunk */
    size_t n, room;
};

static int starts_add(struct starts *s, const uint64_t *coord, uint64_t run)
{
    const struct object_rec *r = &s->ds->rec;
    size_t rank = (size_t)s->rank;

    if (vec_room(&s->at, s->n, &s->room, 1, rank * sizeof *s->at) != 0)
        return fail_nomem();
    for (size_t d = 0; d < rank; d++) {
        uint64_t c = coord[d] + (d + 1 == rank ? run : 0);
        uint64_t step = r->layout == FMT_CONTIGUOUS ? r->slab : r->chunk[d];

        s->at[s->n * rank + d] = (int64_t)(c * step);
    }
    s->n++;
    return 0;
}

/* Notes the chunks of one record that lie inside the shape. */
static int note_record(const uint64_t *coord, const struct chunk_rec *rec, void *ctx)
{
    struct starts *s = ctx;
    uint64_t run = run_inside(&s->ds->rec, coord, rec);
    int err = 0;

    for (uint64_t i = 0; !err && i < run; i++)
        err = starts_add(s, coord, i);
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
                        fail(DREP_ERR_KIND, "dataset \"%s\": it has no chunks", dataset->path));
    s.rank = dataset->chunks.rank;
    err = chunk_each(&dataset->chunks, note_record, &s);
    if (err)
        err = fail_in(err, "dataset \"%s\"", dataset->path);
    err = read_end(dataset->file, err);
    if (!err) {
        walk_begin(dataset->file);
        for (size_t i = 0; !err && i < s.n; i++)
            err = fn(s.at + i * (size_t)s.rank, ctx);
        walk_end();
    }
    mem_free(s.at);
    return err;
}
