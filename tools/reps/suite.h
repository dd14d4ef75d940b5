/* suite.h - what `datarep reps --check` demands of a data representation. */
/* SPDX-License-Identifier: MIT */
#ifndef TOOLS_REPS_SUITE_H
#define TOOLS_REPS_SUITE_H

#include "tools/reps/subject.h"

/* The last one has no name. */
extern const struct rep_check reps_checks[];

#endif
