/* color.h - whether to print in colours, and which. */
/* SPDX-License-Identifier: MIT */
#ifndef TOOLS_HOST_COLOR_H
#define TOOLS_HOST_COLOR_H

#include <stdbool.h>

/* Eight colours that are readable on dark and on light. */
#define COLOR_GROUP "\033[1;34m"
#define COLOR_DATASET "\033[1m"
#define COLOR_LINK "\033[36m"
#define COLOR_DIMENSION "\033[32m"
#define COLOR_TYPE "\033[35m"
#define COLOR_QUIET "\033[2m"
#define COLOR_ADDED "\033[32m"
#define COLOR_REMOVED "\033[31m"
#define COLOR_END "\033[0m"

/* True if output on this descriptor is coloured.  when: "auto" (a terminal that can, and
 * NO_COLOR is not set), "always", "never"; NULL: auto.  -1 for another word. */
int color_wanted(const char *when, int fd);

/* True if the terminal shows UTF-8, by the variables that decide it. */
bool color_utf8(void);

/* The colour of an object of this kind (enum drep_objkind), 0 for a link. */
const char *color_of(int kind);

#endif
