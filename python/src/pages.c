/* pages.c - memory for many elements, in huge pages where the system has them. */
/* SPDX-License-Identifier: MIT */
#include "src/pages.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define HUGE_PAGE ((size_t)2 << 20) /* bytes of a huge page */
#define PAGES_MIN (2 * HUGE_PAGE)   /* less comes from the heap */

/* Whole pages. */
static size_t whole_pages(size_t size)
{
    return (size + HUGE_PAGE - 1) / HUGE_PAGE * HUGE_PAGE;
}

void *pages_new(size_t size)
{
    size_t all, head;
    uint8_t *p;

    if (size < PAGES_MIN)
        return calloc(1, size ? size : 1);
    if (size > SIZE_MAX - 2 * HUGE_PAGE)
        return NULL;
    size = whole_pages(size);
    all = size + HUGE_PAGE;
    p = mmap(NULL, all, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (p == MAP_FAILED)
        return NULL;
    head = -(uintptr_t)p % HUGE_PAGE;
    if (head)
        munmap(p, head);
    if (head < HUGE_PAGE)
        munmap(p + head + size, HUGE_PAGE - head);
#ifdef MADV_HUGEPAGE
    madvise(p + head, size, MADV_HUGEPAGE); /* a wish */
#endif
    return p + head;
}

void pages_zero(void *p, size_t size)
{
#ifdef __linux__
    if (size >= PAGES_MIN && madvise(p, whole_pages(size), MADV_DONTNEED) == 0)
        return; /* pages that are gone are zeros when they are touched again */
#endif
    memset(p, 0, size);
}

void pages_free(void *p, size_t size)
{
    if (size < PAGES_MIN)
        free(p);
    else if (p)
        munmap(p, whole_pages(size));
}
