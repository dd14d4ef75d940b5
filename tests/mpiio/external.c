/* external.c - "native" views of programs as views of a registered representation, to be preloaded
 * before the library.
 *
 * Libraries with formats of their own know "native" alone, which goes on to MPI.  The
 * representation here has native bytes and no functions that convert, so that files stay as they
 * are, but the engine writes and reads them. */
/* SPDX-License-Identifier: MIT */
#include <dlfcn.h>
#include <mpi.h>
#include <string.h>

typedef int open_fn(MPI_Comm, const char *, int, MPI_Info, MPI_File *);
typedef int set_view_fn(MPI_File, MPI_Offset, MPI_Datatype, MPI_Datatype, const char *, MPI_Info);
typedef int register_fn(const char *, MPI_Datarep_conversion_function *,
                        MPI_Datarep_conversion_function *, MPI_Datarep_extent_function *, void *);

#define NAME "as native"

static int native_extent(MPI_Datatype type, MPI_Aint *extent, void *state)
{
    MPI_Aint low;

    (void)state;
    return PMPI_Type_get_extent(type, &low, extent);
}

static int set_view(MPI_File f, MPI_Offset disp, MPI_Datatype etype, MPI_Datatype filetype,
                    const char *datarep, MPI_Info info)
{
    set_view_fn *next = (set_view_fn *)dlsym(RTLD_NEXT, "MPI_File_set_view");
    static int registered;

    if (strcmp(datarep, "native"))
        return next(f, disp, etype, filetype, datarep, info);
    if (!registered++)
        ((register_fn *)dlsym(RTLD_NEXT, "MPI_Register_datarep"))(
            NAME, MPI_CONVERSION_FN_NULL, MPI_CONVERSION_FN_NULL, native_extent, NULL);
    return next(f, disp, etype, filetype, NAME, info);
}

int MPI_File_set_view(MPI_File f, MPI_Offset disp, MPI_Datatype etype, MPI_Datatype filetype,
                      const char *datarep, MPI_Info info)
{
    return set_view(f, disp, etype, filetype, datarep, info);
}

/* The view that a file is opened with, too. */
int MPI_File_open(MPI_Comm comm, const char *name, int amode, MPI_Info info, MPI_File *f)
{
    open_fn *next = (open_fn *)dlsym(RTLD_NEXT, "MPI_File_open");
    int err = next(comm, name, amode, info, f);

    if (err || (amode & (MPI_MODE_APPEND | MPI_MODE_SEQUENTIAL)))
        return err;
    return set_view(*f, 0, MPI_BYTE, MPI_BYTE, "native", info);
}
