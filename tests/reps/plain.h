/* plain.h - what the broken plugins of this folder would be without their defect.
 *
 * Items are kept as they are, most significant byte first.  A plugin puts functions of
 * its own in the place of one or two of these. */
/* SPDX-License-Identifier: MIT */
#ifndef TESTS_REPS_PLAIN_H
#define TESTS_REPS_PLAIN_H

#include <datarep.h>
#include <string.h>

/* What one item is to the plugin; writing or reading. */
typedef void plain_item(char *file, char *item, int64_t size, int64_t position);

static inline void plain_put(char *file, char *item, int64_t size, int64_t position)
{
    int64_t b;

    (void)position;
    for (b = 0; b < size; b++)
        file[b] = item[size - 1 - b];
}

static inline void plain_get(char *file, char *item, int64_t size, int64_t position)
{
    int64_t b;

    (void)position;
    for (b = 0; b < size; b++)
        item[size - 1 - b] = file[b];
}

static inline int plain_each(void *user, const drep_type *type, int64_t count, char *file,
                             int64_t position, plain_item *fn)
{
    drep_cursor cursor;
    drep_run run;
    int64_t i;

    if (drep_cursor_init(&cursor, type, position) != 0)
        return -1;
    for (; drep_cursor_next(&cursor, count, &run); count -= run.count)
        for (i = 0; i < run.count; i++, position++) {
            fn(file, (char *)user + run.offset + i * run.stride, drep_type_size(run.type),
               position);
            file += drep_type_size(run.type);
        }
    return 0;
}

static inline int plain_write(void *user, const drep_type *type, int64_t count, void *file,
                              int64_t position, void *state)
{
    (void)state;
    return plain_each(user, type, count, file, position, plain_put);
}

static inline int plain_read(void *user, const drep_type *type, int64_t count, void *file,
                             int64_t position, void *state)
{
    (void)state;
    return plain_each(user, type, count, file, position, plain_get);
}

static inline int plain_extent(const drep_type *type, int64_t *extent, void *state)
{
    (void)state;
    *extent = drep_type_size(type);
    return 0;
}

#endif
