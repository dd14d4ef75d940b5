/* commits.c - what is in a commit and what is not: commit, close, refresh, log.
 *
 * A reader stays on the commit that it opened until drep_refresh(); a writer's changes count from
 * drep_commit() on, which drep_close() calls.  Calls that failed have left nothing, so that it
 * commits those that succeeded, and gives the first failure afterwards. */
/* SPDX-License-Identifier: MIT */
#include "base/error.h"
#include "base/handle.h"
#include "base/rwlock.h"
#include "elem/dataset.h"
#include "file/team.h"
#include "space/slots.h"
#include "txn/commit.h"
#include "txn/log.h"
#include "txn/open.h"
#include "txn/snapshot.h"
#include "whole/close.h"
#include "whole/publish.h"
#include "whole/reload.h"

#include <datarep.h>

/* ---- commit and close ---- */

int drep_commit(drep_file *file)
{
    int err = file_check(file);

    if (err)
        return file ? err : team_refuse("drep_commit", false, err);
    if (file_shared(file))
        return file->team->ops->commit(file);
    err = change_begin(file);
    return err ? err : commit_end(file, file_commit(file));
}

/* Commits what succeeded.  The commit forgets the failures before it, so the first one is copied:
 * a close that committed the rest still returns what a call before it could not do. */
static int close_writer(drep_file *f)
{
    struct failure first = f->op.failure;
    int err = 0;

    if (failure_abandons(f))
        return failure_repeat(&first, false);
    if (store_dirty(f->st) || f->hints.changed || f->tails.first) {
        err = change_begin(f);
        if (!err) {
            err = fail_in(file_commit(f), "%s", f->path);
            alone_end(f);
        }
    }
    return err || !first.operation ? err : failure_repeat(&first, true);
}

int drep_close(drep_file *file)
{
    int err;

    if (!file)
        return 0;
    if ((err = close_check(file)))
        return err;
    /* A child process has the handle, but neither the lock nor the messages of the other ranks. */
    if (file_shared(file) && !file_inherited(file)) {
        err = file->team->ops->close(file);
    } else if (file_inherited(file)) {
        if (store_writable(file->st))
            err = fail(
                DREP_ERR_FILE_IN_USE,
                "%s: not committed: only the process that opened the handle can write through it",
                file->path);
    } else if (store_writable(file->st)) {
        err = close_writer(file);
    }
    file_end(file);
    return err;
}

void drep_abandon(drep_file *file)
{
    if (file && close_check(file) == 0) {
        if (file->team)
            file->team->left = true;
        file_end(file);
    }
}

/* ---- other commits ---- */

/* A failing refresh leaves the reader where it was. */
static int refresh(drep_file *f)
{
    struct snapshot old;
    int moved = 0, err = store_refresh(f->st, &old, &moved);

    if (err || !moved)
        return err;
    err = store_stale(f->st, file_reload(f));
    store_refresh_end(f->st, &old, !err);
    return err;
}

/* A refresh may wait for readers, who may need the lock of the list: it is not held. */
static int refresh_linked(drep_file *f)
{
    int err = 0;

    for (drep_file *g = linked_first(f); !err && g; g = g->linked.next)
        err = drep_refresh(g);
    return err;
}

int drep_refresh(drep_file *file)
{
    int tries = 0, err = alone_begin(file);

    if (err)
        return err;
    if ((err = shared_refuses(file, "drep_refresh"))) {
        alone_end(file);
        return err;
    }
    paths_clear(file);
    /* Without locks a writer may be faster. */
    do
        err = refresh(file);
    while (err == DREP_ERR_STALE && ++tries < 4);
    alone_end(file);
    if (!err)
        err = refresh_linked(file);
    return fail_in(err, "%s", file->path);
}

int drep_log(drep_file *file, drep_log_fn *fn, void *ctx)
{
    struct log_list list = {0};
    int err, theirs = 0;

    if (!fn)
        return fail(DREP_ERR_ARG, "drep_log: null argument");
    if ((err = alone_begin(file)))
        return err;
    if (!(err = shared_refuses(file, "drep_log")))
        err = fail_in(store_stale(file->st, store_log(file->st, &list)), "%s", file->path);
    alone_end(file);
    walk_begin(file);
    for (size_t i = 0; !err && theirs == 0 && i < list.n; i++)
        theirs = fn(&list.commit[i], ctx);
    walk_end();
    log_list_release(&list);
    return theirs != 0 ? theirs : err;
}
