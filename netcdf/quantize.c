/* quantize.c - numbers of floating point that keep so many digits as mean something.
 *
 * nc_def_var_quantize() asks for it; what follows are zeros (or, in every second number, ones),
 * which a compressor makes nothing of.  An attribute of netCDF's says so in the file, and a program
 * that writes to the variable later goes on with it.  The bits are those of netCDF-C:
 *
 *   - BitGroom: as many bits as the digits need and one, the same for each number; the rest are
 *     zeros and ones by turns, so that the mean stays.
 *   - Granular BitRound: as many bits as this number needs, which is then rounded.
 *   - BitRound: so many bits; the number is rounded.
 *
 * The fill value, zeros and what is not finite stay as they are. */
/* SPDX-License-Identifier: MIT */
#include "netcdf/attributes.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define BITS_PER_DIGIT 3.32192809488736234787 /* log2(10) */
#define DIGITS_PER_BIT 0.30102999566398119521 /* log10(2) */

static const struct quantize_mode {
    int mode;
    const char *attribute;
    int most_float, most_double;
} modes[] = {
    {NC_QUANTIZE_BITGROOM, NC_QUANTIZE_BITGROOM_ATT_NAME, NC_QUANTIZE_MAX_FLOAT_NSD,
     NC_QUANTIZE_MAX_DOUBLE_NSD},
    {NC_QUANTIZE_GRANULARBR, NC_QUANTIZE_GRANULARBR_ATT_NAME, NC_QUANTIZE_MAX_FLOAT_NSD,
     NC_QUANTIZE_MAX_DOUBLE_NSD},
    {NC_QUANTIZE_BITROUND, NC_QUANTIZE_BITROUND_ATT_NAME, NC_QUANTIZE_MAX_FLOAT_NSB,
     NC_QUANTIZE_MAX_DOUBLE_NSB},
};
#define MODES (sizeof modes / sizeof *modes)

/* -------------------------------------------------------------------- the wish */

static int digits_fit(const struct nc_variable *v, const struct quantize_mode *m, int digits)
{
    return digits > 0 && digits <= (v->type == NC_FLOAT ? m->most_float : m->most_double);
}

int quantize_set(struct nc_variable *v, int mode, int digits)
{
    size_t i = 0;

    if (v->type != NC_FLOAT && v->type != NC_DOUBLE)
        return mode == NC_NOQUANTIZE ? 0 : NC_EINVAL;
    while (i < MODES && modes[i].mode != mode)
        i++;
    if (mode != NC_NOQUANTIZE && (i == MODES || !digits_fit(v, &modes[i], digits)))
        return NC_EINVAL;
    v->quantize = mode;
    v->digits = mode == NC_NOQUANTIZE ? 0 : digits;
    v->quantize_known = 1;
    return 0;
}

int quantize_note(struct nc_variable *v)
{
    struct nc_attribute a = {.type = NC_INT, .len = 1};
    size_t i = 0;
    int err;

    while (i < MODES && modes[i].mode != v->quantize)
        i++;
    if (i == MODES || attributes_find_name(&v->attributes, modes[i].attribute) >= 0)
        return 0;
    a.name = strdup(modes[i].attribute);
    a.data = malloc(sizeof v->digits);
    if (a.data)
        memcpy(a.data, &v->digits, sizeof v->digits);
    err = a.name && a.data ? attributes_add(&v->attributes, &a) : NC_ENOMEM;
    if (err) {
        free(a.name);
        free(a.data);
    }
    return err;
}

/* Read how a variable that is in the file is quantized, from its attributes. */
static void quantize_load(struct door *door, const struct nc_group *group, struct nc_variable *v)
{
    char *path =
        v->type == NC_FLOAT || v->type == NC_DOUBLE ? door_join(group->path, v->name) : NULL;
    size_t i;

    for (i = 0; path && i < MODES && !v->quantize; i++) {
        drep_attrinfo info = DREP_ATTRINFO;
        int digits = 0;

        if (drep_attr_info(door->file, path, modes[i].attribute, &info) != 0)
            continue;
        if (info.count == 1 && type_of(door, info.type) == NC_INT &&
            drep_attr_read(door->file, path, modes[i].attribute, DREP_INT32_T, &digits) == 0 &&
            digits_fit(v, &modes[i], digits)) {
            v->quantize = modes[i].mode;
            v->digits = digits;
        }
        drep_attrinfo_release(&info);
    }
    free(path);
}

