/* lent.c - records of chunks that another store has, and this one has not. */
/* SPDX-License-Identifier: MIT */
#include "chunk/lent.h"

#include "base/error.h"
#include "base/mem.h"
#include "base/vec.h"
#include "chunk/cache.h"
#include "format/byteorder.h"

#include <string.h>

struct lent_records {
    const uint64_t **run; /* heads, by coordinates */
    size_t n, room;
};

int chunks_borrow(struct chunks *cs, struct buf *b)
{
    struct lent_records *l = mem_zalloc(1, sizeof *l);
    uint64_t *v = (uint64_t *)(void *)b->p, left = b->len / 8, rank = (uint64_t)cs->rank;

    if (!l)
        return fail_nomem();
    cs->lent = l;
    cache_drop_object(cs->st->cache, cs->object);
    while (left > 0) {
        uint64_t numbers = LENT_HEAD + rank, all;

        for (uint64_t i = 0; i < numbers && i < left; i++)
            v[i] = load_u64((const uint8_t *)(v + i));
        if (left < numbers || v[LENT_BEHIND] > left - numbers || v[LENT_CHUNKS] == 0 ||
            v[LENT_CHUNKS] > UINT32_MAX)
            return fail(DREP_ERR_IO, "a broken message of rank 0");
        all = numbers + v[LENT_BEHIND];
        for (uint64_t i = numbers; v[LENT_KIND] != LENT_PAYLOAD && i < all; i++)
            v[i] = load_u64((const uint8_t *)(v + i));
        if (VEC_ROOM(l->run, l->n, l->room, 1))
            return fail_nomem();
        l->run[l->n++] = v;
        v += all;
        left -= all;
    }
    return 0;
}

void chunks_unborrow(struct chunks *cs)
{
    if (!cs->lent)
        return;
    mem_free(cs->lent->run);
    mem_free(cs->lent);
    cs->lent = NULL;
}

/* True if the run begins at the chunk, or before it in the order of the grid. */
static bool begins_before(const uint64_t *run, const uint64_t *coord, int rank)
{
    const uint64_t *at = run + LENT_HEAD;

    for (int d = 0; d < rank; d++)
        if (at[d] != coord[d])
            return at[d] < coord[d];
    return true;
}

int lent_find(const struct chunks *cs, const uint64_t *coord, struct run_hit *f,
              struct span *payload)
{
    size_t low = 0, high = cs->lent->n;
    struct chunk_run *r = &f->local;
    const uint64_t *v;

    if (f->run)
        run_done(cs->st, f);
    while (low < high) {
        size_t mid = (low + high) / 2;

        if (begins_before(cs->lent->run[mid], coord, cs->rank))
            low = mid + 1;
        else
            high = mid;
    }
    if (low == 0)
        return DREP_ERR_NOT_FOUND;
    v = cs->lent->run[low - 1];
    memset(r, 0, sizeof *r);
    r->object = cs->object;
    r->rank = cs->rank;
    memcpy(r->coord, v + LENT_HEAD, (size_t)cs->rank * sizeof *v);
    r->rec = (struct chunk_rec){.kind = (uint8_t)v[LENT_KIND],
                                .filtered = v[LENT_FILTERED],
                                .skipped = (uint32_t)v[LENT_SKIPPED],
                                .run = (uint32_t)v[LENT_CHUNKS],
                                .file = (uint32_t)v[LENT_FILE_NUMBER],
                                .offset = v[LENT_OFFSET],
                                .size = v[LENT_SIZE]};
    if (!run_covers(r, cs->object, cs->rank, coord, &f->index))
        return DREP_ERR_NOT_FOUND;
    v += LENT_HEAD + cs->rank;
    if (v[-cs->rank - LENT_HEAD + LENT_KIND] == LENT_PAYLOAD) {
        *payload = (struct span){(const uint8_t *)v, (size_t)r->rec.size};
        r->rec.size = 0; /* nothing of it is in the file */
    } else if (r->rec.filtered) {
        r->rec.sum[0] = v[0];
        r->sum = r->rec.sum;
    } else {
        r->sum = (uint64_t *)(uintptr_t)v; /* nobody changes it */
    }
    f->run = r;
    return 0;
}
