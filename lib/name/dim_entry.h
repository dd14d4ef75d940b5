/* dim_entry.h - the dimensions of a group: a name space beside that of its links.
 *
 * An entry names the object of one dimension, which has no other entry and no link.  Its index of
 * creation comes from the counter that the group's links use too. */
/* SPDX-License-Identifier: MIT */
#ifndef NAME_DIM_ENTRY_H
#define NAME_DIM_ENTRY_H

#include "base/buf.h"
#include "file/file.h"
#include "format/record.h"
#include "tree/walk.h"

/* Decode the entry at this key into *rec, which points into p.  The message names it. */
int dim_decode(const struct key *key, const uint8_t *p, size_t len, struct dim_rec *rec);
/* Fail with DREP_ERR_UNSUPPORTED: an entry of a later version. */
int dim_later(const struct key *key, const struct dim_rec *rec);
/* Find a dimension of one group by its name.  DREP_ERR_NOT_FOUND, without a message. */
int dim_entry_find(drep_file *f, uint64_t group, const char *name, size_t len, struct dim_rec *rec);
/* Add an entry for rec->object under the group's next index.  DREP_ERR_EXISTS, DREP_ERR_NAME. */
int dim_entry_add(drep_file *f, uint64_t group, const char *name, struct dim_rec *rec);
/* Put an entry under its own index, as a change of name does. */
int dim_entry_put(drep_file *f, uint64_t group, const char *name, const struct dim_rec *rec);
int dim_entry_drop(drep_file *f, uint64_t group, const char *name);
/* 0 if the name is valid and no dimension of the group has it. */
int dim_entry_free(drep_file *f, uint64_t group, const char *name);

/* Walk over the dimensions of a group by name.  The key's bytes from DIM_NAME_AT on are the name.
 */
#define DIM_NAME_AT FMT_KEY_HEAD
struct dim_walk {
    struct tree_walk walk;
    struct key key;
    struct buf value;
    struct dim_rec rec;
};
void dim_walk_begin(struct dim_walk *w, drep_file *f, uint64_t group);
/* The next entry, also of a later version (rec.kind FMT_LATER); DREP_ERR_NOT_FOUND: there is
 * none. */
int dim_walk_next(struct dim_walk *w);
/* Gives err back, 0 for DREP_ERR_NOT_FOUND. */
int dim_walk_end(struct dim_walk *w, int err);

#endif
