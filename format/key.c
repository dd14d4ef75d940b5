/* key.c - keys of the tree: {object, tag, tail}, big-endian, so that byte order sorts them. */
#include "format/block.h"

#include <assert.h>

/* Tails of numbers are short: 32 grid coordinates behind object and tag are the longest. */
static void key_add(struct key *key, uint64_t v, size_t size)
{
    assert(size <= FMT_KEY_MAX - key->len);
    while (size > 0)
        key->p[key->len++] = (uint8_t)(v >> 8 * --size);
}

void key_make(struct key *key, uint64_t object, uint8_t tag)
{
    key->len = 0;
    key_add(key, object, 8);
    key_add(key, tag, 1);
}

void key_add_u8(struct key *key, uint8_t v)
{
    key_add(key, v, 1);
}

void key_add_u32(struct key *key, uint32_t v)
{
    key_add(key, v, 4);
}

void key_add_u64(struct key *key, uint64_t v)
{
    key_add(key, v, 8);
}

int key_add_bytes(struct key *key, const void *p, size_t n)
{
    if (n > FMT_KEY_MAX - key->len)
        return FMT_ERR_NAME;
    if (n)
        memcpy(key->p + key->len, p, n);
    key->len += n;
    return FMT_OK;
}
