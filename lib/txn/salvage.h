/* salvage.h - reading what is left of a damaged file (drep_repair). */
/* SPDX-License-Identifier: MIT */
#ifndef TXN_SALVAGE_H
#define TXN_SALVAGE_H

#include "base/handles.h"
#include "chunk/chunks.h"

/* Read the newest whole commit of a damaged file, or what is left of the newest one, into a store
 * of its own, which may be changed and is gone when it is closed; the file is not touched.  What
 * lies in the file beyond that commit is there as objects from number *first on, in a group of
 * their own (txn/beyond.h); UINT64_MAX: nothing does.  fn is told what cannot be read; non-zero
 * ends it. Owns io from here on. */
int store_salvage(struct io *io, const struct store_opts *opts, drep_finding_fn *fn, void *ctx,
                  struct store **out, uint64_t *first);
/* Write the plain chunks of one record anew, in such a store.  fn puts something in place of the
 * bytes [from, to) of the payload at p that are damaged or missing; `offset` is their place in
 * the file. */
typedef void chunk_damage_fn(uint8_t *p, uint64_t from, uint64_t to, uint64_t offset, void *ctx);
int chunk_salvage(struct chunks *cs, const uint64_t *coord, const struct chunk_rec *rec,
                  chunk_damage_fn *fn, void *ctx);

#endif
