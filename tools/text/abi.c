/* abi.c - putting elements together from the bytes of their items. */
/* SPDX-License-Identifier: MIT */
#include "tools/text/abi.h"
#include "base/vec.h"
#include "tools/text/printer.h"
#include "tools/text/sink.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Items of one type that lie side by side, and what they become. */
struct abi_leaf {
    drep_type *from;  /* one item as it was read */
    drep_type *to;    /* a scalar of that machine's format; NULL: see pack */
    bool pack;        /* text, which has no other way; else bytes as they are */
    int64_t src, dst; /* bytes from the element's start */
    int64_t count;    /* items */
    int64_t size;     /* bytes of one there */
};

/* ----------------------------------------------------------------- the table */

static void abi_load_rows(struct abi *abi, const drep_encoding *rows, int n)
{
    int i;

    for (i = 0; i < n; i++)
        if (rows[i].code <= DREP_CODE_MAX)
            abi->row[rows[i].code] = rows[i];
}

static int abi_load_stored(struct abi *abi, const struct printer *printer, int number)
{
    const drep_encoding *rows;
    const drep_scalar *scalars;
    const struct printer_rep *rep = printer_rep(printer, number);
    int n, err;

    /* A representation made of functions does not say how it holds anything. */
    if (!rep || !rep->table)
        return DREP_ERR_UNSUPPORTED_DATAREP;
    err = drep_header_scalars(printer->file, number, &scalars, &abi->nscalars);
    if (!err)
        err = drep_header_types(printer->file, number, &rows, &n);
    if (err)
        return err;
    abi_load_rows(abi, rows, n);
    /* By this name the file's table is known to the library while this process runs. */
    snprintf(abi->stored, sizeof abi->stored, "datarep stored %d", number);
    abi->datarep = abi->stored;
    abi->scalars = calloc((size_t)abi->nscalars + 1, sizeof *scalars);
    if (!abi->scalars)
        return DREP_ERR_NOMEM;
    if (abi->nscalars > 0)
        memcpy(abi->scalars, scalars, (size_t)abi->nscalars * sizeof *scalars);
    err = drep_declare_datarep(abi->stored, "internal", rows, n, scalars, abi->nscalars);
    return err == DREP_ERR_DUP_DATAREP ? 0 : err;
}

static int load_named(struct abi *abi, const char *datarep)
{
    drep_encoding rows[DREP_CODE_MAX];
    int n, err = drep_datarep_table(datarep, rows, DREP_CODE_MAX, &n);

    if (!err && n == 0)
        return DREP_ERR_UNSUPPORTED_DATAREP;
    if (!err)
        err = drep_datarep_scalars(datarep, NULL, 0, &abi->nscalars);
    if (err)
        return err;
    abi_load_rows(abi, rows, n < DREP_CODE_MAX ? n : DREP_CODE_MAX);
    abi->datarep = datarep;
    abi->scalars = calloc((size_t)abi->nscalars + 1, sizeof *abi->scalars);
    if (!abi->scalars)
        return DREP_ERR_NOMEM;
    return abi->nscalars > 0
               ? drep_datarep_scalars(datarep, abi->scalars, abi->nscalars, &abi->nscalars)
               : 0;
}

/* ---------------------------------------------------------------- the leaves */

static int add_leaf(struct abi *abi, struct abi_leaf leaf)
{
    if (VEC_ROOM(abi->leaf, abi->len, abi->cap, 1))
        return DREP_ERR_NOMEM;
    abi->leaf[abi->len++] = leaf;
    return 0;
}

/* One number as a row has it, of a complex one part. */
static int row_scalar(const struct abi *abi, const drep_encoding *row, int parts, drep_type **out)
{
    drep_scalar scalar = {.format = row->format, .order = row->order};
    bool integer = row->format == DREP_FORMAT_INT || row->format == DREP_FORMAT_UINT ||
                   row->format == DREP_FORMAT_BOOL;

    if (row->format == DREP_FORMAT_CUSTOM) {
        if (row->custom >= abi->nscalars)
            return DREP_ERR_FORMAT;
        scalar = abi->scalars[row->custom];
    } else {
        scalar.cls = integer ? DREP_SCALAR_INT : DREP_SCALAR_REAL;
        scalar.is_signed = row->format == DREP_FORMAT_INT;
        scalar.precision = integer ? (uint16_t)(8 * row->size) : 0;
        if (row->format == DREP_FORMAT_BOOL)
            scalar.format = DREP_FORMAT_UINT;
    }
    scalar.size = (uint8_t)(row->size / parts);
    return drep_type_scalar(&scalar, out);
}

/* Elements of an array, all dimensions together. */
static int64_t array_count(const drep_type *type)
{
    const int64_t *dims = drep_type_array_dims(type);
    int64_t n = 1;
    int d;

    for (d = 0; d < drep_type_array_rank(type); d++)
        n *= dims[d];
    return n;
}

