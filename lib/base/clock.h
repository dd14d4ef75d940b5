/* clock.h - the time that bounds a thread's patience. */
/* SPDX-License-Identifier: MIT */
#ifndef BASE_CLOCK_H
#define BASE_CLOCK_H

#include <stdint.h>
#include <time.h>

/* Nanoseconds on a clock that nobody sets. */
static inline int64_t now_ns(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

static inline double now_seconds(void)
{
    return 1e-9 * (double)now_ns();
}

#endif
