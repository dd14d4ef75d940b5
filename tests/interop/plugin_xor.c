/* plugin_xor.c - a filter of HDF5 that nobody else has, as a plugin for libhdf5.
 *
 * It changes each byte by its first parameter, and puts that behind them.  It takes nothing that
 * begins with a byte 0xee, so that libhdf5 skips it where it is optional. */
/* SPDX-License-Identifier: MIT */
#include <H5PLextern.h>
#include <hdf5.h>
#include <stdlib.h>

#define NUMBER 32026

static size_t run_xor(unsigned flags, size_t n, const unsigned *value, size_t size, size_t *room,
                      void **buffer)
{
    unsigned char key = (unsigned char)(n > 0 ? value[0] : 0x5a), *p = *buffer;
    size_t got = flags & H5Z_FLAG_REVERSE ? size - 1 : size + 1, i;

    if (size == 0 || (!(flags & H5Z_FLAG_REVERSE) && p[0] == 0xee))
        return 0;
    if (got > *room) {
        p = H5resize_memory(p, got);
        if (!p)
            return 0;
        *buffer = p;
        *room = got;
    }
    for (i = 0; i < size && i < got; i++)
        p[i] ^= key;
    if (got > size)
        p[size] = key;
    return got;
}

static const H5Z_class2_t filter = {H5Z_CLASS_T_VERS, NUMBER, 1,    1,
                                    "xor of a test",  NULL,   NULL, run_xor};

__attribute__((visibility("default"))) H5PL_type_t H5PLget_plugin_type(void)
{
    return H5PL_TYPE_FILTER;
}

__attribute__((visibility("default"))) const void *H5PLget_plugin_info(void)
{
    return &filter;
}
