/* compare.c - walking over two elements side by side. */
/* SPDX-License-Identifier: MIT */
#include "tools/text/compare.h"
#include "format/byteorder.h"
#include "tools/text/num.h"
#include "tools/text/print.h"
#include "tools/text/printer.h"
#include "tools/text/real.h"
#include <float.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Kinds of values, whatever their format. */
enum sort {
    SORT_NUMBER,
    SORT_TEXT,
    SORT_BYTES,
    SORT_PAIR,
    SORT_RECORD,
    SORT_ARRAY,
    SORT_LIST,
    SORT_REFERENCE,
    SORT_OTHER
};

static enum sort sort_of(const struct comparison *c, const drep_type *type)
{
    switch (drep_type_kind(type)) {
    case DREP_KIND_PREDEFINED:
        return printer_complex(c->a, drep_type_code(type)) ? SORT_PAIR : SORT_NUMBER;
    case DREP_KIND_SCALAR:
    case DREP_KIND_ENUM:
    case DREP_KIND_BOOLEAN:
        return SORT_NUMBER;
    case DREP_KIND_STRING:
    case DREP_KIND_VSTRING:
        return SORT_TEXT;
    case DREP_KIND_OPAQUE:
        return SORT_BYTES;
    case DREP_KIND_COMPOUND:
    case DREP_KIND_STRUCT:
        return SORT_RECORD;
    case DREP_KIND_ARRAY:
        return SORT_ARRAY;
    case DREP_KIND_SEQUENCE:
        return SORT_LIST;
    case DREP_KIND_REFERENCE:
        return SORT_REFERENCE;
    default:
        return SORT_OTHER;
    }
}

static bool is_char(const drep_type *type)
{
    int code = drep_type_code(type);

    return code == DREP_CODE_CHAR || code == DREP_CODE_CHARACTER;
}

/* One character, as C has it or as a text of one byte. */
static bool char_and_text(const drep_type *a, const drep_type *b)
{
    return is_char(a) && drep_type_kind(b) == DREP_KIND_STRING && drep_type_size(b) == 1;
}

/* A complex number, and a compound of its two parts. */
static bool pair_and_record(const struct comparison *c, const drep_type *a, const drep_type *b)
{
    return sort_of(c, a) == SORT_PAIR && sort_of(c, b) == SORT_RECORD &&
           drep_type_members(b) == 2 && sort_of(c, drep_type_member(b, 0)) == SORT_NUMBER &&
           sort_of(c, drep_type_member(b, 1)) == SORT_NUMBER;
}

static bool same_name(const char *a, const char *b)
{
    return a && b ? strcmp(a, b) == 0 : !a && !b;
}

static bool alike_records(const struct comparison *c, const drep_type *a, const drep_type *b)
{
    int64_t i, n = drep_type_members(a);

    if (drep_type_members(b) != n)
        return false;
    for (i = 0; i < n; i++)
        if (!same_name(drep_type_member_name(a, i), drep_type_member_name(b, i)) ||
            !compare_alike(c, drep_type_member(a, i), drep_type_member(b, i)))
            return false;
    return true;
}

static bool alike_arrays(const struct comparison *c, const drep_type *a, const drep_type *b)
{
    int rank = drep_type_array_rank(a);

    return drep_type_array_rank(b) == rank &&
           memcmp(drep_type_array_dims(a), drep_type_array_dims(b),
                  (size_t)rank * sizeof(int64_t)) == 0 &&
           compare_alike(c, drep_type_member(a, 0), drep_type_member(b, 0));
}

bool compare_alike(const struct comparison *c, const drep_type *a, const drep_type *b)
{
    enum sort sort = sort_of(c, a);

    if (char_and_text(a, b) || char_and_text(b, a) || pair_and_record(c, a, b) ||
        pair_and_record(c, b, a))
        return true;
    if (sort != sort_of(c, b))
        return false;
    switch (sort) {
    case SORT_BYTES:
        return drep_type_size(a) == drep_type_size(b);
    case SORT_RECORD:
        return alike_records(c, a, b);
    case SORT_ARRAY:
        return alike_arrays(c, a, b);
    case SORT_LIST:
        return compare_alike(c, drep_type_member(a, 0), drep_type_member(b, 0));
    case SORT_OTHER:
        return drep_type_equal(a, b);
    default:
        return true;
    }
}

/* --------------------------------------------------------- a common datatype */

/* The format of a real in memory; NULL for any other type. */
static const drep_format_info *grid_of(const struct printer *p, const drep_type *type)
{
    return drep_format_describe(num_format(p, type));
}

