/* print.c - one element as text.
 *
 * The kind of the type decides the form; members and items recurse, as deep as the type is
 * nested. */
/* SPDX-License-Identifier: MIT */
#include "tools/text/print.h"
#include "format/utf8.h"
#include "schema/filter.h"
#include "schema/value.h"
#include "tools/text/num.h"
#include "tools/text/printer.h"
#include "tools/text/real.h"
#include "tools/text/sink.h"
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* ---------------------------------------------------------------- integers */

/* Decimal digits by long division of four 32-bit limbs. */
static void put_magnitude(struct sink *s, uint64_t high, uint64_t low)
{
    uint32_t limb[4] = {(uint32_t)(high >> 32), (uint32_t)high, (uint32_t)(low >> 32),
                        (uint32_t)low};
    char text[40];
    size_t at = sizeof text;
    uint64_t rest, turn;
    int i;

    do {
        for (i = 0, rest = 0; i < 4; i++) {
            turn = rest << 32 | limb[i];
            limb[i] = (uint32_t)(turn / 10);
            rest = turn % 10;
        }
        text[--at] = (char)('0' + rest);
    } while (limb[0] || limb[1] || limb[2] || limb[3]);
    sink_put(s, text + at, sizeof text - at);
}

/* JSON readers keep integers exactly up to 2^53 - 1; beyond, they are strings. */
static void put_wide(struct sink *s, struct wide w, bool json)
{
    bool negative = w.is_signed && w.high >> 63, quote;

    if (negative) {
        w.low = 0 - w.low;
        w.high = ~w.high + (w.low == 0);
    }
    quote = json && (w.high || w.low > ((uint64_t)1 << 53) - 1);
    if (quote)
        sink_char(s, '"');
    if (negative)
        sink_char(s, '-');
    if (w.high)
        put_magnitude(s, w.high, w.low);
    else
        sink_u64(s, w.low);
    if (quote)
        sink_char(s, '"');
}

/* ------------------------------------------------------------ other leaves */

/* A character as a string of one; what no character is, as a number. */
static void put_char(struct sink *s, uint32_t code)
{
    char utf8[4];

    if (code > 0x10ffff || (code >= 0xd800 && code <= 0xdfff))
        sink_u64(s, code);
    else
        sink_quoted(s, utf8, (size_t)(utf8_put(utf8, code) - utf8));
}

static void put_hex(struct sink *s, const void *at, int64_t size)
{
    static const char digits[] = "0123456789abcdef";
    const unsigned char *bytes = at;
    int64_t i;

    sink_char(s, '"');
    for (i = 0; i < size; i++) {
        sink_char(s, digits[bytes[i] >> 4]);
        sink_char(s, digits[bytes[i] & 15]);
    }
    sink_char(s, '"');
}

static void put_string(struct sink *s, const drep_type *type, const char *text)
{
    size_t size = (size_t)drep_type_size(type), end;
    const char *nul;

    switch (drep_type_string_pad(type)) {
    case DREP_PAD_NULTERM:
        nul = memchr(text, 0, size);
        end = nul ? (size_t)(nul - text) : size;
        break;
    case DREP_PAD_SPACE:
        for (end = size; end > 0 && text[end - 1] == ' '; end--)
            ;
        break;
    default:
        for (end = size; end > 0 && text[end - 1] == '\0'; end--)
            ;
    }
    sink_quoted(s, text, end);
}

static void put_real(const struct printer *p, struct sink *s, int format, const void *at)
{
    double d;
    float f;
    uint16_t u16;
    uint8_t u8;

    switch (format) {
    case DREP_FORMAT_BINARY64:
        memcpy(&d, at, sizeof d);
        break;
    case DREP_FORMAT_BINARY32:
        memcpy(&f, at, sizeof f);
        real_put_float(s, f, p->json);
        return;
    case DREP_FORMAT_BINARY16:
    case DREP_FORMAT_BFLOAT16:
        memcpy(&u16, at, sizeof u16);
        d = (double)real_narrow(format, u16);
        break;
    case DREP_FORMAT_FP8_E4M3:
    case DREP_FORMAT_FP8_E5M2:
        memcpy(&u8, at, sizeof u8);
        d = (double)real_narrow(format, u8);
        break;
    default:
        real_put_quad(s, at, p->json, p->exact);
        return;
    }
    real_put_double(s, d, p->json);
}

