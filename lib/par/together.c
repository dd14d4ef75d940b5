/* together.c - what all ranks select, as one selection. */
/* SPDX-License-Identifier: MIT */
#include "par/together.h"

#include "base/mem.h"
#include "base/vec.h"
#include "format/byteorder.h"

#include <datarep.h>
#include <stdlib.h>
#include <string.h>

/* A selection: kind, boxes or points, elements, ranges of members; then these and those. */
enum { HEAD = 32, DIM = 32, KIND_NONE = 0, KIND_BOXES = 1, KIND_POINTS = 2 };

#define PIECES_MAX 65536 /* of a union: parts.c moves more of them in several batches */

/* ---- as bytes ---- */

static uint8_t *put_dims(uint8_t *p, const struct span_dim *dim, int rank)
{
    for (int d = 0; d < rank; d++, p += DIM) {
        store_u64(p, (uint64_t)dim[d].start);
        store_u64(p + 8, (uint64_t)dim[d].stride);
        store_u64(p + 16, (uint64_t)dim[d].block);
        store_u64(p + 24, (uint64_t)dim[d].n);
    }
    return p;
}

static int selection_put(const struct drep_selection *s, const struct byte_ranges *ranges,
                         struct buf *b)
{
    uint64_t n = s->coords ? (uint64_t)s->npoints : s->box ? (uint64_t)s->nboxes : 1;
    uint64_t rank = (uint64_t)s->rank;
    uint8_t *p;
    int err;

    if (s->count == 0)
        return 0;
    if ((err = buf_reserve(b, HEAD + byte_ranges_size(ranges) + n * rank * (s->coords ? 8 : DIM))))
        return err;
    p = b->p;
    store_u64(p, s->coords ? KIND_POINTS : KIND_BOXES);
    store_u64(p + 8, n);
    store_u64(p + 16, (uint64_t)s->count);
    store_u64(p + 24, byte_ranges_size(ranges) / BYTE_RANGE);
    p += HEAD;
    if (byte_ranges_size(ranges) > 0)
        memcpy(p, ranges->range, byte_ranges_size(ranges));
    p += byte_ranges_size(ranges);
    for (uint64_t i = 0; s->coords && i < n * rank; i++, p += 8)
        store_u64(p, (uint64_t)s->coords[i]);
    for (uint64_t i = 0; !s->coords && i < n; i++)
        p = put_dims(p, s->box ? s->box + i * rank : s->dim, s->rank);
    b->len = (size_t)(p - b->p);
    return 0;
}

/* ---- one selection of all ---- */

/* What the ranks gave. */
struct given_all {
    const uint8_t *all;
    const uint64_t *offset;
    int ranks;
};

static struct byte_ranges members_of(const struct given_all *g, int r)
{
    uint8_t *p = (uint8_t *)(uintptr_t)g->all + g->offset[r];

    return (struct byte_ranges){.range = p + HEAD, .n = (size_t)load_u64(p + 24)};
}

/* The selection of a rank, if it has one and writes these members. */
static const uint8_t *selection_of(const struct given_all *g, int r,
                                   const struct byte_ranges *ranges)
{
    struct byte_ranges own;

    if (g->offset[r + 1] - g->offset[r] < HEAD)
        return NULL;
    own = members_of(g, r);
    return byte_ranges_same(&own, ranges) ? g->all + g->offset[r] : NULL;
}

/* What is behind the head of a selection. */
static const uint8_t *parts_of(const uint8_t *p)
{
    return p + HEAD + load_u64(p + 24) * BYTE_RANGE;
}

/* Count what the ranks gave: boxes, points. */
static void count(const struct given_all *g, const struct byte_ranges *ranges, uint64_t *boxes,
                  uint64_t *points)
{
    *boxes = *points = 0;
    for (int r = 0; r < g->ranks; r++) {
        const uint8_t *p = selection_of(g, r, ranges);

        if (p)
            *(load_u64(p) == KIND_POINTS ? points : boxes) += load_u64(p + 8);
    }
}

