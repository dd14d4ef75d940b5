/* plugin_failing.c - fails in every thousandth call. */
/* SPDX-License-Identifier: MIT */
#include "plain.h"

static int write_items(void *user, const drep_type *type, int64_t count, void *file,
                       int64_t position, void *state)
{
    static int calls;

    if (++calls % 1000 == 0)
        return 7;
    return plain_write(user, type, count, file, position, state);
}

int drep_plugin_init(void)
{
    return drep_register_datarep("failing", plain_read, write_items, plain_extent, NULL);
}
