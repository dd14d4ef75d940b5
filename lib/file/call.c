/* call.c - the begin and the end of every call that uses a file. */
/* SPDX-License-Identifier: MIT */
#include "file/call.h"

#include "base/advance.h"
#include "base/handle.h"
#include "base/rwlock.h"
#include "file/file.h"
#include "file/team.h"
#include "chunk/packed.h"
#include "space/slots.h"
#include "txn/op.h"
#include "txn/writeback.h"

#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

int file_closed(void)
{
    return fail(DREP_ERR_ARG, "the file is closed");
}

/* The handle is looked up in the list of open ones first, so that a closed one is recognised
 * without touching its memory. */
int file_check(const drep_file *f)
{
    if (!f)
        return fail(DREP_ERR_ARG, "no file");
    return handle_is(f, HANDLE_FILE) ? file_here(f) : file_closed();
}

int close_check(const drep_file *f)
{
    if (!handle_is(f, HANDLE_FILE))
        return file_closed();
    if (rwlock_mine(&f->lock, true))
        return fail(DREP_ERR_ARG, "%s: closed inside a call with the same file", f->path);
    return 0;
}

/* Keeps the first failure since the last commit, with its message, for drep_close().  One after
 * which nothing can be committed takes the place of those before it. */
static void note_failure(drep_file *f, int err, bool operation)
{
    struct failure *first = &f->op.failure;
    bool refuses = f->st->failed != NULL;

    first->operation |= operation;
    if (first->err && (first->refuses || !refuses))
        return;
    first->err = err;
    first->refuses = refuses;
    fail_save(&first->message);
}

void failures_clear(drep_file *f)
{
    f->op.failure.err = 0;
    f->op.failure.operation = f->op.failure.refuses = false;
}

bool failure_abandons(const drep_file *f)
{
    const struct failure *first = &f->op.failure;

    return first->err && (first->refuses || info_has(f->hints.all, "drep_close", "abandon"));
}

int failure_repeat(const struct failure *first, bool committed)
{
    struct fail_state s = first->message;
    size_t n = strlen(s.text);

    if (!first->err)
        return 0;
    snprintf(s.text + n, sizeof s.text - n, "; %s",
             committed ? "what succeeded was committed" : "nothing since the last commit was kept");
    fail_restore(&s);
    return first->err;
}

/* Writes the rows that wait, before a call that may look at them. */
static int settle_tails(drep_file *f)
{
    int err;

    if (!f->tails.first)
        return 0;
    advance_pause();
    err = f->tails.settle(f);
    advance_resume();
    /* Unless the handle refuses now, the rows go on waiting: nothing is lost yet. */
    if (fail_in(err, "%s", f->path))
        note_failure(f, err, f->st->failed != NULL);
    return err;
}

/* Rows that wait are written by the lock alone; then the call goes on as a reader without letting
 * a writer in between. */
static int read_after_tails(drep_file *f)
{
    int err;

    rwlock_read_done(&f->lock);
    if ((err = alone_begin(f)))
        return err;
    if ((err = settle_tails(f)))
        alone_end(f);
    else
        rwlock_write_to_read(&f->lock);
    return err;
}

int read_begin_waiting(drep_file *f)
{
    int err = file_check(f);

    return err ? err : fail_in(rwlock_read(&f->lock), "%s", f->path);
}

/* Nobody can append while a reader is inside, so that reads inside a read find nothing waiting. */
int read_begin(drep_file *f)
{
    int err = read_begin_waiting(f);

    return err || !f->tails.first ? err : read_after_tails(f);
}

/* Settles what waits in memory, which needs the lock alone, and then goes on as a reader without
 * letting a writer in between. */
int read_begin_stored(drep_file *f)
{
    int err = read_begin(f);

    if (err || !writeback_waits(f->st))
        return err;
    rwlock_read_done(&f->lock);
    if ((err = alone_begin(f)))
        return err;
    err = fail_in(writeback_all(f->st, 0), "%s", f->path);
    if (err)
        alone_end(f);
    else
        rwlock_write_to_read(&f->lock);
    return err;
}

/* A reader whose commit was overwritten meanwhile gets DREP_ERR_STALE in place of what it made of
 * the bytes. */
int read_done(drep_file *f, int err)
{
    err = store_stale(f->st, err);
    rwlock_read_done(&f->lock);
    return err;
}

int read_end(drep_file *f, int err)
{
    return fail_in(read_done(f, err), "%s", f->path);
}

