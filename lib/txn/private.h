/* private.h - a store whose changes stay with it.
 *
 * A private store looks at a commit and is changed by the ordinary calls, as a writer's is, but the
 * file does not change: what it allocates is in a file of its own (io_private()), its commit is
 * refused, and closing it drops its changes.  It takes no locks: whoever made it keeps one on the
 * commit.  When the file's writer has committed, private_move() goes to the new commit and drops
 * the changes, which that commit may contain by now. */
/* SPDX-License-Identifier: MIT */
#ifndef TXN_PRIVATE_H
#define TXN_PRIVATE_H

#include "space/store.h"

/* Begin a private store on a new file, which its writer makes with the same opts.uuid.  io is an
 * io_private(), and closed when this fails. */
int private_create(struct io *io, const struct store_opts *opts, struct store **out);
/* Look at the commit of this slot; owns io likewise. */
int private_open(struct io *io, const struct slot *slot, const struct store_opts *opts,
                 struct store **out);
/* Look at another commit, in a store that takes the place of `old`, which is closed then; after an
 * error `old` is as before. */
int private_move(struct store *old, const struct slot *slot, struct store **out);

#endif
