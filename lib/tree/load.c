/* load.c - clean nodes: read from the file, or found in the cache. */
/* SPDX-License-Identifier: MIT */
#include "tree/load.h"

#include "base/error.h"
#include "tree/block.h"
#include "tree/encode.h"

#include <string.h>

int node_fetch(struct store *st, const struct ref *ref, uint8_t *block)
{
    struct io *io = ref->offset & APART ? st->tree->apart : st->io;

    return block_read(st, io, ref, block);
}

int node_read(struct store *st, const struct ref *ref, int level, struct tree_node **out)
{
    uint8_t block[FMT_NODE_MAX + NODE_SLACK]; /* every node comes through here on its way into the
                                               * caches */
    struct block_head head;
    const char *why = "";
    struct tree_node *n;
    size_t at = 0;
    int err = block_ref_check(st, ref, FMT_NODE);

    if (!err)
        err = node_fetch(st, ref, block);
    if (!err)
        err = block_check(st, ref, FMT_NODE, level, block, &head);
    if (err)
        return err;
    memset(block + ref->length, 0, NODE_SLACK);
    err = node_decode(&n, node_cache_regions(&st->tree->nodes), block, &head, &why, &at);
    if (err == DREP_ERR_NOMEM)
        return err;
    if (err)
        return fail_byte(err, ref->offset + at, "node at byte %llu: %s at byte %llu",
                         (unsigned long long)ref->offset, why,
                         (unsigned long long)(ref->offset + at));
    n->ref = *ref;
    *out = n;
    return 0;
}

int node_load(struct store *st, const struct ref *ref, int level, struct tree_node **out)
{
    struct tree_node *n = node_cache_get(&st->tree->nodes, ref);
    int err;

    if (n && level >= 0 && n->level != level) {
        node_unref(n);
        return block_refuse(DREP_ERR_FORMAT, FMT_NODE, ref, "wrong level (R4.5)");
    }
    if (!n) {
        err = node_read(st, ref, level, &n);
        if (err)
            return err;
        node_cache_put(&st->tree->nodes, n);
    }
    *out = n;
    return 0;
}
