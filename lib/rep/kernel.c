/* kernel.c - picks and runs kernels.
 *
 * Picking looks at a pair of encodings once and writes down the passes; running takes
 * a tile of items at a time through them.  What a tile lost is only counted; where the
 * first loss stands is looked for, item by item, when somebody wants to know. */
#include "rep/rep.h"

#include "base/error.h"
#include "format/numbers.h"
#include "kern/number.h"
#include "rep/tables.h"

#include <stdlib.h>
#include <string.h>

/* ---------------------------------------------------------------- running */

/* Small enough that the processor is still storing one tile while it loads the next:
 * twice as much is slower, though it fits the first-level cache as well. */
enum { TILE = 1024 };

struct run {
    const struct kernel *k;
    int npass;
    pass_fn *const *pass;
    const bool *look;
    const uint8_t *width;
};

static const uint8_t *tile_passes(const struct run *r, const uint8_t *at, uint8_t *const buffer[2],
                                  uint8_t *last, int64_t n, struct tally *t)
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

/* Items back to back at dst, from rows or to them. */
static void gather(const struct move *m, uint8_t *dst, const struct rows *rows)
{
    struct rows r = *rows;

    r.dst = dst;
    r.dst_step = m->size;
    r.dst_pace = (struct pace){r.per * m->size, NULL};
    move_rows(m, &r);
}

static void scatter(const struct move *m, const struct rows *rows, const uint8_t *src)
{
    struct rows r = *rows;

    r.src = src;
    r.src_step = m->size;
    r.src_pace = (struct pace){r.per * m->size, NULL};
    move_rows(m, &r);
}

/* Are the items of a side one array? */
static bool solid(const struct rows *r, int64_t step, const struct pace *pace, int size)
{
    return step == size && (r->rows == 1 || (!pace->list && pace->stride == r->per * size));
}

/* Takes the items of a tile to `last` or, if that is NULL, to one of the buffers; gives
 * where they are. */
static const uint8_t *tile_run(const struct run *r, const struct rows *tile,
                               uint8_t *const buffer[2], uint8_t *last, struct tally *t)
{
    const struct plan *p = &r->k->plan;
    const uint8_t *at = tile->src + pace_at(&tile->src_pace, 0);

    if (p->loads || !solid(tile, tile->src_step, &tile->src_pace, p->load.size)) {
        gather(&p->load, buffer[0], tile);
        at = buffer[0];
    }
    return tile_passes(r, at, buffer, last, tile->per * tile->rows * p->parts, t);
}

static void first(int64_t *at, int64_t item)
{
    if (*at < 0 || item < *at)
        *at = item;
}

/* Adds what a tile's items lose, one after the other, until one is refused: which, or how
 * many they are. */
static int64_t look_closely(const struct run *r, const struct rows *tile, struct tally *sum)
{
    uint8_t a[64], b[64], *const buffer[2] = {a, b};
    drep_report *report = r->k->report;
    int64_t i, row, item, n = tile->per * tile->rows;
    struct rows one = {.src_step = r->k->plan.load.size, .per = 1, .rows = 1};
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
            first(&report->first_overflow, item);
        if (report && t.inexact)
            first(&report->first_inexact, item);
        if (report && t.nan_lost)
            first(&report->first_nan_lost, item);
        if (t.refused && r->k->plan.strict)
            return i;
    }
    return n;
}

static bool earlier(int64_t lost, int64_t known, int64_t item)
{
    return lost && (known < 0 || item < known);
}

