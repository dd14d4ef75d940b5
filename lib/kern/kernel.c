/* kernel.c - runs kernels.
 *
 * Rows go through the passes a tile at a time.  What a tile lost is only counted; where the
 * first loss stands is looked for, item by item, when somebody wants to know. */
/* SPDX-License-Identifier: MIT */
#include "kern/pass.h"

#include <string.h>

/* Bytes of a tile. The processor still stores one tile while it loads the next: twice as much is
 * slower, though it fits the first-level cache as well. */
enum { TILE = 1024 };

struct pass_run {
    const struct kernel *k;
    int npass;
    pass_fn *const *pass;
    const bool *look;
    const uint8_t *width;
};

static const uint8_t *tile_passes(const struct pass_run *r, const uint8_t *at,
                                  uint8_t *const buffer[2], uint8_t *last, int64_t n,
                                  struct tally *t)
{
    uint8_t *to;
    int i;

    for (i = 0; i < r->npass; i++) {
        if (r->look[i]) {
            r->pass[i](r->k, NULL, at, n, t);
            continue;
        }
        to = last && i == r->npass - 1 ? last : buffer[at == buffer[0]];
        r->pass[i](r->k, to, at, n, t);
        at = to;
    }
    return at;
}

/* Gather items from rows to back to back, or scatter them. */
static void gather(const struct move *m, uint8_t *dst, const struct kern_rows *rows)
{
    struct kern_rows r = *rows;

    r.dst = dst;
    r.dst_step = m->size;
    r.dst_pace = (struct pace){r.per * m->size, NULL};
    move_rows(m, &r);
}

static void scatter(const struct move *m, const struct kern_rows *rows, const uint8_t *src)
{
    struct kern_rows r = *rows;

    r.src = src;
    r.src_step = m->size;
    r.src_pace = (struct pace){r.per * m->size, NULL};
    move_rows(m, &r);
}

/* True if the items of a side are one array. */
static bool solid(const struct kern_rows *r, int64_t step, const struct pace *pace, int size)
{
    return step == size && (r->rows == 1 || (!pace->list && pace->stride == r->per * size));
}

/* Run a tile's passes. The result goes to `last` or, if that is NULL, to one of the buffers;
 * returns where it is. */
static const uint8_t *tile_run(const struct pass_run *r, const struct kern_rows *tile,
                               uint8_t *const buffer[2], uint8_t *last, struct tally *t)
{
    const struct pass_plan *p = &r->k->plan;
    const uint8_t *at = tile->src + pace_at(&tile->src_pace, 0);

    if (p->loads || !solid(tile, tile->src_step, &tile->src_pace, p->load.size)) {
        gather(&p->load, buffer[0], tile);
        at = buffer[0];
    }
    return tile_passes(r, at, buffer, last, tile->per * tile->rows * p->parts, t);
}

void losses_add(struct losses *to, const struct losses *part)
{
    to->items += part->items;
    to->overflow += part->overflow;
    to->inexact += part->inexact;
    to->nan_lost += part->nan_lost;
    losses_first(&to->first_overflow, part->first_overflow);
    losses_first(&to->first_inexact, part->first_inexact);
    losses_first(&to->first_nan_lost, part->first_nan_lost);
}

/* Add up the losses of a tile item by item, until one is refused. Returns the number of items
 * before it, or all. */
static int64_t look_closely(const struct pass_run *r, const struct kern_rows *tile,
                            struct tally *sum)
{
    uint8_t a[64], b[64], *const buffer[2] = {a, b};
    struct losses *report = r->k->report;
    int64_t i, row, item, n = tile->per * tile->rows;
    struct kern_rows one = {.src_step = r->k->plan.load.size, .per = 1, .rows = 1};
    struct tally t;

    for (i = 0; i < n; i++) {
        row = i / tile->per;
        item = tile->base + row * tile->row + i % tile->per * tile->step;
        one.src = tile->src + pace_at(&tile->src_pace, row) + i % tile->per * tile->src_step;
        t = (struct tally){0, 0, 0, 0};
        tile_run(r, &one, buffer, NULL, &t);
        sum->overflow += t.overflow;
        sum->inexact += t.inexact;
        sum->nan_lost += t.nan_lost;
        if (report && t.overflow)
            losses_first(&report->first_overflow, item);
        if (report && t.inexact)
            losses_first(&report->first_inexact, item);
        if (report && t.nan_lost)
            losses_first(&report->first_nan_lost, item);
        if (kernel_refuses(&r->k->plan, &t))
            return i;
    }
    return n;
}

static bool earlier(int64_t lost, int64_t known, int64_t item)
{
    return lost && (known < 0 || item < known);
}

