/* convert.c - converts data items from one typemap and table to another.
 *
 * Three ways, fastest first: both sides regular rows of one type: a single kernel call;
 * small elements: kernels are paired with offsets once and run over a block of elements,
 * field by field, while the block is in cache; anything else: two
 * cursors, run by run. */
#include "rep/rep.h"

#include "base/error.h"

#include <stdlib.h>

enum {
    KERNELS = 24,     /* kernels kept at hand */
    PAIRS = 96,       /* runs of an element that is small */
    ITEMS_APART = 8,  /* shorter runs are taken item by item over all elements */
    COPY_MAX = 128,   /* bytes of neighbours that are copied together */
    BLOCK = 32 * 1024 /* bytes of both sides that stay in cache between fields */
};

/* The kernels picked so far in this call, by pair of leaves. */
struct kernels {
    const drep_type *dst[KERNELS], *src[KERNELS];
    struct kernel kernel[KERNELS];
    int n, oldest;
};

struct convert {
    const struct rep_side *dst, *src;
    uint8_t *to;
    const uint8_t *from;
    const struct rep_opts *opts;
    struct kernels kernels;
};

static int kernel_get(struct convert *c, const drep_type *dst, const drep_type *src,
                      struct kernel **out)
{
    struct kernels *ks = &c->kernels;
    int i, err;

    for (i = 0; i < ks->n; i++)
        if (ks->dst[i] == dst && ks->src[i] == src) {
            *out = &ks->kernel[i];
            return 0;
        }
    i = ks->n < KERNELS ? ks->n : ks->oldest++ % KERNELS;
    ks->dst[i] = NULL;
    err = kernel_pick(&ks->kernel[i], c->dst->table, dst, c->src->table, src, c->opts);
    if (err)
        return err;
    ks->dst[i] = dst;
    ks->src[i] = src;
    ks->n += i == ks->n;
    *out = &ks->kernel[i];
    return 0;
}

static int refused(int64_t item)
{
    return fail(DREP_ERR_CONVERSION, "item %lld does not fit its type in the target",
                (long long)item);
}

static bool one_item(const drep_type *leaf)
{
    return leaf->kind != DREP_KIND_PREDEFINED && leaf->kind != DREP_KIND_SCALAR;
}

/* ------------------------------------------------------------ run by run */

static int move_items(const struct convert *c, const drep_run *to, const drep_run *from, int64_t n,
                      int64_t *moved)
{
    const struct rep_var *var = c->opts->var;
    int err;

    if (!one_item(to->type) || !one_item(from->type) || to->type->kind != from->type->kind)
        return fail(DREP_ERR_TYPE, "an item of variable length and another are not converted "
                                   "into each other");
    if (!var)
        return fail(DREP_ERR_TYPE, "items of variable length cannot be moved here");
    for (*moved = 0; *moved < n; ++*moved) {
        err = var->move(var->ctx, to->type, c->to + to->offset + *moved * to->stride, from->type,
                        c->from + from->offset + *moved * from->stride);
        if (err)
            return err;
    }
    return 0;
}

static void run_skip(drep_run *run, int64_t n)
{
    run->offset += n * run->stride;
    run->count -= n;
}

/* Adds to *done what it converts, also when it fails. */
static int convert_runs(struct convert *c, int64_t items, int64_t *done)
{
    drep_run to = {.count = 0}, from = {.count = 0};
    drep_cursor to_cursor, from_cursor;
    struct kernel *k;
    int64_t n, bad;
    int err;

    err = cursor_init(&to_cursor, c->dst->prog, c->dst->position + *done);
    if (!err)
        err = cursor_init(&from_cursor, c->src->prog, c->src->position + *done);
    for (; !err && items > 0; items -= n, *done += n) {
        if (to.count == 0 && !cursor_next(&to_cursor, items, &to))
            return fail(DREP_ERR_COUNT, "the target's type has no data items");
        if (from.count == 0 && !cursor_next(&from_cursor, items, &from))
            return fail(DREP_ERR_COUNT, "the source's type has no data items");
        n = to.count < from.count ? to.count : from.count;
        if (one_item(to.type) || one_item(from.type)) {
            err = move_items(c, &to, &from, n, &n);
        } else {
            err = kernel_get(c, to.type, from.type, &k);
            if (err)
                return err;
            k->base = c->opts->base + *done;
            k->step = 1;
            bad = k->run(k, c->to + to.offset, to.stride, c->from + from.offset, from.stride, n);
            if (bad) {
                err = refused(k->base + bad - 1);
                n = bad - 1;
            }
        }
        run_skip(&to, n);
        run_skip(&from, n);
    }
    return err;
}

/* ------------------------------------------------------- block by block */

