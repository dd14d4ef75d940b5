/* grid.c - a field over time, latitude and longitude: written step by step, read as a profile.
 *
 * The file keeps 32-bit reals, chunked and compressed; the reader asks for doubles of every
 * other row, and gets them converted. */
/* SPDX-License-Identifier: MIT */
#include <datarep.h>
#include <stdio.h>
#include <stdlib.h>

enum { STEPS = 4, LAT = 6, LON = 8 };

static void check(int err)
{
    if (err == 0)
        return;
    fprintf(stderr, "%s\n", drep_error());
    exit(1);
}

static void write_steps(drep_dataset *sst)
{
    float step[LAT][LON];
    int t, y, x;

    for (t = 0; t < STEPS; t++) {
        int64_t start[] = {t, 0, 0}, count[] = {1, LAT, LON};
        drep_selection *box;

        for (y = 0; y < LAT; y++)
            for (x = 0; x < LON; x++)
                step[y][x] = 280.0f + (float)t + 0.5f * (float)y;
        check(drep_select_box(3, start, count, NULL, NULL, &box));
        check(drep_write(sst, box, DREP_FLOAT, step, NULL));
        drep_selection_free(box);
    }
}

static void write_file(void)
{
    const char *names[] = {"time", "lat", "lon"};
    int64_t dims[] = {STEPS, LAT, LON}, chunk[] = {1, LAT, LON};
    drep_filter filters[] = {{.id = DREP_FILTER_SHUFFLE}, {.id = DREP_FILTER_DEFLATE, .level = 1}};
    drep_spec spec = DREP_SPEC(.type = DREP_FLOAT, .rank = 3, .dims = dims, .dim_names = names,
                               .chunk = chunk, .filters = filters,
                               .nfilters = drep_filter_available(DREP_FILTER_DEFLATE) ? 2 : 1);
    drep_dataset *sst;
    drep_file *file;

    check(drep_create("grid.drep", DREP_RDWR, "external32", NULL, &file));
    check(drep_dataset_create(file, "/sst", &spec, &sst));
    check(drep_attr_write_string(file, "/sst", "units", "K"));
    write_steps(sst);
    drep_dataset_close(sst);
    check(drep_close(file)); /* the file appears at its place now */
}

int main(void)
{
    /* Step 2, every other latitude, one longitude. */
    int64_t start[] = {2, 0, 5}, count[] = {1, LAT / 2, 1}, stride[] = {1, 2, 1};
    double profile[LAT / 2];
    drep_selection *box;
    drep_dataset *sst;
    drep_file *file;
    int y;

    write_file();
    check(drep_open("grid.drep", DREP_RDONLY, NULL, &file));
    check(drep_dataset_open(file, "/sst", &sst));
    check(drep_select_box(3, start, count, stride, NULL, &box));
    check(drep_read(sst, box, DREP_DOUBLE, profile, NULL));
    for (y = 0; y < LAT / 2; y++)
        printf("%g\n", profile[y]);
    drep_selection_free(box);
    drep_dataset_close(sst);
    check(drep_close(file));
    return 0;
}
