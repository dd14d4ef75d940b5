/* lend.c - rank 0 lends the others the records of what all have written together. */
/* SPDX-License-Identifier: MIT */
#include "par/lend.h"

#include "base/mem.h"
#include "chunk/lent.h"
#include "format/byteorder.h"

enum { RANGE = 16 }; /* a first chunk and how many */

/* Appends the chunks that this rank is to read, as ranges of their numbers. */
static int ask_ranges(const struct shares *wanted, int rank, struct buf *b)
{
    int64_t first = 0, n = 0;
    uint8_t range[RANGE];
    int err = 0;

    for (size_t i = 0; !err && i <= wanted->n; i++) {
        const struct share *s = i < wanted->n ? &wanted->share[i] : NULL;

        if (s && s->ranks > 0 && s->owner != rank)
            continue;
        if (s && n > 0 && s->chunk == first + n) {
            n++;
            continue;
        }
        store_u64(range, (uint64_t)first);
        store_u64(range + 8, (uint64_t)n);
        if (n > 0)
            err = buf_add(b, range, RANGE);
        first = s ? s->chunk : 0;
        n = 1;
    }
    return err;
}

/* Rank 0: append the records of a range, row by row of the grid. */
static int lend_range(drep_dataset *ds, int64_t first, int64_t n, struct buf *all)
{
    uint64_t coord[DREP_MAX_RANK + 1], row = row_chunks(&ds->rec);
    int64_t chunks = chunks_in_grid(&ds->rec), now;
    int err = 0;

    if (first < 0 || n < 1 || first >= chunks || n > chunks - first)
        return fail(DREP_ERR_IO, "a broken message");
    for (; !err && n > 0; n -= now, first += now) {
        now = (int64_t)(row - (uint64_t)first % row);
        now = now < n ? now : n;
        chunk_coord(&ds->rec, first, coord);
        err = chunks_lend(&ds->chunks, coord, (uint64_t)now, all);
    }
    return err;
}

/* Rank 0: append the records for each rank, in the order of ranks. */
static int lend_records(drep_dataset *ds, int ranks, const struct buf *asked, const uint64_t *from,
                        struct buf *all, uint64_t *to)
{
    int err = 0;

    for (int r = 0; r < ranks; r++) {
        to[r] = all->len;
        for (uint64_t at = from[r]; r > 0 && !err && at < from[r + 1]; at += RANGE)
            err = lend_range(ds, (int64_t)load_u64(asked->p + at),
                             (int64_t)load_u64(asked->p + at + 8), all);
    }
    to[ranks] = all->len;
    return err;
}

int records_lend(struct team *team, drep_dataset *ds, const struct shares *wanted, struct buf *room,
                 int err)
{
    uint64_t *from = mem_array((uint64_t)team->size + 1, sizeof *from);
    uint64_t *to = mem_array((uint64_t)team->size + 1, sizeof *to);
    struct buf mine = {0}, asked = {0}, all = {0};
    int failed = from && to ? 0 : team_kill(team, fail_nomem());

    if (!failed && !err && team->rank > 0)
        err = ask_ranges(wanted, team->rank, &mine);
    if (!failed)
        failed = team_gather(team, mine.p, err ? 0 : mine.len, &asked, from);
    if (!failed && team->rank == 0) {
        int lost = lend_records(ds, team->size, &asked, from, &all, to);

        err = err ? err : lost;
    }
    if (!failed)
        failed = team_scatter(team, all.p, to, room);
    if (!failed && !err && team->rank > 0)
        err = fail_in(chunks_borrow(&ds->chunks, room), "rank 0");
    buf_release(&mine);
    buf_release(&asked);
    buf_release(&all);
    mem_free(from);
    mem_free(to);
    return failed ? failed : err;
}

void records_return(drep_dataset *ds)
{
    chunks_unborrow(&ds->chunks);
}
