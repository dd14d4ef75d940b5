/* checks.h - Check, whose assertions cost nothing while they hold. */
/* SPDX-License-Identifier: MIT */
#ifndef TESTS_CHECKS_H
#define TESTS_CHECKS_H

#include <check.h>
#include <datarep.h>

/* Check sends each assertion's place to the process that waits, so that a crash is reported
 * with the last place.  The system calls for it take most of the time of tests that assert
 * something of each of a million values; sanitizers and debuggers say where a crash was. */
#define _mark_point(file, line) ((void)0)

/* A call succeeds; a call fails with this code. */
#define ok(call)                                                                 \
    do {                                                                         \
        int err_ = (call);                                                       \
        ck_assert_msg(err_ == 0, "%s: error %d: %s", #call, err_, drep_error()); \
    } while (0)
#define fails(call, code)                                                                     \
    do {                                                                                      \
        int err_ = (call);                                                                    \
        ck_assert_msg(err_ == (code), "%s: error %d (%s), not %d", #call, err_, drep_error(), \
                      code);                                                                  \
    } while (0)

#endif
