/* attributes-hl.c - reads titles and units, adds a factor and a version, reads them back. */
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

static char *read_text(hid_t file, const char *path, const char *name)
{
    H5T_class_t cls;
    size_t size;
    char *text;

    check(H5LTget_attribute_info(file, path, name, NULL, &cls, &size));
    text = calloc(size + 1, 1);
    check(H5LTget_attribute_string(file, path, name, text));
    return text;
}

static void show_attributes(const char *path)
{
    hid_t file = check(H5Fopen(path, H5F_ACC_RDWR, H5P_DEFAULT));
    char *title = read_text(file, "/", "title"), *units = read_text(file, "/sst", "units");
    double factor = 0.01;
    int version = 3;

    check(H5LTset_attribute_double(file, "/sst", "scale_factor", &factor, 1));
    check(H5LTset_attribute_int(file, "/", "version", &version, 1));
    check(H5LTget_attribute_double(file, "/sst", "scale_factor", &factor));
    check(H5LTget_attribute_int(file, "/", "version", &version));
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
