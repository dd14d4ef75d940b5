/* advance.c - tells a thread's function how far a long call is. */
/* SPDX-License-Identifier: MIT */
#include "base/advance.h"

#include "base/clock.h"
#include "base/error.h"

#include <datarep.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

#define ASK_NS ((int64_t)50000000) /* between two questions */

struct advance {
    drep_progress_fn *fn;
    void *ctx;
    int paused; /* > 0: no call begins an advance */
    int64_t total, asked;
    _Atomic int64_t done;
    atomic_bool stopped;
};

static _Thread_local struct advance mine;

void drep_progress(drep_progress_fn *fn, void *ctx)
{
    mine.fn = fn;
    mine.ctx = ctx;
}

struct advance *advance_begin(int64_t total)
{
    if (!mine.fn || mine.paused > 0)
        return NULL;
    mine.paused = 1; /* for calls inside this one */
    mine.total = total;
    mine.asked = now_ns();
    atomic_store(&mine.done, 0);
    atomic_store(&mine.stopped, false);
    return &mine;
}

void advance_end(struct advance *a)
{
    if (a)
        a->paused--;
}

void advance_pause(void)
{
    mine.paused++;
}

void advance_resume(void)
{
    mine.paused--;
}

static int advance_stopped(const struct advance *a, int64_t done)
{
    return a->total > 0
               ? fail(DREP_ERR_STOPPED, "stopped by the caller after %lld of %lld bytes",
                      (long long)done, (long long)a->total)
               : fail(DREP_ERR_STOPPED, "stopped by the caller after %lld bytes", (long long)done);
}

int advance_add(struct advance *a, int64_t bytes)
{
    int64_t done, now;

    if (!a)
        return 0;
    done = atomic_fetch_add_explicit(&a->done, bytes, memory_order_relaxed) + bytes;
    if (a == &mine && a->fn && !atomic_load(&a->stopped) && (now = now_ns()) - a->asked >= ASK_NS) {
        if (a->fn(done, a->total, a->ctx))
            atomic_store(&a->stopped, true);
        a->asked = now_ns();
    }
    return atomic_load_explicit(&a->stopped, memory_order_relaxed) ? advance_stopped(a, done) : 0;
}
