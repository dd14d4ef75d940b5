/* mpiio.h - payload by MPI-IO: independent reads and writes of each rank.
 *
 * Only opening and closing are collective.  Syncs are not MPI's: MPI_File_sync() is collective, so
 * a rank that does not come could not be given up.  Instead each rank syncs the file that it has
 * open without MPI, which makes the bytes durable that it wrote in either way, for both libraries
 * hand an independent write to the file system before they return. */
/* SPDX-License-Identifier: MIT */
#ifndef MPI_MPIIO_H
#define MPI_MPIIO_H

#include <datarep.h>
#include <mpi.h>
#include <stdbool.h>
#include <stdint.h>

/* A hash that tells nodes apart: the same on all ranks of one. */
uint64_t mpiio_node(void);
/* What the hint drep_mpi_io asks for; and whether MPI-IO is to be opened for it. */
enum mpiio_asked { MPIIO_NOT_ASKED, MPIIO_POSIX, MPIIO_MPI };
enum mpiio_asked mpiio_asked(const drep_info *info);
static inline bool mpiio_chosen(enum mpiio_asked asked, bool several_nodes)
{
    return asked == MPIIO_MPI || (asked == MPIIO_NOT_ASKED && several_nodes);
}
/* Collective over `comm`: MPI_FILE_NULL where MPI-IO is of no use. */
int mpiio_open(MPI_Comm comm, const char *path, int amode, const drep_info *info, MPI_File *out);
/* Functions of a driver; `state` points to the MPI_File.  DREP_ERR_UNSUPPORTED_OPERATION: not on
 * this thread. */
int mpiio_read(void *state, const drep_range *range, size_t n);
int mpiio_write(void *state, const void *buf, size_t size, uint64_t offset);

#endif
