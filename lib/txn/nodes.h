/* nodes.h - writing the dirty nodes of a commit, and its pending list.
 *
 * Their space is reserved before the FREE entries are brought up to date, because writing those
 * entries dirties more nodes.  What the reserved extents do not hold goes to the end of the file.
 */
/* SPDX-License-Identifier: MIT */
#ifndef TXN_NODES_H
#define TXN_NODES_H

#include "base/buf.h"
#include "space/space.h"

#define RESERVED 8

struct node_writer {
    struct store *st;
    struct extent place[RESERVED]; /* what is left of the reserved extents */
    struct extent whole[RESERVED]; /* as they were; empty: taken while nodes were written */
    int n;
    uint64_t first, last; /* of the bytes used */
    uint64_t bytes;       /* their number */
    struct buf out;       /* nodes gathered for one write, */
    uint64_t out_at;      /* which goes here */
};

int nodes_reserve(struct node_writer *w);
/* Write all dirty nodes, children before parents; *root: where the root is then.  The last of them
 * may wait for nodes_write_pending(). */
int nodes_write(struct node_writer *w, struct ref *root);
/* Write the list of what was freed too late for the tree. */
int nodes_write_pending(struct node_writer *w, struct ref *ref);
/* The commit failed: leaves that waited apart still do. */
void nodes_undo(struct store *st);

#endif
