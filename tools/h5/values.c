/* values.c - values between HDF5's memory and ours, and boxes to move them in.
 *
 * Most types are the same bytes on both sides; what differs is walked member by member:
 * references, sequences of them, complex numbers of the other byte order. */
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "tools/h5/parts.h"

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

/* Of strings and sequences in a block of more than one element. */
#define CONTENTS_MAX (64 << 20)
#define SLAB_SIZE (256 << 10)

struct slab {
    struct slab *next;
    size_t used, size;
    max_align_t bytes[];
};

static void *arena_alloc(size_t size, void *info)
{
    struct arena *a = info;
    struct slab *s = a->slabs;
    size_t need = (size + sizeof(max_align_t) - 1) / sizeof(max_align_t) * sizeof(max_align_t);

    if (need < size || need > a->limit - a->total) {
        a->refused = 1;
        return NULL;
    }
    if (!s || need > s->size - s->used) {
        size_t most = need > SLAB_SIZE ? need : SLAB_SIZE;

        s = malloc(sizeof *s + most);
        if (!s)
            return NULL;
        *s = (struct slab){.next = a->slabs, .size = most};
        a->slabs = s;
    }
    a->total += need;
    s->used += need;
    return (char *)s->bytes + s->used - need;
}

static void arena_keep(void *p, void *info)
{
    (void)p, (void)info;
}

hid_t arena_transfer(struct arena *a)
{
    hid_t dxpl = H5Pcreate(H5P_DATASET_XFER);

    H5Pset_vlen_mem_manager(dxpl, arena_alloc, a, arena_keep, a);
    return dxpl;
}

void arena_begin(struct arena *a, size_t elements)
{
    a->limit = elements == 1 ? SIZE_MAX : CONTENTS_MAX;
    a->refused = 0;
}

void arena_release(struct arena *a)
{
    while (a->slabs) {
        struct slab *next = a->slabs->next;

        free(a->slabs);
        a->slabs = next;
    }
    a->total = 0;
}

/* -------------------------------------------------------------------- values */

/* The two halves of a complex number. */
static void swap_halves(const uint8_t *from, uint8_t *to, size_t size)
{
    size_t i, half = size / 2;

    for (i = 0; i < half; i++) {
        to[i] = from[half - 1 - i];
        to[half + i] = from[size - 1 - i];
    }
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
        swap_halves(h, d, m->dsize);
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
        swap_halves(d, h, m->hsize);
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

/* -------------------------------------------------------------------- strings */

static void strings_of(const struct map *m, uint8_t *h, move_string_fn *fn, void *ctx)
{
    hvl_t hv;
    size_t i;

    if (!m->strings)
        return;
    if (m->nparts == 0) {
        char *text;

        memcpy(&text, h, sizeof text);
        fn(&text, ctx);
        memcpy(h, &text, sizeof text);
        return;
    }
    if (drep_type_kind(m->held) == DREP_KIND_SEQUENCE) {
        memcpy(&hv, h, sizeof hv);
        move_strings(m->parts, hv.len, hv.p, fn, ctx);
        return;
    }
    if (drep_type_kind(m->held) == DREP_KIND_ARRAY) {
        move_strings(m->parts, m->n, h, fn, ctx);
        return;
    }
    for (i = 0; i < m->nparts; i++)
        strings_of(&m->parts[i], h + m->hoffset[i], fn, ctx);
}

void move_strings(const struct map *m, size_t n, void *h, move_string_fn *fn, void *ctx)
{
    size_t i;

    for (i = 0; m->strings && i < n; i++)
        strings_of(m, (uint8_t *)h + i * m->hsize, fn, ctx);
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

void box_halves(struct box *b, const struct box *whole)
{
    int64_t step[DREP_MAX_RANK];
    int d, longest = 0;

    for (d = 0; d < whole->rank; d++) {
        step[d] = whole->count[d];
        longest = whole->count[d] > whole->count[longest] ? d : longest;
    }
    step[longest] = (step[longest] + 1) / 2;
    box_init(b, whole->rank, whole->count, step);
    memcpy(b->base, whole->start, sizeof b->base);
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
