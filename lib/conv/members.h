/* members.h - a transfer of members by name.
 *
 * Where memory's type and the file's are compounds with names, a transfer moves what both have
 * (type/match.h): its converter is made with these types in place of the whole ones. */
/* SPDX-License-Identifier: MIT */
#ifndef CONV_MEMBERS_H
#define CONV_MEMBERS_H

#include "conv/ftype.h"
#include "conv/byte_ranges.h"
#include "type/match.h"

/* Zeroed: the types as they are. */
struct picked_members {
    bool used;
    struct ftype ft; /* the file's side: extent and places are those of whole elements */
    drep_type *mem;
    struct byte_ranges bytes; /* part: of the file's elements */
    bool lacks;               /* memory has members that the file has not, which read as zeros */
};

/* Sets *out if `mem` names members: to the types of those in common.  ft is laid out; otherwise its
 * elements are packed by `sizes`.  Errors as type_match(). */
int picked_init(struct picked_members *out, const struct ftype *ft, const struct type_sizes *sizes,
                const drep_type *mem, enum match_way way);
void picked_release(struct picked_members *m);

/* How a transfer with these options treats members that one side lacks. */
enum match_way picked_way(const drep_xfer *xfer, bool writing);

#endif
