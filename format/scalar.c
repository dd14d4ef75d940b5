/* scalar.c - descriptions of scalars, and the head of a self-described value. */
/* SPDX-License-Identifier: MIT */
#include "format/record.h"

/* A run of bits; empty when width is 0. */
struct bit_run {
    unsigned at, width;
};

static bool bits_inside(struct bit_run in, struct bit_run of)
{
    return in.at >= of.at && in.width <= of.width && in.at - of.at <= of.width - in.width;
}

static int bits_apart(struct bit_run a, struct bit_run b)
{
    return a.at + a.width <= b.at || b.at + b.width <= a.at;
}

/* Check the description of a format that has no name. Returns what is wrong, or NULL. */
static const char *scalar_custom_doubt(const struct scalar_rec *s)
{
    struct bit_run all = {0, s->size * 8u}, value = {s->offset, s->precision};
    struct bit_run sign = {s->sign_pos, 1}, exponent = {s->exp_pos, s->exp_width};
    struct bit_run significand = {s->mant_pos, s->mant_width};

    if (value.width == 0 || !bits_inside(value, all))
        return "the bits of a scalar do not lie inside it (R5.22)";
    if (s->cls != FMT_SCALAR_REAL)
        return NULL;
    if (exponent.width < 1 || significand.width < 1)
        return "impossible width of an exponent or a significand (R5.24)";
    if (!bits_inside(sign, value) || !bits_inside(exponent, value) ||
        !bits_inside(significand, value))
        return "sign, exponent or significand do not lie inside a scalar (R5.23)";
    if (!bits_apart(sign, exponent) || !bits_apart(sign, significand) ||
        !bits_apart(exponent, significand))
        return "sign, exponent and significand of a scalar overlap (R5.23)";
    if (s->exp_base_log2 != 1 && s->exp_base_log2 != 4)
        return "the base of an exponent is neither 2 nor 16 (R5.24)";
    if (s->exp_base_log2 == 4 ? !s->norm || significand.width < 4 : !s->norm && exponent.width < 2)
        return "no real has this base and this leading bit (R5.24)";
    return NULL;
}

/* Numbers that only a later version knows. */
static const char *scalar_later(const struct scalar_rec *s)
{
    if (fmt_format_class(s->format) < 0)
        return "a scalar has a format of a newer version (R1.9)";
    return s->order > FMT_ORDER_VAX ? "a scalar has a byte order of a newer version (R1.9)" : NULL;
}

static void scalar_limits(struct in *in, const struct scalar_rec *s)
{
    bool real = s->cls == FMT_SCALAR_REAL;

    IN_LIMIT(in, s->size, FMT_ITEM_MAX, "a scalar of more than 32 bytes", "R5.21");
    if (!real)
        IN_LIMIT(in, s->size, FMT_INT_SIZE_MAX, "an integer of more than 16 bytes", "R5.21");
    if (!real || s->format != FMT_FORMAT_CUSTOM)
        return;
    IN_LIMIT(in, s->exp_width, FMT_EXPONENT_MAX, "an exponent of more than 32 bits", "R5.24");
    IN_LIMIT(in, s->mant_width, FMT_SIGNIFICAND_MAX, "a significand of more than 113 bits",
             "R5.24");
}

/* True if a scalar of this class may have the format, a known one. */
static bool class_has(int cls, int format)
{
    int of = fmt_format_class(format);

    if (format == FMT_FORMAT_CUSTOM)
        return true;
    if (cls == FMT_SCALAR_BITS)
        return of == FMT_UINT || of == FMT_BYTES;
    return cls == FMT_SCALAR_REAL ? of == FMT_REAL : of == FMT_INT || of == FMT_UINT;
}

static const char *scalar_doubt(const struct scalar_rec *s)
{
    if (s->cls < FMT_SCALAR_INT || s->cls > FMT_SCALAR_BITS)
        return "unknown class of a scalar (R5.20)";
    if (s->is_signed > 1 || s->norm > 2 || s->low_pad > 2 || s->high_pad > 2)
        return "unknown number in a scalar (R5.20)";
    if (!class_has(s->cls, s->format))
        return "the format of a scalar is not of its class (R5.21)";
    if (!fmt_format_fits(s->format, s->size))
        return "the size of a scalar differs from its format's (R5.21)";
    return s->format == FMT_FORMAT_CUSTOM ? scalar_custom_doubt(s) : NULL;
}

