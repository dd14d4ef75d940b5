/* check.h - `datarep reps --check`: runs the checks of data representations. */
/* SPDX-License-Identifier: MIT */
#ifndef TOOLS_REPS_CHECK_H
#define TOOLS_REPS_CHECK_H

#include <stdbool.h>

/* Runs all checks over the names; 0 when all pass, else an exit code. */
int reps_check(char **names, int n, bool json);

#endif
