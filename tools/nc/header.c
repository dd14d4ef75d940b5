/* header.c - the header of a classic netCDF file, read for the length that it implies.
 *
 * The grammar is that of the netCDF Classic Format Specification (CDF-1, -2 and -5); its numbers
 * are big-endian.  Values are not read here, and what the format forbids otherwise is left to
 * libnetcdf.  A variable is one slab of bytes, or one in each record; a record holds the slabs of
 * all record variables, each padded to 4 bytes unless it is alone. */
/* SPDX-License-Identifier: MIT */
#include "tools/nc/header.h"
#include "base/vec.h"
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { DIMENSION = 10, VARIABLE = 11, ATTRIBUTE = 12 };

/* Text of the header, not terminated. */
struct label {
    const char *text;
    int len;
};

struct variable_slab {
    struct label name;
    uint64_t begin, size; /* bytes; the size without padding, UINT64_MAX: 2^64 - 1 or more */
    int record;           /* 1: one in each record */
};

struct nc_header {
    struct nc_job *j;
    uint8_t *file;
    size_t size, at;
    int version; /* 1, 2 or 5 */
    int err;     /* the first; everything read after it is 0 */
    uint64_t *dims;
    size_t ndims, dims_room;
    struct variable_slab *slabs;
    size_t nslabs, slabs_room;
};

/* --------------------------------------------------------------------- tokens */

static const uint8_t *take_bytes(struct nc_header *h, uint64_t n)
{
    const uint8_t *p = h->file + h->at;

    if (!h->err && n > h->size - h->at)
        h->err = nc_fail(h->j, DREP_ERR_TRUNCATE,
                         "%s: cut short: the file ends at byte %zu, within its header",
                         h->j->o->src, h->size);
    if (h->err)
        return NULL;
    h->at += (size_t)n;
    return p;
}

static uint64_t take_number(struct nc_header *h, int bytes)
{
    const uint8_t *p = take_bytes(h, (uint64_t)bytes);
    uint64_t n = 0;

    for (int i = 0; p && i < bytes; i++)
        n = n << 8 | p[i];
    return n;
}

/* A count or length: NON_NEG of the specification. */
static uint64_t take_count(struct nc_header *h)
{
    return take_number(h, h->version == 5 ? 8 : 4);
}

static void skip_padded(struct nc_header *h, uint64_t n)
{
    take_bytes(h, n);
    take_bytes(h, -n & 3);
}

static uint64_t saturating_mul(uint64_t a, uint64_t b)
{
    uint64_t n;

    return __builtin_mul_overflow(a, b, &n) ? UINT64_MAX : n;
}

static uint64_t saturating_add(uint64_t a, uint64_t b)
{
    uint64_t n;

    return __builtin_add_overflow(a, b, &n) ? UINT64_MAX : n;
}

static struct label take_name(struct nc_header *h)
{
    uint64_t n = take_count(h);
    size_t at = h->at, len;
    char path[NC_MAX_NAME + 2];

    skip_padded(h, n);
    if (h->err)
        return (struct label){"", 0};
    len = strnlen((const char *)h->file + at, (size_t)n);
    len = len > NC_MAX_NAME ? NC_MAX_NAME : len;
    if (n <= NC_MAX_NAME && len < n) {
        snprintf(path, sizeof path, "/%.*s", (int)len, (const char *)h->file + at);
        nc_say(h->j, HDF5_LOST, "name", path,
               "the name ends at its first byte 0: %d bytes from there on are left out",
               (int)(n - len));
    }
    return (struct label){(const char *)h->file + at, (int)len};
}

/* The number of entries of a list; 0: it is absent. */
static uint64_t take_list(struct nc_header *h, uint64_t tag)
{
    size_t at = h->at;
    uint64_t is = take_number(h, 4), n = take_count(h);

    if (!h->err && n > 0 && is != tag)
        h->err = nc_fail(h->j, DREP_ERR_FORMAT, "%s: invalid header: tag %" PRIu64 " at byte %zu",
                         h->j->o->src, is, at);
    return h->err ? 0 : n;
}

/* Bytes of one value of a type. */
static unsigned type_size(struct nc_header *h)
{
    static const unsigned char sizes[] = {0, 1, 1, 2, 4, 4, 8, 1, 2, 4, 8, 8};
    size_t at = h->at;
    uint64_t type = take_number(h, 4);

    if (!h->err && (type < NC_BYTE || type > (h->version == 5 ? NC_UINT64 : NC_DOUBLE)))
        h->err = nc_fail(h->j, DREP_ERR_FORMAT, "%s: invalid header: type %" PRIu64 " at byte %zu",
                         h->j->o->src, type, at);
    return h->err ? 0 : sizes[type];
}

/* ---------------------------------------------------------------------- lists */

static void read_dimensions(struct nc_header *h)
{
    for (uint64_t n = take_list(h, DIMENSION); !h->err && n > 0; n--) {
        take_name(h);
        if (VEC_ROOM(h->dims, h->ndims, h->dims_room, 1))
            h->err = nc_fail(h->j, DREP_ERR_NOMEM, "out of memory");
        else
            h->dims[h->ndims++] = take_count(h);
    }
}

static void skip_attributes(struct nc_header *h)
{
    for (uint64_t n = take_list(h, ATTRIBUTE); !h->err && n > 0; n--) {
        unsigned size;

        take_name(h);
        size = type_size(h);
        skip_padded(h, saturating_mul(take_count(h), size));
    }
}

