/* lease.c - space that several holders allocate without asking each other. */
/* SPDX-License-Identifier: MIT */
#include "space/lease.h"

#include "format/numbers.h"

void lease_begin(struct lease *l, uint64_t base, uint64_t first)
{
    lease_end(l);
    l->base = l->next = base;
    l->length = first;
    l->later = false;
    l->largest = 0;
}

void lease_end(struct lease *l)
{
    l->base = 0;
    extents_release(&l->taken);
    extents_release(&l->free);
}

int lease_give(struct lease *l, uint64_t offset, uint64_t size)
{
    int err = extents_add(&l->taken, offset, size, NULL);

    if (!err && (err = extents_add(&l->free, offset, size, NULL)))
        extents_take(&l->taken, offset, size);
    return err;
}

/* Take the next stretch if it holds `size` bytes, else pass by it.  The first one may have any
 * length; those behind it begin short and double. */
static bool take_next(struct lease *l, uint64_t size)
{
    uint64_t at = l->next + (uint64_t)l->holder * l->length;
    uint64_t all = (uint64_t)l->holders * l->length;

    if (all > LEASE_REACH || l->next - l->base > LEASE_REACH - all)
        return false;
    if (l->length >= size && lease_give(l, at, l->length))
        return false;
    l->next += all;
    if (!l->later)
        l->length = LEASE_MIN;
    else if (l->length < LEASE_MAX)
        l->length *= 2;
    l->later = true;
    return true;
}

bool lease_alloc(struct lease *l, uint64_t size, uint64_t align, uint64_t *offset)
{
    size = round_up(size ? size : 1, FMT_ALIGN);
    if (l->base == 0 || size > LEASE_MAX || align > LEASE_MAX - size)
        return false;
    while (!extents_fit(&l->free, size, align, offset))
        if (!take_next(l, align > FMT_SUM_BLOCK ? size + align : size))
            return false;
    l->largest = size > l->largest ? size : l->largest;
    return extents_take(&l->free, *offset, size) == 0;
}

void lease_free(struct lease *l, uint64_t offset, uint64_t size)
{
    extents_add(&l->free, offset, round_up(size ? size : 1, FMT_ALIGN), NULL);
}

bool lease_has(const struct lease *l, uint64_t offset)
{
    struct extent e;

    return extents_find(&l->taken, offset, &e);
}

int lease_used(const struct lease *l, struct extent_list *used)
{
    struct extent lease, hole;
    uint64_t at = 0, end;
    int err = 0;

    while (!err && extents_behind(&l->taken, at, &lease)) {
        end = lease.offset + lease.length;
        at = at > lease.offset ? at : lease.offset;
        if (!extents_behind(&l->free, at, &hole) || hole.offset >= end)
            hole = (struct extent){end, 0};
        if (hole.offset > at)
            err = extent_list_add(used, at, hole.offset - at);
        at = hole.offset + hole.length;
    }
    return err;
}

bool lease_in_use(const struct lease *l)
{
    struct extent lease, hole;
    uint64_t at = 0;

    while (extents_behind(&l->taken, at, &lease)) {
        if (!extents_find(&l->free, lease.offset, &hole) || hole.length < lease.length)
            return true;
        at = lease.offset + lease.length;
    }
    return false;
}
