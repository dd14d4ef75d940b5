/* space.c - allocating and freeing bytes of the file.
 *
 * An allocation takes the lowest extent of avail that fits, else bytes at the end of the file.
 * `touched` collects the offsets whose FREE entry may be out of date: only commits write FREE
 * entries, so that an allocation changes no node. */
/* SPDX-License-Identifier: MIT */
#include "space/space.h"

#include "base/error.h"
#include "base/mem.h"
#include "space/lease.h"

#include <stdlib.h>
#include <string.h>

/* Do not reserve shorter extents for nodes. */
#define LEAST_RESERVED 256

void space_release(struct space *sp)
{
    extents_release(&sp->avail);
    extents_release(&sp->kept);
    extents_release(&sp->fresh);
    extents_release(&sp->dealt);
    later_release(&sp->later);
    later_release(&sp->pending);
    extent_list_release(&sp->freed);
    extent_list_release(&sp->late);
    extent_list_release(&sp->left);
    extents_release(&sp->op.alloc);
    extent_list_release(&sp->op.freed);
    extent_list_release(&sp->op.unused);
    mem_free(sp->touched);
    *sp = (struct space){0};
}

/* ---- offsets whose FREE entry may be wrong ---- */

static int by_value(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

    return (x > y) - (x < y);
}

void space_touched_sort(struct space *sp)
{
    size_t n = 0;

    if (sp->ntouched > 1)
        qsort(sp->touched, sp->ntouched, sizeof(*sp->touched), by_value);
    for (size_t i = 0; i < sp->ntouched; i++) {
        if (n == 0 || sp->touched[i] != sp->touched[n - 1])
            sp->touched[n++] = sp->touched[i];
    }
    sp->ntouched = n;
}

static int touch_reserve(struct space *sp, size_t n)
{
    size_t room = sp->room_touched ? sp->room_touched * 2 : 64;
    uint64_t *touched;

    if (sp->room_touched - sp->ntouched >= n)
        return 0;
    space_touched_sort(sp);
    if (sp->room_touched - sp->ntouched >= sp->room_touched / 2 + n)
        return 0;
    touched = mem_resize(sp->touched, room + n, sizeof(*touched));
    if (!touched)
        return DREP_ERR_NOMEM;
    sp->touched = touched;
    sp->room_touched = room + n;
    return 0;
}

static void touch_line(struct space *sp, uint64_t offset)
{
    if (sp->ntouched == 0 || sp->touched[sp->ntouched - 1] != offset)
        sp->touched[sp->ntouched++] = offset;
}

/* ---- into and out of avail ---- */

/* Add an extent to avail. known: the tree has a FREE entry for exactly this extent.  The extent
 * may merge with its neighbours: then the entries of all of them are out of date. */
static int make_available(struct space *sp, uint64_t offset, uint64_t length, int known)
{
    struct extent whole;
    int err = touch_reserve(sp, 3);

    if (!err)
        err = extents_add(&sp->avail, offset, length, &whole);
    if (err)
        return err;
    if (known && whole.offset == offset && whole.length == length)
        return 0;
    touch_line(sp, offset);
    touch_line(sp, whole.offset);
    touch_line(sp, offset + length); /* an extent that began there is part of this one now */
    return 0;
}

static int take_available(struct space *sp, uint64_t offset, uint64_t length)
{
    struct extent e;
    int err = touch_reserve(sp, 2);

    if (err)
        return err;
    extents_find(&sp->avail, offset, &e);
    err = extents_take(&sp->avail, offset, length);
    if (err)
        return err;
    touch_line(sp, e.offset);
    touch_line(sp, offset + length);
    return 0;
}

/* Make one extent available that no commit in use refers to; in_tree: it has a FREE entry. */
static int release_one(struct space *sp, const struct later *l, int in_tree)
{
    int err = touch_reserve(sp, 3);

    if (!err)
        err = make_available(sp, l->offset, l->length, in_tree);
    if (err == DREP_ERR_FORMAT)
        return fail_byte(err, l->offset, "free extent at byte %llu overlaps another (R6.2)",
                         (unsigned long long)l->offset);
    return err;
}

