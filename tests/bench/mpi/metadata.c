/* metadata.c - ranks make 1,000 datasets with 2 attributes each: this library, and parallel HDF5.
 *
 * Usage: mpiexec -n 4 bench-metadata DIRECTORY
 *
 * HDF5 wants all ranks to make each object together.  Here each rank makes the objects that are its
 * own, which come together at the close; or all ranks make all.  In brackets are the bars. */
/* SPDX-License-Identifier: MIT */
#include "bench.h"

#include <datarep-mpi.h>
#include <hdf5.h>

#include <stdio.h>

enum { DATASETS = 1000, LENGTH = 1000, ROUNDS = 5 };

struct work {
    int rank, ranks;
};

/* Make every `step`-th dataset from number `first` on. */
static void make(const char *path, int first, int step)
{
    const int64_t dims[1] = {LENGTH};
    const drep_spec spec =
        DREP_SPEC(.type = DREP_DOUBLE, .rank = 1, .dims = dims, .layout = DREP_CONTIGUOUS);
    drep_file *file;
    char name[40];
    int i;

    must(!drep_mpi_create(MPI_COMM_WORLD, path, DREP_RDWR, "native", NULL, &file),
         "drep_mpi_create");
    must(!drep_group_create(file, "/g", 0), "drep_group_create");
    for (i = first; i < DATASETS; i += step) {
        snprintf(name, sizeof name, "/g/d%d", i);
        must(!drep_dataset_create(file, name, &spec, NULL), "drep_dataset_create");
        must(!drep_attr_write_double(file, name, "scale", i), "drep_attr_write_double");
        must(!drep_attr_write_int64(file, name, "number", i), "drep_attr_write_int64");
    }
    must(!drep_close(file), "drep_close");
}

static void run_own(void *ctx, const char *path)
{
    const struct work *w = ctx;

    make(path, w->rank, w->ranks);
}

static void run_alike(void *ctx, const char *path)
{
    (void)ctx;
    make(path, 0, 1);
}

static void attribute(hid_t ds, hid_t scalar, const char *name, hid_t type, const void *value)
{
    hid_t a = H5Acreate2(ds, name, type, scalar, H5P_DEFAULT, H5P_DEFAULT);

    must(a >= 0 && H5Awrite(a, type, value) >= 0, "H5Awrite");
    H5Aclose(a);
}

static void run_hdf5(void *ctx, const char *path)
{
    hsize_t dims[1] = {LENGTH};
    hid_t fapl = H5Pcreate(H5P_FILE_ACCESS), dcpl = H5Pcreate(H5P_DATASET_CREATE);
    hid_t space = H5Screate_simple(1, dims, NULL), scalar = H5Screate(H5S_SCALAR), file, group, ds;
    char name[40];
    int i;

    (void)ctx;
    H5Pset_fapl_mpio(fapl, MPI_COMM_WORLD, MPI_INFO_NULL);
    H5Pset_libver_bounds(fapl, H5F_LIBVER_LATEST, H5F_LIBVER_LATEST);
    H5Pset_coll_metadata_write(fapl, 1);
    H5Pset_fill_time(dcpl, H5D_FILL_TIME_NEVER);
    file = H5Fcreate(path, H5F_ACC_TRUNC, H5P_DEFAULT, fapl);
    group = H5Gcreate2(file, "g", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    for (i = 0; i < DATASETS; i++) {
        double scale = i;
        long long number = i;

        snprintf(name, sizeof name, "d%d", i);
        ds = H5Dcreate2(group, name, H5T_NATIVE_DOUBLE, space, H5P_DEFAULT, dcpl, H5P_DEFAULT);
        must(ds >= 0, "H5Dcreate2");
        attribute(ds, scalar, "scale", H5T_NATIVE_DOUBLE, &scale);
        attribute(ds, scalar, "number", H5T_NATIVE_LLONG, &number);
        H5Dclose(ds);
    }
    H5Gclose(group);
    H5Fclose(file);
    H5Sclose(space);
    H5Sclose(scalar);
    H5Pclose(dcpl);
    H5Pclose(fapl);
}

enum { OWN, ALIKE, HDF5, SIDES };
static const struct side sides[SIDES] = {
    {"own", run_own}, {"alike", run_alike}, {"HDF5", run_hdf5}};

static void show(const char *name, const struct cost *ours, const struct cost *hdf5)
{
    printf("| %s | %.4f | %.4f |", name, ours->wall, hdf5->wall);
    cell_with_bar(ours->wall / hdf5->wall, 0.1);
    cell(ours->cpu / hdf5->cpu);
    printf("\n");
}

int main(int argc, char **argv)
{
    struct cost cost[SIDES];
    struct work w = {0};
    char path[4096];

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &w.rank);
    MPI_Comm_size(MPI_COMM_WORLD, &w.ranks);
    if (argc < 2)
        MPI_Abort(MPI_COMM_WORLD, 2);
    snprintf(path, sizeof path, "%s/bench-mpi.tmp", argv[1]);
    bench(sides, SIDES, ROUNDS, 1, &w, path, cost);
    if (!w.rank) {
        printf("| metadata, %d ranks | ours, s | HDF5, s | ours / HDF5 | CPU, ours / HDF5 |\n"
               "|---|---|---|---|---|\n",
               w.ranks);
        show("each its own", &cost[OWN], &cost[HDF5]);
        show("all alike", &cost[ALIKE], &cost[HDF5]);
        printf("\n%d bars missed\n", bars_missed);
    }
    MPI_Finalize();
    return 0;
}
