/* publish.c - the commit of one process: header and store. */
/* SPDX-License-Identifier: MIT */
#include "whole/publish.h"

#include "base/rwlock.h"
#include "txn/commit.h"

/* While the commit waits for the disk, readers go on. */
static void commit_waits(void *ctx, int waits)
{
    drep_file *f = ctx;

    if (waits)
        rwlock_share(&f->lock);
    else
        rwlock_unshare(&f->lock);
}

/* What a handle would write into the header (its version, rows of representations) counts with a
 * change and is none by itself.  After a commit the failures before it do not count any more: their
 * operations were taken back. */
int file_commit(drep_file *f)
{
    struct buf header = {0};
    size_t split = 0;
    int err = store_may_write(f->st);

    if (!err && (f->hints.changed || !store_unchanged(f->st))) {
        err = header_build(f, &header, &split);
        store_set_wait(f->st, commit_waits, f);
        if (!err)
            err = store_commit(f->st, header.p, header.len, split);
        buf_release(&header);
    }
    if (!err) {
        failures_clear(f);
        f->hints.changed = false;
    }
    return err;
}
