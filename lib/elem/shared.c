/* shared.c - what one rank may do alone with a dataset of a file that ranks share.
 *
 * Compact datasets are entries, like attributes: a rank changes them for itself, and the ranks
 * compare what they have at the commit.  All others are written together. */
/* SPDX-License-Identifier: MIT */
#include "elem/shared.h"

#include "file/ranks.h"

/* On rank 0 all that was written is at hand. */
int shared_readable(const drep_dataset *ds)
{
    const drep_file *f = ds->file;

    if (!file_shared(f) || !f->st->shadow || !idset_find(&f->ranks->written, ds->id))
        return 0;
    return fail(DREP_ERR_NOT_COMMITTED,
                "the ranks have written to it since the last commit; rank %d can read it after "
                "the next one",
                f->ranks->team.rank);
}

int shared_writable(const drep_dataset *ds)
{
    if (!file_shared(ds->file) || ds->rec.layout == FMT_COMPACT)
        return 0;
    return fail(DREP_ERR_UNSUPPORTED_OPERATION,
                "a write by one of %d ranks; all of them write together, with .collective = 1",
                ds->file->ranks->team.size);
}
