/* driver.c - a file in the program's own memory, behind functions of its own.
 *
 * cc driver.c $(pkg-config --cflags --libs datarep) */
/* SPDX-License-Identifier: MIT */
#include <datarep.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The bytes of the file, and what reading them took. */
struct bytes {
    char *p;
    uint64_t size;
    int trips, ranges;
};

static int get_size(void *state, uint64_t *size)
{
    *size = ((struct bytes *)state)->size;
    return 0;
}

static int read_many(void *state, const drep_range *range, size_t n)
{
    struct bytes *b = state;
    size_t i;

    for (i = 0; i < n; i++) {
        if (range[i].offset > b->size || range[i].size > b->size - range[i].offset)
            return DREP_ERR_TRUNCATE;
        memcpy(range[i].buf, b->p + range[i].offset, range[i].size);
    }
    b->trips++;
    b->ranges += (int)n;
    return 0;
}

static int set_size(void *state, uint64_t size)
{
    struct bytes *b = state;
    char *p = realloc(b->p, size + 1);

    if (!p)
        return DREP_ERR_NOMEM;
    if (size > b->size)
        memset(p + b->size, 0, size - b->size);
    b->p = p;
    b->size = size;
    return 0;
}

static int write_at(void *state, const void *buf, size_t size, uint64_t offset)
{
    struct bytes *b = state;
    int err = offset + size > b->size ? set_size(b, offset + size) : 0;

    if (!err)
        memcpy(b->p + offset, buf, size);
    return err;
}

static void check(int err)
{
    if (err == 0)
        return;
    fprintf(stderr, "%s\n", drep_error());
    exit(1);
}

int main(void)
{
    drep_driver driver = DREP_DRIVER(.read_many = read_many, .file_size = get_size,
                                     .write_at = write_at, .truncate = set_size);
    int64_t dims[2] = {300, 300}, chunk[2] = {30, 30}, start[2] = {0, 7}, count[2] = {300, 1};
    drep_spec spec = DREP_SPEC(.type = DREP_INT32_T, .rank = 2, .dims = dims, .chunk = chunk);
    static int32_t values[300 * 300];
    drep_selection *column;
    struct bytes b = {0};
    drep_dataset *dataset;
    drep_file *file;
    int i;

    for (i = 0; i < 300 * 300; i++)
        values[i] = i;
    spec.layout = DREP_CHUNKED;
    check(drep_create_driver(&driver, &b, "memory", "external32", NULL, &file));
    check(drep_dataset_create(file, "/n", &spec, &dataset));
    check(drep_write(dataset, NULL, NULL, values, NULL));
    drep_dataset_close(dataset);
    check(drep_close(file));

    /* As if the bytes were far away: a round trip costs as much as to move a megabyte. */
    driver.round_trip = 1000000;
    driver.first_read = 65536;
    b.trips = b.ranges = 0;
    check(drep_open_driver(&driver, &b, "memory", DREP_RDONLY, NULL, &file));
    check(drep_dataset_open(file, "/n", &dataset));
    check(drep_select_box(2, start, count, NULL, NULL, &column));
    check(drep_read(dataset, column, NULL, values, NULL));
    printf("%d, %d, ... %d\n", values[0], values[1], values[299]);
    printf("10 chunks in %d round trips\n", b.trips);
    drep_selection_free(column);
    drep_dataset_close(dataset);
    check(drep_close(file));
    free(b.p);
    return 0;
}
