/* book.c - the attributes by which netCDF-4 keeps its books in HDF5 files. */
/* SPDX-License-Identifier: MIT */
#include "tools/h5/book.h"
#include "schema/note.h"
#include "tools/h5/job.h"
#include <datarep.h>
#include <stdlib.h>
#include <string.h>

#define DIMENSION_ID NOTE_HDF5 "_Netcdf4Dimid"
#define COORDINATES NOTE_HDF5 "_Netcdf4Coordinates"

int book_is(const char *name)
{
    static const char *const names[] = {"_NCProperties", "_nc3_strict", "_Netcdf4Dimid",
                                        "_Netcdf4Coordinates"};
    size_t i;

    for (i = 0; i < sizeof names / sizeof *names; i++)
        if (strcmp(name, names[i]) == 0)
            return 1;
    return 0;
}

const char *book_name(const char *name)
{
    const size_t len = sizeof NOTE_HDF5 - 1;

    return strncmp(name, NOTE_HDF5, len) == 0 && book_is(name + len) ? name + len : NULL;
}

/* The integers of an attribute of one dimension or none, at most `room`; -1: it is another. */
static int integers(struct job *j, const char *path, const char *name, int64_t *out, int room)
{
    drep_attrinfo info = DREP_ATTRINFO;
    int n = -1;

    if (drep_attr_info(j->d, path, name, &info) != 0)
        return -1;
    if (info.rank >= 0 && info.rank <= 1 && info.count <= room &&
        drep_attr_read(j->d, path, name, DREP_INT64_T, out) == 0)
        n = (int)info.count;
    drep_attrinfo_release(&info);
    return n;
}

/* The number that netCDF-4 has given a dimension; -1: none.  It stands with the dimension, or with
 * the variable of its name, which may have several dimensions. */
static int64_t number_of(struct job *j, const char *address)
{
    char *variable = strdup(address), *mark = variable ? strrchr(variable, '#') : NULL;
    int64_t number;
    int n = integers(j, address, DIMENSION_ID, &number, 1);

    if (n != 1 && mark) {
        *mark = '/';
        n = integers(j, variable + (mark == variable + 1), DIMENSION_ID, &number, 1);
    }
    free(variable);
    return n == 1 ? number : -1;
}

static int64_t dimensions(const struct job *j)
{
    int64_t n = 0;
    size_t i;

    for (i = 0; i < j->objects.n; i++)
        n += j->objects.list[i].kind == DREP_OBJ_DIMENSION;
    return n;
}

/* Whether each dimension of the file has a number of its own, from 0 on. */
static int are_numbered(struct job *j)
{
    int64_t n = dimensions(j);
    char *seen = calloc((size_t)n + 1, 1);
    int whole = 1;
    size_t i;

    for (i = 0; seen && whole && i < j->objects.n; i++) {
        const struct h5_object *o = &j->objects.list[i];
        char *path = o->kind == DREP_OBJ_DIMENSION ? job_source(j, o) : NULL;
        int64_t number = path ? number_of(j, path) : 0;

        if (path) {
            whole = number >= 0 && number < n && !seen[number];
            if (whole)
                seen[number] = 1;
        }
        free(path);
    }
    whole = whole && seen;
    free(seen);
    return whole;
}

/* Whether the list of numbers names the dimensions of the dataset, in their order. */
static int are_coordinates(struct job *j, const char *path)
{
    int64_t list[DREP_MAX_RANK];
    drep_dsinfo info = DREP_DSINFO;
    drep_dataset *ds;
    int d, n = integers(j, path, COORDINATES, list, DREP_MAX_RANK), fits;

    if (n < 1 || drep_dataset_open(j->d, path, &ds) != 0)
        return 0;
    fits = drep_dataset_info(ds, &info) == 0 && info.rank == n;
    for (d = 0; fits && d < n; d++) {
        char *address = NULL;

        /* HDF5 gives no dimensions to the variable of one that has several. */
        if (!info.dim_ids[d])
            fits = list[d] >= 0 && list[d] < dimensions(j);
        else
            fits = drep_object_path(j->d, info.dim_ids[d], &address) == 0 &&
                   number_of(j, address) == list[d];
        free(address);
    }
    drep_dataset_close(ds);
    return fits;
}

/* Whether the number at `path` is that of the object, a dimension without a variable, or of the
 * first dimension of the object, a dataset. */
static int is_number(struct job *j, const struct h5_object *o, const char *path)
{
    drep_dsinfo info = DREP_DSINFO;
    drep_dataset *ds;
    char *address = NULL;
    int64_t number;
    int fits;

    if (o->kind == DREP_OBJ_DIMENSION)
        return 1;
    if (integers(j, path, DIMENSION_ID, &number, 1) != 1 || drep_dataset_open(j->d, path, &ds) != 0)
        return 0;
    fits = drep_dataset_info(ds, &info) == 0 && info.rank > 0 && info.dim_ids[0] &&
           drep_object_path(j->d, info.dim_ids[0], &address) == 0 &&
           number_of(j, address) == number;
    free(address);
    drep_dataset_close(ds);
    return fits;
}

int book_fits(struct job *j, const struct h5_object *o, const char *path, const char *name)
{
    if (strcmp(name, DIMENSION_ID) != 0 && strcmp(name, COORDINATES) != 0)
        return strcmp(o->path, "/") == 0;
    if (!j->numbered)
        j->numbered = are_numbered(j) ? 1 : -1;
    if (j->numbered < 0)
        return 0;
    return strcmp(name, DIMENSION_ID) == 0 ? is_number(j, o, path) : are_coordinates(j, path);
}
