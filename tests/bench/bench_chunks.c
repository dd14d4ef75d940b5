/* bench_chunks.c - a chunked array of 8192 x 8192 doubles in chunks of 256 x 256, as it is
 * and through filters, against HDF5 with its default chunk cache and with its best one: as
 * large as the array.
 *
 * Every run opens the file, works and closes it again, so all caches begin empty.  Where
 * nothing else is said, Datarep runs as it comes: sums verified, a cache of 64 MiB, as many
 * threads as processors. */
/* SPDX-License-Identifier: MIT */
#include "bench.h"

#include <datarep.h>
#include <fcntl.h>
#include <hdf5.h>
#ifdef HAVE_DEFLATE
#include <libdeflate.h>
#endif
#ifdef HAVE_LZ4
#include <lz4.h>
#endif
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#ifdef HAVE_ZSTD
#include <zstd.h>
#endif

enum {
    SIDE = FIGURE(8192, 7168),
    CHUNK = FIGURE(256, 224), /* the limits ask for whole blocks of 4 KiB */
    BLOCKS = 1000,
    BLOCK = FIGURE(64, 48),
    H5_LZ4 = 32004,
    H5_ZSTD = 32015
};
enum { GRID = SIDE / CHUNK, PAYLOAD = CHUNK * CHUNK * 8 };
#define COUNT ((size_t)SIDE * SIDE)
#define BYTES (COUNT * sizeof(double))

struct box {
    int64_t start[2], count[2];
};

/* What is done, and how: set by the row, used by all of its competitors. */
struct work {
    double *data, *back;
    char drep[64], h5[64];
    const struct box *box;
    int nboxes;
    drep_info *verify_off, *holds_all; /* hints */
    drep_file *warm;
    drep_dataset *warm_set;
    const struct pipeline *pipe;
    int threads;
    const char *only; /* rows with this in their title */
    uint64_t sink;

    /* For the limits: each chunk alone. */
    char raw[64];
    struct stream {
        void *p;
        size_t size;
    } * stream; /* GRID * GRID of them, NULL: none yet */
    int *turn;  /* chunks that the calls must decode one after the other, and how many */
    int nturns;
};

struct pipeline {
    const char *name;
    drep_filter filter[2];
    int nfilters;
    H5Z_filter_t h5;
    unsigned h5_level;
};

static const struct pipeline plain = {"unfiltered", {{0}}, 0, 0, 0};
static const struct pipeline pipelines[] = {
    {"shuffle + deflate 1",
     {{.id = DREP_FILTER_SHUFFLE}, {.id = DREP_FILTER_DEFLATE, .level = 1}},
     2,
     H5Z_FILTER_DEFLATE,
     1},
#ifdef HAVE_LZ4
    {"shuffle + lz4", {{.id = DREP_FILTER_SHUFFLE}, {.id = DREP_FILTER_LZ4}}, 2, H5_LZ4, 1},
#endif
#ifdef HAVE_ZSTD
    {"shuffle + zstd 3",
     {{.id = DREP_FILTER_SHUFFLE}, {.id = DREP_FILTER_ZSTD, .level = 3}},
     2,
     H5_ZSTD,
     3},
#endif
};

/* ---- Datarep ---- */

static void drep_remove(void *ctx)
{
    unlink(((struct work *)ctx)->drep);
}

static void drep_write_all(void *ctx)
{
    struct work *w = ctx;
    drep_xfer xfer = DREP_XFER(.threads = w->threads);
    drep_spec spec = DREP_SPEC(.type = DREP_DOUBLE, .rank = 2, .dims = (int64_t[]){SIDE, SIDE},
                               .chunk = (int64_t[]){CHUNK, CHUNK}, .layout = DREP_CHUNKED,
                               .filters = w->pipe->nfilters > 0 ? w->pipe->filter : NULL,
                               .nfilters = w->pipe->nfilters);
    drep_dataset *set;
    drep_file *file;

    bench_must(drep_create(w->drep, 0, "native", NULL, &file) == 0, "drep_create");
    bench_must(drep_dataset_create(file, "/x", &spec, &set) == 0, "drep_dataset_create");
    bench_must(drep_write(set, NULL, DREP_DOUBLE, w->data, &xfer) == 0, "drep_write");
    drep_dataset_close(set);
    bench_must(drep_close(file) == 0, "drep_close");
}

static void drep_open_set(struct work *w, const drep_info *info, drep_file **file,
                          drep_dataset **set)
{
    bench_must(drep_open(w->drep, DREP_RDONLY, info, file) == 0, "drep_open");
    bench_must(drep_dataset_open(*file, "/x", set) == 0, "drep_dataset_open");
}

static void drep_boxes_of(struct work *w, drep_dataset *set)
{
    drep_xfer xfer = DREP_XFER(.threads = w->threads);
    double *to = w->back;

    for (int i = 0; i < w->nboxes; i++) {
        const struct box *b = &w->box[i];
        drep_selection *sel;

        bench_must(drep_select_box(2, b->start, b->count, NULL, NULL, &sel) == 0, "drep_select");
        bench_must(drep_read(set, sel, DREP_DOUBLE, to, &xfer) == 0, "drep_read");
        drep_selection_free(sel);
        to += b->count[0] * b->count[1];
    }
}

