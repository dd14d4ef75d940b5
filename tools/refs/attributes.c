/* attributes.c - attributes as .zattrs.
 *
 * zarr's own values are those of Python's json: numbers that are none are the words NaN, Infinity
 * and -Infinity, without quotes.  Lists of one number are that number, as netCDF's users have it.
 */
/* SPDX-License-Identifier: MIT */
#include "schema/members.h"
#include "tools/refs/writer.h"
#include "tools/text/array.h"
#include "tools/text/real.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool is_text(const drep_attrinfo *info)
{
    int kind = drep_type_kind(info->type), code = drep_type_code(info->type);

    return kind == DREP_KIND_STRING || kind == DREP_KIND_VSTRING || code == DREP_CODE_CHAR ||
           code == DREP_CODE_CHARACTER || code == DREP_CODE_WCHAR;
}

/* The type to read numbers as, so that their shortest text is that of what is stored; NULL: others
 * than those of C. */
static const drep_type *number_type(const struct refs_writer *w, const drep_type *type)
{
    int code = drep_type_code(type);
    const drep_encoding *plain = &w->printer.plain[code];

    if (code == 0 || printer_complex(&w->printer, code) || plain->size > 8)
        return NULL;
    switch (plain->format) {
    case DREP_FORMAT_BINARY32:
        return DREP_FLOAT;
    case DREP_FORMAT_BINARY64:
        return DREP_DOUBLE;
    case DREP_FORMAT_INT:
        return DREP_INT64_T;
    case DREP_FORMAT_UINT:
        return DREP_UINT64_T;
    default:
        return NULL;
    }
}

static void put_json_real(struct sink *s, double value, bool single)
{
    if (value != value)
        sink_text(s, "NaN");
    else if (value - value != 0)
        sink_text(s, value > 0 ? "Infinity" : "-Infinity");
    else if (single)
        real_put_float(s, (float)value, true);
    else
        real_put_double(s, value, true);
}

static void put_json_number(struct sink *s, const drep_type *type, const void *buf, int64_t i)
{
    if (type == DREP_INT64_T)
        sink_i64(s, ((const int64_t *)buf)[i]);
    else if (type == DREP_UINT64_T)
        sink_u64(s, ((const uint64_t *)buf)[i]);
    else if (type == DREP_FLOAT)
        put_json_real(s, (double)((const float *)buf)[i], true);
    else
        put_json_real(s, ((const double *)buf)[i], false);
}

/* Lists as deep as the rank. */
static void put_numbers(struct sink *s, const drep_attrinfo *info, const drep_type *type,
                        const void *buf)
{
    int rank = info->count == 1 && info->rank == 1 ? 0 : info->rank;

    if (info->count == 0)
        sink_text(s, "[]");
    for (int64_t i = 0; i < info->count; i++) {
        int64_t row = 1, open = 0, shut = 0;

        for (int d = rank - 1; d >= 0; d--) {
            row *= info->dims[d];
            open += i % row == 0;
            shut += (i + 1) % row == 0;
        }
        if (i > 0)
            sink_text(s, ", ");
        while (open-- > 0)
            sink_char(s, '[');
        put_json_number(s, type, buf, i);
        while (shut-- > 0)
            sink_char(s, ']');
    }
}

static int numbers_put(struct refs_writer *w, struct sink *s, const char *path, const char *name,
                       const drep_attrinfo *info, const drep_type *type)
{
    void *buf = calloc((size_t)info->count + 1, sizeof(double));
    int err = buf ? drep_attr_read(w->file, path, name, type, buf) : DREP_ERR_NOMEM;

    if (!err)
        put_numbers(s, info, type, buf);
    free(buf);
    return err;
}

static int value_put(struct refs_writer *w, struct sink *s, const char *path, const char *name)
{
    struct array v;
    int err = array_attr(&v, &w->printer, path, name);

    if (err)
        return err;
    if (v.rank == 1 && v.count == 1)
        v.rank = 0;
    array_put(&v, &w->printer, s);
    array_release(&v);
    return 0;
}

/* NULL, or why an attribute has no value in JSON. */
static const char *attribute_why(const drep_attrinfo *info)
{
    if (info->rank == DREP_NULL_SPACE)
        return "it has no elements";
    if (drep_type_kind(info->type) == DREP_KIND_REFERENCE)
        return "zarr has no references";
    return NULL;
}

static int attr_value_put(struct refs_writer *w, struct sink *s, const char *path, const char *name,
                          const drep_attrinfo *info)
{
    const drep_type *number = number_type(w, info->type);
    char *text = NULL;

    if (is_text(info) && drep_attr_read_string(w->file, path, name, &text) == 0) {
        sink_quoted(s, text, strlen(text));
        free(text);
        return 0;
    }
    return number ? numbers_put(w, s, path, name, info, number) : value_put(w, s, path, name);
}

/* Put an attribute, or say why it is left out. */
static int attribute_begin(struct refs_writer *w, struct sink *s, const char *path,
                           const char *name)
{
    drep_attrinfo info = DREP_ATTRINFO;
    int err = drep_attr_info(w->file, path, name, &info);
    const char *why = err == DREP_ERR_UNSUPPORTED ? "a newer version wrote it" : NULL;
    char *text;

    if (err && !why)
        return err;
    why = why ? why : attribute_why(&info);
    if (why) {
        text = malloc(strlen(name) + strlen(why) + 32);
        if (text) {
            snprintf(text, strlen(name) + strlen(why) + 32, "attribute %s: %s", name, why);
            writer_left_out(w, path, text);
            free(text);
        }
        err = text ? 0 : DREP_ERR_NOMEM;
    } else {
        if (s->len > 1)
            sink_text(s, ", ");
        sink_quoted(s, name, strlen(name));
        sink_text(s, ": ");
        err = attr_value_put(w, s, path, name, &info);
    }
    drep_attrinfo_release(&info);
    return err;
}

int attributes_put(struct refs_writer *w, const char *path, const char *dimensions,
                   const char *hidden)
{
    char **names = NULL;
    int64_t n = 0;
    struct sink text;
    int err;

    if (sink_init(&text, -1))
        return DREP_ERR_NOMEM;
    err = attrs_list(w->file, path, false, &names, &n);
    sink_char(&text, '{');
    if (dimensions) {
        sink_text(&text, "\"_ARRAY_DIMENSIONS\": ");
        sink_text(&text, dimensions);
    }
    for (int64_t i = 0; i < n && !err; i++)
        if (strcmp(names[i], "_ARRAY_DIMENSIONS") != 0 &&
            (!hidden || strcmp(names[i], hidden) != 0))
            err = attribute_begin(w, &text, path, names[i]);
    sink_char(&text, '}');
    attrs_free(names, n);
    if (!err && text.len > 2)
        writer_document(w, path, ".zattrs", &text);
    if (!err && text.err)
        err = DREP_ERR_NOMEM;
    sink_release(&text);
    return err;
}
