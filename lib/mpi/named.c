/* named.c - a list of handles, searched from its beginning.
 *
 * Handles of Open MPI are addresses and those of MPICH numbers: both are constants, but not ones
 * that a switch could use. */
/* SPDX-License-Identifier: MIT */
#include "mpi/named.h"
#include "mpi/glue.h"

static const struct named {
    MPI_Datatype datatype;
    const char *name;
    int first, second; /* codes; second 0: not a pair */
} all[] = {
#define X(name, code) {MPI_##name, #name, DREP_CODE_##code, 0},
#include "mpi/named.def"
#undef X
#define X(name, first, second) {MPI_##name, #name, DREP_CODE_##first, DREP_CODE_##second},
#include "mpi/pairs.def"
#undef X
};
enum { NAMED = sizeof all / sizeof *all };

/* The size of a datatype that this MPI may lack. */
static int64_t size_of(MPI_Datatype datatype)
{
    MPI_Count size = MPI_UNDEFINED;

    if (datatype == MPI_DATATYPE_NULL || MPI_Type_size_x(datatype, &size) != MPI_SUCCESS)
        return MPI_UNDEFINED;
    return (int64_t)size;
}

static int make_named(const struct named *n, drep_type **out)
{
    const drep_type *parts[2] = {drep_predefined(n->first), NULL};

    if (!n->second) {
        *out = drep_type_ref(parts[0]);
        return 0;
    }
    parts[1] = drep_predefined(n->second);
    return drep_type_struct(2, NULL, NULL, parts, out);
}

int named_type(MPI_Datatype named, drep_type **out)
{
    drep_type *type;
    int i, err;

    for (i = 0; i < NAMED && (all[i].datatype != named || named == MPI_DATATYPE_NULL); i++)
        ;
    if (i == NAMED)
        return glue_fail(DREP_ERR_TYPE, "datatype: a predefined one without counterpart");
    err = make_named(&all[i], &type);
    if (err)
        return err;
    if (size_of(named) != drep_type_size(type)) {
        err = glue_fail(DREP_ERR_TYPE, "datatype: MPI_%s has %lld bytes here, and %lld in this MPI",
                        all[i].name, (long long)drep_type_size(type), (long long)size_of(named));
        drep_type_free(type);
        return err;
    }
    *out = type;
    return 0;
}

MPI_Datatype named_datatype(int code)
{
    int i;

    for (i = 0; i < NAMED; i++)
        if (all[i].first == code && !all[i].second &&
            size_of(all[i].datatype) == drep_type_size(drep_predefined(code)))
            return all[i].datatype;
    return MPI_DATATYPE_NULL;
}
