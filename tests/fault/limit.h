/* limit.h - how much memory a test of a hostile file takes.
 *
 * limit_begin() starts a measurement; limit_peak() gives the most bytes that the process has
 * taken since then, beyond those that it had.  A build with a sanitizer counts every allocation,
 * touched or not: resident memory says nothing there, because of shadow memory and quarantine.
 * Other builds ask the system for the peak of resident memory.
 *
 * The allowance is LIMIT_MEMORY plus twice the size of the file.  It is the library's bound
 * (SECURITY.md, "Limits") for a handle with a cache of 1 MiB and one thread: 16 MiB, two chunks of
 * 16 MiB each at most; the rest is the buffers of the test itself. */
/* SPDX-License-Identifier: MIT */
#ifndef TESTS_FAULT_LIMIT_H
#define TESTS_FAULT_LIMIT_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#ifdef __GLIBC__
#include <malloc.h>
#endif

#define LIMIT_MEMORY ((int64_t)64 << 20)

static inline int64_t limit_of(size_t file_size)
{
    return LIMIT_MEMORY + 2 * (int64_t)file_size;
}

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)

/* sanitizer/allocator_interface.h, which gcc does not install. */
int __sanitizer_install_malloc_and_free_hooks(void (*made)(const volatile void *, size_t),
                                              void (*freed)(const volatile void *));
size_t __sanitizer_get_allocated_size(const volatile void *p);

static _Atomic int64_t limit_now, limit_most;

static inline void limit_made(const volatile void *p, size_t size)
{
    int64_t now = (limit_now += (int64_t)size), most = limit_most;

    (void)p;
    while (now > most && !__atomic_compare_exchange_n((int64_t *)&limit_most, &most, now, 0,
                                                      __ATOMIC_RELAXED, __ATOMIC_RELAXED))
        ;
}

static inline void limit_freed(const volatile void *p)
{
    limit_now -= (int64_t)__sanitizer_get_allocated_size(p);
}

static inline void limit_begin(void)
{
    static int installed;

    if (!installed && __sanitizer_install_malloc_and_free_hooks(limit_made, limit_freed) == 0)
        abort();
    installed = 1;
    limit_now = 0;
    limit_most = 0;
}

static inline int64_t limit_peak(void)
{
    return limit_most;
}

#else

static int64_t limit_before;

/* Bytes of a line of /proc/self/status; where there is none, the peak of the whole run. */
static inline int64_t limit_status(const char *format)
{
    FILE *f = fopen("/proc/self/status", "r");
    struct rusage used;
    char line[200];
    long long kib;

    while (f && fgets(line, sizeof line, f))
        if (sscanf(line, format, &kib) == 1) {
            fclose(f);
            return kib * 1024;
        }
    if (f)
        fclose(f);
    getrusage(RUSAGE_SELF, &used);
    return (int64_t)used.ru_maxrss * 1024;
}

static inline void limit_begin(void)
{
    FILE *f;

#ifdef __GLIBC__
    malloc_trim(0); /* what earlier work has freed would hide what this takes */
#endif
    f = fopen("/proc/self/clear_refs", "w");
    if (f) {
        fputs("5", f); /* the peak is what is resident now */
        fclose(f);
    }
    limit_before = limit_status("VmHWM: %lld kB");
}

static inline int64_t limit_peak(void)
{
    return limit_status("VmHWM: %lld kB") - limit_before;
}

#endif
#endif
