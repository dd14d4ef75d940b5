/* hdf5_move.c - values between HDF5's memory and ours, and boxes to move them in.
 *
 * Most types are the same bytes on both sides; what differs is walked member by member:
 * references, sequences of them, enums of the other byte order. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "tools/hdf5_parts.h"

/* --------------------------------------------------------------- held memory */

void *move_alloc(struct move *mv, size_t size)
{
    struct held *h = size <= SIZE_MAX - sizeof *h ? calloc(1, sizeof *h + size) : NULL;

    if (!h) {
        job_fail(mv->j, DREP_ERR_NOMEM, "out of memory");
        return NULL;
    }
    h->next = mv->held;
    mv->held = h;
    return h + 1;
}

void move_release(struct move *mv)
{
    while (mv->held) {
        struct held *next = mv->held->next;

        free(mv->held);
        mv->held = next;
    }
}

/* -------------------------------------------------------------------- values */

static void swap_bytes(const uint8_t *from, uint8_t *to, size_t size)
{
    size_t i;

    for (i = 0; i < size; i++)
        to[i] = from[size - 1 - i];
}

static int sequence_in(struct move *mv, const struct map *m, const uint8_t *h, uint8_t *d)
{
    const struct map *part = m->parts;
    drep_vlen v = {0};
    hvl_t hv;
    int err = 0;

    memcpy(&hv, h, sizeof hv);
    if (hv.len && part->dsize && hv.len > SIZE_MAX / part->dsize)
        return job_fail(mv->j, DREP_ERR_NOMEM, "out of memory");
    if (hv.len) {
        v.count = (int64_t)hv.len;
        v.data = move_alloc(mv, hv.len * part->dsize);
        err = v.data ? move_in(mv, part, hv.len, hv.p, v.data) : DREP_ERR_NOMEM;
    }
    memcpy(d, &v, sizeof v);
    return err;
}

static int sequence_out(struct move *mv, const struct map *m, const uint8_t *d, uint8_t *h)
{
    const struct map *part = m->parts;
    hvl_t hv = {0, NULL};
    drep_vlen v;
    int err = 0;

    memcpy(&v, d, sizeof v);
    if (v.count > 0 && part->hsize && (uint64_t)v.count > SIZE_MAX / part->hsize)
        return job_fail(mv->j, DREP_ERR_NOMEM, "out of memory");
    if (v.count > 0) {
        hv.len = (size_t)v.count;
        hv.p = move_alloc(mv, hv.len * part->hsize);
        err = hv.p ? move_out(mv, part, hv.len, v.data, hv.p) : DREP_ERR_NOMEM;
    }
    memcpy(h, &hv, sizeof hv);
    return err;
}

/* A reference's own struct is copied so that neither buffer need be aligned. */
static int reference_in(struct move *mv, const struct map *m, const uint8_t *h, uint8_t *d)
{
    union {
        hobj_ref_t object;
        hdset_reg_ref_t region;
    } u;
    drep_ref ref = {0};
    int err;

    memcpy(&u, h, m->hsize);
    err = mv->ref(mv, m->kind == MAP_REGION, &u, &ref);
    memcpy(d, &ref, sizeof ref);
    return err;
}

static int reference_out(struct move *mv, const struct map *m, const uint8_t *d, uint8_t *h)
{
    union {
        hobj_ref_t object;
        hdset_reg_ref_t region;
    } u;
    drep_ref ref;
    int err;

    memset(&u, 0, sizeof u);
    memcpy(&ref, d, sizeof ref);
    err = mv->ref(mv, m->kind == MAP_REGION, &u, &ref);
    memcpy(h, &u, m->hsize);
    return err;
}

static int one_in(struct move *mv, const struct map *m, const uint8_t *h, uint8_t *d)
{
    size_t i;
    int err = 0;

    switch (m->kind) {
    case MAP_COMPOUND:
        for (i = 0; !err && i < m->n; i++)
            err = move_in(mv, &m->parts[i], 1, h + m->hoffset[i], d + m->doffset[i]);
        return err;
    case MAP_ARRAY:
        return move_in(mv, m->parts, m->n, h, d);
    case MAP_SEQUENCE:
        return sequence_in(mv, m, h, d);
    case MAP_OBJECT:
    case MAP_REGION:
        return reference_in(mv, m, h, d);
    default:
        swap_bytes(h, d, m->dsize);
        return 0;
    }
}

