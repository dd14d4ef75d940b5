/* map.c - elements where they lie in the file, without a copy.
 *
 * Under native, numbers lie as this machine has them; a dataset in one run can then be mapped.
 * Where a file comes from another machine the library says why it cannot, and the program
 * reads, which converts. */
/* SPDX-License-Identifier: MIT */
#include <datarep.h>
#include <stdio.h>
#include <stdlib.h>

enum { LEN = 1000000 };

static void check(int err)
{
    if (err == 0)
        return;
    fprintf(stderr, "%s\n", drep_error());
    exit(1);
}

static void write_file(const char *path, const char *datarep)
{
    drep_spec spec = DREP_SPEC(.type = DREP_DOUBLE, .rank = 1, .dims = (int64_t[]){LEN},
                               .layout = DREP_CONTIGUOUS);
    double *values = malloc(LEN * sizeof *values);
    drep_dataset *dataset;
    drep_file *file;
    int i;

    for (i = 0; values && i < LEN; i++)
        values[i] = i;
    check(drep_create(path, DREP_RDWR, datarep, NULL, &file));
    check(drep_dataset_create(file, "/x", &spec, &dataset));
    check(drep_write(dataset, NULL, DREP_DOUBLE, values, NULL));
    drep_dataset_close(dataset);
    check(drep_close(file));
    free(values);
}

static double add_up(const double *values)
{
    double sum = 0;
    int i;

    for (i = 0; i < LEN; i++)
        sum += values[i];
    return sum;
}

static void show(const char *path)
{
    drep_dataset *dataset;
    drep_file *file;
    const void *data;
    double *copy;
    size_t size;

    check(drep_open(path, DREP_RDONLY, NULL, &file));
    check(drep_dataset_open(file, "/x", &dataset));
    if (drep_dataset_map(dataset, 0, &data, &size) == 0) {
        printf("mapped %zu bytes: %.0f\n", size, add_up(data));
        drep_dataset_unmap(dataset, data);
    } else {
        copy = malloc(LEN * sizeof *copy);
        check(copy ? drep_read(dataset, NULL, DREP_DOUBLE, copy, NULL) : DREP_ERR_NOMEM);
        printf("converted: %.0f\n", add_up(copy));
        free(copy);
    }
    drep_dataset_close(dataset);
    check(drep_close(file));
}

int main(void)
{
    write_file("here.drep", "native");
    show("here.drep");
    write_file("there.drep", "native:s390x");
    show("there.drep");
    return 0;
}
