/* bench_elements.c - a little of an open dataset: single elements, blocks of 64x64, one member of a
 * struct.
 *
 * The limits read the same bytes of the same file in the same order: pread() alone for elements and
 * blocks, pread() with XXH3 over each 4 KiB and a loop that gathers for the member.  Rows:
 * elements, blocks, members. */
/* SPDX-License-Identifier: MIT */
#include "bench.h"

#include <datarep.h>
#include <fcntl.h>
#include <hdf5.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
    ROWS = 4096,
    COLUMNS = 8192,
    READS = 20000,
    BLOCKS = 1000,
    SIDE = 64,
    RECORDS = 4 << 20,
    PIECE = 240 << 10
};

/* 40 bytes, of which `value` is read. */
struct record {
    int64_t number;
    double value;
    float position[4];
    int64_t time;
};

struct work {
    char drep[64], h5[64];
    drep_file *file;
    drep_dataset *dataset;
    hid_t h5_file, h5_dataset, h5_memory, h5_type;
    int fd;
    uint64_t start; /* of the payload in our file, for the limits */
    const drep_type *type;
    int64_t (*place)[2];
    int n, side, threads;
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

static void raw_blocks(void *ctx)
{
    struct work *w = ctx;
    size_t size = (size_t)w->side * sizeof(double);
    double sum = 0;

    for (int i = 0; i < w->n; i++) {
        for (int k = 0; k < w->side; k++) {
            int64_t at = (w->place[i][0] + k) * COLUMNS + w->place[i][1];

            bench_must(pread(w->fd, w->out + k * w->side, size,
                             (off_t)(w->start + 8 * (uint64_t)at)) == (ssize_t)size,
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

static void make_plane(struct work *w)
{
    const int64_t dims[] = {ROWS, COLUMNS};
    const hsize_t h5_dims[] = {ROWS, COLUMNS};
    const drep_spec spec = DREP_SPEC(.type = DREP_DOUBLE, .rank = 2, .dims = dims);
    double *data = malloc(sizeof(double) * ROWS * COLUMNS);
    hid_t space = H5Screate_simple(2, h5_dims, NULL);
    uint64_t *random = malloc(2 * READS * sizeof *random);

    bench_must(data && random, "memory");
    bench_doubles(data, (size_t)ROWS * COLUMNS, 1);
    bench_must(drep_create(w->drep, DREP_RDWR, "native", NULL, &w->file) == 0 &&
                   drep_dataset_create(w->file, "d", &spec, &w->dataset) == 0 &&
                   drep_write(w->dataset, NULL, NULL, data, NULL) == 0,
               "write");
    drep_dataset_close(w->dataset);
    bench_must(drep_close(w->file) == 0, "close");
    open_all(w, data, 4096);
    w->h5_file = H5Fcreate(w->h5, H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
    w->h5_dataset = H5Dcreate2(w->h5_file, "d", H5T_NATIVE_DOUBLE, space, H5P_DEFAULT, H5P_DEFAULT,
                               H5P_DEFAULT);
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

    make_plane(w);
    for (w->threads = 0; w->threads < 2; w->threads++)
        missed += block_row(w, "20,000 single elements, open dataset, verified", 1, READS, 0.55);
    close_all(w);
    return missed;
}

static int blocks(struct work *w)
{
    int missed = 0;

    make_plane(w);
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
    drep_type_free(whole);
    drep_type_free(array);
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
    free(data);
    missed = bench_versus("one member of 4,194,304 structs of 40 bytes, one thread", 7, e, 3, w);
    close_all(w);
    return missed;
}

static const struct {
    const char *name;
    int (*run)(struct work *w);
} rows[] = {{"elements", elements}, {"blocks", blocks}, {"members", members}};

int main(int argc, char **argv)
{
    struct work w = {.fd = -1};
    int missed = 0;

    snprintf(w.drep, sizeof w.drep, "%s/elements-%d.drep", bench_dir(), (int)getpid());
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
