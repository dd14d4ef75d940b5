/* plugin_wrong_extent.c - says one byte more than it writes. */
/* SPDX-License-Identifier: MIT */
#include "plain.h"

static int extent(const drep_type *type, int64_t *bytes, void *state)
{
    (void)state;
    *bytes = drep_type_size(type) + 1;
    return 0;
}

int drep_plugin_init(void)
{
    return drep_register_datarep("wrong_extent", plain_read, plain_write, extent, NULL);
}
