/* chunk.h - the stored bytes of a chunk become its elements. */
/* SPDX-License-Identifier: MIT */
#ifndef TOOLS_H5_CHUNK_H
#define TOOLS_H5_CHUNK_H

#include "tools/h5/library.h"
#include "base/handles.h"
#include <stddef.h>
#include <stdint.h>

/* Bytes of the elements of a chunk; SIZE_MAX: more than any memory has.  The second: of a chunk of
 * the container's. */
size_t chunk_memory(size_t element, int rank, const hsize_t *chunk);
size_t chunk_memory_of(size_t element, const drep_dsinfo *info);

/* NULL if the filters are others than those known here, or without memory.  partly: only without
 * memory; chunks that others were applied to are DECODE_UNKNOWN. */
struct decoding;
struct decoding *decoding_new(hid_t dcpl, size_t element, size_t size, int threads, int partly);
void decoding_free(struct decoding *g);
/* DECODE_WHOLE: the chunk's elements are in out, of `size` bytes.  DECODE_UNKNOWN leaves it to
 * HDF5.  DECODE_SHORT: it holds less than a chunk; HDF5 would fill up with what lies behind it
 * in memory.  out NULL: the chunk is only tried, and what need not be done for that is not. */
enum { DECODE_UNKNOWN, DECODE_WHOLE, DECODE_SHORT };
int decode_chunk(struct decoding *g, int thread, const uint8_t *raw, size_t size, unsigned skipped,
                 uint8_t *out);

#endif
