/* fuzz_convert.c - any bits converted between any two scalars.
 *
 * Whatever is accepted as a scalar converts without harm to whatever else is, alone, in
 * rows and in structs; and kernels for no processor in particular agree with those for
 * this one, in bytes, reports and errors. */
/* SPDX-License-Identifier: MIT */
#include "base/isa.h"
#include "tests/fuzz/fuzz.h"

#include <datarep.h>

enum { ELEMENTS = 97 };

struct input {
    const uint8_t *at;
    size_t left;
};

static uint64_t take(struct input *in, int bytes)
{
    uint64_t v = 0;

    for (; bytes > 0 && in->left; bytes--, in->left--)
        v = v << 8 | *in->at++;
    return v;
}

static drep_type *scalar(struct input *in)
{
    drep_scalar s = {.cls = (uint8_t)(take(in, 1) % 4),
                     .order = (uint8_t)(take(in, 1) % 4),
                     .size = (uint8_t)(take(in, 1) % 34),
                     .is_signed = (uint8_t)(take(in, 1) % 2),
                     .format = (uint8_t)take(in, 1),
                     .norm = (uint8_t)(take(in, 1) % 4),
                     .low_pad = (uint8_t)(take(in, 1) % 4),
                     .high_pad = (uint8_t)(take(in, 1) % 4),
                     .precision = (uint16_t)take(in, 2),
                     .offset = (uint16_t)take(in, 2),
                     .sign_pos = (uint16_t)take(in, 2),
                     .exp_pos = (uint16_t)take(in, 2),
                     .exp_width = (uint16_t)take(in, 2),
                     .mant_pos = (uint16_t)take(in, 2),
                     .mant_width = (uint16_t)take(in, 2),
                     .exp_base_log2 = (uint8_t)take(in, 1),
                     .exp_bias = (int64_t)take(in, 8)};
    drep_type *type = NULL;

    if (s.format > 100)
        s.format = DREP_FORMAT_CUSTOM;
    return drep_type_scalar(&s, &type) == 0 ? type : NULL;
}

/* A predefined type, or a scalar beyond them; alone, spaced or among others. */
static drep_type *element(struct input *in, int shape)
{
    int code = (int)take(in, 1);
    drep_type *leaf = code < 128 ? drep_type_ref(drep_predefined(code)) : scalar(in), *type = NULL;
    const drep_type *members[] = {DREP_INT32_T, leaf, DREP_UINT8_T};
    int64_t lengths[] = {1, 2, 1}, displs[] = {0, 16, 11};
    int err = leaf ? 0 : 1;

    if (!err && shape == 0)
        return leaf;
    if (!err && shape == 1)
        err = drep_type_vector(3, 1, 2, leaf, &type);
    else if (!err && shape == 2)
        err = drep_type_struct(3, lengths, NULL, members, &type);
    else if (!err)
        err = drep_type_struct(3, lengths, displs, members, &type);
    drep_type_free(leaf);
    return err ? NULL : type;
}

/* Converts with one instruction set's kernels; gives the error. */
static int convert(enum isa isa, const drep_type *to, uint8_t *dst, int64_t size,
                   const drep_type *from, const uint8_t *src, int64_t n, int range,
                   drep_report *report)
{
    const drep_xfer xfer = DREP_XFER(.range = range, .threads = 1, .report = report);
    int err;

    memset(dst, 0x5c, (size_t)size);
    isa_limit(isa);
    err = drep_convert(to, dst, from, src, n, &xfer);
    isa_limit(ISAS);
    return err;
}

static void try(const drep_type *to, const drep_type *from, struct input *in, int64_t n, int range)
{
    int64_t from_size = drep_type_extent(from) * n, to_size = drep_type_extent(to) * n;
    uint8_t *src = malloc((size_t)from_size + 1), *a = malloc((size_t)to_size + 1),
            *b = malloc((size_t)to_size + 1);
    drep_report one = DREP_REPORT, other = DREP_REPORT;
    int err;

    for (int64_t i = 0; i < from_size; i++)
        src[i] = in->left ? in->at[(size_t)i % in->left] : (uint8_t)i;
    err = convert(ISA_PORTABLE, to, a, to_size, from, src, n, range, &one);
    for (int isa = ISA_PORTABLE; isa < ISAS; isa++) {
        PROMISE(convert((enum isa)isa, to, b, to_size, from, src, n, range, &other) == err);
        if (err == 0)
            PROMISE(memcmp(a, b, (size_t)to_size) == 0);
        PROMISE(memcmp(&one, &other, sizeof one) == 0);
    }
    if (err == 0) {
        PROMISE(one.items == n * drep_type_items(from));
        /* A complex is two numbers. */
        PROMISE(one.overflow <= 2 * one.items && one.inexact <= 2 * one.items);
        PROMISE(one.first_overflow < one.items && (one.first_overflow < 0) == (one.overflow == 0));
        PROMISE(range != DREP_RANGE_STRICT || one.overflow == 0);
    }
    free(src);
    free(a);
    free(b);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct input in = {data, size};
    int mode = (int)take(&in, 1);
    int64_t n = 1 + (int64_t)(take(&in, 1) % ELEMENTS);
    drep_type *to = element(&in, mode % 4), *from = element(&in, mode % 4);

    if (to && from && !drep_type_variable(to) && !drep_type_variable(from))
        try(to, from, &in, n, mode / 4 % 4);
    drep_type_free(to);
    drep_type_free(from);
    return 0;
}
