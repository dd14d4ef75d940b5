/* plugin_by_position.c - the bytes of an item depend on where it stands. */
/* SPDX-License-Identifier: MIT */
#include "plain.h"

static void put(char *file, char *item, int64_t size, int64_t position)
{
    int64_t b;

    plain_put(file, item, size, position);
    for (b = 0; b < size; b++)
        file[b] = (char)(file[b] ^ position);
}

static void get(char *file, char *item, int64_t size, int64_t position)
{
    int64_t b;

    plain_get(file, item, size, position);
    for (b = 0; b < size; b++)
        item[b] = (char)(item[b] ^ position);
}

static int write_items(void *user, const drep_type *type, int64_t count, void *file,
                       int64_t position, void *state)
{
    (void)state;
    return plain_each(user, type, count, file, position, put);
}

static int read_items(void *user, const drep_type *type, int64_t count, void *file,
                      int64_t position, void *state)
{
    (void)state;
    return plain_each(user, type, count, file, position, get);
}

int drep_plugin_init(void)
{
    return drep_register_datarep("by_position", read_items, write_items, plain_extent, NULL);
}
