/* node.h - one node of the tree in memory.
 *
 * A node is either dirty or clean.  A dirty node belongs to its parent and is changed in place;
 * only the writer sees it.  A clean node stands in the file: it never changes, and any number of
 * threads may hold it by reference.  Dirty nodes and interior ones keep whole keys in an arena
 * (they are compressed only in the file), so a search is a binary search with memcmp.  A clean leaf
 * is kept as it stands in the file, with the head of each entry and the whole key of every
 * sixteenth: most of what is read is looked at once. */
/* SPDX-License-Identifier: MIT */
#ifndef TREE_NODE_H
#define TREE_NODE_H

#include "format/block.h"
#include "base/regions.h"
#include "tree/key.h"

#include <stdatomic.h>

#define ITEM_FAR 0x8000u

struct item {
    uint32_t at; /* of the key in the arena; the value follows it */
    uint16_t key_len;
    uint16_t value_len; /* with ITEM_FAR: the value is a reference to a block */
};

/* The value of an item in an interior node. */
struct child {
    struct ref ref;         /* where it stands; length 0 when dirty */
    struct tree_node *node; /* the dirty one, else NULL */
    uint64_t apart; /* where a leaf waited, when the commit under way has given it a place */
};

/* The whole key of one entry of a clean leaf, in the leaf's arena. */
struct mark {
    struct key_words words;
    uint32_t at;
    uint16_t len;
    uint16_t in_block; /* where the entry stands */
};
#define MARKED 16u /* every such entry has one, and the last */

/* The part of an entry of a clean leaf that rules it out in a search, so that a search reads the
 * block only where the key may be.  Sixteen of them fill one cache line. */
struct entry_head {
    uint16_t at;    /* in the block */
    uint8_t shared; /* bytes with the key before */
    uint8_t first;  /* of those that follow; only the first entry may have none */
};

/* Marks of whole MARKED entries; behind them stands that of the last entry. */
static inline uint32_t marks_of(uint32_t n)
{
    return (n + MARKED - 1) / MARKED;
}

struct tree_node {
    /* A look-up in the cache reads these first: one line of memory. */
    atomic_int refs;
    uint8_t level;
    uint8_t dirty;
    uint8_t loose;          /* clean leaf: its arena was too small, and is allocated apart */
    struct ref ref;         /* where it stands, length 0 when dirty */
    _Atomic uint64_t under; /* the parent (its offset) whose bounds were checked */
    uint32_t n, room;       /* items */
    /* A clean leaf has no items.  All of it is one piece of memory: this struct, the marks, the
     * head of each entry in the block, the arena, the block. */
    struct mark *mark;
    struct entry_head *entry;
    uint8_t *block;
    uint8_t *arena;
    struct item *item;
    uint32_t used, size;               /* bytes of the arena */
    uint32_t waste;                    /* of those, not in use any more */
    uint32_t last;                     /* the item that was put in last */
    size_t bytes;                      /* in the file, header included */
    struct key_words *words;           /* clean interior node: its keys' words */
    _Atomic(struct tree_node *) *kept; /* and its interior children, once they were loaded */
    struct tree_node *parent;          /* of a dirty one; NULL: the root */
    struct region *from;               /* whose piece it is; NULL: from mem_alloc() */
};

/* Entry i of a clean leaf. */
static inline struct entry node_entry(const struct tree_node *n, uint32_t i)
{
    return entry_load(n->block + n->entry[i].at);
}

static inline uint32_t node_marks(const struct tree_node *n)
{
    return marks_of(n->n);
}

static inline const uint8_t *item_key(const struct tree_node *n, uint32_t i)
{
    return n->arena + n->item[i].at;
}

static inline const uint8_t *item_value(const struct tree_node *n, uint32_t i)
{
    return n->arena + n->item[i].at + n->item[i].key_len;
}

static inline size_t item_value_len(const struct tree_node *n, uint32_t i)
{
    return n->item[i].value_len & ~ITEM_FAR;
}

static inline int item_compare(const struct tree_node *n, uint32_t i, const uint8_t *key,
                               size_t len)
{
    return key_compare(item_key(n, i), n->item[i].key_len, key, len);
}

struct tree_node *node_new(int level);                  /* dirty and empty, one reference */
struct tree_node *node_copy(const struct tree_node *n); /* dirty */
static inline void node_ref(struct tree_node *n)
{
    atomic_fetch_add_explicit(&n->refs, 1, memory_order_relaxed);
}
void node_unref(struct tree_node *n);
size_t node_memory(const struct tree_node *n);

/* ---- every node, with items or without ---- */

/* Find the first entry whose key is >= key; *equal: it is that key. */
uint32_t node_find(const struct tree_node *n, const uint8_t *key, size_t len, int *equal);
/* Like node_find() in a clean leaf, starting behind entry i, whose key is this lesser one;
 * UINT32_MAX: the key is not among the next few entries. */
uint32_t node_find_behind(const struct tree_node *n, uint32_t i, const uint8_t *before,
                          size_t before_len, const uint8_t *key, size_t len, int *equal);
/* Copy the key of entry i. */
void node_key(const struct tree_node *n, uint32_t i, struct key *key);
/* Like node_key() where *key is that of entry i - 1. */
void node_next_key(const struct tree_node *n, uint32_t i, struct key *key);
/* Give a leaf's value in place; *len with ITEM_FAR. */
const uint8_t *node_value(const struct tree_node *n, uint32_t i, size_t *len);
/* Give the first and the last key in place. */
const uint8_t *node_first(const struct tree_node *n, size_t *len);
const uint8_t *node_last(const struct tree_node *n, size_t *len);

/* ---- nodes with items: dirty or interior ---- */

/* The child below which a key belongs. */
uint32_t node_child(const struct tree_node *n, const uint8_t *key, size_t len);
static inline struct child child_get(const struct tree_node *n, uint32_t i)
{
    struct child c;

    memcpy(&c, item_value(n, i), sizeof(c));
    return c;
}
void child_set(struct tree_node *n, uint32_t i, const struct child *c);
/* The index of a dirty node in its parent. */
uint32_t node_index(const struct tree_node *n);

/* Make room in memory for `items` more items with `bytes` bytes of keys and values; the changes
 * below cannot fail then. */
int node_make_room(struct tree_node *n, uint32_t items, size_t bytes);
static inline int node_reserve(struct tree_node *n, uint32_t items, size_t bytes)
{
    if (n->room - n->n >= items && n->size - n->used >= bytes)
        return 0;
    return node_make_room(n, items, bytes);
}
/* Bytes that the node will take in the file with this item inserted before item i. */
size_t node_grown(const struct tree_node *n, uint32_t i, const uint8_t *key, size_t key_len,
                  size_t value_len);
/* Insert an item.  Room was reserved; value_len with ITEM_FAR; bytes: from node_grown(). */
void node_insert(struct tree_node *n, uint32_t i, const uint8_t *key, size_t key_len,
                 const void *value, size_t value_len, size_t bytes);
/* Replace the value of item i.  Room was reserved. */
void node_replace(struct tree_node *n, uint32_t i, const void *value, size_t value_len);
void node_remove(struct tree_node *n, uint32_t i);
/* Empty the first key of an interior node: keys below it need no check then. */
void node_open_left(struct tree_node *n);
/* Move items from `from` on to the end of `to`.  Room was reserved. */
void node_move(struct tree_node *n, uint32_t from, struct tree_node *to);
/* Bytes that item i takes in the file. */
size_t node_item_bytes(const struct tree_node *n, uint32_t i);

#endif
