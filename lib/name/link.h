/* link.h - the links of groups: names that lead to objects, to other paths, to other files.
 *
 * A link is one entry, by its name; its record has the number of its creation and the kind of the
 * object.  The group counts its members, and an object its hard links. */
/* SPDX-License-Identifier: MIT */
#ifndef NAME_LINK_H
#define NAME_LINK_H

#include "base/buf.h"
#include "chunk/chunks.h"
#include "file/file.h"
#include "format/record.h"
#include "space/store.h"
#include "tree/find.h"
#include "tree/walk.h"

/* Decode the record of a link into *link, which points into p.  The message names the link. */
int link_decode(const char *name, size_t len, const void *p, size_t size, struct link_rec *link);
/* A copy of the link of this name; `bytes` is room that *link points into. */
int link_find(drep_file *f, uint64_t group, const char *name, size_t len, struct link_rec *link,
              struct buf *bytes);
/* Like link_find(), but what *link points to is in the tree until tree_peeked(). */
int link_peek(drep_file *f, uint64_t group, const char *name, size_t len, struct link_rec *link,
              struct peek *peek);
/* Adds a link; the object's count of hard links is the caller's.  DREP_ERR_EXISTS. */
int link_add(drep_file *f, uint64_t group, const char *name, struct link_rec *link);
int link_drop(drep_file *f, uint64_t group, const char *name);
/* 0 if the name is valid and nothing has it yet. */
int link_free(drep_file *f, uint64_t group, const char *name);

/* Fail with DREP_ERR_UNSUPPORTED: a link of a later version. */
int link_later(const char *name, size_t len, const struct link_rec *link);

/* Makes an object with its first link. */
int object_link(drep_file *f, uint64_t group, const char *name, struct object_rec *rec,
                uint64_t *id);
/* Adds a hard link to an object that is there. */
int object_link_to(drep_file *f, uint64_t group, const char *name, uint64_t id, uint8_t kind);

/* *found: the object is reachable from group `top` through hard links; then top must not come below
 * it, since groups form no circles. */
int group_reaches(drep_file *f, uint64_t top, uint64_t object, bool *found);

/* Walks over the links of a group by name.  The key's bytes from LINK_NAME_AT on are the name. */
#define LINK_NAME_AT FMT_KEY_HEAD
struct link_walk {
    struct tree_walk walk;
    struct key key;
    struct buf value; /* what link points into */
    struct link_rec link;
};
void link_walk_begin(struct link_walk *w, drep_file *f, uint64_t group);
/* Decode the next link, of any kind; DREP_ERR_NOT_FOUND at the end. */
int link_walk_next(struct link_walk *w);
/* The next hard link. */
int link_walk_hard(struct link_walk *w);
/* Gives err back, 0 for DREP_ERR_NOT_FOUND. */
int link_walk_end(struct link_walk *w, int err);

#endif
