/* bench_writers.c - processes without MPI that write regions of one file, each when it is its turn.
 *
 * Every process opens the file, waiting for the others, writes a region, commits, closes, and does
 * it again.  They start at once; a row says how long all of them take, and how much later the last
 * one ends than the first: with the same work for each, who is held off shows there.  HDF5 waits in
 * flock() for a file beside its own; a file for each chunk is what a directory of zarr has, which
 * locks nothing and needs regions that are whole chunks.  After each run everything is compared. */
/* SPDX-License-Identifier: MIT */
#include "bench.h"

#include <datarep.h>
#include <fcntl.h>
#include <hdf5.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum { PROCESSES = 8, REGIONS = 100, ROWS = PROCESSES * REGIONS, WIDTH = 1024 };

struct work {
    char drep[96], h5[96], lock[96], dir[96];
    int shared;      /* regions of all processes lie in each chunk, which is compressed */
    double worst[3]; /* of each side: when the last process ended, as a multiple of the first */
};

typedef void region_fn(const struct work *w, int row, const double *v);

static double value_of(int row, int i)
{
    return row * 1.5 + i;
}

/* ---- Datarep ---- */

static void drep_make(void *ctx)
{
    struct work *w = ctx;
    const int64_t dims[2] = {ROWS, WIDTH}, chunk[2] = {w->shared ? PROCESSES : 1, WIDTH};
    const drep_filter lz4 = {.id = DREP_FILTER_LZ4};
    drep_spec spec = DREP_SPEC(.type = DREP_DOUBLE, .rank = 2, .dims = dims, .chunk = chunk,
                               .filters = w->shared ? &lz4 : NULL, .nfilters = w->shared);
    drep_file *file;

    unlink(w->drep);
    bench_must(drep_create(w->drep, DREP_RDWR, "native", NULL, &file) == 0, "drep_create");
    bench_must(drep_dataset_create(file, "/x", &spec, NULL) == 0, "drep_dataset_create");
    bench_must(drep_close(file) == 0, "drep_close");
}

static void drep_region(const struct work *w, int row, const double *v)
{
    const int64_t start[2] = {row, 0}, count[2] = {1, WIDTH};
    drep_info *info = NULL;
    drep_dataset *set;
    drep_file *file;

    bench_must(drep_info_new(&info) == 0 && drep_info_set(info, "drep_lock_wait", "600") == 0,
               "drep_info_set");
    bench_must(drep_open(w->drep, DREP_RDWR, info, &file) == 0, "drep_open");
    bench_must(drep_dataset_open(file, "/x", &set) == 0 &&
                   drep_write_box(set, start, count, NULL, v, NULL) == 0,
               "drep_write_box");
    drep_dataset_close(set);
    bench_must(drep_close(file) == 0, "drep_close");
    drep_info_free(info);
}

static void drep_all(const struct work *w, double *v)
{
    drep_dataset *set = NULL;
    drep_file *file;

    bench_must(drep_open(w->drep, DREP_RDONLY, NULL, &file) == 0 &&
                   drep_dataset_open(file, "/x", &set) == 0 &&
                   drep_read(set, NULL, NULL, v, NULL) == 0,
               "reading what was written");
    drep_dataset_close(set);
    bench_must(drep_close(file) == 0, "drep_close");
}

/* ---- HDF5 ---- */

static void h5_make(void *ctx)
{
    struct work *w = ctx;
    const hsize_t dims[2] = {ROWS, WIDTH}, chunk[2] = {w->shared ? PROCESSES : 1, WIDTH};
    hid_t file = H5Fcreate(w->h5, H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT), set;
    hid_t space = H5Screate_simple(2, dims, NULL), plist = H5Pcreate(H5P_DATASET_CREATE);

    H5Pset_chunk(plist, 2, chunk);
    if (w->shared)
        H5Pset_deflate(plist, 1);
    set = H5Dcreate2(file, "x", H5T_NATIVE_DOUBLE, space, H5P_DEFAULT, plist, H5P_DEFAULT);
    bench_must(set >= 0, "H5Dcreate2");
    H5Dclose(set);
    H5Pclose(plist);
    H5Sclose(space);
    bench_must(H5Fclose(file) >= 0, "H5Fclose");
}

static void h5_region(const struct work *w, int row, const double *v)
{
    const hsize_t start[2] = {(hsize_t)row, 0}, count[2] = {1, WIDTH};
    int lock = open(w->lock, O_RDWR | O_CREAT, 0600);
    hid_t file, set, space, mem;

    bench_must(lock >= 0 && flock(lock, LOCK_EX) == 0, "flock");
    file = H5Fopen(w->h5, H5F_ACC_RDWR, H5P_DEFAULT);
    set = H5Dopen2(file, "x", H5P_DEFAULT);
    space = H5Dget_space(set);
    mem = H5Screate_simple(2, count, NULL);
    H5Sselect_hyperslab(space, H5S_SELECT_SET, start, NULL, count, NULL);
    bench_must(H5Dwrite(set, H5T_NATIVE_DOUBLE, mem, space, H5P_DEFAULT, v) >= 0, "H5Dwrite");
    H5Sclose(mem);
    H5Sclose(space);
    H5Dclose(set);
    bench_must(H5Fclose(file) >= 0, "H5Fclose");
    close(lock);
}

static void h5_all(const struct work *w, double *v)
{
    hid_t file = H5Fopen(w->h5, H5F_ACC_RDONLY, H5P_DEFAULT),
          set = H5Dopen2(file, "x", H5P_DEFAULT);

    bench_must(H5Dread(set, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, v) >= 0, "H5Dread");
    H5Dclose(set);
    H5Fclose(file);
}

