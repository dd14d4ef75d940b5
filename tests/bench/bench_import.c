/* bench_import.c - HDF5 files, in and out, against HDF5's own tools.
 *
 * The commands are run as users run them.  import of a deflated file to zstd may not take
 * longer than h5repack to deflate 1; an export whose numbers HDF5 can hold as the container
 * has them may not take longer for their byte order, as it would if HDF5 turned them. */
/* SPDX-License-Identifier: MIT */
#include "bench.h"

#include <hdf5.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum { MIB = 512, ROWS = 8192, COLUMNS = MIB * 131072 / ROWS, CHUNK = 362 };
#define BYTES ((size_t)MIB << 20)

struct work {
    double *data;
    char chunked[64], small[64], plain[64], out[64], internal[64], external[64];
};

/* Runs a command to its end; it has to succeed. */
static void run(char *const argv[])
{
    pid_t child = fork();
    int status = 0;

    if (child == 0) {
        execvp(argv[0], argv);
        _exit(127);
    }
    bench_must(child > 0 && waitpid(child, &status, 0) == child && status == 0, argv[0]);
}

#define RUN(...) run((char *const[]){__VA_ARGS__, NULL})
#define DATAREP "build/release/datarep"

static void remove_out(void *ctx)
{
    struct work *w = ctx;

    unlink(w->out);
}

static void repack_gzip(void *ctx)
{
    struct work *w = ctx;

    RUN("h5repack", "-f", "GZIP=1", w->chunked, w->out);
}

static void repack_shuffled(void *ctx)
{
    struct work *w = ctx;

    RUN("h5repack", "-f", "SHUF", "-f", "GZIP=1", w->chunked, w->out);
}

static void import_zstd(void *ctx)
{
    struct work *w = ctx;

    RUN(DATAREP, "import", "-f", "--filters=shuffle,zstd", w->chunked, w->out);
}

static void import_external(void *ctx)
{
    struct work *w = ctx;

    RUN(DATAREP, "import", "-f", "--filters=shuffle,zstd", "--datarep=external32", w->chunked,
        w->out);
}

static void import_as_is(void *ctx)
{
    struct work *w = ctx;

    RUN(DATAREP, "import", "-f", w->chunked, w->out);
}

static void copy(void *ctx)
{
    struct work *w = ctx;

    RUN("cp", w->plain, w->out);
}

static void export_internal(void *ctx)
{
    struct work *w = ctx;

    RUN(DATAREP, "export", "-f", "--format=hdf5", w->internal, w->out);
}

static void export_external(void *ctx)
{
    struct work *w = ctx;

    RUN(DATAREP, "export", "-f", "--format=hdf5", w->external, w->out);
}

static void import_plain(void *ctx)
{
    struct work *w = ctx;

    RUN(DATAREP, "import", "-f", w->plain, w->out);
}