static int64_t round_up(int64_t at, int64_t align)
{
    return (at + align - 1) / align * align;
}

/* Bytes of one element there, and what they are a multiple of inside a struct. */
static int measure(const struct abi *abi, const drep_type *type, int64_t *size, int64_t *align)
{
    int64_t i, n, end = 0, most = 1;
    int err;

    switch (drep_type_kind(type)) {
    case DREP_KIND_PREDEFINED:
        *size = abi->row[drep_type_code(type)].size;
        *align = abi->row[drep_type_code(type)].align;
        return *size && *align ? 0 : DREP_ERR_TYPE;
    case DREP_KIND_SCALAR:
    case DREP_KIND_STRING:
    case DREP_KIND_OPAQUE:
        *size = drep_type_size(type);
        *align = 1;
        return 0;
    case DREP_KIND_ENUM:
    case DREP_KIND_BOOLEAN:
        return measure(abi, drep_type_member(type, 0), size, align);
    case DREP_KIND_ARRAY:
        err = measure(abi, drep_type_member(type, 0), size, align);
        *size *= err ? 0 : array_count(type);
        return err;
    case DREP_KIND_COMPOUND:
    case DREP_KIND_STRUCT:
        n = drep_type_members(type);
        for (i = 0; i < n; i++) {
            err = measure(abi, drep_type_member(type, i), size, align);
            if (err)
                return err;
            end = round_up(end, *align) + *size;
            most = *align > most ? *align : most;
        }
        *size = round_up(end, most);
        *align = most;
        return 0;
    default:
        return DREP_ERR_TYPE;
    }
}

/* The real part of a complex, which is read in one of four formats. */
static int part_code(const drep_type *readable)
{
    switch (drep_type_size(readable)) {
    case 4:
        return DREP_CODE_FLOAT16;
    case 8:
        return DREP_CODE_FLOAT;
    case 16:
        return DREP_CODE_DOUBLE;
    default:
        return DREP_CODE_FLOAT128;
    }
}

/* Adds it; the types are its own, whatever comes of it. */
static int give_leaf(struct abi *abi, struct abi_leaf leaf)
{
    int err = add_leaf(abi, leaf);

    if (err) {
        drep_type_free(leaf.from);
        drep_type_free(leaf.to);
    }
    return err;
}

/* Items of a predefined type. */
static int lay_items(struct abi *abi, int code, const drep_type *readable, struct abi_leaf leaf)
{
    const drep_encoding *row = &abi->row[code];
    bool complex = printer_complex(abi->printer, code);
    int err;

    leaf.size = row->size;
    switch (row->format) {
    case DREP_FORMAT_BYTES:
    case DREP_FORMAT_CHAR:
        break;
    case DREP_FORMAT_EBCDIC:
    case DREP_FORMAT_UNICODE:
        leaf.pack = true;
        break;
    default:
        err = row_scalar(abi, row, complex ? 2 : 1, &leaf.to);
        if (err)
            return err;
    }
    if (complex) {
        leaf.count *= 2;
        leaf.size /= 2;
        readable = drep_predefined(part_code(readable));
    }
    leaf.from = drep_type_ref(readable);
    return give_leaf(abi, leaf);
}

/* Items that have the same bytes everywhere, and reals of a format of their own. */
static int lay_bytes(struct abi *abi, const drep_type *type, const drep_type *readable,
                     struct abi_leaf leaf)
{
    leaf.size = drep_type_size(type);
    leaf.from = drep_type_ref(readable);
    if (!drep_type_equal(type, readable))
        leaf.to = drep_type_ref(type);
    return give_leaf(abi, leaf);
}

static int lay(struct abi *abi, const drep_type *type, const drep_type *readable,
               struct abi_leaf leaf);

static int lay_members(struct abi *abi, const drep_type *type, const drep_type *readable,
                       const struct abi_leaf *whole)
{
    int64_t i, n = drep_type_members(type), end = 0, size, align;
    struct abi_leaf member = {.count = 1};
    int err = 0;

    for (i = 0; i < n && !err; i++) {
        err = measure(abi, drep_type_member(type, i), &size, &align);
        if (err)
            break;
        end = round_up(end, align);
        member.src = whole->src + drep_type_member_offset(readable, i);
        member.dst = whole->dst + end;
        end += size;
        err = lay(abi, drep_type_member(type, i), drep_type_member(readable, i), member);
    }
    return err;
}

/* leaf: where the first of leaf.count elements of `type` is, here and there. */
static int lay(struct abi *abi, const drep_type *type, const drep_type *readable,
               struct abi_leaf leaf)
{
    int64_t i, size, align, count = leaf.count;
    int err = measure(abi, type, &size, &align);

