/* preview.h - pictures made of characters. */
/* SPDX-License-Identifier: MIT */
#ifndef TOOLS_PLOT_PREVIEW_H
#define TOOLS_PLOT_PREVIEW_H

#include "tools/plot/plot.h"
#include "tools/text/sink.h"
#include <stdbool.h>

/* Prints the picture, at most `columns` wide. */
void plot_preview(const struct plot *plot, struct sink *s, int columns, bool utf8);

#endif
