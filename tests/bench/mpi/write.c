/* write.c - ranks write 512 MiB of doubles together: this library, parallel HDF5, and the raw
 * limit.
 *
 * Usage: mpiexec -n 2 write DIRECTORY [ROW]     e.g. "native rows"
 *
 * An array of 8192 x 8192 in chunks of 256 x 256; each rank has rows or columns of it.  The limit
 * is one pwrite of each rank's bytes to its own half of a file, with XXH3 of every 4 KiB.  Each
 * round runs all three in turn; figures are the medians of 5 rounds, from a barrier until the last
 * rank has closed the file. */
/* SPDX-License-Identifier: MIT */
#include <datarep-mpi.h>
#include <hdf5.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { SIDE = 8192, CHUNK = 256, ROUNDS = 5, LEVEL = 6, BLOCK = 4096 };

enum kind { NATIVE, EXTERNAL32, DEFLATE, KINDS };
static const char *const kind_names[] = {"native", "external32", "deflate"};
static const char *const cut_names[] = {"rows", "columns"};

struct work {
    const char *path;
    enum kind kind;
    int64_t start[2], count[2];
    double *data;
    int rank, ranks;
};

static void must(int ok, const char *what)
{
    if (ok)
        return;
    fprintf(stderr, "%s failed: %s\n", what, drep_error());
    MPI_Abort(MPI_COMM_WORLD, 1);
}

