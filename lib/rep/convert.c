/* convert.c - converts data items from one typemap and table to another.
 *
 * Each side comes in windows: turns of a leaf or of a small node (type.h).  Where leaves
 * meet, rows of items go through a kernel; where turns of small nodes hold the same items,
 * their fields are paired once and then run over all turns: those that only move bytes
 * together, in pieces, the others field by field, while some turns are in cache.  Whatever
 * fits neither goes through two cursors, run by run. */
/* SPDX-License-Identifier: MIT */
#include "rep/convert.h"

#include "base/error.h"
#include "base/mem.h"
#include "kern/piece.h"
#include "rep/pick.h"

#include <datarep.h>
#include <stdlib.h>
#include <string.h>

enum {
    KERNELS = 24,           /* kernels kept at hand */
    RUNS = WINDOW_FIELDS,   /* of one turn on one side */
    PAIRS = 2 * RUNS,       /* of the runs of both */
    PLANS = 8,              /* plans kept at hand */
    TURNS_WORTH = 8,        /* a plan is made for so many turns, or when asked for again */
    PIECES_MAX = 128,       /* bytes of a field that goes in pieces, */
    NEAR = 1 << 30,         /* not as far as this from where its turn begins */
    BLOCK_SIZE = 32 * 1024, /* bytes of both sides that stay in cache between fields, */
    BLOCK_TURNS = 8         /* but so many turns at least */
};

/* The kernels picked so far in this call, by pair of leaves. */
struct kernels {
    const drep_type *dst[KERNELS], *src[KERNELS];
    struct kernel kernel[KERNELS], spare; /* the spare one is for those beyond */
    int n;
};

struct end {
    const struct rep_side *in;
    uint8_t *bytes;     /* of element 0; the source's are only read */
    drep_cursor cursor; /* behind the window */
    struct window window;
};

/* A plan and what it is for. */
struct plan_slot {
    const struct node *dst, *src;
    int64_t items, dst_stride, src_stride;
    bool made;
    struct plan_turn *plan; /* NULL: not made, or impossible */
};

struct conversion {
    struct end dst, src;
    const struct rep_opts *opts;
    int64_t done; /* items of this call */
    struct kernels kernels;
    struct plan_slot slot[PLANS];
    int oldest;
};

static int kernel_get(struct conversion *c, const drep_type *dst, const drep_type *src,
                      struct kernel **out)
{
    struct kernels *ks = &c->kernels;
    int i, err;

    for (i = 0; i < ks->n; i++)
        if (ks->dst[i] == dst && ks->src[i] == src) {
            *out = &ks->kernel[i];
            return 0;
        }
    *out = i < KERNELS ? &ks->kernel[i] : &ks->spare;
    err = kernel_pick(*out, c->dst.in->table, dst, c->src.in->table, src, c->opts);
    if (err || i == KERNELS)
        return err;
    ks->dst[i] = dst;
    ks->src[i] = src;
    ks->n++;
    return 0;
}

int rep_refused(const struct kernel *k, int64_t item)
{
    return fail(
        DREP_ERR_CONVERSION, "item %lld does not fit its type in the target%s", (long long)item,
        k->plan.exact ? ": it is out of range, or has a fraction (range=round rounds)" : "");
}

static bool one_item(const drep_type *leaf)
{
    return leaf->kind != DREP_KIND_PREDEFINED && leaf->kind != DREP_KIND_SCALAR;
}

/* --------------------------------------------------------------- windows */

static int end_open(struct end *s, const struct rep_side *in, void *bytes)
{
    s->in = in;
    s->bytes = bytes;
    s->window.turns = 0;
    return cursor_init(&s->cursor, in->prog, in->position);
}

static void skip(struct end *s, int64_t items)
{
    struct window *w = &s->window;
    int64_t turns;

    w->inside += items;
    if (w->inside < w->items)
        return;
    turns = w->inside == w->items ? 1 : w->inside / w->items;
    w->inside -= turns * w->items;
    w->turns -= turns;
    if (w->list)
        w->list += turns;
    else
        w->at += turns * w->stride;
}

static bool leaf(const struct end *s)
{
    return s->window.node->op == NODE_LEAF;
}

