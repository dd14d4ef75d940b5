/* shuffle.c - the shuffle filters with what every processor of this kind has, and the choice
 * between that and AVX2. */
/* SPDX-License-Identifier: MIT */
#include "base/isa.h"
#include "chunk/shuffle.h"

#if (defined(__SSE2__) || defined(__aarch64__) || defined(__VSX__)) && defined(__has_builtin)
#if __has_builtin(__builtin_shufflevector)
#define SHUFFLE_LANES 1
#endif
#endif
#ifndef SHUFFLE_LANES
#define SHUFFLE_LANES 0
#endif
#define SHUFFLE(name) shuffle_base_##name
#include "chunk/shuffle_body.h"

#ifdef ISA_X86
#define CHOOSE(name, ...)                     \
    do {                                      \
        if (isa_get() >= ISA_AVX2)            \
            shuffle_avx2_##name(__VA_ARGS__); \
        else                                  \
            shuffle_base_##name(__VA_ARGS__); \
    } while (0)
#else
#define CHOOSE(name, ...) shuffle_base_##name(__VA_ARGS__)
#endif

void shuffle_bytes(uint8_t *out, const uint8_t *in, size_t n, size_t s)
{
    CHOOSE(bytes, out, in, n, s);
}

void unshuffle_bytes(uint8_t *out, const uint8_t *in, size_t n, size_t s)
{
    CHOOSE(join, out, in, n, n, s);
}

void unshuffle_part(uint8_t *out, const uint8_t *in, size_t apart, size_t n, size_t s)
{
    CHOOSE(join, out, in, apart, n, s);
}

void shuffle_bits(uint8_t *out, const uint8_t *in, size_t n, size_t s)
{
    CHOOSE(bits, out, in, n, s);
}

void unshuffle_bits(uint8_t *out, const uint8_t *in, size_t n, size_t s)
{
    CHOOSE(unbits, out, in, n, s);
}
