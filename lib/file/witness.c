/* witness.c - witnesses: a few values of each type, stored by the functions of a representation. */
/* SPDX-License-Identifier: MIT */
#include "file/witness.h"

#include "base/error.h"
#include "conv/conv.h"
#include "rep/convert.h"
#include "rep/encodings.h"

#include <datarep.h>
#include <string.h>

enum { WITNESSES = 5 };

/* Value number i of `row`'s type, where row is big-endian: 0, 1, then of integers the largest, of
 * reals -2.5, the largest finite one, a NaN.  Returns 0 when the type has no such value. */
static int witness_value(const drep_encoding *row, int parts, int i, uint8_t *out)
{
    size_t size = (size_t)row->size / (size_t)parts;
    bool pair = row->format == DREP_FORMAT_DOUBLE_DOUBLE;
    uint8_t little[FMT_ITEM_MAX] = {0};

    memset(out, 0, FMT_ITEM_MAX);
    if (drep_format_describe(row->format)->cls != DREP_SCALAR_REAL) {
        if (row->format == DREP_FORMAT_BYTES || i > (row->format == DREP_FORMAT_BOOL ? 1 : 2))
            return 0;
        if (i == 1)
            out[size - 1] = 1;
        if (i == 2)
            memset(out, 0xff, size);
        if (i == 2 && row->format == DREP_FORMAT_INT)
            out[0] = 0x7f;
        if (i == 2 && row->format == DREP_FORMAT_UNICODE)
            memset(out, 0, size - 1), out[size - 1] = 0xfe;
        return 1;
    }
    /* A pair of doubles has several largest numbers; its other values are the high double. */
    if (i >= WITNESSES || (pair && i == REP_LARGEST))
        return 0;
    if (pair)
        size /= 2;
    if (rep_sample(pair ? DREP_FORMAT_BINARY64 : row->format, (int)size, (enum rep_sample)i,
                   little))
        return 0;
    for (size_t k = 0; k < size; k++)
        out[k] = little[size - 1 - k];
    size = (size_t)row->size / (size_t)parts;
    if (parts == 2)
        memcpy(out + size, out, size);
    return 1;
}

/* This machine's row of a type, made big-endian without padding; the formats of 80 bits
 * in their common form. */
static void row_big(int code, drep_encoding *row)
{
    *row = rep_native()->row[code];
    row->order = DREP_BIG;
    row->align = 1;
    if (row->format == DREP_FORMAT_X87 || row->format == DREP_FORMAT_M68K) {
        row->format = DREP_FORMAT_X87;
        row->size = fmt_code_class(code) == FMT_COMPLEX ? 20 : 10;
    }
}

/* The native bytes of value i, converted from their big-endian form. *has: the type has such a
 * value. */
static int witness_native(int code, int i, void *out, int *has)
{
    uint8_t big[FMT_ITEM_MAX];
    struct rep_table table = {0};
    struct type_sizes sizes;
    struct prog from;
    struct rep_opts opts = {.range = DREP_RANGE_WRAP, .value_range = DREP_RANGE_WRAP};
    const drep_type *type = drep_predefined(code);
    int err;

    row_big(code, &table.row[code]);
    *has = witness_value(&table.row[code], fmt_code_class(code) == FMT_COMPLEX ? 2 : 1, i, big);
    if (!*has)
        return 0;
    rep_table_sizes(&table, &sizes);
    if ((err = prog_build(&from, type, &sizes, PROG_PACKED)))
        return err;
    memset(out, 0, FMT_ITEM_MAX);
    err = rep_convert(out, &(struct rep_side){&type->prog, rep_native(), 0}, big,
                      &(struct rep_side){&from, &table, 0}, 1, &opts, NULL);
    prog_release(&from);
    return err;
}

