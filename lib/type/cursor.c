/* cursor.c - walks the data items of a tiled typemap from any position.
 *
 * Seeking divides; going on does not.  The cursor always holds the next leaf
 * ready: when a run uses one up, the one behind it is looked at anyway, and taken
 * along where it goes on.  Offsets wrap instead of overflowing, because the leaf
 * held ready may lie beyond whatever the caller has. */
/* SPDX-License-Identifier: MIT */
#include "type/build.h"

#include "base/error.h"

#include <datarep.h>
#include <string.h>

struct frame {
    const struct node *node; /* not a leaf */
    int64_t base;            /* loop: origin of this turn; list and sequence: of the node */
    int64_t index;           /* turn or branch */
};

/* The content of a drep_cursor. */
struct __attribute__((may_alias)) cursor {
    const struct node *root;
    int64_t extent;
    int64_t tile;                 /* origin of the root in this tile */
    const struct node *node;      /* the leaf */
    const drep_type *leaf;        /* its type */
    int64_t offset, stride, left; /* of the leaf's next item, and items left */
    int64_t depth;
    struct frame frame[NODE_DEPTH_MAX];
};

_Static_assert(sizeof(struct cursor) <= sizeof(drep_cursor), "a cursor does not fit");

static inline int64_t wrap_add(int64_t a, int64_t b)
{
    return (int64_t)((uint64_t)a + (uint64_t)b);
}

static inline int64_t wrap_sub(int64_t a, int64_t b)
{
    return (int64_t)((uint64_t)a - (uint64_t)b);
}

static inline int64_t wrap_mul(int64_t a, int64_t b)
{
    return (int64_t)((uint64_t)a * (uint64_t)b);
}

/* Goes down to the first leaf of node, which begins at the node's origin. */
static inline void enter(struct cursor *c, const struct node *node, int64_t offset)
{
    while (node->op != NODE_LEAF) {
        c->frame[c->depth++] = (struct frame){node, offset, 0};
        node = node->child[0];
    }
    c->node = node;
    c->leaf = node->leaf;
    c->offset = offset;
    c->stride = node->stride;
    c->left = node->count;
}

/* Advance to the next leaf. */
static inline void advance(struct cursor *c)
{
    while (c->depth) {
        struct frame *f = &c->frame[c->depth - 1];

        if (++f->index < f->node->count) {
            if (f->node->op == NODE_LOOP) {
                f->base = wrap_add(f->base, f->node->stride);
                enter(c, f->node->child[0], f->base);
                return;
            }
            enter(c, f->node->child[f->node->op == NODE_SEQ ? f->index : 0],
                  wrap_add(f->base, f->node->offset[f->index]));
            return;
        }
        c->depth--;
    }
    c->tile = wrap_add(c->tile, c->extent);
    enter(c, c->root, c->tile);
}

/* The last branch whose first item is not behind `rest`. */
static int64_t branch_of(const struct node *node, int64_t rest)
{
    int64_t low = 0;
    int64_t high = node->count;

    while (high - low > 1) {
        int64_t middle = low + (high - low) / 2;

        if (node->first[middle] <= rest)
            low = middle;
        else
            high = middle;
    }
    return low;
}

/* Goes down to item `rest` of node. */
static void seek(struct cursor *c, const struct node *node, int64_t offset, int64_t rest)
{
    while (node->op != NODE_LEAF) {
        struct frame *f = &c->frame[c->depth++];

        *f = (struct frame){node, offset, 0};
        if (node->op == NODE_SEQ) {
            f->index = branch_of(node, rest);
            rest -= node->first[f->index];
        } else {
            f->index = rest / node->child[0]->items;
            rest -= f->index * node->child[0]->items;
        }
        if (node->op == NODE_LOOP)
            f->base = offset = wrap_add(offset, wrap_mul(f->index, node->stride));
        else
            offset = wrap_add(offset, node->offset[f->index]);
        node = node->child[node->op == NODE_SEQ ? f->index : 0];
    }
    c->node = node;
    c->leaf = node->leaf;
    c->offset = wrap_add(offset, wrap_mul(rest, node->stride));
    c->stride = node->stride;
    c->left = node->count - rest;
}

/* An element that is one leaf whose tiling goes on regularly is a leaf without
 * end. */
static bool endless(const struct prog *p, int64_t *stride)
{
    int64_t end;

    if (p->root->op != NODE_LEAF)
        return false;
    *stride = p->root->count == 1 ? p->extent : p->root->stride;
    return !__builtin_mul_overflow(p->root->count, *stride, &end) && end == p->extent;
}

/* Positions count through the tiled typemap. A typemap that is one array gets a single leaf
 * without end, so that its items need no walk at all. */
int cursor_init(drep_cursor *cursor, const struct prog *prog, int64_t position)
{
    struct cursor *c = (struct cursor *)cursor->opaque;
    int64_t stride, tile;

    if (position < 0)
        return fail(DREP_ERR_ARG, "position %lld is negative", (long long)position);
    c->root = prog->root;
    c->node = prog->root;
    c->leaf = NULL;
    c->left = 0;
    c->depth = 0;
    if (!prog->root)
        return 0;
    c->extent = prog->extent;
    tile = position / prog->items;
    if (__builtin_mul_overflow(tile, prog->extent, &c->tile) ||
        __builtin_add_overflow(c->tile, prog->origin, &c->tile)) {
        c->root = NULL;
        return fail(DREP_ERR_VALUE_TOO_LARGE, "item %lld lies beyond 2^63 bytes",
                    (long long)position);
    }
    if (!endless(prog, &stride)) {
        seek(c, prog->root, c->tile, position - tile * prog->items);
        return 0;
    }
    c->leaf = prog->root->leaf;
    c->stride = stride;
    c->offset = wrap_add(c->tile, wrap_mul(position - tile * prog->items, stride));
    c->left = INT64_MAX;
    return 0;
}

