/* type.c - a datatype of MPI as one of ours.
 *
 * MPI gives the arguments of a constructor in lists of integers, addresses and, from version 4 on,
 * large counts.  They are put into one list in the order of the constructor's parameters, from
 * which our constructor of the same name takes them. */
/* SPDX-License-Identifier: MIT */
#include "mpi/glue.h"
#include "mpi/named.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

enum { DEPTH_MAX = 64 }; /* as drep_type has it */

/* One level of a datatype. */
struct level {
    int combiner;
    int64_t *arg; /* in the order of the constructor's parameters */
    int64_t args;
    MPI_Datatype *part; /* its datatypes */
    int64_t parts;
    drep_type **type; /* these as ours */
};

/* Derived datatypes that MPI hands out are ours to free; predefined ones and those of Fortran's
 * parameters are not. */
static bool is_derived(MPI_Datatype datatype)
{
    int combiner = MPI_COMBINER_NAMED, ni, na, nd;

    if (MPI_Type_get_envelope(datatype, &ni, &na, &nd, &combiner) != MPI_SUCCESS)
        return false;
    return combiner != MPI_COMBINER_NAMED && combiner != MPI_COMBINER_F90_REAL &&
           combiner != MPI_COMBINER_F90_COMPLEX && combiner != MPI_COMBINER_F90_INTEGER;
}

static void level_release(struct level *l)
{
    int64_t i;

    for (i = 0; i < l->parts; i++) {
        drep_type_free(l->type[i]);
        if (l->part[i] != MPI_DATATYPE_NULL && is_derived(l->part[i]))
            MPI_Type_free(&l->part[i]);
    }
    free(l->arg);
    free(l->part);
    free(l->type);
}

static int level_room(struct level *l, int64_t args, int64_t parts)
{
    int64_t i;

    l->arg = glue_alloc((uint64_t)args, sizeof *l->arg);
    l->part = glue_alloc((uint64_t)parts, sizeof *l->part);
    l->type = glue_alloc((uint64_t)parts, sizeof *l->type);
    if (!l->arg || !l->part || !l->type)
        return DREP_ERR_NOMEM;
    for (i = 0; i < parts; i++)
        l->part[i] = MPI_DATATYPE_NULL;
    l->args = args;
    l->parts = parts;
    return 0;
}

/* Integers come before addresses in the parameters of every constructor. */
static int get_plain(MPI_Datatype datatype, struct level *l, int ni, int na, int nd)
{
    int *integer = glue_alloc((uint64_t)ni, sizeof *integer);
    MPI_Aint *address = glue_alloc((uint64_t)na, sizeof *address);
    int i, err = level_room(l, (int64_t)ni + na, nd);

    if (!integer || !address)
        err = DREP_ERR_NOMEM;
    if (!err)
        err = glue_mpi(MPI_Type_get_contents(datatype, ni, na, nd, integer, address, l->part),
                       "MPI_Type_get_contents");
    for (i = 0; !err && i < ni; i++)
        l->arg[i] = integer[i];
    for (i = 0; !err && i < na; i++)
        l->arg[ni + i] = address[i];
    free(integer);
    free(address);
    return err;
}

#if MPI_VERSION >= 4
/* The large counts of a subarray and of a darray stand behind the number of dimensions. */
static int64_t integers_first(int combiner)
{
    return combiner == MPI_COMBINER_SUBARRAY ? 1 : combiner == MPI_COMBINER_DARRAY ? 3 : 0;
}

/* Of a datatype that was made with large counts. */
static int get_large(MPI_Datatype datatype, struct level *l, MPI_Count ni, MPI_Count na,
                     MPI_Count nl, MPI_Count nd)
{
    int *integer = glue_alloc((uint64_t)ni, sizeof *integer);
    MPI_Aint *address = glue_alloc((uint64_t)na, sizeof *address);
    MPI_Count *large = glue_alloc((uint64_t)nl, sizeof *large);
    int64_t i, at = 0, first = integers_first(l->combiner);
    int err = level_room(l, ni + na + nl, nd);

    if (!integer || !address || !large)
        err = DREP_ERR_NOMEM;
    if (!err)
        err = glue_mpi(
            MPI_Type_get_contents_c(datatype, ni, na, nl, nd, integer, address, large, l->part),
            "MPI_Type_get_contents_c");
    for (i = 0; !err && i < first && i < ni; i++)
        l->arg[at++] = integer[i];
    for (i = 0; !err && i < nl; i++)
        l->arg[at++] = large[i];
    for (i = first; !err && i < ni; i++)
        l->arg[at++] = integer[i];
    for (i = 0; !err && i < na; i++)
        l->arg[at++] = address[i];
    free(integer);
    free(address);
    free(large);
    return err;
}
#endif