/* Points stay in the order of ranks: of two writes of one element the last one counts. */
static int unite_points(const struct given_all *g, const struct byte_ranges *ranges, uint64_t n,
                        struct drep_selection *out)
{
    uint64_t rank = (uint64_t)out->rank, at = 0;

    out->coords = mem_array(n * rank + 1, sizeof *out->coords);
    if (!out->coords)
        return fail_nomem();
    for (int r = 0; r < g->ranks; r++) {
        const uint8_t *p = selection_of(g, r, ranges);

        for (uint64_t i = 0; p && i < load_u64(p + 8) * rank; i++)
            out->coords[at++] = (int64_t)load_u64(parts_of(p) + 8 * i);
    }
    out->npoints = out->count = (int64_t)n;
    return 0;
}

static int places_ascending(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

    return (x > y) - (x < y);
}

/* So few points are moved chunk by chunk.  One that comes twice may be written twice. */
static int look_for_order(const drep_dataset *ds, const struct drep_selection *s,
                          enum together *how)
{
    size_t n = (size_t)s->npoints, rank = (size_t)s->rank;
    uint64_t *place = mem_array(n + 1, sizeof *place);
    bool twice = false;

    if (!place)
        return fail_nomem();
    for (size_t i = 0; i < n; i++) {
        place[i] = 0;
        for (size_t d = 0; d < rank; d++)
            place[i] = place[i] * ds->rec.len[d] + (uint64_t)s->coords[i * rank + d];
    }
    qsort(place, n, sizeof *place, places_ascending);
    for (size_t i = 1; i < n; i++)
        twice |= place[i] == place[i - 1];
    mem_free(place);
    *how = twice ? TOGETHER_PARTS : TOGETHER_ORDER;
    return 0;
}

static int unite_boxes(const struct given_all *g, const struct byte_ranges *ranges, uint64_t n,
                       struct drep_selection *out)
{
    struct span_dim *dim;

    if (n > INT32_MAX)
        return fail(DREP_ERR_LIMIT, "%llu boxes in one write", (unsigned long long)n);
    out->box = dim = mem_array(n * (uint64_t)out->rank + 1, sizeof *dim);
    if (!dim)
        return fail_nomem();
    out->nboxes = (int)n;
    for (int r = 0; r < g->ranks; r++) {
        const uint8_t *p = selection_of(g, r, ranges);
        uint64_t boxes = p ? load_u64(p + 8) : 0;

        out->count += p ? (int64_t)load_u64(p + 16) : 0; /* its boxes may overlap */
        p = p ? parts_of(p) : NULL;
        for (uint64_t i = 0; i < boxes * (uint64_t)out->rank; i++, p += DIM, dim++)
            *dim = (struct span_dim){(int64_t)load_u64(p), (int64_t)load_u64(p + 8),
                                     (int64_t)load_u64(p + 16), (int64_t)load_u64(p + 24)};
    }
    return 0;
}

/* True for a dimension whose indices are neighbours. */
static bool without_gaps(const struct span_dim *d)
{
    return d->n == 1 || d->stride == d->block || (d->block == 1 && d->stride == 1);
}

/* If the boxes fill a box, as the parts of a grid do, that is the selection. */
static void become_box(struct drep_selection *s)
{
    struct drep_selection whole = {.rank = s->rank, .count = 1};

    for (int d = 0; d < s->rank; d++) {
        int64_t low = INT64_MAX, high = 0;

        for (int i = 0; i < s->nboxes; i++) {
            const struct span_dim *dim = &s->box[(size_t)i * (size_t)s->rank + (size_t)d];
            int64_t first = dim->start, end = span_at(dim, dim->n - 1) + 1;

            if (s->nboxes > 1 && !without_gaps(dim))
                return;
            low = first < low ? first : low;
            high = end > high ? end : high;
        }
        whole.dim[d] = s->nboxes == 1 ? s->box[d] : (struct span_dim){low, 1, 1, high - low};
        if (__builtin_mul_overflow(whole.count, whole.dim[d].n, &whole.count))
            return;
    }
    if (whole.count != s->count)
        return;
    mem_free(s->box);
    *s = whole;
}

