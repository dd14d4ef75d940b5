/* write.c - ranks write 512 MiB of doubles together: this library, parallel HDF5, PnetCDF, and the
 * raw limit.
 *
 * Usage: mpiexec -n 2 bench-write DIRECTORY [ROW]     e.g. "native rows"
 *
 * An array of 8192 x 8192 in chunks of 256 x 256; each rank has rows or columns of it.  The limit
 * is one pwrite of each rank's bytes to its own half of a file, with XXH3 of every 4 KiB.  Alone,
 * each rank writes by itself, chunk after chunk, without .collective.  Against
 * our zstd stands HDF5's deflate; both sides of the deflated rows shuffle first.  PnetCDF, whose
 * arrays are one piece each, writes big-endian.  In brackets are the bars. */
/* SPDX-License-Identifier: MIT */
#include "bench.h"

#include <datarep-mpi.h>
#include <hdf5.h>
#ifdef WITH_PNETCDF
#include <pnetcdf.h>
#endif

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { SIDE = 8192, CHUNK = 256, ROUNDS = 5, BLOCK = 4096 };

enum kind { NATIVE, EXTERNAL32, CONTIGUOUS, CONTIGUOUS32, DEFLATE, ZSTD, KINDS };
static const struct {
    const char *name;
    int filters;
    drep_filter filter[2];
    double bar, cpu_bar; /* 0: of the raw limit; there is none */
} kinds[KINDS] = {
    {"native", 0, {{0}}, 0, 1.0},
    {"external32", 0, {{0}}, 0, 0},
    {"contiguous native", 0, {{0}}, 1.0, 1.0},
    {"contiguous external32", 0, {{0}}, 0.8, 1.0},
    {"deflate 1",
     2,
     {{.id = DREP_FILTER_SHUFFLE}, {.id = DREP_FILTER_DEFLATE, .level = 1}},
     0.65,
     0.7},
    {"zstd 3", 2, {{.id = DREP_FILTER_SHUFFLE}, {.id = DREP_FILTER_ZSTD, .level = 3}}, 0.3, 0},
};
static const char *const cut_names[] = {"rows", "columns"};

static int is_contiguous(enum kind kind)
{
    return kind == CONTIGUOUS || kind == CONTIGUOUS32;
}

static int is_big_endian(enum kind kind)
{
    return kind == EXTERNAL32 || kind == CONTIGUOUS32;
}

struct work {
    enum kind kind;
    int64_t start[2], count[2];
    double *data;
    int rank, ranks;
};

static void run_raw(void *ctx, const char *path)
{
    const struct work *w = ctx;
    const char *p = (const char *)w->data;
    size_t size = (size_t)(w->count[0] * w->count[1]) * sizeof(double), at;
    uint64_t *sums = malloc(size / BLOCK * sizeof *sums);
    int fd = open(path, O_CREAT | O_WRONLY, 0666);

    must(fd >= 0 && sums, "open");
    for (at = 0; at < size; at += BLOCK)
        sums[at / BLOCK] = XXH3_64bits(p + at, BLOCK);
    for (at = 0; at < size;) {
        ssize_t n = pwrite(fd, p + at, size - at, (off_t)((size_t)w->rank * size + at));

        must(n > 0, "pwrite");
        at += (size_t)n;
    }
    free(sums);
    close(fd);
}

static void write_chunks(const struct work *w, drep_dataset *ds)
{
    const int64_t size[2] = {CHUNK, CHUNK};
    double *chunk = malloc(sizeof(double) * CHUNK * CHUNK);
    int64_t y, x, i;

    must(chunk != NULL, "malloc");
    for (y = 0; y < w->count[0]; y += CHUNK)
        for (x = 0; x < w->count[1]; x += CHUNK) {
            int64_t start[2] = {w->start[0] + y, w->start[1] + x};

            for (i = 0; i < CHUNK; i++)
                memcpy(chunk + i * CHUNK, w->data + (y + i) * w->count[1] + x,
                       sizeof(double) * CHUNK);
            must(!drep_write_box(ds, start, size, DREP_DOUBLE, chunk, NULL), "drep_write_box");
        }
    free(chunk);
}