/* Take the lock alone.  The store knows from the first such call on which lock guards it. */
static int lock_alone(drep_file *f)
{
    int err = rwlock_write(&f->lock);

    if (!err)
        f->st->guard = &f->lock;
    return fail_in(err, "%s", f->path);
}

int alone_begin(drep_file *f)
{
    int err = file_check(f);

    return err ? err : lock_alone(f);
}

void alone_end(drep_file *f)
{
    rwlock_write_done(&f->lock);
}

void walk_begin(drep_file *f)
{
    rwlock_walk(&f->lock);
}

void walk_end(void)
{
    rwlock_walk_done();
}

/* Refuses handles that read, and those of ranks that cannot commit any more. */
static int may_write(const drep_file *f)
{
    if (!store_writable(f->st))
        return fail(DREP_ERR_READ_ONLY, "%s: opened read-only", f->path);
    return fail_in(file_may(f, NULL, TEAM_CHANGE), "%s", f->path);
}

/* Notes what the handle keeps beside the store, for take_back(): the list of types and the codes in
 * use. */
int operation_begin(drep_file *f)
{
    int err = store_op_begin(f->st);

    if (err)
        return err;
    f->types.before = atomic_load(&f->types.list);
    reps_note(f);
    f->op.writing = true;
    return 0;
}

int write_begin(drep_file *f)
{
    int err = change_begin(f);

    if (err || !(err = operation_begin(f)))
        return err;
    alone_end(f);
    return fail_in(err, "%s", f->path);
}

bool write_refused(int err)
{
    switch (err) {
    case DREP_ERR_ARG:
    case DREP_ERR_AMODE:
    case DREP_ERR_READ_ONLY:
    case DREP_ERR_UNSUPPORTED:
    case DREP_ERR_UNSUPPORTED_DATAREP:
    case DREP_ERR_UNSUPPORTED_OPERATION:
    case DREP_ERR_VALUE_TOO_LARGE:
    case DREP_ERR_TYPE:
    case DREP_ERR_COUNT:
    case DREP_ERR_DIMS:
    case DREP_ERR_RANGE:
    case DREP_ERR_NOT_FOUND:
    case DREP_ERR_EXISTS:
    case DREP_ERR_KIND:
    case DREP_ERR_NAME:
    case DREP_ERR_LIMIT:
    case DREP_ERR_BUFFER:
    case DREP_ERR_NOT_COMMITTED:
        return true;
    default:
        return false;
    }
}

/* Takes the operation back: the store undoes its changes, the handle forgets what it learned from
 * them. The message of the failure stays. */
static void take_back(drep_file *f)
{
    struct fail_state why;

    fail_save(&why);
    store_op_end(f->st, 0);
    paths_clear(f);
    ftypes_take_back(f);
    reps_take_back(f);
    fail_restore(&why);
}

int append_begin(drep_file *f)
{
    int err = may_write(f);

    if (err || (err = lock_alone(f)))
        return err;
    if (!(err = store_may_write(f->st)))
        return 0;
    alone_end(f);
    return fail_in(err, "%s", f->path);
}

int operation_done(drep_file *f, int err)
{
    if (fail_in(err, "%s", f->path) && !write_refused(err))
        note_failure(f, err, true);
    alone_end(f);
    return err;
}

int change_begin(drep_file *f)
{
    int err = file_check(f);

    if (!err)
        err = may_write(f);
    if (err || (err = alone_begin(f)))
        return err;
    if ((err = settle_tails(f)))
        alone_end(f);
    return err;
}

static int changed(drep_file *f, int err, bool operation)
{
    if (fail_in(err, "%s", f->path))
        note_failure(f, err, operation);
    alone_end(f);
    return err;
}

int change_end(drep_file *f, int err)
{
    return changed(f, err, true);
}

int commit_end(drep_file *f, int err)
{
    return changed(f, err, false);
}

/* Ends the operation. Ending it may fail as well; then the store has taken it back. */
int operation_end(drep_file *f, int err)
{
    if (!err)
        err = packed_flush(f->st, 0);
    if (!err)
        err = store_op_end(f->st, 1);
    else
        take_back(f);
    f->op.writing = false;
    return err;
}

int write_finish(drep_file *f, int err, bool counts)
{
    err = operation_end(f, err);
    if (fail_in(err, "%s", f->path) && counts)
        note_failure(f, err, true);
    alone_end(f);
    return err;
}

int write_end(drep_file *f, int err)
{
    return write_finish(f, err, !write_refused(err));
}
