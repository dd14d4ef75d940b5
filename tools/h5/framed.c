/* framed.c - registered filters of HDF5 that libhdf5 has not, decoded and encoded here.
 *
 * Numbers and parameters are those of The HDF Group's register of filters ("Registered Filter
 * Plugins") and of the filters' documentation. */
/* SPDX-License-Identifier: MIT */
#include "tools/h5/framed.h"
#include "chunk/framing.h"
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { LZF = 32000, BLOSC = 32001, LZ4 = 32004, BITSHUFFLE = 32008, ZSTD = 32015 };
/* Places of HDF5's parameters. */
enum { LZF_CHUNK = 2, LZF_VALUES };
enum { BLOSC_SIZE = 2, BLOSC_CHUNK, BLOSC_LEVEL, BLOSC_SHUFFLE, BLOSC_CODE, BLOSC_VALUES };
enum { BITS_SIZE = 2, BITS_BLOCK, BITS_HOW, BITS_LEVEL, BITS_VALUES };

/* libhdf5 has no larger chunks. */
#define CHUNK_MAX UINT32_MAX

static unsigned value_at(size_t n, const unsigned *value, size_t i, unsigned otherwise)
{
    return i < n ? value[i] : otherwise;
}

int framed_in(H5Z_filter_t id, size_t n, const unsigned *value, drep_filter *out)
{
    memset(out, 0, sizeof *out);
    switch (id) {
    case ZSTD:
        out->id = DREP_FILTER_ZSTD;
        out->level = (int)value_at(n, value, 0, 3);
        if (out->level < 1 || out->level > 22)
            out->level = 3;
        break;
    case LZ4:
        out->id = DREP_FILTER_HDF5_LZ4;
        out->nparams = 1;
        out->param[0] = value_at(n, value, 0, 0);
        break;
    case LZF:
        out->id = DREP_FILTER_LZF;
        break;
    case BITSHUFFLE:
        out->id = DREP_FILTER_HDF5_BITSHUFFLE;
        out->nparams = 4;
        out->param[0] = value_at(n, value, BITS_SIZE, 0);
        out->param[1] = value_at(n, value, BITS_BLOCK, 0);
        out->param[2] = value_at(n, value, BITS_HOW, 0);
        out->param[3] = value_at(n, value, BITS_LEVEL, 0);
        if (out->param[0] == 0 || out->param[1] % 8 != 0 || out->param[2] == 1 || out->param[2] > 3)
            return 0;
        break;
    case BLOSC:
        out->id = DREP_FILTER_BLOSC;
        out->nparams = 4;
        out->param[0] = value_at(n, value, BLOSC_SIZE, 1);
        out->param[1] = value_at(n, value, BLOSC_LEVEL, 5);
        out->param[2] = value_at(n, value, BLOSC_SHUFFLE, 1);
        out->param[3] = value_at(n, value, BLOSC_CODE, 0);
        break;
    default:
        return 0;
    }
    return drep_filter_available(out->id);
}

H5Z_filter_t framed_out(const drep_filter *f, size_t chunk, size_t *n, unsigned *value)
{
    unsigned size = chunk > CHUNK_MAX ? 0 : (unsigned)chunk;

    memset(value, 0, 8 * sizeof *value);
    switch (f->id) {
    case DREP_FILTER_HDF5_LZ4:
        *n = 1;
        value[0] = f->param[0];
        return LZ4;
    case DREP_FILTER_LZF:
        /* The versions of the filter and of LZF's interface that h5py writes. */
        *n = LZF_VALUES;
        value[0] = 4;
        value[1] = 0x105;
        value[LZF_CHUNK] = size;
        return LZF;
    case DREP_FILTER_HDF5_BITSHUFFLE:
        *n = f->param[2] == 3 ? BITS_VALUES : BITS_LEVEL;
        value[1] = 4;
        memcpy(value + BITS_SIZE, f->param, 4 * sizeof *value);
        return BITSHUFFLE;
    case DREP_FILTER_BLOSC:
        *n = BLOSC_VALUES;
        value[0] = value[1] = 2;
        value[BLOSC_SIZE] = f->param[0];
        value[BLOSC_CHUNK] = size;
        memcpy(value + BLOSC_LEVEL, f->param + 1, 3 * sizeof *value);
        return BLOSC;
    default:
        return 0;
    }
}

/* The most that a stream decodes to, 0 if that is nothing. */
static size_t length_of(const drep_filter *f, const struct span *in)
{
    uint64_t size = framing_length(f->id, f->param, in);

    return size > CHUNK_MAX ? 0 : (size_t)size;
}

/* What libhdf5 calls: the buffer is replaced by another; 0 is a failure. */
static size_t run(H5Z_filter_t id, unsigned flags, size_t n, const unsigned *value, size_t size,
                  size_t *room, void **buffer)
{
    struct span in = {*buffer, size};
    size_t got, most;
    uint8_t *out;
    drep_filter f;
    int err;

    if (!framed_in(id, n, value, &f))
        return 0;
    got = most = flags & H5Z_FLAG_REVERSE ? length_of(&f, &in) : size;
    out = got > 0 ? malloc(got) : NULL;
    if (!out)
        return 0;
    err = flags & H5Z_FLAG_REVERSE ? framing_decode_most(f.id, f.param, &in, out, &got)
                                   : framing_encode(f.id, f.param, &in, out, &got);
    if (err || got == 0) {
        free(out);
        return 0;
    }
    free(*buffer);
    *buffer = out;
    *room = most;
    return got;
}

#define FILTERS(X)            \
    X(LZF, lzf)               \
    X(BLOSC, blosc)           \
    X(LZ4, lz4)               \
    X(BITSHUFFLE, bitshuffle) \
    X(ZSTD, zstd)
#define X(number, name)                                                                    \
    static size_t run_##name(unsigned flags, size_t n, const unsigned *value, size_t size, \
                             size_t *room, void **buffer)                                  \
    {                                                                                      \
        return run(number, flags, n, value, size, room, buffer);                           \
    }
FILTERS(X)
#undef X

static const H5Z_class2_t classes[] = {
#define X(number, text) {H5Z_CLASS_T_VERS, number, 1, 1, "datarep " #text, NULL, NULL, run_##text},
    FILTERS(X)
#undef X
};

int framed_register(void)
{
    static const unsigned usual[] = {0, 0, 1, 0, 0, 1};
    drep_filter f;
    size_t i;

    for (i = 0; i < sizeof classes / sizeof *classes; i++)
        if (framed_in(classes[i].id, 6, usual, &f) && H5Zregister(&classes[i]) < 0)
            return 0;
    return 1;
}
