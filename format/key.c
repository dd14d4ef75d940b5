/* key.c - keys of the tree: {object, tag, tail}, big-endian, so that byte order sorts them. */
/* SPDX-License-Identifier: MIT */
#include "format/block.h"

#include <assert.h>

void key_add_u8(struct key *key, uint8_t v)
{
    assert(1 <= FMT_KEY_MAX - key->len);
    key->p[key->len++] = v;
}

void key_add_u32(struct key *key, uint32_t v)
{
    assert(4 <= FMT_KEY_MAX - key->len);
    store_u32(key->p + key->len, v);
    key->len += 4;
}

void key_add_u64(struct key *key, uint64_t v)
{
    assert(8 <= FMT_KEY_MAX - key->len);
    store_u64(key->p + key->len, v);
    key->len += 8;
}
