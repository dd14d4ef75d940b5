/* mapping_note.c - mappings of a virtual dataset as notes.
 *
 * Three lines for each, as names may contain spaces: "virtual I from SELECTION to SELECTION",
 * "virtual-file I NAME", "virtual-dataset I NAME".  A selection is "all", "irregular", or for each
 * dimension START/STRIDE/COUNT/BLOCK, with commas between; a count or block may be "*", unlimited.
 */
/* SPDX-License-Identifier: MIT */
#include "tools/h5/mapping_note.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ----------------------------------------------------------------------- writing */

static void selection_text(hid_t space, char *text, size_t size)
{
    hsize_t start[H5S_MAX_RANK], stride[H5S_MAX_RANK], count[H5S_MAX_RANK], block[H5S_MAX_RANK];
    int d, rank = H5Sget_simple_extent_ndims(space);
    size_t len = 0;

    if (H5Sget_select_type(space) == H5S_SEL_ALL) {
        snprintf(text, size, "all");
        return;
    }
    snprintf(text, size, "irregular");
    if (H5Sis_regular_hyperslab(space) <= 0 ||
        H5Sget_regular_hyperslab(space, start, stride, count, block) < 0)
        return;
    for (d = 0; d < rank && len < size; d++) {
        len += (size_t)snprintf(text + len, size - len, "%s%llu/%llu/", d ? "," : "",
                                (unsigned long long)start[d], (unsigned long long)stride[d]);
        if (count[d] == H5S_UNLIMITED && len < size)
            len += (size_t)snprintf(text + len, size - len, "*/%llu", (unsigned long long)block[d]);
        else if (len < size)
            len += (size_t)snprintf(text + len, size - len, "%llu/%llu",
                                    (unsigned long long)count[d], (unsigned long long)block[d]);
    }
}

int mapping_note(struct job *j, const struct mapping *m, size_t i, struct notes *r)
{
    char from[MAPPING_TEXT], to[MAPPING_TEXT];
    int err;

    selection_text(m->source, from, sizeof from);
    selection_text(m->target, to, sizeof to);
    err = notes_add(j, r, "virtual %zu from %s to %s", i, from, to);
    if (!err)
        err = notes_add(j, r, "virtual-file %zu %s", i, m->file);
    return err ? err : notes_add(j, r, "virtual-dataset %zu %s", i, m->dataset);
}

/* ----------------------------------------------------------------------- reading */

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

int select_noted(const char *text, hid_t space)
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

int mapping_noted(const struct notes *r, size_t at, size_t i, struct noted_mapping *m)
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
