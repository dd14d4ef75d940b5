/* private.c - a store whose changes stay with it. */
/* SPDX-License-Identifier: MIT */
#include "txn/private.h"

#include "space/space.h"
#include "tree/journal.h"
#include "txn/open.h"
#include "txn/snapshot.h"
#include "txn/txn.h"

/* From here on the store allocates past the end of any file, from IO_PRIVATE on, and knows of no
 * free space.  It never commits, so freed extents stay in memory. */
static int become_private(struct store *st)
{
    st->writable = true;
    st->private = true;
    st->space->end = IO_PRIVATE;
    st->space->loaded = st->space->ready = true;
    st->space->freed_max = SIZE_MAX;
    return journal_begin(st);
}

static struct store_opts without_locks(const struct store_opts *opts)
{
    struct store_opts own = *opts;

    own.lock = 0;
    own.pack = 0;
    return own;
}

int private_create(struct io *io, const struct store_opts *opts, struct store **out)
{
    struct store_opts own = without_locks(opts);
    struct store *st;
    int err = store_create(io, &own, &st);

    if (err)
        return err;
    if ((err = become_private(st))) {
        store_close(st);
        return err;
    }
    *out = st;
    return 0;
}

/* Look at the commit in a new store on the same bytes, which are not closed when this fails. */
static int look_at(struct io *io, const struct slot *slot, const struct store_opts *opts,
                   struct store **out)
{
    struct store *st;
    int err = store_new(io, opts, &st);

    if (err)
        return err;
    st->txn->borrowed = true;
    snapshot_look_at(st, slot);
    err = snapshot_load_header(st);
    if (!err)
        err = become_private(st);
    if (err) {
        store_close(st);
        return err;
    }
    st->txn->borrowed = false;
    *out = st;
    return 0;
}

int private_open(struct io *io, const struct slot *slot, const struct store_opts *opts,
                 struct store **out)
{
    struct store_opts own = without_locks(opts);
    int err = look_at(io, slot, &own, out);

    if (err)
        io->ops->close(io);
    return err;
}

int private_move(struct store *old, const struct slot *slot, struct store **out)
{
    int err = look_at(old->io, slot, &old->opts, out);

    if (err)
        return err;
    (*out)->payload = old->payload;
    old->txn->borrowed = true;
    store_close(old);
    return 0;
}
