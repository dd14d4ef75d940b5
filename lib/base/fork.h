/* fork.h - what a child process has to do with what it got from its parent.
 *
 * fork() copies the memory and one thread.  Locks that other threads held stay locked for ever in
 * the child, and what they guard may be half changed.  So locks are made anew there: of this
 * library's registries and pool at once, by hooks; of a handle when it is next used, which it
 * sees by a count of the forks that led to this process. */
/* SPDX-License-Identifier: MIT */
#ifndef BASE_FORK_H
#define BASE_FORK_H

#include <stdatomic.h>

extern atomic_uint fork_generation; /* changes in a child before fork() returns there */

static inline unsigned fork_count(void)
{
    return atomic_load_explicit(&fork_generation, memory_order_relaxed);
}

/* Identified by its address: static, and all zeros at first. */
struct fork_hook {
    void (*child)(void);
    atomic_int added;
    struct fork_hook *next;
};
void fork_watch_slow(struct fork_hook *hook, void (*child)(void));
/* Register child() to be called in each forked child before fork() returns there; it has one
 * thread then. Cheap when registered already, so it may be called before each use of a lock. */
static inline void fork_watch(struct fork_hook *hook, void (*child)(void))
{
    if (!atomic_load_explicit(&hook->added, memory_order_acquire))
        fork_watch_slow(hook, child);
}

#endif
