/* filter.h - one filter of a dataset's list, as the dataset's record has it. */
/* SPDX-License-Identifier: MIT */
#ifndef FORMAT_FILTER_H
#define FORMAT_FILTER_H

#include "format/in.h"
#include "format/numbers.h"

#include <stdbool.h>
#include <stdint.h>

/* Filters of the format have at most FILTER_NEAR parameters; those of users may have more, which
 * filter_param() gives. */
#define FILTER_NEAR 8
struct filter_rec {
    uint16_t id;
    uint8_t flags;
    struct span name;
    uint8_t nparams;
    uint32_t param[FILTER_NEAR]; /* the first of them */
    struct span params;          /* all of a decoded record, as they stand there */
    const uint32_t *given;       /* all of a record that is made, or NULL: those in param */
};
uint32_t filter_param(const struct filter_rec *f, int i);
/* True for one of HDF5's, whose id is from HDF5's register and no enum fmt_filter. */
static inline bool filter_is_hdf5(const struct filter_rec *f)
{
    return f->flags & FMT_FILTER_HDF5;
}
/* True for a user's, which is known by its name. */
static inline bool filter_is_users(const struct filter_rec *f)
{
    return !filter_is_hdf5(f) && f->id >= FMT_FILTER_USER;
}
/* True for one whose name says something: of HDF5's it may be none. */
static inline bool filter_is_named(const struct filter_rec *f)
{
    return filter_is_users(f) || (filter_is_hdf5(f) && f->name.len > 0);
}
/* True if only a later version knows what the flags mean. */
static inline bool filter_flags_later(const struct filter_rec *f)
{
    unsigned known = filter_is_hdf5(f) ? FMT_FILTER_HDF5 | FMT_FILTER_OPTIONAL : 0;

    return f->flags & FMT_FLAGS_MEAN & ~known;
}
/* True if both are the same filter with the same parameters. */
bool filter_same(const struct filter_rec *a, const struct filter_rec *b);
/* Number of the first of n filters that rearranges elements behind a user's, whose output has none
 * (R8.50); -1: there is no such filter. */
int filters_misplaced(const struct filter_rec *f, int n);

#endif