drep_type *compare_common(const struct comparison *c, const drep_type *a, const drep_type *b)
{
    int from = num_code_format(c->a, a), to = num_code_format(c->b, b);
    bool integers = drep_type_kind(a) == DREP_KIND_PREDEFINED &&
                    drep_type_kind(b) == DREP_KIND_PREDEFINED &&
                    (from == DREP_FORMAT_INT || from == DREP_FORMAT_UINT) &&
                    drep_type_size(a) <= 8 && drep_type_size(b) <= 8;

    if (drep_type_equal(a, b))
        return drep_type_ref(a);
    if (integers && from == to)
        return drep_type_ref(from == DREP_FORMAT_INT ? DREP_INT64_T : DREP_UINT64_T);
    return NULL;
}

/* ------------------------------------------------------------------- numbers */

struct number {
    bool real;
    struct wide integer;
    struct double_pair num;
    const drep_format_info *grid; /* of a real, but for: */
    const drep_scalar *own;       /* one that is read as it is stored */
    struct real_number exact;     /* of such */
    int precision;                /* bits of a real */
    const void *at;
};

static struct number number_load(const struct printer *p, const drep_type *type, const void *at)
{
    struct number n = {.grid = grid_of(p, type), .own = num_own(type), .at = at};

    n.real = n.grid || n.own;
    if (n.own) {
        real_load(&n.exact, n.own, at);
        n.num.value = real_double(&n.exact, &n.num.rest);
        n.precision = n.own->format == DREP_FORMAT_CUSTOM ? n.own->mant_width : 113;
        return n;
    }
    if (n.real) {
        n.precision = n.grid->precision;
        n.num = num_of_real(n.grid->format, at);
        return n;
    }
    n.integer = num_integer(p, type, at);
    n.num = num_of_int(n.integer);
    return n;
}

static bool same_integer(const struct wide *a, const struct wide *b)
{
    bool below = a->is_signed && a->high >> 63;

    return a->low == b->low && a->high == b->high && below == (b->is_signed && b->high >> 63);
}

/* The steps from zero to a number on the grid, at most 2^63. */
static uint64_t steps_to(double value, const drep_format_info *grid)
{
    double size = fabs(value);
    int exponent;

    if (size == 0)
        return 0;
    frexp(size, &exponent);
    exponent = exponent - 1 < grid->least ? grid->least : exponent - 1;
    return ((uint64_t)(exponent - grid->least) << (grid->precision - 1)) +
           (uint64_t)llrint(ldexp(size, grid->precision - 1 - exponent));
}

/* Steps between two numbers on the coarser of their grids.  On a grid finer than doubles,
 * and on one of its own fields, they are steps of the size that the smaller one has. */
static double steps_between(const struct number *a, const struct number *b)
{
    const drep_format_info *grid =
        !b->grid || (a->grid && a->grid->precision < b->grid->precision) ? a->grid : b->grid;
    double x = a->num.value, y = b->num.value;
    uint64_t p, q;
    int exponent, precision = grid ? grid->precision : 0;

    if (a->own || b->own)
        precision =
            !b->real || (a->real && a->precision < b->precision) ? a->precision : b->precision;
    if (a->own || b->own || precision > 53) {
        frexp(fmin(fabs(x), fabs(y)), &exponent);
        return ldexp(fabs(num_difference(a->num, b->num)), precision - exponent);
    }
    p = steps_to(x, grid);
    q = steps_to(y, grid);
    if (signbit(x) != signbit(y))
        return (double)p + (double)q;
    return (double)(p > q ? p - q : q - p);
}

/* Is this binary128 of the machine 0 or -0? */
static bool is_zero(const void *at)
{
    static const uint8_t zeros[16] = {0};
    uint8_t bytes[16];

    memcpy(bytes, at, sizeof bytes);
    bytes[HOST_LITTLE ? 15 : 0] &= 0x7f; /* the sign */
    return memcmp(bytes, zeros, sizeof bytes) == 0;
}

/* True if `num` is all of a real. */
static bool is_whole(const struct number *n)
{
    double parts[3] = {0};

    if (n->grid->format == DREP_FORMAT_BINARY128)
        real_quad_parts(n->at, parts);
    return parts[2] == 0;
}

/* Decode the fields of any number but a pair of doubles. */
static struct real_number exact_of(const struct number *n)
{
    bool quad = n->grid && n->grid->format == DREP_FORMAT_BINARY128;
    drep_scalar s = {.cls = DREP_SCALAR_REAL,
                     .order = HOST_LITTLE ? DREP_LITTLE : DREP_BIG,
                     .size = quad ? 16 : 8,
                     .is_signed = 1,
                     .format = quad ? DREP_FORMAT_BINARY128 : DREP_FORMAT_BINARY64};
    struct real_number exact = {.high = n->integer.high, .low = n->integer.low};