int space_reuse(struct store *st, uint64_t limit)
{
    struct space *sp = st->space;
    struct later_list *p = &sp->pending;
    size_t kept = 0;
    int err = 0;

    if (limit > sp->limit) /* nobody can come to look at a commit before it again */
        sp->limit = limit;
    while (!err && sp->later.head < sp->later.n &&
           sp->later.e[sp->later.head].sequence <= sp->limit) {
        err = release_one(sp, &sp->later.e[sp->later.head], 1);
        sp->later.head += !err;
    }
    for (size_t i = 0; i < p->n; i++) {
        if (!err && p->e[i].sequence <= sp->limit) {
            err = release_one(sp, &p->e[i], 0);
            if (!err)
                continue;
        }
        p->e[kept++] = p->e[i];
    }
    p->n = kept;
    return err;
}

/* ---- allocating ---- */

bool space_fresh(const struct store *st, uint64_t offset, uint64_t size)
{
    return offset >= st->space->settled &&
           extents_hold(&st->space->fresh, offset, round_up(size ? size : 1, FMT_ALIGN));
}

int space_settle(struct store *st, uint64_t upto)
{
    struct space *sp = st->space;

    if (!sp->onward)
        return 0;
    sp->settled = upto > sp->settled ? upto : sp->settled;
    return st->io->ops->settle(st->io, upto);
}

/* Give newly taken bytes to the open transaction and, WITH_OP, to its operation. */
static int claim(struct store *st, uint64_t offset, uint64_t size, enum keep keep)
{
    struct space *sp = st->space;
    int err = extents_add(&sp->fresh, offset, size, NULL);

    store_changed(st);
    if (!err && keep == WITH_OP && sp->op.active) {
        err = extents_add(&sp->op.alloc, offset, size, NULL);
        if (err)
            extents_take(&sp->fresh, offset, size);
    }
    return err;
}

/* Allocate at the end of the file; the gap before the aligned offset becomes available. */
static int extend(struct store *st, uint64_t size, uint64_t align, uint64_t *offset)
{
    struct space *sp = st->space;
    uint64_t at = round_up(sp->end, align);

    if (at > FMT_SIZE_MAX || size > FMT_SIZE_MAX - at)
        return fail(DREP_ERR_LIMIT, "the file would be larger than 2^62 bytes");
    if (sp->lease && (at > sp->lease->base || size > sp->lease->base - at)) {
        if (!lease_alloc(sp->lease, size, align, offset))
            return fail(DREP_ERR_LIMIT, "%llu bytes cannot be allocated before the next commit",
                        (unsigned long long)size);
        space_reached(st, *offset + size);
        return 0;
    }
    if (at > sp->end)
        make_available(sp, sp->end, at - sp->end, 0); /* if that fails, it is slack */
    sp->end = at + size;
    *offset = at;
    return 0;
}

void space_return(struct store *st, uint64_t offset, uint64_t size)
{
    struct space *sp = st->space;

    if (sp->committing)
        extent_list_add(&sp->left, offset, size);
    else if (sp->lease && lease_has(sp->lease, offset))
        lease_free(sp->lease, offset, size);
    else if (offset + size == sp->end && offset >= sp->settled)
        sp->end = offset;
    else
        make_available(sp, offset, size, 0);
}

int space_alloc(struct store *st, uint64_t size, uint64_t align, enum keep keep, uint64_t *offset)
{
    struct space *sp = st->space;
    uint64_t at;
    int err;

    assert(sp->ready);
    if (size > FMT_SIZE_MAX)
        return fail(DREP_ERR_LIMIT, "%llu bytes exceed the largest file", (unsigned long long)size);
    size = round_up(size ? size : 1, FMT_ALIGN);
    align = align < FMT_ALIGN ? FMT_ALIGN : align;
    if (!sp->committing && !sp->onward && extents_fit(&sp->avail, size, align, &at))
        err = take_available(sp, at, size);
    else
        err = extend(st, size, align, &at);
    if (err)
        return err;
    err = claim(st, at, size, keep);
    if (err) {
        space_return(st, at, size);
        return err;
    }
    *offset = at;
    return 0;
}