static bool any_byte(const void *at, int64_t size)
{
    const unsigned char *bytes = at;
    int64_t i;

    for (i = 0; i < size; i++)
        if (bytes[i])
            return true;
    return false;
}

static void put_bool(struct sink *s, const void *at, int64_t size)
{
    sink_text(s, any_byte(at, size) ? "true" : "false");
}

static void put_predefined(const struct printer *p, struct sink *s, const drep_type *type,
                           const void *at)
{
    int code = drep_type_code(type), format = p->plain[code].format;
    int64_t size = drep_type_size(type);
    uint8_t byte;

    switch (format) {
    case DREP_FORMAT_BYTES:
        memcpy(&byte, at, 1);
        sink_u64(s, byte);
        return;
    case DREP_FORMAT_CHAR:
        memcpy(&byte, at, 1);
        put_char(s, byte);
        return;
    case DREP_FORMAT_UNICODE:
        put_char(s, (uint32_t)num_machine_int(at, size, false).low);
        return;
    case DREP_FORMAT_BOOL:
        put_bool(s, at, size);
        return;
    case DREP_FORMAT_INT:
    case DREP_FORMAT_UINT:
        put_wide(s, num_int(p, type, at), p->json);
        return;
    default:
        break;
    }
    if (!printer_complex(p, code)) {
        put_real(p, s, format, at);
        return;
    }
    sink_char(s, '[');
    put_real(p, s, format, at);
    sink_text(s, ", ");
    put_real(p, s, format, (const char *)at + size / 2);
    sink_char(s, ']');
}

static void put_enum(const struct printer *p, struct sink *s, const drep_type *type, const void *at)
{
    struct wide w = num_int(p, drep_type_member(type, 0), at);
    int64_t i, value, n = drep_type_enum_count(type);
    const char *name;

    for (i = 0; i < n; i++) {
        value = drep_type_enum_value(type, i);
        if ((uint64_t)value != w.low || w.high != (w.is_signed && value < 0 ? UINT64_MAX : 0))
            continue;
        name = drep_type_enum_name(type, i);
        if (p->json)
            sink_quoted(s, name, strlen(name));
        else
            sink_name(s, name);
        return;
    }
    put_wide(s, w, p->json);
}

static void put_object(const struct printer *p, struct sink *s, uint64_t id)
{
    const char *path = id ? printer_path(p, id) : NULL;

    if (path)
        sink_quoted(s, path, strlen(path));
    else
        sink_text(s, "null");
}

static void put_reference(const struct printer *p, struct sink *s, const drep_type *type,
                          const void *at)
{
    drep_ref ref;

    memcpy(&ref, at, sizeof ref);
    if (ref.object == 0 || drep_type_reference_what(type) == DREP_REF_OBJECT) {
        put_object(p, s, ref.object);
        return;
    }
    sink_text(s, "{\"object\": ");
    put_object(p, s, ref.object);
    sink_text(s, ", \"region\": ");
    sink_quoted(s, ref.region ? ref.region : "", ref.region ? strlen(ref.region) : 0);
    sink_char(s, '}');
}

/* ------------------------------------------------------- what is composite */

static void put_list(const struct printer *p, struct sink *s, const drep_type *base,
                     const void *data, int64_t count)
{
    int64_t i, extent = drep_type_extent(base);

    sink_char(s, '[');
    for (i = 0; i < count && !s->err; i++) {
        if (i)
            sink_text(s, ", ");
        print_value(p, s, base, (const char *)data + i * extent);
    }
    sink_char(s, ']');
}

static void put_array(const struct printer *p, struct sink *s, const drep_type *type, int d,
                      const char *at)
{
    const int64_t *dims = drep_type_array_dims(type);
    const drep_type *base = drep_type_member(type, 0);
    int64_t i, step = drep_type_extent(base);
    int rank = drep_type_array_rank(type), k;

    if (d == rank - 1) {
        put_list(p, s, base, at, dims[d]);
        return;
    }
    for (k = d + 1; k < rank; k++)
        step *= dims[k];
    sink_char(s, '[');
    for (i = 0; i < dims[d] && !s->err; i++) {
        if (i)
            sink_text(s, ", ");
        put_array(p, s, type, d + 1, at + i * step);
    }
    sink_char(s, ']');
}

