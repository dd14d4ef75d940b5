/* node.c - the entries of a node of the tree. */
#include "format/block.h"

/* head = shared x 2^24 + suffix length x 2^13 + value length x 2 + far */
int entry_get(struct in *in, struct entry *out)
{
    uint32_t head = in_u32(in);
    size_t start = in->last;
    struct entry t;

    t.shared = (uint16_t)(head >> 24);
    t.suffix_len = (uint16_t)(head >> 13 & 0x7ff);
    t.value_len = (uint16_t)(head >> 1 & 0xfff);
    t.far = (int)(head & 1);
    t.suffix = in_bytes(in, t.suffix_len);
    t.value = in_bytes(in, t.value_len);
    if (in->err)
        return in->err;
    in->last = start;
    if (t.shared + t.suffix_len > FMT_KEY_MAX)
        return in_fail(in, FMT_ERR_FORMAT, "a key is too long");
    if (t.far ? t.value_len != FMT_REF_SIZE : t.value_len > FMT_INLINE_MAX)
        return in_fail(in, FMT_ERR_FORMAT, "impossible length of a value");
    *out = t;
    return FMT_OK;
}

size_t entry_size(size_t suffix_len, size_t value_len)
{
    return 4 + suffix_len + value_len;
}

void entry_put(struct out *out, size_t shared, const uint8_t *suffix, size_t suffix_len,
               const uint8_t *value, size_t value_len, int far)
{
    out_u32(out, (uint32_t)(shared << 24 | suffix_len << 13 | value_len << 1 | (far ? 1 : 0)));
    out_bytes(out, suffix, suffix_len);
    out_bytes(out, value, value_len);
}
