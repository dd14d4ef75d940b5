/* datatype.c - one of our datatypes as one of MPI.
 *
 * Each kind becomes the constructor of its name; those that MPI does not have become what their
 * bytes are in memory. */
/* SPDX-License-Identifier: MIT */
#include "mpi/glue.h"
#include "mpi/named.h"

#include <limits.h>
#include <stdbool.h>
#include <stdlib.h>

/* The arguments of a constructor of MPI. */
struct call {
    int *integer;
    MPI_Aint *address;
    MPI_Datatype *part;
    int64_t parts;
};

static int type_to_mpi(const drep_type *type, MPI_Datatype *out);

static void call_release(struct call *c)
{
    int64_t i;

    for (i = 0; i < c->parts; i++)
        if (c->part[i] != MPI_DATATYPE_NULL)
            MPI_Type_free(&c->part[i]);
    free(c->integer);
    free(c->address);
    free(c->part);
}

/* The arguments of `type` as integers, where they fit, and as addresses; its members as datatypes
 * of MPI. */
static int call_init(struct call *c, const drep_type *type, bool integers)
{
    int64_t i, n = drep_type_arg_count(type);
    int err = 0;

    *c = (struct call){.parts = drep_type_members(type)};
    c->integer = glue_alloc((uint64_t)n, sizeof *c->integer);
    c->address = glue_alloc((uint64_t)n, sizeof *c->address);
    c->part = glue_alloc((uint64_t)c->parts, sizeof *c->part);
    if (!c->integer || !c->address || !c->part) {
        c->parts = 0;
        return DREP_ERR_NOMEM;
    }
    for (i = 0; i < c->parts; i++)
        c->part[i] = MPI_DATATYPE_NULL;
    for (i = 0; i < n && !err; i++) {
        int64_t v = drep_type_arg(type, i);

        c->address[i] = (MPI_Aint)v;
        c->integer[i] = (int)v;
        if (integers && (v < INT_MIN || v > INT_MAX))
            err =
                glue_fail(DREP_ERR_VALUE_TOO_LARGE, "datatype: %lld exceeds an int", (long long)v);
    }
    for (i = 0; i < c->parts && !err; i++)
        err = type_to_mpi(drep_type_member(type, i), &c->part[i]);
    return err;
}

/* The arguments from `first` on are addresses. */
static int check_integers(const drep_type *type, int64_t first)
{
    int64_t i;

    for (i = 0; i < first; i++)
        if (drep_type_arg(type, i) > INT_MAX)
            return glue_fail(DREP_ERR_VALUE_TOO_LARGE, "datatype: %lld exceeds an int",
                             (long long)drep_type_arg(type, i));
    return 0;
}

static int order_to_mpi(int64_t order)
{
    return order == DREP_ORDER_C ? MPI_ORDER_C : MPI_ORDER_FORTRAN;
}

static int make_subarray(const int *v, MPI_Datatype base, MPI_Datatype *out)
{
    int rank = v[0];

    return MPI_Type_create_subarray(rank, v + 1, v + 1 + rank, v + 1 + 2 * rank,
                                    order_to_mpi(v[1 + 3 * rank]), base, out);
}

static int darray_to_mpi(const int *v, MPI_Datatype base, MPI_Datatype *out)
{
    static const int distributions[] = {MPI_DISTRIBUTE_NONE, MPI_DISTRIBUTE_BLOCK,
                                        MPI_DISTRIBUTE_CYCLIC};
    int distribs[DREP_MAX_RANK], dargs[DREP_MAX_RANK];
    int rank = v[2], d;

    for (d = 0; d < rank; d++) {
        int darg = v[3 + 2 * rank + d];

        distribs[d] = distributions[v[3 + rank + d]];
        dargs[d] = darg == DREP_DISTRIBUTE_DFLT_DARG ? MPI_DISTRIBUTE_DFLT_DARG : darg;
    }
    return MPI_Type_create_darray(v[0], v[1], rank, v + 3, distribs, dargs, v + 3 + 3 * rank,
                                  order_to_mpi(v[3 + 4 * rank]), base, out);
}

