/* read.c - ranks read 512 MiB of doubles together: this library and parallel HDF5.
 *
 * Usage: mpiexec -n 2 bench-read DIRECTORY [ROW]     e.g. "native rows"
 *
 * An array of 8192 x 8192 in chunks of 256 x 256; each rank has rows or columns of it, or every
 * so many rows, so that all ranks want each chunk ("cycle").  HDF5 has no zstd of its own: that row
 * is held against its shuffle and deflate.  In brackets is the bar. */
/* SPDX-License-Identifier: MIT */
#include "bench.h"

#include <datarep-mpi.h>
#include <hdf5.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { SIDE = 8192, CHUNK = 256, ROUNDS = 5 };

enum kind { NATIVE, EXTERNAL32, CONTIGUOUS, CONTIGUOUS32, DEFLATE, ZSTD, KINDS };
static const char *const kind_names[] = {
    "native", "external32", "contiguous native", "contiguous external32", "deflate 1", "zstd 3"};
enum cut { ROWS, COLUMNS, CYCLE, CUTS };
static const char *const cut_names[] = {"rows", "columns", "cycle"};

struct work {
    enum kind kind;
    int64_t start[2], count[2], stride[2];
    double *data;
    int rank, ranks;
};

static int is_contiguous(enum kind kind)
{
    return kind == CONTIGUOUS || kind == CONTIGUOUS32;
}

static int is_big_endian(enum kind kind)
{
    return kind == EXTERNAL32 || kind == CONTIGUOUS32;
}

/* ---- the files ---- */

/* A smooth field with noise in steps of an instrument: deflate finds something, but not much. */
static double value_at(int64_t y, int64_t x)
{
    uint64_t noise = ((uint64_t)y * SIDE + (uint64_t)x) * 0x9e3779b97f4a7c15u;

    noise ^= noise >> 29;
    noise *= 0xbf58476d1ce4e5b9u;
    return (double)((y * 3 + x * 2) / 64 + (int64_t)(noise >> 61)) / 128;
}

static void write_ours(const void *ctx, const char *path)
{
    const struct work *w = ctx;
    const int64_t dims[2] = {SIDE, SIDE}, chunk[2] = {CHUNK, CHUNK};
    drep_filter filters[2] = {{.id = DREP_FILTER_SHUFFLE}, {.id = DREP_FILTER_DEFLATE, .level = 1}};
    drep_spec spec = DREP_SPEC(.type = DREP_DOUBLE, .rank = 2, .dims = dims, .layout = DREP_CHUNKED,
                               .chunk = chunk);
    drep_selection *sel;
    drep_dataset *ds;
    drep_file *file;

    if (is_contiguous(w->kind)) {
        spec.layout = DREP_CONTIGUOUS;
        spec.chunk = NULL;
    }
    if (w->kind == ZSTD)
        filters[1] = (drep_filter){.id = DREP_FILTER_ZSTD, .level = 3};
    if (w->kind >= DEFLATE) {
        spec.filters = filters;
        spec.nfilters = 2;
    }
    must(!drep_mpi_create(MPI_COMM_WORLD, path, DREP_RDWR,
                          is_big_endian(w->kind) ? "external32" : "native", NULL, &file),
         "drep_mpi_create");
    must(!drep_dataset_create(file, "/x", &spec, &ds), "drep_dataset_create");
    must(!drep_select_box(2, w->start, w->count, w->stride, NULL, &sel), "drep_select_box");
    must(!drep_write(ds, sel, DREP_DOUBLE, w->data, &DREP_XFER(.collective = 1)), "drep_write");
    drep_selection_free(sel);
    drep_dataset_close(ds);
    must(!drep_close(file), "drep_close");
}

