/* slice.h - which elements to show: "[10:20,::2,-1]", as NumPy has it; and ".value" behind it:
 * which member of each. */
/* SPDX-License-Identifier: MIT */
#ifndef TOOLS_WALK_SLICE_H
#define TOOLS_WALK_SLICE_H

#include "base/handles.h"
#include <stdbool.h>
#include <stdint.h>

struct slice {
    int rank;
    int64_t start[DREP_MAX_RANK];
    int64_t count[DREP_MAX_RANK];
    int64_t step[DREP_MAX_RANK];
    bool single[DREP_MAX_RANK]; /* given by one index: the dimension vanishes */
    const char *member;         /* "value", in the text that was parsed; NULL: whole elements */
    const drep_type *type;      /* with member: of whole elements */
};

/* Everything. */
void slice_all(struct slice *out, int rank, const int64_t *dims);
/* text begins with "[" and must outlive *out.  type: of the elements; NULL refuses a member.  NULL,
 * or what is wrong with it, valid until the next failing call. */
const char *slice_parse(struct slice *out, const char *text, int rank, const int64_t *dims,
                        const drep_type *type);
/* The shape of what is selected; gives its rank. */
int slice_shape(const struct slice *slice, int64_t *dims);

/* Elements in it. */
int64_t slice_count(const struct slice *slice);
/* The index of its element `number` in the whole dataset. */
void slice_index(const struct slice *slice, int64_t number, int64_t *index);

#endif
