/* bench_file.c - whole files: contiguous arrays, and many small datasets.
 *
 * Limits run in the same program, in one thread: plain pwrite and pread, the same with XXH3
 * over every 4 KiB block, the same with a byte swap besides. */
/* SPDX-License-Identifier: MIT */
#include "bench.h"

#include <datarep.h>
#include <fcntl.h>
#include <hdf5.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MIB = FIGURE(512, 350), PIECE = 256 << 10, SMALL = 20000 };
#define COUNT ((size_t)MIB << 17)
#define BYTES ((size_t)MIB << 20)

struct work {
    double *data, *back;
    char *piece;
    char raw[64], drep[64], h5[64];
    const char *rep;
    hid_t h5_type;
    int threads; /* 0: as many as there are processors */
    uint64_t sink;
};

static void forget(struct work *w)
{
    unlink(w->raw);
    unlink(w->drep);
    unlink(w->h5);
}

static void remove_all(void *ctx)
{
    forget(ctx);
}

/* ---- limits ---- */

static void raw_write(struct work *w, int sums, int swap)
{
    int fd = open(w->raw, O_RDWR | O_CREAT | O_TRUNC, 0600);

    bench_must(fd >= 0, w->raw);
    for (size_t at = 0; at < BYTES; at += PIECE) {
        const char *p = (const char *)w->data + at;

        if (swap) {
            bench_swap64(w->piece, p, PIECE / 8);
            p = w->piece;
        }
        if (sums)
            w->sink ^= bench_sums(p, PIECE);
        bench_must(pwrite(fd, p, PIECE, (off_t)at) == PIECE, "pwrite");
    }
    fdatasync(fd);
    close(fd);
}

static void raw_read(struct work *w, int sums, int swap)
{
    int fd = open(w->raw, O_RDONLY);

    bench_must(fd >= 0, w->raw);
    for (size_t at = 0; at < BYTES; at += PIECE) {
        char *to = (char *)w->back + at, *p = swap ? w->piece : to;

        bench_must(pread(fd, p, PIECE, (off_t)at) == PIECE, "pread");
        if (sums)
            w->sink ^= bench_sums(p, PIECE);
        if (swap)
            bench_swap64(to, p, PIECE / 8);
    }
    close(fd);
}

static void write_plain(void *ctx)
{
    raw_write(ctx, 0, 0);
}

static void write_sums(void *ctx)
{
    raw_write(ctx, 1, 0);
}

static void write_swap(void *ctx)
{
    raw_write(ctx, 1, 1);
}

static void read_plain(void *ctx)
{
    raw_read(ctx, 0, 0);
}

static void read_sums(void *ctx)
{
    raw_read(ctx, 1, 0);
}

static void read_swap(void *ctx)
{
    raw_read(ctx, 1, 1);
}

/* ---- the same by two threads: what the machine has for them ---- */

struct share {
    pthread_t thread;
    struct work *w;
    int fd, number, writing, sums, swap;
    uint64_t sink;
};

static void write_some(struct share *s, size_t at, char *room)
{
    const char *p = (const char *)s->w->data + at;

    if (s->swap) {
        bench_swap64(room, p, PIECE / 8);
        p = room;
    }
    if (s->sums)
        s->sink ^= bench_sums(p, PIECE);
    bench_must(pwrite(s->fd, p, PIECE, (off_t)at) == PIECE, "pwrite");
}

static void read_some(struct share *s, size_t at, char *room)
{
    char *to = (char *)s->w->back + at, *p = s->swap ? room : to;

    bench_must(pread(s->fd, p, PIECE, (off_t)at) == PIECE, "pread");
    if (s->sums)
        s->sink ^= bench_sums(p, PIECE);
    if (s->swap)
        bench_swap64(to, p, PIECE / 8);
}

static void *move_share(void *ctx)
{
    struct share *s = ctx;
    char *room = malloc(PIECE);

    bench_must(room != NULL, "memory");
    for (size_t at = (size_t)s->number * PIECE; at < BYTES; at += 2 * (size_t)PIECE)
        s->writing ? write_some(s, at, room) : read_some(s, at, room);
    free(room);
    return NULL;
}

