/* checks.h - Check, whose assertions cost nothing while they hold. */
/* SPDX-License-Identifier: MIT */
#ifndef TESTS_CHECKS_H
#define TESTS_CHECKS_H

#include <check.h>

/* Check sends each assertion's place to the process that waits, so that a crash is reported
 * with the last place.  The system calls for it take most of the time of tests that assert
 * something of each of a million values; sanitizers and debuggers say where a crash was. */
#define _mark_point(file, line) ((void)0)

#endif
