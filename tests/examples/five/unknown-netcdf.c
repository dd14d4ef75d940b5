/* unknown-netcdf.c - lists the objects of any file with types, shapes and attributes. */
/* SPDX-License-Identifier: MIT */
#include <netcdf.h>
#include <stdio.h>
#include <stdlib.h>

static void check(int err)
{
    if (err == NC_NOERR)
        return;
    fprintf(stderr, "%s\n", nc_strerror(err));
    exit(1);
}

static void show_attributes(int group, int v, int natts, const char *path)
{
    char name[NC_MAX_NAME + 1], *text;
    nc_type type;
    size_t len;
    double number;

    for (int i = 0; i < natts; i++) {
        check(nc_inq_attname(group, v, i, name));
        check(nc_inq_att(group, v, name, &type, &len));
        printf("%s: %s", path, name);
        if (type == NC_CHAR) {
            text = calloc(len + 1, 1);
            check(nc_get_att_text(group, v, name, text));
            printf(" = %s", text);
            free(text);
        } else if (type == NC_STRING && len == 1) {
            check(nc_get_att_string(group, v, name, &text));
            printf(" = %s", text);
            check(nc_free_string(1, &text));
        } else if (len == 1) {
            check(nc_get_att_double(group, v, name, &number));
            printf(" = %g", number);
        }
        printf("\n");
    }
}

static void show_group(int group, const char *path)
{
    int nvars, natts, ngroups, rank, dims[NC_MAX_VAR_DIMS], groups[100];
    char name[NC_MAX_NAME + 1], type_name[NC_MAX_NAME + 1], below[4 * NC_MAX_NAME];
    nc_type type;
    size_t len;

    check(nc_inq(group, NULL, &nvars, &natts, NULL));
    show_attributes(group, NC_GLOBAL, natts, path[0] ? path : "/");
    for (int v = 0; v < nvars; v++) {
        check(nc_inq_var(group, v, name, &type, &rank, dims, &natts));
        check(nc_inq_type(group, type, type_name, NULL));
        snprintf(below, sizeof below, "%s/%s", path, name);
        printf("%s %s", below, type_name);
        for (int d = 0; d < rank; d++) {
            check(nc_inq_dimlen(group, dims[d], &len));
            printf(" %zu", len);
        }
        printf("\n");
        show_attributes(group, v, natts, below);
    }
    check(nc_inq_grps(group, &ngroups, groups));
    for (int i = 0; i < ngroups; i++) {
        check(nc_inq_grpname(groups[i], name));
        snprintf(below, sizeof below, "%s/%s", path, name);
        show_group(groups[i], below);
    }
}

int main(int argc, char **argv)
{
    int file;

    check(nc_open(argv[argc - 1], NC_NOWRITE, &file));
    show_group(file, "");
    check(nc_close(file));
    return 0;
}
