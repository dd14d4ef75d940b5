/* chunk.h - the stored bytes of a chunk become its elements. */
/* SPDX-License-Identifier: MIT */
#ifndef TOOLS_H5_CHUNK_H
#define TOOLS_H5_CHUNK_H

#include "tools/h5/library.h"
#include <stddef.h>
#include <stdint.h>

/* The sum of HDF5's filter fletcher32, behind a chunk of *size bytes: true if it is right; *size is
 * without it then. */
#define FLETCHER32_SIZE 4
int fletcher32_check(const uint8_t *p, size_t *size);
/* Puts it behind `size` bytes, which have room for it; gives its length. */
size_t fletcher32_add(uint8_t *p, size_t size);

/* NULL if the filters are others than those known here, or without memory. */
struct decoding;
struct decoding *decoding_new(hid_t dcpl, size_t element, size_t size, int threads);
void decoding_free(struct decoding *g);
/* DECODE_WHOLE: the chunk's elements are in out, of `size` bytes.  DECODE_UNKNOWN leaves it to
 * HDF5.  DECODE_SHORT: it holds less than a chunk; HDF5 would fill up with what lies behind it
 * in memory.  out NULL: the chunk is only tried, and what need not be done for that is not. */
enum { DECODE_UNKNOWN, DECODE_WHOLE, DECODE_SHORT };
int decode_chunk(struct decoding *g, int thread, const uint8_t *raw, size_t size, unsigned skipped,
                 uint8_t *out);

#endif
