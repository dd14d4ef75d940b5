/* last_block.c - last blocks of chunks that grow, kept in memory. */
/* SPDX-License-Identifier: MIT */
#include "chunk/last_block.h"

#include "base/mem.h"
#include "chunk/run.h"
#include "format/block.h"

#include <string.h>

#define LAST_BLOCKS 16

struct last_block {
    uint64_t offset; /* of the block in the file */
    size_t size;     /* 0: none is kept */
    uint8_t bytes[FMT_SUM_BLOCK];
};

static struct last_block *block_slot(const struct store *st, uint64_t offset)
{
    struct last_block *slot = st->runs->last.slot;

    return slot ? &slot[(offset / FMT_ALIGN * 0x9e3779b97f4a7c15u >> 32) % LAST_BLOCKS] : NULL;
}

void last_block_keep(struct store *st, uint64_t offset, const uint8_t *p, size_t size, uint64_t sum)
{
    struct last_block *b;

    if (!sum || !size || size >= FMT_SUM_BLOCK)
        return; /* nothing can prove it right later, or nothing will be appended to it */
    if (!st->runs->last.slot)
        st->runs->last.slot = mem_zalloc(LAST_BLOCKS, sizeof(*b));
    b = block_slot(st, offset);
    if (!b)
        return;
    memcpy(b->bytes, p, size);
    b->offset = offset;
    b->size = size;
}

bool last_block_take(const struct store *st, uint64_t offset, size_t size, uint64_t sum, uint8_t *p)
{
    const struct last_block *b = block_slot(st, offset);

    if (!b || !sum || !size || b->size != size || b->offset != offset ||
        sum_stored(b->bytes, size) != sum)
        return false;
    memcpy(p, b->bytes, size);
    return true;
}