int move_in(struct move *mv, const struct map *m, size_t n, const void *h, void *d)
{
    size_t i;
    int err = 0;

    if (m->kind == MAP_FLAT) {
        if (n)
            memcpy(d, h, n * m->dsize);
        return 0;
    }
    for (i = 0; !err && i < n; i++)
        err = one_in(mv, m, (const uint8_t *)h + i * m->hsize, (uint8_t *)d + i * m->dsize);
    return err;
}

static int one_out(struct move *mv, const struct map *m, const uint8_t *d, uint8_t *h)
{
    size_t i;
    int err = 0;

    switch (m->kind) {
    case MAP_COMPOUND:
        for (i = 0; !err && i < m->n; i++)
            err = move_out(mv, &m->parts[i], 1, d + m->doffset[i], h + m->hoffset[i]);
        return err;
    case MAP_ARRAY:
        return move_out(mv, m->parts, m->n, d, h);
    case MAP_SEQUENCE:
        return sequence_out(mv, m, d, h);
    case MAP_OBJECT:
    case MAP_REGION:
        return reference_out(mv, m, d, h);
    default:
        swap_bytes(d, h, m->hsize);
        return 0;
    }
}

int move_out(struct move *mv, const struct map *m, size_t n, const void *d, void *h)
{
    size_t i;
    int err = 0;

    if (m->kind == MAP_FLAT) {
        if (n)
            memcpy(h, d, n * m->hsize);
        return 0;
    }
    for (i = 0; !err && i < n; i++)
        err = one_out(mv, m, (const uint8_t *)d + i * m->dsize, (uint8_t *)h + i * m->hsize);
    return err;
}

/* ------------------------------------------------------------------- regions */

#define POINTS_MAX 65536

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

