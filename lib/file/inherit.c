/* inherit.c - handles that came to this process by fork(). */
/* SPDX-License-Identifier: MIT */
#include "file/inherit.h"

#include "base/error.h"
#include "base/fork.h"
#include "base/rwlock.h"
#include "file/team.h"
#include "txn/open.h"

#include <pthread.h>
#include <stdatomic.h>

/* Two threads of the child may meet the same handle. */
static pthread_mutex_t adopting = PTHREAD_MUTEX_INITIALIZER;

/* The lock may have been held when the process was forked. */
static void renew(void)
{
    pthread_mutex_init(&adopting, NULL);
}

static struct fork_hook hook;

void file_born(drep_file *f)
{
    fork_watch(&hook, renew);
    atomic_init(&f->inherit.forks, fork_count());
}

/* Makes a lock new; true if some thread of the parent held it. */
static bool renew_lock(pthread_mutex_t *lock)
{
    bool held = pthread_mutex_trylock(lock) != 0;

    if (!held)
        pthread_mutex_unlock(lock);
    pthread_mutex_init(lock, NULL);
    return held;
}

/* Makes all locks of the handle new and notes what their state says: lists that were changing
 * cannot be trusted, and threads inside leave memory that is not freed. */
static void renew_locks(drep_file *f)
{
    enum rw_use use = rwlock_renew(&f->lock);
    bool lists = renew_lock(&f->datasets.lock);

    lists = renew_lock(&f->linked.lock) || lists;
    lists = renew_lock(&f->header.rows_lock) || lists;
    paths_clear(f);
    f->inherit.busy = renew_lock(&f->paths.lock) || lists || use != RW_IDLE || f->inherit.busy;
    f->inherit.torn = lists || use == RW_WRITTEN || f->inherit.torn;
}

static int refuse(const drep_file *f)
{
    if (f->inherit.lost == DREP_ERR_FILE_IN_USE)
        return fail(f->inherit.lost,
                    "%s: only the process that opened the handle can "
                    "write through it",
                    f->path);
    return fail(f->inherit.lost,
                "%s: the handle was changing when the process was forked; open the file "
                "again",
                f->path);
}

void file_move(drep_file *f, struct store *st)
{
    f->st = st;
    hints_allow_targets(f, f->linked.dir);
    for (size_t i = 0; i < OPEN_BUCKETS; i++)
        for (struct open_dataset *d = f->datasets.bucket[i]; d; d = d->next) {
            d->chunks->st = st;
            d->verified = false;
        }
}

/* Opens the reader's commit anew and moves open datasets there with the file. */
static int take_over(drep_file *f)
{
    struct store *st;
    int err = store_child(f->st, f->inherit.busy, &st);

    if (err)
        return fail_in(err, "%s", f->path);
    /* The other ranks' messages go to the parent: here the file is one process's. */
    file_leave_team(f, true, f->inherit.busy);
    file_move(f, st);
    return 0;
}

int file_here_slow(drep_file *f)
{
    int err = 0;

    if (atomic_load_explicit(&f->inherit.forks, memory_order_acquire) == fork_count())
        return refuse(f);
    pthread_mutex_lock(&adopting);
    if (atomic_load(&f->inherit.forks) != fork_count()) {
        renew_locks(f);
        if (f->inherit.lost == 0 && store_writable(f->st))
            f->inherit.lost = DREP_ERR_FILE_IN_USE;
        else if (f->inherit.lost == 0 && f->inherit.torn)
            f->inherit.lost = DREP_ERR_STALE;
        else if (f->inherit.lost == 0)
            err = take_over(f);
        if (!err)
            atomic_store_explicit(&f->inherit.forks, fork_count(), memory_order_release);
    }
    pthread_mutex_unlock(&adopting);
    return !err && f->inherit.lost != 0 ? refuse(f) : err;
}

/* Calls that give something back need the lists only; a handle that is lost keeps them. */
int file_settle(drep_file *f)
{
    struct fail_state before;
    int err;

    if (file_is_here(f))
        return 0;
    fail_save(&before);
    err = file_here_slow(f);
    if (err && !f->inherit.torn) {
        fail_restore(&before);
        err = 0;
    }
    return err;
}

bool file_inherited(drep_file *f)
{
    bool old;

    pthread_mutex_lock(&adopting);
    old = atomic_load(&f->inherit.forks) != fork_count();
    if (old)
        renew_locks(f);
    pthread_mutex_unlock(&adopting);
    return old || f->inherit.lost != 0;
}
