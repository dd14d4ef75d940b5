/* bench_cf.c - what files of climate models have: floats, big-endian, shuffled and deflated, read
 * whole as doubles; against the same work by hand, by one and by two threads, and against HDF5. */
/* SPDX-License-Identifier: MIT */
#include "bench.h"

#include <datarep.h>
#include <fcntl.h>
#include <hdf5.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#ifdef HAVE_DEFLATE
#include <libdeflate.h>
#endif

#ifndef HAVE_DEFLATE
int main(void)
{
    printf("no rows: there is no libdeflate\n");
    return 0;
}
#else

enum {
    STEPS = FIGURE(24, 15),
    ROWS = FIGURE(768, 900),
    COLUMNS = FIGURE(1536, 1400),
    CHUNK_ROWS = FIGURE(256, 180),
    CHUNK_COLUMNS = FIGURE(512, 350),
    LEVEL = 4
};
enum {
    ACROSS = COLUMNS / CHUNK_COLUMNS,
    OF_STEP = ROWS / CHUNK_ROWS * ACROSS,
    CHUNKS = STEPS * OF_STEP,
    ELEMENTS = CHUNK_ROWS * CHUNK_COLUMNS
};
#define COUNT ((size_t)STEPS * ROWS * COLUMNS)

struct work {
    char drep[64], h5[64], raw[64];
    float *data;
    double *back;
    int threads;
    /* The chunks in the raw file, one after the other. */
    struct stream {
        off_t at;
        size_t size;
    } stream[CHUNKS];
    size_t longest;
};

/* ---- Datarep and HDF5 ---- */

static void drep_make(const struct work *w)
{
    const drep_filter filter[] = {{.id = DREP_FILTER_SHUFFLE},
                                  {.id = DREP_FILTER_DEFLATE, .level = LEVEL}};
    const int64_t dims[] = {STEPS, ROWS, COLUMNS}, chunk[] = {1, CHUNK_ROWS, CHUNK_COLUMNS};
    const drep_spec spec = DREP_SPEC(.type = DREP_FLOAT, .rank = 3, .dims = dims, .chunk = chunk,
                                     .layout = DREP_CHUNKED, .filters = filter, .nfilters = 2);
    drep_dataset *set = NULL;
    drep_file *file;

    bench_must(drep_create(w->drep, 0, "external32", NULL, &file) == 0 &&
                   drep_dataset_create(file, "/t2m", &spec, &set) == 0 &&
                   drep_write(set, NULL, DREP_FLOAT, w->data, NULL) == 0,
               "writing");
    drep_dataset_close(set);
    bench_must(drep_close(file) == 0, "drep_close");
}

static void drep_all(void *ctx)
{
    const struct work *w = ctx;
    const drep_xfer xfer = DREP_XFER(.threads = w->threads);
    drep_dataset *set = NULL;
    drep_file *file;

    bench_must(drep_open(w->drep, DREP_RDONLY, NULL, &file) == 0 &&
                   drep_dataset_open(file, "/t2m", &set) == 0 &&
                   drep_read(set, NULL, DREP_DOUBLE, w->back, &xfer) == 0,
               "reading");
    drep_dataset_close(set);
    bench_must(drep_close(file) == 0, "drep_close");
}

