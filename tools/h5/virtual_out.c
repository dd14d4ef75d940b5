/* virtual_out.c - the mappings of a virtual dataset, restored.
 *
 * A container comes from anywhere, and libhdf5 opens whatever a mapping names.  So each source is
 * looked at first: a relative path that leads down, a regular file, a dataset with elements of its
 * own that no link to another file stands before. */
/* SPDX-License-Identifier: MIT */
#include "tools/h5/virtual_out.h"
#include "tools/h5/virtual.h"
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define TEXT 2048 /* bytes of a selection in a note */

/* One mapping, in the words of keep.c. */
struct noted {
    char from[TEXT], to[TEXT];
    const char *file, *dataset;
};

/* ------------------------------------------------------------------- selections */

static int read_number(const char **text, char end, hsize_t *n)
{
    char *rest;

    if (**text == '*') {
        *n = H5S_UNLIMITED;
        rest = (char *)*text + 1;
    } else if (**text >= '0' && **text <= '9') {
        *n = strtoull(*text, &rest, 10);
    } else {
        return 0;
    }
    if (*rest != end && (end != ',' || *rest))
        return 0;
    *text = rest + (*rest != 0);
    return 1;
}

/* Selects what the text says; 0 if it says nothing that can be selected. */
static int select_part(const char *text, hid_t space)
{
    hsize_t start[H5S_MAX_RANK], stride[H5S_MAX_RANK], count[H5S_MAX_RANK], block[H5S_MAX_RANK];
    int d, rank = H5Sget_simple_extent_ndims(space);

    if (strcmp(text, "all") == 0)
        return H5Sselect_all(space) >= 0;
    for (d = 0; d < rank; d++)
        if (!read_number(&text, '/', &start[d]) || !read_number(&text, '/', &stride[d]) ||
            !read_number(&text, '/', &count[d]) || !read_number(&text, ',', &block[d]))
            return 0;
    return rank > 0 && !*text &&
           H5Sselect_hyperslab(space, H5S_SELECT_SET, start, stride, count, block) >= 0;
}

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

/* The dataspace of a source; -1 if it is not a plain dataset. */
static hid_t source_space(const struct job *j, const struct noted *m)
{
    hid_t dapl = H5Pcreate(H5P_DATASET_ACCESS), file = -1, dset = -1, space = -1;
    char path[PATH_MAX];

    if (leads_down(m->file) && !strchr(m->dataset, '%') && source_path(j, m->file, path) &&
        H5Pset_elink_cb(dapl, refuse_link, NULL) >= 0)
        file = H5Fopen(path, H5F_ACC_RDONLY, H5P_DEFAULT);
    if (file >= 0)
        dset = H5Dopen2(file, m->dataset, dapl);
    if (dset >= 0 && virtual_own(dset))
        space = H5Dget_space(dset);
    if (dset >= 0)
        H5Dclose(dset);
    if (file >= 0)
        H5Fclose(file);
    H5Pclose(dapl);
    return space;
}

/* --------------------------------------------------------------------- mappings */

/* The three lines of mapping i, from line `at` on. */
static int read_noted(const struct notes *r, size_t at, size_t i, struct noted *m)
{
    char word[60];
    size_t number, n;

    if (at + 2 >= r->n ||
        sscanf(r->line[at], "virtual %zu from %2047s to %2047s", &number, m->from, m->to) != 3 ||
        number != i)
        return 0;
    n = (size_t)snprintf(word, sizeof word, "virtual-file %zu ", i);
    m->file = strncmp(r->line[at + 1], word, n) == 0 ? r->line[at + 1] + n : NULL;
    n = (size_t)snprintf(word, sizeof word, "virtual-dataset %zu ", i);
    m->dataset = strncmp(r->line[at + 2], word, n) == 0 ? r->line[at + 2] + n : NULL;
    return m->file && m->dataset;
}

static int add_mapping(const struct job *j, const struct noted *m, hid_t space, hid_t dcpl)
{
    hid_t from = source_space(j, m), to = from > 0 ? H5Scopy(space) : -1;
    int added = to > 0 && select_part(m->from, from) && select_part(m->to, to) &&
                H5Pset_virtual(dcpl, to, m->file, m->dataset, from) >= 0;

    if (to > 0)
        H5Sclose(to);
    if (from > 0)
        H5Sclose(from);
    return added;
}

int virtual_out(struct job *j, const struct notes *r, hid_t space, hid_t dcpl)
{
    struct noted m;
    size_t at, i = 0;

    for (at = 0; at < r->n; at++) {
        if (strncmp(r->line[at], "virtual ", 8) != 0)
            continue;
        if (!read_noted(r, at, i++, &m) || !add_mapping(j, &m, space, dcpl))
            return 0;
    }
    return i > 0;
}
