/* plan.c - picks the passes of a kernel.
 *
 * A pair of encodings is looked at once and written down as passes, the fastest that give the
 * bits of the general form. */
/* SPDX-License-Identifier: MIT */
#include "kern/plan.h"

#include "base/error.h"
#include "format/numbers.h"
#include "kern/pass.h"

#include <datarep.h>

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

/* The sort of an encoding: those that have passes of their own, else OTHER. */
static enum scalar_sort sort_of(const struct enc *e)
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
        return (enum scalar_sort)(I8 + odd);
    case 2:
        return (enum scalar_sort)(I16 + odd);
    case 4:
        return (enum scalar_sort)(I32 + odd);
    case 8:
        return (enum scalar_sort)(I64 + odd);
    default:
        return OTHER;
    }
}

static int sort_width(enum scalar_sort s)
{
    return s <= U64 ? 1 << (s / 2) : s <= BF16 ? 2 : s == F32 ? 4 : 8;
}

static void add_pass(struct pass_plan *p, pass_fn *pass, int width)
{
    p->look[p->npass] = width == 0;
    p->pass[p->npass++] = pass;
    p->width[p->npass] = (uint8_t)(width ? width : p->width[p->npass - 1]);
}

static void add_resize(struct pass_plan *p, enum scalar_sort dst, enum scalar_sort src)
{
    if (sort_width(dst) != sort_width(src))
        add_pass(p, pass_resize(dst, src, isa_get()), sort_width(dst));
}

/* low..high, what an integer of this sort can be, as bits. */
static void sort_limits(enum scalar_sort s, int64_t *low, int64_t *high)
{
    int bits = 8 * sort_width(s);

    *low = s % 2 ? 0 : INT64_MIN >> (64 - bits);
    *high = s % 2 ? (int64_t)(UINT64_MAX >> (64 - bits)) : INT64_MAX >> (64 - bits);
}

/* Integers to integers: look at the range where it matters, then resize. */
static void plan_ints(struct kernel *k, enum scalar_sort dst, enum scalar_sort src)
{
    struct pass_plan *p = &k->plan;
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

/* Reals to integers go through the narrowest of I32, I64, U64 that holds the target; if asked for,
 * rounded to whole numbers before, since the pass truncates. */
static bool plan_to_int(struct kernel *k, enum scalar_sort dst, enum scalar_sort src)
{
    struct pass_plan *p = &k->plan;
    enum scalar_sort via = dst == U64 ? U64 : dst == I64 || dst == U32 ? I64 : I32;
    pass_fn *pass = pass_float(via, src, p->counts, isa_get());

    if (!pass)
        return false;
    sort_limits(dst, &p->low, &p->high);
    p->above = dst == U64   ? 18446744073709551616.0
               : dst == I64 ? 9223372036854775808.0
                            : (double)p->high + 1;
    /* One less, or the next number that binary64 can hold. */
    p->below = dst == I64 ? -9223372036854777856.0 : (double)p->low - 1;
    if (k->range == DREP_RANGE_ROUND)
        add_pass(p, pass_whole(src, isa_get()), sort_width(src));
    add_pass(p, pass, sort_width(via));
    add_resize(p, dst, via);
    p->fpu = true;
    return true;
}

static bool plan_reals(struct kernel *k, enum scalar_sort dst, enum scalar_sort src)
{
    struct pass_plan *p = &k->plan;
    enum scalar_sort via = src;
    pass_fn *pass, *look = NULL;

    if (src < I32)
        via = I32;
    if (p->strict && !k->report)
        look = pass_float_look(dst, via, isa_get());
    pass = pass_float(dst, via, !look && (p->counts || p->clamp), isa_get());
    if (!pass)
        return false;
    if (look)
        add_pass(p, look, 0);
    if (src < I32)
        add_resize(p, I32, src);
    add_pass(p, pass, sort_width(dst));
    p->fpu = pass_float_hard(dst, via);
    return true;
}

static bool plan_truth(struct kernel *k, const struct enc *dst, const struct enc *src)
{
    pass_fn *pass = pass_truth(src->size, isa_get());
    enum scalar_sort to = sort_of(dst);

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
    struct pass_plan *p = &k->plan;
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

/* Choose the passes, best first. */
static void plan_passes(struct kernel *k, const struct enc *dst, const struct enc *src)
{
    enum scalar_sort to = sort_of(dst), from = sort_of(src);
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

/* Where a look and one pass are all that is to be done, they may be one loop. */
static void plan_checked(struct pass_plan *p, enum scalar_sort dst, enum scalar_sort src)
{
    bool turn = p->loads;

    if (!p->strict || p->npass != 2 || !p->look[0] || p->stores ||
        (p->loads && (p->load.op != MOVE_REVERSE || p->parts > 1)))
        return;
    p->checked = dst <= U64 && src <= U64 ? checked_resize(dst, src, turn, isa_get())
                                          : checked_float(dst, src, turn, isa_get());
}

/* Join one unchecked pass and one change of byte order into one pass, where there is such. */
static void plan_turned(struct kernel *k, const struct enc *dst, const struct enc *src)
{
    struct pass_plan *p = &k->plan;
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

/* Plan load, passes and store of a conversion that changes values. What the pair cannot lose is
 * neither counted nor checked. */
static int plan_convert(struct kernel *k, const struct enc *dst, const struct enc *src)
{
    struct pass_plan *p = &k->plan;
    int units, unit, err;

    err = src->cls == FMT_CHAR ? 0 : side_init(&p->src, src->format, src->size, src->custom);
    if (!err && src->cls != FMT_CHAR)
        err = side_init(&p->dst, dst->format, dst->size, dst->custom);
    if (err)
        return err;
    k->lossless = src->cls == FMT_CHAR || side_holds(&p->dst, &p->src);
    p->strict = p->strict && src->cls != FMT_CHAR && !side_reaches(&p->dst, &p->src);
    /* An integer is the number itself, a real the nearest of its format. */
    p->exact = p->strict && k->range == DREP_RANGE_STRICT && p->dst.kind == SIDE_INT &&
               p->src.kind != SIDE_INT;
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
    plan_checked(p, sort_of(dst), sort_of(src));
    return 0;
}

static bool numeric(const struct enc *e)
{
    return e->cls == FMT_INT || e->cls == FMT_UINT || e->cls == FMT_BOOL || e->cls == FMT_REAL;
}

/* Check that values of these two encodings may be converted into each other. */
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

int kernel_plan(struct kernel *k, const struct enc *dst, const struct enc *src, bool same)
{
    int err = possible(dst, src, same);

    if (err)
        return err;
    if (k->range == DREP_RANGE_DEFAULT)
        k->range = same ? DREP_RANGE_WRAP : DREP_RANGE_STRICT;
    k->plan.strict = k->range == DREP_RANGE_STRICT || k->range == DREP_RANGE_ROUND;
    k->plan.parts = (uint8_t)dst->parts;
    if (dst->cls != FMT_BYTES &&
        (dst->format != src->format || dst->size != src->size || dst->cls == FMT_BOOL ||
         src->cls == FMT_BOOL || !custom_same(dst->custom, src->custom)))
        return plan_convert(k, dst, src);
    plan_move(k, dst, src);
    return 0;
}