/* The first and the last index of a box in one dimension. */
static int64_t low(const struct span_dim *d)
{
    return d->start;
}

static int64_t high(const struct span_dim *d)
{
    return span_at(d, d->n - 1);
}

static int by_first(const void *a, const void *b)
{
    const struct span_dim *x = *(struct span_dim *const *)a, *y = *(struct span_dim *const *)b;

    return (low(x) > low(y)) - (low(x) < low(y));
}

static bool apart(const struct span_dim *a, const struct span_dim *b, int rank)
{
    for (int d = 0; d < rank; d++)
        if (low(&a[d]) > high(&b[d]) || low(&b[d]) > high(&a[d]))
            return true;
    return false;
}

/* Finds out whether boxes may have elements in common: those that surround them do. */
static int look_for_overlap(const struct drep_selection *s, bool *found)
{
    size_t n = (size_t)s->nboxes, rank = (size_t)s->rank;
    const struct span_dim **box = mem_array(n + 1, sizeof *box);

    if (!box)
        return fail_nomem();
    for (size_t i = 0; i < n; i++)
        box[i] = s->box + i * rank;
    if (rank > 0)
        qsort(box, n, sizeof *box, by_first);
    *found = rank == 0 && n > 1;
    for (size_t i = 0; rank > 0 && !*found && i < n; i++)
        for (size_t k = i + 1; !*found && k < n && low(box[k]) <= high(box[i]); k++)
            *found = !apart(box[i], box[k], s->rank);
    mem_free(box);
    return 0;
}

/* More than the pieces into which a union is cut. */
static uint64_t pieces_of(const drep_dataset *ds, const struct drep_selection *s)
{
    const struct object_rec *r = &ds->rec;
    uint64_t pieces = 0;

    for (int i = 0; r->layout != FMT_COMPACT && i < s->nboxes; i++) {
        const struct span_dim *dim = s->box + (size_t)i * (size_t)s->rank;
        uint64_t rows = 1, cuts, last = (uint64_t)dim[s->rank - 1].n;
        uint64_t len = r->layout == FMT_CONTIGUOUS ? r->slab : r->chunk[s->rank - 1];

        for (int d = 0; d < s->rank - 1; d++)
            rows *= (uint64_t)dim[d].n;
        cuts = without_gaps(&dim[s->rank - 1]) ? last / len + 2 : last;
        pieces += rows * cuts;
        if (rows > PIECES_MAX || pieces > PIECES_MAX)
            return PIECES_MAX + 1;
    }
    return pieces;
}

/* The call with some of the members, of which others may exist. */
static int unite_call(const drep_dataset *ds, const struct given_all *g, bool others,
                      struct together_call *call, enum together *how)
{
    struct drep_selection *out = &call->sel;
    bool overlap = others;
    uint64_t boxes, points;
    int err;

    out->rank = ds->rec.rank == FMT_RANK_NULL ? 0 : ds->rec.rank;
    count(g, &call->ranges, &boxes, &points);
    if (boxes > 0 && points > 0)
        return fail(DREP_ERR_UNSUPPORTED_OPERATION,
                    "some ranks select points, and some boxes; a collective write needs one kind");
    if (points > 0) {
        *how = TOGETHER_PARTS;
        err = unite_points(g, &call->ranges, points, out);
        return err || points > PIECES_MAX ? err : look_for_order(ds, out, how);
    }
    if ((err = unite_boxes(g, &call->ranges, boxes, out)))
        return err;
    if (ranks_of(ds->file)->last && !overlap && (err = look_for_overlap(out, &overlap)))
        return err;
    overlap = overlap && ranks_of(ds->file)->last;
    if (!overlap)
        become_box(out);
    *how = !out->box                                      ? TOGETHER_BOX
           : !overlap && pieces_of(ds, out) <= PIECES_MAX ? TOGETHER_UNION
                                                          : TOGETHER_PARTS;
    return 0;
}

