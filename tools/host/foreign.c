/* foreign.c - other formats, by the bytes that they begin with. */
/* SPDX-License-Identifier: MIT */
#include "tools/host/foreign.h"
#include <string.h>

static const struct known {
    const char *magic;
    size_t size;
    const char *name;
} known[] = {
    {"\211HDF\r\n\032\n", 8, "an HDF5 file; use: datarep import"},
    {"CDF\001", 4, "a netCDF classic file; use: datarep import"},
    {"CDF\002", 4, "a netCDF 64-bit offset file; use: datarep import"},
    {"CDF\005", 4, "a netCDF CDF-5 file; use: datarep import"},
    {"\016\003\023\001", 4, "an HDF4 file"},
    {"\037\213", 2, "a gzip file"},
    {"PK\003\004", 4, "a zip file"},
    {"\050\265\057\375", 4, "a Zstandard file"},
    {"\375\067zXZ", 5, "an xz file"},
    {"BZh", 3, "a bzip2 file"},
    {"\223NUMPY", 6, "a NumPy .npy file; use: datarep import"},
    {"#ASDF", 5, "an ASDF file"},
    {"SIMPLE  =", 9, "a FITS file"},
    {"PAR1", 4, "a Parquet file"},
    {"ARROW1", 6, "an Arrow file"},
    {"%YAML", 5, "YAML text; use: datarep create -s"},
    {"datarep:", 8, "a schema; use: datarep create -s"},
    {"root:", 5, "a schema; use: datarep create -s"},
    {"{\"file\"", 7, "JSON text"},
};

/* A key of YAML ends with its colon: "root:x:0:0" is none. */
static bool is_word(const char *behind, size_t size, const struct known *k)
{
    return k->magic[k->size - 1] != ':' || size == 0 || strchr(" \t\r\n", *behind);
}

const char *foreign_front(const char *front, size_t size)
{
    size_t i;

    if (size == 0)
        return "an empty file";
    for (i = 0; i < sizeof known / sizeof *known; i++)
        if (size >= known[i].size && memcmp(front, known[i].magic, known[i].size) == 0 &&
            is_word(front + known[i].size, size - known[i].size, &known[i]))
            return known[i].name;
    return NULL;
}

bool foreign_is_hdf5(FILE *f)
{
    char front[8];
    long at;

    for (at = 0; at >= 0 && fseek(f, at, SEEK_SET) == 0; at = at ? 2 * at : 512) {
        if (fread(front, 1, sizeof front, f) != sizeof front)
            return false;
        if (memcmp(front, known[0].magic, sizeof front) == 0)
            return true;
    }
    return false;
}

bool foreign_is_netcdf(const char *front, size_t size)
{
    return size >= 4 && memcmp(front, "CDF", 3) == 0 &&
           (front[3] == 1 || front[3] == 2 || front[3] == 5);
}

const char *foreign_name(FILE *f)
{
    char front[16];
    const char *name = foreign_front(front, fread(front, 1, sizeof front, f));

    return name || !foreign_is_hdf5(f) ? name : known[0].name;
}
