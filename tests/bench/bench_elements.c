/* bench_elements.c - a little of an open dataset: single elements, blocks of 64x64, one member of a
 * struct; elements that are overwritten.
 *
 * The limits read the same bytes of the same file in the same order: pread() alone for elements and
 * blocks, pread() with XXH3 over each 4 KiB and a loop that gathers for the member.  Overwrites
 * keep the last commit whole; HDF5 and pwrite() change the file in place.  Rows: elements, blocks,
 * members, overwrites. */
/* SPDX-License-Identifier: MIT */
#include "bench.h"

#include <datarep.h>
#include <fcntl.h>
#include <hdf5.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    ROWS = FIGURE(4096, 3744),
    COLUMNS = FIGURE(8192, 6240),
    READS = 20000,
    BLOCKS = 1000,
    SIDE = FIGURE(64, 48),
    CELL = FIGURE(256, 96), /* a side of a chunk */
    RECORDS = FIGURE(4 << 20, 3000001),
    PIECE = 240 << 10,
    OVERWRITES = 2000,
    LINE = 64 << 20
};

/* 40 bytes, of which `value` is read. */
struct record {
    int64_t number;
    double value;
    float position[4];
    int64_t time;
};

struct work {
    char drep[64], h5[64], other[64];
    drep_file *file;
    drep_dataset *dataset;
    hid_t h5_file, h5_dataset, h5_memory, h5_type, h5_whole;
    int fd;
    uint64_t start; /* of the payload in our file, for the limits */
    const drep_type *type, *whole;
    struct record *structs;
    int64_t (*place)[2];
    int n, side, threads, chunked;
    double *out;
    void *piece;
    double sum;
    uint64_t sink;
};

static void close_all(struct work *w)
{
    drep_dataset_close(w->dataset);
    bench_must(drep_close(w->file) == 0, "close");
    if (w->h5_dataset > 0) {
        H5Dclose(w->h5_dataset);
        H5Sclose(w->h5_memory);
        H5Fclose(w->h5_file);
    }
    close(w->fd);
    unlink(w->drep);
    unlink(w->h5);
}

/* Opens what was written; the payload is found by its first bytes. */
static void open_all(struct work *w, const void *first, size_t size)
{
    char *head = malloc(1 << 20);
    const char *found;
    ssize_t n;

    bench_must(drep_open(w->drep, DREP_RDONLY, NULL, &w->file) == 0 &&
                   drep_dataset_open(w->file, "d", &w->dataset) == 0,
               "open");
    w->fd = open(w->drep, O_RDONLY);
    n = pread(w->fd, head, 1 << 20, 0);
    found = n > 0 ? memmem(head, (size_t)n, first, size) : NULL;
    bench_must(found != NULL, "finding the payload");
    w->start = (uint64_t)(found - head);
    free(head);
}

/* ---- elements and blocks ---- */

static void drep_blocks(void *ctx)
{
    struct work *w = ctx;
    const int64_t count[] = {w->side, w->side};
    const drep_xfer xfer = DREP_XFER(.threads = w->threads);

    w->sum = 0;
    for (int i = 0; i < w->n; i++) {
        bench_must(drep_read_box(w->dataset, w->place[i], count, NULL, w->out, &xfer) == 0, "read");
        w->sum += w->out[w->side * w->side - 1];
    }
}

/* Chunks lie one after the other, in the order of the grid. */
static uint64_t place_in_file(const struct work *w, int64_t row, int64_t column)
{
    int64_t cell = row / CELL * (COLUMNS / CELL) + column / CELL;

    if (!w->chunked)
        return w->start + 8 * (uint64_t)(row * COLUMNS + column);
    return w->start + 8 * (uint64_t)(cell * CELL * CELL + row % CELL * CELL + column % CELL);
}

static void raw_blocks(void *ctx)
{
    struct work *w = ctx;
    size_t size = (size_t)w->side * sizeof(double);
    double sum = 0;

    for (int i = 0; i < w->n; i++) {
        for (int k = 0; k < w->side; k++) {
            uint64_t at = place_in_file(w, w->place[i][0] + k, w->place[i][1]);

            bench_must(pread(w->fd, w->out + k * w->side, size, (off_t)at) == (ssize_t)size,
                       "pread");
        }
        sum += w->out[w->side * w->side - 1];
    }
    bench_must(sum == w->sum, "comparing what was read");
}

