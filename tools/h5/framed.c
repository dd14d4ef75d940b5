/* framed.c - registered filters of HDF5 that libhdf5 has not, decoded and encoded here.
 *
 * Numbers and parameters are those of The HDF Group's register of filters ("Registered Filter
 * Plugins") and of the filters' documentation. */
/* SPDX-License-Identifier: MIT */
#include "tools/h5/framed.h"
#include "chunk/framing.h"
#include "chunk/hdf5.h"
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* Places of HDF5's parameters. */
enum { LZF_CHUNK = 2, LZF_VALUES };
enum { BLOSC_SIZE = 2, BLOSC_CHUNK, BLOSC_LEVEL, BLOSC_SHUFFLE, BLOSC_CODE, BLOSC_VALUES };
enum { BITS_SIZE = 2, BITS_BLOCK, BITS_HOW, BITS_LEVEL, BITS_VALUES };

/* libhdf5 has no larger chunks. */
#define CHUNK_MAX UINT32_MAX

int framed_in(H5Z_filter_t id, size_t n, const unsigned *value, drep_filter *out)
{
    uint32_t param[HDF5_MEANING];

    memset(out, 0, sizeof *out);
    if (id < H5Z_FILTER_RESERVED || !hdf5_meaning(id, n, value, &out->id, param) ||
        !drep_filter_available(out->id))
        return 0;
    if (out->id == DREP_FILTER_ZSTD) {
        out->level = (int)param[0];
        return 1;
    }
    out->nparams = out->id == DREP_FILTER_LZF ? 0 : out->id == DREP_FILTER_HDF5_LZ4 ? 1 : 4;
    memcpy(out->param, param, (size_t)out->nparams * sizeof *param);
    return 1;
}

H5Z_filter_t framed_out(const drep_filter *f, size_t chunk, size_t *n, unsigned *value)
{
    unsigned size = chunk > CHUNK_MAX ? 0 : (unsigned)chunk;

    memset(value, 0, 8 * sizeof *value);
    switch (f->id) {
    case DREP_FILTER_HDF5_LZ4:
        *n = 1;
        value[0] = f->param[0];
        return HDF5_LZ4;
    case DREP_FILTER_LZF:
        /* The versions of the filter and of LZF's interface that h5py writes. */
        *n = LZF_VALUES;
        value[0] = 4;
        value[1] = 0x105;
        value[LZF_CHUNK] = size;
        return HDF5_LZF;
    case DREP_FILTER_HDF5_BITSHUFFLE:
        *n = f->param[2] == 3 ? BITS_VALUES : BITS_LEVEL;
        value[1] = 4;
        memcpy(value + BITS_SIZE, f->param, 4 * sizeof *value);
        return HDF5_BITSHUFFLE;
    case DREP_FILTER_BLOSC:
        *n = BLOSC_VALUES;
        value[0] = value[1] = 2;
        value[BLOSC_SIZE] = f->param[0];
        value[BLOSC_CHUNK] = size;
        memcpy(value + BLOSC_LEVEL, f->param + 1, 3 * sizeof *value);
        return HDF5_BLOSC;
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

#define FILTERS(X)                 \
    X(HDF5_LZF, lzf)               \
    X(HDF5_BLOSC, blosc)           \
    X(HDF5_LZ4, lz4)               \
    X(HDF5_BITSHUFFLE, bitshuffle) \
    X(HDF5_ZSTD, zstd)
#define X(number, name)                                                                    \
    static size_t run_##name(unsigned flags, size_t n, const unsigned *value, size_t size, \
                             size_t *room, void **buffer)                                  \
    {                                                                                      \
        return run(number, flags, n, value, size, room, buffer);                           \
    }
FILTERS(X)
#undef X

static const H5Z_class2_t classes[] = {
#define X(number, text) {H5Z_CLASS_T_VERS, number, 1, 1, FRAMED_NAME #text, NULL, NULL, run_##text},
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

int framed_rename(H5Z_filter_t id, const char *name)
{
    size_t i = 0;
    H5Z_class2_t c;

    while (i < sizeof classes / sizeof *classes && classes[i].id != id)
        i++;
    if (i == sizeof classes / sizeof *classes)
        return 0;
    c = classes[i];
    c.name = name;
    return H5Zregister(&c) >= 0;
}
