/* comm.c - files that the ranks of a communicator share, for the module datarep_mpi. */
/* SPDX-License-Identifier: MIT */
#include "../memory.h"

#include <datarep-mpi.h>

/* MPI's handles of Fortran are integers; those of mpi_f08 have one in them. */
DREP_API int drep_fortran_mpi_open(MPI_Fint comm, const char *path, const char *mode,
                                   const char *hints, struct fortran_file **box)
{
    drep_info *info;
    drep_file *file = NULL;
    int err = drep_fortran_begin(*box, path, hints, &info);

    if (!err)
        err = drep_mpi_open(MPI_Comm_f2c(comm), path, drep_fortran_mode(mode), info, &file);
    return drep_fortran_file_keep(err, info, file, path, mode, box);
}

DREP_API int drep_fortran_mpi_create(MPI_Fint comm, const char *path, int amode,
                                     const char *datarep, const char *hints,
                                     struct fortran_file **box)
{
    drep_info *info;
    drep_file *file = NULL;
    int err = drep_fortran_begin(*box, path, hints, &info);

    if (!err)
        err = drep_mpi_create(MPI_Comm_f2c(comm), path, amode, datarep, info, &file);
    return drep_fortran_file_keep(err, info, file, path, NULL, box);
}
