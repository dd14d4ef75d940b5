/* snappy.c - Snappy's stream in C, in place of libsnappy.
 *
 * Blosc's streams may hold Snappy's.  The library for that is in C++, and its runtime would make a
 * wheel that needs a newer C library.  These are the functions of <snappy-c.h> that Blosc calls.
 *
 * A stream is the length of what it gives, 7 bits a byte, low ones first; then elements, each a
 * byte of tag whose low two bits say what it is: 0 a literal, else a copy of bytes given before,
 * whose offset has 11 bits, 2 bytes or 4 bytes. */
/* SPDX-License-Identifier: MIT */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

enum { OK, INVALID_INPUT, BUFFER_TOO_SMALL };

int snappy_uncompress(const char *in, size_t in_size, char *out, size_t *out_size);
int snappy_compress(const char *in, size_t in_size, char *out, size_t *out_size);
size_t snappy_max_compressed_length(size_t size);

/* ---- decoding ---- */

struct input {
    const uint8_t *p, *end;
};

/* A little-endian number of n bytes; false if there are fewer. */
static bool take(struct input *in, int n, uint32_t *value)
{
    if (in->end - in->p < n)
        return false;
    *value = 0;
    for (int i = 0; i < n; i++)
        *value |= (uint32_t)*in->p++ << 8 * i;
    return true;
}

static bool take_length(struct input *in, size_t *length)
{
    uint64_t value = 0;
    uint8_t byte;

    for (int shift = 0; shift <= 28; shift += 7) {
        if (in->p == in->end)
            return false;
        byte = *in->p++;
        value |= (uint64_t)(byte & 0x7f) << shift;
        if (byte < 0x80) {
            *length = (size_t)value;
            return value <= UINT32_MAX;
        }
    }
    return false;
}

/* *length bytes follow. */
static bool take_literal(struct input *in, uint8_t tag, size_t *length)
{
    uint32_t value = tag >> 2;

    if (value >= 60 && !take(in, (int)value - 59, &value))
        return false;
    *length = (size_t)value + 1;
    return *length <= (size_t)(in->end - in->p);
}

static bool take_copy(struct input *in, uint8_t tag, size_t *length, size_t *offset)
{
    uint32_t value;

    if (!take(in, (tag & 3) == 3 ? 4 : tag & 3, &value))
        return false;
    *length = (tag & 3) == 1 ? (size_t)(tag >> 2 & 7) + 4 : (size_t)(tag >> 2) + 1;
    *offset = (tag & 3) == 1 ? (size_t)(tag >> 5) << 8 | value : value;
    return true;
}

int snappy_uncompress(const char *stream, size_t size, char *out, size_t *out_size)
{
    struct input in = {(const uint8_t *)stream, (const uint8_t *)stream + size};
    size_t total, at = 0, length, offset;

    if (!take_length(&in, &total))
        return INVALID_INPUT;
    if (total > *out_size)
        return BUFFER_TOO_SMALL;
    while (in.p < in.end) {
        uint8_t tag = *in.p++;

        if ((tag & 3) == 0) {
            if (!take_literal(&in, tag, &length) || length > total - at)
                return INVALID_INPUT;
            memcpy(out + at, in.p, length);
            in.p += length;
            at += length;
            continue;
        }
        if (!take_copy(&in, tag, &length, &offset) || offset == 0 || offset > at ||
            length > total - at)
            return INVALID_INPUT;
        /* The bytes may be those that this copy itself gives. */
        for (; length > 0; length--, at++)
            out[at] = out[at - offset];
    }
    *out_size = total;
    return at == total ? OK : INVALID_INPUT;
}

/* ---- encoding ---- */

#define HASH_BITS 12
#define FAR 65535 /* the greatest offset of 2 bytes */

static uint32_t load(const uint8_t *p)
{
    uint32_t value;

    memcpy(&value, p, sizeof value);
    return value;
}

static uint32_t hash(uint32_t value)
{
    return value * 0x9e3779b1u >> (32 - HASH_BITS);
}

static uint8_t *put_length(uint8_t *out, size_t length)
{
    for (; length >= 0x80; length >>= 7)
        *out++ = (uint8_t)(length | 0x80);
    *out++ = (uint8_t)length;
    return out;
}

static uint8_t *put_literal(uint8_t *out, const uint8_t *from, size_t length)
{
    size_t value = length - 1;
    int bytes = 0;

    if (length == 0)
        return out;
    if (value < 60) {
        *out++ = (uint8_t)(value << 2);
    } else {
        while (value >> 8 * bytes)
            bytes++;
        *out++ = (uint8_t)((59 + bytes) << 2);
        for (int i = 0; i < bytes; i++)
            *out++ = (uint8_t)(value >> 8 * i);
    }
    memcpy(out, from, length);
    return out + length;
}

static uint8_t *put_copy(uint8_t *out, size_t offset, size_t length)
{
    while (length > 0) {
        size_t n = length < 64 ? length : 64;

        *out++ = (uint8_t)((n - 1) << 2 | 2);
        *out++ = (uint8_t)offset;
        *out++ = (uint8_t)(offset >> 8);
        length -= n;
    }
    return out;
}

size_t snappy_max_compressed_length(size_t size)
{
    return 32 + size + size / 6;
}

int snappy_compress(const char *bytes, size_t size, char *out, size_t *out_size)
{
    const uint8_t *start = (const uint8_t *)bytes, *end = start + size;
    const uint8_t *literal = start, *p = start;
    uint32_t last[1 << HASH_BITS]; /* where a hash was seen, counted from 1 */
    uint8_t *to = (uint8_t *)out;

    if (size > UINT32_MAX || *out_size < snappy_max_compressed_length(size))
        return BUFFER_TOO_SMALL;
    memset(last, 0, sizeof last);
    to = put_length(to, size);
    while (end - p >= 4) {
        uint32_t *slot = &last[hash(load(p))];
        const uint8_t *before = *slot ? start + (*slot - 1) : NULL;
        size_t n = 4;

        *slot = (uint32_t)(p - start) + 1;
        if (!before || p - before > FAR || load(before) != load(p)) {
            p += 1 + ((p - literal) >> 6); /* faster where nothing is found */
            continue;
        }
        while (p + n < end && p[n] == before[n])
            n++;
        to = put_literal(to, literal, (size_t)(p - literal));
        to = put_copy(to, (size_t)(p - before), n);
        p += n;
        literal = p;
    }
    to = put_literal(to, literal, (size_t)(end - literal));
    *out_size = (size_t)(to - (uint8_t *)out);
    return OK;
}
