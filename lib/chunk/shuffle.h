/* shuffle.h - bytes and bits of elements, regrouped by their place in the element.
 *
 * What the filters of these names do (SPEC.md, 8), on whole elements only: n elements of s
 * bytes at `in`, n * s bytes to `out`, which do not overlap.  Bits: n is a multiple of 8. */
/* SPDX-License-Identifier: MIT */
#ifndef CHUNK_SHUFFLE_H
#define CHUNK_SHUFFLE_H

#include <stddef.h>
#include <stdint.h>

void shuffle_bytes(uint8_t *out, const uint8_t *in, size_t n, size_t s);
void unshuffle_bytes(uint8_t *out, const uint8_t *in, size_t n, size_t s);
/* n elements of s bytes, the first of which has its bytes at `in` and `apart` bytes apart. */
void unshuffle_part(uint8_t *out, const uint8_t *in, size_t apart, size_t n, size_t s);
void shuffle_bits(uint8_t *out, const uint8_t *in, size_t n, size_t s);
void unshuffle_bits(uint8_t *out, const uint8_t *in, size_t n, size_t s);

/* The functions of one instruction set (shuffle_body.h); join: as unshuffle_part(). */
#define SHUFFLE_SET(set)                                                                \
    void set##_bytes(uint8_t *out, const uint8_t *in, size_t n, size_t s);              \
    void set##_join(uint8_t *out, const uint8_t *in, size_t apart, size_t n, size_t s); \
    void set##_bits(uint8_t *out, const uint8_t *in, size_t n, size_t s);               \
    void set##_unbits(uint8_t *out, const uint8_t *in, size_t n, size_t s);
SHUFFLE_SET(shuffle_base)
SHUFFLE_SET(shuffle_avx2)

#endif
