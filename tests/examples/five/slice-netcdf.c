/* slice-netcdf.c - reads the last two rows of the second step. */
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

static void read_slice(const char *path, double rows[2][4])
{
    const size_t start[] = {1, 1, 0}, count[] = {1, 2, 4};
    int file, v;

    check(nc_open(path, NC_NOWRITE, &file));
    check(nc_inq_varid(file, "sst", &v));
    check(nc_get_vara_double(file, v, start, count, rows[0]));
    check(nc_close(file));
}

int main(int argc, char **argv)
{
    double rows[2][4];

    read_slice(argv[argc - 1], rows);
    for (int i = 0; i < 8; i++)
        printf("%g%c", rows[i / 4][i % 4], i % 4 == 3 ? '\n' : ' ');
    return 0;
}
