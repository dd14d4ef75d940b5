/* records.c - a series of records by netCDF's interface, each synced; records FILE appends until it
 * is killed and prints the number of each record once nc_sync() has returned.  records -r FILE N:
 * the first N records are there and right.
 */
/* SPDX-License-Identifier: MIT */
#include <netcdf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define LAT 5
#define LON 7

static void check(int status, const char *what)
{
    if (!status)
        return;
    fprintf(stderr, "%s: %s\n", what, nc_strerror(status));
    exit(3);
}

static void fill(size_t record, float plain[LAT * LON], short packed[LAT * LON])
{
    for (size_t k = 0; k < (size_t)LAT * LON; k++) {
        plain[k] = (float)(record * 1000 + k);
        packed[k] = (short)(record * 31 + k);
    }
}

static int made(const char *path, int ids[3])
{
    int f, dims[3];

    check(nc_create(path, NC_NETCDF4, &f), "create");
    check(nc_def_dim(f, "time", NC_UNLIMITED, &dims[0]), "time");
    check(nc_def_dim(f, "lat", LAT, &dims[1]), "lat");
    check(nc_def_dim(f, "lon", LON, &dims[2]), "lon");
    check(nc_def_var(f, "time", NC_DOUBLE, 1, dims, &ids[0]), "time");
    check(nc_def_var(f, "plain", NC_FLOAT, 3, dims, &ids[1]), "plain");
    check(nc_def_var(f, "packed", NC_SHORT, 3, dims, &ids[2]), "packed");
    check(nc_def_var_deflate(f, ids[2], 1, 1, 2), "deflate");
    check(nc_put_att_text(f, ids[1], "units", 1, "K"), "units");
    check(nc_enddef(f), "enddef");
    return f;
}

static int reopened(const char *path, int mode, int ids[3], size_t *records)
{
    int f, time;

    check(nc_open(path, mode, &f), "open");
    check(nc_inq_dimid(f, "time", &time), "time");
    check(nc_inq_dimlen(f, time, records), "length");
    check(nc_inq_varid(f, "time", &ids[0]), "time");
    check(nc_inq_varid(f, "plain", &ids[1]), "plain");
    check(nc_inq_varid(f, "packed", &ids[2]), "packed");
    return f;
}

static int append(const char *path)
{
    int ids[3];
    size_t records = 0;
    int f = access(path, F_OK) ? made(path, ids) : reopened(path, NC_WRITE, ids, &records);

    for (size_t k = records;; k++) {
        float plain[LAT * LON];
        short packed[LAT * LON];
        double time = (double)k / 4;
        size_t start[3] = {k, 0, 0}, count[3] = {1, LAT, LON};
        char line[32];

        fill(k, plain, packed);
        check(nc_put_vara_double(f, ids[0], start, count, &time), "put time");
        check(nc_put_vara_float(f, ids[1], start, count, plain), "put plain");
        check(nc_put_vara_short(f, ids[2], start, count, packed), "put packed");
        check(nc_sync(f), "sync");
        int n = snprintf(line, sizeof line, "%zu\n", k + 1);
        if (write(STDOUT_FILENO, line, (size_t)n) != n)
            return 4;
    }
}

static int verify(const char *path, size_t wanted)
{
    int ids[3];
    size_t records;
    int f = reopened(path, NC_NOWRITE, ids, &records);

    if (records < wanted) {
        fprintf(stderr, "%zu records were synced, %zu are there\n", wanted, records);
        return 1;
    }
    for (size_t k = 0; k < records; k++) {
        float plain[LAT * LON], plain2[LAT * LON];
        short packed[LAT * LON], packed2[LAT * LON];
        double time;
        size_t start[3] = {k, 0, 0}, count[3] = {1, LAT, LON};

        fill(k, plain, packed);
        check(nc_get_vara_double(f, ids[0], start, count, &time), "get time");
        check(nc_get_vara_float(f, ids[1], start, count, plain2), "get plain");
        check(nc_get_vara_short(f, ids[2], start, count, packed2), "get packed");
        if (time != (double)k / 4 || memcmp(plain, plain2, sizeof plain) ||
            memcmp(packed, packed2, sizeof packed)) {
            fprintf(stderr, "record %zu of %zu (%zu synced) has other values\n", k, records,
                    wanted);
            return 1;
        }
    }
    printf("%zu\n", records);
    return nc_close(f);
}

int main(int argc, char **argv)
{
    if (argc == 4 && !strcmp(argv[1], "-r"))
        return verify(argv[2], strtoul(argv[3], NULL, 10));
    return argc == 2 ? append(argv[1]) : 2;
}
