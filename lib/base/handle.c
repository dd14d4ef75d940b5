/* handle.c - a hash table of addresses, read without a lock.
 *
 * Writers hold the lock and make `version` odd while they move entries.  A reader that finds
 * its address is done; one that does not looks again if the version has changed meanwhile.
 * A table that became too small is kept, because a reader may still be in it: all the old
 * ones together are smaller than the newest. */
/* SPDX-License-Identifier: MIT */
#include "base/handle.h"

#include "base/error.h"
#include "base/mem.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>

struct handle_table {
    struct handle_table *older;
    size_t size;             /* a power of two */
    _Atomic uintptr_t *slot; /* an address with its kind; 0: free */
};

enum { FIRST_SIZE = 128 };
static _Atomic uintptr_t first_slots[FIRST_SIZE];
static struct handle_table first_table = {NULL, FIRST_SIZE, first_slots};

static struct {
    pthread_mutex_t lock; /* of those who change it */
    _Atomic(struct handle_table *) table;
    atomic_uint version; /* odd: entries are being moved */
    size_t n;
} handles = {PTHREAD_MUTEX_INITIALIZER, &first_table, 0, 0};

static size_t home(const struct handle_table *t, uintptr_t entry)
{
    return (size_t)(((uint64_t)entry * UINT64_C(0x9e3779b97f4a7c15)) >> 32) & (t->size - 1);
}

/* The slot of the entry, or the free one where the search for it ends. */
static size_t seek(const struct handle_table *t, uintptr_t entry)
{
    size_t i = home(t, entry);
    uintptr_t at;

    while ((at = atomic_load_explicit(&t->slot[i], memory_order_acquire)) != 0 && at != entry)
        i = (i + 1) & (t->size - 1);
    return i;
}

static uintptr_t entry_of(const void *handle, enum handle_kind kind)
{
    return (uintptr_t)handle | (uintptr_t)kind;
}

/* A child that is forked has the table whole, and its lock free. */
static void fork_begin(void)
{
    pthread_mutex_lock(&handles.lock);
}

static void fork_end(void)
{
    pthread_mutex_unlock(&handles.lock);
}

static void watch_fork(void)
{
    pthread_atfork(fork_begin, fork_end, fork_end);
}

/* At most half of the slots are taken, so that every search ends. */
static int make_room(void)
{
    struct handle_table *old = atomic_load(&handles.table), *t;

    if (2 * (handles.n + 1) <= old->size)
        return 0;
    t = mem_zalloc(1, sizeof *t);
    if (t)
        t->slot = mem_zalloc(2 * old->size, sizeof *t->slot);
    if (!t || !t->slot) {
        mem_free(t);
        return DREP_ERR_NOMEM;
    }
    t->size = 2 * old->size;
    t->older = old;
    for (size_t i = 0; i < old->size; i++) {
        uintptr_t entry = atomic_load(&old->slot[i]);

        if (entry != 0)
            atomic_store(&t->slot[seek(t, entry)], entry);
    }
    atomic_store(&handles.table, t);
    return 0;
}

int handle_add(const void *handle, enum handle_kind kind)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    uintptr_t entry = entry_of(handle, kind);
    int err;

    pthread_once(&once, watch_fork);
    pthread_mutex_lock(&handles.lock);
    err = make_room();
    if (!err) {
        struct handle_table *t = atomic_load(&handles.table);

        atomic_store(&t->slot[seek(t, entry)], entry);
        handles.n++;
    }
    pthread_mutex_unlock(&handles.lock);
    return err;
}

/* Frees slot i; entries behind it move up, so that no search ends too early. */
static void close_gap(struct handle_table *t, size_t i)
{
    uintptr_t entry;

    atomic_fetch_add(&handles.version, 1);
    for (size_t k = (i + 1) & (t->size - 1); (entry = atomic_load(&t->slot[k])) != 0;
         k = (k + 1) & (t->size - 1)) {
        size_t from_home = (k - home(t, entry)) & (t->size - 1);

        if (from_home < ((k - i) & (t->size - 1)))
            continue;
        atomic_store(&t->slot[i], entry);
        i = k;
    }
    atomic_store(&t->slot[i], 0);
    atomic_fetch_add(&handles.version, 1);
}

bool handle_remove(const void *handle, enum handle_kind kind)
{
    uintptr_t entry = entry_of(handle, kind);
    struct handle_table *t;
    bool there;
    size_t i;

    pthread_mutex_lock(&handles.lock);
    t = atomic_load(&handles.table);
    i = seek(t, entry);
    there = atomic_load(&t->slot[i]) == entry;
    if (there) {
        close_gap(t, i);
        handles.n--;
    }
    pthread_mutex_unlock(&handles.lock);
    return there;
}

bool handle_is(const void *handle, enum handle_kind kind)
{
    uintptr_t entry = entry_of(handle, kind);

    for (;;) {
        unsigned version = atomic_load_explicit(&handles.version, memory_order_acquire);
        const struct handle_table *t = atomic_load_explicit(&handles.table, memory_order_acquire);

        if (atomic_load_explicit(&t->slot[seek(t, entry)], memory_order_acquire) == entry)
            return true;
        if (version % 2 == 0 &&
            atomic_load_explicit(&handles.version, memory_order_acquire) == version)
            return false;
    }
}
