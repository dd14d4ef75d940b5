/* unknown-hl.c - lists the objects of any file with types, shapes and attributes. */
/* SPDX-License-Identifier: MIT */
#include <hdf5.h>
#include <hdf5_hl.h>
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

static herr_t show_attribute(hid_t object, const char *name, const H5A_info_t *info, void *path)
{
    H5T_class_t cls;
    size_t size;
    hsize_t dims[H5S_MAX_RANK] = {0};
    double number;
    char *text;
    int rank;

    (void)info;
    check(H5LTget_attribute_ndims(object, ".", name, &rank));
    check(H5LTget_attribute_info(object, ".", name, dims, &cls, &size));
    printf("%s: %s", (const char *)path, name);
    if (rank == 0 && cls == H5T_STRING) {
        text = calloc(size + 1, 1);
        check(H5LTget_attribute_string(object, ".", name, text));
        printf(" = %s", text);
        free(text);
    } else if ((rank == 0 || (rank == 1 && dims[0] == 1)) &&
               (cls == H5T_INTEGER || cls == H5T_FLOAT)) {
        check(H5LTget_attribute_double(object, ".", name, &number));
        printf(" = %g", number);
    }
    printf("\n");
    return 0;
}

static void show_dataset(hid_t object, const char *path)
{
    hid_t type = check(H5Dget_type(object));
    hsize_t dims[H5S_MAX_RANK];
    char text[1000];
    size_t len = sizeof text, size;
    H5T_class_t cls;
    int rank;

    check(H5LTdtype_to_text(type, text, H5LT_DDL, &len));
    check(H5LTget_dataset_ndims(object, ".", &rank));
    check(H5LTget_dataset_info(object, ".", dims, &cls, &size));
    printf("%s %s", path, text);
    for (int d = 0; d < rank; d++)
        printf(" %d", (int)dims[d]);
    printf("\n");
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
