/* scatter.c - writing elements of unfiltered chunks. */
/* SPDX-License-Identifier: MIT */
#include "elem/scatter.h"

#include "chunk/patch.h"
#include "chunk/read.h"
#include "elem/fill.h"

#include <string.h>

#define GAP_MAX ((uint64_t)4096)     /* bytes between runs that are patched together */
#define SPAN_MAX ((uint64_t)1 << 20) /* of one patch */

/* ---- whole chunks ---- */

/* Elements outside of the dataset are fill, or zeros where the functions cannot make a fill value;
 * gaps are zeros. */
int payload_blank(drep_dataset *ds, int64_t n, uint8_t *b, uint64_t size)
{
    if (bytes_of(ds, n) < size && ds->fill_err == 0)
        return fill_bytes(ds, b, 0, size);
    if (bytes_of(ds, n) < size || prog_gaps(&ds->ft->stored))
        memset(b, 0, (size_t)size);
    return 0;
}

int part_payload(struct transfer *t, const struct chunk_part *p, uint8_t *b, uint64_t size)
{
    struct part_mover m;
    struct in_memory s = {NULL, &m.c, b};
    int err = part_begin(&m, t, p->n);

    if (err)
        return err;
    s.t = m.t;
    err = payload_blank(t->ds, p->n, b, size);
    if (!err)
        err = part_runs(&m, p, memory_run, NULL, &s);
    return part_end(&m, err);
}

/* ---- parts of chunks ---- */

/* Changes bytes of a chunk without variable parts. A chunk that is not stored completely must be
 * completed with fill, which the functions may have been unable to make. */
static int dataset_patch(drep_dataset *ds, const uint64_t *coord, uint64_t offset, uint64_t size,
                         const void *bytes, struct given_payload *given)
{
    const struct patch patch = {offset, size, bytes, ds->fill, (size_t)ds->esize, given};
    uint64_t have = 0;
    int err = ds->fill_err != 0 ? chunk_size(&ds->chunks, coord, &have) : 0;

    if (!err && ds->fill_err != 0 && have < ds->chunks.payload)
        err = fill_bytes(ds, NULL, 0, 0); /* says why there is none */
    return err ? err : chunk_patch(&ds->chunks, coord, &patch);
}

/* Reads what the runs leave out between them, so that one patch covers all of them. */
static int read_holes(const struct scatter *s)
{
    drep_dataset *ds = s->m->t->ds;
    uint64_t size = s->high - s->low, have = 0;
    int err = 0;

    if (s->filled == size && !writes_members(s->m->t)) {
        if (prog_gaps(&ds->ft->stored))
            memset(s->b->p, 0, (size_t)size); /* gaps are zeros */
        return 0;
    }
    err = chunk_read(&ds->chunks, s->coord, s->low, size, s->b->p, &have);
    if (!err && have < size)
        err = fill_bytes(ds, s->b->p + have, s->low + have, size - have);
    return err;
}

/* Converts the collected runs into one stretch of bytes and patches the chunk with it. */
int scatter_flush(void *scatter)
{
    struct scatter *s = scatter;
    drep_dataset *ds = s->m->t->ds;
    const void *bytes = NULL;
    int err = 0;

    if (s->n == 0)
        return 0;
    if (!s->m->given && s->n == 1 && s->run[0].step == 1 && s->m->c.copy) {
        bytes = plain_memory(s->m->t, s->run[0].mem);
        conv_count(&s->m->c, s->run[0].n);
    } else if (!s->m->given) {
        err = buf_reserve(s->b, s->high - s->low);
        if (!err)
            err = read_holes(s);
        for (int i = 0; !err && i < s->n; i++)
            err = conv_write(&s->m->c, s->m->t->mem, s->run[i].mem,
                             s->b->p + (bytes_of(ds, s->run[i].at) - s->low),
                             s->run[i].step * ds->esize, s->run[i].n);
        bytes = s->b->p;
    }
    if (!err)
        err = dataset_patch(ds, s->coord, s->low, s->high - s->low, bytes, s->m->given);
    s->n = 0;
    return err;
}

/* Number of elements of a run that runs before it have too: points may be the same ones twice. Runs
 * come upwards, so behind its first byte nothing is left out below `high`. */
static int64_t overlap(const struct scatter *s, uint64_t byte, uint64_t step, int64_t n)
{
    int64_t below = byte < s->high ? (int64_t)((s->high - byte - 1) / step) + 1 : 0;

    return below < n ? below : n;
}

/* Collects a run. Runs that stand too far from those before are patched apart from them. */
int scatter_run(void *ctx, int64_t at, int64_t step, int64_t n, int64_t mem)
{
    struct scatter *s = ctx;
    drep_dataset *ds = s->m->t->ds;
    uint64_t es = (uint64_t)ds->esize, apart = (uint64_t)(step - 1) * es;
    int64_t now;
    int err = 0;

    for (; !err && n > 0; n -= now, at += now * step, mem += now) {
        uint64_t byte = bytes_of(ds, at), end;

        if (s->n == GATHER_RUNS ||
            (s->n > 0 && (byte < s->low || byte - s->low >= SPAN_MAX || byte > s->high + GAP_MAX)))
            err = scatter_flush(s);
        if (s->n == 0) {
            s->low = s->high = byte;
            s->filled = 0;
        }
        now = step > 1 && apart > GAP_MAX ? 1 : (int64_t)(SPAN_MAX / es) / step + 1;
        now = now < n ? now : n;
        end = bytes_of(ds, at + (now - 1) * step + 1);
        s->filled += (uint64_t)(now - overlap(s, byte, (uint64_t)step * es, now)) * es;
        s->high = end > s->high ? end : s->high;
        s->run[s->n].at = at;
        s->run[s->n].step = now > 1 ? step : 1;
        s->run[s->n].n = now;
        s->run[s->n].mem = mem;
        s->n++;
    }
    return err;
}
