/* unite_ranks.c - ranks exchange the elements of a compact dataset that they have written alone. */
/* SPDX-License-Identifier: MIT */
#include "par/unite.h"

#include "base/mem.h"
#include "elem/compact.h"
#include "par/marks.h"
#include "elem/payload.h"
#include "par/pieces.h"

/* The marks of this rank, and behind them its entry; nothing if it has none. */
static int put_own(drep_dataset *ds, struct buf *b)
{
    const struct marked *m = marks_find(ds);
    struct buf entry = {0};
    size_t fixed;
    int err;

    if (!m)
        return 0;
    err = buf_set(b, m->bit, (size_t)m->n / 8 + 1);
    if (!err)
        err = compact_load(ds, &entry, &fixed);
    if (!err)
        err = buf_add(b, entry.p, entry.len);
    buf_release(&entry);
    return err;
}

/* Rank 0: take what all have sent. */
static int take_messages(drep_dataset *ds, const struct buf *all, const uint64_t *at)
{
    int64_t n = dataset_count(ds), clash = -1;
    size_t bits = (size_t)n / 8 + 1;
    const struct marked *own = marks_find(ds);
    struct uniting u;
    int err = unite_begin(&u, ds), r;

    if (!err && own)
        err = unite_known(&u, 0, own->bit, own->n);
    for (r = 1; !err && r < ranks_of(ds->file)->team.size; r++) {
        size_t size = (size_t)(at[r + 1] - at[r]);

        if (size >= bits)
            err = unite_entry(&u, r, all->p + at[r], n, all->p + at[r] + bits, size - bits, &clash);
    }
    if (!err)
        err = unite_store(&u);
    if (clash >= 0)
        err = overlap_error(ds, 0, clash, (int)u.writer[clash] - 1, r - 1);
    unite_end(&u);
    return fail_dataset(err, ds->path);
}

int unite_ranks(drep_dataset *ds, const char *call)
{
    struct team *team = &ranks_of(ds->file)->team;
    struct team_call meeting = {.name = call};
    struct buf mine = {0}, all = {0};
    uint64_t *at = mem_array((uint64_t)team->size + 1, sizeof *at);
    size_t fixed;
    int err = at ? put_own(ds, &mine) : fail_nomem();

    err = err ? team_kill(team, err) : team_gather(team, mine.p, mine.len, &all, at);
    if (!err && team->rank == 0) {
        meeting.err = take_messages(ds, &all, at);
        if (!meeting.err)
            meeting.err = compact_load(ds, &mine, &fixed);
    }
    if (!err)
        err = team_agree(team, &meeting);
    if (!err)
        err = team_bcast(team, &mine);
    if (!err && team->rank > 0)
        meeting.err = compact_put(ds, &mine);
    if (!err)
        err = team_agree(team, &meeting);
    buf_release(&mine);
    buf_release(&all);
    mem_free(at);
    return err;
}
