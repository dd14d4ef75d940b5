/* plugin_freeing.c - gives away a datatype that is not its own. */
/* SPDX-License-Identifier: MIT */
#include "plain.h"

static int write_items(void *user, const drep_type *type, int64_t count, void *file,
                       int64_t position, void *state)
{
    int err = plain_write(user, type, count, file, position, state);

    drep_type_free((drep_type *)type);
    return err;
}

int drep_plugin_init(void)
{
    return drep_register_datarep("freeing", plain_read, write_items, plain_extent, NULL);
}
