/* place.c - finding space for new chunks.
 *
 * In order of preference: the chunk's place in a reservation; directly behind the chunk before
 * it; the lowest free extent that fits. */
/* SPDX-License-Identifier: MIT */
#include "chunk/place.h"

#include "tree/walk.h"

#define RESERVE_MAX ((uint64_t)1 << 30)
#define LONG_FILE 4 /* slabs */

/* ---- reservations ---- */

static struct reservation *reservation_of(struct chunks *cs, uint64_t chunk)
{
    struct runs *runs = cs->st->runs;

    for (int i = 0; i < runs->nreserved; i++) {
        struct reservation *r = &runs->reserved[i];

        if (r->object == cs->object && r->payload == cs->payload && chunk >= r->first &&
            chunk - r->first < r->chunks)
            return r;
    }
    return NULL;
}

/* Take the reserved place of these chunks if it is still free; false: it is not. */
static bool take_reserved(struct chunks *cs, uint64_t chunk, uint64_t bytes, uint64_t *offset)
{
    struct reservation *r = reservation_of(cs, chunk);
    uint64_t at;

    if (!r)
        return false;
    at = r->offset + (chunk - r->first) * r->payload;
    bytes = round_up(bytes, FMT_ALIGN);
    if (!extents_hold(&r->left, at, bytes) || extents_take(&r->left, at, bytes))
        return false;
    if (space_op_adopt(cs->st, at, bytes)) {
        extents_add(&r->left, at, bytes, NULL);
        return false;
    }
    *offset = at;
    return true;
}

static bool nothing_stored(struct chunks *cs)
{
    struct tree_walk w;
    struct key key;

    for (int i = 0; i < cs->st->runs->n; i++) {
        if (cs->st->runs->open[i]->object == cs->object)
            return false;
    }
    key_make(&key, cs->object, FMT_TAG_CHUNK);
    tree_walk(&w, cs->st, &key, key.len);
    return tree_next(&w, &key, NULL) == DREP_ERR_NOT_FOUND;
}

/* Return the end of the chunk before this one if a full chunk fits there, else 0.  At
 * the end of the file it counts only for a dataset written for the first time: rewriting would
 * lengthen the file although there may be room elsewhere. */
static uint64_t end_before(struct chunks *cs, const uint64_t *coord, uint64_t ahead, uint64_t size)
{
    uint64_t at[FMT_RANK_MAX], end = 0;
    struct run_hit f;

    if (chunk_last(cs->rank, coord) == 0)
        return 0;
    memcpy(at, coord, (size_t)cs->rank * sizeof(*at));
    at[cs->rank - 1]--;
    if (run_find(cs, at, &f))
        return 0;
    if (!f.run->rec.filtered && f.run->rec.size >= size && f.run->rec.size % FMT_ALIGN == 0 &&
        f.index + 1 == f.run->rec.run && f.run->space == run_bytes(f.run))
        end = f.run->rec.offset + f.run->space;
    run_done(cs->st, &f);
    return end == cs->st->space->end && ahead != AHEAD_ALL ? 0 : end;
}

/* Number of chunks from `chunk` on, of n, that are neither stored nor have a reservation. */
static uint64_t without_place(struct chunks *cs, uint64_t chunk, uint64_t n)
{
    const struct runs *runs = cs->st->runs;
    uint64_t next;

    if (run_next(cs, &chunk, n, &next))
        return 1;
    if (next != UINT64_MAX && next - chunk < n)
        n = next - chunk;
    for (int i = 0; i < runs->nreserved; i++) {
        const struct reservation *r = &runs->reserved[i];

        if (r->object == cs->object && r->first > chunk && r->first - chunk < n)
            n = r->first - chunk;
    }
    return n;
}

/* Alignment of a growing dataset's slabs.  Each commit after the first moves its last slab; in a
 * file that is long anyway such slabs stand at multiples of their size, so that the gaps they leave
 * fit the next one. */
static uint64_t align_of(const struct chunks *cs, uint64_t bytes)
{
    uint64_t align = chunk_align(cs->st, bytes);

    if (!cs->grows || !cs->st->slot.sequence || bytes < cs->payload || cs->payload % align ||
        cs->payload < align || cs->st->space->end / LONG_FILE < cs->payload)
        return align;
    return cs->payload;
}

/* Reserve a stretch for chunks to come.  A contiguous dataset that is written bit by bit gets its
 * place as a whole, so that its slabs are adjacent.  Chunks that are rewritten have a place each
 * already: then only those that are certain to move get one. */