/* Add the losses of a tile to the report; returns how many of its items are allowed. */
static int64_t account(const struct pass_run *r, const struct kern_rows *tile,
                       const struct tally *t)
{
    struct losses *report = r->k->report;
    struct tally sum = {0, 0, 0, 0};
    int64_t allowed = tile->per * tile->rows;

    if (kernel_refuses(&r->k->plan, t) ||
        (report && (earlier(t->overflow, report->first_overflow, tile->base) ||
                    earlier(t->inexact, report->first_inexact, tile->base) ||
                    earlier(t->nan_lost, report->first_nan_lost, tile->base))))
        allowed = look_closely(r, tile, &sum);
    else
        sum = *t;
    if (report) {
        report->overflow += sum.overflow;
        report->inexact += sum.inexact;
        report->nan_lost += sum.nan_lost;
    }
    return allowed;
}

/* Store the first `n` items of a tile in the target. */
static void tile_store(const struct move *m, const struct kern_rows *tile, const uint8_t *done,
                       int64_t n)
{
    struct kern_rows some = *tile, rest = *tile;

    some.rows = n / tile->per;
    rest.per = n % tile->per;
    rest.rows = 1;
    rest.dst += pace_at(&tile->dst_pace, some.rows < tile->rows ? some.rows : 0);
    rest.dst_pace = (struct pace){0, NULL};
    if (some.rows)
        scatter(m, &some, done);
    if (rest.per)
        scatter(m, &rest, done + some.rows * tile->per * m->size);
}

/* The tile at item `at` of r: whole rows where several fit, else a part of one. */
static struct kern_rows tile_at(const struct kern_rows *r, int64_t at, int64_t per)
{
    struct kern_rows tile = *r;
    int64_t row = at / r->per, in = at % r->per;

    tile.dst += in * r->dst_step + (r->dst_pace.list ? 0 : row * r->dst_pace.stride);
    tile.src += in * r->src_step + (r->src_pace.list ? 0 : row * r->src_pace.stride);
    if (r->dst_pace.list)
        tile.dst_pace.list += row;
    if (r->src_pace.list)
        tile.src_pace.list += row;
    tile.base += row * r->row + in * r->step;
    if (in == 0 && per >= r->per) {
        tile.rows = per / r->per < r->rows - row ? per / r->per : r->rows - row;
        return tile;
    }
    tile.per = per < r->per - in ? per : r->per - in;
    tile.rows = 1;
    return tile;
}

/* Where the first pass only looks for what is refused, and finds nothing in the tile, the others
 * may write to the target itself. */
static bool looks_clean(const struct pass_run *r, const struct kern_rows *rows,
                        const struct kern_rows *tile)
{
    const struct pass_plan *p = &r->k->plan;
    struct tally t = {0, 0, 0, 0};

    if (!r->look[0] || r->npass < 2 || p->loads || p->stores || rows->dst == rows->src ||
        !solid(tile, tile->src_step, &tile->src_pace, p->load.size) ||
        !solid(tile, tile->dst_step, &tile->dst_pace, p->store.size))
        return false;
    r->pass[0](r->k, NULL, tile->src + pace_at(&tile->src_pace, 0),
               tile->per * tile->rows * p->parts, &t);
    return (t.overflow | t.refused) == 0;
}

/* Run rows through the passes, tile by tile. If the float unit is not in its default state the
 * general pass, which uses integers alone, does all of it. */
static int64_t passes_rows(const struct kernel *k, const struct kern_rows *rows)
{
    pass_fn *const general[1] = {pass_general};
    static const bool general_look[1] = {false};
    _Alignas(64) uint8_t a[TILE], b[TILE];
    uint8_t *const buffer[2] = {a, b};
    const struct pass_plan *p = &k->plan;
    const uint8_t general_width[2] = {p->src.size, p->dst.size};
    struct pass_run r = {k, p->npass, p->pass, p->look, p->width};
    int64_t n = rows->per * rows->rows, per, i, m, allowed;
    int widest = 0, w;

    if (p->fpu && !kern_float_default()) {
        r.npass = 1;
        r.pass = general;
        r.look = general_look;
        r.width = general_width;
    }
    for (w = 0; w <= r.npass; w++)
        widest = r.width[w] > widest ? r.width[w] : widest;
    per = TILE / (widest * p->parts);
    for (i = 0; i < n; i += m) {
        struct kern_rows tile = tile_at(rows, i, per);
        const uint8_t *done;
        struct tally t = {0, 0, 0, 0};
        /* True if the last pass may write to the target itself. */
        bool direct = !p->stores && !p->strict && !r.look[r.npass - 1] && rows->dst != rows->src &&
                      solid(&tile, tile.dst_step, &tile.dst_pace, p->store.size);

        m = tile.per * tile.rows;
        if (p->strict && looks_clean(&r, rows, &tile)) {
            const struct pass_run rest = {k, r.npass - 1, r.pass + 1, r.look + 1, r.width + 1};

            tile_run(&rest, &tile, buffer, tile.dst + pace_at(&tile.dst_pace, 0), &t);
            continue;
        }
        done =
            tile_run(&r, &tile, buffer, direct ? tile.dst + pace_at(&tile.dst_pace, 0) : NULL, &t);
        allowed = m;
        if (p->counts && (t.overflow | t.inexact | t.nan_lost | t.refused))
            allowed = account(&r, &tile, &t);
        if (!direct)
            tile_store(&p->store, &tile, done, allowed);
        if (allowed < m)
            return i + allowed + 1;
    }
    return 0;
}

