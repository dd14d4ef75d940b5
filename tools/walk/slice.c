/* slice.c - selections as NumPy writes them. */
/* SPDX-License-Identifier: MIT */
#include "tools/walk/slice.h"
#include "tools/walk/field.h"
#include <stdlib.h>
#include <string.h>

void slice_all(struct slice *out, int rank, const int64_t *dims)
{
    int d;

    *out = (struct slice){.rank = rank < 0 ? 0 : rank};
    for (d = 0; d < out->rank; d++) {
        out->count[d] = dims[d];
        out->step[d] = 1;
    }
}

static int parse_box(struct slice *out, const char *text, int rank, const int64_t *dims)
{
    drep_selection *sel;
    int single[DREP_MAX_RANK], err;

    *out = (struct slice){.rank = rank < 0 ? 0 : rank};
    err = drep_select_parse(text, out->rank, dims, &sel);
    if (err)
        return err;
    err = drep_selection_box(sel, NULL, out->start, out->count, out->step, NULL, single);
    drep_selection_free(sel);
    for (int d = 0; !err && d < out->rank; d++)
        out->single[d] = single[d] != 0;
    return err;
}

/* The member behind the selection. */
static const char *parse_member(struct slice *s, const char *text, const drep_type *type)
{
    drep_type *shown;
    int err;

    if (!*text)
        return NULL;
    if (*text != '.' || !type)
        return "text after the ']'";
    err = field_type(type, text + 1, &shown);
    if (err)
        return err == DREP_ERR_NOT_FOUND ? "no such member" : "out of memory";
    drep_type_free(shown);
    s->member = text + 1;
    s->type = type;
    return NULL;
}

const char *slice_parse(struct slice *out, const char *text, int rank, const int64_t *dims,
                        const drep_type *type)
{
    const char *end = strchr(text, ']');
    size_t size = end ? (size_t)(end - text) + 1 : strlen(text);
    char *box = strndup(text, size);
    int err;

    if (!box)
        return "out of memory";
    err = parse_box(out, box, rank, dims);
    free(box);
    return err ? drep_error() : parse_member(out, text + size, type);
}

int slice_shape(const struct slice *slice, int64_t *dims)
{
    int d, rank = 0;

    for (d = 0; d < slice->rank; d++)
        if (!slice->single[d])
            dims[rank++] = slice->count[d];
    return rank;
}

int64_t slice_count(const struct slice *slice)
{
    int64_t n = 1;
    int d;

    for (d = 0; d < slice->rank; d++)
        n *= slice->count[d];
    return n;
}

void slice_index(const struct slice *slice, int64_t number, int64_t *index)
{
    int d;

    for (d = slice->rank - 1; d >= 0; d--) {
        index[d] = slice->start[d] + number % slice->count[d] * slice->step[d];
        number /= slice->count[d];
    }
}
