/* object.h - the records of objects.
 *
 * An object is a group, a dataset, a dimension or a named datatype.  Its record begins with a head
 * of fixed length (kind, links, counts), which most calls need alone and change where it stands. */
/* SPDX-License-Identifier: MIT */
#ifndef NAME_OBJECT_H
#define NAME_OBJECT_H

#include "file/file.h"
#include "format/record.h"

struct stored_object {
    uint64_t id;
    struct object_rec rec;
    struct buf bytes; /* what rec's spans point into */
};
/* DREP_ERR_UNSUPPORTED: an object of a later version, of which only the head can be read. */
int object_load(drep_file *f, uint64_t id, struct stored_object *o);
void object_release(struct stored_object *o);
int object_store(drep_file *f, uint64_t id, const struct object_rec *rec);

int head_load(drep_file *f, uint64_t id, struct object_head *h);
/* Opens a head for a change of e->h, which head_edited() stores; nothing else is changed between
 * the two. */
struct head_edit {
    uint64_t id;
    uint8_t *value; /* in the tree; NULL: the record was too long for a leaf */
    size_t bytes;   /* of the head there */
    struct object_head h;
};
int head_edit(drep_file *f, uint64_t id, struct head_edit *e);
int head_edited(drep_file *f, const struct head_edit *e);
/* Takes the next index of creation, which links and dimensions of a group share, and counts
 * `links` more links. */
int head_take_index(drep_file *f, uint64_t group, int links, uint64_t *index);

/* Bytes of a name that a message shows: one that is too long for this version would fill it. */
static inline int name_shown(size_t len)
{
    return len > FMT_NAME_MAX ? 64 : (int)len;
}
/* Fail with DREP_ERR_UNSUPPORTED: `what` has a kind or flags of a later version, or a value that is
 * `beyond` the limits of this one. */
int fail_later(const char *what, const char *beyond, uint8_t number, uint8_t flags, uint8_t kinds);
/* The same of an object, which may be of a known kind with unknown flags, or a dataset of unknown
 * layout or fill; 0 if all of it is known. */
int object_later(uint64_t id, const struct object_rec *rec);
int object_later_in(const char *what, const struct object_rec *rec);

/* The first object after `after` that has entries; 0: none. */
int object_next(drep_file *f, uint64_t after, uint64_t *id);

/* Objects still to be looked at: no recursion on what a file says. */
struct worklist {
    uint64_t *id;
    size_t n, room;
};
int worklist_add(struct worklist *w, uint64_t id);

#endif