bool space_alloc_at(struct store *st, uint64_t offset, uint64_t size)
{
    struct space *sp = st->space;
    struct extent e;

    size = round_up(size, FMT_ALIGN);
    if (size == 0)
        return true;
    assert(sp->ready);
    if (offset % FMT_ALIGN)
        return false;
    if (offset == sp->end) {
        if (size > (sp->lease ? sp->lease->base : FMT_SIZE_MAX) - offset)
            return false;
        sp->end += size;
    } else if (sp->onward || !extents_find(&sp->avail, offset, &e) ||
               size > e.length - (offset - e.offset) || take_available(sp, offset, size)) {
        return false;
    }
    if (claim(st, offset, size, WITH_OP)) {
        space_return(st, offset, size);
        return false;
    }
    return true;
}

/* ---- leases ---- */

/* Count the bytes, from the first on, that are all in the set or all not in it: *in. */
static uint64_t alike(const struct extents *x, uint64_t offset, uint64_t size, int *in)
{
    struct extent e;
    uint64_t n;

    *in = 0;
    if (!extents_behind(x, offset, &e))
        return size;
    *in = e.offset <= offset;
    n = *in ? e.length - (offset - e.offset) : e.offset - offset;
    return n < size ? n : size;
}

/* The part of a free extent from `at` on that holders may get, a multiple of `grain`: no two of
 * them share a block of checksums. */
static bool dealable(const struct extent *e, uint64_t at, uint64_t grain, struct extent *part)
{
    uint64_t end = (e->offset + e->length) / FMT_SUM_BLOCK * FMT_SUM_BLOCK;

    part->offset = round_up(e->offset > at ? e->offset : at, FMT_SUM_BLOCK);
    part->length = part->offset < end ? (end - part->offset) / grain * grain : 0;
    return part->length > 0;
}

uint64_t space_behind_room(struct store *st, uint64_t room)
{
    struct extent e;

    assert(st->space->ready);
    for (uint64_t at = 0; extents_behind(&st->space->avail, at, &e); at = e.offset + e.length)
        if (e.length >= room)
            return e.offset + room;
    return FMT_SIZE_MAX;
}

uint64_t space_to_deal(struct store *st, uint64_t from, uint64_t grain)
{
    struct extent e, part;
    uint64_t sum = 0;

    assert(st->space->ready);
    if (st->space->onward)
        return 0;
    for (uint64_t at = from; extents_behind(&st->space->avail, at, &e); at = e.offset + e.length)
        sum += dealable(&e, at, grain, &part) ? part.length : 0;
    return sum;
}

int space_deal(struct store *st, uint64_t *at, uint64_t want, uint64_t grain,
               struct extent_list *out)
{
    struct space *sp = st->space;
    struct extent e, part;
    int err = 0;

    want = round_up(want, grain);
    while (!err && want > 0 && extents_behind(&sp->avail, *at, &e)) {
        if (!dealable(&e, *at, grain, &part)) {
            *at = e.offset + e.length;
            continue;
        }
        part.length = part.length < want ? part.length : want;
        err = extents_add(&sp->dealt, part.offset, part.length, NULL);
        if (!err && (err = extents_take(&sp->avail, part.offset, part.length)))
            extents_take(&sp->dealt, part.offset, part.length);
        if (!err)
            err = extent_list_push(out, part.offset, part.length);
        *at = part.offset + part.length;
        want -= part.length;
    }
    return err;
}

/* Make free again what was dealt.  The FREE entries are those of before, unless free bytes right
 * behind it were taken, or came, while it was dealt: then the entry of the extent before them is
 * out of date, and nobody has noted that.  `touched` keeps its order, as commits make room by it.
 */
static void take_back(struct space *sp)
{
    size_t n = sp->ntouched;
    uint64_t *touched, end;
    struct extent e;

    if (!extents_behind(&sp->dealt, 0, &e))
        return;
    touched = mem_array(n + 1, sizeof(*touched));
    if (touched && n > 0) {
        memcpy(touched, sp->touched, n * sizeof(*touched));
        qsort(touched, n, sizeof(*touched), by_value);
    }
    for (uint64_t at = 0; touched && extents_behind(&sp->dealt, at, &e); at = end) {
        end = e.offset + e.length;
        if ((n == 0 || !bsearch(&end, touched, n, sizeof(*touched), by_value)) &&
            extents_add(&sp->avail, e.offset, e.length, NULL) == 0)
            extents_take(&sp->dealt, e.offset, e.length);
    }
    mem_free(touched);
    while (extents_behind(&sp->dealt, 0, &e)) {
        extents_take(&sp->dealt, e.offset, e.length);
        make_available(sp, e.offset, e.length, 0); /* if that fails, it is slack */
    }
}

