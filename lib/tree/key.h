/* key.h - fast comparison and copying of the tree's keys.
 *
 * Most keys differ in their first seventeen bytes: those are compared as two numbers, which leave
 * out the first byte of the object, a zero in all but hostile files. */
/* SPDX-License-Identifier: MIT */
#ifndef TREE_KEY_H
#define TREE_KEY_H

#include "format/record.h"

#include <stdbool.h>
#include <string.h>

/* The first bytes of a key as two numbers. */
struct key_words {
    uint64_t first, second;
};

static inline struct key_words words_of(const uint8_t *key, size_t len)
{
    uint8_t whole[17] = {0};

    if (len < sizeof(whole)) {
        memcpy(whole, key, len);
        key = whole;
    }
    if (key[1] != 0) /* greater than those of all other objects of the space, and all alike */
        return (struct key_words){(uint64_t)key[0] << 56 | UINT64_MAX >> 8, UINT64_MAX};
    return (struct key_words){(uint64_t)key[0] << 56 | load_u64(key + 1), load_u64(key + 9)};
}

/* True for words that several objects may have. */
static inline bool words_alike(struct key_words w)
{
    return w.second == UINT64_MAX;
}

static inline int words_compare(struct key_words a, struct key_words b)
{
    if (a.first != b.first)
        return a.first < b.first ? -1 : 1;
    return (a.second > b.second) - (a.second < b.second);
}

/* Length of the common prefix. */
static inline size_t key_common(const uint8_t *a, size_t alen, const uint8_t *b, size_t blen)
{
    size_t max = alen < blen ? alen : blen;
    size_t i = 0;

    for (; i + 8 <= max; i += 8) {
        uint64_t differ = load_u64(a + i) ^ load_u64(b + i);

        if (differ)
            return i + (size_t)__builtin_clzll(differ) / 8;
    }
    while (i < max && a[i] == b[i])
        i++;
    return i;
}

/* Length of the common prefix of two keys, as far as the format counts it. */
#define KEY_SHARED_MAX 255
static inline size_t key_shared(const uint8_t *a, size_t alen, const uint8_t *b, size_t blen)
{
    return key_common(a, alen < KEY_SHARED_MAX ? alen : KEY_SHARED_MAX, b, blen);
}

/* Copy few bytes without a call: most keys and values are short. */
static inline void copy_short(uint8_t *to, const uint8_t *from, size_t n)
{
    uint8_t first[16], last[16];

    if (n > 32 || n < 8) {
        memcpy(to, from, n);
    } else if (n > 16) {
        memcpy(first, from, 16);
        memcpy(last, from + n - 16, 16);
        memcpy(to, first, 16);
        memcpy(to + n - 16, last, 16);
    } else {
        memcpy(first, from, 8);
        memcpy(last, from + n - 8, 8);
        memcpy(to, first, 8);
        memcpy(to + n - 8, last, 8);
    }
}

#define NODE_SLACK 16u /* bytes behind a block that may be read */

/* Apply an entry to the key before it: its suffix replaces all but the shared bytes.
 * Most suffixes are short: they are copied with the bytes behind them, which
 * may be read. */
static inline void key_follow(const struct entry *e, struct key *key)
{
    uint8_t *to = key->p + e->shared;

    if (e->suffix_len <= NODE_SLACK)
        memcpy(to, e->suffix, NODE_SLACK);
    else
        memcpy(to, e->suffix, e->suffix_len);
    key->len = (size_t)e->shared + e->suffix_len;
}

#endif