static void h5_blocks(void *ctx)
{
    struct work *w = ctx;
    const hsize_t count[] = {(hsize_t)w->side, (hsize_t)w->side};
    hid_t space = H5Dget_space(w->h5_dataset);
    double sum = 0;

    for (int i = 0; i < w->n; i++) {
        const hsize_t at[] = {(hsize_t)w->place[i][0], (hsize_t)w->place[i][1]};

        H5Sselect_hyperslab(space, H5S_SELECT_SET, at, NULL, count, NULL);
        bench_must(H5Dread(w->h5_dataset, H5T_NATIVE_DOUBLE, w->h5_memory, space, H5P_DEFAULT,
                           w->out) >= 0,
                   "H5Dread");
        sum += w->out[w->side * w->side - 1];
    }
    H5Sclose(space);
    bench_must(sum == w->sum, "comparing what was read");
}

static int block_row(struct work *w, const char *title, int side, int n, double bar)
{
    const struct bench_entry e[] = {{"datarep", NULL, drep_blocks, 0},
                                    {"pread", NULL, raw_blocks, bar},
                                    {"HDF5", NULL, h5_blocks, 0}};
    const hsize_t box[] = {(hsize_t)side, (hsize_t)side};
    char text[100];

    for (int i = 0; i < n; i++) {
        w->place[i][0] %= ROWS - side + 1;
        w->place[i][1] %= COLUMNS - side + 1;
    }
    w->n = n;
    w->side = side;
    w->h5_memory = H5Screate_simple(2, box, NULL);
    snprintf(text, sizeof text, "%s, %s", title,
             w->threads == 1 ? "one thread" : "default threads");
    return bench_versus(text, 7, e, 3, w);
}

