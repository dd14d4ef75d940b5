/* fortran.c - MPI_REGISTER_DATAREP() of MPICH.
 *
 * All other calls of Fortran come to the front by their names in C.  MPICH passes the procedures of
 * this one on as if they were functions of C, which they are not: their arguments are references,
 * and the error is the last.  Open MPI wraps them itself. */
/* SPDX-License-Identifier: MIT */
#include "mpiio/next.h"

#if !defined(OPEN_MPI)

#include <stdlib.h>
#include <string.h>

#define API __attribute__((visibility("default")))

typedef void conversion_procedure(void *user, MPI_Fint *type, MPI_Fint *count, void *file,
                                  MPI_Offset *position, MPI_Aint *extra, MPI_Fint *err);
typedef void extent_procedure(MPI_Fint *type, MPI_Aint *extent, MPI_Aint *extra, MPI_Fint *err);

/* They live as long as the process. */
struct procedures {
    conversion_procedure *read, *write;
    extent_procedure *extent;
    MPI_Aint extra;
};

static int call_procedure(conversion_procedure *procedure, void *user, MPI_Datatype type, int count,
                          void *file, MPI_Offset position, struct procedures *p)
{
    MPI_Fint handle = (MPI_Fint)type, n = count, err = MPI_SUCCESS;

    procedure(user, &handle, &n, file, &position, &p->extra, &err);
    return err;
}

static int read_fortran(void *user, MPI_Datatype type, int count, void *file, MPI_Offset position,
                        void *extra)
{
    struct procedures *p = extra;

    return call_procedure(p->read, user, type, count, file, position, p);
}

static int write_fortran(void *user, MPI_Datatype type, int count, void *file, MPI_Offset position,
                         void *extra)
{
    struct procedures *p = extra;

    return call_procedure(p->write, user, type, count, file, position, p);
}

static int extent_of(MPI_Datatype type, MPI_Aint *extent, void *extra)
{
    struct procedures *p = extra;
    MPI_Fint handle = (MPI_Fint)type, err = MPI_SUCCESS;

    p->extent(&handle, extent, &p->extra, &err);
    return err;
}

/* MPI_CONVERSION_FN_NULL is a procedure, of one name for each way to use MPI. */
static int is_null(const void *procedure)
{
    static const char *const names[] = {"mpi_conversion_fn_null_",
                                        "__mpi_f08_callbacks_MOD_mpi_conversion_fn_null"};
    size_t i;

    for (i = 0; i < sizeof names / sizeof *names; i++)
        if (procedure == next_symbol(names[i]))
            return 1;
    return !procedure;
}

/* Without the blanks around it. */
static char *fortran_text(const char *text, size_t length)
{
    while (length > 0 && text[length - 1] == ' ')
        length--;
    while (length > 0 && *text == ' ')
        text++, length--;
    return strndup(text, length);
}

API void mpi_register_datarep_(const char *datarep, void *read, void *write, void *extent,
                               const MPI_Aint *extra, MPI_Fint *err, size_t length);
void mpi_register_datarep_(const char *datarep, void *read, void *write, void *extent,
                           const MPI_Aint *extra, MPI_Fint *err, size_t length)
{
    struct procedures *p = malloc(sizeof *p);
    char *name = fortran_text(datarep, length);
    int result = MPI_ERR_NO_MEM;

    if (p && name) {
        p->read = NEXT_AS(conversion_procedure, read);
        p->write = NEXT_AS(conversion_procedure, write);
        p->extent = NEXT_AS(extent_procedure, extent);
        p->extra = *extra;
        result = MPI_Register_datarep(name, is_null(read) ? MPI_CONVERSION_FN_NULL : read_fortran,
                                      is_null(write) ? MPI_CONVERSION_FN_NULL : write_fortran,
                                      extent_of, p);
    }
    free(name);
    if (result)
        free(p);
    if (err)
        *err = result;
}

/* How compilers and modules spell it. */
#define SAME(name)                                                            \
    API void name(const char *datarep, void *read, void *write, void *extent, \
                  const MPI_Aint *extra, MPI_Fint *err, size_t length)        \
        __attribute__((alias("mpi_register_datarep_")));
SAME(mpi_register_datarep)
SAME(mpi_register_datarep__)
SAME(pmpi_register_datarep)
SAME(pmpi_register_datarep_)
SAME(pmpi_register_datarep__)
SAME(mpi_register_datarep_f08_)
SAME(pmpir_register_datarep_f08_)
SAME(MPI_REGISTER_DATAREP)
SAME(PMPI_REGISTER_DATAREP)

#endif
