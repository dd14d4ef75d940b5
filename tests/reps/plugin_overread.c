/* plugin_overread.c - reads one byte behind the last item. */
/* SPDX-License-Identifier: MIT */
#include "plain.h"

static int read_items(void *user, const drep_type *type, int64_t count, void *file,
                      int64_t position, void *state)
{
    int64_t size = 0, left = count;
    drep_cursor cursor;
    drep_run run;

    drep_cursor_init(&cursor, type, position);
    for (; drep_cursor_next(&cursor, left, &run); left -= run.count)
        size += run.count * drep_type_size(run.type);
    if (((volatile char *)file)[size] == 1)
        size--;
    return plain_read(user, type, count, file, position, state);
}

int drep_plugin_init(void)
{
    return drep_register_datarep("overread", read_items, plain_write, plain_extent, NULL);
}