static int make_mpi_type(const drep_type *type, const struct call *c, MPI_Datatype *out)
{
    const int *v = c->integer;
    MPI_Datatype base = c->part[0];

    switch (drep_type_kind(type)) {
    case DREP_KIND_DUP:
        return MPI_Type_dup(base, out);
    case DREP_KIND_CONTIGUOUS:
        return MPI_Type_contiguous(v[0], base, out);
    case DREP_KIND_VECTOR:
        return MPI_Type_vector(v[0], v[1], v[2], base, out);
    case DREP_KIND_HVECTOR:
        return MPI_Type_create_hvector(v[0], v[1], c->address[2], base, out);
    case DREP_KIND_INDEXED:
        return MPI_Type_indexed(v[0], v + 1, v + 1 + v[0], base, out);
    case DREP_KIND_HINDEXED:
        return MPI_Type_create_hindexed(v[0], v + 1, c->address + 1 + v[0], base, out);
    case DREP_KIND_INDEXED_BLOCK:
        return MPI_Type_create_indexed_block(v[0], v[1], v + 2, base, out);
    case DREP_KIND_HINDEXED_BLOCK:
        return MPI_Type_create_hindexed_block(v[0], v[1], c->address + 2, base, out);
    case DREP_KIND_SUBARRAY:
        return make_subarray(v, base, out);
    case DREP_KIND_DARRAY:
        return darray_to_mpi(v, base, out);
    case DREP_KIND_RESIZED:
        return MPI_Type_create_resized(base, c->address[0], c->address[1], out);
    }
    return MPI_ERR_TYPE;
}

/* The number of leading arguments that MPI takes as integers. */
static int64_t integers_of(const drep_type *type)
{
    switch (drep_type_kind(type)) {
    case DREP_KIND_HVECTOR:
    case DREP_KIND_HINDEXED_BLOCK:
        return 2;
    case DREP_KIND_HINDEXED:
        return 1 + drep_type_arg(type, 0);
    case DREP_KIND_RESIZED:
        return 0;
    }
    return drep_type_arg_count(type);
}

static int convert_constructor(const drep_type *type, MPI_Datatype *out)
{
    int64_t first = integers_of(type);
    struct call c;
    int err = call_init(&c, type, first == drep_type_arg_count(type));

    if (!err)
        err = check_integers(type, first);
    if (!err)
        err = glue_mpi(make_mpi_type(type, &c, out), "datatype");
    call_release(&c);
    return err;
}

static int convert_members(const drep_type *type, MPI_Datatype *out)
{
    int64_t i, n = drep_type_members(type);
    int *lens = glue_alloc((uint64_t)n, sizeof *lens);
    MPI_Aint *displs = glue_alloc((uint64_t)n, sizeof *displs);
    MPI_Datatype *parts = glue_alloc((uint64_t)n, sizeof *parts), whole = MPI_DATATYPE_NULL;
    int err = lens && displs && parts ? 0 : DREP_ERR_NOMEM;

    for (i = 0; i < n && parts; i++)
        parts[i] = MPI_DATATYPE_NULL;
    for (i = 0; i < n && !err; i++) {
        int64_t len = drep_type_member_blocklen(type, i);

        lens[i] = (int)len;
        displs[i] = (MPI_Aint)drep_type_member_offset(type, i);
        if (n > INT_MAX || len > INT_MAX)
            err = glue_fail(DREP_ERR_VALUE_TOO_LARGE, "datatype: a struct exceeds an int");
        else
            err = type_to_mpi(drep_type_member(type, i), &parts[i]);
    }
    if (!err)
        err = glue_mpi(MPI_Type_create_struct((int)n, lens, displs, parts, &whole), "datatype");
    for (i = 0; i < n && parts; i++)
        if (parts[i] != MPI_DATATYPE_NULL)
            MPI_Type_free(&parts[i]);
    free(lens);
    free(displs);
    free(parts);
    if (!err)
        *out = whole;
    return err;
}

