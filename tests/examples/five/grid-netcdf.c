/* grid-netcdf.c - writes a field with coordinates and units. */
/* SPDX-License-Identifier: MIT */
#include <netcdf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const float lat[3] = {-30, 0, 30}, lon[4] = {0, 90, 180, 270};
static float sst[2][3][4];

static void check(int err)
{
    if (err == NC_NOERR)
        return;
    fprintf(stderr, "%s\n", nc_strerror(err));
    exit(1);
}

static void write_grid(const char *path)
{
    const size_t start[] = {0, 0, 0}, count[] = {2, 3, 4};
    const char *title = "sea surface temperature";
    int file, dims[3], v, y, x;

    check(nc_create(path, NC_NETCDF4 | NC_CLOBBER, &file));
    check(nc_def_dim(file, "time", NC_UNLIMITED, &dims[0]));
    check(nc_def_dim(file, "lat", 3, &dims[1]));
    check(nc_def_dim(file, "lon", 4, &dims[2]));
    check(nc_def_var(file, "sst", NC_FLOAT, 3, dims, &v));
    check(nc_def_var(file, "lat", NC_FLOAT, 1, dims + 1, &y));
    check(nc_def_var(file, "lon", NC_FLOAT, 1, dims + 2, &x));
    check(nc_def_var_deflate(file, v, 1, 1, 6));
    check(nc_put_att_text(file, NC_GLOBAL, "title", strlen(title), title));
    check(nc_put_att_text(file, v, "units", 1, "K"));
    check(nc_put_att_text(file, y, "units", 13, "degrees_north"));
    check(nc_put_att_text(file, x, "units", 12, "degrees_east"));
    check(nc_put_vara_float(file, v, start, count, sst[0][0]));
    check(nc_put_var_float(file, y, lat));
    check(nc_put_var_float(file, x, lon));
    check(nc_close(file));
}

int main(int argc, char **argv)
{
    for (int i = 0; i < 24; i++)
        sst[i / 12][i / 4 % 3][i % 4] = 280 + (float)i;
    write_grid(argv[argc - 1]);
    return 0;
}
