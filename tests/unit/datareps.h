/* datareps.h - the data representations that tests try, without the tests' framework. */
/* SPDX-License-Identifier: MIT */
#ifndef TESTS_DATAREPS_H
#define TESTS_DATAREPS_H

#include <datarep.h>
#include <stdbool.h>
#include <stdint.h>

/* Native bytes, each xor 0x5a: zero is stored as something else. */
static inline int xor_run(void *user, const drep_type *type, int64_t count, void *file,
                          int64_t position, bool reading)
{
    drep_cursor cursor;
    drep_run run;
    uint8_t *p = file;

    if (drep_cursor_init(&cursor, type, position) != 0)
        return 1;
    for (; count > 0 && drep_cursor_next(&cursor, count, &run); count -= run.count)
        for (int64_t i = 0; i < run.count; i++) {
            uint8_t *m = (uint8_t *)user + run.offset + i * run.stride;

            for (int64_t b = drep_type_extent(run.type); b-- > 0; p++, m++)
                reading ? (*m = *p ^ 0x5a) : (*p = *m ^ 0x5a);
        }
    return 0;
}

static inline int xor_read(void *user, const drep_type *type, int64_t count, void *file,
                           int64_t position, void *state)
{
    (void)state;
    return xor_run(user, type, count, file, position, true);
}

static inline int xor_write(void *user, const drep_type *type, int64_t count, void *file,
                            int64_t position, void *state)
{
    (void)state;
    return xor_run(user, type, count, file, position, false);
}

static inline int native_extent(const drep_type *type, int64_t *extent, void *state)
{
    (void)state;
    *extent = drep_type_extent(type);
    return 0;
}

/* Integers of 24 bits, reals of System/370. */
static inline int declare_small(void)
{
    const drep_scalar int24 = {.cls = DREP_SCALAR_INT,
                               .order = DREP_LITTLE,
                               .size = 3,
                               .is_signed = 1,
                               .format = DREP_FORMAT_CUSTOM,
                               .precision = 24};
    const drep_encoding rows[] = {
        {DREP_CODE_INT, DREP_FORMAT_CUSTOM, DREP_LITTLE, 3, 1, 0, 0},
        {DREP_CODE_INT32_T, DREP_FORMAT_CUSTOM, DREP_LITTLE, 3, 1, 0, 0},
        {DREP_CODE_FLOAT, DREP_FORMAT_IBM_HEX32, DREP_BIG, 4, 1, 0, 0},
        {DREP_CODE_DOUBLE, DREP_FORMAT_IBM_HEX64, DREP_BIG, 8, 1, 0, 0},
    };

    return drep_declare_datarep("small", "external32", rows, 4, &int24, 1);
}

static const char *const datareps[] = {"external32",   "internal", "native",
                                       "native:s390x", "small",    "xor"};
enum { DATAREPS = 6 };

#endif
