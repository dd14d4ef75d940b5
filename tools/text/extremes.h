/* extremes.h - the least and the greatest value of a dataset. */
/* SPDX-License-Identifier: MIT */
#ifndef TOOLS_TEXT_EXTREMES_H
#define TOOLS_TEXT_EXTREMES_H

#include "tools/text/printer.h"
#include "tools/text/sink.h"

/* Reads all elements, in blocks, and prints what they are between: "min A  max B", and how
 * many are NaN, each with two spaces before it; as JSON "min", "max" and "nans", each with a
 * comma before it.  path: by the CF conventions (cf.h): numbers that stand for none are counted as
 * "missing", packed ones are what they mean, moments are dates, in JSON numbers; NULL: numbers as
 * they are stored.  Prints nothing of elements that have no
 * order: texts, compounds, complex numbers.  A DREP_ERR_... code. */
int extremes_put(const struct printer *p, struct sink *s, drep_dataset *dataset,
                 const drep_dsinfo *info, const char *path);

#endif