static int level_get(MPI_Datatype datatype, struct level *l)
{
    int ni, na, nd, err;
#if MPI_VERSION >= 4
    MPI_Count ci, ca, cl, cd;

    err = glue_mpi(MPI_Type_get_envelope_c(datatype, &ci, &ca, &cl, &cd, &l->combiner),
                   "MPI_Type_get_envelope_c");
    if (err)
        return err;
    if (cl > 0)
        return get_large(datatype, l, ci, ca, cl, cd);
#endif
    err = glue_mpi(MPI_Type_get_envelope(datatype, &ni, &na, &nd, &l->combiner),
                   "MPI_Type_get_envelope");
    if (err || l->combiner == MPI_COMBINER_NAMED)
        return err;
    return get_plain(datatype, l, ni, na, nd);
}

static int order_from_mpi(int64_t order)
{
    return order == MPI_ORDER_C         ? DREP_ORDER_C
           : order == MPI_ORDER_FORTRAN ? DREP_ORDER_FORTRAN
                                        : -1;
}

static int distribution_of(int64_t d)
{
    return d == MPI_DISTRIBUTE_NONE     ? DREP_DISTRIBUTE_NONE
           : d == MPI_DISTRIBUTE_BLOCK  ? DREP_DISTRIBUTE_BLOCK
           : d == MPI_DISTRIBUTE_CYCLIC ? DREP_DISTRIBUTE_CYCLIC
                                        : -1;
}

static int parameter_of(int64_t p)
{
    return p == MPI_UNDEFINED ? DREP_UNDEFINED : (int)p;
}

static int darray_from_mpi(const struct level *l, drep_type **out)
{
    const int64_t *v = l->arg;
    int rank = (int)v[2], d;
    int distribs[DREP_MAX_RANK], psizes[DREP_MAX_RANK];
    int64_t dargs[DREP_MAX_RANK];

    if (rank < 1 || rank > DREP_MAX_RANK)
        return glue_fail(DREP_ERR_DIMS, "datatype: a darray of rank %d", rank);
    for (d = 0; d < rank; d++) {
        int64_t darg = v[3 + 2 * rank + d];

        distribs[d] = distribution_of(v[3 + rank + d]);
        dargs[d] = darg == MPI_DISTRIBUTE_DFLT_DARG ? DREP_DISTRIBUTE_DFLT_DARG : darg;
        psizes[d] = (int)v[3 + 3 * rank + d];
    }
    return drep_type_darray((int)v[0], (int)v[1], rank, v + 3, distribs, dargs, psizes,
                            order_from_mpi(v[3 + 4 * rank]), l->type[0], out);
}

/* The markers of bounds that MPI had until version 3, and MPICH still has: bounds_from_mpi() gives
 * a struct its bounds. */
static bool is_bound(MPI_Datatype datatype)
{
#if defined(MPICH_VERSION) && defined(MPI_LB) && defined(MPI_UB)
    return datatype == MPI_LB || datatype == MPI_UB;
#else
    (void)datatype;
    return false;
#endif
}

/* The members but for such markers. */
static int struct_from_mpi(const struct level *l, drep_type **out)
{
    int64_t *lens = l->arg + 1, *displs = lens + l->arg[0], i, n = 0;

    for (i = 0; i < l->parts; i++)
        if (l->type[i]) {
            drep_type *type = l->type[i];

            lens[n] = lens[i];
            displs[n] = displs[i];
            l->type[i] = NULL;
            l->type[n++] = type;
        }
    return drep_type_struct(n, lens, displs, (const drep_type *const *)l->type, out);
}

