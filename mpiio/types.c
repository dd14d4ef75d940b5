/* types.c - MPI's datatypes as ours, kept at MPI's handles. */
/* SPDX-License-Identifier: MIT */
#include "mpiio/state.h"

#include <pthread.h>
#include <stdlib.h>

enum { NAMED_MAX = 128 }; /* MPI has some ninety */

/* Predefined datatypes live as long as the process: their attributes would never be freed. */
static struct {
    MPI_Datatype datatype;
    drep_type *type;
} named[NAMED_MAX];
static int nnamed, key = MPI_KEYVAL_INVALID;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

bool mpitype_derived(MPI_Datatype datatype)
{
    int integers, addresses, datatypes, combiner = MPI_COMBINER_NAMED;

    if (PMPI_Type_get_envelope(datatype, &integers, &addresses, &datatypes, &combiner) !=
        MPI_SUCCESS)
        return false;
    return combiner != MPI_COMBINER_NAMED && combiner != MPI_COMBINER_F90_REAL &&
           combiner != MPI_COMBINER_F90_COMPLEX && combiner != MPI_COMBINER_F90_INTEGER;
}

int mpitype_hold(MPI_Datatype datatype, MPI_Datatype *out)
{
    *out = datatype;
    if (!mpitype_derived(datatype) || PMPI_Type_dup(datatype, out) == MPI_SUCCESS)
        return 0;
    *out = MPI_DATATYPE_NULL;
    return DREP_ERR_NOMEM;
}

void mpitype_release(MPI_Datatype *datatype)
{
    if (*datatype != MPI_DATATYPE_NULL && mpitype_derived(*datatype))
        PMPI_Type_free(datatype);
    *datatype = MPI_DATATYPE_NULL;
}

static int get_named(MPI_Datatype datatype, const drep_type **out)
{
    drep_type *type;
    int i, err;

    for (i = 0; i < nnamed; i++)
        if (named[i].datatype == datatype) {
            *out = named[i].type;
            return 0;
        }
    err = drep_mpi_type(datatype, &type);
    if (err)
        return err;
    *out = type;
    /* More would be a mistake here: then the last place is lost, once for each call. */
    i = nnamed < NAMED_MAX ? nnamed++ : NAMED_MAX - 1;
    named[i].datatype = datatype;
    named[i].type = type;
    return 0;
}

static int free_kept(MPI_Datatype datatype, int keyval, void *value, void *extra)
{
    (void)datatype, (void)keyval, (void)extra;
    drep_type_free(value);
    return MPI_SUCCESS;
}

static int get_derived(MPI_Datatype datatype, const drep_type **out)
{
    drep_type *type = NULL;
    int there = 0, err;

    if (key == MPI_KEYVAL_INVALID)
        PMPI_Type_create_keyval(MPI_TYPE_NULL_COPY_FN, free_kept, &key, NULL);
    PMPI_Type_get_attr(datatype, key, &type, &there);
    if (!there) {
        err = drep_mpi_type(datatype, &type);
        if (err)
            return err;
        if (PMPI_Type_set_attr(datatype, key, type) != MPI_SUCCESS) {
            drep_type_free(type);
            return DREP_ERR_NOMEM;
        }
    }
    *out = type;
    return 0;
}

int mpitype_get(MPI_Datatype datatype, const drep_type **out)
{
    int err;

    if (datatype == MPI_DATATYPE_NULL)
        return drep_error_set(DREP_ERR_TYPE, "MPI_DATATYPE_NULL");
    pthread_mutex_lock(&lock);
    err = mpitype_derived(datatype) ? get_derived(datatype, out) : get_named(datatype, out);
    pthread_mutex_unlock(&lock);
    return err;
}
