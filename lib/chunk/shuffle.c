/* shuffle.c - the form for what every processor of this kind has, and the choice. */
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
#define SHUFFLE_SET shuffle_base
const struct shuffle_set shuffle_base;
#include "chunk/shuffle_body.h"

extern const struct shuffle_set shuffle_avx2;

static const struct shuffle_set *best(void)
{
#ifdef ISA_X86
    if (isa_get() >= ISA_AVX2)
        return &shuffle_avx2;
#endif
    return &shuffle_base;
}

void shuffle_bytes(uint8_t *out, const uint8_t *in, size_t n, size_t s)
{
    best()->bytes(out, in, n, s);
}

void unshuffle_bytes(uint8_t *out, const uint8_t *in, size_t n, size_t s)
{
    best()->join(out, in, n, n, s);
}

void unshuffle_some(uint8_t *out, const uint8_t *in, size_t apart, size_t n, size_t s)
{
    best()->join(out, in, apart, n, s);
}

void shuffle_bits(uint8_t *out, const uint8_t *in, size_t n, size_t s)
{
    best()->bits(out, in, n, s);
}

void unshuffle_bits(uint8_t *out, const uint8_t *in, size_t n, size_t s)
{
    best()->unbits(out, in, n, s);
}
