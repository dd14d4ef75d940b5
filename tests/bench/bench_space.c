/* bench_space.c - file size over payload after N commits, against netCDF-4 and HDF5.
 *
 * A model writes a field of 11 KiB and its time each day, and opens the file anew to do so: one
 * commit a day.  Sizes are counted, not times, so a row runs once; its peers write the same
 * elements in the same chunks with the same filters, in the same way.  For Datarep the row says how
 * much of the file is free or lost to alignment. */
/* SPDX-License-Identifier: MIT */
#include "bench.h"

#include <datarep.h>
#include <hdf5.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>
#if HAVE_NETCDF
#include <netcdf.h>
#endif

enum { ROWS = 44, COLUMNS = 64, FIELD = ROWS * COLUMNS, LEVEL = 1 };

struct story {
    int days;
    int64_t times; /* in a chunk of the coordinate */
    int deflate;
    float field[FIELD];
    char path[100];
};

static void field_of(struct story *s, int day)
{
    uint32_t x = (uint32_t)day * 2654435761u + 1;

    for (int i = 0; i < FIELD; i++) {
        x = x * 1664525u + 1013904223u;
        s->field[i] = (float)(x >> 16) * 0x1p-10f; /* of its 32 bits 16 are noise */
    }
}

static double size_of(const struct story *s)
{
    struct stat st;

    bench_must(stat(s->path, &st) == 0, "stat");
    return (double)st.st_size;
}

/* ---- Datarep ---- */

static drep_file *our_file;

static void our_open(const struct story *s)
{
    bench_must(drep_open(s->path, DREP_RDWR, NULL, &our_file) == 0, "drep_open");
}

static void our_create(const struct story *s)
{
    static const char *const names[] = {"time", "y", "x"};
    const int64_t dims[] = {0, ROWS, COLUMNS}, most[] = {DREP_UNLIMITED, ROWS, COLUMNS};
    const int64_t chunk[] = {1, ROWS, COLUMNS};
    const drep_filter filter = {.id = DREP_FILTER_DEFLATE, .level = LEVEL};
    drep_spec spec = DREP_SPEC(.rank = 1, .dims = dims, .maxdims = most, .dim_names = names,
                               .layout = DREP_CHUNKED);

    spec.filters = s->deflate ? &filter : NULL;
    spec.nfilters = s->deflate;
    unlink(s->path);
    bench_must(drep_create(s->path, DREP_RDWR, "native", NULL, &our_file) == 0, "drep_create");
    spec.type = DREP_DOUBLE;
    spec.chunk = &s->times;
    bench_must(drep_dataset_create(our_file, "/time", &spec, NULL) == 0, "/time");
    spec.type = DREP_FLOAT;
    spec.rank = 3;
    spec.chunk = chunk;
    bench_must(drep_dataset_create(our_file, "/field", &spec, NULL) == 0, "/field");
    bench_must(drep_close(our_file) == 0, "drep_close");
}

static void our_append(const char *path, const drep_type *type, const void *values)
{
    drep_dataset *set;

    bench_must(drep_dataset_open(our_file, path, &set) == 0, "drep_dataset_open");
    bench_must(drep_append(set, 0, 1, type, values, NULL) == 0, "drep_append");
    drep_dataset_close(set);
}

static double our_story(struct story *s)
{
    drep_usage usage = DREP_USAGE;

    our_create(s);
    for (int day = 0; day < s->days; day++) {
        double time = day;

        field_of(s, day);
        our_open(s);
        our_append("/field", DREP_FLOAT, s->field);
        our_append("/time", DREP_DOUBLE, &time);
        bench_must(drep_close(our_file) == 0, "drep_close");
    }
    our_open(s);
    bench_must(drep_usage_get(our_file, &usage) == 0, "drep_usage_get");
    bench_must(drep_close(our_file) == 0, "drep_close");
    return 100.0 * (double)(usage.free + usage.slack) / (double)usage.file;
}

/* ---- HDF5 ---- */

static hid_t h5_dataset(const struct story *s, hid_t file, const char *name, hid_t type, int rank)
{
    const hsize_t dims[] = {0, ROWS, COLUMNS}, most[] = {H5S_UNLIMITED, ROWS, COLUMNS};
    const hsize_t chunk[] = {rank == 1 ? (hsize_t)s->times : 1, ROWS, COLUMNS};
    hid_t plist = H5Pcreate(H5P_DATASET_CREATE), space = H5Screate_simple(rank, dims, most), set;

    H5Pset_chunk(plist, rank, chunk);
    if (s->deflate)
        H5Pset_deflate(plist, LEVEL);
    set = H5Dcreate2(file, name, type, space, H5P_DEFAULT, plist, H5P_DEFAULT);
    bench_must(set >= 0, "H5Dcreate2");
    H5Sclose(space);
    H5Pclose(plist);
    return set;
}

static void h5_append(hid_t file, const char *name, hid_t type, int rank, int day, const void *p)
{
    const hsize_t len[] = {(hsize_t)day + 1, ROWS, COLUMNS}, at[] = {(hsize_t)day, 0, 0};
    const hsize_t n[] = {1, ROWS, COLUMNS};
    hid_t set = H5Dopen2(file, name, H5P_DEFAULT), mem = H5Screate_simple(rank, n, NULL), space;

    bench_must(H5Dset_extent(set, len) >= 0, "H5Dset_extent");
    space = H5Dget_space(set);
    H5Sselect_hyperslab(space, H5S_SELECT_SET, at, NULL, n, NULL);
    bench_must(H5Dwrite(set, type, mem, space, H5P_DEFAULT, p) >= 0, "H5Dwrite");
    H5Sclose(space);
    H5Sclose(mem);
    H5Dclose(set);
}

