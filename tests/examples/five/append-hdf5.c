/* append-hdf5.c - adds a step to a file. */
/* SPDX-License-Identifier: MIT */
#include <hdf5.h>
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
    hsize_t start[] = {0, 0, 0}, dims[3];
    const hsize_t count[] = {1, 3, 4};
    hid_t file = check(H5Fopen(path, H5F_ACC_RDWR, H5P_DEFAULT));
    hid_t v = check(H5Dopen2(file, "/sst", H5P_DEFAULT));
    hid_t space = check(H5Dget_space(v)), memory = check(H5Screate_simple(3, count, NULL));

    check(H5Sget_simple_extent_dims(space, dims, NULL));
    check(H5Sclose(space));
    start[0] = dims[0]++;
    check(H5Dset_extent(v, dims));
    space = check(H5Dget_space(v));
    check(H5Sselect_hyperslab(space, H5S_SELECT_SET, start, NULL, count, NULL));
    check(H5Dwrite(v, H5T_NATIVE_FLOAT, memory, space, H5P_DEFAULT, step));
    check(H5Sclose(memory));
    check(H5Sclose(space));
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
