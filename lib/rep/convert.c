/* convert.c - converts data items from one typemap and table to another.
 *
 * Three ways, fastest first: both sides one array of one type: a single kernel call;
 * small elements of equal shape: kernels are paired with offsets once and run over a
 * block of elements, field by field, while the block is in cache; anything else: two
 * cursors, run by run. */
#include "rep/rep.h"

#include "base/error.h"

#include <string.h>

enum {
    KERNELS = 24,     /* kernels kept at hand */
    PAIRS = 96,       /* runs of an element that is small */
    ITEMS_APART = 8,  /* shorter runs are taken item by item over all elements */
    COPY_MAX = 128,   /* bytes of neighbours that are copied together */
    BLOCK = 24 * 1024 /* bytes of both sides that stay in cache between fields */
};

/* The kernels picked so far in this call, by pair of leaves. */
struct kernels {
    const drep_type *dst[KERNELS], *src[KERNELS];
    struct kernel kernel[KERNELS];
    int n, oldest;
};

struct convert {
    const struct rep_side *dst, *src;
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

static int move_items(const struct convert *c, uint8_t *dst, const drep_run *to, const uint8_t *src,
                      const drep_run *from, int64_t n, int64_t *moved)
{
    const struct rep_var *var = c->opts->var;
    int err;

    if (!one_item(to->type) || !one_item(from->type) || to->type->kind != from->type->kind)
        return fail(DREP_ERR_TYPE, "an item of variable length and another are not converted "
                                   "into each other");
    if (!var)
        return fail(DREP_ERR_TYPE, "items of variable length cannot be moved here");
    for (*moved = 0; *moved < n; ++*moved) {
        err = var->move(var->ctx, to->type, dst + to->offset + *moved * to->stride, from->type,
                        src + from->offset + *moved * from->stride);
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
static int convert_runs(struct convert *c, uint8_t *dst, const uint8_t *src, int64_t skip,
                        int64_t items, int64_t *done)
{
    drep_run to = {.count = 0}, from = {.count = 0};
    drep_cursor to_cursor, from_cursor;
    struct kernel *k;
    int64_t n, bad;
    int err;

    err = cursor_init(&to_cursor, c->dst->prog, c->dst->position + skip);
    if (!err)
        err = cursor_init(&from_cursor, c->src->prog, c->src->position + skip);
    for (; !err && items > 0; items -= n, *done += n) {
        if (to.count == 0 && !cursor_next(&to_cursor, items, &to))
            return fail(DREP_ERR_COUNT, "the target's type has no data items");
        if (from.count == 0 && !cursor_next(&from_cursor, items, &from))
            return fail(DREP_ERR_COUNT, "the source's type has no data items");
        n = to.count < from.count ? to.count : from.count;
        if (one_item(to.type) || one_item(from.type)) {
            err = move_items(c, dst, &to, src, &from, n, &n);
        } else {
            err = kernel_get(c, to.type, from.type, &k);
            if (err)
                return err;
            k->base = c->opts->base + *done;
            k->step = 1;
            bad = k->run(k, dst + to.offset, to.stride, src + from.offset, from.stride, n);
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

struct block_plan {
    struct pair pair[PAIRS];
    int n;
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

/* Pairs the runs of one element of each side.  1: done; 0: not for this way. */
static int plan_block(struct convert *c, struct block_plan *b)
{
    struct leaf_run to[PAIRS], from[PAIRS];
    int nto = prog_flat(c->dst->prog, to, PAIRS), nfrom = prog_flat(c->src->prog, from, PAIRS);
    int i = 0, j = 0;
    int64_t item = 0, n;
    struct pair p;

    if (nto < 0 || nfrom < 0)
        return 0;
    b->n = 0;
    while (i < nto && j < nfrom) {
        if (one_item(to[i].leaf) || one_item(from[j].leaf) || c->kernels.n == KERNELS)
            return 0;
        n = to[i].count < from[j].count ? to[i].count : from[j].count;
        if (kernel_get(c, to[i].leaf, from[j].leaf, &p.kernel))
            return 0; /* the slow way says which item it is */
        p = (struct pair){p.kernel, to[i].offset, from[j].offset, to[i].stride, from[j].stride,
                          n,        item,         false};
        if (add_pair(c, b, &p))
            return 0;
        item += n;
        to[i].offset += n * to[i].stride;
        from[j].offset += n * from[j].stride;
        i += (to[i].count -= n) == 0;
        j += (from[j].count -= n) == 0;
    }
    return 1;
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

/* Whole elements; a block with a refused value goes run by run, which finds the first
 * one in order. */
static int convert_blocks(struct convert *c, struct block_plan *b, uint8_t *dst, const uint8_t *src,
                          int64_t skip, int64_t elements, int64_t *done)
{
    const struct prog *to = c->dst->prog, *from = c->src->prog;
    int64_t to_at = (c->dst->position + skip) / to->items;
    int64_t from_at = (c->src->position + skip) / from->items;
    int64_t width = (to->extent < 0 ? -to->extent : to->extent) +
                    (from->extent < 0 ? -from->extent : from->extent);
    int64_t most = width < BLOCK / 8 ? BLOCK / (width + 1) : 8, i, n;
    drep_report before;
    int p, err;

    for (i = 0; i < elements; i += n) {
        n = elements - i < most ? elements - i : most;
        if (c->opts->report)
            before = *c->opts->report;
        for (p = 0; p < b->n; p++)
            if (!run_pair(&b->pair[p], dst + (to_at + i) * to->extent, to->extent,
                          src + (from_at + i) * from->extent, from->extent, n,
                          c->opts->base + *done, to->items))
                break;
        if (p == b->n) {
            *done += n * to->items;
            continue;
        }
        if (c->opts->report)
            *c->opts->report = before;
        err = convert_runs(c, dst, src, skip + i * to->items, n * to->items, done);
        if (err)
            return err;
    }
    return 0;
}

/* ---------------------------------------------------------------- all of it */

static bool plain(const struct prog *p)
{
    return p->dense && !one_item(p->root->leaf);
}

static int convert_dense(struct convert *c, uint8_t *dst, const uint8_t *src, int64_t items,
                         int64_t *done)
{
    const struct node *to = c->dst->prog->root, *from = c->src->prog->root;
    struct kernel *k;
    int64_t bad;
    int err = kernel_get(c, to->leaf, from->leaf, &k);

    if (err)
        return err;
    bad = k->run(k, dst + c->dst->prog->origin + c->dst->position * to->stride, to->stride,
                 src + c->src->prog->origin + c->src->position * from->stride, from->stride, items);
    *done = bad ? bad - 1 : items;
    return bad ? refused(k->base + bad - 1) : 0;
}

static int convert_any(struct convert *c, uint8_t *dst, const uint8_t *src, int64_t items,
                       int64_t *done)
{
    int64_t per = c->dst->prog->items, head, whole;
    struct block_plan block;
    int err = 0;

    if (plain(c->dst->prog) && plain(c->src->prog))
        return convert_dense(c, dst, src, items, done);
    /* Blocks need elements of one shape that begin together, and enough of them. */
    if (per != c->src->prog->items || per == 0 || items / per < 8 ||
        c->dst->position % per != c->src->position % per || !plan_block(c, &block))
        return convert_runs(c, dst, src, 0, items, done);
    head = (per - c->dst->position % per) % per;
    if (head)
        err = convert_runs(c, dst, src, 0, head, done);
    whole = (items - head) / per;
    if (!err)
        err = convert_blocks(c, &block, dst, src, head, whole, done);
    if (!err && head + whole * per < items)
        err = convert_runs(c, dst, src, head + whole * per, items - head - whole * per, done);
    return err;
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
    c.opts = opts;
    c.kernels.n = c.kernels.oldest = 0;
    if (items > 0)
        err = convert_any(&c, dst, src, items, &n);
    if (opts->report)
        opts->report->items += n;
    if (done)
        *done = n;
    return err;
}
