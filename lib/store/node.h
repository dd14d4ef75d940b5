/* node.h - a node of the tree in memory, and the cache of nodes that stand in the file.
 *
 * Keys are whole here (compressed only in the file), so a search is a binary search with
 * memcmp.  A node is either dirty, owned by its parent and changed in place, or it stands
 * in the file: then it never changes, and any number of threads may hold it. */
#ifndef STORE_NODE_H
#define STORE_NODE_H

#include "format/block.h"

#include <pthread.h>
#include <stdatomic.h>

#define ITEM_FAR 0x8000u

struct item {
    uint32_t at; /* of the key in the arena; the value follows it */
    uint16_t key_len;
    uint16_t value_len; /* with ITEM_FAR: the value is a reference to a block */
};

/* The value of an item of an interior node. */
struct child {
    struct ref ref;    /* where it stands; length 0 when dirty */
    struct node *node; /* the dirty one, else NULL */
};

struct node {
    atomic_int refs;
    uint8_t level;
    uint8_t dirty;
    uint32_t n, room;    /* items */
    uint32_t used, size; /* bytes of the arena */
    uint32_t waste;      /* of those, not in use any more */
    uint32_t last;       /* the item that was put in last */
    size_t bytes;        /* in the file, header included */
    struct item *item;
    uint8_t *arena;
    struct node *parent; /* of a dirty one; NULL: the root */
    struct ref ref;      /* where it stands, length 0 when dirty */
    struct node *chain;  /* the cache's */
    struct node *newer, *older;
};

static inline const uint8_t *item_key(const struct node *n, uint32_t i)
{
    return n->arena + n->item[i].at;
}

static inline const uint8_t *item_value(const struct node *n, uint32_t i)
{
    return n->arena + n->item[i].at + n->item[i].key_len;
}

static inline size_t item_value_len(const struct node *n, uint32_t i)
{
    return n->item[i].value_len & ~ITEM_FAR;
}

static inline int item_compare(const struct node *n, uint32_t i, const uint8_t *key, size_t len)
{
    return key_compare(item_key(n, i), n->item[i].key_len, key, len);
}

struct node *node_new(int level); /* dirty and empty, one reference */
struct node *node_copy(const struct node *n);
void node_ref(struct node *n);
void node_unref(struct node *n);
size_t node_memory(const struct node *n);

/* The first item whose key is >= key; *equal: it is that key. */
uint32_t node_find(const struct node *n, const uint8_t *key, size_t len, int *equal);
/* The child below which a key belongs. */
uint32_t node_child(const struct node *n, const uint8_t *key, size_t len);
struct child child_get(const struct node *n, uint32_t i);
void child_set(struct node *n, uint32_t i, const struct child *c);
/* Which item of its parent this dirty node is. */
uint32_t node_index(const struct node *n);

/* Makes sure that `items` more items with `bytes` of keys and values fit in memory; what
 * follows cannot fail then. */
int node_reserve(struct node *n, uint32_t items, size_t bytes);
/* Bytes the node would take in the file with this item put in before item i. */
size_t node_grown(const struct node *n, uint32_t i, const uint8_t *key, size_t key_len,
                  size_t value_len);
/* Reserved before; value_len with ITEM_FAR. */
void node_insert(struct node *n, uint32_t i, const uint8_t *key, size_t key_len, const void *value,
                 size_t value_len);
/* A new value for item i; reserved before. */
void node_replace(struct node *n, uint32_t i, const void *value, size_t value_len);
void node_remove(struct node *n, uint32_t i);
/* The first key of an interior node becomes empty: keys below it need no check then. */
void node_open_left(struct node *n);
/* Moves items from `from` on to the end of `to`; reserved before. */
void node_move(struct node *n, uint32_t from, struct node *to);
/* Length of the key's first bytes that are equal, at most 255. */
size_t key_shared(const uint8_t *a, size_t alen, const uint8_t *b, size_t blen);

/* From the bytes behind a block's header: checks entries, their order, what a node of this
 * level may hold.  On failure *why says what, *at at which byte of the block. */
int node_decode(struct node **out, const uint8_t *block, const struct block_head *head,
                const char **why, size_t *at);
/* Writes n->bytes bytes: entries and a sealed header; gives the checksum. */
uint64_t node_encode(const struct node *n, uint8_t *block, const uint8_t uuid[8],
                     uint64_t sequence);

/* ---- the cache of nodes that stand in the file ---- */

#define CACHE_SHARDS 16
#define CACHE_CHAINS 64
struct cache_shard {
    pthread_mutex_t lock;
    struct node *chain[CACHE_CHAINS];
    struct node *newest, *oldest;
    size_t memory;
};
struct node_cache {
    struct cache_shard shard[CACHE_SHARDS];
};
int node_cache_init(struct node_cache *c);
void node_cache_release(struct node_cache *c);
void node_cache_clear(struct node_cache *c);
/* A reference to the node that stands there, or NULL. */
struct node *node_cache_get(struct node_cache *c, const struct ref *ref);
/* The cache takes a reference of its own. */
void node_cache_put(struct node_cache *c, struct node *n);

#endif
