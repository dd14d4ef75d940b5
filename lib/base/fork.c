/* fork.c - what a child process has to do with what it got from its parent.
 *
 * One handler is installed in the process, at the first use of anything that needs it.  It runs
 * in the child alone: the parent's fork() never waits for locks of this library, which threads
 * may hold for as long as a user's function runs. */
/* SPDX-License-Identifier: MIT */
#include "base/fork.h"

#include "base/rwlock.h"

#include <pthread.h>
#include <stddef.h>

atomic_uint fork_generation;

static struct {
    pthread_mutex_t lock; /* held to add; readers follow the list without it */
    struct fork_hook *_Atomic first;
} hooks = {PTHREAD_MUTEX_INITIALIZER, NULL};

/* Make everything usable again in the child, whose only thread this is: no lock is held or needed.
 * A call that the thread was inside of does not continue here, so it holds no file's lock. */
static void in_child(void)
{
    pthread_mutex_init(&hooks.lock, NULL);
    atomic_fetch_add(&fork_generation, 1);
    rw_holds_set(NULL);
    for (struct fork_hook *h = atomic_load(&hooks.first); h; h = h->next)
        h->child();
}

static void install(void)
{
    pthread_atfork(NULL, NULL, in_child);
}

void fork_watch_slow(struct fork_hook *hook, void (*child)(void))
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;

    pthread_once(&once, install);
    pthread_mutex_lock(&hooks.lock);
    if (!atomic_load(&hook->added)) {
        hook->child = child;
        hook->next = atomic_load(&hooks.first);
        atomic_store(&hooks.first, hook);
        atomic_store_explicit(&hook->added, 1, memory_order_release);
    }
    pthread_mutex_unlock(&hooks.lock);
}
