/* profiler.c - a library that counts calls of MPI, as tools for measuring do, to be preloaded.
 *
 * At the end each process appends the counts to the file that $PROFILE names. */
/* SPDX-License-Identifier: MIT */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

static long views, writes, reads, later, closes;

int MPI_File_set_view(MPI_File f, MPI_Offset disp, MPI_Datatype etype, MPI_Datatype filetype,
                      const char *datarep, MPI_Info info)
{
    views++;
    return PMPI_File_set_view(f, disp, etype, filetype, datarep, info);
}

int MPI_File_write_at(MPI_File f, MPI_Offset at, const void *p, int n, MPI_Datatype t,
                      MPI_Status *s)
{
    writes++;
    return PMPI_File_write_at(f, at, p, n, t, s);
}

int MPI_File_write_at_all(MPI_File f, MPI_Offset at, const void *p, int n, MPI_Datatype t,
                          MPI_Status *s)
{
    writes++;
    return PMPI_File_write_at_all(f, at, p, n, t, s);
}

int MPI_File_write_ordered(MPI_File f, const void *p, int n, MPI_Datatype t, MPI_Status *s)
{
    writes++;
    return PMPI_File_write_ordered(f, p, n, t, s);
}

int MPI_File_read(MPI_File f, void *p, int n, MPI_Datatype t, MPI_Status *s)
{
    reads++;
    return PMPI_File_read(f, p, n, t, s);
}

int MPI_File_iread_at(MPI_File f, MPI_Offset at, void *p, int n, MPI_Datatype t, MPI_Request *r)
{
    later++;
    return PMPI_File_iread_at(f, at, p, n, t, r);
}

int MPI_File_close(MPI_File *f)
{
    closes++;
    return PMPI_File_close(f);
}

static void __attribute__((destructor)) tell(void)
{
    FILE *f = getenv("PROFILE") && views ? fopen(getenv("PROFILE"), "a") : NULL;

    if (f) {
        fprintf(f, "%ld %ld %ld %ld %ld\n", views, writes, reads, later, closes);
        fclose(f);
    }
}
