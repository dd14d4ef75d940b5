/* retype.h - a datatype with other types in place of its leaves. */
/* SPDX-License-Identifier: MIT */
#ifndef TOOLS_FLAT_RETYPE_H
#define TOOLS_FLAT_RETYPE_H

#include <datarep.h>

/* Gives the type that replaces a leaf, a new reference; what is neither compound, struct nor array
 * is one. */
typedef int retype_fn(const drep_type *leaf, drep_type **out, void *ctx);
/* The same compounds, structs and arrays over other leaves, without gaps that were asked for.  A
 * DREP_ERR_... code. */
int retype(const drep_type *type, retype_fn *fn, void *ctx, drep_type **out);

#endif