static void drep_boxes(struct work *w, const drep_info *info)
{
    drep_dataset *set;
    drep_file *file;

    drep_open_set(w, info, &file, &set);
    drep_boxes_of(w, set);
    drep_dataset_close(set);
    bench_must(drep_close(file) == 0, "drep_close");
}

static void drep_read_held(void *ctx)
{
    drep_boxes(ctx, ((struct work *)ctx)->holds_all);
}

/* All chunks are decoded before the time is taken. */
static void drep_warm(void *ctx)
{
    struct work *w = ctx;

    drep_open_set(w, w->holds_all, &w->warm, &w->warm_set);
    drep_boxes_of(w, w->warm_set);
}

static void drep_read_warm(void *ctx)
{
    struct work *w = ctx;

    drep_boxes_of(w, w->warm_set);
    drep_dataset_close(w->warm_set);
    bench_must(drep_close(w->warm) == 0, "drep_close");
}

static void drep_read_boxes(void *ctx)
{
    drep_boxes(ctx, NULL);
}

static void drep_read_unverified(void *ctx)
{
    drep_boxes(ctx, ((struct work *)ctx)->verify_off);
}

/* ---- HDF5, with the filters that it does not bring along ---- */

static size_t h5_pass(size_t out, size_t *size, void **buf, void *p)
{
    free(*buf);
    *buf = p;
    *size = out;
    return out;
}

#ifdef HAVE_LZ4
static size_t h5_lz4(unsigned flags, size_t n, const unsigned *v, size_t bytes, size_t *size,
                     void **buf)
{
    size_t full = v[1],
           room = flags & H5Z_FLAG_REVERSE ? full : (size_t)LZ4_compressBound((int)bytes);
    char *out = malloc(room);
    int got;

    (void)n;
    if (flags & H5Z_FLAG_REVERSE)
        got = LZ4_decompress_safe(*buf, out, (int)bytes, (int)room);
    else
        got = LZ4_compress_default(*buf, out, (int)bytes, (int)room);
    return h5_pass(got > 0 ? (size_t)got : 0, size, buf, out);
}
#endif

#ifdef HAVE_ZSTD
static size_t h5_zstd(unsigned flags, size_t n, const unsigned *v, size_t bytes, size_t *size,
                      void **buf)
{
    size_t room = flags & H5Z_FLAG_REVERSE ? v[1] : ZSTD_compressBound(bytes), got;
    char *out = malloc(room);

    (void)n;
    if (flags & H5Z_FLAG_REVERSE)
        got = ZSTD_decompress(out, room, *buf, bytes);
    else
        got = ZSTD_compress(out, room, *buf, bytes, (int)v[0]);
    return h5_pass(ZSTD_isError(got) ? 0 : got, size, buf, out);
}
#endif

static void h5_filters(void)
{
    static const H5Z_class2_t classes[] = {
#ifdef HAVE_LZ4
        {H5Z_CLASS_T_VERS, H5_LZ4, 1, 1, "lz4", NULL, NULL, h5_lz4},
#endif
#ifdef HAVE_ZSTD
        {H5Z_CLASS_T_VERS, H5_ZSTD, 1, 1, "zstd", NULL, NULL, h5_zstd},
#endif
    };

    for (size_t i = 0; i < sizeof classes / sizeof *classes; i++)
        bench_must(H5Zregister(&classes[i]) >= 0, "H5Zregister");
}

static void h5_remove(void *ctx)
{
    unlink(((struct work *)ctx)->h5);
}