/* The dimensions of a variable; the record dimension, of length 0, is the first one. */
static void read_shape(struct nc_header *h, struct variable_slab *s)
{
    uint64_t n = take_count(h);

    s->size = 1;
    for (uint64_t d = 0; !h->err && d < n; d++) {
        size_t at = h->at;
        uint64_t id = take_count(h);

        if (!h->err && id >= h->ndims)
            h->err = nc_fail(h->j, DREP_ERR_FORMAT,
                             "%s: invalid header: dimension %" PRIu64 " at byte %zu", h->j->o->src,
                             id, at);
        else if (!h->err && d == 0 && h->dims[id] == 0)
            s->record = 1;
        else if (!h->err)
            s->size = saturating_mul(s->size, h->dims[id]);
    }
}

static void read_variables(struct nc_header *h)
{
    for (uint64_t n = take_list(h, VARIABLE); !h->err && n > 0; n--) {
        struct variable_slab s = {.name = take_name(h)};

        read_shape(h, &s);
        skip_attributes(h);
        s.size = saturating_mul(s.size, type_size(h));
        take_count(
            h); /* the slab's size again: too narrow for large ones, and not to be relied upon */
        s.begin = take_number(h, h->version == 1 ? 4 : 8);
        if (VEC_ROOM(h->slabs, h->nslabs, h->slabs_room, 1))
            h->err = nc_fail(h->j, DREP_ERR_NOMEM, "out of memory");
        else
            h->slabs[h->nslabs++] = s;
    }
}

/* -------------------------------------------------------------------- lengths */

/* Bytes of a record. */
static uint64_t record_size(const struct nc_header *h)
{
    uint64_t size = 0, alone = 0;
    int n = 0;

    for (size_t i = 0; i < h->nslabs; i++) {
        const struct variable_slab *s = &h->slabs[i];

        if (!s->record || s->size == 0)
            continue;
        n++;
        alone = s->size;
        size = saturating_add(size, saturating_add(s->size, -s->size & 3));
    }
    return n == 1 ? alone : size;
}

/* The records that a file of this length has; those of a stream are not counted in its header. */
static uint64_t count_records(struct nc_header *h, uint64_t record)
{
    uint64_t begin = UINT64_MAX, end = 0, n, rest;

    for (size_t i = 0; i < h->nslabs; i++) {
        const struct variable_slab *s = &h->slabs[i];

        if (!s->record || s->size == 0)
            continue;
        begin = s->begin < begin ? s->begin : begin;
        end = saturating_add(s->begin, s->size) > end ? saturating_add(s->begin, s->size) : end;
    }
    if (record == 0 || begin >= h->size)
        return 0;
    rest = (h->size - begin) % record;
    n = (h->size - begin) / record;
    if (rest == 0)
        return n;
    if (rest >= end - begin) /* only padding lacks */
        return n + 1;
    nc_say(h->j, HDF5_LOST, "values", "",
           "the file ends at byte %zu, %" PRIu64 " bytes behind its last whole record: these are "
           "left out",
           h->size, rest);
    return n;
}

/* Fails for the first variable that goes beyond the end of the file. */
static int check_slabs(const struct nc_header *h, uint64_t record, uint64_t records)
{
    for (size_t i = 0; i < h->nslabs; i++) {
        const struct variable_slab *s = &h->slabs[i];
        uint64_t end = saturating_add(s->begin, s->size);

        if (s->size == 0 || (s->record && records == 0))
            continue;
        if (s->record)
            end = saturating_add(end, saturating_mul(records - 1, record));
        if (end > h->size)
            return nc_fail(h->j, DREP_ERR_TRUNCATE,
                           "%s: cut short: the file ends at byte %zu, variable \"%.*s\" at byte "
                           "%" PRIu64,
                           h->j->o->src, h->size, s->name.len, s->name.text, end);
    }
    return 0;
}

/* A number of records whose bits are all set is that of a stream. */
static int check_lengths(struct nc_header *h, uint64_t records)
{
    const size_t width = h->version == 5 ? 8 : 4;
    const uint64_t record = record_size(h), stream = h->version == 5 ? UINT64_MAX : UINT32_MAX;

    if (records == stream) {
        records = count_records(h, record);
        for (size_t i = 0; i < width; i++)
            h->file[4 + i] = (uint8_t)(records >> 8 * (width - 1 - i));
    }
    return check_slabs(h, record, records);
}

static int keep_places(struct nc_job *j, const struct nc_header *h)
{
    j->places = calloc(h->nslabs + 1, sizeof *j->places);
    if (!j->places)
        return nc_fail(j, DREP_ERR_NOMEM, "out of memory");
    for (size_t i = 0; i < h->nslabs; i++)
        j->places[i] = (struct nc_place){h->slabs[i].begin, h->slabs[i].record};
    j->nplaces = h->nslabs;
    j->record = record_size(h);
    return 0;
}

int nc_header_check(struct nc_job *j, uint8_t *file, size_t size)
{
    struct nc_header h = {.j = j, .file = file, .size = size, .at = 4};
    uint64_t records;
    int err;

    if (size < 4 || memcmp(file, "CDF", 3) != 0 || (file[3] != 1 && file[3] != 2 && file[3] != 5))
        return nc_fail(j, DREP_ERR_FORMAT, "%s: not a classic netCDF file", j->o->src);
    h.version = file[3];
    records = take_count(&h);
    read_dimensions(&h);
    skip_attributes(&h);
    read_variables(&h);
    err = h.err ? h.err : check_lengths(&h, records);
    if (!err)
        err = keep_places(j, &h);
    free(h.dims);
    free(h.slabs);
    return err;
}
