/* match.h - what two datatypes have in common: members of one name, texts.
 *
 * Compounds of both sides are held against each other level by level, also inside arrays,
 * sequences and structs: the names decide, not the order.  The result is a pair of datatypes with
 * the same data items in the same order, which is memory's, so that everything behind goes by
 * position.  Where one side has no names, its items are taken by position and whole.
 *
 * A string on one side and a vstring on the other become one item each, which conv/text.h converts.
 */
/* SPDX-License-Identifier: MIT */
#ifndef TYPE_MATCH_H
#define TYPE_MATCH_H

#include "type/type.h"

enum match_way {
    MATCH_READ, /* the file has every member of memory */
    MATCH_FILL, /* memory may have others, which are left out */
    MATCH_WRITE /* as READ; besides, the elements of a sequence are written whole */
};

struct type_match {
    drep_type *file, *mem; /* references: the types of the common items, or those given */
    bool part;             /* the file's elements have items beside them */
    bool lacks;            /* memory's have */
};

/* False: the types as they are, item by item. */
bool type_matches(const drep_type *file, const drep_type *mem);

/* file: the type of a record as type_get() makes it, with the sizes of its representation; sizes
 * NULL: `file` is a type in memory too.  The extents are those of the whole elements.
 * DREP_ERR_TYPE: no member in common, one that the file lacks, members with different numbers of
 * items.  DREP_ERR_LIMIT, DREP_ERR_NOMEM. */
int type_match(const drep_type *file, const struct type_sizes *sizes, const drep_type *mem,
               enum match_way way, struct type_match *out);
void type_match_release(struct type_match *match);

/* The typemap of stored elements of a type that type_match() made, or of one that type_get() made
 * of a stored type. */
int type_stored(const drep_type *type, const struct type_sizes *sizes, struct prog *out);

#endif
