/* bypass.h - copies to memory that nobody looks at soon. */
/* SPDX-License-Identifier: MIT */
#ifndef BASE_BYPASS_H
#define BASE_BYPASS_H

#include <stddef.h>

#define BYPASS_MIN ((size_t)1 << 10) /* bytes of a copy below which it does not pay, */
#define BYPASS_ALL ((size_t)8 << 20) /* and of all copies: less may stay in the cache */

/* Like memcpy(), past the cache: what is written is not read into it first, which halves the
 * traffic of memory.  Whoever passes the bytes to another thread has locked meanwhile. */
void bypass_copy(void *to, const void *from, size_t size);

#endif
