/* bench_carry.c - HDF5 files whose chunks go over as they are stored, against h5repack, which
 * copies them: CPU time of whole commands.
 *
 * Import decodes each chunk once, to know that it can be: that may cost what libdeflate takes for
 * all of them, and 15 % more.
 *
 * Three files: large fields, shuffled and deflated; a small file that describes 2^31 elements; a
 * virtual dataset that is mostly holes. */
/* SPDX-License-Identifier: MIT */
#include "bench.h"

#include <hdf5.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#ifdef HAVE_DEFLATE
#include <libdeflate.h>
#endif

enum {
    TIMES = FIGURE(24, 10),
    ROWS = FIGURE(1024, 1500),
    COLUMNS = FIGURE(2048, 3000),
    RUNS = 5,
    SOURCES = 700,
    PART = 1000
};
#define MANY ((hsize_t)1 << 31)
#define DATAREP "build/release/datarep"

static char source[80], packed[80], out[80], values[80];

/* Seconds of CPU that a command takes, both as user and in the kernel. */
static double cost(char *const argv[])
{
    struct rusage used;
    int status = 0;
    pid_t child;

    unlink(out);
    child = fork();
    if (child == 0) {
        if (!freopen("/dev/null", "w", stderr))
            _exit(126);
        execvp(argv[0], argv);
        _exit(127);
    }
    bench_must(child > 0 && wait4(child, &status, 0, &used) == child && status == 0, argv[0]);
    return (double)(used.ru_utime.tv_sec + used.ru_stime.tv_sec) +
           1e-6 * (double)(used.ru_utime.tv_usec + used.ru_stime.tv_usec);
}

#define COST(...) cost((char *const[]){__VA_ARGS__, NULL})

#ifdef HAVE_DEFLATE
static double cpu_now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* Seconds of CPU in which libdeflate decodes all chunks of the source; 0: they are not deflated. */
static double decode_all(void)
{
    struct libdeflate_decompressor *inflate = libdeflate_alloc_decompressor();
    hid_t f = H5Fopen(source, H5F_ACC_RDONLY, H5P_DEFAULT), d = H5Dopen2(f, "x", H5P_DEFAULT);
    hid_t plist = H5Dget_create_plist(d), space = H5Dget_space(d), type = H5Dget_type(d);
    hsize_t chunk[3], at[3], n = 0, stored;
    size_t size = H5Tget_size(type), got;
    double seconds = 0, begin;
    uint8_t *in, *to;
    haddr_t address;
    unsigned mask;
    uint32_t skipped;

    if (H5Pget_layout(plist) == H5D_CHUNKED && H5Dget_num_chunks(d, space, &n) >= 0)
        for (int k = H5Pget_chunk(plist, 3, chunk); k-- > 0;)
            size *= chunk[k];
    in = malloc(2 * size);
    to = malloc(size);
    bench_must(in && to && inflate, "memory");
    for (hsize_t i = 0; i < n; i++) {
        H5Dget_chunk_info(d, space, i, at, &mask, &address, &stored);
        bench_must(stored <= 2 * size && H5Dread_chunk(d, H5P_DEFAULT, at, &skipped, in) >= 0,
                   "H5Dread_chunk");
        begin = cpu_now();
        bench_must(libdeflate_zlib_decompress(inflate, in, stored, to, size, &got) == 0, "inflate");
        seconds += cpu_now() - begin;
    }
    free(in);
    free(to);
    libdeflate_free_decompressor(inflate);
    H5Tclose(type);
    H5Sclose(space);
    H5Pclose(plist);
    H5Dclose(d);
    H5Fclose(f);
    return seconds;
}
#else
static double decode_all(void)
{
    return 0;
}
#endif

enum { REPACK, UNDECODED, DECODE, IMPORT, EXPORT, VERIFIED, ENTRIES };

static double one_run(int entry)
{
    switch (entry) {
    case REPACK:
        return COST("h5repack", source, out);
    case UNDECODED:
        return COST(DATAREP, "import", "-f", "--external", "--no-decode", source, out);
    case DECODE:
        return decode_all();
    case IMPORT:
        return COST(DATAREP, "import", "-f", "--external", source, out);
    case EXPORT:
        return COST(DATAREP, "export", "-f", "--format=hdf5", "--no-verify", packed, out);
    default:
        return COST(DATAREP, "export", "-f", "--format=hdf5", packed, out);
    }
}

/* Rounds of all commands in turn; the number of bars missed.  bar 0: there is none. */
static int compare(const char *title, double import_bar, double export_bar, double verified_bar)
{
    static const char *const names[] = {
        "h5repack",       "datarep import --no-decode", "libdeflate decodes all chunks",
        "datarep import", "datarep export --no-verify", "datarep export"};
    const double bars[] = {0, import_bar, 0, 1.15, export_bar, verified_bar};
    double t[ENTRIES][RUNS], median[ENTRIES], base;
    int missed = 0, runs = bench_rounds(RUNS);
    struct stat st;

    bench_must(runs <= RUNS, "BENCH_ROUNDS");
    bench_must(stat(source, &st) == 0, source);
    unlink(packed);
    COST(DATAREP, "import", "-f", "--external", source, packed);
    for (int i = 0; i < runs; i++)
        for (int k = 0; k < ENTRIES; k++)
            t[k][i] = bench_skipped(names[k]) ? 0 : one_run(k);
    printf("%s (%.1f MB)\n", title, (double)st.st_size / 1e6);
    for (int k = 0; k < ENTRIES; k++) {
        int over;

        median[k] = bench_median(t[k], runs);
        bench_record(title, names[k], median[k]);
        base = k == IMPORT ? median[UNDECODED] + median[DECODE] : median[REPACK];
        over = bars[k] > 0 && median[k] / base > bars[k];
        missed += over;
        printf("    %-30s %7.3f s of CPU  %5.2f%s", names[k], median[k], median[k] / base,
               k == IMPORT ? " of both above" : "");
        printf(bars[k] > 0 ? "  at most %.2f%s\n" : "\n", bars[k], over ? "  MISSED" : "");
    }
    fflush(stdout);
    return missed;
}

