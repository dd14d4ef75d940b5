/* mem.c - checked allocation.
 *
 * Everything is malloc's, so that what the public interface hands out can go to
 * free().  The fault counter is one relaxed load for a library that runs no
 * test. */
/* SPDX-License-Identifier: MIT */
#include "base/mem.h"

#include "base/error.h"

#include <limits.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

/* Longs, not int64_t: some 32-bit machines have no 64-bit atomics. */
static atomic_long countdown = -1;
static atomic_long failures;

/* True if a test wants this allocation to fail. */
static bool fault(void)
{
    if (atomic_load_explicit(&countdown, memory_order_relaxed) < 0)
        return false;
    if (atomic_fetch_sub(&countdown, 1) != 0)
        return false;
    atomic_fetch_add(&failures, 1);
    return true;
}

static void *checked(void *p, uint64_t size)
{
    if (!p)
        fail(DREP_ERR_NOMEM, "out of memory: cannot allocate %llu bytes", (unsigned long long)size);
    return p;
}

/* True if n * size bytes can be had at all. */
static bool product(uint64_t n, uint64_t size, uint64_t *total)
{
    if (!__builtin_mul_overflow(n, size, total) && *total <= PTRDIFF_MAX)
        return true;
    fail(DREP_ERR_NOMEM, "out of memory: cannot allocate %llu times %llu bytes",
         (unsigned long long)n, (unsigned long long)size);
    return false;
}

void *mem_alloc(uint64_t size)
{
    if (!product(1, size, &size))
        return NULL;
    return checked(fault() ? NULL : malloc(size ? (size_t)size : 1), size);
}

void *mem_zalloc(uint64_t n, uint64_t size)
{
    uint64_t total;

    if (!product(n, size, &total))
        return NULL;
    return checked(fault() ? NULL : calloc(1, total ? (size_t)total : 1), total);
}

void *mem_array(uint64_t n, uint64_t size)
{
    uint64_t total;

    return product(n, size, &total) ? mem_alloc(total) : NULL;
}

void *mem_resize(void *p, uint64_t n, uint64_t size)
{
    uint64_t total;

    if (!product(n, size, &total))
        return NULL;
    return checked(fault() ? NULL : realloc(p, total ? (size_t)total : 1), total);
}

void *mem_aligned(size_t align, uint64_t size)
{
    void *p = NULL;

    if (align < sizeof(void *))
        align = sizeof(void *);
    if (!product(1, size, &size))
        return NULL;
    if (fault() || posix_memalign(&p, align, size ? (size_t)size : 1))
        p = NULL;
    return checked(p, size);
}

void *mem_map(size_t size)
{
    size_t all = size + MEM_HUGE, huge = size / MEM_HUGE * MEM_HUGE, head;
    uint8_t *p;

    if (all < size || fault())
        return NULL;
    p = mmap(NULL, all, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (p == MAP_FAILED)
        return NULL;
    head = -(uintptr_t)p % MEM_HUGE;
    if (head)
        munmap(p, head);
    munmap(p + head + size, all - head - size);
#ifdef MADV_HUGEPAGE
    if (huge)
        madvise(p + head, huge, MADV_HUGEPAGE); /* a wish */
#endif
    return p + head;
}

void mem_unmap(void *p, size_t size)
{
    munmap(p, size);
}

void mem_idle(void *p, size_t size)
{
    (void)p, (void)size;
#ifdef MADV_DONTNEED
    madvise(p, size, MADV_DONTNEED);
#endif
}

char *mem_strdup(const char *s)
{
    return mem_strndup(s, strlen(s));
}

char *mem_strndup(const char *s, size_t len)
{
    char *copy;

    len = strnlen(s, len);
    copy = mem_array(len + 1, 1);
    if (!copy)
        return NULL;
    memcpy(copy, s, len);
    copy[len] = 0;
    return copy;
}

void mem_free(void *p)
{
    free(p);
}

void mem_fail_at(int64_t n)
{
    atomic_store(&failures, 0);
    atomic_store(&countdown, n < 0 ? -1 : n > LONG_MAX ? LONG_MAX : (long)n);
}

int64_t mem_failed(void)
{
    return atomic_load(&failures);
}