/* `count` items of one element, `stride` bytes apart on each side. */
struct pair {
    struct kernel *kernel;
    int64_t to, from; /* offset in the element */
    int64_t to_stride, from_stride;
    int64_t count, item; /* number of the first in the element */
    bool joined;         /* the kernel is this pair's alone */
};

/* A tile is an element of the side whose elements have more items, and so many of the
 * other side that they have as many. */
struct block_plan {
    struct pair pair[PAIRS];
    int n;
    int64_t items, to_extent, from_extent; /* of a tile */
};

/* Bytes that a pair copies as they are, all in one piece; 0: it does something else. */
static int64_t copied(const struct pair *p)
{
    const struct move *m = &p->kernel->plan.load;

    if (p->kernel->plan.npass || m->op != MOVE_COPY)
        return 0;
    if (p->count > 1 && (p->to_stride != m->size || p->from_stride != m->size))
        return 0;
    return p->count * m->size;
}

/* Makes *p a copy of one item of `size` bytes, with a kernel of its own. */
static bool make_copy(struct convert *c, struct pair *p, int64_t size)
{
    struct kernels *ks = &c->kernels;

    if (size > COPY_MAX)
        return false;
    if (!p->joined) {
        if (ks->n == KERNELS)
            return false;
        ks->dst[ks->n] = ks->src[ks->n] = NULL;
        ks->kernel[ks->n] = *p->kernel;
        p->kernel = &ks->kernel[ks->n++];
        p->joined = true;
    }
    p->kernel->plan.load.size = (uint8_t)size;
    p->count = 1;
    return true;
}

/* Copies that are neighbours on both sides become one. */
static bool join_copies(struct convert *c, struct pair *last, const struct pair *next)
{
    int64_t a = copied(last), b = copied(next);

    return a && b && last->to + a == next->to && last->from + a == next->from &&
           make_copy(c, last, a + b);
}

static int add_pair(struct convert *c, struct block_plan *b, const struct pair *p)
{
    if (b->n && join_copies(c, &b->pair[b->n - 1], p))
        return 0;
    if (b->n == PAIRS)
        return -1;
    b->pair[b->n++] = *p;
    if (p->count > 1 && copied(p))
        make_copy(c, &b->pair[b->n - 1], copied(p));
    return 0;
}

/* The runs of the first `items` items of a side's tiling: how many, or -1. */
static int flatten(const struct prog *prog, int64_t items, struct leaf_run *runs)
{
    drep_cursor cursor;
    drep_run run;
    int n = 0;

    if (cursor_init(&cursor, prog, 0))
        return -1;
    for (; items > 0; items -= run.count) {
        if (n == PAIRS || !cursor_next(&cursor, items, &run))
            return -1;
        runs[n++] = (struct leaf_run){run.type, run.offset, run.stride, run.count};
    }
    return n;
}

/* Pairs the runs of one tile of each side.  false: not for this way. */
static bool plan_block(struct convert *c, struct block_plan *b)
{
    struct leaf_run to[PAIRS], from[PAIRS];
    int nto = flatten(c->dst->prog, b->items, to), nfrom = flatten(c->src->prog, b->items, from);
    int i = 0, j = 0;
    int64_t item = 0, n;
    struct pair p;

    b->n = 0;
    while (i < nto && j < nfrom) {
        if (one_item(to[i].leaf) || one_item(from[j].leaf) || c->kernels.n == KERNELS)
            return false;
        n = to[i].count < from[j].count ? to[i].count : from[j].count;
        if (kernel_get(c, to[i].leaf, from[j].leaf, &p.kernel))
            return false; /* the slow way says which item it is */
        p = (struct pair){p.kernel, to[i].offset, from[j].offset, to[i].stride, from[j].stride,
                          n,        item,         false};
        if (add_pair(c, b, &p))
            return false;
        item += n;
        to[i].offset += n * to[i].stride;
        from[j].offset += n * from[j].stride;
        i += (to[i].count -= n) == 0;
        j += (from[j].count -= n) == 0;
    }
    return item == b->items;
}

/* One field of n elements; false: a value was refused. */
static bool run_pair(const struct pair *p, uint8_t *dst, int64_t to_extent, const uint8_t *src,
                     int64_t from_extent, int64_t n, int64_t base, int64_t items)
{
    struct kernel *k = p->kernel;
    int64_t i;

    dst += p->to;
    src += p->from;
    base += p->item;
    if (p->count > ITEMS_APART) {
        k->step = 1;
        for (i = 0; i < n; i++, dst += to_extent, src += from_extent) {
            k->base = base + i * items;
            if (k->run(k, dst, p->to_stride, src, p->from_stride, p->count))
                return false;
        }
        return true;
    }
    k->step = items;
    for (i = 0; i < p->count; i++, dst += p->to_stride, src += p->from_stride) {
        k->base = base + i;
        if (k->run(k, dst, to_extent, src, from_extent, n))
            return false;
    }
    return true;
}

