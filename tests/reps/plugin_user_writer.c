/* plugin_user_writer.c - turns the bytes round in the buffer of the user, and back. */
/* SPDX-License-Identifier: MIT */
#include "plain.h"

static void put(char *file, char *item, int64_t size, int64_t position)
{
    char old[64];

    memcpy(old, item, (size_t)size);
    plain_get(old, item, size, position);
    memcpy(file, item, (size_t)size);
    memcpy(item, old, (size_t)size);
}

static int write_items(void *user, const drep_type *type, int64_t count, void *file,
                       int64_t position, void *state)
{
    (void)state;
    return plain_each(user, type, count, file, position, put);
}

int drep_plugin_init(void)
{
    return drep_register_datarep("user_writer", plain_read, write_items, plain_extent, NULL);
}
