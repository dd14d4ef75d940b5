/* numbers.c - looks up rows of the .def tables by number and by name.
 *
 * The tables are short and names are looked up when a schema or a command line is read, so all
 * searches are linear. */
/* SPDX-License-Identifier: MIT */
#include "format/numbers.h"

#include <string.h>

static const struct {
    const char *name;
    int8_t cls;
    uint8_t external32, internal;
} codes[FMT_CODE_MAX + 1] = {
#define X(name, code, cls, ext, internal, abi) [code] = {#name, FMT_##cls, ext, internal},
#include "format/types.def"
#undef X
};

static const struct fmt_format_line formats[] = {
#define X(name, number, text, cls, sizes, size, type, complex) \
    {text, number, FMT_##cls, size, sizes, FMT_CODE_##type, FMT_CODE_##complex},
#include "format/formats.def"
};

enum {
#define X(name, number, text, cls, sizes, size, type, complex) LINE_##name,
#include "format/formats.def"
};

/* The line of each number, from 1; 0: none. */
static const uint8_t format_line[UINT8_MAX + 1] = {
#define X(name, number, text, cls, sizes, size, type, complex) [number] = LINE_##name + 1,
#include "format/formats.def"
};

static const struct {
    const char *name;
    uint16_t id;
    int8_t params;
} filters[] = {
#define X(name, id, text, params, dflt) {text, id, params},
#include "format/filters.def"
#undef X
};

#define ROWS(table) (sizeof(table) / sizeof((table)[0]))

const char *fmt_err_text(int err)
{
    switch (err) {
#define X(name, number, text) \
    case number:              \
        return text;
#include "format/errors.def"
#undef X
    }
    return NULL;
}

static bool code_known(int code)
{
    return code > 0 && code <= FMT_CODE_MAX;
}

const char *fmt_code_name(int code)
{
    return code_known(code) ? codes[code].name : NULL;
}

int fmt_code_from_name(const char *name)
{
    for (int code = 1; code <= FMT_CODE_MAX; code++)
        if (strcmp(codes[code].name, name) == 0)
            return code;
    return 0;
}

int fmt_code_class(int code)
{
    return code_known(code) ? codes[code].cls : -1;
}

int fmt_code_external32(int code)
{
    return code_known(code) ? codes[code].external32 : 0;
}

int fmt_code_internal(int code)
{
    return code_known(code) ? codes[code].internal : 0;
}

const struct fmt_format_line *fmt_format(int format)
{
    int line = format > 0 && format <= UINT8_MAX ? format_line[format] : 0;

    return line ? &formats[line - 1] : NULL;
}

int fmt_format_from_name(const char *name)
{
    for (size_t i = 0; i < ROWS(formats); i++)
        if (strcmp(formats[i].name, name) == 0)
            return formats[i].number;
    return 0;
}

const char *fmt_format_name(int format)
{
    const struct fmt_format_line *f = fmt_format(format);

    return f ? f->name : NULL;
}

int fmt_format_class(int format)
{
    const struct fmt_format_line *f = fmt_format(format);

    return f ? f->cls : -1;
}

bool fmt_format_fits(int format, int size)
{
    const struct fmt_format_line *f = fmt_format(format);

    return f && size >= 1 && size <= FMT_ITEM_MAX && (f->sizes >> (size - 1) & 1);
}

const char *fmt_size_beyond(int format, int size)
{
    int cls = fmt_format_class(format);

    if (size > FMT_ITEM_MAX)
        return FMT_BEYOND("a scalar of more than 32 bytes", "R3.18");
    if (size > FMT_INT_SIZE_MAX && (cls == FMT_INT || cls == FMT_UINT || cls == FMT_BOOL))
        return FMT_BEYOND("an integer of more than 16 bytes", "R3.18");
    return NULL;
}

const char *fmt_filter_name(int id)
{
    for (size_t i = 0; i < ROWS(filters); i++)
        if (filters[i].id == id)
            return filters[i].name;
    return NULL;
}

int fmt_filter_from_name(const char *name)
{
    for (size_t i = 0; i < ROWS(filters); i++)
        if (strcmp(filters[i].name, name) == 0)
            return filters[i].id;
    return 0;
}

int fmt_filter_params(int id)
{
    for (size_t i = 0; i < ROWS(filters); i++)
        if (filters[i].id == id)
            return filters[i].params;
    return -1;
}
