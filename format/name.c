/* name.c - checks names and texts: UTF-8 to the letter. */
/* SPDX-License-Identifier: MIT */
#include "format/record.h"
#include "format/utf8.h"

int text_check(const uint8_t *p, size_t len)
{
    while (len > 0) {
        /* Mostly ASCII, eight at a time: none has its upper bit set, none is zero. */
        uint64_t v = len >= 8 ? load_u64(p) : 0;
        size_t n = 8;
        uint32_t code;

        if (!v || ((v | (v - 0x0101010101010101)) & 0x8080808080808080))
            n = p[0] ? utf8_next(p, len, &code) : 0;

        if (n == 0)
            return FMT_ERR_NAME;
        p += n;
        len -= n;
    }
    return FMT_OK;
}

/* True if eight bytes are ASCII, and none is NUL or a slash: where no byte has its upper bit set,
 * subtracting 1 from each sets that bit only of a zero, or of bytes above one. */
static bool plain_word(uint64_t v)
{
    const uint64_t ones = 0x0101010101010101, high = 0x8080808080808080;

    return ((v | (v - ones) | ((v ^ ones * '/') - ones)) & high) == 0;
}

/* True for most names: the last eight bytes may be looked at twice. */
static bool name_plain(const uint8_t *p, size_t len)
{
    if (len < 8)
        return false;
    for (size_t at = 0; at + 8 < len; at += 8) {
        if (!plain_word(load_u64(p + at)))
            return false;
    }
    return plain_word(load_u64(p + len - 8));
}

int name_check(const uint8_t *p, size_t len)
{
    return len > FMT_NAME_MAX ? FMT_ERR_NAME : name_stored_check(p, len);
}

int name_stored_check(const uint8_t *p, size_t len)
{
    if (len == 0)
        return FMT_ERR_NAME;
    if (p[0] == '.' && (len == 1 || (len == 2 && p[1] == '.')))
        return FMT_ERR_NAME;
    if (name_plain(p, len))
        return FMT_OK;
    if (memchr(p, '/', len))
        return FMT_ERR_NAME;
    return text_check(p, len);
}

void span_put(struct out *out, const struct span *s)
{
    out_bytes(out, s->p, s->len);
}