static bool dense(const struct kernel *k, const struct kern_rows *r)
{
    return r->dst_step == k->plan.store.size && r->src_step == k->plan.load.size;
}

/* Run one loop over a dense row, without tiles, as far as that goes; returns the items done. */
static int64_t run_row(const struct kernel *k, const struct kern_rows *r)
{
    const struct pass_plan *p = &k->plan;
    struct tally t = {0, 0, 0, 0};

    if (p->turned)
        p->pass[1](k, r->dst, r->src, r->per, NULL);
    else if (p->checked)
        return p->checked(k, r->dst, r->src, r->per * p->parts) / p->parts;
    else if (p->npass == 1 && !p->loads && !p->stores && !p->strict && !p->counts)
        p->pass[0](k, r->dst, r->src, r->per * p->parts, &t);
    else
        return 0;
    return r->per;
}

int64_t run_passes(const struct kernel *k, const struct kern_rows *r)
{
    struct kern_rows rest = *r;
    int64_t done, bad;

    if (r->rows > 1 || !dense(k, r) || r->dst == r->src || (k->plan.fpu && !kern_float_default()))
        return passes_rows(k, r);
    done = run_row(k, r);
    if (done == r->per)
        return 0;
    rest.dst += done * r->dst_step;
    rest.src += done * r->src_step;
    rest.base += done * r->step;
    rest.per -= done;
    bad = passes_rows(k, &rest);
    return bad ? done + bad : 0;
}

/* Kernels of one resizing pass. */
int64_t run_resize(const struct kernel *k, const struct kern_rows *r)
{
    if (r->rows == 1 && !dense(k, r) &&
        resize_strided(k, r->dst, r->dst_step, r->src, r->src_step, r->per))
        return 0;
    return run_passes(k, r);
}

int64_t run_move(const struct kernel *k, const struct kern_rows *r)
{
    move_rows(&k->plan.load, r);
    return 0;
}

/* Join rows that follow each other as their items do into one row, and turn rows of one item
 * into a row of items: one long loop is cheaper than many short ones. */
static void one_row(struct kern_rows *r)
{
    if (r->rows > 1 && (r->dst_pace.list || r->src_pace.list))
        return;
    if (r->rows == 1) {
        r->dst += pace_at(&r->dst_pace, 0);
        r->src += pace_at(&r->src_pace, 0);
        r->dst_pace.list = r->src_pace.list = NULL;
    } else if (r->per == 1) {
        r->dst_step = r->dst_pace.stride;
        r->src_step = r->src_pace.stride;
        r->step = r->row;
    } else if (r->dst_pace.stride != r->per * r->dst_step ||
               r->src_pace.stride != r->per * r->src_step || r->row != r->per * r->step) {
        return;
    }
    r->per *= r->rows;
    r->rows = 1;
}

/* Rows of at least this many items run one by one. */
enum { ROW_ALONE = 128 };

int64_t kernel_rows(const struct kernel *k, const struct kern_rows *rows)
{
    struct kern_rows r = *rows, one;
    int64_t i, bad;

    if (r.per * r.rows == 0)
        return 0;
    one_row(&r);
    if (r.rows == 1 || r.per < ROW_ALONE || k->run == run_move)
        return k->run(k, &r);
    one = r;
    one.rows = 1;
    one.dst_pace = one.src_pace = (struct pace){0, NULL};
    for (i = 0; i < r.rows; i++, one.base += r.row) {
        one.dst = r.dst + pace_at(&r.dst_pace, i);
        one.src = r.src + pace_at(&r.src_pace, i);
        bad = k->run(k, &one);
        if (bad)
            return i * r.per + bad;
    }
    return 0;
}

bool kernel_bytes(const struct kernel *k, struct byte_moves *out)
{
    const struct move *load = &k->plan.load, *store = &k->plan.store;
    int i;

    *out = (struct byte_moves){.unit = load->unit, .from_unit = load->unit};
    memcpy(out->map, load->mask, sizeof out->map);
    if (k->run == run_move && load->op == MOVE_COPY) {
        *out = (struct byte_moves){.unit = 1, .units = load->size, .from_unit = 1};
        return true;
    }
    out->units = load->size / load->unit;
    if (k->run == run_move)
        return 16 % load->unit == 0;
    /* An integer that only loses its upper bytes. */
    if (k->run != run_resize || k->plan.parts != 1 || store->size > load->size)
        return false;
    out->unit = store->size;
    out->from_unit = load->size;
    out->from = load->size;
    for (i = 0; i < store->size; i++) {
        out->map[i] = load->mask[store->mask[i]];
        out->from = out->map[i] < out->from ? out->map[i] : out->from;
    }
    for (i = 0; i < store->size; i++)
        out->map[i] = (uint8_t)(out->map[i] - out->from);
    return true;
}
