/* cuts.h - transfers of random datatypes, cut in every way. */
/* SPDX-License-Identifier: MIT */
#ifndef TOOLS_REPS_CUTS_H
#define TOOLS_REPS_CUTS_H

#include "tools/reps/subject.h"

check_fn reps_cuts, reps_items, reps_gaps, reps_threads;

#endif