/* Whole tiles; a block with a refused value goes run by run, which finds the first one
 * in order. */
static int convert_blocks(struct convert *c, const struct block_plan *b, int64_t tiles,
                          int64_t *done)
{
    int64_t width = llabs(b->to_extent) + llabs(b->from_extent);
    int64_t most = width < BLOCK / 8 ? BLOCK / (width + 1) : 8, n, p;
    drep_report before = {0};
    const uint8_t *src;
    uint8_t *dst;
    int err;

    dst = c->to + (c->dst->position + *done) / c->dst->prog->items * c->dst->prog->extent;
    src = c->from + (c->src->position + *done) / c->src->prog->items * c->src->prog->extent;
    for (; tiles > 0; tiles -= n, dst += n * b->to_extent, src += n * b->from_extent) {
        n = tiles < most ? tiles : most;
        if (c->opts->report)
            before = *c->opts->report;
        for (p = 0; p < b->n; p++)
            if (!run_pair(&b->pair[p], dst, b->to_extent, src, b->from_extent, n,
                          c->opts->base + *done, b->items))
                break;
        if (p == b->n) {
            *done += n * b->items;
            continue;
        }
        if (c->opts->report)
            *c->opts->report = before;
        err = convert_runs(c, n * b->items, done);
        if (err)
            return err;
    }
    return 0;
}

/* ---------------------------------------------------------------- all of it */

/* Is the tiled typemap one leaf that goes on regularly?  Then *stride is its own. */
static bool regular(const struct prog *p, int64_t *stride)
{
    const struct node *root = p->root;
    int64_t end;

    if (!root || root->op != NODE_LEAF || one_item(root->leaf))
        return false;
    *stride = root->count == 1 ? p->extent : root->stride;
    return !__builtin_mul_overflow(root->count, *stride, &end) && end == p->extent;
}

static int convert_regular(struct convert *c, int64_t to_stride, int64_t from_stride, int64_t items,
                           int64_t *done)
{
    const struct prog *to = c->dst->prog, *from = c->src->prog;
    struct kernel *k;
    int64_t bad;
    int err = kernel_get(c, to->root->leaf, from->root->leaf, &k);

    if (err)
        return err;
    bad = k->run(k, c->to + to->origin + c->dst->position * to_stride, to_stride,
                 c->from + from->origin + c->src->position * from_stride, from_stride, items);
    *done = bad ? bad - 1 : items;
    return bad ? refused(k->base + bad - 1) : 0;
}

/* Do the sides have tiles that begin together after *head items, and enough of them? */
static bool tiled(const struct convert *c, int64_t items, struct block_plan *b, int64_t *head)
{
    const struct rep_side *more = c->dst, *less = c->src;
    int64_t times;

    if (more->prog->items < less->prog->items) {
        more = c->src;
        less = c->dst;
    }
    b->items = more->prog->items;
    if (less->prog->items == 0 || b->items % less->prog->items || items / b->items < 8)
        return false;
    times = b->items / less->prog->items;
    *head = (b->items - more->position % b->items) % b->items;
    if ((less->position + *head) % less->prog->items ||
        __builtin_mul_overflow(less->prog->extent, times, &b->to_extent))
        return false;
    b->from_extent = more->prog->extent;
    if (more == c->dst) {
        b->from_extent = b->to_extent;
        b->to_extent = more->prog->extent;
    }
    return true;
}

static int convert_any(struct convert *c, int64_t items, int64_t *done)
{
    struct block_plan block;
    int64_t head, to_stride, from_stride;
    int err = 0;

    if (regular(c->dst->prog, &to_stride) && regular(c->src->prog, &from_stride))
        return convert_regular(c, to_stride, from_stride, items, done);
    if (tiled(c, items, &block, &head) && plan_block(c, &block)) {
        err = convert_runs(c, head, done);
        if (!err)
            err = convert_blocks(c, &block, (items - head) / block.items, done);
    }
    return err ? err : convert_runs(c, items - *done, done);
}

int rep_convert(void *dst, const struct rep_side *dst_side, const void *src,
                const struct rep_side *src_side, int64_t items, const struct rep_opts *opts,
                int64_t *done)
{
    struct convert c;
    int64_t n = 0;
    int err = 0;

    c.dst = dst_side;
    c.src = src_side;
    c.to = dst;
    c.from = src;
    c.opts = opts;
    c.kernels.n = c.kernels.oldest = 0;
    if (items > 0)
        err = convert_any(&c, items, &n);
    if (opts->report)
        opts->report->items += n;
    if (done)
        *done = n;
    return err;
}