/* The rows that a window begins with: `rows` turns of `items` items. */
struct field_part {
    uint8_t *at;
    int64_t items, rows;
    struct pace pace;
};

static struct field_part window_part(const struct end *s)
{
    const struct window *w = &s->window;
    struct field_part p = {.at = s->bytes + w->at,
                           .items = w->items - w->inside,
                           .rows = w->turns,
                           .pace = {w->stride, w->list}};

    if (w->inside) {
        p.at += w->inside * w->step;
        p.rows = 1;
    }
    return p;
}

/* Rows of fewer items, of the first turn of a leaf. */
static void slice(struct field_part *p, int64_t items, int64_t step)
{
    if (p->items == items)
        return;
    p->at += pace_at(&p->pace, 0);
    p->rows = p->items / items;
    p->items = items;
    p->pace = (struct pace){items * step, NULL};
}

/* Rows of more items, from several turns; no rows where that is not possible. */
static void group(struct field_part *p, int64_t items)
{
    int64_t times = items / p->items;

    if (p->items == items)
        return;
    p->rows = p->pace.list || items % p->items ? 0 : p->rows / times;
    p->items = items;
    p->pace.stride *= times;
}

/* ------------------------------------------------------------ run by run */

/* Rows of items of variable length; adds to *moved, also when it fails. */
static int move_items(const struct conversion *c, const drep_type *to, const drep_type *from,
                      const struct kern_rows *r, int64_t *moved)
{
    struct rep_var *var = c->opts->var;
    int64_t base = c->opts->base, row, i;
    int err = 0;
    bool texts;

    if (!one_item(to) || !one_item(from))
        return type_fail_two(DREP_ERR_TYPE, "no conversion from %s to %s", from, to);
    if (!var)
        return fail(DREP_ERR_TYPE, "items of variable length cannot be moved here");
    texts = var->texts && to->kind == DREP_KIND_VSTRING && from->kind == DREP_KIND_VSTRING;
    for (row = 0; !err && row < r->rows; row++) {
        uint8_t *dst = r->dst + pace_at(&r->dst_pace, row);
        const uint8_t *src = r->src + pace_at(&r->src_pace, row);

        if (texts)
            err = var->texts(var->ctx, dst, r->dst_step, from, src, r->src_step, r->per, moved);
        for (i = 0; !texts && !err && i < r->per; i++) {
            var->item = base + *moved;
            err = var->move(var->ctx, to, dst + i * r->dst_step, from, src + i * r->src_step);
            *moved += !err;
        }
    }
    return err;
}

/* Items of one leaf on each side.  Goes on on neither. */
static int convert_rows(struct conversion *c, const drep_type *to, const drep_type *from,
                        struct kern_rows *r)
{
    int64_t bad, base = c->opts->base + c->done;
    struct kernel *k;
    int err;

    if (one_item(to) || one_item(from))
        return move_items(c, to, from, r, &c->done);
    err = kernel_get(c, to, from, &k);
    if (err)
        return err;
    r->base = base;
    r->step = 1;
    r->row = r->per;
    bad = kernel_rows(k, r);
    c->done += bad ? bad - 1 : r->per * r->rows;
    return bad ? rep_refused(k, base + bad - 1) : 0;
}

/* A cursor inside a window, from where that stands; of a list, inside its first turn. */
static int cursor_inside(drep_cursor *cursor, struct prog *prog, const struct end *s,
                         uint8_t **bytes)
{
    const struct window *w = &s->window;

    *prog = (struct prog){.root = (struct node *)w->node,
                          .items = w->node->items,
                          .extent = w->stride,
                          .size = w->node->items};
    *bytes = s->bytes + w->at + (w->list ? w->list[0] : 0);
    return cursor_init(cursor, prog, w->inside);
}

/* n items of the windows, which then lie behind; of a list, no more than are in its first
 * turn. */