static void write_file(const struct work *w, int alone, const char *path)
{
    const int64_t dims[2] = {SIDE, SIDE}, chunk[2] = {CHUNK, CHUNK};
    drep_spec spec = DREP_SPEC(.type = DREP_DOUBLE, .rank = 2, .dims = dims, .layout = DREP_CHUNKED,
                               .chunk = chunk);
    drep_dataset *ds;
    drep_file *file;

    if (is_contiguous(w->kind)) {
        spec.layout = DREP_CONTIGUOUS;
        spec.chunk = NULL;
    }
    if (kinds[w->kind].filters > 0) {
        spec.filters = kinds[w->kind].filter;
        spec.nfilters = kinds[w->kind].filters;
    }
    must(!drep_mpi_create(MPI_COMM_WORLD, path, DREP_RDWR,
                          is_big_endian(w->kind) ? "external32" : "native", NULL, &file),
         "drep_mpi_create");
    must(!drep_dataset_create(file, "/x", &spec, &ds), "drep_dataset_create");
    if (alone)
        write_chunks(w, ds);
    else
        must(!drep_write_box(ds, w->start, w->count, DREP_DOUBLE, w->data,
                             &DREP_XFER(.collective = 1)),
             "drep_write_box");
    drep_dataset_close(ds);
    must(!drep_close(file), "drep_close");
}

static void run_ours(void *ctx, const char *path)
{
    write_file(ctx, 0, path);
}

static void run_alone(void *ctx, const char *path)
{
    write_file(ctx, 1, path);
}

static void run_hdf5(void *ctx, const char *path)
{
    const struct work *w = ctx;
    hsize_t dims[2] = {SIDE, SIDE}, chunk[2] = {CHUNK, CHUNK};
    hsize_t start[2] = {(hsize_t)w->start[0], (hsize_t)w->start[1]};
    hsize_t count[2] = {(hsize_t)w->count[0], (hsize_t)w->count[1]};
    hid_t fapl = H5Pcreate(H5P_FILE_ACCESS), dcpl = H5Pcreate(H5P_DATASET_CREATE);
    hid_t dxpl = H5Pcreate(H5P_DATASET_XFER), space = H5Screate_simple(2, dims, NULL);
    hid_t memory = H5Screate_simple(2, count, NULL), file, ds;

    H5Pset_fapl_mpio(fapl, MPI_COMM_WORLD, MPI_INFO_NULL);
    H5Pset_libver_bounds(fapl, H5F_LIBVER_LATEST, H5F_LIBVER_LATEST);
    if (!is_contiguous(w->kind))
        H5Pset_chunk(dcpl, 2, chunk);
    H5Pset_fill_time(dcpl, H5D_FILL_TIME_NEVER);
    if (kinds[w->kind].filters > 0) {
        H5Pset_shuffle(dcpl);
        H5Pset_deflate(dcpl, 1);
    }
    H5Pset_dxpl_mpio(dxpl, H5FD_MPIO_COLLECTIVE);
    file = H5Fcreate(path, H5F_ACC_TRUNC, H5P_DEFAULT, fapl);
    ds = H5Dcreate2(file, "x", is_big_endian(w->kind) ? H5T_IEEE_F64BE : H5T_NATIVE_DOUBLE, space,
                    H5P_DEFAULT, dcpl, H5P_DEFAULT);
    H5Sselect_hyperslab(space, H5S_SELECT_SET, start, NULL, count, NULL);
    must(H5Dwrite(ds, H5T_NATIVE_DOUBLE, memory, space, dxpl, w->data) >= 0, "H5Dwrite");
    H5Dclose(ds);
    H5Fclose(file);
    H5Sclose(memory);
    H5Sclose(space);
    H5Pclose(dxpl);
    H5Pclose(dcpl);
    H5Pclose(fapl);
}

#ifdef WITH_PNETCDF
static void run_pnetcdf(void *ctx, const char *path)
{
    const struct work *w = ctx;
    MPI_Offset start[2] = {w->start[0], w->start[1]}, count[2] = {w->count[0], w->count[1]};
    int nc, dim[2], var;

    must(!ncmpi_create(MPI_COMM_WORLD, path, NC_CLOBBER | NC_64BIT_DATA, MPI_INFO_NULL, &nc),
         "ncmpi_create");
    ncmpi_def_dim(nc, "y", SIDE, &dim[0]);
    ncmpi_def_dim(nc, "x", SIDE, &dim[1]);
    ncmpi_def_var(nc, "v", NC_DOUBLE, 2, dim, &var);
    must(!ncmpi_enddef(nc), "ncmpi_enddef");
    must(!ncmpi_put_vara_double_all(nc, var, start, count, w->data), "ncmpi_put_vara_double_all");
    must(!ncmpi_close(nc), "ncmpi_close");
}
#endif

