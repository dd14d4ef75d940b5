/* plugin_other_name.c - a plugin that registers another name than its own. */
/* SPDX-License-Identifier: MIT */
#include "plain.h"

int drep_plugin_init(void)
{
    return drep_register_datarep("another", plain_read, plain_write, plain_extent, NULL);
}
