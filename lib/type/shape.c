/* shape.c - the nodes of a typemap, and the joining of pieces into one.
 *
 * What lies regularly becomes one node: neighbouring leaves merge, and equal pieces at
 * equal distances become a loop, at other distances a list.  The order of the items
 * never changes. */
/* SPDX-License-Identifier: MIT */
#include "type/build.h"

#include "base/error.h"
#include "base/mem.h"
#include "base/vec.h"

#include <limits.h>
#include <string.h>

/* Sequences inside a sequence are dissolved if it has at most this many branches
 * then; longer ones stay, so that nesting does not copy them again and again. */
#define DISSOLVE_MAX 64
/* Each pass folds one more level of regularity. */
#define FOLD_PASSES 8
/* From this many equal pieces on, a fold must reduce them by the factor below to be kept. */
#define LIST_MIN 8
#define LIST_FOLD 4

struct node *prog_node_ref(struct node *node)
{
    if (node && atomic_load_explicit(&node->refs, memory_order_relaxed))
        atomic_fetch_add_explicit(&node->refs, 1, memory_order_relaxed);
    return node;
}

void node_free(struct node *node)
{
    int64_t branches;

    if (!node || atomic_load_explicit(&node->refs, memory_order_relaxed) == 0)
        return;
    if (atomic_fetch_sub_explicit(&node->refs, 1, memory_order_acq_rel) != 1)
        return;
    branches = node_children(node);
    for (int64_t i = 0; i < branches; i++)
        node_free(node->child[i]);
    mem_free(node);
}

/* Allocate a node, its numbers and its children in one block. */
static struct node *shape_node_new(enum node_op op, int64_t branches)
{
    size_t children = op == NODE_LIST ? 1 : (size_t)branches;
    size_t numbers = op == NODE_SEQ    ? 2 * (size_t)branches + 1
                     : op == NODE_LIST ? (size_t)branches
                                       : 0;
    size_t each = sizeof(struct node *) + 2 * sizeof(int64_t);
    size_t fixed = sizeof(struct node) + sizeof(int64_t);
    struct node *node;

    if ((uint64_t)branches > (SIZE_MAX / 2 - fixed) / each) {
        fail(DREP_ERR_NOMEM, "out of memory: a typemap of %lld branches", (long long)branches);
        return NULL;
    }
    node = mem_alloc(sizeof(*node) + (uint64_t)numbers * sizeof(int64_t) +
                     (uint64_t)children * sizeof(struct node *));
    if (!node)
        return NULL;
    memset(node, 0, sizeof(*node));
    atomic_init(&node->refs, 1);
    node->op = op;
    node->depth = 1;
    node->count = branches;
    if (op == NODE_LIST) {
        node->offset = (int64_t *)(node + 1);
    } else if (op == NODE_SEQ) {
        node->first = (int64_t *)(node + 1);
        node->offset = node->first + branches + 1;
    }
    if (children)
        node->child = (struct node **)((int64_t *)(node + 1) + numbers);
    return node;
}

/* Leaves that `times` turns of `runs` leaves unroll to. */
static int unrolled(int64_t times, int runs)
{
    return times < INT_MAX / runs ? (int)times * runs : INT_MAX;
}

static int node_leaf(struct node **out, const drep_type *leaf, int64_t count, int64_t stride)
{
    struct node *node = shape_node_new(NODE_LEAF, 0);

    if (!node)
        return DREP_ERR_NOMEM;
    node->items = node->count = count;
    node->runs = 1;
    node->stride = stride;
    node->leaf = leaf;
    *out = node;
    return 0;
}

/* `count` turns of a child: a loop, or a list with room for as many distances.  Takes over
 * the reference to child, also on failure. */
