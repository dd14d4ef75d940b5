/* slice-hl.c - reads the last two rows of the second step: HDF5-HL has nothing for parts of a
 * dataset. */
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

static void read_slice(const char *path, double rows[2][4])
{
    const hsize_t start[] = {1, 1, 0}, count[] = {1, 2, 4};
    hid_t file = check(H5Fopen(path, H5F_ACC_RDONLY, H5P_DEFAULT));
    hid_t v = check(H5Dopen2(file, "/sst", H5P_DEFAULT));
    hid_t space = check(H5Dget_space(v)), memory = check(H5Screate_simple(3, count, NULL));

    check(H5Sselect_hyperslab(space, H5S_SELECT_SET, start, NULL, count, NULL));
    check(H5Dread(v, H5T_NATIVE_DOUBLE, memory, space, H5P_DEFAULT, rows));
    check(H5Sclose(memory));
    check(H5Sclose(space));
    check(H5Dclose(v));
    check(H5Fclose(file));
}

int main(int argc, char **argv)
{
    double rows[2][4];

    read_slice(argv[argc - 1], rows);
    for (int i = 0; i < 8; i++)
        printf("%g%c", rows[i / 4][i % 4], i % 4 == 3 ? '\n' : ' ');
    return 0;
}
