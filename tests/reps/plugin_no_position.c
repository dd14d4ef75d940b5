/* plugin_no_position.c - always begins with the first item. */
/* SPDX-License-Identifier: MIT */
#include "plain.h"

static int write_items(void *user, const drep_type *type, int64_t count, void *file,
                       int64_t position, void *state)
{
    (void)position;
    return plain_write(user, type, count, file, 0, state);
}

static int read_items(void *user, const drep_type *type, int64_t count, void *file,
                      int64_t position, void *state)
{
    (void)position;
    return plain_read(user, type, count, file, 0, state);
}

int drep_plugin_init(void)
{
    return drep_register_datarep("no_position", read_items, write_items, plain_extent, NULL);
}
