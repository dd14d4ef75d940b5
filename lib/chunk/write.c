/* write.c - writing whole chunks: plain ones from memory, filtered ones, and pointers to other
 * files. */
/* SPDX-License-Identifier: MIT */
#include "chunk/write.h"

#include "base/error.h"
#include "base/mem.h"
#include "base/pool.h"
#include "chunk/edit.h"
#include "chunk/places.h"
#include "chunk/plan.h"
#include "chunk/work_state.h"

#include <string.h>

/* ---- plain chunks ---- */

static int write_plain(struct chunks *cs, const uint64_t *coords, uint64_t n, uint64_t size,
                       const void *buf)
{
    struct places p;
    int err = places_begin(&p, cs, coords, n, size);

    return places_end(&p, err ? err : places_write(&p, buf));
}

/* ---- filtered chunks ---- */

/* drep_chunk_max bounds a payload, because readers hold a decoded chunk in memory. */
int chunk_encode(struct work *w, const struct chunks *cs, const void *buf, uint64_t size,
                 struct span *out, uint32_t *skipped)
{
    uint64_t most = cs->st->opts.chunk_max;

    if (filter_is_hdf5(&cs->filter[0]) && size != cs->payload)
        return fail(DREP_ERR_FORMAT, "%llu bytes for filters of HDF5, a chunk has %llu (R8.58)",
                    (unsigned long long)size, (unsigned long long)cs->payload);
    if (size > (cs->payload > most ? cs->payload : most))
        return fail(DREP_ERR_LIMIT, "a filtered chunk of %llu bytes; drep_chunk_max is %llu",
                    (unsigned long long)size, (unsigned long long)most);
    return filters_encode(&w->codec, cs->filter, cs->nfilters, buf, (size_t)size,
                          (size_t)cs->payload, out, skipped);
}

int chunk_write_stored(struct chunks *cs, const uint64_t *coord, const struct buf *stored,
                       struct coding coding)
{
    struct store *st = cs->st;
    uint64_t offset = 0;
    int err = store_may_write(st);

    if (err)
        return err;
    chunk_forget(cs, coord);
    err =
        plan_filtered(cs, coord, stored->len, sum_stored(stored->p, stored->len), coding, &offset);
    return err ? err : st->io->ops->write_at(st->io, stored->p, stored->len, offset);
}

int chunk_point(struct chunks *cs, const uint64_t *coord, const struct chunk_rec *to)
{
    int err = store_may_write(cs->st);

    if (err)
        return err;
    chunk_forget(cs, coord);
    cs->external = cs->nfilters == 0;
    return plan_point(cs, coord, to);
}

/* Write one plain chunk in turn. */
static int write_turn_plain(struct chunks *cs, const uint64_t *coord, const void *buf,
                            uint64_t size, struct pool_turns *turns, int64_t i)
{
    int err;

    if (turns && pool_turn_wait(turns, i))
        return fail(DREP_ERR_STOPPED, "an earlier chunk failed");
    err = write_plain(cs, coord, 1, size, buf);
    if (turns)
        pool_turn_end(turns, i, err);
    return err;
}

int chunk_write_turn(struct work *w, struct chunks *cs, const uint64_t *coord, const void *buf,
                     uint64_t size, struct pool_turns *turns, int64_t i)
{
    struct store *st = cs->st;
    uint64_t sum = 0, offset = 0;
    uint32_t skipped = 0;
    struct span out = {0};
    int err;

    if (cs->nfilters == 0)
        return write_turn_plain(cs, coord, buf, size, turns, i);
    err = chunk_encode(w, cs, buf, size, &out, &skipped);
    if (!err)
        sum = sum_stored(out.p, out.len);
    if (!err && turns && pool_turn_wait(turns, i))
        return fail(DREP_ERR_STOPPED, "an earlier chunk failed");
    if (!err)
        err = plan_filtered(cs, coord, out.len, sum, (struct coding){skipped, 0}, &offset);
    if (turns)
        pool_turn_end(turns, i, err);
    return err ? err : st->io->ops->write_at(st->io, out.p, out.len, offset);
}

static int write_filtered(struct chunks *cs, const uint64_t *coord, const void *buf, uint64_t size)
{
    struct work *w = work_take(cs->st);
    int err;

    if (!w)
        return DREP_ERR_NOMEM;
    chunk_forget(cs, coord);
    err = chunk_write_turn(w, cs, coord, buf, size, NULL, 0);
    work_give(cs->st, w);
    return err;
}

int chunk_write(struct chunks *cs, const uint64_t *coord, uint64_t n, const void *buf,
                uint64_t size)
{
    uint64_t rank = (uint64_t)cs->rank, *coords;
    int err = store_may_write(cs->st);

    if (err)
        return err;
    if (cs->nfilters && n == 1)
        return write_filtered(cs, coord, buf, size);
    if (cs->nfilters || (cs->rank == 0 && n > 1))
        return fail(DREP_ERR_ARG, "%llu chunks in one write", (unsigned long long)n);
    if (n == 1) {
        chunk_forget(cs, coord);
        return write_plain(cs, coord, n, size, buf);
    }
    coords = mem_array(n, rank * sizeof(*coords));
    if (!coords)
        return DREP_ERR_NOMEM;
    for (uint64_t i = 0; i < n; i++) {
        memcpy(coords + i * rank, coord, (size_t)rank * sizeof(*coord));
        coords[i * rank + rank - 1] += i;
    }
    chunks_forget(cs, coords, n);
    err = write_plain(cs, coords, n, size, buf);
    mem_free(coords);
    return err;
}
