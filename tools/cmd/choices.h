/* choices.h - arguments of options that several subcommands have. */
/* SPDX-License-Identifier: MIT */
#ifndef TOOLS_CMD_CHOICES_H
#define TOOLS_CMD_CHOICES_H

#include "base/handles.h"

/* "strict", "round", "clamp" or "wrap": DREP_RANGE_...  0, or an exit code after saying what is
 * wrong. */
int choice_range(const char *command, const char *text, int *range);

/* "none"; "shuffle,zstd:3".  filters has room for DREP_MAX_FILTERS.  Likewise. */
int choice_filters(const char *command, const char *text, drep_filter *filters, int *n);

#endif
