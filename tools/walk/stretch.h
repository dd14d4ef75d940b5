/* stretch.h - the chunks into which elements that lie one behind the other are cut, so that each
 * can be a chunk of another file. */
/* SPDX-License-Identifier: MIT */
#ifndef TOOLS_WALK_STRETCH_H
#define TOOLS_WALK_STRETCH_H

#include <stdint.h>

/* Bytes below which a chunk is not cut into single steps of the first dimension, and above which a
 * step is cut itself. */
#define STRETCH_LEAST ((int64_t)2 << 10)
#define STRETCH_MOST ((int64_t)1 << 20)

/* Cut an array of elements of `size` bytes: into single steps of the first dimension, so that
 * arrays of any length follow each other along it, or where these are small, into as many as
 * divide the length. */
void stretch_chunk(int rank, const int64_t *dims, int64_t size, int64_t *chunk);
/* The greatest number up to `most` that divides n, at least 1. */
int64_t stretch_divisor(int64_t n, int64_t most);

#endif