    if (err)
        return err;
    switch (drep_type_kind(type)) {
    case DREP_KIND_PREDEFINED:
        return lay_items(abi, drep_type_code(type), readable, leaf);
    case DREP_KIND_ENUM:
    case DREP_KIND_BOOLEAN:
        return lay(abi, drep_type_member(type, 0), drep_type_member(readable, 0), leaf);
    case DREP_KIND_ARRAY:
        leaf.count *= array_count(type);
        return lay(abi, drep_type_member(type, 0), drep_type_member(readable, 0), leaf);
    case DREP_KIND_COMPOUND:
    case DREP_KIND_STRUCT:
        for (i = 0; i < count && !err; i++) {
            err = lay_members(abi, type, readable, &leaf);
            leaf.src += drep_type_extent(readable);
            leaf.dst += size;
        }
        return err;
    default:
        return lay_bytes(abi, type, readable, leaf);
    }
}

int abi_init(struct abi *abi, const struct printer *printer, const char *datarep,
             const drep_dsinfo *info, const drep_type *readable)
{
    const drep_type *type = info->type;
    struct abi_leaf all = {.count = 1};
    int64_t align;
    int err;

    *abi = (struct abi){.printer = printer, .stride = drep_type_extent(readable)};
    err = strcmp(datarep, "stored") == 0 ? abi_load_stored(abi, printer, info->datarep_number)
                                         : load_named(abi, datarep);
    if (!err)
        err = measure(abi, type, &abi->extent, &align);
    if (!err)
        err = lay(abi, type, readable, all);
    if (err)
        abi_release(abi);
    return err;
}

void abi_release(struct abi *abi)
{
    size_t i;

    for (i = 0; i < abi->len; i++) {
        drep_type_free(abi->leaf[i].from);
        drep_type_free(abi->leaf[i].to);
    }
    free(abi->leaf);
    free(abi->scalars);
    *abi = (struct abi){0};
}

/* ---------------------------------------------------------------- the bytes */

/* The items of one leaf in all elements, dense at `items`. */
static int gather(const struct abi *abi, const struct abi_leaf *leaf, const char *elements,
                  int64_t count, unsigned char *items)
{
    const drep_xfer strict = DREP_XFER(.range = DREP_RANGE_STRICT);
    int64_t size = leaf->count * leaf->size, position = 0;
    drep_type *all;
    int err = drep_type_hvector(count, leaf->count, abi->stride, leaf->from, &all);

    if (err)
        return err;
    if (leaf->to)
        err = drep_convert(leaf->to, items, all, elements + leaf->src, 1, &strict);
    else
        err = drep_pack(abi->datarep, elements + leaf->src, 1, all, items, count * size, &position);
    drep_type_free(all);
    return err;
}

/* Puts dense pieces of `size` bytes at `out` and every abi->extent bytes behind it. */
static void scatter(const struct abi *abi, unsigned char *out, const unsigned char *items,
                    int64_t step, int64_t size, int64_t count)
{
    int64_t i;

    for (i = 0; i < count; i++)
        memcpy(out + i * abi->extent, items + i * step, (size_t)size);
}

int abi_fill(const struct abi *abi, const void *elements, int64_t count, unsigned char *out)
{
    const struct abi_leaf *leaf;
    unsigned char *items;
    int64_t size;
    size_t i;
    int err = 0;

    memset(out, 0, (size_t)(count * abi->extent));
    for (i = 0; i < abi->len && !err; i++) {
        leaf = &abi->leaf[i];
        size = leaf->count * leaf->size;
        if (!leaf->to && !leaf->pack) {
            scatter(abi, out + leaf->dst, (const unsigned char *)elements + leaf->src, abi->stride,
                    size, count);
            continue;
        }
        if (size == abi->extent) {
            err = gather(abi, leaf, elements, count, out);
            continue;
        }
        items = malloc((size_t)(count * size) + 1);
        err = items ? gather(abi, leaf, elements, count, items) : DREP_ERR_NOMEM;
        if (!err)
            scatter(abi, out + leaf->dst, items, size, size, count);
        free(items);
    }
    return err;
}

static void put_padding(struct sink *s, int64_t from, int64_t to)
{
    if (to <= from)
        return;
    if (from > 0)
        sink_char(s, ' ');
    for (; from < to; from++)
        sink_text(s, "..");
}

void abi_put(const struct abi *abi, struct sink *s, const unsigned char *element)
{
    static const char digits[] = "0123456789abcdef";
    int64_t at = 0, k;
    size_t i;

    for (i = 0; i < abi->len; i++) {
        put_padding(s, at, abi->leaf[i].dst);
        at = abi->leaf[i].dst;
        for (k = 0; k < abi->leaf[i].count * abi->leaf[i].size; k++, at++) {
            if (at > 0 && k % abi->leaf[i].size == 0)
                sink_char(s, ' ');
            sink_char(s, digits[element[at] >> 4]);
            sink_char(s, digits[element[at] & 15]);
        }
    }
    put_padding(s, at, abi->extent);
}