static void run_raw(const struct work *w)
{
    const char *p = (const char *)w->data;
    size_t size = (size_t)(w->count[0] * w->count[1]) * sizeof(double), at;
    uint64_t *sums = malloc(size / BLOCK * sizeof *sums);
    int fd = open(w->path, O_CREAT | O_WRONLY, 0666);

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

static void run_ours(const struct work *w)
{
    const int64_t dims[2] = {SIDE, SIDE}, chunk[2] = {CHUNK, CHUNK};
    const drep_filter filter = {.id = DREP_FILTER_DEFLATE, .level = LEVEL};
    drep_spec spec = DREP_SPEC(.type = DREP_DOUBLE, .rank = 2, .dims = dims, .layout = DREP_CHUNKED,
                               .chunk = chunk);
    drep_dataset *ds;
    drep_file *file;

    if (w->kind == DEFLATE) {
        spec.filters = &filter;
        spec.nfilters = 1;
    }
    must(!drep_mpi_create(MPI_COMM_WORLD, w->path, DREP_RDWR,
                          w->kind == EXTERNAL32 ? "external32" : "native", NULL, &file),
         "drep_mpi_create");
    must(!drep_dataset_create(file, "/x", &spec, &ds), "drep_dataset_create");
    must(!drep_write_box(ds, w->start, w->count, DREP_DOUBLE, w->data, &DREP_XFER(.collective = 1)),
         "drep_write_box");
    drep_dataset_close(ds);
    must(!drep_close(file), "drep_close");
}

static void run_hdf5(const struct work *w)
{
    hsize_t dims[2] = {SIDE, SIDE}, chunk[2] = {CHUNK, CHUNK};
    hsize_t start[2] = {(hsize_t)w->start[0], (hsize_t)w->start[1]};
    hsize_t count[2] = {(hsize_t)w->count[0], (hsize_t)w->count[1]};
    hid_t fapl = H5Pcreate(H5P_FILE_ACCESS), dcpl = H5Pcreate(H5P_DATASET_CREATE);
    hid_t dxpl = H5Pcreate(H5P_DATASET_XFER), space = H5Screate_simple(2, dims, NULL);
    hid_t memory = H5Screate_simple(2, count, NULL), file, ds;

    H5Pset_fapl_mpio(fapl, MPI_COMM_WORLD, MPI_INFO_NULL);
    H5Pset_libver_bounds(fapl, H5F_LIBVER_LATEST, H5F_LIBVER_LATEST);
    H5Pset_chunk(dcpl, 2, chunk);
    H5Pset_fill_time(dcpl, H5D_FILL_TIME_NEVER);
    if (w->kind == DEFLATE)
        H5Pset_deflate(dcpl, LEVEL);
    H5Pset_dxpl_mpio(dxpl, H5FD_MPIO_COLLECTIVE);
    file = H5Fcreate(w->path, H5F_ACC_TRUNC, H5P_DEFAULT, fapl);
    ds = H5Dcreate2(file, "x", w->kind == EXTERNAL32 ? H5T_IEEE_F64BE : H5T_NATIVE_DOUBLE, space,
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

typedef void run_fn(const struct work *w);
static run_fn *const runs[] = {run_raw, run_ours, run_hdf5};
enum { RUNS = 3 };

/* A smooth field with noise in steps of an instrument: deflate finds something, but not much. */
static void fill(struct work *w)
{
    uint64_t state = 1 + (uint64_t)w->rank;
    int64_t i, j;

    for (i = 0; i < w->count[0]; i++)
        for (j = 0; j < w->count[1]; j++) {
            state = state * 6364136223846793005u + 1442695040888963407u;
            w->data[i * w->count[1] + j] =
                (double)(((w->start[0] + i) * 3 + (w->start[1] + j) * 2) / 64 +
                         (int64_t)(state >> 61)) /
                128;
        }
}

static double timed(run_fn *run, const struct work *w)
{
    double begin, own, longest;

    if (!w->rank)
        unlink(w->path);
    MPI_Barrier(MPI_COMM_WORLD);
    begin = MPI_Wtime();
    run(w);
    own = MPI_Wtime() - begin;
    MPI_Allreduce(&own, &longest, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    return longest;
}

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

static void row(struct work *w, int cut)
{
    double time[RUNS][ROUNDS], m[RUNS];
    int64_t part = SIDE / w->ranks;
    int round, k;

    w->start[cut] = part * w->rank;
    w->count[cut] = part;
    w->start[!cut] = 0;
    w->count[!cut] = SIDE;
    fill(w);
    for (round = 0; round < ROUNDS; round++)
        for (k = 0; k < RUNS; k++)
            time[k][round] = timed(runs[k], w);
    for (k = 0; k < RUNS; k++) {
        qsort(time[k], ROUNDS, sizeof(double), by_value);
        m[k] = time[k][ROUNDS / 2];
    }
    if (!w->rank)
        printf("| %s | %s | %.3f | %.3f | %.3f | %.2f | %.2f |\n", kind_names[w->kind],
               cut_names[cut], m[0], m[1], m[2], m[1] / m[2], m[0] / m[2]);
    fflush(stdout);
}

int main(int argc, char **argv)
{
    struct work w = {0};
    char path[4096], name[64];
    int cut;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &w.rank);
    MPI_Comm_size(MPI_COMM_WORLD, &w.ranks);
    if (argc < 2 || SIDE % w.ranks)
        MPI_Abort(MPI_COMM_WORLD, 2);
    snprintf(path, sizeof path, "%s/bench-mpi.tmp", argv[1]);
    w.path = path;
    w.data = malloc(sizeof(double) * SIDE * (size_t)(SIDE / w.ranks));
    must(w.data != NULL, "malloc");
    if (!w.rank)
        printf("| %d ranks | | raw, s | ours, s | HDF5, s | ours / HDF5 | raw / HDF5 |\n"
               "|---|---|---|---|---|---|---|\n",
               w.ranks);
    for (w.kind = 0; w.kind < KINDS; w.kind++)
        for (cut = 0; cut < 2; cut++) {
            snprintf(name, sizeof name, "%s %s", kind_names[w.kind], cut_names[cut]);
            if (argc < 3 || !strcmp(argv[2], name))
                row(&w, cut);
        }
    if (!w.rank)
        unlink(path);
    free(w.data);
    MPI_Finalize();
    return 0;
}
