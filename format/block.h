/* block.h - sums, references, slots, block headers, node entries, keys. */
/* SPDX-License-Identifier: MIT */
#ifndef FORMAT_BLOCK_H
#define FORMAT_BLOCK_H

#include "format/in.h"
#include "format/out.h"
#include "format/slot.h"
#include <string.h>

uint64_t sum_of(const void *p, size_t size); /* XXH3-64, seed 0 */
/* Sum of the bytes with zeros for the eight at `hole`; hole + 8 <= size. */
uint64_t sum_with_hole(const void *p, size_t size, size_t hole);
/* The stored form of a payload block's sum: 0 becomes 1 (0 means absent). */
uint64_t sum_stored(const void *p, size_t size);
/* Sums of each 4,096 bytes of a payload; n = ceil(size / 4096). */
void sum_blocks(const void *p, size_t size, uint64_t *sums);
/* The same of whole blocks, which go to another place that overlaps them, if at all, from below. */
void sum_blocks_moved(void *to, const void *from, size_t size, uint64_t *sums);

#define BLOCK_CHECKSUM_AT 32 /* in the header */

struct block_head {
    uint8_t kind, level;
    uint8_t uuid[8];
    uint64_t sequence;
    uint32_t length, count;
    uint64_t checksum;
};
/* Write the header into block[0..40) and seal it: compute the checksum of all length bytes and
 * return it. */
uint64_t block_seal(uint8_t *block, const struct block_head *head);
/* Check the checksum first (FMT_ERR_CHECKSUM: the bytes may have been reused by now), then
 * (FMT_ERR_FORMAT) magic, zeros, length == size, and the limits of the kind on level, count and
 * length. On failure *why says what. */
int block_get(struct block_head *out, const uint8_t *block, size_t size, const char **why);

/* An entry of a node, undecoded: its parts point into the block. */
struct entry {
    const uint8_t *suffix, *value;
    uint16_t shared, suffix_len, value_len;
    int far;
};
/* head = shared x 2^24 + suffix length x 2^13 + value length x 2 + far.  Of an entry that
 * was checked when its node was read. */
static inline struct entry entry_load(const uint8_t *p)
{
    uint32_t head = load_u32(p);
    struct entry e;

    e.shared = (uint16_t)(head >> 24);
    e.suffix_len = (uint16_t)(head >> 13 & 0x7ff);
    e.value_len = (uint16_t)(head >> 1 & 0xfff);
    e.far = (int)(head & 1);
    e.suffix = p + 4;
    e.value = e.suffix + e.suffix_len;
    return e;
}
/* Decode the next entry; checks its own limits, not the order of keys. */
static inline __attribute__((always_inline)) int entry_get(struct in *in, struct entry *out)
{
    size_t start = in->at;
    const char *why = NULL;
    struct entry e;

    if (!in_bytes(in, 4))
        return FMT_ERR_FORMAT;
    e = entry_load(in->p + start);
    if (!in_bytes(in, (size_t)e.suffix_len + e.value_len))
        return FMT_ERR_FORMAT;
    in->last = start;
    if (e.shared + e.suffix_len > FMT_KEY_MAX)
        why = "a key is too long (R4.11)";
    else if (e.far && e.value_len != FMT_REF_SIZE)
        why = "impossible length of a reference (R4.14)";
    else if (e.value_len > FMT_INLINE_MAX)
        why = "impossible length of a value (R4.13)";
    if (why) {
        in_fail(in, FMT_ERR_FORMAT, why);
        return FMT_ERR_FORMAT;
    }
    *out = e;
    return FMT_OK;
}
/* Size of an entry in bytes; and write one. */
static inline size_t entry_size(size_t suffix_len, size_t value_len)
{
    return 4 + suffix_len + value_len;
}
static inline void entry_put(struct out *out, size_t shared, const uint8_t *suffix,
                             size_t suffix_len, const uint8_t *value, size_t value_len, int far)
{
    uint8_t *p = out_room(out, entry_size(suffix_len, value_len));

    if (!p)
        return;
    store_u32(p, (uint32_t)(shared << 24 | suffix_len << 13 | value_len << 1 | (far ? 1 : 0)));
    if (suffix_len)
        memcpy(p + 4, suffix, suffix_len);
    if (value_len)
        memcpy(p + 4 + suffix_len, value, value_len);
}

/* Keys: {space, object, tag, tail}. */
struct key {
    size_t len;
    uint8_t p[FMT_KEY_MAX];
};
static inline void key_make_in(struct key *key, uint8_t space, uint64_t object, uint8_t tag)
{
    key->p[0] = space;
    store_u64(key->p + 1, object);
    key->p[FMT_KEY_TAG_AT] = tag;
    key->len = FMT_KEY_HEAD;
}
/* An entry of the structure: any but an attribute. */
static inline void key_make(struct key *key, uint64_t object, uint8_t tag)
{
    key_make_in(key, FMT_SPACE_STRUCTURE, object, tag);
}
static inline void key_make_attr(struct key *key, uint64_t object)
{
    key_make_in(key, FMT_SPACE_ATTRS, object, FMT_TAG_ATTR);
}
/* Tails of numbers are short: 32 grid coordinates behind the head are the longest. */
void key_add_u8(struct key *key, uint8_t v);
void key_add_u32(struct key *key, uint32_t v);
void key_add_u64(struct key *key, uint64_t v);
static inline int key_add_bytes(struct key *key, const void *p, size_t n)
{
    if (n > FMT_KEY_MAX - key->len)
        return FMT_ERR_NAME; /* too long */
    if (n)
        memcpy(key->p + key->len, p, n);
    key->len += n;
    return FMT_OK;
}

/* Compare as byte strings: less than, equal to or greater than 0; a prefix comes first. Most
 * keys differ in their first bytes, which are numbers. */
static inline int key_compare(const uint8_t *a, size_t alen, const uint8_t *b, size_t blen)
{
    size_t n = alen < blen ? alen : blen, i = 0;
    int order = 0;

    for (; n >= 8 && i < n && i < 24; i += 8) {
        size_t at = n - i < 8 ? n - 8 : i; /* the last ones with some before them */
        uint64_t x = load_u64(a + at), y = load_u64(b + at);

        if (x != y)
            return x < y ? -1 : 1;
    }
    if (i < n)
        order = memcmp(a + i, b + i, n - i);
    return order ? order : (alen > blen) - (alen < blen);
}

static inline uint64_t key_u64(const uint8_t *tail)
{
    return load_u64(tail);
}

static inline uint32_t key_u32(const uint8_t *tail)
{
    return load_u32(tail);
}

static inline uint8_t key_space(const uint8_t *key)
{
    return key[0];
}

/* The object that an entry belongs to. */
static inline uint64_t key_object(const uint8_t *key)
{
    return load_u64(key + 1);
}

static inline void key_set_object(struct key *key, uint64_t object)
{
    store_u64(key->p + 1, object);
}

/* The tag that a key has, which may mean nothing there. */
static inline uint8_t key_tag(const uint8_t *key)
{
    return key[FMT_KEY_TAG_AT];
}

/* The tag of an entry that this version knows; 0: a later version or an application made it, or it
 * stands in a space where its tag means nothing. */
uint8_t key_known(const uint8_t *key);

#endif
