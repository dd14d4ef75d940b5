/* shuffle.h - bytes and bits of elements, regrouped by their place in the element.
 *
 * What the filters of these names do (SPEC.md, 8), on whole elements only: n elements of s
 * bytes at `in`, n * s bytes to `out`, which do not overlap.  Bits: n is a multiple of 8. */
#ifndef CHUNK_SHUFFLE_H
#define CHUNK_SHUFFLE_H

#include <stddef.h>
#include <stdint.h>

void shuffle_bytes(uint8_t *out, const uint8_t *in, size_t n, size_t s);
void unshuffle_bytes(uint8_t *out, const uint8_t *in, size_t n, size_t s);
/* n elements of s bytes, the first of which has its bytes at `in` and `apart` bytes apart. */
void unshuffle_some(uint8_t *out, const uint8_t *in, size_t apart, size_t n, size_t s);
void shuffle_bits(uint8_t *out, const uint8_t *in, size_t n, size_t s);
void unshuffle_bits(uint8_t *out, const uint8_t *in, size_t n, size_t s);

/* One instruction set's form of them (shuffle_body.h). */
typedef void shuffle_fn(uint8_t *out, const uint8_t *in, size_t n, size_t s);
typedef void join_fn(uint8_t *out, const uint8_t *in, size_t apart, size_t n, size_t s);
struct shuffle_set {
    shuffle_fn *bytes;
    join_fn *join;
    shuffle_fn *bits, *unbits;
};

#endif
