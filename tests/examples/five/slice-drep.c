/* slice-drep.c - reads the last two rows of the second step. */
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

static void read_slice(const char *path, double rows[2][4])
{
    drep_item item = {.path = "/sst", .select = "[1,1:3]", .type = DREP_DOUBLE, .buf = rows};
    drep_file *file;

    check(drep_open(path, DREP_RDONLY, NULL, &file));
    check(drep_readv(file, &item, 1, NULL));
    check(drep_close(file));
}

int main(int argc, char **argv)
{
    double rows[2][4];

    read_slice(argv[argc - 1], rows);
    for (int i = 0; i < 8; i++)
        printf("%g%c", rows[i / 4][i % 4], i % 4 == 3 ? '\n' : ' ');
    return 0;
}
