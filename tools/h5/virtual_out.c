/* virtual_out.c - the mappings of a virtual dataset, restored.
 *
 * A container comes from anywhere, and libhdf5 opens whatever a mapping names.  So each source is
 * looked at first: a relative path that leads down, a regular file, a dataset with elements of its
 * own that no link to another file stands before. */
/* SPDX-License-Identifier: MIT */
#include "tools/h5/virtual_out.h"
#include "tools/h5/mapping_note.h"
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* ---------------------------------------------------------------------- sources */

static int leads_down(const char *name)
{
    const char *part;

    if (*name == '/' || strchr(name, '%'))
        return 0;
    for (part = name; part; part = strchr(part, '/') ? strchr(part, '/') + 1 : NULL)
        if (strcmp(part, "..") == 0 || strncmp(part, "../", 3) == 0)
            return 0;
    return *name != 0 && strcmp(name, ".") != 0;
}

/* A regular file beside the destination or below, through no symbolic link. */
static int source_path(const struct job *j, const char *name, char path[PATH_MAX])
{
    char *real = realpath(j->o->place, NULL), *end = real ? strrchr(real, '/') : NULL, *there;
    struct stat st;
    int n = -1, plain;

    if (end)
        n = snprintf(path, PATH_MAX, "%.*s/%s", (int)(end - real), real, name);
    free(real);
    if (n < 0 || n >= PATH_MAX || lstat(path, &st) != 0 || !S_ISREG(st.st_mode))
        return 0;
    there = realpath(path, NULL);
    plain = there && strcmp(there, path) == 0;
    free(there);
    return plain;
}

static herr_t refuse_link(const char *file, const char *group, const char *child, const char *path,
                          unsigned *flags, hid_t fapl, void *ctx)
{
    (void)file;
    (void)group;
    (void)child;
    (void)path;
    (void)flags;
    (void)fapl;
    (void)ctx;
    return -1;
}

hid_t virtual_out_source(void *ctx, const char *name, const char *dataset)
{
    const struct job *j = ctx;
    hid_t dapl = H5Pcreate(H5P_DATASET_ACCESS), file = -1, dset = -1;
    char path[PATH_MAX];

    if (leads_down(name) && source_path(j, name, path) &&
        H5Pset_elink_cb(dapl, refuse_link, NULL) >= 0)
        file = H5Fopen(path, H5F_ACC_RDONLY, H5P_DEFAULT);
    if (file >= 0)
        dset = H5Dopen2(file, dataset, dapl);
    if (file >= 0)
        H5Fclose(file);
    H5Pclose(dapl);
    return dset;
}

/* --------------------------------------------------------------------- mappings */

static int add_mapping(struct direct *d, const struct noted_mapping *m, hid_t space, hid_t dcpl)
{
    hid_t from, to;
    int added;

    if (!direct_open(d, m->file, m->dataset))
        return 0;
    from = H5Scopy(d->space);
    to = H5Scopy(space);
    added = from > 0 && to > 0 && select_noted(m->from, from) && select_noted(m->to, to) &&
            H5Pset_virtual(dcpl, to, m->file, m->dataset, from) >= 0;
    if (to > 0)
        H5Sclose(to);
    if (from > 0)
        H5Sclose(from);
    return added;
}

int virtual_out(struct job *j, const struct notes *r, hid_t space, hid_t dcpl)
{
    struct direct d = {.open = virtual_out_source, .ctx = j};
    struct noted_mapping m;
    size_t at, i = 0;
    int added = 1;

    for (at = 0; added && at < r->n; at++)
        if (strncmp(r->line[at], "virtual ", 8) == 0)
            added = mapping_noted(r, at, i++, &m) && add_mapping(&d, &m, space, dcpl);
    direct_release(&d);
    return added && i > 0;
}
