/* cut.c - taking chunks out of a run.
 *
 * The run is closed first, so that what is left of it can become records; records are never
 * changed, only replaced. */
/* SPDX-License-Identifier: MIT */
#include "chunk/cut.h"

#include "base/mem.h"
#include "chunk/packed.h"
#include "chunk/payload.h"
#include "tree/edit.h"

/* Store a part of a run as a record of its own.  Fields that a later version added to the record
 * are dropped: they may not be true of a part. */
static int store_part(struct store *st, const struct chunk_run *r, uint32_t from, uint32_t n,
                      uint64_t offset)
{
    struct chunk_run part = *r;
    int err;

    part.rec.offset = offset;
    part.rec.kept = 0;
    part.refs = part.tail = (struct buf){0};
    if (part.rank)
        part.coord[part.rank - 1] += from;
    err = run_store_as(st, &part, n, r->rec.size, r->sum + from * sums_of(r->rec.size), WITH_OP);
    buf_release(&part.refs);
    return err;
}

/* Store the chunks [from, from + n) of a run as a record of their own; payload stays. */
static int store_part_in_place(struct store *st, const struct chunk_run *r, uint32_t from,
                               uint32_t n)
{
    if (n == 0)
        return 0;
    return store_part(st, r, from, n, r->rec.offset + from * r->rec.size);
}

/* The first chunk from `index` on that begins with a unit of space, or the run's end.  Two
 * records cannot share a unit: chunks before that one have to move.  (Only other writers put
 * chunks whose size is no multiple of a unit into one run.) */
static uint32_t next_aligned(const struct chunk_run *r, uint32_t index)
{
    uint64_t size = r->rec.size, step = 1;

    while (size && step * size % FMT_ALIGN)
        step *= 2;
    step = round_up(index, step);
    return step < r->rec.run ? (uint32_t)step : r->rec.run;
}

/* Move the chunks [from, from + n) to a run elsewhere, with the checksums that they had. */
static int move_part(struct store *st, const struct chunk_run *r, uint32_t from, uint32_t n)
{
    uint64_t bytes = n * r->rec.size, space = round_up(bytes ? bytes : 1, FMT_ALIGN), offset;
    int err;

    if (n == 0)
        return 0;
    err = space_alloc(st, space, chunk_align(st, bytes), WITH_OP, &offset);
    if (err)
        return err;
    err = payload_copy(st, r->rec.offset + from * r->rec.size, bytes, offset);
    if (!err)
        err = store_part(st, r, from, n, offset);
    if (err)
        space_free(st, offset, space, WITH_OP);
    return err;
}

/* Free the payload of chunks [from, to), but for units that the chunks before them use. */
static void free_payload(struct store *st, const struct chunk_run *r, uint32_t from, uint32_t to)
{
    uint64_t kept = from * r->rec.size, low = r->rec.offset, high = low + to * r->rec.size;

    if (from > 0)
        low += round_up(kept ? kept : 1, FMT_ALIGN);
    if (to == r->rec.run)
        high = r->rec.offset + r->space;
    if (low < high)
        space_free(st, low, high - low, WITH_OP);
}

int run_remove(struct chunks *cs, struct run_hit *f, uint32_t n)
{
    struct store *st = cs->st;
    struct chunk_run *r = f->run;
    uint32_t index = f->index, behind = r->rank ? index + n : r->rec.run;
    uint32_t stay = next_aligned(r, behind);
    struct key key;
    int err;

    if (r->rec.filtered)
        return packed_remove(cs, r->coord);
    err = run_close(st, r);
    if (err)
        return err;
    if (index == 0) {
        run_key(r, &key);
        err = tree_del(st, &key);
    } else {
        err = store_part_in_place(st, r, 0, index);
    }
    if (!err)
        err = move_part(st, r, behind, stay - behind);
    if (!err)
        err = store_part_in_place(st, r, stay, r->rec.run - stay);
    if (err)
        return err;
    room_drop(st, r->rec.offset);
    sums_free(st, &r->rec.refs, WITH_OP);
    free_payload(st, r, index, stay);
    return 0;
}
