/* publish.c - the commit of one process: header and store. */
/* SPDX-License-Identifier: MIT */
#include "whole/publish.h"

#include "txn/commit.h"
#include "whole/append.h"

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
        if (!err)
            err = store_commit(f->st, header.p, header.len, split);
        buf_release(&header);
    }
    if (!err) {
        failures_clear(f);
        appends_go_on(f);
        f->hints.changed = false;
    }
    return err;
}