static void reserve(struct chunks *cs, const uint64_t *coord, uint64_t ahead, uint64_t bytes,
                    uint64_t size)
{
    struct store *st = cs->st;
    struct reservation *r = &st->runs->reserved[st->runs->nreserved];
    uint64_t chunk = chunk_last(cs->rank, coord), total, room, behind;

    if (cs->rank != 1 || cs->reserve <= cs->payload || cs->payload == 0 ||
        cs->payload % FMT_ALIGN || st->runs->nreserved == RESERVATIONS)
        return;
    total = cs->reserve / cs->payload + (cs->reserve % cs->payload != 0);
    if (chunk >= total || reservation_of(cs, chunk))
        return;
    behind = end_before(cs, coord, ahead, size);
    if (ahead == AHEAD_ALL && !behind && chunk <= RESERVE_MAX / cs->payload / 2 &&
        nothing_stored(cs)) {
        r->first = 0;
        r->chunks = total;
    } else {
        r->first = chunk;
        r->chunks = total - chunk < ahead ? total - chunk : ahead;
        if (ahead == AHEAD_ALL)
            r->chunks = without_place(cs, chunk, r->chunks);
    }
    if (r->chunks > RESERVE_MAX / cs->payload)
        r->chunks = RESERVE_MAX / cs->payload;
    if (r->chunks < 2 || chunk - r->first >= r->chunks ||
        (r->first == chunk && r->chunks * cs->payload <= bytes))
        return; /* this write covers all there is to reserve */
    room = r->chunks * cs->payload;
    if (r->first + r->chunks == total && !cs->grows) /* the last one may be short */
        room = round_up(cs->reserve - r->first * cs->payload, FMT_ALIGN);
    if (behind && space_alloc_at(st, behind, room))
        r->offset = behind;
    else if (space_alloc(st, room, align_of(cs, room), ANYWAY, &r->offset))
        return;
    if (behind && r->offset == behind)
        space_op_disown(st, behind, room); /* reservations outlive operations */
    r->object = cs->object;
    r->payload = cs->payload;
    r->needed = cs->reserve - r->first * cs->payload;
    r->keeps = cs->appended;
    if (extents_add(&r->left, r->offset, room, NULL)) {
        extents_release(&r->left);
        space_free(st, r->offset, room, ANYWAY);
        return;
    }
    st->runs->nreserved++;
}

/* Space is about to be taken at the end of the file for an object: give back the room that others
 * have there to become longer, which would be a hole.  What was appended keeps it, because more is
 * to come. */
static void pull_in(struct store *st, uint64_t object)
{
    struct extent e;

    for (int i = 0; i < st->runs->nreserved; i++) {
        struct reservation *r = &st->runs->reserved[i];

        if (r->object != object && !r->keeps && extents_behind(&r->left, 0, &e) &&
            e.offset + e.length == st->space->end && e.offset - r->offset >= r->needed &&
            !extents_take(&r->left, e.offset, e.length))
            space_free(st, e.offset, e.length, ANYWAY);
    }
    runs_pull_in(st, object);
}

void place_end(struct store *st)
{
    for (int i = 0; i < st->runs->nreserved; i++) {
        struct extents *left = &st->runs->reserved[i].left;
        struct extent e;

        while (extents_last(left, &e)) {
            if (extents_take(left, e.offset, e.length))
                break;
            space_free(st, e.offset, e.length, ANYWAY);
        }
        extents_release(left);
    }
    st->runs->nreserved = 0;
}

/* ---- streams ---- */

int place_settle(struct store *st, uint64_t upto)
{
    struct extent e;

    if (!st->space->onward)
        return 0;
    /* The next row of a packed run may begin in the last line. */
    if (upto > st->space->end - FMT_ALIGN)
        upto = st->space->end - FMT_ALIGN;
    for (int i = 0; i < st->runs->nreserved; i++)
        if (extents_behind(&st->runs->reserved[i].left, 0, &e) && e.offset < upto)
            upto = e.offset;
    return space_settle(st, upto);
}

int place_settle_all(struct store *st)
{
    if (!st->space->onward)
        return 0;
    place_end(st);
    return space_settle(st, st->space->end);
}

/* ---- any chunk ---- */

static void reserve_for(struct chunks *cs, const uint64_t *coord, uint64_t ahead, uint64_t bytes,
                        uint64_t size)
{
    uint64_t hole;

    if (!extents_fit(&cs->st->space->avail, bytes, FMT_ALIGN, &hole))
        pull_in(cs->st, cs->object);
    reserve(cs, coord, ahead, bytes, size);
}

int place_find(struct chunks *cs, const uint64_t *coord, uint64_t ahead, uint64_t bytes,
               uint64_t size, uint64_t *offset)
{
    struct store *st = cs->st;
    uint64_t behind;

    reserve_for(cs, coord, ahead, bytes, size);
    if (take_reserved(cs, chunk_last(cs->rank, coord), bytes, offset))
        return 0;
    behind = cs->payload % FMT_ALIGN ? 0 : end_before(cs, coord, ahead, size);
    if (behind && space_alloc_at(st, behind, bytes)) {
        *offset = behind;
        return 0;
    }
    return space_alloc(st, bytes, align_of(cs, bytes), WITH_OP, offset);
}

/* True if none of n slabs is stored. */
static bool none_stored(struct chunks *cs, uint64_t slab, uint64_t n)
{
    struct run_hit f;
    uint64_t next;

    if (!run_find(cs, &slab, &f)) {
        run_done(cs->st, &f);
        return false;
    }
    return !run_next(cs, &slab, n, &next) && (next == UINT64_MAX || next - slab >= n);
}

/* Such a write reserves with its first stretch, so that one does not cover the dataset. */
struct foreseen place_foresee(struct chunks *cs, uint64_t slab, uint64_t n)
{
    static const struct foreseen none = {.first = 0};
    const struct reservation *r;
    struct extent e;
    uint64_t most, at;

    if (n == 0 || cs->st->space->onward || cs->payload == 0 || cs->payload % FMT_SUM_BLOCK)
        return none;
    most = RUN_BYTES / cs->payload;
    if (!reservation_of(cs, slab) && nothing_stored(cs))
        reserve_for(cs, &slab, AHEAD_ALL, (n < most ? n : most) * cs->payload, cs->payload);
    r = reservation_of(cs, slab);
    if (!r || !none_stored(cs, slab, n))
        return none;
    at = r->offset + (slab - r->first) * r->payload;
    if (!extents_find(&r->left, at, &e))
        return none;
    most = (e.offset + e.length - at) / r->payload;
    return (struct foreseen){slab, slab + (n < most ? n : most), at};
}