static int node_turns(struct node **out, enum node_op op, struct node *child, int64_t count)
{
    struct node *node;

    if (child->depth >= NODE_DEPTH_MAX) {
        node_free(child);
        return fail(DREP_ERR_LIMIT, "a typemap of more than %d nested loops", NODE_DEPTH_MAX);
    }
    node = shape_node_new(op, op == NODE_LOOP ? 1 : count);
    if (!node) {
        node_free(child);
        return DREP_ERR_NOMEM;
    }
    node->items = count * child->items; /* the shape has checked it */
    node->count = count;
    node->depth = child->depth + 1;
    node->runs = unrolled(count, child->runs);
    node->leaf = child->leaf;
    node->child[0] = child;
    *out = node;
    return 0;
}

static int node_loop(struct node **out, struct node *child, int64_t count, int64_t stride)
{
    int err = node_turns(out, NODE_LOOP, child, count);

    if (!err)
        (*out)->stride = stride;
    return err;
}

/* True if another turn at `next` continues `count` turns, `stride` apart. */
static bool goes_on(int64_t count, int64_t stride, int64_t next)
{
    int64_t end;

    return !__builtin_mul_overflow(count, stride, &end) && end == next;
}

/* Replaces *node by `count` of it, `stride` bytes apart; on failure *node is gone. */
static int node_repeat(struct node **node, int64_t count, int64_t stride)
{
    struct node *old = *node;
    struct node *child;
    int err;

    if (count == 1)
        return 0;
    *node = NULL;
    if (old->op == NODE_LEAF && (old->count == 1 || goes_on(old->count, old->stride, stride))) {
        err =
            node_leaf(node, old->leaf, count * old->count, old->count == 1 ? stride : old->stride);
        node_free(old);
        return err;
    }
    if (old->op == NODE_LOOP && goes_on(old->count, old->stride, stride)) {
        child = prog_node_ref(old->child[0]);
        err = node_loop(node, child, count * old->count, old->stride);
        node_free(old);
        return err;
    }
    return node_loop(node, old, count, stride);
}

/* ------------------------------------------------------------------- shapes */

int64_t size_add(int64_t a, int64_t b, bool *over)
{
    int64_t sum;

    if (!__builtin_add_overflow(a, b, &sum) && sum <= TYPE_SIZE_MAX && sum >= -TYPE_SIZE_MAX)
        return sum;
    *over = true;
    return 0;
}

int64_t size_mul(int64_t a, int64_t b, bool *over)
{
    int64_t product;

    if (!__builtin_mul_overflow(a, b, &product) && product <= TYPE_SIZE_MAX &&
        product >= -TYPE_SIZE_MAX)
        return product;
    *over = true;
    return 0;
}

int64_t size_align(int64_t a, int64_t align, bool *over)
{
    int64_t rest = a % align;

    if (rest < 0)
        rest += align;
    return rest ? size_add(a, align - rest, over) : a;
}

int size_fail(void)
{
    return fail(DREP_ERR_VALUE_TOO_LARGE, "datatype: an extent, size or item count beyond 2^62");
}

