/* buf.h - a growing array of bytes that one owner uses for many values.
 *
 * {0} is empty; buf_release() frees the memory and leaves {0}.  The contents survive growth, and a
 * failed call leaves the buffer as it was.  Every function that allocates gives 0 or
 * DREP_ERR_NOMEM. */
/* SPDX-License-Identifier: MIT */
#ifndef BASE_BUF_H
#define BASE_BUF_H

#include "format/out.h"

#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct region;
struct regions;

struct buf {
    uint8_t *p;
    size_t len, size;
    struct region *region; /* the region that p is a piece of; NULL: p is from mem_alloc() */
};

/* Slow path of buf_reserve(): size > b->size. */
int buf_grow(struct buf *b, uint64_t size);
static inline int buf_reserve(struct buf *b, uint64_t size)
{
    return size <= b->size ? 0 : buf_grow(b, size);
}
/* Reserve `size` bytes without keeping the contents; len becomes 0. */
int buf_room(struct buf *b, uint64_t size);
/* Replace the contents by a copy. */
int buf_set(struct buf *b, const void *p, size_t len);
/* Append bytes. */
static inline int buf_add(struct buf *b, const void *p, size_t len)
{
    int err = buf_reserve(b, (uint64_t)b->len + len);

    if (err)
        return err;
    if (len)
        memcpy(b->p + b->len, p, len);
    b->len += len;
    return 0;
}
/* Append a text and a NUL; *at is where the text begins. */
static inline int buf_add_text(struct buf *b, const void *p, size_t len, size_t *at)
{
    int err = buf_reserve(b, (uint64_t)b->len + len + 1);

    if (err)
        return err;
    *at = b->len;
    if (len)
        memcpy(b->p + b->len, p, len);
    b->p[b->len + len] = '\0';
    b->len += len + 1;
    return 0;
}
void buf_release(struct buf *b);
/* Back an empty buffer by a piece of `m` of at least `size` bytes.  It stays empty if that is too
 * small for a region, or if there is no memory. */
void buf_take(struct buf *b, struct regions *m, uint64_t size);

/* Initialise an encoder that grows this buffer; buf_done() then takes over its length and its
 * first error. */
void buf_out(struct buf *b, struct out *out);
int buf_done(struct buf *b, const struct out *out);

#endif