static int repeat(int64_t n, MPI_Datatype base, MPI_Datatype *out)
{
    if (n > INT_MAX)
        return glue_fail(DREP_ERR_VALUE_TOO_LARGE, "datatype: %lld exceeds an int", (long long)n);
    return glue_mpi(MPI_Type_contiguous((int)n, base, out), "datatype");
}

/* Elements of a fixed array, or the integers that an enum and a boolean are. */
static int convert_repeated(const drep_type *type, MPI_Datatype *out)
{
    const drep_type *base = drep_type_member(type, 0);
    MPI_Datatype one = MPI_DATATYPE_NULL;
    int err = type_to_mpi(base, &one);

    if (!err) {
        int64_t extent = drep_type_extent(base);

        err = repeat(extent ? drep_type_extent(type) / extent : 0, one, out);
        MPI_Type_free(&one);
    }
    return err;
}

static int convert_predefined(const drep_type *type, MPI_Datatype *out)
{
    MPI_Datatype named = named_datatype(drep_type_code(type));

    if (named == MPI_DATATYPE_NULL)
        return glue_fail(DREP_ERR_UNSUPPORTED, "datatype: this MPI has no %s",
                         drep_code_name(drep_type_code(type)));
    return glue_mpi(MPI_Type_dup(named, out), "MPI_Type_dup");
}

/* Bounds that the constructors of MPI do not give: a compound with a size of its own, a struct that
 * another MPI aligns otherwise. */
static int bounds_to_mpi(const drep_type *type, MPI_Datatype *datatype)
{
    MPI_Count lb, extent;
    MPI_Datatype resized;
    int err = glue_mpi(MPI_Type_get_extent_x(*datatype, &lb, &extent), "MPI_Type_get_extent_x");

    if (err || (lb == drep_type_lb(type) && extent == drep_type_extent(type)))
        return err;
    err = glue_mpi(MPI_Type_create_resized(*datatype, (MPI_Aint)drep_type_lb(type),
                                           (MPI_Aint)drep_type_extent(type), &resized),
                   "MPI_Type_create_resized");
    if (err)
        return err;
    MPI_Type_free(datatype);
    *datatype = resized;
    return 0;
}

static int convert_kind(const drep_type *type, MPI_Datatype *out)
{
    switch (drep_type_kind(type)) {
    case DREP_KIND_PREDEFINED:
        return convert_predefined(type, out);
    case DREP_KIND_SCALAR:
    case DREP_KIND_OPAQUE:
        return repeat(drep_type_size(type), MPI_BYTE, out);
    case DREP_KIND_STRING:
        return repeat(drep_type_size(type), MPI_CHAR, out);
    case DREP_KIND_ENUM:
    case DREP_KIND_BOOLEAN:
    case DREP_KIND_ARRAY:
        return convert_repeated(type, out);
    case DREP_KIND_STRUCT:
    case DREP_KIND_COMPOUND:
        return convert_members(type, out);
    case DREP_KIND_SEQUENCE:
    case DREP_KIND_VSTRING:
    case DREP_KIND_REFERENCE:
        return glue_fail(DREP_ERR_TYPE, "datatype: what it points to has no datatype of MPI");
    }
    return convert_constructor(type, out);
}

static int type_to_mpi(const drep_type *type, MPI_Datatype *out)
{
    MPI_Datatype datatype = MPI_DATATYPE_NULL;
    int err = convert_kind(type, &datatype);

    if (!err)
        err = bounds_to_mpi(type, &datatype);
    if (err) {
        if (datatype != MPI_DATATYPE_NULL)
            MPI_Type_free(&datatype);
        return err;
    }
    *out = datatype;
    return 0;
}

int drep_mpi_datatype(const drep_type *type, MPI_Datatype *out)
{
    MPI_Datatype datatype;
    int err = glue_ready("drep_mpi_datatype");

    if (err)
        return err;
    if (!type || !out)
        return glue_fail(DREP_ERR_ARG, "drep_mpi_datatype: a null pointer");
    err = type_to_mpi(type, &datatype);
    if (!err)
        err = glue_mpi(MPI_Type_commit(&datatype), "MPI_Type_commit");
    if (!err)
        *out = datatype;
    return err;
}
