/* tree.h - the tree's state in memory: its root, and short cuts to leaves.
 *
 * The tree maps keys to values.  Until something changes, `root` refers to nodes in the file.  The
 * first change copies the path from the root to a leaf into memory (tree/path.c); from then on
 * `node` is the root, and dirty nodes stay in memory until the commit writes them.  Nodes of a
 * commit are never changed, so readers of that commit need no lock.
 *
 * `change` and `shape` are versions: whatever remembers a leaf keeps the version with it, and is
 * worthless when the version has moved on.  The writer owns all of it, but for what `lock` protects
 * and for what is atomic. */
/* SPDX-License-Identifier: MIT */
#ifndef TREE_TREE_H
#define TREE_TREE_H

#include "space/store.h"
#include "tree/cache.h"

#define LEAF_MAX                                                                                   \
    4096u               /* dirty leaves are smaller than they may be: less is copied for one entry \
                         */
#define LEAVES_MAX 1024 /* dirty leaves in memory, about 12 MiB */

/* The interval that all keys of a subtree lie in: low <= key < high; NULL: no bound.  The bytes are
 * those of separators in the nodes above. */
struct bounds {
    const uint8_t *low, *high;
    size_t low_len, high_len;
};

/* Narrow the bounds of n to those of its child i. */
static inline void bounds_narrow(struct bounds *b, const struct tree_node *n, uint32_t i)
{
    /* The first separator may be lower than the bound that already holds. */
    if (i > 0 || (n->item[0].key_len && (!b->low || item_compare(n, 0, b->low, b->low_len) > 0))) {
        b->low = item_key(n, i);
        b->low_len = n->item[i].key_len;
    }
    if (i + 1 < n->n) {
        b->high = item_key(n, i + 1);
        b->high_len = n->item[i + 1].key_len;
    }
}
/* Check that the keys of n lie within the bounds. */
int bounds_check(const struct bounds *b, const struct tree_node *n);

/* A dirty leaf changed lately (tree/hint.h). */
#define HINTS 8
#define HINT_KINDS 32
struct leaf_hint {
    struct tree_node *leaf;
    uint64_t shape;
    struct key_words low, high; /* of the bounds */
    struct bounds bounds;
};

/* A leaf that a walk stands in (tree/walk.c). */
#define PINS 16
struct pin {
    uint64_t stamp;
    uint64_t change;
    struct tree_node *leaf;
    bool has_high; /* keys of the leaf are less than: */
    struct key high;
};

/* The place where a look-up ended, in a clean leaf (tree/find.c): the next one of the same thread
 * is often just behind it. */
#define FINGERS 64
#define FINGER_KEY 48 /* longer keys leave none */
struct finger {
    atomic_flag busy; /* a thread uses it */
    uint64_t change;
    struct tree_node *leaf;
    uint32_t at; /* the entry of: */
    uint32_t len;
    uint8_t key[FINGER_KEY];
};

/* Leaves that are read in turn, where a round trip is dear (tree/ahead.c). */
#define STREAMS 4
struct stream_ahead {
    uint64_t parent; /* where the node above stands */
    uint32_t next;   /* its child that was not fetched yet */
    bool ended;      /* there is none: the stream goes on below another node */
    uint64_t size;   /* bytes that were fetched last */
};

struct tree {
    struct tree_node *node;          /* the root when it is dirty */
    struct ref root;                 /* when it is clean; length 0: the tree is empty */
    _Atomic(struct tree_node *) top; /* the clean root, once it was read */
    uint64_t change;                 /* version of the entries */
    uint64_t shape;                  /* version of the nodes: splits, merges and spills */
    size_t leaves;                   /* dirty ones in memory */
    size_t leaves_max;               /* beyond which they are written early */
    bool spilled;                    /* some were, since the last commit */
    struct io *apart;                /* leaves that wait apart for the commit, or NULL */
    uint64_t apart_end;              /* bytes there */
    struct io *kept;                 /* of a stream: its blocks, at their offsets, or NULL */
    struct leaf_hint *hint;
    unsigned next_hint;         /* to be replaced */
    uint8_t served[HINT_KINDS]; /* the hint that served keys of a kind last */
    struct finger *finger;
    pthread_mutex_t lock; /* of the pins */
    struct pin *pin;      /* NULL before the first walk */
    uint64_t next_stamp;
    struct stream_ahead stream[STREAMS]; /* under `lock` too; the one that was used last first */
    struct node_cache nodes;             /* has locks of its own */
    struct budget budget;                /* of both caches */
};

/* cache_size: bytes of both caches. */
int tree_init(struct tree *t, uint64_t cache_size);
void tree_release(struct tree *t);
/* Look at another commit's tree.  Nobody else may use the store. */
void tree_look_at(struct tree *t, const struct ref *root);
/* Forget the clean root. */
void tree_drop_top(struct tree *t);

#endif
