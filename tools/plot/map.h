/* map.h - images over longitude and latitude: how they are recognised, their ticks, coastlines.
 *
 * Sources: CF conventions 1.10, 4.1 and 4.2 (what latitudes and longitudes are); GSHHG's netCDF
 * files of segments in bins, as GMT reads them. */
/* SPDX-License-Identifier: MIT */
#ifndef TOOLS_PLOT_MAP_H
#define TOOLS_PLOT_MAP_H

#include "tools/plot/data.h"
#include "tools/plot/plot.h"

enum map_axis { MAP_NO_AXIS, MAP_LONGITUDE, MAP_LATITUDE };

/* What coordinates are, by their units. */
enum map_axis map_axis_of(const struct series *coordinates);
/* "30°N", "120°W". */
void map_degrees(char *text, size_t size, double at, enum map_axis which);
/* Fills in at most `most` ticks at round degrees. */
void map_ticks(struct plot_axis *axis, enum map_axis which, int most);
/* Puts the coastlines inside the picture's axes into p->coast, from a file in GSHHG's form.  An
 * exit code, after saying what is wrong. */
int map_coast(struct plot *p, const char *name, drep_file *file);
/* The file of coastlines that suits so many degrees, if the system has one; NULL. */
const char *map_coast_installed(double degrees);

#endif