/* Converts stored bytes to native ones by the way that elements take. */
static int witness_read(const struct file_rep *rep, int code, const uint8_t *stored, void *out)
{
    struct ftype ft = {.type = (drep_type *)drep_predefined(code)};
    const drep_xfer wrap = DREP_XFER(.range = DREP_RANGE_WRAP);
    struct conv c;
    int err = prog_build(&ft.stored, ft.type, &rep->sizes, PROG_PACKED);

    if (err)
        return err;
    memset(out, 0, FMT_ITEM_MAX);
    err = conv_init(&c, rep, &ft, ft.type, &wrap, false);
    if (!err)
        err = conv_read(&c, out, 0, stored, 0, 1);
    prog_release(&ft.stored);
    return err;
}

static int witness_write(const struct file_rep *rep, int code, const void *native, uint8_t *stored)
{
    struct ftype ft = {.type = (drep_type *)drep_predefined(code)};
    const drep_xfer wrap = DREP_XFER(.range = DREP_RANGE_WRAP);
    struct conv c;
    int err = prog_build(&ft.stored, ft.type, &rep->sizes, PROG_PACKED);

    if (err)
        return err;
    err = conv_init(&c, rep, &ft, ft.type, &wrap, true);
    if (!err)
        err = conv_write(&c, native, 0, stored, 0, 1);
    prog_release(&ft.stored);
    return err;
}

/* True if a native real is a NaN, which stays unequal to itself when it is converted to double. */
static bool is_nan(int code, const uint8_t *native)
{
    bool complex = fmt_code_class(code) == FMT_COMPLEX;
    const drep_type *type = drep_predefined(code);
    double d[2] = {0, 0};

    if (drep_convert(complex ? DREP_C_DOUBLE_COMPLEX : DREP_DOUBLE, d, type, native, 1,
                     &DREP_XFER(.range = DREP_RANGE_WRAP)) != 0)
        return false;
    return d[0] != d[0] && (!complex || d[1] != d[1]);
}

/* Compares two native values, of NaNs only that both are NaNs, and without the padding of 80-bit
 * formats. */
static bool witness_same(int code, const uint8_t *a, const uint8_t *b, int i)
{
    const drep_encoding *row = &rep_native()->row[code];
    size_t parts = fmt_code_class(code) == FMT_COMPLEX ? 2 : 1, size = row->size / parts;
    size_t used = row->format == DREP_FORMAT_X87 ? 10 : size; /* what pads it says nothing */

    if (i == 4)
        return is_nan(code, b);
    return memcmp(a, b, used) == 0 && (parts == 1 || memcmp(a + size, b + size, used) == 0);
}

int witness_make(const struct file_rep *rep, int code, struct buf *w)
{
    uint8_t native[FMT_ITEM_MAX], back[FMT_ITEM_MAX], stored[256];
    size_t size = rep->sizes.size[code];
    int err, has;

    w->len = 0;
    for (int i = 0; i < WITNESSES; i++) {
        if ((err = witness_native(code, i, native, &has)))
            return err;
        if (!has) /* the list ends with the first value that cannot be shown */
            return 0;
        memset(stored, 0, sizeof stored);
        err = witness_write(rep, code, native, stored);
        if (!err)
            err = witness_read(rep, code, stored, back);
        if (err == DREP_ERR_NOMEM)
            return err;
        if (err || !witness_same(code, native, back, i))
            break;
        if ((err = buf_reserve(w, w->len + size)))
            return err;
        memcpy(w->p + w->len, stored, size);
        w->len += size;
    }
    return 0;
}

int witness_check(const struct file_rep *rep, int code, const struct buf *w)
{
    uint8_t native[FMT_ITEM_MAX], back[FMT_ITEM_MAX];
    size_t size = rep->sizes.size[code], at = 0;
    int err, has;

    for (int i = 0; i < WITNESSES && at < w->len; i++) {
        if ((err = witness_native(code, i, native, &has)))
            return err;
        if (!has)
            return 0;
        err = witness_read(rep, code, w->p + at, back);
        if (err == DREP_ERR_NOMEM)
            return err;
        if (err || !witness_same(code, native, back, i))
            return fail(DREP_ERR_UNSUPPORTED_DATAREP,
                        "datarep \"%s\": the functions registered under this name do not read "
                        "the header's witness of %s; they are another representation",
                        rep->name, drep_code_name(code));
        at += size;
    }
    return 0;
}
