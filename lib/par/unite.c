/* unite.c - compact datasets into which the elements of several ranks go. */
/* SPDX-License-Identifier: MIT */
#include "par/unite.h"

#include "base/mem.h"
#include "conv/heap.h"
#include "elem/compact.h"
#include "elem/payload.h"
#include "par/ranks.h"

#include <string.h>

int unite_begin(struct uniting *u, drep_dataset *ds)
{
    int err;

    *u = (struct uniting){.ds = ds,
                          .writer = mem_zalloc((uint64_t)dataset_count(ds) + 1, sizeof *u->writer)};
    if (!u->writer)
        return fail_nomem();
    err = compact_load(ds, &u->b, &u->fixed);
    return err || !ds->ft->type->variable ? err : heap_renew(ds, &u->b, u->fixed, &u->heap);
}

void unite_end(struct uniting *u)
{
    mem_free(u->writer);
    buf_release(&u->b);
    buf_release(&u->heap);
}

int unite_rank(const struct uniting *u, int lowest, int highest)
{
    return ranks_of(u->ds->file)->last ? highest : lowest;
}

static bool is_marked(const uint8_t *bit, int64_t i)
{
    return bit[i / 8] >> i % 8 & 1;
}

static int same_count(const struct uniting *u, int64_t n)
{
    return u->ds->rec.layout == FMT_COMPACT && n == dataset_count(u->ds)
               ? 0
               : fail(DREP_ERR_FAILED, "marks of %lld elements", (long long)n);
}

int unite_known(struct uniting *u, int rank, const uint8_t *bit, int64_t n)
{
    bool last = ranks_of(u->ds->file)->last;
    int err = same_count(u, n);

    for (int64_t i = 0; !err && i < n; i++)
        if (is_marked(bit, i) && (u->writer[i] == 0 || (last && u->writer[i] <= (uint32_t)rank)))
            u->writer[i] = 1 + (uint32_t)rank;
    return err;
}

/* Elements as a payload has them, and the heap that they refer to. */
struct compact_data {
    const uint8_t *p, *heap;
    size_t heap_size;
};

/* Copy one element to a place of its own. */
static int take_element(const drep_dataset *ds, const struct compact_data *from, int64_t i,
                        uint8_t *to, struct buf *heap)
{
    memcpy(to, from->p + bytes_of(ds, i), (size_t)ds->esize);
    return !ds->ft->type->variable
               ? 0
               : heap_move(&ds->ft->stored, to, 1, from->heap, from->heap_size, 0, heap);
}

/* True if an element has one value in both; `room` is for two elements. */
static int same_value(const drep_dataset *ds, const struct compact_data *a,
                      const struct compact_data *b, int64_t i, uint8_t *room, bool *same)
{
    struct buf of_a = {0}, of_b = {0};
    size_t size = (size_t)ds->esize;
    int err = take_element(ds, a, i, room, &of_a);

    if (!err)
        err = take_element(ds, b, i, room + size, &of_b);
    *same = !err && memcmp(room, room + size, size) == 0 && of_a.len == of_b.len &&
            (of_a.len == 0 || memcmp(of_a.p, of_b.p, of_a.len) == 0);
    buf_release(&of_a);
    buf_release(&of_b);
    return err;
}

/* Take marked elements, of which nobody has written others. */
static int take_marked(struct uniting *u, int rank, const uint8_t *bit,
                       const struct compact_data *theirs, uint8_t *is, struct buf *heap,
                       int64_t *clash)
{
    const drep_dataset *ds = u->ds;
    bool last = ranks_of(ds->file)->last;
    int64_t n = dataset_count(ds);
    uint8_t *room = mem_alloc(2 * (uint64_t)ds->esize + 1);
    int err = room ? 0 : fail_nomem();

    for (int64_t i = 0; !err && i < n; i++) {
        struct compact_data now = {is, heap->p, heap->len};
        bool same;

        if (!is_marked(bit, i))
            continue;
        if (last && u->writer[i] > (uint32_t)rank)
            continue;
        if (last || u->writer[i] == 0) {
            err = take_element(ds, theirs, i, is + bytes_of(ds, i), heap);
            u->writer[i] = 1 + (uint32_t)rank;
        } else if (!(err = same_value(ds, &now, theirs, i, room, &same)) && !same) {
            *clash = i;
            err = fail(DREP_ERR_NOT_SAME, "element number %lld", (long long)i);
        }
    }
    mem_free(room);
    return err;
}

int unite_entry(struct uniting *u, int rank, const uint8_t *bit, int64_t n, const uint8_t *entry,
                size_t size, int64_t *clash)
{
    struct compact_data theirs = {.p = entry};
    int err = same_count(u, n);

    *clash = -1;
    if (!err && size < u->fixed)
        err = fail(DREP_ERR_FAILED, "%zu bytes of elements for %zu", size, u->fixed);
    if (err)
        return err;
    theirs.heap = entry + u->fixed;
    theirs.heap_size = size - u->fixed;
    return take_marked(u, rank, bit, &theirs, u->b.p, &u->heap, clash);
}

int unite_store(struct uniting *u)
{
    int err = heap_append(&u->b, u->fixed, &u->heap);

    if (!err && u->ds->ft->type->variable) /* without contents that were replaced */
        err = heap_renew(u->ds, &u->b, u->fixed, &u->heap);
    return err ? err : compact_store(u->ds, &u->b, u->fixed, &u->heap);
}
