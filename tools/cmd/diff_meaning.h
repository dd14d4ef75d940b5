/* diff_meaning.h - numbers compared by what they mean by the CF conventions (tools/text/cf.h). */
/* SPDX-License-Identifier: MIT */
#ifndef TOOLS_CMD_DIFF_MEANING_H
#define TOOLS_CMD_DIFF_MEANING_H

#include "tools/text/cf.h"
#include "tools/text/compare.h"

struct meaning {
    bool active; /* else numbers mean themselves on both sides, and nothing is missing */
    const drep_type *a_type, *b_type;
    struct cf a, b;
    bool packed; /* numbers of a side are scaled */
    bool times;  /* of other units, origins or calendars */
    bool single; /* one side has the precision of a binary32 */
    union {
        double real[2];
        float single[2];
    } meant; /* of the difference that was found last */
};

/* Read what the attributes of both datasets say of elements of these types. */
void meaning_read(struct meaning *m, const struct comparison *how, const char *a_path,
                  const drep_type *a_type, const char *b_path, const drep_type *b_type);
/* As compare_element(): missing numbers equal each other and NaN, and no number; reals are rounded
 * to the coarser precision of both sides; dates are the same in other units.  *gap refers to *m. */
bool meaning_differs(struct meaning *m, const struct comparison *how, const void *a, const void *b,
                     struct difference *gap);
/* True if numbers of the dataset are times. */
bool meaning_is_time(const struct printer *p, const char *path);
/* True for attributes that say nothing but what numbers mean; `times`: also of times. */
bool meaning_has(const char *attribute, bool times);

#endif
