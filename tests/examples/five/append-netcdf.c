/* append-netcdf.c - adds a step to a file. */
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

static void append_step(const char *path, const float *step)
{
    size_t start[] = {0, 0, 0}, count[] = {1, 3, 4};
    int file, time, v;

    check(nc_open(path, NC_WRITE, &file));
    check(nc_inq_dimid(file, "time", &time));
    check(nc_inq_dimlen(file, time, &start[0]));
    check(nc_inq_varid(file, "sst", &v));
    check(nc_put_vara_float(file, v, start, count, step));
    check(nc_close(file));
}

int main(int argc, char **argv)
{
    float step[12];

    for (int i = 0; i < 12; i++)
        step[i] = 300 + (float)i;
    append_step(argv[argc - 1], step);
    return 0;
}
