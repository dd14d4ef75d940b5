/* ints.c - functions of netCDF-C for Fortran that do not ask the format.
 *
 * nf90_def_var(chunksizes=) and its like call these four; libnetcdf takes their file for one of
 * HDF5 and crashes.  Of a file of ours they are the same as the functions without "_ints". */
/* SPDX-License-Identifier: MIT */
#include "netcdf/enter.h"
#include <limits.h>

#define API __attribute__((visibility("default")))
#define MEGABYTE 1048576

typedef int chunking_fn(int ncid, int varid, int storage, int *chunk);
typedef int inquire_fn(int ncid, int varid, int *storage, int *chunk);
typedef int set_cache_fn(int ncid, int varid, int size, int slots, int preemption);
typedef int get_cache_fn(int ncid, int varid, int *size, int *slots, int *preemption);
API chunking_fn nc_def_var_chunking_ints;
API inquire_fn nc_inq_var_chunking_ints;
API set_cache_fn nc_set_var_chunk_cache_ints;
API get_cache_fn nc_get_var_chunk_cache_ints;

/* The rank of a variable of ours; an error below 0. */
static int find_rank(int ncid, int varid)
{
    struct door *door;
    struct nc_variable *v;
    int err = door_find_variable(ncid, varid, &door, &v);

    return err ? err : v->rank;
}

int nc_def_var_chunking_ints(int ncid, int varid, int storage, int *chunk)
{
    chunking_fn *next = DOOR_NEXT(chunking_fn, nc_def_var_chunking_ints);
    size_t sizes[DREP_MAX_RANK];
    int d, rank;

    if (!door_of_library(ncid, (void *)next))
        return next ? next(ncid, varid, storage, chunk) : NC_ENOTBUILT;
    rank = find_rank(ncid, varid);
    for (d = 0; chunk && d < rank; d++) {
        if (chunk[d] < 0)
            return NC_EBADCHUNK;
        sizes[d] = (size_t)chunk[d];
    }
    return rank < 0 ? rank : slot_def_var_chunking(ncid, varid, storage, chunk ? sizes : NULL);
}

int nc_inq_var_chunking_ints(int ncid, int varid, int *storage, int *chunk)
{
    inquire_fn *next = DOOR_NEXT(inquire_fn, nc_inq_var_chunking_ints);
    size_t sizes[DREP_MAX_RANK] = {0};
    int d, rank, err, kind;

    if (!door_of_library(ncid, (void *)next))
        return next ? next(ncid, varid, storage, chunk) : NC_ENOTBUILT;
    rank = find_rank(ncid, varid);
    err = rank < 0 ? rank
                   : slot_inq_var_all(ncid, varid, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL,
                                      NULL, &kind, sizes, NULL, NULL, NULL, NULL, NULL, NULL);
    if (err)
        return err;
    if (storage)
        *storage = kind;
    for (d = 0; chunk && kind == NC_CHUNKED && d < rank; d++) {
        chunk[d] = (int)sizes[d];
        if (sizes[d] > INT_MAX)
            err = NC_ERANGE;
    }
    return err;
}

int nc_set_var_chunk_cache_ints(int ncid, int varid, int size, int slots, int preemption)
{
    set_cache_fn *next = DOOR_NEXT(set_cache_fn, nc_set_var_chunk_cache_ints);

    if (!door_of_library(ncid, (void *)next))
        return next ? next(ncid, varid, size, slots, preemption) : NC_ENOTBUILT;
    return slot_set_var_chunk_cache(ncid, varid, size < 0 ? 0 : (size_t)size * MEGABYTE,
                                    slots < 0 ? 0 : (size_t)slots,
                                    preemption < 0 ? 0 : (float)preemption / 100);
}

int nc_get_var_chunk_cache_ints(int ncid, int varid, int *size, int *slots, int *preemption)
{
    get_cache_fn *next = DOOR_NEXT(get_cache_fn, nc_get_var_chunk_cache_ints);
    size_t bytes, n;
    float share;
    int err;

    if (!door_of_library(ncid, (void *)next))
        return next ? next(ncid, varid, size, slots, preemption) : NC_ENOTBUILT;
    err = slot_get_var_chunk_cache(ncid, varid, &bytes, &n, &share);
    if (err)
        return err;
    if (size)
        *size = (int)(bytes / MEGABYTE);
    if (slots)
        *slots = (int)n;
    if (preemption)
        *preemption = (int)(share * 100);
    return 0;
}