static int64_t min64(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

static int64_t max64(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

void shape_copy(struct shape *out, const struct shape *s)
{
    *out = *s;
    prog_node_ref(out->node);
}

void shape_release(struct shape *s)
{
    node_free(s->node);
    memset(s, 0, sizeof(*s));
}

int shape_leaf(struct shape *out, const drep_type *leaf, int64_t size, int64_t align, int64_t count)
{
    struct shape s = {.align = align, .items = count};
    bool over = false;
    int err;

    s.size = s.ub = s.true_ub = size_mul(size, count, &over);
    if (over)
        return size_fail();
    err = node_leaf(&s.node, leaf, count, size);
    if (err)
        return err;
    *out = s;
    return 0;
}

/* Bounds grow by the span of the turns, downwards for a negative stride. Zero turns leave a
 * blank shape with the alignment, as MPI has it. */
int shape_repeat(struct shape *s, int64_t count, int64_t stride)
{
    struct shape t = *s;
    bool over = false;
    int64_t span;

    if (s->blank || count == 1)
        return 0;
    if (count == 0) {
        shape_release(s);
        s->align = t.align;
        s->blank = true;
        return 0;
    }
    span = size_mul(count - 1, stride, &over);
    t.items = size_mul(t.items, count, &over);
    t.size = size_mul(t.size, count, &over);
    t.lb = size_add(t.lb, min64(span, 0), &over);
    t.ub = size_add(t.ub, max64(span, 0), &over);
    if (t.items) {
        t.true_lb = size_add(t.true_lb, min64(span, 0), &over);
        t.true_ub = size_add(t.true_ub, max64(span, 0), &over);
    }
    if (over)
        return size_fail();
    *s = t;
    return s->node ? node_repeat(&s->node, count, stride) : 0;
}

int shape_shift(struct shape *s, int64_t bytes)
{
    struct shape t = *s;
    bool over = false;

    if (s->blank)
        return 0;
    t.lb = size_add(t.lb, bytes, &over);
    t.ub = size_add(t.ub, bytes, &over);
    if (t.items) {
        t.at = size_add(t.at, bytes, &over);
        t.true_lb = size_add(t.true_lb, bytes, &over);
        t.true_ub = size_add(t.true_ub, bytes, &over);
    }
    if (over)
        return size_fail();
    *s = t;
    return 0;
}

void shape_mark(struct shape *s, int64_t lb, int64_t ub)
{
    s->lb = lb;
    s->ub = ub;
    s->marked = true;
    s->blank = false;
}

/* -------------------------------------------------------------------- join */

void join_init(struct join *j)
{
    memset(j, 0, sizeof(*j));
    j->all.blank = j->marks.blank = true;
    j->all.align = 1;
}

void join_release(struct join *j)
{
    for (int64_t i = 0; i < j->n; i++)
        node_free(j->piece[i].node);
    mem_free(j->piece);
    memset(j, 0, sizeof(*j));
}

static int join_push(struct join *j, struct node *node, int64_t at)
{
    if (VEC_ROOM(j->piece, (size_t)j->n, j->room, 1))
        return DREP_ERR_NOMEM;
    j->piece[j->n].node = prog_node_ref(node);
    j->piece[j->n++].at = at;
    return 0;
}

/* Extend the bounds of sum by those of s. */
static void bounds_add(struct shape *sum, const struct shape *s)
{
    sum->lb = sum->blank ? s->lb : min64(sum->lb, s->lb);
    sum->ub = sum->blank ? s->ub : max64(sum->ub, s->ub);
    sum->blank = false;
}

int join_add(struct join *j, const struct shape *s, int64_t shift)
{
    struct shape t = *s; /* borrows the node */
    bool over = false;
    int err;

    if (s->blank)
        return 0;
    err = shape_shift(&t, shift);
    if (err)
        return err;
    bounds_add(&j->all, &t);
    if (t.marked)
        bounds_add(&j->marks, &t);
    j->all.align = max64(j->all.align, t.align);
    if (!t.items)
        return 0;
    j->all.true_lb = j->all.items ? min64(j->all.true_lb, t.true_lb) : t.true_lb;
    j->all.true_ub = j->all.items ? max64(j->all.true_ub, t.true_ub) : t.true_ub;
    j->all.items = size_add(j->all.items, t.items, &over);
    j->all.size = size_add(j->all.size, t.size, &over);
    if (over)
        return size_fail();
    return join_push(j, t.node, t.at);
}

int shape_place(struct shape *out, const struct shape *members, int64_t n, const int64_t *offsets,
                int64_t size)
{
    struct join j;
    int err = 0;

    join_init(&j);
    for (int64_t i = 0; i < n && !err; i++)
        err = join_add(&j, &members[i], offsets[i]);
    if (err) {
        join_release(&j);
        return err;
    }
    err = join_finish(&j, out);
    if (err)
        return err;
    out->lb = 0;
    out->ub = size;
    return 0;
}

/* True if leaf b, at b->at, continues `count` items of a, `stride` bytes apart. Two single items
 * do only if they touch: any two are at some distance. */
static bool leaf_goes_on(const struct shape_piece *a, int64_t count, int64_t stride,
                         const struct shape_piece *b)
{
    int64_t gap;

    if (b->node->op != NODE_LEAF || !leaf_same(a->node->leaf, b->node->leaf))
        return false;
    gap = b->at - (a->at + (count - 1) * stride);
    if (count > 1 && gap != stride)
        return false;
    if (count > 1 && b->node->count == 1)
        return true;
    return gap == b->node->stride;
}

/* Merges neighbouring leaves. */
static int merge_leaves(struct join *j)
{
    int64_t w = 0;
    int err = 0;

    for (int64_t r = 0; r < j->n;) {
        struct shape_piece p = j->piece[r];
        int64_t end = r + 1;
        int64_t count = p.node->count;
        int64_t stride = p.node->stride;

        while (p.node->op == NODE_LEAF && end < j->n &&
               leaf_goes_on(&p, count, stride, &j->piece[end])) {
            stride = count > 1 ? stride : j->piece[end].at - p.at;
            count += j->piece[end++].node->count;
        }
        if (end > r + 1 && !err) {
            err = node_leaf(&p.node, p.node->leaf, count, stride);
            if (!err)
                for (int64_t i = r; i < end; i++)
                    node_free(j->piece[i].node);
        }
        /* After a failure the rest only moves up, to be released. */
        if (err)
            end = r + 1;
        j->piece[w++] = p;
        r = end;
    }
    j->n = w;
    return err;
}

static bool same_step(const struct join *j, int64_t i, int64_t step)
{
    return i + 1 < j->n && j->piece[i + 1].at - j->piece[i].at == step &&
           node_equal(j->piece[i].node, j->piece[i + 1].node);
}

/* True if `done` is a pair of nodes like `piece`, `step` apart. */
static bool pair_of(const struct node *done, const struct node *piece, int64_t step)
{
    if (done->count != 2 || done->stride != step)
        return false;
    if (done->op == NODE_LOOP)
        return node_equal(done->child[0], piece);
    return done->op == NODE_LEAF && piece->op == NODE_LEAF && piece->count == 1 &&
           leaf_same(done->leaf, piece->leaf);
}

/* Number of pieces from i on that are equal and equally far apart, and worth a loop. A pair
 * counts only if it is all there is, or if the pair after or before it is like it (`before`: the
 * piece already folded; NULL: none): pairing irregular items would cost a node for each pair. */
static int64_t progression(const struct join *j, int64_t i, const struct node *before,
                           int64_t *step)
{
    int64_t n = 1;

    if (i + 1 >= j->n)
        return 1;
    *step = j->piece[i + 1].at - j->piece[i].at;
    while (same_step(j, i + n - 1, *step))
        n++;
    if (n != 2 || j->n == 2)
        return n;
    if (same_step(j, i + 2, *step) && node_equal(j->piece[i].node, j->piece[i + 2].node))
        return 2;
    return before && pair_of(before, j->piece[i].node, *step) ? 2 : 1;
}

/* Turns equal pieces at equal distances into loops. */
static int merge_progressions(struct join *j)
{
    int64_t w = 0;
    int err = 0;

    for (int64_t r = 0; r < j->n;) {
        int64_t step = 0;
        int64_t n = err ? 1 : progression(j, r, w ? j->piece[w - 1].node : NULL, &step);
        struct shape_piece p = j->piece[r];
        struct node *first = p.node;

        if (n > 1) {
            prog_node_ref(first);
            err = node_repeat(&p.node, n, step);
            if (err)
                p.node = first;
            else
                for (int64_t i = r; i < r + n; i++)
                    node_free(j->piece[i].node);
            if (err)
                n = 1;
        }
        j->piece[w++] = p;
        r += n;
    }
    j->n = w;
    return err;
}

static bool all_equal(const struct join *j)
{
    for (int64_t i = 1; i < j->n; i++)
        if (!node_equal(j->piece[i].node, j->piece[0].node))
            return false;
    return true;
}

static int node_list(struct node **out, const struct join *j)
{
    int err = node_turns(out, NODE_LIST, prog_node_ref(j->piece[0].node), j->n);

    for (int64_t i = 0; i < j->n && !err; i++)
        (*out)->offset[i] = j->piece[i].at - j->piece[0].at;
    return err;
}

static int node_seq(struct node **out, const struct join *j)
{
    struct node *node;
    int depth = 0;

    for (int64_t i = 0; i < j->n; i++)
        depth = j->piece[i].node->depth > depth ? j->piece[i].node->depth : depth;
    if (depth >= NODE_DEPTH_MAX)
        return fail(DREP_ERR_LIMIT, "a typemap of more than %d nested loops", NODE_DEPTH_MAX);
    node = shape_node_new(NODE_SEQ, j->n);
    if (!node)
        return DREP_ERR_NOMEM;
    node->depth = depth + 1;
    node->items = 0;
    node->leaf = j->piece[0].node->leaf;
    for (int64_t i = 0; i < j->n; i++) {
        const struct node *child = node->child[i] = prog_node_ref(j->piece[i].node);

        node->runs = node->runs < INT_MAX - child->runs ? node->runs + child->runs : INT_MAX;
        if (child->leaf != node->leaf)
            node->leaf = NULL;
        node->offset[i] = j->piece[i].at - j->piece[0].at;
        node->first[i] = node->items;
        node->items += j->piece[i].node->items;
    }
    node->first[j->n] = node->items;
    *out = node;
    return 0;
}

static int join_fold(struct join *j)
{
    int err = 0;

    for (int pass = 0; pass < FOLD_PASSES && j->n > 1 && !err; pass++) {
        int64_t before = j->n;

        err = merge_leaves(j);
        if (!err)
            err = merge_progressions(j);
        if (j->n == before)
            break;
    }
    return err;
}

/* Replaces short sequences among the pieces by their branches. */
static int join_dissolve(struct join *j)
{
    struct join flat;
    int64_t total = 0;
    int err = 0;

    for (int64_t i = 0; i < j->n && total <= DISSOLVE_MAX; i++)
        total += j->piece[i].node->op == NODE_SEQ ? j->piece[i].node->count : 1;
    if (j->n == 1 || total == j->n || total > DISSOLVE_MAX)
        return 0;
    join_init(&flat);
    for (int64_t i = 0; i < j->n && !err; i++) {
        const struct shape_piece *p = &j->piece[i];

        if (p->node->op != NODE_SEQ)
            err = join_push(&flat, p->node, p->at);
        else
            for (int64_t b = 0; b < p->node->count && !err; b++)
                err = join_push(&flat, p->node->child[b], p->at + p->node->offset[b]);
    }
    if (err) {
        join_release(&flat);
        return err;
    }
    join_release(j);
    *j = flat;
    return join_fold(j);
}

/* The node of all pieces.  Equal pieces that hardly fold stay a list of them: folding
 * what lies regularly by chance would make a sequence of many things out of one. */
static int join_node(struct join *j, struct node **out)
{
    bool equal = j->n >= LIST_MIN && all_equal(j);
    struct join list;
    int err = 0;

    join_init(&list);
    for (int64_t i = 0; equal && !err && i < j->n; i++)
        err = join_push(&list, j->piece[i].node, j->piece[i].at);
    if (!err)
        err = join_fold(j);
    if (!err)
        err = join_dissolve(j);
    if (!err && j->n == 1)
        *out = prog_node_ref(j->piece[0].node);
    else if (!err && j->n > list.n / LIST_FOLD && list.n)
        err = node_list(out, &list);
    else if (!err)
        err = all_equal(j) ? node_list(out, j) : node_seq(out, j);
    join_release(&list);
    return err;
}

int join_finish(struct join *j, struct shape *out)
{
    struct shape s = j->all;
    bool over = false;
    int err = 0;

    if (!j->marks.blank) {
        s.lb = j->marks.lb;
        s.ub = j->marks.ub;
        s.marked = true;
    }
    /* From here on the distance of any two items fits in 62 bits. */
    size_add(s.true_ub, -s.true_lb, &over);
    if (over)
        err = size_fail();
    if (!err && j->n) {
        s.at = j->piece[0].at;
        err = join_node(j, &s.node);
    }
    join_release(j);
    if (err)
        return err;
    *out = s;
    return 0;
}
