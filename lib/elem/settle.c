/* settle.c - at a commit: what single ranks have written comes together. */
/* SPDX-License-Identifier: MIT */
#include "elem/settle.h"

#include "base/mem.h"
#include "elem/collective.h"
#include "file/ranks.h"
#include "format/byteorder.h"

#include <stdio.h>
#include <stdlib.h>

static int by_id(const void *a, const void *b)
{
    uint64_t x = load_u64(a), y = load_u64(b);

    return (x > y) - (x < y);
}

/* The ids of all datasets that wait on some rank: ascending, on all ranks. */
static int waiting(struct ranks *r, struct buf *ids)
{
    uint64_t *offset = mem_array((uint64_t)r->team.size + 1, sizeof *offset);
    struct buf mine = {0};
    size_t n = 0;
    int err = offset ? 0 : fail_nomem();

    for (const struct pending *p = r->pending; !err && p; p = p->next) {
        uint8_t id[8];

        store_u64(id, p->object);
        err = buf_add(&mine, id, sizeof id);
    }
    err = err ? team_kill(&r->team, err) : team_gather(&r->team, mine.p, mine.len, ids, offset);
    if (!err && r->team.rank == 0 && ids->len > 8) {
        qsort(ids->p, ids->len / 8, 8, by_id);
        for (size_t i = 0; i < ids->len / 8; i++)
            if (i == 0 || by_id(ids->p + 8 * i, ids->p + 8 * (n - 1)) != 0)
                memmove(ids->p + 8 * n++, ids->p + 8 * i, 8);
        ids->len = 8 * n;
    }
    if (!err)
        err = team_bcast(&r->team, ids);
    buf_release(&mine);
    mem_free(offset);
    return err;
}

/* Merge one dataset; the ranks must all know it. */
static int merge(drep_file *f, uint64_t id, const char *call)
{
    struct team_call meeting = {.name = call};
    drep_dataset *ds = NULL;
    char name[40];

    snprintf(name, sizeof name, "object %llu", (unsigned long long)id);
    meeting.err = dataset_get(f, id, name, &ds);
    if (!meeting.err && (meeting.err = operation_begin(f)))
        dataset_put(ds);
    if (meeting.err)
        ds = NULL;
    meeting.err = team_agree(&f->ranks->team, &meeting);
    if (!meeting.err)
        meeting.err = collective_merge(ds, call);
    if (!ds)
        return meeting.err;
    meeting.err = operation_end(f, meeting.err);
    dataset_put(ds);
    return meeting.err;
}

int settle_pending(drep_file *f, const char *call, int err)
{
    struct team_call meeting = {.name = call, .err = err};
    struct buf ids = {0};

    err = team_agree(&f->ranks->team, &meeting);
    if (!err)
        err = waiting(f->ranks, &ids);
    for (size_t i = 0; !err && i < ids.len; i += 8)
        err = merge(f, load_u64(ids.p + i), call);
    buf_release(&ids);
    return err;
}