static void make_plane(struct work *w, int chunked)
{
    const int64_t dims[] = {ROWS, COLUMNS};
    const hsize_t h5_dims[] = {ROWS, COLUMNS};
    const int64_t cell[] = {CELL, CELL};
    const hsize_t h5_cell[] = {CELL, CELL};
    const drep_spec spec = DREP_SPEC(.type = DREP_DOUBLE, .rank = 2, .dims = dims,
                                     .layout = chunked ? DREP_CHUNKED : DREP_CONTIGUOUS,
                                     .chunk = chunked ? cell : NULL);
    double *data = malloc(sizeof(double) * ROWS * COLUMNS);
    hid_t space = H5Screate_simple(2, h5_dims, NULL), how = H5Pcreate(H5P_DATASET_CREATE);
    uint64_t *random = malloc(2 * READS * sizeof *random);

    bench_must(data && random, "memory");
    w->chunked = chunked;
    if (chunked)
        H5Pset_chunk(how, 2, h5_cell);
    bench_doubles(data, (size_t)ROWS * COLUMNS, 1);
    bench_must(drep_create(w->drep, DREP_RDWR, "native", NULL, &w->file) == 0 &&
                   drep_dataset_create(w->file, "d", &spec, &w->dataset) == 0 &&
                   drep_write(w->dataset, NULL, NULL, data, NULL) == 0,
               "write");
    drep_dataset_close(w->dataset);
    bench_must(drep_close(w->file) == 0, "close");
    open_all(w, data, chunked ? CELL * sizeof *data : 4096);
    w->h5_file = H5Fcreate(w->h5, H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
    w->h5_dataset =
        H5Dcreate2(w->h5_file, "d", H5T_NATIVE_DOUBLE, space, H5P_DEFAULT, how, H5P_DEFAULT);
    H5Pclose(how);
    bench_must(H5Dwrite(w->h5_dataset, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, data) >= 0,
               "H5Dwrite");
    H5Sclose(space);
    bench_random(random, 2 * READS * sizeof *random, 2);
    for (int i = 0; i < READS; i++) {
        w->place[i][0] = (int64_t)(random[2 * i] % ROWS);
        w->place[i][1] = (int64_t)(random[2 * i + 1] % COLUMNS);
    }
    free(random);
    free(data);
}

static int elements(struct work *w)
{
    int missed = 0;

    make_plane(w, 0);
    for (w->threads = 0; w->threads < 2; w->threads++)
        missed += block_row(w, "20,000 single elements, open dataset, verified", 1, READS, 0.55);
    close_all(w);
    make_plane(w, 1);
    w->threads = 1;
    missed += block_row(w, "20,000 single elements, chunks of 256x256", 1, READS, 0.75);
    close_all(w);
    return missed;
}

static int blocks(struct work *w)
{
    int missed = 0;

    make_plane(w, 0);
    for (w->threads = 0; w->threads < 2; w->threads++)
        missed += block_row(w, "1,000 random blocks of 64x64, not filtered", SIDE, BLOCKS, 0.85);
    close_all(w);
    return missed;
}

/* ---- one member ---- */

static void drep_member(void *ctx)
{
    struct work *w = ctx;
    const drep_xfer xfer = DREP_XFER(.threads = w->threads);

    bench_must(drep_read(w->dataset, NULL, w->type, w->out, &xfer) == 0, "read");
}

static void raw_member(void *ctx)
{
    struct work *w = ctx;
    size_t per = PIECE / sizeof(struct record), left = RECORDS;
    double *to = w->out;

    for (uint64_t at = w->start; left > 0; at += PIECE) {
        const char *p = w->piece;
        size_t n = left < per ? left : per, size = n * sizeof(struct record);

        bench_must(pread(w->fd, w->piece, size, (off_t)at) == (ssize_t)size, "pread");
        w->sink ^= bench_sums(w->piece, size);
        for (size_t i = 0; i < n; i++, p += sizeof(struct record))
            memcpy(to++, p + offsetof(struct record, value), sizeof(double));
        left -= n;
    }
}

static void h5_member(void *ctx)
{
    struct work *w = ctx;

    bench_must(H5Dread(w->h5_dataset, w->h5_type, H5S_ALL, H5S_ALL, H5P_DEFAULT, w->out) >= 0,
               "H5Dread");
}

static void make_records(struct work *w, struct record *data)
{
    const int64_t n = RECORDS, four = 4;
    const hsize_t h5_n = RECORDS, h5_four = 4;
    const char *const names[] = {"number", "value", "position", "time"}, *const one[] = {"value"};
    drep_type *array = NULL, *whole = NULL, *member = NULL;
    hid_t type = H5Tcreate(H5T_COMPOUND, sizeof(struct record)),
          space = H5Screate_simple(1, &h5_n, NULL);
    hid_t position = H5Tarray_create2(H5T_NATIVE_FLOAT, 1, &h5_four);

    bench_random(data, sizeof *data * RECORDS, 5);
    for (int i = 0; i < RECORDS; i++)
        data[i].value = i * 1.25;
    bench_must(drep_type_array(1, &four, DREP_FLOAT, &array) == 0 &&
                   drep_type_compound(
                       4, names, NULL,
                       (const drep_type *const[]){DREP_INT64_T, DREP_DOUBLE, array, DREP_INT64_T},
                       0, &whole) == 0 &&
                   drep_type_compound(1, one, NULL, (const drep_type *const[]){DREP_DOUBLE}, 0,
                                      &member) == 0,
               "types");
    bench_must(drep_create(w->drep, DREP_RDWR, "native", NULL, &w->file) == 0 &&
                   drep_dataset_create(w->file, "d",
                                       &DREP_SPEC(.type = whole, .rank = 1, .dims = &n),
                                       &w->dataset) == 0 &&
                   drep_write(w->dataset, NULL, whole, data, NULL) == 0,
               "write");
    drep_dataset_close(w->dataset);
    bench_must(drep_close(w->file) == 0, "close");
    open_all(w, data, 4096);
    w->type = member;
    H5Tinsert(type, "number", HOFFSET(struct record, number), H5T_NATIVE_INT64);
    H5Tinsert(type, "value", HOFFSET(struct record, value), H5T_NATIVE_DOUBLE);
    H5Tinsert(type, "position", HOFFSET(struct record, position), position);
    H5Tinsert(type, "time", HOFFSET(struct record, time), H5T_NATIVE_INT64);
    w->h5_type = H5Tcreate(H5T_COMPOUND, sizeof(double));
    H5Tinsert(w->h5_type, "value", 0, H5T_NATIVE_DOUBLE);
    w->h5_file = H5Fcreate(w->h5, H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
    w->h5_dataset = H5Dcreate2(w->h5_file, "d", type, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    w->h5_memory = space;
    bench_must(H5Dwrite(w->h5_dataset, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, data) >= 0, "H5Dwrite");
    w->h5_whole = type;
    w->whole = whole;
    drep_type_free(array);
}

/* ---- whole structs ---- */

static void drep_structs(void *ctx)
{
    struct work *w = ctx;
    const drep_xfer xfer = DREP_XFER(.threads = 1);

    bench_must(drep_read(w->dataset, NULL, w->whole, w->structs, &xfer) == 0, "read");
}

static void raw_structs(void *ctx)
{
    struct work *w = ctx;
    char *to = (char *)w->structs;

    for (size_t at = 0, all = sizeof(struct record) * RECORDS; at < all; at += PIECE) {
        size_t size = all - at < PIECE ? all - at : PIECE;

        bench_must(pread(w->fd, to + at, size, (off_t)(w->start + at)) == (ssize_t)size, "pread");
        w->sink ^= bench_sums(to + at, size);
    }
}

static void h5_structs(void *ctx)
{
    struct work *w = ctx;

    bench_must(H5Dread(w->h5_dataset, w->h5_whole, H5S_ALL, H5S_ALL, H5P_DEFAULT, w->structs) >= 0,
               "H5Dread");
}

static void remove_other(void *ctx)
{
    unlink(((struct work *)ctx)->other);
}

static void write_structs(struct work *w, const char *datarep)
{
    const drep_xfer xfer = DREP_XFER(.threads = 1);
    const int64_t n = RECORDS;
    drep_dataset *set = NULL;
    drep_file *file;

    bench_must(drep_create(w->other, DREP_RDWR, datarep, NULL, &file) == 0 &&
                   drep_dataset_create(
                       file, "d", &DREP_SPEC(.type = w->whole, .rank = 1, .dims = &n), &set) == 0 &&
                   drep_write(set, NULL, w->whole, w->structs, &xfer) == 0,
               "write");
    drep_dataset_close(set);
    bench_must(drep_close(file) == 0, "close");
}

static void drep_structs_out(void *ctx)
{
    write_structs(ctx, "native");
}

static void drep_structs_big(void *ctx)
{
    write_structs(ctx, "external32");
}

/* The bytes of a struct's members turned round. */
BEST static void turn_structs(char *restrict to, const struct record *restrict from, size_t n)
{
    for (size_t i = 0; i < n; i++, to += sizeof *from) {
        uint64_t eight[3];
        uint32_t four[4];

        memcpy(&eight[0], &from[i].number, 8);
        memcpy(&eight[1], &from[i].value, 8);
        memcpy(four, from[i].position, 16);
        memcpy(&eight[2], &from[i].time, 8);
        for (int k = 0; k < 3; k++)
            eight[k] = __builtin_bswap64(eight[k]);
        for (int k = 0; k < 4; k++)
            four[k] = __builtin_bswap32(four[k]);
        memcpy(to, eight, 16);
        memcpy(to + 16, four, 16);
        memcpy(to + 32, &eight[2], 8);
    }
}

static void raw_structs_big(void *ctx)
{
    struct work *w = ctx;
    int fd = open(w->other, O_WRONLY | O_CREAT, 0600);

    bench_must(fd >= 0, w->other);
    for (size_t at = 0, per = PIECE / sizeof(struct record); at < RECORDS; at += per) {
        size_t n = RECORDS - at < per ? RECORDS - at : per, size = n * sizeof(struct record);

        turn_structs(w->piece, w->structs + at, n);
        w->sink ^= bench_sums(w->piece, size);
        bench_must(pwrite(fd, w->piece, size, (off_t)(at * sizeof(struct record))) == (ssize_t)size,
                   "pwrite");
    }
    close(fd);
}

static void raw_structs_out(void *ctx)
{
    struct work *w = ctx;
    const char *from = (const char *)w->structs;
    int fd = open(w->other, O_WRONLY | O_CREAT, 0600);

    bench_must(fd >= 0, w->other);
    for (size_t at = 0, all = sizeof(struct record) * RECORDS; at < all; at += PIECE) {
        size_t size = all - at < PIECE ? all - at : PIECE;

        w->sink ^= bench_sums(from + at, size);
        bench_must(pwrite(fd, from + at, size, (off_t)at) == (ssize_t)size, "pwrite");
    }
    close(fd);
}

static int whole_structs(struct work *w, const struct record *data)
{
    const struct bench_entry in[] = {{"datarep", NULL, drep_structs, 0},
                                     {"pread, XXH3", NULL, raw_structs, 0.95},
                                     {"HDF5", NULL, h5_structs, 0}};
    const struct bench_entry out[] = {{"datarep", remove_other, drep_structs_out, 0},
                                      {"XXH3, pwrite", remove_other, raw_structs_out, 0.95}};
    const struct bench_entry big[] = {{"datarep", remove_other, drep_structs_big, 0},
                                      {"swap, XXH3, pwrite", remove_other, raw_structs_big, 0.9}};
    size_t size = sizeof *data * RECORDS;
    int missed;

    w->structs = calloc(RECORDS, sizeof *data);
    bench_must(w->structs != NULL, "memory");
    drep_structs(w);
    bench_must(memcmp(w->structs, data, size) == 0, "comparing what was read");
    missed = bench_versus("4,194,304 structs of 40 bytes read, one thread", 7, in, 3, w);
    missed += bench_versus("4,194,304 structs of 40 bytes written, one thread", 7, out, 2, w);
    missed +=
        bench_versus("4,194,304 structs of 40 bytes written big-endian, one thread", 7, big, 2, w);
    remove_other(w);
    free(w->structs);
    return missed;
}

static int members(struct work *w)
{
    const struct bench_entry e[] = {{"datarep", NULL, drep_member, 0},
                                    {"pread, XXH3, loop", NULL, raw_member, 0.9},
                                    {"HDF5", NULL, h5_member, 0}};
    struct record *data = malloc(sizeof *data * RECORDS);
    int missed;

    bench_must(data != NULL, "memory");
    make_records(w, data);
    w->threads = 1;
    memset(w->out, 0, sizeof(double) * RECORDS);
    drep_member(w);
    for (int i = 0; i < RECORDS; i++)
        bench_must(w->out[i] == data[i].value, "comparing what was read");
    missed = whole_structs(w, data);
    free(data);
    missed += bench_versus("one member of 4,194,304 structs of 40 bytes, one thread", 7, e, 3, w);
    close_all(w);
    return missed;
}

/* ---- overwrites ---- */

/* A file of 512 MiB in a line, the same in HDF5's form, and what is written where. */
struct line {
    char before[64], after[64], packed[64], h5[64], raw[64];
    const char *path; /* to read */
    double *values;
    uint64_t *random;
    int round; /* others each time */
};

static void make_line(struct line *l, const char *path)
{
    const int64_t n = LINE;
    drep_dataset *ds = NULL;
    drep_file *f;

    bench_must(drep_create(path, DREP_RDWR, "native", NULL, &f) == 0 &&
                   drep_dataset_create(
                       f, "d", &DREP_SPEC(.type = DREP_DOUBLE, .rank = 1, .dims = &n), &ds) == 0 &&
                   drep_write(ds, NULL, NULL, l->values, NULL) == 0,
               "write");
    drep_dataset_close(ds);
    bench_must(drep_close(f) == 0, "close");
}

static void make_peers(struct line *l)
{
    const hsize_t n = LINE;
    hid_t file = H5Fcreate(l->h5, H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
    hid_t space = H5Screate_simple(1, &n, NULL);
    hid_t ds =
        H5Dcreate2(file, "d", H5T_NATIVE_DOUBLE, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    FILE *raw = fopen(l->raw, "wb");

    bench_must(H5Dwrite(ds, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, l->values) >= 0,
               "H5Dwrite");
    bench_must(raw && fwrite(l->values, sizeof(double), LINE, raw) == LINE && fclose(raw) == 0,
               "fwrite");
    H5Dclose(ds);
    H5Sclose(space);
    H5Fclose(file);
}

static int64_t place_of(const struct line *l, int i)
{
    return (int64_t)((l->random[i] + (uint64_t)l->round * 0x9e3779b97f4a7c15u) % LINE);
}

static void drep_overwrite(void *ctx)
{
    struct line *l = ctx;
    const int64_t one = 1;
    drep_dataset *ds;
    drep_file *f;

    l->round++;
    bench_must(drep_open(l->after, DREP_RDWR, NULL, &f) == 0 && drep_dataset_open(f, "d", &ds) == 0,
               "open");
    for (int i = 0; i < OVERWRITES; i++) {
        int64_t at = place_of(l, i);
        double v = i;

        bench_must(drep_write_box(ds, &at, &one, NULL, &v, NULL) == 0, "write");
        l->values[at] = v;
    }
    drep_dataset_close(ds);
    bench_must(drep_close(f) == 0, "close");
}

static void h5_overwrite(void *ctx)
{
    const struct line *l = ctx;
    const hsize_t one = 1;
    hid_t file = H5Fopen(l->h5, H5F_ACC_RDWR, H5P_DEFAULT), ds = H5Dopen2(file, "d", H5P_DEFAULT);
    hid_t space = H5Dget_space(ds), memory = H5Screate_simple(1, &one, NULL);

    for (int i = 0; i < OVERWRITES; i++) {
        hsize_t at = (hsize_t)place_of(l, i);
        double v = i;

        H5Sselect_hyperslab(space, H5S_SELECT_SET, &at, NULL, &one, NULL);
        bench_must(H5Dwrite(ds, H5T_NATIVE_DOUBLE, memory, space, H5P_DEFAULT, &v) >= 0,
                   "H5Dwrite");
    }
    H5Sclose(memory);
    H5Sclose(space);
    H5Dclose(ds);
    H5Fflush(file, H5F_SCOPE_LOCAL);
    H5Fclose(file);
}

static void raw_overwrite(void *ctx)
{
    const struct line *l = ctx;
    int fd = open(l->raw, O_RDWR);

    for (int i = 0; i < OVERWRITES; i++) {
        double v = i;

        bench_must(pwrite(fd, &v, sizeof v, (off_t)(place_of(l, i) * 8)) == sizeof v, "pwrite");
    }
    bench_must(fdatasync(fd) == 0, "fdatasync");
    close(fd);
}

static void read_line(const char *path, double *to)
{
    drep_dataset *ds = NULL;
    drep_file *f;

    bench_must(drep_open(path, DREP_RDONLY, NULL, &f) == 0 && drep_dataset_open(f, "d", &ds) == 0 &&
                   drep_read(ds, NULL, NULL, to, NULL) == 0,
               "read");
    drep_dataset_close(ds);
    bench_must(drep_close(f) == 0, "close");
}

static double *line_out;

static void read_before(void *ctx)
{
    read_line(((struct line *)ctx)->before, line_out);
}

static void read_after(void *ctx)
{
    read_line(((struct line *)ctx)->after, line_out);
}

static void read_packed(void *ctx)
{
    read_line(((struct line *)ctx)->packed, line_out);
}

static int64_t size_of(const char *path)
{
    struct stat st;

    bench_must(stat(path, &st) == 0, "stat");
    return (int64_t)st.st_size;
}

/* What the overwrites may add: a block and two records for each, and all sums of the dataset. */
static int growth(const struct line *l)
{
    const int64_t most = OVERWRITES * (int64_t)(4096 + 192) + (1 << 20);
    int64_t more = size_of(l->after) - size_of(l->before);

    printf("  the file grew by %lld bytes, at most %lld %s\n", (long long)more, (long long)most,
           more <= most ? "met" : "MISSED");
    return more > most;
}

static void pack_line(const struct line *l)
{
    drep_file *from, *to;

    bench_must(drep_open(l->after, DREP_RDONLY, NULL, &from) == 0 &&
                   drep_create(l->packed, DREP_RDWR, "native", NULL, &to) == 0 &&
                   drep_copy(from, "/d", to, "/d", NULL) == 0 && drep_close(to) == 0 &&
                   drep_close(from) == 0,
               "copy");
}

static int overwrites(struct work *w)
{
    const struct bench_entry writes[] = {{"datarep", NULL, drep_overwrite, 0},
                                         {"HDF5, in place", NULL, h5_overwrite, 0},
                                         {"pwrite, in place", NULL, raw_overwrite, 0}};
    const struct bench_entry after[] = {{"overwritten", NULL, read_after, 0},
                                        {"as it was written", NULL, read_before, 0.8}};
    const struct bench_entry packed[] = {{"copied", NULL, read_packed, 0},
                                         {"as it was written", NULL, read_before, 1}};
    struct line l = {.values = malloc(LINE * sizeof(double)),
                     .random = malloc(OVERWRITES * sizeof(uint64_t))};
    int missed;

    (void)w;
    line_out = malloc(LINE * sizeof(double));
    bench_must(l.values && l.random && line_out, "memory");
    bench_doubles(l.values, LINE, 6);
    bench_random(l.random, OVERWRITES * sizeof *l.random, 7);
    snprintf(l.before, sizeof l.before, "%s/line-%d.drep", bench_dir(), (int)getpid());
    snprintf(l.after, sizeof l.after, "%s/line-%d-after.drep", bench_dir(), (int)getpid());
    snprintf(l.packed, sizeof l.packed, "%s/line-%d-packed.drep", bench_dir(), (int)getpid());
    snprintf(l.h5, sizeof l.h5, "%s/line-%d.h5", bench_dir(), (int)getpid());
    snprintf(l.raw, sizeof l.raw, "%s/line-%d.raw", bench_dir(), (int)getpid());
    make_line(&l, l.before);
    make_line(&l, l.after);
    make_peers(&l);
    drep_overwrite(&l);
    missed = growth(&l);
    pack_line(&l);
    missed += bench_versus("512 MiB read, after 2,000 overwrites", 9, after, 2, &l);
    missed += bench_versus("512 MiB read, overwritten and copied", 9, packed, 2, &l);
    missed += bench_versus("2,000 elements of 512 MiB overwritten, one commit", 7, writes, 3, &l);
    read_line(l.after, line_out);
    bench_must(memcmp(line_out, l.values, LINE * sizeof(double)) == 0, "comparing what was read");
    unlink(l.before);
    unlink(l.after);
    unlink(l.packed);
    unlink(l.h5);
    unlink(l.raw);
    free(l.values);
    free(l.random);
    free(line_out);
    return missed;
}

static const struct {
    const char *name;
    int (*run)(struct work *w);
} rows[] = {
    {"elements", elements}, {"blocks", blocks}, {"members", members}, {"overwrites", overwrites}};

int main(int argc, char **argv)
{
    struct work w = {.fd = -1};
    int missed = 0;

    snprintf(w.drep, sizeof w.drep, "%s/elements-%d.drep", bench_dir(), (int)getpid());
    snprintf(w.other, sizeof w.other, "%s/elements-%d.other", bench_dir(), (int)getpid());
    snprintf(w.h5, sizeof w.h5, "%s/elements-%d.h5", bench_dir(), (int)getpid());
    w.place = malloc(READS * sizeof *w.place);
    w.out = malloc(sizeof(double) * RECORDS);
    w.piece = malloc(PIECE);
    bench_must(w.place && w.out && w.piece, "memory");
    printf("median times, times faster than each peer\n");
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (bench_wanted(argc, argv, rows[i].name))
            missed += rows[i].run(&w);
    printf("bars missed: %d\n", missed);
    return 0;
}
