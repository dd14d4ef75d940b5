/* quantize.c - quantized variables: quantize FILE
 *
 * Writes numbers of all sizes as float and double in each mode with each number of digits, from
 * floats, doubles and ints, goes on in the file when it is opened again, and prints all bits that
 * are read. */
/* SPDX-License-Identifier: MIT */
#include <netcdf.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define N 400

static double doubles[N];
static float floats[N];
static int ints[N];

static void check(int status)
{
    if (!status || status == NC_ERANGE)
        return;
    printf("error: %s\n", nc_strerror(status));
    exit(1);
}

static void values(void)
{
    uint64_t state = 88172645463325252u;

    for (int k = 0; k < N; k++) {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        doubles[k] = (double)(int64_t)state / 9.2e18;
        for (int e = (int)(state >> 32) % 37; e > 0; e--)
            doubles[k] *= state & 1 ? 10 : 0.1;
        floats[k] = (float)doubles[k];
        ints[k] = (int)(state >> 35);
    }
    doubles[7] = 0;
    floats[7] = 0;
    doubles[8] = -999;
    floats[8] = -999;
    ints[8] = -999;
    floats[9] = NC_FILL_FLOAT;
    doubles[9] = NC_FILL_DOUBLE;
}

static void define(int f, int dim, int mode, nc_type type, int digits, int fill)
{
    const double minus = -999;
    char name[40];
    int v;

    snprintf(name, sizeof name, "v_%d_%d_%d_%d", mode, type, digits, fill);
    check(nc_def_var(f, name, type, 1, &dim, &v));
    if (fill)
        check(nc_put_att_double(f, v, "_FillValue", type, 1, &minus));
    check(nc_def_var_quantize(f, v, mode, digits));
}

static void put(int f, int v, size_t at)
{
    size_t start[1] = {at}, count[1] = {N};

    switch (v % 3) {
    case 0:
        check(nc_put_vara_double(f, v, start, count, doubles));
        break;
    case 1:
        check(nc_put_vara_float(f, v, start, count, floats));
        break;
    default:
        check(nc_put_vara_int(f, v, start, count, ints));
    }
}

/* In the variable's own type: netCDF-C 4.9.0 quantizes what it converts for a reader, too. */
static void print(int f, int v)
{
    static double read[2 * N];
    static float read_floats[2 * N];
    int mode, digits;
    nc_type type;

    check(nc_inq_var_quantize(f, v, &mode, &digits));
    check(nc_inq_vartype(f, v, &type));
    check(type == NC_FLOAT ? nc_get_var_float(f, v, read_floats) : nc_get_var_double(f, v, read));
    printf("%d: %d %d", v, mode, digits);
    for (int k = 0; k < 2 * N; k++)
        printf(" %a", type == NC_FLOAT ? (double)read_floats[k] : read[k]);
    putchar('\n');
}

int main(int argc, char **argv)
{
    /* Of 7 digits of a float netCDF-C 4.9.0 makes zeros: it clears fewer bits than none. */
    static const int most[2][4] = {{0, 6, 6, 23}, {0, 15, 15, 52}};
    int f, dim, n = 0;

    if (argc != 2)
        return 2;
    values();
    check(nc_create(argv[1], NC_NETCDF4 | NC_CLOBBER, &f));
    check(nc_def_dim(f, "n", NC_UNLIMITED, &dim));
    for (int mode = NC_QUANTIZE_BITGROOM; mode <= NC_QUANTIZE_BITROUND; mode++)
        for (int wide = 0; wide < 2; wide++)
            for (int digits = 1; digits <= most[wide][mode]; digits++)
                for (int fill = 0; fill < 2; fill++, n++)
                    define(f, dim, mode, wide ? NC_DOUBLE : NC_FLOAT, digits, fill);
    check(nc_enddef(f));
    for (int v = 0; v < n; v++)
        put(f, v, 0);
    check(nc_close(f));
    check(nc_open(argv[1], NC_WRITE, &f));
    for (int v = 0; v < n; v++)
        put(f, v, N);
    for (int v = 0; v < n; v++)
        print(f, v);
    check(nc_close(f));
    return 0;
}
