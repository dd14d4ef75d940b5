/* encode.h - nodes from and to the bytes of a block (SPEC.md describes them).
 *
 * Decoding checks everything that later searches rely on: the order of keys, their number and
 * lengths, and what a node of its level may hold.  Nothing behind it checks again. */
/* SPDX-License-Identifier: MIT */
#ifndef TREE_ENCODE_H
#define TREE_ENCODE_H

#include "tree/node.h"

/* Decode a block behind which NODE_SLACK bytes may be read.  A leaf takes a piece of mem, unless
 * that is NULL.  On failure *why says what is wrong, and *at at which byte of the block. */
int node_decode(struct tree_node **out, struct regions *mem, const uint8_t *block,
                const struct block_head *head, const char **why, size_t *at);
/* Write n->bytes bytes, the entries behind a sealed header; gives the checksum. */
uint64_t node_encode(const struct tree_node *n, uint8_t *block, const uint8_t uuid[8],
                     uint64_t sequence);

#endif
