/* simulation.c - appends steps to a compressed field, each of them durable, and reads a part. */
/* SPDX-License-Identifier: MIT */
#include <datarep.h>
#include <stdio.h>
#include <stdlib.h>

static void check(int err)
{
    if (err == 0)
        return;
    fprintf(stderr, "%s\n", drep_error());
    exit(1);
}

enum { STEPS = 24, LAT = 90, LON = 180 };

static void simulate(const char *path)
{
    static double field[LAT][LON];
    const int64_t dims[] = {0, LAT, LON}, most[] = {DREP_UNLIMITED, LAT, LON};
    const int64_t chunk[] = {1, LAT, LON};
    const char *const names[] = {"time", "lat", "lon"};
    const drep_filter filters[] = {{.id = DREP_FILTER_SHUFFLE},
                                   {.id = DREP_FILTER_ZSTD, .level = 3}};
    drep_spec spec = DREP_SPEC(.type = DREP_FLOAT, .rank = 3, .dims = dims, .maxdims = most);
    drep_dataset *air, *hours;
    drep_file *file;

    spec.dim_names = names;
    spec.chunk = chunk;
    spec.filters = filters;
    spec.nfilters = 2;
    check(drep_create(path, DREP_RDWR, "external32", NULL, &file));
    check(drep_dataset_create(file, "/air", &spec, &air));
    spec = DREP_SPEC(.type = DREP_DOUBLE, .rank = 1, .dims = dims, .maxdims = most,
                     .dim_names = names);
    check(drep_dataset_create(file, "/time", &spec, &hours));
    check(drep_attr_write_string(file, "/air", "units", "K"));
    check(drep_attr_write_string(file, "/time", "units", "hours since 2026-01-01 00:00:00"));
    for (int t = 0; t < STEPS; t++) {
        const double hour = t;

        for (int i = 0; i < LAT * LON; i++)
            field[i / LON][i % LON] = 280 + t + 0.25 * (i % 3);
        check(drep_append(air, 0, 1, DREP_DOUBLE, field, NULL));
        check(drep_append(hours, 0, 1, DREP_DOUBLE, &hour, NULL));
        check(drep_commit(file));
    }
    drep_dataset_close(air);
    drep_dataset_close(hours);
    check(drep_close(file));
}

static int tell(int64_t done, int64_t total, void *ctx)
{
    (void)ctx;
    fprintf(stderr, "%lld of %lld bytes\n", (long long)done, (long long)total);
    return 0;
}

static void analyse(const char *path)
{
    static int part[STEPS / 3][LAT / 2][LON / 2];
    const int64_t start[] = {0, 0, LON / 2}, stride[] = {3, 2, 1};
    const int64_t count[] = {STEPS / 3, LAT / 2, LON / 2};
    drep_report report = DREP_REPORT;
    drep_selection *sel;
    drep_dataset *air;
    drep_file *file;

    check(drep_open(path, DREP_RDONLY, NULL, &file));
    check(drep_dataset_open(file, "/air", &air));
    check(drep_select_box(3, start, count, stride, NULL, &sel));
    drep_progress(tell, NULL);
    check(drep_read(air, sel, DREP_INT, part,
                    &DREP_XFER(.range = DREP_RANGE_ROUND, .report = &report)));
    drep_progress(NULL, NULL);
    printf("%lld numbers, %lld of them rounded, from %d to %d\n", (long long)report.items,
           (long long)report.inexact, part[0][0][0], part[7][44][89]);
    drep_selection_free(sel);
    drep_dataset_close(air);
    check(drep_close(file));
}

int main(void)
{
    simulate("simulation.drep");
    analyse("simulation.drep");
    return 0;
}
