/* out.c - what every encoder writes with. */
#include "format/out.h"

#include <string.h>

void out_init(struct out *out, void *p, size_t size)
{
    *out = (struct out){.p = p, .size = size};
}

/* Where the next n bytes go, or NULL when they are only counted. */
static uint8_t *out_room(struct out *out, size_t n)
{
    size_t at = out->at;

    if (n > SIZE_MAX - at) {
        out->err = out->err ? out->err : FMT_ERR_LIMIT;
        return NULL;
    }
    out->at = at + n;
    if (!out->err && out->at > out->size) {
        out->err = out->grow ? out->grow(out, out->at) : FMT_ERR_BUFFER;
        if (!out->err && out->at > out->size)
            out->err = FMT_ERR_BUFFER;
    }
    return out->err ? NULL : out->p + at;
}

void out_bytes(struct out *out, const void *p, size_t n)
{
    uint8_t *to = n ? out_room(out, n) : NULL;

    if (to)
        memcpy(to, p, n);
}

void out_zeros(struct out *out, size_t n)
{
    uint8_t *to = n ? out_room(out, n) : NULL;

    if (to)
        memset(to, 0, n);
}

void out_u8(struct out *out, uint8_t v)
{
    uint8_t *p = out_room(out, 1);

    if (p)
        *p = v;
}

void out_u16(struct out *out, uint16_t v)
{
    uint8_t *p = out_room(out, 2);

    if (p) {
        p[0] = (uint8_t)(v >> 8);
        p[1] = (uint8_t)v;
    }
}

static void store_u32(uint8_t *p, uint32_t v)
{
    p[0] = (uint8_t)(v >> 24);
    p[1] = (uint8_t)(v >> 16);
    p[2] = (uint8_t)(v >> 8);
    p[3] = (uint8_t)v;
}

static void store_u64(uint8_t *p, uint64_t v)
{
    store_u32(p, (uint32_t)(v >> 32));
    store_u32(p + 4, (uint32_t)v);
}

void out_u32(struct out *out, uint32_t v)
{
    uint8_t *p = out_room(out, 4);

    if (p)
        store_u32(p, v);
}

void out_u64(struct out *out, uint64_t v)
{
    uint8_t *p = out_room(out, 8);

    if (p)
        store_u64(p, v);
}

void out_i64(struct out *out, int64_t v)
{
    out_u64(out, (uint64_t)v);
}

/* What was not written because of an error is not there to be patched. */
static uint8_t *out_written(struct out *out, size_t at, size_t n)
{
    if (out->err || at > out->at || n > out->at - at)
        return NULL;
    return out->p + at;
}

void out_patch_u32(struct out *out, size_t at, uint32_t v)
{
    uint8_t *p = out_written(out, at, 4);

    if (p)
        store_u32(p, v);
}

void out_patch_u64(struct out *out, size_t at, uint64_t v)
{
    uint8_t *p = out_written(out, at, 8);

    if (p)
        store_u64(p, v);
}