    if (n->own)
        return n->exact;
    if (n->real) {
        real_load(&exact, &s, quad ? n->at : &n->num.value);
    } else if (n->integer.is_signed && exact.high >> 63) {
        exact.low = 0 - exact.low;
        exact.high = ~exact.high + (exact.low == 0);
        exact.negative = true;
    }
    return exact;
}

/* Compare two numbers that are not NaN, at least one of which has fields of its own. */
static bool same_fields(const struct number *a, const struct number *b)
{
    const struct number *other = a->own ? b : a;
    struct real_number x = exact_of(a), y = exact_of(b);

    if (x.beyond || y.beyond)
        return a->own && b->own && a->own->size == b->own->size &&
               memcmp(a->at, b->at, a->own->size) == 0;
    if (other->grid && other->grid->format == DREP_FORMAT_DOUBLE_DOUBLE)
        return real_bits(a->own ? &x : &y) <= 106 && a->num.value == b->num.value &&
               a->num.rest == b->num.rest;
    return real_order(&x, &y) == 0;
}

static bool same_number(const struct comparison *c, const struct number *a, const struct number *b)
{
    if (!a->real && !b->real)
        return same_integer(&a->integer, &b->integer);
    if ((a->own || b->own) && !(isnan(a->num.value) && isnan(b->num.value)))
        return !isnan(a->num.value) && !isnan(b->num.value) && same_fields(a, b);
    if (!a->real)
        return num_same_int(a->integer, b->grid->format, b->at);
    if (!b->real)
        return num_same_int(b->integer, a->grid->format, a->at);
    if (isnan(a->num.value) && isnan(b->num.value))
        return !c->nan_differs;
    /* Not all of a binary128 goes into two doubles. */
    if (a->grid == b->grid && a->grid->format == DREP_FORMAT_BINARY128 &&
        memcmp(a->at, b->at, 16) != 0)
        return is_zero(a->at) && is_zero(b->at);
    if (a->grid != b->grid && !(is_whole(a) && is_whole(b)))
        return false;
    return a->num.value == b->num.value && a->num.rest == b->num.rest;
}

static bool differ_numbers(const struct comparison *c, const drep_type *a_type, const void *a,
                           const drep_type *b_type, const void *b, struct difference *gap)
{
    struct number x = number_load(c->a, a_type, a), y = number_load(c->b, b_type, b);
    double difference, greatest;

    if (same_number(c, &x, &y))
        return false;
    difference = fabs(num_difference(x.num, y.num));
    if (difference == 0) /* two doubles do not show it */
        difference = DBL_TRUE_MIN;
    greatest = fmax(fabs(x.num.value), fabs(y.num.value));
    /* Between anything and NaN there is no distance. */
    if (difference <= c->abs || difference <= c->rel * greatest ||
        ((x.real || y.real) && c->ulp >= 0 && isfinite(greatest) &&
         steps_between(&x, &y) <= c->ulp))
        return false;
    gap->abs = fmax(gap->abs, difference);
    if (isfinite(difference) && greatest > 0)
        gap->rel = fmax(gap->rel, difference / greatest);
    return true;
}

/* --------------------------------------------------------- texts, references */

static const char *text_element(const drep_type *type, const void *at, size_t *size)
{
    const char *text = at, *end;

    if (drep_type_kind(type) == DREP_KIND_VSTRING)
        return print_text(type, at, size);
    *size = (size_t)drep_type_size(type);
    if (is_char(type) || drep_type_kind(type) != DREP_KIND_STRING) {
        *size = *text ? 1 : 0;
    } else if (drep_type_string_pad(type) == DREP_PAD_NULTERM) {
        end = memchr(text, 0, *size);
        *size = end ? (size_t)(end - text) : *size;
    } else {
        while (*size > 0 &&
               text[*size - 1] == (drep_type_string_pad(type) == DREP_PAD_SPACE ? ' ' : '\0'))
            (*size)--;
    }
    return text;
}

static bool differ_texts(const drep_type *a_type, const void *a, const drep_type *b_type,
                         const void *b)
{
    size_t a_size, b_size;
    const char *x = text_element(a_type, a, &a_size), *y = text_element(b_type, b, &b_size);

    return a_size != b_size || (a_size > 0 && memcmp(x, y, a_size) != 0);
}

/* One dimension of a region, "5" or "a:b" or "a:b:c", as begin, end and step; ":" has no
 * end. */
