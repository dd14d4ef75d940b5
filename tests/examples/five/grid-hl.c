/* grid-hl.c - writes a field with coordinates and units. */
/* SPDX-License-Identifier: MIT */
#include <hdf5.h>
#include <hdf5_hl.h>
#include <stdio.h>
#include <stdlib.h>

static const float lat[3] = {-30, 0, 30}, lon[4] = {0, 90, 180, 270};
static float sst[2][3][4];

static hid_t check(hid_t id)
{
    if (id >= 0)
        return id;
    H5Eprint2(H5E_DEFAULT, stderr);
    exit(1);
}

static void write_grid(const char *path)
{
    const hsize_t dims[] = {2, 3, 4}, maxdims[] = {H5S_UNLIMITED, 3, 4}, chunk[] = {1, 3, 4};
    hid_t file = check(H5Fcreate(path, H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT));
    hid_t dcpl = check(H5Pcreate(H5P_DATASET_CREATE));
    hid_t space = check(H5Screate_simple(3, dims, maxdims)), v, y, x;

    check(H5Pset_chunk(dcpl, 3, chunk));
    check(H5Pset_shuffle(dcpl));
    check(H5Pset_deflate(dcpl, 6));
    v = check(H5Dcreate2(file, "/sst", H5T_NATIVE_FLOAT, space, H5P_DEFAULT, dcpl, H5P_DEFAULT));
    check(H5Dwrite(v, H5T_NATIVE_FLOAT, H5S_ALL, H5S_ALL, H5P_DEFAULT, sst));
    check(H5LTmake_dataset_float(file, "/lat", 1, dims + 1, lat));
    check(H5LTmake_dataset_float(file, "/lon", 1, dims + 2, lon));
    y = check(H5Dopen2(file, "/lat", H5P_DEFAULT));
    x = check(H5Dopen2(file, "/lon", H5P_DEFAULT));
    check(H5DSset_scale(y, "lat"));
    check(H5DSset_scale(x, "lon"));
    check(H5DSattach_scale(v, y, 1));
    check(H5DSattach_scale(v, x, 2));
    check(H5LTset_attribute_string(file, "/", "title", "sea surface temperature"));
    check(H5LTset_attribute_string(file, "/sst", "units", "K"));
    check(H5LTset_attribute_string(file, "/lat", "units", "degrees_north"));
    check(H5LTset_attribute_string(file, "/lon", "units", "degrees_east"));
    check(H5Dclose(v));
    check(H5Dclose(y));
    check(H5Dclose(x));
    check(H5Sclose(space));
    check(H5Pclose(dcpl));
    check(H5Fclose(file));
}

int main(int argc, char **argv)
{
    for (int i = 0; i < 24; i++)
        sst[i / 12][i / 4 % 3][i % 4] = 280 + (float)i;
    write_grid(argv[argc - 1]);
    return 0;
}