static int convert_runs(struct conversion *c, int64_t n)
{
    drep_run to = {.count = 0}, from = {.count = 0};
    drep_cursor to_cursor, from_cursor;
    struct prog to_prog, from_prog;
    uint8_t *dst, *src;
    int64_t m;
    int err = cursor_inside(&to_cursor, &to_prog, &c->dst, &dst);

    if (!err)
        err = cursor_inside(&from_cursor, &from_prog, &c->src, &src);
    skip(&c->dst, n);
    skip(&c->src, n);
    for (; !err && n > 0; n -= m) {
        if (to.count == 0)
            cursor_next(&to_cursor, n, &to);
        if (from.count == 0)
            cursor_next(&from_cursor, n, &from);
        m = to.count < from.count ? to.count : from.count;
        err = convert_rows(c, to.type, from.type,
                           &(struct kern_rows){.dst = dst + to.offset,
                                               .src = src + from.offset,
                                               .dst_step = to.stride,
                                               .src_step = from.stride,
                                               .per = m,
                                               .rows = 1});
        to.offset += m * to.stride;
        from.offset += m * from.stride;
        to.count -= m;
        from.count -= m;
    }
    return err;
}

/* Items until a window, or its turn where it is listed, ends. */
static int64_t rest(const struct end *s)
{
    const struct window *w = &s->window;

    return (w->list ? w->items : w->turns * w->items) - w->inside;
}

