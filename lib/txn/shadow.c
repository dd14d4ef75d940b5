/* shadow.c - the store of a rank that does not commit. */
/* SPDX-License-Identifier: MIT */
#include "txn/shadow.h"

#include "base/error.h"
#include "base/mem.h"
#include "space/space.h"
#include "tree/journal.h"
#include "txn/open.h"
#include "txn/snapshot.h"
#include "txn/txn.h"

int store_journal(struct store *st)
{
    st->journal = mem_zalloc(1, sizeof(*st->journal));
    return st->journal ? 0 : fail_nomem();
}

/* From here on the store takes space behind all that a file may have, and lists none as free.  Its
 * changes never reach the file: rank 0 alone commits, and places what the others wrote. */
static int become_shadow(struct store *st)
{
    st->writable = true;
    st->shadow = true;
    st->space->end = IO_SHADOW;
    st->space->loaded = true;
    st->space->ready = true;
    st->space->freed_max = SIZE_MAX;
    return store_journal(st);
}

static struct store_opts without_locks(const struct store_opts *opts)
{
    struct store_opts own = *opts;

    own.lock = 0;
    own.pack = 0;
    return own;
}

int shadow_create(struct io *io, const struct store_opts *opts, struct store **out)
{
    struct store_opts own = without_locks(opts);
    int err = store_create(io, &own, out);

    if (err)
        return err;
    if ((err = become_shadow(*out)))
        store_close(*out);
    return err;
}

/* Look at the commit in a new store on the same bytes, which are not closed when this fails. */
static int look_at(struct io *io, const struct slot *slot, const struct store_opts *opts,
                   struct store **out)
{
    int err = store_new(io, opts, out);

    if (err)
        return err;
    (*out)->txn->borrowed = true;
    snapshot_look_at(*out, slot);
    err = snapshot_load_header(*out);
    if (!err)
        err = become_shadow(*out);
    if (err) {
        store_close(*out);
        return err;
    }
    (*out)->txn->borrowed = false;
    return 0;
}

int shadow_open(struct io *io, const struct slot *slot, const struct store_opts *opts,
                struct store **out)
{
    struct store_opts own = without_locks(opts);
    int err = look_at(io, slot, &own, out);

    if (err)
        io->ops->close(io);
    return err;
}

int shadow_move(struct store *old, const struct slot *slot, struct store **out)
{
    int err = look_at(old->io, slot, &old->opts, out);

    if (err)
        return err;
    (*out)->payload = old->payload;
    old->txn->borrowed = true;
    store_close(old);
    return 0;
}
