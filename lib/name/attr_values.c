/* attr_values.c - attributes of one text or one number, whatever their type.
 *
 * What a program expects to be a title or a factor was written by others, as a fixed string, as
 * characters, as an array of one; these calls take all of them. */
/* SPDX-License-Identifier: MIT */
#include "base/mem.h"
#include "conv/text.h"
#include "conv/value.h"
#include "format/utf8.h"
#include "name/attr.h"
#include "name/external.h"

#include <datarep.h>
#include <stdlib.h>
#include <string.h>
#include <wchar.h>

/* What a call wants of an attribute; exactly one is not NULL. */
struct attr_wanted {
    char **text;
    int64_t *integer;
    double *real;
};

/* ---- texts ---- */

/* All elements as `want`, with a NUL of its size behind them. */
static int elements_load(drep_file *f, const struct attr_found *a, const drep_type *want,
                         int64_t items, size_t size, void **out)
{
    char *p = mem_zalloc((uint64_t)items + 1, size);
    int err;

    if (!p)
        return fail_nomem();
    err = items == 0 ? 0
                     : value_unpack_into(&f->values, &a->rec.value, a->ft, a->count, want, p,
                                         &DREP_XFER(.buf_size = (size_t)(items + 1) * size));
    if (err) {
        mem_free(p);
        return err;
    }
    *out = p;
    return 0;
}

static int vstring_load(drep_file *f, const struct attr_found *a, char **text)
{
    char *p = NULL;
    int err =
        a->count == 0 ? 0 : value_unpack(&f->values, &a->rec.value, a->ft, 1, a->ft->type, &p);

    if (!err && !p)
        p = mem_strdup("");
    if (!err && !p)
        return fail_nomem();
    if (!err)
        *text = p;
    return err;
}

/* Cuts the padding of a text of n bytes, behind which a NUL stands. */
static void padding_cut(char *p, int64_t n, int pad)
{
    p[text_size(pad, p, (size_t)n)] = '\0';
}

static int string_load(drep_file *f, const struct attr_found *a, char **text)
{
    int64_t size = a->count == 0 ? 0 : drep_type_size(a->ft->type);
    void *p = NULL;
    int err = elements_load(f, a, a->ft->type, size, 1, &p);

    if (!err) {
        padding_cut(p, size, drep_type_string_pad(a->ft->type));
        *text = p;
    }
    return err;
}

static int chars_load(drep_file *f, const struct attr_found *a, const drep_type *leaf, char **text)
{
    int64_t items = a->count * a->ft->type->items;
    void *p = NULL;
    int err = elements_load(f, a, leaf, items, 1, &p);

    if (!err) {
        padding_cut(p, items, leaf->code == DREP_CODE_CHARACTER ? DREP_PAD_SPACE : DREP_PAD_NUL);
        *text = p;
    }
    return err;
}

static int wide_load(drep_file *f, const struct attr_found *a, char **text)
{
    int64_t items = a->count * a->ft->type->items, i;
    void *p = NULL;
    char *utf8 = mem_zalloc((uint64_t)items + 1, 4), *end = utf8;
    int err = !utf8 ? fail_nomem() : elements_load(f, a, DREP_WCHAR, items, sizeof(wchar_t), &p);

    for (i = 0; !err && i < items && ((wchar_t *)p)[i] != 0; i++) {
        uint32_t code = (uint32_t)((wchar_t *)p)[i];

        if (code > 0x10ffff || (code >= 0xd800 && code <= 0xdfff))
            err = fail(DREP_ERR_CONVERSION, "element %lld, U+%X, is not a character", (long long)i,
                       (unsigned)code);
        else
            end = utf8_put(end, code);
    }
    mem_free(p);
    if (err)
        mem_free(utf8);
    else
        *text = utf8;
    return err;
}

