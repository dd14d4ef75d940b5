/* values.c - values between HDF5's memory and ours, and boxes to move them in.
 *
 * Most types are the same bytes on both sides; what differs is walked member by member:
 * references, sequences of them, complex numbers of the other byte order. */
/* SPDX-License-Identifier: MIT */
#include "tools/h5/values.h"
#include "tools/h5/job.h"
#include "tools/h5/map.h"
#include <datarep.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* --------------------------------------------------------------- held memory */

void *move_alloc(struct value_move *mv, size_t size)
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

void move_release(struct value_move *mv)
{
    while (mv->held) {
        struct held *next = mv->held->next;

        free(mv->held);
        mv->held = next;
    }
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

static int sequence_in(struct value_move *mv, const struct map *m, const uint8_t *h, uint8_t *d)
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

static int sequence_out(struct value_move *mv, const struct map *m, const uint8_t *d, uint8_t *h)
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
static int reference_in(struct value_move *mv, const struct map *m, const uint8_t *h, uint8_t *d)
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

static int reference_out(struct value_move *mv, const struct map *m, const uint8_t *d, uint8_t *h)
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

static int move_values(struct value_move *mv, const struct map *m, size_t n, const uint8_t *from,
                       uint8_t *to, bool out);

/* One value, into the container's memory or out of it. */
static int move_one(struct value_move *mv, const struct map *m, const uint8_t *from, uint8_t *to,
                    bool out)
{
    const size_t *from_at = out ? m->doffset : m->hoffset;
    const size_t *to_at = out ? m->hoffset : m->doffset;
    size_t i;
    int err = 0;

    switch (m->kind) {
    case MAP_COMPOUND:
        for (i = 0; !err && i < m->n; i++)
            err = move_values(mv, &m->parts[i], 1, from + from_at[i], to + to_at[i], out);
        return err;
    case MAP_ARRAY:
        return move_values(mv, m->parts, m->n, from, to, out);
    case MAP_SEQUENCE:
        return out ? sequence_out(mv, m, from, to) : sequence_in(mv, m, from, to);
    case MAP_OBJECT:
    case MAP_REGION:
        return out ? reference_out(mv, m, from, to) : reference_in(mv, m, from, to);
    default:
        swap_halves(from, to, out ? m->hsize : m->dsize);
        return 0;
    }
}

static int move_values(struct value_move *mv, const struct map *m, size_t n, const uint8_t *from,
                       uint8_t *to, bool out)
{
    size_t step = out ? m->dsize : m->hsize, to_step = out ? m->hsize : m->dsize, i;
    int err = 0;

    if (m->kind == MAP_FLAT) {
        if (n)
            memcpy(to, from, n * to_step);
        return 0;
    }
    for (i = 0; !err && i < n; i++)
        err = move_one(mv, m, from + i * step, to + i * to_step, out);
    return err;
}

int move_in(struct value_move *mv, const struct map *m, size_t n, const void *h, void *d)
{
    return move_values(mv, m, n, h, d, false);
}

int move_out(struct value_move *mv, const struct map *m, size_t n, const void *d, void *h)
{
    return move_values(mv, m, n, d, h, true);
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
