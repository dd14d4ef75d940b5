/* attributes-hdf5.c - reads titles and units, adds a factor and a version, reads them back. */
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

static char *read_text(hid_t file, const char *path, const char *name)
{
    hid_t attr = check(H5Aopen_by_name(file, path, name, H5P_DEFAULT, H5P_DEFAULT));
    hid_t type = check(H5Aget_type(attr));
    char *text = calloc(H5Tget_size(type) + 1, 1);

    check(H5Aread(attr, type, text));
    check(H5Tclose(type));
    check(H5Aclose(attr));
    return text;
}

static void write_number(hid_t file, const char *path, const char *name, hid_t type,
                         const void *value)
{
    hid_t space = check(H5Screate(H5S_SCALAR));
    hid_t attr = check(
        H5Acreate_by_name(file, path, name, type, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT));

    check(H5Awrite(attr, type, value));
    check(H5Aclose(attr));
    check(H5Sclose(space));
}

static void read_number(hid_t file, const char *path, const char *name, hid_t type, void *value)
{
    hid_t attr = check(H5Aopen_by_name(file, path, name, H5P_DEFAULT, H5P_DEFAULT));

    check(H5Aread(attr, type, value));
    check(H5Aclose(attr));
}

static void show_attributes(const char *path)
{
    hid_t file = check(H5Fopen(path, H5F_ACC_RDWR, H5P_DEFAULT));
    char *title = read_text(file, "/", "title"), *units = read_text(file, "/sst", "units");
    double factor = 0.01;
    int version = 3;

    write_number(file, "/sst", "scale_factor", H5T_NATIVE_DOUBLE, &factor);
    write_number(file, "/", "version", H5T_NATIVE_INT, &version);
    read_number(file, "/sst", "scale_factor", H5T_NATIVE_DOUBLE, &factor);
    read_number(file, "/", "version", H5T_NATIVE_INT, &version);
    check(H5Fclose(file));
    printf("%s, %s, %g, %d\n", title, units, factor, version);
    free(title);
    free(units);
}

int main(int argc, char **argv)
{
    show_attributes(argv[argc - 1]);
    return 0;
}
