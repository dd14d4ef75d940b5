/* plugin_count_types.c - takes the count for one of datatypes. */
/* SPDX-License-Identifier: MIT */
#include "plain.h"

static int write_items(void *user, const drep_type *type, int64_t count, void *file,
                       int64_t position, void *state)
{
    return plain_write(user, type, count * drep_type_items(type), file, position, state);
}

static int read_items(void *user, const drep_type *type, int64_t count, void *file,
                      int64_t position, void *state)
{
    return plain_read(user, type, count * drep_type_items(type), file, position, state);
}

int drep_plugin_init(void)
{
    return drep_register_datarep("count_types", read_items, write_items, plain_extent, NULL);
}
