/* alone.c - what one rank may do alone with a dataset of a file that ranks share.
 *
 * Compact datasets are entries, like attributes: a rank changes them for itself, and marks what it
 * has changed (marks.h).  All others are written together. */
/* SPDX-License-Identifier: MIT */
#include "par/alone.h"

#include "conv/refs.h"
#include "par/ranks.h"

/* True if this rank has written to the dataset alone. */
static bool waits(const drep_dataset *ds)
{
    const struct pending *p = ranks_of(ds->file)->pending;

    while (p && p->object != ds->id)
        p = p->next;
    return p != NULL;
}

/* On rank 0 all that was written together is at hand. */
int alone_known(const drep_dataset *ds)
{
    const drep_file *f = ds->file;

    if (!f->st->private || !idset_find(&ranks_of(f)->written, ds->id))
        return 0;
    return fail(DREP_ERR_NOT_COMMITTED,
                "the ranks have written to it together since the last commit; until the next one "
                "rank %d can read it with .collective = 1 alone",
                ranks_of(f)->team.rank);
}

int alone_readable(const drep_dataset *ds)
{
    if (waits(ds))
        return fail(DREP_ERR_NOT_COMMITTED,
                    "rank %d has written to it alone; this call can read it after the next commit",
                    ranks_of(ds->file)->team.rank);
    return alone_known(ds);
}

/* Rank 0 gives ids that stay. */
int alone_refs(const drep_dataset *ds, const drep_selection *sel, const drep_type *type,
               const void *buf)
{
    const drep_type *mem = type ? type : ds->ft->type;
    int64_t count = sel ? sel->count : dataset_count(ds);
    uint64_t id;

    if (!ds->file->st->private || !buf || mem->items == 0)
        return 0;
    id = refs_greatest(mem, count * ds->ft->type->items / mem->items, buf);
    if (id < ranks_first_new(ds->file))
        return 0;
    return fail(DREP_ERR_NOT_COMMITTED,
                "a reference to object %llu, whose id is another one after the next commit",
                (unsigned long long)id);
}

int alone_writable(const drep_dataset *ds)
{
    if (ds->rec.layout == FMT_COMPACT)
        return 0;
    return fail(DREP_ERR_UNSUPPORTED_OPERATION,
                "a write by one of %d ranks; all of them write together, with .collective = 1",
                ranks_of(ds->file)->team.size);
}
