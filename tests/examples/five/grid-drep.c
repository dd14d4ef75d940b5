/* grid-drep.c - writes a field with coordinates and units. */
/* SPDX-License-Identifier: MIT */
#include <datarep.h>
#include <stdio.h>
#include <stdlib.h>

static const char *const names[] = {"time", "lat", "lon"};
static const float lat[3] = {-30, 0, 30}, lon[4] = {0, 90, 180, 270};
static float sst[2][3][4];

static void check(int err)
{
    if (err == 0)
        return;
    fprintf(stderr, "%s\n", drep_error());
    exit(1);
}

static void write_grid(const char *path)
{
    const int64_t dims[] = {2, 3, 4}, most[] = {DREP_UNLIMITED, 3, 4};
    const drep_filter filters[] = {{.id = DREP_FILTER_SHUFFLE}, {.id = DREP_FILTER_DEFLATE}};
    drep_spec spec = DREP_SPEC(.type = DREP_FLOAT, .rank = 3, .dims = dims, .maxdims = most,
                               .dim_names = names, .filters = filters, .nfilters = 2);
    drep_dataset *v, *y, *x;
    drep_file *file;

    check(drep_create(path, DREP_RDWR, NULL, NULL, &file));
    check(drep_dataset_create(file, "/sst", &spec, &v));
    spec = DREP_SPEC(.type = DREP_FLOAT, .rank = 1, .dims = dims + 1);
    spec.dim_names = names + 1;
    check(drep_dataset_create(file, "/lat", &spec, &y));
    spec = DREP_SPEC(.type = DREP_FLOAT, .rank = 1, .dims = dims + 2);
    spec.dim_names = names + 2;
    check(drep_dataset_create(file, "/lon", &spec, &x));
    check(drep_attr_write_string(file, "/", "title", "sea surface temperature"));
    check(drep_attr_write_string(file, "/sst", "units", "K"));
    check(drep_attr_write_string(file, "/lat", "units", "degrees_north"));
    check(drep_attr_write_string(file, "/lon", "units", "degrees_east"));
    check(drep_write(v, NULL, DREP_FLOAT, sst, NULL));
    check(drep_write(y, NULL, DREP_FLOAT, lat, NULL));
    check(drep_write(x, NULL, DREP_FLOAT, lon, NULL));
    drep_dataset_close(v);
    drep_dataset_close(y);
    drep_dataset_close(x);
    check(drep_close(file));
}

int main(int argc, char **argv)
{
    for (int i = 0; i < 24; i++)
        sst[i / 12][i / 4 % 3][i % 4] = 280 + (float)i;
    write_grid(argv[argc - 1]);
    return 0;
}
