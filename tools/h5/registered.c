/* registered.c - filters of HDF5 by their numbers.
 *
 * Numbers and names are those of HDF5 and of The HDF Group's register of filters ("Registered
 * Filter Plugins"), "lossless" what each filter's own documentation promises.  Not lossless are
 * those that lose digits, those that do so with some parameters, and those that nobody has
 * described.  Packages are those of Debian 12 that hold a plugin for libhdf5. */
/* SPDX-License-Identifier: MIT */
#include "tools/h5/registered.h"
#include <stdio.h>

static const struct registered {
    H5Z_filter_t id;
    int lossless;
    const char *name;
    const char *package;
} filters[] = {
    {H5Z_FILTER_DEFLATE, 1, "deflate", NULL},
    {H5Z_FILTER_SHUFFLE, 1, "shuffle", NULL},
    {H5Z_FILTER_FLETCHER32, 1, "Fletcher-32", NULL}, /* a checksum */
    {H5Z_FILTER_SZIP, 1, "szip", NULL},              /* CCSDS 121 without its lossy preprocessor */
    {H5Z_FILTER_NBIT, 1, "nbit", NULL}, /* leaves out the bits outside the datatype's precision */
    {H5Z_FILTER_SCALEOFFSET, 0, "scale-offset", NULL},
    {305, 1, "LZO of PyTables", NULL},
    {307, 1, "bzip2", "hdf5-filter-plugin"},
    {32000, 1, "LZF", "hdf5-plugin-lzf"},
    {32001, 1, "Blosc", "hdf5-filter-plugin-blosc-serial"},
    {32002, 1, "MAFISC", NULL},
    {32003, 1, "Snappy", NULL},
    {32004, 1, "LZ4", "hdf5-filter-plugin"},
    {32005, 0, "APAX", NULL},
    {32006, 1, "CBF", NULL}, /* the compressions of imgCIF */
    {32007, 0, "JPEG XR", NULL},
    {32008, 1, "bitshuffle", NULL}, /* alone or with LZ4 or zstd */
    {32009, 1, "SPDP", NULL},
    {32010, 1, "LPC-Rice", NULL},
    {32011, 0, "CCSDS-123", NULL},
    {32012, 0, "JPEG-LS", NULL},
    {32013, 0, "ZFP", "hdf5-filter-plugin-zfp-serial"},
    {32014, 0, "fpzip", NULL},
    {32015, 1, "zstd", NULL},
    {32016, 0, "B3D", NULL},
    {32017, 0, "SZ", NULL},
    {32018, 0, "FCIDECOMP", NULL},
    {32019, 0, "JPEG", NULL},
    {32020, 1, "VBZ", NULL}, /* streamvbyte and zstd (Oxford Nanopore) */
    {32021, 0, "FAPEC", NULL},
    {32022, 0, "BitGroom", NULL},
    {32023, 0, "Granular BitRound", NULL},
    {32024, 0, "SZ3", NULL},
    {32025, 1, "Delta-Rice", NULL},
    {32026, 0, "Blosc2", NULL}, /* its filter trunc_prec cuts digits */
    {32027, 0, "FLAC", NULL},
    {32028, 0, "SPERR", NULL},
    {32029, 1, "TERSE/PROLIX", NULL},
};

static const struct registered *find(H5Z_filter_t id)
{
    size_t i;

    for (i = 0; i < sizeof filters / sizeof *filters; i++)
        if (filters[i].id == id)
            return &filters[i];
    return NULL;
}

int registered_is_lossless(H5Z_filter_t id)
{
    const struct registered *r = find(id);

    return r && r->lossless;
}

int registered_missing(hid_t dcpl, char *text, size_t size)
{
    int i, n = H5Pget_nfilters(dcpl);

    for (i = 0; i < n; i++) {
        char own[80] = "";
        size_t values = 0;
        unsigned flags, config;
        H5Z_filter_t id =
            H5Pget_filter2(dcpl, (unsigned)i, &flags, &values, NULL, sizeof own, own, &config);
        const struct registered *r = find(id);

        if (id < 0 || H5Zfilter_avail(id) > 0)
            continue;
        own[sizeof own - 1] = 0;
        snprintf(text, size, "filter %d (%s) is not available to HDF5: %s%s", (int)id,
                 r      ? r->name
                 : *own ? own
                        : "not registered",
                 r && r->package ? "install Debian's package " : "no package of Debian has it",
                 r && r->package ? r->package : "");
        return 1;
    }
    return 0;
}