static void put_compound(const struct printer *p, struct sink *s, const drep_type *type,
                         const char *at)
{
    int64_t i, n = drep_type_members(type);
    bool named = true;
    const char *name;

    for (i = 0; i < n; i++)
        named = named && drep_type_member_name(type, i);
    sink_char(s, named ? '{' : '[');
    for (i = 0; i < n; i++) {
        if (i)
            sink_text(s, ", ");
        name = named ? drep_type_member_name(type, i) : NULL;
        if (name && p->json)
            sink_quoted(s, name, strlen(name));
        else if (name)
            sink_name(s, name);
        if (name)
            sink_text(s, ": ");
        print_value(p, s, drep_type_member(type, i), at + drep_type_member_offset(type, i));
    }
    sink_char(s, named ? '}' : ']');
}

const char *print_text(const drep_type *type, const void *element, size_t *size)
{
    drep_vlen vlen = {0, NULL};
    char *text;

    if (drep_type_counted(type)) {
        memcpy(&vlen, element, sizeof vlen);
    } else {
        memcpy(&text, element, sizeof text);
        vlen = (drep_vlen){text ? (int64_t)strlen(text) : 0, text};
    }
    *size = (size_t)vlen.count;
    return vlen.data ? vlen.data : "";
}

void print_value(const struct printer *p, struct sink *s, const drep_type *type,
                 const void *element)
{
    drep_vlen vlen;
    const char *text;
    size_t size;
    double pair[2];

    switch (drep_type_kind(type)) {
    case DREP_KIND_PREDEFINED:
        put_predefined(p, s, type, element);
        break;
    case DREP_KIND_SCALAR:
        if (num_own(type)) {
            real_put_scalar(s, drep_type_scalar_desc(type), element, p->json, p->exact);
            break;
        }
        if (num_format(p, type) != DREP_FORMAT_DOUBLE_DOUBLE) {
            put_wide(s, num_int(p, type, element), p->json);
            break;
        }
        memcpy(pair, element, sizeof pair);
        real_put_pair(s, pair, p->json, p->exact);
        break;
    case DREP_KIND_STRING:
        put_string(s, type, element);
        break;
    case DREP_KIND_OPAQUE:
        put_hex(s, element, drep_type_size(type));
        break;
    case DREP_KIND_ENUM:
        put_enum(p, s, type, element);
        break;
    case DREP_KIND_BOOLEAN:
        put_bool(s, element, drep_type_size(type));
        break;
    case DREP_KIND_ARRAY:
        put_array(p, s, type, 0, element);
        break;
    case DREP_KIND_COMPOUND:
    case DREP_KIND_STRUCT: /* a compound without names */
        put_compound(p, s, type, element);
        break;
    case DREP_KIND_SEQUENCE:
        memcpy(&vlen, element, sizeof vlen);
        put_list(p, s, drep_type_member(type, 0), vlen.data, vlen.count);
        break;
    case DREP_KIND_VSTRING:
        text = print_text(type, element, &size);
        sink_quoted(s, text, size);
        break;
    case DREP_KIND_REFERENCE:
        put_reference(p, s, type, element);
        break;
    default:
        sink_text(s, "null");
    }
}

/* ------------------------------------------------- what is known beforehand */

/* The types that large datasets have, without asking again for every element. */

static void put_signed(const struct printer *p, struct sink *s, int64_t value)
{
    struct wide w = {.low = (uint64_t)value, .high = value < 0 ? UINT64_MAX : 0, .is_signed = true};

    put_wide(s, w, p->json);
}

static void put_unsigned(const struct printer *p, struct sink *s, uint64_t value)
{
    put_wide(s, (struct wide){.low = value}, p->json);
}

static void put_i8(const struct printer *p, struct sink *s, const drep_type *type, const void *at)
{
    int8_t value;

    (void)type;
    memcpy(&value, at, sizeof value);
    put_signed(p, s, value);
}

static void put_i16(const struct printer *p, struct sink *s, const drep_type *type, const void *at)
{
    int16_t value;

    (void)type;
    memcpy(&value, at, sizeof value);
    put_signed(p, s, value);
}

static void put_i32(const struct printer *p, struct sink *s, const drep_type *type, const void *at)
{
    int32_t value;

    (void)type;
    memcpy(&value, at, sizeof value);
    put_signed(p, s, value);
}

static void put_i64(const struct printer *p, struct sink *s, const drep_type *type, const void *at)
{
    int64_t value;

    (void)type;
    memcpy(&value, at, sizeof value);
    put_signed(p, s, value);
}