void space_lease(struct store *st, struct lease *own)
{
    st->space->lease = own;
    st->space->reach = 0;
    if (!own)
        take_back(st->space);
}

void space_reached(struct store *st, uint64_t end)
{
    st->space->reach = end > st->space->reach ? end : st->space->reach;
}

/* Claim what was used; of its own lease the store has claimed some already. */
static int claim_used(struct store *st, uint64_t offset, uint64_t size)
{
    uint64_t n;
    int own, err = 0;

    for (; !err && size > 0; offset += n, size -= n) {
        n = alike(&st->space->fresh, offset, size, &own);
        if (!own)
            err = claim(st, offset, n, ANYWAY);
    }
    return err;
}

int space_lease_end(struct store *st, struct extent_list *used)
{
    struct space *sp = st->space;
    int err = 0;

    assert(sp->ready);
    space_lease(st, NULL);
    extent_list_sort(used);
    for (size_t i = 0; !err && i < used->n; i++) {
        const struct extent *e = &used->e[i];

        if (extents_hold(&sp->avail, e->offset, e->length)) { /* it was dealt */
            err = take_available(sp, e->offset, e->length);
            if (!err)
                err = claim_used(st, e->offset, e->length);
            continue;
        }
        if (e->offset < sp->end)
            err = fail_byte(DREP_ERR_FAILED, e->offset, "leases overlap at byte %llu",
                            (unsigned long long)e->offset);
        else if (e->offset > sp->end)
            err = make_available(sp, sp->end, e->offset - sp->end, 0);
        if (!err)
            err = claim_used(st, e->offset, e->length);
        if (!err)
            sp->end = e->offset + e->length;
    }
    return err;
}

/* ---- keeping ---- */

int space_withhold(struct store *st, uint64_t offset, uint64_t size)
{
    struct space *sp = st->space;
    int err = touch_reserve(sp, 2);

    if (!err)
        err = extents_take(&sp->fresh, offset, size);
    if (err)
        return err;
    err = extents_add(&sp->kept, offset, size, NULL);
    if (err) {
        extents_add(&sp->fresh, offset, size, NULL); /* if that fails, it is slack */
        return err;
    }
    touch_line(sp, offset);
    return 0;
}

int space_take_kept(struct store *st, uint64_t offset, uint64_t size)
{
    struct space *sp = st->space;
    int err = touch_reserve(sp, 2);

    if (!err)
        err = claim(st, offset, size, WITH_OP);
    if (!err)
        err = extents_take(&sp->kept, offset, size);
    if (err)
        return err;
    touch_line(sp, offset);
    touch_line(sp, offset + size);
    return 0;
}

void space_unkeep(struct store *st, uint64_t offset, uint64_t size)
{
    if (extents_take(&st->space->kept, offset, size) == 0)
        make_available(st->space, offset, size, 0); /* if that fails, it is slack */
}

/* ---- freeing ---- */

/* Free bytes for good.  A freed range may span bytes of the open transaction and bytes of commits:
 * each part goes where it belongs. */
static void free_now(struct store *st, uint64_t offset, uint64_t size)
{
    struct space *sp = st->space;
    uint64_t n;
    int own;

    for (; size > 0; offset += n, size -= n) {
        n = alike(&sp->fresh, offset, size, &own);
        if (!own)
            extent_list_add(sp->committing ? &sp->late : &sp->freed, offset, n);
        else if (extents_take(&sp->fresh, offset, n) == 0)
            space_return(st, offset, n);
    }
}

void space_free(struct store *st, uint64_t offset, uint64_t size, enum keep keep)
{
    struct space_op *op = &st->space->op;
    uint64_t n;
    int own;

    size = round_up(size ? size : 1, FMT_ALIGN);
    if (!op->active || keep == ANYWAY) {
        free_now(st, offset, size);
        return;
    }
    for (; size > 0; offset += n, size -= n) {
        n = alike(&op->alloc, offset, size, &own);
        if (!own) /* taking the operation back brings these bytes back: free them at its end */
            extent_list_add(&op->freed, offset, n);
        else if (extents_take(&op->alloc, offset, n) == 0)
            free_now(st, offset, n);
    }
}