static bool region_part(const char **p, long long *part)
{
    char *end;

    if (**p == ':') {
        part[0] = 0;
        part[1] = LLONG_MAX;
        part[2] = 1;
        ++*p;
        return true;
    }
    part[0] = strtoll(*p, &end, 10);
    if (end == *p)
        return false;
    part[1] = part[0] + 1;
    part[2] = 1;
    if (*end == ':')
        part[1] = strtoll(end + 1, &end, 10);
    if (*end == ':')
        part[2] = strtoll(end + 1, &end, 10);
    *p = end;
    return true;
}

static bool differ_regions(const char *a, const char *b)
{
    long long x[3], y[3];

    if (a && b && strcmp(a, b) == 0)
        return false;
    if (!a || !b || *a != '[' || *b != '[')
        return a != b;
    do {
        a++;
        b++;
        a += strspn(a, " ");
        b += strspn(b, " ");
        if (!region_part(&a, x) || !region_part(&b, y) || memcmp(x, y, sizeof x) != 0)
            return true;
    } while (*a == ',' && *b == ',');
    return strcmp(a, b) != 0;
}

static bool differ_references(const struct comparison *c, const void *a, const void *b)
{
    const char *x, *y;
    drep_ref p, q;

    memcpy(&p, a, sizeof p);
    memcpy(&q, b, sizeof q);
    if (!p.object || !q.object)
        return p.object || q.object;
    x = printer_path(c->a, p.object);
    y = printer_path(c->b, q.object);
    return (x && y ? strcmp(x, y) != 0 : x || y) || differ_regions(p.region, q.region);
}

/* ------------------------------------------------------------ what has parts */

static bool differ(const struct comparison *c, const drep_type *a_type, const void *a,
                   const drep_type *b_type, const void *b, struct difference *gap);

/* A part that differs says where it is, from the inside out. */
static void name_part(struct difference *gap, const char *name, int64_t index)
{
    char inner[sizeof gap->part];

    memcpy(inner, gap->part, sizeof inner);
    if (name)
        snprintf(gap->part, sizeof gap->part, ".%.90s%.100s", name, inner);
    else
        snprintf(gap->part, sizeof gap->part, "[%lld]%.150s", (long long)index, inner);
}

/* Position of the first difference; later ones are only counted. */
struct compare_found {
    struct difference first;
    bool any;
};

static void keep_first(struct compare_found *found, struct difference *gap)
{
    double abs = fmax(found->first.abs, gap->abs), rel = fmax(found->first.rel, gap->rel);

    if (!found->any)
        found->first = *gap;
    found->first.abs = abs;
    found->first.rel = rel;
    found->any = true;
}

static bool give_first(const struct compare_found *found, struct difference *gap)
{
    if (found->any)
        *gap = found->first;
    return found->any;
}

static bool differ_records(const struct comparison *c, const drep_type *a_type, const char *a,
                           const drep_type *b_type, const char *b, struct difference *gap)
{
    int64_t i, n = drep_type_members(a_type);
    struct compare_found found = {.any = false};
    struct difference part;
    char number[32];
    const char *name;

    for (i = 0; i < n; i++) {
        part = (struct difference){.abs = 0};
        if (!differ(c, drep_type_member(a_type, i), a + drep_type_member_offset(a_type, i),
                    drep_type_member(b_type, i), b + drep_type_member_offset(b_type, i), &part))
            continue;
        name = drep_type_member_name(a_type, i);
        snprintf(number, sizeof number, "%lld", (long long)i);
        name_part(&part, name ? name : number, 0);
        keep_first(&found, &part);
    }
    return give_first(&found, gap);
}

static bool differ_many(const struct comparison *c, const drep_type *a_type, const char *a,
                        const drep_type *b_type, const char *b, int64_t count,
                        struct difference *gap)
{
    int64_t i, a_step = drep_type_extent(a_type), b_step = drep_type_extent(b_type);
    struct compare_found found = {.any = false};
    struct difference part;

    for (i = 0; i < count; i++) {
        part = (struct difference){.abs = 0};
        if (!differ(c, a_type, a + i * a_step, b_type, b + i * b_step, &part))
            continue;
        name_part(&part, NULL, i);
        keep_first(&found, &part);
    }
    return give_first(&found, gap);
}

static bool differ_arrays(const struct comparison *c, const drep_type *a_type, const void *a,
                          const drep_type *b_type, const void *b, struct difference *gap)
{
    const int64_t *dims = drep_type_array_dims(a_type);
    int64_t count = 1;
    int d;

    for (d = 0; d < drep_type_array_rank(a_type); d++)
        count *= dims[d];
    return differ_many(c, drep_type_member(a_type, 0), a, drep_type_member(b_type, 0), b, count,
                       gap);
}

