/* work.c - the work that `make bench-netcdf` times, through netCDF's interface: work WHAT FILE [N]
 *
 * Prints the CPU seconds of all threads from before the file is opened until it is closed.  The
 * same program makes and reads files of both kinds: which it is says the name, under the preloaded
 * library.  The memory that values are read into has been used before: that the system gives a
 * program its pages costs the same for both kinds, and is no work of a format. */
/* SPDX-License-Identifier: MIT */
#include <fcntl.h>
#include <libdeflate.h>
#include <math.h>
#include <netcdf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define TIME 240
#define LAT 180
#define LON 360

static void check(int status)
{
    if (!status)
        return;
    fprintf(stderr, "work: %s\n", nc_strerror(status));
    exit(1);
}

static double seconds(void)
{
    struct timespec t;

    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* A smooth field with as much noise as measurements have. */
static void field(size_t step, float *values, size_t lat, size_t lon)
{
    unsigned noise = (unsigned)step * 2654435761u + 1;

    for (size_t y = 0; y < lat; y++) {
        for (size_t x = 0; x < lon; x++) {
            noise = noise * 1664525u + 1013904223u;
            float value = 280 + 20 * cosf((float)y / 30) + 5 * sinf((float)(x + step) / 40) +
                          (float)(noise >> 24) / 64;
            values[y * lon + x] = roundf(value * 64) / 64;
        }
    }
}

static int defined(const char *path, size_t lat, size_t lon, int deflate, const size_t *chunk,
                   int *v, int *t)
{
    int f, dims[3];

    check(nc_create(path, NC_NETCDF4 | NC_CLOBBER, &f));
    check(nc_def_dim(f, "time", NC_UNLIMITED, &dims[0]));
    check(nc_def_dim(f, "lat", lat, &dims[1]));
    check(nc_def_dim(f, "lon", lon, &dims[2]));
    check(nc_def_var(f, "time", NC_DOUBLE, 1, dims, t));
    check(nc_put_att_text(f, *t, "units", 21, "days since 2000-01-01"));
    check(nc_def_var(f, "v", NC_FLOAT, 3, dims, v));
    check(nc_put_att_text(f, *v, "units", 1, "K"));
    if (chunk)
        check(nc_def_var_chunking(f, *v, NC_CHUNKED, chunk));
    if (deflate)
        check(nc_def_var_deflate(f, *v, 1, 1, deflate));
    check(nc_enddef(f));
    return f;
}

static void put(int f, int v, int t, size_t record, size_t lat, size_t lon, const float *values)
{
    size_t start[3] = {record, 0, 0}, count[3] = {1, lat, lon};
    double day = (double)record;

    check(nc_put_vara_double(f, t, start, count, &day));
    check(nc_put_vara_float(f, v, start, count, values));
}

/* A variable that is written at once: of records with chunks, as archives have it, or fixed and
 * contiguous. */
static void make(const char *path, int deflate, const size_t *chunk)
{
    float *values = malloc(sizeof *values * TIME * LAT * LON);
    int f, v, dims[3];

    if (!values)
        exit(1);
    for (size_t k = 0; k < TIME; k++)
        field(k, values + k * LAT * LON, LAT, LON);
    check(nc_create(path, NC_NETCDF4 | NC_CLOBBER, &f));
    check(nc_def_dim(f, "time", chunk ? NC_UNLIMITED : TIME, &dims[0]));
    check(nc_def_dim(f, "lat", LAT, &dims[1]));
    check(nc_def_dim(f, "lon", LON, &dims[2]));
    check(nc_def_var(f, "v", NC_FLOAT, 3, dims, &v));
    if (chunk)
        check(nc_def_var_chunking(f, v, NC_CHUNKED, chunk));
    if (deflate)
        check(nc_def_var_deflate(f, v, 1, 1, deflate));
    check(nc_enddef(f));
    check(nc_put_vara_float(f, v, (size_t[]){0, 0, 0}, (size_t[]){TIME, LAT, LON}, values));
    check(nc_close(f));
    free(values);
}

/* Memory for n values, of which the system has given each page. */
static float *memory(size_t n)
{
    float *values = malloc(n * sizeof *values);

    if (!values)
        exit(1);
    for (size_t k = 0; k < n; k++)
        values[k] = (float)k;
    return values;
}

static int opened(const char *path, int *v)
{
    int f;

    check(nc_open(path, NC_NOWRITE, &f));
    check(nc_inq_varid(f, "v", v));
    return f;
}

static double read_all(const char *path, int times)
{
    float *values = memory((size_t)TIME * LAT * LON);
    double begin = seconds();

    for (int k = 0; k < times; k++) {
        int v, f = opened(path, &v);
        check(nc_get_var_float(f, v, values));
        check(nc_close(f));
    }
    double took = seconds() - begin;
    fprintf(stderr, "%a\n", (double)values[(size_t)TIME * LAT * LON - 1]);
    free(values);
    return took;
}

static double read_strided(const char *path)
{
    size_t start[3] = {1, 0, 1}, count[3] = {TIME / 2, LAT / 3, LON / 2};
    ptrdiff_t stride[3] = {2, 3, 2};
    float *values = memory(count[0] * count[1] * count[2]);
    double begin = seconds();
    int v, f = opened(path, &v);

    check(nc_get_vars_float(f, v, start, count, stride, values));
    check(nc_close(f));
    double took = seconds() - begin;
    fprintf(stderr, "%a\n", (double)values[count[0] * count[1] * count[2] - 1]);
    free(values);
    return took;
}

/* Series of points that are far from each other. */
static double read_series(const char *path, size_t n)
{
    float values[TIME];
    double sum = 0, begin = seconds();
    int v, f = opened(path, &v);

    for (size_t k = 0; k < n; k++) {
        size_t start[3] = {0, k * 67 % LAT, k * 131 % LON}, count[3] = {TIME, 1, 1};
        check(nc_get_vara_float(f, v, start, count, values));
        sum += (double)values[k % TIME];
    }
    check(nc_close(f));
    double took = seconds() - begin;
    fprintf(stderr, "%a\n", sum);
    return took;
}

static double write_records(const char *path, int deflate)
{
    static float values[8][LAT * LON];
    size_t chunk[3] = {1, LAT, LON};
    int v, t;

    for (size_t k = 0; k < 8; k++)
        field(k, values[k], LAT, LON);
    double begin = seconds();
    int f = defined(path, LAT, LON, deflate, chunk, &v, &t);

    for (size_t k = 0; k < TIME; k++)
        put(f, v, t, k, LAT, LON, values[k % 8]);
    check(nc_close(f));
    return seconds() - begin;
}

/* The least that such a file costs: its records by pwrite(), without any format. */
static double write_bytes(const char *path)
{
    static float values[8][LAT * LON];

    for (size_t k = 0; k < 8; k++)
        field(k, values[k], LAT, LON);
    double begin = seconds();
    int f = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0666);

    for (int k = 0; k < TIME; k++)
        if (pwrite(f, values[k % 8], sizeof *values, (off_t)sizeof *values * k) !=
            (ssize_t)sizeof *values)
            exit(1);
    close(f);
    return seconds() - begin;
}

