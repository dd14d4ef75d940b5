/* region.c - selections of HDF5 as texts, and back.
 *
 * "[1:5,0:10:3]" is a box, "[:,:]" all there is, "{(1,2),(3,4)}" a list of points,
 * "{[0:2],[5:7]}" a union of boxes (SPEC.md, R10.3). */
/* SPDX-License-Identifier: MIT */
#include "tools/h5/region.h"
#include "tools/h5/job.h"
#include "tools/h5/values.h"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Points, or boxes of a union. */
#define PARTS_MAX 65536

/* "[1:5,0:10:3]" for one box, its blocks being single or touching. */
static int print_box(FILE *f, int rank, const hsize_t *start, const hsize_t *stride,
                     const hsize_t *count, const hsize_t *block)
{
    int d;

    for (d = 0; d < rank; d++)
        if (block[d] != 1 && count[d] != 1 && block[d] != stride[d])
            return 0;
    for (d = 0; d < rank; d++) {
        unsigned long long first = start[d], step = stride[d];
        unsigned long long last = first + (count[d] - 1) * stride[d] + block[d];

        fprintf(f, "%s%llu:%llu", d ? "," : "[", first, last);
        if (block[d] == 1 && count[d] > 1 && step > 1)
            fprintf(f, ":%llu", step);
    }
    fputs("]", f);
    return 1;
}

static void print_point(FILE *f, int rank, const hsize_t *at, int first)
{
    int d;

    fputs(first ? "(" : ",(", f);
    for (d = 0; d < rank; d++)
        fprintf(f, "%s%llu", d ? "," : "", (unsigned long long)at[d]);
    fputs(")", f);
}

static int print_points(FILE *f, hid_t space, int rank, hssize_t n)
{
    hsize_t *at = malloc((size_t)n * (size_t)rank * sizeof *at);
    int ok = at && H5Sget_select_elem_pointlist(space, 0, (hsize_t)n, at) >= 0;
    hssize_t i;

    for (i = 0; ok && i < n; i++)
        print_point(f, rank, at + i * rank, i == 0);
    free(at);
    return ok ? 0 : -1;
}

/* The blocks of an irregular selection. */
static int print_blocks(FILE *f, hid_t space, int rank)
{
    hssize_t i, n = H5Sget_select_hyper_nblocks(space);
    size_t pair = 2 * (size_t)rank;
    hsize_t *blocks = n > 0 ? malloc((size_t)n * pair * sizeof *blocks) : NULL;
    int d, ok = blocks && H5Sget_select_hyper_blocklist(space, 0, (hsize_t)n, blocks) >= 0;

    for (i = 0; ok && i < n; i++) {
        const hsize_t *low = blocks + (size_t)i * pair, *high = low + rank;

        for (d = 0; d < rank; d++)
            fprintf(f, "%s%llu:%llu",
                    d   ? ","
                    : i ? ",["
                        : "[",
                    (unsigned long long)low[d], (unsigned long long)high[d] + 1);
        fputs("]", f);
    }
    free(blocks);
    return ok ? 0 : -1;
}

static int print_selection(FILE *f, hid_t space, int rank)
{
    hsize_t start[H5S_MAX_RANK], stride[H5S_MAX_RANK], count[H5S_MAX_RANK], block[H5S_MAX_RANK];
    H5S_sel_type type = H5Sget_select_type(space);
    int d, err;

    if (type == H5S_SEL_ALL) {
        fputs("[", f);
        for (d = 0; d < rank; d++)
            fputs(d ? ",:" : ":", f);
        fputs("]", f);
        return 0;
    }
    if (type == H5S_SEL_HYPERSLABS && H5Sis_regular_hyperslab(space) > 0 &&
        H5Sget_regular_hyperslab(space, start, stride, count, block) >= 0 &&
        print_box(f, rank, start, stride, count, block))
        return 0;
    fputs("{", f);
    err = type == H5S_SEL_NONE         ? 0
          : type == H5S_SEL_POINTS     ? print_points(f, space, rank, H5Sget_select_npoints(space))
          : type == H5S_SEL_HYPERSLABS ? print_blocks(f, space, rank)
                                       : -1;
    fputs("}", f);
    return err;
}

/* Number of points or boxes that a text would list. */
static hssize_t parts_of(hid_t space)
{
    H5S_sel_type type = H5Sget_select_type(space);

    return type == H5S_SEL_POINTS       ? H5Sget_select_npoints(space)
           : type == H5S_SEL_HYPERSLABS ? H5Sget_select_hyper_nblocks(space)
                                        : 0;
}

/* HDF5 counts the boxes of a regular selection too, though one text says them all. */
static int is_too_long(hid_t space)
{
    hsize_t start[H5S_MAX_RANK], stride[H5S_MAX_RANK], count[H5S_MAX_RANK], block[H5S_MAX_RANK];
    FILE *none;
    int one = 0;

    if (H5Sget_select_type(space) == H5S_SEL_HYPERSLABS && H5Sis_regular_hyperslab(space) > 0 &&
        H5Sget_regular_hyperslab(space, start, stride, count, block) >= 0) {
        none = fopen("/dev/null", "we");
        one =
            none && print_box(none, H5Sget_simple_extent_ndims(space), start, stride, count, block);
        if (none)
            fclose(none);
    }
    return !one && parts_of(space) > PARTS_MAX;
}