/* ---- a file for each chunk ---- */

static void name_chunk(const struct work *w, int row, char path[128])
{
    snprintf(path, 128, "%s/%d.0", w->dir, row);
}

static void chunks_make(void *ctx)
{
    struct work *w = ctx;
    char path[128];

    mkdir(w->dir, 0700);
    for (int row = 0; row < ROWS; row++) {
        name_chunk(w, row, path);
        unlink(path);
    }
}

static void chunks_region(const struct work *w, int row, const double *v)
{
    char path[128], made[140];
    int fd;

    name_chunk(w, row, path);
    snprintf(made, sizeof made, "%s.part", path);
    fd = open(made, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    bench_must(fd >= 0 && write(fd, v, WIDTH * sizeof *v) == (ssize_t)(WIDTH * sizeof *v), "write");
    close(fd);
    bench_must(rename(made, path) == 0, "rename");
}

static void chunks_all(const struct work *w, double *v)
{
    char path[128];

    for (int row = 0; row < ROWS; row++) {
        int fd;

        name_chunk(w, row, path);
        fd = open(path, O_RDONLY);
        bench_must(fd >= 0 && read(fd, v + (size_t)row * WIDTH, WIDTH * sizeof *v) > 0, "read");
        close(fd);
    }
}

/* ---- processes ---- */

/* Of each eight rows a process has one. */
static void regions(const struct work *w, int process, region_fn *region)
{
    double v[WIDTH];

    for (int r = 0; r < REGIONS; r++) {
        int row = r * PROCESSES + process;

        for (int i = 0; i < WIDTH; i++)
            v[i] = value_of(row, i);
        region(w, row, v);
    }
}

static void compare(const double *v)
{
    for (int row = 0; row < ROWS; row++)
        for (int i = 0; i < WIDTH; i++)
            bench_must(v[(size_t)row * WIDTH + (size_t)i] == value_of(row, i), "finding a region");
}

static void run(struct work *w, int side, region_fn *region)
{
    double begin, first = 0, spread;
    int go[2], status;
    char c;

    bench_must(pipe(go) == 0, "pipe");
    fflush(stdout);
    for (int p = 0; p < PROCESSES; p++) {
        pid_t pid = fork();

        bench_must(pid >= 0, "fork");
        if (pid > 0)
            continue;
        close(go[1]);
        if (read(go[0], &c, 1) == 0)
            regions(w, p, region);
        _exit(0);
    }
    begin = bench_now();
    close(go[0]);
    close(go[1]);
    for (int p = 0; p < PROCESSES; p++) {
        bench_must(wait(&status) > 0 && status == 0, "a process");
        if (p == 0)
            first = bench_now() - begin;
    }
    spread = (bench_now() - begin) / first;
    w->worst[side] = spread > w->worst[side] ? spread : w->worst[side];
}

static void run_drep(void *ctx)
{
    run(ctx, 0, drep_region);
}

static void run_h5(void *ctx)
{
    run(ctx, 1, h5_region);
}

static void run_chunks(void *ctx)
{
    run(ctx, 2, chunks_region);
}

/* What each side wrote last. */
static void verify(struct work *w, int n)
{
    void (*const all[])(const struct work *, double *) = {drep_all, h5_all, chunks_all};
    double *v = calloc((size_t)ROWS * WIDTH, sizeof *v);

    bench_must(v != NULL, "memory");
    for (int i = 0; i < n; i++) {
        memset(v, 0, (size_t)ROWS * WIDTH * sizeof *v);
        all[i](w, v);
        compare(v);
    }
    free(v);
}

static int row(struct work *w, const char *title, int shared)
{
    const struct bench_entry e[] = {{"datarep", drep_make, run_drep, 0},
                                    {"HDF5, flock", h5_make, run_h5, shared},
                                    {"a file for each chunk", chunks_make, run_chunks, 0}};
    int n = shared ? 2 : 3, missed;

    w->shared = shared;
    memset(w->worst, 0, sizeof w->worst);
    missed = bench_versus(title, 7, e, n, w);
    verify(w, n);
    printf(
        "  nothing lost; the slowest process took %.2f times as long as the fastest, in the worst "
        "run: at most 2.00 %s; HDF5's %.2f\n",
        w->worst[0], w->worst[0] <= 2 ? "met" : "MISSED", w->worst[1]);
    return missed + (w->worst[0] > 2);
}

static void remove_all(const struct work *w)
{
    char path[128];

    unlink(w->drep);
    unlink(w->h5);
    unlink(w->lock);
    for (int i = 0; i < ROWS; i++) {
        name_chunk(w, i, path);
        unlink(path);
    }
    rmdir(w->dir);
}

int main(int argc, char **argv)
{
    struct work w = {.shared = 0};
    int missed = 0;

    snprintf(w.drep, sizeof w.drep, "%s/writers-%d.drep", bench_dir(), (int)getpid());
    snprintf(w.h5, sizeof w.h5, "%s/writers-%d.h5", bench_dir(), (int)getpid());
    snprintf(w.lock, sizeof w.lock, "%s/writers-%d.lock", bench_dir(), (int)getpid());
    snprintf(w.dir, sizeof w.dir, "%s/writers-%d.d", bench_dir(), (int)getpid());
    printf("%d processes, %d regions each; median times, times faster than each peer\n", PROCESSES,
           REGIONS);
    if (bench_wanted(argc, argv, "own"))
        missed += row(&w, "8 writers x 100 regions, chunks of their own", 0);
    if (bench_wanted(argc, argv, "shared"))
        missed += row(&w, "8 writers x 100 regions in shared chunks", 1);
    remove_all(&w);
    printf("bars missed: %d\n", missed);
    return 0;
}
