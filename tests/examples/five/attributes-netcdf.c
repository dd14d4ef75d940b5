/* attributes-netcdf.c - reads titles and units, adds a factor and a version, reads them back. */
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

static char *read_text(int file, int v, const char *name)
{
    size_t len;
    char *text;

    check(nc_inq_attlen(file, v, name, &len));
    text = calloc(len + 1, 1);
    check(nc_get_att_text(file, v, name, text));
    return text;
}

static void show_attributes(const char *path)
{
    int file, v, version = 3;
    double factor = 0.01;
    char *title, *units;

    check(nc_open(path, NC_WRITE, &file));
    check(nc_inq_varid(file, "sst", &v));
    title = read_text(file, NC_GLOBAL, "title");
    units = read_text(file, v, "units");
    check(nc_put_att_double(file, v, "scale_factor", NC_DOUBLE, 1, &factor));
    check(nc_put_att_int(file, NC_GLOBAL, "version", NC_INT, 1, &version));
    check(nc_get_att_double(file, v, "scale_factor", &factor));
    check(nc_get_att_int(file, NC_GLOBAL, "version", &version));
    check(nc_close(file));
    printf("%s, %s, %g, %d\n", title, units, factor, version);
    free(title);
    free(units);
}

int main(int argc, char **argv)
{
    show_attributes(argv[argc - 1]);
    return 0;
}