/* The least that such values cost to deflate: the shuffle is not counted. */
static double deflate_alone(void)
{
    static float values[LAT * LON];
    static unsigned char planes[sizeof values], out[2 * sizeof values];
    struct libdeflate_compressor *c = libdeflate_alloc_compressor(2);
    double took = 0;

    for (size_t k = 0; k < TIME; k++) {
        field(k % 8, values, LAT, LON);
        for (size_t i = 0; i < sizeof values; i++)
            planes[i % 4 * LAT * LON + i / 4] = ((unsigned char *)values)[i];
        double begin = seconds();
        if (!libdeflate_zlib_compress(c, planes, sizeof planes, out, sizeof out))
            exit(1);
        took += seconds() - begin;
    }
    libdeflate_free_compressor(c);
    return took;
}

/* One record after another, each time the file is opened for it: a day's end. */
static double append_days(const char *path, int days, size_t lat, size_t lon, int deflate)
{
    float *values = malloc(lat * lon * sizeof *values);
    int v, t, f = defined(path, lat, lon, deflate, NULL, &v, &t);
    double begin = seconds();

    check(nc_close(f));
    for (int k = 0; k < days && values; k++) {
        field((size_t)k, values, lat, lon);
        check(nc_open(path, NC_WRITE, &f));
        check(nc_inq_varid(f, "v", &v));
        check(nc_inq_varid(f, "time", &t));
        put(f, v, t, (size_t)k, lat, lon, values);
        check(nc_close(f));
    }
    free(values);
    return seconds() - begin;
}