/* Decode a description. FMT_ERR_UNSUPPORTED: only a later version knows it. scalar_doubt() knows
 * which fields must lie inside the scalar and apart. */
int scalar_get(struct in *in, struct scalar_rec *out)
{
    size_t start = in->at;
    struct scalar_rec t;
    const char *doubt;
    uint8_t zero;

    t.cls = in_u8(in);
    t.order = in_u8(in);
    t.size = in_u8(in);
    t.is_signed = in_u8(in);
    t.format = in_u8(in);
    t.norm = in_u8(in);
    t.low_pad = in_u8(in);
    t.high_pad = in_u8(in);
    t.precision = in_u16(in);
    t.offset = in_u16(in);
    t.sign_pos = in_u16(in);
    t.exp_pos = in_u16(in);
    t.exp_width = in_u16(in);
    t.mant_pos = in_u16(in);
    t.mant_width = in_u16(in);
    t.exp_base_log2 = in_u8(in);
    zero = in_u8(in);
    t.exp_bias = in_i64(in);
    if (in->err)
        return in->err;
    in->last = start;
    if ((doubt = scalar_later(&t)))
        return in_fail(in, FMT_ERR_UNSUPPORTED, doubt);
    if (!zero)
        scalar_limits(in, &t);
    if (in->err)
        return in->err;
    doubt = zero ? "a reserved byte of a scalar is not zero (R5.20)" : scalar_doubt(&t);
    if (doubt)
        return in_fail(in, FMT_ERR_FORMAT, doubt);
    *out = t;
    return FMT_OK;
}

void scalar_put(struct out *out, const struct scalar_rec *r)
{
    out_u8(out, r->cls);
    out_u8(out, r->order);
    out_u8(out, r->size);
    out_u8(out, r->is_signed);
    out_u8(out, r->format);
    out_u8(out, r->norm);
    out_u8(out, r->low_pad);
    out_u8(out, r->high_pad);
    out_u16(out, r->precision);
    out_u16(out, r->offset);
    out_u16(out, r->sign_pos);
    out_u16(out, r->exp_pos);
    out_u16(out, r->exp_width);
    out_u16(out, r->mant_pos);
    out_u16(out, r->mant_width);
    out_u8(out, r->exp_base_log2);
    out_u8(out, 0);
    out_i64(out, r->exp_bias);
}

/* A row does not say whether its code is a complex, which has two scalars. */
static bool row_possible(int format, int size)
{
    int real = fmt_format_class(format) == FMT_REAL;

    if (format == FMT_FORMAT_CUSTOM)
        return false;
    if (format == FMT_FORMAT_X87)
        return size == 10 || size == 20;
    return fmt_format_fits(format, size) ||
           (real && size % 2 == 0 && fmt_format_fits(format, size / 2));
}

static const char *row_beyond(int format, int size)
{
    return fmt_size_beyond(format, fmt_format_class(format) == FMT_REAL ? size / 2 : size);
}

int self_get(struct in *in, struct self_rec *out)
{
    struct self_rec t = {0};
    const char *beyond;

    t.n = in_u8(in);
    if (!in->err && t.n > FMT_CODE_MAX)
        in_fail(in, FMT_ERR_UNSUPPORTED, "more datatypes in a value than there are (R5.36)");
    for (int i = 0; !in->err && i < t.n; i++) {
        t.row[i].format = in_u8(in);
        t.row[i].size = in_u8(in);
        if (!in->err && fmt_format_class(t.row[i].format) < 0)
            in_fail(in, FMT_ERR_UNSUPPORTED,
                    "unknown format of a value, written by a newer version (R5.36)");
        if (!in->err && (beyond = row_beyond(t.row[i].format, t.row[i].size)))
            in_beyond(in, beyond);
        if (!in->err && !row_possible(t.row[i].format, t.row[i].size))
            in_fail(in, FMT_ERR_FORMAT, "impossible format of a value (R5.36)");
    }
    if (in->err)
        return in->err;
    *out = t;
    return FMT_OK;
}

void self_put(struct out *out, const struct self_rec *r)
{
    out_u8(out, r->n);
    for (int i = 0; i < r->n; i++) {
        out_u8(out, r->row[i].format);
        out_u8(out, r->row[i].size);
    }
}