static void h5_story(struct story *s)
{
    hid_t access = H5Pcreate(H5P_FILE_ACCESS), file;

    H5Pset_libver_bounds(access, H5F_LIBVER_LATEST, H5F_LIBVER_LATEST);
    file = H5Fcreate(s->path, H5F_ACC_TRUNC, H5P_DEFAULT, access);
    H5Dclose(h5_dataset(s, file, "time", H5T_NATIVE_DOUBLE, 1));
    H5Dclose(h5_dataset(s, file, "field", H5T_NATIVE_FLOAT, 3));
    H5Fclose(file);
    for (int day = 0; day < s->days; day++) {
        double time = day;

        field_of(s, day);
        file = H5Fopen(s->path, H5F_ACC_RDWR, access);
        bench_must(file >= 0, "H5Fopen");
        h5_append(file, "field", H5T_NATIVE_FLOAT, 3, day, s->field);
        h5_append(file, "time", H5T_NATIVE_DOUBLE, 1, day, &time);
        bench_must(H5Fclose(file) >= 0, "H5Fclose");
    }
    H5Pclose(access);
}

/* ---- netCDF-4 ---- */

#if HAVE_NETCDF
static void nc_variable(const struct story *s, int nc, const char *name, nc_type type, int rank,
                        const int *dims)
{
    const size_t chunk[] = {rank == 1 ? (size_t)s->times : 1, ROWS, COLUMNS};
    int v;

    bench_must(nc_def_var(nc, name, type, rank, dims, &v) == 0 &&
                   nc_def_var_chunking(nc, v, NC_CHUNKED, chunk) == 0 &&
                   nc_def_var_deflate(nc, v, 0, s->deflate, LEVEL) == 0,
               "a variable");
}

static void nc_story(struct story *s)
{
    int nc, dims[3], field, axis;

    bench_must(nc_create(s->path, NC_NETCDF4 | NC_CLOBBER, &nc) == 0, "nc_create");
    bench_must(nc_def_dim(nc, "time", NC_UNLIMITED, &dims[0]) == 0 &&
                   nc_def_dim(nc, "y", ROWS, &dims[1]) == 0 &&
                   nc_def_dim(nc, "x", COLUMNS, &dims[2]) == 0,
               "nc_def_dim");
    nc_variable(s, nc, "time", NC_DOUBLE, 1, dims);
    nc_variable(s, nc, "field", NC_FLOAT, 3, dims);
    bench_must(nc_close(nc) == 0, "nc_close");
    for (int day = 0; day < s->days; day++) {
        const size_t at[] = {(size_t)day, 0, 0}, n[] = {1, ROWS, COLUMNS};
        double time = day;

        field_of(s, day);
        bench_must(nc_open(s->path, NC_WRITE, &nc) == 0, "nc_open");
        bench_must(nc_inq_varid(nc, "field", &field) == 0 && nc_inq_varid(nc, "time", &axis) == 0,
                   "nc_inq_varid");
        bench_must(nc_put_vara_float(nc, field, at, n, s->field) == 0 &&
                       nc_put_vara_double(nc, axis, at, n, &time) == 0,
                   "nc_put_vara");
        bench_must(nc_close(nc) == 0, "nc_close");
    }
}
#endif

/* ---- rows ---- */

static int against(const char *peer, double ours, double theirs, double payload, double bar)
{
    int missed = ours > theirs * bar;

    printf("    %-10s %10.0f bytes  %7.4f of the elements   ours / theirs %6.4f  bar %.3f %s\n",
           peer, theirs, theirs / payload, ours / theirs, bar, missed ? "MISSED" : "met");
    return missed;
}

static int row(struct story *s)
{
    double payload = s->days * (double)(sizeof s->field + sizeof(double)), ours, lost;
    int missed;

    lost = our_story(s);
    ours = size_of(s);
    printf("%d commits, coordinate in chunks of %d, %s\n", s->days, (int)s->times,
           s->deflate ? "deflate" : "no filter");
    printf("    %-10s %10.0f bytes  %7.4f of the elements   free and slack %5.2f %%\n", "datarep",
           ours, ours / payload, lost);
    h5_story(s);
    missed = against("HDF5", ours, size_of(s), payload, 1.02);
#if HAVE_NETCDF
    nc_story(s);
    missed += against("netCDF-4", ours, size_of(s), payload, 1.01);
#endif
    unlink(s->path);
    return missed;
}

int main(int argc, char **argv)
{
    static const int days[] = {1, 30, 365, 1000};
    static struct story s;
    int missed = 0;

    (void)argc;
    (void)argv;
    snprintf(s.path, sizeof s.path, "%s/bench-%d.file", bench_dir(), (int)getpid());
    for (int i = 0; i < 16; i++) {
        s.days = days[i / 4];
        s.times = i & 1 ? 4096 : 64;
        s.deflate = i >> 1 & 1;
        missed += row(&s);
    }
    printf("bars missed: %d\n", missed);
    return 0;
}
