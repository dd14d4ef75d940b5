/* format.c - which format a file is of. */
/* SPDX-License-Identifier: MIT */
#include "tools/flat/format.h"
#include "tools/host/exit.h"
#include "tools/host/message.h"
#include "tools/host/outfile.h"
#include <string.h>
#include <strings.h>

static const struct {
    int format;
    const char *magic;
    size_t size;
    const char *ends[4];
} formats[] = {
    {FLAT_NPY, "\223NUMPY", 6, {".npy"}},  {FLAT_NPZ, "PK\003\004", 4, {".npz"}},
    {FLAT_NPZ, "PK\005\006", 4, {NULL}}, /* an archive without members */
    {FLAT_CSV, NULL, 0, {".csv", ".tsv"}}, {FLAT_RAW, NULL, 0, {".raw", ".bin", ".dat"}},
};
enum { FORMATS = sizeof formats / sizeof *formats };

int flat_by_front(const char *front, size_t size)
{
    int i;

    for (i = 0; i < FORMATS; i++)
        if (formats[i].magic && size >= formats[i].size &&
            memcmp(front, formats[i].magic, formats[i].size) == 0)
            return formats[i].format;
    return FLAT_NONE;
}

static bool ends_in(const char *path, const char *end)
{
    size_t size = strlen(path), tail = strlen(end);

    return size > tail && strcasecmp(path + size - tail, end) == 0;
}

int flat_by_name(const char *path)
{
    int i, k;

    for (i = 0; i < FORMATS; i++)
        for (k = 0; formats[i].ends[k]; k++)
            if (ends_in(path, formats[i].ends[k]))
                return formats[i].format;
    return FLAT_NONE;
}

bool flat_is_netcdf_name(const char *path)
{
    return ends_in(path, ".nc") || ends_in(path, ".nc4");
}

bool flat_is_hdf5_name(const char *path)
{
    static const char *const ends[] = {".h5", ".hdf5", ".hdf", ".he5", ".nc", ".nc4"};
    size_t i;

    for (i = 0; i < sizeof ends / sizeof *ends; i++)
        if (ends_in(path, ends[i]))
            return true;
    return false;
}

int flat_permit_name(const char *command, const char *path)
{
    int format = flat_by_name(path);
    const char *name = flat_is_netcdf_name(path)                  ? "netCDF"
                       : flat_is_hdf5_name(path)                  ? "HDF5"
                       : format == FLAT_NPY || format == FLAT_NPZ ? "NumPy"
                       : format == FLAT_CSV                       ? "CSV"
                                                                  : NULL;

    return !name ? TOOL_FINE
                 : tool_usage(command,
                              "the new file is a Datarep file, but %s is a name of %s; "
                              "`datarep export` makes such files",
                              path, name);
}

int flat_permit(const char *command, const char *path, bool *excl, bool force)
{
    int status = flat_permit_name(command, path);

    return status ? status : outfile_permit(path, excl, force, NULL);
}
