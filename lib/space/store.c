/* store.c - what every room asks of an open container: its slot, its numbers, whether it may be
 * written.  Numbers of objects and datatypes are only ever given out upwards; an operation that is
 * taken back gives its numbers back too (txn/op.c). */
/* SPDX-License-Identifier: MIT */
#include "space/store.h"

#include "base/error.h"

const struct slot *store_slot(const struct store *st)
{
    return &st->slot;
}

int store_writable(const struct store *st)
{
    return st->writable;
}

int store_dirty(const struct store *st)
{
    return st->dirty;
}

int store_locked(const struct store *st)
{
    return st->locked;
}

int store_must_not_write(const struct store *st)
{
    if (!st->writable)
        return fail(DREP_ERR_READ_ONLY, "opened read-only");
    return fail(DREP_ERR_FAILED, "the handle refuses writes: %s", st->failed);
}

int store_new_objects(struct store *st, uint64_t n, uint64_t *first)
{
    if (st->next_object > FMT_OBJECT_END || n > FMT_OBJECT_END - st->next_object)
        return fail(DREP_ERR_LIMIT, "the file has no number left for an object");
    st->dirty = 1;
    *first = st->next_object;
    st->next_object += n;
    return 0;
}

uint64_t store_objects_end(const struct store *st)
{
    return st->next_object;
}

void store_objects(struct store *st, uint64_t next)
{
    st->dirty = 1;
    if (next > st->next_object)
        st->next_object = next;
}

uint32_t store_new_type(struct store *st)
{
    st->dirty = 1;
    return st->next_type++;
}

int store_map(struct store *st, uint64_t offset, size_t size, struct mapped *out)
{
    void *base, *handle;
    int err;

    if (!st->io->ops->map)
        return fail(DREP_ERR_UNSUPPORTED_OPERATION, "this kind of file cannot be mapped");
    err = st->io->ops->map(st->io, offset, size, &base, &handle);
    if (!err)
        *out = (struct mapped){base, size, handle, st->io->ops->unmap};
    return err;
}

void store_unmap(const struct mapped *m)
{
    m->unmap(m->handle, m->size);
}
