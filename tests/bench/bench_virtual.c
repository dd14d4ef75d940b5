/* bench_virtual.c - slices of a netCDF-4 file through a virtual container, against libnetcdf.
 *
 * Two variables of (time, lat, lon): shuffled and deflated in chunks of a map, and contiguous.  The
 * container refers to the chunks of the netCDF-4 file and verifies each that it reads; libnetcdf
 * verifies nothing.  Times include opening the file where the row says so. */
/* SPDX-License-Identifier: MIT */
#include "bench.h"

#include <datarep.h>
#include <stdbool.h>
#include <stdio.h>

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#if HAVE_NETCDF
#include <netcdf.h>
#endif

#if HAVE_NETCDF
enum { TIMES = 200, ROWS = 361, COLUMNS = 720, ROUNDS = 7 };

static char source[120], container[120];

static void nc(int status)
{
    bench_must(status == NC_NOERR, nc_strerror(status));
}

static void dr(int err)
{
    bench_must(err == 0, drep_error());
}

static void make_source(void)
{
    size_t n = (size_t)TIMES * ROWS * COLUMNS, chunk[] = {1, ROWS, COLUMNS};
    double *field = malloc(sizeof *field * n);
    float *values = malloc(sizeof *values * n);
    int f, dim[3], v[2];

    bench_must(field && values, "memory");
    bench_field(field, (size_t)TIMES * ROWS, COLUMNS, 7);
    for (size_t i = 0; i < n; i++)
        values[i] = (float)field[i];
    nc(nc_create(source, NC_NETCDF4, &f));
    nc(nc_def_dim(f, "time", TIMES, &dim[0]));
    nc(nc_def_dim(f, "lat", ROWS, &dim[1]));
    nc(nc_def_dim(f, "lon", COLUMNS, &dim[2]));
    nc(nc_def_var(f, "deflated", NC_FLOAT, 3, dim, &v[0]));
    nc(nc_def_var_chunking(f, v[0], NC_CHUNKED, chunk));
    nc(nc_def_var_deflate(f, v[0], 1, 1, 1));
    nc(nc_def_var(f, "contiguous", NC_FLOAT, 3, dim, &v[1]));
    nc(nc_def_var_chunking(f, v[1], NC_CONTIGUOUS, NULL));
    nc(nc_put_var_float(f, v[0], values));
    nc(nc_put_var_float(f, v[1], values));
    nc(nc_close(f));
    free(field);
    free(values);
}

/* What one row reads, by either library. */
struct reading {
    const char *name;
    size_t start[3], count[3];
    bool opens; /* files are opened in each round */
    int f, v;
    drep_file *file;
    drep_dataset *dataset;
    drep_info *info;
    float *a, *b;
};

static void open_ours(struct reading *r)
{
    dr(drep_open(container, DREP_RDONLY, r->info, &r->file));
    dr(drep_dataset_open(r->file, r->name, &r->dataset));
}

static void close_ours(struct reading *r)
{
    drep_dataset_close(r->dataset);
    dr(drep_close(r->file));
}

static void open_theirs(struct reading *r)
{
    nc(nc_open(source, NC_NOWRITE, &r->f));
    nc(nc_inq_varid(r->f, r->name, &r->v));
}

static void ours(void *ctx)
{
    struct reading *r = ctx;
    int64_t start[3], count[3];

    for (int d = 0; d < 3; d++) {
        start[d] = (int64_t)r->start[d];
        count[d] = (int64_t)r->count[d];
    }
    if (r->opens)
        open_ours(r);
    dr(drep_read_box(r->dataset, start, count, DREP_FLOAT, r->a, NULL));
    if (r->opens)
        close_ours(r);
}

static void theirs(void *ctx)
{
    struct reading *r = ctx;

    if (r->opens)
        open_theirs(r);
    nc(nc_get_vara_float(r->f, r->v, r->start, r->count, r->b));
    if (r->opens)
        nc(nc_close(r->f));
}

static int row(const char *work, struct reading r)
{
    const struct bench_entry entry[] = {{"datarep", NULL, ours, 0}, {"libnetcdf", NULL, theirs, 1}};
    size_t n = r.count[0] * r.count[1] * r.count[2];
    int missed;

    r.a = malloc(n * sizeof *r.a);
    r.b = malloc(n * sizeof *r.b);
    bench_must(r.a && r.b, "memory");
    /* Every round reads from the file: neither keeps chunks. */
    dr(drep_info_new(&r.info));
    dr(drep_info_set(r.info, "drep_external", "true"));
    dr(drep_info_set(r.info, "access_style", "read_once"));
    nc(nc_set_chunk_cache(0, 0, 0));
    if (!r.opens) {
        open_ours(&r);
        open_theirs(&r);
    }
    missed = bench_versus(work, ROUNDS, entry, 2, &r);
    bench_must(memcmp(r.a, r.b, n * sizeof *r.a) == 0, "equal values");
    if (!r.opens) {
        close_ours(&r);
        nc(nc_close(r.f));
    }
    drep_info_free(r.info);
    free(r.a);
    free(r.b);
    return missed;
}

int main(void)
{
    char command[400];
    struct stat a, b;
    int missed = 0;

    snprintf(source, sizeof source, "%s/bench-%d-in.nc", bench_dir(), (int)getpid());
    snprintf(container, sizeof container, "%s/bench-%d-in.drep", bench_dir(), (int)getpid());
    make_source();
    snprintf(command, sizeof command, "build/release/datarep import --virtual %s %s", source,
             container);
    bench_must(system(command) == 0, command);
    bench_must(stat(source, &a) == 0 && stat(container, &b) == 0, "stat");
    printf("source %.1f MB, virtual container %.3f MB\n", (double)a.st_size / 1e6,
           (double)b.st_size / 1e6);
    for (int k = 0; k < 2; k++) {
        const char *name = k ? "contiguous" : "deflated";
        char work[100];

        snprintf(work, sizeof work, "%s: open, one map", name);
        missed +=
            row(work,
                (struct reading){
                    .name = name, .start = {50, 0, 0}, .count = {1, ROWS, COLUMNS}, .opens = true});
        snprintf(work, sizeof work, "%s: 20 maps", name);
        missed +=
            row(work,
                (struct reading){.name = name, .start = {50, 0, 0}, .count = {20, ROWS, COLUMNS}});
        snprintf(work, sizeof work, "%s: a region over time", name);
        missed += row(
            work, (struct reading){.name = name, .start = {0, 100, 200}, .count = {TIMES, 20, 40}});
        snprintf(work, sizeof work, "%s: all of it", name);
        missed += row(work, (struct reading){.name = name, .count = {TIMES, ROWS, COLUMNS}});
    }
    printf("%d bars missed\n", missed);
    unlink(source);
    unlink(container);
    return 0;
}
#else
int main(void)
{
    printf("skipped: built without netCDF\n");
    return 0;
}
#endif
