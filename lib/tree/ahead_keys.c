/* ahead_keys.c - the leaves of known keys, fetched by one vector where a round trip is dear.
 *
 * Only the nodes above the leaves are read on the way: those come together too (tree/ahead.h). */
/* SPDX-License-Identifier: MIT */
#include "tree/ahead_keys.h"

#include "base/error.h"
#include "base/mem.h"
#include "tree/ahead.h"
#include "tree/descend.h"

void ahead_keys(struct store *st, size_t n, ahead_key_fn *key, void *ctx)
{
    struct io_range *range = mem_array(n, sizeof(*range));
    uint64_t before = 0;
    size_t many = 0;
    struct fail_state why;
    struct key k;

    fail_save(&why);
    for (size_t i = 0; range && i < n; i++) {
        struct tree_node *above;
        struct trail t;
        struct child c;
        uint32_t at;

        key(ctx, i, &k);
        if (descend_above(st, k.p, k.len, &t, &above, &at))
            break;
        c = child_get(above, at);
        if (!c.node && c.ref.offset != before && !ahead_node_there(st, &c.ref))
            range[many++] = (struct io_range){c.ref.offset, c.ref.length, NULL};
        before = c.ref.offset;
        trail_release(&t);
    }
    if (range)
        ahead_blocks(st, range, many);
    mem_free(range);
    fail_restore(&why);
}
