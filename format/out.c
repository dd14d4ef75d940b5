/* out.c - the slow paths of the writer: growing, bytes, patches. */
/* SPDX-License-Identifier: MIT */
#include "format/out.h"

#include <string.h>

uint8_t *out_more(struct out *out, size_t n)
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

/* Address of bytes written before; NULL where an error kept them from being written. */
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