static void h5_make(const struct work *w)
{
    const hsize_t dims[] = {STEPS, ROWS, COLUMNS}, chunk[] = {1, CHUNK_ROWS, CHUNK_COLUMNS};
    hid_t f = H5Fcreate(w->h5, H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
    hid_t s = H5Screate_simple(3, dims, NULL), p = H5Pcreate(H5P_DATASET_CREATE), d;

    H5Pset_chunk(p, 3, chunk);
    H5Pset_shuffle(p);
    H5Pset_deflate(p, LEVEL);
    d = H5Dcreate2(f, "t2m", H5T_IEEE_F32BE, s, H5P_DEFAULT, p, H5P_DEFAULT);
    bench_must(H5Dwrite(d, H5T_NATIVE_FLOAT, H5S_ALL, H5S_ALL, H5P_DEFAULT, w->data) >= 0,
               "H5Dwrite");
    H5Dclose(d);
    H5Pclose(p);
    H5Sclose(s);
    H5Fclose(f);
}

static void h5_all(void *ctx)
{
    const struct work *w = ctx;
    hid_t f = H5Fopen(w->h5, H5F_ACC_RDONLY, H5P_DEFAULT);
    hid_t d = H5Dopen2(f, "t2m", H5P_DEFAULT);

    bench_must(H5Dread(d, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, w->back) >= 0,
               "H5Dread");
    H5Dclose(d);
    H5Fclose(f);
}

/* ---- the same by hand ---- */

/* Where the first element of a chunk stands in the array. */
static size_t corner(int chunk)
{
    int of_step = chunk % OF_STEP;

    return ((size_t)(chunk / OF_STEP) * ROWS + (size_t)(of_step / ACROSS) * CHUNK_ROWS) * COLUMNS +
           (size_t)(of_step % ACROSS) * CHUNK_COLUMNS;
}

/* The planes are those of big-endian floats: the first has the signs. */
static void make_streams(struct work *w)
{
    struct libdeflate_compressor *c = libdeflate_alloc_compressor(LEVEL);
    size_t room = libdeflate_zlib_compress_bound(c, 4 * (size_t)ELEMENTS);
    uint8_t *planes = malloc(4 * (size_t)ELEMENTS), *out = malloc(room);
    int fd = open(w->raw, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    off_t at = 0;

    bench_must(c && planes && out && fd >= 0, "the raw file");
    for (int i = 0; i < CHUNKS; i++) {
        const float *from = w->data + corner(i);

        for (int k = 0; k < ELEMENTS; k++) {
            uint32_t bits;

            memcpy(&bits, &from[k / CHUNK_COLUMNS * COLUMNS + k % CHUNK_COLUMNS], 4);
            for (int b = 0; b < 4; b++)
                planes[b * ELEMENTS + k] = (uint8_t)(bits >> (24 - 8 * b));
        }
        w->stream[i].at = at;
        w->stream[i].size = libdeflate_zlib_compress(c, planes, 4 * (size_t)ELEMENTS, out, room);
        bench_must(w->stream[i].size > 0 &&
                       pwrite(fd, out, w->stream[i].size, at) == (ssize_t)w->stream[i].size,
                   "packing a chunk");
        at += (off_t)w->stream[i].size;
        if (w->longest < w->stream[i].size)
            w->longest = w->stream[i].size;
    }
    close(fd);
    free(out);
    free(planes);
    libdeflate_free_compressor(c);
}

/* A row of a chunk: out of its planes, turned, as doubles. */
BEST static void widen_row(double *restrict to, const uint8_t *restrict planes, int n)
{
    for (int k = 0; k < n; k++) {
        uint32_t bits = (uint32_t)planes[k] << 24 | (uint32_t)planes[ELEMENTS + k] << 16 |
                        (uint32_t)planes[2 * ELEMENTS + k] << 8 | planes[3 * ELEMENTS + k];
        float v;

        memcpy(&v, &bits, 4);
        to[k] = (double)v;
    }
}

struct part {
    pthread_t thread;
    struct work *w;
    int fd, first, step;
    uint64_t sink;
};

static void *decode_part(void *ctx)
{
    struct part *part = ctx;
    struct libdeflate_decompressor *d = libdeflate_alloc_decompressor();
    uint8_t *planes = malloc(4 * (size_t)ELEMENTS), *in = malloc(part->w->longest);

    bench_must(d && planes && in, "memory");
    for (int i = part->first; i < CHUNKS; i += part->step) {
        const struct stream *s = &part->w->stream[i];
        double *to = part->w->back + corner(i);

        bench_must(pread(part->fd, in, s->size, s->at) == (ssize_t)s->size, "pread");
        part->sink ^= bench_sums(in, s->size);
        bench_must(libdeflate_zlib_decompress(d, in, s->size, planes, 4 * (size_t)ELEMENTS, NULL) ==
                       0,
                   "unpacking a chunk");
        for (int r = 0; r < CHUNK_ROWS; r++)
            widen_row(to + (size_t)r * COLUMNS, planes + r * CHUNK_COLUMNS, CHUNK_COLUMNS);
    }
    free(in);
    free(planes);
    libdeflate_free_decompressor(d);
    return NULL;
}

static void by_hand(void *ctx)
{
    struct work *w = ctx;
    struct part part[2];
    int n = w->threads == 1 ? 1 : 2, fd = open(w->raw, O_RDONLY);

    bench_must(fd >= 0, w->raw);
    for (int i = 0; i < n; i++) {
        part[i] = (struct part){.w = w, .fd = fd, .first = i, .step = n};
        bench_must(pthread_create(&part[i].thread, NULL, decode_part, &part[i]) == 0,
                   "pthread_create");
    }
    for (int i = 0; i < n; i++)
        pthread_join(part[i].thread, NULL);
    close(fd);
}

/* ---- rows ---- */

static void compare(struct work *w, bench_fn *fn)
{
    memset(w->back, 0, COUNT * sizeof *w->back);
    fn(w);
    for (size_t i = 0; i < COUNT; i++)
        bench_must(w->back[i] == (double)w->data[i], "comparing what was read");
}

static int row(struct work *w, int threads)
{
    const struct bench_entry e[] = {{"datarep", NULL, drep_all, 0},
                                    {threads == 1 ? "read, sum, inflate, unshuffle, swap, 1"
                                                  : "read, sum, inflate, unshuffle, swap, 2",
                                     NULL, by_hand, 0.9},
                                    {"HDF5", NULL, h5_all, 0}};

    w->threads = threads;
    compare(w, drep_all);
    compare(w, by_hand);
    return bench_versus(threads == 1
                            ? "CF: float, big-endian, shuffle, deflate, as double, one thread"
                            : "CF: float, big-endian, shuffle, deflate, as double, default",
                        9, e, 3, w);
}

int main(void)
{
    static struct work w;
    double *field = malloc(COUNT * sizeof *field);
    int missed;

    snprintf(w.drep, sizeof w.drep, "%s/bench-%d.drep", bench_dir(), (int)getpid());
    snprintf(w.h5, sizeof w.h5, "%s/bench-%d.h5", bench_dir(), (int)getpid());
    snprintf(w.raw, sizeof w.raw, "%s/bench-%d.raw", bench_dir(), (int)getpid());
    w.data = malloc(COUNT * sizeof *w.data);
    w.back = malloc(COUNT * sizeof *w.back);
    bench_must(field && w.data && w.back, "memory");
    bench_field(field, (size_t)STEPS * ROWS, COLUMNS, 5);
    for (size_t i = 0; i < COUNT; i++)
        w.data[i] = (float)field[i];
    free(field);
    drep_make(&w);
    h5_make(&w);
    make_streams(&w);
    printf("median times, ratio, least ratio; %d chunks of %d x %d\n", CHUNKS, CHUNK_ROWS,
           CHUNK_COLUMNS);
    missed = row(&w, 1);
    missed += row(&w, 0);
    free(w.data);
    free(w.back);
    unlink(w.drep);
    unlink(w.h5);
    unlink(w.raw);
    printf("bars missed: %d\n", missed);
    return 0;
}
#endif