static void h5_write_all(void *ctx)
{
    struct work *w = ctx;
    const hsize_t dims[] = {SIDE, SIDE}, chunk[] = {CHUNK, CHUNK};
    const unsigned values[] = {w->pipe->h5_level, CHUNK * CHUNK * sizeof(double)};
    hid_t f = H5Fcreate(w->h5, H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
    hid_t s = H5Screate_simple(2, dims, NULL), p = H5Pcreate(H5P_DATASET_CREATE), d;

    H5Pset_chunk(p, 2, chunk);
    if (w->pipe->nfilters > 0) {
        H5Pset_shuffle(p);
        if (w->pipe->h5 == H5Z_FILTER_DEFLATE)
            H5Pset_deflate(p, w->pipe->h5_level);
        else
            H5Pset_filter(p, w->pipe->h5, 0, 2, values);
    }
    d = H5Dcreate2(f, "x", H5T_NATIVE_DOUBLE, s, H5P_DEFAULT, p, H5P_DEFAULT);
    bench_must(H5Dwrite(d, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, w->data) >= 0,
               "H5Dwrite");
    H5Dclose(d);
    H5Pclose(p);
    H5Sclose(s);
    H5Fclose(f);
}

static void h5_boxes(struct work *w, size_t cache)
{
    hid_t p = H5Pcreate(H5P_DATASET_ACCESS), f, d, s;
    double *to = w->back;

    if (cache > 0)
        H5Pset_chunk_cache(p, 100003, cache, 0.75);
    f = H5Fopen(w->h5, H5F_ACC_RDONLY, H5P_DEFAULT);
    d = H5Dopen2(f, "x", p);
    s = H5Dget_space(d);
    for (int i = 0; i < w->nboxes; i++) {
        const struct box *b = &w->box[i];
        const hsize_t start[] = {(hsize_t)b->start[0], (hsize_t)b->start[1]};
        const hsize_t count[] = {(hsize_t)b->count[0], (hsize_t)b->count[1]};
        hid_t m = H5Screate_simple(2, count, NULL);

        H5Sselect_hyperslab(s, H5S_SELECT_SET, start, NULL, count, NULL);
        bench_must(H5Dread(d, H5T_NATIVE_DOUBLE, m, s, H5P_DEFAULT, to) >= 0, "H5Dread");
        H5Sclose(m);
        to += b->count[0] * b->count[1];
    }
    H5Sclose(s);
    H5Dclose(d);
    H5Pclose(p);
    H5Fclose(f);
}

static void h5_default(void *ctx)
{
    h5_boxes(ctx, 0);
}

static void h5_tuned(void *ctx)
{
    h5_boxes(ctx, BYTES + (64 << 20));
}

/* ---- limits: what any library must do at least, by two threads ---- */

struct half {
    pthread_t thread;
    struct work *w;
    int number, fd;
    uint64_t sink;
};

static void in_halves(struct work *w, int threads, int fd, void *(*fn)(void *))
{
    struct half h[2];

    for (int i = 0; i < threads; i++) {
        h[i] = (struct half){.w = w, .number = i, .fd = fd};
        bench_must(pthread_create(&h[i].thread, NULL, fn, &h[i]) == 0, "pthread_create");
    }
    for (int i = 0; i < threads; i++) {
        pthread_join(h[i].thread, NULL);
        w->sink ^= h[i].sink;
    }
}

static void chunk_gather(const struct work *w, int number, double *to)
{
    const double *from = w->data + (size_t)(number / GRID) * CHUNK * SIDE + number % GRID * CHUNK;

    for (int i = 0; i < CHUNK; i++)
        memcpy(to + i * CHUNK, from + (size_t)i * SIDE, CHUNK * sizeof *to);
}

static size_t pack(const struct pipeline *pipe, const void *in, void *out, size_t room)
{
    size_t n = 0;

#ifdef HAVE_DEFLATE
    if (pipe->h5 == H5Z_FILTER_DEFLATE) {
        struct libdeflate_compressor *c = libdeflate_alloc_compressor((int)pipe->h5_level);

        n = libdeflate_zlib_compress(c, in, PAYLOAD, out, room);
        libdeflate_free_compressor(c);
    }
#endif
#ifdef HAVE_LZ4
    if (pipe->h5 == H5_LZ4)
        n = (size_t)LZ4_compress_default(in, out, PAYLOAD, (int)room);
#endif
#ifdef HAVE_ZSTD
    if (pipe->h5 == H5_ZSTD)
        n = ZSTD_compress(out, room, in, PAYLOAD, (int)pipe->h5_level);
#endif
    bench_must(n > 0 && n <= room, "packing a chunk");
    return n;
}

/* Shuffled, packed, in memory. */
static void make_streams(struct work *w)
{
    double *elems = malloc(PAYLOAD);
    unsigned char *planes = malloc(PAYLOAD), *out = malloc(2 * PAYLOAD);

    w->stream = calloc((size_t)GRID * GRID, sizeof *w->stream);
    bench_must(elems && planes && out && w->stream, "memory");
    for (int i = 0; i < GRID * GRID; i++) {
        chunk_gather(w, i, elems);
        for (size_t k = 0; k < PAYLOAD; k++)
            planes[k % 8 * (PAYLOAD / 8) + k / 8] = ((const unsigned char *)elems)[k];
        w->stream[i].size = pack(w->pipe, planes, out, 2 * PAYLOAD);
        w->stream[i].p = malloc(w->stream[i].size);
        bench_must(w->stream[i].p != NULL, "memory");
        memcpy(w->stream[i].p, out, w->stream[i].size);
    }
    free(elems);
    free(planes);
    free(out);
}

static void free_streams(struct work *w)
{
    for (int i = 0; w->stream != NULL && i < GRID * GRID; i++)
        free(w->stream[i].p);
    free(w->stream);
    w->stream = NULL;
}

static void mark(const struct work *w, unsigned char *touched)
{
    memset(touched, 0, (size_t)GRID * GRID);
    for (int i = 0; i < w->nboxes; i++) {
        const struct box *b = &w->box[i];

        for (int64_t r = b->start[0] / CHUNK; r <= (b->start[0] + b->count[0] - 1) / CHUNK; r++)
            for (int64_t c = b->start[1] / CHUNK; c <= (b->start[1] + b->count[1] - 1) / CHUNK; c++)
                touched[r * GRID + c] = 1;
    }
}

static int unpack(const struct pipeline *pipe, const struct stream *s, void *out, void **state)
{
    (void)state;
#ifdef HAVE_DEFLATE
    if (pipe->h5 == H5Z_FILTER_DEFLATE) {
        if (*state == NULL)
            *state = libdeflate_alloc_decompressor();
        return libdeflate_zlib_decompress(*state, s->p, s->size, out, PAYLOAD, NULL) == 0;
    }
#endif
#ifdef HAVE_LZ4
    if (pipe->h5 == H5_LZ4)
        return LZ4_decompress_safe(s->p, out, (int)s->size, PAYLOAD) == PAYLOAD;
#endif
#ifdef HAVE_ZSTD
    if (pipe->h5 == H5_ZSTD) {
        if (*state == NULL)
            *state = ZSTD_createDCtx();
        return ZSTD_decompressDCtx(*state, out, PAYLOAD, s->p, s->size) == PAYLOAD;
    }
#endif
    return 0;
}

static void state_free(const struct pipeline *pipe, void *state)
{
    (void)pipe;
    (void)state;
#ifdef HAVE_DEFLATE
    if (pipe->h5 == H5Z_FILTER_DEFLATE && state != NULL)
        libdeflate_free_decompressor(state);
#endif
#ifdef HAVE_ZSTD
    if (pipe->h5 == H5_ZSTD)
        ZSTD_freeDCtx(state);
#endif
}

static void *decode_half(void *ctx)
{
    struct half *h = ctx;
    unsigned char touched[GRID * GRID], *out = malloc(PAYLOAD);
    void *state = NULL;
    int turn = 0;

    bench_must(out != NULL, "memory");
    mark(h->w, touched);
    for (int i = 0; i < GRID * GRID; i++)
        if (touched[i] && turn++ % 2 == h->number) {
            bench_must(unpack(h->w->pipe, &h->w->stream[i], out, &state), "unpacking a chunk");
            h->sink ^= out[PAYLOAD / 2];
        }
    state_free(h->w->pipe, state);
    free(out);
    return NULL;
}

/* Every chunk that any block touches, once, from memory; neither read nor verified nor taken
 * out of its shuffle. */
static void limit_decode(void *ctx)
{
    in_halves(ctx, 2, -1, decode_half);
}

static void limit_decode_one(void *ctx)
{
    for (int i = 0; i < 2; i++) {
        struct half h = {.w = ctx, .number = i};

        decode_half(&h);
        ((struct work *)ctx)->sink ^= h.sink;
    }
}

/* What a cache of 64 MiB lacks at each call, the longest unused having left it: the half of
 * it, rounded up, is what one of two threads decodes before the call returns. */
static void make_turns(struct work *w)
{
    int used[GRID * GRID] = {0}, now = 0, in = 0;

    w->turn = calloc((size_t)w->nboxes * 4, sizeof *w->turn);
    bench_must(w->turn != NULL, "memory");
    w->nturns = 0;
    for (int i = 0; i < w->nboxes; i++) {
        unsigned char touched[GRID * GRID];
        struct work one = {.box = &w->box[i], .nboxes = 1};
        int lacks = 0;

        mark(&one, touched);
        for (int k = 0; k < GRID * GRID; k++) {
            int oldest = k;

            if (!touched[k])
                continue;
            if (used[k] == 0 && lacks++ % 2 == 0)
                w->turn[w->nturns++] = k;
            if (used[k] == 0 && ++in > (64 << 20) / PAYLOAD) {
                for (int o = 0; o < GRID * GRID; o++)
                    if (used[o] > 0 && (oldest == k || used[o] < used[oldest]))
                        oldest = o;
                used[oldest] = 0;
                in--;
            }
            used[k] = ++now;
        }
    }
}

static void limit_calls(void *ctx)
{
    struct work *w = ctx;
    unsigned char *out = malloc(PAYLOAD);
    void *state = NULL;

    bench_must(out != NULL, "memory");
    for (int i = 0; i < w->nturns; i++) {
        bench_must(unpack(w->pipe, &w->stream[w->turn[i]], out, &state), "unpacking a chunk");
        w->sink ^= out[PAYLOAD / 2];
    }
    state_free(w->pipe, state);
    free(out);
}

static void raw_remove(void *ctx)
{
    unlink(((struct work *)ctx)->raw);
}

/* Chunk after chunk, summed and written. */
static void *write_half(void *ctx)
{
    struct half *h = ctx;
    double *room = malloc(PAYLOAD);

    bench_must(room != NULL, "memory");
    for (int i = h->number; i < GRID * GRID; i += 2) {
        chunk_gather(h->w, i, room);
        h->sink ^= bench_sums(room, PAYLOAD);
        bench_must(pwrite(h->fd, room, PAYLOAD, (off_t)i * PAYLOAD) == PAYLOAD, "pwrite");
    }
    free(room);
    return NULL;
}

static void limit_write(void *ctx)
{
    struct work *w = ctx;
    int fd = open(w->raw, O_RDWR | O_CREAT | O_TRUNC, 0600);

    bench_must(fd >= 0, w->raw);
    in_halves(w, 2, fd, write_half);
    close(fd);
}

/* What a box has of one chunk: the 4 KiB blocks it stands in are read and summed. */
static void read_some(struct half *h, const struct box *b, int64_t r, int64_t c, double *room,
                      double *to)
{
    int64_t r0 = b->start[0] > r * CHUNK ? b->start[0] - r * CHUNK : 0;
    int64_t r1 = b->start[0] + b->count[0] - r * CHUNK;
    int64_t c0 = b->start[1] > c * CHUNK ? b->start[1] - c * CHUNK : 0;
    int64_t c1 = b->start[1] + b->count[1] - c * CHUNK;
    int64_t low, high;

    r1 = r1 < CHUNK ? r1 : CHUNK;
    c1 = c1 < CHUNK ? c1 : CHUNK;
    low = (r0 * CHUNK + c0) / 512 * 512;
    high = ((r1 - 1) * CHUNK + c1 + 511) / 512 * 512;
    bench_must(pread(h->fd, room, (size_t)(high - low) * 8,
                     ((r * GRID + c) * CHUNK * CHUNK + low) * 8) == (high - low) * 8,
               "pread");
    h->sink ^= bench_sums(room, (size_t)(high - low) * 8);
    for (int64_t i = r0; i < r1; i++)
        memcpy(to + (r * CHUNK + i - b->start[0]) * b->count[1] + c * CHUNK + c0 - b->start[1],
               room + i * CHUNK + c0 - low, (size_t)(c1 - c0) * 8);
}

static void *read_half(void *ctx)
{
    struct half *h = ctx;
    double *room = malloc(PAYLOAD), *to = h->w->back;
    int step = h->w->threads == 1 ? 1 : 2;

    bench_must(room != NULL, "memory");
    for (int i = 0; i < h->w->nboxes; i++) {
        const struct box *b = &h->w->box[i];

        for (int64_t r = b->start[0] / CHUNK;
             i % step == h->number && r <= (b->start[0] + b->count[0] - 1) / CHUNK; r++)
            for (int64_t c = b->start[1] / CHUNK; c <= (b->start[1] + b->count[1] - 1) / CHUNK; c++)
                read_some(h, b, r, c, room, to);
        to += b->count[0] * b->count[1];
    }
    free(room);
    return NULL;
}

static void limit_blocks(struct work *w, int threads)
{
    int fd = open(w->raw, O_RDONLY), before = w->threads;

    bench_must(fd >= 0, w->raw);
    w->threads = threads;
    in_halves(w, threads, fd, read_half);
    w->threads = before;
    close(fd);
}

static void limit_blocks_one(void *ctx)
{
    limit_blocks(ctx, 1);
}

static void limit_blocks_two(void *ctx)
{
    limit_blocks(ctx, 2);
}

/* ---- what is read ---- */

static struct box blocks[BLOCKS], rows[4], columns[4], row_by_row[SIDE];
static const struct box everything = {{0, 0}, {SIDE, SIDE}};
static const struct box both_halves[] = {{{0, 0}, {SIDE / 2, SIDE}},
                                         {{SIDE / 2, 0}, {SIDE / 2, SIDE}}};

static void make_boxes(void)
{
    uint64_t r[2 * BLOCKS];

    bench_random(r, sizeof r, 7);
    for (int i = 0; i < BLOCKS; i++)
        blocks[i] = (struct box){{(int64_t)(r[2 * i] % (SIDE - BLOCK + 1)),
                                  (int64_t)(r[2 * i + 1] % (SIDE - BLOCK + 1))},
                                 {BLOCK, BLOCK}};
    for (int i = 0; i < 4; i++) {
        rows[i] = (struct box){{1000 + 2000 * i, 0}, {1, SIDE}};
        columns[i] = (struct box){{0, 1000 + 2000 * i}, {SIDE, 1}};
    }
    for (int i = 0; i < SIDE; i++)
        row_by_row[i] = (struct box){{i, 0}, {1, SIDE}};
}

/* What was read must be what was written: a fast wrong answer is no answer. */
static void check_boxes(struct work *w)
{
    const double *p = w->back;

    for (int i = 0; i < w->nboxes; i++) {
        const struct box *b = &w->box[i];

        for (int64_t k = 0; k < b->count[0]; k++, p += b->count[1])
            bench_must(memcmp(p, w->data + (b->start[0] + k) * SIDE + b->start[1],
                              (size_t)b->count[1] * sizeof *p) == 0,
                       "comparing what was read");
    }
}

static int read_row(struct work *w, const char *what, const struct box *box, int n, int rounds,
                    double bar_default, double bar_tuned, bench_fn *ours)
{
    struct bench_entry e[] = {{"datarep", NULL, ours, 0},
                              {"HDF5, default cache", NULL, h5_default, bar_default},
                              {"HDF5, its best cache", NULL, h5_tuned, bar_tuned}};
    char title[100];
    int missed;

    w->box = box;
    w->nboxes = n;
    snprintf(title, sizeof title, "%s: %s", w->pipe->name, what);
    if (strstr(title, w->only) == NULL)
        return 0;
    memset(w->back, 0, BYTES);
    ours(w);
    check_boxes(w);
    if (bar_default == 0 && bar_tuned == 0)
        return 0;
    if (bar_default < 0) { /* too slow to be run often, and without a bar */
        e[1] = e[2];
        missed = bench_versus(title, rounds, e, 2, w);
    } else {
        missed = bench_versus(title, rounds, e, 3, w);
    }
    check_boxes(w);
    return missed;
}

static int write_row(struct work *w, int rounds, double bar)
{
    struct bench_entry e[] = {{"datarep", drep_remove, drep_write_all, 0},
                              {"HDF5", h5_remove, h5_write_all, bar},
                              {"XXH3 + pwrite, 2 threads", raw_remove, limit_write, 0}};
    char title[100];
    struct stat ours, theirs;
    int missed;

    snprintf(title, sizeof title, "%s: write all", w->pipe->name);
    if (strstr(title, w->only) == NULL) { /* the other rows read the files */
        drep_remove(w);
        drep_write_all(w);
        h5_write_all(w);
        return 0;
    }
    missed = bench_versus(title, rounds, e, w->pipe->nfilters > 0 ? 2 : 3, w);
    bench_must(stat(w->drep, &ours) == 0, "stat");
    if (w->pipe->nfilters > 0 && stat(w->h5, &theirs) == 0) /* BENCH_SKIP may leave the peer out */
        printf("%-46s %8.2f : 1     HDF5 %27.2f : 1\n", "  compressed",
               (double)BYTES / (double)ours.st_size, (double)BYTES / (double)theirs.st_size);
    return missed;
}

/* How near we are to what the work takes at least, and HDF5 with its default cache: its time
 * through the limit's is what nobody can pass. */
static int limit_row(struct work *w, const char *what, const struct bench_entry *e, int n)
{
    char title[100];

    w->box = blocks;
    w->nboxes = BLOCKS;
    snprintf(title, sizeof title, "%s: %s", w->pipe->name, what);
    return strstr(title, w->only) == NULL ? 0 : bench_versus(title, 5, e, n, w);
}

/* With a cache that holds all chunks; once they are decoded, too. */
static int decode_limits(struct work *w)
{
    double bar = w->pipe->h5 == H5Z_FILTER_DEFLATE ? 0.9 : 0;
    const struct bench_entry calls[] = {{"datarep", NULL, drep_read_boxes, 0},
                                        {"decode once, 2 threads", NULL, limit_decode, 0},
                                        {"call by call, 64 MiB", NULL, limit_calls, 0}},
                             one[] = {{"datarep", NULL, drep_read_held, 0},
                                      {"decode once, 1 thread", NULL, limit_decode_one, bar},
                                      {"datarep, decoded before", drep_warm, drep_read_warm, 0}},
                             both[] = {{"datarep", NULL, drep_read_held, 0},
                                       {"decode once, 2 threads", NULL, limit_decode, bar},
                                       {"datarep, decoded before", drep_warm, drep_read_warm, 0}};
    int threads = w->threads, missed = limit_row(w, "1000 random blocks, limits", calls, 3);

    w->threads = 1;
    missed += limit_row(w, "1000 blocks, all in the cache, 1 thread", one, 3);
    w->threads = 0;
    missed += limit_row(w, "1000 blocks, all in the cache, default", both, 3);
    w->threads = threads;
    return missed;
}

/* All of it, the limits by as many threads as ours. */
static int whole_limits(struct work *w)
{
    const struct bench_entry one[] = {{"datarep", NULL, drep_read_boxes, 0},
                                      {"HDF5", NULL, h5_tuned, 0},
                                      {"pread, XXH3, 1 thread", NULL, limit_blocks_one, 0.9}};
    const struct bench_entry two[] = {{"datarep", NULL, drep_read_boxes, 0},
                                      {"HDF5", NULL, h5_tuned, 0},
                                      {"pread, XXH3, 2 threads", NULL, limit_blocks_two, 0.9}};
    int missed;

    if (strstr("unfiltered: read all, limits", w->only) == NULL)
        return 0;
    w->threads = 1;
    w->box = &everything;
    w->nboxes = 1;
    missed = bench_versus("unfiltered: read all, limits, one thread", 5, one, 3, w);
    w->threads = 0;
    w->box = both_halves;
    w->nboxes = 2;
    missed += bench_versus("unfiltered: read all, limits, default", 5, two, 3, w);
    check_boxes(w);
    return missed;
}

static int block_limits(struct work *w)
{
    const struct bench_entry raw[] = {{"datarep", NULL, drep_read_boxes, 0},
                                      {"pread, XXH3, 1 thread", NULL, limit_blocks_one, 0},
                                      {"pread, XXH3, 2 threads", NULL, limit_blocks_two, 0}};
    int missed;

    if (w->pipe->nfilters > 0) {
        w->box = blocks;
        w->nboxes = BLOCKS;
        make_streams(w);
        make_turns(w);
        missed = decode_limits(w);
        free_streams(w);
        free(w->turn);
        return missed;
    }
    limit_write(w);
    missed = limit_row(w, "1000 random blocks, limits", raw, 3);
    w->box = blocks;
    w->nboxes = BLOCKS;
    limit_blocks_two(w);
    check_boxes(w);
    missed += whole_limits(w);
    raw_remove(w);
    return missed;
}

static int unfiltered(struct work *w)
{
    int missed = 0;

    w->pipe = &plain;
    missed += write_row(w, 5, 1.3);
    missed += read_row(w, "read all", &everything, 1, 5, 1.3, 1.3, drep_read_boxes);
    missed += read_row(w, "4 columns", columns, 4, 9, -1, 1, drep_read_boxes);
    missed += read_row(w, "4 columns, drep_verify=off", columns, 4, 9, -1, 2, drep_read_unverified);
    missed += read_row(w, "4 rows", rows, 4, 9, -1, 8, drep_read_boxes);
    missed += read_row(w, "4 rows, drep_verify=off", rows, 4, 9, -1, 8, drep_read_unverified);
    missed += read_row(w, "1000 random 64x64 blocks", blocks, BLOCKS, 9, -1, 3, drep_read_boxes);
    missed += read_row(w, "1000 random blocks, drep_verify=off", blocks, BLOCKS, 9, -1, 4,
                       drep_read_unverified);
    missed += block_limits(w);
    missed += read_row(w, "row by row, default", row_by_row, SIDE, 1, 40, 0, drep_read_boxes);
    missed += read_row(w, "row by row", row_by_row, SIDE, 5, -1, 1.5, drep_read_boxes);
    return missed;
}

static int filtered(struct work *w, const struct pipeline *pipe)
{
    int missed = 0;

    w->pipe = pipe;
    missed += write_row(w, 3, 1.8);
    missed += read_row(w, "read all", &everything, 1, 3, -1, 1.8, drep_read_boxes);
    missed += read_row(w, "1000 random 64x64 blocks", blocks, BLOCKS, 3, 9, 1, drep_read_boxes);
    missed += block_limits(w);
    return missed;
}

/* ---- threads that share a handle ---- */

enum { THREADS = 8 };

struct reader {
    pthread_t thread;
    struct work *w;
    drep_dataset *set;
    int first, step; /* of the chunks, in grid order */
    double *back;
};

static void *read_chunks(void *ctx)
{
    struct reader *r = ctx;
    drep_xfer one = DREP_XFER(.threads = 1);
    const int64_t count[] = {CHUNK, CHUNK};

    for (int i = r->first; i < SIDE / CHUNK * (SIDE / CHUNK); i += r->step) {
        const int64_t start[] = {i / (SIDE / CHUNK) * CHUNK, i % (SIDE / CHUNK) * CHUNK};
        drep_selection *sel;

        bench_must(drep_select_box(2, start, count, NULL, NULL, &sel) == 0, "drep_select_box");
        bench_must(drep_read(r->set, sel, DREP_DOUBLE, r->back, &one) == 0, "drep_read");
        drep_selection_free(sel);
        bench_must(r->back[0] == r->w->data[start[0] * SIDE + start[1]], "comparing a chunk");
    }
    return NULL;
}

static void *copy_chunks(void *ctx)
{
    struct reader *r = ctx;
    size_t size = CHUNK * CHUNK * sizeof(double);

    for (int i = r->first; i < SIDE / CHUNK * (SIDE / CHUNK); i += r->step)
        memcpy(r->back, (const char *)r->w->data + (size_t)i * size, size);
    return NULL;
}

static void in_threads(struct work *w, int threads, void *(*fn)(void *))
{
    struct reader r[THREADS];
    drep_dataset *set;
    drep_file *file;

    drep_open_set(w, NULL, &file, &set);
    for (int i = 0; i < threads; i++) {
        r[i] = (struct reader){.w = w, .set = set, .first = i, .step = threads};
        r[i].back = w->back + (size_t)i * CHUNK * CHUNK;
        bench_must(pthread_create(&r[i].thread, NULL, fn, &r[i]) == 0, "pthread_create");
    }
    for (int i = 0; i < threads; i++)
        pthread_join(r[i].thread, NULL);
    drep_dataset_close(set);
    bench_must(drep_close(file) == 0, "drep_close");
}

static void read_one(void *ctx)
{
    in_threads(ctx, 1, read_chunks);
}

static void read_eight(void *ctx)
{
    in_threads(ctx, THREADS, read_chunks);
}

static void read_two(void *ctx)
{
    in_threads(ctx, 2, read_chunks);
}

static void copy_one(void *ctx)
{
    in_threads(ctx, 1, copy_chunks);
}

static void copy_two(void *ctx)
{
    in_threads(ctx, 2, copy_chunks);
}

/* Two threads that read every chunk of one dataset, through one handle. */
static int shared_by_two(struct work *w)
{
    const struct bench_entry e[] = {{"datarep", NULL, read_two, 0},
                                    {"decode once, 2 threads", NULL, limit_decode, 0.9}};
    char title[100];
    int missed;

    snprintf(title, sizeof title, "%s: chunks, 2 threads, one handle", w->pipe->name);
    if (w->pipe->h5 != H5Z_FILTER_DEFLATE || strstr(title, w->only) == NULL)
        return 0;
    w->box = &everything;
    w->nboxes = 1;
    make_streams(w);
    missed = bench_versus(title, 9, e, 2, w);
    free_streams(w);
    return missed;
}

static int shared_handle(struct work *w)
{
    struct bench_entry copies[] = {{"", NULL, copy_two, 0}, {"one thread", NULL, copy_one, 0}};
    struct bench_entry e[] = {{"", NULL, read_eight, 0}, {"one thread", NULL, read_one, 0}};
    char title[100];
    int missed;

    snprintf(title, sizeof title, "%s: chunks, 8 threads, one handle", w->pipe->name);
    if (strstr(title, w->only) == NULL)
        return 0;
    w->threads = 1;
    if (w->pipe->nfilters == 0) {
        bench_versus("memcpy, chunk by chunk, 2 threads", 9, copies, 2, w);
        e[1].bar = 0.9 * bench_ratio();
    } else {
        e[1].bar = 1.7;
    }
    missed = bench_versus(title, 9, e, 2, w);
    w->threads = 0;
    return missed;
}

/* ---- memory ---- */

static void nothing(void *ctx)
{
    (void)ctx;
}

static int peak(struct work *w, const char *what, const struct box *box, int n, bench_fn *fn)
{
    double more, most = 64 + 16 + 2 * 2 * CHUNK * CHUNK * 8 / 1048576.0;

    w->box = box;
    w->nboxes = n;
    if (strstr(what, w->only) == NULL)
        return 0;
    more = (bench_peak(fn, w) - bench_peak(nothing, w)) / 1048576.0;
    printf("%-46s %8.1f MiB beside the buffer, at most %5.1f: %s\n", what, more, most,
           more <= most ? "met" : "MISSED");
    fflush(stdout);
    return more > most;
}

static int peaks(struct work *w)
{
    char what[100];
    int missed = 0;

    snprintf(what, sizeof what, "%s: peak, read all", w->pipe->name);
    missed += peak(w, what, &everything, 1, drep_read_boxes);
    snprintf(what, sizeof what, "%s: peak, blocks", w->pipe->name);
    missed += peak(w, what, blocks, BLOCKS, drep_read_boxes);
    snprintf(what, sizeof what, "%s: peak, row by row", w->pipe->name);
    missed += peak(w, what, row_by_row, SIDE, drep_read_boxes);
    drep_remove(w);
    snprintf(what, sizeof what, "%s: peak, write all", w->pipe->name);
    missed += peak(w, what, NULL, 0, drep_write_all);
    return missed;
}

/* bench_chunks [WORD [ROW]]: only the rows whose pipeline's name has the word in it, and the
 * row's title the other. */
int main(int argc, char **argv)
{
    const char *only = argc > 1 ? argv[1] : "";
    struct work w = {.only = argc > 2 ? argv[2] : ""};
    unsigned maj, min, rel;
    int missed = 0;

    H5get_libversion(&maj, &min, &rel);
    h5_filters();
    make_boxes();
    printf("%s; HDF5 %u.%u.%u\n", drep_version(), maj, min, rel);
    printf("%d x %d double in %d x %d chunks: median times, ratio, least ratio\n", SIDE, SIDE,
           CHUNK, CHUNK);
    snprintf(w.drep, sizeof w.drep, "%s/bench-%d.drep", bench_dir(), (int)getpid());
    snprintf(w.h5, sizeof w.h5, "%s/bench-%d.h5", bench_dir(), (int)getpid());
    snprintf(w.raw, sizeof w.raw, "%s/bench-%d.raw", bench_dir(), (int)getpid());
    bench_must(posix_memalign((void **)&w.data, 4096, BYTES) == 0 &&
                   posix_memalign((void **)&w.back, 4096, BYTES) == 0,
               "memory");
    bench_must(drep_info_new(&w.verify_off) == 0 &&
                   drep_info_set(w.verify_off, "drep_verify", "off") == 0 &&
                   drep_info_new(&w.holds_all) == 0 &&
                   drep_info_set(w.holds_all, "drep_cache_size", "1073741824") == 0,
               "drep_info");
    bench_field(w.data, SIDE, SIDE, 1);
    memset(w.back, 1, BYTES);
    if (strstr(plain.name, only) != NULL) {
        missed += unfiltered(&w);
        missed += shared_handle(&w);
        missed += peaks(&w);
    }
    for (size_t i = 0; i < sizeof pipelines / sizeof *pipelines; i++) {
        if (strstr(pipelines[i].name, only) == NULL)
            continue;
        missed += filtered(&w, &pipelines[i]);
        missed += shared_by_two(&w);
        missed += shared_handle(&w);
        missed += peaks(&w);
    }
    unlink(w.drep);
    unlink(w.h5);
    unlink(w.raw);
    printf("bars missed: %d\n", missed);
    return 0;
}
