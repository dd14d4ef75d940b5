/* unknown-hdf5.c - lists the objects of any file with types, shapes and attributes. */
/* SPDX-License-Identifier: MIT */
#include <hdf5.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static hid_t check(hid_t id)
{
    if (id >= 0)
        return id;
    H5Eprint2(H5E_DEFAULT, stderr);
    exit(1);
}

static void show_text(hid_t attr, hid_t type)
{
    char *text = NULL;

    if (H5Tis_variable_str(type) > 0) {
        check(H5Aread(attr, type, &text));
        printf(" = %s", text);
        check(H5free_memory(text));
        return;
    }
    text = calloc(H5Tget_size(type) + 1, 1);
    check(H5Aread(attr, type, text));
    printf(" = %s", text);
    free(text);
}

static herr_t show_attribute(hid_t object, const char *name, const H5A_info_t *info, void *path)
{
    hid_t attr = check(H5Aopen(object, name, H5P_DEFAULT));
    hid_t type = check(H5Aget_type(attr)), space = check(H5Aget_space(attr));
    H5T_class_t cls = H5Tget_class(type);
    double number;

    (void)info;
    printf("%s: %s", (const char *)path, name);
    if (H5Sget_simple_extent_npoints(space) == 1 && cls == H5T_STRING) {
        show_text(attr, type);
    } else if (H5Sget_simple_extent_npoints(space) == 1 &&
               (cls == H5T_INTEGER || cls == H5T_FLOAT)) {
        check(H5Aread(attr, H5T_NATIVE_DOUBLE, &number));
        printf(" = %g", number);
    }
    printf("\n");
    check(H5Sclose(space));
    check(H5Tclose(type));
    check(H5Aclose(attr));
    return 0;
}

static void show_dataset(hid_t object, const char *path)
{
    hid_t type = check(H5Dget_type(object)), space = check(H5Dget_space(object));
    int rank = H5Sget_simple_extent_ndims(space);
    hsize_t dims[H5S_MAX_RANK];

    check(H5Sget_simple_extent_dims(space, dims, NULL));
    printf("%s class%d*%d", path, (int)H5Tget_class(type), (int)H5Tget_size(type));
    for (int d = 0; d < rank; d++)
        printf(" %d", (int)dims[d]);
    printf("\n");
    check(H5Sclose(space));
    check(H5Tclose(type));
}

static herr_t show_object(hid_t file, const char *name, const H5O_info_t *info, void *ctx)
{
    hid_t object = check(H5Oopen(file, name, H5P_DEFAULT));
    char path[1000];

    (void)ctx;
    snprintf(path, sizeof path, "/%s", strcmp(name, ".") == 0 ? "" : name);
    if (info->type == H5O_TYPE_DATASET)
        show_dataset(object, path);
    check(H5Aiterate2(object, H5_INDEX_NAME, H5_ITER_INC, NULL, show_attribute, path));
    check(H5Oclose(object));
    return 0;
}

int main(int argc, char **argv)
{
    hid_t file = check(H5Fopen(argv[argc - 1], H5F_ACC_RDONLY, H5P_DEFAULT));

    check(H5Ovisit1(file, H5_INDEX_NAME, H5_ITER_INC, show_object, NULL));
    check(H5Fclose(file));
    return 0;
}