enum { RAW, OURS, HDF5, ALONE, PNETCDF };
static const struct side sides[] = {{"raw", run_raw},
                                    {"ours", run_ours},
                                    {"HDF5", run_hdf5},
                                    {"alone", run_alone},
#ifdef WITH_PNETCDF
                                    {"PnetCDF", run_pnetcdf}
#endif
};
enum { SIDES = sizeof sides / sizeof *sides };

/* What an instrument says of a smooth field: temperatures with noise of half a degree, in steps of
 * 1/1024.  Shuffle and deflate make about a third of it. */
static void fill(struct work *w)
{
    uint64_t state = 1 + (uint64_t)w->rank;
    double *wave = malloc(SIDE * sizeof *wave);
    int64_t i, j;

    must(wave != NULL, "malloc");
    for (i = 0; i < SIDE; i++)
        wave[i] = sin((double)i / 700);
    for (i = 0; i < w->count[0]; i++)
        for (j = 0; j < w->count[1]; j++) {
            state = state * 6364136223846793005u + 1442695040888963407u;
            w->data[i * w->count[1] + j] =
                floor((280 + 30 * wave[w->start[0] + i] * wave[w->start[1] + j]) * 1024 +
                      (double)(state >> 54)) /
                1024;
        }
    free(wave);
}

static void show(const struct work *w, int cut, const struct cost *c, int n)
{
    double limit = 1.25 * c[RAW].wall / c[HDF5].wall;
    double bar = kinds[w->kind].bar > 0 ? kinds[w->kind].bar : limit > 0.75 ? limit : 0.75;

    printf("| %s | %s | %.3f | %.3f | %.3f |", kinds[w->kind].name, cut_names[cut], c[RAW].wall,
           c[OURS].wall, c[HDF5].wall);
    cell_with_bar(c[OURS].wall / c[HDF5].wall, bar);
    if (kinds[w->kind].cpu_bar > 0)
        cell_with_bar(c[OURS].cpu / c[HDF5].cpu, kinds[w->kind].cpu_bar);
    else
        cell(c[OURS].cpu / c[HDF5].cpu);
    if (n > PNETCDF && cut == 1)
        cell_with_bar(c[OURS].wall / c[PNETCDF].wall, is_contiguous(w->kind) ? 0.7 : 0.5);
    else if (n > PNETCDF)
        cell(c[OURS].wall / c[PNETCDF].wall);
    else
        printf(" |");
    if (is_contiguous(w->kind))
        cell(c[ALONE].wall / c[OURS].wall);
    else
        cell_with_bar(c[ALONE].wall / c[OURS].wall, 1.1);
    printf(" %.0f | %.0f | %.0f |\n", c[OURS].memory, c[HDF5].memory, c[ALONE].memory);
    fflush(stdout);
}

static void row(struct work *w, int cut, const char *path)
{
    struct cost cost[SIDES];
    int64_t part = SIDE / w->ranks;
    int n = is_big_endian(w->kind) ? SIDES : ALONE + 1;

    w->start[cut] = part * w->rank;
    w->count[cut] = part;
    w->start[!cut] = 0;
    w->count[!cut] = SIDE;
    fill(w);
    bench(sides, n, ROUNDS, 1, w, path, cost);
    if (!w->rank)
        show(w, cut, cost, n);
}

int main(int argc, char **argv)
{
    struct work w = {0};
    char path[4096], name[64];
    int cut, k;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &w.rank);
    MPI_Comm_size(MPI_COMM_WORLD, &w.ranks);
    if (argc < 2 || SIDE % w.ranks)
        MPI_Abort(MPI_COMM_WORLD, 2);
    snprintf(path, sizeof path, "%s/bench-mpi.tmp", argv[1]);
    w.data = malloc(sizeof(double) * SIDE * (size_t)(SIDE / w.ranks));
    must(w.data != NULL, "malloc");
    if (!w.rank)
        printf("| write, %d ranks | | raw, s | ours, s | HDF5, s | ours / HDF5 | CPU, ours / HDF5 "
               "| ours / PnetCDF | alone / ours | memory a rank, ours, MiB | HDF5 | alone |\n"
               "|---|---|---|---|---|---|---|---|---|---|---|---|\n",
               w.ranks);
    for (k = 0; k < KINDS; k++)
        for (cut = 0; cut < 2; cut++) {
            w.kind = (enum kind)k;
            snprintf(name, sizeof name, "%s %s", kinds[k].name, cut_names[cut]);
            if (argc < 3 || !strcmp(argv[2], name))
                row(&w, cut, path);
        }
    if (!w.rank)
        printf("\n%d bars missed\n", bars_missed);
    free(w.data);
    MPI_Finalize();
    return 0;
}