/* Puts what a tile lost into the report; gives how many of its items are allowed. */
static int64_t account(const struct run *r, const struct rows *tile, const struct tally *t)
{
    drep_report *report = r->k->report;
    struct tally sum = {0, 0, 0, 0};
    int64_t allowed = tile->per * tile->rows;

    if ((t->refused && r->k->plan.strict) ||
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

/* The first `n` items of a tile, from `done` to where they belong. */
static void tile_store(const struct move *m, const struct rows *tile, const uint8_t *done,
                       int64_t n)
{
    struct rows some = *tile, rest = *tile;

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

/* Whole rows where several fit a tile, else parts of one: items [at, at + n) of r. */
static struct rows tile_at(const struct rows *r, int64_t at, int64_t per)
{
    struct rows tile = *r;
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

static int64_t passes_rows(const struct kernel *k, const struct rows *rows)
{
    static pass_fn *const general[1] = {pass_general};
    static const bool general_look[1] = {false};
    _Alignas(64) uint8_t a[TILE], b[TILE];
    uint8_t *const buffer[2] = {a, b};
    const struct plan *p = &k->plan;
    const uint8_t general_width[2] = {p->src.size, p->dst.size};
    struct run r = {k, p->npass, p->pass, p->look, p->width};
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
        struct rows tile = tile_at(rows, i, per);
        const uint8_t *done;
        struct tally t = {0, 0, 0, 0};
        /* May the last pass write to the target itself? */
        bool direct = !p->stores && !p->strict && !r.look[r.npass - 1] && rows->dst != rows->src &&
                      solid(&tile, tile.dst_step, &tile.dst_pace, p->store.size);

        m = tile.per * tile.rows;
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

static bool dense(const struct kernel *k, const struct rows *r)
{
    return r->dst_step == k->plan.store.size && r->src_step == k->plan.load.size;
}

static int64_t run_passes(const struct kernel *k, const struct rows *r)
{
    const struct plan *p = &k->plan;

    if (r->rows == 1 && p->turned && dense(k, r) && r->dst != r->src &&
        (!p->fpu || kern_float_default())) {
        p->pass[1](k, r->dst, r->src, r->per, NULL);
        return 0;
    }
    return passes_rows(k, r);
}

/* Kernels of one resizing pass. */
static int64_t run_resize(const struct kernel *k, const struct rows *r)
{
    if (r->rows == 1 && !dense(k, r) &&
        resize_strided(k, r->dst, r->dst_step, r->src, r->src_step, r->per))
        return 0;
    return run_passes(k, r);
}

static int64_t run_move(const struct kernel *k, const struct rows *r)
{
    move_rows(&k->plan.load, r);
    return 0;
}

/* Rows that follow each other as their items do are one row, and rows of one item are
 * its items. */
static void one_row(struct rows *r)
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

/* Rows from so many items on are run one by one. */
enum { ROW_ALONE = 128 };

int64_t kernel_rows(const struct kernel *k, const struct rows *rows)
{
    struct rows r = *rows, one;
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

bool kernel_bytes(const struct kernel *k, struct bytes *out)
{
    const struct move *load = &k->plan.load, *store = &k->plan.store;
    int i;

    *out = (struct bytes){.unit = load->unit, .from_unit = load->unit};
    memcpy(out->map, load->mask, sizeof out->map);
    if (k->run == run_move && load->op == MOVE_COPY) {
        *out = (struct bytes){.unit = 1, .units = load->size, .from_unit = 1};
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

/* ---------------------------------------------------------------- picking */

/* What a leaf is under a table. */
struct enc {
    int cls;                        /* enum fmt_class; a complex is REAL, twice */
    int parts, format, order, size; /* size: of one part */
    const drep_scalar *custom;
};

static int enc_of(struct enc *e, const struct rep_table *table, const drep_type *leaf)
{
    const drep_encoding *row = &table->row[leaf->code];

    if (leaf->kind == DREP_KIND_SCALAR) {
        const drep_scalar *s = &leaf->scalar;

        *e = (struct enc){s->cls == DREP_SCALAR_REAL   ? FMT_REAL
                          : s->cls == DREP_SCALAR_BITS ? FMT_BYTES
                          : s->is_signed               ? FMT_INT
                                                       : FMT_UINT,
                          1,
                          DREP_FORMAT_CUSTOM,
                          s->order,
                          s->size,
                          s};
    } else if (leaf->kind != DREP_KIND_PREDEFINED) {
        return fail(DREP_ERR_TYPE, "items of variable length have no encoding");
    } else if (table_class(leaf->code) == FMT_BYTES) {
        /* Bytes are bytes, whatever a table says or does not say. */
        *e = (struct enc){FMT_BYTES, 1, DREP_FORMAT_BYTES, DREP_LITTLE, 1, NULL};
    } else if (row->size == 0) {
        return fail(DREP_ERR_TYPE, "the data representation has no %s", drep_code_name(leaf->code));
    } else {
        int parts = table_parts(leaf->code);

        *e = (struct enc){table_class(leaf->code), parts, row->format, row->order,
                          row->size / parts,       NULL};
        if (row->format == DREP_FORMAT_CUSTOM) {
            e->custom = &table->custom[row->custom];
            e->order = e->custom->order;
        }
    }
    /* A description that only names a format, or a plain integer, is that. */
    if (e->custom && e->custom->format != DREP_FORMAT_CUSTOM &&
        e->custom->cls != DREP_SCALAR_BITS) {
        e->format = e->custom->format;
        e->custom = NULL;
    } else if (e->custom && e->custom->cls == DREP_SCALAR_INT && e->custom->offset == 0 &&
               e->custom->precision == 8 * e->size && e->size <= 16) {
        e->format = e->custom->is_signed ? DREP_FORMAT_INT : DREP_FORMAT_UINT;
        e->custom = NULL;
    }
    /* A boolean held as an integer is still one. */
    if (e->cls == FMT_BOOL && !e->custom)
        e->format = DREP_FORMAT_BOOL;
    return 0;
}

static bool custom_same(const drep_scalar *a, const drep_scalar *b)
{
    if (!a || !b)
        return a == b;
    return a->cls == b->cls && a->size == b->size && a->is_signed == b->is_signed &&
           a->norm == b->norm && a->low_pad == b->low_pad && a->high_pad == b->high_pad &&
           a->precision == b->precision && a->offset == b->offset && a->sign_pos == b->sign_pos &&
           a->exp_pos == b->exp_pos && a->exp_width == b->exp_width && a->mant_pos == b->mant_pos &&
           a->mant_width == b->mant_width && a->exp_base_log2 == b->exp_base_log2 &&
           a->exp_bias == b->exp_bias;
}

static bool numeric(const struct enc *e)
{
    return e->cls == FMT_INT || e->cls == FMT_UINT || e->cls == FMT_BOOL || e->cls == FMT_REAL;
}

/* Bytes that keep their place relative to each other when the order changes, and how
 * many such units a part has: a double-double is two numbers. */
static int unit_of(const struct enc *e, int *units)
{
    *units = e->format == DREP_FORMAT_DOUBLE_DOUBLE ? 2 : 1;
    return e->size / *units;
}

/* Little-endian bytes that are not padding. */
static uint32_t kept(const struct enc *e)
{
    if (e->format == DREP_FORMAT_X87)
        return 0x3ff;
    if (e->format == DREP_FORMAT_M68K)
        return 0xcff;
    return UINT32_MAX;
}

static void plan_move(struct kernel *k, const struct enc *dst, const struct enc *src)
{
    int units, unit = unit_of(src, &units);

    move_init(&k->plan.load, unit, units * src->parts, dst->order, src->order, kept(src));
    k->run = run_move;
    k->lossless = true;
}

static enum sort sort_of(const struct enc *e)
{
    bool is_int = e->format == DREP_FORMAT_INT || e->format == DREP_FORMAT_UINT ||
                  e->format == DREP_FORMAT_UNICODE;
    int odd = e->format != DREP_FORMAT_INT;

    switch (e->format) {
    case DREP_FORMAT_BINARY16:
        return F16;
    case DREP_FORMAT_BFLOAT16:
        return BF16;
    case DREP_FORMAT_BINARY32:
        return F32;
    case DREP_FORMAT_BINARY64:
        return F64;
    default:
        break;
    }
    if (!is_int)
        return OTHER;
    switch (e->size) {
    case 1:
        return (enum sort)(I8 + odd);
    case 2:
        return (enum sort)(I16 + odd);
    case 4:
        return (enum sort)(I32 + odd);
    case 8:
        return (enum sort)(I64 + odd);
    default:
        return OTHER;
    }
}

static int sort_width(enum sort s)
{
    return s <= U64 ? 1 << (s / 2) : s <= BF16 ? 2 : s == F32 ? 4 : 8;
}

static void add_pass(struct plan *p, pass_fn *pass, int width)
{
    p->look[p->npass] = width == 0;
    p->pass[p->npass++] = pass;
    p->width[p->npass] = (uint8_t)(width ? width : p->width[p->npass - 1]);
}

static void add_resize(struct plan *p, enum sort dst, enum sort src)
{
    if (sort_width(dst) != sort_width(src))
        add_pass(p, pass_resize(dst, src, isa_get()), sort_width(dst));
}

/* low..high, what an integer of this sort can be, as bits. */
static void sort_limits(enum sort s, int64_t *low, int64_t *high)
{
    int bits = 8 * sort_width(s);

    *low = s % 2 ? 0 : INT64_MIN >> (64 - bits);
    *high = s % 2 ? (int64_t)(UINT64_MAX >> (64 - bits)) : INT64_MAX >> (64 - bits);
}

/* Integers to integers: look at the range where it matters, then resize. */
static void plan_ints(struct kernel *k, enum sort dst, enum sort src)
{
    struct plan *p = &k->plan;
    int64_t low, high, most;

    if (!k->lossless && (p->counts || p->clamp)) {
        sort_limits(dst, &low, &high);
        sort_limits(src, &p->low, &p->high);
        if (src % 2) {
            /* Unsigned: only the upper bound, as unsigned. */
            most = (uint64_t)high < (uint64_t)p->high ? high : p->high;
            p->low = 0;
            p->high = most;
        } else {
            p->low = low > p->low ? low : p->low;
            if (dst != U64)
                p->high = high < p->high ? high : p->high;
        }
        add_pass(p, pass_bounds(src, p->clamp, isa_get()), p->clamp ? sort_width(src) : 0);
    } else {
        k->run = run_resize;
    }
    add_resize(p, dst, src);
}

/* Reals to integers go through the narrowest of I32, I64, U64 that holds the target. */
static bool plan_to_int(struct kernel *k, enum sort dst, enum sort src)
{
    struct plan *p = &k->plan;
    enum sort via = dst == U64 ? U64 : dst == I64 || dst == U32 ? I64 : I32;
    pass_fn *pass = pass_float(via, src, p->counts, isa_get());

    if (!pass)
        return false;
    sort_limits(dst, &p->low, &p->high);
    p->above = dst == U64   ? 18446744073709551616.0
               : dst == I64 ? 9223372036854775808.0
                            : (double)p->high + 1;
    /* One less; where binary64 cannot say that, the next that it can. */
    p->below = dst == I64 ? -9223372036854777856.0 : (double)p->low - 1;
    add_pass(p, pass, sort_width(via));
    add_resize(p, dst, via);
    p->fpu = true;
    return true;
}

static bool plan_reals(struct kernel *k, enum sort dst, enum sort src)
{
    struct plan *p = &k->plan;
    enum sort via = src;
    pass_fn *pass;

    if (src < I32)
        via = I32;
    pass = pass_float(dst, via, p->counts || p->clamp, isa_get());
    if (!pass)
        return false;
    if (src < I32)
        add_resize(p, I32, src);
    add_pass(p, pass, sort_width(dst));
    p->fpu = pass_float_hard(dst, via);
    return true;
}

static bool plan_truth(struct kernel *k, const struct enc *dst, const struct enc *src)
{
    pass_fn *pass = pass_truth(src->size, isa_get());
    enum sort to = sort_of(dst);

    if (!pass || (src->format != DREP_FORMAT_BOOL && sort_of(src) > U64))
        return false;
    if (dst->format == DREP_FORMAT_BOOL) {
        struct enc same = *dst;

        same.format = DREP_FORMAT_UINT;
        to = sort_of(&same);
    }
    if (to == OTHER)
        return false;
    add_pass(&k->plan, pass, 1);
    if (to <= U64)
        add_resize(&k->plan, to, U8);
    else if (!plan_reals(k, to, U8)) {
        k->plan.npass = 0;
        return false;
    }
    return true;
}

static bool plan_pair(struct kernel *k, const struct enc *dst, const struct enc *src)
{
    struct plan *p = &k->plan;
    bool to = dst->format == DREP_FORMAT_DOUBLE_DOUBLE && src->format == DREP_FORMAT_BINARY64;
    bool from = src->format == DREP_FORMAT_DOUBLE_DOUBLE && dst->format == DREP_FORMAT_BINARY64;
    pass_fn *pass;

    if (!to && (!from || p->counts || p->clamp))
        return false;
    pass = pass_pair(to, isa_get());
    if (!pass)
        return false;
    add_pass(p, pass, dst->size);
    p->fpu = from;
    return true;
}

static bool plan_text(struct kernel *k, const struct enc *dst, const struct enc *src)
{
    if (src->cls != FMT_CHAR)
        return false;
    add_pass(&k->plan, dst->format == DREP_FORMAT_EBCDIC ? pass_to_ebcdic : pass_from_ebcdic, 1);
    return true;
}

/* The passes, best first. */
static void plan_passes(struct kernel *k, const struct enc *dst, const struct enc *src)
{
    enum sort to = sort_of(dst), from = sort_of(src);
    pass_fn *soft;

    if (plan_text(k, dst, src))
        return;
    if (dst->format == DREP_FORMAT_BOOL || src->format == DREP_FORMAT_BOOL) {
        if (plan_truth(k, dst, src))
            return;
    } else if (to <= U64 && from <= U64) {
        plan_ints(k, to, from);
        return;
    } else if (to <= U64 && from != OTHER) {
        if (plan_to_int(k, to, from))
            return;
    } else if (to != OTHER && from != OTHER) {
        if (plan_reals(k, to, from))
            return;
    } else if (plan_pair(k, dst, src)) {
        return;
    }
    soft = dst->custom || src->custom ? NULL : pass_soft(dst->format, src->format, isa_get());
    add_pass(&k->plan, soft ? soft : pass_general, dst->size);
}

/* One unchecked pass and one turn of bytes may be one pass. */
static void plan_turned(struct kernel *k, const struct enc *dst, const struct enc *src)
{
    struct plan *p = &k->plan;
    bool turn_to = p->stores && p->store.op == MOVE_REVERSE && !p->loads;
    bool turn_from = p->loads && p->load.op == MOVE_REVERSE && !p->stores;
    pass_fn *pass = NULL;

    if (p->npass == 1 && !p->counts && !p->clamp && p->parts == 1 && (turn_to || turn_from)) {
        pass = pass_turned(sort_of(dst), sort_of(src), turn_to, isa_get());
        if (!pass && !dst->custom && !src->custom)
            pass = pass_soft_turned(dst->format, src->format, src->size, turn_to, isa_get());
    }
    if (!pass)
        return;
    p->turned = true;
    p->pass[1] = pass;
}

static int plan_convert(struct kernel *k, const struct enc *dst, const struct enc *src)
{
    struct plan *p = &k->plan;
    int units, unit, err;

    err = src->cls == FMT_CHAR ? 0 : side_init(&p->src, src->format, src->size, src->custom);
    if (!err && src->cls != FMT_CHAR)
        err = side_init(&p->dst, dst->format, dst->size, dst->custom);
    if (err)
        return err;
    k->lossless = src->cls == FMT_CHAR || side_holds(&p->dst, &p->src);
    p->strict = p->strict && src->cls != FMT_CHAR && !side_reaches(&p->dst, &p->src);
    p->counts = p->strict || (k->report && !k->lossless);
    p->clamp = k->range == DREP_RANGE_CLAMP && !k->lossless;

    unit = unit_of(src, &units);
    /* Any nonzero byte makes a bool true: their order does not matter. */
    move_init(&p->load, unit, units * src->parts, DREP_LITTLE,
              src->format == DREP_FORMAT_BOOL ? DREP_LITTLE : src->order, UINT32_MAX);
    p->loads = p->load.op != MOVE_COPY;
    unit = unit_of(dst, &units);
    move_init(&p->store, unit, units * dst->parts, dst->order, DREP_LITTLE, UINT32_MAX);
    p->stores = p->store.op != MOVE_COPY;
    p->width[0] = (uint8_t)src->size;
    k->run = run_passes;
    plan_passes(k, dst, src);
    if (p->npass == 0) {
        /* Integers of one size, unchecked: only the order differs. */
        plan_move(k, dst, src);
        return 0;
    }
    plan_turned(k, dst, src);
    return 0;
}

/* May values of these two be converted into each other? */
static int possible(const struct enc *dst, const struct enc *src, bool same)
{
    if (dst->parts != src->parts)
        return fail(DREP_ERR_TYPE, "no conversion between a complex and a real number");
    if (same && dst->cls != FMT_BYTES)
        return 0;
    if (dst->cls == FMT_BYTES && src->cls == FMT_BYTES && dst->size == src->size &&
        (same || (!dst->custom && !src->custom)))
        return 0;
    if (dst->cls == src->cls && dst->cls == FMT_CHAR)
        return 0;
    if (numeric(dst) && numeric(src))
        return 0;
    return fail(DREP_ERR_TYPE, "no conversion between these types");
}

static void name_of(const drep_type *leaf, char name[32])
{
    const char *known = leaf->kind == DREP_KIND_PREDEFINED ? drep_code_name(leaf->code) : NULL;

    strcpy(name, known ? known : leaf->kind == DREP_KIND_SCALAR ? "scalar" : "variable length");
}

static drep_encoding row_of(const struct rep_table *table, const drep_type *leaf,
                            const struct enc *e)
{
    drep_encoding row = {.format = (uint8_t)e->format, .order = (uint8_t)e->order, .align = 1};

    if (leaf->kind == DREP_KIND_PREDEFINED)
        row = table->row[leaf->code];
    row.size = (uint8_t)(e->size * e->parts);
    return row;
}

int kernel_pick(struct kernel *k, const struct rep_table *dst_table, const drep_type *dst_leaf,
                const struct rep_table *src_table, const drep_type *src_leaf,
                const struct rep_opts *opts)
{
    bool same = dst_leaf == src_leaf || leaf_same(dst_leaf, src_leaf);
    struct enc dst, src;
    char from[32], to[32];
    int err;

    err = enc_of(&dst, dst_table, dst_leaf);
    if (!err)
        err = enc_of(&src, src_table, src_leaf);
    if (!err)
        err = possible(&dst, &src, same);
    if (!err) {
        *k = (struct kernel){.report = opts->report};
        k->dst = row_of(dst_table, dst_leaf, &dst);
        k->src = row_of(src_table, src_leaf, &src);
        k->dst_custom = dst.custom;
        k->src_custom = src.custom;
        k->range = same ? opts->range : opts->value_range;
        if (k->range == DREP_RANGE_DEFAULT)
            k->range = same ? DREP_RANGE_WRAP : DREP_RANGE_STRICT;
        k->plan.strict = k->range == DREP_RANGE_STRICT;
        k->plan.parts = (uint8_t)dst.parts;
        if (dst.cls == FMT_BYTES ||
            (dst.format == src.format && dst.size == src.size && dst.cls != FMT_BOOL &&
             src.cls != FMT_BOOL && custom_same(dst.custom, src.custom)))
            plan_move(k, &dst, &src);
        else
            err = plan_convert(k, &dst, &src);
    }
    if (!err)
        return 0;
    name_of(src_leaf, from);
    name_of(dst_leaf, to);
    return fail_in(err, "%s to %s", from, to);
}