/* Append the leaf held ready to the run, with as many items as the run still takes, if it
 * continues where the run ends. Two single items do only if they touch: a single item's stride
 * is its size. */
static bool take(struct cursor *c, int64_t max, drep_run *run)
{
    int64_t n = c->left < max ? c->left : max;
    int64_t last = wrap_add(run->offset, wrap_mul(run->count - 1, run->stride));
    int64_t gap = wrap_sub(c->offset, last);

    if (run->count > 1 ? gap != run->stride : gap != c->stride)
        return false;
    if (c->left > 1 && gap != c->stride)
        return false;
    run->stride = gap;
    run->count += n;
    c->left -= n;
    c->offset = wrap_add(c->offset, wrap_mul(n, c->stride));
    return true;
}

/* Advance to the next turn of a loop of leaves, if there is one: no two of them are one run. */
static inline bool next_turn(struct cursor *c)
{
    struct frame *f;

    if (c->depth == 0)
        return false;
    f = &c->frame[c->depth - 1];
    if (f->node->op != NODE_LOOP || f->index + 1 == f->node->count)
        return false;
    f->index++;
    f->base = c->offset = wrap_add(f->base, f->node->stride);
    c->left = c->node->count;
    return true;
}

int cursor_next(drep_cursor *cursor, int64_t max, drep_run *run)
{
    struct cursor *c = (struct cursor *)cursor->opaque;
    int64_t n = c->left;

    if (max <= 0 || !c->root)
        return 0;
    run->type = c->leaf;
    run->offset = c->offset;
    run->stride = c->stride;
    if (max < n) {
        run->count = max;
        c->left = n - max;
        c->offset = wrap_add(c->offset, wrap_mul(max, c->stride));
        return 1;
    }
    run->count = n;
    if (next_turn(c))
        return 1;
    advance(c);
    while (run->count < max && c->leaf == run->type && take(c, max - run->count, run))
        if (c->left == 0)
            advance(c);
    return 1;
}

/* ------------------------------------------------------------------ windows */

/* Items of a frame's node that lie before the turn or branch it is in. */
static int64_t before(const struct frame *f)
{
    return f->node->op == NODE_SEQ ? f->node->first[f->index] : f->index * f->node->child[0]->items;
}

/* The turns from the one on that the frame above is in; at: the first of them. */
static void window_turns(struct window *out, const struct frame *above, int64_t at)
{
    out->at = at;
    out->turns = 1;
    if (above->node->op == NODE_SEQ)
        return;
    out->turns = above->node->count - above->index;
    if (above->node->op == NODE_LOOP) {
        out->stride = above->node->stride;
        return;
    }
    out->at = above->base;
    out->list = above->node->offset + above->index;
}

/* Small enough to be a window's turn?  What repeats goes better as turns of what it
 * repeats; the fields of a struct do not repeat. */
static bool is_turn(const struct node *node)
{
    return node->runs <= (node->op == NODE_SEQ ? WINDOW_FIELDS : WINDOW_RUNS);
}

/* Take the largest node on the way down to the leaf that is small enough for a window, and count
 * how many of its turns follow. Offsets are added with wrap-around: only those of items that
 * exist are used. */
void cursor_window(drep_cursor *cursor, struct window *out)
{
    struct cursor *c = (struct cursor *)cursor->opaque;
    int64_t depth = 0, at, behind;

    *out = (struct window){.node = c->node, .items = c->node->count, .step = c->stride};
    if (c->depth == 0 && c->left > c->node->count) { /* a leaf without end */
        out->items = c->left;
        out->stride = c->extent;
        out->at = c->offset;
        out->turns = 1;
        return;
    }
    while (depth < c->depth && !is_turn(c->frame[depth].node))
        depth++;
    behind = c->node->count - c->left;
    at = wrap_sub(c->offset, wrap_mul(behind, c->stride));
    if (depth < c->depth) {
        const struct frame *f = &c->frame[depth];

        out->node = f->node;
        out->items = f->node->items;
        at = f->base;
        if (f->node->op == NODE_LOOP)
            at = wrap_sub(at, wrap_mul(f->index, f->node->stride));
        for (int64_t d = depth; d < c->depth; d++)
            behind += before(&c->frame[d]);
    }
    out->inside = behind;
    if (depth == 0) {
        out->at = at;
        out->stride = c->extent;
        out->turns = INT64_MAX / out->items;
        return;
    }
    window_turns(out, &c->frame[depth - 1], at);
    c->frame[depth - 1].index += out->turns - 1;
    c->depth = depth;
    advance(c);
}

int drep_cursor_init(drep_cursor *cursor, const drep_type *type, int64_t position)
{
    if (!cursor || !type)
        return fail(DREP_ERR_ARG, "drep_cursor_init: a null pointer");
    return cursor_init(cursor, &type->prog, position);
}

int drep_cursor_next(drep_cursor *cursor, int64_t max, drep_run *run)
{
    return cursor && run ? cursor_next(cursor, max, run) : 0;
}
