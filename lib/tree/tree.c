/* tree.c - making and releasing the tree's state in memory, and the check that a node keeps to
 * the bounds of its parent. */
/* SPDX-License-Identifier: MIT */
#include "tree/tree.h"

#include "base/error.h"
#include "base/mem.h"
#include "base/pool.h"

int tree_init(struct tree *t, uint64_t cache_size)
{
    int err = lock_init(&t->lock) ? fail(DREP_ERR_NOMEM, "out of memory: cannot make a lock") : 0;

    t->budget.most = cache_size;
    if (!err)
        err = node_cache_init(&t->nodes, &t->budget);
    if (err)
        return err;
    t->hint = mem_zalloc(HINTS, sizeof(*t->hint));
    t->finger = mem_zalloc(FINGERS, sizeof(*t->finger));
    for (int i = 0; t->finger && i < FINGERS; i++)
        atomic_flag_clear(&t->finger[i].busy);
    t->leaves_max = LEAVES_MAX;
    t->change = 1;
    t->shape = 1;
    return t->hint && t->finger ? 0 : DREP_ERR_NOMEM;
}

/* Free a dirty subtree.  The recursion is as deep as the tree has levels. */
static void release(struct tree_node *n)
{
    for (uint32_t i = 0; n->level && i < n->n; i++) {
        struct child c = child_get(n, i);

        if (c.node)
            release(c.node);
    }
    node_unref(n);
}

void tree_drop_top(struct tree *t)
{
    node_unref(atomic_exchange(&t->top, NULL));
}

void tree_look_at(struct tree *t, const struct ref *root)
{
    t->root = *root;
    tree_drop_top(t);
    t->change++;
}

void tree_release(struct tree *t)
{
    for (int i = 0; t->pin && i < PINS; i++)
        node_unref(t->pin[i].leaf);
    for (int i = 0; t->finger && i < FINGERS; i++)
        node_unref(t->finger[i].leaf);
    tree_drop_top(t);
    if (t->node)
        release(t->node);
    mem_free(t->hint);
    mem_free(t->pin);
    mem_free(t->finger);
    if (t->nodes.budget)
        node_cache_release(&t->nodes);
    pthread_mutex_destroy(&t->lock);
    *t = (struct tree){0};
}

/* ---- bounds ---- */

int bounds_check(const struct bounds *b, const struct tree_node *n)
{
    const uint8_t *first, *last;
    size_t first_len, last_len;

    if (n->level && n->n == 1)
        return 0;
    first = node_first(n, &first_len);
    if (n->level) { /* the first separator may be short */
        first = item_key(n, 1);
        first_len = n->item[1].key_len;
    }
    last = node_last(n, &last_len);
    if ((b->low && key_compare(first, first_len, b->low, b->low_len) < 0) ||
        (b->high && key_compare(last, last_len, b->high, b->high_len) >= 0))
        return fail_byte(DREP_ERR_FORMAT, n->ref.offset,
                         "node at byte %llu: its keys are outside the range of its parent (R4.16)",
                         (unsigned long long)n->ref.offset);
    return 0;
}
