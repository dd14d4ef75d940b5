/* shadow.h - the store of a rank that does not commit.
 *
 * One rank of a team is the writer.  The others have shadows: stores that look at the same commit
 * and can be changed like any other.  What changes stays with the rank (io_shadow()): it is there
 * for its own calls until the writer commits; then the shadow moves to the new commit and forgets
 * what it had.  A shadow takes no locks: the writer's keep the commit that it looks at. */
/* SPDX-License-Identifier: MIT */
#ifndef TXN_SHADOW_H
#define TXN_SHADOW_H

#include "space/store.h"

/* Begin a file that the writer begins, too: with the same opts.uuid.  io is an io_shadow(), and
 * closed when this fails. */
int shadow_create(struct io *io, const struct store_opts *opts, struct store **out);
/* Look at the commit of this slot. */
int shadow_open(struct io *io, const struct slot *slot, const struct store_opts *opts,
                struct store **out);
/* Look at another commit, in a store that takes the place of `old`, which is closed then. */
int shadow_move(struct store *old, const struct slot *slot, struct store **out);

/* Keep a journal; it is freed with the store. */
int store_journal(struct store *st);

#endif