/* The file and memory of a rank's part. */
static void spaces(const struct work *w, hid_t *space, hid_t *memory)
{
    hsize_t dims[2] = {SIDE, SIDE}, start[2], count[2], stride[2];

    for (int d = 0; d < 2; d++) {
        start[d] = (hsize_t)w->start[d];
        count[d] = (hsize_t)w->count[d];
        stride[d] = (hsize_t)w->stride[d];
    }
    *space = H5Screate_simple(2, dims, NULL);
    *memory = H5Screate_simple(2, count, NULL);
    H5Sselect_hyperslab(*space, H5S_SELECT_SET, start, stride, count, NULL);
}

static hid_t with_mpi(hid_t cls)
{
    hid_t p = H5Pcreate(cls);

    if (cls == H5P_FILE_ACCESS) {
        H5Pset_fapl_mpio(p, MPI_COMM_WORLD, MPI_INFO_NULL);
        H5Pset_libver_bounds(p, H5F_LIBVER_LATEST, H5F_LIBVER_LATEST);
    } else {
        H5Pset_dxpl_mpio(p, H5FD_MPIO_COLLECTIVE);
    }
    return p;
}

static void write_theirs(const void *ctx, const char *path)
{
    const struct work *w = ctx;
    hsize_t chunk[2] = {CHUNK, CHUNK};
    hid_t fapl = with_mpi(H5P_FILE_ACCESS), dxpl = with_mpi(H5P_DATASET_XFER);
    hid_t dcpl = H5Pcreate(H5P_DATASET_CREATE), space, memory, file, ds;

    spaces(w, &space, &memory);
    if (!is_contiguous(w->kind))
        H5Pset_chunk(dcpl, 2, chunk);
    H5Pset_fill_time(dcpl, H5D_FILL_TIME_NEVER);
    if (w->kind >= DEFLATE) {
        H5Pset_shuffle(dcpl);
        H5Pset_deflate(dcpl, 1);
    }
    file = H5Fcreate(path, H5F_ACC_TRUNC, H5P_DEFAULT, fapl);
    ds = H5Dcreate2(file, "x", is_big_endian(w->kind) ? H5T_IEEE_F64BE : H5T_NATIVE_DOUBLE, space,
                    H5P_DEFAULT, dcpl, H5P_DEFAULT);
    must(H5Dwrite(ds, H5T_NATIVE_DOUBLE, memory, space, dxpl, w->data) >= 0, "H5Dwrite");
    H5Dclose(ds);
    H5Fclose(file);
    H5Sclose(memory);
    H5Sclose(space);
    H5Pclose(dcpl);
    H5Pclose(dxpl);
    H5Pclose(fapl);
}

/* ---- the reads ---- */

static void read_ours(void *ctx, const char *path)
{
    const struct work *w = ctx;
    drep_selection *sel;
    drep_dataset *ds;
    drep_file *file;

    must(!drep_mpi_open(MPI_COMM_WORLD, path, DREP_RDONLY, NULL, &file), "drep_mpi_open");
    must(!drep_dataset_open(file, "/x", &ds), "drep_dataset_open");
    must(!drep_select_box(2, w->start, w->count, w->stride, NULL, &sel), "drep_select_box");
    must(!drep_read(ds, sel, DREP_DOUBLE, w->data, &DREP_XFER(.collective = 1)), "drep_read");
    drep_selection_free(sel);
    drep_dataset_close(ds);
    must(!drep_close(file), "drep_close");
}

static void read_theirs(void *ctx, const char *path)
{
    const struct work *w = ctx;
    hid_t fapl = with_mpi(H5P_FILE_ACCESS), dxpl = with_mpi(H5P_DATASET_XFER);
    hid_t space, memory, file, ds;

    spaces(w, &space, &memory);
    file = H5Fopen(path, H5F_ACC_RDONLY, fapl);
    ds = H5Dopen2(file, "x", H5P_DEFAULT);
    must(H5Dread(ds, H5T_NATIVE_DOUBLE, memory, space, dxpl, w->data) >= 0, "H5Dread");
    H5Dclose(ds);
    H5Fclose(file);
    H5Sclose(memory);
    H5Sclose(space);
    H5Pclose(dxpl);
    H5Pclose(fapl);
}