void space_unused(struct store *st, uint64_t offset, uint64_t size)
{
    extent_list_add(&st->space->op.unused, offset, size); /* if that fails, the bytes are slack */
}

bool space_of_op(const struct store *st, uint64_t offset, uint64_t size)
{
    uint64_t low = offset / FMT_ALIGN * FMT_ALIGN;

    return extents_hold(&st->space->op.alloc, low, round_up(offset + size, FMT_ALIGN) - low);
}

int space_op_adopt(struct store *st, uint64_t offset, uint64_t size)
{
    return store_op_active(st) ? extents_add(&st->space->op.alloc, offset, size, NULL) : 0;
}

void space_op_disown(struct store *st, uint64_t offset, uint64_t size)
{
    if (store_op_active(st))
        extents_take(&st->space->op.alloc, offset, size);
}

/* ---- the end of an operation ---- */

static void op_done(struct space_op *op)
{
    op->freed.n = 0;
    op->unused.n = 0;
    if (op->alloc.n)
        extents_release(&op->alloc);
}

void space_op_commit(struct store *st)
{
    struct space_op *op = &st->space->op;

    op->active = false;
    for (size_t i = 0; i < op->freed.n; i++)
        space_free(st, op->freed.e[i].offset, op->freed.e[i].length, ANYWAY);
    op_done(op);
}

void space_op_undo(struct store *st)
{
    struct space_op *op = &st->space->op;
    struct extent e;

    op->active = false;
    while (extents_last(&op->alloc, &e)) {
        extents_take(&op->alloc, e.offset, e.length);
        space_free(st, e.offset, e.length, ANYWAY);
    }
    for (size_t i = 0; i < op->unused.n; i++)
        space_free(st, op->unused.e[i].offset, op->unused.e[i].length, ANYWAY);
    op_done(op);
}

/* ---- commits ---- */

void space_trim(struct store *st)
{
    struct space *sp = st->space;
    struct extent e;

    while (extents_last(&sp->avail, &e) && e.offset + e.length == sp->end &&
           e.offset >= sp->settled) {
        if (take_available(sp, e.offset, e.length))
            return;
        sp->end = e.offset;
    }
}

int space_reserve(struct store *st, uint64_t want, struct extent *out)
{
    const struct extents *avail = &st->space->avail;
    struct extent e = {0, round_up(want, FMT_ALIGN)};
    int err;

    *out = (struct extent){0, 0};
    /* The lowest place that holds all, so that the end of the file becomes free; or else the
     * longest one. */
    if (!extents_fit(avail, e.length, FMT_ALIGN, &e.offset) &&
        (!extents_longest(avail, &e) || e.length < LEAST_RESERVED))
        return 0;
    err = take_available(st->space, e.offset, e.length);
    if (!err)
        *out = e;
    return err;
}

void space_committed(struct store *st)
{
    struct space *sp = st->space;
    struct extent_list left = sp->left;

    /* Wherever memory is short, bytes become slack that no list names; nothing is lost. */
    for (size_t i = 0; i < sp->late.n; i++)
        later_add(&sp->pending, sp->late.e[i].offset, sp->late.e[i].length, st->slot.sequence);
    sp->late.n = 0;
    sp->ntouched = 0;
    sp->committing = 0;
    sp->ready = 0;
    extents_release(&sp->fresh);
    sp->left = (struct extent_list){0};
    for (size_t i = 0; i < left.n; i++)
        make_available(sp, left.e[i].offset, left.e[i].length, 0);
    extent_list_release(&left);
}

void space_failed(struct store *st)
{
    struct space *sp = st->space;
    struct extent_list left = sp->left;

    for (size_t i = 0; i < sp->late.n; i++)
        extent_list_add(&sp->freed, sp->late.e[i].offset, sp->late.e[i].length);
    sp->late.n = 0;
    sp->committing = 0;
    sp->left = (struct extent_list){0};
    for (size_t i = 0; i < left.n; i++)
        space_return(st, left.e[i].offset, left.e[i].length);
    extent_list_release(&left);
}
