/* axis.h - ticks, their texts, and colour scales. */
/* SPDX-License-Identifier: MIT */
#ifndef TOOLS_PLOT_AXIS_H
#define TOOLS_PLOT_AXIS_H

#include "tools/plot/plot.h"

/* Fills in at most `most` ticks between the ends of the axis. */
void plot_ticks(struct plot_axis *axis, int most);
/* Moves the ends apart by a share of what is between. */
void plot_widen(struct plot_axis *axis, double share);
/* NULL if there is none of this name. */
const struct plot_colors *plot_colors_find(const char *name);

#endif