static hid_t create(const char *path)
{
    hid_t fapl = H5Pcreate(H5P_FILE_ACCESS), f;

    H5Pset_libver_bounds(fapl, H5F_LIBVER_V110, H5F_LIBVER_LATEST);
    f = H5Fcreate(path, H5F_ACC_TRUNC, H5P_DEFAULT, fapl);
    H5Pclose(fapl);
    return f;
}

/* A dataset of bytes or floats; gives it open, with its file in *f. */
static hid_t dataset(hid_t f, hid_t type, int rank, const hsize_t *dims, hid_t plist)
{
    hid_t s = H5Screate_simple(rank, dims, NULL);
    hid_t d = H5Dcreate2(f, "x", type, s, H5P_DEFAULT, plist, H5P_DEFAULT);

    H5Sclose(s);
    H5Pclose(plist);
    bench_must(d > 0, "H5Dcreate2");
    return d;
}

static void make_fields(void)
{
    const hsize_t dims[] = {TIMES, ROWS, COLUMNS},
                  chunk[] = {1, FIGURE(256, 375), FIGURE(512, 300)};
    double *field = malloc(sizeof *field * TIMES * ROWS * COLUMNS);
    hid_t f = create(source), p = H5Pcreate(H5P_DATASET_CREATE), d;

    bench_must(field != NULL, "memory");
    bench_field(field, (size_t)TIMES * ROWS, COLUMNS, 7);
    H5Pset_chunk(p, 3, chunk);
    H5Pset_shuffle(p);
    H5Pset_deflate(p, 4);
    d = dataset(f, H5T_IEEE_F64LE, 3, dims, p);
    bench_must(H5Dwrite(d, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, field) >= 0,
               "H5Dwrite");
    H5Dclose(d);
    H5Fclose(f);
    free(field);
}

static void make_many(void)
{
    const hsize_t dims[] = {MANY}, chunk[] = {(hsize_t)1 << 20};
    uint8_t *part = calloc(1, (size_t)chunk[0]);
    hid_t f = create(source), p = H5Pcreate(H5P_DATASET_CREATE), d, mem, space;

    bench_must(part != NULL, "memory");
    H5Pset_chunk(p, 1, chunk);
    H5Pset_deflate(p, 9);
    d = dataset(f, H5T_STD_U8LE, 1, dims, p);
    mem = H5Screate_simple(1, chunk, NULL);
    space = H5Dget_space(d);
    for (hsize_t at = 0; at < MANY; at += chunk[0]) {
        part[at % 4096] ^= 1;
        H5Sselect_hyperslab(space, H5S_SELECT_SET, &at, NULL, chunk, NULL);
        bench_must(H5Dwrite(d, H5T_STD_U8LE, mem, space, H5P_DEFAULT, part) >= 0, "H5Dwrite");
    }
    H5Sclose(space);
    H5Sclose(mem);
    H5Dclose(d);
    H5Fclose(f);
    free(part);
}

static void make_master(void)
{
    const hsize_t dims[] = {MANY}, n[] = {PART};
    hid_t f = create(values), p = H5Pcreate(H5P_DATASET_CREATE), d, part, whole;
    const char *own = strrchr(values, '/') + 1;
    uint8_t bytes[PART];

    bench_random(bytes, sizeof bytes, 3);
    d = dataset(f, H5T_STD_U8LE, 1, n, p);
    bench_must(H5Dwrite(d, H5T_STD_U8LE, H5S_ALL, H5S_ALL, H5P_DEFAULT, bytes) >= 0, "H5Dwrite");
    H5Dclose(d);
    H5Fclose(f);
    f = create(source);
    p = H5Pcreate(H5P_DATASET_CREATE);
    part = H5Screate_simple(1, n, NULL);
    whole = H5Screate_simple(1, dims, NULL);
    for (hsize_t i = 0; i < SOURCES; i++) {
        hsize_t at = i * 3000000;

        H5Sselect_hyperslab(whole, H5S_SELECT_SET, &at, NULL, n, NULL);
        H5Pset_virtual(p, whole, own, "x", part);
    }
    H5Sclose(whole);
    H5Sclose(part);
    H5Dclose(dataset(f, H5T_STD_U8LE, 1, dims, p));
    H5Fclose(f);
}

static void name(char *path, size_t size, const char *what)
{
    snprintf(path, size, "%s/bench-%d-%s", bench_dir(), (int)getpid(), what);
}

int main(int argc, char **argv)
{
    int missed = 0;

    name(source, sizeof source, "in.h5");
    name(packed, sizeof packed, "in.drep");
    name(out, sizeof out, "out");
    name(values, sizeof values, "values.h5");
    printf("median CPU time of %d interleaved runs, ratio to the first; whole commands\n", RUNS);
    fflush(stdout);
    if (bench_wanted(argc, argv, "fields")) {
        make_fields();
        missed += compare("fields, shuffled and deflated", 2, 2, 4);
    }
    if (bench_wanted(argc, argv, "many")) {
        make_many();
        missed += compare("2^31 elements, deflated", 3, 0, 0);
    }
    if (bench_wanted(argc, argv, "master")) {
        make_master();
        missed += compare("a virtual dataset of 2^31 elements, 700 sources", 3, 0, 3);
    }
    unlink(source);
    unlink(packed);
    unlink(out);
    unlink(values);
    printf("bars missed: %d\n", missed);
    return 0;
}
