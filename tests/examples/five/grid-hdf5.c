/* grid-hdf5.c - writes a field with coordinates and units. */
/* SPDX-License-Identifier: MIT */
#include <hdf5.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const float lat[3] = {-30, 0, 30}, lon[4] = {0, 90, 180, 270};
static float sst[2][3][4];

static hid_t check(hid_t id)
{
    if (id >= 0)
        return id;
    H5Eprint2(H5E_DEFAULT, stderr);
    exit(1);
}

static void write_text(hid_t object, const char *name, const char *text)
{
    hid_t type = check(H5Tcopy(H5T_C_S1)), space = check(H5Screate(H5S_SCALAR)), attr;

    check(H5Tset_size(type, strlen(text)));
    attr = check(H5Acreate2(object, name, type, space, H5P_DEFAULT, H5P_DEFAULT));
    check(H5Awrite(attr, type, text));
    check(H5Aclose(attr));
    check(H5Sclose(space));
    check(H5Tclose(type));
}

static void write_array(hid_t file, const char *name, int rank, const hsize_t *dims,
                        const hsize_t *maxdims, hid_t dcpl, const float *data, const char *units)
{
    hid_t space = check(H5Screate_simple(rank, dims, maxdims));
    hid_t v =
        check(H5Dcreate2(file, name, H5T_NATIVE_FLOAT, space, H5P_DEFAULT, dcpl, H5P_DEFAULT));

    check(H5Dwrite(v, H5T_NATIVE_FLOAT, H5S_ALL, H5S_ALL, H5P_DEFAULT, data));
    write_text(v, "units", units);
    check(H5Dclose(v));
    check(H5Sclose(space));
}

static void write_grid(const char *path)
{
    const hsize_t dims[] = {2, 3, 4}, maxdims[] = {H5S_UNLIMITED, 3, 4}, chunk[] = {1, 3, 4};
    hid_t file = check(H5Fcreate(path, H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT));
    hid_t dcpl = check(H5Pcreate(H5P_DATASET_CREATE));

    check(H5Pset_chunk(dcpl, 3, chunk));
    check(H5Pset_shuffle(dcpl));
    check(H5Pset_deflate(dcpl, 6));
    write_array(file, "/sst", 3, dims, maxdims, dcpl, sst[0][0], "K");
    write_array(file, "/lat", 1, dims + 1, NULL, H5P_DEFAULT, lat, "degrees_north");
    write_array(file, "/lon", 1, dims + 2, NULL, H5P_DEFAULT, lon, "degrees_east");
    write_text(file, "title", "sea surface temperature");
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
