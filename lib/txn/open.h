/* open.h - making, opening and closing a store. */
/* SPDX-License-Identifier: MIT */
#ifndef TXN_OPEN_H
#define TXN_OPEN_H

#include "txn/log.h"

/* Create a store on an empty file, which is not visible before the first commit; its tree is empty.
 * The store owns io from here on, also when it fails. */
int store_create(struct io *io, const struct store_opts *opts, struct store **out);
/* write: take the writer's lock (DREP_ERR_FILE_IN_USE).  A commit that cannot be opened any more:
 * DREP_ERR_NOT_FOUND.  Owns io likewise. */
int store_open(struct io *io, int write, const struct store_opts *opts, struct store **out);
/* A store without a commit yet; owns io only when it succeeds. */
int store_new(struct io *io, const struct store_opts *opts, struct store **out);
/* Let a new store look at the commit of a slot, but with an empty tree that grows from `end` on:
 * for what is read of a file by other ways (salvage.h) and never committed there. */
void store_begin_empty(struct store *st, const struct slot *slot, uint64_t end);
/* Take over keep, unit, chunk_max and chunk_limit: the file's own hints are known only when it is
 * open. */
void store_set_opts(struct store *st, const struct store_opts *opts);
/* Drop uncommitted changes. */
void store_close(struct store *st);

/* In a child process: a store of its own on the commit that `old`, a reader, looks at, in place of
 * that one.  busy: other threads were using it when the process was forked; its memory is left as
 * it is then.  DREP_ERR_STALE: that commit is not kept any more. */
int store_child(struct store *old, int busy, struct store **out);
/* store_close() in a child process, for what was opened before the fork: the file stays as it is,
 * and its locks the parent's. */
void store_leave(struct store *st, int busy);

/* Open the last commit of a writer for reading, until its next one. */
int store_last_commit(struct store *st, struct store **out);
/* List the commits that can be opened now, the oldest first. */
int store_log(struct store *st, struct log_list *list);

/* For tests: dirty leaves in memory, bytes of notes of an operation, and freed extents, beyond
 * which they go to the file early. */
void store_set_memory(struct store *st, size_t leaves, size_t undo, size_t freed);

#endif
