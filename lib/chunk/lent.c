/* lent.c - records of chunks that another store has lent this one. */
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

/* Count the numbers that a head promises behind the coordinates; UINT64_MAX: no head is such. */
static uint64_t numbers_behind(const uint64_t *head)
{
    uint64_t chunks = head[LENT_CHUNKS], size = head[LENT_SIZE];

    if (chunks == 0 || chunks > UINT32_MAX || head[LENT_FILTERED] > 1 ||
        head[LENT_SKIPPED] > UINT32_MAX || head[LENT_FILE_NUMBER] > UINT32_MAX)
        return UINT64_MAX;
    if (!head[LENT_FILTERED])
        return head[LENT_KIND] == LENT_PAYLOAD ? UINT64_MAX : chunk_sums((uint32_t)chunks, size);
    if (chunks > 1 || (head[LENT_KIND] != LENT_PAYLOAD && size > UINT32_MAX))
        return UINT64_MAX;
    return head[LENT_KIND] == LENT_PAYLOAD ? size / 8 + (size % 8 != 0) : 1;
}

static void to_host(uint64_t *v, uint64_t n)
{
    for (uint64_t i = 0; i < n; i++)
        v[i] = load_u64((const uint8_t *)(v + i));
}

/* Bring the run at v, of `left` numbers, to the host's order, and count its own; 0: it is broken.
 */
static uint64_t run_to_host(uint64_t *v, uint64_t left, int rank)
{
    uint64_t numbers = LENT_HEAD + (uint64_t)rank;

    if (left < numbers)
        return 0;
    to_host(v, numbers);
    if (v[LENT_BEHIND] > left - numbers || v[LENT_BEHIND] != numbers_behind(v))
        return 0;
    if (v[LENT_KIND] != LENT_PAYLOAD)
        to_host(v + numbers, v[LENT_BEHIND]);
    return numbers + v[LENT_BEHIND];
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

/* List the runs of a message. */
static int list_runs(struct lent_records *l, struct buf *b, int rank)
{
    uint64_t *v = (uint64_t *)(void *)b->p, left = b->len / 8, n;

    for (; left > 0; v += n, left -= n) {
        n = run_to_host(v, left, rank);
        if (n == 0 || (l->n > 0 && !begins_before(l->run[l->n - 1], v + LENT_HEAD, rank)))
            return fail(DREP_ERR_IO, "lent records of chunks are broken");
        if (VEC_ROOM(l->run, l->n, l->room, 1))
            return DREP_ERR_NOMEM;
        l->run[l->n++] = v;
    }
    return b->len % 8 ? fail(DREP_ERR_IO, "lent records of chunks are cut off") : 0;
}

int chunks_borrow(struct chunks *cs, struct buf *b)
{
    int err;

    cs->lent = mem_zalloc(1, sizeof *cs->lent);
    if (!cs->lent)
        return DREP_ERR_NOMEM;
    cache_drop_object(cs->st->cache, cs->object);
    err = list_runs(cs->lent, b, cs->rank);
    if (err)
        chunks_unborrow(cs);
    return err;
}

/* Drop what reads have cached from lent records: the store's own commit has other bytes. */
void chunks_unborrow(struct chunks *cs)
{
    if (!cs->lent)
        return;
    cache_drop_object(cs->st->cache, cs->object);
    mem_free(cs->lent->run);
    mem_free(cs->lent);
    cs->lent = NULL;
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
                                .kept = (uint8_t)v[LENT_FLAGS],
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
