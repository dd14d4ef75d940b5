/* out.h - the growing writer of all encoders.
 *
 * Beyond the buffer's size it asks grow() for more; without grow() it only counts (`at` is then
 * the size needed) and err is FMT_ERR_BUFFER. The writes are inline because every change of the
 * tree encodes a record with them. */
/* SPDX-License-Identifier: MIT */
#ifndef FORMAT_OUT_H
#define FORMAT_OUT_H

#include "format/byteorder.h"
#include "format/numbers.h"

struct out {
    uint8_t *p;
    size_t size;
    size_t at;
    int err;
    int (*grow)(struct out *out, size_t need); /* makes size >= need, or gives an error */
};

static inline void out_init(struct out *out, void *p, size_t size)
{
    *out = (struct out){.p = p, .size = size};
}
/* Room for the next n bytes, NULL when they are only counted; out_more() is the slow path. */
uint8_t *out_more(struct out *out, size_t n);
static inline uint8_t *out_room(struct out *out, size_t n)
{
    if (out->err || n > out->size - out->at)
        return out_more(out, n);
    out->at += n;
    return out->p + out->at - n;
}

static inline void out_u8(struct out *out, uint8_t v)
{
    uint8_t *p = out_room(out, 1);

    if (p)
        *p = v;
}

static inline void out_u16(struct out *out, uint16_t v)
{
    uint8_t *p = out_room(out, 2);

    if (p)
        store_u16(p, v);
}

static inline void out_u32(struct out *out, uint32_t v)
{
    uint8_t *p = out_room(out, 4);

    if (p)
        store_u32(p, v);
}

static inline void out_u64(struct out *out, uint64_t v)
{
    uint8_t *p = out_room(out, 8);

    if (p)
        store_u64(p, v);
}

static inline void out_i64(struct out *out, int64_t v)
{
    out_u64(out, (uint64_t)v);
}

/* A number in groups of 7 bits, the lowest first (in_var()); store_var() gives their number. */
#define VAR_MAX 10
static inline size_t store_var(uint8_t p[VAR_MAX], uint64_t v)
{
    size_t n = 0;

    for (; v > 0x7f; v >>= 7)
        p[n++] = (uint8_t)(v | 0x80);
    p[n++] = (uint8_t)v;
    return n;
}

static inline void out_var(struct out *out, uint64_t v)
{
    uint8_t bytes[VAR_MAX], *p;
    size_t n = store_var(bytes, v);

    p = out_room(out, n);
    for (size_t i = 0; p && i < n; i++)
        p[i] = bytes[i];
}

void out_bytes(struct out *out, const void *p, size_t n);
void out_zeros(struct out *out, size_t n);
/* Overwrite a number written before at byte `at`. */
void out_patch_u32(struct out *out, size_t at, uint32_t v);
void out_patch_u64(struct out *out, size_t at, uint64_t v);

#endif
