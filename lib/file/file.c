/* file.c - making and freeing the handle of a file. */
/* SPDX-License-Identifier: MIT */
#include "file/file.h"

#include "base/handle.h"
#include "base/mem.h"
#include "file/team.h"
#include "txn/open.h"

#include <assert.h>
#include <datarep.h>
#include <pthread.h>
#include <unistd.h>

/* Frees the files that links led to, and what tells how links led here. */
static void linked_release(drep_file *f)
{
    while (f->linked.first) {
        drep_file *g = f->linked.first;

        f->linked.first = g->linked.next;
        file_free(g);
    }
    if (f->linked.dir >= 0)
        close(f->linked.dir);
    mem_free(f->linked.url);
    mem_free(f->linked.name);
}

/* A handle of another process leaves the files and locks of that process alone, and where its
 * threads were inside, also the memory that they may have been changing. */
void file_free(drep_file *f)
{
    bool inherited;

    if (!f)
        return;
    handle_remove(f, HANDLE_FILE);
    inherited = file_inherited(f);
    if (inherited && f->inherit.busy) { /* nobody knows what else is whole */
        if (f->linked.dir >= 0)
            close(f->linked.dir);
        store_leave(f->st, 1);
        return;
    }
    linked_release(f);
    assert(!f->datasets.n && !f->datasets.spare);
    if (inherited)
        store_leave(f->st, 0);
    else if (f->st)
        store_close(f->st);
    ftypes_release(f);
    value_cache_release(&f->values);
    header_release(f);
    for (int i = 0; i < 2; i++)
        buf_release(&f->op.scratch[i]);
    while (f->header.old) {
        struct old_text *old = f->header.old;

        f->header.old = old->next;
        mem_free(old->text);
        mem_free(old);
    }
    file_leave_team(f, inherited, false);
    mem_free(f->path);
    pthread_mutex_destroy(&f->linked.lock);
    pthread_mutex_destroy(&f->datasets.lock);
    pthread_mutex_destroy(&f->paths.lock);
    pthread_mutex_destroy(&f->header.rows_lock);
    rwlock_release(&f->lock);
    mem_free(f);
}

int file_new(const char *path, int amode, const drep_info *info, drep_file **out)
{
    drep_file *f = mem_zalloc(1, sizeof *f);
    int err;

    if (!f)
        return fail_nomem();
    f->amode = amode;
    file_born(f);
    rwlock_init(&f->lock);
    pthread_mutex_init(&f->datasets.lock, NULL);
    pthread_mutex_init(&f->paths.lock, NULL);
    pthread_mutex_init(&f->header.rows_lock, NULL);
    pthread_mutex_init(&f->linked.lock, NULL);
    f->linked.dir = -1;
    f->path = mem_strdup(path);
    err = !f->path ? fail_nomem() : hints_init(&f->hints, info);
    if (!err)
        err = handle_add(f, HANDLE_FILE);
    f->linked.follow = !err && info_bool(f->hints.all, "drep_external");
    if (err) {
        file_free(f);
        return err;
    }
    *out = f;
    return 0;
}

int file_opened(drep_file *f)
{
    hints_note(f);
    /* The hint says what is in force: not every system has locks. */
    return store_locked(f->st) ? 0 : drep_info_set(f->hints.all, "drep_lock", "false");
}
