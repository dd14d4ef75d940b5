/* sized.h - structs of callers that begin with their size, so that they can grow.
 *
 * The library works on structs of its own, of its own version.  Options are copied from the
 * caller's at the beginning of a call, results are copied to the caller's at its end. */
/* SPDX-License-Identifier: MIT */
#ifndef BASE_SIZED_H
#define BASE_SIZED_H

#include <datarep-team.h>

enum sized {
#define SIZED(type, macro, last) SIZED_##type,
#include "base/sized.def"
#undef SIZED
    SIZED_drep_filter /* an element of an array, without a size: for sized_valid() alone */
};

/* DREP_ERR_ARG, with the call's name: p is NULL, or what it points to does not begin with a
 * size of at least the first version's. */
int sized_check(enum sized kind, const void *p, const char *call);

/* Copies a caller's options to `own`, the library's struct; members that the caller's do not have
 * are zeros.  Errors of sized_check() and sized_valid(); DREP_ERR_UNSUPPORTED: members that are
 * unknown here are set.  After an error of sized_valid() the options have been copied. */
int sized_get(enum sized kind, const void *from, void *own, const char *call);

/* DREP_ERR_ARG, with call, struct, member and value: a member of options has a value outside its
 * row of values.def.  For options that did not come by sized_get(). */
int sized_valid(enum sized kind, const void *own, const char *call);

/* The same for an argument of a call that is one of an enumeration's values, low to high. */
int value_valid(const char *call, const char *what, int64_t value, int64_t low, int64_t high);
/* The order of a listing: enum drep_list_order. */
int order_valid(const char *call, int order);

/* Copies `own` to a caller's result, which sized_check() accepted: as much as it has room for, and
 * zeros to members that are unknown here. */
void sized_put(enum sized kind, const void *own, void *to);

/* The options of one transfer, and the report that its caller gets at the end. */
struct xfer {
    const drep_xfer *use; /* `own`, or NULL where the caller gave none */
    drep_xfer own;
    drep_report report; /* own.report points to it if the caller wants one: empty, no indices */
    drep_report *to;    /* the caller's, or NULL */
};

/* Errors of sized_get(); after one of sized_valid() x->use is set, so that the caller can tell a
 * collective call. */
int xfer_begin(struct xfer *x, const drep_xfer *from, const char *call);
/* Gives the caller its report; returns err. */
int xfer_end(struct xfer *x, int err);

#endif
