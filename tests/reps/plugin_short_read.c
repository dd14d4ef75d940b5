/* plugin_short_read.c - reads at most 100 items in a call, and says nothing. */
/* SPDX-License-Identifier: MIT */
#include "plain.h"

static int read_items(void *user, const drep_type *type, int64_t count, void *file,
                      int64_t position, void *state)
{
    return plain_read(user, type, count < 100 ? count : 100, file, position, state);
}

int drep_plugin_init(void)
{
    return drep_register_datarep("short_read", read_items, plain_write, plain_extent, NULL);
}
