/* start.c - a process that reads one element and ends; bench_objects.c times it.
 *
 * Usage: start raw FILE ELEMENT       open and pread
 *        start datarep FILE ELEMENT   dataset /x
 *
 * It links what a program that uses the library links, and nothing more, on both sides. */
/* SPDX-License-Identifier: MIT */
#include <datarep.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int by_pread(const char *path, int64_t element, double *v)
{
    int fd = open(path, O_RDONLY);

    return fd < 0 || pread(fd, v, sizeof *v, element * (off_t)sizeof *v) != sizeof *v;
}

static int by_datarep(const char *path, int64_t element, double *v)
{
    drep_selection *one;
    drep_dataset *set;
    drep_file *file;
    int err = drep_open(path, DREP_RDONLY, NULL, &file) || drep_dataset_open(file, "/x", &set) ||
              drep_select_box(1, &element, (int64_t[]){1}, NULL, NULL, &one) ||
              drep_read(set, one, NULL, v, NULL);

    if (!err) {
        drep_selection_free(one);
        drep_dataset_close(set);
        err = drep_close(file);
    }
    return err;
}

int main(int argc, char **argv)
{
    int64_t element = argc == 4 ? atoll(argv[3]) : 0;
    double v = -1;
    int err = 2;

    if (argc == 4 && strcmp(argv[1], "raw") == 0)
        err = by_pread(argv[2], element, &v);
    else if (argc == 4)
        err = by_datarep(argv[2], element, &v);
    return err ? err : v != (double)(element / 3);
}
