/* block.h - reading and writing the checksummed blocks that references lead to.
 *
 * A block is believed only when its reference lies inside the file, and when everything that the
 * reference and its owner say about the block is true.  Blocks are never changed in place: a block
 * that a commit refers to stays as it is until its space is reused. */
/* SPDX-License-Identifier: MIT */
#ifndef TREE_BLOCK_H
#define TREE_BLOCK_H

#include "base/buf.h"
#include "space/store.h"

/* This bit of a reference's offset: the block is not in the file yet but waits apart, for the
 * commit that writes all nodes into one extent. */
#define APART (UINT64_C(1) << 63)

/* Read a block of any kind but a node, and give its content without the block's header. */
int block_load(struct store *st, const struct ref *ref, int kind, struct buf *out, uint32_t *count);
/* Encode such a block into size + FMT_BLOCK_HEAD bytes; *out: its length and checksum. */
void block_compose(const struct store *st, int kind, uint32_t count, const void *content,
                   size_t size, uint8_t *block, struct ref *out);
/* Write such a block at `offset`, which the caller allocated. */
int block_write(struct store *st, int kind, uint32_t count, const void *content, size_t size,
                uint64_t offset, struct ref *out);

/* For tree/load.c.  Read the bytes of a block, unchecked: those that were fetched, if they are what
 * the reference says, else from the file. */
int block_read(struct store *st, struct io *io, const struct ref *ref, uint8_t *block);
/* Check a reference before memory is allocated for its block. */
int block_ref_check(const struct store *st, const struct ref *ref, int kind);
/* Check the bytes of a block against what is known of it; level -1: any. */
int block_check(struct store *st, const struct ref *ref, int kind, int level, const uint8_t *block,
                struct block_head *head);
/* Report that a block is not what its reference says. */
int block_refuse(int err, int kind, const struct ref *ref, const char *why);

#endif
