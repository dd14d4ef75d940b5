/* settle.c - at a commit: what single ranks have written comes together. */
/* SPDX-License-Identifier: MIT */
#include "par/settle.h"

#include "par/collective.h"
#include "par/pending.h"
#include "par/leases.h"
#include "format/block.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int by_id(const void *a, const void *b)
{
    uint64_t x = load_u64(a), y = load_u64(b);

    return (x > y) - (x < y);
}

int settle_waiting(drep_file *f, struct buf *ids)
{
    int err = pending_removed(f);

    for (const struct pending *p = ranks_of(f)->pending; !err && p; p = p->next) {
        uint8_t id[8];

        store_u64(id, p->object);
        err = buf_add(ids, id, sizeof id);
    }
    return err;
}

void settle_sort(struct buf *ids)
{
    size_t n = 0;

    if (ids->len <= 8)
        return;
    qsort(ids->p, ids->len / 8, 8, by_id);
    for (size_t i = 0; i < ids->len / 8; i++)
        if (i == 0 || by_id(ids->p + 8 * i, ids->p + 8 * (n - 1)) != 0)
            memmove(ids->p + 8 * n++, ids->p + 8 * i, 8);
    ids->len = 8 * n;
}

static int find_dataset(drep_file *f, uint64_t id, drep_dataset **ds)
{
    char name[40];

    snprintf(name, sizeof name, "object %llu", (unsigned long long)id);
    return dataset_get(f, id, name, ds);
}

/* Merge one dataset; the ranks must all know it.  A failure takes its elements back, or all that
 * the operation under way does. */
static int settle_dataset(drep_file *f, uint64_t id, drep_dataset *known, bool stays,
                          const char *call)
{
    struct team_call meeting = {.name = call};
    drep_dataset *ds = NULL;
    bool alone = !f->op.writing;

    meeting.err = known ? 0 : find_dataset(f, id, &ds);
    if (!meeting.err && alone && (meeting.err = operation_begin(f))) {
        dataset_put(ds);
        ds = NULL;
    }
    meeting.err = team_agree(&ranks_of(f)->team, &meeting);
    if (!meeting.err)
        meeting.err = collective_merge(known ? known : ds, call);
    if (!known && !ds)
        return meeting.err;
    if (alone)
        meeting.err = operation_end(f, meeting.err);
    if (stays) /* it must not come again, if the commit fails */
        meeting.err = team_agree(&ranks_of(f)->team, &meeting);
    if (stays && !meeting.err)
        pending_drop(known ? known : ds);
    dataset_put(ds);
    return meeting.err;
}

int settle_pending(drep_file *f, const char *call, const struct buf *ids,
                   drep_dataset *const *known, bool stays)
{
    int err = 0;

    for (size_t i = 0; !err && i < ids->len / 8; i++)
        err = settle_dataset(f, load_u64(ids->p + 8 * i), known ? known[i] : NULL, stays, call);
    return err;
}
