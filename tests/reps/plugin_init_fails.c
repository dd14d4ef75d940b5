/* plugin_init_fails.c - a plugin that cannot start. */
/* SPDX-License-Identifier: MIT */
#include <datarep.h>

int drep_plugin_init(void)
{
    return 42;
}
