/* framing.h - compressed streams as the registered filters of HDF5 frame them.
 *
 * The numbers of the filters and their parameters are those of the format (SPEC.md, 8.4); of those
 * that all have, ZSTD is here too, as a frame that says its length. */
/* SPDX-License-Identifier: MIT */
#ifndef CHUNK_FRAMING_H
#define CHUNK_FRAMING_H

#include "format/record.h"

enum framing_error {
    FRAMING_DAMAGED = 1, /* the stream is not one that gives so many bytes */
    FRAMING_NOMEM,
    FRAMING_ABSENT /* the compressor that it asks for is not built in */
};
/* Decode a stream to exactly `size` bytes: 0 or an enum framing_error. */
int framing_decode(int id, const uint32_t *param, const struct span *in, uint8_t *out, size_t size);
/* Like framing_decode(), to at most *size bytes, which gets the number of them: some streams of
 * ZSTD do not say what they decode to. */
int framing_decode_most(int id, const uint32_t *param, const struct span *in, uint8_t *out,
                        size_t *size);
/* Encode; *size: room at out, then bytes used, 0 if they do not fit.  0 or FRAMING_NOMEM. */
int framing_encode(int id, const uint32_t *param, const struct span *in, uint8_t *out,
                   size_t *size);
/* The bytes that a stream says that it decodes to, of LZ4 and LZF by the lengths of all its
 * sequences; 0 if it does not say. */
uint64_t framing_length(int id, const uint32_t *param, const struct span *in);
/* False: the library of a compressor gives bytes for this stream that its format does not: a match
 * of LZ4 at distance 0.  Looking costs a third of decoding, or as much: no read does it whose bytes
 * agree with their sum, since nobody but their author can have put it there. */
bool framing_sound(int id, const uint32_t *param, const struct span *in);

#endif
