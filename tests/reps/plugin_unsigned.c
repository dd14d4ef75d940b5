/* plugin_unsigned.c - loses the sign of every number. */
/* SPDX-License-Identifier: MIT */
#include "plain.h"

static void put(char *file, char *item, int64_t size, int64_t position)
{
    plain_put(file, item, size, position);
    if (size > 1)
        file[0] &= 0x7f;
}

static int write_items(void *user, const drep_type *type, int64_t count, void *file,
                       int64_t position, void *state)
{
    (void)state;
    return plain_each(user, type, count, file, position, put);
}

int drep_plugin_init(void)
{
    return drep_register_datarep("unsigned", plain_read, write_items, plain_extent, NULL);
}
