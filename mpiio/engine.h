/* engine.h - what the library that programs preload asks of the one that converts.
 *
 * The first, the front, defines the names of MPI and is loaded into processes that may have no MPI,
 * so that it refers to nothing.  The second, the engine, is loaded by it when a program first names
 * a data representation other than "native", and uses MPI, <datarep.h> and <datarep-mpi.h>.  While
 * it works the front passes its calls of MPI on. */
/* SPDX-License-Identifier: MIT */
#ifndef MPIIO_ENGINE_H
#define MPIIO_ENGINE_H

#include <mpi.h>

#include <stdbool.h>

#if MPI_VERSION >= 4
#define MPIIO_LARGE 1 /* there are calls with MPI_Count in place of int: MPI_File_write_c() */
#else
#define MPIIO_LARGE 0
#endif

/* A call that reads or writes: which pointer it uses, and how it ends. */
enum mpiio_how {
    MPIIO_AT,         /* at an offset */
    MPIIO_INDIVIDUAL, /* at the rank's own pointer */
    MPIIO_SHARED,
    MPIIO_ORDERED, /* at the shared pointer, in the order of ranks */
    MPIIO_POINTERS,

    MPIIO_WRITE = 0x10,
    MPIIO_ALL = 0x20,   /* collective; ordered ones are anyway */
    MPIIO_LATER = 0x40, /* returns a request */
    MPIIO_BEGIN = 0x80, /* the first half of a split collective call, or, alone, its second */
};

struct mpiio_call {
    int how;
    MPI_File fh;
    MPI_Offset offset; /* in etypes, MPIIO_AT */
    void *buf;
    MPI_Count count;
    MPI_Datatype type;
    MPI_Status *status;
    MPI_Request *request; /* MPIIO_LATER */
};

/* Errors: MPI_SUCCESS, one that MPI has raised already, or minus a class that the front raises by
 * the file's error handler (of calls without a file as the standard says). */
struct mpiio_engine {
    const int *views;    /* files that have a view of ours: 0 spares the question below */
    long (*calls)(void); /* that the engine has worked for */
    bool (*owns)(MPI_File fh);
    int (*set_view)(MPI_File fh, MPI_Offset disp, MPI_Datatype etype, MPI_Datatype filetype,
                    const char *datarep, MPI_Info info);
    int (*get_view)(MPI_File fh, MPI_Offset *disp, MPI_Datatype *etype, MPI_Datatype *filetype,
                    char *datarep);
    void (*forget)(MPI_File fh);     /* it is about to be closed */
    void (*set_native)(MPI_File fh); /* it has got a native view */
    int (*move)(const struct mpiio_call *call);
    int (*end)(const struct mpiio_call *call); /* of a split collective call */
    int (*seek)(MPI_File fh, MPI_Offset offset, int whence, bool shared);
    int (*position)(MPI_File fh, MPI_Offset *offset, bool shared);
    int (*byte_offset)(MPI_File fh, MPI_Offset offset, MPI_Offset *disp);
    int (*type_extent)(MPI_File fh, MPI_Datatype type, MPI_Count *extent);
    int (*add_datarep)(const char *datarep, MPI_Datarep_conversion_function *read,
                       MPI_Datarep_conversion_function *write, MPI_Datarep_extent_function *extent,
                       void *extra);
#if MPIIO_LARGE
    int (*add_datarep_large)(const char *datarep, MPI_Datarep_conversion_function_c *read,
                             MPI_Datarep_conversion_function_c *write,
                             MPI_Datarep_extent_function *extent, void *extra);
#endif
    /* MPI_Pack_external() and MPI_Unpack_external(), for "external32" only. */
    int (*pack)(const void *in, MPI_Count count, MPI_Datatype type, void *out, MPI_Count size,
                MPI_Count *position);
    int (*unpack)(const void *in, MPI_Count size, MPI_Count *position, void *out, MPI_Count count,
                  MPI_Datatype type);
    int (*pack_size)(MPI_Count count, MPI_Datatype type, MPI_Count *size);
};

/* The only symbol that the engine exports: its functions. */
const struct mpiio_engine *datarep_mpiio_engine(void);

#endif