static void put_u8(const struct printer *p, struct sink *s, const drep_type *type, const void *at)
{
    uint8_t value;

    (void)type;
    memcpy(&value, at, sizeof value);
    put_unsigned(p, s, value);
}

static void put_u16(const struct printer *p, struct sink *s, const drep_type *type, const void *at)
{
    uint16_t value;

    (void)type;
    memcpy(&value, at, sizeof value);
    put_unsigned(p, s, value);
}

static void put_u32(const struct printer *p, struct sink *s, const drep_type *type, const void *at)
{
    uint32_t value;

    (void)type;
    memcpy(&value, at, sizeof value);
    put_unsigned(p, s, value);
}

static void put_u64(const struct printer *p, struct sink *s, const drep_type *type, const void *at)
{
    uint64_t value;

    (void)type;
    memcpy(&value, at, sizeof value);
    put_unsigned(p, s, value);
}

static void put_float(const struct printer *p, struct sink *s, const drep_type *type,
                      const void *at)
{
    float value;

    (void)type;
    memcpy(&value, at, sizeof value);
    real_put_float(s, value, p->json);
}

static void put_double(const struct printer *p, struct sink *s, const drep_type *type,
                       const void *at)
{
    double value;

    (void)type;
    memcpy(&value, at, sizeof value);
    real_put_double(s, value, p->json);
}

print_fn *print_direct(const struct printer *p, const drep_type *type)
{
    static print_fn *const ints[2][9] = {
        {[1] = put_u8, [2] = put_u16, [4] = put_u32, [8] = put_u64},
        {[1] = put_i8, [2] = put_i16, [4] = put_i32, [8] = put_i64}};
    int64_t size = drep_type_size(type);
    int code = drep_type_code(type), format;

    if (code == 0 || size > 8 || printer_complex(p, code))
        return print_value;
    format = p->plain[code].format;
    if (format == DREP_FORMAT_BINARY64)
        return put_double;
    if (format == DREP_FORMAT_BINARY32)
        return put_float;
    if (format == DREP_FORMAT_INT || format == DREP_FORMAT_UINT)
        return ints[format == DREP_FORMAT_INT][size];
    return print_value;
}

void print_type_text(struct sink *s, const drep_type *type, bool json)
{
    char *text;

    if (drep_type_print(type, &text)) {
        sink_text(s, "null");
        return;
    }
    if (json)
        sink_quoted(s, text, strlen(text));
    else
        sink_text(s, text);
    free(text);
}

const char *print_layout(const drep_dsinfo *info)
{
    static const char *const names[] = {"null", "compact", "contiguous", "chunked"};
    bool known = info->rank != DREP_NULL_SPACE && info->layout >= 1 && info->layout <= 3;

    return names[known ? info->layout : 0];
}

void print_lengths(struct sink *s, const int64_t *lengths, int n)
{
    sink_char(s, '[');
    for (int d = 0; d < n; d++) {
        sink_text(s, d ? ", " : "");
        lengths[d] == DREP_UNLIMITED ? sink_text(s, "null") : sink_i64(s, lengths[d]);
    }
    sink_char(s, ']');
}

void print_filter(struct sink *s, const drep_filter *filter)
{
    bool hdf5 = filter->id >= DREP_FILTER_HDF5;
    char text[FILTER_TEXT];

    filter_text(filter, text);
    if (!hdf5 && !filter->name && !drep_filter_name(filter->id))
        sink_text(s, "filter ");
    hdf5 ? sink_text(s, text) : sink_name(s, text);
    if (hdf5 && filter->name) {
        sink_char(s, ' ');
        sink_name(s, filter->name);
    }
}

void print_filter_parameters(struct sink *s, const drep_filter *filter)
{
    for (int i = 0; filter->id >= DREP_FILTER_DEFLATE && i < filter->nparams; i++)
        sink_format(s, " %" PRIu32, filter->params[i]);
}

void print_datarep(struct sink *s, const drep_dsinfo *info)
{
    sink_format(s, "datarep %d ", info->datarep_number);
    sink_name(s, info->datarep);
}

const char *unknown_why(int number)
{
    return number < 0 ? "beyond the limits of this version" : "written by a newer version";
}

void print_unknown(struct sink *s, const char *what, int number, int flags)
{
    sink_format(s, "unknown %s", what);
    if (number >= 0)
        sink_format(s, " of kind %d, flags 0x%02x", number, (unsigned)flags);
    sink_format(s, ", %s", unknown_why(number));
}
