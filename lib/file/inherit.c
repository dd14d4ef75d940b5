/* inherit.c - handles that came to this process by fork().
 *
 * Locks of files belong to open file descriptions, which a child shares with its parent: it can
 * neither hold one of its own through them nor give one up without taking it from the parent.  So
 * a handle that writes stays with the process that opened it.  One that reads gets a description
 * and a lock of its own at its first use, on the same commit, and a new store: what other threads
 * of the parent were doing in the old one at the time of the fork never ends here. */
#include "file/data.h"

/* Two threads of the child may meet the same handle. */
static pthread_mutex_t adopting = PTHREAD_MUTEX_INITIALIZER;

static void renew(void)
{
    pthread_mutex_init(&adopting, NULL);
}

static struct fork_hook hook;

void file_born(drep_file *f)
{
    fork_watch(&hook, renew);
    atomic_init(&f->forks, fork_count());
}

/* True if some thread held it when the process was forked; then it is new. */
static bool renew_lock(pthread_mutex_t *lock)
{
    bool held = pthread_mutex_trylock(lock) != 0;

    if (!held)
        pthread_mutex_unlock(lock);
    pthread_mutex_init(lock, NULL);
    return held;
}

/* The locks, and what can be said of what they guard. */
static void renew_locks(drep_file *f)
{
    enum rw_use use = rwlock_renew(&f->lock);
    bool lists = renew_lock(&f->type_lock);

    lists = renew_lock(&f->others_lock) || lists;
    f->last_path.id = f->last_group.id = 0;
    f->busy = renew_lock(&f->path_lock) || lists || use != RW_IDLE || f->busy;
    f->torn = lists || use == RW_WRITTEN || f->torn;
}

static int refuse(const drep_file *f)
{
    if (f->lost == DREP_ERR_FILE_IN_USE)
        return fail(f->lost,
                    "%s: only the process that opened the handle can "
                    "write through it",
                    f->path);
    return fail(f->lost,
                "%s: the handle was changing when the process was forked; open the file "
                "again",
                f->path);
}

/* Open datasets go to the new store with the file. */
static int take_over(drep_file *f)
{
    struct store *st;
    int err = store_child(f->st, f->busy, &st);

    if (err != 0)
        return fail_in(err, "%s", f->path);
    f->st = st;
    for (drep_dataset *ds = f->open; ds != NULL; ds = ds->next) {
        ds->chunks.st = st;
        ds->verified = false;
    }
    return 0;
}

int file_here_slow(drep_file *f)
{
    int err = 0;

    if (atomic_load_explicit(&f->forks, memory_order_acquire) == fork_count())
        return refuse(f);
    pthread_mutex_lock(&adopting);
    if (atomic_load(&f->forks) != fork_count()) {
        renew_locks(f);
        if (f->lost == 0 && store_writable(f->st))
            f->lost = DREP_ERR_FILE_IN_USE;
        else if (f->lost == 0 && f->torn)
            f->lost = DREP_ERR_STALE;
        else if (f->lost == 0)
            err = take_over(f);
        if (err == 0)
            atomic_store_explicit(&f->forks, fork_count(), memory_order_release);
    }
    pthread_mutex_unlock(&adopting);
    return err == 0 && f->lost != 0 ? refuse(f) : err;
}

int file_settle(drep_file *f)
{
    struct fail_state before;
    int err;

    if (atomic_load_explicit(&f->forks, memory_order_acquire) == fork_count() && f->lost == 0)
        return 0;
    fail_save(&before);
    err = file_here_slow(f);
    if (err != 0 && !f->torn) {
        fail_restore(&before);
        err = 0;
    }
    return err;
}

bool file_inherited(drep_file *f)
{
    bool old;

    pthread_mutex_lock(&adopting);
    old = atomic_load(&f->forks) != fork_count();
    if (old)
        renew_locks(f);
    pthread_mutex_unlock(&adopting);
    return old || f->lost != 0;
}