int quantize_mode(struct door *door, const struct nc_group *group, struct nc_variable *v)
{
    if (!v->quantize_known && v->dataset)
        quantize_load(door, group, v);
    v->quantize_known = 1;
    return v->quantize;
}

int slot_inq_var_quantize(int ncid, int varid, int *mode, int *digits)
{
    struct door *door;
    struct nc_group *group;
    struct nc_variable *v;
    int err = door_find(ncid, &door, &group);

    if (!err)
        err = door_find_variable(ncid, varid, &door, &v);
    if (err)
        return err;
    quantize_mode(door, group, v);
    TELL(mode, v->quantize);
    TELL(digits, v->digits);
    return 0;
}

/* ------------------------------------------------------------------- the values */

/* What is asked for, and a format with so many explicit bits of the significand. */
struct quantizer {
    int mode, digits, bits;
    double fill;
};

/* Bits of the significand that Granular BitRound keeps of a number. */
static int granular_bits(double value, int digits)
{
    int exponent, power;
    double part = fabs(frexp(value, &exponent)), logarithm = log10(part);
    int count = (int)floor(exponent * DIGITS_PER_BIT + logarithm) + 1;

    power = (int)floor(BITS_PER_DIGIT * (count - digits));
    return abs((int)floor(exponent - BITS_PER_DIGIT * logarithm) - power) - 1;
}

/* Bits at the end of a number that mean nothing. */
static int spare_bits(const struct quantizer *q, double value)
{
    int kept = q->digits;

    if (q->mode == NC_QUANTIZE_BITGROOM)
        kept = (int)ceil(q->digits * BITS_PER_DIGIT) + 1;
    else if (q->mode == NC_QUANTIZE_GRANULARBR)
        kept = granular_bits(value, q->digits);
    return kept < q->bits ? q->bits - kept : 0;
}

/* The bits of element i after quantizing; its `value` is exact as a double. */
static uint64_t quantize_bits(const struct quantizer *q, double value, uint64_t bits, size_t i)
{
    uint64_t low;

    if (value == q->fill || value == 0 || !isfinite(value))
        return bits;
    low = ((uint64_t)1 << spare_bits(q, value)) - 1;
    if (q->mode != NC_QUANTIZE_BITGROOM)
        return (bits + (low & ~(low >> 1))) & ~low;
    return i % 2 ? bits | low : bits & ~low;
}

static void quantize_floats(const struct quantizer *q, float *values, size_t n)
{
    size_t i;

    for (i = 0; i < n; i++) {
        uint32_t bits;

        memcpy(&bits, &values[i], sizeof bits);
        bits = (uint32_t)quantize_bits(q, (double)values[i], bits, i);
        memcpy(&values[i], &bits, sizeof bits);
    }
}

static void quantize_doubles(const struct quantizer *q, double *values, size_t n)
{
    size_t i;

    for (i = 0; i < n; i++) {
        uint64_t bits;

        memcpy(&bits, &values[i], sizeof bits);
        bits = quantize_bits(q, values[i], bits, i);
        memcpy(&values[i], &bits, sizeof bits);
    }
}

void quantize_values(const struct nc_variable *v, const void *fill, void *values, size_t n)
{
    struct quantizer q = {v->quantize, v->digits, v->type == NC_FLOAT ? 23 : 52, 0};
    float single;

    if (v->type == NC_FLOAT) {
        memcpy(&single, fill, sizeof single);
        q.fill = (double)single;
        quantize_floats(&q, values, n);
    } else {
        memcpy(&q.fill, fill, sizeof q.fill);
        quantize_doubles(&q, values, n);
    }
}
