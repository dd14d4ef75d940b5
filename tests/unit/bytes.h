/* bytes.h - what tests of bytes share: random numbers, and bytes written as hexadecimal text. */
/* SPDX-License-Identifier: MIT */
#ifndef TESTS_BYTES_H
#define TESTS_BYTES_H

#include "tests/unit/checks.h"
#include "tests/unit/rnd.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* All lengths of numbers are equally likely, and so are the ends of the range. */
static inline uint64_t rnd_upto(struct rnd *r, uint64_t max)
{
    uint64_t v = rnd_u64(r) >> rnd_below(r, 64);

    switch (rnd_below(r, 8)) {
    case 0:
        return 0;
    case 1:
        return max;
    }
    return max == UINT64_MAX ? v : v % (max + 1);
}

static inline void rnd_fill(struct rnd *r, void *p, size_t n)
{
    uint8_t *bytes = p;

    while (n-- > 0)
        *bytes++ = (uint8_t)rnd_u64(r);
}

/* Small letters, which are names and texts. */
static inline void rnd_letters(struct rnd *r, void *p, size_t n)
{
    uint8_t *bytes = p;

    while (n-- > 0)
        *bytes++ = (uint8_t)('a' + rnd_below(r, 26));
}

static inline int percent_of(int n, const char *variable)
{
    const char *percent = getenv(variable);
    int64_t part = percent ? (int64_t)n * atoi(percent) / 100 : n;

    return part < 1 ? 1 : part > n ? n : (int)part;
}

/* How many of n cases to try: DREP_TEST_SHARE percent of them, as emulated machines are
 * slow; all where it is not set. */
static inline int share_of(int n)
{
    return percent_of(n, "DREP_TEST_SHARE");
}

/* How many of n cases that the same program tries in another build, too: DREP_TEST_PART percent of
 * them, as tests/run has it for those with a sanitizer. */
static inline int sanitized_part(int n)
{
    return percent_of(n, "DREP_TEST_PART");
}

/* True for a case that belongs to the part; neighbours do not belong to it together. */
static inline bool in_sanitized_part(unsigned number)
{
    return (int)(number * 61 % 100) < sanitized_part(100);
}

/* A file in memory gets another size; new bytes are zeros.  0, or DREP_ERR_NOMEM. */
static inline int file_in_memory_resize(uint8_t **file, uint64_t *size, uint64_t new_size)
{
    uint8_t *p = new_size < SIZE_MAX ? realloc(*file, (size_t)new_size + 1) : NULL;

    if (!p)
        return DREP_ERR_NOMEM;
    if (new_size > *size)
        memset(p + *size, 0, (size_t)(new_size - *size));
    *file = p;
    *size = new_size;
    return 0;
}

/* Tells the test driver what was tried, besides its cases. */
static inline void counted(int64_t n, const char *what)
{
    printf("counted: %lld %s\n", (long long)n, what);
}

/* "41 3f f8" and the like; blanks are ignored.  The caller frees. */
static inline uint8_t *hex_bytes(const char *text, size_t *size)
{
    uint8_t *out = malloc(strlen(text) / 2 + 1);
    unsigned v;
    int used;

    *size = 0;
    while (sscanf(text, " %2x%n", &v, &used) == 1) {
        out[(*size)++] = (uint8_t)v;
        text += used;
    }
    return out;
}

/* The caller's main(): one suite, no forks, nothing printed but its summary. */
static inline int run_suite(Suite *suite)
{
    SRunner *runner = srunner_create(suite);
    int failed;

    srunner_set_fork_status(runner, CK_NOFORK);
    srunner_run_all(runner, CK_NORMAL);
    failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}

#endif