static void raw_two(struct work *w, int writing, int sums, int swap)
{
    int fd = open(w->raw, writing ? O_RDWR | O_CREAT | O_TRUNC : O_RDONLY, 0600);
    struct share s[2];

    bench_must(fd >= 0, w->raw);
    for (int i = 0; i < 2; i++) {
        s[i] = (struct share){
            .w = w, .fd = fd, .number = i, .writing = writing, .sums = sums, .swap = swap};
        bench_must(pthread_create(&s[i].thread, NULL, move_share, &s[i]) == 0, "pthread_create");
    }
    for (int i = 0; i < 2; i++) {
        pthread_join(s[i].thread, NULL);
        w->sink ^= s[i].sink;
    }
    close(fd);
}

static void write_two(void *ctx)
{
    raw_two(ctx, 1, 1, 0);
}

static void write_two_plain(void *ctx)
{
    raw_two(ctx, 1, 0, 0);
}

static void write_two_swap(void *ctx)
{
    raw_two(ctx, 1, 1, 1);
}

static void read_two(void *ctx)
{
    raw_two(ctx, 0, 1, 0);
}

static void read_two_swap(void *ctx)
{
    raw_two(ctx, 0, 1, 1);
}

static void copy(void *ctx)
{
    struct work *w = ctx;

    memcpy(w->back, w->data, BYTES);
}

/* ---- Datarep ---- */

static void drep_write_all(void *ctx)
{
    struct work *w = ctx;
    drep_xfer xfer = DREP_XFER(.threads = w->threads);
    drep_spec spec = DREP_SPEC(.type = DREP_DOUBLE, .rank = 1, .dims = (int64_t[]){COUNT});
    drep_dataset *set;
    drep_file *file;

    bench_must(drep_create(w->drep, 0, w->rep, NULL, &file) == 0, "drep_create");
    bench_must(drep_dataset_create(file, "/x", &spec, &set) == 0, "drep_dataset_create");
    bench_must(drep_write(set, NULL, DREP_DOUBLE, w->data, &xfer) == 0, "drep_write");
    drep_dataset_close(set);
    bench_must(drep_close(file) == 0, "drep_close");
}

static void drep_read_all(void *ctx)
{
    struct work *w = ctx;
    drep_xfer xfer = DREP_XFER(.threads = w->threads);
    drep_dataset *set;
    drep_file *file;

    bench_must(drep_open(w->drep, DREP_RDONLY, NULL, &file) == 0, "drep_open");
    bench_must(drep_dataset_open(file, "/x", &set) == 0, "drep_dataset_open");
    bench_must(drep_read(set, NULL, DREP_DOUBLE, w->back, &xfer) == 0, "drep_read");
    drep_dataset_close(set);
    bench_must(drep_close(file) == 0, "drep_close");
}

/* ---- HDF5 ---- */

