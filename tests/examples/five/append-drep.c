/* append-drep.c - adds a step to a file. */
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

static void append_step(const char *path, const float *step)
{
    drep_dataset *v;
    drep_file *file;

    check(drep_open(path, DREP_RDWR, NULL, &file));
    check(drep_dataset_open(file, "/sst", &v));
    check(drep_append(v, 0, 1, DREP_FLOAT, step, NULL));
    drep_dataset_close(v);
    check(drep_close(file));
}

int main(int argc, char **argv)
{
    float step[12];

    for (int i = 0; i < 12; i++)
        step[i] = 300 + (float)i;
    append_step(argv[argc - 1], step);
    return 0;
}