/* Lists the choices of members that ranks make. */
static int list_calls(const struct given_all *g, struct united *out)
{
    size_t room = 0;

    for (int r = 0; r < g->ranks; r++) {
        struct byte_ranges own;
        bool known = false;

        if (g->offset[r + 1] - g->offset[r] < HEAD)
            continue;
        own = members_of(g, r);
        for (size_t i = 0; i < out->n; i++)
            known |= byte_ranges_same(&own, &out->call[i].ranges);
        if (known)
            continue;
        if (VEC_ROOM(out->call, out->n, room, 1))
            return fail_nomem();
        out->call[out->n++] = (struct together_call){.ranges = own};
    }
    return 0;
}

/* Members are never whole chunks.  Calls with other members come to chunks again. */
static int unite(const drep_dataset *ds, const struct given_all *g, struct united *out,
                 enum together *how)
{
    int err = list_calls(g, out);

    *how = out->n > 0 ? TOGETHER_PARTS : TOGETHER_NOTHING;
    for (size_t i = 0; !err && i < out->n; i++) {
        enum together of_call = TOGETHER_PARTS;

        err = unite_call(ds, g, out->n > 1, &out->call[i], &of_call);
        if (out->call[i].ranges.n == 0)
            *how = of_call;
        else if (out->n == 1 && of_call != TOGETHER_PARTS)
            *how = TOGETHER_ORDER;
    }
    return err;
}

/* ---- together ---- */

/* Rank 0 tells how it went, and if they are wanted, all selections. */
static int spread_selections(struct team *team, int err, enum together *how, struct buf *b)
{
    uint8_t head[HEAD] = {0};
    char why[FAIL_PACKED];
    struct buf mine = {0};
    int failed = 0;

    if (team->rank == 0) {
        store_u64(head, (uint64_t)*how);
        store_u64(head + 8, (uint64_t)err);
        failed = buf_add(&mine, head, HEAD);
        if (!failed && err)
            failed = buf_add(&mine, why, fail_pack(fail_last(), why, sizeof why));
        else if (!failed && b)
            failed = buf_add(&mine, b->p, b->len);
    }
    failed = failed ? team_kill(team, failed) : team_bcast(team, &mine);
    if (!failed) {
        *how = (enum together)load_u64(mine.p);
        failed = (int)load_u64(mine.p + 8);
        if (failed && team->rank > 0)
            fail_unpack(failed, mine.p + HEAD, mine.len - HEAD);
    }
    if (!failed && b && team->rank > 0)
        failed = buf_set(b, mine.p + HEAD, mine.len - HEAD);
    buf_release(&mine);
    return failed;
}

int together_meet(struct team *team, const drep_dataset *ds, const struct drep_selection *mine,
                  const struct byte_ranges *ranges, bool everywhere, struct united *united,
                  enum together *how)
{
    uint64_t *offset = mem_array((uint64_t)team->size + 1, sizeof *offset);
    size_t head = ((size_t)team->size + 1) * sizeof *offset;
    struct given_all g = {.offset = offset, .ranks = team->size};
    struct buf own = {0}, both = {0};
    int err = offset ? selection_put(mine, ranges, &own) : DREP_ERR_NOMEM;

    err = err ? team_kill(team, err) : team_gather(team, own.p, own.len, &united->all, offset);
    if (err)
        goto out;
    if (team->rank == 0) {
        g.all = united->all.p;
        err = unite(ds, &g, united, how);
        if (!err && everywhere)
            err = buf_add(&both, offset, head);
        if (!err && everywhere)
            err = buf_add(&both, united->all.p, united->all.len);
    }
    err = spread_selections(team, err, how, everywhere ? &both : NULL);
    if (!err && everywhere && team->rank > 0) {
        memcpy(offset, both.p, head);
        err = buf_set(&united->all, both.p + head, both.len - head);
        g.all = united->all.p;
        err = err ? team_kill(team, err) : unite(ds, &g, united, how);
    }
out:
    buf_release(&own);
    buf_release(&both);
    mem_free(offset);
    return err;
}

void together_release(struct united *united)
{
    for (size_t i = 0; i < united->n; i++) {
        mem_free(united->call[i].sel.coords);
        mem_free(united->call[i].sel.box);
    }
    mem_free(united->call);
    buf_release(&united->all);
    *united = (struct united){.n = 0};
}
