/* mem.h - checked allocation.
 *
 * All memory of the library comes from here, so that a test can make the n-th
 * allocation fail.  Every function that allocates reports DREP_ERR_NOMEM itself
 * through fail(); NULL is the only sign.  Sizes are of 64 bits on every machine: what a
 * file asks for must not be cut to fit before it is refused. */
/* SPDX-License-Identifier: MIT */
#ifndef BASE_MEM_H
#define BASE_MEM_H

#include <stddef.h>
#include <stdint.h>

void *mem_alloc(uint64_t size);                       /* size 0 gives a unique pointer */
void *mem_zalloc(uint64_t n, uint64_t size);          /* n * size, zeroed, overflow checked */
void *mem_array(uint64_t n, uint64_t size);           /* n * size, overflow checked */
void *mem_resize(void *p, uint64_t n, uint64_t size); /* p stays valid on failure */
void *mem_aligned(size_t align, uint64_t size);
#define MEM_HUGE ((size_t)2 << 20) /* bytes of a huge page */
/* Map zeroed pages, huge ones where the system has them and `size` bytes fill them; untouched
 * pages take no memory. mem_unmap() frees all of it; mem_idle() gives the memory of whole pages
 * back and keeps their addresses. NULL without a message. */
void *mem_map(size_t size);
void mem_unmap(void *p, size_t size);
void mem_idle(void *p, size_t size);
char *mem_strdup(const char *s);
char *mem_strndup(const char *s, size_t len);
void mem_free(void *p);

/* For tests: fail the allocation number n from now (0: the next); -1: never. */
void mem_fail_at(int64_t n);
int64_t mem_failed(void); /* how many were made to fail since */

#endif
