/* walk.c - goes through a file whose contents are not known: dimensions, names, shapes,
 * types, attributes.
 *
 *     walk FILE
 *
 * Only the header and the tree are read, so it does not matter how large the file is, nor
 * whether this process knows its representation. */
/* SPDX-License-Identifier: MIT */
#include <datarep.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct place {
    drep_file *file;
    char path[4096];
};

static int walk(struct place *p);

static int show_attr(const char *name, void *ctx)
{
    struct place *p = ctx;
    drep_attrinfo info = DREP_ATTRINFO;
    char *type;
    int err = drep_attr_info(p->file, p->path, name, &info);

    if (err == DREP_ERR_UNSUPPORTED) {
        printf("    @%s  written by a newer version\n", name);
        return 0;
    }
    if (err)
        return err;
    err = drep_type_print(info.type, &type);
    if (!err) {
        printf("    @%s  %s\n", name, type);
        free(type);
    }
    drep_attrinfo_release(&info);
    return err;
}

static int show_dataset(struct place *p)
{
    drep_dataset *dataset;
    drep_dsinfo info = DREP_DSINFO;
    char *type;
    int err = drep_dataset_open(p->file, p->path, &dataset), d;

    if (err)
        return err;
    err = drep_dataset_info(dataset, &info);
    if (!err)
        err = drep_type_print(info.type, &type);
    if (!err) {
        printf("%s  %s [", p->path, type);
        for (d = 0; d < info.rank; d++)
            printf("%s%lld", d ? ", " : "", (long long)info.dims[d]);
        puts("]");
        free(type);
    }
    drep_dataset_close(dataset);
    return err;
}

static int show_link(const drep_linkinfo *link, void *ctx)
{
    struct place *p = ctx;
    size_t end = strlen(p->path);
    int err = 0;

    if (end + strlen(link->name) + 2 > sizeof p->path)
        return DREP_ERR_LIMIT;
    sprintf(p->path + end, "%s%s", end > 1 ? "/" : "", link->name);
    if (link->link != DREP_LINK_HARD)
        printf("%s -> %s\n", p->path, link->target);
    else if (link->kind == DREP_OBJ_DATASET)
        err = show_dataset(p);
    else
        printf("%s%s\n", p->path, link->kind == DREP_OBJ_GROUP ? "/" : "");
    if (!err && link->link == DREP_LINK_HARD)
        err = drep_attr_list(p->file, p->path, DREP_BY_NAME, show_attr, p);
    if (!err && link->link == DREP_LINK_HARD && link->kind == DREP_OBJ_GROUP)
        err = walk(p);
    p->path[end] = '\0';
    return err;
}

static int show_dimension(const drep_diminfo *dimension, void *ctx)
{
    (void)ctx;
    printf("%s [%lld]\n", dimension->path, (long long)dimension->len);
    return 0;
}

/* Hard links make no circles, so this ends. */
static int walk(struct place *p)
{
    int err = drep_dimension_list(p->file, p->path, DREP_BY_NAME, show_dimension, p);

    return err ? err : drep_list(p->file, p->path, DREP_BY_NAME, show_link, p);
}

int main(int argc, char **argv)
{
    struct place p = {.path = "/"};

    if (argc != 2) {
        fprintf(stderr, "usage: walk FILE\n");
        return 2;
    }
    if (drep_open(argv[1], DREP_RDONLY | DREP_HEADER_ONLY, NULL, &p.file) || walk(&p)) {
        fprintf(stderr, "%s\n", drep_error());
        return 1;
    }
    return drep_close(p.file);
}
