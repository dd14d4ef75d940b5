/* append-hl.c - adds a step to a file: H5DOappend does it for dimensions that the caller counts. */
/* SPDX-License-Identifier: MIT */
#include <hdf5.h>
#include <hdf5_hl.h>
#include <stdio.h>
#include <stdlib.h>

static hid_t check(hid_t id)
{
    if (id >= 0)
        return id;
    H5Eprint2(H5E_DEFAULT, stderr);
    exit(1);
}

static void append_step(const char *path, const float *step)
{
    hid_t file = check(H5Fopen(path, H5F_ACC_RDWR, H5P_DEFAULT));
    hid_t v = check(H5Dopen2(file, "/sst", H5P_DEFAULT));

    check(H5DOappend(v, H5P_DEFAULT, 0, 1, H5T_NATIVE_FLOAT, step));
    check(H5Dclose(v));
    check(H5Fclose(file));
}

int main(int argc, char **argv)
{
    float step[12];

    for (int i = 0; i < 12; i++)
        step[i] = 300 + (float)i;
    append_step(argv[argc - 1], step);
    return 0;
}
