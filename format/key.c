/* key.c - keys of the tree: {space, object, tag, tail}, big-endian, so that byte order sorts them.
 */
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

uint8_t key_known(const uint8_t *key)
{
    switch (key_tag(key)) {
    case FMT_TAG_ATTR:
        return key_space(key) == FMT_SPACE_ATTRS ? FMT_TAG_ATTR : 0;
    case FMT_TAG_FREE:
    case FMT_TAG_LOG:
    case FMT_TAG_TYPE:
    case FMT_TAG_FILES:
    case FMT_TAG_OBJECT:
    case FMT_TAG_DATA:
    case FMT_TAG_LINK:
    case FMT_TAG_DIM:
    case FMT_TAG_CHUNK:
    case FMT_TAG_USER:
        return key_space(key) == FMT_SPACE_STRUCTURE ? key_tag(key) : 0;
    default:
        return 0;
    }
}