static bool differ_lists(const struct comparison *c, const drep_type *a_type, const void *a,
                         const drep_type *b_type, const void *b, struct difference *gap)
{
    drep_vlen x, y;

    memcpy(&x, a, sizeof x);
    memcpy(&y, b, sizeof y);
    if (x.count != y.count) {
        *gap = (struct difference){.a_type = a_type, .b_type = b_type, .a = a, .b = b};
        return true;
    }
    return differ_many(c, drep_type_member(a_type, 0), x.data, drep_type_member(b_type, 0), y.data,
                       x.count, gap);
}

/* The parts of a complex number, or of a compound that stands for one. */
static const drep_type *complex_part(const struct comparison *c, const drep_type *type, int i,
                                     const char **at)
{
    static const int codes[] = {DREP_CODE_FLOAT16, DREP_CODE_FLOAT, DREP_CODE_DOUBLE,
                                DREP_CODE_FLOAT128};
    int64_t half = drep_type_size(type) / 2;
    size_t k;

    if (sort_of(c, type) == SORT_RECORD) {
        *at += drep_type_member_offset(type, i);
        return drep_type_member(type, i);
    }
    *at += i * half;
    for (k = 0; k < 3 && drep_type_size(drep_predefined(codes[k])) != half; k++)
        ;
    return drep_predefined(codes[k]);
}

static bool differ_pairs(const struct comparison *c, const drep_type *a_type, const void *a,
                         const drep_type *b_type, const void *b, struct difference *gap)
{
    bool any = false;
    int i;

    for (i = 0; i < 2; i++) {
        const char *x = a, *y = b;
        const drep_type *x_type = complex_part(c, a_type, i, &x),
                        *y_type = complex_part(c, b_type, i, &y);

        any = differ_numbers(c, x_type, x, y_type, y, gap) || any;
    }
    return any;
}

/* A type without named parts is itself the part. */
static bool differ_whole(const struct comparison *c, const drep_type *a_type, const void *a,
                         const drep_type *b_type, const void *b, struct difference *gap)
{
    enum sort sort = sort_of(c, a_type);
    int64_t size = drep_type_size(a_type);

    if (c->exact && sort != SORT_REFERENCE && drep_type_kind(a_type) != DREP_KIND_VSTRING)
        return memcmp(a, b, (size_t)size) != 0;
    if (sort == SORT_TEXT || sort_of(c, b_type) == SORT_TEXT)
        return differ_texts(a_type, a, b_type, b);
    if (sort == SORT_PAIR || sort_of(c, b_type) == SORT_PAIR)
        return differ_pairs(c, a_type, a, b_type, b, gap);
    if (sort == SORT_NUMBER)
        return differ_numbers(c, a_type, a, b_type, b, gap);
    if (sort == SORT_REFERENCE)
        return differ_references(c, a, b);
    return memcmp(a, b, (size_t)size) != 0;
}

static bool differ(const struct comparison *c, const drep_type *a_type, const void *a,
                   const drep_type *b_type, const void *b, struct difference *gap)
{
    if (sort_of(c, a_type) == SORT_RECORD && sort_of(c, b_type) == SORT_RECORD)
        return differ_records(c, a_type, a, b_type, b, gap);
    if (sort_of(c, a_type) == SORT_ARRAY)
        return differ_arrays(c, a_type, a, b_type, b, gap);
    if (sort_of(c, a_type) == SORT_LIST)
        return differ_lists(c, a_type, a, b_type, b, gap);
    if (!differ_whole(c, a_type, a, b_type, b, gap))
        return false;
    gap->a_type = a_type;
    gap->b_type = b_type;
    gap->a = a;
    gap->b = b;
    return true;
}

/* Most of what is compared with a tolerance are doubles, and most of those are within. */
static bool near_doubles(const struct comparison *c, const void *a, const void *b)
{
    double x, y, difference;

    memcpy(&x, a, sizeof x);
    memcpy(&y, b, sizeof y);
    difference = fabs(x - y);
    return difference <= c->abs || difference <= c->rel * fmax(fabs(x), fabs(y));
}

bool compare_element(const struct comparison *c, const drep_type *a_type, const void *a,
                     const drep_type *b_type, const void *b, struct difference *gap)
{
    if (!c->exact && drep_type_code(a_type) == DREP_CODE_DOUBLE &&
        drep_type_code(b_type) == DREP_CODE_DOUBLE && near_doubles(c, a, b))
        return false;
    *gap = (struct difference){.abs = 0};
    return differ(c, a_type, a, b_type, b, gap);
}
