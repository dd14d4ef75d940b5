/* cache.h - the clean nodes read last, for any number of threads.
 *
 * A node is found by its offset in the file, and is the right one only if length and checksum agree
 * too: space is reused.  Each shard has a lock, which is held to look and never while reading. */
/* SPDX-License-Identifier: MIT */
#ifndef TREE_CACHE_H
#define TREE_CACHE_H

#include "base/budget.h"
#include "tree/node.h"

#include <pthread.h>

#define CACHE_SHARDS 16
/* The offset stands beside the pointer, so that a probe touches no node but the right one. */
struct cache_place {
    uint64_t offset;
    struct tree_node *node; /* NULL: free */
    int touched;            /* since the hand passed */
};
struct cache_shard {
    pthread_mutex_t lock;
    struct cache_place *place; /* at most half of them taken, or as many as there is memory for */
    size_t places, taken;
    size_t hand;   /* goes round over the places and takes what was not touched */
    size_t memory; /* of the nodes and of the places */
};
struct node_cache {
    struct cache_shard shard[CACHE_SHARDS];
    struct budget *budget;
    struct regions mem; /* for leaves */
};
int node_cache_init(struct node_cache *c, struct budget *budget);
void node_cache_release(struct node_cache *c);
void node_cache_clear(struct node_cache *c);
/* Give the node that stands there with a reference for the caller, or NULL. */
struct tree_node *node_cache_get(struct node_cache *c, const struct ref *ref);
/* Memory for a leaf that will be cached; NULL while nodes are few, so that a small file takes no
 * more than it needs. */
struct regions *node_cache_regions(struct node_cache *c);
/* Keep a node; the cache takes a reference of its own. */
void node_cache_put(struct node_cache *c, struct tree_node *n);

#endif
