/* hdf5.c - the filters of HDF5's pipelines: which of ours does the same, and its checksum. */
/* SPDX-License-Identifier: MIT */
#include "chunk/hdf5.h"

#include "format/numbers.h"

#include <string.h>

/* Places of HDF5's parameters. */
enum { BLOSC_SIZE = 2, BLOSC_LEVEL = 4, BLOSC_SHUFFLE, BLOSC_CODE };
enum { BITS_SIZE = 2 };

static uint32_t value_at(size_t n, const uint32_t *value, size_t i, uint32_t otherwise)
{
    return i < n ? value[i] : otherwise;
}

static uint32_t zstd_level(size_t n, const uint32_t *value)
{
    uint32_t level = value_at(n, value, 0, 3);

    return level < 1 || level > 22 ? 3 : level;
}

bool hdf5_meaning(int id, size_t n, const uint32_t *value, int *ours, uint32_t param[HDF5_MEANING])
{
    memset(param, 0, HDF5_MEANING * sizeof *param);
    switch (id) {
    case HDF5_DEFLATE:
        *ours = FMT_FILTER_DEFLATE;
        param[0] = value_at(n, value, 0, 6);
        return true;
    case HDF5_SHUFFLE:
        *ours = FMT_FILTER_SHUFFLE;
        param[0] = value_at(n, value, 0, 0);
        return param[0] > 0;
    case HDF5_ZSTD:
        *ours = FMT_FILTER_ZSTD;
        param[0] = zstd_level(n, value);
        return true;
    case HDF5_LZ4:
        *ours = FMT_FILTER_HDF5_LZ4;
        param[0] = value_at(n, value, 0, 0);
        return true;
    case HDF5_LZF:
        *ours = FMT_FILTER_LZF;
        return true;
    case HDF5_BITSHUFFLE:
        *ours = FMT_FILTER_HDF5_BITSHUFFLE;
        for (size_t i = 0; i < HDF5_MEANING; i++)
            param[i] = value_at(n, value, BITS_SIZE + i, 0);
        return param[0] > 0 && param[1] % 8 == 0 && param[2] != 1 && param[2] <= 3;
    case HDF5_BLOSC:
        *ours = FMT_FILTER_BLOSC;
        param[0] = value_at(n, value, BLOSC_SIZE, 1);
        param[1] = value_at(n, value, BLOSC_LEVEL, 5);
        param[2] = value_at(n, value, BLOSC_SHUFFLE, 1);
        param[3] = value_at(n, value, BLOSC_CODE, 0);
        return true;
    default:
        return false;
    }
}

/* Fletcher's sum of 16-bit words, the most significant byte first, an odd byte padded. */
static uint32_t fletcher32(const uint8_t *p, size_t size)
{
    uint32_t a = 0, b = 0;
    size_t words = size / 2;

    while (words) {
        size_t some = words > 360 ? 360 : words;

        words -= some;
        for (; some; some--, p += 2) {
            a += (uint32_t)(p[0] << 8 | p[1]);
            b += a;
        }
        a = (a & 0xffff) + (a >> 16);
        b = (b & 0xffff) + (b >> 16);
    }
    if (size % 2) {
        a += (uint32_t)(p[0] << 8);
        b += a;
        a = (a & 0xffff) + (a >> 16);
        b = (b & 0xffff) + (b >> 16);
    }
    a = (a & 0xffff) + (a >> 16);
    b = (b & 0xffff) + (b >> 16);
    return b << 16 | a;
}

bool fletcher32_check(const uint8_t *p, size_t *size)
{
    uint32_t stored, sum;

    if (*size < FLETCHER32_SIZE)
        return false;
    *size -= FLETCHER32_SIZE;
    p += *size;
    stored = (uint32_t)p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;
    sum = fletcher32(p - *size, *size);
    return stored == sum || stored == ((sum & 0x00ff00ff) << 8 | (sum >> 8 & 0x00ff00ff));
}

size_t fletcher32_add(uint8_t *p, size_t size)
{
    uint32_t sum = fletcher32(p, size);

    for (size_t i = 0; i < FLETCHER32_SIZE; i++)
        p[size + i] = (uint8_t)(sum >> 8 * i);
    return FLETCHER32_SIZE;
}
