/* single.c - a few elements of variable length, out of a chunk that is not filtered. */
/* SPDX-License-Identifier: MIT */
#include "elem/single.h"

#include "chunk/read.h"
#include "conv/heap.h"
#include "space/fetch.h"

#define SINGLES 16                      /* elements of a part that are read so */
#define SINGLE_MIN ((uint64_t)64 << 10) /* bytes of a chunk for each of them, else it is loaded */
#define SINGLE_COST 2u                  /* KiB that could have been loaded instead of one */

/* The elements of one part; their contents come together in a heap. */
struct single {
    struct transfer *t;
    struct conv *c;
    struct work *w;
    struct buf *element, heap;
    struct heap_source from;
};

/* Each element that is read so pays a little towards the chunk that is loaded in the end: a reader
 * of random elements of a chunk never waits for more than twice what it had to. */
bool single_pays(const struct transfer *t, const struct chunk_part *p, uint64_t stored)
{
    struct chunks *cs = &t->ds->chunks;

    if (p->n == 0 || p->n > SINGLES || stored / (uint64_t)p->n < SINGLE_MIN ||
        stored < cs->payload || fetch_on(cs->st))
        return false;
    if (atomic_fetch_add(&cs->singles, (unsigned)p->n * SINGLE_COST) < stored >> 10)
        return true;
    atomic_store(&cs->singles, 0);
    return false;
}

static int read_content(void *ctx, uint64_t offset, uint64_t size, uint8_t *to)
{
    const struct single *s = ctx;
    uint64_t have = 0;

    return chunk_bytes(s->w, s->t->ds->chunks.payload + offset, size, to, &have);
}

static int single_run(void *ctx, int64_t at, int64_t step, int64_t n, int64_t mem)
{
    struct single *s = ctx;
    drep_dataset *ds = s->t->ds;
    uint64_t have = 0;
    int err = buf_reserve(s->element, (size_t)ds->esize);

    for (int64_t i = 0; !err && i < n; i++) {
        err = chunk_bytes(s->w, bytes_of(ds, at + i * step), (uint64_t)ds->esize, s->element->p,
                          &have);
        if (!err)
            err = heap_fetch(&ds->ft->stored, s->element->p, 1, &s->from, &s->heap);
        if (err)
            return fail_in(err, "element %lld", (long long)(at + i * step));
        s->c->heap = s->heap.p;
        s->c->heap_size = s->heap.len;
        err = conv_read(s->c, s->t->mem, mem + i, s->element->p, ds->esize, 1);
    }
    return err;
}

int single_read(struct part_mover *m, struct work *w, const struct chunk_part *p, uint64_t stored)
{
    struct single s = {.t = m->t, .c = &m->c, .w = w, .element = work_buf(w)};
    int err;

    s.from = (struct heap_source){read_content, &s, stored - m->t->ds->chunks.payload};
    err = part_runs(m, p, single_run, NULL, &s);
    buf_release(&s.heap);
    return err;
}
