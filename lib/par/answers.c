/* answers.c - elements on their way from the owner of their chunk. */
/* SPDX-License-Identifier: MIT */
#include "par/answers.h"

#include "conv/heap.h"
#include "elem/mover.h"

#include <string.h>

/* ---- the messages ---- */

static uint64_t to_eight(uint64_t n)
{
    return (n + 7) / 8 * 8;
}

/* Appends a head and `more` bytes, zeros at their end, behind it; *p is where they begin. */
static int pack_head(struct buf *b, int64_t chunk, uint64_t runs, uint64_t n, uint64_t more,
                     uint8_t **p)
{
    uint64_t size = PIECE_HEAD + to_eight(more);
    int err = buf_reserve(b, b->len + size);
    uint8_t *head = b->p + b->len;

    if (err)
        return err;
    memset(head + size - 8, 0, 8);
    store_u64(head, (uint64_t)chunk);
    store_u64(head + 8, runs);
    store_u64(head + 16, n);
    store_u64(head + 24, 0);
    store_u64(head + 32, 0);
    b->len += (size_t)size;
    *p = head + PIECE_HEAD;
    return 0;
}

int ask_pack(const struct shares *s, const struct share *share, struct buf *b)
{
    uint8_t *p;
    int err = pack_head(b, share->chunk, share->runs, 0, (uint64_t)share->runs * PIECE_RUN, &p);

    for (size_t i = 0; !err && i < share->runs; i++, p += PIECE_RUN) {
        const struct share_run *r = &s->run[share->first + i];

        store_u64(p, (uint64_t)r->at);
        store_u64(p + 8, (uint64_t)r->step);
        store_u64(p + 16, (uint64_t)r->n);
    }
    return err;
}

uint64_t answer_size(const drep_dataset *ds, int64_t n)
{
    return PIECE_HEAD + to_eight(bytes_of(ds, n));
}

/* Copies elements of a chunk to where they stand back to back. */
struct copying {
    const uint8_t *from;
    size_t size; /* of an element */
};

static int copy_run(void *ctx, int64_t at, int64_t step, int64_t n, const uint8_t *to)
{
    const struct copying *c = ctx;
    const uint8_t *from = c->from + (size_t)at * c->size;
    uint8_t *p = (uint8_t *)(uintptr_t)to; /* the answer */

    if (step == 1)
        memcpy(p, from, (size_t)n * c->size);
    else
        for (; n > 0; n--, from += (size_t)step * c->size, p += c->size)
            memcpy(p, from, c->size);
    return 0;
}

/* Appends the contents that the elements of an answer refer to. */
static int pack_answer_heap(const drep_dataset *ds, const struct decoded *d, size_t head, int64_t n,
                            struct buf *b)
{
    static const uint8_t zeros[8];
    struct buf heap = {0};
    int err = heap_move(&ds->ft->stored, b->p + head + PIECE_HEAD, n, d->b.p + d->fixed,
                        d->b.len - d->fixed, 0, &heap);

    store_u64(b->p + head + 24, heap.len);
    if (!err)
        err = buf_add(b, heap.p, heap.len);
    if (!err)
        err = buf_add(b, zeros, (size_t)to_eight(heap.len) - heap.len);
    buf_release(&heap);
    return err;
}

int answer_pack(const drep_dataset *ds, const struct decoded *d, struct piece *ask, struct buf *b)
{
    struct copying c = {d->b.p, (size_t)ds->esize};
    size_t head = b->len;
    uint8_t *p;
    int err = pack_head(b, ask->chunk, 0, ask->n, bytes_of(ds, (int64_t)ask->n), &p);

    if (err)
        return err;
    ask->elements = p;
    err = piece_runs(ds, ask, chunk_elements(ds), copy_run, &c);
    if (!err && ds->ft->type->variable)
        err = pack_answer_heap(ds, d, head, (int64_t)ask->n, b);
    return err;
}

/* ---- into memory ---- */

/* Converts the runs of a share; packed: their elements stand back to back. */
static int take_answer(struct transfer *t, const struct shares *s, const struct share *share,
                       const uint8_t *elements, bool packed, const uint8_t *heap, size_t heap_size)
{
    struct part_mover m;
    struct in_memory from = {NULL, &m.c, (uint8_t *)(uintptr_t)elements};
    int64_t at = 0;
    int err = part_begin(&m, t, share->n);

    if (err)
        return err;
    from.t = m.t;
    m.c.heap = heap;
    m.c.heap_size = heap_size;
    part_take(&m, memory_run, NULL, &from);
    for (size_t i = 0; !err && i < share->runs; i++) {
        const struct share_run *r = &s->run[share->first + i];

        err =
            packed ? part_run(&m, at, 1, r->n, r->mem) : part_run(&m, r->at, r->step, r->n, r->mem);
        at += r->n;
    }
    return part_end(&m, part_flush(&m, err));
}

int answer_take(struct transfer *t, const struct shares *s, const struct share *share,
                const struct piece *answer)
{
    if (answer->n != (uint64_t)share->n)
        return fail(DREP_ERR_IO, "a broken message of rank %d", answer->from);
    return take_answer(t, s, share, answer->elements, true, answer->heap, answer->heap_size);
}

int decoded_take(struct transfer *t, const struct shares *s, const struct share *share,
                 const struct decoded *d)
{
    return take_answer(t, s, share, d->b.p, false, d->b.p + d->fixed, d->b.len - d->fixed);
}
