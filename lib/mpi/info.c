/* info.c - hints of MPI as ours, and back. */
/* SPDX-License-Identifier: MIT */
#include "mpi/glue.h"

#include <stdlib.h>
#include <string.h>

/* Copy one key; a key that was deleted meanwhile, by another thread, is none. */
static int get_one(MPI_Info from, const char *key, drep_info *to)
{
    char *value;
    int len = 0, found = 0, err;

    err = glue_mpi(MPI_Info_get_valuelen(from, key, &len, &found), "MPI_Info_get_valuelen");
    if (err || !found)
        return err;
    value = glue_alloc((uint64_t)len + 1, 1);
    if (!value)
        return DREP_ERR_NOMEM;
    err = glue_mpi(MPI_Info_get(from, key, len, value, &found), "MPI_Info_get");
    /* MPI allows an empty value; as a hint it says nothing. */
    if (!err && found && *value)
        err = drep_info_set(to, key, value);
    free(value);
    return err;
}

int drep_mpi_info(MPI_Info info, drep_info **out)
{
    char key[MPI_MAX_INFO_KEY + 1];
    drep_info *to;
    int i, n = 0, err = glue_ready("drep_mpi_info");

    if (!err && !out)
        err = glue_fail(DREP_ERR_ARG, "drep_mpi_info: no result");
    if (!err)
        err = drep_info_new(&to);
    if (err)
        return err;
    if (info != MPI_INFO_NULL)
        err = glue_mpi(MPI_Info_get_nkeys(info, &n), "MPI_Info_get_nkeys");
    for (i = 0; i < n && !err; i++) {
        err = glue_mpi(MPI_Info_get_nthkey(info, i, key), "MPI_Info_get_nthkey");
        if (!err)
            err = get_one(info, key, to);
    }
    if (err)
        drep_info_free(to);
    else
        *out = to;
    return err;
}

static int set_one(const drep_info *from, const char *key, MPI_Info to)
{
    const char *value = drep_info_get(from, key);

    if (strlen(key) >= MPI_MAX_INFO_KEY)
        return glue_fail(DREP_ERR_INFO_KEY,
                         "drep_mpi_info_get: this MPI takes keys of %d bytes: %s",
                         MPI_MAX_INFO_KEY - 1, key);
    if (strlen(value) >= MPI_MAX_INFO_VAL)
        return glue_fail(DREP_ERR_INFO_VALUE,
                         "drep_mpi_info_get: this MPI takes values of %d bytes: that of %s",
                         MPI_MAX_INFO_VAL - 1, key);
    return *value ? glue_mpi(MPI_Info_set(to, key, value), "MPI_Info_set") : 0;
}

int drep_mpi_info_get(const drep_info *info, MPI_Info *out)
{
    MPI_Info to;
    int i, err = glue_ready("drep_mpi_info_get");

    if (!err && (!info || !out))
        err = glue_fail(DREP_ERR_ARG, "drep_mpi_info_get: a null pointer");
    if (!err)
        err = glue_mpi(MPI_Info_create(&to), "MPI_Info_create");
    if (err)
        return err;
    for (i = 0; i < drep_info_count(info) && !err; i++)
        err = set_one(info, drep_info_key(info, i), to);
    if (err)
        MPI_Info_free(&to);
    else
        *out = to;
    return err;
}
