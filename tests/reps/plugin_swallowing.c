/* plugin_swallowing.c - does not say so when it writes nothing. */
/* SPDX-License-Identifier: MIT */
#include "plain.h"

static void put(char *file, char *item, int64_t size, int64_t position)
{
    char old[64];

    plain_put(old, item, size, position);
    /* A value that it cannot write: left out, and nobody is told. */
    if (size == 8 && old[0] == 0x7f)
        return;
    memcpy(file, old, (size_t)size);
}

static int write_items(void *user, const drep_type *type, int64_t count, void *file,
                       int64_t position, void *state)
{
    (void)state;
    return plain_each(user, type, count, file, position, put);
}

int drep_plugin_init(void)
{
    return drep_register_datarep("swallowing", plain_read, write_items, plain_extent, NULL);
}