static int text_load(drep_file *f, const struct attr_found *a, char **text)
{
    const drep_type *leaf = a->ft->type;
    int kind = leaf->kind;

    if (kind == DREP_KIND_VSTRING || kind == DREP_KIND_STRING) {
        if (a->count > 1)
            return fail(DREP_ERR_COUNT, "it is %lld strings", (long long)a->count);
        return kind == DREP_KIND_VSTRING ? vstring_load(f, a, text) : string_load(f, a, text);
    }
    while (leaf->kind == DREP_KIND_ARRAY)
        leaf = drep_type_member(leaf, 0);
    if (leaf->code == DREP_CODE_CHAR || leaf->code == DREP_CODE_CHARACTER)
        return chars_load(f, a, leaf, text);
    if (leaf->code == DREP_CODE_WCHAR)
        return wide_load(f, a, text);
    return fail(DREP_ERR_TYPE, "it is not a text");
}

/* ---- numbers ---- */

/* Choose an integer that holds each of its format, which may be of another sign and width than the
 * datatype. */
static int integer_type(const struct attr_found *a, const drep_type **type)
{
    drep_encoding row;
    int n, err = value_encodings(&a->rec.value, a->ft->type, &row, 1, &n);

    if (!err && n == 1 && row.format == DREP_FORMAT_INT)
        *type = drep_predefined(DREP_CODE_INT128_T);
    else if (!err && n == 1 && row.format == DREP_FORMAT_UINT)
        *type = drep_predefined(DREP_CODE_UINT128_T);
    return err;
}

static int number_load(drep_file *f, const struct attr_found *a, const struct attr_wanted *w)
{
    const drep_type *type = a->ft->type;
    _Alignas(16) uint8_t value[64];
    drep_report report = DREP_REPORT;
    const drep_xfer xfer = DREP_XFER(.range = DREP_RANGE_STRICT, .report = &report);
    int64_t integer;
    int err;

    while (type->kind == DREP_KIND_ARRAY)
        type = drep_type_member(type, 0);
    if (type->kind != DREP_KIND_PREDEFINED && type->kind != DREP_KIND_SCALAR &&
        type->kind != DREP_KIND_ENUM && type->kind != DREP_KIND_BOOLEAN)
        return attr_not_number(type);
    if (a->count != 1 || a->ft->type->items != 1)
        return fail(DREP_ERR_COUNT, "it is %lld numbers",
                    (long long)(a->count * a->ft->type->items));
    err = integer_type(a, &type);
    if (!err)
        err = value_unpack(&f->values, &a->rec.value, a->ft, 1, type, value);
    if (err)
        return err;
    if (w->real)
        return drep_convert(DREP_DOUBLE, w->real, type, value, 1, &xfer);
    err = drep_convert(DREP_INT64_T, &integer, type, value, 1, &xfer);
    if (!err && (report.inexact > 0 || report.nan_lost > 0))
        return fail(DREP_ERR_CONVERSION, "its value is not an integer");
    if (!err)
        *w->integer = integer;
    return err;
}

/* ---- calls ---- */

static int value_load(drep_file *file, const char *path, const char *name,
                      const struct attr_wanted *w)
{
    struct attr_found a;
    struct external_target to;
    int err = external_target(file, path, &to);

    if (err)
        return err;
    if (to.file)
        return external_done(&to, value_load(to.file, to.path, name, w));
    if ((err = read_begin(file)))
        return err;
    err = attr_find(file, path, name, &a);
    if (!err && a.count > 0) /* memory is made for as many elements */
        err = value_check(&a.rec.value, a.ft, a.count);
    if (!err)
        err = w->text ? text_load(file, &a, w->text) : number_load(file, &a, w);
    attr_found_release(&a);
    fail_about(fail_in(err, "%s: attribute \"%s\"", !path ? "" : path, !name ? "" : name), path);
    return read_end(file, err);
}

int drep_attr_read_string(drep_file *file, const char *path, const char *name, char **value)
{
    if (!value)
        return fail(DREP_ERR_ARG, "drep_attr_read_string: null argument");
    return value_load(file, path, name, &(struct attr_wanted){.text = value});
}

int drep_attr_read_int64(drep_file *file, const char *path, const char *name, int64_t *value)
{
    if (!value)
        return fail(DREP_ERR_ARG, "drep_attr_read_int64: null argument");
    return value_load(file, path, name, &(struct attr_wanted){.integer = value});
}

int drep_attr_read_double(drep_file *file, const char *path, const char *name, double *value)
{
    if (!value)
        return fail(DREP_ERR_ARG, "drep_attr_read_double: null argument");
    return value_load(file, path, name, &(struct attr_wanted){.real = value});
}