int region_print(struct value_move *mv, hid_t space, char **text)
{
    int rank = H5Sget_simple_extent_ndims(space), err;
    char *made = NULL, *kept;
    size_t size;
    FILE *f;

    if (rank < 0 || is_too_long(space))
        return job_fail(mv->j, DREP_ERR_UNSUPPORTED, "a region of more than %d points or boxes",
                        PARTS_MAX);
    f = open_memstream(&made, &size);
    if (!f)
        return job_no_memory(mv->j);
    err = print_selection(f, space, rank);
    fclose(f);
    kept = err ? NULL : move_alloc(mv, size + 1);
    if (kept)
        *text = memcpy(kept, made, size + 1);
    free(made);
    if (err)
        return job_fail_hdf5(mv->j, "region");
    return kept ? 0 : DREP_ERR_NOMEM;
}

/* Digits, then whatever follows. */
static int take_number(const char **p, hsize_t *out)
{
    char *end;
    unsigned long long v;

    while (**p == ' ')
        ++*p;
    if (**p < '0' || **p > '9')
        return 0;
    errno = 0;
    v = strtoull(*p, &end, 10);
    *p = end;
    while (**p == ' ')
        ++*p;
    *out = v;
    return errno == 0;
}

static int take_char(const char **p, char c)
{
    while (**p == ' ')
        ++*p;
    if (**p != c)
        return 0;
    ++*p;
    return 1;
}

/* "a", "a:b" or "a:b:c" of one dimension. */
static int take_range(const char **p, hsize_t *start, hsize_t *stride, hsize_t *count)
{
    hsize_t last;

    *stride = *count = 1;
    if (!take_number(p, start))
        return 0;
    if (!take_char(p, ':'))
        return 1;
    if (!take_number(p, &last) || last <= *start)
        return 0;
    if (take_char(p, ':') && (!take_number(p, stride) || *stride == 0))
        return 0;
    *count = (last - *start - 1) / *stride + 1;
    return 1;
}

static int select_box(const char **p, int rank, hid_t space, H5S_seloper_t op)
{
    hsize_t start[H5S_MAX_RANK], stride[H5S_MAX_RANK], count[H5S_MAX_RANK], block[H5S_MAX_RANK];
    hsize_t dims[H5S_MAX_RANK];
    int d, whole = 0;

    H5Sget_simple_extent_dims(space, dims, NULL);
    if (rank == 0 && !take_char(p, '['))
        return 0;
    for (d = 0; d < rank; d++) {
        if (!take_char(p, d ? ',' : '['))
            return 0;
        start[d] = 0;
        stride[d] = count[d] = 1;
        block[d] = dims[d];
        if (take_char(p, ':')) {
            whole++;
            continue;
        }
        if (!take_range(p, &start[d], &stride[d], &count[d]))
            return 0;
        /* HDF5 gives a block back as itself. */
        block[d] = stride[d] == 1 ? count[d] : 1;
        count[d] = stride[d] == 1 ? 1 : count[d];
    }
    if (!take_char(p, ']'))
        return 0;
    if (whole == rank && op == H5S_SELECT_SET)
        return H5Sselect_all(space) >= 0;
    return H5Sselect_hyperslab(space, op, start, stride, count, block) >= 0;
}

static int select_point(const char **p, int rank, hid_t space, H5S_seloper_t op)
{
    hsize_t at[H5S_MAX_RANK];
    int d;

    for (d = 0; d < rank; d++)
        if (!take_char(p, d ? ',' : '(') || !take_number(p, &at[d]))
            return 0;
    return take_char(p, ')') && H5Sselect_elements(space, op, 1, at) >= 0;
}

static int select_list(const char *p, int rank, hid_t space)
{
    int first = 1;

    if (!take_char(&p, '{') || H5Sselect_none(space) < 0)
        return 0;
    while (!take_char(&p, '}')) {
        if (!first && !take_char(&p, ','))
            return 0;
        while (*p == ' ')
            p++;
        if (*p == '[' ? !select_box(&p, rank, space, first ? H5S_SELECT_SET : H5S_SELECT_OR)
                      : !select_point(&p, rank, space, first ? H5S_SELECT_SET : H5S_SELECT_APPEND))
            return 0;
        first = 0;
    }
    return 1;
}

int region_select(struct job *j, const char *text, hid_t space)
{
    int rank = H5Sget_simple_extent_ndims(space);
    const char *p = text;

    if (!text || rank < 0 ||
        !(*text == '[' ? select_box(&p, rank, space, H5S_SELECT_SET)
                       : select_list(text, rank, space)) ||
        H5Sselect_valid(space) <= 0)
        return job_fail(j, DREP_ERR_UNSUPPORTED, "a region that HDF5 cannot select: %s",
                        text ? text : "none");
    return 0;
}
