/* node.c - the entries of a node of the tree. */
#include "format/block.h"

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