/* A small file of N records, made by one program. */
static void series(const char *path, size_t n, size_t lat, size_t lon)
{
    float values[12];
    int v, t, f = defined(path, lat, lon, 0, NULL, &v, &t);

    for (size_t k = 0; k < n; k++) {
        field(k, values, lat, lon);
        put(f, v, t, k, lat, lon, values);
    }
    check(nc_close(f));
}

static void many_variables(const char *path, int n)
{
    int f, dims[3], v;

    check(nc_create(path, NC_NETCDF4 | NC_CLOBBER, &f));
    check(nc_def_dim(f, "time", NC_UNLIMITED, &dims[0]));
    check(nc_def_dim(f, "lat", 18, &dims[1]));
    check(nc_def_dim(f, "lon", 36, &dims[2]));
    for (int k = 0; k < n; k++) {
        char name[40];
        float fill = -999;

        snprintf(name, sizeof name, "variable_%d", k);
        check(nc_def_var(f, name, NC_FLOAT, 3, dims, &v));
        check(nc_put_att_text(f, v, "units", 4, "kg/m"));
        check(nc_put_att_text(f, v, "long_name", strlen(name), name));
        check(nc_put_att_float(f, v, "_FillValue", NC_FLOAT, 1, &fill));
        check(nc_put_att_float(f, v, "missing_value", NC_FLOAT, 1, &fill));
    }
    check(nc_close(f));
}

/* N files of a day each: PATH has a %d. */
static void days(const char *path, int n)
{
    static float values[90 * 180];

    for (int k = 0; k < n; k++) {
        char name[1000];
        int v, t;

        snprintf(name, sizeof name, "%.*s%d%s", (int)strcspn(path, "%"), path, k,
                 path + strcspn(path, "%") + 1);
        int f = defined(name, 90, 180, 2, NULL, &v, &t);
        field((size_t)k, values, 90, 180);
        put(f, v, t, 0, 90, 180, values);
        check(nc_close(f));
    }
}

int main(int argc, char **argv)
{
    static const size_t cubes[3] = {24, 30, 60}, steps[3] = {1, LAT, LON};
    const char *what = argc > 2 ? argv[1] : "", *path = argc > 2 ? argv[2] : "";
    int n = argc > 3 ? atoi(argv[3]) : 1;
    double took = 0;

    if (!strcmp(what, "make-deflated"))
        make(path, 2, steps);
    else if (!strcmp(what, "make-plain"))
        make(path, 0, steps);
    else if (!strcmp(what, "make-contiguous"))
        make(path, 0, NULL);
    else if (!strcmp(what, "make-cubes"))
        make(path, 2, cubes);
    else if (!strcmp(what, "make-variables"))
        many_variables(path, n);
    else if (!strcmp(what, "make-days"))
        days(path, n);
    else if (!strcmp(what, "read"))
        took = read_all(path, n);
    else if (!strcmp(what, "strided"))
        took = read_strided(path);
    else if (!strcmp(what, "series"))
        took = read_series(path, (size_t)n);
    else if (!strcmp(what, "write-plain"))
        took = write_records(path, 0);
    else if (!strcmp(what, "write-deflated"))
        took = write_records(path, 2);
    else if (!strcmp(what, "write-unsynced")) {
        setenv("DATAREP_HINTS", "drep_sync=none", 1);
        took = write_records(path, 0);
    } else if (!strcmp(what, "write-bytes"))
        took = write_bytes(path);
    else if (!strcmp(what, "deflate"))
        took = deflate_alone();
    else if (!strcmp(what, "append"))
        took = append_days(path, n, 90, 180, 2);
    else if (!strcmp(what, "append-plain"))
        took = append_days(path, n, 90, 180, 0);
    else if (!strcmp(what, "small"))
        series(path, 2, 3, 4);
    else if (!strcmp(what, "append-small"))
        took = append_days(path, 2, 3, 4, 0);
    else
        return 2;
    printf("%.6f\n", took);
    return 0;
}
