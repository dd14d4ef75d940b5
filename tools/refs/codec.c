/* codec.c - a dataset's filters as codecs of numcodecs.
 *
 * The streams that are made here store their input: zlib (RFC 1950, 1951), Zstandard (RFC 8878) and
 * Blosc 1 can all say so. */
/* SPDX-License-Identifier: MIT */
#include "tools/refs/codec.h"
#include "schema/filter.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum codec_id {
    CODEC_NONE,
    CODEC_SHUFFLE,
    CODEC_DELTA,
    CODEC_ZLIB,
    CODEC_ZSTD,
    CODEC_BLOSC,
    CODEC_SUM
};

/* The numbers of HDF5's register that numcodecs reads, beside our own. */
static const struct {
    int filter;
    enum codec_id codec;
} codec_of_filter[] = {
    {DREP_FILTER_SHUFFLE, CODEC_SHUFFLE},    {DREP_FILTER_DELTA, CODEC_DELTA},
    {DREP_FILTER_DEFLATE, CODEC_ZLIB},       {DREP_FILTER_ZSTD, CODEC_ZSTD},
    {DREP_FILTER_BLOSC, CODEC_BLOSC},        {DREP_FILTER_HDF5 + 1, CODEC_ZLIB},
    {DREP_FILTER_HDF5 + 2, CODEC_SHUFFLE},   {DREP_FILTER_HDF5 + 3, CODEC_SUM},
    {DREP_FILTER_HDF5 + 32001, CODEC_BLOSC}, {DREP_FILTER_HDF5 + 32015, CODEC_ZSTD},
};

static enum codec_id codec_of(const drep_filter *f)
{
    for (size_t i = 0; i < sizeof codec_of_filter / sizeof *codec_of_filter; i++)
        if (codec_of_filter[i].filter == f->id)
            return codec_of_filter[i].codec;
    return CODEC_NONE;
}

static uint32_t parameter_of(const drep_filter *f, int i)
{
    const uint32_t *p = f->params ? f->params : f->param;

    return i < f->nparams ? p[i] : 0;
}

/* The compressor inside of Blosc, by its number; NULL: builds without it are common. */
static const char *blosc_name(const drep_filter *f)
{
    static const char *const names[] = {"blosclz", "lz4", "lz4hc", NULL, "zlib", "zstd"};
    int at = f->id == DREP_FILTER_BLOSC ? 3 : 6;
    uint32_t number = at < f->nparams ? parameter_of(f, at) : f->id == DREP_FILTER_BLOSC ? 1 : 0;

    return number < sizeof names / sizeof *names ? names[number] : NULL;
}

static bool codec_refused(const drep_filter *f, const char *format, char *why, size_t room)
{
    char name[FILTER_TEXT];
    drep_filter named = *f;

    named.level = 0;
    filter_text(&named, name);
    snprintf(why, room, format, name);
    return false;
}

bool codecs_init(struct codecs *out, const drep_dsinfo *info, uint32_t skipped, int64_t payload,
                 char *why, size_t room)
{
    struct codecs c = {.n = 0};
    bool packed = false; /* the length of what comes is not known */

    for (int i = 0; i < info->nfilters; i++) {
        const drep_filter *f = &info->filters[i];
        enum codec_id id = codec_of(f);
        int64_t width;

        if (skipped >> i & 1)
            continue;
        if (c.tail)
            return codec_refused(f, "numcodecs has no fletcher32, behind which %s stands", why,
                                 room);
        if (id == CODEC_NONE)
            return codec_refused(f, "numcodecs does not read the filter %s", why, room);
        if (id == CODEC_BLOSC && !blosc_name(f))
            return codec_refused(f, "numcodecs does not read Snappy in the filter %s", why, room);
        if (id == CODEC_SUM) {
            c.tail = 4;
            continue;
        }
        width = id == CODEC_SHUFFLE || id == CODEC_DELTA ? parameter_of(f, 0) : 1;
        if (width < 1 || (width > 1 && packed) || payload % width)
            return codec_refused(f, "numcodecs does not read %s behind a compressor or of parts",
                                 why, room);
        packed |= id != CODEC_SHUFFLE && id != CODEC_DELTA;
        c.filter[c.n++] = f;
    }
    *out = c;
    return true;
}

bool codecs_keep_length(const drep_dsinfo *info, uint32_t skipped)
{
    for (int i = 0; i < info->nfilters; i++) {
        enum codec_id id = codec_of(&info->filters[i]);

        if (!(skipped >> i & 1) && id != CODEC_SHUFFLE && id != CODEC_DELTA && id != CODEC_SUM)
            return false;
    }
    return true;
}

bool codecs_frames(const struct codecs *c)
{
    return c->n > 0 && codec_of(c->filter[c->n - 1]) == CODEC_ZSTD;
}

bool codecs_read(const struct codecs *c, const void *stream, int64_t size)
{
    const uint8_t *p = stream;

    if (!codecs_frames(c) || size < 5)
        return true;
    return p[4] >> 5 != 0; /* a length, or a single segment, which has one */
}

/* ------------------------------------------------------------ their text */