static int64_t least(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

/* At most n items, run by run. */
static int step_runs(struct conversion *c, int64_t n)
{
    int64_t m;
    int err = 0;

    for (; !err && n > 0 && c->dst.window.turns && c->src.window.turns; n -= m) {
        m = least(n, least(rest(&c->dst), rest(&c->src)));
        err = convert_runs(c, m);
    }
    return err;
}

/* ---------------------------------------------------------- turn by turn */

/* `count` items of a turn. */
struct field_pair {
    const struct kernel *kernel;
    int64_t to, from; /* bytes from the turn's origin */
    int64_t to_step, from_step;
    int64_t count, item; /* number of the first in the turn */
};

/* The conversion of the fields of a turn. */
struct plan_turn {
    struct pieces pieces; /* what only moves bytes */
    int npair;            /* the others */
    struct field_pair pair[PAIRS];
};

/* The runs of the first `items` items of a window, or -1. */
static int flatten(const struct window *w, int64_t items, drep_run *runs)
{
    struct prog prog = {.root = (struct node *)w->node,
                        .items = w->node->items,
                        .extent = w->stride,
                        .size = w->node->items};

    return prog_flat(&prog, items, runs, RUNS);
}

static bool close_by(int64_t offset)
{
    return offset > -NEAR && offset < NEAR;
}

/* Its bytes go in pieces, if they are few and only moved. */
static bool add_pieces(struct pieces *pieces, const struct field_pair *p)
{
    struct byte_moves b;
    int64_t i;

    if (!kernel_bytes(p->kernel, &b) || p->count > PIECES_MAX / (b.units * b.unit))
        return false;
    for (i = 0; i < p->count; i++) {
        int64_t to = p->to + i * p->to_step, from = p->from + i * p->from_step;

        if (!close_by(to) || !close_by(from)) {
            pieces->full = true;
            return true;
        }
        pieces_add(pieces, (int32_t)to, (int32_t)from + b.from, b.unit, b.units, b.map);
    }
    return true;
}

/* Pairs the runs of a turn of each side.  false: not for this way. */
static bool pair_runs(struct conversion *c, struct plan_turn *plan, int64_t items, bool pieces)
{
    drep_run to[RUNS], from[RUNS];
    int nto = flatten(&c->dst.window, items, to), nfrom = flatten(&c->src.window, items, from);
    int i = 0, j = 0;
    int64_t item = 0, n;
    struct field_pair p;
    struct kernel *k;

    plan->npair = 0;
    pieces_init(&plan->pieces);
    while (i < nto && j < nfrom) {
        if (one_item(to[i].type) || one_item(from[j].type) ||
            kernel_get(c, to[i].type, from[j].type, &k) || k == &c->kernels.spare)
            return false; /* the slow way says which item it is */
        n = least(to[i].count, from[j].count);
        p = (struct field_pair){k, to[i].offset, from[j].offset, to[i].stride, from[j].stride,
                                n, item};
        if (!pieces || !add_pieces(&plan->pieces, &p))
            plan->pair[plan->npair++] = p;
        item += n;
        to[i].offset += n * to[i].stride;
        from[j].offset += n * from[j].stride;
        i += (to[i].count -= n) == 0;
        j += (from[j].count -= n) == 0;
    }
    return item == items && pieces_end(&plan->pieces);
}

static void plan_make(struct conversion *c, struct plan_slot *slot)
{
    bool pieces = pieces_known(isa_get()) && c->dst.bytes != c->src.bytes;

    slot->made = true;
    slot->plan = mem_alloc(sizeof *slot->plan);
    if (!slot->plan || (pieces && pair_runs(c, slot->plan, slot->items, true)) ||
        pair_runs(c, slot->plan, slot->items, false))
        return;
    mem_free(slot->plan);
    slot->plan = NULL;
}

/* The stride that flatten() needs for so many items. */
static int64_t stride_of(const struct window *w, int64_t items)
{
    return items > w->node->items ? w->stride : 0;
}

/* The plan for turns of `items` items of the windows; NULL: none, or not worth it yet. */
static const struct plan_turn *plan_get(struct conversion *c, int64_t items, int64_t turns)
{
    const struct window *to = &c->dst.window, *from = &c->src.window;
    struct plan_slot key = {.dst = to->node,
                            .src = from->node,
                            .items = items,
                            .dst_stride = stride_of(to, items),
                            .src_stride = stride_of(from, items)};
    struct plan_slot *slot;
    int i;

    for (i = 0; i < PLANS; i++) {
        slot = &c->slot[i];
        if (slot->dst == key.dst && slot->src == key.src && slot->items == key.items &&
            slot->dst_stride == key.dst_stride && slot->src_stride == key.src_stride) {
            if (!slot->made)
                plan_make(c, slot);
            return slot->plan;
        }
    }
    slot = &c->slot[c->oldest++ % PLANS];
    mem_free(slot->plan);
    *slot = key;
    if (turns >= TURNS_WORTH)
        plan_make(c, slot);
    return slot->plan;
}

/* `turns` turns of as many items, which begin at to and from; false: a value was refused. */
static bool run_plan(struct conversion *c, const struct plan_turn *plan, int64_t items,
                     const struct field_part *to, const struct field_part *from, int64_t turns)
{
    int i;

    if (plan->pieces.all)
        pieces_run(&plan->pieces, to->at, to->pace, from->at, from->pace, turns);
    for (i = 0; i < plan->npair; i++) {
        const struct field_pair *p = &plan->pair[i];

        if (kernel_rows(p->kernel, &(struct kern_rows){.dst = to->at + p->to,
                                                       .src = from->at + p->from,
                                                       .dst_step = p->to_step,
                                                       .src_step = p->from_step,
                                                       .dst_pace = to->pace,
                                                       .src_pace = from->pace,
                                                       .per = p->count,
                                                       .rows = turns,
                                                       .base = c->opts->base + c->done + p->item,
                                                       .step = 1,
                                                       .row = items}))
            return false;
    }
    return true;
}

/* Convert a block of turns; where a value is refused, run by run, which finds the first one in
 * order. */
static int convert_block(struct conversion *c, const struct plan_turn *plan, int64_t items,
                         const struct field_part *to, const struct field_part *from, int64_t turns)
{
    int64_t width = llabs(to->pace.stride) + llabs(from->pace.stride);
    int64_t most = width < BLOCK_SIZE / BLOCK_TURNS ? BLOCK_SIZE / (width + 1) : BLOCK_TURNS;
    struct losses before = NO_LOSSES;

    if (plan->npair)
        turns = least(turns, most);
    if (c->opts->report)
        before = *c->opts->report;
    if (run_plan(c, plan, items, to, from, turns)) {
        c->done += turns * items;
        skip(&c->dst, turns * items);
        skip(&c->src, turns * items);
        return 0;
    }
    if (c->opts->report)
        *c->opts->report = before;
    return step_runs(c, turns * items);
}

/* Turns of at most n items, of which one side's are no leaf. */
static int convert_turns(struct conversion *c, int64_t n)
{
    struct field_part to = window_part(&c->dst), from = window_part(&c->src);
    const struct plan_turn *plan = NULL;
    int64_t items, turns = 0;

    if (!leaf(&c->dst) && c->dst.window.inside)
        n = least(n, to.items);
    else if (!leaf(&c->src) && c->src.window.inside)
        n = least(n, from.items);
    else {
        items = to.items > from.items ? to.items : from.items;
        if (leaf(&c->dst) && to.items > from.items)
            slice(&to, items = from.items, c->dst.window.step);
        else if (leaf(&c->src) && from.items > to.items)
            slice(&from, items = to.items, c->src.window.step);
        group(&to, items);
        group(&from, items);
        turns = least(n / items, least(to.rows, from.rows));
    }
    if (turns > 0)
        plan = plan_get(c, items, turns);
    if (plan)
        return convert_block(c, plan, items, &to, &from, turns);
    return step_runs(c, turns > 0 ? turns * items : n);
}

/* ---------------------------------------------------------------- all of it */

/* Rows of at most n items of a leaf on each side. */
static int convert_leaves(struct conversion *c, int64_t n)
{
    struct field_part to = window_part(&c->dst), from = window_part(&c->src);
    int64_t items = least(to.items, from.items), before = c->done, rows;
    int err;

    slice(&to, items, c->dst.window.step);
    slice(&from, items, c->src.window.step);
    rows = least(to.rows, from.rows);
    if (items > n) {
        items = n;
        rows = 1;
    }
    err = convert_rows(c, c->dst.window.node->leaf, c->src.window.node->leaf,
                       &(struct kern_rows){.dst = to.at,
                                           .src = from.at,
                                           .dst_step = c->dst.window.step,
                                           .src_step = c->src.window.step,
                                           .dst_pace = to.pace,
                                           .src_pace = from.pace,
                                           .per = items,
                                           .rows = least(rows, n / items)});
    skip(&c->dst, c->done - before);
    skip(&c->src, c->done - before);
    return err;
}

static int convert_items(struct conversion *c, int64_t items)
{
    int err = 0;

    while (!err && c->done < items) {
        if (c->dst.window.turns == 0)
            cursor_window(&c->dst.cursor, &c->dst.window);
        if (c->src.window.turns == 0)
            cursor_window(&c->src.cursor, &c->src.window);
        if (leaf(&c->dst) && leaf(&c->src))
            err = convert_leaves(c, items - c->done);
        else
            err = convert_turns(c, items - c->done);
    }
    return err;
}

static int convert_open(struct conversion *c, void *dst, const struct rep_side *dst_side,
                        const void *src, const struct rep_side *src_side,
                        const struct rep_opts *opts)
{
    int err;

    c->opts = opts;
    c->done = 0;
    c->kernels.n = 0;
    memset(c->slot, 0, sizeof c->slot);
    c->oldest = 0;
    if (!dst_side->prog->root)
        return fail(DREP_ERR_COUNT, "the target's type has no data items");
    if (!src_side->prog->root)
        return fail(DREP_ERR_COUNT, "the source's type has no data items");
    err = end_open(&c->dst, dst_side, dst);
    return err ? err : end_open(&c->src, src_side, (void *)(uintptr_t)src);
}

int rep_convert(void *dst, const struct rep_side *dst_side, const void *src,
                const struct rep_side *src_side, int64_t items, const struct rep_opts *opts,
                int64_t *done)
{
    struct conversion c;
    int err = 0, i;

    c.done = 0;
    if (items > 0) {
        err = convert_open(&c, dst, dst_side, src, src_side, opts);
        if (!err)
            err = convert_items(&c, items);
        for (i = 0; i < PLANS; i++)
            mem_free(c.slot[i].plan);
    }
    if (opts->report)
        opts->report->items += c.done;
    if (done)
        *done = c.done;
    return err;
}

void losses_report(const struct losses *losses, drep_report *to)
{
    to->items += losses->items;
    to->overflow += losses->overflow;
    to->inexact += losses->inexact;
    to->nan_lost += losses->nan_lost;
    losses_first(&to->first_overflow, losses->first_overflow);
    losses_first(&to->first_inexact, losses->first_inexact);
    losses_first(&to->first_nan_lost, losses->first_nan_lost);
}
