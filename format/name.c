/* name.c - checks names and texts: UTF-8 to the letter. */
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

int name_check(const uint8_t *p, size_t len)
{
    if (len == 0 || len > FMT_NAME_MAX)
        return FMT_ERR_NAME;
    if (p[0] == '.' && (len == 1 || (len == 2 && p[1] == '.')))
        return FMT_ERR_NAME;
    if (memchr(p, '/', len))
        return FMT_ERR_NAME;
    return text_check(p, len);
}

void span_get(struct in *in, size_t len, struct span *out)
{
    out->p = in_bytes(in, len);
    out->len = out->p ? len : 0;
}

void span_rest(struct in *in, struct span *out)
{
    span_get(in, in_left(in), out);
}

void span_put(struct out *out, const struct span *s)
{
    out_bytes(out, s->p, s->len);
}