static int make_level(const struct level *l, drep_type **out)
{
    const int64_t *v = l->arg;
    const drep_type *base = l->parts ? l->type[0] : NULL;
    int64_t n = l->args ? v[0] : 0;

    switch (l->combiner) {
    case MPI_COMBINER_DUP:
        return drep_type_dup(base, out);
    case MPI_COMBINER_CONTIGUOUS:
        return drep_type_contiguous(n, base, out);
    case MPI_COMBINER_VECTOR:
        return drep_type_vector(n, v[1], v[2], base, out);
    case MPI_COMBINER_HVECTOR:
        return drep_type_hvector(n, v[1], v[2], base, out);
    case MPI_COMBINER_INDEXED:
        return drep_type_indexed(n, v + 1, v + 1 + n, base, out);
    case MPI_COMBINER_HINDEXED:
        return drep_type_hindexed(n, v + 1, v + 1 + n, base, out);
    case MPI_COMBINER_INDEXED_BLOCK:
        return drep_type_indexed_block(n, v[1], v + 2, base, out);
    case MPI_COMBINER_HINDEXED_BLOCK:
        return drep_type_hindexed_block(n, v[1], v + 2, base, out);
    case MPI_COMBINER_STRUCT:
        return struct_from_mpi(l, out);
    case MPI_COMBINER_SUBARRAY:
        return drep_type_subarray((int)n, v + 1, v + 1 + n, v + 1 + 2 * n,
                                  order_from_mpi(v[1 + 3 * n]), base, out);
    case MPI_COMBINER_DARRAY:
        return darray_from_mpi(l, out);
    case MPI_COMBINER_RESIZED:
        return drep_type_resized(v[0], v[1], base, out);
    case MPI_COMBINER_F90_REAL:
        return drep_type_f90_real(parameter_of(v[0]), parameter_of(v[1]), out);
    case MPI_COMBINER_F90_COMPLEX:
        return drep_type_f90_complex(parameter_of(v[0]), parameter_of(v[1]), out);
    case MPI_COMBINER_F90_INTEGER:
        return drep_type_f90_integer(parameter_of(v[0]), out);
    }
    return glue_fail(DREP_ERR_TYPE, "datatype: unknown combiner %d", l->combiner);
}

/* Where MPI and we see bounds differently, MPI's are those of the program's memory: a struct gets
 * an extent that its own compiler would not give it, or Fortran's types lie otherwise. */
static int bounds_from_mpi(MPI_Datatype datatype, drep_type **type)
{
    MPI_Count lb, extent, size;
    drep_type *resized;
    int err = glue_mpi(MPI_Type_get_extent_x(datatype, &lb, &extent), "MPI_Type_get_extent_x");

    if (!err)
        err = glue_mpi(MPI_Type_size_x(datatype, &size), "MPI_Type_size_x");
    if (err)
        return err;
    if (size != drep_type_size(*type))
        return glue_fail(DREP_ERR_TYPE, "datatype: %lld bytes here, and %lld in this MPI",
                         (long long)drep_type_size(*type), (long long)size);
    if (lb == drep_type_lb(*type) && extent == drep_type_extent(*type))
        return 0;
    err = drep_type_resized(lb, extent, *type, &resized);
    if (err)
        return err;
    drep_type_free(*type);
    *type = resized;
    return 0;
}

static int type_from_mpi(MPI_Datatype datatype, int depth, drep_type **out)
{
    struct level l = {.combiner = MPI_COMBINER_NAMED};
    drep_type *type = NULL;
    int64_t i;
    int err = level_get(datatype, &l);

    if (!err && l.combiner != MPI_COMBINER_NAMED && depth >= DEPTH_MAX)
        err = glue_fail(DREP_ERR_LIMIT, "datatype: more than %d levels", DEPTH_MAX);
    for (i = 0; !err && i < l.parts; i++)
        if (l.combiner != MPI_COMBINER_STRUCT || !is_bound(l.part[i]))
            err = type_from_mpi(l.part[i], depth + 1, &l.type[i]);
    if (!err)
        err =
            l.combiner == MPI_COMBINER_NAMED ? named_type(datatype, &type) : make_level(&l, &type);
    if (!err)
        err = bounds_from_mpi(datatype, &type);
    level_release(&l);
    if (err) {
        drep_type_free(type);
        return err;
    }
    *out = type;
    return 0;
}

int drep_mpi_type(MPI_Datatype datatype, drep_type **out)
{
    int err = glue_ready("drep_mpi_type");

    if (err)
        return err;
    if (!out || datatype == MPI_DATATYPE_NULL)
        return glue_fail(DREP_ERR_ARG, "drep_mpi_type: %s",
                         out ? "MPI_DATATYPE_NULL" : "no result");
    return type_from_mpi(datatype, 0, out);
}