static void codec_put(struct sink *s, const drep_filter *f)
{
    char order, number[8];

    switch (codec_of(f)) {
    case CODEC_SHUFFLE:
        sink_format(s, "{\"elementsize\": %u, \"id\": \"shuffle\"}", (unsigned)parameter_of(f, 0));
        break;
    case CODEC_DELTA:
        order = parameter_of(f, 0) == 1 ? '|' : parameter_of(f, 1) == DREP_BIG ? '>' : '<';
        snprintf(number, sizeof number, "%cu%u", order, (unsigned)parameter_of(f, 0) & 15);
        sink_format(s, "{\"astype\": \"%s\", \"dtype\": \"%s\", \"id\": \"delta\"}", number,
                    number);
        break;
    case CODEC_ZLIB:
        sink_text(s, "{\"id\": \"zlib\", \"level\": 6}");
        break;
    case CODEC_ZSTD:
        sink_text(s, "{\"id\": \"zstd\", \"level\": 3}");
        break;
    default:
        sink_format(s,
                    "{\"blocksize\": 0, \"clevel\": 5, \"cname\": \"%s\", \"id\": \"blosc\", "
                    "\"shuffle\": 1}",
                    blosc_name(f));
    }
}

void codecs_put(const struct codecs *c, struct sink *s)
{
    enum codec_id last = c->n ? codec_of(c->filter[c->n - 1]) : CODEC_NONE;
    int rest = c->n - (last > CODEC_DELTA);

    sink_text(s, "\"compressor\": ");
    if (rest < c->n)
        codec_put(s, c->filter[rest]);
    else
        sink_text(s, "null");
    sink_text(s, ", \"filters\": ");
    if (rest == 0) {
        sink_text(s, "null");
        return;
    }
    for (int i = 0; i < rest; i++) {
        sink_text(s, i ? ", " : "[");
        codec_put(s, c->filter[i]);
    }
    sink_char(s, ']');
}

/* --------------------------------------------------------- their streams */

static uint8_t *little_put(uint8_t *to, uint64_t value, int bytes)
{
    for (int i = 0; i < bytes; i++)
        *to++ = (uint8_t)(value >> 8 * i);
    return to;
}

static size_t zlib_store(uint8_t *to, const uint8_t *from, size_t size)
{
    uint32_t a = 1, b = 0;
    uint8_t *p = to;
    size_t at = 0;

    for (size_t i = 0; i < size; i++) {
        a = (a + from[i]) % 65521;
        b = (b + a) % 65521;
    }
    *p++ = 0x78;
    *p++ = 0x01;
    do {
        size_t n = size - at < 65535 ? size - at : 65535;

        *p++ = at + n == size;
        p = little_put(little_put(p, n, 2), ~n, 2);
        memcpy(p, from + at, n);
        p += n;
        at += n;
    } while (at < size);
    for (int i = 24; i >= 0; i -= 8)
        *p++ = (uint8_t)((b << 16 | a) >> i);
    return (size_t)(p - to);
}

static size_t zstd_store(uint8_t *to, const uint8_t *from, size_t size)
{
    const size_t block = 1 << 17;
    uint8_t *p = little_put(to, 0xfd2fb528, 4);
    size_t at = 0;

    *p++ = 0xe0; /* a single segment; its length follows in 8 bytes */
    p = little_put(p, size, 8);
    do {
        size_t n = size - at < block ? size - at : block;

        p = little_put(p, (uint64_t)(at + n == size) | (uint64_t)n << 3, 3);
        memcpy(p, from + at, n);
        p += n;
        at += n;
    } while (at < size);
    return (size_t)(p - to);
}

static size_t blosc_store(uint8_t *to, const uint8_t *from, size_t size)
{
    uint8_t *p = little_put(to, 2 | 1 << 8 | 2 << 16 | 1 << 24, 4); /* bit 1: as it is */

    p = little_put(little_put(little_put(p, size, 4), size, 4), size + 16, 4);
    memcpy(p, from, size);
    return size + 16;
}

static size_t shuffle_store(uint8_t *to, const uint8_t *from, size_t size, size_t width)
{
    size_t n = size / width;

    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; k < width; k++)
            to[k * n + i] = from[i * width + k];
    return size;
}

static uint64_t delta_load(const uint8_t *from, size_t width, bool big)
{
    uint64_t value = 0;

    for (size_t k = 0; k < width; k++)
        value |= (uint64_t)from[k] << 8 * (big ? width - 1 - k : k);
    return value;
}

static size_t delta_store(uint8_t *to, const uint8_t *from, size_t size, size_t width, bool big)
{
    uint64_t before = 0;

    for (size_t i = 0; i < size; i += width) {
        uint64_t value = delta_load(from + i, width, big), less = value - before;

        for (size_t k = 0; k < width; k++)
            to[i + k] = (uint8_t)(less >> 8 * (big ? width - 1 - k : k));
        before = value;
    }
    return size;
}

int codecs_encode(const struct codecs *c, uint8_t **bytes, size_t *size)
{
    for (int i = 0; i < c->n; i++) {
        const drep_filter *f = c->filter[i];
        size_t width = parameter_of(f, 0);
        uint8_t *to = malloc(*size + *size / 8192 + 64);

        if (!to)
            return DREP_ERR_NOMEM;
        switch (codec_of(f)) {
        case CODEC_SHUFFLE:
            *size = shuffle_store(to, *bytes, *size, width);
            break;
        case CODEC_DELTA:
            *size = delta_store(to, *bytes, *size, width, parameter_of(f, 1) == DREP_BIG);
            break;
        case CODEC_ZLIB:
            *size = zlib_store(to, *bytes, *size);
            break;
        case CODEC_ZSTD:
            *size = zstd_store(to, *bytes, *size);
            break;
        default:
            *size = blosc_store(to, *bytes, *size);
        }
        free(*bytes);
        *bytes = to;
    }
    return 0;
}
