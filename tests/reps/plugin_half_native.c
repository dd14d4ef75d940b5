/* plugin_half_native.c - has no read function and other extents than this machine. */
/* SPDX-License-Identifier: MIT */
#include "plain.h"

static int extent(const drep_type *type, int64_t *bytes, void *state)
{
    (void)state;
    *bytes = drep_type_code(type) == DREP_CODE_DOUBLE ? 4 : drep_type_size(type);
    return 0;
}

int drep_plugin_init(void)
{
    return drep_register_datarep("half_native", DREP_CONVERSION_NULL, plain_write, extent, NULL);
}
