/* register.c - MPI_Register_datarep(). */
/* SPDX-License-Identifier: MIT */
#include "mpiio/state.h"

#include <stdlib.h>

int register_functions(const char *datarep, MPI_Datarep_conversion_function *read,
                       MPI_Datarep_conversion_function *write, MPI_Datarep_extent_function *extent,
                       void *extra)
{
    state_count();
    return state_error(drep_mpi_register_datarep(datarep, read, write, extent, extra));
}

#if MPIIO_LARGE
/* Functions that count items in an MPI_Count.  They live as long as the process. */
struct large {
    MPI_Datarep_conversion_function_c *read, *write;
    MPI_Datarep_extent_function *extent;
    void *extra;
};

static int read_large(void *user, MPI_Datatype type, int count, void *file, MPI_Offset position,
                      void *extra)
{
    const struct large *l = extra;

    return l->read(user, type, count, file, position, l->extra);
}

static int write_large(void *user, MPI_Datatype type, int count, void *file, MPI_Offset position,
                       void *extra)
{
    const struct large *l = extra;

    return l->write(user, type, count, file, position, l->extra);
}

static int extent_large(MPI_Datatype type, MPI_Aint *extent, void *extra)
{
    const struct large *l = extra;

    return l->extent(type, extent, l->extra);
}

int register_large(const char *datarep, MPI_Datarep_conversion_function_c *read,
                   MPI_Datarep_conversion_function_c *write, MPI_Datarep_extent_function *extent,
                   void *extra)
{
    struct large *l = malloc(sizeof *l);
    int err;

    if (!l)
        return -MPI_ERR_NO_MEM;
    *l = (struct large){read, write, extent, extra};
    err = register_functions(datarep, read ? read_large : MPI_CONVERSION_FN_NULL,
                             write ? write_large : MPI_CONVERSION_FN_NULL,
                             extent ? extent_large : NULL, l);
    if (err)
        free(l);
    return err;
}
#endif
