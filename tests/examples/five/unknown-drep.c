/* unknown-drep.c - lists the objects of any file with types, shapes and attributes. */
/* SPDX-License-Identifier: MIT */
#include <datarep.h>
#include <stdio.h>
#include <stdlib.h>

static void check(int err)
{
    if (err == 0)
        return;
    fprintf(stderr, "%s\n", drep_error());
    exit(1);
}

struct place {
    drep_file *file;
    const char *path;
};

static int show_attribute(const char *name, void *ctx)
{
    const struct place *at = ctx;
    double number;
    char *text;

    if (drep_attr_read_string(at->file, at->path, name, &text) == 0) {
        printf("%s: %s = %s\n", at->path, name, text);
        free(text);
    } else if (drep_attr_read_double(at->file, at->path, name, &number) == 0) {
        printf("%s: %s = %g\n", at->path, name, number);
    } else {
        printf("%s: %s\n", at->path, name);
    }
    return 0;
}

static int show_object(const drep_visited *object, void *ctx)
{
    struct place at = {ctx, object->path};
    drep_dataset *dataset;
    drep_dsinfo info = DREP_DSINFO;
    char *type;

    if (object->kind == DREP_OBJ_DATASET) {
        check(drep_dataset_open(at.file, at.path, &dataset));
        check(drep_dataset_info(dataset, &info));
        check(drep_type_print(info.type, &type));
        printf("%s %s", at.path, type);
        for (int d = 0; d < info.rank; d++)
            printf(" %lld", (long long)info.dims[d]);
        printf("\n");
        free(type);
        drep_dataset_close(dataset);
    }
    check(drep_attr_list(at.file, at.path, DREP_BY_CREATION, show_attribute, &at));
    return 0;
}

int main(int argc, char **argv)
{
    drep_file *file;

    check(drep_open(argv[argc - 1], DREP_RDONLY, NULL, &file));
    check(drep_visit(file, "/", DREP_BY_CREATION, show_object, file));
    check(drep_close(file));
    return 0;
}