/* The points of the blocks of an irregular selection, block after block. */
static int print_blocks(FILE *f, hid_t space, int rank)
{
    hssize_t i, n = H5Sget_select_hyper_nblocks(space);
    size_t pair = 2 * (size_t)rank;
    hsize_t *blocks = n > 0 ? malloc((size_t)n * pair * sizeof *blocks) : NULL;
    int first = 1, ok = blocks && H5Sget_select_hyper_blocklist(space, 0, (hsize_t)n, blocks) >= 0;

    for (i = 0; ok && i < n; i++) {
        const hsize_t *low = blocks + (size_t)i * pair, *high = low + rank;
        int64_t dims[DREP_MAX_RANK], step[DREP_MAX_RANK];
        struct box b;
        int d;

        for (d = 0; d < rank; d++) {
            dims[d] = (int64_t)(high[d] - low[d] + 1);
            step[d] = 1;
        }
        box_init(&b, rank, dims, step);
        while (box_next(&b)) {
            hsize_t at[DREP_MAX_RANK];

            for (d = 0; d < rank; d++)
                at[d] = low[d] + (hsize_t)b.start[d];
            print_point(f, rank, at, first);
            first = 0;
        }
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
        H5Sget_simple_extent_dims(space, block, NULL);
        for (d = 0; d < rank; d++) {
            start[d] = 0;
            stride[d] = count[d] = 1;
        }
        print_box(f, rank, start, stride, count, block);
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

int region_print(struct move *mv, hid_t space, char **text)
{
    int rank = H5Sget_simple_extent_ndims(space), err;
    char *made = NULL, *kept;
    size_t size;
    FILE *f;

    if (rank <= 0 ||
        (H5Sget_select_type(space) != H5S_SEL_ALL && H5Sis_regular_hyperslab(space) <= 0 &&
         H5Sget_select_npoints(space) > POINTS_MAX))
        return job_fail(mv->j, DREP_ERR_UNSUPPORTED,
                        "a region of more than %d points that is not one box", POINTS_MAX);
    f = open_memstream(&made, &size);
    if (!f)
        return job_fail(mv->j, DREP_ERR_NOMEM, "out of memory");
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

static int take(const char **p, char c)
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
    if (!take(p, ':'))
        return 1;
    if (!take_number(p, &last) || last <= *start)
        return 0;
    if (take(p, ':') && (!take_number(p, stride) || *stride == 0))
        return 0;
    *count = (last - *start - 1) / *stride + 1;
    return 1;
}

static int select_box(const char *p, int rank, hid_t space)
{
    hsize_t start[H5S_MAX_RANK], stride[H5S_MAX_RANK], count[H5S_MAX_RANK];
    int d;

    for (d = 0; d < rank; d++)
        if (!take(&p, d ? ',' : '[') || !take_range(&p, &start[d], &stride[d], &count[d]))
            return 0;
    return take(&p, ']') &&
           H5Sselect_hyperslab(space, H5S_SELECT_SET, start, stride, count, NULL) >= 0;
}

static int select_points(const char *p, int rank, hid_t space)
{
    hsize_t at[H5S_MAX_RANK];
    H5S_seloper_t op = H5S_SELECT_SET;
    int d;

    if (!take(&p, '{') || H5Sselect_none(space) < 0)
        return 0;
    while (!take(&p, '}')) {
        if (op == H5S_SELECT_APPEND && !take(&p, ','))
            return 0;
        for (d = 0; d < rank; d++)
            if (!take(&p, d ? ',' : '(') || !take_number(&p, &at[d]))
                return 0;
        if (!take(&p, ')') || H5Sselect_elements(space, op, 1, at) < 0)
            return 0;
        op = H5S_SELECT_APPEND;
    }
    return 1;
}

int region_select(struct job *j, const char *text, hid_t space)
{
    int rank = H5Sget_simple_extent_ndims(space);

    if (!text || rank <= 0 ||
        !(*text == '[' ? select_box(text, rank, space) : select_points(text, rank, space)) ||
        H5Sselect_valid(space) <= 0)
        return job_fail(j, DREP_ERR_UNSUPPORTED, "a region that HDF5 cannot select: %s",
                        text ? text : "none");
    return 0;
}

/* --------------------------------------------------------------------- boxes */

void box_init(struct box *b, int rank, const int64_t *dims, const int64_t *step)
{
    int d;

    memset(b, 0, sizeof *b);
    b->rank = rank;
    for (d = 0; d < rank; d++) {
        b->dims[d] = dims[d];
        b->step[d] = step[d];
    }
}

/* The first box, or the next: the last dimension runs fastest. */
int box_next(struct box *b)
{
    int d, e;

    if (!b->started) {
        b->started = 1;
        for (d = 0; d < b->rank; d++) {
            if (b->dims[d] == 0)
                return 0;
            b->start[d] = b->base[d];
        }
    } else {
        for (d = b->rank - 1; d >= 0; d--) {
            if (b->base[d] + b->dims[d] - b->start[d] > b->step[d])
                break;
            b->start[d] = b->base[d];
        }
        if (d < 0)
            return 0;
        b->start[d] += b->step[d];
    }
    for (e = 0; e < b->rank; e++) {
        int64_t left = b->base[e] + b->dims[e] - b->start[e];

        b->count[e] = left < b->step[e] ? left : b->step[e];
    }
    return 1;
}

int64_t box_elements(const struct box *b)
{
    int64_t n = 1;
    int d;

    for (d = 0; d < b->rank; d++)
        n *= b->count[d];
    return n;
}

void box_grow(int rank, const int64_t *dims, int64_t most, int64_t *step)
{
    int64_t n = 1;
    int d;

    for (d = 0; d < rank; d++)
        n *= step[d] < dims[d] ? step[d] : (dims[d] ? dims[d] : 1);
    for (d = rank - 1; d >= 0 && n < most; d--) {
        int64_t times = most / n;
        int64_t need = step[d] < dims[d] ? (dims[d] - 1) / step[d] + 1 : 1;

        if (times > need)
            times = need;
        if (times > 1) {
            step[d] *= times;
            n *= times;
        }
        /* A box that is cut in this dimension stays thin in the slower ones. */
        if (step[d] < dims[d])
            break;
    }
}

int box_select_hdf5(const struct box *b, hid_t space)
{
    hsize_t start[H5S_MAX_RANK], count[H5S_MAX_RANK];
    int d;

    if (b->rank == 0)
        return H5Sselect_all(space);
    for (d = 0; d < b->rank; d++) {
        start[d] = (hsize_t)b->start[d];
        count[d] = (hsize_t)b->count[d];
    }
    return H5Sselect_hyperslab(space, H5S_SELECT_SET, start, NULL, count, NULL);
}

/* HDF5 is slow between shapes that differ, even if the elements are as many. */
hid_t box_space(const struct box *b)
{
    hsize_t count[H5S_MAX_RANK];
    int d;

    for (d = 0; d < b->rank; d++)
        count[d] = (hsize_t)b->count[d];
    return b->rank ? H5Screate_simple(b->rank, count, NULL) : H5Screate(H5S_SCALAR);
}
