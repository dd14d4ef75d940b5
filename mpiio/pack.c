/* pack.c - MPI_Pack_external() and its inverse. */
/* SPDX-License-Identifier: MIT */
#include "mpiio/state.h"

int pack_external(const void *in, MPI_Count count, MPI_Datatype type, void *out, MPI_Count size,
                  MPI_Count *position)
{
    const drep_type *t;
    int64_t at = *position;
    int err = mpitype_get(type, &t);

    state_count();
    if (!err)
        err = drep_pack("external32", in, count, t, out, size, &at);
    if (!err)
        *position = at;
    return state_error(err);
}

int unpack_external(const void *in, MPI_Count size, MPI_Count *position, void *out, MPI_Count count,
                    MPI_Datatype type)
{
    const drep_type *t;
    int64_t at = *position;
    int err = mpitype_get(type, &t);

    state_count();
    if (!err)
        err = drep_unpack("external32", in, size, &at, out, count, t);
    if (!err)
        *position = at;
    return state_error(err);
}

int pack_external_size(MPI_Count count, MPI_Datatype type, MPI_Count *size)
{
    const drep_type *t;
    int64_t bytes = 0;
    int err = mpitype_get(type, &t);

    state_count();
    if (!err)
        err = drep_pack_size("external32", count, t, &bytes);
    if (!err)
        *size = bytes;
    return state_error(err);
}