static const struct side sides[] = {{"ours", read_ours}, {"HDF5", read_theirs}};
enum { OURS, HDF5, SIDES };

/* ---- the rows ---- */

static void select_part(struct work *w, enum cut cut)
{
    int64_t part = SIDE / w->ranks;
    int d = cut == COLUMNS;

    for (int i = 0; i < 2; i++) {
        w->start[i] = 0;
        w->count[i] = SIDE;
        w->stride[i] = 1;
    }
    w->start[d] = cut == CYCLE ? w->rank : part * w->rank;
    w->stride[d] = cut == CYCLE ? w->ranks : 1;
    w->count[d] = part;
}

/* True if the library reads what was written. */
static int reads_well(struct work *w, const char *path)
{
    memset(w->data, 0, (size_t)(w->count[0] * w->count[1]) * sizeof *w->data);
    read_ours(w, path);
    for (int64_t i = 0; i < w->count[0]; i++)
        for (int64_t j = 0; j < w->count[1]; j++)
            if (w->data[i * w->count[1] + j] !=
                value_at(w->start[0] + i * w->stride[0], w->start[1] + j * w->stride[1]))
                return 0;
    return 1;
}

static void row(struct work *w, enum cut cut, const char *path)
{
    struct cost c[SIDES];
    char ours[4096], theirs[4096];

    snprintf(ours, sizeof ours, "%s.%d", path, OURS);
    snprintf(theirs, sizeof theirs, "%s.%d", path, HDF5);
    select_part(w, ROWS);
    for (int64_t i = 0; i < w->count[0]; i++)
        for (int64_t j = 0; j < w->count[1]; j++)
            w->data[i * w->count[1] + j] = value_at(w->start[0] + i, j);
    write_ours(w, ours);
    write_theirs(w, theirs);
    select_part(w, cut);
    must(reads_well(w, ours), "the comparison of elements");
    bench(sides, SIDES, ROUNDS, 0, w, path, c);
    if (w->rank)
        return;
    printf("| %s | %s | %.3f | %.3f |", kind_names[w->kind], cut_names[cut], c[OURS].wall,
           c[HDF5].wall);
    cell_with_bar(c[OURS].wall / c[HDF5].wall, w->kind == CONTIGUOUS32 ? 0.7 : 1);
    if (is_contiguous(w->kind))
        cell_with_bar(c[OURS].cpu / c[HDF5].cpu, 1);
    else
        cell(c[OURS].cpu / c[HDF5].cpu);
    printf(" %.0f | %.0f |\n", c[OURS].memory, c[HDF5].memory);
    fflush(stdout);
    unlink(ours);
    unlink(theirs);
}

int main(int argc, char **argv)
{
    struct work w = {0};
    char path[4000], name[64];

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &w.rank);
    MPI_Comm_size(MPI_COMM_WORLD, &w.ranks);
    if (argc < 2 || SIDE % w.ranks)
        MPI_Abort(MPI_COMM_WORLD, 2);
    snprintf(path, sizeof path, "%s/bench-mpi.tmp", argv[1]);
    w.data = malloc(sizeof(double) * SIDE * (size_t)(SIDE / w.ranks));
    must(w.data != NULL, "malloc");
    if (!w.rank)
        printf("| read, %d ranks | | ours, s | HDF5, s | ours / HDF5 | CPU, ours / HDF5 | memory a "
               "rank, ours, MiB | HDF5 |\n|---|---|---|---|---|---|---|---|\n",
               w.ranks);
    for (int kind = 0; kind < KINDS; kind++)
        for (int cut = 0; cut < CUTS; cut++) {
            w.kind = (enum kind)kind;
            snprintf(name, sizeof name, "%s %s", kind_names[kind], cut_names[cut]);
            if (argc < 3 || !strcmp(argv[2], name))
                row(&w, (enum cut)cut, path);
        }
    if (!w.rank)
        printf("\n%d bars missed\n", bars_missed);
    free(w.data);
    MPI_Finalize();
    return 0;
}
