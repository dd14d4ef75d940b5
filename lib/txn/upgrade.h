/* upgrade.h - a file of draft 4, read as one of today.
 *
 * `datarep convert` alone asks for it (hint drep_upgrade); every other way refuses such a file by
 * name.  This module goes with the release: from then on no file is refused for its age. */
/* SPDX-License-Identifier: MIT */
#ifndef TXN_UPGRADE_H
#define TXN_UPGRADE_H

#include "space/store.h"

/* True if the file's whole header slots are of draft 4. */
bool upgrade_needed(struct io *io);
/* A store for reading that holds the newest commit of such a file, or opts.commit, in today's
 * records.  All of its metadata was read and its sums verified.  The file does not change, and
 * draft 4's writers keep the commit while the store is open.  Owns io, also when this fails. */
int store_upgrade(struct io *io, const struct store_opts *opts, struct store **out);

#endif
