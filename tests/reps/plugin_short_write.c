/* plugin_short_write.c - writes at most 100 items in a call, and says nothing. */
/* SPDX-License-Identifier: MIT */
#include "plain.h"

static int write_items(void *user, const drep_type *type, int64_t count, void *file,
                       int64_t position, void *state)
{
    return plain_write(user, type, count < 100 ? count : 100, file, position, state);
}

int drep_plugin_init(void)
{
    return drep_register_datarep("short_write", plain_read, write_items, plain_extent, NULL);
}
