/* bypass.c - copies to memory that nobody looks at soon. */
/* SPDX-License-Identifier: MIT */
#include "base/bypass.h"

#include <stdint.h>
#include <string.h>

#ifdef __SSE2__
#include <emmintrin.h>

enum { LINE = 64 };

/* Stores whole lines of the cache; `to` is at one. */
static void copy_lines(uint8_t *to, const uint8_t *from, size_t size)
{
    for (; size >= LINE; size -= LINE, to += LINE, from += LINE) {
        __m128i a = _mm_loadu_si128((const __m128i *)(const void *)from);
        __m128i b = _mm_loadu_si128((const __m128i *)(const void *)(from + 16));
        __m128i c = _mm_loadu_si128((const __m128i *)(const void *)(from + 32));
        __m128i d = _mm_loadu_si128((const __m128i *)(const void *)(from + 48));

        _mm_stream_si128((__m128i *)(void *)to, a);
        _mm_stream_si128((__m128i *)(void *)(to + 16), b);
        _mm_stream_si128((__m128i *)(void *)(to + 32), c);
        _mm_stream_si128((__m128i *)(void *)(to + 48), d);
    }
    _mm_sfence();
}

void bypass_copy(void *to, const void *from, size_t size)
{
    size_t head = (LINE - (uintptr_t)to % LINE) % LINE, lines;
    const uint8_t *p = from;
    uint8_t *q = to;

    head = head < size ? head : size;
    lines = (size - head) / LINE * LINE;
    memcpy(q, p, head);
    copy_lines(q + head, p + head, lines);
    memcpy(q + head + lines, p + head + lines, size - head - lines);
}
#else
void bypass_copy(void *to, const void *from, size_t size)
{
    memcpy(to, from, size);
}
#endif
