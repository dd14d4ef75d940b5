/* numbers.c - the rows of the tables by number and by name. */
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

static const struct {
    const char *name;
    uint8_t number, cls;
} formats[] = {
#define X(name, number, text, cls) {text, number, FMT_##cls},
#include "format/formats.def"
#undef X
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

static int code_known(int code)
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

const char *fmt_format_name(int format)
{
    for (size_t i = 0; i < ROWS(formats); i++)
        if (formats[i].number == format)
            return formats[i].name;
    return NULL;
}

int fmt_format_from_name(const char *name)
{
    for (size_t i = 0; i < ROWS(formats); i++)
        if (strcmp(formats[i].name, name) == 0)
            return formats[i].number;
    return 0;
}

int fmt_format_class(int format)
{
    for (size_t i = 0; i < ROWS(formats); i++)
        if (formats[i].number == format)
            return formats[i].cls;
    return -1;
}

int fmt_format_fits(int format, int size)
{
    switch (format) {
    case FMT_FORMAT_BYTES:
    case FMT_FORMAT_CUSTOM:
        return size >= 1 && size <= FMT_ITEM_MAX;
    case FMT_FORMAT_INT:
    case FMT_FORMAT_UINT:
    case FMT_FORMAT_BOOL:
        return size >= 1 && size <= 16;
    case FMT_FORMAT_UNICODE:
        return size >= 1 && size <= 4;
    case FMT_FORMAT_CHAR:
    case FMT_FORMAT_EBCDIC:
    case FMT_FORMAT_FP8_E4M3:
    case FMT_FORMAT_FP8_E5M2:
        return size == 1;
    case FMT_FORMAT_BINARY16:
    case FMT_FORMAT_BFLOAT16:
        return size == 2;
    case FMT_FORMAT_BINARY32:
    case FMT_FORMAT_IBM_HEX32:
    case FMT_FORMAT_VAX_F:
        return size == 4;
    case FMT_FORMAT_BINARY64:
    case FMT_FORMAT_IBM_HEX64:
    case FMT_FORMAT_VAX_D:
    case FMT_FORMAT_VAX_G:
    case FMT_FORMAT_CRAY64:
        return size == 8;
    case FMT_FORMAT_X87:
        return size == 10 || size == 12 || size == 16;
    case FMT_FORMAT_M68K:
        return size == 12;
    case FMT_FORMAT_BINARY128:
    case FMT_FORMAT_DOUBLE_DOUBLE:
    case FMT_FORMAT_IBM_HEX128:
    case FMT_FORMAT_VAX_H:
        return size == 16;
    }
    return 0;
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
