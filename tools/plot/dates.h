/* dates.h - ticks of an axis of time. */
/* SPDX-License-Identifier: MIT */
#ifndef TOOLS_PLOT_DATES_H
#define TOOLS_PLOT_DATES_H

#include "tools/plot/plot.h"
#include "tools/text/cf.h"

/* At most `most` ticks at round dates or times between the ends of the axis.  False if it is too
 * short or too long for them: its numbers are moments of t. */
bool dates_ticks(struct plot_axis *axis, const struct cf_time *t, int most);

#endif
