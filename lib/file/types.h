/* types.h - the datatypes that a file's records name.
 *
 * A predefined type is named by its code; every other stands once in a TYPE entry, which counts its
 * uses and goes with the last one.  Types read so far are kept for the life of the file in a list
 * that only grows while readers may look, so reading it takes no lock.  A failed operation takes
 * back what it added. */
/* SPDX-License-Identifier: MIT */
#ifndef FILE_TYPES_H
#define FILE_TYPES_H

#include "base/handles.h"
#include "conv/file_rep.h"
#include "conv/ftype.h"
#include "format/record.h"

#include <stdatomic.h>

struct type_entry;
/* Where a stored datatype record may be found again by its content. */
struct type_key {
    uint64_t sum;
    uint32_t number;
};

struct type_cache {
    _Atomic(struct type_entry *) list;
    struct type_entry *before; /* the list when the operation under way began */
    struct type_key *keys;     /* of all TYPE entries, once a writer needed them */
    size_t nkeys, room;
    bool keys_read;
};

/* The datatype behind a reference; rep: with its layout under this representation of the file, as
 * datasets need it, or NULL. */
int ftype_get(drep_file *f, uint32_t ref, const struct file_rep *rep, struct ftype **out);
/* Finds or stores a type and counts one more use.  rep: of a dataset under it, or NULL. */
int ftype_use(drep_file *f, const drep_type *type, const struct file_rep *rep, uint32_t *ref);
/* Like ftype_use(), of a dataset whose compounds keep the layout of `type`.  DREP_ERR_TYPE. */
int ftype_use_placed(drep_file *f, const drep_type *type, const struct file_rep *rep,
                     uint32_t *ref);
/* Like ftype_use(), for the copy of a dataset: if its compounds were placed, and have room under
 * `rep`, they keep their layout. */
int ftype_use_like(drep_file *f, const struct file_rep *rep, drep_file *from, uint32_t from_ref,
                   const struct file_rep *from_rep, uint32_t *ref);
/* The type to give to ftype_use_placed() for a dataset like that of this reference; *type = NULL if
 * its compounds lie as ftype_use() lays them out, or where members of this machine's sizes would
 * overlap. */
int ftype_placed(drep_file *f, uint32_t ref, const struct file_rep *rep, drep_type **type);
/* A copy of the type without the offsets of members in the file: self-described values are packed
 * (conv/value.h).  The caller frees it. */
int ftype_unplaced(const drep_type *type, drep_type **out);
/* Like ftype_use(), for a named datatype, which keeps its typemap as it was made. */
int ftype_use_memory(drep_file *f, const drep_type *type, uint32_t *ref);
/* Like ftype_use(), by the record of a type, behind its count of uses. */
int ftype_use_record(drep_file *f, const struct span *record, uint32_t *ref);
int ftype_unuse(drep_file *f, uint32_t ref);
/* Adds `uses` to the use count. */
int ftype_use_more(drep_file *f, uint32_t ref, uint64_t uses);
/* Are the records of two files' types the same bytes? */
int ftype_same(drep_file *a, uint32_t ref_a, drep_file *b, uint32_t ref_b, bool *same);

void ftypes_release(drep_file *f);
/* The file has moved to a commit in which numbers from `first` on are of other datatypes than those
 * read so far. */
void ftypes_renumbered(drep_file *f, uint32_t first);
/* Frees the datatypes read since `before`: the operation was taken back. */
void ftypes_take_back(drep_file *f);

#endif
