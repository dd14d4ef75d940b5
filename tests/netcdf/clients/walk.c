/* walk.c - reads all that netCDF's interface says of files, and of a copy of each what a writer
 * gets to see.
 *
 * walk [-w] FILE...: prints each file's name and the first error before it goes on with the next;
 * its status is 0 unless it crashes.  Under -w each file is then opened for writing and changed. */
/* SPDX-License-Identifier: MIT */
#include <netcdf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MOST 200000 /* elements that are read of a variable, or values of an attribute */

static int first;

/* Keeps the first error. */
static int note(int status)
{
    if (status && !first)
        first = status;
    return status;
}

static void attributes(int f, int v, int n)
{
    for (int k = 0; k < n; k++) {
        char name[NC_MAX_NAME + 1];
        nc_type type;
        size_t len, size = 0;

        if (note(nc_inq_attname(f, v, k, name)) || note(nc_inq_att(f, v, name, &type, &len)) ||
            note(nc_inq_type(f, type, NULL, &size)) || len > MOST)
            continue;
        void *values = calloc(len + 1, size + 1);
        if (values && !note(nc_get_att(f, v, name, values)) && type == NC_STRING)
            nc_free_string(len, values);
        free(values);
        double *numbers = calloc(len + 1, sizeof *numbers);
        if (numbers && type < NC_STRING && type != NC_CHAR)
            nc_get_att_double(f, v, name, numbers);
        free(numbers);
    }
}

static void types(int f)
{
    int n = 0, ids[1000];

    if (note(nc_inq_typeids(f, &n, NULL)) || n > 1000 || note(nc_inq_typeids(f, &n, ids)))
        return;
    for (int k = 0; k < n; k++) {
        char name[NC_MAX_NAME + 1];
        size_t size, fields;
        nc_type base;
        int class;

        if (note(nc_inq_user_type(f, ids[k], name, &size, &base, &fields, &class)))
            continue;
        for (size_t i = 0; class == NC_COMPOUND && i < fields; i++) {
            int rank, lens[NC_MAX_VAR_DIMS];
            note(nc_inq_compound_field(f, ids[k], (int)i, name, &size, &base, &rank, lens));
        }
        for (size_t i = 0; class == NC_ENUM && i < fields && i < MOST; i++) {
            long long value;
            note(nc_inq_enum_member(f, ids[k], (int)i, name, &value));
        }
    }
}

static void variable(int f, int v)
{
    char name[NC_MAX_NAME + 1];
    nc_type type;
    int rank = 0, n = 0, dims[NC_MAX_VAR_DIMS], flag, level, storage;
    size_t size, total = 1, chunks[NC_MAX_VAR_DIMS], start[NC_MAX_VAR_DIMS], count[NC_MAX_VAR_DIMS];
    ptrdiff_t stride[NC_MAX_VAR_DIMS];
    char fill[4096];

    if (note(nc_inq_var(f, v, name, &type, &rank, dims, &n)) ||
        note(nc_inq_type(f, type, NULL, &size)))
        return;
    attributes(f, v, n);
    note(nc_inq_var_deflate(f, v, &flag, &flag, &level));
    note(nc_inq_var_chunking(f, v, &storage, chunks));
    note(nc_inq_var_endian(f, v, &flag));
    if (size <= sizeof fill)
        nc_inq_var_fill(f, v, &flag, fill);
    for (int d = 0; d < rank; d++) {
        size_t len;
        if (note(nc_inq_dimlen(f, dims[d], &len)))
            return;
        start[d] = len > 3 ? 1 : 0;
        count[d] = len > 3 ? (len - 1) / 2 : len;
        stride[d] = len > 3 ? 2 : 1;
        while (count[d] > 20)
            count[d] /= 2;
        total = len && total > MOST / len ? MOST + 1 : total * len;
    }
    if (total <= MOST) {
        void *values = calloc(total + 1, size);
        if (values && !note(nc_get_var(f, v, values)))
            nc_reclaim_data(f, type, values, total);
        free(values);
    }
    for (int d = 0, left = 20000; d < rank; d++) {
        while (count[d] > (size_t)left)
            count[d] /= 2;
        left /= count[d] ? (int)count[d] : 1;
    }
    double *numbers = calloc(MOST, sizeof *numbers);
    if (numbers && type < NC_STRING && type != NC_CHAR)
        nc_get_vars_double(f, v, start, count, stride, numbers);
    free(numbers);
}

static void group(int f, int depth)
{
    int nd, nv, na, n = 0, ids[1000], unlimited;

    if (note(nc_inq(f, &nd, &nv, &na, &unlimited)))
        return;
    attributes(f, NC_GLOBAL, na);
    if (!note(nc_inq_dimids(f, &n, NULL, 0)) && n <= 1000 && !note(nc_inq_dimids(f, &n, ids, 0))) {
        for (int k = 0; k < n; k++) {
            char name[NC_MAX_NAME + 1];
            size_t len;
            note(nc_inq_dim(f, ids[k], name, &len));
        }
    }
    types(f);
    for (int v = 0; v < nv && v < 1000; v++)
        variable(f, v);
    if (depth < 10 && !note(nc_inq_grps(f, &n, NULL)) && n <= 1000 &&
        !note(nc_inq_grps(f, &n, ids))) {
        for (int k = 0; k < n; k++)
            group(ids[k], depth + 1);
    }
}

static void change(const char *path)
{
    int f, nv = 0, dim, v;
    double values[3] = {1, 2, 3};
    size_t start[1] = {0}, count[1] = {3};

    if (note(nc_open(path, NC_WRITE, &f)))
        return;
    nc_redef(f);
    nc_put_att_double(f, NC_GLOBAL, "added", NC_DOUBLE, 3, values);
    nc_inq_nvars(f, &nv);
    for (v = 0; v < nv && v < 20; v++) {
        nc_put_att_text(f, v, "units", 7, "changed");
        nc_del_att(f, v, "long_name");
    }
    if (!nc_def_dim(f, "added", 3, &dim) && !nc_def_var(f, "added", NC_DOUBLE, 1, &dim, &v) &&
        !nc_enddef(f))
        nc_put_vara_double(f, v, start, count, values);
    for (v = 0; v < nv && v < 20; v++) {
        size_t at[NC_MAX_VAR_DIMS] = {0};
        double one = 1;
        nc_put_var1_double(f, v, at, &one);
    }
    nc_sync(f);
    nc_close(f);
}

int main(int argc, char **argv)
{
    int begin = argc > 1 && !strcmp(argv[1], "-w") ? 2 : 1;

    for (int k = begin; k < argc; k++) {
        int f;

        printf("%s", argv[k]);
        fflush(stdout);
        first = 0;
        alarm(60);
        if (!note(nc_open(argv[k], NC_NOWRITE, &f))) {
            group(f, 0);
            note(nc_close(f));
        }
        if (begin == 2)
            change(argv[k]);
        printf(" %d\n", first);
    }
    return 0;
}