static void h5_write_all(void *ctx)
{
    struct work *w = ctx;
    hsize_t n = COUNT;
    hid_t f = H5Fcreate(w->h5, H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
    hid_t s = H5Screate_simple(1, &n, NULL);
    hid_t d = H5Dcreate2(f, "x", w->h5_type, s, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);

    bench_must(H5Dwrite(d, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, w->data) >= 0,
               "H5Dwrite");
    H5Dclose(d);
    H5Sclose(s);
    H5Fclose(f);
}

static void h5_read_all(void *ctx)
{
    struct work *w = ctx;
    hid_t f = H5Fopen(w->h5, H5F_ACC_RDONLY, H5P_DEFAULT);
    hid_t d = H5Dopen2(f, "x", H5P_DEFAULT);

    bench_must(H5Dread(d, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, w->back) >= 0,
               "H5Dread");
    H5Dclose(d);
    H5Fclose(f);
}

/* ---- contiguous rows ---- */

/* How much faster than HDF5, and than plain calls in one thread, we must be; 0: no bar. */
struct bars {
    double limit; /* one thread, against what the work takes at least */
    double h5_write, h5_read;
    double raw_write, raw_read;
};

static int limit_rows(struct work *w, const char *rep, const struct bars *bars, int swap)
{
    struct bench_entry in[] = {{swap ? "limit: swap + XXH3 + pwrite" : "limit: XXH3 + pwrite",
                                remove_all, swap ? write_swap : write_sums, 0},
                               {"datarep", remove_all, drep_write_all, bars->limit},
                               {"HDF5", remove_all, h5_write_all, 0},
                               {"plain pwrite", remove_all, write_plain, 0},
                               {"memcpy", NULL, copy, 0}};
    struct bench_entry out[] = {{swap ? "limit: pread + XXH3 + swap" : "limit: pread + XXH3", NULL,
                                 swap ? read_swap : read_sums, 0},
                                {"datarep", NULL, drep_read_all, bars->limit},
                                {"HDF5", NULL, h5_read_all, 0},
                                {"plain pread", NULL, read_plain, 0},
                                {"memcpy", NULL, copy, 0}};
    char title[100];
    int missed;

    snprintf(title, sizeof title, "%d MiB double, contiguous, %s, write", MIB, rep);
    missed = bench_row(title, (double)BYTES, 7, in, 5, w);
    remove_all(w);
    write_plain(w);
    drep_write_all(w);
    h5_write_all(w);
    snprintf(title, sizeof title, "%d MiB double, contiguous, %s, read", MIB, rep);
    missed += bench_row(title, (double)BYTES, 7, out, 5, w);
    bench_must(memcmp(w->data, w->back, BYTES) == 0, "comparing what was read");
    return missed;
}

static int versus_rows(struct work *w, const char *rep, const struct bars *bars, int swap)
{
    const char *threads = w->threads == 1 ? "one thread" : "default threads";
    struct bench_entry in[] = {{"datarep", remove_all, drep_write_all, 0},
                               {"HDF5", remove_all, h5_write_all, bars->h5_write},
                               {"pwrite, 1 thread", remove_all, write_plain, bars->raw_write},
                               {"pwrite, 2 threads", remove_all, write_two_plain, 0},
                               {swap ? "swap, XXH3, pwrite, 2" : "XXH3 + pwrite, 2 threads",
                                remove_all, swap ? write_two_swap : write_two, 0}};
    struct bench_entry out[] = {{"datarep", NULL, drep_read_all, 0},
                                {"HDF5", NULL, h5_read_all, bars->h5_read},
                                {"pread, 1 thread", NULL, read_plain, bars->raw_read},
                                {swap ? "pread, XXH3, swap, 2" : "pread + XXH3, 2 threads", NULL,
                                 swap ? read_two_swap : read_two, 0}};
    int n = w->threads == 1 ? 2 : 5, missed;
    char title[100];

    snprintf(title, sizeof title, "%s, %s: write", rep, threads);
    missed = bench_versus(title, 7, in, n, w);
    remove_all(w);
    write_plain(w);
    drep_write_all(w);
    h5_write_all(w);
    snprintf(title, sizeof title, "%s, %s: read", rep, threads);
    memset(w->back, 0, BYTES);
    drep_read_all(w);
    bench_must(memcmp(w->data, w->back, BYTES) == 0, "comparing what was read");
    return missed + bench_versus(title, 7, out, n < 5 ? n : 4, w);
}

static int native_rows(struct work *w)
{
    const struct bars one = {.limit = 0.95}, all = {0, 1, 1, 1.2, 1.2};
    int missed;

    w->rep = "native";
    w->h5_type = H5T_NATIVE_DOUBLE;
    w->threads = 1;
    missed = limit_rows(w, w->rep, &one, 0);
    w->threads = 0;
    return missed + versus_rows(w, w->rep, &all, 0);
}

static int external_rows(struct work *w)
{
    const struct bars one = {0.9, 1, 1.3, 0, 0}, all = {0, 1.8, 2.3, 0, 0};
    int missed;

    w->rep = "external32";
    w->h5_type = H5T_IEEE_F64BE;
    w->threads = 1;
    missed = limit_rows(w, w->rep, &one, 1);
    missed += versus_rows(w, w->rep, &one, 1);
    w->threads = 0;
    return missed + versus_rows(w, w->rep, &all, 1);
}

static void nothing(void *ctx)
{
    (void)ctx;
}

/* The bound: the cache, 16 MiB and two slabs for each of two workers. */
static int peak(struct work *w, const char *what, bench_fn *fn)
{
    double more = (bench_peak(fn, w) - bench_peak(nothing, w)) / (1 << 20), most = 64 + 16 + 4;

    printf("  %-44s %8.1f MiB beside the caller's buffer, at most %.1f: %s\n", what, more, most,
           more <= most ? "met" : "MISSED");
    return more > most;
}

static int peaks(struct work *w)
{
    int missed;

    w->rep = "external32";
    w->threads = 0;
    drep_write_all(w);
    printf("peak memory\n");
    missed = peak(w, "external32, read", drep_read_all);
    return missed + peak(w, "external32, write", drep_write_all);
}

/* ---- many small datasets ---- */

static void small_drep(void *ctx)
{
    struct work *w = ctx;
    drep_spec spec = DREP_SPEC(.type = DREP_DOUBLE);
    drep_file *file;
    char path[32];

    bench_must(drep_create(w->drep, 0, "native", NULL, &file) == 0, "drep_create");
    for (int i = 0; i < SMALL; i++) {
        double v = i * 0.5;
        drep_dataset *set;

        snprintf(path, sizeof path, "/d%06d", i);
        bench_must(drep_dataset_create(file, path, &spec, &set) == 0, "drep_dataset_create");
        bench_must(drep_write(set, NULL, NULL, &v, NULL) == 0, "drep_write");
        drep_dataset_close(set);
        bench_must(drep_attr_write_int64(file, path, "version", i) == 0, "drep_attr_write_int64");
        bench_must(drep_attr_write_double(file, path, "scale", v) == 0, "attr_write_double");
    }
    bench_must(drep_close(file) == 0, "drep_close");
}

static void small_attr(hid_t d, hid_t s, const char *name, hid_t type, hid_t mem, const void *v)
{
    hid_t a = H5Acreate2(d, name, type, s, H5P_DEFAULT, H5P_DEFAULT);

    bench_must(H5Awrite(a, mem, v) >= 0, "H5Awrite");
    H5Aclose(a);
}

static void small_h5(void *ctx)
{
    struct work *w = ctx;
    hid_t f = H5Fcreate(w->h5, H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
    hid_t s = H5Screate(H5S_SCALAR);
    char path[32];

    for (int i = 0; i < SMALL; i++) {
        double v = i * 0.5;
        int64_t n = i;
        hid_t d;

        snprintf(path, sizeof path, "/d%06d", i);
        d = H5Dcreate2(f, path, H5T_NATIVE_DOUBLE, s, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
        bench_must(H5Dwrite(d, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, &v) >= 0,
                   "H5Dwrite");
        small_attr(d, s, "version", H5T_NATIVE_INT64, H5T_NATIVE_INT64, &n);
        small_attr(d, s, "scale", H5T_NATIVE_DOUBLE, H5T_NATIVE_DOUBLE, &v);
        H5Dclose(d);
    }
    H5Sclose(s);
    H5Fclose(f);
}

static double size_of(const char *path)
{
    struct stat st;

    bench_must(stat(path, &st) == 0, path);
    return (double)st.st_size;
}

static int small_rows(struct work *w)
{
    struct bench_entry e[] = {{"HDF5", remove_all, small_h5, 0},
                              {"datarep", remove_all, small_drep, 0}};
    double ours, theirs;
    char title[100];

    snprintf(title, sizeof title, "%d scalar datasets with 2 attributes, create", SMALL);
    bench_row(title, 0, 3, e, 2, w);
    remove_all(w);
    small_h5(w);
    small_drep(w);
    ours = size_of(w->drep) / SMALL;
    theirs = size_of(w->h5) / SMALL;
    printf("  bytes each: datarep %.0f, HDF5 %.0f, ratio %.2f, at most 0.40: %s\n", ours, theirs,
           ours / theirs, ours / theirs <= 0.4 ? "met" : "MISSED");
    return ours / theirs > 0.4;
}

/* bench_file [WORD]: only native, external32, peak or small. */
int main(int argc, char **argv)
{
    struct work w = {0};
    unsigned maj, min, rel;
    int missed = 0;

    H5get_libversion(&maj, &min, &rel);
    printf("%s; HDF5 %u.%u.%u; checksums on\n", drep_version(), maj, min, rel);
    printf("columns: median time, rate, ratio to the limit of the same rounds\n");
    snprintf(w.raw, sizeof w.raw, "%s/bench-%d.raw", bench_dir(), (int)getpid());
    snprintf(w.drep, sizeof w.drep, "%s/bench-%d.drep", bench_dir(), (int)getpid());
    snprintf(w.h5, sizeof w.h5, "%s/bench-%d.h5", bench_dir(), (int)getpid());
    w.data = malloc(BYTES);
    w.back = malloc(BYTES);
    w.piece = malloc(PIECE);
    bench_must(w.data != NULL && w.back != NULL && w.piece != NULL, "memory");
    bench_doubles(w.data, COUNT, 1);
    bench_random(w.back, BYTES, 2);

    if (bench_wanted(argc, argv, "native"))
        missed += native_rows(&w);
    if (bench_wanted(argc, argv, "external32"))
        missed += external_rows(&w);
    if (bench_wanted(argc, argv, "peak"))
        missed += peaks(&w);
    if (bench_wanted(argc, argv, "small"))
        missed += small_rows(&w);
    remove_all(&w);
    printf("bars missed: %d\n", missed);
    return 0;
}
