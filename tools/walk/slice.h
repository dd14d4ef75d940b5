/* slice.h - which elements to show: "[10:20,::2,-1]", as NumPy has it. */
#ifndef TOOLS_WALK_SLICE_H
#define TOOLS_WALK_SLICE_H

#include <datarep.h>
#include <stdbool.h>

struct slice {
    int rank;
    int64_t start[DREP_MAX_RANK];
    int64_t count[DREP_MAX_RANK];
    int64_t step[DREP_MAX_RANK];
    bool single[DREP_MAX_RANK]; /* given by one index: the dimension vanishes */
};

/* Everything. */
void slice_all(struct slice *out, int rank, const int64_t *dims);
/* 0, or an error of drep_select_parse(). */
int slice_parse(struct slice *out, const char *text, int rank, const int64_t *dims);
/* The shape of what is selected; gives its rank. */
int slice_shape(const struct slice *slice, int64_t *dims);

/* Elements in it. */
int64_t slice_count(const struct slice *slice);

#endif