/* One dataset of big- or little-endian doubles; chunk 0: in one piece. */
static void write_h5(const struct work *w, const char *path, hid_t type, hsize_t chunk)
{
    hsize_t dims[2] = {ROWS, COLUMNS}, chunks[2] = {chunk, chunk};
    hid_t f = H5Fcreate(path, H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
    hid_t s = H5Screate_simple(2, dims, NULL), p = H5Pcreate(H5P_DATASET_CREATE), d;

    if (chunk) {
        H5Pset_chunk(p, 2, chunks);
        H5Pset_shuffle(p);
        H5Pset_deflate(p, 1);
    }
    d = H5Dcreate2(f, "x", type, s, H5P_DEFAULT, p, H5P_DEFAULT);
    bench_must(H5Dwrite(d, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, w->data) >= 0,
               "H5Dwrite");
    H5Dclose(d);
    H5Sclose(s);
    H5Pclose(p);
    bench_must(H5Fclose(f) >= 0, "H5Fclose");
}

/* What it costs where HDF5 turns the bytes. */
static void convert_in_hdf5(void *ctx)
{
    struct work *w = ctx;

    write_h5(w, w->out, H5T_IEEE_F64BE, 0);
}

static int chunked(struct work *w)
{
    const struct bench_entry e[] = {
        {"h5repack -f GZIP=1", remove_out, repack_gzip, 0},
        {"h5repack -f SHUF -f GZIP=1", remove_out, repack_shuffled, 0},
        {"datarep import to shuffle, zstd", remove_out, import_zstd, 1},
        {"datarep import, external32", remove_out, import_external, 1},
        {"datarep import, filters kept", remove_out, import_as_is, 0},
    };
    struct stat st;

    write_h5(w, w->chunked, H5T_IEEE_F64LE, CHUNK);
    bench_must(stat(w->chunked, &st) == 0, w->chunked);
    printf("512 MiB of doubles, shuffled and deflated to %.0f MiB, chunks of 1 MiB\n",
           (double)st.st_size / 1048576);
    /* h5repack takes ten seconds and more: two rounds, the first to warm up. */
    return bench_row("import of a chunked, deflated HDF5 file", BYTES, 1, e, sizeof e / sizeof *e,
                     w);
}

static int contiguous(struct work *w)
{
    const struct bench_entry e[] = {
        {"datarep export of internal (little-endian)", remove_out, export_internal, 0},
        {"datarep export of external32 (big-endian)", remove_out, export_external, 0.8},
        {"HDF5 writes as big-endian, from memory", remove_out, convert_in_hdf5, 0},
        {"datarep import", remove_out, import_plain, 0},
        {"cp", remove_out, copy, 0},
    };

    write_h5(w, w->plain, H5T_IEEE_F64LE, 0);
    RUN(DATAREP, "import", "-f", w->plain, w->internal);
    RUN(DATAREP, "import", "-f", "--datarep=external32", w->plain, w->external);
    return bench_row("512 MiB in one piece: bytes are copied, not turned", BYTES, 3, e,
                     sizeof e / sizeof *e, w);
}

/* 5,000 datasets of 10 doubles with 3 attributes each, in 50 groups. */
static void write_small(const struct work *w)
{
    hsize_t ten = 10;
    hid_t f = H5Fcreate(w->small, H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT), g = 0, d, a;
    hid_t line = H5Screate_simple(1, &ten, NULL), one = H5Screate(H5S_SCALAR);
    char text[24];

    for (int i = 0; i < 5000; i++) {
        snprintf(text, sizeof text, i % 100 ? "d%d" : "g%d", i % 100 ? i : i / 100);
        if (i % 100 == 0) {
            if (g)
                H5Gclose(g);
            g = H5Gcreate2(f, text, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
        }
        d = H5Dcreate2(g, i % 100 ? text : "d", H5T_IEEE_F64LE, line, H5P_DEFAULT, H5P_DEFAULT,
                       H5P_DEFAULT);
        bench_must(H5Dwrite(d, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, w->data + i) >= 0,
                   "H5Dwrite");
        for (int k = 0; k < 3; k++) {
            snprintf(text, sizeof text, "a%d", k);
            a = H5Acreate2(d, text, H5T_IEEE_F64LE, one, H5P_DEFAULT, H5P_DEFAULT);
            bench_must(H5Awrite(a, H5T_NATIVE_DOUBLE, w->data + k) >= 0, "H5Awrite");
            H5Aclose(a);
        }
        H5Dclose(d);
    }
    H5Gclose(g);
    H5Sclose(line);
    H5Sclose(one);
    bench_must(H5Fclose(f) >= 0, "H5Fclose");
}

static void repack_small(void *ctx)
{
    struct work *w = ctx;

    RUN("h5repack", w->small, w->out);
}

static void import_small(void *ctx)
{
    struct work *w = ctx;

    RUN(DATAREP, "import", "-f", w->small, w->out);
}

static void export_small(void *ctx)
{
    struct work *w = ctx;

    RUN(DATAREP, "export", "-f", "--format=hdf5", w->internal, w->out);
}

static int small(struct work *w)
{
    const struct bench_entry e[] = {
        {"h5repack", remove_out, repack_small, 0},
        {"datarep import", remove_out, import_small, 1 / 1.2},
        {"datarep export, read back", remove_out, export_small, 1 / 2.0},
    };

    write_small(w);
    RUN(DATAREP, "import", "-f", w->small, w->internal);
    return bench_row("5,000 datasets of 10 doubles, 15,000 attributes", 0, 5, e,
                     sizeof e / sizeof *e, w);
}

static void name(char *path, size_t size, const char *what)
{
    snprintf(path, size, "%s/bench-%d-%s", bench_dir(), (int)getpid(), what);
}

/* Takes a minute and a half; `chunked`, `contiguous` or `small` as an argument: only that row. */
int main(int argc, char **argv)
{
    struct work w = {0};
    int missed = 0;

    name(w.chunked, sizeof w.chunked, "chunked.h5");
    name(w.small, sizeof w.small, "small.h5");
    name(w.plain, sizeof w.plain, "plain.h5");
    name(w.out, sizeof w.out, "out");
    name(w.internal, sizeof w.internal, "internal.drep");
    name(w.external, sizeof w.external, "external.drep");
    w.data = malloc(BYTES);
    bench_must(w.data != NULL, "memory");
    bench_field(w.data, ROWS, COLUMNS, 5);
    printf("median times, ratio to the first, least ratio; whole commands\n");
    fflush(stdout);
    if (bench_wanted(argc, argv, "chunked"))
        missed += chunked(&w);
    unlink(w.chunked);
    unlink(w.out);
    if (bench_wanted(argc, argv, "contiguous"))
        missed += contiguous(&w);
    unlink(w.out);
    if (bench_wanted(argc, argv, "small"))
        missed += small(&w);
    unlink(w.small);
    unlink(w.plain);
    unlink(w.out);
    unlink(w.internal);
    unlink(w.external);
    free(w.data);
    printf("bars missed: %d\n", missed);
    return 0;
}
