/* cdo.h - names of Datarep files as CDO takes them.
 *
 * CDO looks into each file that it reads and refuses what it does not know; a URL it hands on to
 * the netCDF library.  So such a path becomes file:///absolute/path#mode=netcdf-4,udf0.  What CDO
 * makes needs no URL: the preloaded library knows new files by the end of their names. */
/* SPDX-License-Identifier: MIT */
#ifndef TOOLS_CMD_CDO_H
#define TOOLS_CMD_CDO_H

#include <stdbool.h>

/* True if the program at that path is CDO. */
bool cdo_is(const char *path);
/* Puts URLs in the place of arguments that name a Datarep file.  Options and operators stay, with
 * their parameters.  An exit code, after saying; the URLs are malloc'ed and stay. */
int cdo_arguments(char **argv);

#endif
