/* byteorder.h - numbers from and to bytes, whatever the machine's byte order.
 *
 * Files hold big-endian numbers at any alignment: load_u16() .. store_u64().  Kernels work on
 * little-endian bytes; LITTLE16() .. LITTLE64() swap a number of this machine to and from those.
 * HOST_LITTLE is for code that addresses the bytes of a number in memory. */
/* SPDX-License-Identifier: MIT */
#ifndef FORMAT_BYTEORDER_H
#define FORMAT_BYTEORDER_H

#include <stdint.h>

#define HOST_LITTLE (__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__)

#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
#define LITTLE16(v) __builtin_bswap16(v)
#define LITTLE32(v) __builtin_bswap32(v)
#define LITTLE64(v) __builtin_bswap64(v)
#else
#define LITTLE16(v) (v)
#define LITTLE32(v) (v)
#define LITTLE64(v) (v)
#endif

static inline uint16_t load_u16(const uint8_t *p)
{
    return (uint16_t)(p[0] << 8 | p[1]);
}

static inline uint32_t load_u32(const uint8_t *p)
{
    return (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3];
}

static inline uint64_t load_u64(const uint8_t *p)
{
    return (uint64_t)load_u32(p) << 32 | load_u32(p + 4);
}

static inline void store_u16(uint8_t *p, uint16_t v)
{
    p[0] = (uint8_t)(v >> 8);
    p[1] = (uint8_t)v;
}

static inline void store_u32(uint8_t *p, uint32_t v)
{
    p[0] = (uint8_t)(v >> 24);
    p[1] = (uint8_t)(v >> 16);
    p[2] = (uint8_t)(v >> 8);
    p[3] = (uint8_t)v;
}

static inline void store_u64(uint8_t *p, uint64_t v)
{
    store_u32(p, (uint32_t)(v >> 32));
    store_u32(p + 4, (uint32_t)v);
}

#endif
