/* plugin_varying_extent.c - its extents grow from call to call. */
/* SPDX-License-Identifier: MIT */
#include "plain.h"

static int extent(const drep_type *type, int64_t *bytes, void *state)
{
    static int calls;

    (void)state;
    *bytes = drep_type_size(type) + (calls++ / 100) % 2;
    return 0;
}

int drep_plugin_init(void)
{
    return drep_register_datarep("varying_extent", plain_read, plain_write, extent, NULL);
}
