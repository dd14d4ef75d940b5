/* installed.h - where this command and its data are installed. */
/* SPDX-License-Identifier: MIT */
#ifndef TOOLS_HOST_INSTALLED_H
#define TOOLS_HOST_INSTALLED_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>

/* The directory of the running command, with a slash at its end.  Where /proc is not mounted, as in
 * some chroots, the path by which the command was started says it. */
bool installed_command(char path[PATH_MAX]);
/* The directory of the schemas for common uses, found from that of the command; likewise. */
bool installed_schemas(char *path, size_t size);
/* The directory of the page of `datarep view`; where nothing is installed, that of `make web`. */
bool installed_page(char *path, size_t size);

#endif
